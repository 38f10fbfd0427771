/* The frames of a flexible body; the formulas are in attached.h. */
#include "formulation/attached.h"

#include <string.h>

#include <polhode/lie.h>

#include "lie/coefficients.h"
#include "lie/small.h"

/* --- the frame -------------------------------------------------------------------------------- */

poli_modes poli_attached_modes(const poli_chart_point *at)
{
  const poli_chart *base = at->place->base;
  return (poli_modes){at->q + base->nq, at->v ? at->v + base->dim : NULL,
                      at->vd ? at->vd + base->dim : NULL};
}

/* out = columns times numbers; 0 for NULL */
static void combine(const double *columns, const double *numbers, int count, double out[3])
{
  memset(out, 0, 3 * sizeof *out);
  for (int k = 0; k < count && numbers; k++) poli_v3_add_scaled(numbers[k], columns + 3 * k, out);
}

/* An interface in the axes of the reference frame. */
typedef struct local {
  double p[3], rate[3], acceleration[3];    /* p, Psi q', Psi q'' */
  double theta[3], spin[3], spin_change[3]; /* Theta q, Theta q', Theta q'' */
  double E[9], T[9];
  double slope[9]; /* d(T theta')/dtheta */
  poli_tangent_coefficients k;
} local;

static void set_local(const poli_chart_point *at, local *a)
{
  const pol_interface *own = at->place->interface;
  const poli_modes modes = poli_attached_modes(at);
  const int n = at->place->flexible->num_modes;
  poli_half_angle half;
  double step[4];
  combine(own->translation, modes.q, n, a->p);
  poli_v3_add(own->position, a->p, a->p);
  combine(own->translation, modes.v, n, a->rate);
  combine(own->translation, modes.vd, n, a->acceleration);
  combine(own->rotation, modes.q, n, a->theta);
  combine(own->rotation, modes.v, n, a->spin);
  combine(own->rotation, modes.vd, n, a->spin_change);
  pol_so3_exp(a->theta, step);
  pol_quat_to_matrix(step, a->E);
  pol_so3_tangent(a->theta, a->T);
  poli_half_angle_set(poli_v3_dot(a->theta, a->theta), &half);
  poli_tangent_coefficients_set(&half, 2, &a->k);
  poli_so3_set_derivative(&a->k, a->theta, a->spin, a->slope);
}

void poli_attached_frame(const poli_chart_point *at, const poli_frame *reference, poli_frame *frame)
{
  const poli_frame *r = reference;
  local a;
  double b[3], c[3], d[3], e[3], turned[3], eta[3];
  set_local(at, &a);
  poli_m3_multiply(r->R, a.E, frame->R);
  poli_m3_apply(r->R, a.p, b);
  poli_v3_add(r->x, b, frame->x);
  /* w = E^T w + T theta', with the derivatives E^T w' + T theta'' and (E^T w) x (T theta') + T'
   * theta' */
  poli_m3_apply_transposed(a.E, r->w, turned);
  poli_m3_apply(a.T, a.spin, eta);
  poli_v3_add(turned, eta, frame->w);
  poli_m3_apply_transposed(a.E, r->wd, b);
  poli_m3_apply(a.T, a.spin_change, c);
  poli_v3_add(b, c, frame->wd);
  poli_m3_apply_transposed(a.E, r->wb, b);
  poli_m3_apply(a.slope, a.spin, c);
  poli_v3_add(b, c, frame->wb);
  poli_v3_add_scaled_cross(1.0, turned, eta, frame->wb);
  /* u + R (w x p + Psi q'), with R (w' x p + Psi q'') and R (w x (w x p) + 2 w x Psi q') */
  poli_v3_cross(r->w, a.p, b);
  poli_v3_cross(r->w, b, d);
  poli_v3_add_scaled_cross(2.0, r->w, a.rate, d);
  poli_v3_add_scaled_cross(1.0, r->wb, a.p, d);
  poli_v3_add(b, a.rate, b);
  poli_v3_cross(r->wd, a.p, c);
  poli_v3_add(c, a.acceleration, c);
  poli_m3_apply(r->R, b, e);
  poli_v3_add(r->u, e, frame->u);
  poli_m3_apply(r->R, c, e);
  poli_v3_add(r->ud, e, frame->ud);
  poli_m3_apply(r->R, d, e);
  poli_v3_add(r->ub, e, frame->ub);
}

static void frame_of(const poli_chart_point *at, poli_frame *frame)
{
  poli_frame reference;
  at->place->base->frame(at, at->place->interface ? &reference : frame);
  if (at->place->interface) poli_attached_frame(at, &reference, frame);
}

poli_chart poli_attached_chart(const poli_chart *base, const pol_flexible_body *body)
{
  poli_chart chart = *base;
  chart.nq += body->num_modes;
  chart.dim += body->num_modes;
  chart.num_modes = body->num_modes;
  chart.direct = 0;
  chart.coordinates = NULL;
  chart.frame = frame_of;
  chart.maps = NULL;
  chart.add_wrench_gradient = NULL;
  return chart;
}

/* --- maps ------------------------------------------------------------------------------------- */

/* d^2(T(theta) a): the derivative of (d(T a)/dtheta) b along c */
static void second_derivative(const local *l, const double a[3], const double b[3],
                              const double c[3], double out[3])
{
  const poli_tangent_coefficients *k = &l->k;
  const double *t = l->theta;
  const double tb = poli_v3_dot(t, b), tc = poli_v3_dot(t, c), bc = poli_v3_dot(b, c);
  double ta[3], tta[3], ba[3], ca[3];
  poli_v3_cross(t, a, ta);
  poli_v3_cross(t, ta, tta);
  poli_v3_cross(b, a, ba);
  poli_v3_cross(c, a, ca);
  for (int i = 0; i < 3; i++)
    out[i] = (k->d11 * tb * tc + k->d1 * bc) * ta[i] + (k->d22 * tb * tc + k->d2 * bc) * tta[i] +
             k->d1 * (tb * ca[i] + tc * ba[i]);
  poli_v3_add_scaled_cross(k->d2 * tb, c, ta, out);
  poli_v3_add_scaled_cross(k->d2 * tb, t, ca, out);
  poli_v3_add_scaled_cross(k->d2 * tc, b, ta, out);
  poli_v3_add_scaled_cross(k->d2 * tc, t, ba, out);
  poli_v3_add_scaled_cross(k->s, b, ca, out);
  poli_v3_add_scaled_cross(k->s, c, ba, out);
}

static void put(double *out, int width, int row, int col, double scale, const double A[9])
{
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) out[(row + i) * width + col + j] = scale * A[3 * i + j];
}

static void put_column(double *out, int width, int row, int col, const double x[3])
{
  for (int i = 0; i < 3; i++) out[(row + i) * width + col] = x[i];
}

/* The columns of the reference frame in A and, if `all` are wanted, d(A z)/dzeta, d(A z' + c)/dzeta
 * and dc/dz. */
static void set_frame_columns(const local *a, const poli_frame *r, int all, int n,
                              double *const out[4])
{
  double skew[9], block[9], turned[9], wd[3], velocity[3], acceleration[3], inner[3], eta[3];
  for (int i = 0; i < 9; i++) turned[i] = a->E[3 * (i % 3) + i / 3];
  put(out[0], n, 0, 0, 1.0, turned);
  poli_m3_skew(a->p, skew);
  poli_m3_multiply(r->R, skew, block);
  put(out[0], n, 3, 0, -1.0, block);
  for (int i = 0; i < 3; i++) out[0][(3 + i) * n + 3 + i] = 1.0;
  if (!all) return;
  /* -R (...)~ of the velocity and of the acceleration relative to the reference point */
  poli_v3_add(r->wd, r->wb, wd);
  poli_v3_cross(r->w, a->p, inner);
  poli_v3_add(inner, a->rate, velocity);
  poli_v3_cross(wd, a->p, acceleration);
  poli_v3_add_scaled_cross(1.0, r->w, inner, acceleration);
  poli_v3_add_scaled_cross(2.0, r->w, a->rate, acceleration);
  poli_v3_add(acceleration, a->acceleration, acceleration);
  poli_m3_skew(velocity, skew);
  poli_m3_multiply(r->R, skew, block);
  put(out[1], n, 3, 0, -1.0, block);
  poli_m3_skew(acceleration, skew);
  poli_m3_multiply(r->R, skew, block);
  put(out[2], n, 3, 0, -1.0, block);
  /* by w: -(T theta')~ E^T and R ((w . p) I + w p^T - 2 p w^T - 2 (Psi q')~) */
  poli_m3_apply(a->T, a->spin, eta);
  poli_m3_skew(eta, skew);
  poli_m3_multiply(skew, turned, block);
  put(out[3], n, 0, 0, -1.0, block);
  poli_m3_diagonal(poli_v3_dot(r->w, a->p), skew);
  poli_m3_add_outer(1.0, r->w, a->p, skew);
  poli_m3_add_outer(-2.0, a->p, r->w, skew);
  poli_m3_add_skew(-2.0, a->rate, skew);
  poli_m3_multiply(r->R, skew, block);
  put(out[3], n, 3, 0, 1.0, block);
}

/* The columns of a mode with the shapes psi and theta. */
static void set_mode_columns(const local *a, const poli_frame *r, const double psi[3],
                             const double theta[3], int all, int n, int col, double *const out[4])
{
  double t[3], W[3], Wd[3], wd[3], eta[3], change[3], x[3], y[3], slope[9], global[3];
  poli_m3_apply(a->T, theta, t);
  put_column(out[0], n, 0, col, t);
  poli_m3_apply(r->R, psi, global);
  put_column(out[0], n, 3, col, global);
  if (!all) return;
  poli_v3_add(r->wd, r->wb, wd);
  poli_m3_apply_transposed(a->E, r->w, W);
  poli_m3_apply_transposed(a->E, wd, Wd);
  poli_m3_apply(a->T, a->spin, eta);
  poli_m3_apply(a->slope, theta, change); /* of T theta' */
  /* A z: W x t + d(T theta') */
  poli_v3_copy(change, x);
  poli_v3_add_scaled_cross(1.0, W, t, x);
  put_column(out[1], n, 0, col, x);
  /* A z' + c: (E^T w') x t + (W x t) x eta + W x d(T theta') + d(T theta'') + d(T' theta') */
  second_derivative(a, a->spin, a->spin, theta, x);
  poli_so3_set_derivative(&a->k, a->theta, a->spin_change, slope);
  poli_m3_apply(slope, theta, y);
  poli_v3_add(x, y, x);
  poli_v3_add_scaled_cross(1.0, Wd, t, x);
  poli_v3_cross(W, t, y);
  poli_v3_add_scaled_cross(1.0, y, eta, x);
  poli_v3_add_scaled_cross(1.0, W, change, x);
  put_column(out[2], n, 0, col, x);
  /* c by q': W x t + d(T theta') + (d(T Theta_k)/dtheta) theta' */
  poli_so3_set_derivative(&a->k, a->theta, theta, slope);
  poli_m3_apply(slope, a->spin, x);
  poli_v3_add(x, change, x);
  poli_v3_add(x, y, x);
  put_column(out[3], n, 0, col, x);
  /* R (w x psi); R (w' x psi + w x (w x psi)); 2 R (w x psi) */
  poli_v3_cross(r->w, psi, x);
  poli_m3_apply(r->R, x, global);
  put_column(out[1], n, 3, col, global);
  poli_v3_scale(2.0, global, global);
  put_column(out[3], n, 3, col, global);
  poli_v3_cross(wd, psi, y);
  poli_v3_add_scaled_cross(1.0, r->w, x, y);
  poli_m3_apply(r->R, y, global);
  put_column(out[2], n, 3, col, global);
}

/* out[i][j] += A[i][k] B[k][j] for the six rows of frames; B has the columns of the base chart */
static void add_product(const double *A, int n, const poli_map B, int cols, double *out, int width)
{
  for (int i = 0; i < 6; i++)
    for (int k = 0; k < 6; k++)
      for (int j = 0; j < cols; j++) out[i * width + j] += A[i * n + k] * B[k][j];
}

void poli_attached_maps(const poli_chart_point *at, const poli_frame *reference,
                        const poli_chart_maps *base, int all, double *maps, double *workspace)
{
  const poli_chart_place *place = at->place;
  const int modes = place->flexible->num_modes, cols = place->base->dim, dim = cols + modes;
  const int n = 6 + modes, count = all ? 4 : 1;
  double *start = base ? workspace : maps;
  double *const of_z[4] = {start, start + 6 * n, start + 12 * n, start + 18 * n};
  memset(start, 0, 6 * (size_t)count * (size_t)n * sizeof *start);
  if (place->interface) {
    local a;
    set_local(at, &a);
    set_frame_columns(&a, reference, all, n, of_z);
    for (int k = 0; k < modes; k++)
      set_mode_columns(&a, reference, place->interface->translation + 3 * k,
                       place->interface->rotation + 3 * k, all, n, 6 + k, of_z);
  } else {
    for (int i = 0; i < 6; i++) of_z[0][i * n + i] = 1.0;
  }
  if (!base) return;
  memset(maps, 0, 6 * (size_t)count * (size_t)dim * sizeof *maps);
  for (int m = 0; m < count; m++) {
    add_product(of_z[m], n, base->L, cols, maps + 6 * m * dim, dim);
    for (int i = 0; i < 6; i++)
      memcpy(maps + (6 * m + i) * dim + cols, of_z[m] + i * n + 6, (size_t)modes * sizeof *maps);
  }
  if (!all) return;
  add_product(of_z[0], n, base->N1, cols, maps + 6 * dim, dim);
  add_product(of_z[3], n, base->N1, cols, maps + 12 * dim, dim);
  add_product(of_z[0], n, base->N2, cols, maps + 12 * dim, dim);
  add_product(of_z[0], n, base->N3, cols, maps + 18 * dim, dim);
}

/* A^T r: torque E tau + p x g, force f, mode k Theta_k . T^T tau + Psi_k . g, with r = (tau, f) and
 * g = R^T f */
void poli_attached_pull_back(const poli_chart_point *at, const poli_frame *reference,
                             const poli_chart_maps *base, const double r[6], double *out)
{
  const pol_interface *own = at->place->interface;
  const int cols = at->place->base->dim;
  double moved[6], g[3], turned[3];
  memcpy(moved, r, sizeof moved);
  if (own) {
    local a;
    set_local(at, &a);
    poli_m3_apply_transposed(reference->R, r + 3, g);
    poli_m3_apply(a.E, r, moved);
    poli_v3_add_scaled_cross(1.0, a.p, g, moved);
    poli_m3_apply_transposed(a.T, r, turned);
    for (int k = 0; k < at->place->flexible->num_modes; k++)
      out[cols + k] +=
          poli_v3_dot(own->rotation + 3 * k, turned) + poli_v3_dot(own->translation + 3 * k, g);
  }
  for (int j = 0; j < cols; j++)
    for (int i = 0; i < 6; i++) out[j] += (base ? base->L[i][j] : (double)(i == j)) * moved[i];
}

/* --- matrices --------------------------------------------------------------------------------- */

void poli_attached_add_square(const poli_chart_place *place, const poli_chart_maps *base,
                              const double *X, poli_map_name right, double *values, int stride,
                              double *workspace)
{
  const int modes = place->flexible->num_modes, n = 6 + modes, own = place->base->dim;
  const int cols = right == POLI_L ? own + modes : own;
  if (!base) {
    for (int j = 0; j < n && right == POLI_L; j++)
      for (int i = 0; i < n; i++) values[i + stride * j] += X[i * n + j];
    return;
  }
  const double(*map)[POLI_CHART_MAX_DIM] = (&base->L)[right];
  for (int j = 0; j < cols; j++) { /* one column of X Z, then Z^T */
    for (int i = 0; i < n; i++) {
      double sum = j < own ? 0.0 : X[i * n + 6 + j - own];
      for (int k = 0; k < 6 && j < own; k++) sum += X[i * n + k] * map[k][j];
      workspace[i] = sum;
    }
    for (int i = 0; i < own; i++)
      for (int k = 0; k < 6; k++) values[i + stride * j] += base->L[k][i] * workspace[k];
    for (int i = 0; i < modes; i++) values[own + i + stride * j] += workspace[6 + i];
  }
}

/* The derivative of A^T r by zeta; r = (tau, f), g = R^T f:
 *     torque  E tau + p x g,     mode k  Theta_k . T^T tau + Psi_k . g */
static void set_gradient(const poli_chart_point *at, const poli_frame *reference, const double r[6],
                         double *G)
{
  const pol_interface *own = at->place->interface;
  const int modes = at->place->flexible->num_modes, n = 6 + modes;
  double g[3], block[9] = {0.0}, opposite[3], slope[9], t[3], x[3], y[3];
  local a;
  memset(G, 0, (size_t)n * (size_t)n * sizeof *G);
  set_local(at, &a);
  poli_m3_apply_transposed(reference->R, r + 3, g);
  poli_m3_add_skew_product(1.0, a.p, g, block);
  put(G, n, 0, 0, 1.0, block);
  /* T(theta)^T = T(-theta): d(T^T tau) = -slope at -theta */
  poli_v3_scale(-1.0, a.theta, opposite);
  poli_so3_set_derivative(&a.k, opposite, r, slope);
  for (int k = 0; k < modes; k++) {
    const double *psi = own->translation + 3 * k, *theta = own->rotation + 3 * k;
    /* E (T Theta_k x tau) + Psi_k x g */
    poli_m3_apply(a.T, theta, t);
    poli_v3_cross(t, r, x);
    poli_m3_apply(a.E, x, y);
    poli_v3_cross(psi, g, x);
    for (int j = 0; j < 3; j++) G[(6 + k) * n + j] = x[j]; /* Psi_k . g~ dphi */
    poli_v3_add(x, y, x);
    put_column(G, n, 0, 6 + k, x);
    poli_m3_apply(slope, theta, x);
    for (int i = 0; i < modes; i++) G[(6 + i) * n + 6 + k] = -poli_v3_dot(own->rotation + 3 * i, x);
  }
}

void poli_attached_add_gradient(const poli_chart_point *at, const poli_frame *reference,
                                const poli_frame *frame, const poli_chart_maps *base,
                                const double r[6], double *values, int stride, double *square,
                                double *workspace)
{
  const poli_chart_place *place = at->place;
  double moved[6];
  memcpy(moved, r, sizeof moved);
  if (place->interface) {
    set_gradient(at, reference, r, square);
    poli_attached_add_square(place, base, square, POLI_L, values, stride, workspace);
    /* the wrench on the reference frame: E tau + p x g, f */
    double global[3], arm[3];
    poli_m3_apply(frame->R, r, global);
    poli_v3_subtract(frame->x, reference->x, arm);
    poli_v3_add_scaled_cross(1.0, arm, r + 3, global);
    poli_m3_apply_transposed(reference->R, global, moved);
  }
  if (!base) return;
  poli_map G = {{0.0}};
  place->base->add_wrench_gradient(at, reference, moved, G);
  for (int j = 0; j < place->base->dim; j++)
    for (int i = 0; i < place->base->dim; i++) values[i + stride * j] += G[i][j];
}
