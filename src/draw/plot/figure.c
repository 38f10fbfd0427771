/* Figures: their defaults and rules, and drawing them: grid, curves, slopes, notes, frames, ticks,
 * labels and legends, in this order. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/output.h>
#include <polhode/plot.h>

#include "base/rule.h"
#include "draw/plot/canvas.h"
#include "draw/plot/layout.h"
#include "draw/plot/text.h"

static const double smallest_size = 120, largest_size = 10000, most_pixels = 30000;

pol_figure pol_figure_default(void)
{
  return (pol_figure){.width = 720, .height = 450, .scale = 2, .grid = 1};
}

pol_panel pol_panel_default(void)
{
  return (pol_panel){.y.margin = 0.05};
}

void pol_series_look(pol_series *series, int i)
{
  series->color = i % POL_PLOT_COLORS;
  if (series->line != POL_LINE_NONE) series->line = (pol_plot_line)(i / POL_PLOT_COLORS % 4);
  if (series->marker != POL_MARKER_NONE) series->marker = (pol_plot_marker)(1 + i % 5);
}

pol_slope pol_slope_below(const pol_series *series, double order)
{
  pol_slope slope = {.order = order, .triangle = 1};
  poli_range x = poli_range_empty();
  double lowest = HUGE_VAL;
  for (size_t i = 0; i < series->count; i++)
    if (pol_axis_shows(series->x[i], 1) && pol_axis_shows(series->y[i], 1))
      poli_range_include(&x, series->x[i]);
  if (!(x.hi > x.lo)) return (pol_slope){0};

  /* the middle third; points beside it count too, so that the line between is not touched */
  const double ratio = x.hi / x.lo;
  slope.x[0] = x.lo * pow(ratio, 0.38), slope.x[1] = x.lo * pow(ratio, 0.62);
  for (size_t i = 0; i < series->count; i++)
    if (pol_axis_shows(series->x[i], 1) && pol_axis_shows(series->y[i], 1))
      lowest = fmin(lowest, series->y[i] / pow(series->x[i] / slope.x[0], order));
  slope.y0 = 0.4 * lowest;
  return slope;
}

double poli_slope_end(const pol_slope *slope)
{
  return slope->y0 * pow(slope->x[1] / slope->x[0], slope->order);
}

/* --- rules ------------------------------------------------------------------------------------ */

static const char *axis_rule(const pol_axis *axis)
{
  if (!(axis->margin >= 0 && axis->margin <= 10)) return "the margin must be 0 to 10";
  if (axis->min == 0 && axis->max == 0) return NULL;
  if (!pol_axis_shows(axis->min, 0) || !pol_axis_shows(axis->max, 0))
    return "an axis must start and end at finite numbers";
  if (!(axis->max > axis->min)) return "an axis must end after it starts";
  if (axis->log && !(axis->min > 0)) return "a logarithmic axis must start above 0";
  return NULL;
}

static const char *panel_rule(const pol_figure *figure, const pol_panel *panel)
{
  if (panel->num_series < 0 || panel->num_slopes < 0 || panel->num_notes < 0)
    return "counts must not be negative";
  for (int i = 0; i < panel->num_series; i++)
    if (panel->series[i].count > 0 && (panel->series[i].x == NULL || panel->series[i].y == NULL))
      return "a series must have its numbers";
  for (int i = 0; i < panel->num_slopes; i++) {
    const pol_slope *slope = &panel->slopes[i];
    if (!figure->x.log || !panel->y.log) return "slopes need logarithmic axes";
    if (!(slope->x[0] > 0 && slope->x[1] > slope->x[0] && slope->y0 > 0 && isfinite(slope->order)))
      return "a slope must start at positive numbers and end after it starts";
    if (!pol_axis_shows(poli_slope_end(slope), 1))
      return "a slope must end at a finite positive number";
  }
  if (figure->equal && panel->y.log) return "equal units need linear axes";
  return axis_rule(&panel->y);
}

static const char *figure_rule(const pol_figure *figure)
{
  const double pixels = fmax(figure->width, figure->height) * figure->scale;
  if (figure->num_panels < 1 || figure->panels == NULL) return "there must be a panel";
  if (!(figure->width >= smallest_size && figure->width <= largest_size &&
        figure->height >= smallest_size && figure->height <= largest_size))
    return "width and height must be 120 to 10000";
  if (!(figure->scale > 0 && pixels <= most_pixels))
    return "the scale must be positive and the picture at most 30000 pixels wide and high";
  if (figure->equal && figure->x.log) return "equal units need linear axes";
  return axis_rule(&figure->x);
}

pol_status pol_figure_validate(const pol_figure *figure, char *message, size_t size)
{
  const char *rule = figure_rule(figure);
  for (int i = 0; rule == NULL && i < figure->num_panels; i++)
    rule = panel_rule(figure, &figure->panels[i]);
  return rule != NULL ? poli_broken_rule(rule, message, size) : POL_OK;
}

static const double curve_width = 1.6, frame_width = 0.8, grid_width = 0.6, marker_radius = 3.2,
                    dot_radius = 2.4;
enum { LABEL_CHARACTERS = 200 };

/* The palette is that of Okabe and Ito without yellow, which is lost on white; the dark one has the
 * same hues and yellow, lighter or darker so that they stand off black and off each other, also for
 * the colour-blind. */
const poli_theme poli_themes[2] = {
    {0xFFFFFF,
     0x1F2328,
     0x57606A,
     0xE4E7EB,
     {0x0072B2, 0xD55E00, 0x009E73, 0xCC79A7, 0xE69F00, 0x56B4E9, 0x24292F}},
    {0x0F1419,
     0xE6EDF3,
     0x8B949E,
     0x2A313A,
     {0x7CCBFF, 0xFF8A4A, 0x009E73, 0xD67FB2, 0xF0E442, 0x4D74FF, 0xDDE3EA}},
};

/* A figure while it is drawn. */
typedef struct drawing {
  poli_layout layout;
  const poli_theme *theme;
  poli_canvas *canvas;
} drawing;

static const char *words(const char *text)
{
  return text != NULL ? text : "";
}

static poli_color series_color(const drawing *d, int color)
{
  const int index = color % POL_PLOT_COLORS;
  return d->theme->palette[index < 0 ? index + POL_PLOT_COLORS : index];
}

static void draw_line(const drawing *d, double x0, double y0, double x1, double y1, poli_pen pen)
{
  const poli_pixel ends[2] = {{x0, y0}, {x1, y1}};
  poli_canvas_lines(d->canvas, ends, 2, pen);
}

/* Text in the colour of text; shortened to a width. */
static void draw_text(const drawing *d, poli_text where, double width, const char *text)
{
  char fitted[POLI_TEXT_SIZE(LABEL_CHARACTERS)];
  poli_text_fit(words(text), width, where.size, LABEL_CHARACTERS, fitted);
  where.color = d->theme->text;
  poli_canvas_text(d->canvas, where, fitted);
}

/* --- in the frame ----------------------------------------------------------------------------- */

/* One path for all lines. */
static void draw_grid(const drawing *d, const poli_panel_layout *p)
{
  const poli_ticks *x = &d->layout.ticks, *y = &p->ticks;
  const poli_box box = p->box;
  poli_pixel points[6 * POLI_MAX_TICKS];
  size_t count = 0;
  for (int i = 0; i < x->count; i++) {
    const double at = poli_scale_pixel(&d->layout.x, x->at[i]);
    points[count++] = (poli_pixel){at, box.y};
    points[count++] = (poli_pixel){at, box.y + box.height};
    points[count++] = POLI_GAP;
  }
  for (int i = 0; i < y->count; i++) {
    const double at = poli_scale_pixel(&p->y, y->at[i]);
    points[count++] = (poli_pixel){box.x, at};
    points[count++] = (poli_pixel){box.x + box.width, at};
    points[count++] = POLI_GAP;
  }
  poli_canvas_lines(d->canvas, points, count,
                    (poli_pen){d->theme->grid, grid_width, POL_LINE_SOLID});
}

/* Whether a line that starts at this point has no length: a point without neighbours. */
static int is_lone(const poli_curve *curve, size_t i)
{
  const poli_pixel *p = curve->points;
  if (isnan(p[i].x) || (i > 0 && !isnan(p[i - 1].x))) return 0;
  for (i++; i < curve->count && !isnan(p[i].x); i++)
    if (hypot(p[i].x - p[i - 1].x, p[i].y - p[i - 1].y) > 0.5) return 0;
  return 1;
}

static void draw_slope(const drawing *d, const poli_panel_layout *p, const pol_slope *slope)
{
  const poli_scale *x = &d->layout.x, *y = &p->y;
  const double y1 = poli_slope_end(slope);
  const poli_pixel a = {poli_scale_pixel(x, slope->x[0]), poli_scale_pixel(y, slope->y0)};
  const poli_pixel b = {poli_scale_pixel(x, slope->x[1]), poli_scale_pixel(y, y1)};
  const poli_pen pen = {d->theme->frame, 1, slope->triangle ? POL_LINE_SOLID : POL_LINE_DASHED};
  char order[POLI_TICK_LABEL];
  int decimals = 0; /* "2", "1.5" */
  while (decimals < 2 &&
         fabs(slope->order * pow(10, decimals) - round(slope->order * pow(10, decimals))) > 1e-6)
    decimals++;
  poli_ticks_number(order, sizeof order, slope->order, decimals);
  const char *label = slope->label != NULL ? slope->label : order;
  if (slope->triangle) {
    const poli_pixel corners[] = {a, {b.x, a.y}, b, a};
    const int down = a.y > b.y; /* the corner is below the line */
    poli_canvas_lines(d->canvas, corners, 4, pen);
    draw_text(d, (poli_text){b.x + 5, 0.5 * (a.y + b.y) + 4, -1, 0, 0, POLI_TICK_FONT, 0}, HUGE_VAL,
              label);
    draw_text(d, (poli_text){0.5 * (a.x + b.x), a.y + (down ? 13 : -5), 0, 0, 0, POLI_TICK_FONT, 0},
              HUGE_VAL, "1");
  } else {
    draw_line(d, a.x, a.y, b.x, b.y, pen);
    draw_text(d, (poli_text){b.x - 5, b.y - 4, 1, 0, 0, POLI_TICK_FONT, 0}, HUGE_VAL, label);
  }
}

static void draw_note(const drawing *d, const poli_panel_layout *p, const pol_note *note)
{
  poli_text where = {.anchor = note->anchor, .size = POLI_TICK_FONT};
  if (note->relative) {
    where.x = p->box.x + note->x * p->box.width;
    where.y = p->box.y + (1 - note->y) * p->box.height;
  } else if (pol_axis_shows(note->x, d->layout.x.log) && pol_axis_shows(note->y, p->y.log)) {
    where.x = poli_scale_pixel(&d->layout.x, note->x);
    where.y = poli_scale_pixel(&p->y, note->y);
  } else {
    return;
  }
  draw_text(d, where, p->box.width, note->text);
}

static void draw_inside(const drawing *d, const poli_panel_layout *p)
{
  const pol_panel *panel = p->panel;
  /* lines on the frame stay whole */
  const poli_box clip = {p->box.x - 1, p->box.y - 1, p->box.width + 2, p->box.height + 2};
  const poli_box markers = {clip.x - 4, clip.y - 4, clip.width + 8, clip.height + 8};
  int any_marker = 0;
  for (int i = 0; i < panel->num_series; i++)
    any_marker |= panel->series[i].marker != POL_MARKER_NONE;
  if (d->layout.figure->grid) draw_grid(d, p);
  poli_canvas_clip(d->canvas, any_marker ? markers : clip);
  for (int i = 0; i < panel->num_series; i++) {
    const pol_series *series = &panel->series[i];
    const poli_curve *curve = &p->curves[i];
    const poli_color color = series_color(d, series->color);
    poli_canvas_lines(d->canvas, curve->points, curve->count,
                      (poli_pen){color, curve_width, series->line});
    if (series->marker == POL_MARKER_NONE && series->line != POL_LINE_NONE) {
      /* Points without neighbours, which would be specks of a line, become dots. */
      poli_pixel dots[64];
      size_t count = 0;
      for (size_t k = 0; k < curve->count; k++) {
        if (is_lone(curve, k)) dots[count++] = curve->points[k];
        if (count < sizeof dots / sizeof dots[0]) continue;
        poli_canvas_markers(d->canvas, dots, count, POL_MARKER_CIRCLE, dot_radius, color);
        count = 0;
      }
      poli_canvas_markers(d->canvas, dots, count, POL_MARKER_CIRCLE, dot_radius, color);
    }
    poli_canvas_markers(d->canvas, curve->points, curve->count, series->marker, marker_radius,
                        color);
  }
  poli_canvas_unclip(d->canvas);
  for (int i = 0; i < panel->num_slopes; i++) draw_slope(d, p, &panel->slopes[i]);
  for (int i = 0; i < panel->num_notes; i++) draw_note(d, p, &panel->notes[i]);
  /* Says that a panel has series, but none of them a point that its axes can show. */
  size_t points = 0;
  for (int i = 0; i < p->panel->num_series; i++) points += p->curves[i].count;
  if (points > 0 || p->panel->num_series == 0) return;
  draw_text(d,
            (poli_text){p->box.x + 0.5 * p->box.width, p->box.y + 0.5 * p->box.height + 4, 0, 0, 0,
                        POLI_TICK_FONT, 0},
            p->box.width, "no points to draw");
}

/* --- around it -------------------------------------------------------------------------------- */

static void draw_x_labels(const drawing *d)
{
  const poli_layout *layout = &d->layout;
  const poli_box box = layout->panels[layout->figure->num_panels - 1].box;
  const double bottom = box.y + box.height, right = box.x + box.width;
  const double offset = poli_text_rich_width(layout->ticks.offset, POLI_TICK_FONT);
  for (int i = 0; i < layout->ticks.count; i++) {
    const double x = poli_scale_pixel(&layout->x, layout->ticks.at[i]);
    draw_text(d, (poli_text){x, bottom + 18, 0, 0, 0, POLI_TICK_FONT, 0}, HUGE_VAL,
              layout->ticks.label[i]);
  }
  draw_text(d, (poli_text){right, bottom + 36, 1, 0, 0, POLI_TICK_FONT, 0}, HUGE_VAL,
            layout->ticks.offset);
  draw_text(d, (poli_text){box.x + 0.5 * box.width, bottom + 38, 0, 0, 0, POLI_LABEL_FONT, 0},
            box.width - 2 * offset, layout->figure->x.label);
}

/* In one line or two, from below upwards. */
static void draw_y_label(const drawing *d, const poli_panel_layout *p)
{
  poli_text where = {.x = POLI_LABEL_FONT + 9,
                     .y = p->box.y + 0.5 * p->box.height,
                     .upright = 1,
                     .size = POLI_LABEL_FONT};
  const char *label = words(p->panel->y.label);
  if (p->label_break > 0) {
    char first[512];
    snprintf(first, sizeof first, "%.*s", (int)p->label_break, label);
    draw_text(d, where, p->box.height + 10, first);
    where.x += POLI_LABEL_FONT + 2;
  }
  draw_text(d, where, p->box.height + 10, label + p->label_break);
}

/* --- the legend ------------------------------------------------------------------------------- */

static void draw_legend(const drawing *d, const poli_panel_layout *p)
{
  const poli_box box = p->legend;
  int row = 0, left_out = 0;
  if (box.width == 0) return;
  if (!p->beside) poli_canvas_fill(d->canvas, box, d->theme->background);
  for (int i = 0; i < p->panel->num_series; i++) {
    const pol_series *series = &p->panel->series[i];
    if (series->label == NULL) continue;
    if (row == p->legend_rows) {
      left_out++;
      continue;
    }
    char label[POLI_TEXT_SIZE(POLI_LEGEND_CHARACTERS)];
    const double left = box.x + POLI_LEGEND_PADDING;
    const double y = box.y + POLI_LEGEND_PADDING + (row++ + 0.5) * POLI_LEGEND_ROW;
    const poli_color color = series_color(d, series->color);
    const poli_pixel middle = {left + 0.5 * POLI_LEGEND_SAMPLE, y};
    draw_line(d, left + 1, y, left + POLI_LEGEND_SAMPLE - 1, y,
              (poli_pen){color, curve_width, series->line});
    poli_canvas_markers(d->canvas, &middle, 1, series->marker, marker_radius, color);
    poli_legend_label(series, poli_legend_label_width(p), label);
    draw_text(d,
              (poli_text){left + POLI_LEGEND_SAMPLE + POLI_LEGEND_GAP, y + 4, -1, 0, 0,
                          POLI_LEGEND_FONT, 0},
              HUGE_VAL, label);
  }
  if (left_out > 0) {
    char text[32];
    snprintf(text, sizeof text, "and %d more", left_out);
    draw_text(d,
              (poli_text){box.x + POLI_LEGEND_PADDING,
                          box.y + POLI_LEGEND_PADDING + (row + 0.5) * POLI_LEGEND_ROW + 4, -1, 0, 0,
                          POLI_LEGEND_FONT, 0},
              HUGE_VAL, text);
  }
}

/* --- the figure ------------------------------------------------------------------------------- */

static void draw_figure(const drawing *d)
{
  const pol_figure *figure = d->layout.figure;
  for (int i = 0; i < figure->num_panels; i++) {
    const poli_panel_layout *p = &d->layout.panels[i];
    draw_inside(d, p);
    /* Frame and ticks in one path. */
    const poli_box b = p->box;
    const double right = b.x + b.width, bottom = b.y + b.height;
    const poli_pen pen = {d->theme->frame, frame_width, POL_LINE_SOLID};
    const poli_pixel frame[] = {
        {b.x, b.y}, {right, b.y}, {right, bottom}, {b.x, bottom}, {b.x, b.y}};
    poli_pixel points[3 * 2 * (POLI_MAX_TICKS + POLI_MAX_MINOR_TICKS)];
    size_t count = 0;
    for (int axis = 0; axis < 2; axis++) {
      const poli_ticks *ticks = axis == 0 ? &d->layout.ticks : &p->ticks;
      const poli_scale *scale = axis == 0 ? &d->layout.x : &p->y;
      for (int j = 0; j < ticks->count + ticks->num_minor; j++) {
        const int is_major = j < ticks->count;
        const double length = is_major ? 4 : 2.2;
        const double at =
            poli_scale_pixel(scale, is_major ? ticks->at[j] : ticks->minor[j - ticks->count]);
        const double part = (at - scale->start) / scale->length;
        if (!(part > -1e-6 && part < 1 + 1e-6)) continue;
        points[count++] = axis == 0 ? (poli_pixel){at, bottom} : (poli_pixel){b.x, at};
        points[count++] =
            axis == 0 ? (poli_pixel){at, bottom + length} : (poli_pixel){b.x - length, at};
        points[count++] = POLI_GAP;
      }
    }
    poli_canvas_lines(d->canvas, frame, 5, pen);
    poli_canvas_lines(d->canvas, points, count, pen);
    const poli_box box = p->box;
    for (int k = 0; k < p->ticks.count; k++) {
      const double y = poli_scale_pixel(&p->y, p->ticks.at[k]);
      draw_text(d, (poli_text){box.x - 7, y + 4, 1, 0, 0, POLI_TICK_FONT, 0}, HUGE_VAL,
                p->ticks.label[k]);
    }
    draw_text(d, (poli_text){box.x, box.y - 6, -1, 0, 0, POLI_TICK_FONT, 0}, HUGE_VAL,
              p->ticks.offset);
    draw_y_label(d, p);
    draw_legend(d, p);
  }
  draw_x_labels(d);
  /* Above the middle of the panels, or as near to it as the title has room. */
  const poli_box first = d->layout.panels[0].box;
  const double outer = 12, bold = 1.12; /* how much wider bold letters are */
  char fitted[POLI_TEXT_SIZE(LABEL_CHARACTERS)];
  poli_text_fit(words(figure->title), (figure->width - 2 * outer) / bold, POLI_TITLE_FONT,
                LABEL_CHARACTERS, fitted);
  const double half = 0.5 * bold * poli_text_rich_width(fitted, POLI_TITLE_FONT);
  const double middle = fmin(first.x + 0.5 * first.width, figure->width - outer - half);
  draw_text(d, (poli_text){fmax(middle, outer + half), 28, 0, 0, 1, POLI_TITLE_FONT, 0}, HUGE_VAL,
            fitted);
}

static const poli_theme *theme_of(const pol_figure *figure)
{
  return &poli_themes[figure->dark ? 1 : 0];
}

/* Draws on the canvas.  Whatever the result, the caller frees the canvas. */
static pol_status draw_on(poli_canvas *canvas, const pol_figure *figure)
{
  drawing d = {.theme = theme_of(figure), .canvas = canvas};
  pol_status status = poli_layout_make(&d.layout, figure);
  if (status == POL_OK) draw_figure(&d);
  poli_layout_free(&d.layout);
  return status == POL_OK ? canvas->status : status;
}

pol_status pol_figure_svg(const pol_figure *figure, char **text)
{
  poli_canvas *canvas = NULL;
  *text = NULL;
  pol_status status = pol_figure_validate(figure, NULL, 0);
  if (status == POL_OK)
    status = poli_canvas_svg(&canvas, figure->width, figure->height, theme_of(figure)->background);
  if (status == POL_OK) status = draw_on(canvas, figure);
  if (status == POL_OK) status = poli_canvas_take_svg(canvas, text);
  poli_canvas_free(&canvas);
  return status;
}

pol_status pol_figure_write(const pol_figure *figure, const char *path)
{
  const size_t length = strlen(path);
  const char *ending = length >= 4 ? path + length - 4 : "";
  const int is_png = strcmp(ending, ".png") == 0, is_pdf = strcmp(ending, ".pdf") == 0;
  if (is_png || is_pdf) {
    const poli_color background = theme_of(figure)->background;
    poli_canvas *canvas = NULL;
    pol_status status = pol_figure_validate(figure, NULL, 0);
    if (status == POL_OK && is_png)
      status = poli_canvas_png(&canvas, figure->width, figure->height, figure->scale, background);
    if (status == POL_OK && is_pdf)
      status = poli_canvas_pdf(&canvas, figure->width, figure->height, path, background);
    if (status == POL_OK) status = draw_on(canvas, figure);
    if (status == POL_OK && is_png) status = poli_canvas_write_png(canvas, path);
    if (canvas != NULL && is_pdf) status = poli_canvas_finish_pdf(canvas, path, status);
    poli_canvas_free(&canvas);
    return status;
  }
  char *text;
  const pol_status status = pol_figure_svg(figure, &text);
  if (status != POL_OK) return status;
  FILE *file = fopen(path, "wb");
  if (file != NULL) fputs(text, file);
  free(text);
  return file != NULL ? pol_output_close(file, path, POL_OK) : POL_IO;
}
