/* so3 has no constraints for the pivots of its bodies: the forces there follow from Newton's law
 * and all else that acts on a body.  They are compared with the multipliers of so3xr3, for bodies
 * on which joints, a drive, a coupling and a spring act too. */
#include <math.h>
#include <string.h>

#include "simulation/simulate.h"

/* Arms on pivots, a bead on each; a rope couples how far the beads are out, a drive lifts the tip
 * of the first arm. */
static const char beads[] =
    "{ \"gravity\": [0.3, -1, -9.81], \"bodies\": ["
    "{\"name\": \"a\", \"mass\": 2, \"inertia\": [0.3, 0.4, 0.5], \"position\": [0.5, 0, 0]},"
    "{\"name\": \"b\", \"mass\": 1.5, \"inertia\": [0.2, 0.3, 0.4], \"position\": [0.1, 1, 0.4]},"
    "{\"name\": \"p\", \"type\": \"point\", \"mass\": 0.7, \"position\": [0.3, 0, 0]},"
    "{\"name\": \"q\", \"type\": \"point\", \"mass\": 0.4, \"position\": [0.1, 1, 0.6]}],"
    "\"markers\": [{\"name\": \"tip\", \"body\": \"a\", \"position\": [0.5, 0, 0]}],"
    "\"joints\": ["
    "{\"name\": \"pivot a\", \"type\": \"spherical\", \"bodies\": [\"ground\", \"a\"],"
    " \"point\": [0, 0, 0]},"
    "{\"name\": \"pivot b\", \"type\": \"spherical\", \"bodies\": [\"b\", \"ground\"],"
    " \"point\": [0, 1, 0]},"
    "{\"name\": \"slot a\", \"type\": \"point-on-line\", \"bodies\": [\"a\", \"p\"],"
    " \"point\": [0.3, 0, 0], \"axis\": [1, 0, 0.2]},"
    "{\"name\": \"slot b\", \"type\": \"point-on-line\", \"bodies\": [\"b\", \"q\"],"
    " \"point\": [0.1, 1, 0.6], \"axis\": [0, 0.3, 1]}],"
    "\"forces\": [{\"name\": \"spring\", \"type\": \"spring-damper\", \"bodies\": [\"a\", \"b\"],"
    " \"points_global\": [[1, 0, 0], [0, 1, 0.8]], \"stiffness\": 20, \"damping\": 1}],"
    "\"drives\": [{\"name\": \"lift\", \"marker\": \"tip\", \"coordinate\": \"z\","
    " \"function\": {\"type\": \"polynomial\", \"coefficients\": [0, 0, 0.5]}}],"
    "\"couplings\": [{\"name\": \"rope\", \"joints\": [\"slot a\", \"slot b\"],"
    " \"coordinates\": [\"translation\", \"translation\"], \"factors\": [1, -2]}],"
    "\"simulation\": {\"index\": \"stabilized-2\", \"step\": 0.01, \"end\": 0.2} }";
enum { NUM_JOINTS = 4, NUM_NUMBERS = 3 * NUM_JOINTS + 2 };

/* The forces of all joints and the efforts of the rope. */
static void read_forces(const pol_simulation *simulation, double numbers[NUM_NUMBERS])
{
  const pol_formulation *formulation = pol_simulation_formulation(simulation);
  const pol_point at = pol_state_point(pol_simulation_state(simulation));
  double torque[3];
  for (int i = 0; i < NUM_JOINTS; i++)
    pol_formulation_reaction(formulation, &at, i, numbers + 3 * i, torque);
  pol_formulation_coupling_effort(formulation, &at, 0, numbers + 3 * NUM_JOINTS);
}

/* The largest difference between the two formulations at the start and at the end, N. */
static void differences(double step, double *at_start, double *at_end)
{
  static const pol_formulation_kind kinds[2] = {POL_SO3_PIVOT, POL_SO3XR3};
  double first[2][NUM_NUMBERS], last[2][NUM_NUMBERS];
  pol_model *model = read_model_text(beads);
  model->settings.step = step;
  model->settings.options.newton.tolerance = 1e-12;
  for (int k = 0; k < 2; k++) {
    model->settings.formulation = kinds[k];
    pol_simulation *simulation = start(model);
    read_forces(simulation, first[k]);
    step_to_end(simulation);
    read_forces(simulation, last[k]);
    pol_simulation_free(&simulation);
  }
  *at_start = *at_end = 0.0;
  for (int i = 0; i < NUM_NUMBERS; i++) {
    *at_start = fmax(*at_start, fabs(first[0][i] - first[1][i]));
    *at_end = fmax(*at_end, fabs(last[0][i] - last[1][i]));
    if (i % 3 == 0) assert_true(fabs(last[0][i]) > 0.1); /* there is something to compare */
  }
  const double *efforts = last[0] + 3 * NUM_JOINTS; /* in the ratio of the factors */
  assert_near(&efforts[1], &(double){-2.0 * efforts[0]}, 1, 1e-12);
  pol_model_free(&model);
}

static void pivots_exert_the_forces_of_constraints(void **state)
{
  (void)state;
  double start, coarse, fine;
  differences(0.005, &start, &coarse);
  assert_true(start < 1e-10);
  differences(0.0025, &start, &fine);
  assert_true(fine < 1e-4 && coarse / fine > 3.5 && coarse / fine < 4.5);
}

/* The efforts of a coupling are recorded under its name. */
static void efforts_of_couplings_are_recorded(void **state)
{
  (void)state;
  static const char *const names[2] = {"rope.force.1", "rope.force.2"};
  pol_model *model = read_model_text(beads);
  pol_simulation *simulation = start(model);
  pol_record *record;
  double row[200], numbers[NUM_NUMBERS];
  assert_int_equal(pol_record_create(&record, simulation), POL_OK);
  assert_true(pol_record_count(record) <= 200);
  take_step(simulation);
  pol_record_row(record, row);
  read_forces(simulation, numbers);
  int found = 0;
  for (int i = 0; i < pol_record_count(record); i++)
    for (int k = 0; k < 2; k++)
      if (strcmp(pol_record_channel(record, i)->name, names[k]) == 0) {
        assert_string_equal(pol_record_channel(record, i)->unit, "N");
        assert_true(row[i] == numbers[3 * NUM_JOINTS + k]);
        found++;
      }
  assert_int_equal(found, 2);
  pol_record_free(&record);
  pol_simulation_free(&simulation);
  pol_model_free(&model);
}

/* An event cannot read what has no multiplier. */
static void events_cannot_read_pivots(void **state)
{
  (void)state;
  static const pol_event_rule rule = {.name = "loose", .expression = "'pivot a'.force.x"};
  pol_model *model = read_model_text(beads);
  pol_simulation *simulation;
  pol_diagnostics d;
  model->settings.num_events = 1;
  model->settings.events = &rule;
  model->settings.formulation = POL_SO3_PIVOT;
  assert_int_equal(pol_simulation_create(&simulation, model->mechanism, &model->settings, &d),
                   POL_BAD_ARGUMENT);
  assert_non_null(strstr(
      d.message, "so3 has no multipliers for joint 'pivot a', whose reaction an event reads"));
  pol_model_free(&model);
}

/* A velocity alone is given: the nearest motion about the pivot, in the metric of the masses, is
 * v = r x (m r x V)/(J + m r^2) for a spin across the arm, as in all formulations. */
static void velocities_become_spins(void **state)
{
  (void)state;
  static const double arm = 0.5, mass = 2.0, J[3] = {0.3, 0.4, 0.5}, given[3] = {0.0, 1.2, -0.7};
  double y = mass * arm * -given[2] / (J[1] + mass * arm * arm);
  double z = mass * arm * given[1] / (J[2] + mass * arm * arm);
  const double spin[3] = {0.0, y, z}, velocity[3] = {0.0, arm * z, -arm * y};
  pol_model *model = read_model_text(
      "{ \"bodies\": [{\"name\": \"arm\", \"mass\": 2, \"inertia\": [0.3, 0.4, 0.5],"
      " \"position\": [0.5, 0, 0], \"velocity\": [0, 1.2, -0.7]}],"
      "\"joints\": [{\"name\": \"pivot\", \"type\": \"spherical\", \"bodies\": [\"ground\","
      " \"arm\"], \"point\": [0, 0, 0]}],"
      "\"simulation\": {\"formulation\": \"so3\", \"step\": 0.01, \"end\": 0.1} }");
  pol_simulation *simulation = start(model);
  const pol_state *now = pol_simulation_state(simulation);
  pol_body_state body;
  pol_formulation_body_state(pol_simulation_formulation(simulation), now->q, now->v, 0, &body);
  assert_near(body.velocity, velocity, 3, 1e-14);
  assert_near(body.angular_velocity, spin, 3, 1e-14);
  pol_simulation_free(&simulation);
  pol_model_free(&model);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pivots_exert_the_forces_of_constraints),
      cmocka_unit_test(efforts_of_couplings_are_recorded),
      cmocka_unit_test(events_cannot_read_pivots),
      cmocka_unit_test(velocities_become_spins),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
