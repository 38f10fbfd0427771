/* Events by expressions; see event_rules.h.
 *
 * All expressions of all rules share one list of inputs, the signals that any of them reads
 * (mechanism/signal.h).  A value is had by evaluating the signals that its expression uses, then
 * the expression.  Nothing is allocated after the start.
 *
 * A reset that sets components y_k = c_k v of velocities to values d_k gives the velocities
 * nearest, in the metric of the masses, to those where these components have changed and nothing
 * else; they satisfy the constraints and c_k v = d_k, unless the constraints do not allow that.
 * With W f the change of the velocities by an impulse f, M w + B^T mu = f, B w = 0, that is
 *
 *     v_1 = v + W sum_k p_k (d_k - c_k v)          p_k: the impulse that changes y_k only
 *     v_2 = v_1 + W C^T (C W C^T)^-1 (d - C v_1)
 *
 * whatever the coordinates are.  v_1 alone is taken if C W C^T is singular. */
#include "simulation/event_rules.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/errors.h"
#include "dae/assembler.h"
#include "expression/expression.h"
#include "formulation/expressions.h"
#include "formulation/formulation.h"

typedef struct change {
  poli_signal target;
  pol_expression *program;
} change;

typedef struct rule {
  poli_event_rules *owner;
  char *name;
  pol_expression *program;
  int direction;
  pol_event_action action;
  int num_changes;
  change *changes;
} rule;

struct poli_event_rules {
  const pol_formulation *formulation;
  pol_assembler *assembler;
  int count;
  rule *rules;
  int num_inputs;
  poli_signal *inputs;
  void *memory;            /* holds the arrays below */
  double *x;               /* values of the inputs */
  double *variables;       /* values of all variables */
  double *values;          /* of the changes of one rule */
  double *workspace;       /* of the expressions */
  double *rows;            /* of a reset: c_k, nv numbers each; */
  double *responses;       /* W c_k */
  double *gram, *sizes;    /* C W C^T; what a pivot of it is compared with */
  double *missing;         /* d - C v */
  double *impulse, *total; /* p_k, and their sum */
  pol_diagnostics failure; /* of the last reset */
};

/* --- values ----------------------------------------------------------------------------------- */

/* The value of an expression at a point; not a number where a signal is not defined. */
static double value_at(poli_event_rules *r, const pol_expression *program, const pol_point *at)
{
  const int *inputs = poli_expression_inputs(program);
  int known = 0;
  for (int k = 0; k < poli_expression_num_inputs(program); k++) {
    const int i = inputs[k];
    const poli_signal *signal = &r->inputs[i];
    if (signal->kind == POLI_SIGNAL_VARIABLE) {
      if (!known) pol_formulation_variables(r->formulation, at, r->variables);
      known = 1;
      r->x[i] = r->variables[signal->object];
    } else if (poli_signal_value(r->formulation, signal, at, NULL, &r->x[i]) != POL_OK) {
      r->x[i] = (double)NAN;
    }
  }
  return poli_expression_value(program, r->x, r->workspace);
}

int poli_event_rules_read(const poli_event_rules *rules, poli_signal *signals, int most)
{
  int count = 0;
  for (int i = 0; rules != NULL && i < rules->num_inputs && count < most; i++) {
    if (rules->inputs[i].kind != POLI_SIGNAL_VARIABLE) {
      signals[count++] = rules->inputs[i];
      continue;
    }
    const poli_network *n = &rules->formulation->network;
    const poli_node *variable = &n->nodes[rules->inputs[i].object];
    for (int k = 0; k < variable->num_sources && count < most; k++)
      signals[count++] = n->inputs[variable->sources[k]];
  }
  return count;
}

/* pol_event */
static double event_value(const pol_state *at, void *user)
{
  rule *e = user;
  const pol_point point = pol_state_point(at);
  return value_at(e->owner, e->program, &point);
}

static double dot(int n, const double *a, const double *b)
{
  double sum = 0.0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

/* Solves A x = b of size n, A symmetric; both are overwritten.  0: a pivot is round-off against
 * size. */
static int solve_small(int n, double *A, const double *size, double *b)
{
  for (int k = 0; k < n; k++) {
    if (!(A[n * k + k] > 1e-9 * size[k])) return 0;
    for (int i = k + 1; i < n; i++) {
      const double factor = A[n * i + k] / A[n * k + k];
      for (int j = k; j < n; j++) A[n * i + j] -= factor * A[n * k + j];
      b[i] -= factor * b[k];
    }
  }
  for (int k = n - 1; k >= 0; k--) {
    for (int j = k + 1; j < n; j++) b[k] -= A[n * k + j] * b[j];
    b[k] /= A[n * k + k];
  }
  return 1;
}

/* Sets the velocities among the changes of a rule; see above. */
static pol_status set_velocities(const rule *e, const pol_state *at, double *v)
{
  poli_event_rules *r = e->owner;
  const int nv = pol_formulation_dae(r->formulation)->group.nv, most = e->num_changes;
  double *rows = r->rows, *responses = r->responses, *G = r->gram;
  double *size = r->sizes, *b = r->missing, *impulse = r->impulse, *total = r->total;
  pol_status status = POL_OK;
  int n = 0;
  memset(total, 0, (size_t)nv * sizeof *total);
  for (int k = 0; k < most; k++) {
    const poli_signal *target = &e->changes[k].target;
    if (target->kind == POLI_SIGNAL_STATE) continue;
    const int component =
        target->component + (target->kind == POLI_SIGNAL_ANGULAR_VELOCITY ? 0 : 3);
    double *row = rows + n * nv;
    size[n] = 1.0 / poli_formulation_velocity_row(r->formulation, at->q, target->object, component,
                                                  row, impulse);
    b[n] = r->values[k];
    const double difference = b[n++] - dot(nv, row, v);
    for (int i = 0; i < nv; i++) total[i] += difference * impulse[i];
  }
  if (n == 0) return POL_OK;
  status = poli_assembler_response(r->assembler, at->t, at->q, total, total, &r->failure);
  for (int i = 0; i < nv && !status; i++) v[i] += total[i];
  for (int k = 0; k < n && !status; k++)
    status = poli_assembler_response(r->assembler, at->t, at->q, rows + k * nv, responses + k * nv,
                                     &r->failure);
  if (status) return status;
  for (int k = 0; k < n; k++) {
    b[k] -= dot(nv, rows + k * nv, v);
    for (int l = 0; l < n; l++) G[n * k + l] = dot(nv, rows + k * nv, responses + l * nv);
  }
  if (!solve_small(n, G, size, b)) return POL_OK;
  for (int k = 0; k < n; k++)
    for (int i = 0; i < nv; i++) v[i] += b[k] * responses[k * nv + i];
  return POL_OK;
}

/* pol_simulation_event.reset: all values first, then the changes. */
static void make_changes(const pol_state *at, double *v, unsigned char *keep, void *user)
{
  const rule *e = user;
  poli_event_rules *r = e->owner;
  const pol_point point = pol_state_point(at);
  (void)keep;
  for (int k = 0; k < e->num_changes; k++)
    r->values[k] = value_at(r, e->changes[k].program, &point);
  r->failure.status = set_velocities(e, at, v);
  for (int k = 0; k < e->num_changes; k++)
    if (e->changes[k].target.kind == POLI_SIGNAL_STATE)
      v[r->formulation->state_v + e->changes[k].target.object] = r->values[k];
}

pol_status poli_event_rules_failure(poli_event_rules *rules, pol_diagnostics *diagnostics)
{
  if (rules == NULL || rules->failure.status == POL_OK) return POL_OK;
  *diagnostics = rules->failure;
  rules->failure.status = POL_OK;
  return diagnostics->status;
}

pol_simulation_event poli_event_rules_event(poli_event_rules *rules, int i)
{
  rule *e = &rules->rules[i];
  return (pol_simulation_event){.function = event_value,
                                .user = e,
                                .direction = e->direction,
                                .action = e->action,
                                .reset = make_changes,
                                .name = e->name};
}

/* --- compiling -------------------------------------------------------------------------------- */

typedef struct compiler {
  poli_event_rules *rules;
  const pol_mechanism *mechanism;
  const char *event; /* whose expressions are compiled */
  char *message;
  size_t size, workspace;
  int most_changes, no_memory;
} compiler;

/* The number of the signal among the inputs, where it is put if it is new. */
static int find_input(const char *name, void *user)
{
  compiler *c = user;
  poli_event_rules *r = c->rules;
  poli_signal signal;
  if (!poli_signal_find(c->mechanism, name, &signal)) return -1;
  for (int i = 0; i < r->num_inputs; i++)
    if (r->inputs[i].kind == signal.kind && r->inputs[i].object == signal.object &&
        r->inputs[i].component == signal.component)
      return i;
  poli_signal *longer = realloc(r->inputs, ((size_t)r->num_inputs + 1) * sizeof *longer);
  c->no_memory |= longer == NULL;
  if (longer == NULL) return -1;
  r->inputs = longer;
  r->inputs[r->num_inputs] = signal;
  return r->num_inputs++;
}

static pol_status compile(compiler *c, const char *text, pol_expression **program)
{
  const poli_expression_names names = {find_input, NULL, c};
  poli_expression_error error;
  if (text == NULL) text = "";
  pol_status status = poli_expression_compile(program, text, &names, &error);
  if (c->no_memory) return POL_NO_MEMORY;
  if (status == POL_BAD_ARGUMENT)
    snprintf(c->message, c->size, "event '%s': \"%s\", column %d: %s", c->event, text, error.column,
             error.message);
  if (status == POL_OK && poli_expression_workspace(*program) > c->workspace)
    c->workspace = poli_expression_workspace(*program);
  return status;
}

static pol_status refuse(const compiler *c, const char *why)
{
  snprintf(c->message, c->size, "event '%s' %s", c->event, why);
  return POL_BAD_ARGUMENT;
}

static int can_set(const poli_signal *signal)
{
  return signal->kind == POLI_SIGNAL_VELOCITY || signal->kind == POLI_SIGNAL_ANGULAR_VELOCITY ||
         signal->kind == POLI_SIGNAL_STATE;
}

int poli_event_can_set(const pol_mechanism *mechanism, const char *quantity)
{
  poli_signal signal;
  return poli_signal_find(mechanism, quantity, &signal) && can_set(&signal);
}

static pol_status compile_rule(compiler *c, const pol_event_rule *from, rule *to)
{
  *to = (rule){.owner = c->rules, .direction = from->direction, .action = from->action};
  c->event = from->name != NULL ? from->name : "";
  if ((to->name = poli_format("%s", c->event)) == NULL) return POL_NO_MEMORY;
  if (from->action == POL_EVENT_RESET && (from->direction == 0 || from->num_changes == 0))
    return refuse(c, "must have a direction, rising or falling, and something to set");
  for (int i = 0; i < c->rules->count && *c->event; i++)
    if (strcmp(c->rules->rules[i].name, c->event) == 0)
      return refuse(c, "must have a unique name: an earlier event has the same");
  if (from->num_changes < 0 || (from->num_changes > 0 && from->changes == NULL))
    return refuse(c, "must have a list of changes, not NULL, as long as num_changes");
  pol_status status = compile(c, from->expression, &to->program);
  if (status != POL_OK || from->action != POL_EVENT_RESET) return status;

  to->changes = calloc((size_t)from->num_changes + 1, sizeof *to->changes);
  if (to->changes == NULL) return POL_NO_MEMORY;
  to->num_changes = from->num_changes;
  if (from->num_changes > c->most_changes) c->most_changes = from->num_changes;
  for (int k = 0; k < from->num_changes && status == POL_OK; k++) {
    change *one = &to->changes[k];
    if (from->changes[k].quantity == NULL ||
        !poli_signal_find(c->mechanism, from->changes[k].quantity, &one->target) ||
        !can_set(&one->target))
      return refuse(c, "can set velocities and angular_velocities of bodies, and states only");
    if (one->target.kind != POLI_SIGNAL_STATE &&
        c->rules->formulation->bodies[one->target.object].chart->polynomial)
      return refuse(c, "cannot set velocities in directors: take another formulation");
    status = compile(c, from->changes[k].expression, &one->program);
  }
  return status;
}

pol_status poli_event_rules_create(poli_event_rules **rules, const pol_formulation *formulation,
                                   pol_assembler *assembler, const pol_settings *settings,
                                   char *message, size_t size)
{
  const pol_mechanism *mechanism = pol_formulation_mechanism(formulation);
  *rules = NULL;
  if (settings->num_events == 0) return POL_OK;
  poli_event_rules *r = calloc(1, sizeof *r);
  if (r == NULL) return POL_NO_MEMORY;
  r->formulation = formulation;
  r->assembler = assembler;
  compiler c = {.rules = r, .mechanism = mechanism, .message = message, .size = size};
  r->rules = calloc((size_t)settings->num_events, sizeof *r->rules);
  pol_status status = r->rules != NULL ? POL_OK : POL_NO_MEMORY;
  for (; r->count < settings->num_events && status == POL_OK; r->count++)
    status = compile_rule(&c, &settings->events[r->count], &r->rules[r->count]);
  for (int i = 0; i < r->num_inputs && status == POL_OK; i++) {
    const poli_signal *signal = &r->inputs[i];
    if (!poli_signal_is_reaction(signal) || formulation->joints[signal->object].row >= 0) continue;
    snprintf(message, size, "so3 has no multipliers for joint '%s', whose reaction an event reads",
             pol_mechanism_joint(mechanism, signal->object)->name);
    status = POL_BAD_ARGUMENT;
  }

  const size_t nv = (size_t)pol_formulation_dae(formulation)->group.nv;
  const size_t most = (size_t)c.most_changes;
  poli_arena arena = {0};
  do {
    POLI_TAKE(&arena, r->x, r->num_inputs);
    POLI_TAKE(&arena, r->variables, pol_mechanism_num_variables(mechanism));
    POLI_TAKE_EACH(&arena, most, &r->values, &r->sizes, &r->missing);
    POLI_TAKE(&arena, r->workspace, c.workspace);
    POLI_TAKE_EACH(&arena, most * nv, &r->rows, &r->responses);
    POLI_TAKE(&arena, r->gram, most * most);
    POLI_TAKE_EACH(&arena, nv, &r->impulse, &r->total);
  } while (status == POL_OK && poli_arena_again(&arena));
  r->memory = arena.memory;
  if (status == POL_OK && r->memory == NULL) status = POL_NO_MEMORY;
  if (status != POL_OK) poli_event_rules_free(&r);
  *rules = r;
  return status;
}

void poli_event_rules_free(poli_event_rules **rules)
{
  poli_event_rules *r = *rules;
  if (r == NULL) return;
  for (int i = 0; i < r->count; i++) {
    for (int k = 0; k < r->rules[i].num_changes; k++)
      poli_expression_free(&r->rules[i].changes[k].program);
    poli_expression_free(&r->rules[i].program);
    free(r->rules[i].changes);
    free(r->rules[i].name);
  }
  free(r->rules);
  free(r->inputs);
  free(r->memory);
  free(r);
  *rules = NULL;
}
