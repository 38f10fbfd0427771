/* The beam element; see beam.h for the law and beam_strain.c for the deformations.
 *
 * A frame's motion (dphi in body axes, dx global) moves its marker, with the point p and the axes
 * A, by h = S (dphi, dx),
 *
 *     S = ( A^T        0        )       wrench = -S^T B^T f,
 *         ( -A^T p~    A^T R^T  )
 *
 * and with W = d(S y)/dq for constant velocities y of the frames,
 *
 *     d(B^T f)/dh = B^T ((K/L) B + (C/L) D) + G,     d(B^T f)/d(S y) = B^T (C/L) B,
 *
 * G and D of beam.h.  S itself turns with the body: dS^T at a constant wrench (t, s) of the marker
 * moves the force R A s by -R (A s)~ dphi.
 */
#include <string.h>

#include <polhode/lie.h>

#include "lie/small.h"
#include "mechanism/beam.h"

void poli_beam_setup(poli_beam_kernel *kernel, const pol_mechanism *mechanism,
                     const pol_force *force)
{
  kernel->force = force;
  kernel->resultant = NULL;
  kernel->is_damped = 0;
  for (int i = 0; i < 36; i++) kernel->is_damped |= force->section->damping[i] != 0.0;
  for (int k = 0; k < 2; k++) {
    const pol_marker *marker = pol_mechanism_marker(mechanism, force->marker[k]);
    poli_v3_copy(marker->position, kernel->point[k]);
    pol_quat_to_matrix(marker->rotation, kernel->axes[k]);
  }
}

/* --- values ----------------------------------------------------------------------------------- */

/* What an evaluation has of both markers. */
typedef struct element {
  double S[2][6][6];
  double y[12]; /* velocities of the markers, in their axes */
  poli_deformation deformation;
  double strain[6]; /* e */
  double rate[6];   /* d'/L */
  double f[6];
} element;

static void set_marker(const poli_beam_kernel *kernel, int k, const poli_frame *frame,
                       double S[6][6])
{
  const double *A = kernel->axes[k];
  double axes[9], arm[9], block[9];
  poli_m3_skew(kernel->point[k], arm);
  poli_m3_multiply_transposed(A, arm, block);
  poli_m3_multiply(frame->R, A, axes);
  memset(S, 0, 6 * sizeof *S);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      S[i][j] = A[3 * j + i];
      S[3 + i][j] = -block[3 * i + j];
      S[3 + i][3 + j] = axes[3 * j + i];
    }
}

static pol_status set_element(const poli_beam_kernel *kernel, const poli_frame *const frames[2],
                              element *e)
{
  const pol_force *force = kernel->force;
  const pol_section *section = force->section;
  double axes[2][9], point[2][3], apart[3], Q[9], r[3], w[3];
  for (int k = 0; k < 2; k++) {
    set_marker(kernel, k, frames[k], e->S[k]);
    poli_m3_multiply(frames[k]->R, kernel->axes[k], axes[k]);
    poli_m3_apply(frames[k]->R, kernel->point[k], point[k]);
    poli_v3_add(point[k], frames[k]->x, point[k]);
    for (int i = 0; i < 6 && kernel->is_damped; i++)
      e->y[6 * k + i] =
          poli_v3_dot(e->S[k][i], frames[k]->w) + poli_v3_dot(e->S[k][i] + 3, frames[k]->u);
  }
  poli_m3_multiply_transposed(axes[0], axes[1], Q);
  poli_v3_subtract(point[1], point[0], apart);
  poli_m3_apply_transposed(axes[0], apart, r);
  poli_m3_apply_transposed(axes[1], apart, w);
  pol_status status = poli_deformation_set(force->strain, Q, r, w, &e->deformation);
  for (int i = 0; i < 6; i++) {
    e->strain[i] = e->deformation.d[i] / force->length - section->strain[i];
    e->rate[i] = 0.0;
    for (int j = 0; j < 12 && kernel->is_damped; j++)
      e->rate[i] += e->deformation.B[i][j] * e->y[j] / force->length;
  }
  for (int i = 0; i < 6; i++) {
    e->f[i] = 0.0;
    for (int j = 0; j < 6; j++) e->f[i] += section->stiffness[6 * i + j] * e->strain[j];
    for (int j = 0; j < 6 && kernel->is_damped; j++)
      e->f[i] += section->damping[6 * i + j] * e->rate[j];
  }
  return status;
}

/* B^T f, the forces on the markers with the opposite sign */
static void marker_forces(const element *e, double forces[12])
{
  for (int j = 0; j < 12; j++) {
    forces[j] = 0.0;
    for (int i = 0; i < 6; i++) forces[j] += e->deformation.B[i][j] * e->f[i];
  }
}

pol_status poli_beam_wrenches(const poli_beam_kernel *kernel, const poli_frame *first,
                              const poli_frame *second, double wrench[2][6])
{
  const poli_frame *const frames[2] = {first, second};
  element e;
  double forces[12];
  pol_status status = set_element(kernel, frames, &e);
  if (status) return status;
  marker_forces(&e, forces);
  for (int k = 0; k < 2; k++)
    for (int j = 0; j < 6; j++)
      for (int i = 0; i < 6; i++) wrench[k][j] -= e.S[k][i][j] * forces[6 * k + i];
  return POL_OK;
}

pol_status poli_beam_rows(const poli_beam_kernel *kernel, const poli_frame *first,
                          const poli_frame *second, double elongation[6], double rows[6][12])
{
  const poli_frame *const frames[2] = {first, second};
  element e;
  const pol_status status = set_element(kernel, frames, &e);
  for (int i = 0; i < 6; i++) {
    elongation[i] = kernel->force->length * e.strain[i];
    for (int j = 0; j < 12; j++) {
      rows[i][j] = 0.0;
      for (int k = 0; k < 6; k++)
        rows[i][j] += e.deformation.B[i][j / 6 * 6 + k] * e.S[j / 6][k][j % 6];
    }
  }
  return status;
}

double poli_beam_potential(const poli_beam_kernel *kernel, const poli_frame *first,
                           const poli_frame *second)
{
  const poli_frame *const frames[2] = {first, second};
  const double *K = kernel->force->section->stiffness;
  double energy = 0.0;
  element e;
  (void)set_element(kernel, frames, &e);
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) energy += 0.5 * e.strain[i] * K[6 * i + j] * e.strain[j];
  return energy * kernel->force->length;
}

int poli_beam_is_inverted(const poli_beam_kernel *kernel, const poli_frame *first,
                          const poli_frame *second)
{
  const poli_frame *const frames[2] = {first, second};
  double point[2][3], tangent[2][3], apart[3];
  for (int k = 0; k < 2; k++) {
    const double *A = kernel->axes[k], along[3] = {A[0], A[3], A[6]};
    poli_m3_apply(frames[k]->R, along, tangent[k]);
    poli_m3_apply(frames[k]->R, kernel->point[k], point[k]);
    poli_v3_add(point[k], frames[k]->x, point[k]);
  }
  poli_v3_subtract(point[1], point[0], apart);
  return poli_v3_dot(apart, tangent[0]) + poli_v3_dot(apart, tangent[1]) <= 0.0;
}

double poli_beam_turned(const poli_beam_kernel *kernel, const poli_frame *first,
                        const poli_frame *second)
{
  double axes[2][9], Q[9];
  poli_m3_multiply(first->R, kernel->axes[0], axes[0]);
  poli_m3_multiply(second->R, kernel->axes[1], axes[1]);
  poli_m3_multiply_transposed(axes[0], axes[1], Q);
  const double cosine = 0.5 * (Q[0] + Q[4] + Q[8] - 1.0);
  return acos(fmin(fmax(cosine, -1.0), 1.0)) / poli_deformation_most(kernel->force->strain);
}

double poli_beam_strain(const poli_beam_kernel *kernel, const poli_frame *first,
                        const poli_frame *second, double strain[6], double resultant[6])
{
  const poli_frame *const frames[2] = {first, second};
  const double *C = kernel->force->section->damping;
  double power = 0.0;
  element e;
  (void)set_element(kernel, frames, &e);
  memcpy(strain, e.strain, sizeof e.strain);
  memcpy(resultant, e.f, sizeof e.f);
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) power += e.rate[i] * C[6 * i + j] * e.rate[j];
  return power * kernel->force->length;
}

void poli_beam_extrapolate(const poli_beam_kernel *kernel, const poli_frame *first,
                           const poli_frame *second, const double *first_increment,
                           const double *second_increment, double resultant[6])
{
  const poli_frame *const frames[2] = {first, second};
  const double *const increments[2] = {first_increment, second_increment};
  const double *K = kernel->force->section->stiffness;
  double moved[12], strain[6];
  element e;
  (void)set_element(kernel, frames, &e);
  for (int i = 0; i < 12; i++) {
    const double *row = e.S[i / 6][i % 6], *w = increments[i / 6];
    moved[i] = poli_v3_dot(row, w) + poli_v3_dot(row + 3, w + 3);
  }
  for (int i = 0; i < 6; i++) {
    strain[i] = e.strain[i];
    for (int j = 0; j < 12; j++)
      strain[i] += e.deformation.B[i][j] * moved[j] / kernel->force->length;
  }
  for (int i = 0; i < 6; i++) {
    resultant[i] = 0.0;
    for (int j = 0; j < 6; j++) resultant[i] += K[6 * i + j] * strain[j];
  }
}

/* --- derivatives ------------------------------------------------------------------------------ */

/* d(B^T f)/dh and d(B^T f)/d(S y) */
static void marker_derivatives(const poli_beam_kernel *kernel, const element *e,
                               double by_position[12][12], double by_velocity[12][12])
{
  const double *K = kernel->force->section->stiffness, *C = kernel->force->section->damping;
  const double length = kernel->force->length;
  double D[6][12] = {{0.0}}, slope[6][12], drag[6][12]; /* df/dh and df/d(S y) */
  poli_deformation_turn(kernel->force->strain, &e->deformation, e->f, by_position);
  if (kernel->is_damped) poli_deformation_rate(kernel->force->strain, &e->deformation, e->y, D);
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 12; j++) {
      slope[i][j] = drag[i][j] = 0.0;
      for (int k = 0; k < 6; k++) {
        slope[i][j] += (K[6 * i + k] * e->deformation.B[k][j] + C[6 * i + k] * D[k][j]) / length;
        drag[i][j] += C[6 * i + k] * e->deformation.B[k][j] / length;
      }
    }
  for (int i = 0; i < 12; i++)
    for (int j = 0; j < 12; j++) {
      by_velocity[i][j] = 0.0;
      for (int k = 0; k < 6; k++) {
        by_position[i][j] += e->deformation.B[k][i] * slope[k][j];
        by_velocity[i][j] += e->deformation.B[k][i] * drag[k][j];
      }
    }
}

/* K -= S^T M S, by the blocks of both markers */
static void subtract_moved(const element *e, double M[12][12], double (*K)[12])
{
  for (int a = 0; a < 2; a++)
    for (int b = 0; b < 2; b++) {
      double inner[6][6];
      for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) {
          inner[i][j] = 0.0;
          for (int k = 0; k < 6; k++) inner[i][j] += M[6 * a + i][6 * b + k] * e->S[b][k][j];
        }
      for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
          for (int k = 0; k < 6; k++) K[6 * a + i][6 * b + j] -= e->S[a][k][i] * inner[k][j];
    }
}

pol_status poli_beam_derivatives(const poli_beam_kernel *kernel, const poli_frame *first,
                                 const poli_frame *second, double (*by_position)[12],
                                 double (*by_velocity)[12])
{
  const poli_frame *const frames[2] = {first, second};
  element e;
  double M[12][12], V[12][12], forces[12];
  pol_status status = set_element(kernel, frames, &e);
  if (status) return status;
  if (kernel->resultant) memcpy(e.f, kernel->resultant, sizeof e.f);
  marker_derivatives(kernel, &e, M, V);
  marker_forces(&e, forces);
  subtract_moved(&e, M, by_position);
  if (kernel->is_damped) subtract_moved(&e, V, by_velocity);
  for (int b = 0; b < 2; b++) {
    /* velocities of the marker in its axes: A^T R^T u turns by A^T (R^T u)~ */
    double local[3], skew[9], turn[9], block[9], force[3];
    poli_m3_apply_transposed(frames[b]->R, frames[b]->u, local);
    poli_m3_skew(local, skew);
    poli_m3_multiply_transposed(kernel->axes[b], skew, turn);
    for (int i = 0; i < 12; i++)
      for (int j = 0; j < 3; j++) {
        double change = 0.0; /* of the marker forces */
        for (int k = 0; k < 3; k++) change += V[i][6 * b + 3 + k] * turn[3 * k + j];
        for (int k = 0; k < 6; k++)
          by_position[6 * (i / 6) + k][6 * b + j] -= e.S[i / 6][i % 6][k] * change;
      }
    poli_m3_apply(kernel->axes[b], forces + 6 * b + 3, force);
    poli_m3_skew(force, skew);
    poli_m3_multiply(frames[b]->R, skew, block);
    poli_add_block(block, 1.0, 6 * b + 3, 6 * b, by_position);
  }
  return POL_OK;
}
