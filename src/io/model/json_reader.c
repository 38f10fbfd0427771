/* Reading JSON objects by tables: places and their paths, error reports, and the readers of plain
 * values, lists and objects.  json_reader.h says how they fit together. */
#include <polhode/mechanism.h>

#include "io/model/json_reader.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const poli_ground_name = "ground";

/* --- places ----------------------------------------------------------------------------------- */

poli_place poli_place_key(const poli_place *object, const char *key)
{
  return (poli_place){object, key, 0, json_object_get(object->value, key)};
}

poli_place poli_place_item(const poli_place *list, size_t index)
{
  return (poli_place){list, NULL, index, json_array_get(list->value, index)};
}

int poli_given(const poli_place *object, const char *key)
{
  return json_object_get(object->value, key) != NULL;
}

/* The first bytes of a JSON text. */
enum { SHORT_JSON = 60 };
typedef struct start_of_text {
  char text[SHORT_JSON + 1];
  size_t length;
  int cut; /* there is more */
} start_of_text;

/* Takes what still fits; -1 stops the dump. */
static int take_start(const char *text, size_t size, void *user)
{
  start_of_text *start = user;
  const size_t room = SHORT_JSON - start->length;
  const size_t taken = size < room ? size : room;
  memcpy(start->text + start->length, text, taken);
  start->length += taken;
  start->cut = taken < size;
  return start->cut ? -1 : 0;
}

/* The value as JSON on one line, at most 60 bytes; the caller frees; NULL without memory. */
static char *short_json(const json_t *value)
{
  start_of_text start = {.length = 0};
  /* 15 digits give back what was written, where that has no more digits. */
  const size_t flags = JSON_ENCODE_ANY | JSON_REAL_PRECISION(15);
  if (json_dump_callback(value, take_start, &start, flags) != 0 && !start.cut) return NULL;
  if (!start.cut) return poli_format("%.*s", (int)start.length, start.text);

  /* Room for the dots, and no half character of UTF-8 before them. */
  size_t length = SHORT_JSON - 3;
  while (length > 0 && ((unsigned char)start.text[length] & 0xC0u) == 0x80u) length--;
  return poli_format("%.*s...", (int)length, start.text);
}

static int is_plain_key(const char *key)
{
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-$ ";
  const size_t length = strlen(key);
  return length > 0 && length <= SHORT_JSON && strspn(key, plain) == length;
}

/* ["key"], for keys that a dot cannot join. */
static char *quoted_key(const char *parent, const char *key)
{
  json_t *text = json_string(key);
  char *quoted = text ? short_json(text) : NULL;
  char *path = quoted ? poli_format("%s[%s]", parent, quoted) : NULL;
  json_decref(text);
  free(quoted);
  return path;
}

/* "bodies[0].mass"; "" for the top; NULL without memory.  The caller frees. */
static char *path_text(const poli_place *place)
{
  if (!place->parent) return poli_format("%s", "");
  char *parent = path_text(place->parent);
  if (!parent) return NULL;
  char *path;
  if (!place->key)
    path = poli_format("%s[%zu]", parent, place->index);
  else if (is_plain_key(place->key))
    path = poli_format("%s%s%s", parent, *parent ? "." : "", place->key);
  else
    path = quoted_key(parent, place->key);
  free(parent);
  return path;
}

/* --- errors ----------------------------------------------------------------------------------- */

void poli_report(poli_reader *reader, const poli_place *place, const char *suggestion,
                 const char *rule, ...)
{
  va_list arguments;
  va_start(arguments, rule);
  char *rule_text = poli_format_list(rule, arguments);
  va_end(arguments);

  char *path = place->parent ? path_text(place) : poli_format("top level");
  char *value = place->value ? short_json(place->value) : poli_format("%s", "");
  pol_status status = POL_NO_MEMORY;
  if (path && value && rule_text)
    status = pol_errors_add(reader->errors, path, value, rule_text, suggestion);
  if (status != POL_OK) reader->status = status;
  free(rule_text);
  free(path);
  free(value);
}

static const poli_field *find_field(const poli_field *fields, const char *key)
{
  for (; fields->key; fields++)
    if (strcmp(fields->key, key) == 0) return fields;
  return NULL;
}

/* The key of the table that is near to an unknown one, or "". */
static const char *near_key(const poli_field *fields, const char *key)
{
  pol_near near = pol_near_start(key);
  for (; fields->key; fields++) pol_near_try(&near, fields->key);
  return near.best;
}

/* Every object may have a comment. */
static int is_comment(const char *key)
{
  return strcmp(key, "comment") == 0;
}

/* Does the object have an unknown key for which this one was suggested? */
static int is_misspelt(const poli_place *object, const poli_field *fields, const char *key)
{
  const char *other;
  json_t *value;
  json_object_foreach(object->value, other, value)
  {
    if (!is_comment(other) && !find_field(fields, other) && !strcmp(near_key(fields, other), key))
      return 1;
  }
  return 0;
}

void poli_report_missing(poli_reader *reader, const poli_place *object, const poli_field *fields,
                         const char *key, const char *rule)
{
  if (is_misspelt(object, fields, key)) return;
  const poli_place place = poli_place_key(object, key);
  poli_report(reader, &place, "", "is required%s%s", *rule ? ": " : "", rule);
}

/* --- plain values ----------------------------------------------------------------------------- */

void poli_read_text(poli_reader *reader, const poli_place *place, const poli_field *field,
                    void *target)
{
  const char *text = json_string_value(place->value);
  if (text)
    *(const char **)target = text;
  else
    poli_report(reader, place, "", "%s", field->rule);
}

static int in_range(const poli_range *range, double number)
{
  return (range->open ? number > range->low : number >= range->low) && number <= range->high;
}

void poli_read_number(poli_reader *reader, const poli_place *place, const poli_field *field,
                      void *target)
{
  const double number = json_number_value(place->value);
  if (json_is_number(place->value) && (!field->detail || in_range(field->detail, number)))
    *(double *)target = number;
  else
    poli_report(reader, place, "", "%s", field->rule);
}

void poli_read_integer(poli_reader *reader, const poli_place *place, const poli_field *field,
                       void *target)
{
  const double number = json_number_value(place->value);
  if (json_is_number(place->value) && in_range(field->detail, number) && floor(number) == number)
    *(int *)target = (int)number;
  else
    poli_report(reader, place, "", "%s", field->rule);
}

/* A list of count numbers.  A wrong item is reported at its own place.  1 if all is well. */
static int read_numbers(poli_reader *reader, const poli_place *place, const char *rule,
                        size_t count, double *numbers)
{
  if (!json_is_array(place->value) || json_array_size(place->value) != count) {
    poli_report(reader, place, "", "%s", rule);
    return 0;
  }
  int good = 1;
  for (size_t i = 0; i < count; i++) {
    const poli_place item = poli_place_item(place, i);
    numbers[i] = json_number_value(item.value);
    if (!json_is_number(item.value)) {
      poli_report(reader, &item, "", "must be a number");
      good = 0;
    }
  }
  return good;
}

void poli_read_vector(poli_reader *reader, const poli_place *place, const poli_field *field,
                      void *target)
{
  read_numbers(reader, place, field->rule, 3, target);
}

void poli_read_vector4(poli_reader *reader, const poli_place *place, const poli_field *field,
                       void *target)
{
  read_numbers(reader, place, field->rule, 4, target);
}

void poli_read_matrix(poli_reader *reader, const poli_place *place, const poli_field *field,
                      void *target)
{
  if (!json_is_array(place->value) || json_array_size(place->value) != 3) {
    poli_report(reader, place, "", "%s", field->rule);
    return;
  }
  for (size_t i = 0; i < 3; i++) {
    const poli_place row = poli_place_item(place, i);
    read_numbers(reader, &row, "must be a list of 3 numbers", 3, (double *)target + 3 * i);
  }
}

/* Divides by the largest component first, so that no square overflows or underflows. */
static int normalize(double v[3])
{
  const double largest = fmax(fabs(v[0]), fmax(fabs(v[1]), fabs(v[2])));
  if (largest == 0.0) return 0;
  for (int i = 0; i < 3; i++) v[i] /= largest;
  const double length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  for (int i = 0; i < 3; i++) v[i] /= length;
  return 1;
}

static const char direction_rule[] = "must be a list of 3 numbers, not all zero";

void poli_read_direction(poli_reader *reader, const poli_place *place, const poli_field *field,
                         void *target)
{
  (void)field;
  if (read_numbers(reader, place, direction_rule, 3, target) && !normalize(target))
    poli_report(reader, place, "", "%s", direction_rule);
}

/* --- lists of two ----------------------------------------------------------------------------- */

/* Reads each of exactly two items with `read` into target and target + size. */
static void read_pair(poli_reader *reader, const poli_place *place, const poli_field *field,
                      poli_read *read, void *target, size_t size)
{
  if (!json_is_array(place->value) || json_array_size(place->value) != 2) {
    poli_report(reader, place, "", "%s", field->rule);
    return;
  }
  for (size_t i = 0; i < 2; i++) {
    const poli_place item = poli_place_item(place, i);
    read(reader, &item, field, (char *)target + i * size);
  }
}

void poli_read_vector_pair(poli_reader *reader, const poli_place *place, const poli_field *field,
                           void *target)
{
  poli_field vector = *field;
  if (json_array_size(place->value) == 2) vector.rule = "must be a list of 3 numbers";
  read_pair(reader, place, &vector, poli_read_vector, target, 3 * sizeof(double));
}

void poli_read_direction_pair(poli_reader *reader, const poli_place *place, const poli_field *field,
                              void *target)
{
  read_pair(reader, place, field, poli_read_direction, target, 3 * sizeof(double));
}

void poli_read_reference_pair(poli_reader *reader, const poli_place *place, const poli_field *field,
                              void *target)
{
  int *index = target;
  index[0] = index[1] = POLI_NOWHERE;
  read_pair(reader, place, field, poli_read_reference, target, sizeof(int));
}

void poli_read_number_pair(poli_reader *reader, const poli_place *place, const poli_field *field,
                           void *target)
{
  static const poli_field number = {NULL, NULL, 0, POLI_REQUIRED, "must be a number", NULL};
  double *numbers = target;
  if (!json_is_array(place->value) || json_array_size(place->value) != 2) {
    poli_report(reader, place, "", "%s", field->rule);
    return;
  }
  for (size_t i = 0; i < 2; i++) {
    const poli_place item = poli_place_item(place, i);
    poli_read_number(reader, &item, &number, &numbers[i]);
  }
}

/* --- choices and names ------------------------------------------------------------------------ */

/* "must be one of: a, b, c"; the caller frees; NULL without memory. */
static char *choice_rule(const poli_choices *choices)
{
  char *rule = poli_format("must be one of: ");
  for (int i = 0; rule && choices->name(i); i++) {
    char *longer = poli_format("%s%s%s", rule, i ? ", " : "", choices->name(i));
    free(rule);
    rule = longer;
  }
  return rule;
}

void poli_read_choice(poli_reader *reader, const poli_place *place, const poli_field *field,
                      void *target)
{
  const poli_choices *choices = field->detail;
  const char *text = json_string_value(place->value);
  pol_near near = pol_near_start(text ? text : "");
  for (int i = 0; text && choices->name(i); i++) {
    if (strcmp(text, choices->name(i)) == 0) {
      *(int *)target = i;
      return;
    }
    pol_near_try(&near, choices->name(i));
  }

  *(int *)target = -1;
  char *rule = choice_rule(choices);
  if (rule)
    poli_report(reader, place, near.best, "%s", rule);
  else
    reader->status = POL_NO_MEMORY;
  free(rule);
}

static json_t *find_name(const poli_reader *reader, const char *list, const char *name)
{
  return json_object_get(json_object_get(reader->names, list), name);
}

/* Messages and headers of result files hold names of this length. */
enum { MAX_NAME_LENGTH = 200 };

/* Letters, digits, _ and -, and spaces inside: channel names like "top.position.x" stay readable.
 */
static int is_name(const char *name)
{
  static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_- ";
  const size_t length = strlen(name);
  return length > 0 && strspn(name, allowed) == length && name[0] != ' ' && name[length - 1] != ' ';
}

void poli_read_name(poli_reader *reader, const poli_place *place, const poli_field *field,
                    void *target)
{
  const char *const *lists = field->detail;
  const char *name = json_string_value(place->value);
  if (!name || !is_name(name)) {
    poli_report(reader, place, "", "%s", field->rule);
    return;
  }
  if (strlen(name) > MAX_NAME_LENGTH) {
    poli_report(reader, place, "", "must have at most %d characters", MAX_NAME_LENGTH);
    return;
  }
  *(const char **)target = name;
  if (strcmp(name, poli_ground_name) == 0) {
    poli_report(reader, place, "", "must not be \"%s\", the name of the inertial frame", name);
    return;
  }
  /* The first object of that name has it, in the own list; in another list any object has. */
  for (int i = 0; lists[i]; i++) {
    const json_t *holder = find_name(reader, lists[i], name);
    const json_int_t index = json_integer_value(holder);
    if (holder && (i > 0 || index != (json_int_t)place->parent->index)) {
      poli_report(reader, place, "", "must be unique: %s[%lld] has the same name", lists[i],
                  (long long)index);
      return;
    }
  }
}

/* The index of the object that a place names; has_ground: the ground will do as well. */
static void read_reference(poli_reader *reader, const poli_place *place, const char *list,
                           int has_ground, int *target)
{
  const char *name = json_string_value(place->value);
  const json_t *holder = name ? find_name(reader, list, name) : NULL;
  *target = holder ? (int)json_integer_value(holder) : POLI_NOWHERE;
  if (name && has_ground && strcmp(name, poli_ground_name) == 0) *target = POL_GROUND;
  if (*target != POLI_NOWHERE) return;

  /* Nothing has that name: what could have been meant? */
  pol_near near = pol_near_start(name ? name : "");
  const char *candidate;
  json_t *index;
  json_object_foreach(json_object_get(reader->names, list), candidate, index)
      pol_near_try(&near, candidate);
  if (has_ground) pol_near_try(&near, poli_ground_name);
  poli_report(reader, place, near.best, "must be a name from the list \"%s\"%s", list,
              has_ground ? " or \"ground\"" : "");
}

void poli_read_reference(poli_reader *reader, const poli_place *place, const poli_field *field,
                         void *target)
{
  const char *list = field->detail;
  read_reference(reader, place, list, strcmp(list, "bodies") == 0, target);
}

void poli_read_moving_body(poli_reader *reader, const poli_place *place, const poli_field *field,
                           void *target)
{
  const char *name = json_string_value(place->value);
  if (name && strcmp(name, poli_ground_name) == 0)
    poli_report(reader, place, "", "must be a body: the ground does not move");
  else
    read_reference(reader, place, field->detail, 0, target);
}

/* The names of one list and the index of the first object that has each. */
static json_t *collect_list(json_t *list)
{
  json_t *names = json_object();
  size_t index;
  json_t *item;
  json_array_foreach(list, index, item)
  {
    const char *name = json_string_value(json_object_get(item, "name"));
    if (!names || !name || json_object_get(names, name)) continue;
    if (json_object_set_new(names, name, json_integer((json_int_t)index)) != 0) {
      json_decref(names);
      return NULL;
    }
  }
  return names;
}

void poli_collect_names(poli_reader *reader, json_t *top, const char *const *lists)
{
  reader->names = json_object();
  for (; *lists; lists++) {
    json_t *names = collect_list(json_object_get(top, *lists));
    if (json_object_set_new(reader->names, *lists, names) != 0) reader->status = POL_NO_MEMORY;
  }
}

/* --- objects ---------------------------------------------------------------------------------- */

/* Reads each key in the order of the file. */
static void read_keys(poli_reader *reader, const poli_place *object, const poli_field *fields,
                      void *target)
{
  const char *key;
  json_t *value;
  json_object_foreach(object->value, key, value)
  {
    const poli_place place = {object, key, 0, value};
    const poli_field *field = find_field(fields, key);
    if (field)
      field->read(reader, &place, field, (char *)target + field->offset);
    else if (!is_comment(key))
      poli_report(reader, &place, near_key(fields, key), "is not a known key");
    else if (!json_is_string(value))
      poli_report(reader, &place, "", "must be a text");
  }
}

static void read_kind(poli_reader *reader, const poli_place *place, const poli_kind *kind,
                      void *object)
{
  if (!json_is_object(place->value)) {
    poli_report(reader, place, "", "%s", kind->rule);
    return;
  }
  const int before = reader->errors->count;
  read_keys(reader, place, kind->fields, object);
  for (const poli_field *field = kind->fields; field->key; field++)
    if (field->required && !poli_given(place, field->key))
      poli_report_missing(reader, place, kind->fields, field->key, field->rule);
  const int sound = reader->status == POL_OK && reader->errors->count == before;
  if (kind->check) kind->check(reader, place, object, sound);
}

void poli_read_object(poli_reader *reader, const poli_place *place, const poli_field *field,
                      void *target)
{
  read_kind(reader, place, field->detail, target);
}

void poli_read_list(poli_reader *reader, const poli_place *place, const poli_field *field,
                    void *target)
{
  const poli_kind *kind = field->detail;
  poli_list *list = target;
  const size_t count = json_array_size(place->value);
  if (!json_is_array(place->value) || count < (size_t)kind->at_least || count > INT_MAX) {
    poli_report(reader, place, "", "%s", field->rule);
    return;
  }
  if (count == 0) return;
  list->items = calloc(count, kind->size);
  if (!list->items) {
    reader->status = POL_NO_MEMORY;
    return;
  }
  list->count = count;
  for (size_t i = 0; i < count; i++) {
    const poli_place item = poli_place_item(place, i);
    read_kind(reader, &item, kind, (char *)list->items + i * kind->size);
  }
}
