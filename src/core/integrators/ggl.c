/* Variational and energy-momentum methods for holonomic constraints and a constant mass matrix, and
 * for one that depends on q where the model gives the equations of a step (dae/step_equations.h):
 * Kinon/Betsch/Schneider 2023 (vi-s, vi-a, vi-b, em, from a variational principle with the
 * constraints on position and velocity level, after Gear/Gupta/Leimkuhler), Gonzalez 1999 (em-g),
 * and for comparison the midpoint rule and rattle (Andersen 1983).  One-step methods: each step may
 * have its own size.
 *
 * Here are life cycle and the step; ggl_equations.c has the equations and the table of the methods.
 */
#include "integrators/ggl.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/rule.h"
#include "dae/assembler.h"
#include "integrators/family.h"

/* --- rules ------------------------------------------------------------------------------------ */

static pol_status validate(const pol_options *options, const void *variant, char *message,
                           size_t size)
{
  const poli_scheme *scheme = variant;
  double theta = options->theta, vartheta = options->vartheta;
  if (!isnan(theta) && scheme->only_theta && theta != scheme->theta)
    return poli_broken_rule("theta must be 1/2 in vi-a: other values amplify the components of q "
                            "and p normal to the constraints in each step",
                            message, size);
  if (!isnan(theta) && scheme->theta > 0.0 && !(theta >= 0.0 && theta <= 1.0))
    return poli_broken_rule("theta must be from 0 to 1", message, size);
  if (!isnan(vartheta) && scheme->vartheta > 0.0 && !(vartheta >= 0.0 && vartheta < 1.0))
    return poli_broken_rule("vartheta must be at least 0 and below 1: with 1 the equations are "
                            "singular",
                            message, size);
  if (options->published.newton == POL_PUBLISHED_NEWTON_PLAIN_MODIFIED)
    return poli_broken_rule(
        "published.newton must not be plain-modified: this requires a generalized-alpha method",
        message, size);
  if (options->guess < POL_GUESS_ADVANCED || options->guess > POL_GUESS_SIMPLE)
    return poli_broken_rule("guess must be advanced or simple", message, size);
  return POL_OK;
}

static void warn(const pol_options *options, const void *variant, char *message, size_t size)
{
  const poli_scheme *scheme = variant;
  if (scheme->vartheta > 0.0 && options->vartheta > 0.5)
    snprintf(message, size, "vartheta is above 1/2: multipliers and momenta of vi-b are unstable");
}

static pol_status supports(const pol_dae *dae, const pol_options *options, const void *variant,
                           char *message, size_t size)
{
  if (dae->extension && dae->extension->not_rigid_bodies && strcmp(options->method, "rattle") == 0)
    return poli_broken_rule(dae->extension->not_rigid_bodies, message, size);
  for (int f = 0; f < dae->group.num_factors; f++) {
    if (dae->group.factors[f].kind == POL_REAL) continue;
    if (strcmp(options->method, "rattle") == 0)
      return poli_broken_rule("the method requires coordinates of a vector space, or rigid bodies "
                              "in so3xr3, whose motion does not depend on the formulation: use "
                              "so3xr3, or directors",
                              message, size);
    return poli_broken_rule("the method requires coordinates of a vector space, not of a Lie "
                            "group: use directors or point masses; with vi-a, em, em-g and "
                            "midpoint euler-parameters",
                            message, size);
  }
  if (dae->num_states > 0)
    return poli_broken_rule("the method does not support first-order states", message, size);
  if (dae->num_nonholonomic > 0)
    return poli_broken_rule("the method supports holonomic constraints only", message, size);
  if (strcmp(options->method, "rattle") == 0 && options->order != 2)
    return poli_broken_rule(
        "order must be 2 in these coordinates: rattle of higher order needs a Lie "
        "group, such as so3xr3",
        message, size);
  if (dae->feedback)
    return poli_broken_rule("the method does not support forces that depend on reactions, such as "
                            "friction",
                            message, size);
  const poli_scheme *scheme = variant;
  if (scheme->discrete && dae->extension && dae->extension->not_conserved)
    return poli_broken_rule(dae->extension->not_conserved, message, size);
  /* a mass matrix that depends on q */
  char rule[320];
  if (dae->constant_mass || (scheme->varying_mass && poli_dae_step_equations(dae))) return POL_OK;
  if (!scheme->varying_mass)
    return poli_broken_rule("the method requires a constant mass matrix, as of directors or point "
                            "masses; with euler-parameters use vi-a, em, em-g or midpoint",
                            message, size);
  if (!dae->extension || !dae->extension->step_equations.missing)
    return poli_broken_rule("the method requires a constant mass matrix, as of directors or point "
                            "masses, or euler-parameters",
                            message, size);
  snprintf(rule, sizeof rule, "the method maps euler-parameters to directors, and %s",
           dae->extension->step_equations.missing);
  return poli_broken_rule(rule, message, size);
}

/* --- life cycle ------------------------------------------------------------------------------- */

static void destroy(void *data)
{
  poli_ggl *s = data;
  poli_newton_free(&s->newton);
  poli_blocks_free(&s->blocks);
  free(s->memory);
  free(s);
}

/* All arrays in one block of memory. */
static pol_status allocate(poli_ggl *s)
{
  const poli_dae_patterns *patterns = &s->blocks->saddle->patterns;
  const int nv = s->nv, m = s->m, n = s->blocks->n;
  const int coupling = pol_pattern_nonzeros(patterns->coupling);
  const int constraint = pol_pattern_nonzeros(patterns->constraint);
  const int square = s->equations ? coupling : 0, rows = s->equations ? constraint : 0;
  size_t scratch = s->dae->scratch_size;
  if (s->equations && s->equations->scratch_size > scratch) scratch = s->equations->scratch_size;
  poli_step_terms *step = &s->step_terms;
  poli_arena arena = {0};
  do {
    POLI_TAKE_EACH(&arena, nv, &s->now.q, &s->next.q, &s->now.v, &s->next.v, &s->now.p, &s->next.p,
                   &s->now.vd, &s->next.vd, &s->q_between, &s->q_constraint, &s->mean_v, &s->zero,
                   &s->force, &s->start_force, &s->momentum);
    POLI_TAKE_EACH(&arena, m, &s->now.lambda, &s->next.lambda, &s->position, &s->velocity);
    POLI_TAKE_EACH(&arena, n, &s->now.x, &s->next.x, &s->z);
    POLI_TAKE_EACH(&arena, coupling, &s->mass, &s->stiffness, &s->damping);
    POLI_TAKE_EACH(&arena, constraint, &s->jacobian, &s->curvature, &s->old_jacobian);
    POLI_TAKE(&arena, s->scratch, scratch);
    /* the matrices of the step equations, contiguous: they are set to zero together */
    POLI_TAKE_EACH(&arena, square, &step->kinematic_a, &step->kinematic_b, &step->balance_a,
                   &step->balance_b);
    POLI_TAKE_EACH(&arena, rows, &step->kinematic_gamma, &step->balance_lambda,
                   &step->balance_gamma, &step->position_a, &step->velocity_a, &step->velocity_b);
  } while (poli_arena_again(&arena));
  s->memory = arena.memory;
  s->memory_size = arena.used;
  s->step_values = step->kinematic_a;
  s->num_step_values = (size_t)(4 * square) + (size_t)(6 * rows);
  return s->memory ? POL_OK : POL_NO_MEMORY;
}

static pol_status create(pol_integrator *integrator)
{
  poli_ggl *s = calloc(1, sizeof *s);
  if (!s) return POL_NO_MEMORY;
  const poli_scheme *scheme = integrator->method->variant;
  integrator->data = s;
  s->dae = integrator->dae;
  s->options = &integrator->options;
  s->scheme = scheme;
  s->has_velocity = scheme->num_blocks == scheme->num_vectors + 2;
  s->equations = poli_dae_step_equations(s->dae);
  s->nv = s->dae->group.nv;
  s->m = pol_dae_num_constraints(s->dae);
  s->theta = isnan(s->options->theta) ? scheme->theta : s->options->theta;
  s->vartheta = isnan(s->options->vartheta) ? scheme->vartheta : s->options->vartheta;

  poli_saddle *saddle = poli_assembler_saddle(integrator->assembler);
  pol_status status = poli_saddle_build(saddle);
  if (!status)
    status = poli_blocks_create(&s->blocks, saddle, scheme->layout, scheme->num_blocks,
                                scheme->num_vectors, s->options->solver);
  if (status) return status;
  const poli_newton_matrix matrix = {.n = s->blocks->n,
                                     .num_increments = s->blocks->start[scheme->num_vectors],
                                     .pattern = s->blocks->pattern,
                                     .values = s->blocks->values,
                                     .solver = s->blocks->solver,
                                     .least_share = 1e-8};
  status =
      poli_newton_create_for(&s->newton, s->dae, &matrix, &s->options->newton, &integrator->counts);
  if (status) return status;

  if ((status = allocate(s))) return status;
  s->a = s->z;
  s->b = s->a + s->nv;
  s->c = s->b + s->nv; /* read by vi-s only */
  s->lambda = s->z + matrix.num_increments;
  s->gamma = s->lambda + s->m;
  return POL_OK;
}

static void copy(double *to, const double *from, int n)
{
  memcpy(to, from, (size_t)n * sizeof *to);
}

static void publish(pol_integrator *integrator, double lambda_t)
{
  const poli_ggl *s = integrator->data;
  integrator->state.q = s->now.q;
  integrator->state.v = s->now.v;
  integrator->state.vd = s->now.vd;
  integrator->state.lambda = s->now.lambda;
  integrator->state.eta = NULL;
  integrator->state.p = s->now.p;
  integrator->state.lambda_t = lambda_t;
}

/* --- start and step --------------------------------------------------------------------------- */

static pol_status start(pol_integrator *integrator, const double *q, const double *v,
                        const double *vd, const double *lambda)
{
  poli_ggl *s = integrator->data;
  pol_diagnostics *d = &integrator->diagnostics;
  copy(s->now.q, q, s->nv);
  copy(s->now.v, v, s->nv);
  copy(s->now.vd, vd, s->nv);
  copy(s->now.lambda, lambda, s->m);
  memset(s->now.x, 0, (size_t)s->blocks->n * sizeof *s->now.x);
  for (int i = 0; i < s->scheme->num_vectors; i++) copy(s->now.x + s->blocks->start[i], v, s->nv);
  s->dropped = poli_integrator_flags(integrator);
  s->t = integrator->state.t;
  s->history = integrator->state.history;
  s->last_h = s->h = 0.0;

  /* M if it is constant, the momenta, and the matrix once in its limit h -> 0, so that no step has
   * to allocate for its factors */
  pol_status status = POL_OK;
  if (s->dae->constant_mass)
    status = poli_ggl_evaluate(s, s->t, s->now.q, s->now.v, NULL, POL_MASS,
                               &(pol_terms){.mass = s->mass});
  if (!status) status = poli_ggl_prepare(s);
  if (!status) {
    poli_ggl_momenta(s, s->now.q, s->now.v, s->now.p);
    poli_ggl_unpack(s, s->now.x);
    status = poli_ggl_matrix(s);
  }
  if (!status) status = pol_solver_factor(s->blocks->solver, s->blocks->values);
  if (!status) {
    publish(integrator, s->t);
    return POL_OK;
  }

  /* A matrix that is singular at h = 0 although the constraints are independent: velocities that
   * only the mass matrix could determine. */
  snprintf(d->message, sizeof d->message, "the matrix of the first step could not be factorised");
  if (status != POL_SINGULAR) return status;
  int column = pol_solver_singular_column(s->blocks->solver);
  d->equation = column < s->blocks->start[s->scheme->num_vectors] ? column % s->nv : -1;
  if (d->equation >= 0) poli_dae_describe(s->dae, d->equation, d->where, sizeof d->where);
  snprintf(d->advice, sizeof d->advice,
           "if the mass matrix is singular, as for directors of a flat body, use vi-a, vi-b, em or "
           "rattle%s",
           s->scheme->varying_mass ? "; or use euler-parameters" : "");
  return status;
}

/* First guess: the unknowns of the step before, multipliers as forces, not as impulses. */
static void predict(poli_ggl *s, pol_guess guess)
{
  int lambda = s->blocks->start[s->scheme->num_vectors];
  double ratio = s->last_h > 0.0 ? s->h / s->last_h : 1.0;
  copy(s->next.x, s->now.x, s->blocks->n);
  for (int i = 0; i < s->nv; i++) s->next.x[i] = guess == POL_GUESS_SIMPLE ? 0.0 : s->now.v[i];
  for (int i = 0; i < s->m; i++) s->next.x[lambda + i] *= ratio;
}

/* Multipliers where they are accurate.  Where the impulses on one q_n come from two steps, they are
 * added up; the first step only has half of them, and its value is that of the start. */
static void report_multipliers(poli_ggl *s)
{
  const poli_scheme *scheme = s->scheme;
  int is_vi_b = scheme->vartheta > 0.0;
  double before = is_vi_b ? s->vartheta : 0.5, force_before = is_vi_b ? s->theta : 0.5;
  if (!scheme->before_block) {
    for (int i = 0; i < s->m; i++) s->next.lambda[i] = s->lambda[i] / s->h;
  } else if (s->last_h == 0.0) {
    copy(s->next.lambda, s->now.lambda, s->m);
  } else {
    const double *last = s->now.x + s->blocks->start[scheme->before_block];
    double h = force_before * s->last_h + (1.0 - force_before) * s->h;
    for (int i = 0; i < s->m; i++)
      s->next.lambda[i] = (before * last[i] + (1.0 - before) * s->lambda[i]) / h;
  }
}

/* Newton's method from the first guess in s->next.x. */
static pol_status iterate(poli_ggl *s, const poli_newton_system *system, pol_diagnostics *d)
{
  const pol_published *published = &s->options->published;
  if (!poli_is_published_newton(published))
    return poli_newton_solve(s->newton, system, s->next.x, d);
  return poli_newton_solve_published(s->newton, published, system,
                                     &(poli_published_rule){.size = poli_ggl_size}, s->next.x, d);
}

static pol_status step(pol_integrator *integrator, double t, double h)
{
  poli_ggl *s = integrator->data;
  pol_diagnostics *d = &integrator->diagnostics, unused;
  const poli_newton_system system = {.residual = poli_ggl_residual,
                                     .matrix = poli_ggl_matrix,
                                     .tolerances = poli_ggl_tolerances,
                                     .round_off = poli_ggl_round_off,
                                     .user = s};
  const pol_guess guess = s->options->guess;
  poli_newton_reset(s->newton); /* an old matrix converges too slowly to come down to round-off */
  s->dropped = poli_integrator_flags(integrator);
  s->t = integrator->state.t;
  s->h = h;

  /* predict and solve; at large steps the other guess often leads there */
  predict(s, guess);
  pol_status status = poli_ggl_prepare(s);
  if (!status) {
    status = iterate(s, &system, d);
    if (status > 0) {
      *d = (pol_diagnostics){.equation = -1};
      predict(s, guess == POL_GUESS_SIMPLE ? POL_GUESS_ADVANCED : POL_GUESS_SIMPLE);
      status = iterate(s, &system, d);
    }
  }
  /* what a stopping rule leaves adds up in the invariants: one correction more than it asks for */
  if (!status && !poli_is_published_newton(&s->options->published))
    status = poli_newton_polish(s->newton, &system, s->next.x);
  if (!status) status = poli_ggl_finish(s);
  if (status) {
    if (!d->message[0]) snprintf(d->message, sizeof d->message, "the model could not be evaluated");
    poli_dae_blame(s->dae, s->scratch, d);
    return status;
  }

  /* accept: multipliers of this step, or those of the accelerations at its start */
  copy(s->next.x, s->z, s->blocks->n);
  /* If it has another size than the one before, its impulses give no multipliers: position
   * constraints leave B v = O(h^2), which becomes an impulse of the next step and is divided by its
   * size; and if theta is not 1/2, the impulses of both steps on q_n belong to no common time. */
  const int changes_size = s->last_h > 0.0 && fabs(h - s->last_h) > 1e-6 * s->last_h;
  const int of_start =
      changes_size && !pol_assembler_acceleration(integrator->assembler, s->t, s->now.q, s->now.v,
                                                  s->next.vd, s->next.lambda, &unused);
  if (!of_start) report_multipliers(s);
  for (int i = 0; i < s->nv; i++) s->next.vd[i] = (s->next.v[i] - s->now.v[i]) / h;
  poli_ggl_values accepted = s->next;
  s->next = s->now;
  s->now = accepted;
  s->last_h = h;
  publish(integrator, of_start ? s->t : t - s->scheme->lag * h);
  return POL_OK;
}

static void archive(pol_integrator *integrator, poli_archive *archive)
{
  poli_ggl *s = integrator->data;
  double **const exchanged[] = {&s->now.q,  &s->now.v,      &s->now.p,  &s->now.vd,
                                &s->now.x,  &s->now.lambda, &s->next.q, &s->next.v,
                                &s->next.p, &s->next.vd,    &s->next.x, &s->next.lambda};
  POLI_ARCHIVE(archive, s->t);
  POLI_ARCHIVE(archive, s->h);
  POLI_ARCHIVE(archive, s->last_h);
  poli_archive_bytes(archive, s->memory, s->memory_size);
  for (size_t i = 0; i < sizeof exchanged / sizeof exchanged[0]; i++)
    *exchanged[i] = poli_archive_place(archive, *exchanged[i], s->memory, s->memory_size);
  poli_state_archive(&integrator->state, s->memory, s->memory_size, archive);
  s->dropped = poli_integrator_flags(integrator);
  poli_blocks_archive(s->blocks, archive);
  poli_newton_archive(s->newton, archive);
}

static double lag(const void *variant)
{
  const poli_scheme *scheme = variant;
  return scheme->lag;
}

static double share(const void *variant)
{
  const poli_scheme *scheme = variant;
  return scheme->midway ? 0.5 : 1.0;
}

const poli_family poli_ggl_family = {.validate = validate,
                                     .warn = warn,
                                     .supports = supports,
                                     .create = create,
                                     .destroy = destroy,
                                     .start = start,
                                     .archive = archive,
                                     .step = step,
                                     .lag = lag,
                                     .share = share};
