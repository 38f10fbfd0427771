/* Block-sparse LU factorisation of matrices that couple the nodes of a graph, such as the rows of
 * joints that share a body.
 *
 * Node i has size[i] rows; the matrix has a full block for each node and two for each edge, (i, j)
 * and (j, i).  Blocks are eliminated in an order of little fill (AMD), found once; for trees there
 * is none, so that all costs are linear in the number of nodes.  Within its block a node pivots on
 * the diagonal.  The matrix should be close to symmetric and positive semidefinite, up to a scale
 * of its rows and columns: no pivot is looked for outside a block.
 */
#ifndef POLHODE_LINALG_BLOCK_LU_H
#define POLHODE_LINALG_BLOCK_LU_H

#include <polhode/status.h>

#include "base/archive.h"

typedef struct poli_block_lu poli_block_lu;

/* Analyses the graph and allocates everything; edges may be repeated, but not lead from a node to
 * itself.  Sizes may be 0.  order, if it is not NULL, is a permutation of the nodes: of those that
 * are alike to AMD, the one that comes first in it is eliminated first. */
pol_status poli_block_lu_create(poli_block_lu **lu, int num_nodes, const int *size, int num_edges,
                                const int (*edges)[2], const int *order);
void poli_block_lu_free(poli_block_lu **lu);

/* Where block (i, j) starts in the values, row by row with size[j] numbers each; -1 if it is zero.
 */
long poli_block_lu_address(const poli_block_lu *lu, int i, int j);

/* The values: set to zero by clear, then filled by the caller, then overwritten by factor. */
double *poli_block_lu_values(poli_block_lu *lu);
void poli_block_lu_clear(poli_block_lu *lu);
/* The same node by node, in their order of elimination from 0 to num_nodes - 1: returns the node,
 * and clears the blocks that it shares with itself and with later ones. */
int poli_block_lu_clear_next(poli_block_lu *lu, int place);

/* Rows whose pivot becomes smaller than `threshold` of their diagonal entry depend on others; they
 * are dropped: their unknowns will be 0 and their equations ignored.  So are those with a 1 in
 * left_out, which may be NULL.  Returns how many, or -1 if a number is not finite. */
int poli_block_lu_factor(poli_block_lu *lu, double threshold, const unsigned char *left_out);

/* For each row, node after node: 1 if the last factorisation has dropped it. */
const unsigned char *poli_block_lu_dropped(const poli_block_lu *lu);

/* The smallest pivot that was kept, relative to its diagonal entry, and its row. */
double poli_block_lu_smallest_pivot(const poli_block_lu *lu, int *row);

/* x <- A^-1 x, node after node. */
void poli_block_lu_solve(poli_block_lu *lu, double *x);

/* Lists what a factorisation leaves behind. */
void poli_block_lu_archive(poli_block_lu *lu, poli_archive *archive);

/* How many threads may factor and solve; 1 at first.  Results do not depend on it. */
void poli_block_lu_set_threads(poli_block_lu *lu, int threads);
/* Independent parts of the elimination, 0 of a small graph. */
int poli_block_lu_num_parts(const poli_block_lu *lu);

#endif
