/* What figures are drawn on: one set of calls, kept as SVG text or painted into a PNG.
 *
 * Coordinates are pixels from the upper left corner.  A canvas remembers its first failure; calls
 * after it do nothing, and the end reports it.
 */
#ifndef POLHODE_PLOT_CANVAS_H
#define POLHODE_PLOT_CANVAS_H

#include <math.h>

#include <polhode/plot.h>

typedef struct pol_point {
  double x, y;
} pol_point;

/* What stands between two lines in a list of points. */
#define POL_GAP ((pol_point){(double)NAN, (double)NAN})

typedef struct pol_box {
  double x, y, width, height;
} pol_box;

typedef unsigned pol_color; /* 0xRRGGBB */

typedef struct pol_pen {
  pol_color color;
  double width;
  pol_plot_line line;
} pol_pen;

typedef struct pol_text {
  double x, y; /* of the base line */
  int anchor;  /* as in pol_note */
  int upright; /* reads from below upwards */
  int bold;
  double size;
  pol_color color;
} pol_text;

typedef struct pol_canvas pol_canvas;

/* The two kinds.  background fills all. */
pol_status pol_canvas_svg(pol_canvas **canvas, double width, double height, pol_color background);
pol_status pol_canvas_png(pol_canvas **canvas, double width, double height, double scale,
                          pol_color background);

/* Lines through the points; a point that is not a number ends one, and the next starts another. */
void pol_canvas_lines(pol_canvas *canvas, const pol_point *points, size_t count, pol_pen pen);
/* Markers of this radius at all points that are numbers. */
void pol_canvas_markers(pol_canvas *canvas, const pol_point *points, size_t count,
                        pol_plot_marker marker, double radius, pol_color color);
void pol_canvas_fill(pol_canvas *canvas, pol_box box, pol_color color);
/* The text as pol_text_clean makes it, with raised digits; empty text draws nothing. */
void pol_canvas_text(pol_canvas *canvas, pol_text where, const char *text);
/* Until unclip, only what lies in the box is drawn. */
void pol_canvas_clip(pol_canvas *canvas, pol_box box);
void pol_canvas_unclip(pol_canvas *canvas);

/* Of an SVG canvas: the text, which the caller frees. */
pol_status pol_canvas_take_svg(pol_canvas *canvas, char **text);
/* Of a PNG canvas: writes the file, replacing it.  errno says why it cannot. */
pol_status pol_canvas_write_png(pol_canvas *canvas, const char *path);
void pol_canvas_free(pol_canvas **canvas);

/* --- for the two kinds ------------------------------------------------------------------------ */

struct pol_canvas {
  void (*lines)(pol_canvas *, const pol_point *, size_t, const pol_pen *);
  void (*markers)(pol_canvas *, const pol_point *, size_t, pol_plot_marker, double, pol_color);
  void (*fill)(pol_canvas *, pol_box, pol_color);
  void (*text)(pol_canvas *, const pol_text *, const char *); /* the text is clean */
  void (*clip)(pol_canvas *, pol_box);
  void (*unclip)(pol_canvas *);
  void (*free)(pol_canvas *);
  pol_status status;
};

/* The dashes of a line, lengths on and off for a pen of width 1; gives their count. */
int pol_dashes(pol_plot_line line, const double **lengths);
/* The corners of a marker with straight sides, at radius 1; gives their count, 0 for a circle and a
 * cross. */
int pol_marker_corners(pol_plot_marker marker, const pol_point **corners);

#endif
