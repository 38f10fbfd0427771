/* Starting values that remove the first-order error of the multipliers (Arnold/Cardona/Bruels 2015,
 * Tables 1 and 2).
 *
 *     shifted:    a_0 = v'(t_0) + (alpha_m - alpha_f) h v''
 *     perturbed:  and v_0 = v(t_0) + Dv with the least Dv in the metric of M that satisfies
 *                 B Dv = h^2 B ( C_q v'' + k [v, v'] )
 *
 * where C_q h^3 v'' + k h^3 [v, v'] is the local error of q.  The papers have k = 1/12 for geom1;
 * the sigma modification changes it to 1/12 - sigma beta/(4 gamma), and geom2 and geom3 have 1/12 -
 * 1/4.  v'' is a central difference of consistent accelerations at t_0 +- s h, s = 0.1; where the
 * model has none before t_0, as with a drive t^2.5, the one of t_0, t_0 + s h and t_0 + 2 s h.
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

static int is_vector(const pol_start_problem *p, const pol_factor *factor)
{
  return factor->kind == POL_SO3_VECTOR || (p->linear && factor->kind != POL_REAL);
}

/* What differs from factor to factor.  Where the increment psi is a classical coordinate the scheme
 * sees psi''' = v'' + [v, v']/2, from v = T(psi) psi', and no bracket.  Coordinates by the Cayley
 * map, w = 2 tan(angle/2), grow faster than the angle: psi''' has (v.v) v/2 more, the local error
 * of an increment (v.v) v/12. */
static void adapt_to_factors(const pol_start_problem *p, double *jerk, double *bracket,
                             double *error)
{
  const pol_group *group = &p->dae->group;
  for (int f = 0; f < group->num_factors; f++) {
    const pol_factor *factor = &group->factors[f];
    const double *v = p->v + factor->v;
    int vector = is_vector(p, factor), cayley = factor->kind == POL_SO3_CAYLEY;
    double square = cayley ? v[0] * v[0] + v[1] * v[1] + v[2] * v[2] : 0.0;
    for (int i = 0; i < factor->dim; i++) {
      int k = factor->v + i;
      if (vector) {
        jerk[k] += 0.5 * bracket[k] + 0.5 * square * v[i];
        bracket[k] = 0.0;
      }
      error[k] = vector ? 0.0 : square * v[i] / 12.0;
    }
  }
}

/* v'' into jerk; before is work. */
static pol_status find_jerk(const pol_start_problem *p, double *jerk, double *before,
                            pol_diagnostics *diagnostics)
{
  const int nv = p->dae->group.nv;
  const double tau = share * p->h;
  pol_diagnostics unused;
  pol_status status = acceleration_nearby(p, tau, jerk, diagnostics);
  if (status) return status;
  if (!acceleration_nearby(p, -tau, before, &unused)) {
    for (int i = 0; i < nv; i++) jerk[i] = (jerk[i] - before[i]) / (2.0 * tau);
    return POL_OK;
  }
  status = acceleration_nearby(p, 2.0 * tau, before, diagnostics);
  for (int i = 0; i < nv && !status; i++)
    jerk[i] = (4.0 * jerk[i] - before[i] - 3.0 * p->vd[i]) / (2.0 * tau);
  return status;
}

/* Local error of q over h^3 into error, as v'' sees it into jerk; both are in p->work. */
static pol_status find_error(const pol_start_problem *p, double **jerk_out, double **error_out,
                             pol_diagnostics *diagnostics)
{
  int nv = p->dae->group.nv;
  double *jerk = p->work, *before = jerk + nv, *bracket = before + nv;
  pol_status status = find_jerk(p, jerk, before, diagnostics);
  if (status) return status;
  double *error = before;
  pol_group_bracket(&p->dae->group, p->v, p->vd, bracket);
  adapt_to_factors(p, jerk, bracket, error);
  for (int i = 0; i < nv; i++) error[i] += p->C_q * jerk[i] + p->commutator * bracket[i];
  *jerk_out = jerk;
  *error_out = error;
  return POL_OK;
}

pol_status pol_starting_values(const pol_start_problem *problem, double *a, double *v_start,
                               pol_diagnostics *diagnostics)
{
  const pol_start_problem *p = problem;
  int nv = p->dae->group.nv;
  double *jerk, *error;
  pol_status status = find_error(p, &jerk, &error, diagnostics);
  if (status) return status;
  for (int i = 0; i < nv; i++) a[i] = p->vd[i] + p->shift * p->h * jerk[i];
  if (!v_start) return POL_OK;

  for (int i = 0; i < nv; i++) v_start[i] = p->h * p->h * error[i];
  status = pol_assembler_normal_part(p->assembler, p->t, p->q, v_start, diagnostics);
  for (int i = 0; i < nv; i++) v_start[i] += p->v[i];
  return status;
}

pol_status pol_start_error(const pol_start_problem *problem, double *error,
                           pol_diagnostics *diagnostics)
{
  double *jerk, *found;
  pol_status status = find_error(problem, &jerk, &found, diagnostics);
  for (int i = 0; i < problem->dae->group.nv && !status; i++) error[i] = found[i];
  return status;
}
