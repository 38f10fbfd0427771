/* A simulation: a mechanism, a formulation, an integrator and a time span, ready to step; and the
 * quantities it can record.
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

/* At which times pol_simulation_step stops: after each step of the integrator if both step and
 * count are 0, else at the multiples of step or at the times of the list.  The end of the run is
 * always one.  Between the integrator's steps the solution is interpolated; the steps stay as they
 * are. */
typedef struct pol_output {
  double step;
  int count;
  const double *times; /* ascending, above 0, not above end */
} pol_output;

/* What to do where an event's function changes its sign. */
typedef enum pol_event_action {
  POL_EVENT_RECORD, /* stop there once, as at an output time */
  POL_EVENT_RESET,  /* the same; then change the velocities and go on from there */
  POL_EVENT_STOP    /* the run ends there */
} pol_event_action;

/* What the reset of an event sets: "ball.velocity.z", "ball.angular_velocity.x" or the name of a
 * first-order state, to an expression of the values just before, "-0.8*ball.velocity.z". */
typedef struct pol_change {
  const char *quantity;
  const char *expression;
} pol_change;

/* An event by expressions, which may read what those of pol_variable may. */
typedef struct pol_event_rule {
  const char *name;
  const char *expression; /* its zeros are the events */
  int direction;          /* > 0: only where it rises, < 0: only where it falls, 0: both, which a
                             reset must not have */
  pol_event_action action;
  int num_changes; /* of a reset; all are evaluated before the first is made */
  const pol_change *changes;
} pol_event_rule;

/* Settings of a simulation. */
typedef struct pol_settings {
  pol_formulation_kind formulation;
  pol_options options;
  double step;  /* size of the time steps, at most end; not used if they are variable */
  double end;   /* the run goes from t = 0 to here.  Equal steps if it is a multiple of step within
                   1e-9 of itself, else the last step is shorter */
  int variable; /* 1: the size of the steps follows from options.control */
  pol_output output;
  int num_events; /* events 0 .. num_events-1 of the simulation */
  const pol_event_rule *events;
  pol_progress progress; /* called while the simulation is created, which takes long for large
                            mechanisms, and during its steps */
  char unused[64]; /* parameters of a model file that have no effect on its method, a comma between
                      them; for a warning only */
} pol_settings;

/* so3xr3 with pol_options_default(), steps of 1e-3 s to 1 s, every step recorded. */
pol_settings pol_settings_default(void);
/* POL_BAD_ARGUMENT, with the rule in message (may be NULL), if a setting is out of range. */
pol_status pol_settings_validate(const pol_settings *settings, char *message, size_t size);

/* How far the given initial values were from satisfying the constraints, and how far the assembler
 * had to move them.  A velocity that was not given does not count as moved. */
typedef struct pol_moves {
  double position_residual; /* largest |Phi_i| of the values as given */
  double velocity_residual; /* largest |(B v)_i| of the values as given, zero where none was */
  double position;          /* largest displacement of a centre of mass, m */
  double rotation;          /* largest rotation of a body, rad */
  double velocity;          /* largest change of a given velocity, m/s */
  double angular_velocity;  /* largest change of a given angular velocity, rad/s */
} pol_moves;

/* Singular positions, where constraints that are independent elsewhere depend on each other, so
 * that the way on is not unique: links in one line, a crank at its dead centre.  Only mechanisms
 * with closed loops are watched, of at most 250000 constraints times velocities; a step that can
 * only be made without constraints that depend on others where it ends is counted in any case. */
typedef struct pol_singular {
  long count;      /* how often the run has come to one or stepped across */
  double t;        /* the first time */
  char where[128]; /* the constraint that others imply there, in words */
} pol_singular;

/* Steps in which a joint has turned by half a turn or more, so that its angle, though not the
 * motion, has lost turns.  A run stops where the motion depends on them. */
typedef struct pol_lost_turns {
  long count;      /* of steps */
  double t;        /* the end of the first one */
  char where[128]; /* the joint and its coordinate */
} pol_lost_turns;

/* What has changed the total energy since the start: the integrals of pol_power over time, by the
 * trapezoidal rule over the accepted steps, which is of second order as the methods are. */
typedef struct pol_work {
  double dissipated; /* taken out by dampers and drag, and by the resets of events */
  double applied;    /* put in by constant forces, torques and actuators */
  double drives;     /* put in by drives */
} pol_work;

/* A quantity that the equations of motion keep constant, and how well the method does.  Energy is
 * listed where nothing takes any out or puts any in, momenta where a symmetry of the mechanism
 * makes them constant (pol_mechanism_symmetries).  The energy is that of pol_summary; methods with
 * momenta p of their own (pol_state.p) have these in linear and angular momentum. */
typedef enum pol_invariant_kind {
  POL_CONSTANT_ENERGY,
  POL_CONSTANT_MOMENTUM,        /* linear momentum along an axis */
  POL_CONSTANT_ANGULAR_MOMENTUM /* angular momentum about an axis through a point */
} pol_invariant_kind;

/* A quantity that the motion conserves. */
typedef struct pol_invariant {
  pol_invariant_kind kind;
  const char *name; /* "energy", "momentum.x", "angular.z"; "angular.1" about an axis that is not a
                       global one */
  const char *unit;
  double axis[3], point[3]; /* unit vector, global; of angular momentum a point on it */
  double initial, value;    /* at the start or after the last reset by an event; now */
  double increment;         /* change in the last step of the integrator */
  double max_increment;     /* the largest |increment| so far */
  double max_drift;         /* the largest |value - initial| so far */
} pol_invariant;

/* Energy, and three components of each momentum. */
enum { POL_MAX_INVARIANTS = 7 };

/* Why a result may be unreliable although no step failed, with the probable cause and what to try.
 * Each kind is listed once per run. */
typedef struct pol_warning {
  double t;          /* when it was first detected */
  char message[320]; /* one or two sentences, without the time */
} pol_warning;

/* Largest number of warnings of a run; further ones are discarded. */
enum { POL_MAX_WARNINGS = 12 };

/* What happened from the start to now; the largest values are those at the integrator's steps. */
typedef struct pol_summary {
  pol_counts counts;
  double t;
  pol_energy initial_energy;
  pol_energy energy;       /* now */
  double max_energy_drift; /* largest |total - initial total| so far */
  pol_work work;
  double energy_balance;        /* total - initial total - applied - drives + dissipated: zero but
                                   for the errors of the method and of the integrals */
  double position_residual;     /* largest |Phi_i| now */
  double velocity_residual;     /* largest |(B v + Phi_t)_i| now */
  double acceleration_residual; /* largest |(d/dt of that)_i| at the last step: between steps
                                   accelerations are only interpolated */
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

/* The sizes of the equations and the memory for them, in bytes. */
typedef struct pol_estimate {
  int velocities, constraints;
  double memory; /* of a simulation, within a factor of about two */
  double rank;   /* additional, if constraints of closed loops turn out to be redundant: a full
                    matrix;   0 if there are no loops */
} pol_estimate;

/* Estimates them without creating the simulation.  POL_BAD_ARGUMENT: the formulation does not
 * support the mechanism; POL_NO_MEMORY. */
pol_status pol_simulation_estimate(const pol_mechanism *mechanism, const pol_settings *settings,
                                   pol_estimate *estimate);

/* Owns all but its mechanism. */
typedef struct pol_simulation pol_simulation;

/* Builds everything and finds consistent initial values at t = 0.  On failure *simulation is NULL
 * and diagnostics (may be NULL) says why: POL_BAD_ARGUMENT for settings that break a rule or do not
 * fit the mechanism or each other, POL_CANCELLED if settings->progress asked to stop.  The
 * mechanism must outlive the simulation. */
pol_status pol_simulation_create(pol_simulation **simulation, const pol_mechanism *mechanism,
                                 const pol_settings *settings, pol_diagnostics *diagnostics);
void pol_simulation_free(pol_simulation **simulation);

/* An event that occurred. */
typedef struct pol_simulation_event {
  pol_event function;
  void *user;    /* handed to function and reset */
  int direction; /* > 0: only where it rises, < 0: only where it falls, 0: both */
  pol_event_action action;
  /* POL_EVENT_RESET: changes v (nv), the velocities of the formulation's coordinates, which
   * at->v points to as well.  They are then made consistent with the constraints; components with
   * keep[i] = 1 (0 before) stay as they are if the constraints allow it. */
  void (*reset)(const pol_state *at, double *v, unsigned char *keep, void *user);
  const char *name; /* for results; may be NULL; must outlive the simulation */
} pol_simulation_event;

/* Adds an event, which is copied, to those of the settings; *index (may be NULL) is its number.
 * It is detected by the sign of its function at five points of each step of the integrator, near
 * minima of its absolute value between them, and before and after a reset; pairs of zeros that are
 * closer together may be missed.  At the same time each is stopped at once at most, in the order of
 * their numbers, but after the reset that causes it; functions then see the velocities that the
 * reset has left.  POL_BAD_ARGUMENT: there is
 * no function, no reset for that action, or no such action. */
pol_status pol_simulation_add_event(pol_simulation *simulation, const pol_simulation_event *event,
                                    int *index);
/* The event that the last pol_simulation_step stopped at, -1 if at none. */
int pol_simulation_event_index(const pol_simulation *simulation);
/* An event by its number, those of the settings first; NULL if there is none.  Belongs to the
 * simulation and lives until the next one is added. */
const pol_simulation_event *pol_simulation_get_event(const pol_simulation *simulation, int index);
/* "record", "reset" or "stop"; NULL for no action. */
const char *pol_event_action_name(pol_event_action action);

/* One step, or as many as it takes to the next output time or event; nothing is allocated.
 *
 * After a failure the state and the summary are the last valid ones, all finite: those of the last
 * accepted step or, if the reset of an event fails, those just before it.  Only the counts and the
 * warnings of the summary include the failed step.  A simulation that has failed cannot be
 * continued: every later call returns the same status, even a recoverable one, and changes neither
 * the state nor the diagnostics.
 *
 * POL_INCONSISTENT if a constraint that was dropped as redundant no longer follows from the
 * others, or a reset contradicts the constraints; POL_NOT_FINITE if a step or a reset gives a
 * number that is not finite; POL_ACCUMULATING if the resets of an event follow each other at ever
 * shorter intervals, or its function still passes through zero although the reset had reversed or
 * stopped it: a body that comes to rest needs a force that holds it.  POL_BAD_ARGUMENT after the
 * end and POL_CANCELLED, if settings.progress asked to stop, are no failures: the state is that of
 * the last accepted step, and after POL_CANCELLED a further call continues from there. */
pol_status pol_simulation_step(pol_simulation *simulation);
/* 1 at the end of the time span or where an event has ended the run; 0 after a failure. */
int pol_simulation_finished(const pol_simulation *simulation);
/* Done share of the time span, 0 .. 1. */
double pol_simulation_progress(const pol_simulation *simulation);

/* The state at the present time, in the coordinates of the formulation. */
const pol_state *pol_simulation_state(const pol_simulation *simulation);
/* 1 if the method gives multipliers, and all reactions with them, of an earlier time than the rest
 * of the state: pol_state.lambda_t, a channel of the record. */
int pol_simulation_reactions_lag(const pol_simulation *simulation);
/* Position, rotation and velocities of a body at the present time, by its index in the mechanism;
 * pol_body_state says in which axes.  POL_BAD_ARGUMENT: there is no such body. */
pol_status pol_simulation_body(const pol_simulation *simulation, int index, pol_body_state *state);
const pol_formulation *pol_simulation_formulation(const pol_simulation *simulation);
/* 1 for each constraint that was redundant at the start and has been dropped; their number goes to
 * *count. */
const unsigned char *pol_simulation_dropped(const pol_simulation *simulation, int *count);
const pol_summary *pol_simulation_summary(const pol_simulation *simulation);
/* Compares the run so far with what its method guarantees (energy balance, constraints, norms of
 * quaternions, Newton iterations, rejected steps; src/core/simulation/doubts.c has the limits) and
 * adds to summary.warnings what deviates by orders of magnitude, with the probable reason.
 * pol_simulation_step does this at the end of the run and after a failure; a program that stops
 * earlier may call it. */
void pol_simulation_review(pol_simulation *simulation);
const pol_diagnostics *pol_simulation_diagnostics(const pol_simulation *simulation);

/* --- recorded quantities ---------------------------------------------------------------------- */

/* One number that can be recorded at each time. */
typedef struct pol_channel {
  const char *name; /* "top.position.x", "tip.force.z", "energy.kinetic", "t" */
  const char *unit; /* "m", "N", "J", "s", "1"; "mixed" for residuals (m or 1, and a second);
                       "user" for states and variables */
  /* The parts of the name, so that nobody has to take it apart; names of objects may have dots. */
  const char *group;    /* "bodies", "markers", "joints", "forces", "drives", "couplings", "states",
                           "variables";    "energy",    "momentum", "residual"; "" for t */
  const char *owner;    /* the body, marker, ... it belongs to; "" for quantities of the whole */
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
 *     JOINT.angle  JOINT.rate              revolute, cylindrical and planar joints: about z, with
 *                                          all full turns, rad and rad/s
 *     JOINT.displacement  JOINT.speed      prismatic and cylindrical joints: along z, m and m/s
 *     JOINT.angle.1 .rate.1 .angle.2 ...   universal joints: about x of the first marker, about y
 * of the second JOINT.displacement.x .speed.x ...    planar joints: along x and y of the first
 * marker JOINT.force.x .y .z                  on the body of the second marker, global axes, N
 *     JOINT.torque.x .y .z                 the same at the point of the second marker, N m
 *     JOINT.force_local.x .y .z            the same two in the axes of the first marker
 *     JOINT.torque_local.x .y .z
 *     JOINT.multiplier.1 .2 ...            one for each row, N, N m or N/m; none where the
 *                                          coordinates satisfy the joint by themselves
 *     FORCE.force.x .y .z                  of a support, spring-damper or drag, on its body or that
 *                                          of its second marker, global axes, N
 *     FORCE.force or FORCE.torque          of a joint-spring, on the body of the second marker of
 *                                          its joint along or about the axis, N or N m
 *     DRIVE.force or DRIVE.torque          on the body of the second marker along or about z
 *     COUPLING.force.1 or .torque.1, .2    the same of each of its two joints
 *     STATE  VARIABLE                      by their names alone, in the user's units
 *     energy.kinetic  energy.potential  energy.total
 *     energy.dissipated                    taken out by dampers and drag since the start, J
 *     energy.applied                       work of constant forces, torques and actuators
 *     energy.drives                        work of drives
 *     energy.balance                       total - initial total - applied - drives + dissipated
 *     momentum.linear.x .y .z              kg m/s
 *     momentum.angular.x .y .z             about the origin, global axes, kg m^2/s
 *     residual.position  .velocity  .acceleration
 *                                          the largest |Phi_i| and first and second derivative
 *     invariant.NAME  increment.NAME
 *                                          pol_invariant.value and its change in the last step of
 *                                          the integrator, for each that the mechanism has
 *     t_reactions                          the time that reactions and multipliers belong to, s;
 *                                          only with methods where that is not t
 *
 * A row depends on the present state of the simulation alone.  So the quaternion's sign is fixed by
 * w >= 0, and all four numbers change sign where the rotation angle passes pi: both are the same
 * rotation. */
typedef struct pol_record pol_record;

/* The simulation must outlive the record.  POL_BAD_ARGUMENT: two channels have the same name, as
 * with a variable "t_reactions". */
pol_status pol_record_create(pol_record **record, const pol_simulation *simulation);
void pol_record_free(pol_record **record);
const pol_simulation *pol_record_simulation(const pol_record *record);
int pol_record_count(const pol_record *record);
const pol_channel *pol_record_channel(const pol_record *record, int index);
/* The values now, pol_record_count() of them in row; allocates nothing. */
void pol_record_row(const pol_record *record, double *row);

#ifdef __cplusplus
}
#endif
#endif
