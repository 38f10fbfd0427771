/* Joint coordinates: values that were put in come out, in every joint that has some; rate, gradient
 * and second derivatives against finite differences at random frames, on the joint's constraints
 * and off them; unwrapping. */
#include <polhode/polhode.h>

#include <string.h>

#include "check.h"
#include "lie/small.h"
#include "mechanism/coordinate.h"

static const double pi = 3.14159265358979323846;
static const double offset[4] = {2.0, 1.0, -1.0, -2.0};
static const double s = 1e-3;

/* What a generic joint locks where it is to have an angle about x, y or z. */
enum {
  ALL_BUT_X = POL_LOCK_ROTATION_Y | POL_LOCK_ROTATION_Z,
  ALL_BUT_Y = POL_LOCK_ROTATION_X | POL_LOCK_ROTATION_Z,
  ALL_BUT_Z = POL_LOCK_ROTATION_X | POL_LOCK_ROTATION_Y,
  POINT = POL_LOCK_X | POL_LOCK_Y | POL_LOCK_Z
};

/* A joint of this type between two bodies with random markers. */
static pol_mechanism *create(pol_joint_type type, unsigned locked, uint64_t *seed)
{
  pol_mechanism *mechanism;
  pol_joint joint = {.name = "joint", .type = type, .length = 1.0, .radius = 1.0, .locked = locked};
  assert_int_equal(pol_mechanism_create(&mechanism), POL_OK);
  for (int i = 0; i < 2; i++) {
    pol_body body = {.name = i ? "b" : "a",
                     .mass = 1.0,
                     .inertia = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0},
                     .rotation = {1.0, 0.0, 0.0, 0.0}};
    pol_marker marker = {.name = ""};
    assert_int_equal(pol_mechanism_add_body(mechanism, &body, &marker.body), POL_OK);
    random_numbers(seed, marker.position, 3);
    random_quaternion(seed, marker.rotation);
    assert_int_equal(pol_mechanism_add_marker(mechanism, &marker, &joint.marker[i]), POL_OK);
  }
  assert_int_equal(pol_mechanism_add_joint(mechanism, &joint, NULL), POL_OK);
  return mechanism;
}

static void random_frame(uint64_t *seed, poli_frame *frame)
{
  double q[4];
  memset(frame, 0, sizeof *frame);
  random_quaternion(seed, q);
  pol_quat_to_matrix(q, frame->R);
  random_numbers(seed, frame->x, 3);
  random_numbers(seed, frame->w, 3);
  random_numbers(seed, frame->u, 3);
}

/* The frame moved by a variation (dphi, dx). */
static poli_frame moved(const poli_frame *frame, const double by[6])
{
  poli_frame out = *frame;
  double q[4], turn[9];
  pol_so3_exp(by, q);
  pol_quat_to_matrix(q, turn);
  poli_m3_multiply(frame->R, turn, out.R);
  poli_v3_add(frame->x, by + 3, out.x);
  return out;
}

/* Both frames moved along a direction of 12 numbers. */
static void move_both(const poli_frame frame[2], const double direction[12], double size,
                      poli_frame out[2])
{
  double by[12];
  for (int i = 0; i < 12; i++) by[i] = size * direction[i];
  out[0] = moved(&frame[0], by);
  out[1] = moved(&frame[1], by + 6);
}

/* --- values -------------------------------------------------------------------------------------
 */

/* The rotation about a marker axis as a matrix. */
static void turn_about(int axis, double angle, double out[9])
{
  double w[3] = {0.0, 0.0, 0.0}, q[4];
  w[axis] = angle;
  pol_so3_exp(w, q);
  pol_quat_to_matrix(q, out);
}

/* The second frame of a joint whose markers' relative position and rotation are these. */
static void place_second(const pol_mechanism *mechanism, const poli_frame *first,
                         const double along[3], const double turn[9], poli_frame *second)
{
  const pol_joint *joint = pol_mechanism_joint(mechanism, 0);
  const pol_marker *marker[2];
  double A[2][9], R1A1[9], Q[9], point[3], local[3], arm[3];
  for (int i = 0; i < 2; i++) {
    marker[i] = pol_mechanism_marker(mechanism, joint->marker[i]);
    pol_quat_to_matrix(marker[i]->rotation, A[i]);
  }
  /* R2 = R1 A1 turn A2^T */
  poli_m3_multiply(first->R, A[0], R1A1);
  poli_m3_multiply(R1A1, turn, Q);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      second->R[3 * i + j] =
          Q[3 * i] * A[1][3 * j] + Q[3 * i + 1] * A[1][3 * j + 1] + Q[3 * i + 2] * A[1][3 * j + 2];
  /* x2 = x1 + R1 (p1 + A1 along) - R2 p2 */
  poli_m3_apply(A[0], along, local);
  poli_v3_add(local, marker[0]->position, local);
  poli_m3_apply(first->R, local, point);
  poli_m3_apply(second->R, marker[1]->position, arm);
  for (int i = 0; i < 3; i++) second->x[i] = first->x[i] + point[i] - arm[i];
}

static void values_put_in_come_out(void **state)
{
  static const struct {
    pol_joint_type type;
    unsigned locked;
    int count;
    const char *name[4];
    int axis[4]; /* translation along 0 .. 2 or rotation about 3 .. 5, rotations in this order */
  } joints[] = {
      {POL_REVOLUTE, 0, 1, {"angle"}, {5}},
      {POL_PRISMATIC, 0, 1, {"displacement"}, {2}},
      {POL_CYLINDRICAL, 0, 2, {"angle", "displacement"}, {5, 2}},
      {POL_UNIVERSAL, 0, 2, {"angle.1", "angle.2"}, {3, 4}},
      {POL_PLANAR, 0, 3, {"displacement.x", "displacement.y", "angle"}, {0, 1, 5}},
      {POL_POINT_ON_LINE, 0, 1, {"displacement"}, {2}},
      {POL_POINT_IN_PLANE, 0, 2, {"displacement.x", "displacement.y"}, {0, 1}},
      {POL_PARALLEL,
       0,
       4,
       {"displacement.x", "displacement.y", "displacement.z", "angle"},
       {0, 1, 2, 5}},
      {POL_GENERIC, POINT | ALL_BUT_X, 1, {"angle"}, {3}},
      {POL_GENERIC, POINT | ALL_BUT_Y, 1, {"angle"}, {4}},
      {POL_GENERIC, POINT | ALL_BUT_Z, 1, {"angle"}, {5}},
      {POL_GENERIC,
       POL_LOCK_Y | ALL_BUT_X,
       3,
       {"displacement.x", "displacement.z", "angle"},
       {0, 2, 3}},
      {POL_GENERIC,
       ALL_BUT_Y,
       4,
       {"displacement.x", "displacement.y", "displacement.z", "angle"},
       {0, 1, 2, 4}},
      {POL_GENERIC, POL_LOCK_X | POL_LOCK_Z | POL_LOCK_ROTATION_X, 1, {"displacement.y"}, {1}},
      {POL_GENERIC, POL_LOCK_X | POL_LOCK_Y | ALL_BUT_X | ALL_BUT_Y, 1, {"displacement.z"}, {2}},
  };
  uint64_t seed = 1;
  (void)state;
  for (size_t n = 0; n < sizeof joints / sizeof joints[0]; n++) {
    pol_mechanism *mechanism = create(joints[n].type, joints[n].locked, &seed);
    const pol_joint *joint = pol_mechanism_joint(mechanism, 0);
    assert_int_equal(pol_joint_num_coordinates(joint), joints[n].count);
    for (int trial = 0; trial < 10; trial++) {
      double value[4], along[3] = {0.0}, turn[9];
      poli_frame first, second;
      random_frame(&seed, &first);
      poli_m3_diagonal(1.0, turn);
      for (int i = 0; i < joints[n].count; i++) {
        double step[9], before[9];
        value[i] = 3.1 * random_number(&seed);
        if (joints[n].axis[i] < 3) {
          along[joints[n].axis[i]] = value[i];
          continue;
        }
        turn_about(joints[n].axis[i] - 3, value[i], step);
        poli_m3_copy(turn, before);
        poli_m3_multiply(before, step, turn);
      }
      place_second(mechanism, &first, along, turn, &second);
      for (int i = 0; i < joints[n].count; i++) {
        poli_coordinate_kernel kernel;
        poli_coordinate_kernel_setup(&kernel, mechanism, 0, i);
        double got = poli_coordinate_value(&kernel, &first, &second);
        assert_string_equal(pol_joint_coordinate(joint, i)->name, joints[n].name[i]);
        assert_int_equal(pol_joint_coordinate(joint, i)->angular, joints[n].axis[i] >= 3);
        assert_near(&got, &value[i], 1, 1e-14);
      }
    }
    assert_null(pol_joint_coordinate(joint, joints[n].count));
    assert_null(pol_joint_coordinate(joint, -1));
    pol_mechanism_free(&mechanism);
  }
}

static void other_joints_have_none(void **state)
{
  (void)state;
  static const pol_joint_type without[] = {POL_FIXED,          POL_SPHERICAL,
                                           POL_DISTANCE,       POL_CONSTANT_VELOCITY,
                                           POL_ROLLING_SPHERE, POL_ROLLING_DISK};
  for (size_t i = 0; i < sizeof without / sizeof without[0]; i++)
    assert_int_equal(pol_joint_num_coordinates(&(pol_joint){.type = without[i]}), 0);
  /* two or three free rotations have none, whatever else is locked */
  static const unsigned locks[] = {POINT, POINT | POL_LOCK_ROTATION_X, POINT | POL_LOCK_ROTATION_Z,
                                   POINT | ALL_BUT_X | ALL_BUT_Y};
  for (size_t i = 0; i < sizeof locks / sizeof locks[0]; i++) {
    const pol_joint joint = {.type = POL_GENERIC, .locked = locks[i]};
    assert_int_equal(pol_joint_num_coordinates(&joint), 0);
    assert_false(pol_joint_has_coordinate(&joint, POL_DRIVE_ROTATION));
  }
}

/* --- derivatives --------------------------------------------------------------------------------
 */

/* The value on the branch of the undisturbed one. */
static double value_near(const poli_coordinate_kernel *kernel, const poli_frame frame[2],
                         double near)
{
  double value = poli_coordinate_value(kernel, &frame[0], &frame[1]);
  return kernel->angular ? poli_angle_unwrap(value, near) : value;
}

static void check_derivatives(const poli_coordinate_kernel *kernel, const poli_frame frame[2])
{
  double value = poli_coordinate_value(kernel, &frame[0], &frame[1]);
  double gradient[12], H[12][12], rate, along_rate[12];
  double velocity[12];
  for (int b = 0; b < 2; b++) {
    poli_v3_copy(frame[b].w, velocity + 6 * b);
    poli_v3_copy(frame[b].u, velocity + 6 * b + 3);
  }
  assert_int_equal(poli_coordinate_gradient(kernel, &frame[0], &frame[1], gradient), POL_OK);
  assert_int_equal(poli_coordinate_second(kernel, &frame[0], &frame[1], H), POL_OK);
  assert_int_equal(poli_coordinate_rate(kernel, &frame[0], &frame[1], &rate), POL_OK);

  /* The rate by moving along the velocity, and as g . v. */
  double f[4], by_gradient = 0.0;
  for (int k = 0; k < 4; k++) {
    poli_frame at[2];
    move_both(frame, velocity, offset[k] * s, at);
    f[k] = value_near(kernel, at, value);
  }
  double by_motion = difference(f, s);
  for (int i = 0; i < 12; i++) by_gradient += gradient[i] * velocity[i];
  assert_near(&by_motion, &rate, 1, 1e-8);
  assert_near(&by_gradient, &rate, 1, 1e-13);

  /* Gradient, second derivatives and the rate's derivative, one variation at a time. */
  for (int j = 0; j < 12; j++) {
    double unit[12] = {0.0}, values[4], rates[4], gradients[4][12];
    unit[j] = 1.0;
    for (int k = 0; k < 4; k++) {
      poli_frame at[2];
      move_both(frame, unit, offset[k] * s, at);
      values[k] = value_near(kernel, at, value);
      poli_coordinate_rate(kernel, &at[0], &at[1], &rates[k]);
      poli_coordinate_gradient(kernel, &at[0], &at[1], gradients[k]);
    }
    double slope = difference(values, s);
    assert_near(&slope, &gradient[j], 1, 1e-9);
    along_rate[j] = 0.0;
    for (int i = 0; i < 12; i++) {
      double g[4] = {gradients[0][i], gradients[1][i], gradients[2][i], gradients[3][i]};
      double second = difference(g, s);
      assert_near(&second, &H[i][j], 1, 1e-8);
      along_rate[j] += H[i][j] * velocity[i];
    }
    double rate_slope = difference(rates, s);
    assert_near(&rate_slope, &along_rate[j], 1, 1e-8);
  }
}

/* How far c and s are from both being zero. */
static double radius(const poli_coordinate_kernel *kernel, const poli_frame frame[2])
{
  double row[2];
  if (!kernel->angular) return 1.0;
  poli_joint_position(&kernel->rows, &frame[0], &frame[1], row);
  return hypot(row[0], row[1]);
}

/* Each type, and after the last one generic joints about x, y and z. */
static void derivatives_are_exact(void **state)
{
  static const unsigned locked[] = {ALL_BUT_X, ALL_BUT_Y, ALL_BUT_Z};
  uint64_t seed = 2;
  int angles = 0;
  (void)state;
  for (int k = 0; k <= POL_ROLLING_DISK + 3; k++) {
    const int generic = k > POL_ROLLING_DISK;
    pol_mechanism *mechanism =
        create(generic ? POL_GENERIC : (pol_joint_type)k,
               generic ? locked[k - POL_ROLLING_DISK - 1] : POL_LOCK_X, &seed);
    int count = pol_joint_num_coordinates(pol_mechanism_joint(mechanism, 0));
    for (int index = 0; index < count; index++) {
      poli_coordinate_kernel kernel;
      poli_coordinate_kernel_setup(&kernel, mechanism, 0, index);
      for (int trial = 0; trial < 10; trial++) {
        poli_frame frame[2];
        do { /* finite differences need room */
          random_frame(&seed, &frame[0]);
          random_frame(&seed, &frame[1]);
        } while (radius(&kernel, frame) < 0.4);
        check_derivatives(&kernel, frame);
      }
      angles += kernel.angular;
    }
    pol_mechanism_free(&mechanism);
  }
  assert_int_equal(angles, 3 + 1 + 2 + 3); /* planar and so on, parallel, universal, generic */
}

/* Where x of the second marker is along z of the first the angle about z is not defined. */
static void undefined_angle_is_told(void **state)
{
  uint64_t seed = 3;
  pol_mechanism *mechanism;
  pol_joint joint = {.name = "joint", .type = POL_REVOLUTE};
  poli_coordinate_kernel kernel;
  poli_frame first = {.R = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0}};
  poli_frame second = {.R = {0.0, 0.0, -1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0}}; /* x along z */
  double rate = 1.0, gradient[12], H[12][12];
  static const double zero[144];
  (void)state;
  mechanism = create(POL_REVOLUTE, 0, &seed);
  for (int i = 0; i < 2; i++) {
    pol_marker marker = {.name = "", .body = i, .rotation = {1.0, 0.0, 0.0, 0.0}};
    assert_int_equal(pol_mechanism_add_marker(mechanism, &marker, &joint.marker[i]), POL_OK);
  }
  joint.name = "plain";
  assert_int_equal(pol_mechanism_add_joint(mechanism, &joint, NULL), POL_OK);
  poli_coordinate_kernel_setup(&kernel, mechanism, 1, 0);
  assert_true(poli_coordinate_value(&kernel, &first, &second) == 0.0);
  assert_int_equal(poli_coordinate_rate(&kernel, &first, &second, &rate), POL_RETRY);
  assert_int_equal(poli_coordinate_gradient(&kernel, &first, &second, gradient), POL_RETRY);
  assert_int_equal(poli_coordinate_second(&kernel, &first, &second, H), POL_RETRY);
  assert_true(rate == 0.0);
  assert_near(gradient, zero, 12, 0.0);
  assert_near(H[0], zero, 144, 0.0);

  /* Half a turn is pi, never -pi. */
  static const double half[9] = {-1.0, 0.0, 0.0, -0.0, -1.0, 0.0, 0.0, 0.0, 1.0};
  poli_m3_copy(half, second.R);
  assert_true(poli_coordinate_value(&kernel, &first, &second) == pi);
  pol_mechanism_free(&mechanism);
}

static void unwrap_counts_turns(void **state)
{
  double remembered = 0.0;
  (void)state;
  for (int i = 0; i <= 1000; i++) { /* up to 50 rad and back, in steps below half a turn */
    double angle = 50.0 * sin(pi * i / 1000.0);
    double wrapped = remainder(angle, 2.0 * pi);
    remembered = poli_angle_unwrap(wrapped, remembered);
    assert_near(&remembered, &angle, 1, 1e-12);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_put_in_come_out), cmocka_unit_test(other_joints_have_none),
      cmocka_unit_test(derivatives_are_exact),  cmocka_unit_test(undefined_angle_is_told),
      cmocka_unit_test(unwrap_counts_turns),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
