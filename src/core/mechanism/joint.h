/* The one joint kernel.
 *
 * Every row of every joint says that a vector z of the second body, as the first body sees it, has
 * a given component along an axis a fixed in the first body:
 *
 *     phi = a . z - offset,      z = R1^T ( tau (x2 - x1) + R2 s )
 *
 * with x, R the position and rotation of the two bodies and s fixed in the second.  A locked
 * translation has tau = 1 and s the second marker; a locked rotation has tau = 0, offset = 0 and s
 * an axis of the second marker that stays perpendicular to a.  Rows with the same z form a view.
 * A distance is the view of a locked translation with the one row
 *
 *     phi = (d . d) / 2 - offset,   d = z - point,   offset = length^2 / 2,
 *
 * that is, with the axis a = d.  A view may also be global: then all three translations are locked
 * and z is the way between the two points in global axes, z = x2 + R2 s - x1 - R1 point.  A row can
 * have two terms, each with a view of its own: the second
 * view adds to the row of the first.  A rolling body is three locked translations to which
 * rolling.h adds the turning of the contact point; two of these rows hold for velocities only.
 *
 * Variations are dR = R dphi~ (dphi in body axes) and dx (global), in the order (dphi1, dx1, dphi2,
 * dx2); velocities likewise are (angular velocity in body axes, global velocity).
 */
#ifndef POLHODE_MECHANISM_JOINT_H
#define POLHODE_MECHANISM_JOINT_H

#include <polhode/mechanism.h>

/* What an element sees of a body.  Formulations whose coordinates are not these velocities split
 * the accelerations: w' = wd + wb with wd linear in the coordinates' second derivatives and wb
 * without them. */
typedef struct poli_frame {
  double R[9];         /* body to global axes */
  double x[3];         /* centre of mass */
  double w[3], u[3];   /* angular velocity (body axes), velocity (global axes) */
  double wd[3], ud[3]; /* their derivatives: the part with the coordinates' accelerations */
  double wb[3], ub[3]; /* and the rest */
} poli_frame;

/* out[row + i][col + j] += scale block, for derivatives by the variations of two bodies */
static inline void poli_add_block(const double block[9], double scale, int row, int col,
                                  double (*out)[12])
{
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) out[row + i][col + j] += scale * block[3 * i + j];
}

/* The frame of a body, or of the ground, at the initial position and at rest. */
void poli_initial_frame(const pol_mechanism *mechanism, int body, poli_frame *frame);

typedef struct poli_view {
  double tau;
  double s[3];       /* in axes of the second body */
  int num_rows;      /* 1 .. 3 */
  double axis[3][3]; /* a of each row, in axes of the first body */
  double offset[3];
  int adds;        /* its one row is a second term of the last row of the view before */
  int distance;    /* its one row is a distance from the point */
  int global;      /* its rows are in global axes, from the point to s */
  double point[3]; /* of locked translations and distances, in axes of the first body */
} poli_view;

enum { POLI_MAX_VIEWS = 4 };

/* A joint ready for evaluation. */
typedef struct poli_joint_kernel {
  int body[2]; /* POL_GROUND or an index */
  int num_rows;
  int num_slip; /* of them, the last ones: non-holonomic rows, which have no phi */
  int joins;    /* its first view joins two points: three locked translations */
  int num_views;
  double radius; /* rolling only, see rolling.h; 0 for all others */
  poli_view view[POLI_MAX_VIEWS];
  int disk;            /* rolling only */
  double disk_axis[3]; /* in axes of the second body */
} poli_joint_kernel;

/* Whether this joint makes axis `axis` (0, 1, 2) of both markers point the same way. */
int poli_joint_aligns(const pol_joint *joint, int axis);

void poli_joint_kernel_setup(poli_joint_kernel *kernel, const pol_mechanism *mechanism, int joint);

/* phi (num_rows - num_slip), and the first and second time derivative of all num_rows, the latter
 * with constant velocities; of a non-holonomic row phi' is A v. */
void poli_joint_position(const poli_joint_kernel *kernel, const poli_frame *first,
                         const poli_frame *second, double *phi);
void poli_joint_velocity(const poli_joint_kernel *kernel, const poli_frame *first,
                         const poli_frame *second, double *phi_dot);
void poli_joint_acceleration(const poli_joint_kernel *kernel, const poli_frame *first,
                             const poli_frame *second, double *phi_ddot);

/* All three at once, the last one with the accelerations of both frames; not for a body that rolls.
 */
void poli_joint_motion(const poli_joint_kernel *kernel, const poli_frame *first,
                       const poli_frame *second, double *phi, double *phi_dot, double *phi_ddot);

/* wrench1 += B1^T lambda, wrench2 += B2^T lambda: (torque in body axes, force in global axes). */
void poli_joint_reaction(const poli_joint_kernel *kernel, const poli_frame *first,
                         const poli_frame *second, const double *lambda, double wrench1[6],
                         double wrench2[6]);

/* A body's rotation matrix and position. */
typedef struct poli_pose {
  const double *R, *x;
} poli_pose;

/* phi, and B on both bodies, 6 numbers for each row, for variations dR = dphi~ R and dx in inertial
 * axes, without the rows of the first `skipped` views; not for a body that rolls. */
void poli_joint_rows(const poli_joint_kernel *kernel, int skipped, const poli_pose *first,
                     const poli_pose *second, double *phi, double *B1, double *B2);

/* B and d(phi_dot)/dq: num_rows x 12; d(B^T lambda)/dq: 12 x 12.  Row-major, overwritten. */
void poli_joint_jacobian(const poli_joint_kernel *kernel, const poli_frame *first,
                         const poli_frame *second, double (*B)[12]);
void poli_joint_curvature(const poli_joint_kernel *kernel, const poli_frame *first,
                          const poli_frame *second, double (*Z)[12]);
void poli_joint_stiffness(const poli_joint_kernel *kernel, const poli_frame *first,
                          const poli_frame *second, const double *lambda, double (*K)[12]);

#endif
