/* Copies of a random mechanism, turned or in another order, and its text as a model file. */
#include <math.h>
#include <string.h>

#include "differential/random_model.h"
#include "lie/small.h"

/* --- copies ----------------------------------------------------------------------------------- */

static const double no_turn[4] = {1.0, 0.0, 0.0, 0.0};

static void turn_vector(const double turn[4], double v[3])
{
  double R[9], in[3] = {v[0], v[1], v[2]};
  pol_quat_to_matrix(turn, R);
  poli_m3_apply(R, in, v);
}

static void turn_frame(const double turn[4], double position[3], double rotation[4])
{
  turn_vector(turn, position);
  pol_quat_multiply(turn, rotation, rotation);
}

/* The index that an object has in the copy: they are reversed or not. */
static int moved(int index, int count, int reversed)
{
  return reversed && index >= 0 ? count - 1 - index : index;
}

static pol_status copy_bodies(const pol_mechanism *from, const random_change *change,
                              const double *turn, pol_mechanism *to)
{
  const int count = pol_mechanism_num_bodies(from);
  pol_status status = POL_OK;
  for (int i = 0; i < count && !status; i++) {
    const int b = moved(i, count, change->reversed);
    pol_body body = *pol_mechanism_body(from, b);
    if (change->velocities) {
      memcpy(body.velocity, change->velocities[b], sizeof body.velocity);
      memcpy(body.angular_velocity, change->velocities[b] + 3, sizeof body.angular_velocity);
      body.given = POL_GIVEN_VELOCITY | (body.point ? 0u : POL_GIVEN_ANGULAR_VELOCITY);
    }
    if (change->moves) {
      double q[4];
      poli_v3_add(body.position, change->moves[b], body.position);
      pol_so3_exp(change->moves[b] + 3, q);
      if (!body.point) pol_quat_multiply(body.rotation, q, body.rotation);
      for (int k = 0; k < 4 && !body.point; k++) pol_quat_normalize(body.rotation);
    }
    if (change->turn) {
      turn_vector(turn, body.position);
      turn_vector(turn, body.velocity);
      if (!body.point) pol_quat_multiply(turn, body.rotation, body.rotation);
    }
    status = pol_mechanism_add_body(to, &body, NULL);
  }
  for (int i = 0; i < pol_mechanism_num_markers(from) && !status; i++) {
    pol_marker marker = *pol_mechanism_marker(from, i);
    const int on_ground = marker.body == POL_GROUND;
    if (change->turn && on_ground) turn_frame(turn, marker.position, marker.rotation);
    if (change->turn && !on_ground && pol_mechanism_body(from, marker.body)->point)
      pol_quat_multiply(turn, marker.rotation, marker.rotation);
    marker.body = moved(marker.body, count, change->reversed);
    status = pol_mechanism_add_marker(to, &marker, NULL);
  }
  return status;
}

static pol_status copy_forces(const pol_mechanism *from, const random_change *change,
                              const double *turn, pol_mechanism *to)
{
  const int count = pol_mechanism_num_forces(from), bodies = pol_mechanism_num_bodies(from);
  pol_status status = POL_OK;
  for (int i = 0; i < count && !status; i++) {
    pol_force force = *pol_mechanism_force(from, moved(i, count, change->reversed));
    if (change->turn && force.frame == POL_GLOBAL_AXES) turn_vector(turn, force.vector);
    if (change->turn) turn_vector(turn, force.anchor);
    force.body = moved(force.body, bodies, change->reversed);
    force.joint = moved(force.joint, pol_mechanism_num_joints(from), change->reversed);
    for (int k = 0; k < 2; k++) force.bodies[k] = moved(force.bodies[k], bodies, change->reversed);
    status = pol_mechanism_add_force(to, &force, NULL);
  }
  return status;
}

static pol_status copy_rest(const pol_mechanism *from, int reversed, pol_mechanism *to)
{
  const int joints = pol_mechanism_num_joints(from);
  pol_status status = POL_OK;
  for (int i = 0; i < joints && !status; i++)
    status =
        pol_mechanism_add_joint(to, pol_mechanism_joint(from, moved(i, joints, reversed)), NULL);
  for (int i = 0; i < pol_mechanism_num_drives(from) && !status; i++) {
    pol_drive drive = *pol_mechanism_drive(from, i);
    drive.joint = moved(drive.joint, joints, reversed);
    status = pol_mechanism_add_drive(to, &drive, NULL);
  }
  for (int i = 0; i < pol_mechanism_num_couplings(from) && !status; i++) {
    pol_coupling coupling = *pol_mechanism_coupling(from, i);
    for (int k = 0; k < 2; k++) coupling.joint[k] = moved(coupling.joint[k], joints, reversed);
    status = pol_mechanism_add_coupling(to, &coupling, NULL);
  }
  for (int i = 0; i < pol_mechanism_num_variables(from) && !status; i++)
    status = pol_mechanism_add_variable(to, pol_mechanism_variable(from, i), NULL);
  for (int i = 0; i < pol_mechanism_num_states(from) && !status; i++)
    status = pol_mechanism_add_state(to, pol_mechanism_state(from, i), NULL);
  return status;
}

pol_status random_model_copy(const random_model *model, const random_change *change,
                             pol_mechanism **copy)
{
  const pol_mechanism *from = model->mechanism;
  const double *turn = change->turn ? change->turn : no_turn;
  double gravity[3];
  pol_status status = pol_mechanism_create(copy);
  if (status) return status;
  pol_mechanism_gravity(from, gravity);
  if (change->turn) turn_vector(turn, gravity);
  pol_mechanism_set_gravity(*copy, gravity);
  status = copy_bodies(from, change, turn, *copy);
  if (!status) status = copy_rest(from, change->reversed, *copy);
  if (!status) status = copy_forces(from, change, turn, *copy);
  if (status) pol_mechanism_free(copy);
  return status;
}

/* --- text ------------------------------------------------------------------------------------- */

/* A list of objects in the text: a comma before all but the first. */
static void open_list(FILE *file, const char *name, int count)
{
  if (count) fprintf(file, ",\n  \"%s\": [", name);
}

static void open_object(FILE *file, int index)
{
  fprintf(file, "%s\n    { ", index ? "," : "");
}

static void close_list(FILE *file, int count)
{
  if (count) fprintf(file, "\n  ]");
}

static void write_numbers(FILE *file, const char *key, const double *numbers, int count)
{
  fprintf(file, ", \"%s\": [", key);
  for (int i = 0; i < count; i++) fprintf(file, "%s%.17g", i ? ", " : "", numbers[i]);
  fprintf(file, "]");
}

static void write_number(FILE *file, const char *key, double number)
{
  fprintf(file, ", \"%s\": %.17g", key, number);
}

static void write_rotation(FILE *file, const double q[4])
{
  fprintf(file, ", \"rotation\": {\"quaternion\": [%.17g, %.17g, %.17g, %.17g]}", q[0], q[1], q[2],
          q[3]);
}

static void write_bodies(const pol_mechanism *m, FILE *file)
{
  for (int i = 0; i < pol_mechanism_num_bodies(m); i++) {
    const pol_body *body = pol_mechanism_body(m, i);
    const double *J = body->inertia;
    open_object(file, i);
    fprintf(file, "\"name\": \"%s\", \"mass\": %.17g", body->name, body->mass);
    write_numbers(file, "position", body->position, 3);
    if (body->given & POL_GIVEN_VELOCITY) write_numbers(file, "velocity", body->velocity, 3);
    if (body->point) {
      fprintf(file, ", \"type\": \"point\" }");
      continue;
    }
    write_rotation(file, body->rotation);
    if (body->given & POL_GIVEN_ANGULAR_VELOCITY)
      write_numbers(file, "angular_velocity", body->angular_velocity, 3);
    fprintf(file,
            ", \"inertia\": [[%.17g, %.17g, %.17g], [%.17g, %.17g, %.17g], "
            "[%.17g, %.17g, %.17g]] }",
            J[0], J[1], J[2], J[3], J[4], J[5], J[6], J[7], J[8]);
  }
}

static const char *body_name(const pol_mechanism *m, int body)
{
  return body == POL_GROUND ? "ground" : pol_mechanism_body(m, body)->name;
}

static void write_markers(const pol_mechanism *m, FILE *file)
{
  for (int i = 0; i < pol_mechanism_num_markers(m); i++) {
    const pol_marker *marker = pol_mechanism_marker(m, i);
    open_object(file, i);
    fprintf(file, "\"name\": \"%s\", \"body\": \"%s\"", marker->name, body_name(m, marker->body));
    if (marker->body == POL_GROUND || !pol_mechanism_body(m, marker->body)->point)
      write_numbers(file, "position", marker->position, 3);
    write_rotation(file, marker->rotation);
    fprintf(file, " }");
  }
}

static void write_marker_names(const pol_mechanism *m, const int marker[2], FILE *file)
{
  fprintf(file, ", \"markers\": [\"%s\", \"%s\"]", pol_mechanism_marker(m, marker[0])->name,
          pol_mechanism_marker(m, marker[1])->name);
}

static void write_joints(const pol_mechanism *m, FILE *file)
{
  for (int i = 0; i < pol_mechanism_num_joints(m); i++) {
    const pol_joint *joint = pol_mechanism_joint(m, i);
    const char *comma = "";
    open_object(file, i);
    fprintf(file, "\"name\": \"%s\", \"type\": \"%s\"", joint->name,
            pol_joint_type_name(joint->type));
    write_marker_names(m, joint->marker, file);
    if (joint->type == POL_DISTANCE) write_number(file, "length", joint->length);
    if (joint->radius > 0.0) write_number(file, "radius", joint->radius);
    if (joint->global_axes) fprintf(file, ", \"frame\": \"global\"");
    if (joint->type == POL_GENERIC) fprintf(file, ", \"locked\": [");
    for (int k = 0; k < 6 && joint->type == POL_GENERIC; k++)
      if (joint->locked >> k & 1u) {
        fprintf(file, "%s\"%s\"", comma, pol_lock_name(k));
        comma = ", ";
      }
    fprintf(file, "%s }", joint->type == POL_GENERIC ? "]" : "");
  }
}

static void write_function(FILE *file, const char *key, const pol_function *f)
{
  fprintf(file, ", \"%s\": {\"type\": \"%s\"", key, pol_function_type_name(f->type));
  switch (f->type) {
  case POL_CONSTANT:
    write_number(file, "value", f->offset);
    break;
  case POL_HARMONIC:
    write_number(file, "amplitude", f->amplitude);
    write_number(file, "frequency", f->frequency);
    write_number(file, "phase", f->phase);
    write_number(file, "offset", f->offset);
    break;
  case POL_POLYNOMIAL:
    write_numbers(file, "coefficients", f->values, f->count);
    break;
  case POL_SPEED:
    write_number(file, "offset", f->offset); /* fall through */
  case POL_STEP:
    write_number(file, "from", f->from);
    write_number(file, "to", f->to);
    write_number(file, "t0", f->t0);
    write_number(file, "t1", f->t1);
    break;
  case POL_TABLE:
    write_numbers(file, "times", f->times, f->count);
    write_numbers(file, "values", f->values, f->count);
    break;
  case POL_EXPRESSION:
    fprintf(file, ", \"expression\": \"%s\"", f->expression);
    break;
  }
  fprintf(file, "}");
}

static void write_vector(FILE *file, const char *key, const pol_force *force)
{
  if (!force->expressions[0]) {
    write_numbers(file, key, force->vector, 3);
    return;
  }
  fprintf(file, ", \"%s\": [\"%s\", \"%s\", \"%s\"]", key, force->expressions[0],
          force->expressions[1], force->expressions[2]);
}

static void write_actuator(FILE *file, const pol_force *force)
{
  write_number(file, "stiffness", force->stiffness[0]);
  write_number(file, "damping", force->damping[0]);
  if (force->expressions[0])
    fprintf(file, ", \"actuator\": \"%s\"", force->expressions[0]);
  else
    write_number(file, "actuator", force->actuator);
}

static void write_forces(const pol_mechanism *m, FILE *file)
{
  for (int i = 0; i < pol_mechanism_num_forces(m); i++) {
    const pol_force *force = pol_mechanism_force(m, i);
    open_object(file, i);
    fprintf(file, "\"name\": \"%s\", \"type\": \"%s\"", force->name,
            pol_force_type_name(force->type));
    if (force->type <= POL_SUPPORT || force->type == POL_DRAG)
      fprintf(file, ", \"body\": \"%s\"", body_name(m, force->body));
    if (force->type <= POL_SUPPORT && force->type != POL_APPLIED_TORQUE &&
        !pol_mechanism_body(m, force->body)->point)
      write_numbers(file, "point", force->point, 3);
    if (force->type <= POL_APPLIED_TORQUE && !pol_mechanism_body(m, force->body)->point)
      fprintf(file, ", \"frame\": \"%s\"", pol_force_frame_name(force->frame));
    if (force->scale) write_function(file, "scale", force->scale);
    switch (force->type) {
    case POL_APPLIED_FORCE:
      write_vector(file, "force", force);
      break;
    case POL_APPLIED_TORQUE:
      write_vector(file, "torque", force);
      break;
    case POL_SUPPORT:
      write_numbers(file, "anchor", force->anchor, 3);
      write_numbers(file, "stiffness", force->stiffness, 3);
      write_numbers(file, "damping", force->damping, 3);
      break;
    case POL_SPRING_DAMPER:
      write_marker_names(m, force->marker, file);
      fprintf(file, ", \"law\": \"%s\"", pol_spring_law_name(force->law));
      write_number(file, "length", force->length);
      write_actuator(file, force);
      break;
    case POL_DRAG:
      write_number(file, "coefficient", force->coefficient);
      break;
    case POL_JOINT_SPRING: {
      const pol_joint *joint = pol_mechanism_joint(m, force->joint);
      fprintf(file, ", \"joint\": \"%s\", \"coordinate\": \"%s\"", joint->name,
              pol_joint_coordinate(joint, force->coordinate)->key);
      write_number(file, "rest", force->rest);
      write_actuator(file, force);
      break;
    }
    case POL_BUSHING:
      write_marker_names(m, force->marker, file);
      write_numbers(file, "stiffness", force->stiffness, 3);
      write_numbers(file, "damping", force->damping, 3);
      write_numbers(file, "rotational_stiffness", force->rotational_stiffness, 3);
      write_numbers(file, "rotational_damping", force->rotational_damping, 3);
      write_numbers(file, "preload", force->preload, 3);
      write_numbers(file, "preload_torque", force->preload_torque, 3);
      break;
    case POL_CALLBACK_FORCE:
    case POL_JOINT_STOP: /* made by joints */
    case POL_JOINT_FRICTION:
    case POL_BEAM:
      break;
    }
    fprintf(file, " }");
  }
}

static void write_drives(const pol_mechanism *m, FILE *file)
{
  for (int i = 0; i < pol_mechanism_num_drives(m); i++) {
    const pol_drive *drive = pol_mechanism_drive(m, i);
    open_object(file, i);
    fprintf(file, "\"name\": \"%s\", \"coordinate\": \"%s\"", drive->name,
            pol_coordinate_name(drive->coordinate));
    if (drive->joint != POL_NO_JOINT)
      fprintf(file, ", \"joint\": \"%s\"", pol_mechanism_joint(m, drive->joint)->name);
    else
      fprintf(file, ", \"marker\": \"%s\", \"reference\": \"%s\"",
              pol_mechanism_marker(m, drive->marker[1])->name,
              pol_mechanism_marker(m, drive->marker[0])->name);
    write_function(file, "function", &drive->function);
    fprintf(file, " }");
  }
}

static void write_couplings(const pol_mechanism *m, FILE *file)
{
  for (int i = 0; i < pol_mechanism_num_couplings(m); i++) {
    const pol_coupling *c = pol_mechanism_coupling(m, i);
    open_object(file, i);
    fprintf(file,
            "\"name\": \"%s\", \"joints\": [\"%s\", \"%s\"], \"coordinates\": [\"%s\", \"%s\"]",
            c->name, pol_mechanism_joint(m, c->joint[0])->name,
            pol_mechanism_joint(m, c->joint[1])->name, pol_coordinate_name(c->coordinate[0]),
            pol_coordinate_name(c->coordinate[1]));
    write_numbers(file, "factors", c->factor, 2);
    write_numbers(file, "reference", c->reference, 2);
    fprintf(file, " }");
  }
}

static void write_expressions(const pol_mechanism *m, FILE *file)
{
  const int variables = pol_mechanism_num_variables(m), states = pol_mechanism_num_states(m);
  open_list(file, "variables", variables);
  for (int i = 0; i < variables; i++) {
    const pol_variable *variable = pol_mechanism_variable(m, i);
    open_object(file, i);
    fprintf(file, "\"name\": \"%s\", \"expression\": \"%s\" }", variable->name,
            variable->expression);
  }
  close_list(file, variables);
  open_list(file, "states", states);
  for (int i = 0; i < states; i++) {
    const pol_state_variable *state = pol_mechanism_state(m, i);
    open_object(file, i);
    fprintf(file, "\"name\": \"%s\", \"initial\": %.17g, \"rate\": \"%s\" }", state->name,
            state->initial, state->rate);
  }
  close_list(file, states);
}

static void write_events(const pol_settings *settings, FILE *file)
{
  open_list(file, "events", settings->num_events);
  for (int i = 0; i < settings->num_events; i++) {
    const pol_event_rule *event = &settings->events[i];
    open_object(file, i);
    fprintf(file, "\"name\": \"%s\", \"expression\": \"%s\", \"direction\": \"rising\", ",
            event->name, event->expression);
    fprintf(file, "\"action\": \"%s\"", pol_event_action_name(event->action));
    if (event->num_changes)
      fprintf(file, ", \"set\": {\"%s\": \"%s\"}", event->changes[0].quantity,
              event->changes[0].expression);
    fprintf(file, " }");
  }
  close_list(file, settings->num_events);
}

static void write_settings(const pol_settings *s, FILE *file)
{
  static const char *const index[] = {"3", "2", "\"stabilized-2\""};
  const pol_options *options = &s->options;
  fprintf(file, ",\n  \"simulation\": { \"method\": \"%s\", \"formulation\": \"%s\", \"index\": %s",
          options->method, pol_formulation_name(s->formulation), index[options->index]);
  fprintf(file, ", \"redundant\": \"%s\"", pol_redundant_name(options->redundant));
  if (!strncmp(options->method, "geom", 4) || !strcmp(options->method, "linear")) {
    write_number(file, "alpha_m", options->alpha_m);
    write_number(file, "alpha_f", options->alpha_f);
    write_number(file, "beta", options->beta);
    write_number(file, "gamma", options->gamma);
  }
  if (options->sigma != 0.0) {
    write_number(file, "sigma", options->sigma);
    fprintf(file, ", \"published\": {\"sigma_update\": \"%s\"}",
            pol_sigma_update_name(options->published.sigma_update));
  }
  if (!isnan(options->theta)) write_number(file, "theta", options->theta);
  if (s->variable) {
    write_number(file, "rtol", options->control.rtol);
    fprintf(file, ", \"atol\": {\"translation\": %.17g, \"rotation\": %.17g}",
            options->control.atol_translation, options->control.atol_rotation);
  } else {
    write_number(file, "step", s->step);
  }
  write_number(file, "end", s->end);
  fprintf(file, ", \"newton\": {\"kind\": \"%s\", \"tolerance\": %.17g}",
          pol_newton_kind_name(options->newton.kind), options->newton.tolerance);
  fprintf(file, " }\n}\n");
}

void random_model_write(const random_model *model, const pol_settings *settings, FILE *file)
{
  const pol_mechanism *m = model->mechanism;
  double gravity[3];
  pol_mechanism_gravity(m, gravity);
  fprintf(file, "{\n  \"name\": \"random model %llu: %s\"", (unsigned long long)model->seed,
          model->words);
  write_numbers(file, "gravity", gravity, 3);
  open_list(file, "bodies", pol_mechanism_num_bodies(m));
  write_bodies(m, file);
  close_list(file, pol_mechanism_num_bodies(m));
  open_list(file, "markers", pol_mechanism_num_markers(m));
  write_markers(m, file);
  close_list(file, pol_mechanism_num_markers(m));
  open_list(file, "joints", pol_mechanism_num_joints(m));
  write_joints(m, file);
  close_list(file, pol_mechanism_num_joints(m));
  open_list(file, "forces", pol_mechanism_num_forces(m));
  write_forces(m, file);
  close_list(file, pol_mechanism_num_forces(m));
  open_list(file, "drives", pol_mechanism_num_drives(m));
  write_drives(m, file);
  close_list(file, pol_mechanism_num_drives(m));
  open_list(file, "couplings", pol_mechanism_num_couplings(m));
  write_couplings(m, file);
  close_list(file, pol_mechanism_num_couplings(m));
  write_expressions(m, file);
  write_events(settings, file);
  write_settings(settings, file);
}
