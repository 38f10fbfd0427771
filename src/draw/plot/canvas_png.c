/* A canvas that becomes a PNG file, painted with cairo. */
#include <cairo.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/output.h>

#include "draw/plot/canvas.h"
#include "draw/plot/text.h"

typedef struct png {
  poli_canvas base;
  cairo_surface_t *surface;
  cairo_t *cairo;
} png;

static const double quarter_turn = 1.57079632679489662;

static pol_status translate(cairo_status_t status)
{
  if (status == CAIRO_STATUS_SUCCESS) return POL_OK;
  return status == CAIRO_STATUS_WRITE_ERROR ? POL_IO : POL_NO_MEMORY;
}

static void set_color(cairo_t *cr, poli_color color)
{
  cairo_set_source_rgb(cr, (color >> 16 & 255) / 255.0, (color >> 8 & 255) / 255.0,
                       (color & 255) / 255.0);
}

/* --- drawing ---------------------------------------------------------------------------------- */

static void png_lines(poli_canvas *canvas, const pol_point *points, size_t count,
                      const poli_pen *pen)
{
  cairo_t *cr = ((png *)canvas)->cairo;
  const double *lengths;
  double dashes[8];
  const int num_dashes = poli_dashes(pen->line, &lengths);
  int begins = 1;
  for (size_t i = 0; i < count; i++) {
    if (isnan(points[i].x)) {
      begins = 1;
      continue;
    }
    (begins ? cairo_move_to : cairo_line_to)(cr, points[i].x, points[i].y);
    begins = 0;
  }
  for (int i = 0; i < num_dashes; i++) dashes[i] = lengths[i] * pen->width;
  cairo_set_dash(cr, dashes, num_dashes, 0);
  cairo_set_line_width(cr, pen->width);
  set_color(cr, pen->color);
  cairo_stroke(cr);
  canvas->status = translate(cairo_status(cr));
}

static void add_marker(cairo_t *cr, pol_point at, pol_plot_marker marker, double r)
{
  const pol_point *corners;
  const int num_corners = poli_marker_corners(marker, &corners);
  if (marker == POL_MARKER_CIRCLE) {
    cairo_new_sub_path(cr);
    cairo_arc(cr, at.x, at.y, r, 0, 4 * quarter_turn);
  } else if (marker == POL_MARKER_CROSS) {
    cairo_move_to(cr, at.x - r, at.y - r);
    cairo_line_to(cr, at.x + r, at.y + r);
    cairo_move_to(cr, at.x - r, at.y + r);
    cairo_line_to(cr, at.x + r, at.y - r);
  }
  for (int i = 0; i < num_corners; i++)
    (i == 0 ? cairo_move_to : cairo_line_to)(cr, at.x + r * corners[i].x, at.y + r * corners[i].y);
  if (num_corners > 0) cairo_close_path(cr);
}

static void png_markers(poli_canvas *canvas, const pol_point *points, size_t count,
                        pol_plot_marker marker, double radius, poli_color color)
{
  cairo_t *cr = ((png *)canvas)->cairo;
  for (size_t i = 0; i < count; i++)
    if (!isnan(points[i].x)) add_marker(cr, points[i], marker, radius);
  set_color(cr, color);
  if (marker == POL_MARKER_CROSS) {
    cairo_set_dash(cr, NULL, 0, 0);
    cairo_set_line_width(cr, 0.5 * radius);
    cairo_stroke(cr);
  } else {
    cairo_fill(cr);
  }
  canvas->status = translate(cairo_status(cr));
}

static void png_fill(poli_canvas *canvas, poli_box box, poli_color color)
{
  cairo_t *cr = ((png *)canvas)->cairo;
  set_color(cr, color);
  cairo_rectangle(cr, box.x, box.y, box.width, box.height);
  cairo_fill(cr);
  canvas->status = translate(cairo_status(cr));
}

/* Draws the text from where the pen is, or only moves the pen; gives the width. */
static double draw_text(cairo_t *cr, const char *text, double size, int visible)
{
  double width = 0;
  int raised;
  size_t skip, length;
  while ((length = poli_text_piece(text, &raised, &skip)) > 0) {
    char piece[1024];
    cairo_text_extents_t extents;
    memcpy(piece, text + skip, length);
    piece[length] = '\0';
    cairo_set_font_size(cr, raised ? POLI_RAISED_SIZE * size : size);
    cairo_text_extents(cr, piece, &extents);
    if (visible) {
      cairo_move_to(cr, width, raised ? -POLI_RAISED_BY * size : 0);
      cairo_show_text(cr, piece);
    }
    width += extents.x_advance;
    text += skip + length;
  }
  return width;
}

static void png_text(poli_canvas *canvas, const poli_text *where, const char *text)
{
  cairo_t *cr = ((png *)canvas)->cairo;
  cairo_select_font_face(cr, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                         where->bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
  set_color(cr, where->color);
  cairo_save(cr);
  cairo_translate(cr, where->x, where->y);
  if (where->upright) cairo_rotate(cr, -quarter_turn);
  const double width = draw_text(cr, text, where->size, 0);
  cairo_translate(cr, -0.5 * (1 + where->anchor) * width, 0);
  draw_text(cr, text, where->size, 1);
  cairo_restore(cr);
  cairo_new_path(cr);
  canvas->status = translate(cairo_status(cr));
}

static void png_clip(poli_canvas *canvas, poli_box box)
{
  cairo_t *cr = ((png *)canvas)->cairo;
  cairo_save(cr);
  cairo_rectangle(cr, box.x, box.y, box.width, box.height);
  cairo_clip(cr);
}

static void png_unclip(poli_canvas *canvas)
{
  cairo_restore(((png *)canvas)->cairo);
}

/* --- life ------------------------------------------------------------------------------------- */

static void png_free(poli_canvas *canvas)
{
  png *p = (png *)canvas;
  cairo_destroy(p->cairo);
  cairo_surface_destroy(p->surface);
  free(p);
}

pol_status poli_canvas_png(poli_canvas **canvas, double width, double height, double scale,
                           poli_color background)
{
  png *p = calloc(1, sizeof *p);
  *canvas = NULL;
  if (p == NULL) return POL_NO_MEMORY;
  p->base = (poli_canvas){.lines = png_lines,
                          .markers = png_markers,
                          .fill = png_fill,
                          .text = png_text,
                          .clip = png_clip,
                          .unclip = png_unclip,
                          .free = png_free};
  *canvas = &p->base;
  p->surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)lround(width * scale),
                                          (int)lround(height * scale));
  p->cairo = cairo_create(p->surface);
  cairo_scale(p->cairo, scale, scale);
  cairo_set_line_cap(p->cairo, CAIRO_LINE_CAP_ROUND);
  cairo_set_line_join(p->cairo, CAIRO_LINE_JOIN_ROUND);
  png_fill(&p->base, (poli_box){0, 0, width + 1, height + 1}, background);
  if (p->base.status == POL_OK) return POL_OK;
  pol_status status = p->base.status;
  poli_canvas_free(canvas);
  return status;
}

static cairo_status_t write_bytes(void *file, const unsigned char *data, unsigned int length)
{
  return fwrite(data, 1, length, file) == length ? CAIRO_STATUS_SUCCESS : CAIRO_STATUS_WRITE_ERROR;
}

pol_status poli_canvas_write_png(poli_canvas *canvas, const char *path)
{
  png *p = (png *)canvas;
  if (canvas->status != POL_OK) return canvas->status;
  FILE *file = fopen(path, "wb");
  if (file == NULL) return POL_IO;
  pol_status status = translate(cairo_surface_write_to_png_stream(p->surface, write_bytes, file));
  return pol_output_close(file, path, status);
}
