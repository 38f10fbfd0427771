/* Redundant constraints: found, named, left out, and the motion right. */
#include <polhode/polhode.h>

#include <stdio.h>
#include <string.h>

#include "check.h"

/* A planar four-bar about the y axis: crank, coupler and rocker; `loop` are the types of its
 * joints. */
static const char four_bar[] =
    "{ \"gravity\": [0, 0, -9.81], \"bodies\": ["
    "{\"name\": \"crank\", \"mass\": 1, \"inertia\": [0.01, 0.02, 0.02], \"position\": [0, 0, 0.5],"
    " \"angular_velocity\": [0, 3, 0]},"
    "{\"name\": \"coupler\", \"mass\": 3, \"inertia\": [0.01, 0.7, 0.7], \"position\": [1, 0, "
    "1.5]},"
    "{\"name\": \"rocker\", \"mass\": 2, \"inertia\": [0.01, 0.3, 0.3], \"position\": [2, 0, 1]}],"
    "\"joints\": ["
    "{\"name\": \"A\", \"type\": \"revolute\", \"bodies\": [\"ground\", \"crank\"], \"point\": [0, "
    "0, 0],"
    " \"axis\": [0, 1, 0]},"
    "{\"name\": \"B\", \"type\": %s, \"bodies\": [\"crank\", \"coupler\"], \"point\": [0, 0, 1]%s},"
    "{\"name\": \"C\", \"type\": %s, \"bodies\": [\"coupler\", \"rocker\"], \"point\": [2, 0, "
    "2]%s},"
    "{\"name\": \"D\", \"type\": \"revolute\", \"bodies\": [\"ground\", \"rocker\"], \"point\": "
    "[2, 0, 0],"
    " \"axis\": [0, 1, 0]}],"
    "\"simulation\": {\"step\": 0.001, \"end\": 0.5} }";

static pol_model *read_four_bar(int redundant)
{
  char text[3000];
  pol_errors errors = {0};
  pol_model *model = NULL;
  if (redundant)
    snprintf(text, sizeof text, four_bar, "\"revolute\"", ", \"axis\": [0, 1, 0]", "\"revolute\"",
             ", \"axis\": [0, 1, 0]");
  else
    snprintf(text, sizeof text, four_bar, "\"universal\"", ", \"axes\": [[1, 0, 0], [0, 1, 0]]",
             "\"spherical\"", "");
  if (pol_model_read_text(&model, text, 0, NULL, &errors))
    fail_msg("%s: %s", errors.items[0].path, errors.items[0].rule);
  return model;
}

/* Runs and gives the rocker's state at the end. */
static pol_body_state run(const pol_model *model, const pol_settings *settings, int expected)
{
  pol_simulation *simulation;
  pol_diagnostics diagnostics;
  pol_body_state rocker;
  int count;
  if (pol_simulation_create(&simulation, model->mechanism, settings, &diagnostics))
    fail_msg("%s", diagnostics.message);
  pol_simulation_dropped(simulation, &count);
  assert_int_equal(count, expected);
  while (!pol_simulation_finished(simulation))
    assert_int_equal(pol_simulation_step(simulation), POL_OK);
  const pol_state *state = pol_simulation_state(simulation);
  pol_formulation_body_state(pol_simulation_formulation(simulation), state->q, state->v, 2,
                             &rocker);
  assert_true(pol_simulation_summary(simulation)->max_position_residual < 1e-10 ||
              settings->options.index == POL_INDEX_2);
  pol_simulation_free(&simulation);
  return rocker;
}

static void planar_loops_move_as_if_nothing_were_redundant(void **state)
{
  (void)state;
  pol_model *loop = read_four_bar(1), *free_loop = read_four_bar(0);
  for (int kind = 0; kind < POL_TAIT_BRYAN; kind++)
    for (int index = POL_INDEX_3; index <= POL_INDEX_2_STABILIZED; index++)
      for (int solver = POL_SOLVER_DENSE; solver <= POL_SOLVER_SPARSE; solver++) {
        pol_settings settings = loop->settings;
        if (kind == POL_SO3_PIVOT) continue;
        settings.formulation = (pol_formulation_kind)kind;
        settings.options.index = (pol_index)index;
        settings.options.solver = (pol_solver_kind)solver;
        pol_body_state a = run(loop, &settings, 3), b = run(free_loop, &settings, 0);
        double tolerance = index == POL_INDEX_2 ? 1e-5 : 1e-7; /* index 2 drifts along other rows */
        assert_near(a.position, b.position, 3, tolerance);
        assert_near(a.angular_velocity, b.angular_velocity, 3, 100.0 * tolerance);
      }
  pol_model_free(&loop);
  pol_model_free(&free_loop);
}

/* Refused, with all three named; and nothing is dropped where nothing is redundant. */
static void redundant_rows_are_named(void **state)
{
  (void)state;
  pol_model *loop = read_four_bar(1);
  pol_simulation *simulation;
  pol_diagnostics diagnostics;
  loop->settings.options.redundant = POL_REDUNDANT_REFUSE;
  assert_int_equal(
      pol_simulation_create(&simulation, loop->mechanism, &loop->settings, &diagnostics),
      POL_SINGULAR);
  assert_non_null(strstr(diagnostics.message, "3 constraints follow from the others: joint '"));
  pol_model_free(&loop);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(planar_loops_move_as_if_nothing_were_redundant),
      cmocka_unit_test(redundant_rows_are_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
