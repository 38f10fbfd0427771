/* Reports when memory is out: every allocation fails once, nothing is left behind. */
#include "failing_alloc.h"

#include <string.h>

#include "papers/reproduce.h"

/* Of everything something. */
static void run_item(paper_report *r)
{
  const double h[2] = {0.1, 0.05};
  const paper_errors_of curve = {.label = "error", .error = {1e-2, 2.5e-3}};
  paper_run run;
  paper_run_model(r, &run, "models/examples/pendulum.json", "t|energy.total",
                  "simulation.step=0.1 simulation.end=0.3");
  paper_run_free(&run);
  paper_report_text(r, "text");
  paper_report_table(r, "table", "a|b");
  paper_report_row(r, "%d|%d", 1, 2);
  paper_report_errors(r, "errors", "caption", "error", h, 2, &curve, 1, (const double[]){2.0, 0.0});
  paper_check_near(r, "near", 2.0, 1.0, 0.1);
  paper_check_because(r, "why");
}

static pol_status attempt(void *user)
{
  static const paper_publication paper = {.id = "test", .citation = "nobody"};
  static const paper_item item = {"test-item", "title", "published", 1, run_item};
  paper_report *report;
  (void)user;
  if (paper_report_create(&report, &paper, &item, POLHODE_SOURCE_DIR, NULL) != POL_OK)
    return POL_NO_MEMORY;
  paper_report_run(report);
  const json_t *json = paper_report_json(report);
  const char *verdict = json_string_value(json_object_get(json, "verdict"));
  const pol_status status =
      json == NULL || strcmp(verdict, "differs") != 0 ? POL_NO_MEMORY : POL_OK;
  paper_report_free(&report);
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
