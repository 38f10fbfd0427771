/* Measured orders of the midpoint and energy-momentum methods in Euler parameters: the heavy top,
 * the slider-crank and a chain from the model files of the Lie group methods, against independent
 * solutions; multipliers at the time that the state tells.  And what is refused, with its reason.
 */
#include "check.h"

#include <polhode/model.h>

#include "heavy_top_reference.h"
#include "simulation/heavy_top.h"

#define MODELS POLHODE_SOURCE_DIR "/models/"

static const char *const all_methods[] = {"em", "em-g", "midpoint", "vi-a"};
enum { EM, EM_G, MIDPOINT, VI_A, NUM_METHODS };

static void check_order(const char *what, const char *method, double coarse, double fine,
                        double order, double tolerance)
{
  double observed = log2(coarse / fine);
  if (!(fabs(observed - order) <= tolerance))
    fail_msg("%s, %s: order %.2f, not %.0f (errors %.2e, %.2e)", method, what, observed, order,
             coarse, fine);
}

/* --- the heavy top ---------------------------------------------------------------------------- */

typedef struct top_run {
  top_errors errors;
  double multiplier; /* largest error of lambda at its time over the largest lambda */
} top_run;

/* The time of a multiplier is on the grid of the reference. */
static double multiplier_error(const pol_state *state)
{
  double q[7], v[6], lambda[3];
  exact((int)lround(state->lambda_t / grid_step), q, v, lambda);
  double size = norm(lambda, 3);
  for (int i = 0; i < 3; i++) lambda[i] -= state->lambda[i];
  return norm(lambda, 3) / size;
}

static top_run run_top(pol_formulation_kind kind, const char *method, double step)
{
  pol_body body = heavy_top_body();
  pol_mechanism *mechanism;
  pol_simulation *simulation;
  pol_settings settings = pol_settings_default();
  top_run found = {.multiplier = 0.0};
  double lambda[3];
  settings.formulation = kind;
  settings.options.method = method;
  settings.step = step;
  settings.end = 1.0;
  assert_int_equal(heavy_top_create(&mechanism, &body), POL_OK);
  assert_int_equal(pol_simulation_create(&simulation, mechanism, &settings, NULL), POL_OK);
  while (!pol_simulation_finished(simulation)) {
    assert_int_equal(pol_simulation_step(simulation), POL_OK);
    const pol_state *state = pol_simulation_state(simulation);
    add_errors(pol_simulation_formulation(simulation), 0, state, &found.errors, lambda);
    found.multiplier = fmax(found.multiplier, multiplier_error(state));
  }
  pol_simulation_free(&simulation);
  pol_mechanism_free(&mechanism);
  return found;
}

/* The body is flat, which em-g and midpoint cannot do in directors. */
static void the_heavy_top_has_second_order(void **state)
{
  (void)state;
  assert_int_equal(read_reference(POLHODE_SOURCE_DIR "/papers/data/heavy_top_grid.csv"), 0);
  for (int k = 0; k < NUM_METHODS; k++) {
    const char *method = all_methods[k];
    top_run coarse = run_top(POL_EULER_PARAMETERS, method, 1e-3);
    top_run fine = run_top(POL_EULER_PARAMETERS, method, 5e-4);
    check_order("q", method, coarse.errors.q, fine.errors.q, 2.0, 0.05);
    if (k != VI_A) check_order("v", method, coarse.errors.v, fine.errors.v, 2.0, 0.05);
  }
  /* the middle of these steps is on the grid of the reference */
  check_order("lambda", "em", run_top(POL_EULER_PARAMETERS, "em", 2e-3).multiplier,
              run_top(POL_EULER_PARAMETERS, "em", 1e-3).multiplier, 2.0, 0.1);
  /* as good as directors, vi-a four times better: a quaternion turns by half the angle */
  double em = run_top(POL_EULER_PARAMETERS, "em", 1e-3).errors.q;
  double vi_a = run_top(POL_EULER_PARAMETERS, "vi-a", 1e-3).errors.q;
  double directors_em = run_top(POL_DIRECTORS, "em", 1e-3).errors.q;
  double directors_vi_a = run_top(POL_DIRECTORS, "vi-a", 1e-3).errors.q;
  assert_near(&(double){em / directors_em}, &(double){1.0}, 1, 0.01);
  assert_near(&(double){vi_a / directors_vi_a}, &(double){0.25}, 1, 0.02);
}

/* --- mechanisms of several bodies ------------------------------------------------------------- */

typedef struct result {
  double position[3];                        /* of one body at the end */
  double q[14], v[14], lambda[10], lambda_t; /* of two bodies */
} result;

static pol_model *read_model(const char *path)
{
  pol_errors errors = {0};
  pol_model *model;
  assert_int_equal(pol_model_read_file(&model, path, 0, NULL, &errors), POL_OK);
  return model;
}

static result run(pol_model *model, const char *method, double step, double end, const char *name)
{
  pol_simulation *simulation;
  pol_body_state body;
  pol_settings settings = model->settings;
  result found = {.lambda_t = 0.0};
  settings.options = pol_options_default();
  settings.options.method = method;
  settings.formulation = POL_EULER_PARAMETERS;
  settings.step = step;
  settings.end = end;
  assert_int_equal(pol_simulation_create(&simulation, model->mechanism, &settings, NULL), POL_OK);
  while (!pol_simulation_finished(simulation))
    assert_int_equal(pol_simulation_step(simulation), POL_OK);
  const pol_state *now = pol_simulation_state(simulation);
  const pol_dae *dae = pol_formulation_dae(pol_simulation_formulation(simulation));
  int index = 0;
  while (strcmp(pol_mechanism_body(model->mechanism, index)->name, name)) index++;
  pol_formulation_body_state(pol_simulation_formulation(simulation), now->q, now->v, index, &body);
  memcpy(found.position, body.position, sizeof body.position);
  found.lambda_t = now->lambda_t;
  if (dae->group.nv == 14) {
    memcpy(found.q, now->q, sizeof found.q);
    memcpy(found.v, now->v, sizeof found.v);
    memcpy(found.lambda, now->lambda, sizeof found.lambda);
  }
  pol_simulation_free(&simulation);
  return found;
}

static double distance(const double *a, const double *b, int n)
{
  double square = 0.0;
  for (int i = 0; i < n; i++) square += (a[i] - b[i]) * (a[i] - b[i]);
  return sqrt(square);
}

/* The slider's position at t = 2 from minimal coordinates in 30 digits. */
static void the_slider_crank_has_second_order(void **state)
{
  (void)state;
  const double exact_position = 0.2890851970671418;
  pol_model *model = read_model(MODELS "holzinger-arnold-gerstmayr/slider_crank.json");
  for (int k = EM; k <= VI_A; k += VI_A - EM) {
    double error[2];
    for (int r = 0; r < 2; r++)
      error[r] = fabs(run(model, all_methods[k], 2e-3 / (r + 1), 2.0, "slider").position[0] -
                      exact_position);
    check_order("slider", all_methods[k], error[0], error[1], 2.0, 0.1);
  }
  pol_model_free(&model);
}

static void the_chain_has_second_order(void **state)
{
  (void)state;
  pol_model *model = read_model(MODELS "examples/chain_20.json");
  result found[3];
  for (int r = 0; r < 3; r++) found[r] = run(model, "em", 0.01 / (1 << r), 0.2, "link 20");
  check_order("chain", "em", distance(found[0].position, found[1].position, 3),
              distance(found[1].position, found[2].position, 3), 2.0, 0.1);
  pol_model_free(&model);
}

/* The multipliers of two bodies that the equations of motion have at this time; of the joints,
 * those of the length of the Euler parameters vanish. */
static void exact_multipliers(pol_model *model, double t, double lambda[10])
{
  pol_formulation *formulation;
  pol_assembler *assembler;
  pol_diagnostics d;
  double vd[14];
  result there = run(model, "em", t / 800.0, t, "second");
  assert_int_equal(pol_formulation_create(&formulation, model->mechanism, POL_EULER_PARAMETERS),
                   POL_OK);
  assert_int_equal(
      pol_assembler_create(&assembler, pol_formulation_dae(formulation), POL_SOLVER_DENSE), POL_OK);
  assert_int_equal(pol_assembler_acceleration(assembler, t, there.q, there.v, vd, lambda, &d),
                   POL_OK);
  pol_assembler_free(&assembler);
  pol_formulation_free(&formulation);
}

/* After an even number of steps: after an odd one those of vi-a have another error constant. */
static void multipliers_have_their_order(void **state)
{
  (void)state;
  static const double order[NUM_METHODS] = {[EM] = 2.0, [EM_G] = 1.0, [VI_A] = 2.0};
  pol_model *model = read_model(POLHODE_SOURCE_DIR "/tests/data/step-equations/two_bodies.json");
  for (int k = 0; k < NUM_METHODS; k++) {
    if (k == MIDPOINT) continue; /* without springs it is em-g */
    double error[3];
    for (int r = 0; r < 3; r++) {
      double exact_lambda[10];
      result found = run(model, all_methods[k], 4e-3 / (1 << r), 0.104, "second");
      exact_multipliers(model, found.lambda_t, exact_lambda);
      error[r] = distance(found.lambda, exact_lambda, 8);
    }
    check_order("lambda", all_methods[k], error[0], error[1], order[k], 0.2);
    check_order("lambda", all_methods[k], error[1], error[2], order[k], 0.2);
  }
  pol_model_free(&model);
}

/* --- what is refused -------------------------------------------------------------------------- */

/* The reason why a model in these coordinates cannot be stepped with a method. */
static void refused(const char *path, pol_formulation_kind kind, const char *method,
                    const char *reason)
{
  pol_model *model = read_model(path);
  pol_formulation *formulation;
  pol_options options = pol_options_default();
  char message[320] = "";
  options.method = method;
  assert_int_equal(pol_formulation_create(&formulation, model->mechanism, kind), POL_OK);
  assert_int_equal(
      pol_integrator_supports(pol_formulation_dae(formulation), &options, message, sizeof message),
      POL_BAD_ARGUMENT);
  assert_string_equal(message, reason);
  pol_formulation_free(&formulation);
  pol_model_free(&model);
}

static void what_cannot_be_stepped_says_why(void **state)
{
  (void)state;
  static const char *const others[] = {"vi-s", "vi-b", "rattle"};
  const char *pendulum = MODELS "examples/double_pendulum.json";
  for (int k = 0; k < 3; k++)
    refused(pendulum, POL_EULER_PARAMETERS, others[k],
            "the method requires a constant mass matrix, as of directors or point masses; with "
            "euler-parameters use vi-a, em, em-g or midpoint");
  refused(pendulum, POL_TAIT_BRYAN, "em",
          "the method requires a constant mass matrix, as of directors or point masses, or "
          "euler-parameters");
  refused(MODELS "examples/planetary_gear.json", POL_EULER_PARAMETERS, "em",
          "the method maps euler-parameters to directors, and directors do not support couplings, "
          "such as 'inner mesh'");
  refused(MODELS "examples/lag_actuator.json", POL_EULER_PARAMETERS, "em",
          "the method does not support first-order states");
  refused(MODELS "examples/friction_block.json", POL_EULER_PARAMETERS, "em",
          "the method does not support forces that depend on reactions, such as friction");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_heavy_top_has_second_order),
      cmocka_unit_test(the_slider_crank_has_second_order),
      cmocka_unit_test(the_chain_has_second_order),
      cmocka_unit_test(multipliers_have_their_order),
      cmocka_unit_test(what_cannot_be_stepped_says_why),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
