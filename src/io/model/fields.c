/* The keys of a model file, one table for each kind of object.
 *
 * A new key is one line here: what its value is, where it goes (most go straight into a struct of
 * the library), which types have it, and what it means.  The reader, the JSON Schema, the tables of
 * docs/model-format.md and the completion of --set follow; `make reference` writes the files.
 *
 * A new type of joint or force is known by its name in the library; the lists of types below say
 * which keys it has.  A new kind of object is a table, its poli_kind, and a line in the table of
 * the object that holds it. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "io/model/fields.h"

/* --- ranges and choices ----------------------------------------------------------------------- */

const poli_number_range poli_positive = {0.0, HUGE_VAL, 1, "must be a positive number", "above 0"};
const poli_number_range poli_not_negative = {0.0, HUGE_VAL, 0, "must be a non-negative number",
                                             "non-negative"};
const poli_number_range poli_library_range[POLI_NUM_ELEMENTS] = {{.rule = NULL}};

WORDS(body_types, "rigid", "point");
WORDS(input_times, "end", "start");
WORDS(directions, "rising", "falling", "both");
NAMES(shape_types, pol_shape_type_name((pol_shape_type)number));
NAMES(joint_coordinates, number < POL_DRIVE_X ? pol_coordinate_name((pol_coordinate)number) : NULL);
NAMES(force_types,
      number >= POL_CALLBACK_FORCE ? NULL : pol_force_type_name((pol_force_type)number));
NAMES(force_frames,
      number == POLI_MODEL_MARKER_AXES ? "marker" : pol_force_frame_name((pol_force_frame)number));
NAMES(spring_laws, pol_spring_law_name((pol_spring_law)number));
NAMES(function_types, pol_function_type_name((pol_function_type)number));
NAMES(coordinates, pol_coordinate_name((pol_coordinate)number));
NAMES(actions, pol_event_action_name((pol_event_action)number));

/* The lists in which references are looked up. */
const char *const poli_list_of_bodies[] = {"bodies"};
const char *const poli_list_of_markers[] = {"markers"};
static const char *const list_of_joints[] = {"joints"};

/* --- rotations -------------------------------------------------------------------------------- */

#define AT(member) offsetof(poli_rotation_keys, member)

static const poli_field rotation_fields[] = {
    {"axis", &poli_direction, AT(axis), .needed_by = "angle", .missing = "\"angle\" needs it",
     .help = "of any length; the rotation is right-handed"},
    {"angle", &poli_number, AT(angle), .rule = "must be a number, the angle in radians",
     .needed_by = "axis", .missing = "\"axis\" needs it, in radians", .unit = "rad",
     .help = "about the axis"},
    {"quaternion", &poli_quaternion, AT(quaternion),
     .help = "of length 1, within 1e-6; then normalised"},
    {"matrix", &poli_matrix, AT(matrix),
     .help = "orthogonal within 1e-6, determinant 1; column i is the turned axis i"},
    {"rotation_vector", &poli_vector, AT(rotation_vector), .unit = "rad",
     .help = "angle times unit axis"},
    {.key = NULL},
};

#undef AT

const poli_kind poli_rotation_kind =
    KIND("rotation", "must be an object such as {\"axis\": [0, 0, 1], \"angle\": 0.5}",
         rotation_fields, sizeof(poli_rotation_keys), .check = poli_check_rotation,
         .schema = "{'oneOf': [{'required': ['axis']}, {'required': ['quaternion']}, "
                   "{'required': ['matrix']}, {'required': ['rotation_vector']}]}");

/* --- shapes ----------------------------------------------------------------------------------- */

#define AT(member) offsetof(poli_model_shape, member)
#define ROUND (T(POL_CYLINDER) | T(POL_CONE))

static const poli_field shape_fields[] = {
    {"type", &poli_choice, AT(shape.type), &shape_types, "must be a type of shape, such as \"box\"",
     .required = POLI_ALWAYS},
    {"size", &poli_vector, AT(shape.size), &poli_positive, "must be a list of 3 positive numbers",
     ONLY(T(POL_BOX)), .unit = "m", .help = "edges along x, y and z"},
    {"radius", &poli_number, AT(shape.radius), &poli_positive, ONLY(ROUND | T(POL_SPHERE)),
     .unit = "m"},
    {"length", &poli_number, AT(shape.length), &poli_positive, ONLY(ROUND), .unit = "m"},
    {"axis", &poli_direction, AT(axis), .types = ROUND, .not_beside = "rotation",
     .standard = "[0, 0, 1]", .help = "in body axes; points to the tip of a cone"},
    {"file", &poli_mesh_file, AT(file), ONLY(T(POL_MESH)),
     .help = "STL, OBJ or Collada file (`.stl`, `.obj`, `.dae`) of at most 256 MB, relative to the "
             "folder of the "
             "model file"},
    {"scale", &poli_number, AT(shape.scale), &poli_positive, .types = T(POL_MESH), .unit = "m",
     .standard = "1", .help = "metres per unit of the file"},
    {"position", &poli_vector, AT(shape.position), .unit = "m", .standard = "[0, 0, 0]",
     .help = "of its centre (mesh: of its origin), from the centre of mass in body axes; ground: "
             "global axes"},
    {"rotation", &poli_rotation, AT(shape.rotation), .standard = "none",
     .help = "rotates body axes into shape axes"},
    {"density", &poli_number, AT(density), &poli_not_negative, .unit = "kg/m^3",
     .standard = "that of the body",
     .help = "for [mass and inertia](#mass-and-inertia-from-shapes); 0: the shape has no mass"},
    {"color", &poli_color, AT(shape.color), .standard = "from the index of the body",
     .help = "red, green and blue, such as `\"#d55e00\"`"},
    {.key = NULL},
};

#undef AT

static const poli_model_shape new_shape = {
    .shape = {.scale = 1.0, .rotation = {1.0, 0.0, 0.0, 0.0}, .color = POL_NO_COLOR},
    .density = (double)NAN};

static const poli_kind shape_kind =
    KIND("shape", "must be an object that describes a shape", shape_fields,
         sizeof(poli_model_shape), &new_shape, .link = "shapes", .type_key = "type",
         .standard_type = -1, .check = poli_check_shape);

/* --- bodies ----------------------------------------------------------------------------------- */

#define AT(member) offsetof(poli_keep_keys, member)

static const poli_field keep_fields[] = {
    {"position", &poli_axes, AT(position), .help = "of the centre of mass, global axes"},
    {"rotation", &poli_axes, AT(rotation),
     .help = "components of the rotation vector from the given rotation, body axes"},
    {"velocity", &poli_axes, AT(velocity), .help = "of the centre of mass, global axes"},
    {"angular_velocity", &poli_axes, AT(angular_velocity), .help = "body axes"},
    {.key = NULL},
};

#undef AT

const poli_kind poli_keep_kind =
    KIND("keep", "must be an object such as {\"position\": [\"x\"], \"rotation\": true}",
         keep_fields, sizeof(poli_keep_keys));

#define AT(member) offsetof(poli_model_body, member)
enum { RIGID = 1 << 0 };

static const poli_field body_fields[] = {
    {"name", &poli_name, AT(body.name), .required = POLI_ALWAYS, .help = "unique"},
    {"type", &poli_choice, AT(body.point), &body_types, .standard = "\"rigid\"",
     .help = "`rigid`, or `point`: a [point mass](#point-masses)"},
    {"mass", &poli_number, AT(body.mass), &poli_library_range[POLI_BODIES], NULL, POLI_ALWAYS,
     .instead = "density", .unit = "kg"},
    {"density", &poli_number, AT(density), &poli_positive, .not_beside = "mass", .unit = "kg/m^3",
     .help = "mass and inertia are those of the [shapes](#mass-and-inertia-from-shapes)"},
    {"inertia", &poli_inertia, 0, ONLY(RIGID), .instead = "density", .unit = "kg m^2",
     .standard = "`\"auto\"` with `density`",
     .help = "about the centre of mass, in body axes: principal moments or a symmetric matrix; "
             "`\"auto\"`: that of the [shapes](#mass-and-inertia-from-shapes)"},
    {"position", &poli_vector, AT(body.position), .unit = "m", .standard = "[0, 0, 0]",
     .help = "of the centre of mass, global axes"},
    {"rotation", &poli_rotation, AT(body.rotation), .types = RIGID, .standard = "none",
     .help = "rotates global axes into body axes"},
    {"velocity", &poli_vector, AT(body.velocity), .unit = "m/s", .standard = "from the joints",
     .help = "of the centre of mass, global axes"},
    {"angular_velocity", &poli_vector, AT(body.angular_velocity), .types = RIGID, .unit = "rad/s",
     .standard = "from the joints", .help = "in body axes"},
    {"angular_velocity_global", &poli_vector, AT(angular_velocity_global), .types = RIGID,
     .not_beside = "angular_velocity", .unit = "rad/s", .standard = "from the joints",
     .help = "in global axes"},
    {"keep", &poli_keep, AT(body.keep), .standard = "nothing",
     .help = "initial values that the assembly must not change"},
    {"shapes", &poli_objects, AT(shapes), &shape_kind, "must be a list of shapes",
     .standard = "none",
     .help =
         "geometry, for the viewer and for `density` and `\"auto\"` inertia; without shapes, rods "
         "to its joints or its inertia ellipsoid are drawn"},
    {.key = NULL},
};

#undef AT

static const char *const bodies[POLI_MAX_TYPES] = {"a rigid body", "a point mass"};
static const poli_model_body new_body = {.body = {.rotation = {1.0, 0.0, 0.0, 0.0}},
                                         .density = (double)NAN};

static const poli_kind body_kind =
    KIND("body", "must be an object that describes a body", body_fields, sizeof(poli_model_body),
         &new_body, .at_least = 1, .link = "bodies", .type_key = "type", .articles = bodies,
         .check = poli_check_body);

/* --- markers ---------------------------------------------------------------------------------- */

static const poli_field marker_fields[] = {
    {"name", &poli_name, offsetof(pol_marker, name), .required = POLI_ALWAYS,
     .help = "unique among markers"},
    {"body", &poli_reference, offsetof(pol_marker, body), poli_list_of_bodies,
     "must be the name of a body or \"ground\"", POLI_ALWAYS, .help = "a body or `\"ground\"`"},
    {"position", &poli_vector, offsetof(pol_marker, position), .unit = "m", .standard = "[0, 0, 0]",
     .help = "from the centre of mass, in body axes; ground: global; on a point mass zero"},
    {"rotation", &poli_rotation, offsetof(pol_marker, rotation), .standard = "none",
     .help = "rotates body axes into marker axes"},
    {.key = NULL},
};

static const pol_marker new_marker = {.body = POL_NOT_FOUND, .rotation = {1.0, 0.0, 0.0, 0.0}};

static const poli_kind marker_kind =
    KIND("marker", "must be an object that describes a marker", marker_fields, sizeof(pol_marker),
         &new_marker, .link = "markers");

/* --- functions of time ------------------------------------------------------------------------ */

#define AT(member) offsetof(poli_model_function, member)
enum { STEPS = T(POL_STEP) | T(POL_SPEED) };

static const poli_field function_fields[] = {
    {"type", &poli_choice, AT(plain.type), &function_types,
     "must be a type of function, such as \"harmonic\"", POLI_ALWAYS, .instead = "expression",
     .help = "a type of function"},
    {"value", &poli_number, AT(plain.offset), ONLY(T(POL_CONSTANT))},
    {"offset", &poli_number, AT(plain.offset), .types = T(POL_HARMONIC) | T(POL_SPEED),
     .standard = "0", .help = "mean value; `speed`: value at t = 0"},
    {"amplitude", &poli_number, AT(plain.amplitude), ONLY(T(POL_HARMONIC))},
    {"frequency", &poli_number, AT(plain.frequency), ONLY(T(POL_HARMONIC)), .unit = "Hz"},
    {"phase", &poli_number, AT(plain.phase), .types = T(POL_HARMONIC), .unit = "rad",
     .standard = "0"},
    {"coefficients", &poli_numbers, AT(coefficients), ONLY(T(POL_POLYNOMIAL)),
     .help = "of 1, t, t^2, ..."},
    {"from", &poli_number, AT(plain.from), .types = STEPS, .standard = "0",
     .help = "value until t0; `speed`: rate until t0"},
    {"to", &poli_number, AT(plain.to), ONLY(STEPS),
     .help = "value after t1; `speed`: rate after t1"},
    {"t0", &poli_number, AT(plain.t0), .types = STEPS, .unit = "s", .standard = "0"},
    {"t1", &poli_number, AT(plain.t1), ONLY(STEPS), .unit = "s", .help = "above t0"},
    {"times", &poli_two_numbers, AT(times), ONLY(T(POL_TABLE)), .unit = "s", .help = "ascending"},
    {"values", &poli_two_numbers, AT(values), ONLY(T(POL_TABLE)), .help = "one per time"},
    {"slopes", &poli_pair, AT(plain.slopes), .types = T(POL_TABLE), .standard = "natural spline",
     .help = "rates at the first and last time"},
    {"expression", &poli_time_expression, AT(plain.expression), ONLY(T(POL_EXPRESSION)),
     .help = "of the time `t`, such as `0.1*sin(2*pi*3*t)`"},
    {.key = NULL},
};

#undef AT

const poli_kind poli_function_kind =
    KIND("function", "must be an object that describes a function of time", function_fields,
         sizeof(poli_model_function), .link = "functions-of-time", .type_key = "type",
         .standard_type = POL_EXPRESSION, .noun = " function", .check = poli_check_function);

/* --- forces ----------------------------------------------------------------------------------- */

#define AT(member) offsetof(poli_model_force, member)
enum {
  APPLIED = T(POL_APPLIED_FORCE) | T(POL_APPLIED_TORQUE),
  SPRINGS = T(POL_SUPPORT) | T(POL_SPRING_DAMPER) | T(POL_JOINT_SPRING) | T(POL_BUSHING),
  ON_BODY = APPLIED | T(POL_SUPPORT) | T(POL_DRAG),
  BETWEEN = T(POL_SPRING_DAMPER) | T(POL_BUSHING),
  ACTUATED = T(POL_SPRING_DAMPER) | T(POL_JOINT_SPRING)
};

static const poli_field force_fields[] = {
    {"name", &poli_name, AT(force.name), .required = POLI_ALWAYS,
     .help = "unique among forces, joints and bodies"},
    {"type", &poli_choice, AT(force.type), &force_types,
     "must be a type of force, such as \"support\"", POLI_ALWAYS, .help = "a type of force"},
    {"body", &poli_moving_body, AT(force.body), poli_list_of_bodies, ONLY(ON_BODY),
     .instead = "marker", .not_beside = "marker", .help = "a body, not the ground"},
    {"marker", &poli_reference, AT(marker), poli_list_of_markers, "must be the name of a marker",
     .types = APPLIED, .help = "a marker on a body, instead of `body` and `point`"},
    {"markers", &poli_references, AT(force.marker), poli_list_of_markers,
     "must be a list of 2 names of markers", ONLY(BETWEEN), .instead = "bodies",
     .not_beside = "bodies",
     .help = "markers on different bodies (or the ground); those of a `spring-damper` must not "
             "coincide"},
    {"bodies", &poli_references, AT(bodies), poli_list_of_bodies,
     "must be a list of 2 names of bodies or \"ground\"", .types = T(POL_SPRING_DAMPER),
     .help = "two different bodies or `ground`, instead of `markers`"},
    {"points", &poli_points, AT(points), .types = T(POL_SPRING_DAMPER), .instead = "points_global",
     .needed_by = "bodies", .only_with = "bodies",
     .missing = "a point on each body, or \"points_global\" instead", .unit = "m",
     .help = "a point on each, from its centre of mass in body axes; on the ground in global "
             "axes"},
    {"points_global", &poli_points, AT(points_global), .types = T(POL_SPRING_DAMPER),
     .not_beside = "points", .only_with = "bodies", .unit = "m",
     .help = "both in the initial configuration, in global axes"},
    {"force", &poli_efforts, AT(force), ONLY(T(POL_APPLIED_FORCE)), .unit = "N"},
    {"torque", &poli_efforts, AT(force), ONLY(T(POL_APPLIED_TORQUE)), .unit = "N m"},
    {"frame", &poli_choice, AT(force.frame), &force_frames, .types = APPLIED,
     .standard = "\"global\"",
     .help = "axes of the vector: `global` (fixed direction); `body` or `marker` (rotates with the "
             "body)"},
    {"point", &poli_vector, AT(force.point), .types = T(POL_APPLIED_FORCE) | T(POL_SUPPORT),
     .not_beside = "marker", .unit = "m", .standard = "[0, 0, 0]",
     .help = "point of application, from the centre of mass in body axes"},
    {"anchor", &poli_vector, AT(force.anchor), .types = T(POL_SUPPORT), .unit = "m",
     .standard = "the point's initial position",
     .help = "position of the point with relaxed springs, global axes"},
    {"stiffness", &poli_rates, AT(force.stiffness), ONLY(SPRINGS),
     .unit = "N/m; with `squared-length` N/m^3; on an angle N m/rad",
     .help = "non-negative; one number, or three: `support` per global axis, `bushing` per axis of "
             "the first marker"},
    {"damping", &poli_rates, AT(force.damping), .types = SPRINGS,
     .unit = "N s/m, on an angle N m s/rad", .standard = "0",
     .help = "non-negative; one number, or three as for `stiffness`"},
    {"law", &poli_choice, AT(force.law), &spring_laws, .types = T(POL_SPRING_DAMPER),
     .standard = "\"linear\"",
     .help = "`linear`: S = k (l - length), energy k (l - length)^2 / 2; `squared-length`: S = 2 k "
             "l (l^2 - length^2), energy k (l^2 - length^2)^2 / 2"},
    {"length", &poli_number, AT(force.length), &poli_library_range[POLI_FORCES],
     .types = T(POL_SPRING_DAMPER), .unit = "m", .standard = "initial distance",
     .help = "of the relaxed spring"},
    {"actuator", &poli_effort, AT(force), .types = ACTUATED, .unit = "N, on an angle N m",
     .standard = "0",
     .help = "`spring-damper`: force that pushes the markers apart; `joint-spring`: force or "
             "torque towards increasing values of the coordinate"},
    {"coefficient", &poli_number, AT(force.coefficient), &poli_library_range[POLI_FORCES],
     ONLY(T(POL_DRAG)), .unit = "N s^2/m^2"},
    {"rotational_stiffness", &poli_rates, AT(force.rotational_stiffness), .types = T(POL_BUSHING),
     .unit = "N m/rad", .standard = "0",
     .help = "non-negative, about each axis of the first marker"},
    {"rotational_damping", &poli_rates, AT(force.rotational_damping), .types = T(POL_BUSHING),
     .unit = "N m s/rad", .standard = "0",
     .help = "non-negative, about each axis of the first marker"},
    {"preload", &poli_vector, AT(force.preload), .types = T(POL_BUSHING), .unit = "N",
     .standard = "[0, 0, 0]",
     .help = "force on the second body if the markers coincide, in the axes of the first"},
    {"preload_torque", &poli_vector, AT(force.preload_torque), .types = T(POL_BUSHING),
     .unit = "N m", .standard = "[0, 0, 0]",
     .help = "torque on the second body if the markers coincide, in the axes of the first"},
    {"scale", &poli_function, AT(scale), &poli_function_kind,
     .types = APPLIED | T(POL_SPRING_DAMPER), .standard = "`1`",
     .help = "multiplies the `force`, the `torque`, or the `actuator` of a `spring-damper`"},
    {"joint", &poli_reference, AT(force.joint), list_of_joints, "must be the name of a joint",
     ONLY(T(POL_JOINT_SPRING)), .help = "a joint with a coordinate"},
    {"coordinate", &poli_word, AT(coordinate), &joint_coordinates,
     "must be a string such as \"rotation\"", .types = T(POL_JOINT_SPRING),
     .standard = "the only one", .help = "which coordinate of the joint"},
    {"rest", &poli_number, AT(force.rest), .types = T(POL_JOINT_SPRING), .unit = "m or rad",
     .standard = "0", .help = "coordinate of the relaxed spring; angles include full turns"},
    {.key = NULL},
};

#undef AT

static const char *const forces[POLI_MAX_TYPES] = {[POL_DRAG] = "drag"};
/* Springs along one line have one stiffness. */
static const char *force_reason(const poli_field *field, int type)
{
  return strcmp(field->key, "stiffness") == 0 &&
                 (type == POL_SPRING_DAMPER || type == POL_JOINT_SPRING)
             ? poli_number_words(POLI_NOT_NEGATIVE_NUMBER)
             : NULL;
}

static const poli_model_force new_force = {.force = {.type = (pol_force_type)-1,
                                                     .body = POL_NOT_FOUND,
                                                     .marker = {POL_NOT_FOUND, POL_NOT_FOUND},
                                                     .joint = POL_NOT_FOUND,
                                                     .anchor = {(double)NAN},
                                                     .length = (double)NAN},
                                           .marker = POL_NOT_FOUND,
                                           .bodies = {POL_NOT_FOUND, POL_NOT_FOUND},
                                           .points_global = {(double)NAN}};

static const poli_kind force_kind =
    KIND("force", "must be an object that describes a force", force_fields,
         sizeof(poli_model_force), &new_force, .link = "forces", .type_key = "type",
         .standard_type = -1, .reason = force_reason, .articles = forces, .check = poli_check_force,
         .schema = "{'allOf': [{'if': {'properties': {'type': {'enum': ['spring-damper', "
                   "'joint-spring']}}, 'required': ['type']}, 'then': {'properties': "
                   "{'stiffness': {'type': ['number', 'string']}, 'damping': {'type': ['number', "
                   "'string']}}}}, {'if': "
                   "{'properties': {'frame': {'const': 'marker'}}, 'required': ['frame']}, "
                   "'then': {'required': ['marker']}}], 'properties': {'bodies': "
                   "{'uniqueItems': true}, 'markers': {'uniqueItems': true}}}");

/* --- drives and couplings --------------------------------------------------------------------- */

#define AT(member) offsetof(poli_model_drive, member)

static const poli_field drive_fields[] = {
    {"name", &poli_name, AT(drive.name), .required = POLI_ALWAYS,
     .help = "unique among drives, forces, joints and bodies"},
    {"joint", &poli_reference, AT(drive.joint), list_of_joints, "must be the name of a joint",
     POLI_ALWAYS, .instead = "marker", .not_beside = "marker",
     .missing = "must be the name of a joint, or \"marker\" instead",
     .help = "a joint with this free coordinate"},
    {"marker", &poli_reference, AT(marker), poli_list_of_markers, "must be the name of a marker",
     .help = "a marker on a body, instead of `joint`"},
    {"reference", &poli_reference, AT(reference), poli_list_of_markers,
     "must be the name of a marker", .only_with = "marker",
     .standard = "the global axes and origin",
     .help = "a marker on another body or the ground: origin and axes of the coordinate"},
    {"coordinate", &poli_choice, AT(drive.coordinate), &coordinates,
     "must be a coordinate, such as \"rotation\"", POLI_ALWAYS,
     .help = "the prescribed coordinate; at most one drive per coordinate"},
    {"function", &poli_function, AT(function), &poli_function_kind, NULL, POLI_ALWAYS,
     .unit = "rad or m", .help = "value of the coordinate"},
    {.key = NULL},
};

#undef AT

static const poli_model_drive new_drive = {
    .drive = {.joint = POL_NOT_FOUND}, .marker = POL_NOT_FOUND, .reference = POL_NOT_FOUND};

static const poli_kind drive_kind =
    KIND("drive", "must be an object that describes a drive", drive_fields,
         sizeof(poli_model_drive), &new_drive, .link = "drives",
         .schema = "{'if': {'required': ['marker']}, 'then': {'properties': {'coordinate': "
                   "{'enum': ['x', 'y', 'z']}}}, 'else': {'properties': {'coordinate': {'not': "
                   "{'enum': ['x', 'y', 'z']}}}}}");

static const poli_field coupling_fields[] = {
    {"name", &poli_name, offsetof(pol_coupling, name), .required = POLI_ALWAYS,
     .help = "unique among couplings, drives, forces, joints and bodies"},
    {"joints", &poli_references, offsetof(pol_coupling, joint), list_of_joints,
     "must be a list of 2 names of joints", POLI_ALWAYS,
     .help = "joints of type `revolute`, `prismatic` or `cylindrical`; the same joint twice for "
             "a screw"},
    {"coordinates", &poli_choice_pair, offsetof(pol_coupling, coordinate), &joint_coordinates,
     "must be a list of 2 coordinates, \"rotation\" or \"translation\"",
     .standard = "[\"rotation\", \"rotation\"]", .help = "one per joint, as for [drives](#drives)"},
    {"factors", &poli_pair, offsetof(pol_coupling, factor), .required = POLI_ALWAYS,
     .help = "f1, f2: not zero"},
    {"reference", &poli_pair, offsetof(pol_coupling, reference), .unit = "rad or m",
     .standard = "from the initial configuration",
     .help = "r1, r2: corresponding values of the coordinates"},
    {.key = NULL},
};

static const pol_coupling new_coupling = {.joint = {POL_NOT_FOUND, POL_NOT_FOUND},
                                          .reference = {(double)NAN}};

static const poli_kind coupling_kind =
    KIND("coupling", "must be an object that describes a coupling", coupling_fields,
         sizeof(pol_coupling), &new_coupling, .link = "couplings",
         .schema = "{'properties': {'factors': {'items': {'not': {'const': 0}}}}}");

/* --- variables, states, events ---------------------------------------------------------------- */

static const poli_field variable_fields[] = {
    {"name", &poli_name, offsetof(pol_variable, name), .required = POLI_ALWAYS,
     .help = "unique among variables and states"},
    {"expression", &poli_expression, offsetof(pol_variable, expression), NULL,
     "must be an expression, such as \"2*hinge.angle\"", POLI_ALWAYS, .unit = "user-defined",
     .help = "such as `target - hinge.angle`"},
    {"input", &poli_flag, offsetof(pol_variable, input), .standard = "false",
     .help = "an [input](embedding.md#inputs): C programs may change its value between steps; the "
             "expression is its first value and must be constant"},
    {"unit", &poli_text, offsetof(pol_variable, unit), .standard = "none",
     .help = "of its values, for results and plots, written as that of a "
             "[parameter](#parameters)"},
    {.key = NULL},
};

static const poli_kind variable_kind =
    KIND("variable", "must be an object that describes a variable", variable_fields,
         sizeof(pol_variable), .link = "variables");

static const poli_field state_fields[] = {
    {"name", &poli_name, offsetof(pol_state_variable, name), .required = POLI_ALWAYS,
     .help = "unique among variables and states"},
    {"initial", &poli_number, offsetof(pol_state_variable, initial), .unit = "user-defined",
     .standard = "0", .help = "the value at t = 0"},
    {"rate", &poli_expression, offsetof(pol_state_variable, rate), NULL,
     "must be an expression, such as \"(hinge.rate - filtered)/0.01\"", POLI_ALWAYS,
     .unit = "user-defined per s",
     .help = "its time derivative, such as `(hinge.rate - filtered)/0.01`"},
    {"unit", &poli_text, offsetof(pol_state_variable, unit), .standard = "none",
     .help = "of its values, for results and plots, written as that of a "
             "[parameter](#parameters)"},
    {.key = NULL},
};

static const poli_kind state_kind =
    KIND("state", "must be an object that describes a state", state_fields,
         sizeof(pol_state_variable), .link = "states");

#define AT(member) offsetof(poli_model_event, member)

static const poli_field event_fields[] = {
    {"name", &poli_name, AT(name), .required = POLI_ALWAYS, .help = "unique among events"},
    {"expression", &poli_expression, AT(expression), NULL,
     "must be an expression, such as \"ball.position.z - 0.1\"", POLI_ALWAYS,
     .help = "the event occurs when it changes sign"},
    {"action", &poli_choice, AT(action), &actions, .standard = "\"record\""},
    {"set", &poli_changes, AT(changes), ONLY(T(POL_EVENT_RESET)),
     .missing = "an object with the changes of the reset",
     .forbidden = "must not be given without \"action\": \"reset\"",
     .help = "new values of `BODY.velocity.x`, `BODY.angular_velocity.x` (body axes; `.y`, "
             "`.z`) or a state, each an expression of the values just before the event"},
    {"direction", &poli_choice, AT(direction), &directions, NULL, T(POL_EVENT_RESET),
     .missing = "\"rising\" or \"falling\"", .standard = "\"both\"",
     .help = "`rising`, `falling` or `both`; a reset needs one of the first two"},
    {.key = NULL},
};

#undef AT

static const poli_model_event new_event = {.direction = POLI_BOTH};

static const poli_kind event_kind =
    KIND("event", "must be an object that describes an event", event_fields,
         sizeof(poli_model_event), &new_event, .link = "events", .type_key = "action",
         .standard_type = POL_EVENT_RECORD, .check = poli_check_event,
         .schema = "{'if': {'properties': {'action': {'const': 'reset'}}, 'required': "
                   "['action']}, 'then': {'properties': {'direction': {'enum': ['rising', "
                   "'falling']}}}}");

#define AT(member) offsetof(poli_model_controller, member)

static const poli_field controller_fields[] = {
    {"name", &poli_name, AT(name), .required = POLI_ALWAYS, .help = "unique among controllers"},
    {"fmu", &poli_data_file, AT(fmu), NULL, "must be the name of an FMU (a file that ends in .fmu)",
     POLI_ALWAYS,
     .help =
         "[FMU](fmi.md#fmus-as-controllers) for co-simulation by FMI 2.0 or 3.0, relative to the "
         "folder of the model file"},
    {"period", &poli_number, AT(period), &poli_positive, NULL, POLI_ALWAYS, .unit = "s",
     .help = "time between its steps; steps of the simulation end there"},
    {"inputs", &poli_expression_map, AT(inputs), .standard = "none",
     .help = "of the FMU by name, each an expression of quantities of the model, such as "
             "`{\"angle\": \"hinge.angle\"}`"},
    {"outputs", &poli_variable_map, AT(outputs), .required = POLI_ALWAYS,
     .help = "of the FMU by name, each with the variable that it sets, which has `\"input\": "
             "true`"},
    {"parameters", &poli_number_map, AT(parameters), .standard = "those of the FMU",
     .help = "start values of the FMU by name, numbers or expressions of "
             "[parameters](#parameters); a Boolean is 0 or 1"},
    {"inputs_at", &poli_choice, AT(inputs_at), &input_times, .standard = "\"end\"",
     .help = "in a step of the FMU its inputs have the values of the `end` or of the `start` of "
             "this step"},
    {.key = NULL},
};

#undef AT

static const poli_kind controller_kind =
    KIND("controller", "must be an object that describes a controller", controller_fields,
         sizeof(poli_model_controller), .link = "controllers", .check = poli_check_controller);

/* --- parameters and included files ------------------------------------------------------------ */

#define AT(member) offsetof(poli_parameter_keys, member)

static const poli_field parameter_fields[] = {
    {"value", &poli_parameter_value, 0, NULL, "must be a number or an expression", POLI_ALWAYS,
     .help = "may use other parameters"},
    {"unit", &poli_text, AT(unit), .standard = "not checked",
     .help = "of m, kg, s, rad, A, K, N, J, W, Pa, Hz, V and ohm, such as `kg m^2` or `N s/m`"},
    {"description", &poli_text, AT(description), .standard = "\"\""},
    {"min", &poli_parameter_value, 0, .standard = "none", .help = "smallest allowed value"},
    {"max", &poli_parameter_value, 0, .standard = "none", .help = "largest allowed value"},
    {.key = NULL},
};

#undef AT

const poli_kind poli_parameter_kind =
    KIND("parameter", "must be a number, an expression or an object with a \"value\"",
         parameter_fields, sizeof(poli_parameter_keys));

#define AT(member) offsetof(poli_include_keys, member)

static const poli_field include_fields[] = {
    {"file", &poli_text, AT(file), .rule = "must be the name of a model file",
     .required = POLI_ALWAYS, .help = "relative to the folder of this file"},
    {"prefix", &poli_text, AT(prefix), .standard = "\"\"",
     .help = "before each name that the file gives to an object"},
    {"position", &poli_vector, AT(position), .unit = "m", .standard = "[0, 0, 0]",
     .help = "of the file's origin, global axes"},
    {"rotation", &poli_rotation, AT(rotation), .standard = "none",
     .help = "turns the file's axes from the global ones, about its origin"},
    {"parameters", &poli_number_map, AT(parameters), .standard = "those of its file",
     .help = "values of its parameters"},
    {"connect", &poli_name_map, AT(connect), .standard = "the same names",
     .help = "objects outside for names that the file uses but does not have"},
    {.key = NULL},
};

#undef AT

const poli_kind poli_include_kind =
    KIND("include", "must be an object with a \"file\"", include_fields, sizeof(poli_include_keys));

/* --- the whole file --------------------------------------------------------------------------- */

#define AT(member) offsetof(poli_model_data, member)

static const poli_field model_fields[] = {
    {"$schema", &poli_text, AT(schema), .help = "for editors; ignored"},
    {"name", &poli_text, AT(name), .standard = "\"\"", .help = "title of the model"},
    {"parameters", &poli_parameter_list, 0, &poli_parameter_kind, .standard = "none",
     .help = "[names for numbers](#parameters), which every number of the file may use"},
    {"include", &poli_includes, 0, &poli_include_kind, .standard = "none",
     .help = "[other files](#included-files), whose objects are added to the lists"},
    {"files", &poli_expanded, 0, .standard = "none",
     .help = "models by the names that `include` gives them, instead of files on disk; results "
             "contain them"},
    {"gravity", &poli_vector, AT(gravity), .unit = "m/s^2", .standard = "[0, 0, 0]",
     .help = "global axes; **without it there is no gravity**"},
    {"bodies", &poli_objects, AT(bodies), &body_kind, "must be a list of one or more bodies",
     .standard = "required without `include`, `beams` or `flexible_bodies`",
     .help = "at least one; the inertial frame is called `ground` and is not listed"},
    {"markers", &poli_objects, AT(markers), &marker_kind, "must be a list of markers",
     .standard = "none", .help = "frames fixed in a body or in the ground"},
    {"joints", &poli_objects, AT(joints), &poli_joint_kind, "must be a list of joints",
     .standard = "none", .help = "connections between bodies and to the ground"},
    {"forces", &poli_objects, AT(forces), &force_kind, "must be a list of forces",
     .standard = "none", .help = "forces and torques on and between bodies, besides gravity"},
    {"beams", &poli_objects, AT(beams), &poli_beam_kind, "must be a list of beams",
     .standard = "none", .help = "slender elastic bodies"},
    {"flexible_bodies", &poli_objects, AT(flexible), &poli_flexible_kind,
     "must be a list of flexible bodies", .standard = "none",
     .help = "elastic bodies of any shape, from finite elements"},
    {"drives", &poli_objects, AT(drives), &drive_kind, "must be a list of drives",
     .standard = "none", .help = "coordinates prescribed as functions of time"},
    {"couplings", &poli_objects, AT(couplings), &coupling_kind, "must be a list of couplings",
     .standard = "none", .help = "gears, racks and screws"},
    {"variables", &poli_objects, AT(variables), &variable_kind, "must be a list of variables",
     .standard = "none", .help = "names for expressions"},
    {"states", &poli_objects, AT(states), &state_kind, "must be a list of states",
     .standard = "none", .help = "quantities whose rates are expressions"},
    {"events", &poli_objects, AT(events), &event_kind, "must be a list of events",
     .standard = "none",
     .help =
         "zeros of expressions, which are recorded, end the run, or reset velocities and states"},
    {"controllers", &poli_objects, AT(controllers), &controller_kind,
     "must be a list of controllers", .standard = "none",
     .help = "FMUs that read quantities and set variables at equal intervals"},
    {"shapes", &poli_objects, AT(shapes), &shape_kind, "must be a list of shapes",
     .standard = "none", .help = "shapes of the ground, for the viewer"},
    {"simulation", &poli_object, AT(simulation), &poli_simulation_kind,
     "must be an object with at least \"step\" or \"rtol\", and \"end\"", POLI_ALWAYS,
     .help = "settings of the run"},
    {.key = NULL},
};

const poli_kind poli_model_kind =
    KIND("model", "must be an object with \"bodies\" and \"simulation\"", model_fields,
         sizeof(poli_model_data), .check = poli_check_model,
         .schema = "{'anyOf': [{'required': ['bodies']}, {'required': ['include']}, {'required': "
                   "['beams']}, {'required': ['flexible_bodies']}]}");
