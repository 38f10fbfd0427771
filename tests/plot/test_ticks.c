/* Ranges and ticks: labels say where the ticks are, for ranges of all sizes and places. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "draw/plot/curve.h"
#include "draw/plot/text.h"

static poli_ticks ticks;

static void make(double lo, double hi, int log)
{
  poli_ticks_make(&ticks, (poli_range){lo, hi}, log, 400, 50, 0);
}

/* All labels, separated by blanks, with plain minus and times signs; then the offset in brackets.
 */
static const char *labels(void)
{
  static char text[2000];
  size_t used = 0;
  for (int i = 0; i <= ticks.count; i++) {
    const char *label = i < ticks.count ? ticks.label[i] : ticks.offset;
    if (i > 0) text[used++] = ' ';
    if (i == ticks.count) text[used++] = '[';
    for (const char *c = label; *c != '\0'; c++) {
      if (strncmp(c, POLI_MINUS, 3) == 0)
        text[used++] = '-', c += 2;
      else if (strncmp(c, POLI_TIMES, 2) == 0)
        text[used++] = '*', c += 1;
      else
        text[used++] = *c;
    }
  }
  text[used++] = ']';
  text[used] = '\0';
  return text;
}

static void steps_are_1_2_5(void **state)
{
  (void)state;
  make(0, 10, 0);
  assert_string_equal(labels(), "0 2 4 6 8 10 []");
  make(-1, 1, 0);
  assert_string_equal(labels(), "-1.0 -0.5 0.0 0.5 1.0 []");
  make(0.03, 0.97, 0);
  assert_string_equal(labels(), "0.2 0.4 0.6 0.8 []");
  make(0, 35000, 0);
  assert_string_equal(labels(), "0 5000 10000 15000 20000 25000 30000 35000 []");
}

static void a_common_power_is_left_out(void **state)
{
  (void)state;
  make(0, 4e-4, 0);
  assert_string_equal(labels(), "0 50 100 150 200 250 300 350 400 [*10^-6]");
  make(-3e6, 3e6, 0);
  assert_string_equal(labels(), "-3 -2 -1 0 1 2 3 [*10^6]");
}

static void a_common_constant_is_left_out(void **state)
{
  (void)state;
  make(5435.66, 5435.74, 0);
  assert_string_equal(labels(), "0.06 0.07 0.08 0.09 0.10 0.11 0.12 0.13 0.14 [+ 5435.6]");
  make(-1 - 3e-9, -1 + 1e-9, 0);
  assert_string_equal(labels(), "7.0 7.5 8.0 8.5 9.0 9.5 10.0 10.5 11.0 [*10^-9 - 1.00000001]");
  make(2e9, 2e9 + 10, 0);
  assert_string_equal(labels(), "0 2 4 6 8 10 [+ 2.00000000*10^9]");
}

static void logarithmic_axes_have_decades(void **state)
{
  (void)state;
  make(1e-3, 1e3, 1);
  assert_string_equal(labels(), "10^-3 10^-2 10^-1 10^0 10^1 10^2 10^3 []");
  assert_int_equal(ticks.num_minor, 6 * 8);
  make(1e-16, 1, 1);
  assert_string_equal(labels(), "10^-15 10^-12 10^-9 10^-6 10^-3 10^0 []");
  make(0.3, 7, 1);
  assert_string_equal(labels(), "0.5 1 2 5 []");
  make(0.6, 60, 1); /* two powers of ten are enough where the range is wide, */
  assert_string_equal(labels(), "10^0 10^1 []");
  make(0.8, 12, 1); /* but not where it is narrow, */
  assert_string_equal(labels(), "1 2 5 10 []");
  make(0.11, 9.9, 1); /* and one never is */
  assert_string_equal(labels(), "0.2 0.5 1 2 5 []");
  make(2e-7, 3e-6, 1);
  assert_string_equal(labels(), "2*10^-7 5*10^-7 10^-6 2*10^-6 []");
  make(3, 4, 1); /* no decade, no 1, 2, 5 */
  assert_string_equal(labels(), "3.0 3.2 3.4 3.6 3.8 4.0 []");
}

/* The number that a label means: itself times the power plus the constant of the offset. */
static double meaning(const char *label, const char *offset)
{
  char text[200];
  double factor = 1, constant = 0, sign = 1;
  size_t used = 0;
  snprintf(text, sizeof text, "%s", strncmp(label, POLI_MINUS, 3) == 0 ? label + 3 : label);
  const double value = (text[0] == label[0] ? 1 : -1) * strtod(text, NULL);
  for (const char *c = offset; *c != '\0'; c++) /* "x10^" becomes "e" */
    if (strncmp(c, POLI_TIMES "10^", 5) == 0)
      text[used++] = 'e', c += 4;
    else if (strncmp(c, POLI_MINUS, 3) == 0)
      text[used++] = '-', c += 2;
    else
      text[used++] = *c;
  text[used] = '\0';
  const char *rest = text;
  if (rest[0] == 'e') {
    char *end;
    factor = pow(10, (double)strtol(rest + 1, &end, 10));
    rest = *end == ' ' ? end + 1 : end;
  }
  if (rest[0] == '-') sign = -1;
  if (rest[0] != '\0') constant = sign * strtod(rest + 2, NULL);
  return value * factor + constant;
}

/* A number in [0, 1), the same in every run. */
static double next_number(void)
{
  static uint64_t seed = 1;
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return (double)(seed >> 11) / 9007199254740992.0;
}

static void labels_say_where_ticks_are(void **state)
{
  (void)state;
  for (int n = 0; n < 20000; n++) {
    const double size = pow(10, 560 * next_number() - 280);
    const double middle = (2 * next_number() - 1) * size;
    const double extent = size * pow(10, -13 * next_number());
    poli_range range = {middle - extent / 2, middle + extent / 2};
    poli_ticks_make(&ticks, range, 0, 400, 50, 0);
    assert_in_range(ticks.count, 2, 10);
    for (int i = 0; i < ticks.count; i++) {
      const double at = ticks.at[i], said = meaning(ticks.label[i], ticks.offset);
      if (!(at >= range.lo - 1e-5 * extent && at <= range.hi + 1e-5 * extent))
        fail_msg("%.17g is not in %.17g .. %.17g", at, range.lo, range.hi);
      if (!(fabs(said - at) <= 1e-6 * extent + 1e-15 * size))
        fail_msg("%.17g is labelled %s %s in %.17g .. %.17g", at, ticks.label[i], ticks.offset,
                 range.lo, range.hi);
      assert_true(i == 0 || strcmp(ticks.label[i], ticks.label[i - 1]) != 0);
    }
  }
}

static void labels_of_a_horizontal_axis_are_clear(void **state)
{
  (void)state;
  for (int n = 0; n < 2000; n++) {
    const double lo = 1e5 * next_number(), hi = lo + 1000 * next_number() + 1;
    poli_ticks_make(&ticks, (poli_range){lo, hi}, 0, 300, 20, 11);
    for (int i = 1; i < ticks.count; i++) {
      const double distance = 300 * (ticks.at[i] - ticks.at[i - 1]) / (hi - lo);
      const double width = fmax(poli_text_rich_width(ticks.label[i], 11),
                                poli_text_rich_width(ticks.label[i - 1], 11));
      assert_true(distance > width || ticks.count <= 3);
    }
  }
}

/* However low the axis is. */
static void a_scale_has_two_ticks(void **state)
{
  (void)state;
  poli_ticks_make(&ticks, (poli_range){-3.3e-12, 3.3e-12}, 0, 95, 26, 0);
  assert_int_equal(ticks.count, 3);
  assert_string_equal(ticks.label[2], "2");
  for (int n = 0; n < 2000; n++) {
    const double lo = 100 * next_number() - 50, hi = lo + 10 * next_number() + 0.01;
    poli_ticks_make(&ticks, (poli_range){lo, hi}, 0, 40 + 100 * next_number(), 26, 0);
    assert_in_range(ticks.count, 2, 8);
  }
}

static void ranges_can_always_be_drawn(void **state)
{
  (void)state;
  poli_range range = poli_range_empty();
  poli_range_finish(&range, 0, 0.05);
  assert_true(range.lo == 0 && range.hi == 1);
  range = poli_range_empty();
  poli_range_finish(&range, 1, 0);
  assert_true(range.lo == 1 && range.hi == 10);

  range = (poli_range){9.81, 9.81 * (1 + 1e-15)}; /* constant but for round-off */
  poli_range_finish(&range, 0, 0.05);
  assert_true(range.lo < 9 && range.hi > 10.5);
  range = (poli_range){0, 0};
  poli_range_finish(&range, 0, 0.05);
  assert_true(range.lo == -1 && range.hi == 1);

  range = (poli_range){1, 3};
  poli_range_finish(&range, 0, 0.25);
  assert_true(range.lo == 0.5 && range.hi == 3.5);
  range = (poli_range){1, 100};
  poli_range_finish(&range, 1, 0.5);
  assert_true(fabs(range.lo - 0.1) < 1e-12 && fabs(range.hi - 1000) < 1e-9);

  range = (poli_range){1e-300, 1e300};
  poli_range_finish(&range, 1, 0.05);
  assert_true(range.lo > 0 && isfinite(range.hi));
  poli_ticks_make(&ticks, range, 1, 400, 50, 0);
  assert_in_range(ticks.count, 2, 9);
}

static void values_that_axes_cannot_show(void **state)
{
  (void)state;
  assert_true(pol_axis_shows(-1, 0));
  assert_false(pol_axis_shows(-1, 1));
  assert_false(pol_axis_shows(0, 1));
  assert_false(pol_axis_shows(nan(""), 0));
  assert_false(pol_axis_shows(nan(""), 1));
  assert_false(pol_axis_shows(-HUGE_VAL, 0));
  assert_false(pol_axis_shows(HUGE_VAL, 1));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(steps_are_1_2_5),
      cmocka_unit_test(a_common_power_is_left_out),
      cmocka_unit_test(a_common_constant_is_left_out),
      cmocka_unit_test(logarithmic_axes_have_decades),
      cmocka_unit_test(labels_say_where_ticks_are),
      cmocka_unit_test(labels_of_a_horizontal_axis_are_clear),
      cmocka_unit_test(a_scale_has_two_ticks),
      cmocka_unit_test(ranges_can_always_be_drawn),
      cmocka_unit_test(values_that_axes_cannot_show),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
