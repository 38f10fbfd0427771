/* Pattern and assembly of the saddle-point matrix against dense matrices built without it. */
#include "toys.h"

#include "dae/saddle.h"

enum { MAX_V = 8, MAX_M = 5, MAX_N = MAX_V + 2 * MAX_M };

/* A dae with chosen patterns, and the same patterns as tables of ones. */
typedef struct frame {
  int nv, nh, m;
  int W[MAX_V][MAX_V], B[MAX_M][MAX_V];
  pol_factor factor;
  pol_pattern *coupling, *constraint;
  pol_dae dae;
} frame;

static pol_status never(const pol_point *at, unsigned want, const pol_terms *out, double *scratch,
                        void *user)
{
  (void)at, (void)want, (void)out, (void)scratch, (void)user;
  return POL_CALLBACK;
}

static void mark_block(int row, int col, int rows, int cols, int *table)
{
  for (int i = row; i < row + rows; i++)
    for (int j = col; j < col + cols; j++) table[i * MAX_V + j] = 1;
}

/* Full patterns by default; sparse: two bodies of three and five coordinates that meet in one. */
static void frame_init(frame *f, int nh, int num_nonholonomic, int sparse)
{
  static const pol_block coupling[2] = {{0, 0, 3, 3}, {2, 2, 6, 6}};
  static const pol_block constraint[4] = {{0, 0, 2, 2}, {1, 4, 2, 2}, {3, 7, 1, 1}, {4, 0, 1, 3}};
  *f = (frame){.nv = MAX_V, .nh = nh, .m = nh + num_nonholonomic};
  f->factor = (pol_factor){.kind = POL_REAL, .dim = MAX_V};
  f->dae = (pol_dae){
      .num_holonomic = nh, .num_nonholonomic = num_nonholonomic, .evaluate = never, .user = NULL};
  assert_int_equal(pol_group_layout(&f->dae.group, &f->factor, 1), POL_OK);
  if (!sparse) {
    mark_block(0, 0, MAX_V, MAX_V, &f->W[0][0]);
    mark_block(0, 0, f->m, MAX_V, &f->B[0][0]);
    return;
  }
  assert_int_equal(f->m, MAX_M);
  assert_int_equal(pol_pattern_create(&f->coupling, MAX_V, MAX_V, 2, coupling), POL_OK);
  assert_int_equal(pol_pattern_create(&f->constraint, MAX_M, MAX_V, 4, constraint), POL_OK);
  f->dae.coupling = f->coupling;
  f->dae.constraint = f->constraint;
  for (int k = 0; k < 2; k++)
    mark_block(coupling[k].row, coupling[k].col, coupling[k].rows, coupling[k].cols, &f->W[0][0]);
  for (int k = 0; k < 4; k++)
    mark_block(constraint[k].row, constraint[k].col, constraint[k].rows, constraint[k].cols,
               &f->B[0][0]);
}

static void frame_clear(frame *f)
{
  pol_pattern_free(&f->coupling);
  pol_pattern_free(&f->constraint);
}

/* Where the matrix of saddle.h may be non-zero, block by block. */
static void expected_pattern(const frame *f, int extra, int S[MAX_N][MAX_N])
{
  int nv = f->nv, m = f->m, nx = extra ? f->nh : 0;
  memset(S, 0, sizeof(int) * MAX_N * MAX_N);
  for (int i = 0; i < nv; i++)
    for (int j = 0; j < nv; j++) S[i][j] = f->W[i][j];
  for (int i = 0; i < m; i++) {
    S[nv + i][nv + i] = 1;
    for (int j = 0; j < nv; j++) S[nv + i][j] = S[j][nv + i] = f->B[i][j];
  }
  for (int x = 0; x < nx; x++) S[nv + m + x][nv + m + x] = 1;
  for (int x = 0; x < nx; x++)
    for (int j = 0; j < nv; j++) {
      if (!f->B[x][j]) continue;
      S[nv + m + x][j] = 1;
      for (int i = 0; i < nv; i++) S[i][nv + m + x] |= f->W[i][j];     /* W B^T */
      for (int i = 0; i < m; i++) S[nv + i][nv + m + x] |= f->B[i][j]; /* B B^T */
    }
}

static void check_pattern(int nh, int num_nonholonomic, int sparse, int extra)
{
  frame f;
  int expected[MAX_N][MAX_N], count = 0;
  poli_saddle *saddle;
  frame_init(&f, nh, num_nonholonomic, sparse);
  assert_int_equal(poli_saddle_create(&saddle, &f.dae, extra, POL_SOLVER_AUTO), POL_OK);
  assert_int_equal(saddle->nv, f.nv);
  assert_int_equal(saddle->m, f.m);
  assert_int_equal(saddle->num_extra, extra ? nh : 0);
  assert_int_equal(saddle->n, f.nv + f.m + (extra ? nh : 0));
  assert_int_equal(saddle->pattern->rows, saddle->n);
  assert_int_equal(saddle->pattern->cols, saddle->n);
  expected_pattern(&f, extra, expected);
  for (int j = 0; j < saddle->n; j++)
    for (int i = 0; i < saddle->n; i++) {
      assert_int_equal(pol_pattern_address(saddle->pattern, i, j) >= 0, expected[i][j]);
      count += expected[i][j];
    }
  assert_int_equal(pol_pattern_nonzeros(saddle->pattern), count);

  /* ascending, and the diagonal of a constraint where it is said to be */
  const pol_pattern *S = saddle->pattern;
  for (int j = 0; j < saddle->n; j++)
    for (int k = S->start[j] + 1; k < S->start[j + 1]; k++) assert_true(S->row[k - 1] < S->row[k]);
  for (int i = 0; i < f.m; i++)
    assert_int_equal(poli_saddle_diagonal(saddle, i), pol_pattern_address(S, f.nv + i, f.nv + i));
  poli_saddle_free(&saddle);
  assert_null(saddle);
  poli_saddle_free(&saddle);
  frame_clear(&f);
}

static void test_pattern(void **state)
{
  (void)state;
  for (int extra = 0; extra < 2; extra++) {
    check_pattern(3, 0, 0, extra);
    check_pattern(3, 2, 0, extra);
    check_pattern(0, 2, 0, extra);
    check_pattern(0, 0, 0, extra);
    check_pattern(5, 0, 1, extra);
    check_pattern(3, 2, 1, extra);
    check_pattern(0, 5, 1, extra);
  }
}

/* --- assembly --------------------------------------------------------------------------------- */

/* Values in a pattern (NULL: full) that tell their place: 1 + row + 100 col, and more for B. */
static double *numbered(const pol_pattern *pattern, int rows, int cols, double base)
{
  double *values = calloc((size_t)(rows * cols) + 1, sizeof *values);
  assert_non_null(values);
  for (int j = 0; j < cols; j++)
    for (int i = 0; i < rows; i++) {
      int k = pattern ? pol_pattern_address(pattern, i, j) : i + j * rows;
      if (k >= 0) values[k] = base + i + 100.0 * j;
    }
  return values;
}

static double entry(const poli_saddle *saddle, int i, int j)
{
  int address = pol_pattern_address(saddle->pattern, i, j);
  return address < 0 ? 0.0 : saddle->values[address];
}

static void check_kkt(int nh, int num_nonholonomic, int sparse)
{
  frame f;
  poli_saddle *saddle;
  frame_init(&f, nh, num_nonholonomic, sparse);
  assert_int_equal(poli_saddle_create(&saddle, &f.dae, 0, POL_SOLVER_DENSE), POL_OK);
  double *mass = numbered(f.coupling, f.nv, f.nv, 1.0);
  double *jacobian = numbered(f.constraint, f.m, f.nv, 5000.0);
  for (int k = 0; k < pol_pattern_nonzeros(saddle->pattern); k++) saddle->values[k] = -7.0;
  poli_saddle_set_kkt(saddle, mass, jacobian);
  for (int i = 0; i < f.nv; i++)
    for (int j = 0; j < f.nv; j++)
      assert_true(entry(saddle, i, j) == (f.W[i][j] ? 1.0 + i + 100.0 * j : 0.0));
  for (int i = 0; i < f.m; i++) {
    for (int j = 0; j < f.nv; j++) {
      double b = f.B[i][j] ? 5000.0 + i + 100.0 * j : 0.0;
      assert_true(entry(saddle, f.nv + i, j) == b);
      assert_true(entry(saddle, j, f.nv + i) == b);
    }
    for (int j = 0; j < f.m; j++) assert_true(entry(saddle, f.nv + i, f.nv + j) == 0.0);
  }
  free(mass);
  free(jacobian);
  poli_saddle_free(&saddle);
  frame_clear(&f);
}

static void test_kkt(void **state)
{
  (void)state;
  check_kkt(3, 0, 0);
  check_kkt(3, 2, 0);
  check_kkt(0, 2, 0);
  check_kkt(0, 0, 0);
  check_kkt(5, 0, 1);
  check_kkt(3, 2, 1);
}

/* With the extra blocks: B^T goes to its columns and nowhere else; and a column starts with W, then
 * B, then the holonomic rows of B, in the order of the dae's patterns. */
static void test_extra_columns(void **state)
{
  (void)state;
  frame f;
  poli_saddle *saddle;
  frame_init(&f, 3, 2, 1);
  assert_int_equal(poli_saddle_create(&saddle, &f.dae, 1, POL_SOLVER_SPARSE), POL_OK);
  const pol_pattern *S = saddle->pattern, *W = f.coupling, *B = f.constraint;
  double *jacobian = numbered(B, f.m, f.nv, 5000.0);
  for (int k = 0; k < pol_pattern_nonzeros(S); k++) saddle->values[k] = -7.0;
  poli_saddle_set_transposed(saddle, jacobian);
  for (int j = 0; j < saddle->n; j++)
    for (int k = S->start[j]; k < S->start[j + 1]; k++) {
      int constraint = j >= f.nv && j < f.nv + f.m, row = S->row[k];
      double b = row < f.nv ? 5000.0 + (j - f.nv) + 100.0 * row : 0.0;
      assert_true(saddle->values[k] == (constraint ? b : -7.0));
    }
  for (int j = 0; j < f.nv; j++) {
    const int *row = S->row + S->start[j];
    for (int k = W->start[j]; k < W->start[j + 1]; k++) assert_int_equal(*row++, W->row[k]);
    for (int k = B->start[j]; k < B->start[j + 1]; k++) assert_int_equal(*row++, f.nv + B->row[k]);
    for (int k = B->start[j]; k < B->start[j + 1]; k++)
      if (B->row[k] < f.nh) assert_int_equal(*row++, f.nv + f.m + B->row[k]);
    assert_ptr_equal(row, S->row + S->start[j + 1]);
  }
  free(jacobian);
  poli_saddle_free(&saddle);
  frame_clear(&f);
}

/* Dropped rows, also those of the extra blocks, become unit rows; all others stay. */
static void check_drop(int nh, int num_nonholonomic, int sparse, int extra)
{
  frame f;
  poli_saddle *saddle;
  unsigned char dropped[MAX_M] = {0, 1, 0, 1, 1};
  frame_init(&f, nh, num_nonholonomic, sparse);
  assert_int_equal(poli_saddle_create(&saddle, &f.dae, extra, POL_SOLVER_SPARSE), POL_OK);
  for (int k = 0; k < pol_pattern_nonzeros(saddle->pattern); k++) saddle->values[k] = -7.0;
  poli_saddle_drop(saddle, dropped);
  for (int i = 0; i < saddle->n; i++) {
    const int constraint = poli_saddle_equation(saddle, i) - f.nv;
    for (int j = 0; j < saddle->n; j++) {
      if (pol_pattern_address(saddle->pattern, i, j) < 0) continue;
      const double unit = i == j ? 1.0 : 0.0;
      assert_true(entry(saddle, i, j) == (constraint >= 0 && dropped[constraint] ? unit : -7.0));
    }
  }
  poli_saddle_free(&saddle);
  frame_clear(&f);
}

static void test_drop(void **state)
{
  (void)state;
  for (int extra = 0; extra < 2; extra++) {
    check_drop(5, 0, 0, extra);
    check_drop(3, 2, 0, extra);
    check_drop(5, 0, 1, extra);
    check_drop(3, 2, 1, extra);
    check_drop(0, 5, 1, extra);
  }
}

/* B by rows, as the integrators read it. */
static void test_rows(void **state)
{
  (void)state;
  frame f;
  poli_saddle *saddle;
  frame_init(&f, 3, 2, 1);
  assert_int_equal(poli_saddle_create(&saddle, &f.dae, 0, POL_SOLVER_AUTO), POL_OK);
  for (int i = 0; i < f.m; i++) {
    int k = saddle->row_start[i];
    for (int j = 0; j < f.nv; j++) {
      if (!f.B[i][j]) continue;
      assert_int_equal(saddle->row_col[k], j);
      assert_int_equal(saddle->row_address[k], pol_pattern_address(f.constraint, i, j));
      k++;
    }
    assert_int_equal(k, saddle->row_start[i + 1]);
  }
  poli_saddle_free(&saddle);
  frame_clear(&f);
}

/* Rows and columns of the matrix bear the names of the dae's equations. */
static void test_equations(void **state)
{
  (void)state;
  frame f;
  poli_saddle *saddle;
  frame_init(&f, 3, 2, 0);
  assert_int_equal(poli_saddle_create(&saddle, &f.dae, 1, POL_SOLVER_AUTO), POL_OK);
  for (int i = 0; i < f.nv + f.m; i++) assert_int_equal(poli_saddle_equation(saddle, i), i);
  for (int i = 0; i < f.nh; i++)
    assert_int_equal(poli_saddle_equation(saddle, f.nv + f.m + i), f.nv + i);
  poli_saddle_free(&saddle);
  frame_clear(&f);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_pattern),       cmocka_unit_test(test_kkt),
      cmocka_unit_test(test_extra_columns), cmocka_unit_test(test_drop),
      cmocka_unit_test(test_rows),          cmocka_unit_test(test_equations),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
