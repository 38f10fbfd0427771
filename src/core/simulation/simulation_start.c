/* The start of a simulation: makes the mechanism's initial values consistent, starts the integrator
 * and the watch for singular positions, and measures how far the values had to move.
 */
#include <math.h>
#include <stdlib.h>

#include "formulation/expressions.h"
#include "lie/small.h"
#include "simulation/simulation_parts.h"

static double distance(const double a[3], const double b[3])
{
  double d[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
  return sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
}

/* Angle of the rotation between two orientations. */
static double angle_between(const double a[4], const double b[4])
{
  static const double zero[3] = {0.0, 0.0, 0.0};
  double inverse[4], relative[4], w[3];
  pol_quat_conjugate(a, inverse);
  pol_quat_multiply(inverse, b, relative);
  pol_so3_log(relative, w);
  return distance(zero, w);
}

/* Compares the mechanism's values with the assembled ones. */
static void measure_moves(pol_simulation *sim)
{
  pol_moves *moves = &sim->summary.moves;
  for (int i = 0; i < pol_mechanism_num_bodies(sim->mechanism); i++) {
    pol_body_state found;
    const pol_body *given = pol_mechanism_body(sim->mechanism, i);
    pol_formulation_body_state(sim->formulation, sim->q, sim->v, i, &found);
    moves->position = fmax(moves->position, distance(given->position, found.position));
    moves->rotation = fmax(moves->rotation, angle_between(given->rotation, found.quaternion));
    if (given->given & POL_GIVEN_VELOCITY)
      moves->velocity = fmax(moves->velocity, distance(given->velocity, found.velocity));
    if (!(given->given & POL_GIVEN_ANGULAR_VELOCITY)) continue;
    double R[9], global[3];
    pol_quat_to_matrix(given->rotation, R);
    poli_m3_apply(R, given->angular_velocity, global);
    moves->angular_velocity = fmax(moves->angular_velocity,
                                   given->given & POL_GIVEN_IN_GLOBAL_AXES
                                       ? distance(global, found.angular_velocity_global)
                                       : distance(given->angular_velocity, found.angular_velocity));
  }
}

/* Watches for singular positions if joints form a closed loop: without one, each joint locks what
 * nothing else does. */
static pol_status start_watch(pol_simulation *sim)
{
  int has_loop;
  if (!poli_mechanism_has_loop(sim->mechanism, &has_loop)) return POL_NO_MEMORY;
  return has_loop ? poli_watch_create(&sim->watch, sim->formulation, sim->integrator) : POL_OK;
}

/* Where redundant constraints share a reaction that forces, states or events depend on, the motion
 * depends on the choice of those that are left out. */
static pol_status check_open_reactions(pol_simulation *sim)
{
  const pol_point at = pol_state_point(&sim->state);
  char name[96] = "";
  int dropped = 0;
  pol_simulation_dropped(sim, &dropped);
  if (dropped == 0) return POL_OK;
  poli_signal *signals = calloc(POLI_MAX_INPUTS, sizeof *signals);
  if (signals == NULL) return POL_NO_MEMORY;
  int count = poli_expressions_read(sim->formulation, signals);
  pol_status status = poli_expressions_find_open(sim->formulation, sim->solver, &at, count, signals,
                                                 name, sizeof name);
  if (status == POL_OK && name[0] != '\0')
    poli_simulation_warn(sim, sim->state.t,
                         "forces or states depend on the reaction of %s, which redundant "
                         "constraints leave open: the motion depends on which of them are left "
                         "out; use joints with fewer constraints",
                         name);
  count = poli_event_rules_read(sim->rules, signals, POLI_MAX_INPUTS);
  if (status == POL_OK)
    status = poli_expressions_find_open(sim->formulation, sim->solver, &at, count, signals, name,
                                        sizeof name);
  if (status == POL_OK && name[0] != '\0')
    poli_simulation_warn(sim, sim->state.t,
                         "events depend on the reaction of %s, which redundant constraints leave "
                         "open: their times depend on which of them are left out; use joints with "
                         "fewer constraints",
                         name);
  free(signals);
  return status;
}

/* Makes the given values q, v (workspace, filled here) consistent and starts the integrator. */
static pol_status start_from(pol_simulation *sim, double *q, double *v, unsigned char *keep)
{
  pol_formulation_initial(sim->formulation, q, v, keep);
  pol_point given = {.q = q, .v = v};
  if (poli_simulation_residuals(sim, &given, 0) == POL_OK) {
    sim->summary.moves.position_residual = poli_largest(sim->dae->num_holonomic, sim->position);
    sim->summary.moves.velocity_residual =
        poli_largest(pol_dae_num_constraints(sim->dae), sim->velocity);
  }
  pol_status status =
      pol_formulation_assemble(sim->formulation, sim->solver, 0.0, q, v, &sim->diagnostics);
  if (status != POL_OK) return status;
  status = pol_integrator_start(sim->integrator, 0.0, q, v, keep);
  if (status != POL_OK) {
    sim->diagnostics = *pol_integrator_diagnostics(sim->integrator);
    return status;
  }
  if ((status = start_watch(sim)) != POL_OK) return status;
  if ((status = poli_simulation_accept(sim, 0)) != POL_OK) return status;
  if ((status = check_open_reactions(sim)) != POL_OK) return status;
  status = pol_formulation_check_branches(sim->formulation, 0.0, sim->q, &sim->diagnostics);
  if (status != POL_OK) return status;
  measure_moves(sim);
  poli_doubts_note(sim, 1);
  poli_simulation_keep_good(sim);
  return POL_OK;
}

pol_status poli_simulation_start(pol_simulation *sim)
{
  size_t nq = (size_t)sim->dae->group.nq, nv = (size_t)sim->dae->group.nv;
  double *values = malloc((nq + nv + 1) * sizeof *values);
  unsigned char *keep = malloc(nv + 1);
  pol_status status = POL_NO_MEMORY;
  if (values != NULL && keep != NULL) status = start_from(sim, values, values + nq, keep);
  free(values);
  free(keep);
  return status;
}
