/* The two examples of Gavrea/Negrut/Potra 2005 as models written by hand, with their solutions from
 * an independent high-precision integration (2026).
 *
 * planar pendulum: mass 1, length 1, gravity 9.81, Phi = x^2 + y^2 - 1, released at 60 degrees.
 *
 * stiff double pendulum: coordinates (x1, y1, th1, x2, y2, th2), half lengths 1 and 1.5, masses 3
 * and 0.3, inertias m L^2/3; springs and dampers at both joints see angles that are not wrapped,
 *
 *     Q2 = k2 (th1 - th2) + c2 (w1 - w2),   Q1 = k1 (3 pi/2 - th1) - c1 w1 - Q2
 *
 * with the constraints (52g).  It starts from th1 = 2 pi.
 */
#ifndef POLHODE_TESTS_GAVREA_H
#define POLHODE_TESTS_GAVREA_H

#include "dae/toys.h"

#include <polhode/integrator.h>

enum { PLANAR_NQ = 2, DOUBLE_NQ = 6, GAVREA_MAX = 6 };

static const double planar_q0[PLANAR_NQ] = {0.8660254037844385, -0.5000000000000001};
static const double planar_v0[PLANAR_NQ] = {0.0, 0.0};
/* at t = 4; the multiplier belongs to Phi = x^2 + y^2 - 1 */
static const double planar_q4[PLANAR_NQ] = {0.6185801137750828, -0.7857217337212993};
static const double planar_v4[PLANAR_NQ] = {1.860329642333284, 1.464593471741569};
/* at t = 1 */
static const double planar_q1[PLANAR_NQ] = {-0.853381703586413, -0.5212865507414818};
static const double planar_v1[PLANAR_NQ] = {-0.3368826687921033, 0.5514999483366976};
static const double planar_lambda1 = 2.765731594160904;

static const double double_q0[DOUBLE_NQ] = {1.0,
                                            -2.449293598294706e-16,
                                            6.283185307179586,
                                            3.448888739433603,
                                            -0.3882285676537828,
                                            6.021385919380436};
static const double double_v0[DOUBLE_NQ] = {0.0, 0.0, 0.0, 3.882285676537824, 14.48888739433602,
                                            10.0};
/* at t = 2 */
static const double double_q2[DOUBLE_NQ] = {-0.07184883611347663, -0.9974155326387988,
                                            4.64047818322133,     -0.2514432204684518,
                                            -3.490956359774732,   4.64049670168853};
static const double double_v2[DOUBLE_NQ] = {-1.625680050233913, 0.1171058758160564,
                                            -1.629892454083761, -5.690422424370847,
                                            0.4098642242229488, -1.630252715380243};

static inline void planar_init(truss *s)
{
  pendulum_init(s);
  s->rods[0].scale = 2.0;
}

typedef struct double_pendulum {
  pol_factor factor;
  pol_dae dae;
} double_pendulum;

static inline pol_status double_evaluate(const pol_point *at, unsigned want, const pol_terms *out,
                                         double *scratch, void *user)
{
  static const double mass[6] = {3.0, 3.0, 1.0, 0.3, 0.3, 0.225};
  const double L1 = 1.0, L2 = 1.5, k1 = 400.0, k2 = 3e5, d1 = 15.0, d2 = 5e4,
               rest = 4.71238898038469;
  const double *q = at->q, *v = at->v, *l = at->lambda;
  double c1 = cos(q[2]), s1 = sin(q[2]), c2 = cos(q[5]), s2 = sin(q[5]);
  /* rows of dPhi/dq by row and column */
  const double B[4][6] = {{1.0, 0.0, L1 * s1, 0.0, 0.0, 0.0},
                          {0.0, 1.0, -L1 * c1, 0.0, 0.0, 0.0},
                          {1.0, 0.0, -L1 * s1, -1.0, 0.0, -L2 * s2},
                          {0.0, 1.0, L1 * c1, 0.0, -1.0, L2 * c2}};
  /* derivatives of the columns of the angles by these angles */
  const double G1[4] = {L1 * c1, L1 * s1, -L1 * c1, -L1 * s1};
  const double G2[4] = {0.0, 0.0, -L2 * c2, -L2 * s2};
  (void)scratch;
  (void)user;
  for (int j = 0; j < 6; j++) {
    if (want & POL_INERTIA) out->balance[j] += mass[j] * at->vd[j];
    if (want & POL_MASS) out->mass[7 * j] += mass[j];
    for (int i = 0; i < 4; i++) {
      if (want & POL_REACTION) out->balance[j] += B[i][j] * l[i];
      if (want & POL_JACOBIAN) out->jacobian[i + 4 * j] += B[i][j];
      if (want & POL_VELOCITY) out->velocity[i] += B[i][j] * v[j];
    }
  }
  if (want & POL_FORCE) {
    double Q2 = k2 * (q[2] - q[5]) + d2 * (v[2] - v[5]);
    out->balance[1] += mass[1] * 9.81;
    out->balance[4] += mass[4] * 9.81;
    out->balance[2] -= k1 * (rest - q[2]) - d1 * v[2] - Q2;
    out->balance[5] -= Q2;
  }
  if (want & POL_POSITION) {
    out->position[0] = q[0] - L1 * c1;
    out->position[1] = q[1] - L1 * s1;
    out->position[2] = q[0] + L1 * c1 + L2 * c2 - q[3];
    out->position[3] = q[1] + L1 * s1 + L2 * s2 - q[4];
  }
  for (int i = 0; i < 4; i++) {
    if (want & POL_ACCELERATION) out->acceleration[i] = G1[i] * v[2] * v[2] + G2[i] * v[5] * v[5];
    if (want & POL_CURVATURE) out->curvature[i + 4 * 2] += G1[i] * v[2];
    if (want & POL_CURVATURE) out->curvature[i + 4 * 5] += G2[i] * v[5];
    if (want & POL_GEOMETRIC_STIFFNESS) out->stiffness[2 + 6 * 2] += G1[i] * l[i];
    if (want & POL_GEOMETRIC_STIFFNESS) out->stiffness[5 + 6 * 5] += G2[i] * l[i];
  }
  if (want & POL_DAMPING) {
    out->damping[2 + 6 * 2] += d1 + d2;
    out->damping[2 + 6 * 5] -= d2;
    out->damping[5 + 6 * 2] -= d2;
    out->damping[5 + 6 * 5] += d2;
  }
  if (want & POL_STIFFNESS) {
    out->stiffness[2 + 6 * 2] += k1 + k2;
    out->stiffness[2 + 6 * 5] -= k2;
    out->stiffness[5 + 6 * 2] -= k2;
    out->stiffness[5 + 6 * 5] += k2;
  }
  return POL_OK;
}

static inline void double_init(double_pendulum *s)
{
  s->factor = (pol_factor){.kind = POL_REAL, .dim = DOUBLE_NQ};
  s->dae = (pol_dae){.num_holonomic = 4, .evaluate = double_evaluate, .user = s};
  assert_int_equal(pol_group_layout(&s->dae.group, &s->factor, 1), POL_OK);
}

/* Euclidean distance of two vectors. */
static inline double gavrea_distance(const double *a, const double *b, int n)
{
  double sum = 0.0;
  for (int i = 0; i < n; i++) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sqrt(sum);
}

#endif
