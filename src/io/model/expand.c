/* The walk over the tree of a model: texts that stand for numbers become numbers, names in
 * expressions values, objects with "repeat" copies.  The tables of fields.c say which texts are
 * which.  A value that cannot be evaluated is reported and becomes 1, so that the rest of the file
 * is still checked. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "io/model/expand.h"

size_t poli_expansion_limit = 10000000;

/* --- origins ---------------------------------------------------------------------------------- */

const poli_origins *poli_origins_of(const poli_expansion *x, const json_t *list)
{
  const poli_origins *o = x->origins;
  while (o && o->list != list) o = o->next;
  return o;
}

int poli_origin_add(poli_expansion *x, const json_t *list, int owner, poli_origin origin)
{
  poli_origins *o = x->origins;
  while (o && o->list != list) o = o->next;
  if (!o) {
    o = calloc(1, sizeof *o);
    if (!o) return 0;
    o->list = list;
    o->next = x->origins;
    x->origins = o;
  }
  /* what the list has already comes from itself */
  while (o->count <= json_array_size(list)) {
    if (o->count == o->room) {
      const size_t room = o->room ? 2 * o->room : 16;
      poli_origin *items = realloc(o->items, room * sizeof *items);
      if (!items) return 0;
      o->items = items;
      o->room = room;
    }
    o->items[o->count] = (poli_origin){owner, o->count};
    o->count++;
  }
  o->items[o->count - 1] = origin;
  return 1;
}

/* --- copies ----------------------------------------------------------------------------------- */

size_t poli_count_values(const json_t *value)
{
  size_t count = 1, index;
  const char *key;
  json_t *item;
  json_array_foreach((json_t *)(uintptr_t)value, index, item) count += poli_count_values(item);
  json_object_foreach((json_t *)(uintptr_t)value, key, item) count += poli_count_values(item);
  return count;
}

/* A loop over the keys of "repeat" from the k-th on; 0 to stop. */
typedef struct loop {
  poli_expansion *x;
  const poli_place *ranges;
  poli_scope scope;
  poli_visit_copy *visit;
  void *user;
} loop;

/* A number of a range or of a list of values. */
static void read_number(loop *l, const poli_place *at, double *number)
{
  const char *text = json_string_value(at->value);
  *number = json_number_value(at->value);
  if (text)
    poli_scope_value(l->x->reader, &l->scope, at, text, number, NULL);
  else if (!json_is_number(at->value))
    poli_report(l->x->reader, at, "",
                "must be a count, a list of the first and the last index such as [1, 3] for 1, 2 "
                "and 3, or {\"values\": [...]} with each value");
}

/* First and last number of a range: a count, or a list of both.  0: it is wrong, and reported. */
static int read_range(loop *l, const poli_place *place, double range[2])
{
  enum { MOST = 1000000 };
  poli_reader *reader = l->x->reader;
  const int is_list = json_array_size(place->value) == 2, before = reader->errors->count;
  range[0] = 0.0;
  for (int i = is_list ? 0 : 1; i < 2; i++) {
    const poli_place at = is_list ? poli_place_item(place, (size_t)i) : *place;
    read_number(l, &at, &range[i]);
    if (reader->errors->count == before && (floor(range[i]) != range[i] || fabs(range[i]) > MOST))
      poli_report(reader, &at, "", "must be a whole number of at most %d, but is %.10g%s", MOST,
                  range[i], is_list ? "; other values stand in a list, {\"values\": [...]}" : "");
  }
  if (reader->errors->count == before && !is_list && range[1] < 0.0)
    poli_report(reader, place, "", "must be a count, 0 or more, but is %.10g", range[1]);
  if (!is_list) range[1] -= 1.0;
  if (reader->errors->count == before && is_list && range[1] < range[0] - 1.0)
    poli_report(
        reader, place, "",
        "must be the first and the last index, in this order; the last may be one less, for "
        "no copies; other values stand in a list, {\"values\": [...]}");
  return reader->errors->count == before;
}

/* The values of {"values": [...]}: the list, or a place without a value if it is wrong, which is
 * reported. */
static poli_place find_values(loop *l, const poli_place *place)
{
  poli_place values = poli_place_key(place, "values");
  if (!json_is_array(values.value) || json_object_size(place->value) != 1) {
    poli_report(l->x->reader, place, "",
                "must be a count, a range or {\"values\": [...]} with each value");
    values.value = NULL;
  }
  return values;
}

static void report_limit(poli_expansion *x, const poli_place *place)
{
  poli_report(x->reader, place, "", "must not make a model of more than %zu values",
              poli_expansion_limit);
}

static int run_loop(loop *l, int k)
{
  const poli_unit pure = {.kind = POLI_PURE_NUMBER};
  void *iterator = json_object_iter(l->ranges->value);
  for (int i = 0; i < k && iterator; i++)
    iterator = json_object_iter_next(l->ranges->value, iterator);
  if (!iterator) return l->visit(l->x, &l->scope, l->user);
  const char *name = json_object_iter_key(iterator);
  const poli_place at = poli_place_key(l->ranges, name);
  const int is_values = json_is_object(at.value);
  double range[2] = {0.0, -1.0};
  poli_place values = at;
  if (!poli_name_usable(l->x->reader, name)) {
    poli_report(l->x->reader, &at, "",
                "must have a name of letters, digits and _ that is not t or pi");
    return 0;
  }
  if (poli_scope_find(&l->scope, name) >= 0) {
    poli_report(l->x->reader, &at, "", "must not be the name of a parameter or another index");
    return 0;
  }
  if (is_values) {
    values = find_values(l, &at);
    range[1] = (double)json_array_size(values.value) - 1.0;
    if (!values.value) return 0;
  } else if (!read_range(l, &at, range)) {
    return 0;
  }
  if (!poli_scope_add(&l->scope, name, 0.0, &pure)) {
    l->x->reader->status = POL_NO_MEMORY;
    return 0;
  }
  const int mine = l->scope.count - 1;
  int go_on = 1;
  for (double i = range[0]; i <= range[1] && go_on; i += 1.0) {
    double value = i;
    if (is_values) {
      const poli_place item = poli_place_item(&values, (size_t)i);
      const int before = l->x->reader->errors->count;
      l->scope.count--; /* a value must not read its own index */
      read_number(l, &item, &value);
      l->scope.count++;
      if (l->x->reader->errors->count != before) go_on = 0;
    }
    if (!go_on) break;
    l->scope.items[mine].value = value;
    /* loops that make nothing take time, too */
    if (++l->x->num_values > poli_expansion_limit) {
      report_limit(l->x, l->ranges);
      go_on = 0;
    } else {
      go_on = run_loop(l, k + 1) && l->x->reader->status == POL_OK;
    }
  }
  l->scope.count--;
  return go_on;
}

void poli_repeat(poli_expansion *x, const poli_place *object, const poli_scope *scope,
                 poli_visit_copy *visit, void *user)
{
  const poli_place ranges = poli_place_key(object, "repeat");
  loop l = {.x = x, .ranges = &ranges, .visit = visit, .user = user};
  if (!ranges.value) {
    visit(x, scope, user);
    return;
  }
  if (!json_is_object(ranges.value) || json_object_size(ranges.value) == 0) {
    poli_report(x->reader, &ranges, "",
                "must be an object of an index and its count, such as {\"i\": 10}");
    x->is_partial = 1;
    return;
  }
  for (int i = 0; i < scope->count; i++)
    if (!poli_scope_add(&l.scope, scope->items[i].name, scope->items[i].value,
                        &scope->items[i].unit))
      x->reader->status = POL_NO_MEMORY;
  if (x->reader->status == POL_OK && !run_loop(&l, 0)) x->is_partial = 1;
  free(l.scope.items);
}

/* --- values ----------------------------------------------------------------------------------- */

/* Puts a new value, which is taken over, in place of the one at a place. */
static void replace(poli_expansion *x, const poli_place *place, json_t *value)
{
  json_t *container = place->parent->value;
  const int failed = place->key ? json_object_set_new(container, place->key, value)
                                : json_array_set_new(container, place->index, value);
  if (failed) x->reader->status = POL_NO_MEMORY;
}

/* The unit of a key may be one of several, "N or N m"; what is no unit is not checked. */
static void check_unit(poli_expansion *x, const poli_place *place, const poli_field *field,
                       const poli_unit *unit)
{
  static const char between[] = " or ";
  char found[64];
  for (const char *at = field->unit; at;) {
    const char *end = strstr(at, between);
    const int length = end ? (int)(end - at) : (int)strlen(at);
    char one[64];
    poli_unit wanted;
    snprintf(one, sizeof one, "%.*s", length, at);
    if (!poli_unit_parse(one, &wanted) || !poli_units_differ(unit, &wanted)) return;
    at = end ? end + strlen(between) : NULL;
  }
  if (!field->unit) return;
  poli_unit_text(unit, found, sizeof found);
  poli_report(x->reader, place, "", "must be in %s, but its unit is %s", field->unit, found);
}

/* The number that a text stands for; its unit must be that of the key. */
static void expand_number(poli_expansion *x, const poli_place *place, const poli_field *field,
                          const poli_scope *scope)
{
  const char *text = json_string_value(place->value);
  poli_unit unit;
  double value = 1.0;
  /* words that stand beside numbers are left to the reader, misspelt ones too; where there are no
   * parameters, every text that has no value and is no formula */
  const char *word = place->key ? field->value->word : NULL;
  if (word && strcmp(text, word) == 0) return;
  const int is_word = word || (scope->count == 0 && !strpbrk(text, "*/^("));
  if (is_word && !poli_scope_try(x->reader, scope, text, &value, NULL)) return;
  if (poli_scope_value(x->reader, scope, place, text, &value, &unit) != POL_OK)
    value = 1.0;
  else
    check_unit(x, place, field, &unit);
  if (x->reader->status == POL_OK)
    replace(x, place,
            value == floor(value) && fabs(value) < 1e15 ? json_integer((json_int_t)value)
                                                        : json_real(value));
}

static void expand_text(poli_expansion *x, const poli_place *place, const poli_field *field,
                        const poli_scope *scope)
{
  const poli_value *type = field->value;
  while (type->item) type = type->item;
  const char *text = json_string_value(place->value);
  const int is_expression = type->texts == POLI_EXPRESSIONS || type->texts == POLI_EFFORTS;
  double value;
  poli_unit unit;
  if (type->texts == POLI_NUMBERS) {
    const poli_field item = {.value = type, .unit = field->unit};
    expand_number(x, place, &item, scope);
    return;
  }
  if (type->texts == POLI_EFFORTS && poli_scope_try(x->reader, scope, text, &value, &unit)) {
    check_unit(x, place, field, &unit);
    replace(x, place, json_real(value));
    return;
  }
  if (!strchr(text, '{') && !(is_expression && scope->count > 0)) return;
  char *filled = poli_scope_fill(x->reader, scope, place, text, is_expression);
  if (filled && strcmp(filled, text) != 0) replace(x, place, json_string(filled));
  free(filled);
}

/* The keys of an object of expressions, too. */
static void expand_changes(poli_expansion *x, const poli_place *place, const poli_scope *scope)
{
  static const poli_field text = {.value = &poli_expression};
  json_t *changes = json_object(), *value;
  const char *key;
  json_object_foreach(place->value, key, value)
  {
    const poli_place at = poli_place_key(place, key);
    if (json_is_string(value)) expand_text(x, &at, &text, scope);
  }
  json_object_foreach(place->value, key, value)
  {
    char *filled = poli_scope_fill(x->reader, scope, place, key, 0);
    if (filled && json_object_set(changes, filled, value) != 0) x->reader->status = POL_NO_MEMORY;
    free(filled);
  }
  replace(x, place, changes);
}

/* An object of numbers, of expressions or of names. */
static void expand_map(poli_expansion *x, const poli_place *place, const poli_field *field,
                       const poli_scope *scope)
{
  const poli_field item = {.value = field->value == &poli_number_map       ? &poli_number
                                    : field->value == &poli_expression_map ? &poli_expression
                                                                           : &poli_text};
  const char *key;
  json_t *value;
  json_object_foreach(place->value, key, value)
  {
    const poli_place at = {place, key, 0, value};
    if (json_is_string(value)) expand_text(x, &at, &item, scope);
  }
}

/* What the copies of one object are for. */
typedef struct copies {
  int instance;
  const poli_place *list;
  size_t index;
  const poli_kind *kind;
  json_t *item, *to;
} copies;

static int add_copy(poli_expansion *x, const poli_scope *scope, void *user)
{
  const copies *c = user;
  const poli_place original = {c->list, NULL, c->index, c->item};
  x->num_values += poli_count_values(c->item);
  if (x->num_values > poli_expansion_limit) {
    report_limit(x, &original);
    return 0;
  }
  json_t *copy = json_deep_copy(c->item);
  const int before = x->reader->errors->count;
  if (copy) json_object_del(copy, "repeat");
  const int added = copy &&
                    poli_origin_add(x, c->to, c->instance, (poli_origin){c->instance, c->index}) &&
                    json_array_append(c->to, copy) == 0;
  json_decref(copy); /* the list has it */
  if (!added) {
    x->reader->status = POL_NO_MEMORY;
    return 0;
  }
  const poli_place place = {c->list, NULL, c->index, copy};
  poli_expand_object(x, c->instance, &place, c->kind, scope);
  return x->reader->errors->count == before; /* the others would have the same errors */
}

static void expand_list(poli_expansion *x, int instance, const poli_place *place,
                        const poli_field *field, const poli_scope *scope)
{
  const poli_kind *kind = field->detail;
  size_t index;
  json_t *item;
  int any = 0;
  json_array_foreach(place->value, index, item) any |= json_object_get(item, "repeat") != NULL;
  json_t *to = any ? json_array() : NULL;
  json_array_foreach(place->value, index, item)
  {
    const poli_place at = {place, NULL, index, item};
    if (json_object_get(item, "repeat")) {
      copies c = {instance, place, index, kind, item, to};
      poli_repeat(x, &at, scope, add_copy, &c);
      continue;
    }
    if (json_is_object(item)) poli_expand_object(x, instance, &at, kind, scope);
    if (any && (!poli_origin_add(x, to, instance, (poli_origin){instance, index}) ||
                json_array_append(to, item) != 0))
      x->reader->status = POL_NO_MEMORY;
  }
  if (any) replace(x, place, to);
}

static void expand_value(poli_expansion *x, int instance, const poli_place *place,
                         const poli_field *field, const poli_scope *scope)
{
  const poli_kind *kind = field->value->detail == POLI_KIND ? field->detail : field->value->kind;
  size_t index;
  json_t *item;
  switch (json_typeof(place->value)) {
  case JSON_STRING:
    expand_text(x, place, field, scope);
    break;
  case JSON_ARRAY:
    if (field->value == &poli_objects) {
      expand_list(x, instance, place, field, scope);
      break;
    }
    json_array_foreach(place->value, index, item)
    {
      const poli_place at = {place, NULL, index, item};
      if (!json_is_number(item)) expand_value(x, instance, &at, field, scope);
    }
    break;
  case JSON_OBJECT:
    if (field->value == &poli_changes)
      expand_changes(x, place, scope);
    else if (field->value == &poli_number_map || field->value == &poli_name_map ||
             field->value == &poli_expression_map || field->value == &poli_variable_map)
      expand_map(x, place, field, scope);
    else if (kind)
      poli_expand_object(x, instance, place, kind, scope);
    break;
  default:
    break;
  }
}

void poli_expand_object(poli_expansion *x, int instance, const poli_place *place,
                        const poli_kind *kind, const poli_scope *scope)
{
  const char *key;
  json_t *value;
  json_object_foreach(place->value, key, value)
  {
    const poli_place at = {place, key, 0, value};
    if (json_is_number(value)) continue;
    const poli_field *field = poli_find_field(kind->fields, key);
    if (field && field->value->texts != POLI_NO_TEXTS) expand_value(x, instance, &at, field, scope);
  }
}

void poli_expand_tree(poli_expansion *x, int instance, const poli_place *top,
                      const poli_scope *scope)
{
  static const char *const lists[] = {"variables", "states"};
  poli_expand_object(x, instance, top, &poli_model_kind, scope);
  /* a name must not mean two things in expressions */
  for (int i = 0; i < 2 && scope->count > 0; i++) {
    const poli_place list = poli_place_key(top, lists[i]);
    for (size_t k = 0; k < json_array_size(list.value); k++) {
      const poli_place item = poli_place_item(&list, k), name = poli_place_key(&item, "name");
      if (name.value && json_is_string(name.value) &&
          poli_scope_find(scope, json_string_value(name.value)) >= 0)
        poli_report(x->reader, &name, "", "must not be the name of a parameter as well");
    }
  }
  if (x->reader->status == POL_OK) poli_include_all(x, instance, top, scope);
  json_object_del(top->value, "parameters");
  json_object_del(top->value, "include");
  json_object_del(top->value, "files");
}

void poli_expand(poli_expansion *x, const poli_place *top, pol_model *model)
{
  const poli_place parameters = poli_place_key(top, "parameters");
  poli_scope scope = {0};
  x->files = json_incref(json_object_get(top->value, "files"));
  x->sources = calloc(1, sizeof *x->sources);
  x->instances = calloc(1, sizeof *x->instances);
  if (x->sources) x->sources->path = poli_format("%s", "");
  if (!x->sources || !x->instances || !x->sources->path) {
    x->reader->status = POL_NO_MEMORY;
    return;
  }
  x->instances[0] = (poli_instance){.source = x->sources, .parent = -1};
  x->num_instances = 1;
  poli_parameters_read(x->reader, &parameters, NULL, &scope);
  if (x->reader->status == POL_OK && scope.count > 0)
    x->reader->status = poli_parameters_keep(x->reader, parameters.value, &scope, model);
  if (x->reader->status == POL_OK) poli_expand_tree(x, 0, top, &scope);
  free(scope.items);
}

void poli_expansion_free(poli_expansion *x)
{
  for (poli_source *next, *s = x->sources; s; s = next) {
    next = s->next;
    free(s->path);
    free(s->text);
    json_decref(s->tree);
    free(s);
  }
  for (poli_origins *next, *o = x->origins; o; o = next) {
    next = o->next;
    free(o->items);
    free(o);
  }
  for (int i = 0; i < x->num_instances; i++) json_decref(x->instances[i].tree);
  free(x->instances);
  json_decref(x->files);
  json_decref(x->meshes);
}
