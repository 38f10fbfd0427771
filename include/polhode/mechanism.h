/* A mechanism: rigid bodies, markers (frames fixed in a body or in the ground), joints between
 * markers, drives and couplings of joints, forces on and between bodies, gravity, and variables and
 * first-order states that users define by expressions.  Plain data, independent of coordinates and
 * integrators; a formulation turns it into equations.
 *
 * SI units and radians; all values at the initial configuration.  The mechanism owns its elements;
 * pointers returned by the access functions are valid until an element is added or the mechanism is
 * freed.
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
  POL_NOT_FOUND = -2 /* no element has this name; also the index of a rejected element */
};

/* The given initial values of a body.  The assembler keeps a given angular velocity if the joints
 * allow it.  If the body has to be rotated to satisfy the joints, it keeps the components in body
 * axes or, with POL_GIVEN_IN_GLOBAL_AXES, in global axes. */
enum { POL_GIVEN_VELOCITY = 1, POL_GIVEN_ANGULAR_VELOCITY = 2, POL_GIVEN_IN_GLOBAL_AXES = 4 };

/* The initial values of a body that the assembler must not change: bits of the x components; those
 * of y and z are the next two. */
enum {
  POL_KEEP_POSITION = 1 << 0,
  POL_KEEP_ROTATION = 1 << 3, /* of the rotation vector from the given rotation, in body axes */
  POL_KEEP_VELOCITY = 1 << 6,
  POL_KEEP_ANGULAR_VELOCITY = 1 << 9 /* body axes */
};

struct pol_flexible_body;

/* A rigid body or a point mass.  A point mass has a position but no rotation; its axes are the
 * global axes.  A flexible body and each of its interfaces are bodies too, with frames instead of
 * centres of mass: see pol_flexible_body.
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
  int point; /* 1: a point mass; inertia, rotation and angular velocity are not read; zero, the
                identity and zero are stored */
  /* Set by the mechanism, not read: this body is the reference frame of a flexible body (interface
   * 0), with its mass and its moments about that frame, or the frame of its interface number
   * `interface` - 1, which has no mass; NULL for all others. */
  const struct pol_flexible_body *flexible;
  int interface;
} pol_body;

/* A frame fixed in a body or in the ground. */
typedef struct pol_marker {
  const char *name;   /* may be empty */
  int body;           /* index or POL_GROUND */
  double position[3]; /* from the centre of mass in body axes; ground: global; point mass: 0 */
  double rotation[4]; /* marker to body axes */
} pol_marker;

/* Types of joints: which translations and rotations of the second marker relative to the first are
 * locked.  The joint axis is the z axis of its markers. */
typedef enum pol_joint_type {
  POL_FIXED,
  POL_REVOLUTE,          /* free: rotation about z */
  POL_PRISMATIC,         /* free: translation along z */
  POL_CYLINDRICAL,       /* free: rotation about and translation along z */
  POL_SPHERICAL,         /* free: all rotations */
  POL_UNIVERSAL,         /* free: rotations about x of the first and y of the second marker */
  POL_PLANAR,            /* free: translations along x and y, rotation about z */
  POL_DISTANCE,          /* free: all except the distance between the points of the markers */
  POL_POINT_ON_LINE,     /* free: translation along z, all rotations */
  POL_POINT_IN_PLANE,    /* free: translations along x and y, all rotations */
  POL_PARALLEL,          /* free: all translations, rotation about z; the z axes stay parallel */
  POL_CONSTANT_VELOCITY, /* free: bending in any direction; rotation about z is transmitted 1 : 1
                          */
  POL_GENERIC,           /* free: all that pol_joint.locked does not contain */
  POL_ROLLING_SPHERE,    /* a sphere about the second marker rolls on the xy plane of the first */
  POL_ROLLING_DISK /* the rim of a thin disk with the axis z of the second marker rolls on it */
} pol_joint_type;

/* Bits of pol_joint.locked: relative translations along and rotations about the axes of the first
 * marker.  One locked rotation, for example about z, keeps x of the first marker perpendicular to y
 * of the second (about x: y and z; about y: z and x), as in a universal joint.  Two keep the third
 * axes of the markers parallel, as in a revolute joint.  Three lock all rotations. */
enum {
  POL_LOCK_X = 1 << 0,
  POL_LOCK_Y = 1 << 1,
  POL_LOCK_Z = 1 << 2,
  POL_LOCK_ROTATION_X = 1 << 3,
  POL_LOCK_ROTATION_Y = 1 << 4,
  POL_LOCK_ROTATION_Z = 1 << 5
};

/* Kinds of constraint rows.  All axes are those of the markers. */
typedef enum pol_row_kind {
  POL_ROW_TRANSLATION, /* component `axis` of the second marker's position in the first marker's
                          frame */
  POL_ROW_ROTATION, /* axis `axis` of the first marker is perpendicular to `other` of the second */
  POL_ROW_DISTANCE, /* (d.d - length^2) / 2 with d from the first marker to the second */
  POL_ROW_TWIST,    /* x1.y2 - y1.x2 with axes of the first and the second marker */
  POL_ROW_HEIGHT,   /* height of the lowest point of a rolling sphere or rim above the plane */
  POL_ROW_SLIP /* velocity of that point along `axis` of the first marker: a non-holonomic row */
} pol_row_kind;

/* One scalar constraint of a joint. */
typedef struct pol_joint_row {
  pol_row_kind kind;
  int axis;  /* 0, 1, 2; not used by distance and twist rows */
  int other; /* 0, 1, 2; rotation rows only */
} pol_joint_row;

/* Friction of a joint coordinate with the rate u: the force or torque
 *
 *     -(mu(u) N + s(u)) tanh(u / creep_speed) - viscous u
 *
 * with mu = coefficient + (static_coefficient - coefficient) exp(-(u / stribeck_speed)^2), likewise
 * s of level and static_level, and the load N from the reaction of the joint, with F and M its
 * force and torque across (|...| of two components) and along the axis:
 *
 *     angle of a revolute or cylindrical joint, N m:  radius |F_across| + thrust_radius |F_along|
 *                                                     + radius 2 |M_across| / length
 *     displacement of a prismatic or cylindrical joint, N:  |F_across| + 2 |M_across| / length
 *                                                           + |M_along| / radius
 *
 * Terms with a radius or length of zero are left out, except that a coefficient on an angle needs
 * a radius.  There is no exact sticking: under a load of a share x of the static limit the
 * coordinate creeps with creep_speed atanh(x). */
typedef struct pol_joint_friction {
  double coefficient, static_coefficient; /* >= 0; static below kinetic: the kinetic one */
  double level, static_level;             /* N or N m, >= 0; likewise */
  double viscous;                         /* N s/m or N m s/rad, >= 0 */
  double radius, thrust_radius, length;   /* m, >= 0 */
  double stribeck_speed, creep_speed;     /* m/s or rad/s, > 0 */
} pol_joint_friction;

/* Stops of a joint coordinate.  A spring of this stiffness and damping acts beyond min and max:
 * at the depth p and with the rate u into the stop, it pushes back with
 *
 *     k p (1 + tanh(d u / (k p))),
 *
 * which is k p + d u for small rates, continuous, never negative and at most 2 k p.  With a
 * restitution, the rate changes sign and is multiplied by it where the coordinate reaches the
 * limit in a simulation, or becomes 0 if it would be below rest_speed.  Where the loads then press
 * the joint onto the stop, it rests there: the stop pushes back with T0 + k p + d u, T0 being the
 * load at the beginning, until this would pull. */
typedef struct pol_joint_limits {
  double min, max;    /* m or rad including full turns; -INFINITY, INFINITY: none; min < max */
  double stiffness;   /* N/m or N m/rad, > 0; 0: such that both bodies alone swing at 20 Hz, with
                         a restitution at 100 Hz */
  double damping;     /* N s/m or N m s/rad; < 0: 0.3 of critical damping, of both bodies alone */
  double restitution; /* 0 to 1; < 0: no event */
  double rest_speed;  /* m/s or rad/s, > 0 */
} pol_joint_limits;

/* What acts on one free coordinate of a joint. */
typedef struct pol_joint_axis {
  double stiffness, damping; /* N/m and N s/m, or N m/rad and N m s/rad; >= 0 */
  double rest;               /* coordinate of the relaxed spring, m or rad including full turns */
  /* Inertia of a rotor, reflected by its gear to this coordinate, kg or kg m^2, >= 0: the kinetic
   * energy armature u^2 / 2 with the rate u.  It has no gyroscopic terms.  Not for angles of a
   * universal joint. */
  double armature;
  pol_joint_limits limits;
  pol_joint_friction friction;
} pol_joint_axis;

/* A joint between two markers. */
typedef struct pol_joint {
  const char *name;
  pol_joint_type type;
  int marker[2];   /* marker indices: first, second */
  double length;   /* distance only, above 0 */
  double radius;   /* rolling only, above 0 */
  unsigned locked; /* generic only: POL_LOCK_... bits, at least one */
  /* 1: the translation rows are in global axes instead of those of the first marker; only if all
   * three translations are locked (pol_joint_locks_point). */
  int global_axes;
  /* What acts on its coordinates: an array of pol_joint_num_coordinates() elements in their order,
   * made from pol_joint_axis_default(); NULL: nothing.  The mechanism makes a copy, and a force
   * element for each spring with damper, stop and friction: POL_JOINT_SPRING, POL_JOINT_STOP and
   * POL_JOINT_FRICTION.  Their names are "hinge.spring", "hinge.stop" and "hinge.friction" with the
   * name of the joint; if it has several coordinates, "shaft.spring.translation" and so on. */
  const pol_joint_axis *axes;
} pol_joint;

/* Maximum number of rows of a joint. */
enum { POL_MAX_JOINT_ROWS = 6 };

/* A function of time.  It has two continuous derivatives, except at the ends of clamped tables;
 * expressions are as smooth as their formula. */
typedef enum pol_function_type {
  POL_CONSTANT,   /* offset */
  POL_HARMONIC,   /* offset + amplitude sin(2 pi frequency t + phase) */
  POL_POLYNOMIAL, /* values[0] + values[1] t + values[2] t^2 + ... */
  POL_STEP,       /* smooth transition from `from` at t0 to `to` at t1, constant before and after */
  POL_SPEED,      /* offset + from t until t0, then the rate changes like POL_STEP to `to` at t1 */
  POL_TABLE,      /* cubic spline through (times, values), linear before and after */
  POL_EXPRESSION  /* a text such as "0.1*sin(2*pi*3*t)"; its only variable is t */
} pol_function_type;

struct pol_expression; /* private */

typedef struct pol_function {
  pol_function_type type;
  double offset;
  double amplitude, frequency, phase; /* Hz, rad */
  double from, to, t0, t1;            /* t0 < t1, s */
  int count;                          /* number of values: at least 1, for a table 2 */
  const double *values;
  const double *times;    /* table only, ascending */
  int clamped;            /* table only: 1: the slopes at both ends are given; 0: f'' = 0 there */
  double slopes[2];       /* table only */
  const double *moments;  /* second derivatives at the times; set in the copy of the mechanism */
  const char *expression; /* expression only */
  const struct pol_expression *program; /* compiled expression; set in the copy of the mechanism */
} pol_function;

/* Types of force elements. */
typedef enum pol_force_type {
  POL_APPLIED_FORCE,  /* a force on a point of a body, constant or scaled by a function of time */
  POL_APPLIED_TORQUE, /* the same for a torque on a body */
  POL_SUPPORT, /* springs and dampers along the global axes from a point of a body to the ground
                */
  POL_SPRING_DAMPER, /* spring, damper and actuator along the line between two markers */
  POL_DRAG,          /* -coefficient |u| u at the centre of mass of a body with velocity u */
  POL_JOINT_SPRING,  /* spring, damper and actuator on a free coordinate of a joint */
  POL_BUSHING, /* springs and dampers for all translations and rotations between two markers */
  POL_CALLBACK_FORCE, /* computed by a C callback; not in model files */
  POL_JOINT_STOP,     /* stops of a joint coordinate, made by the mechanism from pol_joint_axis */
  POL_JOINT_FRICTION, /* friction of a joint coordinate, likewise */
  /* an elastic beam element between two markers, whose x axes point along it; in model files only
   * as part of a beam */
  POL_BEAM
} pol_force_type;
/* Energy of a spring-damper with stiffness k and relaxed length l0 at the length l. */
typedef enum pol_spring_law {
  POL_LINEAR_SPRING, /* k (l - l0)^2 / 2, k in N/m */
  POL_SQUARED_SPRING /* k (l^2 - l0^2)^2 / 2, k in N/m^3: a polynomial in the positions */
} pol_spring_law;

/* The deformation of a beam element, by which its forces are defined; docs/beams.md. */
typedef enum pol_beam_strain {
  POL_BEAM_SE3,      /* of a helix between its ends */
  POL_BEAM_SO3XR3,   /* at the middle of a straight line between its ends */
  POL_BEAM_DIRECTORS /* with the means of the directors of its ends, quadratic in them */
} pol_beam_strain;

/* The section of a beam: moments and forces by curvatures and strains, all in the axes of the
 * section, x along the beam.  Six numbers are torsion, bending about y and about z, axial force,
 * shear along y and along z; the matrices are row-major, symmetric and have no negative
 * eigenvalue. */
typedef struct pol_section {
  double stiffness[36]; /* N m^2, N m, N */
  double damping[36];   /* the same by the rates: N m^2 s, N m s, N s */
  /* curvatures (1/m) and strains of the relaxed beam; its axial strain is 1, the length of the
   * beam by the length of the element */
  double strain[6];
} pol_section;

/* The axes in which a force or torque is given. */
typedef enum pol_force_frame {
  POL_GLOBAL_AXES, /* the direction is fixed in space */
  POL_BODY_AXES    /* the vector rotates with the body */
} pol_force_frame;

/* Position and velocity of a body, as passed to a callback force; the ground is at rest at the
 * origin. */
typedef struct pol_motion {
  double position[3];         /* of the centre of mass */
  double rotation[9];         /* row-major, body to global axes */
  double velocity[3];         /* of the centre of mass, global axes */
  double angular_velocity[3]; /* body axes */
} pol_motion;

/* A force between two bodies (or a body and the ground), given by C functions.  They are called by
 * every thread that uses the mechanism and must not store data between calls.  They return 0; > 0
 * to request a smaller step; < 0 to abort.
 *
 * The wrench is (torque1, force1, torque2, force2): torques about the centre of mass in body axes,
 * forces in global axes; entries for the ground and torques on point masses are ignored.  The
 * callback is responsible for equal and opposite forces.  All output is zero on entry. */
typedef struct pol_callback {
  pol_status (*wrench)(double t, const pol_motion motion[2], double wrench[12], void *user);

  /* Optional: derivatives of the wrench with respect to (dphi1, dx1, dphi2, dx2), where dR = R
   * dphi~ and x is the position, and with respect to (w1, u1, w2, u2), the angular velocity and the
   * velocity.  Without this function, central differences along the group are used, with 24
   * additional evaluations for each body except the ground, accurate to about 9 digits. */
  pol_status (*derivatives)(double t, const pol_motion motion[2], double by_position[12][12],
                            double by_velocity[12][12], void *user);
  double length; /* m: a displacement that changes the force noticeably; 0: 1 m */

  /* Optional: the potential energy, if the force at rest is its negative gradient. */
  double (*potential)(const pol_motion motion[2], void *user);

  void *user; /* passed to the callbacks; not owned */
} pol_callback;

/* A force element; the type determines which fields are read. */
typedef struct pol_force {
  const char *name;
  pol_force_type type;
  int body; /* index; not for types with two markers or bodies */
  /* spring-damper, bushing: marker indices, on different bodies; those of a spring-damper must not
   * coincide */
  int marker[2];
  int joint;      /* joint-spring: index */
  int coordinate; /* joint-spring: number of the joint coordinate, see pol_joint_coordinate() */

  /* applied force or torque: N or N m, in the axes of `frame` */
  pol_force_frame frame;
  double vector[3];
  /* applied force, support: point of application, from the centre of mass in body axes */
  double point[3];
  /* applied force or torque, actuator of a spring-damper: factor as a function of time; NULL: 1
   */
  const pol_function *scale;
  /* support: position of the point with relaxed springs, global */
  double anchor[3];
  /* support: along x, y and z; spring-damper, joint-spring: first entry; bushing: along the axes of
   * the first marker.  N/m (squared law: N/m^3) and N s/m; joint-spring on an angle: N m/rad and N
   * m s/rad; >= 0 */
  double stiffness[3], damping[3];
  pol_spring_law law; /* spring-damper */
  /* bushing, about the axes of the first marker: N m/rad and N m s/rad, >= 0 */
  double rotational_stiffness[3], rotational_damping[3];
  /* bushing: force (N) and torque (N m) on the second body if the markers coincide, in the axes of
   * the first marker */
  double preload[3], preload_torque[3];
  /* spring-damper: length of the relaxed spring, m, >= 0; constant force that pushes the markers
   * apart, N */
  double length, actuator;
  /* joint-spring: coordinate of the relaxed spring, m or rad including full turns; its actuator is
   * a constant force, N, or torque, N m, in the direction of increasing values */
  double rest;
  /* joint-stop: min and max of the coordinate, and the rest_speed of a hard stop, else 0;
   * joint-friction: its numbers.  Set by the mechanism in the elements that it makes from
   * pol_joint.axes. */
  double limits[2], rest_speed;
  pol_joint_friction friction;
  int made_by_joint; /* 1: made from pol_joint.axes; set by the mechanism */
  /* drag: N s^2/m^2, >= 0 */
  double coefficient;
  /* beam: its section, which the mechanism copies; its length above is that of the relaxed beam,
   * above 0 */
  const pol_section *section;
  pol_beam_strain strain;
  /* callback: its bodies, one of which may be POL_GROUND, and its functions */
  int bodies[2];
  pol_callback callback;
  /* Expressions instead of numbers, NULL for none.  Applied force or torque: the components of
   * vector; spring-damper or joint-spring: the first entry replaces the actuator.  See
   * pol_variable. */
  const char *expressions[3];
} pol_force;

/* A quantity defined by an expression, such as "target - hinge.angle".  Expressions may use, with
 * the names of the recorded channels (polhode/simulation.h), time, positions and velocities of
 * bodies and markers, joint coordinates, reactions of joints and drives, states and variables, in
 * any order but without circular definitions. pol_formulation_supports() checks them. */
typedef struct pol_variable {
  const char *name; /* not t or pi */
  const char *expression;
  /* 1: an input, such as a control or a parameter.  A program may change its value between steps
   * (pol_simulation_set_input, pol_batch_inputs); the expression is its value until then and must
   * be constant. */
  int input;
  /* Of the values, for results and plots; NULL: none.  Products and powers of m, kg, s, rad, A, K,
   * N, J, W, Pa, Hz, V and ohm, as "kg m^2" or "N s/m". */
  const char *unit;
} pol_variable;

/* A first-order state c with c' = rate, an expression, and c = initial at the start. */
typedef struct pol_state_variable {
  const char *name; /* not t or pi, nor that of a variable */
  double initial;
  const char *rate;
  const char *unit; /* of c, as that of a variable; NULL: none */
} pol_state_variable;

/* Coordinates that drives prescribe as functions of time: free coordinates of joints, or
 * coordinates of one marker relative to another.  Rotations in rad, translations in m, both of the
 * second marker relative to the first. */
typedef enum pol_coordinate {
  POL_DRIVE_ROTATION, /* about z, from the x axis of the first marker to that of the second; generic
                         joint: about the only free axis */
  POL_DRIVE_TRANSLATION,   /* along z of the first marker */
  POL_DRIVE_TRANSLATION_X, /* planar, point-in-plane, parallel, generic: along x, y, z of the */
  POL_DRIVE_TRANSLATION_Y, /* first marker */
  POL_DRIVE_TRANSLATION_Z,
  POL_DRIVE_ROTATION_1, /* universal: about x of the first marker, from its y to y of the second
                         */
  POL_DRIVE_ROTATION_2, /* universal: about y of the second marker, from x of the first to its x
                           axis */
  POL_DRIVE_X,          /* of a marker: along x, y, z of the reference marker */
  POL_DRIVE_Y,
  POL_DRIVE_Z
} pol_coordinate;

/* Names of a free coordinate of a joint, in model files and results. */
typedef struct pol_coordinate_info {
  const char *key;       /* in model files: "rotation", "translation", "rotation-1", ... */
  const char *name;      /* "angle", "displacement", "angle.1", "displacement.x", ... */
  const char *rate_name; /* "rate", "speed", "rate.1", "speed.x", ... */
  int angular;           /* 1: an angle, rad; 0: a length, m */
} pol_coordinate_info;
enum { POL_NO_JOINT = -1 };

/* A prescribed motion of a joint coordinate or of a marker. */
typedef struct pol_drive {
  const char *name;
  int joint;     /* index; or POL_NO_JOINT for x, y or z of marker[1] relative to marker[0] */
  int marker[2]; /* marker indices, on different bodies; only without joint */
  pol_coordinate coordinate;
  pol_function function;
} pol_drive;

/* A gear, rack and pinion, or screw: two free coordinates c of joints satisfy factor[0] (c[0] -
 * reference[0]) + factor[1] (c[1] - reference[1]) = 0; angles include full turns. */
typedef struct pol_coupling {
  const char *name;
  int joint[2];                 /* indices */
  pol_coordinate coordinate[2]; /* one of each joint; must differ */
  double factor[2];             /* not zero */
  double reference[2];          /* corresponding values of both coordinates, rad or m */
} pol_coupling;

/* A beam: a line of nodes, which are rigid bodies, and the elements between them.  It is relaxed
 * as it is given, straight or curved. */
typedef struct pol_beam {
  const char *name;
  int num_nodes;           /* at least 2 */
  const double *positions; /* 3 numbers for each node, global */
  const double *rotations; /* 4 numbers: unit quaternions from the axes of the section to the global
                              ones; x points along the beam to the next node */
  const double *ends;      /* 8 numbers for each of the num_nodes - 1 elements: the axes of the
                              section at its two ends, where a corner has others than the node;
                              NULL: those of the nodes */
  const double *lengths;   /* of the elements along the beam; NULL: those of the
                              helices (straight lines, arcs of circles) between the nodes */
  double stiffness[36], damping[36]; /* of the section, see pol_section */
  double mass;                       /* by length, kg/m, above 0 */
  double inertia[9]; /* of the section by length, kg m: the moments about its mass centre, in its
                        axes; as the inertia of a body */
  double center[2];  /* of mass, from the line along y and z, m */
  pol_beam_strain strain;
  double velocity[3], angular_velocity[3]; /* of the whole beam as a rigid body, global axes: that
                                              of its first node, and its spin */
  unsigned given;                          /* POL_GIVEN_... bits of these two */
} pol_beam;

/* A place of a flexible body where joints and forces can act: a frame that follows the modes. */
typedef struct pol_interface {
  const char *name;
  double position[3];        /* in the undeformed body, in axes of its reference frame */
  const double *translation; /* num_modes times 3 numbers: displacement per unit of each mode */
  const double *rotation;    /* the same: small rotation per unit of each mode */
} pol_interface;

/* A flexible body in the floating frame of reference: a reference frame (x, R) as that of a rigid
 * body, and small displacements u(X) = sum over k of q_k phi_k(X) in its axes.  With phi_0 = X, the
 * place in the undeformed body, and q_0 = 1, its inertia is that of the integrals over its mass
 *
 *     mass,   first_a = integral of phi_a,   second_ab = integral of phi_a phi_b^T,
 *
 * a and b from 0 to num_modes: moments J = sum q_a q_b (tr(second_ab) I - second_ab), and so on.
 * An interface has the frame x + R (position + translation q), R exp(rotation q).
 *
 * Markers, joints, forces and results use the body NAME, the reference frame, and the bodies
 * NAME.INTERFACE behind it, the frames of the interfaces.  What acts on the reference frame acts on
 * no mode: use it only where the modes vanish, or use an interface.  docs/flexible.md has the
 * equations. */
typedef struct pol_flexible_body {
  const char *name;
  double position[3], rotation[4];         /* of the reference frame, as of a body */
  double velocity[3], angular_velocity[3]; /* of its origin, global; of the frame, as of a body */
  unsigned given;                          /* POL_GIVEN_... bits */
  int num_modes;                           /* at least 1 */
  double mass;
  const double *first;     /* 3 numbers for each a */
  const double *second;    /* 9 numbers, by rows, for each a and, within it, each b */
  const double *stiffness; /* of the modes, num_modes squared, symmetric */
  const double *damping;   /* the same; NULL: none */
  const double *inertia;   /* mass matrix of the modes, where it has more than tr(second_kl), as
                              that of rotating nodes; NULL: tr(second_kl) */
  const double *amplitudes, *rates; /* initial values of q and q', num_modes; NULL: 0 */
  int num_interfaces;
  const pol_interface *interfaces;
} pol_flexible_body;

/* A mechanism.  Bodies, markers, ... have indices from 0 in the order in which they were added. */
typedef struct pol_mechanism pol_mechanism;

/* An empty mechanism; POL_NO_MEMORY.  Freeing sets *mechanism to NULL; it may be NULL already. */
pol_status pol_mechanism_create(pol_mechanism **mechanism);
void pol_mechanism_free(pol_mechanism **mechanism);

/* The acceleration of gravity, m/s^2, global axes; initially zero.  Values that are not finite are
 * reported in pol_mechanism_errors(). */
void pol_mechanism_set_gravity(pol_mechanism *mechanism, const double gravity[3]);
void pol_mechanism_gravity(const pol_mechanism *mechanism, double gravity[3]);

/* Default elements, valid once the name and the references are set: a body of 1 kg and 1 kg m^2 at
 * rest at the origin, a marker at the origin of the ground, a fixed joint, an applied force of
 * zero, a drive and a function that are zero, a coupling of equal coordinates.  Rotations are the
 * identity.  References are POL_NOT_FOUND, so that a missing one is reported. */
pol_body pol_body_default(void);
pol_flexible_body pol_flexible_body_default(void); /* without modes, which it needs */
pol_marker pol_marker_default(void);
pol_joint pol_joint_default(void);
pol_joint_axis
pol_joint_axis_default(void); /* nothing acts; speeds of friction and stops are set */
pol_force pol_force_default(void);
pol_function pol_function_default(void);
pol_drive pol_drive_default(void);
pol_coupling pol_coupling_default(void);

/* Adding elements.  The argument is copied, including names.  *index (may be NULL) is the new
 * index.
 *
 * POL_BAD_ARGUMENT: the element is invalid.  It is not added, *index is POL_NOT_FOUND, and all its
 * errors are appended to pol_mechanism_errors().  Every element needs a unique name (markers may
 * have none): unique among bodies, joints, forces, drives and couplings, among markers, and among
 * variables and states.  All numbers must be finite.  POL_NO_MEMORY: the element is not added. */
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

/* Gives an input (pol_variable.input) another value at the start of simulations that are created
 * from now on: its expression becomes this number.  POL_BAD_ARGUMENT: the variable is no input, or
 * the value is not finite; POL_NO_MEMORY. */
pol_status pol_mechanism_set_input(pol_mechanism *mechanism, int variable, double value);

/* Adds a marker given by a global point and an orientation (marker to global axes; NULL: the axes
 * of the body) at the initial configuration.  On a point mass the point must equal its position
 * within a relative tolerance of 1e-9. */
pol_status pol_mechanism_add_marker_at(pol_mechanism *mechanism, const char *name, int body,
                                       const double point[3], const double rotation[4], int *index);

/* Adds a joint between two bodies (indices or POL_GROUND) at a global point of the initial
 * configuration, and two coincident markers for it. joint->marker is not read.
 *
 * axis: the joint axis in global axes, of any length except zero; z of both markers is aligned with
 * it by the smallest rotation.  A universal joint has two perpendicular axes: 6 numbers, x and y of
 * the markers.  NULL: the markers have the axes of the first body.  It must be NULL for spherical
 * joints, is optional for fixed and generic joints and required for all others.  Distance and
 * rolling joints have no common point; add them with markers. */
pol_status pol_mechanism_add_joint_at(pol_mechanism *mechanism, const pol_joint *joint, int body_a,
                                      int body_b, const double point[3], const double *axis,
                                      int *index);

/* Adds a beam: its nodes as bodies NAME_0, NAME_1, ..., each with the mass and the inertia of the
 * half elements beside it as rigid segments, and its elements as forces NAME_0_1, NAME_1_2, ...
 * The markers NAME_first and NAME_last are at its ends: the centres of mass of the first and of the
 * last body are inside the beam.  *first (may be NULL) is the index of the first node.  The ends of
 * an element must not be turned by more than 3 rad against each other, of POL_BEAM_DIRECTORS 1.5
 * rad.  What is wrong is reported as that of the first node or element that it spoils. */
pol_status pol_mechanism_add_beam(pol_mechanism *mechanism, const pol_beam *beam, int *first);

/* Adds a flexible body: the body NAME and a body NAME.INTERFACE for each interface, in their order
 * directly behind it.  *index is that of the body NAME.  All arrays are copied.  The integrals must
 * be those of a body: second_ba the transpose of second_ab, the mass matrix of frame and modes
 * positive definite, so that no mode is a rigid motion; stiffness and damping symmetric without
 * negative eigenvalues. */
pol_status pol_mechanism_add_flexible_body(pol_mechanism *mechanism, const pol_flexible_body *body,
                                           int *index);

/* All errors so far, in the order of the calls: path "body 'crank': mass", value "-1", rule "must
 * be a positive number"; pol_error_text() writes them as one line.  A mechanism with errors is
 * incomplete: pol_formulation_supports() and pol_simulation_create() reject it and report the first
 * error.  A program may therefore add all elements and check for errors once.  Clearing the errors
 * accepts the mechanism without the rejected elements. */
const pol_errors *pol_mechanism_errors(const pol_mechanism *mechanism);
void pol_mechanism_clear_errors(pol_mechanism *mechanism);

/* Position of a marker at the initial configuration, global. */
void pol_mechanism_marker_point(const pol_mechanism *mechanism, int index, double point[3]);

/* Value of a free coordinate of a joint at the initial configuration; angles in (-pi, pi]. */
double pol_mechanism_coordinate(const pol_mechanism *mechanism, int joint,
                                pol_coordinate coordinate);

/* The factor of an applied force or torque, or of an actuator, at a time; 1 without a scale. */
double pol_mechanism_force_scale(const pol_mechanism *mechanism, int force, double t);

/* Number of elements, and access by index; NULL if there is no such index, as for POL_GROUND. */
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

/* Quantities that stay constant in any motion because of the structure of the mechanism: elements
 * attached to the ground, and gravity.  For example, a body on a spherical joint under gravity has
 * one rotation, about the vertical through the joint.  Other invariants, such as the spin of a
 * symmetric top about its own axis, are not detected. */
typedef struct pol_symmetries {
  int energy;               /* 1: the total energy is constant */
  int num_translations;     /* linear momentum is constant along these unit vectors, */
  double translation[3][3]; /* global axes if possible; mutually perpendicular */
  int num_rotations;        /* angular momentum is constant about these axes (unit vectors) */
  double axis[3][3];
  double point[3][3]; /* a point on each axis; three axes share one point */
} pol_symmetries;
/* Finds the symmetries of a mechanism. */
void pol_mechanism_symmetries(const pol_mechanism *mechanism, pol_symmetries *symmetries);

/* The name of a type of joint ("revolute"); NULL if there is no such type. */
const char *pol_joint_type_name(pol_joint_type type);
/* The rows of a joint, non-holonomic ones last; returns their number, at most POL_MAX_JOINT_ROWS.
 * Reads only type and locked of the joint. */
int pol_joint_rows(const pol_joint *joint, pol_joint_row rows[POL_MAX_JOINT_ROWS]);
/* Returns 1 if a joint locks all three translations; reads only type and locked. */
int pol_joint_locks_point(const pol_joint *joint);
/* "x" .. "rotation-z" of the POL_LOCK_... bit 1 << number; NULL if there is no such bit. */
const char *pol_lock_name(int number);
/* Sets *type to the type with this name; POL_BAD_ARGUMENT if there is none. */
pol_status pol_joint_type_find(const char *name, pol_joint_type *type);

/* Returns 1 if the joint can be attached to a point mass: it locks no rotation. */
int pol_joint_fits_point(const pol_joint *joint);

/* "force", "support", ...; NULL if there is no such type. */
const char *pol_force_type_name(pol_force_type type);
/* Number of expressions that a force of this type can have: 3, 1 or 0. */
int pol_force_num_expressions(pol_force_type type);
/* "global" or "body"; NULL if there is no such frame. */
const char *pol_force_frame_name(pol_force_frame frame);

/* "linear" or "squared-length"; NULL if there is no such law. */
const char *pol_spring_law_name(pol_spring_law law);
const char *pol_beam_strain_name(pol_beam_strain strain);

/* "constant", ...; NULL if there is no such type. */
const char *pol_function_type_name(pol_function_type type);
/* "rotation", "translation", "x", ...; NULL if there is no such coordinate. */
const char *pol_coordinate_name(pol_coordinate coordinate);
/* Returns 1 for an angle, driven by a torque; 0 for a length, driven by a force. */
int pol_coordinate_turns(pol_coordinate coordinate);
/* Returns 1 if a joint has the coordinate, so that a drive can prescribe it.  Reads only type and
 * locked of the joint. */
int pol_joint_has_coordinate(const pol_joint *joint, pol_coordinate coordinate);

/* Number of scalar coordinates of a joint, and their names; NULL if there is no coordinate `index`.
 * With x, y, z the axes of the markers:
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
 * Others have none: rotations about more than one axis have no natural scalar coordinate.  Reads
 * only type and locked of the joint. */
int pol_joint_num_coordinates(const pol_joint *joint);
const pol_coordinate_info *pol_joint_coordinate(const pol_joint *joint, int index);

#ifdef __cplusplus
}
#endif
#endif
