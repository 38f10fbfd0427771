/* Dependent columns of matrices so large that the decomposition reports how far it is, and can be
 * stopped.
 */
#include <lapacke.h>
#include <stdlib.h>
#include <string.h>

#include "base/monitor.h"
#include "check.h"
#include "linalg/rank.h"

enum { ROWS = 1100, COLS = 1000, DEPENDENT = 7 };

/* Random columns of length one; seven in between are sums of others. */
static double *make_matrix(void)
{
  uint64_t seed = 3;
  double *A = malloc(sizeof *A * ROWS * COLS);
  random_numbers(&seed, A, ROWS * COLS);
  for (int k = 0; k < DEPENDENT; k++)
    for (int i = 0; i < ROWS; i++)
      A[(100 * k + 50) * ROWS + i] = A[(10 * k + 3) * ROWS + i] - 2.0 * A[(10 * k + 4) * ROWS + i];
  for (int j = 0; j < COLS; j++) {
    double square = 0.0;
    for (int i = 0; i < ROWS; i++) square += A[j * ROWS + i] * A[j * ROWS + i];
    for (int i = 0; i < ROWS; i++) A[j * ROWS + i] /= sqrt(square);
  }
  return A;
}

/* One of the three columns of each sum is dependent, and no other; of two of which one comes first,
 * the other.  LAPACK's own decomposition of the others confirms that they are independent. */
static void dependent_columns_of_large_matrices_are_found(void **state)
{
  (void)state;
  for (int some_first = 0; some_first < 2; some_first++) {
    double *A = make_matrix(), *B = make_matrix();
    double *tau = calloc(COLS, sizeof *tau);
    lapack_int *order = calloc(COLS, sizeof *order);
    unsigned char *dependent = malloc(COLS), *first = calloc(COLS, 1);
    poli_rank *rank;
    for (int k = 0; k < DEPENDENT && some_first; k++) first[10 * k + 3] = first[100 * k + 50] = 1;
    assert_int_equal(poli_rank_create(&rank, ROWS, COLS), POL_OK);
    assert_int_equal(poli_rank_dependent(rank, A, first, -1, dependent), POL_OK);
    int count = 0, independent = 0;
    for (int j = 0; j < COLS; j++) count += dependent[j];
    assert_int_equal(count, DEPENDENT);
    for (int k = 0; k < DEPENDENT; k++) {
      if (some_first) assert_int_equal(dependent[10 * k + 4], 1);
      assert_int_equal(dependent[10 * k + 3] + dependent[10 * k + 4] + dependent[100 * k + 50], 1);
    }
    for (int j = 0; j < COLS; j++)
      if (!dependent[j])
        memmove(B + (size_t)independent++ * ROWS, B + (size_t)j * ROWS, ROWS * sizeof *B);
    LAPACKE_dgeqp3(LAPACK_COL_MAJOR, ROWS, independent, B, ROWS, order, tau);
    assert_true(fabs(B[(size_t)(independent - 1) * (ROWS + 1)]) > 1e-3);
    poli_rank_free(&rank);
    free(A);
    free(B);
    free(tau);
    free(order);
    free(dependent);
    free(first);
  }
}

/* Stops at the third report that knows a share. */
typedef struct stopper {
  int reports, known;
  double share;
} stopper;

static int stop_soon(const char *stage, double share, void *user)
{
  stopper *s = user;
  (void)stage;
  s->reports++;
  if (share >= 0.0) {
    assert_true(share >= s->share && share <= 1.0);
    s->share = share;
    s->known++;
  }
  return s->known == 3;
}

static void a_decomposition_can_be_stopped(void **state)
{
  (void)state;
  double *A = make_matrix();
  unsigned char *dependent = malloc(COLS);
  stopper s = {0, 0, 0.0};
  const pol_progress progress = {stop_soon, &s};
  poli_monitor monitor;
  poli_rank *rank;
  assert_int_equal(poli_rank_create(&rank, ROWS, COLS), POL_OK);
  poli_monitor_begin(&monitor, &progress, "test");
  assert_int_equal(poli_rank_dependent(rank, A, NULL, -1, dependent), POL_CANCELLED);
  const int reports = s.reports;
  assert_int_equal(poli_monitor_poll(0.5), 1); /* and it stays stopped, without further reports */
  poli_monitor_end(&monitor);
  assert_int_equal(s.reports, reports);
  assert_true(s.share > 0.0 && s.share < 0.5);
  assert_int_equal(poli_monitor_poll(0.5), 0);
  poli_rank_free(&rank);
  free(A);
  free(dependent);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(dependent_columns_of_large_matrices_are_found),
      cmocka_unit_test(a_decomposition_can_be_stopped),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
