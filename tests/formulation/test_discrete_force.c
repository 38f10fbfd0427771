/* The force between two configurations in directors and for point masses: its work is the change of
 * the potential to round-off, it is symmetric, and its derivatives are exact. */
#include <polhode/formulation.h>

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "dae/dae.h"

enum { NV = 27, NNZ = NV * NV };

typedef struct system_t {
  pol_mechanism *mechanism;
  pol_formulation *formulation;
  const pol_dae *dae;
  double *scratch;
} system_t;

static int add_marker(pol_mechanism *mechanism, int body, double x, double y, double z)
{
  pol_marker marker = {.name = "", .body = body, .position = {x, y, z}, .rotation = {1.0}};
  int index;
  assert_int_equal(pol_mechanism_add_marker(mechanism, &marker, &index), POL_OK);
  return index;
}

/* With stops that configurations of these tests are beyond, on both sides, and friction. */
static void add_joint(pol_mechanism *mechanism, const char *name, pol_joint_type type, int first,
                      int second, double damping)
{
  pol_joint_axis axis = pol_joint_axis_default();
  pol_joint joint = {.name = name, .type = type, .marker = {first, second}, .axes = &axis};
  axis.limits.min = -0.02;
  axis.limits.max = 0.03;
  axis.limits.stiffness = 5.0;
  axis.limits.damping = damping;
  axis.friction.level = damping;
  axis.friction.creep_speed = 0.5;
  assert_int_equal(pol_mechanism_add_joint(mechanism, &joint, NULL), POL_OK);
}

static void add_force(pol_mechanism *mechanism, pol_force force, double damping)
{
  force.damping[0] = damping;
  assert_int_equal(pol_mechanism_add_force(mechanism, &force, NULL), POL_OK);
}

/* A relaxed strain that is curved, coupled stiffnesses, markers away from the centres of mass. */
static void add_beam(pol_mechanism *mechanism, const char *name, int first, int second,
                     double damping)
{
  pol_section section = {.strain = {0.1, -0.2, 0.3, 1.0, 0.05, 0.0}};
  pol_force force = {.name = name,
                     .type = POL_BEAM,
                     .strain = POL_BEAM_DIRECTORS,
                     .length = 0.6,
                     .section = &section};
  for (int i = 0; i < 36; i++) {
    section.stiffness[i] = (i % 7 == 0 ? 2.0 + i / 7 : 0.0) + 0.2;
    section.damping[i] = damping * ((i % 7 == 0 ? 1.0 + i % 3 : 0.0) + 0.1);
  }
  for (int k = 0; k < 2; k++) {
    pol_marker marker = {.name = "",
                         .body = k ? second : first,
                         .position = {0.1 + 0.3 * k, -0.2, 0.1 * k},
                         .rotation = {0.96, 0.0, 0.28 * k, 0.28 * (1 - k)}};
    assert_int_equal(pol_mechanism_add_marker(mechanism, &marker, &force.marker[k]), POL_OK);
  }
  assert_int_equal(pol_mechanism_add_force(mechanism, &force, NULL), POL_OK);
}

/* An arm on a hinge, a slider on the arm, a point mass; springs of all kinds with these dampers. */
static void create(system_t *sys, double damping)
{
  pol_body arm = {.name = "arm",
                  .mass = 1.5,
                  .inertia = {0.3, 0.02, 0.0, 0.02, 0.4, 0.0, 0.0, 0.0, 0.5},
                  .position = {0.5, 0.0, 0.0},
                  .rotation = {1.0}};
  pol_body slider = arm, bob = arm;
  slider.name = "slider";
  bob.name = "bob";
  bob.point = 1;
  bob.position[1] = 1.0;
  pol_mechanism *m;
  assert_int_equal(pol_mechanism_create(&m), POL_OK);
  sys->mechanism = m;
  pol_mechanism_set_gravity(m, (double[]){0.3, -2.0, -9.81});
  assert_int_equal(pol_mechanism_add_body(m, &arm, NULL), POL_OK);
  assert_int_equal(pol_mechanism_add_body(m, &slider, NULL), POL_OK);
  assert_int_equal(pol_mechanism_add_body(m, &bob, NULL), POL_OK);
  add_joint(m, "hinge", POL_REVOLUTE, add_marker(m, POL_GROUND, 0, 0, 0),
            add_marker(m, 0, -0.5, 0, 0), damping);
  add_joint(m, "guide", POL_PRISMATIC, add_marker(m, 0, 0.1, 0, 0), add_marker(m, 1, 0.1, 0, 0),
            damping);
  add_force(m, (pol_force){.name = "hold", .type = POL_SUPPORT, .body = 1, .stiffness = {3, 4, 5}},
            damping);
  add_force(m,
            (pol_force){.name = "linear",
                        .type = POL_SPRING_DAMPER,
                        .marker = {add_marker(m, 0, 0.2, 0.1, 0.3), add_marker(m, 2, 0, 0, 0)},
                        .stiffness = {7.0},
                        .length = 0.4,
                        .actuator = 0.6},
            damping);
  add_force(m,
            (pol_force){.name = "squared",
                        .type = POL_SPRING_DAMPER,
                        .law = POL_SQUARED_SPRING,
                        .marker = {add_marker(m, 2, 0, 0, 0), add_marker(m, 1, 0.1, -0.2, 0.3)},
                        .stiffness = {6.0},
                        .length = 0.5},
            damping);
  add_force(m,
            (pol_force){.name = "twist",
                        .type = POL_JOINT_SPRING,
                        .joint = 0,
                        .stiffness = {2.0},
                        .rest = 0.3,
                        .actuator = 0.4},
            damping);
  add_force(
      m,
      (pol_force){
          .name = "push", .type = POL_JOINT_SPRING, .joint = 1, .stiffness = {9.0}, .rest = 0.1},
      damping);
  add_beam(m, "beam", 0, 1, damping);
  add_beam(m, "clamped", POL_GROUND, 1, damping);
  assert_int_equal(pol_formulation_create(&sys->formulation, m, POL_DIRECTORS), POL_OK);
  sys->dae = pol_formulation_dae(sys->formulation);
  assert_int_equal(sys->dae->group.nq, NV);
  sys->scratch = calloc(sys->dae->scratch_size, sizeof *sys->scratch);
}

static void destroy(system_t *sys)
{
  free(sys->scratch);
  pol_formulation_free(&sys->formulation);
  pol_mechanism_free(&sys->mechanism);
}

/* A configuration that the joints allow, about `far` from another one (NULL: from the initial). */
static void configuration(const system_t *sys, const double *from, double far, uint64_t *seed,
                          double q[NV])
{
  pol_assembler *assembler;
  double v[NV], move[NV];
  unsigned char keep[NV];
  pol_formulation_initial(sys->formulation, q, v, keep);
  if (from) memcpy(q, from, NV * sizeof *q);
  random_numbers(seed, move, NV);
  for (int i = 0; i < NV; i++) q[i] += far * move[i];
  assert_int_equal(pol_assembler_create(&assembler, sys->dae, POL_SOLVER_DENSE), POL_OK);
  assert_int_equal(pol_assembler_position(assembler, 0.0, q, NULL), POL_OK);
  pol_assembler_free(&assembler);
}

static void force_between(const system_t *sys, const double *q0, const double *q1, const double *v,
                          double force[NV])
{
  pol_point at = {.q = q1, .v = v};
  memset(force, 0, NV * sizeof *force);
  assert_int_equal(sys->dae->discrete_force(q0, &at, POL_FORCE, &(pol_terms){.balance = force},
                                            sys->scratch, sys->dae->user),
                   POL_OK);
}

static double potential(const system_t *sys, const double *q)
{
  const double rest[NV] = {0.0};
  pol_energy energy;
  pol_formulation_energy(sys->formulation, &(pol_point){.q = q, .v = rest}, &energy);
  return energy.potential;
}

/* What the constant parts of the springs have done: the potential of results is that of springs. */
static double actuator_work(const system_t *sys, const double *q)
{
  double angle, rate, d[3];
  pol_body_state arm, bob;
  const double rest[NV] = {0.0};
  pol_point at = {.q = q, .v = rest};
  pol_formulation_joint_coordinate(sys->formulation, &at, 0, 0, &angle, &rate);
  pol_formulation_body_state(sys->formulation, q, rest, 0, &arm);
  pol_formulation_body_state(sys->formulation, q, rest, 2, &bob);
  const double point[3] = {0.2, 0.1, 0.3};
  for (int i = 0; i < 3; i++) {
    d[i] = bob.position[i] - arm.position[i];
    for (int j = 0; j < 3; j++) d[i] -= arm.rotation[3 * i + j] * point[j];
  }
  return 0.4 * angle + 0.6 * sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
}

static void work_is_the_change_of_potential(void **state)
{
  (void)state;
  system_t sys;
  uint64_t seed = 5;
  create(&sys, 0.0);
  for (int i = 0; i < 12; i++) {
    /* far, near, nearly the same */
    double q0[NV], q1[NV], rest[NV] = {0.0}, force[NV], back[NV], work = 0.0;
    double far = i % 3 == 0 ? 0.5 : i % 3 == 1 ? 1e-3 : 1e-9;
    configuration(&sys, NULL, 0.3, &seed, q0);
    configuration(&sys, q0, far, &seed, q1);
    force_between(&sys, q0, q1, rest, force);
    force_between(&sys, q1, q0, rest, back);
    for (int k = 0; k < NV; k++) work += force[k] * (q1[k] - q0[k]);
    double change = potential(&sys, q1) - potential(&sys, q0);
    change -= actuator_work(&sys, q1) - actuator_work(&sys, q0);
    assert_near(&work, &change, 1, 2e-13);
    assert_near(force, back, NV, 1e-12);
  }
  destroy(&sys);
}

/* Between a configuration and itself it is the force there, dampers included. */
static void equal_ends_give_the_force_at_a_point(void **state)
{
  (void)state;
  system_t sys;
  uint64_t seed = 17;
  double q[NV], v[NV], force[NV], there[NV] = {0.0};
  create(&sys, 0.7);
  configuration(&sys, NULL, 0.3, &seed, q);
  random_numbers(&seed, v, NV);
  force_between(&sys, q, q, v, force);
  pol_point at = {.q = q, .v = v};
  assert_int_equal(
      sys.dae->evaluate(&at, POL_FORCE, &(pol_terms){.balance = there}, sys.scratch, sys.dae->user),
      POL_OK);
  assert_near(force, there, NV, 1e-13);
  destroy(&sys);
}

/* Full matrices by columns from values in the pattern coupling. */
static void spread(const system_t *sys, const double *values, double dense[NNZ])
{
  const pol_pattern *pattern = sys->dae->coupling;
  memset(dense, 0, NNZ * sizeof *dense);
  for (int j = 0; j < NV; j++)
    for (int k = pattern->start[j]; k < pattern->start[j + 1]; k++)
      dense[j * NV + pattern->row[k]] = values[k];
}

static void derivatives_match_finite_differences(void **state)
{
  (void)state;
  static const double offset[4] = {2.0, 1.0, -1.0, -2.0};
  const double s = 2.5e-4;
  system_t sys;
  uint64_t seed = 23;
  double q0[NV], q1[NV], v[NV], stiffness[NNZ] = {0.0}, damping[NNZ] = {0.0}, K[NNZ], D[NNZ];
  create(&sys, 0.7);
  configuration(&sys, NULL, 0.3, &seed, q0);
  configuration(&sys, NULL, 0.3, &seed, q1);
  random_numbers(&seed, v, NV);
  pol_point at = {.q = q1, .v = v};
  pol_terms out = {.stiffness = stiffness, .damping = damping};
  assert_int_equal(sys.dae->discrete_force(q0, &at, POL_STIFFNESS | POL_DAMPING, &out, sys.scratch,
                                           sys.dae->user),
                   POL_OK);
  spread(&sys, stiffness, K);
  spread(&sys, damping, D);
  for (int j = 0; j < NV; j++) {
    double by_q[4][NV], by_v[4][NV];
    for (int k = 0; k < 4; k++) {
      double moved_q[NV], moved_v[NV];
      memcpy(moved_q, q1, sizeof moved_q);
      memcpy(moved_v, v, sizeof moved_v);
      moved_q[j] += offset[k] * s;
      moved_v[j] += offset[k] * s;
      force_between(&sys, q0, moved_q, v, by_q[k]);
      force_between(&sys, q0, q1, moved_v, by_v[k]);
    }
    for (int i = 0; i < NV; i++) {
      double f[4] = {by_q[0][i], by_q[1][i], by_q[2][i], by_q[3][i]};
      double g[4] = {by_v[0][i], by_v[1][i], by_v[2][i], by_v[3][i]};
      assert_near(&K[j * NV + i], &(double){difference(f, s)}, 1, 1e-8);
      assert_near(&D[j * NV + i], &(double){difference(g, s)}, 1, 1e-8);
    }
  }
  destroy(&sys);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(work_is_the_change_of_potential),
      cmocka_unit_test(equal_ends_give_the_force_at_a_point),
      cmocka_unit_test(derivatives_match_finite_differences),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
