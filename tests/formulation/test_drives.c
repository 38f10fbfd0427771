/* The terms of drives against finite differences along the group and in time, for each formulation
 * and coordinate, off the constraints; and the branches and rules of drives. */
#include "formulation/random_mechanism.h"

static const double now = 0.37;

static void add_joint(pol_mechanism *mechanism, const char *name, pol_joint_type type,
                      unsigned locked, int first, int second, uint64_t *seed)
{
  pol_joint joint = {.name = name, .type = type, .locked = locked};
  joint.marker[0] = add_random_marker(mechanism, first, seed);
  joint.marker[1] = add_random_marker(mechanism, second, seed);
  assert_int_equal(pol_mechanism_add_joint(mechanism, &joint, NULL), POL_OK);
}

/* Drives all coordinates that the last joint leaves free and a coordinate of a marker. */
static void add_drives(pol_mechanism *mechanism, int first, int second, uint64_t *seed)
{
  const int last = pol_mechanism_num_joints(mechanism) - 1;
  pol_function turn = {
      .type = POL_HARMONIC, .offset = 0.4, .amplitude = 2.0, .frequency = 0.3, .phase = 0.2};
  pol_function slide = {.type = POL_STEP, .from = -0.5, .to = 1.5, .t1 = 1.1};
  for (int i = 0; pol_coordinate_name((pol_coordinate)i); i++) {
    pol_coordinate coordinate = (pol_coordinate)i;
    pol_drive drive = {.name = pol_coordinate_name(coordinate),
                       .joint = last,
                       .coordinate = coordinate,
                       .function = pol_coordinate_turns(coordinate) ? turn : slide};
    if (!pol_joint_has_coordinate(pol_mechanism_joint(mechanism, last), coordinate)) continue;
    assert_int_equal(pol_mechanism_add_drive(mechanism, &drive, NULL), POL_OK);
  }
  pol_drive tip = {
      .name = "tip", .joint = POL_NO_JOINT, .coordinate = POL_DRIVE_Y, .function = slide};
  tip.marker[0] = add_random_marker(mechanism, first, seed);
  tip.marker[1] = add_random_marker(mechanism, second, seed);
  assert_int_equal(pol_mechanism_add_drive(mechanism, &tip, NULL), POL_OK);
  assert_int_equal(pol_mechanism_add_drive(mechanism, &tip, NULL), POL_BAD_ARGUMENT);
  tip.name = "the same coordinate";
  assert_int_equal(pol_mechanism_add_drive(mechanism, &tip, NULL), POL_BAD_ARGUMENT);
  pol_mechanism_clear_errors(mechanism);
}

/* Two bodies, a pivot for each in so3, and a joint with all its coordinates driven: between the
 * bodies, or from or to the ground. */
static void create_driven(system_t *sys, pol_formulation_kind kind, pol_joint_type type,
                          unsigned locked, int first, int second, uint64_t *seed)
{
  pol_body body;
  *sys = (system_t){.t = now};
  assert_int_equal(pol_mechanism_create(&sys->mechanism), POL_OK);
  for (int i = 0; i < 2; i++) {
    random_body(i == 0 ? "a" : "b", seed, &body);
    assert_int_equal(pol_mechanism_add_body(sys->mechanism, &body, NULL), POL_OK);
  }
  if (kind == POL_SO3_PIVOT) {
    add_joint(sys->mechanism, "pivot a", POL_SPHERICAL, 0, POL_GROUND, 0, seed);
    add_joint(sys->mechanism, "pivot b", POL_SPHERICAL, 0, 1, POL_GROUND, seed);
  }
  add_joint(sys->mechanism, "driven", type, locked, first, second, seed);
  add_drives(sys->mechanism, first, second, seed);
  create_equations(sys, kind, seed);
}

/* Phi, then its velocity, along q(t) = q exp(t v): their time derivatives are the next ones. */
static void check_times(const system_t *sys)
{
  double vector[2][MAX_M], samples[4][2][MAX_M];
  pol_terms out = {.position = vector[0], .velocity = vector[1], .acceleration = vector[1]};
  for (int k = 0; k < 4; k++) {
    double q[MAX_NV], step[MAX_NV];
    for (int j = 0; j < sys->nv; j++) step[j] = offset[k] * spacing * sys->v[j];
    pol_point at = point_of(sys);
    at.t += offset[k] * spacing;
    at.q = q;
    pol_group_move(&sys->dae->group, sys->q, step, q);
    evaluate(sys, &at, POL_POSITION | POL_VELOCITY, &out);
    memcpy(samples[k], vector, sizeof vector);
  }
  for (int level = 0; level < 2; level++) {
    double numeric[MAX_M];
    const pol_point at = point_of(sys);
    evaluate(sys, &at, level == 0 ? POL_VELOCITY : POL_ACCELERATION, &out);
    for (int i = 0; i < sys->m; i++) {
      double f[4];
      for (int k = 0; k < 4; k++) f[k] = samples[k][level][i];
      numeric[i] = difference(f, spacing);
    }
    assert_near(vector[1], numeric, sys->m, 2e-9);
  }
}

static void all_terms_match_finite_differences(void **state)
{
  (void)state;
  static const int ends[3][2] = {{POL_GROUND, 0}, {1, POL_GROUND}, {0, 1}};
  static const struct {
    pol_joint_type type;
    unsigned locked;
  } joints[] = {{POL_CYLINDRICAL, 0},
                {POL_PLANAR, 0},
                {POL_UNIVERSAL, 0},
                {POL_POINT_ON_LINE, 0},
                {POL_POINT_IN_PLANE, 0},
                {POL_PARALLEL, 0},
                {POL_GENERIC, POL_LOCK_Y | POL_LOCK_ROTATION_Y | POL_LOCK_ROTATION_Z},
                {POL_GENERIC, POL_LOCK_ROTATION_X | POL_LOCK_ROTATION_Z},
                {POL_GENERIC, POL_LOCK_X | POL_LOCK_ROTATION_X | POL_LOCK_ROTATION_Y}};
  enum { CASES = 3 * (int)(sizeof joints / sizeof joints[0]) };
  uint64_t seed = 20260301;
  for (int kind = 0; kind < pol_formulation_count(); kind++)
    for (int k = 0; k < CASES; k++) {
      system_t sys = {0};
      create_driven(&sys, (pol_formulation_kind)kind, joints[k / 3].type, joints[k / 3].locked,
                    ends[k % 3][0], ends[k % 3][1], &seed);
      const pol_pattern *W = sys.patterns.coupling, *B = sys.patterns.constraint;
      check_matrix(&sys, POL_JACOBIAN, B, POSITION_VARIED, POL_POSITION, sys.m);
      check_matrix(&sys, POL_CURVATURE, B, POSITION_VARIED, POL_VELOCITY, sys.m);
      check_matrix(&sys, POL_GEOMETRIC_STIFFNESS, W, POSITION_VARIED, POL_REACTION, sys.nv);
      check_times(&sys);

      /* B^T lambda is the reaction */
      double jacobian[MAX_M * MAX_NV], reaction[MAX_NV], product[MAX_NV] = {0.0};
      pol_terms out = {.balance = reaction, .jacobian = jacobian};
      const pol_point at = point_of(&sys);
      evaluate(&sys, &at, POL_REACTION | POL_JACOBIAN, &out);
      pol_matrix_multiply_transposed(B, jacobian, 1.0, sys.lambda, product);
      assert_near(product, reaction, sys.nv, 1e-13);
      destroy(&sys);
    }
}

/* Drives come after the joints and before the unit constraints. */
static void drives_have_rows_and_names(void **state)
{
  (void)state;
  uint64_t seed = 3;
  for (int kind = 0; kind < pol_formulation_count(); kind++) {
    system_t sys = {0};
    char text[128];
    create_driven(&sys, (pol_formulation_kind)kind, POL_CYLINDRICAL, 0, 0, 1, &seed);
    assert_int_equal(sys.m, kind == POL_EULER_PARAMETERS ? 9 : kind == POL_DIRECTORS ? 19 : 7);
    sys.dae->describe(sys.nv + 4, text, sizeof text, sys.dae->user);
    assert_string_equal(text, "drive 'rotation'");
    sys.dae->describe(sys.nv + 5, text, sizeof text, sys.dae->user);
    assert_string_equal(text, "drive 'translation'");
    sys.dae->describe(sys.nv + 6, text, sizeof text, sys.dae->user);
    assert_string_equal(text, "drive 'tip'");
    pol_point at = {.lambda = sys.lambda};
    assert_true(pol_formulation_drive_effort(sys.formulation, &at, 1) == -sys.lambda[5]);
    destroy(&sys);
  }
}

/* A hinge about z on the ground, turned by `angle`; the drive wants 0.3 rad. */
static pol_status check_turned(double angle, pol_diagnostics *diagnostics)
{
  static const double origin[3] = {0.0, 0.0, 0.0};
  pol_mechanism *mechanism;
  pol_formulation *formulation;
  pol_body body = {.name = "arm",
                   .mass = 1.0,
                   .inertia = {1, 0, 0, 0, 1, 0, 0, 0, 1},
                   .rotation = {1.0, 0.0, 0.0, 0.0}};
  pol_joint joint = {.name = "hinge", .type = POL_REVOLUTE};
  pol_drive drive = {.name = "motor", .function = {.type = POL_CONSTANT, .offset = 0.3}};
  double q[7], v[6];
  unsigned char keep[6];
  assert_int_equal(pol_mechanism_create(&mechanism), POL_OK);
  assert_int_equal(pol_mechanism_add_body(mechanism, &body, NULL), POL_OK);
  for (int i = 0; i < 2; i++)
    assert_int_equal(
        pol_mechanism_add_marker_at(mechanism, "", i - 1, origin, NULL, &joint.marker[i]), POL_OK);
  assert_int_equal(pol_mechanism_add_joint(mechanism, &joint, NULL), POL_OK);
  assert_int_equal(pol_mechanism_add_drive(mechanism, &drive, NULL), POL_OK);

  /* a second drive of the same coordinate, a coordinate that is locked, a joint that is not */
  drive.name = "again";
  assert_int_equal(pol_mechanism_add_drive(mechanism, &drive, NULL), POL_BAD_ARGUMENT);
  drive.coordinate = POL_DRIVE_TRANSLATION;
  assert_int_equal(pol_mechanism_add_drive(mechanism, &drive, NULL), POL_BAD_ARGUMENT);
  drive.joint = 1;
  assert_int_equal(pol_mechanism_add_drive(mechanism, &drive, NULL), POL_BAD_ARGUMENT);
  pol_mechanism_clear_errors(mechanism);

  assert_int_equal(pol_formulation_create(&formulation, mechanism, POL_SO3XR3), POL_OK);
  pol_formulation_initial(formulation, q, v, keep);
  pol_so3_exp((double[3]){0.0, 0.0, angle}, q);
  pol_status status = pol_formulation_check_branches(formulation, 0.0, q, diagnostics);
  pol_formulation_free(&formulation);
  pol_mechanism_free(&mechanism);
  return status;
}

static void wrong_branches_are_refused(void **state)
{
  (void)state;
  static const double pi = 3.14159265358979323846;
  pol_diagnostics diagnostics;
  assert_int_equal(check_turned(0.3, &diagnostics), POL_OK);
  assert_int_equal(check_turned(0.3 + pi, &diagnostics), POL_INCONSISTENT);
  assert_string_equal(diagnostics.where, "drive 'motor'");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_terms_match_finite_differences),
      cmocka_unit_test(drives_have_rows_and_names),
      cmocka_unit_test(wrong_branches_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
