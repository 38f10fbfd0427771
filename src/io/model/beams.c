/* From the keys of a beam to its nodes: axes that turn along its line as little as possible, the
 * stiffness and inertia of its section, its markers and its loads. */
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
    memcpy(beam->center, s->center, sizeof beam->center);
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

/* The axes q turned about their x. */
static void twist_axes(double q[4], double angle)
{
  const double turn[4] = {cos(0.5 * angle), sin(0.5 * angle), 0.0, 0.0};
  double turned[4];
  pol_quat_multiply(q, turn, turned);
  memcpy(q, turned, sizeof turned);
}

pol_status poli_beam_layout(const poli_model_beam *from, pol_beam *beam, void **memory)
{
  const int n = from->elements;
  const size_t most = json_array_size(from->points) + from->markers.count;
  poli_beam_line *line = NULL;
  poli_beam_nodes to;
  double *q, *ends, *spans;
  poli_arena arena = {0};
  do {
    POLI_TAKE_EACH(&arena, 3 * (n + 1), &to.x, &to.before, &to.back);
    POLI_TAKE(&arena, to.lengths, n);
    POLI_TAKE(&arena, to.s, n + 1);
    POLI_TAKE(&arena, q, 4 * (n + 1));
    POLI_TAKE(&arena, ends, 8 * n);
    POLI_TAKE(&arena, spans, most);
  } while (poli_arena_again(&arena));
  *memory = arena.memory;
  pol_status status = arena.memory ? poli_beam_line_create(&line, from) : POL_NO_MEMORY;
  if (status) return status;
  const double length = poli_beam_line_length(line);
  poli_beam_line_nodes(line, poli_beam_line_spans(line, spans), spans, &to);
  poli_beam_line_free(&line);
  first_axes(from, to.back, q);
  for (int k = 0; k < n; k++) {
    double *first = ends + 8 * k, *second = first + 4;
    turn_axes(q + 4 * k, to.before + 3 * k, to.back + 3 * k, first);
    turn_axes(first, to.back + 3 * k, to.before + 3 * (k + 1), second);
    memcpy(q + 4 * (k + 1), second, 4 * sizeof *q);
  }
  /* twist about the line, by length */
  for (int k = 0; k <= n && from->twist != 0.0; k++) {
    const double angle = from->twist * to.s[k] / length;
    twist_axes(q + 4 * k, angle);
    if (k < n) twist_axes(ends + 8 * k, angle);
    if (k > 0) twist_axes(ends + 8 * k - 4, angle);
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

/* --- markers and loads ------------------------------------------------------------------------ */

pol_status poli_beam_add_marker(pol_mechanism *mechanism, const poli_model_beam *from,
                                const pol_beam *beam, int first, size_t index)
{
  const poli_beam_marker *given = (const poli_beam_marker *)from->markers.items + index;
  poli_beam_line *line = NULL;
  const pol_status status = poli_beam_line_create(&line, from);
  if (status) return status;
  const double at = poli_beam_marker_at(line, given);
  poli_beam_line_free(&line);
  pol_marker marker = pol_marker_default();
  double s = 0.0;
  int k = 0; /* the node that is there: the nearest */
  while (k + 1 < beam->num_nodes && s + 0.5 * beam->lengths[k] < at) s += beam->lengths[k++];
  marker.name = given->name;
  marker.body = first + k;
  poli_beam_center(beam, k, marker.position);
  poli_v3_scale(-1.0, marker.position, marker.position);
  return pol_mechanism_add_marker(mechanism, &marker, NULL);
}

/* The loaded part of the half elements beside a node: its length, its middle from the node, and the
 * axes of the section, both in axes of the body. */
typedef struct loaded {
  double length, middle[3], A[9];
} loaded;

static loaded loaded_half(const poli_beam_load *load, const pol_beam *beam, int k, int end,
                          double node)
{
  const int element = end == 0 ? k : k - 1;
  const double half = 0.5 * beam->lengths[element];
  const double from = isnan(load->from) ? 0.0 : load->from;
  const double a = fmax(end == 0 ? node : node - half, from);
  const double b = fmin(end == 0 ? node + half : node, isnan(load->to) ? DBL_MAX : load->to);
  double back[4], turn[4];
  loaded found = {.length = fmax(b - a, 0.0)};
  pol_quat_conjugate(beam->rotations + 4 * k, back);
  pol_quat_multiply(back, beam->ends + 8 * element + 4 * end, turn);
  pol_quat_to_matrix(turn, found.A);
  for (int i = 0; i < 3; i++) found.middle[i] = (0.5 * (a + b) - node) * found.A[3 * i];
  return found;
}

/* The force and the moment on the loaded part beside node k. */
static pol_status add_loaded(pol_mechanism *mechanism, const poli_beam_load *load,
                             const pol_beam *beam, int first, const pol_function *scale, int k,
                             const loaded *part, const char *suffix)
{
  double center[3];
  pol_status status = POL_OK;
  poli_beam_center(beam, k, center);
  for (int turns = 0; turns < 2 && !status; turns++) {
    const double *by_length = turns ? load->moment : load->force;
    double vector[3];
    if (part->length == 0.0 || poli_v3_dot(by_length, by_length) == 0.0) continue;
    char *name = poli_format("%s_%d%s%s", load->name, k, suffix, turns ? "_moment" : "");
    pol_force force = pol_force_default();
    poli_v3_scale(part->length, by_length, vector);
    force.name = name;
    force.type = turns ? POL_APPLIED_TORQUE : POL_APPLIED_FORCE;
    force.body = first + k;
    force.scale = scale;
    poli_v3_copy(vector, force.vector);
    if (load->axes == POLI_LOAD_SECTION) {
      force.frame = POL_BODY_AXES;
      poli_m3_apply(part->A, vector, force.vector);
    }
    if (!turns) poli_v3_subtract(part->middle, center, force.point);
    status = name ? pol_mechanism_add_force(mechanism, &force, NULL) : POL_NO_MEMORY;
    free(name);
  }
  return status;
}

/* Loads on the half elements beside each node, which are rigid as their masses are.  Both halves
 * have one force at their common middle, unless they are beside a corner that turns the loads. */
pol_status poli_beam_add_load(pol_mechanism *mechanism, const poli_beam_load *load,
                              const pol_beam *beam, int first, const pol_function *scale)
{
  double node = 0.0;
  pol_status status = POL_OK;
  for (int k = 0; k < beam->num_nodes && !status; k++) {
    loaded before = {0}, behind = {0};
    double turned = 0.0;
    if (k > 0) before = loaded_half(load, beam, k, 1, node);
    if (k + 1 < beam->num_nodes) behind = loaded_half(load, beam, k, 0, node);
    for (int i = 0; i < 9; i++) turned = fmax(turned, fabs(before.A[i] - behind.A[i]));
    const double length = before.length + behind.length;
    const int is_alone = before.length == 0.0 || behind.length == 0.0;
    if (!is_alone && (load->axes == POLI_LOAD_GLOBAL || turned < 1e-12)) {
      for (int i = 0; i < 3; i++)
        behind.middle[i] =
            (before.length * before.middle[i] + behind.length * behind.middle[i]) / length;
      behind.length = length;
      before.length = 0.0;
    }
    status = add_loaded(mechanism, load, beam, first, scale, k, &before,
                        behind.length > 0.0 ? "_before" : "");
    if (!status) status = add_loaded(mechanism, load, beam, first, scale, k, &behind, "");
    if (k + 1 < beam->num_nodes) node += beam->lengths[k];
  }
  return status;
}
