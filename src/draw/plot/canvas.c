/* What both kinds of canvas share: the calls, dashes and the shapes of markers. */
#include "draw/plot/canvas.h"

#include "draw/plot/text.h"

void poli_canvas_lines(poli_canvas *canvas, const pol_point *points, size_t count, poli_pen pen)
{
  if (canvas->status == POL_OK && count > 0 && pen.line != POL_LINE_NONE)
    canvas->lines(canvas, points, count, &pen);
}

void poli_canvas_markers(poli_canvas *canvas, const pol_point *points, size_t count,
                         pol_plot_marker marker, double radius, poli_color color)
{
  if (canvas->status == POL_OK && count > 0 && marker != POL_MARKER_NONE)
    canvas->markers(canvas, points, count, marker, radius, color);
}

void poli_canvas_fill(poli_canvas *canvas, poli_box box, poli_color color)
{
  if (canvas->status == POL_OK) canvas->fill(canvas, box, color);
}

void poli_canvas_text(poli_canvas *canvas, poli_text where, const char *text)
{
  char clean[1024];
  poli_text_clean(text, clean, sizeof clean);
  if (canvas->status == POL_OK && clean[0] != '\0') canvas->text(canvas, &where, clean);
}

void poli_canvas_clip(poli_canvas *canvas, poli_box box)
{
  if (canvas->status == POL_OK) canvas->clip(canvas, box);
}

void poli_canvas_unclip(poli_canvas *canvas)
{
  if (canvas->status == POL_OK) canvas->unclip(canvas);
}

void poli_canvas_free(poli_canvas **canvas)
{
  if (*canvas != NULL) (*canvas)->free(*canvas);
  *canvas = NULL;
}

int poli_dashes(pol_plot_line line, const double **lengths)
{
  /* ends are round and stick out by half a width */
  static const double dashed[] = {4, 3.2}, dotted[] = {0.1, 2.6}, dash_dot[] = {5, 3, 0.1, 3};
  switch (line) {
  case POL_LINE_DASHED:
    *lengths = dashed;
    return 2;
  case POL_LINE_DOTTED:
    *lengths = dotted;
    return 2;
  case POL_LINE_DASH_DOT:
    *lengths = dash_dot;
    return 4;
  default:
    *lengths = NULL;
    return 0;
  }
}

int poli_marker_corners(pol_plot_marker marker, const pol_point **corners)
{
  static const pol_point square[] = {{-0.9, -0.9}, {0.9, -0.9}, {0.9, 0.9}, {-0.9, 0.9}};
  static const pol_point triangle[] = {{0, -1.25}, {1.1, 0.75}, {-1.1, 0.75}};
  static const pol_point diamond[] = {{0, -1.3}, {1.1, 0}, {0, 1.3}, {-1.1, 0}};
  switch (marker) {
  case POL_MARKER_SQUARE:
    *corners = square;
    return 4;
  case POL_MARKER_TRIANGLE:
    *corners = triangle;
    return 3;
  case POL_MARKER_DIAMOND:
    *corners = diamond;
    return 4;
  default:
    *corners = NULL;
    return 0;
  }
}
