/* Expressions in the equations: every derivative against finite differences in every formulation
 * that has them, names of signals against names of channels, wrong expressions. */
#include <stdio.h>

#include "formulation/random_mechanism.h"
#include "mechanism/signal.h"

/* --- a mechanism with everything in it -------------------------------------------------------- */

enum { A, B, P, C }; /* rigid, rigid, a point mass, rigid and without joints */

static void add_body(pol_mechanism *mechanism, const char *name, int point, uint64_t *seed)
{
  pol_body body;
  random_body(name, seed, &body);
  body.point = point;
  assert_int_equal(pol_mechanism_add_body(mechanism, &body, NULL), POL_OK);
}

static int add_marker(pol_mechanism *mechanism, const char *name, int body, uint64_t *seed)
{
  pol_marker marker = {.name = name, .body = body};
  int index;
  if (body != P) random_numbers(seed, marker.position, 3);
  random_quaternion(seed, marker.rotation);
  assert_int_equal(pol_mechanism_add_marker(mechanism, &marker, &index), POL_OK);
  return index;
}

static void add_joint(pol_mechanism *mechanism, const char *name, pol_joint_type type, int first,
                      int second, uint64_t *seed)
{
  pol_joint joint = {.name = name, .type = type, .length = 0.8};
  joint.marker[0] = add_marker(mechanism, "", first, seed);
  joint.marker[1] = add_marker(mechanism, "", second, seed);
  assert_int_equal(pol_mechanism_add_joint(mechanism, &joint, NULL), POL_OK);
}

static void add_variable(pol_mechanism *mechanism, const char *name, const char *expression)
{
  pol_variable variable = {.name = name, .expression = expression};
  assert_int_equal(pol_mechanism_add_variable(mechanism, &variable, NULL), POL_OK);
}

static void add_state(pol_mechanism *mechanism, const char *name, double initial, const char *rate)
{
  pol_state_variable state = {.name = name, .initial = initial, .rate = rate};
  assert_int_equal(pol_mechanism_add_state(mechanism, &state, NULL), POL_OK);
}

static void add_force(pol_mechanism *mechanism, pol_force force, const char *x, const char *y,
                      const char *z)
{
  force.expressions[0] = x;
  force.expressions[1] = y;
  force.expressions[2] = z;
  assert_int_equal(pol_mechanism_add_force(mechanism, &force, NULL), POL_OK);
}

/* Joints of a type between ground, a and b, as so3 needs them or not; pivots come first. */
static void add_joints(pol_mechanism *mechanism, pol_joint_type type, int pivots, uint64_t *seed)
{
  if (pivots) {
    add_joint(mechanism, "pivot a", POL_SPHERICAL, POL_GROUND, A, seed);
    add_joint(mechanism, "pivot b", POL_SPHERICAL, B, POL_GROUND, seed);
    add_joint(mechanism, "pivot c", POL_SPHERICAL, C, POL_GROUND, seed);
  }
  add_joint(mechanism, "first", type, POL_GROUND, A, seed);
  add_joint(mechanism, "second", type, A, B, seed);
  add_joint(mechanism, "rod", POL_DISTANCE, B, P, seed);
}

/* All kinds of forces with expressions that read bodies which they do not act on. */
static void add_forces(pol_mechanism *mechanism, uint64_t *seed)
{
  pol_force spring = {.name = "spring",
                      .type = POL_SPRING_DAMPER,
                      .stiffness = {2.0},
                      .damping = {0.5},
                      .length = 0.3};
  spring.marker[0] = add_marker(mechanism, "on b", B, seed);
  spring.marker[1] = add_marker(mechanism, "on p", P, seed);
  add_force(mechanism, spring, "mixed*c.velocity.y - second.force_local.x*0.3", NULL, NULL);
  pol_force hinge = {
      .name = "motor", .type = POL_JOINT_SPRING, .joint = 0, .stiffness = {1.0}, .damping = {0.2}};
  for (int k = 0; k < pol_mechanism_num_joints(mechanism); k++)
    if (strcmp(pol_mechanism_joint(mechanism, k)->name, "second") == 0) hinge.joint = k;
  if (pol_joint_num_coordinates(pol_mechanism_joint(mechanism, hinge.joint)) > 0)
    add_force(mechanism, hinge, "lag*second.torque.z + marker.'on p'.velocity.x^2", NULL, NULL);
  pol_force push = {.name = "push",
                    .type = POL_APPLIED_FORCE,
                    .body = A,
                    .frame = POL_BODY_AXES,
                    .vector = {0.0, 0.7, 0.0},
                    .point = {0.1, -0.4, 0.3}};
  add_force(mechanism, push, "sin(b.position.x)*lag", NULL, "a.angular_velocity.y*mixed");
  push.name = "weight";
  push.frame = POL_GLOBAL_AXES;
  push.body = B;
  add_force(mechanism, push, NULL, "abs(rod.force.x) + t*rod.multiplier.1", "c.position.z");
  pol_force twist = {.name = "twist", .type = POL_APPLIED_TORQUE, .body = C};
  add_force(mechanism, twist, "p.velocity.z*second.torque_local.y", "other + 0.4*pull.force",
            "b.angular_velocity_global.x");
  push.name = "point force";
  push.body = P;
  memset(push.point, 0, sizeof push.point);
  add_force(mechanism, push, "a.angular_velocity_global.z", NULL, "marker.'on b'.position.y*lag");
}

static void build(pol_mechanism **mechanism, pol_joint_type type, int pivots, uint64_t *seed)
{
  static const double gravity[3] = {0.3, -2.0, -9.81};
  assert_int_equal(pol_mechanism_create(mechanism), POL_OK);
  pol_mechanism_set_gravity(*mechanism, gravity);
  add_body(*mechanism, "a", 0, seed);
  add_body(*mechanism, "b", 0, seed);
  add_body(*mechanism, "p", 1, seed);
  add_body(*mechanism, "c", 0, seed);
  add_joints(*mechanism, type, pivots, seed);
  /* variables that others use before they are defined */
  add_variable(*mechanism, "mixed", "other*2 - c.angular_velocity.x*b.velocity.z");
  add_variable(*mechanism, "other", "lag^2 + marker.'on b'.velocity.z*first.force.y");
  add_variable(*mechanism, "unused", "second.torque.x/t");
  add_forces(*mechanism, seed);
  pol_drive pull = {.name = "pull",
                    .joint = POL_NO_JOINT,
                    .coordinate = POL_DRIVE_Y,
                    .function = {.type = POL_CONSTANT, .offset = 0.3}};
  pull.marker[0] = add_marker(*mechanism, "", A, seed);
  pull.marker[1] = add_marker(*mechanism, "", C, seed);
  assert_int_equal(pol_mechanism_add_drive(*mechanism, &pull, NULL), POL_OK);
  add_state(*mechanism, "lag", 0.6, "(mixed - lag)/0.1 + a.position.y*slow");
  add_state(*mechanism, "slow", -0.2, "-3*slow*second.force.z + p.position.x*lag");
}

/* What each coordinate of the second joint does. */
static void add_coordinate_readers(pol_mechanism *mechanism, int joint)
{
  static const char *const names[] = {"reader 1", "reader 2", "reader 3"};
  const pol_joint *second = pol_mechanism_joint(mechanism, joint);
  for (int i = 0; i < pol_joint_num_coordinates(second); i++) {
    const pol_coordinate_info *info = pol_joint_coordinate(second, i);
    char rate[128];
    snprintf(rate, sizeof rate, "cos(second.%s)*second.%s - lag", info->name, info->rate_name);
    add_state(mechanism, names[i], 0.1, rate);
  }
}

static void create_with_expressions(system_t *sys, pol_joint_type type, pol_formulation_kind kind,
                                    uint64_t *seed)
{
  unsigned char keep[MAX_NV];
  double v[MAX_NV];
  static const double initial[2] = {0.6, -0.2};
  char message[256];
  *sys = (system_t){.t = 0.7};
  build(&sys->mechanism, type, kind == POL_SO3_PIVOT, seed);
  add_coordinate_readers(sys->mechanism, kind == POL_SO3_PIVOT ? 4 : 1);
  if (pol_formulation_supports(sys->mechanism, kind, message, sizeof message))
    fail_msg("%s", message);
  create_equations(sys, kind, seed);
  pol_formulation_initial(sys->formulation, sys->q, v, keep);
  assert_near(v + sys->nv - sys->dae->num_states, initial, 2, 0.0);
  assert_int_equal(keep[sys->nv - 1], 1);
  if (sys->dae->update_history) {
    sys->history[0] = 13.0; /* two turns, somewhere */
    sys->dae->update_history(0.0, sys->q, sys->history, sys->dae->user);
  }
}

/* --- derivatives ------------------------------------------------------------------------------ */

/* The force between two configurations that are the same, by the second one: what expressions read
 * is in the middle. */
static void check_discrete_force(const system_t *sys)
{
  static double values[2][MAX_NV * MAX_NV], dense[MAX_NV * MAX_NV];
  const pol_pattern *pattern = sys->patterns.coupling;
  pol_terms out = {.stiffness = values[0], .damping = values[1]};
  pol_point at = point_of(sys);
  memset(values, 0, sizeof values);
  assert_int_equal(sys->dae->discrete_force(sys->q, &at, POL_STIFFNESS | POL_DAMPING, &out,
                                            sys->scratch, sys->dae->user),
                   POL_OK);
  for (int varied = POSITION_VARIED; varied <= VELOCITY_VARIED; varied++) {
    expand(pattern, values[varied], dense);
    for (int j = 0; j < sys->nv; j++) {
      double samples[4][MAX_NV] = {{0.0}}, column[MAX_NV], exact[MAX_NV], size = 1.0;
      for (int k = 0; k < 4; k++) {
        double q[MAX_NQ], v[MAX_NV];
        pol_terms balance = {.balance = samples[k]};
        memcpy(q, sys->q, sizeof q);
        memcpy(v, sys->v, sizeof v);
        *(varied == POSITION_VARIED ? &q[j] : &v[j]) += offset[k] * spacing;
        at.q = q;
        at.v = v;
        assert_int_equal(sys->dae->discrete_force(sys->q, &at, POL_FORCE, &balance, sys->scratch,
                                                  sys->dae->user),
                         POL_OK);
      }
      for (int i = 0; i < sys->nv; i++) {
        double f[4] = {samples[0][i], samples[1][i], samples[2][i], samples[3][i]};
        column[i] = difference(f, spacing);
        exact[i] = dense[i * sys->nv + j];
        size = fmax(size, fabs(exact[i]));
      }
      assert_near(exact, column, sys->nv, 2e-9 * size);
    }
  }
}

/* The matrix of one `want` bit against the derivative of the balance, column by column: expressions
 * can be steep. */
static void check_columns(const system_t *sys, unsigned matrix, const pol_pattern *pattern,
                          int varied, unsigned want)
{
  static double values[MAX_NV * MAX_NV], dense[MAX_NV * MAX_NV], numeric[MAX_NV * MAX_NV];
  double balance[MAX_NV];
  pol_terms out = {.balance = balance, .damping = values, .stiffness = values, .feedback = values};
  pol_point at = point_of(sys);
  evaluate(sys, &at, matrix, &out);
  expand(pattern, values, dense);
  numeric_derivative(sys, varied, want, &out, balance, sys->nv, numeric);
  for (int j = 0; j < pattern->cols; j++) {
    double size = 1.0;
    for (int i = 0; i < sys->nv; i++) size = fmax(size, fabs(dense[i * pattern->cols + j]));
    for (int i = 0; i < sys->nv; i++)
      assert_near(&dense[i * pattern->cols + j], &numeric[i * pattern->cols + j], 1, 2e-9 * size);
  }
}

static void derivatives_match_finite_differences(void **state)
{
  (void)state;
  uint64_t seed = 20260301;
  int cases = 0;
  for (int kind = 0; kind < pol_formulation_count(); kind++)
    for (int type = POL_REVOLUTE; type <= POL_PLANAR; type++, cases++) {
      system_t sys;
      create_with_expressions(&sys, (pol_joint_type)type, (pol_formulation_kind)kind, &seed);
      assert_non_null(sys.dae->feedback);
      check_columns(&sys, POL_DAMPING, sys.patterns.coupling, VELOCITY_VARIED, POL_FORCE);
      check_columns(&sys, POL_STIFFNESS, sys.patterns.coupling, POSITION_VARIED,
                    POL_INERTIA | POL_FORCE);
      check_columns(&sys, POL_FEEDBACK, sys.patterns.feedback, MULTIPLIER_VARIED, POL_FORCE);
      assert_int_equal(sys.dae->discrete_force != NULL, kind == POL_DIRECTORS);
      if (kind == POL_DIRECTORS) check_discrete_force(&sys);
      destroy(&sys);
    }
  assert_int_equal(cases, 6 * pol_formulation_count());
}

/* --- what is read ----------------------------------------------------------------------------- */

/* A term by itself, and what of the point it depends on besides t and q (dae.h). */
typedef struct dependence {
  unsigned want;
  int v, vd, lambda;
} dependence;

static const dependence dependences[] = {
    {POL_INERTIA, 0, 1, 0},   {POL_FORCE, 1, 0, 1},
    {POL_REACTION, 0, 0, 1},  {POL_POSITION, 0, 0, 0},
    {POL_VELOCITY, 1, 0, 0},  {POL_ACCELERATION, 1, 0, 0},
    {POL_MASS, 0, 0, 0},      {POL_DAMPING, 1, 0, 1},
    {POL_STIFFNESS, 1, 1, 1}, {POL_GEOMETRIC_STIFFNESS, 0, 0, 1},
    {POL_JACOBIAN, 0, 0, 0},  {POL_CURVATURE, 1, 0, 0},
    {POL_FEEDBACK, 1, 0, 1},  {POL_MASS | POL_JACOBIAN, 0, 0, 0},
};

/* All terms of one request, one after the other. */
static void evaluate_into(const system_t *sys, const pol_point *at, unsigned want, double *values)
{
  const size_t square = (size_t)MAX_NV * MAX_NV;
  pol_terms out = {.balance = values,
                   .position = values + square,
                   .velocity = values + square + MAX_M,
                   .acceleration = values + square + 2 * (size_t)MAX_M,
                   .mass = values + 2 * square,
                   .damping = values + 2 * square,
                   .stiffness = values + 2 * square,
                   .feedback = values + 2 * square,
                   .jacobian = values + 3 * square,
                   .curvature = values + 3 * square};
  memset(values, 0, 4 * square * sizeof *values);
  evaluate(sys, at, want, &out);
}

/* A pointer of the point is only read for the terms that depend on it. */
static void nothing_is_read_in_vain(void **state)
{
  (void)state;
  static double whole[4 * MAX_NV * MAX_NV], bare[4 * MAX_NV * MAX_NV];
  uint64_t seed = 20261116;
  for (int kind = 0; kind < pol_formulation_count(); kind++) {
    system_t sys;
    create_with_expressions(&sys, POL_REVOLUTE, (pol_formulation_kind)kind, &seed);
    for (size_t i = 0; i < sizeof dependences / sizeof *dependences; i++) {
      const dependence *needs = &dependences[i];
      pol_point at = point_of(&sys);
      evaluate_into(&sys, &at, needs->want, whole);
      if (!needs->v) at.v = NULL;
      if (!needs->vd) at.vd = NULL;
      if (!needs->lambda) at.lambda = NULL;
      evaluate_into(&sys, &at, needs->want, bare);
      assert_memory_equal(whole, bare, sizeof whole);
    }
    destroy(&sys);
  }
}

/* --- names and refusals ----------------------------------------------------------------------- */

static void equations_of_states_have_names(void **state)
{
  (void)state;
  uint64_t seed = 5;
  system_t sys;
  char text[64];
  create_with_expressions(&sys, POL_REVOLUTE, POL_SO3XR3, &seed);
  assert_int_equal(sys.dae->num_states, 3);
  poli_dae_describe(sys.dae, sys.nv - 3, text, sizeof text);
  assert_string_equal(text, "state 'lag'");
  poli_dae_describe(sys.dae, sys.nv - 1, text, sizeof text);
  assert_string_equal(text, "state 'reader 1'");
  poli_dae_describe(sys.dae, sys.nv, text, sizeof text);
  assert_string_equal(text, "joint 'first', translation x");
  assert_int_equal(sys.dae->constant_mass, 0);
  destroy(&sys);
}

/* What is wrong with an expression of the variable "x", in a formulation. */
static void assert_refused(pol_formulation_kind kind, const char *expression, const char *reason)
{
  uint64_t seed = 6;
  pol_mechanism *mechanism;
  pol_formulation *formulation;
  char message[256];
  build(&mechanism, POL_REVOLUTE, kind == POL_SO3_PIVOT, &seed);
  add_variable(mechanism, "x", expression);
  assert_int_equal(pol_formulation_supports(mechanism, kind, message, sizeof message),
                   POL_BAD_ARGUMENT);
  assert_string_equal(message, reason);
  assert_int_equal(pol_formulation_create(&formulation, mechanism, kind), POL_BAD_ARGUMENT);
  assert_null(formulation);
  pol_mechanism_free(&mechanism);
}

static void wrong_expressions_are_refused(void **state)
{
  (void)state;
  assert_refused(POL_SO3XR3, "1 + second.angel",
                 "variable 'x', column 5 of the expression: 'second.angel' is not a known name");
  assert_refused(POL_SO3XR3, "p.angular_velocity.x",
                 "variable 'x', column 1 of the expression: 'p.angular_velocity.x' is not a known "
                 "name");
  assert_refused(POL_SO3XR3, "2*(1",
                 "variable 'x', column 3 of the expression: '(' has no matching ')'");
  assert_refused(POL_SE3_BODY, "x + 1", "variables must not depend on themselves: x -> x");
  assert_refused(POL_SO3_PIVOT, "'pivot a'.force.x",
                 "so3 has no multipliers for joint 'pivot a', whose reaction an expression reads");
}

static void quantities_keep_their_rules(void **state)
{
  (void)state;
  pol_mechanism *mechanism;
  uint64_t seed = 7;
  pol_force drag = {.name = "drag", .type = POL_DRAG, .body = A, .expressions = {"1"}};
  pol_force hinge = {
      .name = "two", .type = POL_JOINT_SPRING, .joint = 0, .expressions = {"1", "2"}};
  const pol_variable variables[] = {{"t", "1", 0, NULL},    {"pi", "1", 0, NULL},
                                    {"", "1", 0, NULL},     {"lag", "1", 0, NULL},
                                    {"new", NULL, 0, NULL}, {"new", "1", 0, "mile"}};
  const pol_state_variable states[] = {{"mixed", 0.0, "1", NULL},
                                       {"new", (double)NAN, "1", NULL},
                                       {"new", 0.0, NULL, NULL},
                                       {NULL, 0.0, "1", NULL},
                                       {"new", 0.0, "1", ""}};
  build(&mechanism, POL_REVOLUTE, 0, &seed);
  for (int i = 0; i < 6; i++)
    assert_int_equal(pol_mechanism_add_variable(mechanism, &variables[i], NULL), POL_BAD_ARGUMENT);
  for (int i = 0; i < 5; i++)
    assert_int_equal(pol_mechanism_add_state(mechanism, &states[i], NULL), POL_BAD_ARGUMENT);
  assert_int_equal(pol_mechanism_add_force(mechanism, &drag, NULL), POL_BAD_ARGUMENT);
  assert_int_equal(pol_mechanism_add_force(mechanism, &hinge, NULL), POL_BAD_ARGUMENT);
  assert_int_equal(pol_mechanism_num_variables(mechanism), 3);
  assert_int_equal(pol_mechanism_num_states(mechanism), 2);
  pol_mechanism_free(&mechanism);
}

/* More quantities than fit are refused, not forgotten. */
static void there_are_not_too_many_inputs(void **state)
{
  (void)state;
  pol_mechanism *mechanism;
  uint64_t seed = 8;
  char message[256];
  build(&mechanism, POL_REVOLUTE, 0, &seed);
  for (int i = 3; i < 2049; i++) { /* the mechanism has three */
    char name[16];
    snprintf(name, sizeof name, "v%d", i);
    add_variable(mechanism, name, "1");
    if (i % 400 == 0)
      assert_int_equal(pol_formulation_supports(mechanism, POL_SO3XR3, message, sizeof message),
                       POL_OK);
    if (i == 2046) { /* 2047 variables, and more than one signal */
      assert_int_equal(pol_formulation_supports(mechanism, POL_SO3XR3, message, sizeof message),
                       POL_BAD_ARGUMENT);
      assert_string_equal(message,
                          "all expressions together must not read more than 2048 quantities");
    }
  }
  assert_int_equal(pol_formulation_supports(mechanism, POL_SO3XR3, message, sizeof message),
                   POL_BAD_ARGUMENT);
  assert_string_equal(message, "there must not be more than 2048 variables");
  pol_mechanism_free(&mechanism);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_match_finite_differences),
      cmocka_unit_test(nothing_is_read_in_vain),
      cmocka_unit_test(equations_of_states_have_names),
      cmocka_unit_test(wrong_expressions_are_refused),
      cmocka_unit_test(quantities_keep_their_rules),
      cmocka_unit_test(there_are_not_too_many_inputs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
