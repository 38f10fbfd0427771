/* Forces in a model file: their table, which keys each type has, and the rules between the keys. */
#include <string.h>

#include "io/model/parts.h"
#include "io/model/rules.h"

static const char *const not_forces_joints_or_bodies[] = {"forces", "joints", "bodies", NULL};

static const char *force_type_choice(int number)
{
  return number == POL_CALLBACK_FORCE ? NULL : pol_force_type_name((pol_force_type)number);
}

static const char *force_frame_choice(int number)
{
  return number == POLI_MODEL_MARKER_AXES ? "marker"
                                          : pol_force_frame_name((pol_force_frame)number);
}

static const char *spring_law_choice(int number)
{
  return pol_spring_law_name((pol_spring_law)number);
}

static const poli_choices force_types = {force_type_choice};
static const poli_choices force_frames = {force_frame_choice};
static const poli_choices spring_laws = {spring_law_choice};

static const char efforts_rule[] = "must be a list of 3 numbers or expressions";
static const char rates_rule[] = "must be a number or a list of 3 numbers, none negative";
static const char points_rule[] = "must be a list of 2 points, each a list of 3 numbers";

static const poli_field force_fields[] = {
    {"name", poli_read_name, offsetof(poli_model_force, name), POLI_REQUIRED, poli_name_rule,
     not_forces_joints_or_bodies},
    {"type", poli_read_choice, offsetof(poli_model_force, type), POLI_REQUIRED,
     "must be a type of force, such as \"support\"", &force_types},
    {"body", poli_read_moving_body, offsetof(poli_model_force, body), POLI_OPTIONAL,
     "must be the name of a body", "bodies"},
    {"marker", poli_read_reference, offsetof(poli_model_force, marker), POLI_OPTIONAL,
     "must be the name of a marker", "markers"},
    {"markers", poli_read_reference_pair, offsetof(poli_model_force, markers), POLI_OPTIONAL,
     "must be a list of 2 names of markers", "markers"},
    {"bodies", poli_read_reference_pair, offsetof(poli_model_force, bodies), POLI_OPTIONAL,
     "must be a list of 2 names of bodies or \"ground\"", "bodies"},
    {"points", poli_read_vector_pair, offsetof(poli_model_force, points), POLI_OPTIONAL,
     points_rule, NULL},
    {"points_global", poli_read_vector_pair, offsetof(poli_model_force, points_global),
     POLI_OPTIONAL, points_rule, NULL},
    {"force", poli_read_efforts, offsetof(poli_model_force, force), POLI_OPTIONAL, efforts_rule,
     NULL},
    {"torque", poli_read_efforts, offsetof(poli_model_force, torque), POLI_OPTIONAL, efforts_rule,
     NULL},
    {"frame", poli_read_choice, offsetof(poli_model_force, frame), POLI_OPTIONAL, "",
     &force_frames},
    {"point", poli_read_vector, offsetof(poli_model_force, point), POLI_OPTIONAL, poli_vector_rule,
     NULL},
    {"anchor", poli_read_vector, offsetof(poli_model_force, anchor), POLI_OPTIONAL,
     poli_vector_rule, NULL},
    {"stiffness", poli_read_rates, offsetof(poli_model_force, stiffness), POLI_OPTIONAL, rates_rule,
     NULL},
    {"damping", poli_read_rates, offsetof(poli_model_force, damping), POLI_OPTIONAL, rates_rule,
     NULL},
    {"law", poli_read_choice, offsetof(poli_model_force, law), POLI_OPTIONAL, "", &spring_laws},
    {"length", poli_read_number, offsetof(poli_model_force, length), POLI_OPTIONAL,
     poli_not_negative_rule, &poli_not_negative},
    {"actuator", poli_read_effort, offsetof(poli_model_force, actuator), POLI_OPTIONAL,
     "must be a number or an expression, which is a text", NULL},
    {"coefficient", poli_read_number, offsetof(poli_model_force, coefficient), POLI_OPTIONAL,
     poli_not_negative_rule, &poli_not_negative},
    {"rotational_stiffness", poli_read_rates, offsetof(poli_model_force, rotational_stiffness),
     POLI_OPTIONAL, rates_rule, NULL},
    {"rotational_damping", poli_read_rates, offsetof(poli_model_force, rotational_damping),
     POLI_OPTIONAL, rates_rule, NULL},
    {"preload", poli_read_vector, offsetof(poli_model_force, preload), POLI_OPTIONAL,
     poli_vector_rule, NULL},
    {"preload_torque", poli_read_vector, offsetof(poli_model_force, preload_torque), POLI_OPTIONAL,
     poli_vector_rule, NULL},
    {"scale", poli_read_object, offsetof(poli_model_force, scale), POLI_OPTIONAL, "",
     &poli_function_kind},
    {"joint", poli_read_reference, offsetof(poli_model_force, joint), POLI_OPTIONAL,
     "must be the name of a joint", "joints"},
    {"coordinate", poli_read_text, offsetof(poli_model_force, coordinate_key), POLI_OPTIONAL,
     "must be a text such as \"rotation\"", NULL},
    {"rest", poli_read_number, offsetof(poli_model_force, rest), POLI_OPTIONAL, poli_number_rule,
     NULL},
    {.key = NULL},
};

/* The keys beside name and type.  A "marker" may stand for a body, "bodies" for markers, if the
 * type has them. */
static const poli_type_keys force_keys[] = {
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
static int is_replaced(const poli_place *place, const poli_type_keys *keys, const char *key)
{
  const char *other = NULL;
  if (strcmp(key, "body") == 0) other = "marker";
  if (strcmp(key, "markers") == 0) other = "bodies";
  return other && poli_is_listed(other, keys->optional) && poli_given(place, other);
}

/* What the type does not have must not be given; what it must have, must. */
static void check_force_keys(poli_reader *reader, const poli_place *place,
                             const poli_type_keys *keys)
{
  static const char *const common[] = {"name", "type", NULL};
  poli_forbid_others(reader, place, force_fields, common, keys);
  for (const poli_field *field = force_fields; field->key; field++)
    if (poli_is_listed(field->key, keys->required) && !poli_given(place, field->key) &&
        !is_replaced(place, keys, field->key))
      poli_report_missing(reader, place, force_fields, field->key, field->rule);
}

/* Two markers, or two bodies with a point on each. */
static void check_spring_ends(poli_reader *reader, const poli_place *place,
                              const poli_model_force *force)
{
  static const char *const markers[] = {"markers", NULL};
  static const char *const points[] = {"points", "points_global", NULL};
  static const char *const global[] = {"points_global", NULL};
  const poli_place bodies = poli_place_key(place, "bodies");
  if (!bodies.value) {
    poli_forbid(reader, place, points, "must not be given without \"bodies\"");
    if (poli_given(place, "markers")) poli_check_different_bodies(reader, place, force->markers);
    return;
  }
  poli_forbid(reader, place, markers, "must not stand beside \"bodies\"");
  if (force->bodies[0] != POLI_NOWHERE && force->bodies[0] == force->bodies[1])
    poli_report(reader, &bodies, "", "must be two different bodies");
  if (poli_given(place, "points"))
    poli_forbid(reader, place, global, "must not stand beside \"points\"");
  else if (!poli_given(place, "points_global"))
    poli_report_missing(reader, place, force_fields, "points",
                        "a point on each body, or \"points_global\" instead");
}

/* A spring-damper acts along one line, a joint-spring on one coordinate. */
static void check_spring(poli_reader *reader, const poli_place *place,
                         const poli_model_force *force)
{
  const char *article = force_keys[force->type].article;
  const poli_place stiffness = poli_place_key(place, "stiffness");
  const poli_place damping = poli_place_key(place, "damping");
  if (force->stiffness.by_axis)
    poli_report(reader, &stiffness, "", "must be one number for %s", article);
  if (force->damping.by_axis)
    poli_report(reader, &damping, "", "must be one number for %s", article);
  if (force->type == POL_SPRING_DAMPER) check_spring_ends(reader, place, force);
}

/* Whether a component of an applied force or torque is an expression. */
static int has_expressions(const poli_model_force *force)
{
  int count = 0;
  for (int i = 0; i < 3; i++)
    count += force->force[i].expression != NULL || force->torque[i].expression != NULL;
  return count > 0;
}

/* A marker brings its body, point and axes; without it there are no axes of a marker. */
static void check_applied(poli_reader *reader, const poli_place *place,
                          const poli_model_force *force)
{
  static const char *const others[] = {"body", "point", NULL};
  const poli_place frame = poli_place_key(place, "frame"), marker = poli_place_key(place, "marker");
  if (marker.value) poli_forbid(reader, place, others, "must not stand beside \"marker\"");
  if (frame.value && force->frame == POLI_MODEL_MARKER_AXES && !marker.value)
    poli_report(reader, &frame, "", "must be \"global\" or \"body\" without a \"marker\"");
  else if (frame.value && force->frame == POLI_MODEL_MARKER_AXES && has_expressions(force))
    poli_report(reader, &frame, "", "must be \"global\" or \"body\" where there are expressions");
  const char *body = marker.value ? poli_body_of_marker(place, force->marker) : NULL;
  if (body && strcmp(body, poli_ground_name) == 0)
    poli_report(reader, &marker, "", "must be on a body: the ground does not move");
}

/* A bushing holds rotations. */
static void check_rigid_markers(poli_reader *reader, const poli_place *place, const int markers[2])
{
  const poli_place at = poli_place_key(place, "markers");
  for (size_t i = 0; i < 2; i++) {
    const poli_place item = poli_place_item(&at, i);
    if (poli_point_mass_of_marker(reader, place, markers[i]))
      poli_report(reader, &item, "", "must be on a rigid body: a point mass does not turn");
  }
}

/* A point mass takes forces where it is, and has no axes of its own. */
static void check_force_on_point(poli_reader *reader, const poli_place *place,
                                 const poli_model_force *force)
{
  static const char *const rigid_keys[] = {"point", "frame", NULL};
  const int by_marker = poli_given(place, "marker");
  const poli_place body = poli_place_key(place, by_marker ? "marker" : "body");
  if (!body.value) return;
  if (by_marker ? !poli_point_mass_of_marker(reader, place, force->marker)
                : !poli_point_mass(place, force->body))
    return;
  if (force->type == POL_APPLIED_TORQUE)
    poli_report(reader, &body, "", "must be a rigid body: a point mass takes no torque");
  else
    poli_forbid(reader, place, rigid_keys, "must not be given: the body is a point mass");
}

static void check_force(poli_reader *reader, const poli_place *place, void *object, int sound)
{
  (void)sound;
  poli_model_force *force = object;
  force->given_anchor = poli_given(place, "anchor");
  force->given_length = poli_given(place, "length");
  if (!poli_given(place, "type") || force->type < 0) return;
  check_force_keys(reader, place, &force_keys[force->type]);
  force->given_marker = poli_given(place, "marker");
  force->given_bodies = poli_given(place, "bodies");
  force->given_points = poli_given(place, "points");
  force->given_scale = poli_given(place, "scale");
  if (force->type == POL_APPLIED_FORCE || force->type == POL_APPLIED_TORQUE)
    check_applied(reader, place, force);
  if (force->type == POL_SPRING_DAMPER || force->type == POL_JOINT_SPRING)
    check_spring(reader, place, force);
  if (force->type == POL_JOINT_SPRING) poli_check_joint_spring(reader, place, force);
  if (force->type == POL_BUSHING && poli_given(place, "markers")) {
    poli_check_different_bodies(reader, place, force->markers);
    check_rigid_markers(reader, place, force->markers);
  }
  check_force_on_point(reader, place, force);
}

const poli_kind poli_force_kind = {
    .rule = "must be an object that describes a force",
    .fields = force_fields,
    .size = sizeof(poli_model_force),
    .check = check_force,
};
