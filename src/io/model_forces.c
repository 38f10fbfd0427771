/* Forces in a model file: their table, which keys each type has, and the rules between the keys. */
#include <string.h>

#include "io/model_parts.h"
#include "io/model_rules.h"

static const char *const not_forces_joints_or_bodies[] = {"forces", "joints", "bodies", NULL};

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
    {"name", pol_read_name, offsetof(pol_model_force, name), POL_REQUIRED, pol_name_rule,
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
    {"point", pol_read_vector, offsetof(pol_model_force, point), POL_OPTIONAL, pol_vector_rule,
     NULL},
    {"anchor", pol_read_vector, offsetof(pol_model_force, anchor), POL_OPTIONAL, pol_vector_rule,
     NULL},
    {"stiffness", pol_read_rates, offsetof(pol_model_force, stiffness), POL_OPTIONAL, rates_rule,
     NULL},
    {"damping", pol_read_rates, offsetof(pol_model_force, damping), POL_OPTIONAL, rates_rule, NULL},
    {"law", pol_read_choice, offsetof(pol_model_force, law), POL_OPTIONAL, "", &spring_laws},
    {"length", pol_read_number, offsetof(pol_model_force, length), POL_OPTIONAL,
     pol_not_negative_rule, &pol_not_negative},
    {"actuator", pol_read_effort, offsetof(pol_model_force, actuator), POL_OPTIONAL,
     "must be a number or an expression, which is a text", NULL},
    {"coefficient", pol_read_number, offsetof(pol_model_force, coefficient), POL_OPTIONAL,
     pol_not_negative_rule, &pol_not_negative},
    {"rotational_stiffness", pol_read_rates, offsetof(pol_model_force, rotational_stiffness),
     POL_OPTIONAL, rates_rule, NULL},
    {"rotational_damping", pol_read_rates, offsetof(pol_model_force, rotational_damping),
     POL_OPTIONAL, rates_rule, NULL},
    {"preload", pol_read_vector, offsetof(pol_model_force, preload), POL_OPTIONAL, pol_vector_rule,
     NULL},
    {"preload_torque", pol_read_vector, offsetof(pol_model_force, preload_torque), POL_OPTIONAL,
     pol_vector_rule, NULL},
    {"scale", pol_read_object, offsetof(pol_model_force, scale), POL_OPTIONAL, "",
     &pol_function_kind},
    {"joint", pol_read_reference, offsetof(pol_model_force, joint), POL_OPTIONAL,
     "must be the name of a joint", "joints"},
    {"coordinate", pol_read_text, offsetof(pol_model_force, coordinate_key), POL_OPTIONAL,
     "must be a text such as \"rotation\"", NULL},
    {"rest", pol_read_number, offsetof(pol_model_force, rest), POL_OPTIONAL, pol_number_rule, NULL},
    {.key = NULL},
};

/* The keys beside name and type.  A "marker" may stand for a body, "bodies" for markers, if the
 * type has them. */
static const pol_type_keys force_keys[] = {
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

/* Whether another key stands in the place of a required one. */
static int is_replaced(const pol_place *place, const pol_type_keys *keys, const char *key)
{
  const char *other = NULL;
  if (strcmp(key, "body") == 0) other = "marker";
  if (strcmp(key, "markers") == 0) other = "bodies";
  return other && pol_is_listed(other, keys->optional) && pol_given(place, other);
}

/* What the type does not have must not be given; what it must have, must. */
static void check_force_keys(pol_reader *reader, const pol_place *place, const pol_type_keys *keys)
{
  static const char *const common[] = {"name", "type", NULL};
  pol_forbid_others(reader, place, force_fields, common, keys);
  for (const pol_field *field = force_fields; field->key; field++)
    if (pol_is_listed(field->key, keys->required) && !pol_given(place, field->key) &&
        !is_replaced(place, keys, field->key))
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
    pol_forbid(reader, place, points, "must not be given without \"bodies\"");
    if (pol_given(place, "markers")) pol_check_different_bodies(reader, place, force->markers);
    return;
  }
  pol_forbid(reader, place, markers, "must not stand beside \"bodies\"");
  if (force->bodies[0] != POL_NOWHERE && force->bodies[0] == force->bodies[1])
    pol_report(reader, &bodies, "", "must be two different bodies");
  if (pol_given(place, "points"))
    pol_forbid(reader, place, global, "must not stand beside \"points\"");
  else if (!pol_given(place, "points_global"))
    pol_report_missing(reader, place, force_fields, "points",
                       "a point on each body, or \"points_global\" instead");
}

/* A spring-damper acts along one line, a joint-spring on one coordinate. */
static void check_spring(pol_reader *reader, const pol_place *place, const pol_model_force *force)
{
  const char *article = force_keys[force->type].article;
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
  if (marker.value) pol_forbid(reader, place, others, "must not stand beside \"marker\"");
  if (frame.value && force->frame == POL_MODEL_MARKER_AXES && !marker.value)
    pol_report(reader, &frame, "", "must be \"global\" or \"body\" without a \"marker\"");
  else if (frame.value && force->frame == POL_MODEL_MARKER_AXES && has_expressions(force))
    pol_report(reader, &frame, "", "must be \"global\" or \"body\" where there are expressions");
  const char *body = marker.value ? pol_body_of_marker(place, force->marker) : NULL;
  if (body && strcmp(body, pol_ground_name) == 0)
    pol_report(reader, &marker, "", "must be on a body: the ground does not move");
}

/* A bushing holds rotations. */
static void check_rigid_markers(pol_reader *reader, const pol_place *place, const int markers[2])
{
  const pol_place at = pol_place_key(place, "markers");
  for (size_t i = 0; i < 2; i++) {
    const pol_place item = pol_place_item(&at, i);
    if (pol_point_mass_of_marker(reader, place, markers[i]))
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
  if (by_marker ? !pol_point_mass_of_marker(reader, place, force->marker)
                : !pol_point_mass(place, force->body))
    return;
  if (force->type == POL_APPLIED_TORQUE)
    pol_report(reader, &body, "", "must be a rigid body: a point mass takes no torque");
  else
    pol_forbid(reader, place, rigid_keys, "must not be given: the body is a point mass");
}

static void check_force(pol_reader *reader, const pol_place *place, void *object, int sound)
{
  (void)sound;
  pol_model_force *force = object;
  force->given_anchor = pol_given(place, "anchor");
  force->given_length = pol_given(place, "length");
  if (!pol_given(place, "type") || force->type < 0) return;
  check_force_keys(reader, place, &force_keys[force->type]);
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
    pol_check_different_bodies(reader, place, force->markers);
    check_rigid_markers(reader, place, force->markers);
  }
  check_force_on_point(reader, place, force);
}

const pol_kind pol_force_kind = {
    .rule = "must be an object that describes a force",
    .fields = force_fields,
    .size = sizeof(pol_model_force),
    .check = check_force,
};
