/* The heavy top of Bruels/Cardona 2010 and Arnold/Cardona/Bruels 2015 against an independent
 * solution: errors at two step sizes, orders, constraint residuals, in SO(3)xR3 and SE(3).
 *
 * Errors are maxima over (0, 1]: of q in the norm of log(q_n^-1 o q(t_n)), of v relative to the
 * largest velocity, of lambda relative to |lambda_n|. */
#include <polhode/polhode.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { GRID = 2001 }; /* every 5e-4 s */
static const double grid_step = 5e-4;
static double grid[GRID][8]; /* t, quaternion, body angular velocity */

static const double mass = 15.0, gravity[3] = {0.0, 0.0, -9.81};
static const double J_fixed[3] = {15.234375, 0.46875, 15.234375}; /* about the tip */

static int read_grid(void **state)
{
  (void)state;
  FILE *file = fopen(POLHODE_SOURCE_DIR "/tests/data/heavy_top_grid.csv", "r");
  char line[256];
  int n = 0;
  if (!file) return -1;
  while (fgets(line, sizeof line, file) && n < GRID) {
    double *g = grid[n];
    if (sscanf(line, "%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf", g, g + 1, g + 2, g + 3, g + 4, g + 5, g + 6,
               g + 7) == 8)
      n++;
  }
  fclose(file);
  return n == GRID ? 0 : -1;
}

static void cross(const double a[3], const double b[3], double c[3])
{
  for (int i = 0; i < 3; i++)
    c[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

/* The exact solution at grid point n: x = R X, u = R (Omega x X), lambda of Phi = X - R^T x. */
static void exact(int n, pol_formulation_kind kind, double q[7], double v[6], double lambda[3])
{
  static const double X[3] = {0.0, 1.0, 0.0};
  const double *omega = grid[n] + 5;
  double R[9], U[3], weight[3], torque[3], momentum[3], gyro[3], omega_dot[3], spin[3], swing[3];
  memcpy(q, grid[n] + 1, 4 * sizeof *q);
  pol_quat_to_matrix(q, R);
  cross(omega, X, U);
  for (int i = 0; i < 3; i++) {
    q[4 + i] = R[3 * i + 1];
    v[i] = omega[i];
    v[3 + i] =
        kind == POL_SE3_BODY ? U[i] : R[3 * i] * U[0] + R[3 * i + 1] * U[1] + R[3 * i + 2] * U[2];
    weight[i] = mass * (R[i] * gravity[0] + R[3 + i] * gravity[1] + R[6 + i] * gravity[2]);
    momentum[i] = J_fixed[i] * omega[i];
  }
  cross(X, weight, torque);
  cross(omega, momentum, gyro);
  for (int i = 0; i < 3; i++) omega_dot[i] = (torque[i] - gyro[i]) / J_fixed[i];
  cross(omega_dot, X, spin);
  cross(omega, U, swing);
  for (int i = 0; i < 3; i++) lambda[i] = mass * (spin[i] + swing[i]) - weight[i];
}

static pol_mechanism *heavy_top(int body_first)
{
  pol_mechanism *mechanism;
  static const double origin[3] = {0.0, 0.0, 0.0};
  pol_body body = {.name = "top",
                   .mass = mass,
                   .inertia = {0.234375, 0, 0, 0, 0.46875, 0, 0, 0, 0.234375},
                   .position = {0.0, 1.0, 0.0},
                   .rotation = {1.0, 0.0, 0.0, 0.0},
                   .angular_velocity = {0.0, 150.0, -4.61538},
                   .given = POL_GIVEN_ANGULAR_VELOCITY};
  int top, ground;
  assert_int_equal(pol_mechanism_create(&mechanism), POL_OK);
  pol_mechanism_set_gravity(mechanism, gravity);
  assert_int_equal(pol_mechanism_add_body(mechanism, &body, NULL), POL_OK);
  assert_int_equal(pol_mechanism_add_marker_at(mechanism, "", 0, origin, NULL, &top), POL_OK);
  assert_int_equal(pol_mechanism_add_marker_at(mechanism, "", POL_GROUND, origin, NULL, &ground),
                   POL_OK);
  pol_joint joint = {.name = "tip",
                     .type = POL_SPHERICAL,
                     .marker = {body_first ? top : ground, body_first ? ground : top}};
  assert_int_equal(pol_mechanism_add_joint(mechanism, &joint, NULL), POL_OK);
  return mechanism;
}

typedef struct errors {
  double q, v, lambda, late_lambda; /* late: on [0.5, 1] */
  double position, velocity;        /* constraint residuals */
  double newton;                    /* iterations a step */
} errors;

static double norm(const double *x, int n)
{
  double square = 0.0;
  for (int i = 0; i < n; i++) square += x[i] * x[i];
  return sqrt(square);
}

static void add_errors(const pol_dae *dae, pol_formulation_kind kind, const pol_state *state,
                       errors *e, double *largest_v)
{
  double q[7], v[6], lambda[3], w[6], scratch[64], position[3], velocity[3];
  exact((int)lround(state->t / grid_step), kind, q, v, lambda);
  pol_group_difference(&dae->group, state->q, q, w);
  e->q = fmax(e->q, norm(w, 6));
  *largest_v = fmax(*largest_v, norm(v, 6));
  for (int i = 0; i < 6; i++) v[i] -= state->v[i];
  e->v = fmax(e->v, norm(v, 6));
  for (int i = 0; i < 3; i++) lambda[i] -= state->lambda[i];
  double relative = norm(lambda, 3) / norm(state->lambda, 3);
  e->lambda = fmax(e->lambda, relative);
  if (state->t > 0.5 - 1e-9) e->late_lambda = fmax(e->late_lambda, relative);

  assert_true(dae->scratch_size <= 64);
  pol_point at = {state->t, state->q, state->v, state->vd, state->lambda};
  pol_terms out = {.position = position, .velocity = velocity};
  assert_int_equal(dae->evaluate(&at, POL_POSITION | POL_VELOCITY, &out, scratch, dae->user),
                   POL_OK);
  for (int i = 0; i < 3; i++) {
    e->position = fmax(e->position, fabs(position[i]));
    e->velocity = fmax(e->velocity, fabs(velocity[i]));
  }
}

static errors run(pol_formulation_kind kind, const pol_options *options, double h)
{
  pol_mechanism *mechanism = heavy_top(1);
  pol_formulation *formulation;
  pol_integrator *integrator;
  errors e = {0};
  double q[7], v[6], largest_v = 0.0;
  unsigned char keep[6];
  assert_int_equal(pol_formulation_create(&formulation, mechanism, kind), POL_OK);
  const pol_dae *dae = pol_formulation_dae(formulation);
  pol_formulation_initial(formulation, q, v, keep);
  assert_int_equal(pol_integrator_create(&integrator, dae, options), POL_OK);
  assert_int_equal(pol_integrator_start(integrator, 0.0, q, v, keep), POL_OK);
  const pol_state *state = pol_integrator_state(integrator);
  long steps = lround(1.0 / h);
  for (long n = 0; n < steps; n++) {
    assert_int_equal(pol_integrator_step(integrator, h), POL_OK);
    add_errors(dae, kind, state, &e, &largest_v);
  }
  e.v /= largest_v;
  e.newton = (double)pol_integrator_counts(integrator)->newton_iterations / (double)steps;
  pol_integrator_free(&integrator);
  pol_formulation_free(&formulation);
  pol_mechanism_free(&mechanism);
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

static void product_group_meets_the_reference(void **state)
{
  (void)state;
  pol_options options = pol_options_default();
  errors coarse = run(POL_SO3XR3, &options, 1e-3), fine = run(POL_SO3XR3, &options, 5e-4);
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

static void semidirect_group_meets_the_reference(void **state)
{
  (void)state;
  pol_options options = pol_options_default();
  errors coarse = run(POL_SE3_BODY, &options, 1e-3), fine = run(POL_SE3_BODY, &options, 5e-4);
  assert_figure(coarse.q, 1.573e-1);
  assert_figure(fine.q, 3.947e-2);
  assert_figure(coarse.lambda, 1.286e-1);
  assert_order(coarse.q, fine.q, 2.0, 0.01);
  assert_order(coarse.v, fine.v, 2.0, 0.01);
  assert_order(coarse.lambda, fine.lambda, 2.0, 0.03);
  assert_true(coarse.position < 1e-12 && fine.position < 1e-12);
  assert_true(coarse.velocity < 1e-9 && fine.velocity < 1e-9);
}

/* The stabilized form and the sigma update are choices of the same integrator. */
static void choices_meet_the_reference(void **state)
{
  (void)state;
  pol_options options = pol_options_default();
  options.index = POL_INDEX_2_STABILIZED;
  errors e = run(POL_SO3XR3, &options, 1e-3);
  assert_figure(e.q, 8.22e-3);
  assert_figure(e.lambda, 2.965e-3);
  assert_true(e.position < 1e-12 && e.velocity < 1e-9);

  pol_options_set_rho_inf(&options, 1.0);
  options.sigma = 1.0;
  assert_figure(run(POL_SO3XR3, &options, 1e-3).q, 2.63e-3);
  options.sigma = options.gamma / (3.0 * options.beta);
  assert_figure(run(POL_SO3XR3, &options, 1e-3).q, 4.15e-3);

  options.index = POL_INDEX_3;
  pol_options_set_rho_inf(&options, 0.65);
  options.sigma = 0.0;
  assert_figure(run(POL_SO3XR3, &options, 1e-3).q, 1.407e-2);
  options.sigma = 1.0;
  assert_figure(run(POL_SO3XR3, &options, 1e-3).q, 6.14e-3);
  options.sigma = options.gamma / (3.0 * options.beta);
  assert_figure(run(POL_SO3XR3, &options, 1e-3).q, 8.91e-3);
}

/* geom2, geom3 and index 2: second order. */
static void other_updates_converge(void **state)
{
  (void)state;
  static const char *methods[] = {"geom2", "geom3"};
  for (int i = 0; i < 2; i++)
    for (int kind = 0; kind < pol_formulation_count(); kind++) {
      pol_options options = pol_options_default();
      options.method = methods[i];
      errors coarse = run((pol_formulation_kind)kind, &options, 1e-3);
      errors fine = run((pol_formulation_kind)kind, &options, 5e-4);
      assert_order(coarse.q, fine.q, 2.0, 0.1);
      assert_order(coarse.v, fine.v, 2.0, 0.1);
    }
  pol_options options = pol_options_default();
  options.index = POL_INDEX_2;
  errors coarse = run(POL_SO3XR3, &options, 1e-3), fine = run(POL_SO3XR3, &options, 5e-4);
  assert_order(coarse.q, fine.q, 2.0, 0.05);
  assert_order(coarse.lambda, fine.lambda, 2.0, 0.1);
  assert_true(coarse.velocity < 1e-8);
}

/* The way to the solution does not change it; the exact matrix needs two iterations a step. */
static void newton_variants_agree(void **state)
{
  (void)state;
  for (int kind = 0; kind < pol_formulation_count(); kind++)
    for (int index = POL_INDEX_3; index <= POL_INDEX_2_STABILIZED; index++) {
      pol_options options = pol_options_default();
      options.index = (pol_index)index;
      options.newton.kind = POL_NEWTON_FULL;
      options.newton.tolerance = 1e-12;
      errors full = run((pol_formulation_kind)kind, &options, 1e-3);
      assert_true(full.newton <= 3.0);
      for (int k = POL_NEWTON_SIMPLIFIED; k <= POL_NEWTON_MODIFIED; k++) {
        options.newton.kind = (pol_newton_kind)k;
        errors other = run((pol_formulation_kind)kind, &options, 1e-3);
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
    pol_mechanism *mechanism = heavy_top(body_first);
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
    pol_formulation_reaction(formulation, now->q, now->lambda, 0, force[body_first],
                             torque[body_first]);
    for (int i = 0; i < 3; i++) force[body_first][i] *= body_first ? -1.0 : 1.0;
    pol_integrator_free(&integrator);
    pol_formulation_free(&formulation);
    pol_mechanism_free(&mechanism);
  }
  assert_near(q[0], q[1], 7, 1e-12);
  assert_near(force[0], force[1], 3, 1e-5 * norm(force[0], 3));
  for (int i = 0; i < 2; i++) assert_true(norm(torque[i], 3) < 1e-10 * norm(force[i], 3));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(product_group_meets_the_reference),
      cmocka_unit_test(semidirect_group_meets_the_reference),
      cmocka_unit_test(choices_meet_the_reference),
      cmocka_unit_test(other_updates_converge),
      cmocka_unit_test(newton_variants_agree),
      cmocka_unit_test(constraint_frames_agree),
  };
  return cmocka_run_group_tests(tests, read_grid, NULL);
}
