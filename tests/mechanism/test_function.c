/* Functions of time: their derivatives against finite differences, their ends, their rules. */
#include <string.h>

#include "check.h"
#include "mechanism/function.h"

static const double coefficients[] = {0.3, -1.2, 0.7, 0.25, -0.1};
static const double times[] = {-0.5, 0.2, 0.9, 1.1, 2.4};
static const double heights[] = {0.4, -0.3, 1.2, 0.9, 0.1};

static const pol_function functions[] = {
    {.type = POL_CONSTANT, .offset = 0.7},
    {.type = POL_HARMONIC, .offset = 0.2, .amplitude = 1.3, .frequency = 0.4, .phase = 0.5},
    {.type = POL_POLYNOMIAL, .count = 5, .values = coefficients},
    {.type = POL_STEP, .from = 0.5, .to = -1.5, .t0 = 0.25, .t1 = 1.5},
    {.type = POL_SPEED, .offset = 0.1, .from = 0.5, .to = -1.5, .t0 = 0.25, .t1 = 1.5},
    {.type = POL_TABLE, .count = 5, .values = heights, .times = times},
    {.type = POL_TABLE,
     .count = 5,
     .values = heights,
     .times = times,
     .clamped = 1,
     .slopes = {0.3, -0.8}},
    {.type = POL_TABLE, .count = 2, .values = heights, .times = times},
    {.type = POL_EXPRESSION, .expression = "0.3*exp(-t)*sin(2*pi*0.4*t) + sqrt(2 + t)"},
};
enum { NUM_FUNCTIONS = sizeof functions / sizeof *functions };

static double value_at(const pol_function *f, double t, int derivative)
{
  double value[3];
  poli_function_value(f, t, value);
  return value[derivative];
}

/* The status that adding an element with this function would have. */
static pol_status copy_function(const pol_function *from, pol_function *to)
{
  pol_errors errors = {0};
  poli_rules check = {.element = POLI_DRIVES, .inside = "", .errors = &errors, .relative = 1};
  poli_function_copy(&check, "function", from, to);
  if (check.broken) poli_function_release(to);
  pol_errors_clear(&errors);
  return check.broken ? POL_BAD_ARGUMENT : check.status;
}

static void derivatives_match_finite_differences(void **state)
{
  (void)state;
  static const double s = 1e-3, offsets[4] = {2.0, 1.0, -1.0, -2.0};
  for (int k = 0; k < NUM_FUNCTIONS; k++) {
    pol_function f;
    assert_int_equal(copy_function(&functions[k], &f), POL_OK);
    for (double t = -1.013; t < 3.0; t += 0.117)
      for (int d = 0; d < 2; d++) {
        double samples[4];
        for (int i = 0; i < 4; i++) samples[i] = value_at(&f, t + offsets[i] * s, d);
        assert_near(&(double){value_at(&f, t, d + 1)}, &(double){difference(samples, s)}, 1, 1e-9);
      }
    poli_function_release(&f);
  }
}

/* A step and a speed have two continuous derivatives, a spline too, at their own times. */
static void pieces_join_smoothly(void **state)
{
  (void)state;
  for (int k = 3; k < NUM_FUNCTIONS; k++) {
    pol_function f;
    assert_int_equal(copy_function(&functions[k], &f), POL_OK);
    int is_table = f.type == POL_TABLE, count = is_table ? f.count : 2;
    for (int i = 0; i < count; i++) {
      double t = is_table ? f.times[i] : i == 0 ? f.t0 : f.t1, e = 1e-10, before[3], after[3];
      int end = i == 0 || i == count - 1, derivatives = f.clamped && end ? 2 : 3;
      poli_function_value(&f, t - e, before);
      poli_function_value(&f, t + e, after);
      assert_near(before, after, derivatives, 1e-7);
    }
    poli_function_release(&f);
  }
}

static void ends_have_the_given_values(void **state)
{
  (void)state;
  pol_function step, speed, natural, clamped;
  assert_int_equal(copy_function(&functions[3], &step), POL_OK);
  assert_int_equal(copy_function(&functions[4], &speed), POL_OK);
  assert_int_equal(copy_function(&functions[5], &natural), POL_OK);
  assert_int_equal(copy_function(&functions[6], &clamped), POL_OK);
  assert_near(&(double){value_at(&step, 0.1, 0)}, &(double){0.5}, 1, 0.0);
  assert_near(&(double){value_at(&step, 9.0, 0)}, &(double){-1.5}, 1, 1e-15);
  assert_near(&(double){value_at(&speed, 0.0, 0)}, &(double){0.1}, 1, 0.0);
  assert_near(&(double){value_at(&speed, 9.0, 1)}, &(double){-1.5}, 1, 1e-15);
  for (int i = 0; i < 5; i++) {
    assert_near(&(double){value_at(&natural, times[i], 0)}, &heights[i], 1, 1e-15);
    assert_near(&(double){value_at(&clamped, times[i], 0)}, &heights[i], 1, 1e-15);
  }
  assert_near(&(double){value_at(&natural, times[0], 2)}, &(double){0.0}, 1, 1e-14);
  assert_near(&(double){value_at(&natural, times[4], 2)}, &(double){0.0}, 1, 1e-14);
  assert_near(&(double){value_at(&clamped, times[0], 1)}, &(double){0.3}, 1, 1e-14);
  assert_near(&(double){value_at(&clamped, times[4], 1)}, &(double){-0.8}, 1, 1e-14);
  poli_function_release(&step);
  poli_function_release(&speed);
  poli_function_release(&natural);
  poli_function_release(&clamped);
}

/* Text and program are copies: the original may go. */
static void expressions_are_owned(void **state)
{
  (void)state;
  char text[] = "0.2 + 1.3*sin(2*pi*0.4*t + 0.5)";
  pol_function given = {.type = POL_EXPRESSION, .expression = text}, f;
  assert_int_equal(copy_function(&given, &f), POL_OK);
  text[0] = '9';
  assert_string_equal(f.expression, "0.2 + 1.3*sin(2*pi*0.4*t + 0.5)");
  for (double t = 0.0; t < 3.0; t += 0.1) {
    double value[3], expected[3];
    poli_function_value(&f, t, value);
    poli_function_value(&functions[1], t, expected);
    assert_near(value, expected, 3, 1e-14);
  }
  poli_function_release(&f);
  assert_null(f.expression);
  assert_null(f.program);
}

/* A clamped spline is exact for a cubic. */
static void splines_reproduce_cubics(void **state)
{
  (void)state;
  double values[5];
  for (int i = 0; i < 5; i++) values[i] = 1.0 + times[i] * times[i] * (times[i] - 2.0);
  pol_function table = {.type = POL_TABLE,
                        .count = 5,
                        .times = times,
                        .values = values,
                        .clamped = 1,
                        .slopes = {3.0 * 0.25 + 2.0, 3.0 * 5.76 - 4.0 * 2.4}},
               f;
  assert_int_equal(copy_function(&table, &f), POL_OK);
  for (double t = -0.45; t < 2.4; t += 0.1) {
    double expected[3] = {1.0 + t * t * (t - 2.0), 3.0 * t * t - 4.0 * t, 6.0 * t - 4.0}, value[3];
    poli_function_value(&f, t, value);
    assert_near(value, expected, 3, 1e-13);
  }
  poli_function_release(&f);
}

static void functions_without_sense_are_refused(void **state)
{
  (void)state;
  static const double back[] = {0.0, 1.0, 1.0}, infinite[] = {0.0, HUGE_VAL};
  static const double steep[] = {0.0, 1e300, -1e300}, close[] = {0.0, 1e-5, 2e-5};
  const pol_function wrong[] = {
      {.type = (pol_function_type)99},
      {.type = POL_CONSTANT, .offset = HUGE_VAL},
      {.type = POL_STEP, .t0 = 1.0, .t1 = 1.0},
      {.type = POL_SPEED, .t0 = 1.0, .t1 = 0.5},
      {.type = POL_POLYNOMIAL, .count = 0, .values = coefficients},
      {.type = POL_POLYNOMIAL, .count = 2, .values = infinite},
      {.type = POL_TABLE, .count = 1, .values = heights, .times = times},
      {.type = POL_TABLE, .count = 3, .values = heights, .times = back},
      {.type = POL_TABLE, .count = 2, .values = heights, .times = infinite},
      {.type = POL_TABLE, .count = 3, .values = steep, .times = close},
      {.type = POL_EXPRESSION},
      {.type = POL_EXPRESSION, .expression = "sin(x)"},
      {.type = POL_EXPRESSION, .expression = "sin(t"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    pol_function f;
    assert_int_equal(copy_function(&wrong[i], &f), POL_BAD_ARGUMENT);
  }
  assert_null(pol_function_type_name((pol_function_type)99));
  assert_string_equal(pol_function_type_name(POL_SPEED), "speed");
  assert_string_equal(pol_function_type_name(POL_EXPRESSION), "expression");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_match_finite_differences),
      cmocka_unit_test(pieces_join_smoothly),
      cmocka_unit_test(ends_have_the_given_values),
      cmocka_unit_test(expressions_are_owned),
      cmocka_unit_test(splines_reproduce_cubics),
      cmocka_unit_test(functions_without_sense_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
