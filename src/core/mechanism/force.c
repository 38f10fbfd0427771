/* Force elements; see force.h for the laws.  Derivatives of applied forces follow from
 * d(R^T f) = (R^T f)~ dphi and d(R f) = -R f~ dphi.  For the others, with
 *
 *     V = dd/dq = dd'/dv = (R1 p1~, -I, -R2 p2~, I),
 *     W = dd'/dq = (R1 (w1 x p1)~, 0, -R2 (w2 x p2)~, 0),
 *
 * the wrenches are V^T F, and
 *
 *     d(V^T F)/dv = V^T dF/dd' V,
 *     d(V^T F)/dq = V^T (dF/dd V + dF/dd' W) + diag(-p1~ (R1^T F)~, 0, p2~ (R2^T F)~, 0).
 */
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include <polhode/lie.h>

#include "lie/small.h"
#include "mechanism/force.h"
#include "mechanism/function.h"

/* --- names and set-up ------------------------------------------------------------------------- */

const char *pol_force_type_name(pol_force_type type)
{
  static const char *const names[] = {[POL_APPLIED_FORCE] = "force",
                                      [POL_APPLIED_TORQUE] = "torque",
                                      [POL_SUPPORT] = "support",
                                      [POL_SPRING_DAMPER] = "spring-damper",
                                      [POL_DRAG] = "drag",
                                      [POL_JOINT_SPRING] = "joint-spring",
                                      [POL_BUSHING] = "bushing",
                                      [POL_CALLBACK_FORCE] = "callback",
                                      [POL_JOINT_STOP] = "joint-stop",
                                      [POL_JOINT_FRICTION] = "joint-friction",
                                      [POL_BEAM] = "beam"};
  return (int)type >= 0 && type <= POL_BEAM ? names[type] : NULL;
}

int pol_force_num_expressions(pol_force_type type)
{
  if (type == POL_APPLIED_FORCE || type == POL_APPLIED_TORQUE) return 3;
  return type == POL_SPRING_DAMPER || type == POL_JOINT_SPRING ? 1 : 0;
}

const char *pol_force_frame_name(pol_force_frame frame)
{
  static const char *const names[] = {[POL_GLOBAL_AXES] = "global", [POL_BODY_AXES] = "body"};
  return frame == POL_GLOBAL_AXES || frame == POL_BODY_AXES ? names[frame] : NULL;
}

const char *pol_spring_law_name(pol_spring_law law)
{
  static const char *const names[] = {
      [POL_LINEAR_SPRING] = "linear", [POL_SQUARED_SPRING] = "squared-length"};
  return law == POL_LINEAR_SPRING || law == POL_SQUARED_SPRING ? names[law] : NULL;
}

const char *pol_beam_strain_name(pol_beam_strain strain)
{
  static const char *const names[] = {
      [POL_BEAM_SE3] = "se3", [POL_BEAM_SO3XR3] = "so3xr3", [POL_BEAM_DIRECTORS] = "directors"};
  return (int)strain >= 0 && strain <= POL_BEAM_DIRECTORS ? names[strain] : NULL;
}

/* Whether the force acts between two points by a law of d and d'. */
static int has_law(pol_force_type type)
{
  return type == POL_SUPPORT || type == POL_SPRING_DAMPER || type == POL_DRAG;
}

int poli_force_is_on_joint(pol_force_type type)
{
  return type == POL_JOINT_SPRING || type == POL_JOINT_STOP || type == POL_JOINT_FRICTION;
}

int poli_force_sees_frames(const pol_force *force)
{
  return force->type == POL_BUSHING || force->type == POL_CALLBACK_FORCE ||
         (force->type == POL_BEAM && force->strain != POL_BEAM_DIRECTORS);
}

const char *poli_force_failure(const pol_force *force)
{
  const pol_force_type type = force->type;
  if (type == POL_SPRING_DAMPER) return "its points coincide";
  if (poli_force_is_on_joint(type)) return "its angle is not defined";
  if (type == POL_BUSHING) return "its markers are rotated by more than 3 rad";
  if (type == POL_BEAM && force->strain == POL_BEAM_DIRECTORS)
    return "its ends are rotated by more than 1.5 rad against each other";
  if (type == POL_BEAM) return "its ends are rotated by more than 3 rad against each other";
  return "its callback failed";
}

int poli_force_reads_velocities(const pol_force *force)
{
  switch (force->type) {
  case POL_APPLIED_FORCE:
  case POL_APPLIED_TORQUE:
    return 0;
  case POL_SUPPORT:
  case POL_SPRING_DAMPER:
  case POL_JOINT_SPRING:
  case POL_JOINT_STOP:
  case POL_BUSHING:
    for (int i = 0; i < 3; i++)
      if (force->damping[i] != 0.0 || force->rotational_damping[i] != 0.0) return 1;
    return 0;
  case POL_BEAM:
    for (int i = 0; i < 36; i++)
      if (force->section->damping[i] != 0.0) return 1;
    return 0;
  case POL_DRAG:
  case POL_CALLBACK_FORCE:
  case POL_JOINT_FRICTION:
    return 1;
  }
  return 1;
}

void poli_force_kernel_setup(poli_force_kernel *kernel, const pol_mechanism *mechanism, int force)
{
  const pol_force *f = pol_mechanism_force(mechanism, force);
  *kernel = (poli_force_kernel){.force = f, .body = {POL_GROUND, f->body}};
  if (f->type == POL_CALLBACK_FORCE) memcpy(kernel->body, f->bodies, sizeof kernel->body);
  if (f->type == POL_SPRING_DAMPER || f->type == POL_BUSHING || f->type == POL_BEAM)
    for (int i = 0; i < 2; i++) {
      const pol_marker *marker = pol_mechanism_marker(mechanism, f->marker[i]);
      kernel->body[i] = marker->body;
      poli_v3_copy(marker->position, kernel->point[i]);
    }
  if (f->type == POL_BEAM) poli_beam_setup(&kernel->beam, mechanism, f);
  if (f->type == POL_BUSHING) poli_bushing_setup(&kernel->bushing, mechanism, f);
  if (poli_force_is_on_joint(f->type)) {
    const pol_joint *joint = pol_mechanism_joint(mechanism, f->joint);
    for (int i = 0; i < 2; i++)
      kernel->body[i] = pol_mechanism_marker(mechanism, joint->marker[i])->body;
  }
  if (f->type == POL_SUPPORT) poli_v3_copy(f->anchor, kernel->point[0]);
  if (f->type == POL_SUPPORT || f->type == POL_APPLIED_FORCE)
    poli_v3_copy(f->point, kernel->point[1]);
}

double poli_force_scale(const pol_force *force, double t)
{
  double value[3] = {1.0, 0.0, 0.0};
  if (force->scale) poli_function_value(force->scale, t, value);
  return value[0];
}

/* --- applied forces and torques --------------------------------------------------------------- */

/* The vector in body axes. */
static void local_vector(const pol_force *force, double t, const poli_frame *frame, double local[3])
{
  double scaled[3];
  poli_v3_scale(poli_force_scale(force, t), force->vector, scaled);
  if (force->frame == POL_BODY_AXES)
    poli_v3_copy(scaled, local);
  else
    poli_m3_apply_transposed(frame->R, scaled, local);
}

/* The derivative by the attitude of the second body, the one it acts on. */
static void add_applied_gradient(const pol_force *force, double t, const poli_frame *frame,
                                 double (*K)[12])
{
  double local[3], skew[9], arm[9], block[9];
  local_vector(force, t, frame, local);
  poli_m3_skew(local, skew);
  if (force->frame == POL_GLOBAL_AXES && force->type == POL_APPLIED_TORQUE) {
    poli_add_block(skew, 1.0, 6, 6, K);
  } else if (force->frame == POL_GLOBAL_AXES) {
    poli_m3_skew(force->point, arm);
    poli_m3_multiply(arm, skew, block);
    poli_add_block(block, 1.0, 6, 6, K);
  } else if (force->type == POL_APPLIED_FORCE) {
    poli_m3_multiply(frame->R, skew, block);
    poli_add_block(block, -1.0, 9, 6, K);
  }
}

/* --- laws between two points ------------------------------------------------------------------ */

/* d and d' */
static void separation(const poli_force_kernel *kernel, const poli_frame *const frames[2],
                       double d[3], double rate[3])
{
  for (int i = 0; i < 3; i++) d[i] = rate[i] = 0.0;
  for (int k = 0; k < 2; k++) {
    double arm[3], spin[3], turned[3], sign = k == 0 ? -1.0 : 1.0;
    poli_m3_apply(frames[k]->R, kernel->point[k], arm);
    poli_v3_cross(frames[k]->w, kernel->point[k], spin);
    poli_m3_apply(frames[k]->R, spin, turned);
    for (int i = 0; i < 3; i++) {
      d[i] += sign * (frames[k]->x[i] + arm[i]);
      rate[i] += sign * (frames[k]->u[i] + turned[i]);
    }
  }
}

/* S and dS/dl of a spring; returns its energy. */
static double spring_tension(const pol_force *force, double length, double *S, double *S_l)
{
  const double k = force->stiffness[0], l0 = force->length;
  const double stretch =
      force->law == POL_SQUARED_SPRING ? (length + l0) * (length - l0) : length - l0;
  *S = k * stretch;
  *S_l = k;
  if (force->law == POL_SQUARED_SPRING) {
    *S *= 2.0 * length;
    *S_l = 2.0 * k * (stretch + 2.0 * length * length);
  }
  return 0.5 * k * stretch * stretch;
}

/* With the tension T = S(l) + c l' - a and P = (I - n n^T) / l,
 *
 *     dF/dd = -n (S' n + c P d')^T - T P,    dF/dd' = -c n n^T. */
static pol_status spring_law(const pol_force *force, double t, const double d[3],
                             const double rate[3], poli_law *law)
{
  double n[3], across[3], S, S_l, length = sqrt(poli_v3_dot(d, d));
  if (length == 0.0) return POL_RETRY;
  poli_v3_scale(1.0 / length, d, n);
  double closing = poli_v3_dot(n, rate);
  spring_tension(force, length, &S, &S_l);
  double tension = S + force->damping[0] * closing - poli_force_scale(force, t) * force->actuator;
  for (int i = 0; i < 3; i++) across[i] = (rate[i] - closing * n[i]) / length;
  for (int i = 0; i < 3; i++) {
    law->F[i] = -tension * n[i];
    for (int j = 0; j < 3; j++) {
      double normal = n[i] * n[j];
      law->F_d[3 * i + j] = -S_l * normal - force->damping[0] * n[i] * across[j] -
                            tension * ((i == j ? 1.0 : 0.0) - normal) / length;
      law->F_rate[3 * i + j] = -force->damping[0] * normal;
    }
  }
  return POL_OK;
}

pol_status poli_force_law(const pol_force *force, double t, const double d[3], const double rate[3],
                          poli_law *law)
{
  memset(law, 0, sizeof *law);
  if (force->type == POL_SPRING_DAMPER) return spring_law(force, t, d, rate, law);
  for (int i = 0; i < 3 && force->type == POL_SUPPORT; i++) {
    law->F[i] = -force->stiffness[i] * d[i] - force->damping[i] * rate[i];
    law->F_d[4 * i] = -force->stiffness[i];
    law->F_rate[4 * i] = -force->damping[i];
  }
  /* dF/dd' = -c (|d'| I + d' d'^T / |d'|), which tends to zero with d' */
  const double speed = sqrt(poli_v3_dot(rate, rate));
  for (int i = 0; i < 3 && force->type == POL_DRAG && speed != 0.0; i++) {
    law->F[i] = -force->coefficient * speed * rate[i];
    for (int j = 0; j < 3; j++)
      law->F_rate[3 * i + j] =
          -force->coefficient * ((i == j ? speed : 0.0) + rate[i] * (rate[j] / speed));
  }
  return POL_OK;
}

static pol_status apply_law(const poli_force_kernel *kernel, double t,
                            const poli_frame *const frames[2], poli_law *law)
{
  double d[3], rate[3];
  separation(kernel, frames, d, rate);
  return poli_force_law(kernel->force, t, d, rate, law);
}

/* K += V^T A U */
static void add_congruence(double V[3][12], const double A[9], double U[3][12], double (*K)[12])
{
  for (int j = 0; j < 12; j++) {
    double column[3] = {U[0][j], U[1][j], U[2][j]}, y[3];
    poli_m3_apply(A, column, y);
    for (int i = 0; i < 12; i++) K[i][j] += V[0][i] * y[0] + V[1][i] * y[1] + V[2][i] * y[2];
  }
}

/* --- callbacks (pol_callback in polhode/mechanism.h) ------------------------------------------ */

static void set_motion(const poli_frame *const frames[2], pol_motion motion[2])
{
  for (int k = 0; k < 2; k++) {
    poli_v3_copy(frames[k]->x, motion[k].position);
    poli_m3_copy(frames[k]->R, motion[k].rotation);
    poli_v3_copy(frames[k]->u, motion[k].velocity);
    poli_v3_copy(frames[k]->w, motion[k].angular_velocity);
  }
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

/* Where the callback has no derivatives they are central differences, f' = (f(+h) - f(-h)) / 2h
 * with h = eps^(1/3) of a unit, whose truncation and round-off are alike.  The units are 1 rad, the
 * callback's length l, and for velocities the larger of 1/s or l/s and the velocity itself. */
static pol_status callback_derivatives(const pol_force *force, double t,
                                       const poli_frame *const frames[2], poli_force_blocks *blocks)
{
  const pol_callback *callback = &force->callback;
  const double length = callback->length > 0.0 ? callback->length : 1.0;
  pol_motion motion[2];
  set_motion(frames, motion);
  if (callback->derivatives)
    return callback->derivatives(t, motion, blocks->by_position, blocks->by_velocity,
                                 callback->user);
  for (int k = 0; k < 2; k++)
    for (int j = 0; j < 12 && force->bodies[k] != POL_GROUND; j++) {
      const double *rate = j < 9 ? motion[k].angular_velocity : motion[k].velocity;
      double sample[2][12] = {{0.0}}, unit = j % 6 < 3 ? 1.0 : length;
      if (j >= 6) unit = fmax(unit, sqrt(poli_v3_dot(rate, rate)));
      const double h = cbrt(DBL_EPSILON) * unit;
      for (int side = 0; side < 2; side++) {
        pol_motion varied[2] = {motion[0], motion[1]};
        vary(&varied[k], j, side ? -h : h);
        pol_status status = callback->wrench(t, varied, sample[side], callback->user);
        if (status) return status;
      }
      for (int i = 0; i < 12; i++)
        (j < 6 ? blocks->by_position : blocks->by_velocity)[i][6 * k + j % 6] =
            (sample[0][i] - sample[1][i]) / (2.0 * h);
    }
  return POL_OK;
}

/* --- all kinds -------------------------------------------------------------------------------- */

pol_status poli_force_wrenches(const poli_force_kernel *kernel, double t, const poli_frame *first,
                               const poli_frame *second, double wrench[2][6])
{
  const poli_frame *const frames[2] = {first, second};
  const pol_force *force = kernel->force;
  const pol_force_type type = force->type;
  poli_law law;
  memset(wrench, 0, 2 * sizeof *wrench);
  if (type == POL_BUSHING) return poli_bushing_wrenches(&kernel->bushing, first, second, wrench);
  if (type == POL_BEAM) return poli_beam_wrenches(&kernel->beam, first, second, wrench);
  if (type == POL_CALLBACK_FORCE) {
    pol_motion motion[2];
    double both[12] = {0.0};
    set_motion(frames, motion);
    pol_status found = force->callback.wrench(t, motion, both, force->callback.user);
    if (!found) memcpy(wrench, both, sizeof both);
    return found;
  }
  if (!has_law(type)) {
    double local[3];
    local_vector(force, t, second, local);
    if (type == POL_APPLIED_TORQUE) {
      poli_v3_copy(local, wrench[1]);
      return POL_OK;
    }
    poli_v3_cross(force->point, local, wrench[1]);
    if (force->frame == POL_BODY_AXES)
      poli_m3_apply(second->R, local, wrench[1] + 3);
    else
      poli_v3_scale(poli_force_scale(force, t), force->vector, wrench[1] + 3);
    return POL_OK;
  }
  pol_status status = apply_law(kernel, t, frames, &law);
  if (status) return status;
  for (int k = 0; k < 2; k++) {
    double local[3];
    poli_v3_scale(k == 0 ? -1.0 : 1.0, law.F, wrench[k] + 3);
    poli_m3_apply_transposed(frames[k]->R, wrench[k] + 3, local);
    poli_v3_cross(kernel->point[k], local, wrench[k]);
  }
  return POL_OK;
}

pol_status poli_force_derivatives(const poli_force_kernel *kernel, double t,
                                  const poli_frame *first, const poli_frame *second,
                                  poli_force_blocks *blocks)
{
  const poli_frame *const frames[2] = {first, second};
  const pol_force_type type = kernel->force->type;
  poli_law law;
  double V[3][12] = {{0.0}}, W[3][12] = {{0.0}}, turning[12][12] = {{0.0}};
  memset(blocks, 0, sizeof *blocks);
  if (type == POL_BUSHING)
    return poli_bushing_derivatives(&kernel->bushing, first, second, blocks->by_position,
                                    blocks->by_velocity);
  if (type == POL_BEAM)
    return poli_beam_derivatives(&kernel->beam, first, second, blocks->by_position,
                                 blocks->by_velocity);
  if (type == POL_CALLBACK_FORCE) return callback_derivatives(kernel->force, t, frames, blocks);
  if (!has_law(type)) {
    add_applied_gradient(kernel->force, t, second, blocks->by_position);
    return POL_OK;
  }
  pol_status status = apply_law(kernel, t, frames, &law);
  if (status) return status;
  for (int k = 0; k < 2; k++) {
    const double *R = frames[k]->R, *p = kernel->point[k], sign = k == 0 ? 1.0 : -1.0;
    double arm[9], skew[9], block[9], spin[3], local[3];
    poli_m3_skew(p, arm);
    poli_m3_multiply(R, arm, block);
    poli_add_block(block, sign, 0, 6 * k, V);
    for (int i = 0; i < 3; i++) V[i][6 * k + 3 + i] = -sign;
    poli_v3_cross(frames[k]->w, p, spin);
    poli_m3_skew(spin, skew);
    poli_m3_multiply(R, skew, block);
    poli_add_block(block, sign, 0, 6 * k, W);
    /* p~ (R^T F)~ in the diagonal block of each attitude, of the first with -F */
    poli_m3_apply_transposed(R, law.F, local);
    poli_m3_skew(local, skew);
    poli_m3_multiply(arm, skew, block);
    poli_add_block(block, -sign, 6 * k, 6 * k, turning);
  }
  add_congruence(V, law.F_d, V, blocks->by_position);
  add_congruence(V, law.F_rate, W, blocks->by_position);
  for (int k = 0; k < 144; k++) blocks->by_position[k / 12][k % 12] += turning[k / 12][k % 12];
  add_congruence(V, law.F_rate, V, blocks->by_velocity);
  return POL_OK;
}

double poli_force_potential(const poli_force_kernel *kernel, const poli_frame *first,
                            const poli_frame *second)
{
  const poli_frame *const frames[2] = {first, second};
  const pol_force *force = kernel->force;
  double d[3], rate[3], twice = 0.0;
  if (force->type == POL_BUSHING) return poli_bushing_potential(&kernel->bushing, first, second);
  if (force->type == POL_BEAM) return poli_beam_potential(&kernel->beam, first, second);
  if (force->type == POL_CALLBACK_FORCE) {
    pol_motion motion[2];
    set_motion(frames, motion);
    return force->callback.potential ? force->callback.potential(motion, force->callback.user)
                                     : 0.0;
  }
  separation(kernel, frames, d, rate);
  if (force->type == POL_SUPPORT)
    for (int i = 0; i < 3; i++) twice += force->stiffness[i] * d[i] * d[i];
  if (force->type == POL_SPRING_DAMPER) {
    double S, S_l;
    return spring_tension(force, sqrt(poli_v3_dot(d, d)), &S, &S_l);
  }
  return 0.5 * twice;
}
