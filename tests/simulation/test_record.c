/* Recorded quantities of the heavy top: names, units, order and values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "check.h"
#include "heavy_top.h"
#include "lie/small.h"

static const char *const expected[][2] = {
    {"t", "s"},
    {"top.position.x", "m"},
    {"top.position.y", "m"},
    {"top.position.z", "m"},
    {"top.quaternion.w", "1"},
    {"top.quaternion.x", "1"},
    {"top.quaternion.y", "1"},
    {"top.quaternion.z", "1"},
    {"top.velocity.x", "m/s"},
    {"top.velocity.y", "m/s"},
    {"top.velocity.z", "m/s"},
    {"top.angular_velocity.x", "rad/s"},
    {"top.angular_velocity.y", "rad/s"},
    {"top.angular_velocity.z", "rad/s"},
    {"top.angular_velocity_global.x", "rad/s"},
    {"top.angular_velocity_global.y", "rad/s"},
    {"top.angular_velocity_global.z", "rad/s"},
    {"tip.force.x", "N"},
    {"tip.force.y", "N"},
    {"tip.force.z", "N"},
    {"tip.torque.x", "N m"},
    {"tip.torque.y", "N m"},
    {"tip.torque.z", "N m"},
    {"tip.force_local.x", "N"},
    {"tip.force_local.y", "N"},
    {"tip.force_local.z", "N"},
    {"tip.torque_local.x", "N m"},
    {"tip.torque_local.y", "N m"},
    {"tip.torque_local.z", "N m"},
    {"tip.multiplier.1", "N"},
    {"tip.multiplier.2", "N"},
    {"tip.multiplier.3", "N"},
    {"energy.kinetic", "J"},
    {"energy.potential", "J"},
    {"energy.total", "J"},
    {"energy.dissipated", "J"},
    {"energy.applied", "J"},
    {"energy.drives", "J"},
    {"energy.balance", "J"},
    {"momentum.linear.x", "kg m/s"},
    {"momentum.linear.y", "kg m/s"},
    {"momentum.linear.z", "kg m/s"},
    {"momentum.angular.x", "kg m^2/s"},
    {"momentum.angular.y", "kg m^2/s"},
    {"momentum.angular.z", "kg m^2/s"},
    {"residual.position", "mixed"},
    {"residual.velocity", "mixed"},
    {"residual.acceleration", "mixed"},
    {"invariant.energy", "J"},
    {"invariant.angular.z", "kg m^2/s"},
    {"increment.energy", "J"},
    {"increment.angular.z", "kg m^2/s"},
};
enum { NUM_EXPECTED = sizeof expected / sizeof expected[0], NUM_TOTALS = 16, NUM_INVARIANTS = 4 };

static void channels_have_names_and_units(void **state)
{
  (void)state;
  pol_body body = heavy_top_body();
  pol_settings settings = pol_settings_default();
  pol_mechanism *mechanism;
  pol_simulation *simulation;
  pol_record *record;
  assert_int_equal(heavy_top_create(&mechanism, &body), POL_OK);
  assert_int_equal(pol_simulation_create(&simulation, mechanism, &settings, NULL), POL_OK);
  assert_int_equal(pol_record_create(&record, simulation), POL_OK);
  assert_int_equal(pol_record_count(record), NUM_EXPECTED);
  for (int i = 0; i < NUM_EXPECTED; i++) {
    assert_string_equal(pol_record_channel(record, i)->name, expected[i][0]);
    assert_string_equal(pol_record_channel(record, i)->unit, expected[i][1]);
  }
  pol_record_free(&record);
  assert_null(record);
  pol_record_free(&record);
  pol_simulation_free(&simulation);
  pol_mechanism_free(&mechanism);
}

/* The values in the order of the table above, put together from the formulation; gives their
 * number, since a joint that the coordinates satisfy by themselves has no multipliers. */
static int collect(const pol_simulation *simulation, double row[NUM_EXPECTED])
{
  const pol_formulation *formulation = pol_simulation_formulation(simulation);
  const pol_state *state = pol_simulation_state(simulation);
  const pol_summary *summary = pol_simulation_summary(simulation);
  pol_body_state body;
  pol_energy energy;
  pol_momentum momentum;
  pol_marker_state tip;
  pol_point at = pol_state_point(state);
  pol_formulation_body_state(formulation, state->q, state->v, 0, &body);
  pol_formulation_energy(formulation, &at, &energy);
  pol_formulation_momentum(formulation, state->q, state->v, &momentum);
  row[0] = state->t;
  memcpy(row + 1, body.position, sizeof body.position);
  memcpy(row + 4, body.quaternion, sizeof body.quaternion);
  memcpy(row + 8, body.velocity, sizeof body.velocity);
  memcpy(row + 11, body.angular_velocity, sizeof body.angular_velocity);
  memcpy(row + 14, body.angular_velocity_global, sizeof body.angular_velocity_global);
  pol_formulation_reaction(formulation, &at, 0, row + 17, row + 20);
  const pol_joint *joint = pol_mechanism_joint(pol_formulation_mechanism(formulation), 0);
  pol_formulation_marker_state(formulation, state->q, state->v, joint->marker[0], &tip);
  poli_m3_apply_transposed(tip.rotation, row + 17, row + 23);
  poli_m3_apply_transposed(tip.rotation, row + 20, row + 26);
  int multipliers;
  pol_formulation_joint_rows(formulation, 0, &multipliers);
  assert_int_equal(multipliers, pol_formulation_get_kind(formulation) == POL_SO3_PIVOT ? 0 : 3);
  memcpy(row + 29, state->lambda, (size_t)multipliers * sizeof(double));
  double *rest = row + 29 + multipliers;
  rest[0] = energy.kinetic;
  rest[1] = energy.potential;
  rest[2] = energy.kinetic + energy.potential;
  rest[3] = summary->work.dissipated;
  rest[4] = summary->work.applied;
  rest[5] = summary->work.drives;
  rest[6] = summary->energy_balance;
  memcpy(rest + 7, &momentum, sizeof momentum);
  rest[13] = summary->position_residual;
  rest[14] = summary->velocity_residual;
  rest[15] = summary->acceleration_residual;
  rest[16] = rest[2];
  rest[17] = momentum.angular[2];
  rest[18] = summary->invariants[0].increment;
  rest[19] = summary->invariants[1].increment;
  return 29 + multipliers + NUM_TOTALS + NUM_INVARIANTS;
}

static void rows_hold_the_state(void **state)
{
  (void)state;
  for (int kind = 0; kind < pol_formulation_count(); kind++) {
    pol_body body = heavy_top_body();
    pol_settings settings = pol_settings_default();
    pol_mechanism *mechanism;
    pol_simulation *simulation;
    pol_record *record;
    settings.formulation = (pol_formulation_kind)kind;
    assert_int_equal(heavy_top_create(&mechanism, &body), POL_OK);
    assert_int_equal(pol_simulation_create(&simulation, mechanism, &settings, NULL), POL_OK);
    assert_int_equal(pol_record_create(&record, simulation), POL_OK);
    /* Tait-Bryan angles would meet gimbal lock after 0.01 s. */
    int steps = kind == POL_TAIT_BRYAN ? 5 : 50;
    for (int n = 0; n <= steps; n++) {
      double row[NUM_EXPECTED + 1], values[NUM_EXPECTED];
      int count = collect(simulation, values);
      assert_int_equal(pol_record_count(record), count);
      row[count] = -1.0; /* must stay */
      pol_record_row(record, row);
      assert_memory_equal(row, values, (size_t)count * sizeof *values);
      assert_true(row[count] == -1.0);
      assert_true(row[4] >= 0.0);
      assert_int_equal(pol_simulation_step(simulation), POL_OK);
    }
    pol_record_free(&record);
    pol_simulation_free(&simulation);
    pol_mechanism_free(&mechanism);
  }
}

/* A revolute joint has three translations and two rotations: N and N m. */
static void multipliers_have_the_unit_of_their_row(void **state)
{
  (void)state;
  pol_body body = heavy_top_body();
  pol_settings settings = pol_settings_default();
  pol_mechanism *mechanism;
  pol_simulation *simulation;
  pol_record *record;
  const double origin[3] = {0.0, 0.0, 0.0};
  const double upright[4] = {1.0, 0.0, 0.0, 0.0};
  pol_joint joint = {.name = "hinge", .type = POL_REVOLUTE};
  int bodies, translations = 0, rotations = 0;
  body.given = 0;
  assert_int_equal(pol_mechanism_create(&mechanism), POL_OK);
  assert_int_equal(pol_mechanism_add_body(mechanism, &body, &bodies), POL_OK);
  assert_int_equal(
      pol_mechanism_add_marker_at(mechanism, "", POL_GROUND, origin, upright, &joint.marker[0]),
      POL_OK);
  assert_int_equal(
      pol_mechanism_add_marker_at(mechanism, "", bodies, origin, upright, &joint.marker[1]),
      POL_OK);
  assert_int_equal(pol_mechanism_add_joint(mechanism, &joint, NULL), POL_OK);
  assert_int_equal(pol_simulation_create(&simulation, mechanism, &settings, NULL), POL_OK);
  assert_int_equal(pol_record_create(&record, simulation), POL_OK);
  assert_int_equal(pol_record_count(record), NUM_EXPECTED + 2 + 2); /* angle, rate */
  for (int i = 0; i < pol_record_count(record); i++) {
    const pol_channel *channel = pol_record_channel(record, i);
    if (strncmp(channel->name, "hinge.multiplier.", 17) != 0) continue;
    translations += strcmp(channel->unit, "N") == 0;
    rotations += strcmp(channel->unit, "N m") == 0;
  }
  assert_int_equal(translations, 3);
  assert_int_equal(rotations, 2);
  pol_record_free(&record);
  pol_simulation_free(&simulation);
  pol_mechanism_free(&mechanism);
}

/* A ball that rolls down a slope has one holonomic row and two others, whose multipliers stand far
 * behind it in lambda: the normal force 19.32 N and the friction m g_x / (1 + m r^2 / J), 1 N,
 * each with a minus sign.  What follows them in the row has its own place still. */
static void rolling_has_all_its_multipliers(void **state)
{
  (void)state;
  static const double expected_values[] = {-19.32, 1.0, 0.0};
  pol_body ball = {.name = "ball",
                   .mass = 2.0,
                   .inertia = {0.008, 0, 0, 0, 0.008, 0, 0, 0, 0.008},
                   .position = {0, 0, 0.1},
                   .rotation = {1, 0, 0, 0}};
  const double gravity[3] = {1.75, 0.0, -9.66}, origin[3] = {0.0, 0.0, 0.0};
  const double upright[4] = {1.0, 0.0, 0.0, 0.0};
  pol_joint joint = {.name = "contact", .type = POL_ROLLING_SPHERE, .radius = 0.1};
  pol_settings settings = pol_settings_default();
  pol_mechanism *mechanism;
  pol_simulation *simulation;
  pol_record *record;
  assert_int_equal(pol_mechanism_create(&mechanism), POL_OK);
  pol_mechanism_set_gravity(mechanism, gravity);
  assert_int_equal(pol_mechanism_add_body(mechanism, &ball, NULL), POL_OK);
  pol_mechanism_add_marker_at(mechanism, "", POL_GROUND, origin, upright, &joint.marker[0]);
  pol_mechanism_add_marker_at(mechanism, "", 0, ball.position, upright, &joint.marker[1]);
  assert_int_equal(pol_mechanism_add_joint(mechanism, &joint, NULL), POL_OK);
  assert_int_equal(pol_simulation_create(&simulation, mechanism, &settings, NULL), POL_OK);
  assert_int_equal(pol_record_create(&record, simulation), POL_OK);
  /* and the energy, which rolling keeps, with its increment */
  assert_int_equal(pol_record_count(record), 17 + 12 + 3 + NUM_TOTALS + 2);
  double row[17 + 12 + 3 + NUM_TOTALS + 2];
  for (int n = 0; n < 10; n++) assert_int_equal(pol_simulation_step(simulation), POL_OK);
  pol_record_row(record, row);
  for (int i = 0; i < 3; i++) {
    assert_memory_equal(pol_record_channel(record, 29 + i)->name, "contact.multiplier.", 19);
    assert_near(&row[29 + i], &expected_values[i], 1, 1e-8);
  }
  const pol_summary *summary = pol_simulation_summary(simulation);
  assert_string_equal(pol_record_channel(record, 32)->name, "energy.kinetic");
  assert_true(row[32] == summary->energy.kinetic);
  assert_true(row[17 + 12 + 3 + NUM_TOTALS - 1] == summary->acceleration_residual);
  pol_record_free(&record);
  pol_simulation_free(&simulation);
  pol_mechanism_free(&mechanism);
}

/* A support and drag are recorded, a constant force is not.  The body is at rest 0.5 m beside the
 * support's anchor, or moves. */
static void forces_that_vary_are_recorded(void **state)
{
  (void)state;
  static const char *const names[] = {"hold.force.x", "hold.force.y", "hold.force.z",
                                      "air.force.x",  "air.force.y",  "air.force.z"};
  static const double expected_values[] = {-25.0, -6.0, 0.0, 0.0, -18.0, 0.0};
  pol_body body = heavy_top_body();
  pol_settings settings = pol_settings_default();
  pol_mechanism *mechanism;
  pol_simulation *simulation;
  pol_record *record;
  const pol_force forces[] = {
      {.name = "push", .type = POL_APPLIED_FORCE, .vector = {1, 2, 3}},
      {.name = "hold", .type = POL_SUPPORT, .stiffness = {50, 0, 0}, .damping = {0, 2, 0}},
      {.name = "air", .type = POL_DRAG, .coefficient = 2.0},
  };
  const double position[3] = {0.5, 1.0, 2.0}, velocity[3] = {0.0, 3.0, 0.0};
  memcpy(body.position, position, sizeof position);
  memcpy(body.velocity, velocity, sizeof velocity);
  assert_int_equal(pol_mechanism_create(&mechanism), POL_OK);
  assert_int_equal(pol_mechanism_add_body(mechanism, &body, NULL), POL_OK);
  for (int i = 0; i < 3; i++)
    assert_int_equal(pol_mechanism_add_force(mechanism, &forces[i], NULL), POL_OK);
  assert_int_equal(pol_simulation_create(&simulation, mechanism, &settings, NULL), POL_OK);
  assert_int_equal(pol_record_create(&record, simulation), POL_OK);
  assert_int_equal(pol_record_count(record), 17 + 6 + NUM_TOTALS);
  double row[17 + 6 + NUM_TOTALS];
  pol_record_row(record, row);
  for (int i = 0; i < 6; i++) {
    assert_string_equal(pol_record_channel(record, 17 + i)->name, names[i]);
    assert_string_equal(pol_record_channel(record, 17 + i)->unit, "N");
    assert_true(row[17 + i] == expected_values[i]);
  }
  assert_true(row[17 + 6 + 1] == 0.5 * 50.0 * 0.25); /* energy.potential */
  pol_record_free(&record);
  pol_simulation_free(&simulation);
  pol_mechanism_free(&mechanism);
}

/* Two channels of one name could not be distinguished in a result: a variable or state must not
 * have the name of a column, and is refused with the reason where it is added. */
static void equal_names_are_refused(void **state)
{
  (void)state;
  static const char *const names[] = {"x", "increment.energy", "energy.total", "a.position.x",
                                      "t_reactions"};
  for (int i = 0; i < 5; i++) {
    pol_mechanism *mechanism;
    pol_simulation *simulation;
    pol_record *record;
    pol_settings settings = pol_settings_default();
    const pol_body body = {.name = "a", .mass = 1.0, .point = 1, .rotation = {1, 0, 0, 0}};
    const pol_variable variable = {.name = names[i], .expression = "2*t"};
    const pol_state_variable same = {.name = names[i], .rate = "2*t"};
    assert_int_equal(pol_mechanism_create(&mechanism), POL_OK);
    assert_int_equal(pol_mechanism_add_body(mechanism, &body, NULL), POL_OK);
    const pol_status status = pol_mechanism_add_variable(mechanism, &variable, NULL);
    assert_int_equal(status, i == 0 ? POL_OK : POL_BAD_ARGUMENT);
    if (i > 0) {
      assert_int_equal(pol_mechanism_add_state(mechanism, &same, NULL), POL_BAD_ARGUMENT);
      const pol_errors *errors = pol_mechanism_errors(mechanism);
      assert_int_equal(errors->count, 2);
      for (int k = 0; k < 2; k++)
        assert_non_null(strstr(errors->items[k].rule, "name of a result column") != NULL
                            ? errors->items[k].rule
                            : strstr(errors->items[k].rule, "names of result columns"));
      pol_mechanism_clear_errors(mechanism);
    }
    assert_int_equal(pol_simulation_create(&simulation, mechanism, &settings, NULL), POL_OK);
    assert_int_equal(pol_record_create(&record, simulation), POL_OK);
    pol_record_free(&record);
    pol_simulation_free(&simulation);
    pol_mechanism_free(&mechanism);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(channels_have_names_and_units),
      cmocka_unit_test(rows_hold_the_state),
      cmocka_unit_test(multipliers_have_the_unit_of_their_row),
      cmocka_unit_test(rolling_has_all_its_multipliers),
      cmocka_unit_test(forces_that_vary_are_recorded),
      cmocka_unit_test(equal_names_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
