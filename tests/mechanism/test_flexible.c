/* Flexible bodies as data: the frames that they consist of, and what is wrong with invalid ones. */
#include <stdio.h>
#include <stdlib.h>

#include "point_masses.h"

static pol_mechanism *create(void)
{
  pol_mechanism *mechanism;
  assert_int_equal(pol_mechanism_create(&mechanism), POL_OK);
  return mechanism;
}

/* The place and the velocity of an interface at the start, by a difference in time. */
static void frames_are_at_their_places(void **state)
{
  (void)state;
  uint64_t seed = 3;
  point_masses p;
  pol_flexible_body body = random_flexible(&p, "arm", 3, 2, &seed);
  const double h = 1e-4;
  pol_body frame[5];
  for (int k = 0; k < 5; k++) { /* at -2 h .. 2 h of a motion with these velocities */
    pol_flexible_body now = body;
    point_masses moved = p;
    const double t = (k - 2) * h;
    double turn[3], step[4];
    for (int i = 0; i < 3; i++) now.position[i] += t * body.velocity[i];
    for (int i = 0; i < 3; i++) turn[i] = t * body.angular_velocity[i];
    pol_so3_exp(turn, step);
    pol_quat_multiply(body.rotation, step, now.rotation);
    for (int i = 0; i < 3; i++) moved.amplitudes[i] += t * p.rates[i];
    now.amplitudes = moved.amplitudes;
    pol_mechanism *mechanism = create();
    int index;
    assert_int_equal(pol_mechanism_add_flexible_body(mechanism, &now, &index), POL_OK);
    assert_int_equal(index, 0);
    assert_int_equal(pol_mechanism_num_bodies(mechanism), 3);
    assert_int_equal(pol_mechanism_find_body(mechanism, "arm.two"), 2);
    frame[k] = *pol_mechanism_body(mechanism, 2);
    pol_mechanism_free(&mechanism);
  }
  double R[9], rates[3], spin[9];
  pol_quat_to_matrix(frame[2].rotation, R);
  for (int i = 0; i < 3; i++) {
    const double f[4] = {frame[4].position[i], frame[3].position[i], frame[1].position[i],
                         frame[0].position[i]};
    rates[i] = difference(f, h);
  }
  assert_near(rates, frame[2].velocity, 3, 1e-9);
  for (int i = 0; i < 9; i++) {
    double f[4];
    static const int at[4] = {4, 3, 1, 0};
    for (int k = 0; k < 4; k++) {
      double matrix[9];
      pol_quat_to_matrix(frame[at[k]].rotation, matrix);
      f[k] = matrix[i];
    }
    spin[i] = difference(f, h);
  }
  /* R^T R' = w~ */
  for (int i = 0; i < 3; i++) {
    const int a = (i + 2) % 3, b = (i + 1) % 3;
    rates[i] = 0.0;
    for (int k = 0; k < 3; k++) rates[i] += R[3 * k + a] * spin[3 * k + b];
  }
  assert_near(rates, frame[2].angular_velocity, 3, 1e-9);
}

/* One fault each, its path and its rule. */
typedef void fault(pol_flexible_body *body, point_masses *p);

static void no_name(pol_flexible_body *body, point_masses *p)
{
  (void)p;
  body->name = "";
}
static void taken_name(pol_flexible_body *body, point_masses *p)
{
  (void)p;
  body->name = "taken";
}
static void no_mass(pol_flexible_body *body, point_masses *p)
{
  (void)p;
  body->mass = 0.0;
}
static void bad_rotation(pol_flexible_body *body, point_masses *p)
{
  (void)p;
  body->rotation[0] += 0.5;
}
static void no_modes(pol_flexible_body *body, point_masses *p)
{
  (void)p;
  body->num_modes = 0;
}
static void no_stiffness(pol_flexible_body *body, point_masses *p)
{
  (void)p;
  body->stiffness = NULL;
}
static void skew_stiffness(pol_flexible_body *body, point_masses *p)
{
  (void)body;
  p->stiffness[1] += 0.1;
}
static void negative_stiffness(pol_flexible_body *body, point_masses *p)
{
  (void)body;
  p->stiffness[1] = p->stiffness[3] = 100.0;
}
static void negative_damping(pol_flexible_body *body, point_masses *p)
{
  (void)body;
  p->damping[4] = -1.0;
}
static void infinite_first(pol_flexible_body *body, point_masses *p)
{
  (void)body;
  p->first[4] = (double)INFINITY;
}
static void unequal_second(pol_flexible_body *body, point_masses *p)
{
  (void)body;
  p->second[9 + 1] += 0.1;
}
/* the second mode is a rotation about z */
static void rigid_mode(pol_flexible_body *body, point_masses *p)
{
  for (int i = 0; i < p->count; i++) {
    p->shape[i][2][0] = -p->shape[i][0][1];
    p->shape[i][2][1] = p->shape[i][0][0];
    p->shape[i][2][2] = 0.0;
  }
  integrate(p, body);
}
static void nan_amplitude(pol_flexible_body *body, point_masses *p)
{
  (void)body;
  p->amplitudes[2] = (double)NAN;
}
static void same_interfaces(pol_flexible_body *body, point_masses *p)
{
  (void)body;
  p->interfaces[1].name = "one";
}
static void no_shapes(pol_flexible_body *body, point_masses *p)
{
  (void)body;
  p->interfaces[1].rotation = NULL;
}
static void infinite_shape(pol_flexible_body *body, point_masses *p)
{
  (void)body;
  p->translation[0][5] = (double)INFINITY;
}

static void faults_are_named(void **state)
{
  (void)state;
  static const struct {
    fault *make;
    const char *path, *rule;
  } cases[] = {
      {no_name, "body without name: name", "is required"},
      {taken_name, "body 'taken': name", "must be unique"},
      {no_mass, "body 'arm': mass", "must be a positive number"},
      {bad_rotation, "body 'arm': rotation", "must be a unit quaternion"},
      {no_modes, "body 'arm': num_modes", "must be at least 1"},
      {no_stiffness, "body 'arm': stiffness", "is required"},
      {skew_stiffness, "body 'arm': stiffness[1][0]", "must equal [0][1]"},
      {negative_stiffness, "body 'arm': stiffness", "must not have negative eigenvalues"},
      {negative_damping, "body 'arm': damping", "must not have negative eigenvalues"},
      {infinite_first, "body 'arm': first[4]", "must be a finite number"},
      {unequal_second, "body 'arm': second[0][1]", "must be the transpose of second[1][0]"},
      {rigid_mode, "body 'arm': second", "must give a positive definite mass matrix"},
      {nan_amplitude, "body 'arm': amplitudes[2]", "must be a finite number"},
      {same_interfaces, "body 'arm': interfaces[1].name", "must be unique: interfaces[0]"},
      {no_shapes, "body 'arm': interfaces[1].rotation", "is required"},
      {infinite_shape, "body 'arm': interfaces[0].translation[5]", "must be a finite number"},
  };
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    uint64_t seed = 4;
    point_masses p;
    pol_flexible_body body = random_flexible(&p, "arm", 3, 2, &seed);
    pol_mechanism *mechanism = create();
    pol_body other = pol_body_default();
    int index;
    other.name = "taken";
    assert_int_equal(pol_mechanism_add_body(mechanism, &other, NULL), POL_OK);
    cases[k].make(&body, &p);
    assert_int_equal(pol_mechanism_add_flexible_body(mechanism, &body, &index), POL_BAD_ARGUMENT);
    assert_int_equal(index, POL_NOT_FOUND);
    assert_int_equal(pol_mechanism_num_bodies(mechanism), 1);
    const pol_errors *errors = pol_mechanism_errors(mechanism);
    assert_int_equal(errors->count, 1);
    assert_string_equal(errors->items[0].path, cases[k].path);
    if (!strstr(errors->items[0].rule, cases[k].rule))
      fail_msg("%s: %s", cases[k].path, errors->items[0].rule);
    pol_mechanism_free(&mechanism);
  }
}

/* Names of other elements, and several faults at once. */
static void all_faults_are_found(void **state)
{
  (void)state;
  uint64_t seed = 4;
  point_masses p;
  pol_flexible_body body = random_flexible(&p, "arm", 3, 2, &seed);
  pol_mechanism *mechanism = create();
  pol_body other = pol_body_default();
  other.name = "arm.two";
  assert_int_equal(pol_mechanism_add_body(mechanism, &other, NULL), POL_OK);
  body.mass = -1.0;
  p.rates[0] = (double)NAN;
  assert_int_equal(pol_mechanism_add_flexible_body(mechanism, &body, NULL), POL_BAD_ARGUMENT);
  const pol_errors *errors = pol_mechanism_errors(mechanism);
  assert_true(errors->count >= 3);
  assert_string_equal(errors->items[errors->count - 1].path, "body 'arm': interfaces[1].name");
  assert_int_equal(pol_mechanism_add_flexible_body(mechanism, NULL, NULL), POL_BAD_ARGUMENT);
  pol_mechanism_free(&mechanism);
}

/* A body may have a stiffness with zeros, and neither damping, amplitudes nor interfaces. */
static void least_body_is_valid(void **state)
{
  (void)state;
  uint64_t seed = 4;
  point_masses p;
  pol_flexible_body body = random_flexible(&p, "arm", 2, 0, &seed);
  pol_mechanism *mechanism = create();
  memset(p.stiffness, 0, sizeof p.stiffness);
  body.damping = body.amplitudes = body.rates = NULL;
  body.interfaces = NULL;
  assert_int_equal(pol_mechanism_add_flexible_body(mechanism, &body, NULL), POL_OK);
  const pol_flexible_body *copy = pol_mechanism_body(mechanism, 0)->flexible;
  assert_non_null(copy);
  assert_near(copy->damping, ((double[4]){0.0}), 4, 0.0);
  const double *S = p.second + 9 * (3 * 1 + 2);
  assert_near(&copy->inertia[1], &(double){S[0] + S[4] + S[8]}, 1, 1e-15);
  pol_mechanism_free(&mechanism);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(frames_are_at_their_places),
      cmocka_unit_test(faults_are_named),
      cmocka_unit_test(all_faults_are_found),
      cmocka_unit_test(least_body_is_valid),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
