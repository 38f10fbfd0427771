/* Where everything of a figure stands: ranges and ticks of the axes, frames of the panels, curves,
 * legends.
 *
 * The panels share the x axis and so their left and right edges.  These depend on what stands
 * beside them, labels of ticks on the left and legends on the right; whether a legend has to go
 * there depends on the curves inside.  So frames are made with all legends inside, and once more if
 * one of them hides too much. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "draw/plot/layout.h"
#include "draw/plot/text.h"

static const double inset = 9;       /* from the frame */
static const double sample_step = 3; /* at which curves are looked at, in pixels */
static const double dot = 5;         /* what a lone point hides */

void poli_legend_label(const pol_series *series, double width, char *text)
{
  poli_text_fit(series->label, width, POLI_LEGEND_FONT, POLI_LEGEND_CHARACTERS, text);
}

double poli_legend_label_width(const poli_panel_layout *layout)
{
  /* half a pixel against round-off: what was measured must fit again */
  return layout->legend.width - 2 * POLI_LEGEND_PADDING - POLI_LEGEND_SAMPLE - POLI_LEGEND_GAP +
         0.5;
}

/* Sets the size of the legend if it may take this width, and the rows for this height; a size of 0
 * if it has no rows. */
static void measure_legend(poli_panel_layout *layout, double width, double height)
{
  const pol_panel *panel = layout->panel;
  const double around = 2 * POLI_LEGEND_PADDING + POLI_LEGEND_SAMPLE + POLI_LEGEND_GAP;
  double widest = 0;
  int rows = 0;
  for (int i = 0; i < panel->num_series; i++) {
    char text[POLI_TEXT_SIZE(POLI_LEGEND_CHARACTERS)];
    if (panel->series[i].label == NULL) continue;
    poli_legend_label(&panel->series[i], width - around, text);
    widest = fmax(widest, poli_text_rich_width(text, POLI_LEGEND_FONT));
    rows++;
  }
  layout->legend = (poli_box){0};
  layout->legend_rows = 0;
  if (rows == 0 || panel->legend == POL_LEGEND_NONE || layout->shares_legend) return;

  /* the number of rows without room is in a last row */
  const int most = (int)fmax(1, (height - 2 * POLI_LEGEND_PADDING) / POLI_LEGEND_ROW);
  layout->legend_rows = rows <= most ? rows : most - 1;
  layout->legend.width = fmin(widest + around, width);
  layout->legend.height = 2 * POLI_LEGEND_PADDING + POLI_LEGEND_ROW * (rows <= most ? rows : most);
}

static int is_inside(poli_box box, double x, double y)
{
  return x >= box.x && x <= box.x + box.width && y >= box.y && y <= box.y + box.height;
}

/* The length of a curve inside the box; a lone point counts as its dot. */
static double hidden_length(const poli_curve *curve, poli_box box)
{
  double length = 0;
  for (size_t i = 1; i < curve->count; i++) {
    const poli_pixel a = curve->points[i - 1], b = curve->points[i];
    const double distance = hypot(b.x - a.x, b.y - a.y);
    if (isnan(distance)) continue;
    const int parts = (int)fmin(distance / sample_step, 1000) + 1;
    for (int k = 0; k < parts; k++) {
      const double s = (k + 0.5) / parts;
      if (is_inside(box, a.x + s * (b.x - a.x), a.y + s * (b.y - a.y)))
        length += distance > 0 ? distance / parts : dot;
    }
  }
  return length;
}

double poli_legend_place(poli_panel_layout *layout)
{
  /* corners first: the earlier wins if equal */
  static const double places[][2] = {{1, 0},   {0, 0},   {1, 1},   {0, 1},
                                     {1, 0.5}, {0, 0.5}, {0.5, 0}, {0.5, 1}};
  const poli_box frame = layout->box;
  double best = HUGE_VAL;
  poli_box chosen = layout->legend;
  for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
    poli_box box = layout->legend;
    box.x = frame.x + inset + places[i][0] * (frame.width - box.width - 2 * inset);
    box.y = frame.y + inset + places[i][1] * (frame.height - box.height - 2 * inset);
    /* The length of all curves in the box; markers count as if they were as long as they are wide.
     */
    double length = 0;
    const poli_box wide = {box.x - 4, box.y - 4, box.width + 8, box.height + 8};
    for (int j = 0; j < layout->panel->num_series; j++) {
      const poli_curve *curve = &layout->curves[j];
      if (layout->panel->series[j].line != POL_LINE_NONE) length += hidden_length(curve, wide);
      if (layout->panel->series[j].marker == POL_MARKER_NONE) continue;
      for (size_t k = 0; k < curve->count; k++)
        if (is_inside(wide, curve->points[k].x, curve->points[k].y)) length += 8;
    }
    const double hidden = length;
    if (hidden < best) best = hidden, chosen = box;
  }
  layout->legend = chosen;
  return best;
}

static const double outer = 12;       /* margin of the figure */
static const double below_ticks = 22; /* labels of the x ticks */
static const double below_label = 20; /* label of the x axis */
static const double tick_distance_y = 26, most_ticks_y = 11;
static const double tick_distance_x = 48, most_ticks_x = 8;
static const size_t many_points = 10000; /* of a curve that should be thinned out further */
static const double most_hidden = 4;     /* pixels of curves that a legend may hide */

static int is_given(const char *text)
{
  return text != NULL && text[0] != '\0';
}

/* --- ranges ----------------------------------------------------------------------------------- */

static void include_panel(poli_range *range, const pol_figure *figure, const pol_panel *panel,
                          int by_y)
{
  for (int i = 0; i < panel->num_series; i++) {
    /* Takes in what the axes can show of a series: all of its x, and y where there is an x. */
    const pol_series *s = &panel->series[i];
    for (size_t k = 0; k < s->count; k++) {
      if (!pol_axis_shows(s->x[k], figure->x.log)) continue;
      if (!by_y) poli_range_include(range, s->x[k]);
      if (by_y && pol_axis_shows(s->y[k], panel->y.log)) poli_range_include(range, s->y[k]);
    }
  }
  for (int i = 0; i < panel->num_slopes; i++) {
    const pol_slope *slope = &panel->slopes[i];
    poli_range_include(range, by_y ? slope->y0 : slope->x[0]);
    poli_range_include(range, by_y ? poli_slope_end(slope) : slope->x[1]);
  }
}

static void finish_axis(poli_scale *scale, poli_range range, const pol_axis *axis)
{
  scale->log = axis->log;
  scale->range = range;
  if (axis->min != 0 || axis->max != 0)
    scale->range = (poli_range){axis->min, axis->max};
  else
    poli_range_finish(&scale->range, axis->log, axis->margin);
}

static void make_ranges(poli_layout *layout)
{
  const pol_figure *figure = layout->figure;
  poli_range x = poli_range_empty();
  for (int i = 0; i < figure->num_panels; i++) {
    poli_range y = poli_range_empty();
    include_panel(&x, figure, &figure->panels[i], 0);
    include_panel(&y, figure, &figure->panels[i], 1);
    finish_axis(&layout->panels[i].y, y, &figure->panels[i].y);
  }
  finish_axis(&layout->x, x, &figure->x);
}

/* --- frames ----------------------------------------------------------------------------------- */

/* And on their right: legends, at least room for half a label of a tick. */
static double right_of_panels(const poli_layout *layout)
{
  double widest = 0;
  for (int i = 0; i < layout->figure->num_panels; i++)
    if (layout->panels[i].beside) widest = fmax(widest, layout->panels[i].legend.width);
  return widest > 0 ? widest + outer : outer + 8;
}

static void make_y_ticks(poli_panel_layout *p, double distance)
{
  poli_ticks_make(&p->ticks, p->y.range, p->y.log, p->box.height, distance, 0);
}

/* Tops and heights, which need only the number of panels. */
static void stack_panels(poli_layout *layout)
{
  const pol_figure *figure = layout->figure;
  const double n = figure->num_panels;
  const double top = outer + (is_given(figure->title) ? POLI_TITLE_FONT + 12 : 2);
  const double bottom =
      figure->height - below_ticks - outer + 4 - (is_given(figure->x.label) ? below_label : 0);
  /* a line above a panel for the power of ten of its ticks */
  double gap = 14;
  for (int pass = 0; pass < 2; pass++) {
    const double first = gap > 14 ? 14 : 0;
    const double height = fmax((bottom - top - first - (n - 1) * gap) / n, 20);
    for (int i = 0; i < figure->num_panels; i++) {
      poli_panel_layout *p = &layout->panels[i];
      p->box.y = top + first + i * (height + gap);
      p->box.height = height;
      p->y.start = p->box.y + height;
      p->y.length = -height;
      make_y_ticks(p, fmax(tick_distance_y, height / most_ticks_y));
      if (p->ticks.offset[0] != '\0') gap = 24;
    }
  }
}

static void widen_range(poli_range *range, double extent)
{
  const double more = 0.5 * (extent - (range->hi - range->lo));
  if (!(more > 0)) return;
  range->lo -= more;
  range->hi += more;
}

/* --- curves and legends ----------------------------------------------------------------------- */

static void free_curves(poli_panel_layout *p)
{
  for (int i = 0; p->curves != NULL && i < p->panel->num_series; i++)
    poli_curve_free(&p->curves[i]);
}

static pol_status make_curves(poli_layout *layout)
{
  for (int i = 0; i < layout->figure->num_panels; i++) {
    poli_panel_layout *p = &layout->panels[i];
    free_curves(p);
    for (int k = 0; k < p->panel->num_series; k++) {
      pol_status status = poli_curve_make(&p->curves[k], &p->panel->series[k], &layout->x, &p->y);
      if (status != POL_OK) return status;
      if (p->panel->series[k].marker != POL_MARKER_NONE) continue;
      poli_curve_straighten(&p->curves[k]);
      if (p->curves[k].count > many_points) status = poli_curve_drop_covered(&p->curves[k], p->box);
      if (status != POL_OK) return status;
    }
  }
  return POL_OK;
}

/* Whether the legend should be beside the panel. */
static int wants_out(poli_panel_layout *p, double hidden)
{
  if (p->panel->legend != POL_LEGEND_AUTO || p->legend.width == 0) return 0;
  return hidden > most_hidden || p->legend.width > 0.6 * p->box.width ||
         p->legend.height > 0.75 * p->box.height;
}

/* Places all legends inside; returns whether any should be beside. */
static int place_inside(poli_layout *layout)
{
  int crowded = 0;
  for (int i = 0; i < layout->figure->num_panels; i++) {
    poli_panel_layout *p = &layout->panels[i];
    if (p->beside) continue;
    measure_legend(p, 0.6 * p->box.width, p->box.height - 12);
    if (p->legend.width == 0) continue;
    p->beside = wants_out(p, poli_legend_place(p));
    crowded |= p->beside;
  }
  return crowded;
}

/* Whether two panels have the same legend. */
static int same_legend(const pol_panel *a, const pol_panel *b)
{
  if (a->num_series != b->num_series || a->legend != b->legend) return 0;
  for (int i = 0; i < a->num_series; i++) {
    const pol_series *one = &a->series[i], *other = &b->series[i];
    if (!one->label != !other->label || one->color != other->color || one->line != other->line ||
        one->marker != other->marker || (one->label && strcmp(one->label, other->label) != 0))
      return 0;
  }
  return 1;
}

/* Frames, x ticks and curves for the legends as they are. */
static pol_status fit(poli_layout *layout)
{
  /* Sizes of the legends that stand beside, which the frames depend on. */
  for (int i = 0; i < layout->figure->num_panels; i++) {
    poli_panel_layout *p = &layout->panels[i];
    if (p->beside) measure_legend(p, 0.45 * layout->figure->width, p->box.height + 10);
  }
  /* Left and right edges. */
  /* What the panels need on their left: the widest label of a tick, and the axis label. */
  double widest = 0;
  int lines = 0; /* of the label */
  for (int i = 0; i < layout->figure->num_panels; i++) {
    poli_panel_layout *p = &layout->panels[i];
    const poli_ticks *ticks = &p->ticks;
    const char *label = p->panel->y.label;
    p->label_break =
        is_given(label) ? poli_text_break(label, p->box.height + 10, POLI_LABEL_FONT) : 0;
    lines = is_given(label) && lines < 1 ? 1 : lines;
    if (p->label_break > 0) lines = 2;
    for (int k = 0; k < ticks->count; k++)
      widest = fmax(widest, poli_text_rich_width(ticks->label[k], POLI_TICK_FONT));
  }
  const double left = outer + (lines > 0 ? lines * (POLI_LABEL_FONT + 2) + 5 : 0) + widest + 8;
  const double width = fmax(layout->figure->width - left - right_of_panels(layout), 20);
  layout->x.start = left;
  layout->x.length = width;
  for (int i = 0; i < layout->figure->num_panels; i++) {
    layout->panels[i].box.x = left;
    layout->panels[i].box.width = width;
  }
  if (layout->figure->equal) {
    /* Widens the ranges of the data until a unit of x is as long as one of y, in the panel that
     * needs it most. */
    make_ranges(layout);
    double unit = (layout->x.range.hi - layout->x.range.lo) / layout->x.length;
    for (int i = 0; i < layout->figure->num_panels; i++) {
      const poli_scale *y = &layout->panels[i].y;
      unit = fmax(unit, (y->range.hi - y->range.lo) / -y->length);
    }
    widen_range(&layout->x.range, unit * layout->x.length);
    for (int i = 0; i < layout->figure->num_panels; i++) {
      poli_scale *y = &layout->panels[i].y;
      widen_range(&y->range, unit * -y->length);
      make_y_ticks(&layout->panels[i], tick_distance_x);
    }
  }
  poli_ticks_make(&layout->ticks, layout->x.range, layout->x.log, layout->x.length,
                  fmax(tick_distance_x, layout->x.length / most_ticks_x), POLI_TICK_FONT);
  return make_curves(layout);
}

/* --- life ------------------------------------------------------------------------------------- */

pol_status poli_layout_make(poli_layout *layout, const pol_figure *figure)
{
  *layout = (poli_layout){.figure = figure};
  layout->panels = calloc((size_t)figure->num_panels, sizeof *layout->panels);
  if (layout->panels == NULL) return POL_NO_MEMORY;
  for (int i = 0; i < figure->num_panels; i++) {
    poli_panel_layout *p = &layout->panels[i];
    p->panel = &figure->panels[i];
    p->beside = p->panel->legend == POL_LEGEND_BESIDE;
    p->curves = calloc((size_t)p->panel->num_series + 1, sizeof *p->curves);
    if (p->curves == NULL) return POL_NO_MEMORY;
  }
  /* one legend for all panels if it is the same in all */
  int same = 1;
  for (int i = 1; i < figure->num_panels; i++)
    same &= same_legend(&figure->panels[0], &figure->panels[i]);
  for (int i = 1; i < figure->num_panels; i++) layout->panels[i].shares_legend = same;
  make_ranges(layout);
  stack_panels(layout);
  pol_status status = fit(layout);
  if (status == POL_OK && place_inside(layout)) {
    /* narrower frames: the legends that stay inside find their places again */
    status = fit(layout);
    if (status == POL_OK && place_inside(layout)) status = fit(layout);
  }
  for (int i = 0; i < layout->figure->num_panels; i++) {
    poli_panel_layout *p = &layout->panels[i];
    if (!p->beside) continue;
    p->legend.x = p->box.x + p->box.width + 6;
    p->legend.y = p->box.y - POLI_LEGEND_PADDING + 2;
  }
  return status;
}

void poli_layout_free(poli_layout *layout)
{
  for (int i = 0; layout->panels != NULL && i < layout->figure->num_panels; i++) {
    free_curves(&layout->panels[i]);
    free(layout->panels[i].curves);
  }
  free(layout->panels);
  layout->panels = NULL;
}
