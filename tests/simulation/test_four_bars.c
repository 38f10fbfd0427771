/* Forty coupled four-bars, links of 1 m and 1 kg, as in the benchmark of IFToMM: in each flat
 * position many freedoms open at once.  Which redundant constraints are best left out changes on
 * the way; with so many of them they are chosen anew only after a step has failed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulation/simulate.h"

enum { COUNT = 40, SIZE = 100000 };

/* Appends a body and its comma. */
static size_t add_body(char *text, size_t used, char kind, int i, double x, double z,
                       double inertia, double velocity, double turn)
{
  used += (size_t)snprintf(text + used, SIZE - used,
                           "{\"name\":\"%c%d\",\"mass\":1,\"inertia\":[%g,0.08,%g],\"position\":"
                           "[%g,0,%g],\"velocity\":[%g,0,0],\"angular_velocity\":[0,%g,0]},",
                           kind, i, inertia, 0.081 - inertia, x, z, velocity, turn);
  return used;
}

static size_t add_joint(char *text, size_t used, char kind, int i, const char *a, char b, int k,
                        int x, int z)
{
  used += (size_t)snprintf(text + used, SIZE - used,
                           "{\"name\":\"%c%d\",\"type\":\"revolute\",\"bodies\":[\"%s\",\"%c%d\"],"
                           "\"point\":[%d,0,%d],\"axis\":[0,1,0]},",
                           kind, i, a, b, k, x, z);
  return used;
}

static pol_model *four_bars(void)
{
  char *text = malloc(SIZE), name[16];
  assert_non_null(text);
  size_t used = (size_t)snprintf(text, SIZE, "{\"gravity\":[0,0,-9.81],\"bodies\":[");
  for (int i = 0; i <= COUNT; i++) used = add_body(text, used, 'r', i, i, 0.5, 0.08, 0.5, 1.0);
  for (int i = 0; i < COUNT; i++) used = add_body(text, used, 'c', i, i + 0.5, 1, 0.001, 1.0, 0.0);
  used += (size_t)snprintf(text + used - 1, SIZE - used, "],\"joints\":[") - 1;
  for (int i = 0; i <= COUNT; i++) used = add_joint(text, used, 'g', i, "ground", 'r', i, i, 0);
  for (int i = 0; i < COUNT; i++) {
    snprintf(name, sizeof name, "r%d", i);
    used = add_joint(text, used, 'a', i, name, 'c', i, i, 1);
    snprintf(name, sizeof name, "r%d", i + 1);
    used = add_joint(text, used, 'b', i, name, 'c', i, i + 1, 1);
  }
  snprintf(text + used - 1, SIZE - used,
           "],\"simulation\":{\"index\":\"stabilized-2\",\"step\":0.005,\"end\":3.5}}");
  pol_model *model = read_model_text(text);
  free(text);
  return model;
}

static void flat_positions_are_passed(void **state)
{
  (void)state;
  pol_model *model = four_bars();
  pol_simulation *simulation = start(model);
  step_to_end(simulation);
  const pol_summary *summary = pol_simulation_summary(simulation);
  assert_true(summary->counts.rejected > 0); /* else this test has lost its point */
  pol_simulation_free(&simulation);
  pol_model_free(&model);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(flat_positions_are_passed)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
