/* Methods and formulations agree on random mechanisms: see compare.h.  `make fuzz-models` runs more
 * of them, with all configurations.
 */
#include "check.h"

#include <stdio.h>

#include "differential/compare.h"

enum { FIRST = 1, LAST = 300, SAMPLE = 8 };

static void print_finding(const char *kind, int disagreement, const char *text, void *user)
{
  (void)user;
  if (disagreement) print_error("%s: %s\n", kind, text);
}

static void compare_seed(uint64_t seed, const compare_options *options, compare_counts *counts)
{
  random_model model;
  char message[400];
  if (random_model_create(&model, seed, message, sizeof message))
    fail_msg("seed %llu: %s", (unsigned long long)seed, message);
  compare_model(&model, options, counts);
  random_model_free(&model);
}

static void methods_and_formulations_agree(void **state)
{
  const compare_options options = {.sample = SAMPLE, .folder = ".", .report = print_finding};
  compare_counts counts = {0};
  (void)state;
  for (uint64_t seed = FIRST; seed <= LAST; seed++) compare_seed(seed, &options, &counts);
  print_message("%ld models, %ld runs, %ld comparisons, %ld undecided, %ld refused, %ld skipped\n",
                counts.models, counts.runs, counts.comparisons, counts.undecided, counts.refused,
                counts.skipped);
  if (counts.disagreements) print_error("to see a model: fuzz_models SEED --write FILE\n");
  assert_int_equal(counts.disagreements, 0);
  /* a test that compares little would agree, too */
  assert_true(counts.comparisons > 4 * (LAST - FIRST));
  assert_true(counts.undecided < counts.comparisons / 50);
  assert_true(counts.skipped < counts.models / 20);
}

/* Seeds that `make fuzz-models` has found, with all configurations: reset of a first-order method
 * (872), tolerances that lead to the same steps (1936, 2049, 3402), events that read reactions of
 * redundant rows (2839, 4597), a loop that is assembled to round-off (3789), a mechanism that is
 * held still (5084). */
static void models_that_disagreed_agree(void **state)
{
  static const uint64_t seeds[] = {872, 1936, 2049, 2839, 3402, 3789, 4597, 5084};
  const compare_options options = {.report = print_finding};
  compare_counts counts = {0};
  (void)state;
  for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++)
    compare_seed(seeds[i], &options, &counts);
  assert_int_equal(counts.disagreements, 0);
  assert_int_equal(counts.skipped, 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(methods_and_formulations_agree),
                                     cmocka_unit_test(models_that_disagreed_agree)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
