/* From the checked data of a model file to a mechanism.
 *
 * A joint that is given by a point gets two markers there, which coincide at the initial position.
 * Their axes are those of the first body, or follow from the joint's axis: z is turned into it by
 * the smallest rotation. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/lie.h>

#include "io/model/parts.h"
#include "lie/small.h"

static void copy4(const double a[4], double out[4])
{
  memcpy(out, a, 4 * sizeof *out);
}

/* (1 + z.a, z x a), normalised. */
void poli_rotation_to_axis(const double a[3], double q[4])
{
  /* 1 + a_z without cancellation; straight down, any half turn about a horizontal axis does */
  const double across = a[0] * a[0] + a[1] * a[1];
  const double w = a[2] < 0.0 ? across / (1.0 - a[2]) : 1.0 + a[2];
  const double half_turn[4] = {0.0, 1.0, 0.0, 0.0};
  const double turn[4] = {w, -a[1], a[0], 0.0};
  copy4(w == 0.0 ? half_turn : turn, q);
  pol_quat_normalize(q);
}

/* x along the first direction, y along the second, made exactly perpendicular, z = x x y. */
static void rotation_to_axes(const double axes[6], double q[4])
{
  double x[3], y[3], z[3], R[9];
  poli_v3_copy(axes, x);
  poli_v3_copy(axes + 3, y);
  poli_v3_add_scaled(-poli_v3_dot(x, y), x, y);
  poli_v3_scale(1.0 / sqrt(poli_v3_dot(y, y)), y, y);
  poli_v3_cross(x, y, z);
  for (int i = 0; i < 3; i++) {
    R[3 * i] = x[i];
    R[3 * i + 1] = y[i];
    R[3 * i + 2] = z[i];
  }
  pol_quat_from_matrix(R, q);
}

/* Global orientation of both markers of a joint that is given by bodies and a point. */
static void joint_rotation(const poli_model_data *data, const poli_model_joint *joint, double q[4])
{
  static const double identity[4] = {1.0, 0.0, 0.0, 0.0};
  const poli_model_body *bodies = data->bodies.items;
  if (joint->given == POLI_AXES_ONE)
    poli_rotation_to_axis(joint->axis, q);
  else if (joint->given == POLI_AXES_TWO)
    rotation_to_axes(joint->axes, q);
  else
    copy4(joint->bodies[0] == POL_GROUND ? identity : bodies[joint->bodies[0]].rotation, q);
}

static pol_status add_body(pol_mechanism *mechanism, const poli_model_body *from)
{
  pol_body body = {
      .name = from->name, .mass = from->mass, .point = from->point, .keep = from->keep};
  memcpy(body.inertia, from->inertia, sizeof body.inertia);
  poli_v3_copy(from->position, body.position);
  copy4(from->rotation, body.rotation);
  poli_v3_copy(from->velocity, body.velocity);
  poli_v3_copy(from->angular_velocity, body.angular_velocity);
  if (from->given_global) {
    double R[9];
    pol_quat_to_matrix(from->rotation, R);
    poli_m3_apply_transposed(R, from->angular_velocity_global, body.angular_velocity);
  }
  if (from->given_velocity) body.given |= POL_GIVEN_VELOCITY;
  if (from->given_body || from->given_global) body.given |= POL_GIVEN_ANGULAR_VELOCITY;
  if (from->given_global) body.given |= POL_GIVEN_IN_GLOBAL_AXES;
  return pol_mechanism_add_body(mechanism, &body, NULL);
}

static pol_status add_marker(pol_mechanism *mechanism, const poli_model_marker *from)
{
  pol_marker marker = {.name = from->name, .body = from->body};
  poli_v3_copy(from->position, marker.position);
  copy4(from->rotation, marker.rotation);
  return pol_mechanism_add_marker(mechanism, &marker, NULL);
}

static double initial_distance(const pol_mechanism *mechanism, const int markers[2])
{
  double first[3], second[3];
  pol_mechanism_marker_point(mechanism, markers[0], first);
  pol_mechanism_marker_point(mechanism, markers[1], second);
  return hypot(hypot(second[0] - first[0], second[1] - first[1]), second[2] - first[2]);
}

static pol_status add_joint(pol_mechanism *mechanism, const poli_model_data *data,
                            const poli_model_joint *from)
{
  pol_joint joint = {.name = from->name,
                     .type = (pol_joint_type)from->type,
                     .radius = from->radius,
                     .locked = from->locked,
                     .global_axes = from->frame == POL_GLOBAL_AXES};
  if (from->given == POLI_AXES_MARKERS) {
    /* the markers of the file were added first, so their indices are the mechanism's */
    memcpy(joint.marker, from->markers, sizeof joint.marker);
    joint.length = from->length;
    if (joint.type == POL_DISTANCE && joint.length == 0.0)
      joint.length = initial_distance(mechanism, joint.marker);
    return pol_mechanism_add_joint(mechanism, &joint, NULL);
  }
  double q[4];
  joint_rotation(data, from, q);
  for (int i = 0; i < 2; i++) {
    /* the first body's own axes need no rounding */
    const int own = i == 0 && from->given == POLI_AXES_OF_BODY;
    const pol_status status = pol_mechanism_add_marker_at(
        mechanism, "", from->bodies[i], from->point, own ? NULL : q, &joint.marker[i]);
    if (status != POL_OK) return status;
  }
  return pol_mechanism_add_joint(mechanism, &joint, NULL);
}

/* Where a point of a body is at the initial position. */
static void initial_point(const pol_body *body, const double point[3], double global[3])
{
  double R[9], arm[3];
  pol_quat_to_matrix(body->rotation, R);
  poli_m3_apply(R, point, arm);
  poli_v3_add(body->position, arm, global);
}

/* The point, body and axes of an applied force that is given by a marker. */
static void apply_at_marker(const pol_mechanism *mechanism, const poli_model_force *from,
                            pol_force *force)
{
  const pol_marker *marker = pol_mechanism_marker(mechanism, from->marker);
  double A[9], vector[3];
  force->body = marker->body;
  if (force->type == POL_APPLIED_FORCE) poli_v3_copy(marker->position, force->point);
  if (from->frame != POLI_MODEL_MARKER_AXES) return;
  force->frame = POL_BODY_AXES;
  pol_quat_to_matrix(marker->rotation, A);
  poli_m3_apply(A, force->vector, vector);
  poli_v3_copy(vector, force->vector);
}

/* The markers of a spring-damper or bushing; points get markers of their own. */
static pol_status set_ends(pol_mechanism *mechanism, const poli_model_force *from, int marker[2])
{
  pol_status status = POL_OK;
  memcpy(marker, from->markers, 2 * sizeof *marker);
  for (int i = 0; i < 2 && from->given_bodies && !status; i++) {
    pol_marker point = {.name = "", .body = from->bodies[i], .rotation = {1.0, 0.0, 0.0, 0.0}};
    poli_v3_copy(from->points + 3 * i, point.position);
    status = from->given_points
                 ? pol_mechanism_add_marker(mechanism, &point, &marker[i])
                 : pol_mechanism_add_marker_at(mechanism, "", from->bodies[i],
                                               from->points_global + 3 * i, NULL, &marker[i]);
  }
  return status;
}

/* Adds the force, with its function of time if it has one. */
static pol_status add_scaled(pol_mechanism *mechanism, const poli_model_force *from,
                             pol_force *force)
{
  pol_function scale;
  double *numbers;
  if (!from->given_scale) return pol_mechanism_add_force(mechanism, force, NULL);
  pol_status status = poli_make_function(&from->scale, &scale, &numbers);
  if (status) return status;
  force->scale = &scale;
  status = pol_mechanism_add_force(mechanism, force, NULL);
  force->scale = NULL; /* the mechanism has its own copy */
  free(numbers);
  return status;
}

/* The numbers and expressions of its vector or actuator. */
static void set_efforts(const poli_model_force *from, pol_force *force)
{
  const poli_model_effort *vector = force->type == POL_APPLIED_TORQUE ? from->torque : from->force;
  force->actuator = from->actuator.number;
  force->expressions[0] = from->actuator.expression;
  for (int i = 0; i < 3 && pol_force_num_expressions(force->type) == 3; i++) {
    force->vector[i] = vector[i].number;
    force->expressions[i] = vector[i].expression;
  }
}

static pol_status add_force(pol_mechanism *mechanism, const poli_model_force *from)
{
  pol_force force = {.name = from->name,
                     .type = (pol_force_type)from->type,
                     .body = from->body,
                     .frame = (pol_force_frame)from->frame,
                     .law = (pol_spring_law)from->law,
                     .length = from->length,
                     .coefficient = from->coefficient,
                     .joint = from->joint,
                     .coordinate = from->coordinate,
                     .rest = from->rest};
  set_efforts(from, &force);
  poli_v3_copy(from->point, force.point);
  poli_v3_copy(from->stiffness.value, force.stiffness);
  poli_v3_copy(from->damping.value, force.damping);
  poli_v3_copy(from->anchor, force.anchor);
  if (force.type == POL_SUPPORT && !from->given_anchor)
    initial_point(pol_mechanism_body(mechanism, force.body), force.point, force.anchor);
  poli_v3_copy(from->rotational_stiffness.value, force.rotational_stiffness);
  poli_v3_copy(from->rotational_damping.value, force.rotational_damping);
  poli_v3_copy(from->preload, force.preload);
  poli_v3_copy(from->preload_torque, force.preload_torque);
  if (from->given_marker) apply_at_marker(mechanism, from, &force);
  if (force.type == POL_SPRING_DAMPER || force.type == POL_BUSHING) {
    const pol_status status = set_ends(mechanism, from, force.marker);
    if (status != POL_OK) return status;
  }
  if (force.type == POL_SPRING_DAMPER && !from->given_length)
    force.length = initial_distance(mechanism, force.marker);
  return add_scaled(mechanism, from, &force);
}

/* Why something that has passed every rule is refused: its numbers overflow; the length of a
 * distance is to be that between its markers, which coincide; or the direction of a spring-damper
 * is. */
static const char size_rule[] = "must not have numbers that are too large or too small";
static const char distance_rule[] = "must have a \"length\" or markers that are apart";

static const char spring_rule[] = "must have ends that are apart: a spring-damper needs a line";

/* Passes on a failure; rule says what can be wrong. */
static int is_added(poli_reader *reader, const poli_place *top, const char *list, size_t index,
                    const char *rule, pol_status status)
{
  if (status == POL_BAD_ARGUMENT) {
    const poli_place objects = poli_place_key(top, list);
    const poli_place object = poli_place_item(&objects, index);
    poli_report(reader, &object, "", "%s", rule);
  } else if (status != POL_OK) {
    reader->status = status;
  }
  return status == POL_OK;
}

void poli_build_mechanism(poli_reader *reader, const poli_place *top, const poli_model_data *data,
                          pol_mechanism *mechanism)
{
  const poli_model_body *bodies = data->bodies.items;
  const poli_model_marker *markers = data->markers.items;
  const poli_model_joint *joints = data->joints.items;
  const poli_model_force *forces = data->forces.items;
  const poli_model_drive *drives = data->drives.items;
  const poli_model_coupling *couplings = data->couplings.items;
  const pol_variable *variables = data->variables.items;
  const pol_state_variable *states = data->states.items;
  int good = 1;
  pol_mechanism_set_gravity(mechanism, data->gravity);
  for (size_t i = 0; good && i < data->bodies.count; i++)
    good = is_added(reader, top, "bodies", i, size_rule, add_body(mechanism, &bodies[i]));
  for (size_t i = 0; good && i < data->markers.count; i++)
    good = is_added(reader, top, "markers", i, size_rule, add_marker(mechanism, &markers[i]));
  for (size_t i = 0; good && i < data->joints.count; i++)
    good = is_added(reader, top, "joints", i,
                    joints[i].type == POL_DISTANCE ? distance_rule : size_rule,
                    add_joint(mechanism, data, &joints[i]));
  for (size_t i = 0; good && i < data->forces.count; i++)
    good = is_added(reader, top, "forces", i,
                    forces[i].type == POL_SPRING_DAMPER ? spring_rule : size_rule,
                    add_force(mechanism, &forces[i]));
  for (size_t i = 0; good && i < data->drives.count; i++)
    good =
        is_added(reader, top, "drives", i, size_rule, poli_add_model_drive(mechanism, &drives[i]));
  for (size_t i = 0; good && i < data->couplings.count; i++)
    good = is_added(reader, top, "couplings", i, size_rule,
                    poli_add_model_coupling(mechanism, &couplings[i]));
  for (size_t i = 0; good && i < data->variables.count; i++)
    good = is_added(reader, top, "variables", i, size_rule,
                    pol_mechanism_add_variable(mechanism, &variables[i], NULL));
  for (size_t i = 0; good && i < data->states.count; i++)
    good = is_added(reader, top, "states", i, size_rule,
                    pol_mechanism_add_state(mechanism, &states[i], NULL));
  if (good) poli_check_expressions(reader, top, mechanism);
}
