/* FMUs as controllers through the C interface: the bits of the same law as a function of the
 * program, instances of their own, saved states. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "import_test.h"

/* The law of fmu/controller.c. */
typedef struct law {
  double t, sum;
  int started;
} law;

static pol_status sample(double t, const double *inputs, double *outputs, char *message,
                         size_t size, void *user)
{
  law *l = user;
  const double k = 5.0, d = 0.3, ki = 2.0;
  (void)message;
  (void)size;
  if (l->started) l->sum += inputs[0] * (t - l->t);
  l->started = 1;
  l->t = t;
  outputs[0] = -k * inputs[0] - d * inputs[1] - ki * l->sum;
  return POL_OK;
}

static pol_model *read_model(const char *path)
{
  pol_model *model = NULL;
  pol_errors errors = {0};
  const pol_status status = pol_model_read_file(&model, path, 0, NULL, &errors);
  if (status) print_error("%s: %s\n", errors.items[0].path, errors.items[0].rule);
  assert_int_equal(status, POL_OK);
  return model;
}

static pol_simulation *start(const pol_model *model)
{
  pol_simulation *simulation = NULL;
  pol_diagnostics why = {0};
  if (pol_model_create_simulation(&simulation, model, &model->settings, &why))
    fail_msg("%s", why.message);
  return simulation;
}

static void expect_same(const pol_simulation *a, const pol_simulation *b)
{
  const pol_state *one = pol_simulation_state(a), *two = pol_simulation_state(b);
  assert_memory_equal(&one->t, &two->t, sizeof one->t);
  assert_memory_equal(one->q, two->q, 7 * sizeof *one->q);
  assert_memory_equal(one->v, two->v, 6 * sizeof *one->v);
  const double first = pol_simulation_input(a, 0), second = pol_simulation_input(b, 0);
  assert_memory_equal(&first, &second, sizeof first);
}

/* Fixed steps that fit the period, that do not, and variable steps. */
static const char *const simulations[][2] = {
    {"\"method\": \"rattle\", \"step\": 0.001, \"end\": 0.5", "0.01"},
    {"\"method\": \"geom1\", \"step\": 0.002, \"end\": 0.5", "0.0075"},
    {"\"method\": \"geom1\", \"rtol\": 1e-6, \"end\": 0.5", "0.02"}};

static void bits_of_a_function(void **state)
{
  (void)state;
  for (int i = 0; i < 6; i++) {
    const char *const *how = simulations[i / 2];
    law l = {0};
    const pol_sampled_controller by_function = {.name = "pd",
                                                .period = atof(how[1]),
                                                .num_inputs = 2,
                                                .inputs = (int[]){1, 2},
                                                .num_outputs = 1,
                                                .outputs = (int[]){0},
                                                .sample = sample,
                                                .user = &l};
    assert_true(write_test_fmu("import.fmu", 2 + i % 2));
    assert_true(write_test_model("import.json", "import.fmu", how[1], how[0]));
    assert_true(write_test_model("plain.json", NULL, NULL, how[0]));
    pol_model *model = read_model("import.json"), *plain = read_model("plain.json");
    /* two at once, which must not share anything */
    pol_simulation *one = start(model), *two = start(model), *other = start(plain);
    assert_int_equal(pol_simulation_add_controller(other, &by_function), POL_OK);
    expect_same(one, other);
    while (!pol_simulation_finished(one)) {
      assert_int_equal(pol_simulation_step(one), POL_OK);
      assert_int_equal(pol_simulation_step(other), POL_OK);
      expect_same(one, other);
    }
    assert_true(l.sum != 0.0);
    while (!pol_simulation_finished(two)) assert_int_equal(pol_simulation_step(two), POL_OK);
    expect_same(two, other);
    pol_simulation_free(&one);
    pol_simulation_free(&two);
    pol_simulation_free(&other);
    pol_model_free(&model);
    pol_model_free(&plain);
  }
}

static void saved_states(void **state)
{
  (void)state;
  for (int version = 2; version <= 3; version++) {
    char message[200];
    size_t size = 0;
    assert_true(write_test_fmu("import.fmu", version));
    assert_true(write_test_model("import.json", "import.fmu", "0.01", simulations[0][0]));
    pol_model *model = read_model("import.json");
    pol_simulation *whole = start(model), *rest = start(model);
    for (int i = 0; i < 137; i++) assert_int_equal(pol_simulation_step(whole), POL_OK);
    assert_int_equal(pol_simulation_save(whole, NULL, &size), POL_OK);
    void *bytes = malloc(size);
    assert_int_equal(pol_simulation_save(whole, bytes, &size), POL_OK);
    assert_int_equal(pol_simulation_load(rest, bytes, size, message, sizeof message), POL_OK);
    while (!pol_simulation_finished(whole)) {
      expect_same(whole, rest);
      assert_int_equal(pol_simulation_step(whole), POL_OK);
      assert_int_equal(pol_simulation_step(rest), POL_OK);
    }
    expect_same(whole, rest);
    free(bytes);
    pol_simulation_free(&whole);
    pol_simulation_free(&rest);
    pol_model_free(&model);
  }
}

/* The user data are freed once, whether the controller is added or not. */
static void count_release(void *user)
{
  ++*(int *)user;
}

static pol_status copy_input(double t, const double *inputs, double *outputs, char *message,
                             size_t size, void *user)
{
  (void)t;
  (void)inputs;
  (void)outputs;
  (void)message;
  (void)size;
  (void)user;
  return POL_OK;
}

static void releases(void **state)
{
  int count = 0;
  pol_sampled_controller c = {.name = "c",
                              .period = 0.1,
                              .num_outputs = 1,
                              .outputs = (int[]){0},
                              .sample = copy_input,
                              .user = &count,
                              .release = count_release};
  (void)state;
  assert_true(write_test_model("plain.json", NULL, NULL, simulations[0][0]));
  pol_model *model = read_model("plain.json");
  pol_simulation *simulation = start(model);
  c.outputs = (int[]){1}; /* no input */
  assert_int_equal(pol_simulation_add_controller(simulation, &c), POL_BAD_ARGUMENT);
  assert_int_equal(count, 1);
  c.outputs = (int[]){0};
  assert_int_equal(pol_simulation_add_controller(simulation, &c), POL_OK);
  assert_int_equal(count, 1);
  pol_simulation_free(&simulation);
  assert_int_equal(count, 2);
  pol_model_free(&model);
}

/* A model that was not read from a file has no FMU. */
static void models_without_a_folder(void **state)
{
  pol_model *model = NULL;
  pol_simulation *simulation = NULL;
  pol_errors errors = {0};
  pol_diagnostics why = {0};
  char *text;
  size_t size;
  (void)state;
  assert_true(write_test_model("import.json", "import.fmu", "0.01", simulations[0][0]));
  assert_int_equal(poli_read_file("import.json", &text, &size), POL_OK);
  assert_int_equal(pol_model_read_text(&model, text, 0, NULL, &errors), POL_OK);
  assert_int_equal(pol_model_check_controllers(model, &errors), POL_BAD_ARGUMENT);
  assert_string_equal(errors.items[0].path, "controllers[0].fmu");
  assert_string_equal(errors.items[0].element, "controller 'pd'");
  assert_int_equal(pol_model_create_simulation(&simulation, model, &model->settings, &why),
                   POL_BAD_ARGUMENT);
  assert_null(simulation);
  assert_non_null(strstr(why.message, "not read from a file"));
  pol_errors_clear(&errors);
  pol_model_free(&model);
  free(text);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(bits_of_a_function),
                                     cmocka_unit_test(saved_states), cmocka_unit_test(releases),
                                     cmocka_unit_test(models_without_a_folder)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
