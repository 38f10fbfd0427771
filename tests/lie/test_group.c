/* Products of R^n, SE(3) and SO(3) in all its forms: layout and its errors, the group axioms, moves
 * and differences, the tangent operator as the derivative of a move, its own derivative, the Lie
 * bracket.
 */
#include <polhode/lie.h>

#include <limits.h>
#include <string.h>

#include "wide.h"

/* Factors of every kind, some twice and neighbours of each other. */
enum {
  NUM_FACTORS = 10,
  NQ = 2 + 4 + 7 + 4 + 4 + 4 + 4 + 4 + 7 + 3,
  NV = 2 + 3 + 6 + 3 + 3 + 3 + 3 + 3 + 6 + 3
};

typedef struct fixture {
  pol_factor factors[NUM_FACTORS];
  pol_group group;
} fixture;

static int set_up(void **state)
{
  static fixture f;
  static const pol_factor kinds[NUM_FACTORS] = {
      {POL_REAL, 2, -1, -1},        {POL_SO3, 0, -1, -1},        {POL_SE3, 0, -1, -1},
      {POL_SO3, 99, -1, -1},        {POL_SO3_SPATIAL, 0, -1, 0}, {POL_SO3_CAYLEY, 0, -1, -1},
      {POL_SO3_SPATIAL, 4, -1, -1}, {POL_SO3_VECTOR, 0, -1, -1}, {POL_SE3, 6, -1, -1},
      {POL_REAL, 3, -1, -1}};

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

/* --- layout ----------------------------------------------------------------------------------- */

static void test_layout(void **state)
{
  static const int q[NUM_FACTORS] = {0, 2, 6, 13, 17, 21, 25, 29, 33, 40};
  static const int v[NUM_FACTORS] = {0, 2, 5, 11, 14, 17, 20, 23, 26, 32};
  static const int dim[NUM_FACTORS] = {2, 3, 6, 3, 3, 3, 3, 3, 6, 3};
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

static void test_rotations(void **state)
{
  (void)state;
  assert_int_equal(pol_factor_is_rotation(POL_SO3), 1);
  assert_int_equal(pol_factor_is_rotation(POL_SO3_SPATIAL), 1);
  assert_int_equal(pol_factor_is_rotation(POL_SO3_CAYLEY), 1);
  assert_int_equal(pol_factor_is_rotation(POL_SO3_VECTOR), 1);
  assert_int_equal(pol_factor_is_rotation(POL_REAL), 0);
  assert_int_equal(pol_factor_is_rotation(POL_SE3), 0);
}

/* --- group ------------------------------------------------------------------------------------ */

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

/* Moves against products with the maps of each form. */
static void expected_move(const pol_group *group, const double *q, const double *w, double *out)
{
  double map[NQ], right[NQ], left[NQ];

  for (int k = 0; k < group->num_factors; k++) {
    const pol_factor *f = &group->factors[k];

    if (f->kind == POL_REAL)
      memcpy(map + f->q, w + f->v, (size_t)f->dim * sizeof *w);
    else if (f->kind == POL_SE3)
      pol_se3_exp(w + f->v, map + f->q);
    else if (f->kind == POL_SO3_CAYLEY)
      pol_so3_cayley(w + f->v, map + f->q);
    else
      pol_so3_exp(w + f->v, map + f->q);
  }
  pol_group_compose(group, q, map, right);
  pol_group_compose(group, map, q, left);
  memcpy(out, right, sizeof right);
  for (int k = 0; k < group->num_factors; k++)
    if (group->factors[k].kind == POL_SO3_SPATIAL)
      memcpy(out + group->factors[k].q, left + group->factors[k].q, 4 * sizeof *out);
}

/* also in place, with unit quaternions whatever the length of those of q */
static void test_move(void **state)
{
  const pol_group *group = &((const fixture *)*state)->group;
  uint64_t seed = 33;

  for (int n = 0; n < 200; n++) {
    double q[NQ], w[NV], expected[NQ], out[NQ];

    sample_configuration(group, &seed, q);
    sample_increment(group, &seed, 0.1 * n, w);
    expected_move(group, q, w, expected);
    pol_group_move(group, q, w, out);
    assert_near(out, expected, NQ, 3e-15);
    pol_group_move(group, q, w, q);
    assert_near(q, out, NQ, 0.0);
  }
}

/* R x for a quaternion */
static void rotate(const double q[4], const double x[3], double y[3])
{
  double R[9];

  pol_quat_to_matrix(q, R);
  for (int i = 0; i < 3; i++) y[i] = R[3 * i] * x[0] + R[3 * i + 1] * x[1] + R[3 * i + 2] * x[2];
}

/* The increment R w in the inertial frame is w in the body frame: exp(R w) R = R exp(w).  The
 * velocities, too, differ by R: that at the end of the move. */
static void test_frames(void **state)
{
  pol_factor body = {.kind = POL_SO3}, spatial = {.kind = POL_SO3_SPATIAL};
  pol_group body_group, spatial_group;
  uint64_t seed = 41;

  (void)state;
  pol_group_layout(&body_group, &body, 1);
  pol_group_layout(&spatial_group, &spatial, 1);
  for (int n = 0; n < 50; n++) {
    double start[3], w[3], rate[3], w_spatial[3], rate_spatial[3];
    double identity[4], q[4], end[4], end_spatial[4], v[3], v_global[3], v_spatial[3];

    sample_rotation(&seed, 2.0, start);
    sample_rotation(&seed, 0.1 * n, w);
    sample_vector(&seed, 3, rate);
    pol_group_identity(&body_group, identity);
    pol_group_move(&body_group, identity, start, q);
    rotate(q, w, w_spatial);
    rotate(q, rate, rate_spatial);
    pol_group_move(&body_group, q, w, end);
    pol_group_move(&spatial_group, q, w_spatial, end_spatial);
    assert_near(end_spatial, end, 4, 2e-15);

    pol_group_tangent(&body_group, w, rate, v);
    pol_group_tangent(&spatial_group, w_spatial, rate_spatial, v_spatial);
    rotate(end, v, v_global);
    assert_near(v_spatial, v_global, 3, 4e-15);
  }
}

static void test_renormalisation(void **state)
{
  const pol_group *group = &((const fixture *)*state)->group;
  double q[NQ], w[NV] = {0};
  uint64_t seed = 34;

  /* a drift that many products could build up is gone after one move */
  sample_configuration(group, &seed, q);
  for (int k = 1; k < NUM_FACTORS - 1; k++)
    for (int i = 0; i < 4; i++) q[group->factors[k].q + i] *= k % 2 ? 1.001 : 0.999;
  pol_group_move(group, q, w, q);
  for (int k = 1; k < NUM_FACTORS - 1; k++) {
    const double *p = q + group->factors[k].q;

    assert_true(fabs(p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3] - 1.0) < 5e-16);
  }
}

/* difference(a, move(a, w)) = w, up to pi, and move(a, difference(a, b)) = b */
static void test_difference(void **state)
{
  static const double angles[] = {0.0, 1e-12, 1e-8, 1e-3, 0.1, 1.0, 2.0, 3.0, 3.1415};
  const pol_group *group = &((const fixture *)*state)->group;
  uint64_t seed = 35;

  for (int n = 0; n < 90; n++) {
    double a[NQ], b[NQ], w[NV], back[NV], c[NQ];

    sample_configuration(group, &seed, a);
    sample_increment(group, &seed, angles[n % 9], w);
    pol_group_move(group, a, w, b);
    pol_group_difference(group, a, b, back);
    assert_near(back, w, NV, 8e-15);

    /* the other quaternion of the same rotation changes nothing */
    for (int k = 1; k < NUM_FACTORS - 1; k++)
      for (int i = 0; i < 4; i++) b[group->factors[k].q + i] *= -1.0;
    pol_group_difference(group, a, b, back);
    assert_near(back, w, NV, 8e-15);

    /* any b comes back, up to the sign of its quaternions */
    sample_configuration(group, &seed, b);
    pol_group_difference(group, a, b, back);
    pol_group_move(group, a, back, c);
    for (int k = 1; k < NUM_FACTORS - 1; k++) {
      double *p = b + group->factors[k].q, *r = c + group->factors[k].q;
      const double cosine = p[0] * r[0] + p[1] * r[1] + p[2] * r[2] + p[3] * r[3];

      for (int i = 0; i < 4; i++) r[i] *= cosine < 0.0 ? -1.0 : 1.0;
    }
    assert_near(c, b, NQ, 8e-15);
  }
}

/* --- tangent operator ------------------------------------------------------------------------- */

/* T(w) c is the velocity of s -> q o (w + s c): differences of fourth order. */
static void test_tangent_is_derivative_of_move(void **state)
{
  static const double shift[4] = {-2.0, -1.0, 1.0, 2.0};
  const double h = 1e-3;
  const pol_group *group = &((const fixture *)*state)->group;
  uint64_t seed = 36;

  for (int n = 0; n < 60; n++) {
    double start[NQ], q[NQ], w[NV], c[NV], y[NV], d[4][NV], slope[NV];

    sample_configuration(group, &seed, start);
    sample_increment(group, &seed, 0.1 * n, w);
    sample_vector(&seed, NV, c);
    pol_group_move(group, start, w, q);
    for (int k = 0; k < 4; k++) {
      double moved[NV], p[NQ];

      for (int i = 0; i < NV; i++) moved[i] = w[i] + shift[k] * h * c[i];
      pol_group_move(group, start, moved, p);
      pol_group_difference(group, q, p, d[k]);
    }
    for (int i = 0; i < NV; i++)
      slope[i] = (d[0][i] - 8.0 * d[1][i] + 8.0 * d[2][i] - d[3][i]) / (12.0 * h);
    pol_group_tangent(group, w, c, y);
    assert_near(y, slope, NV, 5e-12);
  }
}

/* T(w) w = w, with the Cayley map w/(1 + w . w/4); T^-1 T c = c, both in place too */
static void test_tangent_inverse(void **state)
{
  const pol_group *group = &((const fixture *)*state)->group;
  uint64_t seed = 37;

  for (int n = 0; n < 200; n++) {
    double w[NV], c[NV], y[NV], back[NV];

    sample_increment(group, &seed, 0.03 * n, w);
    sample_vector(&seed, NV, c);
    pol_group_tangent(group, w, w, y);
    for (int k = 0; k < NUM_FACTORS; k++) {
      const double *x = w + group->factors[k].v;

      if (group->factors[k].kind != POL_SO3_CAYLEY) continue;
      for (int i = 0; i < 3; i++)
        y[group->factors[k].v + i] *= 1.0 + 0.25 * (x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
    }
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
    double T[36], Ti[36];

    if (f->kind == POL_REAL) {
      assert_near(y + f->v, c + f->v, f->dim, 0.0);
      assert_near(yi + f->v, c + f->v, f->dim, 0.0);
      continue;
    }
    pol_factor_tangent(f, w + f->v, T);
    pol_factor_tangent_inverse(f, w + f->v, Ti);
    for (int i = 0; i < f->dim; i++) {
      double sum = 0.0, sum_inverse = 0.0;

      for (int j = 0; j < f->dim; j++) {
        sum += T[f->dim * i + j] * c[f->v + j];
        sum_inverse += Ti[f->dim * i + j] * c[f->v + j];
      }
      assert_near(&y[f->v + i], &sum, 1, 2e-15);
      assert_near(&yi[f->v + i], &sum_inverse, 1, 8e-15);
    }
  }
}

/* d(T(w) c)/dw against differences of fourth order of T(w) c. */
static void test_factor_derivative(void **state)
{
  static const double shift[4] = {-2.0, -1.0, 1.0, 2.0};
  const double h = 1e-3;
  const pol_group *group = &((const fixture *)*state)->group;
  uint64_t seed = 42;

  for (int n = 0; n < 60; n++) {
    double w[NV], c[NV], D[36], y[4][NV];

    sample_increment(group, &seed, 0.1 * n, w);
    sample_vector(&seed, NV, c);
    for (int k = 0; k < group->num_factors; k++) {
      const pol_factor *f = &group->factors[k];

      if (f->kind == POL_REAL) continue;
      pol_factor_tangent_derivative(f, w + f->v, c + f->v, D);
      for (int j = 0; j < f->dim; j++) {
        for (int l = 0; l < 4; l++) {
          double moved[NV];

          memcpy(moved, w, sizeof w);
          moved[f->v + j] += shift[l] * h;
          pol_group_tangent(group, moved, c, y[l]);
        }
        for (int i = 0; i < f->dim; i++) {
          const int at = f->v + i;
          const double slope = (y[0][at] - 8.0 * y[1][at] + 8.0 * y[2][at] - y[3][at]) / (12.0 * h);

          assert_true(fabs(D[f->dim * i + j] - slope) < 3e-12);
        }
      }
    }
  }
}

/* --- bracket ---------------------------------------------------------------------------------- */

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

/* e o s a o s b = e o (s (a + b) + s^2 [a, b]/2 + O(s^3)) */
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

/* w with q(h) = q(0) o w for the velocity v[0] + t v[1] + t^2/2 v[2]: num_steps moves with the
 * velocity halfway, which is of second order with an error in even powers of 1/num_steps. */
static void follow(const pol_group *group, double v[3][NV], double h, int num_steps, double w[NV])
{
  const double step = h / num_steps;
  double start[NQ], q[NQ], by[NV];
  uint64_t seed = 43;

  sample_configuration(group, &seed, start);
  memcpy(q, start, sizeof q);
  for (int n = 0; n < num_steps; n++) {
    const double t = (n + 0.5) * step;

    for (int i = 0; i < NV; i++) by[i] = step * (v[0][i] + t * (v[1][i] + 0.5 * t * v[2][i]));
    pol_group_move(group, q, by, q);
  }
  pol_group_difference(group, start, q, w);
}

/* The part of w(h) in h^3 beside that of v'', up to O(h^2): even in h, extrapolated in the steps.
 */
static void cubic_part(const pol_group *group, double v[3][NV], double h, double part[NV])
{
  memset(part, 0, NV * sizeof *part);
  for (int sign = -1; sign <= 1; sign += 2) {
    const double s = sign * h;
    double coarse[NV], fine[NV];

    follow(group, v, s, 32, coarse);
    follow(group, v, s, 64, fine);
    for (int i = 0; i < NV; i++) {
      const double w = (4.0 * fine[i] - coarse[i]) / 3.0;
      const double smooth = s * (v[0][i] + s * (v[1][i] / 2.0 + s * v[2][i] / 6.0));

      part[i] += 0.5 * (w - smooth) / (s * s * s);
    }
  }
}

/* w(h) = h v + h^2 v'/2 + h^3 (v''/6 + [v, v']/12) + O(h^4) in all forms, with the Cayley map
 * (v . v) v/12 more, by moves alone. */
static void test_bracket_in_expansion(void **state)
{
  const pol_group *group = &((const fixture *)*state)->group;
  uint64_t seed = 44;

  for (int n = 0; n < 10; n++) {
    double v[3][NV], expected[NV], coarse[NV], fine[NV];

    for (int k = 0; k < 3; k++) sample_vector(&seed, NV, v[k]);
    cubic_part(group, v, 0.04, coarse);
    cubic_part(group, v, 0.02, fine);
    for (int i = 0; i < NV; i++) fine[i] += (fine[i] - coarse[i]) / 3.0;

    pol_group_bracket(group, v[0], v[1], expected);
    for (int i = 0; i < NV; i++) expected[i] /= 12.0;
    for (int k = 0; k < NUM_FACTORS; k++) {
      const int at = group->factors[k].v;
      const double *x = v[0] + at;

      if (group->factors[k].kind != POL_SO3_CAYLEY) continue;
      for (int i = 0; i < 3; i++)
        expected[at + i] += (x[0] * x[0] + x[1] * x[1] + x[2] * x[2]) * x[i] / 12.0;
    }
    assert_near(fine, expected, NV, 1e-6);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_layout),
      cmocka_unit_test(test_empty_layout),
      cmocka_unit_test(test_layout_errors),
      cmocka_unit_test(test_rotations),
      cmocka_unit_test(test_identity),
      cmocka_unit_test(test_associativity),
      cmocka_unit_test(test_move),
      cmocka_unit_test(test_frames),
      cmocka_unit_test(test_renormalisation),
      cmocka_unit_test(test_difference),
      cmocka_unit_test(test_tangent_is_derivative_of_move),
      cmocka_unit_test(test_tangent_inverse),
      cmocka_unit_test(test_factor_matrices),
      cmocka_unit_test(test_factor_derivative),
      cmocka_unit_test(test_bracket),
      cmocka_unit_test(test_bracket_is_commutator),
      cmocka_unit_test(test_bracket_in_expansion),
  };

  return cmocka_run_group_tests(tests, set_up, NULL);
}
