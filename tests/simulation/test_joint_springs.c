/* Springs on joint coordinates: a flywheel that unwinds a torsional spring over five turns against
 * the exact solution, a step that fails on the way, and the stiff double pendulum and the planar
 * pendulum of Gavrea/Negrut/Potra 2005 against reference solutions (three independent codes agree
 * to 2e-12).
 */
#include <string.h>

#include "simulation/simulate.h"

#define MODELS POLHODE_SOURCE_DIR "/models/gavrea-negrut-potra-2005/"

static const double pi = 3.14159265358979323846;

/* A wheel on a hinge along an oblique axis, J = 2 kg m^2 about it and k = 8 N m/rad, wound by five
 * turns: theta = 10 pi (cos 2t - 1). */
static pol_mechanism *wound_wheel(void)
{
  static const double oblique[4] = {0.5, 0.5, 0.5, 0.5}, origin[3] = {0.0, 0.0, 0.0};
  pol_mechanism *mechanism;
  pol_body wheel = {.name = "wheel",
                    .mass = 3.0,
                    .inertia = {2.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0},
                    .rotation = {1.0, 0.0, 0.0, 0.0}};
  pol_joint hinge = {.name = "hinge", .type = POL_REVOLUTE};
  pol_force spring = {
      .name = "spring", .type = POL_JOINT_SPRING, .stiffness = {8.0}, .rest = -10.0 * pi};
  assert_int_equal(pol_mechanism_create(&mechanism), POL_OK);
  assert_int_equal(pol_mechanism_add_body(mechanism, &wheel, NULL), POL_OK);
  for (int i = 0; i < 2; i++) /* z of the markers is x of the body */
    assert_int_equal(pol_mechanism_add_marker_at(mechanism, "", i ? 0 : POL_GROUND, origin, oblique,
                                                 &hinge.marker[i]),
                     POL_OK);
  assert_int_equal(pol_mechanism_add_joint(mechanism, &hinge, NULL), POL_OK);
  assert_int_equal(pol_mechanism_add_force(mechanism, &spring, NULL), POL_OK);
  return mechanism;
}

/* The wheel's angle at t = 2.8, nearly back from ten turns, and the largest drift of the energy,
 * relative. */
static double unwind(pol_formulation_kind kind, double step, double *drift)
{
  pol_mechanism *mechanism = wound_wheel();
  pol_simulation *simulation;
  pol_settings settings = pol_settings_default();
  settings.formulation = kind;
  settings.step = step;
  settings.end = 2.8;
  settings.options.index = POL_INDEX_2;
  pol_options_set_rho_inf(&settings.options, 1.0);
  assert_int_equal(pol_simulation_create(&simulation, mechanism, &settings, NULL), POL_OK);
  double angle, rate, lowest = 0.0;
  while (!pol_simulation_finished(simulation)) {
    assert_int_equal(pol_simulation_step(simulation), POL_OK);
    pol_point at = pol_state_point(pol_simulation_state(simulation));
    pol_formulation_joint_coordinate(pol_simulation_formulation(simulation), &at, 0, 0, &angle,
                                     &rate);
    lowest = fmin(lowest, angle);
  }
  const pol_summary *summary = pol_simulation_summary(simulation);
  *drift = summary->max_energy_drift / summary->initial_energy.potential;
  assert_near(&summary->initial_energy.potential, &(double){0.5 * 8.0 * 100.0 * pi * pi}, 1, 1e-11);
  assert_near(&lowest, &(double){-20.0 * pi}, 1, 1e-3); /* ten turns from the start */
  pol_simulation_free(&simulation);
  pol_mechanism_free(&mechanism);
  return angle;
}

/* Where a plane rotation is exact and the method has no damping, it keeps the energy to round-off;
 * the Cayley map and Euler parameters feel the speed of the wheel. */
static void a_wound_spring_swings_back(void **state)
{
  (void)state;
  static const struct {
    pol_formulation_kind kind;
    double error, drift; /* at h = 1e-3 */
  } cases[] = {
      {POL_SO3XR3, 4e-5, 1e-12},         {POL_SE3_BODY, 4e-5, 1e-12},
      {POL_SO3XR3_SPATIAL, 4e-5, 1e-12}, {POL_ROTATION_VECTOR, 4e-5, 1e-12},
      {POL_SO3XR3_CAYLEY, 0.016, 2e-4},  {POL_EULER_PARAMETERS, 0.004, 5e-4},
  };
  double exact = 10.0 * pi * (cos(5.6) - 1.0);
  for (int k = 0; k < 6; k++) {
    double drift;
    double coarse = unwind(cases[k].kind, 2e-3, &drift) - exact;
    double fine = unwind(cases[k].kind, 1e-3, &drift) - exact;
    assert_near(&(double){log2(fabs(coarse / fine))}, &(double){2.0}, 1, 0.01);
    assert_true(fabs(fine) < cases[k].error);
    assert_true(drift < cases[k].drift);
  }
}

/* A step that fails leaves the turns as they were, and the run goes on. */
static void a_failed_step_keeps_the_turns(void **state)
{
  (void)state;
  pol_mechanism *mechanism = wound_wheel();
  pol_formulation *formulation;
  pol_integrator *integrator;
  pol_options options = pol_options_default();
  double q[7], v[6], turns, angle, rate;
  unsigned char keep[6];
  assert_int_equal(pol_formulation_create(&formulation, mechanism, POL_SO3XR3), POL_OK);
  assert_int_equal(pol_integrator_create(&integrator, pol_formulation_dae(formulation), &options),
                   POL_OK);
  pol_formulation_initial(formulation, q, v, keep);
  assert_int_equal(pol_integrator_start(integrator, 0.0, q, v, keep), POL_OK);
  const pol_state *now = pol_integrator_state(integrator);
  for (int n = 0; n < 500; n++) {
    assert_int_equal(pol_integrator_step(integrator, 1e-3), POL_OK);
    if (n % 100 != 50) continue;
    memcpy(&turns, now->history, sizeof turns);
    assert_true(pol_integrator_step(integrator, 1e150) > 0);
    assert_memory_equal(now->history, &turns, sizeof turns);
  }
  pol_point at = pol_state_point(now);
  pol_formulation_joint_coordinate(formulation, &at, 0, 0, &angle, &rate);
  assert_near(&angle, &(double){10.0 * pi * (cos(1.0) - 1.0)}, 1, 1e-3);
  assert_near(&rate, &(double){-20.0 * pi * sin(1.0)}, 1, 1e-3);
  pol_integrator_free(&integrator);
  pol_formulation_free(&formulation);
  pol_mechanism_free(&mechanism);
}

/* --- Gavrea/Negrut/Potra 2005 ----------------------------------------------------------------- */

static pol_simulation *run(pol_model *model, double step)
{
  model->settings.step = step;
  pol_simulation *simulation = start(model);
  step_to_end(simulation);
  return simulation;
}

/* Largest error of theta_1, theta_2 and of their rates at t = 2. */
static void double_pendulum_error(pol_model *model, double step, double error[2])
{
  static const double exact[2][2] = {{4.64047818322133, -1.629892454083761},
                                     {4.64049670168853, -1.630252715380243}};
  pol_simulation *simulation = run(model, step);
  pol_point at = pol_state_point(pol_simulation_state(simulation));
  double sum[2] = {2.0 * pi, 0.0}; /* the turn before the start */
  error[0] = error[1] = 0.0;
  for (int joint = 0; joint < 2; joint++) {
    double value[2];
    pol_formulation_joint_coordinate(pol_simulation_formulation(simulation), &at, joint, 0,
                                     &value[0], &value[1]);
    for (int k = 0; k < 2; k++) {
      sum[k] += value[k];
      error[k] = fmax(error[k], fabs(sum[k] - exact[joint][k]));
    }
  }
  pol_simulation_free(&simulation);
}

static void stiff_double_pendulum_converges(void **state)
{
  (void)state;
  static const pol_index indices[] = {POL_INDEX_3, POL_INDEX_2};
  pol_model *model = read_model(MODELS "double_pendulum.json");
  for (int i = 0; i < 2; i++) {
    double coarse[2], fine[2];
    model->settings.options.index = indices[i];
    double_pendulum_error(model, 0x1p-13, coarse);
    double_pendulum_error(model, 0x1p-14, fine);
    assert_true(fine[0] < 1.1e-6 && fine[1] < 6.5e-6);
    for (int k = 0; k < 2; k++)
      assert_near(&(double){log2(coarse[k] / fine[k])}, &(double){2.0}, 1, 0.06);
  }
  pol_model_free(&model);
}

/* Reactions of the consistent start: the multipliers of the paper's constraints. */
static void stiff_double_pendulum_starts_as_published(void **state)
{
  (void)state;
  static const double exact[2][2] = {{-75945.0620297736, 400298.0467936614},
                                     {-75945.06202977375, -169333.5808930171}};
  pol_model *model = read_model(MODELS "double_pendulum.json");
  pol_simulation *simulation;
  assert_int_equal(pol_simulation_create(&simulation, model->mechanism, &model->settings, NULL),
                   POL_OK);
  pol_point at = pol_state_point(pol_simulation_state(simulation));
  for (int joint = 0; joint < 2; joint++) {
    double force[3], torque[3];
    pol_formulation_reaction(pol_simulation_formulation(simulation), &at, joint, force, torque);
    assert_near(force, exact[joint], 2, 1e-6);
  }
  pol_simulation_free(&simulation);
  pol_model_free(&model);
}

/* Largest errors of position, velocity and multiplier at t = 4. */
static void planar_pendulum_error(pol_model *model, double step, double error[3])
{
  static const double x[2] = {0.6185801137750828, -0.7857217337212993};
  static const double u[2] = {1.860329642333284, 1.464593471741569};
  pol_simulation *simulation = run(model, step);
  const pol_state *now = pol_simulation_state(simulation);
  pol_body_state bob;
  pol_formulation_body_state(pol_simulation_formulation(simulation), now->q, now->v, 0, &bob);
  error[0] = fmax(fabs(bob.position[0] - x[0]), fabs(bob.position[1] - x[1]));
  error[1] = fmax(fabs(bob.velocity[0] - u[0]), fabs(bob.velocity[1] - u[1]));
  error[2] = fabs(0.5 * now->lambda[0] - 6.656895311708934);
  pol_simulation_free(&simulation);
}

static void planar_pendulum_converges(void **state)
{
  (void)state;
  pol_model *model = read_model(MODELS "planar_pendulum.json");
  double coarse[3], fine[3];
  planar_pendulum_error(model, 0x1p-8, coarse);
  planar_pendulum_error(model, 0x1p-9, fine);
  for (int k = 0; k < 3; k++)
    assert_near(&(double){log2(coarse[k] / fine[k])}, &(double){2.0}, 1, 0.02);
  assert_true(fine[0] < 6e-5);
  pol_model_free(&model);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_wound_spring_swings_back),
      cmocka_unit_test(a_failed_step_keeps_the_turns),
      cmocka_unit_test(stiff_double_pendulum_converges),
      cmocka_unit_test(stiff_double_pendulum_starts_as_published),
      cmocka_unit_test(planar_pendulum_converges),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
