/* The exact motion of a free rigid body: reference vectors, the flow property, energy, motion near
 * the separatrix, bodies of every kind, and the derivative against finite differences. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/lie.h>

#include "check.h"
#include "lie/free_motion.h"
#include "lie/small.h"

static uint64_t seed = 1;

/* The largest difference of two rotations, whatever the signs of the quaternions. */
static double distance(const double a[4], const double b[4])
{
  double plus = 0.0, minus = 0.0;
  for (int i = 0; i < 4; i++) {
    plus = fmax(plus, fabs(a[i] - b[i]));
    minus = fmax(minus, fabs(a[i] + b[i]));
  }
  return fmin(plus, minus);
}

/* Kinetic energy of rotation. */
static double energy(const double J[3], const double q[4], const double L[3])
{
  double R[9], l[3], sum = 0.0;
  pol_quat_to_matrix(q, R);
  poli_m3_apply_transposed(R, L, l);
  for (int i = 0; i < 3; i++) sum += 0.5 * l[i] * l[i] / J[i];
  return sum;
}

/* Bodies in all orders of the moments: asymmetric, symmetric, nearly symmetric, spherical. */
static const double bodies[][3] = {{1, 2, 3},
                                   {1, 3, 2},
                                   {2, 1, 3},
                                   {2, 3, 1},
                                   {3, 1, 2},
                                   {3, 2, 1},
                                   {0.031, 0.045, 0.018},
                                   {2, 2, 1},
                                   {2, 1, 2},
                                   {1, 2, 2},
                                   {1, 1, 2},
                                   {5, 5, 5},
                                   {1, 1 + 1e-9, 1.5},
                                   {1, 1 + 1e-13, 1.5},
                                   {1e-9, 2e-9, 2.5e-9},
                                   {1e6, 1.5e6, 1.000001e6}};
enum { NUM_BODIES = sizeof bodies / sizeof bodies[0] };

static void reference_vectors(void **state)
{
  (void)state;
  FILE *file = fopen(POLHODE_SOURCE_DIR "/tests/data/free_body.csv", "r");
  char line[2000];
  int count = 0;
  assert_non_null(file);
  while (fgets(line, sizeof line, file)) {
    double x[24], q1[4], D[9], size = 0.0, error = 0.0;
    char *next = line;
    poli_free_body body;
    if (line[0] == '#') continue;
    for (int i = 0; i < 24; i++) x[i] = strtod(next, &next), next += *next == ',';
    poli_free_body_set(&body, x);
    poli_free_motion(&body, x + 3, x + 7, x[10], q1, D);
    assert_true(distance(q1, x + 11) < 1e-15);
    for (int i = 0; i < 9; i++) size = fmax(size, fabs(x[15 + i]));
    for (int i = 0; i < 9; i++) error = fmax(error, fabs(D[i] - x[15 + i]));
    assert_true(error < (body.axis >= 0 ? 1e-6 : 6e-3) * size);
    count++;
  }
  fclose(file);
  assert_int_equal(count, 24);
}

/* Two pieces of a motion are the whole, backwards is back, and the energy stays. */
static void it_is_a_flow(void **state)
{
  (void)state;
  for (int b = 0; b < NUM_BODIES; b++) {
    poli_free_body body;
    poli_free_body_set(&body, bodies[b]);
    for (int trial = 0; trial < 200; trial++) {
      double q[4], L[3], half[4], parts[4], whole[4], back[4];
      const double scale = bodies[b][0];
      const double h = 5.0 * random_number(&seed), share = random_number(&seed);
      random_quaternion(&seed, q);
      for (int i = 0; i < 3; i++) L[i] = scale * random_number(&seed);
      poli_free_motion(&body, q, L, h, whole, NULL);
      poli_free_motion(&body, q, L, share * h, half, NULL);
      poli_free_motion(&body, half, L, (1.0 - share) * h, parts, NULL);
      poli_free_motion(&body, whole, L, -h, back, NULL);
      assert_true(distance(parts, whole) < 2e-14);
      assert_true(distance(back, q) < 2e-14);
      const double T = energy(bodies[b], q, L);
      assert_true(fabs(energy(bodies[b], whole, L) - T) < 2e-14 * T);
    }
  }
}

/* Starts close to the unstable axis, on the separatrix, and on an axis. */
/* Momenta so small that their squares underflow move nothing. */
static void tiny_momenta_move_nothing(void **state)
{
  (void)state;
  static const double moments[2][3] = {{1e-4, 1.4e-4, 1.8e-4}, {1.0, 1.0, 2.0}};
  static const double q0[4] = {0.5, -0.5, 0.5, 0.5};
  for (int b = 0; b < 2; b++)
    for (int power = -20; power > -320; power--) {
      poli_free_body body;
      double q1[4], D[9];
      const double size = pow(10.0, power), L[3] = {0.3 * size, -0.5 * size, 0.8 * size};
      poli_free_body_set(&body, moments[b]);
      poli_free_motion(&body, q0, L, 0.01, q1, D);
      assert_near(q1, q0, 4, 1e-15);
      for (int i = 0; i < 9; i++) assert_true(fabs(D[i]) <= 0.01 / moments[b][0] * 1.001);
    }
}

static void near_the_separatrix(void **state)
{
  (void)state;
  const double J[3] = {1, 2, 3}, identity[4] = {1, 0, 0, 0};
  poli_free_body body;
  poli_free_body_set(&body, J);
  for (int k = 0; k < 40; k++) {
    /* on the separatrix A n1^2 = B n3^2, with A = 1/2 and B = 1/6; then beside it */
    const double off = k == 0 ? 0.0 : pow(10.0, -0.5 * k), n1 = 0.3 * (1.0 + off);
    const double n3 = 0.3 * sqrt(3.0);
    const double L[3] = {n1, sqrt(1.0 - n1 * n1 - n3 * n3), n3};
    double q[4] = {1, 0, 0, 0}, far[4], T = energy(J, identity, L);
    for (int i = 0; i < 64; i++) poli_free_motion(&body, q, L, 0.125, q, NULL);
    poli_free_motion(&body, identity, L, 8.0, far, NULL);
    assert_true(distance(q, far) < 1e-12);
    assert_true(fabs(energy(J, far, L) - T) < 1e-14 * T);
  }
  for (int axis = 0; axis < 3; axis++) {
    double L[3] = {0}, q[4], w[3] = {0}, expected[4];
    L[axis] = 1.7;
    w[axis] = 1.7 / J[axis] * 2.5;
    poli_free_motion(&body, identity, L, 2.5, q, NULL);
    pol_so3_exp(w, expected);
    assert_true(distance(q, expected) < 1e-15);
  }
  const double rest[3] = {0, 0, 0};
  double q[4];
  poli_free_motion(&body, identity, rest, 1.0, q, NULL);
  assert_true(distance(q, identity) == 0.0);
}

/* D against central differences of the motion, and D L = h w. */
static void derivative_matches_differences(void **state)
{
  (void)state;
  for (int b = 0; b < NUM_BODIES; b++) {
    poli_free_body body;
    poli_free_body_set(&body, bodies[b]);
    for (int trial = 0; trial < 20; trial++) {
      double q[4], L[3], q1[4], D[9], size = 0.0;
      const double scale = fmin(bodies[b][0], fmin(bodies[b][1], bodies[b][2])),
                   h = random_number(&seed);
      random_quaternion(&seed, q);
      for (int i = 0; i < 3; i++) L[i] = scale * random_number(&seed);
      poli_free_motion(&body, q, L, h, q1, D);
      for (int i = 0; i < 9; i++) size = fmax(size, fabs(D[i]));
      for (int j = 0; j < 3; j++) {
        double ends[2][4], between[4], phi[3];
        const double step = 1e-5 * scale;
        for (int side = 0; side < 2; side++) {
          double changed[3] = {L[0], L[1], L[2]};
          changed[j] += side ? step : -step;
          poli_free_motion(&body, q, changed, h, ends[side], NULL);
        }
        pol_quat_conjugate(ends[0], ends[0]);
        pol_quat_multiply(ends[1], ends[0], between);
        pol_so3_log(between, phi);
        for (int i = 0; i < 3; i++)
          assert_true(fabs(phi[i] / (2.0 * step) - D[3 * i + j]) <
                      (body.axis >= 0 ? 1e-7 : 1e-2) * size);
      }
    }
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reference_vectors),
      cmocka_unit_test(it_is_a_flow),
      cmocka_unit_test(tiny_momenta_move_nothing),
      cmocka_unit_test(near_the_separatrix),
      cmocka_unit_test(derivative_matches_differences),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
