/* Joints that lock little, or by a mask: every coordinate that they leave free can be driven, is
 * recorded and carries a spring, and a generic joint with the mask of a revolute one is that. */
#include <stdio.h>
#include <string.h>

#include "simulation/simulate.h"

/* Runs to the end and gives the last value of each of these channels. */
static void run(const pol_model *model, int count, const char *const *names, double *values)
{
  pol_simulation *simulation = start(model);
  pol_record *record;
  double row[200];
  assert_int_equal(pol_record_create(&record, simulation), POL_OK);
  step_to_end(simulation);
  assert_true(pol_record_count(record) <= 200);
  pol_record_row(record, row);
  for (int k = 0; k < count; k++) {
    int i = 0;
    while (i < pol_record_count(record) &&
           strcmp(pol_record_channel(record, i)->name, names[k]) != 0)
      i++;
    if (i == pol_record_count(record)) fail_msg("no channel %s", names[k]);
    values[k] = row[i];
  }
  pol_record_free(&record);
  pol_simulation_free(&simulation);
}

/* Drives 0.3 sin t, which is what the channel must say, and its rate; with gravity in a direction
 * that needs all of them, in every formulation that takes any mechanism. */
static void every_coordinate_can_be_driven(void **state)
{
  (void)state;
  static const struct {
    const char *joint, *coordinate, *channel[2];
  } cases[] = {
#define GENERIC(locked) "\"generic\", \"locked\": [" locked "]"
      {"\"point-on-line\", \"axis\": [1, 2, 2]", "translation", {"j.displacement", "j.speed"}},
      {"\"point-in-plane\", \"axis\": [1, 2, 2]",
       "translation-x",
       {"j.displacement.x", "j.speed.x"}},
      {"\"point-in-plane\", \"axis\": [1, 2, 2]",
       "translation-y",
       {"j.displacement.y", "j.speed.y"}},
      {"\"parallel\", \"axis\": [1, 2, 2]", "translation-x", {"j.displacement.x", "j.speed.x"}},
      {"\"parallel\", \"axis\": [1, 2, 2]", "translation-y", {"j.displacement.y", "j.speed.y"}},
      {"\"parallel\", \"axis\": [1, 2, 2]", "translation-z", {"j.displacement.z", "j.speed.z"}},
      {"\"parallel\", \"axis\": [1, 2, 2]", "rotation", {"j.angle", "j.rate"}},
      {GENERIC("\"y\", \"z\""), "translation-x", {"j.displacement.x", "j.speed.x"}},
      {GENERIC("\"x\", \"rotation-x\""), "translation-y", {"j.displacement.y", "j.speed.y"}},
      {GENERIC("\"x\", \"y\""), "translation-z", {"j.displacement.z", "j.speed.z"}},
      {GENERIC("\"rotation-y\", \"rotation-z\""), "rotation", {"j.angle", "j.rate"}},
      {GENERIC("\"x\", \"y\", \"z\", \"rotation-x\", \"rotation-z\""),
       "rotation",
       {"j.angle", "j.rate"}},
      {GENERIC("\"x\", \"rotation-x\", \"rotation-y\""), "rotation", {"j.angle", "j.rate"}},
#undef GENERIC
  };
  static const char frame[] =
      "{\"gravity\": [1, 2, -3], \"bodies\": [{\"name\": \"b\", \"mass\": 2,"
      " \"inertia\": [0.1, 0.12, 0.15], \"position\": [0.1, 0.2, 0.3]}],"
      "\"joints\": [{\"name\": \"j\", \"type\": %s, \"bodies\": [\"ground\", \"b\"], \"point\":"
      " [0.1, 0, 0]}], \"drives\": [{\"name\": \"d\", \"joint\": \"j\", \"coordinate\": \"%s\","
      " \"function\": {\"expression\": \"0.3*sin(t)\"}}],"
      "\"simulation\": {\"index\": \"stabilized-2\", \"step\": 0.01, \"end\": 0.2}}";
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++)
    for (int kind = 0; kind < pol_formulation_count(); kind++) {
      char text[1000];
      double values[2];
      if (kind == POL_SO3_PIVOT) continue;
      snprintf(text, sizeof text, frame, cases[k].joint, cases[k].coordinate);
      pol_model *model = read_model_text(text);
      model->settings.formulation = (pol_formulation_kind)kind;
      run(model, 2, cases[k].channel, values);
      const double expected[2] = {0.3 * sin(0.2), 0.3 * cos(0.2)};
      assert_near(values, expected, 2, 1e-8);
      pol_model_free(&model);
    }
}

/* A flywheel on a spring, hinged about y by a revolute joint and by a mask: the same angle, the
 * same torque of the spring, and that of an oscillator, theta = sin(20 t) / 2 for 200 N m/rad and
 * 0.5 kg m^2. */
static void a_mask_makes_a_hinge_with_a_spring(void **state)
{
  (void)state;
  static const char *const joints[] = {
      "\"generic\", \"locked\": [\"x\", \"y\", \"z\", \"rotation-x\", \"rotation-z\"]",
      "\"revolute\", \"axis\": [0, 1, 0]"};
  static const char *const names[] = {"j.angle", "j.rate", "s.torque"};
  double values[2][3];
  for (int k = 0; k < 2; k++) {
    char text[1000];
    snprintf(text, sizeof text,
             "{\"bodies\": [{\"name\": \"b\", \"mass\": 2, \"inertia\": [0.3, 0.5, 0.4],"
             " \"angular_velocity\": [0, 10, 0]}],"
             "\"joints\": [{\"name\": \"j\", \"type\": %s, \"bodies\": [\"ground\", \"b\"],"
             " \"point\": [0, 0, 0]}],"
             "\"forces\": [{\"name\": \"s\", \"type\": \"joint-spring\", \"joint\": \"j\","
             " \"stiffness\": 200}],"
             "\"simulation\": {\"step\": 1e-4, \"end\": 0.1}}",
             joints[k]);
    pol_model *model = read_model_text(text);
    run(model, 3, names, values[k]);
    pol_model_free(&model);
  }
  const double theta = 0.5 * sin(20.0 * 0.1), rate = 10.0 * cos(20.0 * 0.1);
  const double expected[3] = {theta, rate, -200.0 * theta};
  assert_near(values[0], values[1], 3, 1e-9);
  for (int i = 0; i < 3; i++) assert_near(&values[0][i], &expected[i], 1, 1e-4);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_coordinate_can_be_driven),
      cmocka_unit_test(a_mask_makes_a_hinge_with_a_spring),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
