/* Force elements that see rigid frames, in directors (directors.h): bushings and callbacks, which
 * are no polynomials.  Their frame has the rotation R nearest to the directors (Higham 1986: R <-
 * (R + R^-T)/2), whose variation is dphi = R^T sum d_i x dd_i/2 where the directors are
 * orthonormal.  With y = L q' the velocities of that frame and N1 = d(L q')/dq their terms are
 * those of evaluate.c,
 *
 *     balance = L^T W,   damping = L^T D_c L,   stiffness = L^T (K_c L + D_c N1) + dL^T/dq W,
 *
 * with the sign that forces have there.
 */
#include <string.h>

#include "formulation/directors.h"
#include "lie/small.h"

/* R becomes the nearest rotation; directors that are orthonormal to 0.1 need four rounds. */
static void make_rotation(double R[9])
{
  for (int round = 0; round < 4; round++) {
    double row[3][3];
    for (int k = 0; k < 3; k++) poli_v3_cross(R + 3 * ((k + 1) % 3), R + 3 * ((k + 2) % 3), row[k]);
    double determinant = poli_v3_dot(R, row[0]);
    for (int k = 0; k < 3; k++)
      for (int i = 0; i < 3; i++) R[3 * k + i] = 0.5 * (R[3 * k + i] + row[k][i] / determinant);
  }
}

void poli_directors_make_rigid(poli_frame *frame)
{
  double spin[3];
  poli_m3_apply(frame->R, frame->w, spin); /* its own rotation back, to the order of the defect */
  make_rotation(frame->R);
  poli_m3_apply_transposed(frame->R, spin, frame->w);
}

/* What one body sees of L and N1: six rows, three columns for each of its vectors. */
typedef struct rigid_maps {
  poli_frame frame;
  double L[POLI_VECTORS][6][3], N1[POLI_VECTORS][6][3];
} rigid_maps;

static void set_rigid_maps(const pol_formulation *f, const pol_point *at, int index,
                           const poli_pair *bodies, int b, rigid_maps *maps)
{
  memset(maps, 0, sizeof *maps);
  maps->frame = *poli_ground_frame();
  if (index == POL_GROUND) return;
  poli_formulation_frame(f, at->q, at->v, index, &maps->frame);
  for (int i = 0; i < 3; i++) maps->L[POLI_CENTRE][3 + i][i] = 1.0;
  if (!bodies->body[b]->chart->polynomial) return;
  const double *R = maps->frame.R;
  double spin[3] = {0.0};
  make_rotation(maps->frame.R);
  for (int k = 0; k < 3; k++)
    poli_v3_add_scaled_cross(0.5, bodies->vector[b][k], bodies->rate[b][k], spin);
  poli_m3_apply_transposed(R, spin, maps->frame.w);
  for (int k = 0; k < 3; k++) {
    double skew[9], left[9], moving[9], turning[9];
    poli_m3_skew(bodies->vector[b][k], skew);
    poli_m3_multiply_transposed(R, skew, left);
    poli_m3_skew(bodies->rate[b][k], skew);
    poli_m3_multiply_transposed(R, skew, moving);
    poli_m3_skew(maps->frame.w, skew);
    poli_m3_multiply(skew, left, turning);
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) {
        maps->L[k][i][j] = 0.5 * left[3 * i + j];
        maps->N1[k][i][j] = 0.5 * (turning[3 * i + j] - moving[3 * i + j]);
      }
  }
}

/* The maps of one body. */
static void set_maps_of(const pol_formulation *f, const pol_point *at, int body, rigid_maps *maps)
{
  const int ends[2] = {body, POL_GROUND};
  poli_pair pair;
  poli_pair_place(f, at->q, at->v, ends, &pair);
  set_rigid_maps(f, at, body, &pair, 0, maps);
}

void poli_directors_rigid_frame(const pol_formulation *formulation, const pol_point *at, int body,
                                poli_frame *frame)
{
  rigid_maps maps;
  set_maps_of(formulation, at, body, &maps);
  *frame = maps.frame;
}

void poli_directors_add_row(const pol_formulation *formulation, const pol_point *at, int body,
                            const double row[6], int turned, double *out)
{
  rigid_maps maps;
  set_maps_of(formulation, at, body, &maps);
  for (int k = 0; k < POLI_VECTORS; k++) {
    double(*map)[3] = turned ? maps.N1[k] : maps.L[k];
    for (int i = 0; i < 6; i++)
      for (int j = 0; j < 3; j++) out[3 * k + j] += row[i] * map[i][j];
  }
}

/* block += A^T K B, K 6 x 6 with 12 numbers a row */
static void add_sandwich(double A[6][3], const double *K, double B[6][3], double block[9])
{
  for (int r = 0; r < 6; r++)
    for (int c = 0; c < 6; c++) {
      double entry = K[12 * r + c];
      if (entry == 0.0) continue;
      for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) block[3 * i + j] += A[r][i] * entry * B[c][j];
    }
}

/* The derivative of L^T at a constant torque tau: of t x d_k / 2 with t = R tau. */
static void add_turned_torque(const poli_pair *bodies, int b, int k, int m, rigid_maps *maps,
                              const double tau[3], double block[9])
{
  const double *R = maps->frame.R;
  double t[3], local[9], tau_skew[9], turned[9], skew[9], last[9];
  if (k == POLI_CENTRE || m == POLI_CENTRE) return;
  for (int i = 0; i < 9; i++) local[i] = maps->L[m][i / 3][i % 3];
  poli_m3_apply(R, tau, t);
  poli_m3_skew(tau, tau_skew);
  poli_m3_multiply(tau_skew, local, turned);
  poli_m3_multiply(R, turned, local);
  poli_m3_skew(bodies->vector[b][k], skew);
  poli_m3_multiply(skew, local, last);
  for (int i = 0; i < 9; i++) block[i] += 0.5 * last[i];
  if (k == m) poli_m3_add_skew(0.5, t, block);
}

static void subtract_rigid_blocks(const poli_placed_force *force, double share, unsigned want,
                                  const pol_terms *out, const poli_pair *bodies, rigid_maps maps[2],
                                  double wrench[2][6], poli_force_blocks *blocks)
{
  for (int b = 0; b < 2; b++)
    for (int k = 0; k < POLI_VECTORS; k++)
      for (int c = 0; c < 2; c++)
        for (int m = 0; m < POLI_VECTORS; m++) {
          const double *K = &blocks->by_position[6 * b][6 * c];
          const double *D = &blocks->by_velocity[6 * b][6 * c];
          double stiffness[9] = {0.0}, damping[9] = {0.0};
          if (poli_vector_offset(bodies->body[b], k) < 0 ||
              poli_vector_offset(bodies->body[c], m) < 0)
            continue;
          add_sandwich(maps[b].L[k], D, maps[c].L[m], damping);
          add_sandwich(maps[b].L[k], K, maps[c].L[m], stiffness);
          add_sandwich(maps[b].L[k], D, maps[c].N1[m], stiffness);
          if (b == c) add_turned_torque(bodies, b, k, m, &maps[b], wrench[b], stiffness);
          if (want & POL_DAMPING)
            poli_pair_add_block(bodies, force->coupling, b, k, c, m, -1.0, damping, out->damping);
          if (want & POL_STIFFNESS)
            poli_pair_add_block(bodies, force->coupling, b, k, c, m, -share, stiffness,
                                out->stiffness);
        }
}

pol_status poli_directors_rigid_force(const pol_formulation *formulation,
                                      const poli_placed_force *force, const pol_point *at,
                                      double share, unsigned want, const pol_terms *out)
{
  const poli_force_kernel *kernel = &force->kernel;
  poli_pair pair;
  const poli_pair *bodies = &pair;
  rigid_maps maps[2];
  double wrench[2][6];
  poli_force_blocks blocks;
  poli_pair_place(formulation, at->q, at->v, kernel->body, &pair);
  for (int b = 0; b < 2; b++) set_rigid_maps(formulation, at, kernel->body[b], bodies, b, &maps[b]);
  pol_status status = poli_force_wrenches(kernel, at->t, &maps[0].frame, &maps[1].frame, wrench);
  if (status) return status;
  for (int b = 0; b < 2; b++)
    for (int k = 0; k < POLI_VECTORS && want & POL_FORCE; k++) {
      int offset = poli_vector_offset(bodies->body[b], k);
      for (int i = 0; offset >= 0 && i < 18; i++)
        out->balance[bodies->body[b]->v + offset + i % 3] -=
            maps[b].L[k][i / 3][i % 3] * wrench[b][i / 3];
    }
  if (!(want & (POL_STIFFNESS | POL_DAMPING))) return POL_OK;
  status = poli_force_derivatives(kernel, at->t, &maps[0].frame, &maps[1].frame, &blocks);
  if (!status) subtract_rigid_blocks(force, share, want, out, bodies, maps, wrench, &blocks);
  return status;
}
