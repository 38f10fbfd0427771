/* Events by expressions; see event_rules.h.
 *
 * All expressions of all rules share one list of inputs, the signals that any of them reads
 * (mechanism/signal.h).  A value is had by evaluating the signals that its expression uses, then
 * the expression.  Nothing is allocated after the start. */
#include "analysis/event_rules.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formulation/formulation.h"
#include "formulation/signals.h"
#include "mechanism/expression.h"

typedef struct change {
  pol_signal target;
  pol_expression *program;
} change;

typedef struct rule {
  pol_event_rules *owner;
  char *name;
  pol_expression *program;
  int direction;
  pol_event_action action;
  int num_changes;
  change *changes;
} rule;

struct pol_event_rules {
  const pol_formulation *formulation;
  int count;
  rule *rules;
  int num_inputs;
  pol_signal *inputs;
  double *x;         /* their values */
  double *variables; /* values of all variables */
  double *values;    /* of the changes of one rule */
  double *workspace; /* of the expressions */
};

/* --- values ----------------------------------------------------------------------------------- */

/* The value of an expression at a point; not a number where a signal is not defined. */
static double value_at(pol_event_rules *r, const pol_expression *program, const pol_point *at)
{
  const int *inputs = pol_expression_inputs(program);
  int known = 0;
  for (int k = 0; k < pol_expression_num_inputs(program); k++) {
    const int i = inputs[k];
    const pol_signal *signal = &r->inputs[i];
    if (signal->kind == POL_SIGNAL_VARIABLE) {
      if (!known) pol_formulation_variables(r->formulation, at, r->variables);
      known = 1;
      r->x[i] = r->variables[signal->object];
    } else if (pol_signal_value(r->formulation, signal, at, NULL, &r->x[i]) != POL_OK) {
      r->x[i] = (double)NAN;
    }
  }
  return pol_expression_value(program, r->x, r->workspace);
}

/* pol_event */
static double event_value(const pol_state *at, void *user)
{
  rule *e = user;
  const pol_point point = pol_state_point(at);
  return value_at(e->owner, e->program, &point);
}

/* pol_simulation_event.reset: all values first, then the changes. */
static void make_changes(const pol_state *at, double *v, unsigned char *keep, void *user)
{
  const rule *e = user;
  pol_event_rules *r = e->owner;
  const pol_point point = pol_state_point(at);
  for (int k = 0; k < e->num_changes; k++)
    r->values[k] = value_at(r, e->changes[k].program, &point);
  for (int k = 0; k < e->num_changes; k++) {
    const pol_signal *target = &e->changes[k].target;
    const int turns = target->kind == POL_SIGNAL_ANGULAR_VELOCITY;
    if (target->kind == POL_SIGNAL_STATE)
      v[r->formulation->state_v + target->object] = r->values[k];
    else
      pol_formulation_set_velocity(r->formulation, at->q, v, target->object,
                                   target->component + (turns ? 0 : 3), r->values[k], keep);
  }
}

pol_simulation_event pol_event_rules_event(pol_event_rules *rules, int i)
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
  pol_event_rules *rules;
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
  pol_event_rules *r = c->rules;
  pol_signal signal;
  if (!pol_signal_find(c->mechanism, name, &signal)) return -1;
  for (int i = 0; i < r->num_inputs; i++)
    if (r->inputs[i].kind == signal.kind && r->inputs[i].object == signal.object &&
        r->inputs[i].component == signal.component)
      return i;
  pol_signal *longer = realloc(r->inputs, ((size_t)r->num_inputs + 1) * sizeof *longer);
  c->no_memory |= longer == NULL;
  if (longer == NULL) return -1;
  r->inputs = longer;
  r->inputs[r->num_inputs] = signal;
  return r->num_inputs++;
}

static pol_status compile(compiler *c, const char *text, pol_expression **program)
{
  const pol_expression_names names = {find_input, NULL, c};
  pol_expression_error error;
  if (text == NULL) text = "";
  pol_status status = pol_expression_compile(program, text, &names, &error);
  if (c->no_memory) return POL_NO_MEMORY;
  if (status == POL_BAD_ARGUMENT)
    snprintf(c->message, c->size, "event '%s': \"%s\", column %d: %s", c->event, text, error.column,
             error.message);
  if (status == POL_OK && pol_expression_workspace(*program) > c->workspace)
    c->workspace = pol_expression_workspace(*program);
  return status;
}

static pol_status refuse(const compiler *c, const char *why)
{
  snprintf(c->message, c->size, "event '%s' %s", c->event, why);
  return POL_BAD_ARGUMENT;
}

static int can_set(const pol_signal *signal)
{
  return signal->kind == POL_SIGNAL_VELOCITY || signal->kind == POL_SIGNAL_ANGULAR_VELOCITY ||
         signal->kind == POL_SIGNAL_STATE;
}

int pol_event_can_set(const pol_mechanism *mechanism, const char *quantity)
{
  pol_signal signal;
  return pol_signal_find(mechanism, quantity, &signal) && can_set(&signal);
}

static pol_status compile_changes(compiler *c, const pol_event_rule *from, rule *to)
{
  to->changes = calloc((size_t)from->num_changes + 1, sizeof *to->changes);
  if (to->changes == NULL) return POL_NO_MEMORY;
  to->num_changes = from->num_changes;
  if (from->num_changes > c->most_changes) c->most_changes = from->num_changes;
  for (int k = 0; k < from->num_changes; k++) {
    change *one = &to->changes[k];
    if (!pol_signal_find(c->mechanism, from->changes[k].quantity, &one->target) ||
        !can_set(&one->target))
      return refuse(c, "can set velocities and angular_velocities of bodies, and states only");
    if (one->target.kind != POL_SIGNAL_STATE &&
        c->rules->formulation->bodies[one->target.object].chart->polynomial)
      return refuse(c, "cannot set velocities in directors: take another formulation");
    pol_status status = compile(c, from->changes[k].expression, &one->program);
    if (status != POL_OK) return status;
  }
  return POL_OK;
}

static char *copy_text(const char *text)
{
  const size_t size = strlen(text) + 1;
  char *copy = malloc(size);
  return copy != NULL ? memcpy(copy, text, size) : NULL;
}

static pol_status compile_rule(compiler *c, const pol_event_rule *from, rule *to)
{
  *to = (rule){.owner = c->rules, .direction = from->direction, .action = from->action};
  c->event = from->name != NULL ? from->name : "";
  if ((to->name = copy_text(c->event)) == NULL) return POL_NO_MEMORY;
  if (from->action == POL_EVENT_RESET && (from->direction == 0 || from->num_changes == 0))
    return refuse(c, "must have a direction, rising or falling, and something to set");
  pol_status status = compile(c, from->expression, &to->program);
  if (status != POL_OK || from->action != POL_EVENT_RESET) return status;
  return compile_changes(c, from, to);
}

/* so3 has no multipliers for its pivots. */
static pol_status check_inputs(const compiler *c)
{
  const pol_event_rules *r = c->rules;
  for (int i = 0; i < r->num_inputs; i++) {
    const pol_signal *signal = &r->inputs[i];
    if (!pol_signal_is_reaction(signal) || r->formulation->joints[signal->object].row >= 0)
      continue;
    snprintf(c->message, c->size,
             "so3 has no multipliers for joint '%s', whose reaction an event "
             "reads",
             pol_mechanism_joint(c->mechanism, signal->object)->name);
    return POL_BAD_ARGUMENT;
  }
  return POL_OK;
}

static pol_status compile_all(compiler *c, const pol_settings *settings)
{
  pol_event_rules *r = c->rules;
  pol_status status = POL_OK;
  r->rules = calloc((size_t)settings->num_events, sizeof *r->rules);
  if (r->rules == NULL) return POL_NO_MEMORY;
  for (; r->count < settings->num_events && status == POL_OK; r->count++)
    status = compile_rule(c, &settings->events[r->count], &r->rules[r->count]);
  if (status == POL_OK) status = check_inputs(c);
  if (status != POL_OK) return status;
  const size_t variables = (size_t)pol_mechanism_num_variables(c->mechanism);
  r->x = calloc((size_t)r->num_inputs + variables + (size_t)c->most_changes + c->workspace + 1,
                sizeof *r->x);
  if (r->x == NULL) return POL_NO_MEMORY;
  r->variables = r->x + r->num_inputs;
  r->values = r->variables + variables;
  r->workspace = r->values + c->most_changes;
  return POL_OK;
}

pol_status pol_event_rules_create(pol_event_rules **rules, const pol_formulation *formulation,
                                  const pol_settings *settings, char *message, size_t size)
{
  *rules = NULL;
  if (settings->num_events == 0) return POL_OK;
  pol_event_rules *r = calloc(1, sizeof *r);
  if (r == NULL) return POL_NO_MEMORY;
  r->formulation = formulation;
  compiler c = {.rules = r,
                .mechanism = pol_formulation_mechanism(formulation),
                .message = message,
                .size = size};
  pol_status status = compile_all(&c, settings);
  if (status != POL_OK) pol_event_rules_free(&r);
  *rules = r;
  return status;
}

void pol_event_rules_free(pol_event_rules **rules)
{
  pol_event_rules *r = *rules;
  if (r == NULL) return;
  for (int i = 0; i < r->count; i++) {
    for (int k = 0; k < r->rules[i].num_changes; k++)
      pol_expression_free(&r->rules[i].changes[k].program);
    pol_expression_free(&r->rules[i].program);
    free(r->rules[i].changes);
    free(r->rules[i].name);
  }
  free(r->rules);
  free(r->inputs);
  free(r->x);
  free(r);
  *rules = NULL;
}
