/* From the data of a model file to a mechanism, and to the shapes, events and output times of the
 * model.
 *
 * The rules of bodies, joints, forces and so on are those of the mechanism (mechanism/rules.h):
 * what it refuses is reported at the key of the file that its field comes from.  Elements that are
 * refused are added all the same, so that the others are checked as well and all errors of a file
 * are reported at once; a place where the reader has found an error already is not reported again.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/lie.h>

#include "base/arena.h"
#include "base/errors.h"
#include "io/model/parts.h"
#include "lie/small.h"
#include "mechanism/builder.h"

/* --- errors of the mechanism ------------------------------------------------------------------ */

typedef struct builder {
  poli_reader *reader;
  pol_mechanism *mechanism;
  pol_errors found; /* by the mechanism in the last call; paths are relative to the element */
  json_t *reported; /* {path: true} of errors before; false for what such a path is in */
} builder;

/* Cuts the last key or index off a path; 0 at its start. */
static int cut_path(char *path)
{
  size_t end = strlen(path);
  while (end-- > 1)
    if (path[end] == '.' || path[end] == '[') {
      path[end] = '\0';
      return 1;
    }
  return 0;
}

/* Nothing more is reported at a path, which is freed: it has an error, which is then also one of
 * the objects and lists that it is in, or what it refers to has one. */
static void mark_reported(builder *b, char *path, int is_error)
{
  if (!b->reported) b->reported = json_object();
  int failed = !path || json_object_set_new_nocheck(b->reported, path, json_true()) != 0;
  while (!failed && is_error && cut_path(path))
    if (!json_object_get(b->reported, path))
      failed = json_object_set_new_nocheck(b->reported, path, json_false()) != 0;
  if (failed) b->reader->status = POL_NO_MEMORY;
  free(path);
}

/* Whether the value at a place, something in it or what it is in has an error already. */
static int is_reported(builder *b, const poli_place *place)
{
  char *path = poli_path(place);
  int found = path && json_object_get(b->reported, path) != NULL;
  if (!path) b->reader->status = POL_NO_MEMORY;
  while (path && !found && cut_path(path)) found = json_is_true(json_object_get(b->reported, path));
  free(path);
  return found;
}

/* The keys of fields that have another name in a file, where the object has the key `beside`. */
static const struct {
  poli_element element;
  const char *field, *beside, *key;
} other_keys[] = {
    {POLI_BODIES, "inertia", "section", "section"},
    {POLI_BODIES, "mass", "section", "section"},
    {POLI_FORCES, "length", "section", "points"},
    {POLI_JOINTS, "marker", NULL, "markers"},
    {POLI_JOINTS, "global_axes", NULL, "frame"},
    {POLI_FORCES, "body", "marker", "marker"},
    {POLI_FORCES, "marker", "bodies", "bodies"},
    {POLI_FORCES, "marker", NULL, "markers"},
    {POLI_FORCES, "expressions", "force", "force"},
    {POLI_FORCES, "expressions", "torque", "torque"},
    {POLI_FORCES, "expressions", NULL, "actuator"},
    {POLI_DRIVES, "marker[0]", NULL, "reference"},
    {POLI_DRIVES, "marker[1]", NULL, "marker"},
    {POLI_COUPLINGS, "joint", NULL, "joints"},
    {POLI_COUPLINGS, "coordinate", NULL, "coordinates"},
    {POLI_COUPLINGS, "factor", NULL, "factors"},
};

/* A place of an object and those that it is in. */
typedef struct chain {
  poli_place places[6];
  char keys[6][32];
  int count;
} chain;

/* The place of a field, "inertia[1][1]" or "function.times[2]", as far as the file goes: its
 * inertia may be a list, its stiffness one number. */
static const poli_place *find_place(const poli_place *object, poli_element element,
                                    const char *field, chain *c)
{
  const poli_place *at = object;
  c->count = 0;
  for (size_t i = 0; i < sizeof other_keys / sizeof *other_keys; i++) {
    const size_t length = strlen(other_keys[i].field);
    if (other_keys[i].element != element || strncmp(field, other_keys[i].field, length) != 0 ||
        (field[length] && !strchr(".[", field[length])) ||
        (other_keys[i].beside && !poli_given(object, other_keys[i].beside)))
      continue;
    c->places[c->count] = poli_place_key(object, other_keys[i].key);
    at = &c->places[c->count++];
    field += length;
    break;
  }
  while (*field && c->count < 6 && !json_is_string(at->value)) {
    poli_place *next = &c->places[c->count];
    if (*field == '[') {
      char *end;
      const size_t index = strtoul(field + 1, &end, 10);
      field = end + 1;
      if (index >= json_array_size(at->value)) continue;
      *next = poli_place_item(at, index);
    } else {
      field += *field == '.';
      const size_t length = strcspn(field, ".[");
      char *key = c->keys[c->count];
      memcpy(key, field, length);
      key[length] = '\0';
      field += length;
      const char *type = json_string_value(json_object_get(at->value, "type"));
      if (type && strcmp(type, pol_function_type_name(POL_POLYNOMIAL)) == 0 &&
          strcmp(key, "values") == 0)
        strcpy(key, "coefficients");
      *next = poli_place_key(at, key);
    }
    at = next;
    c->count++;
  }
  return at;
}

/* Reports what the mechanism found in an object, or in something that was made from it. */
static void pass_on(builder *b, const poli_place *object, poli_element element,
                    const poli_kind *kind, const char *suggestion)
{
  static const char required[] = "is required";
  const json_t *last = NULL;
  for (int i = 0; i < b->found.count; i++) {
    const pol_error *error = &b->found.items[i];
    const char *rule = error->rule;
    chain c;
    const poli_place *at = find_place(object, element, error->path, &c);
    /* one number of the file can be several of the mechanism */
    const int again = at->value == last && i > 0 && strcmp(b->found.items[i - 1].rule, rule) == 0;
    last = at->value;
    /* an entry of a matrix that has other wrong entries */
    const int inside = c.count > 2 && is_reported(b, &c.places[0]);
    if (again || inside || is_reported(b, at)) continue;
    if (!at->value) {
      if (strncmp(rule, required, strlen(required)) == 0) rule += strlen(required);
      rule += strspn(rule, ": ");
      poli_report_missing(b->reader, at->parent, kind->fields, at->key, rule);
    } else {
      poli_report(b->reader, at, *error->suggestion ? error->suggestion : suggestion, "%s", rule);
    }
  }
  pol_errors_clear(&b->found);
}

/* --- elements --------------------------------------------------------------------------------- */

/* Whether a marker is there and on a body: it can be wrong. */
static int has_marker(const pol_mechanism *mechanism, int index)
{
  return index >= 0 && index < pol_mechanism_num_markers(mechanism) &&
         pol_mechanism_marker(mechanism, index)->body >= POL_GROUND &&
         pol_mechanism_marker(mechanism, index)->body < pol_mechanism_num_bodies(mechanism);
}

/* 0 if a marker is missing. */
static double initial_distance(const pol_mechanism *mechanism, const int markers[2])
{
  double first[3], second[3];
  if (!has_marker(mechanism, markers[0]) || !has_marker(mechanism, markers[1])) return 0.0;
  pol_mechanism_marker_point(mechanism, markers[0], first);
  pol_mechanism_marker_point(mechanism, markers[1], second);
  return hypot(hypot(second[0] - first[0], second[1] - first[1]), second[2] - first[2]);
}

/* What acts on the coordinates of a joint, if anything is given: the keys of the joint itself are
 * those of its only coordinate.  Returns whether there is something. */
static int make_axes(builder *b, const poli_place *place, const poli_model_joint *from,
                     pol_joint_axis axes[POLI_JOINT_COORDINATES])
{
  static const char *const keys[] = {"stiffness", "damping", "rest",
                                     "armature",  "limits",  "friction"};
  const pol_joint *joint = &from->joint;
  const int known = pol_joint_type_name(joint->type) != NULL;
  const int count = known ? pol_joint_num_coordinates(joint) : 0;
  const poli_place coordinates = poli_place_key(place, "coordinates");
  int given = coordinates.value != NULL;
  for (int i = 0; i < count; i++) axes[i] = pol_joint_axis_default();
  for (size_t k = 0; k < sizeof keys / sizeof *keys && known; k++) {
    const poli_place at = poli_place_key(place, keys[k]);
    if (!at.value) continue;
    given = 1;
    if (count != 1 && joint->type == POL_GENERIC && joint->locked)
      poli_report(b->reader, &at, "",
                  count ? "must stand inside \"coordinates\": this joint has several"
                        : "must not be given: this joint has no angle or displacement");
  }
  if (count == 1 && !coordinates.value) axes[0] = from->single;
  const char *key;
  json_t *value;
  json_object_foreach(coordinates.value, key, value)
  {
    int found = -1;
    for (int c = 0; c < POLI_JOINT_COORDINATES; c++)
      if (strcmp(key, pol_coordinate_name((pol_coordinate)c)) == 0) found = c;
    for (int i = 0; i < count && found >= 0; i++)
      if (strcmp(key, pol_joint_coordinate(joint, i)->key) == 0) {
        axes[i] = from->coordinates[found];
        found = -1;
      }
    const poli_place at = {&coordinates, key, 0, value};
    if (found >= 0 && count > 0)
      poli_report(b->reader, &at, pol_joint_coordinate(joint, 0)->key,
                  "must not be given: this joint has no such coordinate");
  }
  return given && count > 0;
}

static pol_status add_joint(builder *b, const poli_place *place, const poli_model_joint *from)
{
  pol_joint joint = from->joint;
  pol_joint_axis actions[POLI_JOINT_COORDINATES];
  if (make_axes(b, place, from, actions)) joint.axes = actions;
  const double *axis = poli_given(place, "axis") ? from->axis : NULL;
  joint.global_axes = from->frame == POL_GLOBAL_AXES;
  const int placed =
      has_marker(b->mechanism, joint.marker[0]) && has_marker(b->mechanism, joint.marker[1]);
  if (isnan(joint.length))
    joint.length = placed ? initial_distance(b->mechanism, joint.marker) : 1.0;
  if (joint.type == POL_UNIVERSAL) axis = poli_given(place, "axes") ? from->axes : NULL;
  if (!poli_given(place, "markers"))
    return pol_mechanism_add_joint_at(b->mechanism, &joint, from->bodies[0], from->bodies[1],
                                      from->point, axis, NULL);
  /* the markers of the file were added first, so their indices are the mechanism's */
  if (joint.type == POL_DISTANCE && joint.length == 0.0 && !poli_given(place, "length") && placed) {
    poli_report(b->reader, place, "", "must have a \"length\" or markers at different points");
    joint.length = 1.0;
  }
  return pol_mechanism_add_joint(b->mechanism, &joint, NULL);
}

/* The function of time with its lists in *numbers, which the caller frees. */
static pol_status make_function(const poli_model_function *from, pol_function *function,
                                double **numbers)
{
  *function = from->given ? from->plain : pol_function_default();
  const json_t *values = function->type == POL_TABLE ? from->values : from->coefficients;
  size_t count = json_array_size(values);
  if (function->type == POL_TABLE && from->times && json_array_size(from->times) < count)
    count = json_array_size(from->times);
  *numbers = malloc((2 * count + 1) * sizeof **numbers);
  if (!*numbers) return POL_NO_MEMORY;
  for (size_t i = 0; i < count; i++) {
    (*numbers)[i] = json_number_value(json_array_get(values, i));
    (*numbers)[count + i] = json_number_value(json_array_get(from->times, i));
  }
  function->count = (int)count;
  function->values = *numbers;
  function->times = from->times ? *numbers + count : NULL;
  return POL_OK;
}

/* Points instead of the markers of a spring-damper get markers of their own. */
static pol_status add_ends(builder *b, const poli_place *place, const poli_model_force *from,
                           int marker[2])
{
  const int global = !isnan(from->points_global[0]);
  const poli_place points = poli_place_key(place, global ? "points_global" : "points");
  pol_status status = POL_OK;
  for (int i = 0; i < 2 && status != POL_NO_MEMORY; i++) {
    const poli_place point = poli_place_item(&points, (size_t)i);
    pol_marker end = pol_marker_default();
    if (from->bodies[i] == POL_NOT_FOUND) continue;
    end.body = from->bodies[i];
    poli_v3_copy(from->points + 3 * i, end.position);
    status = global ? pol_mechanism_add_marker_at(b->mechanism, "", from->bodies[i],
                                                  from->points_global + 3 * i, NULL, &marker[i])
                    : pol_mechanism_add_marker(b->mechanism, &end, &marker[i]);
    /* what is wrong with the marker is wrong with its point */
    if (b->found.count > 0 && !is_reported(b, &point))
      poli_report(b->reader, &point, "", "%s", b->found.items[0].rule);
    pol_errors_clear(&b->found);
  }
  return status == POL_NO_MEMORY ? status : POL_OK;
}

/* Which coordinate of its joint a joint-spring acts on: the one that "coordinate" names, or the
 * only one there is; -1 if that is none.  Returns a near name for a wrong one. */
static const char *find_coordinate(const pol_mechanism *mechanism, const char *name,
                                   pol_force *force)
{
  const int known = force->joint >= 0 && force->joint < pol_mechanism_num_joints(mechanism);
  const pol_joint *joint = known ? pol_mechanism_joint(mechanism, force->joint) : NULL;
  if (!joint || !pol_joint_type_name(joint->type)) return "";
  const int count = pol_joint_num_coordinates(joint);
  pol_near near = pol_near_start(name ? name : "");
  force->coordinate = !name && count == 1 ? 0 : -1;
  for (int i = 0; i < count && name; i++) {
    const char *key = pol_joint_coordinate(joint, i)->key;
    if (strcmp(key, name) == 0) force->coordinate = i;
    pol_near_try(&near, key);
  }
  return near.best;
}

static pol_status add_force(builder *b, const poli_place *place, const poli_model_force *from,
                            const char **suggestion)
{
  pol_mechanism *mechanism = b->mechanism;
  pol_force force = from->force;
  pol_function scale;
  double *numbers = NULL, A[9], vector[3];
  pol_status status = POL_OK;
  if (has_marker(mechanism, from->marker)) {
    /* body, point and axes of an applied force are those of the marker */
    const pol_marker *marker = pol_mechanism_marker(mechanism, from->marker);
    force.body = marker->body;
    if (force.type == POL_APPLIED_FORCE) poli_v3_copy(marker->position, force.point);
    if ((int)force.frame == POLI_MODEL_MARKER_AXES) {
      force.frame = POL_BODY_AXES;
      pol_quat_to_matrix(marker->rotation, A);
      poli_m3_apply(A, force.vector, vector);
      poli_v3_copy(vector, force.vector);
    }
  } else if (from->marker != POL_NOT_FOUND) {
    const poli_place marker = poli_place_key(place, "marker");
    mark_reported(b, poli_path(&marker), 0); /* what it refers to has an error */
  }
  if ((int)force.frame == POLI_MODEL_MARKER_AXES) force.frame = POL_GLOBAL_AXES; /* no marker */
  if (poli_given(place, "bodies")) status = add_ends(b, place, from, force.marker);
  if (force.type == POL_JOINT_SPRING)
    *suggestion = find_coordinate(mechanism, from->coordinate, &force);

  /* what is not given is that of the initial position */
  if (isnan(force.anchor[0])) {
    memset(force.anchor, 0, sizeof force.anchor);
    if (force.type == POL_SUPPORT && force.body >= 0) {
      const pol_body *body = pol_mechanism_body(mechanism, force.body);
      pol_quat_to_matrix(body->rotation, A);
      poli_m3_apply(A, force.point, vector);
      poli_v3_add(body->position, vector, force.anchor);
    }
  }
  if (isnan(force.length))
    force.length =
        force.type == POL_SPRING_DAMPER ? initial_distance(mechanism, force.marker) : 0.0;

  if (from->scale.given && !status) {
    status = make_function(&from->scale, &scale, &numbers);
    force.scale = &scale; /* the mechanism makes its own copy */
  }
  if (!status) status = pol_mechanism_add_force(mechanism, &force, NULL);
  free(numbers);
  return status;
}

/* A drive without joint has markers; the reference by default is the global frame. */
static pol_status add_drive(builder *b, const poli_place *place, const poli_model_drive *from)
{
  static const double origin[3] = {0.0, 0.0, 0.0};
  pol_drive drive = from->drive;
  double *numbers;
  pol_status status = POL_OK;
  if (poli_given(place, "marker")) {
    drive.joint = POL_NO_JOINT;
    drive.marker[0] = from->reference;
    drive.marker[1] = from->marker;
    if (!poli_given(place, "reference"))
      status =
          pol_mechanism_add_marker_at(b->mechanism, "", POL_GROUND, origin, NULL, &drive.marker[0]);
  }
  if (!status) status = make_function(&from->function, &drive.function, &numbers);
  if (status) return status;
  status = pol_mechanism_add_drive(b->mechanism, &drive, NULL);
  free(numbers);
  return status;
}

/* A reference that is not given is the coordinate at the initial position; the joint can be wrong.
 */
static pol_status add_coupling(builder *b, const pol_coupling *from)
{
  pol_coupling coupling = *from;
  for (int i = 0; i < 2 && isnan(from->reference[0]); i++) {
    const int known =
        from->joint[i] >= 0 && from->joint[i] < pol_mechanism_num_joints(b->mechanism);
    const pol_joint *joint = known ? pol_mechanism_joint(b->mechanism, from->joint[i]) : NULL;
    const int has_coordinate =
        joint && pol_joint_type_name(joint->type) && has_marker(b->mechanism, joint->marker[0]) &&
        has_marker(b->mechanism, joint->marker[1]) && pol_coordinate_name(from->coordinate[i]) &&
        pol_joint_has_coordinate(joint, from->coordinate[i]);
    coupling.reference[i] =
        has_coordinate ? pol_mechanism_coordinate(b->mechanism, from->joint[i], from->coordinate[i])
                       : 0.0;
  }
  return pol_mechanism_add_coupling(b->mechanism, &coupling, NULL);
}

/* Bodies that stand for nodes from number k on, so that references to them and to what follows are
 * right: their beam has errors.  No two are at the same point. */
static pol_status add_stand_ins(builder *b, const poli_model_beam *from, int k)
{
  pol_body body = pol_body_default();
  pol_status status = POL_OK;
  body.name = "?";
  for (; k <= from->elements && from->elements > 0 && status != POL_NO_MEMORY; k++) {
    body.position[0] = 0.1 + k;
    status = pol_mechanism_add_body(b->mechanism, &body, NULL);
  }
  pol_errors_clear(&b->found);
  return status == POL_NO_MEMORY ? status : POL_OK;
}

/* The same for its markers: those of its ends, and those along it. */
static pol_status add_stand_in_markers(builder *b, const poli_model_beam *from, int first)
{
  pol_status status = POL_OK;
  for (size_t i = 0; i < from->markers.count + 2 && status != POL_NO_MEMORY; i++) {
    pol_marker marker = pol_marker_default();
    marker.name = "?";
    marker.body = first + (i == 1 ? from->elements : 0);
    marker.position[1] = 0.1 * (double)i;
    if (from->elements > 0) status = pol_mechanism_add_marker(b->mechanism, &marker, NULL);
  }
  pol_errors_clear(&b->found);
  return status == POL_NO_MEMORY ? status : POL_OK;
}

/* The nodes of a beam.  If one is wrong, the first error is reported, and the rest of the beam is
 * left out: it could only repeat it. */
static pol_status add_beam_nodes(builder *b, const poli_place *place, poli_model_beam *from,
                                 const pol_beam *beam)
{
  const int before = pol_mechanism_num_bodies(b->mechanism);
  if (!from->is_sound) return add_stand_ins(b, from, 0);
  const pol_status status = poli_beam_add_nodes(b->mechanism, beam);
  if (status != POL_BAD_ARGUMENT) return status;
  while (b->found.count > 1) poli_errors_remove(&b->found, b->found.count - 1);
  const pol_error *error = b->found.items;
  const poli_place section = poli_place_key(place, "section");
  if (b->found.count > 0 && strcmp(error->path, "name") != 0 && !strstr(error->rule, "principal"))
    poli_report(b->reader, &section, "",
                "must give nodes a finite position, mass and inertia above zero at the given "
                "points: numbers overflow or vanish");
  else
    pass_on(b, place, POLI_BODIES, &poli_beam_kind, "");
  from->is_sound = 0;
  return add_stand_ins(b, from, pol_mechanism_num_bodies(b->mechanism) - before);
}

/* The joints that clamp its ends. */
static pol_status add_clamps(builder *b, const poli_place *place, const poli_model_beam *from,
                             const pol_beam *beam, int first)
{
  pol_status status = POL_OK;
  for (int end = 0; end < 2 && status != POL_NO_MEMORY; end++) {
    const int node = end == 0 ? 0 : beam->num_nodes - 1;
    const poli_place key = poli_place_key(place, end == 0 ? "start" : "end");
    if (from->ends[end] == POL_NOT_FOUND) continue;
    if (from->ends[end] == first + node) {
      poli_report(b->reader, &key, "", "must be another body than the node that it holds");
      continue;
    }
    char *name = poli_format(end == 0 ? "%s_start" : "%s_end", from->name);
    pol_joint clamp = pol_joint_default();
    clamp.name = name;
    status = name ? pol_mechanism_add_joint_at(b->mechanism, &clamp, from->ends[end], first + node,
                                               beam->positions + 3 * node, NULL, NULL)
                  : POL_NO_MEMORY;
    free(name);
  }
  return status;
}

/* Its loads, each with its own errors. */
static pol_status add_loads(builder *b, const poli_place *place, const poli_model_beam *from,
                            const pol_beam *beam, int first)
{
  const poli_place list = poli_place_key(place, "loads");
  const poli_beam_load *loads = from->loads.items;
  pol_status status = POL_OK;
  for (size_t k = 0; k < from->loads.count && status != POL_NO_MEMORY; k++) {
    const poli_place load = poli_place_item(&list, k);
    pol_function scale;
    double *numbers = NULL;
    status = loads[k].scale.given ? make_function(&loads[k].scale, &scale, &numbers) : POL_OK;
    if (!status)
      status = poli_beam_add_load(b->mechanism, &loads[k], beam, first,
                                  loads[k].scale.given ? &scale : NULL);
    free(numbers);
    pass_on(b, &load, POLI_FORCES, &poli_beam_kind, "");
  }
  return status;
}

/* The markers of its ends and those along it. */
static pol_status add_beam_markers(builder *b, const poli_place *place, const poli_model_beam *from,
                                   const pol_beam *beam, int first)
{
  const poli_place list = poli_place_key(place, "markers");
  if (!from->is_sound) return add_stand_in_markers(b, from, first);
  pol_status status = poli_beam_add_ends(b->mechanism, beam, first);
  pass_on(b, place, POLI_MARKERS, &poli_beam_kind, "");
  for (size_t i = 0; i < from->markers.count && status != POL_NO_MEMORY; i++) {
    const poli_place marker = poli_place_item(&list, i);
    status = poli_beam_add_marker(b->mechanism, from, beam, first, i);
    pass_on(b, &marker, POLI_MARKERS, &poli_beam_kind, "");
  }
  return status;
}

/* What beams add to the elements of one kind: nodes, markers, clamps, elements and loads. */
static void add_beams(builder *b, const poli_place *top, const poli_model_data *data,
                      poli_element element)
{
  const poli_place objects = poli_place_key(top, "beams");
  poli_model_beam *from = data->beams.items;
  int first = (int)data->bodies.count;
  for (size_t i = 0; i < data->beams.count && b->reader->status == POL_OK; i++, from++) {
    const poli_place place = poli_place_item(&objects, i);
    pol_beam beam;
    void *memory = NULL;
    pol_status status = from->is_sound ? poli_beam_layout(from, &beam, &memory) : POL_OK;
    if (status == POL_OK && element == POLI_BODIES)
      status = add_beam_nodes(b, &place, from, &beam);
    else if (status == POL_OK && element == POLI_MARKERS)
      status = add_beam_markers(b, &place, from, &beam, first);
    else if (status == POL_OK && from->is_sound && element == POLI_JOINTS)
      status = add_clamps(b, &place, from, &beam, first);
    else if (status == POL_OK && from->is_sound && element == POLI_FORCES)
      status = poli_beam_add_elements(b->mechanism, &beam, first);
    pass_on(b, &place, element, &poli_beam_kind, "");
    if (status == POL_OK && from->is_sound && element == POLI_FORCES)
      status = add_loads(b, &place, from, &beam, first);
    free(memory);
    if (status != POL_OK && status != POL_BAD_ARGUMENT) b->reader->status = status;
    first += from->elements + 1;
  }
}

static void add_flexible_bodies(builder *b, const poli_place *top, const poli_model_data *data)
{
  const poli_place objects = poli_place_key(top, "flexible_bodies");
  const poli_model_flexible *from = data->flexible.items;
  for (size_t i = 0; i < data->flexible.count && b->reader->status == POL_OK; i++, from++) {
    const poli_place place = poli_place_item(&objects, i);
    const pol_status status = poli_flexible_add(from, b->mechanism);
    if (status != POL_OK && status != POL_BAD_ARGUMENT) b->reader->status = status;
    if (!from->reduced) pol_errors_clear(&b->found);
    pass_on(b, &place, POLI_BODIES, &poli_flexible_kind, "");
  }
}

/* Adds the elements of one kind. */
static void add_elements(builder *b, const poli_place *top, const poli_model_data *data,
                         poli_element element)
{
  const poli_place objects = poli_place_key(top, poli_element_list(element));
  const poli_field *field = poli_find_field(poli_model_kind.fields, poli_element_list(element));
  const poli_items *list = (const poli_items *)((const char *)data + field->offset);
  const poli_kind *kind = field->detail;
  for (size_t i = 0; i < list->count && b->reader->status == POL_OK; i++) {
    const void *item = (const char *)list->items + i * kind->size;
    const poli_place place = poli_place_item(&objects, i);
    const char *suggestion = "";
    const pol_status status =
        element == POLI_BODIES      ? pol_mechanism_add_body(b->mechanism, item, NULL)
        : element == POLI_MARKERS   ? pol_mechanism_add_marker(b->mechanism, item, NULL)
        : element == POLI_JOINTS    ? add_joint(b, &place, item)
        : element == POLI_FORCES    ? add_force(b, &place, item, &suggestion)
        : element == POLI_DRIVES    ? add_drive(b, &place, item)
        : element == POLI_COUPLINGS ? add_coupling(b, item)
        : element == POLI_VARIABLES ? pol_mechanism_add_variable(b->mechanism, item, NULL)
                                    : pol_mechanism_add_state(b->mechanism, item, NULL);
    if (status != POL_OK && status != POL_BAD_ARGUMENT) b->reader->status = status;
    pass_on(b, &place, element, kind, suggestion);
  }
}

/* --- the order of errors ---------------------------------------------------------------------- */

typedef struct ranked {
  pol_error error;
  long key, item; /* where it is in the file: which key of the top object, which item */
  int number;     /* before */
} ranked;

static int compare_ranks(const void *first, const void *second)
{
  const ranked *a = first, *b = second;
  if (a->key != b->key) return a->key < b->key ? -1 : 1;
  if (a->item != b->item) return a->item < b->item ? -1 : 1;
  return a->number < b->number ? -1 : 1;
}

/* Errors come in the order of the file: those of single keys were found first, and the mechanism is
 * built in an order of its own. */
static void sort_errors(poli_reader *reader, const poli_place *top)
{
  pol_error *errors = reader->errors->items + reader->first;
  const int count = reader->errors->count - reader->first;
  ranked *list = malloc(((size_t)count + 1) * sizeof *list);
  if (!list) {
    reader->status = POL_NO_MEMORY;
    return;
  }
  for (int i = 0; i < count; i++) {
    const char *path = errors[i].path, *key;
    const size_t length = strcspn(path, ".[");
    json_t *value;
    long number = 0;
    list[i] = (ranked){.error = errors[i], .key = -1, .number = i};
    if (length > 0 && strncmp(path, "--", 2) != 0) list[i].key = (long)json_object_size(top->value);
    json_object_foreach(top->value, key, value)
    {
      if (strlen(key) == length && strncmp(key, path, length) == 0) list[i].key = number;
      number++;
    }
    if (path[length] == '[') list[i].item = strtol(path + length + 1, NULL, 10);
  }
  qsort(list, (size_t)count, sizeof *list, compare_ranks);
  for (int i = 0; i < count; i++) errors[i] = list[i].error;
  free(list);
}

void poli_build_mechanism(poli_reader *reader, const poli_place *top, const poli_model_data *data,
                          pol_mechanism *mechanism)
{
  builder b = {.reader = reader, .mechanism = mechanism};
  const int before = reader->errors->count;
  for (int i = reader->first; i < before; i++)
    mark_reported(&b, poli_format("%s", reader->errors->items[i].path), 1);
  pol_mechanism_set_gravity(mechanism, data->gravity);
  poli_mechanism_collect(mechanism, &b.found);
  for (int k = 0; k < POLI_NUM_ELEMENTS; k++) {
    add_elements(&b, top, data, (poli_element)k);
    add_beams(&b, top, data, (poli_element)k);
    if (k == POLI_BODIES) add_flexible_bodies(&b, top, data);
  }
  poli_mechanism_collect(mechanism, NULL);
  json_decref(b.reported);
  if (reader->status == POL_OK) poli_add_controllers(reader, top, data, mechanism);
  if (reader->status == POL_OK && reader->errors->count > before) sort_errors(reader, top);
  if (reader->status == POL_OK) poli_check_expressions(reader, top, mechanism);
}

/* --- what is beside the mechanism ------------------------------------------------------------- */

pol_status poli_build_output_times(const poli_model_data *data, pol_model *model)
{
  const json_t *times = data->simulation.output_times;
  const size_t count = json_array_size(times);
  if (count == 0) return POL_OK;
  model->output_times = malloc(count * sizeof *model->output_times);
  if (!model->output_times) return POL_NO_MEMORY;
  for (size_t i = 0; i < count; i++)
    model->output_times[i] = json_number_value(json_array_get(times, i));
  model->settings.output.count = (int)count;
  model->settings.output.times = model->output_times;
  return POL_OK;
}

const char *pol_shape_type_name(pol_shape_type type)
{
  static const char *const names[] = {[POL_BOX] = "box",
                                      [POL_CYLINDER] = "cylinder",
                                      [POL_SPHERE] = "sphere",
                                      [POL_CONE] = "cone",
                                      [POL_MESH] = "mesh"};
  return (int)type >= 0 && (size_t)type < sizeof names / sizeof *names ? names[type] : NULL;
}

/* Copies one list to *next and on. */
static pol_status copy_shapes(const poli_items *list, int body, pol_shape **next)
{
  const poli_model_shape *from = list->items;
  for (size_t i = 0; i < list->count; i++, from++) {
    pol_shape *shape = (*next)++;
    *shape = from->shape;
    shape->body = body;
    if (from->file && !(shape->file = poli_format("%s", from->file))) return POL_NO_MEMORY;
  }
  return POL_OK;
}

/* Solids for the half elements beside each node of a beam, fixed in the node. */
static pol_status add_beam_shapes(const poli_model_beam *from, int first, int color,
                                  pol_shape **next)
{
  static const double to_x[4] = {0.70710678118654752, 0.0, 0.70710678118654752, 0.0};
  const poli_model_section *s = &from->section;
  const int is_box = s->type == POLI_RECTANGLE;
  pol_beam beam;
  void *memory;
  const pol_status status = poli_beam_layout(from, &beam, &memory);
  for (int k = 0; k < 2 * from->elements && !status; k++) {
    const int element = k / 2, end = k % 2, node = element + end;
    double back[4], turn[4], A[9], center[3];
    pol_shape *shape = (*next)++;
    *shape = (pol_shape){.type = is_box ? POL_BOX : POL_CYLINDER,
                         .body = first + node,
                         .color = from->color == POL_NO_COLOR ? color : from->color,
                         .scale = 1.0,
                         .length = 0.5 * beam.lengths[element]};
    pol_quat_conjugate(beam.rotations + 4 * node, back);
    pol_quat_multiply(back, beam.ends + 8 * element + 4 * end, turn);
    pol_quat_to_matrix(turn, A);
    poli_beam_center(&beam, node, center);
    for (int i = 0; i < 3; i++)
      shape->position[i] = (end == 0 ? 0.5 : -0.5) * shape->length * A[3 * i] - center[i];
    shape->size[0] = shape->length;
    shape->size[1] = s->width;
    shape->size[2] = s->height;
    /* that of a circle with the same ratio of its stiffness */
    shape->radius =
        s->type == POLI_CIRCLE
            ? s->radius
            : 2.0 * sqrt(fmax(beam.stiffness[7], beam.stiffness[14]) / beam.stiffness[21]);
    if (!(shape->radius > 0.0) || !isfinite(shape->radius)) shape->radius = 0.1 * shape->length;
    if (is_box)
      memcpy(shape->rotation, turn, sizeof turn);
    else
      pol_quat_multiply(turn, to_x, shape->rotation);
  }
  free(memory);
  return status;
}

pol_status poli_build_shapes(const poli_model_data *data, pol_model *model)
{
  const poli_model_body *bodies = data->bodies.items;
  size_t count = data->shapes.count;
  for (size_t i = 0; i < data->bodies.count; i++) count += bodies[i].shapes.count;
  const poli_model_beam *beams = data->beams.items;
  for (size_t i = 0; i < data->beams.count; i++) count += 2 * (size_t)beams[i].elements;
  if (count == 0) return POL_OK;
  model->shapes = calloc(count, sizeof *model->shapes);
  if (!model->shapes) return POL_NO_MEMORY;
  model->num_shapes = (int)count;

  pol_shape *next = model->shapes;
  pol_status status = copy_shapes(&data->shapes, POL_GROUND, &next);
  for (size_t i = 0; status == POL_OK && i < data->bodies.count; i++)
    status = copy_shapes(&bodies[i].shapes, (int)i, &next);
  int first = (int)data->bodies.count;
  for (size_t i = 0; status == POL_OK && i < data->beams.count; i++) {
    static const int colors[] = {0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7, 0xe69f00, 0x56b4e9};
    status = add_beam_shapes(&beams[i], first, colors[i % 6], &next);
    first += beams[i].elements + 1;
  }
  return status;
}

/* Copies a text into the arena; NULL while it counts. */
static const char *copy_text(poli_arena *arena, const char *text)
{
  char *copy = poli_arena_next(arena, strlen(text) + 1, 1);
  return copy ? strcpy(copy, text) : NULL;
}

pol_status poli_build_events(const poli_model_data *data, pol_model *model)
{
  const poli_model_event *events = data->events.items;
  const size_t count = data->events.count;
  poli_arena arena = {0};
  pol_event_rule *rules;
  if (count == 0) return POL_OK;
  do {
    POLI_TAKE(&arena, rules, count);
    for (size_t i = 0; i < count; i++) {
      json_t *set = events[i].changes, *value;
      const char *key;
      pol_change *changes;
      int n = 0;
      POLI_TAKE(&arena, changes, json_object_size(set));
      const pol_event_rule rule = {.name = copy_text(&arena, events[i].name),
                                   .expression = copy_text(&arena, events[i].expression),
                                   .direction = events[i].direction == POLI_RISING    ? 1
                                                : events[i].direction == POLI_FALLING ? -1
                                                                                      : 0,
                                   .action = (pol_event_action)events[i].action,
                                   .num_changes = (int)json_object_size(set),
                                   .changes = changes};
      json_object_foreach(set, key, value)
      {
        const pol_change change = {.quantity = copy_text(&arena, key),
                                   .expression = copy_text(&arena, json_string_value(value))};
        if (changes) changes[n++] = change;
      }
      if (rules) rules[i] = rule;
    }
  } while (poli_arena_again(&arena));
  if (!arena.memory) return POL_NO_MEMORY;
  model->events = arena.memory;
  model->settings.num_events = (int)count;
  model->settings.events = rules;
  return POL_OK;
}
