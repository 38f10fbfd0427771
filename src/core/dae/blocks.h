/* A square matrix of blocks, each with the pattern of a matrix of a dae: what methods factor whose
 * unknowns are several vectors of the size of the velocities, and several of multipliers.
 *
 * The layout is text, one string for each block row, one letter for each block:
 *
 *     W  pattern coupling (nv x nv)      T  the transpose of constraint (nv x m)
 *     B  pattern constraint (m x nv)     D  a diagonal of zeros (m x m), see poli_blocks_drop
 *     .  nothing
 *
 * The first num_vectors block rows and columns have nv rows and columns each, the others m.  The
 * pattern is built and analysed once; blocks are added without searching.
 */
#ifndef POLHODE_DAE_BLOCKS_H
#define POLHODE_DAE_BLOCKS_H

#include "dae/saddle.h"

enum { POLI_MAX_BLOCKS = 5 };

typedef struct poli_blocks {
  const poli_saddle *saddle; /* not owned: patterns of the dae, B by rows */
  const char *const *layout;
  int num_blocks, num_vectors;
  int start[POLI_MAX_BLOCKS + 1]; /* first row and column of each block */
  int n;
  pol_pattern *pattern;
  double *values;
  pol_solver *solver;
  void *memory; /* holds values and addresses */
  /* where the entries of W or B go, in the order of their own patterns; of D its diagonal */
  int *address[POLI_MAX_BLOCKS][POLI_MAX_BLOCKS];
} poli_blocks;

/* The saddle and the layout must outlive the matrix. */
pol_status poli_blocks_create(poli_blocks **blocks, const poli_saddle *saddle,
                              const char *const *layout, int num_blocks, int num_vectors,
                              pol_solver_kind solver);
void poli_blocks_free(poli_blocks **blocks);

/* Lists the matrix and its factors. */
void poli_blocks_archive(poli_blocks *blocks, poli_archive *archive);

/* Sets all values to zero. */
void poli_blocks_clear(poli_blocks *blocks);
/* Adds scale times a matrix in the pattern coupling to a block W, or one in the pattern constraint
 * to a block B, or its transpose to a block T. */
void poli_blocks_add(poli_blocks *blocks, int row, int col, double scale, const double *matrix);
/* Replaces the rows of dropped constraints (m flags), in every block row below the vectors, by
 * "multiplier = 0", with the diagonal of that block row. */
void poli_blocks_drop(poli_blocks *blocks, const unsigned char *dropped);

#endif
