/* What is drawn of a flexible body: the faces of a block or plate, the surface of a beam, or the
 * nodes of files; the displacements of all points by each mode as numbers of 16 bits. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/lie.h>

#include "io/model/expand.h"
#include "lie/small.h"

enum { MOST_POINTS = 20000 };

/* A surface that is being made. */
typedef struct maker {
  const pol_finite_elements *fe;
  const pol_reduced_body *reduced;
  pol_surface *to;
  float *moved; /* as to->modes */
} maker;

void poli_surface_free(pol_surface *surface)
{
  free(surface->points);
  free(surface->modes);
  free(surface->triangles);
  *surface = (pol_surface){0};
}

static pol_status allocate(maker *m, int num_points, int num_triangles)
{
  const size_t points = 3 * (size_t)num_points, numbers = points * (size_t)m->to->num_modes;
  m->to->points = malloc(points * sizeof *m->to->points);
  m->to->modes = malloc(numbers * sizeof *m->to->modes);
  m->to->triangles = malloc((3 * (size_t)num_triangles + 1) * sizeof *m->to->triangles);
  m->moved = malloc(numbers * sizeof *m->moved);
  return m->to->points && m->to->modes && m->to->triangles && m->moved ? POL_OK : POL_NO_MEMORY;
}

/* Displacement, and rotation if there is one, of a node in a mode. */
static const double *motion_of(const maker *m, int node, int mode)
{
  return m->reduced->modes + (size_t)mode * (size_t)m->reduced->num_freedoms +
         (size_t)m->fe->freedoms * (size_t)node;
}

static void put(float *to, const double x[3])
{
  for (int i = 0; i < 3; i++) to[i] = (float)x[i];
}

static float *moved_point(const maker *m, int mode, int point)
{
  return m->moved + 3 * ((size_t)mode * (size_t)m->to->num_points + (size_t)point);
}

static void add_triangle(pol_surface *s, int a, int b, int c)
{
  int *to = s->triangles + 3 * (size_t)s->num_triangles++;
  to[0] = a;
  to[1] = b;
  to[2] = c;
}

/* --- nodes, blocks and plates ----------------------------------------------------------------- */

static void put_node(maker *m, int point, int node)
{
  double x[3];
  for (int i = 0; i < 3; i++)
    x[i] = m->fe->positions[3 * (size_t)node + (size_t)i] - m->reduced->center[i];
  put(m->to->points + 3 * (size_t)point, x);
  for (int k = 0; k < m->to->num_modes; k++) put(moved_point(m, k, point), motion_of(m, node, k));
}

/* All nodes, or one of each two, three, ..., so that they are not too many; not at equal distances,
 * which would leave stripes of a regular mesh. */
static pol_status make_cloud(maker *m, int most)
{
  const int nodes = m->fe->num_nodes, step = (nodes + most - 1) / most;
  m->to->num_points = (nodes + step - 1) / step;
  const pol_status status = allocate(m, m->to->num_points, 0);
  for (int p = 0; p < m->to->num_points && !status; p++) {
    const int node = p * step + (int)((unsigned)p * 2654435761u >> 16) % step;
    put_node(m, p, node < nodes ? node : nodes - 1);
  }
  return status;
}

/* The six faces of a block, each with points of its own, so that edges are sharp; with fewer lines
 * than elements if there would be too many points. */
static pol_status make_faces(maker *m, const int elements[3], int most)
{
  int lines[3], points, squares, step = 0;
  do {
    step++;
    points = squares = 0;
    for (int i = 0; i < 3; i++) lines[i] = (elements[i] + step - 1) / step + 1;
    for (int i = 0; i < 3; i++) {
      const int b = (i + 1) % 3, c = (i + 2) % 3;
      points += 2 * lines[b] * lines[c];
      squares += 2 * (lines[b] - 1) * (lines[c] - 1);
    }
  } while (points > most && points > 24);
  m->to->num_points = points;
  const pol_status status = allocate(m, points, 2 * squares);
  for (int face = 0, first = 0; face < 6 && !status; face++) {
    const int a = face / 2, b = (a + 1) % 3, c = (a + 2) % 3, high = face % 2;
    for (int p = 0; p < lines[b] * lines[c]; p++) {
      const int i = p % lines[b], j = p / lines[b];
      int at[3];
      at[a] = high ? elements[a] : 0;
      at[b] = i * step < elements[b] ? i * step : elements[b];
      at[c] = j * step < elements[c] ? j * step : elements[c];
      put_node(m, first + p, at[0] + (elements[0] + 1) * (at[1] + (elements[1] + 1) * at[2]));
      if (i + 1 == lines[b] || j + 1 == lines[c]) continue;
      const int here = first + p, next = here + 1, above = here + lines[b];
      add_triangle(m->to, here, high ? next : above + 1, high ? above + 1 : next);
      add_triangle(m->to, here, high ? above + 1 : above, high ? above : above + 1);
    }
    first += lines[b] * lines[c];
  }
  return status;
}

/* --- beams ------------------------------------------------------------------------------------ */

enum { MOST_CORNERS = 16 };

/* Corners of a section about x, y and z of each; those of a rectangle twice.  Thin beams are drawn
 * thick enough to be seen. */
static int make_outline(const poli_model_section *s, const pol_beam *beam, double (*yz)[2])
{
  double length = 0.0;
  for (int k = 0; k + 1 < beam->num_nodes; k++) length += beam->lengths[k];
  const double thinnest = 0.004 * length;
  if (s->type == POLI_RECTANGLE) {
    static const int signs[4][2] = {{1, -1}, {1, 1}, {-1, 1}, {-1, -1}};
    for (int i = 0; i < 8; i++) {
      const int *sign = signs[(i + 1) / 2 % 4];
      yz[i][0] = sign[0] * fmax(0.5 * s->width, thinnest);
      yz[i][1] = sign[1] * fmax(0.5 * s->height, thinnest);
    }
    return 8;
  }
  /* that of a circle with the same ratio of its stiffness */
  double radius =
      s->type == POLI_CIRCLE
          ? s->radius
          : 2.0 * sqrt(fmax(beam->stiffness[7], beam->stiffness[14]) / beam->stiffness[21]);
  if (!isfinite(radius)) radius = 0.0;
  for (int i = 0; i < MOST_CORNERS; i++) {
    const double angle = 6.28318530717958647692 * i / MOST_CORNERS;
    yz[i][0] = fmax(radius, thinnest) * cos(angle);
    yz[i][1] = fmax(radius, thinnest) * sin(angle);
  }
  return MOST_CORNERS;
}

/* A ring of points: the outline of the section at s, 0 to 1, along element e.  The line is a cubic
 * with the displacements of both ends and the slopes of their rotations. */
static void put_ring(maker *m, const pol_beam *beam, int first, int e, double s, int corners,
                     double (*yz)[2])
{
  const double *from = beam->positions + 3 * (size_t)e, *end = beam->ends + 8 * (size_t)e;
  double q[4], Q[9], d[3], r[MOST_CORNERS][3], square = 0.0, dot = 0.0;
  for (int i = 0; i < 4; i++) dot += end[i] * end[4 + i];
  for (int i = 0; i < 4; i++) q[i] = (1.0 - s) * end[i] + (dot < 0.0 ? -s : s) * end[4 + i];
  pol_quat_normalize(q);
  pol_quat_to_matrix(q, Q);
  for (int i = 0; i < 3; i++) d[i] = from[3 + i] - from[i];
  for (int i = 0; i < 3; i++) square += d[i] * d[i];
  for (int c = 0; c < corners; c++) {
    double x[3];
    for (int i = 0; i < 3; i++) {
      r[c][i] = Q[3 * i + 1] * yz[c][0] + Q[3 * i + 2] * yz[c][1];
      x[i] = from[i] + s * d[i] + r[c][i] - m->reduced->center[i];
    }
    put(m->to->points + 3 * (size_t)(first + c), x);
  }
  const double t = s * s * (3.0 - 2.0 * s), t0 = s * (1.0 - s) * (1.0 - s), t1 = s * s * (s - 1.0);
  for (int k = 0; k < m->to->num_modes; k++) {
    const double *u0 = motion_of(m, e, k), *u1 = motion_of(m, e + 1, k);
    double slope0[3], slope1[3], line[3], turn[3], stretch = 0.0;
    poli_v3_cross(u0 + 3, d, slope0);
    poli_v3_cross(u1 + 3, d, slope1);
    for (int i = 0; i < 3; i++) stretch += (u1[i] - u0[i]) * d[i] / square;
    for (int i = 0; i < 3; i++) {
      line[i] = (1.0 - t) * u0[i] + t * u1[i] + t0 * (slope0[i] + stretch * d[i]) +
                t1 * (slope1[i] + stretch * d[i]);
      turn[i] = (1.0 - s) * u0[3 + i] + s * u1[3 + i];
    }
    for (int c = 0; c < corners; c++) {
      double x[3];
      poli_v3_cross(turn, r[c], x);
      poli_v3_add(line, x, x);
      put(moved_point(m, k, first + c), x);
    }
  }
}

/* Rings along the beam, about 60 of them or one for each element, fewer if they are too many, and
 * caps. */
static pol_status make_tube(maker *m, const poli_model_beam *from, int most)
{
  double yz[MOST_CORNERS][2];
  pol_beam beam;
  void *memory = NULL;
  pol_status status = poli_beam_layout(from, &beam, &memory);
  if (!status) {
    const int elements = beam.num_nodes - 1, corners = make_outline(&from->section, &beam, yz);
    int spans = elements * (elements < 60 ? (60 + elements - 1) / elements : 1);
    if (spans > most / corners - 3) spans = most / corners > 4 ? most / corners - 3 : 1;
    const int caps = (spans + 1) * corners;
    m->to->num_points = caps + 2 * corners;
    status = allocate(m, m->to->num_points, 2 * spans * corners + 2 * (corners - 2));
    for (int ring = 0; ring < spans + 3 && !status; ring++) {
      const int at = ring <= spans ? ring : ring == spans + 1 ? 0 : spans;
      const double s = (double)at * elements / spans;
      const int e = at == spans ? elements - 1 : (int)s;
      put_ring(m, &beam, ring * corners, e, s - e, corners, yz);
      for (int i = 0; i < corners && ring < spans; i++) {
        const int a = ring * corners + i, b = ring * corners + (i + 1) % corners;
        add_triangle(m->to, a, b, a + corners);
        add_triangle(m->to, b, b + corners, a + corners);
      }
    }
    for (int i = 1; i + 1 < corners && !status; i++) {
      add_triangle(m->to, caps, caps + i + 1, caps + i);
      add_triangle(m->to, caps + corners, caps + corners + i, caps + corners + i + 1);
    }
  }
  free(memory);
  return status;
}

/* --- all -------------------------------------------------------------------------------------- */

pol_status poli_surface_create(pol_surface *surface, const poli_model_flexible *body,
                               const pol_finite_elements *elements, size_t most)
{
  const int modes = body->reduced->body.num_modes;
  const size_t fit = most / (3 * (size_t)modes);
  const int points = fit > MOST_POINTS ? MOST_POINTS : fit < 100 ? 100 : (int)fit;
  maker m = {.fe = elements, .reduced = body->reduced, .to = surface};
  *surface = (pol_surface){.num_modes = modes, .num_nodes = elements->num_nodes, .unit = 1.0};
  const pol_status status = body->files[0] ? make_cloud(&m, points)
                            : body->mesh.type == POLI_BEAM_MESH
                                ? make_tube(&m, &body->mesh.beam, points)
                                : make_faces(&m, body->mesh.divisions, points);
  const size_t numbers = 3 * (size_t)modes * (size_t)surface->num_points;
  double largest = 0.0;
  for (size_t i = 0; i < numbers && !status; i++) largest = fmax(largest, fabs((double)m.moved[i]));
  if (largest > 0.0) surface->unit = largest / 32767.0;
  for (size_t i = 0; i < numbers && !status; i++)
    surface->modes[i] = (int16_t)lround((double)m.moved[i] / surface->unit);
  free(m.moved);
  if (status) poli_surface_free(surface);
  return status;
}

json_t *poli_surface_json(const pol_surface *surface)
{
  const size_t points = 3 * (size_t)surface->num_points,
               numbers = points * (size_t)surface->num_modes;
  json_t *x = json_array(), *u = json_array();
  int failed = 0;
  for (size_t i = 0; i < points && !failed; i++)
    failed = json_array_append_new(x, json_real((double)surface->points[i]));
  for (size_t i = 0; i < numbers && !failed; i++)
    failed = json_array_append_new(u, json_integer(surface->modes[i]));
  json_t *all = json_pack("{s:i, s:f, s:o, s:o}", "nodes", surface->num_nodes, "unit",
                          surface->unit, "points", x, "modes", u);
  if (!failed) return all;
  json_decref(all);
  return NULL;
}

pol_status poli_surface_read(pol_surface *surface, const json_t *object, size_t num_modes)
{
  const json_t *x = json_object_get(object, "points"), *u = json_object_get(object, "modes");
  const size_t points = json_array_size(x), numbers = json_array_size(u);
  if (points == 0 || points % 3 != 0 || points > 3 * (size_t)MOST_POINTS ||
      numbers != points * num_modes)
    return POL_OK;
  maker m = {.to = surface};
  *surface = (pol_surface){.num_points = (int)(points / 3), .num_modes = (int)num_modes};
  const pol_status status = allocate(&m, surface->num_points, 0);
  free(m.moved);
  if (status) {
    poli_surface_free(surface);
    return status;
  }
  surface->num_nodes = (int)json_integer_value(json_object_get(object, "nodes"));
  surface->unit = json_number_value(json_object_get(object, "unit"));
  for (size_t i = 0; i < points; i++)
    surface->points[i] = (float)json_number_value(json_array_get(x, i));
  for (size_t i = 0; i < numbers; i++) {
    const json_int_t number = json_integer_value(json_array_get(u, i));
    surface->modes[i] = (int16_t)(number < -32767 ? -32767 : number > 32767 ? 32767 : number);
  }
  return POL_OK;
}
