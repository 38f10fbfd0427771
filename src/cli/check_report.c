/* What polhode check reports, as a table and as JSON. */
#include <math.h>
#include <stdio.h>

#include "cli/check.h"
#include "cli/cli.h"
#include "cli/json_out.h"
#include "cli/summary.h"
#include "cli/terminal.h"

/* Changes of velocities below this, in m/s and rad/s, are round-off. */
static const double negligible_change = 1e-10;

/* The name of the body that a marker is on. */
static const char *marker_owner(const pol_mechanism *mechanism, int marker)
{
  int body = pol_mechanism_marker(mechanism, marker)->body;
  return body == POL_GROUND ? "ground" : pol_mechanism_body(mechanism, body)->name;
}

/* What a joint locks: "translations x y z, 2 rotations", "the distance". */
static void describe_locks(const pol_joint *joint, char *text, size_t size)
{
  pol_joint_row rows[POL_MAX_JOINT_ROWS];
  int num_rows = pol_joint_rows(joint, rows);
  int rotations = 0;
  size_t used = 0;
  if (joint->type == POL_DISTANCE) {
    snprintf(text, size, "the distance");
    return;
  }
  if (joint->type == POL_ROLLING_SPHERE || joint->type == POL_ROLLING_DISK) {
    snprintf(text, size, "the height and 2 slip velocities, radius %.10g m", joint->radius);
    return;
  }
  text[0] = '\0';
  for (int i = 0; i < num_rows; i++) {
    if (rows[i].kind != POL_ROW_TRANSLATION)
      rotations++;
    else if (used < size)
      used += (size_t)snprintf(text + used, size - used, "%s %c",
                               used > 0 ? ""
                               : i + 1 < num_rows && rows[i + 1].kind == POL_ROW_TRANSLATION
                                   ? "translations"
                                   : "translation",
                               "xyz"[rows[i].axis]);
  }
  if (joint->global_axes && used < size)
    used += (size_t)snprintf(text + used, size - used, " in global axes");
  if (rotations > 0 && used < size)
    snprintf(text + used, size - used, "%s%d rotation%s", used == 0 ? "" : ", ", rotations,
             cli_plural(rotations));
}

/* What of a body's initial values must stay: "position x y, rotation x y z"; "" for nothing. */
static void describe_keep(unsigned keep, char *text, size_t size)
{
  static const struct {
    const char *name;
    unsigned bit;
  } kinds[] = {{"position", POL_KEEP_POSITION},
               {"rotation", POL_KEEP_ROTATION},
               {"velocity", POL_KEEP_VELOCITY},
               {"angular velocity", POL_KEEP_ANGULAR_VELOCITY}};
  size_t used = 0;
  text[0] = '\0';
  for (int k = 0; k < 4; k++) {
    if (!(keep & 7 * kinds[k].bit)) continue;
    used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", kinds[k].name);
    for (int axis = 0; axis < 3; axis++)
      if (keep & kinds[k].bit << axis)
        used += (size_t)snprintf(text + used, size - used, " %c", "xyz"[axis]);
  }
}

/* Whether given velocities stayed as they are, apart from round-off at usual sizes. */
static int is_kept(double change)
{
  return change <= negligible_change;
}

/* Of the bodies without constraints: 6 per rigid body, 3 per point mass, 6 and the modes per
 * flexible body. */
static int motions_of(const pol_body *body)
{
  if (body->interface > 0) return 0;
  return (body->point ? 3 : 6) + (body->flexible != NULL ? body->flexible->num_modes : 0);
}

static int free_motions(const pol_mechanism *mechanism)
{
  int count = 0;
  for (int i = 0; i < pol_mechanism_num_bodies(mechanism); i++)
    count += motions_of(pol_mechanism_body(mechanism, i));
  return count;
}

static int degrees_of_freedom(const cli_findings *found)
{
  return free_motions(found->model->mechanism) - found->num_constraints + found->num_redundant;
}

/* ", times harmonic" where a function of time scales a force. */
static const char *times_word(const pol_force *force)
{
  return force->scale ? ", times " : "";
}

/* The type of the function of time that scales a force, "" if there is none. */
static const char *scale_word(const pol_force *force)
{
  return force->scale ? pol_function_type_name(force->scale->type) : "";
}

static const pol_coordinate_info *spring_coordinate(const pol_mechanism *mechanism,
                                                    const pol_force *force)
{
  return pol_joint_coordinate(pol_mechanism_joint(mechanism, force->joint), force->coordinate);
}

/* A number of a force, or that an expression gives it. */
typedef struct word {
  char text[32];
} word;

static word effort_word(const pol_force *force, int i, double number)
{
  word w = {"(expression)"};
  if (!force->expressions[i]) snprintf(w.text, sizeof w.text, "%.10g", number);
  return w;
}

/* "support of rotor, stiffness (1, 2, 3) N/m, damping (0, 0, 0) N s/m" */
static void describe_force(const pol_mechanism *mechanism, const pol_force *force, char *text,
                           size_t size)
{
  const char *type = pol_force_type_name(force->type);
  const double *k = force->stiffness, *c = force->damping, *f = force->vector;
  switch (force->type) {
  case POL_APPLIED_FORCE:
  case POL_APPLIED_TORQUE:
    snprintf(text, size, "%s (%s, %s, %s) %s on %s, %s axes%s%s", type,
             effort_word(force, 0, f[0]).text, effort_word(force, 1, f[1]).text,
             effort_word(force, 2, f[2]).text, force->type == POL_APPLIED_TORQUE ? "N m" : "N",
             pol_mechanism_body(mechanism, force->body)->name, pol_force_frame_name(force->frame),
             times_word(force), scale_word(force));
    break;
  case POL_SUPPORT:
    snprintf(text, size,
             "%s of %s, stiffness (%.10g, %.10g, %.10g) N/m, damping (%.10g, %.10g, %.10g) N s/m",
             type, pol_mechanism_body(mechanism, force->body)->name, k[0], k[1], k[2], c[0], c[1],
             c[2]);
    break;
  case POL_SPRING_DAMPER:
    snprintf(text, size,
             "%s from %s to %s, stiffness %.10g N/m%s, damping %.10g N s/m, free length %.10g m, "
             "actuator %s N%s%s",
             type, marker_owner(mechanism, force->marker[0]),
             marker_owner(mechanism, force->marker[1]), k[0],
             force->law == POL_SQUARED_SPRING ? "^3 (squared-length)" : "", c[0], force->length,
             effort_word(force, 0, force->actuator).text, times_word(force), scale_word(force));
    break;
  case POL_DRAG:
    snprintf(text, size, "%s on %s, coefficient %.10g N s^2/m^2", type,
             pol_mechanism_body(mechanism, force->body)->name, force->coefficient);
    break;
  case POL_BUSHING: {

    const double *kr = force->rotational_stiffness, *cr = force->rotational_damping,
                 *p = force->preload, *pt = force->preload_torque;
    snprintf(text, size,
             "bushing from %s to %s, stiffness (%.10g, %.10g, %.10g) N/m and (%.10g, %.10g, %.10g) "
             "N m/rad, damping (%.10g, %.10g, %.10g) N s/m and (%.10g, %.10g, %.10g) N m s/rad, "
             "preload (%.10g, %.10g, %.10g) N and (%.10g, %.10g, %.10g) N m",
             marker_owner(mechanism, force->marker[0]), marker_owner(mechanism, force->marker[1]),
             k[0], k[1], k[2], kr[0], kr[1], kr[2], c[0], c[1], c[2], cr[0], cr[1], cr[2], p[0],
             p[1], p[2], pt[0], pt[1], pt[2]);
    break;
  }
  case POL_BEAM:
    snprintf(text, size, "beam element from %s to %s, length %.10g m, strains of %s",
             marker_owner(mechanism, force->marker[0]), marker_owner(mechanism, force->marker[1]),
             force->length, pol_beam_strain_name(force->strain));
    break;
  case POL_CALLBACK_FORCE: /* not in model files */
    snprintf(text, size, "%s", type);
    break;
  case POL_JOINT_STOP: {
    const pol_coordinate_info *coordinate = spring_coordinate(mechanism, force);
    const int turns = coordinate->angular;
    snprintf(text, size,
             "stop of the %s of %s from %.10g to %.10g %s, stiffness %.10g %s, damping %.10g %s",
             coordinate->key, pol_mechanism_joint(mechanism, force->joint)->name, force->limits[0],
             force->limits[1], turns ? "rad" : "m", k[0], turns ? "N m/rad" : "N/m", c[0],
             turns ? "N m s/rad" : "N s/m");
    break;
  }
  case POL_JOINT_FRICTION: {
    const pol_coordinate_info *coordinate = spring_coordinate(mechanism, force);
    const pol_joint_friction *own = &force->friction;
    const int turns = coordinate->angular;
    snprintf(text, size,
             "friction of the %s of %s, coefficient %.10g (static %.10g), level %.10g (static "
             "%.10g) %s, viscous %.10g %s, creep speed %.10g %s",
             coordinate->key, pol_mechanism_joint(mechanism, force->joint)->name, own->coefficient,
             fmax(own->coefficient, own->static_coefficient), own->level,
             fmax(own->level, own->static_level), turns ? "N m" : "N", own->viscous,
             turns ? "N m s/rad" : "N s/m", own->creep_speed, turns ? "rad/s" : "m/s");
    break;
  }
  case POL_JOINT_SPRING: {

    const pol_coordinate_info *coordinate = spring_coordinate(mechanism, force);
    snprintf(text, size,
             coordinate->angular
                 ? "%s on the %s of %s, stiffness %.10g N m/rad, damping %.10g N m s/rad, "
                   "relaxed at %.10g rad, actuator %s N m"
                 : "%s on the %s of %s, stiffness %.10g N/m, damping %.10g N s/m, relaxed at %.10g "
                   "m, actuator %s N",
             pol_force_type_name(force->type), coordinate->key,
             pol_mechanism_joint(mechanism, force->joint)->name, force->stiffness[0],
             force->damping[0], force->rest, effort_word(force, 0, force->actuator).text);
    break;
  }
  }
}

/* What a drive moves: "rotation of hinge", "x of marker tip on arm", "x of marker tip on arm from
 * marker eye on base". */
static void describe_coordinate(const pol_mechanism *mechanism, const pol_drive *drive, char *text,
                                size_t size)
{
  const char *coordinate = pol_coordinate_name(drive->coordinate);
  if (drive->joint != POL_NO_JOINT) {
    snprintf(text, size, "%s of %s", coordinate,
             pol_mechanism_joint(mechanism, drive->joint)->name);
    return;
  }
  const pol_marker *from = pol_mechanism_marker(mechanism, drive->marker[0]);
  const pol_marker *marker = pol_mechanism_marker(mechanism, drive->marker[1]);
  int used = snprintf(text, size, "%s of marker %s on %s", coordinate, marker->name,
                      marker_owner(mechanism, drive->marker[1]));
  if (from->name[0] != '\0' && used > 0 && (size_t)used < size)
    snprintf(text + used, size - (size_t)used, " from marker %s on %s", from->name,
             marker_owner(mechanism, drive->marker[0]));
}

/* Variables, states and events; how many motions are free; what stays constant because of the
 * mechanism's structure. */
static void print_motions(const cli_findings *found)
{
  const pol_mechanism *mechanism = found->model->mechanism;
  const pol_settings *settings = &found->model->settings;
  for (int i = 0; i < pol_mechanism_num_variables(mechanism); i++) {
    const pol_variable *variable = pol_mechanism_variable(mechanism, i);
    cli_print_row(variable->input ? "input" : "variable", "%s = %s%s%s", variable->name,
                  variable->expression, variable->unit ? ", in " : "",
                  variable->unit ? variable->unit : "");
  }
  for (int i = 0; i < pol_mechanism_num_states(mechanism); i++) {
    const pol_state_variable *state = pol_mechanism_state(mechanism, i);
    cli_print_row("state", "%s' = %s, from %.10g%s%s", state->name, state->rate, state->initial,
                  state->unit ? " " : "", state->unit ? state->unit : "");
  }
  /* "bounce, where ball.position.z - 0.1 falls through 0: reset", then a row for each change */
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
  /* "pd, FMU pd.fmu every 0.001 s", then a row for each variable of the FMU */
  for (int i = 0; i < found->model->num_controllers; i++) {
    const pol_fmu_controller *c = &found->model->controllers[i];
    cli_print_row("controller", "%s, FMU %s every %.10g s", c->name, c->file, c->period);
    for (int k = 0; k < c->num_inputs; k++)
      cli_print_row("  reads", "%s = %s", c->inputs[k].name,
                    pol_mechanism_variable(mechanism, c->inputs[k].variable)->name);
    for (int k = 0; k < c->num_outputs; k++)
      cli_print_row("  sets", "%s = %s",
                    pol_mechanism_variable(mechanism, c->outputs[k].variable)->name,
                    c->outputs[k].name);
    for (int k = 0; k < c->num_parameters; k++)
      cli_print_row("  parameter", "%s = %.10g", c->parameters[k].name, c->parameters[k].value);
  }
  char redundant[32] = "";
  if (found->num_redundant)
    snprintf(redundant, sizeof redundant, ", %d redundant", found->num_redundant);
  cli_print_row("freedom", "%d of %d: %d constraint%s%s", degrees_of_freedom(found),
                free_motions(mechanism), found->num_constraints, cli_plural(found->num_constraints),
                redundant);
  /* of large models, about what each body takes */
  const int num_bodies = pol_mechanism_num_bodies(mechanism);
  const double bytes = found->estimate.memory + found->estimate.rank;
  if (num_bodies >= 100)
    cli_print_row("memory", "about %.0f MB, %.1f kB per body", 1e-6 * bytes,
                  1e-3 * bytes / num_bodies);
  if (found->started) cli_print_redundant(found->simulation, settings->options.redundant);
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

static const pol_shape_mass *shape_mass_of(const pol_model *model, int body)
{
  for (int i = 0; i < model->num_shape_masses; i++)
    if (model->shape_masses[i].body == body) return &model->shape_masses[i];
  return NULL;
}

/* What a body has from its shapes. */
static void print_shape_mass(const pol_model *model, int index)
{
  const pol_shape_mass *from = shape_mass_of(model, index);
  const pol_body *body = pol_mechanism_body(model->mechanism, index);
  const double *J = body->inertia, *c = from != NULL ? from->center : NULL;
  if (from == NULL) return;
  cli_print_row("  shapes", "volume %.10g m^3", from->volume);
  if (!body->point && J[1] == 0.0 && J[2] == 0.0 && J[5] == 0.0)
    cli_print_row("  inertia", "(%.10g, %.10g, %.10g) kg m^2", J[0], J[4], J[8]);
  else if (!body->point)
    cli_print_row("  inertia",
                  "(%.10g, %.10g, %.10g) kg m^2, off the diagonal xy %.10g, xz %.10g, yz %.10g",
                  J[0], J[4], J[8], J[1], J[2], J[5]);
  if (c[0] != 0.0 || c[1] != 0.0 || c[2] != 0.0)
    cli_print_row("  centre", "(%.10g, %.10g, %.10g) m from the origin in the file", c[0], c[1],
                  c[2]);
}

/* Of a mode of a reduced body, Hz: modes are orthogonal. */
static double mode_frequency(const pol_flexible_body *body, int mode)
{
  const int at = mode * (body->num_modes + 1);
  return sqrt(body->stiffness[at] / body->inertia[at]) / 6.28318530717958647692;
}

/* Flexible bodies that were reduced from finite elements: their modes. */
static void print_reduced_bodies(const pol_model *model)
{
  for (int i = 0; i < model->num_reduced_bodies; i++) {
    const pol_reduced_note *note = &model->reduced_bodies[i];
    const pol_body *body = pol_mechanism_body(model->mechanism, note->body);
    const int count = body->flexible->num_modes, shown = count < 8 ? count : 8;
    const double *c = note->center;
    char text[256];
    size_t used = 0;
    for (int k = 0; k < shown; k++)
      used += (size_t)snprintf(text + used, sizeof text - used, "%s%.5g", k > 0 ? ", " : "",
                               mode_frequency(body->flexible, k));
    cli_print_row("reduced", "%s, %.10g kg, from %d freedoms to %d modes", body->name, body->mass,
                  note->num_freedoms, count);
    cli_print_row("  centre", "(%.10g, %.10g, %.10g) m from the origin of the mesh", c[0], c[1],
                  c[2]);
    cli_print_row("  modes", "%s%s Hz", text, shown < count ? ", ..." : "");
    if (shown < count)
      cli_print_row("  highest", "%.5g Hz", mode_frequency(body->flexible, count - 1));
    if (note->anisotropy > 0.0)
      cli_print_row("  integrals", "approximate: the mass matrix is not the same in x, y and z");
  }
}

static void print_mechanism(const cli_findings *found)
{
  const pol_mechanism *mechanism = found->model->mechanism;
  double gravity[3];
  pol_mechanism_gravity(mechanism, gravity);
  cli_print_model(found->model->name, found->source);
  for (int i = 0; i < found->model->num_parameters; i++) {
    const pol_parameter *p = &found->model->parameters[i];
    cli_print_row("parameter", "%s = %.10g%s%s%s%s", p->name, p->value, p->unit[0] ? " " : "",
                  p->unit, p->description[0] ? ", " : "", p->description);
  }
  cli_print_row("gravity", "(%.10g, %.10g, %.10g) m/s^2", gravity[0], gravity[1], gravity[2]);
  for (int i = 0; i < pol_mechanism_num_bodies(mechanism); i++) {
    const pol_body *body = pol_mechanism_body(mechanism, i);
    char keeps[96];
    describe_keep(body->keep, keeps, sizeof keeps);
    if (body->interface > 0) {
      cli_print_row("  interface", "%s", body->name);
      continue;
    }
    if (body->flexible != NULL) {
      cli_print_row("flexible body", "%s, %.10g kg, %d mode%s", body->name, body->mass,
                    body->flexible->num_modes, cli_plural(body->flexible->num_modes));
      continue;
    }
    cli_print_row("body", "%s, %.10g kg%s%s%s", body->name, body->mass,
                  body->point ? ", point mass" : "", keeps[0] ? ", keeps " : "", keeps);
    print_shape_mass(found->model, i);
  }
  print_reduced_bodies(found->model);
  if (found->model->num_shapes > 0) cli_print_row("shapes", "%d", found->model->num_shapes);
  for (int i = 0; i < pol_mechanism_num_joints(mechanism); i++) {
    const pol_joint *joint = pol_mechanism_joint(mechanism, i);
    char locks[80];
    describe_locks(joint, locks, sizeof locks);
    cli_print_row("joint", "%s, %s from %s to %s, locks %s", joint->name,
                  pol_joint_type_name(joint->type), marker_owner(mechanism, joint->marker[0]),
                  marker_owner(mechanism, joint->marker[1]), locks);
  }
  for (int i = 0; i < pol_mechanism_num_forces(mechanism); i++) {
    char text[1024];
    describe_force(mechanism, pol_mechanism_force(mechanism, i), text, sizeof text);
    cli_print_row("force", "%s, %s", pol_mechanism_force(mechanism, i)->name, text);
    /* The expressions of a force, a row each. */
    const pol_force *force = pol_mechanism_force(mechanism, i);
    static const char *const components[] = {"  x", "  y", "  z"};
    int count = pol_force_num_expressions(force->type);
    for (int k = 0; k < count; k++)
      if (force->expressions[k])
        cli_print_row(count == 1 ? "  actuator" : components[k], "%s", force->expressions[k]);
  }
  for (int i = 0; i < pol_mechanism_num_drives(mechanism); i++) {
    const pol_drive *drive = pol_mechanism_drive(mechanism, i);
    const char *expression = drive->function.expression;
    char text[512];
    describe_coordinate(mechanism, drive, text, sizeof text);
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
}

/* Whether the values of this kind (a POL_GIVEN_... bit) are given for any body. */
static int is_given(const pol_mechanism *mechanism, unsigned bit)
{
  for (int i = 0; i < pol_mechanism_num_bodies(mechanism); i++)
    if (pol_mechanism_body(mechanism, i)->given & bit) return 1;
  return 0;
}

static void print_kept(const cli_findings *found, const char *label, unsigned bit, double change,
                       const char *unit)
{
  if (!is_given(found->model->mechanism, bit))
    cli_print_row(label, "not given, completed");
  else if (is_kept(change))
    cli_print_row(label, "kept");
  else
    cli_print_row(label, "changed by %.3g %s: the joints do not allow the given one", change, unit);
}

void cli_findings_print(const cli_findings *found)
{
  print_mechanism(found);
  print_motions(found);
  const pol_settings *settings = &found->model->settings;
  const pol_options *options = &settings->options;
  cli_print_method(options);
  if (settings->choice[0] != '\0') cli_print_row("chosen", "%s", settings->choice);
  if (cli_has_setting(options, "index"))
    cli_print_row("parameters", "alpha_m %.6g, alpha_f %.6g, beta %.6g, gamma %.6g",
                  options->alpha_m, options->alpha_f, options->beta, options->gamma);
  cli_print_formulation(settings);
  const pol_control *control = &settings->options.control;
  const pol_output *output = &settings->output;
  if (settings->variable && control->controller == POL_CONTROLLER_REVERSIBLE) {
    cli_print_row("time", "0 to %.10g s in reversible steps, the first of %.10g s", settings->end,
                  control->first_step);
  } else if (settings->variable) {
    cli_print_row("time", "0 to %.10g s in steps of variable size", settings->end);
    cli_print_row("tolerances", "relative %.3g, absolute %.3g m and %.3g rad", control->rtol,
                  control->atol_translation, control->atol_rotation);
  } else {
    cli_print_row("time", "0 to %.10g s in steps of %.10g s", settings->end, settings->step);
  }
  if (output->step > 0.0) cli_print_row("output", "every %.10g s", output->step);
  if (output->count > 0)
    cli_print_row("output", "at %d time%s and the end", output->count, cli_plural(output->count));
  /* rattle on a Lie group has an iteration of its own */
  if (!cli_has_setting(options, "order") || pol_settings_formulation(settings) != POL_SO3XR3)
    cli_print_row("Newton", "%s, tolerance %.3g, at most %d iteration%s",
                  pol_newton_kind_name(options->newton.kind), options->newton.tolerance,
                  options->newton.max_iterations, cli_plural(options->newton.max_iterations));
  cli_print_row("solver", "%s", pol_solver_kind_name(options->solver));
  if (found->started) {
    const pol_moves *moves = &found->moves;
    cli_print_row("initial values", "|Phi| %.3g, |B v| %.3g as given", moves->position_residual,
                  moves->velocity_residual);
    cli_print_row("  position", "moved by %.3g m", moves->position);
    const int turns = free_motions(found->model->mechanism) >
                      3 * pol_mechanism_num_bodies(found->model->mechanism);
    if (turns) cli_print_row("  rotation", "moved by %.3g rad", moves->rotation);
    print_kept(found, "  velocity", POL_GIVEN_VELOCITY, moves->velocity, "m/s");
    if (turns)
      print_kept(found, "  angular vel.", POL_GIVEN_ANGULAR_VELOCITY, moves->angular_velocity,
                 "rad/s");
  }
}

/* Adds flexible bodies that were reduced. */
static void add_reduced_bodies(json_t **object, const pol_model *model)
{
  json_t *list = json_array();
  for (int i = 0; i < model->num_reduced_bodies; i++) {
    const pol_reduced_note *note = &model->reduced_bodies[i];
    const pol_body *body = pol_mechanism_body(model->mechanism, note->body);
    json_t *frequencies = json_array();
    for (int k = 0; k < body->flexible->num_modes; k++)
      cli_json_append(&frequencies, cli_json_number(mode_frequency(body->flexible, k)));
    cli_json_append(&list, json_pack("{s:s, s:o, s:i, s:o, s:o, s:o}", "name", body->name, "mass",
                                     cli_json_number(body->mass), "freedoms", note->num_freedoms,
                                     "center", cli_json_numbers(note->center, 3), "frequencies",
                                     frequencies, "anisotropy", cli_json_number(note->anisotropy)));
  }
  cli_json_set(object, "reduced_bodies", list);
}

static const char *body_type(const pol_body *body)
{
  if (body->flexible != NULL) return body->interface > 0 ? "interface" : "flexible";
  return body->point ? "point" : "rigid";
}

/* Adds bodies, joints, drives and couplings. */
static void add_parts(json_t **object, const pol_model *model)
{
  const pol_mechanism *mechanism = model->mechanism;
  json_t *bodies = json_array(), *joints = json_array(), *drives = json_array(),
         *couplings = json_array();
  for (int i = 0; i < pol_mechanism_num_bodies(mechanism); i++) {
    const pol_body *body = pol_mechanism_body(mechanism, i);
    char keeps[96];
    describe_keep(body->keep, keeps, sizeof keeps);
    json_t *item = json_pack("{s:s, s:s, s:o, s:s}",              //
                             "name", body->name,                  //
                             "type", body_type(body),             //
                             "mass", cli_json_number(body->mass), //
                             "keeps", keeps);
    const pol_shape_mass *from = shape_mass_of(model, i);
    if (!body->point) cli_json_set(&item, "inertia", cli_json_numbers(body->inertia, 9));
    if (body->flexible != NULL && body->interface == 0)
      cli_json_set(&item, "modes", json_integer(body->flexible->num_modes));
    if (from != NULL)
      cli_json_set(&item, "from_shapes",
                   json_pack("{s:o, s:o}", "volume", cli_json_number(from->volume), "center",
                             cli_json_numbers(from->center, 3)));
    cli_json_append(&bodies, item);
  }
  for (int i = 0; i < pol_mechanism_num_joints(mechanism); i++) {
    const pol_joint *joint = pol_mechanism_joint(mechanism, i);
    char locks[80];
    describe_locks(joint, locks, sizeof locks);
    json_t *item = json_pack("{s:s, s:s, s:[s, s], s:s}",                         //
                             "name", joint->name,                                 //
                             "type", pol_joint_type_name(joint->type),            //
                             "bodies", marker_owner(mechanism, joint->marker[0]), //
                             marker_owner(mechanism, joint->marker[1]),           //
                             "locks", locks);
    cli_json_append(&joints, item);
  }
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
    cli_json_append(&drives, item);
  }
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
    cli_json_append(&couplings, item);
  }
  cli_json_set(object, "parameters", cli_json_parameters(model));
  cli_json_set(object, "bodies", bodies);
  cli_json_set(object, "joints", joints);
  cli_json_set(object, "drives", drives);
  cli_json_set(object, "couplings", couplings);
}

/* The controllers: name, FMU, period, and what is bound to variables of the FMU. */
static json_t *controllers_json(const pol_model *model)
{
  json_t *list = json_array();
  for (int i = 0; i < model->num_controllers; i++) {
    const pol_fmu_controller *c = &model->controllers[i];
    json_t *inputs = json_object(), *outputs = json_object(), *parameters = json_object();
    for (int k = 0; k < c->num_inputs; k++)
      cli_json_set(
          &inputs, c->inputs[k].name,
          json_string(pol_mechanism_variable(model->mechanism, c->inputs[k].variable)->name));
    for (int k = 0; k < c->num_outputs; k++)
      cli_json_set(
          &outputs, c->outputs[k].name,
          json_string(pol_mechanism_variable(model->mechanism, c->outputs[k].variable)->name));
    for (int k = 0; k < c->num_parameters; k++)
      cli_json_set(&parameters, c->parameters[k].name, cli_json_number(c->parameters[k].value));
    cli_json_append(&list,
                    json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "name", c->name, "fmu",
                              cli_json_text(c->file), "period", cli_json_number(c->period),
                              "inputs", inputs, "outputs", outputs, "parameters", parameters));
  }
  return list;
}

/* Adds variables, states, events, and symmetries: {"energy": ..., "translations": [axis, ...],
 * "rotations": [{"axis": ..., "point": ...}, ...]}. */
static void add_motions(json_t **object, const pol_mechanism *mechanism,
                        const pol_settings *settings)
{
  json_t *variables = json_array(), *states = json_array(), *events = json_array(),
         *translations = json_array(), *rotations = json_array();
  for (int i = 0; i < pol_mechanism_num_variables(mechanism); i++) {
    const pol_variable *variable = pol_mechanism_variable(mechanism, i);
    cli_json_append(&variables,
                    json_pack("{s:s, s:s, s:b, s:s}", "name", variable->name, "expression",
                              variable->expression, "input", variable->input, "unit",
                              variable->unit ? variable->unit : ""));
  }
  for (int i = 0; i < pol_mechanism_num_states(mechanism); i++) {
    const pol_state_variable *state = pol_mechanism_state(mechanism, i);
    json_t *item = json_pack("{s:s, s:o, s:s, s:s}", "name", state->name, "initial",
                             cli_json_number(state->initial), "rate", state->rate, "unit",
                             state->unit ? state->unit : "");
    cli_json_append(&states, item);
  }
  for (int i = 0; i < settings->num_events; i++) {
    const pol_event_rule *rule = &settings->events[i];
    json_t *set = json_object();
    for (int k = 0; k < rule->num_changes; k++)
      cli_json_set(&set, rule->changes[k].quantity, json_string(rule->changes[k].expression));
    json_t *item = json_pack("{s:s, s:s, s:s, s:s, s:o}", "name", rule->name, "expression",
                             rule->expression, "direction",
                             rule->direction > 0   ? "rising"
                             : rule->direction < 0 ? "falling"
                                                   : "both",
                             "action", pol_event_action_name(rule->action), "set", set);
    cli_json_append(&events, item);
  }
  cli_json_set(object, "variables", variables);
  cli_json_set(object, "states", states);
  cli_json_set(object, "events", events);
  pol_symmetries s;
  pol_mechanism_symmetries(mechanism, &s);
  for (int i = 0; i < s.num_translations; i++)
    cli_json_append(&translations, cli_json_numbers(s.translation[i], 3));
  for (int i = 0; i < s.num_rotations; i++)
    cli_json_append(&rotations, json_pack("{s:o, s:o}", "axis", cli_json_numbers(s.axis[i], 3),
                                          "point", cli_json_numbers(s.point[i], 3)));
  cli_json_set(object, "symmetries",
               json_pack("{s:b, s:o, s:o}", "energy", s.energy, "translations", translations,
                         "rotations", rotations));
}

/* Limits, null for one that does not exist. */
static json_t *limits_json(const double limits[2])
{
  json_t *list = json_array();
  for (int i = 0; i < 2; i++)
    cli_json_append(&list, isfinite(limits[i]) ? json_real(limits[i]) : json_null());
  return list;
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
        pol_spring_law_name(force->law), "bodies", marker_owner(mechanism, force->marker[0]),
        marker_owner(mechanism, force->marker[1]), "stiffness", force->stiffness[0], "damping",
        force->damping[0], "length", force->length, "actuator", force->actuator);
  case POL_BUSHING:
    return json_pack("{s:s, s:s, s:[s, s], s:o, s:o, s:o, s:o, s:o, s:o}",                     //
                     "name", force->name, "type", pol_force_type_name(force->type),            //
                     "bodies", marker_owner(mechanism, force->marker[0]),                      //
                     marker_owner(mechanism, force->marker[1]),                                //
                     "stiffness", cli_json_numbers(force->stiffness, 3),                       //
                     "damping", cli_json_numbers(force->damping, 3),                           //
                     "rotational_stiffness", cli_json_numbers(force->rotational_stiffness, 3), //
                     "rotational_damping", cli_json_numbers(force->rotational_damping, 3),     //
                     "preload", cli_json_numbers(force->preload, 3),                           //
                     "preload_torque", cli_json_numbers(force->preload_torque, 3));
  case POL_BEAM:
    return json_pack("{s:s, s:s, s:[s, s], s:f, s:s, s:o, s:o, s:o}",              //
                     "name", force->name, "type", type,                            //
                     "bodies", marker_owner(mechanism, force->marker[0]),          //
                     marker_owner(mechanism, force->marker[1]),                    //
                     "length", force->length,                                      //
                     "strains", pol_beam_strain_name(force->strain),               //
                     "stiffness", cli_json_numbers(force->section->stiffness, 36), //
                     "damping", cli_json_numbers(force->section->damping, 36),     //
                     "relaxed", cli_json_numbers(force->section->strain, 6));
  case POL_CALLBACK_FORCE: /* not in model files */
    return json_pack("{s:s, s:s}", "name", force->name, "type", type);
  case POL_JOINT_STOP:
    return json_pack("{s:s, s:s, s:s, s:s, s:o, s:f, s:f}", "name", force->name, "type", type,
                     "joint", pol_mechanism_joint(mechanism, force->joint)->name, "coordinate",
                     spring_coordinate(mechanism, force)->key, "limits", limits_json(force->limits),
                     "stiffness", force->stiffness[0], "damping", force->damping[0]);
  case POL_JOINT_FRICTION: {
    const pol_joint_friction *f = &force->friction;
    return json_pack("{s:s, s:s, s:s, s:s, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f}",
                     "name", force->name, "type", type, "joint",
                     pol_mechanism_joint(mechanism, force->joint)->name, "coordinate",
                     spring_coordinate(mechanism, force)->key, "coefficient", f->coefficient,
                     "static_coefficient", f->static_coefficient, "level", f->level, "static_level",
                     f->static_level, "viscous", f->viscous, "radius", f->radius, "thrust_radius",
                     f->thrust_radius, "length", f->length, "stribeck_speed", f->stribeck_speed,
                     "creep_speed", f->creep_speed);
  }
  case POL_JOINT_SPRING:
    return json_pack("{s:s, s:s, s:s, s:s, s:f, s:f, s:f, s:f}", "name", force->name, "type", type,
                     "joint", pol_mechanism_joint(mechanism, force->joint)->name, "coordinate",
                     spring_coordinate(mechanism, force)->key, "stiffness", force->stiffness[0],
                     "damping", force->damping[0], "rest", force->rest, "actuator",
                     force->actuator);
  case POL_DRAG:
    break;
  }
  return json_pack("{s:s, s:s, s:s, s:f}", "name", force->name, "type", type, "body", body,
                   "coefficient", force->coefficient);
}

/* Expressions are a list with null for each number that no expression gives. */
static json_t *forces_json(const pol_mechanism *mechanism)
{
  json_t *list = json_array();
  for (int i = 0; i < pol_mechanism_num_forces(mechanism); i++) {
    const pol_force *force = pol_mechanism_force(mechanism, i);
    const char *const *texts = (const char *const *)force->expressions;
    json_t *item = force_json(mechanism, force);
    if (force->scale) cli_json_set(&item, "scale", json_string(scale_word(force)));
    if (texts[0] || texts[1] || texts[2]) {
      json_t *expressions = json_array();
      for (int k = 0; k < pol_force_num_expressions(force->type); k++)
        cli_json_append(&expressions, texts[k] ? json_string(texts[k]) : json_null());
      cli_json_set(&item, "expressions", expressions);
    }
    cli_json_append(&list, item);
  }
  return list;
}

json_t *cli_findings_json(const cli_findings *found)
{
  const pol_model *model = found->model;
  const pol_options *options = &model->settings.options;
  const int invalid = cli_start_status(found->failure.status) == CLI_INVALID && !found->started;
  const char *status = found->started ? "valid" : invalid ? "invalid" : "failed";
  double gravity[3];
  pol_mechanism_gravity(model->mechanism, gravity);
  json_t *warnings = cli_json_warnings(&model->settings);
  if (found->started)
    cli_json_append_warnings(&warnings, pol_simulation_summary(found->simulation));
  json_t *simulation = cli_settings_json(&model->settings);
  cli_json_set(&simulation, "alpha_m", cli_json_number(options->alpha_m));
  cli_json_set(&simulation, "alpha_f", cli_json_number(options->alpha_f));
  cli_json_set(&simulation, "beta", cli_json_number(options->beta));
  cli_json_set(&simulation, "gamma", cli_json_number(options->gamma));
  cli_json_set(&simulation, "newton", json_string(pol_newton_kind_name(options->newton.kind)));
  cli_json_set(&simulation, "newton_tolerance", cli_json_number(options->newton.tolerance));
  cli_json_set(&simulation, "solver", json_string(pol_solver_kind_name(options->solver)));
  json_t *object = json_pack("{s:s, s:s, s:o, s:i, s:o, s:i, s:i, s:o, s:o}", //
                             "status", status,                                //
                             "model", model->name,                            //
                             "gravity", cli_json_numbers(gravity, 3),         //
                             "shapes", model->num_shapes,                     //
                             "forces", forces_json(model->mechanism),         //
                             "constraints", found->num_constraints,           //
                             "degrees_of_freedom", degrees_of_freedom(found), //
                             "simulation", simulation,                        //
                             "warnings", warnings);
  add_parts(&object, model);
  if (model->num_reduced_bodies > 0) add_reduced_bodies(&object, model);
  add_motions(&object, model->mechanism, &model->settings);
  if (model->num_controllers > 0) cli_json_set(&object, "controllers", controllers_json(model));
  cli_json_set(&object, "memory",
               json_pack("{s:o, s:o, s:o}", "bytes", cli_json_number(found->estimate.memory),
                         "rank_bytes", cli_json_number(found->estimate.rank), "result_bytes",
                         cli_json_number(pol_writer_memory(model->mechanism))));
  if (invalid) cli_json_set(&object, "errors", cli_json_start_errors(&found->failure));
  if (!found->started) {
    cli_json_set(&object, "failure", cli_json_failure(&found->failure));
  } else {
    cli_json_set(&object, "moves", cli_json_moves(&found->moves));
    cli_json_set(&object, "redundant", cli_json_redundant(found->simulation));
    cli_json_set(&object, "angular_velocity_kept",
                 json_boolean(is_kept(found->moves.angular_velocity)));
  }
  return object;
}
