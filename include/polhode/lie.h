/* The Lie groups of multibody dynamics: R^n, SO(3), SE(3) and their products (SO(3)xR3 is the
 * product of SO(3) and R3): exponential and Cayley map, their inverses, tangent operators and their
 * derivatives.
 *
 * Pure functions on small arrays.  Nothing is allocated; outputs must not overlap inputs unless the
 * comment allows it.  Vectors have 3 or 6 entries; small matrices are row-major.  Velocities of
 * SE(3) are (Omega, U): rotation first, both in the body frame.  A rotation is stored as a unit
 * quaternion (w, x, y, z); q and -q are the same rotation.
 *
 * Formulas: Bruels/Cardona 2010; Arnold/Cardona/Bruels 2015, (10), (11), (29)-(35).
 */
#ifndef POLHODE_LIE_H
#define POLHODE_LIE_H

#include <polhode/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- unit quaternions ------------------------------------------------------------------------- */

/* Product, normalisation, inverse, and conversion to and from the rotation matrix R. */
void pol_quat_multiply(const double a[4], const double b[4], double ab[4]); /* ab may be a or b */
void pol_quat_normalize(double q[4]);                                       /* q != 0 */
void pol_quat_conjugate(const double q[4], double inverse[4]);              /* inverse may be q */
void pol_quat_to_matrix(const double q[4], double R[9]);
void pol_quat_from_matrix(const double R[9], double q[4]); /* w >= 0 */

/* --- SO(3): increments w in R3 and velocities v in the body frame, R exp(w), R' = R v~ -------- */

/* Exponential, logarithm, tangent operator T and its inverse. */
void pol_so3_exp(const double w[3], double q[4]);
void pol_so3_log(const double q[4], double w[3]);              /* |w| <= pi */
void pol_so3_tangent(const double w[3], double T[9]);          /* T(w): v = T(w) w'  */
void pol_so3_tangent_inverse(const double w[3], double Ti[9]); /* |w| < 2 pi */
/* D = d(T(w) c)/dw with c constant. */
void pol_so3_tangent_derivative(const double w[3], const double c[3], double D[9]);

/* --- SO(3) with the Cayley map: w = 2 tan(phi/2) axis, |w| < 1e150 ---------------------------- */

/* The same for the Cayley map. */
void pol_so3_cayley(const double w[3], double q[4]);
/* w[i] = 2 q[1 + i]/q[0]: unbounded near a half turn, infinite or NaN at one. */
void pol_so3_cayley_inverse(const double q[4], double w[3]);
void pol_so3_cayley_tangent(const double w[3], double T[9]); /* T(w) w is parallel to w */
void pol_so3_cayley_tangent_inverse(const double w[3], double Ti[9]);
void pol_so3_cayley_tangent_derivative(const double w[3], const double c[3], double D[9]);

/* --- SE(3): increments (w, U), configuration (quaternion, position), 7 numbers ---------------- */

/* The same for rigid motions.  The inverse of the tangent operator requires a rotation below 2 pi;
 * D is d(T(w) c)/dw as above. */
void pol_se3_exp(const double w[6], double q[7]);
void pol_se3_log(const double q[7], double w[6]);
void pol_se3_tangent(const double w[6], double T[36]);
void pol_se3_tangent_inverse(const double w[6], double Ti[36]);
void pol_se3_tangent_derivative(const double w[6], const double c[6], double D[36]);

/* --- products --------------------------------------------------------------------------------- */

/* A group with its coordinate map: q o w is the configuration q after the increment w, and v is the
 * corresponding velocity. */
typedef enum pol_factor_kind {
  POL_REAL,        /* R^n:   q + w */
  POL_SO3,         /* SO(3): R exp(w), R' = R v~: body frame */
  POL_SE3,         /* SE(3): q exp(w), body frame */
  POL_SO3_SPATIAL, /* SO(3): exp(w) R, R' = v~ R: inertial frame */
  POL_SO3_CAYLEY,  /* SO(3): R cay(w), R' = R v~: body frame */
  POL_SO3_VECTOR   /* as POL_SO3; integrators treat w as coordinates of a vector space */
} pol_factor_kind;

/* 1 for SO(3) in any of its four forms: 3 velocities, a quaternion. */
int pol_factor_is_rotation(pol_factor_kind kind);

/* One factor of a product group. */
typedef struct pol_factor {
  pol_factor_kind kind;
  int dim; /* of the Lie algebra: n, 3 or 6 */
  int q;   /* index of its first component in a configuration; n, 4 or 7 components */
  int v;   /* index of its first component in a velocity or increment */
} pol_factor;

/* A product group: its factors in order.  The caller owns the array. */
typedef struct pol_group {
  int num_factors;
  const pol_factor *factors;
  int nq; /* components of a configuration */
  int nv; /* dimension */
} pol_group;

enum { POL_MAX_FACTOR_DIM = 6 }; /* of all factors except R^n */

/* Sets *group, and dim (from kind, unless POL_REAL), q and v of each factor from its kind and
 * order.  POL_BAD_ARGUMENT: negative count or dimension below 1. */
pol_status pol_group_layout(pol_group *group, pol_factor *factors, int num_factors);

/* The neutral element: no rotation, zeros. */
void pol_group_identity(const pol_group *group, double *q);
/* out = q o w; out may be q.  Quaternions are renormalised. */
void pol_group_move(const pol_group *group, const double *q, const double *w, double *out);
/* ab = a b, the group product, which does not depend on the coordinate map; ab must not overlap a
 * or b. */
void pol_group_compose(const pol_group *group, const double *a, const double *b, double *ab);
/* The w with a o w = b; rotations by at most pi.  For POL_SO3_CAYLEY see pol_so3_cayley_inverse. */
void pol_group_difference(const pol_group *group, const double *a, const double *b, double *w);
/* y = T(w) c, so that v = T(w) w' for q(t) = q0 o w(t).  y may be c.  POL_SO3_SPATIAL has T(-w) of
 * the body frame. */
void pol_group_tangent(const pol_group *group, const double *w, const double *c, double *y);
/* y = T(w)^-1 c;  y may be c. */
void pol_group_tangent_inverse(const pol_group *group, const double *w, const double *c, double *y);
/* y = hat(v) w, the Lie bracket of v and w; with the opposite sign for POL_SO3_SPATIAL.  In all
 * forms T(w) = I - hat(w)/2 + O(|w|^2), and q(t) = q(0) o w(t) with the velocity v has
 *
 *     w(h) = h v + h^2 v'/2 + h^3 (v''/6 + hat(v) v'/12) + O(h^4),      v, v', v'' at t = 0,
 *
 * where POL_SO3_CAYLEY has (v . v) v/12 in addition to hat(v) v'/12. */
void pol_group_bracket(const pol_group *group, const double *v, const double *w, double *y);

/* One factor's matrices, dim x dim row-major: T(w), its inverse and d(T(w) c)/dw.  Not for
 * POL_REAL, where T = I. w and c point to the components of the factor. */
void pol_factor_tangent(const pol_factor *factor, const double *w, double *T);
void pol_factor_tangent_inverse(const pol_factor *factor, const double *w, double *Ti);
void pol_factor_tangent_derivative(const pol_factor *factor, const double *w, const double *c,
                                   double *D);

#ifdef __cplusplus
}
#endif
#endif
