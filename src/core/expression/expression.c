/* The machine that evaluates compiled expressions.
 *
 * One place of the stack holds a value and its derivatives: none, the gradient by the used inputs,
 * or the first two derivatives by time.  An operation f(a, b) has local partial derivatives; the
 * chain rule carries them on,
 *
 *     f_i = f_a a_i + f_b b_i                                              gradient
 *     f'  = f_a a' + f_b b'                                                time
 *     f'' = f_a a'' + f_b b'' + f_aa a'^2 + 2 f_ab a' b' + f_bb b'^2
 *
 * (forward differentiation; Griewank and Walther, Evaluating Derivatives, chapters 3 and 13).
 * A partial derivative that is 0 contributes nothing, even where what it multiplies is infinite.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "expression/expression_program.h"

/* What a place of the stack holds beside its value. */
typedef enum contents { ONLY_VALUE, GRADIENT, TIME_DERIVATIVES } contents;

typedef struct partials {
  double a, b, aa, ab, bb;
} partials;

int poli_operation_arity(poli_operation operation)
{
  if (operation < POLI_OP_NEGATE) return 0;
  if (operation < POLI_OP_ADD) return 1;
  if (operation < POLI_OP_CLAMP) return 2;
  return operation == POLI_OP_CLAMP ? 3 : 5;
}

/* --- operations of one operand ---------------------------------------------------------------- */

static double unary_value(poli_operation operation, double x)
{
  static double (*const functions[])(double) = {
      [POLI_OP_SIN] = sin,   [POLI_OP_COS] = cos,   [POLI_OP_TAN] = tan,    [POLI_OP_ASIN] = asin,
      [POLI_OP_ACOS] = acos, [POLI_OP_ATAN] = atan, [POLI_OP_SINH] = sinh,  [POLI_OP_COSH] = cosh,
      [POLI_OP_TANH] = tanh, [POLI_OP_EXP] = exp,   [POLI_OP_LOG] = log,    [POLI_OP_LOG10] = log10,
      [POLI_OP_SQRT] = sqrt, [POLI_OP_ABS] = fabs,  [POLI_OP_FLOOR] = floor};
  switch (operation) {
  case POLI_OP_NEGATE:
    return -x;
  case POLI_OP_NOT:
    return isnan(x) ? x : x == 0.0;
  case POLI_OP_TRUTH:
    return isnan(x) ? x : x != 0.0;
  case POLI_OP_SIGN:
    return isnan(x) ? x : (x > 0.0) - (x < 0.0);
  case POLI_OP_SMOOTH:
    if (x <= 0.0) return 0.0;
    return x >= 1.0 ? 1.0 : x * x * x * (10.0 + x * (-15.0 + 6.0 * x));
  default:
    return functions[operation](x);
  }
}

/* Derivatives of f = operation(x); those that are 0 are not set. */
static void unary_partials(poli_operation operation, double x, double f, partials *p)
{
  static const double ln10 = 2.30258509299404568402;
  double r;
  switch (operation) {
  case POLI_OP_NEGATE:
    p->a = -1.0;
    break;
  case POLI_OP_SIN:
    p->a = cos(x), p->aa = -f;
    break;
  case POLI_OP_COS:
    p->a = -sin(x), p->aa = -f;
    break;
  case POLI_OP_TAN:
    p->a = 1.0 + f * f, p->aa = 2.0 * f * p->a;
    break;
  case POLI_OP_ASIN:
  case POLI_OP_ACOS:
    r = (operation == POLI_OP_ASIN ? 1.0 : -1.0) / sqrt((1.0 - x) * (1.0 + x));
    p->a = r, p->aa = x * r * r * r;
    break;
  case POLI_OP_ATAN:
    p->a = 1.0 / (1.0 + x * x), p->aa = -2.0 * x * p->a * p->a;
    break;
  case POLI_OP_SINH:
    p->a = cosh(x), p->aa = f;
    break;
  case POLI_OP_COSH:
    p->a = sinh(x), p->aa = f;
    break;
  case POLI_OP_TANH:
    r = 1.0 / cosh(x);
    p->a = r * r, p->aa = -2.0 * f * p->a;
    break;
  case POLI_OP_EXP:
    p->a = p->aa = f;
    break;
  case POLI_OP_LOG:
    p->a = 1.0 / x, p->aa = -p->a / x;
    break;
  case POLI_OP_LOG10:
    p->a = 1.0 / (ln10 * x), p->aa = -p->a / x;
    break;
  case POLI_OP_SQRT:
    p->a = 0.5 / f, p->aa = -0.5 * p->a / x;
    break;
  case POLI_OP_ABS:
    p->a = x < 0.0 ? -1.0 : 1.0;
    break;
  case POLI_OP_SMOOTH:
    if (!(x > 0.0 && x < 1.0)) break;
    p->a = 30.0 * x * x * (1.0 - x) * (1.0 - x), p->aa = 60.0 * x * (1.0 - x) * (1.0 - 2.0 * x);
    break;
  default: /* a step function */
    break;
  }
}

/* --- operations of two operands --------------------------------------------------------------- */

static double binary_value(poli_operation operation, double a, double b)
{
  if (isnan(a) || isnan(b)) return (double)NAN;
  switch (operation) {
  case POLI_OP_ADD:
    return a + b;
  case POLI_OP_SUBTRACT:
    return a - b;
  case POLI_OP_MULTIPLY:
    return a * b;
  case POLI_OP_DIVIDE:
    return a / b;
  case POLI_OP_POWER:
    return pow(a, b);
  case POLI_OP_ATAN2:
    return atan2(a, b);
  case POLI_OP_HYPOT:
    return hypot(a, b);
  case POLI_OP_MIN:
    return a <= b ? a : b;
  case POLI_OP_MAX:
    return a >= b ? a : b;
  case POLI_OP_MOD: { /* a - b floor(a / b): the remainder with the sign of b */
    double remainder = fmod(a, b);
    return remainder != 0.0 && (remainder < 0.0) != (b < 0.0) ? remainder + b : remainder;
  }
  case POLI_OP_LESS:
    return a < b;
  case POLI_OP_LESS_EQUAL:
    return a <= b;
  case POLI_OP_GREATER:
    return a > b;
  case POLI_OP_GREATER_EQUAL:
    return a >= b;
  case POLI_OP_EQUAL:
    return a == b;
  default: /* POLI_OP_NOT_EQUAL */
    return a != b;
  }
}

/* Derivatives of f = operation(a, b); those that are 0 are not set. */
static void binary_partials(poli_operation operation, double a, double b, double f, partials *p)
{
  double r;
  switch (operation) {
  case POLI_OP_ADD:
    p->a = p->b = 1.0;
    break;
  case POLI_OP_SUBTRACT:
    p->a = 1.0, p->b = -1.0;
    break;
  case POLI_OP_MULTIPLY:
    p->a = b, p->b = a, p->ab = 1.0;
    break;
  case POLI_OP_DIVIDE:
    p->a = 1.0 / b, p->b = -f / b;
    p->ab = -p->a / b, p->bb = -2.0 * p->b / b;
    break;
  case POLI_OP_POWER: /* by b only where a > 0: elsewhere there is no derivative, or it is 0 */
    if (b != 0.0) p->a = b * pow(a, b - 1.0);
    if (b != 0.0 && b != 1.0) p->aa = b * (b - 1.0) * pow(a, b - 2.0);
    if (!(a > 0.0)) break;
    r = log(a);
    p->b = f * r, p->bb = p->b * r;
    p->ab = pow(a, b - 1.0) * (1.0 + b * r);
    break;
  case POLI_OP_ATAN2:
    r = hypot(a, b);
    p->a = b / r / r, p->b = -a / r / r;
    p->aa = 2.0 * p->a * p->b, p->bb = -p->aa;
    p->ab = (a / r - b / r) * (a / r + b / r) / r / r;
    break;
  case POLI_OP_HYPOT:
    p->a = a / f, p->b = b / f;
    p->aa = p->b * p->b / f, p->ab = -p->a * p->b / f, p->bb = p->a * p->a / f;
    break;
  case POLI_OP_MIN:
    *(a <= b ? &p->a : &p->b) = 1.0;
    break;
  case POLI_OP_MAX:
    *(a >= b ? &p->a : &p->b) = 1.0;
    break;
  case POLI_OP_MOD:
    p->a = 1.0, p->b = -round((a - f) / b);
    break;
  default: /* a comparison */
    break;
  }
}

/* --- the machine ------------------------------------------------------------------------------ */

/* What does not depend on the operand, or an operand that does not move, adds nothing. */
static double times(double partial, double derivative)
{
  return partial == 0.0 || derivative == 0.0 ? 0.0 : partial * derivative;
}

/* a = operation(a, b), places of the stack; b is a itself if there is one operand only. */
static void combine(poli_operation operation, double *a, const double *b, int width, contents holds)
{
  const int is_unary = operation < POLI_OP_ADD;
  const double f = is_unary ? unary_value(operation, *a) : binary_value(operation, *a, *b);
  if (holds != ONLY_VALUE) {
    partials p = {0.0, 0.0, 0.0, 0.0, 0.0};
    if (is_unary)
      unary_partials(operation, *a, f, &p);
    else
      binary_partials(operation, *a, *b, f, &p);
    /* where there is a value, a derivative that is not finite counts as 0; not in time, where it is
     * the rate or acceleration of a drive, which nothing can follow */
    double *const each[] = {&p.a, &p.b, &p.aa, &p.ab, &p.bb};
    for (int i = 0; i < 5 && isfinite(f) && holds != TIME_DERIVATIVES; i++)
      if (!isfinite(*each[i])) *each[i] = 0.0;
    double second = 0.0;
    if (holds == TIME_DERIVATIVES)
      second = times(p.aa, a[1] * a[1]) + times(2.0 * p.ab, a[1] * b[1]) + times(p.bb, b[1] * b[1]);
    for (int i = 1; i < width; i++) a[i] = times(p.a, a[i]) + times(p.b, b[i]);
    if (holds == TIME_DERIVATIVES) a[2] += second;
  }
  *a = f;
}

/* Replaces the operands, one after the other from x on, by the result. */
static void apply(poli_operation operation, double *x, int width, contents holds)
{
  if (operation == POLI_OP_STEP) {
    /* a + (b - a) S((t - t0) / (t1 - t0)) of the places (t, t0, a, t1, b), into the first */
    double *t0 = x + width, *a = x + 2 * width, *t1 = x + 3 * width, *b = x + 4 * width;
    combine(POLI_OP_SUBTRACT, x, t0, width, holds);
    combine(POLI_OP_SUBTRACT, t1, t0, width, holds);
    combine(POLI_OP_DIVIDE, x, t1, width, holds);
    combine(POLI_OP_SMOOTH, x, x, width, holds);
    combine(POLI_OP_SUBTRACT, b, a, width, holds);
    combine(POLI_OP_MULTIPLY, x, b, width, holds);
    combine(POLI_OP_ADD, x, a, width, holds);
  } else if (operation == POLI_OP_CLAMP) {
    combine(POLI_OP_MAX, x, x + width, width, holds);
    combine(POLI_OP_MIN, x, x + 2 * width, width, holds);
  } else {
    combine(operation, x, operation < POLI_OP_ADD ? x : x + width, width, holds);
  }
}

double poli_operation_value(poli_operation operation, double *operands)
{
  apply(operation, operands, 1, ONLY_VALUE);
  return *operands;
}

/* Runs the program; the result is the first place of the stack.  x: the inputs, or for time
 * derivatives the time. */
static void run(const pol_expression *e, const double *x, double *stack, int width, contents holds)
{
  double *top = stack; /* the first free place */
  for (int i = 0; i < e->length;) {
    const poli_instruction *now = &e->code[i++];
    switch (now->operation) {
    case POLI_OP_CONSTANT:
    case POLI_OP_INPUT:
      memset(top, 0, (size_t)width * sizeof *top);
      if (now->operation == POLI_OP_CONSTANT) {
        *top = now->number;
      } else {
        *top = holds == TIME_DERIVATIVES ? *x : x[e->inputs[now->index]];
        if (holds != ONLY_VALUE) top[1 + now->index] = 1.0;
      }
      top += width;
      break;
    case POLI_OP_JUMP:
      i = now->index;
      break;
    case POLI_OP_JUMP_UNLESS:
      top -= width;
      if (isnan(*top)) {
        for (int k = 0; k < width; k++) stack[k] = (double)NAN;
        return;
      }
      if (*top == 0.0) i = now->index;
      break;
    default:
      top -= (poli_operation_arity(now->operation) - 1) * width;
      apply(now->operation, top - width, width, holds);
      break;
    }
  }
}

int poli_expression_num_inputs(const pol_expression *expression)
{
  return expression->num_inputs;
}

const int *poli_expression_inputs(const pol_expression *expression)
{
  return expression->inputs;
}

int poli_expression_has_switch(const pol_expression *expression)
{
  for (int i = 0; i < expression->length; i++) {
    const poli_operation operation = expression->code[i].operation;
    if (operation == POLI_OP_JUMP_UNLESS || operation == POLI_OP_ABS || operation == POLI_OP_SIGN ||
        operation == POLI_OP_FLOOR || operation == POLI_OP_CLAMP ||
        (operation >= POLI_OP_MIN && operation <= POLI_OP_NOT_EQUAL))
      return 1;
  }
  return 0;
}

/* How many margins an operation has. */
static int count_margins(poli_operation operation)
{
  if (operation == POLI_OP_CLAMP) return 2;
  return operation == POLI_OP_MIN || operation == POLI_OP_MAX ||
         (operation >= POLI_OP_LESS && operation <= POLI_OP_GREATER_EQUAL);
}

int poli_expression_num_margins(const pol_expression *expression)
{
  int count = 0;
  for (int i = 0; i < expression->length; i++)
    count += count_margins(expression->code[i].operation);
  return count;
}

void poli_expression_margins(const pol_expression *expression, const double *x, double *margins)
{
  double stack[POLI_EXPRESSION_DEPTH + 1], *top = stack;
  int skip_to = 0; /* instructions before this one are not evaluated, but have their margins */
  for (int i = 0; i < expression->length; i++) {
    const poli_instruction *now = &expression->code[i];
    const int count = count_margins(now->operation), taken = i >= skip_to;
    if (!taken)
      for (int k = 0; k < count; k++) *margins++ = (double)NAN;
    if (!taken) continue;
    const int arity = poli_operation_arity(now->operation);
    if (now->operation == POLI_OP_CONSTANT) {
      *top++ = now->number;
    } else if (now->operation == POLI_OP_INPUT) {
      *top++ = x[expression->inputs[now->index]];
    } else if (now->operation == POLI_OP_JUMP) {
      skip_to = now->index;
    } else if (now->operation == POLI_OP_JUMP_UNLESS) {
      top--;
      if (isnan(*top)) skip_to = expression->length;
      if (*top == 0.0) skip_to = now->index;
    } else {
      top -= arity;
      for (int k = 0; k < count; k++) *margins++ = top[0] - top[k + 1];
      top[0] = poli_operation_value(now->operation, top);
      top++;
    }
  }
}

size_t poli_expression_workspace(const pol_expression *expression)
{
  const int width = expression->num_inputs < 2 ? 3 : 1 + expression->num_inputs;
  return (size_t)expression->depth * (size_t)width;
}

double poli_expression_value(const pol_expression *expression, const double *x, double *workspace)
{
  run(expression, x, workspace, 1, ONLY_VALUE);
  return *workspace;
}

double poli_expression_gradient(const pol_expression *expression, const double *x, double *gradient,
                                double *workspace)
{
  run(expression, x, workspace, 1 + expression->num_inputs, GRADIENT);
  for (int k = 0; k < expression->num_inputs; k++) gradient[k] = workspace[1 + k];
  return *workspace;
}

void poli_expression_in_time(const pol_expression *expression, double t, double value[3],
                             double *workspace)
{
  run(expression, &t, workspace, 3, TIME_DERIVATIVES);
  memcpy(value, workspace, 3 * sizeof *value);
}

void poli_expression_free(pol_expression **expression)
{
  if (!*expression) return;
  free((*expression)->code);
  free((*expression)->inputs);
  free(*expression);
  *expression = NULL;
}
