/* The interface between models and integrators: a differential-algebraic equation on a Lie group,
 *
 *     q' = DL_q(e) v~                              kinematics on a product of Lie groups
 *     M(q) v' + g(q, v, lambda, t) + B(q, t)^T lambda = 0  balance, M symmetric
 *     Phi(q, t) = 0                                holonomic constraints, B = dPhi
 *     A(q, t) v + b(q, t) = 0                      non-holonomic constraints, rows of B below dPhi
 *
 * as one callback that evaluates any of its terms at a point.  A model fills a pol_dae and an
 * integrator reads it; they are independent of each other.  See examples/pendulum.c for a complete
 * model in a few lines.
 */
#ifndef POLHODE_DAE_H
#define POLHODE_DAE_H

#include <stddef.h>

#include <polhode/lie.h>
#include <polhode/linalg.h>
#include <polhode/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The point of evaluation.  A pointer is read only for the terms that depend on it. */
typedef struct pol_point {
  double t;
  const double *q;       /* nq */
  const double *v;       /* nv */
  const double *vd;      /* nv: v' */
  const double *lambda;  /* m: multipliers, holonomic rows first */
  const double *history; /* history_size: path-dependent data; NULL: all zero, as at the start */
} pol_point;

/* Terms to evaluate, as bits.  Derivatives with respect to q are along the group: d/ds f(q o exp(s
 * w)).
 */
enum {
  POL_INERTIA = 1 << 0,             /* balance += M(q) vd */
  POL_FORCE = 1 << 1,               /* balance += g(q, v, lambda, t) */
  POL_REACTION = 1 << 2,            /* balance += B^T lambda */
  POL_POSITION = 1 << 3,            /* position = Phi(q, t) */
  POL_VELOCITY = 1 << 4,            /* velocity = B v + Phi_t, A v + b */
  POL_ACCELERATION = 1 << 5,        /* acceleration = d/dt of velocity with v' = 0 */
  POL_MASS = 1 << 6,                /* mass += M(q) */
  POL_DAMPING = 1 << 7,             /* damping += dg/dv */
  POL_STIFFNESS = 1 << 8,           /* stiffness += d(M vd + g)/dq */
  POL_GEOMETRIC_STIFFNESS = 1 << 9, /* stiffness += d(B^T lambda)/dq */
  POL_JACOBIAN = 1 << 10,           /* jacobian += B */
  POL_CURVATURE = 1 << 11,          /* curvature += d(velocity)/dq */
  POL_FEEDBACK = 1 << 12 /* feedback += dg/dlambda; only if pol_dae.feedback is not NULL */
};

/* Output of an evaluation.  The requested arrays are zero on entry; the callback adds or writes.
 * Matrices are values in the patterns of the pol_dae; if a pattern is NULL, the matrix is full and
 * stored by columns: entry (i, j) is values[i + j * rows]. */
typedef struct pol_terms {
  double *balance;      /* nv */
  double *position;     /* num_holonomic */
  double *velocity;     /* m */
  double *acceleration; /* m */
  double *mass;         /* pattern coupling, nv x nv */
  double *damping;      /* pattern coupling */
  double *stiffness;    /* pattern coupling */
  double *jacobian;     /* pattern constraint, m x nv */
  double *curvature;    /* pattern constraint */
  double *feedback;     /* pattern feedback, nv x m */
} pol_terms;

enum { POL_NEAR_SINGULARITY = 1, POL_AT_SINGULARITY = 2 }; /* values returned by pol_dae.singular */

/* The model.  It is immutable while in use, so that many integrators and threads can share it.
 * Temporary data of evaluate() goes into scratch. */
typedef struct pol_dae {
  pol_group group;
  int num_holonomic;
  int num_nonholonomic; /* m = num_holonomic + num_nonholonomic */
  /* Number of holonomic rows, the last ones, that belong to the coordinates themselves, such as the
   * unit length of a quaternion.  They must be independent of each other.  They are never dropped
   * as redundant and do not count in the norm of the multipliers. */
  int num_internal;

  /* Sparsity patterns of mass, damping and stiffness, and of jacobian and curvature; NULL: full.
   * The columns of one SO(3) or SE(3) factor must have the same rows. */
  const pol_pattern *coupling;
  const pol_pattern *constraint;
  /* Sparsity pattern of dg/dlambda, nv x m, for forces that depend on reactions, such as friction.
   * NULL: g does not depend on lambda. */
  const pol_pattern *feedback;

  /* Number of velocities, the last ones, that are first-order states: quantities with units of
   * their own whose coordinates are not used.  They form the last factor of the group, of kind
   * POL_REAL and this dimension.  The error of each is measured relative to its own size. */
  int num_states;

  /* Characteristic length of the model in the unit of its translations, to which their round-off is
   * related; 0: unknown, 1 is used.  Larger coordinates increase it. */
  double length;

  /* Optional, nv: 1 for each coordinate of R^n that is dimensionless and of size 1 instead of a
   * length, such as the components of a quaternion or of directors.  Its errors are measured as
   * those of rotations.  NULL: there is none.
   */
  const unsigned char *pure;

  size_t scratch_size; /* number of doubles in scratch */

  /* Adds the requested terms.  Returns 0; > 0: recoverable, the step fails; < 0: fatal, the run is
   * aborted. */
  pol_status (*evaluate)(const pol_point *at, unsigned want, const pol_terms *out, double *scratch,
                         void *user);

  /* 1: the group is R^n and M does not depend on q, as required by the variational and
   * energy-momentum methods. */
  int constant_mass;

  /* Optional, with constant_mass: the force between two configurations q0 and q1 for methods that
   * conserve energy. `at` holds q1 in q, the mean velocity and the time at the midpoint.  POL_FORCE
   * adds to the balance a discrete gradient f(q0, q1) of the potential V,
   *
   *     f . (q1 - q0) = V(q1) - V(q0),   f = DV at q0 = q1,   f(q0, q1) = f(q1, q0),
   *
   * plus all other forces of g at (q0 + q1)/2, the mean velocity and the midpoint time.
   * POL_STIFFNESS adds its derivative with respect to q1, POL_DAMPING that with respect to the mean
   * velocity.  Without the callback, g is evaluated at (q0 + q1)/2, which is equivalent for
   * potentials that are at most quadratic. */
  pol_status (*discrete_force)(const double *q0, const pol_point *at, unsigned want,
                               const pol_terms *out, double *scratch, void *user);

  /* Optional: path-dependent data, such as the number of full turns of a hinge: history_size
   * numbers, initially zero. update_history() updates them for a configuration; it is called at the
   * start and after each accepted step. evaluate() reads them from pol_point.history. */
  size_t history_size;
  void (*update_history)(double t, const double *q, double *history, void *user);

  /* Optional: writes the name of an equation. 0 .. nv-1 are balance equations, nv .. nv+m-1
   * constraints. */
  void (*describe)(int equation, char *text, size_t size, void *user);

  /* Optional: returns POL_NEAR_SINGULARITY or POL_AT_SINGULARITY if the coordinates q are near or
   * at a singularity, such as gimbal lock, and writes its name and location; else 0.  A step that
   * ends at a singularity fails; a step that fails near one is attributed to it. */
  int (*singular)(const double *q, char *text, size_t size, void *user);

  /* Optional: writes the cause if the last evaluate() with this scratch failed: "force 'rope': its
   * points coincide".  Leaves text unchanged if it did not fail or the cause is unknown. */
  void (*blame)(const double *scratch, char *text, size_t size, void *user);

  void *user; /* passed to the callbacks */

  const struct pol_dae_extension *extension; /* internal; NULL in user models */
} pol_dae;

/* Number of constraints m. */
int pol_dae_num_constraints(const pol_dae *dae);

/* POL_BAD_ARGUMENT, with the reason in message (may be NULL), if sizes, patterns or callbacks are
 * missing or inconsistent. */
pol_status pol_dae_validate(const pol_dae *dae, char *message, size_t size);

/* --- consistent values ------------------------------------------------------------------------ */

/* Finds configurations, velocities, accelerations and multipliers that satisfy the constraints.
 * Owns its workspace; the dae must outlive it. */
typedef struct pol_assembler pol_assembler;

/* The dae must be valid (pol_dae_validate).  On failure *assembler is NULL: POL_BAD_ARGUMENT,
 * POL_NO_MEMORY.  Freeing sets *assembler to NULL; it may be NULL already.  All memory is allocated
 * here, but for large systems of rigid bodies (more than 5000 velocities and constraints): these
 * are solved in the space of the constraints, and a call that needs the matrix all the same, such
 * as with redundant constraints, allocates it. */
pol_status pol_assembler_create(pol_assembler **assembler, const pol_dae *dae,
                                pol_solver_kind solver);
void pol_assembler_free(pol_assembler **assembler);

/* Moves q (nq) to Phi(q, t) = 0, to round-off, by the smallest change in the metric of the mass
 * matrix. */
pol_status pol_assembler_position(pol_assembler *assembler, double t, double *q,
                                  pol_diagnostics *diagnostics);
/* Moves v (nv) to the nearest velocity in the metric of the mass matrix that satisfies the
 * constraints.  Components with keep[i] != 0 stay exactly as they are if the constraints allow it;
 * *kept (may be NULL) is then 1, else 0. keep may be NULL. */
pol_status pol_assembler_velocity(pol_assembler *assembler, double t, const double *q, double *v,
                                  const unsigned char *keep, int *kept,
                                  pol_diagnostics *diagnostics);
/* Finds the redundant constraints at q by a rank-revealing QR decomposition of B and drops them:
 * from then on, pol_assembler_acceleration sets their multipliers to zero and omits their rows.
 * Allocates its workspace on the first call.  *count (may be NULL) is their number. */
pol_status pol_assembler_drop_redundant(pol_assembler *assembler, double t, const double *q,
                                        int *count, pol_diagnostics *diagnostics);
/* 1 for each of the m constraints that is dropped; pol_assembler_keep_all resets all to 0. */
const unsigned char *pol_assembler_dropped(const pol_assembler *assembler);
void pol_assembler_keep_all(pol_assembler *assembler);

/* Solves M vd + B^T lambda = -g, B vd = -(acceleration) for vd (nv) and lambda (m). */
pol_status pol_assembler_acceleration(pol_assembler *assembler, double t, const double *q,
                                      const double *v, double *vd, double *lambda,
                                      pol_diagnostics *diagnostics);

#ifdef __cplusplus
}
#endif
#endif
