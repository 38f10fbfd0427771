/* Units of expressions: what is known stays known, what may hide a unit is never wrong. */
#include "../check.h"

#include <stdlib.h>
#include <string.h>

#include "expression/expression_units.h"

static const char *const names[] = {"L", "m", "T", "x", "a"};
static const char *const declared[] = {"m", "kg", "s", NULL, "rad"};

static int look_up(const char *name, void *user)
{
  (void)user;
  for (int i = 0; i < 5; i++)
    if (strcmp(name, names[i]) == 0) return i;
  return -1;
}

/* The unit of a text; "any" and "pure" for the other kinds, the message of an error. */
static const char *unit_of(const char *text)
{
  static char result[200];
  const poli_expression_names known = {look_up, NULL, NULL};
  poli_expression_error error;
  pol_expression *program;
  poli_unit units[5], unit;
  for (int i = 0; i < 5; i++) {
    units[i] = (poli_unit){.kind = POLI_ANY_UNIT};
    if (declared[i]) assert_true(poli_unit_parse(declared[i], &units[i]));
  }
  assert_int_equal(poli_expression_compile(&program, text, &known, &error), POL_OK);
  const pol_status status = poli_expression_unit(program, units, &unit, result, sizeof result);
  poli_expression_free(&program);
  if (status != POL_OK) return result;
  if (unit.kind == POLI_ANY_UNIT) return "any";
  if (unit.kind == POLI_PURE_NUMBER) return "pure";
  poli_unit_text(&unit, result, sizeof result);
  return result;
}

static void expressions_have_units(void **state)
{
  (void)state;
  static const char *const cases[][2] = {
      {"L", "m"},
      {"2*L", "m"},
      {"2*pi*L", "m"},
      {"L/2 + 0.1", "m"},
      {"L^3", "m^3"},
      {"m/L^3", "kg/m^3"},
      {"m*L^2/T^2", "kg m^2/s^2"},
      {"1/T", "1/s"},
      {"sqrt(L*L)", "m"},
      {"L/L", "1"},
      {"2", "pure"},
      {"sin(a)", "pure"},
      {"L*sin(a)", "m"},
      {"9.81*m", "any"}, /* may be a force */
      {"x*L", "any"},
      {"L + x", "m"},
      {"L^x", "any"},
      {"if(x > 0, L, m)", "any"},
      {"max(L, 0.1)", "m"},
      {"L < 2", "pure"},
      {"L + m", "must not add m and kg"},
      {"L - T", "must not subtract m and s"},
      {"max(L, m)", "must not combine m and kg"},
      {"L < T", "must not compare m and s"},
      {"sin(L)", "must not take a function such as sin or exp of m"},
      {"L*L + L", "must not add m^2 and m"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_string_equal(unit_of(cases[i][0]), cases[i][1]);
}

static void texts_of_units(void **state)
{
  (void)state;
  static const char *const good[][2] = {
      {"N", "kg m/s^2"},      {"N s/m", "kg/s"}, {"kg m^2", "kg m^2"},  {"N m/rad", "kg m^2/s^2"},
      {"Pa", "kg/m s^2"},     {"1", "1"},        {"m s^-2", "m/s^2"},   {"W", "kg m^2/s^3"},
      {"J/m^2", "kg/s^2"},    {"Hz", "1/s"},     {"V A", "kg m^2/s^3"}, {"ohm A", "kg m^2/s^3 A"},
      {"W/m K", "kg m/s^3 K"}};
  static const char *const bad[] = {"", "mm", "m^", "m^12", "kg  m", "/s", "m ", "m*s", "newton"};
  poli_unit unit;
  char text[64];
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    assert_true(poli_unit_parse(good[i][0], &unit));
    poli_unit_text(&unit, text, sizeof text);
    assert_string_equal(text, good[i][1]);
  }
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    assert_false(poli_unit_parse(bad[i], &unit));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(expressions_have_units),
      cmocka_unit_test(texts_of_units),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
