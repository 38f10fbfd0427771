/* Expressions: a text such as "-k*(hinge.angle - 0.2) + if(t < 1, 0, sin(2*pi*t))", compiled once
 * and then evaluated with exact derivatives.
 *
 * The language, from what binds least to what binds most:
 *
 *   a or b, a and b, not a       1 or 0; the second is evaluated only if it matters
 *   < <= > >= == !=              1 or 0; they do not chain
 *   + -  then  * /               from left to right
 *   -a, +a                       so -x^2 is -(x^2)
 *   a^b                          from right to left; the exponent may have a sign: 2^-1
 *   2.5e-3, pi, name, (a), f(a, b)
 *
 * A name has letters, digits and _, starts with a letter or _, and may go on after dots:
 * hinge.angle.  A part in quotes may have any characters but ' and control characters: 'left
 * arm'.position.x; lookup gets it without the quotes.  Functions:
 *
 *   sin cos tan asin acos atan sinh cosh tanh exp log log10 sqrt abs sign floor   of one argument
 *   atan2(y, x), pow(a, b), mod(a, b) = a - b floor(a / b)
 *   min, max, hypot              of two or more
 *   clamp(x, low, high)          min(max(x, low), high)
 *   if(condition, a, b)          a unless the condition is 0; the other one is not evaluated
 *   step(t, t0, f0, t1, f1)      smoothly from f0 at t0 to f1 at t1, as POL_STEP in function.c
 *
 * Derivatives are those of the branch taken: of abs at 0 that of x, of min and max of equal
 * arguments that of the first, of comparisons, floor and sign 0.  Where a function has a value but
 * no finite derivative (sqrt at 0, asin at 1, hypot and atan2 at the origin, a negative number to a
 * whole power by its exponent) its derivative by the inputs counts as 0, so that a finite value
 * never comes with a gradient that is not a number unless numbers overflow.  Derivatives by time
 * are what they are, infinite or not a number there.  Outside their domain (sqrt(-1), log(0), 1/0)
 * values are not finite; a condition that is not a number makes the whole result one.
 */
#ifndef POLHODE_MECHANISM_EXPRESSION_H
#define POLHODE_MECHANISM_EXPRESSION_H

#include <stddef.h>

#include <polhode/status.h>

enum {
  POLI_EXPRESSION_LENGTH = 65535, /* characters of a text, at most */
  POLI_EXPRESSION_NAME = 127,     /* bytes of a name without its quotes, at most */
  POLI_EXPRESSION_DEPTH = 64      /* levels of nesting, and intermediate results, at most */
};

typedef struct pol_expression pol_expression;

/* The names that an expression may use.  Both functions are called while compiling only. */
typedef struct poli_expression_names {
  /* The index of the input with that name, or -1. */
  int (*lookup)(const char *name, void *user);
  /* A known name near to a wrong one, or "".  functions: the known names (NULL at the end) if the
   * wrong one is that of a function, else NULL.  The function may be NULL. */
  const char *(*suggest)(const char *wrong, const char *const *functions, void *user);
  void *user;
} poli_expression_names;

typedef struct poli_expression_error {
  int column;                                  /* of the text, from 1, in characters of UTF-8 */
  char message[POLI_EXPRESSION_NAME + 129];    /* the token and the rule it breaks, no final stop */
  char suggestion[POLI_EXPRESSION_NAME + 129]; /* a near name, or empty */
} poli_expression_error;

/* Compiles a text.  POL_BAD_ARGUMENT: the text is wrong, *error says where and why; POL_NO_MEMORY.
 * On failure *expression is NULL. */
pol_status poli_expression_compile(pol_expression **expression, const char *text,
                                   const poli_expression_names *names,
                                   poli_expression_error *error);
void poli_expression_free(pol_expression **expression);

/* The inputs that it uses: their number, and their indices, ascending. */
int poli_expression_num_inputs(const pol_expression *expression);
const int *poli_expression_inputs(const pol_expression *expression);

/* Whether its value is put together from branches: if, comparisons, min, max, abs and the like. */
int poli_expression_has_switch(const pol_expression *expression);

/* Its comparisons by size, min, max and clamp: in each, two numbers are compared, of which the
 * larger one decides which branch is taken.  How many there are (clamp has two), and the
 * differences of the two at x, NaN of those in branches that are not taken. */
int poli_expression_num_margins(const pol_expression *expression);
void poli_expression_margins(const pol_expression *expression, const double *x, double *margins);

/* Numbers of workspace that any of the evaluations needs.  They allocate nothing and change nothing
 * but the workspace and the result. */
size_t poli_expression_workspace(const pol_expression *expression);

/* The value; x[i] is input i. */
double poli_expression_value(const pol_expression *expression, const double *x, double *workspace);

/* The value; gradient[k] is its derivative by the input poli_expression_inputs()[k]. */
double poli_expression_gradient(const pol_expression *expression, const double *x, double *gradient,
                                double *workspace);

/* Of one input at most, t: value = (f, f', f'').  POLI_EXPRESSION_DEPTH * 3 numbers of workspace
 * are enough for this one. */
void poli_expression_in_time(const pol_expression *expression, double t, double value[3],
                             double *workspace);

#endif
