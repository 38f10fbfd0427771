/* A formulation chooses coordinates for a mechanism and thereby turns it into a pol_dae.
 *
 *   so3xr3            SO(3) x R3 per body: v = (body angular velocity, global velocity)
 *   se3               SE(3) per body: v = (angular velocity, velocity), both in body axes
 *   so3xr3-spatial    as so3xr3 with the angular velocity in global axes; best for fast spin
 *   so3xr3-cayley     as so3xr3 with the Cayley map instead of the exponential
 *   so3               SO(3) per body, for bodies on a spherical joint to the ground, which the
 *                     coordinates satisfy without constraints
 *   rotation-vector   the increment of a step as classical coordinates, re-centred each step
 *   euler-parameters  unit quaternion as coordinates, with a constraint for its length
 *   tait-bryan        angles about x, y, z; singular at gimbal lock
 *   directors         the columns of the rotation matrix, with six constraints: a constant mass
 *                     matrix and polynomial constraints, as energy-momentum methods require
 *
 * The coordinates of point masses are their positions, R3, in all formulations.  A flexible body
 * has the coordinates of a rigid body for its reference frame, and R^n for its modes; so3 and
 * directors do not support it.
 *
 * Joints and forces are expressed in frames and wrenches; only formulations use coordinates.
 */
#ifndef POLHODE_FORMULATION_H
#define POLHODE_FORMULATION_H

#include <polhode/dae.h>
#include <polhode/mechanism.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The formulations above, in that order. */
typedef enum pol_formulation_kind {
  POL_SO3XR3,
  POL_SE3_BODY,
  POL_SO3XR3_SPATIAL,
  POL_SO3XR3_CAYLEY,
  POL_SO3_PIVOT,
  POL_ROTATION_VECTOR,
  POL_EULER_PARAMETERS,
  POL_TAIT_BRYAN,
  POL_DIRECTORS
} pol_formulation_kind;

/* Conversion between kinds and the names used in model files, such as "so3xr3".  Names have static
 * storage; NULL for an invalid kind. pol_formulation_find: POL_BAD_ARGUMENT for an unknown name. */
const char *pol_formulation_name(pol_formulation_kind kind);
const char *pol_formulation_title(pol_formulation_kind kind); /* a short description */
pol_status pol_formulation_find(const char *name, pol_formulation_kind *kind);
int pol_formulation_count(void); /* kinds are 0 .. count-1 */

/* A mechanism expressed in coordinates. */
typedef struct pol_formulation pol_formulation;

/* POL_BAD_ARGUMENT, with the reason in message (NULL only if size is 0), if this formulation cannot
 * express the mechanism, an expression of the mechanism is invalid, or an element was rejected
 * (pol_mechanism_errors(); the reason is the first error).  POL_NO_MEMORY, also if memory was
 * exhausted when an element was added. */
pol_status pol_formulation_supports(const pol_mechanism *mechanism, pol_formulation_kind kind,
                                    char *message, size_t size);

/* The mechanism must outlive the formulation and must not change. */
pol_status pol_formulation_create(pol_formulation **formulation, const pol_mechanism *mechanism,
                                  pol_formulation_kind kind);
void pol_formulation_free(pol_formulation **formulation);

/* The equations of motion; valid as long as the formulation. */
const pol_dae *pol_formulation_dae(const pol_formulation *formulation);
const pol_mechanism *pol_formulation_mechanism(const pol_formulation *formulation);
pol_formulation_kind pol_formulation_get_kind(const pol_formulation *formulation);

/* The initial values of the mechanism in these coordinates: q (nq), v (nv), and keep (nv), which is
 * 1 for each velocity that the assembler should keep. */
void pol_formulation_initial(const pol_formulation *formulation, double *q, double *v,
                             unsigned char *keep);

/* Replaces initial values q, v (from pol_formulation_initial) by consistent ones: the values
 * nearest to the initial values of the mechanism, in the metric of the mass matrix, that satisfy
 * the constraints at time t and keep the fixed values of bodies (pol_body.keep).  The result is the
 * same in all formulations; q and v do not change if the constraints are satisfied to round-off and
 * nothing is kept.  POL_INCONSISTENT if there are no such values; the diagnostics name bodies and
 * joints.  Allocates its workspace. */
pol_status pol_formulation_assemble(const pol_formulation *formulation, pol_solver_kind solver,
                                    double t, double *q, double *v, pol_diagnostics *diagnostics);

/* The constraints of a joint have more than one solution: axes that should be parallel may be
 * antiparallel, and a driven rotation may differ from its function by half a turn.
 * POL_INCONSISTENT, with the name of the joint or drive, if the configuration q at time t is on
 * such a wrong branch. */
pol_status pol_formulation_check_branches(const pol_formulation *formulation, double t,
                                          const double *q, pol_diagnostics *diagnostics);

/* Index of the first constant-velocity joint that is bent by nearly 180 degrees, where the twist
 * between its shafts is not determined, or that is on the wrong branch; -1 if there is none.  *left
 * is then (1 + cos(bend)) cos(twist): 2 when straight, less than 5e-3 (4 degrees) here, negative on
 * the wrong branch; it is undefined if -1 is returned. */
int pol_formulation_bent_joint(const pol_formulation *formulation, const double *q, double *left);

/* Position and velocity of a body, independent of the formulation.  A point mass does not
 * rotate. */
typedef struct pol_body_state {
  double position[3];                /* of the centre of mass */
  double quaternion[4];              /* (w, x, y, z), w >= 0 */
  double rotation[9];                /* the same as a matrix, body to global axes */
  double velocity[3];                /* of the centre of mass, global axes */
  double velocity_body[3];           /* the same in body axes */
  double angular_velocity[3];        /* body axes */
  double angular_velocity_global[3]; /* global axes */
} pol_body_state;

/* State of a body, by its index in the mechanism; reads q (nq) and v (nv). */
void pol_formulation_body_state(const pol_formulation *formulation, const double *q,
                                const double *v, int body, pol_body_state *state);

/* The amplitudes and their rates of the modes of a flexible body, by its index in the mechanism;
 * both may be NULL.  Returns their number, pol_flexible_body.num_modes; 0 for other bodies and
 * interfaces.  Reads q (nq) and v (nv). */
int pol_formulation_modes(const pol_formulation *formulation, const double *q, const double *v,
                          int body, double *amplitudes, double *rates);

/* Position and velocity of a marker. */
typedef struct pol_marker_state {
  double position[3];         /* global */
  double quaternion[4];       /* marker to global axes, (w, x, y, z), w >= 0 */
  double rotation[9];         /* the same as a matrix */
  double velocity[3];         /* global axes */
  double angular_velocity[3]; /* of its body, in the axes of the marker */
} pol_marker_state;

/* State of a marker, by its index in the mechanism; reads q (nq) and v (nv). */
void pol_formulation_marker_state(const pol_formulation *formulation, const double *q,
                                  const double *v, int marker, pol_marker_state *state);

/* Index of the first holonomic row of a joint among the constraints; *num_rows is their number. */
int pol_formulation_joint_rows(const pol_formulation *formulation, int joint, int *num_rows);

/* The multipliers of all rows of a joint, holonomic and non-holonomic, in the order of
 * pol_joint_rows.  Returns their number: 0 for a joint that the coordinates of so3 satisfy. */
int pol_formulation_multipliers(const pol_formulation *formulation, const double *lambda, int joint,
                                double multipliers[POL_MAX_JOINT_ROWS]);

/* Force and torque (global axes, at the point of the second marker) that a joint exerts on the body
 * of its second marker; the opposite wrench acts on the first body at the same point.  Reads q and
 * lambda; for a joint that the coordinates of so3 satisfy also v and vd. */
void pol_formulation_reaction(const pol_formulation *formulation, const pol_point *at, int joint,
                              double force[3], double torque[3]);

/* Coordinate `index` of a joint (pol_joint_coordinate) and its rate; angles include the full turns
 * in at->history; without history they are in (-pi, pi].  Reads q and v. */
void pol_formulation_joint_coordinate(const pol_formulation *formulation, const pol_point *at,
                                      int joint, int index, double *value, double *rate);

/* Force (N) or torque (N m) of a joint-spring, joint-stop or joint-friction on the body of the
 * joint's second marker, along or about the joint axis; the opposite acts on the first body.  Reads
 * q, v, history and, for friction that depends on reactions, lambda. */
double pol_formulation_joint_spring_effort(const pol_formulation *formulation, const pol_point *at,
                                           int force);

/* Force (N) along or torque (N m) about the axis of its coordinate that a drive exerts on the body
 * of its second marker; the opposite acts on the first body.  Reads lambda. */
double pol_formulation_drive_effort(const pol_formulation *formulation, const pol_point *at,
                                    int drive);

/* Force (N) or torque (N m) that a coupling exerts on the body of the second marker of each of its
 * two joints, along or about the joint axis; the opposite acts on the first body.  Reads lambda.
 */
void pol_formulation_coupling_effort(const pol_formulation *formulation, const pol_point *at,
                                     int coupling, double effort[2]);

/* The values of all pol_mechanism_num_variables() variables; NaN if a quantity that they read is
 * undefined.  Reads all of the point except vd. */
void pol_formulation_variables(const pol_formulation *formulation, const pol_point *at,
                               double *values);
/* The value of a first-order state.  Reads v. */
double pol_formulation_state_variable(const pol_formulation *formulation, const pol_point *at,
                                      int state);

/* Energy of a mechanism, J. */
typedef struct pol_energy {
  double kinetic;
  /* of gravity, zero at the origin; of springs and flexible bodies, zero when relaxed; of
   * callbacks, as they return it */
  double potential;
} pol_energy;

/* Reads q, v and history. */
void pol_formulation_energy(const pol_formulation *formulation, const pol_point *at,
                            pol_energy *energy);

/* Power balance, J/s: d(total energy)/dt = applied + drives - dissipated. */
typedef struct pol_power {
  double dissipated; /* dissipated by dampers and drag, >= 0 */
  double applied;    /* supplied by applied forces, torques and actuators, including expressions */
  double drives;     /* supplied by drives */
} pol_power;

/* Reads t, q, v, lambda and history. */
void pol_formulation_power(const pol_formulation *formulation, const pol_point *at,
                           pol_power *power);

/* Linear momentum, and angular momentum about the origin; global axes. */
typedef struct pol_momentum {
  double linear[3];
  double angular[3];
} pol_momentum;

/* Total momentum of all bodies; reads q (nq) and v (nv). */
void pol_formulation_momentum(const pol_formulation *formulation, const double *q, const double *v,
                              pol_momentum *momentum);
/* The same from momenta p (nv) that a method computes besides the velocities (pol_state.p).  Every
 * body must have directors or Euler parameters, or be a point mass. */
void pol_formulation_momentum_by_p(const pol_formulation *formulation, const double *q,
                                   const double *p, pol_momentum *momentum);

#ifdef __cplusplus
}
#endif
#endif
