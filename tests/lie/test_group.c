/* Products of R^n, SO(3) and SE(3): layout and its errors, the group axioms, exp and log, the
 * tangent operator as the derivative of exp, the Lie bracket.
 */
#include <polhode/lie.h>

#include <limits.h>
#include <string.h>

#include "wide.h"

/* Factors of every kind, some twice and neighbours of each other. */
enum { NUM_FACTORS = 6, NQ = 2 + 4 + 7 + 4 + 7 + 3, NV = 2 + 3 + 6 + 3 + 6 + 3 };

typedef struct fixture {
  pol_factor factors[NUM_FACTORS];
  pol_group group;
} fixture;

static int set_up(void **state)
{
  static fixture f;
  static const pol_factor kinds[NUM_FACTORS] = {{POL_REAL, 2, -1, -1}, {POL_SO3, 0, -1, -1},
                                                {POL_SE3, 0, -1, -1},  {POL_SO3, 99, -1, -1},
                                                {POL_SE3, 6, -1, -1},  {POL_REAL, 3, -1, -1}};

  memcpy(f.factors, kinds, sizeof kinds);
  *state = &f;
  return pol_group_layout(&f.group, f.factors, NUM_FACTORS);
}

/* An increment with the rotation angles below angle, and a configuration. */
static void sample_increment(const pol_group *group, uint64_t *seed, double angle, double w[NV])
{
  sample_vector(seed, NV, w);
  for (int i = 0; i < group->num_factors; i++)
    if (group->factors[i].kind != POL_REAL)
      sample_rotation(seed, angle * (0.6 + 0.4 * sample(seed)), w + group->factors[i].v);
}

static void sample_configuration(const pol_group *group, uint64_t *seed, double q[NQ])
{
  double w[NV], identity[NQ];

  sample_increment(group, seed, pi, w);
  pol_group_identity(group, identity);
  pol_group_move(group, identity, w, q);
}

static void assert_near(const double *a, const double *b, int n, double tolerance)
{
  for (int i = 0; i < n; i++)
    if (!(fabs(a[i] - b[i]) <= tolerance))
      fail_msg("entry %d: %.17g and %.17g differ by more than %.1e", i, a[i], b[i], tolerance);
}

/* --- layout --- */

static void test_layout(void **state)
{
  static const int q[NUM_FACTORS] = {0, 2, 6, 13, 17, 24}, v[NUM_FACTORS] = {0, 2, 5, 11, 14, 20};
  static const int dim[NUM_FACTORS] = {2, 3, 6, 3, 6, 3};
  const fixture *f = *state;

  assert_int_equal(f->group.num_factors, NUM_FACTORS);
  assert_ptr_equal(f->group.factors, f->factors);
  assert_int_equal(f->group.nq, NQ);
  assert_int_equal(f->group.nv, NV);
  for (int i = 0; i < NUM_FACTORS; i++) {
    assert_int_equal(f->factors[i].q, q[i]);
    assert_int_equal(f->factors[i].v, v[i]);
    assert_int_equal(f->factors[i].dim, dim[i]);
  }
}

static void test_empty_layout(void **state)
{
  pol_group group;

  (void)state;
  assert_int_equal(pol_group_layout(&group, NULL, 0), POL_OK);
  assert_int_equal(group.num_factors, 0);
  assert_int_equal(group.nq, 0);
  assert_int_equal(group.nv, 0);
}

static void test_layout_errors(void **state)
{
  pol_group group;
  pol_factor none = {POL_REAL, 0, 0, 0}, negative = {POL_REAL, -3, 0, 0};
  pol_factor too_many[2] = {{POL_REAL, INT_MAX - 6, 0, 0}, {POL_SE3, 6, 0, 0}};
  pol_factor unknown = {(pol_factor_kind)17, 3, 0, 0};

  (void)state;
  assert_int_equal(pol_group_layout(&group, NULL, -1), POL_BAD_ARGUMENT);
  assert_int_equal(pol_group_layout(&group, &none, 1), POL_BAD_ARGUMENT);
  assert_int_equal(pol_group_layout(&group, &negative, 1), POL_BAD_ARGUMENT);
  assert_int_equal(pol_group_layout(&group, &unknown, 1), POL_BAD_ARGUMENT);
  assert_int_equal(pol_group_layout(&group, too_many, 2), POL_BAD_ARGUMENT);
  assert_int_equal(pol_group_layout(&group, too_many, 1), POL_OK);
}

/* --- group --- */

static void test_identity(void **state)
{
  const pol_group *group = &((const fixture *)*state)->group;
  double e[NQ], q[NQ], eq[NQ], qe[NQ];
  uint64_t seed = 31;

  pol_group_identity(group, e);
  sample_configuration(group, &seed, q);
  pol_group_compose(group, e, q, eq);
  pol_group_compose(group, q, e, qe);
  assert_near(eq, q, NQ, 0.0);
  assert_near(qe, q, NQ, 0.0);
}

static void test_associativity(void **state)
{
  const pol_group *group = &((const fixture *)*state)->group;
  uint64_t seed = 32;

  for (int n = 0; n < 200; n++) {
    double a[NQ], b[NQ], c[NQ], ab[NQ], bc[NQ], left[NQ], right[NQ];

    sample_configuration(group, &seed, a);
    sample_configuration(group, &seed, b);
    sample_configuration(group, &seed, c);
    pol_group_compose(group, a, b, ab);
    pol_group_compose(group, ab, c, left);
    pol_group_compose(group, b, c, bc);
    pol_group_compose(group, a, bc, right);
    assert_near(left, right, NQ, 4e-15);
  }
}

/* move(q, w) = q o exp(w), also in place, with unit quaternions whatever the length of those of q
 */
static void test_move(void **state)
{
  const pol_group *group = &((const fixture *)*state)->group;
  uint64_t seed = 33;

  for (int n = 0; n < 200; n++) {
    double q[NQ], w[NV], e[NQ], exp_w[NQ], expected[NQ], out[NQ];

    sample_configuration(group, &seed, q);
    sample_increment(group, &seed, 0.1 * n, w);
    pol_group_identity(group, e);
    pol_group_move(group, e, w, exp_w);
    pol_group_compose(group, q, exp_w, expected);
    pol_group_move(group, q, w, out);
    assert_near(out, expected, NQ, 3e-15);
    pol_group_move(group, q, w, q);
    assert_near(q, out, NQ, 0.0);
  }
}

static void test_renormalisation(void **state)
{
  const pol_group *group = &((const fixture *)*state)->group;
  double q[NQ], w[NV] = {0};
  uint64_t seed = 34;

  /* a drift that many products could build up is gone after one move */
  sample_configuration(group, &seed, q);
  for (int i = 2; i < 6; i++) q[i] *= 1.001;
  for (int i = 6; i < 10; i++) q[i] *= 0.999;
  pol_group_move(group, q, w, q);
  for (int i = 2; i <= 6; i += 4) {
    const double square =
        q[i] * q[i] + q[i + 1] * q[i + 1] + q[i + 2] * q[i + 2] + q[i + 3] * q[i + 3];

    assert_true(fabs(square - 1.0) < 5e-16);
  }
}

/* difference(a, move(a, w)) = w, up to pi */
static void test_difference(void **state)
{
  static const double angles[] = {0.0, 1e-12, 1e-8, 1e-3, 0.1, 1.0, 2.0, 3.0, 3.1415};
  const pol_group *group = &((const fixture *)*state)->group;
  uint64_t seed = 35;

  for (int n = 0; n < 90; n++) {
    double a[NQ], b[NQ], w[NV], back[NV];

    sample_configuration(group, &seed, a);
    sample_increment(group, &seed, angles[n % 9], w);
    pol_group_move(group, a, w, b);
    pol_group_difference(group, a, b, back);
    assert_near(back, w, NV, 8e-15);

    /* the other quaternion of the same rotation changes nothing */
    for (int i = 2; i < 10; i++) b[i] = -b[i];
    pol_group_difference(group, a, b, back);
    assert_near(back, w, NV, 8e-15);
  }
}

/* --- tangent operator --- */

/* T(w) c is the velocity of s -> exp(w + s c): differences of fourth order. */
static void test_tangent_is_derivative_of_exp(void **state)
{
  static const double shift[4] = {-2.0, -1.0, 1.0, 2.0};
  const double h = 1e-3;
  const pol_group *group = &((const fixture *)*state)->group;
  uint64_t seed = 36;

  for (int n = 0; n < 60; n++) {
    double e[NQ], q[NQ], w[NV], c[NV], y[NV], d[4][NV], slope[NV];

    sample_increment(group, &seed, 0.1 * n, w);
    sample_vector(&seed, NV, c);
    pol_group_identity(group, e);
    pol_group_move(group, e, w, q);
    for (int k = 0; k < 4; k++) {
      double moved[NV], p[NQ];

      for (int i = 0; i < NV; i++) moved[i] = w[i] + shift[k] * h * c[i];
      pol_group_move(group, e, moved, p);
      pol_group_difference(group, q, p, d[k]);
    }
    for (int i = 0; i < NV; i++)
      slope[i] = (d[0][i] - 8.0 * d[1][i] + 8.0 * d[2][i] - d[3][i]) / (12.0 * h);
    pol_group_tangent(group, w, c, y);
    assert_near(y, slope, NV, 5e-12);
  }
}

/* T(w) w = w, T^-1 T c = c, both in place too */
static void test_tangent_inverse(void **state)
{
  const pol_group *group = &((const fixture *)*state)->group;
  uint64_t seed = 37;

  for (int n = 0; n < 200; n++) {
    double w[NV], c[NV], y[NV], back[NV];

    sample_increment(group, &seed, 0.03 * n, w);
    sample_vector(&seed, NV, c);
    pol_group_tangent(group, w, w, y);
    assert_near(y, w, NV, 1e-14);
    pol_group_tangent(group, w, c, y);
    pol_group_tangent_inverse(group, w, y, back);
    assert_near(back, c, NV, 2e-13);
    pol_group_tangent_inverse(group, w, y, y);
    assert_near(y, back, NV, 0.0);
    pol_group_tangent(group, w, c, y);
    pol_group_tangent(group, w, c, c);
    assert_near(c, y, NV, 0.0);
  }
}

/* The matrices of the factors are those of the whole. */
static void test_factor_matrices(void **state)
{
  const pol_group *group = &((const fixture *)*state)->group;
  uint64_t seed = 38;
  double w[NV], c[NV], y[NV], yi[NV];

  sample_increment(group, &seed, 3.0, w);
  sample_vector(&seed, NV, c);
  pol_group_tangent(group, w, c, y);
  pol_group_tangent_inverse(group, w, c, yi);
  for (int k = 0; k < group->num_factors; k++) {
    const pol_factor *f = &group->factors[k];
    double T[36], Ti[36], D[36], expected[36];

    if (f->kind == POL_REAL) {
      assert_near(y + f->v, c + f->v, f->dim, 0.0);
      assert_near(yi + f->v, c + f->v, f->dim, 0.0);
      continue;
    }
    pol_factor_tangent(f, w + f->v, T);
    pol_factor_tangent_inverse(f, w + f->v, Ti);
    pol_factor_tangent_derivative(f, w + f->v, c + f->v, D);
    for (int i = 0; i < f->dim; i++) {
      double sum = 0.0, sum_inverse = 0.0;

      for (int j = 0; j < f->dim; j++) {
        sum += T[f->dim * i + j] * c[f->v + j];
        sum_inverse += Ti[f->dim * i + j] * c[f->v + j];
      }
      assert_near(&y[f->v + i], &sum, 1, 2e-15);
      assert_near(&yi[f->v + i], &sum_inverse, 1, 8e-15);
    }
    if (f->kind == POL_SO3) pol_so3_tangent_derivative(w + f->v, c + f->v, expected);
    if (f->kind == POL_SE3) pol_se3_tangent_derivative(w + f->v, c + f->v, expected);
    assert_near(D, expected, f->dim * f->dim, 0.0);
  }
}

/* --- bracket --- */

static void test_bracket(void **state)
{
  const pol_group *group = &((const fixture *)*state)->group;
  uint64_t seed = 39;

  for (int n = 0; n < 50; n++) {
    double a[NV], b[NV], c[NV], ab[NV], ba[NV], bc[NV], ca[NV], jacobi[3][NV];

    sample_vector(&seed, NV, a);
    sample_vector(&seed, NV, b);
    sample_vector(&seed, NV, c);
    pol_group_bracket(group, a, b, ab);
    pol_group_bracket(group, b, a, ba);
    pol_group_bracket(group, b, c, bc);
    pol_group_bracket(group, c, a, ca);
    pol_group_bracket(group, a, bc, jacobi[0]);
    pol_group_bracket(group, b, ca, jacobi[1]);
    pol_group_bracket(group, c, ab, jacobi[2]);
    for (int i = 0; i < NV; i++) {
      assert_true(fabs(ab[i] + ba[i]) < 5e-16);
      assert_true(fabs(jacobi[0][i] + jacobi[1][i] + jacobi[2][i]) < 4e-15);
    }
    assert_true(ab[0] == 0.0 && ab[1] == 0.0 && ab[NV - 1] == 0.0 && ab[2] != 0.0);
  }
}

/* exp(s a) o exp(s b) = exp(s (a + b) + s^2 [a, b]/2 + O(s^3)) */
static void test_bracket_is_commutator(void **state)
{
  const pol_group *group = &((const fixture *)*state)->group;
  const double s = 1e-4;
  uint64_t seed = 40;
  double a[NV], b[NV], ab[NV], sa[NV], sb[NV], e[NQ], q[NQ], w[NV], half[NV], expected[NV];

  sample_vector(&seed, NV, a);
  sample_vector(&seed, NV, b);
  pol_group_bracket(group, a, b, ab);
  for (int i = 0; i < NV; i++) {
    sa[i] = s * a[i];
    sb[i] = s * b[i];
    expected[i] = 0.5 * ab[i];
  }
  pol_group_identity(group, e);
  pol_group_move(group, e, sa, q);
  pol_group_move(group, q, sb, q);
  pol_group_difference(group, e, q, w);
  for (int i = 0; i < NV; i++) half[i] = (w[i] - sa[i] - sb[i]) / (s * s);
  assert_near(half, expected, NV, 2e-4);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_layout),
      cmocka_unit_test(test_empty_layout),
      cmocka_unit_test(test_layout_errors),
      cmocka_unit_test(test_identity),
      cmocka_unit_test(test_associativity),
      cmocka_unit_test(test_move),
      cmocka_unit_test(test_renormalisation),
      cmocka_unit_test(test_difference),
      cmocka_unit_test(test_tangent_is_derivative_of_exp),
      cmocka_unit_test(test_tangent_inverse),
      cmocka_unit_test(test_factor_matrices),
      cmocka_unit_test(test_bracket),
      cmocka_unit_test(test_bracket_is_commutator),
  };

  return cmocka_run_group_tests(tests, set_up, NULL);
}
