/* Impacts at hard stops of joints against closed forms: touched at the start, several at the same
 * time, in a row, over methods and steps; and motions that no impact can stop. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "simulation/simulate.h"

static const double rest_speed = 0.05;

static double coordinate(const pol_simulation *simulation, int joint, double *rate)
{
  const pol_point at = pol_state_point(pol_simulation_state(simulation));
  double value;
  pol_formulation_joint_coordinate(pol_simulation_formulation(simulation), &at, joint, 0, &value,
                                   rate);
  return value;
}

static void release(pol_simulation *simulation, pol_model *model)
{
  pol_simulation_free(&simulation);
  pol_model_free(&model);
}

/* The methods and steps that all drops are run with. */
static const char *const methods[] = {"geom1", "newmark", "rattle"};
static const double steps[] = {0.0005, 0.001, 0.0017, 0.003, 0.005};
enum { METHODS = 3, STEPS = 5 };

/* --- drops ------------------------------------------------------------------------------------ */

/* One or two balls, each on a vertical slide of its own, above a stop at z = min. */
typedef struct drop {
  const char *method;
  double step, end, gravity, min, speed, restitution;
  int balls;
} drop;

static pol_model *drop_model(const drop *d)
{
  char text[2000], bodies[2][200], joints[2][300];
  for (int i = 0; i < d->balls; i++) {
    snprintf(bodies[i], sizeof bodies[i],
             "{\"name\": \"b%d\", \"mass\": %d, \"inertia\": [1, 1, 1], \"position\": [%d, 0, 0], "
             "\"velocity\": [0, 0, %.17g]}",
             i, 3 - 2 * i, i, d->speed);
    snprintf(joints[i], sizeof joints[i],
             "{\"name\": \"s%d\", \"type\": \"prismatic\", \"bodies\": [\"ground\", \"b%d\"], "
             "\"point\": [%d, 0, 0], \"axis\": [0, 0, 1], \"limits\": {\"min\": %.17g, "
             "\"restitution\": %.17g}}",
             i, i, i, d->min, d->restitution);
  }
  const int both = d->balls > 1;
  snprintf(text, sizeof text,
           "{\"gravity\": [0, 0, %.17g], \"bodies\": [%s%s%s], \"joints\": [%s%s%s], "
           "\"simulation\": {\"method\": \"%s\", \"step\": %.17g, \"end\": %.17g}}",
           -d->gravity, bodies[0], both ? ", " : "", both ? bodies[1] : "", joints[0],
           both ? ", " : "", both ? joints[1] : "", d->method, d->step, d->end);
  return read_model_text(text);
}

/* Each ball flies on parabolas until a rebound is slower than the rest speed: the times, rates and
 * heights of the impacts before.  Returns how many there were of each ball. */
static int check_drop(const drop *d)
{
  pol_model *model = drop_model(d);
  pol_simulation *s = start(model);
  const double g = d->gravity;
  double expected[2], impact[2], rate, top[2] = {0.0, 0.0};
  int impacts[2] = {0, 0}, faded = 0;
  for (int i = 0; i < 2; i++) {
    impact[i] = sqrt(d->speed * d->speed - 2.0 * g * d->min);
    expected[i] = (d->speed + impact[i]) / g;
  }
  while (!pol_simulation_finished(s) && !faded) {
    take_step(s);
    for (int i = 0; i < d->balls; i++) top[i] = fmax(top[i], coordinate(s, i, &rate) - d->min);
    const int i = pol_simulation_event_index(s);
    if (i < 0) continue;
    if (impacts[i] > 0) {
      /* the top between two steps */
      const double height = 0.5 * impact[i] * impact[i] / g;
      assert_near(&top[i], &height, 1, g * d->step * d->step / 8.0 + 1e-8);
    }
    const double value = coordinate(s, i, &rate), t = pol_simulation_state(s)->t;
    impacts[i]++;
    assert_near(&t, &expected[i], 1, 1e-7);
    assert_near(&value, &d->min, 1, 1e-9);
    impact[i] *= d->restitution;
    if (impact[i] < rest_speed) impact[i] = 0.0;
    assert_near(&rate, &impact[i], 1, 1e-7);
    expected[i] += 2.0 * impact[i] / g;
    faded = impact[i] < 2.0 * rest_speed;
    top[i] = 0.0;
  }
  /* none is missing */
  const double t = pol_simulation_state(s)->t;
  for (int i = 0; i < d->balls && !faded; i++) assert_true(expected[i] > t - 1e-7);
  release(s, model);
  return impacts[0];
}

/* 10 m/s^2 and 1 m/s up from the stop: each flight is 0.2 s, which is a whole number of steps. */
static void elastic_bounces_go_on(void **state)
{
  (void)state;
  for (int i = 0; i < METHODS * STEPS; i++) {
    const drop d = {methods[i / STEPS], steps[i % STEPS], 2.05, 10.0, 0.0, 1.0, 1.0, 1};
    assert_int_equal(check_drop(&d), 10);
  }
}

static void balls_of_any_mass_land_at_the_same_time(void **state)
{
  (void)state;
  for (int i = 0; i < METHODS * STEPS; i++) {
    const drop d = {methods[i / STEPS], steps[i % STEPS], 1.2, 10.0, -0.2, 0.0, 0.9, 2};
    assert_int_equal(check_drop(&d), 4); /* at 0.2, 0.56, 0.884, 1.1756 s */
  }
}

static void random_drops(void **state)
{
  (void)state;
  static const char *const all[] = {"geom1", "hht", "newmark", "rattle", "auto"};
  static const double usual[] = {0.0005, 0.001, 0.002};
  uint64_t seed = 16;
  for (int i = 0; i < 40; i++) {
    double x[5];
    random_numbers(&seed, x, 5);
    for (int k = 0; k < 5; k++) x[k] = fabs(x[k]);
    drop d = {.method = all[i % 5], .end = 1.5, .balls = 1 + i % 2};
    d.step = i % 4 ? usual[i % 3] : 3e-4 + 3e-3 * x[0];
    d.gravity = i % 3 ? 10.0 : 2.0 + 15.0 * x[1];
    d.min = i % 3 ? -0.05 * (1.0 + floor(10.0 * x[2])) : -0.02 - x[2];
    d.restitution = i % 7 ? 0.3 + 0.7 * x[3] : 1.0;
    d.speed = i % 4 == 3 ? 2.0 * x[4] - 1.0 : 0.0;
    assert_true(check_drop(&d) >= 1);
  }
}

/* --- at the start ----------------------------------------------------------------------------- */

/* A door that closes on its frame at t = 0: w = -2 becomes 0.6 rad/s; J = 1.6 + 20 0.4^2. */
static void stops_are_touched_at_the_start(void **state)
{
  (void)state;
  static const char door[] =
      "{\"bodies\": [{\"name\": \"leaf\", \"mass\": 20, \"inertia\": [1, 1, 1.6], \"position\": "
      "[0.4, 0, 0], \"angular_velocity\": [0, 0, %g]}], \"joints\": [{\"name\": \"hinge\", "
      "\"type\": \"revolute\", \"bodies\": [\"ground\", \"leaf\"], \"point\": [0, 0, 0], \"axis\": "
      "[0, 0, 1], \"limits\": {\"min\": 0, \"max\": 1.5, \"restitution\": 0.3}}], \"simulation\": "
      "{\"method\": \"%s\", %s, \"end\": 1}}";
  for (int i = 0; i < 2 * METHODS; i++) {
    char text[1000];
    const int opens = i >= METHODS;
    snprintf(text, sizeof text, door, opens ? 0.6 : -2.0, methods[i % METHODS],
             i == 0 ? "\"rtol\": 1e-9, \"atol\": 1e-9" : "\"step\": 1e-3");
    pol_model *model = read_model_text(text);
    pol_simulation *s = start(model);
    double rate, first = -1.0;
    int impacts = 0;
    while (!pol_simulation_finished(s)) {
      take_step(s);
      if (pol_simulation_event_index(s) < 0) continue;
      if (impacts++ == 0) first = pol_simulation_state(s)->t;
    }
    assert_int_equal(impacts, !opens);
    if (!opens) assert_near(&first, &(double){0.0}, 1, 0.0);
    const double angle = coordinate(s, 0, &rate);
    assert_near(&rate, &(double){0.6}, 1, 1e-7);
    assert_near(&angle, &(double){0.6}, 1, i == 0 ? 1e-6 : 1e-7);
    const pol_summary *summary = pol_simulation_summary(s);
    const double lost = opens ? 0.0 : 0.5 * 4.8 * (4.0 - 0.36);
    assert_near(&summary->work.dissipated, &lost, 1, 1e-6);
    assert_near(&summary->initial_energy.kinetic, &(double){2.4 * 0.36 + lost}, 1, 1e-6);
    assert_near(&summary->energy_balance, &(double){0.0}, 1, 1e-6);
    release(s, model);
  }
}

/* Three equal carts: the first one hits the second, which touches the third.  With e = 1 the last
 * takes all the speed, by two impacts at the same time. */
static void impacts_pass_through_a_row(void **state)
{
  (void)state;
  static const char row[] =
      "{\"bodies\": [{\"name\": \"a\", \"mass\": 2, \"inertia\": [1, 1, 1], \"velocity\": [3, 0, "
      "0]}, {\"name\": \"b\", \"mass\": 2, \"inertia\": [1, 1, 1], \"position\": [1, 0, 0]}, "
      "{\"name\": \"c\", \"mass\": 2, \"inertia\": [1, 1, 1], \"position\": [2, 0, 0]}], "
      "\"joints\": [{\"name\": \"s\", \"type\": \"prismatic\", \"bodies\": [\"a\", \"b\"], "
      "\"point\": [1, 0, 0], \"axis\": [1, 0, 0], \"limits\": {\"min\": -0.5, \"restitution\": "
      "1}}, {\"name\": \"r\", \"type\": \"prismatic\", \"bodies\": [\"b\", \"c\"], \"point\": [1, "
      "0, 0], \"axis\": [1, 0, 0], \"limits\": {\"min\": 0, \"restitution\": 1}}], "
      "\"simulation\": {\"method\": \"%s\", \"step\": %g, \"end\": 0.5}}";
  for (int i = 0; i < METHODS * STEPS; i++) {
    char text[2000];
    snprintf(text, sizeof text, row, methods[i / STEPS], steps[i % STEPS]);
    pol_model *model = read_model_text(text);
    pol_simulation *s = start(model);
    int impacts = 0;
    while (!pol_simulation_finished(s)) {
      take_step(s);
      if (pol_simulation_event_index(s) < 0) continue;
      const double t = pol_simulation_state(s)->t;
      assert_near(&t, &(double){0.5 / 3.0}, 1, 1e-9);
      assert_int_equal(pol_simulation_event_index(s), impacts);
      impacts++;
    }
    assert_int_equal(impacts, 2);
    for (int k = 0; k < 3; k++) {
      pol_body_state body;
      pol_simulation_body(s, k, &body);
      assert_near(&body.velocity[0], &(double){k == 2 ? 3.0 : 0.0}, 1, 1e-9);
    }
    release(s, model);
  }
}

/* --- no impact -------------------------------------------------------------------------------- */

/* An impulse cannot stop a drive: the run fails there and names both. */
static void drives_must_not_lead_through_a_stop(void **state)
{
  (void)state;
  pol_model *model = read_model_text(
      "{\"bodies\": [{\"name\": \"b\", \"mass\": 2, \"inertia\": [1, 1, 1]}], \"joints\": "
      "[{\"name\": \"hinge\", \"type\": \"revolute\", \"bodies\": [\"ground\", \"b\"], \"point\": "
      "[0, 0, 0], \"axis\": [0, 0, 1], \"limits\": {\"min\": -1, \"max\": 1, \"restitution\": "
      "0.5}}], \"drives\": [{\"name\": \"motor\", \"joint\": \"hinge\", \"coordinate\": "
      "\"rotation\", \"function\": \"3*t\"}], \"simulation\": {\"step\": 0.001, \"end\": 1}}");
  pol_simulation *s = start(model);
  pol_status status = POL_OK;
  while (status == POL_OK && !pol_simulation_finished(s)) status = pol_simulation_step(s);
  const pol_diagnostics *d = pol_simulation_diagnostics(s);
  assert_int_equal(status, POL_INCONSISTENT);
  assert_non_null(strstr(d->message, "joint 'hinge'"));
  assert_non_null(strstr(d->message, "drive 'motor'"));
  assert_near(&d->t, &(double){1.0 / 3.0}, 1, 1e-9);
  release(s, model);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(elastic_bounces_go_on),
      cmocka_unit_test(balls_of_any_mass_land_at_the_same_time),
      cmocka_unit_test(random_drops),
      cmocka_unit_test(stops_are_touched_at_the_start),
      cmocka_unit_test(impacts_pass_through_a_row),
      cmocka_unit_test(drives_must_not_lead_through_a_stop),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
