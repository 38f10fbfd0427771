/* The generalized-alpha step under way, shared by the files that implement it: generalized_alpha.c
 * (life cycle, starting values, the step), alpha_equations.c (what Newton's unknowns mean,
 * residual), alpha_matrix.c (its derivative) and alpha_published.c (published variants).  The
 * equations are in generalized_alpha.c. */
#ifndef POLHODE_INTEGRATORS_ALPHA_H
#define POLHODE_INTEGRATORS_ALPHA_H

#include <string.h>

#include <polhode/integrator.h>

#include "dae/newton.h"
#include "dae/saddle.h"

/* Which known parts of the increment already move the configuration from which the unknown
 * increment starts: none (geom1, linear), the velocity (geom2), velocity and acceleration (geom3).
 */
typedef struct poli_update {
  int base_velocity, base_acceleration;
  int coordinates_only; /* linear: increments are classical coordinates, re-centred each step */
  enum { POLI_ANY_ALPHA, POLI_NEWMARK, POLI_HHT } parameters; /* which of the family's are meant */
} poli_update;

/* The variants of the family. */
extern const poli_update poli_geom1, poli_geom2, poli_geom3, poli_linear, poli_newmark, poli_hht;

enum { POLI_DIM = POL_MAX_FACTOR_DIM };

/* Accelerations and multipliers of the last accepted steps, and the polynomial through them that
 * predicts the next ones; predictor.c. */
enum { POLI_MAX_DEGREE = 3, POLI_MAX_SAMPLES = POLI_MAX_DEGREE + 1 };

typedef struct poli_predictor {
  int n;                            /* numbers in a sample */
  int count;                        /* samples, at most POLI_MAX_SAMPLES */
  int degree;                       /* with which the next prediction is made */
  double t[POLI_MAX_SAMPLES];       /* latest first */
  double *sample[POLI_MAX_SAMPLES]; /* n each */
} poli_predictor;

/* Forgets all samples. */
void poli_predictor_clear(poli_predictor *predictor);
/* Chooses the degree that would have predicted the first `measured` numbers of this sample best, in
 * the units of weight (measured numbers), then keeps it as the latest. */
void poli_predictor_add(poli_predictor *predictor, double t, const double *sample,
                        const double *weight, int measured);
/* The polynomial through the latest degree + 1 samples, at t, into out (n). */
void poli_predictor_at(const poli_predictor *predictor, double t, double *out);

/* What a step carries to the next. */
typedef struct poli_alpha_values {
  double *q, *v, *vd, *a, *lambda;
} poli_alpha_values;

typedef struct poli_alpha {
  const pol_dae *dae;
  const pol_options *options;
  const poli_update *update;
  pol_assembler *assembler; /* not owned */
  poli_saddle *saddle;
  poli_saddle *owned_saddle;       /* stabilized form only; else the assembler's is shared */
  poli_newton *newton;             /* with the general matrix, see poli_alpha_make_matrix */
  poli_newton_goal goal;           /* of the step under way */
  pol_counts *counts;              /* not owned */
  struct poli_alpha_rows *rows;    /* NULL: the dae or the options do not allow it */
  int by_rows;                     /* the step under way is solved with these */
  int threads;                     /* for loops over the factors of the group */
  size_t memory_size, matrix_size; /* bytes of the following */
  void *memory, *matrix_memory;    /* hold the arrays; those of matrices are NULL until needed */
  poli_alpha_values now, next;
  double *model_v, *model_vd;                   /* nv: what the model sees of next.v, next.vd */
  double *base;                                 /* q*, if it is not q_n: geom2, geom3 */
  double *theta;                                /* nv */
  double *x, *x_done;                           /* Newton's unknowns; those already applied */
  double *eta;                                  /* num_extra */
  double *stabilizing;                          /* nv: h B(q_n)^T eta */
  double *column;                               /* n: a column of the eta block */
  double *mass, *damping, *stiffness, *inertia; /* pattern coupling; inertia = factor M + h D */
  double *jacobian, *curvature, *old_jacobian;  /* pattern constraint; old: at q_n */
  double *position, *velocity;                  /* residuals of the constraints */
  double *feedback;                             /* dg/dlambda */
  const double *history;                        /* of the last accepted step; not owned */
  double *scratch;
  double *start_work, *given_v, *given_a; /* starting values */
  double (
      *P_inverse)[POLI_DIM * POLI_DIM]; /* a factor: dv/d(theta - T c + ...), where it is not I */
  int *factor_of;                       /* factor of each velocity component */
  double t, h;                     /* of the step under way; h = 0 after a start or a failure */
  const unsigned char *dropped;    /* m: redundant constraints, left out; NULL if there are none */
  int starting;                    /* it is the first: starting values are due */
  double last_h;                   /* that now.v and now.a belong to */
  int adapts;                      /* the step under way has changed now.v and now.a, */
  double undo_h;                   /* from given_v and given_a, which belong to this size */
  double c_v, c_a;                 /* c = c_v v_n + c_a a_n */
  double matrix_h;                 /* that Newton's matrix belongs to */
  int polynomial;                  /* the first guess comes from the predictor */
  poli_predictor predictor;        /* of (v', lambda, eta/h^2) */
  double *sample;                  /* n */
  int same_step;                   /* the step before succeeded with the same h */
  double length;                   /* of the dae, or its largest translation; not of states */
  double acceleration[POLI_KINDS]; /* largest acceleration of each kind, without the states, at the
                                     last residual */
  double change[POLI_KINDS];       /* and their largest change in the step */
  int has_accelerations;           /* they were measured with the last residual */
  double calm[POLI_KINDS];         /* smallest of these accelerations so far, where they last */
} poli_alpha;

/* The known part of theta, c = c_v v_n + c_a a_n. */
static inline double poli_alpha_c(const poli_alpha *s, int i)
{
  return s->c_v * s->now.v[i] + s->c_a * s->now.a[i];
}

static inline void poli_alpha_copy(double *to, const double *from, int n)
{
  memcpy(to, from, (size_t)n * sizeof *to);
}

/* Whether the increment of this factor is taken as classical coordinates, whose velocities the
 * model does not see. */
static inline int poli_alpha_is_vector(const poli_alpha *s, const pol_factor *factor)
{
  return factor->kind == POL_SO3_VECTOR ||
         (s->update->coordinates_only && factor->kind != POL_REAL);
}

/* alpha_equations.c */
pol_status poli_alpha_prepare(poli_alpha *s); /* q*, c, B(q_n) */
void poli_alpha_predict(poli_alpha *s);       /* the first x */
void poli_alpha_recentre(poli_alpha *s);      /* next.v, next.vd, next.a as the model sees them */
/* Everything at t_{n+1} that follows from the unknowns x. */
pol_status poli_alpha_place(const double *x, void *alpha);
/* Factors from first to end - 1 of the group, which have the velocities v to end_v - 1. */
typedef struct poli_alpha_range {
  int first, end, v, end_v;
} poli_alpha_range;
poli_alpha_range poli_alpha_factors(const poli_alpha *s, int first, int end);
/* The same of some factors, whose velocities are known unless sigma is 0, and of some multipliers.
 */
void poli_alpha_place_factors(poli_alpha *s, const double *x, poli_alpha_range range);
void poli_alpha_place_multipliers(poli_alpha *s, const double *x, int first, int end);
/* Includes some factors in s->acceleration and s->change. */
void poli_alpha_measure_factors(poli_alpha *s, poli_alpha_range range);
pol_status poli_alpha_residual(const double *x, double *r, void *alpha);
pol_status poli_alpha_evaluate(poli_alpha *s, double *r); /* the scaled residual at s->next */
void poli_alpha_add_transposed(poli_alpha *s, double scale, const double *eta,
                               double *out); /* out += scale B(q_n)^T eta */
void poli_alpha_tolerances(double *tolerance, void *alpha);
void poli_alpha_round_off(double *round_off, void *alpha);

/* alpha_published.c: steps as in published runs (pol_published) */
int poli_alpha_is_published(const poli_alpha *s); /* the step under way is one */
pol_status poli_alpha_solve_published(poli_alpha *s, pol_diagnostics *diagnostics);
/* The sigma of the exact form with the same local error. */
double poli_alpha_effective_sigma(const pol_options *options);

/* alpha_matrix.c */
pol_status poli_alpha_matrix(void *alpha);
/* The general matrix, what it is made of and its Newton method, unless they are there.  They are
 * made ahead, but for large systems that are solved by rows: there a step that needs the general
 * matrix allocates it. */
pol_status poli_alpha_make_matrix(poli_alpha *s);
/* What to try if Newton's method does not converge; NULL: what it says itself. */
const char *poli_alpha_advice(const poli_alpha *s);

/* The derivatives of one factor that is not R^n, n x n each. */
typedef struct poli_alpha_derivatives {
  double T[POLI_DIM * POLI_DIM]; /* T(theta) */
  double V[POLI_DIM * POLI_DIM]; /* h dv/dtheta */
  double E[POLI_DIM *
           POLI_DIM]; /* vector factors: h^2 dv'/dtheta - (1-alpha_m)/(gamma (1-alpha_f)) V */
} poli_alpha_derivatives;

/* Those of factor f, at s->theta; inertia_factor = (1-alpha_m)/(gamma (1-alpha_f)). */
pol_status poli_alpha_differentiate(const poli_alpha *s, int f, double inertia_factor,
                                    poli_alpha_derivatives *d);

/* alpha_rows.c: rigid bodies without stiff forces between them, in the space of their constraints
 */
typedef struct poli_alpha_rows poli_alpha_rows;

/* Sets s->rows if the dae and the options allow it, else leaves it NULL. */
pol_status poli_alpha_rows_create(poli_alpha *s, pol_counts *counts);
void poli_alpha_rows_free(poli_alpha_rows **rows);
/* Lists what it keeps from step to step. */
void poli_alpha_rows_archive(poli_alpha *s, poli_archive *archive);
/* Takes the multipliers s->now.lambda over; also after a step that was solved otherwise.  The first
 * call of a start allocates. */
pol_status poli_alpha_rows_start(poli_alpha *s);
void poli_alpha_rows_adopt(poli_alpha *s);
/* Whether the next step is to be solved by rows; called once per step. */
int poli_alpha_rows_serve(poli_alpha *s);
poli_newton *poli_alpha_rows_newton(poli_alpha_rows *rows);
/* Whether the general matrix is expected to do better, as the last steps have shown. */
int poli_alpha_rows_pause(const poli_alpha_rows *rows);
/* The blocks of B(q_n), for the stabilized form. */
pol_status poli_alpha_rows_prepare(poli_alpha *s);
/* Whether the rows give the velocity constraints too, and w (nv) with M w = B^T mu, B w = B v at
 * q_n: the part of v that violates them.  Newton's matrix is forgotten. */
int poli_alpha_rows_know_velocities(const poli_alpha *s);
pol_status poli_alpha_rows_velocity_defect(poli_alpha *s, const double *v, double *w);
/* From the guess of poli_alpha_predict. */
pol_status poli_alpha_rows_solve(poli_alpha *s, pol_diagnostics *diagnostics);
/* After an accepted step: s->next.lambda and s->eta in the axes of the dae. */
void poli_alpha_rows_accept(poli_alpha *s);
/* Present multipliers in the axes of the rows, and behind them eta. */
const double *poli_alpha_rows_multipliers(const poli_alpha_rows *rows);
void poli_alpha_rows_add_transposed(poli_alpha *s, double scale, const double *eta, double *out);

/* P = sigma I + (1-sigma) T (n x n), inverted; 0 if it is singular. */
int pol_alpha_invert_P(double sigma, const double *T, int n, double *P);
/* y = A x, n x n row-major */
void poli_alpha_apply(const double *A, const double *x, int n, double *y);

/* starting_values.c */

/* What the starting values depend on. */
typedef struct poli_start_problem {
  const pol_dae *dae;
  pol_assembler *assembler;
  double t, h;
  const double *q, *v, *vd, *lambda; /* consistent, at t; lambda for poli_starting_values only */
  double shift;                      /* alpha_m - alpha_f */
  double C_q;                        /* coefficient of h^3 v'' in the local error of q */
  double commutator;                 /* coefficient of h^3 [v, v'] in it */
  int linear;                        /* increments of all factors are classical coordinates */
  double *work;                      /* poli_start_work() numbers */
} poli_start_problem;

size_t poli_start_work(const pol_dae *dae);

/* a (nv) and, if v_start is not NULL, v_start (nv): see starting_values.c. */
pol_status poli_starting_values(const poli_start_problem *problem, double *a, double *v_start,
                                pol_diagnostics *diagnostics);
/* error (nv): the local error of q over h^3; problem->h only sets the distance of the difference
 * that v'' is. */
pol_status poli_start_error(const poli_start_problem *problem, double *error,
                            pol_diagnostics *diagnostics);

#endif
