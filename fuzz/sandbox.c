/* The temporary folder of the fuzz targets, and polhode's commands as a function.
 *
 * Takes the place of src/cli/signals.c: no signal is caught, and the question whether one has come
 * is answered with yes after some times, so that no run lasts for long. */
#define _XOPEN_SOURCE 700

#include "sandbox.h"

#include <fcntl.h>
#include <ftw.h>
#include <hdf5.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "cli/terminal.h"

enum { MOST_SECONDS = 10 }; /* of processor time, for an input */

int fuzz_is_test;

extern void openblas_set_num_threads(int threads) __attribute__((weak));

/* Memory that cannot be had is NULL, as without a sanitizer; leaks of other libraries that are lost
 * once, or in files that are damaged, do not count. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
  return "allocator_may_return_null=1:detect_leaks=1:quarantine_size_mb=32";
}
const char *__ubsan_default_options(void);
const char *__ubsan_default_options(void)
{
  return "print_stacktrace=1";
}
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
  return "leak:libfontconfig\nleak:libhdf5\n";
}

void fuzz_fail(const char *condition, const char *file, int line)
{
  fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, condition);
  fflush(stderr);
  abort();
}

static void fail_late(int number)
{
  static const char text[] = "the input takes 10 s of processor time\n";
  (void)number;
  const ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
  (void)written;
  abort();
}

void fuzz_start_clock(void)
{
  const struct itimerval limit = {.it_value = {MOST_SECONDS, 0}};
  if (!fuzz_is_test) setitimer(ITIMER_PROF, &limit, NULL);
}

/* Takes the place of the one of the system, for the HDF5 library: it waits between its attempts to
 * read a damaged file, which may be being written. */
int nanosleep(const struct timespec *time, struct timespec *left)
{
  (void)time, (void)left;
  return 0;
}

/* --- the folder ------------------------------------------------------------------------------- */

typedef struct kept_file {
  char *name;
  char *bytes;
  size_t size;
  struct stat state;
} kept_file;

static char folder[200];
static int outside = -1; /* the folder that the program was started in */
static pid_t owner;
static kept_file kept[8];
static int num_kept;

static const kept_file *find_kept(const char *path)
{
  for (int i = 0; i < num_kept; i++)
    if (strcmp(path, kept[i].name) == 0) return &kept[i];
  return NULL;
}

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *place)
{
  (void)info, (void)kind;
  if (place->level > 0 && find_kept(path + 2) == NULL) remove(path);
  return 0;
}

static void remove_folder(void)
{
  if (getpid() != owner || chdir(folder) != 0) return;
  num_kept = 0;
  nftw(".", remove_entry, 8, FTW_DEPTH | FTW_PHYS);
  if (chdir("/") == 0) rmdir(folder);
}

void fuzz_begin(void)
{
  const char *place = getenv("TMPDIR");
  /* nothing here needs large files or core dumps */
  const struct rlimit file_size = {256 << 20, 256 << 20}, none = {0, 0};
  static char messages[1 << 16];
  snprintf(folder, sizeof folder, "%s/polhode-fuzz-XXXXXX", place != NULL ? place : "/tmp");
  outside = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  FUZZ_REQUIRE(outside >= 0 && mkdtemp(folder) != NULL);
  owner = getpid();
  atexit(remove_folder);
  setrlimit(RLIMIT_FSIZE, &file_size);
  setrlimit(RLIMIT_CORE, &none);
  signal(SIGXFSZ, SIG_IGN);
  signal(SIGPROF, fail_late);
  if (openblas_set_num_threads) openblas_set_num_threads(1);
  /* an error message is not written letter by letter */
  setvbuf(stderr, messages, _IOFBF, sizeof messages);
  /* the HDF5 library keeps the 1 MB that each file and each conversion take, for the next */
  H5dont_atexit();
  H5set_free_list_limits(-1, -1, 1 << 26, 1 << 26, 1 << 26, 1 << 26);
  setenv("COLUMNS", "80", 1);
  setenv("TERM", "dumb", 1);
}

void fuzz_enter(void)
{
  FUZZ_REQUIRE(chdir(folder) == 0);
}

void fuzz_write(const char *name, const void *bytes, size_t size)
{
  FILE *file = fopen(name, "wb");
  FUZZ_REQUIRE(file != NULL);
  FUZZ_REQUIRE(fwrite(bytes, 1, size, file) == size);
  FUZZ_REQUIRE(fclose(file) == 0);
}

void fuzz_keep(const char *name)
{
  kept_file *k = &kept[num_kept++];
  FILE *file = fopen(name, "rb");
  FUZZ_REQUIRE(file != NULL && fstat(fileno(file), &k->state) == 0);
  k->size = (size_t)k->state.st_size;
  k->bytes = malloc(k->size + 1);
  k->name = strdup(name);
  FUZZ_REQUIRE(k->bytes != NULL && k->name != NULL);
  FUZZ_REQUIRE(fread(k->bytes, 1, k->size, file) == k->size);
  fclose(file);
}

static int is_unchanged(const kept_file *k)
{
  struct stat now;
  return lstat(k->name, &now) == 0 && now.st_ino == k->state.st_ino &&
         now.st_size == k->state.st_size && now.st_mtim.tv_sec == k->state.st_mtim.tv_sec &&
         now.st_mtim.tv_nsec == k->state.st_mtim.tv_nsec;
}

int fuzz_is_unchanged(const char *name)
{
  const kept_file *k = find_kept(name);
  return k != NULL && is_unchanged(k);
}

/* Writes the file again if it is not the one that it was. */
static void restore(kept_file *k)
{
  if (is_unchanged(k)) return;
  fuzz_write(k->name, k->bytes, k->size);
  FUZZ_REQUIRE(stat(k->name, &k->state) == 0);
}

void fuzz_leave(void)
{
  FUZZ_REQUIRE(chdir(folder) == 0);
  nftw(".", remove_entry, 8, FTW_DEPTH | FTW_PHYS);
  for (int i = 0; i < num_kept; i++) restore(&kept[i]);
  FUZZ_REQUIRE(fchdir(outside) == 0);
}

char *fuzz_text(const uint8_t *data, size_t size)
{
  char *text = malloc(size + 1);
  FUZZ_REQUIRE(text != NULL);
  if (size > 0) memcpy(text, data, size);
  text[size] = '\0';
  return text;
}

/* --- commands --------------------------------------------------------------------------------- */

static int looks_left;

void cli_catch_signals(void) {}

void cli_ignore_file_limit(void) {}

/* Threads of a study ask one at a time. */
int cli_stop_signal(void)
{
  if (looks_left > 0) looks_left--;
  return looks_left == 0 ? SIGINT : 0;
}

static int has_word(const char *const *words, const char *word)
{
  while (*words != NULL && strcmp(*words, word) != 0) words++;
  return *words != NULL;
}

/* Runs the command with its standard output in a file, which must hold one JSON object then. */
static int run_for_json(int argc, char **argv)
{
  static const char name[] = "printed.txt";
  fflush(stdout);
  const int before = dup(STDOUT_FILENO), to = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
  FUZZ_REQUIRE(before >= 0 && to >= 0 && dup2(to, STDOUT_FILENO) >= 0);
  close(to);
  const int status = cli_main(argc, argv);
  dup2(before, STDOUT_FILENO);
  close(before);
  json_t *object = json_load_file(name, 0, NULL);
  FUZZ_REQUIRE(json_is_object(object));
  json_decref(object);
  remove(name);
  return status;
}

void fuzz_command(int looks, const char *const *words)
{
  enum { MOST = 64 };
  char *argv[MOST + 1] = {strdup("polhode")};
  int argc = 1;
  for (; argc < MOST && words[argc - 1] != NULL; argc++) argv[argc] = strdup(words[argc - 1]);
  looks_left = looks;
  cli_color_choose("auto");
  /* a text that explains is no JSON; and what stands behind -- is no option */
  const int is_json = has_word(words, "--json") && !has_word(words, "--help") &&
                      !has_word(words, "-h") && !has_word(words, "--");
  const int status = is_json ? run_for_json(argc, argv) : cli_main(argc, argv);
  /* done, failed, invalid, or stopped by the signal above */
  FUZZ_REQUIRE(status == 0 || status == 1 || status == 2 || status == 128 + SIGINT);
  for (int i = 0; i < argc; i++) free(argv[i]);
}

void fuzz_result(const char *name, size_t choice)
{
  static const char *const commands[][10] = {
      {"info", "FILE"},
      {"info", "FILE", "--json"},
      {"plot", "FILE", "*", "--out", "a.svg"},
      {"plot", "FILE", "*.x", "t", "--log-y", "--panels", "quantity", "--out", "b.svg"},
      {"view", "FILE", "--out", "a.html", "--frames", "5"},
      {"view", "FILE", "--out", "a.html", "--model", "model.json", "--json"},
      {"export", "FILE", "--vtk", "vtk", "--frames", "3"},
      {"converge", "model.json", "--steps=0.01", "--jobs=1", "--set", "simulation.end=0.01",
       "--reference", "FILE"},
  };
  enum { COUNT = sizeof commands / sizeof commands[0] };
  for (size_t i = 0; i < COUNT; i++) {
    const char *words[10];
    if (!fuzz_is_test && i != choice % COUNT) continue;
    for (int k = 0; k < 10; k++)
      words[k] =
          commands[i][k] != NULL && strcmp(commands[i][k], "FILE") == 0 ? name : commands[i][k];
    fuzz_command(20, words);
  }
}
