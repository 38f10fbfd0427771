/* Building the list of input errors: formatted text, the list itself, near names. */
#ifndef POLHODE_IO_ERRORS_H
#define POLHODE_IO_ERRORS_H

#include <polhode/errors.h>
#include <polhode/status.h>
#include <stdarg.h>

#if defined(__GNUC__)
#define POLI_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define POLI_PRINTF(text, first)
#endif

/* Like sprintf into new memory, which the caller frees; NULL if there is none. */
char *poli_format(const char *format, ...) POLI_PRINTF(1, 2);
char *poli_format_list(const char *format, va_list arguments) POLI_PRINTF(1, 0);

/* Appends copies of the four texts.  POL_NO_MEMORY leaves the list as it was. */
pol_status poli_errors_add(pol_errors *errors, const char *path, const char *value,
                           const char *rule, const char *suggestion);

/* A search for the known name that is nearest to a wrong one: start, try each candidate, read best.
 */
typedef struct poli_near {
  const char *wrong;
  const char *best; /* "" while nothing is near */
  int distance;     /* of best */
} poli_near;

poli_near poli_near_start(const char *wrong);
void poli_near_try(poli_near *near, const char *candidate); /* keeps the pointer if it is better */

#endif
