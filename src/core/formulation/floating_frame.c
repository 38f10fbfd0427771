/* The inertia of a flexible body; the formulas are in floating_frame.h. */
#include "formulation/floating_frame.h"

#include <string.h>

#include "lie/small.h"
#include "mechanism/flexible.h"

/* sum over modes of the first integrals times numbers; 0 for NULL */
static void first_of(const pol_flexible_body *body, const double *numbers, double sum[3])
{
  memset(sum, 0, 3 * sizeof *sum);
  for (int k = 0; k < body->num_modes && numbers; k++)
    poli_v3_add_scaled(numbers[k], body->first + 3 * (k + 1), sum);
}

/* sum over modes of second_al times numbers, plus the integral with phi_0 if `whole`; 0 for NULL */
static void second_of(const pol_flexible_body *body, int a, const double *numbers, int whole,
                      double sum[9])
{
  const double *S = poli_flexible_second(body, a, 0);
  for (int i = 0; i < 9; i++) sum[i] = whole ? S[i] : 0.0;
  for (int l = 0; l < body->num_modes && numbers; l++)
    for (int i = 0; i < 9; i++) sum[i] += numbers[l] * S[9 * (l + 1) + i];
}

/* int phi x psi of S = int phi psi^T */
static void axial(const double S[9], double out[3])
{
  out[0] = S[5] - S[7];
  out[1] = S[6] - S[2];
  out[2] = S[1] - S[3];
}

/* out += scale (tr(S) w - S w), or with the transpose of S */
static void add_moment(double scale, const double S[9], int transposed, const double w[3],
                       double out[3])
{
  double Sw[3];
  if (transposed)
    poli_m3_apply_transposed(S, w, Sw);
  else
    poli_m3_apply(S, w, Sw);
  const double trace = S[0] + S[4] + S[8];
  for (int i = 0; i < 3; i++) out[i] += scale * (trace * w[i] - Sw[i]);
}

/* s, s' and J w */
typedef struct bulk {
  double s[3], rate[3];
  double J[9];
} bulk;

static void set_bulk(const pol_flexible_body *body, poli_modes modes, bulk *b)
{
  first_of(body, modes.q, b->s);
  poli_v3_add(b->s, body->first, b->s);
  first_of(body, modes.v, b->rate);
  memset(b->J, 0, sizeof b->J);
  for (int a = 0; a <= body->num_modes; a++) {
    const double amplitude = a == 0 ? 1.0 : modes.q[a - 1];
    double Q[9];
    second_of(body, a, modes.q, 1, Q);
    for (int i = 0; i < 9; i++)
      b->J[i] += amplitude * ((i % 4 == 0 ? Q[0] + Q[4] + Q[8] : 0.0) - Q[i]);
  }
}

static double row_times(const double *matrix, int n, int row, const double *x)
{
  double sum = 0.0;
  for (int j = 0; j < n && x; j++) sum += matrix[row * n + j] * x[j];
  return sum;
}

void poli_floating_wrench(const pol_flexible_body *body, const double gravity[3],
                          const poli_frame *frame, poli_modes modes, unsigned parts,
                          double wrench[6], double *modal)
{
  const int n = body->num_modes;
  const double *w = frame->w;
  double wd[3] = {0.0}, a[3] = {0.0}, turned[3], momentum[3], b[3] = {0.0}, local[3];
  bulk whole;
  set_bulk(body, modes, &whole);
  /* accelerations of the frame that these parts have, and x'' - g */
  if (parts & POL_INERTIA) {
    poli_v3_add(wd, frame->wd, wd);
    poli_v3_add(a, frame->ud, a);
  }
  if (parts & POL_FORCE) {
    poli_v3_add(wd, frame->wb, wd);
    poli_v3_add(a, frame->ub, a);
    poli_v3_subtract(a, gravity, a);
  }
  poli_m3_apply_transposed(frame->R, a, turned);
  /* m a + R b, s x R^T a + J w' */
  poli_v3_add_scaled(body->mass, a, wrench + 3);
  poli_v3_add_scaled_cross(1.0, wd, whole.s, b);
  poli_v3_add_scaled_cross(1.0, whole.s, turned, wrench);
  poli_m3_apply(whole.J, wd, momentum);
  poli_v3_add(wrench, momentum, wrench);
  if (parts & POL_INERTIA) {
    first_of(body, modes.vd, local);
    poli_v3_add(b, local, b);
  }
  if (parts & POL_FORCE) {
    poli_v3_cross(w, whole.s, local);
    poli_v3_add_scaled_cross(1.0, w, local, b);
    poli_v3_add_scaled_cross(2.0, w, whole.rate, b);
    poli_m3_apply(whole.J, w, momentum);
    poli_v3_add_scaled_cross(1.0, w, momentum, wrench);
  }
  poli_m3_apply(frame->R, b, local);
  poli_v3_add(wrench + 3, local, wrench + 3);
  for (int k = 0; k < n; k++) {
    const double *F = body->first + 3 * (k + 1);
    double Q[9], rates[9], H[3], swept[3];
    second_of(body, k + 1, modes.q, 1, Q);
    axial(Q, H); /* minus int rho x phi_k */
    modal[k] += poli_v3_dot(F, turned) - poli_v3_dot(H, wd);
    if (parts & POL_INERTIA) {
      if (modes.vd) poli_v3_add_scaled(-modes.vd[k], H, wrench);
      modal[k] += row_times(body->inertia, n, k, modes.vd);
    }
    if (!(parts & POL_FORCE)) continue;
    memset(local, 0, sizeof local);
    add_moment(1.0, Q, 0, w, local);
    second_of(body, k + 1, modes.v, 0, rates);
    axial(rates, swept); /* int phi_k x rho' */
    modal[k] += -poli_v3_dot(w, local) - 2.0 * poli_v3_dot(w, swept) +
                row_times(body->stiffness, n, k, modes.q) + row_times(body->damping, n, k, modes.v);
    /* P^T = sum q_k' Q_k */
    if (modes.v) add_moment(2.0 * modes.v[k], Q, 0, w, wrench);
  }
}

/* --- matrices --------------------------------------------------------------------------------- */

/* out[row + i][col + j] += scale A */
static void put(double *out, int n, int row, int col, double scale, const double A[9])
{
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) out[(row + i) * n + col + j] += scale * A[3 * i + j];
}

static void put_column(double *out, int n, int row, int col, const double x[3])
{
  for (int i = 0; i < 3; i++) out[(row + i) * n + col] += x[i];
}

static void put_row(double *out, int n, int row, int col, const double x[3])
{
  for (int j = 0; j < 3; j++) out[row * n + col + j] += x[j];
}

/* The blocks of the frame itself. */
static void add_frame_blocks(const pol_flexible_body *body, const double gravity[3],
                             const poli_frame *frame, poli_modes modes, double *M, double *D,
                             double *K)
{
  const int n = 6 + body->num_modes;
  const double *R = frame->R, *w = frame->w;
  bulk whole;
  double skew[9], block[9], turned[9], local[3], b[3], wd[3], a[3], momentum[3];
  set_bulk(body, modes, &whole);
  poli_m3_skew(whole.s, skew);
  if (M) {
    put(M, n, 0, 0, 1.0, whole.J);
    for (int i = 0; i < 3; i++) M[(3 + i) * n + 3 + i] = body->mass;
    poli_m3_multiply(R, skew, block); /* -R s~, and s~ R^T = (-R s~)^T */
    put(M, n, 3, 0, -1.0, block);
    for (int i = 0; i < 9; i++) turned[i] = block[3 * (i % 3) + i / 3];
    put(M, n, 0, 3, -1.0, turned);
  }
  /* torque by w: w~ J - (J w)~ + 2 (tr(P) I - P^T), the last with the modes */
  poli_m3_skew(w, skew);
  poli_m3_multiply(skew, whole.J, block);
  put(D, n, 0, 0, 1.0, block);
  poli_m3_apply(whole.J, w, momentum);
  poli_m3_skew(momentum, skew);
  put(D, n, 0, 0, -1.0, skew);
  /* force by w: R ((w . s) I + w s^T - 2 s w^T - 2 s'~) */
  poli_m3_diagonal(poli_v3_dot(w, whole.s), block);
  poli_m3_add_outer(1.0, w, whole.s, block);
  poli_m3_add_outer(-2.0, whole.s, w, block);
  poli_m3_add_skew(-2.0, whole.rate, block);
  poli_m3_multiply(R, block, turned);
  put(D, n, 3, 0, 1.0, turned);
  if (!K) return;
  /* by dphi: -R b~ in the force, s~ (R^T a)~ in the torque */
  poli_v3_add(frame->wd, frame->wb, wd);
  poli_v3_add(frame->ud, frame->ub, a);
  poli_v3_subtract(a, gravity, a);
  poli_v3_cross(wd, whole.s, b);
  poli_v3_cross(w, whole.s, local);
  poli_v3_add_scaled_cross(1.0, w, local, b);
  poli_v3_add_scaled_cross(2.0, w, whole.rate, b);
  first_of(body, modes.vd, local);
  poli_v3_add(b, local, b);
  poli_m3_skew(b, skew);
  poli_m3_multiply(R, skew, block);
  put(K, n, 3, 0, -1.0, block);
  poli_m3_apply_transposed(R, a, local);
  memset(block, 0, sizeof block);
  poli_m3_add_skew_product(1.0, whole.s, local, block);
  put(K, n, 0, 0, 1.0, block);
}

/* The blocks between the frame and mode k. */
static void add_mode_blocks(const pol_flexible_body *body, const double gravity[3],
                            const poli_frame *frame, poli_modes modes, int k, double *M, double *D,
                            double *K)
{
  const int n = 6 + body->num_modes, at = 6 + k;
  const double *R = frame->R, *w = frame->w, *F = body->first + 3 * (k + 1);
  double Q[9], rates[9], H[3], swept[3], local[3], turned[3], slope[3] = {0.0};
  second_of(body, k + 1, modes.q, 1, Q);
  axial(Q, H);
  poli_v3_scale(-1.0, H, H);
  second_of(body, k + 1, modes.v, 0, rates);
  axial(rates, swept);
  if (M) {
    poli_m3_apply(R, F, turned);
    put_column(M, n, 0, at, H);
    put_row(M, n, at, 0, H);
    put_column(M, n, 3, at, turned);
    put_row(M, n, at, 3, turned);
  }
  /* (dJ/dq_k) w = (2 tr(Q) I - Q - Q^T) w */
  add_moment(1.0, Q, 0, w, slope);
  add_moment(1.0, Q, 1, w, slope);
  /* by w: -dJ w - 2 int phi_k x rho' of the mode, and 2 q_k' (tr(Q) I - Q) of the torque */
  for (int i = 0; i < 3; i++) D[at * n + i] += -slope[i] - 2.0 * swept[i];
  for (int i = 0; i < 3 && modes.v; i++)
    for (int j = 0; j < 3; j++)
      D[i * n + j] += 2.0 * modes.v[k] * ((i == j ? Q[0] + Q[4] + Q[8] : 0.0) - Q[3 * i + j]);
  /* by q_k': 2 (tr(Q) I - Q) w of the torque, 2 R (w x F) of the force */
  memset(local, 0, sizeof local);
  add_moment(2.0, Q, 0, w, local);
  put_column(D, n, 0, at, local);
  poli_v3_cross(w, F, local);
  poli_m3_apply(R, local, turned);
  poli_v3_scale(2.0, turned, turned);
  put_column(D, n, 3, at, turned);
  if (!K) return;
  double wd[3], a[3], column[3], crossed[3];
  poli_v3_add(frame->wd, frame->wb, wd);
  poli_v3_add(frame->ud, frame->ub, a);
  poli_v3_subtract(a, gravity, a);
  poli_m3_apply_transposed(R, a, turned);
  /* the mode by dphi: F . (R^T a)~ dphi = (F x R^T a) . dphi */
  poli_v3_cross(F, turned, crossed);
  put_row(K, n, at, 0, crossed);
  /* the torque by q_k: F x R^T a + dJ w' + w x dJ w + 2 (tr(P_k) I - P_k^T) w + int phi_k x rho''
   */
  poli_v3_copy(crossed, column);
  add_moment(1.0, Q, 0, wd, column);
  add_moment(1.0, Q, 1, wd, column);
  poli_v3_add_scaled_cross(1.0, w, slope, column);
  add_moment(2.0, rates, 1, w, column);
  second_of(body, k + 1, modes.vd, 0, rates);
  axial(rates, swept);
  poli_v3_add(column, swept, column);
  put_column(K, n, 0, at, column);
  /* the force by q_k: R (w' x F + w x (w x F)) */
  poli_v3_cross(wd, F, column);
  poli_v3_add_scaled_cross(1.0, w, local, column);
  poli_m3_apply(R, column, turned);
  put_column(K, n, 3, at, turned);
}

void poli_floating_matrices(const pol_flexible_body *body, const double gravity[3],
                            const poli_frame *frame, poli_modes modes, double *M, double *D,
                            double *K)
{
  const int modes_count = body->num_modes, n = 6 + modes_count;
  const size_t size = (size_t)n * (size_t)n * sizeof *D;
  double wd[3];
  if (M) memset(M, 0, size);
  if (K) memset(K, 0, size);
  memset(D, 0, size);
  add_frame_blocks(body, gravity, frame, modes, M, D, K);
  poli_v3_add(frame->wd, frame->wb, wd);
  for (int k = 0; k < modes_count; k++) {
    add_mode_blocks(body, gravity, frame, modes, k, M, D, K);
    for (int l = 0; l < modes_count; l++) {
      const double *S = poli_flexible_second(body, k + 1, l + 1), *w = frame->w;
      const int from = k * modes_count + l, to = (6 + k) * n + 6 + l;
      double swept[3], local[3] = {0.0};
      axial(S, swept); /* int phi_k x phi_l */
      if (M) M[to] = body->inertia[from];
      D[to] = -2.0 * poli_v3_dot(w, swept) + body->damping[from];
      if (!K) continue;
      add_moment(1.0, S, 0, w, local);
      K[to] = -poli_v3_dot(swept, wd) - poli_v3_dot(w, local) + body->stiffness[from];
    }
  }
}

/* --- energy and momentum ---------------------------------------------------------------------- */

/* What the velocities of frame and modes make: R^T of the linear momentum, and the angular momentum
 * about the reference point, both in axes of the frame. */
static void local_momenta(const pol_flexible_body *body, const poli_frame *frame, poli_modes modes,
                          double linear[3], double angular[3])
{
  bulk whole;
  double velocity[3];
  set_bulk(body, modes, &whole);
  poli_m3_apply_transposed(frame->R, frame->u, velocity);
  poli_v3_scale(body->mass, velocity, linear);
  poli_v3_add_scaled_cross(1.0, frame->w, whole.s, linear);
  poli_v3_add(linear, whole.rate, linear);
  poli_m3_apply(whole.J, frame->w, angular);
  poli_v3_add_scaled_cross(1.0, whole.s, velocity, angular);
  for (int k = 0; k < body->num_modes && modes.v; k++) {
    double Q[9], H[3];
    second_of(body, k + 1, modes.q, 1, Q);
    axial(Q, H);
    poli_v3_add_scaled(-modes.v[k], H, angular);
  }
}

/* (w . angular + u . linear + q' . modal) / 2 with modal = F^T R^T u + H^T w + m q' */
double poli_floating_kinetic(const pol_flexible_body *body, const poli_frame *frame,
                             poli_modes modes)
{
  double linear[3], angular[3], velocity[3];
  local_momenta(body, frame, modes, linear, angular);
  poli_m3_apply_transposed(frame->R, frame->u, velocity);
  double twice = poli_v3_dot(frame->w, angular) + poli_v3_dot(velocity, linear);
  for (int k = 0; k < body->num_modes && modes.v; k++) {
    double Q[9], H[3];
    second_of(body, k + 1, modes.q, 1, Q);
    axial(Q, H);
    twice +=
        modes.v[k] * (poli_v3_dot(body->first + 3 * (k + 1), velocity) - poli_v3_dot(H, frame->w) +
                      row_times(body->inertia, body->num_modes, k, modes.v));
  }
  return 0.5 * twice;
}

double poli_floating_potential(const pol_flexible_body *body, const double gravity[3],
                               const poli_frame *frame, poli_modes modes)
{
  double s[3], centre[3], energy;
  first_of(body, modes.q, s);
  poli_v3_add(s, body->first, s);
  poli_m3_apply(frame->R, s, centre);
  poli_v3_add_scaled(body->mass, frame->x, centre);
  energy = -poli_v3_dot(gravity, centre);
  for (int k = 0; k < body->num_modes; k++)
    energy += 0.5 * modes.q[k] * row_times(body->stiffness, body->num_modes, k, modes.q);
  return energy;
}

double poli_floating_dissipation(const pol_flexible_body *body, poli_modes modes)
{
  double power = 0.0;
  for (int k = 0; k < body->num_modes && modes.v; k++)
    power += modes.v[k] * row_times(body->damping, body->num_modes, k, modes.v);
  return power;
}

void poli_floating_momentum(const pol_flexible_body *body, const poli_frame *frame,
                            poli_modes modes, double linear[3], double angular[3])
{
  double local[2][3];
  local_momenta(body, frame, modes, local[0], local[1]);
  poli_m3_apply(frame->R, local[0], linear);
  poli_m3_apply(frame->R, local[1], angular);
  poli_v3_add_scaled_cross(1.0, frame->x, linear, angular);
}
