/* What figures are drawn on: one set of calls, kept as SVG text, painted into a PNG or written to a
 * PDF.
 *
 * Coordinates are pixels from the upper left corner.  A canvas remembers its first failure; calls
 * after it do nothing, and the end reports it.
 */
#ifndef POLHODE_PLOT_CANVAS_H
#define POLHODE_PLOT_CANVAS_H

#include <math.h>

#include <polhode/plot.h>

typedef struct poli_pixel {
  double x, y;
} poli_pixel;

/* What stands between two lines in a list of points. */
#define POLI_GAP ((poli_pixel){(double)NAN, (double)NAN})

typedef struct poli_box {
  double x, y, width, height;
} poli_box;

typedef unsigned poli_color; /* 0xRRGGBB */

typedef struct poli_theme {
  poli_color background, text, frame, grid;
  poli_color palette[POL_PLOT_COLORS];
} poli_theme;

/* The light one, then the dark one; figure.c. */
extern const poli_theme poli_themes[2];

typedef struct poli_pen {
  poli_color color;
  double width;
  pol_plot_line line;
} poli_pen;

typedef struct poli_text {
  double x, y; /* of the base line */
  int anchor;  /* as in pol_note */
  int upright; /* reads from below upwards */
  int bold;
  double size;
  poli_color color;
} poli_text;

typedef struct poli_canvas poli_canvas;

/* The three kinds.  background fills all.  A PDF is written while it is drawn; errno has the reason
 * of POL_IO. */
pol_status poli_canvas_svg(poli_canvas **canvas, double width, double height,
                           poli_color background);
pol_status poli_canvas_png(poli_canvas **canvas, double width, double height, double scale,
                           poli_color background);
pol_status poli_canvas_pdf(poli_canvas **canvas, double width, double height, const char *path,
                           poli_color background);

/* Lines through the points; a point that is not a number ends one, and the next starts another. */
void poli_canvas_lines(poli_canvas *canvas, const poli_pixel *points, size_t count, poli_pen pen);
/* Markers of this radius at all points that are numbers. */
void poli_canvas_markers(poli_canvas *canvas, const poli_pixel *points, size_t count,
                         pol_plot_marker marker, double radius, poli_color color);
void poli_canvas_fill(poli_canvas *canvas, poli_box box, poli_color color);
/* The text as poli_text_clean makes it, with raised digits; empty text draws nothing. */
void poli_canvas_text(poli_canvas *canvas, poli_text where, const char *text);
/* Until unclip, only what lies in the box is drawn. */
void poli_canvas_clip(poli_canvas *canvas, poli_box box);
void poli_canvas_unclip(poli_canvas *canvas);

/* Of an SVG canvas: the text, which the caller frees. */
pol_status poli_canvas_take_svg(poli_canvas *canvas, char **text);
/* Of a PNG canvas: writes the file, replacing it.  errno has the reason if it cannot. */
pol_status poli_canvas_write_png(poli_canvas *canvas, const char *path);
/* Of a PDF canvas: completes the file, or removes it if status is not POL_OK. */
pol_status poli_canvas_finish_pdf(poli_canvas *canvas, const char *path, pol_status status);
void poli_canvas_free(poli_canvas **canvas);

/* --- for the two kinds ------------------------------------------------------------------------ */

struct poli_canvas {
  void (*lines)(poli_canvas *, const poli_pixel *, size_t, const poli_pen *);
  void (*markers)(poli_canvas *, const poli_pixel *, size_t, pol_plot_marker, double, poli_color);
  void (*fill)(poli_canvas *, poli_box, poli_color);
  void (*text)(poli_canvas *, const poli_text *, const char *); /* the text is clean */
  void (*clip)(poli_canvas *, poli_box);
  void (*unclip)(poli_canvas *);
  void (*free)(poli_canvas *);
  pol_status status;
};

#endif
