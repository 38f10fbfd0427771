/* The report of a run: work done, final state of every body, reaction of every joint, effort of
 * every drive and coupling, energy, constraint residuals; as a table and as a JSON object.
 */
#include "cli/summary.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/json_out.h"
#include "cli/terminal.h"

/* --- table ------------------------------------------------------------------------------------ */

/* The table shows this many bodies and joints; JSON and CSV have all. */
enum { MAX_SHOWN = 10 };
/* Changes of initial values below these are round-off: m and rad, m/s and rad/s. */
static const double negligible_move = 1e-12, negligible_change = 1e-10;

static double per_step(const pol_summary *summary, double amount)
{
  return summary->counts.steps > 0 ? amount / (double)summary->counts.steps : 0.0;
}

/* The name of the next dropped constraint after *index, or NULL. */
static const char *next_redundant(const pol_simulation *simulation, const unsigned char *dropped,
                                  int *index, char *name, size_t size)
{
  const pol_dae *dae = pol_formulation_dae(pol_simulation_formulation(simulation));
  while (++*index < pol_dae_num_constraints(dae))
    if (dropped[*index]) {
      dae->describe(dae->group.nv + *index, name, size, dae->user);
      return name;
    }
  return NULL;
}

void cli_print_redundant(const pol_simulation *simulation, pol_redundant redundant)
{
  char name[128];
  int index = -1, count, shares = redundant == POL_REDUNDANT_MINIMUM_NORM;
  const unsigned char *dropped = pol_simulation_dropped(simulation, &count);
  while (next_redundant(simulation, dropped, &index, name, sizeof name))
    cli_print_row("redundant", "%s, %s", name, shares ? "shares reactions" : "dropped");
}

json_t *cli_json_redundant(const pol_simulation *simulation)
{
  json_t *list = json_array();
  char name[128];
  int index = -1, count;
  const unsigned char *dropped = pol_simulation_dropped(simulation, &count);
  while (list && next_redundant(simulation, dropped, &index, name, sizeof name))
    cli_json_append(&list, cli_json_text(name));
  return list;
}

/* Whether forces, drives, dampers or resets change the energy. */
static int does_work(const pol_work *work)
{
  return work->dissipated != 0.0 || work->applied != 0.0 || work->drives != 0.0;
}

static double total(const pol_energy *energy)
{
  return energy->kinetic + energy->potential;
}

/* Changes of the energy below this share of it are round-off. */
static const double round_off = 1e-13;

/* The largest energy or work. */
static double energy_size(const pol_summary *summary)
{
  const pol_work *work = &summary->work;
  double size = fmax(fabs(total(&summary->initial_energy)), fabs(total(&summary->energy)));
  size = fmax(size, fmax(summary->initial_energy.kinetic, summary->energy.kinetic));
  return fmax(size, fmax(fabs(work->applied), fmax(fabs(work->drives), fabs(work->dissipated))));
}

/* What round-off of the positions, the largest of which is `length`, does to the energy: bodies
 * that fall by it, or move by it in the whole run.  At rest there is no other energy. */
static double energy_noise(const pol_simulation *simulation, double length)
{
  const pol_mechanism *mechanism =
      pol_formulation_mechanism(pol_simulation_formulation(simulation));
  const double t = pol_simulation_summary(simulation)->t, round = round_off * length;
  double g[3], mass = 0.0;
  pol_mechanism_gravity(mechanism, g);
  for (int i = 0; i < pol_mechanism_num_bodies(mechanism); i++)
    mass += pol_mechanism_body(mechanism, i)->mass;
  const double weight = mass * sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
  return weight * round + (t > 0.0 ? 0.5 * mass * round * round / (t * t) : 0.0);
}

/* How far the energy, or its balance with the work done, is off: relative to the largest energy or
 * work; 0 if it is round-off. */
static double relative_energy_error(const pol_simulation *simulation, double length)
{
  const pol_summary *summary = pol_simulation_summary(simulation);
  const double error =
      does_work(&summary->work) ? fabs(summary->energy_balance) : summary->max_energy_drift;
  const double size = energy_size(summary);
  return error > fmax(round_off * size, energy_noise(simulation, length)) ? error / size : 0.0;
}

/* How accurate the end of a run is, in words; the largest position is `size`. */
static void accuracy_text(const pol_accuracy *accuracy, double size, char *text, size_t length)
{
  const int position = accuracy->position > round_off * size,
            rotation = accuracy->rotation > round_off;
  text[0] = '\0';
  if (accuracy->reason[0] != '\0')
    snprintf(text, length, "; accuracy not known: %s", accuracy->reason);
  else if (position && rotation)
    snprintf(text, length, "; end accurate to about %.1g m and %.1g rad", accuracy->position,
             accuracy->rotation);
  else if (position || rotation)
    snprintf(text, length, "; end accurate to about %.1g %s",
             position ? accuracy->position : accuracy->rotation, position ? "m" : "rad");
  else if (accuracy->known)
    snprintf(text, length, "; end accurate to round-off");
}

/* One line: when it ended, how accurate it is, and what became of the energy. */
static void verdict_text(const cli_outcome *outcome, double size, char *text, size_t length)
{
  const pol_summary *summary = pol_simulation_summary(outcome->simulation);
  const double error = relative_energy_error(outcome->simulation, size);
  const double end = outcome->model->settings.end;
  char time[64], accuracy[256], energy[32] = "round-off";
  snprintf(time, sizeof time, summary->t == end ? "t = %.10g s" : "t = %.10g s of %.10g s",
           summary->t, end);
  accuracy_text(&outcome->accuracy, size, accuracy, sizeof accuracy);
  if (error > 0.0) snprintf(energy, sizeof energy, "%.1g", error);
  snprintf(text, length, "%s%s; energy%s to %s", time, accuracy,
           does_work(&summary->work) ? " balance" : "", energy);
}

static void print_work(const cli_outcome *outcome)
{
  const pol_summary *summary = pol_simulation_summary(outcome->simulation);
  const pol_settings *settings = &outcome->model->settings;
  const pol_counts *counts = &summary->counts;
  cli_print_model(outcome->model->name, outcome->source);
  if (outcome->verbose) {
    cli_print_method(&settings->options);
    cli_print_formulation(settings);
  } else {
    char detail[32] = "";
    if (cli_has_setting(&settings->options, "index"))
      snprintf(detail, sizeof detail, ", index %s", cli_index_name(settings->options.index));
    if (cli_has_setting(&settings->options, "order"))
      snprintf(detail, sizeof detail, ", order %d", pol_options_order(&settings->options));
    cli_print_row("method", "%s%s, in %s", settings->options.method, detail,
                  pol_formulation_name(settings->formulation));
  }
  if (settings->choice[0] != '\0') cli_print_row("chosen", "%s", settings->choice);
  cli_print_redundant(outcome->simulation, settings->options.redundant);
  if (!settings->variable)
    cli_print_row("steps", "%ld of %.10g s, %ld rejected", counts->steps, settings->step,
                  counts->rejected);
  else
    cli_print_row("steps", "%ld of %.3g to %.3g s, %ld rejected", counts->steps,
                  counts->smallest_step, counts->largest_step, counts->rejected);
  if (outcome->verbose) {
    cli_print_row("Newton", "%ld iteration%s, %.2f per step", counts->newton_iterations,
                  cli_plural(counts->newton_iterations),
                  per_step(summary, (double)counts->newton_iterations));
    cli_print_row("Jacobians", "%ld", counts->jacobians);
    cli_print_row("factorizations", "%ld", counts->factorizations);
  }
  cli_print_row("wall time", "%.4g s, %.2f microseconds per step%s", outcome->wall_seconds,
                per_step(summary, 1e6 * outcome->wall_seconds),
                outcome->out != NULL ? " with writing" : "");
}

static int has_moved(const pol_moves *moves)
{
  return moves->position > negligible_move || moves->rotation > negligible_move;
}

static int has_changed(const pol_moves *moves)
{
  return moves->velocity > negligible_change || moves->angular_velocity > negligible_change;
}

static const char moved_format[] = "bodies moved by up to %.4g m and %.4g rad";
static const char changed_format[] = "given velocities changed by up to %.4g m/s and %.4g rad/s";

void cli_note_moves(const pol_simulation *simulation)
{
  const pol_moves *moves = &pol_simulation_summary(simulation)->moves;
  if (!has_moved(moves) && !has_changed(moves)) return;
  fprintf(stderr, "note: ");
  if (has_moved(moves)) fprintf(stderr, moved_format, moves->position, moves->rotation);
  if (has_moved(moves) && has_changed(moves)) fprintf(stderr, ", ");
  if (has_changed(moves)) fprintf(stderr, changed_format, moves->velocity, moves->angular_velocity);
  fprintf(stderr, " to satisfy the joints\n");
}

/* Width of the column of names: the longest one shown, within reason. */
static int name_width(const pol_mechanism *mechanism)
{
  const int couplings = pol_mechanism_num_couplings(mechanism);
  size_t width = strlen(couplings > 0 ? "coupling" : "joint");
  for (int i = 0; i < pol_mechanism_num_bodies(mechanism) && i < MAX_SHOWN; i++) {
    size_t length = strlen(pol_mechanism_body(mechanism, i)->name);
    if (length > width) width = length;
  }
  for (int i = 0; i < pol_mechanism_num_joints(mechanism) && i < MAX_SHOWN; i++) {
    size_t length = strlen(pol_mechanism_joint(mechanism, i)->name);
    if (length > width) width = length;
  }
  for (int i = 0; i < pol_mechanism_num_drives(mechanism) && i < MAX_SHOWN; i++) {
    size_t length = strlen(pol_mechanism_drive(mechanism, i)->name);
    if (length > width) width = length;
  }
  for (int i = 0; i < couplings && i < MAX_SHOWN; i++) {
    size_t length = strlen(pol_mechanism_coupling(mechanism, i)->name);
    if (length > width) width = length;
  }
  return width < 24 ? (int)width : 24;
}

/* 0 for a number below the least one that is shown; never -0. */
static double shown_value(double x, double least)
{
  return fabs(x) > least ? x : 0.0;
}

static void print_vector(int width, const char *name, const char *quantity, const char *unit,
                         double least, const double x[3])
{
  double shown[3];
  for (int i = 0; i < 3; i++) shown[i] = shown_value(x[i], least);
  printf("%-*s  %-16s  %-5s  %17.10g %17.10g %17.10g\n", width, name, quantity, unit, shown[0],
         shown[1], shown[2]);
}

static double norm(const double x[3])
{
  return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
}

/* The largest vectors of each kind at the end; torques are at least forces times the largest
 * position. */
typedef struct sizes {
  double position, velocity, angular_velocity, force, torque;
} sizes;

static sizes largest_vectors(const pol_simulation *simulation)
{
  const pol_formulation *formulation = pol_simulation_formulation(simulation);
  const pol_mechanism *mechanism = pol_formulation_mechanism(formulation);
  const pol_state *state = pol_simulation_state(simulation);
  const pol_point at = pol_state_point(state);
  sizes largest = {0};
  for (int i = 0; i < pol_mechanism_num_bodies(mechanism); i++) {
    pol_body_state body;
    pol_formulation_body_state(formulation, state->q, state->v, i, &body);
    largest.position = fmax(largest.position, norm(body.position));
    largest.velocity = fmax(largest.velocity, norm(body.velocity));
    if (!pol_mechanism_body(mechanism, i)->point)
      largest.angular_velocity = fmax(largest.angular_velocity, norm(body.angular_velocity));
  }
  for (int i = 0; i < pol_mechanism_num_joints(mechanism); i++) {
    double force[3], torque[3];
    pol_formulation_reaction(formulation, &at, i, force, torque);
    largest.force = fmax(largest.force, norm(force));
    largest.torque = fmax(largest.torque, norm(torque));
  }
  largest.torque = fmax(largest.torque, largest.force * largest.position);
  return largest;
}

/* What a position is rounded to, relative to the largest one, as Newton's method leaves it. */
static const double position_round_off = 1e-13;
/* The table has ten digits: what is below this share of the size of its kind may be round-off. */
static const double last_digit = 1e-10;

static double least_shown(double size, double noise)
{
  return fmax(round_off * size, fmin(noise, last_digit * size));
}

/* The numbers of each kind below which the table shows 0.  At rest there is nothing to compare
 * with: so the size of velocities is at least that by which the energy of the run would move all
 * bodies, that of forces what does this work over the size of the mechanism.  Velocities have the
 * round-off of positions over a step, reactions that over the square of a step.  Rates that cross
 * or turn the mechanism in the whole run by round-off are none. */
static sizes find_least(const pol_simulation *simulation, const sizes *largest)
{
  const pol_mechanism *mechanism =
      pol_formulation_mechanism(pol_simulation_formulation(simulation));
  const pol_summary *summary = pol_simulation_summary(simulation);
  const double energy = energy_size(summary), length = largest->position, t = summary->t;
  const double h = per_step(summary, t), round = position_round_off * length;
  double mass = 0.0;
  sizes size = *largest;
  for (int i = 0; i < pol_mechanism_num_bodies(mechanism); i++)
    mass += pol_mechanism_body(mechanism, i)->mass;
  if (mass > 0.0) size.velocity = fmax(size.velocity, sqrt(2.0 * energy / mass));
  if (length > 0.0) {
    size.angular_velocity = fmax(size.angular_velocity, size.velocity / length);
    size.force = fmax(size.force, energy / length);
    size.torque = fmax(size.torque, energy);
  }
  sizes least = {.position = round_off * length,
                 .velocity = round_off * size.velocity,
                 .angular_velocity = round_off * size.angular_velocity,
                 .force = round_off * size.force,
                 .torque = round_off * size.torque};
  if (h > 0.0) {
    least.velocity = fmax(least_shown(size.velocity, round / h), round_off * length / t);
    least.angular_velocity =
        fmax(least_shown(size.angular_velocity, position_round_off / h), round_off / t);
    least.force = least_shown(size.force, mass * round / (h * h));
    least.torque = least_shown(size.torque, mass * round * length / (h * h));
  }
  return least;
}

static void print_rest(const char *what, int count)
{
  if (count > MAX_SHOWN) printf("... and %d more %s\n", count - MAX_SHOWN, what);
}

static void print_state(const pol_simulation *simulation, sizes least)
{
  const pol_formulation *formulation = pol_simulation_formulation(simulation);
  const pol_mechanism *mechanism = pol_formulation_mechanism(formulation);
  const pol_state *state = pol_simulation_state(simulation);
  int width = name_width(mechanism);
  int bodies = pol_mechanism_num_bodies(mechanism), joints = pol_mechanism_num_joints(mechanism);

  printf("\n%-*s  %-16s  %-5s  %17s %17s %17s\n", width, "body", "final", "unit", "x", "y", "z");
  for (int i = 0; i < bodies && i < MAX_SHOWN; i++) {
    const pol_body *given = pol_mechanism_body(mechanism, i);
    pol_body_state body;
    pol_formulation_body_state(formulation, state->q, state->v, i, &body);
    print_vector(width, given->name, "position", "m", least.position, body.position);
    print_vector(width, "", "velocity", "m/s", least.velocity, body.velocity);
    if (given->point) continue;
    print_vector(width, "", "angular velocity", "rad/s", least.angular_velocity,
                 body.angular_velocity);
  }
  print_rest("bodies", bodies);
  if (joints == 0) return;

  printf("\n%-*s  %-16s  %-5s  %17s %17s %17s\n", width, "joint", "final", "unit", "x", "y", "z");
  for (int i = 0; i < joints && i < MAX_SHOWN; i++) {
    double force[3], torque[3];
    pol_point at = pol_state_point(state);
    pol_formulation_reaction(formulation, &at, i, force, torque);
    print_vector(width, pol_mechanism_joint(mechanism, i)->name, "force", "N", least.force, force);
    print_vector(width, "", "torque", "N m", least.torque, torque);
  }
  print_rest("joints", joints);
  if (pol_simulation_reactions_lag(simulation))
    printf("reactions are those of t = %.10g s\n", state->lambda_t);
}

/* Drives, couplings and states. */
static void print_efforts(const pol_simulation *simulation, sizes least)
{
  const pol_formulation *formulation = pol_simulation_formulation(simulation);
  const pol_mechanism *mechanism = pol_formulation_mechanism(formulation);
  const pol_point at = pol_state_point(pol_simulation_state(simulation));
  const int drives = pol_mechanism_num_drives(mechanism), width = name_width(mechanism);
  const int couplings = pol_mechanism_num_couplings(mechanism);
  const int states = pol_mechanism_num_states(mechanism);
  if (drives > 0) printf("\n%-*s  %-16s  %-5s  %17s\n", width, "drive", "final", "unit", "value");
  for (int i = 0; i < drives && i < MAX_SHOWN; i++) {
    const pol_drive *drive = pol_mechanism_drive(mechanism, i);
    const int turns = pol_coordinate_turns(drive->coordinate);
    printf("%-*s  %-16s  %-5s  %17.10g\n", width, drive->name, turns ? "torque" : "force",
           turns ? "N m" : "N",
           shown_value(pol_formulation_drive_effort(formulation, &at, i),
                       turns ? least.torque : least.force));
  }
  print_rest("drives", drives);
  if (couplings > 0) printf("\n%-*s  %-16s  %-5s  %17s\n", width, "coupling", "final", "unit", "z");
  for (int i = 0; i < couplings && i < MAX_SHOWN; i++) {
    const pol_coupling *coupling = pol_mechanism_coupling(mechanism, i);
    double effort[2];
    pol_formulation_coupling_effort(formulation, &at, i, effort);
    for (int k = 0; k < 2; k++) {
      const int turns = pol_coordinate_turns(coupling->coordinate[k]);
      const char *const names[2][2] = {{"force 1", "force 2"}, {"torque 1", "torque 2"}};
      printf("%-*s  %-16s  %-5s  %17.10g\n", width, k == 0 ? coupling->name : "",
             names[turns != 0][k], turns ? "N m" : "N",
             shown_value(effort[k], turns ? least.torque : least.force));
    }
  }
  print_rest("couplings", couplings);
  if (states > 0) printf("\n%-*s  %-16s  %-5s  %17s\n", width, "state", "final", "unit", "value");
  for (int i = 0; i < states && i < MAX_SHOWN; i++) {
    const pol_state_variable *state = pol_mechanism_state(mechanism, i);
    printf("%-*s  %-16s  %-5s  %17.10g\n", width, state->name, "value",
           state->unit ? state->unit : "user",
           pol_formulation_state_variable(formulation, &at, i) + 0.0);
  }
  print_rest("states", states);
}

/* Initial and final energy; its drift, or the work that changed it. */
static void print_energy(const pol_simulation *simulation, double length)
{
  const pol_summary *summary = pol_simulation_summary(simulation);
  const pol_work *work = &summary->work;
  const double initial = total(&summary->initial_energy), final = total(&summary->energy);
  const double error = relative_energy_error(simulation, length);
  /* the round-off of many steps adds up */
  const double least =
      fmax(10.0 * round_off * energy_size(summary), energy_noise(simulation, length));
  cli_print_row("energy", "initial %.10g J, final %.10g J", shown_value(initial, least),
                shown_value(final, least));
  if (does_work(work)) {
    cli_print_row("work", "of forces %.6g J, of drives %.6g J, dissipated %.6g J",
                  shown_value(work->applied, least), shown_value(work->drives, least),
                  shown_value(work->dissipated, least));
    if (error > 0.0)
      cli_print_row("energy balance", "off by %.3g J, relative %.3g", summary->energy_balance,
                    error);
  } else if (error > 0.0) {
    cli_print_row("energy drift", "at most %.3g J, relative %.3g", summary->max_energy_drift,
                  error);
  } else {
    cli_print_row("energy drift", "within round-off");
  }
}

/* "2e-09", or that it is round-off. */
static const char *residual_text(double residual, double least, char text[32])
{
  if (residual <= least) return "round-off";
  snprintf(text, 32, "%.1g", residual);
  return text;
}

/* How well the joints hold. */
static void print_constraints(const cli_outcome *outcome, sizes least)
{
  const pol_summary *summary = pol_simulation_summary(outcome->simulation);
  const pol_dae *dae = pol_formulation_dae(pol_simulation_formulation(outcome->simulation));
  char position[32], velocity[32];
  if (outcome->verbose)
    cli_print_row("constraints", "at most |Phi| %.3g, |Phi'| %.3g, |Phi''| %.3g",
                  summary->max_position_residual, summary->max_velocity_residual,
                  summary->max_acceleration_residual);
  else if (pol_dae_num_constraints(dae) > 0)
    cli_print_row("constraints", "positions to %s, velocities to %s",
                  residual_text(summary->max_position_residual, least.position, position),
                  residual_text(summary->max_velocity_residual, least.velocity, velocity));
}

void cli_summary_print(const cli_outcome *outcome)
{
  const pol_summary *summary = pol_simulation_summary(outcome->simulation);
  const sizes size = largest_vectors(outcome->simulation);
  const sizes least = find_least(outcome->simulation, &size);
  char verdict[400];
  verdict_text(outcome, size.position, verdict, sizeof verdict);
  cli_print_row(outcome->status, "%s", verdict);
  print_work(outcome);
  /* whether the initial values of the model satisfied its constraints */
  const pol_moves *moves = &summary->moves;
  if (has_moved(moves)) cli_print_row("assembled", moved_format, moves->position, moves->rotation);
  if (has_changed(moves))
    cli_print_row("assembled", changed_format, moves->velocity, moves->angular_velocity);
  print_state(outcome->simulation, least);
  print_efforts(outcome->simulation, least);
  const long count = outcome->num_events;
  if (count > 0) printf("\n%-24s  %17s\n", "event", "time s");
  for (long i = 0; i < count && i < MAX_SHOWN; i++)
    printf("%-24s  %17.10f\n",
           pol_simulation_get_event(outcome->simulation, outcome->events[i].index)->name,
           outcome->events[i].t);
  print_rest("events", (int)(count < INT_MAX ? count : INT_MAX));
  putchar('\n');
  print_energy(outcome->simulation, size.position);
  print_constraints(outcome, least);
  char finding[256];
  for (int k = 0; k < CLI_NUM_FINDINGS; k++)
    if (cli_finding_text(summary, k, finding, sizeof finding))
      cli_print_row("warning", "%s", finding);
  /* What should be constant, and is to these amounts. */
  for (int i = 0; outcome->verbose && i < summary->num_invariants; i++) {
    const pol_invariant *own = &summary->invariants[i];
    char axis[64], what[192];
    cli_axis_text(own->axis, axis, sizeof axis);
    if (own->kind == POL_CONSTANT_ENERGY)
      snprintf(what, sizeof what, "energy");
    else if (own->kind == POL_CONSTANT_MOMENTUM)
      snprintf(what, sizeof what, "momentum along %s", axis);
    else
      snprintf(what, sizeof what, "angular momentum about %s", axis);
    cli_print_row("invariant", "%s %.10g %s, changes at most %.3g per step, %.3g in total", what,
                  own->initial + 0.0, own->unit, own->max_increment, own->max_drift);
  }
  if (outcome->out != NULL)
    cli_print_row("result", "%s, %ld rows of %d columns", outcome->out, outcome->rows,
                  outcome->columns);
}

/* --- JSON ------------------------------------------------------------------------------------- */

/* {NAME: {"position": ..., "velocity": ..., ...}, ...} */
static json_t *bodies_json(const pol_formulation *formulation, const pol_state *state)
{
  const pol_mechanism *mechanism = pol_formulation_mechanism(formulation);
  json_t *bodies = json_object();
  for (int i = 0; i < pol_mechanism_num_bodies(mechanism); i++) {
    const pol_body *given = pol_mechanism_body(mechanism, i);
    pol_body_state body;
    pol_formulation_body_state(formulation, state->q, state->v, i, &body);
    json_t *item = json_pack("{s:o}", "position", cli_json_numbers(body.position, 3));
    if (!given->point) {
      const double *R = body.rotation;
      cli_json_set(&item, "quaternion", cli_json_numbers(body.quaternion, 4));
      cli_json_set(&item, "rotation",
                   json_pack("[o, o, o]", cli_json_numbers(R, 3), cli_json_numbers(R + 3, 3),
                             cli_json_numbers(R + 6, 3)));
    }
    cli_json_set(&item, "velocity", cli_json_numbers(body.velocity, 3));
    if (!given->point) {
      cli_json_set(&item, "velocity_body", cli_json_numbers(body.velocity_body, 3));
      cli_json_set(&item, "angular_velocity", cli_json_numbers(body.angular_velocity, 3));
      cli_json_set(&item, "angular_velocity_global",
                   cli_json_numbers(body.angular_velocity_global, 3));
    }
    const int modes = pol_formulation_modes(formulation, state->q, state->v, i, NULL, NULL);
    double *values = modes > 0 ? calloc(2 * (size_t)modes, sizeof *values) : NULL;
    if (values != NULL) {
      pol_formulation_modes(formulation, state->q, state->v, i, values, values + modes);
      cli_json_set(&item, "modes", cli_json_numbers(values, modes));
      cli_json_set(&item, "mode_rates", cli_json_numbers(values + modes, modes));
    }
    free(values);
    cli_json_set(&bodies, given->name, item);
  }
  return bodies;
}

/* A vector of global axes in those of a rotation matrix: R^T x. */
static void to_local(const double rotation[9], const double x[3], double local[3])
{
  for (int i = 0; i < 3; i++)
    local[i] = rotation[i] * x[0] + rotation[i + 3] * x[1] + rotation[i + 6] * x[2];
}

/* {NAME: {"coordinates": {"angle": ..., "rate": ...}, "multipliers": ..., "force": ..., ...}, ...},
 * coordinates with the names of the recorded channels */
static json_t *joints_json(const pol_formulation *formulation, const pol_state *state)
{
  const pol_mechanism *mechanism = pol_formulation_mechanism(formulation);
  const pol_point at = pol_state_point(state);
  json_t *joints = json_object();
  for (int i = 0; i < pol_mechanism_num_joints(mechanism); i++) {
    const pol_joint *joint = pol_mechanism_joint(mechanism, i);
    json_t *coordinates = json_object();
    for (int k = 0; k < pol_joint_num_coordinates(joint); k++) {
      const pol_coordinate_info *info = pol_joint_coordinate(joint, k);
      double value, rate;
      pol_formulation_joint_coordinate(formulation, &at, i, k, &value, &rate);
      cli_json_set(&coordinates, info->name, cli_json_number(value));
      cli_json_set(&coordinates, info->rate_name, cli_json_number(rate));
    }
    double force[3], torque[3], force_local[3], torque_local[3], multipliers[POL_MAX_JOINT_ROWS];
    const int count = pol_formulation_multipliers(formulation, state->lambda, i, multipliers);
    pol_marker_state marker;
    pol_formulation_reaction(formulation, &at, i, force, torque);
    pol_formulation_marker_state(formulation, state->q, state->v, joint->marker[0], &marker);
    to_local(marker.rotation, force, force_local);
    to_local(marker.rotation, torque, torque_local);
    cli_json_set(&joints, joint->name,
                 json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}",                    //
                           "coordinates", coordinates,                          //
                           "multipliers", cli_json_numbers(multipliers, count), //
                           "force", cli_json_numbers(force, 3),                 //
                           "torque", cli_json_numbers(torque, 3),               //
                           "force_local", cli_json_numbers(force_local, 3),     //
                           "torque_local", cli_json_numbers(torque_local, 3)));
  }
  return joints;
}

/* {"bodies": {NAME: ...}, "markers": {NAME: ...}, "joints": ..., "drives": {NAME: {"torque": ...}},
 * "couplings": {NAME: {"effort": [..., ...]}}, "states": {NAME: value}, "variables": {NAME: value},
 * "momentum": ...}; markers with a name */
static json_t *final_json(const pol_simulation *simulation)
{
  const pol_formulation *formulation = pol_simulation_formulation(simulation);
  const pol_mechanism *mechanism = pol_formulation_mechanism(formulation);
  const pol_state *state = pol_simulation_state(simulation);
  const pol_point at = pol_state_point(state);
  const int num_variables = pol_mechanism_num_variables(mechanism);
  json_t *markers = json_object(), *drives = json_object(), *couplings = json_object(),
         *states = json_object(), *variables = json_object();
  for (int i = 0; i < pol_mechanism_num_markers(mechanism); i++) {
    const pol_marker *marker = pol_mechanism_marker(mechanism, i);
    pol_marker_state now;
    if (marker->name[0] == '\0') continue;
    pol_formulation_marker_state(formulation, state->q, state->v, i, &now);
    cli_json_set(&markers, marker->name,
                 json_pack("{s:o, s:o, s:o}", "position", cli_json_numbers(now.position, 3),
                           "quaternion", cli_json_numbers(now.quaternion, 4), "velocity",
                           cli_json_numbers(now.velocity, 3)));
  }
  for (int i = 0; i < pol_mechanism_num_drives(mechanism); i++) {
    const pol_drive *drive = pol_mechanism_drive(mechanism, i);
    const double effort = pol_formulation_drive_effort(formulation, &at, i);
    cli_json_set(&drives, drive->name,
                 json_pack("{s:o}", pol_coordinate_turns(drive->coordinate) ? "torque" : "force",
                           cli_json_number(effort)));
  }
  for (int i = 0; i < pol_mechanism_num_couplings(mechanism); i++) {
    double effort[2];
    pol_formulation_coupling_effort(formulation, &at, i, effort);
    cli_json_set(&couplings, pol_mechanism_coupling(mechanism, i)->name,
                 json_pack("{s:o}", "effort", cli_json_numbers(effort, 2)));
  }
  for (int i = 0; i < pol_mechanism_num_states(mechanism); i++)
    cli_json_set(&states, pol_mechanism_state(mechanism, i)->name,
                 cli_json_number(pol_formulation_state_variable(formulation, &at, i)));
  double *values = malloc(((size_t)num_variables + 1) * sizeof *values);
  if (values != NULL) pol_formulation_variables(formulation, &at, values);
  for (int i = 0; i < num_variables; i++)
    cli_json_set(&variables, pol_mechanism_variable(mechanism, i)->name,
                 values != NULL ? cli_json_number(values[i]) : NULL);
  free(values);
  pol_momentum momentum;
  pol_formulation_momentum(formulation, state->q, state->v, &momentum);
  return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:{s:o, s:o}}", //
                   "bodies", bodies_json(formulation, state),           //
                   "markers", markers,                                  //
                   "joints", joints_json(formulation, state),           //
                   "drives", drives,                                    //
                   "couplings", couplings,                              //
                   "states", states,                                    //
                   "variables", variables,                              //
                   "momentum", "linear", cli_json_numbers(momentum.linear, 3), "angular",
                   cli_json_numbers(momentum.angular, 3));
}

/* The smallest or largest step that was taken; of fixed steps the given one. */
static json_t *step_size_json(const cli_outcome *outcome, double taken)
{
  const pol_settings *settings = &outcome->model->settings;
  return cli_json_number(settings->variable ? taken : settings->step);
}

/* {"count": ..., "t": ..., "where": ...} */
static json_t *finding_json(long count, double t, const char *where)
{
  return json_pack("{s:I, s:o, s:s}",          //
                   "count", (json_int_t)count, //
                   "t", cli_json_number(t),    //
                   "where", where);
}

/* What the run came to, as far as it got. */
static json_t *results_json(const cli_outcome *outcome)
{
  const pol_summary *summary = pol_simulation_summary(outcome->simulation);
  const pol_counts *counts = &summary->counts;
  const pol_singular *singular = &summary->singular;
  const pol_lost_turns *lost = &summary->lost_turns;
  const pol_energy *now = &summary->energy, *initial = &summary->initial_energy;
  const pol_work *work = &summary->work;
  json_t *energy =
      json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",                         //
                "kinetic", cli_json_number(now->kinetic),                                //
                "potential", cli_json_number(now->potential),                            //
                "total", cli_json_number(now->kinetic + now->potential),                 //
                "initial_total", cli_json_number(initial->kinetic + initial->potential), //
                "max_drift", cli_json_number(summary->max_energy_drift),                 //
                "dissipated", cli_json_number(work->dissipated),                         //
                "applied", cli_json_number(work->applied),                               //
                "drives", cli_json_number(work->drives),                                 //
                "balance", cli_json_number(summary->energy_balance));
  /* {NAME: {"initial": ..., ...}, ...}, with axis and point where there are any */
  json_t *invariants = json_object();
  for (int i = 0; i < summary->num_invariants; i++) {
    const pol_invariant *own = &summary->invariants[i];
    json_t *item =
        json_pack("{s:o, s:o, s:o, s:o, s:s}", "initial", cli_json_number(own->initial), "final",
                  cli_json_number(own->value), "max_increment", cli_json_number(own->max_increment),
                  "max_drift", cli_json_number(own->max_drift), "unit", own->unit);
    if (own->kind != POL_CONSTANT_ENERGY)
      cli_json_set(&item, "axis", cli_json_numbers(own->axis, 3));
    if (own->kind == POL_CONSTANT_ANGULAR_MOMENTUM)
      cli_json_set(&item, "point", cli_json_numbers(own->point, 3));
    cli_json_set(&invariants, own->name, item);
  }
  json_t *events = json_array();
  for (long i = 0; i < outcome->num_events; i++) {
    const cli_event *event = &outcome->events[i];
    cli_json_append(&events,
                    json_pack("{s:o, s:s}", "t", cli_json_number(event->t), "name",
                              pol_simulation_get_event(outcome->simulation, event->index)->name));
  }
  return json_pack(
      "{s:I, s:I, s:o, s:o, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:{s:o, s:o, s:o}, "
      "s:o, s:o, s:o, s:o, s:o}",                                                          //
      "steps", (json_int_t)counts->steps,                                                  //
      "rejected", (json_int_t)counts->rejected,                                            //
      "smallest_step", step_size_json(outcome, counts->smallest_step),                     //
      "largest_step", step_size_json(outcome, counts->largest_step),                       //
      "newton_iterations", (json_int_t)counts->newton_iterations,                          //
      "jacobians", (json_int_t)counts->jacobians,                                          //
      "factorizations", (json_int_t)counts->factorizations,                                //
      "wall_seconds", cli_json_number(outcome->wall_seconds),                              //
      "t", cli_json_number(summary->t),                                                    //
      "t_reactions", cli_json_number(pol_simulation_state(outcome->simulation)->lambda_t), //
      "final", final_json(outcome->simulation),                                            //
      "energy", energy,                                                                    //
      "constraints",                                                                       //
      "max_position", cli_json_number(summary->max_position_residual),                     //
      "max_velocity", cli_json_number(summary->max_velocity_residual),                     //
      "max_acceleration", cli_json_number(summary->max_acceleration_residual),             //
      "invariants", invariants,                                                            //
      "moves", cli_json_moves(&summary->moves),                                            //
      "singular", finding_json(singular->count, singular->t, singular->where),             //
      "lost_turns", finding_json(lost->count, lost->t, lost->where),                       //
      "events", events);
}

/* Adds all of other, a reference that is taken over, to object; NULL if either is. */
static json_t *merge(json_t *object, json_t *other)
{
  int failed = object == NULL || other == NULL || json_object_update(object, other) != 0;
  json_decref(other);
  if (!failed) return object;
  json_decref(object);
  return NULL;
}

json_t *cli_settings_json(const pol_settings *settings)
{
  const int ordered = cli_has_setting(&settings->options, "order");
  return json_pack("{s:s, s:s, s:o, s:s, s:o, s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:o}", //
                   "method", settings->options.method, "choice", settings->choice,      //
                   "order",
                   ordered ? json_integer(pol_options_order(&settings->options)) : json_null(),
                   "formulation", pol_formulation_name(settings->formulation), //
                   "index", cli_json_index(settings->options.index),           //
                   "sigma", cli_json_number(settings->options.sigma),          //
                   "theta", cli_json_number(settings->options.theta),          //
                   "vartheta", cli_json_number(settings->options.vartheta),    //
                   "start", pol_start_name(settings->options.start),           //
                   "step", cli_json_step(settings),                            //
                   "control", cli_json_control(settings),                      //
                   "end", cli_json_number(settings->end), "published",
                   cli_json_published(&settings->options.published));
}

json_t *cli_summary_json(const cli_outcome *outcome)
{
  const pol_settings *settings = &outcome->model->settings;
  json_t *object =
      json_pack("{s:s, s:s}", "status", outcome->status, "model", outcome->model->name);
  object = merge(object, json_pack("{s:o}", "parameters", cli_json_parameters(outcome->model)));
  object = merge(object, cli_settings_json(settings));
  json_t *warnings = cli_json_warnings(settings);
  if (outcome->simulation != NULL) {
    cli_json_append_warnings(&warnings, pol_simulation_summary(outcome->simulation));
  }
  object = merge(object, json_pack("{s:o}", "warnings", warnings));
  if (outcome->accuracy.known || outcome->accuracy.reason[0] != '\0') {
    const pol_accuracy *accuracy = &outcome->accuracy;
    json_t *item = accuracy->known
                       ? json_pack("{s:o, s:o}", "position", cli_json_number(accuracy->position),
                                   "rotation", cli_json_number(accuracy->rotation))
                       : json_pack("{s:s}", "unknown", accuracy->reason);
    object = merge(object, json_pack("{s:o}", "accuracy", item));
  }
  if (outcome->simulation != NULL) {
    char verdict[400];
    const sizes size = largest_vectors(outcome->simulation);
    verdict_text(outcome, size.position, verdict, sizeof verdict);
    object = merge(object, json_pack("{s:o}", "verdict", cli_json_text(verdict)));
    object = merge(object, results_json(outcome));
    object =
        merge(object, json_pack("{s:o}", "redundant", cli_json_redundant(outcome->simulation)));
  }
  if (outcome->out != NULL)
    object = merge(object,
                   json_pack("{s:{s:o, s:I, s:i}}", "result", "file", cli_json_text(outcome->out),
                             "rows", (json_int_t)outcome->rows, "columns", outcome->columns));
  int invalid = strcmp(outcome->status, "invalid") == 0;
  if (invalid)
    object = merge(object, json_pack("{s:o}", "errors", cli_json_start_errors(&outcome->failure)));
  if (invalid || strcmp(outcome->status, "failed") == 0)
    object = merge(object, json_pack("{s:o}", "failure", cli_json_failure(&outcome->failure)));
  return object;
}
