/* A simulation under way, shared by the files that implement it: simulation.c (life cycle, initial
 * values, steps to the next stop), settings.c (settings, steps, output times), measure.c (the
 * solution, residuals, energy, work, invariants), checks.c (what can be wrong with a solution),
 * doubts.c (warnings about a run), events.c (events and resets), controllers.c (sampled
 * controllers), identity.c and checkpoint.c (the state as bytes).
 */
#ifndef POLHODE_SIMULATION_PARTS_H
#define POLHODE_SIMULATION_PARTS_H

#include <polhode/simulation.h>

#include "base/archive.h"
#include "dae/dae.h"
#include "formulation/output.h"
#include "simulation/event_rules.h"
#include "simulation/hard_stops.h"

/* Points of a step where the functions of events are evaluated: five equally spaced, and some more
 * near a minimum of |f|. */
enum { POLI_EVENT_POINTS = 5, POLI_MAX_EVENT_POINTS = 10 };

/* An event and what is known of it. */
typedef struct poli_watched_event {
  pol_simulation_event event;
  double reported; /* the time where it was stopped at last, -1 if nowhere */
  int due;         /* it is to be stopped at now, after another at the same time */
  double before;   /* value before a reset */

  /* Its function on the last step. */
  int num_points;
  double t[POLI_MAX_EVENT_POINTS], value[POLI_MAX_EVENT_POINTS];
  int crosses; /* it may have a zero there that has not been reported; next: the first, if known */
  double next;
  int next_side; /* sign of its function before that zero, or before it became due */

  /* What its resets did, to find out whether they accumulate. */
  long resets;
  double longest;  /* time between two of them */
  int side;        /* sign of its function before the last one */
  double rate;     /* of its function at the last one, 0 if not known; positive */
  double fastest;  /* the largest of these */
  double start;    /* value just after the last one, */
  int moves_away;  /* 1: it then went back to its side, or stood still */
  int sets_states; /* the last one has changed first-order states */
  int unsettled;   /* it has not been seen on its side since the last one */
} poli_watched_event;

/* The largest values at the steps so far, with which doubts.c compares the errors. */
typedef struct poli_extremes {
  double kinetic, lowest, highest; /* energies: kinetic, and the range of the potential */
  double work;                     /* the largest of the three of pol_work */
  double speed;                    /* the largest |v_i| */
  double reaction;                 /* the largest |lambda_i| */
  double balance, balance_t;       /* of pol_summary.energy_balance, and when */
  double outside;                  /* this balance at the last step that was not near a singular */
  double change;                   /* position, and its largest change between two such steps */
  int steps_after;                 /* a singular position */
} poli_extremes;

/* A controller and its samples; see controllers.c. */
typedef struct poli_sampled {
  pol_sampled_controller controller; /* lists and name are copies, */
  void *memory;                      /* which are here */
  const char *name;
  int64_t samples; /* so far; the next one is at that many periods */
} poli_sampled;

/* Search for singular positions; see watch.c. */
typedef struct poli_watch poli_watch;

struct pol_simulation {
  const pol_mechanism *mechanism;
  const pol_formulation *formulation;
  pol_formulation *owned; /* the same, if it is not shared */
  pol_force *held;        /* forces of pol_simulation_hold_loads, or NULL */
  pol_integrator *integrator;
  const pol_dae *dae;
  pol_progress progress;
  pol_options options;
  pol_solver_kind solver;
  pol_index index;
  /* Allowed error of a dropped constraint, in m or rad, in addition to the errors of the others:
   * 1e-6, with variable steps at least their tolerance. */
  double dropped_tolerance;
  poli_watch *watch; /* NULL if nothing can become singular */

  /* Time span: num_steps - 1 steps of size step, then one of size last_step; or steps of variable
   * size. */
  double step, last_step, end;
  int variable;
  int equilibrium;
  long num_steps;
  long done;
  double plan_t;  /* of the last reset, from which fixed steps are counted anew, */
  long plan_done; /* and the steps done until then */
  /* The end may have had an effect on the steps done; what was saved before that, if it is kept. */
  int end_acts;
  void *before_end; /* NULL: it is not kept */
  size_t before_room, before_size;

  /* Times to stop at; the number of the next, from 1. */
  pol_output output;
  double *times; /* of output, owned */
  long next_output;

  /* Events, the first of them by rules of the settings, then the hard stops of joints; the one that
   * the state is at, or -1.  stopped: one has ended the run. */
  poli_event_rules *rules;
  poli_hard_stops *hard_stops;
  poli_watched_event *events;
  int num_events, event, stopped;
  int shown;          /* the state is one that a call has stopped at */
  int in_step;        /* the last step may hold more stops, */
  double seen;        /* not before this time */
  double crowd_start; /* resets since then, */
  long crowd;         /* and their number */

  /* Sampled controllers, and room for the numbers of one sample. */
  poli_sampled *controllers;
  int num_controllers;
  double *sampled;
  size_t sampled_room;

  void *memory;       /* holds the arrays of numbers below, */
  size_t memory_size; /* so many bytes */

  /* Copy of the solution; state points into it. */
  pol_state state;
  double *q, *v, *vd, *lambda, *history, *eta, *p, *p_between;
  size_t solution_size; /* of these arrays together */

  /* The last good solution, to return to after a failure; failed: the status of that. */
  pol_state good_state;
  pol_summary good_summary;
  double *good;
  pol_status failed;

  /* The last step of the integrator: its times, power at both ends and in the middle,
   * and work. */
  double t_before, t;
  pol_power power_before, power_middle, power;
  pol_work work_before, work;
  double lambda_t_before, lambda_t; /* times that the multipliers belong to */
  double *p_before;                 /* momenta at its start; p_between: at a time within it */
  int lags;                         /* not those of the state */
  int doubted;                      /* a warning about the stability of steps has been given */

  /* Invariants after the last step; fresh: a reset has changed them, they start anew. */
  double last_invariants[POL_MAX_INVARIANTS];
  int fresh;

  /* Workspace of the residuals; ahead is v + v'. */
  double *position, *velocity, *acceleration, *drift, *ahead, *scratch;
  double *between;     /* q, v, v', lambda at a time within the last step, for events */
  unsigned char *keep; /* nv flags of a reset, and of the start */
  double *given;       /* nq + nv: what the integrator has been started with */

  pol_summary summary;
  poli_extremes extremes;
  uint64_t warned[POL_MAX_WARNINGS]; /* the format strings of the warnings in the summary: hashes */
  uint64_t first_values;             /* the solution at the start: a hash */
  pol_diagnostics diagnostics;
};

/* --- simulation.c ----------------------------------------------------------------------------- */

/* As pol_simulation_create, with a formulation of the mechanism that others share and that outlives
 * the simulation, or NULL. */
pol_status poli_simulation_create(pol_simulation **simulation, const pol_mechanism *mechanism,
                                  const pol_formulation *shared, const pol_settings *settings,
                                  pol_diagnostics *diagnostics);

/* --- settings.c ------------------------------------------------------------------------------- */

/* Splits the time span into steps. */
void poli_simulation_plan_steps(pol_simulation *sim, const pol_settings *settings);

/* The same from a time within: whole steps, then a shorter one. */
void poli_simulation_plan_rest(pol_simulation *sim, double t);

/* Size of the n-th step, n = 1, 2, ... */
double poli_simulation_step_size(const pol_simulation *sim, long n);

/* Copies the output times. */
pol_status poli_simulation_plan_output(pol_simulation *sim, const pol_output *output);

/* The next time to stop at; the end of the span after the last. */
double poli_simulation_next_output_time(const pol_simulation *sim);

/* Whether joints form a closed loop, the ground included.  Returns 0 if there is no memory. */
int poli_mechanism_has_loop(const pol_mechanism *mechanism, int *has_loop);

/* --- pilot.c ---------------------------------------------------------------------------------- */

/* What the choice of a method depends on, at the start of a motion. */
typedef struct poli_pilot {
  int freedoms;                      /* velocities that constraints and drives leave open */
  double spring, damper;             /* w and c of all forces, 1/s; 0: none, or not found */
  double other_spring, other_damper; /* the same without linear springs and dampers */
  const char *stop;                  /* the soft stop that has the largest of them; or NULL */
  double speed;                      /* u of the motion, 1/s */
  double most;           /* variable steps: the largest in which bodies do not rotate too far, s */
  double second_order;   /* where that may matter: a step of order 2 within the tolerances, s; 0 */
  pol_status first_step; /* fixed steps: of the first one */
} poli_pilot;

/* Starts a mechanism in so3xr3 with rattle; where steps are variable, options->order must be 2 for
 * second_order.  Not POL_OK if the start or the linearization fails. */
pol_status poli_pilot_run(const pol_formulation *formulation, const pol_options *options,
                          const pol_settings *settings, poli_pilot *found);

/* --- checkpoint.c ----------------------------------------------------------------------------- */

/* A hash of the present solution. */
uint64_t poli_simulation_hash_solution(pol_simulation *sim);
/* Before a step: keeps the state if this is the first step that the end may have an effect on. */
void poli_simulation_keep_before_end(pol_simulation *sim);

/* --- identity.c ------------------------------------------------------------------------------- */

/* What saved states of a simulation belong to, as a list of so many numbers. */
size_t poli_identity_size(const pol_simulation *sim);
void poli_identity_fill(const pol_simulation *sim, uint64_t *identity);
/* Whether the list of a saved state is the own one; if not, the message names what differs. */
int poli_identity_compare(const pol_simulation *sim, const uint64_t *saved, size_t saved_size,
                          const uint64_t *own, size_t own_size, char *message, size_t size);

/* --- measure.c -------------------------------------------------------------------------------- */

/* The largest |x_i|, 0 if there is none. */
double poli_largest(int count, const double *x);

/* Phi and B v at a point into the workspace; more asks for further terms. */
pol_status poli_simulation_residuals(pol_simulation *sim, const pol_point *at, unsigned more);

/* Sets what the summary says about now; the residuals are in the workspace. */
void poli_simulation_measure_now(pol_simulation *sim, double t, const pol_energy *energy);

/* Copies a solution, all but its time. */
void poli_simulation_copy_solution(pol_simulation *sim, const pol_state *from);

/* Takes over the integrator's solution, the one after `done` steps, if all of it is finite. */
pol_status poli_simulation_accept(pol_simulation *sim, long done);

/* Goes back to the solution at a time within the last step, or to its end. */
pol_status poli_simulation_show(pol_simulation *sim, double t);

/* Lists the invariants of a mechanism; returns how many. */
int poli_invariants_find(const pol_mechanism *mechanism,
                         pol_invariant invariants[POL_MAX_INVARIANTS]);

/* Sets their values. */
void poli_invariants_set(int count, pol_invariant *invariants, double energy,
                         const pol_momentum *momentum);

/* Brings the rest up to date with the values after an accepted step: the increments and the largest
 * ones; at the start and after a reset, if first, the initial values.  last holds the values after
 * the step before and is set to those of this one. */
void poli_invariants_measure(int count, pol_invariant *invariants, int first,
                             double last[POL_MAX_INVARIANTS]);

/* After forces have jumped at the end of the last step, which is shown: the power at the start of
 * the next one is that with the new forces. */
pol_status poli_simulation_forces_jump(pol_simulation *sim);

/* Keeps the present solution and summary as the last good ones; returns to them. */
void poli_simulation_keep_good(pol_simulation *sim);
void poli_simulation_return_to_good(pol_simulation *sim);

/* --- checks.c --------------------------------------------------------------------------------- */

/* Records a failure of this driver itself (the integrator records its own); returns status.
 * equation is -1 if none is to blame. */
pol_status poli_simulation_fail(pol_simulation *sim, pol_status status, int equation,
                                const char *message, const char *advice);

/* Adds to the integrator's diagnostics that the mechanism was near a singular position. */
void poli_simulation_blame_position(pol_simulation *sim);

/* Adds a warning to the summary, detected at time t; format and arguments as for printf.  Warnings
 * with the same format string are one kind, of which the first is listed; with the format "%s",
 * those with the same text are. */
void poli_simulation_warn(pol_simulation *sim, double t, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Index of the first number that is not finite, -1 if there is none. */
int poli_first_not_finite(int count, const double *x);

/* POL_NOT_FINITE, with the place, if the integrator's solution or the residuals in the workspace
 * hold a number that is not finite. */
pol_status poli_simulation_check_finite(pol_simulation *sim, const pol_state *state);

/* POL_INCONSISTENT if a dropped constraint does not follow from the others any more; the residuals
 * are in the workspace. */
pol_status poli_simulation_check_dropped(pol_simulation *sim, const pol_state *state);

/* Adds a warning if a constant-velocity joint is bent by nearly 180 degrees; POL_INCONSISTENT if it
 * is on the wrong branch. */
pol_status poli_simulation_check_bends(pol_simulation *sim, const pol_state *state);
/* Warns where a flexible body rotates too fast for its stiffness without geometric terms. */
void poli_simulation_check_rotation(pol_simulation *sim, double t, const poli_instant *now);
/* POL_RETRY if a joint or bushing turns so fast that what depends on its turns is wrong,
 * or if a beam element is turned inside out. */
pol_status poli_simulation_check_turns(pol_simulation *sim, const pol_state *state,
                                       const poli_instant *now);

/* --- watch.c ---------------------------------------------------------------------------------- */

/* The integrator has been started.  *watch is NULL after POL_OK if no constraints can become
 * dependent.  Both must outlive it. */
pol_status poli_watch_create(poli_watch **watch, const pol_formulation *formulation,
                             pol_integrator *integrator);
void poli_watch_free(poli_watch **watch);
/* Forgets what it has seen, for a new start at t = 0.  watch may be NULL. */
void poli_watch_reset(poli_watch *watch);

/* Lists what it keeps from look to look.  watch may be NULL. */
void poli_watch_archive(poli_watch *watch, poli_archive *archive);

/* Looks at an accepted state, the result of a step of size h (0 at the start), if it is time to;
 * adds what it finds to singular.  drift is the relative error of the positions where they drift,
 * else 0.  Allocates nothing.  watch may be NULL. */
void poli_watch_look(poli_watch *watch, const pol_state *state, double h, double drift,
                     pol_singular *singular);

/* Whether the last accepted state, from which a step of size h has failed, is near a singular
 * position; the constraint in words goes to where.  watch may be NULL. */
int poli_watch_is_near(poli_watch *watch, const pol_state *state, double h, char *where,
                       size_t size);

/* The distance d of the last look, 1 if there was none.  Errors of the constraints are amplified by
 * about 1/d in those that follow from them.  watch may be NULL. */
double poli_watch_distance(const poli_watch *watch);

/* Whether the last look found a singular position that is not left behind.  watch may be NULL. */
int poli_watch_is_inside(const poli_watch *watch);

/* --- doubts.c --------------------------------------------------------------------------------- */

/* Updates the extremes with the summary and the solution, after a step; first: at the start. */
void poli_doubts_note(pol_simulation *sim, int first);
/* Warns once if fixed steps have become unstable: after every 5 steps of the first 100 done, then
 * every 25. */
void poli_simulation_doubt_step(pol_simulation *sim, long done);

/* --- inputs.c --------------------------------------------------------------------------------- */

/* The number of a variable among the inputs, -1 if it is none. */
int poli_simulation_find_input(const pol_formulation *formulation, int variable);
/* As pol_simulation_set_input, by that number. */
pol_status poli_simulation_set_input(pol_simulation *sim, int input, double value);

/* --- controllers.c ---------------------------------------------------------------------------- */

/* The time of the next sample, or the end. */
double poli_controllers_next(const pol_simulation *sim);
/* Whether a controller has a sample at the end of the last step that has not been taken. */
int poli_controllers_due(const pol_simulation *sim);
/* Shortens the next step, of fixed size, if it would not lead to the next sample in whole steps;
 * returns 1 if so. */
int poli_controllers_fit_step(const pol_simulation *sim, double *h);
/* Takes the samples that are due; the state at the end of the last step is shown then. */
pol_status poli_controllers_sample(pol_simulation *sim);
void poli_controllers_archive(pol_simulation *sim, poli_archive *archive);
void poli_controllers_free(pol_simulation *sim);

/* --- events.c --------------------------------------------------------------------------------- */

/* Evaluates the functions of all events on the last step.  POL_ACCUMULATING: one has passed zero
 * although its last reset had reversed or stopped it. */
pol_status poli_simulation_scan_events(pol_simulation *sim);

/* The next event, by time and number, and when: one that a reset has made due now, or one of the
 * last step; -1 if none is left. */
int poli_simulation_next_event(pol_simulation *sim, double *when);

/* At the start and after a reset: makes those hard stops due, and no others, that are touched now
 * and whose rate leads into them. */
void poli_simulation_find_impacts(pol_simulation *sim);

/* Whether an event is due now. */
int poli_simulation_has_due_event(const pol_simulation *sim);

/* Stops at an event of the last step, or at one that is due. */
pol_status poli_simulation_stop_at(pol_simulation *sim, int event, double t);

#endif
