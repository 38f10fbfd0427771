/* A mechanism: rigid bodies, markers (frames fixed in a body or in the ground), joints between
 * markers, drives and couplings of joints, forces on and between bodies, gravity, and what users
 * define by expressions: variables and first-order states.  Plain data without coordinates or
 * stepping; a formulation turns it into equations.
 *
 * Lengths in metres, masses in kilograms, angles in radians, everything at the initial
 * configuration. The mechanism owns what it holds; the pointers that the readers return live as
 * long as it does and nothing is added.
 */
#ifndef POLHODE_MECHANISM_H
#define POLHODE_MECHANISM_H

#include <polhode/errors.h>
#include <polhode/status.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  POL_GROUND = -1,   /* the body index of the inertial frame */
  POL_NOT_FOUND = -2 /* no element has this name; the index of an element that was refused */
};

/* Which initial values of a body were given; the assembler keeps a given angular velocity where the
 * joints allow it: its components in body axes or, with POL_GIVEN_IN_GLOBAL_AXES, in global axes,
 * if the body has to be rotated to satisfy the joints. */
enum { POL_GIVEN_VELOCITY = 1, POL_GIVEN_ANGULAR_VELOCITY = 2, POL_GIVEN_IN_GLOBAL_AXES = 4 };

/* Which initial values of a body must stay as they are: bits for the x component; those for y and z
 * are the next two. */
enum {
  POL_KEEP_POSITION = 1 << 0,
  POL_KEEP_ROTATION = 1 << 3, /* components of the rotation vector away from the given one, in body
                                 axes */
  POL_KEEP_VELOCITY = 1 << 6,
  POL_KEEP_ANGULAR_VELOCITY = 1 << 9 /* body axes */
};

/* A rigid body, or a point mass: it has a position and no rotation, its axes are the global ones.
 */
typedef struct pol_body {
  const char *name;
  double mass;
  double inertia[9];          /* about the centre of mass, in body axes, symmetric */
  double position[3];         /* of the centre of mass */
  double rotation[4];         /* unit quaternion (w, x, y, z): body to global axes */
  double velocity[3];         /* of the centre of mass, global axes */
  double angular_velocity[3]; /* body axes */
  unsigned given;             /* POL_GIVEN_... bits */
  unsigned keep;              /* POL_KEEP_... bits */
  int point; /* 1: a point mass; inertia, rotation and angular velocity are not read, and are
                stored as 0, none and 0 */
} pol_body;

/* A frame fixed in a body or in the ground. */
typedef struct pol_marker {
  const char *name;   /* may be empty */
  int body;           /* index or POL_GROUND */
  double position[3]; /* in body axes from the centre of mass; global for the ground; 0 for a point
                         mass */
  double rotation[4]; /* marker to body axes */
} pol_marker;

/* Presets of the one joint kernel: which relative translations and rotations of the second marker,
 * seen from the first, are locked.  The joint's axis is the z axis of its markers. */
typedef enum pol_joint_type {
  POL_FIXED,
  POL_REVOLUTE,          /* free: rotation about z */
  POL_PRISMATIC,         /* free: translation along z */
  POL_CYLINDRICAL,       /* free: rotation about and translation along z */
  POL_SPHERICAL,         /* free: all rotations */
  POL_UNIVERSAL,         /* free: rotations about x of the first and y of the second marker */
  POL_PLANAR,            /* free: translations along x and y, rotation about z */
  POL_DISTANCE,          /* free: all but the distance of the points of the markers */
  POL_POINT_ON_LINE,     /* free: translation along z, all rotations */
  POL_POINT_IN_PLANE,    /* free: translations along x and y, all rotations */
  POL_PARALLEL,          /* free: all translations, rotation about z; the z axes stay parallel */
  POL_CONSTANT_VELOCITY, /* free: to bend in any direction; rotations about z are handed on 1 : 1 */
  POL_GENERIC,           /* free: what pol_joint.locked does not name */
  POL_ROLLING_SPHERE,    /* a sphere about the second marker rolls on the xy plane of the first */
  POL_ROLLING_DISK       /* so does the rim of a thin disk with the axis z of the second marker */
} pol_joint_type;

/* What a generic joint can lock, bits: relative translations along and rotations about the axes of
 * the first marker.  One locked rotation, about z say, keeps x of the first marker perpendicular to
 * y of the second (about x: y and z; about y: z and x), as in a universal joint; two keep the third
 * axis of both markers parallel, as in a revolute joint; three lock all rotations. */
enum {
  POL_LOCK_X = 1 << 0,
  POL_LOCK_Y = 1 << 1,
  POL_LOCK_Z = 1 << 2,
  POL_LOCK_ROTATION_X = 1 << 3,
  POL_LOCK_ROTATION_Y = 1 << 4,
  POL_LOCK_ROTATION_Z = 1 << 5
};

/* One row of the kernel.  Both frames' axes are those of the markers. */
typedef enum pol_row_kind {
  POL_ROW_TRANSLATION, /* component `axis` of the second marker's position in the first marker's
                          frame */
  POL_ROW_ROTATION, /* axis `axis` of the first marker is perpendicular to `other` of the second */
  POL_ROW_DISTANCE, /* (d.d - length^2) / 2 with d from the first marker to the second */
  POL_ROW_TWIST,    /* x1.y2 - y1.x2 with axes of the first and the second marker */
  POL_ROW_HEIGHT,   /* of the lowest point of a rolling sphere or rim above the plane */
  POL_ROW_SLIP /* velocity of that point along `axis` of the first marker: a non-holonomic row */
} pol_row_kind;

/* One scalar constraint of a joint. */
typedef struct pol_joint_row {
  pol_row_kind kind;
  int axis;  /* 0, 1, 2; not for distance and twist rows */
  int other; /* 0, 1, 2; rotation rows only */
} pol_joint_row;

/* A joint between two markers. */
typedef struct pol_joint {
  const char *name;
  pol_joint_type type;
  int marker[2];   /* marker indices: first, second */
  double length;   /* distance only, above 0 */
  double radius;   /* rolling only, above 0 */
  unsigned locked; /* generic only: POL_LOCK_... bits, at least one */
  /* The translation rows are written in global axes instead of those of the first marker; only
   * where all three are locked (pol_joint_locks_point). */
  int global_axes;
} pol_joint;

/* The most rows that a joint has. */
enum { POL_MAX_JOINT_ROWS = 6 };

/* A function of time with two continuous derivatives, but for the ends of clamped tables and for
 * expressions, which are what they say. */
typedef enum pol_function_type {
  POL_CONSTANT,   /* offset */
  POL_HARMONIC,   /* offset + amplitude sin(2 pi frequency t + phase) */
  POL_POLYNOMIAL, /* values[0] + values[1] t + values[2] t^2 + ... */
  POL_STEP,       /* smoothly from `from` at t0 to `to` at t1, constant before and after */
  POL_SPEED,      /* offset + from t until t0, then its rate goes in such a step to `to` at t1 */
  POL_TABLE,      /* cubic spline through (times, values), straight before and after */
  POL_EXPRESSION  /* a text such as "0.1*sin(2*pi*3*t)", in the one name t */
} pol_function_type;

struct pol_expression; /* private */

typedef struct pol_function {
  pol_function_type type;
  double offset;
  double amplitude, frequency, phase; /* Hz, rad */
  double from, to, t0, t1;            /* t0 < t1, s */
  int count;                          /* of values: at least 1, of a table 2 */
  const double *values;
  const double *times;    /* table only, ascending */
  int clamped;            /* table only: the slopes at both ends are these, else f'' = 0 there */
  double slopes[2];       /* table only */
  const double *moments;  /* second derivatives at the times; set by the mechanism's copy */
  const char *expression; /* expression only */
  const struct pol_expression *program; /* what it means; set by the mechanism's copy */
} pol_function;

/* Types of force elements. */
typedef enum pol_force_type {
  POL_APPLIED_FORCE,  /* a force on a point of a body, constant or scaled by a function of time */
  POL_APPLIED_TORQUE, /* a torque on a body, likewise */
  POL_SUPPORT,        /* springs and dampers along the global axes hold a point of a body */
  POL_SPRING_DAMPER,  /* spring, damper and actuator along the line between two markers */
  POL_DRAG,           /* -coefficient |u| u at the centre of mass of a body, u its velocity */
  POL_JOINT_SPRING,   /* spring, damper and actuator on a coordinate that a joint leaves free */
  POL_BUSHING, /* springs and dampers against all displacements and rotations between two markers */
  POL_CALLBACK_FORCE /* a function of the program says it; not in model files */
} pol_force_type;
/* What a spring-damper's spring stores at the length l, with k, l0 its stiffness and length. */
typedef enum pol_spring_law {
  POL_LINEAR_SPRING, /* k (l - l0)^2 / 2, k in N/m */
  POL_SQUARED_SPRING /* k (l^2 - l0^2)^2 / 2, k in N/m^3: a polynomial in the positions */
} pol_spring_law;

/* The axes in which a force or torque is given. */
typedef enum pol_force_frame {
  POL_GLOBAL_AXES, /* the vector keeps its direction */
  POL_BODY_AXES    /* the vector turns with the body */
} pol_force_frame;

/* How a body is and moves, as a callback force sees it; the ground is at rest in the origin. */
typedef struct pol_motion {
  double position[3];         /* of the centre of mass */
  double rotation[9];         /* row-major, body to global axes */
  double velocity[3];         /* of the centre of mass, global axes */
  double angular_velocity[3]; /* body axes */
} pol_motion;

/* A force between two bodies (or a body and the ground) as functions of a program.  They are called
 * by every thread that uses the mechanism, must not remember anything from call to call, and answer
 * 0, >0 to ask for a smaller step, or <0 to give up.
 *
 * The wrench is (torque1, force1, torque2, force2): torques about the centre of mass in body axes,
 * forces in global axes; what it says about the ground, and torques on point masses, are ignored.
 * That force and counterforce are
 * opposite is the callback's affair.  Everything arrives set to zero. */
typedef struct pol_callback {
  pol_status (*wrench)(double t, const pol_motion motion[2], double wrench[12], void *user);

  /* Optional: derivatives of the wrench by (dphi1, dx1, dphi2, dx2) with dR = R dphi~ and x the
   * position, and by (w1, u1, w2, u2), the angular velocity and the velocity.  Without it they are
   * formed by central differences along the group, with 24 more wrenches for each body that is not
   * the ground, to about 9 digits. */
  pol_status (*derivatives)(double t, const pol_motion motion[2], double by_position[12][12],
                            double by_velocity[12][12], void *user);
  double length; /* m: a displacement that changes the force a good deal; 0 for 1 */

  /* Optional: the energy stored, if the force at rest is its negative gradient. */
  double (*potential)(const pol_motion motion[2], void *user);

  void *user; /* handed to the callbacks; not owned */
} pol_callback;

/* A force element; which fields are read depends on its type. */
typedef struct pol_force {
  const char *name;
  pol_force_type type;
  int body; /* index; not for the types that name two markers or bodies */
  /* spring-damper, bushing: marker indices, on different bodies; of a spring-damper apart */
  int marker[2];
  int joint;      /* joint-spring: index */
  int coordinate; /* joint-spring: which of the joint's coordinates, see pol_joint_coordinate() */

  /* applied force or torque: N or N m, in the axes of `frame` */
  pol_force_frame frame;
  double vector[3];
  /* applied force, support: where it acts, in body axes from the centre of mass */
  double point[3];
  /* applied force or torque, actuator of a spring-damper: multiplied by this function; NULL for 1
   */
  const pol_function *scale;
  /* support: where the point is when the springs are relaxed, global */
  double anchor[3];
  /* support: along x, y and z; spring-damper, joint-spring: the first; bushing: along the axes of
   * the first marker.  N/m (of the squared law N/m^3) and N s/m, of a joint-spring on an angle
   * N m/rad and N m s/rad; not negative */
  double stiffness[3], damping[3];
  pol_spring_law law; /* spring-damper */
  /* bushing, about the axes of the first marker: N m/rad and N m s/rad, not negative */
  double rotational_stiffness[3], rotational_damping[3];
  /* bushing: force (N) and torque (N m) on the second body where the markers coincide, in the axes
   * of the first */
  double preload[3], preload_torque[3];
  /* spring-damper: length of the relaxed spring, m, not negative; constant force that pushes the
   * markers apart, N */
  double length, actuator;
  /* joint-spring: value of the coordinate where the spring is relaxed, m or rad with all full
   * turns; its actuator is a constant force, N, or torque, N m, towards greater values */
  double rest;
  /* drag: N s^2/m^2, not negative */
  double coefficient;
  /* callback: its bodies, of which one may be POL_GROUND, and its functions */
  int bodies[2];
  pol_callback callback;
  /* Expressions in place of numbers, NULL for none: of a force or torque the components of vector,
   * of a spring-damper or joint-spring the first the actuator.  See pol_variable. */
  const char *expressions[3];
} pol_force;

/* A quantity that an expression defines, such as "target - hinge.angle".  Expressions may read, by
 * the names of the recorded channels (polhode/simulation.h), time, positions and velocities of
 * bodies and markers, joint coordinates, reactions of joints and drives, states and variables, in
 * any order but not in a circle.  What they say is checked by pol_formulation_supports(). */
typedef struct pol_variable {
  const char *name; /* not t or pi */
  const char *expression;
} pol_variable;

/* A first-order state c: c' = rate, an expression, from an initial value on. */
typedef struct pol_state_variable {
  const char *name; /* not t or pi, nor that of a variable */
  double initial;
  const char *rate;
} pol_state_variable;

/* A coordinate that a joint leaves free, or of a marker seen from another, prescribed as a function
 * of time.  Rotations in rad, translations in m, both of the second marker against the first. */
typedef enum pol_coordinate {
  POL_DRIVE_ROTATION,      /* about z, from the x axis of the first marker to that of the second;
                              of a generic joint about the one axis that is free */
  POL_DRIVE_TRANSLATION,   /* along z of the first marker */
  POL_DRIVE_TRANSLATION_X, /* planar, point-in-plane, parallel, generic: along x, y, z of the */
  POL_DRIVE_TRANSLATION_Y, /* first marker */
  POL_DRIVE_TRANSLATION_Z,
  POL_DRIVE_ROTATION_1, /* universal: about x of the first marker, from its y axis to the second's
                         */
  POL_DRIVE_ROTATION_2, /* universal: about y of the second marker, from the first's x axis to its x
                           axis */
  POL_DRIVE_X,          /* of a marker: along x, y, z of the first */
  POL_DRIVE_Y,
  POL_DRIVE_Z
} pol_coordinate;

/* One of the coordinates that a joint leaves free, as it is reported. */
typedef struct pol_coordinate_info {
  const char *key;       /* in model files: "rotation", "translation", "rotation-1", ... */
  const char *name;      /* "angle", "displacement", "angle.1", "displacement.x", ... */
  const char *rate_name; /* "rate", "speed", "rate.1", "speed.x", ... */
  int angular;           /* an angle, rad; else a length, m */
} pol_coordinate_info;
enum { POL_NO_JOINT = -1 };

/* A prescribed motion of a joint coordinate or of a marker. */
typedef struct pol_drive {
  const char *name;
  int joint;     /* index; or POL_NO_JOINT, and x, y or z of marker[1] seen from marker[0] */
  int marker[2]; /* marker indices, on different bodies; without a joint only */
  pol_coordinate coordinate;
  pol_function function;
} pol_drive;

/* A gear, a rack and pinion, a screw: two coordinates c that joints leave free are tied by
 * factor[0] (c[0] - reference[0]) + factor[1] (c[1] - reference[1]) = 0, angles with all turns. */
typedef struct pol_coupling {
  const char *name;
  int joint[2];                 /* indices */
  pol_coordinate coordinate[2]; /* of each joint; not the same one twice */
  double factor[2];             /* not zero */
  double reference[2];          /* values that belong together, rad or m */
} pol_coupling;

/* Bodies, markers and so on, counted from 0 in the order in which they were added. */
typedef struct pol_mechanism pol_mechanism;

/* An empty mechanism; POL_NO_MEMORY.  Freeing sets *mechanism to NULL; it may be NULL already. */
pol_status pol_mechanism_create(pol_mechanism **mechanism);
void pol_mechanism_free(pol_mechanism **mechanism);

/* The acceleration of gravity, m/s^2, global axes; zero at first.  Numbers that are not finite are
 * an error of the mechanism. */
void pol_mechanism_set_gravity(pol_mechanism *mechanism, const double gravity[3]);
void pol_mechanism_gravity(const pol_mechanism *mechanism, double gravity[3]);

/* Valid elements, to which only the name and what they refer to must be added: a body of 1 kg and
 * 1 kg m^2 at rest in the origin, a marker in the origin of the ground, a joint that locks
 * everything, an applied force of zero, a drive and a function that are constantly zero, a coupling
 * of equal coordinates.  Rotations are the identity.  References are POL_NOT_FOUND, so that a
 * missing one is reported. */
pol_body pol_body_default(void);
pol_marker pol_marker_default(void);
pol_joint pol_joint_default(void);
pol_force pol_force_default(void);
pol_function pol_function_default(void);
pol_drive pol_drive_default(void);
pol_coupling pol_coupling_default(void);

/* Each copies its argument, names included.  The new index goes to *index (may be NULL).
 *
 * POL_BAD_ARGUMENT: the element breaks a rule.  It is not added, *index is POL_NOT_FOUND, and every
 * rule that it breaks is appended to pol_mechanism_errors().  All elements need a name, which no
 * other of the kind may have (markers may have none); bodies, joints, forces, drives and couplings
 * share their names, as do variables and states.  All numbers are finite.
 * POL_NO_MEMORY: it is not added. */
pol_status pol_mechanism_add_body(pol_mechanism *mechanism, const pol_body *body, int *index);
pol_status pol_mechanism_add_marker(pol_mechanism *mechanism, const pol_marker *marker, int *index);
pol_status pol_mechanism_add_joint(pol_mechanism *mechanism, const pol_joint *joint, int *index);
pol_status pol_mechanism_add_force(pol_mechanism *mechanism, const pol_force *force, int *index);
pol_status pol_mechanism_add_drive(pol_mechanism *mechanism, const pol_drive *drive, int *index);
pol_status pol_mechanism_add_coupling(pol_mechanism *mechanism, const pol_coupling *coupling,
                                      int *index);
pol_status pol_mechanism_add_variable(pol_mechanism *mechanism, const pol_variable *variable,
                                      int *index);
pol_status pol_mechanism_add_state(pol_mechanism *mechanism, const pol_state_variable *state,
                                   int *index);

/* A marker given by a global point and an orientation (marker to global axes; NULL for the axes of
 * the body itself) at the initial configuration.  On a point mass the point must be its position
 * within 1e-9 of the size of both. */
pol_status pol_mechanism_add_marker_at(pol_mechanism *mechanism, const char *name, int body,
                                       const double point[3], const double rotation[4], int *index);

/* A joint between two bodies (indices or POL_GROUND) at a global point of the initial
 * configuration, with two markers of its own, which coincide there.  joint->marker is not read.
 *
 * axis: the joint's axis in global axes, of any length but zero; z of both markers is turned into
 * it by the smallest rotation.  A universal joint has two, which are perpendicular: 6 numbers, x of
 * the markers and y.  NULL: the markers have the axes of the first body, as those of a spherical
 * joint always do; fixed and generic joints may have an axis or not, all others need it.  A
 * distance and what rolls have no common point: add them with markers. */
pol_status pol_mechanism_add_joint_at(pol_mechanism *mechanism, const pol_joint *joint, int body_a,
                                      int body_b, const double point[3], const double *axis,
                                      int *index);

/* Every rule that was broken so far, in the order of the calls: path "body 'crank': mass", value
 * "-1", rule "must be a positive number"; pol_error_text() makes one line of them.  A mechanism
 * with errors is incomplete: it is refused by pol_formulation_supports() and
 * pol_simulation_create(), which report the first of them, so that a program may add all elements
 * and look at the result once.  Clearing the errors accepts the mechanism without the elements that
 * were refused. */
const pol_errors *pol_mechanism_errors(const pol_mechanism *mechanism);
void pol_mechanism_clear_errors(pol_mechanism *mechanism);

/* Where a marker is at the initial configuration, global. */
void pol_mechanism_marker_point(const pol_mechanism *mechanism, int index, double point[3]);

/* A coordinate that a joint leaves free, at the initial configuration; an angle in (-pi, pi]. */
double pol_mechanism_coordinate(const pol_mechanism *mechanism, int joint,
                                pol_coordinate coordinate);

/* How many there are, and each by its index; NULL if there is none with this index, such as
 * POL_GROUND. */
int pol_mechanism_num_bodies(const pol_mechanism *mechanism);
int pol_mechanism_num_markers(const pol_mechanism *mechanism);
int pol_mechanism_num_joints(const pol_mechanism *mechanism);
int pol_mechanism_num_forces(const pol_mechanism *mechanism);
int pol_mechanism_num_drives(const pol_mechanism *mechanism);
int pol_mechanism_num_couplings(const pol_mechanism *mechanism);
int pol_mechanism_num_variables(const pol_mechanism *mechanism);
int pol_mechanism_num_states(const pol_mechanism *mechanism);
const pol_body *pol_mechanism_body(const pol_mechanism *mechanism, int index);
const pol_marker *pol_mechanism_marker(const pol_mechanism *mechanism, int index);
const pol_joint *pol_mechanism_joint(const pol_mechanism *mechanism, int index);
const pol_force *pol_mechanism_force(const pol_mechanism *mechanism, int index);
const pol_drive *pol_mechanism_drive(const pol_mechanism *mechanism, int index);
const pol_coupling *pol_mechanism_coupling(const pol_mechanism *mechanism, int index);
const pol_variable *pol_mechanism_variable(const pol_mechanism *mechanism, int index);
const pol_state_variable *pol_mechanism_state(const pol_mechanism *mechanism, int index);

/* The index of the element with this name; POL_NOT_FOUND if there is none.  The body "ground" is
 * POL_GROUND. */
int pol_mechanism_find_body(const pol_mechanism *mechanism, const char *name);
int pol_mechanism_find_marker(const pol_mechanism *mechanism, const char *name);
int pol_mechanism_find_joint(const pol_mechanism *mechanism, const char *name);
int pol_mechanism_find_force(const pol_mechanism *mechanism, const char *name);
int pol_mechanism_find_drive(const pol_mechanism *mechanism, const char *name);
int pol_mechanism_find_coupling(const pol_mechanism *mechanism, const char *name);
int pol_mechanism_find_variable(const pol_mechanism *mechanism, const char *name);
int pol_mechanism_find_state(const pol_mechanism *mechanism, const char *name);

/* What stays constant whatever the bodies do, as far as the structure of the mechanism tells: what
 * is fixed in the ground, and gravity.  A body on a spherical joint under gravity, say, has one
 * rotation, about the vertical through the joint.  Invariants of another origin, such as the spin
 * of a symmetric top about its own axis, are not looked for. */
typedef struct pol_symmetries {
  int energy;               /* 1: nothing takes energy out or puts it in */
  int num_translations;     /* the linear momentum along these unit vectors, */
  double translation[3][3]; /* global axes wherever possible; perpendicular to each other */
  int num_rotations;        /* the angular momentum about these axes, unit vectors likewise, */
  double axis[3][3];
  double point[3][3]; /* each through a point; of three axes the same */
} pol_symmetries;
/* Finds the symmetries of a mechanism. */
void pol_mechanism_symmetries(const pol_mechanism *mechanism, pol_symmetries *symmetries);

/* The name of a type of joint ("revolute"); NULL if there is no such type. */
const char *pol_joint_type_name(pol_joint_type type);
/* The rows of a joint, non-holonomic ones last; returns how many, POL_MAX_JOINT_ROWS at most.  Of
 * the joint, only type and locked are read. */
int pol_joint_rows(const pol_joint *joint, pol_joint_row rows[POL_MAX_JOINT_ROWS]);
/* Whether a joint locks all three translations, whatever the time; reads the same. */
int pol_joint_locks_point(const pol_joint *joint);
/* "x" .. "rotation-z" of the POL_LOCK_... bit 1 << number; NULL if there is no such bit. */
const char *pol_lock_name(int number);
/* The type of that name in *type, or POL_BAD_ARGUMENT. */
pol_status pol_joint_type_find(const char *name, pol_joint_type *type);

/* Whether a joint of this type can hold a point mass: it locks no rotation. */
int pol_joint_fits_point(const pol_joint *joint);

/* "force", "support" and so on; NULL if there is no such type. */
const char *pol_force_type_name(pol_force_type type);
/* How many expressions a force of this type can have: 3, 1 or none. */
int pol_force_num_expressions(pol_force_type type);
/* "global" or "body"; NULL if there is no such frame. */
const char *pol_force_frame_name(pol_force_frame frame);

/* "linear" or "squared-length"; NULL if there is no such law. */
const char *pol_spring_law_name(pol_spring_law law);

/* "constant", ...; NULL if there is no such type. */
const char *pol_function_type_name(pol_function_type type);
/* "rotation", "translation", "x", ...; NULL if there is no such coordinate. */
const char *pol_coordinate_name(pol_coordinate coordinate);
/* Whether it is an angle, driven by a torque; else a length, driven by a force. */
int pol_coordinate_turns(pol_coordinate coordinate);
/* Whether a joint has the coordinate, so that a drive can prescribe it.  Of the joint, only type
 * and locked are read. */
int pol_joint_has_coordinate(const pol_joint *joint, pol_coordinate coordinate);

/* How many coordinates a joint has that are one number, and what they are; NULL if there is no
 * coordinate `index`.  With x, y, z the axes of the markers:
 *
 *     revolute        the angle about z, from x of the first to x of the second marker
 *     prismatic       the displacement of the second marker along z of the first
 *     cylindrical     angle and displacement
 *     universal       the angles about x of the first and about y of the second marker
 *     planar          the displacements along x and y of the first marker, the angle about z
 *     point-on-line   the displacement along z of the first marker
 *     point-in-plane  the displacements along x and y of the first marker
 *     parallel        the displacements along x, y, z of the first marker, the angle about z
 *     generic         the displacements that are not locked; the angle if one rotation is not
 *
 * Others have none: rotations about more than one axis have no natural coordinate.  Of the joint,
 * only type and locked are read. */
int pol_joint_num_coordinates(const pol_joint *joint);
const pol_coordinate_info *pol_joint_coordinate(const pol_joint *joint, int index);

#ifdef __cplusplus
}
#endif
#endif
