/* The list of input errors, and the search for a near name.
 *
 * Two names are near if few slips of the keyboard lead from one to the other.  The number of slips
 * is the optimal string alignment distance: insertions, deletions, substitutions and swaps of two
 * neighbours count one each (Damerau 1964, with the recurrence of Wagner/Fischer 1974).  An
 * unfinished name ("tol" for "tolerance") is near as well.
 */
#include "base/errors.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Longer names are not compared. */
enum { MAX_NAME = 64 };

char *poli_format_list(const char *format, va_list arguments)
{
  va_list again;
  va_copy(again, arguments);
  const int length = vsnprintf(NULL, 0, format, again);
  va_end(again);
  char *text = length < 0 ? NULL : malloc((size_t)length + 1);
  if (text) vsnprintf(text, (size_t)length + 1, format, arguments);
  return text;
}

char *poli_format(const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  char *text = poli_format_list(format, arguments);
  va_end(arguments);
  return text;
}

static void clear_error(pol_error *error)
{
  free(error->path);
  free(error->value);
  free(error->rule);
  free(error->suggestion);
  free(error->element);
  free(error->file);
}

void pol_errors_clear(pol_errors *errors)
{
  for (int i = 0; i < errors->count; i++) clear_error(&errors->items[i]);
  free(errors->items);
  errors->items = NULL;
  errors->count = 0;
}

void poli_errors_remove(pol_errors *errors, int index)
{
  clear_error(&errors->items[index]);
  errors->count--;
  memmove(&errors->items[index], &errors->items[index + 1],
          (size_t)(errors->count - index) * sizeof *errors->items);
}

void pol_error_text(const pol_error *error, char *text, size_t size)
{
  /* "must be a number, not -1" reads well, "must not be zero: ..., not 0" does not */
  const int simple = strncmp(error->rule, "must be ", 8) == 0 && !strpbrk(error->rule, ":;,");
  char line[32] = "";
  if (error->line > 0) snprintf(line, sizeof line, "line %d, ", error->line);
  snprintf(text, size, "%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s", error->file, *error->file ? ", " : "",
           line, error->path, *error->element ? " (" : "", error->element,
           *error->element ? ")" : "", *error->path ? " " : "", error->rule,
           *error->value ? simple ? ", not " : " (it is " : "", error->value,
           *error->value && !simple ? ")" : "", *error->suggestion ? "; did you mean " : "",
           error->suggestion, *error->suggestion ? "?" : "");
}

pol_status pol_errors_add(pol_errors *errors, const char *path, const char *value, const char *rule,
                          const char *suggestion)
{
  /* Room for one more; errors are few, so the list grows one by one. */
  pol_error *items = realloc(errors->items, ((size_t)errors->count + 1) * sizeof *items);
  if (!items) return POL_NO_MEMORY;
  errors->items = items;

  pol_error error = {poli_format("%s", path),
                     poli_format("%s", value),
                     poli_format("%s", rule),
                     poli_format("%s", suggestion),
                     poli_format("%s", ""),
                     poli_format("%s", ""),
                     0};
  if (!error.path || !error.value || !error.rule || !error.suggestion || !error.element ||
      !error.file) {
    clear_error(&error);
    return POL_NO_MEMORY;
  }
  items[errors->count++] = error;
  return POL_OK;
}

static int smaller(int a, int b)
{
  return a < b ? a : b;
}

static int same_letter(char a, char b)
{
  return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Slips from a to b, or any larger number than `most` if there are more; case does not count.  Both
 * have at most MAX_NAME characters. */
static int slips(const char *a, int length_a, const char *b, int length_b, int most)
{
  /* Row i of the table holds the distances of the first i letters of a to the starts of b.  No
   * entry is smaller than the least of a row above it. */
  int rows[3][MAX_NAME + 1];
  for (int j = 0; j <= length_b; j++) rows[0][j] = j;
  for (int i = 1; i <= length_a; i++) {
    int *row = rows[i % 3];
    const int *above = rows[(i + 2) % 3];
    const int *above2 = rows[(i + 1) % 3];
    int least = row[0] = i;
    for (int j = 1; j <= length_b; j++) {
      const int differ = !same_letter(a[i - 1], b[j - 1]);
      row[j] = smaller(smaller(above[j] + 1, row[j - 1] + 1), above[j - 1] + differ);
      /* two neighbours swapped */
      if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) && same_letter(a[i - 2], b[j - 1]))
        row[j] = smaller(row[j], above2[j - 2] + 1);
      least = smaller(least, row[j]);
    }
    if (least > most) return least;
  }
  return rows[length_a % 3][length_b];
}

pol_near pol_near_start(const char *wrong)
{
  return (pol_near){wrong, "", MAX_NAME};
}

void pol_near_try(pol_near *near, const char *candidate)
{
  const size_t wrong = strlen(near->wrong);
  const size_t length = strlen(candidate);
  if (wrong > MAX_NAME || length > MAX_NAME) return;

  const int shorter = smaller((int)wrong, (int)length);
  const int longer = (int)(wrong + length) - shorter;
  /* One slip is near, and one more for every four letters; never all letters of a name. */
  const int most = smaller(1 + longer / 4, smaller(shorter, near->distance) - 1);
  /* What is left off at the end counts as one slip; else each letter too many is one at least. */
  int distance = longer - shorter;
  if (wrong >= 3 && wrong < length && strncmp(near->wrong, candidate, wrong) == 0)
    distance = 1;
  else if (distance <= most)
    distance = slips(near->wrong, (int)wrong, candidate, (int)length, most);
  if (distance <= most) {
    near->best = candidate;
    near->distance = distance;
  }
}
