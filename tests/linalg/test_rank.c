/* Which columns depend on others: known ranks, and ties that round-off must not decide. */
#include <string.h>

#include "base/monitor.h"
#include "check.h"
#include "linalg/rank.h"

enum { ROWS = 12, COLS = 9 };

/* Unit vectors, some of them twice, and sums of others; noise as round-off leaves it. */
static void fill(double *A, double noise, uint64_t *seed)
{
  memset(A, 0, ROWS * COLS * sizeof *A);
  for (int j = 0; j < COLS; j++) {
    double *column = A + ROWS * j;
    column[j % 4] = 1.0 + j; /* columns 0 .. 3, again 4 .. 7 */
    if (j == 8) column[1] = column[4] = 3.0;
    for (int i = 0; i < ROWS; i++) column[i] += noise * random_number(seed);
  }
}

/* Of columns that are equally far away the first is taken, whatever round-off says. */
static void ties_go_to_the_first(void **state)
{
  (void)state;
  static const unsigned char expected[COLS] = {0, 0, 0, 0, 1, 1, 1, 1, 0};
  uint64_t seed = 3;
  for (int k = 0; k < 200; k++) {
    double A[ROWS * COLS];
    unsigned char dependent[COLS];
    poli_rank *rank;
    fill(A, k % 2 ? 1e-13 : 0.0, &seed);
    assert_int_equal(poli_rank_create(&rank, ROWS, COLS), POL_OK);
    poli_rank_dependent(rank, A, NULL, -1, dependent);
    assert_memory_equal(dependent, expected, COLS);
    poli_rank_free(&rank);
  }
}

/* Columns that come first are never the ones that depend, and count for nothing else: what is
 * perpendicular to them is compared at length one. */
static void some_columns_are_taken_for_granted(void **state)
{
  (void)state;
  double A[5 * 3] = {1, 1, 0, 0, 0, /**/ 1e3, 0, 1e-3, 0, 0, /**/ 0, 1e3, 1e-3, 1e-3, 0};
  static const unsigned char first[3] = {1, 0, 0};
  double again[5 * 3];
  unsigned char dependent[3];
  poli_rank *rank;
  int last;
  memcpy(again, A, sizeof A);
  assert_int_equal(poli_rank_create(&rank, 5, 3), POL_OK);
  poli_rank_dependent(rank, A, first, -1, dependent);
  assert_int_equal(dependent[0] + dependent[1] + dependent[2], 0);
  /* (1, -1, 2e-6, 0, 0)/sqrt(2) and (-1, 1, 2e-6, 2e-6, 0)/sqrt(2): nearly opposite */
  double distance = poli_rank_measure(rank, again, first, &last);
  assert_true(last == 2);
  assert_near(&distance, &(double){sqrt(10.0) * 1e-6}, 1, 1e-8);
  poli_rank_free(&rank);
}

/* The distance of the most dependent column, against one that is known. */
static void distances_are_those_of_the_columns(void **state)
{
  (void)state;
  for (double angle = 1e-8; angle < 1.0; angle *= 10.0) {
    double A[3 * 3] = {1, 0, 0, 0, 1, 0, cos(angle), 0, sin(angle)};
    poli_rank *rank;
    int last;
    assert_int_equal(poli_rank_create(&rank, 3, 3), POL_OK);
    double distance = poli_rank_measure(rank, A, NULL, &last);
    assert_int_equal(last, 2);
    assert_near(&distance, &(double){sin(angle)}, 1, 1e-15);
    poli_rank_free(&rank);
  }
}

/* As many as are asked for, the least independent ones. */
static void a_number_of_columns_can_be_asked_for(void **state)
{
  (void)state;
  static const unsigned char expected[4][3] = {{0, 0, 0}, {0, 0, 1}, {0, 1, 1}, {1, 1, 1}};
  for (int count = 0; count <= 3; count++) {
    double A[4 * 3] = {1, 0, 0, 0, 1, 0.5, 0, 0, 1, 0, 1e-3, 0};
    unsigned char dependent[3];
    poli_rank *rank;
    assert_int_equal(poli_rank_create(&rank, 4, 3), POL_OK);
    poli_rank_dependent(rank, A, NULL, count, dependent);
    assert_memory_equal(dependent, expected[count], 3);
    poli_rank_free(&rank);
  }
}

/* Counts the reports before the first column is taken, and those after it; cancels at one. */
typedef struct reports {
  int before, after, stop_at;
} reports;

static int count_reports(const char *stage, double share, void *user)
{
  reports *r = user;
  assert_string_equal(stage, "rank");
  assert_true(share <= 1.0);
  *(share < 0.0 ? &r->before : &r->after) += 1;
  return r->before + r->after == r->stop_at;
}

/* A large matrix reports its preparation, every 256 columns, and then each column; cancelled at any
 * of these, it ends without another report. */
static void large_matrices_can_be_cancelled(void **state)
{
  (void)state;
  enum { SIZE = 600 };
  static double A[SIZE * SIZE];
  static unsigned char dependent[SIZE];
  static const int stops[] = {0, 1, 2, 3, 100, SIZE + 2};
  poli_rank *rank;
  assert_int_equal(poli_rank_create(&rank, SIZE, SIZE), POL_OK);
  for (size_t k = 0; k < sizeof stops / sizeof stops[0]; k++) {
    reports r = {.stop_at = stops[k]};
    const pol_progress progress = {count_reports, &r};
    poli_monitor monitor;
    memset(A, 0, sizeof A);
    for (int i = 0; i < SIZE; i++) A[SIZE * i + i] = 1.0;
    poli_monitor_begin(&monitor, &progress, "rank");
    pol_status status = poli_rank_dependent(rank, A, NULL, -1, dependent);
    poli_monitor_end(&monitor);
    assert_int_equal(status, stops[k] > 0 ? POL_CANCELLED : POL_OK);
    assert_int_equal(r.before + r.after, stops[k] > 0 ? stops[k] : SIZE + 2);
    assert_int_equal(r.before, stops[k] == 1 ? 1 : 2);
  }
  poli_rank_free(&rank);
}

/* Columns within a distance of what the others span, 1e-3 here, and no others. */
static void a_distance_can_be_asked_for(void **state)
{
  (void)state;
  static const double distances[] = {1e-4, 1e-2};
  for (int k = 0; k < 2; k++) {
    double A[4 * 3] = {1, 0, 0, 0, 0, 1, 0, 0, 1, 0, 1e-3, 0};
    unsigned char dependent[3];
    poli_rank *rank;
    assert_int_equal(poli_rank_create(&rank, 4, 3), POL_OK);
    assert_int_equal(poli_rank_near(rank, A, NULL, distances[k], dependent), POL_OK);
    assert_int_equal(dependent[0] + dependent[1] + dependent[2], k);
    assert_int_equal(dependent[1], 0);
    poli_rank_free(&rank);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ties_go_to_the_first),
      cmocka_unit_test(some_columns_are_taken_for_granted),
      cmocka_unit_test(distances_are_those_of_the_columns),
      cmocka_unit_test(a_number_of_columns_can_be_asked_for),
      cmocka_unit_test(large_matrices_can_be_cancelled),
      cmocka_unit_test(a_distance_can_be_asked_for),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
