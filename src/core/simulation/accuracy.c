/* The accuracy of one run, from a second one with coarser steps (Richardson 1911): a method of
 * order p with steps r h has r^p times the error of steps h, so that
 *
 *     e(h) = |x(r h) - x(h)|/(r^p - 1)
 *
 * Of steps chosen by a tolerance, the error is that tolerance to the power p/(p + 1).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/convergence.h>

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

pol_status pol_accuracy_estimate(const pol_simulation *finished, const pol_settings *settings,
                                 pol_accuracy *accuracy)
{
  *accuracy = (pol_accuracy){0};
  if (!pol_simulation_finished(finished)) return POL_BAD_ARGUMENT;
  const pol_mechanism *mechanism = pol_formulation_mechanism(pol_simulation_formulation(finished));
  pol_settings coarse = *settings;
  const int order = reliable_order(&settings->options);
  double divisor;
  /* only the end is compared; events between are those of the run */
  coarse.output = (pol_output){.count = 1, .times = &settings->end};
  if (settings->variable) {
    coarse.options.control.rtol *= 10.0;
    coarse.options.control.atol_translation *= 10.0;
    coarse.options.control.atol_rotation *= 10.0;
    /* a tolerance of h^(p+1), the error of a step, gives steps with the error h^p */
    divisor = pow(10.0, order / (order + 1.0)) - 1.0;
  } else {
    /* n steps become (n + 1)/2 */
    const double steps = fmax(floor(settings->end / settings->step + 0.5), 1.0);
    coarse.step = settings->end / floor(0.5 * (steps + 1.0));
    divisor = pow(coarse.step / settings->step, order) - 1.0;
    if (!(divisor > 0.5)) {
      snprintf(accuracy->reason, sizeof accuracy->reason, "there is only one step");
      return POL_OK;
    }
  }
  pol_simulation *second = NULL;
  pol_status status = pol_simulation_create(&second, mechanism, &coarse, NULL);
  while (status == POL_OK && !pol_simulation_finished(second)) status = pol_simulation_step(second);
  const char *how = settings->variable ? "tolerances ten times as large" : "steps twice as long";
  const double t = pol_simulation_state(finished)->t;
  if (status == POL_NO_MEMORY || status == POL_CANCELLED) {
    pol_simulation_free(&second);
    return status;
  }
  if (status != POL_OK) {
    snprintf(accuracy->reason, sizeof accuracy->reason, "with %s the simulation fails", how);
  } else if (fabs(pol_simulation_state(second)->t - t) > 1e-9 * t) {
    snprintf(accuracy->reason, sizeof accuracy->reason, "with %s it ends at t = %.6g s", how,
             pol_simulation_state(second)->t);
  } else {
    compare_ends(finished, second, &accuracy->position, &accuracy->rotation);
    accuracy->position /= divisor;
    accuracy->rotation /= divisor;
    accuracy->known = 1;
  }
  pol_simulation_free(&second);
  return POL_OK;
}
