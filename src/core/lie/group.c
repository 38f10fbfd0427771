/* Products of R^n, SO(3) and SE(3): every operation goes through the factors in order, with the
 * functions of its kind in the table `kinds`.
 *
 * A configuration holds n numbers for R^n, a unit quaternion for SO(3), a unit quaternion and a
 * position for SE(3).  (R, x) o (Q, y) = (R Q, x + R y); brackets as in Arnold/Cardona/Bruels 2015,
 * (34): (Omega, U)^ = [Omega~, 0; U~, Omega~].
 *
 * POL_SO3_SPATIAL: the inverse of exp(w) R with R' = v~ R is R^-1 exp(-w), a move in the body frame
 * with the velocity -v.  So T(-w) takes the place of T(w), its derivative with respect to w has the
 * opposite sign, and so has the bracket: such a kind is `spatial` in the table.
 */
#include <polhode/lie.h>

#include <limits.h>
#include <string.h>

#include "lie/coefficients.h"
#include "lie/small.h"

/* --- the kinds of factors --------------------------------------------------------------------- */

/* What a kind of factor is made of; velocities and increments have dim numbers.  R^n has none of
 * the functions: its operations are sums. */
typedef struct factor_operations {
  int dim, size; /* numbers in a velocity and in a configuration; 0: as many as the factor has */
  int spatial;   /* increments and velocities are in the inertial frame: exp(w) q */
  void (*exp)(const double *w, double *q);
  void (*log)(const double *q, double *w);
  void (*compose)(const double *a, const double *b, double *ab); /* ab may be a, SO(3): or b */
  void (*relative)(const double *a, const double *b, double *q); /* a^-1 b, spatial: b a^-1 */
  void (*bracket)(const double *v, const double *w, double *y);  /* of the body frame */
  void (*apply_tangent)(const double *w, const double *c, double *y);
  void (*apply_tangent_inverse)(const double *w, const double *c, double *y);
  void (*tangent)(const double *w, double *T);
  void (*tangent_inverse)(const double *w, double *Ti);
  void (*tangent_derivative)(const double *w, const double *c, double *D);
} factor_operations;

/* y = R x for the unit quaternion q of R */
static void rotate(const double q[4], const double x[3], double y[3])
{
  double twice[3];

  poli_v3_cross(q + 1, x, twice);
  poli_v3_scale(2.0, twice, twice);
  for (int i = 0; i < 3; i++) y[i] = x[i] + q[0] * twice[i];
  poli_v3_add_scaled_cross(1.0, q + 1, twice, y);
}

static void so3_relative(const double a[4], const double b[4], double q[4])
{
  double back[4];
  pol_quat_conjugate(a, back);
  pol_quat_multiply(back, b, q);
}

static void so3_relative_spatial(const double a[4], const double b[4], double q[4])
{
  double back[4];
  pol_quat_conjugate(a, back);
  pol_quat_multiply(b, back, q);
}

static void se3_compose(const double a[7], const double b[7], double ab[7])
{
  double x[3];

  rotate(a, b + 4, x);
  poli_v3_add(a + 4, x, ab + 4);
  pol_quat_multiply(a, b, ab);
}

static void se3_relative(const double a[7], const double b[7], double q[7])
{
  double back[4], apart[3];
  pol_quat_conjugate(a, back);
  pol_quat_multiply(back, b, q);
  poli_v3_subtract(b + 4, a + 4, apart);
  rotate(back, apart, q + 4);
}

static void se3_bracket(const double v[6], const double w[6], double y[6])
{
  poli_v3_cross(v, w, y);
  poli_v3_cross(v, w + 3, y + 3);
  poli_v3_add_scaled_cross(1.0, v + 3, w, y + 3);
}

/* In the order of the struct. */
static const factor_operations kinds[] = {
    [POL_REAL] = {.dim = 0},
    [POL_SO3] = {3, 4, 0, pol_so3_exp, pol_so3_log, pol_quat_multiply, so3_relative, poli_v3_cross,
                 poli_so3_apply_tangent, poli_so3_apply_tangent_inverse, pol_so3_tangent,
                 pol_so3_tangent_inverse, pol_so3_tangent_derivative},
    [POL_SO3_VECTOR] = {3, 4, 0, pol_so3_exp, pol_so3_log, pol_quat_multiply, so3_relative,
                        poli_v3_cross, poli_so3_apply_tangent, poli_so3_apply_tangent_inverse,
                        pol_so3_tangent, pol_so3_tangent_inverse, pol_so3_tangent_derivative},
    [POL_SO3_SPATIAL] = {3, 4, 1, pol_so3_exp, pol_so3_log, pol_quat_multiply, so3_relative_spatial,
                         poli_v3_cross, poli_so3_apply_tangent, poli_so3_apply_tangent_inverse,
                         pol_so3_tangent, pol_so3_tangent_inverse, pol_so3_tangent_derivative},
    [POL_SO3_CAYLEY] = {3, 4, 0, pol_so3_cayley, pol_so3_cayley_inverse, pol_quat_multiply,
                        so3_relative, poli_v3_cross, poli_so3_cayley_apply_tangent,
                        poli_so3_cayley_apply_tangent_inverse, pol_so3_cayley_tangent,
                        pol_so3_cayley_tangent_inverse, pol_so3_cayley_tangent_derivative},
    [POL_SE3] = {6, 7, 0, pol_se3_exp, pol_se3_log, se3_compose, se3_relative, se3_bracket,
                 poli_se3_apply_tangent, poli_se3_apply_tangent_inverse, pol_se3_tangent,
                 pol_se3_tangent_inverse, pol_se3_tangent_derivative},
};

enum { NUM_KINDS = sizeof kinds / sizeof kinds[0] };

int pol_factor_is_rotation(pol_factor_kind kind)
{
  return (unsigned)kind < NUM_KINDS && kinds[kind].dim == 3;
}

/* The w with which the body frame's T(w) is that of this kind; it may have to be turned round. */
static const double *tangent_argument(const factor_operations *kind, const double *w,
                                      double turned[3])
{
  if (!kind->spatial) return w;
  poli_v3_scale(-1.0, w, turned);
  return turned;
}

/* --- operations on a product ------------------------------------------------------------------ */

pol_status pol_group_layout(pol_group *group, pol_factor *factors, int num_factors)
{
  int nq = 0, nv = 0;

  if (num_factors < 0) return POL_BAD_ARGUMENT;
  for (int i = 0; i < num_factors; i++) {
    pol_factor *factor = &factors[i];
    if ((unsigned)factor->kind >= NUM_KINDS) return POL_BAD_ARGUMENT;
    const factor_operations *kind = &kinds[factor->kind];
    if (factor->kind != POL_REAL) factor->dim = kind->dim;
    if (factor->dim < 1) return POL_BAD_ARGUMENT;
    const int size = factor->kind == POL_REAL ? factor->dim : kind->size;
    if (size > INT_MAX - nq) return POL_BAD_ARGUMENT;
    factor->q = nq;
    factor->v = nv;
    nq += size;
    nv += factor->dim;
  }
  group->num_factors = num_factors;
  group->factors = factors;
  group->nq = nq;
  group->nv = nv;
  return POL_OK;
}

void pol_group_identity(const pol_group *group, double *q)
{
  for (int i = 0; i < group->nq; i++) q[i] = 0.0;
  for (int i = 0; i < group->num_factors; i++)
    if (group->factors[i].kind != POL_REAL) q[group->factors[i].q] = 1.0;
}

/* to = from exp(w), spatial: exp(w) from */
static inline void move_rotation(int spatial, const double from[4], const double w[3], double to[4])
{
  poli_half_angle half;
  poli_half_angle_set(poli_v3_dot(w, w), &half);
  const double factor = 0.5 * half.sinc;
  const double step[4] = {half.cosine, factor * w[0], factor * w[1], factor * w[2]};
  poli_quat_multiply(spatial ? step : from, spatial ? from : step, to);
  poli_quat_normalize(to);
}

void pol_group_move(const pol_group *group, const double *q, const double *w, double *out)
{
  for (int i = 0; i < group->num_factors; i++) {
    const pol_factor *factor = &group->factors[i];
    const factor_operations *kind = &kinds[factor->kind];
    const double *from = q + factor->q, *by = w + factor->v;
    double *to = out + factor->q, step[7];

    if (factor->kind == POL_REAL) {
      for (int j = 0; j < factor->dim; j++) to[j] = from[j] + by[j];
      continue;
    }
    if (kind->exp == pol_so3_exp) { /* the usual kinds: no calls through pointers */
      move_rotation(kind->spatial, from, by, to);
      continue;
    }
    kind->exp(by, step);
    kind->compose(kind->spatial ? step : from, kind->spatial ? from : step, to);
    pol_quat_normalize(to);
  }
}

void pol_group_compose(const pol_group *group, const double *a, const double *b, double *ab)
{
  for (int i = 0; i < group->num_factors; i++) {
    const pol_factor *factor = &group->factors[i];
    const int q = factor->q;

    if (factor->kind == POL_REAL)
      for (int j = 0; j < factor->dim; j++) ab[q + j] = a[q + j] + b[q + j];
    else
      kinds[factor->kind].compose(a + q, b + q, ab + q);
  }
}

void pol_group_difference(const pol_group *group, const double *a, const double *b, double *w)
{
  for (int i = 0; i < group->num_factors; i++) {
    const pol_factor *factor = &group->factors[i];
    const double *from = a + factor->q, *to = b + factor->q;
    double relative[7];

    if (factor->kind == POL_REAL) {
      for (int j = 0; j < factor->dim; j++) w[factor->v + j] = to[j] - from[j];
      continue;
    }
    kinds[factor->kind].relative(from, to, relative);
    kinds[factor->kind].log(relative, w + factor->v);
  }
}

/* y = T(w) c or T(w)^-1 c */
static void apply_tangent(const pol_group *group, const double *w, const double *c, double *y,
                          int inverse)
{
  for (int i = 0; i < group->num_factors; i++) {
    const pol_factor *factor = &group->factors[i];
    const factor_operations *kind = &kinds[factor->kind];
    const int v = factor->v;
    double turned[3];

    if (factor->kind == POL_REAL)
      memmove(y + v, c + v, (size_t)factor->dim * sizeof *y);
    else
      (inverse ? kind->apply_tangent_inverse
               : kind->apply_tangent)(tangent_argument(kind, w + v, turned), c + v, y + v);
  }
}

void pol_group_tangent(const pol_group *group, const double *w, const double *c, double *y)
{
  apply_tangent(group, w, c, y, 0);
}

void pol_group_tangent_inverse(const pol_group *group, const double *w, const double *c, double *y)
{
  apply_tangent(group, w, c, y, 1);
}

void pol_group_bracket(const pol_group *group, const double *v, const double *w, double *y)
{
  for (int i = 0; i < group->num_factors; i++) {
    const pol_factor *factor = &group->factors[i];
    const factor_operations *kind = &kinds[factor->kind];
    const double *left = v + factor->v, *right = w + factor->v;
    double *out = y + factor->v;

    if (factor->kind == POL_REAL)
      for (int j = 0; j < factor->dim; j++) out[j] = 0.0;
    else
      kind->bracket(kind->spatial ? right : left, kind->spatial ? left : right, out);
  }
}

/* --- matrices of one factor ------------------------------------------------------------------- */

void pol_factor_tangent(const pol_factor *factor, const double *w, double *T)
{
  const factor_operations *kind = &kinds[factor->kind];
  double turned[3];
  if (factor->kind != POL_REAL) kind->tangent(tangent_argument(kind, w, turned), T);
}

void pol_factor_tangent_inverse(const pol_factor *factor, const double *w, double *Ti)
{
  const factor_operations *kind = &kinds[factor->kind];
  double turned[3];
  if (factor->kind != POL_REAL) kind->tangent_inverse(tangent_argument(kind, w, turned), Ti);
}

void pol_factor_tangent_derivative(const pol_factor *factor, const double *w, const double *c,
                                   double *D)
{
  const factor_operations *kind = &kinds[factor->kind];
  double turned[3];
  if (factor->kind == POL_REAL) return;
  kind->tangent_derivative(tangent_argument(kind, w, turned), c, D);
  for (int i = 0; i < 9 && kind->spatial; i++) D[i] = -D[i];
}
