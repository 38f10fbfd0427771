/* The keys of joints and of what acts on their coordinates; see fields.c. */
#include <math.h>

#include "io/model/fields.h"

static const poli_number_range zero_to_one = {0.0, 1.0, 0, "must be a number from 0 to 1",
                                              "0 to 1"};
NAMES(joint_types, pol_joint_type_name((pol_joint_type)number));
NAMES(joint_frames, pol_force_frame_name((pol_force_frame)number));

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
     .help = "a rebound slower than this is none: the joint comes to rest"},
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
    {"markers", &poli_references, AT(joint.marker), poli_list_of_markers,
     "must be a list of 2 names of markers", T(POL_DISTANCE) | ROLLING,
     .missing = "a distance joint connects two markers",
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
  if (field->detail == poli_list_of_markers && type >= 0 && T(type) & ROLLING)
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

const poli_kind poli_joint_kind = KIND(
    "joint", "must be an object that describes a joint", joint_fields, sizeof(poli_model_joint),
    &new_joint, .link = "joints", .type_key = "type", .standard_type = -1, .reason = joint_reason,
    .schema = "{'properties': {'bodies': {'uniqueItems': true}, 'markers': {'uniqueItems': "
              "true}}, 'if': {'properties': {'type': {'enum': ['prismatic', 'cylindrical', "
              "'planar', 'distance', 'point-on-line', 'point-in-plane', 'parallel', "
              "'rolling-sphere', 'rolling-disk']}}, 'required': ['type']}, 'then': "
              "{'properties': {'frame': {'const': 'body'}}}}");
