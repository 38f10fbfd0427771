/* Time integrators for a pol_dae: options, the table of methods, and the integrator object.
 *
 *     pol_options options = pol_options_default();
 *     pol_integrator_create(&integrator, dae, &options);
 *     pol_integrator_start(integrator, 0.0, q0, v0, NULL);
 *     while (...) status = pol_integrator_step(integrator, h);
 *
 * or, with the step size controlled by tolerances,
 *
 *     while (state->t < end) status = pol_integrator_adapt(integrator, end);
 *
 * All memory is allocated by create and start.  A step allocates nothing, except if the sparse
 * solver has to choose new pivots, and in large systems of rigid bodies (more than 5000 velocities
 * and constraints) that are solved in the space of the constraints: the first step that this fails
 * for allocates the general matrix.
 */
#ifndef POLHODE_INTEGRATOR_H
#define POLHODE_INTEGRATOR_H

#include <polhode/dae.h>
#include <polhode/newton.h>
#include <polhode/published.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- methods ---------------------------------------------------------------------------------- */

typedef struct pol_method {
  const char *name;      /* as used in model files: "geom1" */
  const char *title;     /* a short description */
  const char *order;     /* order of convergence, in words */
  const char *conserves; /* conserved quantities */
  const char *source;    /* literature */
  const char *settings;  /* its keys in "simulation" of a model file, separated by blanks */
} pol_method;

/* The table of methods: number of rows, row by index 0 .. count-1 (else NULL), row by name. */
int pol_method_count(void);
const pol_method *pol_method_at(int index);
const pol_method *pol_method_find(const char *name); /* NULL if there is none */
/* 1 if the method has an error estimate and can use variable step sizes; rattle in so3xr3 only. */
int pol_method_adapts(const char *name);
/* Fraction of the last step by which the multipliers lag: pol_state.lambda_t = t - lag h, except t
 * at the start, and t - h after a change of the step size. 0 for most methods; 1/2 or 1 for
 * variational and energy-momentum methods. */
double pol_method_lag(const char *name);

/* --- options ---------------------------------------------------------------------------------- */

typedef enum pol_index {
  POL_INDEX_3,           /* Phi = 0 at each step */
  POL_INDEX_2,           /* B v = 0 at each step */
  POL_INDEX_2_STABILIZED /* both, with a second multiplier (Gear/Gupta/Leimkuhler) */
} pol_index;

/* Treatment of redundant constraints, such as those of a planar loop of hinges.
 */
typedef enum pol_redundant {
  POL_REDUNDANT_DROP, /* drop them: their multipliers are zero; pol_integrator_dropped lists them */
  POL_REDUNDANT_REFUSE,      /* POL_SINGULAR at the start */
  POL_REDUNDANT_MINIMUM_NORM /* drop them, then distribute the reactions: multipliers of least
                                Euclidean norm with the same B^T lambda */
} pol_redundant;

/* Starting values; see docs/methods.md. */
typedef enum pol_start {
  POL_START_DEFAULT,   /* the choice with second order in every component */
  POL_START_CLASSICAL, /* a_0 = v'(t_0) */
  POL_START_SHIFTED,   /* a_0 shifted in time: Arnold/Cardona/Bruels 2015, Table 1 */
  POL_START_PERTURBED  /* in addition v_0 perturbed by O(h^2): Table 2 */
} pol_start;

/* Initial guess of the Newton iteration of the variational and energy-momentum methods. */
typedef enum pol_guess {
  POL_GUESS_ADVANCED, /* q_{n+1} = q_n + h v_n, the rest as in the step before */
  POL_GUESS_SIMPLE    /* all as in the step before, q_{n+1} = q_n */
} pol_guess;

/* How the sizes of variable steps are chosen. */
typedef enum pol_controller {
  POL_CONTROLLER_ELEMENTARY, /* from the error of the last step */
  POL_CONTROLLER_PI,         /* from the errors of the last two, which smooths the step sizes */
  POL_CONTROLLER_REVERSIBLE  /* without tolerances: from the kinetic energy, so that the sequence of
                                steps is reversible in time; for rattle in so3xr3 */
} pol_controller;

/* Step size control of pol_integrator_adapt (Gavrea/Negrut/Potra 2005, section 4; see
 * docs/methods.md).  The local error of coordinate i is measured in units of
 *
 *     max(atol, rtol size_i),    size_i: largest |q_i| so far, 1 for a rotation
 *
 * and a step is accepted if the root mean square over all coordinates is at most 1 and, if there
 * are more than 100, the largest at most 2 (pol_published.estimate: the mean alone). */
typedef struct pol_control {
  double rtol;                            /* >= 0 */
  double atol_translation, atol_rotation; /* >= 0, in the coordinates' unit and in rad */
  double first_step;         /* 0: estimated from the accelerations; reversible steps: required */
  double min_step, max_step; /* 0: no limit */
  double span; /* time that the first step and the accuracy of Newton's iterations are meant for; 0:
                  what is left up to the end of the first step's call */
  pol_controller controller;
} pol_control;

/* Options of an integrator. */
typedef struct pol_options {
  const char *method; /* a name of the method table */
  pol_index index;
  int order; /* of rattle in so3xr3: 2, 4, 6 or 8; 0: chosen from the tolerances of control */
  pol_start start;
  pol_redundant redundant;
  double alpha_m, alpha_f, beta, gamma; /* generalized-alpha parameters */
  double sigma;    /* weight of the velocity in the position update of geom1; 0 is geom1 itself */
  double theta;    /* of vi-a and vi-b; NAN for the published 1/2 and 1 */
  double vartheta; /* of vi-b; NAN for the published 1/2 */
  pol_guess guess;
  pol_newton_options newton;
  pol_solver_kind solver;
  pol_control control; /* of pol_integrator_adapt */
  /* Threads for one step of a large mechanism: 0: one for each processor, 1: none beside the
   * calling thread; at most 256.  Small mechanisms have one anyway.  Results do not depend on it,
   * to the last bit. */
  int threads;
  pol_published published; /* all zero, except to repeat a published run */
} pol_options;

/* The names used in model files: "shifted", "minimum-norm", "simple", "modified", "sparse", "pi";
 * NULL for an invalid value. */
const char *pol_start_name(pol_start start);
const char *pol_redundant_name(pol_redundant redundant);
const char *pol_guess_name(pol_guess guess);
const char *pol_newton_kind_name(pol_newton_kind kind);
const char *pol_newton_stop_name(pol_newton_stop stop);
const char *pol_solver_kind_name(pol_solver_kind kind);
const char *pol_controller_name(pol_controller controller);

/* geom1 with sigma 0, index 3, rho_inf 0.9, modified Newton, tolerances 1e-6. */
pol_options pol_options_default(void);
/* Sets the four parameters from the spectral radius at infinity, 0 <= rho_inf <= 1 (Chung/Hulbert).
 */
void pol_options_set_rho_inf(pol_options *options, double rho_inf);
/* Sets the method, and for newmark and hht also their default parameters: newmark gamma 1/2, beta
 * 1/4; hht alpha -0.3.  POL_BAD_ARGUMENT: unknown method. */
pol_status pol_options_set_method(pol_options *options, const char *name);
/* Sets the method newmark and its parameters; gamma > 1/2 adds damping and reduces the order to
 * one.
 */
void pol_options_set_newmark(pol_options *options, double gamma, double beta);
/* Sets the method hht with gamma = 1/2 - alpha, beta = (1 - alpha)^2/4, -1/3 <= alpha <= 0.
 */
void pol_options_set_hht(pol_options *options, double alpha);
/* The order of rattle in so3xr3: options->order, or where that is 0 the one that costs least with
 * the tolerances, by measurements. */
int pol_options_order(const pol_options *options);
/* POL_BAD_ARGUMENT, with the reason in message (may be NULL), if an option is invalid. */
pol_status pol_options_validate(const pol_options *options, char *message, size_t size);

/* Returns 1 if the four parameters violate second order (gamma = 1/2 + alpha_f - alpha_m) or
 * unconditional stability (alpha_m <= alpha_f <= 1/2, beta >= 1/4 + (alpha_f - alpha_m)/2,
 * Chung/Hulbert 1993), vartheta of vi-b is unstable, or a setting has no effect on the method;
 * message is the reason.  The options must be valid. */
int pol_options_warning(const pol_options *options, char *message, size_t size);
/* Returns 1 if pol_integrator_adapt is inefficient with these options: index 3 without numerical
 * damping, where each change of the step size excites undamped oscillations of the multipliers; or
 * tolerances below 1e-12, where the estimated error is dominated by round-off. */
int pol_options_adapt_warning(const pol_options *options, char *message, size_t size);

/* POL_BAD_ARGUMENT, with the reason in message (NULL only if size is 0), if these options cannot be
 * used on this dae. */
pol_status pol_integrator_supports(const pol_dae *dae, const pol_options *options, char *message,
                                   size_t size);
/* Returns 1 if these options, which the dae supports, may give unreliable results for it, such as
 * index 3 with constraints and almost no numerical damping. message (size bytes) is the reason, or
 * empty if 0 is returned. */
int pol_integrator_warning(const pol_dae *dae, const pol_options *options, char *message,
                           size_t size);

/* --- stepping --------------------------------------------------------------------------------- */

/* The solution at one time.  The integrator owns the arrays; their values change with each step. */
typedef struct pol_state {
  double t;
  const double *q;       /* nq */
  const double *v;       /* nv */
  const double *vd;      /* nv: v' */
  const double *lambda;  /* m */
  const double *eta;     /* num_holonomic; of the stabilized form, else NULL */
  const double *history; /* of pol_dae.update_history; NULL if there is none */
  const double *p;       /* nv: momenta of the variational and energy-momentum methods, else NULL */
  double lambda_t;       /* the time to which lambda belongs: t, or earlier (docs/methods.md) */
} pol_state;

/* The state as a point for pol_dae.evaluate(). */
pol_point pol_state_point(const pol_state *state);

/* An integrator: one method applied to one dae.  Owns its state and workspace. */
typedef struct pol_integrator pol_integrator;

/* The dae must outlive the integrator; the options are copied. */
pol_status pol_integrator_create(pol_integrator **integrator, const pol_dae *dae,
                                 const pol_options *options);
void pol_integrator_free(pol_integrator **integrator);

/* Makes q and v consistent (see pol_assembler; keep may be NULL), computes v' and lambda, and sets
 * the counts to zero. */
pol_status pol_integrator_start(pol_integrator *integrator, double t, const double *q,
                                const double *v, const unsigned char *keep);
/* One step of size h > 0.  After a failure the state is that of the last accepted step. */
pol_status pol_integrator_step(pol_integrator *integrator, double h);
/* `count` steps of size h, as by pol_integrator_step; stops at the first that fails.
 * Intermediate states are not available: rattle on rigid bodies does not compute their velocities,
 * accelerations and multipliers, which are a large part of the work of a step of order 2.  After a
 * failure pol_integrator_interpolate may have no step to interpolate in. */
pol_status pol_integrator_steps(pol_integrator *integrator, double h, long count);
/* One step of a size chosen by options.control, at most to t_end; if t_end is less than two steps
 * away, the remaining time is divided so that t_end is met exactly.  Attempts that fail or exceed
 * the tolerances are undone and repeated with a smaller step; counts.rejected counts them.  After a
 * failure the state is that of the last accepted step; after POL_SMALL_STEP the diagnostics name
 * the equation with the largest error.  POL_BAD_ARGUMENT: t_end is not after the current time, or
 * the method has no error estimate. */
pol_status pol_integrator_adapt(pol_integrator *integrator, double t_end);
/* Continues from t with other values, for example after an impact; they are made consistent as in
 * pol_integrator_start.  Counts, history and the largest coordinates so far are kept; the size of
 * the next step is estimated again.  Allocates nothing, except for new pivots of the sparse solver
 * and, if constraints times velocities exceed 250000, when constraints are redundant for the first
 * time. */
pol_status pol_integrator_restart(pol_integrator *integrator, double t, const double *q,
                                  const double *v, const unsigned char *keep);

/* The solution at a time t within the last accepted step, by the interpolant of dense.c, into q
 * (nq), v (nv), vd (nv), lambda (m); each may be NULL.  At both ends it equals the solution.  The
 * error is of the order of that of the step.  Rotations must be less than pi per step.
 * POL_BAD_ARGUMENT: t is not in the last step, or no step has been taken. */
pol_status pol_integrator_interpolate(const pol_integrator *integrator, double t, double *q,
                                      double *v, double *vd, double *lambda);

/* A function of the solution whose zero is an event, for example the gap of an impact. */
typedef double (*pol_event)(const pol_state *at, void *user);

/* Searches for a zero of the event in the last accepted step, from its sign at both ends, on the
 * interpolated solution; direction > 0: rising only, < 0: falling only.  Returns 1 and the time, to
 * round-off, on the side after the sign change, or 0.  A zero at the start of the step belongs to
 * the previous step.  A NaN has no sign.  The state passed to the event has no eta. */
int pol_integrator_find_event(pol_integrator *integrator, pol_event event, void *user,
                              int direction, double *t);

/* The state after the last accepted step, and the work so far; the integrator owns both. */
const pol_state *pol_integrator_state(const pol_integrator *integrator);
const pol_counts *pol_integrator_counts(const pol_integrator *integrator);
/* Selects the redundant constraints to drop again at the current state.  The best choice depends on
 * the position: constraints that are kept may become dependent where dropped ones do not.  The
 * number of dropped constraints stays the same.  Allocates nothing.  POL_BAD_ARGUMENT if none is
 * redundant, otherwise the status of the evaluation; after a failure nothing has changed. */
pol_status pol_integrator_choose_constraints(pol_integrator *integrator);
/* 1 for each of the m constraints that has been dropped as redundant. */
const unsigned char *pol_integrator_dropped(const pol_integrator *integrator);
const pol_diagnostics *pol_integrator_diagnostics(const pol_integrator *integrator);

#ifdef __cplusplus
}
#endif
#endif
