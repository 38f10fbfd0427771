/* The saddle-point system of rigid bodies in the space of its rows.
 *
 *     [ M  B^T ] [ x  ]   [ f ]         (B M^-1 B^T + E) mu = B M^-1 f - b
 *     [ B  -E  ] [ mu ] = [ b ]    =>    x = M^-1 (f - B^T mu)
 *
 * with a diagonal E.  M has a block for each body, so that bodies are eliminated one by one and
 * only the graph of the joints is factored (row_space.h); time and memory are those of a few
 * numbers per body and joint.  The matrix of dae/saddle.h gives the same solution, to round-off,
 * and serves all other models.
 */
#ifndef POLHODE_DAE_ROW_SADDLE_H
#define POLHODE_DAE_ROW_SADDLE_H

#include "dae/row_space.h"

typedef struct poli_row_saddle poli_row_saddle;

/* Whether a dae consists of rigid bodies and point masses with holonomic constraints alone, without
 * forces that depend on reactions. */
int poli_row_saddle_applies(const pol_dae *dae);

/* The dae must be one of those, and outlive it. */
pol_status poli_row_saddle_create(poli_row_saddle **saddle, const pol_dae *dae);
void poli_row_saddle_free(poli_row_saddle **saddle);

/* Whether the constraints between bodies, and to the ground, form no closed loop: then none of them
 * depends on those of other joints. */
int poli_row_saddle_is_tree(const poli_row_saddle *saddle);

/* Evaluates B at q. */
pol_status poli_row_saddle_set(poli_row_saddle *saddle, double t, const double *q,
                               const double *history);

/* For each row i the largest |B_ij|/unit_j, and the sum of B_ij^2/M_jj without the columns in keep
 * (nv flags, may be NULL); B and M in the velocities of the dae. */
void poli_row_saddle_sizes(const poli_row_saddle *saddle, const double *unit, double *size);
void poli_row_saddle_mobility(const poli_row_saddle *saddle, const unsigned char *keep,
                              double *mobility);

/* What to factor beside M and B. */
typedef struct poli_row_saddle_terms {
  const unsigned char *keep;    /* nv: x_j = 0; NULL: none.  All or no translations of a body. */
  const unsigned char *dropped; /* m: mu_i = 0; NULL: none */
  const double *diagonal;       /* m: E; NULL: 0 */
  /* M becomes M + h D + h_square K with the gyroscopic part of D and what the reactions lambda of
   * points that are joined add to K for the rotation of their own body; v NULL: it does not. */
  const double *v, *lambda;
  double h, h_square;
} poli_row_saddle_terms;

/* POL_SINGULAR if rows depend on others or the terms are not supported, POL_NOT_FINITE. */
pol_status poli_row_saddle_factor(poli_row_saddle *saddle, const poli_row_saddle_terms *terms);

/* (f, b) -> (x, mu), nv + m numbers. */
void poli_row_saddle_solve(poli_row_saddle *saddle, double *rhs);

/* y += B x, and y += M x */
void poli_row_saddle_add_rates(const poli_row_saddle *saddle, const double *x, double *y);
void poli_row_saddle_add_momenta(const poli_row_saddle *saddle, const double *x, double *y);

#endif
