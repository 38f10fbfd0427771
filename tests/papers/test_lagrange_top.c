/* bs99 (papers/lagrange_top.h) on the top of Kinon/Betsch/Schneider 2023, section 6.2: step
 * vectors of an independent program, its order against the steady precession, what it keeps. */
#include "papers/lagrange_top.h"

#include <stdio.h>
#include <string.h>

#include "check.h"
#include "dae/quadratic.h"

static void start(paper_lagrange_top *top)
{
  double q[12], v[12], omega[3] = {0.0, 0.0, top_precession};
  top_solution(0.0, q, v);
  for (int i = 0; i < 3; i++) omega[i] += top_spin() * q[9 + i];
  *top = (paper_lagrange_top){.mass = top_mass,
                              .length = top_length,
                              .gravity = 9.81,
                              .inertia = top_inertia + top_mass * top_length * top_length};
  paper_lagrange_top_start(top, q + 9, omega, top_inertia);
}

/* The lines of bs99 in tests/data/ggl_steps.csv. */
static void it_follows_the_table(void **state)
{
  (void)state;
  FILE *file = fopen(POLHODE_SOURCE_DIR "/tests/data/ggl_steps.csv", "r");
  char text[2048], quantity[8];
  int steps = 0, lines = 0, n;
  double expected[3], p[3];
  paper_lagrange_top top;
  assert_non_null(file);
  start(&top);
  while (fgets(text, sizeof text, file)) {
    if (sscanf(text, "top,bs99,nan,nan,0.002,%d,%7[^,],0,%lf,%lf,%lf", &n, quantity, &expected[0],
               &expected[1], &expected[2]) != 5)
      continue;
    for (; steps < n; steps++) paper_lagrange_top_step(&top, 0.002);
    paper_lagrange_top_linear_momentum(&top, p);
    assert_near(quantity[0] == 'd'   ? top.axis
                : quantity[0] == 'm' ? top.momentum
                                     : p,
                expected, 3, 1e-12);
    lines++;
  }
  fclose(file);
  assert_int_equal(lines, 9);
}

static double along_axis(const paper_lagrange_top *top)
{
  double sum = 0.0;
  for (int i = 0; i < 3; i++) sum += top->axis[i] * top->momentum[i];
  return sum;
}

/* First order; the length of the axis and the momenta about the vertical and about the axis stay as
 * they are. */
static void it_is_of_first_order(void **state)
{
  (void)state;
  double error_q[3], error_p[3];
  for (int k = 0; k < 3; k++) {
    double q[12], v[12], p[3], h = 2e-4 / (double)(1 << k), vertical, spin, length = 0.0;
    paper_lagrange_top top;
    start(&top);
    vertical = top.momentum[2];
    spin = along_axis(&top);
    for (long n = 0; n < lround(0.1 / h); n++) paper_lagrange_top_step(&top, h);
    top_solution(0.1, q, v);
    paper_lagrange_top_linear_momentum(&top, p);
    error_q[k] = error_p[k] = 0.0;
    for (int i = 0; i < 3; i++) {
      error_q[k] = fmax(error_q[k], fabs(top_length * top.axis[i] - q[i]));
      error_p[k] = fmax(error_p[k], fabs(p[i] - top_mass * v[i]));
      length += top.axis[i] * top.axis[i];
    }
    assert_near(&length, &(double){1.0}, 1, 1e-12);
    assert_near(&top.momentum[2], &vertical, 1, 1e-15);
    assert_near(&(double){along_axis(&top)}, &spin, 1, 1e-13);
  }
  for (int k = 0; k < 2; k++) {
    assert_near(&(double){log2(error_q[k] / error_q[k + 1])}, &(double){1.0}, 1, 0.2);
    assert_near(&(double){log2(error_p[k] / error_p[k + 1])}, &(double){1.0}, 1, 0.2);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(it_follows_the_table),
      cmocka_unit_test(it_is_of_first_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
