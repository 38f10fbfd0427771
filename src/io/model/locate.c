/* From a path in the plain tree back to what the user wrote: the file, the path in it, the line,
 * and the name of the element.
 *
 * Jansson keeps no positions, so the text is scanned for the path of an error.  A value that is not
 * there, such as a missing key, is found at what it would be in. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "io/model/expand.h"

/* --- paths ------------------------------------------------------------------------------------ */

/* One step of a path, "bodies", "[3]" or ["odd key"]. */
typedef struct step {
  const char *start; /* with its dot or bracket */
  const char *key;   /* NULL for an index */
  size_t length;     /* of the key */
  size_t index;
} step;

/* Cuts off the first step; 0 at the end of the path, or where it is no path. */
static int next_step(const char **path, step *s)
{
  const char *at = *path;
  *s = (step){.start = at};
  if (*at == '\0') return 0;
  if (*at == '[' && at[1] != '"') {
    char *end;
    s->index = strtoul(at + 1, &end, 10);
    if (end == at + 1 || *end != ']') return 0;
    *path = end + 1;
    return 1;
  }
  if (*at == '[') {
    const char *end = strstr(at, "\"]");
    if (!end) return 0;
    s->key = at + 2;
    s->length = (size_t)(end - s->key);
    *path = end + 2;
    return 1;
  }
  s->key = at + (*at == '.');
  s->length = strcspn(s->key, ".[");
  *path = s->key + s->length;
  return s->length > 0;
}

/* --- lines ------------------------------------------------------------------------------------ */

/* A text whose syntax is right. */
typedef struct scanner {
  const char *at, *end;
} scanner;

static void skip_blanks(scanner *s)
{
  while (s->at < s->end && memchr(" \t\r\n,:", *s->at, 6)) s->at++;
}

static void skip_string(scanner *s)
{
  for (s->at++; s->at < s->end && *s->at != '"'; s->at++)
    if (*s->at == '\\') s->at++;
  s->at++;
}

/* Moves behind the value that starts here. */
static void skip_value(scanner *s)
{
  int depth = 0;
  do {
    skip_blanks(s);
    if (s->at >= s->end) return;
    const char c = *s->at;
    if (c == '"') {
      skip_string(s);
    } else if (c == '{' || c == '[') {
      depth++;
      s->at++;
    } else if (c == '}' || c == ']') {
      depth--;
      s->at++;
    } else {
      while (s->at < s->end && !memchr(" \t\r\n,:{}[]\"", *s->at, 11)) s->at++;
    }
  } while (depth > 0);
}

/* Moves from the start of a value to that of the one in it that a step means; 0 if it is not
 * there: the scanner is then as before. */
static int enter(scanner *s, const step *to)
{
  const scanner before = *s;
  const int is_object = s->at < s->end && *s->at == '{';
  if (s->at >= s->end || (*s->at != '{' && *s->at != '[') || is_object != (to->key != NULL))
    return 0;
  s->at++;
  for (size_t i = 0;; i++) {
    skip_blanks(s);
    if (s->at >= s->end || *s->at == '}' || *s->at == ']') break;
    if (!is_object && i == to->index) return 1;
    if (is_object) {
      const char *key = s->at + 1;
      skip_string(s);
      const size_t length = (size_t)(s->at - 1 - key);
      skip_blanks(s);
      if (length == to->length && memcmp(key, to->key, length) == 0) return 1;
    }
    skip_value(s);
  }
  *s = before;
  return 0;
}

/* The line of a path in a text, or of as much of it as is there; *expression is the text in quotes
 * that stands there, with its first quote, and its length, 0 if there is none. */
static int find_line(const char *text, size_t size, const char *path, const char **expression,
                     size_t *length)
{
  scanner s = {text, text + size};
  step to;
  int line = 1, found = 1;
  if (size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) s.at += 3;
  skip_blanks(&s);
  while (found && next_step(&path, &to)) found = enter(&s, &to);
  scanner end = s;
  if (found && s.at < s.end && *s.at == '"') skip_string(&end);
  *expression = s.at;
  *length = end.at <= end.end ? (size_t)(end.at - s.at) : 0;
  for (const char *c = text; c < s.at && c < s.end; c++) line += *c == '\n';
  return line;
}

/* --- errors ----------------------------------------------------------------------------------- */

/* Follows a path through the plain tree: its path in the file that it comes from, which the caller
 * frees, and which instance that is of; NULL without memory. */
static char *source_path(const poli_expansion *x, json_t *tree, const char *path, int *instance)
{
  char *result = poli_format("%s", "");
  const char *rest = path;
  step s;
  *instance = 0;
  while (result && tree && next_step(&rest, &s)) {
    char *longer = NULL;
    if (s.key) {
      char *key = poli_format("%.*s", (int)s.length, s.key);
      if (key) longer = poli_format("%s%.*s", result, (int)(rest - s.start), s.start);
      tree = json_object_get(tree, key);
      free(key);
    } else {
      const poli_origins *origins = poli_origins_of(x, tree);
      const int known = origins && s.index < origins->count;
      if (known) *instance = origins->items[s.index].instance;
      longer = poli_format("%s[%zu]", result, known ? origins->items[s.index].index : s.index);
      tree = json_array_get(tree, s.index);
    }
    free(result);
    result = longer;
  }
  char *all = result ? poli_format("%s%s", result, rest) : NULL;
  free(result);
  return all;
}

/* The item of a list that the item `index` of the model's own list has become. */
static size_t first_copy(const poli_expansion *x, const json_t *list, size_t index)
{
  const poli_origins *origins = poli_origins_of(x, list);
  for (size_t i = 0; origins && i < origins->count; i++)
    if (origins->items[i].instance == 0 && origins->items[i].index == index) return i;
  return origins ? SIZE_MAX : index;
}

/* "body 'crank'" of a path in one of the lists of a tree, or in those of the file that it was made
 * from; "" of others; NULL without memory. */
static char *element_of(const poli_expansion *x, json_t *tree, const char *path, int is_plain)
{
  step list, item;
  const char *rest = path;
  if (!next_step(&rest, &list) || !list.key || !next_step(&rest, &item) || item.key)
    return poli_format("%s", "");
  for (const poli_field *field = poli_model_kind.fields; field->key; field++) {
    if (field->value != &poli_objects || strlen(field->key) != list.length ||
        strncmp(field->key, list.key, list.length) != 0)
      continue;
    json_t *objects = json_object_get(tree, field->key);
    const size_t index = is_plain ? item.index : first_copy(x, objects, item.index);
    const json_t *object = json_array_get(objects, index);
    const char *name = json_string_value(json_object_get(object, "name"));
    const poli_kind *kind = field->detail;
    if (name) return poli_format("%s '%.60s'", kind->name, name);
  }
  return poli_format("%s", "");
}

/* Sets a text of an error; NULL: out of memory. */
static void set_text(poli_expansion *x, char **text, char *new_text)
{
  if (!new_text) {
    x->reader->status = POL_NO_MEMORY;
    return;
  }
  free(*text);
  *text = new_text;
}

/* Where an item of a list of the plain tree, "bodies[3]...", comes from. */
static poli_origin origin_of(poli_expansion *x, json_t *tree, const char *path)
{
  step list, item;
  const char *rest = path;
  poli_origin origin = {0, SIZE_MAX};
  if (!next_step(&rest, &list) || !list.key || !next_step(&rest, &item) || item.key) return origin;
  char *key = poli_format("%.*s", (int)list.length, list.key);
  if (!key) x->reader->status = POL_NO_MEMORY;
  const poli_origins *origins = poli_origins_of(x, json_object_get(tree, key ? key : ""));
  free(key);
  origin.index = item.index;
  return origins && item.index < origins->count ? origins->items[item.index] : origin;
}

/* A name that copies or files have made a second time: how to avoid that.  Whether it is one. */
static int explain_twice(poli_expansion *x, pol_error *error, json_t *tree)
{
  static const char rule[] = "must be unique: ";
  if (strncmp(error->rule, rule, strlen(rule)) != 0) return 0;
  const char *other = error->rule + strlen(rule);
  const size_t list = strcspn(other, "[") + 1;
  if (strncmp(error->path, other, list) != 0) return 0; /* of another list */
  const poli_origin a = origin_of(x, tree, error->path), b = origin_of(x, tree, other);
  if (a.index == SIZE_MAX || b.index == SIZE_MAX) return 0;
  if (a.instance == b.instance && a.index == b.index)
    set_text(x, &error->rule,
             poli_format("%sthe copies of \"repeat\" need the index in their name, such as "
                         "\"name{i}\"",
                         rule));
  else if (a.instance != b.instance)
    set_text(x, &error->rule,
             poli_format("%s%s has an object of the same name; give the include a \"prefix\"", rule,
                         b.instance > 0 ? x->instances[b.instance].source->path : "the model"));
  else
    return 0;
  return 1;
}

/* Where an error is in its file; its line, if it is to be looked for. */
static void locate(poli_expansion *x, pol_error *error, json_t *tree, const char *text, size_t size,
                   int is_plain, int with_line)
{
  const poli_source *source = x->sources;
  int instance = 0;
  if (is_plain) {
    set_text(x, &error->element, element_of(x, tree, error->path, 1));
    char *path = source_path(x, tree, error->path, &instance);
    set_text(x, &error->path, path);
    source = x->instances[instance].source;
    set_text(x, &error->file, poli_format("%s", source->path));
  } else {
    while (source && strcmp(source->path, error->file) != 0) source = source->next;
    json_t *own = source == x->sources ? tree : source ? source->tree : NULL;
    set_text(x, &error->element, element_of(x, own, error->path, 0));
  }
  if (source && source != x->sources) {
    text = source->text;
    size = source->size;
  }
  if (!source || !text || !with_line) return;
  enum { SHORT = 60 };
  const char *expression;
  size_t length;
  error->line = find_line(text, size, error->path, &expression, &length);
  /* a number that comes from an expression: both */
  if (is_plain && length > 2 && length <= SHORT && error->value[0] &&
      !strchr("\"[{", *error->value))
    set_text(x, &error->value, poli_format("%s, from %.*s", error->value, (int)length, expression));
}

/* Errors of the expansion and of the reader together: a value that could not be evaluated is not
 * reported twice, nor one of a file that is included twice; then they come in the order of lines.
 */
static void settle_list(pol_errors *errors, int first)
{
  for (int i = 0; i < errors->count; i++)
    for (int k = 0; k < i; k++) {
      const pol_error *a = &errors->items[i], *b = &errors->items[k];
      const int same_place = strcmp(a->path, b->path) == 0 && strcmp(a->file, b->file) == 0;
      if (!same_place || (strcmp(a->rule, b->rule) != 0 && !(k < first && i >= first))) continue;
      if (i < first) first--;
      poli_errors_remove(errors, i--);
      break;
    }
  for (int i = 1; i < errors->count; i++) {
    const pol_error error = errors->items[i];
    int k = i;
    for (; k > 0 && errors->items[k - 1].line > error.line && error.line > 0 &&
           strcmp(errors->items[k - 1].file, error.file) == 0;
         k--)
      errors->items[k] = errors->items[k - 1];
    errors->items[k] = error;
  }
}

void poli_locate_errors(poli_expansion *x, json_t *tree, const char *text, size_t size, int first)
{
  /* each line is a search in the whole text; the place in the file is found for all errors */
  const double most_searched = 4e8;
  const int most = (int)fmin(fmax(most_searched / ((double)size + 1.0), 200.0), 20000.0);
  pol_errors *errors = x->reader->errors;
  int twice = 0;
  for (int i = 0; i < errors->count && x->reader->status == POL_OK; i++) {
    pol_error *error = &errors->items[i];
    const int is_place = strncmp(error->path, "--", 2) != 0 &&
                         strncmp(error->path, "line ", 5) != 0 &&
                         strcmp(error->path, "top level") != 0 && error->path[0] != '\0';
    if (is_place && i >= first) twice |= explain_twice(x, error, tree);
    if (is_place) locate(x, error, tree, text, size, i >= first, i < most);
  }
  if (first > 0 || twice) settle_list(errors, first);
}
