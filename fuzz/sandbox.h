/* What the fuzz targets share: a temporary folder in which they work, and the commands of polhode
 * as a function.
 *
 * A target is one function, LLVMFuzzerTestOneInput, which libFuzzer calls with the inputs that it
 * generates (preset fuzz), and which replay.c calls with the inputs of the tests.  It must leave
 * nothing behind: no memory, no file, no setting.
 */
#ifndef POLHODE_FUZZ_SANDBOX_H
#define POLHODE_FUZZ_SANDBOX_H

#include <stddef.h>
#include <stdint.h>

#include "cli_main.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Set by replay.c: nothing is left to chance, and no time is measured. */
extern int fuzz_is_test;

/* Makes the folder, sets limits.  Called once, by LLVMFuzzerInitialize of each target. */
void fuzz_begin(void);

/* The first call of a target: the input may take 10 s of processor time from here on.  libFuzzer
 * measures by the clock, and on a busy machine any input may take long. */
void fuzz_start_clock(void);

/* Enters the folder, and leaves it again; what is there then and was not kept is removed, and kept
 * files are as they were. */
void fuzz_enter(void);
void fuzz_leave(void);

/* Writes a file into the folder that was entered. */
void fuzz_write(const char *name, const void *bytes, size_t size);
/* Keeps a file of the folder that was entered for all inputs. */
void fuzz_keep(const char *name);
/* Whether a kept file has not been written since. */
int fuzz_is_unchanged(const char *name);

/* The bytes as a string, which the caller frees. */
char *fuzz_text(const uint8_t *data, size_t size);

/* Runs the command with these words, the last of which is NULL; the first is its name ("info").  A
 * simulation is interrupted when it has looked for signals `looks` times, as with Ctrl-C. */
void fuzz_command(int looks, const char *const *words);

/* Runs one of the commands that read results, by choice, on a file of the folder; all in a test. */
void fuzz_result(const char *name, size_t choice);

/* Ends the program if the condition does not hold, as a sanitizer does. */
#define FUZZ_REQUIRE(condition)                                                                    \
  do {                                                                                             \
    if (!(condition)) fuzz_fail(#condition, __FILE__, __LINE__);                                   \
  } while (0)
_Noreturn void fuzz_fail(const char *condition, const char *file, int line);

#endif
