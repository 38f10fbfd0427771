/* Joints in a model file: their table and the rules between their keys. */
#include <math.h>

#include "io/model/parts.h"
#include "io/model/rules.h"
#include "lie/small.h"

static const char *const not_joints_or_bodies[] = {"joints", "bodies", NULL};

static const char *joint_frame_choice(int number)
{
  return pol_force_frame_name((pol_force_frame)number);
}

static const poli_choices joint_frames = {joint_frame_choice};

static const char *joint_type_choice(int number)
{
  return pol_joint_type_name((pol_joint_type)number);
}

static const poli_choices joint_types = {joint_type_choice};

static const poli_field joint_fields[] = {
    {"name", poli_read_name, offsetof(poli_model_joint, name), POLI_REQUIRED, poli_name_rule,
     not_joints_or_bodies},
    {"type", poli_read_choice, offsetof(poli_model_joint, type), POLI_REQUIRED,
     "must be a type of joint, such as \"revolute\"", &joint_types},
    {"bodies", poli_read_reference_pair, offsetof(poli_model_joint, bodies), POLI_OPTIONAL,
     "must be a list of 2 names of bodies or \"ground\"", "bodies"},
    {"point", poli_read_vector, offsetof(poli_model_joint, point), POLI_OPTIONAL, poli_vector_rule,
     NULL},
    {"axis", poli_read_direction, offsetof(poli_model_joint, axis), POLI_OPTIONAL, "", NULL},
    {"axes", poli_read_direction_pair, offsetof(poli_model_joint, axes), POLI_OPTIONAL,
     "must be a list of 2 directions, each a list of 3 numbers", NULL},
    {"markers", poli_read_reference_pair, offsetof(poli_model_joint, markers), POLI_OPTIONAL,
     "must be a list of 2 names of markers", "markers"},
    {"length", poli_read_number, offsetof(poli_model_joint, length), POLI_OPTIONAL,
     poli_positive_rule, &poli_positive},
    {"radius", poli_read_number, offsetof(poli_model_joint, radius), POLI_OPTIONAL,
     poli_positive_rule, &poli_positive},
    {"locked", poli_read_locks, offsetof(poli_model_joint, locked), POLI_OPTIONAL,
     "must be a list of one or more of: x, y, z, rotation-x, rotation-y, rotation-z", NULL},
    {"frame", poli_read_choice, offsetof(poli_model_joint, frame), POLI_OPTIONAL, "",
     &joint_frames},
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

static void check_joint_markers(poli_reader *reader, const poli_place *place, const int markers[2])
{
  static const char *const others[] = {"bodies", "point", "axis", "axes", NULL};
  poli_forbid(reader, place, others, "must not stand beside \"markers\"");
  poli_check_different_bodies(reader, place, markers);
}

/* Which of axis and axes stand there, against what the type of joint needs. */
static void check_axis_keys(poli_reader *reader, const poli_place *place, pol_joint_type type)
{
  static const char *const axis[] = {"axis", NULL};
  static const char *const axes[] = {"axes", NULL};
  const axis_use use = axis_uses[type];
  if (use == AXIS_REQUIRED && !poli_given(place, "axis"))
    poli_report_missing(reader, place, joint_fields, "axis", "this type of joint needs it");
  if (use == AXIS_FORBIDDEN)
    poli_forbid(reader, place, axis, "must not be given: a spherical joint has no axis");
  if (use == TWO_AXES)
    poli_forbid(reader, place, axis, "must not be given: a universal joint has \"axes\"");
  else
    poli_forbid(reader, place, axes, "must not be given: only a universal joint has \"axes\"");
  if (use == TWO_AXES && !poli_given(place, "axes"))
    poli_report_missing(reader, place, joint_fields, "axes", "a universal joint needs two");
}

static void check_joint_bodies(poli_reader *reader, const poli_place *place,
                               const poli_model_joint *joint, int sound)
{
  static const double perpendicular_tolerance = 1e-6;
  const poli_place bodies = poli_place_key(place, "bodies");
  const poli_place axes = poli_place_key(place, "axes");
  if (!bodies.value)
    poli_report_missing(reader, place, joint_fields, "bodies",
                        "two names of bodies, or \"markers\" instead");
  else if (joint->bodies[0] != POLI_NOWHERE && joint->bodies[0] == joint->bodies[1])
    poli_report(reader, &bodies, "", "must be two different bodies");
  if (bodies.value && !poli_given(place, "point"))
    poli_report_missing(reader, place, joint_fields, "point", "a list of 3 numbers");
  if (joint->type >= 0 && poli_given(place, "type"))
    check_axis_keys(reader, place, (pol_joint_type)joint->type);
  if (sound && axes.value &&
      fabs(poli_v3_dot(joint->axes, joint->axes + 3)) > perpendicular_tolerance)
    poli_report(reader, &axes, "", "must be perpendicular to each other");
}

static const char *name_of(const json_t *object)
{
  const char *name = json_string_value(json_object_get(object, "name"));
  return name ? name : "";
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
static void check_joint_points(poli_reader *reader, const poli_place *place,
                               const poli_model_joint *joint)
{
  const poli_place type = poli_place_key(place, "type"), point = poli_place_key(place, "point");
  const int by_markers = joint->given == POLI_AXES_MARKERS;
  const pol_joint meant = {.type = (pol_joint_type)joint->type, .locked = joint->locked};
  if (!by_markers && !poli_given(place, "bodies")) return;
  for (int i = 0; i < 2; i++) {
    const json_t *mass = by_markers ? poli_point_mass_of_marker(reader, place, joint->markers[i])
                                    : poli_point_mass(place, joint->bodies[i]);
    if (!mass) continue;
    if (type.value && joint->type >= 0 && !pol_joint_fits_point(&meant))
      poli_report(reader, &type, "",
                  "must lock no rotation in joint \"%s\": body \"%s\" is a point mass",
                  joint->name ? joint->name : "", name_of(mass));
    else if (!by_markers && point.value && !is_position(mass, joint->point))
      poli_report(reader, &point, "", "must be the position of the point mass \"%s\"",
                  name_of(mass));
  }
}

static int is_rolling(int type)
{
  return type == POL_ROLLING_SPHERE || type == POL_ROLLING_DISK;
}

/* A distance is between two points, which only markers can name, and a rolling body between its
 * plane and its centre; each has a key of its own, as has a generic joint. */
static void check_own_keys(poli_reader *reader, const poli_place *place,
                           const poli_model_joint *joint)
{
  static const char *const length[] = {"length", NULL};
  static const char *const radius[] = {"radius", NULL};
  static const char *const locked[] = {"locked", NULL};
  const int has_markers = poli_given(place, "markers");
  if (!poli_given(place, "type") || joint->type < 0) return;
  if (joint->type != POL_DISTANCE)
    poli_forbid(reader, place, length, "must not be given: only a distance has a length");
  else if (!has_markers)
    poli_report_missing(reader, place, joint_fields, "markers",
                        "a distance is between two of them");
  if (!is_rolling(joint->type))
    poli_forbid(reader, place, radius, "must not be given: only what rolls has a radius");
  else if (!poli_given(place, "radius"))
    poli_report_missing(reader, place, joint_fields, "radius", poli_positive_rule);
  if (is_rolling(joint->type) && !has_markers)
    poli_report_missing(reader, place, joint_fields, "markers",
                        "the first is the plane, the second the centre of what rolls");
  if (joint->type != POL_GENERIC)
    poli_forbid(reader, place, locked, "must not be given: only a generic joint has \"locked\"");
  else if (!poli_given(place, "locked"))
    poli_report_missing(reader, place, joint_fields, "locked", "what a generic joint locks");
}

/* A joint that leaves a translation free needs its own axes to say which. */
static void check_frame(poli_reader *reader, const poli_place *place, poli_model_joint *joint)
{
  const poli_place frame = poli_place_key(place, "frame");
  if (!frame.value) joint->frame = POL_BODY_AXES;
  const pol_joint as_given = {.type = (pol_joint_type)joint->type, .locked = joint->locked};
  if (joint->frame == POL_GLOBAL_AXES && poli_given(place, "type") && joint->type >= 0 &&
      !pol_joint_locks_point(&as_given))
    poli_report(reader, &frame, "",
                "must not be \"global\": this type of joint leaves a translation free");
}

static void check_joint(poli_reader *reader, const poli_place *place, void *object, int sound)
{
  poli_model_joint *joint = object;
  check_own_keys(reader, place, joint);
  check_frame(reader, place, joint);
  joint->given = POLI_AXES_OF_BODY;
  if (poli_given(place, "axis")) joint->given = POLI_AXES_ONE;
  if (poli_given(place, "axes")) joint->given = POLI_AXES_TWO;
  if (poli_given(place, "markers")) {
    joint->given = POLI_AXES_MARKERS;
    check_joint_markers(reader, place, joint->markers);
  } else if (joint->type != POL_DISTANCE && !is_rolling(joint->type)) {
    check_joint_bodies(reader, place, joint, sound);
  }
  if (sound) check_joint_points(reader, place, joint);
}

const poli_kind poli_joint_kind = {
    .rule = "must be an object that describes a joint",
    .fields = joint_fields,
    .size = sizeof(poli_model_joint),
    .check = check_joint,
};
