#include "differential/compare.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/model.h>
#include <polhode/result.h>

#include "dae/assembler.h"
#include "lie/small.h"

enum { MAX_ENTRIES = 1600, MAX_LEVELS = 7, FIRST_STEPS = 16, START_LEVELS = 3 };

/* How many times the sum of their errors two limits may differ by. */
static const double safety = 4.0;

/* --- configurations --------------------------------------------------------------------------- */

typedef struct configuration {
  const char *method;
  pol_formulation_kind formulation;
  pol_index index;
  double rho;   /* of the generalized-alpha methods */
  double sigma; /* -1: optimal */
  pol_sigma_update update;
  int full; /* Newton's matrix in each iteration, else kept */
  pol_solver_kind solver;
  double rtol;     /* above 0: steps of variable size */
  int shares;      /* redundant reactions */
  int first_order; /* the leading term of the error is h, else h^2 */
} configuration;

#define STABLE POL_INDEX_2_STABILIZED
static const configuration reference_configuration = {
    .method = "geom1", .index = STABLE, .rho = 0.9};

static const configuration configurations[] = {
    {.method = "geom1", .formulation = POL_SO3XR3, .rho = 0.9},
    {.method = "geom1", .formulation = POL_SO3XR3, .index = POL_INDEX_2, .rho = 0.9},
    {.method = "geom1", .formulation = POL_SE3_BODY, .rho = 0.8},
    {.method = "geom1", .formulation = POL_SE3_BODY, .index = POL_INDEX_2, .rho = 0.9},
    {.method = "geom1", .formulation = POL_SE3_BODY, .index = STABLE, .rho = 0.9},
    {.method = "geom1", .formulation = POL_SO3XR3_SPATIAL, .rho = 0.9},
    {.method = "geom1", .formulation = POL_SO3XR3_SPATIAL, .index = POL_INDEX_2, .rho = 1.0},
    {.method = "geom1", .formulation = POL_SO3XR3_SPATIAL, .index = STABLE, .rho = 0.9},
    {.method = "geom1", .formulation = POL_SO3XR3_CAYLEY, .rho = 0.9},
    {.method = "geom1", .formulation = POL_SO3XR3_CAYLEY, .index = POL_INDEX_2, .rho = 0.9},
    {.method = "geom1", .formulation = POL_SO3XR3_CAYLEY, .index = STABLE, .rho = 0.9},
    {.method = "geom1", .formulation = POL_SO3_PIVOT, .rho = 0.9},
    {.method = "geom1", .formulation = POL_SO3_PIVOT, .index = STABLE, .rho = 0.9},
    {.method = "geom1", .formulation = POL_ROTATION_VECTOR, .rho = 0.9},
    {.method = "geom1", .formulation = POL_ROTATION_VECTOR, .index = STABLE, .rho = 0.9},
    {.method = "geom1", .formulation = POL_EULER_PARAMETERS, .rho = 0.9},
    {.method = "geom1", .formulation = POL_EULER_PARAMETERS, .index = POL_INDEX_2, .rho = 0.9},
    {.method = "geom1", .formulation = POL_EULER_PARAMETERS, .index = STABLE, .rho = 0.9},
    {.method = "geom1", .formulation = POL_TAIT_BRYAN, .rho = 0.9},
    {.method = "geom1", .formulation = POL_TAIT_BRYAN, .index = STABLE, .rho = 0.9},
    {.method = "geom1", .formulation = POL_DIRECTORS, .rho = 0.9},
    {.method = "geom1", .formulation = POL_DIRECTORS, .index = POL_INDEX_2, .rho = 0.9},
    {.method = "geom1", .formulation = POL_DIRECTORS, .index = STABLE, .rho = 0.9},
    {.method = "geom2", .formulation = POL_SO3XR3, .rho = 0.9},
    {.method = "geom2", .formulation = POL_SE3_BODY, .index = STABLE, .rho = 0.7},
    {.method = "geom2", .formulation = POL_SO3XR3_SPATIAL, .index = POL_INDEX_2, .rho = 0.9},
    {.method = "geom3", .formulation = POL_SO3XR3, .index = STABLE, .rho = 0.9},
    {.method = "geom3", .formulation = POL_SE3_BODY, .rho = 0.9},
    {.method = "geom3", .formulation = POL_EULER_PARAMETERS, .index = STABLE, .rho = 0.9},
    {.method = "linear", .formulation = POL_SO3XR3, .rho = 0.9},
    {.method = "linear", .formulation = POL_SO3XR3_CAYLEY, .index = STABLE, .rho = 0.9},
    {.method = "linear", .formulation = POL_ROTATION_VECTOR, .index = POL_INDEX_2, .rho = 0.9},
    {.method = "linear", .formulation = POL_TAIT_BRYAN, .index = STABLE, .rho = 0.9},
    {.method = "linear", .formulation = POL_SE3_BODY, .rho = 0.9},
    {.method = "geom1", .formulation = POL_SO3XR3, .rho = 0.9, .sigma = -1.0},
    {.method = "geom1",
     .formulation = POL_SO3XR3_SPATIAL,
     .index = STABLE,
     .rho = 0.9,
     .sigma = 1.0},
    {.method = "geom1", .formulation = POL_SE3_BODY, .index = STABLE, .rho = 0.9, .sigma = -1.0},
    {.method = "geom1",
     .formulation = POL_SO3XR3,
     .index = STABLE,
     .rho = 0.9,
     .sigma = -1.0,
     .update = POL_SIGMA_INCREMENTAL},
    {.method = "geom1", .formulation = POL_SO3XR3, .index = STABLE, .rho = 1.0},
    {.method = "geom1", .formulation = POL_SO3XR3, .index = STABLE, .rho = 0.0},
    {.method = "geom1", .formulation = POL_SO3XR3, .rho = 0.3},
    {.method = "geom1", .formulation = POL_SO3XR3, .index = STABLE, .rho = 0.9, .full = 1},
    {.method = "geom1",
     .formulation = POL_EULER_PARAMETERS,
     .index = STABLE,
     .rho = 0.9,
     .solver = POL_SOLVER_SPARSE},
    {.method = "geom1", .formulation = POL_SO3XR3, .index = STABLE, .rho = 0.9, .shares = 1},
    {.method = "newmark", .formulation = POL_SO3XR3, .index = STABLE},
    {.method = "newmark", .formulation = POL_DIRECTORS, .index = POL_INDEX_2},
    {.method = "hht", .formulation = POL_SO3XR3},
    {.method = "hht", .formulation = POL_EULER_PARAMETERS, .index = STABLE},
    {.method = "vi-s", .formulation = POL_DIRECTORS, .first_order = 1},
    {.method = "vi-a", .formulation = POL_DIRECTORS, .first_order = 1},
    {.method = "vi-a", .formulation = POL_EULER_PARAMETERS, .first_order = 1},
    {.method = "vi-b", .formulation = POL_DIRECTORS, .first_order = 1},
    {.method = "em", .formulation = POL_DIRECTORS},
    {.method = "em", .formulation = POL_EULER_PARAMETERS},
    {.method = "em-g", .formulation = POL_DIRECTORS},
    {.method = "em-g", .formulation = POL_EULER_PARAMETERS},
    {.method = "midpoint", .formulation = POL_DIRECTORS},
    {.method = "midpoint", .formulation = POL_EULER_PARAMETERS},
    {.method = "rattle", .formulation = POL_DIRECTORS},
    {.method = "rattle", .formulation = POL_SO3XR3},
    {.method = "geom1", .formulation = POL_SO3XR3, .index = STABLE, .rho = 0.8, .rtol = 1e-6},
    {.method = "geom1", .formulation = POL_SO3XR3, .rho = 0.8, .rtol = 1e-6},
    {.method = "geom1",
     .formulation = POL_EULER_PARAMETERS,
     .index = STABLE,
     .rho = 0.8,
     .rtol = 1e-6},
    {.method = "geom1",
     .formulation = POL_SE3_BODY,
     .index = POL_INDEX_2,
     .rho = 0.8,
     .rtol = 1e-6},
    {.method = "geom1", .formulation = POL_DIRECTORS, .index = STABLE, .rho = 0.8, .rtol = 1e-6},
    {.method = "hht", .formulation = POL_SO3XR3, .index = STABLE, .rtol = 1e-6},
};
enum { NUM_CONFIGURATIONS = sizeof configurations / sizeof configurations[0] };

static void name_configuration(const configuration *c, char *text, size_t size)
{
  static const char *const index[] = {"3", "2", "stabilized-2"};
  int n = snprintf(text, size, "%s %s index %s", c->method, pol_formulation_name(c->formulation),
                   index[c->index]);
  if (c->rho > 0.0) n += snprintf(text + n, size - (size_t)n, " rho %g", c->rho);
  if (c->sigma != 0.0)
    n += snprintf(text + n, size - (size_t)n, c->sigma < 0.0 ? " sigma optimal" : " sigma %g",
                  c->sigma);
  if (c->update != POL_SIGMA_EXACT) n += snprintf(text + n, size - (size_t)n, " incremental");
  if (c->shares) n += snprintf(text + n, size - (size_t)n, " minimum-norm");
  if (c->full) n += snprintf(text + n, size - (size_t)n, " newton full");
  if (c->solver != POL_SOLVER_AUTO)
    n += snprintf(text + n, size - (size_t)n, " %s", pol_solver_kind_name(c->solver));
  if (c->rtol > 0.0) snprintf(text + n, size - (size_t)n, " rtol %g", c->rtol);
}

/* Steps of level 0, 1, 2, ... are h, h/2, h/4; tolerances go down by 10 a level. */
static pol_settings settings_of(const random_model *model, const configuration *c, int level)
{
  pol_settings s = random_model_settings(model);
  pol_options *o = &s.options;
  s.formulation = c->formulation;
  pol_options_set_method(o, c->method);
  if (!strncmp(c->method, "geom", 4) || !strcmp(c->method, "linear"))
    pol_options_set_rho_inf(o, c->rho);
  if (!strcmp(c->method, "vi-b")) o->theta = 0.5;
  o->index = c->index;
  o->sigma = c->sigma < 0.0 ? o->gamma / (3.0 * o->beta) : c->sigma;
  o->published.sigma_update = c->update;
  if (c->full) o->newton.kind = POL_NEWTON_FULL;
  o->newton.tolerance = 1e-12;
  o->solver = c->solver;
  if (c->shares) o->redundant = POL_REDUNDANT_MINIMUM_NORM;
  s.step = model->end / (FIRST_STEPS << level);
  if (c->rtol > 0.0) {
    s.variable = 1;
    o->control.rtol = o->control.atol_translation = o->control.atol_rotation =
        c->rtol * pow(10.0, -level);
  }
  return s;
}

/* --- one run ---------------------------------------------------------------------------------- */

/* What an entry is compared with. */
typedef enum entry_kind {
  WITH_REFERENCE,
  WITH_ZERO,       /* energy balance, change of an invariant */
  AT_ACCELERATIONS /* a reaction that the accelerations ask for: with that of the reference */
} entry_kind;

typedef struct entry {
  char name[48];
  char category[48];
  entry_kind kind;
  int reaction; /* it is one, or depends on them */
  int axis; /* 0, 1, 2: component of a vector in global axes, 3: of a rotation matrix, else -1 */
} entry;

typedef struct outcome {
  pol_status status;
  int refused; /* 1: when it was created */
  double t;
  char message[480];
  int count, redundant;
  long steps;
  double lag;        /* by which the reactions are earlier than the rest */
  int is_open;       /* the run warns that its motion depends on reactions that are not unique */
  char warning[320]; /* the first other warning */
  double value[MAX_ENTRIES];
} outcome;

/* The entries of a run, the same for all its step sizes. */
typedef struct layout {
  int count;
  entry entries[MAX_ENTRIES];
} layout;

static void add_entry(layout *list, const char *name, const char *category, entry_kind kind,
                      int reaction, int axis)
{
  if (list->count == MAX_ENTRIES) abort();
  entry *e = &list->entries[list->count++];
  snprintf(e->name, sizeof e->name, "%s", name);
  snprintf(e->category, sizeof e->category, "%s", category);
  e->kind = kind;
  e->reaction = reaction;
  e->axis = axis;
}

/* Channels that depend on coordinates or are no result. */
static int is_left_out(const pol_channel *channel)
{
  return !strcmp(channel->group, "") || !strcmp(channel->group, "residual") ||
         !strcmp(channel->group, "invariant") || !strcmp(channel->group, "increment") ||
         !strcmp(channel->group, "invariants") || strstr(channel->quantity, "quaternion") ||
         strstr(channel->quantity, "multiplier") || strstr(channel->name, "invariant.") ||
         strstr(channel->name, "increment.");
}

/* Which component of a vector in global axes it is. */
static int global_axis(const pol_channel *channel)
{
  static const char *const vectors[] = {"position.", "velocity.", "angular_velocity_global.",
                                        "force.",    "torque.",   "linear.",
                                        "angular."};
  if (!strcmp(channel->group, "couplings")) return -1;
  for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
    const size_t length = strlen(vectors[i]);
    if (!strncmp(channel->quantity, vectors[i], length) && channel->quantity[length] >= 'x')
      return channel->quantity[length] - 'x';
  }
  return -1;
}

static void lay_out(layout *list, const pol_record *record, const pol_mechanism *mechanism)
{
  static const char axes[] = "xyz";
  char name[48], category[48];
  list->count = 0;
  for (int i = 0; i < pol_record_count(record); i++) {
    const pol_channel *channel = pol_record_channel(record, i);
    if (is_left_out(channel)) continue;
    const int efforts = !strcmp(channel->group, "joints") &&
                        (!strcmp(channel->unit, "N") || !strcmp(channel->unit, "N m"));
    const int reaction = efforts || !strcmp(channel->group, "drives") ||
                         !strcmp(channel->group, "couplings") ||
                         !strcmp(channel->group, "variables");
    snprintf(category, sizeof category, "%s %s", channel->group, channel->unit);
    add_entry(list, channel->name, category,
              !strcmp(channel->name, "energy.balance") ? WITH_ZERO : WITH_REFERENCE, reaction,
              global_axis(channel));
  }
  for (int b = 0; b < pol_mechanism_num_bodies(mechanism); b++)
    for (int k = 0; k < 9; k++) { /* of a point mass they are always the same */
      snprintf(name, sizeof name, "%s.rotation.%d", pol_mechanism_body(mechanism, b)->name, k);
      add_entry(list, name, "rotation", WITH_REFERENCE, 0,
                pol_mechanism_body(mechanism, b)->point ? -1 : 3);
    }
  for (int j = 0; j < pol_mechanism_num_joints(mechanism); j++)
    for (int k = 0; k < 6; k++) {
      snprintf(name, sizeof name, "%s.%s.%c", pol_mechanism_joint(mechanism, j)->name,
               k < 3 ? "force" : "torque", axes[k % 3]);
      add_entry(list, name, k < 3 ? "accelerations N" : "accelerations N m", AT_ACCELERATIONS, 1,
                k % 3);
    }
  for (int k = 0; k < POL_MAX_INVARIANTS; k++)
    add_entry(list, "invariant", "invariants", WITH_ZERO, 0, -1);
  for (int k = 0; k < MAX_EVENTS; k++) {
    snprintf(name, sizeof name, "event %d", k);
    add_entry(list, name, "events s", WITH_REFERENCE, 0, -1);
  }
}

/* The reactions that belong to accelerations which satisfy the equations at the last position and
 * velocity. */
static pol_status accelerate(const pol_simulation *simulation, double *value)
{
  const pol_formulation *f = pol_simulation_formulation(simulation);
  const pol_dae *dae = pol_formulation_dae(f);
  const pol_state *state = pol_simulation_state(simulation);
  const int nv = dae->group.nv, m = pol_dae_num_constraints(dae);
  double *vd = malloc((size_t)(nv + m + 1) * sizeof *vd);
  pol_assembler *assembler = NULL;
  pol_status status = vd ? pol_assembler_create(&assembler, dae, POL_SOLVER_AUTO) : POL_NO_MEMORY;
  if (!status) {
    poli_assembler_set_history(assembler, state->history);
    status = pol_assembler_acceleration(assembler, state->t, state->q, state->v, vd, vd + nv, NULL);
  }
  if (!status) {
    pol_point at = pol_state_point(state);
    at.vd = vd;
    at.lambda = vd + nv;
    for (int j = 0; j < pol_mechanism_num_joints(pol_formulation_mechanism(f)); j++)
      pol_formulation_reaction(f, &at, j, value + 6 * j, value + 6 * j + 3);
  }
  pol_assembler_free(&assembler);
  free(vd);
  return status;
}

/* The last values of a run in the order of the layout. */
static void measure(const pol_simulation *simulation, const pol_record *record, const layout *list,
                    const double *events, int num_events, double *row, outcome *out)
{
  const pol_formulation *f = pol_simulation_formulation(simulation);
  const pol_mechanism *mechanism = pol_formulation_mechanism(f);
  const pol_state *state = pol_simulation_state(simulation);
  const pol_summary *summary = pol_simulation_summary(simulation);
  int n = 0;
  pol_record_row(record, row);
  for (int i = 0; i < pol_record_count(record); i++)
    if (!is_left_out(pol_record_channel(record, i))) out->value[n++] = row[i];
  for (int b = 0; b < pol_mechanism_num_bodies(mechanism); b++, n += 9) {
    pol_body_state body;
    pol_formulation_body_state(f, state->q, state->v, b, &body);
    memcpy(out->value + n, body.rotation, sizeof body.rotation);
  }
  out->status = out->redundant ? POL_OK : accelerate(simulation, out->value + n);
  if (out->status) snprintf(out->message, sizeof out->message, "no accelerations at the end");
  n += 6 * pol_mechanism_num_joints(mechanism);
  for (int k = 0; k < POL_MAX_INVARIANTS; k++) {
    const pol_invariant *invariant = &summary->invariants[k];
    out->value[n++] = k < summary->num_invariants ? invariant->value - invariant->initial : 0.0;
  }
  for (int k = 0; k < MAX_EVENTS; k++) out->value[n++] = k < num_events ? events[k] : -1.0;
  if (n != list->count) abort();
  out->count = n;
}

/* Runs a mechanism to the end, or looks at its start only; a layout that is empty is filled. */
static void run(const pol_mechanism *mechanism, const pol_settings *settings, int start_only,
                layout *list, outcome *out)
{
  pol_simulation *simulation;
  pol_record *record = NULL;
  pol_diagnostics d = {0};
  double events[MAX_EVENTS] = {0.0};
  int num_events = 0;
  memset(out, 0, offsetof(outcome, value));
  memset(out->value, 0, sizeof out->value);
  out->status = pol_simulation_create(&simulation, mechanism, settings, &d);
  out->refused = out->status != POL_OK;
  if (out->status) {
    snprintf(out->message, sizeof out->message, "%s%s%s", d.where, d.where[0] ? ": " : "",
             d.message);
    return;
  }
  pol_simulation_dropped(simulation, &out->redundant);
  while (!out->status && !start_only && !pol_simulation_finished(simulation)) {
    out->status = pol_simulation_step(simulation);
    if (pol_simulation_event_index(simulation) >= 0 && num_events < MAX_EVENTS)
      events[num_events++] = pol_simulation_state(simulation)->t;
  }
  out->t = pol_simulation_state(simulation)->t;
  out->lag = out->t - pol_simulation_state(simulation)->lambda_t;
  const pol_summary *summary = pol_simulation_summary(simulation);
  out->steps = summary->counts.steps;
  for (int i = 0; i < summary->num_warnings; i++) {
    const char *warning = summary->warnings[i].message;
    const int open = strstr(warning, "not unique because constraints are redundant") != NULL;
    out->is_open |= open;
    if (!open && !out->warning[0]) snprintf(out->warning, sizeof out->warning, "%s", warning);
  }
  if (out->status) {
    const pol_diagnostics *why = pol_simulation_diagnostics(simulation);
    snprintf(out->message, sizeof out->message, "t = %.4g: %s: %s", out->t, why->where,
             why->message);
  } else {
    out->status = pol_record_create(&record, simulation);
  }
  double *row = record ? calloc((size_t)pol_record_count(record), sizeof *row) : NULL;
  if (row) {
    if (list->count == 0) lay_out(list, record, mechanism);
    measure(simulation, record, list, events, num_events, row, out);
  }
  free(row);
  pol_record_free(&record);
  pol_simulation_free(&simulation);
}

/* --- limits ----------------------------------------------------------------------------------- */

/* A configuration of a mechanism and its runs so far. */
typedef struct limit {
  const random_model *model;
  const pol_mechanism *mechanism; /* that of the model, or a copy of it */
  const double *turn;             /* by which that is turned; NULL: it is not */
  configuration configuration;
  layout list;
  int levels;
  outcome *runs[MAX_LEVELS];
  double start[MAX_ENTRIES]; /* by which it starts elsewhere than the reference */
  double value[MAX_ENTRIES], error[MAX_ENTRIES]; /* the error is the largest of a category */
} limit;

static void turn_back(const limit *l, outcome *out)
{
  double R[9];
  pol_quat_to_matrix(l->turn, R);
  for (int i = 0; i < l->list.count; i++) {
    double *v = out->value + i;
    if (l->list.entries[i].axis == 0) {
      double turned[3] = {v[0], v[1], v[2]};
      poli_m3_apply_transposed(R, turned, v);
    }
    if (l->list.entries[i].axis == 3) {
      double turned[9];
      memcpy(turned, v, sizeof turned);
      poli_m3_multiply_transposed(R, turned, v);
      i += 8;
    }
  }
}

static int has_reset(const random_model *model)
{
  for (int i = 0; i < model->num_events; i++)
    if (model->events[i].action == POL_EVENT_RESET) return 1;
  return 0;
}

/* Values and errors from the last levels: a + b h^2 + ..., or a + b h + c h^2 + ...  Reactions of
 * an earlier time are extrapolated to this one: with events the lags are not quite h, h/2, h/4. */
static void extrapolate(limit *l)
{
  const int k = l->levels - 1;
  const double *y0 = l->runs[k - 2]->value, *y1 = l->runs[k - 1]->value, *y2 = l->runs[k]->value;
  for (int i = 0; i < l->list.count; i++) {
    const int lags = l->list.entries[i].reaction && l->list.entries[i].kind != AT_ACCELERATIONS &&
                     l->runs[k]->lag > 0.0;
    double x[3] = {4.0, 2.0, 1.0};
    for (int j = 0; j < 3 && lags; j++) x[j] = l->runs[k - 2 + j]->lag;
    if (l->configuration.rtol > 0.0 || (l->configuration.first_order && has_reset(l->model))) {
      l->value[i] = y2[i];
      l->error[i] = fmax(fabs(y2[i] - y1[i]), 0.5 * fabs(y1[i] - y0[i]));
    } else if (lags || l->configuration.first_order) {
      const double early = (x[0] * y1[i] - x[1] * y0[i]) / (x[0] - x[1]);
      const double late = (x[1] * y2[i] - x[2] * y1[i]) / (x[1] - x[2]);
      l->value[i] = (x[0] * late - x[2] * early) / (x[0] - x[2]);
      l->error[i] = fabs(l->value[i] - late);
    } else {
      const double early = (4.0 * y1[i] - y0[i]) / 3.0;
      l->value[i] = (4.0 * y2[i] - y1[i]) / 3.0;
      l->error[i] = fabs(l->value[i] - early);
    }
  }
  for (int i = 0; i < l->list.count; i++) l->error[i] += l->start[i];
  for (int i = 0; i < l->list.count; i++)
    for (int j = 0; j < l->list.count; j++)
      if (l->error[j] > l->error[i] &&
          !strcmp(l->list.entries[i].category, l->list.entries[j].category))
        l->error[i] = l->error[j];
}

/* Whether the last two tolerances have led to the same steps, as where the size is limited by its
 * growth from step to step: the same numbers say nothing of their error. */
static int took_the_same_steps(const limit *l)
{
  const int k = l->levels - 1;
  return l->configuration.rtol > 0.0 && k > 0 && l->runs[k]->steps <= l->runs[k - 1]->steps;
}

/* Adds runs up to so many levels, and more where steps that are too long have failed or tolerances
 * make no difference: the last three must come to their end.  Returns NULL, or a run that failed if
 * there are no such three. */
static const outcome *refine(limit *l, int levels, compare_counts *counts)
{
  const outcome *failed = NULL;
  int good = 0;
  for (int k = l->levels - 1; k >= 0 && !l->runs[k]->status; k--) good++;
  while (l->levels < levels ||
         ((good < START_LEVELS || took_the_same_steps(l)) && l->levels < MAX_LEVELS)) {
    outcome *out = malloc(sizeof *out);
    if (!out) abort();
    pol_settings settings = settings_of(l->model, &l->configuration, l->levels);
    run(l->mechanism, &settings, 0, &l->list, out);
    counts->runs++;
    l->runs[l->levels++] = out;
    good = out->status ? 0 : good + 1;
    if (out->status) failed = out;
    if (out->status && (out->refused || l->configuration.rtol > 0.0)) return out;
    if (!out->status && l->turn) turn_back(l, out);
  }
  if (good < START_LEVELS) return failed;
  extrapolate(l);
  return NULL;
}

static void free_limit(limit *l)
{
  for (int i = 0; i < l->levels; i++) free(l->runs[i]);
  l->levels = 0;
}

/* --- comparisons ------------------------------------------------------------------------------ */

typedef struct comparison {
  const random_model *model;
  const compare_options *options;
  compare_counts *counts;
} comparison;

static void report(const comparison *c, const char *kind, int disagreement, const char *format, ...)
{
  char text[1000];
  int n = snprintf(text, sizeof text, "seed %llu: ", (unsigned long long)c->model->seed);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text + n, sizeof text - (size_t)n, format, arguments);
  va_end(arguments);
  c->counts->disagreements += disagreement;
  if (c->options->report) c->options->report(kind, disagreement, text, c->options->user);
}

static int find_entry(const layout *list, const char *name, int guess)
{
  if (guess < list->count && list->entries[guess].kind != AT_ACCELERATIONS &&
      !strcmp(list->entries[guess].name, name))
    return guess;
  for (int i = 0; i < list->count; i++)
    if (list->entries[i].kind != AT_ACCELERATIONS && !strcmp(list->entries[i].name, name)) return i;
  return -1;
}

/* The size of what an entry belongs to: the largest number of its category in the reference, not
 * less than what is usual in these mechanisms. */
static double size_of(const limit *reference, const entry *e)
{
  double size = e->reaction || strstr(e->category, " N") ? 10.0 : 1.0;
  for (int i = 0; i < reference->list.count; i++) {
    const entry *other = &reference->list.entries[i];
    const int energies = e->kind == WITH_ZERO && !strncmp(other->category, "energy", 6);
    if (!strcmp(other->category, e->category) || energies)
      size = fmax(size, fabs(reference->value[i]));
  }
  return size;
}

static int is_work(const entry *e)
{
  return !strcmp(e->name, "energy.dissipated") || !strcmp(e->name, "energy.applied") ||
         !strcmp(e->name, "energy.drives") || !strcmp(e->name, "energy.balance");
}

/* The worst difference between two limits in units of what it may be; *at is its entry. */
static double worst_difference(const limit *l, const limit *reference, int *at, double *difference,
                               double *tolerance, int *undecided)
{
  double worst = 0.0;
  *undecided = 0;
  *at = -1;
  const int redundant =
      l->runs[l->levels - 1]->redundant || reference->runs[reference->levels - 1]->redundant;
  const int uneven = has_reset(l->model);
  for (int i = 0; i < l->list.count; i++) {
    const entry *e = &l->list.entries[i];
    const int other = e->kind == WITH_ZERO ? -1 : find_entry(&reference->list, e->name, i);
    if (e->reaction && redundant) continue; /* they are not unique */
    /* steps of variable size are not chosen for the integrals of power */
    if (l->configuration.rtol > 0.0 && is_work(e)) continue;
    if (uneven && e->reaction && l->runs[l->levels - 1]->lag > 0.0) continue;
    if (e->kind != WITH_ZERO && other < 0) continue;
    const double size = size_of(reference, e);
    const double value = other < 0 ? 0.0 : reference->value[other];
    const double error = l->error[i] + (other < 0 ? 0.0 : reference->error[other]);
    /* round-off; with steps of variable size Newton's iteration ends by the tolerance asked for */
    const double asked = l->configuration.rtol * pow(10.0, 1 - l->levels);
    const double floor = ((e->reaction ? 1e-7 : 1e-9) + 10.0 * asked) * size;
    const double allowed = safety * error + floor, found = fabs(l->value[i] - value);
    if (error > 0.01 * size) *undecided = 1;
    if (found <= worst * allowed) continue;
    worst = found / allowed;
    *at = i;
    *difference = l->value[i] - value;
    *tolerance = allowed;
  }
  return worst;
}

/* Whether a run was refused with a reason: settings that do not fit the model or, where forces
 * depend on reactions that are not unique, a model that has no answer. */
static int is_refusal(const outcome *out)
{
  return out->refused &&
         (out->status == POL_BAD_ARGUMENT || strstr(out->message, "forces depend on reactions"));
}

/* Compares a configuration with the reference; both are refined where they seem to differ. */
static void compare_limits(const comparison *c, limit *l, limit *reference, const char *name)
{
  int at, undecided;
  double difference, tolerance;
  const int highest = l->configuration.rtol > 0.0 ? START_LEVELS : MAX_LEVELS;
  const outcome *failed = refine(l, START_LEVELS, c->counts);
  if (failed && is_refusal(failed)) {
    c->counts->refused++;
    report(c, "refused", 0, "%s: %s", name, failed->message);
    return;
  }
  if (failed) {
    const int gimbal = strstr(failed->message, "gimbal") != NULL;
    report(c, gimbal ? "refused" : "failure", !gimbal, "%s: %s [%s]", name, failed->message,
           c->model->words);
    return;
  }
  double worst = worst_difference(l, reference, &at, &difference, &tolerance, &undecided);
  while ((worst > 1.0 || undecided) && (l->levels < highest || reference->levels < MAX_LEVELS)) {
    if (l->levels < highest) failed = refine(l, l->levels + 1, c->counts);
    if (!failed && reference->levels < l->levels) failed = refine(reference, l->levels, c->counts);
    if (!failed && l->levels >= highest && reference->levels < MAX_LEVELS)
      failed = refine(reference, reference->levels + 1, c->counts);
    if (failed) {
      report(c, "failure", 1, "%s, smaller steps: %s [%s]", name, failed->message, c->model->words);
      return;
    }
    worst = worst_difference(l, reference, &at, &difference, &tolerance, &undecided);
  }
  c->counts->comparisons++;
  c->counts->undecided += undecided;
  /* a run that is right must not be doubted */
  if (worst <= 1.0 && l->runs[l->levels - 1]->warning[0])
    report(c, "warned", 1, "%s: %s [%s]", name, l->runs[l->levels - 1]->warning, c->model->words);
  if (worst <= 1.0) {
    if (undecided) report(c, "undecided", 0, "%s [%s]", name, c->model->words);
    return;
  }
  report(c, l->list.entries[at].category, 1, "%s: %s%s differs by %.3g, more than %.3g [%s]", name,
         l->list.entries[at].name, l->list.entries[at].kind == AT_ACCELERATIONS ? " (acc)" : "",
         difference, tolerance, c->model->words);
}

/* --- numbers that must be the same ------------------------------------------------------------ */

/* The text of a model, read again, is the same model: the same numbers come out. */
static void compare_text(const comparison *c, limit *reference)
{
  char *text = NULL;
  size_t size;
  FILE *file = open_memstream(&text, &size);
  if (!file) abort();
  pol_settings settings = settings_of(c->model, &reference->configuration, 0);
  random_model_write(c->model, &settings, file);
  fclose(file);
  pol_model *read = NULL;
  pol_errors errors = {0, NULL};
  layout list = {0};
  if (pol_model_read_text(&read, text, 0, NULL, &errors)) {
    report(c, "text", 1, "its file is refused: %s: %s (%s)", errors.items[0].path,
           errors.items[0].rule, errors.items[0].value);
  } else {
    outcome *out = malloc(sizeof *out);
    if (!out) abort();
    run(read->mechanism, &read->settings, 0, &list, out);
    c->counts->runs++;
    c->counts->comparisons++;
    for (int i = 0; i < list.count; i++)
      if (out->value[i] != reference->runs[0]->value[i] &&
          !(isnan(out->value[i]) && isnan(reference->runs[0]->value[i]))) {
        report(c, "text", 1, "read from a file, %s differs by %.3g", list.entries[i].name,
               out->value[i] - reference->runs[0]->value[i]);
        break;
      }
    if (out->status) report(c, "text", 1, "read from a file: %s", out->message);
    free(out);
  }
  pol_errors_clear(&errors);
  pol_model_free(&read);
  free(text);
}

/* A file that a run was written to holds all numbers of the run. */
static void compare_file(const comparison *c, const char *path, const pol_record *record,
                         const double *rows, long num_rows)
{
  const int count = pol_record_count(record);
  char message[200] = "";
  double *series = malloc((size_t)(num_rows + 1) * sizeof *series);
  pol_result *result = NULL;
  if (!series) abort();
  c->counts->comparisons++;
  if (pol_result_open(&result, path, message, sizeof message) ||
      pol_result_rows(result) != num_rows)
    report(c, "file", 1, "%s: %s", path, message[0] ? message : "rows are missing");
  else
    for (int i = 0; i < count; i++) {
      const char *name = pol_record_channel(record, i)->name;
      const int channel = pol_result_find_channel(result, name);
      int same = channel >= 0 && !pol_result_series(result, channel, series);
      for (long k = 0; k < num_rows && same; k++) {
        const double value = rows[k * count + i];
        same = series[k] == value || (isnan(series[k]) && isnan(value));
      }
      if (!same) {
        report(c, "file", 1, "%s: %s is not what was recorded", path, name);
        break;
      }
    }
  pol_result_close(&result);
  free(series);
  remove(path);
}

static void compare_files(const comparison *c, const limit *reference)
{
  const pol_settings settings = settings_of(c->model, &reference->configuration, 0);
  const long most = FIRST_STEPS + MAX_EVENTS + 2;
  char path[2][300];
  pol_simulation *simulation;
  pol_record *record = NULL;
  pol_writer *writers[2] = {NULL, NULL};
  long num_rows = 0;
  pol_status status = pol_simulation_create(&simulation, c->model->mechanism, &settings, NULL);
  for (int k = 0; k < 2; k++)
    snprintf(path[k], sizeof path[k], "%s/random_model_%llu.%s", c->options->folder,
             (unsigned long long)c->model->seed, k ? "h5" : "csv");
  if (!status) status = pol_record_create(&record, simulation);
  double *rows =
      calloc((size_t)(record ? pol_record_count(record) : 1) * (size_t)most, sizeof *rows);
  if (!rows) abort();
  for (int k = 0; k < 2 && !status; k++)
    status = pol_writer_create(&writers[k], path[k], k ? POL_HDF5 : POL_CSV, record, NULL, 0);
  while (!status && num_rows < most) {
    pol_record_row(record, rows + num_rows++ * pol_record_count(record));
    for (int k = 0; k < 2 && !status; k++) status = pol_writer_write(writers[k]);
    if (pol_simulation_finished(simulation)) break;
    if (!status) status = pol_simulation_step(simulation);
  }
  for (int k = 0; k < 2; k++)
    if (pol_writer_close(&writers[k], "done", NULL)) status = POL_IO;
  if (status) report(c, "file", 1, "%s: %s", path[0], pol_status_text(status));
  for (int k = 0; k < 2 && !status; k++) compare_file(c, path[k], record, rows, num_rows);
  c->counts->runs++;
  free(rows);
  pol_record_free(&record);
  pol_simulation_free(&simulation);
}

/* --- a model ---------------------------------------------------------------------------------- */

static int is_member(const comparison *c, int index)
{
  char name[160];
  if (c->options->only) {
    name_configuration(&configurations[index], name, sizeof name);
    return strstr(name, c->options->only) != NULL;
  }
  if (c->options->sample == 0) return 1;
  /* every configuration has its turn, and the pairs change from seed to seed */
  uint64_t z = (c->model->seed * 2654435761u + (uint64_t)index * 40503u) ^ 0x5bd1e995u;
  z = (z ^ (z >> 15)) * 0xff51afd7ed558ccdu;
  return (int)((z >> 33) % NUM_CONFIGURATIONS) < c->options->sample;
}

/* Rows along global axes are others in a mechanism that is turned. */
static int has_global_rows(const pol_mechanism *mechanism)
{
  for (int j = 0; j < pol_mechanism_num_joints(mechanism); j++)
    if (pol_mechanism_joint(mechanism, j)->global_axes) return 1;
  return 0;
}

/* A mechanism whose joints are open is assembled to 1e-10 of its size, and with redundant rows to
 * the round-off of 1e9 times what they contradict each other by: a copy starts elsewhere by as
 * much.  This is measured, and must be small; it then counts as an error of the copy. */
static void compare_start(const comparison *c, limit *reference, limit *l, const char *name)
{
  const pol_settings settings = settings_of(c->model, &l->configuration, 0);
  outcome *own = malloc(sizeof *own), *given = malloc(sizeof *given);
  double off = 0.0;
  if (!own || !given) abort();
  run(l->mechanism, &settings, 1, &l->list, own);
  run(reference->mechanism, &settings, 1, &reference->list, given);
  if (!own->status && !given->status && l->turn) turn_back(l, own);
  for (int i = 0; i < l->list.count && !own->status && !given->status; i++) {
    const entry *e = &l->list.entries[i];
    const int other = find_entry(&reference->list, e->name, i);
    if (e->kind != WITH_REFERENCE || other < 0) continue;
    l->start[i] = fabs(own->value[i] - given->value[other]);
    if (strstr(e->name, ".position.") || strstr(e->name, ".rotation."))
      off = fmax(off, l->start[i]);
  }
  if (off > 1e-9) report(c, "start", 1, "%s: starts %.3g m or rad off", name, off);
  free(own);
  free(given);
}

static void compare_copy(const comparison *c, limit *reference, limit *l, const double *turn,
                         int reversed)
{
  const char *name = turn ? "turned" : "reversed";
  const random_change change = {.turn = turn, .reversed = reversed};
  pol_mechanism *copy;
  if (random_model_copy(c->model, &change, &copy)) {
    report(c, "copy", 1, "a copy is refused");
    return;
  }
  l->mechanism = copy;
  l->turn = turn;
  l->configuration = reference_configuration;
  l->list.count = 0;
  /* of redundant rows the last ones are left out, measured by their distances from each other:
   * where forces or events depend on their reactions, and the run says so, another order or other
   * rows are another motion */
  if (!reference->runs[0]->is_open || (turn && !has_global_rows(copy))) {
    compare_start(c, reference, l, name);
    compare_limits(c, l, reference, name);
  }
  memset(l->start, 0, sizeof l->start);
  free_limit(l);
  l->turn = NULL;
  pol_mechanism_free(&copy);
}

void compare_model(const random_model *model, const compare_options *options,
                   compare_counts *counts)
{
  static const double turn[4] = {0.5, -0.1, 0.7, 0.5};
  const comparison c = {model, options, counts};
  limit *reference = calloc(1, sizeof *reference), *l = calloc(1, sizeof *l);
  if (!reference || !l) abort();
  *reference = (limit){
      .model = model, .mechanism = model->mechanism, .configuration = reference_configuration};
  counts->models++;
  const outcome *failed = refine(reference, START_LEVELS, counts);
  /* too violent for these steps */
  for (int i = 0; i < START_LEVELS && !failed; i++)
    if (reference->runs[i]->status) failed = reference->runs[i];
  if (failed) {
    counts->skipped++;
    report(&c, "skipped", 0, "%s [%s]", failed->message, model->words);
  } else {
    int at, undecided;
    double difference, tolerance;
    char name[160];
    l->model = model;
    if (worst_difference(reference, reference, &at, &difference, &tolerance, &undecided) > 1.0)
      compare_limits(&c, reference, reference, "reference");
    for (int i = 0; i < NUM_CONFIGURATIONS; i++) {
      if (!is_member(&c, i)) continue;
      /* shared otherwise, reactions that are open are others, and the run says so */
      if (configurations[i].shares && reference->runs[0]->is_open) continue;
      l->mechanism = model->mechanism;
      l->configuration = configurations[i];
      l->list.count = 0;
      name_configuration(&configurations[i], name, sizeof name);
      compare_limits(&c, l, reference, name);
      free_limit(l);
    }
    if (!options->only && (options->sample == 0 || model->seed % 2 == 0)) {
      if (model->in_files) compare_text(&c, reference);
      if (options->folder && model->seed % 10 == 0) compare_files(&c, reference);
      if (model->turnable) compare_copy(&c, reference, l, turn, 0);
      compare_copy(&c, reference, l, NULL, 1);
    }
  }
  free_limit(reference);
  free(reference);
  free(l);
}
