/* Reading JSON objects by tables: places and their paths, error reports, the readers of plain
 * values, lists and objects.  parts.h says how they fit together. */
#include "io/model/parts.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* "bodies[0].mass"; a key that a dot cannot join stands in brackets and quotes. */
char *poli_path(const poli_place *place)
{
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-$ ";
  if (!place->parent) return poli_format("%s", "");
  char *parent = poli_path(place->parent), *path = NULL;
  if (!parent) return NULL;
  const size_t length = place->key ? strlen(place->key) : 0;
  if (!place->key) {
    path = poli_format("%s[%zu]", parent, place->index);
  } else if (length > 0 && length <= SHORT_JSON && strspn(place->key, plain) == length) {
    path = poli_format("%s%s%s", parent, *parent ? "." : "", place->key);
  } else {
    json_t *text = json_string(place->key);
    char *quoted = text ? short_json(text) : NULL;
    if (quoted) path = poli_format("%s[%s]", parent, quoted);
    json_decref(text);
    free(quoted);
  }
  free(parent);
  return path;
}

/* --- errors ----------------------------------------------------------------------------------- */

pol_status poli_add_error(poli_reader *reader, const char *path, const char *value,
                          const char *rule, const char *suggestion)
{
  const pol_status status = pol_errors_add(reader->errors, path, value, rule, suggestion);
  if (status != POL_OK || !reader->file) return status;
  char *file = poli_format("%s", reader->file);
  pol_error *error = &reader->errors->items[reader->errors->count - 1];
  if (!file) return POL_NO_MEMORY;
  free(error->file);
  error->file = file;
  return POL_OK;
}

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
    status = poli_add_error(reader, path, value, rule_text, suggestion);
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

/* The number of a text among choices, or -1. */
static int find_choice(const poli_choices *choices, const char *text)
{
  for (int i = 0; text && choices->name(i); i++)
    if (strcmp(text, choices->name(i)) == 0) return i;
  return -1;
}

/* The keys of a table; those that objects of other types have are "". */
typedef struct keys {
  const poli_field *fields;
  unsigned type; /* POLI_TYPE; 0 for all types */
} keys;

static const char *key_name(const void *of, int i)
{
  const keys *k = of;
  const poli_field *field = &k->fields[i];
  return field->key && field->types && k->type && !(field->types & k->type) ? "" : field->key;
}

/* The key of the table that is near to an unknown one of an object, or "": a usual word for one
 * that objects of its type have, or else for any, or one that is spelt alike. */
static const char *near_key(const poli_field *fields, const poli_place *object, const char *key)
{
  pol_near near = pol_near_start(key);
  const poli_field *type = poli_find_field(fields, "type");
  const char *word = json_string_value(json_object_get(object->value, "type"));
  const int known = type && word && type->value->detail == POLI_CHOICES;
  const int number = known ? find_choice(type->detail, word) : -1;
  const keys own = {fields, number >= 0 ? POLI_TYPE(number) : 0}, all = {fields, 0};
  const char *meant = poli_near_word(key, key_name, &own);
  if (!*meant) meant = poli_near_word(key, key_name, &all);
  if (*meant) return meant;
  for (; fields->key; fields++) pol_near_try(&near, fields->key);
  return near.best;
}

void poli_report_unknown(poli_reader *reader, const poli_place *place, const poli_kind *kind)
{
  static const char *const of_joints[] = {"stiffness", "damping",  "friction",
                                          "limits",    "armature", "frictionloss"};
  const char *near = near_key(kind->fields, place->parent, place->key);
  int is_of_joints = 0;
  for (size_t i = 0; i < sizeof of_joints / sizeof *of_joints; i++)
    is_of_joints |= !*near && strcmp(place->key, of_joints[i]) == 0;
  if (strcmp(place->key, "repeat") == 0)
    poli_report(reader, place, "", "must be a key of an object in a list");
  else if (is_of_joints)
    poli_report(reader, place, "", "is not a known key of a %s: joints have it", kind->name);
  else
    poli_report(reader, place, near, "is not a known key");
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
        strcmp(near_key(fields, object, other), key) == 0)
      return;
  }
  poli_report(reader, &place, "", "is required%s%s", *rule ? ": " : "", rule);
}

const char *poli_rule(const poli_field *field)
{
  const poli_number_range *range = poli_range_of(field);
  if (field->rule) return field->rule;
  return range && !field->value->item ? range->rule : field->value->rule;
}

void poli_report_wrong(poli_reader *reader, const poli_place *place, const poli_field *field)
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
    poli_report_wrong(reader, place, field);
}

const poli_number_range *poli_range_of(const poli_field *field)
{
  const poli_number_range *range = field->value->detail == POLI_RANGE ? field->detail : NULL;
  for (int k = 0; k < POLI_NUM_ELEMENTS && range; k++) {
    if (range != &poli_library_range[k]) continue;
    const poli_number_kind kind = poli_number_kind_of((poli_element)k, field->offset);
    return kind == POLI_POSITIVE_NUMBER       ? &poli_positive
           : kind == POLI_NOT_NEGATIVE_NUMBER ? &poli_not_negative
                                              : NULL;
  }
  return range;
}

static void read_number(poli_reader *reader, const poli_place *place, const poli_field *field,
                        void *target)
{
  const poli_number_range *range = poli_range_of(field);
  const double number = json_number_value(place->value);
  const int is_whole = field->value == &poli_integer;
  if (!json_is_number(place->value) || (is_whole && floor(number) != number) ||
      (range &&
       !((range->open ? number > range->low : number >= range->low) && number <= range->high)))
    poli_report_wrong(reader, place, field);
  else if (is_whole)
    *(int *)target = (int)number;
  else
    *(double *)target = number;
}

/* A list of value->count items.  A wrong item is reported at its own place. */
static void read_flag(poli_reader *reader, const poli_place *place, const poli_field *field,
                      void *target)
{
  if (!json_is_boolean(place->value)) poli_report_wrong(reader, place, field);
  *(int *)target = json_is_true(place->value);
}

static void read_items(poli_reader *reader, const poli_place *place, const poli_field *field,
                       void *target)
{
  const poli_value *value = field->value;
  const poli_field item = {.value = value->item, .detail = field->detail};
  if (!json_is_array(place->value) || json_array_size(place->value) != value->count) {
    poli_report_wrong(reader, place, field);
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
  if (v[0] == 0.0 && v[1] == 0.0 && v[2] == 0.0) poli_report_wrong(reader, place, field);
}

/* --- choices and names ------------------------------------------------------------------------ */

static const char *choice_name(const void *choices, int i)
{
  return ((const poli_choices *)choices)->name(i);
}

static void read_choice(poli_reader *reader, const poli_place *place, const poli_field *field,
                        void *target)
{
  const poli_choices *choices = field->detail;
  const char *text = json_string_value(place->value);
  const int number = find_choice(choices, text);
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
  const char *meant = text ? poli_near_word(text, choice_name, choices) : "";
  if (rule)
    poli_report(reader, place, *meant ? meant : near.best, "%s", rule);
  else
    reader->status = POL_NO_MEMORY;
  free(rule);
}

/* Letters, digits, _ and -, and spaces inside: channel names like "top.position.x" stay readable;
 * messages and headers of result files hold names of this length. */
static void read_name(poli_reader *reader, const poli_place *place, const poli_field *field,
                      void *target)
{
  enum { MAX_LENGTH = 200 };
  static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_- ";
  const char *name = json_string_value(place->value);
  const size_t length = name ? strlen(name) : 0;
  if (length == 0 || strspn(name, allowed) != length || name[0] == ' ' || name[length - 1] == ' ')
    poli_report_wrong(reader, place, field);
  else if (length > MAX_LENGTH)
    poli_report(reader, place, "", "must have at most %d characters", MAX_LENGTH);
  else
    *(const char **)target = name;
}

static void read_reference(poli_reader *reader, const poli_place *place, const poli_field *field,
                           void *target)
{
  const char *list = *(const char *const *)field->detail;
  const int is_body = strcmp(list, "bodies") == 0;
  const int has_ground = is_body && field->value != &poli_moving_body;
  const char *name = json_string_value(place->value);
  json_t *names = json_object_get(reader->names, list);
  const json_t *holder = name ? json_object_get(names, name) : NULL;
  int *index = target;
  *index = holder ? (int)json_integer_value(holder) : POL_NOT_FOUND;
  if (name && is_body && strcmp(name, "ground") == 0) *index = POL_GROUND;
  if (*index != POL_NOT_FOUND) return;

  /* Nothing has that name: what could have been meant? */
  pol_near near = pol_near_start(name ? name : "");
  const char *candidate;
  json_t *value;
  json_object_foreach(names, candidate, value) pol_near_try(&near, candidate);
  if (has_ground) pol_near_try(&near, "ground");
  poli_report(reader, place, near.best, "must be a name from the list \"%s\"%s", list,
              has_ground ? " or \"ground\"" : "");
}

/* The nodes of beams, NAME_0 and so on, are bodies behind those of the file; their ends and the
 * markers on them are markers behind those of the file. */
static int collect_nodes(const json_t *top, json_t *bodies, json_t *markers)
{
  json_int_t end = (json_int_t)json_array_size(json_object_get(top, "markers"));
  json_int_t next = (json_int_t)json_array_size(json_object_get(top, "bodies"));
  size_t index;
  json_t *beam, *body;
  int failed = 0;
  json_array_foreach(json_object_get(top, "beams"), index, beam)
  {
    const char *name = json_string_value(json_object_get(beam, "name"));
    const json_int_t elements = json_integer_value(json_object_get(beam, "elements"));
    if (!name || elements < 1 || elements > 1000000) continue;
    for (json_int_t k = 0; k <= elements && !failed; k++, next++) {
      char *node = poli_format("%s_%d", name, (int)k);
      failed |= !node || (!json_object_get(bodies, node) &&
                          json_object_set_new(bodies, node, json_integer(next)));
      free(node);
    }
    for (int k = 0; k < 2 && !failed; k++, end++) {
      char *marker = poli_format(k == 0 ? "%s_first" : "%s_last", name);
      failed |= !marker || (!json_object_get(markers, marker) &&
                            json_object_set_new(markers, marker, json_integer(end)));
      free(marker);
    }
    size_t number;
    json_t *item;
    json_array_foreach(json_object_get(beam, "markers"), number, item)
    {
      const char *own = json_string_value(json_object_get(item, "name"));
      if (own && !json_object_get(markers, own))
        failed |= json_object_set_new(markers, own, json_integer(end));
      end++;
    }
  }
  /* flexible bodies NAME and their interfaces NAME.INTERFACE behind them */
  json_array_foreach(json_object_get(top, "flexible_bodies"), index, body)
  {
    const char *name = json_string_value(json_object_get(body, "name"));
    const json_t *interfaces = json_object_get(body, "interfaces");
    for (size_t k = 0; k <= json_array_size(interfaces) && !failed; k++, next++) {
      const json_t *item = k ? json_array_get(interfaces, k - 1) : NULL;
      const char *own = k ? json_string_value(json_object_get(item, "name")) : "";
      if (!name || !own) continue;
      char *all = poli_format("%s%s%s", name, k ? "." : "", own);
      failed |= !all || (!json_object_get(bodies, all) &&
                         json_object_set_new(bodies, all, json_integer(next)));
      free(all);
    }
  }
  return failed;
}

/* For each list the names of its objects, {name: index, ...}; the first object of a name has it. */
void poli_collect_names(poli_reader *reader, json_t *top, const poli_kind *kind)
{
  int failed = 0;
  reader->names = json_object();
  for (const poli_field *field = kind->fields; field->key; field++) {
    const poli_kind *items = field->value == &poli_objects ? field->detail : NULL;
    if (!items || !poli_find_field(items->fields, "name")) continue;
    json_t *names = json_object(), *item;
    size_t index;
    json_array_foreach(json_object_get(top, field->key), index, item)
    {
      const char *name = json_string_value(json_object_get(item, "name"));
      if (name && !json_object_get(names, name))
        failed |= json_object_set_new(names, name, json_integer((json_int_t)index));
    }
    failed |= json_object_set_new(reader->names, field->key, names);
  }
  failed |= collect_nodes(top, json_object_get(reader->names, "bodies"),
                          json_object_get(reader->names, "markers"));
  if (failed) reader->status = POL_NO_MEMORY;
}

/* --- objects ---------------------------------------------------------------------------------- */

const char *poli_type_name(const poli_kind *kind, int number)
{
  const poli_choices *types =
      kind->type_key ? poli_find_field(kind->fields, kind->type_key)->detail : NULL;
  return types ? types->name(number) : NULL;
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

void poli_read_kind(poli_reader *reader, const poli_place *place, const poli_kind *kind,
                    void *object)
{
  const poli_field *type_field =
      kind->type_key ? poli_find_field(kind->fields, kind->type_key) : NULL;
  const int before = reader->errors->count;
  const char *key;
  json_t *value;
  if (!json_is_object(place->value)) {
    poli_report(reader, place, "", "%s", kind->rule);
    return;
  }
  int type = -1;
  if (type_field && poli_given(place, type_field->key))
    type = find_choice(type_field->detail,
                       json_string_value(json_object_get(place->value, type_field->key)));
  else if (type_field && (!type_field->instead || poli_given(place, type_field->instead)))
    type = kind->standard_type;

  /* the keys in the order of the file */
  json_object_foreach(place->value, key, value)
  {
    const poli_place at = {place, key, 0, value};
    const poli_field *field = poli_find_field(kind->fields, key);
    if (field)
      field->value->read(reader, &at, field, (char *)object + field->offset);
    else if (!is_comment(key))
      poli_report_unknown(reader, &at, kind);
    else if (!json_is_string(value))
      poli_report(reader, &at, "", "must be a string");
  }
  for (const poli_field *field = kind->fields; field->key; field++)
    if (field->required == POLI_ALWAYS && !field->instead && !poli_given(place, field->key))
      poli_report_missing(reader, place, kind->fields, field->key,
                          field->missing ? field->missing : poli_rule(field));
  check_forbidden(reader, place, kind, type);
  check_required(reader, place, kind, type);

  /* keys that exclude or require each other */
  for (const poli_field *field = kind->fields; field->key; field++) {
    const poli_place at = poli_place_key(place, field->key);
    if (!at.value || (type >= 0 && field->types && !(field->types & POLI_TYPE(type)))) continue;
    if (field->not_beside && poli_given(place, field->not_beside))
      poli_report(reader, &at, "", "must not be given together with \"%s\"", field->not_beside);
    if (field->only_with && !poli_given(place, field->only_with))
      poli_report(reader, &at, "", "must not be given without \"%s\"", field->only_with);
  }
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
    poli_report_wrong(reader, place, field);
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

/* A list of n values of another kind. */
#define LIST(n, v, size, detail, rule, words)                                                      \
  POLI_VALUE(read_items, size, detail, rule, words, NULL, .item = &(v), .count = (n))

const poli_value poli_text = POLI_VALUE(read_text, sizeof(char *), POLI_NO_DETAIL,
                                        "must be a string", "string", "{'type': 'string'}");
const poli_value poli_word =
    POLI_VALUE(read_text, sizeof(char *), POLI_CHOICES, "must be a string", "string", "{}");
const poli_value poli_number =
    POLI_VALUE(read_number, sizeof(double), POLI_RANGE, "must be a number", "number",
               "{'type': 'number'}", .texts = POLI_NUMBERS);
const poli_value poli_integer =
    POLI_VALUE(read_number, sizeof(int), POLI_RANGE, "must be a whole number", "whole number",
               "{'type': 'integer'}", .texts = POLI_NUMBERS);
const poli_value poli_flag =
    POLI_VALUE(read_flag, sizeof(int), POLI_NO_DETAIL, "must be true or false", "`true` or `false`",
               "{'type': 'boolean'}");
const poli_value poli_pair = LIST(2, poli_number, 2 * sizeof(double), POLI_RANGE,
                                  "must be a list of 2 numbers", "2 numbers");
const poli_value poli_vector = LIST(3, poli_number, 3 * sizeof(double), POLI_RANGE,
                                    "must be a list of 3 numbers", "3 numbers");
const poli_value poli_quaternion =
    LIST(4, poli_number, 4 * sizeof(double), POLI_RANGE, "must be a list of 4 numbers: w, x, y, z",
         "4 numbers: w, x, y, z");
const poli_value poli_matrix =
    LIST(3, poli_vector, 9 * sizeof(double), POLI_RANGE, "must be a list of 3 rows of 3 numbers",
         "3 lists of 3 numbers, row by row");
const poli_value poli_points =
    LIST(2, poli_vector, 6 * sizeof(double), POLI_RANGE,
         "must be a list of 2 points, each a list of 3 numbers", "2 lists of 3 numbers");
const poli_value poli_direction =
    POLI_VALUE(read_direction, 3 * sizeof(double), POLI_NO_DETAIL,
               "must be a list of 3 numbers, not all zero", "3 numbers, not all zero",
               "{'type': 'array', 'minItems': 3, 'maxItems': 3, 'items': "
               "{'type': 'number'}, 'not': {'items': {'const': 0}}}",
               .texts = POLI_NUMBERS);
const poli_value poli_directions =
    LIST(2, poli_direction, 6 * sizeof(double), POLI_NO_DETAIL,
         "must be a list of 2 directions, each a list of 3 numbers", "2 lists of 3 numbers");
const poli_value poli_choice =
    POLI_VALUE(read_choice, sizeof(int), POLI_CHOICES, "", "string", "{}");
const poli_value poli_choice_pair =
    LIST(2, poli_choice, 2 * sizeof(int), POLI_CHOICES, NULL, "2 strings");
const poli_value poli_name =
    POLI_VALUE(read_name, sizeof(char *), POLI_NO_DETAIL,
               "must be a name of ASCII letters, digits, _, - and spaces between them", "name",
               "{'type': 'string', 'maxLength': 200, 'not': {'const': 'ground'}, 'pattern': "
               "'^([A-Za-z0-9_-]([A-Za-z0-9_ -]*[A-Za-z0-9_-])?|.*[{].+[}].*)$'}",
               .texts = POLI_NAMES);
const poli_value poli_reference = POLI_VALUE(read_reference, sizeof(int), POLI_LISTS, "", "name",
                                             "{'type': 'string'}", .texts = POLI_REFERENCES);
const poli_value poli_references =
    LIST(2, poli_reference, 2 * sizeof(int), POLI_LISTS, NULL, "2 names");
const poli_value poli_moving_body =
    POLI_VALUE(read_reference, sizeof(int), POLI_LISTS, "must be the name of a body", "name",
               "{'type': 'string', 'not': {'const': 'ground'}}", .texts = POLI_REFERENCES);
const poli_value poli_object = POLI_VALUE(read_object, 0, POLI_KIND, "", "object", NULL);
const poli_value poli_objects =
    POLI_VALUE(read_objects, sizeof(poli_items), POLI_KIND, "", "list", NULL);
