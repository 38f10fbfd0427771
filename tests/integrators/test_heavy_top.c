/* The heavy top of Bruels/Cardona 2010, Arnold/Cardona/Bruels 2015 and Holzinger/Arnold/Gerstmayr
 * against an independent solution: every formulation, constraint form, sigma and start at its
 * figure and order. */
#include <polhode/polhode.h>

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "heavy_top_reference.h"
#include "simulation/heavy_top.h"

static int read_grid(void **state)
{
  (void)state;
  return read_reference(POLHODE_SOURCE_DIR "/papers/data/heavy_top_grid.csv");
}

static pol_mechanism *heavy_top(int ground_first)
{
  pol_mechanism *mechanism;
  pol_body body = heavy_top_body();
  assert_int_equal(heavy_top_create_as(&mechanism, &body, ground_first), POL_OK);
  return mechanism;
}

/* A case: what to run, and with the tip's marker on the body first or second. */
typedef struct setup {
  pol_formulation_kind kind;
  int ground_first;
  pol_options options;
} setup_t;

static setup_t standard(void)
{
  setup_t setup = {.kind = POL_SO3XR3, .options = pol_options_default()};
  setup.options.start = POL_START_CLASSICAL;
  return setup;
}

/* Runs to t = 1, or returns the status of the step that failed. */
static pol_status try_run(const setup_t *setup, double h, top_errors *e,
                          pol_diagnostics *diagnostics)
{
  pol_mechanism *mechanism = heavy_top(setup->ground_first);
  pol_formulation *formulation;
  pol_integrator *integrator;
  double q[12], v[12], lambda[3][3] = {{0.0}};
  unsigned char keep[12];
  pol_status status = POL_OK;
  *e = (top_errors){0};
  assert_int_equal(pol_formulation_create(&formulation, mechanism, setup->kind), POL_OK);
  const pol_dae *dae = pol_formulation_dae(formulation);
  pol_formulation_initial(formulation, q, v, keep);
  assert_int_equal(pol_integrator_create(&integrator, dae, &setup->options), POL_OK);
  assert_int_equal(pol_integrator_start(integrator, 0.0, q, v, keep), POL_OK);
  const pol_state *state = pol_integrator_state(integrator);
  long steps = lround(1.0 / h);
  for (long n = 0; n < steps; n++) {
    status = pol_integrator_step(integrator, h);
    if (status) break;
    memmove(lambda[1], lambda[0], 2 * sizeof lambda[0]);
    add_errors(formulation, setup->ground_first, state, e, lambda[0]);
    if (setup->kind != POL_SO3_PIVOT) memcpy(lambda[0], state->lambda, sizeof lambda[0]);
    add_residuals(dae, state, e);
    if (state->eta) e->eta = fmax(e->eta, norm(state->eta, dae->num_holonomic));
    for (int i = 0; i < 3 && n >= 2 && n < 60; i++)
      e->ripple = fmax(e->ripple, fabs(lambda[0][i] - 2.0 * lambda[1][i] + lambda[2][i]));
  }
  *diagnostics = *pol_integrator_diagnostics(integrator);
  e->v /= e->largest_v;
  e->newton = (double)pol_integrator_counts(integrator)->newton_iterations / (double)steps;
  e->jacobians = (double)pol_integrator_counts(integrator)->jacobians / (double)steps;
  pol_integrator_free(&integrator);
  pol_formulation_free(&formulation);
  pol_mechanism_free(&mechanism);
  return status;
}

static top_errors run(const setup_t *setup, double h)
{
  top_errors e;
  pol_diagnostics diagnostics;
  pol_status status = try_run(setup, h, &e, &diagnostics);
  if (status) fail_msg("failed at t = %g: %s", diagnostics.t, diagnostics.message);
  return e;
}

/* Within one percent of a published or independently computed figure. */
static void assert_figure(double measured, double figure)
{
  if (!(fabs(measured - figure) <= 0.01 * figure))
    fail_msg("measured %.4e instead of %.4e", measured, figure);
}

static void assert_order(double coarse, double fine, double order, double tolerance)
{
  double measured = log2(coarse / fine);
  if (!(fabs(measured - order) <= tolerance))
    fail_msg("order %.3f instead of %.2f", measured, order);
}

/* Not below second order, but for the higher terms that these step sizes still see. */
static void assert_second_order(double coarse, double fine)
{
  double measured = log2(coarse / fine);
  if (!(measured > 1.65 && measured < 2.6)) fail_msg("order %.3f instead of 2", measured);
}

static void product_group_meets_the_reference(void **state)
{
  (void)state;
  setup_t setup = standard();
  top_errors coarse = run(&setup, 1e-3), fine = run(&setup, 5e-4);
  assert_figure(coarse.q, 1.280e-2);
  assert_figure(fine.q, 3.192e-3);
  assert_figure(coarse.lambda, 3.06e-1);
  assert_figure(coarse.late_lambda, 1.094e-2);
  assert_order(coarse.q, fine.q, 2.0, 0.01);
  assert_order(coarse.v, fine.v, 2.0, 0.01);
  assert_order(coarse.lambda, fine.lambda, 1.05, 0.1);
  assert_order(coarse.late_lambda, fine.late_lambda, 2.0, 0.01);
  assert_true(coarse.position < 1e-12 && fine.position < 1e-12);
}

/* On SE(3) the figures are in the norm of that group: q, and lambda with its own multipliers. */
static void semidirect_group_meets_the_reference(void **state)
{
  (void)state;
  setup_t setup = standard();
  setup.kind = POL_SE3_BODY;
  top_errors coarse = run(&setup, 1e-3), fine = run(&setup, 5e-4);
  assert_figure(coarse.q, 1.573e-1);
  assert_figure(fine.q, 3.947e-2);
  assert_figure(coarse.lambda, 1.286e-1);
  assert_order(coarse.q, fine.q, 2.0, 0.01);
  assert_order(coarse.v, fine.v, 2.0, 0.01);
  assert_order(coarse.lambda, fine.lambda, 2.0, 0.03);
  assert_true(coarse.position < 1e-12 && fine.position < 1e-12);
  assert_true(coarse.velocity < 1e-9 && fine.velocity < 1e-9);
}

/* Index 2 depends on the frame of the constraint, because its configurations leave it: the papers'
 * B = (-X~, -R^T) is that of the inertial frame. */
static void velocity_level_forms_meet_the_reference(void **state)
{
  (void)state;
  setup_t setup = standard();
  setup.options.index = POL_INDEX_2_STABILIZED;
  top_errors e = run(&setup, 1e-3);
  assert_figure(e.q, 8.22e-3);
  assert_figure(e.lambda, 2.965e-3);
  assert_true(e.position < 1e-12 && e.velocity < 1e-9);
  assert_order(e.eta, run(&setup, 5e-4).eta, 2.0, 0.01);
  setup.options.index = POL_INDEX_2;
  setup.ground_first = 1;
  e = run(&setup, 1e-3);
  assert_figure(e.q, 1.552e-2);
  assert_figure(e.lambda, 6.02e-3);
  assert_true(e.velocity < 1e-9);
}

static void sigma_meets_the_reference(void **state)
{
  (void)state;
  setup_t setup = standard();
  pol_options *o = &setup.options;
  pol_options_set_rho_inf(o, 0.65);
  assert_figure(run(&setup, 1e-3).q, 1.407e-2);
  o->sigma = 1.0;
  assert_figure(run(&setup, 1e-3).q, 6.14e-3);
  o->sigma = o->gamma / (3.0 * o->beta);
  assert_figure(run(&setup, 1e-3).q, 8.91e-3);
  run(&setup, 2e-3); /* the incremental form fails there */

  o->index = POL_INDEX_2_STABILIZED;
  pol_options_set_rho_inf(o, 1.0);
  o->sigma = 0.0;
  assert_figure(run(&setup, 1e-3).q, 8.19e-3);
  o->sigma = 1.0;
  assert_figure(run(&setup, 1e-3).q, 2.63e-3);
  o->sigma = o->gamma / (3.0 * o->beta);
  assert_figure(run(&setup, 1e-3).q, 4.15e-3);
}

/* The printed algorithms are another method: better constants here, but they fail at twice the
 * step. */
static void incremental_sigma_meets_the_reference(void **state)
{
  (void)state;
  setup_t setup = standard();
  pol_options *o = &setup.options;
  top_errors e;
  pol_diagnostics diagnostics;
  pol_options_set_rho_inf(o, 0.65);
  o->published.sigma_update = POL_SIGMA_INCREMENTAL;
  assert_figure(run(&setup, 1e-3).q, 1.407e-2); /* sigma = 0: the same method */
  o->sigma = 1.0;
  assert_figure(run(&setup, 1e-3).q, 1.99e-3);
  assert_true(try_run(&setup, 2e-3, &e, &diagnostics) != POL_OK);
  o->sigma = o->gamma / (3.0 * o->beta);
  assert_figure(run(&setup, 1e-3).q, 6.14e-3);
  o->start = POL_START_PERTURBED;
  top_errors coarse = run(&setup, 1e-3), fine = run(&setup, 5e-4);
  assert_order(coarse.lambda, fine.lambda, 2.0, 0.1);
  o->index = POL_INDEX_2_STABILIZED;
  o->start = POL_START_DEFAULT;
  coarse = run(&setup, 1e-3);
  fine = run(&setup, 5e-4);
  assert_order(coarse.q, fine.q, 2.0, 0.2);
}

/* With the predictor as printed the constants are others again, and it runs at twice the step. */
static void printed_sigma_meets_the_reference(void **state)
{
  (void)state;
  setup_t setup = standard();
  pol_options *o = &setup.options;
  pol_options_set_rho_inf(o, 0.65);
  o->published.sigma_update = POL_SIGMA_PRINTED;
  o->sigma = 1.0;
  assert_figure(run(&setup, 1e-3).q, 2.15e-3);
  o->sigma = o->gamma / (3.0 * o->beta);
  assert_figure(run(&setup, 1e-3).q, 3.61e-3);
  run(&setup, 2e-3);
  o->start = POL_START_PERTURBED;
  const top_errors coarse = run(&setup, 1e-3), fine = run(&setup, 5e-4);
  assert_order(coarse.lambda, fine.lambda, 2.0, 0.1);
}

/* The published iteration: two corrections a step (section 7.1 has 2), and with a matrix that is
 * kept far fewer matrices than corrections; the motion is that of the full iteration. */
static void plain_iteration_meets_the_published_counts(void **state)
{
  static const pol_sigma_update updates[2] = {POL_SIGMA_EXACT, POL_SIGMA_INCREMENTAL};
  (void)state;
  for (int k = 0; k < 2; k++) {
    setup_t setup = standard();
    pol_options *o = &setup.options;
    pol_options_set_rho_inf(o, 0.65);
    setup.ground_first = 1;
    o->sigma = 1.0;
    o->published.sigma_update = updates[k];
    o->newton.kind = POL_NEWTON_FULL;
    const top_errors full = run(&setup, 1e-3);
    o->newton.tolerance = 1e-8;
    o->published.newton = POL_PUBLISHED_NEWTON_PLAIN;
    const top_errors plain = run(&setup, 1e-3);
    assert_true(plain.newton == 2.0 && plain.jacobians == 2.0);
    assert_true(fabs(plain.q - full.q) <= 1e-6 * full.q);
    o->published.newton = POL_PUBLISHED_NEWTON_PLAIN_MODIFIED;
    const top_errors kept = run(&setup, 1e-3);
    assert_true(kept.newton > 9.0 && kept.newton < 11.0 && kept.jacobians <= 1.0);
    /* what the incremental form leaves out depends on the matrix, too */
    const double allowed = (k == 0 ? 1e-6 : 1e-2) * full.q;
    if (!(fabs(kept.q - full.q) <= allowed)) fail_msg("%d: %.8e and %.8e", k, kept.q, full.q);
  }
}

static void spatial_form_meets_the_reference(void **state)
{
  (void)state;
  setup_t setup = standard();
  pol_options *o = &setup.options;
  assert_figure(run(&setup, 1e-3).final_x, 7.274e-3);
  setup.kind = POL_SO3XR3_SPATIAL;
  assert_figure(run(&setup, 1e-3).final_x, 1.553e-3);
  o->sigma = 1.0;
  assert_figure(run(&setup, 1e-3).final_x, 5.380e-4);
  o->sigma = o->gamma / (3.0 * o->beta);
  top_errors coarse = run(&setup, 2e-3), fine = run(&setup, 1e-3);
  assert_figure(coarse.final_x, 4.752e-4);
  assert_figure(fine.final_x, 1.197e-4);
  assert_order(coarse.final_x, fine.final_x, 2.0, 0.05);
  o->index = POL_INDEX_2_STABILIZED;
  assert_figure(run(&setup, 1e-3).final_x, 1.108e-4);
  o->index = POL_INDEX_2;
  setup.ground_first = 1;
  assert_figure(run(&setup, 1e-3).final_x, 2.173e-4);
}

/* In inertial axes the multipliers vary slowly, so their second differences show the oscillation.
 */
static void perturbed_start_removes_the_ripple(void **state)
{
  (void)state;
  static const double figures[2][2] = {{255.7, 0.097}, {10.6, 0.056}}; /* classical, perturbed */
  setup_t setup = standard();
  setup.kind = POL_SO3XR3_SPATIAL;
  setup.ground_first = 1;
  for (int optimal = 0; optimal < 2; optimal++) {
    pol_options *o = &setup.options;
    o->sigma = optimal ? o->gamma / (3.0 * o->beta) : 0.0;
    o->start = POL_START_CLASSICAL;
    assert_figure(run(&setup, 1e-3).ripple, figures[optimal][0]);
    o->start = POL_START_PERTURBED;
    assert_figure(run(&setup, 1e-3).ripple, figures[optimal][1]);
  }
}

/* Every method, formulation and constraint form is of second order in q, v and lambda with the
 * default start.  The Cayley map as classical coordinates is far from its asymptotic errors at
 * these steps. */
static void default_start_gives_second_order(void **state)
{
  (void)state;
  static const char *methods[] = {"geom1", "geom2", "geom3", "linear"};
  int cases = 0;
  for (int kind = 0; kind < POL_TAIT_BRYAN; kind++)
    for (int index = POL_INDEX_3; index <= POL_INDEX_2_STABILIZED; index++)
      for (int m = 0; m < 4; m++) {
        setup_t setup = standard();
        setup.kind = (pol_formulation_kind)kind;
        setup.options.index = (pol_index)index;
        setup.options.method = methods[m];
        setup.options.start = POL_START_DEFAULT;
        if (kind == POL_ROTATION_VECTOR && (m == 1 || m == 2)) continue;
        if (kind == POL_SO3XR3_CAYLEY && m == 3) continue;
        cases++;
        top_errors coarse = run(&setup, 1e-3), fine = run(&setup, 5e-4);
        assert_second_order(coarse.q, fine.q);
        assert_second_order(coarse.v, fine.v);
        assert_second_order(coarse.lambda, fine.lambda);
      }
  assert_int_equal(cases, 3 * (7 * 4 - 3));
}

/* A change of the step size excites no oscillation of the multipliers: after steps of h, h/2, 2 h,
 * h/100 their errors stay what they are with equal steps. */
static void step_changes_leave_the_multipliers_alone(void **state)
{
  (void)state;
  static const double ratios[] = {1.0, 0.5, 2.0, 0.01, 1.0};
  for (int kind = 0; kind <= POL_SO3XR3_SPATIAL; kind++)
    for (int index = POL_INDEX_3; index <= POL_INDEX_2_STABILIZED; index++) {
      setup_t setup = standard();
      setup.kind = (pol_formulation_kind)kind;
      setup.options.index = (pol_index)index;
      setup.options.start = POL_START_DEFAULT;
      double equal = run(&setup, 5e-4).lambda;
      pol_mechanism *mechanism = heavy_top(0);
      pol_formulation *formulation;
      pol_integrator *integrator;
      double q[7], v[6], lambda[3], worst = 0.0;
      unsigned char keep[6];
      assert_int_equal(pol_formulation_create(&formulation, mechanism, setup.kind), POL_OK);
      pol_formulation_initial(formulation, q, v, keep);
      assert_int_equal(
          pol_integrator_create(&integrator, pol_formulation_dae(formulation), &setup.options),
          POL_OK);
      assert_int_equal(pol_integrator_start(integrator, 0.0, q, v, keep), POL_OK);
      for (int k = 0; k < 5; k++)
        for (int n = 0; n < 100; n++) {
          assert_int_equal(pol_integrator_step(integrator, 5e-4 * ratios[k]), POL_OK);
          const pol_state *now = pol_integrator_state(integrator);
          double on_grid = now->t / grid_step;
          if (fabs(on_grid - (double)lround(on_grid)) > 1e-6) continue;
          top_errors e = {0};
          add_errors(formulation, 0, now, &e, lambda);
          worst = fmax(worst, e.lambda);
        }
      if (!(worst < 4.0 * equal))
        fail_msg("%s, index form %d: %.2e, %.2e with equal steps", pol_formulation_name(setup.kind),
                 index, worst, equal);
      pol_integrator_free(&integrator);
      pol_formulation_free(&formulation);
      pol_mechanism_free(&mechanism);
    }
}

static void conventional_coordinates_meet_the_reference(void **state)
{
  (void)state;
  setup_t setup = standard();
  pol_options_set_rho_inf(&setup.options, 0.65);
  setup.options.method = "linear";
  setup.kind = POL_ROTATION_VECTOR;
  assert_figure(run(&setup, 1e-3).q, 3.42e-3);
  setup.kind = POL_EULER_PARAMETERS;
  top_errors e = run(&setup, 1e-3);
  assert_figure(e.q, 1.243e-1);
  assert_figure(e.x, 1.78e-3);
}

/* Tait-Bryan angles come within three degrees of gimbal lock in the first hundredths of a second:
 * large steps fail there and say so, small ones get by. */
static void gimbal_lock_is_named(void **state)
{
  (void)state;
  setup_t setup = standard();
  top_errors e;
  pol_diagnostics diagnostics;
  setup.options.method = "linear";
  setup.kind = POL_TAIT_BRYAN;
  static const double steps[] = {2.5e-3, 2e-3, 1e-3, 5e-4};
  for (int k = 0; k < 4; k++)
    for (int damped = 0; damped < 2; damped++) {
      pol_options_set_rho_inf(&setup.options, damped ? 0.65 : 0.9);
      assert_true(try_run(&setup, steps[k], &e, &diagnostics) > 0);
      assert_non_null(strstr(diagnostics.message, "body 'top' is in gimbal lock"));
      assert_true(diagnostics.t < 0.02 && strlen(diagnostics.advice) > 0);
    }
  assert_true(run(&setup, 1.25e-4).x < 0.01);
}

/* The way to the solution does not change it; the exact matrix needs few iterations a step. */
static void newton_variants_agree(void **state)
{
  (void)state;
  for (int kind = 0; kind <= POL_SE3_BODY; kind++)
    for (int index = POL_INDEX_3; index <= POL_INDEX_2_STABILIZED; index++) {
      setup_t setup = standard();
      setup.kind = (pol_formulation_kind)kind;
      setup.options.index = (pol_index)index;
      setup.options.newton.kind = POL_NEWTON_FULL;
      setup.options.newton.tolerance = 1e-12;
      top_errors full = run(&setup, 1e-3);
      assert_true(full.newton <= 3.0);
      for (int k = POL_NEWTON_SIMPLIFIED; k <= POL_NEWTON_MODIFIED; k++) {
        setup.options.newton.kind = (pol_newton_kind)k;
        top_errors other = run(&setup, 1e-3);
        assert_true(fabs(other.q - full.q) <= 1e-6 * full.q);
        assert_true(fabs(other.lambda - full.lambda) <= 1e-6 * full.lambda);
      }
    }
}

/* The frame of the constraint changes neither motion nor force: lambda turns with it and changes
 * sign. */
static void constraint_frames_agree(void **state)
{
  (void)state;
  double q[2][7], v[6], force[2][3], torque[2][3];
  unsigned char keep[6];
  for (int body_first = 0; body_first < 2; body_first++) {
    pol_mechanism *mechanism = heavy_top(!body_first);
    pol_formulation *formulation;
    pol_integrator *integrator;
    pol_options options = pol_options_default();
    assert_int_equal(pol_formulation_create(&formulation, mechanism, POL_SO3XR3), POL_OK);
    pol_formulation_initial(formulation, q[body_first], v, keep);
    assert_int_equal(pol_integrator_create(&integrator, pol_formulation_dae(formulation), &options),
                     POL_OK);
    assert_int_equal(pol_integrator_start(integrator, 0.0, q[body_first], v, keep), POL_OK);
    for (int n = 0; n < 4; n++) assert_int_equal(pol_integrator_step(integrator, 2.5e-4), POL_OK);
    const pol_state *now = pol_integrator_state(integrator);
    memcpy(q[body_first], now->q, sizeof q[0]);
    /* the force on the top, whichever marker it holds */
    pol_point at = pol_state_point(now);
    pol_formulation_reaction(formulation, &at, 0, force[body_first], torque[body_first]);
    for (int i = 0; i < 3; i++) force[body_first][i] *= body_first ? -1.0 : 1.0;
    pol_integrator_free(&integrator);
    pol_formulation_free(&formulation);
    pol_mechanism_free(&mechanism);
  }
  assert_near(q[0], q[1], 7, 1e-12);
  assert_near(force[0], force[1], 3, 1e-5 * norm(force[0], 3));
  for (int i = 0; i < 2; i++) assert_true(norm(torque[i], 3) < 1e-10 * norm(force[i], 3));
}

/* A step that ended in numbers that are not finite does not spoil the next. */
static void steps_recover_from_overflow(void **state)
{
  (void)state;
  for (int k = POL_NEWTON_FULL; k <= POL_NEWTON_MODIFIED; k++) {
    pol_mechanism *mechanism = heavy_top(0);
    pol_formulation *formulation;
    pol_integrator *integrator;
    pol_options options = pol_options_default();
    double q[7], v[6], before[7];
    unsigned char keep[6];
    options.newton.kind = (pol_newton_kind)k;
    assert_int_equal(pol_formulation_create(&formulation, mechanism, POL_SO3XR3), POL_OK);
    pol_formulation_initial(formulation, q, v, keep);
    assert_int_equal(pol_integrator_create(&integrator, pol_formulation_dae(formulation), &options),
                     POL_OK);
    assert_int_equal(pol_integrator_start(integrator, 0.0, q, v, keep), POL_OK);
    assert_int_equal(pol_integrator_step(integrator, 1e-3), POL_OK);
    memcpy(before, pol_integrator_state(integrator)->q, sizeof before);
    assert_true(pol_integrator_step(integrator, 1e160) > 0);
    assert_memory_equal(pol_integrator_state(integrator)->q, before, sizeof before);
    for (int n = 0; n < 3; n++) assert_int_equal(pol_integrator_step(integrator, 1e-3), POL_OK);
    q[0] = (double)NAN;
    assert_int_equal(pol_integrator_start(integrator, 0.0, q, v, keep), POL_NOT_FINITE);
    pol_integrator_free(&integrator);
    pol_formulation_free(&formulation);
    pol_mechanism_free(&mechanism);
  }
}

/* Steps that differ by the round-off of times only are equal steps: one matrix serves them in
 * SE(3). */
static void round_off_in_steps_is_no_change(void **state)
{
  (void)state;
  pol_mechanism *mechanism = heavy_top(0);
  pol_formulation *formulation;
  pol_integrator *integrator;
  pol_options options = pol_options_default();
  options.newton.stop = POL_STOP_TIGHT; /* the same number of iterations in each step */
  double q[7], v[6];
  unsigned char keep[6];
  assert_int_equal(pol_formulation_create(&formulation, mechanism, POL_SE3_BODY), POL_OK);
  pol_formulation_initial(formulation, q, v, keep);
  assert_int_equal(pol_integrator_create(&integrator, pol_formulation_dae(formulation), &options),
                   POL_OK);
  assert_int_equal(pol_integrator_start(integrator, 0.0, q, v, keep), POL_OK);
  const pol_state *now = pol_integrator_state(integrator);
  for (int n = 1; n <= 500; n++)
    assert_int_equal(pol_integrator_step(integrator, 1e-3 * n - now->t), POL_OK);
  assert_near(&now->t, &(double){0.5}, 1, 1e-15);
  assert_int_equal(pol_integrator_counts(integrator)->jacobians, 1);
  pol_integrator_free(&integrator);
  pol_formulation_free(&formulation);
  pol_mechanism_free(&mechanism);
}

/* A spherical joint allows any angular velocity, however small the inertia beside m l^2. */
static void light_inertia_keeps_its_spin(void **state)
{
  (void)state;
  static const double origin[3] = {0.0, 0.0, 0.0};
  pol_mechanism *mechanism;
  pol_formulation *formulation;
  pol_integrator *integrator;
  pol_options options = pol_options_default();
  pol_body body = {.name = "bob",
                   .mass = 1.0,
                   .inertia = {1e-12, 0, 0, 0, 1e-12, 0, 0, 0, 1e-12},
                   .position = {0.0, 0.0, -1.0},
                   .rotation = {1.0, 0.0, 0.0, 0.0},
                   .angular_velocity = {0.0, 2.0, 0.0},
                   .given = POL_GIVEN_ANGULAR_VELOCITY};
  pol_joint joint = {.name = "pivot", .type = POL_SPHERICAL};
  double q[7], v[6];
  unsigned char keep[6];
  assert_int_equal(pol_mechanism_create(&mechanism), POL_OK);
  assert_int_equal(pol_mechanism_add_body(mechanism, &body, NULL), POL_OK);
  assert_int_equal(
      pol_mechanism_add_marker_at(mechanism, "", POL_GROUND, origin, NULL, &joint.marker[0]),
      POL_OK);
  assert_int_equal(pol_mechanism_add_marker_at(mechanism, "", 0, origin, NULL, &joint.marker[1]),
                   POL_OK);
  assert_int_equal(pol_mechanism_add_joint(mechanism, &joint, NULL), POL_OK);
  assert_int_equal(pol_formulation_create(&formulation, mechanism, POL_SO3XR3), POL_OK);
  pol_formulation_initial(formulation, q, v, keep);
  assert_int_equal(pol_integrator_create(&integrator, pol_formulation_dae(formulation), &options),
                   POL_OK);
  assert_int_equal(pol_integrator_start(integrator, 0.0, q, v, keep), POL_OK);
  const double *found = pol_integrator_state(integrator)->v;
  assert_near(found, body.angular_velocity, 3, 0.0);
  assert_near(&found[3], &(double){-2.0}, 1, 1e-12);
  pol_integrator_free(&integrator);
  pol_formulation_free(&formulation);
  pol_mechanism_free(&mechanism);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(product_group_meets_the_reference),
      cmocka_unit_test(semidirect_group_meets_the_reference),
      cmocka_unit_test(velocity_level_forms_meet_the_reference),
      cmocka_unit_test(sigma_meets_the_reference),
      cmocka_unit_test(incremental_sigma_meets_the_reference),
      cmocka_unit_test(printed_sigma_meets_the_reference),
      cmocka_unit_test(plain_iteration_meets_the_published_counts),
      cmocka_unit_test(spatial_form_meets_the_reference),
      cmocka_unit_test(perturbed_start_removes_the_ripple),
      cmocka_unit_test(default_start_gives_second_order),
      cmocka_unit_test(step_changes_leave_the_multipliers_alone),
      cmocka_unit_test(conventional_coordinates_meet_the_reference),
      cmocka_unit_test(gimbal_lock_is_named),
      cmocka_unit_test(newton_variants_agree),
      cmocka_unit_test(constraint_frames_agree),
      cmocka_unit_test(steps_recover_from_overflow),
      cmocka_unit_test(round_off_in_steps_is_no_change),
      cmocka_unit_test(light_inertia_keeps_its_spin),
  };
  return cmocka_run_group_tests(tests, read_grid, NULL);
}
