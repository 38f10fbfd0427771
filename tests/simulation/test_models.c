/* The model files against the exact solutions of their papers.
 *
 * Romano's bodies (Bruels/Cardona 2010, 7.1 to 7.3): second order of every method, and the order of
 * their errors that the paper reports.  Mathematical pendulum (Arnold/Cardona/Bruels 2015, Example
 * 3.2): the amplitude of the multiplier's oscillation, and that the default start has none.
 * Spatial slider-crank (IFToMM benchmark; Holzinger/Arnold/Gerstmayr, 7.3) and high-speed rotor
 * (7.2): errors against reference solutions.  Forces: what they must give whatever the coordinates.
 */
#include <string.h>

#include "heavy_top_reference.h"
#include "simulation/simulate.h"

#define MODELS POLHODE_SOURCE_DIR "/models/"

/* --- Romano ----------------------------------------------------------------------------------- */

/* Distance of the reference point R X from the exact one at the end. */
static double romano_error(pol_model *model, const char *method, pol_formulation_kind formulation,
                           double step, const double exact[3])
{
  model->settings.options.method = method;
  model->settings.formulation = formulation;
  model->settings.step = step;
  pol_simulation *simulation = start(model);
  step_to_end(simulation);
  const pol_state *state = pol_simulation_state(simulation);
  pol_body_state body;
  pol_formulation_body_state(pol_simulation_formulation(simulation), state->q, state->v, 0, &body);
  const double *X = pol_mechanism_marker(model->mechanism, 0)->position;
  double square = 0.0;
  for (int i = 0; i < 3; i++) {
    const double *R = body.rotation + 3 * i;
    double x = R[0] * X[0] + R[1] * X[1] + R[2] * X[2];
    square += (x - exact[i]) * (x - exact[i]);
  }
  pol_simulation_free(&simulation);
  return sqrt(square);
}

static void romano_bodies_converge_as_published(void **state)
{
  (void)state;
  static const struct {
    const char *path;
    double exact[3];  /* R X at the end */
    int linear_worst; /* the linear method has the largest error, or the smallest */
  } cases[] = {
      {MODELS "bruels-cardona-2010/romano_1.json",
       {0.12302588596880744, -0.4028797586809941, -0.42726166622660394},
       1},
      {MODELS "bruels-cardona-2010/romano_2.json",
       {0.0011793012832066938, -0.001251004850810682, -0.6459977122524094},
       0},
      {MODELS "bruels-cardona-2010/romano_3.json",
       {-0.01646497138749979, -0.008630922713957314, -0.6457324615429477},
       0},
  };
  static const char *const methods[] = {"geom1", "geom2", "geom3", "linear"};
  for (int c = 0; c < 3; c++) {
    pol_model *model = read_model(cases[c].path);
    double errors[4];
    model->settings.options.newton.tolerance = 1e-13;
    for (int k = 0; k < 4; k++) {
      pol_formulation_kind kind = k < 3 ? POL_SO3_PIVOT : POL_ROTATION_VECTOR;
      double coarse = romano_error(model, methods[k], kind, 2e-3, cases[c].exact);
      errors[k] = romano_error(model, methods[k], kind, 1e-3, cases[c].exact);
      assert_near(&(double){log2(coarse / errors[k])}, &(double){2.0}, 1, 0.02);
    }
    for (int k = 0; k < 3; k++) assert_int_equal(errors[3] > errors[k], cases[c].linear_worst);
    /* where the centre of mass rests, its coordinates do not touch the rotation */
    double whole = romano_error(model, "geom1", POL_SO3XR3, 1e-3, cases[c].exact);
    assert_near(&whole, &errors[0], 1, 1e-12);
    pol_model_free(&model);
  }
}

/* --- heavy top -------------------------------------------------------------------------------- */

typedef struct top_run {
  double error;       /* mean distance of the centre of mass over t = 0.32:0.02:0.5, (99) */
  double drift;       /* largest change of the total energy in 5 s */
  double final_drift; /* its change at the end */
} top_run;

static top_run run_top(pol_model *model, const char *method, double step, double end)
{
  top_run result = {0};
  int count = 0;
  model->settings.options.method = method;
  model->settings.step = step;
  model->settings.end = end;
  pol_simulation *simulation = start(model);
  const pol_state *state = pol_simulation_state(simulation);
  while (!pol_simulation_finished(simulation)) {
    assert_int_equal(pol_simulation_step(simulation), POL_OK);
    long hundredths = lround(50.0 * state->t); /* of 0.02 s */
    if (hundredths < 16 || hundredths > 25 || fabs(50.0 * state->t - (double)hundredths) > 1e-6)
      continue;
    double q[7], v[6], lambda[3], difference_x[3];
    pol_body_state body;
    exact((int)lround(state->t / grid_step), q, v, lambda);
    pol_formulation_body_state(pol_simulation_formulation(simulation), state->q, state->v, 0,
                               &body);
    for (int i = 0; i < 3; i++) difference_x[i] = body.position[i] - q[4 + i];
    result.error += norm(difference_x, 3);
    count++;
  }
  assert_int_equal(count, 10);
  result.error /= count;
  const pol_summary *summary = pol_simulation_summary(simulation);
  result.drift = summary->max_energy_drift;
  result.final_drift = summary->energy.kinetic + summary->energy.potential -
                       summary->initial_energy.kinetic - summary->initial_energy.potential;
  pol_simulation_free(&simulation);
  return result;
}

/* Sections 7.4 (no constraint, no damping) and 7.5 (constraint, rho 0.9): all methods are of second
 * order and more accurate with the constraint; without it the linear one is the most accurate and
 * loses energy steadily, while the geometric ones oscillate, geom2 most.  With it the energy of
 * geom1 drifts least. */
static void heavy_tops_behave_as_published(void **state)
{
  (void)state;
  static const char *const methods[] = {"geom1", "geom2", "geom3", "linear"};
  top_run runs[2][4];
  assert_int_equal(read_reference(POLHODE_SOURCE_DIR "/papers/data/heavy_top_grid.csv"), 0);
  for (int constrained = 0; constrained < 2; constrained++)
    for (int k = 0; k < 4; k++) {
      pol_model *model = read_model(MODELS "bruels-cardona-2010/heavy_top.json");
      model->settings.formulation = constrained ? POL_SO3XR3 : POL_SO3_PIVOT;
      pol_options_set_rho_inf(&model->settings.options, constrained ? 0.9 : 1.0);
      runs[constrained][k] = run_top(model, methods[k], 1e-3, 5.0);
      double fine = run_top(model, methods[k], 5e-4, 0.5).error;
      double order = log2(runs[constrained][k].error / fine);
      assert_near(&order, &(double){2.0}, 1, 0.06);
      pol_model_free(&model);
    }
  for (int k = 0; k < 4; k++) assert_true(runs[1][k].error < 0.15 * runs[0][k].error);
  for (int k = 0; k < 3; k++) {
    assert_true(runs[0][3].error < 0.5 * runs[0][k].error);
    assert_true(runs[1][0].drift < 0.1 * runs[1][k + 1].drift);
  }
  /* linear: the largest change is the last one, and a loss; geom2 swings further than the others */
  assert_true(runs[0][3].final_drift < -0.95 * runs[0][3].drift);
  assert_true(runs[0][1].drift > 2.0 * fabs(runs[0][1].final_drift));
  assert_true(runs[0][1].drift > 4.0 * runs[0][0].drift);
}

/* --- pendulum --------------------------------------------------------------------------------- */

/* One Runge-Kutta step of theta'' = -9.81 sin theta. */
static void swing(double h, double *theta, double *rate)
{
  double k[4][2], at[2] = {*theta, *rate};
  static const double share[4] = {0.5, 0.5, 1.0, 0.0}, weight[4] = {1.0, 2.0, 2.0, 1.0};
  const double start_at[2] = {*theta, *rate};
  for (int i = 0; i < 4; i++) {
    k[i][0] = at[1];
    k[i][1] = -9.81 * sin(at[0]);
    for (int j = 0; j < 2; j++) at[j] = start_at[j] + share[i] * h * k[i][j];
    *theta += h / 6.0 * weight[i] * k[i][0];
    *rate += h / 6.0 * weight[i] * k[i][1];
  }
}

/* Largest error of the multiplier, whose exact value is theta'^2 + g cos theta, after t = 0. */
static double multiplier_error(pol_model *model, pol_start kind, double h)
{
  enum { PARTS = 100 };
  double theta = asin(0.2), rate = 0.7612172366071895 / cos(theta), largest = 0.0;
  model->settings.options.start = kind;
  model->settings.step = h;
  pol_simulation *simulation = start(model);
  const pol_state *state = pol_simulation_state(simulation);
  while (!pol_simulation_finished(simulation)) {
    assert_int_equal(pol_simulation_step(simulation), POL_OK);
    for (int i = 0; i < PARTS; i++) swing(h / PARTS, &theta, &rate);
    double exact = rate * rate + 9.81 * cos(theta);
    largest = fmax(largest, fabs(state->lambda[0] - exact));
  }
  pol_simulation_free(&simulation);
  return largest;
}

static void the_multiplier_of_the_pendulum_oscillates_as_published(void **state)
{
  (void)state;
  pol_model *model = read_model(MODELS "arnold-cardona-bruels-2015/pendulum.json");
  assert_int_equal(model->settings.options.start, POL_START_SHIFTED);
  double coarse = multiplier_error(model, POL_START_SHIFTED, 2e-2);
  double fine = multiplier_error(model, POL_START_SHIFTED, 1e-2);
  assert_near(&coarse, &(double){0.2483}, 1, 5e-5);
  assert_near(&fine, &(double){0.1231}, 1, 5e-5);

  /* The default start has second order, not first. */
  coarse = multiplier_error(model, POL_START_DEFAULT, 2e-2);
  fine = multiplier_error(model, POL_START_DEFAULT, 1e-2);
  assert_true(coarse < 5e-3);
  assert_near(&(double){log2(coarse / fine)}, &(double){2.0}, 1, 0.01);
  pol_model_free(&model);
}

/* --- slider-crank ----------------------------------------------------------------------------- */

/* The sigma of `optimal` for these options: gamma / (3 beta). */
static double optimal_sigma(const pol_options *options)
{
  return options->gamma / (3.0 * options->beta);
}

/* The slider's position at t = 2 by an independent high-precision integration, 2026. */
static double slider_error(pol_model *model, double step)
{
  model->settings.step = step;
  pol_simulation *simulation = start(model);
  step_to_end(simulation);
  const pol_state *state = pol_simulation_state(simulation);
  pol_body_state slider;
  pol_formulation_body_state(pol_simulation_formulation(simulation), state->q, state->v,
                             pol_mechanism_find_body(model->mechanism, "slider"), &slider);
  pol_simulation_free(&simulation);
  return fabs(slider.position[0] - 0.2890851970671418);
}

/* The errors of an independent implementation, within 2 %, and second order. */
static void the_slider_crank_converges_as_expected(void **state)
{
  (void)state;
  pol_model *model = read_model(MODELS "holzinger-arnold-gerstmayr/slider_crank.json");
  const double optimal = optimal_sigma(&model->settings.options);
  const struct {
    pol_formulation_kind formulation;
    double sigma, error; /* at h = 1e-3 */
  } cases[] = {
      {POL_SO3XR3, 0.0, 2.42e-5},     {POL_SO3XR3, 1.0, 2.07e-5},
      {POL_SO3XR3, optimal, 2.18e-5}, {POL_EULER_PARAMETERS, 0.0, 1.34e-5},
      {POL_TAIT_BRYAN, 0.0, 8.07e-6},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    model->settings.formulation = cases[k].formulation;
    model->settings.options.sigma = cases[k].sigma;
    double coarse = slider_error(model, 1e-3), fine = slider_error(model, 5e-4);
    assert_near(&(double){coarse / cases[k].error}, &(double){1.0}, 1, 0.02);
    assert_near(&(double){log2(coarse / fine)}, &(double){2.0}, 1, 0.02);
  }
  pol_model_free(&model);
}

/* Index 2 leaves the position constraints, so its error depends on the axes of the rows; those of
 * the published figures are global.  Index 3 does not care. */
static void index_2_of_the_slider_crank_depends_on_the_axes(void **state)
{
  (void)state;
  pol_model *model = read_model(MODELS "holzinger-arnold-gerstmayr/slider_crank_global.json");
  const double optimal = optimal_sigma(&model->settings.options);
  const struct {
    pol_index index;
    double sigma, error; /* at h = 1e-3 */
  } cases[] = {
      {POL_INDEX_2, 0.0, 1.66e-5}, {POL_INDEX_2, 1.0, 1.26e-5}, {POL_INDEX_2, optimal, 1.39e-5},
      {POL_INDEX_3, 0.0, 2.42e-5}, {POL_INDEX_3, 1.0, 2.07e-5}, {POL_INDEX_3, optimal, 2.18e-5},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    model->settings.options.index = cases[k].index;
    model->settings.options.sigma = cases[k].sigma;
    double coarse = slider_error(model, 1e-3), fine = slider_error(model, 5e-4);
    assert_near(&(double){coarse / cases[k].error}, &(double){1.0}, 1, 0.02);
    assert_near(&(double){log2(coarse / fine)}, &(double){2.0}, 1, 0.02);
  }
  pol_model_free(&model);
}

/* --- rotor ------------------------------------------------------------------------------------ */

/* Distance of the right bearing's point (0.09, 0, 0) from where it should be at the end. */
static double bearing_error(pol_model *model, double step, double end, const double exact[3])
{
  model->settings.step = step;
  model->settings.end = end;
  pol_simulation *simulation = start(model);
  step_to_end(simulation);
  const pol_state *state = pol_simulation_state(simulation);
  pol_body_state rotor;
  pol_formulation_body_state(pol_simulation_formulation(simulation), state->q, state->v, 0, &rotor);
  pol_simulation_free(&simulation);
  double difference[3];
  for (int i = 0; i < 3; i++)
    difference[i] = rotor.position[i] + 0.09 * rotor.rotation[3 * i] - exact[i];
  return norm(difference, 3);
}

/* At 200 000 rpm a step of 1e-4 s is a third of a turn.  The errors are those of an independent
 * implementation; the spatial form with the optimal sigma is the accurate one. */
static void the_rotor_converges_as_expected(void **state)
{
  (void)state;
  /* independent high-precision integration, 2026 */
  static const double after_tenth[3] = {0.08999998619328531, 4.72913234371025e-06,
                                        3.6756429891595044e-05};
  static const double after_second[3] = {0.08999918859068055, 0.00026938175150157474,
                                         9.241367900566789e-05};
  pol_model *model = read_model(MODELS "holzinger-arnold-gerstmayr/rotor.json");
  const double optimal = optimal_sigma(&model->settings.options);
  const struct {
    pol_formulation_kind formulation;
    double sigma, step;
    const double *exact;
    double end, error;
  } cases[] = {
      {POL_SO3XR3, 0.0, 1e-4, after_tenth, 0.1, 2.59e-5},
      {POL_SO3XR3, 0.0, 5e-5, after_tenth, 0.1, 8.05e-6},
      {POL_SO3XR3_SPATIAL, optimal, 1e-4, after_tenth, 0.1, 4.14e-7},
      {POL_SO3XR3_SPATIAL, optimal, 5e-5, after_tenth, 0.1, 2.12e-8},
      {POL_SO3XR3, 0.0, 1e-4, after_second, 1.0, 2.29e-4},
      {POL_SO3XR3, 1.0, 1e-4, after_second, 1.0, 1.33e-4},
      {POL_SO3XR3, optimal, 1e-4, after_second, 1.0, 1.70e-4},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    model->settings.formulation = cases[k].formulation;
    model->settings.options.sigma = cases[k].sigma;
    double error = bearing_error(model, cases[k].step, cases[k].end, cases[k].exact);
    assert_near(&(double){error / cases[k].error}, &(double){1.0}, 1, 0.02);
  }
  pol_model_free(&model);
}

/* --- forces ----------------------------------------------------------------------------------- */

/* A force at the centre of mass moves a body as a = F / m, whatever its coordinates: in global axes
 * along a parabola, which the method follows exactly. */
static void a_constant_force_gives_a_parabola(void **state)
{
  (void)state;
  pol_body body = {.name = "stone",
                   .mass = 2.0,
                   .inertia = {1, 0, 0, 0, 2, 0, 0, 0, 2.5},
                   .rotation = {1, 0, 0, 0}};
  pol_force push = {.name = "push", .type = POL_APPLIED_FORCE, .vector = {4.0, -6.0, 8.0}};
  const double expected[3] = {1.0, -1.5, 2.0};
  static const pol_formulation_kind kinds[] = {POL_SO3XR3, POL_SE3_BODY, POL_SO3XR3_SPATIAL,
                                               POL_EULER_PARAMETERS, POL_TAIT_BRYAN};
  for (int k = 0; k < 5; k++) {
    pol_settings settings = pol_settings_default();
    pol_mechanism *mechanism;
    pol_simulation *simulation;
    pol_body_state now;
    settings.formulation = kinds[k];
    settings.step = 0.1;
    assert_int_equal(pol_mechanism_create(&mechanism), POL_OK);
    assert_int_equal(pol_mechanism_add_body(mechanism, &body, &push.body), POL_OK);
    assert_int_equal(pol_mechanism_add_force(mechanism, &push, NULL), POL_OK);
    assert_int_equal(pol_simulation_create(&simulation, mechanism, &settings, NULL), POL_OK);
    step_to_end(simulation);
    const pol_state *at = pol_simulation_state(simulation);
    pol_formulation_body_state(pol_simulation_formulation(simulation), at->q, at->v, 0, &now);
    assert_near(now.position, expected, 3, 1e-12);
    pol_simulation_free(&simulation);
    pol_mechanism_free(&mechanism);
  }
}

/* One body, its force, and its motion until t = 1 in one formulation. */
static void run_alone(const pol_body *body, const pol_force *force, pol_formulation_kind kind,
                      double step, pol_body_state *last)
{
  pol_settings settings = pol_settings_default();
  pol_mechanism *mechanism;
  pol_simulation *simulation;
  settings.formulation = kind;
  settings.step = step;
  settings.options.newton.tolerance = 1e-13;
  assert_int_equal(pol_mechanism_create(&mechanism), POL_OK);
  assert_int_equal(pol_mechanism_add_body(mechanism, body, NULL), POL_OK);
  assert_int_equal(pol_mechanism_add_force(mechanism, force, NULL), POL_OK);
  assert_int_equal(pol_simulation_create(&simulation, mechanism, &settings, NULL), POL_OK);
  step_to_end(simulation);
  const pol_state *at = pol_simulation_state(simulation);
  pol_formulation_body_state(pol_simulation_formulation(simulation), at->q, at->v, 0, last);
  pol_simulation_free(&simulation);
  pol_mechanism_free(&mechanism);
}

/* Drag slows a body to u = u0 / (1 + c u0 t / m); a support along one axis is a damped oscillator
 * x = exp(-a t) (cos(b t) + a / b sin(b t)) x0 with a = d / 2m, b^2 = k / m - a^2.  The body spins
 * meanwhile, which must not matter. */
static void drag_and_support_follow_their_exact_solutions(void **state)
{
  (void)state;
  pol_body body = {.name = "stone",
                   .mass = 2.0,
                   .inertia = {1, 0, 0, 0, 2, 0, 0, 0, 2.5},
                   .position = {0.3, 0, 0},
                   .rotation = {1, 0, 0, 0},
                   .angular_velocity = {0.3, 0.1, -0.2}};
  pol_force drag = {.name = "air", .type = POL_DRAG, .coefficient = 0.8};
  pol_force support = {
      .name = "hold", .type = POL_SUPPORT, .stiffness = {50, 60, 70}, .damping = {4, 5, 6}};
  const double a = 4.0 / 4.0, b = sqrt(50.0 / 2.0 - a * a);
  const double x = 0.3 * exp(-a) * (cos(b) + a / b * sin(b)), u = 5.0 / (1.0 + 0.8 * 5.0 / 2.0);
  static const pol_formulation_kind kinds[] = {POL_SO3XR3, POL_SE3_BODY, POL_SO3XR3_SPATIAL,
                                               POL_EULER_PARAMETERS, POL_TAIT_BRYAN};
  for (int k = 0; k < 5; k++) {
    double errors[2][2];
    for (int i = 0; i < 2; i++) {
      double step = i == 0 ? 1e-2 : 5e-3;
      pol_body_state last;
      body.velocity[2] = 0.0;
      run_alone(&body, &support, kinds[k], step, &last);
      errors[0][i] = fabs(last.position[0] - x);
      body.velocity[2] = 5.0;
      run_alone(&body, &drag, kinds[k], step, &last);
      errors[1][i] = fabs(last.velocity[2] - u);
    }
    for (int f = 0; f < 2; f++) {
      assert_true(errors[f][0] < 1e-3);
      assert_near(&(double){log2(errors[f][0] / errors[f][1])}, &(double){2.0}, 1, 0.1);
    }
  }
}

/* Two free bodies on a spring, of 1 and 2 kg, pulled apart and moving across it. */
static pol_mechanism *two_on_a_spring(double damping)
{
  pol_mechanism *mechanism;
  pol_force spring = {.name = "spring",
                      .type = POL_SPRING_DAMPER,
                      .stiffness = {40.0},
                      .damping = {damping},
                      .length = 0.8};
  assert_int_equal(pol_mechanism_create(&mechanism), POL_OK);
  for (int b = 0; b < 2; b++) {
    pol_body body = {.name = b ? "b" : "a",
                     .mass = 1.0 + b,
                     .inertia = {1, 0, 0, 0, 2, 0, 0, 0, 2.5},
                     .position = {2.0 * b, 0, 0},
                     .rotation = {1, 0, 0, 0},
                     .velocity = {0, 1.0 - 2.0 * b, 0.5}};
    pol_marker marker = {.name = "", .rotation = {1, 0, 0, 0}, .position = {0, 0.3, -0.2}};
    assert_int_equal(pol_mechanism_add_body(mechanism, &body, &marker.body), POL_OK);
    assert_int_equal(pol_mechanism_add_marker(mechanism, &marker, &spring.marker[b]), POL_OK);
  }
  assert_int_equal(pol_mechanism_add_force(mechanism, &spring, NULL), POL_OK);
  return mechanism;
}

/* By how much the momentum is off and the energy has changed at t = 1. */
static void spring_run(pol_formulation_kind kind, double damping, double step, double *momentum,
                       double *energy)
{
  pol_settings settings = pol_settings_default();
  pol_mechanism *mechanism = two_on_a_spring(damping);
  pol_simulation *simulation;
  double off[3] = {0.0, 1.0, -1.5}; /* minus the initial momentum */
  settings.formulation = kind;
  settings.step = step;
  settings.options.newton.tolerance = 1e-13;
  assert_int_equal(pol_simulation_create(&simulation, mechanism, &settings, NULL), POL_OK);
  step_to_end(simulation);
  const pol_state *at = pol_simulation_state(simulation);
  const pol_summary *summary = pol_simulation_summary(simulation);
  for (int b = 0; b < 2; b++) {
    pol_body_state now;
    pol_formulation_body_state(pol_simulation_formulation(simulation), at->q, at->v, b, &now);
    for (int j = 0; j < 3; j++) off[j] += (1.0 + b) * now.velocity[j];
  }
  *momentum = norm(off, 3);
  *energy = summary->energy.kinetic + summary->energy.potential - summary->initial_energy.kinetic -
            summary->initial_energy.potential;
  pol_simulation_free(&simulation);
  pol_mechanism_free(&mechanism);
}

/* Momentum stays to round-off (se3, whose velocities turn with the bodies: to second order), energy
 * to second order, and a damper takes energy. */
static void a_spring_keeps_momentum_and_energy(void **state)
{
  (void)state;
  static const pol_formulation_kind kinds[] = {POL_SO3XR3, POL_SE3_BODY, POL_SO3XR3_SPATIAL,
                                               POL_EULER_PARAMETERS, POL_TAIT_BRYAN};
  for (int k = 0; k < 5; k++)
    for (int damped = 0; damped < 2; damped++) {
      double momentum[2], energy[2];
      for (int i = 0; i < 2; i++)
        spring_run(kinds[k], damped, i == 0 ? 2e-3 : 1e-3, &momentum[i], &energy[i]);
      if (kinds[k] == POL_SE3_BODY)
        assert_near(&(double){log2(momentum[0] / momentum[1])}, &(double){2.0}, 1, 0.05);
      else
        assert_true(fmax(momentum[0], momentum[1]) < 1e-11);
      if (damped)
        assert_true(energy[1] < -10.0 && fabs(energy[0] / energy[1] - 1.0) < 1e-4);
      else
        assert_near(&(double){log2(energy[0] / energy[1])}, &(double){2.0}, 1, 0.05);
    }
}

/* A body that meets its own anchor exactly: a spring-damper has no direction there, and the step
 * says so. */
static void a_spring_that_vanishes_stops_the_run(void **state)
{
  (void)state;
  pol_settings settings = pol_settings_default();
  pol_mechanism *mechanism;
  pol_simulation *simulation;
  pol_body body = {.name = "stone",
                   .mass = 2.0,
                   .inertia = {1, 0, 0, 0, 2, 0, 0, 0, 2.5},
                   .position = {-0.5, 0, 0},
                   .rotation = {1, 0, 0, 0},
                   .velocity = {1.0, 0, 0}};
  pol_force spring = {.name = "spring", .type = POL_SPRING_DAMPER};
  const double origin[3] = {0.0, 0.0, 0.0};
  settings.step = 0.125;
  assert_int_equal(pol_mechanism_create(&mechanism), POL_OK);
  assert_int_equal(pol_mechanism_add_body(mechanism, &body, NULL), POL_OK);
  assert_int_equal(
      pol_mechanism_add_marker_at(mechanism, "", POL_GROUND, origin, NULL, &spring.marker[0]),
      POL_OK);
  assert_int_equal(
      pol_mechanism_add_marker_at(mechanism, "", 0, body.position, NULL, &spring.marker[1]),
      POL_OK);
  assert_int_equal(pol_mechanism_add_force(mechanism, &spring, NULL), POL_OK);
  assert_int_equal(pol_simulation_create(&simulation, mechanism, &settings, NULL), POL_OK);
  for (int i = 0; i < 3; i++) assert_int_equal(pol_simulation_step(simulation), POL_OK);
  assert_int_equal(pol_simulation_step(simulation), POL_RETRY);
  assert_string_equal(pol_simulation_diagnostics(simulation)->where,
                      "force 'spring': its points coincide");
  assert_true(fabs(pol_simulation_state(simulation)->t - 0.375) < 1e-15);
  pol_simulation_free(&simulation);
  pol_mechanism_free(&mechanism);
}

/* The force of a joint does not depend on the coordinates, even where so3 has none for it and takes
 * it from Newton's law. */
static void a_joint_carries_the_applied_forces_in_every_formulation(void **state)
{
  (void)state;
  pol_model *model = read_model(MODELS "bruels-cardona-2010/heavy_top.json");
  pol_force push = {.name = "push",
                    .type = POL_APPLIED_FORCE,
                    .frame = POL_BODY_AXES,
                    .vector = {400.0, -600.0, 800.0},
                    .point = {0.1, 0.2, 0.3}};
  pol_force spin = {.name = "spin", .type = POL_APPLIED_TORQUE, .vector = {10.0, 20.0, -30.0}};
  assert_int_equal(pol_mechanism_add_force(model->mechanism, &push, NULL), POL_OK);
  assert_int_equal(pol_mechanism_add_force(model->mechanism, &spin, NULL), POL_OK);
  pol_force hold = {.name = "hold",
                    .type = POL_SUPPORT,
                    .point = {0.1, 0.0, 0.2},
                    .stiffness = {100.0, 200.0, 300.0},
                    .damping = {4.0, 5.0, 6.0}};
  pol_force air = {.name = "air", .type = POL_DRAG, .coefficient = 2.0};
  assert_int_equal(pol_mechanism_add_force(model->mechanism, &hold, NULL), POL_OK);
  assert_int_equal(pol_mechanism_add_force(model->mechanism, &air, NULL), POL_OK);
  double first[3] = {0.0}, force[3], torque[3];
  for (int kind = 0; kind < pol_formulation_count(); kind++) {
    model->settings.formulation = (pol_formulation_kind)kind;
    pol_simulation *simulation = start(model);
    const pol_state *s = pol_simulation_state(simulation);
    pol_point at = pol_state_point(s);
    pol_formulation_reaction(pol_simulation_formulation(simulation), &at, 0, force, torque);
    if (kind == 0) memcpy(first, force, sizeof first);
    assert_near(force, first, 3, 1e-9);
    pol_simulation_free(&simulation);
  }
  assert_true(fabs(first[0]) + fabs(first[1]) + fabs(first[2]) > 100.0);
  pol_model_free(&model);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(romano_bodies_converge_as_published),
      cmocka_unit_test(heavy_tops_behave_as_published),
      cmocka_unit_test(the_multiplier_of_the_pendulum_oscillates_as_published),
      cmocka_unit_test(the_slider_crank_converges_as_expected),
      cmocka_unit_test(index_2_of_the_slider_crank_depends_on_the_axes),
      cmocka_unit_test(the_rotor_converges_as_expected),
      cmocka_unit_test(a_constant_force_gives_a_parabola),
      cmocka_unit_test(drag_and_support_follow_their_exact_solutions),
      cmocka_unit_test(a_spring_keeps_momentum_and_energy),
      cmocka_unit_test(a_spring_that_vanishes_stops_the_run),
      cmocka_unit_test(a_joint_carries_the_applied_forces_in_every_formulation),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
