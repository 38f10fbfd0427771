/* The accuracy of one run, from two more with coarser steps (Richardson 1911): a method of order p
 * with steps r h has f = r^p times the error of steps h, so that
 *
 *     e(h) = |x(r h) - x(h)|/(f - 1)
 *
 * Of steps chosen by a tolerance, the error is that tolerance to the power p/(p + 1).  This holds
 * for small steps only, and not for round-off, which unstable motions enlarge, nor for tolerances
 * that limit a few steps.  The third run shows how errors really fall:
 *
 *     f = min( r^p, |x(r^2 h) - x(r h)|/|x(r h) - x(h)| )
 *
 * but at least 3/2.  If f is less than half of r^p, the error is at least half of the difference:
 * that of two runs which differ by round-off alone.  Differences as large as the motion itself say
 * nothing about how errors fall.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/convergence.h>

#include "simulation/parts.h"

/* The order by which errors of positions fall, as far as it is relied on: high orders show at small
 * steps only. */
static int reliable_order(const pol_options *options)
{
  const int most = 4, is_rattle = strcmp(options->method, "rattle") == 0;
  const pol_method *method = pol_method_find(options->method);
  const int is_damped =
      strcmp(options->method, "newmark") == 0 && fabs(options->gamma - 0.5) > 1e-12;
  int order = method && !is_damped ? atoi(method->order) : 1;
  if (is_rattle) order = pol_options_order(options);
  return order < most ? order : most;
}

/* Largest differences of positions and rotations of two simulations of one mechanism. */
static void compare_ends(const pol_simulation *a, const pol_simulation *b, double *position,
                         double *rotation)
{
  const pol_mechanism *mechanism = pol_formulation_mechanism(pol_simulation_formulation(a));
  *position = *rotation = 0.0;
  for (int i = 0; i < pol_mechanism_num_bodies(mechanism); i++) {
    pol_body_state one, other;
    pol_simulation_body(a, i, &one);
    pol_simulation_body(b, i, &other);
    double distance = 0.0;
    for (int k = 0; k < 3; k++) distance = hypot(distance, one.position[k] - other.position[k]);
    *position = fmax(*position, distance);
    if (pol_mechanism_body(mechanism, i)->point) continue;
    /* |p - q| = 2 sin(angle/4) for the quaternion q of the same sign */
    double minus = 0.0, plus = 0.0;
    for (int k = 0; k < 4; k++) {
      minus = hypot(minus, one.quaternion[k] - other.quaternion[k]);
      plus = hypot(plus, one.quaternion[k] + other.quaternion[k]);
    }
    *rotation = fmax(*rotation, 4.0 * asin(fmin(0.5 * fmin(minus, plus), 1.0)));
  }
}

/* The largest coordinate of a body at the end. */
static double size_of(const pol_simulation *simulation)
{
  const pol_formulation *formulation = pol_simulation_formulation(simulation);
  double size = 0.0;
  for (int i = 0; i < pol_mechanism_num_bodies(pol_formulation_mechanism(formulation)); i++) {
    pol_body_state body;
    pol_simulation_body(simulation, i, &body);
    for (int k = 0; k < 3; k++) size = fmax(size, fabs(body.position[k]));
  }
  return size;
}

/* Makes the settings coarser by one level; how much larger errors should be then, 0 if there are
 * too few steps. */
static double coarsen(pol_settings *settings, int order)
{
  if (settings->variable) {
    settings->options.control.rtol *= 10.0;
    settings->options.control.atol_translation *= 10.0;
    settings->options.control.atol_rotation *= 10.0;
    /* a tolerance of h^(p+1), the error of a step, gives steps with the error h^p */
    return pow(10.0, order / (order + 1.0));
  }
  /* n steps become (n + 1)/2 */
  const double steps = fmax(floor(settings->end / settings->step + 0.5), 1.0);
  const double before = settings->step;
  settings->step = settings->end / floor(0.5 * (steps + 1.0));
  const double factor = pow(settings->step / before, order);
  return factor > 1.5 ? factor : 0.0;
}

/* From the differences between the run and a coarser one, and between that and the next; second 0:
 * there is none. */
static double estimate(double first, double second, double expected, double large)
{
  const double least = 1.5, found = first > 0.0 ? second / first : expected;
  if (fmax(first, second) > large || found >= expected) return first / (expected - 1.0);
  const double error = first / (fmax(found, least) - 1.0);
  return found < 0.5 * expected ? fmax(error, 0.5 * first) : error;
}

/* Runs to the end.  *failed: the run is of no use, for the reason in accuracy->reason. */
static pol_status run_coarse(pol_simulation **simulation, const pol_mechanism *mechanism,
                             const pol_settings *settings, double t, int *failed,
                             pol_accuracy *accuracy)
{
  const char *how = settings->variable ? "tolerances ten times as large" : "steps twice as long";
  pol_status status = pol_simulation_create(simulation, mechanism, settings, NULL);
  while (status == POL_OK && !pol_simulation_finished(*simulation))
    status = pol_simulation_step(*simulation);
  if (status == POL_NO_MEMORY || status == POL_CANCELLED) return status;
  *failed = status != POL_OK;
  if (*failed) {
    snprintf(accuracy->reason, sizeof accuracy->reason, "with %s the simulation fails", how);
  } else if (fabs(pol_simulation_state(*simulation)->t - t) > 1e-9 * t) {
    snprintf(accuracy->reason, sizeof accuracy->reason, "with %s it ends at t = %.6g s", how,
             pol_simulation_state(*simulation)->t);
    *failed = 1;
  }
  return POL_OK;
}

pol_status pol_accuracy_estimate(const pol_simulation *finished, const pol_settings *settings,
                                 pol_accuracy *accuracy)
{
  *accuracy = (pol_accuracy){0};
  if (!pol_simulation_finished(finished)) return POL_BAD_ARGUMENT;
  const pol_mechanism *mechanism = pol_formulation_mechanism(pol_simulation_formulation(finished));
  const double t = pol_simulation_state(finished)->t;
  pol_settings coarse = *settings;
  pol_simulation *second = NULL, *third = NULL;
  const int order = reliable_order(&settings->options);
  if (finished->num_controllers > 0) {
    snprintf(accuracy->reason, sizeof accuracy->reason,
             "the run has controllers, which other runs would need too");
    return POL_OK;
  }
  /* only the end is compared; events between are those of the run */
  coarse.output = (pol_output){.count = 1, .times = &settings->end};
  const double expected = coarsen(&coarse, order);
  if (!(expected > 0.0)) {
    snprintf(accuracy->reason, sizeof accuracy->reason, "there is only one step");
    return POL_OK;
  }
  int failed = 0;
  pol_status status = run_coarse(&second, mechanism, &coarse, t, &failed, accuracy);
  if (status == POL_OK && !failed) {
    double far_position = 0.0, far_rotation = 0.0;
    compare_ends(finished, second, &accuracy->position, &accuracy->rotation);
    accuracy->known = 1;
    if (coarsen(&coarse, order) > 0.0)
      status = run_coarse(&third, mechanism, &coarse, t, &failed, accuracy);
    /* without a third run, errors are taken to fall by as little as 3/2 */
    if (third && !failed) compare_ends(second, third, &far_position, &far_rotation);
    accuracy->reason[0] = '\0';
    const double large = 0.1 * size_of(finished), large_angle = 0.75;
    accuracy->position = estimate(accuracy->position, far_position, expected, large);
    accuracy->rotation = estimate(accuracy->rotation, far_rotation, expected, large_angle);
  }
  if (status != POL_OK) *accuracy = (pol_accuracy){0};
  pol_simulation_free(&second);
  pol_simulation_free(&third);
  return status;
}
