/* A simulation: a mechanism with a formulation, an integrator and a time span; and the quantities
 * that it can record.
 *
 *     pol_simulation_create(&simulation, mechanism, &settings, diagnostics);
 *     while (!pol_simulation_finished(simulation) && !(status = pol_simulation_step(simulation)))
 *       pol_record_row(record, row);
 */
#ifndef POLHODE_SIMULATION_H
#define POLHODE_SIMULATION_H

#include <polhode/formulation.h>
#include <polhode/integrator.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Output times, at which pol_simulation_step stops: after each step of the integrator if both step
 * and count are 0, else at the multiples of step or at the listed times.  The end of the run is
 * always an output time.  Between the steps of the integrator the solution is interpolated; the
 * steps are not changed. */
typedef struct pol_output {
  double step;
  int count;
  const double *times; /* count times: ascending, > 0, <= end */
} pol_output;

/* Action at the sign change of an event function. */
typedef enum pol_event_action {
  POL_EVENT_RECORD, /* return once at this time, as at an output time */
  POL_EVENT_RESET,  /* the same; then change the velocities and continue */
  POL_EVENT_STOP    /* end the run */
} pol_event_action;

/* A change by the reset of an event: the quantity "ball.velocity.z", "ball.angular_velocity.x" or
 * the name of a first-order state is set to the value of an expression just before the event, such
 * as "-0.8*ball.velocity.z". */
typedef struct pol_change {
  const char *quantity;
  const char *expression;
} pol_change;

/* An event defined by expressions, which may use the same quantities as pol_variable. */
typedef struct pol_event_rule {
  const char *name;
  const char *expression; /* the event occurs at its zeros */
  int direction; /* > 0: rising only, < 0: falling only, 0: both; must not be 0 for a reset */
  pol_event_action action;
  int num_changes; /* for a reset; all are evaluated before the first is applied */
  const pol_change *changes;
} pol_event_rule;

/* Settings of a simulation. */
typedef struct pol_settings {
  pol_formulation_kind formulation;
  pol_options options;
  double step; /* step size, at most end; not used with variable steps */
  double end; /* end time; the run starts at t = 0.  All steps are equal if it is a multiple of step
                 within a relative tolerance of 1e-9, else the last step is shorter */
  int variable;    /* 1: variable step size by options.control */
  int equilibrium; /* 1: the run starts at rest in the static equilibrium that is found from the
                      initial values (polhode/analysis.h), with constant first-order states; given
                      velocities are not used */
  pol_output output;
  int num_events; /* events 0 .. num_events-1 of the simulation */
  const pol_event_rule *events;
  pol_progress progress; /* called while the simulation is created, which may take long for large
                            mechanisms, and during its steps */
  char unused[64];  /* parameters of a model file that have no effect on its method, separated by
                       commas; only for a warning */
  char choice[240]; /* why pol_settings_choose has chosen the method; empty if it was given */
} pol_settings;

/* so3xr3 with pol_options_default(), that is geom1, steps of 1e-3 s to 1 s, every step recorded.  A
 * program gets the method that it names, with the parameters that it sets; set options.method to
 * "auto" and call pol_settings_choose when all other settings are final to have one chosen, as for
 * a model file that names none. */
pol_settings pol_settings_default(void);
/* Settings that pol_settings_choose keeps; they may be added. */
typedef enum pol_keep {
  POL_KEEP_FORMULATION = 1, /* and chooses a method for it */
  POL_KEEP_ORDER = 2,       /* of rattle, where this is chosen */
  POL_KEEP_SIGMA = 4,       /* of geom1, where this is chosen */
  POL_KEEP_ALPHA = 8        /* rho_inf, start and other parameters of geom1, which is chosen */
} pol_keep;

/* Replaces options.method "auto" by a method that suits the mechanism, with its formulation,
 * parameters and the reason (choice): rattle, of an order for the steps or the tolerances, if the
 * forces are smooth and no spring or damper is much faster than the steps, otherwise geom1 in
 * so3xr3-spatial with the optimal sigma.  keep: a sum of pol_keep, or 0.  Other methods stay as
 * they are.  Only POL_OK or POL_NO_MEMORY. */
pol_status pol_settings_choose(const pol_mechanism *mechanism, int keep, pol_settings *settings);
/* POL_BAD_ARGUMENT, with the reason in message (may be NULL), if a setting is invalid. */
pol_status pol_settings_validate(const pol_settings *settings, char *message, size_t size);
/* The formulation whose equations are solved: that of the settings, but so3xr3 for rattle on the
 * other Lie groups (se3, so3xr3-spatial, so3xr3-cayley, so3): its steps are the free motion of each
 * body and impulses of the joints, which do not depend on the group. */
pol_formulation_kind pol_settings_formulation(const pol_settings *settings);

/* Constraint residuals of the given initial values, and the corrections by the assembler.
 * Velocities that were not given do not count. */
typedef struct pol_moves {
  double position_residual; /* largest |Phi_i| of the given values */
  double velocity_residual; /* largest |(B v)_i| of the given values, others being zero */
  double position;          /* largest displacement of a centre of mass, m */
  double rotation;          /* largest rotation of a body, rad */
  double velocity;          /* largest change of a given velocity, m/s */
  double angular_velocity;  /* largest change of a given angular velocity, rad/s */
} pol_moves;

/* Singular positions, where constraints that are otherwise independent become dependent, so that
 * the motion may bifurcate: links in one line, a crank at its dead centre.  Only mechanisms with
 * closed loops and constraints times velocities up to 250000 are monitored.  A step that succeeds
 * only without constraints that are dependent at its end is always counted. */
typedef struct pol_singular {
  long count;      /* number of singular positions reached or crossed */
  double t;        /* time of the first one */
  char where[128]; /* the dependent constraint, in words */
} pol_singular;

/* Steps in which a joint rotated by half a turn or more, so that its full-turn count is unreliable.
 * The motion is not affected; if it depends on the angle, the run fails instead. */
typedef struct pol_lost_turns {
  long count;      /* number of such steps */
  double t;        /* end of the first one */
  char where[128]; /* the joint and its coordinate */
} pol_lost_turns;

/* Changes of the total energy since the start: time integrals of pol_power by the trapezoidal rule
 * over the accepted steps, of second order like the methods. */
typedef struct pol_work {
  double dissipated; /* dissipated by dampers, drag and the resets of events */
  double applied;    /* work of applied forces, torques and actuators */
  double drives;     /* work of drives */
} pol_work;

/* Kinds of invariants of the equations of motion.  Energy is listed if the system is conservative,
 * momenta if a symmetry of the mechanism makes them constant (pol_mechanism_symmetries).  The
 * energy is that of pol_summary; methods with momenta p (pol_state.p) use these for linear and
 * angular momentum. */
typedef enum pol_invariant_kind {
  POL_CONSTANT_ENERGY,
  POL_CONSTANT_MOMENTUM,        /* linear momentum along an axis */
  POL_CONSTANT_ANGULAR_MOMENTUM /* angular momentum about an axis through a point */
} pol_invariant_kind;

/* An invariant, and how well the method conserves it. */
typedef struct pol_invariant {
  pol_invariant_kind kind;
  const char *name; /* "energy", "momentum.x", "angular.z"; "angular.1" for an axis that is not a
                       global axis */
  const char *unit;
  double axis[3], point[3]; /* unit vector, global; for angular momentum also a point on the axis */
  double initial, value;    /* at the start or after the last reset; current */
  double increment;         /* change in the last step of the integrator */
  double max_increment;     /* the largest |increment| so far */
  double max_drift;         /* the largest |value - initial| so far */
} pol_invariant;

/* Energy, and three components of each momentum. */
enum { POL_MAX_INVARIANTS = 7 };

/* A reason why a result may be unreliable although no step failed, with the probable cause and what
 * to try.  Each kind is listed once per run. */
typedef struct pol_warning {
  double t;          /* time of first detection */
  char message[320]; /* one or two sentences, without the time */
} pol_warning;

/* Largest number of warnings of a run; further ones are discarded. */
enum { POL_MAX_WARNINGS = 12 };

/* Summary of the run so far; the largest values are those at the steps of the integrator. */
typedef struct pol_summary {
  pol_counts counts;
  double t;
  pol_energy initial_energy;
  pol_energy energy;       /* current */
  double max_energy_drift; /* largest |total - initial total| so far */
  pol_work work;
  double energy_balance;    /* total - initial total - applied - drives + dissipated: zero up to the
                               errors of the method and of the integrals */
  double position_residual; /* current largest |Phi_i| */
  double velocity_residual; /* current largest |(B v + Phi_t)_i| */
  double acceleration_residual; /* largest |d/dt (B v + Phi_t)_i| at the last integrator step */
  double max_position_residual; /* the largest so far */
  double max_velocity_residual;
  double max_acceleration_residual;
  int num_invariants;
  pol_invariant invariants[POL_MAX_INVARIANTS];
  pol_moves moves;
  pol_singular singular;
  pol_lost_turns lost_turns;
  int num_warnings; /* in the order of detection */
  pol_warning warnings[POL_MAX_WARNINGS];
} pol_summary;

/* Sizes of the equations, and estimated memory in bytes. */
typedef struct pol_estimate {
  int velocities, constraints;
  double memory; /* for a simulation, within a factor of about two; of large systems without the
                    general matrix, if their steps should do without it */
  double rank;   /* in addition, to find redundant constraints; more with closed loops */
} pol_estimate;

/* Estimates sizes and memory without creating the simulation.  POL_BAD_ARGUMENT: the formulation
 * does not support the mechanism; POL_NO_MEMORY. */
pol_status pol_simulation_estimate(const pol_mechanism *mechanism, const pol_settings *settings,
                                   pol_estimate *estimate);

/* A simulation.  Owns everything except its mechanism. */
typedef struct pol_simulation pol_simulation;

/* Creates a simulation and computes consistent initial values at t = 0.  On failure *simulation is
 * NULL and diagnostics (may be NULL) gives the reason: POL_BAD_ARGUMENT for invalid or inconsistent
 * settings or settings that do not fit the mechanism, POL_CANCELLED if settings->progress requested
 * a stop.  The mechanism must outlive the simulation. */
pol_status pol_simulation_create(pol_simulation **simulation, const pol_mechanism *mechanism,
                                 const pol_settings *settings, pol_diagnostics *diagnostics);
void pol_simulation_free(pol_simulation **simulation);

/* An event of a simulation, defined by C functions. */
typedef struct pol_simulation_event {
  pol_event function;
  void *user;    /* passed to function and reset */
  int direction; /* > 0: rising only, < 0: falling only, 0: both */
  pol_event_action action;
  /* POL_EVENT_RESET: changes v (nv), the velocities of the formulation; at->v points to the same
   * array.  They are then made consistent with the constraints; components with keep[i] = 1
   * (initially 0) are kept if the constraints allow it. */
  void (*reset)(const pol_state *at, double *v, unsigned char *keep, void *user);
  const char *name; /* for results; may be NULL; must outlive the simulation */
} pol_simulation_event;

/* Adds an event to those of the settings; it is copied.  *index (may be NULL) is its index.  Events
 * are detected from the sign of the function at five points of each step of the integrator, near
 * minima of its absolute value between them, and before and after a reset; pairs of zeros that are
 * closer together may be missed.  If several events occur at the same time, the simulation stops at
 * each at most once, in the order of their indices, except that an event caused by a reset follows
 * it; functions then use the velocities after the reset.  POL_BAD_ARGUMENT: the function is
 * missing, the reset is missing for POL_EVENT_RESET, or the action is invalid. */
pol_status pol_simulation_add_event(pol_simulation *simulation, const pol_simulation_event *event,
                                    int *index);
/* Index of the event at which the last pol_simulation_step stopped; -1 if at none. */
int pol_simulation_event_index(const pol_simulation *simulation);
/* An event by its index, those of the settings first; NULL if there is none.  Owned by the
 * simulation; valid until another event is added. */
const pol_simulation_event *pol_simulation_get_event(const pol_simulation *simulation, int index);
/* "record", "reset" or "stop"; NULL for an invalid action. */
const char *pol_event_action_name(pol_event_action action);

/* A sampled controller: a function that is called at t = 0 and at the multiples of a period, where
 * steps end.  It reads variables of the model and sets inputs of the model (pol_variable.input),
 * which keep their values until the next call: forces, drives, states and events read them in
 * expressions.  A row at the time of a call has the values after it.  Controllers with a call at
 * the same time are called in the order in which they were added; each reads what those before it
 * have set.  Reactions that they read are those before the jump. */
typedef struct pol_sampled_controller {
  const char *name; /* for messages and saved states */
  double period;    /* s */
  int num_inputs;
  const int *inputs; /* indices of variables that are read */
  int num_outputs;
  const int *outputs; /* indices of variables with pol_variable.input that are set */
  /* Computes outputs, which hold the present values before, from inputs, both in the order of these
   * lists, at time t.  POL_CALLBACK, or another status but POL_OK: the run fails; the reason, a
   * phrase, goes to message, of `size` bytes. */
  pol_status (*sample)(double t, const double *inputs, double *outputs, char *message, size_t size,
                       void *user);
  /* The state of the controller as bytes, for pol_simulation_save: with bytes NULL, *size is set to
   * their number; otherwise *size is the room there, and is set to what is written.  load restores
   * it.  Both NULL: it has no state, or one that cannot be saved. */
  pol_status (*save)(void *bytes, size_t *size, void *user);
  pol_status (*load)(const void *bytes, size_t size, void *user);
  int cannot_save; /* 1: it has a state that cannot be saved; pol_simulation_save then fails */
  void *user;
  /* Frees user; may be NULL.  Called once: when the simulation is freed or, if the controller is
   * not added, before pol_simulation_add_controller returns. */
  void (*release)(void *user);
  /* A number of the program for what the controller computes, such as a hash of its code and
   * gains: a saved state is only loaded if it is the same. */
  unsigned long long identity;
} pol_sampled_controller;

/* Adds a controller, which is copied with its lists, to a simulation without steps, calls it for
 * t = 0 and starts again from the same initial values with what it sets; a start in the static
 * equilibrium is found before, with the first values of the inputs.  POL_BAD_ARGUMENT: the
 * controller is not valid, a step has been made, or steps are reversible; POL_NO_MEMORY; in both
 * cases nothing has changed.  After another failure, of the controller or of the start, the
 * simulation cannot be stepped.  pol_simulation_diagnostics has the reason. */
pol_status pol_simulation_add_controller(pol_simulation *simulation,
                                         const pol_sampled_controller *controller);
/* The name of a controller whose state cannot be saved, so that the simulation cannot; NULL if
 * there is none. */
const char *pol_simulation_unsaved(const pol_simulation *simulation);

/* Advances to the next output time or event: one step, or as many as needed.  Allocates nothing
 * beyond what integrator.h says of steps.
 *
 * After a failure the state and the summary are the last valid ones, all finite: those of the last
 * accepted step or, if the reset of an event fails, those just before it.  Only the counts and the
 * warnings of the summary include the failed step.  A simulation that has failed cannot be
 * continued: every later call returns the same status, even a recoverable one, and changes neither
 * the state nor the diagnostics.
 *
 * POL_INCONSISTENT if a constraint that was dropped as redundant no longer follows from the others,
 * or a reset contradicts the constraints; POL_NOT_FINITE if a step or a reset gives a number that
 * is not finite; POL_ACCUMULATING if the resets of an event follow each other at ever shorter
 * intervals, or its function crosses zero again although the reset reversed or stopped it: a body
 * that comes to rest needs a contact force.  POL_BAD_ARGUMENT after the end, and POL_CANCELLED if
 * settings.progress requested a stop, are not failures: the state is that of the last accepted
 * step, and after POL_CANCELLED the next call continues from there. */
pol_status pol_simulation_step(pol_simulation *simulation);
/* Advances to the time t, whatever the output times of the settings are: as many steps as needed.
 * Within the last step the solution is interpolated, as at output times; a time that differs from
 * the end of a step by 1e-6 of its size or less is that end.  Events on the way act without a stop,
 * but one with POL_EVENT_STOP ends the run before t.  With steps of variable size and inputs, a
 * step ends at t, so that inputs set there act from there on; otherwise the steps are those of
 * pol_simulation_step.
 *
 * POL_BAD_ARGUMENT, without a failure: t is before the current time, after the end, or not finite,
 * or the run is finished.  Otherwise as pol_simulation_step. */
pol_status pol_simulation_step_to(pol_simulation *simulation, double t);
/* The state as bytes, to continue later or in another process.  With bytes NULL, *size is set to
 * the number of bytes; otherwise *size is the room there, and is set to what is written.  The
 * continued run gives the bits of the uninterrupted one, on the same machine with the same build.
 * Call it between steps.  POL_BAD_ARGUMENT: there is too little room, the simulation has failed, or
 * a controller cannot be saved (pol_simulation_unsaved).
 */
pol_status pol_simulation_save(pol_simulation *simulation, void *bytes, size_t *size);
/* Makes the simulation keep a copy of its state from before the end of the time span has an effect
 * on steps, which takes the memory of one saved state; states that are saved later contain it, so
 * that they can be continued to a later end.  Call it before the first step. */
pol_status pol_simulation_allow_later_end(pol_simulation *simulation);
/* Continues from a saved state: into a new simulation, without steps, of the same mechanism and
 * settings, with the same events and controllers added.  The end may be later: the run then
 * continues from before the last steps of the old one, which the old end had an effect on, with the
 * bits of a run that had the later end at once.  With steps of variable size this is one whose
 * control.span is the old end, unless control.span is given.
 *
 * POL_BAD_ARGUMENT: the bytes are damaged, or belong to another model, other settings or another
 * version; the reason, with the name of what differs, goes to message (NULL only if message_size is
 * 0), and the simulation stays at its start, unless only a C function of a force turns out to be
 * another one: then it cannot be continued.  Events by C functions are compared by direction,
 * action and name. */
pol_status pol_simulation_load(pol_simulation *simulation, const void *bytes, size_t size,
                               char *message, size_t message_size);
/* Shows another state, in the coordinates of the formulation, in place of the present one: a record
 * then has its quantities, for results that are no runs, such as load steps or the phases of a
 * mode. state->p and state->eta must be NULL.  The next step of the simulation goes on from where
 * it was. The status of the model if the constraints cannot be evaluated there. */
pol_status pol_simulation_pose(pol_simulation *simulation, const pol_state *state);
/* From now on gravity, applied forces and torques, and actuators are `factor` times what they are
 * at time t, whatever the time of a state: the loads of an equilibrium that is posed.  The
 * simulation cannot be stepped any more, and records that are created from now on have all forces.
 * POL_BAD_ARGUMENT if its formulation is shared. */
pol_status pol_simulation_hold_loads(pol_simulation *simulation, double t, double factor);
/* 1 at the end of the time span or after an event has ended the run; 0 after a failure. */
int pol_simulation_finished(const pol_simulation *simulation);
/* Completed fraction of the time span, 0 .. 1. */
double pol_simulation_progress(const pol_simulation *simulation);

/* Sets an input (pol_variable.input), by the index of the variable: a control or a parameter.  It
 * keeps this value from the current time on.  Call it between steps; where output times lie within
 * a step, the value holds from the end of that step on.  Allocates nothing.  POL_BAD_ARGUMENT: the
 * variable is no input, or the value is not finite.  Otherwise not POL_OK if a force cannot be
 * evaluated with this value; the next step then fails.
 *
 * Forces jump with their inputs.  A step of the generalized-alpha methods from there on begins with
 * the acceleration before the jump, and has an error of first order in the velocities; rattle has
 * none. */
pol_status pol_simulation_set_input(pol_simulation *simulation, int variable, double value);
/* The current value of an input; NaN if the variable is none. */
double pol_simulation_input(const pol_simulation *simulation, int variable);

/* The state at the current time, in the coordinates of the formulation. */
const pol_state *pol_simulation_state(const pol_simulation *simulation);
/* 1 if the multipliers of the method, and thus all reactions, belong to an earlier time than the
 * rest of the state: pol_state.lambda_t, recorded as t_reactions. */
int pol_simulation_reactions_lag(const pol_simulation *simulation);
/* Position, rotation and velocities of a body at the current time, by its index in the mechanism;
 * see pol_body_state for the axes.  POL_BAD_ARGUMENT: there is no such body. */
pol_status pol_simulation_body(const pol_simulation *simulation, int index, pol_body_state *state);
/* The modes of a flexible body at the current time: pol_formulation_modes(); 0 if there is no such
 * body. */
int pol_simulation_modes(const pol_simulation *simulation, int index, double *amplitudes,
                         double *rates);
/* That of its equations, see pol_settings_formulation. */
const pol_formulation *pol_simulation_formulation(const pol_simulation *simulation);
/* 1 for each constraint that was redundant at the start and has been dropped; *count is their
 * number. */
const unsigned char *pol_simulation_dropped(const pol_simulation *simulation, int *count);
const pol_summary *pol_simulation_summary(const pol_simulation *simulation);
/* Compares the run so far with the properties of its method (energy balance, constraints, norms of
 * quaternions, Newton iterations, rejected steps; src/core/simulation/doubts.c has the limits) and
 * adds deviations by orders of magnitude to summary.warnings, with the probable reason.
 * pol_simulation_step does this at the end of the run and after a failure; call it if you stop
 * earlier. */
void pol_simulation_review(pol_simulation *simulation);
const pol_diagnostics *pol_simulation_diagnostics(const pol_simulation *simulation);

/* --- recorded quantities ---------------------------------------------------------------------- */

/* A scalar quantity that can be recorded. */
typedef struct pol_channel {
  const char *name; /* "top.position.x", "tip.force.z", "energy.kinetic", "t" */
  const char *unit; /* "m", "N", "J", "s", "1"; "mixed" for residuals (m or 1, and per s);
                       "user" for states and variables */
  /* The parts of the name; names of objects may contain dots. */
  const char *group;    /* "bodies", "markers", "joints", "forces", "drives", "couplings", "states",
                           "variables", "energy", "momentum", "residual"; "" for t */
  const char *owner;    /* the body, marker, ...; "" for quantities of the whole system */
  const char *quantity; /* the rest of the name: "position.x", "angle", "kinetic", "t" */
} pol_channel;

/* All quantities of a simulation, in this order:
 *
 *     t
 *     BODY.position.x .y .z                of the centre of mass, m
 *     BODY.quaternion.w .x .y .z           body to global axes, w >= 0
 *     BODY.velocity.x .y .z                of the centre of mass, global axes, m/s
 *     BODY.angular_velocity.x .y .z        body axes, rad/s
 *     BODY.angular_velocity_global.x .y .z
 *     marker.MARKER.position.x .y .z       of each marker with a name, global, m
 *     marker.MARKER.quaternion.w .x .y .z  marker to global axes, w >= 0
 *     marker.MARKER.velocity.x .y .z       global axes, m/s
 *     JOINT.angle  JOINT.rate              revolute, cylindrical and planar joints: about z,
 *                                          including full turns, rad and rad/s
 *     JOINT.displacement  JOINT.speed      prismatic and cylindrical joints: along z, m and m/s
 *     JOINT.angle.1 .rate.1 .angle.2 ...   universal joints: about x of the first marker, about y
 *                                          of the second
 *     JOINT.displacement.x .speed.x ...    planar joints: along x and y of the first marker
 *     JOINT.force.x .y .z                  on the body of the second marker, global axes, N
 *     JOINT.torque.x .y .z                 the same at the point of the second marker, N m
 *     JOINT.force_local.x .y .z            the same two in the axes of the first marker
 *     JOINT.torque_local.x .y .z
 *     JOINT.multiplier.1 .2 ...            one per row, N, N m or N/m; none if the coordinates
 *                                          satisfy the joint without constraints
 *     FORCE.force.x .y .z                  of a support, spring-damper or drag, on its body or that
 *                                          of its second marker, global axes, N
 *     BEAM.strain.x .curvature.x           of a beam element, and y, z: against the relaxed beam,
 * in BEAM.force_local.x .torque_local.x   axes of the section; forces and moments in the section
 *     FORCE.force or FORCE.torque          of a joint-spring, on the body of the second marker of
 *                                          its joint along or about the axis, N or N m
 *     DRIVE.force or DRIVE.torque          on the body of the second marker along or about z
 *     COUPLING.force.1 or .torque.1, .2    the same of each of its two joints
 *     STATE  VARIABLE                      by name only, in user-defined units
 *     energy.kinetic  energy.potential  energy.total
 *     energy.dissipated                    dissipated by dampers and drag since the start, J
 *     energy.applied                       work of applied forces, torques and actuators
 *     energy.drives                        work of drives
 *     energy.balance                       total - initial total - applied - drives + dissipated
 *     momentum.linear.x .y .z              kg m/s
 *     momentum.angular.x .y .z             about the origin, global axes, kg m^2/s
 *     residual.position  .velocity  .acceleration
 *                                          largest |Phi_i|, and of its first and second derivative
 *     invariant.NAME  increment.NAME
 *                                          pol_invariant.value and its change in the last step of
 *                                          the integrator, for each invariant
 *     t_reactions                          time to which reactions and multipliers belong, s;
 *                                          only for methods where it differs from t
 *
 * A row depends only on the current state of the simulation.  The sign of a quaternion is therefore
 * fixed by w >= 0, and all four components change sign when the rotation angle passes pi: both
 * signs represent the same rotation. */
typedef struct pol_record pol_record;

/* The simulation must outlive the record.  POL_BAD_ARGUMENT: two channels have the same name, for
 * example with a variable "t_reactions". */
pol_status pol_record_create(pol_record **record, const pol_simulation *simulation);
void pol_record_free(pol_record **record);
const pol_simulation *pol_record_simulation(const pol_record *record);
int pol_record_count(const pol_record *record);
const pol_channel *pol_record_channel(const pol_record *record, int index);
/* Writes the current values to row, pol_record_count() numbers; allocates nothing. */
void pol_record_row(const pol_record *record, double *row);

#ifdef __cplusplus
}
#endif
#endif
