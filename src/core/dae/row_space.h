/* Constraints of rigid bodies by blocks, and matrices in the space of their rows,
 *
 *     A = B1 diag(D, d I) B0^T
 *
 * where each body has a 3 x 3 block D for its rotation and a number d for its translation.  The
 * graph has a node for the constraints of a joint and an edge where two nodes share a body; A has a
 * block for each node and edge and is factored over this graph (linalg/block_lu.h).
 *
 * Blocks of B are those of poli_rigid_bodies.constraints: in inertial axes, 6 numbers per row and
 * body, angular part first; the first three rows of a node that joins two points are stored as the
 * arm r alone.
 */
#ifndef POLHODE_DAE_ROW_SPACE_H
#define POLHODE_DAE_ROW_SPACE_H

#include "dae/rigid_bodies.h"
#include "lie/small.h"
#include "linalg/block_lu.h"

/* A node of the graph as one of its bodies sees it: `joined` rows of a point with the arm r, sign
 * (I, -r~), then others with 6 numbers each. */
typedef struct poli_row_side {
  int node, row, block;
  signed char joined, others; /* 0 or 3; num_rows - joined */
  signed char sign;           /* 1 or -1 */
} poli_row_side;

typedef struct poli_row_space {
  const poli_rigid_bodies *bodies;
  int num_nodes, num_blocks, m; /* m: rows */
  int num_held;                 /* nodes that are not compliant */
  poli_row_node *nodes;
  int *first_side;      /* of each body, count + 1 */
  poli_row_side *sides; /* of one body after the other */
  int *first_of_node;   /* of each node, num_nodes + 1: its sides are, in the order of bodies, */
  int *side_of_node;    /* these */
  int *body;            /* of each side */
  long *first_pair;     /* of each side: its pairs start here */
  int threads;          /* 1 of a small mechanism */
  long *pairs; /* for two sides of a body, all with all: the block of the matrix they add to */
} poli_row_space;

/* own_axes: all rows as in the dae, no joined ones.  Compliant rows are left out unless
 * `compliant`.  threads: as in pol_options. */
pol_status poli_row_space_create(poli_row_space **space, const poli_rigid_bodies *bodies,
                                 int own_axes, int compliant, int threads);
void poli_row_space_free(poli_row_space **space);

/* A factorisation for the matrices of this space; sets space->pairs too, which are the same for all
 * of them. */
pol_status poli_row_space_create_lu(poli_row_space *space, poli_block_lu **lu);

/* A = B1 diag(D, d) B0^T, with D (9 numbers per body), d (one per body) and, if it is not NULL, the
 * diagonal matrix `more` (m numbers) added, into the values of lu. */
void poli_row_space_assemble(const poli_row_space *space, const double *B1, const double *B0,
                             const double *D, const double *d, const double *more,
                             poli_block_lu *lu);

/* rows += B v, where v has 6 numbers per body, angular and linear in inertial axes. */
void poli_row_space_add_rates(const poli_row_space *space, const double *blocks, const double *v,
                              double *rows);
/* The same in the rows of some nodes, by the calling thread. */
void poli_row_space_add_rates_of(const poli_row_space *space, int first, int end,
                                 const double *blocks, const double *v, double *rows);

/* Multipliers of points that are joined, from the rows of the dae to inertial axes, or back; R has
 * 9 numbers per body. */
void poli_row_space_turn(const poli_row_space *space, const double *R, int back, double *lambda);
/* The same of some nodes, by the calling thread. */
void poli_row_space_turn_of(const poli_row_space *space, int first, int end, const double *R,
                            int back, double *lambda);

/* wrench += B^T lambda of a side: angular, linear */
static inline void poli_row_side_add_wrench(const poli_row_side *own, const double *blocks,
                                            const double *multipliers, double wrench[6])
{
  const double *B = blocks + own->block, *lambda = multipliers + own->row;
  if (own->joined) {
    poli_v3_add_scaled_cross(own->sign, B, lambda, wrench);
    poli_v3_add_scaled(own->sign, lambda, wrench + 3);
    B += 3;
    lambda += 3;
  }
  for (int r = 0; r < own->others; r++, B += 6)
    for (int i = 0; i < 6; i++) wrench[i] += B[i] * lambda[r];
}

/* rates += B v of a side; v has 6 numbers */
static inline void poli_row_side_add_rates(const poli_row_side *own, const double *blocks,
                                           const double v[6], double *rates)
{
  const double *B = blocks + own->block;
  double *y = rates + own->row;
  if (own->joined) {
    poli_v3_add_scaled_cross(own->sign, v, B, y);
    poli_v3_add_scaled(own->sign, v + 3, y);
    B += 3;
    y += 3;
  }
  for (int r = 0; r < own->others; r++, B += 6)
    y[r] += poli_v3_dot(B, v) + poli_v3_dot(B + 3, v + 3);
}

#endif
