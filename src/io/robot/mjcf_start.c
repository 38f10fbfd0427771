/* MJCF: where bodies are and how they move at the start; keyframes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/errors.h"
#include "io/robot/mjcf.h"
#include "lie/small.h"

typedef enum place_kind { AT_ZERO, AT_SPRINGS, AT_START } place_kind;

/* --- keyframes -------------------------------------------------------------------------------- */

/* Numbers of coordinates and velocities of each kind of joint, in the order of the enum. */
static const int num_positions[] = {1, 1, 4, 7}, num_velocities[] = {1, 1, 3, 6};

/* The numbers of an attribute, all `count` of them, one or more for each of `owners`; NULL if there
 * is none or they are wrong. */
static double *read_list(poli_mjcf *m, const xmlNode *at, const char *name, const char *path,
                         int count, const char *owners)
{
  char *text = poli_xml_text(at, name);
  double *numbers = text ? calloc((size_t)count + 1, sizeof *numbers) : NULL;
  int found = 0, good = 1;
  if (text && !numbers) m->robot->status = POL_NO_MEMORY;
  for (const char *rest = text; numbers && good;) {
    rest += strspn(rest, " \t\r\n");
    if (*rest == '\0') break;
    char *end;
    const double x = strtod(rest, &end);
    good = end != rest && isfinite(x) && found < count;
    if (good) numbers[found++] = x;
    rest = end;
  }
  if (numbers && (!good || found != count)) {
    char *where = poli_format("%s: %s", path, name);
    char *rule = poli_format("must be %d finite numbers, those of all %s", count, owners);
    if (where && rule)
      poli_robot_error(m->robot, at, where, "", rule, "");
    else
      m->robot->status = POL_NO_MEMORY;
    free(where);
    free(rule);
    free(numbers);
    numbers = NULL;
  }
  if (text) xmlFree(text);
  return numbers;
}

/* The <key> of that name. */
static const xmlNode *find_key(poli_mjcf *m, const char *name)
{
  pol_near near = pol_near_start(name);
  const xmlNode *found = NULL;
  char *best = NULL;
  for (const xmlNode *list = poli_xml_child(m->top, "keyframe"); list; list = poli_xml_next(list))
    for (const xmlNode *at = poli_xml_child(list, "key"); at && !found; at = poli_xml_next(at)) {
      char *own = poli_xml_text(at, "name");
      if (own && strcmp(own, name) == 0) found = at;
      const char *before = near.best;
      if (own) pol_near_try(&near, own);
      if (near.best != before) { /* the name is freed below */
        free(best);
        best = poli_format("%s", own);
        near.best = best ? best : "";
      }
      if (own) xmlFree(own);
    }
  if (!found)
    poli_robot_error(m->robot, NULL, "keyframe", name, "is not the name of a <key>",
                     best ? best : "");
  free(best);
  return found;
}

/* Coordinates, velocities and controls of the keyframe. */
static void read_keyframe(poli_mjcf *m)
{
  int nq = 0, nv = 0, nu = 0;
  for (const xmlNode *list = poli_xml_child(m->top, "actuator"); list; list = poli_xml_next(list))
    for (const xmlNode *at = list->children; at; at = at->next) nu += at->type == XML_ELEMENT_NODE;
  for (int i = 0; i < m->num_joints; i++)
    nq += num_positions[m->joints[i].kind], nv += num_velocities[m->joints[i].kind];
  char *path = poli_mjcf_path(m, m->key, -1);
  double *q = path ? read_list(m, m->key, "qpos", path, nq, "joints") : NULL;
  double *v = path ? read_list(m, m->key, "qvel", path, nv, "joints") : NULL;
  m->controls = path ? read_list(m, m->key, "ctrl", path, nu, "actuators") : NULL;
  nq = nv = 0;
  for (int i = 0; i < m->num_joints; i++) {
    poli_mjcf_joint *j = &m->joints[i];
    const int is_simple = j->kind == POLI_HINGE || j->kind == POLI_SLIDE;
    if (q && is_simple) j->start = q[nq] - j->ref;
    if (q && !is_simple) {
      const int first = j->kind == POLI_FREE ? 0 : 3; /* of position and quaternion */
      memcpy(j->start_pose + first, q + nq, (size_t)num_positions[j->kind] * sizeof *q);
      double sum = 0.0, *turn = j->start_pose + 3;
      for (int k = 0; k < 4; k++) sum += turn[k] * turn[k];
      if (!(sum > 0.0))
        poli_robot_error(m->robot, m->key, path, "", "has a quaternion of zero in qpos", "");
      for (int k = 0; k < 4 && sum > 0.0; k++) turn[k] /= sqrt(sum);
    }
    if (v) memcpy(j->start_velocity, v + nv, (size_t)num_velocities[j->kind] * sizeof *v);
    nq += num_positions[j->kind], nv += num_velocities[j->kind];
  }
  free(q);
  free(v);
  static const char *const unused[] = {"time", "act", "mpos", "mquat"};
  for (int i = 0; i < 4 && path; i++)
    if (xmlHasProp(m->key, (const xmlChar *)unused[i]))
      poli_robot_note(m->robot, "%s: %s is not used", path, unused[i]);
  if (path)
    poli_robot_note(m->robot, "%s: joints start there, where their coordinates in results are 0",
                    path);
  free(path);
}

/* --- poses ------------------------------------------------------------------------------------ */

/* The motion by one joint, in the axes of the body before it. */
static void find_motion(const poli_mjcf_joint *j, place_kind kind, poli_pose *motion)
{
  const double x = kind == AT_START ? j->start : kind == AT_SPRINGS ? j->rest - j->ref : 0.0;
  *motion = poli_pose_identity;
  if (j->kind == POLI_SLIDE) {
    poli_v3_scale(x, j->axis, motion->position);
    return;
  }
  if (j->kind == POLI_HINGE) poli_pose_set_axis(j->axis, x, motion->R);
  const double *turn = j->start_pose + 3;
  const int is_given = turn[0] != 0.0 || turn[1] != 0.0 || turn[2] != 0.0 || turn[3] != 0.0;
  if (j->kind == POLI_BALL && kind == AT_START && is_given) poli_quat_to_matrix(turn, motion->R);
  double moved[3];
  poli_m3_apply(motion->R, j->position, moved);
  poli_v3_subtract(j->position, moved, motion->position);
}

/* Moves a body by its joints, one after the other; at the start also their axes and points. */
static void move_body(poli_mjcf *m, poli_mjcf_body *b, place_kind kind, poli_pose *pose)
{
  for (int i = b->first_joint; i < b->first_joint + b->num_joints; i++) {
    poli_mjcf_joint *j = &m->joints[i];
    poli_pose motion;
    if (j->kind == POLI_FREE) {
      const double *turn = j->start_pose + 3;
      if (kind == AT_START &&
          (turn[0] != 0.0 || turn[1] != 0.0 || turn[2] != 0.0 || turn[3] != 0.0)) {
        poli_v3_copy(j->start_pose, pose->position);
        poli_quat_to_matrix(turn, pose->R);
      }
      continue;
    }
    if (kind == AT_START) { /* global, until all joints have moved the body */
      poli_m3_apply(pose->R, j->axis, j->start_axis);
      poli_m3_apply(pose->R, j->position, j->start_position);
      poli_v3_add(pose->position, j->start_position, j->start_position);
    }
    find_motion(j, kind, &motion);
    poli_pose_product(pose, &motion, pose);
  }
}

/* Adds the velocity of the joints of a body to that of its parent; brings their axes and points
 * into its own frame. */
static void finish_start(poli_mjcf *m, poli_mjcf_body *b)
{
  double *v = b->velocity, *w = b->velocity + 3;
  memcpy(b->velocity, m->bodies[b->parent].velocity, sizeof b->velocity);
  for (int i = b->first_joint; i < b->first_joint + b->num_joints; i++) {
    poli_mjcf_joint *j = &m->joints[i];
    double turn[3] = {0.0, 0.0, 0.0}, swept[3], offset[3];
    const double *point = j->kind == POLI_FREE ? b->pose.position : j->start_position;
    if (j->kind == POLI_HINGE) poli_v3_scale(j->start_velocity[0], j->start_axis, turn);
    if (j->kind == POLI_BALL) poli_m3_apply(b->pose.R, j->start_velocity, turn);
    if (j->kind == POLI_FREE) poli_m3_apply(b->pose.R, j->start_velocity + 3, turn);
    if (j->kind == POLI_FREE) poli_v3_add(v, j->start_velocity, v);
    if (j->kind == POLI_SLIDE) poli_v3_add_scaled(j->start_velocity[0], j->start_axis, v);
    poli_v3_cross(turn, point, swept);
    poli_v3_subtract(v, swept, v);
    poli_v3_add(w, turn, w);
    if (j->kind == POLI_FREE) continue;
    poli_v3_subtract(j->start_position, b->pose.position, offset);
    poli_m3_apply_transposed(b->pose.R, offset, j->start_position);
    poli_v3_copy(j->start_axis, turn);
    poli_m3_apply_transposed(b->pose.R, turn, j->start_axis);
  }
}

/* Joints whose limits do not contain ref. */
static void start_at_limits(poli_mjcf *m)
{
  for (int i = 1; i < m->num_bodies; i++) {
    if (m->bodies[i].num_joints != 1) continue;
    poli_mjcf_joint *j = &m->joints[m->bodies[i].first_joint];
    j->start = fmin(fmax(j->ref, j->limits[0]), j->limits[1]) - j->ref;
    if (j->start + j->ref != 0.0)
      poli_robot_note(m->robot, "%s starts at %.6g, where its coordinate in results is 0", j->path,
                      j->start + j->ref);
  }
}

void poli_mjcf_place_bodies(poli_mjcf *m)
{
  const char *name = m->robot->options.keyframe;
  m->key = name ? find_key(m, name) : NULL;
  if (m->key)
    read_keyframe(m);
  else
    start_at_limits(m);
  m->bodies[0].pose = m->bodies[0].zero_pose = m->bodies[0].spring_pose = poli_pose_identity;
  for (int i = 1; i < m->num_bodies; i++) {
    poli_mjcf_body *b = &m->bodies[i];
    const poli_mjcf_body *parent = &m->bodies[b->parent];
    if (b->num_joints == 0) b->first = parent->first;
    poli_pose_product(&parent->zero_pose, &b->local, &b->zero_pose);
    poli_pose_product(&parent->spring_pose, &b->local, &b->spring_pose);
    poli_pose_product(&parent->pose, &b->local, &b->pose);
    move_body(m, b, AT_ZERO, &b->zero_pose);
    move_body(m, b, AT_SPRINGS, &b->spring_pose);
    move_body(m, b, AT_START, &b->pose);
    finish_start(m, b);
  }
}
