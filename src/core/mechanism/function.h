/* Functions of time with their first two derivatives; pol_function in polhode/mechanism.h says what
 * they are. */
#ifndef POLHODE_MECHANISM_FUNCTION_H
#define POLHODE_MECHANISM_FUNCTION_H

#include <polhode/mechanism.h>

#include "mechanism/rules.h"

/* A copy that owns its numbers and text, with the moments of a table computed and an expression
 * compiled; poli_function_release frees them, also of what is left after an error.  Rules that are
 * broken are reported at the fields of `inside`, "function" or "scale": an unknown type, a number
 * that is not finite, t1 not above t0, fewer than 1 coefficient or 2 times, times that do not
 * ascend, a wrong expression. */
void poli_function_copy(poli_rules *check, const char *inside, const pol_function *from,
                        pol_function *to);
void poli_function_release(pol_function *function);

/* value = (f, f', f'') at t; the function must be a copy. */
void poli_function_value(const pol_function *function, double t, double value[3]);

#endif
