/* The simulation driver on the heavy top: steps and time, summary, assembled initial values,
 * failures.
 */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "heavy_top.h"

typedef struct fixture {
  pol_mechanism *mechanism;
  pol_simulation *simulation;
} fixture;

static fixture open_simulation(const pol_body *body, const pol_settings *settings)
{
  fixture f = {NULL, NULL};
  pol_diagnostics diagnostics;
  assert_int_equal(heavy_top_create(&f.mechanism, body), POL_OK);
  assert_int_equal(pol_simulation_create(&f.simulation, f.mechanism, settings, &diagnostics),
                   POL_OK);
  return f;
}

static void close_simulation(fixture *f)
{
  pol_simulation_free(&f->simulation);
  assert_null(f->simulation);
  pol_simulation_free(&f->simulation); /* NULL is fine */
  pol_mechanism_free(&f->mechanism);
}

static fixture open_heavy_top(double step, double end, pol_formulation_kind formulation)
{
  pol_body body = heavy_top_body();
  pol_settings settings = pol_settings_default();
  settings.step = step;
  settings.end = end;
  settings.formulation = formulation;
  return open_simulation(&body, &settings);
}

static void assert_near(double found, double expected, double tolerance)
{
  if (!(fabs(found - expected) <= tolerance))
    fail_msg("%.17g is not within %g of %.17g", found, tolerance, expected);
}

/* --- time ------------------------------------------------------------------------------------- */

static void run_to_end(double step, double end, long expected_steps, double expected_last_but_one)
{
  fixture f = open_heavy_top(step, end, POL_SO3XR3);
  double previous = -1.0;
  assert_int_equal(pol_simulation_finished(f.simulation), 0);
  assert_true(pol_simulation_progress(f.simulation) == 0.0);
  while (!pol_simulation_finished(f.simulation)) {
    previous = pol_simulation_state(f.simulation)->t;
    assert_int_equal(pol_simulation_step(f.simulation), POL_OK);
  }
  assert_int_equal(pol_simulation_summary(f.simulation)->counts.steps, expected_steps);
  assert_near(previous, expected_last_but_one, 2.0 * DBL_EPSILON * end);
  assert_true(pol_simulation_state(f.simulation)->t == end);
  assert_true(pol_simulation_summary(f.simulation)->t == end);
  assert_true(pol_simulation_progress(f.simulation) == 1.0);

  /* There is nothing after the end. */
  assert_int_equal(pol_simulation_step(f.simulation), POL_BAD_ARGUMENT);
  assert_int_equal(pol_simulation_diagnostics(f.simulation)->status, POL_BAD_ARGUMENT);
  assert_true(pol_simulation_state(f.simulation)->t == end);
  close_simulation(&f);
}

static void equal_steps_when_the_end_is_a_multiple(void **state)
{
  (void)state;
  run_to_end(1e-3, 0.1, 100, 0.099);
  run_to_end(1e-3, 3e-3, 3, 2e-3); /* 3e-3 / 1e-3 is not 3 in floating point */
  run_to_end(1e-3 * (1.0 + 5e-10), 0.1, 100, 0.099);
  run_to_end(1e-3, 1e-3, 1, 0.0);
}

static void shortened_last_step_otherwise(void **state)
{
  (void)state;
  run_to_end(3e-3, 1e-2, 4, 9e-3);
  run_to_end(1e-3, 1e-2 * (1.0 + 2e-9), 11, 1e-2); /* just too far for ten steps */
}

static void time_is_counted_not_summed(void **state)
{
  (void)state;
  fixture f = open_heavy_top(1e-3, 1.0, POL_SO3XR3);
  for (int n = 1; n <= 1000; n++) {
    assert_int_equal(pol_simulation_step(f.simulation), POL_OK);
    assert_true(pol_simulation_state(f.simulation)->t == n * 1e-3);
  }
  close_simulation(&f);
}

/* --- summary ---------------------------------------------------------------------------------- */

/* Largest |X - R^T x| of the tip and the largest rate of it, from what a body does. */
static void tip_residuals(const pol_simulation *simulation, double *position, double *velocity)
{
  const pol_state *state = pol_simulation_state(simulation);
  const double tip[3] = {0.0, -1.0, 0.0};
  pol_body_state body;
  pol_formulation_body_state(pol_simulation_formulation(simulation), state->q, state->v, 0, &body);
  const double *R = body.rotation, *x = body.position, *w = body.angular_velocity_global;
  const double rate[3] = {body.velocity[0] - (w[1] * x[2] - w[2] * x[1]),
                          body.velocity[1] - (w[2] * x[0] - w[0] * x[2]),
                          body.velocity[2] - (w[0] * x[1] - w[1] * x[0])};
  *position = *velocity = 0.0;
  for (int i = 0; i < 3; i++) {
    double p = R[i] * x[0] + R[3 + i] * x[1] + R[6 + i] * x[2] + tip[i];
    double v = R[i] * rate[0] + R[3 + i] * rate[1] + R[6 + i] * rate[2];
    *position = fmax(*position, fabs(p));
    *velocity = fmax(*velocity, fabs(v));
  }
}

static double total_energy(const pol_simulation *simulation)
{
  const pol_point at = pol_state_point(pol_simulation_state(simulation));
  pol_energy energy;
  pol_formulation_energy(pol_simulation_formulation(simulation), &at, &energy);
  return energy.kinetic + energy.potential;
}

static void summary_follows_the_solution(void **state)
{
  (void)state;
  for (int kind = 0; kind < pol_formulation_count(); kind++) {
    /* Tait-Bryan angles would meet gimbal lock after 0.01 s; directors are unstable in index 3 at
     * this step size; so3 has no constraint left, and the
     * Euler parameters and directors have more, their own. */
    int more = kind == POL_EULER_PARAMETERS || kind == POL_DIRECTORS;
    long steps = kind == POL_TAIT_BRYAN ? 5 : kind == POL_DIRECTORS ? 50 : 200;
    fixture f = open_heavy_top(1e-3, 1e-3 * (double)steps, (pol_formulation_kind)kind);
    const pol_summary *summary = pol_simulation_summary(f.simulation);
    double initial = total_energy(f.simulation), drift = 0.0, position = 0.0, velocity = 0.0;
    tip_residuals(f.simulation, &position, &velocity);
    while (!pol_simulation_finished(f.simulation)) {
      double p, v;
      assert_int_equal(pol_simulation_step(f.simulation), POL_OK);
      tip_residuals(f.simulation, &p, &v);
      drift = fmax(drift, fabs(total_energy(f.simulation) - initial));
      position = fmax(position, p);
      velocity = fmax(velocity, v);
      if (more) {
        assert_true(summary->position_residual >= p - 1e-14);
        assert_true(summary->velocity_residual >= v - 1e-12);
        continue;
      }
      assert_near(summary->position_residual, p, 1e-14);
      assert_near(summary->velocity_residual, v, 1e-12);
    }
    assert_true(summary->initial_energy.kinetic + summary->initial_energy.potential == initial);
    assert_true(summary->energy.kinetic + summary->energy.potential == total_energy(f.simulation));
    assert_true(summary->max_energy_drift == drift);
    if (!more) {
      assert_near(summary->max_position_residual, position, 1e-14);
      assert_near(summary->max_velocity_residual, velocity, 1e-12);
    }
    assert_int_equal(summary->counts.steps, steps);
    assert_true(summary->counts.newton_iterations >= steps);

    /* Index 3 keeps the positions; energy is 15/2 4.61538^2 + 150^2 0.46875/2 + ... at first. */
    assert_true(summary->max_position_residual < 1e-12);
    assert_near(initial, 0.5 * (15.0 + 0.234375) * 4.61538 * 4.61538 + 0.5 * 0.46875 * 22500.0,
                1e-9);
    assert_true(drift > 0.0 && drift < 0.02 * initial);
    close_simulation(&f);
  }
}

/* --- initial values --------------------------------------------------------------------------- */

static double length(const double x[3])
{
  return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
}

static pol_body_state body_now(const pol_simulation *simulation)
{
  const pol_state *state = pol_simulation_state(simulation);
  pol_body_state body;
  pol_formulation_body_state(pol_simulation_formulation(simulation), state->q, state->v, 0, &body);
  return body;
}

static void consistent_values_do_not_move(void **state)
{
  (void)state;
  pol_body body = heavy_top_body();
  pol_settings settings = pol_settings_default();
  body.velocity[0] = 4.61538;
  body.given |= POL_GIVEN_VELOCITY;
  fixture f = open_simulation(&body, &settings);
  const pol_moves *moves = &pol_simulation_summary(f.simulation)->moves;
  assert_true(moves->position_residual == 0.0);
  assert_near(moves->velocity_residual, 0.0, 1e-15);
  assert_near(moves->position, 0.0, 1e-15);
  assert_near(moves->rotation, 0.0, 1e-15);
  assert_near(moves->velocity, 0.0, 1e-14);
  assert_true(moves->angular_velocity == 0.0);
  close_simulation(&f);
}

static void a_missing_velocity_is_completed_and_not_counted(void **state)
{
  (void)state;
  for (int kind = 0; kind < pol_formulation_count(); kind++) {
    fixture f = open_heavy_top(1e-3, 1.0, (pol_formulation_kind)kind);
    const pol_moves *moves = &pol_simulation_summary(f.simulation)->moves;
    pol_body_state body = body_now(f.simulation);
    /* so3 knows no velocity that breaks its joint */
    assert_near(moves->velocity_residual, kind == POL_SO3_PIVOT ? 0.0 : 4.61538, 1e-14);
    assert_true(moves->velocity == 0.0);
    assert_near(moves->angular_velocity, 0.0, 1e-13);
    assert_near(body.velocity[0], 4.61538, 1e-13);
    assert_near(body.velocity[1], 0.0, 1e-13);
    assert_near(body.velocity[2], 0.0, 1e-13);
    close_simulation(&f);
  }
}

static void moves_are_measured(void **state)
{
  (void)state;
  pol_body body = heavy_top_body();
  pol_settings settings = pol_settings_default();
  body.position[1] = 1.1; /* the tip is 0.1 m off */
  body.velocity[0] = 7.0; /* and too fast */
  body.given |= POL_GIVEN_VELOCITY;
  fixture f = open_simulation(&body, &settings);
  const pol_summary *summary = pol_simulation_summary(f.simulation);
  pol_body_state found = body_now(f.simulation);
  const double moved[3] = {found.position[0], found.position[1] - 1.1, found.position[2]};
  const double changed[3] = {found.velocity[0] - 7.0, found.velocity[1], found.velocity[2]};
  assert_near(summary->moves.position_residual, 0.1, 1e-15);
  assert_near(summary->moves.position, length(moved), 1e-15);
  assert_near(summary->moves.position, 0.1, 1e-12); /* straight back, without a rotation */
  assert_near(summary->moves.rotation, 0.0, 1e-12);
  assert_near(summary->moves.velocity, length(changed), 1e-14);
  assert_near(summary->moves.velocity, 7.0 - 4.61538, 1e-12);
  assert_true(summary->moves.angular_velocity == 0.0);
  assert_true(summary->position_residual < 1e-14);
  close_simulation(&f);
}

/* --- failures --------------------------------------------------------------------------------- */

static void refuse_settings(pol_settings settings, const char *word)
{
  char message[256] = "";
  pol_diagnostics diagnostics;
  pol_mechanism *mechanism;
  pol_simulation *simulation;
  pol_body body = heavy_top_body();
  assert_int_equal(pol_settings_validate(&settings, message, sizeof message), POL_BAD_ARGUMENT);
  assert_non_null(strstr(message, word));
  assert_int_equal(pol_settings_validate(&settings, NULL, 0), POL_BAD_ARGUMENT);

  /* Creating says the same. */
  assert_int_equal(heavy_top_create(&mechanism, &body), POL_OK);
  assert_int_equal(pol_simulation_create(&simulation, mechanism, &settings, &diagnostics),
                   POL_BAD_ARGUMENT);
  assert_null(simulation);
  assert_int_equal(diagnostics.status, POL_BAD_ARGUMENT);
  assert_string_equal(diagnostics.message, message);
  pol_mechanism_free(&mechanism);
}

static void settings_are_checked(void **state)
{
  (void)state;
  const pol_settings good = pol_settings_default();
  pol_settings bad;
  assert_int_equal(pol_settings_validate(&good, NULL, 0), POL_OK);
  bad = good;
  bad.step = 0.0;
  refuse_settings(bad, "step");
  bad = good;
  bad.step = -1.0;
  refuse_settings(bad, "step");
  bad = good;
  bad.step = (double)NAN;
  refuse_settings(bad, "step");
  bad = good;
  bad.step = 1e-300;
  refuse_settings(bad, "step");
  bad = good;
  bad.step = good.end * 1.01;
  refuse_settings(bad, "step must not be longer than end");
  bad.variable = 1; /* which choose the steps */
  assert_int_equal(pol_settings_validate(&bad, NULL, 0), POL_OK);
  bad = good;
  bad.end = 0.0;
  refuse_settings(bad, "end");
  bad = good;
  bad.end = (double)INFINITY;
  refuse_settings(bad, "end");
  bad = good;
  bad.formulation = (pol_formulation_kind)99;
  refuse_settings(bad, "formulation");
  bad = good;
  bad.options.newton.max_iterations = 0;
  refuse_settings(bad, "iterations");
  bad = good;
  bad.output.step = -1.0;
  refuse_settings(bad, "output.step must not be negative");
  bad.output.step = 1e-300;
  refuse_settings(bad, "output.step must not be so small");
  const double falling[2] = {0.5, 0.4}, late[1] = {good.end + 1.0};
  bad.output = (pol_output){.step = 0.1, .count = 2, .times = falling};
  refuse_settings(bad, "output must have a step or a list of times");
  bad.output.step = 0.0;
  refuse_settings(bad, "output.times must ascend");
  bad.output = (pol_output){.count = 1, .times = late};
  refuse_settings(bad, "output.times must ascend from above 0 to end at most");
}

/* What only shows with the mechanism or with the formulation is refused with the reason. */
static void settings_must_fit_each_other(void **state)
{
  (void)state;
  static const struct {
    const char *method;
    pol_formulation_kind formulation;
    double sigma;
    pol_start start;
    const char *words;
  } cases[] = {
      {"geom2", POL_ROTATION_VECTOR, 0.0, POL_START_DEFAULT, "rotation-vector"},
      {"geom1", POL_ROTATION_VECTOR, 1.0, POL_START_DEFAULT, "rotation-vector"},
      {"geom1", POL_SO3XR3_CAYLEY, 1.0, POL_START_DEFAULT, "Cayley"},
  };
  pol_body body = heavy_top_body();
  pol_mechanism *mechanism;
  pol_simulation *simulation;
  pol_diagnostics d;
  assert_int_equal(heavy_top_create(&mechanism, &body), POL_OK);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    pol_settings settings = pol_settings_default();
    settings.options.method = cases[i].method;
    settings.options.sigma = cases[i].sigma;
    settings.options.start = cases[i].start;
    settings.formulation = cases[i].formulation;
    assert_int_equal(pol_settings_validate(&settings, NULL, 0), POL_OK);
    assert_int_equal(pol_simulation_create(&simulation, mechanism, &settings, &d),
                     POL_BAD_ARGUMENT);
    assert_null(simulation);
    assert_non_null(strstr(d.message, cases[i].words));
  }
  pol_mechanism_free(&mechanism);
}

static void the_mechanism_must_fit_the_formulation(void **state)
{
  (void)state;
  pol_settings settings = pol_settings_default();
  pol_body body = heavy_top_body();
  pol_mechanism *mechanism;
  pol_simulation *simulation;
  pol_diagnostics d;
  const double quarter_turn[3] = {0.0, 1.5707963267948966, 0.0};
  pol_so3_exp(quarter_turn, body.rotation);
  assert_int_equal(pol_mechanism_create(&mechanism), POL_OK);
  assert_int_equal(pol_mechanism_add_body(mechanism, &body, NULL), POL_OK);
  settings.formulation = POL_SO3_PIVOT;
  assert_int_equal(pol_simulation_create(&simulation, mechanism, &settings, &d), POL_BAD_ARGUMENT);
  assert_non_null(strstr(d.message, "spherical joint to the ground for body 'top'"));
  settings.formulation = POL_TAIT_BRYAN;
  assert_int_equal(pol_simulation_create(&simulation, mechanism, &settings, &d), POL_BAD_ARGUMENT);
  assert_non_null(strstr(d.message, "body 'top' starts in gimbal lock"));
  pol_mechanism_free(&mechanism);
}

/* The second multiplier of the stabilized form stays that of the last good step too. */
static void the_stabilized_form_has_a_second_multiplier(void **state)
{
  (void)state;
  pol_body body = heavy_top_body();
  pol_settings settings = pol_settings_default();
  fixture f = open_simulation(&body, &settings);
  assert_null(pol_simulation_state(f.simulation)->eta);
  close_simulation(&f);

  settings.options.index = POL_INDEX_2_STABILIZED;
  f = open_simulation(&body, &settings);
  assert_non_null(pol_simulation_state(f.simulation)->eta);
  assert_int_equal(pol_simulation_step(f.simulation), POL_OK);
  assert_int_equal(pol_simulation_step(f.simulation), POL_OK);
  assert_true(length(pol_simulation_state(f.simulation)->eta) > 0.0);
  close_simulation(&f);
}

static void a_failed_step_keeps_the_last_state(void **state)
{
  (void)state;
  pol_body body = heavy_top_body();
  pol_settings settings = pol_settings_default();
  double q[7];
  settings.options.newton.max_iterations = 1; /* never enough */
  settings.options.newton.tolerance = 1e-12;
  fixture f = open_simulation(&body, &settings);
  memcpy(q, pol_simulation_state(f.simulation)->q, sizeof q);
  assert_int_equal(pol_simulation_step(f.simulation), POL_NOT_CONVERGED);

  const pol_diagnostics *d = pol_simulation_diagnostics(f.simulation);
  assert_int_equal(d->status, POL_NOT_CONVERGED);
  assert_int_equal(d->step, 1);
  assert_near(d->t, 1e-3, 1e-18);
  assert_near(d->h, 1e-3, 1e-18);
  assert_int_equal(d->iteration, 1);
  assert_true(d->residual > 1.0 || d->correction > 1.0);
  assert_true(d->where[0] != '\0' && d->message[0] != '\0' && d->advice[0] != '\0');
  assert_true(pol_simulation_state(f.simulation)->t == 0.0);
  assert_memory_equal(pol_simulation_state(f.simulation)->q, q, sizeof q);
  assert_int_equal(pol_simulation_finished(f.simulation), 0);
  assert_int_equal(pol_simulation_summary(f.simulation)->counts.steps, 0);
  close_simulation(&f);
}

static void infinite_energy_is_refused(void **state)
{
  (void)state;
  pol_mechanism *mechanism;
  pol_simulation *simulation;
  pol_diagnostics d;
  pol_settings settings = pol_settings_default();
  pol_body body = heavy_top_body();
  body.velocity[0] = 1e200; /* its square is no double */
  body.given = POL_GIVEN_VELOCITY;
  memset(body.angular_velocity, 0, sizeof body.angular_velocity);
  assert_int_equal(pol_mechanism_create(&mechanism), POL_OK);
  assert_int_equal(pol_mechanism_add_body(mechanism, &body, NULL), POL_OK);
  assert_int_equal(pol_simulation_create(&simulation, mechanism, &settings, &d), POL_NOT_FINITE);
  assert_null(simulation);
  assert_int_equal(d.status, POL_NOT_FINITE);
  assert_int_equal(d.step, 0);
  assert_non_null(strstr(d.message, "not finite"));
  assert_int_equal(pol_simulation_create(&simulation, mechanism, &settings, NULL), POL_NOT_FINITE);
  pol_mechanism_free(&mechanism);
}

/* A body that leaves the range of doubles in its second step. */
static void a_position_beyond_all_numbers_stops_the_run(void **state)
{
  (void)state;
  pol_mechanism *mechanism;
  pol_simulation *simulation;
  pol_settings settings = pol_settings_default();
  pol_body body = heavy_top_body();
  memset(body.angular_velocity, 0, sizeof body.angular_velocity);
  body.given = POL_GIVEN_VELOCITY;
  body.velocity[0] = 1e153;
  body.position[0] = DBL_MAX - 1.5e306;
  settings.step = 1e153;
  settings.end = 1e154;
  assert_int_equal(pol_mechanism_create(&mechanism), POL_OK);
  assert_int_equal(pol_mechanism_add_body(mechanism, &body, NULL), POL_OK);
  assert_int_equal(pol_simulation_create(&simulation, mechanism, &settings, NULL), POL_OK);
  assert_int_equal(pol_simulation_step(simulation), POL_OK);
  assert_int_equal(pol_simulation_step(simulation), POL_NOT_FINITE);

  const pol_diagnostics *d = pol_simulation_diagnostics(simulation);
  assert_int_equal(d->status, POL_NOT_FINITE);
  assert_int_equal(d->step, 2);
  assert_true(d->t == 2e153 && d->h == 1e153);
  assert_string_equal(d->message, "a position or rotation is not finite");
  assert_non_null(strstr(d->where, "'top'"));
  assert_true(d->advice[0] != '\0');

  /* The state is that of the first step. */
  assert_true(pol_simulation_state(simulation)->t == 1e153);
  assert_true(isfinite(body_now(simulation).position[0]));
  assert_true(pol_simulation_summary(simulation)->t == 1e153);
  pol_simulation_free(&simulation);
  pol_mechanism_free(&mechanism);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(equal_steps_when_the_end_is_a_multiple),
      cmocka_unit_test(shortened_last_step_otherwise),
      cmocka_unit_test(time_is_counted_not_summed),
      cmocka_unit_test(summary_follows_the_solution),
      cmocka_unit_test(consistent_values_do_not_move),
      cmocka_unit_test(a_missing_velocity_is_completed_and_not_counted),
      cmocka_unit_test(moves_are_measured),
      cmocka_unit_test(settings_are_checked),
      cmocka_unit_test(settings_must_fit_each_other),
      cmocka_unit_test(the_mechanism_must_fit_the_formulation),
      cmocka_unit_test(the_stabilized_form_has_a_second_multiplier),
      cmocka_unit_test(a_failed_step_keeps_the_last_state),
      cmocka_unit_test(infinite_energy_is_refused),
      cmocka_unit_test(a_position_beyond_all_numbers_stops_the_run),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
