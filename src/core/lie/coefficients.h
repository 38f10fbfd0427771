/* The scalar functions of the rotation angle phi that the closed forms of exp, T, T^-1 and their
 * derivatives are made of, as functions of x = phi^2 and to full double accuracy for every angle.
 *
 *     b = (1 - cos phi)/x               s  = (1 - sin(phi)/phi)/x
 *     d1 = -2 db/dx = (2 b - sin(phi)/phi)/x        d2 = 2 ds/dx = (b - 3 s)/x
 *     d11 = 2 d(d1)/dx                  d22 = 2 d(d2)/dx
 *     e = d1/(2 b)                      e1 = 2 de/dx
 *
 * b, s, d1, d2: Arnold/Cardona/Bruels 2015, (33) and (35); d11, d22, e1 are derivatives.
 */
#ifndef POLHODE_LIE_COEFFICIENTS_H
#define POLHODE_LIE_COEFFICIENTS_H

/* Sine and cosine of h = phi/2, from which the other functions start. */
typedef struct poli_half_angle {
  double x;      /* phi^2 */
  double sinc;   /* sin(h)/h */
  double cosine; /* cos(h) */
} poli_half_angle;

void poli_half_angle_set(double x, poli_half_angle *half);

/* The coefficients of T and of its first and second derivative. */
typedef struct poli_tangent_coefficients {
  double b, s;     /* order >= 0 */
  double d1, d2;   /* order >= 1 */
  double d11, d22; /* order >= 2 */
} poli_tangent_coefficients;

/* Sets the coefficients up to order (0, 1 or 2) and leaves the others alone. */
void poli_tangent_coefficients_set(const poli_half_angle *half, int order,
                                   poli_tangent_coefficients *c);

/* The same for T^-1, order 0 or 1; phi < 2 pi. */
typedef struct poli_inverse_coefficients {
  double e;  /* order >= 0 */
  double e1; /* order >= 1 */
} poli_inverse_coefficients;

void poli_inverse_coefficients_set(const poli_half_angle *half, int order,
                                   poli_inverse_coefficients *c);

/* T(w) c and T(w)^-1 c of SO(3), with the exponential and with the Cayley map, and of SE(3),
 * without forming the matrices; y may be c. */
void poli_so3_apply_tangent(const double w[3], const double c[3], double y[3]);
void poli_so3_apply_tangent_inverse(const double w[3], const double c[3], double y[3]);
void poli_so3_cayley_apply_tangent(const double w[3], const double c[3], double y[3]);
void poli_so3_cayley_apply_tangent_inverse(const double w[3], const double c[3], double y[3]);
void poli_se3_apply_tangent(const double w[6], const double c[6], double y[6]);
void poli_se3_apply_tangent_inverse(const double w[6], const double c[6], double y[6]);

/* D = d(T(w) c)/dw; k of order 1 or above, for x = w . w */
void poli_so3_set_derivative(const poli_tangent_coefficients *k, const double w[3],
                             const double c[3], double D[9]);

#endif
