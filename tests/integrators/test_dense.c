/* The solution between steps: the interpolant's ends and its order on every group, and events found
 * on it. */
#include "integrators/gavrea.h"

#include <polhode/polhode.h>

#include "integrators/root.h"
#include "simulation/heavy_top.h"

enum { MAX_NQ = 8, MAX_NV = 7 };

/* --- the interpolant -------------------------------------------------------------------------- */

typedef struct errors {
  double q, v, vd, lambda;
} errors;

static double largest_difference(const double *a, const double *b, int n)
{
  double d[MAX_NQ];
  for (int i = 0; i < n; i++) d[i] = a[i] - b[i];
  return toy_largest(d, n);
}

/* Errors of the interpolant at t + h x against fine steps from the same start, which are so small
 * that the modified Newton method would leave errors of the same size. */
static errors errors_within(const pol_formulation *formulation, double h, double x)
{
  enum { FINE = 256 };
  const pol_dae *dae = pol_formulation_dae(formulation);
  const pol_group *group = &dae->group;
  double q[MAX_NQ], v[MAX_NV], vd[MAX_NV], lambda[MAX_NV], w[MAX_NV];
  unsigned char keep[MAX_NV];
  pol_integrator *integrator, *fine;
  pol_options options = pol_options_default();
  options.index = POL_INDEX_2_STABILIZED;
  options.newton.tolerance = 1e-13;
  pol_formulation_initial(formulation, q, v, keep);
  assert_int_equal(pol_integrator_create(&integrator, dae, &options), POL_OK);
  options.newton.kind = POL_NEWTON_FULL;
  assert_int_equal(pol_integrator_create(&fine, dae, &options), POL_OK);
  assert_int_equal(pol_integrator_start(integrator, 0.0, q, v, keep), POL_OK);
  assert_int_equal(pol_integrator_start(fine, 0.0, q, v, keep), POL_OK);
  for (int n = 0; n < 3; n++) assert_int_equal(pol_integrator_step(integrator, h), POL_OK);
  double t = (2.0 + x) * h;
  for (int n = 0; n < FINE; n++) assert_int_equal(pol_integrator_step(fine, t / FINE), POL_OK);
  assert_int_equal(pol_integrator_interpolate(integrator, t, q, v, vd, lambda), POL_OK);
  const pol_state *exact = pol_integrator_state(fine);
  pol_group_difference(group, q, exact->q, w);
  errors e = {toy_largest(w, group->nv), largest_difference(v, exact->v, group->nv),
              largest_difference(vd, exact->vd, group->nv),
              largest_difference(lambda, exact->lambda, pol_dae_num_constraints(dae))};
  pol_integrator_free(&integrator);
  pol_integrator_free(&fine);
  return e;
}

/* Within a step the error is that of the step: second order after a fixed number of steps is order
 * 3 or more in q and 2 or more in the rest.  In so3xr3 the velocity at the end of the third step is
 * 3.1 times as good as before it. */
static void the_interpolant_has_the_order_of_the_step(void **state)
{
  (void)state;
  pol_body body = heavy_top_body();
  pol_mechanism *mechanism;
  assert_int_equal(heavy_top_create(&mechanism, &body), POL_OK);
  for (int f = 0; f < POL_TAIT_BRYAN; f++) {
    pol_formulation *formulation;
    if (f == POL_SO3_PIVOT) continue; /* the same group as so3xr3 */
    assert_int_equal(pol_formulation_create(&formulation, mechanism, (pol_formulation_kind)f),
                     POL_OK);
    for (double x = 0.25; x < 1.0; x += 0.25) {
      errors coarse = errors_within(formulation, 2e-4, x),
             fine = errors_within(formulation, 5e-5, x);
      errors at_end = errors_within(formulation, 5e-5, 1.0);
      double q = 0.5 * log2(coarse.q / fine.q), v = 0.5 * log2(coarse.v / fine.v);
      double vd = 0.5 * log2(coarse.vd / fine.vd), lambda = 0.5 * log2(coarse.lambda / fine.lambda);
      if (!(q > 2.8 && v > 1.8 && vd > 1.8 && lambda > 1.8))
        fail_msg("%s, x = %g: orders %.2f %.2f %.2f %.2f",
                 pol_formulation_name((pol_formulation_kind)f), x, q, v, vd, lambda);
      if (!(fine.q <= 1.05 * at_end.q && fine.v <= 4.0 * at_end.v))
        fail_msg("%s, x = %g: errors %.2e %.2e, at the end %.2e %.2e",
                 pol_formulation_name((pol_formulation_kind)f), x, fine.q, fine.v, at_end.q,
                 at_end.v);
    }
    pol_formulation_free(&formulation);
  }
  pol_mechanism_free(&mechanism);
}

/* The ends are the solution itself, in index 3 also where the next step adapts the velocity; one
 * step's end is the next one's start. */
static void the_ends_are_the_solution(void **state)
{
  (void)state;
  truss planar;
  pol_integrator *integrator;
  pol_options options = pol_options_default();
  double q[2], v[2], vd[2], lambda, old_q[2], old_v[2], old_vd[2], old_lambda;
  planar_init(&planar);
  assert_int_equal(pol_integrator_create(&integrator, &planar.dae, &options), POL_OK);
  assert_int_equal(pol_integrator_start(integrator, 0.0, planar_q0, planar_v0, NULL), POL_OK);
  const pol_state *now = pol_integrator_state(integrator);
  assert_int_equal(pol_integrator_interpolate(integrator, 0.0, q, v, vd, &lambda),
                   POL_BAD_ARGUMENT);
  for (int n = 0; n < 20; n++) {
    double t = now->t;
    memcpy(old_q, now->q, sizeof old_q);
    memcpy(old_v, now->v, sizeof old_v);
    memcpy(old_vd, now->vd, sizeof old_vd);
    old_lambda = now->lambda[0];
    assert_int_equal(pol_integrator_adapt(integrator, 4.0), POL_OK);
    assert_int_equal(pol_integrator_interpolate(integrator, t, q, v, vd, &lambda), POL_OK);
    assert_memory_equal(q, old_q, sizeof q);
    assert_memory_equal(v, old_v, sizeof v);
    assert_memory_equal(vd, old_vd, sizeof vd);
    assert_true(lambda == old_lambda);
    assert_int_equal(pol_integrator_interpolate(integrator, now->t, q, v, NULL, NULL), POL_OK);
    assert_memory_equal(q, now->q, sizeof q);
    assert_memory_equal(v, now->v, sizeof v);
    assert_int_equal(pol_integrator_interpolate(integrator, nextafter(t, -1.0), q, v, vd, &lambda),
                     POL_BAD_ARGUMENT);
    assert_int_equal(pol_integrator_interpolate(integrator, nextafter(now->t, 9.0), q, v, vd, NULL),
                     POL_BAD_ARGUMENT);
    assert_int_equal(pol_integrator_interpolate(integrator, nan(""), q, v, vd, NULL),
                     POL_BAD_ARGUMENT);
  }
  pol_integrator_free(&integrator);
}

/* --- roots ------------------------------------------------------------------------------------ */

static int calls;

static double cubic(double x, void *user)
{
  (void)user;
  calls++;
  return x * x * x - 2.0;
}

static double steep(double x, void *user)
{
  (void)user;
  calls++;
  return x < 0.3 ? -1.0 : 1e9;
}

static double flat(double x, void *user)
{
  (void)user;
  calls++;
  return pow(x - 0.7, 9.0);
}

/* To round-off, on the far side, with few calls where the function is smooth and never more than
 * some bisections. */
static void roots_are_found(void **state)
{
  (void)state;
  calls = 0;
  double x = poli_find_root(cubic, NULL, 0.0, -2.0, 3.0, 25.0);
  assert_true(fabs(x - cbrt(2.0)) <= 4e-16 * 2.0 && cubic(x, NULL) >= 0.0);
  assert_in_range(calls, 3, 15);
  x = poli_find_root(cubic, NULL, 3.0, 25.0, 0.0, -2.0);
  assert_true(fabs(x - cbrt(2.0)) <= 4e-16 * 2.0 && cubic(x, NULL) <= 0.0);
  calls = 0;
  x = poli_find_root(steep, NULL, 0.0, -1.0, 1.0, 1e9);
  assert_true(x >= 0.3 && x <= 0.3 + 4e-16);
  assert_in_range(calls, 10, 120);
  calls = 0;
  x = poli_find_root(flat, NULL, 0.0, flat(0.0, NULL), 1.0, flat(1.0, NULL));
  assert_true(fabs(x - 0.7) <= 1e-15);
  assert_in_range(calls, 10, 200);
}

/* --- events ----------------------------------------------------------------------------------- */

/* A ball over the ground: no constraint. */
static double height(const pol_state *at, void *user)
{
  (void)user;
  return at->q[1];
}

static double speed(const pol_state *at, void *user)
{
  (void)user;
  return at->v[1];
}

static double lambda_of(const pol_state *at, void *user)
{
  return at->lambda[0] - *(const double *)user;
}

/* A ball that falls from 1 m and keeps 0.8 of its speed at each impact: all times are known.  The
 * state is reset at the event and the run goes on; its counts go on too. */
static void a_bouncing_ball_meets_the_ground_in_time(void **state)
{
  (void)state;
  const double g = 9.81, e = 0.8;
  truss ball = {.num_particles = 1, .mass = {1.0, 1.0}, .gravity = g};
  double q[2] = {0.0, 1.0}, v[2] = {0.3, 0.0}, t, top = 0.0;
  pol_integrator *integrator;
  pol_options options = pol_options_default();
  truss_finish(&ball);
  assert_int_equal(pol_integrator_create(&integrator, &ball.dae, &options), POL_OK);
  assert_int_equal(pol_integrator_start(integrator, 0.0, q, v, NULL), POL_OK);
  const pol_state *now = pol_integrator_state(integrator);
  double impact = sqrt(2.0 / g), fast = sqrt(2.0 * g);
  int bounces = 0, tops = 0;
  long steps = 0;
  while (bounces < 8) {
    assert_int_equal(pol_integrator_adapt(integrator, 10.0), POL_OK);
    steps++;
    if (pol_integrator_find_event(integrator, speed, NULL, -1, &top)) tops++;
    assert_false(pol_integrator_find_event(integrator, height, NULL, 1, &t) && bounces == 0);
    if (!pol_integrator_find_event(integrator, height, NULL, -1, &t)) continue;
    if (!(fabs(t - impact) <= 1e-10)) fail_msg("impact %d at %.15g, not %.15g", bounces, t, impact);
    assert_int_equal(pol_integrator_interpolate(integrator, t, q, v, NULL, NULL), POL_OK);
    assert_true(fabs(v[1] + fast) <= 1e-9 && fabs(q[1]) <= 1e-12);
    fast *= e;
    v[1] *= -e;
    assert_int_equal(pol_integrator_restart(integrator, t, q, v, NULL), POL_OK);
    assert_true(now->t == t && now->v[1] == v[1]);
    assert_int_equal(pol_integrator_counts(integrator)->steps, steps);
    impact += 2.0 * fast / g;
    bounces++;
  }
  assert_in_range(tops, 7, 8);
  pol_integrator_free(&integrator);
}

/* The pendulum passes its lowest point, x = 0, at a quarter of its period, which is
 * 4 K(sin 30 degrees)/sqrt(g) with K = 1.6857503548125961. */
static double sideways(const pol_state *at, void *user)
{
  (void)user;
  return at->q[0];
}

static void the_pendulum_passes_its_lowest_point(void **state)
{
  (void)state;
  const double quarter = 1.6857503548125961 / sqrt(9.81);
  double error[2];
  truss planar;
  planar_init(&planar);
  for (int k = 0; k < 2; k++) {
    pol_integrator *integrator;
    pol_options options = pol_options_default();
    double t = 0.0, level = 0.0;
    pol_options_set_hht(&options, -0.3);
    options.control.rtol = options.control.atol_translation = k ? 1e-9 : 1e-6;
    assert_int_equal(pol_integrator_create(&integrator, &planar.dae, &options), POL_OK);
    assert_int_equal(pol_integrator_start(integrator, 0.0, planar_q0, planar_v0, NULL), POL_OK);
    do {
      assert_int_equal(pol_integrator_adapt(integrator, 4.0), POL_OK);
      assert_false(pol_integrator_find_event(integrator, sideways, NULL, 1, &t));
    } while (!pol_integrator_find_event(integrator, sideways, NULL, 0, &t));
    error[k] = fabs(t - quarter);
    /* an event function may look at multipliers too: they are at their largest near here */
    level = pol_integrator_state(integrator)->lambda[0] + 1.0;
    assert_false(pol_integrator_find_event(integrator, lambda_of, &level, 0, &t));
    pol_integrator_free(&integrator);
  }
  if (!(error[1] <= 2e-6 && log10(error[0] / error[1]) > 1.8))
    fail_msg("errors %.3e and %.3e s", error[0], error[1]);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_interpolant_has_the_order_of_the_step),
      cmocka_unit_test(the_ends_are_the_solution),
      cmocka_unit_test(roots_are_found),
      cmocka_unit_test(a_bouncing_ball_meets_the_ground_in_time),
      cmocka_unit_test(the_pendulum_passes_its_lowest_point),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
