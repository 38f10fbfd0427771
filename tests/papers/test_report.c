/* Reports: verdicts follow from checks, items fail without harm, the catalogue is in order. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "papers/page.h"
#include "papers/reproduce.h"

/* Runs a function as an item; the caller frees the report. */
static paper_report *report_of(void (*run)(paper_report *report))
{
  static const paper_publication paper = {.id = "test", .citation = "nobody"};
  static paper_item item;
  paper_report *report;
  item = (paper_item){"test-item", "title", "published", 1, run};
  assert_int_equal(paper_report_create(&report, &paper, &item, POLHODE_SOURCE_DIR, NULL), POL_OK);
  paper_report_run(report);
  return report;
}

static const char *text_at(const paper_report *report, const char *key)
{
  return json_string_value(json_object_get(paper_report_json(report), key));
}

/* That a function gets this verdict, and a reason with these words. */
static void expect(void (*run)(paper_report *report), const char *verdict, const char *reason)
{
  paper_report *report = report_of(run);
  assert_string_equal(text_at(report, "verdict"), verdict);
  if (strstr(text_at(report, "reason"), reason) == NULL)
    fail_msg("no \"%s\" in: %s", reason, text_at(report, "reason"));
  paper_report_free(&report);
}

/* --- verdicts --------------------------------------------------------------------------------- */

static void all_pass(paper_report *r)
{
  assert_true(paper_check_near(r, "near", 1.009, 1.0, 0.01));
  assert_true(paper_check_near(r, "zero", 1e-12, 0.0, 1e-11));
  assert_true(paper_check_range(r, "range", 2.0, 1.0, 3.0, "about two"));
  assert_true(paper_check_digits(r, "digits", 0.07719, 7.72e-2, 3));
  assert_true(paper_check_digits(r, "digits", -1.4951, -1.5, 2));
  assert_true(paper_check_among(r, "lowest", 170.0, 181.0, 170.0, 0.0));
  assert_true(paper_check_among(r, "highest", 160.0, 170.0, 170.0, 0.0));
  assert_true(paper_check_among(r, "a little less", 2.0, 3.0, 1.75, 0.25));
  assert_true(paper_check_among(r, "a little more", 2.0, 3.0, 3.25, 0.25));
  assert_true(paper_check_true(r, "statement", 1, "%d is more than %d", 2, 1));
}

static void each_fails(paper_report *r)
{
  assert_false(paper_check_near(r, "near", 1.011, 1.0, 0.01));
  assert_false(paper_check_near(r, "nan", (double)NAN, 1.0, 0.01));
  assert_false(paper_check_range(r, "range", 3.1, 1.0, 3.0, "about two"));
  assert_false(paper_check_range(r, "nan", (double)NAN, 1.0, 3.0, "about two"));
  assert_false(paper_check_digits(r, "digits", 0.07714, 7.72e-2, 3));
  assert_false(paper_check_among(r, "below", 171.0, 181.0, 170.0, 0.0));
  assert_false(paper_check_among(r, "above", 160.0, 169.0, 170.0, 0.0));
  assert_false(paper_check_among(r, "nan", (double)NAN, 181.0, 170.0, 0.0));
  assert_false(paper_check_among(r, "less", 2.0, 3.0, 1.5, 0.25));
  assert_false(paper_check_among(r, "more", 2.0, 3.0, 3.5, 0.25));
  assert_false(paper_check_true(r, "statement", 0, "it does not"));
}

static void one_differs(paper_report *r)
{
  paper_check_near(r, "good", 1.0, 1.0, 0.01);
  paper_check_because(r, "of nothing, since it passed");
  paper_check_near(r, "bad", 2.0, 1.0, 0.01);
  paper_check_because(r, "of a misprint");
}

static void three_differ(paper_report *r)
{
  paper_check_near(r, "first", 2.0, 1.0, 0.01);
  paper_check_because(r, "of a misprint");
  paper_check_near(r, "good", 1.0, 1.0, 0.01);
  paper_check_near(r, "second", 3.0, 1.0, 0.01);
  paper_check_because(r, "of a misprint");
  paper_check_true(r, "third", 0, "no");
}

static void nothing_to_compare(paper_report *r)
{
  paper_report_text(r, "only words");
}

static void left_out(paper_report *r)
{
  paper_check_near(r, "bad", 2.0, 1.0, 0.01);
  paper_report_not_comparable(r, "the step is not stated");
}

/* Every kind of check, none against a number of the paper. */
static void only_statements(paper_report *r)
{
  paper_check_true(r, "it is stable", 1, "yes");
  paper_check_range(r, "range", 2.0, 1.0, 3.0, "moderate");
  paper_check_near(r, "ratio", 1.0, 1.0, 0.1);
  paper_check_against(r, PAPER_AGAINST_STATEMENT);
  paper_check_near(r, "exact", 1.0, 1.0, 0.1);
  paper_check_against(r, PAPER_AGAINST_OWN);
}

static void only_ours(paper_report *r)
{
  paper_check_near(r, "exact", 1.0, 1.0, 0.1);
  paper_check_against(r, PAPER_AGAINST_OWN);
  paper_check_range(r, "exact", 2.0, 1.0, 3.0, "a curve");
  paper_check_against(r, PAPER_AGAINST_OWN);
}

static void one_number(paper_report *r)
{
  paper_check_near(r, "exact", 1.0, 1.0, 0.1);
  paper_check_against(r, PAPER_AGAINST_OWN);
  paper_check_range(r, "bound", 2.0, 1.0, 3.0, "about 2");
  paper_check_against(r, PAPER_AGAINST_NUMBER);
  paper_check_true(r, "it is stable", 1, "yes");
}

static void own_differs(paper_report *r)
{
  paper_check_near(r, "exact", 2.0, 1.0, 0.01);
  paper_check_against(r, PAPER_AGAINST_OWN);
}

static void a_count(paper_report *r)
{
  paper_check_among(r, "170 Jacobians", 160.0, 180.0, 170.0, 0.0);
}

static void six_numbers(paper_report *r)
{
  static const char *const names[] = {"a", "b", "c", "d", "e", "f"};
  for (int i = 0; i < 6; i++) paper_check_near(r, names[i], i + 1, i + 1, 0.01);
}

/* A verdict says which published numbers were tested, and is "reproduced" with one at least. */
static void expect_tested(void (*run)(paper_report *report), const char *verdict,
                          const char *tested)
{
  paper_report *report = report_of(run);
  assert_string_equal(text_at(report, "verdict"), verdict);
  assert_string_equal(text_at(report, "tested"), tested);
  paper_report_free(&report);
}

static void reproduced_needs_a_published_number(void **state)
{
  (void)state;
  expect_tested(only_statements, "statements hold",
                "3 statements: it is stable; range, moderate (1 to 3); ratio, 1 (within 10 %)");
  expect(only_statements, "statements hold", "no published number to test");
  expect_tested(only_ours, "shown only", "nothing published");
  expect(only_ours, "shown only", "no published number or statement");
  expect_tested(one_number, "reproduced", "1 published number: bound, about 2 (1 to 3)");
  expect_tested(a_count, "reproduced", "1 published number: 170 Jacobians");
  expect_tested(six_numbers, "reproduced",
                "6 published numbers: a, 1 (within 1 %); b, 2 (within 1 %); c, 3 (within 1 %); d, "
                "4 (within 1 %); and 2 more");
  expect(own_differs, "differs", "exact: ours 2, expected 1 (within 1 %).");
  expect_tested(nothing_to_compare, "not comparable", "nothing published");
}

static void verdicts_follow_from_checks(void **state)
{
  (void)state;
  expect(all_pass, "reproduced", "");
  expect(each_fails, "differs", "11 of 11 checks differ");
  expect(each_fails, "differs", "below: ours 171 to 181, depending on the step; above");
  expect(each_fails, "differs", "more: ours 2 to 3, depending on the step (agrees within 0.2)");
  expect(one_differs, "differs", "bad: ours 2, published 1 (within 1 %). Reason: of a misprint.");
  expect(three_differ, "differs",
         "3 of 4 checks differ. first: ours 2, published 1 (within 1 %); second: ours 3, published "
         "1 (within 1 %). Reason: of a misprint. third: ours no.");
  expect(nothing_to_compare, "not comparable", "there is nothing to compare");
  expect(left_out, "not comparable", "the step is not stated");
  paper_report *report = report_of(one_differs);
  assert_null(strstr(text_at(report, "reason"), "of nothing"));
  paper_report_free(&report);
}

/* --- what cannot run -------------------------------------------------------------------------- */

static void short_row(paper_report *r)
{
  paper_report_table(r, "two columns", "a|b");
  paper_report_row(r, "1|2");
  paper_report_row(r, "1");
  paper_check_near(r, "too late", 1.0, 1.0, 0.01);
}

static void wrong_model(paper_report *r)
{
  paper_run run;
  paper_run_model(r, &run, "models/none.json", "t", "simulation.step=%g", 1e-3);
  assert_int_equal(run.rows, 0);
  paper_run_free(&run);
}

static void wrong_override(paper_report *r)
{
  paper_run run;
  paper_run_model(r, &run, "models/examples/pendulum.json", "t", "simulation.step=-1");
  paper_run_free(&run);
}

static void wrong_channel(paper_report *r)
{
  paper_run run;
  paper_run_model(r, &run, "models/examples/pendulum.json", "t|nobody.position.x",
                  "simulation.end=1");
  paper_run_free(&run);
}

static void wrong_table(paper_report *r)
{
  long rows;
  assert_null(paper_read_table(r, "papers/data/heavy_top_grid.csv", 9, &rows));
  assert_int_equal(rows, 0);
}

static void what_cannot_run_is_told(void **state)
{
  (void)state;
  expect(short_row, "failed", "a row of 1 cells in a table of 2 columns");
  expect(wrong_model, "failed", "models/none.json");
  expect(wrong_override, "failed", "simulation.step -1: must be");
  expect(wrong_channel, "failed", "there is no channel \"nobody.position.x\"");
  expect(wrong_table, "failed", "a line has not 9 numbers");
}

/* --- numbers ---------------------------------------------------------------------------------- */

static int stop_at_half(const pol_simulation *simulation, void *user)
{
  ++*(int *)user;
  return pol_simulation_progress(simulation) < 0.5 - 1e-9;
}

static void runs_are_recorded(paper_report *r)
{
  paper_run run;
  int seen = 0;
  paper_run_model(r, &run, "models/examples/pendulum.json", "t|energy.total",
                  "simulation.step=0.01 simulation.end=%g", 1.0);
  assert_int_equal(run.rows, 101);
  assert_int_equal(run.status, POL_OK);
  assert_int_equal(run.summary.counts.steps, 100);
  assert_true(fabs(run.values[0][100] - 1.0) < 1e-12);
  assert_true(fabs(paper_run_max_abs(&run, 0) - 1.0) < 1e-12);
  paper_run_free(&run);
  paper_run_watched(r, &run, stop_at_half, &seen, "models/examples/pendulum.json", "t",
                    "simulation.step=0.01 simulation.end=1");
  assert_int_equal(run.rows, 51);
  assert_int_equal(seen, 51);
  paper_run_free(&run);
}

static void runs_give_their_rows(void **state)
{
  (void)state;
  expect(runs_are_recorded, "not comparable", "");
}

static void orders_are_fitted(void **state)
{
  (void)state;
  const double h[3] = {0.1, 0.05, 0.02};
  const double e[3] = {3.0 * 0.1 * 0.1, 3.0 * 0.05 * 0.05, 3.0 * 0.02 * 0.02};
  const double gap[3] = {e[0], (double)NAN, e[2]}, none[3] = {0.0, 0.0, 0.0};
  assert_true(fabs(paper_fit_order(h, e, 3) - 2.0) < 1e-12);
  assert_true(fabs(paper_fit_order(h, gap, 3) - 2.0) < 1e-12);
  assert_true(paper_fit_order(h, none, 3) == 0.0);
}

/* --- figures ---------------------------------------------------------------------------------- */

static void draw_plane(paper_report *r)
{
  static const double x[3] = {0.0, 4.0, 4.0}, y[3] = {0.0, 0.0, 1.0};
  static const pol_series series = {x, y, 3, "corner", 0, POL_LINE_SOLID, POL_MARKER_NONE};
  paper_report_plane(r, "plane", "A corner", "across (m)", "up (m)", &series, 1, 520.0, 480.0);
}

/* Both axes have their labels and the same scale. */
static void a_plane_has_labels_and_equal_scales(void **state)
{
  (void)state;
  paper_report *report = report_of(draw_plane);
  const json_t *block = json_array_get(json_object_get(paper_report_json(report), "blocks"), 0);
  const char *svg = paper_json_text(block, "svg");
  assert_string_equal(paper_json_text(block, "name"), "plane");
  assert_string_equal(paper_json_text(block, "caption"), "A corner");
  assert_non_null(strstr(svg, "width=\"520\" height=\"480\""));
  assert_non_null(strstr(svg, ">across (m)</text>"));
  assert_non_null(strstr(svg, "rotate(-90")); /* the label of the y axis stands on its side */
  assert_non_null(strstr(svg, ">up (m)</text>"));
  const char *frame = strstr(svg, "<clipPath"), *curve = strstr(svg, "<g clip-path");
  double left, x[3], y[3];
  assert_int_equal(sscanf(strstr(frame, "<rect"), "<rect x=\"%lf\"", &left), 1);
  assert_int_equal(sscanf(strstr(curve, "<path"), "<path d=\"M%lf %lf %lf %lf %lf %lf", &x[0],
                          &y[0], &x[1], &y[1], &x[2], &y[2]),
                   6);
  const double scale = y[1] - y[2];
  assert_true(scale > 0.0 && fabs(x[1] - x[0] - 4.0 * scale) < 0.1);
  assert_true(fabs(x[0] - left - 0.05 * 4.0 * scale) < 1.5); /* the margin, and the line's width */
  paper_report_free(&report);
}

/* --- the catalogue ---------------------------------------------------------------------------- */

static void ids_are_in_order(void **state)
{
  (void)state;
  const paper_item *item, *other;
  const paper_publication *paper;
  assert_int_equal(paper_item_catalogued(), 74);
  for (int k = 0; (paper = paper_at(k)) != NULL; k++)
    assert_in_range(paper->num_items, 0, paper->catalogued);
  for (int i = 0; (item = paper_item_at(i, &paper)) != NULL; i++) {
    const size_t length = strlen(paper->id);
    if (strncmp(item->id, paper->id, length) != 0 || item->id[length] != '-')
      fail_msg("%s: the id does not start with %s-", item->id, paper->id);
    assert_true(item->title[0] != '\0' && item->published[0] != '\0');
    for (int k = 0; k < i; k++)
      if ((other = paper_item_at(k, NULL)) != NULL && strcmp(other->id, item->id) == 0)
        fail_msg("%s is there twice", item->id);
  }
  assert_null(paper_item_at(paper_item_count(), NULL));
}

/* Pages that cannot be opened or written, which is not known before they are closed. */
static void pages_that_cannot_be_written_are_reported(void **state)
{
  (void)state;
  json_t *reports = json_array();
  assert_int_equal(paper_page_write(reports, 1.0, "no-such-folder/page.md"), POL_IO);
  assert_int_equal(paper_verdicts_write(reports, "no-such-folder/verdicts.md"), POL_IO);
  assert_int_equal(paper_page_write(reports, 1.0, "/dev/full"), POL_IO);
  assert_int_equal(paper_verdicts_write(reports, "/dev/full"), POL_IO);
  assert_int_equal(paper_page_write(reports, 1.0, "no-items.md"), POL_OK);
  json_decref(reports);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pages_that_cannot_be_written_are_reported),
      cmocka_unit_test(verdicts_follow_from_checks),
      cmocka_unit_test(reproduced_needs_a_published_number),
      cmocka_unit_test(what_cannot_run_is_told),
      cmocka_unit_test(runs_give_their_rows),
      cmocka_unit_test(orders_are_fitted),
      cmocka_unit_test(a_plane_has_labels_and_equal_scales),
      cmocka_unit_test(ids_are_in_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
