/* Springs, stops, friction and reflected inertias of joint coordinates: their terms against finite
 * differences along the group, by positions, velocities and multipliers, in each formulation. */
#include "formulation/random_mechanism.h"

/* What each coordinate of the joints of a mechanism has. */
typedef struct content {
  double stiffness, damping, armature;
  double stop, stop_damping; /* stiffness and damping; 0: no limits */
  double coefficient, level;
} content;

/* Numbers of all coordinates of a joint whose markers are there; the limits are just beyond the
 * initial values. */
static void fill_axes(const pol_mechanism *mechanism, const pol_joint *joint, const content *c,
                      pol_joint_axis axes[4], uint64_t *seed)
{
  const int by_reaction =
      joint->type == POL_REVOLUTE || joint->type == POL_PRISMATIC || joint->type == POL_CYLINDRICAL;
  for (int i = 0; i < pol_joint_num_coordinates(joint); i++) {
    poli_coordinate_kernel kernel;
    poli_frame frames[2];
    poli_coordinate_kernel_place(&kernel, mechanism, joint, i);
    for (int k = 0; k < 2; k++) poli_initial_frame(mechanism, kernel.body[k], &frames[k]);
    const double value = poli_coordinate_value(&kernel, &frames[0], &frames[1]);
    axes[i] = pol_joint_axis_default();
    axes[i].stiffness = c->stiffness * (2.0 + random_number(seed));
    axes[i].damping = c->damping * (2.0 + random_number(seed));
    axes[i].rest = random_number(seed);
    axes[i].armature = joint->type == POL_UNIVERSAL ? 0.0 : c->armature;
    if (c->stop > 0.0) {
      axes[i].limits.min = value - 0.01;
      axes[i].limits.max = value + 0.01;
      axes[i].limits.stiffness = c->stop;
      axes[i].limits.damping = c->stop_damping;
    }
    axes[i].friction =
        (pol_joint_friction){.coefficient = by_reaction ? c->coefficient : 0.0,
                             .static_coefficient = by_reaction ? 1.4 * c->coefficient : 0.0,
                             .level = c->level,
                             .static_level = 1.3 * c->level,
                             .viscous = 0.3 * c->level,
                             .radius = 0.7,
                             .thrust_radius = 0.4,
                             .length = 0.9,
                             .stribeck_speed = 1.7,
                             .creep_speed = 0.8};
  }
}

/* Two bodies, joints ground-a and a-b, or for so3 two pivots and the joint between a and b. */
static void create_with_axes(system_t *sys, pol_joint_type type, pol_formulation_kind kind,
                             const content *c, uint64_t *seed)
{
  do {
    if (sys->mechanism) pol_mechanism_free(&sys->mechanism);
    *sys = (system_t){0};
    assert_int_equal(pol_mechanism_create(&sys->mechanism), POL_OK);
    pol_mechanism_set_gravity(sys->mechanism, (double[]){0.3, -2.0, -9.81});
    for (int i = 0; i < 2; i++) {
      pol_body body;
      random_body(i == 0 ? "a" : "b", seed, &body);
      assert_int_equal(pol_mechanism_add_body(sys->mechanism, &body, NULL), POL_OK);
    }
    if (kind == POL_SO3_PIVOT) {
      add_random_joint(sys->mechanism, "pivot a", POL_SPHERICAL, 0, POL_GROUND, 0, seed);
      add_random_joint(sys->mechanism, "pivot b", POL_SPHERICAL, 0, 1, POL_GROUND, seed);
    }
    for (int i = kind == POL_SO3_PIVOT; i < 2; i++) {
      pol_joint_axis axes[4];
      pol_joint joint = {.name = i ? "second" : "first", .type = type};
      joint.locked = POL_LOCK_X | POL_LOCK_ROTATION_X | POL_LOCK_ROTATION_Y;
      joint.marker[0] = add_random_marker(sys->mechanism, i ? 0 : POL_GROUND, seed);
      joint.marker[1] = add_random_marker(sys->mechanism, i, seed);
      fill_axes(sys->mechanism, &joint, c, axes, seed);
      joint.axes = axes;
      assert_int_equal(pol_mechanism_add_joint(sys->mechanism, &joint, NULL), POL_OK);
    }
  } while (room(sys->mechanism) <= 0.5);
  create_equations(sys, kind, seed);
}

/* Moves the limits so that the coordinates are beyond them, alternately above and below: a
 * mechanism refuses such limits, but bodies get there. */
static void shift_limits(system_t *sys)
{
  for (int k = 0; k < pol_mechanism_num_forces(sys->mechanism); k++) {
    pol_force *force = (pol_force *)pol_mechanism_force(sys->mechanism, k);
    if (force->type != POL_JOINT_STOP) continue;
    for (int i = 0; i < 2; i++) force->limits[i] += k % 2 ? 0.3 : -0.3;
  }
}

static const pol_joint_type types[] = {POL_REVOLUTE,       POL_PRISMATIC, POL_CYLINDRICAL,
                                       POL_UNIVERSAL,      POL_PLANAR,    POL_POINT_ON_LINE,
                                       POL_POINT_IN_PLANE, POL_PARALLEL,  POL_GENERIC};
enum { NUM_TYPES = sizeof types / sizeof types[0] };

static void check_feedback(const system_t *sys)
{
  static double values[MAX_NV * MAX_M], dense[MAX_NV * MAX_M], numeric[MAX_NV * MAX_M];
  double vector[MAX_NV];
  const pol_terms out = {.balance = vector, .feedback = values};
  const pol_point at = point_of(sys);
  if (!sys->patterns.feedback) return;
  evaluate(sys, &at, POL_FEEDBACK, &out);
  expand(sys->patterns.feedback, values, dense);
  numeric_derivative(sys, MULTIPLIER_VARIED, POL_FORCE, &out, vector, sys->nv, numeric);
  assert_near(dense, numeric, sys->nv * sys->m, 1e-9);
}

static void check_terms(const content *c, uint64_t seed)
{
  for (int kind = 0; kind < pol_formulation_count(); kind++)
    for (int n = 0; n < NUM_TYPES; n++) {
      if ((kind == POL_DIRECTORS || kind == POL_SO3_PIVOT) && c->armature > 0.0) continue;
      system_t sys = {0};
      create_with_axes(&sys, types[n], (pol_formulation_kind)kind, c, &seed);
      shift_limits(&sys);
      check_matrix(&sys, POL_STIFFNESS, sys.patterns.coupling, POSITION_VARIED,
                   POL_INERTIA | POL_FORCE, sys.nv);
      check_matrix(&sys, POL_DAMPING, sys.patterns.coupling, VELOCITY_VARIED, POL_FORCE, sys.nv);
      check_feedback(&sys);
      if (kind != POL_DIRECTORS) check_products(&sys);
      if (c->coefficient > 0.0 && types[n] <= POL_CYLINDRICAL) assert_non_null(sys.dae->feedback);
      destroy(&sys);
    }
}

static void springs_stops_and_friction_match_finite_differences(void **state)
{
  (void)state;
  check_terms(&(content){.stiffness = 1.5, .damping = 0.4}, 11);
  check_terms(&(content){.stop = 3.0, .stop_damping = 0.7}, 12);
  check_terms(&(content){.level = 0.6}, 13);
  check_terms(&(content){.coefficient = 0.5, .level = 0.2}, 14);
}

static void reflected_inertias_match_finite_differences(void **state)
{
  (void)state;
  check_terms(&(content){.armature = 0.8}, 15);
  check_terms(&(content){.armature = 0.4, .stiffness = 0.5}, 18);
  check_terms(&(content){.armature = 0.8, .level = 0.3, .coefficient = 0.3}, 16);
}

/* At rest a stop is the gradient of its energy. */
static void stops_have_an_energy(void **state)
{
  (void)state;
  uint64_t seed = 17;
  for (int kind = 0; kind < pol_formulation_count(); kind++)
    for (int n = 0; n < NUM_TYPES; n++) {
      system_t sys = {0};
      create_with_axes(&sys, types[n], (pol_formulation_kind)kind,
                       &(content){.stop = 3.0, .stop_damping = 0.7, .level = 1.0}, &seed);
      shift_limits(&sys);
      check_forces(&sys);
      destroy(&sys);
    }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(springs_stops_and_friction_match_finite_differences),
      cmocka_unit_test(reflected_inertias_match_finite_differences),
      cmocka_unit_test(stops_have_an_energy),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
