/* Figures when memory is out: every allocation fails once, nothing is left behind. */
#include "failing_alloc.h"

#include <math.h>
#include <stdio.h>

#include <polhode/plot.h>

enum { COUNT = 12000 };

static double t[COUNT], x[COUNT], y[2][COUNT];

static pol_figure make_figure(void)
{
  static pol_series series[2];
  static pol_panel panels[2];
  for (int i = 0; i < COUNT; i++) {
    t[i] = i;
    y[0][i] = i % 2; /* its legend goes beside: curves are made twice */
    x[i] = i % 173;  /* back and forth: lines that are covered are left out */
    y[1][i] = i % 50 ? sin(0.1 * i) : (double)NAN;
  }
  for (int k = 0; k < 2; k++) {
    series[k] = (pol_series){.x = k == 0 ? t : x, .y = y[k], .count = COUNT, .label = "series"};
    panels[k] = pol_panel_default();
    panels[k].series = &series[k];
    panels[k].num_series = 1;
  }
  pol_figure figure = pol_figure_default();
  figure.panels = panels;
  figure.num_panels = 2;
  return figure;
}

static pol_status attempt_svg(void *user)
{
  char *text;
  pol_status status = pol_figure_svg(user, &text);
  assert_true((text != NULL) == (status == POL_OK));
  free(text);
  return status;
}

static pol_status attempt_png(void *user)
{
  return pol_figure_write(user, "alloc.png");
}

static void every_failure_is_told(void **state)
{
  (void)state;
  pol_figure figure = make_figure();
  assert_in_range(alloc_exhaust(attempt_svg, &figure), 10, 200);
  assert_in_range(alloc_exhaust(attempt_png, &figure), 8, 200);
  remove("alloc.png");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_failure_is_told),
  };
  return cmocka_run_group_tests(tests, alloc_install, NULL);
}
