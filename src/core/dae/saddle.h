/* The saddle-point matrix that every calculation with a dae factors,
 *
 *     [ W    B^T  W B^T ]   nv rows: balance
 *     [ B    d    B B^T ]   m rows: one constraint each
 *     [ B_h  0    d     ]   num_extra rows: the holonomic constraints once more (stabilized index
 * 2)
 *
 * where B^T has the entries of the pattern feedback too, if the dae has one, W stands for the
 * pattern of M, D, K, and d for a diagonal (zero, or the regularisation of the assembler); the last
 * block column and row are there only if asked for. Its pattern is built and analysed once.  In
 * each of the first nv columns the entries of W come first, then those of B, then those of B_h:
 * contiguous, in the order of the dae's own patterns, so a column can be written without searching.
 */
#ifndef POLHODE_DAE_SADDLE_H
#define POLHODE_DAE_SADDLE_H

#include "base/archive.h"
#include "dae/dae.h"

typedef struct poli_saddle {
  int nv, m, num_extra, n; /* n = nv + m + num_extra */
  pol_solver_kind kind;    /* of the solver */
  poli_dae_patterns patterns;
  pol_pattern *pattern;
  double *values;
  void *memory;     /* holds the arrays below */
  int *row_start;   /* row i of B has the entries row_start[i] .. row_start[i+1]-1 of */
  int *row_col;     /* their columns, ascending, and */
  int *row_address; /* their addresses in the pattern constraint */
  int *transposed;  /* their addresses in values, in the columns B^T */
  int *feedback; /* addresses in values of the entries of the pattern feedback, if there is one */
  pol_solver *solver; /* NULL: the matrix is planned only */
} poli_saddle;

/* extra: with the last block row and column, for num_holonomic rows. */
pol_status poli_saddle_create(poli_saddle **saddle, const pol_dae *dae, int extra,
                              pol_solver_kind solver);
/* The same without the matrix: only the sizes and the patterns of the dae, which must outlive it;
 * the rest is NULL until poli_saddle_build makes it, where it is not there yet. */
pol_status poli_saddle_plan(poli_saddle **saddle, const pol_dae *dae, int extra,
                            pol_solver_kind solver);
pol_status poli_saddle_build(poli_saddle *saddle);
void poli_saddle_free(poli_saddle **saddle);

/* Lists the matrix and its factors; they are built where the saddle that was saved had them. */
void poli_saddle_archive(poli_saddle *saddle, poli_archive *archive);

/* The m columns (B^T, d) from the values of B, with d = 0. */
void poli_saddle_set_transposed(poli_saddle *saddle, const double *jacobian);

/* Adds dg/dlambda (pattern feedback of the dae) to the columns B^T. */
void poli_saddle_add_feedback(poli_saddle *saddle, const double *feedback);

/* Address of d of a constraint: the last entry of its column. */
int poli_saddle_diagonal(const poli_saddle *saddle, int constraint);

/* [ M B^T; B 0 ]; needs extra = 0. */
void poli_saddle_set_kkt(poli_saddle *saddle, const double *mass, const double *jacobian);

/* Replaces the rows of dropped constraints (m flags) by lambda_i = 0, and eta_i = 0. */
void poli_saddle_drop(poli_saddle *saddle, const unsigned char *dropped);

/* The equation (numbering of pol_dae.describe) that belongs to a row or column of the matrix. */
int poli_saddle_equation(const poli_saddle *saddle, int row);

#endif
