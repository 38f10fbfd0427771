/* The terms of forces against finite differences along the group, their work, their potential and
 * the power that they take, for each type of force in each formulation. */
#include "formulation/random_forces.h"

/* The balance's force without and with forces, all else the same; the loaded system stays. */
static void load(system_t *sys, pol_formulation_kind kind, add_forces_t *add_forces, uint64_t seed,
                 double bare[MAX_NV], double loaded[MAX_NV])
{
  uint64_t again = seed;
  pol_point at;
  create(sys, POL_SPHERICAL, kind, &(variant){0}, &seed);
  at = point_of(sys);
  evaluate(sys, &at, POL_FORCE, &(pol_terms){.balance = bare});
  destroy(sys);
  create(sys, POL_SPHERICAL, kind, &(variant){.add_forces = add_forces}, &again);
  at = point_of(sys);
  evaluate(sys, &at, POL_FORCE, &(pol_terms){.balance = loaded});
}

/* Forces have a stiffness and a damping of their own; they do not touch the other terms. */
static void forces_match_finite_differences(void **state)
{
  (void)state;
  add_forces_t *const all[] = {add_random_forces, add_active_laws};
  for (uint64_t seed = 1; seed <= 6; seed++)
    for (int kind = 0; kind < pol_formulation_count(); kind++)
      for (int i = 0; i < 2; i++) {
        system_t sys;
        double bare[MAX_NV], loaded[MAX_NV], change = 0.0;
        load(&sys, (pol_formulation_kind)kind, all[i], seed, bare, loaded);
        for (int k = 0; k < sys.nv; k++) change = fmax(change, fabs(loaded[k] - bare[k]));
        assert_true(change > 0.1);
        check_matrix(&sys, POL_STIFFNESS, sys.patterns.coupling, POSITION_VARIED,
                     POL_INERTIA | POL_FORCE, sys.nv);
        check_matrix(&sys, POL_DAMPING, sys.patterns.coupling, VELOCITY_VARIED, POL_FORCE, sys.nv);
        destroy(&sys);
      }
}

/* With an acceleration that needs r = M v' + g, the power r . v and that of what acts are the
 * change of energy along the motion, by finite differences. */
static void check_power(system_t *sys)
{
  double needed[MAX_NV], rest[MAX_NV] = {0.0}, total[4], given = 0.0;
  pol_power power;
  pol_point at = point_of(sys);
  evaluate(sys, &at, POL_INERTIA | POL_FORCE, &(pol_terms){.balance = needed});
  for (int i = 0; i < sys->nv; i++) given += needed[i] * sys->v[i];
  for (int k = 0; k < 4; k++) {
    double q[MAX_NQ], v[MAX_NV], step[MAX_NV];
    pol_energy energy;
    for (int i = 0; i < sys->nv; i++) {
      step[i] = offset[k] * spacing * sys->v[i];
      v[i] = sys->v[i] + offset[k] * spacing * sys->vd[i];
    }
    pol_group_move(&sys->dae->group, sys->q, step, q);
    pol_formulation_energy(sys->formulation, &(pol_point){.q = q, .v = v, .history = sys->history},
                           &energy);
    total[k] = energy.kinetic + energy.potential;
  }
  pol_formulation_power(sys->formulation, &at, &power);
  given += power.applied - power.dissipated;
  assert_near(&given, &(double){difference(total, spacing)}, 1, 1e-8);
  assert_true(power.dissipated > 0.1 && fabs(power.applied) > 0.1 && power.drives == 0.0);

  at.v = rest;
  pol_formulation_power(sys->formulation, &at, &power);
  assert_true(power.dissipated == 0.0 && power.applied == 0.0);
}

static void add_all_forces(pol_mechanism *mechanism, uint64_t *seed)
{
  add_random_forces(mechanism, seed);
  add_active_laws(mechanism, seed);
  add_active_joint_springs(mechanism, seed);
}

static void power_is_split(void **state)
{
  (void)state;
  uint64_t seed = 7;
  for (int kind = 0; kind < pol_formulation_count(); kind++) {
    system_t sys;
    create_with_joint_springs(&sys, POL_CYLINDRICAL, (pol_formulation_kind)kind, add_all_forces,
                              &seed);
    make_rigid(&sys);
    check_power(&sys);
    destroy(&sys);
  }
}

/* Springs have a potential, of which their force is the gradient; dampers and drag take energy. */
static void springs_store_energy_and_dampers_take_it(void **state)
{
  (void)state;
  for (int kind = 0; kind < pol_formulation_count(); kind++) {
    system_t sys;
    double bare[MAX_NV], loaded[MAX_NV], at_rest[2][MAX_NV], rest[MAX_NV] = {0.0}, power = 0.0;
    pol_energy energy;
    load(&sys, (pol_formulation_kind)kind, add_passive_laws, 8, bare, loaded);
    check_forces(&sys);
    pol_formulation_energy(sys.formulation, &(pol_point){.q = sys.q, .v = sys.v}, &energy);
    assert_true(energy.kinetic > 0.0);
    /* the part of the force that velocities make works against them */
    pol_point at = point_of(&sys);
    at.v = rest;
    evaluate(&sys, &at, POL_FORCE, &(pol_terms){.balance = at_rest[1]});
    destroy(&sys);
    uint64_t seed = 8;
    create(&sys, POL_SPHERICAL, (pol_formulation_kind)kind, &(variant){0}, &seed);
    at = point_of(&sys);
    at.v = rest;
    evaluate(&sys, &at, POL_FORCE, &(pol_terms){.balance = at_rest[0]});
    for (int i = 0; i < sys.nv; i++)
      power += ((loaded[i] - bare[i]) - (at_rest[1][i] - at_rest[0][i])) * sys.v[i];
    assert_true(power > 0.1);
    destroy(&sys);
  }
}

/* Two bodies that only a force connects still share blocks. */
static void a_force_couples_bodies_that_no_joint_connects(void **state)
{
  (void)state;
  pol_body body;
  uint64_t seed = 9;
  pol_force spring = {
      .name = "spring", .type = POL_SPRING_DAMPER, .stiffness = {3.0}, .damping = {2.0}};
  for (int kind = 0; kind < pol_formulation_count(); kind++) {
    system_t sys = {0};
    if (kind == POL_SO3_PIVOT) continue; /* which needs joints */
    assert_int_equal(pol_mechanism_create(&sys.mechanism), POL_OK);
    for (int i = 0; i < 2; i++) {
      random_body(i == 0 ? "a" : "b", &seed, &body);
      assert_int_equal(pol_mechanism_add_body(sys.mechanism, &body, NULL), POL_OK);
      spring.marker[i] = add_random_marker(sys.mechanism, i, &seed);
    }
    assert_int_equal(pol_mechanism_add_force(sys.mechanism, &spring, NULL), POL_OK);
    create_equations(&sys, (pol_formulation_kind)kind, &seed);
    check_matrix(&sys, POL_STIFFNESS, sys.patterns.coupling, POSITION_VARIED,
                 POL_INERTIA | POL_FORCE, sys.nv);
    check_matrix(&sys, POL_DAMPING, sys.patterns.coupling, VELOCITY_VARIED, POL_FORCE, sys.nv);
    destroy(&sys);
  }
}

/* The power of the wrenches is that of their definition: F . d(x + R p)/dt and T . omega. */
static void forces_do_the_work_of_their_definition(void **state)
{
  (void)state;
  for (int kind = 0; kind < pol_formulation_count(); kind++) {
    system_t sys;
    double bare[MAX_NV], loaded[MAX_NV], power = 0.0, expected = 0.0;
    load(&sys, (pol_formulation_kind)kind, add_random_forces, 6, bare, loaded);
    make_rigid(&sys);
    for (int i = 0; i < sys.nv; i++) power += (bare[i] - loaded[i]) * sys.v[i];
    for (int k = 0; k < pol_mechanism_num_forces(sys.mechanism); k++) {
      const pol_force *force = pol_mechanism_force(sys.mechanism, k);
      pol_body_state body;
      double global[3], arm[3];
      pol_formulation_body_state(sys.formulation, sys.q, sys.v, force->body, &body);
      const double *R = body.rotation, *w = body.angular_velocity_global, *u = body.velocity;
      for (int i = 0; i < 3; i++) {
        const double *f = force->vector, *p = force->point;
        const double factor = force->scale ? 1.7 : 1.0;
        int turns = force->frame == POL_BODY_AXES;
        global[i] = turns ? R[3 * i] * f[0] + R[3 * i + 1] * f[1] + R[3 * i + 2] * f[2] : f[i];
        global[i] *= factor;
        arm[i] = R[3 * i] * p[0] + R[3 * i + 1] * p[1] + R[3 * i + 2] * p[2];
      }
      double at_point[3] = {u[0] + w[1] * arm[2] - w[2] * arm[1],
                            u[1] + w[2] * arm[0] - w[0] * arm[2],
                            u[2] + w[0] * arm[1] - w[1] * arm[0]};
      const double *rate = force->type == POL_APPLIED_TORQUE ? w : at_point;
      for (int i = 0; i < 3; i++) expected += global[i] * rate[i];
    }
    assert_near(&power, &expected, 1, 1e-13);
    destroy(&sys);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(forces_match_finite_differences),
      cmocka_unit_test(power_is_split),
      cmocka_unit_test(springs_store_energy_and_dampers_take_it),
      cmocka_unit_test(a_force_couples_bodies_that_no_joint_connects),
      cmocka_unit_test(forces_do_the_work_of_their_definition),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
