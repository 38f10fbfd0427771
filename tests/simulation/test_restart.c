/* Restart: a run that is saved at ten random steps and continued from each in a new simulation has
 * the rows, the counts and the summary of the uninterrupted one, to the last bit, for each family
 * of methods, with fixed and variable steps.  Damaged and foreign states are refused. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulation/simulate.h"

#define MODELS POLHODE_SOURCE_DIR "/models/"
#define S "simulation."

enum { MAX_CHANGES = 8, NUM_RESTARTS = 10, MOST_ROWS = 4000 };

typedef struct run {
  const char *model;
  const char *changes[MAX_CHANGES];
} run;

/* All rows of a run, one behind the other, and what it ends with. */
typedef struct history {
  int columns, rows;
  double *row;
  pol_counts counts;
  pol_summary summary;
} history;

static pol_model *read_run(const run *own)
{
  int count = 0;
  char path[512];
  while (count < MAX_CHANGES && own->changes[count]) count++;
  snprintf(path, sizeof path, MODELS "%s.json", own->model);
  return read_model_with(path, count, own->changes);
}

/* A state as pol_simulation_save writes it; to be freed. */
static void *save(pol_simulation *simulation, size_t *size)
{
  assert_int_equal(pol_simulation_save(simulation, NULL, size), POL_OK);
  void *bytes = malloc(*size);
  assert_non_null(bytes);
  assert_int_equal(pol_simulation_save(simulation, bytes, size), POL_OK);
  return bytes;
}

/* Steps to the end, with a row before the first step and one after each; states at the steps in
 * `at`. */
static history follow(pol_simulation *simulation, const int *at, void **states, size_t *sizes)
{
  pol_record *record;
  assert_int_equal(pol_record_create(&record, simulation), POL_OK);
  history h = {.columns = pol_record_count(record)};
  h.row = calloc((size_t)h.columns * MOST_ROWS, sizeof *h.row);
  assert_non_null(h.row);
  for (;;) {
    pol_record_row(record, h.row + (size_t)h.columns * (size_t)h.rows);
    for (int k = 0; at && k < NUM_RESTARTS; k++)
      if (at[k] == h.rows) states[k] = save(simulation, &sizes[k]);
    h.rows++;
    assert_true(h.rows < MOST_ROWS);
    if (pol_simulation_finished(simulation)) break;
    take_step(simulation);
  }
  h.counts = pol_simulation_summary(simulation)->counts;
  h.summary = *pol_simulation_summary(simulation);
  pol_record_free(&record);
  return h;
}

/* The second history begins at row `first` of the other. */
static void assert_same(const run *own, const history *all, const history *rest, int first)
{
  const size_t columns = (size_t)all->columns;
  assert_int_equal(all->columns, rest->columns);
  for (size_t i = 0; i < columns * (size_t)rest->rows; i++)
    if (memcmp(&all->row[columns * (size_t)first + i], &rest->row[i], sizeof(double)) != 0)
      fail_msg("%s %s %s: row %zu of %d from %d on, column %zu: %.17g is not %.17g", own->model,
               own->changes[0], own->changes[1] ? own->changes[1] : "", (size_t)first + i / columns,
               all->rows, first, i % columns, rest->row[i], all->row[columns * (size_t)first + i]);
  if (all->rows != first + rest->rows)
    fail_msg("%s %s %s: %d rows from %d on, of %d", own->model, own->changes[0], own->changes[1],
             rest->rows, first, all->rows);
  assert_memory_equal(&all->counts, &rest->counts, sizeof all->counts);
  const pol_summary *a = &all->summary, *b = &rest->summary;
  assert_memory_equal(&a->initial_energy, &b->initial_energy,
                      offsetof(pol_summary, num_invariants) -
                          offsetof(pol_summary, initial_energy));
  for (int i = 0; i < a->num_invariants; i++) {
    assert_true(a->invariants[i].max_drift == b->invariants[i].max_drift);
    assert_true(a->invariants[i].max_increment == b->invariants[i].max_increment);
  }
  assert_int_equal(a->singular.count, b->singular.count);
  assert_int_equal(a->lost_turns.count, b->lost_turns.count);
  assert_int_equal(a->num_warnings, b->num_warnings);
  for (int i = 0; i < a->num_warnings; i++)
    assert_string_equal(a->warnings[i].message, b->warnings[i].message);
}

static void restart(const run *own, uint64_t *seed)
{
  pol_model *model = read_run(own);
  pol_simulation *simulation = start(model);
  const history all = follow(simulation, NULL, NULL, NULL);
  pol_simulation_free(&simulation);

  /* random steps, the start and the end among them */
  void *states[NUM_RESTARTS] = {NULL};
  size_t sizes[NUM_RESTARTS];
  int at[NUM_RESTARTS];
  for (int k = 0; k < NUM_RESTARTS; k++)
    at[k] = k == 0 ? 0 : k == 1 ? all.rows - 1 : (int)(fabs(random_number(seed)) * all.rows);
  simulation = start(model);
  history again = follow(simulation, at, states, sizes);
  pol_simulation_free(&simulation);
  assert_same(own, &all, &again, 0);
  free(again.row);

  for (int k = 0; k < NUM_RESTARTS; k++) {
    char message[256];
    simulation = start(model);
    assert_non_null(states[k]);
    if (pol_simulation_load(simulation, states[k], sizes[k], message, sizeof message) != POL_OK)
      fail_msg("%s: %s", own->model, message);
    history rest = follow(simulation, NULL, NULL, NULL);
    pol_simulation_free(&simulation);
    assert_same(own, &all, &rest, at[k]);
    free(rest.row);
    free(states[k]);
  }
  free(all.row);
  pol_model_free(&model);
}

static void restart_all(const run *runs, size_t count)
{
  uint64_t seed = 16;
  for (size_t i = 0; i < count; i++) restart(&runs[i], &seed);
}

#define RESTART_ALL(runs) restart_all((runs), sizeof(runs) / sizeof(runs)[0])

#define TOP "bruels-cardona-2010/heavy_top"
#define CHAIN "examples/chain_20"
#define FOUR_BAR "examples/four_bar_motor"
#define GEOM1 S "method=geom1"
#define FIXED S "step=2e-3"
#define SHORT S "end=0.3"
#define VARIABLE S "rtol=1e-5"

static void generalized_alpha_continues(void **state)
{
  static const run runs[] = {
      {TOP, {GEOM1, FIXED, SHORT, S "index=3"}},
      {TOP, {GEOM1, FIXED, SHORT, S "index=2"}},
      {TOP, {GEOM1, FIXED, SHORT, S "index=stabilized-2"}},
      {TOP, {GEOM1, FIXED, SHORT, S "index=stabilized-2", S "solver=sparse"}},
      {TOP, {GEOM1, FIXED, SHORT, S "solver=dense", S "formulation=se3"}},
      {TOP, {S "method=hht", FIXED, SHORT}},
      {TOP, {GEOM1, FIXED, S "end=0.301", S "newton.kind=full"}},
      {CHAIN, {GEOM1, S "step=5e-3", S "end=0.5", S "index=3"}},
      {CHAIN, {GEOM1, S "step=5e-3", S "end=0.5", S "index=2"}},
      {CHAIN, {GEOM1, S "step=5e-3", S "end=0.5", S "index=stabilized-2"}},
      {CHAIN, {GEOM1, S "step=5e-3", S "end=0.5", S "solver=sparse"}},
      {CHAIN, {GEOM1, S "step=5e-3", S "end=0.5", S "solver=dense", S "index=stabilized-2"}},
      {"examples/suspension", {GEOM1, S "step=5e-3", S "end=0.5"}},
      {"examples/friction_block", {GEOM1, S "step=5e-3", S "end=0.5"}},
  };
  (void)state;
  RESTART_ALL(runs);
}

static void generalized_alpha_continues_with_variable_steps(void **state)
{
  static const run runs[] = {
      {TOP, {GEOM1, VARIABLE, SHORT, S "index=3"}},
      {TOP, {GEOM1, VARIABLE, SHORT, S "index=2"}},
      {TOP, {GEOM1, VARIABLE, SHORT, S "index=stabilized-2"}},
      {TOP, {GEOM1, VARIABLE, SHORT, S "index=stabilized-2", S "solver=sparse"}},
      {TOP, {S "method=hht", VARIABLE, SHORT}},
      {CHAIN, {GEOM1, VARIABLE, S "end=0.5"}},
      {CHAIN, {GEOM1, VARIABLE, S "end=0.5", S "solver=sparse"}},
      {CHAIN, {GEOM1, VARIABLE, S "end=0.5", S "output.step=0.01"}},
      {"examples/double_pendulum", {GEOM1, VARIABLE, S "end=1", S "control.controller=pi"}},
  };
  (void)state;
  RESTART_ALL(runs);
}

static void variational_and_energy_momentum_methods_continue(void **state)
{
  static const run runs[] = {
      {TOP, {S "method=vi-a", FIXED, SHORT, S "formulation=directors"}},
      {"kinon-betsch-schneider-2023/four_particles", {S "method=vi-s", S "step=1e-3", S "end=0.1"}},
      {TOP, {S "method=vi-b", FIXED, SHORT, S "formulation=directors"}},
      {TOP, {S "method=em", FIXED, SHORT, S "formulation=directors", S "solver=sparse"}},
      {TOP, {S "method=em", FIXED, SHORT, S "formulation=euler-parameters"}},
      {TOP, {S "method=em-g", FIXED, SHORT, S "formulation=euler-parameters", S "solver=dense"}},
      {TOP, {S "method=midpoint", FIXED, S "end=0.301", S "formulation=euler-parameters"}},
      {TOP, {S "method=rattle", FIXED, SHORT, S "formulation=directors"}},
  };
  (void)state;
  RESTART_ALL(runs);
}

static void rattle_continues(void **state)
{
  static const run runs[] = {
      {TOP, {S "method=rattle", FIXED, SHORT, S "order=2"}},
      {TOP, {S "method=rattle", FIXED, SHORT, S "order=4"}},
      {TOP, {S "method=rattle", FIXED, SHORT, S "order=8"}},
      {TOP, {S "method=rattle", VARIABLE, SHORT, S "order=2"}},
      {TOP, {S "method=rattle", VARIABLE, S "end=1", S "order=4"}},
      {TOP, {S "method=rattle", S "rtol=1e-9", S "end=1", S "order=8", S "output.step=0.01"}},
      {CHAIN, {S "method=rattle", S "step=5e-3", S "end=0.5", S "order=2"}},
      {CHAIN, {S "method=rattle", VARIABLE, S "end=0.5", S "order=4"}},
      {"examples/suspension", {S "method=rattle", S "step=5e-3", S "end=0.5", S "order=2"}},
      {"examples/suspension", {S "method=rattle", VARIABLE, S "end=0.5", S "order=4"}},
      {"examples/friction_block", {S "method=rattle", S "step=5e-3", S "end=0.5", S "order=2"}},
      {"examples/friction_block", {S "method=rattle", VARIABLE, S "end=0.5", S "order=2"}},
  };
  (void)state;
  RESTART_ALL(runs);
}

#define HARD "joints[0].limits.restitution=0.5"

/* Redundant constraints, singular positions, turns, events with resets, hard stops, friction,
 * first-order states. */
static void what_steps_remember_continues(void **state)
{
  static const run runs[] = {
      {FOUR_BAR, {GEOM1, S "step=5e-3", S "end=2"}},
      {FOUR_BAR, {GEOM1, S "step=5e-3", S "end=2", S "redundant=minimum-norm"}},
      {FOUR_BAR, {GEOM1, S "step=5e-3", S "end=2", S "redundant=minimum-norm", S "solver=sparse"}},
      {FOUR_BAR, {GEOM1, VARIABLE, S "end=2", S "index=stabilized-2"}},
      {FOUR_BAR, {S "method=rattle", S "step=5e-3", S "end=2", S "order=2"}},
      {FOUR_BAR, {S "method=rattle", VARIABLE, S "end=2", S "order=4"}},
      {"examples/squeezer", {GEOM1, S "steps=fixed", S "step=1e-4", S "end=0.02"}},
      {"examples/stewart_platform", {GEOM1, S "step=1e-2", S "end=1"}},
      {"examples/bouncing_ball", {GEOM1, S "steps=fixed", S "step=1e-2", S "end=3"}},
      {"examples/bouncing_ball", {GEOM1, VARIABLE, S "end=3"}},
      {"examples/door", {GEOM1, HARD, S "step=1e-2", S "end=4"}},
      {"examples/door", {GEOM1, HARD, VARIABLE, S "end=4"}},
      {"examples/door", {S "method=rattle", HARD, S "step=1e-2", S "end=4", S "order=2"}},
      {"examples/stick_slip", {GEOM1, S "step=2e-3", S "end=0.8"}},
      {"examples/bouncing_ball", {S "method=rattle", S "steps=fixed", S "step=1e-2", S "end=3"}},
      {"examples/bouncing_ball", {S "method=rattle", VARIABLE, S "end=3", S "order=4"}},
      {"examples/planetary_gear", {GEOM1, S "step=1e-2", S "end=1"}},
      {"examples/pid_pendulum", {GEOM1, S "step=1e-2", S "end=1"}},
      {"examples/lag_actuator", {GEOM1, VARIABLE, S "end=1"}},
      {"examples/governor", {GEOM1, VARIABLE, S "end=1"}},
  };
  (void)state;
  RESTART_ALL(runs);
}

/* --- a later end ------------------------------------------------------------------------------ */

/* The rows of `all` from that on that is the first of the others. */
static int find_row(const history *all, const history *rest)
{
  for (int n = 0; n < all->rows; n++)
    if (all->row[(size_t)all->columns * (size_t)n] == rest->row[0]) return n;
  fail_msg("there is no row of t = %.17g", rest->row[0]);
  return -1;
}

/* The run with two more changes. */
static pol_model *read_changed(const run *own, const char *end, const char *span)
{
  run changed = *own;
  int count = 0;
  while (changed.changes[count]) count++;
  assert_true(count + 2 <= MAX_CHANGES);
  changed.changes[count] = end;
  changed.changes[count + 1] = span;
  return read_run(&changed);
}

/* A run that is saved at its end and at a random step continues to a later end with the bits of a
 * run that had it at once; with steps of variable size, one of the same span.  Whether the state of
 * the end goes on later than the other one: not if a few long steps reach the end. */
static int extend(const run *own, const char *end, const char *later, const char *span,
                  uint64_t *seed)
{
  char message[256];
  int late = 0;
  pol_model *whole = read_changed(own, later, span), *first = read_changed(own, end, NULL);
  pol_model *second = read_changed(own, later, NULL);
  pol_simulation *simulation = start(whole);
  const history all = follow(simulation, NULL, NULL, NULL);
  pol_simulation_free(&simulation);

  simulation = start(first);
  assert_int_equal(pol_simulation_allow_later_end(simulation), POL_OK);
  const int before = (int)(fabs(random_number(seed)) * 0.2 * all.rows);
  void *states[2] = {NULL, NULL};
  size_t sizes[2];
  for (int n = 0; !pol_simulation_finished(simulation); n++) {
    if (n == before) states[0] = save(simulation, &sizes[0]);
    take_step(simulation);
  }
  states[1] = save(simulation, &sizes[1]);
  pol_simulation_free(&simulation);

  for (int k = 0; k < 2; k++) {
    assert_non_null(states[k]);
    simulation = start(second);
    if (pol_simulation_load(simulation, states[k], sizes[k], message, sizeof message) != POL_OK)
      fail_msg("%s %s: %s", own->model, own->changes[0], message);
    history rest = follow(simulation, NULL, NULL, NULL);
    pol_simulation_free(&simulation);
    const int row = find_row(&all, &rest);
    if (k == 1) late += row > before;
    assert_same(own, &all, &rest, row);
    free(rest.row);
    free(states[k]);
  }
  free(all.row);
  pol_model_free(&whole);
  pol_model_free(&first);
  pol_model_free(&second);
  return late;
}

#define BALL "examples/bouncing_ball"
#define SPAN S "control.span="

static void runs_continue_to_a_later_end(void **state)
{
  static const struct {
    run own;
    const char *end, *later, *span;
  } runs[] = {
      {{TOP, {GEOM1, FIXED}}, S "end=0.1", SHORT, NULL},
      {{TOP, {GEOM1, FIXED}}, S "end=0.1013", SHORT, NULL},
      {{TOP, {S "method=hht", S "step=3e-3"}}, S "end=0.21", SHORT, NULL},
      {{TOP, {S "method=em", FIXED, S "formulation=directors"}}, S "end=0.2", SHORT, NULL},
      {{TOP, {S "method=rattle", FIXED, S "order=4"}}, S "end=0.15", SHORT, NULL},
      {{TOP, {GEOM1, FIXED, S "output.step=0.017"}}, S "end=0.1", SHORT, NULL},
      {{TOP, {GEOM1, VARIABLE}}, S "end=0.1", SHORT, SPAN "0.1"},
      {{TOP, {GEOM1, VARIABLE, SPAN "2"}}, S "end=0.1", SHORT, NULL},
      {{TOP, {S "method=hht", VARIABLE}}, S "end=0.2", SHORT, SPAN "0.2"},
      {{TOP, {S "method=rattle", VARIABLE, S "order=4"}}, S "end=0.4", S "end=1", SPAN "0.4"},
      {{TOP, {S "method=rattle", VARIABLE, S "output.step=0.013"}},
       S "end=0.4",
       S "end=1",
       SPAN "0.4"},
      {{CHAIN, {GEOM1, VARIABLE}}, S "end=0.3", S "end=0.5", SPAN "0.3"},
      {{CHAIN, {S "method=rattle", S "step=5e-3"}}, S "end=0.25", S "end=0.5", NULL},
      {{BALL, {GEOM1, S "steps=fixed", S "step=1e-2"}}, S "end=2", S "end=3", NULL},
      {{BALL, {GEOM1, VARIABLE}}, S "end=2", S "end=3", SPAN "2"},
      {{BALL, {S "method=rattle", VARIABLE}}, S "end=1", S "end=3", SPAN "1"},
  };
  (void)state;
  uint64_t seed = 61;
  size_t late = 0;
  for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++)
    late += (size_t)extend(&runs[i].own, runs[i].end, runs[i].later, runs[i].span, &seed);
  assert_true(late + 2 >= sizeof runs / sizeof runs[0]);
}

/* --- refusals --------------------------------------------------------------------------------- */

static void assert_refused(const run *own, const void *bytes, size_t size, const char *reason)
{
  char message[256] = "";
  pol_model *model = read_run(own);
  pol_simulation *simulation = start(model);
  assert_int_equal(pol_simulation_load(simulation, bytes, size, message, sizeof message),
                   POL_BAD_ARGUMENT);
  if (!strstr(message, reason)) fail_msg("'%s' lacks '%s'", message, reason);
  pol_simulation_free(&simulation);
  pol_model_free(&model);
}

static void damaged_and_foreign_states_are_refused(void **state)
{
  (void)state;
  const run own = {TOP, {GEOM1, FIXED, SHORT}};
  uint64_t seed = 5;
  size_t size, room;
  pol_model *model = read_run(&own);
  pol_simulation *simulation = start(model);
  for (int k = 0; k < 20; k++) take_step(simulation);
  unsigned char *bytes = save(simulation, &size);

  room = size - 1;
  assert_int_equal(pol_simulation_save(simulation, bytes, &room), POL_BAD_ARGUMENT);
  assert_int_equal(room, size);
  char message[256];
  assert_int_equal(pol_simulation_load(simulation, bytes, size, message, sizeof message),
                   POL_BAD_ARGUMENT);
  assert_non_null(strstr(message, "new one"));
  pol_simulation_free(&simulation);
  pol_model_free(&model);

  assert_refused(&own, NULL, 0, "no saved state");
  assert_refused(&own, bytes, 10, "no saved state");
  assert_refused(&own, bytes, size - 8, "incomplete");
  for (int k = 0; k < 20; k++) { /* any byte */
    unsigned char *byte = bytes + (size_t)(fabs(random_number(&seed)) * (double)size);
    *byte ^= 16;
    assert_refused(&own, bytes, size, "");
    *byte ^= 16;
  }
  const struct {
    run other;
    const char *reason;
  } foreign[] = {
      {{TOP, {GEOM1, FIXED, SHORT, "bodies[0].mass=16"}}, "another model: body 'top'"},
      {{TOP, {GEOM1, FIXED, SHORT, "gravity=[0, 0, -9]"}}, "another model: gravity"},
      {{TOP, {GEOM1, FIXED, SHORT, "joints[0].name=x"}}, "another model: joint 'x'"},
      {{TOP, {GEOM1, FIXED, SHORT, "bodies[0].angular_velocity=[0, 1, 150]"}}, "initial values"},
      {{CHAIN, {GEOM1, FIXED, SHORT}}, "another model: number of bodies 1, here 20"},
      {{TOP, {S "method=hht", FIXED, SHORT}}, "its method is geom1, here it is hht"},
      {{TOP, {GEOM1, FIXED, SHORT, S "rho_inf=0.8"}}, "simulation.alpha_m was"},
      {{TOP, {GEOM1, FIXED, SHORT, S "formulation=se3"}}, "its formulation is so3xr3"},
      {{TOP, {GEOM1, FIXED, SHORT, S "index=2"}}, "simulation.index is not the same"},
      {{TOP, {GEOM1, S "step=1e-3", SHORT}}, "simulation.step was 0.002, here it is 0.001"},
      {{TOP, {GEOM1, FIXED, S "end=0.2"}}, "simulation.end was 0.3 s, here it is 0.2 s"},
  };
  for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++)
    assert_refused(&foreign[i].other, bytes, size, foreign[i].reason);
  free(bytes);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(generalized_alpha_continues),
      cmocka_unit_test(generalized_alpha_continues_with_variable_steps),
      cmocka_unit_test(variational_and_energy_momentum_methods_continue),
      cmocka_unit_test(rattle_continues),
      cmocka_unit_test(what_steps_remember_continues),
      cmocka_unit_test(runs_continue_to_a_later_end),
      cmocka_unit_test(damaged_and_foreign_states_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
