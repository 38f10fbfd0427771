/* What follows from the tables of fields.c for people and editors: the JSON Schema (draft 7) of a
 * model file, and the tables of keys of docs/model-format.md.
 *
 * A kind of object is a definition of the schema.  Keys that only some types have, or need, become
 * one "if" for each group of types with the same keys; keys that exclude or require each other
 * "not" and "dependencies"; the schema of the kind has the rest. */
#include "io/model/parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- texts ------------------------------------------------------------------------------------ */

/* A text that grows; failed without memory. */
typedef struct text {
  char *bytes; /* NULL while it is empty */
  size_t length, room;
  int failed;
} text;

static void add(text *t, const char *format, ...) POLI_PRINTF(2, 3);

static void add(text *t, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  const int size = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  if (t->length + (size_t)size >= t->room) {
    t->room = 2 * (t->length + (size_t)size + 32);
    char *longer = t->failed ? NULL : realloc(t->bytes, t->room);
    if (!longer) {
      t->failed = 1;
      t->room = t->length;
      return;
    }
    t->bytes = longer;
  }
  va_start(arguments, format);
  t->length += (size_t)vsnprintf(t->bytes + t->length, (size_t)size + 1, format, arguments);
  va_end(arguments);
}

/* The text, which the caller frees; NULL without memory. */
static char *take(text *t)
{
  if (t->failed) {
    free(t->bytes);
    t->bytes = NULL;
  }
  return t->bytes;
}

/* What separates the parts of a text: nothing before the first. */
static const char *after(const text *t, const char *separator)
{
  return t->length > 0 ? separator : "";
}

/* --- the words of a field --------------------------------------------------------------------- */

static const poli_kind *kind_of(const poli_field *field)
{
  return field->value->detail == POLI_KIND ? field->detail : field->value->kind;
}

/* All kinds of objects that a model can have, that of the whole file first. */
enum { MAX_KINDS = 64 };

static int collect_kinds(const poli_kind *kind, const poli_kind **kinds, int count)
{
  for (int i = 0; i < count; i++)
    if (kinds[i] == kind) return count;
  if (count < MAX_KINDS) kinds[count++] = kind;
  for (const poli_field *field = kind->fields; field->key; field++)
    if (kind_of(field)) count = collect_kinds(kind_of(field), kinds, count);
  return count;
}

/* "`a`, `b`": the types of a mask, after the word `of`; where that is most of them, those that are
 * not in it, after `but`. */
static void add_types(text *t, const poli_kind *kind, unsigned types, const char *of,
                      const char *but)
{
  int in = 0, out = 0;
  for (int i = 0; poli_type_name(kind, i); i++) types &POLI_TYPE(i) ? in++ : out++;
  const int most = 2 * out < in;
  add(t, "%s", most ? but : of);
  for (int i = 0, count = 0; poli_type_name(kind, i); i++)
    if (((types & POLI_TYPE(i)) != 0) != most)
      add(t, "%s`%s`", count++ ? ", " : "", poli_type_name(kind, i));
  if (!most && !*of) add(t, " only");
}

static unsigned all_types(const poli_kind *kind)
{
  unsigned types = 0;
  for (int i = 0; poli_type_name(kind, i); i++) types |= POLI_TYPE(i);
  return types;
}

/* Whether the default of a field is JSON, not words; those that begin with a digit do not exist. */
static int is_json(const char *standard)
{
  return standard && strchr("\"[{-0123456789", *standard) != NULL;
}

/* What the key means and which rules it has, Markdown. */
static char *describe(const poli_kind *kind, const poli_field *field)
{
  enum { FEW = 6 };
  const poli_number_range *range = poli_range_of(field);
  const poli_choices *choices = field->value == &poli_choice ? field->detail : NULL;
  text t = {0}, head = {0};
  int count = 0;
  while (choices && choices->name(count)) count++;
  if (range) add(&t, "%s", range->words);
  if (choices && count <= FEW && (!field->help || !strchr(field->help, '`')))
    for (int i = 0; i < count; i++)
      add(&t, "%s`%s`", i == 0 ? "" : i == count - 1 ? " or " : ", ", choices->name(i));
  if (field->help) add(&t, "%s%s", after(&t, "; "), field->help);
  if (field->not_beside) add(&t, "%snot together with `%s`", after(&t, "; "), field->not_beside);
  if (field->only_with) add(&t, "%sonly with `%s`", after(&t, "; "), field->only_with);
  if (field->types) {
    add_types(&head, kind, field->types, "", "not for ");
    add(&head, "%s%s", after(&t, ": "), t.bytes ? t.bytes : "");
  } else {
    add(&head, "%s", t.bytes ? t.bytes : "");
  }
  head.failed |= t.failed;
  free(t.bytes);
  return take(&head);
}

/* --- the reference ---------------------------------------------------------------------------- */

/* Whether the key is required, and its default. */
static void add_standard(text *t, const poli_kind *kind, const poli_field *field)
{
  const unsigned all = field->types ? field->types & all_types(kind) : all_types(kind);
  const unsigned required = field->required & all;
  text r = {0};
  if (field->needed_by)
    add(&r, "required with `%s`", field->needed_by);
  else if (field->required == POLI_ALWAYS || (required && required == all))
    add(&r, "required");
  else if (required) {
    add_types(&r, kind, required, "required for ", "required except for ");
  }
  if (r.bytes && field->instead) add(&r, ", or `%s`", field->instead);
  if (field->standard) {
    const char *quote = is_json(field->standard) ? "`" : "";
    add(t, "%s%s%s%s", quote, field->standard, quote, after(&r, ", "));
  }
  add(t, "%s", r.bytes ? r.bytes : "");
  if (r.failed) t->failed = 1;
  free(r.bytes);
}

pol_status pol_model_reference(char **reference)
{
  const poli_kind *kinds[MAX_KINDS];
  const int count = collect_kinds(&poli_model_kind, kinds, 0);
  text t = {0};
  for (int i = 0; i < count && !t.failed; i++) {
    add(&t, "%s<!-- keys: %s -->\n\n", i ? "\n" : "", kinds[i]->name);
    add(&t, "| key | type | unit | default | rule |\n|---|---|---|---|---|\n");
    for (const poli_field *field = kinds[i]->fields; field->key; field++) {
      char *rule = describe(kinds[i], field);
      const poli_kind *kind = field->value->detail == POLI_KIND ? field->detail : NULL;
      if (!rule) t.failed = 1;
      add(&t, "| `%s` | ", field->key);
      if (!kind || !kind->link)
        add(&t, "%s", field->value->words);
      else if (field->value == &poli_objects)
        add(&t, "list of [%s](#%s)", kind->link, kind->link);
      else
        add(&t, "[%s](#%s)", strcmp(kind->name, kind->link) == 0 ? "object" : kind->name,
            kind->link);
      add(&t, " | %s | ", field->unit ? field->unit : "");
      add_standard(&t, kinds[i], field);
      add(&t, " | %s |\n", rule ? rule : "");
      free(rule);
    }
  }
  *reference = take(&t);
  return t.failed ? POL_NO_MEMORY : POL_OK;
}

/* --- the schema ------------------------------------------------------------------------------- */

/* Sets a key, whose value is taken over; *failed without memory. */
static void set(json_t *object, const char *key, json_t *value, int *failed)
{
  if (json_object_set_new(object, key, value) != 0) *failed = 1;
}

static void append(json_t *list, json_t *value, int *failed)
{
  if (json_array_append_new(list, value) != 0) *failed = 1;
}

/* The schema that stands in a table, with ' for ". */
static json_t *parse_schema(const char *schema)
{
  char *json = poli_format("%s", schema);
  for (char *quote = json; quote && (quote = strchr(quote, '\''));) *quote = '"';
  json_t *value = json ? json_loads(json, 0, NULL) : NULL;
  free(json);
  return value;
}

/* Where a number may stand, an expression of parameters may. */
static void allow_texts(json_t *schema, int *failed)
{
  const char *type = json_string_value(json_object_get(schema, "type")), *key;
  json_t *value;
  size_t index;
  if (type && (strcmp(type, "number") == 0 || strcmp(type, "integer") == 0))
    set(schema, "type", json_pack("[s, s]", type, "string"), failed);
  json_object_foreach(schema, key, value) allow_texts(value, failed);
  json_array_foreach(schema, index, value) allow_texts(value, failed);
}

static json_t *reference_to(const poli_kind *kind)
{
  char *path = poli_format("#/definitions/%s", kind->name);
  json_t *schema = path ? json_pack("{s:s}", "$ref", path) : NULL;
  free(path);
  return schema;
}

/* The schema of a value, without words. */
static json_t *value_schema(const poli_field *field, int *failed)
{
  const poli_value *value = field->value;
  const poli_kind *kind = kind_of(field);
  if (value == &poli_objects)
    return json_pack("{s:s, s:I, s:o}", "type", "array", "minItems", (json_int_t)kind->at_least,
                     "items", reference_to(kind));
  if (kind && !value->schema) return reference_to(kind);
  if (value->item) {
    const poli_field item = {.value = value->item, .detail = field->detail};
    return json_pack("{s:s, s:I, s:I, s:o}", "type", "array", "minItems", (json_int_t)value->count,
                     "maxItems", (json_int_t)value->count, "items", value_schema(&item, failed));
  }
  json_t *schema = parse_schema(value->schema);
  if (value->texts == POLI_NUMBERS) allow_texts(schema, failed);
  const poli_number_range *range = poli_range_of(field);
  const poli_choices *choices = value->detail == POLI_CHOICES ? field->detail : NULL;
  if (range) {
    set(schema, range->open ? "exclusiveMinimum" : "minimum", json_real(range->low), failed);
    if (range->high < HUGE_VAL) set(schema, "maximum", json_real(range->high), failed);
  }
  if (choices) {
    json_t *words = json_array();
    for (int i = 0; choices->name(i); i++) append(words, json_string(choices->name(i)), failed);
    set(schema, "enum", words, failed);
  }
  return schema;
}

/* The schema of a key, with its default and its description: the Markdown as a plain sentence,
 * without backquotes, asterisks and the targets of links. */
static json_t *field_schema(const poli_kind *kind, const poli_field *field, int *failed)
{
  json_t *schema = value_schema(field, failed);
  char *rule = describe(kind, field);
  text t = {0};
  if (rule) add(&t, "%s", rule);
  if (field->unit) add(&t, "%sunit: %s", after(&t, "; "), field->unit);
  if (t.length > 0) {
    char *to = t.bytes;
    for (const char *from = t.bytes; *from; from++) {
      if (from[0] == ']' && from[1] == '(')
        from = strchr(from, ')');
      else if (from[0] == '*' && from[1] == '*')
        from++;
      else if (!strchr("`[]", *from))
        *to++ = *from;
    }
    *to = '\0';
    if (*t.bytes >= 'a' && *t.bytes <= 'z') *t.bytes = (char)(*t.bytes - 'a' + 'A');
    set(schema, "description", json_string(t.bytes), failed);
  }
  if (is_json(field->standard))
    set(schema, "default", json_loads(field->standard, JSON_DECODE_ANY, NULL), failed);
  if (!rule || t.failed) *failed = 1;
  free(rule);
  free(t.bytes);
  return schema;
}

/* {"required": [key]}, or one of two keys. */
static json_t *need(const char *key, const char *instead)
{
  return instead
             ? json_pack("{s:[{s:[s]}, {s:[s]}]}", "anyOf", "required", key, "required", instead)
             : json_pack("{s:[s]}", "required", key);
}

/* What objects of a type must have and must not have. */
static json_t *type_rules(const poli_kind *kind, int type, int *failed)
{
  json_t *rules = json_array(), *forbidden = json_object();
  for (const poli_field *field = kind->fields; field->key; field++) {
    const poli_field *other = field->instead ? poli_find_field(kind->fields, field->instead) : NULL;
    const int has_other = other && (!other->types || other->types & POLI_TYPE(type));
    if (field->types && !(field->types & POLI_TYPE(type)))
      set(forbidden, field->key, json_false(), failed);
    else if (field->required & POLI_TYPE(type) && field->required != POLI_ALWAYS &&
             !field->needed_by)
      append(rules, need(field->key, has_other ? other->key : NULL), failed);
  }
  if (json_object_size(forbidden) > 0)
    append(rules, json_pack("{s:O}", "properties", forbidden), failed);
  json_decref(forbidden);
  return rules;
}

/* One rule for each group of types that have the same keys. */
static void add_type_rules(const poli_kind *kind, json_t *all, int *failed)
{
  json_t *groups = json_array(); /* [[rules, names, whether the type may be left out], ...] */
  for (int type = 0; poli_type_name(kind, type); type++) {
    json_t *rules = type_rules(kind, type, failed), *group = NULL;
    for (size_t i = 0; i < json_array_size(groups) && !group; i++)
      if (json_equal(json_array_get(json_array_get(groups, i), 0), rules))
        group = json_array_get(groups, i);
    if (!group) {
      group = json_pack("[O, [], b]", rules, 0);
      append(groups, group, failed);
    }
    append(json_array_get(group, 1), json_string(poli_type_name(kind, type)), failed);
    if (type == kind->standard_type && json_array_set_new(group, 2, json_true()) != 0) *failed = 1;
    json_decref(rules);
  }
  for (size_t i = 0; i < json_array_size(groups); i++) {
    const json_t *group = json_array_get(groups, i);
    json_t *rules = json_array_get(group, 0);
    json_t *condition =
        json_pack("{s:{s:{s:O}}}", "properties", kind->type_key, "enum", json_array_get(group, 1));
    if (!json_is_true(json_array_get(group, 2)))
      set(condition, "required", json_pack("[s]", kind->type_key), failed);
    if (json_array_size(rules) > 0)
      append(all, json_pack("{s:o, s:{s:O}}", "if", condition, "then", "allOf", rules), failed);
    else
      json_decref(condition);
  }
  json_decref(groups);
}

/* Whether objects of the kind stand in lists, where "repeat" makes copies of them. */
static int is_listed(const poli_kind *kind)
{
  const poli_kind *kinds[MAX_KINDS];
  const int count = collect_kinds(&poli_model_kind, kinds, 0);
  for (int i = 0; i < count; i++)
    for (const poli_field *field = kinds[i]->fields; field->key; field++)
      if (field->detail == kind &&
          (field->value == &poli_objects || field->value == &poli_includes))
        return 1;
  return 0;
}

/* The definition of a kind of object. */
static json_t *kind_schema(const poli_kind *kind, int *failed)
{
  json_t *schema = json_object(), *required = json_array(), *all = json_array(),
         *properties = json_object(), *dependencies = json_object();
  for (const poli_field *field = kind->fields; field->key; field++) {
    set(properties, field->key, field_schema(kind, field, failed), failed);
    if (field->required == POLI_ALWAYS && !field->instead)
      append(required, json_string(field->key), failed);
    else if (field->required == POLI_ALWAYS)
      append(all, need(field->key, field->instead), failed);
    if (field->needed_by)
      set(dependencies, field->needed_by, need(field->key, field->instead), failed);
    if (field->only_with) set(dependencies, field->key, need(field->only_with, NULL), failed);
    if (field->not_beside)
      append(all, json_pack("{s:{s:[s, s]}}", "not", "required", field->key, field->not_beside),
             failed);
  }
  if (is_listed(kind))
    set(properties, "repeat",
        parse_schema(
            "{'type': 'object', 'minProperties': 1, 'additionalProperties': {'anyOf': "
            "[{'type': ['number', 'string']}, {'type': 'array', 'minItems': 2, 'maxItems': "
            "2, 'items': {'type': ['number', 'string']}}, {'type': 'object', "
            "'additionalProperties': false, 'required': ['values'], 'properties': {'values': "
            "{'type': 'array', 'items': {'type': ['number', 'string']}}}}]}, 'description': "
            "'Index names and their counts, or first and last values, or lists of values'}"),
        failed);
  set(properties, "comment", json_pack("{s:s, s:s}", "type", "string", "description", "Ignored"),
      failed);
  if (kind->type_key) add_type_rules(kind, all, failed);
  if (kind->schema) append(all, parse_schema(kind->schema), failed);
  set(schema, "type", json_string("object"), failed);
  set(schema, "additionalProperties", json_false(), failed);
  set(schema, "required", required, failed);
  set(schema, "properties", properties, failed);
  set(schema, "dependencies", dependencies, failed);
  set(schema, "allOf", all, failed);
  if (json_array_size(required) == 0) json_object_del(schema, "required");
  if (json_object_size(dependencies) == 0) json_object_del(schema, "dependencies");
  if (json_array_size(all) == 0) json_object_del(schema, "allOf");
  return schema;
}

/* JSON with one line for each property and rule. */
static void add_json(text *t, const json_t *value, int depth)
{
  enum { DEEPEST = 4 };
  const int is_list = json_is_array(value);
  const char *key;
  json_t *item;
  size_t index, left = is_list ? json_array_size(value) : json_object_size(value);
  if (depth == DEEPEST || left == 0 || (is_list && json_is_string(json_array_get(value, 0)))) {
    char *line = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(17));
    if (!line) t->failed = 1;
    add(t, "%s", line ? line : "");
    free(line);
    return;
  }
  add(t, is_list ? "[\n" : "{\n");
  json_object_foreach((json_t *)value, key, item)
  {
    add(t, "%*s\"%s\": ", 2 * depth + 2, "", key);
    add_json(t, item, depth + 1);
    add(t, --left ? ",\n" : "\n");
  }
  json_array_foreach(value, index, item)
  {
    add(t, "%*s", 2 * depth + 2, "");
    add_json(t, item, depth + 1);
    add(t, --left ? ",\n" : "\n");
  }
  add(t, "%*s%s", 2 * depth, "", is_list ? "]" : "}");
}

pol_status pol_model_schema(char **schema)
{
  const poli_kind *kinds[MAX_KINDS];
  const int count = collect_kinds(&poli_model_kind, kinds, 0);
  int failed = 0;
  json_t *definitions = json_object();
  for (int i = 1; i < count && !failed; i++)
    set(definitions, kinds[i]->name, kind_schema(kinds[i], &failed), &failed);
  json_t *top =
      json_pack("{s:s, s:s, s:s}", "$schema", "http://json-schema.org/draft-07/schema#", "title",
                "polhode model", "description", "A mechanism and how to simulate it, in SI units.");
  json_t *model = kind_schema(&poli_model_kind, &failed);
  if (json_object_update(top, model) != 0) failed = 1;
  json_decref(model);
  set(top, "definitions", definitions, &failed);
  text t = {.failed = failed};
  add_json(&t, top, 0);
  add(&t, "\n");
  json_decref(top);
  *schema = take(&t);
  return t.failed ? POL_NO_MEMORY : POL_OK;
}
