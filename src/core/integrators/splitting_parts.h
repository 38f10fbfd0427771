/* The state of splitting.c and the parts that its files share. */
#ifndef POLHODE_INTEGRATORS_SPLITTING_PARTS_H
#define POLHODE_INTEGRATORS_SPLITTING_PARTS_H

#include "dae/dae.h"
#include "dae/row_space.h"
#include "dae/saddle.h"
#include "integrators/family.h"
#include "integrators/splitting.h"
#include "integrators/splitting_compliant.h"
#include "lie/small.h"

enum { MAX_STAGES = 17, MAX_KNOWN = 3, AXES = 6, MAX_ROWS = 6, NUM_INSTANTS = 3 };

/* Everything at the end of a base step. */
typedef struct instant {
  double *q, *P, *force;
  double *R;          /* 9 numbers for each body */
  double *B;          /* the blocks of all nodes */
  double *w;          /* angular velocities within the step before it, 3 for each body */
  double *elongation; /* of compliant rows */
} instant;

/* The matrix of the implicit kick where forces depend on reactions, see splitting_implicit.c. */
typedef struct reactive {
  pol_pattern *pattern;
  double *values;
  pol_solver *solver;
} reactive;

/* The line search of the implicit kick. */
typedef struct line_search {
  double lack;  /* what the kick lacks, */
  int worst;    /* where most of it is, */
  double scale; /* the size of momenta at the start of the iteration, */
  double last;  /* and both residuals together before the last changes */
  int halved;   /* how often these have been halved */
} line_search;

/* What limits steps, see splitting_bounds.c; saddle NULL: nothing. */
typedef enum stiff { DAMPERS, SPRINGS, NUM_STIFF } stiff;

typedef struct bounds {
  double limit[NUM_STIFF];    /* of h times the rate; HUGE_VAL: none */
  poli_saddle *saddle, *made; /* that of the implicit kick, or its own */
  void *memory;
  size_t memory_size;
  double *mass, *matrix, *jacobian, *feedback;
  double *x[NUM_STIFF];   /* nv, the direction of the largest rate */
  double *y, *v, *moved;  /* nv + m, nv, nq + nv */
  double rate[NUM_STIFF]; /* the largest, 1/s */
  int age;                /* steps since it was found; 0: never */
  stiff kind;             /* which limits steps of variable size, */
  double most;            /* to this size */
  long limited;           /* how many were larger otherwise, */
  char note[256];         /* and what has limited the first of them */
} bounds;

typedef struct poli_splitting_state splitting;

struct poli_splitting_state {
  const pol_dae *dae;
  const poli_rigid_bodies *bodies;
  int num_stages;
  double stage[MAX_STAGES];
  int degree; /* of the extrapolation of multipliers */
  int nq, nv;
  int m, held; /* rows: all, and those of the dae; compliant ones follow */
  poli_compliant compliant;
  poli_dae_patterns patterns;

  /* the graph: nodes are the constraints of a joint, edges the bodies they share */
  poli_row_space *space;
  int has_others; /* some node has rows beyond those of joined points */
  poli_block_lu *lu;
  poli_saddle *saddle;          /* only if forces read velocities */
  reactive reactive;            /* only if they depend on reactions */
  const unsigned char *dropped; /* held: redundant constraints there */
  unsigned char *left_out;      /* m: those of the matrix */
  pol_assembler *assembler;     /* finds the reactions that forces depend on; NULL: they do not */
  pol_diagnostics reason;       /* why it could not */

  void *memory;
  size_t memory_size;
  instant instants[NUM_INSTANTS];
  int at, kept; /* where the solution is, and was at the start of the step, or -1 */
  double *plus; /* momenta within a step */
  double *U, *residual, *dU, *slip, *v;
  double *unit;    /* held: what a residual of 1 is as a length; that of an angle is the size of the
                      model */
  int has_angular; /* not all are 1 */
  double *D;       /* 9 numbers for each body: derivative of its turn by angular momentum */
  double *d;       /* one for each body: h/m, or 1/m */
  double *out[2];  /* q, v, v', lambda as shown */
  double *force, *mass, *damping, *upper, *lower, *rhs; /* of the matrix with the momenta */
  line_search search;
  bounds bounds;
  double *before;      /* nv + m: momenta and impulses before the last iteration */
  double *lambda, *vd; /* that forces depend on */
  double *carried;     /* momenta within the last step, for which forces were found there */
  double *feedback, *jacobian, *curvature; /* and what their derivative consists of */
  double *scratch;
  int turned;        /* the matrix at a node has joined points in the axes of the dae */
  int shown, unseen; /* which is shown; the solution is not */

  double last_h; /* of the substep before; 0 at the start */
  int num_known; /* nodes with known impulses */
  double known_t[MAX_KNOWN], known_weight[MAX_KNOWN], *known[MAX_KNOWN];
  pol_counts *counts;
  const double *history;
  poli_splitting_steps steps;
};

/* Momenta, forces and velocities v here are those of pol_dae, but with angular parts in inertial
 * axes; as an argument of pol_dae these are in body axes. */

/* --- kernels of one body or side, inline for loops ------------------------------------------ */

/* The free motion of a body with its momenta `plus` for the time h; its derivative, if D is not
 * NULL. */
static inline void drift(const splitting *s, int b, double h, const instant *from, instant *to,
                         double *D)
{
  const poli_rigid_body *body = &s->bodies->items[b];
  const int q = body->q;
  const double *P = s->plus + body->v, scale = h * body->inverse_mass;
  if (body->is_point) {
    for (int i = 0; i < body->num_axes; i++) to->q[q + i] = from->q[q + i] + scale * P[i];
    return;
  }
  for (int i = 0; i < 3; i++) to->q[q + 4 + i] = from->q[q + 4 + i] + scale * P[3 + i];
  if (body->is_principal) {
    poli_free_motion(&body->free, from->q + q, P, h, to->q + q, D);
  } else {
    double principal[4], back[4];
    poli_quat_multiply(from->q + q, body->principal, principal);
    poli_free_motion(&body->free, principal, P, h, principal, D);
    pol_quat_conjugate(body->principal, back);
    poli_quat_multiply(principal, back, to->q + q);
  }
  poli_quat_to_matrix(to->q + q, to->R + 9 * b);
}

/* P+ = P + h/2 f - B^T U of a body */
static inline void kick(const splitting *s, int b, double h, const instant *at, double *P)
{
  const poli_rigid_body *body = &s->bodies->items[b];
  const double *from = at->P + body->v, *force = at->force + body->v;
  double impulse[AXES] = {0.0};
  for (int e = s->space->first_side[b]; e < s->space->first_side[b + 1]; e++)
    poli_row_side_add_wrench(&s->space->sides[e], at->B, s->U, impulse);
  if (body->is_point)
    for (int i = 0; i < body->num_axes; i++)
      P[i] = from[i] + 0.5 * h * force[i] - (i < 3 ? impulse[3 + i] : 0.0);
  else
    for (int i = 0; i < AXES; i++) P[i] = from[i] + 0.5 * h * force[i] - impulse[i];
}

/* --- splitting_base.c: momenta, velocities, forces -------------------------------------------- */

/* Velocities for momenta, or accelerations for forces. */
void poli_splitting_velocities(const splitting *s, const double *R, const double *P, double *v);
/* To body axes (or from them, if `back`); to may be from. */
void poli_splitting_turn(const splitting *s, const double *R, int back, const double *from,
                         double *to);
/* P = M v, v in body axes */
void poli_splitting_momenta(const splitting *s, const double *R, const double *v, double *P);
void poli_splitting_rotations(const splitting *s, const double *q, double *R);
pol_status poli_splitting_evaluate(splitting *s, double t, const double *q, const double *v,
                                   unsigned want, const pol_terms *out);
/* Forces for velocities that belong to P.  The dae's g has the gyroscopic torque w x J w, which the
 * drift takes care of. */
pol_status poli_splitting_find_forces(splitting *s, double t, const double *q, const double *R,
                                      const double *P, double *force);

/* --- splitting_matrix.c ----------------------------------------------------------------------- */

/* The matrix of a base step, factored.  Redundant constraints depend on others where all are
 * satisfied, at the start of the step, but hardly so in the first iterate: those are left out that
 * depend on others at the start.  They have no impulse: what these add up to is open, and
 * extrapolated from step to step it would grow without bound.  Sets *changed if the impulses were
 * others before.  Returns how many rows are dropped, -1 if it is not finite. */
int poli_splitting_factor_step(splitting *s, double h, const instant *at, const instant *next,
                               int *changed);
/* B M^-1 B^T of the constraints at a node, factored, and M^-1 in D; compliant rows do not join in.
 * Returns as above. */
int poli_splitting_factor_node(splitting *s, const instant *at);
/* x <- A^-1 x with the matrix at a node, for multipliers of joined points in inertial axes. */
void poli_splitting_solve_node(const splitting *s, const instant *at, double *x);
/* y = B v */
void poli_splitting_apply_rows(const splitting *s, const double *B, const double *v, double *y);
/* P -= B^T mu, then v = diag(D, 1/m) P, then y = B v; mu and y may be NULL. */
void poli_splitting_respond(const splitting *s, const double *B, const double *mu, double *P,
                            double *v, double *y);
/* --- splitting_implicit.c --------------------------------------------------------------------- */

/* What the implicit kick lacks, into rhs in body axes; *open is its size relative to the momenta.
 */
pol_status poli_splitting_find_lack(splitting *s, double t0, double h, instant *at, double *open);
/* The matrix of momenta and impulses, factored; rhs and residual to changes of both, which are
 * added to `plus` and U. */
pol_status poli_splitting_factor_implicit(splitting *s, double t0, double h, const instant *at,
                                          const instant *next);
void poli_splitting_solve_implicit(splitting *s, const instant *at);
/* Adds scale G to values in the pattern W, G = d(w x J w)/dw for velocities v in body axes. */
void poli_splitting_add_gyroscopic(const splitting *s, const pol_pattern *W, const double *v,
                                   double scale, double *values);
/* The first guess is made: it can be halved towards the momenta of the last step. */
void poli_splitting_begin_implicit(splitting *s);
/* Line search: -1 if half of the last changes is taken back, as they did not bring the iteration
 * nearer to the solution; 1 if it comes nearer slowly; else 0.  open as above, missed is the
 * residual of the rows over the length of the model. */
int poli_splitting_search(splitting *s, int iteration, double open, double missed);
/* Takes half of the last changes back; 0 if that has been done too often. */
int poli_splitting_halve(splitting *s);
/* The constraint whose reaction has the largest effect on forces, at the last factorization. */
int poli_splitting_strongest_feedback(const splitting *s);
/* Set-up and end of s->reactive. */
pol_status poli_splitting_create_reactive(splitting *s, pol_solver_kind solver);
void poli_splitting_free_reactive(splitting *s);

/* --- splitting_base.c: the step --------------------------------------------------------------- */

/* One base step from t0 to t1; the solution is then at its end. */
pol_status poli_splitting_substep(splitting *s, double t0, double t1, pol_diagnostics *d);
/* Which rows are angles: those without a linear part in the blocks B. */
void poli_splitting_set_units(splitting *s, const double *B);
/* The largest of |x_i|; not finite if one is not. */
double poli_splitting_largest(int n, const double *x);
/* A force, or a reaction that forces depend on, could not be found. */
pol_status poli_splitting_fail_force(splitting *s, pol_diagnostics *d, pol_status status,
                                     int iteration);

/* --- splitting_bounds.c ----------------------------------------------------------------------- */

pol_status poli_splitting_create_bounds(splitting *s, pol_solver_kind solver);
void poli_splitting_free_bounds(splitting *s);
/* Advice for a step that failed, if it is above the limit. */
void poli_splitting_advise(splitting *s, pol_diagnostics *d);
/* Before a step of fixed size h: fails where it leads into a soft stop that is too stiff for it. */
pol_status poli_splitting_meet_stops(splitting *s, double t, double h, pol_diagnostics *d);
/* Of poli_family. */
void poli_splitting_doubt_step(pol_integrator *integrator, double h, char *message, size_t size);
double poli_splitting_largest_step(pol_integrator *integrator, double h, int attempted);

/* --- splitting_setup.c ------------------------------------------------------------------------ */

pol_status poli_splitting_set_graph(splitting *s, int threads);
pol_status poli_splitting_allocate(splitting *s);
/* Of poli_family. */
void poli_splitting_archive(pol_integrator *integrator, poli_archive *archive);

#endif
