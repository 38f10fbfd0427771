/* Units of expressions: the program of an expression run on units instead of numbers.
 *
 * A unit is its powers of m, kg, s, A and K.  Products add powers, sums require equal ones.  What
 * is not known stays unknown, so that a report is always a real contradiction: a number such
 * as 9.81 may hide a unit, one such as 2 or pi/2 hardly. */
#include "expression/expression_units.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "expression/expression_program.h"

static const struct {
  const char *name;
  double power[POLI_BASE_UNITS];
} known_units[] = {
    {"m", {1, 0, 0}},
    {"kg", {0, 1, 0}},
    {"s", {0, 0, 1}},
    {"A", {0, 0, 0, 1}},
    {"K", {0, 0, 0, 0, 1}},
    {"rad", {0}},
    {"1", {0}},
    {"N", {1, 1, -2}},
    {"J", {2, 1, -2}},
    {"W", {2, 1, -3}},
    {"Pa", {-1, 1, -2}},
    {"Hz", {0, 0, -1}},
    {"V", {2, 1, -3, -1}},
    {"ohm", {2, 1, -3, -2}},
};

int poli_unit_parse(const char *text, poli_unit *unit)
{
  double sign = 1.0;
  *unit = (poli_unit){.kind = POLI_KNOWN_UNIT};
  for (int first = 1; *text || first; first = 0) {
    const size_t length = strcspn(text, " /^");
    size_t k = 0, count = sizeof known_units / sizeof *known_units;
    while (k < count && (strlen(known_units[k].name) != length ||
                         strncmp(text, known_units[k].name, length) != 0))
      k++;
    if (k == count) return 0;
    text += length;
    double exponent = 1.0;
    if (*text == '^') {
      const double minus = text[1] == '-' ? -1.0 : 1.0;
      text += minus < 0.0 ? 2 : 1;
      if (!isdigit((unsigned char)*text) || isdigit((unsigned char)text[1])) return 0;
      exponent = minus * (*text++ - '0');
    }
    for (int i = 0; i < POLI_BASE_UNITS; i++)
      unit->power[i] += sign * exponent * known_units[k].power[i];
    if (*text == '\0') return 1;
    if (*text != ' ' && *text != '/') return 0;
    if (*text == '/') sign = -1.0;
    if (*++text == '\0') return 0;
  }
  return 0;
}

void poli_unit_text(const poli_unit *unit, char *text, size_t size)
{
  static const char *const names[] = {"m", "kg", "s", "A", "K"};
  static const int order[] = {1, 0, 2, 3, 4}; /* kg first, as usual */
  size_t used = 0;
  text[0] = '\0';
  for (int below = 0; below < 2; below++)
    for (int k = 0, count = 0; k < POLI_BASE_UNITS && used < size; k++) {
      const double power = unit->power[order[k]] * (below ? -1.0 : 1.0);
      if (!(power > 0.0)) continue;
      const char *between = !below ? (used ? " " : "") : count ? " " : used ? "/" : "1/";
      used += (size_t)snprintf(text + used, size - used, "%s%s", between, names[order[k]]);
      if (power != 1.0 && used < size)
        used += (size_t)snprintf(text + used, size - used, "^%g", power);
      count++;
    }
  if (!text[0]) snprintf(text, size, "1");
}

int poli_units_differ(const poli_unit *a, const poli_unit *b)
{
  if (a->kind != POLI_KNOWN_UNIT || b->kind != POLI_KNOWN_UNIT) return 0;
  for (int i = 0; i < POLI_BASE_UNITS; i++)
    if (fabs(a->power[i] - b->power[i]) > 1e-9) return 1;
  return 0;
}

static poli_unit unit_of_number(double number)
{
  const double halves = 2.0 * number, of_pi = 2.0 * number / acos(-1.0);
  const int is_pure =
      fabs(number) < 10.0 && (halves == floor(halves) || fabs(of_pi - floor(of_pi + 0.5)) < 1e-12);
  return (poli_unit){.kind = is_pure ? POLI_PURE_NUMBER : POLI_ANY_UNIT};
}

/* a b^power */
static poli_unit product(const poli_unit *a, const poli_unit *b, double power)
{
  poli_unit unit = {.kind = POLI_KNOWN_UNIT};
  if (a->kind == POLI_ANY_UNIT || b->kind == POLI_ANY_UNIT) unit.kind = POLI_ANY_UNIT;
  if (a->kind == POLI_PURE_NUMBER && b->kind == POLI_PURE_NUMBER) unit.kind = POLI_PURE_NUMBER;
  for (int i = 0; i < POLI_BASE_UNITS && unit.kind == POLI_KNOWN_UNIT; i++)
    unit.power[i] = a->power[i] + power * b->power[i];
  return unit;
}

/* While a program runs. */
typedef struct machine {
  poli_unit stack[POLI_EXPRESSION_DEPTH + 1];
  char *message;
  size_t size;
  int failed;
} machine;

/* The common unit of n operands, which must not differ. */
static poli_unit common(machine *m, const poli_unit *operands, int n, const char *verb)
{
  poli_unit unit = operands[0];
  for (int i = 1; i < n; i++) {
    if (poli_units_differ(&unit, &operands[i]) && !m->failed) {
      char a[64], b[64];
      poli_unit_text(&unit, a, sizeof a);
      poli_unit_text(&operands[i], b, sizeof b);
      snprintf(m->message, m->size, "must not %s %s and %s", verb, a, b);
      m->failed = 1;
    }
    if (operands[i].kind == POLI_KNOWN_UNIT || unit.kind == POLI_PURE_NUMBER) unit = operands[i];
  }
  return unit;
}

/* The unit of an operation on n operands. */
static poli_unit apply(machine *m, poli_operation operation, const poli_unit *x, int n,
                       const double *exponent)
{
  static const poli_unit pure = {.kind = POLI_PURE_NUMBER}, none = {.kind = POLI_KNOWN_UNIT};
  poli_unit pair[2];
  switch (operation) {
  case POLI_OP_NEGATE:
  case POLI_OP_ABS:
  case POLI_OP_FLOOR:
    return x[0];
  case POLI_OP_NOT:
  case POLI_OP_TRUTH:
  case POLI_OP_SIGN:
    return pure;
  case POLI_OP_SQRT:
    return product(&pure, &x[0], 0.5);
  case POLI_OP_MULTIPLY:
    return product(&x[0], &x[1], 1.0);
  case POLI_OP_DIVIDE:
    return product(&x[0], &x[1], -1.0);
  case POLI_OP_POWER:
    if (exponent) return product(&pure, &x[0], *exponent);
    return x[0].kind == POLI_PURE_NUMBER && x[1].kind == POLI_PURE_NUMBER
               ? pure
               : (poli_unit){.kind = POLI_ANY_UNIT};
  case POLI_OP_ADD:
  case POLI_OP_SUBTRACT:
    return common(m, x, 2, operation == POLI_OP_ADD ? "add" : "subtract");
  case POLI_OP_HYPOT:
  case POLI_OP_MIN:
  case POLI_OP_MAX:
  case POLI_OP_MOD:
  case POLI_OP_CLAMP:
    return common(m, x, n, "combine");
  case POLI_OP_STEP: /* (t, t0, f0, t1, f1) */
    pair[0] = x[2];
    pair[1] = x[4];
    return common(m, pair, 2, "combine");
  default:
    break;
  }
  if (n == 2) { /* comparisons and atan2 */
    common(m, x, 2, "compare");
    return pure;
  }
  if (poli_units_differ(&x[0], &none) && !m->failed) {
    char unit[64];
    poli_unit_text(&x[0], unit, sizeof unit);
    snprintf(m->message, m->size, "must not take a function such as sin or exp of %s", unit);
    m->failed = 1;
  }
  return pure;
}

pol_status poli_expression_unit(const pol_expression *expression, const poli_unit *units,
                                poli_unit *unit, char *message, size_t size)
{
  machine m = {.message = message, .size = size};
  int depth = 0;
  *unit = (poli_unit){.kind = POLI_ANY_UNIT};
  for (int i = 0; i < expression->length; i++)
    if (expression->code[i].operation == POLI_OP_JUMP ||
        expression->code[i].operation == POLI_OP_JUMP_UNLESS)
      return POL_OK;
  for (int i = 0; i < expression->length; i++) {
    const poli_instruction *code = &expression->code[i];
    if (code->operation == POLI_OP_CONSTANT) {
      m.stack[depth++] = unit_of_number(code->number);
    } else if (code->operation == POLI_OP_INPUT) {
      m.stack[depth++] = units[expression->inputs[code->index]];
    } else {
      /* a constant exponent is the instruction before */
      const poli_instruction *before = &expression->code[i > 0 ? i - 1 : 0];
      const double *exponent =
          code->operation == POLI_OP_POWER && before->operation == POLI_OP_CONSTANT
              ? &before->number
              : NULL;
      const int arity = poli_operation_arity(code->operation);
      depth -= arity;
      m.stack[depth] = apply(&m, code->operation, &m.stack[depth], arity, exponent);
      depth++;
    }
  }
  if (m.failed) return POL_BAD_ARGUMENT;
  if (depth == 1) *unit = m.stack[0];
  return POL_OK;
}
