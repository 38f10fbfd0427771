/* Expressions: values against C, derivatives against finite differences over random expressions and
 * against closed forms, every error with its place, and texts without sense. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "expression/expression.h"
#include "mechanism/function.h"

/* --- names ------------------------------------------------------------------------------------ */

static const char *const known[] = {"x", "y", "z", "t", "hinge.angle", "left arm.position.x"};
enum { X, Y, Z, T, ANGLE, ARM, NUM_KNOWN };

static int lookup(const char *name, void *user)
{
  (void)user;
  for (int i = 0; i < NUM_KNOWN; i++)
    if (strcmp(known[i], name) == 0) return i;
  return -1;
}

/* Knows what is meant by two words. */
static const char *suggest(const char *wrong, const char *const *functions, void *user)
{
  (void)user;
  if (functions) {
    int count = 0;
    while (functions[count]) count++;
    assert_int_equal(count, 25);
    return strcmp(wrong, "sine") == 0 ? "sin" : "";
  }
  return strcmp(wrong, "hinge.angel") == 0 ? "hinge.angle" : NULL;
}

static const poli_expression_names names = {lookup, suggest, NULL};

static pol_expression *compile(const char *text)
{
  pol_expression *e = NULL;
  poli_expression_error error;
  if (poli_expression_compile(&e, text, &names, &error) != POL_OK)
    fail_msg("%s: column %d: %s", text, error.column, error.message);
  return e;
}

static double *workspace_of(const pol_expression *e)
{
  double *workspace = malloc(poli_expression_workspace(e) * sizeof *workspace);
  assert_non_null(workspace);
  return workspace;
}

static double value_of(const char *text, const double *x)
{
  pol_expression *e = compile(text);
  double *workspace = workspace_of(e);
  const double value = poli_expression_value(e, x, workspace);
  free(workspace);
  poli_expression_free(&e);
  assert_null(e);
  return value;
}

/* The value, and the derivative by every known name, 0 for those that it does not use. */
static double gradient_of(const char *text, const double *x, double gradient[NUM_KNOWN])
{
  pol_expression *e = compile(text);
  double *workspace = workspace_of(e), partial[NUM_KNOWN];
  const double value = poli_expression_gradient(e, x, partial, workspace);
  for (int i = 0; i < NUM_KNOWN; i++) gradient[i] = 0.0;
  for (int k = 0; k < poli_expression_num_inputs(e); k++)
    gradient[poli_expression_inputs(e)[k]] = partial[k];
  free(workspace);
  poli_expression_free(&e);
  return value;
}

static void in_time(const char *text, double t, double value[3])
{
  double workspace[3 * POLI_EXPRESSION_DEPTH];
  pol_expression *e = compile(text);
  assert_true(poli_expression_num_inputs(e) <= 1);
  poli_expression_in_time(e, t, value, workspace);
  poli_expression_free(&e);
}

/* --- values ----------------------------------------------------------------------------------- */

static const double at[NUM_KNOWN] = {0.7, -1.3, 2.5, 0.4, -0.6, 1.9};

static void values_are_those_of_c(void **state)
{
  (void)state;
  static const double pi = 3.14159265358979323846;
  const double x = at[X], y = at[Y], z = at[Z], t = at[T];
  const struct {
    const char *text;
    double value;
  } cases[] = {
      {"1", 1.0},
      {"2.5e-3", 2.5e-3},
      {".5 + 3. + 1E2 + 1e+1", 113.5},
      {" ( ( x ) ) ", x},
      {"pi", pi},
      {"x + y*z", x + y * z},
      {"(x + y)*z", (x + y) * z},
      {"x - y - z", x - y - z},
      {"x/y/z", x / y / z},
      {"x/y*z", x / y * z},
      {"-x^2", -(x * x)},
      {"y^2", y * y},
      {"y^3", y * y * y},
      {"y^-3", 1.0 / (y * y * y)},
      {"2^-1", 0.5},
      {"2^3^2", 512.0},
      {"-2^2", -4.0},
      {"2*-x", -2.0 * x},
      {"x--y", x + y},
      {"- - + -x", -x},
      {"sin(2*pi*t) + cos(y) + tan(x)", sin(2.0 * pi * t) + cos(y) + tan(x)},
      {"asin(x) + acos(x) + atan(z) + atan2(y, x)", asin(x) + acos(x) + atan(z) + atan2(y, x)},
      {"sinh(x) + cosh(y) + tanh(z)", sinh(x) + cosh(y) + tanh(z)},
      {"exp(x) + log(z) + log10(z) + sqrt(z)", exp(x) + log(z) + log10(z) + sqrt(z)},
      {"abs(y) + sign(y) + sign(x) + sign(0) + floor(y)", -y - 1.0 + 1.0 - 2.0},
      {"min(x, y)*max(x, y)", y * x},
      {"min(z, x, y, t) + max(z, x, y, t)", y + z},
      {"pow(z, x) + hypot(x, y)", pow(z, x) + hypot(x, y)},
      {"hypot(x, y, z)", sqrt(x * x + y * y + z * z)},
      {"mod(z, 1) + mod(y, 1) + mod(z, -1)", 0.5 + 0.7 - 0.5},
      {"clamp(x, 0, 1) + clamp(y, 0, 1) + clamp(z, 0, 1)", x + 0.0 + 1.0},
      {"step(t, 0, 1, 0.8, 3)", 2.0},
      {"step(t, 1, 5, 2, 3) + step(t, -2, 5, -1, 3)", 8.0},
      {"if(x > 0, 10, 20) + if(x < 0, 1, 2)", 12.0},
      {"if(x, 10, 20) + if(0, 1, 2)", 12.0},
      {"(x < 1) + 2*(x <= 0.7) + 4*(x > 0.7) + 8*(x >= 0.7)", 11.0},
      {"(x == 0.7) + 2*(x != 0.7) + 4*(x == y) + 8*(x != y)", 9.0},
      {"1 < 2 and 2 < 3", 1.0},
      {"1 > 2 or 2 > 3", 0.0},
      {"x and y", 1.0},
      {"x or y", 1.0},
      {"0 or 0 and 1 or x", 1.0},
      {"not x > 1 and not 0", 1.0},
      {"not not z", 1.0},
      {"(1 and 0)*2 + (0 or 5)", 1.0},
      {"if(x < 1, 2, 3)*4", 8.0},
      {"if(x > 1, 2, 3)*4", 12.0},
      {"-if(if(x < 1, 0, 1), 2, 3)", -3.0},
      {"hinge.angle*'left arm'.position.x", -0.6 * 1.9},
      {"'hinge'.'angle' + 'x'", -0.6 + 0.7},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const double value = value_of(cases[i].text, at);
    double gradient[NUM_KNOWN];
    if (!(fabs(value - cases[i].value) <= 4e-16 * (1.0 + fabs(value))))
      fail_msg("%s is %.17g, not %.17g", cases[i].text, value, cases[i].value);
    assert_true(gradient_of(cases[i].text, at, gradient) == value);
  }
}

static void used_inputs_are_listed_once(void **state)
{
  (void)state;
  pol_expression *e = compile("z*x + if(t > 0, z, 'left arm'.position.x)");
  static const int used[] = {X, Z, T, ARM};
  assert_int_equal(poli_expression_num_inputs(e), 4);
  assert_memory_equal(poli_expression_inputs(e), used, sizeof used);
  poli_expression_free(&e);
  e = compile("2*pi + sqrt(2)");
  assert_int_equal(poli_expression_num_inputs(e), 0);
  assert_int_equal(poli_expression_workspace(e), 2 * 3); /* folded to one constant on the way */
  poli_expression_free(&e);
  poli_expression_free(&e);
}

/* The branch that is not taken is not evaluated, and its derivatives do not count. */
static void only_the_chosen_branch_counts(void **state)
{
  (void)state;
  double gradient[NUM_KNOWN];
  assert_true(gradient_of("if(y > 0, sqrt(y), 0)", at, gradient) == 0.0);
  assert_true(gradient[Y] == 0.0);
  assert_true(gradient_of("if(x > 0, 3*x, log(y))", at, gradient) == 3.0 * at[X]);
  assert_true(gradient[X] == 3.0 && gradient[Y] == 0.0);
  assert_true(value_of("y > 0 and log(y) > 0", at) == 0.0);
  assert_true(value_of("y < 0 or log(y) > 0", at) == 1.0);
  assert_true(isnan(value_of("y < 0 and log(y) > 0", at)));
}

static void values_outside_the_domain_are_not_finite(void **state)
{
  (void)state;
  static const char *const texts[] = {"sqrt(y)",
                                      "log(0)",
                                      "log(y)",
                                      "1/(x - x)",
                                      "asin(z)",
                                      "y^0.5",
                                      "exp(1e9)",
                                      "mod(x, 0)",
                                      "min(1, sqrt(y))",
                                      "max(sqrt(y), 1)",
                                      "clamp(1, 0, sqrt(y))",
                                      "sign(sqrt(y))",
                                      "sqrt(y)^0",
                                      "sqrt(y) > 0",
                                      "not sqrt(y)",
                                      "if(sqrt(y) > 0, 1, 2)",
                                      "1 + if(sqrt(y), 1, 2)^0",
                                      "hypot(1/0, sqrt(y))",
                                      "step(x, 0, 0, 1, 1/0)"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    double gradient[NUM_KNOWN];
    if (isfinite(value_of(texts[i], at)) || isfinite(gradient_of(texts[i], at, gradient)))
      fail_msg("%s is finite", texts[i]);
  }
}

/* --- derivatives ------------------------------------------------------------------------------ */

/* A random expression: its text, with the value that C gives it. */
typedef struct writer {
  char *text;
  size_t used, size;
  uint64_t seed;
  const double *x;
  int num_inputs;
} writer;

static int random_below(uint64_t *seed, int count)
{
  return (int)((random_number(seed) + 1.0) * 0.5 * count) % count;
}

static void write_text(writer *w, const char *text)
{
  const size_t length = strlen(text);
  assert_true(w->used + length < w->size);
  strcpy(w->text + w->used, text);
  w->used += length;
}

/* Each form is smooth for all operands a and b in R, keeps within its domain, and takes the same
 * branch everywhere: %a and %b stand for the operands. */
static const char *const forms[] = {
    "%a + %b",
    "%a - %b",
    "%a*%b",
    "%a/(2 + cos(%b))",
    "-%a",
    "sin(%a)*cos(%b)",
    "tan(sin(%a))",
    "asin(0.8*sin(%a)) + acos(0.8*cos(%b))",
    "atan(%a)",
    "atan2(%a, 2 + sin(%b))",
    "sinh(sin(%a)) + cosh(cos(%b)) + tanh(%a)",
    "exp(sin(%a))",
    "log(2 + sin(%a)) + log10(2 + cos(%b))",
    "sqrt(1 + %a^2)",
    "hypot(%a, 1 + sin(%b)^2)",
    "(2 + sin(%a))^cos(%b)",
    "pow(sin(%a) - 2, 3)/10",
    "min(sin(%a), 2 + cos(%b)) + max(sin(%a), 2 + cos(%b))",
    "clamp(sin(%a), -2, 2) + clamp(3 + sin(%a), 0, 1 + cos(%b))",
    "abs(2 + sin(%a)) + abs(sin(%b) - 2)",
    "mod(3.5 + 0.4*sin(%a), 1) + mod(-1.5*(2 + sin(%a)), 20)",
    "floor(0.5 + 0.4*sin(%a)) + sign(2 + sin(%b))*%a",
    "step(0.5*sin(%a), -1, %b, 2, sin(%a))",
    "if(sin(%a) < 2 and not cos(%b) > 1.5, %a, 1/0)",
    "if(sin(%a) > 2 or 0, sqrt(-1), %b)",
};
enum { NUM_FORMS = sizeof forms / sizeof *forms };

static double form_value(int form, double a, double b)
{
  double s;
  switch (form) {
  case 0:
    return a + b;
  case 1:
    return a - b;
  case 2:
    return a * b;
  case 3:
    return a / (2.0 + cos(b));
  case 4:
    return -a;
  case 5:
    return sin(a) * cos(b);
  case 6:
    return tan(sin(a));
  case 7:
    return asin(0.8 * sin(a)) + acos(0.8 * cos(b));
  case 8:
    return atan(a);
  case 9:
    return atan2(a, 2.0 + sin(b));
  case 10:
    return sinh(sin(a)) + cosh(cos(b)) + tanh(a);
  case 11:
    return exp(sin(a));
  case 12:
    return log(2.0 + sin(a)) + log10(2.0 + cos(b));
  case 13:
    return sqrt(1.0 + a * a);
  case 14:
    return hypot(a, 1.0 + sin(b) * sin(b));
  case 15:
    return pow(2.0 + sin(a), cos(b));
  case 16:
    return pow(sin(a) - 2.0, 3.0) / 10.0;
  case 17:
    return sin(a) + fmax(sin(a), 2.0 + cos(b));
  case 18:
    return sin(a) + 1.0 + cos(b);
  case 19:
    return 2.0 + sin(a) + 2.0 - sin(b);
  case 20:
    return 0.5 + 0.4 * sin(a) + 17.0 - 1.5 * sin(a);
  case 21:
    return a;
  case 22:
    s = (0.5 * sin(a) + 1.0) / 3.0;
    return b + (sin(a) - b) * (s * s * s * (10.0 - 15.0 * s + 6.0 * s * s));
  case 23:
    return a;
  default:
    return b;
  }
}

/* Writes the expression; a and b are written anew wherever they stand, from the same seeds. */
static double write_random(writer *w, int levels)
{
  char number[32];
  if (levels == 0 || random_below(&w->seed, 8) == 0) {
    const int which = random_below(&w->seed, w->num_inputs + 1);
    if (which < w->num_inputs) {
      write_text(w, known[which]);
      return w->x[which];
    }
    snprintf(number, sizeof number, "%.3f", 1.5 + random_number(&w->seed));
    write_text(w, number);
    return strtod(number, NULL);
  }
  const int form = random_below(&w->seed, NUM_FORMS);
  const uint64_t seeds[2] = {w->seed ^ 0x9e3779b97f4a7c15u, w->seed ^ 0xc2b2ae3d27d4eb4fu};
  double operands[2] = {0.0, 0.0};
  for (const char *c = forms[form]; *c; c++) {
    if (*c != '%') {
      write_text(w, (char[]){*c, '\0'});
      continue;
    }
    const int which = *++c == 'b';
    w->seed = seeds[which];
    random_number(&w->seed);
    write_text(w, "(");
    operands[which] = write_random(w, levels - 1);
    write_text(w, ")");
  }
  w->seed = seeds[0] + seeds[1];
  return form_value(form, operands[0], operands[1]);
}

enum { TEXT_SIZE = 1 << 15, NUM_RANDOM = 400 };

/* The text of the n-th random expression of the first inputs; returns its value at x by C. */
static double random_expression(int n, int num_inputs, const double *x, char text[TEXT_SIZE])
{
  writer w = {text, 0, TEXT_SIZE, 7919u * (uint64_t)n + 1u, x, num_inputs};
  text[0] = '\0';
  return write_random(&w, 3);
}

static void random_values_and_gradients(void **state)
{
  (void)state;
  static const double s = 2e-4, offsets[4] = {2.0, 1.0, -1.0, -2.0};
  static char text[TEXT_SIZE];
  double worst = 0.0;
  uint64_t seed = 11;
  for (int n = 0; n < NUM_RANDOM; n++) {
    double x[NUM_KNOWN], gradient[3] = {0.0};
    random_numbers(&seed, x, NUM_KNOWN);
    const double expected = random_expression(n, 3, x, text);
    pol_expression *e = compile(text);
    double *workspace = workspace_of(e);
    const double value = poli_expression_gradient(e, x, gradient, workspace);
    assert_near(&value, &expected, 1, 1e-12 * (1.0 + fabs(value)));
    assert_true(value == poli_expression_value(e, x, workspace));
    for (int k = 0; k < poli_expression_num_inputs(e); k++) {
      const int i = poli_expression_inputs(e)[k];
      const double kept = x[i];
      double samples[4];
      for (int j = 0; j < 4; j++) {
        x[i] = kept + offsets[j] * s;
        samples[j] = poli_expression_value(e, x, workspace);
      }
      x[i] = kept;
      const double scale = 1.0 + fabs(value) + fabs(gradient[k]);
      const double error = fabs(gradient[k] - difference(samples, s)) / scale;
      worst = fmax(worst, error);
      if (!(error < 1e-9)) fail_msg("%s: derivative by %s", text, known[i]);
    }
    free(workspace);
    poli_expression_free(&e);
  }
  print_message("gradients: largest difference %.2g\n", worst);
}

static void random_time_derivatives(void **state)
{
  (void)state;
  static const double s = 2e-4, offsets[4] = {2.0, 1.0, -1.0, -2.0};
  static char text[TEXT_SIZE];
  double worst = 0.0;
  uint64_t seed = 13;
  for (int n = 0; n < NUM_RANDOM; n++) {
    double x[NUM_KNOWN], value[3], samples[2][4], gradient[1] = {0.0};
    random_numbers(&seed, x, NUM_KNOWN);
    random_expression(NUM_RANDOM + n, 1, x, text);
    pol_expression *e = compile(text);
    double *workspace = workspace_of(e);
    poli_expression_in_time(e, x[0], value, workspace);
    assert_true(value[0] == poli_expression_gradient(e, x, gradient, workspace));
    assert_true(value[1] == gradient[0]);
    for (int j = 0; j < 4; j++) {
      double near[3];
      poli_expression_in_time(e, x[0] + offsets[j] * s, near, workspace);
      samples[0][j] = near[0];
      samples[1][j] = near[1];
    }
    for (int d = 0; d < 2; d++) {
      const double scale = 1.0 + fabs(value[d]) + fabs(value[d + 1]);
      const double error = fabs(value[d + 1] - difference(samples[d], s)) / scale;
      worst = fmax(worst, error);
      if (!(error < 1e-9)) fail_msg("%s: derivative %d", text, d + 1);
    }
    free(workspace);
    poli_expression_free(&e);
  }
  print_message("time derivatives: largest difference %.2g\n", worst);
}

static void time_derivatives_have_closed_forms(void **state)
{
  (void)state;
  const double t = 0.4, e = exp(-2.0 * t), w = 6.0;
  const struct {
    const char *text;
    double value[3];
  } cases[] = {
      {"3", {3.0, 0.0, 0.0}},
      {"t", {t, 1.0, 0.0}},
      {"t^5", {pow(t, 5), 5.0 * pow(t, 4), 20.0 * pow(t, 3)}},
      {"(-t)^3", {-pow(t, 3), -3.0 * t * t, -6.0 * t}},
      {"2*sin(6*t + 0.1)",
       {2.0 * sin(w * t + 0.1), 2.0 * w * cos(w * t + 0.1), -2.0 * w * w * sin(w * t + 0.1)}},
      {"exp(-2*t)", {e, -2.0 * e, 4.0 * e}},
      {"t*exp(-2*t)", {t * e, (1.0 - 2.0 * t) * e, (4.0 * t - 4.0) * e}},
      {"1/(1 + t)", {1.0 / 1.4, -1.0 / (1.4 * 1.4), 2.0 / (1.4 * 1.4 * 1.4)}},
      {"log(t)", {log(t), 1.0 / t, -1.0 / (t * t)}},
      {"sqrt(t)", {sqrt(t), 0.5 / sqrt(t), -0.25 / (t * sqrt(t))}},
      {"2^t", {pow(2, t), log(2) * pow(2, t), log(2) * log(2) * pow(2, t)}},
      {"t^t",
       {pow(t, t), pow(t, t) * (log(t) + 1.0),
        pow(t, t) * ((log(t) + 1.0) * (log(t) + 1.0) + 1.0 / t)}},
      {"atan2(sin(3*t), cos(3*t))", {3.0 * t, 3.0, 0.0}},
      {"hypot(2*cos(t), 2*sin(t))", {2.0, 0.0, 0.0}},
      {"asin(sin(t)) + acos(cos(t)) + atan(tan(t))", {3.0 * t, 3.0, 0.0}},
      {"cosh(t)^2 - sinh(t)^2", {1.0, 0.0, 0.0}},
      {"tanh(t) - sinh(t)/cosh(t)", {0.0, 0.0, 0.0}},
      {"log10(10^t)", {t, 1.0, 0.0}},
      {"abs(-t^2)", {t * t, 2.0 * t, 2.0}},
      {"floor(t) + sign(t) + (t > 0)", {2.0, 0.0, 0.0}},
      {"mod(t, 0.3)", {0.1, 1.0, 0.0}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    double value[3];
    in_time(cases[i].text, t, value);
    for (int d = 0; d < 3; d++)
      if (!(fabs(value[d] - cases[i].value[d]) <= 2e-14 * (1.0 + fabs(value[d]))))
        fail_msg("%s: derivative %d is %.17g, not %.17g", cases[i].text, d, value[d],
                 cases[i].value[d]);
  }
}

static void steps_are_those_of_functions(void **state)
{
  (void)state;
  const pol_function step = {.type = POL_STEP, .from = 0.5, .to = -1.5, .t0 = 0.25, .t1 = 1.5};
  for (double t = -0.2; t < 2.0; t += 0.05) {
    double expected[3], value[3];
    poli_function_value(&step, t, expected);
    in_time("step(t, 0.25, 0.5, 1.5, -1.5)", t, value);
    assert_near(value, expected, 3, 1e-13);
  }
  /* without length it is a jump, still with derivatives */
  const double after[3] = {2.0, 0.0, 0.0};
  double value[3];
  in_time("step(t, 1, 0, 1, 2)", 1.5, value);
  assert_near(value, after, 3, 0.0);
}

/* Where the derivative does not exist, and whole powers of numbers that are not positive: gradients
 * are finite, derivatives by time only where there are some. */
static void gradients_are_finite_where_values_are(void **state)
{
  (void)state;
  static const struct {
    const char *text;
    double x, value[3];
    int undefined; /* in time */
  } cases[] = {
      {"sqrt(x)", 0.0, {0.0, 0.0, 0.0}, 1},
      {"sqrt(x^2)", 0.0, {0.0, 0.0, 0.0}, 1},
      {"sqrt(x*x + 0)", 0.0, {0.0, 0.0, 0.0}, 1},
      {"x*sqrt(x)", 0.0, {0.0, 0.0, 0.0}, 1},
      {"asin(x)", 1.0, {1.5707963267948966, 0.0, 0.0}, 1},
      {"hypot(x, 2*x)", 0.0, {0.0, 0.0, 0.0}, 1},
      {"atan2(x, x)", 0.0, {0.0, 0.0, 0.0}, 1},
      {"abs(x)", 0.0, {0.0, 1.0, 0.0}, 0},
      {"min(x, 2*x)", 0.0, {0.0, 1.0, 0.0}, 0},
      {"max(x, 2*x)", 0.0, {0.0, 1.0, 0.0}, 0},
      {"x^0", 0.0, {1.0, 0.0, 0.0}, 0},
      {"x^1", 0.0, {0.0, 1.0, 0.0}, 0},
      {"x^2", 0.0, {0.0, 0.0, 2.0}, 0},
      {"x^3", 0.0, {0.0, 0.0, 0.0}, 0},
      {"x^2", -3.0, {9.0, -6.0, 2.0}, 0},
      {"x^3", -3.0, {-27.0, 27.0, -18.0}, 0},
      {"x^-1", -2.0, {-0.5, -0.25, -0.25}, 0},
      {"x^1.5", 0.0, {0.0, 0.0, 0.0}, 1},
      {"(-2)^x", 2.0, {4.0, 0.0, 0.0}, 0},
      {"0^x", 2.0, {0.0, 0.0, 0.0}, 0},
      {"step(x, 0, x, 0, 1)", 1.0, {1.0, 0.0, 0.0}, 0},
      {"(1/x)^0", 0.0, {1.0, 0.0, 0.0}, 1},
      {"atan(1/x)", 0.0, {1.5707963267948966, 0.0, 0.0}, 1},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    double value[3], gradient[NUM_KNOWN];
    in_time(cases[i].text, cases[i].x, value);
    assert_int_equal(!isfinite(value[1]) || !isfinite(value[2]), cases[i].undefined);
    for (int d = 0; d < 3 && !cases[i].undefined; d++)
      if (!(fabs(value[d] - cases[i].value[d]) <= 1e-15 * fabs(value[d])))
        fail_msg("%s at %g: derivative %d is %g", cases[i].text, cases[i].x, d, value[d]);
    assert_true(gradient_of(cases[i].text, &cases[i].x, gradient) == value[0]);
    assert_true(gradient[X] == cases[i].value[1]);
  }
}

/* --- errors ----------------------------------------------------------------------------------- */

static void errors_name_place_token_and_rule(void **state)
{
  (void)state;
#define PRIMARY "a number, a name, a function or '(' is expected here"
#define INSIDE "an operator or ')' is expected here"
#define OUTSIDE "an operator or the end is expected here"
  static const struct {
    const char *text;
    int column;
    const char *message, *suggestion;
  } cases[] = {
      {"", 1, "must not be empty", ""},
      {" \t\n", 1, "must not be empty", ""},
      {"1 + hinge.angel*2", 5, "'hinge.angel' is not a known name", "hinge.angle"},
      {"w", 1, "'w' is not a known name", ""},
      {"'pi'", 1, "'pi' is not a known name", ""},
      {"2*sine(x)", 3, "'sine' is not a known function", "sin"},
      {"x(1)", 1, "'x' is not a known function", ""},
      {"'x'(1)", 4, "unexpected '(': " OUTSIDE, ""},
      {"sin + 1", 1, "'sin' is a function: its arguments must follow in (...)", ""},
      {"1 + ", 5, "unexpected end: " PRIMARY, ""},
      {"x *", 4, "unexpected end: " PRIMARY, ""},
      {"* 2", 1, "unexpected '*': " PRIMARY, ""},
      {"1 ** 2", 4, "unexpected '*': " PRIMARY, ""},
      {"2 x", 3, "unexpected 'x': " OUTSIDE, ""},
      {"2x", 2, "unexpected 'x': " OUTSIDE, ""},
      {"1e", 2, "unexpected 'e': " OUTSIDE, ""},
      {"1.2.3", 4, "unexpected '.3': " OUTSIDE, ""},
      {"(1 2)", 4, "unexpected '2': " INSIDE, ""},
      {"(1, 2)", 3, "unexpected ',': " INSIDE, ""},
      {"1, 2", 2, "unexpected ',': " OUTSIDE, ""},
      {"2*(x + (y", 8, "'(' has no matching ')'", ""},
      {"sin(x", 4, "'(' has no matching ')'", ""},
      {"x)", 2, "')' has no matching '('", ""},
      {"()", 2, "unexpected ')': " PRIMARY, ""},
      {"sin()", 1, "'sin' takes 1 argument, not 0", ""},
      {"1 + sin(x, y)", 5, "'sin' takes 1 argument, not 2", ""},
      {"atan2(x)", 1, "'atan2' takes 2 arguments, not 1", ""},
      {"min(x)", 1, "'min' takes at least 2 arguments, not 1", ""},
      {"if(x, y)", 1, "'if' takes 3 arguments, not 2", ""},
      {"if()", 1, "'if' takes 3 arguments, not 0", ""},
      {"if(1, 2, 3, 4, 5)", 1, "'if' takes 3 arguments, not 5", ""},
      {"step(t, 0, 1)", 1, "'step' takes 5 arguments, not 3", ""},
      {"min(x,)", 7, "unexpected ')': " PRIMARY, ""},
      {"x < y < z", 7, "unexpected '<': comparisons must be joined by 'and'", ""},
      {"1 + not x", 5, "unexpected 'not': " PRIMARY, ""},
      {"x and", 6, "unexpected end: " PRIMARY, ""},
      {"x = 1", 3, "'=' is not an operator: equality is '=='", ""},
      {"x ! y", 3, "'!' is not allowed in expressions", ""},
      {"x && y", 3, "'&' is not allowed in expressions", ""},
      {"x \x01", 3, "the control character 0x01 must not be used", ""},
      {"'\xc3\xa4' \xc3\xa4", 5, "the byte 0xc3 must be in quotes", ""},
      {"'left\tarm'", 6, "the control character 0x09 must not be used", ""},
      {"'left arm.x", 1, "the closing quote ' is missing", ""},
      {"x.'' + 1", 3, "'' is an empty name", ""},
      {"hinge. + 1", 6, "'hinge.' is not a name: one more part must follow the '.'", ""},
      {".", 1, "'.' is not allowed in expressions", ""},
      {"1e999", 1, "'1e999' is too large a number", ""},
  };
#undef PRIMARY
#undef INSIDE
#undef OUTSIDE
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    pol_expression *e = (pol_expression *)&e;
    poli_expression_error error;
    assert_int_equal(poli_expression_compile(&e, cases[i].text, &names, &error), POL_BAD_ARGUMENT);
    assert_null(e);
    assert_string_equal(error.message, cases[i].message);
    assert_string_equal(error.suggestion, cases[i].suggestion);
    if (error.column != cases[i].column) fail_msg("%s: column %d", cases[i].text, error.column);
  }
  /* without a function that suggests */
  const poli_expression_names silent = {lookup, NULL, NULL};
  pol_expression *e;
  poli_expression_error error;
  assert_int_equal(poli_expression_compile(&e, "w", &silent, &error), POL_BAD_ARGUMENT);
  assert_string_equal(error.suggestion, "");
}

/* before, n times open, middle, n times close */
static pol_status compile_repeated(const char *before, const char *open, int n, const char *middle,
                                   const char *close, poli_expression_error *error)
{
  char *text = calloc(
           strlen(before) + strlen(middle) + 1 + (size_t)n * (strlen(open) + strlen(close)), 1),
       *end = text;
  assert_non_null(text);
  end += sprintf(end, "%s", before);
  for (int i = 0; i < n; i++) end += sprintf(end, "%s", open);
  end += sprintf(end, "%s", middle);
  for (int i = 0; i < n; i++) end += sprintf(end, "%s", close);
  pol_expression *e;
  const pol_status status = poli_expression_compile(&e, text, &names, error);
  poli_expression_free(&e);
  free(text);
  return status;
}

static void limits_are_kept(void **state)
{
  (void)state;
  poli_expression_error error;
  /* nesting: one level is the expression itself */
  assert_int_equal(compile_repeated("", "(", 63, "x", ")", &error), POL_OK);
  assert_int_equal(compile_repeated("", "(", 64, "x", ")", &error), POL_BAD_ARGUMENT);
  assert_string_equal(error.message, "is too deeply nested: more than 64 levels");
  assert_int_equal(error.column, 65);
  assert_int_equal(compile_repeated("", "(", 30000, "x", ")", &error), POL_BAD_ARGUMENT);
  assert_int_equal(compile_repeated("", "x^", 63, "x", "", &error), POL_OK);
  assert_int_equal(compile_repeated("", "x^", 64, "x", "", &error), POL_BAD_ARGUMENT);
  assert_int_equal(compile_repeated("", "x+x*(", 31, "x + x", ")", &error), POL_OK);
  assert_int_equal(compile_repeated("", "x+x*(", 32, "x + x", ")", &error), POL_BAD_ARGUMENT);
  assert_string_equal(error.message, "is too complex: more than 64 operands are pending");
  /* what is long but not deep */
  assert_int_equal(compile_repeated("", "-", 5000, "x", "+y", &error), POL_OK);
  assert_int_equal(compile_repeated("min(x", ",y", 5000, ")", "", &error), POL_OK);
  assert_int_equal(compile_repeated("x", " and y", 5000, "", "", &error), POL_OK);
  assert_int_equal(compile_repeated("", "not ", 5000, "y", "", &error), POL_OK);
  assert_int_equal(compile_repeated("", "x+", 32767, "x", "", &error), POL_OK);
  assert_int_equal(compile_repeated("", "x+", 32768, "x", "", &error), POL_BAD_ARGUMENT);
  assert_string_equal(error.message, "must not be longer than 65535 characters");
  /* names and numbers */
  assert_int_equal(compile_repeated("", "w", 127, "", "", &error), POL_BAD_ARGUMENT);
  assert_ptr_equal(strstr(error.message, "'www"), error.message);
  assert_non_null(strstr(error.message, "' is not a known name"));
  assert_int_equal(compile_repeated("", "w", 128, "", "", &error), POL_BAD_ARGUMENT);
  assert_string_equal(error.message, "a name must not be longer than 127 bytes");
  assert_int_equal(compile_repeated("'", "a.", 128, "'", "", &error), POL_BAD_ARGUMENT);
  assert_string_equal(error.message, "a name must not be longer than 127 bytes");
  assert_int_equal(compile_repeated("", "0", 127, "", "", &error), POL_OK);
  assert_int_equal(compile_repeated("", "0", 128, "", "", &error), POL_BAD_ARGUMENT);
  assert_string_equal(error.message, "a number must not be longer than 127 characters");
}

/* Compiles a text that may be anything; what can be compiled can be evaluated. */
static int try_text(const char *text)
{
  pol_expression *e;
  poli_expression_error error;
  const pol_status status = poli_expression_compile(&e, text, &names, &error);
  if (status) {
    assert_int_equal(status, POL_BAD_ARGUMENT);
    assert_null(e);
    assert_true(error.column >= 1 && error.column <= (int)strlen(text) + 1);
    assert_true(error.message[0] != '\0');
    return 0;
  }
  double *workspace = workspace_of(e), gradient[NUM_KNOWN];
  const double value = poli_expression_value(e, at, workspace);
  const double same = poli_expression_gradient(e, at, gradient, workspace);
  assert_true(value == same || (isnan(value) && isnan(same)));
  if (poli_expression_num_inputs(e) <= 1) poli_expression_in_time(e, 0.3, gradient, workspace);
  free(workspace);
  poli_expression_free(&e);
  return 1;
}

static void texts_without_sense_do_no_harm(void **state)
{
  (void)state;
  static const char *const words[] = {
      "1",     "x",    "y",     "t",      "2.5e-3",      "+",    "-",   "*",  "/",
      "^",     "(",    "(",     ")",      ")",           ",",    "<",   ">=", "==",
      "and ",  "or ",  "not ",  " ",      "if(",         "sin(", "'",   "pi", ".",
      "step(", "min(", "sqrt(", "clamp(", "hinge.angle", "mod(", "1/0", "e",  "!="};
  static char text[TEXT_SIZE];
  uint64_t seed = 17;
  int good = 0;
  /* any bytes, and words of the language in any order */
  for (int n = 0; n < 20000; n++) {
    const int length = random_below(&seed, n % 2 ? 40 : 12);
    text[0] = '\0';
    for (int i = 0; i < length; i++) {
      if (n % 2) {
        text[i] = (char)(1 + random_below(&seed, 255));
        text[i + 1] = '\0';
      } else {
        strcat(text, words[random_below(&seed, (int)(sizeof words / sizeof *words))]);
      }
    }
    good += try_text(text);
  }
  print_message("%d of 20000 make sense\n", good);
  assert_true(good > 100);
  /* right ones cut off, and with one byte changed */
  for (int n = 0; n < 100; n++) {
    random_expression(n, 3, at, text);
    const int length = (int)strlen(text);
    for (int k = 0; k < 20; k++) {
      const int place = random_below(&seed, length);
      const char kept = text[place];
      text[place] = (char)random_below(&seed, 256);
      try_text(text);
      text[place] = kept;
    }
    assert_int_equal(try_text(text), 1);
  }
}

/* Margins: differences of what is compared, in the order of the text; NaN in branches not taken. */
static void margins_are_differences(void **state)
{
  (void)state;
  static const struct {
    const char *text;
    int count;
    double margins[4];
  } cases[] = {
      {"x + sin(y) + abs(x)", 0, {0}},
      {"max(0, x)", 1, {-3.0}},
      {"2*min(x, y, z)", 2, {-2.0, -1.0}},
      {"clamp(x, y, z)", 2, {-2.0, -1.0}},
      {"if(x < y, max(z, 1), min(z, 2))", 3, {-2.0, 3.0, (double)NAN}},
      {"if(x >= y, max(z, 1), min(z, 2))", 3, {-2.0, (double)NAN, 2.0}},
      {"x > y and z > 0", 2, {-2.0, (double)NAN}},
      {"if(sqrt(-x), max(x, y), 0)", 1, {(double)NAN}},
  };
  const double x[NUM_KNOWN] = {3.0, 5.0, 4.0};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    pol_expression *e = compile(cases[i].text);
    double margins[4];
    assert_int_equal(poli_expression_num_margins(e), cases[i].count);
    poli_expression_margins(e, x, margins);
    for (int k = 0; k < cases[i].count; k++)
      assert_true(isnan(cases[i].margins[k]) ? isnan(margins[k])
                                             : margins[k] == cases[i].margins[k]);
    poli_expression_free(&e);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_are_those_of_c),
      cmocka_unit_test(margins_are_differences),
      cmocka_unit_test(used_inputs_are_listed_once),
      cmocka_unit_test(only_the_chosen_branch_counts),
      cmocka_unit_test(values_outside_the_domain_are_not_finite),
      cmocka_unit_test(random_values_and_gradients),
      cmocka_unit_test(random_time_derivatives),
      cmocka_unit_test(time_derivatives_have_closed_forms),
      cmocka_unit_test(steps_are_those_of_functions),
      cmocka_unit_test(gradients_are_finite_where_values_are),
      cmocka_unit_test(errors_name_place_token_and_rule),
      cmocka_unit_test(limits_are_kept),
      cmocka_unit_test(texts_without_sense_do_no_harm),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
