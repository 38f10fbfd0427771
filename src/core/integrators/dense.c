/* The solution within the last accepted step, from its values at both ends.
 *
 * With x = (t - t_n)/h and the cubic Hermite polynomials, on factors R^n
 *
 *     q from (q, v),    v from (v, v'),    v' the derivative of that,    lambda linear
 *
 * and on the other factors the increment w(t) in the Lie algebra, q(t) = q_n o w(t), takes the
 * place of q: w(t_n) = 0, w'(t_n) = v_n, w(t_{n+1}) the difference of both ends, w'(t_{n+1}) =
 * T(w)^-1 v_{n+1}.  The error is O(h^4) in q and v, O(h^2) in lambda: not above that of the step.
 * Families of higher order have an interpolant of their own.
 */
#include <math.h>
#include <string.h>

#include "integrators/family.h"

/* Values of the four polynomials for (f_n, f'_n, f_{n+1}, f'_{n+1}), and of their derivatives. */
typedef struct hermite {
  double value[4], slope[4];
} hermite;

static hermite hermite_at(double x, double h)
{
  double y = 1.0 - x;
  return (hermite){
      {(1.0 + 2.0 * x) * y * y, h * x * y * y, x * x * (3.0 - 2.0 * x), -h * x * x * y},
      {-6.0 * x * y / h, y * (1.0 - 3.0 * x), 6.0 * x * y / h, x * (3.0 * x - 2.0)}};
}

static double combine(const double c[4], double f0, double d0, double f1, double d1)
{
  return c[0] * f0 + c[1] * d0 + c[2] * f1 + c[3] * d1;
}

/* q of one factor that is not R^n. */
static void move_factor(const pol_factor *factor, const hermite *at, const pol_state *from,
                        const pol_state *to, double *q)
{
  pol_factor alone = {.kind = factor->kind, .dim = factor->dim};
  const pol_group group = {
      .num_factors = 1, .factors = &alone, .nq = factor->dim + 1, .nv = factor->dim};
  double w[POL_MAX_FACTOR_DIM], rate[POL_MAX_FACTOR_DIM], step[POL_MAX_FACTOR_DIM];
  pol_group_difference(&group, from->q + factor->q, to->q + factor->q, w);
  pol_group_tangent_inverse(&group, w, to->v + factor->v, rate);
  for (int i = 0; i < factor->dim; i++)
    step[i] = combine(at->value, 0.0, from->v[factor->v + i], w[i], rate[i]);
  pol_group_move(&group, from->q + factor->q, step, q + factor->q);
}

static void interpolate_q(const pol_group *group, const hermite *at, const pol_state *from,
                          const pol_state *to, double *q)
{
  for (int f = 0; f < group->num_factors; f++) {
    const pol_factor *factor = &group->factors[f];
    if (factor->kind != POL_REAL) {
      move_factor(factor, at, from, to, q);
      continue;
    }
    for (int i = 0; i < factor->dim; i++) {
      int k = factor->q + i, j = factor->v + i;
      q[k] = combine(at->value, from->q[k], from->v[j], to->q[k], to->v[j]);
    }
  }
}

void poli_integrator_position_within(const pol_group *group, double x, double h,
                                     const pol_state *from, const pol_state *to, double *q)
{
  const hermite at = hermite_at(x, h);
  interpolate_q(group, &at, from, to, q);
}

static void copy(double *to, const double *from, int n)
{
  if (to) memcpy(to, from, (size_t)n * sizeof *to);
}

pol_status pol_integrator_interpolate(const pol_integrator *integrator, double t, double *q,
                                      double *v, double *vd, double *lambda)
{
  const pol_state *from = &integrator->before, *to = &integrator->state;
  const pol_group *group = &integrator->dae->group;
  int nv = group->nv, m = pol_dae_num_constraints(integrator->dae);
  if (!from->q || !to->q || !(t >= from->t && t <= to->t)) return POL_BAD_ARGUMENT;
  if (t == from->t || t == to->t) {
    const pol_state *end = t == to->t ? to : from;
    copy(q, end->q, group->nq);
    copy(v, end->v, nv);
    copy(vd, end->vd, nv);
    copy(lambda, end->lambda, m);
    return POL_OK;
  }
  if (integrator->family->interpolate)
    return integrator->family->interpolate(integrator, t, q, v, vd, lambda);
  double h = to->t - from->t, x = (t - from->t) / h;
  hermite at = hermite_at(x, h);
  if (q) interpolate_q(group, &at, from, to, q);
  for (int i = 0; i < nv && v; i++)
    v[i] = combine(at.value, from->v[i], from->vd[i], to->v[i], to->vd[i]);
  for (int i = 0; i < nv && vd; i++)
    vd[i] = combine(at.slope, from->v[i], from->vd[i], to->v[i], to->vd[i]);
  for (int i = 0; i < m && lambda; i++)
    lambda[i] = from->lambda[i] + x * (to->lambda[i] - from->lambda[i]);
  return POL_OK;
}
