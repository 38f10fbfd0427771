/* Canvases: what all kinds share, SVG text, and PNG and PDF painted with cairo.
 *
 * SVG is small and plain: numbers have two decimals at most, a series is one path, text stays text
 * in the font of the reader.  Numbers are written without %f of printf, whose point depends on the
 * locale. */
#include <cairo-pdf.h>
#include <cairo.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/output.h>

#include "draw/plot/canvas.h"
#include "draw/plot/text.h"

void poli_canvas_lines(poli_canvas *canvas, const poli_pixel *points, size_t count, poli_pen pen)
{
  if (canvas->status == POL_OK && count > 0 && pen.line != POL_LINE_NONE)
    canvas->lines(canvas, points, count, &pen);
}

void poli_canvas_markers(poli_canvas *canvas, const poli_pixel *points, size_t count,
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

/* The dashes of a line, lengths on and off for a pen of width 1; returns their count. */
static int dashes_of(pol_plot_line line, const double **lengths)
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

/* The corners of a marker with straight sides, at radius 1; returns their count, 0 for a circle and
 * a cross. */
static int marker_corners(pol_plot_marker marker, const poli_pixel **corners)
{
  static const poli_pixel square[] = {{-0.9, -0.9}, {0.9, -0.9}, {0.9, 0.9}, {-0.9, 0.9}};
  static const poli_pixel triangle[] = {{0, -1.25}, {1.1, 0.75}, {-1.1, 0.75}};
  static const poli_pixel diamond[] = {{0, -1.3}, {1.1, 0}, {0, 1.3}, {-1.1, 0}};
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

typedef struct svg {
  poli_canvas base;
  char *text;
  size_t used, capacity;
  int num_clips;
} svg;

/* --- output ----------------------------------------------------------------------------------- */

static void put_bytes(svg *s, const char *bytes, size_t count)
{
  if (s->base.status != POL_OK) return;
  if (s->used + count + 1 > s->capacity) {
    size_t capacity = 2 * (s->used + count + 1);
    char *longer = realloc(s->text, capacity);
    if (longer == NULL) {
      s->base.status = POL_NO_MEMORY;
      return;
    }
    s->text = longer;
    s->capacity = capacity;
  }
  memcpy(s->text + s->used, bytes, count);
  s->used += count;
  s->text[s->used] = '\0';
}

static void put(svg *s, const char *text)
{
  put_bytes(s, text, strlen(text));
}

/* Text in which %n is a number, with two decimals at most, %c a colour, %s a string. */
static void print(svg *s, const char *format, ...)
{
  va_list arguments;
  char color[8], number[32];
  long hundredths, rest;
  int length;
  va_start(arguments, format);
  for (const char *c = format; *c != '\0'; c++) {
    if (*c != '%') {
      put_bytes(s, c, 1);
      continue;
    }
    switch (*++c) {
    case 'n':
      hundredths = lround(fmin(fmax(va_arg(arguments, double), -1e6), 1e6) * 100);
      rest = labs(hundredths) % 100;
      length = snprintf(number, sizeof number, "%s%ld", hundredths < 0 ? "-" : "",
                        labs(hundredths) / 100);
      if (rest != 0) length += snprintf(number + length, 8, ".%02ld", rest);
      if (rest != 0 && number[length - 1] == '0') length--;
      put_bytes(s, number, (size_t)length);
      break;
    case 'c':
      snprintf(color, sizeof color, "#%06x", va_arg(arguments, unsigned) & 0xFFFFFF);
      put(s, color);
      break;
    default:
      put(s, va_arg(arguments, const char *));
    }
  }
  va_end(arguments);
}

/* --- drawing ---------------------------------------------------------------------------------- */

static void svg_lines(poli_canvas *canvas, const poli_pixel *points, size_t count,
                      const poli_pen *pen)
{
  svg *s = (svg *)canvas;
  const double *lengths;
  const int num_lengths = dashes_of(pen->line, &lengths);
  put(s, "<path d=\"");
  /* "M1 2 3 4M5 6 7 8": further points after M are lines. */
  int begins = 1;
  for (size_t i = 0; i < count; i++) {
    if (isnan(points[i].x)) {
      begins = 1;
      continue;
    }
    print(s, begins ? "M%n %n" : " %n %n", points[i].x, points[i].y);
    begins = 0;
  }
  print(s, "\" stroke=\"%c\" stroke-width=\"%n\"", pen->color, pen->width);
  if (num_lengths > 0) put(s, " stroke-dasharray=\"");
  for (int i = 0; i < num_lengths; i++) print(s, i ? " %n" : "%n", lengths[i] * pen->width);
  put(s, num_lengths > 0 ? "\"/>\n" : "/>\n");
}

static void svg_markers(poli_canvas *canvas, const poli_pixel *points, size_t count,
                        pol_plot_marker marker, double radius, poli_color color)
{
  svg *s = (svg *)canvas;
  put(s, "<path d=\"");
  for (size_t i = 0; i < count; i++)
    if (!isnan(points[i].x)) {
      /* One marker as a part of a path. */
      poli_pixel at = points[i];
      const poli_pixel *corners;
      const int num_corners = marker_corners(marker, &corners);
      if (marker == POL_MARKER_CIRCLE) {
        print(s, "M%n %na%n %n 0 1 0 %n 0a%n %n 0 1 0 %n 0", at.x - radius, at.y, radius, radius,
              2 * radius, radius, radius, -2 * radius);
      } else if (marker == POL_MARKER_CROSS) {
        print(s, "M%n %n %n %nM%n %n %n %n", at.x - radius, at.y - radius, at.x + radius,
              at.y + radius, at.x - radius, at.y + radius, at.x + radius, at.y - radius);
      }
      for (int k = 0; k < num_corners; k++)
        print(s, k == 0 ? "M%n %n" : " %n %n", at.x + radius * corners[k].x,
              at.y + radius * corners[k].y);
      if (num_corners > 0) put(s, "z");
    }
  if (marker == POL_MARKER_CROSS)
    print(s, "\" stroke=\"%c\" stroke-width=\"%n\"/>\n", color, 0.5 * radius);
  else
    print(s, "\" fill=\"%c\"/>\n", color);
}

static void svg_fill(poli_canvas *canvas, poli_box box, poli_color color)
{
  svg *s = (svg *)canvas;
  print(s, "<rect x=\"%n\" y=\"%n\" width=\"%n\" height=\"%n\" fill=\"%c\"/>\n", box.x, box.y,
        box.width, box.height, color);
}

static void svg_text(poli_canvas *canvas, const poli_text *where, const char *text)
{
  svg *s = (svg *)canvas;
  const double size = where->size;
  int raised;
  size_t skip, length;
  print(s, "<text x=\"%n\" y=\"%n\" font-size=\"%n\" fill=\"%c\"", where->x, where->y, size,
        where->color);
  if (where->anchor >= 0) print(s, " text-anchor=\"%s\"", where->anchor > 0 ? "end" : "middle");
  if (where->bold) put(s, " font-weight=\"bold\"");
  if (where->upright) print(s, " transform=\"rotate(-90 %n %n)\"", where->x, where->y);
  put(s, ">");
  double back = 0; /* how far the base line is above its place */
  while ((length = poli_text_piece(text, &raised, &skip)) > 0) {
    const double up = raised ? POLI_RAISED_BY * size : 0;
    if (raised)
      print(s, "<tspan dy=\"%n\" font-size=\"%n\">", back - up, POLI_RAISED_SIZE * size);
    else if (back > 0)
      print(s, "<tspan dy=\"%n\">", back);
    for (size_t i = skip; i < skip + length; i++) {
      const char *entity = poli_text_entity(text[i]);
      if (entity != NULL)
        put(s, entity);
      else
        put_bytes(s, &text[i], 1);
    }
    if (raised || back > 0) put(s, "</tspan>");
    back = up;
    text += skip + length;
  }
  put(s, "</text>\n");
}

static void svg_clip(poli_canvas *canvas, poli_box box)
{
  svg *s = (svg *)canvas;
  char id[16];
  snprintf(id, sizeof id, "c%d", ++s->num_clips);
  print(s, "<clipPath id=\"%s\"><rect x=\"%n\" y=\"%n\" width=\"%n\" height=\"%n\"/></clipPath>\n",
        id, box.x, box.y, box.width, box.height);
  print(s, "<g clip-path=\"url(#%s)\">\n", id);
}

static void svg_unclip(poli_canvas *canvas)
{
  put((svg *)canvas, "</g>\n");
}

/* --- life ------------------------------------------------------------------------------------- */

static void svg_free(poli_canvas *canvas)
{
  free(((svg *)canvas)->text);
  free(canvas);
}

pol_status poli_canvas_svg(poli_canvas **canvas, double width, double height, poli_color background)
{
  svg *s = calloc(1, sizeof *s);
  *canvas = NULL;
  if (s == NULL) return POL_NO_MEMORY;
  s->base = (poli_canvas){.lines = svg_lines,
                          .markers = svg_markers,
                          .fill = svg_fill,
                          .text = svg_text,
                          .clip = svg_clip,
                          .unclip = svg_unclip,
                          .free = svg_free};
  print(s,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%n\" height=\"%n\" "
        "viewBox=\"0 0 %n %n\" font-family=\"sans-serif\" fill=\"none\" stroke-linecap=\"round\" "
        "stroke-linejoin=\"round\">\n<rect width=\"%n\" height=\"%n\" fill=\"%c\"/>\n",
        width, height, width, height, width, height, background);
  *canvas = &s->base;
  return POL_OK;
}

pol_status poli_canvas_take_svg(poli_canvas *canvas, char **text)
{
  svg *s = (svg *)canvas;
  put(s, "</svg>\n");
  *text = NULL;
  if (canvas->status != POL_OK) return canvas->status;
  *text = s->text;
  s->text = NULL;
  s->used = s->capacity = 0;
  return POL_OK;
}

/* A canvas of cairo, for PNG and PDF. */
typedef struct painting {
  poli_canvas base;
  cairo_surface_t *surface;
  cairo_t *cairo;
  FILE *file; /* of a PDF */
} painting;

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

static void paint_lines(poli_canvas *canvas, const poli_pixel *points, size_t count,
                        const poli_pen *pen)
{
  cairo_t *cr = ((painting *)canvas)->cairo;
  const double *lengths;
  double dashes[8];
  const int num_dashes = dashes_of(pen->line, &lengths);
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

static void paint_markers(poli_canvas *canvas, const poli_pixel *points, size_t count,
                          pol_plot_marker marker, double radius, poli_color color)
{
  cairo_t *cr = ((painting *)canvas)->cairo;
  for (size_t i = 0; i < count; i++)
    if (!isnan(points[i].x)) {
      poli_pixel at = points[i];
      const poli_pixel *corners;
      const int num_corners = marker_corners(marker, &corners);
      if (marker == POL_MARKER_CIRCLE) {
        cairo_new_sub_path(cr);
        cairo_arc(cr, at.x, at.y, radius, 0, 4 * quarter_turn);
      } else if (marker == POL_MARKER_CROSS) {
        cairo_move_to(cr, at.x - radius, at.y - radius);
        cairo_line_to(cr, at.x + radius, at.y + radius);
        cairo_move_to(cr, at.x - radius, at.y + radius);
        cairo_line_to(cr, at.x + radius, at.y - radius);
      }
      for (int k = 0; k < num_corners; k++)
        (k == 0 ? cairo_move_to : cairo_line_to)(cr, at.x + radius * corners[k].x,
                                                 at.y + radius * corners[k].y);
      if (num_corners > 0) cairo_close_path(cr);
    }
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

static void paint_fill(poli_canvas *canvas, poli_box box, poli_color color)
{
  cairo_t *cr = ((painting *)canvas)->cairo;
  set_color(cr, color);
  cairo_rectangle(cr, box.x, box.y, box.width, box.height);
  cairo_fill(cr);
  canvas->status = translate(cairo_status(cr));
}

/* Draws the text from where the pen is, or only moves the pen; gives the width. */
static double paint_text_pieces(cairo_t *cr, const char *text, double size, int visible)
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

static void paint_text(poli_canvas *canvas, const poli_text *where, const char *text)
{
  cairo_t *cr = ((painting *)canvas)->cairo;
  cairo_select_font_face(cr, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                         where->bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
  set_color(cr, where->color);
  cairo_save(cr);
  cairo_translate(cr, where->x, where->y);
  if (where->upright) cairo_rotate(cr, -quarter_turn);
  const double width = paint_text_pieces(cr, text, where->size, 0);
  cairo_translate(cr, -0.5 * (1 + where->anchor) * width, 0);
  paint_text_pieces(cr, text, where->size, 1);
  cairo_restore(cr);
  cairo_new_path(cr);
  canvas->status = translate(cairo_status(cr));
}

static void paint_clip(poli_canvas *canvas, poli_box box)
{
  cairo_t *cr = ((painting *)canvas)->cairo;
  cairo_save(cr);
  cairo_rectangle(cr, box.x, box.y, box.width, box.height);
  cairo_clip(cr);
}

static void paint_unclip(poli_canvas *canvas)
{
  cairo_restore(((painting *)canvas)->cairo);
}

/* --- life ------------------------------------------------------------------------------------- */

static void paint_free(poli_canvas *canvas)
{
  painting *p = (painting *)canvas;
  cairo_destroy(p->cairo);
  cairo_surface_destroy(p->surface);
  free(p);
}

/* Takes the surface over and fills it. */
static pol_status start_painting(poli_canvas **canvas, cairo_surface_t *surface, double width,
                                 double height, double scale, poli_color background)
{
  painting *p = calloc(1, sizeof *p);
  *canvas = NULL;
  if (p == NULL) {
    cairo_surface_destroy(surface);
    return POL_NO_MEMORY;
  }
  p->base = (poli_canvas){.lines = paint_lines,
                          .markers = paint_markers,
                          .fill = paint_fill,
                          .text = paint_text,
                          .clip = paint_clip,
                          .unclip = paint_unclip,
                          .free = paint_free};
  *canvas = &p->base;
  p->surface = surface;
  p->cairo = cairo_create(p->surface);
  cairo_scale(p->cairo, scale, scale);
  cairo_set_line_cap(p->cairo, CAIRO_LINE_CAP_ROUND);
  cairo_set_line_join(p->cairo, CAIRO_LINE_JOIN_ROUND);
  paint_fill(&p->base, (poli_box){0, 0, width + 1, height + 1}, background);
  if (p->base.status == POL_OK) return POL_OK;
  pol_status status = p->base.status;
  poli_canvas_free(canvas);
  return status;
}

pol_status poli_canvas_png(poli_canvas **canvas, double width, double height, double scale,
                           poli_color background)
{
  cairo_surface_t *surface = cairo_image_surface_create(
      CAIRO_FORMAT_RGB24, (int)lround(width * scale), (int)lround(height * scale));
  return start_painting(canvas, surface, width, height, scale, background);
}

static cairo_status_t write_bytes(void *file, const unsigned char *data, unsigned int length)
{
  return fwrite(data, 1, length, file) == length ? CAIRO_STATUS_SUCCESS : CAIRO_STATUS_WRITE_ERROR;
}

pol_status poli_canvas_write_png(poli_canvas *canvas, const char *path)
{
  painting *p = (painting *)canvas;
  if (canvas->status != POL_OK) return canvas->status;
  FILE *file = fopen(path, "wb");
  if (file == NULL) return POL_IO;
  pol_status status = translate(cairo_surface_write_to_png_stream(p->surface, write_bytes, file));
  return pol_output_close(file, path, status);
}

pol_status poli_canvas_pdf(poli_canvas **canvas, double width, double height, const char *path,
                           poli_color background)
{
  const double points = 0.75; /* per pixel */
  *canvas = NULL;
  FILE *file = fopen(path, "wb");
  if (file == NULL) return POL_IO;
  cairo_surface_t *surface =
      cairo_pdf_surface_create_for_stream(write_bytes, file, points * width, points * height);
  const pol_status status = start_painting(canvas, surface, width, height, points, background);
  if (status == POL_OK)
    ((painting *)*canvas)->file = file;
  else
    pol_output_close(file, path, status);
  return status;
}

pol_status poli_canvas_finish_pdf(poli_canvas *canvas, const char *path, pol_status status)
{
  painting *p = (painting *)canvas;
  if (status == POL_OK) cairo_show_page(p->cairo);
  cairo_surface_finish(p->surface);
  if (status == POL_OK) status = translate(cairo_surface_status(p->surface));
  FILE *file = p->file;
  p->file = NULL;
  return pol_output_close(file, path, status);
}
