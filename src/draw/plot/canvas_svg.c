/* A canvas that becomes SVG text.
 *
 * Small and plain: numbers have two decimals at most, a series is one path, text stays text in the
 * reader's own font.  Numbers are written without printf's %f, whose point depends on the locale.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "draw/plot/canvas.h"
#include "draw/plot/text.h"

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

/* A number with two decimals at most. */
static void put_number(svg *s, double value)
{
  char text[32];
  const long hundredths = lround(fmin(fmax(value, -1e6), 1e6) * 100);
  const long size = labs(hundredths);
  int length = snprintf(text, sizeof text, "%s%ld", hundredths < 0 ? "-" : "", size / 100);
  if (size % 100 != 0) length += snprintf(text + length, 8, ".%02ld", size % 100);
  if (size % 100 != 0 && text[length - 1] == '0') length--;
  put_bytes(s, text, (size_t)length);
}

/* Text in which %n is a number, %c a colour, %s a string. */
static void print(svg *s, const char *format, ...)
{
  va_list arguments;
  char color[8];
  va_start(arguments, format);
  for (const char *c = format; *c != '\0'; c++) {
    if (*c != '%') {
      put_bytes(s, c, 1);
      continue;
    }
    switch (*++c) {
    case 'n':
      put_number(s, va_arg(arguments, double));
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

static void put_escaped(svg *s, const char *text, size_t length)
{
  for (size_t i = 0; i < length; i++) {
    const char *entity = poli_text_entity(text[i]);
    if (entity != NULL)
      put(s, entity);
    else
      put_bytes(s, &text[i], 1);
  }
}

/* --- drawing ---------------------------------------------------------------------------------- */

/* "M1 2 3 4M5 6 7 8": further points after M are lines. */
static void put_path(svg *s, const pol_point *points, size_t count)
{
  int begins = 1;
  for (size_t i = 0; i < count; i++) {
    if (isnan(points[i].x)) {
      begins = 1;
      continue;
    }
    print(s, begins ? "M%n %n" : " %n %n", points[i].x, points[i].y);
    begins = 0;
  }
}

static void svg_lines(poli_canvas *canvas, const pol_point *points, size_t count,
                      const poli_pen *pen)
{
  svg *s = (svg *)canvas;
  const double *lengths;
  const int num_lengths = poli_dashes(pen->line, &lengths);
  put(s, "<path d=\"");
  put_path(s, points, count);
  print(s, "\" stroke=\"%c\" stroke-width=\"%n\"", pen->color, pen->width);
  if (num_lengths > 0) put(s, " stroke-dasharray=\"");
  for (int i = 0; i < num_lengths; i++) print(s, i ? " %n" : "%n", lengths[i] * pen->width);
  put(s, num_lengths > 0 ? "\"/>\n" : "/>\n");
}

/* One marker as a part of a path. */
static void put_marker(svg *s, pol_point at, pol_plot_marker marker, double r)
{
  const pol_point *corners;
  const int num_corners = poli_marker_corners(marker, &corners);
  if (marker == POL_MARKER_CIRCLE) {
    print(s, "M%n %na%n %n 0 1 0 %n 0a%n %n 0 1 0 %n 0", at.x - r, at.y, r, r, 2 * r, r, r, -2 * r);
  } else if (marker == POL_MARKER_CROSS) {
    print(s, "M%n %n %n %nM%n %n %n %n", at.x - r, at.y - r, at.x + r, at.y + r, at.x - r, at.y + r,
          at.x + r, at.y - r);
  }
  for (int i = 0; i < num_corners; i++)
    print(s, i == 0 ? "M%n %n" : " %n %n", at.x + r * corners[i].x, at.y + r * corners[i].y);
  if (num_corners > 0) put(s, "z");
}

static void svg_markers(poli_canvas *canvas, const pol_point *points, size_t count,
                        pol_plot_marker marker, double radius, poli_color color)
{
  svg *s = (svg *)canvas;
  put(s, "<path d=\"");
  for (size_t i = 0; i < count; i++)
    if (!isnan(points[i].x)) put_marker(s, points[i], marker, radius);
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
    put_escaped(s, text + skip, length);
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
