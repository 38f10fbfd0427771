/* From the checked data of a model file to a mechanism, and to the shapes, events and output times
 * of the model.
 *
 * A joint that is given by a point gets two markers there, which coincide at the initial position.
 * Their axes are those of the first body, or follow from the joint's axis: z is turned into it by
 * the smallest rotation. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/lie.h>

#include "io/model/parts.h"
#include "lie/small.h"

static void copy4(const double a[4], double out[4])
{
  memcpy(out, a, 4 * sizeof *out);
}

/* (1 + z.a, z x a), normalised. */
void poli_rotation_to_axis(const double a[3], double q[4])
{
  /* 1 + a_z without cancellation; straight down, any half turn about a horizontal axis does */
  const double across = a[0] * a[0] + a[1] * a[1];
  const double w = a[2] < 0.0 ? across / (1.0 - a[2]) : 1.0 + a[2];
  const double half_turn[4] = {0.0, 1.0, 0.0, 0.0};
  const double turn[4] = {w, -a[1], a[0], 0.0};
  copy4(w == 0.0 ? half_turn : turn, q);
  pol_quat_normalize(q);
}

/* x along the first direction, y along the second, made exactly perpendicular, z = x x y. */
static void rotation_to_axes(const double axes[6], double q[4])
{
  double x[3], y[3], z[3], R[9];
  poli_v3_copy(axes, x);
  poli_v3_copy(axes + 3, y);
  poli_v3_add_scaled(-poli_v3_dot(x, y), x, y);
  poli_v3_scale(1.0 / sqrt(poli_v3_dot(y, y)), y, y);
  poli_v3_cross(x, y, z);
  for (int i = 0; i < 3; i++) {
    R[3 * i] = x[i];
    R[3 * i + 1] = y[i];
    R[3 * i + 2] = z[i];
  }
  pol_quat_from_matrix(R, q);
}

/* Global orientation of both markers of a joint that is given by bodies and a point. */
static void joint_rotation(const poli_model_data *data, const poli_model_joint *joint, double q[4])
{
  static const double identity[4] = {1.0, 0.0, 0.0, 0.0};
  const poli_model_body *bodies = data->bodies.items;
  if (joint->given == POLI_AXES_ONE)
    poli_rotation_to_axis(joint->axis, q);
  else if (joint->given == POLI_AXES_TWO)
    rotation_to_axes(joint->axes, q);
  else
    copy4(joint->bodies[0] == POL_GROUND ? identity : bodies[joint->bodies[0]].body.rotation, q);
}

static double initial_distance(const pol_mechanism *mechanism, const int markers[2])
{
  double first[3], second[3];
  pol_mechanism_marker_point(mechanism, markers[0], first);
  pol_mechanism_marker_point(mechanism, markers[1], second);
  return hypot(hypot(second[0] - first[0], second[1] - first[1]), second[2] - first[2]);
}

static pol_status add_joint(pol_mechanism *mechanism, const poli_model_data *data,
                            const poli_model_joint *from)
{
  pol_joint joint = from->joint;
  if (from->given == POLI_AXES_MARKERS) {
    /* the markers of the file were added first, so their indices are the mechanism's */
    if (joint.type == POL_DISTANCE && joint.length == 0.0)
      joint.length = initial_distance(mechanism, joint.marker);
    return pol_mechanism_add_joint(mechanism, &joint, NULL);
  }
  double q[4];
  joint_rotation(data, from, q);
  for (int i = 0; i < 2; i++) {
    /* the first body's own axes need no rounding */
    const int own = i == 0 && from->given == POLI_AXES_OF_BODY;
    const pol_status status = pol_mechanism_add_marker_at(
        mechanism, "", from->bodies[i], from->point, own ? NULL : q, &joint.marker[i]);
    if (status != POL_OK) return status;
  }
  return pol_mechanism_add_joint(mechanism, &joint, NULL);
}

/* The function of time with its lists in *numbers, which the caller frees. */
static pol_status make_function(const poli_model_function *from, pol_function *function,
                                double **numbers)
{
  *function = from->plain;
  const json_t *values = function->type == POL_TABLE ? from->values : from->coefficients;
  const size_t count = json_array_size(values);
  *numbers = malloc((2 * count + 1) * sizeof **numbers);
  if (!*numbers) return POL_NO_MEMORY;
  for (size_t i = 0; i < count; i++) {
    (*numbers)[i] = json_number_value(json_array_get(values, i));
    (*numbers)[count + i] = json_number_value(json_array_get(from->times, i));
  }
  function->count = (int)count;
  function->values = *numbers;
  function->times = *numbers + count;
  return POL_OK;
}

/* The point, body and axes of an applied force that is given by a marker. */
static void apply_at_marker(const pol_mechanism *mechanism, int index, pol_force *force)
{
  const pol_marker *marker = pol_mechanism_marker(mechanism, index);
  double A[9], vector[3];
  force->body = marker->body;
  if (force->type == POL_APPLIED_FORCE) poli_v3_copy(marker->position, force->point);
  if ((int)force->frame != POLI_MODEL_MARKER_AXES) return;
  force->frame = POL_BODY_AXES;
  pol_quat_to_matrix(marker->rotation, A);
  poli_m3_apply(A, force->vector, vector);
  poli_v3_copy(vector, force->vector);
}

/* Points instead of the markers of a spring-damper get markers of their own. */
static pol_status add_ends(pol_mechanism *mechanism, const poli_model_force *from, int marker[2])
{
  pol_status status = POL_OK;
  for (int i = 0; i < 2 && !status; i++) {
    pol_marker point = {.name = "", .body = from->bodies[i], .rotation = {1.0, 0.0, 0.0, 0.0}};
    poli_v3_copy(from->points + 3 * i, point.position);
    status = isnan(from->points_global[0])
                 ? pol_mechanism_add_marker(mechanism, &point, &marker[i])
                 : pol_mechanism_add_marker_at(mechanism, "", from->bodies[i],
                                               from->points_global + 3 * i, NULL, &marker[i]);
  }
  return status;
}

static pol_status add_force(pol_mechanism *mechanism, const poli_model_force *from)
{
  pol_force force = from->force;
  pol_function scale;
  double *numbers = NULL;
  pol_status status = POL_OK;
  if (from->marker != POLI_NOWHERE) apply_at_marker(mechanism, from->marker, &force);
  if (from->bodies[0] != POLI_NOWHERE) status = add_ends(mechanism, from, force.marker);
  if (status) return status;

  /* what is not given is that of the initial position */
  if (isnan(force.anchor[0])) {
    poli_v3_copy((const double[3]){0.0, 0.0, 0.0}, force.anchor);
    if (force.type == POL_SUPPORT) {
      const pol_body *body = pol_mechanism_body(mechanism, force.body);
      double R[9], arm[3];
      pol_quat_to_matrix(body->rotation, R);
      poli_m3_apply(R, force.point, arm);
      poli_v3_add(body->position, arm, force.anchor);
    }
  }
  if (isnan(force.length))
    force.length =
        force.type == POL_SPRING_DAMPER ? initial_distance(mechanism, force.marker) : 0.0;

  if (from->scale.given) {
    status = make_function(&from->scale, &scale, &numbers);
    force.scale = &scale; /* the mechanism makes its own copy */
  }
  if (!status) status = pol_mechanism_add_force(mechanism, &force, NULL);
  free(numbers);
  return status;
}

/* A drive without joint has markers; the reference by default is the global frame. */
static pol_status add_drive(pol_mechanism *mechanism, const poli_model_drive *from)
{
  static const double origin[3] = {0.0, 0.0, 0.0};
  pol_drive drive = from->drive;
  double *numbers;
  pol_status status = POL_OK;
  if (from->marker != POLI_NOWHERE) {
    drive.joint = POL_NO_JOINT;
    drive.marker[0] = from->reference;
    drive.marker[1] = from->marker;
    if (from->reference == POLI_NOWHERE)
      status =
          pol_mechanism_add_marker_at(mechanism, "", POL_GROUND, origin, NULL, &drive.marker[0]);
  }
  if (status) return status;
  status = make_function(&from->function, &drive.function, &numbers);
  if (status) return status;
  status = pol_mechanism_add_drive(mechanism, &drive, NULL);
  free(numbers);
  return status;
}

static pol_status add_coupling(pol_mechanism *mechanism, const pol_coupling *from)
{
  pol_coupling coupling = *from;
  for (int i = 0; i < 2 && isnan(from->reference[0]); i++)
    coupling.reference[i] =
        pol_mechanism_coordinate(mechanism, coupling.joint[i], coupling.coordinate[i]);
  return pol_mechanism_add_coupling(mechanism, &coupling, NULL);
}

/* Why something that has passed every rule is refused: its numbers overflow; the length of a
 * distance is to be that between its markers, which coincide; or the direction of a spring-damper
 * is. */
static const char size_rule[] = "must not have numbers that are too large or too small";
static const char distance_rule[] = "must have a \"length\" or markers that are apart";

static const char spring_rule[] = "must have ends that are apart: a spring-damper needs a line";

/* Passes on a failure; rule says what can be wrong. */
static int is_added(poli_reader *reader, const poli_place *top, const char *list, size_t index,
                    const char *rule, pol_status status)
{
  if (status == POL_BAD_ARGUMENT) {
    const poli_place objects = poli_place_key(top, list);
    const poli_place object = poli_place_item(&objects, index);
    poli_report(reader, &object, "", "%s", rule);
  } else if (status != POL_OK) {
    reader->status = status;
  }
  return status == POL_OK;
}

void poli_build_mechanism(poli_reader *reader, const poli_place *top, const poli_model_data *data,
                          pol_mechanism *mechanism)
{
  const poli_model_body *bodies = data->bodies.items;
  const pol_marker *markers = data->markers.items;
  const poli_model_joint *joints = data->joints.items;
  const poli_model_force *forces = data->forces.items;
  const poli_model_drive *drives = data->drives.items;
  const pol_coupling *couplings = data->couplings.items;
  const pol_variable *variables = data->variables.items;
  const pol_state_variable *states = data->states.items;
  int good = 1;
  pol_mechanism_set_gravity(mechanism, data->gravity);
  for (size_t i = 0; good && i < data->bodies.count; i++)
    good = is_added(reader, top, "bodies", i, size_rule,
                    pol_mechanism_add_body(mechanism, &bodies[i].body, NULL));
  for (size_t i = 0; good && i < data->markers.count; i++)
    good = is_added(reader, top, "markers", i, size_rule,
                    pol_mechanism_add_marker(mechanism, &markers[i], NULL));
  for (size_t i = 0; good && i < data->joints.count; i++)
    good = is_added(reader, top, "joints", i,
                    joints[i].joint.type == POL_DISTANCE ? distance_rule : size_rule,
                    add_joint(mechanism, data, &joints[i]));
  for (size_t i = 0; good && i < data->forces.count; i++)
    good = is_added(reader, top, "forces", i,
                    forces[i].force.type == POL_SPRING_DAMPER ? spring_rule : size_rule,
                    add_force(mechanism, &forces[i]));
  for (size_t i = 0; good && i < data->drives.count; i++)
    good = is_added(reader, top, "drives", i, size_rule, add_drive(mechanism, &drives[i]));
  for (size_t i = 0; good && i < data->couplings.count; i++)
    good = is_added(reader, top, "couplings", i, size_rule, add_coupling(mechanism, &couplings[i]));
  for (size_t i = 0; good && i < data->variables.count; i++)
    good = is_added(reader, top, "variables", i, size_rule,
                    pol_mechanism_add_variable(mechanism, &variables[i], NULL));
  for (size_t i = 0; good && i < data->states.count; i++)
    good = is_added(reader, top, "states", i, size_rule,
                    pol_mechanism_add_state(mechanism, &states[i], NULL));
  if (good) poli_check_expressions(reader, top, mechanism);
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

pol_status poli_build_shapes(const poli_model_data *data, pol_model *model)
{
  const poli_model_body *bodies = data->bodies.items;
  size_t count = data->shapes.count;
  for (size_t i = 0; i < data->bodies.count; i++) count += bodies[i].shapes.count;
  if (count == 0) return POL_OK;
  model->shapes = calloc(count, sizeof *model->shapes);
  if (!model->shapes) return POL_NO_MEMORY;
  model->num_shapes = (int)count;

  pol_shape *next = model->shapes;
  pol_status status = copy_shapes(&data->shapes, POL_GROUND, &next);
  for (size_t i = 0; status == POL_OK && i < data->bodies.count; i++)
    status = copy_shapes(&bodies[i].shapes, (int)i, &next);
  return status;
}

void poli_free_shapes(pol_model *model)
{
  for (int i = 0; i < model->num_shapes; i++) free(model->shapes[i].file);
  free(model->shapes);
}

/* Room for all rules, changes and texts in one block: the rules, the changes, the texts. */
static size_t count_bytes(const poli_model_data *data, size_t *num_changes)
{
  const poli_model_event *events = data->events.items;
  size_t bytes = 0;
  *num_changes = 0;
  for (size_t i = 0; i < data->events.count; i++) {
    json_t *changes = events[i].changes;
    const char *key;
    json_t *value;
    bytes += strlen(events[i].name) + strlen(events[i].expression) + 2;
    json_object_foreach(changes, key, value)
    {
      bytes += strlen(key) + strlen(json_string_value(value)) + 2;
      ++*num_changes;
    }
  }
  return bytes;
}

/* Copies a text to *to, which moves on. */
static const char *copy_text(char **to, const char *text)
{
  char *start = *to;
  const size_t size = strlen(text) + 1;
  memcpy(start, text, size);
  *to += size;
  return start;
}

pol_status poli_build_events(const poli_model_data *data, pol_model *model)
{
  const poli_model_event *events = data->events.items;
  const size_t count = data->events.count;
  size_t num_changes;
  const size_t bytes = count_bytes(data, &num_changes);
  if (count == 0) return POL_OK;
  pol_event_rule *rules = malloc(count * sizeof *rules + num_changes * sizeof(pol_change) + bytes);
  if (!rules) return POL_NO_MEMORY;
  pol_change *changes = (pol_change *)(rules + count);
  char *text = (char *)(changes + num_changes);
  for (size_t i = 0; i < count; i++) {
    json_t *set = events[i].changes;
    const char *key;
    json_t *value;
    rules[i] = (pol_event_rule){.name = copy_text(&text, events[i].name),
                                .expression = copy_text(&text, events[i].expression),
                                .direction = events[i].direction == POLI_RISING    ? 1
                                             : events[i].direction == POLI_FALLING ? -1
                                                                                   : 0,
                                .action = (pol_event_action)events[i].action,
                                .num_changes = (int)json_object_size(set),
                                .changes = changes};
    json_object_foreach(set, key, value)
    {
      *changes++ = (pol_change){.quantity = copy_text(&text, key),
                                .expression = copy_text(&text, json_string_value(value))};
    }
  }
  model->events = rules;
  model->settings.num_events = (int)count;
  model->settings.events = rules;
  return POL_OK;
}
