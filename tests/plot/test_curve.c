/* From series to curves: pixels, gaps, and thinning out without losing what can be seen. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "draw/plot/curve.h"

enum { MANY = 200000 };

static double x[MANY], y[MANY];
static const poli_scale across = {{0, 10}, 0, 100, 500}, up = {{-1, 1}, 0, 300, -200};

static poli_curve curve;

static void make(size_t count, const poli_scale *x_scale, const poli_scale *y_scale)
{
  const pol_series series = {.x = x, .y = y, .count = count};
  poli_curve_free(&curve);
  assert_int_equal(poli_curve_make(&curve, &series, x_scale, y_scale), POL_OK);
}

static int tear_down(void **state)
{
  (void)state;
  poli_curve_free(&curve);
  return 0;
}

static void set(size_t i, double at, double value)
{
  x[i] = at;
  y[i] = value;
}

static void values_become_pixels(void **state)
{
  (void)state;
  const poli_scale log_up = {{1e-4, 1}, 1, 300, -200};
  assert_true(fabs(poli_scale_pixel(&across, 5) - 350) < 1e-12);
  assert_true(fabs(poli_scale_pixel(&up, -1) - 300) < 1e-12);
  assert_true(fabs(poli_scale_pixel(&up, 1) - 100) < 1e-12);
  assert_true(fabs(poli_scale_pixel(&log_up, 1e-2) - 200) < 1e-10);
  assert_true(fabs(poli_scale_pixel(&up, 1e300)) <= 1e5); /* far outside, but drawable */
}

static void what_is_not_a_number_leaves_a_gap(void **state)
{
  (void)state;
  set(0, 0, 0), set(1, 1, 0.5), set(2, 2, nan("")), set(3, 3, HUGE_VAL), set(4, 4, 0.5),
      set(5, nan(""), 0);
  make(6, &across, &up);
  /* a line of two points, a gap, a lonely point twice, the end */
  assert_int_equal(curve.count, 6);
  assert_true(curve.points[1].x == 150 && isnan(curve.points[2].x));
  assert_true(curve.points[3].x == 300 && curve.points[4].x == 300 && isnan(curve.points[5].x));

  /* what is not positive is a gap on a logarithmic axis */
  const poli_scale log_up = {{1e-4, 1}, 1, 300, -200};
  set(0, 0, 1), set(1, 1, 0), set(2, 2, -1), set(3, 3, 1e-2);
  make(4, &across, &log_up);
  assert_int_equal(curve.count, 6);
  make(0, &across, &up);
  assert_int_equal(curve.count, 0);
}

/* Lowest and highest pixel of the points in each column of the picture. */
typedef struct extremes {
  double low[501], high[501];
} extremes;

static void find_extremes(extremes *e, const poli_pixel *points, size_t count)
{
  for (int i = 0; i <= 500; i++) e->low[i] = HUGE_VAL, e->high[i] = -HUGE_VAL;
  for (size_t i = 0; i < count; i++) {
    if (isnan(points[i].x)) continue;
    const int column = (int)floor(points[i].x) - 100;
    e->low[column] = fmin(e->low[column], points[i].y);
    e->high[column] = fmax(e->high[column], points[i].y);
  }
}

static void dense_series_keep_their_extremes(void **state)
{
  (void)state;
  static poli_pixel all[MANY];
  static extremes before, after;
  for (size_t i = 0; i < MANY; i++) {
    set(i, 10.0 * (double)i / MANY, 0.5 * sin((double)i * 0.7) * sin((double)i * 1e-4));
    if (i == 123456) y[i] = 0.9; /* one point that stands out */
    all[i] = (poli_pixel){poli_scale_pixel(&across, x[i]), poli_scale_pixel(&up, y[i])};
  }
  make(MANY, &across, &up);
  assert_in_range(curve.count, 2000, 4 * 2 * 500 + 2);
  find_extremes(&before, all, MANY);
  find_extremes(&after, curve.points, curve.count);
  for (int i = 0; i < 500; i++) {
    assert_true(before.low[i] == after.low[i]);
    assert_true(before.high[i] == after.high[i]);
  }
  assert_true(curve.points[0].y == all[0].y);
  assert_true(curve.points[curve.count - 2].y == all[MANY - 1].y);
}

/* A curve that runs back and forth keeps all its points. */
static void phase_curves_are_not_thinned_out(void **state)
{
  (void)state;
  for (size_t i = 0; i < 10000; i++)
    set(i, 5 + 4 * cos((double)i * 0.01), 0.8 * sin((double)i * 0.01));
  make(10000, &across, &up);
  assert_int_equal(curve.count, 10001);
}

/* The distance of a point from the segment. */
static double distance(poli_pixel p, poli_pixel a, poli_pixel b)
{
  const double dx = b.x - a.x, dy = b.y - a.y, square = dx * dx + dy * dy;
  double s = square > 0 ? ((p.x - a.x) * dx + (p.y - a.y) * dy) / square : 0;
  s = fmin(fmax(s, 0), 1);
  return hypot(a.x + s * dx - p.x, a.y + s * dy - p.y);
}

static void straight_pieces_stay_on_the_curve(void **state)
{
  (void)state;
  for (size_t i = 0; i < 10000; i++)
    set(i, 5 + 4 * cos((double)i * 0.005), 0.8 * sin((double)i * 0.01));
  make(10000, &across, &up);
  poli_pixel *all = malloc(curve.count * sizeof *all);
  assert_non_null(all);
  const size_t count = curve.count;
  for (size_t i = 0; i < count; i++) all[i] = curve.points[i];
  poli_curve_straighten(&curve);
  assert_in_range(curve.count, 500, 5000);

  /* every point that is left out is close to the piece that replaces it */
  size_t k = 0;
  for (size_t i = 0; i + 1 < count; i++) {
    if (curve.points[k + 1].x == all[i].x && curve.points[k + 1].y == all[i].y) k++;
    if (k + 2 >= curve.count) break;
    assert_true(distance(all[i], curve.points[k], curve.points[k + 1]) < 0.13);
  }
  assert_int_equal(k + 2, curve.count);
  free(all);
}

static void a_straight_line_needs_two_points(void **state)
{
  (void)state;
  for (size_t i = 0; i < 100; i++) set(i, 0.1 * (double)i, 0.01 * (double)i);
  make(100, &across, &up);
  poli_curve_straighten(&curve);
  assert_int_equal(curve.count, 3);
  /* there and back: the turning point stays */
  set(0, 1, 0), set(1, 2, 0), set(2, 3, 0), set(3, 2, 0), set(4, 0.5, 0);
  make(5, &across, &up);
  poli_curve_straighten(&curve);
  assert_int_equal(curve.count, 4);
  assert_true(curve.points[1].x == 250 && curve.points[2].x == 125);
}

/* A thousand turns on the same circle are one turn. */
static void covered_lines_are_left_out(void **state)
{
  (void)state;
  for (size_t i = 0; i < MANY; i++)
    set(i, 5 + 4 * cos((double)i * 0.0314), 0.8 * sin((double)i * 0.0314));
  y[1000] = nan("");
  make(MANY, &across, &up);
  static unsigned char before[201][501], after[201][501];
  const poli_box box = {100, 100, 500, 200};
  const size_t all = curve.count;
  for (size_t i = 0; i < all; i++)
    if (!isnan(curve.points[i].x))
      before[(int)curve.points[i].y - 100][(int)curve.points[i].x - 100] = 1;
  assert_int_equal(poli_curve_drop_covered(&curve, box), POL_OK);
  assert_in_range(curve.count, 100, all / 50);
  for (size_t i = 1; i < curve.count; i++) {
    const poli_pixel a = curve.points[i - 1], b = curve.points[i];
    for (int k = 0; !isnan(a.x + b.x) && k <= 20; k++)
      after[(int)(a.y + k / 20.0 * (b.y - a.y)) - 100][(int)(a.x + k / 20.0 * (b.x - a.x)) - 100] =
          1;
  }
  /* every point that was there is covered, to a pixel */
  for (int row = 1; row < 200; row++)
    for (int column = 1; column < 500; column++) {
      int near = 0;
      for (int n = 0; n < 9; n++) near |= after[row - 1 + n / 3][column - 1 + n % 3];
      assert_true(!before[row][column] || near);
    }
  /* what lies outside is not needed */
  set(0, 20, 0), set(1, 30, 0.5), set(2, 40, 0);
  make(3, &across, &up);
  assert_int_equal(poli_curve_drop_covered(&curve, box), POL_OK);
  assert_int_equal(curve.count, 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(values_become_pixels, tear_down),
      cmocka_unit_test_teardown(what_is_not_a_number_leaves_a_gap, tear_down),
      cmocka_unit_test_teardown(dense_series_keep_their_extremes, tear_down),
      cmocka_unit_test_teardown(phase_curves_are_not_thinned_out, tear_down),
      cmocka_unit_test_teardown(straight_pieces_stay_on_the_curve, tear_down),
      cmocka_unit_test_teardown(a_straight_line_needs_two_points, tear_down),
      cmocka_unit_test_teardown(covered_lines_are_left_out, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
