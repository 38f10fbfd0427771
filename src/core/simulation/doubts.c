/* Warnings about a run in which no step failed: measured quantities are compared with what the
 * method guarantees.  The limits are generous, so that coarse but correct runs pass; a run beyond
 * them is wrong by orders of magnitude.
 *
 *     guarantee                                   warning if
 *     energy: total = initial + applied           |balance| > 0.35 E, E the largest of kinetic
 *       + drives - dissipated                       energy, range of the potential, and work;
 *                                                 0.05 E with variable steps, whose tolerances
 *                                                 promise more than some step size does
 *       across a singular position, where the   the balance changes by more than 0.005 of the
 *       way to go on is not unique                largest kinetic energy, and 20 times as much as
 *                                                 in a step elsewhere
 *     positions: Phi = 0 (index 3, stabilized)    |Phi| > 1e-3 L, L the size of the mechanism
 *       drift of second order (index 2)           |Phi| > 0.05 L; L at least 1 where Phi mixes
 *                                                 lengths and pure numbers
 *     velocities: B v + Phi_t = 0                 |B v + Phi_t| > 0.3 of the largest velocity
 *       or O(h^2) (index 3)
 *     rotations: quaternions of norm 1            | |q| - 1 | > 1e-8
 *     Newton: a few iterations per step           average above half of the allowed number
 *     variable steps: few are rejected            more than three times as many as are accepted
 *       they see all forces                       expressions with branches that read reactions,
 *                                                 whose contacts cannot be looked for within steps
 *                                                 (integrators/leaps.c), do no work at all, and
 *                                                 nothing limits the steps
 *     flexible bodies: the stiffness does not     |omega| > 0.02 of the lowest frequency of the
 *       depend on the load                        free body, 0.13 of that of a held one
 *
 * A mechanism counts as at rest where its energies and velocities are below those that gravity
 * causes over a height of 1e-4 L; or, without gravity, where its velocities cover less than a
 * hundred times Newton's tolerance of L, or 1e-13 of the largest coordinate, per step.  The largest
 * multiplier does work over that distance in a mechanism that is held under load.
 */
#include <float.h>
#include <math.h>

#include "dae/dae.h"
#include "dae/extension.h"
#include "expression/expression.h"
#include "formulation/expressions.h"
#include "formulation/formulation.h"
#include "integrators/family.h"
#include "lie/small.h"
#include "simulation/parts.h"

static const double energy_share = 0.35, variable_share = 0.05, position_share = 1e-3,
                    drift_share = 0.05;
static const double velocity_share = 0.3, norm_limit = 1e-8, rest_share = 1e-4;
static const double jump_share = 0.005, jump_steps = 20.0;

/* --- measuring -------------------------------------------------------------------------------- */

/* Compares the energy on both sides of a singular position. */
static void note_jump(pol_simulation *sim, int first)
{
  enum { PASSED = 5 };
  poli_extremes *e = &sim->extremes;
  const double balance = sim->summary.energy_balance, jump = balance - e->outside;
  e->steps_after = poli_watch_is_inside(sim->watch) ? 0 : e->steps_after + 1;
  if (first || e->steps_after > PASSED) {
    if (!first && e->steps_after > PASSED + 1) e->change = fmax(e->change, fabs(jump));
    if (first) e->steps_after = PASSED + 1;
    e->outside = balance;
    return;
  }
  if (!(fabs(jump) > jump_share * e->kinetic && fabs(jump) > jump_steps * e->change)) return;
  poli_simulation_warn(
      sim, sim->t,
      "the energy changes by %.3g J at a singular position near t = %.6g s, %.2g %% of the largest "
      "kinetic energy: how the motion goes on there is not determined, and the result is "
      "unreliable "
      "from then on; use index 3 or stabilized-2, smaller steps, or avoid this position",
      jump, sim->t, 100.0 * fabs(jump) / e->kinetic);
}

void poli_doubts_note(pol_simulation *sim, int first)
{
  poli_extremes *e = &sim->extremes;
  const pol_summary *s = &sim->summary;
  const pol_energy *energy = &s->energy;
  if (first) *e = (poli_extremes){.lowest = energy->potential, .highest = energy->potential};
  e->kinetic = fmax(e->kinetic, fabs(energy->kinetic));
  e->lowest = fmin(e->lowest, energy->potential);
  e->highest = fmax(e->highest, energy->potential);
  e->work = fmax(e->work, fabs(s->work.applied));
  e->work = fmax(e->work, fabs(s->work.drives));
  e->work = fmax(e->work, fabs(s->work.dissipated));
  e->speed = fmax(e->speed, poli_largest(sim->dae->group.nv, sim->v));
  e->reaction = fmax(e->reaction, poli_largest(pol_dae_num_constraints(sim->dae), sim->lambda));
  if (sim->watch) note_jump(sim, first);
  if (!(fabs(s->energy_balance) > e->balance)) return;
  e->balance = fabs(s->energy_balance);
  e->balance_t = s->t;
}

void poli_simulation_doubt_step(pol_simulation *sim, long done)
{
  const long interval = done < 100 ? 5 : 25;
  char doubt[sizeof sim->summary.warnings[0].message];
  const pol_control *control = &sim->options.control;
  const int reversible = sim->variable && control->controller == POL_CONTROLLER_REVERSIBLE;
  if ((sim->variable && !reversible) || sim->doubted || done % interval != 0) return;
  const double h =
      reversible ? fmax(control->first_step, sim->summary.counts.largest_step) : sim->step;
  if (!poli_integrator_doubt_step(sim->integrator, h, doubt, sizeof doubt)) return;
  sim->doubted = 1;
  poli_simulation_warn(sim, sim->t, "%s", doubt);
}

static double largest_difference(const double a[3], const double b[3])
{
  return fmax(fmax(fabs(a[0] - b[0]), fabs(a[1] - b[1])), fabs(a[2] - b[2]));
}

/* The size of the mechanism, wherever it stands: the largest distance (by coordinates) of a centre
 * of mass from the mean of all at the start, or of a marker from the centre of mass of its body, or
 * radius of gyration; of a single point mass its distance from the markers of the ground, or the
 * way it has gone.  *mass is that of all bodies, *far the largest coordinate, of whose size
 * round-off is. */
static double size_of(const pol_simulation *sim, double *mass, double *far)
{
  const pol_mechanism *mechanism = sim->mechanism;
  const int count = pol_mechanism_num_bodies(mechanism);
  double length = 0.0, way = 0.0, to_ground = 0.0, mean[3] = {0.0, 0.0, 0.0};
  *mass = *far = 0.0;
  for (int b = 0; b < count; b++)
    for (int i = 0; i < 3; i++) mean[i] += pol_mechanism_body(mechanism, b)->position[i] / count;
  for (int b = 0; b < count; b++) {
    const pol_body *body = pol_mechanism_body(mechanism, b);
    const double *J = body->inertia;
    pol_body_state now;
    pol_formulation_body_state(sim->formulation, sim->q, sim->v, b, &now);
    length = fmax(length, largest_difference(body->position, mean));
    if (body->mass > 0.0) length = fmax(length, sqrt(0.5 * (J[0] + J[4] + J[8]) / body->mass));
    way = fmax(way, largest_difference(now.position, body->position));
    *far = fmax(*far, fmax(poli_largest(3, body->position), poli_largest(3, now.position)));
    *mass += body->mass;
  }
  for (int k = 0; k < pol_mechanism_num_markers(mechanism); k++) {
    const pol_marker *marker = pol_mechanism_marker(mechanism, k);
    *far = fmax(*far, poli_largest(3, marker->position));
    if (marker->body != POL_GROUND)
      length = fmax(length, poli_largest(3, marker->position));
    else
      to_ground = fmax(to_ground, largest_difference(marker->position, mean));
  }
  return length > 0.0 ? length : to_ground > 0.0 ? to_ground : way;
}

/* The most likely reason for a violation, from the settings. */
static const char *probable_reason(const pol_simulation *sim)
{
  const pol_options *o = &sim->options;
  const int alpha = poli_method_entry_find(o->method)->family == &poli_generalized_alpha;
  if (alpha && sim->index == POL_INDEX_3 && o->alpha_m >= o->alpha_f &&
      pol_dae_num_constraints(sim->dae) > 0)
    return "index 3 without numerical damping (rho_inf = 1) does not control its multipliers; use "
           "rho_inf 0.9 or index stabilized-2";
  if (sim->variable) return "the tolerances are too coarse for this motion; use tighter ones";
  if (sim->done <= 10) return "so few steps do not resolve the motion; use a smaller step";
  return "the step is too large for the fastest part of the motion, or a stiff force dominates it; "
         "use a smaller step, or variable steps";
}

/* --- checks ----------------------------------------------------------------------------------- */

static void doubt_energy(pol_simulation *sim, double length, double mass, double rest, double h)
{
  const poli_extremes *e = &sim->extremes;
  double gravity[3];
  pol_mechanism_gravity(sim->mechanism, gravity);
  const double g =
      sqrt(gravity[0] * gravity[0] + gravity[1] * gravity[1] + gravity[2] * gravity[2]);
  const double round_off = 1e-10 * (fabs(e->lowest) + fabs(e->highest) + e->kinetic);
  const double scale = fmax(fmax(e->kinetic, e->highest - e->lowest), e->work) + round_off +
                       rest_share * mass * g * length + mass * rest * rest + e->reaction * rest * h;
  const int controlled =
      sim->variable && sim->options.control.controller != POL_CONTROLLER_REVERSIBLE;
  if (!(e->balance > (controlled ? variable_share : energy_share) * scale)) return;
  poli_simulation_warn(
      sim, e->balance_t,
      "the energy balance has an error of %.3g J, the motion an energy of %.3g J: %s", e->balance,
      scale, probable_reason(sim));
}

static void doubt_constraints(pol_simulation *sim, double length, double rest)
{
  const pol_summary *s = &sim->summary;
  const poli_extremes *e = &sim->extremes;
  double gravity[3];
  pol_mechanism_gravity(sim->mechanism, gravity);
  const double tolerance = fmax(position_share, 1e3 * sim->options.newton.tolerance);
  const int drifts = sim->index == POL_INDEX_2;
  /* constraints of rotations and of the coordinates themselves are pure numbers */
  const double size = drifts || sim->dae->num_internal > 0 ? fmax(length, 1.0) : length;
  const double round_off = 64.0 * DBL_EPSILON * poli_dae_length(sim->dae);
  if (s->max_position_residual > (drifts ? drift_share : tolerance) * size + round_off)
    poli_simulation_warn(
        sim, s->t,
        "the position constraints are violated by %.3g in a mechanism of size %.3g m: %s",
        s->max_position_residual, length,
        drifts ? "positions drift with index 2; use index stabilized-2" : probable_reason(sim));
  const double falls = sqrt(rest_share * poli_largest(3, gravity) * length);
  if (s->max_velocity_residual > velocity_share * (e->speed + falls + rest))
    poli_simulation_warn(
        sim, s->t,
        "the velocity constraints are violated by %.3g, with a largest velocity of %.3g: %s",
        s->max_velocity_residual, e->speed, probable_reason(sim));
}

/* A contact that is shorter than a step, between two points at which its force is zero, leaves no
 * trace: neither in the error estimate nor in the energy. */
static void doubt_contacts(pol_simulation *sim)
{
  const poli_network *n = &sim->formulation->network;
  const pol_control *control = &sim->options.control;
  const char *name = NULL;
  int has_switch = 0;
  if (poli_expressions_num_margins(sim->formulation) > 0) return; /* leaps.c */
  if (!sim->variable || control->controller == POL_CONTROLLER_REVERSIBLE ||
      control->max_step > 0.0 || sim->summary.work.applied != 0.0 || sim->summary.counts.steps == 0)
    return;
  for (int i = 0; i < n->num_nodes; i++)
    has_switch |= poli_expression_has_switch(n->nodes[i].program);
  for (int i = 0; i < pol_mechanism_num_forces(sim->mechanism) && name == NULL; i++) {
    const pol_force *force = pol_mechanism_force(sim->mechanism, i);
    for (int k = 0; k < 3; k++)
      if (force->expressions[k] != NULL) name = force->name;
  }
  if (!has_switch || name == NULL) return;
  poli_simulation_warn(
      sim, sim->summary.t,
      "force '%s', an expression with branches such as max or if, did no work at any step; steps "
      "of "
      "%.3g s on average may have passed over a short contact: limit them by control.max_step",
      name, sim->summary.t / (double)sim->summary.counts.steps);
}

void pol_simulation_review(pol_simulation *sim)
{
  const pol_counts *counts = &sim->summary.counts;
  const pol_newton_options *newton = &sim->options.newton;
  const long steps = counts->steps + counts->rejected;
  double mass, far;
  const double length = size_of(sim, &mass, &far);

  /* The velocity below which a mechanism counts as at rest, gravity aside. */
  const double h = sim->summary.t / (double)(counts->steps > 0 ? counts->steps : 1);
  const double round_off = 1e-13;
  double share = 100.0 * fmax(newton->tolerance, 1e-15);
  if (sim->variable) share += sim->options.control.rtol; /* by which Newton's iteration ends */
  const double rest = h > 0.0 ? (share * length + round_off * far) / h : 0.0;

  char doubt[sizeof sim->summary.warnings[0].message];
  if (sim->variable && poli_integrator_doubt_step(sim->integrator, 0.0, doubt, sizeof doubt))
    poli_simulation_warn(sim, sim->summary.t, "%s", doubt);
  poli_simulation_doubt_step(sim, 0);
  doubt_energy(sim, length, mass, rest, h);
  doubt_constraints(sim, length, rest);
  doubt_contacts(sim);

  const pol_group *group = &sim->dae->group;
  double worst = 0.0;
  for (int f = 0; f < group->num_factors; f++) {
    const double *q = sim->q + group->factors[f].q;
    if (group->factors[f].kind == POL_REAL) continue;
    worst = fmax(worst, fabs(sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]) - 1.0));
  }
  if (worst > norm_limit)
    poli_simulation_warn(
        sim, sim->summary.t,
        "the norm of a quaternion deviates from 1 by %.3g, so that rotations are wrong; this is a "
        "bug of polhode, please report it",
        worst);

  const long solved = steps * poli_integrator_num_substeps(sim->integrator);
  if (steps >= 10 && sim->options.published.exact_iterations == 0 &&
      newton->fixed_iterations == 0 &&
      2 * counts->newton_iterations > solved * newton->max_iterations)
    poli_simulation_warn(
        sim, sim->summary.t,
        "Newton's method needs %.3g iterations per step on average, of %d allowed: "
        "the step is too large or a force is not smooth; use a smaller step",
        (double)counts->newton_iterations / (double)solved, newton->max_iterations);
  if (counts->inexact > 0)
    poli_simulation_warn(
        sim, sim->summary.t,
        "in %ld of %ld steps the fixed number of Newton iterations left a residual "
        "of up to %.3g times the tolerance; use more iterations, a smaller step, "
        "or a new matrix more often",
        counts->inexact, counts->steps, counts->worst_residual);
  if (counts->rejected > 3 * counts->steps + 10)
    poli_simulation_warn(sim, sim->summary.t,
                         "%ld steps were rejected and %ld accepted: the error estimate does not "
                         "suit this motion, which may not be smooth",
                         counts->rejected, counts->steps);
}

/* --- flexible bodies ----------------------------------------------------------------------------
 */

/* Centrifugal forces stiffen a cantilever that rotates with Omega: its first frequency w becomes
 * sqrt(w^2 + 1.19 Omega^2) (Southwell).  Linear elasticity leaves that out, and is off by 1 % at
 * Omega = 0.13 w.  Modes of a free body, which have no momentum in its mean frame, say nothing of
 * how it is held: w of a rod that is clamped at one end is 3.516/22.37 of its lowest free
 * frequency. The lowest k/m of a mode is that frequency, or above it. */
static double fastest_rotation(const pol_flexible_body *body)
{
  const int n = body->num_modes;
  double square = INFINITY, moment = 0.0, scale = 0.0;
  for (int k = 0; k < n; k++) {
    const double *S = body->second + 9 * ((size_t)(k + 1) * (size_t)(n + 1) + (size_t)(k + 1));
    const double mass = body->inertia ? body->inertia[k * n + k] : S[0] + S[4] + S[8];
    const double *f = body->first + 3 * (k + 1);
    square = fmin(square, body->stiffness[k * n + k] / mass);
    moment = fmax(moment, poli_v3_dot(f, f));
    scale = fmax(scale, body->mass * mass);
  }
  const double share = moment > 1e-8 * scale ? 0.13 : 0.13 * 3.516 / 22.37;
  return share * sqrt(square);
}

void poli_simulation_check_rotation(pol_simulation *sim, double t, const poli_instant *now)
{
  const pol_mechanism *mechanism = sim->formulation->mechanism;
  for (int b = 0; b < sim->formulation->num_bodies && sim->formulation->num_flexible > 0; b++) {
    const pol_body *body = pol_mechanism_body(mechanism, b);
    poli_frame own;
    if (!body->flexible || body->interface != 0) continue;
    const double *w = poli_instant_frame(now, b, &own)->w, most = fastest_rotation(body->flexible);
    if (!(poli_v3_dot(w, w) > most * most)) continue;
    poli_simulation_warn(
        sim, t,
        "flexible body '%s' rotates faster than %.3g rad/s: centrifugal forces, which its constant "
        "stiffness neglects, may change its lowest frequency by more than 1 %%; a beam has them",
        body->name, most);
  }
}
