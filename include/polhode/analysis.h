/* Analyses of a mechanism at one state: static equilibrium, modes, and linearised equations.
 *
 *     pol_analysis_create(&analysis, mechanism, 0.0, &diagnostics);
 *     pol_analysis_equilibrium(analysis, NULL, &report, &diagnostics);
 *     pol_modes_create(&modes, analysis, NULL, &diagnostics);
 *
 * All of them work in the coordinates of so3xr3.  With w the increment of the configuration, q
 * exp(w), and small changes of the equations of motion (polhode/dae.h),
 *
 *     w' = v - G w                                          kinematics
 *     M (v' + T v) + D v + K w + B^T lambda = inputs        balance
 *     B_h w = 0,   B v + C w = 0                            constraints
 *
 * where w and v are the components in axes that rotate with the angular velocity of a frame of
 * observation, by default that of the ground: then T and G are constant.  At a state of rest both
 * are zero.  If the motion is steady in these axes, as that of a wheel that rolls straight ahead is
 * in those of the ground, and that of a rotor with blades in its own, all matrices are constant,
 * and the linearised equations are exact.  Elsewhere they are those with the coefficients of this
 * instant: B and C change along the motion, and the derivative of B v + C w = 0 by time,
 *
 *     B v' + C w' + B' v + C' w = 0,
 *
 * has their rates of change B' and C', by differences along the motion.  Joint coordinates as
 * states have the exact linearised equations of that instant then.  Eigenvalues depend on the
 * coordinates if these change with time: those of modes are on a basis of the free motions that
 * turns no more than the constraints make it.
 */
#ifndef POLHODE_ANALYSIS_H
#define POLHODE_ANALYSIS_H

#include <polhode/formulation.h>
#include <polhode/integrator.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A state of a mechanism with all that the analyses need. */
typedef struct pol_analysis pol_analysis;

/* Starts with the initial values of the mechanism, made consistent at time t as a simulation does,
 * which drives and functions of time refer to.  The mechanism must outlive the analysis and must
 * not change.  On failure *analysis is NULL and diagnostics (may be NULL) has the reason:
 * POL_BAD_ARGUMENT if the mechanism has errors, POL_INCONSISTENT, POL_SINGULAR, POL_NO_MEMORY. */
pol_status pol_analysis_create(pol_analysis **analysis, const pol_mechanism *mechanism, double t,
                               pol_diagnostics *diagnostics);
void pol_analysis_free(pol_analysis **analysis);

/* Goes to another state: position, quaternion, velocity and angular velocity (body axes) of all
 * bodies, and the values of all first-order states (may be NULL if there are none).  Values that
 * violate the constraints are corrected.  After a failure the state is undefined. */
pol_status pol_analysis_set_bodies(pol_analysis *analysis, double t, const pol_body_state *bodies,
                                   const double *states, pol_diagnostics *diagnostics);

/* The amplitudes and rates of the modes of a flexible body (pol_formulation_modes) that the next
 * pol_analysis_set_bodies() starts from; without it they stay.  POL_BAD_ARGUMENT: the body is not
 * the reference frame of a flexible body. */
pol_status pol_analysis_set_modes(pol_analysis *analysis, int body, const double *amplitudes,
                                  const double *rates);

/* The present state; v' and lambda satisfy the equations of motion or, after
 * pol_analysis_equilibrium, those of rest.  Owned by the analysis. */
const pol_state *pol_analysis_state(const pol_analysis *analysis);
/* The mechanism in so3xr3. */
const pol_formulation *pol_analysis_formulation(const pol_analysis *analysis);
/* 1 for each of the m constraints that is redundant, with multiplier zero; *count (may be NULL) is
 * their number. */
const unsigned char *pol_analysis_dropped(const pol_analysis *analysis, int *count);

/* --- static equilibrium ----------------------------------------------------------------------- */

typedef struct pol_static_options {
  int steps; /* load steps: gravity, applied forces and torques, and actuators grow from 1/steps
                of their values to all of it; at least 1.  Springs, bushings, expressions
                and callbacks are not scaled */
  int max_iterations; /* of each load step */
  /* Not zero: the equilibrium in axes that rotate with this angular velocity (global axes, rad/s)
   * about the line through `centre`, such as that of a rotor with flexible blades.  All bodies
   * rotate, except those that joints hold at rest.  Load steps scale its square. */
  double rotation[3], centre[3];
  /* Called after each load step with its load factor, if not NULL; another value than 0 ends the
   * calculation with POL_CANCELLED. */
  int (*on_step)(const pol_analysis *analysis, double load, void *user);
  void *user;
} pol_static_options;

/* What is known of an equilibrium. */
typedef struct pol_static_report {
  int load_steps;  /* done; more than asked for where steps had to be halved */
  int iterations;  /* of all of them */
  double residual; /* largest force without balance, as a fraction of the largest force */
  /* Stability by the tangent stiffness K on the motions that the constraints allow, relative to the
   * mass matrix: its eigenvalues are squares of angular frequencies, 1/s^2, if the equilibrium is
   * stable.  First-order states are held.  A complex eigenvalue (follower loads) is a flutter. */
  int freedoms;
  int unstable;      /* number of eigenvalues that are negative or complex */
  int neutral;       /* number of eigenvalues that are zero: nothing resists these motions */
  int at_least;      /* 1: large model, there may be more of both than were searched for */
  double least;      /* the smallest real part of an eigenvalue, 1/s^2; 0 without freedoms */
  double flutter;    /* Hz, of the complex eigenvalue with the largest imaginary part; 0: none */
  char softest[128]; /* the largest part of the motion of `least`, or of the flutter, in words; may
                        be empty */
} pol_static_report;

/* One load step, 200 iterations. */
pol_static_options pol_static_options_default(void);

/* Moves to an equilibrium at the time of the state: velocities are zero, first-order states are
 * constant.  Newton's method on the group with a line search; steps are regularised by the mass
 * matrix where the stiffness is singular or the motion would be uphill, so that a mechanism falls
 * to a stable equilibrium unless it starts at another one.  Without friction of rolling it may
 * roll: non-holonomic constraints limit each increment.  options may be NULL.  The analysis has the
 * last load step that succeeded after a failure: POL_NOT_CONVERGED if nothing resists a motion,
 * named by the diagnostics, or the iteration fails; POL_RETRY if a force has no value.
 *
 * In rotating axes the state has the velocities of the rotation, v' and lambda satisfy the
 * equations of motion, and the tangent stiffness includes centrifugal stiffening and softening:
 * its stability is that without gyroscopic forces, which may stabilise more.  POL_NOT_CONVERGED
 * also if joints or drives do not allow the rotation, or forces or constraints change along it. */
pol_status pol_analysis_equilibrium(pol_analysis *analysis, const pol_static_options *options,
                                    pol_static_report *report, pol_diagnostics *diagnostics);

/* --- paths of equilibria ---------------------------------------------------------------------- */

/* Limit points of a path whose loads are reported. */
enum { POL_MAX_LIMITS = 16 };

/* How a path is followed. */
typedef struct pol_path_options {
  int steps;      /* no step of the path changes the loads by more than 1/steps of their values */
  double end;     /* load factor where the path ends, or that with the other sign */
  int max_points; /* of the path: at most; then it ends with POL_NOT_CONVERGED */
  int buckling;   /* 1: the path ends at the first critical load, if that is before `end` */
  /* Called at each point with the length of the path up to it, if not NULL; another value than 0
   * ends the calculation with POL_CANCELLED. */
  int (*on_point)(const pol_analysis *analysis, double load, double length, void *user);
  void *user;
} pol_path_options;

/* What is known of a path. */
typedef struct pol_path_report {
  int points; /* behind the first, which has no loads */
  int iterations;
  double load;    /* factor at the end */
  double length;  /* of the path; rotations count by rad, displacements by the model's length */
  int num_limits; /* limit points, at which the load turns back; all of them */
  double limits[POL_MAX_LIMITS]; /* load factors of the first ones */
  int is_critical;        /* buckling: 1 if a critical load was found, which `load` then is */
  int is_limit;           /* that is a limit point; else a bifurcation, or with last.flutter > 0 the
                             load at which flutter starts */
  pol_static_report last; /* the equilibrium at the end, its stability */
} pol_path_report;

/* Twenty steps to the load factor 1, at most 1000 points. */
pol_path_options pol_path_options_default(void);

/* Follows the equilibria from that without loads (load factor 0) by arc length, so that the load
 * may fall (snap-through) and displacements may turn back (snap-back).  Loads are those of
 * pol_static_options.steps.  With `buckling` the stability of each point is evaluated: a critical
 * load is where the smallest eigenvalue of the tangent stiffness becomes zero, or two become
 * complex (flutter), as exact as the elements are, with all displacements before it.  The analysis
 * has the last equilibrium, its loads being those of the mechanism again.  options and report may
 * be NULL.  POL_BAD_ARGUMENT: no loads, or first-order states; POL_NOT_CONVERGED: no equilibrium
 * without loads, or the path was lost. */
pol_status pol_analysis_path(pol_analysis *analysis, const pol_path_options *options,
                             pol_path_report *report, pol_diagnostics *diagnostics);

/* --- modes ------------------------------------------------------------------------------------ */

typedef struct pol_modes_options {
  int count;       /* modes of lowest frequency that are wanted beside zero eigenvalues;
                      0: all, or 20 of a large model */
  double frame[3]; /* angular velocity of the axes of observation, global axes, rad/s */
  double shift;    /* large models: modes with eigenvalues near this one, rad/s; 0: automatic */
  int large;       /* 1: iterate (ARPACK) whatever the size; -1: never; 0: above 600 velocities */
} pol_modes_options;

/* A mode: w(t) = Re(shape exp(s t)) with the eigenvalue s = re + i im, im >= 0. */
typedef struct pol_mode {
  double re, im;    /* rad/s; re is 0 where it is round-off, below 1e-9 |s| */
  double frequency; /* im/(2 pi), Hz */
  double damping;   /* -re/|s|; 0 for s = 0 */
  /* nv increments each: (rotation in body axes, displacement) of each body; the largest
   * displacement of a centre of mass, or arc of a rotation at the length of the model, is 1 m */
  const double *shape_re, *shape_im;
} pol_mode;

/* The modes of a state.  The analysis must outlive them, and keep its state. */
typedef struct pol_modes pol_modes;

/* All modes of a small model, 20 of a large one, in the axes of the ground. */
pol_modes_options pol_modes_options_default(void);

/* Modes about the present state, in the order of |s|.  Each conjugate pair is one mode; zero
 * eigenvalues are found by rank and listed first, one mode each.
 * options may be NULL.  POL_SINGULAR if masses are missing, POL_NOT_CONVERGED, POL_NO_MEMORY. */
pol_status pol_modes_create(pol_modes **modes, pol_analysis *analysis,
                            const pol_modes_options *options, pol_diagnostics *diagnostics);
void pol_modes_free(pol_modes **modes);
int pol_modes_count(const pol_modes *modes);
const pol_mode *pol_modes_get(const pol_modes *modes, int index);
/* Number of eigenvalues that are zero. */
int pol_modes_zeros(const pol_modes *modes);
/* 0 if the motion is steady in the axes of observation, so that the modes are exact; else the
 * largest relative rate of change of what should be constant. */
double pol_modes_unsteady(const pol_modes *modes);
/* 1 if they were found by iteration. */
int pol_modes_iterated(const pol_modes *modes);
/* The configuration (nq) and velocities (nv) at a phase (rad) of a mode, its shape being multiplied
 * by `amplitude` metres; the configuration is moved to the constraints if that is possible. */
pol_status pol_modes_pose(const pol_modes *modes, int index, double phase, double amplitude,
                          double *q, double *v);
/* The amplitude at which a centre of mass moves by a tenth of the length of the model along an
 * axis, less where a body would rotate by more than 0.3 rad. */
double pol_modes_amplitude(const pol_modes *modes, int index);

/* What moves in a mode, in words: "blade bending z" where most of the kinetic energy is in the
 * nodes of beams ("beams ..." of several; y and z of the section; the two largest parts if none has
 * 70 %), else its largest part, "rod rotation y". */
void pol_modes_name(const pol_modes *modes, int index, char *text, size_t size);

/* --- modes over a parameter --------------------------------------------------------------------
 */

/* Curves of modes over the values of a parameter.  The modes of one value continue the curves of
 * the value before that have the most similar shape and eigenvalue, so that curves may cross: the
 * modal assurance criterion |x^* M y|^2/((x^* M x)(y^* M y)), M the masses and inertias of the
 * bodies, times 1/(1 + (d/D)^2) with the distance d of the eigenvalue from the continued curve and
 * D of a third of its size.  Modes that continue none start curves of their own. */
typedef struct pol_curves pol_curves;

/* A mode on a curve. */
typedef struct pol_curve_point {
  int mode;         /* index in the modes of this value; -1: the curve has no mode here */
  double re, im;    /* as of pol_mode */
  double frequency; /* Hz */
  double damping;
  double similarity; /* modal assurance criterion with the value before; 1 at the first */
} pol_curve_point;

/* No curves yet.  POL_NO_MEMORY. */
pol_status pol_curves_create(pol_curves **curves);
void pol_curves_free(pol_curves **curves);
/* Adds the modes of the next value, without those of eigenvalue zero.  They must have the bodies of
 * those before (else POL_BAD_ARGUMENT), and may be freed after it. */
pol_status pol_curves_add(pol_curves *curves, const pol_modes *modes);
/* Number of curves. */
int pol_curves_count(const pol_curves *curves);
/* The point of a curve at a value, in the order in which they were added. */
pol_curve_point pol_curves_get(const pol_curves *curves, int index, int value);

/* --- linearised equations ----------------------------------------------------------------------
 */

typedef struct pol_linear_options {
  double frame[3]; /* as of pol_modes_options */
  /* Coordinates to be used first, such as "hinge.angle", "cart.position.x" or "top.rotation.x"
   * (about the x axis of the body); others are added as needed. */
  int num_coordinates;
  const char *const *coordinates;
  /* Inputs: "push.x" of an applied force or torque, in the axes it is given in; "motor" of a
   * spring-damper or joint-spring, the effort of its actuator; "crank" of a drive, its
   * acceleration, in place of its function: its coordinate and rate are states then. */
  int num_inputs;
  const char *const *inputs;
  /* Outputs: any name that expressions may use, except t. */
  int num_outputs;
  const char *const *outputs;
} pol_linear_options;

/* x' = A x + B u, y = C x + D u for the changes of states x, inputs u and outputs y.  The states
 * are independent coordinates, then independent velocities (fewer than coordinates with
 * non-holonomic constraints), then first-order states.  Matrices are stored by columns. */
typedef struct pol_linear {
  int num_coordinates, num_velocities, num_states; /* first-order states */
  int n, num_inputs, num_outputs;                  /* n: of all three */
  double *A, *B, *C, *D;
  const char **state_names, **state_units;
  const char **input_names, **input_units;
  const char **output_names;
  double unsteady; /* as pol_modes_unsteady */
  void *memory;    /* holds all of it */
} pol_linear;

/* No names: coordinates are chosen automatically, joint coordinates before positions and rotations
 * of bodies. */
pol_linear_options pol_linear_options_default(void);

/* Linearises about the present state.  On failure *linear is NULL.  POL_BAD_ARGUMENT: errors (an
 * empty list) has all names that are unknown or coordinates that depend on others, with the paths
 * "coordinates[0]", "inputs[0]", "outputs[0]"; or, with the reason in the diagnostics, the model
 * has more than 3000 velocities. */
pol_status pol_linear_create(pol_linear **linear, pol_analysis *analysis,
                             const pol_linear_options *options, pol_errors *errors,
                             pol_diagnostics *diagnostics);
void pol_linear_free(pol_linear **linear);

#ifdef __cplusplus
}
#endif
#endif
