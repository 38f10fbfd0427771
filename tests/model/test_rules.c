/* The tables of a model file agree with the rules of the library: which joints have an axis. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <polhode/model.h>

static pol_status read_joint(const char *type, const char *more)
{
  char text[1000];
  pol_model *model;
  pol_errors errors = {0};
  snprintf(text, sizeof text,
           "{\"bodies\": [{\"name\": \"b\", \"mass\": 1, \"inertia\": [1, 1, 1]}], \"joints\": "
           "[{\"name\": \"j\", \"type\": \"%s\", \"bodies\": [\"ground\", \"b\"], \"point\": [0, "
           "0, 0]%s%s}], \"simulation\": {\"step\": 1, \"end\": 1}}",
           type, more, strcmp(type, "generic") == 0 ? ", \"locked\": [\"x\"]" : "");
  const pol_status status = pol_model_read_text(&model, text, 0, NULL, &errors);
  pol_errors_clear(&errors);
  pol_model_free(&model);
  return status;
}

static pol_status build_joint(pol_joint_type type, const double *axis)
{
  static const double point[3];
  pol_mechanism *mechanism;
  const pol_joint joint = {.name = "j", .type = type, .locked = POL_LOCK_X};
  pol_body body = pol_body_default();
  body.name = "b";
  assert_int_equal(pol_mechanism_create(&mechanism), POL_OK);
  assert_int_equal(pol_mechanism_add_body(mechanism, &body, NULL), POL_OK);
  const pol_status status =
      pol_mechanism_add_joint_at(mechanism, &joint, POL_GROUND, 0, point, axis, NULL);
  pol_mechanism_free(&mechanism);
  return status;
}

static void joints_have_an_axis_in_a_file_if_they_have_one_in_c(void **state)
{
  static const double axes[6] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0};
  int accepted = 0;
  (void)state;
  for (int type = 0; pol_joint_type_name((pol_joint_type)type); type++) {
    const char *name = pol_joint_type_name((pol_joint_type)type);
    const char *more =
        type == POL_UNIVERSAL ? ", \"axes\": [[1, 0, 0], [0, 1, 0]]" : ", \"axis\": [1, 0, 0]";
    const pol_status with = build_joint((pol_joint_type)type, axes);
    const pol_status without = build_joint((pol_joint_type)type, NULL);
    assert_int_equal(read_joint(name, more), with);
    assert_int_equal(read_joint(name, ""), without);
    accepted += (with == POL_OK) + (without == POL_OK);
  }
  assert_int_equal(accepted, 14); /* 9 need an axis, 2 may have one, a spherical joint has none */
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(joints_have_an_axis_in_a_file_if_they_have_one_in_c),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
