/* Static equilibrium: Newton's method on the group, in load steps; statics.h has its equations.
 *
 * With mu = 0 the increments are those of Newton's method; mu > 0 makes them shorter and turns them
 * towards a, the motion of the mechanism released from rest.  G = w^T M a is the work that forces
 * do along w.  An increment is taken if G > 0, and halved until G at its end is above -0.8 times
 * that at its start: the potential, if there is one, decreases.  mu grows by ten where there is no
 * such increment and shrinks where there is; it is relative to the mu at which increments would
 * have the largest size allowed, and thus vanishes with a.
 *
 * Beams are tried first with whole increments, their moments and forces being unknowns (statics.h);
 * the potential is no measure of those.
 *
 * In rotating axes velocities and accelerations are those of a steady rotation, and a is relative
 * to it: rotation.c.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statics.h"

static const double most_rotation = 0.5; /* of an increment, rad; displacements: of the length */
enum { MAX_HALVINGS = 12, MAX_LOAD_HALVINGS = 6, MAX_UNRESISTED = 12, MAX_MIXED = 25 };

static double work_along(const poli_statics *s)
{
  double sum = 0.0;
  for (int i = 0; i < s->moving; i++) sum += s->w[i] * s->balance[i];
  return sum;
}

/* An increment as large as allowed in all directions, as a fraction of this one. */
static double allowed_part(const poli_statics *s)
{
  double rotation, translation;
  poli_statics_largest(s, s->w, &rotation, &translation);
  const double size = fmax(rotation / most_rotation, translation / (0.5 * s->reach * s->a->length));
  return size > 1.0 ? 1.0 / size : 1.0;
}

/* Whether the increment is within round-off. */
static int is_negligible(const poli_statics *s)
{
  double rotation, translation, states = 0.0, change = 0.0;
  poli_statics_largest(s, s->w, &rotation, &translation);
  for (int i = s->moving; i < s->nv; i++) {
    states = fmax(states, fabs(s->a->v[i]));
    change = fmax(change, fabs(s->w[i]));
  }
  return rotation <= 1e-12 && translation <= 1e-12 * s->a->length && change <= 1e-12 * states;
}

static int has_friction(const pol_mechanism *mechanism)
{
  for (int k = 0; k < pol_mechanism_num_forces(mechanism); k++)
    if (pol_mechanism_force(mechanism, k)->type == POL_JOINT_FRICTION) return 1;
  return 0;
}

/* What has changed the most if nothing resists. */
static pol_status fail_free(poli_statics *s)
{
  pol_diagnostics *d = s->diagnostics;
  if (poli_statics_blames_beams(s)) return POL_NOT_CONVERGED;
  s->is_free = 1;
  const int most = poli_analysis_largest(s->a, s->accelerations, NULL);
  if (d && most >= 0) {
    d->equation = most;
    poli_analysis_name_motion(s->a, most, d->where, sizeof d->where);
  }
  return poli_analysis_fail(
      s->a, POL_NOT_CONVERGED, "there is no equilibrium: nothing resists this motion",
      has_friction(s->a->mechanism) ? "friction does not hold in statics: add a spring, a joint or "
                                      "another force that holds it"
                                    : "add a spring, a joint or another force that holds it",
      d);
}

/* Whether a part of the increment may be taken: it moves downhill.  With first-order states, whose
 * rates do no work, Newton's method goes its own way. */
static int is_downhill(const poli_statics *s, double before, double after)
{
  return s->dae->num_states > 0 || after >= -0.8 * before || s->residual <= 1e-13;
}

/* Whether all forces are the round-off of those that cancel within elements, such as a spring and
 * its actuator: of stiffness times position, and of states times their effect. */
static int has_only_roundoff(const poli_statics *s)
{
  const pol_formulation *f = s->a->formulation;
  const pol_pattern *coupling = s->terms->patterns.coupling;
  double rotation, translation;
  memset(s->x, 0, (size_t)s->nv * sizeof *s->x);
  for (int i = 0; i < f->num_bodies; i++) {
    const poli_placed_body *body = &f->bodies[i];
    const double *r = s->a->q + body->q + (body->chart->num_rotations ? 4 : 0);
    if (body->reference != i) continue;
    for (int k = 0; k < body->chart->dim; k++) {
      const double size =
          k < body->chart->num_rotations ? 1.0 : sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
      for (int e = coupling->start[body->v + k]; e < coupling->start[body->v + k + 1]; e++)
        s->x[coupling->row[e]] += fabs(s->terms->stiffness[e]) * size;
    }
  }
  for (int j = s->moving; j < s->nv; j++)
    for (int e = coupling->start[j]; e < coupling->start[j + 1]; e++)
      s->x[coupling->row[e]] += fabs(s->terms->damping[e] * s->a->v[j]);
  poli_statics_largest(s, s->x, &rotation, &translation);
  return s->largest <= 16.0 * DBL_EPSILON * fmax(translation, rotation / s->a->length);
}

/* Takes an increment that is negligible beside the model, although forces are left without balance:
 * stiff springs need it.  Done when it does not halve what is left, which is then the round-off of
 * the positions. */
static pol_status polish(poli_statics *s, int *done)
{
  const double before = s->residual;
  const pol_status moved = poli_statics_move(s, 1.0);
  pol_status status = POL_OK;
  *done = moved || !(s->residual < 0.5 * before);
  if (moved || !(s->residual < before)) {
    poli_statics_copy(s, s->kept, 1);
    status = poli_statics_choose_rows(s);
    if (!status) status = poli_statics_release(s);
  }
  if (!status && *done && has_only_roundoff(s)) s->residual = 0.0;
  return status;
}

/* One increment with a mu that gives one. */
static pol_status improve(poli_statics *s, int *done)
{
  double rotation, translation;
  poli_statics_largest(s, s->accelerations, &rotation, &translation);
  const double unit = fmax(rotation / most_rotation, translation / (0.5 * s->a->length));
  poli_statics_copy(s, s->kept, 0);
  for (int attempt = 0; attempt < 40; attempt++) {
    const pol_status found = poli_statics_increment(s, s->mu * unit);
    if (found && found != POL_SINGULAR) return found;
    const double before = found ? 0.0 : work_along(s);
    const int is_uphill = found || (s->dae->num_states == 0 && !(before > 0.0));
    /* in balance, to round-off: the next increment is round-off too, or nothing resists */
    const int is_small = !is_uphill && is_negligible(s);
    *done = s->mu == 0.0 && s->residual <= 1e-12 && (is_uphill || is_small);
    if (*done) return POL_OK;
    if (s->mu == 0.0 && is_small) return polish(s, done);
    double part = allowed_part(s);
    for (int k = 0; k < MAX_HALVINGS && !is_uphill; k++, part *= 0.5) {
      if (poli_statics_move(s, part)) continue;
      const double after = work_along(s);
      if (!is_downhill(s, before, after)) continue;
      s->unresisted = s->mu > 0.0 && after > 0.99 * before ? s->unresisted + 1 : 0;
      s->reach = k == 0 && s->mu == 0.0 && after > 0.5 * before ? 2.0 * s->reach : 1.0;
      s->mu = s->mu > 1e-5 ? 0.1 * s->mu : 0.0;
      return POL_OK;
    }
    poli_statics_copy(s, s->kept, 1);
    pol_status status = poli_statics_choose_rows(s);
    if (!status) status = poli_statics_release(s);
    if (status) return status;
    s->mu = s->mu > 0.0 ? 10.0 * s->mu : 1e-3;
  }
  return POL_NOT_CONVERGED;
}

/* Whole increments with the moments and forces of beams as unknowns, until they are small.  Where
 * one is uphill, as on the way to an unstable equilibrium, or they do not become small, the state
 * is that of the start. */
static pol_status approach_with_beams(poli_statics *s, int max_iterations)
{
  const int iterations = s->iterations;
  pol_status status = POL_OK;
  int is_near = 0;
  poli_statics_mix(s);
  for (int k = 0; k < MAX_MIXED && k < max_iterations && !is_near; k++) {
    poli_statics_copy(s, s->kept, 0);
    status = poli_statics_increment(s, 0.0);
    if (status || !(work_along(s) > 0.0)) break;
    const double part = allowed_part(s);
    poli_statics_extrapolate(s, part);
    status = poli_statics_move(s, part);
    if (status) break;
    is_near = poli_statics_product(s, s->w, s->w) < 1e-14;
    s->iterations++;
  }
  poli_statics_unmix(s);
  if (is_near || status < 0) return status;
  s->iterations = iterations;
  poli_statics_copy(s, s->start, 1);
  status = poli_statics_choose_rows(s);
  return status ? status : poli_statics_release(s);
}

pol_status poli_statics_equilibrate(poli_statics *s, int max_iterations)
{
  int done = 0, stalled = 0;
  double best = DBL_MAX;
  s->mu = 0.0;
  s->reach = 1.0;
  s->unresisted = 0;
  poli_statics_copy(s, s->start, 0);
  pol_status status = poli_statics_release(s);
  if (!status && s->num_beams > 0 && s->dae->num_states == 0 && s->residual > 1e-12)
    status = approach_with_beams(s, max_iterations);
  for (int k = 0; k < max_iterations && !status && !done; k++) {
    if (s->residual == 0.0 && s->dae->num_states == 0) return poli_statics_check_beams(s);
    status = improve(s, &done);
    if (!status && !done) s->iterations++;
    s->diagnostics->iteration = k + 1;
    s->diagnostics->residual = s->residual / 1e-9;
    if (s->unresisted >= MAX_UNRESISTED) return fail_free(s);
    /* round-off: no progress any more where it is small enough */
    stalled = s->residual < 0.5 * best ? 0 : stalled + 1;
    best = fmin(best, s->residual);
    if (stalled >= (s->dae->num_states > 0 ? 10 : 3) && s->residual < 1e-11) done = 1;
  }
  if (status == POL_NOT_CONVERGED && s->residual <= 1e-10) status = POL_OK;
  if (!status && !done && s->residual > 1e-9) status = POL_NOT_CONVERGED;
  if (status == POL_NOT_CONVERGED && !poli_statics_blames_beams(s)) {
    const int most = poli_analysis_largest(s->a, s->accelerations, NULL);
    if (s->diagnostics && most >= 0)
      poli_analysis_name_motion(s->a, most, s->diagnostics->where, sizeof s->diagnostics->where);
    poli_analysis_fail(s->a, status, "no equilibrium was found: forces are left without balance",
                       "more load steps, or initial values closer to the equilibrium",
                       s->diagnostics);
  }
  return status ? status : poli_statics_check_beams(s);
}

pol_static_options pol_static_options_default(void)
{
  return (pol_static_options){.steps = 1, .max_iterations = 200};
}

/* Raises the loads to all of their values, with smaller steps where one fails; the state is that of
 * the last load with an equilibrium. */
static pol_status raise_loads(poli_statics *s, const pol_static_options *options,
                              pol_static_report *report, pol_diagnostics *diagnostics)
{
  pol_analysis *a = s->a;
  double load = 0.0, step = 1.0 / options->steps;
  const double least = ldexp(step, -MAX_LOAD_HALVINGS);
  while (load < 1.0) {
    const double next = load + step > 1.0 - 1e-9 ? 1.0 : load + step;
    *diagnostics =
        (pol_diagnostics){.equation = -1, .t = a->state.t, .step = report->load_steps + 1};
    s->diagnostics = diagnostics;
    poli_formulation_scale_loads(a->formulation, next, a->forces);
    if (s->rotation) s->rotation->factor = sqrt(next); /* centrifugal forces grow as loads do */
    const pol_status status = poli_statics_equilibrate(s, options->max_iterations);
    if (status) {
      poli_statics_copy(s, s->start, 1);
      poli_statics_choose_rows(s);
      step *= 0.5;
      if (status > 0 && !s->is_free && step > 0.9 * least) continue;
      return poli_analysis_fail(a, status, NULL, NULL, diagnostics);
    }
    load = next;
    report->load_steps++;
    report->residual = s->residual;
    if (!s->rotation) memset(a->vd, 0, (size_t)s->nv * sizeof *a->vd);
    if (options->on_step && options->on_step(a, load, options->user)) return POL_CANCELLED;
  }
  return POL_OK;
}

pol_status pol_analysis_equilibrium(pol_analysis *analysis, const pol_static_options *options,
                                    pol_static_report *report, pol_diagnostics *diagnostics)
{
  const pol_static_options usual = pol_static_options_default();
  pol_static_report unused;
  pol_diagnostics own = {.equation = -1, .t = analysis->state.t};
  poli_statics s = {.moving = 0};
  if (!options) options = &usual;
  if (!report) report = &unused;
  *report = (pol_static_report){0};
  pol_status status = POL_OK;
  const double *f = options->rotation;
  const int is_rotating = f[0] != 0.0 || f[1] != 0.0 || f[2] != 0.0;
  if (options->steps < 1 || options->max_iterations < 1)
    status = poli_analysis_fail(analysis, POL_BAD_ARGUMENT,
                                "steps and max_iterations must be at least 1", NULL, &own);
  if (!status) status = poli_statics_create(&s, analysis);
  if (!status) {
    if (is_rotating)
      status = poli_rotation_create(&s.rotation, analysis, options->rotation, options->centre,
                                    s.terms->patterns.coupling, s.terms->patterns.constraint, &own);
    if (!status) status = raise_loads(&s, options, report, &own);
    poli_formulation_scale_loads(analysis->formulation, 1.0, analysis->forces);
  }
  if (!status && s.rotation) status = poli_rotation_check(s.rotation, &own);
  report->iterations = s.iterations;
  if (!status) status = poli_stability(analysis, s.rotation, report, NULL, &own);
  poli_statics_free(&s);
  if (status) poli_analysis_fail(analysis, status, NULL, NULL, &own);
  if (status && diagnostics) *diagnostics = own;
  return status;
}
