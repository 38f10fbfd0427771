/* Forces that depend on reactions, and what a model remembers of its way.
 *
 * A bead of mass m slides on a circular wire of radius R with dry friction, which follows the
 * reaction N = R |lambda| of the wire:
 *
 *     m x'' + mu N x'/|x'| + lambda x = 0,   Phi = (x.x - R^2)/2 = 0.
 *
 * Its speed is u = u0/(1 + k t) with k = mu u0/R, the angle it has gone log(1 + k t)/mu, and
 * lambda = m u^2/R^2.  The model remembers that angle over full turns.
 */
#include <polhode/integrator.h>

#include <math.h>
#include <string.h>

#include "check.h"

#define check_near(a, b, tolerance) assert_near(&(double){a}, &(double){b}, 1, tolerance)

static const double pi = 3.14159265358979323846;
static const double mass = 2.0, radius = 0.5, friction = 0.05, speed = 3.0;

typedef struct bead {
  pol_dae dae;
  pol_factor factor;
  pol_pattern *feedback;
  double pull;       /* a force pull lambda x too */
  int fails;         /* evaluate gives up */
  int num_feedbacks; /* how often POL_FEEDBACK was asked for */
} bead;

static pol_status bead_evaluate(const pol_point *at, unsigned want, const pol_terms *out,
                                double *scratch, void *user)
{
  const double *x = at->q, *u = at->v;
  (void)scratch;
  bead *b = user;
  if (b->fails) return POL_RETRY;
  b->num_feedbacks += (want & POL_FEEDBACK) != 0;
  double square = u[0] * u[0] + u[1] * u[1], size = sqrt(square);
  double lambda = at->lambda ? at->lambda[0] : 0.0, grip = friction * radius;
  for (int i = 0; i < 2; i++) {
    if (want & POL_INERTIA) out->balance[i] += mass * at->vd[i];
    if (want & POL_FORCE)
      out->balance[i] += grip * fabs(lambda) * u[i] / size + b->pull * lambda * x[i];
    if (want & POL_REACTION) out->balance[i] += lambda * x[i];
    if (want & POL_MASS) out->mass[3 * i] += mass;
    if (want & POL_GEOMETRIC_STIFFNESS) out->stiffness[3 * i] += lambda;
    if (want & POL_JACOBIAN) out->jacobian[i] += x[i];
    if (want & POL_CURVATURE) out->curvature[i] += u[i];
    if (want & POL_FEEDBACK)
      out->feedback[i] += grip * copysign(1.0, lambda) * u[i] / size + b->pull * x[i];
    for (int j = 0; j < 2 && want & POL_DAMPING; j++)
      out->damping[i + 2 * j] += grip * fabs(lambda) * ((i == j) - u[i] * u[j] / square) / size;
  }
  if (want & POL_POSITION) out->position[0] = 0.5 * (x[0] * x[0] + x[1] * x[1] - radius * radius);
  if (want & POL_VELOCITY) out->velocity[0] = x[0] * u[0] + x[1] * u[1];
  if (want & POL_ACCELERATION) out->acceleration[0] = square;
  return POL_OK;
}

/* The angle on the branch that is nearest to the one before. */
static void bead_update_history(double t, const double *q, double *history, void *user)
{
  (void)t;
  (void)user;
  double angle = atan2(q[1], q[0]);
  history[0] = angle + 2.0 * pi * round((history[0] - angle) / (2.0 * pi));
}

static void bead_init(bead *b)
{
  *b = (bead){.factor = {.kind = POL_REAL, .dim = 2}};
  assert_int_equal(pol_group_layout(&b->dae.group, &b->factor, 1), POL_OK);
  pol_block all = {.rows = 2, .cols = 1};
  assert_int_equal(pol_pattern_create(&b->feedback, 2, 1, 1, &all), POL_OK);
  b->dae.num_holonomic = 1;
  b->dae.feedback = b->feedback;
  b->dae.evaluate = bead_evaluate;
  b->dae.history_size = 1;
  b->dae.update_history = bead_update_history;
  b->dae.user = b;
}

static double distance_gone(double t)
{
  return log(1.0 + friction * speed / radius * t) / friction;
}

static pol_integrator *start(bead *b, pol_index index)
{
  const double q[2] = {radius, 0.0}, v[2] = {0.0, speed};
  pol_options options = pol_options_default();
  pol_integrator *integrator;
  options.index = index;
  assert_int_equal(pol_integrator_create(&integrator, &b->dae, &options), POL_OK);
  assert_int_equal(pol_integrator_start(integrator, 0.0, q, v, NULL), POL_OK);
  return integrator;
}

/* The assembler balances friction and reaction. */
static void test_acceleration(void **state)
{
  (void)state;
  bead b;
  bead_init(&b);
  pol_integrator *integrator = start(&b, POL_INDEX_3);
  const pol_state *now = pol_integrator_state(integrator);
  check_near(now->lambda[0], mass * speed * speed / (radius * radius), 1e-11);
  check_near(now->vd[0], -speed * speed / radius, 1e-12);
  check_near(now->vd[1], -friction * speed * speed / radius, 1e-12);
  pol_integrator_free(&integrator);
  pol_pattern_free(&b.feedback);
}

/* Forces that are linear in the reaction: the first solution is exact, and the second confirms it.
 * It may differ by round-off, which is little beside the reaction. */
static void test_two_solutions(void **state)
{
  (void)state;
  bead b;
  bead_init(&b);
  pol_assembler *assembler;
  assert_int_equal(pol_assembler_create(&assembler, &b.dae, POL_SOLVER_DENSE), POL_OK);
  for (int i = 0; i < 100; i++) {
    double angle = 0.0613 * (i + 1), u = 0.1 * exp(0.1 * i), vd[2], lambda;
    const double q[2] = {radius * cos(angle), radius * sin(angle)};
    const double v[2] = {-u * sin(angle), u * cos(angle)};
    b.num_feedbacks = 0;
    b.pull = 0.3 + 0.01 * i;
    assert_int_equal(pol_assembler_acceleration(assembler, 0.0, q, v, vd, &lambda, NULL), POL_OK);
    assert_int_equal(b.num_feedbacks, 2);
    check_near((1.0 + b.pull) * lambda / (mass * u * u / (radius * radius)), 1.0, 1e-13);
  }
  pol_assembler_free(&assembler);
  pol_pattern_free(&b.feedback);
}

static double error_at_end(bead *b, pol_index index, int steps, double *lambda_error)
{
  const double end = 4.0;
  pol_integrator *integrator = start(b, index);
  for (int i = 0; i < steps; i++)
    assert_int_equal(pol_integrator_step(integrator, end / steps), POL_OK);
  const pol_state *now = pol_integrator_state(integrator);
  double angle = distance_gone(end), u = speed / (1.0 + friction * speed / radius * end);
  double error = hypot(now->q[0] - radius * cos(angle), now->q[1] - radius * sin(angle));
  *lambda_error = fabs(now->lambda[0] - mass * u * u / (radius * radius));
  /* the full turns are counted */
  assert_true(angle > 2.0 * 2.0 * pi);
  check_near(now->history[0], angle, 2.5 * error / radius);
  pol_integrator_free(&integrator);
  return error;
}

static void test_order(void **state)
{
  (void)state;
  bead b;
  bead_init(&b);
  for (pol_index index = POL_INDEX_3; index <= POL_INDEX_2_STABILIZED; index++) {
    double lambda[2], error[2];
    for (int k = 0; k < 2; k++) error[k] = error_at_end(&b, index, 500 << k, &lambda[k]);
    check_near(log2(error[0] / error[1]), 2.0, 0.05);
    check_near(log2(lambda[0] / lambda[1]), 2.0, 0.1);
  }
  pol_pattern_free(&b.feedback);
}

/* With dg/dlambda in the matrix a full Newton iteration converges quadratically. */
static void test_iterations(void **state)
{
  (void)state;
  bead b;
  bead_init(&b);
  pol_options options = pol_options_default();
  const double q[2] = {radius, 0.0}, v[2] = {0.0, speed};
  options.newton.kind = POL_NEWTON_FULL;
  pol_integrator *integrator;
  assert_int_equal(pol_integrator_create(&integrator, &b.dae, &options), POL_OK);
  assert_int_equal(pol_integrator_start(integrator, 0.0, q, v, NULL), POL_OK);
  for (int i = 0; i < 20; i++) assert_int_equal(pol_integrator_step(integrator, 0.01), POL_OK);
  assert_true(pol_integrator_counts(integrator)->newton_iterations <= 4 * 20);
  pol_integrator_free(&integrator);
  pol_pattern_free(&b.feedback);
}

static void test_failed_step_remembers_nothing(void **state)
{
  (void)state;
  bead b;
  bead_init(&b);
  pol_integrator *integrator = start(&b, POL_INDEX_3);
  for (int i = 0; i < 20; i++) assert_int_equal(pol_integrator_step(integrator, 0.01), POL_OK);
  double before = pol_integrator_state(integrator)->history[0];
  b.fails = 1;
  assert_int_not_equal(pol_integrator_step(integrator, 0.01), POL_OK);
  assert_true(pol_integrator_state(integrator)->history[0] == before);
  pol_integrator_free(&integrator);
  pol_pattern_free(&b.feedback);
}

static void test_rules(void **state)
{
  (void)state;
  bead b;
  char message[128];
  bead_init(&b);
  b.dae.update_history = NULL;
  assert_int_equal(pol_dae_validate(&b.dae, message, sizeof message), POL_BAD_ARGUMENT);
  assert_non_null(strstr(message, "update_history"));
  b.dae.update_history = bead_update_history;
  b.dae.num_holonomic = 2;
  assert_int_equal(pol_dae_validate(&b.dae, message, sizeof message), POL_BAD_ARGUMENT);
  assert_non_null(strstr(message, "feedback"));
  pol_pattern_free(&b.feedback);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_acceleration),
      cmocka_unit_test(test_two_solutions),
      cmocka_unit_test(test_order),
      cmocka_unit_test(test_iterations),
      cmocka_unit_test(test_failed_step_remembers_nothing),
      cmocka_unit_test(test_rules),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
