/* The items of Arnold/Cardona/Bruels 2015 and Bruels/Cardona 2010 that take less than a second,
 * with their verdicts, and the helpers they measure with. */
#include <string.h>

#include "check.h"
#include "papers/top_history.h"

static paper_report *new_report(const paper_publication *paper, const paper_item *item)
{
  paper_report *report;
  assert_int_equal(paper_report_create(&report, paper, item, POLHODE_SOURCE_DIR, NULL), POL_OK);
  return report;
}

/* Between the points of the grid the solution keeps the energy and the angular momentum about the
 * vertical, as it does there. */
static void the_exact_top_keeps_its_invariants(void **state)
{
  (void)state;
  static const double J[3] = {15.234375, 0.46875, 15.234375};
  paper_report *report = new_report(&paper_arnold2015, &paper_arnold2015.items[0]);
  paper_top top;
  double first[2] = {0.0, 0.0};
  paper_top_read(report, &top);
  assert_non_null(top.grid);
  for (int n = 0; n < 4 * (PAPER_TOP_GRID - 1); n += 7) {
    paper_top_state s, on_grid;
    paper_top_exact_at(&top, 1.25e-4 * n, &s);
    const double *w = s.angular_velocity;
    const double now[2] = {0.5 * (J[0] * w[0] * w[0] + J[1] * w[1] * w[1] + J[2] * w[2] * w[2]) +
                               15.0 * 9.81 * s.position[2],
                           s.rotation[6] * J[0] * w[0] + s.rotation[7] * J[1] * w[1] +
                               s.rotation[8] * J[2] * w[2]};
    if (n == 0) memcpy(first, now, sizeof first);
    assert_near(now, first, 2, 1e-8);
    if (n % 4 != 0) continue;
    paper_top_exact(&top, n / 4, &on_grid);
    assert_near(s.quaternion, on_grid.quaternion, 4, 1e-15);
  }
  paper_top_free(&top);
  paper_report_free(&report);
}

static void ripple_is_the_alternating_part(void **state)
{
  (void)state;
  double y[40];
  for (int n = 0; n < 40; n++) y[n] = 3.0 + 0.5 * n + (n % 2 ? -0.25 : 0.25);
  assert_near(&(double){paper_largest_ripple(y, 0, 40)}, &(double){0.25}, 1, 1e-14);
  for (int n = 0; n < 40; n++) y[n] = sin(0.15 * n);
  assert_true(paper_largest_ripple(y, 0, 40) < 4e-5); /* (0.15/2)^4 = 3.2e-5 */
}

/* The columns belong together: the constraint is kept, its rate is that of the positions, and the
 * errors are of the size that the method has with this step. */
static void a_history_is_that_of_the_run(void **state)
{
  (void)state;
  const paper_top_setup setup = {"so3xr3", "stabilized-2", "shifted", 1e-3, 0.2};
  paper_report *report = new_report(&paper_arnold2015, &paper_arnold2015.items[0]);
  paper_top top;
  paper_top_history h;
  paper_top_read(report, &top);
  paper_top_history_run(report, &top, &setup, &h);
  assert_false(paper_report_failed(report));
  assert_int_equal(h.count, 201);
  assert_int_equal(paper_top_history_rows(&h, 0.1), 101);
  assert_true(paper_largest_norm(h.gap, 0, h.count) < 1e-12);
  assert_true(paper_largest_norm(h.gap_rate, 0, h.count) < 1e-9);
  assert_true(paper_largest_norm(h.eta, 0, h.count) > 1e-3);
  for (long n = 1; n < h.count; n++) {
    double speed[2] = {0.0, 0.0};
    for (int i = 0; i < 3; i++) {
      speed[0] += pow(h.velocity[i][n], 2);
      speed[1] += pow(h.velocity_body[i][n], 2);
    }
    assert_near(&speed[0], &speed[1], 1, 1e-9);
    assert_true(h.error[0][n] > 0.0 && h.error[0][n] < 1e-2);
    assert_true(h.error[1][n] > 0.0 && h.error[1][n] < 1e-3);
    assert_true(h.error[2][n] > 0.0 && h.error[2][n] < 3e-3);
  }
  paper_top_history_free(&h);
  paper_top_free(&top);
  paper_report_free(&report);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_exact_top_keeps_its_invariants),
      cmocka_unit_test(ripple_is_the_alternating_part),
      cmocka_unit_test(a_history_is_that_of_the_run),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
