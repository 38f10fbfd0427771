/* Where outputs lead to, and locks. */
#define _XOPEN_SOURCE 700
#include "check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <polhode/output.h>

#include "io/file/file.h"

static const char path[] = "test_target.txt";

/* Removes what a run that failed has left. */
static int clean_up(void **state)
{
  static const char *const names[] = {"test_target_a",       "test_target_folder/b",
                                      "test_target_e",       "test_target_loop",
                                      "test_target_c",       "test_target_folder/a.h5.new",
                                      "test_target_link.h5", "test_target_folder/a.csv.new",
                                      "test_target_folder"};
  (void)state;
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) remove(names[i]);
  return 0;
}

static void expect_target(const char *name, const char *expected)
{
  char *target = poli_output_target(name);
  assert_non_null(target);
  assert_string_equal(target, expected);
  free(target);
}

/* Links lead on from where they are; the last may lead to nothing. */
static void links_are_followed(void **state)
{
  (void)state;
  assert_int_equal(mkdir("test_target_folder", 0700), 0);
  assert_int_equal(symlink("test_target_folder/b", "test_target_a"), 0);
  assert_int_equal(symlink("../test_target_c", "test_target_folder/b"), 0);
  assert_int_equal(symlink("/nowhere/d", "test_target_e"), 0);
  assert_int_equal(symlink("test_target_loop", "test_target_loop"), 0);
  expect_target("nothing", "nothing");
  expect_target("test_target_a", "test_target_folder/../test_target_c");
  expect_target("./test_target_e", "/nowhere/d");
  errno = 0;
  assert_null(poli_output_target("test_target_loop"));
  assert_int_equal(errno, ELOOP);
  assert_false(pol_output_overwrites("test_target_a", "test_target_c")); /* neither is there */
  FILE *file = fopen("test_target_c", "wb");
  assert_non_null(file);
  fclose(file);
  assert_true(pol_output_overwrites("test_target_a", "./test_target_c"));
  assert_false(pol_output_overwrites("test_target_a", "test_target_folder"));
  static const char *const names[] = {"test_target_a", "test_target_folder/b",
                                      "test_target_e", "test_target_loop",
                                      "test_target_c", "test_target_folder"};
  for (int i = 0; i < 6; i++) assert_int_equal(remove(names[i]), 0);
}

/* An HDF5 file is created under a temporary name, beside the target of a link. */
static void temporary_names_are_overwritten(void **state)
{
  (void)state;
  assert_int_equal(mkdir("test_target_folder", 0700), 0);
  assert_int_equal(symlink("test_target_folder/a.h5", "test_target_link.h5"), 0);
  FILE *file = fopen("test_target_folder/a.h5.new", "wb");
  assert_non_null(file);
  fclose(file);
  assert_true(pol_output_overwrites("test_target_link.h5", "test_target_folder/a.h5.new"));
  assert_true(pol_output_overwrites("test_target_folder/a.h5", "test_target_folder/a.h5.new"));
  assert_false(pol_output_overwrites("test_target_folder/b.h5", "test_target_folder/a.h5.new"));
  assert_int_equal(rename("test_target_folder/a.h5.new", "test_target_folder/a.csv.new"), 0);
  assert_false(pol_output_overwrites("test_target_folder/a.csv", "test_target_folder/a.csv.new"));
  static const char *const names[] = {"test_target_link.h5", "test_target_folder/a.csv.new",
                                      "test_target_folder"};
  for (int i = 0; i < 3; i++) assert_int_equal(remove(names[i]), 0);
}

/* One open file has the lock until it is closed. */
static void locks_are_exclusive(void **state)
{
  (void)state;
  FILE *first = fopen(path, "wb"), *second = fopen(path, "r+b");
  assert_true(first != NULL && second != NULL);
  assert_true(poli_output_lock(fileno(first)));
  assert_true(poli_output_lock(fileno(first)));
  errno = 0;
  assert_false(poli_output_lock(fileno(second)));
  assert_int_equal(errno, ETXTBSY);
  fclose(first);
  assert_true(poli_output_lock(fileno(second)));
  fclose(second);
  remove(path);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(links_are_followed, clean_up),
      cmocka_unit_test_setup(temporary_names_are_overwritten, clean_up),
      cmocka_unit_test(locks_are_exclusive),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
