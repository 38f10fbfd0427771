/* From the text of a model file to a JSON tree, with what Jansson says about a syntax error turned
 * into an entry of the error list: line and column, the text there, the rule; and changes of the
 * tree.
 *
 * Overrides "key.path=value" replace one value of the tree before it is checked.  The path is
 * written like the paths of errors: keys joined by dots, items of a list by number in brackets
 * ("bodies[0].mass") or by their name ("bodies.top.mass").  Keys of objects may be new; what leads
 * into a new one makes it an object ("simulation.newton.tolerance" in a file without "newton").
 * Reading the tree reports unknown keys. */
#include "io/model/parts.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Jansson's message is "what is wrong near 'text'": splits it there.  Where there is no such text
 * ("near end of file") the message stays whole. */
static void split_message(char *message, const char **text)
{
  static const char between[] = " near '";
  char *near = strstr(message, between);
  const size_t length = strlen(message);
  *text = "";
  if (!near || message[length - 1] != '\'') return;
  message[length - 1] = '\0';
  *near = '\0';
  *text = near + sizeof between - 1;
}

static void report_syntax(poli_reader *reader, const json_error_t *error, int zero_bytes)
{
  /* The code of the error hides in the last byte of the text. */
  const enum json_error_code code = json_error_code(error);
  char message[JSON_ERROR_TEXT_LENGTH];
  memcpy(message, error->text, sizeof message);
  const char *text;
  split_message(message, &text);

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
  if (rule && path) reader->status = pol_errors_add(reader->errors, path, text, rule, "");
  free(path);
  free(rule);
}

/* Nothing but white space. */
static int is_blank(const char *text, size_t size)
{
  size_t i = 0;
  while (i < size && strchr(" \t\r\n", text[i]) && text[i]) i++;
  return i == size;
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
    reader->status = pol_errors_add(
        reader->errors, "", "",
        is_hdf5 ? "must be a model in JSON, but this is an HDF5 file, such as a result; polhode "
                  "info shows its content"
                : "must be a model in JSON, but this is a result in CSV; polhode info shows its "
                  "content",
        "");
    return NULL;
  }
  if (is_blank(text, size)) {
    reader->status = pol_errors_add(reader->errors, "line 1, column 1", "",
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
typedef struct change {
  poli_reader *reader;
  const char *text; /* all of it */
  char *path;
  char *rest; /* of the path */
  json_t *value;
} change;

static void refuse(const change *c, const char *value, const char *rule, const char *suggestion)
{
  char *path = poli_format("--set %s", c->text);
  pol_status status = POL_NO_MEMORY;
  if (path) status = pol_errors_add(c->reader->errors, path, value, rule, suggestion);
  if (status != POL_OK) c->reader->status = status;
  free(path);
}

/* A word that needs no quotes: a letter, then letters, digits, spaces, _ and -. */
static int is_word(const char *text)
{
  if (!isalpha((unsigned char)text[0])) return 0;
  for (; *text; text++)
    if (!isalnum((unsigned char)*text) && !strchr("_- ", *text)) return 0;
  return 1;
}

static json_t *read_value(const change *c, const char *text)
{
  json_error_t error;
  json_t *value = parse_json(c->reader, text, strlen(text), &error);
  if (value || c->reader->status != POL_OK) return value;
  if (!is_word(text)) {
    refuse(c, text, "must have a value in JSON or one plain word after the =", "");
    return NULL;
  }
  value = json_string(text);
  if (!value) c->reader->status = POL_NO_MEMORY;
  return value;
}

/* Cuts the next step off the path; 0 if the path is wrong there. */
static int next_step(change *c, path_step *step)
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
static void refuse_step(const change *c, json_t *container, const path_step *step)
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

/* Adds an empty object to the container, which borrows it; NULL without memory. */
static json_t *add_object(const change *c, json_t *container, const char *key)
{
  if (json_object_set_new(container, key, json_object()) != 0) c->reader->status = POL_NO_MEMORY;
  return json_object_get(container, key);
}

/* Follows one step into the container; NULL, after a report, if it leads nowhere. */
static json_t *follow(const change *c, json_t *container, const path_step *step)
{
  json_t *next = NULL;
  if (json_is_array(container)) {
    next = json_array_get(container, find_item(container, step));
  } else if (json_is_object(container) && !step->brackets) {
    next = json_object_get(container, step->text);
    if (!next) return add_object(c, container, step->text);
  }
  if (!next) refuse_step(c, container, step);
  return next;
}

static void set_value(const change *c, json_t *container, const path_step *step)
{
  int failed = 0;
  const size_t index = json_is_array(container) ? find_item(container, step) : 0;
  if (json_is_array(container) && index < json_array_size(container))
    failed = json_array_set(container, index, c->value);
  else if (json_is_object(container) && !step->brackets)
    failed = json_object_set(container, step->text, c->value);
  else
    refuse_step(c, container, step);
  if (failed) c->reader->status = POL_NO_MEMORY;
}

static void change_tree(change *c, json_t *top)
{
  json_t *container = top;
  path_step step;
  while (container) {
    /* A key ends where the next step starts: remember that start, then end the key. */
    if (!next_step(c, &step)) {
      refuse(c, c->rest, "must have a path like bodies[0].mass before the =", "");
      return;
    }
    const char after = *c->rest;
    if (!after) break;
    *c->rest = '\0';
    container = follow(c, container, &step);
    *c->rest = after;
  }
  if (container) set_value(c, container, &step);
}

void poli_apply_override(poli_reader *reader, json_t *top, const char *override)
{
  change c = {.reader = reader, .text = override};
  const char *equals = strchr(override, '=');
  if (!equals) {
    refuse(&c, "", "must have the form key.path=value", "");
    return;
  }
  c.path = poli_format("%.*s", (int)(equals - override), override);
  c.rest = c.path;
  if (c.path)
    c.value = read_value(&c, equals + 1);
  else
    reader->status = POL_NO_MEMORY;
  if (c.value) change_tree(&c, top);
  json_decref(c.value);
  free(c.path);
}
