/* The Lie groups of multibody dynamics: R^n, SO(3), SE(3) and their products (SO(3)xR3 is the
 * product of SO(3) and R3): exponential, logarithm, tangent operator and relatives.
 *
 * Pure functions on small arrays: nothing is allocated, outputs never overlap inputs unless the
 * comment says they may.  Vectors have 3 or 6 entries; small matrices are row-major.  Velocities of
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

/* --- unit quaternions --- */

void pol_quat_multiply(const double a[4], const double b[4], double ab[4]); /* ab may be a or b */
void pol_quat_normalize(double q[4]);                                       /* q is not 0 */
void pol_quat_conjugate(const double q[4], double inverse[4]);              /* inverse may be q */
void pol_quat_to_matrix(const double q[4], double R[9]);
void pol_quat_from_matrix(const double R[9], double q[4]); /* w >= 0 */

/* --- SO(3): increments w in R3, right (body-frame) trivialisation R exp(w) --- */

void pol_so3_exp(const double w[3], double q[4]);
void pol_so3_log(const double q[4], double w[3]);              /* |w| <= pi */
void pol_so3_tangent(const double w[3], double T[9]);          /* T(w): v = T(w) w'  */
void pol_so3_tangent_inverse(const double w[3], double Ti[9]); /* |w| < 2 pi */
/* D = d(T(w) c)/dw with c constant. */
void pol_so3_tangent_derivative(const double w[3], const double c[3], double D[9]);

/* --- SE(3): increments (w, U), configuration (quaternion, position), 7 numbers --- */

void pol_se3_exp(const double w[6], double q[7]);
void pol_se3_log(const double q[7], double w[6]);
void pol_se3_tangent(const double w[6], double T[36]);
void pol_se3_tangent_inverse(const double w[6], double Ti[36]);
void pol_se3_tangent_derivative(const double w[6], const double c[6], double D[36]);

/* --- products --- */

typedef enum pol_factor_kind {
  POL_REAL, /* R^n */
  POL_SO3,
  POL_SE3
} pol_factor_kind;

typedef struct pol_factor {
  pol_factor_kind kind;
  int dim; /* of the Lie algebra: n, 3 or 6 */
  int q;   /* where its numbers start in a configuration; n, 4 or 7 of them */
  int v;   /* where its numbers start in a velocity or increment */
} pol_factor;

/* A product group: its factors in order.  The caller owns the array. */
typedef struct pol_group {
  int num_factors;
  const pol_factor *factors;
  int nq; /* numbers in a configuration */
  int nv; /* dimension */
} pol_group;

enum { POL_MAX_FACTOR_DIM = 6 }; /* of the factors that are not R^n */

/* Sets dim (from kind, unless POL_REAL), q and v of each factor from its kind and order, and
 * *group. POL_BAD_ARGUMENT for a negative count or a dimension below 1. */
pol_status pol_group_layout(pol_group *group, pol_factor *factors, int num_factors);

void pol_group_identity(const pol_group *group, double *q);
/* out = q o exp(w); out may be q.  Quaternions are renormalised. */
void pol_group_move(const pol_group *group, const double *q, const double *w, double *out);
/* ab = a o b; ab must not overlap a or b. */
void pol_group_compose(const pol_group *group, const double *a, const double *b, double *ab);
/* w = log(a^-1 o b) */
void pol_group_difference(const pol_group *group, const double *a, const double *b, double *w);
/* y = T(w) c;  y may be c. */
void pol_group_tangent(const pol_group *group, const double *w, const double *c, double *y);
/* y = T(w)^-1 c;  y may be c. */
void pol_group_tangent_inverse(const pol_group *group, const double *w, const double *c, double *y);
/* y = hat(v) w, the Lie bracket of v and w. */
void pol_group_bracket(const pol_group *group, const double *v, const double *w, double *y);

/* One factor's matrices, dim x dim row-major; not for POL_REAL, where T = I and the rest is 0.
 * w and c point at the factor's own numbers. */
void pol_factor_tangent(const pol_factor *factor, const double *w, double *T);
void pol_factor_tangent_inverse(const pol_factor *factor, const double *w, double *Ti);
void pol_factor_tangent_derivative(const pol_factor *factor, const double *w, const double *c,
                                   double *D);

#ifdef __cplusplus
}
#endif
#endif
