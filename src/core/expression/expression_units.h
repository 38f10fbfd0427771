/* Units of expressions: which unit a value has, from those of its inputs. */
#ifndef POLHODE_EXPRESSION_UNITS_H
#define POLHODE_EXPRESSION_UNITS_H

#include "expression/expression.h"

typedef enum poli_unit_kind {
  POLI_ANY_UNIT,    /* not known: it is never wrong */
  POLI_PURE_NUMBER, /* a factor such as 2 or pi; fits every unit, and leaves that of a product */
  POLI_KNOWN_UNIT
} poli_unit_kind;

enum { POLI_BASE_UNITS = 5 };

typedef struct poli_unit {
  poli_unit_kind kind;
  double power[POLI_BASE_UNITS]; /* of m, kg, s, A and K; radians are pure */
} poli_unit;

/* What a text that is no unit breaks. */
#define POLI_UNIT_RULE                                                                             \
  "must be a unit of m, kg, s, rad, A, K, N, J, W, Pa, Hz, V and ohm, such as \"kg m^2\" or "      \
  "\"N s/m\""

/* The unit of a text: products of the units above and 1 with whole powers, separated by blanks, and
 * what they are divided by after a slash: "kg m^2", "N s/m".  0: it is none. */
int poli_unit_parse(const char *text, poli_unit *unit);

/* Writes a known unit: "kg m^2/s^2"; "1" without any. */
void poli_unit_text(const poli_unit *unit, char *text, size_t size);

/* Whether both are known and differ. */
int poli_units_differ(const poli_unit *a, const poli_unit *b);

/* The unit of an expression, where units[i] is that of input i.  Constants below 10 that are whole
 * numbers or halves, or such numbers times pi, are pure; other constants may hide a unit.
 * Expressions with branches have any.  POL_BAD_ARGUMENT: it adds or compares different units, or
 * takes a function of one; message says which. */
pol_status poli_expression_unit(const pol_expression *expression, const poli_unit *units,
                                poli_unit *unit, char *message, size_t size);

#endif
