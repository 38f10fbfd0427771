/* Which momenta of a mechanism are constant.
 *
 * A motion of all bodies as one rigid body, with angular velocity w and the velocity u at the
 * origin, gives the point r the velocity u + w x r.  The momentum that belongs to it,
 *
 *     w . (angular momentum about the origin) + u . (linear momentum),
 *
 * is constant if no force from outside does work on that motion, wherever the bodies are (Noether).
 * What acts between two bodies never does, whether it conserves energy or not.  Every element that
 * is fixed in the ground, and gravity, allows a subspace of the six numbers (w, u), given by linear
 * equations:
 *
 *     gravity or a force f of constant direction    w x f = 0,  u . f = 0
 *     a torque of constant direction                w . torque = 0
 *     a point P of the ground (ball, rod, spring)   u + w x P = 0
 *     a direction a of the ground (hinge, slider)   w x a = 0
 *     a line or plane of the ground                 the part of u + w x P that it locks, and of w
 *
 * and what is left is their intersection.  A point mass does not turn: axes of its markers are
 * directions of the ground, whatever is at the other end.  The equations do not look at what the
 * other elements allow, so a momentum that is constant only because of several of them together may
 * be missed, but none is claimed that is not.
 */
#include <math.h>
#include <string.h>

#include <polhode/lie.h>
#include <polhode/mechanism.h>

#include "lie/small.h"
#include "mechanism/joint.h"

/* Directions and points that differ by less, relatively, are the same. */
static const double same = 1e-9;

/* An orthonormal basis of the motions (w, u) that are left. */
typedef struct space {
  int dim;
  double basis[6][6];
} space;

static double dot6(const double a[6], const double b[6])
{
  return poli_v3_dot(a, b) + poli_v3_dot(a + 3, b + 3);
}

/* Keeps the motions with row . (w, u) = 0: a reflection turns the basis so that only its last
 * vector is left that does not satisfy it. */
static void require(space *s, const double row[6])
{
  double c[6] = {0.0}, mix[6] = {0.0}, length = 0.0, size = sqrt(dot6(row, row));
  for (int i = 0; i < s->dim; i++) {
    c[i] = dot6(s->basis[i], row) / (size > 0.0 ? size : 1.0);
    length += c[i] * c[i];
  }
  length = sqrt(length);
  if (length <= same) return;
  int last = s->dim - 1;
  c[last] += c[last] < 0.0 ? -length : length;
  double factor = 2.0 / dot6(c, c);
  for (int i = 0; i < s->dim; i++)
    for (int k = 0; k < 6; k++) mix[k] += c[i] * s->basis[i][k];
  for (int i = 0; i < last; i++)
    for (int k = 0; k < 6; k++) s->basis[i][k] -= factor * c[i] * mix[k];
  s->dim = last;
}

/* w . a = 0 */
static void require_no_spin(space *s, const double a[3])
{
  const double row[6] = {a[0], a[1], a[2]};
  require(s, row);
}

/* (u + w x P) . a = 0 */
static void require_no_velocity(space *s, const double P[3], const double a[3])
{
  double row[6];
  poli_v3_cross(P, a, row);
  poli_v3_copy(a, row + 3);
  require(s, row);
}

static const double unit[3][3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};

/* w x a = 0 */
static void require_direction(space *s, const double a[3])
{
  for (int k = 0; k < 3; k++) {
    double row[3];
    poli_v3_cross(a, unit[k], row);
    require_no_spin(s, row);
  }
}

static void require_point(space *s, const double P[3])
{
  for (int k = 0; k < 3; k++) require_no_velocity(s, P, unit[k]);
}

static void require_nothing_moves(space *s)
{
  s->dim = 0;
}

/* A force along f, wherever it acts. */
static void require_force(space *s, const double f[3])
{
  static const double origin[3] = {0.0, 0.0, 0.0};
  if (poli_v3_dot(f, f) == 0.0) return;
  require_direction(s, f);
  require_no_velocity(s, origin, f);
}

/* --- joints ----------------------------------------------------------------------------------- */

/* Whether the axes of a pair's first marker, along which its translations are measured, are those
 * of a point mass: it does not turn, so their directions are fixed as if they were the ground's. */
static int has_fixed_axes(const pol_mechanism *mechanism, const int marker[2])
{
  int body = pol_mechanism_marker(mechanism, marker[0])->body;
  return body != POL_GROUND && pol_mechanism_body(mechanism, body)->point;
}

/* Which marker of a joint is on the ground: 0, 1, or -1 for none. */
static int ground_end(const pol_mechanism *mechanism, const int marker[2])
{
  for (int i = 0; i < 2; i++)
    if (pol_mechanism_marker(mechanism, marker[i])->body == POL_GROUND) return i;
  return -1;
}

/* Translations that are locked along axes with fixed directions: one of the two points is
 * P + sum s_j e_j over the free axes, seen from the other, and has no velocity along the locked
 * ones.  P: the point that is on the ground, or NULL. */
static void require_translations(space *s, unsigned locked, const double *P,
                                 const double axes[3][3])
{
  for (int i = 0; i < 3; i++) {
    if (!(locked & 1u << i)) continue;
    if (P) require_no_velocity(s, P, axes[i]);
    for (int j = 0; j < 3; j++) {
      double row[3];
      if (locked & 1u << j) continue;
      poli_v3_cross(axes[j], axes[i], row);
      require_no_spin(s, row);
    }
  }
}

static void require_joint(space *s, const pol_mechanism *mechanism, int index)
{
  const pol_joint *joint = pol_mechanism_joint(mechanism, index);
  pol_joint_row rows[POL_MAX_JOINT_ROWS];
  int num_rows = pol_joint_rows(joint, rows), end = ground_end(mechanism, joint->marker);
  int fixed = has_fixed_axes(mechanism, joint->marker);
  if (end < 0 && !fixed) return;
  const pol_marker *marker = pol_mechanism_marker(mechanism, joint->marker[end < 0 ? 0 : end]);
  const pol_marker *axes_of = fixed ? pol_mechanism_marker(mechanism, joint->marker[0]) : marker;
  double A[9], axes[3][3]; /* as rows */
  unsigned locked = 0, aligned = 0;
  pol_quat_to_matrix(axes_of->rotation, A);
  for (int k = 0; k < 9; k++) axes[k / 3][k % 3] = A[3 * (k % 3) + k / 3];
  for (int k = 0; k < 3; k++)
    if (poli_joint_aligns(joint, k)) aligned |= 1u << k;
  for (int i = 0; i < num_rows; i++) switch (rows[i].kind) {
    case POL_ROW_TRANSLATION:
      locked |= 1u << rows[i].axis;
      break;
    case POL_ROW_DISTANCE:
      if (end >= 0) require_point(s, marker->position);
      break;
    case POL_ROW_TWIST:
      for (int k = 0; k < 3; k++) require_no_spin(s, axes[k]);
      break;
    case POL_ROW_HEIGHT: /* what rolls on the ground is held by it at a point that travels */
    case POL_ROW_SLIP:
      require_nothing_moves(s);
      break;
    case POL_ROW_ROTATION:
      break;
    }
  /* unless the axes along which translations are locked are those of both markers, they turn with
   * the first one */
  const int shares_axes = !(locked & ~aligned) || !(~locked & 7u & ~aligned);
  if (end == 1 && !fixed && !shares_axes)
    require_point(s, marker->position);
  else
    require_translations(s, locked, end < 0 ? NULL : marker->position, (const double(*)[3])axes);
  if (fixed) return;
  /* rotations: axes that stay aligned are directions of the ground; else an axis of the ground's
   * marker that stays perpendicular to one of the other */
  for (int k = 0; k < 3; k++)
    if (aligned & 1u << k) require_direction(s, axes[k]);
  for (int i = 0; i < num_rows && !aligned; i++)
    if (rows[i].kind == POL_ROW_ROTATION)
      require_direction(s, axes[end == 0 ? rows[i].axis : rows[i].other]);
}

/* A coordinate between two markers that something acts on: one of the ground holds it as it is,
 * axes that keep their directions let nothing turn. */
static void require_coordinate(space *s, const pol_mechanism *mechanism, const int marker[2])
{
  if (ground_end(mechanism, marker) >= 0) require_nothing_moves(s);
  for (int k = 0; k < 3 && has_fixed_axes(mechanism, marker); k++) require_no_spin(s, unit[k]);
}

static void require_joint_coordinate(space *s, const pol_mechanism *mechanism, int joint)
{
  require_coordinate(s, mechanism, pol_mechanism_joint(mechanism, joint)->marker);
}

/* --- forces ----------------------------------------------------------------------------------- */

static int is_zero(const double *x, int count)
{
  for (int i = 0; i < count; i++)
    if (x[i] != 0.0) return 0;
  return 1;
}

static int has_expression(const pol_force *force)
{
  return force->expressions[0] || force->expressions[1] || force->expressions[2];
}

/* Force or torque: the constant part has one direction, each expression another. */
static void require_applied(space *s, const pol_force *force)
{
  const int is_torque = force->type == POL_APPLIED_TORQUE;
  double constant[3];
  for (int k = 0; k < 3; k++) constant[k] = force->expressions[k] ? 0.0 : force->vector[k];
  if (is_zero(constant, 3) && !has_expression(force)) return;
  if (force->frame == POL_BODY_AXES && !is_torque) {
    require_nothing_moves(s);
    return;
  }
  for (int k = 0; k < 3; k++) {
    if (is_torque && (force->frame == POL_BODY_AXES || force->expressions[k]))
      require_no_spin(s, unit[k]);
    else if (force->expressions[k])
      require_force(s, unit[k]);
  }
  if (is_torque)
    require_no_spin(s, constant);
  else
    require_force(s, constant);
}

/* Keeps what a force allows; returns whether it takes no energy out and puts none in. */
static int require_element(space *s, const pol_mechanism *mechanism, const pol_force *force)
{
  int end;
  switch (force->type) {
  case POL_APPLIED_FORCE:
  case POL_APPLIED_TORQUE:
    require_applied(s, force);
    return is_zero(force->vector, 3) && !has_expression(force);
  case POL_SUPPORT:
    /* Springs k_i along the global axes to an anchor a: k_i (u + w x a)_i = 0, and w may turn what
     * is equally stiff, (k_i - k_j) w_k = 0.  A damper is a force along its axis. */
    for (int k = 0; k < 3; k++) {
      if (force->stiffness[k] != 0.0) require_no_velocity(s, force->anchor, unit[k]);
      if (force->stiffness[(k + 1) % 3] != force->stiffness[(k + 2) % 3])
        require_no_spin(s, unit[k]);
      if (force->damping[k] != 0.0) require_force(s, unit[k]);
    }
    return is_zero(force->damping, 3);
  case POL_SPRING_DAMPER:
    end = ground_end(mechanism, force->marker);
    if (end >= 0) require_point(s, pol_mechanism_marker(mechanism, force->marker[end])->position);
    return force->damping[0] == 0.0 && force->actuator == 0.0 && !has_expression(force);
  case POL_BUSHING:
    if (ground_end(mechanism, force->marker) >= 0) require_nothing_moves(s);
    return is_zero(force->damping, 3) && is_zero(force->rotational_damping, 3);
  case POL_BEAM:
    if (ground_end(mechanism, force->marker) >= 0) require_nothing_moves(s);
    return is_zero(force->section->damping, 36);
  case POL_DRAG:
    if (force->coefficient != 0.0) require_nothing_moves(s);
    return force->coefficient == 0.0;
  case POL_JOINT_SPRING:
    require_joint_coordinate(s, mechanism, force->joint);
    return force->damping[0] == 0.0 && force->actuator == 0.0 && !has_expression(force);
  case POL_JOINT_STOP:
  case POL_JOINT_FRICTION:
    require_joint_coordinate(s, mechanism, force->joint);
    return force->type == POL_JOINT_STOP && force->damping[0] == 0.0 && force->rest_speed == 0.0;
  case POL_CALLBACK_FORCE: /* it is not known whether its two wrenches are opposite */
    break;
  }
  require_nothing_moves(s);
  return 0;
}

/* --- what is left ----------------------------------------------------------------------------- */

/* Turns the vectors, whose part of three numbers from `part` on is orthonormal, so that as many as
 * possible of these are global axes; those come first, in order. */
static void choose_axes(int count, double vectors[3][6], int part)
{
  double chosen[3][6];
  int found = 0;
  for (int c = 0; c < 3 + count && found < count; c++) {
    double x[6] = {0.0}, away[3], size;
    if (c < 3) { /* the projection of a global axis */
      for (int i = 0; i < count; i++)
        for (int k = 0; k < 6; k++) x[k] += vectors[i][part + c] * vectors[i][k];
      poli_v3_subtract(x + part, unit[c], away);
      if (sqrt(poli_v3_dot(away, away)) > same) continue;
    } else { /* what the chosen ones leave of the others */
      memcpy(x, vectors[c - 3], sizeof x);
      for (int m = 0; m < found; m++) {
        double share = poli_v3_dot(chosen[m] + part, x + part);
        for (int k = 0; k < 6; k++) x[k] -= share * chosen[m][k];
      }
      size = sqrt(poli_v3_dot(x + part, x + part));
      if (size < 1e-6) continue;
      for (int k = 0; k < 6; k++) x[k] /= size;
    }
    memcpy(chosen[found++], x, sizeof x);
  }
  memcpy(vectors, chosen, (size_t)found * sizeof *chosen);
}

void pol_mechanism_symmetries(const pol_mechanism *mechanism, pol_symmetries *symmetries)
{
  space s = {.dim = 6};
  double gravity[3], vectors[3][6], centre[3] = {0.0};
  for (int i = 0; i < 6; i++) s.basis[i][i] = 1.0;
  memset(symmetries, 0, sizeof *symmetries);
  symmetries->energy = pol_mechanism_num_drives(mechanism) == 0;
  pol_mechanism_gravity(mechanism, gravity);
  require_force(&s, gravity);
  for (int i = 0; i < pol_mechanism_num_joints(mechanism); i++) {
    const pol_joint *joint = pol_mechanism_joint(mechanism, i);
    require_joint(&s, mechanism, i);
    /* the momentum of a rotor is not among those of the bodies */
    for (int k = 0; joint->axes && k < pol_joint_num_coordinates(joint); k++)
      if (joint->axes[k].armature > 0.0) require_joint_coordinate(&s, mechanism, i);
  }
  for (int i = 0; i < pol_mechanism_num_drives(mechanism); i++) {
    const pol_drive *drive = pol_mechanism_drive(mechanism, i);
    if (drive->joint == POL_NO_JOINT)
      require_coordinate(&s, mechanism, drive->marker);
    else
      require_joint_coordinate(&s, mechanism, drive->joint);
  }
  for (int i = 0; i < 2 * pol_mechanism_num_couplings(mechanism); i++)
    require_joint_coordinate(&s, mechanism, pol_mechanism_coupling(mechanism, i / 2)->joint[i % 2]);
  for (int i = 0; i < pol_mechanism_num_bodies(mechanism); i++) {
    const pol_flexible_body *body = pol_mechanism_body(mechanism, i)->flexible;
    if (body && !is_zero(body->damping, body->num_modes * body->num_modes)) symmetries->energy = 0;
  }
  for (int i = 0; i < pol_mechanism_num_forces(mechanism); i++) {
    const pol_force *force = pol_mechanism_force(mechanism, i);
    if (!require_element(&s, mechanism, force)) symmetries->energy = 0;
  }

  /* translations are the motions without rotation */
  space translations = s;
  for (int k = 0; k < 3; k++) require_no_spin(&translations, unit[k]);
  symmetries->num_translations = translations.dim;
  memcpy(vectors, translations.basis, (size_t)translations.dim * sizeof *vectors);
  choose_axes(translations.dim, vectors, 3);
  for (int i = 0; i < translations.dim; i++)
    poli_v3_copy(vectors[i] + 3, symmetries->translation[i]);

  /* the rotations: an axis a through the point P has u = P x a.  Three axes meet in one point,
   * P = sum a x u/2; the points of others are those nearest to the origin, a x u. */
  for (int i = 0; i < translations.dim; i++) require(&s, translations.basis[i]);
  memcpy(vectors, s.basis, (size_t)s.dim * sizeof *vectors);
  for (int i = 0; i < s.dim; i++) { /* orthonormal angular velocities */
    for (int j = 0; j < i; j++) {
      double share = poli_v3_dot(vectors[i], vectors[j]);
      for (int k = 0; k < 6; k++) vectors[i][k] -= share * vectors[j][k];
    }
    double size = sqrt(poli_v3_dot(vectors[i], vectors[i]));
    for (int k = 0; k < 6; k++) vectors[i][k] /= size;
  }
  choose_axes(s.dim, vectors, 0);
  for (int i = 0; i < s.dim; i++) {
    poli_v3_copy(vectors[i], symmetries->axis[i]);
    poli_v3_cross(vectors[i], vectors[i] + 3, symmetries->point[i]);
    poli_v3_add_scaled(0.5, symmetries->point[i], centre);
  }
  symmetries->num_rotations = s.dim;
  for (int i = 0; i < 3 && s.dim == 3; i++) poli_v3_copy(centre, symmetries->point[i]);
}
