/* Functions of time.
 *
 *   constant    f = offset
 *   harmonic    f = offset + amplitude sin(2 pi frequency t + phase)
 *   polynomial  f = c0 + c1 t + c2 t^2 + ..., by Horner's rule
 *   step        f = from + (to - from) S(s), s = (t - t0) / (t1 - t0) kept in [0, 1],
 *               S = s^3 (10 - 15 s + 6 s^2): the quintic with S' = S'' = 0 at both ends
 *   speed       f' is that step, f = offset at t = 0 if t0 >= 0; the integral of S is
 *               s^4 (5/2 - 3 s + s^2)
 *   table       cubic spline through the points; its second derivatives m_i at the times solve
 *
 *     h_{i-1} m_{i-1} + 2 (h_{i-1} + h_i) m_i + h_i m_{i+1} = 6 (d_i - d_{i-1}),
 *
 *   h the lengths of the intervals and d the slopes of the chords, with m = 0 at the ends (natural)
 *   or with the two conditions that f' has there the given slopes (clamped); de Boor, A Practical
 *   Guide to Splines, chapter IV.  Outside its times it goes on straight.
 *
 *   expression  compiled, with its derivatives (expression.h)
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expression/expression.h"
#include "mechanism/function.h"

const char *pol_function_type_name(pol_function_type type)
{
  static const char *const names[] = {[POL_CONSTANT] = "constant",     [POL_HARMONIC] = "harmonic",
                                      [POL_POLYNOMIAL] = "polynomial", [POL_STEP] = "step",
                                      [POL_SPEED] = "speed",           [POL_TABLE] = "table",
                                      [POL_EXPRESSION] = "expression"};
  return (int)type >= 0 && (int)type <= POL_EXPRESSION ? names[type] : NULL;
}

/* --- set-up ----------------------------------------------------------------------------------- */

/* Reports the rules that a function breaks. */
static void check_function(poli_rules *check, const pol_function *f)
{
  const struct {
    const char *name;
    double number;
  } numbers[] = {{"offset", f->offset},
                 {"amplitude", f->amplitude},
                 {"frequency", f->frequency},
                 {"phase", f->phase},
                 {"from", f->from},
                 {"to", f->to},
                 {"t0", f->t0},
                 {"t1", f->t1}};
  const int at_least = f->type == POL_TABLE ? 2 : 1, before = check->broken;
  char value[32], field[48];
  if (!pol_function_type_name(f->type)) {
    snprintf(value, sizeof value, "%d", (int)f->type);
    poli_refuse(check, "type", value, "", "must be a type of function");
  }
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    poli_vector_rules(check, numbers[i].name, &numbers[i].number, 1);
  poli_vector_rules(check, "slopes", f->slopes, 2);
  if ((f->type == POL_STEP || f->type == POL_SPEED) && f->t1 <= f->t0) {
    snprintf(value, sizeof value, "%.10g", f->t1);
    poli_refuse(check, "t1", value, "", "must be above t0, which is %.10g", f->t0);
  }
  if (f->type == POL_POLYNOMIAL || f->type == POL_TABLE) {
    snprintf(value, sizeof value, "%d", f->count);
    if (!f->values)
      poli_refuse(check, "values", "", "", "is required: a list of numbers");
    else if (f->count < at_least)
      poli_refuse(check, "values", value, "", "must be a list of at least %d number%s", at_least,
                  at_least == 1 ? "" : "s");
    else
      poli_vector_rules(check, "values", f->values, f->count);
  }
  if (f->type == POL_TABLE && !f->times)
    poli_refuse(check, "times", "", "", "is required: a list of numbers");
  else if (f->type == POL_TABLE && f->count >= 2)
    poli_vector_rules(check, "times", f->times, f->count);
  for (int i = 1; f->type == POL_TABLE && check->broken == before && i < f->count; i++) {
    if (f->times[i] > f->times[i - 1]) continue;
    snprintf(field, sizeof field, "times[%d]", i);
    snprintf(value, sizeof value, "%.10g", f->times[i]);
    poli_refuse(check, field, value, "", "must be above the previous time");
  }
  if (f->type == POL_EXPRESSION && !f->expression)
    poli_refuse(check, "expression", "", "", "is required");
}

/* The moments m (count) of a spline; c (count) is workspace.  The equations are diagonally
 * dominant: elimination needs no pivots. */
static void solve_moments(const pol_function *f, const double *t, const double *y, double *m,
                          double *c)
{
  int last = f->count - 1;
  for (int i = 0; i <= last; i++) {
    double h0 = i > 0 ? t[i] - t[i - 1] : 0.0, h1 = i < last ? t[i + 1] - t[i] : 0.0;
    double before = i > 0 ? (y[i] - y[i - 1]) / h0 : f->slopes[0];
    double after = i < last ? (y[i + 1] - y[i]) / h1 : f->slopes[1];
    double diagonal = 2.0 * (h0 + h1), right = 6.0 * (after - before);
    if (!f->clamped && (i == 0 || i == last)) {
      diagonal = 1.0;
      right = h0 = h1 = 0.0;
    }
    double pivot = diagonal - (i > 0 ? h0 * c[i - 1] : 0.0);
    c[i] = h1 / pivot;
    m[i] = (right - (i > 0 ? h0 * m[i - 1] : 0.0)) / pivot;
  }
  for (int i = last - 1; i >= 0; i--) m[i] -= c[i] * m[i + 1];
}

/* t is input 0, and there is no other name. */
static int find_input(const char *name, void *user)
{
  (void)user;
  return strcmp(name, "t") == 0 ? 0 : -1;
}

/* The known name that is nearest to a wrong one. */
static const char *near_name(const char *wrong, const char *const *functions, void *user)
{
  static const char *const values[] = {"t", "pi", NULL};
  (void)user;
  pol_near near = pol_near_start(wrong);
  for (const char *const *name = functions ? functions : values; *name; name++)
    pol_near_try(&near, *name);
  return near.best;
}

static void copy_expression(poli_rules *check, const char *text, pol_function *to)
{
  static const poli_expression_names names = {find_input, near_name, NULL};
  pol_expression *program;
  poli_expression_error error;
  char *copy = malloc(strlen(text) + 1);
  const pol_status status =
      copy ? poli_expression_compile(&program, strcpy(copy, text), &names, &error) : POL_NO_MEMORY;
  if (status == POL_OK) {
    to->expression = copy;
    to->program = program;
    return;
  }
  free(copy);
  if (status == POL_NO_MEMORY)
    check->status = POL_NO_MEMORY;
  else
    poli_refuse(check, "expression", text, error.suggestion,
                "must be an expression of t: column %d: %s", error.column, error.message);
}

void poli_function_copy(poli_rules *check, const char *inside, const pol_function *from,
                        pol_function *to)
{
  const int before = check->broken;
  char prefix[16];
  snprintf(prefix, sizeof prefix, "%s.", inside);
  *to = pol_function_default();
  check->inside = prefix;
  check_function(check, from);
  if (check->broken > before) {
    check->inside = "";
    return;
  }
  *to = *from;
  to->times = to->values = to->moments = NULL;
  to->expression = NULL;
  to->program = NULL;
  if (from->type == POL_EXPRESSION) copy_expression(check, from->expression, to);
  check->inside = "";
  if (from->type != POL_POLYNOMIAL && from->type != POL_TABLE) return;
  /* values first, so that freeing them frees all: values, times, moments, workspace */
  size_t n = (size_t)from->count;
  double *numbers = malloc(4 * n * sizeof *numbers);
  if (!numbers) {
    check->status = POL_NO_MEMORY;
    return;
  }
  memcpy(numbers, from->values, n * sizeof *numbers);
  to->values = numbers;
  if (from->type == POL_POLYNOMIAL) return;
  memcpy(numbers + n, from->times, n * sizeof *numbers);
  solve_moments(from, numbers + n, numbers, numbers + 2 * n, numbers + 3 * n);
  to->times = numbers + n;
  to->moments = numbers + 2 * n;
  for (size_t i = 0; i < n; i++) {
    if (isfinite(to->moments[i])) continue;
    poli_refuse(check, inside, "", "", "must not have numbers that are too large or too small");
    return;
  }
}

void poli_function_release(pol_function *function)
{
  free((void *)function->values);
  function->values = function->times = function->moments = NULL;
  free((void *)function->expression);
  function->expression = NULL;
  pol_expression *program = (pol_expression *)function->program;
  poli_expression_free(&program);
  function->program = NULL;
}

/* --- values ----------------------------------------------------------------------------------- */

/* A step, or the function whose derivative it is: with S, its derivatives by s and its integral. */
static void step_or_speed(const pol_function *f, double t, double value[3])
{
  const double span = f->t1 - f->t0, change = f->to - f->from;
  const double s = fmin(fmax((t - f->t0) / span, 0.0), 1.0);
  const double S[3] = {s * s * s * (10.0 + s * (-15.0 + 6.0 * s)),
                       30.0 * s * s * (1.0 - s) * (1.0 - s),
                       60.0 * s * (1.0 - s) * (1.0 - 2.0 * s)};
  const double integral = s * s * s * s * (2.5 + s * (-3.0 + s));
  if (f->type == POL_STEP) {
    value[0] = f->from + change * S[0];
    value[1] = change * S[1] / span;
    value[2] = change * S[2] / (span * span);
  } else {
    double after = fmax(t - f->t1, 0.0);
    value[0] = f->offset + f->from * t + change * (span * integral + after);
    value[1] = f->from + change * S[0];
    value[2] = change * S[1] / span;
  }
}

/* The piece that holds t, or a straight line from the nearest end. */
static void spline(const pol_function *f, double t, double value[3])
{
  int low = 0, high = f->count - 1;
  double at = fmin(fmax(t, f->times[0]), f->times[high]);
  while (high - low > 1) {
    int middle = low + (high - low) / 2;
    if (f->times[middle] <= at)
      low = middle;
    else
      high = middle;
  }
  const double *m = f->moments + low, *y = f->values + low;
  double h = f->times[high] - f->times[low], b = (at - f->times[low]) / h, a = 1.0 - b;
  value[0] =
      a * y[0] + b * y[1] + h * h / 6.0 * (a * (a * a - 1.0) * m[0] + b * (b * b - 1.0) * m[1]);
  value[1] =
      (y[1] - y[0]) / h + h / 6.0 * ((1.0 - 3.0 * a * a) * m[0] + (3.0 * b * b - 1.0) * m[1]);
  value[2] = at == t ? a * m[0] + b * m[1] : 0.0;
  value[0] += (t - at) * value[1];
}

void poli_function_value(const pol_function *function, double t, double value[3])
{
  static const double pi = 3.14159265358979323846;
  const pol_function *f = function;
  value[0] = value[1] = value[2] = 0.0;
  switch (f->type) {
  case POL_CONSTANT:
    value[0] = f->offset;
    break;
  case POL_HARMONIC: {
    const double rate = 2.0 * pi * f->frequency, angle = rate * t + f->phase;
    const double sine = f->amplitude * sin(angle), cosine = f->amplitude * cos(angle);
    value[0] = f->offset + sine;
    value[1] = rate * cosine;
    value[2] = -rate * rate * sine;
    break;
  }
  case POL_POLYNOMIAL:
    for (int i = f->count - 1; i >= 0; i--) {
      value[2] = 2.0 * value[1] + t * value[2];
      value[1] = value[0] + t * value[1];
      value[0] = f->values[i] + t * value[0];
    }
    break;
  case POL_STEP:
  case POL_SPEED:
    step_or_speed(f, t, value);
    break;
  case POL_TABLE:
    spline(f, t, value);
    break;
  case POL_EXPRESSION: {
    double workspace[3 * POLI_EXPRESSION_DEPTH];
    poli_expression_in_time(f->program, t, value, workspace);
    break;
  }
  }
}
