/* Expressions: compiles the text and evaluates it in each way, with numbers that are ordinary,
 * zero, huge and not finite. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "expression/expression.h"
#include "sandbox.h"

static const char *const names[] = {"t", "x", "y", "hinge.angle", "left arm.position.x", "f_1"};
enum { NUM_NAMES = sizeof names / sizeof names[0] };

static int lookup(const char *name, void *user)
{
  (void)user;
  for (int i = 0; i < NUM_NAMES; i++)
    if (strcmp(name, names[i]) == 0) return i;
  return -1;
}

/* The same for a finite number, or both not. */
static int agree(double a, double b)
{
  return a == b || (!isfinite(a) && !isfinite(b));
}

static void evaluate(const pol_expression *expression)
{
  static const double points[][NUM_NAMES] = {
      {0.0},
      {0.5, -1.25, 3.0, 0.1, 2.0, -7.0},
      {1.0, 1.0, 1.0, 1.0, 1.0, 1.0},
      {1e300, -1e300, 1e-300, 1e18, -1e10, 1e308},
      {-0.0, (double)INFINITY, -(double)INFINITY, (double)NAN, 1.0, 0.0},
  };
  const int count = poli_expression_num_inputs(expression);
  const int *inputs = poli_expression_inputs(expression);
  const size_t room = poli_expression_workspace(expression);
  double *workspace = malloc((room + 1) * sizeof *workspace), gradient[NUM_NAMES];
  FUZZ_REQUIRE(workspace != NULL && count >= 0 && count <= NUM_NAMES);
  for (int k = 0; k < count; k++) {
    FUZZ_REQUIRE(inputs[k] >= 0 && inputs[k] < NUM_NAMES);
    FUZZ_REQUIRE(k == 0 || inputs[k - 1] < inputs[k]);
  }
  for (size_t p = 0; p < sizeof points / sizeof points[0]; p++) {
    const double value = poli_expression_value(expression, points[p], workspace);
    FUZZ_REQUIRE(
        agree(value, poli_expression_gradient(expression, points[p], gradient, workspace)));
    if (count == 0 || (count == 1 && inputs[0] == 0)) {
      double time[3], small[3 * POLI_EXPRESSION_DEPTH];
      poli_expression_in_time(expression, points[p][0], time, small);
      FUZZ_REQUIRE(agree(value, time[0]));
      if (count == 0) FUZZ_REQUIRE(!isfinite(time[0]) || (time[1] == 0.0 && time[2] == 0.0));
    }
  }
  free(workspace);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
  (void)argc, (void)argv;
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  fuzz_start_clock();
  char *text = fuzz_text(data, size);
  pol_expression *expression = NULL;
  poli_expression_error error = {0};
  const poli_expression_names known = {lookup, NULL, NULL};
  const pol_status status = poli_expression_compile(&expression, text, &known, &error);
  if (status == POL_OK) {
    evaluate(expression);
  } else {
    FUZZ_REQUIRE(status == POL_BAD_ARGUMENT && expression == NULL);
    FUZZ_REQUIRE(error.column >= 1 && (size_t)error.column <= size + 1);
    FUZZ_REQUIRE(error.message[0] != '\0');
  }
  poli_expression_free(&expression);
  free(text);
  return 0;
}
