/* FMUs as controllers with every allocation of polhode and Jansson made to fail once:
 * POL_NO_MEMORY, nothing left behind.  libxml2 and the FMU keep their own allocator. */
#define _XOPEN_SOURCE 700

#include "../failing_alloc.h"

#include <jansson.h>
#include <sys/stat.h>
#include <unistd.h>

#include "import_test.h"

static void *allocate_json(size_t size)
{
  if (alloc_state.fail_at > 0 && alloc_state.count >= alloc_state.fail_at) return NULL;
  return __wrap_malloc(size);
}

static int install(void **state)
{
  alloc_install(state);
  json_set_alloc_funcs(allocate_json, __wrap_free);
  return 0;
}

/* Reads the model, checks its controllers, simulates some steps and saves the state. */
static pol_status attempt(void *user)
{
  pol_model *model = NULL;
  pol_simulation *simulation = NULL;
  pol_errors errors = {0};
  pol_diagnostics why = {0};
  size_t size = 0;
  pol_status status = pol_model_read_file(&model, user, 0, NULL, &errors);
  if (!status) status = pol_model_check_controllers(model, &errors);
  if (!status) status = pol_model_create_simulation(&simulation, model, &model->settings, &why);
  for (int i = 0; i < 3 && !status; i++) status = pol_simulation_step(simulation);
  if (!status) status = pol_simulation_save(simulation, NULL, &size);
  pol_errors_clear(&errors);
  pol_simulation_free(&simulation);
  pol_model_free(&model);
  return status;
}

static void a_controller(void **state)
{
  (void)state;
  for (int version = 2; version <= 3; version++) {
    assert_true(write_test_fmu("alloc.fmu", version));
    assert_true(write_test_model("alloc.json", "alloc.fmu", "0.002",
                                 "\"method\": \"rattle\", \"step\": 0.001, \"end\": 0.5"));
    assert_true(alloc_exhaust(attempt, (void *)"alloc.json") > 100);
  }
  /* unpacked folders are gone, whichever allocation failed */
  assert_int_equal(rmdir("alloc-temporary"), 0);
}

/* An FMU that cannot be used, so that errors are reported. */
static pol_status attempt_wrong(void *user)
{
  pol_model *model = NULL;
  pol_errors errors = {0};
  pol_status status = pol_model_read_file(&model, user, 0, NULL, &errors);
  if (!status) status = pol_model_check_controllers(model, &errors);
  if (status == POL_BAD_ARGUMENT) {
    assert_int_equal(errors.count, 2);
    status = POL_OK;
  }
  pol_errors_clear(&errors);
  pol_model_free(&model);
  return status;
}

static void a_wrong_controller(void **state)
{
  (void)state;
  FILE *file = fopen("alloc.json", "w");
  assert_non_null(file);
  fputs("{\"bodies\": [{\"name\": \"rod\", \"mass\": 1, \"inertia\": [1, 1, 1]}], \"variables\": "
        "[{\"name\": \"motor\", \"expression\": \"0\", \"input\": true}], \"controllers\": "
        "[{\"name\": \"pd\", \"fmu\": \"alloc.fmu\", \"period\": 1, \"outputs\": {\"torqe\": "
        "\"motor\"}, \"parameters\": {\"torque\": 1}}], \"simulation\": {\"step\": 0.1, \"end\": "
        "1}}",
        file);
  fclose(file);
  assert_true(alloc_exhaust(attempt_wrong, (void *)"alloc.json") > 30);
}

int main(void)
{
  char path[4096];
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_controller),
                                     cmocka_unit_test(a_wrong_controller)};
  rmdir("alloc-temporary");
  if (!getcwd(path, sizeof path - 20) || mkdir("alloc-temporary", 0700) != 0) return 1;
  strcat(path, "/alloc-temporary");
  setenv("TMPDIR", path, 1);
  return cmocka_run_group_tests(tests, install, NULL);
}
