/* The bushing by hand: forces, torques, energies, and where it ends. */
#include <polhode/polhode.h>

#include <string.h>

#include "check.h"
#include "lie/small.h"
#include "mechanism/force.h"

static const double pi = 3.14159265358979323846;

/* A body at the origin and a bushing from the ground to it.  The ground's marker stands at the
 * origin, turned by a quarter about z: its x axis is y of the ground, its y axis is -x. */
typedef struct fixture {
  pol_mechanism *mechanism;
  poli_force_kernel kernel;
  poli_frame ground, body;
} fixture;

static void set_up(fixture *f, const pol_force *law)
{
  const pol_body body = {.name = "body",
                         .mass = 1.0,
                         .inertia = {1, 0, 0, 0, 1, 0, 0, 0, 1},
                         .rotation = {1.0, 0.0, 0.0, 0.0}};
  const double quarter[4] = {sqrt(0.5), 0.0, 0.0, sqrt(0.5)};
  pol_force force = *law;
  force.name = "bushing";
  force.type = POL_BUSHING;
  memset(f, 0, sizeof *f);
  assert_int_equal(pol_mechanism_create(&f->mechanism), POL_OK);
  assert_int_equal(pol_mechanism_add_body(f->mechanism, &body, NULL), POL_OK);
  for (int i = 0; i < 2; i++) {
    pol_marker marker = {.name = "", .body = i == 0 ? POL_GROUND : 0};
    memcpy(marker.rotation, quarter, sizeof quarter);
    if (i == 1) marker.position[2] = 2.0;
    assert_int_equal(pol_mechanism_add_marker(f->mechanism, &marker, &force.marker[i]), POL_OK);
  }
  assert_int_equal(pol_mechanism_add_force(f->mechanism, &force, NULL), POL_OK);
  poli_force_kernel_setup(&f->kernel, f->mechanism, 0);
  poli_m3_diagonal(1.0, f->ground.R);
  poli_m3_diagonal(1.0, f->body.R);
}

static void turn_body(fixture *f, double x, double y, double z)
{
  double q[4];
  pol_so3_exp((double[3]){x, y, z}, q);
  pol_quat_to_matrix(q, f->body.R);
}

static void expect(const fixture *f, const double first[6], const double second[6], double energy)
{
  double wrench[2][6];
  assert_int_equal(poli_force_wrenches(&f->kernel, 0.0, &f->ground, &f->body, wrench), POL_OK);
  assert_near(wrench[0], first, 6, 1e-12);
  assert_near(wrench[1], second, 6, 1e-12);
  double stored = poli_force_potential(&f->kernel, &f->ground, &f->body);
  assert_near(&stored, &energy, 1, 1e-12);
}

/* The body's marker is at (0, 0, 2) of it, so at (3, 4, 0) when the body is at (3, 4, -2): along x
 * of the ground's marker 4, along its y -3. */
static void displacements_give_forces(void **state)
{
  (void)state;
  fixture f;
  const pol_force law = {.stiffness = {10, 20, 30}, .damping = {1, 2, 3}, .preload = {5, 0, 0}};
  set_up(&f, &law);
  memcpy(f.body.x, (double[3]){3, 4, -2}, sizeof f.body.x);
  /* -(40 - 5) along y, -60 along x, energy 80 - 20 + 90.  On the body at (0, 0, 2): torque
   * (2 * 35, -2 * 60, 0); on the ground the opposite at (3, 4, 0): torque 3 * 35 - 4 * 60 */
  expect(&f, (double[6]){0, 0, -135, 60, 35, 0}, (double[6]){70, -120, 0, -60, -35, 0}, 150.0);
  /* a velocity (0, 3, 4) adds -3 along y and -12 along z */
  memcpy(f.body.u, (double[3]){0, 3, 4}, sizeof f.body.u);
  double wrench[2][6];
  const double forces[3] = {-60, -38, -12};
  assert_int_equal(poli_force_wrenches(&f.kernel, 0.0, &f.ground, &f.body, wrench), POL_OK);
  assert_near(wrench[1] + 3, forces, 3, 1e-12);
  pol_mechanism_free(&f.mechanism);
}

/* About one axis of the first marker the torque is -k angle - c rate + preload: about y of the
 * ground, which is x of its marker, and about z. */
static void rotations_give_torques(void **state)
{
  (void)state;
  fixture f;
  const pol_force law = {.rotational_stiffness = {10, 20, 30},
                         .rotational_damping = {1, 2, 3},
                         .preload_torque = {0, 0, 4}};
  const pol_force plain = {.rotational_stiffness = {10, 20, 30}, .rotational_damping = {1, 2, 3}};
  set_up(&f, &plain);
  turn_body(&f, 0.0, 0.5, 0.0);
  f.body.w[1] = 2.0;
  expect(&f, (double[6]){0, 7, 0, 0, 0, 0}, (double[6]){0, -7, 0, 0, 0, 0}, 1.25);
  turn_body(&f, 0.0, 0.0, 0.5);
  f.body.w[1] = 0.0;
  f.body.w[2] = -1.0;
  expect(&f, (double[6]){0, 0, 12, 0, 0, 0}, (double[6]){0, 0, -12, 0, 0, 0}, 3.75);
  pol_mechanism_free(&f.mechanism);

  set_up(&f, &law);
  turn_body(&f, 0.0, 0.0, 0.5);
  expect(&f, (double[6]){0, 0, 11, 0, 0, 0}, (double[6]){0, 0, -11, 0, 0, 0}, 1.75);
  pol_mechanism_free(&f.mechanism);
}

/* Up to 3 rad it works, beyond it asks for another step; a bushing without springs against rotation
 * has no such end. */
static void it_ends_before_half_a_turn(void **state)
{
  (void)state;
  fixture f;
  poli_force_blocks blocks;
  double wrench[2][6];
  const double zero[12] = {0.0};
  pol_force law = {.rotational_stiffness = {1, 1, 1}, .rotational_damping = {1, 1, 1}};
  for (int k = 0; k < 3; k++) {
    set_up(&f, &law);
    turn_body(&f, 2.99, 0.0, 0.0);
    assert_int_equal(poli_force_wrenches(&f.kernel, 0.0, &f.ground, &f.body, wrench), POL_OK);
    turn_body(&f, pi - 0.1, 0.0, 0.0);
    pol_status expected = k == 2 ? POL_OK : POL_RETRY;
    assert_int_equal(poli_force_wrenches(&f.kernel, 0.0, &f.ground, &f.body, wrench), expected);
    assert_near(wrench[0], zero, 12, 0.0);
    assert_int_equal(poli_force_derivatives(&f.kernel, 0.0, &f.ground, &f.body, &blocks), expected);
    pol_mechanism_free(&f.mechanism);
    memset(law.rotational_stiffness, 0, sizeof law.rotational_stiffness);
    law.preload_torque[1] = k == 0 ? 1.0 : 0.0; /* then only dampers */
  }
}

/* Whatever the position and velocity, dampers alone take power. */
static void dampers_never_give_power(void **state)
{
  (void)state;
  fixture f;
  uint64_t seed = 12;
  const pol_force law = {.damping = {1, 0, 3}, .rotational_damping = {0, 2, 1}};
  set_up(&f, &law);
  for (int k = 0; k < 200; k++) {
    double w[3], wrench[2][6], power = 0.0;
    random_numbers(&seed, w, 3);
    turn_body(&f, 4.0 * w[0], 4.0 * w[1], 4.0 * w[2]);
    random_numbers(&seed, f.body.x, 3);
    random_numbers(&seed, f.body.u, 3);
    random_numbers(&seed, f.body.w, 3);
    assert_int_equal(poli_force_wrenches(&f.kernel, 0.0, &f.ground, &f.body, wrench), POL_OK);
    for (int i = 0; i < 3; i++)
      power += wrench[1][i] * f.body.w[i] + wrench[1][3 + i] * f.body.u[i];
    assert_true(power < 0.0);
  }
  pol_mechanism_free(&f.mechanism);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(displacements_give_forces),
      cmocka_unit_test(rotations_give_torques),
      cmocka_unit_test(it_ends_before_half_a_turn),
      cmocka_unit_test(dampers_never_give_power),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
