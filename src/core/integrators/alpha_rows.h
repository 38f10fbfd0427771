/* Generalized-alpha in the space of the constraints: what alpha_rows.c (life cycle, residual, step)
 * and alpha_rows_matrix.c (matrix, solution, sizes of its rows) share.  The equations are in
 * alpha_rows.c. */
#ifndef POLHODE_INTEGRATORS_ALPHA_ROWS_H
#define POLHODE_INTEGRATORS_ALPHA_ROWS_H

#include <stdatomic.h>

#include "base/parallel.h"
#include "dae/row_space.h"
#include "integrators/alpha.h"

/* A stretch of an evaluation, which stays in the cache: bodies are placed up to here, then nodes
 * are evaluated as far as their bodies are placed, then bodies as far as their nodes are. */
typedef struct poli_stretch {
  int placed, nodes, balanced;
  int row;                  /* the first behind those of the nodes so far */
  poli_alpha_range factors; /* of its bodies */
} poli_stretch;

struct poli_alpha_rows {
  const poli_rigid_bodies *bodies;
  poli_row_space *space;
  int num_stretches; /* 0: all bodies at a time, by threads or with other rows than those of joints
                      */
  poli_stretch *stretches;
  poli_block_lu *lu, *eta_lu; /* of mu and of eta */
  poli_newton *newton;
  poli_newton_operations operations;
  pol_counts *counts;
  int own_axes;            /* rows are those of the dae */
  int velocities;          /* rates of the rows are needed */
  int pause, pause_length; /* steps with the general matrix, to come and at the last time */
  int held, m;             /* rows of the dae, and with those of springs */
  int failed;              /* the last attempt by rows failed */
  int complete;            /* all rows join points: none of their derivatives is left out */
  void *memory;
  size_t memory_size;
  double *inertia;               /* 10 numbers per body: its mass, its inertia in body axes */
  int *factor;                   /* of the group: rotation of each body, -1 for points */
  double *R, *B;                 /* at the last residual, if no matrix was evaluated since */
  double *matrix_R, *matrix_B;   /* where the matrix was evaluated */
  double *velocity_B;            /* there, of B v: with arms r + h (beta/gamma) w x r */
  double *old_R, *old_B;         /* at q_n, for eta */
  double *A_inverse_R, *RT;      /* 9 numbers per body: A^-1 R^T and, for eta, R T, at the matrix */
  double *D, *eta_D, *d, *eta_d; /* D of mu and of eta, and numbers d of translations */
  double *position, *rates;      /* m: Phi and elongations, B v */
  double *tensions;              /* m: lambda and tensions of springs; none without springs */
  double *compliance;            /* m: 0 for constraints */
  double *moved;        /* 6 numbers per body: velocities or displacements, inertial axes */
  double *mu;           /* m: multipliers in a solution, and other temporary numbers */
  double *now, *before; /* held: multipliers of the last steps; behind them eta */
  unsigned char *left_out, *eta_left_out; /* m */
};

/* The axes of the angular velocity of a body in the dae, for the rotations R of all bodies. */
static inline const double *poli_alpha_rows_axes(const poli_alpha_rows *r, const double *R, int b)
{
  static const double identity[9] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0};
  return r->bodies->spatial ? identity : R + 9 * b;
}

/* The inertia of a body, behind its mass. */
static inline const double *poli_alpha_rows_inertia(const poli_alpha_rows *r, int b)
{
  return r->inertia + 10 * b + 1;
}

/* lambda and tensions at the last residual. */
static inline const double *poli_alpha_rows_lambda(const poli_alpha *s)
{
  const poli_alpha_rows *r = s->rows;
  return r->m > r->held ? r->tensions : s->next.lambda;
}

/* A loop over bodies. */
typedef struct poli_body_loop {
  const poli_alpha *s;
  const double *from;
  double *to;
  int of_eta;
  double scale;       /* d is so many times A^-1 */
  atomic_int *failed; /* the first body that failed */
} poli_body_loop;

static inline void poli_alpha_rows_run(const poli_alpha *s, poli_body_loop *loop,
                                       void (*task)(int, int, void *))
{
  loop->s = s;
  poli_parallel_ranges(s->rows->space->threads, s->rows->bodies->count, task, loop);
}

/* alpha_rows.c: rotations R, blocks B, Phi and elongations at q. */
pol_status poli_alpha_rows_set_rows(const poli_alpha *s, double t, const double *q, double *R,
                                    double *B, double *position);
/* rates = B v for velocities of the dae at the last residual. */
void poli_alpha_rows_set_rates(const poli_alpha *s, const double *v, double *rates);

/* alpha_rows_matrix.c: what Newton's method needs of the matrix (poli_newton_operations). */
pol_status poli_alpha_rows_set_matrix(void *alpha);
pol_status poli_alpha_rows_factor(int *row, void *alpha);
void poli_alpha_rows_apply_inverse(const double *residual, double *x, void *alpha);
void poli_alpha_rows_add_sizes(double *size, void *alpha);
void poli_alpha_rows_add_multipliers(const double *x, double *sum, void *alpha);

#endif
