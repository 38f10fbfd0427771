/* Command lines: the words of one, a line each, run in a folder with a model and its results.
 *
 * Nothing outside the folder can be written: a word with a path that could lead out of it is left
 * out of the input.  `reproduce`, which starts processes that run for minutes, is called only to
 * list or to explain. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "example_model.h"
#include "sandbox.h"

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
  static const char *const runs[][6] = {{"run", "model.json", "--out", "result.h5", "--quiet"},
                                        {"run", "model.json", "--out", "table.csv", "--quiet"}};
  static const char *const files[] = {"model.json", "result.h5", "table.csv"};
  (void)argc, (void)argv;
  fuzz_begin();
  fuzz_enter();
  fuzz_write(files[0], example_model, strlen(example_model));
  for (int i = 0; i < 2; i++) fuzz_command(100, runs[i]);
  for (int i = 0; i < 3; i++) fuzz_keep(files[i]);
  fuzz_leave();
  return 0;
}

/* Whether a word stays within the folder, whatever it is used for: no "..", and a slash only after
 * a letter or digit, so that no path begins with one. */
static int stays_inside(const char *word)
{
  if (strstr(word, "..") != NULL) return 0;
  for (const char *at = word; (at = strchr(at, '/')) != NULL; at++)
    if (at == word || !isalnum((unsigned char)at[-1])) return 0;
  return 1;
}

static int has_word(const char *const *words, const char *word)
{
  for (; *words != NULL; words++)
    if (strcmp(*words, word) == 0) return 1;
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  fuzz_start_clock();
  enum { MOST = 40 };
  char *text = fuzz_text(data, size);
  const char *words[MOST + 1] = {NULL};
  int count = 0;
  for (char *at = text; *at != '\0' && count < MOST;) {
    char *word = at;
    at += strcspn(at, "\n");
    if (*at != '\0') *at++ = '\0';
    if (stays_inside(word)) words[count++] = word;
  }
  const int starts_processes = count > 0 && strcmp(words[0], "reproduce") == 0 &&
                               !has_word(words, "--list") && !has_word(words, "--help");
  if (!starts_processes) {
    fuzz_enter();
    fuzz_command(12, words);
    /* no command may overwrite a model, and run alone writes results */
    FUZZ_REQUIRE(fuzz_is_unchanged("model.json"));
    if (count == 0 || strcmp(words[0], "run") != 0)
      FUZZ_REQUIRE(fuzz_is_unchanged("result.h5") && fuzz_is_unchanged("table.csv"));
    fuzz_leave();
  }
  free(text);
  return 0;
}
