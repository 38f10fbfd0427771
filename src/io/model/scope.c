/* Names with values, and texts that use them: as expressions that have a value, as {...} inside
 * other texts, and as names inside the expressions of forces, variables and events. */
#include <ctype.h>
#include <locale.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/model/expand.h"

int poli_scope_add(poli_scope *scope, const char *name, double value, const poli_unit *unit)
{
  if (scope->count == scope->room) {
    const int room = scope->room ? 2 * scope->room : 16;
    poli_named *items = realloc(scope->items, (size_t)room * sizeof *items);
    if (!items) return 0;
    scope->items = items;
    scope->room = room;
  }
  scope->items[scope->count++] = (poli_named){name, value, *unit};
  return 1;
}

int poli_scope_find(const poli_scope *scope, const char *name)
{
  int i = scope->count - 1;
  while (i >= 0 && strcmp(scope->items[i].name, name) != 0) i--;
  return i;
}

/* --- values of texts -------------------------------------------------------------------------- */

static int look_up(const char *name, void *user)
{
  return poli_scope_find(user, name);
}

static const char *near_name(const char *wrong, const char *const *functions, void *user)
{
  const poli_scope *scope = user;
  pol_near near = pol_near_start(wrong);
  for (; functions && *functions; functions++) pol_near_try(&near, *functions);
  for (int i = 0; i < scope->count && !functions; i++) pol_near_try(&near, scope->items[i].name);
  return near.best;
}

/* Compiles and evaluates; error->message is empty if only the value is wrong. */
static pol_status evaluate(const poli_scope *scope, const char *text, double *value,
                           poli_unit *unit, poli_expression_error *error)
{
  const poli_expression_names names = {look_up, near_name, (void *)(uintptr_t)scope};
  pol_expression *program = NULL;
  double *numbers = NULL;
  error->message[0] = error->suggestion[0] = '\0';
  *unit = (poli_unit){.kind = POLI_ANY_UNIT};
  pol_status status = poli_expression_compile(&program, text, &names, error);
  if (status == POL_OK) {
    const size_t count = (size_t)scope->count;
    numbers = malloc((count + poli_expression_workspace(program) + 1) * sizeof *numbers);
    poli_unit *units = malloc((count + 1) * sizeof *units);
    status = numbers && units ? POL_OK : POL_NO_MEMORY;
    for (size_t i = 0; i < count && status == POL_OK; i++) {
      numbers[i] = scope->items[i].value;
      units[i] = scope->items[i].unit;
    }
    if (status == POL_OK) {
      *value = poli_expression_value(program, numbers, numbers + count);
      error->column = 0;
      status = poli_expression_unit(program, units, unit, error->message, sizeof error->message);
      if (status == POL_OK && !isfinite(*value)) status = POL_BAD_ARGUMENT;
    }
    free(units);
  }
  free(numbers);
  poli_expression_free(&program);
  return status;
}

pol_status poli_scope_value(poli_reader *reader, const poli_scope *scope, const poli_place *place,
                            const char *text, double *value, poli_unit *unit)
{
  poli_expression_error error;
  poli_unit found;
  const pol_status status = evaluate(scope, text, value, &found, &error);
  if (unit) *unit = found;
  if (status == POL_NO_MEMORY)
    reader->status = POL_NO_MEMORY;
  else if (status && !error.message[0])
    poli_report(reader, place, "", "must have a finite value, but \"%.60s\" %s", text,
                isnan(*value) ? "has none" : "is infinite");
  else if (status && error.column == 0)
    poli_report(reader, place, "", "%s", error.message);
  else if (status)
    poli_report(reader, place, error.suggestion,
                "must be a number or an expression of parameters: column %d: %s", error.column,
                error.message);
  return status;
}

int poli_scope_try(poli_reader *reader, const poli_scope *scope, const char *text, double *value,
                   poli_unit *unit)
{
  poli_expression_error error;
  poli_unit found;
  const pol_status status = evaluate(scope, text, value, &found, &error);
  if (unit) *unit = found;
  if (status == POL_NO_MEMORY) reader->status = status;
  return status == POL_OK;
}

/* --- names and braces in texts ---------------------------------------------------------------- */

static int is_part(char c)
{
  return isalnum((unsigned char)c) || c == '_';
}

/* The end of one part of a name: a word, or something in quotes. */
static const char *end_of_part(const char *at)
{
  if (*at == '\'') {
    const char *end = strchr(at + 1, '\'');
    return end ? end + 1 : at + strlen(at);
  }
  while (is_part(*at)) at++;
  return at;
}

const char *poli_next_name(const char *at, size_t *length, size_t *first, int *whole)
{
  for (; *at; at++) {
    if (isdigit((unsigned char)*at) || (*at == '.' && isdigit((unsigned char)at[1]))) {
      /* a number, perhaps with an exponent */
      while (isdigit((unsigned char)*at) || *at == '.') at++;
      if ((*at == 'e' || *at == 'E') &&
          isdigit((unsigned char)at[1 + (at[1] == '+' || at[1] == '-')]))
        for (at += 2; isdigit((unsigned char)*at);) at++;
      at--;
      continue;
    }
    if (!is_part(*at) && *at != '\'') continue;
    const char *end = end_of_part(at);
    *first = (size_t)(end - at);
    while (*end == '.' && (is_part(end[1]) || end[1] == '\'')) end = end_of_part(end + 1);
    *length = (size_t)(end - at);
    *whole = *length == *first && *at != '\'' && end[strspn(end, " \t")] != '(';
    return at;
  }
  return NULL;
}

/* A text that grows. */
typedef struct growing {
  char *text;
  size_t length, room;
  int failed;
} growing;

static void append(growing *g, const char *text, size_t length)
{
  if (g->length + length + 1 > g->room) {
    const size_t room = 2 * (g->length + length + 1);
    char *longer = g->failed ? NULL : realloc(g->text, room);
    if (!longer) {
      g->failed = 1;
      return;
    }
    g->text = longer;
    g->room = room;
  }
  memcpy(g->text + g->length, text, length);
  g->length += length;
  g->text[g->length] = '\0';
}

/* A number with at most so many digits, as expressions write it, whatever the locale. */
static void append_number(growing *g, double number, int digits)
{
  char text[64], *point;
  for (int n = digits < 15 ? digits : 15; n <= digits; n++) {
    snprintf(text, sizeof text, "%.*g", n, number);
    if (strtod(text, NULL) == number) break;
  }
  if ((point = strstr(text, localeconv()->decimal_point)) != NULL) *point = '.';
  append(g, text, strlen(text));
}

/* Fills in the values of {...}. */
static void fill_braces(poli_reader *reader, const poli_scope *scope, const poli_place *place,
                        const char *text, growing *g)
{
  for (const char *open; (open = strchr(text, '{')) != NULL;) {
    const char *close = strchr(open, '}');
    char *inner = close ? poli_format("%.*s", (int)(close - open - 1), open + 1) : NULL;
    double value = 0.0;
    append(g, text, (size_t)(open - text));
    if (close && !inner) g->failed = 1;
    if (!close) {
      poli_report(reader, place, "", "must have a } after its {");
      break;
    }
    if (inner && poli_scope_value(reader, scope, place, inner, &value, NULL) == POL_OK)
      append_number(g, value, value == floor(value) && fabs(value) < 1e15 ? 15 : 10);
    free(inner);
    text = close + 1;
  }
  append(g, text, strlen(text));
}

char *poli_scope_fill(poli_reader *reader, const poli_scope *scope, const poli_place *place,
                      const char *text, int is_expression)
{
  const int before = reader->errors->count;
  growing braces = {0}, names = {0};
  fill_braces(reader, scope, place, text, &braces);
  const char *at = braces.text ? braces.text : "", *name;
  size_t length, first;
  int whole;
  while (is_expression && (name = poli_next_name(at, &length, &first, &whole)) != NULL) {
    char *word = poli_format("%.*s", (int)length, name);
    const int index = word && whole ? poli_scope_find(scope, word) : -1;
    if (!word) names.failed = 1;
    free(word);
    append(&names, at, (size_t)(name - at));
    const double value = index >= 0 ? scope->items[index].value : 0.0;
    if (value < 0.0) append(&names, "(", 1);
    if (index >= 0)
      append_number(&names, value, 17);
    else
      append(&names, name, length);
    if (value < 0.0) append(&names, ")", 1);
    at = name + length;
  }
  append(&names, at, strlen(at));
  if (braces.failed || names.failed) reader->status = POL_NO_MEMORY;
  free(braces.text);
  if (!names.failed && !braces.failed && reader->errors->count == before) return names.text;
  free(names.text);
  return NULL;
}
