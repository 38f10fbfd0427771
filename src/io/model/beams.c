/* From the keys of a beam to its nodes: the line that leads through its points, axes that turn
 * along it as little as possible, and the stiffness and inertia of its section. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/lie.h>

#include "base/arena.h"
#include "io/model/parts.h"
#include "lie/small.h"
#include "mechanism/builder.h"

static const double pi = 3.14159265358979323846;

/* --- sections --------------------------------------------------------------------------------- */

/* Areas and their moments: about y and z, of torsion, shear coefficients. */
typedef struct area {
  double A, I[2], J, k[2];
} area;

/* Torsion constant of a rectangle, a >= b, by the series of Saint-Venant. */
static double rectangle_torsion(double a, double b)
{
  double sum = 0.0;
  for (int n = 1; n < 60; n += 2) sum += tanh(n * pi * a / (2.0 * b)) / pow(n, 5.0);
  return a * b * b * b * (1.0 / 3.0 - 64.0 / pow(pi, 5.0) * (b / a) * sum);
}

/* Shear coefficients of Cowper (1966). */
static area area_of(const poli_model_section *s, double nu)
{
  area found = {.A = s->area, .I = {s->moments[0], s->moments[1]}, .J = s->torsion};
  double k = 5.0 / 6.0;
  if (s->type == POLI_RECTANGLE) {
    found.A = s->width * s->height;
    found.I[0] = found.A * s->height * s->height / 12.0;
    found.I[1] = found.A * s->width * s->width / 12.0;
    found.J = rectangle_torsion(fmax(s->width, s->height), fmin(s->width, s->height));
    k = 10.0 * (1.0 + nu) / (12.0 + 11.0 * nu);
  } else if (s->type == POLI_CIRCLE) {
    const double inside = isnan(s->thickness) ? 0.0 : s->radius - s->thickness;
    const double m = pow(inside / s->radius, 2.0), r2 = s->radius * s->radius;
    found.A = pi * r2 * (1.0 - m);
    found.I[0] = found.I[1] = pi * r2 * r2 * (1.0 - m * m) / 4.0;
    found.J = 2.0 * found.I[0];
    k = 6.0 * (1.0 + nu) * pow(1.0 + m, 2.0) /
        ((7.0 + 6.0 * nu) * pow(1.0 + m, 2.0) + (20.0 + 12.0 * nu) * m);
  }
  for (int i = 0; i < 2; i++) found.k[i] = isnan(s->shear[i]) ? k : s->shear[i];
  return found;
}

static void set_section(const poli_model_beam *from, pol_beam *beam)
{
  const poli_model_section *s = &from->section;
  memset(beam->stiffness, 0, sizeof beam->stiffness);
  memset(beam->inertia, 0, sizeof beam->inertia);
  if (s->type == POLI_STIFFNESS) {
    memcpy(beam->stiffness, s->stiffness, sizeof s->stiffness);
    beam->mass = s->mass;
    for (int i = 0; i < 3; i++) beam->inertia[4 * i] = s->inertia[i];
  } else {
    const double nu = isnan(from->shear) ? from->poisson : from->young / (2.0 * from->shear) - 1.0;
    const double E = from->young, G = isnan(from->shear) ? E / (2.0 + 2.0 * nu) : from->shear;
    const area a = area_of(s, nu);
    const double diagonal[6] = {G * a.J, E * a.I[0],       E * a.I[1],
                                E * a.A, a.k[0] * G * a.A, a.k[1] * G * a.A};
    for (int i = 0; i < 6; i++) beam->stiffness[7 * i] = diagonal[i];
    beam->mass = from->density * a.A;
    beam->inertia[0] = from->density * (a.I[0] + a.I[1]);
    beam->inertia[4] = from->density * a.I[0];
    beam->inertia[8] = from->density * a.I[1];
  }
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) {
      const double factors[] = {from->twisting, from->bending, from->bending, 1.0, 1.0, 1.0};
      beam->stiffness[6 * i + j] *= sqrt(factors[i] * factors[j]);
      beam->damping[6 * i + j] = from->damping * beam->stiffness[6 * i + j];
    }
}

/* --- lines ------------------------------------------------------------------------------------ */

static void point_at(const poli_model_beam *from, size_t i, double x[3])
{
  const json_t *point = json_array_get(from->points, i);
  double R[9], own[3];
  for (size_t k = 0; k < 3; k++) own[k] = json_number_value(json_array_get(point, k));
  pol_quat_to_matrix(from->rotation, R);
  poli_m3_apply(R, own, x);
  poli_v3_add(from->position, x, x);
}

/* Nodes and their tangents; a node of a corner has a tangent before and one behind it. */
typedef struct line {
  double *x;             /* 3 numbers a node */
  double *before, *back; /* tangents: of the element before and of the one behind the node */
  double *lengths;       /* of the elements */
} line;

static double distance(const double a[3], const double b[3])
{
  return hypot(hypot(b[0] - a[0], b[1] - a[1]), b[2] - a[2]);
}

/* Straight pieces, with elements of about the same length. */
static void follow_line(const poli_model_beam *from, line *to)
{
  const size_t pieces = json_array_size(from->points) - 1;
  double total = 0.0, walked = 0.0, a[3], b[3];
  int node = 0, used = 0;
  for (size_t i = 0; i < pieces; i++) {
    point_at(from, i, a);
    point_at(from, i + 1, b);
    total += distance(a, b);
  }
  for (size_t i = 0; i < pieces; i++) {
    point_at(from, i, a);
    point_at(from, i + 1, b);
    const double length = distance(a, b);
    const int later = (int)(pieces - 1 - i); /* at least one for each piece that follows */
    walked += length;
    int until = (int)lround(walked / total * from->elements);
    if (until > from->elements - later) until = from->elements - later;
    if (until <= used || later == 0) until = later == 0 ? from->elements : used + 1;
    const int count = until - used;
    for (int k = 0; k <= count; k++)
      for (int j = 0; j < 3; j++) {
        const double s = (double)k / count;
        to->x[3 * (node + k) + j] = k == count ? b[j] : a[j] + s * (b[j] - a[j]);
        if (k > 0 || i == 0) to->before[3 * (node + k) + j] = (b[j] - a[j]) / length;
        to->back[3 * (node + k) + j] = (b[j] - a[j]) / length;
        if (k > 0) to->lengths[node + k - 1] = length / count;
      }
    node += count;
    used = until;
  }
}

/* The circle through three points; a straight line if they are on one. */
static void follow_arc(const poli_model_beam *from, line *to)
{
  double p[3][3], u[3], v[3], normal[3], e1[3], e2[3];
  for (size_t i = 0; i < 3; i++) point_at(from, i, p[i]);
  poli_v3_subtract(p[1], p[0], u);
  poli_v3_subtract(p[2], p[0], v);
  poli_v3_cross(u, v, normal);
  const double uu = poli_v3_dot(u, u), vv = poli_v3_dot(v, v), uv = poli_v3_dot(u, v);
  const double square = poli_v3_dot(normal, normal);
  const int n = from->elements;
  if (square <= 1e-20 * uu * vv) {
    const double length = sqrt(vv);
    for (int k = 0; k <= n; k++)
      for (int j = 0; j < 3; j++) {
        to->x[3 * k + j] = p[0][j] + v[j] * k / n;
        to->before[3 * k + j] = to->back[3 * k + j] = v[j] / length;
        if (k < n) to->lengths[k] = length / n;
      }
    return;
  }
  /* the centre from the first point: a u + b v */
  const double a = vv * (uu - uv) / (2.0 * square), b = uu * (vv - uv) / (2.0 * square);
  double center[3];
  for (int j = 0; j < 3; j++) center[j] = a * u[j] + b * v[j];
  const double radius = sqrt(poli_v3_dot(center, center));
  poli_normalize(normal);
  for (int j = 0; j < 3; j++) e1[j] = -center[j] / radius;
  poli_v3_cross(normal, e1, e2);
  double angle[2];
  for (int i = 0; i < 2; i++) {
    const double *w = i == 0 ? u : v;
    double r[3];
    poli_v3_subtract(w, center, r);
    angle[i] = atan2(poli_v3_dot(r, e2), poli_v3_dot(r, e1));
    if (angle[i] < 0.0) angle[i] += 2.0 * pi;
  }
  for (int k = 0; k <= n; k++) {
    const double turn = angle[1] * k / n;
    for (int j = 0; j < 3; j++) {
      to->x[3 * k + j] = p[0][j] + center[j] + radius * (cos(turn) * e1[j] + sin(turn) * e2[j]);
      to->before[3 * k + j] = to->back[3 * k + j] = cos(turn) * e2[j] - sin(turn) * e1[j];
    }
    if (k < n) to->lengths[k] = radius * angle[1] / n;
  }
}

/* A natural cubic spline over the lengths of the chords; nodes at equal lengths along it. */
enum { PARTS = 64 }; /* of each piece, over which the length is added up */

static void spline_at(const double *x, const double *m, double h, double s, double value[3],
                      double slope[3])
{
  const double a = 1.0 - s;
  for (int j = 0; j < 3; j++) {
    value[j] = a * x[j] + s * x[3 + j] +
               h * h / 6.0 * ((a * a * a - a) * m[j] + (s * s * s - s) * m[3 + j]);
    slope[j] = (x[3 + j] - x[j]) / h +
               h / 6.0 * ((1.0 - 3.0 * a * a) * m[j] + (3.0 * s * s - 1.0) * m[3 + j]);
  }
}

static pol_status follow_spline(const poli_model_beam *from, line *to)
{
  const size_t count = json_array_size(from->points), pieces = count - 1;
  double *x, *m, *h, *diagonal, *walked;
  poli_arena arena = {0};
  do {
    POLI_TAKE_EACH(&arena, 3 * count, &x, &m);
    POLI_TAKE_EACH(&arena, count, &h, &diagonal);
    POLI_TAKE(&arena, walked, PARTS * pieces + 1);
  } while (poli_arena_again(&arena));
  if (!arena.memory) return POL_NO_MEMORY;
  for (size_t i = 0; i < count; i++) point_at(from, i, x + 3 * i);
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
  /* lengths by Simpson's rule */
  double value[3], slope[3][3];
  for (size_t k = 0; k < PARTS * pieces; k++) {
    const size_t i = k / PARTS;
    const double s = (double)(k % PARTS) / PARTS, part = h[i] / PARTS;
    for (int j = 0; j < 3; j++)
      spline_at(x + 3 * i, m + 3 * i, h[i], s + 0.5 * j / PARTS, value, slope[j]);
    walked[k + 1] = walked[k];
    for (int j = 0; j < 3; j++)
      walked[k + 1] += (j == 1 ? 4.0 : 1.0) * part / 6.0 * sqrt(poli_v3_dot(slope[j], slope[j]));
  }
  const double total = walked[PARTS * pieces];
  size_t k = 0;
  for (int node = 0; node <= from->elements; node++) {
    const double want = total * node / from->elements;
    while (k + 1 < PARTS * pieces && walked[k + 1] < want) k++;
    const size_t i = k / PARTS;
    const double inside = (want - walked[k]) / (walked[k + 1] - walked[k]);
    spline_at(x + 3 * i, m + 3 * i, h[i], ((double)(k % PARTS) + inside) / PARTS, to->x + 3 * node,
              slope[0]);
    poli_normalize(slope[0]);
    poli_v3_copy(slope[0], to->before + 3 * node);
    poli_v3_copy(slope[0], to->back + 3 * node);
    if (node > 0) to->lengths[node - 1] = total / from->elements;
  }
  free(arena.memory);
  return POL_OK;
}

/* --- axes ------------------------------------------------------------------------------------- */

/* x along the tangent, z as near as possible to `up`. */
static void first_axes(const poli_model_beam *from, const double tangent[3], double q[4])
{
  const int is_vertical = fabs(tangent[2]) > 1.0 - 1e-9;
  double up[3] = {is_vertical, 0.0, !is_vertical}, y[3], z[3];
  if (from->up[0] != 0.0 || from->up[1] != 0.0 || from->up[2] != 0.0) poli_v3_copy(from->up, up);
  poli_normalize(up);
  poli_v3_cross(up, tangent, y);
  if (poli_v3_dot(y, y) < 1e-18) { /* along the beam: any other direction */
    const int least = fabs(tangent[0]) < fabs(tangent[1]) ? 0 : 1;
    memset(up, 0, sizeof up);
    up[least] = 1.0;
    poli_v3_cross(up, tangent, y);
  }
  poli_normalize(y);
  poli_v3_cross(tangent, y, z);
  const double R[9] = {tangent[0], y[0], z[0], tangent[1], y[1], z[1], tangent[2], y[2], z[2]};
  pol_quat_from_matrix(R, q);
}

/* The axes q turned as little as possible, so that their x goes from one tangent to another. */
static void turn_axes(const double q[4], const double a[3], const double b[3], double turned[4])
{
  double turn[4];
  poli_v3_cross(a, b, turn + 1);
  turn[0] = 1.0 + poli_v3_dot(a, b);
  if (turn[0] < 1e-12) { /* back along itself: about z */
    double R[9];
    pol_quat_to_matrix(q, R);
    turn[0] = 0.0;
    for (int j = 0; j < 3; j++) turn[1 + j] = R[3 * j + 2];
  }
  pol_quat_normalize(turn);
  pol_quat_multiply(turn, q, turned);
  pol_quat_normalize(turned);
}

pol_status poli_beam_layout(const poli_model_beam *from, pol_beam *beam, void **memory)
{
  const int n = from->elements;
  line to;
  double *q, *ends;
  poli_arena arena = {0};
  do {
    POLI_TAKE_EACH(&arena, 3 * (n + 1), &to.x, &to.before, &to.back);
    POLI_TAKE(&arena, to.lengths, n);
    POLI_TAKE(&arena, q, 4 * (n + 1));
    POLI_TAKE(&arena, ends, 8 * n);
  } while (poli_arena_again(&arena));
  *memory = arena.memory;
  if (!arena.memory) return POL_NO_MEMORY;
  pol_status status = POL_OK;
  if (from->type == POLI_LINE) follow_line(from, &to);
  if (from->type == POLI_ARC) follow_arc(from, &to);
  if (from->type == POLI_SPLINE) status = follow_spline(from, &to);
  if (status) return status;
  first_axes(from, to.back, q);
  for (int k = 0; k < n; k++) {
    double *first = ends + 8 * k, *second = first + 4;
    turn_axes(q + 4 * k, to.before + 3 * k, to.back + 3 * k, first);
    turn_axes(first, to.back + 3 * k, to.before + 3 * (k + 1), second);
    memcpy(q + 4 * (k + 1), second, 4 * sizeof *q);
  }
  *beam = (pol_beam){.name = from->name,
                     .num_nodes = n + 1,
                     .positions = to.x,
                     .rotations = q,
                     .ends = ends,
                     .lengths = to.lengths,
                     .strain = (pol_beam_strain)from->strain,
                     .given = from->given};
  poli_v3_copy(from->velocity, beam->velocity);
  poli_v3_copy(from->angular_velocity, beam->angular_velocity);
  set_section(from, beam);
  return POL_OK;
}
