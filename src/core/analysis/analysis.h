/* What the files of this room share: the state of an analysis, the terms of its linearised
 * equations, and these equations in full matrices. */
#ifndef POLHODE_ANALYSIS_ANALYSIS_H
#define POLHODE_ANALYSIS_ANALYSIS_H

#include <polhode/analysis.h>

#include "dae/assembler.h"
#include "formulation/formulation.h"

/* Above this number of velocities full matrices are avoided. */
enum { POLI_FULL_VELOCITIES = 600 };

struct pol_analysis {
  const pol_mechanism *mechanism;
  pol_formulation *formulation; /* its own: load steps scale its forces */
  const pol_dae *dae;
  pol_assembler *assembler;
  double length; /* of the model, m */
  pol_state state;
  void *memory; /* holds the arrays below */
  double *q, *v, *vd, *lambda, *history;
  pol_force *forces; /* copies with scaled loads */
};

/* Index of the first first-order state among the velocities. */
static inline int poli_analysis_first_state(const pol_analysis *analysis)
{
  return analysis->dae->group.nv - analysis->dae->num_states;
}

/* Writes the failure into diagnostics (may be NULL) unless it has a message already; returns
 * status. */
pol_status poli_analysis_fail(const pol_analysis *analysis, pol_status status, const char *message,
                              const char *advice, pol_diagnostics *diagnostics);

/* The motion that belongs to a velocity, in words: "body 'rod', rotation z". */
void poli_analysis_name_motion(const pol_analysis *analysis, int velocity, char *text, size_t size);
/* The velocity with the largest part in a motion w (nv), rotations counting with the length of the
 * model; the part (m) is *size (may be NULL).  -1 if all are zero. */
int poli_analysis_largest(const pol_analysis *analysis, const double *w, double *size);

/* --- terms.c: matrices at a state ------------------------------------------------------------- */

typedef struct poli_terms {
  const pol_dae *dae;
  poli_dae_patterns patterns;
  void *memory;
  double *mass, *damping, *stiffness; /* pattern coupling; stiffness with the geometric one */
  double *jacobian, *curvature;       /* pattern constraint */
  double *feedback;                   /* pattern feedback, or NULL */
  double *scratch;                    /* of the dae */
} poli_terms;

pol_status poli_terms_create(poli_terms **terms, const pol_dae *dae);
void poli_terms_free(poli_terms **terms);
/* All matrices at a point; a failure is explained in diagnostics. */
pol_status poli_terms_evaluate(poli_terms *terms, const pol_point *at,
                               pol_diagnostics *diagnostics);

/* The highest frequency of a body by itself, rad/s. */
double poli_terms_fastest(const poli_terms *terms, const pol_analysis *analysis);

/* Four states near the present one, q o exp(e v), v + e v' at small times e before and after it:
 * the rate of change of a function f of the state along the motion is the sum of weight f(point),
 * to the fourth order in e. */
typedef struct poli_nearby {
  pol_point point[4];
  double weight[4]; /* 1/s */
  void *memory;
} poli_nearby;
pol_status poli_nearby_create(poli_nearby *nearby, const pol_analysis *analysis);
void poli_nearby_free(poli_nearby *nearby);

/* Rates of change of the jacobian and the curvature along the motion, pattern constraint. */
pol_status poli_terms_rates(poli_terms *terms, const pol_analysis *analysis, double *jacobian_rate,
                            double *curvature_rate);

/* The rates of rotation of the axes in which the components of w and v are taken, for each body:
 * T and G of polhode/analysis.h as vectors, y = T x being their cross products. */
typedef struct poli_axes {
  const pol_group *group;
  double *T, *G; /* nv: three numbers a factor */
} poli_axes;
/* For axes that rotate with the angular velocity `frame`.  T, G: nv numbers each. */
void poli_axes_set(poli_axes *axes, const pol_analysis *analysis, const double frame[3]);
/* y += scale T x or scale G x */
void poli_axes_add(const poli_axes *axes, const double *rates, double scale, const double *x,
                   double *y);
/* out += in T or in G, sparse matrices with a column for each velocity */
void poli_axes_add_columns(const poli_axes *axes, const double *rates, const pol_pattern *pattern,
                           const double *in, double *out);

/* Motions with a smaller measure of unsteadiness are taken as steady. */
#define POLI_STEADY 1e-9

/* The largest |v' - T v|, which is zero if the motion is steady in these axes, compared with the
 * accelerations, velocities (for one second) and weights that there are.  fastest: as of
 * poli_terms_fastest.  turned: nv numbers of workspace. */
double poli_axes_unsteady(const poli_axes *axes, const pol_analysis *analysis, double fastest,
                          double *turned);

/* --- linear.c: the equations in full matrices --------------------------------------------------
 */

/* Coefficients of an input: a force, or the drive whose acceleration it is. */
typedef struct poli_input {
  int drive;           /* index, or -1 */
  const double *force; /* nv: generalized force of a unit input; NULL for a drive */
} poli_input;

/* Coordinates z = (p, s) of the changes of the state: w = W z, v = V z.  All matrices by columns.
 */
typedef struct poli_linear {
  int nv, m, np, ns, nx, nu; /* nx = np + ns */
  void *memory;
  double *W, *V;   /* nv x nx */
  double *Wd, *Vd; /* nv x nx: their rates of change along the motion; zero if it is steady */
  double *A;       /* nx x nx: z' = A z + B u */
  double *B;       /* nx x nu */
  double *lambda;  /* m x (nx + nu): change of the multipliers by z and u */
  double unsteady; /* see pol_modes_unsteady */
  double fastest;  /* see poli_terms_fastest */
} poli_linear;

pol_status poli_linear_create(poli_linear **linear, const pol_analysis *analysis,
                              const double frame[3], int num_inputs, const poli_input *inputs,
                              pol_diagnostics *diagnostics);
void poli_linear_free(poli_linear **linear);

/* --- rotation.c: steady rotation -------------------------------------------------------------- */

/* All bodies rotate about one axis, except those that joints hold at rest. */
typedef struct poli_rotation {
  pol_analysis *analysis;
  double rate[3], centre[3]; /* angular velocity, and a point of the axis */
  double factor;             /* of the angular velocity, in load steps */
  const pol_pattern *constraint;
  poli_axes axes; /* of the present velocities; zero for bodies at rest */
  void *memory;
  unsigned char *rests;                      /* for each body */
  double *left;                              /* pattern coupling */
  double *q, *v, *vd, *w;                    /* workspace: nq, nv each */
  double *balance, *turned, *rows, *scratch; /* nv, nv, m; of the dae */
} poli_rotation;

/* Gives the velocities of the rotation to the state.  POL_NOT_CONVERGED: a constraint does not
 * allow it.  Patterns of the dae that stay valid.  Free *rotation in every case. */
pol_status poli_rotation_create(poli_rotation **rotation, pol_analysis *analysis,
                                const double rate[3], const double centre[3],
                                const pol_pattern *coupling, const pol_pattern *constraint,
                                pol_diagnostics *diagnostics);
void poli_rotation_free(poli_rotation **rotation);
/* v and v' of the state for its configuration. */
void poli_rotation_apply(poli_rotation *rotation);
/* terms->stiffness += (M T + D) G, after poli_terms_evaluate. */
void poli_rotation_add_stiffness(const poli_rotation *rotation, poli_terms *terms);
/* POL_NOT_CONVERGED, with the reason, if forces or constraints change along the rotation. */
pol_status poli_rotation_check(poli_rotation *rotation, pol_diagnostics *diagnostics);

/* --- stability.c ------------------------------------------------------------------------------ */

/* Fills the part of the report about stability; rotation is NULL at rest.  *smallest (may be NULL)
 * is the smallest real part of an eigenvalue, round-off included, with a negative sign if others
 * are complex. */
pol_status poli_stability(pol_analysis *analysis, const poli_rotation *rotation,
                          pol_static_report *report, double *smallest,
                          pol_diagnostics *diagnostics);

/* --- modes.c ---------------------------------------------------------------------------------- */

const pol_analysis *poli_modes_analysis(const pol_modes *modes);
/* 1 for each body that is a node of a beam. */
const unsigned char *poli_modes_nodes(const pol_modes *modes);

/* --- moving.c --------------------------------------------------------------------------------- */

/* (A - sigma)^-1 of the linearised equations about a motion that is not steady. */
typedef struct poli_moving poli_moving;
/* With terms evaluated at the present state; both must outlive it.  Free *moving in every case. */
pol_status poli_moving_create(poli_moving **moving, const pol_analysis *analysis, poli_terms *terms,
                              const poli_axes *axes);
void poli_moving_free(poli_moving **moving);
pol_status poli_moving_factor(poli_moving *moving, double sigma);
/* (w, v) from (a, b), nv each. */
void poli_moving_apply(poli_moving *moving, const double *a, const double *b, double *w, double *v);

/* --- modes_large.c ---------------------------------------------------------------------------- */

/* `count` eigenvalues nearest to the shift, or more, with w (nv x *found, by columns; pairs as of
 * poli_full_eigen).  re, im: count + 3 numbers; w: nv x (count + 3).  Eigenvalues of the size
 * *roundoff cannot be told from zero. */
pol_status poli_modes_large(pol_analysis *analysis, const pol_modes_options *options, int count,
                            double *re, double *im, double *w, int *found, double *roundoff,
                            double *unsteady, pol_diagnostics *diagnostics);

#endif
