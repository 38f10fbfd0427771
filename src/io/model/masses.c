/* Mass and inertia of bodies from their shapes.
 *
 * Each shape has a volume V, a centre c and S, the integral of x x^T from its centre.  A body is
 * the sum of its shapes with their densities: mass m = sum rho V, centre c = sum rho V c_i / m, and
 * S = sum rho (R S_i R^T + V d d^T) with d = c_i - c; its inertia is trace(S) I - S.  They are
 * added one by one, about the centre of those before, so that shapes far from the origin lose no
 * digits. Shapes that overlap count twice.  With a given mass all densities are scaled to give it.
 *
 * The body's origin in the file is free then: all that the file places in body axes is moved so
 * that the centre of mass becomes the origin, as the mechanism has it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/lie.h>

#include "io/file/mesh.h"
#include "io/model/expand.h"
#include "lie/small.h"

/* --- shapes ----------------------------------------------------------------------------------- */

static json_t *numbers_json(const double *from, int count)
{
  json_t *list = json_array();
  for (int i = 0; i < count; i++)
    if (json_array_append_new(list, json_real(from[i])) != 0) {
      json_decref(list);
      return NULL;
    }
  return list;
}

/* The integrals of a mesh of scale 1 as an object, and back; 0 if it is none. */
static json_t *moments_json(const poli_moments *m)
{
  return json_pack("{s:f, s:o, s:o}", "volume", m->volume, "center", numbers_json(m->center, 3),
                   "second", numbers_json(m->second, 9));
}

static int read_moments(const json_t *object, poli_moments *m)
{
  const json_t *center = json_object_get(object, "center"),
               *second = json_object_get(object, "second");
  m->volume = json_number_value(json_object_get(object, "volume"));
  if (!(m->volume > 0.0) || json_array_size(center) != 3 || json_array_size(second) != 9) return 0;
  for (size_t i = 0; i < 3; i++) m->center[i] = json_number_value(json_array_get(center, i));
  for (size_t i = 0; i < 9; i++) m->second[i] = json_number_value(json_array_get(second, i));
  return 1;
}

/* The integrals of a mesh file, from "files", from before, or from the file.  0: reported. */
static int mesh_moments(poli_expansion *x, const poli_place *place, const poli_model_shape *shape,
                        poli_moments *m)
{
  const poli_place at = poli_place_key(place, "file");
  const json_t *known = json_object_get(x->meshes, shape->file);
  char message[300] = "", *path = NULL;
  poli_mesh mesh = {0};
  int found = read_moments(known ? known : json_object_get(x->files, shape->file), m);
  if (!found && !x->folder) {
    poli_report(x->reader, &at, "",
                "must be described in \"files\": the model was not read from a file");
    return 0;
  }
  if (!found) {
    path = poli_format("%s%s", shape->file[0] == '/' ? "" : x->folder, shape->file);
    pol_status status =
        path ? poli_mesh_read(&mesh, path, 1.0, message, sizeof message) : POL_NO_MEMORY;
    if (status == POL_OK) status = poli_mesh_moments(&mesh, m, message, sizeof message);
    poli_mesh_free(&mesh);
    free(path);
    if (!x->meshes) x->meshes = json_object();
    if (status == POL_OK && json_object_set_new(x->meshes, shape->file, moments_json(m)) != 0)
      status = POL_NO_MEMORY;
    if (status == POL_NO_MEMORY) x->reader->status = status;
    if (status == POL_BAD_ARGUMENT || status == POL_IO)
      poli_report(x->reader, &at, "", "must be a mesh that encloses a solid: %s", message);
    found = status == POL_OK;
  }
  const double scale = shape->shape.scale;
  m->volume *= scale * scale * scale;
  for (int i = 0; i < 3; i++) m->center[i] *= scale;
  for (int i = 0; i < 9; i++) m->second[i] *= scale * scale * scale * scale * scale;
  return found;
}

/* The integrals of a shape in its own axes.  0: reported. */
static int shape_moments(poli_expansion *x, const poli_place *place, const poli_model_shape *from,
                         poli_moments *m)
{
  static const double pi = 3.14159265358979323846;
  const pol_shape *shape = &from->shape;
  const double r = shape->radius, l = shape->length, *a = shape->size;
  double square[3] = {0.0}; /* mean squares of x, y and z */
  *m = (poli_moments){0};
  switch (shape->type) {
  case POL_BOX:
    m->volume = a[0] * a[1] * a[2];
    for (int i = 0; i < 3; i++) square[i] = a[i] * a[i] / 12.0;
    break;
  case POL_CYLINDER:
    m->volume = pi * r * r * l;
    square[0] = square[1] = 0.25 * r * r;
    square[2] = l * l / 12.0;
    break;
  case POL_SPHERE:
    m->volume = 4.0 / 3.0 * pi * r * r * r;
    square[0] = square[1] = square[2] = 0.2 * r * r;
    break;
  case POL_CONE: /* its origin is half way up, its centre a quarter */
    m->volume = pi * r * r * l / 3.0;
    m->center[2] = -0.25 * l;
    square[0] = square[1] = 0.15 * r * r;
    square[2] = 0.0375 * l * l;
    break;
  case POL_MESH:
    return mesh_moments(x, place, from, m);
  }
  for (int i = 0; i < 3; i++) m->second[4 * i] = m->volume * square[i];
  return 1;
}

/* --- bodies ----------------------------------------------------------------------------------- */

typedef struct sum {
  double mass, volume;
  double center[3];
  double second[9]; /* sum of rho (S + V d d^T) */
} sum;

/* Adds a shape of a body, in body axes. */
static void add_shape(const pol_shape *shape, double density, const poli_moments *m, sum *s)
{
  double R[9], RS[9], S[9], d[3];
  const double mass = density * m->volume, share = mass / (s->mass + mass);
  pol_quat_to_matrix(shape->rotation, R);
  poli_m3_apply(R, m->center, d);
  for (int i = 0; i < 3; i++) d[i] += shape->position[i] - s->center[i];
  poli_m3_multiply(R, m->second, RS);
  poli_m3_multiply_by_transposed(RS, R, S);
  for (int i = 0; i < 9; i++)
    s->second[i] += density * S[i] + s->mass * share * d[i / 3] * d[i % 3];
  for (int i = 0; i < 3; i++) s->center[i] += share * d[i];
  s->mass += mass;
  s->volume += m->volume;
}

/* Moves what the file places on a body by -center, in body axes. */
static void move_origin(poli_model_data *data, int index, const double center[3])
{
  poli_model_body *body = (poli_model_body *)data->bodies.items + index;
  poli_model_shape *shapes = body->shapes.items;
  pol_marker *markers = data->markers.items;
  poli_model_force *forces = data->forces.items;
  double R[9], moved[3];
  pol_quat_to_matrix(body->body.rotation, R);
  poli_m3_apply(R, center, moved);
  for (int i = 0; i < 3; i++) {
    body->body.position[i] += moved[i];
    for (size_t k = 0; k < body->shapes.count; k++) shapes[k].shape.position[i] -= center[i];
    for (size_t k = 0; k < data->markers.count; k++)
      if (markers[k].body == index) markers[k].position[i] -= center[i];
    for (size_t k = 0; k < data->forces.count; k++) {
      poli_model_force *force = &forces[k];
      const pol_force_type type = force->force.type;
      if (force->force.body == index && (type == POL_APPLIED_FORCE || type == POL_SUPPORT))
        force->force.point[i] -= center[i];
      for (int end = 0; end < 2; end++)
        if (force->bodies[end] == index) force->points[3 * end + i] -= center[i];
    }
  }
}

/* 0: it has no mass, and that was reported. */
static int fill_body(poli_expansion *x, const poli_place *place, poli_model_data *data, int index,
                     pol_model *model)
{
  poli_model_body *from = (poli_model_body *)data->bodies.items + index;
  pol_body *body = &from->body;
  const poli_model_shape *shapes = from->shapes.items;
  const poli_place list = poli_place_key(place, "shapes");
  const int has_density = !isnan(from->density);
  const int has_inertia = poli_given(place, "inertia") && !from->auto_inertia;
  sum s = {0};
  for (size_t i = 0; i < from->shapes.count; i++) {
    const poli_place at = poli_place_item(&list, i);
    const double own = shapes[i].density;
    const double density = !isnan(own) ? own : has_density ? from->density : 1.0;
    poli_moments m;
    if (density == 0.0) continue;
    if (!shape_moments(x, &at, &shapes[i], &m)) return 0;
    add_shape(&shapes[i].shape, density, &m, &s);
  }
  if (!(s.mass > 0.0) || !isfinite(s.mass)) {
    poli_report(x->reader, place, "",
                "must have \"shapes\" with a volume, from which mass and inertia are taken");
    return 0;
  }
  const double scale = has_density ? 1.0 : body->mass / s.mass;
  double *c = s.center, size = 0.0;
  pol_shape_mass *note = &model->shape_masses[model->num_shape_masses++];
  if (has_density) body->mass = s.mass;
  for (int i = 0; i < 3; i++) size = fmax(size, sqrt(s.second[4 * i] / s.mass));
  /* round-off of a symmetric body is no offset */
  if (sqrt(poli_v3_dot(c, c)) <= 1e-13 * size) memset(c, 0, sizeof s.center);
  if (!has_inertia && !body->point) {
    double S[9], trace = 0.0;
    for (int i = 0; i < 9; i++) S[i] = scale * s.second[i];
    for (int i = 0; i < 3; i++) trace += S[4 * i];
    for (int i = 0; i < 9; i++)
      body->inertia[i] = (i % 4 == 0 ? trace : 0.0) - 0.5 * (S[i] + S[3 * (i % 3) + i / 3]);
    for (int i = 0; i < 9; i++)
      if (i % 4 != 0 && fabs(body->inertia[i]) <= 1e-15 * trace) body->inertia[i] = 0.0;
  }
  note->body = index;
  note->volume = s.volume;
  poli_v3_copy(c, note->center);
  if (c[0] != 0.0 || c[1] != 0.0 || c[2] != 0.0) move_origin(data, index, c);
  return 1;
}

void poli_fill_masses(poli_expansion *x, const poli_place *top, poli_model_data *data,
                      pol_model *model)
{
  poli_model_body *bodies = data->bodies.items;
  const poli_place list = poli_place_key(top, "bodies");
  size_t count = 0;
  for (size_t i = 0; i < data->bodies.count; i++) {
    const poli_place place = poli_place_item(&list, i);
    count += poli_given(&place, "density") || bodies[i].auto_inertia;
  }
  if (count == 0) return;
  model->shape_masses = calloc(count, sizeof *model->shape_masses);
  if (!model->shape_masses) x->reader->status = POL_NO_MEMORY;
  for (size_t i = 0; i < data->bodies.count && x->reader->status == POL_OK; i++) {
    const poli_place place = poli_place_item(&list, i);
    pol_body *body = &bodies[i].body;
    if (!poli_given(&place, "density") && !bodies[i].auto_inertia) continue;
    if (bodies[i].is_sound && fill_body(x, &place, data, (int)i, model)) continue;
    /* what is wrong is reported already: that mass and inertia are missing would be no news */
    if (!(body->mass > 0.0)) body->mass = 1.0;
    if (bodies[i].auto_inertia || !poli_given(&place, "inertia"))
      for (int k = 0; k < 3; k++) body->inertia[4 * k] = 1.0;
  }
}
