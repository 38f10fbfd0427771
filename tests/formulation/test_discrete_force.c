/* The force between two configurations, in directors and of point masses: its work is the change of
 * the potential, it is that of one configuration where both are the same, it does not mind their
 * order, and its derivatives agree with finite differences. */
#include <polhode/polhode.h>

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "dae/dae.h"

enum { MAX_N = 24 };

typedef struct model {
  pol_mechanism *mechanism;
  pol_formulation *formulation;
  const pol_dae *dae;
  pol_dae_patterns patterns;
  double q0[MAX_N], q1[MAX_N], v[MAX_N];
  double *scratch;
  int n;
} model;

static int add_marker(pol_mechanism *mechanism, int body, uint64_t *seed)
{
  pol_marker marker = {.name = "", .body = body, .rotation = {1.0, 0.0, 0.0, 0.0}};
  int index;
  if (body == POL_GROUND || !pol_mechanism_body(mechanism, body)->point)
    random_numbers(seed, marker.position, 3);
  assert_int_equal(pol_mechanism_add_marker(mechanism, &marker, &index), POL_OK);
  return index;
}

/* Springs of both laws between the bodies and to the ground and a support; with `all`, forces that
 * have no potential too. */
static void add_forces(pol_mechanism *mechanism, int all, int points, uint64_t *seed)
{
  static const struct {
    const char *name;
    pol_force_type type;
    int first, second;
    pol_spring_law law;
  } forces[] = {
      {"linear", POL_SPRING_DAMPER, 0, 1, POL_LINEAR_SPRING},
      {"squared", POL_SPRING_DAMPER, POL_GROUND, 0, POL_SQUARED_SPRING},
      {"to ground", POL_SPRING_DAMPER, 1, POL_GROUND, POL_LINEAR_SPRING},
      {"support", POL_SUPPORT, POL_GROUND, 1, POL_LINEAR_SPRING},
      {"drag", POL_DRAG, POL_GROUND, 0, POL_LINEAR_SPRING},
      {"follower", POL_APPLIED_FORCE, POL_GROUND, 0, POL_LINEAR_SPRING},
      {"torque", POL_APPLIED_TORQUE, POL_GROUND, 0, POL_LINEAR_SPRING},
  };
  for (int i = 0; i < (all ? 7 - points : 4); i++) {
    pol_force force = {.name = forces[i].name,
                       .type = forces[i].type,
                       .body = forces[i].second,
                       .law = forces[i].law,
                       .frame = points ? POL_GLOBAL_AXES : POL_BODY_AXES,
                       .stiffness = {3.0, 2.0, 4.0},
                       .damping = {all, 2.0 * all, 0.5 * all},
                       .length = 0.7,
                       .actuator = all,
                       .coefficient = 0.4};
    random_numbers(seed, force.vector, 3);
    if (!points) random_numbers(seed, force.point, 3);
    if (force.type == POL_SPRING_DAMPER) {
      force.marker[0] = add_marker(mechanism, forces[i].first, seed);
      force.marker[1] = add_marker(mechanism, forces[i].second, seed);
    }
    assert_int_equal(pol_mechanism_add_force(mechanism, &force, NULL), POL_OK);
  }
}

static void model_init(model *s, int points, int all, uint64_t *seed)
{
  static const char *const names[] = {"a", "b"};
  memset(s, 0, sizeof *s);
  assert_int_equal(pol_mechanism_create(&s->mechanism), POL_OK);
  for (int b = 0; b < 2; b++) {
    pol_body body = {.name = names[b],
                     .mass = 2.0 + b,
                     .inertia = {1.0, 0.1, -0.2, 0.1, 1.3, 0.3, -0.2, 0.3, 0.9},
                     .point = points};
    if (points) memset(body.inertia, 0, sizeof body.inertia);
    random_quaternion(seed, body.rotation);
    if (points) memcpy(body.rotation, (double[4]){1.0, 0.0, 0.0, 0.0}, sizeof body.rotation);
    random_numbers(seed, body.position, 3);
    body.position[0] += 3.0 * b;
    assert_int_equal(pol_mechanism_add_body(s->mechanism, &body, NULL), POL_OK);
  }
  pol_mechanism_set_gravity(s->mechanism, (double[3]){1.0, 2.0, -9.81});
  add_forces(s->mechanism, all, points, seed);
  assert_int_equal(
      pol_formulation_create(&s->formulation, s->mechanism, points ? POL_SO3XR3 : POL_DIRECTORS),
      POL_OK);
  s->dae = pol_formulation_dae(s->formulation);
  s->n = s->dae->group.nv;
  assert_true(s->n <= MAX_N && s->n == s->dae->group.nq);
  assert_int_equal(pol_dae_patterns_create(&s->patterns, s->dae), POL_OK);
  s->scratch = calloc(s->dae->scratch_size + 1, sizeof *s->scratch);
  assert_non_null(s->scratch);
  assert_true(s->dae->constant_mass && s->dae->discrete_force);

  unsigned char keep[MAX_N];
  pol_formulation_initial(s->formulation, s->q0, s->v, keep);
  random_numbers(seed, s->v, s->n);
  random_numbers(seed, s->q1, s->n);
  for (int i = 0; i < s->n; i++) s->q1[i] = s->q0[i] + 0.4 * s->q1[i];
}

static void model_free(model *s)
{
  free(s->scratch);
  pol_dae_patterns_free(&s->patterns);
  pol_formulation_free(&s->formulation);
  pol_mechanism_free(&s->mechanism);
}

static void force_between(const model *s, const double *q0, const double *q1, const double *v,
                          double force[MAX_N])
{
  const pol_point at = {.q = q1, .v = v};
  memset(force, 0, MAX_N * sizeof *force);
  assert_int_equal(s->dae->discrete_force(q0, &at, POL_FORCE, &(pol_terms){.balance = force},
                                          s->scratch, s->dae->user),
                   POL_OK);
}

static double potential(const model *s, const double *q)
{
  const double rest[MAX_N] = {0.0};
  pol_energy energy;
  pol_formulation_energy(s->formulation, &(pol_point){.q = q, .v = rest}, &energy);
  return energy.potential;
}

static void work_is_the_change_of_the_potential(void **state)
{
  (void)state;
  uint64_t seed = 11;
  for (int points = 0; points < 2; points++)
    for (int k = 0; k < 5; k++) {
      model s;
      double force[MAX_N], back[MAX_N], work = 0.0;
      model_init(&s, points, 0, &seed);
      force_between(&s, s.q0, s.q1, s.v, force);
      for (int i = 0; i < s.n; i++) work += force[i] * (s.q1[i] - s.q0[i]);
      double change = potential(&s, s.q1) - potential(&s, s.q0);
      assert_near(&work, &change, 1, 1e-12 * (1.0 + fabs(change)));
      force_between(&s, s.q1, s.q0, s.v, back);
      assert_near(force, back, s.n, 1e-12);
      model_free(&s);
    }
}

static void it_is_the_force_where_both_are_the_same(void **state)
{
  (void)state;
  uint64_t seed = 12;
  for (int points = 0; points < 2; points++) {
    model s;
    double force[MAX_N], expected[MAX_N], rest[MAX_N] = {0.0};
    model_init(&s, points, 1, &seed);
    force_between(&s, s.q1, s.q1, s.v, force);
    const pol_point at = {.q = s.q1, .v = s.v, .vd = rest};
    const pol_terms out = {.balance = expected};
    assert_int_equal(pol_dae_evaluate(s.dae, &at, POL_FORCE, &out, s.scratch), POL_OK);
    assert_near(force, expected, s.n, 1e-12);
    model_free(&s);
  }
}

/* Compares a matrix with differences of the force by the numbers in x, which is q1 or v. */
static void check_matrix(model *s, const double *values, double *x)
{
  static const double offset[4] = {2.0, 1.0, -1.0, -2.0};
  const double step = 1e-3;
  for (int j = 0; j < s->n; j++) {
    double f[4][MAX_N], at = x[j];
    for (int k = 0; k < 4; k++) {
      x[j] = at + offset[k] * step;
      force_between(s, s->q0, s->q1, s->v, f[k]);
    }
    x[j] = at;
    for (int i = 0; i < s->n; i++) {
      int address = pol_pattern_address(s->patterns.coupling, i, j);
      double exact = address >= 0 ? values[address] : 0.0;
      double found = difference((double[4]){f[0][i], f[1][i], f[2][i], f[3][i]}, step);
      assert_near(&exact, &found, 1, 1e-8);
    }
  }
}

static void derivatives_are_exact(void **state)
{
  (void)state;
  uint64_t seed = 13;
  for (int points = 0; points < 2; points++)
    for (int k = 0; k < 3; k++) {
      model s;
      model_init(&s, points, 1, &seed);
      size_t nonzeros = (size_t)pol_pattern_nonzeros(s.patterns.coupling);
      double *stiffness = calloc(2 * nonzeros, sizeof *stiffness), *damping = stiffness + nonzeros;
      assert_non_null(stiffness);
      const pol_point at = {.q = s.q1, .v = s.v};
      assert_int_equal(
          s.dae->discrete_force(s.q0, &at, POL_STIFFNESS | POL_DAMPING,
                                &(pol_terms){.stiffness = stiffness, .damping = damping}, s.scratch,
                                s.dae->user),
          POL_OK);
      check_matrix(&s, stiffness, s.q1);
      check_matrix(&s, damping, s.v);
      free(stiffness);
      model_free(&s);
    }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(work_is_the_change_of_the_potential),
      cmocka_unit_test(it_is_the_force_where_both_are_the_same),
      cmocka_unit_test(derivatives_are_exact),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
