/* The scalar functions of the rotation angle, see coefficients.h.
 *
 * With h = phi/2, y = h^2 and the spherical Bessel functions j0(h) = sin(h)/h, j1, j2,
 *
 *     b = j0^2/2,  d1 = j0 (j1/h)/4,  d11 = -((j1/h)^2 + j0 (j2/h^2))/16,  e = (j1/h)/(4 j0),
 *
 * where nothing cancels for phi <= 2 pi (they follow from sin phi = 2 sin h cos h and
 * d/dy (jn/h^n) = -(jn+1/h^(n+1))/2).  s, d2, d22 and the numerator of e1 are functions of phi
 * itself.  Each function is a power series up to the angle from which its closed form loses less
 * to cancellation than the series; near both sides of that angle both are good to a few units in
 * the last place.
 */
#include "lie/coefficients.h"

#include <math.h>

/* --- power series: coefficients, ascending ---------------------------------------------------- */

/* cos h = sum (-y)^k / (2k)!, for y <= 1/4 */
static const double cosine_series[] = {1.0,
                                       -0.5,
                                       0.041666666666666664,
                                       -0.001388888888888889,
                                       2.48015873015873e-05,
                                       -2.755731922398589e-07,
                                       2.08767569878681e-09,
                                       -1.1470745597729725e-11};

/* sin(h)/h = sum (-y)^k / (2k+1)!, for y <= 1/4 */
static const double sinc_series[] = {1.0,
                                     -0.16666666666666666,
                                     0.008333333333333333,
                                     -0.0001984126984126984,
                                     2.7557319223985893e-06,
                                     -2.505210838544172e-08,
                                     1.6059043836821613e-10,
                                     -7.647163731819816e-13};

/* j1(h)/h = sum (-y)^k (2k+2) / (2k+3)!, for y <= 4 */
static const double bessel1_series[] = {
    0.3333333333333333,      -0.03333333333333333,   0.0011904761904761906,
    -2.2045855379188714e-05, 2.505210838544172e-07,  -1.9270852604185937e-09,
    1.0706029224547743e-11,  -4.498331606952833e-14, 1.4797143443923793e-16,
    -3.9145882126782523e-19, 8.509974375387505e-22,  -1.5472680682522736e-24};

/* j2(h)/h^2 = sum (-y)^k (2k+2)(2k+4) / (2k+5)!, for y <= 6.25 */
static const double bessel2_series[] = {
    0.06666666666666667,    -0.004761904761904762,  0.00013227513227513228, -2.0041686708353374e-06,
    1.9270852604185938e-08, -1.284723506945729e-10, 6.297664249733966e-13,  -2.367542951027807e-15,
    7.046258782820854e-18,  -1.701994875077501e-20, 3.403989750155002e-23,  -5.73062247500842e-26,
    8.233652981333938e-29};

/* s = sum (-x)^k / (2k+3)!, for x <= 6.25 */
static const double s_series[] = {
    0.16666666666666666,   -0.008333333333333333,   0.0001984126984126984, -2.7557319223985893e-06,
    2.505210838544172e-08, -1.6059043836821613e-10, 7.647163731819816e-13, -2.8114572543455206e-15,
    8.22063524662433e-18,  -1.9572941063391263e-20, 3.868170170630684e-23, -6.446950284384474e-26};

/* d2 = - sum (-x)^k (2k+2) / (2k+5)!, for x <= 20.25 */
static const double d2_series[] = {
    -0.016666666666666666,   0.0007936507936507937,   -1.6534391534391536e-05,
    2.0041686708353376e-07,  -1.6059043836821615e-09, 9.17659647818378e-12,
    -3.936040156083729e-14,  1.3153016394598927e-16,  -3.523129391410427e-19,
    7.736340341261368e-22,   -1.4183290625645841e-24, 2.204085567310931e-27,
    -2.9405903504764064e-30, 3.4051501163498504e-33,  -3.4549006862315854e-36,
    3.096829746762205e-39};

/* d22 = sum (-x)^k (2k+2)(2k+4) / (2k+7)!, for x <= 25 */
static const double d22_series[] = {
    0.0015873015873015873,  -6.613756613756614e-05, 1.2025012025012026e-06, -1.2847235069457292e-08,
    9.17659647818378e-11,   -4.723248187300475e-13, 1.8414222952438498e-15, -5.6370070262566834e-18,
    1.3925412614270462e-20, -2.836658125129168e-23, 4.848988248084048e-26,  -7.057416841143375e-29,
    8.853390302509611e-32,  -9.673721921448438e-35, 9.290489240286615e-38,  -7.904820674918542e-41};

/* 2 b e1 = sum (-x)^k (2k+2) / (2k+6)!, for x <= 18 */
static const double inverse_series[] = {
    0.002777777777777778,   -9.92063492063492e-05,   1.6534391534391535e-06, -1.670140559029448e-08,
    1.1470745597729724e-10, -5.735372798864862e-13,  2.186688975602072e-15,  -6.576508197299464e-18,
    1.6014224506411032e-20, -3.223475142192237e-23,  5.455111779094555e-26,  -7.871734168967611e-29,
    9.801967834921354e-32,  -1.0641094113593283e-34, 1.0161472606563485e-37};

/* For x <= 1, that is y <= 1/4, so many terms are enough; for
 * the angle of a small step, x <= 0.01, the fewest. */
enum { FEW_TERMS = 9, FEW_HALF_ANGLE_TERMS = 8, FEWEST_HALF_ANGLE_TERMS = 5 };

/* The first n terms of a series by Horner's rule. */
static inline double sum_series(const double *coefficient, int n, double x)
{
  double sum = coefficient[n - 1];

  for (int k = n - 2; k >= 0; k--) sum = sum * x + coefficient[k];
  return sum;
}

#define COUNT(table) ((int)(sizeof(table) / sizeof((table)[0])))

/* --- functions of the half angle -------------------------------------------------------------- */

void poli_half_angle_set(double x, poli_half_angle *half)
{
  half->x = x;
  if (x <= 0.01) {
    half->sinc = sum_series(sinc_series, FEWEST_HALF_ANGLE_TERMS, 0.25 * x);
    half->cosine = sum_series(cosine_series, FEWEST_HALF_ANGLE_TERMS, 0.25 * x);
  } else if (x <= 1.0) {
    half->sinc = sum_series(sinc_series, COUNT(sinc_series), 0.25 * x);
    half->cosine = sum_series(cosine_series, COUNT(cosine_series), 0.25 * x);
  } else {
    const double h = 0.5 * sqrt(x);

    half->sinc = sin(h) / h;
    half->cosine = cos(h);
  }
}

/* j1(h)/h */
static double bessel1(const poli_half_angle *half)
{
  const double y = 0.25 * half->x;

  if (y <= 0.25) return sum_series(bessel1_series, FEW_HALF_ANGLE_TERMS, y);
  if (y <= 4.0) return sum_series(bessel1_series, COUNT(bessel1_series), y);
  return (half->sinc - half->cosine) / y;
}

/* j2(h)/h^2, given j1(h)/h */
static double bessel2(const poli_half_angle *half, double j1)
{
  const double y = 0.25 * half->x;

  if (y <= 0.25) return sum_series(bessel2_series, FEW_HALF_ANGLE_TERMS, y);
  if (y <= 6.25) return sum_series(bessel2_series, COUNT(bessel2_series), y);
  return (3.0 * j1 - half->sinc) / y;
}

/* --- functions of the angle, with a = sin(phi)/phi = sinc cosine, cos phi = 2 cosine^2 - 1 ---- */

/* s = (1 - a)/x */
static double coefficient_s(const poli_half_angle *half)
{
  const double x = half->x;

  if (x <= 1.0) return sum_series(s_series, FEW_TERMS, x);
  if (x <= 6.25) return sum_series(s_series, COUNT(s_series), x);
  return (1.0 - half->sinc * half->cosine) / x;
}

/* d2 = (3 a - cos phi - 2)/x^2 */
static double coefficient_d2(const poli_half_angle *half)
{
  const double x = half->x, c = half->cosine;

  if (x <= 1.0) return sum_series(d2_series, FEW_TERMS, x);
  if (x <= 20.25) return sum_series(d2_series, COUNT(d2_series), x);
  return (3.0 * half->sinc * c - 2.0 * c * c - 1.0) / (x * x);
}

/* d22 = (a (x - 15) + 7 cos phi + 8)/x^3 */
static double coefficient_d22(const poli_half_angle *half)
{
  const double x = half->x, c = half->cosine;

  if (x <= 1.0) return sum_series(d22_series, FEW_TERMS, x);
  if (x <= 25.0) return sum_series(d22_series, COUNT(d22_series), x);
  return (half->sinc * c * (x - 15.0) + 14.0 * c * c + 1.0) / (x * x * x);
}

/* 2 b e1 = (1 + a - 4 b)/x^2 */
static double inverse_numerator(const poli_half_angle *half)
{
  const double x = half->x;

  if (x <= 1.0) return sum_series(inverse_series, FEW_TERMS, x);
  if (x <= 18.0) return sum_series(inverse_series, COUNT(inverse_series), x);
  return (1.0 + half->sinc * (half->cosine - 2.0 * half->sinc)) / (x * x);
}

/* --- all of them ------------------------------------------------------------------------------ */

void poli_tangent_coefficients_set(const poli_half_angle *half, int order,
                                   poli_tangent_coefficients *c)
{
  const double j0 = half->sinc;

  c->b = 0.5 * j0 * j0;
  c->s = coefficient_s(half);
  if (order >= 1) {
    const double j1 = bessel1(half);

    c->d1 = 0.25 * j0 * j1;
    c->d2 = coefficient_d2(half);
    if (order >= 2) {
      c->d11 = -0.0625 * (j1 * j1 + j0 * bessel2(half, j1));
      c->d22 = coefficient_d22(half);
    }
  }
}

void poli_inverse_coefficients_set(const poli_half_angle *half, int order,
                                   poli_inverse_coefficients *c)
{
  const double j0 = half->sinc;

  c->e = 0.25 * bessel1(half) / j0;
  if (order >= 1) c->e1 = inverse_numerator(half) / (j0 * j0);
}
