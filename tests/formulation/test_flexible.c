/* Flexible bodies in a floating frame: all terms of their equations against finite differences, in
 * every formulation that supports them, with joints, forces and expressions on their interfaces;
 * and their energy and momenta against the sum over the point masses that they consist of. */
#include <stdio.h>

#include "formulation/random_forces.h"
#include "point_masses.h"

static int is_supported(int kind)
{
  return kind != POL_SO3_PIVOT && kind != POL_DIRECTORS;
}

/* A body 'a' with two interfaces (bodies 0, 1, 2), a rigid body 'b' (3) and a flexible body 'c'
 * with one (4, 5). */
static void build(system_t *sys, uint64_t *seed)
{
  static const double gravity[3] = {0.3, -2.0, -9.81};
  point_masses points;
  pol_body body;
  int index;
  *sys = (system_t){0};
  assert_int_equal(pol_mechanism_create(&sys->mechanism), POL_OK);
  pol_mechanism_set_gravity(sys->mechanism, gravity);
  pol_flexible_body flexible = random_flexible(&points, "a", 3, 2, seed);
  assert_int_equal(pol_mechanism_add_flexible_body(sys->mechanism, &flexible, &index), POL_OK);
  assert_int_equal(index, 0);
  random_body("b", seed, &body);
  assert_int_equal(pol_mechanism_add_body(sys->mechanism, &body, NULL), POL_OK);
  flexible = random_flexible(&points, "c", 2, 1, seed);
  assert_int_equal(pol_mechanism_add_flexible_body(sys->mechanism, &flexible, &index), POL_OK);
  assert_int_equal(index, 4);
}

static void check_and_destroy(system_t *sys, int kind, uint64_t *seed)
{
  create_equations(sys, (pol_formulation_kind)kind, seed);
  check_all(sys);
  destroy(sys);
}

static void free_bodies(void **state)
{
  (void)state;
  uint64_t seed = 11;
  for (int kind = 0; kind < pol_formulation_count(); kind++) {
    system_t sys;
    if (!is_supported(kind)) continue;
    build(&sys, &seed);
    check_and_destroy(&sys, kind, &seed);
  }
}

/* Each type of joint from the ground to an interface, from it to a rigid body, from that to a
 * reference frame, and between interfaces of one and of two bodies. */
static void joints_on_interfaces(void **state)
{
  (void)state;
  static const int ends[5][2] = {{POL_GROUND, 1}, {2, 3}, {3, 0}, {1, 2}, {5, 2}};
  static const char *const names[5] = {"one", "two", "three", "four", "five"};
  uint64_t seed = 12;
  int cases = 0;
  for (int kind = 0; kind < pol_formulation_count(); kind++)
    for (int type = 0; pol_joint_type_name((pol_joint_type)type); type++) {
      system_t sys;
      if (!is_supported(kind)) continue;
      build(&sys, &seed);
      for (int k = 0; k < 5; k++)
        add_random_joint(sys.mechanism, names[k], (pol_joint_type)type, type % 2, ends[k][0],
                         ends[k][1], &seed);
      check_and_destroy(&sys, kind, &seed);
      cases++;
    }
  assert_int_equal(cases, 15 * 7);
}

static void forces_on_interfaces(void **state)
{
  (void)state;
  static const int bodies[5] = {0, 1, 2, 3, 5};
  uint64_t seed = 13;
  for (int kind = 0; kind < pol_formulation_count(); kind++) {
    system_t sys;
    if (!is_supported(kind)) continue;
    build(&sys, &seed);
    for (int i = 0; i < 10; i++) {
      char name[16];
      snprintf(name, sizeof name, "load %d", i);
      pol_force force = {.name = name,
                         .type = i % 2 ? POL_APPLIED_FORCE : POL_APPLIED_TORQUE,
                         .body = bodies[i / 2],
                         .frame = POL_BODY_AXES};
      random_numbers(&seed, force.vector, 3);
      random_numbers(&seed, force.point, 3);
      /* potentials are compared, which these have not */
      force.type = POL_SUPPORT;
      for (int k = 0; k < 3; k++) {
        force.stiffness[k] = 2.0 + random_number(&seed);
        force.damping[k] = 1.0 + random_number(&seed);
      }
      assert_int_equal(pol_mechanism_add_force(sys.mechanism, &force, NULL), POL_OK);
      pol_force spring = {.name = i % 2 ? "s odd" : "s even",
                          .type = POL_SPRING_DAMPER,
                          .stiffness = {3.0},
                          .damping = {0.4},
                          .length = 0.2};
      if (i > 1) continue;
      spring.marker[0] = add_random_marker(sys.mechanism, i ? 1 : 2, &seed);
      spring.marker[1] = add_random_marker(sys.mechanism, i ? 2 : 5, &seed);
      assert_int_equal(pol_mechanism_add_force(sys.mechanism, &spring, NULL), POL_OK);
    }
    check_and_destroy(&sys, kind, &seed);
  }
}

/* Only damping and stiffness: what follows or is an expression has no potential. */
static void loads_and_expressions(void **state)
{
  (void)state;
  uint64_t seed = 14;
  for (int kind = 0; kind < pol_formulation_count(); kind++) {
    system_t sys;
    if (!is_supported(kind)) continue;
    build(&sys, &seed);
    add_random_joint(sys.mechanism, "hinge", POL_REVOLUTE, 0, 1, 3, &seed);
    for (int i = 0; i < 6; i++) {
      static const char *const texts[6] = {"'a.two'.position.x*b.velocity.y",
                                           "c.angular_velocity.z + hinge.force.x",
                                           "'c.one'.angular_velocity_global.x^2",
                                           "a.velocity.x*hinge.angle",
                                           NULL,
                                           "'c.one'.velocity.z*'a.one'.position.y"};
      char name[16];
      snprintf(name, sizeof name, "load %d", i);
      pol_force force = {.name = name,
                         .type = i % 2 ? POL_APPLIED_FORCE : POL_APPLIED_TORQUE,
                         .body = i,
                         .frame = i % 3 ? POL_BODY_AXES : POL_GLOBAL_AXES,
                         .expressions = {NULL, texts[i], NULL}};
      random_numbers(&seed, force.vector, 3);
      random_numbers(&seed, force.point, 3);
      assert_int_equal(pol_mechanism_add_force(sys.mechanism, &force, NULL), POL_OK);
    }
    create_equations(&sys, (pol_formulation_kind)kind, &seed);
    const pol_pattern *W = sys.patterns.coupling;
    check_matrix(&sys, POL_DAMPING, W, VELOCITY_VARIED, POL_FORCE, sys.nv);
    check_matrix(&sys, POL_STIFFNESS, W, POSITION_VARIED, POL_INERTIA | POL_FORCE, sys.nv);
    destroy(&sys);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(free_bodies),
      cmocka_unit_test(joints_on_interfaces),
      cmocka_unit_test(forces_on_interfaces),
      cmocka_unit_test(loads_and_expressions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
