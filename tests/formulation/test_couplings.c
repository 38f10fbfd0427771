/* The terms of couplings against finite differences along the group, for each formulation and pair
 * of coordinates, off the constraints; and the turns that they count. */
#include "formulation/equations.h"

static const double pi = 3.14159265358979323846;

/* Turned by less than 0.7 rad: far from gimbal lock, and the axes of a joint are never far from
 * parallel, where angles are not defined. */
static void small_rotation(uint64_t *seed, double q[4])
{
  double w[3];
  random_numbers(seed, w, 3);
  for (int j = 0; j < 3; j++) w[j] *= 0.4;
  pol_so3_exp(w, q);
}

static int add_marker(pol_mechanism *mechanism, int body, uint64_t *seed)
{
  pol_marker marker = {.name = "", .body = body};
  int index;
  random_numbers(seed, marker.position, 3);
  small_rotation(seed, marker.rotation);
  assert_int_equal(pol_mechanism_add_marker(mechanism, &marker, &index), POL_OK);
  return index;
}

static void add_joint(pol_mechanism *mechanism, const char *name, pol_joint_type type, int first,
                      int second, uint64_t *seed)
{
  pol_joint joint = {.name = name, .type = type};
  joint.marker[0] = add_marker(mechanism, first, seed);
  joint.marker[1] = add_marker(mechanism, second, seed);
  assert_int_equal(pol_mechanism_add_joint(mechanism, &joint, NULL), POL_OK);
}

/* Three bodies; a gear between joints that share body a as their carrier, and a rack between joints
 * on four bodies with the ground among them. */
static void create(system_t *sys, pol_formulation_kind kind, uint64_t *seed)
{
  static const char *const bodies[] = {"a", "b", "c"}, *const pivots[] = {"pa", "pb", "pc"};
  *sys = (system_t){0};
  assert_int_equal(pol_mechanism_create(&sys->mechanism), POL_OK);
  for (int i = 0; i < 3; i++) {
    pol_body body = {
        .name = bodies[i], .mass = 2.0, .inertia = {1.0, 0.1, -0.2, 0.1, 1.3, 0.3, -0.2, 0.3, 0.9}};
    small_rotation(seed, body.rotation);
    random_numbers(seed, body.position, 3);
    assert_int_equal(pol_mechanism_add_body(sys->mechanism, &body, NULL), POL_OK);
  }
  for (int i = 0; i < 3 && kind == POL_SO3_PIVOT; i++)
    add_joint(sys->mechanism, pivots[i], POL_SPHERICAL, POL_GROUND, i, seed);
  int first = pol_mechanism_num_joints(sys->mechanism);
  add_joint(sys->mechanism, "sun", POL_REVOLUTE, 0, 1, seed);
  add_joint(sys->mechanism, "planet", POL_REVOLUTE, 2, 0, seed);
  add_joint(sys->mechanism, "rod", POL_CYLINDRICAL, POL_GROUND, 1, seed);
  pol_coupling gear = {
      .name = "gear", .joint = {first, first + 1}, .factor = {1.5, -0.7}, .reference = {0.3, -0.4}};
  pol_coupling rack = {.name = "rack",
                       .joint = {first + 2, first + 1},
                       .coordinate = {POL_DRIVE_TRANSLATION, POL_DRIVE_ROTATION},
                       .factor = {2.0, 0.6},
                       .reference = {0.1, 0.2}};
  assert_int_equal(pol_mechanism_add_coupling(sys->mechanism, &gear, NULL), POL_OK);
  assert_int_equal(pol_mechanism_add_coupling(sys->mechanism, &rack, NULL), POL_OK);

  create_equations(sys, kind, seed);
  assert_int_equal(sys->dae->history_size, 3 + 4); /* of the joints and of the couplings */
  sys->dae->update_history(0.0, sys->q, sys->history, sys->dae->user);
}

static void terms_match_finite_differences(void **state)
{
  (void)state;
  uint64_t seed = 20260303;
  for (int kind = 0; kind < POL_DIRECTORS; kind++) /* which cannot express couplings */
    for (int sample = 0; sample < 3; sample++) {
      system_t sys;
      double B[MAX_M * MAX_NV], Z[MAX_M * MAX_NV], velocity[MAX_M], acceleration[MAX_M];
      double Bv[MAX_M] = {0.0}, Zv[MAX_M] = {0.0}, reaction[MAX_NV], product[MAX_NV] = {0.0};
      create(&sys, (pol_formulation_kind)kind, &seed);
      const pol_pattern *constraint = sys.patterns.constraint;
      check_matrix(&sys, POL_JACOBIAN, constraint, POSITION_VARIED, POL_POSITION, sys.m);
      check_matrix(&sys, POL_CURVATURE, constraint, POSITION_VARIED, POL_VELOCITY, sys.m);
      check_matrix(&sys, POL_GEOMETRIC_STIFFNESS, sys.patterns.coupling, POSITION_VARIED,
                   POL_REACTION, sys.nv);
      pol_terms out = {.balance = reaction,
                       .velocity = velocity,
                       .acceleration = acceleration,
                       .jacobian = B,
                       .curvature = Z};
      const pol_point at = point_of(&sys);
      evaluate(&sys, &at,
               POL_REACTION | POL_VELOCITY | POL_ACCELERATION | POL_JACOBIAN | POL_CURVATURE, &out);
      pol_matrix_multiply(constraint, B, 1.0, sys.v, Bv);
      pol_matrix_multiply(constraint, Z, 1.0, sys.v, Zv);
      pol_matrix_multiply_transposed(constraint, B, 1.0, sys.lambda, product);
      assert_near(Bv, velocity, sys.m, 1e-13);
      assert_near(Zv, acceleration, sys.m, 1e-12);
      assert_near(product, reaction, sys.nv, 1e-13);
      destroy(&sys);
    }
}

/* Body b turns on and on about the axis of its hinge on a: the row and the history go on without a
 * jump, 1.5 rad of the row for a rad. */
static void turns_are_counted(void **state)
{
  (void)state;
  uint64_t seed = 5;
  system_t sys;
  double position[MAX_M], start, before;
  create(&sys, POL_SO3XR3, &seed);
  const pol_point at = point_of(&sys);
  const pol_joint *sun = pol_mechanism_joint(sys.mechanism, 0);
  double A[9], axis[3], step[MAX_NV] = {0.0};
  pol_quat_to_matrix(pol_mechanism_marker(sys.mechanism, sun->marker[1])->rotation, A);
  for (int i = 0; i < 3; i++) axis[i] = A[3 * i + 2];
  int row = sys.m - 2;
  char text[64];
  poli_dae_describe(sys.dae, sys.nv + row, text, sizeof text);
  assert_string_equal(text, "coupling 'gear'");
  evaluate(&sys, &at, POL_POSITION, &(pol_terms){.position = position});
  start = before = position[row];
  const int num_steps = 100; /* 16 turns, each by 1 rad; the hinge is not assembled */
  for (int i = 0; i < num_steps; i++) {
    for (int k = 0; k < 3; k++) step[6 + k] = axis[k];
    pol_group_move(&sys.dae->group, sys.q, step, sys.q);
    evaluate(&sys, &at, POL_POSITION, &(pol_terms){.position = position});
    assert_true(fabs(position[row] - before) < 1.5 * pi);
    before = position[row];
    sys.dae->update_history(0.0, sys.q, sys.history, sys.dae->user);
  }
  assert_true(fabs(fabs(before - start) - 1.5 * num_steps) < 1.5 * pi);
  destroy(&sys);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(terms_match_finite_differences),
      cmocka_unit_test(turns_are_counted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
