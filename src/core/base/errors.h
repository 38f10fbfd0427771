/* Formatted text in new memory, and removal of errors. */
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

/* Removes one error of a list. */
void poli_errors_remove(pol_errors *errors, int index);

#endif
