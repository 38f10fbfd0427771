/* The items of Arnold/Cardona/Bruels 2015 and Bruels/Cardona 2010 that take less than a second,
 * with their verdicts, and the helpers they measure with. */
#include <string.h>

#include "check.h"
#include "reproduce/top_history.h"

/* --- helpers ---------------------------------------------------------------------------------- */

static pol_report *new_report(const pol_paper *paper, const pol_item *item)
{
  pol_report *report;
  assert_int_equal(pol_report_create(&report, paper, item, POLHODE_SOURCE_DIR, NULL), POL_OK);
  return report;
}

/* Between the points of the grid the solution keeps the energy and the angular momentum about the
 * vertical, as it does there. */
static void the_exact_top_keeps_its_invariants(void **state)
{
  (void)state;
  static const double J[3] = {15.234375, 0.46875, 15.234375};
  pol_report *report = new_report(&pol_paper_arnold2015, &pol_paper_arnold2015.items[0]);
  pol_top top;
  double first[2] = {0.0, 0.0};
  pol_top_read(report, &top);
  assert_non_null(top.grid);
  for (int n = 0; n < 4 * (POL_TOP_GRID - 1); n += 7) {
    pol_top_state s, on_grid;
    pol_top_exact_at(&top, 1.25e-4 * n, &s);
    const double *w = s.angular_velocity;
    const double now[2] = {0.5 * (J[0] * w[0] * w[0] + J[1] * w[1] * w[1] + J[2] * w[2] * w[2]) +
                               15.0 * 9.81 * s.position[2],
                           s.rotation[6] * J[0] * w[0] + s.rotation[7] * J[1] * w[1] +
                               s.rotation[8] * J[2] * w[2]};
    if (n == 0) memcpy(first, now, sizeof first);
    assert_near(now, first, 2, 1e-8);
    if (n % 4 != 0) continue;
    pol_top_exact(&top, n / 4, &on_grid);
    assert_near(s.quaternion, on_grid.quaternion, 4, 1e-15);
  }
  pol_top_free(&top);
  pol_report_free(&report);
}

static void ripple_is_the_alternating_part(void **state)
{
  (void)state;
  double y[40];
  for (int n = 0; n < 40; n++) y[n] = 3.0 + 0.5 * n + (n % 2 ? -0.25 : 0.25);
  assert_near(&(double){pol_largest_ripple(y, 0, 40)}, &(double){0.25}, 1, 1e-14);
  for (int n = 0; n < 40; n++) y[n] = sin(0.15 * n);
  assert_true(pol_largest_ripple(y, 0, 40) < 4e-5); /* (0.15/2)^4 = 3.2e-5 */
}

/* --- items ------------------------------------------------------------------------------------ */

/* What is known to differ. */
static const char *expected(const char *id)
{
  return strcmp(id, "arnold2015-fig10") == 0 || strcmp(id, "arnold2015-fig15") == 0 ? "differs"
                                                                                    : "reproduced";
}

static void check_items(const pol_paper *paper, int least)
{
  int count = 0;
  for (int i = 0; i < paper->num_items; i++) {
    const pol_item *item = &paper->items[i];
    if (!item->fast) continue;
    pol_report *report = new_report(paper, item);
    pol_report_run(report);
    const json_t *json = pol_report_json(report);
    const char *verdict = json_string_value(json_object_get(json, "verdict"));
    if (strcmp(verdict, expected(item->id)) != 0)
      fail_msg("%s: %s: %s", item->id, verdict, json_string_value(json_object_get(json, "reason")));
    pol_report_free(&report);
    count++;
  }
  assert_int_equal(paper->num_items, paper->catalogued);
  assert_true(count >= least);
}

static void arnold_2015(void **state)
{
  (void)state;
  check_items(&pol_paper_arnold2015, 10);
}

static void bruels_2010(void **state)
{
  (void)state;
  check_items(&pol_paper_bruels2010, 3);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_exact_top_keeps_its_invariants),
      cmocka_unit_test(ripple_is_the_alternating_part),
      cmocka_unit_test(arnold_2015),
      cmocka_unit_test(bruels_2010),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
