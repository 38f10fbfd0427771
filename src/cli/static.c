/* polhode static: finds an equilibrium, reports it and its stability, and writes the load steps. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/analysis.h"
#include "cli/json_out.h"
#include "cli/terminal.h"

/* --- what is reported ----------------------------------------------------------------------------
 */

enum { MOST = 12 }; /* rows of each list */

static const double most_load = 100.0; /* factor up to which --buckling looks */

/* Zero where a number is round-off of others of this size. */
static double shown(double number, double size)
{
  const double round_off = 1e-14;
  return fabs(number) > round_off * size ? number : 0.0;
}

static void print_rest(int count)
{
  if (count > MOST) cli_print_row("", "and %d more", count - MOST);
}

/* A vector, without components that are round-off; size: of such vectors in this mechanism. */
static void print_vector(const char *label, const char *name, const char *quantity,
                         const double x[3], double size, const char *unit)
{
  cli_print_row(label, "%s%s%s  (%.9g, %.9g, %.9g) %s", name, quantity[0] != '\0' ? "." : "",
                quantity, shown(x[0], size), shown(x[1], size), shown(x[2], size), unit);
}

static double largest(double size, const double x[3])
{
  for (int i = 0; i < 3; i++) size = fmax(size, fabs(x[i]));
  return size;
}

/* Forces and torques of the joints of a mechanism of this size. */
static void print_reactions(const pol_formulation *f, const pol_mechanism *mechanism,
                            const pol_point *at, double size)
{
  const int count = pol_mechanism_num_joints(mechanism);
  double force[3], torque[3], force_size = 0.0, torque_size = 0.0;
  for (int k = 0; k < count; k++) {
    pol_formulation_reaction(f, at, k, force, torque);
    force_size = largest(force_size, force);
    torque_size = largest(torque_size, torque);
  }
  torque_size = fmax(torque_size, force_size * size);
  for (int k = 0; k < count && k < MOST; k++) {
    const char *name = pol_mechanism_joint(mechanism, k)->name;
    pol_formulation_reaction(f, at, k, force, torque);
    print_vector(k == 0 ? "reactions" : "", name, "force", force, force_size, "N");
    if (shown(largest(0.0, torque), torque_size) > 0.0)
      print_vector("", name, "torque", torque, torque_size, "N m");
  }
  print_rest(count);
}

/* Forces of springs and others: the channels that a result has of them. */
static void print_forces(const cli_analysis *a)
{
  const pol_mechanism *mechanism = a->model->mechanism;
  pol_simulation *simulation = NULL;
  pol_record *record = NULL;
  pol_settings settings = pol_settings_default();
  settings.end = settings.step;
  if (pol_mechanism_num_forces(mechanism) == 0 ||
      pol_simulation_create(&simulation, mechanism, &settings, NULL) != POL_OK)
    return;
  pol_state state = *pol_analysis_state(a->analysis);
  if (pol_simulation_pose(simulation, &state) == POL_OK &&
      pol_record_create(&record, simulation) == POL_OK) {
    double *row = calloc((size_t)pol_record_count(record), sizeof *row);
    if (row != NULL) pol_record_row(record, row);
    double size = 0.0;
    int rows = 0;
    for (int pass = 0; pass < 2 && row != NULL; pass++)
      for (int i = 0; i < pol_record_count(record); i++) {
        const pol_channel *channel = pol_record_channel(record, i);
        if (strcmp(channel->group, "forces") != 0 || channel->unit[0] != 'N') continue;
        if (pass == 0) size = fmax(size, fabs(row[i]));
        if (pass == 0 || rows++ >= MOST) continue;
        cli_print_row(rows == 1 ? "forces" : "", "%s  %.9g %s", channel->name, shown(row[i], size),
                      channel->unit);
      }
    print_rest(rows);
    free(row);
  }
  pol_record_free(&record);
  pol_simulation_free(&simulation);
}

/* 1 for a marker with a name on a body, such as the tip of a beam. */
static int is_listed(const pol_mechanism *mechanism, int index)
{
  const pol_marker *marker = pol_mechanism_marker(mechanism, index);
  return marker->name != NULL && marker->name[0] != '\0' && marker->body != POL_GROUND;
}

static void print_state(const cli_analysis *a)
{
  const pol_formulation *f = pol_analysis_formulation(a->analysis);
  const pol_mechanism *mechanism = a->model->mechanism;
  const pol_state *state = pol_analysis_state(a->analysis);
  const pol_point at = pol_state_point(state);
  const int num_bodies = pol_mechanism_num_bodies(mechanism);
  pol_body_state body;
  double size = 0.0;
  for (int b = 0; b < num_bodies; b++) {
    pol_formulation_body_state(f, state->q, state->v, b, &body);
    size = largest(size, body.position);
  }
  for (int b = 0; b < num_bodies && b < MOST; b++) {
    pol_formulation_body_state(f, state->q, state->v, b, &body);
    print_vector(b == 0 ? "bodies" : "", pol_mechanism_body(mechanism, b)->name, "", body.position,
                 size, "m");
  }
  print_rest(num_bodies);
  int rows = 0;
  for (int k = 0; k < pol_mechanism_num_markers(mechanism); k++) {
    pol_marker_state marker;
    const char *name = pol_mechanism_marker(mechanism, k)->name;
    if (!is_listed(mechanism, k) || rows++ >= MOST) continue;
    pol_formulation_marker_state(f, state->q, state->v, k, &marker);
    print_vector(rows == 1 ? "markers" : "", name, "", marker.position, size, "m");
  }
  print_rest(rows);
  rows = 0;
  for (int k = 0; k < pol_mechanism_num_joints(mechanism); k++) {
    const pol_joint *joint = pol_mechanism_joint(mechanism, k);
    for (int i = 0; i < pol_joint_num_coordinates(joint); i++) {
      const pol_coordinate_info *info = pol_joint_coordinate(joint, i);
      double value, rate;
      if (rows++ >= MOST) continue;
      pol_formulation_joint_coordinate(f, &at, k, i, &value, &rate);
      cli_print_row(rows == 1 ? "joints" : "", "%s.%s  %.9g %s", joint->name, info->name,
                    shown(value, info->angular ? 10.0 : size), info->angular ? "rad" : "m");
    }
  }
  print_rest(rows);
  for (int i = 0; i < pol_mechanism_num_states(mechanism) && i < MOST; i++) {
    const pol_state_variable *own = pol_mechanism_state(mechanism, i);
    cli_print_row(i == 0 ? "states" : "", "%s  %.9g%s%s", own->name,
                  pol_formulation_state_variable(f, &at, i), own->unit ? " " : "",
                  own->unit ? own->unit : "");
  }
  print_rest(pol_mechanism_num_states(mechanism));
  print_reactions(f, mechanism, &at, size);
  print_forces(a);
}

static json_t *state_json(const cli_analysis *a)
{
  const pol_formulation *f = pol_analysis_formulation(a->analysis);
  const pol_mechanism *mechanism = a->model->mechanism;
  const pol_state *state = pol_analysis_state(a->analysis);
  const pol_point at = pol_state_point(state);
  json_t *bodies = json_object(), *markers = json_object();
  json_t *joints = json_object(), *states = json_object();
  for (int b = 0; b < pol_mechanism_num_bodies(mechanism); b++) {
    pol_body_state body;
    pol_formulation_body_state(f, state->q, state->v, b, &body);
    cli_json_set(&bodies, pol_mechanism_body(mechanism, b)->name,
                 json_pack("{s:o, s:o}", "position", cli_json_numbers(body.position, 3),
                           "quaternion", cli_json_numbers(body.quaternion, 4)));
  }
  for (int k = 0; k < pol_mechanism_num_markers(mechanism); k++) {
    pol_marker_state marker;
    if (!is_listed(mechanism, k)) continue;
    pol_formulation_marker_state(f, state->q, state->v, k, &marker);
    cli_json_set(&markers, pol_mechanism_marker(mechanism, k)->name,
                 json_pack("{s:o, s:o}", "position", cli_json_numbers(marker.position, 3),
                           "quaternion", cli_json_numbers(marker.quaternion, 4)));
  }
  for (int k = 0; k < pol_mechanism_num_joints(mechanism); k++) {
    const pol_joint *joint = pol_mechanism_joint(mechanism, k);
    double force[3], torque[3];
    pol_formulation_reaction(f, &at, k, force, torque);
    json_t *object = json_pack("{s:o, s:o}", "force", cli_json_numbers(force, 3), "torque",
                               cli_json_numbers(torque, 3));
    for (int i = 0; i < pol_joint_num_coordinates(joint); i++) {
      double value, rate;
      pol_formulation_joint_coordinate(f, &at, k, i, &value, &rate);
      cli_json_set(&object, pol_joint_coordinate(joint, i)->name, cli_json_number(value));
    }
    cli_json_set(&joints, joint->name, object);
  }
  for (int i = 0; i < pol_mechanism_num_states(mechanism); i++)
    cli_json_set(&states, pol_mechanism_state(mechanism, i)->name,
                 cli_json_number(pol_formulation_state_variable(f, &at, i)));
  return json_pack("{s:o, s:o, s:o, s:o}", "bodies", bodies, "markers", markers, "joints", joints,
                   "states", states);
}

/* What kind of critical load a path ended at. */
static const char *critical_kind(const pol_path_report *path)
{
  if (!path->is_critical) return "none";
  if (path->is_limit) return "limit point";
  return path->last.flutter > 0.0 ? "flutter" : "bifurcation";
}

/* The load factors of a path: its limit points and a critical load. */
static json_t *path_json(const pol_path_report *path)
{
  const int known = path->num_limits < POL_MAX_LIMITS ? path->num_limits : POL_MAX_LIMITS;
  return json_pack("{s:i, s:i, s:o, s:o, s:i, s:o, s:o, s:s}", "points", path->points, "iterations",
                   path->iterations, "load", cli_json_number(path->load), "length",
                   cli_json_number(path->length), "num_limits", path->num_limits, "limits",
                   cli_json_numbers(path->limits, known), "critical",
                   path->is_critical ? cli_json_number(path->load) : json_null(), "kind",
                   critical_kind(path));
}

static void print_path(const cli_analysis *a, const pol_path_report *path)
{
  const int known = path->num_limits < POL_MAX_LIMITS ? path->num_limits : POL_MAX_LIMITS;
  cli_print_row("path", "%d point%s, %d iterations, to the load factor %.9g", path->points,
                cli_plural(path->points), path->iterations, path->load);
  for (int k = 0; k < known; k++)
    cli_print_row(k == 0 ? "limit points" : "", "load factor %.9g", path->limits[k]);
  if (path->num_limits > known) cli_print_row("", "and %d more", path->num_limits - known);
  if (path->is_critical && !path->is_limit && path->last.flutter > 0.0)
    cli_print_row("buckling", "flutter from the load factor %.9g, %.6g Hz; %s", path->load,
                  path->last.flutter, path->last.softest);
  else if (path->is_critical)
    cli_print_row("buckling", "at the load factor %.9g, a %s; softest: %s", path->load,
                  critical_kind(path), path->last.softest);
  else if (a->args->buckling)
    cli_print_row("buckling", "none up to the load factor %.9g", path->load);
}

static int report_path(const cli_analysis *a, const pol_path_report *path, const cli_rows *rows)
{
  const cli_args *args = a->args;
  if (args->json) {
    json_t *object = cli_analysis_json(a);
    cli_json_set(&object, "path", path_json(path));
    cli_json_set(&object, "stability", cli_stability_json(&path->last));
    cli_json_set(&object, "state", state_json(a));
    return cli_json_print(object) == 0 ? CLI_DONE : CLI_FAILED;
  }
  if (args->quiet) return CLI_DONE;
  char text[320];
  cli_print_model(a->model->name, args->operand);
  print_path(a, path);
  cli_stability_text(&path->last, text, sizeof text);
  cli_print_row("at the end", "%s", text);
  if (args->out != NULL)
    cli_print_row("result", "%s: %ld rows, t is the length of the path", args->out, rows->count);
  return CLI_DONE;
}

static int report(const cli_analysis *a, const pol_static_report *found, const cli_rows *rows)
{
  const cli_args *args = a->args;
  if (args->json) {
    json_t *object = cli_analysis_json(a);
    cli_json_set(&object, "load_steps", json_integer(found->load_steps));
    cli_json_set(&object, "iterations", json_integer(found->iterations));
    cli_json_set(&object, "residual", cli_json_number(found->residual));
    cli_json_set(&object, "stability", cli_stability_json(found));
    cli_json_set(&object, "state", state_json(a));
    return cli_json_print(object) == 0 ? CLI_DONE : CLI_FAILED;
  }
  if (args->quiet) return CLI_DONE;
  char text[320];
  cli_print_model(a->model->name, args->operand);
  cli_stability_text(found, text, sizeof text);
  cli_print_row(a->how, "%s", text);
  cli_print_row("solution", "%d load step%s, %d iteration%s, forces balance to %.2g of the largest",
                found->load_steps, cli_plural(found->load_steps), found->iterations,
                cli_plural(found->iterations), found->residual);
  print_state(a);
  if (args->out != NULL)
    cli_print_row("result", "%s: %ld rows, t is the load factor", args->out, rows->count);
  return CLI_DONE;
}

/* --- the command ---------------------------------------------------------------------------------
 */

static int write_point(const pol_analysis *analysis, double load, double length, void *user)
{
  cli_rows *rows = user;
  const pol_state *state = pol_analysis_state(analysis);
  if (rows->writer != NULL && rows->status == POL_OK)
    rows->status = pol_simulation_hold_loads(rows->simulation, state->t, load);
  if (rows->writer != NULL) cli_rows_write(rows, state, length);
  return cli_stop_signal() != 0;
}

static int write_step(const pol_analysis *analysis, double load, void *user)
{
  return write_point(analysis, load, load, user);
}

/* An equilibrium, or a path of them. */
static pol_status find(cli_analysis *a, int steps, cli_rows *rows, pol_static_report *found,
                       pol_path_report *path, pol_diagnostics *failure)
{
  pol_static_options options = pol_static_options_default();
  pol_path_options along = pol_path_options_default();
  if (a->args->arc_length || a->args->buckling) {
    a->how = "equilibrium";
    if (steps > 0) along.steps = steps;
    along.buckling = a->args->buckling;
    if (a->args->buckling && !a->args->arc_length) along.end = most_load;
    along.on_point = write_point;
    along.user = rows;
    return pol_analysis_path(a->analysis, &along, path, failure);
  }
  if (steps > 0) options.steps = steps;
  cli_analysis_rotate(a, &options);
  options.on_step = write_step;
  options.user = rows;
  if (a->args->out != NULL) (void)write_step(a->analysis, 0.0, rows);
  return pol_analysis_equilibrium(a->analysis, &options, found, failure);
}

/* A note if there are applied loads and the scale of each is zero at the time of the analysis. */
static void note_loads_at_zero(const cli_analysis *a)
{
  const pol_mechanism *mechanism = a->model->mechanism;
  const pol_force *load = NULL;
  for (int k = 0; k < pol_mechanism_num_forces(mechanism); k++) {
    const pol_force *force = pol_mechanism_force(mechanism, k);
    if (force->type != POL_APPLIED_FORCE && force->type != POL_APPLIED_TORQUE) continue;
    if (pol_mechanism_force_scale(mechanism, k, a->t) != 0.0) return;
    if (load == NULL) load = force;
  }
  if (load != NULL)
    cli_note("note: all applied loads are zero: their scale is zero at t = %.10g s (force '%s'); "
             "--at selects another time",
             a->t, load->name);
}

static int solve(cli_analysis *a)
{
  const cli_args *args = a->args;
  cli_rows rows = {0};
  pol_static_report found;
  pol_path_report path;
  pol_diagnostics failure = {.equation = -1};
  int steps = 0;
  int result = cli_analysis_count(a, "--steps", args->steps, &steps);
  if (result == CLI_DONE && args->out != NULL) result = cli_rows_check(a, args->out);
  if (result != CLI_DONE) return result;
  if (args->frame != NULL && (args->arc_length || args->buckling))
    return cli_refuse_one(a->command, args->json, "--frame", args->frame,
                          "must not be given with --arc-length or --buckling");
  cli_catch_signals();
  if (args->out != NULL)
    cli_rows_open(&rows, a, args->out, args->arc_length || args->buckling ? "path" : "static", 0,
                  0.0);
  pol_status status = rows.status;
  if (status == POL_OK) status = find(a, steps, &rows, &found, &path, &failure);
  if (args->out != NULL)
    result = cli_rows_close(&rows, a, args->out, status == POL_OK ? "done" : "failed");
  if (result != CLI_DONE) return result;
  if (status == POL_CANCELLED) return CLI_SIGNALLED + cli_stop_signal();
  if (status != POL_OK) {
    const int exit_status = cli_analysis_fail(a, &failure);
    return failure.status > 0 ? CLI_FAILED : exit_status;
  }
  if (args->arc_length || args->buckling) return report_path(a, &path, &rows);
  note_loads_at_zero(a);
  return report(a, &found, &rows);
}

static int run(const cli_args *args)
{
  cli_analysis a;
  int result = cli_analysis_open(&a, "polhode static", args, 1);
  if (result == CLI_DONE) result = solve(&a);
  cli_analysis_close(&a);
  return result;
}

static const cli_option options[] = {
    {"--steps", "N", "load steps (default 1, of a path 20); failed ones are halved", CLI_TEXT,
     offsetof(cli_args, steps), NULL},
    {"--arc-length", NULL,
     "follow the path of equilibria to the load factor 1 by arc length, through limit points",
     CLI_FLAG, offsetof(cli_args, arc_length), NULL},
    {"--buckling", NULL,
     "follow it to the first critical load: the tangent stiffness becomes singular, or flutter",
     CLI_FLAG, offsetof(cli_args, buckling), NULL},
    {"--at", "SECONDS", "time of drives and functions (default 0), or row of a result", CLI_TEXT,
     offsetof(cli_args, at), NULL},
    CLI_FRAME_OPTION,
    {"--out", "FILE.h5|FILE.csv", "write the initial state and each load step as a row", CLI_TEXT,
     offsetof(cli_args, out), NULL},
    {"--param", "NAME=VALUE", "value of a parameter; may be repeated", CLI_OVERRIDE, 0,
     "parameters."},
    {"--set", "KEY=VALUE", "replace any value of the model file; may be repeated", CLI_OVERRIDE, 0,
     NULL},
    CLI_JSON_OPTION,
};

const cli_command cli_static = {
    .name = "static",
    .summary = "find a static equilibrium and its stability",
    .operand = "MODEL.json|RESULT",
    .text = "Finds an equilibrium by Newton's method, from the initial values of a model or\n"
            "a row of a result, and reports whether it is stable. Gravity, applied forces and\n"
            "actuators grow in load steps. The mechanism comes to rest at a stable\n"
            "equilibrium near its start, unless it starts at an unstable one.\n\n"
            "In the result of --out each row is a load step, and t is the load factor; of\n"
            "a path (--arc-length, --buckling) t is its length. Applied forces are those of\n"
            "the load factor.\n\n"
            "Exit status: 0 done, 1 no equilibrium was found, 2 invalid input.",
    .examples = "  polhode static models/examples/double_pendulum.json\n"
                "  polhode static models/examples/suspension.json --steps 10 --out rest.h5\n"
                "  polhode static models/beams/lee_frame.json --arc-length --out path.h5\n"
                "  polhode static models/beams/lateral_buckling.json --buckling",
    .options = options,
    .num_options = sizeof options / sizeof options[0],
    .run = run,
};
