/* The line of a beam by its length: straight pieces, an arc of a circle, or a spline; and the nodes
 * on it.  Corners and markers are nodes, between which elements have about the same length, or one
 * that grows from the ends inwards. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/lie.h>

#include "base/arena.h"
#include "io/model/parts.h"
#include "lie/small.h"
#include "mechanism/builder.h"

static const double pi = 3.14159265358979323846;

enum { PARTS = 64 }; /* of each piece of a spline, over which the length is added up */

struct poli_beam_line {
  const poli_model_beam *from;
  size_t count;   /* points */
  double *x;      /* 3 numbers per point */
  double *walked; /* line: lengths up to each point; spline: up to each part of a piece */
  double *m, *h;  /* spline: second derivatives, chords */
  double center[3], e1[3], e2[3], radius, angle; /* arc; radius 0: it is straight */
  double length;
};

static double distance(const double a[3], const double b[3])
{
  return hypot(hypot(b[0] - a[0], b[1] - a[1]), b[2] - a[2]);
}

/* --- arcs ------------------------------------------------------------------------------------- */

/* The circle through three points; a straight line if they are on one. */
static void set_arc(poli_beam_line *line)
{
  const double *x = line->x;
  double u[3], v[3], normal[3], from_start[3], angle[2];
  poli_v3_subtract(x + 3, x, u);
  poli_v3_subtract(x + 6, x, v);
  poli_v3_cross(u, v, normal);
  const double uu = poli_v3_dot(u, u), vv = poli_v3_dot(v, v), uv = poli_v3_dot(u, v);
  const double square = poli_v3_dot(normal, normal);
  line->length = sqrt(vv);
  if (square <= 1e-20 * uu * vv) return;
  /* the centre from the first point: a u + b v */
  const double a = vv * (uu - uv) / (2.0 * square), b = uu * (vv - uv) / (2.0 * square);
  for (int j = 0; j < 3; j++) from_start[j] = a * u[j] + b * v[j];
  line->radius = sqrt(poli_v3_dot(from_start, from_start));
  poli_normalize(normal);
  for (int j = 0; j < 3; j++) line->e1[j] = -from_start[j] / line->radius;
  poli_v3_add(x, from_start, line->center);
  poli_v3_cross(normal, line->e1, line->e2);
  for (int i = 0; i < 2; i++) {
    double r[3];
    poli_v3_subtract(i == 0 ? u : v, from_start, r);
    angle[i] = atan2(poli_v3_dot(r, line->e2), poli_v3_dot(r, line->e1));
    if (angle[i] < 0.0) angle[i] += 2.0 * pi;
  }
  line->angle = angle[1];
  line->length = line->radius * line->angle;
}

static void arc_at(const poli_beam_line *line, double s, double x[3], double tangent[3])
{
  const double turn = s / line->length * line->angle;
  for (int j = 0; j < 3; j++) {
    if (line->radius > 0.0) {
      x[j] = line->center[j] + line->radius * (cos(turn) * line->e1[j] + sin(turn) * line->e2[j]);
      tangent[j] = cos(turn) * line->e2[j] - sin(turn) * line->e1[j];
    } else {
      tangent[j] = (line->x[6 + j] - line->x[j]) / line->length;
      x[j] = line->x[j] + s * tangent[j];
    }
  }
}

/* --- splines ---------------------------------------------------------------------------------- */

static void piece_at(const poli_beam_line *line, size_t i, double s, double value[3],
                     double slope[3])
{
  const double *x = line->x + 3 * i, *m = line->m + 3 * i, h = line->h[i], a = 1.0 - s;
  for (int j = 0; j < 3; j++) {
    value[j] = a * x[j] + s * x[3 + j] +
               h * h / 6.0 * ((a * a * a - a) * m[j] + (s * s * s - s) * m[3 + j]);
    slope[j] = (x[3 + j] - x[j]) / h +
               h / 6.0 * ((1.0 - 3.0 * a * a) * m[j] + (3.0 * s * s - 1.0) * m[3 + j]);
  }
}

/* A natural cubic spline over the lengths of the chords; its length by Simpson's rule. */
static void set_spline(poli_beam_line *line, double *diagonal)
{
  const size_t pieces = line->count - 1;
  const double *x = line->x;
  double *m = line->m, *h = line->h, value[3], slope[3][3];
  for (size_t i = 0; i < pieces; i++) h[i] = distance(x + 3 * i, x + 3 * (i + 1));
  /* second derivatives m, zero at the ends: elimination of a tridiagonal matrix */
  for (size_t i = 1; i < pieces; i++) {
    const double factor = i > 1 ? h[i - 1] / diagonal[i - 1] : 0.0;
    diagonal[i] = 2.0 * (h[i - 1] + h[i]) - (i > 1 ? factor * h[i - 1] : 0.0);
    for (size_t j = 0; j < 3; j++)
      m[3 * i + j] = 6.0 * ((x[3 * (i + 1) + j] - x[3 * i + j]) / h[i] -
                            (x[3 * i + j] - x[3 * (i - 1) + j]) / h[i - 1]) -
                     (i > 1 ? factor * m[3 * (i - 1) + j] : 0.0);
  }
  for (size_t i = pieces; i-- > 1;)
    for (size_t j = 0; j < 3; j++)
      m[3 * i + j] =
          (m[3 * i + j] - (i + 1 < pieces ? h[i] * m[3 * (i + 1) + j] : 0.0)) / diagonal[i];
  for (size_t k = 0; k < PARTS * pieces; k++) {
    const double s = (double)(k % PARTS) / PARTS, part = h[k / PARTS] / PARTS;
    line->walked[k + 1] = line->walked[k];
    for (int j = 0; j < 3; j++) {
      piece_at(line, k / PARTS, s + 0.5 * j / PARTS, value, slope[j]);
      line->walked[k + 1] +=
          (j == 1 ? 4.0 : 1.0) * part / 6.0 * sqrt(poli_v3_dot(slope[j], slope[j]));
    }
  }
  line->length = line->walked[PARTS * pieces];
}

/* The part of a spline that s is in. */
static size_t part_of(const poli_beam_line *line, double s)
{
  size_t low = 0, high = PARTS * (line->count - 1); /* walked[low] <= s < walked[high] */
  while (high - low > 1) {
    const size_t middle = low + (high - low) / 2;
    *(line->walked[middle] <= s ? &low : &high) = middle;
  }
  return low;
}

static void spline_at(const poli_beam_line *line, double s, double x[3], double tangent[3])
{
  const size_t low = part_of(line, s);
  const double inside = (s - line->walked[low]) / (line->walked[low + 1] - line->walked[low]);
  piece_at(line, low / PARTS, ((double)(low % PARTS) + inside) / PARTS, x, tangent);
  poli_normalize(tangent);
}

/* The angle by which the tangent of a spline turns, added up over its parts; INFINITY if it does so
 * within one of them, at a cusp, where there is no tangent. */
static double spline_turning(const poli_beam_line *line, double from, double to)
{
  const size_t parts = PARTS * (line->count - 1);
  double x[3], last[3], tangent[3], sum = 0.0;
  spline_at(line, from, x, last);
  for (size_t k = part_of(line, from) + 1; k <= parts; k++) {
    const double s = fmin(line->walked[k], to);
    spline_at(line, s, x, tangent);
    const double turn = acos(fmax(fmin(poli_v3_dot(last, tangent), 1.0), -1.0));
    if (!(turn < 1.5)) return INFINITY;
    sum += turn;
    poli_v3_copy(tangent, last);
    if (s == to) break;
  }
  return sum;
}

/* --- straight pieces -------------------------------------------------------------------------- */

static void set_pieces(poli_beam_line *line)
{
  for (size_t i = 0; i + 1 < line->count; i++)
    line->walked[i + 1] = line->walked[i] + distance(line->x + 3 * i, line->x + 3 * i + 3);
  line->length = line->walked[line->count - 1];
}

/* At a corner the tangents before and behind it differ. */
static void pieces_at(const poli_beam_line *line, double s, double x[3], double before[3],
                      double back[3])
{
  const double near = 1e-12 * line->length;
  size_t i = 0; /* the piece that ends at s or behind it */
  while (i + 2 < line->count && line->walked[i + 1] < s - near) i++;
  const double *a = line->x + 3 * i, *b = a + 3;
  const double length = line->walked[i + 1] - line->walked[i];
  const int is_corner = i + 2 < line->count && line->walked[i + 1] <= s + near;
  for (int j = 0; j < 3; j++) {
    const double part = is_corner ? 1.0 : (s - line->walked[i]) / length;
    x[j] = a[j] + part * (b[j] - a[j]);
    before[j] = back[j] = (b[j] - a[j]) / length;
    if (is_corner) back[j] = (b[3 + j] - b[j]) / (line->walked[i + 2] - line->walked[i + 1]);
  }
}

/* --- the line --------------------------------------------------------------------------------- */

pol_status poli_beam_line_create(poli_beam_line **created, const poli_model_beam *from)
{
  const size_t count = json_array_size(from->points);
  poli_beam_line *line, own = {.from = from, .count = count};
  double *diagonal, R[9];
  poli_arena arena = {0};
  do {
    POLI_TAKE(&arena, line, 1);
    POLI_TAKE_EACH(&arena, 3 * count, &own.x, &own.m);
    POLI_TAKE_EACH(&arena, count, &own.h, &diagonal);
    POLI_TAKE(&arena, own.walked, PARTS * count + 1);
  } while (poli_arena_again(&arena));
  *created = arena.memory;
  if (!arena.memory) return POL_NO_MEMORY;
  pol_quat_to_matrix(from->rotation, R);
  for (size_t i = 0; i < count; i++) {
    const json_t *point = json_array_get(from->points, i);
    double given[3];
    for (size_t k = 0; k < 3; k++) given[k] = json_number_value(json_array_get(point, k));
    poli_m3_apply(R, given, own.x + 3 * i);
    poli_v3_add(from->position, own.x + 3 * i, own.x + 3 * i);
  }
  if (from->type == POLI_LINE) set_pieces(&own);
  if (from->type == POLI_ARC) set_arc(&own);
  if (from->type == POLI_SPLINE) set_spline(&own, diagonal);
  *line = own;
  return POL_OK;
}

void poli_beam_line_free(poli_beam_line **line)
{
  free(*line);
  *line = NULL;
}

double poli_beam_line_length(const poli_beam_line *line)
{
  return line->length;
}

double poli_beam_line_turning(const poli_beam_line *line, double from, double to)
{
  if (line->from->type == POLI_SPLINE) return spline_turning(line, from, to);
  return line->from->type == POLI_ARC ? line->angle * (to - from) / line->length : 0.0;
}

double poli_beam_marker_at(const poli_beam_line *line, const poli_beam_marker *marker)
{
  return isnan(marker->at) ? marker->fraction * line->length : marker->at;
}

static int compare_numbers(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

int poli_beam_line_spans(const poli_beam_line *line, double *ends)
{
  const poli_beam_marker *markers = line->from->markers.items;
  int count = 0, kept = 0;
  for (size_t i = 1; line->from->type == POLI_LINE && i + 1 < line->count; i++)
    ends[count++] = line->walked[i];
  for (size_t i = 0; i < line->from->markers.count; i++)
    ends[count++] = poli_beam_marker_at(line, &markers[i]);
  ends[count++] = line->length;
  qsort(ends, (size_t)count, sizeof *ends, compare_numbers);
  for (int i = 0; i < count; i++) { /* one of those that coincide */
    const double last = kept > 0 ? ends[kept - 1] : 0.0;
    if (ends[i] - last > 1e-9 * line->length) ends[kept++] = ends[i];
  }
  ends[kept - 1] = line->length;
  return kept;
}

/* Which part of the line is before the given part of the elements.  Their lengths go with
 * 1 - p cos(pi u) - q cos(2 pi u), which is 1 - grading[0] at the start, 1 - grading[1] at the end
 * and 1 on average. */
static double graded(const double grading[2], double u)
{
  const double p = 0.5 * (grading[0] - grading[1]), q = 0.5 * (grading[0] + grading[1]);
  return u - p * sin(pi * u) / pi - q * sin(2.0 * pi * u) / (2.0 * pi);
}

/* The inverse of it, which is a growing function. */
static double elements_before(const double grading[2], double part)
{
  double low = 0.0, high = 1.0;
  if (grading[0] == 0.0 && grading[1] == 0.0) return part;
  for (int i = 0; i < 60; i++) {
    const double middle = 0.5 * (low + high);
    *(graded(grading, middle) <= part ? &low : &high) = middle;
  }
  return 0.5 * (low + high);
}

/* The lengths up to the nodes, and of the elements. */
static void place_nodes(const poli_beam_line *line, int num_spans, const double *ends,
                        const poli_beam_nodes *to)
{
  const double *grading = line->from->grading;
  const int elements = line->from->elements;
  int used = 0;
  for (int i = 0; i < num_spans; i++) {
    const double start = i == 0 ? 0.0 : ends[i - 1];
    const int later = num_spans - 1 - i; /* at least one for each that follows */
    int until = (int)lround(elements_before(grading, ends[i] / line->length) * elements);
    if (until > elements - later) until = elements - later;
    if (until <= used || later == 0) until = later == 0 ? elements : used + 1;
    const double first = graded(grading, (double)used / elements);
    const double size = graded(grading, (double)until / elements) - first;
    const int is_even = grading[0] == 0.0 && grading[1] == 0.0;
    for (int k = 0; k <= until - used; k++) {
      const double inside = is_even
                                ? (double)k / (until - used)
                                : (graded(grading, (double)(used + k) / elements) - first) / size;
      to->s[used + k] = k == until - used ? ends[i] : start + (ends[i] - start) * inside;
    }
    for (int k = used; k < until; k++)
      to->lengths[k] = is_even ? (ends[i] - start) / (until - used) : to->s[k + 1] - to->s[k];
    used = until;
  }
}

void poli_beam_line_nodes(const poli_beam_line *line, int num_spans, const double *ends,
                          const poli_beam_nodes *to)
{
  place_nodes(line, num_spans, ends, to);
  for (int k = 0; k <= line->from->elements; k++) {
    double *x = to->x + 3 * k, *before = to->before + 3 * k, *back = to->back + 3 * k;
    if (line->from->type == POLI_LINE) {
      pieces_at(line, to->s[k], x, before, back);
      continue;
    }
    (line->from->type == POLI_ARC ? arc_at : spline_at)(line, to->s[k], x, before);
    poli_v3_copy(before, back);
  }
}
