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

/* Supports on all frames, and springs between frames of one and of two bodies. */
static void forces_on_interfaces(void **state)
{
  (void)state;
  static const int bodies[5] = {0, 1, 2, 3, 5}, springs[2][2] = {{2, 5}, {1, 2}};
  uint64_t seed = 13;
  for (int kind = 0; kind < pol_formulation_count(); kind++) {
    system_t sys;
    if (!is_supported(kind)) continue;
    build(&sys, &seed);
    for (int i = 0; i < 5; i++) {
      char name[32];
      snprintf(name, sizeof name, "support %d", i);
      pol_force force = {.name = name, .type = POL_SUPPORT, .body = bodies[i]};
      random_numbers(&seed, force.point, 3);
      for (int k = 0; k < 3; k++) {
        force.stiffness[k] = 2.0 + random_number(&seed);
        force.damping[k] = 1.0 + random_number(&seed);
      }
      assert_int_equal(pol_mechanism_add_force(sys.mechanism, &force, NULL), POL_OK);
    }
    for (int i = 0; i < 2; i++) {
      pol_force spring = {.name = i ? "inside" : "between",
                          .type = POL_SPRING_DAMPER,
                          .stiffness = {3.0},
                          .damping = {0.4},
                          .length = 0.2};
      for (int k = 0; k < 2; k++)
        spring.marker[k] = add_random_marker(sys.mechanism, springs[i][k], &seed);
      assert_int_equal(pol_mechanism_add_force(sys.mechanism, &spring, NULL), POL_OK);
    }
    check_and_destroy(&sys, kind, &seed);
  }
}

/* Springs, a reflected inertia, a drive and a coupling of hinges at interfaces. */
static void hinges_with_axes(void **state)
{
  (void)state;
  static const int ends[3][2] = {{POL_GROUND, 1}, {2, 3}, {3, 5}};
  static const char *const names[3] = {"first", "second", "third"};
  uint64_t seed = 16;
  for (int kind = 0; kind < pol_formulation_count(); kind++) {
    system_t sys;
    if (!is_supported(kind)) continue;
    build(&sys, &seed);
    for (int k = 0; k < 3; k++) {
      pol_joint_axis axis = pol_joint_axis_default();
      pol_joint joint = {.name = names[k], .type = POL_REVOLUTE, .axes = &axis};
      axis.stiffness = 0.7 + k;
      axis.damping = 0.2;
      axis.armature = 0.3 + 0.1 * k;
      for (int i = 0; i < 2; i++)
        joint.marker[i] = add_random_marker(sys.mechanism, ends[k][i], &seed);
      assert_int_equal(pol_mechanism_add_joint(sys.mechanism, &joint, NULL), POL_OK);
    }
    const pol_drive drive = {
        .name = "drive",
        .joint = 0,
        .coordinate = POL_DRIVE_ROTATION,
        .function = {.type = POL_HARMONIC, .amplitude = 0.4, .frequency = 0.3}};
    const pol_coupling coupling = {.name = "gear",
                                   .joint = {1, 2},
                                   .coordinate = {POL_DRIVE_ROTATION, POL_DRIVE_ROTATION},
                                   .factor = {1.0, -2.0}};
    assert_int_equal(pol_mechanism_add_drive(sys.mechanism, &drive, NULL), POL_OK);
    assert_int_equal(pol_mechanism_add_coupling(sys.mechanism, &coupling, NULL), POL_OK);
    create_equations(&sys, (pol_formulation_kind)kind, &seed);
    const pol_pattern *W = sys.patterns.coupling, *B = sys.patterns.constraint;
    const unsigned all = POL_INERTIA | POL_FORCE | POL_REACTION;
    check_matrix(&sys, POL_JACOBIAN, B, POSITION_VARIED, POL_POSITION, sys.dae->num_holonomic);
    check_matrix(&sys, POL_CURVATURE, B, POSITION_VARIED, POL_VELOCITY, sys.m);
    check_matrix(&sys, POL_DAMPING, W, VELOCITY_VARIED, POL_FORCE, sys.nv);
    check_matrix(&sys, POL_STIFFNESS | POL_GEOMETRIC_STIFFNESS, W, POSITION_VARIED, all, sys.nv);
    destroy(&sys);
  }
}

/* Energy and momenta are the sums over the masses of the body. */
static void sums_over_the_masses(void **state)
{
  (void)state;
  static const double gravity[3] = {0.3, -2.0, -9.81};
  uint64_t seed = 15;
  point_masses p;
  const pol_flexible_body body = random_flexible(&p, "a", 3, 0, &seed);
  const double *q = p.amplitudes, *w = body.angular_velocity;
  system_t sys = {0};
  double R[9], kinetic = 0.0, potential = 0.0;
  pol_momentum sum = {{0.0}, {0.0}}, momentum;
  pol_energy energy;
  unsigned char keep[MAX_NV];
  pol_quat_to_matrix(body.rotation, R);
  for (int i = 0; i < 9; i++) potential += 0.5 * q[i / 3] * p.stiffness[i] * q[i % 3];
  for (int i = 0; i < p.count; i++) {
    double rho[3], rate[3], x[3], u[3];
    for (int c = 0; c < 3; c++) {
      rho[c] = p.shape[i][0][c];
      rate[c] = 0.0;
      for (int k = 0; k < 3; k++) rho[c] += q[k] * p.shape[i][k + 1][c];
      for (int k = 0; k < 3; k++) rate[c] += p.rates[k] * p.shape[i][k + 1][c];
    }
    for (int c = 0; c < 3; c++)
      rate[c] += w[(c + 1) % 3] * rho[(c + 2) % 3] - w[(c + 2) % 3] * rho[(c + 1) % 3];
    for (int c = 0; c < 3; c++) {
      x[c] = body.position[c];
      u[c] = body.velocity[c];
      for (int k = 0; k < 3; k++) {
        x[c] += R[3 * c + k] * rho[k];
        u[c] += R[3 * c + k] * rate[k];
      }
      kinetic += 0.5 * p.mass[i] * u[c] * u[c];
      potential -= p.mass[i] * gravity[c] * x[c];
      sum.linear[c] += p.mass[i] * u[c];
    }
    for (int c = 0; c < 3; c++) {
      const int a = (c + 1) % 3, b = (c + 2) % 3;
      sum.angular[c] += p.mass[i] * (x[a] * u[b] - x[b] * u[a]);
    }
  }
  assert_int_equal(pol_mechanism_create(&sys.mechanism), POL_OK);
  pol_mechanism_set_gravity(sys.mechanism, gravity);
  assert_int_equal(pol_mechanism_add_flexible_body(sys.mechanism, &body, NULL), POL_OK);
  create_equations(&sys, POL_SO3XR3, &seed);
  pol_formulation_initial(sys.formulation, sys.q, sys.v, keep);
  pol_formulation_energy(sys.formulation, &(pol_point){.q = sys.q, .v = sys.v}, &energy);
  pol_formulation_momentum(sys.formulation, sys.q, sys.v, &momentum);
  assert_near(&energy.kinetic, &kinetic, 1, 1e-13);
  assert_near(&energy.potential, &potential, 1, 1e-12);
  assert_near(momentum.linear, sum.linear, 3, 1e-13);
  assert_near(momentum.angular, sum.angular, 3, 1e-13);
  destroy(&sys);
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
      static const char *const texts[6] = {"a.two.position.x*b.velocity.y",
                                           "c.angular_velocity.z + hinge.force.x",
                                           "c.one.angular_velocity_global.x^2*a.mode_rate.3",
                                           "a.velocity.x*hinge.angle*c.mode.2",
                                           "a.mode.1*a.mode.2 - c.mode_rate.1^2",
                                           "c.one.velocity.z*a.one.position.y"};
      char name[32];
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
      cmocka_unit_test(free_bodies),          cmocka_unit_test(joints_on_interfaces),
      cmocka_unit_test(forces_on_interfaces), cmocka_unit_test(loads_and_expressions),
      cmocka_unit_test(hinges_with_axes),     cmocka_unit_test(sums_over_the_masses),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
