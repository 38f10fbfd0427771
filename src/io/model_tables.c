/* The model format: one table for each kind of object, and the rules between keys.
 *
 * A new key is a line in a table.  A new kind of object is a table, a pol_kind and a line in the
 * table of the object that holds it; if others refer to it by name, also a line in named_lists.
 * docs/model-format.md and schema/polhode-model.schema.json describe the same for people. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/model_parts.h"
#include "lie/small.h"

static const char number_rule[] = "must be a number";
static const char positive_rule[] = "must be a positive number";
static const char not_negative_rule[] = "must be a number that is not negative";
static const char vector_rule[] = "must be a list of 3 numbers";
static const char inertia_rule[] = "must be 3 principal moments or a symmetric 3x3 matrix";
static const char name_rule[] =
    "must be a name of ASCII letters, digits, _, - and spaces between them";

static const char shapes_rule[] = "must be a list of shapes";

static const pol_range positive = {0.0, HUGE_VAL, 1};
static const pol_range not_negative = {0.0, HUGE_VAL, 0};
static const pol_range zero_to_one = {0.0, 1.0, 0};
static const pol_range alpha_range = {-1.0 / 3.0, 0.0, 0};
static const pol_range above_zero_to_one = {0.0, 1.0, 1};
static const pol_range from_zero = {0.0, INT32_MAX, 0};
static const pol_range from_one = {1.0, INT32_MAX, 0};

/* The lists whose objects are found by name. */
static const char *const named_lists[] = {"bodies",    "markers",   "joints", "forces", "drives",
                                          "couplings", "variables", "states", "events", NULL};
static const char *const not_bodies[] = {"bodies", NULL};
static const char *const not_markers[] = {"markers", NULL};
static const char *const not_joints_or_bodies[] = {"joints", "bodies", NULL};
static const char *const not_forces_joints_or_bodies[] = {"forces", "joints", "bodies", NULL};

static void set_identity(double q[4])
{
  q[0] = 1.0;
  q[1] = q[2] = q[3] = 0.0;
}

/* Reports each of the keys (NULL at the end) that the object has. */
static void forbid(pol_reader *reader, const pol_place *object, const char *const *keys,
                   const char *rule)
{
  for (; *keys; keys++) {
    const pol_place place = pol_place_key(object, *keys);
    if (place.value) pol_report(reader, &place, "", "%s", rule);
  }
}

/* --- bodies ----------------------------------------------------------------------------------- */

/* By pol_body.point. */
static const char *body_type_choice(int number)
{
  static const char *const names[] = {"rigid", "point"};
  return number < (int)(sizeof names / sizeof *names) ? names[number] : NULL;
}

static const pol_choices body_types = {body_type_choice};

static const pol_field body_fields[] = {
    {"name", pol_read_name, offsetof(pol_model_body, name), POL_REQUIRED, name_rule, not_bodies},
    {"type", pol_read_choice, offsetof(pol_model_body, point), POL_OPTIONAL, "", &body_types},
    {"mass", pol_read_number, offsetof(pol_model_body, mass), POL_REQUIRED, positive_rule,
     &positive},
    {"inertia", pol_read_inertia, offsetof(pol_model_body, inertia), POL_OPTIONAL, inertia_rule,
     NULL},
    {"position", pol_read_vector, offsetof(pol_model_body, position), POL_OPTIONAL, vector_rule,
     NULL},
    {"rotation", pol_read_rotation, offsetof(pol_model_body, rotation), POL_OPTIONAL, "", NULL},
    {"velocity", pol_read_vector, offsetof(pol_model_body, velocity), POL_OPTIONAL, vector_rule,
     NULL},
    {"angular_velocity", pol_read_vector, offsetof(pol_model_body, angular_velocity), POL_OPTIONAL,
     vector_rule, NULL},
    {"angular_velocity_global", pol_read_vector, offsetof(pol_model_body, angular_velocity_global),
     POL_OPTIONAL, vector_rule, NULL},
    {"keep", pol_read_keep, offsetof(pol_model_body, keep), POL_OPTIONAL, "", NULL},
    {"shapes", pol_read_list, offsetof(pol_model_body, shapes), POL_OPTIONAL, shapes_rule,
     &pol_shape_kind},
    {.key = NULL},
};

static void check_body(pol_reader *reader, const pol_place *place, void *object, int sound)
{
  static const char *const global[] = {"angular_velocity_global", NULL};
  static const char *const turning[] = {"inertia", "rotation", "angular_velocity",
                                        "angular_velocity_global", NULL};
  (void)sound;
  pol_model_body *body = object;
  if (!pol_given(place, "rotation")) set_identity(body->rotation);
  body->given_velocity = pol_given(place, "velocity");
  body->given_body = pol_given(place, "angular_velocity");
  body->given_global = pol_given(place, "angular_velocity_global");
  if (body->point == 1)
    forbid(reader, place, turning, "must not be given for a point mass");
  else if (body->given_body)
    forbid(reader, place, global, "must not stand beside \"angular_velocity\"");
  if (body->point == 0 && !pol_given(place, "inertia"))
    pol_report_missing(reader, place, body_fields, "inertia", inertia_rule);
}

static const pol_kind body_kind = {
    .rule = "must be an object that describes a body",
    .fields = body_fields,
    .size = sizeof(pol_model_body),
    .at_least = 1,
    .check = check_body,
};

/* The body of this index, as the file has it, if it is a point mass; else NULL.  The object is of
 * one of the lists. */
static const json_t *point_mass(const pol_place *object, int body)
{
  const json_t *bodies = json_object_get(object->parent->parent->value, "bodies");
  const json_t *item = body >= 0 ? json_array_get(bodies, (size_t)body) : NULL;
  const char *type = json_string_value(json_object_get(item, "type"));
  return type && strcmp(type, body_type_choice(1)) == 0 ? item : NULL;
}

static const char *name_of(const json_t *object)
{
  const char *name = json_string_value(json_object_get(object, "name"));
  return name ? name : "";
}

/* --- markers ---------------------------------------------------------------------------------- */

static const pol_field marker_fields[] = {
    {"name", pol_read_name, offsetof(pol_model_marker, name), POL_REQUIRED, name_rule, not_markers},
    {"body", pol_read_reference, offsetof(pol_model_marker, body), POL_REQUIRED,
     "must be the name of a body or \"ground\"", "bodies"},
    {"position", pol_read_vector, offsetof(pol_model_marker, position), POL_OPTIONAL, vector_rule,
     NULL},
    {"rotation", pol_read_rotation, offsetof(pol_model_marker, rotation), POL_OPTIONAL, "", NULL},
    {.key = NULL},
};

static void check_marker(pol_reader *reader, const pol_place *place, void *object, int sound)
{
  static const char *const position[] = {"position", NULL};
  (void)sound;
  pol_model_marker *marker = object;
  if (!pol_given(place, "rotation")) set_identity(marker->rotation);
  if (point_mass(place, marker->body))
    forbid(reader, place, position, "must not be given: a marker on a point mass is at the mass");
}

static const pol_kind marker_kind = {
    .rule = "must be an object that describes a marker",
    .fields = marker_fields,
    .size = sizeof(pol_model_marker),
    .check = check_marker,
};

/* --- joints ----------------------------------------------------------------------------------- */

static const char *joint_frame_choice(int number)
{
  return pol_force_frame_name((pol_force_frame)number);
}

static const pol_choices joint_frames = {joint_frame_choice};

static const char *joint_type_choice(int number)
{
  return pol_joint_type_name((pol_joint_type)number);
}

static const pol_choices joint_types = {joint_type_choice};

static const pol_field joint_fields[] = {
    {"name", pol_read_name, offsetof(pol_model_joint, name), POL_REQUIRED, name_rule,
     not_joints_or_bodies},
    {"type", pol_read_choice, offsetof(pol_model_joint, type), POL_REQUIRED,
     "must be a type of joint, such as \"revolute\"", &joint_types},
    {"bodies", pol_read_reference_pair, offsetof(pol_model_joint, bodies), POL_OPTIONAL,
     "must be a list of 2 names of bodies or \"ground\"", "bodies"},
    {"point", pol_read_vector, offsetof(pol_model_joint, point), POL_OPTIONAL, vector_rule, NULL},
    {"axis", pol_read_direction, offsetof(pol_model_joint, axis), POL_OPTIONAL, "", NULL},
    {"axes", pol_read_direction_pair, offsetof(pol_model_joint, axes), POL_OPTIONAL,
     "must be a list of 2 directions, each a list of 3 numbers", NULL},
    {"markers", pol_read_reference_pair, offsetof(pol_model_joint, markers), POL_OPTIONAL,
     "must be a list of 2 names of markers", "markers"},
    {"length", pol_read_number, offsetof(pol_model_joint, length), POL_OPTIONAL, positive_rule,
     &positive},
    {"radius", pol_read_number, offsetof(pol_model_joint, radius), POL_OPTIONAL, positive_rule,
     &positive},
    {"locked", pol_read_locks, offsetof(pol_model_joint, locked), POL_OPTIONAL,
     "must be a list of one or more of: x, y, z, rotation-x, rotation-y, rotation-z", NULL},
    {"frame", pol_read_choice, offsetof(pol_model_joint, frame), POL_OPTIONAL, "", &joint_frames},
    {.key = NULL},
};

/* What a type of joint needs to know beside its point. */
typedef enum axis_use { AXIS_REQUIRED, AXIS_OPTIONAL, AXIS_FORBIDDEN, TWO_AXES } axis_use;

static const axis_use axis_uses[] = {
    [POL_FIXED] = AXIS_OPTIONAL,
    [POL_REVOLUTE] = AXIS_REQUIRED,
    [POL_PRISMATIC] = AXIS_REQUIRED,
    [POL_CYLINDRICAL] = AXIS_REQUIRED,
    [POL_SPHERICAL] = AXIS_FORBIDDEN,
    [POL_UNIVERSAL] = TWO_AXES,
    [POL_PLANAR] = AXIS_REQUIRED,
    [POL_POINT_ON_LINE] = AXIS_REQUIRED,
    [POL_POINT_IN_PLANE] = AXIS_REQUIRED,
    [POL_PARALLEL] = AXIS_REQUIRED,
    [POL_CONSTANT_VELOCITY] = AXIS_REQUIRED,
    [POL_GENERIC] = AXIS_OPTIONAL,
};

/* The name of the body of a marker, as the file has it. */
static const char *body_of_marker(const pol_place *joint, int marker)
{
  const json_t *markers = json_object_get(joint->parent->parent->value, "markers");
  const json_t *item = json_array_get(markers, (size_t)marker);
  return json_string_value(json_object_get(item, "body"));
}

/* The markers of a joint or force. */
static void check_different_bodies(pol_reader *reader, const pol_place *place, const int markers[2])
{
  if (markers[0] == POL_NOWHERE || markers[1] == POL_NOWHERE) return;
  const char *first = body_of_marker(place, markers[0]);
  const char *second = body_of_marker(place, markers[1]);
  const pol_place at = pol_place_key(place, "markers");
  if (first && second && strcmp(first, second) == 0)
    pol_report(reader, &at, "", "must be on two different bodies");
}

static void check_joint_markers(pol_reader *reader, const pol_place *place, const int markers[2])
{
  static const char *const others[] = {"bodies", "point", "axis", "axes", NULL};
  forbid(reader, place, others, "must not stand beside \"markers\"");
  check_different_bodies(reader, place, markers);
}

/* Which of axis and axes stand there, against what the type of joint needs. */
static void check_axis_keys(pol_reader *reader, const pol_place *place, pol_joint_type type)
{
  static const char *const axis[] = {"axis", NULL};
  static const char *const axes[] = {"axes", NULL};
  const axis_use use = axis_uses[type];
  if (use == AXIS_REQUIRED && !pol_given(place, "axis"))
    pol_report_missing(reader, place, joint_fields, "axis", "this type of joint needs it");
  if (use == AXIS_FORBIDDEN)
    forbid(reader, place, axis, "must not be given: a spherical joint has no axis");
  if (use == TWO_AXES)
    forbid(reader, place, axis, "must not be given: a universal joint has \"axes\"");
  else
    forbid(reader, place, axes, "must not be given: only a universal joint has \"axes\"");
  if (use == TWO_AXES && !pol_given(place, "axes"))
    pol_report_missing(reader, place, joint_fields, "axes", "a universal joint needs two");
}

static void check_joint_bodies(pol_reader *reader, const pol_place *place,
                               const pol_model_joint *joint, int sound)
{
  static const double perpendicular_tolerance = 1e-6;
  const pol_place bodies = pol_place_key(place, "bodies");
  const pol_place axes = pol_place_key(place, "axes");
  if (!bodies.value)
    pol_report_missing(reader, place, joint_fields, "bodies",
                       "two names of bodies, or \"markers\" instead");
  else if (joint->bodies[0] != POL_NOWHERE && joint->bodies[0] == joint->bodies[1])
    pol_report(reader, &bodies, "", "must be two different bodies");
  if (bodies.value && !pol_given(place, "point"))
    pol_report_missing(reader, place, joint_fields, "point", "a list of 3 numbers");
  if (joint->type >= 0 && pol_given(place, "type"))
    check_axis_keys(reader, place, (pol_joint_type)joint->type);
  if (sound && axes.value &&
      fabs(pol_v3_dot(joint->axes, joint->axes + 3)) > perpendicular_tolerance)
    pol_report(reader, &axes, "", "must be perpendicular to each other");
}

/* The index of the body of a marker; POL_NOWHERE if the file does not say. */
static int marker_body(const pol_reader *reader, const pol_place *joint, int marker)
{
  const char *name = marker >= 0 ? body_of_marker(joint, marker) : NULL;
  const json_t *bodies = json_object_get(reader->names, "bodies");
  const json_t *index = name ? json_object_get(bodies, name) : NULL;
  return index ? (int)json_integer_value(index) : POL_NOWHERE;
}

/* Whether a point is where a body of the file starts, within 1e-9 of the size of both. */
static int is_position(const json_t *body, const double point[3])
{
  const json_t *position = json_object_get(body, "position");
  double apart = 0.0, size = 0.0;
  for (size_t i = 0; i < 3; i++) {
    const double x = json_number_value(json_array_get(position, i));
    apart += (point[i] - x) * (point[i] - x);
    size += point[i] * point[i] + x * x;
  }
  return apart <= 1e-18 * size;
}

/* A point mass has no rotation that a joint could lock, and is held where it is. */
static void check_joint_points(pol_reader *reader, const pol_place *place,
                               const pol_model_joint *joint)
{
  const pol_place type = pol_place_key(place, "type"), point = pol_place_key(place, "point");
  const int by_markers = joint->given == POL_AXES_MARKERS;
  const pol_joint meant = {.type = (pol_joint_type)joint->type, .locked = joint->locked};
  if (!by_markers && !pol_given(place, "bodies")) return;
  for (int i = 0; i < 2; i++) {
    const int body = by_markers ? marker_body(reader, place, joint->markers[i]) : joint->bodies[i];
    const json_t *mass = point_mass(place, body);
    if (!mass) continue;
    if (type.value && joint->type >= 0 && !pol_joint_fits_point(&meant))
      pol_report(reader, &type, "",
                 "must lock no rotation in joint \"%s\": body \"%s\" is a point mass",
                 joint->name ? joint->name : "", name_of(mass));
    else if (!by_markers && point.value && !is_position(mass, joint->point))
      pol_report(reader, &point, "", "must be the position of the point mass \"%s\"",
                 name_of(mass));
  }
}

static int is_rolling(int type)
{
  return type == POL_ROLLING_SPHERE || type == POL_ROLLING_DISK;
}

/* A distance is between two points, which only markers can name, and a rolling body between its
 * plane and its centre; each has a key of its own, as has a generic joint. */
static void check_own_keys(pol_reader *reader, const pol_place *place, const pol_model_joint *joint)
{
  static const char *const length[] = {"length", NULL};
  static const char *const radius[] = {"radius", NULL};
  static const char *const locked[] = {"locked", NULL};
  const int has_markers = pol_given(place, "markers");
  if (!pol_given(place, "type") || joint->type < 0) return;
  if (joint->type != POL_DISTANCE)
    forbid(reader, place, length, "must not be given: only a distance has a length");
  else if (!has_markers)
    pol_report_missing(reader, place, joint_fields, "markers", "a distance is between two of them");
  if (!is_rolling(joint->type))
    forbid(reader, place, radius, "must not be given: only what rolls has a radius");
  else if (!pol_given(place, "radius"))
    pol_report_missing(reader, place, joint_fields, "radius", positive_rule);
  if (is_rolling(joint->type) && !has_markers)
    pol_report_missing(reader, place, joint_fields, "markers",
                       "the first is the plane, the second the centre of what rolls");
  if (joint->type != POL_GENERIC)
    forbid(reader, place, locked, "must not be given: only a generic joint has \"locked\"");
  else if (!pol_given(place, "locked"))
    pol_report_missing(reader, place, joint_fields, "locked", "what a generic joint locks");
}

/* A joint that leaves a translation free needs its own axes to say which. */
static void check_frame(pol_reader *reader, const pol_place *place, pol_model_joint *joint)
{
  const pol_place frame = pol_place_key(place, "frame");
  if (!frame.value) joint->frame = POL_BODY_AXES;
  const pol_joint as_given = {.type = (pol_joint_type)joint->type, .locked = joint->locked};
  if (joint->frame == POL_GLOBAL_AXES && pol_given(place, "type") && joint->type >= 0 &&
      !pol_joint_locks_point(&as_given))
    pol_report(reader, &frame, "",
               "must not be \"global\": this type of joint leaves a translation free");
}

static void check_joint(pol_reader *reader, const pol_place *place, void *object, int sound)
{
  pol_model_joint *joint = object;
  check_own_keys(reader, place, joint);
  check_frame(reader, place, joint);
  joint->given = POL_AXES_OF_BODY;
  if (pol_given(place, "axis")) joint->given = POL_AXES_ONE;
  if (pol_given(place, "axes")) joint->given = POL_AXES_TWO;
  if (pol_given(place, "markers")) {
    joint->given = POL_AXES_MARKERS;
    check_joint_markers(reader, place, joint->markers);
  } else if (joint->type != POL_DISTANCE && !is_rolling(joint->type)) {
    check_joint_bodies(reader, place, joint, sound);
  }
  if (sound) check_joint_points(reader, place, joint);
}

static const pol_kind joint_kind = {
    .rule = "must be an object that describes a joint",
    .fields = joint_fields,
    .size = sizeof(pol_model_joint),
    .check = check_joint,
};

/* --- forces ----------------------------------------------------------------------------------- */

static const char *force_type_choice(int number)
{
  return number == POL_CALLBACK_FORCE ? NULL : pol_force_type_name((pol_force_type)number);
}

static const char *force_frame_choice(int number)
{
  return number == POL_MODEL_MARKER_AXES ? "marker" : pol_force_frame_name((pol_force_frame)number);
}

static const char *spring_law_choice(int number)
{
  return pol_spring_law_name((pol_spring_law)number);
}

static const pol_choices force_types = {force_type_choice};
static const pol_choices force_frames = {force_frame_choice};
static const pol_choices spring_laws = {spring_law_choice};

static const char efforts_rule[] = "must be a list of 3 numbers or expressions";
static const char rates_rule[] = "must be a number or a list of 3 numbers, none negative";
static const char points_rule[] = "must be a list of 2 points, each a list of 3 numbers";

static const pol_field force_fields[] = {
    {"name", pol_read_name, offsetof(pol_model_force, name), POL_REQUIRED, name_rule,
     not_forces_joints_or_bodies},
    {"type", pol_read_choice, offsetof(pol_model_force, type), POL_REQUIRED,
     "must be a type of force, such as \"support\"", &force_types},
    {"body", pol_read_moving_body, offsetof(pol_model_force, body), POL_OPTIONAL,
     "must be the name of a body", "bodies"},
    {"marker", pol_read_reference, offsetof(pol_model_force, marker), POL_OPTIONAL,
     "must be the name of a marker", "markers"},
    {"markers", pol_read_reference_pair, offsetof(pol_model_force, markers), POL_OPTIONAL,
     "must be a list of 2 names of markers", "markers"},
    {"bodies", pol_read_reference_pair, offsetof(pol_model_force, bodies), POL_OPTIONAL,
     "must be a list of 2 names of bodies or \"ground\"", "bodies"},
    {"points", pol_read_vector_pair, offsetof(pol_model_force, points), POL_OPTIONAL, points_rule,
     NULL},
    {"points_global", pol_read_vector_pair, offsetof(pol_model_force, points_global), POL_OPTIONAL,
     points_rule, NULL},
    {"force", pol_read_efforts, offsetof(pol_model_force, force), POL_OPTIONAL, efforts_rule, NULL},
    {"torque", pol_read_efforts, offsetof(pol_model_force, torque), POL_OPTIONAL, efforts_rule,
     NULL},
    {"frame", pol_read_choice, offsetof(pol_model_force, frame), POL_OPTIONAL, "", &force_frames},
    {"point", pol_read_vector, offsetof(pol_model_force, point), POL_OPTIONAL, vector_rule, NULL},
    {"anchor", pol_read_vector, offsetof(pol_model_force, anchor), POL_OPTIONAL, vector_rule, NULL},
    {"stiffness", pol_read_rates, offsetof(pol_model_force, stiffness), POL_OPTIONAL, rates_rule,
     NULL},
    {"damping", pol_read_rates, offsetof(pol_model_force, damping), POL_OPTIONAL, rates_rule, NULL},
    {"law", pol_read_choice, offsetof(pol_model_force, law), POL_OPTIONAL, "", &spring_laws},
    {"length", pol_read_number, offsetof(pol_model_force, length), POL_OPTIONAL, not_negative_rule,
     &not_negative},
    {"actuator", pol_read_effort, offsetof(pol_model_force, actuator), POL_OPTIONAL,
     "must be a number or an expression, which is a text", NULL},
    {"coefficient", pol_read_number, offsetof(pol_model_force, coefficient), POL_OPTIONAL,
     not_negative_rule, &not_negative},
    {"rotational_stiffness", pol_read_rates, offsetof(pol_model_force, rotational_stiffness),
     POL_OPTIONAL, rates_rule, NULL},
    {"rotational_damping", pol_read_rates, offsetof(pol_model_force, rotational_damping),
     POL_OPTIONAL, rates_rule, NULL},
    {"preload", pol_read_vector, offsetof(pol_model_force, preload), POL_OPTIONAL, vector_rule,
     NULL},
    {"preload_torque", pol_read_vector, offsetof(pol_model_force, preload_torque), POL_OPTIONAL,
     vector_rule, NULL},
    {"scale", pol_read_object, offsetof(pol_model_force, scale), POL_OPTIONAL, "",
     &pol_function_kind},
    {"joint", pol_read_reference, offsetof(pol_model_force, joint), POL_OPTIONAL,
     "must be the name of a joint", "joints"},
    {"coordinate", pol_read_text, offsetof(pol_model_force, coordinate_key), POL_OPTIONAL,
     "must be a text such as \"rotation\"", NULL},
    {"rest", pol_read_number, offsetof(pol_model_force, rest), POL_OPTIONAL, number_rule, NULL},
    {.key = NULL},
};

/* The keys that a type of force must and may have beside name and type, each list ended by NULL.
 * A "marker" may stand for a body, "bodies" for markers, if the type has them. */
static const struct force_rules {
  const char *article; /* "a force" */
  const char *required[3];
  const char *optional[8];
} force_rules[] = {
    [POL_APPLIED_FORCE] = {"a force", {"body", "force"}, {"marker", "frame", "point", "scale"}},
    [POL_APPLIED_TORQUE] = {"a torque", {"body", "torque"}, {"marker", "frame", "scale"}},
    [POL_SUPPORT] = {"a support", {"body", "stiffness"}, {"point", "anchor", "damping"}},
    [POL_SPRING_DAMPER] = {"a spring-damper",
                           {"markers", "stiffness"},
                           {"bodies", "points", "points_global", "damping", "length", "actuator",
                            "law", "scale"}},
    [POL_DRAG] = {"drag", {"body", "coefficient"}, {NULL}},
    [POL_BUSHING] = {"a bushing",
                     {"markers", "stiffness"},
                     {"damping", "rotational_stiffness", "rotational_damping", "preload",
                      "preload_torque"}},
    [POL_JOINT_SPRING] = {"a joint-spring",
                          {"joint", "stiffness"},
                          {"coordinate", "damping", "rest", "actuator"}},
};

/* Whether the key is in a list of at most so many, ended by NULL if it is shorter. */
static int is_listed(const char *key, const char *const *list, int most)
{
  for (int i = 0; i < most && list[i]; i++)
    if (strcmp(key, list[i]) == 0) return 1;
  return 0;
}

/* Whether another key stands in the place of a required one. */
static int is_replaced(const pol_place *place, const struct force_rules *rules, const char *key)
{
  const char *other = NULL;
  if (strcmp(key, "body") == 0) other = "marker";
  if (strcmp(key, "markers") == 0) other = "bodies";
  return other && is_listed(other, rules->optional, 8) && pol_given(place, other);
}

/* What the type does not have must not be given; what it must have, must. */
static void check_force_keys(pol_reader *reader, const pol_place *place,
                             const struct force_rules *rules)
{
  static const char *const common[] = {"name", "type", NULL};
  for (const pol_field *field = force_fields; field->key; field++) {
    const pol_place key = pol_place_key(place, field->key);
    if (key.value && !is_listed(field->key, common, 2) &&
        !is_listed(field->key, rules->required, 3) && !is_listed(field->key, rules->optional, 8))
      pol_report(reader, &key, "", "must not be given for %s", rules->article);
  }
  for (const pol_field *field = force_fields; field->key; field++)
    if (is_listed(field->key, rules->required, 3) && !pol_given(place, field->key) &&
        !is_replaced(place, rules, field->key))
      pol_report_missing(reader, place, force_fields, field->key, field->rule);
}

/* Two markers, or two bodies with a point on each. */
static void check_spring_ends(pol_reader *reader, const pol_place *place,
                              const pol_model_force *force)
{
  static const char *const markers[] = {"markers", NULL};
  static const char *const points[] = {"points", "points_global", NULL};
  static const char *const global[] = {"points_global", NULL};
  const pol_place bodies = pol_place_key(place, "bodies");
  if (!bodies.value) {
    forbid(reader, place, points, "must not be given without \"bodies\"");
    if (pol_given(place, "markers")) check_different_bodies(reader, place, force->markers);
    return;
  }
  forbid(reader, place, markers, "must not stand beside \"bodies\"");
  if (force->bodies[0] != POL_NOWHERE && force->bodies[0] == force->bodies[1])
    pol_report(reader, &bodies, "", "must be two different bodies");
  if (pol_given(place, "points"))
    forbid(reader, place, global, "must not stand beside \"points\"");
  else if (!pol_given(place, "points_global"))
    pol_report_missing(reader, place, force_fields, "points",
                       "a point on each body, or \"points_global\" instead");
}

/* A spring-damper acts along one line, a joint-spring on one coordinate. */
static void check_spring(pol_reader *reader, const pol_place *place, const pol_model_force *force)
{
  const char *article = force_rules[force->type].article;
  const pol_place stiffness = pol_place_key(place, "stiffness");
  const pol_place damping = pol_place_key(place, "damping");
  if (force->stiffness.by_axis)
    pol_report(reader, &stiffness, "", "must be one number for %s", article);
  if (force->damping.by_axis)
    pol_report(reader, &damping, "", "must be one number for %s", article);
  if (force->type == POL_SPRING_DAMPER) check_spring_ends(reader, place, force);
}

/* Whether a component of an applied force or torque is an expression. */
static int has_expressions(const pol_model_force *force)
{
  int count = 0;
  for (int i = 0; i < 3; i++)
    count += force->force[i].expression != NULL || force->torque[i].expression != NULL;
  return count > 0;
}

/* A marker brings its body, point and axes; without it there are no axes of a marker. */
static void check_applied(pol_reader *reader, const pol_place *place, const pol_model_force *force)
{
  static const char *const others[] = {"body", "point", NULL};
  const pol_place frame = pol_place_key(place, "frame"), marker = pol_place_key(place, "marker");
  if (marker.value) forbid(reader, place, others, "must not stand beside \"marker\"");
  if (frame.value && force->frame == POL_MODEL_MARKER_AXES && !marker.value)
    pol_report(reader, &frame, "", "must be \"global\" or \"body\" without a \"marker\"");
  else if (frame.value && force->frame == POL_MODEL_MARKER_AXES && has_expressions(force))
    pol_report(reader, &frame, "", "must be \"global\" or \"body\" where there are expressions");
  const char *body =
      marker.value && force->marker >= 0 ? body_of_marker(place, force->marker) : NULL;
  if (body && strcmp(body, pol_ground_name) == 0)
    pol_report(reader, &marker, "", "must be on a body: the ground does not move");
}

/* The body of a marker as the file has it, if it is a point mass; else NULL. */
static const json_t *point_mass_of_marker(const pol_place *place, int marker)
{
  const char *name = body_of_marker(place, marker);
  const json_t *bodies = json_object_get(place->parent->parent->value, "bodies");
  for (size_t i = 0; name && i < json_array_size(bodies); i++)
    if (strcmp(name_of(json_array_get(bodies, i)), name) == 0) return point_mass(place, (int)i);
  return NULL;
}

/* A bushing holds rotations. */
static void check_rigid_markers(pol_reader *reader, const pol_place *place, const int markers[2])
{
  const pol_place at = pol_place_key(place, "markers");
  for (size_t i = 0; i < 2; i++) {
    const pol_place item = pol_place_item(&at, i);
    if (markers[i] >= 0 && point_mass_of_marker(place, markers[i]))
      pol_report(reader, &item, "", "must be on a rigid body: a point mass does not turn");
  }
}

/* A point mass takes forces where it is, and has no axes of its own. */
static void check_force_on_point(pol_reader *reader, const pol_place *place,
                                 const pol_model_force *force)
{
  static const char *const rigid_keys[] = {"point", "frame", NULL};
  const int by_marker = pol_given(place, "marker");
  const pol_place body = pol_place_key(place, by_marker ? "marker" : "body");
  if (!body.value) return;
  if (by_marker ? force->marker < 0 || !point_mass_of_marker(place, force->marker)
                : !point_mass(place, force->body))
    return;
  if (force->type == POL_APPLIED_TORQUE)
    pol_report(reader, &body, "", "must be a rigid body: a point mass takes no torque");
  else
    forbid(reader, place, rigid_keys, "must not be given: the body is a point mass");
}

static void check_force(pol_reader *reader, const pol_place *place, void *object, int sound)
{
  (void)sound;
  pol_model_force *force = object;
  force->given_anchor = pol_given(place, "anchor");
  force->given_length = pol_given(place, "length");
  if (!pol_given(place, "type") || force->type < 0) return;
  check_force_keys(reader, place, &force_rules[force->type]);
  force->given_marker = pol_given(place, "marker");
  force->given_bodies = pol_given(place, "bodies");
  force->given_points = pol_given(place, "points");
  force->given_scale = pol_given(place, "scale");
  if (force->type == POL_APPLIED_FORCE || force->type == POL_APPLIED_TORQUE)
    check_applied(reader, place, force);
  if (force->type == POL_SPRING_DAMPER || force->type == POL_JOINT_SPRING)
    check_spring(reader, place, force);
  if (force->type == POL_JOINT_SPRING) pol_check_joint_spring(reader, place, force);
  if (force->type == POL_BUSHING && pol_given(place, "markers")) {
    check_different_bodies(reader, place, force->markers);
    check_rigid_markers(reader, place, force->markers);
  }
  check_force_on_point(reader, place, force);
}

static const pol_kind force_kind = {
    .rule = "must be an object that describes a force",
    .fields = force_fields,
    .size = sizeof(pol_model_force),
    .check = check_force,
};

/* --- simulation ------------------------------------------------------------------------------- */

static const char *start_choice(int number)
{
  static const char *const names[] = {[POL_START_DEFAULT] = "default",
                                      [POL_START_CLASSICAL] = "classical",
                                      [POL_START_SHIFTED] = "shifted",
                                      [POL_START_PERTURBED] = "perturbed"};
  return number < (int)(sizeof names / sizeof *names) ? names[number] : NULL;
}

static const char *sigma_update_choice(int number)
{
  static const char *const names[] = {[POL_SIGMA_EXACT] = "exact",
                                      [POL_SIGMA_INCREMENTAL] = "incremental",
                                      [POL_SIGMA_PRINTED] = "printed"};
  return number < (int)(sizeof names / sizeof *names) ? names[number] : NULL;
}

static const char *redundant_choice(int number)
{
  static const char *const names[] = {[POL_REDUNDANT_DROP] = "drop",
                                      [POL_REDUNDANT_REFUSE] = "refuse",
                                      [POL_REDUNDANT_MINIMUM_NORM] = "minimum-norm"};
  return number < (int)(sizeof names / sizeof *names) ? names[number] : NULL;
}

static const char *guess_choice(int number)
{
  static const char *const names[] = {
      [POL_GUESS_ADVANCED] = "advanced", [POL_GUESS_SIMPLE] = "simple"};
  return number < (int)(sizeof names / sizeof *names) ? names[number] : NULL;
}

static const char *newton_choice(int number)
{
  static const char *const names[] = {[POL_NEWTON_FULL] = "full",
                                      [POL_NEWTON_SIMPLIFIED] = "simplified",
                                      [POL_NEWTON_MODIFIED] = "modified",
                                      [POL_NEWTON_PLAIN] = "plain",
                                      [POL_NEWTON_PLAIN_MODIFIED] = "plain-modified"};
  return number < (int)(sizeof names / sizeof *names) ? names[number] : NULL;
}

static const char *solver_choice(int number)
{
  static const char *const names[] = {
      [POL_SOLVER_AUTO] = "auto", [POL_SOLVER_DENSE] = "dense", [POL_SOLVER_SPARSE] = "sparse"};
  return number < (int)(sizeof names / sizeof *names) ? names[number] : NULL;
}

static const char *steps_choice(int number)
{
  static const char *const names[] = {"fixed", "variable"};
  return number < 2 ? names[number] : NULL;
}

static const char *method_choice(int number)
{
  return number < pol_method_count() ? pol_method_at(number)->name : NULL;
}

static const char *formulation_choice(int number)
{
  return number < pol_formulation_count() ? pol_formulation_name((pol_formulation_kind)number)
                                          : NULL;
}

static const pol_choices starts = {start_choice};
static const pol_choices sigma_updates = {sigma_update_choice};
static const pol_choices redundants = {redundant_choice};
static const pol_choices guesses = {guess_choice};
static const pol_choices newton_kinds = {newton_choice};
static const pol_choices solvers = {solver_choice};
static const pol_choices methods = {method_choice};
static const pol_choices steps_kinds = {steps_choice};
static const pol_choices formulations = {formulation_choice};

/* pol_index: 3, 2 or "stabilized-2" */
static void read_index(pol_reader *reader, const pol_place *place, const pol_field *field,
                       void *target)
{
  static const char stabilized[] = "stabilized-2";
  pol_index *index = target;
  const double number = json_number_value(place->value);
  const char *text = json_string_value(place->value);
  pol_near near = pol_near_start(text ? text : "");
  pol_near_try(&near, stabilized);
  if (number == 3.0)
    *index = POL_INDEX_3;
  else if (number == 2.0)
    *index = POL_INDEX_2;
  else if (text && strcmp(text, stabilized) == 0)
    *index = POL_INDEX_2_STABILIZED;
  else
    pol_report(reader, place, near.best, "%s", field->rule);
}

/* pol_model_sigma: a number or "optimal" */
static void read_sigma(pol_reader *reader, const pol_place *place, const pol_field *field,
                       void *target)
{
  static const char optimal[] = "optimal";
  pol_model_sigma *sigma = target;
  const char *text = json_string_value(place->value);
  pol_near near = pol_near_start(text ? text : "");
  pol_near_try(&near, optimal);
  sigma->number = json_number_value(place->value);
  sigma->optimal = text && strcmp(text, optimal) == 0;
  if (!json_is_number(place->value) && !sigma->optimal)
    pol_report(reader, place, near.best, "%s", field->rule);
}

/* Where the numbers of "simulation" and of "newton" inside it go. */
#define OPTION(member) offsetof(pol_model_simulation, settings.options.member)

static const pol_field newton_fields[] = {
    {"kind", pol_read_choice, offsetof(pol_model_simulation, newton_kind), POL_OPTIONAL, "",
     &newton_kinds},
    {"tolerance", pol_read_number, OPTION(newton.tolerance), POL_OPTIONAL, positive_rule,
     &positive},
    {"max_iterations", pol_read_integer, OPTION(newton.max_iterations), POL_OPTIONAL,
     "must be a whole number from 1 to 2147483647", &from_one},
    {"refresh", pol_read_number, OPTION(newton.refresh), POL_OPTIONAL,
     "must be a number above 0, at most 1", &above_zero_to_one},
    {"line_search", pol_read_integer, OPTION(newton.line_search), POL_OPTIONAL,
     "must be a whole number from 0 to 2147483647", &from_zero},
    {"exact_iterations", pol_read_integer, OPTION(newton.exact_iterations), POL_OPTIONAL,
     "must be a whole number from 1 to 2147483647", &from_one},
    {.key = NULL},
};

static void check_newton(pol_reader *reader, const pol_place *place, void *object, int sound)
{
  (void)reader;
  pol_model_simulation *simulation = object;
  if (sound && pol_given(place, "kind"))
    simulation->settings.options.newton.kind = (pol_newton_kind)simulation->newton_kind;
}

static const pol_kind newton_kind = {
    .rule = "must be an object of options for the Newton iteration",
    .fields = newton_fields,
    .size = sizeof(pol_model_simulation),
    .check = check_newton,
};

static const pol_field simulation_fields[] = {
    {"method", pol_read_choice, offsetof(pol_model_simulation, method), POL_OPTIONAL, "", &methods},
    {"index", read_index, OPTION(index), POL_OPTIONAL, "must be 3, 2 or \"stabilized-2\"", NULL},
    {"formulation", pol_read_choice, offsetof(pol_model_simulation, formulation), POL_OPTIONAL, "",
     &formulations},
    {"rho_inf", pol_read_number, offsetof(pol_model_simulation, rho_inf), POL_OPTIONAL,
     "must be a number from 0 to 1", &zero_to_one},
    {"alpha", pol_read_number, offsetof(pol_model_simulation, alpha), POL_OPTIONAL,
     "must be a number from -1/3 to 0", &alpha_range},
    {"alpha_m", pol_read_number, OPTION(alpha_m), POL_OPTIONAL, number_rule, NULL},
    {"alpha_f", pol_read_number, OPTION(alpha_f), POL_OPTIONAL, number_rule, NULL},
    {"beta", pol_read_number, OPTION(beta), POL_OPTIONAL, number_rule, NULL},
    {"gamma", pol_read_number, OPTION(gamma), POL_OPTIONAL, number_rule, NULL},
    {"sigma", read_sigma, offsetof(pol_model_simulation, sigma), POL_OPTIONAL,
     "must be a number or \"optimal\"", NULL},
    {"sigma_update", pol_read_choice, offsetof(pol_model_simulation, sigma_update), POL_OPTIONAL,
     "", &sigma_updates},
    {"theta", pol_read_number, OPTION(theta), POL_OPTIONAL, "must be a number from 0 to 1",
     &zero_to_one},
    {"vartheta", pol_read_number, OPTION(vartheta), POL_OPTIONAL, "must be a number from 0 to 1",
     &zero_to_one},
    {"guess", pol_read_choice, offsetof(pol_model_simulation, guess), POL_OPTIONAL, "", &guesses},
    {"start", pol_read_choice, offsetof(pol_model_simulation, start), POL_OPTIONAL, "", &starts},
    {"redundant", pol_read_choice, offsetof(pol_model_simulation, redundant), POL_OPTIONAL, "",
     &redundants},
    {"step", pol_read_number, offsetof(pol_model_simulation, settings.step), POL_OPTIONAL,
     positive_rule, &positive},
    {"rtol", pol_read_number, OPTION(control.rtol), POL_OPTIONAL, not_negative_rule, &not_negative},
    {"atol", pol_read_atol, 0, POL_OPTIONAL, not_negative_rule, NULL},
    {"steps", pol_read_choice, offsetof(pol_model_simulation, steps), POL_OPTIONAL, "",
     &steps_kinds},
    {"control", pol_read_object, 0, POL_OPTIONAL, "", &pol_control_kind},
    {"output", pol_read_object, 0, POL_OPTIONAL, "", &pol_output_kind},
    {"end", pol_read_number, offsetof(pol_model_simulation, settings.end), POL_REQUIRED,
     positive_rule, &positive},
    {"newton", pol_read_object, 0, POL_OPTIONAL, "", &newton_kind},
    {"solver", pol_read_choice, offsetof(pol_model_simulation, solver), POL_OPTIONAL, "", &solvers},
    {.key = NULL},
};

#undef OPTION

/* Whether a method sets these parameters by its name: newmark has gamma and beta, hht alpha. */
static int is_named(const char *method)
{
  return strcmp(method, "newmark") == 0 || strcmp(method, "hht") == 0;
}

/* Parameters of one method have no effect on another, so that one file serves all of them; they are
 * listed for a warning.  What the variational methods do not use is seen in the options. */
static void list_unused(const pol_place *place, const char *method, pol_settings *settings)
{
  static const char *const four[] = {"rho_inf", "alpha_m", "alpha_f", "beta", "gamma"};
  const int newmark = strcmp(method, "newmark") == 0, hht = strcmp(method, "hht") == 0;
  char *list = settings->unused;
  for (int i = 0; i < 5; i++)
    if (pol_given(place, four[i]) && (hht || (newmark && i < 3)))
      snprintf(list + strlen(list), sizeof settings->unused - strlen(list), "%s%s",
               list[0] ? ", " : "", four[i]);
  if (pol_given(place, "alpha") && !hht)
    snprintf(list + strlen(list), sizeof settings->unused - strlen(list), "%salpha",
             list[0] ? ", " : "");
}

/* The four parameters come together and without rho_inf. */
static void check_parameters(pol_reader *reader, const pol_place *place, const char *method)
{
  static const char *const rho_inf[] = {"rho_inf", NULL};
  static const char *const four[] = {"alpha_m", "alpha_f", "beta", "gamma"};
  int count = 0;
  if (is_named(method)) return;
  for (int i = 0; i < 4; i++) count += pol_given(place, four[i]);
  if (count == 0) return;
  forbid(reader, place, rho_inf, "must not stand beside alpha_m, alpha_f, beta, gamma");
  for (int i = 0; i < 4; i++)
    if (!pol_given(place, four[i]))
      pol_report_missing(reader, place, simulation_fields, four[i],
                         "alpha_m, alpha_f, beta, gamma come together");
}

/* The method and its parameters, which are sound. */
static void set_method(const pol_place *place, const pol_model_simulation *simulation,
                       const char *method, pol_options *options)
{
  options->method = method;
  if (strcmp(method, "newmark") == 0) {
    double gamma = pol_given(place, "gamma") ? options->gamma : 0.5;
    double beta = 0.25 * (gamma + 0.5) * (gamma + 0.5);
    pol_options_set_newmark(options, gamma, pol_given(place, "beta") ? options->beta : beta);
  } else if (strcmp(method, "hht") == 0) {
    pol_options_set_method(options, method);
    if (pol_given(place, "alpha")) pol_options_set_hht(options, simulation->alpha);
  }
  if (pol_given(place, "rho_inf") && !is_named(method))
    pol_options_set_rho_inf(options, simulation->rho_inf);
}

/* Steps of variable size: what the file leaves open is what serves them best, stabilized index 2
 * with rho_inf 0.8; newmark and hht stay those of the paper. */
static void set_variable_defaults(const pol_place *place, const char *method, pol_options *options)
{
  if (is_named(method) || !pol_method_adapts(method)) return;
  if (!pol_given(place, "index")) options->index = POL_INDEX_2_STABILIZED;
  if (!pol_given(place, "rho_inf") && !pol_given(place, "beta"))
    pol_options_set_rho_inf(options, 0.8);
}

/* sigma, after the four parameters: the one that removes the bracket term of the local error is
 * gamma / (3 beta) (Holzinger/Arnold/Gerstmayr). */
static double sigma_of(const pol_model_sigma *sigma, const pol_options *options)
{
  return sigma->optimal ? options->gamma / (3.0 * options->beta) : sigma->number;
}

/* A rule that starts with a key ("step must ...") is reported there, others at "simulation". */
static void report_setting(pol_reader *reader, const pol_place *place, const char *message)
{
  const char *rest = strstr(message, " must ");
  char key[32] = "";
  if (rest) snprintf(key, sizeof key, "%.*s", (int)(rest - message), message);
  const pol_place at = pol_place_key(place, key);
  if (at.value)
    pol_report(reader, &at, "", "%s", rest + 1);
  else
    pol_report(reader, place, "", "%s", message);
}

static void check_simulation(pol_reader *reader, const pol_place *place, void *object, int sound)
{
  pol_model_simulation *simulation = object;
  pol_settings *settings = &simulation->settings;
  const int before = reader->errors->count;
  const char *method = settings->options.method;
  if (pol_given(place, "method") && simulation->method >= 0)
    method = method_choice(simulation->method);
  check_parameters(reader, place, method);
  pol_settle_control(reader, place, simulation, sound);
  if (!settings->variable && !pol_given(place, "step"))
    pol_report_missing(reader, place, simulation_fields, "step", positive_rule);
  if (!sound || reader->errors->count != before) return;

  set_method(place, simulation, method, &settings->options);
  if (settings->variable) set_variable_defaults(place, method, &settings->options);
  list_unused(place, method, settings);
  if (pol_given(place, "formulation"))
    settings->formulation = (pol_formulation_kind)simulation->formulation;
  if (pol_given(place, "solver")) settings->options.solver = (pol_solver_kind)simulation->solver;
  if (pol_given(place, "sigma_update"))
    settings->options.sigma_update = (pol_sigma_update)simulation->sigma_update;
  if (pol_given(place, "start")) settings->options.start = (pol_start)simulation->start;
  if (pol_given(place, "guess")) settings->options.guess = (pol_guess)simulation->guess;
  if (pol_given(place, "redundant"))
    settings->options.redundant = (pol_redundant)simulation->redundant;
  if (pol_given(place, "sigma"))
    settings->options.sigma = sigma_of(&simulation->sigma, &settings->options);

  char message[256] = "";
  if (pol_settings_validate(settings, message, sizeof message) != POL_OK)
    report_setting(reader, place, message);
}

static const pol_kind simulation_kind = {
    .rule = "must be an object with the settings of the simulation",
    .fields = simulation_fields,
    .size = sizeof(pol_model_simulation),
    .check = check_simulation,
};

/* --- the whole file --------------------------------------------------------------------------- */

static const pol_field model_fields[] = {
    {"$schema", pol_read_text, offsetof(pol_model_data, schema), POL_OPTIONAL, "must be a text",
     NULL},
    {"name", pol_read_text, offsetof(pol_model_data, name), POL_OPTIONAL, "must be a text", NULL},
    {"gravity", pol_read_vector, offsetof(pol_model_data, gravity), POL_OPTIONAL, vector_rule,
     NULL},
    {"bodies", pol_read_list, offsetof(pol_model_data, bodies), POL_REQUIRED,
     "must be a list of one or more bodies", &body_kind},
    {"markers", pol_read_list, offsetof(pol_model_data, markers), POL_OPTIONAL,
     "must be a list of markers", &marker_kind},
    {"joints", pol_read_list, offsetof(pol_model_data, joints), POL_OPTIONAL,
     "must be a list of joints", &joint_kind},
    {"forces", pol_read_list, offsetof(pol_model_data, forces), POL_OPTIONAL,
     "must be a list of forces", &force_kind},
    {"drives", pol_read_list, offsetof(pol_model_data, drives), POL_OPTIONAL,
     "must be a list of drives", &pol_drive_kind},
    {"couplings", pol_read_list, offsetof(pol_model_data, couplings), POL_OPTIONAL,
     "must be a list of couplings", &pol_coupling_kind},
    {"variables", pol_read_list, offsetof(pol_model_data, variables), POL_OPTIONAL,
     "must be a list of variables", &pol_variable_kind},
    {"states", pol_read_list, offsetof(pol_model_data, states), POL_OPTIONAL,
     "must be a list of states", &pol_state_kind},
    {"events", pol_read_list, offsetof(pol_model_data, events), POL_OPTIONAL,
     "must be a list of events", &pol_event_kind},
    {"shapes", pol_read_list, offsetof(pol_model_data, shapes), POL_OPTIONAL, shapes_rule,
     &pol_shape_kind},
    {"simulation", pol_read_object, offsetof(pol_model_data, simulation), POL_REQUIRED,
     "must be an object with at least \"step\" or \"rtol\", and \"end\"", &simulation_kind},
    {.key = NULL},
};

static const pol_kind model_kind = {
    .rule = "must be an object with \"bodies\" and \"simulation\"",
    .fields = model_fields,
    .size = sizeof(pol_model_data),
};

void pol_read_model_data(pol_reader *reader, const pol_place *top, pol_model_data *data)
{
  static const pol_field all = {.key = NULL, .detail = &model_kind};
  memset(data, 0, sizeof *data);
  data->name = "";
  data->simulation.settings = pol_settings_default();
  pol_collect_names(reader, top->value, named_lists);
  if (reader->status == POL_OK) pol_read_object(reader, top, &all, data);
}

void pol_free_model_data(pol_model_data *data)
{
  pol_model_body *bodies = data->bodies.items;
  for (size_t i = 0; i < data->bodies.count; i++) free(bodies[i].shapes.items);
  free(data->shapes.items);
  free(data->bodies.items);
  free(data->markers.items);
  free(data->joints.items);
  free(data->forces.items);
  free(data->drives.items);
  free(data->couplings.items);
  free(data->variables.items);
  free(data->states.items);
  free(data->events.items);
}
