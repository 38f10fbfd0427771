/* Data of poli_independence, shared by the files that implement it: independence_vectors.c (the
 * constraints as vectors), independence_loops.c (those that close loops, and their components) and
 * independence.c (the decisions). */
#ifndef POLHODE_DAE_INDEPENDENCE_PARTS_H
#define POLHODE_DAE_INDEPENDENCE_PARTS_H

#include "dae/extension.h"
#include "dae/independence.h"
#include "linalg/gram.h"
#include "linalg/rank.h"

enum { POLI_MOST_DENSE_ROWS = 200 };

/* A constraint and a body it acts on: as many numbers of A as the body has velocities. */
typedef struct poli_part {
  int row, block, at;
} poli_part;

struct poli_independence {
  const pol_dae *dae;
  poli_dae_patterns patterns;
  int nv, m, num_blocks, num_parts;
  void *memory;              /* holds the arrays up to the numbers */
  int *block_start;          /* num_blocks + 1: velocities of a block */
  int *block_of;             /* a velocity: its block */
  size_t *factor_at;         /* a block: where its part of L starts, row by row */
  poli_part *parts;          /* by blocks */
  int *row_start, *row_list; /* a constraint: its parts, ascending */
  int *list_start, *list;    /* a block: its parts, internal constraints first, ascending */
  int *num_internal;         /* a block: how many of these are internal */
  int *num_active;           /* a block: how many of the list are looked at, the first ones */
  int *jacobian_at;          /* an entry of B: where it is in A */
  double *mass, *jacobian, *A, *L, *scratch;
  double *size; /* a constraint: its length, before and after what the internal ones take away */

  /* the components, NULL as long as they have not been found */
  poli_gram *gram;
  int num_vectors;
  int *vector_of;             /* a constraint: its vector, -1 if it cannot depend on others */
  int *row_of;                /* a vector: its constraint */
  int *component;             /* a block: its component or -1 */
  int *member_start, *member; /* a component: its blocks */
  int *offset;                /* a block: its first velocity among those of its component */
  int *dim;                   /* a component: its velocities */
  int *pair_start, *pair;     /* an entry of the Gram matrix: numbers of A to multiply, by pairs */
  int *pair_size;
  unsigned char *found, *chosen, *trial; /* a vector */
  double *last;                          /* a vector: its distance before, negative if unknown */
  double *matrix;                        /* of a small component */
  double *coordinate;                    /* of all vectors in a block, */
  int *numbers;                          /* and which these are */
  poli_rank *rank;
  int most_dense;
};

static inline int poli_is_internal_row(const poli_independence *s, int row)
{
  return poli_dae_is_internal(s->dae, row);
}

/* Velocities of a block. */
static inline int poli_block_dim(const poli_independence *s, int block)
{
  return s->block_start[block + 1] - s->block_start[block];
}

static inline double poli_dot(int n, const double *a, const double *b)
{
  double sum = 0.0;
  if (n == 6) /* most blocks are a body */
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5];
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

/* independence_vectors.c */

/* Blocks, parts and their lists, for s->dae. */
pol_status poli_vectors_create(poli_independence *s);
void poli_vectors_free(poli_independence *s);
/* M and B at a point. */
pol_status poli_vectors_evaluate(poli_independence *s, const pol_point *at);
/* The parts of all constraints in a block: L^-1 B^T, perpendicular to the internal ones.  Adds to
 * their sizes. */
void poli_vectors_fill_block(poli_independence *s, int b);
/* The vectors of all components that are wanted (NULL: all), and their Gram matrices. */
pol_status poli_vectors_fill(poli_independence *s, const pol_point *at,
                             const unsigned char *wanted);

/* independence_loops.c */

/* Frees what is known of the components. */
void poli_loops_free(poli_independence *s);

#endif
