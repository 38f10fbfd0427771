/* What methods for rigid bodies know of a model beyond its pol_dae: which coordinates are rigid
 * bodies and their inertia, so that their free motion can be calculated exactly, and its
 * constraints by blocks of the bodies they act on. */
#ifndef POLHODE_DAE_RIGID_BODIES_H
#define POLHODE_DAE_RIGID_BODIES_H

#include <polhode/dae.h>

#include "lie/free_motion.h"

/* A rigid body has a quaternion at q and a position behind it, its angular velocity in body axes at
 * v and its velocity behind that; a point mass has only the latter.  First-order states count as
 * points of mass 1 with num_axes numbers. */
typedef struct poli_rigid_body {
  int q, v, num_axes;
  int is_point;
  int is_principal; /* its axes are principal axes */
  double mass, inverse_mass;
  double inertia[9]; /* body axes; all up to here is what implicit methods read of it */
  poli_free_body free;
  double principal[4]; /* principal axes to body axes */
  double inverse[9];   /* of inertia */
} poli_rigid_body;

/* Where a body is in q and v, as above: loops over all bodies that need no more read a few numbers
 * each. */
typedef struct poli_body_place {
  int q, v;
  int is_point;
} poli_body_place;

/* A row of a joint, in one line of the cache: for vectors U fixed in
 * the first body and r fixed in the second, phi = U . (tau (x2 - x1) + r) - offset. */
typedef struct poli_plain_row {
  double U[3], r[3]; /* in the axes of the bodies */
  double offset;
  int tau;    /* 0 or 1 */
  int shares; /* r and tau with the row before */
} poli_plain_row;

/* Constraints in rows one behind the other, such as those of a joint, and the bodies that they act
 * on, the ground left out; a body may occur twice.
 *
 * Each body has a block of B, one behind the other, with 6 numbers for each row: angular part, then
 * linear part.  A node that joins two points begins with the three rows of dz = dx2 - dx1 + r1 x
 * dphi1 - r2 x dphi2 in inertial axes instead of its own, and its blocks with the three numbers of
 * the arm r. */
typedef struct poli_row_node {
  int row, num_rows;
  int num_sides, body[4];
  int block; /* where its first block starts */
  signed char joins;
  signed char sign[2];     /* of dx and dphi of the bodies it acts on in dz: 1 or -1, 0 of others */
  int joined[2];           /* the bodies of a joint, -1 for the ground, */
  double arm[2][3];        /* and the points that it joins, in their axes */
  const double (*axes)[3]; /* its own first three rows are along these, fixed in joined[0]; NULL:
                              inertial axes */
  const poli_plain_row *plain; /* the rows behind those of joined points; NULL: of another kind */
  const poli_plain_row *own;   /* all rows as in the dae; NULL: one is of another kind */
} poli_row_node;

/* Numbers of a block. */
static inline int poli_row_block_size(const poli_row_node *node)
{
  return node->joins ? 3 + 6 * (node->num_rows - 3) : 6 * node->num_rows;
}

/* A linear spring and damper, N/m and N s/m, or the same of an angle: for its elongation s, the
 * tension k s + c s'. */
typedef struct poli_compliant_row {
  const char *force; /* its name */
  double stiffness, damping;
  int node; /* that it belongs to; those of one node follow each other */
} poli_compliant_row;

/* Terms of evaluations beside those of pol_dae: forces without those of compliant rows; force k
 * alone, beside weights, gyroscopic torques and states (k up to 16000). */
enum { POLI_WITHOUT_COMPLIANT = 1 << 16 };
#define POLI_ONLY_FORCE(k) (((unsigned)(k) + 1u) << 17)

/* A stop of a joint coordinate that acts beyond its limits, with its stiffness and damping. */
typedef struct poli_soft_stop {
  const char *force; /* its name */
  double stiffness, damping;
  double below, above; /* distances to both limits, negative beyond them */
  double rate;         /* of the coordinate */
} poli_soft_stop;

typedef struct poli_rigid_bodies {
  int count;
  poli_rigid_body *items;
  poli_body_place *places;    /* of the items */
  int spatial;                /* angular velocities of the dae are in inertial axes */
  int forces_read_velocities; /* apart from those of compliant rows */
  int num_forces;
  const char *(*force_name)(int k, void *user);
  /* Stop number `index` at a point; the gradient of its coordinate (nv, may be NULL). */
  int num_soft_stops;
  pol_status (*soft_stop)(int index, const pol_point *at, poli_soft_stop *stop, double *gradient,
                          void *user);
  int has_weight_only; /* the others are the weights of the bodies, states there are none */
  double gravity[3];
  int constraints_move; /* they depend on time */
  int num_nodes;        /* all rows in their order, at last compliant ones, a node for each
                           spring, or beam element with up to six rows */
  poli_row_node *nodes;
  poli_plain_row *plain; /* of all nodes */
  int num_blocks;        /* numbers in all blocks */
  int num_compliant, num_compliant_nodes;
  poli_compliant_row *compliant; /* their rows follow those of the dae */
  /* For the first num_nodes of these nodes, all or all but the compliant ones: Phi at q
   * (num_holonomic), the elongations of compliant rows behind all rows of the dae, and the blocks
   * of B for variations in inertial axes: angular part dphi with dR = dphi~ R, linear part dx.  R
   * has 9 numbers for each of the items: the matrices of their rotations, I of points.  The nodes
   * are those above, or a copy in which fewer nodes join points and blocks are elsewhere.  If it
   * fails at a beam element, the first elongation of that is not a number. */
  pol_status (*constraints)(const poli_row_node *nodes, int num_nodes, int threads, double t,
                            const double *q, const double *R, const double *history,
                            double *position, double *blocks, void *user);
  /* The same for a range of nodes, where all of them are joints that do not roll; else NULL. */
  void (*joints)(const poli_row_node *nodes, int first, int end, const double *q, const double *R,
                 double *position, double *blocks, void *user);
} poli_rigid_bodies;

#endif
