/* What block_lu.c (numbers: factorisation, solution) and block_lu_structure.c (graph, order, places
 * of the blocks) share.  The algorithm is in block_lu.c. */
#ifndef POLHODE_LINALG_BLOCK_LU_PARTS_H
#define POLHODE_LINALG_BLOCK_LU_PARTS_H

#include <stddef.h>

#include "linalg/block_lu.h"
#include "linalg/block_order.h"

enum { POLI_MAX_PARTS = 16 };

/* A part under way, or with the range of all nodes above the parts. */
typedef struct poli_lu_part {
  poli_part range;
  double *work;      /* a block, then the unknowns of the neighbours of the root, */
  size_t block_size; /* from here on */
  long front;        /* address of the blocks of these neighbours, all with all */
  int front_rows;    /* their rows */
  size_t merge;      /* where the addresses of these blocks above start in lu->merge */
  double smallest;   /* pivot */
  int smallest_row;
  int num_dropped, finite;
} poli_lu_part;

struct poli_block_lu {
  int num_nodes, num_rows;
  int *node;  /* in the order of elimination */
  int *place; /* of each node in that order */
  int *size;  /* of the nodes, in the order of elimination, like all that follows */
  int *row;   /* where their unknowns start in x */
  int *first; /* later neighbours of k are next[first[k]] .. next[first[k + 1] - 1], ascending */
  int *next;
  long *diagonal; /* addresses of the diagonal blocks */
  long *lower;    /* of block (next[e], k), for each e */
  long *upper;    /* of block (k, next[e]) */
  size_t *update; /* where the addresses that node k changes start in target: |N(k)|^2 of them */
  long *target;
  double *values;
  size_t num_values;
  double *inverse_scale; /* 1 / diagonal entries before the factorisation */
  double *work;          /* of all parts */
  unsigned char *alike;  /* whether a node's later neighbours have its size */
  unsigned char *dropped;
  poli_lu_part parts[POLI_MAX_PARTS + 1]; /* the last one is what is above the others */
  int num_parts, num_top;                 /* without that; nodes above the parts, */
  int *top;                               /* and which */
  int *outside; /* for each e: place of its unknowns in the front of the part, or -1 */
  long *merge;  /* addresses of the blocks of fronts in the values above */
  int threads;
  double smallest;
  int smallest_row;
};

#endif
