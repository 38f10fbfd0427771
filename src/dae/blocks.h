/* A square matrix of blocks, each with the pattern of a matrix of a dae: what methods factor whose
 * unknowns are several vectors of the size of the velocities, and several of multipliers.
 *
 * The layout is text, one string for each block row, one letter for each block:
 *
 *     W  pattern coupling (nv x nv)      T  the transpose of constraint (nv x m)
 *     B  pattern constraint (m x nv)     D  a diagonal of zeros (m x m), see pol_blocks_drop
 *     .  nothing
 *
 * The first num_vectors block rows and columns have nv rows and columns each, the others m.  The
 * pattern is built and analysed once; blocks are added without searching.
 */
#ifndef POLHODE_DAE_BLOCKS_H
#define POLHODE_DAE_BLOCKS_H

#include "dae/saddle.h"

enum { POL_MAX_BLOCKS = 5 };

typedef struct pol_blocks {
  const pol_saddle *saddle; /* not owned: patterns of the dae, B by rows */
  const char *const *layout;
  int num_blocks, num_vectors;
  int start[POL_MAX_BLOCKS + 1]; /* first row and column of each block */
  int n;
  pol_pattern *pattern;
  double *values;
  pol_solver *solver;
  int *memory; /* holds all addresses */
  /* where the entries of W or B go, in the order of their own patterns; of D its diagonal */
  int *address[POL_MAX_BLOCKS][POL_MAX_BLOCKS];
} pol_blocks;

/* The saddle and the layout must outlive the matrix. */
pol_status pol_blocks_create(pol_blocks **blocks, const pol_saddle *saddle,
                             const char *const *layout, int num_blocks, int num_vectors,
                             pol_solver_kind solver);
void pol_blocks_free(pol_blocks **blocks);

/* Sets all values to zero. */
void pol_blocks_clear(pol_blocks *blocks);
/* Adds scale times a matrix in the pattern coupling to a block W, or one in the pattern constraint
 * to a block B, or its transpose to a block T. */
void pol_blocks_add(pol_blocks *blocks, int row, int col, double scale, const double *matrix);
/* Replaces the rows of dropped constraints (m flags), in every block row below the vectors, by
 * "multiplier = 0", with the diagonal of that block row. */
void pol_blocks_drop(pol_blocks *blocks, const unsigned char *dropped);

#endif
