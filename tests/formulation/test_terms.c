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
  poli_dae_describe(sys.dae, 1, text, sizeof text);
  assert_string_equal(text, "body 'a', torque y");
  poli_dae_describe(sys.dae, 11, text, sizeof text);
  assert_string_equal(text, "body 'b', force z");
  poli_dae_describe(sys.dae, sys.nv + 2, text, sizeof text);
  assert_string_equal(text, "joint 'first', translation z");
  poli_dae_describe(sys.dae, sys.nv + 8, text, sizeof text);
  assert_string_equal(text, "joint 'second', rotation (axis x against z)");
  destroy(&sys);
}

/* The rows of a locked point are the second marker's position seen from the first: for a top with
 * its centre of mass at X from the tip X - R^T x in its axes, x - R X in global ones. */
static void rows_have_the_signs_of_the_manual(void **state)
{
  (void)state;
  static const double X[3] = {0.1, 1.0, -0.2}, x[3] = {0.3, -0.7, 0.4};
  for (int order = 0; order < 3; order++) { /* ["top", "ground"], ["ground", "top"], global axes */
    uint64_t seed = 11;
    system_t sys = {.t = 0.0};
    pol_body top = {.name = "top",
                    .mass = 1.0,
                    .inertia = {1, 0, 0, 0, 1, 0, 0, 0, 1},
                    .position = {x[0], x[1], x[2]}};
    pol_marker tip = {.name = "", .body = 0, .position = {-X[0], -X[1], -X[2]}, .rotation = {1}};
    pol_marker origin = {.name = "", .body = POL_GROUND, .rotation = {1}};
    pol_joint joint = {.name = "joint", .type = POL_SPHERICAL, .global_axes = order == 2};
    double R[9], expected[3], position[3];
    random_quaternion(&seed, top.rotation);
    assert_int_equal(pol_mechanism_create(&sys.mechanism), POL_OK);
    assert_int_equal(pol_mechanism_add_body(sys.mechanism, &top, NULL), POL_OK);
    assert_int_equal(pol_mechanism_add_marker(sys.mechanism, &tip, &joint.marker[order == 1]),
                     POL_OK);
    assert_int_equal(pol_mechanism_add_marker(sys.mechanism, &origin, &joint.marker[order != 1]),
                     POL_OK);
    assert_int_equal(pol_mechanism_add_joint(sys.mechanism, &joint, NULL), POL_OK);
    create_equations(&sys, POL_SO3XR3, &seed);
    pol_quat_to_matrix(top.rotation, R);
    for (int i = 0; i < 3; i++) {
      expected[i] = order == 0 ? X[i] : order == 1 ? x[i] : -x[i];
      for (int j = 0; j < 3; j++)
        expected[i] += order == 0   ? -R[3 * j + i] * x[j]
                       : order == 1 ? -R[3 * i + j] * X[j]
                                    : R[3 * i + j] * X[j];
    }
    pol_point at = point_of(&sys);
    evaluate(&sys, &at, POL_POSITION, &(pol_terms){.position = position});
    assert_near(position, expected, 3, 1e-15);
    destroy(&sys);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_terms_match_finite_differences),
      cmocka_unit_test(formulations_agree),
      cmocka_unit_test(equations_have_names),
      cmocka_unit_test(rows_have_the_signs_of_the_manual),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
