/* Rules between the keys of an object that the tables of fields.c cannot say.  Rules of the
 * elements of a mechanism are not here: build.c passes on what the mechanism reports. */
#include <string.h>

#include <polhode/lie.h>

#include "io/model/parts.h"
#include "lie/small.h"
#include "mechanism/builder.h"

/* --- bodies, shapes --------------------------------------------------------------------------- */

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

void poli_check_shape(poli_reader *reader, const poli_place *place, void *object, int sound)
{
  poli_model_shape *from = object;
  (void)reader;
  if (sound && poli_given(place, "axis") && poli_normalize(from->axis))
    poli_turn_z_to(from->axis, from->shape.rotation);
}

/* --- forces, functions ------------------------------------------------------------------------ */

/* There are no axes of a marker without one, and expressions are not turned into them; a
 * spring-damper acts along one line, a joint-spring on one coordinate. */
void poli_check_force(poli_reader *reader, const poli_place *place, void *object, int sound)
{
  const poli_model_force *from = object;
  const pol_force_type type = from->force.type;
  const poli_place frame = poli_place_key(place, "frame");
  int count = 0; /* of expressions */
  (void)sound;
  for (int i = 0; i < 3; i++) count += from->force.expressions[i] != NULL;
  if ((type == POL_APPLIED_FORCE || type == POL_APPLIED_TORQUE) && frame.value &&
      (int)from->force.frame == POLI_MODEL_MARKER_AXES) {
    if (!poli_given(place, "marker"))
      poli_report(reader, &frame, "", "must be \"global\" or \"body\" without a \"marker\"");
    else if (count > 0)
      poli_report(reader, &frame, "", "must be \"global\" or \"body\" where there are expressions");
  }
  for (int i = 0; i < 2 && (type == POL_SPRING_DAMPER || type == POL_JOINT_SPRING); i++) {
    const poli_place rate = poli_place_key(place, i == 0 ? "stiffness" : "damping");
    if (json_is_array(rate.value))
      poli_report(reader, &rate, "", "must be one number for a %s", pol_force_type_name(type));
  }
}

/* Each time of a table has a value. */
void poli_check_function(poli_reader *reader, const poli_place *place, void *object, int sound)
{
  poli_model_function *f = object;
  const poli_place values = poli_place_key(place, "values");
  (void)sound;
  f->given = 1;
  if (!poli_given(place, "type") && poli_given(place, "expression")) f->plain.type = POL_EXPRESSION;
  f->plain.clamped = poli_given(place, "slopes");
  if (f->times && f->values && json_array_size(f->times) != json_array_size(f->values))
    poli_report(reader, &values, "", "must have as many numbers as \"times\"");
}

/* --- variables, states, events ---------------------------------------------------------------- */

/* What results call a column of their own is no name for a quantity. */
void poli_check_quantity(poli_reader *reader, const poli_place *place, void *object, int sound)
{
  const poli_place name = poli_place_key(place, "name");
  const char *text = json_string_value(name.value);
  (void)object;
  (void)sound;
  if (text && strcmp(text, "t_reactions") == 0)
    poli_report(reader, &name, "", "must not be \"%s\", which is the name of a result column",
                text);
}

void poli_check_event(poli_reader *reader, const poli_place *place, void *object, int sound)
{
  const poli_model_event *event = object;
  const poli_place direction = poli_place_key(place, "direction");
  const poli_place name = poli_place_key(place, "name");
  const json_t *holder =
      json_object_get(json_object_get(reader->names, "events"), event->name ? event->name : "");
  (void)sound;
  if (holder && json_integer_value(holder) != (json_int_t)place->index)
    poli_report(reader, &name, "", "must be unique: events[%d] has the same name",
                (int)json_integer_value(holder));
  if (event->action == POL_EVENT_RESET && direction.value && event->direction == POLI_BOTH)
    poli_report(reader, &direction, "", "must be \"rising\" or \"falling\" for a reset");
}
