/* The integrator as a user sees it: life cycle, consistent start, time keeping.  The family of the
 * method does the steps. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "dae/assembler.h"
#include "dae/extension.h"
#include "integrators/family.h"

/* Constraints times velocities, for a full matrix. */
enum { SMALL_SIZE = 250000 };

/* How close to others a constraint is that a step across a singular position does without. */
static const double near_others = 1e-4;

pol_status pol_integrator_supports(const pol_dae *dae, const pol_options *options, char *message,
                                   size_t size)
{
  pol_status status = pol_dae_validate(dae, message, size);
  if (!status) status = pol_options_validate(options, message, size);
  if (status) return status;
  const poli_method_entry *method = poli_method_entry_find(options->method);
  return poli_method_family(method, dae)->supports(dae, options, method->variant, message, size);
}

int pol_integrator_warning(const pol_dae *dae, const pol_options *options, char *message,
                           size_t size)
{
  const poli_family *family = poli_method_family(poli_method_entry_find(options->method), dae);
  message[0] = '\0';
  if (family->doubt) family->doubt(dae, options, message, size);
  return message[0] != '\0';
}

/* Whether a full matrix of the constraints does no harm. */
static int is_small(const pol_dae *dae)
{
  return (double)pol_dae_num_constraints(dae) * (double)dae->group.nv <= SMALL_SIZE;
}

/* Whether the rank of the constraints costs no more than a factorisation, or next to nothing, and
 * is not known anyway. */
static int rank_is_cheap(const pol_integrator *s)
{
  return pol_dae_num_constraints(s->dae) > 0 && !poli_assembler_is_tree(s->assembler) &&
         (is_small(s->dae) || poli_independence_is_sparse(s->dae));
}

/* What redundant constraints need, as far as it is not there yet. */
static pol_status allocate_redundancy(pol_integrator *s)
{
  const size_t m = (size_t)pol_dae_num_constraints(s->dae);
  const int share = s->options.redundant == POL_REDUNDANT_MINIMUM_NORM && !s->dae->feedback &&
                    (s->redundant || is_small(s->dae));
  if (!s->chosen) s->chosen = calloc(2 * m + 1, sizeof *s->chosen);
  s->usual = s->chosen ? s->chosen + m : NULL;
  if (!s->chosen || !poli_assembler_independence(s->assembler)) return POL_NO_MEMORY;
  if (!share) return POL_OK;
  if (!s->shared) s->shared = calloc(m + 1, sizeof *s->shared);
  if (!s->shared) return POL_NO_MEMORY;
  return s->least_norm ? POL_OK : poli_least_norm_create(&s->least_norm, s->dae, s->options.solver);
}

pol_status pol_integrator_create(pol_integrator **integrator, const pol_dae *dae,
                                 const pol_options *options)
{
  *integrator = NULL;
  pol_status status = pol_integrator_supports(dae, options, NULL, 0);
  if (status) return status;
  pol_integrator *s = calloc(1, sizeof *s);
  if (!s) return POL_NO_MEMORY;
  s->dae = dae;
  s->options = *options;
  s->method = poli_method_entry_find(options->method);
  s->family = poli_method_family(s->method, dae);
  s->num_substeps = 1;

  /* (q, v, v', lambda) each, and the history */
  const int size = dae->group.nq + 2 * dae->group.nv + pol_dae_num_constraints(dae);
  poli_arena arena = {0};
  do {
    POLI_TAKE_EACH(&arena, size, &s->old, &s->work, &s->interpolated);
    POLI_TAKE(&arena, s->history, dae->history_size);
    POLI_TAKE(&arena, s->margins, 5 * (dae->extension ? dae->extension->num_margins : 0));
  } while (poli_arena_again(&arena));
  s->memory = arena.memory;
  s->memory_size = arena.used;
  if (dae->history_size == 0) s->history = NULL;
  s->state.history = s->history;
  status = s->memory ? POL_OK : POL_NO_MEMORY;
  if (!status) status = poli_step_control_create(&s->control, &dae->group, &options->control);
  if (!status) s->control->published = options->published.estimate;
  if (!status) status = pol_assembler_create(&s->assembler, dae, options->solver);
  if (!status) poli_assembler_set_history(s->assembler, s->history);
  /* a reset restarts between two steps, where nothing is allocated */
  if (!status && rank_is_cheap(s)) status = allocate_redundancy(s);
  if (!status) status = s->family->create(s);
  if (status)
    pol_integrator_free(&s);
  else
    *integrator = s;
  return status;
}

void pol_integrator_free(pol_integrator **integrator)
{
  pol_integrator *s = *integrator;
  if (!s) return;
  if (s->data) s->family->destroy(s->data);
  pol_assembler_free(&s->assembler);
  poli_step_control_free(&s->control);
  free(s->memory);
  poli_least_norm_free(&s->least_norm);
  free(s->shared);
  free(s->chosen);
  free(s);
  *integrator = NULL;
}

/* Brings the history up to date with an accepted configuration. */
static void update_history(pol_integrator *s, double t, const double *q)
{
  if (s->history) s->dae->update_history(t, q, s->history, s->dae->user);
}

/* vd and lambda, without redundant constraints.  These are searched for at once if that is cheap,
 * else only where the constraints turn out to be singular. */
static pol_status accelerate(pol_integrator *s, double t, const double *q, const double *v,
                             double *vd, double *lambda)
{
  pol_diagnostics *d = &s->diagnostics;
  int count = 0, m = pol_dae_num_constraints(s->dae);
  pol_status status = POL_SINGULAR;
  pol_assembler_keep_all(s->assembler);
  if (!rank_is_cheap(s)) {
    status = pol_assembler_acceleration(s->assembler, t, q, v, vd, lambda, d);
    if (status != POL_SINGULAR || m == 0) return status;
  }
  status = pol_assembler_drop_redundant(s->assembler, t, q, &count, d);
  if (status) return status;
  if (count == 0 || s->options.redundant != POL_REDUNDANT_REFUSE)
    return pol_assembler_acceleration(s->assembler, t, q, v, vd, lambda, d);

  /* names the constraints that the options do not allow to be redundant */
  const unsigned char *dropped = pol_assembler_dropped(s->assembler);
  size_t used =
      (size_t)snprintf(d->message, sizeof d->message, "%d constraint%s from the others:", count,
                       count == 1 ? " follows" : "s follow");
  for (int i = 0; i < m && used < sizeof d->message; i++) {
    char name[128];
    if (!dropped[i]) continue;
    poli_dae_describe(s->dae, s->dae->group.nv + i, name, sizeof name);
    used += (size_t)snprintf(d->message + used, sizeof d->message - used, " %s;", name);
  }
  snprintf(d->advice, sizeof d->advice,
           "let them be dropped, or use joints with fewer constraints");
  return POL_SINGULAR;
}

static int count_ones(const unsigned char *flags, int n)
{
  int count = 0;
  for (int i = 0; i < n; i++) count += flags[i];
  return count;
}

/* Gets ready to choose anew which redundant constraints to drop, and to share their reactions if
 * that is asked for. */
static pol_status prepare_redundancy(pol_integrator *s)
{
  int m = pol_dae_num_constraints(s->dae);
  s->shares = 0;
  s->redundant = count_ones(pol_assembler_dropped(s->assembler), m) > 0;
  if (!s->redundant) return POL_OK;
  pol_status status = allocate_redundancy(s);
  if (status || s->options.redundant != POL_REDUNDANT_MINIMUM_NORM) return status;
  if (s->dae->feedback) {
    snprintf(s->diagnostics.message, sizeof s->diagnostics.message,
             "forces depend on reactions that are not unique because of redundant constraints");
    snprintf(s->diagnostics.advice, sizeof s->diagnostics.advice,
             "use joints with fewer constraints, or let redundant constraints be dropped");
    return POL_SINGULAR;
  }
  s->shares = 1;
  return POL_OK;
}

/* Replaces the multipliers that the user sees by those of least norm; the family keeps its own. */
static pol_status share_reactions(pol_integrator *s)
{
  if (!s->shares) return POL_OK;
  pol_point at = pol_state_point(&s->state);
  memcpy(s->shared, s->state.lambda, (size_t)pol_dae_num_constraints(s->dae) * sizeof *s->shared);
  pol_status status = poli_least_norm_apply(s->least_norm, &at, s->shared);
  s->state.lambda = s->shared;
  if (status)
    snprintf(s->diagnostics.message, sizeof s->diagnostics.message,
             "the reactions of redundant constraints could not be distributed");
  return status;
}

/* Starts from q, v at t; counts and history stay. */
static pol_status start(pol_integrator *s, double t, const double *q_given, const double *v_given,
                        const unsigned char *keep)
{
  pol_diagnostics *d = &s->diagnostics;
  const size_t nq = (size_t)s->dae->group.nq, nv = (size_t)s->dae->group.nv;
  double *q = s->work, *v = q + nq, *vd = v + nv, *lambda = vd + nv;
  memset(d, 0, sizeof *d);
  d->equation = -1;
  /* they may be those of the integrator itself */
  memmove(q, q_given, nq * sizeof *q);
  memmove(v, v_given, nv * sizeof *v);
  s->before.q = NULL;
  s->state.q = NULL; /* no step before a start succeeds */
  s->crosses = 0;
  s->state.t = s->t_reference = t;
  s->h = 0.0;
  s->steps_since = 0;

  pol_status status = POL_OK;
  for (size_t i = 0; i < nq + nv; i++)
    if (!isfinite(q[i])) status = POL_NOT_FINITE;
  if (!status) {
    update_history(s, t, q);
    status = pol_assembler_position(s->assembler, t, q, d);
    update_history(s, t, q);
  }
  if (!status) status = pol_assembler_velocity(s->assembler, t, q, v, keep, NULL, d);
  if (!status) status = accelerate(s, t, q, v, vd, lambda);
  if (!status) status = prepare_redundancy(s);
  if (!status) status = s->family->start(s, q, v, vd, lambda);
  if (!status) status = share_reactions(s);
  if (status == POL_NOT_FINITE && !d->message[0])
    snprintf(d->message, sizeof d->message, "an initial value is not finite");
  return d->status = status;
}

pol_status pol_integrator_start(pol_integrator *integrator, double t, const double *q,
                                const double *v, const unsigned char *keep)
{
  memset(&integrator->counts, 0, sizeof integrator->counts);
  if (integrator->history) /* inputs keep their values */
    memset(integrator->history, 0,
           poli_dae_remembered(integrator->dae) * sizeof *integrator->history);
  poli_step_control_reset(integrator->control, 1);
  return start(integrator, t, q, v, keep);
}

pol_status pol_integrator_restart(pol_integrator *integrator, double t, const double *q,
                                  const double *v, const unsigned char *keep)
{
  poli_step_control_reset(integrator->control, 0);
  return start(integrator, t, q, v, keep);
}

pol_status poli_integrator_set_input(pol_integrator *integrator, int input, double value)
{
  pol_integrator *s = integrator;
  double *own = s->history + poli_dae_remembered(s->dae) + 2 * (size_t)input;
  if (own[0] > 0.0 && own[1] == value) return POL_OK;
  own[0] = 1.0;
  own[1] = value;
  return s->family->change_forces && s->state.q ? s->family->change_forces(s) : POL_OK;
}

double *poli_integrator_history(pol_integrator *integrator)
{
  return integrator->history;
}

int poli_integrator_lags(const pol_integrator *integrator)
{
  const poli_family *family = integrator->family;
  return family->lag && family->lag(integrator->method->variant) > 0.0;
}

int poli_integrator_is_dense(const pol_integrator *integrator)
{
  return integrator->family->interpolate != NULL;
}

int poli_integrator_doubt_step(pol_integrator *integrator, double h, char *message, size_t size)
{
  const poli_family *family = integrator->family;
  message[0] = '\0';
  if (family->doubt_step) family->doubt_step(integrator, h, message, size);
  return message[0] != '\0';
}

int poli_integrator_num_substeps(const pol_integrator *integrator)
{
  return integrator->num_substeps;
}

pol_assembler *poli_integrator_assembler(pol_integrator *integrator)
{
  return integrator->assembler;
}

pol_state poli_integrator_layout(const pol_integrator *integrator, double t, const double *array)
{
  const pol_group *group = &integrator->dae->group;
  return (pol_state){.t = t,
                     .q = array,
                     .v = array + group->nq,
                     .vd = array + group->nq + group->nv,
                     .lambda = array + group->nq + 2 * group->nv,
                     .history = integrator->history};
}

/* --- stepping --------------------------------------------------------------------------------- */

void poli_integrator_begin_step(pol_integrator *integrator, double t, double h)
{
  pol_diagnostics *d = &integrator->diagnostics;
  memset(d, 0, sizeof *d);
  d->equation = -1;
  d->t = t;
  d->h = h;
  d->step = integrator->counts.steps + 1;
}

void poli_integrator_keep_state(pol_integrator *integrator)
{
  const pol_state *now = &integrator->state;
  size_t nq = (size_t)integrator->dae->group.nq, nv = (size_t)integrator->dae->group.nv;
  double *to = integrator->work;
  memcpy(to, now->q, nq * sizeof *to);
  memcpy(to + nq, now->v, nv * sizeof *to);
  memcpy(to + nq + nv, now->vd, nv * sizeof *to);
  memcpy(to + nq + 2 * nv, now->lambda,
         (size_t)pol_dae_num_constraints(integrator->dae) * sizeof *to);
}

pol_status poli_integrator_end_step(pol_integrator *integrator, double t)
{
  pol_integrator *s = integrator;
  double *kept = s->work;
  s->work = s->old;
  s->old = kept;
  s->before = poli_integrator_layout(s, s->state.t, kept);
  s->state.t = t;
  s->counts.steps++;
  update_history(s, t, s->state.q);
  return s->hidden ? POL_OK : share_reactions(s);
}

pol_status pol_integrator_step(pol_integrator *integrator, double h)
{
  pol_integrator *s = integrator;
  pol_diagnostics *d = &s->diagnostics;
  poli_integrator_begin_step(s, s->state.t, h);
  if (!(h > 0.0) || !isfinite(h) || !s->state.q) {
    *d = (pol_diagnostics){.equation = -1};
    snprintf(d->message, sizeof d->message,
             "the step size must be positive, and the integrator must be started");
    return d->status = POL_BAD_ARGUMENT;
  }
  if (h != s->h) {
    s->t_reference = s->state.t;
    s->steps_since = 0;
    s->h = h;
  }
  d->t = s->t_reference + (double)(s->steps_since + 1) * h;
  const pol_diagnostics when = *d;
  s->adapting = 0;
  if (!s->hidden) poli_integrator_keep_state(s);
  pol_status status = s->family->step(s, d->t, h);
  if (status) {
    d->t = when.t;
    d->h = h;
    d->step = when.step;
    s->counts.rejected++;
    return d->status = status;
  }
  s->steps_since++;
  return d->status = poli_integrator_end_step(s, when.t);
}

pol_status pol_integrator_steps(pol_integrator *integrator, double h, long count)
{
  pol_status status = POL_OK;
  for (long n = 0; n < count && !status; n++) {
    /* the last step interpolates between both its ends */
    integrator->hidden = integrator->family->hides && n + 2 < count;
    status = pol_integrator_step(integrator, h);
    if (integrator->hidden) integrator->before.q = NULL; /* not seen */
  }
  integrator->hidden = 0;
  return status;
}

pol_point pol_state_point(const pol_state *state)
{
  return (pol_point){.t = state->t,
                     .q = state->q,
                     .v = state->v,
                     .vd = state->vd,
                     .lambda = state->lambda,
                     .history = state->history};
}

pol_status poli_integrator_choose_in(pol_integrator *integrator, int component)
{
  pol_integrator *s = integrator;
  const size_t m = (size_t)pol_dae_num_constraints(s->dae);
  if (!s->redundant || !s->state.q) return POL_BAD_ARGUMENT;
  pol_point at = pol_state_point(&s->state);
  const unsigned char *dropped = pol_assembler_dropped(s->assembler);
  memcpy(s->chosen, dropped, m);
  pol_status status = poli_independence_find(poli_assembler_independence(s->assembler), &at,
                                             dropped, component, s->chosen);
  if (status || (component >= 0 && memcmp(s->chosen, dropped, m) == 0)) return status;
  poli_assembler_set_dropped(s->assembler, s->chosen);
  if (s->family->forget) s->family->forget(s->data);
  return POL_OK;
}

pol_status pol_integrator_choose_constraints(pol_integrator *integrator)
{
  return poli_integrator_choose_in(integrator, -1);
}

poli_independence *poli_integrator_independence(pol_integrator *integrator)
{
  return poli_assembler_independence(integrator->assembler);
}

const unsigned char *poli_integrator_flags(const pol_integrator *integrator)
{
  const unsigned char *dropped = pol_assembler_dropped(integrator->assembler);
  const size_t m = (size_t)pol_dae_num_constraints(integrator->dae);
  return m > 0 && memchr(dropped, 1, m) ? dropped : NULL;
}

pol_status poli_integrator_drop_near(pol_integrator *integrator, double h, int *constraint)
{
  pol_integrator *s = integrator;
  const pol_group *group = &s->dae->group;
  const poli_family *family = s->family;
  const int m = pol_dae_num_constraints(s->dae);
  if (m == 0 || !s->state.q || s->dae->feedback || s->options.redundant == POL_REDUNDANT_REFUSE)
    return POL_BAD_ARGUMENT;
  if (!s->redundant && !rank_is_cheap(s)) return POL_BAD_ARGUMENT;
  pol_status status = allocate_redundancy(s);
  if (status) return status;

  /* where the step would end */
  const double reach = h * (family->share ? family->share(s->method->variant) : 1.0);
  double *q = s->work, *way = q + group->nq;
  for (int i = 0; i < group->nv; i++)
    way[i] = reach * (s->state.v[i] + 0.5 * reach * s->state.vd[i]);
  pol_group_move(group, s->state.q, way, q);
  pol_point at = pol_state_point(&s->state);
  at.q = q;
  at.t += reach;
  status = poli_independence_find_near(poli_assembler_independence(s->assembler), &at, near_others,
                                       s->chosen);
  if (status) return status;

  const unsigned char *dropped = pol_assembler_dropped(s->assembler);
  if (count_ones(s->chosen, m) <= count_ones(dropped, m)) return POL_BAD_ARGUMENT;
  for (int i = 0; i < m; i++)
    if (s->chosen[i] && !dropped[i]) *constraint = i;
  memcpy(s->usual, dropped, (size_t)m);
  s->crosses = 1;
  poli_assembler_set_dropped(s->assembler, s->chosen);
  if (family->forget) family->forget(s->data);
  return POL_OK;
}

void poli_integrator_keep_constraints(pol_integrator *integrator)
{
  pol_integrator *s = integrator;
  if (!s->crosses) return;
  s->crosses = 0;
  poli_assembler_set_dropped(s->assembler, s->usual);
  if (s->family->forget) s->family->forget(s->data);
}

/* --- archive ---------------------------------------------------------------------------------- */

void poli_state_archive(pol_state *state, void *memory, size_t size, poli_archive *archive)
{
  const double **const arrays[] = {&state->q,      &state->v,   &state->vd,
                                   &state->lambda, &state->eta, &state->p};
  POLI_ARCHIVE(archive, state->t);
  POLI_ARCHIVE(archive, state->lambda_t);
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
    *arrays[i] = poli_archive_place(archive, *arrays[i], memory, size);
}

/* Redundant constraints and the reactions that they share. */
static void archive_redundancy(pol_integrator *s, poli_archive *archive)
{
  const size_t m = (size_t)pol_dae_num_constraints(s->dae);
  POLI_ARCHIVE(archive, s->redundant);
  POLI_ARCHIVE(archive, s->shares);
  POLI_ARCHIVE(archive, s->crosses);
  const int chosen = poli_archive_has(archive, s->chosen != NULL);
  const int shared = poli_archive_has(archive, s->least_norm != NULL);
  if (archive->mode == POLI_ARCHIVE_LOAD && (chosen || shared) && !archive->status)
    archive->status = allocate_redundancy(s);
  if (archive->status) return;
  if (chosen) poli_archive_bytes(archive, s->chosen, 2 * m);
  if (shared) {
    poli_archive_bytes(archive, s->shared, m * sizeof *s->shared);
    poli_least_norm_archive(s->least_norm, archive);
  }
}

void poli_integrator_archive(pol_integrator *integrator, poli_archive *archive)
{
  pol_integrator *s = integrator;
  int shown = s->shares && s->state.lambda == s->shared; /* the multipliers */
  const double *own = s->state.lambda;
  POLI_ARCHIVE(archive, s->num_substeps);
  POLI_ARCHIVE(archive, s->counts);
  POLI_ARCHIVE(archive, s->diagnostics);
  POLI_ARCHIVE(archive, s->t_reference);
  POLI_ARCHIVE(archive, s->h);
  POLI_ARCHIVE(archive, s->steps_since);
  POLI_ARCHIVE(archive, s->hidden);
  POLI_ARCHIVE(archive, s->adapting);
  poli_archive_bytes(archive, s->memory, s->memory_size);
  s->old = poli_archive_place(archive, s->old, s->memory, s->memory_size);
  s->work = poli_archive_place(archive, s->work, s->memory, s->memory_size);
  int has_before = s->before.q != NULL;
  double before = s->before.t;
  POLI_ARCHIVE(archive, has_before);
  POLI_ARCHIVE(archive, before);
  if (archive->mode == POLI_ARCHIVE_LOAD) {
    s->before = poli_integrator_layout(s, before, s->old);
    if (!has_before) s->before.q = NULL;
  }
  poli_step_control_archive(s->control, archive);
  poli_assembler_archive(s->assembler, archive);
  archive_redundancy(s, archive);

  /* the family lists the state; reactions that are shared are not its own */
  POLI_ARCHIVE(archive, shown);
  if (archive->mode != POLI_ARCHIVE_LOAD && shown) s->state.lambda = NULL;
  if (!archive->status) s->family->archive(s, archive);
  if (archive->mode != POLI_ARCHIVE_LOAD)
    s->state.lambda = own;
  else if (shown)
    s->state.lambda = s->shared;
}

const pol_state *pol_integrator_state(const pol_integrator *integrator)
{
  return &integrator->state;
}

const pol_counts *pol_integrator_counts(const pol_integrator *integrator)
{
  return &integrator->counts;
}

const unsigned char *pol_integrator_dropped(const pol_integrator *integrator)
{
  return pol_assembler_dropped(integrator->assembler);
}

const pol_diagnostics *pol_integrator_diagnostics(const pol_integrator *integrator)
{
  return &integrator->diagnostics;
}
