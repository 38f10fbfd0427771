/* Callback forces; see callback.h.  The units of the differences are 1 rad, the callback's length
 * l, and for velocities the larger of 1/s or l/s and the velocity itself. */
#include <float.h>
#include <math.h>
#include <string.h>

#include <polhode/lie.h>

#include "lie/small.h"
#include "mechanism/callback.h"

static void set_motion(const poli_frame *const frames[2], pol_motion motion[2])
{
  for (int k = 0; k < 2; k++) {
    poli_v3_copy(frames[k]->x, motion[k].position);
    poli_m3_copy(frames[k]->R, motion[k].rotation);
    poli_v3_copy(frames[k]->u, motion[k].velocity);
    poli_v3_copy(frames[k]->w, motion[k].angular_velocity);
  }
}

pol_status poli_callback_wrenches(const pol_force *force, double t,
                                  const poli_frame *const frames[2], double wrench[2][6])
{
  pol_motion motion[2];
  double both[12] = {0.0};
  set_motion(frames, motion);
  pol_status status = force->callback.wrench(t, motion, both, force->callback.user);
  if (!status) memcpy(wrench, both, sizeof both);
  return status;
}

/* The motion with coordinate j of one body moved by h: 0 .. 2 rotation, 3 .. 5 position, 6 .. 8
 * angular velocity, 9 .. 11 velocity. */
static void vary(pol_motion *motion, int j, double h)
{
  double w[3] = {0.0}, q[4], turn[9], R[9];
  if (j < 3) {
    w[j] = h;
    pol_so3_exp(w, q);
    pol_quat_to_matrix(q, turn);
    poli_m3_copy(motion->rotation, R);
    poli_m3_multiply(R, turn, motion->rotation);
  } else if (j < 6) {
    motion->position[j - 3] += h;
  } else if (j < 9) {
    motion->angular_velocity[j - 6] += h;
  } else {
    motion->velocity[j - 9] += h;
  }
}

/* The unit of each of these. */
static double unit_of(const pol_callback *callback, const pol_motion *motion, int j)
{
  double length = callback->length > 0.0 ? callback->length : 1.0;
  if (j < 3) return 1.0;
  if (j < 6) return length;
  const double *rate = j < 9 ? motion->angular_velocity : motion->velocity;
  return fmax(j < 9 ? 1.0 : length, sqrt(poli_v3_dot(rate, rate)));
}

/* Column j of body k of both derivatives, by central differences. */
static pol_status difference(const pol_callback *callback, double t, const pol_motion motion[2],
                             int k, int j, double column[12])
{
  double sample[2][12] = {{0.0}};
  double h = cbrt(DBL_EPSILON) * unit_of(callback, &motion[k], j);
  for (int side = 0; side < 2; side++) {
    pol_motion varied[2] = {motion[0], motion[1]};
    vary(&varied[k], j, side ? -h : h);
    pol_status status = callback->wrench(t, varied, sample[side], callback->user);
    if (status) return status;
  }
  for (int i = 0; i < 12; i++) column[i] = (sample[0][i] - sample[1][i]) / (2.0 * h);
  return POL_OK;
}

pol_status poli_callback_derivatives(const pol_force *force, double t,
                                     const poli_frame *const frames[2], double (*by_position)[12],
                                     double (*by_velocity)[12])
{
  const pol_callback *callback = &force->callback;
  pol_motion motion[2];
  set_motion(frames, motion);
  if (callback->derivatives)
    return callback->derivatives(t, motion, by_position, by_velocity, callback->user);
  for (int k = 0; k < 2; k++)
    for (int j = 0; j < 12 && force->bodies[k] != POL_GROUND; j++) {
      double column[12];
      pol_status status = difference(callback, t, motion, k, j, column);
      if (status) return status;
      for (int i = 0; i < 12; i++)
        (j < 6 ? by_position : by_velocity)[i][6 * k + j % 6] = column[i];
    }
  return POL_OK;
}

double poli_callback_potential(const pol_force *force, const poli_frame *const frames[2])
{
  pol_motion motion[2];
  if (!force->callback.potential) return 0.0;
  set_motion(frames, motion);
  return force->callback.potential(motion, force->callback.user);
}
