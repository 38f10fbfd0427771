/* From the text of a model file to a JSON tree, changes of the tree, and the steps of parts.h that
 * lead to a model.
 *
 * What Jansson says about a syntax error is turned into an entry of the error list: line and
 * column, the text there, the rule.
 *
 * Overrides "key.path=value" replace one value of the tree before it is checked.  The path is
 * written like the paths of errors: keys joined by dots, items of a list by number in brackets
 * ("bodies[0].mass") or by their name ("bodies.top.mass").  Keys of objects may be new; what leads
 * into a new one makes it an object ("simulation.newton.tolerance" in a file without "newton").
 * Reading the tree reports unknown keys. */
#include "io/model/parts.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/reduction.h>

#include "io/model/expand.h"

static void report_syntax(poli_reader *reader, const json_error_t *error, int zero_bytes)
{
  /* Jansson's message is "what is wrong near 'text'": splits it there.  Where there is no such text
   * ("near end of file") the message stays whole.  The code of the error hides in the last byte of
   * the text. */
  static const char between[] = " near '";
  const enum json_error_code code = json_error_code(error);
  char message[JSON_ERROR_TEXT_LENGTH];
  memcpy(message, error->text, sizeof message);
  char *near = strstr(message, between);
  const char *text = "";
  const size_t length = strlen(message);
  if (near && message[length - 1] == '\'') {
    message[length - 1] = '\0';
    *near = '\0';
    text = near + sizeof between - 1;
  }

  char *rule = NULL;
  if (code == json_error_duplicate_key)
    rule = poli_format("key is given twice in the same object");
  else if (code == json_error_numeric_overflow)
    rule = poli_format("number is too large (%s)", message);
  else if (code == json_error_null_character || code == json_error_null_byte_in_key)
    rule = poli_format("must not hold the character \\u0000");
  else if (zero_bytes)
    rule = poli_format("must be JSON in UTF-8, without zero bytes");
  else
    rule = poli_format("must be valid JSON: %s", message);
  char *path = poli_format("line %d, column %d", error->line, error->column);
  reader->status = POL_NO_MEMORY;
  if (rule && path) reader->status = poli_add_error(reader, path, text, rule, "");
  free(path);
  free(rule);
}

/* Parses size bytes of JSON of any type.  NULL: a syntax error, see error, or reader->status. */
static json_t *parse_json(poli_reader *reader, const char *text, size_t size, json_error_t *error)
{
  const size_t flags = JSON_REJECT_DUPLICATES | JSON_DECODE_ANY;
  json_t *tree = json_loadb(text, size, flags, error);
  if (tree) return tree;

  /* Without memory Jansson says nothing or, inside a token, something about syntax; only an error
   * that comes twice is one. */
  json_error_t first = *error;
  json_t *again = json_loadb(text, size, flags, error);
  if (again || strcmp(first.text, error->text) != 0 || error->text[0] == '\0')
    reader->status = POL_NO_MEMORY;
  json_decref(again);
  return NULL;
}

json_t *poli_load_json(poli_reader *reader, const char *text, size_t size)
{
  /* Some editors start a file with a byte order mark. */
  static const char mark[] = "\xEF\xBB\xBF";
  if (size >= 3 && memcmp(text, mark, 3) == 0) {
    text += 3;
    size -= 3;
  }
  /* A result in place of its model. */
  const int is_hdf5 = size >= 4 && memcmp(text, "\x89HDF", 4) == 0;
  const int is_csv = size >= 10 && memcmp(text, "# polhode ", 10) == 0;
  if (is_hdf5 || is_csv) {
    reader->status = poli_add_error(
        reader, "", "",
        is_hdf5
            ? "is an HDF5 file, such as a result, not a model; polhode info, plot and view show "
              "a result"
            : "is a result in CSV, not a model; polhode info and plot show it",
        "");
    return NULL;
  }
  if (strspn(text, " \t\r\n") == size) {
    reader->status = poli_add_error(reader, "line 1, column 1", "",
                                    "must be a model in JSON, but the input is empty", "");
    return NULL;
  }

  json_error_t error;
  json_t *top = parse_json(reader, text, size, &error);
  if (!top && reader->status == POL_OK)
    report_syntax(reader, &error, memchr(text, '\0', size) != NULL);
  return top;
}

/* --- changes ---------------------------------------------------------------------------------- */

/* One step of a path. */
typedef struct path_step {
  char *text;   /* a key or name, or the digits between brackets */
  int brackets; /* it stood in brackets */
} path_step;

/* An override while it is worked on; path is cut into steps by zeros. */
typedef struct override {
  poli_reader *reader;
  const char *text; /* all of it */
  char *path;
  char *rest; /* of the path */
  json_t *value;
} override;

static void refuse(const override *c, const char *value, const char *rule, const char *suggestion)
{
  static const char parameter[] = "parameters.";
  const size_t length = strlen(parameter);
  const int is_parameter = strncmp(c->text, parameter, length) == 0;
  char *path = poli_format("%s %s", is_parameter ? "--param" : "--set",
                           c->text + (is_parameter ? length : 0));
  pol_status status = POL_NO_MEMORY;
  if (path) status = pol_errors_add(c->reader->errors, path, value, rule, suggestion);
  if (status != POL_OK) c->reader->status = status;
  free(path);
}

/* The value of a parameter: JSON, or an expression.  The parameter must exist; one that is an
 * object keeps its unit. */
static void change_parameter(override *c, json_t *top)
{
  const char *name = strchr(c->path, '.') + 1, *text = strchr(c->text, '=') + 1, *key;
  json_t *all = json_object_get(top, "parameters"), *old = json_object_get(all, name), *item;
  if (!old) {
    pol_near near = pol_near_start(name);
    json_object_foreach(all, key, item) pol_near_try(&near, key);
    const char *rule = json_object_size(all) > 0 ? "must name a parameter of the model"
                                                 : "must name a parameter, but the model has none";
    /* parameters of included files are theirs */
    if (json_array_size(json_object_get(top, "include")) > 0 && !near.best[0])
      rule = json_object_size(all) > 0
                 ? "must name a parameter of the model; one of an included file is set by --set "
                   "include[0].parameters.NAME=VALUE, or by \"parameters\" of the include"
                 : "must name a parameter, but the model has none; one of an included file is set "
                   "by --set include[0].parameters.NAME=VALUE, or by \"parameters\" of the include";
    refuse(c, "", rule, near.best);
    return;
  }
  char *end;
  strtod(text, &end);
  json_error_t error;
  c->value = *text && *end == '\0' ? parse_json(c->reader, text, strlen(text), &error) : NULL;
  if (!c->value && c->reader->status == POL_OK) c->value = json_string(text);
  const int failed = json_is_object(old) ? json_object_set(old, "value", c->value)
                                         : json_object_set(all, name, c->value);
  if (failed || !c->value) c->reader->status = POL_NO_MEMORY;
}

/* The value of an override: JSON, or a word that needs no quotes, which is a letter, then letters,
 * digits, spaces, _ and -. */
static json_t *read_value(const override *c, const char *text)
{
  json_error_t error;
  json_t *value = parse_json(c->reader, text, strlen(text), &error);
  if (value || c->reader->status != POL_OK) return value;
  int is_word = isalpha((unsigned char)text[0]) != 0;
  for (const char *p = text; *p; p++)
    if (!isalnum((unsigned char)*p) && !strchr("_- ", *p)) is_word = 0;
  if (!is_word) {
    refuse(c, text, "must have a value in JSON or one plain word after the =", "");
    return NULL;
  }
  value = json_string(text);
  if (!value) c->reader->status = POL_NO_MEMORY;
  return value;
}

/* Cuts the next step off the path; 0 if the path is wrong there. */
static int next_step(override *c, path_step *step)
{
  char *text = c->rest;
  step->brackets = *text == '[';
  if (step->brackets || (*text == '.' && text != c->path)) text++;
  step->text = text;
  const size_t length = strcspn(text, step->brackets ? "]" : ".[");
  char *end = text + length;
  if (length == 0) return 0;
  for (const char *p = text; p < end; p++) {
    const unsigned char letter = (unsigned char)*p;
    if (step->brackets ? !isdigit(letter) : !(isalnum(letter) || strchr("_-$ ", *p))) return 0;
  }
  if (step->brackets) {
    if (*end != ']' || (end[1] && end[1] != '.' && end[1] != '[')) return 0;
    *end++ = '\0';
  }
  c->rest = end;
  return 1;
}

/* The position of the item that a step names, or the size of the list. */
static size_t find_item(json_t *list, const path_step *step)
{
  const size_t size = json_array_size(list);
  if (step->brackets) {
    const unsigned long long index = strtoull(step->text, NULL, 10);
    return index < size ? (size_t)index : size;
  }
  for (size_t i = 0; i < size; i++) {
    const char *name = json_string_value(json_object_get(json_array_get(list, i), "name"));
    if (name && strcmp(name, step->text) == 0) return i;
  }
  return size;
}

/* Nothing in the container has the step's name: says so, with what is near. */
static void refuse_step(const override *c, json_t *container, const path_step *step)
{
  pol_near near = pol_near_start(step->text);
  const char *key;
  size_t index;
  json_t *item;
  json_object_foreach(container, key, item) pol_near_try(&near, key);
  json_array_foreach(container, index, item)
  {
    const char *name = json_string_value(json_object_get(item, "name"));
    if (name) pol_near_try(&near, name);
  }
  const char *rule = "must name an existing key of the model";
  if (json_is_array(container)) rule = "must name an existing item of the list";
  if (!json_is_array(container) && !json_is_object(container))
    rule = "must not lead into a value that is neither an object nor a list";
  refuse(c, step->text, rule, near.best);
}

/* Follows the path from the top, and sets the value at its end. */
static void change_tree(override *c, json_t *top)
{
  json_t *container = top;
  path_step step;
  for (int done = 0; container && !done;) {
    if (!next_step(c, &step)) {
      refuse(c, c->rest, "must have a path like bodies[0].mass before the =", "");
      return;
    }
    /* A key ends where the next step starts: remember that start, then end the key. */
    const char after = *c->rest;
    *c->rest = '\0';
    const int is_key = json_is_object(container) && !step.brackets;
    const size_t index = json_is_array(container) ? find_item(container, &step) : 0;
    json_t *next = NULL;
    int failed = 0;
    done = !after;
    if (is_key && (done || !json_object_get(container, step.text)))
      failed = done ? json_object_set(container, step.text, c->value)
                    : json_object_set_new(container, step.text, json_object());
    else if (done && index < json_array_size(container))
      failed = json_array_set(container, index, c->value);
    next = is_key ? json_object_get(container, step.text) : json_array_get(container, index);
    if (failed)
      c->reader->status = POL_NO_MEMORY;
    else if (!next)
      refuse_step(c, container, &step);
    container = failed ? NULL : next;
    *c->rest = after;
  }
}

/* Whether a path NAME.KEY begins with the name of a parameter. */
static int leads_to_parameter(const char *path, json_t *top)
{
  char *name = poli_format("%.*s", (int)strcspn(path, "."), path);
  const int found = name && json_object_get(json_object_get(top, "parameters"), name) != NULL;
  free(name);
  return found;
}

/* Changes the tree by one "key.path=value"; what is wrong with that is reported. */
static void apply_override(poli_reader *reader, json_t *top, const char *text)
{
  override c = {.reader = reader, .text = text};
  const char *equals = strchr(text, '=');
  if (!equals) {
    refuse(&c, "", "must have the form key.path=value", "");
    return;
  }
  c.path = poli_format("%.*s", (int)(equals - text), text);
  c.rest = c.path;
  if (!c.path)
    reader->status = POL_NO_MEMORY;
  else if (strncmp(c.path, "parameters.", 11) == 0 &&
           (!strchr(c.path + 11, '.') || !leads_to_parameter(c.path + 11, top)))
    change_parameter(&c, top);
  else if ((c.value = read_value(&c, equals + 1)) != NULL)
    change_tree(&c, top);
  json_decref(c.value);
  free(c.path);
}

/* --- the public functions --------------------------------------------------------------------- */

/* Chooses the method where the file leaves it open; keys that it gives to no effect are added to
 * the reason, not as a warning: one file serves all methods. */
static pol_status choose_method(const poli_model_simulation *simulation, pol_model *model)
{
  pol_settings *settings = &model->settings;
  if (!simulation->automatic) return POL_OK;
  settings->options.method = "auto";
  const pol_status status = pol_settings_choose(model->mechanism, simulation->keep, settings);
  if (status != POL_OK || strcmp(settings->options.method, "rattle") != 0) return status;
  const char *unused = simulation->not_rattle;
  const size_t used = strlen(settings->choice);
  if (unused[0])
    snprintf(settings->choice + used, sizeof settings->choice - used, "; %s %s no effect", unused,
             strchr(unused, ',') ? "have" : "has");
  return POL_OK;
}

/* The steps from a plain tree to a model, but for the choice of a method by *simulation; every
 * error is reported.  1 if the model is complete. */
static int fill_model(poli_reader *reader, const poli_place *top, poli_expansion *x,
                      pol_model *model, poli_model_simulation *simulation)
{
  poli_model_data data = {.name = ""};
  data.simulation.settings = pol_settings_default();
  data.simulation.method = pol_method_count(); /* auto */
  data.simulation.steps = -1;
  poli_collect_names(reader, top->value, &poli_model_kind);
  if (reader->status == POL_OK) poli_read_kind(reader, top, &poli_model_kind, &data);
  if (reader->status == POL_OK) poli_transform_all(x, top, &data);
  if (reader->status == POL_OK) poli_fill_masses(x, top, &data, model);
  if (reader->status == POL_OK) poli_fill_flexible(x, top, &data, model);
  if (reader->status == POL_OK) reader->status = pol_mechanism_create(&model->mechanism);
  if (reader->status == POL_OK) poli_build_mechanism(reader, top, &data, model->mechanism);
  if (reader->status == POL_OK && reader->errors->count == 0) {
    model->settings = data.simulation.settings;
    model->name = poli_format("%s", data.name);
    if (!model->name) reader->status = POL_NO_MEMORY;
    if (reader->status == POL_OK) reader->status = poli_build_output_times(&data, model);
    if (reader->status == POL_OK) reader->status = poli_build_events(&data, model);
    if (reader->status == POL_OK) reader->status = poli_build_controllers(x, &data, model);
    if (reader->status == POL_OK) reader->status = poli_build_shapes(&data, model);
  }
  *simulation = data.simulation;

  poli_model_body *bodies = data.bodies.items;
  for (size_t i = 0; i < data.bodies.count; i++) free(bodies[i].shapes.items);
  poli_model_beam *beams = data.beams.items;
  for (size_t i = 0; i < data.beams.count; i++) {
    free(beams[i].markers.items);
    free(beams[i].loads.items);
  }
  poli_model_flexible *flexible = data.flexible.items;
  for (size_t i = 0; i < data.flexible.count; i++) {
    free(flexible[i].interfaces.items);
    pol_reduced_body_free(&flexible[i].reduced);
  }
  for (const poli_field *field = poli_model_kind.fields; field->key; field++)
    if (field->value == &poli_objects) free(((poli_items *)((char *)&data + field->offset))->items);
  return reader->status == POL_OK && reader->errors->count == 0;
}

/* The text to keep: with the files that it includes, so that it can be read alone. */
static pol_status keep_text(const poli_expansion *x, const char *text, size_t size,
                            pol_model *model)
{
  if ((x->has_includes || x->meshes) && !x->files) {
    model->text = poli_text_with_files(x, text, size);
  } else {
    model->text = calloc(size + 1, 1);
    if (model->text) memcpy(model->text, text, size);
  }
  return model->text ? POL_OK : POL_NO_MEMORY;
}

/* The paths of the included files; what stands in "files" was not read. */
static pol_status keep_included(const poli_expansion *x, pol_model *model)
{
  int count = 0;
  for (const poli_source *s = x->sources->next; s; s = s->next) count += s->text != NULL;
  model->included = calloc((size_t)count + 1, sizeof *model->included);
  if (!model->included) return POL_NO_MEMORY;
  for (const poli_source *s = x->sources->next; s; s = s->next) {
    if (!s->text) continue;
    char *path = poli_format("%s%s", x->folder && s->path[0] != '/' ? x->folder : "", s->path);
    if (!path) return POL_NO_MEMORY;
    model->included[model->num_included++] = path;
  }
  return POL_OK;
}

/* Takes back errors from the first one on that may only be consequences of a file or copies that
 * could not be read: names that are missing or, without the right prefix, given twice. */
static void remove_doubtful(pol_errors *errors, int first)
{
  static const char *const rules[] = {"must be a name from the list", "must be unique: "};
  for (int i = first; i < errors->count; i++) {
    const pol_error *e = &errors->items[i];
    int doubtful = strcmp(e->path, "bodies") == 0 || strstr(e->rule, "is not a known name") != NULL;
    for (int k = 0; k < 2; k++) doubtful |= strncmp(e->rule, rules[k], strlen(rules[k])) == 0;
    if (doubtful) poli_errors_remove(errors, i--);
  }
}

pol_status poli_model_read_bytes(pol_model **model, const char *text, size_t size,
                                 poli_expansion from, int num_overrides,
                                 const char *const *overrides, pol_errors *errors)
{
  poli_reader reader = {.errors = errors, .status = POL_OK};
  poli_expansion x = from;
  x.reader = &reader;
  pol_model *result = calloc(1, sizeof *result);
  int good = 0;
  *model = NULL;
  if (!result) return POL_NO_MEMORY;
  reader.model = result;

  json_t *tree = poli_load_json(&reader, text, size);
  if (json_is_object(tree))
    for (int i = 0; i < num_overrides; i++) apply_override(&reader, tree, overrides[i]);
  const poli_place top = {.value = tree};
  poli_model_simulation simulation;
  if (tree && reader.status == POL_OK) poli_expand(&x, &top, result);
  reader.first = errors->count;
  if (tree && reader.status == POL_OK && x.num_values <= poli_expansion_limit)
    good = fill_model(&reader, &top, &x, result, &simulation);
  if (x.is_partial) remove_doubtful(errors, reader.first);
  if (good) reader.status = keep_text(&x, text, size, result);
  if (good && reader.status == POL_OK) reader.status = keep_included(&x, result);
  if (tree && !good && reader.status == POL_OK)
    poli_locate_errors(&x, tree, text, size, reader.first);
  poli_expansion_free(&x);
  /* the tree is many times as large as the file; the choice of a method needs memory of its own */
  json_decref(reader.names);
  json_decref(tree);
  if (good && reader.status == POL_OK) reader.status = choose_method(&simulation, result);
  if (good && reader.status == POL_OK) {
    *model = result;
    return POL_OK;
  }
  pol_model_free(&result);
  if (reader.status == POL_OK) return POL_BAD_ARGUMENT;
  pol_errors_clear(errors);
  return reader.status;
}

pol_status pol_model_read_text(pol_model **model, const char *text, int num_overrides,
                               const char *const *overrides, pol_errors *errors)
{
  const poli_expansion nowhere = {.base = ""};
  return poli_model_read_bytes(model, text, strlen(text), nowhere, num_overrides, overrides,
                               errors);
}

void pol_model_free(pol_model **model)
{
  if (!*model) return;
  pol_mechanism_free(&(*model)->mechanism);
  for (int i = 0; i < (*model)->num_shapes; i++) free((*model)->shapes[i].file);
  free((*model)->shapes);
  free((*model)->shape_masses);
  poli_free_controllers(*model);
  for (int i = 0; i < (*model)->num_reduced_bodies; i++)
    poli_surface_free(&(*model)->reduced_bodies[i].surface);
  free((*model)->reduced_bodies);
  for (int i = 0; i < (*model)->num_parameters; i++) {
    free((*model)->parameters[i].name);
    free((*model)->parameters[i].unit);
    free((*model)->parameters[i].description);
  }
  free((*model)->parameters);
  for (int i = 0; i < (*model)->num_included; i++) free((*model)->included[i]);
  free((*model)->included);
  free((*model)->name);
  free((*model)->text);
  free((*model)->notes);
  free((*model)->output_times);
  free((*model)->events);
  free(*model);
  *model = NULL;
}
