/* Whole figures: SVG that is well formed and says what it must, PNG whose pixels have the colours
 * of what is drawn there, legends that hide nothing, rules.
 */
#define _POSIX_C_SOURCE 200809L

#include <ctype.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cairo.h>
#include <cmocka.h>

#include "draw/plot/canvas.h"
#include "draw/plot/layout.h"

enum { COUNT = 400, MANY = 20 };

static double t[COUNT], y[MANY][COUNT];
static char names[MANY][80];
static pol_series series[MANY];
static pol_panel panels[3];
static pol_figure figure;

/* One panel with this many waves. */
static int set_up(void **state)
{
  (void)state;
  for (int k = 0; k < MANY; k++) {
    snprintf(names[k], sizeof names[k], "wave %d", k);
    series[k] = (pol_series){.x = t, .y = y[k], .count = COUNT, .label = names[k]};
    pol_series_look(&series[k], k);
    for (int i = 0; i < COUNT; i++) y[k][i] = sin(0.02 * i + k);
  }
  for (int i = 0; i < COUNT; i++) t[i] = 0.01 * i;
  for (int i = 0; i < 3; i++) {
    panels[i] = pol_panel_default();
    panels[i].series = &series[3 * i];
    panels[i].num_series = 3;
  }
  figure = pol_figure_default();
  figure.panels = panels;
  figure.num_panels = 1;
  return 0;
}

static char *svg(void)
{
  char *text;
  assert_int_equal(pol_figure_svg(&figure, &text), POL_OK);
  return text;
}

static void expect_in(const char *text, const char *part)
{
  if (strstr(text, part) == NULL) fail_msg("there is no %s in: %s", part, text);
}

static int count_of(const char *text, const char *part)
{
  int count = 0;
  for (const char *c = text; (c = strstr(c, part)) != NULL; c++) count++;
  return count;
}

/* --- SVG -------------------------------------------------------------------------------------- */

/* Checks one tag from after its '<'; gives its end.  Pushes and pops the names of elements. */
static const char *check_tag(const char *c, char stack[][16], int *depth)
{
  const int closes = *c == '/';
  char name[16] = "";
  size_t length = 0;
  for (c += closes; isalpha((unsigned char)*c) && length < 15; c++) name[length++] = *c;
  assert_true(length > 0);
  while (*c == ' ') {
    c += 1 + strcspn(c + 1, "=<>");
    assert_true(c[0] == '=' && c[1] == '"');
    c += 2 + strcspn(c + 2, "\"<&");
    assert_int_equal(*c++, '"');
  }
  const int empty = *c == '/';
  c += empty;
  assert_int_equal(*c, '>');
  if (closes) {
    assert_true(*depth > 0);
    assert_string_equal(stack[--*depth], name);
  } else if (!empty) {
    assert_true(*depth < 8);
    strcpy(stack[(*depth)++], name);
  }
  return c + 1;
}

/* Elements are nested, attributes quoted, no bare & or >, no byte that XML has not. */
static void check_well_formed(const char *text)
{
  char stack[8][16];
  int depth = 0;
  assert_int_equal(strncmp(text, "<svg ", 5), 0);
  for (const char *c = text; *c != '\0';) {
    if (*c == '<') {
      c = check_tag(c + 1, stack, &depth);
      continue;
    }
    assert_int_not_equal(*c, '>');
    if (*c == '&')
      assert_true(!strncmp(c, "&lt;", 4) || !strncmp(c, "&gt;", 4) || !strncmp(c, "&amp;", 5));
    assert_true(*c == '\n' || (unsigned char)*c >= 0x20);
    c++;
  }
  assert_int_equal(depth, 0);
  assert_null(strstr(text, "nan"));
  assert_null(strstr(text, "inf"));
}

static void svg_is_well_formed(void **state)
{
  (void)state;
  snprintf(names[0], sizeof names[0], "a < b & c > \"d\" \x01 \xFF");
  figure.title = "<title> & more";
  figure.x.label = "time (s)";
  panels[0].y.label = "acceleration (m/s^2)";
  panels[0].legend = POL_LEGEND_BESIDE;
  const pol_note note = {.x = 0.5, .y = 0.5, .relative = 1, .text = "5 < 6"};
  panels[0].notes = &note;
  panels[0].num_notes = 1;
  char *text = svg();
  check_well_formed(text);
  expect_in(text, ">&lt;title&gt; &amp; more</text>");
  expect_in(text, ">a &lt; b &amp; c &gt; \"d\"   ?</text>");
  expect_in(text, ">5 &lt; 6</text>");
  expect_in(text, ">time (s)</text>");
  expect_in(text, "m/s<tspan dy=\"-4.75\" font-size=\"9\">2</tspan><tspan dy=\"4.75\">)</tspan>");
  expect_in(text, "width=\"720\" height=\"450\"");
  free(text);
}

static void the_same_figure_gives_the_same_text(void **state)
{
  (void)state;
  char *first = svg(), *second = svg();
  assert_string_equal(first, second);
  figure.dark = 1;
  free(second);
  second = svg();
  assert_string_not_equal(first, second);
  free(first);
  free(second);
}

static void long_series_stay_small(void **state)
{
  (void)state;
  enum { MILLION = 1000000 };
  double *x = malloc(MILLION * sizeof *x), *noise = malloc(MILLION * sizeof *noise);
  assert_non_null(x);
  assert_non_null(noise);
  uint32_t seed = 1;
  for (int i = 0; i < MILLION; i++) {
    seed = seed * 1664525u + 1013904223u;
    x[i] = i;
    noise[i] = seed;
  }
  series[0] = (pol_series){.x = x, .y = noise, .count = MILLION};
  panels[0].num_series = 1;
  char *text = svg();
  assert_in_range(strlen(text), 10000, 100000);
  free(text);
  free(noise);
  free(x);
}

static void hard_series_can_be_drawn(void **state)
{
  (void)state;
  for (int log = 0; log < 2; log++)
    for (int k = 0; k < 8; k++) {
      for (int i = 0; i < COUNT; i++) {
        const double values[8] = {0, -5, nan(""), HUGE_VAL, 1e300, 5e-324, i % 2 ? 1e300 : -1e300,
                                  1};
        y[0][i] = values[k];
      }
      panels[0].num_series = 1;
      panels[0].y.log = figure.x.log = log;
      char *text = svg();
      check_well_formed(text);
      free(text);
    }
}

static void legends_that_are_too_long_say_so(void **state)
{
  (void)state;
  panels[0].num_series = MANY;
  figure.height = 200;
  char *text = svg();
  check_well_formed(text);
  expect_in(text, ">wave 0</text>");
  expect_in(text, " more</text>");
  assert_null(strstr(text, ">wave 19</text>"));
  free(text);
}

/* A title stands above the panels; one too wide for that still stays in the figure. */
static void titles_stay_in_the_figure(void **state)
{
  (void)state;
  static char wide[150];
  static const char *const titles[] = {"short", wide};
  memset(wide, 'w', sizeof wide - 1);
  panels[0].legend = POL_LEGEND_BESIDE;
  panels[0].y.label = "height (m)";
  figure.x.label = "time (s)";
  for (int i = 0; i < 2; i++) {
    figure.title = titles[i];
    char *text = svg();
    assert_int_equal(count_of(text, " font-weight=\"bold\""), 1);
    expect_in(text, ">height (m)</text>");
    expect_in(text, ">time (s)</text>");
    /* the title is the last text, and the only bold one */
    const char *last = text;
    for (const char *next = text; (next = strstr(next, "<text x=\"")) != NULL; next++) last = next;
    expect_in(last, " font-weight=\"bold\"");
    const double middle = strtod(last + strlen("<text x=\""), NULL);
    assert_true(i == 0 ? middle < 350 : fabs(middle - 360) < 20);
    free(text);
  }
}

static void slopes_are_drawn_with_their_order(void **state)
{
  (void)state;
  static const double h[] = {1e-3, 2e-3, 4e-3, 8e-3};
  static const double errors[] = {1e-6, 4e-6, 1.6e-5, 6.4e-5};
  series[0] = (pol_series){.x = h, .y = errors, .count = 4, .marker = POL_MARKER_CIRCLE};
  const pol_slope slopes[2] = {pol_slope_below(&series[0], 2), {1.5, {1e-3, 8e-3}, 1e-5, 0, NULL}};
  for (int i = 0; i < 4; i++)
    assert_true(slopes[0].y0 * pow(h[i] / slopes[0].x[0], 2) < 0.9 * errors[i]);
  assert_true(slopes[0].x[0] > h[0] && slopes[0].x[1] < h[3]);
  panels[0].num_series = 1;
  panels[0].slopes = slopes;
  panels[0].num_slopes = 2;
  panels[0].y.log = figure.x.log = 1;
  char *text = svg();
  check_well_formed(text);
  expect_in(text, ">2</text>");
  expect_in(text, ">1.5</text>");
  expect_in(text, "stroke-dasharray");
  free(text);

  const pol_series nothing = {.x = h, .y = errors, .count = 1};
  assert_true(pol_slope_below(&nothing, 2).x[0] == 0);
  /* both ends of a slope that is longer than the curve are within the axes */
  const pol_slope wide = {1.0, {1e-5, 1.0}, 1e-9, 0, NULL};
  poli_layout layout;
  panels[0].slopes = &wide, panels[0].num_slopes = 1;
  assert_int_equal(poli_layout_make(&layout, &figure), POL_OK);
  assert_true(layout.x.range.lo <= 1e-5 && layout.x.range.hi >= 1.0);
  assert_true(layout.panels[0].y.range.lo <= 1e-9 && layout.panels[0].y.range.hi >= 1e-4);
  poli_layout_free(&layout);
}

static void panels_share_the_x_axis(void **state)
{
  (void)state;
  figure.num_panels = 3;
  figure.height = 600;
  for (int i = 0; i < 3; i++) panels[i].legend = POL_LEGEND_NONE;
  poli_layout layout;
  assert_int_equal(poli_layout_make(&layout, &figure), POL_OK);
  for (int i = 1; i < 3; i++) {
    const poli_box above = layout.panels[i - 1].box, box = layout.panels[i].box;
    assert_true(box.x == above.x && box.width == above.width);
    assert_true(box.y > above.y + above.height);
    assert_true(fabs(box.height - above.height) < 1e-9);
  }
  poli_layout_free(&layout);
  /* only the lowest has labels at its ticks: 0, 0.5, ..., 3.5 */
  char *text = svg();
  assert_int_equal(count_of(text, ">3.5</text>"), 1);
  free(text);
}

static void legends_hide_nothing(void **state)
{
  (void)state;
  /* free in one corner only: it goes there */
  for (int corner = 0; corner < 4; corner++) {
    for (int i = 0; i < COUNT; i++) {
      const double s = (corner & 1 ? i : COUNT - 1 - i) / (double)COUNT;
      y[0][i] = (corner & 2 ? 1 : -1) * (s > 0.5 ? 1 : sin(40 * s));
    }
    panels[0].num_series = 1;
    poli_layout layout;
    assert_int_equal(poli_layout_make(&layout, &figure), POL_OK);
    const poli_panel_layout *p = &layout.panels[0];
    assert_false(p->beside);
    const int right = p->legend.x > p->box.x + 0.5 * p->box.width;
    const int low = p->legend.y > p->box.y + 0.5 * p->box.height;
    assert_int_equal(right, corner & 1);
    assert_int_equal(low, corner >> 1);
    poli_layout_free(&layout);
  }
  /* free nowhere: it goes beside, unless told otherwise */
  for (int i = 0; i < COUNT; i++) y[0][i] = i % 2;
  for (int k = 0; k < 2; k++) {
    poli_layout layout;
    panels[0].legend = k == 0 ? POL_LEGEND_AUTO : POL_LEGEND_INSIDE;
    assert_int_equal(poli_layout_make(&layout, &figure), POL_OK);
    const poli_panel_layout *p = &layout.panels[0];
    assert_int_equal(p->beside, k == 0);
    assert_int_equal(p->legend.x > p->box.x + p->box.width, k == 0);
    assert_true(p->legend.x + p->legend.width <= figure.width);
    poli_layout_free(&layout);
  }
}

/* A series without markers, or without points, leaves no element in the file. */
static void what_is_not_drawn_leaves_no_element(void **state)
{
  (void)state;
  for (int marker = POL_MARKER_NONE; marker <= POL_MARKER_CROSS; marker++) {
    for (int k = 0; k < 3; k++) series[k].marker = (pol_plot_marker)marker;
    series[2].count = 0;
    char *text = svg();
    assert_int_equal(count_of(text, "d=\"\""), 0);
    free(text);
  }
}

/* What a legend as large as the frame hides of a line: its length, in few points or in many. */
static void legends_measure_what_they_hide(void **state)
{
  (void)state;
  poli_pixel points[201];
  poli_curve curve = {.points = points};
  const pol_series line = {.line = POL_LINE_SOLID, .marker = POL_MARKER_NONE};
  const pol_panel panel = {.series = &line, .num_series = 1};
  for (size_t count = 2; count <= 201; count += 199) {
    /* 9 pixels from the frame on all sides, 4 of which a line needs for its width */
    poli_panel_layout layout = {.panel = &panel,
                                .box = {0, 0, 400, 300},
                                .curves = &curve,
                                .legend = {0, 0, 400 - 18, 300 - 18}};
    curve.count = count;
    for (size_t i = 0; i < count; i++)
      points[i] = (poli_pixel){400.0 * (double)i / (double)(count - 1), 150};
    const double hidden = poli_legend_place(&layout);
    if (!(fabs(hidden - 390) <= 6)) fail_msg("%g of 390 pixels", hidden);
    assert_true(layout.legend.x == 9 && layout.legend.y == 9);
  }
}

static void equal_units_are_equally_long(void **state)
{
  (void)state;
  figure.equal = 1;
  poli_layout layout;
  assert_int_equal(poli_layout_make(&layout, &figure), POL_OK);
  const poli_scale x = layout.x, y_axis = layout.panels[0].y;
  const double x_unit = x.length / (x.range.hi - x.range.lo);
  const double y_unit = -y_axis.length / (y_axis.range.hi - y_axis.range.lo);
  assert_true(fabs(x_unit / y_unit - 1) < 1e-12);
  assert_true(x.range.lo <= t[0] && x.range.hi >= t[COUNT - 1]);
  assert_true(y_axis.range.lo <= -1 && y_axis.range.hi >= 1);
  poli_layout_free(&layout);
}

static void looks_differ(void **state)
{
  (void)state;
  for (int i = 0; i < 4 * POL_PLOT_COLORS; i++)
    for (int k = 0; k < i; k++) {
      pol_series a = {0}, b = {0};
      pol_series_look(&a, i);
      pol_series_look(&b, k);
      assert_true(a.color != b.color || a.line != b.line);
    }
}

/* --- PNG -------------------------------------------------------------------------------------- */

/* The colour of the pixel, 0xRRGGBB. */
static unsigned pixel(cairo_surface_t *image, double x, double y_down)
{
  const unsigned char *data = cairo_image_surface_get_data(image);
  const int stride = cairo_image_surface_get_stride(image);
  uint32_t value;
  memcpy(&value, data + (int)y_down * stride + 4 * (int)x, 4);
  return value & 0xFFFFFF;
}

static int is_near(unsigned a, unsigned b)
{
  for (int shift = 0; shift < 24; shift += 8)
    if (abs((int)(a >> shift & 255) - (int)(b >> shift & 255)) > 12) return 0;
  return 1;
}

static cairo_surface_t *draw_png(const char *path)
{
  assert_int_equal(pol_figure_write(&figure, path), POL_OK);
  char signature[8];
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  assert_int_equal(fread(signature, 1, 8, file), 8);
  fclose(file);
  assert_memory_equal(signature, "\x89PNG\r\n\x1A\n", 8);
  cairo_surface_t *image = cairo_image_surface_create_from_png(path);
  assert_int_equal(cairo_surface_status(image), CAIRO_STATUS_SUCCESS);
  return image;
}

static void pixels_have_the_colours_of_the_figure(void **state)
{
  (void)state;
  static const unsigned background[2] = {0xFFFFFF, 0x0F1419}, first[2] = {0x0072B2, 0x7CCBFF};
  for (int i = 0; i < COUNT; i++) y[0][i] = 0.5 * t[i];
  panels[0].num_series = 1;
  series[0].label = NULL;
  figure.grid = 0;
  for (int dark = 0; dark < 2; dark++) {
    figure.dark = dark;
    cairo_surface_t *image = draw_png("figure.png");
    assert_int_equal(cairo_image_surface_get_width(image), 1440);
    assert_int_equal(cairo_image_surface_get_height(image), 900);
    poli_layout layout;
    assert_int_equal(poli_layout_make(&layout, &figure), POL_OK);
    /* on the line, and off it */
    for (double at = 0.5; at < 3.5; at += 0.25) {
      const double px = 2 * poli_scale_pixel(&layout.x, at);
      const double py = 2 * poli_scale_pixel(&layout.panels[0].y, 0.5 * at);
      assert_true(is_near(pixel(image, px, py), first[dark]));
      assert_int_equal(pixel(image, px, py - 20), background[dark]);
      assert_int_equal(pixel(image, px, py + 20), background[dark]);
    }
    assert_int_equal(pixel(image, 2, 2), background[dark]);
    poli_layout_free(&layout);
    cairo_surface_destroy(image);
  }
  remove("figure.png");
}

/* The mean place of all dark pixels in the strip where the label of the y axis stands. */
static poli_pixel centre_of_label(const char *label)
{
  poli_pixel sum = {0.0, 0.0};
  int count = 0;
  panels[0].y.label = label;
  cairo_surface_t *image = draw_png("label.png");
  for (int i = 0; i < 900; i++)
    for (int k = 10; k < 44; k++)
      if ((pixel(image, k, i) & 255) < 128) sum.x += k, sum.y += i, count++;
  cairo_surface_destroy(image);
  remove("label.png");
  assert_true(count > 20);
  return (poli_pixel){sum.x / count, sum.y / count};
}

/* The label of the y axis reads from the bottom to the top. */
static void the_label_beside_the_axis_reads_upwards(void **state)
{
  (void)state;
  figure.grid = 0;
  const poli_pixel first = centre_of_label("WWWWWW ......"),
                   last = centre_of_label("...... WWWWWW");
  assert_true(first.y > last.y + 20);
  /* what is raised stands to the left of the line */
  assert_true(centre_of_label("1^888888").x < centre_of_label("1888888").x - 2);
}

/* A colour as people with this kind of sight see it (G. M. Machado et al., 2009, severity 1), in
 * CIE L*a*b* under D65. */
static void seen_as(unsigned color, const double sight[3][3], double lab[3])
{
  static const double to_xyz[3][3] = {{0.4124 / 0.9505, 0.3576 / 0.9505, 0.1805 / 0.9505},
                                      {0.2126, 0.7152, 0.0722},
                                      {0.0193 / 1.089, 0.1192 / 1.089, 0.9505 / 1.089}};
  double rgb[3], seen[3], xyz[3];
  for (int i = 0; i < 3; i++) {
    const double c = (double)(color >> (16 - 8 * i) & 255) / 255;
    rgb[i] = c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
  }
  for (int i = 0; i < 3; i++) {
    const double sum = sight[i][0] * rgb[0] + sight[i][1] * rgb[1] + sight[i][2] * rgb[2];
    seen[i] = fmin(fmax(sum, 0), 1);
  }
  for (int i = 0; i < 3; i++) {
    const double v = to_xyz[i][0] * seen[0] + to_xyz[i][1] * seen[1] + to_xyz[i][2] * seen[2];
    xyz[i] = v > 0.008856 ? cbrt(v) : 7.787 * v + 16.0 / 116;
  }
  lab[0] = 116 * xyz[1] - 16;
  lab[1] = 500 * (xyz[0] - xyz[1]);
  lab[2] = 200 * (xyz[1] - xyz[2]);
}

/* Any two colours of a palette differ, and each from the background, for all kinds of sight:
 * normal, protanopia, deuteranopia, tritanopia.  A difference of 2.3 can just be noticed side by
 * side. */
static void colours_can_be_told_apart(void **state)
{
  (void)state;
  static const double sights[4][3][3] = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                                         {{0.152286, 1.052583, -0.204868},
                                          {0.114503, 0.786281, 0.099216},
                                          {-0.003882, -0.048116, 1.051998}},
                                         {{0.367322, 0.860646, -0.227968},
                                          {0.280085, 0.672501, 0.047413},
                                          {-0.011820, 0.042940, 0.968881}},
                                         {{1.255528, -0.076749, -0.178779},
                                          {-0.078411, 0.930809, 0.147602},
                                          {0.004733, 0.691367, 0.303900}}};
  for (int theme = 0; theme < 2; theme++)
    for (int sight = 0; sight < 4; sight++)
      for (int i = 0; i < POL_PLOT_COLORS; i++)
        for (int k = -1; k < i; k++) {
          double a[3], b[3];
          const poli_theme *colors = &poli_themes[theme];
          seen_as(colors->palette[i], sights[sight], a);
          seen_as(k < 0 ? colors->background : colors->palette[k], sights[sight], b);
          const double distance = hypot(hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]);
          if (distance < (k < 0 ? 35 : 16))
            fail_msg("theme %d, sight %d: colours %d and %d differ by %g", theme, sight, i, k,
                     distance);
        }
}

static void curves_stay_in_their_frame(void **state)
{
  (void)state;
  for (int i = 0; i < COUNT; i++) y[0][i] = i % 2 ? 1e9 : -1e9;
  panels[0].num_series = 1;
  panels[0].y.min = -1;
  panels[0].y.max = 1;
  figure.scale = 1;
  figure.grid = 0;
  series[0].label = NULL;
  cairo_surface_t *image = draw_png("clipped.png");
  assert_int_equal(cairo_image_surface_get_width(image), 720);
  assert_true(is_near(pixel(image, 400, 200), 0x0072B2));
  for (int x = 0; x < 720; x++) assert_false(is_near(pixel(image, x, 8), 0x0072B2));
  cairo_surface_destroy(image);
  remove("clipped.png");
}

/* --- rules and files -------------------------------------------------------------------------- */

static void expect_rule(const char *part)
{
  char message[160] = "";
  assert_int_equal(pol_figure_validate(&figure, message, sizeof message), POL_BAD_ARGUMENT);
  expect_in(message, part);
  char *text;
  assert_int_equal(pol_figure_svg(&figure, &text), POL_BAD_ARGUMENT);
  assert_null(text);
  assert_int_equal(pol_figure_write(&figure, "refused.png"), POL_BAD_ARGUMENT);
  assert_int_equal(access("refused.png", F_OK), -1);
  set_up(NULL);
}

static void broken_rules_are_told(void **state)
{
  (void)state;
  const pol_slope flat = {.order = 1}, steep = {.order = 1000, .x = {1, 10}, .y0 = 1};
  figure.num_panels = 0;
  expect_rule("there must be a panel");
  figure.width = 20;
  expect_rule("120 to 10000");
  figure.height = nan("");
  expect_rule("120 to 10000");
  figure.scale = 100;
  expect_rule("30000 pixels");
  figure.x.min = 2, figure.x.max = 1;
  expect_rule("must end after it starts");
  figure.x.log = 1, figure.x.min = -1, figure.x.max = 1;
  expect_rule("above 0");
  panels[0].y.max = HUGE_VAL;
  expect_rule("finite numbers");
  panels[0].y.margin = -1;
  expect_rule("margin");
  series[0].y = NULL;
  expect_rule("its numbers");
  panels[0].num_notes = -1;
  expect_rule("negative");
  panels[0].slopes = &flat, panels[0].num_slopes = 1;
  expect_rule("logarithmic");
  panels[0].slopes = &flat, panels[0].num_slopes = 1, panels[0].y.log = figure.x.log = 1;
  expect_rule("positive numbers");
  panels[0].slopes = &steep, panels[0].num_slopes = 1, panels[0].y.log = figure.x.log = 1;
  expect_rule("finite positive");
  figure.equal = 1, figure.x.log = 1;
  expect_rule("linear axes");
  figure.equal = 1, panels[0].y.log = 1;
  expect_rule("linear axes");
  assert_int_equal(pol_figure_validate(&figure, NULL, 0), POL_OK);
}

static void files_that_cannot_be_written_are_told(void **state)
{
  (void)state;
  assert_int_equal(pol_figure_write(&figure, "no-such-folder/a.svg"), POL_IO);
  assert_int_equal(pol_figure_write(&figure, "no-such-folder/a.png"), POL_IO);
  assert_int_equal(pol_figure_write(&figure, "no-such-folder/a.pdf"), POL_IO);
  assert_int_equal(pol_figure_write(&figure, "/dev/full"), POL_IO);
  if (symlink("/dev/full", "full.png") == 0)
    assert_int_equal(pol_figure_write(&figure, "full.png"), POL_IO);
  remove("full.png");
  if (symlink("/dev/full", "full.pdf") == 0)
    assert_int_equal(pol_figure_write(&figure, "full.pdf"), POL_IO);
  remove("full.pdf");
}

/* Markers are filled areas, but a cross is lines. */
static void crosses_are_lines(void **state)
{
  (void)state;
  static const double x[] = {1, 2, 3};
  series[0] = (pol_series){.x = x, .y = x, .count = 3, .line = POL_LINE_NONE};
  panels[0].num_series = 1;
  for (int marker = POL_MARKER_SQUARE; marker <= POL_MARKER_CROSS; marker++) {
    series[0].marker = (pol_plot_marker)marker;
    char *text = svg();
    check_well_formed(text);
    assert_int_equal(count_of(text, "z\" fill=\"#"), marker != POL_MARKER_CROSS);
    assert_int_equal(count_of(text, "z\" stroke=\"#"), 0);
    free(text);
  }
}

/* Equal legends are drawn once, different ones in each panel. */
static void equal_legends_are_drawn_once(void **state)
{
  (void)state;
  figure.num_panels = 3;
  char *text = svg();
  for (int k = 0; k < 9; k++) {
    char name[32];
    snprintf(name, sizeof name, ">wave %d</text>", k);
    assert_int_equal(count_of(text, name), 1);
  }
  free(text);
  for (int i = 1; i < 3; i++) panels[i].series = series;
  text = svg();
  assert_int_equal(count_of(text, ">wave 0</text>"), 1);
  free(text);
  panels[2].series = &series[1];
  text = svg();
  assert_int_equal(count_of(text, ">wave 0</text>"), 2);
  free(text);
}

/* A label that is too long for its axis takes two lines. */
static void long_labels_are_broken(void **state)
{
  (void)state;
  figure.height = 280;
  panels[0].y.label = "spindle.angular_velocity_global.z (rad/s)";
  char *text = svg();
  assert_int_equal(count_of(text, ">spindle.angular_velocity_</text>") +
                       count_of(text, ">spindle.angular_</text>"),
                   1);
  assert_int_equal(count_of(text, "\xE2\x80\xA6"), 0);
  free(text);
}

/* PNG if the name ends in .png, PDF if in .pdf, else SVG. */
static void names_say_what_is_written(void **state)
{
  (void)state;
  static const char *const paths[] = {"named.png", ".png", "named.svg", "png",
                                      "p.png.svg", "x",    "named.pdf", ".pdf"};
  for (int i = 0; i < 8; i++) {
    char start[5] = "";
    assert_int_equal(pol_figure_write(&figure, paths[i]), POL_OK);
    FILE *file = fopen(paths[i], "rb");
    assert_non_null(file);
    assert_int_equal(fread(start, 1, 4, file), 4);
    fclose(file);
    remove(paths[i]);
    assert_int_equal(strcmp(start, "\x89PNG") == 0, i < 2);
    assert_int_equal(start[0] == '<', i >= 2 && i < 6);
    assert_int_equal(strcmp(start, "%PDF") == 0, i >= 6);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(svg_is_well_formed, set_up),
      cmocka_unit_test_setup(the_same_figure_gives_the_same_text, set_up),
      cmocka_unit_test_setup(long_series_stay_small, set_up),
      cmocka_unit_test_setup(hard_series_can_be_drawn, set_up),
      cmocka_unit_test_setup(legends_that_are_too_long_say_so, set_up),
      cmocka_unit_test_setup(titles_stay_in_the_figure, set_up),
      cmocka_unit_test_setup(slopes_are_drawn_with_their_order, set_up),
      cmocka_unit_test_setup(panels_share_the_x_axis, set_up),
      cmocka_unit_test_setup(legends_hide_nothing, set_up),
      cmocka_unit_test(legends_measure_what_they_hide),
      cmocka_unit_test_setup(what_is_not_drawn_leaves_no_element, set_up),
      cmocka_unit_test_setup(equal_units_are_equally_long, set_up),
      cmocka_unit_test_setup(looks_differ, set_up),
      cmocka_unit_test_setup(pixels_have_the_colours_of_the_figure, set_up),
      cmocka_unit_test_setup(the_label_beside_the_axis_reads_upwards, set_up),
      cmocka_unit_test_setup(colours_can_be_told_apart, set_up),
      cmocka_unit_test_setup(curves_stay_in_their_frame, set_up),
      cmocka_unit_test_setup(broken_rules_are_told, set_up),
      cmocka_unit_test_setup(files_that_cannot_be_written_are_told, set_up),
      cmocka_unit_test_setup(names_say_what_is_written, set_up),
      cmocka_unit_test_setup(crosses_are_lines, set_up),
      cmocka_unit_test_setup(equal_legends_are_drawn_once, set_up),
      cmocka_unit_test_setup(long_labels_are_broken, set_up),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
