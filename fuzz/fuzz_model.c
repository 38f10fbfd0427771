/* Model files: reads the text, builds the simulation, takes three steps and records each; then lets
 * the commands check and run do the same with a file.
 *
 * What follows a zero byte are overrides ("simulation.step=1e-4"), separated by zero bytes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/model.h>
#include <polhode/polhode.h>

#include "io/model/expand.h"
#include "sandbox.h"

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
  (void)argc, (void)argv;
  poli_expansion_limit = 5000; /* values that copies may have: time is short */
  fuzz_begin();
  return 0;
}

/* All coordinates and velocities of a state that the library calls good are numbers. */
static void require_finite(const pol_simulation *simulation)
{
  const pol_state *state = pol_simulation_state(simulation);
  const pol_dae *dae = pol_formulation_dae(pol_simulation_formulation(simulation));
  FUZZ_REQUIRE(isfinite(state->t));
  for (int i = 0; i < dae->group.nq; i++) FUZZ_REQUIRE(isfinite(state->q[i]));
  for (int i = 0; i < dae->group.nv; i++) FUZZ_REQUIRE(isfinite(state->v[i]));
}

/* Three steps, and the last row of numbers, of *count, which the caller frees; NULL if it cannot
 * start.  Every step to be recorded is one of the integrator: an output time may be any number of
 * steps away. */
static double *simulate(const pol_model *model, int *count)
{
  pol_simulation *simulation = NULL;
  pol_record *record = NULL;
  pol_diagnostics diagnostics;
  pol_settings settings = model->settings;
  settings.output = (pol_output){0};
  *count = 0;
  pol_status status = pol_simulation_create(&simulation, model->mechanism, &settings, &diagnostics);
  if (status != POL_OK) {
    FUZZ_REQUIRE(simulation == NULL && diagnostics.message[0] != '\0');
    return NULL;
  }
  require_finite(simulation);
  FUZZ_REQUIRE(pol_record_create(&record, simulation) == POL_OK);
  *count = pol_record_count(record);
  double *row = malloc((size_t)*count * sizeof *row);
  FUZZ_REQUIRE(row != NULL);
  pol_record_row(record, row);
  for (int i = 0; i < 3 && status == POL_OK && !pol_simulation_finished(simulation); i++) {
    status = pol_simulation_step(simulation);
    if (status == POL_OK) require_finite(simulation);
    pol_record_row(record, row);
  }
  /* after a failure too a call is allowed */
  if (status != POL_OK) pol_simulation_step(simulation);
  pol_record_free(&record);
  pol_simulation_free(&simulation);
  return row;
}

/* The same model gives the same numbers, bit by bit: nothing is read before it is written. */
static void compare(const pol_model *model)
{
  int count, again;
  double *row = simulate(model, &count), *same = simulate(model, &again);
  FUZZ_REQUIRE(count == again);
  FUZZ_REQUIRE(row == NULL || memcmp(row, same, (size_t)count * sizeof *row) == 0);
  free(row);
  free(same);
}

/* A run with its own output times may last for ever between two of them. */
static void run_commands(const char *text, size_t size, int every_step)
{
  static const char *const check_table[] = {"check", "model.json", "--dot", "a.dot", NULL};
  static const char *const check_json[] = {"check", "model.json", "--json", NULL};
  static const char *const run_table[] = {"run", "model.json", "--out", "a.csv", NULL};
  static const char *const run_json[] = {"run", "model.json", "--out", "a.h5", "--json", NULL};
  const int json = size % 8 == 0;
  fuzz_write("model.json", text, strlen(text));
  fuzz_command(size % 16 == 0 ? 2 : 40, json ? check_json : check_table); /* stopped at times */
  if (every_step) fuzz_command(20, json ? run_json : run_table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  fuzz_start_clock();
  enum { MOST = 8 };
  char *text = fuzz_text(data, size);
  const char *overrides[MOST];
  int count = 0;
  for (const char *at = text + strlen(text); at < text + size && count < MOST; at += strlen(at))
    overrides[count++] = ++at;
  pol_model *model = NULL;
  pol_errors errors = {0};
  const pol_status status = pol_model_read_text(&model, text, count, overrides, &errors);
  if (status == POL_OK) {
    FUZZ_REQUIRE(model != NULL && errors.count == 0);
    if (size % 4 == 1) {
      compare(model);
    } else {
      int unused;
      free(simulate(model, &unused));
    }
    if (size % 4 == 0) {
      fuzz_enter();
      run_commands(text, size, model->settings.output.step == 0.0);
      fuzz_leave();
    }
  } else {
    FUZZ_REQUIRE(model == NULL && (status != POL_BAD_ARGUMENT || errors.count > 0));
  }
  pol_errors_clear(&errors);
  pol_model_free(&model);
  free(text);
  return 0;
}
