/* How stiff dampers and first-order states may be in compositions.
 *
 * A base step of size h changes a deviation that decays with the rate c by the factor
 *
 *     R(z) = (1 - z/2)/(1 + z/2),      z = h c,
 *
 * be it that of a damper (as a compliant row or as a force at the nodes) or of a state.  For h > 0
 * that is below 1; compositions also go backward in time, and there |R| > 1, with a pole at z = -2.
 * The whole step is stable for z up to a limit, 3.02 (order 4), 2.73 (6) and 3.30 (8).
 *
 * The largest rate at the present state is the largest eigenvalue of the accelerations by
 * velocities in the directions that the constraints allow,
 *
 *     [ M  B^T + F ] [ y  ]   [ (C - G) x ]
 *     [ B  0       ] [ mu ] = [ 0         ],        c = |y|/|x| in the norm of M,
 *
 * by power iteration.  C = dg/dv has all dampers and states; G = d(w x J w)/dw is left out, as free
 * rotation is exact; F is the effect of reactions on forces.  x is kept, so that later searches
 * need few rounds.  Steps of variable size are bounded; fixed ones are examined from time to time.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "dae/extension.h"
#include "integrators/splitting_parts.h"

pol_status poli_splitting_create_bounds(splitting *s, pol_solver_kind solver)
{
  bounds *own = &s->bounds;
  int damps = s->bodies->forces_read_velocities;
  for (int i = 0; i < s->compliant.count; i++) damps |= s->compliant.rows[i].damping != 0.0;
  if (s->num_stages == 1 || !damps) return POL_OK;
  if (!s->saddle) {
    const pol_status status = poli_saddle_create(&own->made, s->dae, 0, solver);
    if (status) return status;
  }
  own->saddle = s->saddle ? s->saddle : own->made;
  const poli_dae_patterns *patterns = &own->saddle->patterns;
  poli_arena arena = {0};
  do {
    POLI_TAKE(&arena, own->mass, pol_pattern_nonzeros(patterns->coupling));
    POLI_TAKE(&arena, own->damping, pol_pattern_nonzeros(patterns->coupling));
    POLI_TAKE(&arena, own->jacobian, pol_pattern_nonzeros(patterns->constraint));
    POLI_TAKE(&arena, own->feedback, s->dae->feedback ? pol_pattern_nonzeros(s->dae->feedback) : 0);
    POLI_TAKE(&arena, own->x, s->nv);
    POLI_TAKE(&arena, own->y, own->saddle->n);
    POLI_TAKE(&arena, own->v, 2 * s->nv);
  } while (poli_arena_again(&arena));
  own->memory = arena.memory;
  return own->memory ? POL_OK : POL_NO_MEMORY;
}

void poli_splitting_free_bounds(splitting *s)
{
  poli_saddle_free(&s->bounds.made);
  free(s->bounds.memory);
}

/* The matrix of the equations of motion at the running state, factored, and C - G. */
static pol_status set_equations(splitting *s, double t)
{
  bounds *own = &s->bounds;
  const instant *at = &s->instants[s->at];
  const unsigned want =
      POL_MASS | POL_DAMPING | POL_JACOBIAN | (s->dae->feedback ? POL_FEEDBACK : 0u);
  const pol_terms out = {.mass = own->mass,
                         .damping = own->damping,
                         .jacobian = own->jacobian,
                         .feedback = own->feedback};
  poli_splitting_velocities(s, at->R, at->P, own->v);
  poli_splitting_turn(s, at->R, 0, own->v, own->v);
  const pol_status status = poli_splitting_evaluate(s, t, at->q, own->v, want, &out);
  if (status) return status;
  poli_splitting_add_gyroscopic(s, own->saddle->patterns.coupling, own->v, -1.0, own->damping);
  poli_saddle_set_kkt(own->saddle, own->mass, own->jacobian);
  if (s->dae->feedback) poli_saddle_add_feedback(own->saddle, own->feedback);
  poli_saddle_drop(own->saddle, s->dropped);
  return pol_solver_refactor(own->saddle->solver, own->saddle->values);
}

/* |x| in the norm of M; z is nv numbers of workspace. */
static double norm_of(const bounds *own, int nv, const double *x, double *z)
{
  double sum = 0.0;
  memset(z, 0, (size_t)nv * sizeof *z);
  pol_matrix_multiply(own->saddle->patterns.coupling, own->mass, 1.0, x, z);
  for (int i = 0; i < nv; i++) sum += x[i] * z[i];
  return sqrt(fmax(sum, 0.0));
}

/* The largest rate at the running state; 0 if it cannot be found. */
static double find_rate(splitting *s, double t)
{
  enum { MAX_ROUNDS = 30 };
  bounds *own = &s->bounds;
  const int nv = s->nv, n = own->saddle->n;
  double rate = 0.0;
  if (set_equations(s, t)) return 0.0;
  for (int i = 0; i < nv; i++) own->x[i] += 1e-3 * sin(1.0 + 2.0 * i + 0.37 * i * i);
  for (int k = 0; k < MAX_ROUNDS; k++) {
    const double before = rate, length = norm_of(own, nv, own->x, own->y);
    if (!(length > 0.0) || !isfinite(length)) break;
    for (int i = 0; i < nv; i++) own->x[i] /= length;
    memset(own->y, 0, (size_t)n * sizeof *own->y);
    pol_matrix_multiply(own->saddle->patterns.coupling, own->damping, 1.0, own->x, own->y);
    pol_solver_solve(own->saddle->solver, own->y);
    memcpy(own->x, own->y, (size_t)nv * sizeof *own->x);
    rate = norm_of(own, nv, own->x, own->y);
    if (k > 2 && fabs(rate - before) <= 2e-3 * rate) break;
  }
  if (rate > 0.0 && isfinite(rate))
    for (int i = 0; i < nv; i++) own->x[i] /= rate;
  else
    memset(own->x, 0, (size_t)nv * sizeof *own->x);
  own->rate = isfinite(rate) ? rate : 0.0;
  return own->rate;
}

/* x . (g(v + x) - g(v)) of the forces that are selected. */
static double find_power(splitting *s, double t, unsigned selected)
{
  const double size = 1e-6;
  bounds *own = &s->bounds;
  const instant *at = &s->instants[s->at];
  pol_terms out = {.balance = own->y};
  double power = 0.0;
  for (int k = 0; k < 2; k++) {
    for (int i = 0; i < s->nv; i++) own->v[s->nv + i] = own->v[i] + (k ? size : -size) * own->x[i];
    if (poli_splitting_evaluate(s, t, at->q, own->v + s->nv, POL_FORCE | selected, &out))
      return 0.0;
    for (int i = 0; i < s->nv; i++) power += (k ? 0.5 : -0.5) / size * own->x[i] * own->y[i];
  }
  return power;
}

/* Who causes the rate that has been found last: a force, or a state, which returns 1. */
static int name_cause(splitting *s, double t, char *name, size_t size)
{
  const int count = s->bodies->num_forces;
  const double *x = s->bounds.x;
  double most = 0.0;
  int worst = -1, state = -1;
  for (int i = s->nv - s->dae->num_states; i < s->nv; i++)
    if (x[i] * x[i] > 0.5) state = i; /* x has the length 1 */
  if (state >= 0) {
    poli_dae_describe(s->dae, state, name, size);
    return 1;
  }
  const double others = find_power(s, t, POLI_ONLY_FORCE(count));
  for (int k = 0; k < count; k++) {
    const double power = fabs(find_power(s, t, POLI_ONLY_FORCE(k)) - others);
    if (!(power > most)) continue;
    most = power;
    worst = k;
  }
  if (worst >= 0)
    snprintf(name, size, "the damper of force '%s'", s->bodies->force_name(worst, s->dae->user));
  else
    snprintf(name, size, "a damper or state");
  return 0;
}

void poli_splitting_advise(splitting *s, pol_diagnostics *d)
{
  char name[96] = "";
  if (!s->bounds.saddle || !(fabs(d->h) * find_rate(s, d->t) > s->stable)) return;
  name_cause(s, d->t, name, sizeof name);
  snprintf(d->advice, sizeof d->advice,
           "%s is too stiff: use order 2, a step below %.3g s, or geom1", name,
           s->stable / s->bounds.rate);
}

/* A step of size h is above the limit. */
static void describe(splitting *s, double t, double h, char *message, size_t size)
{
  const double rate = s->bounds.rate;
  char name[96] = "", value[64];
  if (name_cause(s, t, name, sizeof name))
    snprintf(value, sizeof value, "h/T = %.3g with its time constant T", h * rate);
  else
    snprintf(value, sizeof value, "h c/m = %.3g with the mass that it moves", h * rate);
  snprintf(message, size,
           "%s is too stiff for this step: %s, and base steps backward in time amplify from %.3g "
           "on; use order 2, a step below %.3g s, or geom1",
           name, value, s->stable, s->stable / rate);
}

void poli_splitting_doubt_step(pol_integrator *integrator, double h, char *message, size_t size)
{
  splitting *s = integrator->data;
  const double t = integrator->state.t;
  s->history = integrator->history;
  if (h == 0.0) {
    const long steps = integrator->counts.steps;
    if (steps >= 100 && 2 * s->bounds.limited > steps)
      snprintf(message, size, "%s", s->bounds.note);
    return;
  }
  if (!s->bounds.saddle || !(h * find_rate(s, t) > s->stable)) return;
  describe(s, t, h, message, size);
}

double poli_splitting_largest_step(pol_integrator *integrator, double h)
{
  enum { MAX_AGE = 20 };
  const double safety = 0.9, near = 0.3;
  splitting *s = integrator->data;
  bounds *own = &s->bounds;
  if (!own->saddle) return HUGE_VAL;
  s->history = integrator->history;
  if (own->age++ == 0 || own->age > MAX_AGE || h * own->rate > near * s->stable) {
    find_rate(s, integrator->state.t);
    own->age = 1;
  }
  const double most = own->rate > 0.0 ? safety * s->stable / own->rate : HUGE_VAL;
  own->limited += h > most;
  if (h > most && !own->note[0]) {
    char name[96] = "";
    name_cause(s, integrator->state.t, name, sizeof name);
    snprintf(own->note, sizeof own->note,
             "%s limits the steps to %.3g s, as base steps backward in time amplify what it damps; "
             "order 2 or geom1 may be faster",
             name, most);
  }
  return most;
}
