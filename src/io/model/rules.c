/* Rules between the keys of an object, and between objects, that the tables of fields.c cannot say.
 *
 * Rules between objects are checked while the file is read, before there is a mechanism to ask;
 * what the file says of the other object is looked up in the JSON tree. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <polhode/lie.h>

#include "io/model/parts.h"
#include "lie/small.h"

/* --- other objects ---------------------------------------------------------------------------- */

/* The body of that index, if it is a point mass; else NULL.  object is an item of a list of the
 * file. */
static const json_t *point_mass(const poli_place *object, int body)
{
  const json_t *bodies = json_object_get(object->parent->parent->value, "bodies");
  const json_t *item = body >= 0 ? json_array_get(bodies, (size_t)body) : NULL;
  const char *type = json_string_value(json_object_get(item, "type"));
  return type && strcmp(type, "point") == 0 ? item : NULL;
}

/* The name of the body of a marker; NULL if the file does not have it. */
static const char *body_of_marker(const poli_place *object, int marker)
{
  const json_t *markers = json_object_get(object->parent->parent->value, "markers");
  const json_t *item = marker >= 0 ? json_array_get(markers, (size_t)marker) : NULL;
  return json_string_value(json_object_get(item, "body"));
}

/* The body of a marker, if it is a point mass; else NULL. */
static const json_t *point_mass_of_marker(const poli_reader *reader, const poli_place *object,
                                          int marker)
{
  const char *name = body_of_marker(object, marker);
  const json_t *bodies = json_object_get(reader->names, "bodies");
  const json_t *index = name ? json_object_get(bodies, name) : NULL;
  return index ? point_mass(object, (int)json_integer_value(index)) : NULL;
}

static void check_different_bodies(poli_reader *reader, const poli_place *object,
                                   const int markers[2])
{
  const char *first = body_of_marker(object, markers[0]);
  const char *second = body_of_marker(object, markers[1]);
  const poli_place at = poli_place_key(object, "markers");
  if (first && second && strcmp(first, second) == 0)
    poli_report(reader, &at, "", "must be on two different bodies");
}

/* The POL_LOCK_... bits that a list of the file names; 0 where something is wrong with it. */
static unsigned locks_of(const json_t *list)
{
  unsigned locked = 0;
  for (size_t i = 0; i < json_array_size(list); i++) {
    const char *text = json_string_value(json_array_get(list, i));
    int number = 0;
    while (text && pol_lock_name(number) && strcmp(pol_lock_name(number), text) != 0) number++;
    if (!text || !pol_lock_name(number)) return 0;
    locked |= 1u << number;
  }
  return locked;
}

/* The joint at an index of the file, as far as its coordinates need it; 0 if the file does not say.
 */
static int find_joint(const poli_place *top, int index, pol_joint *joint)
{
  const json_t *item = json_array_get(json_object_get(top->value, "joints"), (size_t)index);
  const char *name = json_string_value(json_object_get(item, "type"));
  *joint = (pol_joint){.name = ""};
  if (!name || pol_joint_type_find(name, &joint->type)) return 0;
  joint->locked = locks_of(json_object_get(item, "locked"));
  return joint->type != POL_GENERIC || joint->locked != 0;
}
enum { COORDINATES_SIZE = 160 };

/* The rule that one of the coordinates of a joint, of which it has some, must be given. */
static void write_coordinates(const pol_joint *joint, char *rule, size_t size)
{
  const int count = pol_joint_num_coordinates(joint);
  int used = snprintf(rule, size, "must be ");
  for (int i = 0; i < count; i++)
    used += snprintf(rule + used, size - (size_t)used, "%s\"%s\"",
                     i == 0           ? ""
                     : i == count - 1 ? " or "
                                      : ", ",
                     pol_joint_coordinate(joint, i)->key);
  snprintf(rule + used, size - (size_t)used, ": %s of %s %s joint",
           count == 1 ? "the only coordinate" : "the coordinates",
           joint->type == POL_GENERIC ? "this" : "a", pol_joint_type_name(joint->type));
}

/* --- bodies, markers, shapes ------------------------------------------------------------------ */

void poli_check_body(poli_reader *reader, const poli_place *place, void *object, int sound)
{
  poli_model_body *from = object;
  pol_body *body = &from->body;
  const int global = poli_given(place, "angular_velocity_global");
  (void)reader;
  if (poli_given(place, "velocity")) body->given |= POL_GIVEN_VELOCITY;
  if (global || poli_given(place, "angular_velocity")) body->given |= POL_GIVEN_ANGULAR_VELOCITY;
  if (global && sound) {
    double R[9];
    body->given |= POL_GIVEN_IN_GLOBAL_AXES;
    pol_quat_to_matrix(body->rotation, R);
    poli_m3_apply_transposed(R, from->angular_velocity_global, body->angular_velocity);
  }
}

void poli_check_marker(poli_reader *reader, const poli_place *place, void *object, int sound)
{
  static const char *const position[] = {"position", NULL};
  const pol_marker *marker = object;
  (void)sound;
  if (poli_given(place, "body") && point_mass(place, marker->body))
    poli_forbid(reader, place, position,
                "must not be given: a marker on a point mass is at the mass");
}

void poli_check_shape(poli_reader *reader, const poli_place *place, void *object, int sound)
{
  poli_model_shape *from = object;
  (void)reader;
  if (sound && poli_given(place, "axis")) poli_rotation_to_axis(from->axis, from->shape.rotation);
}

/* --- joints ----------------------------------------------------------------------------------- */

static const char *name_of(const json_t *object)
{
  const char *name = json_string_value(json_object_get(object, "name"));
  return name ? name : "";
}

/* Whether a point is where a body of the file starts, within 1e-9 of the size of both. */
static int is_position(const json_t *body, const double point[3])
{
  const json_t *position = json_object_get(body, "position");
  double apart = 0.0, size = 0.0;
  for (size_t i = 0; i < 3; i++) {
    const double x = json_number_value(json_array_get(position, i));
    apart += (point[i] - x) * (point[i] - x);
    size += point[i] * point[i] + x * x;
  }
  return apart <= 1e-18 * size;
}

/* A point mass has no rotation that a joint could lock, and is held where it is. */
static void check_joint_points(poli_reader *reader, const poli_place *place,
                               const poli_model_joint *from)
{
  const poli_place type = poli_place_key(place, "type"), point = poli_place_key(place, "point");
  const int by_markers = from->given == POLI_AXES_MARKERS;
  for (int i = 0; i < 2; i++) {
    const json_t *mass = by_markers ? point_mass_of_marker(reader, place, from->joint.marker[i])
                                    : point_mass(place, from->bodies[i]);
    if (!mass) continue;
    if (!pol_joint_fits_point(&from->joint))
      poli_report(reader, &type, "",
                  "must lock no rotation in joint \"%s\": body \"%s\" is a point mass",
                  from->joint.name, name_of(mass));
    else if (!by_markers && !is_position(mass, from->point))
      poli_report(reader, &point, "", "must be the position of the point mass \"%s\"",
                  name_of(mass));
  }
}

void poli_check_joint(poli_reader *reader, const poli_place *place, void *object, int sound)
{
  static const double perpendicular_tolerance = 1e-6;
  poli_model_joint *from = object;
  const poli_place bodies = poli_place_key(place, "bodies"), axes = poli_place_key(place, "axes"),
                   frame = poli_place_key(place, "frame");
  const int known = poli_given(place, "type") && (int)from->joint.type >= 0;
  from->joint.global_axes = from->frame == POL_GLOBAL_AXES;
  if (known && from->joint.global_axes && !pol_joint_locks_point(&from->joint))
    poli_report(reader, &frame, "",
                "must not be \"global\": this type of joint leaves a translation free");
  if (poli_given(place, "markers")) {
    from->given = POLI_AXES_MARKERS;
    check_different_bodies(reader, place, from->joint.marker);
  } else {
    from->given = axes.value                  ? POLI_AXES_TWO
                  : poli_given(place, "axis") ? POLI_AXES_ONE
                                              : POLI_AXES_OF_BODY;
    if (bodies.value && from->bodies[0] != POLI_NOWHERE && from->bodies[0] == from->bodies[1])
      poli_report(reader, &bodies, "", "must be two different bodies");
    if (sound && axes.value &&
        fabs(poli_v3_dot(from->axes, from->axes + 3)) > perpendicular_tolerance)
      poli_report(reader, &axes, "", "must be perpendicular to each other");
  }
  if (sound) check_joint_points(reader, place, from);
}

/* --- forces ----------------------------------------------------------------------------------- */

/* Which coordinate of its joint a joint-spring acts on: the one that "coordinate" names, or the
 * only one there is. */
static void check_joint_spring(poli_reader *reader, const poli_place *place, poli_model_force *from)
{
  const poli_place of = poli_place_key(place, "joint"), at = poli_place_key(place, "coordinate");
  pol_joint joint;
  char rule[COORDINATES_SIZE];
  if (!of.value || from->force.joint < 0 ||
      !find_joint(place->parent->parent, from->force.joint, &joint))
    return;
  const int count = pol_joint_num_coordinates(&joint);
  if (count == 0) {
    poli_report(reader, &of, "",
                "must be a joint with an angle or a displacement: a %s one has none",
                pol_joint_type_name(joint.type));
    return;
  }
  write_coordinates(&joint, rule, sizeof rule);
  if (!at.value && count > 1) poli_report(reader, &at, "", "is required: %s", rule);
  if (!json_is_string(at.value)) return;

  poli_near near = poli_near_start(from->coordinate);
  for (int i = 0; i < count; i++) {
    const char *key = pol_joint_coordinate(&joint, i)->key;
    if (strcmp(key, from->coordinate) == 0) {
      from->force.coordinate = i;
      return;
    }
    poli_near_try(&near, key);
  }
  poli_report(reader, &at, near.best, "%s", rule);
}

/* A marker brings its body, point and axes; without it there are no axes of a marker. */
static void check_applied(poli_reader *reader, const poli_place *place,
                          const poli_model_force *from)
{
  const poli_place frame = poli_place_key(place, "frame"), marker = poli_place_key(place, "marker");
  const int marker_axes = frame.value && (int)from->force.frame == POLI_MODEL_MARKER_AXES;
  int count = 0; /* of expressions */
  for (int i = 0; i < 3; i++) count += from->force.expressions[i] != NULL;
  if (marker_axes && !marker.value)
    poli_report(reader, &frame, "", "must be \"global\" or \"body\" without a \"marker\"");
  else if (marker_axes && count > 0)
    poli_report(reader, &frame, "", "must be \"global\" or \"body\" where there are expressions");
  const char *body = marker.value ? body_of_marker(place, from->marker) : NULL;
  if (body && strcmp(body, poli_ground_name) == 0)
    poli_report(reader, &marker, "", "must be on a body: the ground does not move");
}

/* A point mass takes forces where it is, and has no axes of its own; it takes no torque. */
static void check_force_on_point(poli_reader *reader, const poli_place *place,
                                 const poli_model_force *from)
{
  static const char *const rigid_keys[] = {"point", "frame", NULL};
  const int by_marker = poli_given(place, "marker");
  const poli_place body = poli_place_key(place, by_marker ? "marker" : "body"),
                   markers = poli_place_key(place, "markers");
  for (size_t i = 0; i < 2 && from->force.type == POL_BUSHING && markers.value; i++) {
    const poli_place item = poli_place_item(&markers, i);
    if (point_mass_of_marker(reader, place, from->force.marker[i]))
      poli_report(reader, &item, "", "must be on a rigid body: a point mass does not turn");
  }
  if (!body.value || !(by_marker ? point_mass_of_marker(reader, place, from->marker)
                                 : point_mass(place, from->force.body)))
    return;
  if (from->force.type == POL_APPLIED_TORQUE)
    poli_report(reader, &body, "", "must be a rigid body: a point mass takes no torque");
  else
    poli_forbid(reader, place, rigid_keys, "must not be given: the body is a point mass");
}

void poli_check_force(poli_reader *reader, const poli_place *place, void *object, int sound)
{
  poli_model_force *from = object;
  const pol_force_type type = from->force.type;
  const poli_place bodies = poli_place_key(place, "bodies");
  (void)sound;
  if (!poli_given(place, "type") || (int)type < 0) return;
  if (type == POL_APPLIED_FORCE || type == POL_APPLIED_TORQUE) check_applied(reader, place, from);
  /* a spring-damper acts along one line, a joint-spring on one coordinate */
  for (int i = 0; i < 2 && (type == POL_SPRING_DAMPER || type == POL_JOINT_SPRING); i++) {
    const poli_place rate = poli_place_key(place, i == 0 ? "stiffness" : "damping");
    if (json_is_array(rate.value))
      poli_report(reader, &rate, "", "must be one number for a %s", pol_force_type_name(type));
  }
  if (type == POL_SPRING_DAMPER && bodies.value) {
    if (from->bodies[0] != POLI_NOWHERE && from->bodies[0] == from->bodies[1])
      poli_report(reader, &bodies, "", "must be two different bodies");
  } else if ((type == POL_SPRING_DAMPER || type == POL_BUSHING) && poli_given(place, "markers")) {
    check_different_bodies(reader, place, from->force.marker);
  }
  if (type == POL_JOINT_SPRING) check_joint_spring(reader, place, from);
  check_force_on_point(reader, place, from);
}

/* --- functions, drives, couplings ------------------------------------------------------------- */

/* A step needs time; the times of a table ascend, and each has a value. */
void poli_check_function(poli_reader *reader, const poli_place *place, void *object, int sound)
{
  poli_model_function *f = object;
  const poli_place end = poli_place_key(place, "t1"), times = poli_place_key(place, "times"),
                   values = poli_place_key(place, "values");
  if (!sound) return;
  f->given = 1;
  if (!poli_given(place, "type")) f->plain.type = POL_EXPRESSION;
  f->plain.clamped = poli_given(place, "slopes");
  if (end.value && !(f->plain.t1 > f->plain.t0))
    poli_report(reader, &end, "", "must be above t0, which is %.10g", f->plain.t0);
  if (json_array_size(f->times) != json_array_size(f->values)) {
    poli_report(reader, &values, "", "must have as many numbers as \"times\"");
    return;
  }
  for (size_t i = 1; i < json_array_size(f->times); i++) {
    const poli_place item = poli_place_item(&times, i);
    if (json_number_value(item.value) > json_number_value(json_array_get(f->times, i - 1)))
      continue;
    poli_report(reader, &item, "", "must be above the time before");
    return;
  }
}

/* The joint must have the coordinate. */
static void check_free(poli_reader *reader, const poli_place *place, const pol_drive *drive)
{
  const poli_place at = poli_place_key(place, "coordinate"), of = poli_place_key(place, "joint");
  pol_joint joint;
  char rule[COORDINATES_SIZE];
  if (!find_joint(place->parent->parent, drive->joint, &joint) ||
      pol_joint_has_coordinate(&joint, drive->coordinate))
    return;
  if (pol_joint_num_coordinates(&joint) > 0) {
    write_coordinates(&joint, rule, sizeof rule);
    poli_report(reader, &at, "", "%s", rule);
  } else {
    poli_report(reader, &of, "",
                "must be a joint with an angle or a displacement to drive: %s %s one has none",
                joint.type == POL_GENERIC ? "this" : "a", pol_joint_type_name(joint.type));
  }
}

/* A marker's coordinates are translations, seen from another body. */
static void check_drive_marker(poli_reader *reader, const poli_place *place,
                               const poli_model_drive *from)
{
  const poli_place of = poli_place_key(place, "marker"), at = poli_place_key(place, "coordinate");
  const int by_reference = poli_given(place, "reference");
  const int coordinate = (int)from->drive.coordinate;
  if (at.value && coordinate >= 0 && (coordinate < POL_DRIVE_X || coordinate > POL_DRIVE_Z))
    poli_report(reader, &at, "", "must be \"x\", \"y\" or \"z\": those of a marker");
  if (from->marker < 0 || (by_reference && from->reference < 0)) return;
  const char *body = body_of_marker(place, from->marker);
  const char *other = by_reference ? body_of_marker(place, from->reference) : poli_ground_name;
  if (!body || !other || strcmp(body, other) != 0) return;
  poli_report(reader, &of, "",
              by_reference ? "must not be on the same body as \"reference\""
                           : "must be on a body: the ground does not move");
}

/* Whether two objects have the same text, or both none, at a key. */
static int same_text(const json_t *a, const json_t *b, const char *key)
{
  const char *first = json_string_value(json_object_get(a, key));
  const char *second = json_string_value(json_object_get(b, key));
  return first && second ? strcmp(first, second) == 0 : !first && !second;
}

/* No drive before may have the same coordinate. */
static void check_only(poli_reader *reader, const poli_place *place)
{
  static const char *const keys[] = {"joint", "marker", "reference", "coordinate"};
  for (size_t i = 0; i < place->index; i++) {
    const json_t *other = json_array_get(place->parent->value, i);
    int same = 0;
    for (int k = 0; k < 4; k++) same += same_text(place->value, other, keys[k]);
    if (same < 4) continue;
    const poli_place at = poli_place_key(place, "coordinate");
    poli_report(reader, &at, "", "must not be driven twice: drives[%zu] does so already", i);
    return;
  }
}

void poli_check_drive(poli_reader *reader, const poli_place *place, void *object, int sound)
{
  const poli_model_drive *from = object;
  const int by_marker = poli_given(place, "marker");
  const int known = poli_given(place, "coordinate") && (int)from->drive.coordinate >= 0;
  (void)sound;
  if (by_marker)
    check_drive_marker(reader, place, from);
  else if (known && poli_given(place, "joint") && from->drive.joint >= 0)
    check_free(reader, place, &from->drive);
  if (known &&
      (by_marker ? from->marker >= 0 : poli_given(place, "joint") && from->drive.joint >= 0))
    check_only(reader, place);
}

void poli_check_coupling(poli_reader *reader, const poli_place *place, void *object, int sound)
{
  const pol_coupling *coupling = object;
  const poli_place joints = poli_place_key(place, "joints"),
                   factors = poli_place_key(place, "factors");
  for (size_t i = 0; i < 2 && joints.value; i++) {
    const poli_place at = poli_place_item(&joints, i);
    pol_joint joint;
    /* each joint must have its coordinate */
    if (coupling->joint[i] < 0 || (int)coupling->coordinate[i] < 0 ||
        !find_joint(place->parent->parent, coupling->joint[i], &joint) ||
        pol_joint_has_coordinate(&joint, coupling->coordinate[i]))
      continue;
    poli_report(reader, &at, "", "must be a joint with a %s to couple: a %s one has none",
                pol_coordinate_name(coupling->coordinate[i]), pol_joint_type_name(joint.type));
  }
  for (size_t i = 0; i < 2 && json_array_size(factors.value) == 2; i++) {
    const poli_place item = poli_place_item(&factors, i);
    if (json_is_number(item.value) && coupling->factor[i] == 0.0)
      poli_report(reader, &item, "", "must not be zero");
  }
  if (sound && coupling->joint[0] == coupling->joint[1] &&
      coupling->coordinate[0] == coupling->coordinate[1])
    poli_report(reader, &joints, "", "must not be the same coordinate twice");
}

/* --- variables, states, events ---------------------------------------------------------------- */

/* What expressions know already, and what results call a column of their own, is no name for a
 * quantity. */
void poli_check_quantity(poli_reader *reader, const poli_place *place, void *object, int sound)
{
  const poli_place name = poli_place_key(place, "name");
  const char *text = json_string_value(name.value);
  (void)object;
  (void)sound;
  if (text && (strcmp(text, "t") == 0 || strcmp(text, "pi") == 0))
    poli_report(reader, &name, "", "must not be \"%s\", which expressions know already", text);
  if (text && strcmp(text, "t_reactions") == 0)
    poli_report(reader, &name, "", "must not be \"%s\", which is the name of a result column",
                text);
}

void poli_check_event(poli_reader *reader, const poli_place *place, void *object, int sound)
{
  const poli_model_event *event = object;
  const poli_place direction = poli_place_key(place, "direction");
  (void)sound;
  if (event->action == POL_EVENT_RESET && direction.value && event->direction == POLI_BOTH)
    poli_report(reader, &direction, "", "must be \"rising\" or \"falling\" for a reset");
}
