/* MJCF: tendons and actuators, as forces on the coordinates of joints.
 *
 * The length of a fixed tendon is a sum of joint coordinates, L = sum of coef q; a spatial one is
 * read if it goes straight from one site to another.  Both pull with stiffness (springlength - L) -
 * damping L'; without springlength, the spring is relaxed with all joints at springref.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errors.h"
#include "io/robot/mjcf.h"
#include "lie/small.h"

/* --- sums of coordinates ---------------------------------------------------------------------- */

/* Sum of coef q over joints. */
typedef struct terms {
  int count;
  const poli_mjcf_joint **joints;
  double *factors;
} terms;

static void free_terms(terms *t)
{
  free(t->joints);
  free(t->factors);
  *t = (terms){0};
}

/* Adds a term, to that of the same joint if there is one. */
static void add_term(poli_mjcf *m, terms *t, const poli_mjcf_joint *joint, double factor)
{
  for (int i = 0; i < t->count; i++)
    if (t->joints[i] == joint) {
      t->factors[i] += factor;
      return;
    }
  const size_t count = (size_t)t->count + 1;
  void *joints = realloc(t->joints, count * sizeof *t->joints);
  if (joints) t->joints = joints;
  double *factors = realloc(t->factors, count * sizeof *factors);
  if (factors) t->factors = factors;
  if (!joints || !factors) {
    m->robot->status = POL_NO_MEMORY;
    return;
  }
  t->joints[t->count] = joint;
  t->factors[t->count++] = factor;
}

/* Appends to a text, which it frees; NULL without memory. */
static char *append(char *text, const char *format, double x, const char *name, const char *signal)
{
  char *longer = text ? poli_format(format, text, x, name, signal) : NULL;
  free(text);
  return longer;
}

/* text + position (sum) + rate (sum)': terms of the coordinates of the model, q = ref + start +
 * sign c. */
static char *append_terms(char *text, const terms *t, double position, double rate)
{
  for (int i = 0; i < t->count; i++) {
    const poli_mjcf_joint *j = t->joints[i];
    const double factor = t->factors[i] * j->sign;
    if (position * factor != 0.0)
      text = append(text, "%s + (%.17g)*'%s'.%s", position * factor, j->model_name, j->value);
    if (rate * factor != 0.0)
      text = append(text, "%s + (%.17g)*'%s'.%s", rate * factor, j->model_name, j->rate);
  }
  return text;
}

/* The sum where all c are zero. */
static double sum_at_start(const terms *t)
{
  double sum = 0.0;
  for (int i = 0; i < t->count; i++)
    sum += t->factors[i] * (t->joints[i]->ref + t->joints[i]->start);
  return sum;
}

/* A variable, and with it as force on the sum a force on each joint; NAME, NAME_2, ... */
static void add_forces(poli_mjcf *m, const terms *t, const char *wanted, const char *path,
                       const char *expression)
{
  poli_robot *robot = m->robot;
  char *title = poli_format("%s_force", wanted);
  char *variable = title ? poli_robot_name(robot, "variables", title, "tendon", path) : NULL;
  free(title);
  if (!variable || !expression) {
    robot->status = POL_NO_MEMORY;
    free(variable);
    return;
  }
  poli_robot_add(robot, "variables",
                 json_pack("{s:s, s:s}", "name", variable, "expression", expression));
  for (int i = 0; i < t->count && !robot->status; i++) {
    const poli_mjcf_joint *j = t->joints[i];
    char *own = i == 0 ? poli_format("%s", wanted) : poli_format("%s_%d", wanted, i + 1);
    char *name = own ? poli_robot_name(robot, "elements", own, "tendon", path) : NULL;
    char *force = poli_format("(%.17g)*'%s'", t->factors[i] * j->sign, variable);
    if (name && force)
      poli_robot_add(robot, "forces",
                     json_pack("{s:s, s:s, s:s, s:s, s:f, s:s}", "name", name, "type",
                               "joint-spring", "joint", j->model_name, "coordinate", j->coordinate,
                               "stiffness", 0.0, "actuator", force));
    else
      robot->status = POL_NO_MEMORY;
    free(own);
    free(name);
    free(force);
  }
  free(variable);
}

/* --- tendons ---------------------------------------------------------------------------------- */

/* A tendon by name; NULL if there is none. */
static const xmlNode *find_tendon(const poli_mjcf *m, const char *name)
{
  for (const xmlNode *list = poli_xml_child(m->top, "tendon"); list; list = poli_xml_next(list))
    for (const xmlNode *at = list->children; at; at = at->next) {
      char *own = at->type == XML_ELEMENT_NODE ? poli_xml_text(at, "name") : NULL;
      const int is_it = own && name && strcmp(own, name) == 0;
      if (own) xmlFree(own);
      if (is_it) return at;
    }
  return NULL;
}

/* Adds the terms of a fixed tendon, times a factor.  Why it cannot be used, or NULL. */
static const char *read_fixed(poli_mjcf *m, const xmlNode *at, const char *path, double scale,
                              terms *t)
{
  const char *reason = NULL;
  if (strcmp((const char *)at->name, "fixed") != 0) return "it is not fixed";
  for (const xmlNode *child = poli_xml_child(at, "joint"); child; child = poli_xml_next(child)) {
    char *name = poli_xml_text(child, "joint");
    const int number = poli_mjcf_find(m->joint_numbers, name);
    double factor = 1.0;
    poli_xml_numbers(m->robot, child, "coef", path, 1, &factor);
    if (number < 0)
      poli_robot_error(m->robot, child, path, name ? name : "", "must name a joint", "");
    else if (!m->joints[number].coordinate)
      reason = "one of its joints has no coordinate in the model";
    else
      add_term(m, t, &m->joints[number], scale * factor);
    if (name) xmlFree(name);
  }
  return reason ? reason : t->count == 0 ? "it has no joints" : NULL;
}

/* The two sites of a spatial tendon.  Why it cannot be used, or NULL. */
static const char *read_spatial(poli_mjcf *m, const xmlNode *at, const char *path,
                                const poli_mjcf_part *ends[2])
{
  int count = 0;
  for (const xmlNode *child = at->children; child; child = child->next) {
    if (child->type != XML_ELEMENT_NODE) continue;
    if (strcmp((const char *)child->name, "site") != 0 || count == 2)
      return "only those between two sites are";
    char *name = poli_xml_text(child, "site");
    const poli_mjcf_part *found = NULL;
    for (int i = 0; i < m->num_parts && name && !found; i++) {
      char *own = m->parts[i].is_geom ? NULL : poli_xml_text(m->parts[i].at, "name");
      if (own && strcmp(own, name) == 0) found = &m->parts[i];
      if (own) xmlFree(own);
    }
    if (!found) poli_robot_error(m->robot, child, path, name ? name : "", "must name a site", "");
    if (name) xmlFree(name);
    if (!found || !found->marker) return "a site is missing";
    ends[count++] = found;
  }
  if (count < 2) return "only those between two sites are";
  return m->bodies[ends[0]->body].first == m->bodies[ends[1]->body].first
             ? "its sites are fixed to each other"
             : NULL;
}

/* The distance of two sites with all joints at springref. */
static double spring_distance(const poli_mjcf *m, const poli_mjcf_part *const ends[2])
{
  poli_pose at[2];
  double d[3];
  for (int i = 0; i < 2; i++)
    poli_pose_product(&m->bodies[ends[i]->body].spring_pose, &ends[i]->pose, &at[i]);
  poli_v3_subtract(at[1].position, at[0].position, d);
  return sqrt(poli_v3_dot(d, d));
}

/* Spring and damper of a spatial tendon. */
static void add_spatial(poli_mjcf *m, const char *wanted, const char *path,
                        const poli_mjcf_part *const ends[2], const double law[3], int has_length)
{
  char *name = poli_robot_name(m->robot, "elements", wanted, "tendon", path);
  if (name)
    poli_robot_add(m->robot, "forces",
                   json_pack("{s:s, s:s, s:[s, s], s:f, s:f, s:f}", "name", name, "type",
                             "spring-damper", "markers", ends[0]->marker, ends[1]->marker,
                             "stiffness", law[0], "damping", law[1], "length",
                             has_length ? law[2] : spring_distance(m, ends)));
  free(name);
}

/* Spring and damper of a fixed tendon: k (L0 - L) - d L'. */
static void add_fixed(poli_mjcf *m, const char *wanted, const char *path, const terms *t,
                      const double law[3], int has_length)
{
  double rest = has_length ? law[2] : 0.0;
  for (int i = 0; i < t->count && !has_length; i++) rest += t->factors[i] * t->joints[i]->rest;
  char *force = poli_format("(%.17g)", law[0] * (rest - sum_at_start(t)));
  force = append_terms(force, t, -law[0], -law[1]);
  add_forces(m, t, wanted, path, force);
  free(force);
}

static void add_tendon(poli_mjcf *m, const xmlNode *at, const char *path)
{
  poli_robot *robot = m->robot;
  double law[3] = {0.0, 0.0, -1.0}, lengths[2]; /* stiffness, damping, springlength */
  terms t = {0};
  const poli_mjcf_part *ends[2] = {NULL, NULL};
  const int is_fixed = strcmp((const char *)at->name, "fixed") == 0;
  const int before = robot->errors->count;
  poli_mjcf_numbers(m, at, "stiffness", path, 1, 1, &law[0]);
  poli_mjcf_numbers(m, at, "damping", path, 1, 1, &law[1]);
  const int count = poli_mjcf_numbers(m, at, "springlength", path, 1, 2, lengths);
  if (count > 0) law[2] = lengths[0];
  if (law[0] < 0.0 || law[1] < 0.0)
    poli_robot_error(robot, at, path, "", "must not have a negative stiffness or damping", "");
  const char *reason =
      is_fixed ? read_fixed(m, at, path, 1.0, &t) : read_spatial(m, at, path, ends);
  if (count == 2 && lengths[0] != lengths[1]) reason = "its springlength is a range";
  static const char *const unused[] = {"range", "frictionloss", "armature", "actuatorfrcrange"};
  for (int i = 0; i < 4; i++) {
    char *text = poli_mjcf_text(m, at, unused[i]);
    const int has = text && !(i == 0 && poli_mjcf_is(m, at, "limited", "false", 0));
    if (has) poli_robot_note(robot, "tendon: %s: %s is not used", path, unused[i]);
    if (text) xmlFree(text);
  }
  if (reason && robot->errors->count == before) {
    poli_robot_note(robot, "tendon: %s is not used: %s", path, reason);
  } else if (robot->errors->count == before && (law[0] > 0.0 || law[1] > 0.0)) {
    char *own = poli_xml_text(at, "name");
    const char *wanted = own && own[0] ? own : "tendon";
    if (is_fixed)
      add_fixed(m, wanted, path, &t, law, law[2] >= 0.0);
    else
      add_spatial(m, wanted, path, ends, law, law[2] >= 0.0);
    if (own) xmlFree(own);
  }
  free_terms(&t);
}

/* L1 - L1(zero) = a0 + a1 (L2 - L2(zero)) of fixed tendons, if it is one of two joints. */
static void add_equality(poli_mjcf *m, const xmlNode *at, const char *path)
{
  static const char *const keys[2] = {"tendon1", "tendon2"};
  double polynomial[5] = {0.0, 1.0, 0.0, 0.0, 0.0}, rest;
  terms t = {0};
  const char *reason = NULL;
  const int before = m->robot->errors->count;
  poli_mjcf_numbers(m, at, "polycoef", path, 1, 5, polynomial);
  for (int i = 0; i < 2 && !reason; i++) {
    char *name = poli_xml_text(at, keys[i]);
    const xmlNode *tendon = find_tendon(m, name);
    if (i == 0 ? !tendon : name && !tendon)
      poli_robot_error(m->robot, at, path, name ? name : "", "must name a tendon", "");
    if (tendon) reason = read_fixed(m, tendon, path, i == 0 ? 1.0 : -polynomial[1], &t);
    if (i == 1 && tendon && (polynomial[2] != 0.0 || polynomial[3] != 0.0 || polynomial[4] != 0.0))
      reason = "its polynomial is not linear";
    if (name) xmlFree(name);
  }
  if (!reason && (t.count != 2 || t.factors[0] == 0.0 || t.factors[1] == 0.0))
    reason = "only those of two joints are";
  for (int i = 0; i < 2 && !reason; i++)
    if (strcmp(t.joints[i]->coordinate, "rotation") != 0 &&
        strcmp(t.joints[i]->coordinate, "translation") != 0)
      reason = "one of its joints has no coordinate that can be coupled";
  if (m->robot->errors->count > before) {
    free_terms(&t);
    return;
  }
  char *own = poli_xml_text(at, "name"), *name = NULL;
  if (reason)
    poli_robot_note(m->robot, "equality: %s is not used: %s", path, reason);
  else
    name = poli_robot_name(m->robot, "elements", own ? own : "tendon", "equality", path);
  if (name) {
    const poli_mjcf_joint *const *j = t.joints;
    rest = polynomial[0] - t.factors[0] * j[0]->start - t.factors[1] * j[1]->start;
    poli_robot_add(m->robot, "couplings",
                   json_pack("{s:s, s:[s, s], s:[s, s], s:[f, f], s:[f, f]}", "name", name,
                             "joints", j[0]->model_name, j[1]->model_name, "coordinates",
                             j[0]->coordinate, j[1]->coordinate, "factors",
                             t.factors[0] * j[0]->sign, t.factors[1] * j[1]->sign, "reference",
                             rest / (t.factors[0] * j[0]->sign), 0.0));
  }
  if (own) xmlFree(own);
  free(name);
  free_terms(&t);
}

void poli_mjcf_add_tendons(poli_mjcf *m)
{
  for (const xmlNode *list = poli_xml_child(m->top, "tendon"); list; list = poli_xml_next(list))
    for (const xmlNode *at = list->children; at && !m->robot->status; at = at->next) {
      char *path = at->type == XML_ELEMENT_NODE ? poli_mjcf_path(m, at, -1) : NULL;
      if (path) add_tendon(m, at, path);
      free(path);
    }
  for (const xmlNode *list = poli_xml_child(m->top, "equality"); list; list = poli_xml_next(list))
    for (const xmlNode *at = poli_xml_child(list, "tendon"); at && !m->robot->status;
         at = poli_xml_next(at)) {
      char *path = poli_mjcf_path(m, at, -1);
      if (path && !poli_mjcf_is(m, at, "active", "false", 0)) add_equality(m, at, path);
      if (path && poli_mjcf_is(m, at, "active", "false", 0))
        poli_robot_note(m->robot, "equality: %s is not used: it is not active", path);
      free(path);
    }
}

/* --- actuators -------------------------------------------------------------------------------- */

/* The force of a motor, position, velocity or general actuator:
 * gear (gain u + b0 + b1 l + b2 l'), with the length l = gear q or gear L. */
typedef struct actuator {
  double gain, bias[3], gear[6];
  double control[2], force[2]; /* ranges; infinite if there are none */
} actuator;

static void read_range(poli_mjcf *m, const xmlNode *at, const char *path, const char *name,
                       const char *limited, double range[2])
{
  double ends[2];
  range[0] = -HUGE_VAL, range[1] = HUGE_VAL;
  const int has = poli_mjcf_numbers(m, at, name, path, 2, 2, ends) == 2;
  if (!has || !(poli_mjcf_is(m, at, limited, "true", 0) ||
                (m->auto_limits && poli_mjcf_is(m, at, limited, "auto", 1))))
    return;
  if (!(ends[0] < ends[1]))
    poli_robot_error(m->robot, at, path, name, "must be from a smaller to a larger number", "");
  range[0] = ends[0], range[1] = ends[1];
}

/* 0 if an actuator is of another kind. */
static int read_actuator(poli_mjcf *m, const xmlNode *at, const char *path, actuator *a)
{
  const char *kind = (const char *)at->name;
  double kp = 1.0, kv = strcmp(kind, "velocity") == 0 ? 1.0 : 0.0, gain[10] = {1.0},
         bias[10] = {0.0};
  *a = (actuator){.gain = 1.0, .gear = {1.0}};
  poli_mjcf_numbers(m, at, "gear", path, 1, 6, a->gear);
  poli_mjcf_numbers(m, at, "kp", path, 1, 1, &kp);
  poli_mjcf_numbers(m, at, "kv", path, 1, 1, &kv);
  read_range(m, at, path, "ctrlrange", "ctrllimited", a->control);
  read_range(m, at, path, "forcerange", "forcelimited", a->force);
  if (strcmp(kind, "motor") == 0) return 1;
  if (strcmp(kind, "position") == 0) {
    a->gain = kp, a->bias[1] = -kp, a->bias[2] = -kv;
    return 1;
  }
  if (strcmp(kind, "velocity") == 0) {
    a->gain = kv, a->bias[2] = -kv;
    return 1;
  }
  if (strcmp(kind, "general") != 0 || !poli_mjcf_is(m, at, "dyntype", "none", 1) ||
      !poli_mjcf_is(m, at, "gaintype", "fixed", 1))
    return 0;
  poli_mjcf_numbers(m, at, "gainprm", path, 1, 10, gain);
  poli_mjcf_numbers(m, at, "biasprm", path, 1, 10, bias);
  a->gain = gain[0];
  if (poli_mjcf_is(m, at, "biastype", "affine", 0)) poli_v3_copy(bias, a->bias);
  return poli_mjcf_is(m, at, "biastype", "affine", 0) || poli_mjcf_is(m, at, "biastype", "none", 1);
}

/* The force on the sum of coordinates that it acts on, as an expression of the control u; scale:
 * of the sum to the coordinate of the model, if it is one. */
static char *actuator_expression(const actuator *a, const terms *t, double scale,
                                 const char *variable)
{
  const double g = a->gear[0];
  char *u = isfinite(a->control[0]) ? poli_format("clamp('%s', (%.17g), (%.17g))", variable,
                                                  a->control[0], a->control[1])
                                    : poli_format("'%s'", variable);
  char *force = u ? poli_format("(%.17g)*%s", a->gain, u) : NULL;
  const double constant = a->bias[0] + a->bias[1] * g * sum_at_start(t);
  if (constant != 0.0) force = append(force, "%s + (%.17g)", constant, "", "");
  force = append_terms(force, t, a->bias[1] * g, a->bias[2] * g);
  char *whole = NULL;
  if (force && isfinite(a->force[0]))
    whole = poli_format("(%.17g)*clamp(%s, (%.17g), (%.17g))", g * scale, force, a->force[0],
                        a->force[1]);
  else if (force)
    whole = poli_format("(%.17g)*(%s)", g * scale, force);
  free(u);
  free(force);
  return whole;
}

/* Why an actuator cannot be used, or NULL: with what it acts on, a sum of coordinates or two sites.
 */
static const char *find_target(poli_mjcf *m, const xmlNode *at, const char *path, const actuator *a,
                               terms *t, const poli_mjcf_part *ends[2])
{
  char *joint = poli_mjcf_text(m, at, "joint"), *tendon = poli_mjcf_text(m, at, "tendon");
  const char *reason = NULL;
  const int number = poli_mjcf_find(m->joint_numbers, joint);
  const xmlNode *found = tendon ? find_tendon(m, tendon) : NULL;
  if (joint && number < 0)
    poli_robot_error(m->robot, at, path, joint, "must name a joint", "");
  else if (joint && !m->joints[number].coordinate)
    reason = "the joint of the model has no such coordinate";
  else if (joint)
    add_term(m, t, &m->joints[number], 1.0);
  else if (tendon && !found)
    poli_robot_error(m->robot, at, path, tendon, "must name a tendon", "");
  else if (tendon && strcmp((const char *)found->name, "fixed") == 0)
    reason = read_fixed(m, found, path, 1.0, t);
  else if (tendon)
    reason = a->bias[1] != 0.0 || a->bias[2] != 0.0 ? "it depends on the length of a spatial tendon"
                                                    : read_spatial(m, found, path, ends);
  else
    reason = "it acts on no joint";
  if (joint) xmlFree(joint);
  if (tendon) xmlFree(tendon);
  return reason;
}

/* Its input, first the control of the keyframe, and the force or forces with it. */
static void add_input(poli_mjcf *m, const xmlNode *at, const char *path, const actuator *a,
                      double control, const terms *t, const poli_mjcf_part *const ends[2])
{
  poli_robot *robot = m->robot;
  char *own = poli_xml_text(at, "name"), first[40];
  const char *target = ends[0] ? "tendon" : t->joints[0]->model_name;
  char *wanted = own ? poli_format("%s", own) : poli_format("%s_control", target);
  char *variable = wanted ? poli_robot_name(robot, "variables", wanted, "input", path) : NULL;
  const int is_joint = !ends[0] && t->count == 1 && t->factors[0] == 1.0;
  char *expression =
      variable ? actuator_expression(a, t, is_joint ? t->joints[0]->sign : 1.0, variable) : NULL;
  snprintf(first, sizeof first, "%.17g", control);
  if (expression)
    poli_robot_add(robot, "variables",
                   json_pack("{s:s, s:s, s:b}", "name", variable, "expression", first, "input", 1));
  else
    robot->status = POL_NO_MEMORY;
  if (!robot->status && !ends[0] && !is_joint) {
    add_forces(m, t, wanted, path, expression);
  } else if (!robot->status) {
    char *name = poli_robot_name(robot, "elements", wanted, "actuator", path);
    if (name && is_joint)
      poli_robot_add(robot, "forces",
                     json_pack("{s:s, s:s, s:s, s:s, s:f, s:s}", "name", name, "type",
                               "joint-spring", "joint", t->joints[0]->model_name, "coordinate",
                               t->joints[0]->coordinate, "stiffness", 0.0, "actuator", expression));
    else if (name)
      poli_robot_add(robot, "forces",
                     json_pack("{s:s, s:s, s:[s, s], s:f, s:s}", "name", name, "type",
                               "spring-damper", "markers", ends[0]->marker, ends[1]->marker,
                               "stiffness", 0.0, "actuator", expression));
    free(name);
  }
  free(wanted);
  free(variable);
  free(expression);
  if (own) xmlFree(own);
}

void poli_mjcf_add_actuators(poli_mjcf *m)
{
  int number = 0; /* in the file */
  for (const xmlNode *list = poli_xml_child(m->top, "actuator"); list; list = poli_xml_next(list))
    for (const xmlNode *at = list->children; at && !m->robot->status; at = at->next) {
      char *path = at->type == XML_ELEMENT_NODE ? poli_mjcf_path(m, at, -1) : NULL;
      const poli_mjcf_part *ends[2] = {NULL, NULL};
      const int before = m->robot->errors->count;
      terms t = {0};
      actuator a;
      if (path) {
        const char *reason = read_actuator(m, at, path, &a)
                                 ? find_target(m, at, path, &a, &t, ends)
                                 : "only motor, position, velocity and affine general ones are";
        if (reason)
          poli_robot_note(m->robot, "actuator: %s is not used: %s", path, reason);
        else if (m->robot->errors->count == before && !m->robot->status)
          add_input(m, at, path, &a, m->controls ? m->controls[number] : 0.0, &t, ends);
        number++;
      }
      free_terms(&t);
      free(path);
    }
}
