/* Static equilibrium: Newton's method on the group, in load steps.
 *
 * At a configuration q at rest, accelerations a and multipliers lambda follow from
 *
 *     M a + g(q, c, lambda) + B^T lambda = 0,     B a = 0,
 *
 * with first-order states c; q is in equilibrium where a = 0, which includes c' = 0.  An increment
 * w of the configuration, and of the states, solves
 *
 *     [ W + mu M  B^T + F ] [ w       ]   [ M a ]
 *     [ B         0       ] [ dlambda ] = [ 0   ],
 *
 * where W has the columns of K, geometric stiffness included, and for states those of D.  After it
 * the configuration is moved back to the constraints.  With mu = 0 this is Newton's method; mu > 0
 * makes the increments shorter and turns them towards a, the motion of the mechanism released from
 * rest.  G = w^T M a is the work that forces do along w.  An increment is taken if G > 0, and
 * halved until G at its end is above -0.8 times that at its start: the potential, if there is one,
 * decreases.  mu grows by ten where there is no such increment and shrinks where there is; it is
 * relative to the mu at which increments would have the largest size allowed, and thus vanishes
 * with a.
 *
 * In rotating axes velocities and accelerations are those of a steady rotation, and a is relative
 * to it: rotation.c.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "base/arena.h"

static const double most_rotation = 0.5; /* of an increment, rad; displacements: of the length */
enum { MAX_HALVINGS = 12, MAX_LOAD_HALVINGS = 6, MAX_UNRESISTED = 12 };

typedef struct statics {
  pol_analysis *a;
  const pol_dae *dae;
  int nv, m, moving; /* velocities that are no states */
  int has_redundant; /* constraints, at the start */
  poli_terms *terms;
  poli_saddle *rest, *tangent; /* with M, and with W + mu M */
  poli_rotation *rotation;     /* of the axes, rotation.c; NULL: at rest */
  void *memory;
  double *force, *matrix;    /* g: nv; W + mu M: pattern coupling */
  double *x;                 /* nv + m: right-hand side and solution */
  double *w, *accelerations; /* nv */
  double *balance;           /* nv: M a, what forces and reactions leave */
  double *path;              /* nq + nv: the middle of an increment, and forces there */
  double *kept, *start;      /* states: before the increment, and before the load step */
  double residual;           /* relative, of the state */
  double largest;            /* of its forces and reactions, N; torques at the length */
  double mu;                 /* as a fraction of that of the largest increments */
  double reach;   /* factor of the largest displacements: grows while forces hardly change */
  int unresisted; /* increments in turn along which forces stayed as they were */
  int iterations;
  int is_free; /* it failed since nothing resists a motion */
  pol_diagnostics *diagnostics;
} statics;

/* The largest of |x_i|, rotations and displacements apart. */
static void largest_parts(const statics *s, const double *x, double *rotation, double *translation)
{
  const pol_formulation *f = s->a->formulation;
  *rotation = *translation = 0.0;
  for (int i = 0; i < f->num_bodies; i++) {
    const poli_placed_body *body = &f->bodies[i];
    for (int k = 0; k < body->chart->dim; k++) {
      double *part = k < body->chart->num_rotations ? rotation : translation;
      *part = fmax(*part, fabs(x[body->v + k]));
    }
  }
}

static pol_point point_of(const statics *s)
{
  return pol_state_point(&s->a->state);
}

/* Redundant constraints are chosen anew where there were some: a singular position has more of them
 * than others. */
static pol_status choose_rows(const statics *s)
{
  pol_analysis *a = s->a;
  if (!s->has_redundant) return POL_OK;
  pol_assembler_keep_all(a->assembler);
  return pol_assembler_drop_redundant(a->assembler, a->state.t, a->q, NULL, NULL);
}

/* a and lambda of the state, which is at rest, and what is not in balance.  Forces may depend on
 * multipliers: then they are found by iteration. */
static pol_status release(statics *s)
{
  pol_analysis *a = s->a;
  if (s->rotation) poli_rotation_apply(s->rotation);
  const pol_point at = point_of(s);
  pol_terms out = {.balance = s->force,
                   .mass = s->terms->mass,
                   .jacobian = s->terms->jacobian,
                   .feedback = s->terms->feedback};
  const unsigned want = POL_FORCE | POL_MASS | POL_JACOBIAN |
                        (s->rotation ? (unsigned)POL_INERTIA : 0u) |
                        (s->terms->feedback ? (unsigned)POL_FEEDBACK : 0u);
  for (int k = 0; k < (s->terms->feedback ? 50 : 1); k++) {
    pol_status status = poli_dae_evaluate(s->dae, &at, want, &out, s->terms->scratch);
    if (status && s->diagnostics) poli_dae_blame(s->dae, s->terms->scratch, s->diagnostics);
    if (status) return status;
    poli_saddle_set_kkt(s->rest, s->terms->mass, s->terms->jacobian);
    if (s->terms->feedback) poli_saddle_add_feedback(s->rest, s->terms->feedback);
    poli_saddle_drop(s->rest, pol_assembler_dropped(a->assembler));
    status = pol_solver_refactor(s->rest->solver, s->rest->values);
    if (status) return status;
    memset(s->x, 0, (size_t)(s->nv + s->m) * sizeof *s->x);
    for (int i = 0; i < s->nv; i++) s->x[i] = -s->force[i];
    if (s->terms->feedback)
      pol_matrix_multiply(s->terms->patterns.feedback, s->terms->feedback, 1.0, a->lambda, s->x);
    pol_solver_solve(s->rest->solver, s->x);
    double change = 0.0, size = 0.0;
    for (int i = 0; i < s->m; i++) {
      change = fmax(change, fabs(s->x[s->nv + i] - a->lambda[i]));
      size = fmax(size, fabs(s->x[s->nv + i]));
      a->lambda[i] = s->x[s->nv + i];
    }
    if (change <= 1e-13 * size) break;
  }
  memcpy(s->accelerations, s->x, (size_t)s->nv * sizeof *s->x);
  memset(s->balance, 0, (size_t)s->nv * sizeof *s->balance);
  pol_matrix_multiply(s->terms->patterns.coupling, s->terms->mass, 1.0, s->accelerations,
                      s->balance);

  /* compared with the largest force, and with its moment at the length of the model */
  double torque, force, left_torque, left_force;
  largest_parts(s, s->force, &torque, &force);
  largest_parts(s, s->balance, &left_torque, &left_force);
  for (int i = 0; i < s->moving; i++)
    if (!isfinite(s->balance[i])) return POL_NOT_FINITE;
  /* reactions on a body are of the size of its forces; those inside a loop may be larger */
  memset(s->x, 0, (size_t)s->nv * sizeof *s->x);
  pol_matrix_multiply_transposed(s->terms->patterns.constraint, s->terms->jacobian, 1.0, a->lambda,
                                 s->x);
  double reaction_torque, reaction;
  largest_parts(s, s->x, &reaction_torque, &reaction);
  force = fmax(force, reaction);
  /* a weight that a spring carries is not in either */
  double gravity[3];
  pol_mechanism_gravity(a->mechanism, gravity);
  const double g =
      sqrt(gravity[0] * gravity[0] + gravity[1] * gravity[1] + gravity[2] * gravity[2]);
  for (int i = 0; i < a->formulation->num_bodies; i++)
    force = fmax(force, a->formulation->bodies[i].body->mass * g);
  torque = fmax(fmax(torque, reaction_torque), a->length * force);
  force = fmax(force, torque / a->length);
  s->largest = force;
  s->residual = torque > 0.0 ? fmax(left_torque / torque, left_force / force) : 0.0;
  return POL_OK;
}

/* The increment with this mu.  POL_SINGULAR if there is none. */
static pol_status find_increment(statics *s, double mu)
{
  const pol_point at = point_of(s);
  pol_status status = poli_terms_evaluate(s->terms, &at, s->diagnostics);
  if (status) return status;
  if (s->rotation) poli_rotation_add_stiffness(s->rotation, s->terms);
  const pol_pattern *coupling = s->terms->patterns.coupling;
  for (int j = 0; j < s->nv; j++)
    for (int e = coupling->start[j]; e < coupling->start[j + 1]; e++)
      s->matrix[e] =
          (j < s->moving ? s->terms->stiffness[e] : s->terms->damping[e]) + mu * s->terms->mass[e];
  poli_saddle_set_kkt(s->tangent, s->matrix, s->terms->jacobian);
  if (s->terms->feedback) poli_saddle_add_feedback(s->tangent, s->terms->feedback);
  poli_saddle_drop(s->tangent, pol_assembler_dropped(s->a->assembler));
  status = pol_solver_refactor(s->tangent->solver, s->tangent->values);
  if (status) return status;
  memset(s->x, 0, (size_t)(s->nv + s->m) * sizeof *s->x);
  memcpy(s->x, s->balance, (size_t)s->nv * sizeof *s->x);
  pol_solver_solve(s->tangent->solver, s->x);
  memcpy(s->w, s->x, (size_t)s->nv * sizeof *s->x);
  for (int i = 0; i < s->nv; i++)
    if (!isfinite(s->w[i])) return POL_SINGULAR;
  return POL_OK;
}

static double work_along(const statics *s)
{
  double sum = 0.0;
  for (int i = 0; i < s->moving; i++) sum += s->w[i] * s->balance[i];
  return sum;
}

/* Copies the state to `kept`, or back from it. */
static void copy_state(const statics *s, double *kept, int back)
{
  const pol_analysis *a = s->a;
  double *const its[] = {a->q, a->v, a->lambda, a->history};
  const size_t sizes[] = {(size_t)s->dae->group.nq, (size_t)s->nv, (size_t)s->m,
                          s->dae->history_size};
  for (int i = 0; i < 4; kept += sizes[i++])
    if (sizes[i] > 0) memcpy(back ? its[i] : kept, back ? kept : its[i], sizes[i] * sizeof *kept);
}

/* Moves from the remembered state by `part` of the increment, back to the constraints. */
static pol_status move(statics *s, double part)
{
  pol_analysis *a = s->a;
  copy_state(s, s->kept, 1);
  for (int i = 0; i < s->nv; i++) s->x[i] = i < s->moving ? part * s->w[i] : 0.0;
  /* rolling: the increment that the constraints of the middle allow, so that the path is right to
   * second order */
  if (s->dae->num_nonholonomic > 0) {
    double *middle = s->path, *f = middle + s->dae->group.nq;
    for (int i = 0; i < s->nv; i++) f[i] = 0.5 * s->x[i];
    pol_group_move(&s->dae->group, a->q, f, middle);
    memset(f, 0, (size_t)s->nv * sizeof *f);
    pol_matrix_multiply(s->terms->patterns.coupling, s->terms->mass, 1.0, s->x, f);
    const pol_status rolled =
        poli_assembler_response(a->assembler, a->state.t, middle, f, s->x, NULL);
    if (rolled) return rolled;
  }
  pol_group_move(&s->dae->group, a->q, s->x, a->q);
  for (int i = s->moving; i < s->nv; i++) a->v[i] += part * s->w[i];
  pol_status status = pol_assembler_position(a->assembler, a->state.t, a->q, NULL);
  if (status) return status;
  if (s->dae->update_history) s->dae->update_history(a->state.t, a->q, a->history, s->dae->user);
  status = choose_rows(s);
  return status ? status : release(s);
}

/* An increment as large as allowed in all directions, as a fraction of this one. */
static double allowed_part(const statics *s)
{
  double rotation, translation;
  largest_parts(s, s->w, &rotation, &translation);
  const double size = fmax(rotation / most_rotation, translation / (0.5 * s->reach * s->a->length));
  return size > 1.0 ? 1.0 / size : 1.0;
}

/* Whether the increment is within round-off. */
static int is_negligible(const statics *s)
{
  double rotation, translation, states = 0.0, change = 0.0;
  largest_parts(s, s->w, &rotation, &translation);
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
static pol_status fail_free(statics *s)
{
  pol_diagnostics *d = s->diagnostics;
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
static int is_downhill(const statics *s, double before, double after)
{
  return s->dae->num_states > 0 || after >= -0.8 * before || s->residual <= 1e-13;
}

/* Whether all forces are the round-off of those that cancel within elements, such as a spring and
 * its actuator: of stiffness times position, and of states times their effect. */
static int has_only_roundoff(const statics *s)
{
  const pol_formulation *f = s->a->formulation;
  const pol_pattern *coupling = s->terms->patterns.coupling;
  double rotation, translation;
  memset(s->x, 0, (size_t)s->nv * sizeof *s->x);
  for (int i = 0; i < f->num_bodies; i++) {
    const poli_placed_body *body = &f->bodies[i];
    const double *r = s->a->q + body->q + (body->chart->num_rotations ? 4 : 0);
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
  largest_parts(s, s->x, &rotation, &translation);
  return s->largest <= 16.0 * DBL_EPSILON * fmax(translation, rotation / s->a->length);
}

/* Takes an increment that is negligible beside the model, although forces are left without balance:
 * stiff springs need it.  Done when it does not halve what is left, which is then the round-off of
 * the positions. */
static pol_status polish(statics *s, int *done)
{
  const double before = s->residual;
  const pol_status moved = move(s, 1.0);
  pol_status status = POL_OK;
  *done = moved || !(s->residual < 0.5 * before);
  if (moved || !(s->residual < before)) {
    copy_state(s, s->kept, 1);
    status = choose_rows(s);
    if (!status) status = release(s);
  }
  if (!status && *done && has_only_roundoff(s)) s->residual = 0.0;
  return status;
}

/* One increment with a mu that gives one. */
static pol_status improve(statics *s, int *done)
{
  double rotation, translation;
  largest_parts(s, s->accelerations, &rotation, &translation);
  const double unit = fmax(rotation / most_rotation, translation / (0.5 * s->a->length));
  copy_state(s, s->kept, 0);
  for (int attempt = 0; attempt < 40; attempt++) {
    const pol_status found = find_increment(s, s->mu * unit);
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
      if (move(s, part)) continue;
      const double after = work_along(s);
      if (!is_downhill(s, before, after)) continue;
      s->unresisted = s->mu > 0.0 && after > 0.99 * before ? s->unresisted + 1 : 0;
      s->reach = k == 0 && s->mu == 0.0 && after > 0.5 * before ? 2.0 * s->reach : 1.0;
      s->mu = s->mu > 1e-5 ? 0.1 * s->mu : 0.0;
      return POL_OK;
    }
    copy_state(s, s->kept, 1);
    pol_status status = choose_rows(s);
    if (!status) status = release(s);
    if (status) return status;
    s->mu = s->mu > 0.0 ? 10.0 * s->mu : 1e-3;
  }
  return POL_NOT_CONVERGED;
}

/* Equilibrium at the present loads, from the present configuration. */
static pol_status equilibrate(statics *s, int max_iterations)
{
  int done = 0, stalled = 0;
  double best = DBL_MAX;
  s->mu = 0.0;
  s->reach = 1.0;
  s->unresisted = 0;
  pol_status status = release(s);
  for (int k = 0; k < max_iterations && !status && !done; k++) {
    if (s->residual == 0.0 && s->dae->num_states == 0) return POL_OK;
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
  if (status == POL_NOT_CONVERGED) {
    const int most = poli_analysis_largest(s->a, s->accelerations, NULL);
    if (s->diagnostics && most >= 0)
      poli_analysis_name_motion(s->a, most, s->diagnostics->where, sizeof s->diagnostics->where);
    poli_analysis_fail(s->a, status, "no equilibrium was found: forces are left without balance",
                       "more load steps, or initial values closer to the equilibrium",
                       s->diagnostics);
  }
  return status;
}

static pol_status create(statics *s, pol_analysis *a)
{
  s->a = a;
  s->dae = a->dae;
  s->nv = a->dae->group.nv;
  s->m = pol_dae_num_constraints(a->dae);
  s->moving = poli_analysis_first_state(a);
  pol_analysis_dropped(a, &s->has_redundant);
  pol_status status = poli_terms_create(&s->terms, s->dae);
  if (!status) status = poli_saddle_create(&s->rest, s->dae, 0, POL_SOLVER_AUTO);
  if (!status) status = poli_saddle_create(&s->tangent, s->dae, 0, POL_SOLVER_AUTO);
  if (status) return status;
  poli_arena arena = {0};
  do {
    POLI_TAKE(&arena, s->matrix, pol_pattern_nonzeros(s->terms->patterns.coupling));
    POLI_TAKE_EACH(&arena, s->nv, &s->force, &s->w, &s->accelerations, &s->balance);
    POLI_TAKE(&arena, s->x, s->nv + s->m);
    POLI_TAKE(&arena, s->path, s->dae->group.nq + s->nv);
    POLI_TAKE_EACH(&arena, s->dae->group.nq + s->nv + s->m + (int)s->dae->history_size, &s->kept,
                   &s->start);
  } while (poli_arena_again(&arena));
  s->memory = arena.memory;
  return s->memory ? POL_OK : POL_NO_MEMORY;
}

pol_static_options pol_static_options_default(void)
{
  return (pol_static_options){.steps = 1, .max_iterations = 200};
}

/* Raises the loads to all of their values, with smaller steps where one fails; the state is that of
 * the last load with an equilibrium. */
static pol_status raise_loads(statics *s, const pol_static_options *options,
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
    copy_state(s, s->start, 0);
    poli_formulation_scale_loads(a->formulation, next, a->forces);
    if (s->rotation) s->rotation->factor = sqrt(next); /* centrifugal forces grow as loads do */
    const pol_status status = equilibrate(s, options->max_iterations);
    if (status) {
      copy_state(s, s->start, 1);
      choose_rows(s);
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
  statics s = {.moving = 0};
  if (!options) options = &usual;
  if (!report) report = &unused;
  *report = (pol_static_report){0};
  pol_status status = POL_OK;
  const double *f = options->rotation;
  const int is_rotating = f[0] != 0.0 || f[1] != 0.0 || f[2] != 0.0;
  if (options->steps < 1 || options->max_iterations < 1)
    status = poli_analysis_fail(analysis, POL_BAD_ARGUMENT,
                                "steps and max_iterations must be at least 1", NULL, &own);
  if (!status) status = create(&s, analysis);
  if (!status) {
    memset(analysis->v, 0, (size_t)s.moving * sizeof *analysis->v);
    memset(analysis->vd, 0, (size_t)s.nv * sizeof *analysis->vd);
    if (is_rotating)
      status = poli_rotation_create(&s.rotation, analysis, options->rotation, options->centre,
                                    s.terms->patterns.coupling, s.terms->patterns.constraint, &own);
    if (!status) status = raise_loads(&s, options, report, &own);
    poli_formulation_scale_loads(analysis->formulation, 1.0, analysis->forces);
  }
  if (!status && s.rotation) status = poli_rotation_check(s.rotation, &own);
  report->iterations = s.iterations;
  if (!status) status = poli_stability(analysis, s.rotation, report, &own);
  poli_terms_free(&s.terms);
  poli_saddle_free(&s.rest);
  poli_saddle_free(&s.tangent);
  poli_rotation_free(&s.rotation);
  free(s.memory);
  if (status) poli_analysis_fail(analysis, status, NULL, NULL, &own);
  if (status && diagnostics) *diagnostics = own;
  return status;
}
