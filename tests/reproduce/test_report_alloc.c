/* Reports when memory is out: every allocation fails once, nothing is left behind. */
#include "failing_alloc.h"

#include <string.h>

#include "reproduce/reproduce.h"

/* Of everything something. */
static void run_item(pol_report *r)
{
  const double h[2] = {0.1, 0.05};
  const pol_errors_of curve = {.label = "error", .error = {1e-2, 2.5e-3}};
  pol_run run;
  pol_run_model(r, &run, "models/examples/pendulum.json", "t|energy.total",
                "simulation.step=0.1 simulation.end=0.3");
  pol_run_free(&run);
  pol_report_text(r, "text");
  pol_report_table(r, "table", "a|b");
  pol_report_row(r, "%d|%d", 1, 2);
  pol_report_errors(r, "errors", "caption", "error", h, 2, &curve, 1, (const double[]){2.0, 0.0});
  pol_check_near(r, "near", 2.0, 1.0, 0.1);
  pol_check_because(r, "why");
}

static pol_status attempt(void *user)
{
  static const pol_paper paper = {.id = "test", .citation = "nobody"};
  static const pol_item item = {"test-item", "title", "published", 1, run_item};
  pol_report *report;
  (void)user;
  if (pol_report_create(&report, &paper, &item, POLHODE_SOURCE_DIR, NULL) != POL_OK)
    return POL_NO_MEMORY;
  pol_report_run(report);
  const json_t *json = pol_report_json(report);
  const char *verdict = json_string_value(json_object_get(json, "verdict"));
  const pol_status status =
      json == NULL || strcmp(verdict, "differs") != 0 ? POL_NO_MEMORY : POL_OK;
  pol_report_free(&report);
  return status;
}

static void every_failure_is_told(void **state)
{
  (void)state;
  assert_true(alloc_exhaust(attempt, NULL) > 100);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_failure_is_told),
  };
  return cmocka_run_group_tests(tests, alloc_install, NULL);
}
