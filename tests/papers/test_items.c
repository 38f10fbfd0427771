/* The fast items: all run, and keep the verdicts that docs/reproduce-verdicts.md has, with the
 * published numbers that were tested for them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/errors.h"
#include "papers/heavy_top.h"
#include "papers/page.h"
#include "papers/reproduce.h"

/* A whole file, which the caller frees. */
static char *read_all(const char *path)
{
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  char *text = calloc(1, 1 << 20);
  assert_non_null(text);
  assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
  assert_int_equal(fclose(file), 0);
  return text;
}

/* The line of an item, up to and with what was tested: not the reasons, whose numbers are those of
 * one machine. */
static char *line_of(const char *page, const char *id)
{
  char *start = poli_format("| `%s` |", id);
  const char *line = strstr(page, start), *end = line;
  if (line == NULL) fail_msg("%s has no verdict in the page", id);
  for (int i = 0; i < 4; i++) {
    end++;
    while (*end != '|' || end[-1] == '\\') end++;
  }
  free(start);
  return poli_format("%.*s", (int)(end - line), line);
}

/* A check that accepts numbers far from the published one tests little. */
static void expect_narrow_checks(const json_t *report)
{
  const json_t *checks = json_object_get(report, "checks");
  for (size_t i = 0; i < json_array_size(checks); i++) {
    const char *published = paper_json_text(json_array_get(checks, i), "published");
    const char *within = strstr(published, "(within ");
    if (within == NULL || strchr(within, '%') == NULL) continue;
    if (strtod(within + 8, NULL) > 20.0)
      fail_msg("%s: %s", paper_json_text(report, "id"), published);
  }
}

static void fast_items_keep_their_verdicts(void **state)
{
  (void)state;
  char *known = read_all(POLHODE_SOURCE_DIR "/docs/reproduce-verdicts.md");
  const paper_item *item;
  const paper_publication *paper;
  json_t *reports = json_array();
  for (int i = 0; (item = paper_item_at(i, &paper)) != NULL; i++) {
    paper_report *report;
    if (!item->fast) continue;
    assert_int_equal(paper_report_create(&report, paper, item, POLHODE_SOURCE_DIR, NULL), POL_OK);
    paper_report_run(report);
    assert_non_null(paper_report_json(report));
    assert_int_equal(json_array_append(reports, paper_report_json(report)), 0);
    paper_report_free(&report);
  }
  assert_true(json_array_size(reports) >= 60);
  assert_int_equal(paper_verdicts_write(reports, "items-verdicts.md"), POL_OK);
  char *ours = read_all("items-verdicts.md");
  for (size_t i = 0; i < json_array_size(reports); i++) {
    const char *id = paper_json_text(json_array_get(reports, i), "id");
    char *expected = line_of(known, id), *line = line_of(ours, id);
    assert_string_equal(line, expected);
    free(expected);
    free(line);
    expect_narrow_checks(json_array_get(reports, i));
  }
  free(ours);
  free(known);
  json_decref(reports);
}

/* The heavy top's reference against a run that is accurate to some 1e-6: position, velocities,
 * forces and residuals are all those of the same motion. */
static void compare_the_top(paper_report *r)
{
  paper_top top;
  paper_top_errors e;
  paper_top_read(r, &top);
  paper_top_run(r, &top, 0.05, &e, "models/holzinger-arnold-gerstmayr/heavy_top.json",
                "simulation.formulation=so3xr3-spatial simulation.start=perturbed "
                "simulation.rho_inf=0.9 simulation.step=%g simulation.end=0.1 "
                "simulation.newton={\"tolerance\":1e-10}",
                2.5e-5);
  assert_false(paper_report_failed(r));
  assert_int_equal(e.steps, 4000);
  assert_true(e.position > 0.0 && e.position < 1e-6);
  assert_true(e.rotation > 0.0 && e.rotation < 1e-5);
  assert_true(e.configuration >= e.rotation && e.parameters < e.configuration);
  assert_true(e.velocity < 1e-5 && e.velocity_global < 1e-5 && e.angular_velocity <= e.velocity);
  assert_true(e.multiplier < 1e-5 * e.largest_multiplier && e.largest_multiplier > 100.0 &&
              e.largest_velocity > 150.0);
  assert_true(e.position_residual < 1e-8 && e.iterations >= 1.0 && !e.stopped);
  paper_top_free(&top);
}

static void the_top_is_that_of_the_reference(void **state)
{
  (void)state;
  static const paper_publication paper = {.id = "test", .citation = "nobody"};
  static const paper_item item = {"test-top", "title", "published", 1, compare_the_top};
  paper_report *report;
  assert_int_equal(paper_report_create(&report, &paper, &item, POLHODE_SOURCE_DIR, NULL), POL_OK);
  paper_report_run(report);
  paper_report_free(&report);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fast_items_keep_their_verdicts),
      cmocka_unit_test(the_top_is_that_of_the_reference),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
