/* Models and their simulations, for tests: where something fails, the test says why. */
#ifndef POLHODE_TESTS_SIMULATE_H
#define POLHODE_TESTS_SIMULATE_H

#include <string.h>

#include <polhode/model.h>
#include <polhode/polhode.h>

#include "check.h"

/* The model of a file, with count changes of its values.  Where neither names a method it is geom1,
 * since many tests change the formulation, the index or the step later, and know its errors. */
static inline pol_model *read_model_with(const char *path, int count, const char *const *overrides)
{
  enum { MOST = 16 };
  pol_errors errors = {0, NULL};
  pol_model *model = NULL;
  const char *all[MOST] = {"simulation.method=geom1"};
  int named = count >= MOST;
  for (int i = 0; i < count && !named; i++) {
    all[i + 1] = overrides[i];
    named = strncmp(overrides[i], "simulation.method=", 18) == 0;
  }
  pol_status status = pol_model_read_file(&model, path, count, overrides, &errors);
  if (status == POL_OK && model->settings.choice[0] && !named) {
    pol_model_free(&model);
    status = pol_model_read_file(&model, path, count + 1, all, &errors);
  }
  if (status != POL_OK) fail_msg("%s: %s: %s", path, errors.items[0].path, errors.items[0].rule);
  return model;
}

static inline pol_model *read_model(const char *path)
{
  return read_model_with(path, 0, NULL);
}

/* The same of a text. */
static inline pol_model *read_model_text(const char *text)
{
  static const char *const geom1 = "simulation.method=geom1";
  pol_errors errors = {0, NULL};
  pol_model *model = NULL;
  if (pol_model_read_text(&model, text, !strstr(text, "\"method\""), &geom1, &errors) != POL_OK)
    fail_msg("%s: %s", errors.items[0].path, errors.items[0].rule);
  return model;
}

static inline pol_simulation *start_with(const pol_mechanism *mechanism,
                                         const pol_settings *settings)
{
  pol_simulation *simulation;
  pol_diagnostics d;
  if (pol_simulation_create(&simulation, mechanism, settings, &d) != POL_OK)
    fail_msg("%s: %s", d.where, d.message);
  return simulation;
}

static inline pol_simulation *start(const pol_model *model)
{
  return start_with(model->mechanism, &model->settings);
}

/* A simulation of a model by rattle in so3xr3 with fixed steps. */
static inline pol_simulation *start_rattle(const pol_model *model, int order, double h, double end)
{
  pol_settings settings = model->settings;
  settings.options.method = "rattle";
  settings.options.order = order;
  settings.formulation = POL_SO3XR3;
  settings.step = h;
  settings.end = end;
  settings.variable = 0;
  settings.output = (pol_output){0};
  return start_with(model->mechanism, &settings);
}

/* One step, of whatever size; it must not fail. */
static inline void take_step(pol_simulation *simulation)
{
  if (pol_simulation_step(simulation) != POL_OK)
    fail_msg("t = %g: %s", pol_simulation_summary(simulation)->t,
             pol_simulation_diagnostics(simulation)->message);
}

static inline void step_to_end(pol_simulation *simulation)
{
  while (!pol_simulation_finished(simulation)) take_step(simulation);
}

#endif
