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
 * model has none before t_0, as with a drive t^2.5, or other ones than after it, as where a joint
 * leaves its stop, the one of t_0, t_0 + s h and t_0 + 2 s h.
 *
 * All this takes the solution to be smooth over a step.  Where a damper or a spring is stiff, v' at
 * t_0 belongs to a motion that has died out, or turned many times, within the first step, and v''
 * is larger than v'/h by h D/M or h^2 K/M: the step would start from an acceleration that the
 * solution never has.  Then the parts that a step of size h cannot resolve are first removed from
 * v' and v'',
 *
 *     a_0 = S v' + (alpha_m - alpha_f) h S S v'',    S = 1 - (1 - F)^3,
 *
 * where F x solves [ M + h D + h^2 K  B^T; B  0 ] (F x, mu) = (M x, B x): S x differs from x by
 * third order in h D/M and h^2 K/M if they are small, falls with them if they are large, and never
 * changes B x, which the constraints determine.  This is done if (1 - S) v'' changes the start of
 * some component by more than its v', so that all motions that a step can follow start as
 * published; and if S S v'' still does, by what the constraints make of v', it is left out.
 */
#include "integrators/alpha.h"

#include <math.h>
#include <string.h>

#include "dae/assembler.h"

static const double share = 0.1; /* s */

size_t poli_start_work(const pol_dae *dae)
{
  return (size_t)(dae->group.nq + 6 * dae->group.nv + pol_dae_num_constraints(dae));
}

/* Acceleration at t + tau on the parabola through the given values. */
static pol_status acceleration_nearby(const poli_start_problem *p, double tau, double *vd,
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

/* Whether v' has a kink at t_0: its second difference about t_0 is more than a small share of the
 * first, and much larger than the one ahead.  Sets beyond to v' at t_0 + 2 tau if it had to know.
 */
static int has_kink(const poli_start_problem *p, const double *before, const double *after,
                    double tau, double *beyond)
{
  const double smooth_share = 1e-3, round_off = 1e-12, most = 4.0;
  const int nv = p->dae->group.nv;
  double size = 0.0, first = 0.0, second = 0.0, ahead = 0.0;
  pol_diagnostics unused;
  for (int i = 0; i < nv; i++) {
    size = hypot(size, p->vd[i]);
    first = hypot(first, after[i] - before[i]);
    second = hypot(second, after[i] - 2.0 * p->vd[i] + before[i]);
  }
  if (!(second > smooth_share * first + round_off * size)) return 0;
  if (acceleration_nearby(p, 2.0 * tau, beyond, &unused)) return 0;
  for (int i = 0; i < nv; i++) ahead = hypot(ahead, beyond[i] - 2.0 * after[i] + p->vd[i]);
  return second > most * ahead;
}

/* v'' into jerk; before and beyond are work. */
static pol_status find_jerk(const poli_start_problem *p, double *jerk, double *before,
                            double *beyond, pol_diagnostics *diagnostics)
{
  const int nv = p->dae->group.nv;
  const double tau = share * p->h;
  pol_diagnostics unused;
  pol_status status = acceleration_nearby(p, tau, jerk, diagnostics);
  if (status) return status;
  if (acceleration_nearby(p, -tau, before, &unused)) {
    status = acceleration_nearby(p, 2.0 * tau, beyond, diagnostics);
  } else if (!has_kink(p, before, jerk, tau, beyond)) {
    for (int i = 0; i < nv; i++) jerk[i] = (jerk[i] - before[i]) / (2.0 * tau);
    return POL_OK;
  }
  for (int i = 0; i < nv && !status; i++)
    jerk[i] = (4.0 * jerk[i] - beyond[i] - 3.0 * p->vd[i]) / (2.0 * tau);
  return status;
}

/* Local error of q over h^3 into error, as v'' sees it into jerk; both are in p->work.
 *
 * Where the increment psi is a classical coordinate the scheme sees psi''' = v'' + [v, v']/2, from
 * v = T(psi) psi', and no bracket.  Coordinates by the Cayley map, w = 2 tan(angle/2), grow faster
 * than the angle: psi''' has (v.v) v/2 more, the local error of an increment (v.v) v/12. */
static pol_status find_error(const poli_start_problem *p, double **jerk_out, double **error_out,
                             pol_diagnostics *diagnostics)
{
  const pol_group *group = &p->dae->group;
  double *jerk = p->work, *before = jerk + group->nv, *bracket = before + group->nv;
  pol_status status = find_jerk(p, jerk, before, bracket, diagnostics);
  if (status) return status;
  double *error = before;
  pol_group_bracket(group, p->v, p->vd, bracket);
  for (int f = 0; f < group->num_factors; f++) {
    const pol_factor *factor = &group->factors[f];
    const pol_factor_kind kind = factor->kind;
    const double *v = p->v + factor->v;
    const int vector = kind == POL_SO3_VECTOR || (p->linear && kind != POL_REAL);
    const double square = kind == POL_SO3_CAYLEY ? v[0] * v[0] + v[1] * v[1] + v[2] * v[2] : 0.0;
    for (int i = 0; i < factor->dim; i++) {
      const int k = factor->v + i;
      if (vector) {
        jerk[k] += 0.5 * bracket[k] + 0.5 * square * v[i];
        bracket[k] = 0.0;
      }
      error[k] = vector ? 0.0 : square * v[i] / 12.0;
      error[k] += p->C_q * jerk[k] + p->commutator * bracket[k];
    }
  }
  *jerk_out = jerk;
  *error_out = error;
  return POL_OK;
}

/* y = S x; left is work.  0 if y is not finite or much larger than x, as a negative stiffness of
 * the size M/h^2 makes it. */
static int smooth(const poli_start_problem *p, const double *x, double *left, double *y)
{
  const double most_growth = 4.0;
  const int nv = p->dae->group.nv;
  double before = 0.0, after = 0.0;
  memcpy(left, x, (size_t)nv * sizeof *left);
  for (int k = 0; k < 3; k++) {
    poli_assembler_solve_implicit(p->assembler, left, y);
    for (int i = 0; i < nv; i++) left[i] -= y[i];
  }
  for (int i = 0; i < nv; i++) {
    y[i] = x[i] - left[i];
    before = fmax(before, fabs(x[i]));
    after = isfinite(y[i]) ? fmax(after, fabs(y[i])) : HUGE_VAL;
  }
  return after <= most_growth * before;
}

/* Whether (alpha_m - alpha_f) h x exceeds a in some component, where a counts as at least a tenth
 * of the largest of its factor: then x = v'' changes a = v' by more than v' is.  without (may be
 * NULL) is subtracted from x; a difference below a thousandth of x does not count, since forces
 * that the step resolves leave no more, whatever v' is (it may be zero). */
static int exceeds_step(const poli_start_problem *p, const double *a, const double *x,
                        const double *without)
{
  const double least = 0.1, least_shift = 0.05, least_part = 1e-3;
  const double h = p->h * fmax(fabs(p->shift), least_shift);
  const pol_group *group = &p->dae->group;
  for (int f = 0; f < group->num_factors; f++) {
    const int first = group->factors[f].v, end = first + group->factors[f].dim;
    double largest = 0.0, largest_x = 0.0;
    for (int i = first; i < end; i++) {
      largest = fmax(largest, fabs(a[i]));
      largest_x = fmax(largest_x, fabs(x[i]));
    }
    const double at_least = fmax(least * largest, without ? h * least_part * largest_x : 0.0);
    for (int i = first; i < end; i++) {
      const double change = h * fabs(x[i] - (without ? without[i] : 0.0));
      if (change > fmax(fabs(a[i]), at_least)) return 1;
    }
  }
  return 0;
}

/* Replaces a = v' and jerk = v'' by S v' and S S v'' if stiff forces make that necessary.  Returns
 * 0 if a step cannot follow the rest of v'' either, which then is of no use. */
static int remove_stiff_part(const poli_start_problem *p, double *a, double *jerk)
{
  const int nv = p->dae->group.nv;
  const pol_point at = {.t = p->t, .q = p->q, .v = p->v, .vd = p->vd, .lambda = p->lambda};
  double *smoothed = p->work + 3 * nv, *left = smoothed + nv;
  pol_diagnostics unused;
  if (!exceeds_step(p, p->vd, jerk, NULL)) return 1;
  for (int with_stiffness = 1; with_stiffness >= 0; with_stiffness--) {
    const double square = with_stiffness ? p->h * p->h : 0.0;
    if (poli_assembler_factor_implicit(p->assembler, &at, p->h, square, &unused)) continue;
    if (!smooth(p, jerk, left, smoothed)) continue;
    if (!exceeds_step(p, p->vd, jerk, smoothed)) return 1;
    if (!smooth(p, smoothed, left, jerk) || !smooth(p, p->vd, left, smoothed)) break;
    memcpy(a, smoothed, (size_t)nv * sizeof *a);
    return !exceeds_step(p, a, jerk, NULL);
  }
  return 0;
}

pol_status poli_starting_values(const poli_start_problem *problem, double *a, double *v_start,
                                pol_diagnostics *diagnostics)
{
  const poli_start_problem *p = problem;
  int nv = p->dae->group.nv;
  double *jerk, *error;
  pol_status status = find_error(p, &jerk, &error, diagnostics);
  if (status) return status;
  memcpy(a, p->vd, (size_t)nv * sizeof *a);
  if (!remove_stiff_part(p, a, jerk)) {
    if (v_start) memcpy(v_start, p->v, (size_t)nv * sizeof *v_start);
    return POL_OK;
  }
  for (int i = 0; i < nv; i++) a[i] += p->shift * p->h * jerk[i];
  if (!v_start) return POL_OK;

  for (int i = 0; i < nv; i++) v_start[i] = p->h * p->h * error[i];
  status = poli_assembler_normal_part(p->assembler, p->t, p->q, v_start, diagnostics);
  for (int i = 0; i < nv; i++) v_start[i] += p->v[i];
  return status;
}

pol_status poli_start_error(const poli_start_problem *problem, double *error,
                            pol_diagnostics *diagnostics)
{
  double *jerk, *found;
  pol_status status = find_error(problem, &jerk, &found, diagnostics);
  for (int i = 0; i < problem->dae->group.nv && !status; i++) error[i] = found[i];
  return status;
}
