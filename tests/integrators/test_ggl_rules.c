/* What the variational and energy-momentum methods accept: options with their reasons and warnings,
 * models they refuse; redundant and moving constraints, drag, steps of changing size, steps that
 * fail. */
#include <polhode/polhode.h>

#include <float.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "dae/quadratic.h"

static const char *const all_methods[] = {"vi-s", "vi-a",     "vi-b",  "em",
                                          "em-g", "midpoint", "rattle"};
enum { NUM_METHODS = sizeof all_methods / sizeof all_methods[0] };

static pol_options options_of(const char *method)
{
  pol_options options = pol_options_default();
  options.method = method;
  return options;
}

static pol_integrator *begin(const quadratic *model, const pol_options *options)
{
  pol_integrator *integrator;
  assert_int_equal(pol_integrator_create(&integrator, &model->dae, options), POL_OK);
  assert_int_equal(pol_integrator_start(integrator, 0.0, model->q0, model->v0, NULL), POL_OK);
  return integrator;
}

/* --- options ---------------------------------------------------------------------------------- */

static void thetas_are_checked(void **state)
{
  (void)state;
  static const struct {
    const char *method;
    double theta, vartheta;
    const char *rule; /* NULL: allowed */
    const char *warning;
  } cases[] = {
      {"vi-a", 0.5, (double)NAN, NULL, ""},
      {"vi-a", 0.49, (double)NAN, "theta must be 1/2 in vi-a", ""},
      {"vi-b", 0.0, 0.0, NULL, ""},
      {"vi-b", 1.0, 0.5, NULL, ""},
      {"vi-b", -0.1, (double)NAN, "theta must be from 0 to 1", ""},
      {"vi-b", 1.1, (double)NAN, "theta must be from 0 to 1", ""},
      {"vi-b", (double)INFINITY, (double)NAN, "theta must be from 0 to 1", ""},
      {"vi-b", (double)NAN, 1.0, "vartheta must be at least 0 and below 1", ""},
      {"vi-b", (double)NAN, -0.1, "vartheta must be at least 0 and below 1", ""},
      {"vi-b", (double)NAN, 0.6, NULL, "vartheta is above 1/2"},
      {"em", 0.5, (double)NAN, NULL, "theta has no effect on em"},
      {"vi-a", (double)NAN, 0.4, NULL, "vartheta has no effect on vi-a"},
      {"geom1", 0.5, (double)NAN, NULL, "theta has no effect on geom1"},
  };
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    char message[256] = "";
    pol_options options = options_of(cases[k].method);
    options.theta = cases[k].theta;
    options.vartheta = cases[k].vartheta;
    pol_status status = pol_options_validate(&options, message, sizeof message);
    assert_int_equal(status, cases[k].rule ? POL_BAD_ARGUMENT : POL_OK);
    if (cases[k].rule) {
      assert_non_null(strstr(message, cases[k].rule));
      continue;
    }
    assert_int_equal(pol_options_warning(&options, message, sizeof message),
                     cases[k].warning[0] != '\0');
    assert_true(strncmp(message, cases[k].warning, strlen(cases[k].warning)) == 0);
  }
}

/* A model file for one method runs with another; what has no effect is said. */
static void settings_of_other_methods_are_named(void **state)
{
  (void)state;
  char message[256];
  pol_options options = options_of("em");
  options.index = POL_INDEX_2;
  options.start = POL_START_CLASSICAL;
  options.sigma = 1.0;
  pol_options_set_rho_inf(&options, 0.5);
  assert_int_equal(pol_options_validate(&options, NULL, 0), POL_OK);
  assert_int_equal(pol_options_warning(&options, message, sizeof message), 1);
  assert_string_equal(message, "index has no effect on em; start has no effect on em; sigma has no "
                               "effect on em; rho_inf has no effect on em");
  options = options_of("geom1");
  options.guess = POL_GUESS_SIMPLE;
  assert_int_equal(pol_options_warning(&options, message, sizeof message), 1);
  assert_string_equal(message, "guess has no effect on geom1");
  options = options_of("em");
  options.guess = (pol_guess)(POL_GUESS_SIMPLE + 1);
  assert_int_equal(pol_options_validate(&options, message, sizeof message), POL_BAD_ARGUMENT);
  assert_string_equal(message, "guess must be advanced or simple");
  options = options_of("em");
  options.published.newton = POL_PUBLISHED_NEWTON_PLAIN_MODIFIED;
  assert_int_equal(pol_options_validate(&options, message, sizeof message), POL_BAD_ARGUMENT);
  assert_non_null(strstr(message, "published.newton must not be plain-modified"));
}

static void refused(const pol_dae *dae, const char *reason)
{
  for (int k = 0; k < NUM_METHODS; k++) {
    char message[256] = "";
    pol_options options = options_of(all_methods[k]);
    assert_int_equal(pol_integrator_supports(dae, &options, message, sizeof message),
                     POL_BAD_ARGUMENT);
    if (!strstr(message, reason)) fail_msg("%s: %s", all_methods[k], message);
  }
}

static void unfit_models_are_refused(void **state)
{
  (void)state;
  static quadratic model;
  skate blade;
  pol_factor rotation = {.kind = POL_SO3};
  const pol_block all = {.rows = 3, .cols = 1};
  pendulum3d_init(&model);
  model.dae.constant_mass = 0;
  refused(&model.dae, "a constant mass matrix");
  model.dae.constant_mass = 1;
  pol_pattern *feedback;
  assert_int_equal(pol_pattern_create(&feedback, 3, 1, 1, &all), POL_OK);
  model.dae.feedback = feedback;
  refused(&model.dae, "forces that depend on reactions");
  pol_pattern_free(&feedback);
  model.dae.feedback = NULL;
  assert_int_equal(pol_group_layout(&model.dae.group, &rotation, 1), POL_OK);
  refused(&model.dae, "coordinates of a vector space");
  skate_init(&blade, 0);
  blade.dae.constant_mass = 1;
  refused(&blade.dae, "holonomic constraints only");
}

/* --- constraints ------------------------------------------------------------------------------ */

/* The pendulum with its constraint twice: the copy is dropped, all else stays the same. */
static void redundant_constraints_are_dropped(void **state)
{
  (void)state;
  static quadratic once, twice;
  for (int k = 0; k < NUM_METHODS; k++) {
    pol_options options = options_of(all_methods[k]);
    pendulum3d_init(&once);
    pendulum3d_init(&twice);
    twice.m = 2;
    twice.c[1] = 2.0 * twice.c[0];
    add_product(&twice, 1, 0, 0, 2.0);
    quadratic_finish(&twice);
    pol_integrator *a = begin(&once, &options), *b = begin(&twice, &options);
    const pol_state *x = pol_integrator_state(a), *y = pol_integrator_state(b);
    const unsigned char *dropped = pol_integrator_dropped(b);
    assert_int_equal(dropped[0] + dropped[1], 1);
    for (int n = 0; n < 40; n++) {
      assert_int_equal(pol_integrator_step(a, 0.05), POL_OK);
      assert_int_equal(pol_integrator_step(b, 0.05), POL_OK);
    }
    assert_near(x->q, y->q, 3, 1e-10);
    assert_near(x->p, y->p, 3, 1e-10);
    double weight = dropped[0] ? 2.0 * y->lambda[1] : y->lambda[0];
    assert_near(x->lambda, &weight, 1, 1e-8);
    assert_true(y->lambda[dropped[0] ? 0 : 1] == 0.0);
    pol_integrator_free(&a);
    pol_integrator_free(&b);
  }
}

/* A pendulum whose length changes in time, Phi = (q.q - 1)/2 - t/5: the constraints hold on the
 * levels of the method, and the end is that of small steps, at the order of the method. */
static void moving_constraints_are_followed(void **state)
{
  (void)state;
  static quadratic model;
  static const int order[NUM_METHODS] = {1, 2, 1, 2, 2, 2, 2};
  const double end = 1.0;
  double reference[3] = {0.0};
  pendulum3d_init(&model);
  model.rate[0] = -0.2;
  model.v0[0] = 0.2;
  for (int k = NUM_METHODS - 1; k >= 0; k--) { /* rattle first, with extrapolation */
    double q[3][3], error[3];
    for (int r = 0; r < 3; r++) {
      pol_options options = options_of(all_methods[k]);
      const double h = 0.01 / (double)(1 << r);
      pol_integrator *integrator = begin(&model, &options);
      const pol_state *at = pol_integrator_state(integrator);
      for (long n = 0; n < lround(end / h); n++)
        assert_int_equal(pol_integrator_step(integrator, h), POL_OK);
      memcpy(q[r], at->q, sizeof q[r]);
      double phi = 0.0;
      for (int i = 0; i < 3; i++) phi += 0.5 * at->q[i] * at->q[i];
      phi += -0.5 - 0.2 * end;
      if (strcmp(all_methods[k], "vi-a") != 0) assert_true(fabs(phi) < 1e-13);
      pol_integrator_free(&integrator);
    }
    if (k == NUM_METHODS - 1)
      for (int i = 0; i < 3; i++) reference[i] = q[2][i] + (q[2][i] - q[1][i]) / 3.0;
    for (int r = 0; r < 3; r++) {
      error[r] = 0.0;
      for (int i = 0; i < 3; i++) error[r] = fmax(error[r], fabs(q[r][i] - reference[i]));
    }
    double observed = log2(error[0] / error[1]);
    if (!(fabs(observed - order[k]) < 0.3))
      fail_msg("%s: order %.2f, errors %.2e, %.2e", all_methods[k], observed, error[0], error[1]);
  }
}

/* --- forces and steps ------------------------------------------------------------------------- */

/* em takes from the energy what drag dissipates at the velocity of the way, in each step. */
static void drag_takes_its_share_of_the_energy(void **state)
{
  (void)state;
  static quadratic model;
  pol_options options = options_of("em");
  const double h = 0.01;
  options.newton.kind = POL_NEWTON_FULL;
  four_particles_init(&model);
  model.drag = 0.2;
  pol_integrator *integrator = begin(&model, &options);
  const pol_state *at = pol_integrator_state(integrator);
  double first = quadratic_energy(&model, at->q, at->p), before = first;
  for (int n = 0; n < 200; n++) {
    double q[12], work = 0.0;
    memcpy(q, at->q, sizeof q);
    assert_int_equal(pol_integrator_step(integrator, h), POL_OK);
    for (int i = 0; i < 12; i++) work -= model.drag * pow(at->q[i] - q[i], 2.0) / h;
    double now = quadratic_energy(&model, at->q, at->p);
    assert_near(&(double){now - before}, &work, 1, 1e-12);
    before = now;
  }
  assert_true(before < 0.9 * first);
  pol_integrator_free(&integrator);
}

/* Steps of any size: the orders stay, and the energy too.  Only vi-a needs equal steps for second
 * order: its q and p alternate about the constraints, which uneven steps do not average out. */
static void steps_may_change(void **state)
{
  (void)state;
  static const double order[NUM_METHODS] = {1.0, 1.0, 2.0, 2.0, 2.0, 2.0, 2.0};
  static quadratic model;
  static const double pattern[4] = {0.5, 1.7, 0.3, 1.5}; /* shares of h, together 4 */
  for (int k = 0; k < NUM_METHODS; k++) {
    double error[2];
    pol_options options = options_of(all_methods[k]);
    options.newton.kind = POL_NEWTON_FULL;
    if (strcmp(all_methods[k], "vi-b") == 0) options.theta = 0.5;
    top_init(&model);
    for (int r = 0; r < 2; r++) {
      const double h = 2e-4 / (double)(1 << r);
      double q[12], v[12], energy;
      pol_integrator *integrator = begin(&model, &options);
      const pol_state *at = pol_integrator_state(integrator);
      energy = quadratic_energy(&model, at->q, at->p);
      for (long n = 0; n < lround(0.04 / h); n++)
        assert_int_equal(pol_integrator_step(integrator, pattern[n % 4] * h), POL_OK);
      assert_near(&at->t, &(double){0.04}, 1, 1e-15);
      top_solution(at->t, q, v);
      error[r] = 0.0;
      for (int i = 0; i < 3; i++) error[r] = fmax(error[r], fabs(at->q[i] - q[i]));
      if (strncmp(all_methods[k], "em", 2) == 0) {
        double now = quadratic_energy(&model, at->q, at->p);
        assert_near(&now, &energy, 1, 1e-11 * energy);
      }
      pol_integrator_free(&integrator);
    }
    double observed = log2(error[0] / error[1]);
    if (!(fabs(observed - order[k]) < 0.1))
      fail_msg("%s: order %.2f, errors %.2e, %.2e", all_methods[k], observed, error[0], error[1]);
  }
}

/* A step that fails leaves everything as it was; the next one goes on. */
static void failed_steps_leave_the_state(void **state)
{
  (void)state;
  static quadratic model;
  for (int k = 0; k < NUM_METHODS; k++) {
    pol_options options = options_of(all_methods[k]);
    double q[12], p[12];
    top_init(&model);
    pol_integrator *integrator = begin(&model, &options);
    const pol_state *at = pol_integrator_state(integrator);
    for (int n = 0; n < 3; n++) assert_int_equal(pol_integrator_step(integrator, 1e-3), POL_OK);
    memcpy(q, at->q, sizeof q);
    memcpy(p, at->p, sizeof p);
    model.answer = POL_RETRY;
    assert_int_equal(pol_integrator_step(integrator, 1e-3), POL_RETRY);
    model.answer = POL_CALLBACK;
    assert_int_equal(pol_integrator_step(integrator, 5e-4), POL_CALLBACK);
    model.answer = POL_OK;
    assert_int_equal(pol_integrator_counts(integrator)->rejected, 2);
    assert_true(pol_integrator_diagnostics(integrator)->message[0] != '\0');
    assert_memory_equal(q, at->q, sizeof q);
    assert_memory_equal(p, at->p, sizeof p);
    assert_near(&at->t, &(double){3e-3}, 1, 1e-15);
    assert_int_equal(pol_integrator_step(integrator, 1e-3), POL_OK);

    /* the same as without the failure */
    pol_integrator *other = begin(&model, &options);
    for (int n = 0; n < 4; n++) assert_int_equal(pol_integrator_step(other, 1e-3), POL_OK);
    assert_near(at->q, pol_integrator_state(other)->q, 12, 1e-13);
    pol_integrator_free(&other);
    pol_integrator_free(&integrator);
  }
}

/* Without constraints em is the midpoint rule, here of a free fall: exact. */
static void models_without_constraints_run(void **state)
{
  (void)state;
  static quadratic model;
  static const double fallen[3] = {0.0, 1.0, -9.81};
  for (int k = 0; k < NUM_METHODS; k++) {
    pol_options options = options_of(all_methods[k]);
    pendulum3d_init(&model);
    model.m = 0;
    quadratic_finish(&model);
    pol_integrator *integrator = begin(&model, &options);
    for (int n = 0; n < 10; n++) assert_int_equal(pol_integrator_step(integrator, 0.1), POL_OK);
    const double *p = pol_integrator_state(integrator)->p;
    assert_near(p, fallen, 3, 1e-12);
    pol_integrator_free(&integrator);
  }
}

/* The simplified matrix leads to the same steps. */
static void simplified_newton_finds_the_same(void **state)
{
  (void)state;
  static quadratic model;
  for (int k = 0; k < NUM_METHODS; k++) {
    double q[2][12];
    for (int kind = 0; kind < 2; kind++) {
      pol_options options = options_of(all_methods[k]);
      options.newton.kind = kind ? POL_NEWTON_SIMPLIFIED : POL_NEWTON_FULL;
      options.newton.max_iterations = 200;
      four_particles_init(&model);
      pol_integrator *integrator = begin(&model, &options);
      for (int n = 0; n < 50; n++) assert_int_equal(pol_integrator_step(integrator, 0.002), POL_OK);
      memcpy(q[kind], pol_integrator_state(integrator)->q, sizeof q[kind]);
      pol_integrator_free(&integrator);
    }
    assert_near(q[0], q[1], 12, 1e-11);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(thetas_are_checked),
      cmocka_unit_test(settings_of_other_methods_are_named),
      cmocka_unit_test(unfit_models_are_refused),
      cmocka_unit_test(redundant_constraints_are_dropped),
      cmocka_unit_test(moving_constraints_are_followed),
      cmocka_unit_test(drag_takes_its_share_of_the_energy),
      cmocka_unit_test(steps_may_change),
      cmocka_unit_test(failed_steps_leave_the_state),
      cmocka_unit_test(models_without_constraints_run),
      cmocka_unit_test(simplified_newton_finds_the_same),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
