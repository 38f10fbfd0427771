/* From the text of a model file to a JSON tree, with what Jansson says about a syntax error turned
 * into an entry of the error list: line and column, the text there, the rule. */
#include "io/model/parts.h"

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

json_t *poli_parse_json(poli_reader *reader, const char *text, size_t size, json_error_t *error)
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
                                    "must be a model in JSON, but there is nothing", "");
    return NULL;
  }

  json_error_t error;
  json_t *top = poli_parse_json(reader, text, size, &error);
  if (!top && reader->status == POL_OK)
    report_syntax(reader, &error, memchr(text, '\0', size) != NULL);
  return top;
}
