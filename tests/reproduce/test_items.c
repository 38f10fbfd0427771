/* The fast items: all run, and those that are known to be reproduced stay so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "reproduce/heavy_top.h"
#include "reproduce/reproduce.h"

/* Of the fast ones; their verdicts depend on nothing but the code. */
static const char *const known_to_differ[] = {"arnold2015-fig10", "arnold2015-fig15",
                                              "holzinger-sigma-table1", "kinon2023-fig05"};

static int is_known_to_differ(const char *id)
{
  for (size_t i = 0; i < sizeof known_to_differ / sizeof known_to_differ[0]; i++)
    if (strcmp(known_to_differ[i], id) == 0) return 1;
  return 0;
}

static void fast_items_keep_their_verdicts(void **state)
{
  (void)state;
  const pol_item *item;
  const pol_paper *paper;
  int count = 0;
  for (int i = 0; (item = pol_item_at(i, &paper)) != NULL; i++) {
    pol_report *report;
    if (!item->fast) continue;
    assert_int_equal(pol_report_create(&report, paper, item, POLHODE_SOURCE_DIR, NULL), POL_OK);
    pol_report_run(report);
    const json_t *json = pol_report_json(report);
    assert_non_null(json);
    const char *verdict = json_string_value(json_object_get(json, "verdict"));
    const char *expected = is_known_to_differ(item->id) ? "differs" : "reproduced";
    if (strcmp(verdict, expected) != 0)
      fail_msg("%s: %s, not %s: %s", item->id, verdict, expected,
               json_string_value(json_object_get(json, "reason")));
    pol_report_free(&report);
    count++;
  }
  assert_true(count >= 5);
}

/* The heavy top's reference against a run that is accurate to some 1e-6: position, velocities,
 * forces and residuals are all those of the same motion. */
static void compare_the_top(pol_report *r)
{
  pol_top top;
  pol_top_errors e;
  pol_top_read(r, &top);
  pol_top_run(r, &top, 0.05, &e, "models/holzinger-arnold-gerstmayr/heavy_top.json",
              "simulation.formulation=so3xr3-spatial simulation.start=perturbed "
              "simulation.rho_inf=0.9 simulation.step=%g simulation.end=0.1 "
              "simulation.newton={\"tolerance\":1e-10}",
              2.5e-5);
  assert_false(pol_report_failed(r));
  assert_int_equal(e.steps, 4000);
  assert_true(e.position > 0.0 && e.position < 1e-6);
  assert_true(e.rotation > 0.0 && e.rotation < 1e-5);
  assert_true(e.configuration >= e.rotation && e.parameters < e.configuration);
  assert_true(e.velocity < 1e-5 && e.velocity_global < 1e-5 && e.angular_velocity <= e.velocity);
  assert_true(e.multiplier < 1e-5 * e.largest_multiplier && e.largest_multiplier > 100.0 &&
              e.largest_velocity > 150.0);
  assert_true(e.position_residual < 1e-8 && e.iterations >= 1.0 && !e.stopped);
  pol_top_free(&top);
}

static void the_top_is_that_of_the_reference(void **state)
{
  (void)state;
  static const pol_paper paper = {.id = "test", .citation = "nobody"};
  static const pol_item item = {"test-top", "title", "published", 1, compare_the_top};
  pol_report *report;
  assert_int_equal(pol_report_create(&report, &paper, &item, POLHODE_SOURCE_DIR, NULL), POL_OK);
  pol_report_run(report);
  pol_report_free(&report);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fast_items_keep_their_verdicts),
      cmocka_unit_test(the_top_is_that_of_the_reference),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
