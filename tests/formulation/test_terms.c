/* Every term of the equations of motion against finite differences along the group, for each
 * formulation and each joint type, with the ground first, second and not at all, at random
 * configurations. */
#include <polhode/polhode.h>

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "dae/dae.h"

enum { NV = 12, NQ = 14, MAX_M = 12 };
static const double offset[4] = {2.0, 1.0, -1.0, -2.0};
static const double s = 1e-3;

typedef struct system {
  pol_mechanism *mechanism;
  pol_formulation *formulation;
  const pol_dae *dae;
  pol_dae_patterns patterns;
  int m;
  double q[NQ], v[NV], vd[NV], lambda[MAX_M];
  double *scratch;
} system_t;

static int add_random_marker(pol_mechanism *mechanism, int body, uint64_t *seed)
{
  pol_marker marker = {.name = "", .body = body};
  int index;
  random_numbers(seed, marker.position, 3);
  random_quaternion(seed, marker.rotation);
  assert_int_equal(pol_mechanism_add_marker(mechanism, &marker, &index), POL_OK);
  return index;
}

/* Two bodies; joints ground-a, a-b of the given type, with random markers (not assembled: the terms
 * must be right off the constraints too). */
static void create(system_t *sys, pol_joint_type type, pol_formulation_kind kind, int swapped,
                   uint64_t *seed)
{
  static const double gravity[3] = {0.3, -2.0, -9.81};
  const char *names[2] = {"a", "b"}, *joints[2] = {"first", "second"};
  assert_int_equal(pol_mechanism_create(&sys->mechanism), POL_OK);
  pol_mechanism_set_gravity(sys->mechanism, gravity);
  for (int i = 0; i < 2; i++) {
    pol_body body = {.name = names[i],
                     .mass = 2.0 + random_number(seed),
                     .inertia = {1.0, 0.1, -0.2, 0.1, 1.3, 0.3, -0.2, 0.3, 0.9}};
    random_quaternion(seed, body.rotation);
    assert_int_equal(pol_mechanism_add_body(sys->mechanism, &body, NULL), POL_OK);
  }
  for (int i = 0; i < 2; i++) {
    int marker[2] = {add_random_marker(sys->mechanism, i == 0 ? POL_GROUND : 0, seed),
                     add_random_marker(sys->mechanism, i, seed)};
    pol_joint joint = {
        .name = joints[i], .type = type, .marker = {marker[swapped], marker[1 - swapped]}};
    assert_int_equal(pol_mechanism_add_joint(sys->mechanism, &joint, NULL), POL_OK);
  }
  assert_int_equal(pol_formulation_create(&sys->formulation, sys->mechanism, kind), POL_OK);
  sys->dae = pol_formulation_dae(sys->formulation);
  assert_int_equal(pol_dae_validate(sys->dae, NULL, 0), POL_OK);
  assert_int_equal(pol_dae_patterns_create(&sys->patterns, sys->dae), POL_OK);
  sys->m = pol_dae_num_constraints(sys->dae);
  sys->scratch = calloc(sys->dae->scratch_size, sizeof *sys->scratch);
  for (int b = 0; b < 2; b++) {
    random_quaternion(seed, sys->q + 7 * b);
    random_numbers(seed, sys->q + 7 * b + 4, 3);
  }
  random_numbers(seed, sys->v, NV);
  random_numbers(seed, sys->vd, NV);
  random_numbers(seed, sys->lambda, sys->m);
}

static void destroy(system_t *sys)
{
  free(sys->scratch);
  pol_dae_patterns_free(&sys->patterns);
  pol_formulation_free(&sys->formulation);
  pol_mechanism_free(&sys->mechanism);
}

static pol_point point_of(const system_t *sys)
{
  return (pol_point){0.0, sys->q, sys->v, sys->vd, sys->lambda};
}

static void evaluate(const system_t *sys, const pol_point *at, unsigned want, const pol_terms *out)
{
  assert_int_equal(pol_dae_evaluate(sys->dae, at, want, out, sys->scratch), POL_OK);
}

/* Sparse values to a dense row-major matrix. */
static void expand(const pol_pattern *pattern, const double *values, double *dense)
{
  memset(dense, 0, (size_t)(pattern->rows * pattern->cols) * sizeof *dense);
  for (int j = 0; j < pattern->cols; j++)
    for (int k = pattern->start[j]; k < pattern->start[j + 1]; k++)
      dense[pattern->row[k] * pattern->cols + j] = values[k];
}

enum { POSITION_VARIED, VELOCITY_VARIED };

/* Derivative of `rows` numbers that `want` puts where `vector` points, by q or by v: rows x NV. */
static void numeric_derivative(system_t *sys, int varied, unsigned want, const pol_terms *out,
                               const double *vector, int rows, double *derivative)
{
  for (int j = 0; j < NV; j++) {
    double samples[4][NV], q[NQ], v[NV], step[NV] = {0.0};
    for (int k = 0; k < 4; k++) {
      pol_point at = point_of(sys);
      memcpy(v, sys->v, sizeof v);
      step[j] = offset[k] * s;
      if (varied == POSITION_VARIED) {
        pol_group_move(&sys->dae->group, sys->q, step, q);
        at.q = q;
      } else {
        v[j] += step[j];
        at.v = v;
      }
      evaluate(sys, &at, want, out);
      memcpy(samples[k], vector, (size_t)rows * sizeof *vector);
    }
    for (int i = 0; i < rows; i++) {
      double f[4] = {samples[0][i], samples[1][i], samples[2][i], samples[3][i]};
      derivative[i * NV + j] = difference(f, s);
    }
  }
}

/* The matrix of one `want` bit against the derivative of a vector. */
static void check_matrix(system_t *sys, unsigned matrix, const pol_pattern *pattern, int varied,
                         unsigned vector_want, int rows)
{
  double values[NV * NV], vector[NV], dense[NV * NV], numeric[NV * NV];
  pol_terms out = {.balance = vector,
                   .position = vector,
                   .velocity = vector,
                   .damping = values,
                   .stiffness = values,
                   .jacobian = values,
                   .curvature = values};
  pol_point at = point_of(sys);
  evaluate(sys, &at, matrix, &out);
  expand(pattern, values, dense);
  numeric_derivative(sys, varied, vector_want, &out, vector, rows, numeric);
  assert_near(dense, numeric, rows * NV, 1e-9);
}

/* M vd = inertia, symmetric; velocity = B v; acceleration = Z v; energy = v M v / 2. */
static void check_products(system_t *sys)
{
  double mass[NV * NV], M[NV * NV], inertia[NV], product[NV], B[MAX_M * NV], Z[MAX_M * NV];
  double velocity[MAX_M], acceleration[MAX_M], Bv[MAX_M] = {0.0}, Zv[MAX_M] = {0.0};
  pol_terms out = {.balance = inertia,
                   .velocity = velocity,
                   .acceleration = acceleration,
                   .mass = mass,
                   .jacobian = B,
                   .curvature = Z};
  pol_point at = point_of(sys);
  evaluate(sys, &at,
           POL_INERTIA | POL_MASS | POL_VELOCITY | POL_ACCELERATION | POL_JACOBIAN | POL_CURVATURE,
           &out);
  expand(sys->patterns.coupling, mass, M);
  for (int i = 0; i < NV; i++) {
    product[i] = 0.0;
    for (int j = 0; j < NV; j++) {
      product[i] += M[i * NV + j] * sys->vd[j];
      assert_near(&M[i * NV + j], &M[j * NV + i], 1, 1e-15);
    }
  }
  assert_near(product, inertia, NV, 1e-14);
  pol_matrix_multiply(sys->patterns.constraint, B, 1.0, sys->v, Bv);
  pol_matrix_multiply(sys->patterns.constraint, Z, 1.0, sys->v, Zv);
  assert_near(Bv, velocity, sys->m, 1e-13);
  assert_near(Zv, acceleration, sys->m, 1e-13);

  pol_energy energy;
  double twice = 0.0, Mv[NV] = {0.0};
  pol_formulation_energy(sys->formulation, sys->q, sys->v, &energy);
  pol_matrix_multiply(sys->patterns.coupling, mass, 1.0, sys->v, Mv);
  for (int i = 0; i < NV; i++) twice += Mv[i] * sys->v[i];
  assert_near(&energy.kinetic, &(double){0.5 * twice}, 1, 1e-13);
}

/* B^T lambda = reaction, and the force does the work that the potential loses: gradient at rest. */
static void check_forces(system_t *sys)
{
  double B[MAX_M * NV], reaction[NV], product[NV] = {0.0}, force[NV], rest[NV] = {0.0};
  pol_terms out = {.balance = reaction, .jacobian = B};
  pol_point at = point_of(sys);
  evaluate(sys, &at, POL_REACTION | POL_JACOBIAN, &out);
  pol_matrix_multiply_transposed(sys->patterns.constraint, B, 1.0, sys->lambda, product);
  assert_near(product, reaction, NV, 1e-13);

  out.balance = force;
  at.v = rest;
  evaluate(sys, &at, POL_FORCE, &out);
  for (int j = 0; j < NV; j++) {
    double f[4], q[NQ], step[NV] = {0.0};
    for (int k = 0; k < 4; k++) {
      pol_energy energy;
      step[j] = offset[k] * s;
      pol_group_move(&sys->dae->group, sys->q, step, q);
      pol_formulation_energy(sys->formulation, q, rest, &energy);
      f[k] = energy.potential;
    }
    assert_near(&force[j], &(double){difference(f, s)}, 1, 1e-9);
  }
}

static void check_all(system_t *sys)
{
  const pol_pattern *W = sys->patterns.coupling, *B = sys->patterns.constraint;
  check_matrix(sys, POL_JACOBIAN, B, POSITION_VARIED, POL_POSITION, sys->m);
  check_matrix(sys, POL_CURVATURE, B, POSITION_VARIED, POL_VELOCITY, sys->m);
  check_matrix(sys, POL_DAMPING, W, VELOCITY_VARIED, POL_FORCE, NV);
  check_matrix(sys, POL_STIFFNESS, W, POSITION_VARIED, POL_INERTIA | POL_FORCE, NV);
  check_matrix(sys, POL_GEOMETRIC_STIFFNESS, W, POSITION_VARIED, POL_REACTION, NV);
  check_matrix(sys, POL_STIFFNESS | POL_GEOMETRIC_STIFFNESS, W, POSITION_VARIED,
               POL_INERTIA | POL_FORCE | POL_REACTION, NV);
  check_products(sys);
  check_forces(sys);
}

static void all_terms_match_finite_differences(void **state)
{
  (void)state;
  uint64_t seed = 20260101;
  int cases = 0;
  for (int kind = 0; kind < pol_formulation_count(); kind++)
    for (int type = 0; pol_joint_type_name((pol_joint_type)type); type++)
      for (int swapped = 0; swapped < 2; swapped++, cases++) {
        system_t sys = {0};
        create(&sys, (pol_joint_type)type, (pol_formulation_kind)kind, swapped, &seed);
        check_all(&sys);
        destroy(&sys);
      }
  assert_true(cases >= 28);
}

/* The same physics in both coordinates: residual wrenches and accelerations agree after conversion.
 */
static void formulations_agree(void **state)
{
  (void)state;
  uint64_t seed = 7, again = 7;
  system_t product = {0}, se3 = {0};
  create(&product, POL_REVOLUTE, POL_SO3XR3, 0, &seed);
  create(&se3, POL_REVOLUTE, POL_SE3_BODY, 0, &again);
  double R[9], residual[2][NV];
  for (int b = 0; b < 2; b++) {
    double *v = se3.v + 6 * b, *vd = se3.vd + 6 * b, *y = product.v + 6 * b;
    pol_quat_to_matrix(se3.q + 7 * b, R);
    /* u = R U, u' = R (U' + Omega x U) */
    double convected[3] = {v[1] * v[5] - v[2] * v[4], v[2] * v[3] - v[0] * v[5],
                           v[0] * v[4] - v[1] * v[3]};
    for (int i = 0; i < 3; i++) {
      y[3 + i] = product.vd[6 * b + 3 + i] = 0.0;
      for (int j = 0; j < 3; j++) {
        y[3 + i] += R[3 * i + j] * v[3 + j];
        product.vd[6 * b + 3 + i] += R[3 * i + j] * (vd[3 + j] + convected[j]);
      }
    }
  }
  system_t *both[2] = {&product, &se3};
  for (int k = 0; k < 2; k++) {
    pol_point at = point_of(both[k]);
    pol_terms out = {.balance = residual[k]};
    evaluate(both[k], &at, POL_INERTIA | POL_FORCE | POL_REACTION, &out);
  }
  for (int b = 0; b < 2; b++) {
    double turned[3] = {0.0};
    pol_quat_to_matrix(se3.q + 7 * b, R);
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) turned[i] += R[3 * i + j] * residual[1][6 * b + 3 + j];
    assert_near(residual[0] + 6 * b, residual[1] + 6 * b, 3, 1e-13);
    assert_near(residual[0] + 6 * b + 3, turned, 3, 1e-13);
  }
  destroy(&product);
  destroy(&se3);
}

static void equations_have_names(void **state)
{
  (void)state;
  uint64_t seed = 3;
  system_t sys = {0};
  char text[64];
  create(&sys, POL_REVOLUTE, POL_SO3XR3, 0, &seed);
  pol_dae_describe(sys.dae, 1, text, sizeof text);
  assert_string_equal(text, "body 'a', torque y");
  pol_dae_describe(sys.dae, 11, text, sizeof text);
  assert_string_equal(text, "body 'b', force z");
  pol_dae_describe(sys.dae, NV + 2, text, sizeof text);
  assert_string_equal(text, "joint 'first', translation z");
  pol_dae_describe(sys.dae, NV + 8, text, sizeof text);
  assert_string_equal(text, "joint 'second', rotation (axis x against z)");
  destroy(&sys);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_terms_match_finite_differences),
      cmocka_unit_test(formulations_agree),
      cmocka_unit_test(equations_have_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
