/* Expressions with every allocation made to fail, and that evaluating allocates nothing. */
#include "../failing_alloc.h"

#include <string.h>

#include "expression/expression.h"

static int lookup(const char *name, void *user)
{
  (void)user;
  return strlen(name) == 1 && *name >= 'a' && *name <= 'z' ? *name - 'a' : -1;
}

static const poli_expression_names names = {lookup, NULL, NULL};

static const char text[] = "if(a < b, sin(c) + step(t, 0, d, 1, e), min(f, g, h)^2)*i + j*k*l*m";

static pol_status attempt(void *user)
{
  pol_expression *e = NULL;
  poli_expression_error error;
  const pol_status status = poli_expression_compile(&e, user, &names, &error);
  assert_true((status == POL_OK) == (e != NULL));
  poli_expression_free(&e);
  return status;
}

static void compiling(void **state)
{
  (void)state;
  char short_text[] = "1", long_text[sizeof text];
  strcpy(long_text, text);
  assert_int_equal(alloc_exhaust(attempt, short_text), 3);
  assert_true(alloc_exhaust(attempt, long_text) > 3);
}

static void evaluating(void **state)
{
  (void)state;
  double x[26], gradient[26], workspace[400], value[3];
  for (int i = 0; i < 26; i++) x[i] = 0.1 * i;
  pol_expression *e = NULL, *of_time = NULL;
  poli_expression_error error;
  assert_int_equal(poli_expression_compile(&e, text, &names, &error), POL_OK);
  assert_int_equal(poli_expression_compile(&of_time, "t*sin(t)", &names, &error), POL_OK);
  assert_true(poli_expression_workspace(e) <= 400);
  alloc_fail_at(0);
  poli_expression_value(e, x, workspace);
  poli_expression_gradient(e, x, gradient, workspace);
  poli_expression_in_time(of_time, 0.5, value, workspace);
  assert_int_equal(alloc_count(), 0);
  poli_expression_free(&e);
  poli_expression_free(&of_time);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(compiling),
      cmocka_unit_test(evaluating),
  };
  return cmocka_run_group_tests(tests, alloc_install, NULL);
}
