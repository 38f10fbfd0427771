/* A step of the variational and energy-momentum methods under way, shared by the files that
 * implement it: ggl.c (life cycle, the step), ggl_equations.c (residuals), ggl_matrix.c (their
 * derivatives) and ggl_passage.c (both for a mass matrix that varies).  The equations are in
 * ggl_equations.c. */
#ifndef POLHODE_INTEGRATORS_GGL_H
#define POLHODE_INTEGRATORS_GGL_H

#include <polhode/integrator.h>

#include "dae/blocks.h"
#include "dae/newton.h"

typedef struct pol_ggl pol_ggl;

/* One method: its equations and what its multipliers mean. */
typedef struct pol_scheme {
  int num_vectors;  /* unknown vectors: the mean velocity a, b, and c of vi-s */
  int num_blocks;   /* and the multipliers lambda, gamma */
  int has_velocity; /* the constraints are satisfied on velocity level too, by gamma */
  const char *layout[POL_MAX_BLOCKS]; /* of the Newton matrix, see dae/blocks.h */
  void (*configure)(pol_ggl *s);      /* the configurations that follow from the unknowns */
  pol_status (*residual)(pol_ggl *s, double *r);
  pol_status (*matrix)(pol_ggl *s);
  pol_status (*finish)(pol_ggl *s); /* next.v and next.p from the solution */

  /* the midpoint methods: b is v_{n+1} (1/2) or the mean velocity itself (1); the constraints hold
   * at q_n + share (q_{n+1} - q_n); forces by discrete_force */
  double mean, share;
  int discrete;
  int midway; /* b, the momenta and the constraints belong to the middle of the step */
  int passes; /* with pol_dae.passage it treats a mass matrix that depends on q, too */

  /* lambda is accurate at t_{n+1} - lag h; as the mean of this step's and the last one's, where the
   * last is that of the block before_block; 0 if there is none */
  double lag;
  int before_block;

  double theta, vartheta; /* published values; NAN if the method has none */
  int only_theta;         /* no other theta is usable */
} pol_scheme;

extern const pol_scheme pol_vi_s, pol_vi_a, pol_vi_b, pol_em, pol_em_g, pol_midpoint, pol_rattle;

/* What a step carries to the next. */
typedef struct pol_ggl_values {
  double *q, *v, *p, *vd, *lambda;
  double *x; /* n: the unknowns that led here */
} pol_ggl_values;

struct pol_ggl {
  const pol_dae *dae;
  const pol_options *options;
  const pol_scheme *scheme;
  pol_blocks *blocks;
  pol_newton *newton;
  double *memory;
  pol_ggl_values now, next;
  int nv, m;
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
  pol_passage_terms passage;        /* a mass matrix that varies: the matrices of a step, */
  double *passage_values;           /* all in these */
  size_t num_passage_values;
  double *scratch;
  const double *history; /* of the last accepted step; not owned */
};

/* Time at a share of the step. */
static inline double pol_ggl_time(const pol_ggl *s, double share)
{
  return s->t + share * s->h;
}

/* ggl_equations.c */
pol_status pol_ggl_prepare(pol_ggl *s); /* what depends on q_n, v_n only */
void pol_ggl_unpack(pol_ggl *s, const double *x);
pol_status pol_ggl_residual(const double *x, double *r, void *ggl);
pol_status pol_ggl_evaluate(pol_ggl *s, double t, const double *q, const double *v,
                            const double *lambda, unsigned want, const pol_terms *out);
void pol_ggl_add_mass(const pol_ggl *s, double scale, const double *x, double *y);   /* y += M x */
void pol_ggl_momenta(const pol_ggl *s, const double *q, const double *v, double *p); /* p = M v */
void pol_ggl_put_constraints(const pol_ggl *s, double *r); /* position/h and velocity into r */
void pol_ggl_tolerances(double tolerance[POL_KINDS], void *ggl);
double pol_ggl_size(const double *r, const double *dx, void *ggl);

void pol_ggl_configure_vi_s(pol_ggl *s);
void pol_ggl_configure_midpoint(pol_ggl *s);
void pol_ggl_configure_vi_b(pol_ggl *s);
void pol_ggl_configure_rattle(pol_ggl *s);
pol_status pol_ggl_residual_vi_s(pol_ggl *s, double *r);
pol_status pol_ggl_residual_midpoint(pol_ggl *s, double *r);
pol_status pol_ggl_residual_vi_b(pol_ggl *s, double *r);
pol_status pol_ggl_residual_rattle(pol_ggl *s, double *r);
pol_status pol_ggl_finish_direct(pol_ggl *s);
pol_status pol_ggl_finish_midpoint(pol_ggl *s);
pol_status pol_ggl_finish_vi_b(pol_ggl *s);

/* ggl_matrix.c */
pol_status pol_ggl_matrix(void *ggl);
pol_status pol_ggl_matrix_vi_s(pol_ggl *s);
pol_status pol_ggl_matrix_midpoint(pol_ggl *s);
pol_status pol_ggl_matrix_vi_b(pol_ggl *s);
pol_status pol_ggl_matrix_rattle(pol_ggl *s);

/* ggl_passage.c: in place of a scheme's own, where the mass matrix varies */
pol_status pol_ggl_residual_passage(pol_ggl *s, double *r);
pol_status pol_ggl_matrix_passage(pol_ggl *s);
pol_status pol_ggl_finish_passage(pol_ggl *s);

#endif
