/* The method for a mechanism, where the user leaves it open.
 *
 * rattle needs much less time than the methods of second order where the motion is smooth and no
 * spring or damper is much faster than the motion.  The fastest element follows from the
 * accelerations a(q, v) at rest, by power iteration on their differences along directions x that
 * the constraints allow,
 *
 *     w^2 = largest eigenvalue of da/dq,      c = largest eigenvalue of da/dv
 *
 * at rest, since the velocities of fast rotations are no reason for small steps: free rotations are
 * exact.  With the size h of the steps, given or expected from the tolerances and from the speed u
 * of the motion,
 *
 *     h = 3 tolerance^(1/5)/u  <= end/50,      u^2 = max( w_b^2, |w_b'|, |x_b''|/L )  over all
 * bodies
 *
 * the model is stiff if w h or c h exceed their limits.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "dae/dae.h"
#include "dae/extension.h"
#include "integrators/family.h"
#include "simulation/parts.h"

/* Limits of w h and c h.  Variable steps become smaller where it is necessary, and rattle is so
 * much cheaper that this pays; not if forces depend on velocities, which costs a larger matrix. */
static const double most_fixed = 1.0, most_variable = 15.0, most_implicit = 5.0;

/* What the choice depends on, at the start. */
typedef struct rates {
  double spring, damper; /* w and c, 1/s */
  double speed;          /* u, 1/s */
} rates;

/* A function of expressions that is not smooth, and where it is. */
static const char *find_break(const char *expression)
{
  static const char *const functions[] = {"if",  "abs", "sign", "floor", "ceil",
                                          "min", "max", "mod",  "clamp"};
  for (size_t i = 0; expression && i < sizeof functions / sizeof functions[0]; i++) {
    const size_t length = strlen(functions[i]);
    for (const char *p = expression; (p = strstr(p, functions[i])); p += length) {
      const int begins =
          p == expression || !(strchr("_.", p[-1]) || (p[-1] >= 'a' && p[-1] <= 'z'));
      if (begins && p[length + strspn(p + length, " ")] == '(') return functions[i];
    }
  }
  return NULL;
}

/* Whether a force, variable or state is not smooth, or may not be; the reason. */
static int is_rough(const pol_mechanism *mechanism, char *reason, size_t size)
{
  const char *function = NULL, *name = "";
  for (int i = 0; i < pol_mechanism_num_forces(mechanism) && !function; i++) {
    const pol_force *force = pol_mechanism_force(mechanism, i);
    name = force->name;
    if (force->type == POL_CALLBACK_FORCE) function = "a callback";
    for (int k = 0; k < pol_force_num_expressions(force->type) && !function; k++)
      function = find_break(force->expressions[k]);
  }
  for (int i = 0; i < pol_mechanism_num_variables(mechanism) && !function; i++) {
    name = pol_mechanism_variable(mechanism, i)->name;
    function = find_break(pol_mechanism_variable(mechanism, i)->expression);
  }
  for (int i = 0; i < pol_mechanism_num_states(mechanism) && !function; i++) {
    name = pol_mechanism_state(mechanism, i)->name;
    function = find_break(pol_mechanism_state(mechanism, i)->rate);
  }
  if (function) snprintf(reason, size, "'%.60s' uses %s, which may not be smooth", name, function);
  return function != NULL;
}

/* --- rates ------------------------------------------------------------------------------------ */

typedef struct probe {
  const pol_dae *dae;
  pol_assembler *assembler;
  void *memory;
  double *q, *v, *vd, *lambda; /* consistent, at the start */
  double *rest, *at_rest;      /* velocities of the drives alone, and the accelerations there */
  double *x, *moved, *other;
} probe;

static double norm(const double *x, int n)
{
  double sum = 0.0;
  for (int i = 0; i < n; i++) sum += x[i] * x[i];
  return sqrt(sum);
}

/* The largest eigenvalue of da/dv, or of da/dq, at rest; 0 if it cannot be found. */
static double largest_rate(probe *p, int of_positions)
{
  const int nv = p->dae->group.nv, rounds = 12;
  const double eps = 1e-6;
  double rate = 0.0;
  pol_diagnostics unused;
  for (int i = 0; i < nv; i++) p->x[i] = sin(1.0 + 2.0 * i + 0.37 * i * i);
  for (int k = 0; k < rounds; k++) {
    /* x into the directions that the constraints allow, and of length 1 */
    for (int i = 0; i < nv; i++) p->x[i] += p->rest[i];
    if (pol_assembler_velocity(p->assembler, 0.0, p->q, p->x, NULL, NULL, &unused)) return 0.0;
    for (int i = 0; i < nv; i++) p->x[i] -= p->rest[i];
    const double length = norm(p->x, nv);
    if (!(length > 0.0)) return 0.0;
    for (int i = 0; i < nv; i++) p->x[i] *= eps / length;
    const double *q = p->q, *v = p->rest;
    if (of_positions) {
      pol_group_move(&p->dae->group, p->q, p->x, p->moved);
      q = p->moved;
    } else {
      for (int i = 0; i < nv; i++) p->moved[i] = p->rest[i] + p->x[i];
      v = p->moved;
    }
    if (pol_assembler_acceleration(p->assembler, 0.0, q, v, p->other, p->lambda, &unused))
      return 0.0;
    for (int i = 0; i < nv; i++) p->x[i] = (p->other[i] - p->at_rest[i]) / eps;
    rate = norm(p->x, nv);
  }
  return isfinite(rate) ? rate : 0.0;
}

/* The speed of the motion at the start. */
static double speed_of(const probe *p)
{
  const poli_rigid_bodies *bodies = poli_dae_rigid_bodies(p->dae);
  const double length = poli_dae_length(p->dae);
  double square = 0.0;
  for (int b = 0; b < bodies->count; b++) {
    const poli_rigid_body *body = &bodies->items[b];
    const int turn = body->is_point ? 0 : 3;
    if (body->v >= p->dae->group.nv - p->dae->num_states) continue;
    if (turn) {
      square = fmax(square, pow(norm(p->v + body->v, 3), 2.0));
      square = fmax(square, norm(p->vd + body->v, 3));
    }
    square = fmax(square, norm(p->vd + body->v + turn, body->num_axes) / length);
    square = fmax(square, pow(norm(p->v + body->v + turn, body->num_axes) / length, 2.0));
  }
  return sqrt(square);
}

/* Starts the mechanism in so3xr3 and measures its rates. */
static pol_status measure(const pol_formulation *formulation, rates *found)
{
  const pol_dae *dae = pol_formulation_dae(formulation);
  const int nq = dae->group.nq, nv = dae->group.nv, m = pol_dae_num_constraints(dae);
  const pol_options options = pol_options_default();
  pol_diagnostics unused;
  pol_integrator *integrator = NULL;
  unsigned char *keep = NULL;
  probe p = {.dae = dae};
  poli_arena arena = {0};
  do {
    POLI_TAKE(&arena, p.q, nq);
    POLI_TAKE(&arena, p.v, nv);
    POLI_TAKE(&arena, p.vd, nv);
    POLI_TAKE(&arena, p.lambda, m);
    POLI_TAKE(&arena, p.rest, nv);
    POLI_TAKE(&arena, p.at_rest, nv);
    POLI_TAKE(&arena, p.x, nv);
    POLI_TAKE(&arena, p.other, nv);
    POLI_TAKE(&arena, p.moved, nq + nv);
    POLI_TAKE(&arena, keep, nv);
  } while (poli_arena_again(&arena));
  pol_status status = arena.memory ? POL_OK : POL_NO_MEMORY;
  if (!status) status = pol_integrator_create(&integrator, dae, &options);
  if (!status) {
    pol_formulation_initial(formulation, p.q, p.v, keep);
    status = pol_formulation_assemble(formulation, options.solver, 0.0, p.q, p.v, &unused);
  }
  if (!status) status = pol_integrator_start(integrator, 0.0, p.q, p.v, keep);
  if (!status) {
    const pol_state *now = pol_integrator_state(integrator);
    memcpy(p.q, now->q, (size_t)nq * sizeof *p.q);
    memcpy(p.v, now->v, (size_t)nv * sizeof *p.v);
    memcpy(p.vd, now->vd, (size_t)nv * sizeof *p.vd);
    p.assembler = poli_integrator_assembler(integrator);
    status = pol_assembler_velocity(p.assembler, 0.0, p.q, p.rest, NULL, NULL, &unused);
  }
  if (!status)
    status =
        pol_assembler_acceleration(p.assembler, 0.0, p.q, p.rest, p.at_rest, p.lambda, &unused);
  if (!status)
    *found = (rates){
        .spring = sqrt(largest_rate(&p, 1)), .damper = largest_rate(&p, 0), .speed = speed_of(&p)};
  pol_integrator_free(&integrator);
  free(arena.memory);
  return status;
}

/* --- the choice ------------------------------------------------------------------------------- */

/* Whether the rates allow rattle with these settings; the reason in both cases. */
static int is_slow(const rates *found, const pol_settings *settings, int implicit, char *reason,
                   size_t size)
{
  const pol_control *control = &settings->options.control;
  const double tolerance =
      fmax(control->rtol, fmin(control->atol_rotation, control->atol_translation));
  const double expected = 3.0 * pow(tolerance, 0.2) / fmax(found->speed, 1e-3 / settings->end);
  const double h = settings->variable ? fmin(expected, 0.02 * settings->end) : settings->step;
  const double most = !settings->variable ? most_fixed : implicit ? most_implicit : most_variable;
  const int damped = found->damper > found->spring;
  const double fastest = fmax(found->damper, found->spring);
  snprintf(reason, size, "the fastest %s has a rate of %.3g/s, steps of %.2g s are %s",
           damped ? "damper or state" : "spring", fastest, h,
           settings->variable ? "expected" : "given");
  return fastest * h <= most;
}

pol_status pol_settings_choose(const pol_mechanism *mechanism, int keep_formulation,
                               pol_settings *settings)
{
  pol_options *options = &settings->options;
  pol_options rattle = pol_options_default();
  char reason[120] = "";
  pol_formulation *formulation = NULL;
  int smooth = 0;
  if (strcmp(options->method, "auto") != 0) return POL_OK;
  rattle.method = "rattle";
  rattle.order = options->order != rattle.order ? options->order : settings->variable ? 0 : 4;
  rattle.control = options->control;
  rattle.solver = options->solver;
  rattle.redundant = options->redundant;
  options->method = "geom1";
  /* variable steps become small at a kink, where a high order is of no use; others may jump over a
   * stiff contact */
  const int rough = is_rough(mechanism, reason, sizeof reason);
  if (rough && rattle.order == 0) rattle.order = 4;
  if (keep_formulation && settings->formulation != POL_SO3XR3) {
    snprintf(reason, sizeof reason, "rattle of high order needs so3xr3");
  } else if (!rough || settings->variable) {
    rates found = {0};
    pol_status status = pol_formulation_create(&formulation, mechanism, POL_SO3XR3);
    if (status == POL_NO_MEMORY) return status;
    const pol_dae *dae = status ? NULL : pol_formulation_dae(formulation);
    if (status)
      snprintf(reason, sizeof reason, "so3xr3 does not support this mechanism");
    else if (pol_integrator_supports(dae, &rattle, reason, sizeof reason))
      smooth = 0;
    else if (dae->feedback)
      snprintf(reason, sizeof reason, "forces depend on reactions, such as friction");
    else if ((status = measure(formulation, &found)) != POL_OK)
      snprintf(reason, sizeof reason, "the rates of the motion could not be determined");
    else
      smooth = is_slow(&found, settings, poli_dae_rigid_bodies(dae)->forces_read_velocities, reason,
                       sizeof reason);
    pol_formulation_free(&formulation);
    if (status == POL_NO_MEMORY) return status;
  }
  if (smooth) {
    *options = rattle;
    settings->formulation = POL_SO3XR3;
  } else if (!keep_formulation) {
    settings->formulation = POL_SO3XR3_SPATIAL;
    if (options->sigma == 0.0) options->sigma = options->gamma / (3.0 * options->beta);
  }
  snprintf(settings->choice, sizeof settings->choice, "%s: %s", options->method, reason);
  return POL_OK;
}
