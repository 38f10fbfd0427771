/* Simulations with steps of variable size: error and tolerance on model files, output times,
 * events, what is left after a failure. */
#include <stdio.h>
#include <string.h>

#include "simulation/simulate.h"

#define MODELS POLHODE_SOURCE_DIR "/models/"

static pol_body_state body_of(const pol_simulation *simulation, int body)
{
  const pol_state *state = pol_simulation_state(simulation);
  pol_body_state result;
  pol_formulation_body_state(pol_simulation_formulation(simulation), state->q, state->v, body,
                             &result);
  return result;
}

/* --- error and tolerance ---------------------------------------------------------------------- */

enum { FIRST = 3, LAST = 8 }; /* eps = 1e-FIRST .. 1e-LAST */

/* error falls with eps, from 1e-from to the last like eps^slope. */
static void assert_proportional(const double error[LAST + 1], int from, double slope,
                                double tolerance)
{
  for (int e = FIRST + 1; e <= LAST; e++)
    if (!(error[e] < error[e - 1]))
      fail_msg("%.3e at 1e-%d, but %.3e at 1e-%d", error[e], e, error[e - 1], e - 1);
  double measured = log10(error[from] / error[LAST]) / (LAST - from);
  if (!(fabs(measured - slope) <= tolerance))
    fail_msg("slope %.3f instead of %.3f", measured, slope);
}

/* The centres of mass of crank, connecting rod and slider for a crank angle and a slider position,
 * which belong together: the whole configuration. */
static void slider_crank_centres(double angle, double slider, double x[9])
{
  const double A[3] = {0.0, 0.1, 0.12}, length = 0.08;
  const double B[3] = {0.0, A[1] - length * sin(angle), A[2] + length * cos(angle)};
  for (int i = 0; i < 3; i++) {
    double C = i == 0 ? slider : 0.0;
    x[i] = 0.5 * (A[i] + B[i]);
    x[3 + i] = 0.5 * (B[i] + C);
    x[6 + i] = C;
  }
}

/* Largest error of the state, positions in m and velocities in m/s, at t = 0.5, 1, ..., 5:
 * independent high-precision integration, 2026.  With one degree of freedom all errors are that of
 * the phase, which in the stabilized form changes its sign for some tolerances at some times: a
 * tolerance that is 0.1 % larger can have a third of the error.  So there the worst of five
 * neighbours counts, and three decades.  Slopes 0.75, 0.78 and 0.77 for index 3, 2 and the
 * stabilized form. */
static void the_slider_crank_follows_the_tolerance(void **state)
{
  (void)state;
  static const char *const names[] = {"crank", "rod", "slider"};
  static const double times[] = {0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0};
  static const double angle[] = {5.583762553307304, 10.913590729864667, 16.308403002238148,
                                 21.07274452277648, 26.276849042892724, 32.00832775575719,
                                 37.85193888966173, 43.60175390653571,  48.89479679874697,
                                 54.33333216831316};
  static const double slider[] = {0.18495262977780264, 0.21172166139344378, 0.25690774511629105,
                                  0.2890851970671418,  0.25655287278416383, 0.22848481369792872,
                                  0.20654178242754562, 0.18823047558156217, 0.199255496867375,
                                  0.2407195737296153};
  static const double rate[] = {14.408160810200375, 10.427593000412049, 13.1657407445655,
                                22.58424002783247,  8.639847004244498,  5.916170357808076,
                                5.556190501226614,  9.539454748310972,  10.924242872503584,
                                11.494996265042086};
  static const double speed[] = {-0.0045602906325156005, -0.5034918649250101, -0.6162318359383594,
                                 0.2165394234534353,     0.40580874014560986, 0.3106396219398338,
                                 0.25201419979030715,    0.1957260723212769,  -0.42863549109499727,
                                 -0.5959844120449362};
  pol_model *model = read_model(MODELS "holzinger-arnold-gerstmayr/slider_crank.json");
  pol_settings *settings = &model->settings;
  int bodies[3];
  for (int i = 0; i < 3; i++) bodies[i] = pol_mechanism_find_body(model->mechanism, names[i]);
  settings->variable = 1;
  settings->end = 5.0;
  settings->output = (pol_output){.count = 10, .times = times};
  settings->options.start = POL_START_DEFAULT;
  pol_options_set_rho_inf(&settings->options, 0.8);
  for (int index = POL_INDEX_3; index <= POL_INDEX_2_STABILIZED; index++) {
    double error[LAST + 1] = {0.0};
    const int stabilized = index == POL_INDEX_2_STABILIZED;
    settings->options.index = (pol_index)index;
    for (int run = 5 * FIRST; run < 5 * (LAST + 1); run++) {
      static const double factor[] = {1.0, 0.99, 0.999, 1.001, 1.01};
      const int e = run / 5;
      const double eps = factor[run % 5] * pow(10.0, -e);
      if (run % 5 > 0 && !(stabilized && e >= 5)) continue;
      pol_control *control = &settings->options.control;
      control->rtol = control->atol_translation = control->atol_rotation = eps;
      pol_simulation *simulation = start(model);
      for (int k = 0; k < 10; k++) {
        double exact[9], square = 0.0;
        take_step(simulation);
        assert_true(pol_simulation_state(simulation)->t == times[k]);
        slider_crank_centres(angle[k], slider[k], exact);
        for (int i = 0; i < 9; i++)
          square += pow(body_of(simulation, bodies[i / 3]).position[i % 3] - exact[i], 2.0);
        square += pow(body_of(simulation, bodies[2]).velocity[0] - speed[k], 2.0);
        square += pow(0.08 * (body_of(simulation, bodies[0]).angular_velocity[0] - rate[k]), 2.0);
        error[e] = fmax(error[e], sqrt(square));
      }
      assert_true(pol_simulation_finished(simulation));
      pol_simulation_free(&simulation);
    }
    assert_proportional(error, stabilized ? 5 : 6, 2.0 / 3.0, 0.16);
  }
  pol_model_free(&model);
}

/* The right bearing of the rotor at t = 0.1, with tolerances in the size of its deflection, 4e-5 m
 * and 4e-4 rad. */
static void the_rotor_follows_the_tolerance(void **state)
{
  (void)state;
  /* independent high-precision integration, 2026 */
  static const double exact[3] = {0.08999998619328531, 4.72913234371025e-06,
                                  3.6756429891595044e-05};
  pol_model *model = read_model(MODELS "holzinger-arnold-gerstmayr/rotor.json");
  pol_settings *settings = &model->settings;
  double error[LAST + 1];
  settings->variable = 1;
  settings->end = 0.1;
  settings->options.start = POL_START_DEFAULT;
  pol_options_set_rho_inf(&settings->options, 0.8);
  for (int e = FIRST; e <= LAST; e++) {
    settings->options.control.rtol = 0.0;
    settings->options.control.atol_translation = 4e-5 * pow(10.0, -e);
    settings->options.control.atol_rotation = 4e-4 * pow(10.0, -e);
    pol_simulation *simulation = start(model);
    step_to_end(simulation);
    pol_body_state rotor = body_of(simulation, 0);
    double square = 0.0;
    for (int i = 0; i < 3; i++) {
      double d = rotor.position[i] + 0.09 * rotor.rotation[3 * i] - exact[i];
      square += d * d;
    }
    error[e] = sqrt(square);
    pol_simulation_free(&simulation);
  }
  assert_proportional(error, 6, 2.0 / 3.0, 0.02);
  pol_model_free(&model);
}

/* A chain swings against a hard stop: fast for a millisecond, slow for the rest.  Variable steps
 * need less than a fifth of the evaluations that fixed ones need for a larger error. */
static void a_stop_makes_variable_steps_pay(void **state)
{
  (void)state;
  pol_model *model = read_model(MODELS "examples/chain_stop.json");
  pol_settings *settings = &model->settings;
  pol_control *control = &settings->options.control;
  int last = pol_mechanism_find_body(model->mechanism, "link 5");
  double x[3][3], error[2];
  long evaluations[3];
  for (int k = 0; k < 3; k++) { /* the reference, variable, fixed */
    pol_options_set_rho_inf(&settings->options, 0.8);
    settings->options.index = k ? POL_INDEX_2_STABILIZED : POL_INDEX_2;
    settings->variable = k < 2;
    settings->step = 2.5e-4;
    control->rtol = control->atol_translation = control->atol_rotation = k ? 1e-6 : 1e-9;
    pol_simulation *simulation = start(model);
    step_to_end(simulation);
    pol_body_state body = body_of(simulation, last);
    const pol_summary *summary = pol_simulation_summary(simulation);
    memcpy(x[k], body.position, sizeof x[k]);
    evaluations[k] = summary->counts.residuals;
    /* the stop gives back what it takes */
    assert_true(fabs(summary->energy_balance) <= 0.02 && fabs(summary->work.applied) <= 0.02);
    pol_simulation_free(&simulation);
  }
  for (int k = 0; k < 2; k++) error[k] = hypot(x[k + 1][0] - x[0][0], x[k + 1][2] - x[0][2]);
  if (!(5 * evaluations[1] < evaluations[2] && error[0] < error[1]))
    fail_msg("%ld evaluations for %.2e, fixed %ld for %.2e", evaluations[1], error[0],
             evaluations[2], error[1]);
  pol_model_free(&model);
}

/* --- output times ----------------------------------------------------------------------------- */

/* Output changes no step; its rows are on the curve; the largest values are those of the steps. */
static void output_times_change_no_step(void **state)
{
  (void)state;
  pol_model *model = read_model(MODELS "bruels-cardona-2010/heavy_top.json");
  model->settings.variable = 1;
  model->settings.end = 0.25;
  pol_simulation *plain = start(model);
  step_to_end(plain);
  model->settings.output.step = 0.01;
  pol_simulation *output = start(model);
  int rows = 0;
  while (!pol_simulation_finished(output)) {
    take_step(output);
    rows++;
    const pol_state *now = pol_simulation_state(output);
    assert_true(now->t == (rows < 25 ? rows * 0.01 : 0.25));
    assert_true(pol_simulation_summary(output)->t == now->t);
    /* the tip stays where it is */
    pol_body_state top = body_of(output, 0);
    double length = sqrt(top.position[0] * top.position[0] + top.position[1] * top.position[1] +
                         top.position[2] * top.position[2]);
    assert_near(&length, &(double){1.0}, 1, 1e-8);
    /* between steps rotation and position meet the joint as well as the tolerance */
    assert_true(pol_simulation_summary(output)->position_residual <= 1e-6);
  }
  assert_int_equal(rows, 25);
  const pol_summary *a = pol_simulation_summary(plain), *b = pol_simulation_summary(output);
  assert_memory_equal(&a->counts, &b->counts, sizeof a->counts);
  assert_true(a->max_energy_drift == b->max_energy_drift);
  assert_true(a->max_position_residual == b->max_position_residual);
  assert_memory_equal(pol_simulation_state(plain)->q, pol_simulation_state(output)->q,
                      7 * sizeof(double));
  assert_int_equal(pol_simulation_step(output), POL_BAD_ARGUMENT);
  pol_simulation_free(&plain);
  pol_simulation_free(&output);
  pol_model_free(&model);
}

/* With fixed steps too: at times of steps the rows are the steps themselves. */
static void output_of_fixed_steps(void **state)
{
  (void)state;
  pol_model *model = read_model(MODELS "bruels-cardona-2010/heavy_top.json");
  static const double times[] = {0.0104, 0.0105, 0.02, 0.0333};
  model->settings.end = 0.04;
  model->settings.step = 1e-3;
  pol_simulation *plain = start(model);
  model->settings.output = (pol_output){.count = 4, .times = times};
  pol_simulation *output = start(model);
  take_step(output);
  assert_int_equal(pol_simulation_summary(output)->counts.steps, 11);
  take_step(output);
  assert_int_equal(pol_simulation_summary(output)->counts.steps, 11);
  take_step(output);
  for (int n = 0; n < 20; n++) take_step(plain);
  assert_memory_equal(pol_simulation_state(plain)->q, pol_simulation_state(output)->q,
                      7 * sizeof(double));
  assert_memory_equal(pol_simulation_state(plain)->lambda, pol_simulation_state(output)->lambda,
                      3 * sizeof(double));
  take_step(output);
  assert_false(pol_simulation_finished(output));
  take_step(output);
  assert_true(pol_simulation_finished(output) && pol_simulation_state(output)->t == 0.04);
  pol_simulation_free(&plain);
  pol_simulation_free(&output);
  pol_model_free(&model);
}

/* Work is integrated between steps as at them: the balance of a damped mechanism holds. */
static void the_energy_balance_holds_at_output_times(void **state)
{
  (void)state;
  pol_model *model = read_model(MODELS "examples/suspension.json");
  model->settings.variable = 1;
  model->settings.end = 1.0;
  model->settings.output.step = 0.013;
  pol_options_set_rho_inf(&model->settings.options, 0.8);
  pol_simulation *simulation = start(model);
  double last = 0.0;
  while (!pol_simulation_finished(simulation)) {
    take_step(simulation);
    const pol_summary *summary = pol_simulation_summary(simulation);
    assert_true(summary->work.dissipated > last);
    last = summary->work.dissipated;
    assert_true(fabs(summary->energy_balance) <= 0.02 * summary->work.dissipated + 0.05);
  }
  assert_true(last > 10.0);
  pol_simulation_free(&simulation);
  pol_model_free(&model);
}

/* However coarse the tolerance, the rotor at 20944 rad/s turns less than half round in a step, so
 * that its rotation between steps is known: its axis stays near x, its spin is what it was. */
static void no_step_turns_half_round(void **state)
{
  (void)state;
  pol_model *model = read_model(MODELS "holzinger-arnold-gerstmayr/rotor.json");
  pol_control *control = &model->settings.options.control;
  model->settings.variable = 1;
  model->settings.end = 2e-3;
  control->rtol = control->atol_translation = control->atol_rotation = 1e-2;
  model->settings.output.step = 1e-5;
  pol_simulation *simulation = start(model);
  double angle = 0.0, last[4] = {1.0, 0.0, 0.0, 0.0};
  while (!pol_simulation_finished(simulation)) {
    take_step(simulation);
    pol_body_state rotor = body_of(simulation, 0);
    double back[4], turn[4], w[3];
    pol_quat_conjugate(last, back);
    pol_quat_multiply(back, rotor.quaternion, turn);
    pol_so3_log(turn, w);
    angle += w[0];
    memcpy(last, rotor.quaternion, sizeof last);
    assert_near(&rotor.rotation[0], &(double){1.0}, 1, 1e-3);
  }
  assert_true(pol_simulation_summary(simulation)->counts.largest_step * 20943.951 <= 3.0 + 1e-9);
  assert_near(&angle, &(double){20943.951023931953 * 2e-3}, 1, 1e-3);
  pol_simulation_free(&simulation);
  pol_model_free(&model);
}

/* --- failures --------------------------------------------------------------------------------- */

/* A run that cannot go on shows the last step it took, not the last output time, and names the
 * body. */
static void a_failure_leaves_the_last_step(void **state)
{
  (void)state;
  pol_model *model = read_model(MODELS "holzinger-arnold-gerstmayr/slider_crank.json");
  pol_control *control = &model->settings.options.control;
  model->settings.variable = 1;
  model->settings.end = 2.0;
  model->settings.output.step = 0.003;
  control->rtol = control->atol_translation = control->atol_rotation = 1e-6;
  control->min_step = 2e-3;
  pol_simulation *simulation = start(model);
  pol_status status = POL_OK;
  while (!status && !pol_simulation_finished(simulation)) status = pol_simulation_step(simulation);
  assert_int_equal(status, POL_SMALL_STEP);
  const pol_diagnostics *d = pol_simulation_diagnostics(simulation);
  assert_non_null(strstr(d->where, "body '"));
  assert_true(d->h == 2e-3 && d->step == pol_simulation_summary(simulation)->counts.steps + 1);
  assert_near(&(double){pol_simulation_summary(simulation)->t}, &(double){d->t - d->h}, 1, 1e-12);
  assert_true(pol_simulation_state(simulation)->t == pol_simulation_summary(simulation)->t);
  pol_simulation_free(&simulation);
  pol_model_free(&model);
}

/* Where a step cannot be made smaller, its equations are solved to the end: with many corrections,
 * or with the general matrix. */
static void the_smallest_step_is_solved_to_the_end(void **state)
{
  (void)state;
  static const struct {
    const char *model, *min_step, *index, *tolerance;
  } cases[] = {{"friction_block", "0.05", "3", "1e-2"},
               {"friction_block", "0.05", "stabilized-2", "1e-2"},
               {"governor", "0.05", "stabilized-2", "1e-2"},
               {"chain_stop", "0.005", "3", "1e-2"}};
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    char text[4][80], path[240];
    const char *overrides[4] = {text[0], text[1], text[2], "simulation.end=1.5"};
    snprintf(path, sizeof path, MODELS "examples/%s.json", cases[k].model);
    snprintf(text[0], sizeof text[0], "simulation.rtol=%s", cases[k].tolerance);
    snprintf(text[1], sizeof text[1], "simulation.control.min_step=%s", cases[k].min_step);
    snprintf(text[2], sizeof text[2], "simulation.index=%s", cases[k].index);
    pol_model *model = read_model_with(path, 4, overrides);
    pol_options *options = &model->settings.options;
    pol_options_set_method(options, "geom1");
    options->control.atol_translation = options->control.atol_rotation = options->control.rtol;
    pol_simulation *simulation = start(model);
    while (!pol_simulation_finished(simulation))
      if (pol_simulation_step(simulation))
        fail_msg("%s, index %s: %s", cases[k].model, cases[k].index,
                 pol_simulation_diagnostics(simulation)->message);
    pol_simulation_free(&simulation);
    pol_model_free(&model);
  }
}

/* --- events ----------------------------------------------------------------------------------- */

/* A ball over the ground, without joints: so3xr3 has its position in q[4..6]. */
static const char ball_text[] =
    "{\"gravity\": [0, 0, -9.81], \"bodies\": [{\"name\": \"ball\", \"mass\": 2, \"inertia\": [1, "
    "1, "
    "1], \"position\": [0, 0, 1], \"velocity\": [0.5, 0, 0]}], \"simulation\": {\"rtol\": 1e-6, "
    "\"end\": 3}}";

static double height(const pol_state *at, void *user)
{
  (void)user;
  return at->q[6];
}

static double rise(const pol_state *at, void *user)
{
  (void)user;
  return at->v[5];
}

static void bounce(const pol_state *at, double *v, unsigned char *keep, void *user)
{
  (void)at;
  (void)keep;
  v[5] *= -*(const double *)user;
}

/* Impacts, highest points and outputs come in the order of their times, with fixed and variable
 * steps; the impacts' energy is booked as dissipated. */
static void a_ball_bounces(void **state)
{
  (void)state;
  for (int variable = 0; variable < 2; variable++) {
    const double g = 9.81;
    double restitution = 0.8, impact = sqrt(2.0 / g), speed = sqrt(2.0 * g), top = 0.0, last = 0.0;
    int impacts = 0, tops = 0, outputs = 0, of_impact, of_top;
    pol_model *model = read_model_text(ball_text);
    model->settings.variable = variable;
    model->settings.step = 0.0137;
    model->settings.output.step = 0.1;
    pol_simulation *simulation = start(model);
    pol_simulation_event on_ground = {height, &restitution, -1, POL_EVENT_RESET, bounce, NULL};
    pol_simulation_event on_top = {rise, NULL, -1, POL_EVENT_RECORD, NULL, NULL};
    assert_int_equal(pol_simulation_add_event(simulation, &on_ground, &of_impact), POL_OK);
    assert_int_equal(pol_simulation_add_event(simulation, &on_top, &of_top), POL_OK);
    while (!pol_simulation_finished(simulation)) {
      take_step(simulation);
      double t = pol_simulation_state(simulation)->t;
      int event = pol_simulation_event_index(simulation);
      const pol_summary *summary = pol_simulation_summary(simulation);
      assert_true(t >= last);
      last = t;
      assert_true(fabs(summary->energy_balance) <= 1e-9);
      if (event == of_impact) {
        assert_near(&t, &impact, 1, 1e-10);
        speed *= restitution;
        assert_near(&pol_simulation_state(simulation)->v[5], &speed, 1, 1e-9);
        top = impact + speed / g;
        impact += 2.0 * speed / g;
        impacts++;
      } else if (event == of_top) {
        assert_near(&t, &top, 1, 1e-10);
        tops++;
      } else {
        outputs++;
        assert_near(&t, &(double){0.1 * outputs}, 1, 1e-12);
      }
    }
    assert_int_equal(outputs, 30);
    assert_int_equal(impacts, 6); /* the last at 2.880 s, and its top at 2.998 s */
    assert_int_equal(tops, 6);
    double x = body_of(simulation, 0).position[0];
    assert_near(&x, &(double){1.5}, 1, 1e-9);
    pol_simulation_free(&simulation);
    pol_model_free(&model);
  }
}

/* The run ends at the event. */
static void an_event_stops_the_run(void **state)
{
  (void)state;
  pol_model *model = read_model_text(ball_text);
  pol_simulation *simulation = start(model);
  pol_simulation_event on_ground = {height, NULL, 0, POL_EVENT_STOP, NULL, NULL};
  pol_simulation_event nothing = {NULL, NULL, 0, POL_EVENT_STOP, NULL, NULL};
  pol_simulation_event aimless = {height, NULL, 0, POL_EVENT_RESET, NULL, NULL};
  assert_int_equal(pol_simulation_add_event(simulation, &nothing, NULL), POL_BAD_ARGUMENT);
  assert_int_equal(pol_simulation_add_event(simulation, &aimless, NULL), POL_BAD_ARGUMENT);
  assert_int_equal(pol_simulation_add_event(simulation, &on_ground, NULL), POL_OK);
  assert_int_equal(pol_simulation_event_index(simulation), -1);
  step_to_end(simulation);
  assert_int_equal(pol_simulation_event_index(simulation), 0);
  assert_near(&pol_simulation_state(simulation)->t, &(double){sqrt(2.0 / 9.81)}, 1, 1e-10);
  assert_near(&pol_simulation_state(simulation)->q[6], &(double){0.0}, 1, 1e-12);
  assert_int_equal(pol_simulation_step(simulation), POL_BAD_ARGUMENT);
  pol_simulation_free(&simulation);
  pol_model_free(&model);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_slider_crank_follows_the_tolerance),
      cmocka_unit_test(the_rotor_follows_the_tolerance),
      cmocka_unit_test(a_stop_makes_variable_steps_pay),
      cmocka_unit_test(output_times_change_no_step),
      cmocka_unit_test(output_of_fixed_steps),
      cmocka_unit_test(the_energy_balance_holds_at_output_times),
      cmocka_unit_test(no_step_turns_half_round),
      cmocka_unit_test(a_failure_leaves_the_last_step),
      cmocka_unit_test(the_smallest_step_is_solved_to_the_end),
      cmocka_unit_test(a_ball_bounces),
      cmocka_unit_test(an_event_stops_the_run),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
