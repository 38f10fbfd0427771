/* Orders of elimination with parts that do not depend on each other.
 *
 * In an order of elimination node k has later neighbours N(k), next[first[k]] ..
 * next[first[k+1]-1], ascending, fill included; the first of them is its parent in the elimination
 * tree.  Subtrees do not depend on each other: each can be eliminated by a thread of its own, and
 * then what is above them. */
#ifndef POLHODE_LINALG_BLOCK_ORDER_H
#define POLHODE_LINALG_BLOCK_ORDER_H

#include <polhode/status.h>

/* A tree of elimination with the work of each node. */
typedef struct poli_elimination {
  int count;
  const int *first, *next;
  const double *work;
} poli_elimination;

/* A part: nodes first .. root of an order in which subtrees are contiguous. */
typedef struct poli_part {
  int first, root;
} poli_part;

/* order[i] is the node that comes i-th: the same elimination with contiguous subtrees. */
pol_status poli_order_subtrees(const poli_elimination *e, int *order);

/* The same fill with another root: a node from which all branches have at most half of the work, as
 * in the middle of a chain.  With its fill a graph is chordal; so the nodes in the order of a
 * maximum cardinality search from any of them (Tarjan, Yannakakis 1984), reversed, make no more
 * fill. */
pol_status poli_order_from_middle(const poli_elimination *e, int *order);

/* Parts of an order with contiguous subtrees, at most `most`, ascending; what is in none of them is
 * eliminated after all.  Returns their number, 0 if two threads would save less than a quarter of
 * the work, -1 without memory. */
int poli_order_find_parts(const poli_elimination *e, int most, poli_part *parts);

#endif
