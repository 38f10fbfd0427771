/* What an include moves and turns: the global coordinates of the objects that come from its file.
 *
 * A point r of the file is at p + R r, a direction d becomes R d; with includes inside includes the
 * outer one comes last.  Coordinates in body axes stay as they are, and so do forces in global axes
 * and all expressions, whose names are those of the whole model. */
#include <math.h>
#include <string.h>

#include <polhode/lie.h>

#include "io/model/expand.h"
#include "lie/small.h"

typedef struct transform {
  double position[3], rotation[4], R[9];
  int is_moved, is_turned;
} transform;

/* That of an instance, with those that include it. */
static transform transform_of(const poli_expansion *x, int instance)
{
  transform t = {.rotation = {1.0, 0.0, 0.0, 0.0}};
  for (int i = instance; i >= 0; i = x->instances[i].parent) {
    const poli_instance *outer = &x->instances[i];
    double R[9], moved[3], turned[4];
    if (!outer->is_moved) continue;
    t.is_moved = 1;
    if (outer->is_turned) {
      t.is_turned = 1;
      pol_quat_to_matrix(outer->rotation, R);
      poli_m3_apply(R, t.position, moved);
      poli_v3_copy(moved, t.position);
      pol_quat_multiply(outer->rotation, t.rotation, turned);
      memcpy(t.rotation, turned, sizeof turned);
    }
    poli_v3_add(outer->position, t.position, moved);
    poli_v3_copy(moved, t.position);
  }
  pol_quat_to_matrix(t.rotation, t.R);
  return t;
}

static void turn(const transform *t, double *direction)
{
  double turned[3];
  if (!t->is_turned) return;
  poli_m3_apply(t->R, direction, turned);
  poli_v3_copy(turned, direction);
}

static void move(const transform *t, double *point)
{
  double moved[3];
  turn(t, point);
  poli_v3_add(t->position, point, moved);
  poli_v3_copy(moved, point);
}

static void turn_rotation(const transform *t, double *rotation)
{
  double turned[4];
  if (!t->is_turned) return;
  pol_quat_multiply(t->rotation, rotation, turned);
  memcpy(rotation, turned, sizeof turned);
}

/* Moves one object of a list of the model. */
static void move_object(poli_expansion *x, const poli_place *place, const char *list,
                        const transform *t, void *object)
{
  if (strcmp(list, "bodies") == 0) {
    pol_body *body = &((poli_model_body *)object)->body;
    move(t, body->position);
    turn_rotation(t, body->rotation);
    turn(t, body->velocity);
  } else if (strcmp(list, "beams") == 0) {
    poli_model_beam *beam = object;
    poli_v3_copy(t->position, beam->position);
    memcpy(beam->rotation, t->rotation, sizeof t->rotation);
    turn(t, beam->up);
    turn(t, beam->velocity);
    turn(t, beam->angular_velocity);
  } else if (strcmp(list, "flexible_bodies") == 0) {
    poli_model_flexible *body = object;
    move(t, body->position);
    turn_rotation(t, body->rotation);
    turn(t, body->velocity);
  } else if (strcmp(list, "markers") == 0) {
    pol_marker *marker = object;
    if (marker->body != POL_GROUND) return;
    move(t, marker->position);
    turn_rotation(t, marker->rotation);
  } else if (strcmp(list, "joints") == 0) {
    poli_model_joint *joint = object;
    move(t, joint->point);
    turn(t, joint->axis);
    turn(t, joint->axes);
    turn(t, joint->axes + 3);
  } else if (strcmp(list, "forces") == 0) {
    poli_model_force *force = object;
    if (!isnan(force->force.anchor[0])) move(t, force->force.anchor);
    for (int i = 0; i < 2; i++) {
      if (!isnan(force->points_global[0])) move(t, force->points_global + 3 * i);
      if (force->bodies[i] == POL_GROUND) move(t, force->points + 3 * i);
    }
  } else if (strcmp(list, "drives") == 0) {
    const poli_place marker = poli_place_key(place, "marker");
    if (marker.value && !poli_given(place, "reference"))
      poli_report(x->reader, &marker, "",
                  "must have a \"reference\" on the ground beside it: the include moves the "
                  "file's origin");
  } else if (strcmp(list, "shapes") == 0) {
    pol_shape *shape = &((poli_model_shape *)object)->shape;
    move(t, shape->position);
    turn_rotation(t, shape->rotation);
  }
}

void poli_transform_all(poli_expansion *x, const poli_place *top, poli_model_data *data)
{
  int any = 0;
  for (int i = 0; i < x->num_instances; i++) any |= x->instances[i].is_moved;
  for (const poli_field *field = poli_model_kind.fields; field->key && any; field++) {
    if (field->value != &poli_objects) continue;
    const poli_place list = poli_place_key(top, field->key);
    const poli_origins *origins = poli_origins_of(x, list.value);
    const poli_items *items = (const poli_items *)((const char *)data + field->offset);
    const poli_kind *kind = field->detail;
    for (size_t i = 0; origins && i < items->count && i < origins->count; i++) {
      const transform t = transform_of(x, origins->items[i].instance);
      const poli_place place = poli_place_item(&list, i);
      if (t.is_moved) move_object(x, &place, field->key, &t, (char *)items->items + i * kind->size);
    }
  }
}
