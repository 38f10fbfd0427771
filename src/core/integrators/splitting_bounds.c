/* How stiff forces and first-order states may be.
 *
 * A base step of size h changes a deviation that decays with the rate c by the factor
 *
 *     R(z) = (1 - z/2)/(1 + z/2),      z = h c,
 *
 * be it that of a damper (as a compliant row or as a force at the nodes) or of a state.  For h > 0
 * that is below 1; compositions also go backward in time, and there |R| > 1, with a pole at z = -2.
 * The whole step is stable for z up to a limit, 3.02 (order 4), 2.73 (6) and 3.30 (8).  A vibration
 * with the frequency w by forces at the nodes is stable for h w up to 2 (order 2), 2.72, 2.53 and
 * 3.09 (where the trace of the product of all base steps exceeds 2); compliant rows have no limit.
 *
 * The largest rate at the present state is the largest eigenvalue of the accelerations by
 * velocities in the directions that the constraints allow,
 *
 *     [ M  B^T + F ] [ y  ]   [ A x ]
 *     [ B  0       ] [ mu ] = [ 0   ],        A = C - G,        c = |y|/|x| in the norm of M,
 *
 * by power iteration.  C = dg/dv has all dampers and states; G = d(w x J w)/dw is left out, as free
 * rotation is exact; F is the effect of reactions on forces.  With A = dg/dq of forces at the nodes
 * it is w^2.  x is kept, so that later searches need few rounds.  Steps of variable size are
 * bounded; fixed ones are examined from time to time.
 *
 * A soft stop has its rates, sqrt(k m) and d m (formulation/soft_stops.c), only while it is
 * touched, which may be shorter than a step, so that such examinations do not see it; and one step
 * above the limit throws the bodies away.  So a fixed step that leads into a stop which is too
 * stiff for it fails before anything happens.
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
  if (!damps) own->limit[DAMPERS] = HUGE_VAL;
  if (s->bodies->has_weight_only) own->limit[SPRINGS] = HUGE_VAL;
  if (own->limit[DAMPERS] == HUGE_VAL && own->limit[SPRINGS] == HUGE_VAL) return POL_OK;
  if (!s->saddle) {
    const pol_status status = poli_saddle_create(&own->made, s->dae, 0, solver);
    if (status) return status;
  }
  own->saddle = s->saddle ? s->saddle : own->made;
  const poli_dae_patterns *patterns = &own->saddle->patterns;
  poli_arena arena = {0};
  do {
    POLI_TAKE(&arena, own->mass, pol_pattern_nonzeros(patterns->coupling));
    POLI_TAKE(&arena, own->matrix, pol_pattern_nonzeros(patterns->coupling));
    POLI_TAKE(&arena, own->jacobian, pol_pattern_nonzeros(patterns->constraint));
    POLI_TAKE(&arena, own->feedback, s->dae->feedback ? pol_pattern_nonzeros(s->dae->feedback) : 0);
    for (int k = 0; k < NUM_STIFF; k++) POLI_TAKE(&arena, own->x[k], s->nv);
    POLI_TAKE(&arena, own->y, own->saddle->n);
    POLI_TAKE(&arena, own->v, s->nv);
    POLI_TAKE(&arena, own->moved, s->nq + s->nv);
  } while (poli_arena_again(&arena));
  own->memory = arena.memory;
  own->memory_size = arena.used;
  return own->memory ? POL_OK : POL_NO_MEMORY;
}

void poli_splitting_free_bounds(splitting *s)
{
  poli_saddle_free(&s->bounds.made);
  free(s->bounds.memory);
}

/* The matrix of the equations of motion at the running state, factored; v there. */
static pol_status set_equations(splitting *s, double t)
{
  bounds *own = &s->bounds;
  const instant *at = &s->instants[s->at];
  const unsigned want = POL_MASS | POL_JACOBIAN | (s->dae->feedback ? POL_FEEDBACK : 0u);
  const pol_terms out = {.mass = own->mass, .jacobian = own->jacobian, .feedback = own->feedback};
  /* within a step: at the nodes what rings may have left the steep part of its law */
  poli_splitting_velocities(s, at->R, s->saddle ? s->carried : at->P, own->v);
  poli_splitting_turn(s, at->R, 0, own->v, own->v);
  const pol_status status = poli_splitting_evaluate(s, t, at->q, own->v, want, &out);
  if (status) return status;
  poli_saddle_set_kkt(own->saddle, own->mass, own->jacobian);
  if (s->dae->feedback) poli_saddle_add_feedback(own->saddle, own->feedback);
  poli_saddle_drop(own->saddle, s->dropped);
  return pol_solver_refactor(own->saddle->solver, own->saddle->values);
}

/* A of springs or dampers. */
static pol_status set_matrix(splitting *s, double t, stiff kind)
{
  bounds *own = &s->bounds;
  const instant *at = &s->instants[s->at];
  const pol_terms out = {.damping = own->matrix, .stiffness = own->matrix};
  const unsigned want =
      kind == DAMPERS ? (unsigned)POL_DAMPING : (unsigned)POL_STIFFNESS | POLI_WITHOUT_COMPLIANT;
  memset(own->moved, 0, (size_t)s->nv * sizeof *own->moved); /* v' */
  const pol_point here = {.t = t,
                          .q = at->q,
                          .v = own->v,
                          .vd = own->moved,
                          .lambda = s->assembler ? s->lambda : s->U,
                          .history = s->history};
  const pol_status status = poli_dae_evaluate(s->dae, &here, want, &out, s->scratch);
  if (!status && kind == DAMPERS)
    poli_splitting_add_gyroscopic(s, own->saddle->patterns.coupling, own->v, -1.0, own->matrix);
  return status;
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
static double find_rate(splitting *s, double t, stiff kind)
{
  enum { MAX_ROUNDS = 30 };
  bounds *own = &s->bounds;
  const int nv = s->nv, n = own->saddle->n;
  double rate = 0.0, sign = 0.0, *x = own->x[kind];
  own->rate[kind] = 0.0;
  if (own->limit[kind] == HUGE_VAL || set_matrix(s, t, kind)) return 0.0;
  for (int i = 0; i < nv; i++) x[i] += 1e-3 * sin(1.0 + 2.0 * i + 0.37 * i * i);
  for (int k = 0; k < MAX_ROUNDS; k++) {
    const double before = rate, length = norm_of(own, nv, x, own->y);
    if (!(length > 0.0) || !isfinite(length)) break;
    for (int i = 0; i < nv; i++) x[i] /= length;
    memset(own->y, 0, (size_t)n * sizeof *own->y);
    pol_matrix_multiply(own->saddle->patterns.coupling, own->matrix, 1.0, x, own->y);
    sign = 0.0;
    for (int i = 0; i < nv; i++) sign += x[i] * own->y[i];
    pol_solver_solve(own->saddle->solver, own->y);
    memcpy(x, own->y, (size_t)nv * sizeof *x);
    rate = norm_of(own, nv, x, own->y);
    if (k > 2 && fabs(rate - before) <= 2e-3 * rate) break;
  }
  const int found = rate > 0.0 && isfinite(rate);
  for (int i = 0; i < nv; i++) x[i] = found ? x[i] / rate : 0.0;
  if (!found || (kind == SPRINGS && sign < 0.0)) return 0.0;
  return own->rate[kind] = kind == SPRINGS ? sqrt(rate) : rate;
}

/* Both rates; returns the one that limits the step more. */
static stiff find_rates(splitting *s, double t)
{
  bounds *own = &s->bounds;
  own->rate[DAMPERS] = own->rate[SPRINGS] = 0.0;
  if (set_equations(s, t)) return DAMPERS;
  find_rate(s, t, DAMPERS);
  find_rate(s, t, SPRINGS);
  const double damper = own->rate[DAMPERS] / own->limit[DAMPERS];
  return own->rate[SPRINGS] / own->limit[SPRINGS] > damper ? SPRINGS : DAMPERS;
}

/* The largest step for them; set by find_rates. */
static double find_limit(const splitting *s, stiff kind)
{
  const bounds *own = &s->bounds;
  return own->rate[kind] > 0.0 ? own->limit[kind] / own->rate[kind] : HUGE_VAL;
}

/* x . dg of the forces that are selected, where positions or velocities change by x. */
static double find_power(splitting *s, double t, stiff kind, unsigned selected)
{
  const double size = 1e-6;
  bounds *own = &s->bounds;
  const instant *at = &s->instants[s->at];
  const double *x = own->x[kind], *q = at->q, *v = own->v;
  double *q_moved = own->moved, *v_moved = own->moved + s->nq, power = 0.0;
  pol_terms out = {.balance = own->y};
  for (int k = 0; k < 2; k++) {
    for (int i = 0; i < s->nv; i++) v_moved[i] = (k ? size : -size) * x[i];
    if (kind == SPRINGS) {
      pol_group_move(&s->dae->group, at->q, v_moved, q_moved);
      q = q_moved;
    } else {
      for (int i = 0; i < s->nv; i++) v_moved[i] += own->v[i];
      v = v_moved;
    }
    const unsigned rest = kind == SPRINGS ? POLI_WITHOUT_COMPLIANT : 0u; /* stable for every h */
    if (poli_splitting_evaluate(s, t, q, v, POL_FORCE | selected | rest, &out)) return 0.0;
    for (int i = 0; i < s->nv; i++) power += (k ? 0.5 : -0.5) / size * x[i] * own->y[i];
  }
  return power;
}

/* Who causes the rate that has been found last: a force, or a state, which returns 1. */
static int name_cause(splitting *s, double t, stiff kind, char *name, size_t size)
{
  const int count = s->bodies->num_forces;
  const double *x = s->bounds.x[kind];
  double most = 0.0;
  int worst = -1, state = -1;
  for (int i = s->nv - s->dae->num_states; i < s->nv; i++)
    if (x[i] * x[i] > 0.5) state = i; /* x has the length 1 */
  if (state >= 0) {
    poli_dae_describe(s->dae, state, name, size);
    return 1;
  }
  const double others = find_power(s, t, kind, POLI_ONLY_FORCE(count));
  for (int k = 0; k < count; k++) {
    const double power = fabs(find_power(s, t, kind, POLI_ONLY_FORCE(k)) - others);
    if (!(power > most)) continue;
    most = power;
    worst = k;
  }
  const char *what = kind == SPRINGS ? "spring" : "damper";
  if (worst >= 0)
    snprintf(name, size, "the %s of force '%s'", what, s->bodies->force_name(worst, s->dae->user));
  else
    snprintf(name, size, "a %s or state", what);
  return 0;
}

/* What to do about a step above the limit. */
static const char *remedy(stiff kind)
{
  return kind == SPRINGS ? "" : "order 2, ";
}

void poli_splitting_advise(splitting *s, pol_diagnostics *d)
{
  char name[96] = "";
  if (!s->bounds.saddle) return;
  const stiff kind = find_rates(s, d->t);
  const double most = find_limit(s, kind);
  if (!(fabs(d->h) > most)) return;
  name_cause(s, d->t, kind, name, sizeof name);
  if (most < 1e-3 * fabs(d->h)) /* what diverges may have any rate */
    snprintf(d->advice, sizeof d->advice, "%s is too stiff for rattle here: use geom1 with rtol",
             name);
  else
    snprintf(d->advice, sizeof d->advice, "%s is too stiff: use %sa step below %.3g s, or geom1",
             name, remedy(kind), most);
}

/* --- soft stops ------------------------------------------------------------------------------- */

/* The largest step for a stop with this gradient g of its coordinate; set_equations first. */
static double find_stop_limit(splitting *s, const poli_soft_stop *stop, const double *g)
{
  bounds *own = &s->bounds;
  double mobility = 0.0;
  memset(own->y, 0, (size_t)own->saddle->n * sizeof *own->y);
  memcpy(own->y, g, (size_t)s->nv * sizeof *g);
  pol_solver_solve(own->saddle->solver, own->y);
  for (int i = 0; i < s->nv; i++) mobility += g[i] * own->y[i];
  if (!(mobility > 0.0) || !isfinite(mobility)) return HUGE_VAL;
  return fmin(own->limit[SPRINGS] / sqrt(stop->stiffness * mobility),
              own->limit[DAMPERS] / (stop->damping * mobility));
}

/* Whether the joint is beyond a limit, or gets there within two steps; the second one since it may
 * be accelerated. */
static int reaches(const poli_soft_stop *stop, double h)
{
  const double way = 2.0 * h * stop->rate;
  return fmin(stop->below, stop->below + way) < 0.0 || fmin(stop->above, stop->above - way) < 0.0;
}

pol_status poli_splitting_meet_stops(splitting *s, double t, double h, pol_diagnostics *d)
{
  bounds *own = &s->bounds;
  const instant *at = &s->instants[s->at];
  double *gradient = own->moved;
  int ready = 0;
  if (s->bodies->num_soft_stops == 0 || !own->saddle) return POL_OK;
  poli_splitting_velocities(s, at->R, at->P, own->v);
  poli_splitting_turn(s, at->R, 0, own->v, own->v);
  const pol_point here = {.t = t, .q = at->q, .v = own->v, .history = s->history};
  for (int i = 0; i < s->bodies->num_soft_stops; i++) {
    poli_soft_stop stop;
    if (s->bodies->soft_stop(i, &here, &stop, NULL, s->dae->user) || !reaches(&stop, h)) continue;
    if (!ready && set_equations(s, t)) return POL_OK;
    ready = 1;
    if (s->bodies->soft_stop(i, &here, &stop, gradient, s->dae->user)) continue;
    const double most = find_stop_limit(s, &stop, gradient);
    if (!(h > most)) continue;
    snprintf(d->where, sizeof d->where, "force '%.100s'", stop.force);
    snprintf(d->message, sizeof d->message,
             "the stop '%.100s' is about to be touched and is too stiff for this step", stop.force);
    snprintf(d->advice, sizeof d->advice,
             "use a step below %.3g s, variable steps (rtol), or geom1; or a softer stop", most);
    return POL_NOT_CONVERGED;
  }
  return POL_OK;
}

/* --- fixed and variable steps ----------------------------------------------------------------- */

/* A step of size h is above the limit. */
static void describe(splitting *s, double t, double h, stiff kind, char *message, size_t size)
{
  const double value = h * s->bounds.rate[kind];
  char name[96] = "", words[64];
  if (name_cause(s, t, kind, name, sizeof name))
    snprintf(words, sizeof words, "h/T = %.3g with its time constant T", value);
  else if (kind == DAMPERS)
    snprintf(words, sizeof words, "h c/m = %.3g with the mass that it moves", value);
  else
    snprintf(words, sizeof words, "h w = %.3g with the frequency w", value);
  snprintf(message, size,
           "%s is too stiff for this step: %s, and %s from %.3g on; use %sa step below %.3g s, or "
           "geom1",
           name, words, kind == DAMPERS ? "base steps backward in time amplify" : "vibrations grow",
           s->bounds.limit[kind], remedy(kind), find_limit(s, kind));
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
  if (!s->bounds.saddle) return;
  const stiff kind = find_rates(s, t);
  if (h > find_limit(s, kind)) describe(s, t, h, kind, message, size);
}

double poli_splitting_largest_step(pol_integrator *integrator, double h, int attempted)
{
  enum { MAX_AGE = 20 };
  const double safety = 0.9, near = 0.3;
  splitting *s = integrator->data;
  bounds *own = &s->bounds;
  if (!own->saddle) return HUGE_VAL;
  s->history = integrator->history;
  if (attempted) { /* rates of forces that are linear hardly change in a step */
    if (!s->bodies->forces_read_velocities) return HUGE_VAL;
    own->age = 0;
    return find_limit(s, find_rates(s, s->steps.t));
  }
  if (own->age++ == 0 || own->age > MAX_AGE || h > near * own->most) {
    own->kind = find_rates(s, integrator->state.t);
    own->most = safety * find_limit(s, own->kind);
    own->age = 1;
  }
  own->limited += h > own->most;
  if (h > own->most && !own->note[0]) {
    char name[96] = "";
    name_cause(s, integrator->state.t, own->kind, name, sizeof name);
    snprintf(own->note, sizeof own->note,
             "%s limits the steps to %.3g s, as larger ones are not stable; %sgeom1 may be faster",
             name, own->most, own->kind == SPRINGS ? "" : "order 2 or ");
  }
  return own->most;
}
