/* Callback forces: central differences against the exact derivatives of a built-in spring,
 * statuses, and rules. */
#include <polhode/polhode.h>

#include <string.h>

#include "check.h"
#include "lie/small.h"
#include "mechanism/force.h"

/* The built-in force, as a program would write its own. */
static pol_status copied_wrench(double t, const pol_motion motion[2], double wrench[12], void *user)
{
  const poli_force_kernel *kernel = user;
  poli_frame frames[2] = {{.x = {0}}};
  double both[2][6];
  for (int k = 0; k < 2; k++) {
    poli_m3_copy(motion[k].rotation, frames[k].R);
    poli_v3_copy(motion[k].position, frames[k].x);
    poli_v3_copy(motion[k].angular_velocity, frames[k].w);
    poli_v3_copy(motion[k].velocity, frames[k].u);
  }
  pol_status status = poli_force_wrenches(kernel, t, &frames[0], &frames[1], both);
  memcpy(wrench, both, sizeof both);
  return status;
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

static void differences_match_exact_derivatives(void **state)
{
  (void)state;
  uint64_t seed = 31;
  double worst = 0.0;
  for (int k = 0; k < 20; k++) {
    pol_force spring = {.type = POL_SPRING_DAMPER,
                        .stiffness = {5.0},
                        .damping = {2.0},
                        .length = 0.4,
                        .actuator = 1.0};
    poli_force_kernel built_in = {.force = &spring, .body = {0, 1}};
    random_numbers(&seed, built_in.point[0], 6);
    pol_force own = {.type = POL_CALLBACK_FORCE,
                     .bodies = {0, 1},
                     .callback = {.wrench = copied_wrench, .user = &built_in}};
    poli_force_kernel kernel = {.force = &own, .body = {0, 1}};
    poli_frame first, second;
    random_frame(&seed, &first);
    random_frame(&seed, &second);
    second.x[0] += 4.0; /* apart */

    double wrench[2][2][6];
    poli_force_blocks exact, formed;
    assert_int_equal(poli_force_wrenches(&built_in, 0.0, &first, &second, wrench[0]), POL_OK);
    assert_int_equal(poli_force_wrenches(&kernel, 0.0, &first, &second, wrench[1]), POL_OK);
    assert_near(wrench[0][0], wrench[1][0], 12, 0.0);
    assert_int_equal(poli_force_derivatives(&built_in, 0.0, &first, &second, &exact), POL_OK);
    assert_int_equal(poli_force_derivatives(&kernel, 0.0, &first, &second, &formed), POL_OK);
    for (int i = 0; i < 12; i++)
      for (int j = 0; j < 12; j++) {
        worst = fmax(worst, fabs(exact.by_position[i][j] - formed.by_position[i][j]));
        worst = fmax(worst, fabs(exact.by_velocity[i][j] - formed.by_velocity[i][j]));
      }
    assert_true(poli_force_potential(&kernel, &first, &second) == 0.0);
  }
  print_message("differences: %.2g from the exact derivatives\n", worst);
  assert_true(worst < 1e-8);
}

/* With the ground there are no columns of it, and a short length makes short steps. */
static void the_ground_is_not_varied(void **state)
{
  (void)state;
  pol_force support = {
      .type = POL_SPRING_DAMPER, .stiffness = {5.0}, .damping = {2.0}, .length = 1e-6};
  poli_force_kernel built_in = {.force = &support, .body = {POL_GROUND, 0}};
  pol_force own = {.type = POL_CALLBACK_FORCE,
                   .bodies = {POL_GROUND, 0},
                   .callback = {.wrench = copied_wrench, .length = 1e-6, .user = &built_in}};
  poli_force_kernel kernel = {.force = &own, .body = {POL_GROUND, 0}};
  poli_frame ground = {.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
  poli_frame body = ground;
  poli_force_blocks exact, formed;
  body.x[0] = 2e-6;
  assert_int_equal(poli_force_derivatives(&built_in, 0.0, &ground, &body, &exact), POL_OK);
  assert_int_equal(poli_force_derivatives(&kernel, 0.0, &ground, &body, &formed), POL_OK);
  for (int i = 0; i < 12; i++)
    for (int j = 0; j < 12; j++) {
      double expected = j < 6 ? 0.0 : exact.by_position[i][j];
      assert_near(&formed.by_position[i][j], &expected, 1, 1e-8);
    }
}

static pol_status give_up(double t, const pol_motion motion[2], double wrench[12], void *user)
{
  (void)t;
  (void)motion;
  wrench[0] = 1.0;
  return *(pol_status *)user;
}

static void answers_are_passed_on(void **state)
{
  (void)state;
  pol_status answer = POL_RETRY;
  pol_force own = {.type = POL_CALLBACK_FORCE,
                   .bodies = {0, 1},
                   .callback = {.wrench = give_up, .user = &answer}};
  poli_force_kernel kernel = {.force = &own, .body = {0, 1}};
  poli_frame frame = {.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
  poli_force_blocks blocks;
  const double zero[12] = {0.0};
  double wrench[2][6];
  for (int k = 0; k < 2; k++, answer = POL_CALLBACK) {
    assert_int_equal(poli_force_wrenches(&kernel, 0.0, &frame, &frame, wrench), answer);
    assert_near(wrench[0], zero, 12, 0.0);
    assert_int_equal(poli_force_derivatives(&kernel, 0.0, &frame, &frame, &blocks), answer);
  }
}

static void rules_are_kept(void **state)
{
  (void)state;
  const pol_body body = {.name = "body",
                         .mass = 1.0,
                         .inertia = {1, 0, 0, 0, 1, 0, 0, 0, 1},
                         .rotation = {1.0, 0.0, 0.0, 0.0}};
  const pol_force good = {.name = "own",
                          .type = POL_CALLBACK_FORCE,
                          .bodies = {POL_GROUND, 0},
                          .callback = {.wrench = give_up}};
  pol_mechanism *mechanism;
  assert_int_equal(pol_mechanism_create(&mechanism), POL_OK);
  assert_int_equal(pol_mechanism_add_body(mechanism, &body, NULL), POL_OK);
  for (int k = 0; k < 5; k++) {
    pol_force force = good;
    if (k == 0) force.callback.wrench = NULL;
    if (k == 1) force.bodies[0] = 0;
    if (k == 2) force.bodies[1] = 1;
    if (k == 3) force.callback.length = -1.0;
    assert_int_equal(pol_mechanism_add_force(mechanism, &force, NULL),
                     k == 4 ? POL_OK : POL_BAD_ARGUMENT);
  }
  pol_mechanism_free(&mechanism);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(differences_match_exact_derivatives),
      cmocka_unit_test(the_ground_is_not_varied),
      cmocka_unit_test(answers_are_passed_on),
      cmocka_unit_test(rules_are_kept),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
