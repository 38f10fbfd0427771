/* Products of R^n, SO(3) and SE(3): every operation goes through the factors in order.
 *
 * A configuration holds n numbers for R^n, a unit quaternion for SO(3), a unit quaternion and a
 * position for SE(3).  (R, x) o (Q, y) = (R Q, x + R y); brackets as in Arnold/Cardona/Bruels 2015,
 * (34): (Omega, U)^ = [Omega~, 0; U~, Omega~].
 *
 * POL_SO3_SPATIAL: the inverse of exp(w) R with R' = v~ R is R^-1 exp(-w), a move in the body frame
 * with the velocity -v.  So T(-w) takes the place of T(w), its derivative with respect to w has the
 * opposite sign, and so has the bracket.
 */
#include <polhode/lie.h>

#include <limits.h>
#include <string.h>

#include "lie/apply.h"
#include "lie/small.h"

int pol_factor_is_rotation(pol_factor_kind kind)
{
  return kind == POL_SO3 || kind == POL_SO3_SPATIAL || kind == POL_SO3_CAYLEY ||
         kind == POL_SO3_VECTOR;
}

pol_status pol_group_layout(pol_group *group, pol_factor *factors, int num_factors)
{
  int nq = 0, nv = 0;

  if (num_factors < 0) return POL_BAD_ARGUMENT;
  for (int i = 0; i < num_factors; i++) {
    pol_factor *factor = &factors[i];
    int size; /* numbers in a configuration */

    if (factor->kind == POL_REAL) {
      if (factor->dim < 1) return POL_BAD_ARGUMENT;
      size = factor->dim;
    } else if (pol_factor_is_rotation(factor->kind)) {
      factor->dim = 3;
      size = 4;
    } else if (factor->kind == POL_SE3) {
      factor->dim = 6;
      size = 7;
    } else {
      return POL_BAD_ARGUMENT;
    }
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

/* y = R x for the unit quaternion q of R */
static void rotate(const double q[4], const double x[3], double y[3])
{
  double twice[3];

  poli_v3_cross(q + 1, x, twice);
  poli_v3_scale(2.0, twice, twice);
  for (int i = 0; i < 3; i++) y[i] = x[i] + q[0] * twice[i];
  poli_v3_add_scaled_cross(1.0, q + 1, twice, y);
}

/* ab = a o b on SE(3); ab may be a */
static void compose_se3(const double a[7], const double b[7], double ab[7])
{
  double x[3];

  rotate(a, b + 4, x);
  poli_v3_add(a + 4, x, ab + 4);
  pol_quat_multiply(a, b, ab);
}

void pol_group_move(const pol_group *group, const double *q, const double *w, double *out)
{
  for (int i = 0; i < group->num_factors; i++) {
    const pol_factor *factor = &group->factors[i];
    const double *from = q + factor->q, *by = w + factor->v;
    double *to = out + factor->q;
    double step[7];

    switch (factor->kind) {
    case POL_REAL:
      for (int j = 0; j < factor->dim; j++) to[j] = from[j] + by[j];
      break;
    case POL_SO3:
    case POL_SO3_VECTOR:
      pol_so3_exp(by, step);
      pol_quat_multiply(from, step, to);
      pol_quat_normalize(to);
      break;
    case POL_SO3_SPATIAL:
      pol_so3_exp(by, step);
      pol_quat_multiply(step, from, to);
      pol_quat_normalize(to);
      break;
    case POL_SO3_CAYLEY:
      pol_so3_cayley(by, step);
      pol_quat_multiply(from, step, to);
      pol_quat_normalize(to);
      break;
    case POL_SE3:
      pol_se3_exp(by, step);
      compose_se3(from, step, to);
      pol_quat_normalize(to);
      break;
    }
  }
}

void pol_group_compose(const pol_group *group, const double *a, const double *b, double *ab)
{
  for (int i = 0; i < group->num_factors; i++) {
    const pol_factor *factor = &group->factors[i];
    const int q = factor->q;

    switch (factor->kind) {
    case POL_REAL:
      for (int j = 0; j < factor->dim; j++) ab[q + j] = a[q + j] + b[q + j];
      break;
    case POL_SO3:
    case POL_SO3_VECTOR:
    case POL_SO3_SPATIAL:
    case POL_SO3_CAYLEY:
      pol_quat_multiply(a + q, b + q, ab + q);
      break;
    case POL_SE3:
      compose_se3(a + q, b + q, ab + q);
      break;
    }
  }
}

void pol_group_difference(const pol_group *group, const double *a, const double *b, double *w)
{
  for (int i = 0; i < group->num_factors; i++) {
    const pol_factor *factor = &group->factors[i];
    const double *from = a + factor->q, *to = b + factor->q;
    double back[4], apart[3], relative[7];

    /* relative = from^-1 o to, in the inertial frame to o from^-1 */
    if (factor->kind == POL_SO3_SPATIAL) {
      pol_quat_conjugate(from, back);
      pol_quat_multiply(to, back, relative);
    } else if (factor->kind != POL_REAL) {
      pol_quat_conjugate(from, back);
      pol_quat_multiply(back, to, relative);
    }
    switch (factor->kind) {
    case POL_REAL:
      for (int j = 0; j < factor->dim; j++) w[factor->v + j] = to[j] - from[j];
      break;
    case POL_SO3:
    case POL_SO3_VECTOR:
    case POL_SO3_SPATIAL:
      pol_so3_log(relative, w + factor->v);
      break;
    case POL_SO3_CAYLEY:
      pol_so3_cayley_inverse(relative, w + factor->v);
      break;
    case POL_SE3:
      poli_v3_subtract(to + 4, from + 4, apart);
      rotate(back, apart, relative + 4);
      pol_se3_log(relative, w + factor->v);
      break;
    }
  }
}

void pol_group_tangent(const pol_group *group, const double *w, const double *c, double *y)
{
  for (int i = 0; i < group->num_factors; i++) {
    const pol_factor *factor = &group->factors[i];
    const int v = factor->v;
    double back[3];

    switch (factor->kind) {
    case POL_REAL:
      memmove(y + v, c + v, (size_t)factor->dim * sizeof *y);
      break;
    case POL_SO3:
    case POL_SO3_VECTOR:
      poli_so3_apply_tangent(w + v, c + v, y + v);
      break;
    case POL_SO3_SPATIAL:
      poli_v3_scale(-1.0, w + v, back);
      poli_so3_apply_tangent(back, c + v, y + v);
      break;
    case POL_SO3_CAYLEY:
      poli_so3_cayley_apply_tangent(w + v, c + v, y + v);
      break;
    case POL_SE3:
      poli_se3_apply_tangent(w + v, c + v, y + v);
      break;
    }
  }
}

void pol_group_tangent_inverse(const pol_group *group, const double *w, const double *c, double *y)
{
  for (int i = 0; i < group->num_factors; i++) {
    const pol_factor *factor = &group->factors[i];
    const int v = factor->v;
    double back[3];

    switch (factor->kind) {
    case POL_REAL:
      memmove(y + v, c + v, (size_t)factor->dim * sizeof *y);
      break;
    case POL_SO3:
    case POL_SO3_VECTOR:
      poli_so3_apply_tangent_inverse(w + v, c + v, y + v);
      break;
    case POL_SO3_SPATIAL:
      poli_v3_scale(-1.0, w + v, back);
      poli_so3_apply_tangent_inverse(back, c + v, y + v);
      break;
    case POL_SO3_CAYLEY:
      poli_so3_cayley_apply_tangent_inverse(w + v, c + v, y + v);
      break;
    case POL_SE3:
      poli_se3_apply_tangent_inverse(w + v, c + v, y + v);
      break;
    }
  }
}

void pol_group_bracket(const pol_group *group, const double *v, const double *w, double *y)
{
  for (int i = 0; i < group->num_factors; i++) {
    const pol_factor *factor = &group->factors[i];
    const double *left = v + factor->v, *right = w + factor->v;
    double *out = y + factor->v;

    if (factor->kind == POL_SE3) {
      poli_v3_cross(left, right, out);
      poli_v3_cross(left, right + 3, out + 3);
      poli_v3_add_scaled_cross(1.0, left + 3, right, out + 3);
    } else if (factor->kind == POL_REAL) {
      for (int j = 0; j < factor->dim; j++) out[j] = 0.0;
    } else if (factor->kind == POL_SO3_SPATIAL) {
      poli_v3_cross(right, left, out);
    } else {
      poli_v3_cross(left, right, out);
    }
  }
}

/* --- matrices of one factor ------------------------------------------------------------------- */

void pol_factor_tangent(const pol_factor *factor, const double *w, double *T)
{
  double back[3];

  switch (factor->kind) {
  case POL_REAL:
    break;
  case POL_SO3:
  case POL_SO3_VECTOR:
    pol_so3_tangent(w, T);
    break;
  case POL_SO3_SPATIAL:
    poli_v3_scale(-1.0, w, back);
    pol_so3_tangent(back, T);
    break;
  case POL_SO3_CAYLEY:
    pol_so3_cayley_tangent(w, T);
    break;
  case POL_SE3:
    pol_se3_tangent(w, T);
    break;
  }
}

void pol_factor_tangent_inverse(const pol_factor *factor, const double *w, double *Ti)
{
  double back[3];

  switch (factor->kind) {
  case POL_REAL:
    break;
  case POL_SO3:
  case POL_SO3_VECTOR:
    pol_so3_tangent_inverse(w, Ti);
    break;
  case POL_SO3_SPATIAL:
    poli_v3_scale(-1.0, w, back);
    pol_so3_tangent_inverse(back, Ti);
    break;
  case POL_SO3_CAYLEY:
    pol_so3_cayley_tangent_inverse(w, Ti);
    break;
  case POL_SE3:
    pol_se3_tangent_inverse(w, Ti);
    break;
  }
}

void pol_factor_tangent_derivative(const pol_factor *factor, const double *w, const double *c,
                                   double *D)
{
  double back[3];

  switch (factor->kind) {
  case POL_REAL:
    break;
  case POL_SO3:
  case POL_SO3_VECTOR:
    pol_so3_tangent_derivative(w, c, D);
    break;
  case POL_SO3_SPATIAL:
    poli_v3_scale(-1.0, w, back);
    pol_so3_tangent_derivative(back, c, D);
    for (int i = 0; i < 9; i++) D[i] = -D[i];
    break;
  case POL_SO3_CAYLEY:
    pol_so3_cayley_tangent_derivative(w, c, D);
    break;
  case POL_SE3:
    pol_se3_tangent_derivative(w, c, D);
    break;
  }
}
