/* The terms of springs on joint coordinates against finite differences along the group, and the
 * turns that they count, in each formulation. */
#include "formulation/random_forces.h"

static void joint_springs_match_finite_differences(void **state)
{
  (void)state;
  uint64_t seed = 5;
  static const pol_joint_type types[] = {POL_REVOLUTE,       POL_PRISMATIC, POL_CYLINDRICAL,
                                         POL_UNIVERSAL,      POL_PLANAR,    POL_POINT_ON_LINE,
                                         POL_POINT_IN_PLANE, POL_PARALLEL,  POL_GENERIC};
  for (int kind = 0; kind < pol_formulation_count(); kind++)
    for (size_t n = 0; n < sizeof types / sizeof types[0]; n++) {
      system_t sys;
      create_with_joint_springs(&sys, types[n], (pol_formulation_kind)kind,
                                add_active_joint_springs, &seed);
      check_matrix(&sys, POL_STIFFNESS, sys.patterns.coupling, POSITION_VARIED,
                   POL_INERTIA | POL_FORCE, sys.nv);
      check_matrix(&sys, POL_DAMPING, sys.patterns.coupling, VELOCITY_VARIED, POL_FORCE, sys.nv);
      destroy(&sys);
      create_with_joint_springs(&sys, types[n], (pol_formulation_kind)kind,
                                add_passive_joint_springs, &seed);
      check_forces(&sys);
      destroy(&sys);
    }
}

/* Turns count: one more stretches a spring by 2 pi k. */
static void turns_stretch_joint_springs(void **state)
{
  (void)state;
  uint64_t seed = 6;
  for (int kind = 0; kind < pol_formulation_count(); kind++) {
    system_t sys;
    create_with_joint_springs(&sys, POL_REVOLUTE, (pol_formulation_kind)kind,
                              add_active_joint_springs, &seed);
    for (int k = 0; k < pol_mechanism_num_forces(sys.mechanism); k++) {
      const pol_force *force = pol_mechanism_force(sys.mechanism, k);
      pol_point at = point_of(&sys), before = at;
      double angle[2], rate;
      before.history = NULL;
      double change = pol_formulation_joint_spring_effort(sys.formulation, &at, k) -
                      pol_formulation_joint_spring_effort(sys.formulation, &before, k);
      assert_near(&change, &(double){-2.0 * 3.14159265358979323846 * force->stiffness[0]}, 1,
                  1e-12);
      pol_formulation_joint_coordinate(sys.formulation, &at, force->joint, 0, &angle[0], &rate);
      pol_formulation_joint_coordinate(sys.formulation, &before, force->joint, 0, &angle[1], &rate);
      double effort = force->actuator - force->damping[0] * rate -
                      force->stiffness[0] * (angle[0] - force->rest);
      double told = pol_formulation_joint_spring_effort(sys.formulation, &at, k);
      assert_near(&told, &effort, 1, 1e-13);
      assert_near(&(double){angle[0] - angle[1]}, &(double){2.0 * 3.14159265358979323846}, 1,
                  1e-14);
    }
    destroy(&sys);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(joint_springs_match_finite_differences),
      cmocka_unit_test(turns_stretch_joint_springs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
