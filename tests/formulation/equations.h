/* The equations of a mechanism in one formulation, at its initial position and with random
 * velocities and multipliers (not assembled: the terms must be right off the constraints too), and
 * the comparison of each of their terms with finite differences along the group. */
#ifndef POLHODE_TESTS_EQUATIONS_H
#define POLHODE_TESTS_EQUATIONS_H

#include <polhode/polhode.h>

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "dae/dae.h"

enum { MAX_NV = 64, MAX_NQ = 64, MAX_M = 64, MAX_HISTORY = 16 };

/* Where differences are taken, in units of the spacing, which is fine enough for the force of a
 * short spring. */
static const double offset[4] = {2.0, 1.0, -1.0, -2.0};
static const double spacing = 2.5e-4;

typedef struct system {
  pol_mechanism *mechanism;
  pol_formulation *formulation;
  const pol_dae *dae;
  poli_dae_patterns patterns;
  int nv, m;
  double t, q[MAX_NQ], v[MAX_NV], vd[MAX_NV], lambda[MAX_M], history[MAX_HISTORY];
  double *scratch;
} system_t;

/* Turned by less than 0.9 rad from the global axes: far from gimbal lock. */
static inline void random_rotation(uint64_t *seed, double q[4])
{
  double w[3];
  random_numbers(seed, w, 3);
  for (int i = 0; i < 3; i++) w[i] *= 0.5;
  pol_so3_exp(w, q);
}

/* The equations of sys->mechanism. */
static inline void create_equations(system_t *sys, pol_formulation_kind kind, uint64_t *seed)
{
  unsigned char keep[MAX_NV];
  assert_int_equal(pol_formulation_create(&sys->formulation, sys->mechanism, kind), POL_OK);
  sys->dae = pol_formulation_dae(sys->formulation);
  assert_int_equal(pol_dae_validate(sys->dae, NULL, 0), POL_OK);
  assert_int_equal(poli_dae_patterns_create(&sys->patterns, sys->dae), POL_OK);
  sys->nv = sys->dae->group.nv;
  sys->m = pol_dae_num_constraints(sys->dae);
  assert_true(sys->nv <= MAX_NV && sys->m <= MAX_M && sys->dae->group.nq <= MAX_NQ);
  assert_true(sys->dae->history_size <= MAX_HISTORY);
  sys->scratch = calloc(sys->dae->scratch_size, sizeof *sys->scratch);
  pol_formulation_initial(sys->formulation, sys->q, sys->v, keep);
  random_numbers(seed, sys->v, sys->nv);
  random_numbers(seed, sys->vd, sys->nv);
  random_numbers(seed, sys->lambda, sys->m);
}

static inline void destroy(system_t *sys)
{
  free(sys->scratch);
  poli_dae_patterns_free(&sys->patterns);
  pol_formulation_free(&sys->formulation);
  pol_mechanism_free(&sys->mechanism);
}

static inline pol_point point_of(const system_t *sys)
{
  return (pol_point){sys->t, sys->q, sys->v, sys->vd, sys->lambda, sys->history};
}

static inline void evaluate(const system_t *sys, const pol_point *at, unsigned want,
                            const pol_terms *out)
{
  assert_int_equal(poli_dae_evaluate(sys->dae, at, want, out, sys->scratch), POL_OK);
}

/* Sparse values to a dense row-major matrix. */
static inline void expand(const pol_pattern *pattern, const double *values, double *dense)
{
  memset(dense, 0, (size_t)(pattern->rows * pattern->cols) * sizeof *dense);
  for (int j = 0; j < pattern->cols; j++)
    for (int k = pattern->start[j]; k < pattern->start[j + 1]; k++)
      dense[pattern->row[k] * pattern->cols + j] = values[k];
}

enum { POSITION_VARIED, VELOCITY_VARIED, MULTIPLIER_VARIED };

/* Derivative of `rows` numbers that `want` puts where `vector` points, by q, v or lambda: rows x nv
 * or rows x m. */
static inline void numeric_derivative(const system_t *sys, int varied, unsigned want,
                                      const pol_terms *out, const double *vector, int rows,
                                      double *derivative)
{
  const int cols = varied == MULTIPLIER_VARIED ? sys->m : sys->nv;
  for (int j = 0; j < cols; j++) {
    double samples[4][MAX_NV];
    for (int k = 0; k < 4; k++) {
      double q[MAX_NQ], v[MAX_NV], lambda[MAX_M], step[MAX_NV] = {0.0};
      pol_point at = point_of(sys);
      step[j] = offset[k] * spacing;
      if (varied == POSITION_VARIED) {
        pol_group_move(&sys->dae->group, sys->q, step, q);
        at.q = q;
      } else if (varied == VELOCITY_VARIED) {
        memcpy(v, sys->v, sizeof v);
        v[j] += step[j];
        at.v = v;
      } else {
        memcpy(lambda, sys->lambda, sizeof lambda);
        lambda[j] += step[j];
        at.lambda = lambda;
      }
      evaluate(sys, &at, want, out);
      memcpy(samples[k], vector, (size_t)rows * sizeof *vector);
    }
    for (int i = 0; i < rows; i++) {
      double f[4] = {samples[0][i], samples[1][i], samples[2][i], samples[3][i]};
      derivative[i * cols + j] = difference(f, spacing);
    }
  }
}

/* The matrix of one `want` bit against the derivative of a vector. */
static inline void check_matrix(const system_t *sys, unsigned matrix, const pol_pattern *pattern,
                                int varied, unsigned vector_want, int rows)
{
  static double values[MAX_NV * MAX_NV], dense[MAX_NV * MAX_NV], numeric[MAX_NV * MAX_NV];
  double vector[MAX_NV];
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
  assert_near(dense, numeric, rows * sys->nv, 1e-9);
}

/* M vd = inertia, symmetric; velocity = B v; acceleration = Z v; energy = v M v / 2. */
static inline void check_products(const system_t *sys)
{
  double mass[MAX_NV * MAX_NV], M[MAX_NV * MAX_NV], inertia[MAX_NV], product[MAX_NV],
      B[MAX_M * MAX_NV], Z[MAX_M * MAX_NV];
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
  for (int i = 0; i < sys->nv; i++) {
    product[i] = 0.0;
    for (int j = 0; j < sys->nv; j++) {
      product[i] += M[i * sys->nv + j] * sys->vd[j];
      assert_near(&M[i * sys->nv + j], &M[j * sys->nv + i], 1, 1e-14);
    }
  }
  assert_near(product, inertia, sys->nv, 1e-14);
  pol_matrix_multiply(sys->patterns.constraint, B, 1.0, sys->v, Bv);
  pol_matrix_multiply(sys->patterns.constraint, Z, 1.0, sys->v, Zv);
  assert_near(Bv, velocity, sys->m, 1e-13);
  assert_near(Zv, acceleration, sys->m, 1e-13);

  pol_energy energy;
  double twice = 0.0, Mv[MAX_NV] = {0.0};
  pol_formulation_energy(sys->formulation, &(pol_point){.q = sys->q, .v = sys->v}, &energy);
  pol_matrix_multiply(sys->patterns.coupling, mass, 1.0, sys->v, Mv);
  for (int i = 0; i < sys->nv; i++) twice += Mv[i] * sys->v[i];
  assert_near(&energy.kinetic, &(double){0.5 * twice}, 1, 1e-13);
}

/* B^T lambda = reaction, and the force does the work that the potential loses: gradient at rest. */
static inline void check_forces(const system_t *sys)
{
  double B[MAX_M * MAX_NV], reaction[MAX_NV], product[MAX_NV] = {0.0}, force[MAX_NV],
                                              rest[MAX_NV] = {0.0};
  pol_terms out = {.balance = reaction, .jacobian = B};
  pol_point at = point_of(sys);
  evaluate(sys, &at, POL_REACTION | POL_JACOBIAN, &out);
  pol_matrix_multiply_transposed(sys->patterns.constraint, B, 1.0, sys->lambda, product);
  assert_near(product, reaction, sys->nv, 1e-13);

  out.balance = force;
  at.v = rest;
  evaluate(sys, &at, POL_FORCE, &out);
  for (int j = 0; j < sys->nv; j++) {
    double f[4], q[MAX_NQ], step[MAX_NV] = {0.0};
    for (int k = 0; k < 4; k++) {
      pol_energy energy;
      step[j] = offset[k] * spacing;
      pol_group_move(&sys->dae->group, sys->q, step, q);
      pol_formulation_energy(sys->formulation,
                             &(pol_point){.q = q, .v = rest, .history = sys->history}, &energy);
      f[k] = energy.potential;
    }
    assert_near(&force[j], &(double){difference(f, spacing)}, 1, 1e-9);
  }
}

static inline void check_all(const system_t *sys)
{
  const pol_pattern *W = sys->patterns.coupling, *B = sys->patterns.constraint;
  check_matrix(sys, POL_JACOBIAN, B, POSITION_VARIED, POL_POSITION, sys->dae->num_holonomic);
  check_matrix(sys, POL_JACOBIAN, B, VELOCITY_VARIED, POL_VELOCITY, sys->m);
  check_matrix(sys, POL_CURVATURE, B, POSITION_VARIED, POL_VELOCITY, sys->m);
  check_matrix(sys, POL_DAMPING, W, VELOCITY_VARIED, POL_FORCE, sys->nv);
  check_matrix(sys, POL_STIFFNESS, W, POSITION_VARIED, POL_INERTIA | POL_FORCE, sys->nv);
  check_matrix(sys, POL_GEOMETRIC_STIFFNESS, W, POSITION_VARIED, POL_REACTION, sys->nv);
  check_matrix(sys, POL_STIFFNESS | POL_GEOMETRIC_STIFFNESS, W, POSITION_VARIED,
               POL_INERTIA | POL_FORCE | POL_REACTION, sys->nv);
  check_products(sys);
  check_forces(sys);
}

#endif
