/* Files written in one go: whole ones stay, others are removed; devices and links never are. */
#define _XOPEN_SOURCE 700

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <polhode/output.h>

static const char path[] = "test_output.txt";

/* Writes so many bytes and closes the file. */
static pol_status write_bytes(const char *name, int count, pol_status so_far)
{
  FILE *file = fopen(name, "wb");
  assert_non_null(file);
  for (int i = 0; i < count; i++) fputc('x', file);
  errno = 0;
  return pol_output_close(file, name, so_far);
}

static int is_there(const char *name)
{
  return access(name, F_OK) == 0;
}

/* Removes what a test that failed has left. */
static int start_clean(void **state)
{
  (void)state;
  remove(path);
  remove("test_output_target.txt");
  return 0;
}

static void whole_files_stay(void **state)
{
  (void)state;
  assert_int_equal(write_bytes(path, 10, POL_OK), POL_OK);
  assert_true(is_there(path));
  assert_int_equal(write_bytes(path, 10, POL_NO_MEMORY), POL_NO_MEMORY);
  assert_false(is_there(path));
}

/* A full disk, as a limit on the size of files: it shows while writing, or only at the end. */
static void files_that_a_full_disk_cuts_are_removed(void **state)
{
  (void)state;
  static const int sizes[] = {1000000, 2000};
  struct rlimit before, small;
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  small = before;
  small.rlim_cur = 1000;
  signal(SIGXFSZ, SIG_IGN);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
  for (int i = 0; i < 2; i++) {
    const pol_status status = write_bytes(path, sizes[i], POL_OK);
    const int reason = errno;
    assert_int_equal(status, POL_IO);
    assert_true(i == 0 || reason == EFBIG);
    assert_false(is_there(path));
  }
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
  signal(SIGXFSZ, SIG_DFL);
}

static void devices_and_links_stay(void **state)
{
  (void)state;
  assert_int_equal(write_bytes("/dev/full", 10, POL_OK), POL_IO);
  assert_int_equal(errno, ENOSPC);
  assert_true(is_there("/dev/full"));
  assert_int_equal(symlink("/dev/full", path), 0);
  assert_int_equal(write_bytes(path, 10, POL_OK), POL_IO);
  assert_int_equal(remove(path), 0);
}

/* Behind a link half a file is emptied, and the link stays. */
static void half_files_behind_links_are_emptied(void **state)
{
  (void)state;
  struct stat info;
  assert_int_equal(symlink("test_output_target.txt", path), 0);
  assert_int_equal(write_bytes(path, 10, POL_NO_MEMORY), POL_NO_MEMORY);
  assert_int_equal(lstat(path, &info), 0);
  assert_true(S_ISLNK(info.st_mode));
  assert_int_equal(stat(path, &info), 0);
  assert_int_equal(info.st_size, 0);
  remove(path);
  remove("test_output_target.txt");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(whole_files_stay, start_clean),
      cmocka_unit_test_setup(files_that_a_full_disk_cuts_are_removed, start_clean),
      cmocka_unit_test_setup(devices_and_links_stay, start_clean),
      cmocka_unit_test_setup(half_files_behind_links_are_emptied, start_clean),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
