/* Every allocation of an analysis fails once: a status is returned, and nothing is left behind. */
#include "analysis/analyse.h"
#include "failing_alloc.h"

static pol_status attempt(void *data)
{
  const pol_model *model = data;
  static const char *const names[] = {"hinge.angle", "rod.position.x", "torque"};
  const pol_linear_options options = {
      .num_coordinates = 1, .coordinates = names, .num_outputs = 3, .outputs = names};
  pol_analysis *analysis = NULL;
  pol_modes *modes = NULL;
  pol_linear *linear = NULL;
  pol_errors errors = {0, NULL};
  pol_status status = pol_analysis_create(&analysis, model->mechanism, 5.0, NULL);
  /* of a state that is not steady, then of rest */
  if (!status) status = pol_linear_create(&linear, analysis, &options, &errors, NULL);
  pol_linear_free(&linear);
  if (!status) status = pol_analysis_equilibrium(analysis, NULL, NULL, NULL);
  if (!status) status = pol_modes_create(&modes, analysis, NULL, NULL);
  pol_modes_free(&modes);
  pol_modes_options large = pol_modes_options_default();
  large.large = large.count = 1;
  if (!status) status = pol_modes_create(&modes, analysis, &large, NULL);
  if (!status) status = pol_linear_create(&linear, analysis, &options, &errors, NULL);
  pol_errors_clear(&errors);
  pol_linear_free(&linear);
  pol_modes_free(&modes);
  pol_analysis_free(&analysis);
  return status;
}

static void every_allocation_may_fail(void **state)
{
  (void)state;
  pol_model *model = read_model(MODELS "examples/pid_pendulum.json");
  alloc_exhaust(attempt, model);
  pol_model_free(&model);
}

/* In rotating axes, of a motion that is not steady by iteration, and of curves. */
static pol_status attempt_rotation(void *data)
{
  const pol_model *model = data;
  const pol_static_options rotating = {
      .steps = 1, .max_iterations = 100, .rotation = {0.0, 0.0, 20.0}};
  const pol_modes_options moving = {.large = 1, .count = 2},
                          steady = {.large = 1, .count = 2, .frame = {0.0, 0.0, 20.0}};
  pol_analysis *analysis = NULL;
  pol_modes *modes = NULL;
  pol_curves *curves = NULL;
  char name[60];
  pol_status status = pol_analysis_create(&analysis, model->mechanism, 0.0, NULL);
  if (!status) status = pol_curves_create(&curves);
  if (!status) status = pol_analysis_equilibrium(analysis, &rotating, NULL, NULL);
  for (int k = 0; k < 3 && !status; k++) {
    status = pol_modes_create(&modes, analysis, k < 2 ? &steady : &moving, NULL);
    if (!status) status = pol_curves_add(curves, modes);
    if (!status) pol_modes_name(modes, 0, name, sizeof name);
    pol_modes_free(&modes);
  }
  pol_curves_free(&curves);
  pol_analysis_free(&analysis);
  return status;
}

static void every_allocation_of_a_rotation_may_fail(void **state)
{
  (void)state;
  const char *const overrides[] = {"beams.blade.elements=6"};
  pol_model *model = read_model_with(MODELS "beams/rotating_cantilever.json", 1, overrides);
  alloc_exhaust(attempt_rotation, model);
  pol_model_free(&model);
}

/* Of a path of equilibria to its critical load. */
static pol_status attempt_path(void *data)
{
  const pol_model *model = data;
  pol_path_options options = pol_path_options_default();
  pol_analysis *analysis = NULL;
  options.steps = 2;
  options.buckling = 1;
  pol_status status = pol_analysis_create(&analysis, model->mechanism, 0.0, NULL);
  if (!status) status = pol_analysis_path(analysis, &options, NULL, NULL);
  pol_analysis_free(&analysis);
  return status;
}

static void every_allocation_of_a_path_may_fail(void **state)
{
  (void)state;
  const char *const overrides[] = {"beams.blade.elements=4"};
  pol_model *model = read_model_with(MODELS "beams/lateral_buckling.json", 1, overrides);
  alloc_exhaust(attempt_path, model);
  pol_model_free(&model);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation_may_fail),
                                     cmocka_unit_test(every_allocation_of_a_rotation_may_fail),
                                     cmocka_unit_test(every_allocation_of_a_path_may_fail)};
  return cmocka_run_group_tests(tests, alloc_install, NULL);
}
