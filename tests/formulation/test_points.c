/* Rigid bodies and point masses together: every term against finite differences along the group, in
 * each formulation and for each joint that fits a point. */
#include "formulation/random_forces.h"

enum { P, A, Q, B, NUM_MIXED }; /* points p, q; rigid a, b */

/* Support and drag on p, spring-dampers of both laws between points, bodies and the
 * ground. */
static void add_mixed_forces(pol_mechanism *mechanism, uint64_t *seed)
{
  static const struct {
    const char *name;
    pol_force_type type;
    int first, second;
    pol_spring_law law;
  } forces[] = {
      {"support p", POL_SUPPORT, POL_GROUND, P, POL_LINEAR_SPRING},
      {"drag p", POL_DRAG, POL_GROUND, P, POL_LINEAR_SPRING},
      {"p to a", POL_SPRING_DAMPER, P, A, POL_LINEAR_SPRING},
      {"b to p", POL_SPRING_DAMPER, B, P, POL_SQUARED_SPRING},
      {"p to q", POL_SPRING_DAMPER, P, Q, POL_SQUARED_SPRING},
      {"ground to q", POL_SPRING_DAMPER, POL_GROUND, Q, POL_LINEAR_SPRING},
  };
  for (size_t i = 0; i < sizeof forces / sizeof forces[0]; i++) {
    pol_force force = {.name = forces[i].name,
                       .type = forces[i].type,
                       .body = forces[i].second,
                       .law = forces[i].law,
                       .length = 0.7,
                       .coefficient = 0.4,
                       .stiffness = {1.5, 2.0, 2.5},
                       .damping = {0.5, 0.7, 0.9}};
    random_numbers(seed, force.anchor, 3);
    if (force.type == POL_SPRING_DAMPER) {
      force.marker[0] = add_random_marker(mechanism, forces[i].first, seed);
      force.marker[1] = add_random_marker(mechanism, forces[i].second, seed);
    }
    assert_int_equal(pol_mechanism_add_force(mechanism, &force, NULL), POL_OK);
  }
}

/* Points and rigid bodies in turn, so that no body starts at a multiple of its size, and joints of
 * the type with a point as first, second and both. */
static void create_mixed(system_t *sys, pol_joint_type type, pol_formulation_kind kind,
                         uint64_t *seed)
{
  static const double gravity[3] = {0.3, -2.0, -9.81};
  static const char *const names[NUM_MIXED] = {"p", "a", "q", "b"};
  assert_int_equal(pol_mechanism_create(&sys->mechanism), POL_OK);
  pol_mechanism_set_gravity(sys->mechanism, gravity);
  for (int i = 0; i < NUM_MIXED; i++) {
    pol_body body;
    random_body(names[i], seed, &body);
    body.point = i == P || i == Q;
    assert_int_equal(pol_mechanism_add_body(sys->mechanism, &body, NULL), POL_OK);
  }
  if (kind == POL_SO3_PIVOT) {
    add_random_joint(sys->mechanism, "pivot a", POL_SPHERICAL, 0, POL_GROUND, A, seed);
    add_random_joint(sys->mechanism, "pivot b", POL_SPHERICAL, 0, B, POL_GROUND, seed);
  }
  add_random_joint(sys->mechanism, "p-a", type, 0, P, A, seed);
  add_random_joint(sys->mechanism, "b-p", type, 0, B, P, seed);
  add_random_joint(sys->mechanism, "p-q", type, 0, P, Q, seed);
  add_random_joint(sys->mechanism, "ground-q", type, 0, POL_GROUND, Q, seed);
  add_mixed_forces(sys->mechanism, seed);
  add_passive_joint_springs(sys->mechanism, seed);
  create_equations(sys, kind, seed);
}

static void points_and_bodies_match_finite_differences(void **state)
{
  (void)state;
  uint64_t seed = 20260102;
  int cases = 0;
  for (int kind = 0; kind < pol_formulation_count(); kind++)
    for (int type = 0; pol_joint_type_name((pol_joint_type)type); type++) {
      const pol_joint joint = {.type = (pol_joint_type)type, .locked = POL_LOCK_ROTATION_X};
      if (!pol_joint_fits_point(&joint)) continue;
      system_t sys = {0};
      create_mixed(&sys, (pol_joint_type)type, (pol_formulation_kind)kind, &seed);
      check_all(&sys);
      destroy(&sys);
      cases++;
    }
  /* spherical, distance, point-on-line and point-in-plane */
  assert_int_equal(cases, 4 * pol_formulation_count());
}

/* A point has three coordinates in every formulation, and equations to which its name belongs. */
static void points_have_three_coordinates(void **state)
{
  static const double rest[3] = {0.0, 0.0, 0.0};
  (void)state;
  uint64_t seed = 11;
  for (int kind = 0; kind < pol_formulation_count(); kind++) {
    system_t sys = {0};
    char text[64];
    create_mixed(&sys, POL_DISTANCE, (pol_formulation_kind)kind, &seed);
    int rigid = kind == POL_SO3_PIVOT          ? 3
                : kind == POL_EULER_PARAMETERS ? 7
                : kind == POL_DIRECTORS        ? 12
                                               : 6;
    assert_int_equal(sys.nv, 2 * 3 + 2 * rigid);
    poli_dae_describe(sys.dae, 2, text, sizeof text);
    assert_string_equal(text, "body 'p', force z");
    poli_dae_describe(sys.dae, 3 + rigid + 1, text, sizeof text);
    assert_string_equal(text, "body 'q', force y");
    poli_dae_describe(sys.dae, 3 + rigid + 3, text, sizeof text);
    if (kind == POL_DIRECTORS)
      assert_string_equal(text, "body 'b', force x on director 1");
    else
      assert_memory_equal(text, "body 'b', torque", 16);
    pol_body_state p;
    pol_formulation_body_state(sys.formulation, sys.q, sys.v, P, &p);
    assert_near(p.position, sys.q, 3, 0.0);
    assert_near(p.velocity, sys.v, 3, 0.0);
    assert_near(p.angular_velocity, rest, 3, 0.0);
    destroy(&sys);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(points_and_bodies_match_finite_differences),
      cmocka_unit_test(points_have_three_coordinates),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
