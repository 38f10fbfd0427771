/* The legend: how large it is, and where it hides least. */
#include <math.h>
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

void poli_legend_measure(poli_panel_layout *layout, double width, double height)
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
  if (rows == 0 || panel->legend == POL_LEGEND_NONE) return;

  /* what has no room is told in a last row */
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
    const pol_point a = curve->points[i - 1], b = curve->points[i];
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

/* The length of all curves in the box; markers count as if they were as long as they are wide. */
static double hidden_in(const poli_panel_layout *layout, poli_box box)
{
  double length = 0;
  const poli_box wide = {box.x - 4, box.y - 4, box.width + 8, box.height + 8};
  for (int i = 0; i < layout->panel->num_series; i++) {
    const poli_curve *curve = &layout->curves[i];
    if (layout->panel->series[i].line != POL_LINE_NONE) length += hidden_length(curve, wide);
    if (layout->panel->series[i].marker == POL_MARKER_NONE) continue;
    for (size_t k = 0; k < curve->count; k++)
      if (is_inside(wide, curve->points[k].x, curve->points[k].y)) length += 8;
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
    const double hidden = hidden_in(layout, box);
    if (hidden < best) best = hidden, chosen = box;
  }
  layout->legend = chosen;
  return best;
}
