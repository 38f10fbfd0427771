/* A formulation chooses coordinates for a mechanism and so turns it into a pol_dae.
 *
 *   so3xr3            SO(3) x R3 a body: v = (body angular velocity, global velocity)
 *   se3               SE(3) a body: v = (angular velocity, velocity), both in body axes
 *   so3xr3-spatial    as so3xr3 with the angular velocity in global axes: far better for fast spin
 *   so3xr3-cayley     as so3xr3 with the Cayley map instead of the exponential
 *   so3               SO(3) a body, for bodies on a spherical joint to the ground, which then is no
 *                     constraint any more
 *   rotation-vector   the increment of a step as classical coordinates, re-centred each step
 *   euler-parameters  unit quaternion as coordinates, with a constraint for its length
 *   tait-bryan        angles about x, y, z; singular at gimbal lock
 *   directors         the columns of the rotation matrix, with six constraints: a constant mass
 *                     matrix and polynomial constraints, which the energy-momentum methods need
 *
 * Point masses have their position as coordinates, R3, in all of them.
 *
 * Elements speak frames and wrenches; only this room knows coordinates.
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

/* Between kinds and the names that a model file says, such as "so3xr3"; static storage, NULL where
 * there is no such kind.  find: POL_BAD_ARGUMENT if there is no such name. */
const char *pol_formulation_name(pol_formulation_kind kind);
const char *pol_formulation_title(pol_formulation_kind kind); /* one phrase */
pol_status pol_formulation_find(const char *name, pol_formulation_kind *kind);
int pol_formulation_count(void); /* kinds are 0 .. count-1 */

/* A mechanism in coordinates. */
typedef struct pol_formulation pol_formulation;

/* POL_BAD_ARGUMENT, with the reason in message (NULL only if size is 0), if this formulation cannot
 * express the mechanism, an expression of the mechanism is wrong, or an element was refused
 * (pol_mechanism_errors(); the reason is the first of them); POL_NO_MEMORY, also if an element was
 * not added for want of memory. */
pol_status pol_formulation_supports(const pol_mechanism *mechanism, pol_formulation_kind kind,
                                    char *message, size_t size);

/* The mechanism must outlive the formulation and not change. */
pol_status pol_formulation_create(pol_formulation **formulation, const pol_mechanism *mechanism,
                                  pol_formulation_kind kind);
void pol_formulation_free(pol_formulation **formulation);

/* The equations; lives as long as the formulation. */
const pol_dae *pol_formulation_dae(const pol_formulation *formulation);
const pol_mechanism *pol_formulation_mechanism(const pol_formulation *formulation);
pol_formulation_kind pol_formulation_get_kind(const pol_formulation *formulation);

/* The mechanism's initial values in these coordinates: q (nq), v (nv), and keep (nv): 1 where the
 * assembler should keep the velocity. */
void pol_formulation_initial(const pol_formulation *formulation, double *q, double *v,
                             unsigned char *keep);

/* Replaces initial values q, v (from pol_formulation_initial) by consistent ones: those nearest to
 * the initial values of the mechanism, in the metric of its masses, that satisfy the constraints at
 * time t and do not change what bodies keep (pol_body.keep).  The result is the same in all
 * formulations; q and v do not change if the constraints hold to round-off and nothing is kept.
 * POL_INCONSISTENT, with bodies and joints named, if there are none.  Allocates its workspace. */
pol_status pol_formulation_assemble(const pol_formulation *formulation, pol_solver_kind solver,
                                    double t, double *q, double *v, pol_diagnostics *diagnostics);

/* A joint's rows are satisfied by more than one attitude: axes that should point the same way may
 * point opposite ways; so is a driven rotation, half a turn away from its function.
 * POL_INCONSISTENT, with the joint or drive named, if the configuration q at time t is on such a
 * branch. */
pol_status pol_formulation_check_branches(const pol_formulation *formulation, double t,
                                          const double *q, pol_diagnostics *diagnostics);

/* Index of the first constant-velocity joint that is bent by nearly 180 degrees, where the twist
 * between its shafts is not determined, or that is on the wrong branch; -1 if there is none.  *left
 * is then (1 + cos(bend)) cos(twist): 2 when straight, less than 5e-3 (4 degrees) here, negative on
 * the wrong branch; otherwise it is of no use. */
int pol_formulation_bent_joint(const pol_formulation *formulation, const double *q, double *left);

/* What a body does, whatever the coordinates.  A point mass does not turn. */
typedef struct pol_body_state {
  double position[3];                /* of the centre of mass */
  double quaternion[4];              /* (w, x, y, z), w >= 0 */
  double rotation[9];                /* the same as a matrix, body to global axes */
  double velocity[3];                /* of the centre of mass, global axes */
  double velocity_body[3];           /* the same in body axes */
  double angular_velocity[3];        /* body axes */
  double angular_velocity_global[3]; /* global axes */
} pol_body_state;

/* Of one body, by its index in the mechanism; reads q (nq) and v (nv). */
void pol_formulation_body_state(const pol_formulation *formulation, const double *q,
                                const double *v, int body, pol_body_state *state);

/* What a marker does. */
typedef struct pol_marker_state {
  double position[3];         /* global */
  double quaternion[4];       /* marker to global axes, (w, x, y, z), w >= 0 */
  double rotation[9];         /* the same as a matrix */
  double velocity[3];         /* global axes */
  double angular_velocity[3]; /* of its body, in the axes of the marker */
} pol_marker_state;

/* Of one marker, by its index in the mechanism; reads q (nq) and v (nv). */
void pol_formulation_marker_state(const pol_formulation *formulation, const double *q,
                                  const double *v, int marker, pol_marker_state *state);

/* Where a joint's holonomic rows start among the constraints; *num_rows of them. */
int pol_formulation_joint_rows(const pol_formulation *formulation, int joint, int *num_rows);

/* The multipliers of all of a joint's rows, holonomic and not, in the order of pol_joint_rows; how
 * many: none for a joint that so3 has taken into its coordinates. */
int pol_formulation_multipliers(const pol_formulation *formulation, const double *lambda, int joint,
                                double multipliers[POL_MAX_JOINT_ROWS]);

/* Force and torque (global axes, at the point of the second marker) that a joint exerts on the body
 * of its second marker; on the first body acts the opposite wrench at the same point.  Reads q and
 * lambda; for a joint that so3 has taken into its coordinates also v and vd. */
void pol_formulation_reaction(const pol_formulation *formulation, const pol_point *at, int joint,
                              double force[3], double torque[3]);

/* Coordinate `index` of a joint (pol_joint_coordinate) and its rate; angles with all full turns of
 * at->history, or in (-pi, pi] without one.  Reads q and v. */
void pol_formulation_joint_coordinate(const pol_formulation *formulation, const pol_point *at,
                                      int joint, int index, double *value, double *rate);

/* Force and torque (global axes, at the point where it acts; of a callback or joint-spring at the
 * centre of mass) that a force element exerts on its body, or on its second one; on the first acts
 * the opposite at the same point, unless a callback says otherwise.  Zero where it cannot be
 * evaluated.  Reads t, q, v and history; where it has expressions also lambda. */
void pol_formulation_force(const pol_formulation *formulation, const pol_point *at, int force,
                           double vector[3], double torque[3]);

/* Force (N) or torque (N m) of a joint-spring on the body of the joint's second marker, along or
 * about the joint's axis; on the first body acts the opposite.  Reads q, v and history. */
double pol_formulation_joint_spring_effort(const pol_formulation *formulation, const pol_point *at,
                                           int force);

/* Force (N) along or torque (N m) about the axis of its coordinate that a drive exerts on the body
 * of its second marker; on the first body acts the opposite.  Reads lambda. */
double pol_formulation_drive_effort(const pol_formulation *formulation, const pol_point *at,
                                    int drive);

/* Force (N) or torque (N m) that a coupling exerts on the body of the second marker of each of its
 * two joints, along or about the joint's axis; on the first body acts the opposite.  Reads lambda.
 */
void pol_formulation_coupling_effort(const pol_formulation *formulation, const pol_point *at,
                                     int coupling, double effort[2]);

/* The values of all variables, pol_mechanism_num_variables() of them; not a number where what they
 * read is not defined.  Reads all of the point but vd. */
void pol_formulation_variables(const pol_formulation *formulation, const pol_point *at,
                               double *values);
/* The value of a first-order state.  Reads v. */
double pol_formulation_state_variable(const pol_formulation *formulation, const pol_point *at,
                                      int state);

/* Energy of a mechanism, J. */
typedef struct pol_energy {
  double kinetic;
  /* of gravity, zero at the origin; of springs, zero where relaxed; of callbacks as they say */
  double potential;
} pol_energy;

/* Reads q, v and history. */
void pol_formulation_energy(const pol_formulation *formulation, const pol_point *at,
                            pol_energy *energy);

/* What changes the energy, J/s: total energy' = applied + drives - dissipated. */
typedef struct pol_power {
  double dissipated; /* taken out by dampers and drag, not negative */
  double applied;    /* put in by applied forces, torques and actuators, expressions included */
  double drives;     /* put in by drives */
} pol_power;

/* Reads t, q, v, lambda and history. */
void pol_formulation_power(const pol_formulation *formulation, const pol_point *at,
                           pol_power *power);

/* Linear momentum, and angular momentum about the origin; global axes. */
typedef struct pol_momentum {
  double linear[3];
  double angular[3];
} pol_momentum;

/* Of all bodies together; reads q (nq) and v (nv). */
void pol_formulation_momentum(const pol_formulation *formulation, const double *q, const double *v,
                              pol_momentum *momentum);
/* The same from momenta p (nv) that a method keeps beside the velocities (pol_state.p); every body
 * has directors or Euler parameters, or is a point mass. */
void pol_formulation_momentum_by_p(const pol_formulation *formulation, const double *q,
                                   const double *p, pol_momentum *momentum);

#ifdef __cplusplus
}
#endif
#endif
