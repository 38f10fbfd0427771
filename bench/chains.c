/* How time and memory grow with the number of bodies: chains of 10 to 1000 links that fall from a
 * straight line.
 *
 * Each link adds 6 velocities and 3 constraints, in directors 12 and 9, and its neighbours are the
 * only ones it is coupled to: everything should grow like the number of links.  So time and memory
 * are given a link; a number that grows down a column is a cost that does not.  Times are those of
 * the processor, the best of a few rounds; the cases are run in turns.  Memory is what the
 * simulation has allocated when it is ready to step.
 */
#define _POSIX_C_SOURCE 199309L
#include <polhode/polhode.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "costs.h"

enum { ROUNDS = 3, STEPS = 10, NUM_SIZES = 5, NUM_CASES = 3 };
static const int sizes[NUM_SIZES] = {10, 30, 100, 300, 1000};

static const struct {
  const char *name, *method;
  pol_formulation_kind formulation;
  pol_index index;
} cases[NUM_CASES] = {{"so3xr3 geom1 index 3", "geom1", POL_SO3XR3, POL_INDEX_3},
                      {"so3xr3 geom1 stabilized", "geom1", POL_SO3XR3, POL_INDEX_2_STABILIZED},
                      {"directors em", "em", POL_DIRECTORS, POL_INDEX_3}};

typedef struct costs {
  double create, step; /* seconds */
  double iterations;   /* of Newton, a step */
  double memory;       /* bytes */
} costs;

/* Rods of 0.1 m and 0.05 kg along x, with spherical joints. */
static pol_mechanism *make_chain(int links)
{
  static const double gravity[3] = {0.0, 0.0, -9.81};
  const double length = 0.1;
  pol_mechanism *mechanism;
  check(pol_mechanism_create(&mechanism), "mechanism");
  pol_mechanism_set_gravity(mechanism, gravity);
  for (int i = 0; i < links; i++) {
    char name[32], hinge[32];
    snprintf(name, sizeof name, "link %d", i + 1);
    snprintf(hinge, sizeof hinge, "hinge %d", i + 1);
    const pol_body body = {.name = name,
                           .mass = 0.05,
                           .inertia = {1e-6, 0.0, 0.0, 0.0, 4.2e-5, 0.0, 0.0, 0.0, 4.2e-5},
                           .position = {(i + 0.5) * length, 0.0, 0.0},
                           .rotation = {1.0, 0.0, 0.0, 0.0}};
    const pol_marker end = {.name = "",
                            .body = i ? i - 1 : POL_GROUND,
                            .position = {i ? 0.5 * length : 0.0, 0.0, 0.0},
                            .rotation = {1.0, 0.0, 0.0, 0.0}};
    const pol_marker start = {.name = "",
                              .body = i,
                              .position = {-0.5 * length, 0.0, 0.0},
                              .rotation = {1.0, 0.0, 0.0, 0.0}};
    pol_joint joint = {.name = hinge, .type = POL_SPHERICAL};
    check(pol_mechanism_add_body(mechanism, &body, NULL), "body");
    check(pol_mechanism_add_marker(mechanism, &end, &joint.marker[0]), "marker");
    check(pol_mechanism_add_marker(mechanism, &start, &joint.marker[1]), "marker");
    check(pol_mechanism_add_joint(mechanism, &joint, NULL), "joint");
  }
  return mechanism;
}

static void measure(const pol_mechanism *mechanism, int c, costs *best)
{
  pol_settings settings = pol_settings_default();
  pol_simulation *simulation;
  settings.options.method = cases[c].method;
  settings.formulation = cases[c].formulation;
  settings.options.index = cases[c].index;
  settings.step = 1e-3;
  settings.end = STEPS * 1e-3;
  const double before = allocated(), start = now();
  check(pol_simulation_create(&simulation, mechanism, &settings, NULL), "simulation");
  const double ready = now();
  best->memory = allocated() - before;
  while (!pol_simulation_finished(simulation)) check(pol_simulation_step(simulation), "step");
  best->create = fmin(best->create, ready - start);
  best->step = fmin(best->step, (now() - ready) / STEPS);
  best->iterations = (double)pol_simulation_summary(simulation)->counts.newton_iterations / STEPS;
  pol_simulation_free(&simulation);
}

int main(void)
{
  static costs best[NUM_SIZES][NUM_CASES];
  pol_mechanism *mechanism[NUM_SIZES];
  for (int k = 0; k < NUM_SIZES; k++) {
    mechanism[k] = make_chain(sizes[k]);
    for (int c = 0; c < NUM_CASES; c++) best[k][c].create = best[k][c].step = HUGE_VAL;
  }
  for (int round = 0; round < ROUNDS; round++)
    for (int k = 0; k < NUM_SIZES; k++)
      for (int c = 0; c < NUM_CASES; c++) measure(mechanism[k], c, &best[k][c]);

  printf("\nchains: processor time and memory, a link\n\n");
  for (int c = 0; c < NUM_CASES; c++) {
    printf("%-24s %12s %12s %12s %12s\n", cases[c].name, "step, us", "iterations", "create, us",
           "memory, kB");
    for (int k = 0; k < NUM_SIZES; k++)
      printf("%18d links %12.2f %12.2f %12.1f %12.2f\n", sizes[k], 1e6 * best[k][c].step / sizes[k],
             best[k][c].iterations, 1e6 * best[k][c].create / sizes[k],
             1e-3 * best[k][c].memory / sizes[k]);
    printf("%24s %12.2f %12s %12.2f %12.2f\n\n", "1000 links/10 links",
           best[NUM_SIZES - 1][c].step / best[0][c].step / 100.0, "",
           best[NUM_SIZES - 1][c].create / best[0][c].create / 100.0,
           best[NUM_SIZES - 1][c].memory / best[0][c].memory / 100.0);
  }
  for (int k = 0; k < NUM_SIZES; k++) pol_mechanism_free(&mechanism[k]);
  return 0;
}
