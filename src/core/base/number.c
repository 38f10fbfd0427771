/* Numbers as text: 15 digits if they are enough, 17 at most. */
#include "base/number.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void poli_number_text(double value, char text[32])
{
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(text, 32, "%.*g", digits, value);
    if (strtod(text, NULL) == value) break;
  }
  const char *local = localeconv()->decimal_point;
  char *point = strstr(text, local);
  if (point == NULL || strcmp(local, ".") == 0) return;
  *point = '.';
  memmove(point + 1, point + strlen(local), strlen(point + strlen(local)) + 1);
}
