/* Starting values that remove the first-order error of the multipliers (Arnold/Cardona/Bruels 2015,
 * Tables 1 and 2).
 *
 *     shifted:    a_0 = v'(t_0) + (alpha_m - alpha_f) h v''
 *     perturbed:  and v_0 = v(t_0) + Dv with the least Dv in the metric of M that satisfies
 *                 B Dv = h^2 B ( C_q v'' + k [v, v'] )
 *
 * where C_q h^3 v'' + k h^3 [v, v'] is the local error of q.  The papers have k = 1/12 for geom1;
 * the sigma modification changes it to 1/12 - sigma beta/(4 gamma), and geom2 and geom3 have 1/12 -
 * 1/4.  v'' is a central difference of consistent accelerations at t_0 +- s h, s = 0.1.
 */
#include "integrators/starting_values.h"

#include <string.h>

#include "dae/assembler.h"

static const double share = 0.1; /* s */

size_t pol_start_work(const pol_dae *dae)
{
  return (size_t)(dae->group.nq + 6 * dae->group.nv + pol_dae_num_constraints(dae));
}

/* Acceleration at t + tau on the parabola through the given values. */
static pol_status acceleration_nearby(const pol_start_problem *p, double tau, double *vd,
                                      pol_diagnostics *diagnostics)
{
  int nv = p->dae->group.nv;
  double *q = p->work + 3 * nv, *v = q + p->dae->group.nq, *step = v + nv, *lambda = step + nv;
  for (int i = 0; i < nv; i++) {
    step[i] = tau * p->v[i] + 0.5 * tau * tau * p->vd[i];
    v[i] = p->v[i] + tau * p->vd[i];
  }
  pol_group_move(&p->dae->group, p->q, step, q);
  return pol_assembler_acceleration(p->assembler, p->t + tau, q, v, vd, lambda, diagnostics);
}

/* Coordinates by the Cayley map, w = 2 tan(angle/2), grow faster than the angle: their local error
 * has (v.v) v/12 more. */
static void add_cayley_error(const pol_group *group, const double *v, double *error)
{
  for (int f = 0; f < group->num_factors; f++) {
    const double *w = v + group->factors[f].v;
    if (group->factors[f].kind != POL_SO3_CAYLEY) continue;
    double square = w[0] * w[0] + w[1] * w[1] + w[2] * w[2];
    for (int i = 0; i < 3; i++) error[group->factors[f].v + i] += square * w[i] / 12.0;
  }
}

pol_status pol_starting_values(const pol_start_problem *problem, double *a, double *v_start,
                               pol_diagnostics *diagnostics)
{
  const pol_start_problem *p = problem;
  int nv = p->dae->group.nv;
  double *jerk = p->work, *before = jerk + nv, *bracket = before + nv;
  pol_status status = acceleration_nearby(p, share * p->h, jerk, diagnostics);
  if (!status) status = acceleration_nearby(p, -share * p->h, before, diagnostics);
  if (status) return status;
  for (int i = 0; i < nv; i++) {
    jerk[i] = (jerk[i] - before[i]) / (2.0 * share * p->h);
    a[i] = p->vd[i] + p->shift * p->h * jerk[i];
  }
  if (!v_start) return POL_OK;

  double *error = bracket; /* of q, over h^3 */
  pol_group_bracket(&p->dae->group, p->v, p->vd, bracket);
  for (int i = 0; i < nv; i++) error[i] = p->C_q * jerk[i] + p->commutator * bracket[i];
  add_cayley_error(&p->dae->group, p->v, error);
  for (int i = 0; i < nv; i++) v_start[i] = p->h * p->h * error[i];
  status = pol_assembler_normal_part(p->assembler, p->t, p->q, v_start, diagnostics);
  for (int i = 0; i < nv; i++) v_start[i] += p->v[i];
  return status;
}
