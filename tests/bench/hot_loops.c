/* Steps of a few small models, for test_instructions.py: it counts the instructions that hot_loop
 * executes, with callgrind.
 *
 *     hot_loops                 lists them: name, number of steps, number of bodies
 *     hot_loops NAME            20 steps (5 of variable size), then so many steps within hot_loop
 */
#include "bench/plan.h"

#include <polhode/model.h>

#include "bench/models.h"

static const char top[] = POLHODE_SOURCE_DIR "/models/bruels-cardona-2010/heavy_top.json";
static const char crank[] =
    POLHODE_SOURCE_DIR "/models/holzinger-arnold-gerstmayr/slider_crank.json";

/* Steps of 1 ms, or with a tolerance.  Without a file: a chain of spherical joints. */
static const struct {
  const char *name, *file, *method;
  pol_index index;
  int order, steps, bodies;
  double tolerance;
} loops[] = {
    {"heavy top, geom1 index 3", top, "geom1", POL_INDEX_3, 2, 200, 1, 0.0},
    {"heavy top, rattle order 8", top, "rattle", POL_INDEX_3, 8, 40, 1, 0.0},
    {"slider-crank, geom1 index 3", crank, "geom1", POL_INDEX_3, 2, 100, 3, 0.0},
    {"slider-crank, rattle order 4", crank, "rattle", POL_INDEX_3, 4, 40, 3, 0.0},
    {"chain of 100, geom1 index 3", NULL, "geom1", POL_INDEX_3, 2, 20, 100, 0.0},
    {"chain of 100, geom1 stabilized-2", NULL, "geom1", POL_INDEX_2_STABILIZED, 2, 20, 100, 0.0},
    {"chain of 100, rattle order 2", NULL, "rattle", POL_INDEX_3, 2, 20, 100, 0.0},
    {"chain of 1000, stabilized-2, 1e-3", NULL, "geom1", POL_INDEX_2_STABILIZED, 2, 10, 1000, 1e-3},
};
enum { NUM_LOOPS = sizeof loops / sizeof loops[0] };

static pol_status take_step(pol_integrator *integrator, int variable)
{
  return variable ? pol_integrator_adapt(integrator, 1.0) : pol_integrator_step(integrator, 1e-3);
}

pol_status hot_loop(pol_integrator *integrator, int steps, int variable);

/* What is counted; a function of its own, which callgrind finds by name. */
__attribute__((noinline)) pol_status hot_loop(pol_integrator *integrator, int steps, int variable)
{
  pol_status status = POL_OK;
  for (int n = 0; !status && n < steps; n++) status = take_step(integrator, variable);
  return status;
}

int main(int argc, char **argv)
{
  int chosen = -1;
  for (int k = 0; k < NUM_LOOPS; k++) {
    if (argc < 2) printf("%s\t%d\t%d\n", loops[k].name, loops[k].steps, loops[k].bodies);
    if (argc > 1 && !strcmp(argv[1], loops[k].name)) chosen = k;
  }
  if (chosen < 0) return argc > 1 ? 2 : 0;

  pol_model *model = NULL;
  pol_errors errors = {0};
  int bodies = loops[chosen].bodies;
  if (loops[chosen].file)
    bench_check(pol_model_read_file(&model, loops[chosen].file, 0, NULL, &errors), "model");
  pol_mechanism *own = model ? NULL : bench_make_model(PEER_SPHERICAL, &bodies);
  bench_plan plan = bench_plan_make(loops[chosen].method, POL_SO3XR3, loops[chosen].index,
                                    loops[chosen].order, loops[chosen].tolerance > 0.0);
  plan.options.threads = 1; /* only one is counted */
  pol_control *control = &plan.options.control;
  if (plan.variable)
    control->rtol = control->atol_translation = control->atol_rotation = loops[chosen].tolerance;
  int status = bench_plan_open(&plan, model ? model->mechanism : own);
  if (!status) status = pol_integrator_start(plan.integrator, 0.0, plan.q, plan.v, NULL);
  const int before = plan.variable ? 5 : 20;
  for (int n = 0; !status && n < before; n++) status = take_step(plan.integrator, plan.variable);
  if (!status) status = hot_loop(plan.integrator, loops[chosen].steps, plan.variable);
  if (status) fprintf(stderr, "%s: failed %s\n", loops[chosen].name, plan.reason);
  bench_plan_close(&plan);
  pol_mechanism_free(&own);
  pol_model_free(&model);
  return status ? 1 : 0;
}
