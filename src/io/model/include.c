/* Included files: each use of one is an instance of its tree, which is expanded with its own
 * parameters.  Its names get a prefix, and its objects are appended to the lists of the tree that
 * includes it.  Where the include moves or turns it, what was read is moved, not the tree. */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/lie.h>

#include "io/file/file.h"
#include "io/model/expand.h"
#include "lie/small.h"

/* --- files ------------------------------------------------------------------------------------ */

/* The path of a file from the folder of the model: relative to the file that names it. */
static char *join_path(const char *from, const char *file)
{
  const char *slash = strrchr(from, '/');
  while (strncmp(file, "./", 2) == 0) file += 2;
  return poli_format("%.*s%s", file[0] != '/' && slash ? (int)(slash - from) + 1 : 0, from, file);
}

/* Reads a file and parses it; errors are reported in the file, or at the place that names it. */
static poli_source *read_source(poli_expansion *x, const poli_place *place, const char *path)
{
  static const size_t largest = (size_t)1 << 28;
  poli_reader *reader = x->reader;
  poli_source *source = calloc(1, sizeof *source);
  json_t *inside = json_object_get(x->files, path);
  char *full = poli_format("%s%s", x->folder && path[0] != '/' ? x->folder : "", path);
  pol_status status = source && full ? POL_OK : POL_NO_MEMORY;
  if (source && !(source->path = poli_format("%s", path))) status = POL_NO_MEMORY;
  if (status == POL_OK && inside && !json_is_object(inside)) {
    const poli_place top = {0}, files = {&top, "files", 0, x->files};
    const poli_place at = {&files, path, 0, inside};
    const char *file = reader->file;
    reader->file = "";
    poli_report(reader, &at, "", "must be an object with lists such as \"bodies\"");
    reader->file = file;
  } else if (status == POL_OK && inside) {
    source->tree = json_incref(inside);
  } else if (status == POL_OK && (!x->folder || x->files)) {
    poli_report(reader, place, "", "must be in \"files\"%s",
                x->files ? ", which the model has" : ": the model was not read from a file");
  } else if (status == POL_OK) {
    status = poli_read_small_file(full, largest, &source->text, &source->size);
    if (status == POL_IO) poli_report(reader, place, "", "cannot be read: %s", strerror(errno));
    const char *file = reader->file;
    reader->file = source->path;
    if (status == POL_OK) source->tree = poli_load_json(reader, source->text, source->size);
    const poli_place top = {.value = source->tree};
    if (source->tree && !json_is_object(source->tree))
      poli_report(reader, &top, "", "must be an object with lists such as \"bodies\"");
    reader->file = file;
  }
  if (status == POL_NO_MEMORY) reader->status = status;
  free(full);
  if (source && json_is_object(source->tree)) {
    source->next = x->sources->next;
    return x->sources->next = source;
  }
  if (source) json_decref(source->tree);
  if (source) free(source->text);
  if (source) free(source->path);
  free(source);
  return NULL;
}

/* Whether the instance, or one that includes it, is of this file: it would have no end. */
static int is_recursive(poli_expansion *x, int instance, const poli_place *place, const char *path)
{
  int depth = 1;
  for (int i = instance; i >= 0; i = x->instances[i].parent, depth++) {
    const char *own = i == 0 ? x->base : x->instances[i].source->path;
    if (strcmp(own, path) != 0 && depth <= POLI_INCLUDE_DEPTH) continue;
    char *chain = poli_format("%s", path);
    for (int k = instance; chain; k = x->instances[k].parent) {
      const char *name = k == 0 ? x->base : x->instances[k].source->path;
      char *longer = poli_format("%s -> %s", *name ? name : "the model", chain);
      free(chain);
      chain = longer;
      if (k == i) break;
    }
    if (!chain) x->reader->status = POL_NO_MEMORY;
    if (chain && depth > POLI_INCLUDE_DEPTH)
      poli_report(x->reader, place, "", "must not be included more than %d levels deep: %s",
                  POLI_INCLUDE_DEPTH, chain);
    else if (chain)
      poli_report(x->reader, place, "", "must not include itself: %s", chain);
    free(chain);
    return 1;
  }
  return 0;
}

/* --- names ------------------------------------------------------------------------------------ */

typedef struct renaming {
  poli_expansion *x;
  const char *prefix, *folder; /* folder: of the file, as far as a last slash */
  const json_t *connect;       /* or NULL */
  json_t *local;               /* {"bodies": {name: index}, ...} */
  json_t *used;                /* names of `connect` that were used, or NULL without memory */
} renaming;

/* The new name of an object of a list (NULL: of any), or NULL if it stays. */
static char *new_name(const renaming *r, const char *list, const char *name)
{
  const char *key, *other = json_string_value(json_object_get(r->connect, name));
  json_t *names;
  int is_local = 0;
  json_object_foreach(r->local, key, names)
  {
    is_local |= (!list || strcmp(key, list) == 0) && json_object_get(names, name);
  }
  if (!is_local && !other) return NULL;
  if (!is_local && (!r->used || json_object_set_new(r->used, name, json_true()) != 0))
    r->x->reader->status = POL_NO_MEMORY;
  char *text = is_local ? poli_format("%s%s", r->prefix, name) : poli_format("%s", other);
  if (!text) r->x->reader->status = POL_NO_MEMORY;
  return text;
}

/* An expression with new names; NULL without memory. */
static char *rename_expression(const renaming *r, const char *text)
{
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
  char *result = poli_format("%s", "");
  const char *name;
  size_t length, first;
  int whole;
  while (result && (name = poli_next_name(text, &length, &first, &whole)) != NULL) {
    const size_t quote = *name == '\'' && first >= 2;
    char *word = poli_format("%.*s", (int)(first - 2 * quote), name + quote);
    const int is_call = !whole && length == first && !quote;
    char *other = word && !is_call ? new_name(r, NULL, word) : NULL;
    const char *mark =
        other && (strspn(other, plain) != strlen(other) || strchr("0123456789", *other)) ? "'" : "";
    char *longer = other ? poli_format("%s%.*s%s%s%s%.*s", result, (int)(name - text), text, mark,
                                       other, mark, (int)(length - first), name + first)
                         : poli_format("%s%.*s", result, (int)(name + length - text), text);
    free(result);
    result = word ? longer : NULL;
    if (!word) free(longer);
    free(word);
    free(other);
    text = name + length;
  }
  char *all = result ? poli_format("%s%s", result, text) : NULL;
  free(result);
  return all;
}

static json_t *rename_value(renaming *r, json_t *value, const poli_field *field);

/* All texts of an object of a kind. */
static void rename_object(renaming *r, json_t *object, const poli_kind *kind)
{
  const char *key;
  json_t *value;
  json_object_foreach(object, key, value)
  {
    const poli_field *field = poli_find_field(kind->fields, key);
    json_t *other = field && !json_is_number(value) ? rename_value(r, value, field) : NULL;
    if (other && json_object_set_new(object, key, other) != 0) r->x->reader->status = POL_NO_MEMORY;
  }
}

/* A new text for an old one, or NULL; what is in lists and objects is changed there. */
static json_t *rename_value(renaming *r, json_t *value, const poli_field *field)
{
  const poli_kind *kind = field->value->detail == POLI_KIND ? field->detail : field->value->kind;
  const poli_value *type = field->value;
  while (type->item) type = type->item;
  const char *text = json_string_value(value);
  char *other = NULL;
  for (size_t i = 0; i < json_array_size(value); i++) {
    json_t *item = json_array_get(value, i);
    json_t *renamed = json_is_number(item) ? NULL : rename_value(r, item, field);
    if (renamed && json_array_set_new(value, i, renamed) != 0) r->x->reader->status = POL_NO_MEMORY;
  }
  if (field->value == &poli_changes && json_is_object(value)) {
    json_t *changes = json_object(), *item;
    const char *key;
    json_object_foreach(value, key, item)
    {
      /* "BODY.velocity.x", or a state; without quotes, unlike in an expression */
      const size_t first = strcspn(key, ".");
      char *owner = poli_format("%.*s", (int)first, key);
      char *other_owner = owner ? new_name(r, NULL, owner) : NULL;
      char *name =
          owner ? poli_format("%s%s", other_owner ? other_owner : owner, key + first) : NULL;
      free(owner);
      free(other_owner);
      char *rule = json_is_string(item) ? rename_expression(r, json_string_value(item)) : NULL;
      if (!name || json_object_set_new(changes, name, rule ? json_string(rule) : json_incref(item)))
        r->x->reader->status = POL_NO_MEMORY;
      free(name);
      free(rule);
    }
    return changes;
  }
  if (field->value == &poli_expression_map || field->value == &poli_variable_map) {
    json_t *item;
    const char *key;
    json_object_foreach(value, key, item)
    {
      const char *name = json_string_value(item);
      if (!name) continue;
      char *renamed = field->value == &poli_expression_map ? rename_expression(r, name)
                                                           : new_name(r, "variables", name);
      if (renamed && json_object_set_new(value, key, json_string(renamed)) != 0)
        r->x->reader->status = POL_NO_MEMORY;
      free(renamed);
    }
    return NULL;
  }
  if (json_is_object(value) && kind) rename_object(r, value, kind);
  if (!text) return NULL;
  if (type->texts == POLI_NAMES)
    other = poli_format("%s%s", r->prefix, text);
  else if (type->texts == POLI_REFERENCES)
    other = new_name(r, *(const char *const *)field->detail, text);
  else if (type->texts == POLI_EXPRESSIONS || type->texts == POLI_EFFORTS)
    other = rename_expression(r, text);
  else if (type == &poli_mesh_file || type == &poli_data_file)
    other = join_path(r->folder, text);
  json_t *renamed = other ? json_string(other) : NULL;
  if (other && !renamed) r->x->reader->status = POL_NO_MEMORY;
  free(other);
  return renamed;
}

/* What is connected must be used by the file, and not be its own. */
static void check_connections(const renaming *r, const poli_place *place)
{
  const poli_place connect = poli_place_key(place, "connect");
  const char *name, *list;
  json_t *value, *names;
  json_object_foreach(connect.value, name, value)
  {
    int is_local = 0;
    if (json_object_get(r->used, name)) continue;
    json_object_foreach(r->local, list, names) is_local |= json_object_get(names, name) != NULL;
    const poli_place at = poli_place_key(&connect, name);
    poli_report(r->x->reader, &at, "",
                is_local ? "must not be the name of an object of the included file itself"
                         : "must be a name that the included file uses but does not define");
  }
}

/* --- instances -------------------------------------------------------------------------------- */

/* Appends the objects of an expanded tree to the lists of the one that includes it. */
static void append_lists(poli_expansion *x, int owner, int instance, json_t *from, json_t *to)
{
  int failed = 0;
  for (const poli_field *field = poli_model_kind.fields; field->key; field++) {
    json_t *list = json_object_get(from, field->key), *item;
    const poli_origins *origins = poli_origins_of(x, list);
    json_t *target = json_object_get(to, field->key);
    size_t index;
    if (field->value != &poli_objects || field->detail == &poli_include_kind ||
        json_array_size(list) == 0)
      continue;
    if (!target) {
      failed |= json_object_set_new(to, field->key, json_array());
      target = json_object_get(to, field->key);
    }
    json_array_foreach(list, index, item)
    {
      const poli_origin own = {instance, index};
      if (!json_is_array(target)) break;
      failed |= !poli_origin_add(x, target, owner, origins ? origins->items[index] : own);
      failed |= json_array_append(target, item);
      if (failed) break;
    }
  }
  if (failed) x->reader->status = POL_NO_MEMORY;
}

/* Expands one use of a file and appends it; units: of the parameters that it is given. */
static void add_instance(poli_expansion *x, int owner, const poli_place *place, json_t *to,
                         poli_source *source, const poli_include_keys *keys,
                         const poli_scope *units)
{
  poli_reader *reader = x->reader;
  const char *file = reader->file, *key;
  json_t *value, *names = reader->names;
  poli_scope scope = {0};
  poli_instance *longer =
      realloc(x->instances, ((size_t)x->num_instances + 1) * sizeof *x->instances);
  if (longer) x->instances = longer;
  x->num_values += poli_count_values(source->tree);
  if (x->num_values > poli_expansion_limit) {
    poli_report(reader, place, "", "must not make a model of more than %zu values",
                poli_expansion_limit);
    return;
  }
  json_t *tree = longer ? json_deep_copy(source->tree) : NULL;
  if (!tree) {
    reader->status = POL_NO_MEMORY;
    return;
  }
  const int instance = x->num_instances++;
  x->instances[instance] = (poli_instance){.source = source, .parent = owner, .tree = tree};
  poli_v3_copy(keys->position, x->instances[instance].position);
  memcpy(x->instances[instance].rotation, keys->rotation, sizeof keys->rotation);
  x->instances[instance].is_moved = poli_given(place, "position") || poli_given(place, "rotation");
  x->instances[instance].is_turned = poli_given(place, "rotation");

  const poli_given_values given = {poli_place_key(place, "parameters"), file, units};
  const poli_place top = {.value = tree}, parameters = poli_place_key(&top, "parameters");
  reader->file = source->path;
  json_object_foreach(tree, key, value)
  {
    const poli_place at = poli_place_key(&top, key);
    if (!poli_find_field(poli_model_kind.fields, key) && strcmp(key, "comment") != 0)
      poli_report_unknown(reader, &at, &poli_model_kind);
  }
  poli_parameters_read(reader, &parameters, &given, &scope);
  if (reader->status == POL_OK) poli_expand_tree(x, instance, &top, &scope);
  reader->names = NULL;
  if (reader->status == POL_OK) poli_collect_names(reader, tree, &poli_model_kind);
  renaming r = {x, keys->prefix, source->path, keys->connect, reader->names, json_object()};
  if (reader->status == POL_OK) rename_object(&r, tree, &poli_model_kind);
  reader->file = file;
  if (reader->status == POL_OK) check_connections(&r, place);
  json_decref(r.used);
  json_decref(reader->names);
  reader->names = names;
  if (reader->status == POL_OK) append_lists(x, owner, instance, tree, to);
  free(scope.items);
}

/* What the copies of one include are for. */
typedef struct use {
  int owner;
  const poli_place *top, *list;
  size_t index;
} use;

static int include_once(poli_expansion *x, const poli_scope *scope, void *user)
{
  const use *u = user;
  json_t *copy = json_deep_copy(json_array_get(u->list->value, u->index));
  poli_include_keys keys = {.prefix = "", .rotation = {1.0, 0.0, 0.0, 0.0}};
  const poli_place place = {u->list, NULL, u->index, copy};
  const int before = x->reader->errors->count;
  x->has_includes = 1;
  x->num_values += 1;
  if (!copy)
    x->reader->status = POL_NO_MEMORY;
  else
    json_object_del(copy, "repeat");
  /* the expansion leaves numbers */
  const char *name;
  json_t *text;
  poli_scope units = {0};
  json_object_foreach(json_object_get(copy, "parameters"), name, text)
  {
    double value;
    poli_unit unit;
    if (json_is_string(text) &&
        poli_scope_try(x->reader, scope, json_string_value(text), &value, &unit) &&
        !poli_scope_add(&units, name, value, &unit))
      x->reader->status = POL_NO_MEMORY;
  }
  if (copy) poli_expand_object(x, u->owner, &place, &poli_include_kind, scope);
  if (copy) poli_read_kind(x->reader, &place, &poli_include_kind, &keys);
  /* a file is read even if another key of its include is wrong, but its names may be, too */
  int complete = x->reader->errors->count == before;
  void *next;
  json_object_foreach_safe(json_object_get(copy, "parameters"), next, name, text)
  {
    if (!json_is_number(text)) json_object_del(json_object_get(copy, "parameters"), name);
  }
  if (copy && x->reader->status == POL_OK && keys.file) {
    const int num_instances = x->num_instances;
    const poli_place at = poli_place_key(&place, "file");
    char *path = join_path(x->instances[u->owner].source->path, keys.file);
    poli_source *source = x->sources->next;
    if (!path) x->reader->status = POL_NO_MEMORY;
    while (path && source && strcmp(source->path, path) != 0) source = source->next;
    if (path && !is_recursive(x, u->owner, &at, path)) {
      if (!source) source = read_source(x, &at, path);
      if (source) add_instance(x, u->owner, &place, u->top->value, source, &keys, &units);
    }
    free(path);
    complete &= x->num_instances > num_instances;
  }
  free(units.items);
  json_decref(copy);
  if (!complete) x->is_partial = 1;
  return x->reader->errors->count == before;
}

void poli_include_all(poli_expansion *x, int instance, const poli_place *top,
                      const poli_scope *scope)
{
  const poli_place list = poli_place_key(top, "include");
  if (list.value && !json_is_array(list.value))
    poli_report(x->reader, &list, "", "must be a list of files to include");
  for (size_t i = 0; i < json_array_size(list.value) && x->reader->status == POL_OK; i++) {
    const poli_place item = poli_place_item(&list, i);
    use u = {instance, top, &list, i};
    poli_repeat(x, &item, scope, include_once, &u);
  }
}

char *poli_text_with_files(const poli_expansion *x, const char *text, size_t size)
{
  const char *open = memchr(text, '{', size);
  json_t *files = json_object();
  int failed = 0;
  for (const poli_source *s = x->sources->next; s; s = s->next)
    failed |= json_object_set(files, s->path, s->tree);
  if (x->meshes) failed |= json_object_update(files, x->meshes);
  char *dump = failed ? NULL : json_dumps(files, JSON_COMPACT | JSON_REAL_PRECISION(17));
  char *all = dump && open ? poli_format("%.*s\n\"files\": %s,%s", (int)(open + 1 - text), text,
                                         dump, open + 1)
                           : NULL;
  free(dump);
  json_decref(files);
  return all;
}
