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
static const poli_number_range zero_to_one = {0.0, 1.0, 0, "must be a number from 0 to 1",
                                              "0 to 1"};
static const poli_number_range vartheta_range = {
    0.0, 1.0, 0, "must be a number that is at least 0 and below 1", "0 to below 1"};
static const poli_number_range alpha_range = {-1.0 / 3.0, 0.0, 0, "must be a number from -1/3 to 0",
                                              "-1/3 to 0"};
static const poli_number_range above_zero_to_one = {
    0.0, 1.0, 1, "must be a number above 0, at most 1", "above 0, at most 1"};
static const poli_number_range from_zero = {
    0.0, INT32_MAX, 0, "must be a whole number from 0 to 2147483647", "0 to 2147483647"};
static const poli_number_range from_one = {
    1.0, INT32_MAX, 0, "must be a whole number from 1 to 2147483647", "1 to 2147483647"};

static const poli_number_range to_most_threads = {
    0.0, 256.0, 0, "must be a whole number from 0 to 256", "0 to 256"};

WORDS(body_types, "rigid", "point");
WORDS(directions, "rising", "falling", "both");
WORDS(steps, "fixed", "variable");
WORDS(initials, "given", "equilibrium");
NAMES(shape_types, pol_shape_type_name((pol_shape_type)number));
NAMES(joint_types, pol_joint_type_name((pol_joint_type)number));
NAMES(joint_frames, pol_force_frame_name((pol_force_frame)number));
NAMES(joint_coordinates, number < POL_DRIVE_X ? pol_coordinate_name((pol_coordinate)number) : NULL);
NAMES(force_types,
      number >= POL_CALLBACK_FORCE ? NULL : pol_force_type_name((pol_force_type)number));
NAMES(force_frames,
      number == POLI_MODEL_MARKER_AXES ? "marker" : pol_force_frame_name((pol_force_frame)number));
NAMES(spring_laws, pol_spring_law_name((pol_spring_law)number));
NAMES(function_types, pol_function_type_name((pol_function_type)number));
NAMES(coordinates, pol_coordinate_name((pol_coordinate)number));
NAMES(actions, pol_event_action_name((pol_event_action)number));
NAMES(methods, number == pol_method_count()  ? "auto"
               : number < pol_method_count() ? pol_method_at(number)->name
                                             : NULL);
NAMES(formulations,
      number < pol_formulation_count() ? pol_formulation_name((pol_formulation_kind)number) : NULL);
NAMES(starts, pol_start_name((pol_start)number));
NAMES(published_newtons, pol_published_newton_name((pol_published_newton)number));
NAMES(sigma_updates, pol_sigma_update_name((pol_sigma_update)number));
NAMES(redundants, pol_redundant_name((pol_redundant)number));
NAMES(guesses, pol_guess_name((pol_guess)number));
NAMES(newton_kinds, pol_newton_kind_name((pol_newton_kind)number));
NAMES(newton_stops, pol_newton_stop_name((pol_newton_stop)number));
NAMES(solvers, pol_solver_kind_name((pol_solver_kind)number));
NAMES(controllers, pol_controller_name((pol_controller)number));
static const poli_choices estimates = {pol_published_estimate_name};

/* The lists in which references are looked up. */
const char *const poli_list_of_bodies[] = {"bodies"};
static const char *const list_of_joints[] = {"joints"}, *const markers[] = {"markers"};

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
     .help = "STL or OBJ file (`.stl`, `.obj`) of at most 256 MB, relative to the folder of the "
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

/* --- what acts on the coordinates of joints --------------------------------------------------- */

#define AT(member) offsetof(pol_joint_limits, member)

static const poli_field limit_fields[] = {
    {"min", &poli_number, AT(min), .unit = "m or rad", .standard = "none",
     .help = "of the coordinate; angles include full turns"},
    {"max", &poli_number, AT(max), .unit = "m or rad", .standard = "none", .help = "above `min`"},
    {"stiffness", &poli_number, AT(stiffness), &poli_positive, .unit = "N/m or N m/rad",
     .standard = "from the inertia",
     .help = "of the stop; by default such that both bodies alone swing at 20 Hz, with a "
             "`restitution` at 100 Hz"},
    {"damping", &poli_number, AT(damping), &poli_not_negative, .unit = "N s/m or N m s/rad",
     .standard = "from the inertia",
     .help =
         "of the stop; by default 0.3 of critical damping of both bodies alone; it never pulls"},
    {"restitution", &poli_number, AT(restitution), &zero_to_one, .standard = "none",
     .help = "hard stop: an event reverses the rate and multiplies it by this"},
    {"rest_speed", &poli_number, AT(rest_speed), &poli_positive, .unit = "m/s or rad/s",
     .standard = "0.05", .only_with = "restitution",
     .help = "slower contacts are left to the spring and damper of the stop"},
    {.key = NULL},
};

#undef AT
#define AT(member) offsetof(pol_joint_friction, member)

static const poli_field friction_fields[] = {
    {"coefficient", &poli_number, AT(coefficient), &poli_not_negative, .standard = "0",
     .help = "kinetic coefficient, of the load that the reaction of the joint exerts; `revolute`, "
             "`prismatic` and `cylindrical` joints"},
    {"static_coefficient", &poli_number, AT(static_coefficient), &poli_not_negative,
     .standard = "`coefficient`", .help = "at rest; above `coefficient`: Stribeck curve"},
    {"level", &poli_number, AT(level), &poli_not_negative, .unit = "N or N m", .standard = "0",
     .help = "kinetic friction that does not depend on the reaction"},
    {"static_level", &poli_number, AT(static_level), &poli_not_negative, .unit = "N or N m",
     .standard = "`level`", .help = "the same at rest"},
    {"viscous", &poli_number, AT(viscous), &poli_not_negative, .unit = "N s/m or N m s/rad",
     .standard = "0", .help = "proportional to the rate"},
    {"radius", &poli_number, AT(radius), &poli_not_negative, .unit = "m", .standard = "0",
     .help = "of the journal; a `coefficient` on an angle needs it; on a displacement: half the "
             "width of the guide, where the torque along the axis acts"},
    {"thrust_radius", &poli_number, AT(thrust_radius), &poli_not_negative, .unit = "m",
     .standard = "0", .help = "mean radius of the collar that takes the force along the axis"},
    {"length", &poli_number, AT(length), &poli_not_negative, .unit = "m", .standard = "0",
     .help = "of the bearing or guide, whose ends take the torque across the axis; 0: no load by "
             "this torque"},
    {"stribeck_speed", &poli_number, AT(stribeck_speed), &poli_positive, .unit = "m/s or rad/s",
     .standard = "0.01", .help = "rate at which friction has fallen to kinetic by 63 %"},
    {"creep_speed", &poli_number, AT(creep_speed), &poli_positive, .unit = "m/s or rad/s",
     .standard = "0.001",
     .help = "regularisation: friction is proportional to tanh(rate / `creep_speed`)"},
    {.key = NULL},
};

#undef AT

static const poli_kind limits_kind =
    KIND("limits", "must be an object such as {\"min\": -1, \"max\": 1}", limit_fields,
         sizeof(pol_joint_limits), .check = poli_check_limits,
         .schema = "{'anyOf': [{'required': ['min']}, {'required': ['max']}]}");
static const poli_kind friction_kind = KIND(
    "friction", "must be an object such as {\"level\": 0.1}", friction_fields,
    sizeof(pol_joint_friction), .check = poli_check_friction, .schema = "{'minProperties': 1}");

/* The keys of one coordinate: `axis` is the pol_joint_axis in the struct of the object. */
#define AXIS_FIELDS(axis, t, beside)                                                               \
  {"stiffness",                                                                                    \
   &poli_number,                                                                                   \
   AT(axis stiffness),                                                                             \
   &poli_not_negative,                                                                             \
   .types = (t),                                                                                   \
   .not_beside = (beside),                                                                         \
   .unit = "N/m or N m/rad",                                                                       \
   .standard = "0",                                                                                \
   .help = "spring on the coordinate"},                                                            \
      {"damping",                                                                                  \
       &poli_number,                                                                               \
       AT(axis damping),                                                                           \
       &poli_not_negative,                                                                         \
       .types = (t),                                                                               \
       .not_beside = (beside),                                                                     \
       .unit = "N s/m or N m s/rad",                                                               \
       .standard = "0",                                                                            \
       .help = "damper on the coordinate"},                                                        \
      {"rest",                                                                                     \
       &poli_number,                                                                               \
       AT(axis rest),                                                                              \
       .types = (t),                                                                               \
       .not_beside = (beside),                                                                     \
       .only_with = "stiffness",                                                                   \
       .unit = "m or rad",                                                                         \
       .standard = "0",                                                                            \
       .help = "coordinate of the relaxed spring"},                                                \
      {"armature",                                                                                 \
       &poli_number,                                                                               \
       AT(axis armature),                                                                          \
       &poli_not_negative,                                                                         \
       .types = (t),                                                                               \
       .not_beside = (beside),                                                                     \
       .unit = "kg or kg m^2",                                                                     \
       .standard = "0",                                                                            \
       .help = "inertia of a rotor, [reflected](#joints-with-springs-stops-and-friction) to the "  \
               "coordinate"},                                                                      \
      {"limits",           &poli_object,                                                           \
       AT(axis limits),    &limits_kind,                                                           \
       .types = (t),       .not_beside = (beside),                                                 \
       .standard = "none", .help = "[stops](#joints-with-springs-stops-and-friction)"},            \
  {                                                                                                \
    "friction", &poli_object, AT(axis friction), &friction_kind,                                   \
        .types = (t), .not_beside = (beside), .standard = "none",                                  \
        .help = "[friction](#joints-with-springs-stops-and-friction)"                              \
  }

#define AT(member) offsetof(pol_joint_axis, member)
static const poli_field axis_fields[] = {AXIS_FIELDS(, 0, NULL), {.key = NULL}};
#undef AT

static const poli_kind axis_kind =
    KIND("coordinate", "must be an object such as {\"damping\": 0.1}", axis_fields,
         sizeof(pol_joint_axis));

/* one for each pol_coordinate that joints have */
#define COORDINATE(name, number, text)                                                             \
  {                                                                                                \
    .key = (name), .value = &poli_object, .offset = (number) * sizeof(pol_joint_axis),             \
    .detail = &axis_kind, .help = (text)                                                           \
  }
static const poli_field coordinate_fields[] = {
    COORDINATE("rotation", POL_DRIVE_ROTATION,
               "about the axis: `revolute`, `cylindrical`, `planar`, `parallel`, `generic`"),
    COORDINATE("translation", POL_DRIVE_TRANSLATION,
               "along the axis: `prismatic`, `cylindrical`, `point-on-line`"),
    COORDINATE("translation-x", POL_DRIVE_TRANSLATION_X,
               "`planar`, `point-in-plane`, `parallel`, `generic`"),
    COORDINATE("translation-y", POL_DRIVE_TRANSLATION_Y, "likewise"),
    COORDINATE("translation-z", POL_DRIVE_TRANSLATION_Z, "`parallel`, `generic`"),
    COORDINATE("rotation-1", POL_DRIVE_ROTATION_1, "`universal`: about the first axis"),
    COORDINATE("rotation-2", POL_DRIVE_ROTATION_2, "`universal`: about the second axis"),
    {.key = NULL},
};
#undef COORDINATE

static const poli_kind coordinates_kind =
    KIND("coordinates", "must be an object such as {\"rotation\": {\"damping\": 0.1}}",
         coordinate_fields, POLI_JOINT_COORDINATES * sizeof(pol_joint_axis));

/* --- joints ----------------------------------------------------------------------------------- */

#define AT(member) offsetof(poli_model_joint, member)

enum {
  ROLLING = T(POL_ROLLING_SPHERE) | T(POL_ROLLING_DISK),
  ONE_AXIS = T(POL_REVOLUTE) | T(POL_PRISMATIC) | T(POL_CYLINDRICAL) | T(POL_PLANAR) |
             T(POL_POINT_ON_LINE) | T(POL_POINT_IN_PLANE) | T(POL_PARALLEL) |
             T(POL_CONSTANT_VELOCITY),
  ONE_COORDINATE = T(POL_REVOLUTE) | T(POL_PRISMATIC) | T(POL_POINT_ON_LINE) | T(POL_GENERIC),
  COORDINATES = ONE_COORDINATE | T(POL_CYLINDRICAL) | T(POL_UNIVERSAL) | T(POL_PLANAR) |
                T(POL_POINT_IN_PLANE) | T(POL_PARALLEL)
};

static const poli_field joint_fields[] = {
    {"name", &poli_name, AT(joint.name), .required = POLI_ALWAYS,
     .help = "unique among joints and bodies"},
    {"type", &poli_choice, AT(joint.type), &joint_types,
     "must be a type of joint, such as \"revolute\"", POLI_ALWAYS, .help = "a type of joint"},
    {"bodies", &poli_references, AT(bodies), poli_list_of_bodies,
     "must be a list of 2 names of bodies or \"ground\"", ~(T(POL_DISTANCE) | ROLLING),
     .instead = "markers", .not_beside = "markers",
     .missing = "two names of bodies, or \"markers\" instead",
     .help = "two different bodies or `\"ground\"`; constraints are written in the "
             "axes of the first"},
    {"point", &poli_vector, AT(point), NULL, NULL, ~(T(POL_DISTANCE) | ROLLING),
     .needed_by = "bodies", .instead = "markers", .not_beside = "markers",
     .missing = "a list of 3 numbers", .unit = "m",
     .help = "position of the joint in the initial configuration, global axes"},
    {"axis", &poli_direction, AT(axis), NULL, NULL, ONE_AXIS,
     ~(T(POL_SPHERICAL) | T(POL_UNIVERSAL)), .instead = "markers", .not_beside = "markers",
     .missing = "this type of joint needs it",
     .forbidden = "must not be given: a spherical joint has no axis",
     .help = "the z axis of the joint in the initial configuration, global axes"},
    {"axes", &poli_directions, AT(axes), ONLY(T(POL_UNIVERSAL)), .instead = "markers",
     .not_beside = "markers", .missing = "a universal joint needs two",
     .forbidden = "must not be given: only a universal joint has \"axes\"",
     .help = "perpendicular within 1e-6: the first is fixed in the first body, the second in the "
             "second"},
    {"markers", &poli_references, AT(joint.marker), markers, "must be a list of 2 names of markers",
     T(POL_DISTANCE) | ROLLING, .missing = "a distance joint connects two markers",
     .help = "[markers](#markers) on two different bodies, instead of the four keys above"},
    {"length", &poli_number, AT(joint.length), &poli_library_range[POLI_JOINTS],
     .types = T(POL_DISTANCE), .forbidden = "must not be given: only a distance joint has a length",
     .unit = "m", .standard = "initial distance"},
    {"radius", &poli_number, AT(joint.radius), &poli_library_range[POLI_JOINTS], ONLY(ROLLING),
     .forbidden = "must not be given: only rolling joints have a radius", .unit = "m"},
    {"locked", &poli_locks, AT(joint.locked), ONLY(T(POL_GENERIC)),
     .missing = "what a generic joint locks",
     .forbidden = "must not be given: only a generic joint has \"locked\"",
     .help = "one or more of `x`, `y`, `z`, `rotation-x`, `rotation-y`, `rotation-z`, each at most "
             "once: translations along and rotations about the axes of its first marker"},
    {"frame", &poli_choice, AT(frame), &joint_frames, .standard = "\"body\"",
     .help = "axes of the translation constraints; `\"global\"` only for types that lock all "
             "translations"},
    AXIS_FIELDS(single., ONE_COORDINATE, "coordinates"),
    {"coordinates", &poli_object, AT(coordinates), &coordinates_kind, .types = COORDINATES,
     .standard = "none",
     .help = "the six keys above for each coordinate of a joint with several: `rotation`, "
             "`translation`, `translation-x` to `-z`, `rotation-1`, `rotation-2`"},
    {.key = NULL},
};

#undef AT

/* What depends on the type. */
static const char *joint_reason(const poli_field *field, int type)
{
  if (field->value == &poli_direction && type == POL_UNIVERSAL)
    return "must not be given: a universal joint has \"axes\"";
  if (field->detail == markers && type >= 0 && T(type) & ROLLING)
    return "the first is the plane, the second the centre of the rolling body";
  if (field->types != ONE_COORDINATE && field->types != COORDINATES) return NULL;
  if (type >= 0 && T(type) & COORDINATES)
    return "must stand inside \"coordinates\", as in {\"rotation\": {\"damping\": 0.1}}: this type "
           "of joint has several";
  return "must not be given: this type of joint has no angle or displacement; a bushing acts "
         "between two bodies in all directions";
}

#define NO_AXIS                                                                                    \
  {                                                                                                \
    .limits = {-HUGE_VAL, HUGE_VAL, .damping = -1.0, .restitution = -1.0, .rest_speed = 0.05},     \
    .friction = {                                                                                  \
      .stribeck_speed = 0.01,                                                                      \
      .creep_speed = 0.001                                                                         \
    }                                                                                              \
  }

static const poli_model_joint new_joint = {
    .single = NO_AXIS,
    .coordinates = {NO_AXIS, NO_AXIS, NO_AXIS, NO_AXIS, NO_AXIS, NO_AXIS, NO_AXIS},
    .joint = {.type = (pol_joint_type)-1,
              .marker = {POL_NOT_FOUND, POL_NOT_FOUND},
              .length = (double)NAN},
    .bodies = {POL_NOT_FOUND, POL_NOT_FOUND},
    .frame = POL_BODY_AXES};

static const poli_kind joint_kind = KIND(
    "joint", "must be an object that describes a joint", joint_fields, sizeof(poli_model_joint),
    &new_joint, .link = "joints", .type_key = "type", .standard_type = -1, .reason = joint_reason,
    .schema = "{'properties': {'bodies': {'uniqueItems': true}, 'markers': {'uniqueItems': "
              "true}}, 'if': {'properties': {'type': {'enum': ['prismatic', 'cylindrical', "
              "'planar', 'distance', 'point-on-line', 'point-in-plane', 'parallel', "
              "'rolling-sphere', 'rolling-disk']}}, 'required': ['type']}, 'then': "
              "{'properties': {'frame': {'const': 'body'}}}}");

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

static const poli_kind function_kind =
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
    {"marker", &poli_reference, AT(marker), markers, "must be the name of a marker",
     .types = APPLIED, .help = "a marker on a body, instead of `body` and `point`"},
    {"markers", &poli_references, AT(force.marker), markers, "must be a list of 2 names of markers",
     ONLY(BETWEEN), .instead = "bodies", .not_beside = "bodies",
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
    {"scale", &poli_function, AT(scale), &function_kind, .types = APPLIED | T(POL_SPRING_DAMPER),
     .standard = "`1`",
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
    {"marker", &poli_reference, AT(marker), markers, "must be the name of a marker",
     .help = "a marker on a body, instead of `joint`"},
    {"reference", &poli_reference, AT(reference), markers, "must be the name of a marker",
     .only_with = "marker", .standard = "the global axes and origin",
     .help = "a marker on another body or the ground: origin and axes of the coordinate"},
    {"coordinate", &poli_choice, AT(drive.coordinate), &coordinates,
     "must be a coordinate, such as \"rotation\"", POLI_ALWAYS,
     .help = "the prescribed coordinate; at most one drive per coordinate"},
    {"function", &poli_function, AT(function), &function_kind, NULL, POLI_ALWAYS,
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

/* --- the simulation --------------------------------------------------------------------------- */

#define AT(member) offsetof(poli_model_simulation, member)
#define OPTION(member) AT(settings.options.member)

static const poli_field newton_fields[] = {
    {"kind", &poli_choice, OPTION(newton.kind), &newton_kinds, .standard = "\"modified\"",
     .help = "`full` (exact matrix in each iteration), `simplified` (without stiffness, damping "
             "and curvature), `modified` (exact matrix, kept while the iteration contracts well; "
             "`vi-s` to `rattle`: within a step)"},
    {"tolerance", &poli_number, OPTION(newton.tolerance), &poli_positive, .standard = "1e-10",
     .help = "below 1; relative tolerance of residual and correction"},
    {"max_iterations", &poli_integer, OPTION(newton.max_iterations), &from_one, .standard = "30",
     .help = "per step"},
    {"refresh", &poli_number, OPTION(newton.refresh), &above_zero_to_one, .standard = "0.5",
     .help = "`modified`: contraction above which the matrix is evaluated again"},
    {"line_search", &poli_integer, OPTION(newton.line_search), &from_zero, .standard = "8",
     .help = "maximum number of halvings; 0: no line search"},
    {"fixed_iterations", &poli_integer, OPTION(newton.fixed_iterations), &from_zero,
     .standard = "0",
     .help = "[real time](methods.md#real-time): exactly so many iterations per step; 0: as many "
             "as the tolerance needs"},
    {"matrix_interval", &poli_integer, OPTION(newton.matrix_interval), &from_one, .standard = "1",
     .help = "`fixed_iterations`: number of steps with one matrix"},
    {"stop", &poli_choice, OPTION(newton.stop), &newton_stops, .standard = "\"error\"",
     .help =
         "`geom1` to `hht`: `error` (up to 1000 times the tolerance where the estimated error of "
         "the step hides the difference), `tight` (the tolerance as it is)"},
    {.key = NULL},
};

static const poli_kind newton_kind =
    KIND("newton", "must be an object of options for the Newton iteration", newton_fields,
         sizeof(poli_model_simulation),
         .schema = "{'properties': {'tolerance': {'exclusiveMaximum': 1}}}");

static const poli_field published_fields[] = {
    {"newton", &poli_choice, OPTION(published.newton), &published_newtons,
     .standard = "\"default\"",
     .help = "`plain`: exact matrix in each iteration, no line search; `vi-s` to `rattle`: "
             "`newton.tolerance` applies to the largest component of residual and correction, in "
             "SI units; other methods: starts from v' = 0 and lambda = 0, and `newton.tolerance` "
             "applies to the norm of the residual relative to its first value. `plain-modified`: "
             "not for `vi-s` to `rattle`; the same with a matrix that is kept from step to step"},
    {"exact_iterations", &poli_integer, OPTION(published.exact_iterations), &from_one,
     .help = "number of iterations in each step, converged or not"},
    {"sigma_update", &poli_choice, OPTION(published.sigma_update), &sigma_updates,
     .standard = "\"exact\"",
     .help = "`exact` solves the equations of sigma, `incremental` by the published "
             "algorithm with its predictor corrected, `printed` exactly as printed"},
    {"estimate", &poli_choice, OPTION(published.estimate), &estimates, .standard = "\"corrected\"",
     .help = "error estimate of variable steps: `printed` is exactly as published, see "
             "[methods](methods.md#steps-of-variable-size)"},
    {.key = NULL},
};

static const poli_kind published_kind =
    KIND("published", "must be an object of options to repeat published runs", published_fields,
         sizeof(poli_model_simulation));

static const poli_field tolerances_fields[] = {
    {"translation", &poli_number, AT(atol[0]), &poli_not_negative, NULL, POLI_ALWAYS, .unit = "m"},
    {"rotation", &poli_number, AT(atol[1]), &poli_not_negative, NULL, POLI_ALWAYS, .unit = "rad"},
    {.key = NULL},
};

const poli_kind poli_tolerances_kind =
    KIND("tolerances", "must be a number, or an object with \"translation\" and \"rotation\"",
         tolerances_fields, sizeof(poli_model_simulation));

static const poli_field control_fields[] = {
    {"first_step", &poli_number, OPTION(control.first_step), &poli_positive, .unit = "s",
     .standard = "estimated"},
    {"min_step", &poli_number, OPTION(control.min_step), &poli_positive, .unit = "s",
     .standard = "round-off",
     .help = "if the tolerances require a smaller step, the run fails and names the body"},
    {"max_step", &poli_number, OPTION(control.max_step), &poli_positive, .unit = "s",
     .standard = "none", .help = "at least `min_step`"},
    {"span", &poli_number, OPTION(control.span), &poli_positive, .unit = "s", .standard = "`end`",
     .help =
         "time that the first step and the accuracy of Newton's iterations are meant for; a run "
         "that will be continued to a later end, which it shall have the bits of, has that end "
         "here"},
    {"controller", &poli_choice, OPTION(control.controller), &controllers,
     .standard = "\"elementary\"",
     .help = "`elementary`; `pi`, which also uses the error of the previous step: fewer "
             "rejected steps, but more steps; or `reversible`, for long runs of `rattle` in "
             "`so3xr3` with constant energy: the first step is `step`, the others follow the "
             "kinetic energy, without `rtol` and `atol`"},
    {.key = NULL},
};

static const poli_kind control_kind =
    KIND("control", "must be an object of options for steps of variable size", control_fields,
         sizeof(poli_model_simulation), .check = poli_check_control);

static const poli_field output_fields[] = {
    {"step", &poli_number, AT(settings.output.step), &poli_positive, NULL, POLI_ALWAYS,
     .instead = "times", .missing = "a positive number, or \"times\"", .unit = "s",
     .help = "interval between rows"},
    {"times", &poli_times, AT(output_times), .not_beside = "step", .unit = "s",
     .help = "times of the rows: ascending, above 0, at most `end`"},
    {.key = NULL},
};

static const poli_kind output_kind = KIND("output", "must be an object with \"step\" or \"times\"",
                                          output_fields, sizeof(poli_model_simulation));

static const poli_field simulation_fields[] = {
    {"step", &poli_number, AT(settings.step), &poli_positive, .unit = "s",
     .standard = "required without `rtol` and `atol`",
     .help =
         "at most `end`; the last step is shortened if necessary; not used with variable steps"},
    {"end", &poli_number, AT(settings.end), &poli_positive, NULL, POLI_ALWAYS, .unit = "s",
     .help = "end time; the run starts at t = 0"},
    {"method", &poli_choice, AT(method), &methods, .standard = "\"auto\"",
     .help = "a method listed by `polhode methods`, or `auto`: chosen by the forces of the model "
             "and the steps, see [methods](methods.md#a-method-chosen-for-you); without `method`, "
             "`geom1` if one of `rho_inf`, `alpha_m` to `gamma`, `sigma` and `start` is given"},
    {"formulation", &poli_choice, AT(settings.formulation), &formulations,
     .standard = "`\"so3xr3\"`; `auto` chooses it", .help = "the coordinates of the bodies"},
    {"index", &poli_index, OPTION(index), .standard = "`3`; variable steps `\"stabilized-2\"`",
     .help = "`3` (constraints on positions), `2` (on velocities) or `\"stabilized-2\"` (both)"},
    {"rho_inf", &poli_number, AT(rho_inf), &zero_to_one, .standard = "`0.9`; variable steps `0.8`",
     .help = "spectral radius at infinite frequency: 1 is undamped, 0 is maximum damping"},
    {"alpha", &poli_number, AT(alpha), &alpha_range, .standard = "-0.3",
     .help = "of the method `hht`, whose `index` is 3 if not given"},
    {"alpha_m", &poli_number, OPTION(alpha_m), .standard = "from `rho_inf`",
     .help = "with `alpha_f`, `beta` and `gamma`, without `rho_inf`; a warning reports a loss of "
             "second order or of unconditional stability"},
    {"alpha_f", &poli_number, OPTION(alpha_f), .standard = "from `rho_inf`",
     .help = "with `alpha_m`, `beta` and `gamma`"},
    {"beta", &poli_number, OPTION(beta), .standard = "from `rho_inf`",
     .help = "with `alpha_m`, `alpha_f` and `gamma`; or of the method `newmark`, (gamma + 1/2)^2/4 "
             "by default"},
    {"gamma", &poli_number, OPTION(gamma), .standard = "from `rho_inf`",
     .help = "with `alpha_m`, `alpha_f` and `beta`; or of the method `newmark`, 1/2 by default"},
    {"sigma", &poli_sigma, AT(sigma), .standard = "`0`; the method `auto` uses `\"optimal\"`",
     .help = "`geom1`: weight of the velocity in the position update; `\"optimal\"` is gamma / (3 "
             "beta), which removes the Lie group part of the leading error"},
    {"theta", &poli_number, OPTION(theta), &zero_to_one, .standard = "the method's own",
     .help = "`vi-b`: where in the step forces are evaluated, 1 by default; `vi-a`: 1/2"},
    {"vartheta", &poli_number, OPTION(vartheta), &vartheta_range, .standard = "0.5",
     .help = "`vi-b`: weight of the reaction at the end of the step; values above 1/2 are unstable "
             "and cause a warning"},
    {"order", &poli_order, OPTION(order), .standard = "`2`; the method `auto` chooses it",
     .help = "of `rattle` on Lie groups; `\"auto\"` chooses it from `rtol` and `atol`"},
    {"guess", &poli_choice, OPTION(guess), &guesses, .standard = "\"advanced\"",
     .help = "`vi-s` to `rattle`: the Newton iteration starts from q + h v (`advanced`) or from q "
             "(`simple`)"},
    {"redundant", &poli_choice, OPTION(redundant), &redundants, .standard = "\"drop\"",
     .help =
         "treatment of redundant constraints: `drop`, `minimum-norm` or `refuse`, see [redundant "
         "constraints](#redundant-constraints)"},
    {"initial", &poli_choice, AT(settings.equilibrium), &initials, .standard = "\"given\"",
     .help = "`given`: the run starts from the values of the model; `equilibrium`: at rest in the "
             "[static equilibrium](analysis.md#static-equilibrium) that is found from them"},
    {"start", &poli_choice, OPTION(start), &starts, .standard = "\"default\"",
     .help = "starting values: `classical`, `shifted` or `perturbed`; `default` gives second order "
             "in every component"},
    {"rtol", &poli_number, OPTION(control.rtol), &poli_not_negative, .standard = "0",
     .help = "[steps of variable size](#steps-of-variable-size): relative tolerance of their local "
             "error; if `rtol` and `atol` are below 1e-12, the estimated error is round-off, which "
             "causes a warning"},
    {"atol", &poli_atol, 0, .unit = "m, rad", .standard = "`rtol`",
     .help = "absolute tolerance, non-negative, and not 0 together with `rtol`; choose it relative "
             "to the amplitude of the motion"},
    {"steps", &poli_choice, AT(steps), &steps, .standard = "by `rtol` and `atol`",
     .help = "`fixed` or `variable`, for models with both `step` and `rtol`"},
    {"control", &poli_object, 0, &control_kind,
     .help = "options of [steps of variable size](#steps-of-variable-size)"},
    {"output", &poli_object, 0, &output_kind, .standard = "every step",
     .help = "[times of the rows](#output-times) of the result"},
    {"newton", &poli_object, 0, &newton_kind, .help = "options of the Newton iteration"},
    {"published", &poli_object, 0, &published_kind,
     .help = "only to [repeat published runs](#repeating-published-runs)"},
    {"solver", &poli_choice, OPTION(solver), &solvers, .standard = "\"auto\"",
     .help = "`auto` (by size and fill), `dense` (LAPACK) or `sparse` (KLU)"},
    {"threads", &poli_integer, OPTION(threads), &to_most_threads, .standard = "0",
     .help = "for one step of a large mechanism; 0: one for each processor. Results do not depend "
             "on it"},
    {.key = NULL},
};

#undef OPTION
#undef AT

static const poli_kind simulation_kind =
    KIND("simulation", "must be an object with the settings of the simulation", simulation_fields,
         sizeof(poli_model_simulation), .link = "simulation", .check = poli_check_simulation,
         .schema = "{'anyOf': [{'required': ['step']}, {'required': ['rtol']}, {'required': "
                   "['atol']}], 'not': {'required': ['rho_inf', 'alpha_m']}, 'dependencies': "
                   "{'alpha_m': ['alpha_f', 'beta', 'gamma'], 'alpha_f': ['alpha_m', 'beta', "
                   "'gamma']}, 'properties': {'vartheta': {'exclusiveMaximum': 1}}, 'if': "
                   "{'properties': {'steps': {'const': 'fixed'}}, 'required': ['steps']}, "
                   "'then': {'required': ['step']}}");

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
     .standard = "required without `include` or `beams`",
     .help = "at least one; the inertial frame is called `ground` and is not listed"},
    {"markers", &poli_objects, AT(markers), &marker_kind, "must be a list of markers",
     .standard = "none", .help = "frames fixed in a body or in the ground"},
    {"joints", &poli_objects, AT(joints), &joint_kind, "must be a list of joints",
     .standard = "none", .help = "connections between bodies and to the ground"},
    {"forces", &poli_objects, AT(forces), &force_kind, "must be a list of forces",
     .standard = "none", .help = "forces and torques on and between bodies, besides gravity"},
    {"beams", &poli_objects, AT(beams), &poli_beam_kind, "must be a list of beams",
     .standard = "none", .help = "slender elastic bodies"},
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
    {"shapes", &poli_objects, AT(shapes), &shape_kind, "must be a list of shapes",
     .standard = "none", .help = "shapes of the ground, for the viewer"},
    {"simulation", &poli_object, AT(simulation), &simulation_kind,
     "must be an object with at least \"step\" or \"rtol\", and \"end\"", POLI_ALWAYS,
     .help = "settings of the run"},
    {.key = NULL},
};

const poli_kind poli_model_kind =
    KIND("model", "must be an object with \"bodies\" and \"simulation\"", model_fields,
         sizeof(poli_model_data), .check = poli_check_model,
         .schema = "{'anyOf': [{'required': ['bodies']}, {'required': ['include']}, {'required': "
                   "['beams']}]}");
