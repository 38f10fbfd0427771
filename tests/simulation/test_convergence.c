/* Convergence studies: fitted orders, trajectories between their times, and the errors of the heavy
 * top and of pendulums against independent solutions and fine runs.
 */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include <polhode/model.h>

#include "heavy_top_reference.h"
#include "simulation/comparison.h"
#include "simulation/heavy_top.h"

/* --- orders ----------------------------------------------------------------------------------- */

/* Sizes 1, 1/2, 1/4, ... */
static void halve(double *h, int count)
{
  for (int i = 0; i < count; i++) h[i] = ldexp(1.0, -i);
}

static void orders_of_straight_lines(void **state)
{
  (void)state;
  double h[6], error[6], between[6];
  halve(h, 6);
  for (int p = 1; p <= 4; p++) {
    for (int i = 0; i < 6; i++) error[i] = 3e-3 * pow(h[i], p);
    const pol_order fit = pol_order_fit(6, h, error, between);
    assert_int_equal(fit.verdict, POL_ORDER_FITTED);
    assert_near(&fit.order, (double[]){p}, 1, 1e-12);
    assert_int_equal(fit.first, 0);
    assert_int_equal(fit.last, 5);
    assert_int_equal(fit.floor, -1);
    assert_true(isnan(between[0]));
    for (int i = 1; i < 6; i++) assert_near(&between[i], (double[]){p}, 1, 1e-12);
  }
  /* a point that is missing is passed over */
  error[2] = (double)NAN, error[3] = 0.0;
  const pol_order fit = pol_order_fit(6, h, error, between);
  assert_int_equal(fit.verdict, POL_ORDER_FITTED);
  assert_near(&fit.order, (double[]){4.0}, 1, 1e-12);
  assert_near(&between[4], (double[]){4.0}, 1, 1e-12);
  assert_true(isnan(between[2]) && isnan(between[3]));
}

static void bent_lines_are_told(void **state)
{
  (void)state;
  double h[6], error[6];
  halve(h, 6);
  /* two coarse points that are not asymptotic, three of order 2, one at the floor */
  const double bent[6] = {5.0, 1e-1, 1e-2, 2.5e-3, 6.3e-4, 6e-4};
  pol_order fit = pol_order_fit(6, h, bent, NULL);
  assert_int_equal(fit.verdict, POL_ORDER_FITTED);
  assert_near(&fit.order, (double[]){2.0}, 1, 0.01);
  assert_int_equal(fit.first, 2);
  assert_int_equal(fit.last, 4);
  assert_int_equal(fit.floor, 5);
  /* at the floor from the start */
  for (int i = 0; i < 6; i++) error[i] = 1e-15 * (1.0 + 0.3 * sin(i));
  fit = pol_order_fit(6, h, error, NULL);
  assert_int_equal(fit.verdict, POL_ORDER_FLOOR);
  assert_true(isnan(fit.order));
  assert_int_equal(fit.floor, 0);
  /* falls, but not in a line: the order of the finest two */
  fit = pol_order_fit(3, h, (double[]){1.0, 0.5, 0.05}, NULL);
  assert_int_equal(fit.verdict, POL_ORDER_NOT_ASYMPTOTIC);
  assert_near(&fit.order, (double[]){log2(10.0)}, 1, 1e-12);
  /* few points */
  fit = pol_order_fit(2, h, (double[]){1.0, 0.125}, NULL);
  assert_int_equal(fit.verdict, POL_ORDER_TWO_POINTS);
  assert_near(&fit.order, (double[]){3.0}, 1, 1e-12);
  fit = pol_order_fit(1, h, error, NULL);
  assert_int_equal(fit.verdict, POL_ORDER_UNKNOWN);
  assert_int_equal(pol_order_fit(0, h, error, NULL).verdict, POL_ORDER_UNKNOWN);
}

/* --- trajectories ----------------------------------------------------------------------------- */

/* A body that turns about a fixed axis by sin(t) and moves along x by cos(t); noted at t = d n. */
static pol_trajectory *swinging(double d, long rows)
{
  static const char *const names[] = {
      "b.position.x",         "b.velocity.x",         "b.quaternion.w",
      "b.quaternion.x",       "b.quaternion.y",       "b.quaternion.z",
      "b.angular_velocity.x", "b.angular_velocity.y", "b.angular_velocity.z"};
  static const double axis[3] = {0.6, 0.0, 0.8};
  pol_trajectory *trajectory;
  assert_int_equal(pol_trajectory_create(&trajectory, rows, 9, names), POL_OK);
  for (long n = 0; n < rows; n++) {
    const double t = d * (double)n, w[3] = {axis[0] * sin(t), axis[1], axis[2] * sin(t)};
    double q[4];
    pol_so3_exp(w, q);
    pol_trajectory_times(trajectory)[n] = t;
    pol_trajectory_series(trajectory, 0)[n] = cos(t);
    pol_trajectory_series(trajectory, 1)[n] = -sin(t);
    for (int i = 0; i < 4; i++) pol_trajectory_series(trajectory, 2 + i)[n] = q[i];
    for (int i = 0; i < 3; i++) pol_trajectory_series(trajectory, 6 + i)[n] = axis[i] * cos(t);
  }
  return trajectory;
}

/* Largest error between the times of position, rotation and of both without rates. */
static void interpolation_errors(double d, double errors[4])
{
  const long rows = lround(2.0 / d) + 1;
  pol_trajectory *trajectory = swinging(d, rows);
  const poli_trajectory_vector vectors[4] = {
      {.count = 1, .channel = {0}, .slope = {1}},
      {.count = 4, .channel = {2, 3, 4, 5}, .slope = {6, 7, 8}, .is_quaternion = 1},
      {.count = 1, .channel = {0}, .slope = {-1}},
      {.count = 4, .channel = {2, 3, 4, 5}, .slope = {-1, -1, -1}, .is_quaternion = 1}};
  for (int k = 0; k < 4; k++) errors[k] = 0.0;
  for (double t = 0.0; t < 2.0; t += 0.37 * d) {
    const double w[3] = {0.6 * sin(t), 0.0, 0.8 * sin(t)};
    double q[4], x[4];
    pol_so3_exp(w, q);
    for (int k = 0; k < 4; k++) {
      poli_trajectory_interpolate(trajectory, &vectors[k], t, x);
      if (k % 2 == 0) errors[k] = fmax(errors[k], fabs(x[0] - cos(t)));
      for (int i = 0; i < 4 && k % 2 == 1; i++) errors[k] = fmax(errors[k], fabs(x[i] - q[i]));
    }
  }
  pol_trajectory_free(&trajectory);
}

static void interpolation_is_of_fourth_order(void **state)
{
  (void)state;
  double coarse[4], fine[4];
  interpolation_errors(0.1, coarse);
  interpolation_errors(0.05, fine);
  for (int k = 0; k < 4; k++) {
    const double order = log2(coarse[k] / fine[k]);
    if (fabs(order - 4.0) > 0.25) fail_msg("vector %d: order %.2f", k, order);
  }
  assert_true(fine[0] < 0.05 * 0.05 * 0.05 * 0.05 / 384.0 * 1.01);
}

static void trajectories_find_names_and_times(void **state)
{
  (void)state;
  pol_trajectory *trajectory = swinging(0.1, 3);
  assert_int_equal(pol_trajectory_rows(trajectory), 3);
  assert_int_equal(pol_trajectory_count(trajectory), 9);
  assert_string_equal(pol_trajectory_name(trajectory, 1), "b.velocity.x");
  assert_int_equal(pol_trajectory_find(trajectory, "b.quaternion.z"), 5);
  assert_int_equal(pol_trajectory_find(trajectory, "b.quaternion"), -1);
  assert_int_equal(poli_trajectory_row_at(trajectory, 0.1 + 1e-12, 1e-9), 1);
  assert_int_equal(poli_trajectory_row_at(trajectory, 0.1 - 1e-12, 1e-9), 1);
  assert_int_equal(poli_trajectory_row_at(trajectory, 0.1 + 1e-8, 1e-9), -1);
  assert_int_equal(poli_trajectory_row_at(trajectory, 0.2, 1e-9), 2);
  assert_int_equal(poli_trajectory_row_at(trajectory, 0.2 - 1e-12, 1e-9), 2);
  assert_int_equal(poli_trajectory_row_at(trajectory, 0.2 + 1e-12, 1e-9), 2);
  pol_trajectory_free(&trajectory);
  assert_null(trajectory);
  assert_int_equal(pol_trajectory_create(&trajectory, 0, 0, NULL), POL_BAD_ARGUMENT);
}

/* --- the heavy top against its independent solution ------------------------------------------- */

static const char *const top_names[] = {"top.position.x",
                                        "top.position.y",
                                        "top.position.z",
                                        "top.quaternion.w",
                                        "top.quaternion.x",
                                        "top.quaternion.y",
                                        "top.quaternion.z",
                                        "top.velocity.x",
                                        "top.velocity.y",
                                        "top.velocity.z",
                                        "top.angular_velocity.x",
                                        "top.angular_velocity.y",
                                        "top.angular_velocity.z",
                                        "tip.force.x",
                                        "tip.force.y",
                                        "tip.force.z"};
enum { TOP_NAMES = sizeof top_names / sizeof top_names[0] };

/* The grid of the independent solution with all its quantities. */
static pol_trajectory *top_trajectory(void)
{
  pol_trajectory *trajectory;
  assert_int_equal(read_reference(POLHODE_SOURCE_DIR "/papers/data/heavy_top_grid.csv"), 0);
  assert_int_equal(pol_trajectory_create(&trajectory, GRID, TOP_NAMES, top_names), POL_OK);
  for (int n = 0; n < GRID; n++) {
    double q[7], v[6], lambda[3], R[9], values[TOP_NAMES];
    exact(n, q, v, lambda);
    pol_quat_to_matrix(q, R);
    memcpy(values, q + 4, 3 * sizeof *q);
    memcpy(values + 3, q, 4 * sizeof *q);
    memcpy(values + 10, v, 3 * sizeof *v);
    for (int i = 0; i < 3; i++) {
      values[7 + i] = R[3 * i] * v[3] + R[3 * i + 1] * v[4] + R[3 * i + 2] * v[5];
      values[13 + i] =
          -(R[3 * i] * lambda[0] + R[3 * i + 1] * lambda[1] + R[3 * i + 2] * lambda[2]);
    }
    pol_trajectory_times(trajectory)[n] = grid[n][0];
    for (int k = 0; k < TOP_NAMES; k++) pol_trajectory_series(trajectory, k)[n] = values[k];
  }
  return trajectory;
}

/* A study of the heavy top in index 3 with these steps; the caller frees the mechanism. */
static pol_study top_study(pol_mechanism **mechanism, pol_case *cases, const double *steps,
                           int count)
{
  const pol_body body = heavy_top_body();
  pol_study study = pol_study_default();
  assert_int_equal(heavy_top_create(mechanism, &body), POL_OK);
  for (int i = 0; i < count; i++) {
    cases[i] = (pol_case){.settings = pol_settings_default()};
    cases[i].settings.step = steps[i];
    cases[i].settings.end = 1.0;
  }
  study.mechanism = *mechanism;
  study.cases = cases;
  study.num_cases = count;
  return study;
}

static void expect_order(const pol_case *cases, int count, int kind, double order, double tolerance)
{
  double h[8], error[8];
  for (int i = 0; i < count; i++) {
    assert_int_equal(cases[i].status, POL_OK);
    h[i] = cases[i].settings.step;
    error[i] = cases[i].max_error[kind];
    assert_true(cases[i].end_error[kind] <= error[i]);
  }
  const pol_order fit = pol_order_fit(count, h, error, NULL);
  assert_int_equal(fit.verdict, POL_ORDER_FITTED);
  if (!(fabs(fit.order - order) <= tolerance))
    fail_msg("%s: order %.3f", pol_error_kind_name((pol_error_kind)kind), fit.order);
}

/* The position error at h = 1e-3 as the tests of the integrators measure it. */
static double position_error(const pol_mechanism *mechanism, const pol_settings *settings)
{
  pol_simulation *simulation;
  top_errors e = {0};
  double lambda[3];
  assert_int_equal(pol_simulation_create(&simulation, mechanism, settings, NULL), POL_OK);
  while (!pol_simulation_finished(simulation)) {
    assert_int_equal(pol_simulation_step(simulation), POL_OK);
    add_errors(pol_simulation_formulation(simulation), 0, pol_simulation_state(simulation), &e,
               lambda);
  }
  pol_simulation_free(&simulation);
  return e.x;
}

static void heavy_top_is_of_second_order(void **state)
{
  (void)state;
  static const double steps[] = {2e-3, 1e-3, 5e-4};
  pol_trajectory *trajectory = top_trajectory();
  pol_mechanism *mechanism;
  pol_case cases[3];
  pol_study study = top_study(&mechanism, cases, steps, 3);
  study.reference = trajectory;
  study.max_times = 3000;
  study.num_channels[POL_ERROR_POSITION] = 7; /* of an earlier run: is overwritten */
  assert_int_equal(pol_study_run(&study, NULL), POL_OK);
  assert_int_equal(study.reference_rows, GRID);
  static const int channels[POL_NUM_ERROR_KINDS] = {3, 4, 3, 3, 3, 0};
  assert_memory_equal(study.num_channels, channels, sizeof channels);
  for (int k = 0; k <= POL_ERROR_REACTION; k++) expect_order(cases, 3, k, 2.0, 0.1);
  for (int i = 0; i < 3; i++) {
    assert_true(isnan(cases[i].max_error[POL_ERROR_OTHER]));
    assert_int_equal(cases[i].interpolated, 0);
    assert_int_equal(cases[i].num_times, lround(1.0 / steps[i]));
    assert_int_equal(cases[i].counts.steps, lround(1.0 / steps[i]));
    assert_true(isnan(cases[i].wall_seconds));
  }
  const double direct = position_error(mechanism, &cases[1].settings);
  assert_near(&cases[1].max_error[POL_ERROR_POSITION], &direct, 1, 1e-12);
  pol_mechanism_free(&mechanism);
  pol_trajectory_free(&trajectory);
}

/* Steps whose times are not in the reference: it is interpolated, and the errors are on the same
 * line as those of other steps. */
static void reference_is_interpolated(void **state)
{
  (void)state;
  static const double steps[] = {1e-3, 1.0 / 1402.0, 1.0 / 1999.0};
  pol_trajectory *trajectory = top_trajectory();
  pol_mechanism *mechanism;
  pol_case cases[3];
  pol_study study = top_study(&mechanism, cases, steps, 3);
  study.reference = trajectory;
  assert_int_equal(pol_study_run(&study, NULL), POL_OK);
  assert_int_equal(cases[0].interpolated, 0);
  assert_int_equal(cases[1].interpolated, 1);
  assert_int_equal(cases[1].num_times, 701); /* every second, at most 1000 */
  assert_int_equal(cases[2].num_times, 1000);
  for (int k = 0; k <= POL_ERROR_REACTION; k++) expect_order(cases, 3, k, 2.0, 0.1);
  pol_mechanism_free(&mechanism);
  pol_trajectory_free(&trajectory);
}

/* Variable steps stop at the times of the reference, and smaller tolerances give smaller errors. */
static void variable_steps_are_compared(void **state)
{
  (void)state;
  static const double tolerances[] = {1e-4, 1e-5, 1e-6};
  pol_trajectory *trajectory = top_trajectory();
  pol_mechanism *mechanism;
  pol_case cases[3];
  pol_study study = top_study(&mechanism, cases, tolerances, 3);
  study.reference = trajectory;
  study.repeats = 2;
  for (int i = 0; i < 3; i++) {
    pol_control *control = &cases[i].settings.options.control;
    cases[i].settings.variable = 1;
    control->rtol = control->atol_translation = control->atol_rotation = tolerances[i];
  }
  assert_int_equal(pol_study_run(&study, NULL), POL_OK);
  for (int i = 0; i < 3; i++) {
    assert_int_equal(cases[i].status, POL_OK);
    assert_int_equal(cases[i].num_times, GRID - 1);
    assert_true(cases[i].wall_seconds > 0.0);
    assert_true(i == 0 || cases[i].max_error[POL_ERROR_POSITION] <
                              0.5 * cases[i - 1].max_error[POL_ERROR_POSITION]);
  }
  pol_mechanism_free(&mechanism);
  pol_trajectory_free(&trajectory);
}

/* --- fine runs -------------------------------------------------------------------------------- */

/* Only the end time of the heavy top differs, to save time. */
static pol_study short_study(pol_mechanism **mechanism, pol_case *cases, int count,
                             pol_settings *fine)
{
  static const double steps[] = {2e-3, 1e-3, 5e-4, 2e-3};
  pol_study study = top_study(mechanism, cases, steps, count);
  for (int i = 0; i < count; i++) cases[i].settings.end = 0.1;
  *fine = cases[0].settings;
  fine->step = 6.25e-5;
  study.reference_run = fine;
  return study;
}

static void fine_runs_give_the_same_orders(void **state)
{
  (void)state;
  pol_mechanism *mechanism;
  pol_case cases[3];
  pol_settings fine;
  pol_study study = short_study(&mechanism, cases, 3, &fine);
  assert_int_equal(pol_study_run(&study, NULL), POL_OK);
  assert_int_equal(study.reference_rows, 201);
  assert_int_equal(study.reference_counts.steps, 1600);
  for (int k = 0; k <= POL_ERROR_REACTION; k++) expect_order(cases, 3, k, 2.0, 0.1);
  assert_int_equal(cases[0].num_times, 50);
  pol_mechanism_free(&mechanism);
}

static void results_do_not_depend_on_jobs(void **state)
{
  (void)state;
  pol_case first[4], cases[4];
  for (int jobs = 1; jobs <= 4; jobs++) {
    pol_mechanism *mechanism;
    pol_settings fine;
    pol_study study = short_study(&mechanism, cases, 4, &fine);
    cases[3].settings.formulation = POL_SE3_BODY;
    study.jobs = jobs;
    assert_int_equal(pol_study_run(&study, NULL), POL_OK);
    if (jobs == 1) memcpy(first, cases, sizeof cases);
    for (int i = 0; i < 4; i++) {
      const size_t kinds = POL_ERROR_REACTION + 1;
      assert_int_equal(cases[i].done, 1);
      assert_memory_equal(cases[i].max_error, first[i].max_error, kinds * sizeof(double));
      assert_memory_equal(cases[i].end_error, first[i].end_error, kinds * sizeof(double));
      assert_int_equal(cases[i].counts.residuals, first[i].counts.residuals);
    }
    pol_mechanism_free(&mechanism);
  }
  assert_true(first[0].max_error[0] != first[3].max_error[0]);
}

static void failures_stay_in_their_case(void **state)
{
  (void)state;
  pol_mechanism *mechanism;
  pol_case cases[3];
  pol_settings fine;
  pol_study study = short_study(&mechanism, cases, 3, &fine);
  cases[0].settings.options.newton.max_iterations = 1;
  cases[1].settings.options.method = "em"; /* needs directors */
  study.jobs = 2;
  study.repeats = 1;
  assert_int_equal(pol_study_run(&study, NULL), POL_OK);
  assert_int_equal(cases[0].status, POL_NOT_CONVERGED);
  assert_int_equal(cases[0].failure.status, POL_NOT_CONVERGED);
  assert_true(cases[0].failure.t > 0.0 && cases[0].failure.message[0] != '\0');
  assert_int_equal(cases[1].status, POL_BAD_ARGUMENT);
  assert_non_null(strstr(cases[1].failure.message, "vector space"));
  for (int i = 0; i < 2; i++) {
    assert_int_equal(cases[i].done, 1);
    for (int k = 0; k < POL_NUM_ERROR_KINDS; k++) assert_true(isnan(cases[i].max_error[k]));
  }
  assert_int_equal(cases[2].status, POL_OK);
  assert_true(cases[2].max_error[POL_ERROR_POSITION] > 0.0);
  assert_true(cases[2].wall_seconds > 0.0);
  pol_mechanism_free(&mechanism);
}

/* Wants the force of the joint alone. */
static int is_force(const pol_channel *channel, void *user)
{
  ++*(int *)user;
  return strncmp(channel->name, "tip.force.", 10) == 0;
}

static void chosen_quantities_are_compared(void **state)
{
  (void)state;
  pol_mechanism *mechanism;
  pol_case cases[1];
  pol_settings fine;
  int calls = 0;
  pol_study study = short_study(&mechanism, cases, 1, &fine);
  study.compares = is_force;
  study.user = &calls;
  assert_int_equal(pol_study_run(&study, NULL), POL_OK);
  assert_true(calls > 0);
  for (int k = 0; k < POL_NUM_ERROR_KINDS; k++) {
    assert_int_equal(study.num_channels[k], k == POL_ERROR_REACTION ? 3 : 0);
    assert_int_equal(!isnan(cases[0].max_error[k]), k == POL_ERROR_REACTION);
  }
  pol_mechanism_free(&mechanism);
}

static int is_energy(const pol_channel *channel, void *user)
{
  (void)user;
  return strcmp(channel->name, "energy.kinetic") == 0 ||
         strcmp(channel->name, "energy.potential") == 0;
}

/* Neighbours of one unit that are no vector are compared each by itself: a mass that falls, and a
 * reference with 10 % more kinetic and 5 % more potential energy. */
static void scalars_are_compared_one_by_one(void **state)
{
  (void)state;
  static const char *const names[] = {"energy.kinetic", "energy.potential"};
  const double g = 10.0, energy = 0.5 * g * g;
  pol_mechanism *mechanism;
  pol_trajectory *reference;
  pol_case cases[1] = {{.settings = pol_settings_default()}};
  pol_study study = pol_study_default();
  const pol_body body = {.name = "mass", .mass = 1.0, .point = 1};
  assert_int_equal(pol_mechanism_create(&mechanism), POL_OK);
  assert_int_equal(pol_mechanism_add_body(mechanism, &body, NULL), POL_OK);
  pol_mechanism_set_gravity(mechanism, (const double[3]){0.0, 0.0, -g});
  assert_int_equal(pol_trajectory_create(&reference, 2, 2, names), POL_OK);
  pol_trajectory_times(reference)[1] = 1.0;
  pol_trajectory_series(reference, 0)[1] = 1.1 * energy;
  pol_trajectory_series(reference, 1)[1] = -1.05 * energy;
  cases[0].settings.step = 0.1;
  cases[0].settings.end = 1.0;
  study.mechanism = mechanism, study.cases = cases, study.num_cases = 1;
  study.reference = reference, study.compares = is_energy;
  assert_int_equal(pol_study_run(&study, NULL), POL_OK);
  assert_int_equal(study.num_channels[POL_ERROR_OTHER], 2);
  assert_near(&cases[0].end_error[POL_ERROR_OTHER], &(double){0.1 / 1.1}, 1, 1e-9);
  pol_trajectory_free(&reference);
  pol_mechanism_free(&mechanism);
}

/* Notes the shares, which rise, and asks to stop at a half. */
static int stop_at_half(double share, void *user)
{
  double *last = user;
  assert_true(share >= *last && share <= 1.0);
  *last = share;
  return share > 0.5;
}

static void progress_can_stop_a_study(void **state)
{
  (void)state;
  pol_mechanism *mechanism;
  pol_case cases[3];
  pol_settings fine;
  double last = 0.0;
  pol_study study = short_study(&mechanism, cases, 3, &fine);
  study.progress = stop_at_half;
  study.user = &last;
  study.compares = pol_study_compares_by_default;
  assert_int_equal(pol_study_run(&study, NULL), POL_OK);
  assert_int_equal(study.stopped, 1);
  assert_true(last > 0.5 && last < 0.6);
  for (int i = 0; i < 3; i++) assert_int_equal(cases[i].done, 0);
  pol_mechanism_free(&mechanism);
}

static void expect_refusal(pol_study *study, const char *message)
{
  pol_diagnostics diagnostics;
  assert_int_equal(pol_study_run(study, &diagnostics), POL_BAD_ARGUMENT);
  assert_int_equal(diagnostics.status, POL_BAD_ARGUMENT);
  if (strstr(diagnostics.message, message) == NULL) fail_msg("%s", diagnostics.message);
}

static void wrong_studies_are_refused(void **state)
{
  (void)state;
  static const char *const names[] = {"other.position.x"};
  pol_mechanism *mechanism;
  pol_case cases[2];
  pol_settings fine;
  pol_trajectory *trajectory;
  pol_study study = short_study(&mechanism, cases, 2, &fine), good = study;
  assert_int_equal(pol_trajectory_create(&trajectory, 3, 1, names), POL_OK);
  double *t = pol_trajectory_times(trajectory);
  study.num_cases = 0;
  expect_refusal(&study, "needs a case");
  study = good, study.jobs = 0;
  expect_refusal(&study, "jobs must be");
  study = good, study.reference_run = NULL;
  expect_refusal(&study, "either a reference or a reference run");
  fine.end = 0.2;
  study = good;
  expect_refusal(&study, "end time of the cases");
  fine.end = 0.1;
  cases[1].settings.end = 0.2;
  expect_refusal(&study, "the same end time");
  cases[1].settings.end = 0.1;
  cases[1].settings.step = 0.0;
  expect_refusal(&study, "must be positive");
  cases[1].settings.step = 1e-3;
  fine.options.method = "em";
  expect_refusal(&study, "vector space");
  study = good, study.reference_run = NULL, study.reference = trajectory;
  t[1] = 0.01, t[2] = 0.02;
  expect_refusal(&study, "the reference ends at t = 0.02 s, before the end of the runs at 0.1 s");
  t[1] = 0.2, t[2] = 0.1;
  expect_refusal(&study, "do not rise");
  t[1] = 0.05;
  expect_refusal(&study, "none of the quantities");
  pol_trajectory_free(&trajectory);
  pol_mechanism_free(&mechanism);
}

/* --- a pendulum ------------------------------------------------------------------------------- */

/* The pendulum of Arnold/Cardona/Bruels 2015 at every tenth of a second, from an independent
 * solution: its position and velocity. */
static pol_trajectory *pendulum_trajectory(void)
{
  static const char *const names[] = {"bob.position.x", "bob.position.y", "bob.velocity.x",
                                      "bob.velocity.y"};
  pol_trajectory *trajectory;
  char line[256];
  long n = 0;
  FILE *file = fopen(POLHODE_SOURCE_DIR "/tests/data/pendulum.csv", "r");
  assert_non_null(file);
  assert_int_equal(pol_trajectory_create(&trajectory, 20, 4, names), POL_OK);
  while (fgets(line, sizeof line, file) != NULL) {
    double which, t, x[4];
    if (sscanf(line, "%lf,%lf,%lf,%lf,%lf,%lf", &which, &t, x, x + 1, x + 2, x + 3) != 6 ||
        which != 0.2)
      continue;
    assert_true(n < 20);
    pol_trajectory_times(trajectory)[n] = t;
    for (int k = 0; k < 4; k++) pol_trajectory_series(trajectory, k)[n] = x[k];
    n++;
  }
  fclose(file);
  assert_int_equal(n, 20);
  return trajectory;
}

static void pendulum_is_of_second_order(void **state)
{
  (void)state;
  pol_errors errors = {0};
  pol_model *model;
  pol_case cases[4];
  pol_study study = pol_study_default();
  pol_trajectory *trajectory = pendulum_trajectory();
  assert_int_equal(pol_model_read_file(&model,
                                       POLHODE_SOURCE_DIR
                                       "/models/arnold-cardona-bruels-2015/pendulum.json",
                                       0, NULL, &errors),
                   POL_OK);
  for (int i = 0; i < 4; i++) {
    cases[i] = (pol_case){.settings = model->settings};
    cases[i].settings.step = ldexp(0.02, -i);
  }
  study.mechanism = model->mechanism;
  study.cases = cases;
  study.num_cases = 4;
  study.reference = trajectory;
  assert_int_equal(pol_study_run(&study, NULL), POL_OK);
  expect_order(cases, 4, POL_ERROR_POSITION, 2.0, 0.05);
  expect_order(cases, 4, POL_ERROR_VELOCITY, 2.0, 0.05);
  for (int i = 0; i < 4; i++) assert_int_equal(cases[i].num_times, 20);
  assert_int_equal(study.num_channels[POL_ERROR_POSITION], 2);
  assert_int_equal(study.num_channels[POL_ERROR_ROTATION], 0);
  pol_model_free(&model);
  pol_trajectory_free(&trajectory);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(orders_of_straight_lines),
      cmocka_unit_test(bent_lines_are_told),
      cmocka_unit_test(interpolation_is_of_fourth_order),
      cmocka_unit_test(trajectories_find_names_and_times),
      cmocka_unit_test(heavy_top_is_of_second_order),
      cmocka_unit_test(reference_is_interpolated),
      cmocka_unit_test(variable_steps_are_compared),
      cmocka_unit_test(fine_runs_give_the_same_orders),
      cmocka_unit_test(results_do_not_depend_on_jobs),
      cmocka_unit_test(failures_stay_in_their_case),
      cmocka_unit_test(chosen_quantities_are_compared),
      cmocka_unit_test(scalars_are_compared_one_by_one),
      cmocka_unit_test(progress_can_stop_a_study),
      cmocka_unit_test(wrong_studies_are_refused),
      cmocka_unit_test(pendulum_is_of_second_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
