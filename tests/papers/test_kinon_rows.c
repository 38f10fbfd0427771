/* The constraints of Kinon's top on velocity level, one row at a time: in a rigid motion all
 * vanish, and a velocity that stretches or shears the directors shows in the rows that are about
 * them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "papers/kinon2023_top.c"

/* Columns of a rotation, so that no component of a director is zero. */
static const double directors[3][3] = {{2.0 / 3.0, 2.0 / 3.0, 1.0 / 3.0},
                                       {-2.0 / 3.0, 1.0 / 3.0, 2.0 / 3.0},
                                       {1.0 / 3.0, -2.0 / 3.0, 2.0 / 3.0}};

/* Every point x has the velocity omega x x. */
static paper_kinon_step rigid_motion(void)
{
  static const double omega[3] = {3.0, -5.0, 7.0};
  paper_kinon_step step = {.t = 0.0};
  for (int i = 0; i < 4; i++) {
    double *q = step.q + 3 * i, *v = step.v + 3 * i;
    for (int k = 0; k < 3; k++) q[k] = i < 3 ? directors[i][k] : length * directors[2][k];
    for (int k = 0; k < 3; k++) {
      const int a = (k + 1) % 3, b = (k + 2) % 3;
      v[k] = omega[a] * q[b] - omega[b] * q[a];
    }
  }
  return step;
}

static double row_of(paper_kinon_step step, int k)
{
  const paper_kinon_trace trace = {.steps = &step, .count = 1};
  return constraint_row(&trace, 0, k);
}

static void a_rigid_motion_fulfils_all(void **state)
{
  (void)state;
  for (int k = 1; k <= 9; k++) assert_true(fabs(row_of(rigid_motion(), k)) < 1e-13);
}

/* Director i moves along director j as well: only the row of these two sees it. */
static void each_row_sees_its_directors(void **state)
{
  (void)state;
  static const int rows[3][3] = {{1, 4, 5}, {4, 2, 6}, {5, 6, 3}};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      paper_kinon_step step = rigid_motion();
      for (int k = 0; k < 3; k++) step.v[3 * i + k] += 0.25 * directors[j][k];
      for (int k = 1; k <= 6; k++)
        assert_true(fabs(row_of(step, k) - (k == rows[i][j] ? 0.25 : 0.0)) < 1e-13);
    }
}

static void the_last_rows_see_the_centre(void **state)
{
  (void)state;
  for (int axis = 0; axis < 3; axis++) {
    paper_kinon_step step = rigid_motion();
    step.v[CENTRE + axis] += 0.25 * length;
    for (int k = 1; k <= 9; k++)
      assert_true(fabs(row_of(step, k) - (k == 7 + axis ? 0.25 : 0.0)) < 1e-13);
  }
}

/* Runs from t = 0 to 4, in which q_1 goes from 1 to 5. */
static void draw_a_line(paper_report *report)
{
  static const paper_kinon_figure figure = {.name = "a", .caption = "b", .y_label = "c"};
  paper_kinon_step steps[5] = {{.t = 0.0}};
  for (int i = 0; i < 5; i++) steps[i].t = i, steps[i].q[0] = 1.0 + i;
  const paper_kinon_trace trace = {.label = "VI-S", .method = "vi-s", .steps = steps, .count = 5};
  paper_kinon_draw_all(report, &figure, &trace, 1, paper_kinon_position, 0);
}

/* The axes of a figure reach as far as its curve. */
static void figures_show_times_and_values(void **state)
{
  (void)state;
  static const paper_publication paper = {.id = "test", .citation = "nobody"};
  static const paper_item item = {"test-line", "title", "published", 1, draw_a_line};
  paper_report *report;
  assert_int_equal(paper_report_create(&report, &paper, &item, POLHODE_SOURCE_DIR, NULL), POL_OK);
  paper_report_run(report);
  const json_t *blocks = json_object_get(paper_report_json(report), "blocks");
  const char *svg = paper_json_text(json_array_get(blocks, 0), "svg");
  assert_non_null(strstr(svg, ">4.0</text>"));
  assert_non_null(strstr(svg, ">5.0</text>"));
  paper_report_free(&report);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_rigid_motion_fulfils_all),
      cmocka_unit_test(each_row_sees_its_directors),
      cmocka_unit_test(the_last_rows_see_the_centre),
      cmocka_unit_test(figures_show_times_and_values),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
