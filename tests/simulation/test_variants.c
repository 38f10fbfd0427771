/* The motion of a mechanism does not depend on how it is written down: turned in space, with its
 * bodies in another order, with the bodies of its joints swapped.
 *
 * Variants are made from the slider-crank, the four-bar and the vehicle corner of the model files,
 * as mechanisms: every body, marker, force and gravity is turned and moved by the same rigid
 * motion; bodies are added in another order; the two markers of each joint change places, so that
 * the rows are written in the axes of the other body.  All runs are compared as frames, turned
 * back.
 *
 * It is the same to Newton's tolerance but for these cases, in which the differences are errors of
 * the method: Tait-Bryan angles see where the global axes point; index 2, which leaves the position
 * constraints, sees in which axes the rows of a joint are written, and leaves directors that are no
 * rotation any more, so that there is none to compare.  A support acts along global axes: the
 * vehicle corner is turned about its axis, z, only.
 */
#include <stdio.h>
#include <string.h>

#include "simulation/simulate.h"

enum { MAX_BODIES = 8 };

typedef struct variant {
  double turn[4];  /* the rigid motion: x -> turn x + shift */
  double shift[3]; /* m */
  int reversed;    /* bodies are added from the last to the first */
  int swapped;     /* the markers of joints change places */
} variant;

static const variant original = {{1.0, 0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}, 0, 0};

static void turn_vector(const double turn[4], const double v[3], double out[3])
{
  double R[9];
  pol_quat_to_matrix(turn, R);
  for (int i = 0; i < 3; i++) out[i] = R[3 * i] * v[0] + R[3 * i + 1] * v[1] + R[3 * i + 2] * v[2];
}

static void move_point(const variant *how, const double x[3], double out[3])
{
  turn_vector(how->turn, x, out);
  for (int i = 0; i < 3; i++) out[i] += how->shift[i];
}

/* The index of a body in the variant. */
static int new_index(const variant *how, int count, int body)
{
  return body == POL_GROUND || !how->reversed ? body : count - 1 - body;
}

static void add_bodies(const pol_mechanism *from, const variant *how, pol_mechanism *to)
{
  int count = pol_mechanism_num_bodies(from);
  assert_true(count <= MAX_BODIES);
  for (int i = 0; i < count; i++) {
    pol_body body = *pol_mechanism_body(from, new_index(how, count, i));
    const pol_body given = body;
    move_point(how, given.position, body.position);
    pol_quat_multiply(how->turn, given.rotation, body.rotation);
    turn_vector(how->turn, given.velocity, body.velocity);
    assert_int_equal(pol_mechanism_add_body(to, &body, NULL), POL_OK);
  }
}

/* Markers on bodies stay as they are in body axes; those on the ground move. */
static void add_markers(const pol_mechanism *from, const variant *how, pol_mechanism *to)
{
  int count = pol_mechanism_num_bodies(from);
  for (int i = 0; i < pol_mechanism_num_markers(from); i++) {
    pol_marker marker = *pol_mechanism_marker(from, i);
    const pol_marker given = marker;
    marker.body = new_index(how, count, given.body);
    if (given.body == POL_GROUND) {
      move_point(how, given.position, marker.position);
      pol_quat_multiply(how->turn, given.rotation, marker.rotation);
    }
    assert_int_equal(pol_mechanism_add_marker(to, &marker, NULL), POL_OK);
  }
}

/* A universal joint turns about x of the first marker and y of the second: swapped, both markers
 * have these axes exchanged, by half a turn about the line between them. */
static int exchange_axes(pol_mechanism *to, int marker)
{
  static const double exchange[4] = {0.0, 0.70710678118654752, 0.70710678118654752, 0.0};
  pol_marker turned = *pol_mechanism_marker(to, marker);
  const pol_marker given = turned;
  int index;
  pol_quat_multiply(given.rotation, exchange, turned.rotation);
  assert_int_equal(pol_mechanism_add_marker(to, &turned, &index), POL_OK);
  return index;
}

static void add_joints(const pol_mechanism *from, const variant *how, pol_mechanism *to)
{
  for (int i = 0; i < pol_mechanism_num_joints(from); i++) {
    pol_joint joint = *pol_mechanism_joint(from, i);
    if (how->swapped) {
      int first = joint.marker[0];
      joint.marker[0] = joint.marker[1];
      joint.marker[1] = first;
      for (int k = 0; k < 2 && joint.type == POL_UNIVERSAL; k++)
        joint.marker[k] = exchange_axes(to, joint.marker[k]);
    }
    assert_int_equal(pol_mechanism_add_joint(to, &joint, NULL), POL_OK);
  }
}

static pol_mechanism *vary(const pol_mechanism *from, const variant *how)
{
  pol_mechanism *to;
  double gravity[3], turned[3];
  int count = pol_mechanism_num_bodies(from);
  assert_int_equal(pol_mechanism_create(&to), POL_OK);
  pol_mechanism_gravity(from, gravity);
  turn_vector(how->turn, gravity, turned);
  pol_mechanism_set_gravity(to, turned);
  add_bodies(from, how, to);
  add_markers(from, how, to);
  add_joints(from, how, to);
  for (int i = 0; i < pol_mechanism_num_forces(from); i++) {
    pol_force force = *pol_mechanism_force(from, i);
    const pol_force given = force;
    force.body = new_index(how, count, given.body);
    move_point(how, given.anchor, force.anchor);
    assert_int_equal(pol_mechanism_add_force(to, &force, NULL), POL_OK);
  }
  for (int i = 0; i < pol_mechanism_num_drives(from); i++) {
    pol_drive drive = *pol_mechanism_drive(from, i);
    if (how->swapped) {
      /* the angle of the first body against the second is the opposite */
      drive.function.from = -drive.function.from;
      drive.function.to = -drive.function.to;
    }
    assert_int_equal(pol_mechanism_add_drive(to, &drive, NULL), POL_OK);
  }
  return to;
}

/* --- comparison ------------------------------------------------------------------------------- */

/* The states of all bodies at the end, in the order and the axes of the original. */
static void run(const pol_mechanism *mechanism, const pol_settings *settings, const variant *how,
                pol_body_state states[MAX_BODIES])
{
  pol_simulation *simulation;
  pol_diagnostics d;
  int count = pol_mechanism_num_bodies(mechanism);
  double back[4];
  if (pol_simulation_create(&simulation, mechanism, settings, &d)) fail_msg("%s", d.message);
  while (!pol_simulation_finished(simulation))
    if (pol_simulation_step(simulation))
      fail_msg("%s", pol_simulation_diagnostics(simulation)->message);
  const pol_state *end = pol_simulation_state(simulation);
  pol_quat_conjugate(how->turn, back);
  for (int i = 0; i < count; i++) {
    pol_body_state found, *state = &states[new_index(how, count, i)];
    pol_formulation_body_state(pol_simulation_formulation(simulation), end->q, end->v, i, &found);
    *state = found;
    for (int k = 0; k < 3; k++) found.position[k] -= how->shift[k];
    turn_vector(back, found.position, state->position);
    turn_vector(back, found.velocity, state->velocity);
    pol_quat_multiply(back, found.quaternion, state->quaternion);
    if (state->quaternion[0] < 0.0)
      for (int k = 0; k < 4; k++) state->quaternion[k] = -state->quaternion[k];
  }
  pol_simulation_free(&simulation);
}

/* The largest difference of positions, quaternions and velocities, these over the largest. */
static double difference_of(const pol_body_state *a, const pol_body_state *b, int count)
{
  double difference_x = 0.0, difference_v = 0.0, size = 1.0;
  for (int i = 0; i < count; i++) {
    for (int k = 0; k < 4; k++)
      difference_x = fmax(difference_x, fabs(a[i].quaternion[k] - b[i].quaternion[k]));
    for (int k = 0; k < 3; k++) {
      difference_x = fmax(difference_x, fabs(a[i].position[k] - b[i].position[k]));
      difference_v = fmax(difference_v, fabs(a[i].velocity[k] - b[i].velocity[k]));
      difference_v = fmax(difference_v, fabs(a[i].angular_velocity[k] - b[i].angular_velocity[k]));
      size = fmax(size, fmax(fabs(a[i].velocity[k]), fabs(a[i].angular_velocity[k])));
    }
  }
  return fmax(difference_x, difference_v / size);
}

/* A model file, how it may be turned, and what to run. */
static const struct {
  const char *path;
  double turn[3]; /* rotation vector */
  double end;
  int gimbal_lock; /* a body passes it, turned or not */
} models[] = {
    {"holzinger-arnold-gerstmayr/slider_crank.json", {0.4, -0.7, 0.5}, 0.2, 0},
    {"examples/four_bar_motor.json", {-0.6, 0.3, 0.8}, 0.4, 1},
    {"examples/suspension.json", {0.0, 0.0, 1.1}, 0.15, 1},
};
enum { NUM_MODELS = 3, NUM_VARIANTS = 4 };

static pol_model *read_tight(int index)
{
  char path[256];
  snprintf(path, sizeof path, "%s/models/%s", POLHODE_SOURCE_DIR, models[index].path);
  pol_model *model = read_model(path);
  model->settings.end = models[index].end;
  model->settings.options.newton.tolerance = 1e-12;
  return model;
}

/* 0: turned and moved, 1: bodies reversed, 2: joints swapped, 3: all */
static variant variant_of(int index, const double turn[3])
{
  variant how = original;
  if (index == 0 || index == 3) {
    pol_so3_exp(turn, how.turn);
    how.shift[0] = 0.3;
    how.shift[1] = -0.2;
    how.shift[2] = 0.5;
  }
  how.reversed = index == 1 || index == 3;
  how.swapped = index == 2 || index == 3;
  return how;
}

/* The largest difference between a model and one of its variants. */
static double compare(const pol_model *model, const pol_settings *settings, const variant *how)
{
  pol_body_state as_given[MAX_BODIES], varied[MAX_BODIES];
  pol_mechanism *mechanism = vary(model->mechanism, how);
  run(model->mechanism, settings, &original, as_given);
  run(mechanism, settings, how, varied);
  pol_mechanism_free(&mechanism);
  return difference_of(as_given, varied, pol_mechanism_num_bodies(model->mechanism));
}

/* Whether the model has fixed points for so3, and stays away from gimbal lock. */
static int can_run(int index, pol_formulation_kind kind)
{
  return kind != POL_SO3_PIVOT && !(kind == POL_TAIT_BRYAN && models[index].gimbal_lock);
}

/* Whether the motion must be the same to Newton's tolerance. */
static int is_indifferent(pol_formulation_kind kind, pol_index index, const variant *how)
{
  int turned = how->turn[0] != 1.0;
  if (kind == POL_TAIT_BRYAN && turned) return 0;
  if (kind == POL_DIRECTORS && index == POL_INDEX_2) return 0;
  return index != POL_INDEX_2 || !how->swapped;
}

static void motions_do_not_depend_on_the_way_of_writing(void **state)
{
  (void)state;
  static const double tolerance = 1e-9; /* that of Newton is 1e-12, relative, in each step */
  for (int k = 0; k < NUM_MODELS; k++)
    for (int kind = 0; kind < pol_formulation_count(); kind++)
      for (int index = POL_INDEX_3; index <= POL_INDEX_2_STABILIZED; index++) {
        pol_model *model = read_tight(k);
        model->settings.formulation = (pol_formulation_kind)kind;
        model->settings.options.index = (pol_index)index;
        for (int v = 0; v < NUM_VARIANTS && can_run(k, model->settings.formulation); v++) {
          variant how = variant_of(v, models[k].turn);
          if (!is_indifferent(model->settings.formulation, (pol_index)index, &how)) continue;
          double difference = compare(model, &model->settings, &how);
          if (!(difference <= tolerance))
            fail_msg("%s, %s, index %d, variant %d: %g", models[k].path,
                     pol_formulation_name(model->settings.formulation), index, v, difference);
        }
        pol_model_free(&model);
      }
}

/* What differs otherwise is the error of the method: it falls with the square of the step. */
static void other_differences_are_those_of_the_method(void **state)
{
  (void)state;
  static const struct {
    pol_formulation_kind formulation;
    pol_index index;
    int variant;
  } cases[] = {{POL_TAIT_BRYAN, POL_INDEX_3, 0}, {POL_SO3XR3, POL_INDEX_2, 2}};
  for (int c = 0; c < 2; c++) {
    pol_model *model = read_tight(0);
    variant how = variant_of(cases[c].variant, models[0].turn);
    model->settings.formulation = cases[c].formulation;
    model->settings.options.index = cases[c].index;
    double coarse = compare(model, &model->settings, &how);
    model->settings.step *= 0.5;
    double fine = compare(model, &model->settings, &how);
    assert_true(coarse > 1e-7);
    assert_near(&(double){log2(coarse / fine)}, &(double){2.0}, 1, 0.1);
    pol_model_free(&model);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(motions_do_not_depend_on_the_way_of_writing),
      cmocka_unit_test(other_differences_are_those_of_the_method),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
