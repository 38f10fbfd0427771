/* What integrators use of the assembler: its saddle-point matrix, to share the one symbolic
 * analysis, and its projection. */
#ifndef POLHODE_DAE_ASSEMBLER_H
#define POLHODE_DAE_ASSEMBLER_H

#include "dae/independence.h"
#include "dae/saddle.h"

/* How its systems are solved: by the rows of the constraints (row_saddle.h) where the dae is large
 * and allows that, else by the saddle-point matrix; or by one of the two, by rows only where the
 * dae allows that. */
typedef enum poli_assembler_kind {
  POLI_ASSEMBLE_AUTO,
  POLI_ASSEMBLE_BY_ROWS,
  POLI_ASSEMBLE_BY_MATRIX
} poli_assembler_kind;

/* pol_assembler_create with a choice.  By rows, the matrix is made when a system turns out to need
 * it, and stays. */
pol_status poli_assembler_create(pol_assembler **assembler, const pol_dae *dae,
                                 pol_solver_kind solver, poli_assembler_kind kind);

/* Whether pol_assembler_create would choose rows. */
int poli_assembler_chooses_rows(const pol_dae *dae, pol_solver_kind solver);

/* Whether it works by rows, and whether these show that no constraint depends on others. */
int poli_assembler_has_rows(const pol_assembler *assembler);
int poli_assembler_is_tree(const pol_assembler *assembler);

/* By rows the matrix may be planned only (poli_saddle_build). */
poli_saddle *poli_assembler_saddle(pol_assembler *assembler);

/* The independence of all constraints, which pol_assembler_drop_redundant works with; made the
 * first time it is asked for, kept as long as the assembler.  NULL: no memory. */
poli_independence *poli_assembler_independence(pol_assembler *assembler);

/* Drops other constraints (m flags). */
void poli_assembler_set_dropped(pol_assembler *assembler, const unsigned char *dropped);

/* Lists the dropped constraints, the matrix and its pivots, and what measurements of independence
 * leave behind. */
void poli_assembler_archive(pol_assembler *assembler, poli_archive *archive);

/* What evaluations find as history from now on (pol_point); NULL at first. */
void poli_assembler_set_history(pol_assembler *assembler, const double *history);

/* Replaces w (nv) by the least vector in the metric of the mass matrix with the same B w in the
 * holonomic rows and none in the others, which velocities satisfy by themselves. */
pol_status poli_assembler_normal_part(pol_assembler *assembler, double t, const double *q,
                                      double *w, pol_diagnostics *diagnostics);

/* w (nv): the least vector in that metric with B w = B v + Phi_t, what v misses the constraints by.
 */
pol_status poli_assembler_velocity_defect(pol_assembler *assembler, double t, const double *q,
                                          const double *v, double *w, pol_diagnostics *diagnostics);

/* w (nv): the change of the velocities by an impulse f (nv), M w + B^T mu = f, B w = 0.  w may be
 * f.
 */
pol_status poli_assembler_response(pol_assembler *assembler, double t, const double *q,
                                   const double *f, double *w, pol_diagnostics *diagnostics);

/* Factors [ M B^T; B 0 ] at q, without what is dropped, and solves it for w (nv) of
 * M w + B^T mu = f, B w = 0; w may be f. */
pol_status poli_assembler_factor(pol_assembler *assembler, double t, const double *q,
                                 pol_diagnostics *diagnostics);
void poli_assembler_solve(pol_assembler *assembler, const double *f, double *w);

/* Factors [ M + h D + h_square K  B^T; B  0 ] at a point (with dg/dlambda beside B^T, without what
 * is dropped), the matrix of an implicit step of size h.  By rows, of models with weights alone, K
 * has only what points that are joined add to it for the rotation of each body. */
pol_status poli_assembler_factor_implicit(pol_assembler *assembler, const pol_point *at, double h,
                                          double h_square, pol_diagnostics *diagnostics);
/* Solves that matrix times (y, mu) = (M x, B x) for y (nv): close to x where h D and h_square K are
 * small compared with M, close to zero in directions where they are large; always B y = B x.  x and
 * y may be the same. */
void poli_assembler_solve_implicit(pol_assembler *assembler, const double *x, double *y);

#endif
