/* Measures behind the choices of src/core/linalg, each pair side by side in one run:
 *
 *   1. LAPACK (dgetrf, dgetrs) against the library's own LU for small full matrices: where the
 *      dense backend changes from one to the other;
 *   2. the dense against the sparse backend for saddle-point matrices [[M, B^T], [B, 0]] of chains
 *      of bodies and of graphs with more and more joints: the rule of POL_SOLVER_AUTO.
 *
 * Each time is the best of several rounds, in nanoseconds.
 */
#define _POSIX_C_SOURCE 200809L

#include <polhode/linalg.h>

#include "linalg/lu.h"

#include <float.h>
#include <lapacke.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 9 };

static double seconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Evenly distributed between -1 and 1 (Knuth's linear congruential generator). */
static double random_number(void)
{
  static uint64_t state = 1;
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (double)(state >> 11) / 4503599627370496.0 - 1.0;
}

static void *allocate(size_t count, size_t size)
{
  void *memory = calloc(count + 1, size);
  if (!memory) {
    fputs("no memory\n", stderr);
    exit(EXIT_FAILURE);
  }
  return memory;
}

static void require(pol_status status)
{
  if (status == POL_OK) return;
  fprintf(stderr, "status %d\n", (int)status);
  exit(EXIT_FAILURE);
}

/* --- 1. LAPACK against the own LU ------------------------------------------------------------- */

typedef struct full {
  int n;
  double *matrix, *lu, *inverse_pivot, *b, *x;
  int *pivot;
} full;

/* The matrix of n/3 constraints on the other two thirds of the unknowns. */
static full full_create(int n)
{
  size_t size = (size_t)n;
  full f = {.n = n};
  f.matrix = allocate(size * size, sizeof(double));
  f.lu = allocate(size * size, sizeof(double));
  f.inverse_pivot = allocate(3 * size, sizeof(double));
  f.b = f.inverse_pivot + n;
  f.x = f.b + n;
  f.pivot = allocate(size, sizeof(int));
  for (int j = 0; j < n; j++) {
    f.b[j] = random_number();
    for (int i = 0; i < n; i++)
      if (i < n - n / 3 || j < n - n / 3) f.matrix[i + j * n] = random_number();
  }
  return f;
}

static void full_free(full *f)
{
  free(f->matrix);
  free(f->lu);
  free(f->inverse_pivot);
  free(f->pivot);
}

static void factor_lapack(full *f)
{
  memcpy(f->lu, f->matrix, (size_t)(f->n * f->n) * sizeof(double));
  LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, f->n, f->n, f->lu, f->n, f->pivot);
}

static void factor_own(full *f)
{
  memcpy(f->lu, f->matrix, (size_t)(f->n * f->n) * sizeof(double));
  poli_lu_factor(f->n, f->lu, f->pivot);
  for (int k = 0; k < f->n; k++) f->inverse_pivot[k] = 1.0 / f->lu[k * (f->n + 1)];
}

static void solve_lapack(full *f)
{
  memcpy(f->x, f->b, (size_t)f->n * sizeof(double));
  LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, 'N', f->n, 1, f->lu, f->n, f->pivot, f->x, f->n);
}

static void solve_own(full *f)
{
  memcpy(f->x, f->b, (size_t)f->n * sizeof(double));
  poli_lu_solve(f->n, f->lu, f->pivot, f->inverse_pivot, f->x);
}

static double nanoseconds_full(void (*work)(full *), full *f, int repetitions)
{
  double start = seconds();
  for (int r = 0; r < repetitions; r++) work(f);
  return 1e9 * (seconds() - start) / repetitions;
}

static void compare_full(int n)
{
  full f = full_create(n);
  int repetitions = (int)(1e6 / (200.0 + 0.3 * n * n * n)) + 1;
  double best[4] = {DBL_MAX, DBL_MAX, DBL_MAX, DBL_MAX};
  for (int round = 0; round < ROUNDS; round++) {
    best[0] = fmin(best[0], nanoseconds_full(factor_lapack, &f, repetitions));
    best[1] = fmin(best[1], nanoseconds_full(solve_lapack, &f, repetitions));
    best[2] = fmin(best[2], nanoseconds_full(factor_own, &f, repetitions));
    best[3] = fmin(best[3], nanoseconds_full(solve_own, &f, repetitions));
  }
  printf("%5d %10.0f %10.0f %6.2f %10.0f %10.0f %6.2f\n", n, best[0], best[2], best[0] / best[2],
         best[1], best[3], best[1] / best[3]);
  full_free(&f);
}

/* --- 2. dense against sparse backend ---------------------------------------------------------- */

/* Joint number s of a system with the given bodies connects these two: the chain first, then pairs
 * at random. */
static void joint_bodies(int bodies, int s, int body[2])
{
  body[0] = s < bodies ? s - 1 : (int)((random_number() + 1.0) / 2.0 * bodies);
  body[1] = s < bodies ? s : (int)((random_number() + 1.0) / 2.0 * bodies);
}

/* 6 x 6 blocks of the bodies; rows_a_joint constraint rows for each of the joints. */
static pol_pattern *saddle_pattern(int bodies, int joints, int rows_a_joint)
{
  int nv = 6 * bodies;
  int count = 0;
  pol_block *blocks = allocate((size_t)(bodies + 4 * joints), sizeof *blocks);
  for (int b = 0; b < bodies; b++) blocks[count++] = (pol_block){6 * b, 6 * b, 6, 6};
  for (int s = 0; s < joints; s++) {
    int row = nv + s * rows_a_joint;
    int body[2];
    joint_bodies(bodies, s, body);
    for (int e = 0; e < 2; e++) {
      if (body[e] < 0) continue;
      blocks[count++] = (pol_block){row, 6 * body[e], rows_a_joint, 6};
      blocks[count++] = (pol_block){6 * body[e], row, 6, rows_a_joint};
    }
  }
  pol_pattern *pattern;
  int n = nv + joints * rows_a_joint;
  require(pol_pattern_create(&pattern, n, n, count, blocks));
  free(blocks);
  return pattern;
}

/* Nanoseconds of a refactorisation and of a solution with one backend. */
static void measure_backend(const pol_pattern *pattern, const double *values, pol_solver_kind kind,
                            double *refactor, double *solve)
{
  pol_solver *solver;
  double *x = allocate((size_t)pattern->cols, sizeof *x);
  require(pol_solver_create(&solver, pattern, kind));
  require(pol_solver_factor(solver, values));
  *refactor = *solve = DBL_MAX;
  int repetitions = (int)(2e5 / (100.0 + pol_pattern_nonzeros(pattern))) + 1;
  if (pattern->rows > 300) repetitions = 1;
  for (int round = 0; round < ROUNDS; round++) {
    double start = seconds();
    for (int r = 0; r < repetitions; r++) require(pol_solver_refactor(solver, values));
    double middle = seconds();
    for (int r = 0; r < repetitions; r++) {
      for (int i = 0; i < pattern->cols; i++) x[i] = 1.0;
      pol_solver_solve(solver, x);
    }
    *refactor = fmin(*refactor, 1e9 * (middle - start) / repetitions);
    *solve = fmin(*solve, 1e9 * (seconds() - middle) / repetitions);
  }
  pol_solver_free(&solver);
  free(x);
}

static void compare_backends(const char *name, int bodies, int joints, int rows_a_joint)
{
  pol_pattern *pattern = saddle_pattern(bodies, joints, rows_a_joint);
  int n = pattern->cols;
  int nonzeros = pol_pattern_nonzeros(pattern);
  double *values = allocate((size_t)nonzeros, sizeof *values);
  for (int j = 0; j < n; j++)
    for (int a = pattern->start[j]; a < pattern->start[j + 1]; a++)
      values[a] = random_number() + (pattern->row[a] == j ? 4.0 : 0.0);

  double dense[2], sparse[2];
  measure_backend(pattern, values, POL_SOLVER_DENSE, &dense[0], &dense[1]);
  measure_backend(pattern, values, POL_SOLVER_SPARSE, &sparse[0], &sparse[1]);
  printf("%-8s %5d %6d %6.3f %10.0f %10.0f %6.2f %9.0f %9.0f %6.2f\n", name, n, nonzeros,
         (double)nonzeros / n / n, dense[0], sparse[0], dense[0] / sparse[0], dense[1], sparse[1],
         dense[1] / sparse[1]);
  free(values);
  pol_pattern_free(&pattern);
}

int main(void)
{
  static const int sizes[] = {3, 6, 9, 12, 15, 20, 30, 36, 40, 45, 50, 60, 90, 120};
  puts("full matrices: nanoseconds of LAPACK, own LU, and LAPACK / own");
  puts("    n   dgetrf        own  ratio     dgetrs        own  ratio");
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) compare_full(sizes[s]);

  static const int bodies[] = {1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 40};
  puts("\nbackends: nanoseconds of a refactorisation and a solution, and dense / sparse");
  puts("             n entries  fill      dense     sparse  ratio     dense    sparse  ratio");
  for (size_t s = 0; s < sizeof bodies / sizeof *bodies; s++) {
    compare_backends("chain 3", bodies[s], bodies[s], 3);
    compare_backends("chain 5", bodies[s], bodies[s], 5);
  }
  for (int joints = 10; joints <= 50; joints += 10) compare_backends("graph 1", 10, joints, 1);
  for (int joints = 30; joints <= 150; joints += 30) compare_backends("graph 1", 30, joints, 1);
  return EXIT_SUCCESS;
}
