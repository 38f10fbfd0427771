/* Every command on every shipped model and its results, with options that meet rarely: whatever is
 * asked for, the program ends by itself, with exit status 0, 1 or 2.  Then every command that reads
 * results on many damaged ones.
 */
#define _XOPEN_SOURCE 700

#include <glob.h>
#include <polhode/polhode.h>
#include <unistd.h>

#include "cli/cli_test.h"

/* Models are copied to m.json; r.h5 and r.csv are its results, which the first two commands write.
 * %M and %F stand for a method and a formulation, another one for each model. */
static const char *const commands[] = {
    "run m.json --end 0.05 --out r.h5 --quiet",
    "run m.json --end 0.05 --out r.csv --json",
    "run m.json --end 0.05 --formulation %F --rtol 1e-3 --set simulation.index=stabilized-2",
    "run m.json --end 0.05 --method %M --set simulation.redundant=minimum-norm --json",
    "run m.json --step 1 --end 0.5 --quiet",
    "check m.json --dot a.dot --json --set simulation.formulation=%F",
    "converge m.json --steps 0.005,0.0025 --set simulation.end=0.05 --work --plot a.svg",
    "converge m.json --set simulation.step=1 --set simulation.end=0.05",
    "converge m.json --set simulation.end=0.05 --rtols 1e-2,1e-3 --methods %M --json",
    "converge m.json --set simulation.end=0.05 --steps 0.005 --reference r.h5 --quantities *",
    "info r.h5",
    "plot r.h5 * --out a.svg --panels quantity --log-y",
    "plot r.csv r.h5 *.x --out a.svg --x energy.total --equal",
    "view r.h5 --frames 2 --out a.html",
    "view r.csv --model m.json --out a.html --json",
    "export r.h5 --vtk vtk --frames 2",
    "export r.csv --vtk vtk --every 3 --json",
};
enum { NUM_COMMANDS = sizeof commands / sizeof commands[0] };

/* Runs "polhode ..." and expects that no signal ends it. */
static int expect_end(const char *arguments, const char *what)
{
  char line[400];
  snprintf(line, sizeof line, "polhode %s", arguments);
  const int status = run(line);
  if (status < 0 || status > 2)
    fail_msg("%s: polhode %s: exit status %d (-1: a signal)\n%s%s", what, arguments, status, out,
             err);
  if (status != 0 && err[0] == '\0' && out[0] == '\0')
    fail_msg("%s: polhode %s: exit status %d without a word", what, arguments, status);
  return status;
}

static void copy_file(const char *from, const char *to, long flip, long size)
{
  static char bytes[1 << 20];
  FILE *file = fopen(from, "rb");
  assert_non_null(file);
  size_t count = fread(bytes, 1, sizeof bytes, file);
  assert_true(count < sizeof bytes);
  fclose(file);
  if (flip >= 0) bytes[flip] = (char)(bytes[flip] ^ (1 << flip % 8));
  if (size >= 0) count = (size_t)size;
  file = fopen(to, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, count, file), count);
  fclose(file);
}

static void all_commands_end(void **state)
{
  (void)state;
  glob_t models;
  int done = 0;
  assert_int_equal(glob(POLHODE_SOURCE_DIR "/models/*/*.json", 0, NULL, &models), 0);
  assert_true(models.gl_pathc > 20);
  assert_int_equal(symlink(POLHODE_SOURCE_DIR "/models/examples/parts", "parts"), 0);
  for (size_t i = 0; i < models.gl_pathc; i++) {
    copy_file(models.gl_pathv[i], "m.json", -1, -1);
    for (int k = 0; k < NUM_COMMANDS; k++) {
      char text[300], *place;
      snprintf(text, sizeof text, "%s", commands[k]);
      while ((place = strchr(text, '%')) != NULL) {
        const int number = (int)i + k; /* no two commands the same */
        const char *word =
            place[1] == 'M'
                ? pol_method_at(number % pol_method_count())->name
                : pol_formulation_name((pol_formulation_kind)(number % pol_formulation_count()));
        char rest[200];
        snprintf(rest, sizeof rest, "%s", place + 2);
        snprintf(place, sizeof text - (size_t)(place - text), "%s%s", word, rest);
      }
      const int status = expect_end(text, models.gl_pathv[i]);
      if (k < 2) assert_int_equal(status, 0); /* the results that the others read */
      done += status == 0;
    }
  }
  print_message("%zu models, %d of %zu commands done\n", models.gl_pathc, done,
                models.gl_pathc * NUM_COMMANDS);
  assert_true(done > 2 * (int)models.gl_pathc * NUM_COMMANDS / 3);
  globfree(&models);
}

/* One bit of a result in the wrong state, or a result that was cut, at places all over the file and
 * at random ones, the same in each run. */
static void damaged_results_are_survived(void **state)
{
  (void)state;
  static const char *const readers[] = {"info d.%s", "plot d.%s ball --out d.svg",
                                        "view d.%s --model m.json --out d.html --frames 9",
                                        "export d.%s --vtk vtk --frames 2"};
  static const char *const formats[] = {"h5", "csv"};
  enum { DAMAGES = 24 };
  copy_file(POLHODE_SOURCE_DIR "/models/examples/bouncing_ball.json", "m.json", -1, -1);
  const char *given = getenv("LSAN_OPTIONS");
  char leaks[500];
  snprintf(leaks, sizeof leaks, "%s", given != NULL ? given : "");
  setenv("LSAN_OPTIONS", "detect_leaks=0", 1); /* HDF5 may lose memory of a damaged file */
  uint64_t seed = 3;
  for (int f = 0; f < 2; f++) {
    char name[20], damaged[20], line[100], what[60];
    struct stat info;
    snprintf(name, sizeof name, "b.%s", formats[f]);
    snprintf(damaged, sizeof damaged, "d.%s", formats[f]);
    snprintf(line, sizeof line, "run m.json --end 1 --out %s --quiet", name);
    assert_int_equal(expect_end(line, "m.json"), 0);
    assert_int_equal(stat(name, &info), 0);
    for (int i = 0; i < DAMAGES; i++) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      /* most of what can be wrong with an HDF5 file is near its beginning */
      const long range = i % 3 == 0 ? (long)info.st_size : 9000;
      const long place = (long)((seed >> 33) % (uint64_t)range), cut = i % 4 == 3 ? place : -1;
      copy_file(name, damaged, cut < 0 ? place : -1, cut);
      snprintf(what, sizeof what, "%s byte %ld", cut < 0 ? "flipped" : "cut at", place);
      for (int k = 0; k < 4; k++) {
        snprintf(line, sizeof line, readers[k], formats[f]);
        expect_end(line, what);
      }
    }
  }
  setenv("LSAN_OPTIONS", leaks, 1);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_commands_end),
      cmocka_unit_test(damaged_results_are_survived),
  };
  return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
