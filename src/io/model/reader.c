/* Reading JSON objects by tables: places and their paths, error reports, the readers of plain
 * values, lists and objects.  fields.h says how they fit together. */
#include "io/model/parts.h"

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
char *poli_path(const poli_place *place)
{
  if (!place->parent) return poli_format("%s", "");
  char *parent = poli_path(place->parent);
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

  char *path = place->parent ? poli_path(place) : poli_format("top level");
  char *value = place->value ? short_json(place->value) : poli_format("%s", "");
  pol_status status = POL_NO_MEMORY;
  if (path && value && rule_text)
    status = pol_errors_add(reader->errors, path, value, rule_text, suggestion);
  if (status != POL_OK) reader->status = status;
  free(rule_text);
  free(path);
  free(value);
}

const poli_field *poli_find_field(const poli_field *fields, const char *key)
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

void poli_report_missing(poli_reader *reader, const poli_place *object, const poli_field *fields,
                         const char *key, const char *rule)
{
  const poli_place place = poli_place_key(object, key);
  const char *other;
  json_t *value;
  /* an unknown key for which this one was suggested? */
  json_object_foreach(object->value, other, value)
  {
    if (!is_comment(other) && !poli_find_field(fields, other) &&
        strcmp(near_key(fields, other), key) == 0)
      return;
  }
  poli_report(reader, &place, "", "is required%s%s", *rule ? ": " : "", rule);
}

void poli_forbid(poli_reader *reader, const poli_place *object, const char *const *keys,
                 const char *rule)
{
  for (; *keys; keys++) {
    const poli_place place = poli_place_key(object, *keys);
    if (place.value) poli_report(reader, &place, "", "%s", rule);
  }
}

const char *poli_rule(const poli_field *field)
{
  const poli_range *range = poli_range_of(field);
  if (field->rule) return field->rule;
  return range && !field->value->item ? range->rule : field->value->rule;
}

static void report_wrong(poli_reader *reader, const poli_place *place, const poli_field *field)
{
  poli_report(reader, place, "", "%s", poli_rule(field));
}

/* --- plain values ----------------------------------------------------------------------------- */

static void read_text(poli_reader *reader, const poli_place *place, const poli_field *field,
                      void *target)
{
  const char *text = json_string_value(place->value);
  if (text)
    *(const char **)target = text;
  else
    report_wrong(reader, place, field);
}

const poli_range *poli_range_of(const poli_field *field)
{
  const poli_range *range = field->value->detail == POLI_RANGE ? field->detail : NULL;
  for (int k = 0; k < POLI_NUM_ELEMENTS && range; k++) {
    if (range != &poli_library_range[k]) continue;
    const poli_number_kind kind = poli_number_kind_of((poli_element)k, field->offset);
    return kind == POLI_POSITIVE_NUMBER       ? &poli_positive
           : kind == POLI_NOT_NEGATIVE_NUMBER ? &poli_not_negative
                                              : NULL;
  }
  return range;
}

static int in_range(const poli_range *range, double number)
{
  return !range ||
         ((range->open ? number > range->low : number >= range->low) && number <= range->high);
}

static void read_number(poli_reader *reader, const poli_place *place, const poli_field *field,
                        void *target)
{
  const double number = json_number_value(place->value);
  if (json_is_number(place->value) && in_range(poli_range_of(field), number))
    *(double *)target = number;
  else
    report_wrong(reader, place, field);
}

static void read_integer(poli_reader *reader, const poli_place *place, const poli_field *field,
                         void *target)
{
  const double number = json_number_value(place->value);
  if (json_is_number(place->value) && in_range(field->detail, number) && floor(number) == number)
    *(int *)target = (int)number;
  else
    report_wrong(reader, place, field);
}

/* A list of value->count items.  A wrong item is reported at its own place. */
static void read_items(poli_reader *reader, const poli_place *place, const poli_field *field,
                       void *target)
{
  const poli_value *value = field->value;
  const poli_field item = {.value = value->item, .detail = field->detail};
  if (!json_is_array(place->value) || json_array_size(place->value) != value->count) {
    report_wrong(reader, place, field);
    return;
  }
  for (size_t i = 0; i < value->count; i++) {
    const poli_place at = poli_place_item(place, i);
    value->item->read(reader, &at, &item, (char *)target + i * value->item->size);
  }
}

static void read_direction(poli_reader *reader, const poli_place *place, const poli_field *field,
                           void *target)
{
  const poli_field vector = {.value = &poli_vector, .rule = poli_rule(field)};
  const int before = reader->errors->count;
  double *v = target;
  read_items(reader, place, &vector, v);
  if (reader->errors->count != before) return;
  if (v[0] == 0.0 && v[1] == 0.0 && v[2] == 0.0) report_wrong(reader, place, field);
}

/* --- choices and names ------------------------------------------------------------------------ */

int poli_choice_find(const poli_choices *choices, const char *text)
{
  for (int i = 0; text && choices->name(i); i++)
    if (strcmp(text, choices->name(i)) == 0) return i;
  return -1;
}

static void read_choice(poli_reader *reader, const poli_place *place, const poli_field *field,
                        void *target)
{
  const poli_choices *choices = field->detail;
  const char *text = json_string_value(place->value);
  const int number = poli_choice_find(choices, text);
  if (number >= 0) {
    *(int *)target = number;
    return;
  }
  *(int *)target = -1;
  /* "must be one of: a, b, c" */
  pol_near near = pol_near_start(text ? text : "");
  char *rule = poli_format("must be one of: ");
  for (int i = 0; rule && choices->name(i); i++) {
    char *longer = poli_format("%s%s%s", rule, i ? ", " : "", choices->name(i));
    free(rule);
    rule = longer;
    if (text) pol_near_try(&near, choices->name(i));
  }
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

static void read_name(poli_reader *reader, const poli_place *place, const poli_field *field,
                      void *target)
{
  const char *name = json_string_value(place->value);
  if (!name || !is_name(name)) {
    report_wrong(reader, place, field);
    return;
  }
  if (strlen(name) > MAX_NAME_LENGTH) {
    poli_report(reader, place, "", "must have at most %d characters", MAX_NAME_LENGTH);
    return;
  }
  *(const char **)target = name;
}

static void read_reference(poli_reader *reader, const poli_place *place, const poli_field *field,
                           void *target)
{
  const char *list = *(const char *const *)field->detail;
  const int is_body = strcmp(list, "bodies") == 0;
  const int has_ground = is_body && field->value != &poli_moving_body;
  const char *name = json_string_value(place->value);
  const json_t *holder = name ? find_name(reader, list, name) : NULL;
  int *index = target;
  *index = holder ? (int)json_integer_value(holder) : POL_NOT_FOUND;
  if (name && is_body && strcmp(name, poli_ground_name) == 0) *index = POL_GROUND;
  if (*index != POL_NOT_FOUND) return;

  /* Nothing has that name: what could have been meant? */
  pol_near near = pol_near_start(name ? name : "");
  const char *candidate;
  json_t *value;
  json_object_foreach(json_object_get(reader->names, list), candidate, value)
      pol_near_try(&near, candidate);
  if (has_ground) pol_near_try(&near, poli_ground_name);
  poli_report(reader, place, near.best, "must be a name from the list \"%s\"%s", list,
              has_ground ? " or \"ground\"" : "");
}

static void read_references(poli_reader *reader, const poli_place *place, const poli_field *field,
                            void *target)
{
  int *index = target;
  index[0] = index[1] = POL_NOT_FOUND;
  read_items(reader, place, field, target);
}

/* The names of the objects in a list: {name: index, ...}; the first object of a name has it. */
static json_t *names_of(json_t *list)
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

void poli_collect_names(poli_reader *reader, json_t *top, const poli_kind *kind)
{
  reader->names = json_object();
  for (const poli_field *field = kind->fields; field->key; field++) {
    const poli_kind *items = field->value == &poli_objects ? field->detail : NULL;
    if (!items || !poli_find_field(items->fields, "name")) continue;
    json_t *names = names_of(json_object_get(top, field->key));
    if (json_object_set_new(reader->names, field->key, names) != 0) reader->status = POL_NO_MEMORY;
  }
}

/* --- objects ---------------------------------------------------------------------------------- */

const char *poli_type_name(const poli_kind *kind, int number)
{
  const poli_choices *types =
      kind->type_key ? poli_find_field(kind->fields, kind->type_key)->detail : NULL;
  return types ? types->name(number) : NULL;
}

int poli_type_of(const poli_place *object, const poli_kind *kind)
{
  const poli_field *field = kind->type_key ? poli_find_field(kind->fields, kind->type_key) : NULL;
  const json_t *type = field ? json_object_get(object->value, field->key) : NULL;
  if (type) return poli_choice_find(field->detail, json_string_value(type));
  if (!field || (field->instead && !poli_given(object, field->instead))) return -1;
  return kind->standard_type;
}

/* Reads each key in the order of the file. */
static void read_keys(poli_reader *reader, const poli_place *object, const poli_field *fields,
                      void *target)
{
  const char *key;
  json_t *value;
  json_object_foreach(object->value, key, value)
  {
    const poli_place place = {object, key, 0, value};
    const poli_field *field = poli_find_field(fields, key);
    if (field)
      field->value->read(reader, &place, field, (char *)target + field->offset);
    else if (!is_comment(key))
      poli_report(reader, &place, near_key(fields, key), "is not a known key");
    else if (!json_is_string(value))
      poli_report(reader, &place, "", "must be a string");
  }
}

/* What the type of the object does not have. */
static void check_forbidden(poli_reader *reader, const poli_place *object, const poli_kind *kind,
                            int type)
{
  for (const poli_field *field = kind->fields; field->key && type >= 0; field++) {
    const poli_place place = poli_place_key(object, field->key);
    const char *reason = kind->reason ? kind->reason(field, type) : NULL;
    if (!place.value || !field->types || field->types & POLI_TYPE(type)) continue;
    const char *name = poli_type_name(kind, type);
    const char *article = kind->articles ? kind->articles[type] : NULL;
    const char *a = strchr("aeiou", *name) ? "an " : "a ";
    if (reason || field->forbidden)
      poli_report(reader, &place, "", "%s", reason ? reason : field->forbidden);
    else if (kind->noun)
      poli_report(reader, &place, "", "must not be given: %s%s%s has no \"%s\"", a, name,
                  kind->noun, field->key);
    else
      poli_report(reader, &place, "", "must not be given for %s%s", article ? "" : a,
                  article ? article : name);
  }
}

/* What the object must have: always, by its type, or because of another key. */
static void check_required(poli_reader *reader, const poli_place *object, const poli_kind *kind,
                           int type)
{
  const unsigned bit = type < 0 ? POLI_NO_TYPE : POLI_TYPE(type);
  for (const poli_field *field = kind->fields; field->key; field++) {
    const poli_field *other = field->instead ? poli_find_field(kind->fields, field->instead) : NULL;
    const int has_other = other && (!other->types || other->types & bit);
    const int simple = field->required == POLI_ALWAYS && !field->instead;
    int needed = (field->required & bit) != 0;
    if (field->needed_by)
      needed = poli_given(object, field->needed_by) && (needed || !field->required) &&
               (!field->types || field->types & bit);
    if (simple || !needed || poli_given(object, field->key)) continue;
    if (has_other && poli_given(object, other->key)) continue;
    const char *reason = kind->reason ? kind->reason(field, type) : NULL;
    if (!reason) reason = field->missing ? field->missing : poli_rule(field);
    poli_report_missing(reader, object, kind->fields, field->key, reason);
  }
}

/* Keys that exclude or require each other. */
static void check_pairs(poli_reader *reader, const poli_place *object, const poli_kind *kind,
                        int type)
{
  for (const poli_field *field = kind->fields; field->key; field++) {
    const poli_place place = poli_place_key(object, field->key);
    if (!place.value || (type >= 0 && field->types && !(field->types & POLI_TYPE(type)))) continue;
    if (field->not_beside && poli_given(object, field->not_beside))
      poli_report(reader, &place, "", "must not be given together with \"%s\"", field->not_beside);
    if (field->only_with && !poli_given(object, field->only_with))
      poli_report(reader, &place, "", "must not be given without \"%s\"", field->only_with);
  }
}

void poli_read_kind(poli_reader *reader, const poli_place *place, const poli_kind *kind,
                    void *object)
{
  if (!json_is_object(place->value)) {
    poli_report(reader, place, "", "%s", kind->rule);
    return;
  }
  const int before = reader->errors->count;
  const int type = poli_type_of(place, kind);
  read_keys(reader, place, kind->fields, object);
  for (const poli_field *field = kind->fields; field->key; field++)
    if (field->required == POLI_ALWAYS && !field->instead && !poli_given(place, field->key))
      poli_report_missing(reader, place, kind->fields, field->key,
                          field->missing ? field->missing : poli_rule(field));
  check_forbidden(reader, place, kind, type);
  check_required(reader, place, kind, type);
  check_pairs(reader, place, kind, type);
  const int sound = reader->status == POL_OK && reader->errors->count == before;
  if (kind->check) kind->check(reader, place, object, sound);
}

static void read_object(poli_reader *reader, const poli_place *place, const poli_field *field,
                        void *target)
{
  poli_read_kind(reader, place, field->detail, target);
}

static void read_objects(poli_reader *reader, const poli_place *place, const poli_field *field,
                         void *target)
{
  const poli_kind *kind = field->detail;
  poli_items *list = target;
  const size_t count = json_array_size(place->value);
  if (!json_is_array(place->value) || count < kind->at_least || count > INT_MAX) {
    report_wrong(reader, place, field);
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
    char *object = (char *)list->items + i * kind->size;
    if (kind->initial) memcpy(object, kind->initial, kind->size);
    poli_read_kind(reader, &item, kind, object);
  }
}

/* --- kinds of values -------------------------------------------------------------------------- */

const poli_value poli_text = {.read = read_text,
                              .size = sizeof(char *),
                              .rule = "must be a string",
                              .words = "string",
                              .schema = "{\"type\": \"string\"}"};
const poli_value poli_word = {.read = read_text,
                              .size = sizeof(char *),
                              .detail = POLI_CHOICES,
                              .rule = "must be a string",
                              .words = "string",
                              .schema = "{}"};
const poli_value poli_number = {.read = read_number,
                                .size = sizeof(double),
                                .detail = POLI_RANGE,
                                .rule = "must be a number",
                                .words = "number",
                                .schema = "{\"type\": \"number\"}"};
const poli_value poli_integer = {.read = read_integer,
                                 .size = sizeof(int),
                                 .detail = POLI_RANGE,
                                 .rule = "must be a whole number",
                                 .words = "whole number",
                                 .schema = "{\"type\": \"integer\"}"};
const poli_value poli_pair = {.read = read_items,
                              .size = 2 * sizeof(double),
                              .detail = POLI_RANGE,
                              .rule = "must be a list of 2 numbers",
                              .words = "2 numbers",
                              .item = &poli_number,
                              .count = 2};
const poli_value poli_vector = {.read = read_items,
                                .size = 3 * sizeof(double),
                                .detail = POLI_RANGE,
                                .rule = "must be a list of 3 numbers",
                                .words = "3 numbers",
                                .item = &poli_number,
                                .count = 3};
const poli_value poli_quaternion = {.read = read_items,
                                    .size = 4 * sizeof(double),
                                    .detail = POLI_RANGE,
                                    .rule = "must be a list of 4 numbers: w, x, y, z",
                                    .words = "4 numbers: w, x, y, z",
                                    .item = &poli_number,
                                    .count = 4};
const poli_value poli_matrix = {.read = read_items,
                                .size = 9 * sizeof(double),
                                .detail = POLI_RANGE,
                                .rule = "must be a list of 3 rows of 3 numbers",
                                .words = "3 lists of 3 numbers, row by row",
                                .item = &poli_vector,
                                .count = 3};
const poli_value poli_points = {.read = read_items,
                                .size = 6 * sizeof(double),
                                .detail = POLI_RANGE,
                                .rule = "must be a list of 2 points, each a list of 3 numbers",
                                .words = "2 lists of 3 numbers",
                                .item = &poli_vector,
                                .count = 2};
const poli_value poli_direction = {
    .read = read_direction,
    .size = 3 * sizeof(double),
    .rule = "must be a list of 3 numbers, not all zero",
    .words = "3 numbers, not all zero",
    .schema = "{\"type\": \"array\", \"minItems\": 3, \"maxItems\": 3, \"items\": "
              "{\"type\": \"number\"}, \"not\": {\"items\": {\"const\": 0}}}"};
const poli_value poli_directions = {.read = read_items,
                                    .size = 6 * sizeof(double),
                                    .rule =
                                        "must be a list of 2 directions, each a list of 3 numbers",
                                    .words = "2 lists of 3 numbers",
                                    .item = &poli_direction,
                                    .count = 2};
const poli_value poli_choice = {.read = read_choice,
                                .size = sizeof(int),
                                .detail = POLI_CHOICES,
                                .rule = "",
                                .words = "string",
                                .schema = "{}"};
const poli_value poli_choice_pair = {.read = read_items,
                                     .size = 2 * sizeof(int),
                                     .detail = POLI_CHOICES,
                                     .words = "2 strings",
                                     .item = &poli_choice,
                                     .count = 2};
const poli_value poli_name = {
    .read = read_name,
    .size = sizeof(char *),
    .rule = "must be a name of ASCII letters, digits, _, - and spaces between them",
    .words = "name",
    .schema = "{\"type\": \"string\", \"maxLength\": 200, \"not\": {\"const\": \"ground\"}, "
              "\"pattern\": \"^[A-Za-z0-9_-]([A-Za-z0-9_ -]*[A-Za-z0-9_-])?$\"}"};
const poli_value poli_reference = {.read = read_reference,
                                   .size = sizeof(int),
                                   .detail = POLI_LISTS,
                                   .rule = "",
                                   .words = "name",
                                   .schema = "{\"type\": \"string\"}"};
const poli_value poli_references = {.read = read_references,
                                    .size = 2 * sizeof(int),
                                    .detail = POLI_LISTS,
                                    .words = "2 names",
                                    .item = &poli_reference,
                                    .count = 2};
const poli_value poli_moving_body = {
    .read = read_reference,
    .size = sizeof(int),
    .detail = POLI_LISTS,
    .rule = "must be the name of a body",
    .words = "name",
    .schema = "{\"type\": \"string\", \"not\": {\"const\": \"ground\"}}"};
const poli_value poli_object = {
    .read = read_object, .detail = POLI_KIND, .rule = "", .words = "object"};
const poli_value poli_objects = {.read = read_objects,
                                 .size = sizeof(poli_items),
                                 .detail = POLI_KIND,
                                 .rule = "",
                                 .words = "list"};
