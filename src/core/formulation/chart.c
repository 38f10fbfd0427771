/* The charts.
 *
 *   so3xr3            v = (Omega, x')                        Arnold/Cardona/Bruels 2015, section 2
 *   so3xr3-spatial    v = (omega, x'), omega in global axes
 *   so3xr3-cayley     as so3xr3, increments by the Cayley map (Bruels/Cardona 2010, remark 7)
 *   se3               v = (Omega, U), x' = R U
 *   so3               v = Omega, x = pivot - R arm           Bruels/Cardona 2010, section 7.4
 *   rotation-vector   as so3xr3; the integrator takes the increment as classical coordinates
 *   euler-parameters  v = (p', x'), Omega = G(p) p'
 *   tait-bryan        v = (angles', x'), R = Rx(a) Ry(b) Rz(c), Omega = G(angles) angles'
 *   directors         v = (d1', d2', d3', x'), R = (d1 d2 d3), omega = sum d_i x d_i' / 2
 *   point masses      v = x' in all of them, R = I
 *   flexible bodies   the modes behind the coordinates of their reference frame: attached.c
 */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "formulation/chart.h"
#include "lie/small.h"

static void copy_or_zero(const double *source, double out[3])
{
  for (int i = 0; i < 3; i++) out[i] = source ? source[i] : 0.0;
}

/* out[row + i][col + j] = scale * block */
static void set_block(const double block[9], double scale, int row, int col, poli_map out)
{
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) out[row + i][col + j] = scale * block[3 * i + j];
}

/* out[row + i][j] = scale * a~ B */
static void set_skew_times(const double a[3], const double B[9], double scale, int row,
                           poli_map out)
{
  double skew[9], block[9];
  poli_m3_skew(a, skew);
  poli_m3_multiply(skew, B, block);
  set_block(block, scale, row, 0, out);
}

/* out[row + i][j] += scale * block */
static void add_block(const double block[9], double scale, int row, poli_map out)
{
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) out[row + i][j] += scale * block[3 * i + j];
}

/* out[row + i][row + i] = 1 */
static void set_identity(int row, poli_map out)
{
  for (int i = 0; i < 3; i++) out[row + i][row + i] = 1.0;
}

/* --- SO(3)xR3 --------------------------------------------------------------------------------- */

static void product_coordinates(const pol_body *body, double *q, double *v)
{
  memcpy(q, body->rotation, 4 * sizeof *q);
  poli_v3_copy(body->position, q + 4);
  poli_v3_copy(body->angular_velocity, v);
  poli_v3_copy(body->velocity, v + 3);
}

/* Position and its derivatives from the last three coordinates; rotation velocities from the first.
 */
static void split_frame(const poli_chart_point *at, int position, int translation,
                        poli_frame *frame)
{
  poli_v3_copy(at->q + position, frame->x);
  copy_or_zero(at->v, frame->w);
  copy_or_zero(at->v ? at->v + translation : NULL, frame->u);
  copy_or_zero(at->vd, frame->wd);
  copy_or_zero(at->vd ? at->vd + translation : NULL, frame->ud);
  copy_or_zero(NULL, frame->wb);
  copy_or_zero(NULL, frame->ub);
}

static void product_frame(const poli_chart_point *at, poli_frame *frame)
{
  pol_quat_to_matrix(at->q, frame->R);
  split_frame(at, 4, 3, frame);
}

/* --- SO(3)xR3, spatial: Omega = R^T omega ----------------------------------------------------- */

static void spatial_coordinates(const pol_body *body, double *q, double *v)
{
  double R[9];
  product_coordinates(body, q, v);
  pol_quat_to_matrix(body->rotation, R);
  poli_m3_apply(R, body->angular_velocity, v);
}

static void spatial_frame(const poli_chart_point *at, poli_frame *frame)
{
  product_frame(at, frame);
  if (at->v) poli_m3_apply_transposed(frame->R, at->v, frame->w);
  if (at->vd) poli_m3_apply_transposed(frame->R, at->vd, frame->wd);
}

/* L = diag(R^T, I); N1 = Omega~ R^T, N2 = (R^T omega')~ R^T */
static void spatial_maps(const poli_chart_point *at, const poli_frame *frame, poli_chart_maps *maps)
{
  double transposed[9];
  (void)at;
  for (int i = 0; i < 9; i++) transposed[i] = frame->R[3 * (i % 3) + i / 3];
  set_block(transposed, 1.0, 0, 0, maps->L);
  set_identity(3, maps->L);
  set_skew_times(frame->w, transposed, 1.0, 0, maps->N1);
  set_skew_times(frame->wd, transposed, 1.0, 0, maps->N2);
}

/* d(R torque) = -(R torque)~ dphi */
static void spatial_add_wrench_gradient(const poli_chart_point *at, const poli_frame *frame,
                                        const double r[6], poli_map K)
{
  double global[3], skew[9];
  (void)at;
  poli_m3_apply(frame->R, r, global);
  poli_m3_skew(global, skew);
  add_block(skew, -1.0, 0, K);
}

/* --- SE(3): u = R U, L = diag(I, R), bias = (0, R (Omega x U)) -------------------------------- */

static void se3_coordinates(const pol_body *body, double *q, double *v)
{
  double R[9];
  product_coordinates(body, q, v);
  pol_quat_to_matrix(body->rotation, R);
  poli_m3_apply_transposed(R, body->velocity, v + 3);
}

static void se3_frame(const poli_chart_point *at, poli_frame *frame)
{
  product_frame(at, frame);
  if (at->v) {
    double convected[3];
    poli_m3_apply(frame->R, at->v + 3, frame->u);
    poli_v3_cross(at->v, at->v + 3, convected);
    poli_m3_apply(frame->R, convected, frame->ub);
  }
  if (at->vd) poli_m3_apply(frame->R, at->vd + 3, frame->ud);
}

/* N1 = -u~ R, N2 = -(u')~ R in the lower left; N3 = (-u~ R, R Omega~) in the lower rows */
static void se3_maps(const poli_chart_point *at, const poli_frame *frame, poli_chart_maps *maps)
{
  double skew[9], block[9], acceleration[3];
  (void)at;
  set_identity(0, maps->L);
  set_block(frame->R, 1.0, 3, 3, maps->L);
  set_skew_times(frame->u, frame->R, -1.0, 3, maps->N1);
  set_skew_times(frame->u, frame->R, -1.0, 3, maps->N3);
  poli_v3_add(frame->ud, frame->ub, acceleration);
  set_skew_times(acceleration, frame->R, -1.0, 3, maps->N2);
  poli_m3_skew(frame->w, skew);
  poli_m3_multiply(frame->R, skew, block);
  set_block(block, 1.0, 3, 3, maps->N3);
}

/* d(R^T force) = (R^T force)~ dphi */
static void se3_add_wrench_gradient(const poli_chart_point *at, const poli_frame *frame,
                                    const double r[6], poli_map K)
{
  double local[3], skew[9];
  (void)at;
  poli_m3_apply_transposed(frame->R, r + 3, local);
  poli_m3_skew(local, skew);
  add_block(skew, 1.0, 3, K);
}

/* --- SO(3) about a fixed point: x = pivot - R arm, u = R (arm x Omega) ------------------------ */

static void pivot_coordinates(const pol_body *body, double *q, double *v)
{
  memcpy(q, body->rotation, 4 * sizeof *q);
  poli_v3_copy(body->angular_velocity, v);
}

static void pivot_frame(const poli_chart_point *at, poli_frame *frame)
{
  double local[3], turned[3];
  pol_quat_to_matrix(at->q, frame->R);
  poli_m3_apply(frame->R, at->place->arm, turned);
  poli_v3_subtract(at->place->pivot, turned, frame->x);
  copy_or_zero(at->v, frame->w);
  copy_or_zero(at->vd, frame->wd);
  copy_or_zero(NULL, frame->wb);
  poli_v3_cross(at->place->arm, frame->w, local);
  poli_m3_apply(frame->R, local, frame->u);
  poli_v3_cross(frame->w, local, turned);
  poli_m3_apply(frame->R, turned, frame->ub);
  poli_v3_cross(at->place->arm, frame->wd, local);
  poli_m3_apply(frame->R, local, frame->ud);
}

/* L = (I; R arm~); with y the local velocity or acceleration, N = -R y~; bias = R (Omega x (arm x
 * Omega)) */
static void pivot_maps(const poli_chart_point *at, const poli_frame *frame, poli_chart_maps *maps)
{
  double arm[9], block[9], skew[9], sum[3], local[3], second[9];
  set_identity(0, maps->L);
  poli_m3_skew(at->place->arm, arm);
  poli_m3_multiply(frame->R, arm, block);
  set_block(block, 1.0, 3, 0, maps->L);
  set_skew_times(frame->u, frame->R, -1.0, 3, maps->N1);
  poli_v3_add(frame->ud, frame->ub, sum);
  set_skew_times(sum, frame->R, -1.0, 3, maps->N2);
  /* d(Omega x (arm x Omega)) = (Omega~ arm~ - (arm x Omega)~) dOmega */
  poli_v3_cross(at->place->arm, frame->w, local);
  poli_m3_skew(frame->w, skew);
  poli_m3_multiply(skew, arm, block);
  poli_m3_skew(local, skew);
  for (int i = 0; i < 9; i++) block[i] -= skew[i];
  poli_m3_multiply(frame->R, block, second);
  set_block(second, 1.0, 3, 0, maps->N3);
}

/* d((R arm~)^T force) = -arm~ (R^T force)~ dphi */
static void pivot_add_wrench_gradient(const poli_chart_point *at, const poli_frame *frame,
                                      const double r[6], poli_map K)
{
  double local[3], skew[9], arm[9], block[9];
  poli_m3_apply_transposed(frame->R, r + 3, local);
  poli_m3_skew(local, skew);
  poli_m3_skew(at->place->arm, arm);
  poli_m3_multiply(arm, skew, block);
  add_block(block, -1.0, 0, K);
}

/* --- Euler parameters: Omega = G(p) p', with G(p') p' = 0 ------------------------------------- */

static void euler_matrix(const double p[4], double G[3][4])
{
  const double rows[3][4] = {
      {-p[1], p[0], p[3], -p[2]}, {-p[2], -p[3], p[0], p[1]}, {-p[3], p[2], -p[1], p[0]}};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 4; j++) G[i][j] = 2.0 * rows[i][j];
}

static void euler_apply(const double p[4], const double *rate, double out[3])
{
  double G[3][4];
  euler_matrix(p, G);
  for (int i = 0; i < 3; i++) {
    out[i] = 0.0;
    for (int j = 0; j < 4 && rate; j++) out[i] += G[i][j] * rate[j];
  }
}

/* p' = G^T Omega / 4 */
static void euler_coordinates(const pol_body *body, double *q, double *v)
{
  double G[3][4];
  memcpy(q, body->rotation, 4 * sizeof *q);
  poli_v3_copy(body->position, q + 4);
  euler_matrix(q, G);
  for (int j = 0; j < 4; j++) {
    v[j] = 0.0;
    for (int i = 0; i < 3; i++) v[j] += 0.25 * G[i][j] * body->angular_velocity[i];
  }
  poli_v3_copy(body->velocity, v + 4);
}

static void euler_frame(const poli_chart_point *at, poli_frame *frame)
{
  double p[4];
  memcpy(p, at->q, sizeof p);
  pol_quat_normalize(p);
  pol_quat_to_matrix(p, frame->R);
  split_frame(at, 4, 4, frame);
  euler_apply(at->q, at->v, frame->w);
  euler_apply(at->q, at->vd, frame->wd);
}

/* out = scale G(p) in the first four columns */
static void set_euler(const double *p, double scale, poli_map out)
{
  double G[3][4];
  if (!p) return;
  euler_matrix(p, G);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 4; j++) out[i][j] = scale * G[i][j];
}

/* G(p) p' = -G(p') p, so N1 = -G(p') and N2 = -G(p'') */
static void euler_maps(const poli_chart_point *at, const poli_frame *frame, poli_chart_maps *maps)
{
  (void)frame;
  set_euler(at->q, 1.0, maps->L);
  for (int i = 0; i < 3; i++) maps->L[3 + i][4 + i] = 1.0;
  set_euler(at->v, -1.0, maps->N1);
  set_euler(at->vd, -1.0, maps->N2);
}

/* d(G(p)^T torque)/dp: G is linear in p */
static void euler_add_wrench_gradient(const poli_chart_point *at, const poli_frame *frame,
                                      const double r[6], poli_map K)
{
  (void)at;
  (void)frame;
  for (int k = 0; k < 4; k++) {
    double unit[4] = {0.0}, G[3][4];
    unit[k] = 1.0;
    euler_matrix(unit, G);
    for (int j = 0; j < 4; j++)
      for (int i = 0; i < 3; i++) K[j][k] += G[i][j] * r[i];
  }
}

/* --- Tait-Bryan angles: Omega = G(b, c) (a', b', c') ------------------------------------------ */

/* G and its derivatives by b and c; index 0: none, 1: b, 2: c, 3: bb, 4: bc, 5: cc. */
static void bryan_matrices(const double angles[3], double G[6][9])
{
  double sb = sin(angles[1]), cb = cos(angles[1]), sc = sin(angles[2]), cc = cos(angles[2]);
  const double all[6][9] = {
      {cb * cc, sc, 0, -cb * sc, cc, 0, sb, 0, 1},  {-sb * cc, 0, 0, sb * sc, 0, 0, cb, 0, 0},
      {-cb * sc, cc, 0, -cb * cc, -sc, 0, 0, 0, 0}, {-cb * cc, 0, 0, cb * sc, 0, 0, -sb, 0, 0},
      {sb * sc, 0, 0, sb * cc, 0, 0, 0, 0, 0},      {-cb * cc, -sc, 0, cb * sc, -cc, 0, 0, 0, 0}};
  memcpy(G, all, sizeof all);
}

/* y = (A[b] rate[1] + A[c] rate[2]) x: the rate of change of one of the matrices, applied */
static void bryan_rate(double Gb[9], double Gc[9], const double *rate, const double *x, double y[3])
{
  double yc[3];
  poli_m3_apply(Gb, x, y);
  poli_m3_apply(Gc, x, yc);
  for (int i = 0; i < 3; i++) y[i] = rate[1] * y[i] + rate[2] * yc[i];
}

static void bryan_coordinates(const pol_body *body, double *q, double *v)
{
  double R[9], G[6][9], determinant, w[3];
  pol_quat_to_matrix(body->rotation, R);
  q[0] = atan2(-R[5], R[8]);
  q[1] = asin(fmax(-1.0, fmin(1.0, R[2])));
  q[2] = atan2(-R[1], R[0]);
  poli_v3_copy(body->position, q + 3);
  /* rates: the first two rows of G give a' and b', the last c' */
  bryan_matrices(q, G);
  poli_v3_copy(body->angular_velocity, w);
  determinant = G[0][0] * G[0][4] - G[0][1] * G[0][3];
  v[0] = (w[0] * G[0][4] - w[1] * G[0][1]) / determinant;
  v[1] = (w[1] * G[0][0] - w[0] * G[0][3]) / determinant;
  v[2] = w[2] - G[0][6] * v[0];
  poli_v3_copy(body->velocity, v + 3);
}

static void bryan_frame(const poli_chart_point *at, poli_frame *frame)
{
  double G[6][9];
  const double *q = at->q;
  double sa = sin(q[0]), ca = cos(q[0]), sb = sin(q[1]), cb = cos(q[1]), sc = sin(q[2]),
         cc = cos(q[2]);
  const double R[9] = {cb * cc,
                       -cb * sc,
                       sb,
                       ca * sc + sa * sb * cc,
                       ca * cc - sa * sb * sc,
                       -sa * cb,
                       sa * sc - ca * sb * cc,
                       sa * cc + ca * sb * sc,
                       ca * cb};
  poli_m3_copy(R, frame->R);
  split_frame(at, 3, 3, frame);
  bryan_matrices(q, G);
  if (at->v) {
    poli_m3_apply(G[0], at->v, frame->w);
    bryan_rate(G[1], G[2], at->v, at->v, frame->wb);
  }
  if (at->vd) poli_m3_apply(G[0], at->vd, frame->wd);
}

static void bryan_maps(const poli_chart_point *at, const poli_frame *frame, poli_chart_maps *maps)
{
  static const double zero[3] = {0.0, 0.0, 0.0};
  const double *v = at->v ? at->v : zero, *vd = at->vd ? at->vd : zero;
  double G[6][9], b[3], c[3], bias_b[3], bias_c[3];
  (void)frame;
  bryan_matrices(at->q, G);
  set_block(G[0], 1.0, 0, 0, maps->L);
  set_identity(3, maps->L);
  /* N1: columns b and c of d(G v); N2: of d(G v' + G' v) */
  poli_m3_apply(G[1], v, b);
  poli_m3_apply(G[2], v, c);
  for (int i = 0; i < 3; i++) {
    maps->N1[i][1] = b[i];
    maps->N1[i][2] = c[i];
  }
  /* N3: d((Gb b' + Gc c') v)/dv = Gb b' + Gc c', and the columns of Gb v and Gc v */
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      maps->N3[i][j] = G[1][3 * i + j] * v[1] + G[2][3 * i + j] * v[2] + (j == 1 ? b[i] : 0.0) +
                       (j == 2 ? c[i] : 0.0);
  poli_m3_apply(G[1], vd, b);
  poli_m3_apply(G[2], vd, c);
  bryan_rate(G[3], G[4], v, v, bias_b);
  bryan_rate(G[4], G[5], v, v, bias_c);
  for (int i = 0; i < 3; i++) {
    maps->N2[i][1] = b[i] + bias_b[i];
    maps->N2[i][2] = c[i] + bias_c[i];
  }
}

static void bryan_add_wrench_gradient(const poli_chart_point *at, const poli_frame *frame,
                                      const double r[6], poli_map K)
{
  double G[6][9], column[3];
  (void)frame;
  bryan_matrices(at->q, G);
  for (int k = 1; k < 3; k++) {
    poli_m3_apply_transposed(G[k], r, column);
    for (int i = 0; i < 3; i++) K[i][k] += column[i];
  }
}

/* The rates of a and c grow without bound towards b = +-90 degrees; beyond, cos b < 0, the angles
 * have passed through it. */
static int bryan_singular(const double *q, char *text, size_t size)
{
  double c = cos(q[1]);
  if (!(c < 0.3)) return 0;
  snprintf(text, size, "gimbal lock (second Tait-Bryan angle %.1f degrees)",
           q[1] * 57.29577951308232);
  return c < 0.01 ? POL_AT_SINGULARITY : POL_NEAR_SINGULARITY;
}

/* --- point masses ----------------------------------------------------------------------------- */

static void point_coordinates(const pol_body *body, double *q, double *v)
{
  poli_v3_copy(body->position, q);
  poli_v3_copy(body->velocity, v);
}

static void point_frame(const poli_chart_point *at, poli_frame *frame)
{
  memset(frame, 0, sizeof *frame);
  frame->R[0] = frame->R[4] = frame->R[8] = 1.0;
  poli_v3_copy(at->q, frame->x);
  copy_or_zero(at->v, frame->u);
  copy_or_zero(at->vd, frame->ud);
}

/* --- directors: the columns of R as coordinates ----------------------------------------------- */

static void directors_coordinates(const pol_body *body, double *q, double *v)
{
  double R[9], spin[3];
  pol_quat_to_matrix(body->rotation, R);
  poli_m3_apply(R, body->angular_velocity, spin);
  for (int k = 0; k < 3; k++) {
    for (int i = 0; i < 3; i++) q[3 * k + i] = R[3 * i + k];
    poli_v3_cross(spin, q + 3 * k, v + 3 * k);
  }
  poli_v3_copy(body->position, q + 9);
  poli_v3_copy(body->velocity, v + 9);
}

/* Half the sum of d_i x rate_i, in body axes. */
static void spin_of_directors(const double *directors, const double *rates, const double R[9],
                              double out[3])
{
  double sum[3] = {0.0};
  for (int k = 0; k < 3 && rates; k++)
    poli_v3_add_scaled_cross(0.5, directors + 3 * k, rates + 3 * k, sum);
  poli_m3_apply_transposed(R, sum, out);
}

static void directors_frame(const poli_chart_point *at, poli_frame *frame)
{
  split_frame(at, 9, 9, frame);
  for (int k = 0; k < 3; k++)
    for (int i = 0; i < 3; i++) frame->R[3 * i + k] = at->q[3 * k + i];
  spin_of_directors(at->q, at->v, frame->R, frame->w);
  spin_of_directors(at->q, at->vd, frame->R, frame->wd);
}

/* --- the table -------------------------------------------------------------------------------- */

/* Of each chart nq, dim, kind, factor_dim, num_rotations, direct, num_internal, polynomial,
 * num_modes, and its functions. */
static const struct {
  const char *name, *title;
  poli_chart chart;
} charts[] = {
    [POL_SO3XR3] =
        {"so3xr3",
         "rotation and position, angular velocity in body axes, velocity in global axes; also "
         "supported by rattle",
         {7, 6, POL_SO3, 3, 3, 1, 0, 0, 0, product_coordinates, product_frame, NULL, NULL, NULL}},
    [POL_SE3_BODY] = {"se3",
                      "rigid motions as one group, both velocities in body axes",
                      {7, 6, POL_SE3, 6, 3, 0, 0, 0, 0, se3_coordinates, se3_frame, se3_maps,
                       se3_add_wrench_gradient, NULL}},
    [POL_SO3XR3_SPATIAL] = {"so3xr3-spatial",
                            "as so3xr3 with the angular velocity in global axes: for fast spin",
                            {7, 6, POL_SO3_SPATIAL, 3, 3, 0, 0, 0, 0, spatial_coordinates,
                             spatial_frame, spatial_maps, spatial_add_wrench_gradient, NULL}},
    [POL_SO3XR3_CAYLEY] = {"so3xr3-cayley",
                           "as so3xr3 with the Cayley map instead of the exponential",
                           {7, 6, POL_SO3_CAYLEY, 3, 3, 1, 0, 0, 0, product_coordinates,
                            product_frame, NULL, NULL, NULL}},
    [POL_SO3_PIVOT] =
        {"so3",
         "rotation about a fixed point: a spherical joint to the ground needs no constraint",
         {4, 3, POL_SO3, 3, 3, 0, 0, 0, 0, pivot_coordinates, pivot_frame, pivot_maps,
          pivot_add_wrench_gradient, NULL}},
    [POL_ROTATION_VECTOR] =
        {"rotation-vector",
         "classical coordinates: the rotation of a step as a vector, re-centred each step",
         {7, 6, POL_SO3_VECTOR, 3, 3, 1, 0, 0, 0, product_coordinates, product_frame, NULL, NULL,
          NULL}},
    [POL_EULER_PARAMETERS] =
        {"euler-parameters",
         "unit quaternions with a constraint for their length; also supported by vi-a, em, "
         "em-g, midpoint",
         {7, 7, POL_REAL, 7, 4, 0, 1, 0, 0, euler_coordinates, euler_frame, euler_maps,
          euler_add_wrench_gradient, NULL}},
    [POL_TAIT_BRYAN] = {"tait-bryan",
                        "classical coordinates: angles about x, y, z; singular at gimbal lock",
                        {6, 6, POL_REAL, 6, 3, 0, 0, 0, 0, bryan_coordinates, bryan_frame,
                         bryan_maps, bryan_add_wrench_gradient, bryan_singular}},
    [POL_DIRECTORS] = {"directors",
                       "the columns of the rotation matrix; all terms are polynomial; also "
                       "supported by vi-s, vi-a, "
                       "vi-b, em, em-g, midpoint, rattle",
                       {12, 12, POL_REAL, 12, 9, 0, 6, 1, 0, directors_coordinates, directors_frame,
                        NULL, NULL, NULL}},
};

static const poli_chart point_chart = {3, 3, POL_REAL,          3,           0,    1,    0,
                                       0, 0, point_coordinates, point_frame, NULL, NULL, NULL};

enum { NUM_CHARTS = (int)(sizeof charts / sizeof charts[0]) };

const poli_chart *poli_chart_of(pol_formulation_kind kind)
{
  return (int)kind >= 0 && (int)kind < NUM_CHARTS ? &charts[kind].chart : NULL;
}

const poli_chart *poli_chart_of_body(pol_formulation_kind kind, const pol_body *body)
{
  return body->point ? &point_chart : poli_chart_of(kind);
}

int pol_formulation_count(void)
{
  return NUM_CHARTS;
}

const char *pol_formulation_name(pol_formulation_kind kind)
{
  return poli_chart_of(kind) ? charts[kind].name : NULL;
}

const char *pol_formulation_title(pol_formulation_kind kind)
{
  return poli_chart_of(kind) ? charts[kind].title : NULL;
}

pol_status pol_formulation_find(const char *name, pol_formulation_kind *kind)
{
  for (int i = 0; i < NUM_CHARTS; i++)
    if (strcmp(charts[i].name, name) == 0) {
      *kind = (pol_formulation_kind)i;
      return POL_OK;
    }
  return POL_BAD_ARGUMENT;
}
