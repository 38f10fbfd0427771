/* Overrides "key.path=value": what they change, and what is said about wrong ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <polhode/model.h>

static const char heavy_top[] = POLHODE_SOURCE_DIR "/models/bruels-cardona-2010/heavy_top.json";

static void overrides_replace_values(void **state)
{
  (void)state;
  static const char *const overrides[] = {
      "name=Other top",
      "gravity[2]=-1.625",
      "bodies[0].mass=3",
      "bodies.top.position=[0, 2, 0]",
      "bodies[0].rotation.angle=0.0",
      "bodies[0].velocity=[1, 2, 3]",
      "joints.tip.bodies[0]=ground",
      "joints.tip.bodies[1]=\"top\"",
      "simulation.formulation=se3",
      "simulation.step=1e-4",
      "simulation.newton={\"kind\": \"full\"}",
      "simulation.newton.max_iterations=7",
      "simulation.step=5e-4",
  };
  enum { COUNT = sizeof overrides / sizeof *overrides };
  pol_errors errors = {0, NULL};
  pol_model *model = NULL;
  assert_int_equal(pol_model_read_file(&model, heavy_top, COUNT, overrides, &errors), POL_OK);
  assert_int_equal(errors.count, 0);

  double gravity[3];
  pol_mechanism_gravity(model->mechanism, gravity);
  assert_true(gravity[2] == -1.625);
  assert_string_equal(model->name, "Other top");
  const pol_body *top = pol_mechanism_body(model->mechanism, 0);
  assert_true(top->mass == 3.0 && top->position[1] == 2.0 && top->velocity[2] == 3.0);
  assert_int_equal(top->given, POL_GIVEN_VELOCITY | POL_GIVEN_ANGULAR_VELOCITY);
  const pol_joint *tip = pol_mechanism_joint(model->mechanism, 0);
  assert_int_equal(pol_mechanism_marker(model->mechanism, tip->marker[0])->body, POL_GROUND);
  assert_int_equal(model->settings.formulation, POL_SE3_BODY);
  assert_true(model->settings.step == 5e-4);
  assert_int_equal(model->settings.options.newton.kind, POL_NEWTON_FULL);
  assert_int_equal(model->settings.options.newton.max_iterations, 7);
  pol_model_free(&model);
}

/* Objects that the file does not have come into being with the first key in them. */
static void overrides_make_objects(void **state)
{
  (void)state;
  static const char *const overrides[] = {
      "simulation.newton.tolerance=1e-9",
      "simulation.newton.max_iterations=7",
      "simulation.rtol=1e-5",
      "simulation.control.max_step=0.25",
  };
  enum { COUNT = sizeof overrides / sizeof *overrides };
  pol_errors errors = {0, NULL};
  pol_model *model = NULL;
  assert_int_equal(pol_model_read_file(&model, heavy_top, COUNT, overrides, &errors), POL_OK);
  assert_int_equal(errors.count, 0);
  const pol_options *options = &model->settings.options;
  assert_true(options->newton.tolerance == 1e-9 && options->newton.max_iterations == 7);
  assert_true(options->control.max_step == 0.25);
  pol_model_free(&model);
}

typedef struct wrong {
  const char *override, *path, *value, *rule, *suggestion;
} wrong;

static void wrong_overrides_are_reported(void **state)
{
  (void)state;
  static const char unknown_rule[] = "is not a known key";
  static const char key_rule[] = "must name an existing key of the model";
  static const char item_rule[] = "must name an existing item of the list";
  static const char path_rule[] = "must have a path like bodies[0].mass before the =";
  static const char value_rule[] = "must have a value in JSON or one plain word after the =";
  static const char deep_rule[] = "must not lead into a value that is neither an object nor a list";
  static const wrong cases[] = {
      {"step", "--set step", "", "must have the form key.path=value", ""},
      {"simulatio.step=1", "simulatio", "{\"step\": 1}", unknown_rule, "simulation"},
      {"simulation.newtn.kind=full", "simulation.newtn", "{\"kind\": \"full\"}", unknown_rule,
       "newton"},
      {"simulation.newton.knd=full", "simulation.newton.knd", "\"full\"", unknown_rule, "kind"},
      {"simulation.newton[0]=1", "--set simulation.newton[0]=1", "0", key_rule, ""},
      {"bodies[1].mass=1", "--set bodies[1].mass=1", "1", item_rule, ""},
      {"bodies[1]=1", "--set bodies[1]=1", "1", item_rule, ""},
      {"bodies[99999999999999999999999].mass=1", "--set bodies[99999999999999999999999].mass=1",
       "99999999999999999999999", item_rule, ""},
      {"bodies.tpo.mass=1", "--set bodies.tpo.mass=1", "tpo", item_rule, "top"},
      {"simulation[0]=1", "--set simulation[0]=1", "0", key_rule, ""},
      {"name.x=1", "--set name.x=1", "x", deep_rule, ""},
      {"name.x.y=1", "--set name.x.y=1", "x", deep_rule, ""},
      {"=1", "--set =1", "", path_rule, ""},
      {".name=x", "--set .name=x", ".name", path_rule, ""},
      {"bodies.=1", "--set bodies.=1", ".", path_rule, ""},
      {"bodies[]=1", "--set bodies[]=1", "[]", path_rule, ""},
      {"bodies[x]=1", "--set bodies[x]=1", "[x]", path_rule, ""},
      {"bodies[0=1", "--set bodies[0=1", "[0", path_rule, ""},
      {"bodies[0]mass=1", "--set bodies[0]mass=1", "[0]mass", path_rule, ""},
      {"na/me=1", "--set na/me=1", "na/me", path_rule, ""},
      {"name=", "--set name=", "", value_rule, ""},
      {"name={\"a\":", "--set name={\"a\":", "{\"a\":", value_rule, ""},
      {"simulation.step=1e999", "--set simulation.step=1e999", "1e999", value_rule, ""},
      {"simulation.stp=1", "simulation.stp", "1", unknown_rule, "step"},
      {"bodies[0].mass=heavy", "bodies[0].mass", "\"heavy\"", "must be a positive number", ""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    pol_errors errors = {0, NULL};
    pol_model *model = NULL;
    const pol_status status =
        pol_model_read_file(&model, heavy_top, 1, &cases[i].override, &errors);
    assert_int_equal(status, POL_BAD_ARGUMENT);
    assert_null(model);
    assert_int_equal(errors.count, 1);
    assert_string_equal(errors.items[0].path, cases[i].path);
    assert_string_equal(errors.items[0].value, cases[i].value);
    assert_string_equal(errors.items[0].rule, cases[i].rule);
    assert_string_equal(errors.items[0].suggestion, cases[i].suggestion);
    pol_errors_clear(&errors);
  }
}

/* Errors of overrides come first; those of the file follow. */
static void wrong_overrides_do_not_hide_errors_of_the_file(void **state)
{
  (void)state;
  static const char *const overrides[] = {"[9]=1", "bodies[0].mass=2"};
  pol_errors errors = {0, NULL};
  pol_model *model = NULL;
  const pol_status status = pol_model_read_text(
      &model, "{\"bodies\": [{\"name\": \"a\", \"mass\": -1, \"inertia\": [1, 1]}]}", 2, overrides,
      &errors);
  assert_int_equal(status, POL_BAD_ARGUMENT);
  assert_int_equal(errors.count, 3);
  assert_string_equal(errors.items[0].path, "--set [9]=1");
  assert_string_equal(errors.items[1].path, "bodies[0].inertia");
  assert_string_equal(errors.items[2].path, "simulation");
  pol_errors_clear(&errors);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(overrides_replace_values),
      cmocka_unit_test(overrides_make_objects),
      cmocka_unit_test(wrong_overrides_are_reported),
      cmocka_unit_test(wrong_overrides_do_not_hide_errors_of_the_file),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
