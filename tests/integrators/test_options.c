/* Options of the integrators: defaults, every rule with its message, parameters from rho_inf; and
 * the table of methods. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <polhode/integrator.h>

#include <float.h>
#include <math.h>
#include <string.h>

static void assert_rule(const pol_options *options, const char *rule)
{
  char message[128] = "";
  assert_int_equal(pol_options_validate(options, message, sizeof message), POL_BAD_ARGUMENT);
  assert_string_equal(message, rule);
  assert_int_equal(pol_options_validate(options, NULL, 0), POL_BAD_ARGUMENT);
}

static void test_default(void **state)
{
  (void)state;
  char message[16] = "untouched";
  pol_options options = pol_options_default(), expected = options;
  assert_int_equal(pol_options_validate(&options, message, sizeof message), POL_OK);
  assert_string_equal(message, "untouched");
  assert_string_equal(options.method, "geom1");
  assert_int_equal(options.index, POL_INDEX_3);
  assert_true(options.sigma == 0.0);
  assert_int_equal(options.newton.kind, POL_NEWTON_MODIFIED);
  assert_int_equal(options.solver, POL_SOLVER_AUTO);
  pol_options_set_rho_inf(&expected, 0.9);
  assert_true(options.alpha_m == expected.alpha_m && options.alpha_f == expected.alpha_f);
  assert_true(options.beta == expected.beta && options.gamma == expected.gamma);
}

static void test_method(void **state)
{
  (void)state;
  static const char *names[] = {"geom4", "", "GEOM1", "geom", "geom1 "};
  pol_options options = pol_options_default();
  for (int k = 0; k < 5; k++) {
    options.method = names[k];
    assert_rule(&options, "method must be the name of a method");
  }
  options.method = NULL;
  assert_rule(&options, "method must be the name of a method");
}

static void test_newton(void **state)
{
  (void)state;
  static const double bad[] = {0.0, -1e-9, 1.0, 2.0, (double)NAN, (double)INFINITY};
  static const double bad_refresh[] = {0.0, -0.5, 1.1, (double)NAN, (double)INFINITY};
  pol_options options = pol_options_default();
  options.newton.kind = (pol_newton_kind)(POL_NEWTON_MODIFIED + 1);
  assert_rule(&options, "newton.kind must be full, simplified or modified");

  for (int k = 0; k < 6; k++) {
    options = pol_options_default();
    options.newton.tolerance = bad[k];
    assert_rule(&options, "newton.tolerance must be between 0 and 1");
  }
  options = pol_options_default();
  options.newton.max_iterations = 0;
  assert_rule(&options, "newton.max_iterations must be at least 1");
  options.newton.max_iterations = 1;
  assert_int_equal(pol_options_validate(&options, NULL, 0), POL_OK);

  for (int k = 0; k < 5; k++) {
    options = pol_options_default();
    options.newton.refresh = bad_refresh[k];
    assert_rule(&options, "newton.refresh must be above 0 and at most 1");
  }
  options.newton.refresh = 1.0;
  assert_int_equal(pol_options_validate(&options, NULL, 0), POL_OK);

  options.newton.line_search = -1;
  assert_rule(&options, "newton.line_search must not be negative");
  options.newton.line_search = 0;
  assert_int_equal(pol_options_validate(&options, NULL, 0), POL_OK);
}

static void test_enumerations(void **state)
{
  (void)state;
  pol_options options = pol_options_default();
  options.solver = (pol_solver_kind)(POL_SOLVER_SPARSE + 1);
  assert_rule(&options, "solver must be auto, dense or sparse");
  options = pol_options_default();
  options.redundant = (pol_redundant)(POL_REDUNDANT_MINIMUM_NORM + 1);
  assert_rule(&options, "redundant must be drop, refuse or minimum-norm");
  options = pol_options_default();
  options.start = (pol_start)(POL_START_PERTURBED + 1);
  assert_rule(&options, "start must be default, classical, shifted or perturbed");
  options = pol_options_default();
  options.published.sigma_update = (pol_sigma_update)(POL_SIGMA_PRINTED + 1);
  assert_rule(&options, "published.sigma_update must be exact, incremental or printed");
  options = pol_options_default();
  options.index = (pol_index)(POL_INDEX_2_STABILIZED + 1);
  assert_rule(&options, "index must be 3, 2 or stabilized-2");
  for (int index = POL_INDEX_3; index <= POL_INDEX_2_STABILIZED; index++) {
    options.index = (pol_index)index;
    assert_int_equal(pol_options_validate(&options, NULL, 0), POL_OK);
  }
}

/* Every value of an enumeration has its word, and what is beyond has none. */
static void test_words(void **state)
{
  (void)state;
  assert_string_equal(pol_start_name(POL_START_DEFAULT), "default");
  assert_string_equal(pol_start_name(POL_START_PERTURBED), "perturbed");
  assert_null(pol_start_name((pol_start)(POL_START_PERTURBED + 1)));
  assert_null(pol_start_name((pol_start)-1));
  assert_string_equal(pol_sigma_update_name(POL_SIGMA_INCREMENTAL), "incremental");
  assert_string_equal(pol_sigma_update_name(POL_SIGMA_PRINTED), "printed");
  assert_null(pol_sigma_update_name((pol_sigma_update)(POL_SIGMA_PRINTED + 1)));
  assert_string_equal(pol_redundant_name(POL_REDUNDANT_MINIMUM_NORM), "minimum-norm");
  assert_null(pol_redundant_name((pol_redundant)(POL_REDUNDANT_MINIMUM_NORM + 1)));
  assert_string_equal(pol_guess_name(POL_GUESS_SIMPLE), "simple");
  assert_null(pol_guess_name((pol_guess)(POL_GUESS_SIMPLE + 1)));
  assert_string_equal(pol_newton_kind_name(POL_NEWTON_MODIFIED), "modified");
  assert_null(pol_newton_kind_name((pol_newton_kind)(POL_NEWTON_MODIFIED + 1)));
  assert_string_equal(pol_published_newton_name(POL_PUBLISHED_NEWTON_DEFAULT), "default");
  assert_string_equal(pol_published_newton_name(POL_PUBLISHED_NEWTON_PLAIN), "plain");
  assert_string_equal(pol_published_newton_name(POL_PUBLISHED_NEWTON_PLAIN_MODIFIED),
                      "plain-modified");
  assert_null(
      pol_published_newton_name((pol_published_newton)(POL_PUBLISHED_NEWTON_PLAIN_MODIFIED + 1)));
  assert_string_equal(pol_published_estimate_name(0), "corrected");
  assert_string_equal(pol_published_estimate_name(1), "printed");
  assert_null(pol_published_estimate_name(2));
  assert_string_equal(pol_solver_kind_name(POL_SOLVER_SPARSE), "sparse");
  assert_null(pol_solver_kind_name((pol_solver_kind)(POL_SOLVER_SPARSE + 1)));
}

static void test_parameters(void **state)
{
  (void)state;
  static const double bad_alpha[] = {1.0, 1.5, (double)NAN, (double)INFINITY, -(double)INFINITY};
  static const double bad_beta[] = {0.0, -0.25, (double)NAN, (double)INFINITY};
  pol_options options;
  for (int k = 0; k < 5; k++) {
    options = pol_options_default();
    options.alpha_m = bad_alpha[k];
    assert_rule(&options, "alpha_m and alpha_f must be below 1");
    options = pol_options_default();
    options.alpha_f = bad_alpha[k];
    assert_rule(&options, "alpha_m and alpha_f must be below 1");
  }
  for (int k = 0; k < 4; k++) {
    options = pol_options_default();
    options.beta = bad_beta[k];
    assert_rule(&options, "beta and gamma must be positive");
    options = pol_options_default();
    options.gamma = bad_beta[k];
    assert_rule(&options, "beta and gamma must be positive");
  }
}

static void test_sigma(void **state)
{
  (void)state;
  pol_options options = pol_options_default();
  options.sigma = (double)NAN;
  assert_rule(&options, "sigma must be finite");
  options.sigma = (double)INFINITY;
  assert_rule(&options, "sigma must be finite");
  options.sigma = 1.0;
  assert_int_equal(pol_options_validate(&options, NULL, 0), POL_OK);
  options.method = "geom2";
  assert_rule(&options,
              "sigma requires geom1: geom2 and geom3 apply the velocity in a separate exponential");
  options.method = "geom3";
  assert_rule(&options,
              "sigma requires geom1: geom2 and geom3 apply the velocity in a separate exponential");
  options.method = "linear";
  assert_rule(&options, "sigma requires geom1: the linear method has no tangent operator");
  options.sigma = 0.0;
  options.published.sigma_update = POL_SIGMA_INCREMENTAL;
  assert_rule(&options, "the incremental sigma update requires geom1");
  options.published.sigma_update = POL_SIGMA_EXACT;
  assert_int_equal(pol_options_validate(&options, NULL, 0), POL_OK);
}

/* Chung/Hulbert 1993: order 2 and the wanted damping; closed forms by hand. */
static void test_rho_inf(void **state)
{
  (void)state;
  for (int k = 0; k <= 10; k++) {
    double rho = 0.1 * k;
    pol_options options = pol_options_default();
    pol_options_set_rho_inf(&options, rho);
    assert_true(fabs(options.alpha_m - (2.0 * rho - 1.0) / (rho + 1.0)) <= 2.0 * DBL_EPSILON);
    assert_true(fabs(options.alpha_f - rho / (rho + 1.0)) <= 2.0 * DBL_EPSILON);
    assert_true(fabs(options.gamma - (3.0 - rho) / (2.0 * (1.0 + rho))) <= 4.0 * DBL_EPSILON);
    assert_true(fabs(options.beta - 1.0 / ((1.0 + rho) * (1.0 + rho))) <= 4.0 * DBL_EPSILON);
    assert_int_equal(pol_options_validate(&options, NULL, 0), POL_OK);
  }
}

static void test_methods(void **state)
{
  (void)state;
  assert_true(pol_method_count() >= 3);
  assert_null(pol_method_at(-1));
  assert_null(pol_method_at(pol_method_count()));
  assert_null(pol_method_find("nothing"));
  for (int k = 0; k < pol_method_count(); k++) {
    const pol_method *method = pol_method_at(k);
    pol_options options = pol_options_default();
    assert_ptr_equal(pol_method_find(method->name), method);
    assert_true(strlen(method->title) > 0 && strlen(method->order) > 0);
    assert_true(strlen(method->conserves) > 0 && strlen(method->source) > 0);
    assert_int_equal(pol_options_set_method(&options, method->name), POL_OK);
    assert_string_equal(options.method, method->name);
    assert_int_equal(pol_options_validate(&options, NULL, 0), POL_OK);
  }
  pol_options options = pol_options_default();
  assert_int_equal(pol_options_set_method(&options, "nothing"), POL_BAD_ARGUMENT);
  assert_string_equal(options.method, "geom1");
}

/* The names newmark and hht promise their parameters. */
static void test_named_parameters(void **state)
{
  (void)state;
  char message[256];
  pol_options options = pol_options_default();
  options.method = "newmark";
  assert_int_equal(pol_options_validate(&options, message, sizeof message), POL_BAD_ARGUMENT);
  assert_non_null(strstr(message, "newmark has the parameters gamma and beta"));
  options.method = "hht";
  assert_int_equal(pol_options_validate(&options, message, sizeof message), POL_BAD_ARGUMENT);
  assert_non_null(strstr(message, "hht has the parameter alpha"));
  for (int k = 0; k <= 3; k++) {
    pol_options_set_hht(&options, -k / 9.0);
    assert_int_equal(pol_options_validate(&options, NULL, 0), POL_OK);
    assert_false(pol_options_warning(&options, message, sizeof message));
  }
  pol_options_set_hht(&options, -0.34);
  assert_int_equal(pol_options_validate(&options, NULL, 0), POL_BAD_ARGUMENT);
  pol_options_set_hht(&options, 0.01);
  assert_int_equal(pol_options_validate(&options, NULL, 0), POL_BAD_ARGUMENT);
  pol_options_set_newmark(&options, 0.75, 0.390625);
  assert_int_equal(pol_options_validate(&options, NULL, 0), POL_OK);
  assert_true(pol_options_warning(&options, message, sizeof message)); /* first order */
}

static void assert_broken(const pol_options *options, const char *rule)
{
  char message[256];
  assert_int_equal(pol_options_validate(options, message, sizeof message), POL_BAD_ARGUMENT);
  assert_string_equal(message, rule);
}

static void test_control(void **state)
{
  (void)state;
  pol_options options = pol_options_default();
  options.control.rtol = -1.0;
  assert_broken(&options, "rtol must not be negative");
  options.control.rtol = 0.0;
  assert_int_equal(pol_options_validate(&options, NULL, 0), POL_OK);
  options.control.atol_rotation = 0.0;
  assert_broken(&options, "rtol and atol must not both be 0");
  options.control.atol_rotation = HUGE_VAL;
  assert_broken(&options, "atol must not be negative");
  options = pol_options_default();
  options.control.min_step = 2.0;
  assert_int_equal(pol_options_validate(&options, NULL, 0), POL_OK);
  options.control.max_step = 1.0;
  assert_broken(&options, "min_step must not be above max_step");
  options.control.first_step = nan("");
  assert_broken(&options, "first_step, min_step, max_step and span must not be negative");
  options = pol_options_default();
  options.published.exact_iterations = -1;
  assert_broken(&options, "published.exact_iterations must not be negative");
  options = pol_options_default();
  options.published.newton = (pol_published_newton)(POL_PUBLISHED_NEWTON_PLAIN_MODIFIED + 1);
  assert_broken(&options, "published.newton must be default, plain or plain-modified");
  options = pol_options_default();
  options.published.estimate = 2;
  assert_broken(&options, "published.estimate must be corrected or printed");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_default), cmocka_unit_test(test_method),
      cmocka_unit_test(test_newton),  cmocka_unit_test(test_enumerations),
      cmocka_unit_test(test_words),   cmocka_unit_test(test_parameters),
      cmocka_unit_test(test_sigma),   cmocka_unit_test(test_rho_inf),
      cmocka_unit_test(test_methods), cmocka_unit_test(test_named_parameters),
      cmocka_unit_test(test_control),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
