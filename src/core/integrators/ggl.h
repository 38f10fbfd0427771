/* A step of the variational and energy-momentum methods under way, shared by the files that
 * implement it: ggl.c (life cycle, the step) and ggl_equations.c (the equations, residuals and
 * their derivatives). */
#ifndef POLHODE_INTEGRATORS_GGL_H
#define POLHODE_INTEGRATORS_GGL_H

#include <polhode/integrator.h>

#include "dae/blocks.h"
#include "dae/extension.h"
#include "dae/newton.h"

typedef struct poli_ggl poli_ggl;

/* One method: its equations and what its multipliers mean. */
typedef struct poli_scheme {
  int num_vectors; /* unknown vectors: the mean velocity a, b, and c of vi-s */
  int num_blocks;  /* and the multipliers lambda and, if the constraints are satisfied on velocity
                      level too, gamma */
  const char *layout[POLI_MAX_BLOCKS]; /* of the Newton matrix, see dae/blocks.h */
  void (*configure)(poli_ggl *s);      /* configurations that follow from the unknowns, or NULL */
  pol_status (*residual)(poli_ggl *s, double *r);
  pol_status (*matrix)(poli_ggl *s);
  pol_status (*finish)(poli_ggl *s); /* next.p from the solution; NULL if it is M b */

  /* the midpoint methods: b is v_{n+1} (1/2) or the mean velocity itself (1); the constraints hold
   * at q_n + share (q_{n+1} - q_n); forces by discrete_force */
  double mean, share;
  int discrete;
  int midway;       /* b, the momenta and the constraints belong to the middle of the step */
  int varying_mass; /* with step equations it treats a mass matrix that depends on q, too */

  /* lambda is accurate at t_{n+1} - lag h; as the mean of this step's and the last one's, where the
   * last is that of the block before_block; 0 if there is none */
  double lag;
  int before_block;

  double theta, vartheta; /* published values; 0 if the method has none */
  int only_theta;         /* no other theta is usable */
} poli_scheme;

extern const poli_scheme poli_vi_s, poli_vi_a, poli_vi_b, poli_em, poli_em_g, poli_midpoint,
    poli_rattle;

/* What a step carries to the next. */
typedef struct poli_ggl_values {
  double *q, *v, *p, *vd, *lambda;
  double *x; /* n: the unknowns that led here */
} poli_ggl_values;

struct poli_ggl {
  const pol_dae *dae;
  const pol_options *options;
  const poli_scheme *scheme;
  const poli_step_equations *equations; /* of a mass matrix that varies; NULL: it is constant */
  poli_blocks *blocks;
  poli_newton *newton;
  void *memory;       /* holds the arrays, */
  size_t memory_size; /* so many bytes */
  poli_ggl_values now, next;
  int nv, m, has_velocity;
  double theta, vartheta;
  double t, h;                  /* t_n and the size of the step under way */
  double last_h;                /* of the step before; 0 at the start */
  const unsigned char *dropped; /* m: redundant constraints, left out; NULL if there are none */

  /* what the unknowns mean: copies in z, with zeros for dropped multipliers */
  double *z;
  double *a, *b, *c;                /* nv: (q_{n+1} - q_n)/h, the method's velocities */
  double *lambda, *gamma;           /* m: h lambda, gamma */
  double *q_between, *q_constraint; /* where forces and velocity constraints are evaluated */
  double *mean_v;                   /* nv */
  double *zero;                     /* nv: v' as the model sees it */
  double *mass, *force;             /* M; g */
  double *stiffness, *damping;      /* pattern coupling */
  double *jacobian, *curvature;     /* pattern constraint */
  double *old_jacobian;             /* B(q_n) */
  double *start_force;              /* g(q_n, v_n) */
  double *position, *velocity;      /* m */
  double *momentum;                 /* nv: workspace */
  poli_step_terms step_terms;       /* a mass matrix that varies: the matrices of a step, */
  double *step_values;              /* all in these */
  size_t num_step_values;
  double *scratch;
  const double *history; /* of the last accepted step; not owned */
};

/* Time at a share of the step. */
static inline double poli_ggl_time(const poli_ggl *s, double share)
{
  return s->t + share * s->h;
}

/* ggl_equations.c */
pol_status poli_ggl_prepare(poli_ggl *s); /* what depends on q_n, v_n only */
void poli_ggl_unpack(poli_ggl *s, const double *x);
pol_status poli_ggl_residual(const double *x, double *r, void *ggl);
pol_status poli_ggl_matrix(void *ggl);
pol_status poli_ggl_finish(poli_ggl *s); /* next.v and next.p from the solution */
pol_status poli_ggl_evaluate(poli_ggl *s, double t, const double *q, const double *v,
                             const double *lambda, unsigned want, const pol_terms *out);
void poli_ggl_momenta(const poli_ggl *s, const double *q, const double *v, double *p); /* p = M v */
void poli_ggl_tolerances(double tolerance[POLI_KINDS], void *ggl);
void poli_ggl_round_off(double *round_off, void *ggl);
double poli_ggl_size(const double *r, const double *dx, void *ggl);

#endif
