/* What `polhode check` found out, as one JSON object. */
#include "cli/check.h"
#include "cli/cli.h"
#include "cli/json_out.h"
#include "cli/summary.h"
#include "cli/text_out.h"

static json_t *bodies_json(const pol_mechanism *mechanism)
{
  json_t *list = json_array();
  for (int i = 0; i < pol_mechanism_num_bodies(mechanism); i++) {
    const pol_body *body = pol_mechanism_body(mechanism, i);
    char keeps[96];
    cli_describe_keep(body->keep, keeps, sizeof keeps);
    json_t *item = json_pack("{s:s, s:s, s:o, s:s}",                  //
                             "name", body->name,                      //
                             "type", body->point ? "point" : "rigid", //
                             "mass", cli_json_number(body->mass),     //
                             "keeps", keeps);
    cli_json_append(&list, item);
  }
  return list;
}

static json_t *joints_json(const pol_mechanism *mechanism)
{
  json_t *list = json_array();
  for (int i = 0; i < pol_mechanism_num_joints(mechanism); i++) {
    const pol_joint *joint = pol_mechanism_joint(mechanism, i);
    char locks[80];
    cli_describe_locks(joint, locks, sizeof locks);
    json_t *item = json_pack("{s:s, s:s, s:[s, s], s:s}",                             //
                             "name", joint->name,                                     //
                             "type", pol_joint_type_name(joint->type),                //
                             "bodies", cli_marker_owner(mechanism, joint->marker[0]), //
                             cli_marker_owner(mechanism, joint->marker[1]),           //
                             "locks", locks);
    cli_json_append(&list, item);
  }
  return list;
}

static json_t *bushing_json(const pol_mechanism *mechanism, const pol_force *force)
{
  return json_pack("{s:s, s:s, s:[s, s], s:o, s:o, s:o, s:o, s:o, s:o}",                     //
                   "name", force->name, "type", pol_force_type_name(force->type),            //
                   "bodies", cli_marker_owner(mechanism, force->marker[0]),                  //
                   cli_marker_owner(mechanism, force->marker[1]),                            //
                   "stiffness", cli_json_numbers(force->stiffness, 3),                       //
                   "damping", cli_json_numbers(force->damping, 3),                           //
                   "rotational_stiffness", cli_json_numbers(force->rotational_stiffness, 3), //
                   "rotational_damping", cli_json_numbers(force->rotational_damping, 3),     //
                   "preload", cli_json_numbers(force->preload, 3),                           //
                   "preload_torque", cli_json_numbers(force->preload_torque, 3));
}

/* What the type has beside its name; NULL without memory. */
static json_t *force_json(const pol_mechanism *mechanism, const pol_force *force)
{
  const char *type = pol_force_type_name(force->type);
  const pol_body *on = pol_mechanism_body(mechanism, force->body); /* NULL of those without one */
  const char *body = on ? on->name : "ground";
  switch (force->type) {
  case POL_APPLIED_FORCE:
  case POL_APPLIED_TORQUE:
    return json_pack("{s:s, s:s, s:s, s:s, s:o}", "name", force->name, "type", type, "body", body,
                     "frame", pol_force_frame_name(force->frame), "vector",
                     cli_json_numbers(force->vector, 3));
  case POL_SUPPORT:
    return json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:o}", "name", force->name, "type", type,
                     "body", body, "point", cli_json_numbers(force->point, 3), "anchor",
                     cli_json_numbers(force->anchor, 3), "stiffness",
                     cli_json_numbers(force->stiffness, 3), "damping",
                     cli_json_numbers(force->damping, 3));
  case POL_SPRING_DAMPER:
    return json_pack(
        "{s:s, s:s, s:s, s:[s, s], s:f, s:f, s:f, s:f}", "name", force->name, "type", type, "law",
        pol_spring_law_name(force->law), "bodies", cli_marker_owner(mechanism, force->marker[0]),
        cli_marker_owner(mechanism, force->marker[1]), "stiffness", force->stiffness[0], "damping",
        force->damping[0], "length", force->length, "actuator", force->actuator);
  case POL_BUSHING:
    return bushing_json(mechanism, force);
  case POL_CALLBACK_FORCE: /* not in model files */
    return json_pack("{s:s, s:s}", "name", force->name, "type", type);
  case POL_JOINT_SPRING:
    return json_pack("{s:s, s:s, s:s, s:s, s:f, s:f, s:f, s:f}", "name", force->name, "type", type,
                     "joint", pol_mechanism_joint(mechanism, force->joint)->name, "coordinate",
                     cli_spring_coordinate(mechanism, force)->key, "stiffness", force->stiffness[0],
                     "damping", force->damping[0], "rest", force->rest, "actuator",
                     force->actuator);
  case POL_DRAG:
    break;
  }
  return json_pack("{s:s, s:s, s:s, s:f}", "name", force->name, "type", type, "body", body,
                   "coefficient", force->coefficient);
}

/* A list with null for each number that no expression gives. */
static json_t *expressions_json(const pol_force *force)
{
  json_t *list = json_array();
  for (int i = 0; i < pol_force_num_expressions(force->type); i++) {
    const char *text = force->expressions[i];
    cli_json_append(&list, text ? json_string(text) : json_null());
  }
  return list;
}

static int has_expressions(const pol_force *force)
{
  return force->expressions[0] || force->expressions[1] || force->expressions[2];
}

static json_t *forces_json(const pol_mechanism *mechanism)
{
  json_t *list = json_array();
  for (int i = 0; i < pol_mechanism_num_forces(mechanism); i++) {
    const pol_force *force = pol_mechanism_force(mechanism, i);
    json_t *item = force_json(mechanism, force);
    if (force->scale &&
        json_object_set_new(item, "scale", json_string(cli_scale_word(force))) != 0) {
      json_decref(item);
      item = NULL;
    }
    if (has_expressions(force) &&
        json_object_set_new(item, "expressions", expressions_json(force)) != 0) {
      json_decref(item);
      item = NULL;
    }
    cli_json_append(&list, item);
  }
  return list;
}

static json_t *drives_json(const pol_mechanism *mechanism)
{
  json_t *list = json_array();
  for (int i = 0; i < pol_mechanism_num_drives(mechanism); i++) {
    const pol_drive *drive = pol_mechanism_drive(mechanism, i);
    const int of_joint = drive->joint != POL_NO_JOINT;
    const char *owner = of_joint ? pol_mechanism_joint(mechanism, drive->joint)->name
                                 : pol_mechanism_marker(mechanism, drive->marker[1])->name;
    json_t *item = json_pack("{s:s, s:s, s:s, s:s, s:s*}",                             //
                             "name", drive->name,                                      //
                             of_joint ? "joint" : "marker", owner,                     //
                             "coordinate", pol_coordinate_name(drive->coordinate),     //
                             "function", pol_function_type_name(drive->function.type), //
                             "expression", drive->function.expression);
    cli_json_append(&list, item);
  }
  return list;
}

static json_t *couplings_json(const pol_mechanism *mechanism)
{
  json_t *list = json_array();
  for (int i = 0; i < pol_mechanism_num_couplings(mechanism); i++) {
    const pol_coupling *coupling = pol_mechanism_coupling(mechanism, i);
    json_t *item = json_pack("{s:s, s:[s, s], s:[s, s], s:o, s:o}",                              //
                             "name", coupling->name,                                             //
                             "joints", pol_mechanism_joint(mechanism, coupling->joint[0])->name, //
                             pol_mechanism_joint(mechanism, coupling->joint[1])->name,           //
                             "coordinates", pol_coordinate_name(coupling->coordinate[0]),        //
                             pol_coordinate_name(coupling->coordinate[1]),                       //
                             "factors", cli_json_numbers(coupling->factor, 2),                   //
                             "reference", cli_json_numbers(coupling->reference, 2));
    cli_json_append(&list, item);
  }
  return list;
}

static json_t *variables_json(const pol_mechanism *mechanism)
{
  json_t *list = json_array();
  for (int i = 0; i < pol_mechanism_num_variables(mechanism); i++) {
    const pol_variable *variable = pol_mechanism_variable(mechanism, i);
    json_t *item =
        json_pack("{s:s, s:s}", "name", variable->name, "expression", variable->expression);
    cli_json_append(&list, item);
  }
  return list;
}

static json_t *states_json(const pol_mechanism *mechanism)
{
  json_t *list = json_array();
  for (int i = 0; i < pol_mechanism_num_states(mechanism); i++) {
    const pol_state_variable *state = pol_mechanism_state(mechanism, i);
    json_t *item = json_pack("{s:s, s:o, s:s}", "name", state->name, "initial",
                             cli_json_number(state->initial), "rate", state->rate);
    cli_json_append(&list, item);
  }
  return list;
}

static json_t *events_json(const pol_settings *settings)
{
  json_t *list = json_array();
  int failed = 0;
  for (int i = 0; i < settings->num_events; i++) {
    const pol_event_rule *rule = &settings->events[i];
    json_t *set = json_object();
    for (int k = 0; k < rule->num_changes; k++)
      failed |= json_object_set_new(set, rule->changes[k].quantity,
                                    json_string(rule->changes[k].expression));
    json_t *item = json_pack("{s:s, s:s, s:s, s:s, s:o}", "name", rule->name, "expression",
                             rule->expression, "direction", cli_direction_name(rule->direction),
                             "action", pol_event_action_name(rule->action), "set", set);
    cli_json_append(&list, item);
  }
  if (failed == 0) return list;
  json_decref(list);
  return NULL;
}

/* {"energy": ..., "translations": [axis, ...], "rotations": [{"axis": ..., "point": ...}, ...]} */
static json_t *symmetries_json(const pol_mechanism *mechanism)
{
  pol_symmetries s;
  json_t *translations = json_array(), *rotations = json_array();
  pol_mechanism_symmetries(mechanism, &s);
  for (int i = 0; i < s.num_translations; i++)
    cli_json_append(&translations, cli_json_numbers(s.translation[i], 3));
  for (int i = 0; i < s.num_rotations; i++)
    cli_json_append(&rotations, json_pack("{s:o, s:o}", "axis", cli_json_numbers(s.axis[i], 3),
                                          "point", cli_json_numbers(s.point[i], 3)));
  return json_pack("{s:b, s:o, s:o}", "energy", s.energy, "translations", translations, "rotations",
                   rotations);
}

static json_t *settings_json(const pol_settings *settings)
{
  const pol_options *options = &settings->options;
  return json_pack("{s:s, s:o, s:o, s:o, s:o, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, "
                   "s:s, s:o, s:s, s:o}",                    //
                   "method", options->method,                //
                   "index", cli_json_index(options->index),  //
                   "sigma", cli_json_number(options->sigma), //
                   "theta", cli_json_number(options->theta), "vartheta",
                   cli_json_number(options->vartheta), "start", pol_start_name(options->start), //
                   "formulation", pol_formulation_name(settings->formulation),                  //
                   "alpha_m", cli_json_number(options->alpha_m),                                //
                   "alpha_f", cli_json_number(options->alpha_f),                                //
                   "beta", cli_json_number(options->beta),                                      //
                   "gamma", cli_json_number(options->gamma),                                    //
                   "step", cli_json_step(settings), "control", cli_json_control(settings),      //
                   "end", cli_json_number(settings->end),                                       //
                   "newton", pol_newton_kind_name(options->newton.kind),                        //
                   "newton_tolerance", cli_json_number(options->newton.tolerance),              //
                   "solver", pol_solver_kind_name(options->solver), "published",
                   cli_json_published(&options->published));
}

json_t *cli_findings_json(const cli_findings *found)
{
  const pol_model *model = found->model;
  double gravity[3];
  const int invalid = cli_start_status(found->failure.status) == CLI_INVALID && !found->started;
  const char *status = found->started ? "valid" : invalid ? "invalid" : "failed";
  pol_mechanism_gravity(model->mechanism, gravity);
  json_t *warnings = cli_json_warnings(&model->settings);
  if (found->started)
    cli_json_append_warnings(&warnings, pol_simulation_summary(found->simulation));
  json_t *object = json_pack(
      "{s:s, s:s, s:o, s:o, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:i, s:i, s:o, s:o, s:o}", //
      "status", status,                                                                        //
      "model", model->name,                                                                    //
      "gravity", cli_json_numbers(gravity, 3),                                                 //
      "bodies", bodies_json(model->mechanism),                                                 //
      "shapes", model->num_shapes,                                                             //
      "joints", joints_json(model->mechanism),                                                 //
      "forces", forces_json(model->mechanism),                                                 //
      "drives", drives_json(model->mechanism),                                                 //
      "couplings", couplings_json(model->mechanism),                                           //
      "variables", variables_json(model->mechanism),                                           //
      "states", states_json(model->mechanism),                                                 //
      "events", events_json(&model->settings),                                                 //
      "constraints", found->num_constraints,                                                   //
      "degrees_of_freedom", cli_degrees_of_freedom(found),                                     //
      "symmetries", symmetries_json(model->mechanism),                                         //
      "simulation", settings_json(&model->settings),                                           //
      "warnings", warnings);
  int failed = json_object_set_new(
      object, "memory",
      json_pack("{s:o, s:o, s:o}", "bytes", cli_json_number(found->estimate.memory), "rank_bytes",
                cli_json_number(found->estimate.rank), "result_bytes",
                cli_json_number(pol_writer_memory(found->model->mechanism))));
  if (invalid)
    failed |= json_object_set_new(object, "errors", cli_json_start_errors(&found->failure));
  if (!found->started)
    failed |= json_object_set_new(object, "failure", cli_json_failure(&found->failure));
  else
    failed |= json_object_set_new(object, "moves", cli_json_moves(&found->moves)) |
              json_object_set_new(object, "redundant", cli_json_redundant(found->simulation)) |
              json_object_set_new(object, "angular_velocity_kept",
                                  json_boolean(cli_is_kept(found->moves.angular_velocity)));
  if (failed == 0) return object;
  json_decref(object);
  return NULL;
}
