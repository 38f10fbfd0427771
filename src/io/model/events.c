/* Events in a model file: their table, the rules for what they set, and their way to the settings.
 */
#include <stdlib.h>
#include <string.h>

#include "io/model/parts.h"
#include "io/model/rules.h"
#include "mechanism/signal.h"
#include "simulation/event_rules.h"

static const char *const not_events[] = {"events", NULL};

enum { RISING, FALLING, BOTH };

static const char *direction_choice(int number)
{
  static const char *const names[] = {"rising", "falling", "both"};
  return number < 3 ? names[number] : NULL;
}

static const char *action_choice(int number)
{
  return pol_event_action_name((pol_event_action)number);
}

static const poli_choices directions = {direction_choice};
static const poli_choices actions = {action_choice};

/* --- the table -------------------------------------------------------------------------------- */

/* json_t *: an object of expressions, borrowed */
static void read_changes(poli_reader *reader, const poli_place *place, const poli_field *field,
                         void *target)
{
  static const poli_field item = {.rule =
                                      "must be an expression, such as \"-0.8*ball.velocity.z\""};
  const char *key, *text;
  json_t *value;
  if (!json_is_object(place->value) || json_object_size(place->value) == 0) {
    poli_report(reader, place, "", "%s", field->rule);
    return;
  }
  *(json_t **)target = place->value;
  json_object_foreach(place->value, key, value)
  {
    const poli_place at = poli_place_key(place, key);
    poli_read_expression(reader, &at, &item, &text);
  }
}

static const poli_field event_fields[] = {
    {"name", poli_read_name, offsetof(poli_model_event, name), POLI_REQUIRED, poli_name_rule,
     not_events},
    {"expression", poli_read_expression, offsetof(poli_model_event, expression), POLI_REQUIRED,
     "must be an expression, such as \"ball.position.z - 0.1\"", NULL},
    {"direction", poli_read_choice, offsetof(poli_model_event, direction), POLI_OPTIONAL, "",
     &directions},
    {"action", poli_read_choice, offsetof(poli_model_event, action), POLI_OPTIONAL, "", &actions},
    {"set", read_changes, offsetof(poli_model_event, changes), POLI_OPTIONAL,
     "must be an object of velocities or states and their expressions", NULL},
    {.key = NULL},
};

static void check_event(poli_reader *reader, const poli_place *place, void *object, int sound)
{
  poli_model_event *event = object;
  const poli_place direction = poli_place_key(place, "direction");
  const poli_place set = poli_place_key(place, "set");
  const int resets = event->action == POL_EVENT_RESET;
  (void)sound;
  if (!direction.value) event->direction = BOTH;
  if (resets && !set.value)
    poli_report_missing(reader, place, event_fields, "set", "an object with what a reset changes");
  if (!resets && set.value)
    poli_report(reader, &set, "", "must not be given without \"action\": \"reset\"");
  if (resets && !direction.value)
    poli_report_missing(reader, place, event_fields, "direction", "\"rising\" or \"falling\"");
  else if (resets && event->direction == BOTH)
    poli_report(reader, &direction, "", "must be \"rising\" or \"falling\" for a reset");
}

const poli_kind poli_event_kind = {
    .rule = "must be an object that describes an event",
    .fields = event_fields,
    .size = sizeof(poli_model_event),
    .check = check_event,
};

/* --- names ------------------------------------------------------------------------------------ */

typedef struct search {
  const pol_mechanism *mechanism;
  pol_near near;
  char best[256];
} search;

static int try_quantity(const char *name, const poli_signal *signal, void *user)
{
  search *s = user;
  (void)signal;
  if (!poli_event_can_set(s->mechanism, name)) return 0;
  pol_near_try(&s->near, name);
  if (s->near.best != name) return 0;
  /* the name lives no longer than this call */
  strncpy(s->best, name, sizeof s->best - 1);
  s->near.best = s->best;
  return 0;
}

void poli_check_event(poli_reader *reader, const poli_place *event, const pol_mechanism *mechanism)
{
  const poli_place set = poli_place_key(event, "set");
  const char *key;
  json_t *value;
  json_object_foreach(set.value, key, value)
  {
    const poli_place at = poli_place_key(&set, key);
    poli_check_names(reader, &at, mechanism);
    if (poli_event_can_set(mechanism, key)) continue;
    search s = {.mechanism = mechanism, .near = pol_near_start(key), .best = ""};
    poli_signal_each(mechanism, try_quantity, &s);
    poli_report(reader, &at, s.near.best,
                "must stand for a component of a body's velocity or angular_velocity, or a state");
  }
}

/* --- to the settings -------------------------------------------------------------------------- */

/* Room for all rules, changes and texts in one block: the rules, the changes, the texts. */
static size_t count_bytes(const poli_model_data *data, size_t *num_changes)
{
  const poli_model_event *events = data->events.items;
  size_t bytes = 0;
  *num_changes = 0;
  for (size_t i = 0; i < data->events.count; i++) {
    json_t *changes = events[i].changes;
    const char *key;
    json_t *value;
    bytes += strlen(events[i].name) + strlen(events[i].expression) + 2;
    json_object_foreach(changes, key, value)
    {
      bytes += strlen(key) + strlen(json_string_value(value)) + 2;
      ++*num_changes;
    }
  }
  return bytes;
}

/* Copies a text to *to, which moves on. */
static const char *copy_text(char **to, const char *text)
{
  char *start = *to;
  const size_t size = strlen(text) + 1;
  memcpy(start, text, size);
  *to += size;
  return start;
}

pol_status poli_copy_events(const poli_model_data *data, pol_model *model)
{
  const poli_model_event *events = data->events.items;
  const size_t count = data->events.count;
  size_t num_changes;
  const size_t bytes = count_bytes(data, &num_changes);
  if (count == 0) return POL_OK;
  pol_event_rule *rules = malloc(count * sizeof *rules + num_changes * sizeof(pol_change) + bytes);
  if (!rules) return POL_NO_MEMORY;
  pol_change *changes = (pol_change *)(rules + count);
  char *text = (char *)(changes + num_changes);
  for (size_t i = 0; i < count; i++) {
    json_t *set = events[i].changes;
    const char *key;
    json_t *value;
    rules[i] = (pol_event_rule){.name = copy_text(&text, events[i].name),
                                .expression = copy_text(&text, events[i].expression),
                                .direction = events[i].direction == RISING    ? 1
                                             : events[i].direction == FALLING ? -1
                                                                              : 0,
                                .action = (pol_event_action)events[i].action,
                                .num_changes = (int)json_object_size(set),
                                .changes = changes};
    json_object_foreach(set, key, value)
    {
      *changes++ = (pol_change){.quantity = copy_text(&text, key),
                                .expression = copy_text(&text, json_string_value(value))};
    }
  }
  model->events = rules;
  model->settings.num_events = (int)count;
  model->settings.events = rules;
  return POL_OK;
}
