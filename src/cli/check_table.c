/* What `polhode check` found out, as a table on stdout. */
#include <stdio.h>

#include "cli/check.h"
#include "cli/summary.h"
#include "cli/text_out.h"

/* The expressions of a force, a row each. */
static void print_expressions(const pol_force *force)
{
  static const char *const components[] = {"  x", "  y", "  z"};
  int count = pol_force_num_expressions(force->type);
  for (int i = 0; i < count; i++)
    if (force->expressions[i])
      cli_print_row(count == 1 ? "  actuator" : components[i], "%s", force->expressions[i]);
}

static void print_quantities(const pol_mechanism *mechanism)
{
  for (int i = 0; i < pol_mechanism_num_variables(mechanism); i++) {
    const pol_variable *variable = pol_mechanism_variable(mechanism, i);
    cli_print_row("variable", "%s = %s", variable->name, variable->expression);
  }
  for (int i = 0; i < pol_mechanism_num_states(mechanism); i++) {
    const pol_state_variable *state = pol_mechanism_state(mechanism, i);
    cli_print_row("state", "%s' = %s, from %.10g", state->name, state->rate, state->initial);
  }
}

/* "bounce, where ball.position.z - 0.1 falls through 0: reset", then a row for each change. */
static void print_events(const pol_settings *settings)
{
  for (int i = 0; i < settings->num_events; i++) {
    const pol_event_rule *rule = &settings->events[i];
    cli_print_row("event", "%s, where %s %s 0: %s", rule->name, rule->expression,
                  rule->direction > 0   ? "rises through"
                  : rule->direction < 0 ? "falls through"
                                        : "passes",
                  pol_event_action_name(rule->action));
    for (int k = 0; k < rule->num_changes; k++)
      cli_print_row("  sets", "%s = %s", rule->changes[k].quantity, rule->changes[k].expression);
  }
}

/* What stays constant because of the mechanism's structure. */
static void print_symmetries(const pol_mechanism *mechanism, const pol_settings *settings)
{
  pol_symmetries s;
  int resets = 0;
  char axis[64];
  pol_mechanism_symmetries(mechanism, &s);
  if (s.energy) cli_print_row("symmetry", "in time: energy is constant");
  for (int i = 0; i < s.num_translations; i++) {
    cli_axis_text(s.translation[i], axis, sizeof axis);
    cli_print_row("symmetry", "translation along %s: linear momentum is constant", axis);
  }
  for (int i = 0; i < s.num_rotations; i++) {
    cli_axis_text(s.axis[i], axis, sizeof axis);
    cli_print_row("symmetry",
                  "rotation about %s through (%.6g, %.6g, %.6g): angular momentum is constant",
                  axis, s.point[i][0] + 0.0, s.point[i][1] + 0.0, s.point[i][2] + 0.0);
  }
  const int none = !s.energy && s.num_translations == 0 && s.num_rotations == 0;
  if (none) cli_print_row("symmetry", "none");
  for (int i = 0; i < settings->num_events; i++)
    resets |= settings->events[i].action == POL_EVENT_RESET;
  if (resets && !none) cli_print_row("symmetry", "holds between the resets of events");
}

static void print_mechanism(const cli_findings *found)
{
  const pol_mechanism *mechanism = found->model->mechanism;
  double gravity[3];
  pol_mechanism_gravity(mechanism, gravity);
  cli_print_model(found->model->name, found->source);
  cli_print_row("gravity", "(%.10g, %.10g, %.10g) m/s^2", gravity[0], gravity[1], gravity[2]);
  for (int i = 0; i < pol_mechanism_num_bodies(mechanism); i++) {
    const pol_body *body = pol_mechanism_body(mechanism, i);
    char keeps[96];
    cli_describe_keep(body->keep, keeps, sizeof keeps);
    cli_print_row("body", "%s, %.10g kg%s%s%s", body->name, body->mass,
                  body->point ? ", point mass" : "", keeps[0] ? ", keeps " : "", keeps);
  }
  if (found->model->num_shapes > 0)
    cli_print_row("shapes", "%d, for pictures", found->model->num_shapes);
  for (int i = 0; i < pol_mechanism_num_joints(mechanism); i++) {
    const pol_joint *joint = pol_mechanism_joint(mechanism, i);
    char locks[80];
    cli_describe_locks(joint, locks, sizeof locks);
    cli_print_row("joint", "%s, %s from %s to %s, locks %s", joint->name,
                  pol_joint_type_name(joint->type), cli_marker_owner(mechanism, joint->marker[0]),
                  cli_marker_owner(mechanism, joint->marker[1]), locks);
  }
  for (int i = 0; i < pol_mechanism_num_forces(mechanism); i++) {
    char text[1024];
    cli_describe_force(mechanism, pol_mechanism_force(mechanism, i), text, sizeof text);
    cli_print_row("force", "%s, %s", pol_mechanism_force(mechanism, i)->name, text);
    print_expressions(pol_mechanism_force(mechanism, i));
  }
  for (int i = 0; i < pol_mechanism_num_drives(mechanism); i++) {
    const pol_drive *drive = pol_mechanism_drive(mechanism, i);
    const char *expression = drive->function.expression;
    char text[512];
    cli_describe_coordinate(mechanism, drive, text, sizeof text);
    cli_print_row("drive", "%s, %s, %s%s%s", drive->name, text,
                  pol_function_type_name(drive->function.type), expression ? " " : "",
                  expression ? expression : "");
  }
  for (int i = 0; i < pol_mechanism_num_couplings(mechanism); i++) {
    const pol_coupling *c = pol_mechanism_coupling(mechanism, i);
    cli_print_row("coupling", "%s, %.10g times %s of %s and %.10g times %s of %s", c->name,
                  c->factor[0], pol_coordinate_name(c->coordinate[0]),
                  pol_mechanism_joint(mechanism, c->joint[0])->name, c->factor[1],
                  pol_coordinate_name(c->coordinate[1]),
                  pol_mechanism_joint(mechanism, c->joint[1])->name);
  }
  print_quantities(mechanism);
  print_events(&found->model->settings);
  char redundant[32] = "";
  if (found->num_redundant)
    snprintf(redundant, sizeof redundant, ", %d redundant", found->num_redundant);
  cli_print_row("freedom", "%d of %d: %d constraint%s%s", cli_degrees_of_freedom(found),
                cli_free_motions(mechanism), found->num_constraints,
                cli_plural(found->num_constraints), redundant);
  if (found->started)
    cli_print_redundant(found->simulation, found->model->settings.options.redundant);
  print_symmetries(mechanism, &found->model->settings);
}

static void print_time(const pol_settings *settings)
{
  const pol_control *control = &settings->options.control;
  const pol_output *output = &settings->output;
  if (settings->variable) {
    cli_print_row("time", "0 to %.10g s in steps of variable size", settings->end);
    cli_print_row("tolerances", "relative %.3g, absolute %.3g m and %.3g rad", control->rtol,
                  control->atol_translation, control->atol_rotation);
  } else {
    cli_print_row("time", "0 to %.10g s in steps of %.10g s", settings->end, settings->step);
  }
  if (output->step > 0.0) cli_print_row("output", "every %.10g s", output->step);
  if (output->count > 0)
    cli_print_row("output", "at %d time%s and the end", output->count, cli_plural(output->count));
}

static void print_settings(const pol_settings *settings)
{
  const pol_options *options = &settings->options;
  cli_print_method(options);
  if (cli_has_setting(options, "index"))
    cli_print_row("parameters", "alpha_m %.6g, alpha_f %.6g, beta %.6g, gamma %.6g",
                  options->alpha_m, options->alpha_f, options->beta, options->gamma);
  cli_print_row("formulation", "%s", pol_formulation_name(settings->formulation));
  print_time(settings);
  cli_print_row("Newton", "%s, tolerance %.3g, at most %d iteration%s",
                pol_newton_kind_name(options->newton.kind), options->newton.tolerance,
                options->newton.max_iterations, cli_plural(options->newton.max_iterations));
  cli_print_row("solver", "%s", pol_solver_kind_name(options->solver));
}

/* Whether the values of this kind (a POL_GIVEN_... bit) are given for any body. */
static int is_given(const pol_mechanism *mechanism, unsigned bit)
{
  for (int i = 0; i < pol_mechanism_num_bodies(mechanism); i++)
    if (pol_mechanism_body(mechanism, i)->given & bit) return 1;
  return 0;
}

/* Whether any body can turn. */
static int has_rotations(const pol_mechanism *mechanism)
{
  return cli_free_motions(mechanism) > 3 * pol_mechanism_num_bodies(mechanism);
}

static void print_kept(const cli_findings *found, const char *label, unsigned bit, double change,
                       const char *unit)
{
  if (!is_given(found->model->mechanism, bit))
    cli_print_row(label, "not given, completed");
  else if (cli_is_kept(change))
    cli_print_row(label, "kept");
  else
    cli_print_row(label, "changed by %.3g %s: the joints do not allow the given one", change, unit);
}

static void print_initial_values(const cli_findings *found)
{
  const pol_moves *moves = &found->moves;
  cli_print_row("initial values", "|Phi| %.3g, |B v| %.3g as given", moves->position_residual,
                moves->velocity_residual);
  cli_print_row("  position", "moved by %.3g m", moves->position);
  const int turns = has_rotations(found->model->mechanism);
  if (turns) cli_print_row("  rotation", "moved by %.3g rad", moves->rotation);
  print_kept(found, "  velocity", POL_GIVEN_VELOCITY, moves->velocity, "m/s");
  if (turns)
    print_kept(found, "  angular vel.", POL_GIVEN_ANGULAR_VELOCITY, moves->angular_velocity,
               "rad/s");
}

void cli_findings_print(const cli_findings *found)
{
  print_mechanism(found);
  print_settings(&found->model->settings);
  if (found->started) print_initial_values(found);
}
