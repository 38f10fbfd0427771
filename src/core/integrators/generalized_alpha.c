/* Generalized-alpha methods on Lie groups: all updates, all constraint forms, one algorithm.
 *
 * Bruels/Cardona 2010 (geom1, geom2, geom3), Arnold/Cardona/Bruels 2015 (index 3 and stabilized
 * index 2, scaling (57)-(62)), Holzinger/Arnold/Gerstmayr (sigma).  A step solves for theta, lambda
 * and, in the stabilized form, eta:
 *
 *     q_{n+1}  = q* o exp(theta)
 *     v_{n+1}  = gamma/(h beta) P(theta)^-1 ( theta - T(theta) c + h B(q_n)^T eta )
 *     a_{n+1}  = ( v_{n+1} - v_n - h (1-gamma) a_n )/(h gamma)
 *     v'_{n+1} = ( (1-alpha_m) a_{n+1} + alpha_m a_n - alpha_f v'_n )/(1-alpha_f)
 *     0 = M v'_{n+1} + g + B^T lambda,    0 = Phi and/or B v_{n+1}
 *
 * with P = sigma I + (1-sigma) T(theta) and the known parts
 *
 *     c = h v_n + h^2 (1/2-beta) a_n - (h beta/gamma) (v_n + h (1-gamma) a_n),   q* = q_n (geom1)
 *
 * where geom2 moves the term h v_n from c into q*, and geom3 the term h^2 (1/2-beta) a_n as well.
 * For sigma = 0, P^-1 T = I and the equation reads v = gamma/(h beta) (theta - c + h B(q_n)^T eta),
 * as in Arnold et al. (56b).  The unknowns of Newton's method are scaled: (theta/h, h lambda, eta).
 */
#include "integrators/alpha.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/rule.h"
#include "dae/assembler.h"
#include "dae/extension.h"
#include "integrators/family.h"

const poli_update poli_geom1 = {0};
const poli_update poli_geom2 = {.base_velocity = 1};
const poli_update poli_geom3 = {.base_velocity = 1, .base_acceleration = 1};
const poli_update poli_linear = {.coordinates_only = 1};
const poli_update poli_newmark = {.parameters = POLI_NEWMARK};
const poli_update poli_hht = {.parameters = POLI_HHT};

/* --- life cycle ------------------------------------------------------------------------------- */

static pol_status validate(const pol_options *options, const void *variant, char *message,
                           size_t size)
{
  const poli_update *update = variant;
  const pol_options *o = options;
  const double round_off = 1e-12, b = 1.0 + o->alpha_f;
  if (!isfinite(o->alpha_m) || !isfinite(o->alpha_f) || o->alpha_m >= 1.0 || o->alpha_f >= 1.0)
    return poli_broken_rule("alpha_m and alpha_f must be below 1", message, size);
  if (!(o->beta > 0.0) || !isfinite(o->beta) || !(o->gamma > 0.0) || !isfinite(o->gamma))
    return poli_broken_rule("beta and gamma must be positive", message, size);
  /* the parameters that the name of the method promises */
  if (update->parameters == POLI_NEWMARK && (o->alpha_m != 0.0 || o->alpha_f != 0.0))
    return poli_broken_rule("newmark has the parameters gamma and beta, alpha_m = alpha_f = 0",
                            message, size);
  if (update->parameters == POLI_HHT &&
      (o->alpha_m != 0.0 || o->alpha_f < 0.0 || o->alpha_f > 1.0 / 3.0 + round_off ||
       fabs(o->gamma - 0.5 - o->alpha_f) > round_off || fabs(o->beta - 0.25 * b * b) > round_off))
    return poli_broken_rule("hht has the parameter alpha from -1/3 to 0, alpha_m = 0, "
                            "alpha_f = -alpha, gamma = 1/2 - alpha, beta = (1 - alpha)^2/4",
                            message, size);
  if (options->index < POL_INDEX_3 || options->index > POL_INDEX_2_STABILIZED)
    return poli_broken_rule("index must be 3, 2 or stabilized-2", message, size);
  if (!isfinite(options->sigma)) return poli_broken_rule("sigma must be finite", message, size);
  if (options->start < POL_START_DEFAULT || options->start > POL_START_PERTURBED)
    return poli_broken_rule("start must be default, classical, shifted or perturbed", message,
                            size);
  if (options->sigma != 0.0 && update->coordinates_only)
    return poli_broken_rule("sigma requires geom1: the linear method has no tangent operator",
                            message, size);
  if (options->published.sigma_update != POL_SIGMA_EXACT &&
      (update->base_velocity || update->coordinates_only))
    return poli_broken_rule("the incremental sigma update requires geom1", message, size);
  if (options->sigma != 0.0 && update->base_velocity)
    return poli_broken_rule(
        "sigma requires geom1: geom2 and geom3 apply the velocity in a separate exponential",
        message, size);
  return POL_OK;
}

/* Appends a sentence to those before. */
static void add_sentence(const char *sentence, char *message, size_t size)
{
  size_t used = strlen(message);
  snprintf(message + used, size - used, "%s%s", used ? "; " : "", sentence);
}

/* Second order and unconditional stability (Chung/Hulbert 1993). */
static void warn(const pol_options *options, const void *variant, char *message, size_t size)
{
  const pol_options *o = options;
  const double round_off = 1e-12;
  (void)variant;
  if (fabs(o->gamma - (0.5 + o->alpha_f - o->alpha_m)) > round_off)
    add_sentence("gamma is not 1/2 + alpha_f - alpha_m: the method is of first order", message,
                 size);
  if (o->alpha_m > o->alpha_f + round_off || o->alpha_f > 0.5 + round_off ||
      o->beta < 0.25 + 0.5 * (o->alpha_f - o->alpha_m) - round_off)
    add_sentence("alpha_m <= alpha_f <= 1/2 and beta >= 1/4 + (alpha_f - alpha_m)/2 are violated: "
                 "the method is not unconditionally stable",
                 message, size);
}

/* Rules that need the group. */
static pol_status supports(const pol_dae *dae, const pol_options *options, const void *variant,
                           char *message, size_t size)
{
  const poli_update *update = variant;
  int sigma = options->sigma != 0.0 || options->published.sigma_update != POL_SIGMA_EXACT;
  for (int f = 0; f < dae->group.num_factors; f++) {
    pol_factor_kind kind = dae->group.factors[f].kind;
    /* T(theta) theta = theta, which the sigma form needs, holds for the exponential only */
    if (kind == POL_SO3_CAYLEY && sigma)
      return poli_broken_rule("sigma needs the exponential map, not the Cayley map", message, size);
    if (kind == POL_SO3_VECTOR && (update->base_velocity || sigma))
      return poli_broken_rule(
          "rotation-vector requires the classical method: use linear, or geom1 with sigma 0",
          message, size);
  }
  return POL_OK;
}

/* Index 3 with hardly any numerical damping.  Where positions are held, a deviation of (v, a) from
 * the constraints has a double eigenvalue, and v' another beside it: if both are 1, errors grow. */
static void doubt(const pol_dae *dae, const pol_options *options, char *message, size_t size)
{
  const double hardly = 0.98, round_off = 1e-6;
  const poli_amplification factor = poli_constraint_amplification(options);
  if (dae->num_holonomic == 0 || options->index != POL_INDEX_3 || factor.of_a < hardly) return;
  snprintf(message, size, "%s; use rho_inf 0.9 or less, or hht, or index 2 or stabilized-2",
           fmin(factor.of_vd, factor.of_a) > 1.0 - round_off
               ? "index 3 without numerical damping: constraint errors grow with each step, first "
                 "in the reactions, then in the motion, and the results are unreliable"
               : "index 3 with almost no numerical damping: errors of the reactions do not decay "
                 "and can grow until the motion is wrong");
}

static void destroy(void *data)
{
  poli_alpha *s = data;
  poli_newton_free(&s->newton);
  poli_alpha_rows_free(&s->rows);
  poli_saddle_free(&s->owned_saddle);
  free(s->matrix_memory);
  free(s->memory);
  free(s);
}

/* Whether velocities are those of theta itself, for rotations of bodies too. */
static int has_plain_velocities(const poli_alpha *s)
{
  const pol_options *o = s->options;
  return poli_dae_rigid_bodies(s->dae) && o->sigma == 0.0 && !s->update->coordinates_only &&
         o->newton.kind != POL_NEWTON_SIMPLIFIED && o->published.sigma_update == POL_SIGMA_EXACT;
}

/* All arrays but those of matrices, in one block of memory. */
static pol_status allocate(poli_alpha *s)
{
  const pol_group *group = &s->dae->group;
  const int nq = group->nq, nv = group->nv, m = s->saddle->m, n = s->saddle->n;
  poli_arena arena = {0};
  do {
    POLI_TAKE_EACH(&arena, nq, &s->now.q, &s->next.q);
    POLI_TAKE(&arena, s->base, s->update->base_velocity ? nq : 0);
    POLI_TAKE_EACH(&arena, nv, &s->now.v, &s->next.v, &s->now.vd, &s->next.vd, &s->now.a,
                   &s->next.a, &s->theta, &s->stabilizing, &s->model_v, &s->model_vd, &s->given_v,
                   &s->given_a);
    POLI_TAKE_EACH(&arena, m, &s->now.lambda, &s->next.lambda, &s->position, &s->velocity);
    POLI_TAKE_EACH(&arena, n, &s->x, &s->x_done, &s->column, &s->sample, &s->predictor.sample[0],
                   &s->predictor.sample[1], &s->predictor.sample[2], &s->predictor.sample[3]);
    POLI_TAKE(&arena, s->eta, s->saddle->num_extra);
    POLI_TAKE(&arena, s->start_work, poli_start_work(s->dae));
    POLI_TAKE(&arena, s->scratch, s->dae->scratch_size);
    POLI_TAKE(&arena, s->P_inverse, has_plain_velocities(s) ? 0 : group->num_factors);
    POLI_TAKE(&arena, s->factor_of, nv);
  } while (poli_arena_again(&arena));
  s->memory = arena.memory;
  s->memory_size = arena.used;
  return s->memory ? POL_OK : POL_NO_MEMORY;
}

static pol_status create(pol_integrator *integrator)
{
  poli_alpha *s = calloc(1, sizeof *s);
  if (!s) return POL_NO_MEMORY;
  integrator->data = s;
  s->dae = integrator->dae;
  s->options = &integrator->options;
  s->update = integrator->method->variant;
  s->assembler = integrator->assembler;

  s->counts = &integrator->counts;

  /* the stabilized form has a matrix of its own, the others share that of the assembler */
  pol_status status = POL_OK;
  if (s->options->index == POL_INDEX_2_STABILIZED)
    status = poli_saddle_plan(&s->owned_saddle, s->dae, 1, s->options->solver);
  if (status) return status;
  s->saddle = s->owned_saddle ? s->owned_saddle : poli_assembler_saddle(s->assembler);
  const pol_group *group = &s->dae->group;
  if ((status = allocate(s))) return status;
  s->predictor.n = s->saddle->n;
  for (int f = 0; f < group->num_factors; f++)
    for (int i = 0; i < group->factors[f].dim; i++) s->factor_of[group->factors[f].v + i] = f;
  status = poli_alpha_rows_create(s, &integrator->counts);
  if (!status && !(s->rows && poli_assembler_has_rows(s->assembler)))
    status = poli_alpha_make_matrix(s);
  return status;
}

static void publish(pol_integrator *integrator)
{
  const poli_alpha *s = integrator->data;
  integrator->state.q = s->now.q;
  integrator->state.v = s->now.v;
  integrator->state.vd = s->now.vd;
  integrator->state.lambda = s->now.lambda;
  integrator->state.eta = s->saddle->num_extra ? s->eta : NULL;
  integrator->state.lambda_t = s->t;
}

/* --- starting values -------------------------------------------------------------------------- */

/* Coefficients of h^3 v'' and h^3 [v, v'] in the local error of q. */
static double true_error_constant(const pol_options *o)
{
  return (1.0 - 6.0 * o->beta - 3.0 * (o->alpha_m - o->alpha_f)) / 6.0;
}

/* That of the published estimate, if it is asked for. */
static double error_constant(const pol_options *o)
{
  double kappa = (1.0 - o->alpha_f) / (1.0 - o->alpha_m);
  return o->published.estimate ? 1.0 / (6.0 * kappa) - o->beta : true_error_constant(o);
}

static double commutator(const poli_alpha *s)
{
  const pol_options *o = s->options;
  return 1.0 / 12.0 -
         0.25 *
             (s->update->base_velocity ? 1.0 : poli_alpha_effective_sigma(o) * o->beta / o->gamma);
}

/* What the values of a step of size h from t with the consistent velocity v start from. */
static poli_start_problem start_problem(const poli_alpha *s, double t, double h, const double *v)
{
  return (poli_start_problem){.dae = s->dae,
                              .assembler = s->assembler,
                              .t = t,
                              .h = h,
                              .q = s->now.q,
                              .v = v,
                              .vd = s->now.vd,
                              .lambda = s->now.lambda,
                              .shift = s->options->alpha_m - s->options->alpha_f,
                              .C_q = error_constant(s->options),
                              .commutator = commutator(s),
                              .linear = s->update->coordinates_only,
                              .work = s->start_work};
}

/* Newton's method starts with a new matrix. */
static void forget_matrix(poli_alpha *s)
{
  if (s->newton) poli_newton_reset(s->newton);
  if (s->rows) poli_newton_reset(poli_alpha_rows_newton(s->rows));
}

/* The assembler is about to factor a matrix of its own, perhaps in the place of Newton's. */
static void forget_shared_matrix(poli_alpha *s)
{
  if (!s->owned_saddle && s->newton) poli_newton_reset(s->newton);
}

/* Sets now.a and now.v, which a step of size h from time t starts from, for the consistent velocity
 * v.  The default start is the one that gives second order in every component. */
static pol_status set_starting_values(poli_alpha *s, double t, double h, const double *v,
                                      pol_start start, pol_diagnostics *d)
{
  if (start == POL_START_DEFAULT)
    start = s->options->index == POL_INDEX_3 ? POL_START_PERTURBED : POL_START_SHIFTED;
  if (start == POL_START_CLASSICAL) return POL_OK;
  forget_shared_matrix(s);
  poli_start_problem problem = start_problem(s, t, h, v);
  problem.C_q = true_error_constant(s->options);
  return poli_starting_values(&problem, s->now.a, start == POL_START_PERTURBED ? s->now.v : NULL,
                              d);
}

/* --- start and step --------------------------------------------------------------------------- */

static pol_status start(pol_integrator *integrator, const double *q, const double *v,
                        const double *vd, const double *lambda)
{
  poli_alpha *s = integrator->data;
  poli_alpha_copy(s->now.q, q, s->dae->group.nq);
  poli_alpha_copy(s->now.v, v, s->dae->group.nv);
  poli_alpha_copy(s->now.vd, vd, s->dae->group.nv);
  poli_alpha_copy(s->now.a, vd, s->dae->group.nv);
  poli_alpha_copy(s->now.lambda, lambda, s->saddle->m);
  s->dropped = poli_integrator_flags(integrator);
  s->t = integrator->state.t;
  s->history = integrator->state.history;
  s->h = 0.0;
  s->starting = 1;
  s->matrix_h = 0.0;
  for (int k = 0; k < POLI_KINDS; k++) s->calm[k] = HUGE_VAL;
  poli_predictor_clear(&s->predictor);
  if (s->newton) poli_newton_restart(s->newton);
  pol_status status = s->rows ? poli_alpha_rows_start(s) : POL_OK;
  if (s->owned_saddle && s->newton && !status) {
    /* the stabilized form's own matrix once, in its limit h -> 0, so that no step has to allocate
     */
    poli_alpha_copy(s->next.q, q, s->dae->group.nq);
    poli_alpha_copy(s->next.v, v, s->saddle->nv);
    poli_alpha_copy(s->next.vd, vd, s->saddle->nv);
    poli_alpha_copy(s->model_v, v, s->saddle->nv);
    poli_alpha_copy(s->model_vd, vd, s->saddle->nv);
    poli_alpha_copy(s->next.lambda, lambda, s->saddle->m);
    status = poli_alpha_prepare(s);
    memset(s->theta, 0, (size_t)s->saddle->nv * sizeof *s->theta);
    if (!status) status = poli_alpha_matrix(s);
    if (!status) status = pol_solver_factor(s->saddle->solver, s->saddle->values);
  }
  if (status) {
    snprintf(integrator->diagnostics.message, sizeof integrator->diagnostics.message,
             "the matrix of the first step could not be factorised");
    return status;
  }
  publish(integrator);
  return POL_OK;
}

/* Whether two step sizes differ by no more than the round-off of times. */
static int is_same_step(double h, double other)
{
  return fabs(h - other) <= 1e-9 * other;
}

/* A new step size: the auxiliary acceleration belongs to t_n + (alpha_m - alpha_f) h, and in index
 * 3 the velocity misses the constraints by a multiple of h^2.  Both are scaled; where that would
 * magnify round-off, they are found anew. */
static pol_status adapt_to_step(poli_alpha *s, pol_diagnostics *d)
{
  const double most_growth = 5.01; /* that of the controller, and round-off */
  double ratio = s->h / s->last_h, t = s->t - s->h, *defect = s->theta, *v = s->column;
  int nv = s->saddle->nv, index3 = s->options->index == POL_INDEX_3 && s->dae->num_holonomic > 0;
  pol_status status = POL_OK;
  s->last_h = s->h;
  if (index3 && poli_alpha_rows_know_velocities(s))
    status = poli_alpha_rows_velocity_defect(s, s->now.v, defect);
  else if (index3)
    status = POL_RETRY;
  if (status > 0) { /* by the general matrix */
    forget_shared_matrix(s);
    status = poli_assembler_velocity_defect(s->assembler, t, s->now.q, s->now.v, defect, d);
  }
  if (status) return status;
  for (int i = 0; i < nv; i++) {
    v[i] = s->now.v[i] - (index3 ? defect[i] : 0.0);
    s->now.a[i] = s->now.vd[i] + ratio * (s->now.a[i] - s->now.vd[i]);
    s->now.v[i] = v[i] + (index3 ? ratio * ratio * defect[i] : 0.0);
  }
  if (ratio <= most_growth) return POL_OK;
  return set_starting_values(s, t, s->h, v, index3 ? POL_START_PERTURBED : POL_START_SHIFTED, d);
}

/* Blames coordinates that are near a singularity, in the trial or before it; at one, the step has
 * failed even if Newton's iteration has not noticed. */
static pol_status check_coordinates(const poli_alpha *s, pol_status status, pol_diagnostics *d)
{
  char text[sizeof d->message];
  if (!s->dae->singular) return status;
  int found = s->dae->singular(s->next.q, text, sizeof text, s->dae->user);
  if (status && !found) found = s->dae->singular(s->now.q, text, sizeof text, s->dae->user);
  if (found < (status ? POL_NEAR_SINGULARITY : POL_AT_SINGULARITY)) return status;
  snprintf(d->message, sizeof d->message, "%s", text);
  snprintf(d->advice, sizeof d->advice, "stop earlier, or use another formulation");
  return status ? status : POL_SINGULAR;
}

/* As before the attempt. */
static void reject(pol_integrator *integrator)
{
  poli_alpha *s = integrator->data;
  if (s->adapts) {
    poli_alpha_copy(s->now.v, s->given_v, s->saddle->nv);
    poli_alpha_copy(s->now.a, s->given_a, s->saddle->nv);
  }
  s->last_h = s->undo_h;
  s->h = 0.0;
}

/* Adds the present values to the predictor's samples.  Those from which it begins anew have no eta:
 * at the start there is none, after a failure s->eta belongs to the failed attempt, and where other
 * redundant constraints are dropped it belongs to the others. */
static void add_to_predictor(poli_alpha *s, double t, const double *weight)
{
  int nv = s->saddle->nv, m = s->saddle->m, begins = s->predictor.count == 0;
  poli_alpha_copy(s->sample, s->now.vd, nv);
  const double *own = s->rows ? poli_alpha_rows_multipliers(s->rows) : NULL;
  const double *lambda = own ? own : s->now.lambda, *eta = own ? own + m : s->eta;
  poli_alpha_copy(s->sample + nv, lambda, m);
  for (int i = 0; i < s->saddle->num_extra; i++)
    s->sample[nv + m + i] = begins ? 0.0 : eta[i] / (s->h * s->h);
  poli_predictor_add(&s->predictor, t, s->sample, weight, nv);
}

/* Sets up an attempt of size h to t: what it may keep of the steps before, and how well Newton's
 * method has to solve it. */
static void begin_attempt(pol_integrator *integrator, double t, double h)
{
  const double most_change = 1.4, most = 1e-3, least = 1e-6, least_constant = 1.0 / 12.0;
  poli_alpha *s = integrator->data;
  const pol_options *o = s->options;
  const int adapting = integrator->adapting, printed = adapting && o->published.estimate;
  s->dropped = poli_integrator_flags(integrator);
  s->adapts = s->starting || (!is_same_step(h, s->last_h) && !printed);
  s->undo_h = s->last_h;
  s->same_step = is_same_step(h, s->h);
  s->polynomial = adapting;
  if (s->polynomial && s->predictor.count == 0)
    add_to_predictor(s, t - h, integrator->control->weight);

  /* a matrix serves steps of nearly the same size */
  const int near = h <= most_change * s->matrix_h && s->matrix_h <= most_change * h;
  if (adapting ? !near || printed : !s->same_step) forget_matrix(s);

  /* Steps whose size follows from a tolerance need no better solution of the equations than a share
   * of it.  The paper has 1e-3.  What is left then acts like a force: with a matrix that is kept it
   * has the same sign in many steps, and after a time T its part of the global error is
   * share/C T/h times that of the method.  So the share must fall with h. */
  poli_newton_goal goal;
  const double share = 0.1 * h / integrator->control->span;
  goal.weight = adapting ? integrator->control->weight : NULL;
  goal.scale = fmax(fabs(error_constant(o)), least_constant) * h / o->beta;
  goal.peak = poli_step_control_peak(integrator->control);
  goal.share = printed ? most : fmax(least, fmin(most, share));
  goal.can_shrink = adapting && h > integrator->control->options.min_step * (1.0 + 1e-9);
  s->goal = goal;
  if (s->newton) s->newton->goal = goal;
  if (s->rows) poli_alpha_rows_newton(s->rows)->goal = goal;

  s->t = t;
  s->h = h;
  if (!s->adapts) return;
  poli_alpha_copy(s->given_v, s->now.v, s->saddle->nv);
  poli_alpha_copy(s->given_a, s->now.a, s->saddle->nv);
}

/* From the guess s->x. */
static pol_status solve_with_matrix(poli_alpha *s, pol_diagnostics *d)
{
  const poli_newton_system system = {.residual = poli_alpha_residual,
                                     .place = poli_alpha_place,
                                     .matrix = poli_alpha_matrix,
                                     .tolerances = poli_alpha_tolerances,
                                     .round_off = poli_alpha_round_off,
                                     .user = s};
  return poli_newton_solve(s->newton, &system, s->x, d);
}

/* The first x; the multipliers of a polynomial through samples are in the axes of the rows. */
static void predict(poli_alpha *s)
{
  poli_alpha_predict(s);
  for (int i = 0; i < s->saddle->m && s->rows && !s->by_rows && s->polynomial; i++)
    s->x[s->saddle->nv + i] = s->h * s->now.lambda[i];
}

/* In the space of the constraints; if that fails, what its matrix leaves out may matter: again with
 * the full matrix, unless a smaller step can be tried. */
static pol_status solve_by_rows(poli_alpha *s, pol_diagnostics *d)
{
  pol_status status = poli_alpha_rows_solve(s, d);
  if (status <= 0 || s->options->newton.fixed_iterations > 0 || !poli_alpha_rows_pause(s->rows))
    return status;
  s->by_rows = 0;
  status = poli_alpha_make_matrix(s);
  if (status) return status;
  poli_newton_reset(s->newton);
  status = poli_alpha_prepare(s);
  if (status) return status;
  s->same_step = 0; /* s->next is that of the failed attempt */
  predict(s);
  return solve_with_matrix(s, d);
}

/* One step into s->next: start, predict, solve, test; undone if it fails. */
static pol_status attempt(pol_integrator *integrator, double t, double h, const double **q,
                          const double **v)
{
  poli_alpha *s = integrator->data;
  pol_diagnostics *d = &integrator->diagnostics;
  begin_attempt(integrator, t, h);
  *q = s->next.q;

  /* now.v and now.a of a step of this size */
  pol_status status = POL_OK;
  if (s->starting)
    status = set_starting_values(s, t - h, h, s->given_v, s->options->start, d);
  else if (s->adapts)
    status = adapt_to_step(s, d);

  if (!status) {
    s->by_rows = poli_alpha_rows_serve(s);
    if (!s->by_rows) status = poli_alpha_make_matrix(s);
    if (!status) status = poli_alpha_prepare(s);
    if (status) {
      snprintf(d->message, sizeof d->message, "the model could not be evaluated");
    } else if (poli_alpha_is_published(s)) {
      status = poli_alpha_solve_published(s, d);
    } else {
      predict(s);
      status = s->by_rows ? solve_by_rows(s, d) : solve_with_matrix(s, d);
    }
    if (status) poli_dae_blame(s->dae, s->scratch, d);
  }

  *v = s->by_rows ? s->next.v : s->model_v;
  status = check_coordinates(s, status, d);
  if (!status) return POL_OK;
  reject(integrator);
  s->predictor.degree = 0;
  return status;
}

static void accept(pol_integrator *integrator)
{
  poli_alpha *s = integrator->data;
  poli_alpha_recentre(s);
  if (s->by_rows) poli_alpha_rows_accept(s);
  poli_alpha_values accepted = s->next;
  s->next = s->now;
  s->now = accepted;
  s->starting = 0;
  s->last_h = s->h;
  for (int k = 0; k < POLI_KINDS; k++)
    if (s->change[k] < 0.5 * s->acceleration[k]) s->calm[k] = fmin(s->calm[k], s->acceleration[k]);
  if (s->rows && !s->by_rows) poli_alpha_rows_adopt(s);
  if (integrator->adapting)
    add_to_predictor(s, s->t, integrator->control->weight);
  else
    poli_predictor_clear(&s->predictor);
  publish(integrator);
}

static pol_status step(pol_integrator *integrator, double t, double h)
{
  const double *q, *v;
  pol_status status = attempt(integrator, t, h, &q, &v);
  if (!status) accept(integrator);
  return status;
}

/* --- local error ------------------------------------------------------------------------------ */

/* C_q h^2 (a_{n+1} - a_n) + k h^3 [v_n, v'_n], and (v.v) v h^3/12 with the Cayley map; the bracket
 * is none of classical coordinates, whose a are their own second derivatives.  The stabilized form
 * moves q by h B(q_n)^T eta to meet the constraints: that is part of its error, not only normal to
 * them in the metric of M. */
static void error(const pol_integrator *integrator, double *out)
{
  const poli_alpha *s = integrator->data;
  const pol_group *group = &s->dae->group;
  double h = s->h, C = error_constant(s->options), k = commutator(s);
  pol_group_bracket(group, s->now.v, s->now.vd, out);
  for (int f = 0; f < group->num_factors; f++) {
    const pol_factor *factor = &group->factors[f];
    const double *v = s->now.v + factor->v;
    int cayley = factor->kind == POL_SO3_CAYLEY;
    double square = cayley ? v[0] * v[0] + v[1] * v[1] + v[2] * v[2] : 0.0;
    for (int i = 0; i < factor->dim; i++) {
      int c = factor->v + i;
      double curved = poli_alpha_is_vector(s, factor) ? 0.0 : k * out[c] + square * v[i] / 12.0;
      out[c] = C * h * h * (s->next.a[c] - s->now.a[c]) + h * h * h * curved;
      if (s->saddle->num_extra) out[c] += s->stabilizing[c];
    }
  }
}

static pol_status error_rate(pol_integrator *integrator, double tau, double *out)
{
  poli_alpha *s = integrator->data;
  const poli_start_problem problem = start_problem(s, integrator->state.t, tau, s->now.v);
  return poli_start_error(&problem, out, &integrator->diagnostics);
}

static const poli_adaptive adaptive = {.attempt = attempt,
                                       .error = error,
                                       .accept = accept,
                                       .reject = reject,
                                       .error_rate = error_rate,
                                       .keeps_size = 1};

/* What steps change, apart from pointers that exchange their arrays. */
static void archive_values(poli_alpha *s, poli_archive *archive)
{
  POLI_ARCHIVE(archive, s->by_rows);
  POLI_ARCHIVE(archive, s->t);
  POLI_ARCHIVE(archive, s->h);
  POLI_ARCHIVE(archive, s->starting);
  POLI_ARCHIVE(archive, s->last_h);
  POLI_ARCHIVE(archive, s->adapts);
  POLI_ARCHIVE(archive, s->undo_h);
  POLI_ARCHIVE(archive, s->matrix_h);
  POLI_ARCHIVE(archive, s->polynomial);
  POLI_ARCHIVE(archive, s->predictor.count);
  POLI_ARCHIVE(archive, s->predictor.degree);
  POLI_ARCHIVE(archive, s->predictor.t);
  POLI_ARCHIVE(archive, s->same_step);
  POLI_ARCHIVE(archive, s->length);
  POLI_ARCHIVE(archive, s->acceleration);
  POLI_ARCHIVE(archive, s->change);
  POLI_ARCHIVE(archive, s->calm);
}

static void archive(pol_integrator *integrator, poli_archive *archive)
{
  poli_alpha *s = integrator->data;
  double **const exchanged[] = {&s->now.q,
                                &s->now.v,
                                &s->now.vd,
                                &s->now.a,
                                &s->now.lambda,
                                &s->next.q,
                                &s->next.v,
                                &s->next.vd,
                                &s->next.a,
                                &s->next.lambda,
                                &s->predictor.sample[0],
                                &s->predictor.sample[1],
                                &s->predictor.sample[2],
                                &s->predictor.sample[3]};
  archive_values(s, archive);
  poli_archive_bytes(archive, s->memory, s->memory_size);
  for (size_t i = 0; i < sizeof exchanged / sizeof exchanged[0]; i++)
    *exchanged[i] = poli_archive_place(archive, *exchanged[i], s->memory, s->memory_size);
  poli_state_archive(&integrator->state, s->memory, s->memory_size, archive);
  s->dropped = poli_integrator_flags(integrator);
  if (s->owned_saddle) poli_saddle_archive(s->owned_saddle, archive);
  if (poli_archive_has(archive, s->newton != NULL)) {
    if ((archive->status = poli_alpha_make_matrix(s))) return;
    poli_archive_bytes(archive, s->matrix_memory, s->matrix_size);
    poli_newton_archive(s->newton, archive);
  }
  if (s->rows && !archive->status) poli_alpha_rows_archive(s, archive);
}

/* The next step starts with a new matrix and without what predicts the multipliers. */
static void forget(void *data)
{
  poli_alpha *s = data;
  s->h = s->matrix_h = 0.0;
  poli_predictor_clear(&s->predictor);
}

const poli_family poli_generalized_alpha = {.validate = validate,
                                            .warn = warn,
                                            .supports = supports,
                                            .doubt = doubt,
                                            .create = create,
                                            .destroy = destroy,
                                            .start = start,
                                            .archive = archive,
                                            .forget = forget,
                                            .step = step,
                                            .adaptive = &adaptive};
