/* Steps of a few small models, for test_instructions.py: it counts the instructions that hot_loop
 * executes, with callgrind.
 *
 *     hot_loops                 lists them: name, number of steps, number of bodies
 *     hot_loops NAME            20 steps, then so many steps within hot_loop
 */
#include "bench/plan.h"

#include <polhode/model.h>

#include "bench/models.h"

static const char top[] = POLHODE_SOURCE_DIR "/models/bruels-cardona-2010/heavy_top.json";
static const char crank[] =
    POLHODE_SOURCE_DIR "/models/holzinger-arnold-gerstmayr/slider_crank.json";

/* Steps of 1 ms.  Without a file: a chain of spherical joints. */
static const struct {
  const char *name, *file, *method;
  pol_index index;
  int order, steps, bodies;
} loops[] = {
    {"heavy top, geom1 index 3", top, "geom1", POL_INDEX_3, 2, 200, 1},
    {"heavy top, rattle order 8", top, "rattle", POL_INDEX_3, 8, 40, 1},
    {"slider-crank, geom1 index 3", crank, "geom1", POL_INDEX_3, 2, 100, 3},
    {"slider-crank, rattle order 4", crank, "rattle", POL_INDEX_3, 4, 40, 3},
    {"chain of 100, geom1 index 3", NULL, "geom1", POL_INDEX_3, 2, 20, 100},
    {"chain of 100, geom1 stabilized-2", NULL, "geom1", POL_INDEX_2_STABILIZED, 2, 20, 100},
    {"chain of 100, rattle order 2", NULL, "rattle", POL_INDEX_3, 2, 20, 100},
};
enum { NUM_LOOPS = sizeof loops / sizeof loops[0] };

pol_status hot_loop(pol_integrator *integrator, int steps);

/* What is counted; a function of its own, which callgrind finds by name. */
__attribute__((noinline)) pol_status hot_loop(pol_integrator *integrator, int steps)
{
  pol_status status = POL_OK;
  for (int n = 0; !status && n < steps; n++) status = pol_integrator_step(integrator, 1e-3);
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
                                    loops[chosen].order, 0);
  int status = bench_plan_open(&plan, model ? model->mechanism : own);
  if (!status) status = pol_integrator_start(plan.integrator, 0.0, plan.q, plan.v, NULL);
  for (int n = 0; !status && n < 20; n++) status = pol_integrator_step(plan.integrator, 1e-3);
  if (!status) status = hot_loop(plan.integrator, loops[chosen].steps);
  if (status) fprintf(stderr, "%s: failed %s\n", loops[chosen].name, plan.reason);
  bench_plan_close(&plan);
  pol_mechanism_free(&own);
  pol_model_free(&model);
  return status ? 1 : 0;
}
