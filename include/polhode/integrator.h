/* Time integrators for a pol_dae: options, the table of methods, and an object that steps.
 *
 *     pol_options options = pol_options_default();
 *     pol_integrator_create(&integrator, dae, &options);
 *     pol_integrator_start(integrator, 0.0, q0, v0, NULL);
 *     while (...) status = pol_integrator_step(integrator, h);
 *
 * or, with steps whose size follows from tolerances,
 *
 *     while (state->t < end) status = pol_integrator_adapt(integrator, end);
 *
 * All memory is allocated by create and start.  A step allocates nothing, except that the sparse
 * solver does when it has to choose new pivots.
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
  const char *name;      /* what a model file says: "geom1" */
  const char *title;     /* a few words */
  const char *order;     /* its order of convergence, in words */
  const char *conserves; /* what it preserves */
  const char *source;    /* where it comes from */
  const char *settings;  /* its own keys of "simulation" in a model file, a blank between them */
} pol_method;

/* The table of methods: rows 0 .. count-1 (NULL beyond), and the one of a name. */
int pol_method_count(void);
const pol_method *pol_method_at(int index);
const pol_method *pol_method_find(const char *name); /* NULL if there is none */
/* 1 if it has an error estimate, so that its steps can be of variable size. */
int pol_method_adapts(const char *name);
/* Fraction of the last step by which the multipliers lag: pol_state.lambda_t = t - lag h, but t at
 * the start, and t - h after a step whose size differs from that of the step before.  0 for most;
 * 1/2 or 1 for variational and energy-momentum methods. */
double pol_method_lag(const char *name);

/* --- options ---------------------------------------------------------------------------------- */

typedef enum pol_index {
  POL_INDEX_3,           /* Phi = 0 at each step */
  POL_INDEX_2,           /* B v = 0 at each step */
  POL_INDEX_2_STABILIZED /* both, with a second multiplier (Gear/Gupta/Leimkuhler) */
} pol_index;

/* What to do with constraints that others imply already, such as those of a planar loop of hinges.
 */
typedef enum pol_redundant {
  POL_REDUNDANT_DROP,   /* leave them out: their multipliers are zero; pol_integrator_dropped tells
                           which */
  POL_REDUNDANT_REFUSE, /* POL_SINGULAR at the start */
  POL_REDUNDANT_MINIMUM_NORM /* leave them out of the solution, then share the reactions: of all
                                multipliers with the same B^T lambda those of least Euclidean norm
                              */
} pol_redundant;

/* Starting values; see docs/methods.md. */
typedef enum pol_start {
  POL_START_DEFAULT,   /* the one that gives second order in every component */
  POL_START_CLASSICAL, /* a_0 = v'(t_0) */
  POL_START_SHIFTED,   /* a_0 shifted in time: Arnold/Cardona/Bruels 2015, Table 1 */
  POL_START_PERTURBED  /* and v_0 perturbed by O(h^2): Table 2 */
} pol_start;

/* Where the Newton iteration of the variational and energy-momentum methods starts. */
typedef enum pol_guess {
  POL_GUESS_ADVANCED, /* q_{n+1} = q_n + h v_n, the rest as in the step before */
  POL_GUESS_SIMPLE    /* all as in the step before, q_{n+1} = q_n */
} pol_guess;

/* How pol_integrator_adapt finds the size of its steps (Gavrea/Negrut/Potra 2005, section 4; see
 * docs/methods.md).  The local error of coordinate i is measured in units of
 *
 *     max(atol, rtol size_i),    size_i: largest |q_i| so far, 1 for a rotation
 *
 * and a step is accepted if the root mean square over all coordinates is at most 1. */
typedef struct pol_control {
  double rtol;                            /* >= 0 */
  double atol_translation, atol_rotation; /* >= 0, in the coordinates' unit and in rad */
  double first_step;                      /* 0: found from the accelerations */
  double min_step, max_step;              /* 0: none */
  int pi;                                 /* 1: the size depends on the error of the step before
                                             too, which smooths the sequence of step sizes */
} pol_control;

/* Options of an integrator. */
typedef struct pol_options {
  const char *method; /* a name of the method table */
  pol_index index;
  int order; /* of rattle in so3xr3: 2, 4, 6 or 8 */
  pol_start start;
  pol_redundant redundant;
  double alpha_m, alpha_f, beta, gamma; /* generalized-alpha parameters */
  double sigma;    /* weight of the velocity in the position update of geom1; 0 is geom1 itself */
  double theta;    /* of vi-a and vi-b; NAN for the published 1/2 and 1 */
  double vartheta; /* of vi-b; NAN for the published 1/2 */
  pol_guess guess;
  pol_newton_options newton;
  pol_solver_kind solver;
  pol_control control;     /* of pol_integrator_adapt */
  pol_published published; /* all zero, unless a published run is to be repeated */
} pol_options;

/* The word of a model file for a choice: "shifted", "minimum-norm", "simple",
 * "modified", "sparse"; NULL for what is none of the enumeration. */
const char *pol_start_name(pol_start start);
const char *pol_redundant_name(pol_redundant redundant);
const char *pol_guess_name(pol_guess guess);
const char *pol_newton_kind_name(pol_newton_kind kind);
const char *pol_solver_kind_name(pol_solver_kind kind);

/* geom1 with sigma 0, index 3, rho_inf 0.9, modified Newton, tolerances 1e-6. */
pol_options pol_options_default(void);
/* Sets the four parameters from the spectral radius at infinity, 0 <= rho_inf <= 1 (Chung/Hulbert).
 */
void pol_options_set_rho_inf(pol_options *options, double rho_inf);
/* Sets the method, and where its name promises parameters, these: newmark gamma 1/2, beta 1/4, hht
 * alpha -0.3.  POL_BAD_ARGUMENT: there is no such method. */
pol_status pol_options_set_method(pol_options *options, const char *name);
/* Sets the method newmark and its parameters; gamma > 1/2 damps and is of first order.
 */
void pol_options_set_newmark(pol_options *options, double gamma, double beta);
/* Sets the method hht with gamma = 1/2 - alpha, beta = (1 - alpha)^2/4, -1/3 <= alpha <= 0.
 */
void pol_options_set_hht(pol_options *options, double alpha);
/* POL_BAD_ARGUMENT, with the rule in message (may be NULL), if an option is out of range. */
pol_status pol_options_validate(const pol_options *options, char *message, size_t size);

/* Whether the four parameters miss second order (gamma = 1/2 + alpha_f - alpha_m) or unconditional
 * stability (alpha_m <= alpha_f <= 1/2, beta >= 1/4 + (alpha_f - alpha_m)/2, Chung/Hulbert 1993),
 * vartheta of vi-b is unstable, or a setting is not the method's own and has no effect; if so, says
 * which in message.  The options must be valid. */
int pol_options_warning(const pol_options *options, char *message, size_t size);
/* Whether pol_integrator_adapt would waste steps with these options: index 3 without numerical
 * damping, where each change of the step size excites multipliers that never settle; or tolerances
 * below 1e-12, where the error that is estimated is round-off. */
int pol_options_adapt_warning(const pol_options *options, char *message, size_t size);

/* POL_BAD_ARGUMENT, with the reason in message (NULL only if size is 0), if these options cannot be
 * used on this dae. */
pol_status pol_integrator_supports(const pol_dae *dae, const pol_options *options, char *message,
                                   size_t size);
/* Returns 1 if these options, which the dae supports, may give unreliable results for it, such as
 * index 3 with hardly any numerical damping and constraints; message (size bytes) is the reason, or
 * empty after 0. */
int pol_integrator_warning(const pol_dae *dae, const pol_options *options, char *message,
                           size_t size);

/* --- stepping --------------------------------------------------------------------------------- */

/* The solution at one time.  The pointers belong to the integrator; the numbers change with each
 * step. */
typedef struct pol_state {
  double t;
  const double *q;       /* nq */
  const double *v;       /* nv */
  const double *vd;      /* nv: v' */
  const double *lambda;  /* m */
  const double *eta;     /* num_holonomic; of the stabilized form, else NULL */
  const double *history; /* of pol_dae.update_history; NULL if there is none */
  const double *p;       /* nv: momenta of the variational and energy-momentum methods, else NULL */
  double lambda_t;       /* the time at which lambda is accurate: t, or earlier (docs/methods.md) */
} pol_state;

/* The same as a point where a dae can be evaluated. */
pol_point pol_state_point(const pol_state *state);

/* One method with one dae: owns its state and workspace. */
typedef struct pol_integrator pol_integrator;

/* The dae must outlive the integrator; the options are copied. */
pol_status pol_integrator_create(pol_integrator **integrator, const pol_dae *dae,
                                 const pol_options *options);
void pol_integrator_free(pol_integrator **integrator);

/* Makes q and v consistent (see pol_assembler; keep may be NULL), finds v' and lambda, sets the
 * counts to zero. */
pol_status pol_integrator_start(pol_integrator *integrator, double t, const double *q,
                                const double *v, const unsigned char *keep);
/* One step of size h > 0.  On a failure the state is that of the last accepted step. */
pol_status pol_integrator_step(pol_integrator *integrator, double h);
/* One step of a size that options.control asks for, at most to t_end; where t_end is nearer than
 * two steps, the rest is divided so that it is met exactly.  Attempts that fail or miss the
 * tolerances are undone and repeated with a smaller step; counts.rejected counts them.  On a
 * failure the state is that of the last accepted step; POL_SMALL_STEP: the diagnostics name the
 * equation with the largest error.  POL_BAD_ARGUMENT: t_end is not after the present time, or the
 * method has no error estimate. */
pol_status pol_integrator_adapt(pol_integrator *integrator, double t_end);
/* Goes on from t with other values, made consistent as by pol_integrator_start: after an impact,
 * say. Counts, history and the running sizes of the coordinates stay; the next step's size is found
 * anew.  Allocates nothing, except for fresh pivots of the sparse solver, and in a dae with more
 * than 250000 constraints times velocities the first time that constraints are redundant. */
pol_status pol_integrator_restart(pol_integrator *integrator, double t, const double *q,
                                  const double *v, const unsigned char *keep);

/* The solution at a time t within the last accepted step, by the interpolant of dense.c, into q
 * (nq), v (nv), vd (nv), lambda (m); each may be NULL.  At both ends it is the solution itself.
 * The error is of the order of the step's own.  Rotations must turn less than pi in a step.
 * POL_BAD_ARGUMENT: t is not in the last step, or there is none yet. */
pol_status pol_integrator_interpolate(const pol_integrator *integrator, double t, double *q,
                                      double *v, double *vd, double *lambda);

/* A function of the solution whose zero is an event: the gap of an impact, say. */
typedef double (*pol_event)(const pol_state *at, void *user);

/* Looks for a zero of the event in the last accepted step, by its sign at both ends, on the
 * interpolated solution; direction > 0: only where it rises, < 0: only where it falls.  Returns 1
 * and the time, to round-off, on the side where the sign has changed, or 0.  A zero at the start of
 * the step belongs to the step before, and where the event is not a number it has no sign.  The
 * state that the event sees has no eta. */
int pol_integrator_find_event(pol_integrator *integrator, pol_event event, void *user,
                              int direction, double *t);

/* The state after the last accepted step, and the work so far; both belong to the integrator. */
const pol_state *pol_integrator_state(const pol_integrator *integrator);
const pol_counts *pol_integrator_counts(const pol_integrator *integrator);
/* Which of the redundant constraints are best dropped depends on the position: kept ones may become
 * dependent where dropped ones do not.  Chooses the same number anew at the present state, those
 * nearest to being implied by the others; allocates nothing.  POL_BAD_ARGUMENT if none is
 * redundant, otherwise the status of the evaluation; after a failure nothing has changed. */
pol_status pol_integrator_choose_constraints(pol_integrator *integrator);
/* 1 for each of the m constraints that is redundant and has been dropped. */
const unsigned char *pol_integrator_dropped(const pol_integrator *integrator);
const pol_diagnostics *pol_integrator_diagnostics(const pol_integrator *integrator);

#ifdef __cplusplus
}
#endif
#endif
