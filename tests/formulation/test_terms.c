/* Every term of the equations of motion against finite differences along the group, for each
 * formulation and each joint type, with the ground first, second and not at all, at random
 * configurations. */
#include "formulation/random_mechanism.h"

/* Types that lock a point, and the generic one, which may. */
static int can_be_global(pol_joint_type type)
{
  return type == POL_GENERIC || pol_joint_locks_point(&(pol_joint){.type = type});
}

static void all_terms_match_finite_differences(void **state)
{
  (void)state;
  uint64_t seed = 20260101, global_seed = 20260102;
  int cases = 0;
  for (int kind = 0; kind < pol_formulation_count(); kind++)
    for (int type = 0; pol_joint_type_name((pol_joint_type)type); type++)
      for (int i = 0; i < 4; i++) {
        system_t sys;
        const variant with = {.swapped = i % 2, .global_axes = i / 2};
        if (with.global_axes && !can_be_global((pol_joint_type)type)) continue;
        if (kind == POL_DIRECTORS && type >= POL_ROLLING_SPHERE) continue; /* not quadratic */
        cases++;
        create_with_room(&sys, (pol_joint_type)type, (pol_formulation_kind)kind, &with,
                         with.global_axes ? &global_seed : &seed);
        check_all(&sys);
        destroy(&sys);
      }
  assert_int_equal(cases, 2 * (15 + 6) * pol_formulation_count() - 2 * 2);
}

/* The same physics in both coordinates: residual wrenches and accelerations agree after conversion.
 */
static void formulations_agree(void **state)
{
  (void)state;
  uint64_t seed = 7, again = 7;
  system_t product, se3;
  create(&product, POL_REVOLUTE, POL_SO3XR3, &(variant){0}, &seed);
  create(&se3, POL_REVOLUTE, POL_SE3_BODY, &(variant){0}, &again);
  double R[9], residual[2][MAX_NV];
  for (int b = 0; b < 2; b++) {
    double *v = se3.v + 6 * b, *vd = se3.vd + 6 * b, *y = product.v + 6 * b;
    pol_quat_to_matrix(se3.q + 7 * b, R);
    /* u = R U, u' = R (U' + Omega x U) */
    double convected[3] = {v[1] * v[5] - v[2] * v[4], v[2] * v[3] - v[0] * v[5],
                           v[0] * v[4] - v[1] * v[3]};
    for (int i = 0; i < 3; i++) {
      y[3 + i] = product.vd[6 * b + 3 + i] = 0.0;
      for (int j = 0; j < 3; j++) {
        y[3 + i] += R[3 * i + j] * v[3 + j];
        product.vd[6 * b + 3 + i] += R[3 * i + j] * (vd[3 + j] + convected[j]);
      }
    }
  }
  system_t *both[2] = {&product, &se3};
  for (int k = 0; k < 2; k++) {
    pol_point at = point_of(both[k]);
    pol_terms out = {.balance = residual[k]};
    evaluate(both[k], &at, POL_INERTIA | POL_FORCE | POL_REACTION, &out);
  }
  for (int b = 0; b < 2; b++) {
    double turned[3] = {0.0};
    pol_quat_to_matrix(se3.q + 7 * b, R);
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) turned[i] += R[3 * i + j] * residual[1][6 * b + 3 + j];
    assert_near(residual[0] + 6 * b, residual[1] + 6 * b, 3, 1e-13);
    assert_near(residual[0] + 6 * b + 3, turned, 3, 1e-13);
  }
  destroy(&product);
  destroy(&se3);
}

static void equations_have_names(void **state)
{
  (void)state;
  uint64_t seed = 3;
  system_t sys;
  char text[64];
  create(&sys, POL_REVOLUTE, POL_SO3XR3, &(variant){0}, &seed);
  pol_dae_describe(sys.dae, 1, text, sizeof text);
  assert_string_equal(text, "body 'a', torque y");
  pol_dae_describe(sys.dae, 11, text, sizeof text);
  assert_string_equal(text, "body 'b', force z");
  pol_dae_describe(sys.dae, sys.nv + 2, text, sizeof text);
  assert_string_equal(text, "joint 'first', translation z");
  pol_dae_describe(sys.dae, sys.nv + 8, text, sizeof text);
  assert_string_equal(text, "joint 'second', rotation (axis x against z)");
  destroy(&sys);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_terms_match_finite_differences),
      cmocka_unit_test(formulations_agree),
      cmocka_unit_test(equations_have_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
