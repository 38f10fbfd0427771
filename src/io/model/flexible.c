/* Flexible bodies of a model file: from files or a mesh to reduced bodies.
 *
 * What a body was reduced to is kept in "files" of the text of the model under its keys, so that a
 * result can be read again without the files, and without their reduction. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/lie.h>
#include <polhode/mesh_files.h>

#include "base/arena.h"
#include "io/model/expand.h"
#include "lie/small.h"

/* --- rules ------------------------------------------------------------------------------------ */

/* The elements of a mesh have no couplings between the strains of a section. */
static void check_mesh_section(poli_reader *reader, const poli_place *place,
                               const poli_model_section *section)
{
  const poli_place keys = poli_place_key(place, "section"),
                   stiffness = poli_place_key(&keys, "stiffness"),
                   center = poli_place_key(&keys, "center");
  int coupled = 0;
  if (section->type != POLI_STIFFNESS) return;
  for (int i = 0; i < 36; i++) coupled |= i % 7 != 0 && section->stiffness[i] != 0.0;
  if (coupled)
    poli_report(reader, &stiffness, "",
                "must be diagonal in a mesh, whose elements have no couplings: use \"beams\"");
  if (section->center[0] != 0.0 || section->center[1] != 0.0)
    poli_report(reader, &center, "",
                "must be [0, 0] in a mesh, whose elements have their mass on the line: use "
                "\"beams\"");
}

void poli_check_mesh(poli_reader *reader, const poli_place *place, void *object, int sound)
{
  poli_model_mesh *mesh = object;
  const poli_place material = poli_place_key(place, "material");
  if (!sound) return;
  if (mesh->type == POLI_BEAM_MESH) {
    poli_check_beam(reader, place, &mesh->beam, sound);
    check_mesh_section(reader, place, &mesh->beam.section);
  } else if (!material.value) {
    poli_report_missing(reader, place, poli_beam_kind.fields, "material",
                        "an object with \"young\" and \"density\"");
  }
  if (mesh->type == POLI_BEAM_MESH || !material.value) return;
  if (!isnan(mesh->beam.shear)) { /* G instead of nu */
    mesh->beam.poisson = mesh->beam.young / (2.0 * mesh->beam.shear) - 1.0;
    mesh->beam.shear = NAN;
  }
  if (!(mesh->beam.poisson > -1.0 && mesh->beam.poisson < 0.5))
    poli_report(reader, &material, "", "must have a Poisson's ratio above -1 and below 0.5");
}

void poli_check_interface(poli_reader *reader, const poli_place *place, void *object, int sound)
{
  (void)object;
  if (sound && !poli_given(place, "nodes") && !poli_given(place, "near") &&
      !poli_given(place, "box"))
    poli_report(reader, place, "", "must have \"nodes\", \"near\" or \"box\"");
}

void poli_check_flexible(poli_reader *reader, const poli_place *place, void *object, int sound)
{
  poli_model_flexible *body = object;
  const poli_place interfaces = poli_place_key(place, "interfaces");
  const poli_model_interface *items = body->interfaces.items;
  const int global = poli_given(place, "angular_velocity_global"), before = reader->errors->count;
  if (poli_given(place, "velocity")) body->given |= POL_GIVEN_VELOCITY;
  if (global || poli_given(place, "angular_velocity")) body->given |= POL_GIVEN_ANGULAR_VELOCITY;
  if (global && sound) {
    double R[9];
    body->given |= POL_GIVEN_IN_GLOBAL_AXES;
    pol_quat_to_matrix(body->rotation, R);
    poli_m3_apply_transposed(R, body->angular_velocity_global, body->angular_velocity);
  }
  for (size_t i = 0; i < body->interfaces.count && sound; i++)
    for (size_t k = 0; k < i; k++)
      if (strcmp(items[i].name, items[k].name) == 0) {
        const poli_place item = poli_place_item(&interfaces, i),
                         name = poli_place_key(&item, "name");
        poli_report(reader, &name, "", "must be unique in the body");
      }
  body->is_sound = sound && reader->errors->count == before;
}

/* --- elements --------------------------------------------------------------------------------- */

/* The place that an error of the reduction belongs to: a key of the body, its mesh, or an
 * interface, "interfaces[2].nodes". */
static void pass_on(poli_reader *reader, const poli_place *place, const pol_errors *errors)
{
  const poli_place mesh = poli_place_key(place, "mesh"), list = poli_place_key(place, "interfaces");
  for (int i = 0; i < errors->count; i++) {
    const pol_error *error = &errors->items[i];
    unsigned long number;
    if (sscanf(error->path, "interfaces[%lu]", &number) == 1) {
      const poli_place item = poli_place_item(&list, number);
      const char *const key = poli_given(&item, "near")  ? "near"
                              : poli_given(&item, "box") ? "box"
                                                         : "nodes";
      const poli_place at = poli_place_key(&item, key);
      poli_report(reader, &at, "", "%s", error->rule);
    } else {
      const poli_place at = poli_place_key(place, error->path);
      poli_report(reader, at.value ? &at : mesh.value ? &mesh : place, "", "%s", error->rule);
    }
  }
}

static const char too_large[] =
    "must have at most 2000000 nodes, and positive, finite masses and stiffnesses";

static pol_status make_mesh(const poli_model_mesh *mesh, pol_finite_elements **elements)
{
  const poli_model_beam *from = &mesh->beam;
  if (mesh->type != POLI_BEAM_MESH) {
    const pol_material material = {from->young, from->poisson, from->density};
    return pol_finite_elements_block(elements, mesh->size, mesh->divisions, &material);
  }
  pol_beam beam;
  void *memory = NULL;
  pol_status status = poli_beam_layout(from, &beam, &memory);
  if (!status) status = pol_finite_elements_beam(elements, &beam);
  free(memory);
  return status;
}

pol_status pol_finite_elements_from_text(pol_finite_elements **elements, const char *text,
                                         pol_errors *errors)
{
  poli_reader reader = {.errors = errors, .status = POL_OK};
  poli_model_mesh mesh = poli_new_flexible.mesh;
  json_t *tree = poli_load_json(&reader, text, strlen(text));
  const poli_place top = {.value = tree};
  *elements = NULL;
  if (tree) poli_read_kind(&reader, &top, &poli_mesh_kind, &mesh);
  if (reader.status == POL_OK && errors->count > 0) reader.status = POL_BAD_ARGUMENT;
  if (reader.status == POL_OK) reader.status = make_mesh(&mesh, elements);
  if (reader.status == POL_BAD_ARGUMENT && errors->count == 0)
    reader.status =
        pol_errors_add(errors, "size", "", too_large, "") ? POL_NO_MEMORY : POL_BAD_ARGUMENT;
  json_decref(tree);
  return reader.status;
}

/* The elements of a body, and the numbers of their nodes, NULL for 1, 2, ...; errors are passed on.
 */
static pol_status make_elements(poli_expansion *x, const poli_place *place,
                                const poli_model_flexible *body, pol_finite_elements **elements,
                                long **ids)
{
  pol_errors errors = {0};
  char *paths[3] = {NULL};
  pol_status status = POL_OK;
  if (!body->files[0]) {
    const poli_place mesh = poli_place_key(place, "mesh");
    status = make_mesh(&body->mesh, elements);
    if (status == POL_BAD_ARGUMENT) poli_report(x->reader, &mesh, "", "%s", too_large);
    return status;
  }
  if (!x->folder) {
    poli_report(x->reader, place, "",
                "must be described in \"files\": the model was not read from a file, and "
                "interfaces and modes must be those of the run");
    return POL_BAD_ARGUMENT;
  }
  for (int i = 0; i < 3 && !status; i++) {
    const char *file = body->files[i];
    paths[i] = poli_format("%s%s", file[0] == '/' ? "" : x->folder, file);
    if (!paths[i]) status = POL_NO_MEMORY;
  }
  if (!status)
    status = pol_finite_elements_read(elements, ids, paths[0], paths[1], paths[2],
                                      body->units == POLI_UNITS_MM ? 1e-3 : 1.0, &errors);
  if (status == POL_BAD_ARGUMENT) pass_on(x->reader, place, &errors);
  pol_errors_clear(&errors);
  for (int i = 0; i < 3; i++) free(paths[i]);
  return status;
}

typedef struct numbered {
  long id;
  int index;
} numbered;

static int compare_numbers(const void *first, const void *second)
{
  const numbered *a = first, *b = second;
  return a->id < b->id ? -1 : a->id > b->id;
}

/* The indices of the nodes of an interface in nodes (room for all); returns their number, or -1
 * after an error, which is reported.  sorted: the nodes by their ids. */
static int select_nodes(poli_expansion *x, const poli_place *place,
                        const poli_model_interface *from, const pol_finite_elements *e,
                        const numbered *sorted, int *nodes)
{
  int count = 0;
  if (from->nodes) {
    const poli_place list = poli_place_key(place, "nodes");
    for (size_t i = 0; i < json_array_size(from->nodes); i++) {
      const double number = json_number_value(json_array_get(from->nodes, i));
      const numbered wanted = {.id = fabs(number) < 9e15 ? (long)number : -1};
      const numbered *found =
          (double)wanted.id == number && i < (size_t)e->num_nodes
              ? bsearch(&wanted, sorted, (size_t)e->num_nodes, sizeof *sorted, compare_numbers)
              : NULL;
      const poli_place item = poli_place_item(&list, i);
      if (!found) {
        poli_report(x->reader, &item, "", "must be the number of a node of the mesh, once");
        return -1;
      }
      nodes[count++] = found->index;
    }
    return count;
  }
  double nearest = INFINITY, size = 0.0;
  for (int n = 0; n < e->num_nodes; n++)
    for (int i = 0; i < 3; i++) size = fmax(size, fabs(e->positions[3 * n + i]));
  for (int n = 0; n < e->num_nodes; n++) {
    const double *p = e->positions + 3 * (size_t)n;
    if (!isnan(from->near[0])) {
      const double d =
          hypot(hypot(p[0] - from->near[0], p[1] - from->near[1]), p[2] - from->near[2]);
      if (d >= nearest) continue;
      nearest = d;
      nodes[0] = n;
      count = 1;
    } else {
      int inside = 1;
      for (int i = 0; i < 3; i++) {
        const double a = from->box[i], b = from->box[3 + i], gap = 1e-9 * size;
        inside &= p[i] >= fmin(a, b) - gap && p[i] <= fmax(a, b) + gap;
      }
      if (inside) nodes[count++] = n;
    }
  }
  return count;
}

/* Reduces the elements of a body. */
static pol_status reduce(poli_expansion *x, const poli_place *place, poli_model_flexible *body,
                         const pol_finite_elements *e, const long *ids)
{
  const poli_place list = poli_place_key(place, "interfaces");
  const poli_model_interface *from = body->interfaces.items;
  const int count = (int)body->interfaces.count, before = x->reader->errors->count;
  pol_attachment *attachments;
  numbered *sorted;
  int *nodes;
  poli_arena arena = {0};
  do {
    POLI_TAKE(&arena, attachments, count);
    POLI_TAKE(&arena, sorted, e->num_nodes);
    POLI_TAKE(&arena, nodes, (size_t)e->num_nodes * ((size_t)count + 1));
  } while (poli_arena_again(&arena));
  if (!arena.memory) return POL_NO_MEMORY;
  for (int n = 0; n < e->num_nodes; n++) sorted[n] = (numbered){ids ? ids[n] : n + 1, n};
  qsort(sorted, (size_t)e->num_nodes, sizeof *sorted, compare_numbers);
  for (int k = 0; k < count; k++) {
    const poli_place item = poli_place_item(&list, (size_t)k);
    int *own = nodes + (size_t)k * (size_t)e->num_nodes;
    const int selected = select_nodes(x, &item, &from[k], e, sorted, own);
    attachments[k] =
        (pol_attachment){.name = from[k].name,
                         .num_nodes = selected,
                         .nodes = own,
                         .position = isnan(from[k].position[0]) ? NULL : from[k].position};
  }
  const pol_reduction_options options = {.modes = body->modes, .frequency = body->frequency};
  pol_errors errors = {0};
  pol_status status = x->reader->errors->count > before ? POL_BAD_ARGUMENT : POL_OK;
  if (!status) status = pol_reduce(&body->reduced, e, count, attachments, &options, &errors);
  pass_on(x->reader, place, &errors);
  if (status == POL_NOT_CONVERGED) {
    poli_report(x->reader, place, "",
                "must have modes that can be found: the iteration for them "
                "did not converge; try other numbers of modes");
    status = POL_BAD_ARGUMENT;
  }
  pol_errors_clear(&errors);
  free(arena.memory);
  return status;
}

/* --- reduced bodies as JSON ------------------------------------------------------------------- */

/* All that a reduced body depends on, as a key of "files"; the caller frees it. */
static char *key_of(const poli_place *place)
{
  static const char *const keys[] = {
      "mass_matrix", "stiffness_matrix", "nodes", "units", "interfaces", "modes", "frequency"};
  json_t *chosen = json_object();
  int failed = chosen == NULL;
  for (size_t i = 0; i < sizeof keys / sizeof *keys && !failed; i++) {
    json_t *value = json_object_get(place->value, keys[i]);
    if (value) failed = json_object_set(chosen, keys[i], value) != 0;
  }
  char *key = failed ? NULL : json_dumps(chosen, JSON_COMPACT | JSON_REAL_PRECISION(17));
  json_decref(chosen);
  return key;
}

static json_t *numbers_json(const double *from, size_t count)
{
  json_t *list = json_array();
  for (size_t i = 0; i < count; i++)
    if (json_array_append_new(list, json_real(from[i])) != 0) {
      json_decref(list);
      return NULL;
    }
  return list;
}

static json_t *reduced_json(const pol_reduced_body *r, const pol_surface *surface)
{
  const pol_flexible_body *b = &r->body;
  const size_t m = (size_t)b->num_modes;
  json_t *interfaces = json_array(), *masses = json_array();
  int failed = 0;
  for (size_t k = 0; k < m; k++)
    failed |= json_array_append_new(masses, json_real(b->inertia[k * (m + 1)]));
  for (int i = 0; i < b->num_interfaces; i++) {
    const pol_interface *from = &b->interfaces[i];
    json_t *item = json_pack("{s:o, s:o, s:o}", "position", numbers_json(from->position, 3),
                             "translation", numbers_json(from->translation, 3 * m), "rotation",
                             numbers_json(from->rotation, 3 * m));
    failed |= json_array_append_new(interfaces, item);
  }
  json_t *all =
      json_pack("{s:f, s:o, s:o, s:i, s:f, s:o, s:o, s:o, s:o}", "mass", b->mass, "masses", masses,
                "center", numbers_json(r->center, 3), "freedoms", r->num_freedoms, "anisotropy",
                r->anisotropy, "frequencies", numbers_json(r->frequencies, m), "second",
                numbers_json(b->second, 9 * (m + 1) * (m + 1)), "interfaces", interfaces, "surface",
                poli_surface_json(surface));
  if (!failed) return all;
  json_decref(all);
  return NULL;
}

/* Copies a list of `count` numbers; 0 if it is another one. */
static int take_numbers(const json_t *list, size_t count, double *to)
{
  if (json_array_size(list) != count) return 0;
  for (size_t i = 0; i < count; i++) to[i] = json_number_value(json_array_get(list, i));
  return 1;
}

/* The reduced body from its JSON; *reduced is NULL if it is none. */
static pol_status read_reduced(const json_t *object, const poli_model_flexible *body,
                               pol_reduced_body **reduced)
{
  static const double two_pi = 6.28318530717958647692;
  const json_t *list = json_object_get(object, "frequencies"),
               *interfaces = json_object_get(object, "interfaces");
  const poli_model_interface *from = body->interfaces.items;
  const size_t m = json_array_size(list), fields = m + 1, count = body->interfaces.count;
  pol_reduced_body *r;
  double *first, *second, *stiffness, *inertia, *frequencies, *masses, *motions;
  pol_interface *own;
  poli_arena arena = {0};
  *reduced = NULL;
  if (m == 0 || m > 100000 || json_array_size(interfaces) != count) return POL_OK;
  do {
    POLI_TAKE(&arena, r, 1);
    POLI_TAKE(&arena, first, 3 * fields);
    POLI_TAKE(&arena, second, 9 * fields * fields);
    POLI_TAKE(&arena, stiffness, m * m);
    POLI_TAKE(&arena, inertia, m * m);
    POLI_TAKE(&arena, frequencies, m);
    POLI_TAKE(&arena, masses, m);
    POLI_TAKE(&arena, motions, 6 * m * count);
    POLI_TAKE(&arena, own, count);
  } while (poli_arena_again(&arena));
  if (!r) return POL_NO_MEMORY;
  int valid = take_numbers(list, m, frequencies) &&
              take_numbers(json_object_get(object, "masses"), m, masses) &&
              take_numbers(json_object_get(object, "second"), 9 * fields * fields, second) &&
              take_numbers(json_object_get(object, "center"), 3, r->center);
  for (size_t i = 0; i < count && valid; i++) {
    const json_t *item = json_array_get(interfaces, i);
    double *translation = motions + 6 * m * i, *rotation = translation + 3 * m;
    own[i] =
        (pol_interface){.name = from[i].name, .translation = translation, .rotation = rotation};
    valid = take_numbers(json_object_get(item, "position"), 3, own[i].position) &&
            take_numbers(json_object_get(item, "translation"), 3 * m, translation) &&
            take_numbers(json_object_get(item, "rotation"), 3 * m, rotation);
  }
  for (size_t k = 0; k < m; k++) {
    stiffness[k * m + k] = masses[k] * pow(two_pi * frequencies[k], 2.0);
    inertia[k * m + k] = masses[k];
  }
  r->body = pol_flexible_body_default();
  r->body.num_modes = (int)m;
  r->body.mass = json_number_value(json_object_get(object, "mass"));
  r->body.first = first;
  r->body.second = second;
  r->body.stiffness = stiffness;
  r->body.inertia = inertia;
  r->body.num_interfaces = (int)count;
  r->body.interfaces = own;
  r->frequencies = frequencies;
  r->num_freedoms = (int)json_integer_value(json_object_get(object, "freedoms"));
  r->anisotropy = json_number_value(json_object_get(object, "anisotropy"));
  if (valid)
    *reduced = r;
  else
    free(r);
  return POL_OK;
}

/* --- all flexible bodies ---------------------------------------------------------------------- */

/* `numbers`: how many there may be to draw it. */
static pol_status fill_body(poli_expansion *x, const poli_place *place, poli_model_flexible *body,
                            size_t numbers)
{
  char *key = key_of(place);
  pol_status status = key ? POL_OK : POL_NO_MEMORY;
  if (!status && body->files[0]) {
    const json_t *kept = json_object_get(x->files, key);
    status = read_reduced(kept, body, &body->reduced);
    if (!status && body->reduced)
      status = poli_surface_read(&body->surface, json_object_get(kept, "surface"),
                                 (size_t)body->reduced->body.num_modes);
  }
  if (!status && !body->reduced) {
    pol_finite_elements *elements = NULL;
    long *ids = NULL;
    status = make_elements(x, place, body, &elements, &ids);
    if (!status) status = reduce(x, place, body, elements, ids);
    if (!status) status = poli_surface_create(&body->surface, body, elements, numbers);
    if (body->reduced) { /* large, and not needed any more */
      free(body->reduced->modes);
      body->reduced->modes = NULL;
    }
    pol_finite_elements_free(&elements);
    free(ids);
    if (!status && body->files[0]) {
      if (!x->meshes) x->meshes = json_object();
      if (json_object_set_new(x->meshes, key, reduced_json(body->reduced, &body->surface)) != 0)
        status = POL_NO_MEMORY;
    }
  }
  free(key);
  return status;
}

void poli_fill_flexible(poli_expansion *x, const poli_place *top, poli_model_data *data,
                        pol_model *model)
{
  /* 8 MB of 2 bytes for all bodies: pages stay below their limit.  Nodes of files are in results as
   * text, and drawn as balls. */
  enum { MOST_NUMBERS = 4000000, MOST_OF_NODES = 200000 };
  const poli_place list = poli_place_key(top, "flexible_bodies");
  poli_model_flexible *bodies = data->flexible.items;
  if (data->flexible.count == 0) return;
  model->reduced_bodies = calloc(data->flexible.count, sizeof *model->reduced_bodies);
  if (!model->reduced_bodies) x->reader->status = POL_NO_MEMORY;
  const poli_model_beam *beams = data->beams.items;
  int index = (int)data->bodies.count;
  for (size_t i = 0; i < data->beams.count; i++) index += beams[i].elements + 1;
  for (size_t i = 0; i < data->flexible.count && x->reader->status == POL_OK; i++) {
    poli_model_flexible *body = &bodies[i];
    const poli_place place = poli_place_item(&list, i);
    const size_t share = MOST_NUMBERS / data->flexible.count,
                 numbers = body->files[0] && share > MOST_OF_NODES ? MOST_OF_NODES : share;
    const pol_status status = body->is_sound ? fill_body(x, &place, body, numbers) : POL_OK;
    if (status == POL_NO_MEMORY) x->reader->status = status;
    if (body->reduced) {
      pol_reduced_note *note = &model->reduced_bodies[model->num_reduced_bodies++];
      note->body = index;
      note->num_freedoms = body->reduced->num_freedoms;
      note->anisotropy = body->reduced->anisotropy;
      note->surface = body->surface;
      poli_v3_copy(body->reduced->center, note->center);
    }
    index += 1 + (int)body->interfaces.count;
  }
}

pol_status poli_flexible_add(const poli_model_flexible *from, pol_mechanism *mechanism)
{
  static const double two_pi = 6.28318530717958647692;
  if (!from->reduced) { /* its names are known all the same */
    pol_status status = POL_OK;
    pol_body unknown = pol_body_default();
    unknown.name = "?";
    for (size_t i = 0; i <= from->interfaces.count && status != POL_NO_MEMORY; i++)
      status = pol_mechanism_add_body(mechanism, &unknown, NULL);
    return status;
  }
  pol_flexible_body body = from->reduced->body;
  double R[9], moved[3];
  const size_t m = (size_t)body.num_modes;
  double *damping = calloc(m * m, sizeof *damping);
  if (!damping) return POL_NO_MEMORY;
  for (size_t k = 0; k < m; k++) {
    const double speed = two_pi * from->reduced->frequencies[k];
    damping[k * m + k] =
        body.inertia[k * m + k] *
        (2.0 * from->damping * speed + from->rayleigh[0] + from->rayleigh[1] * speed * speed);
  }
  body.name = from->name;
  body.damping = damping;
  body.given = from->given;
  pol_quat_to_matrix(from->rotation, R);
  poli_m3_apply(R, from->reduced->center, moved);
  poli_v3_add(from->position, moved, body.position);
  memcpy(body.rotation, from->rotation, sizeof body.rotation);
  poli_v3_copy(from->velocity, body.velocity);
  poli_v3_copy(from->angular_velocity, body.angular_velocity);
  const pol_status status = pol_mechanism_add_flexible_body(mechanism, &body, NULL);
  free(damping);
  return status;
}
