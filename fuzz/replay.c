/* Runs a fuzz target on the inputs of the tests, without libFuzzer.
 *
 *   fuzz_TARGET FILE|FOLDER ...
 *
 * All files of the folders are fed to the target's function, in the order of their names.  The
 * program ends with 0 if it survives; a sanitizer or a condition of the target that does not hold
 * ends it.  What the commands print is thrown away. */
#define _XOPEN_SOURCE 700

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox.h"

static int count;

static void feed_file(const char *path)
{
  FILE *file = fopen(path, "rb");
  struct stat info;
  FUZZ_REQUIRE(file != NULL && fstat(fileno(file), &info) == 0);
  const size_t size = (size_t)info.st_size;
  uint8_t *bytes = malloc(size > 0 ? size : 1); /* no more, so that a sanitizer sees its end */
  FUZZ_REQUIRE(bytes != NULL && fread(bytes, 1, size, file) == size);
  fclose(file);
  fprintf(stderr, "input: %s\n", path);
  fflush(stderr);
  LLVMFuzzerTestOneInput(bytes, size);
  free(bytes);
  count++;
}

static int is_visible(const struct dirent *entry)
{
  return entry->d_name[0] != '.';
}

static void feed(const char *path)
{
  struct stat info;
  FUZZ_REQUIRE(stat(path, &info) == 0);
  if (!S_ISDIR(info.st_mode)) {
    feed_file(path);
    return;
  }
  struct dirent **names;
  const int num_names = scandir(path, &names, is_visible, alphasort);
  FUZZ_REQUIRE(num_names >= 0);
  for (int i = 0; i < num_names; i++) {
    char file[1024];
    snprintf(file, sizeof file, "%s/%s", path, names[i]->d_name);
    feed(file);
    free(names[i]);
  }
  free(names);
}

int main(int argc, char **argv)
{
  const int nowhere = open("/dev/null", O_WRONLY);
  FUZZ_REQUIRE(nowhere >= 0 && dup2(nowhere, STDOUT_FILENO) >= 0);
  close(nowhere);
  LLVMFuzzerInitialize(&argc, &argv);
  fuzz_is_test = 1;
  for (int i = 1; i < argc; i++) feed(argv[i]);
  fprintf(stderr, "%d inputs\n", count);
  return count > 0 ? 0 : 1;
}
