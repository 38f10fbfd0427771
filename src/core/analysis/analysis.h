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
 * accelerations, velocities (for one second) and weights that there are.  turned: nv numbers of
 * workspace. */
double poli_axes_unsteady(const poli_axes *axes, const pol_analysis *analysis, double *turned);

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
} poli_linear;

pol_status poli_linear_create(poli_linear **linear, const pol_analysis *analysis,
                              const double frame[3], int num_inputs, const poli_input *inputs,
                              pol_diagnostics *diagnostics);
void poli_linear_free(poli_linear **linear);

/* --- stability.c ------------------------------------------------------------------------------ */

/* Fills the part of the report about stability.  *smallest (may be NULL) is the smallest real part
 * of an eigenvalue, round-off included, with a negative sign if others are complex. */
pol_status poli_stability(pol_analysis *analysis, pol_static_report *report, double *smallest,
                          pol_diagnostics *diagnostics);

/* --- modes_large.c ---------------------------------------------------------------------------- */

/* `count` eigenvalues nearest to the shift, or more, with w (nv x *found, by columns; pairs as of
 * poli_full_eigen).  re, im: count + 3 numbers; w: nv x (count + 3). */
pol_status poli_modes_large(pol_analysis *analysis, const pol_modes_options *options, int count,
                            double *re, double *im, double *w, int *found, double *unsteady,
                            pol_diagnostics *diagnostics);

#endif
