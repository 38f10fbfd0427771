/* How time and memory grow with the number of beam elements: rods of 10 to 10000 elements of the
 * same length, clamped at one end, that fall from the horizontal.
 *
 * An element couples two nodes, so everything should grow like the number of elements: costs are
 * given per element, and a number that grows down a column is a cost that does not.  Times are
 * those of the processor, the best of a few rounds; the cases are run in turns.
 */
#define _POSIX_C_SOURCE 199309L
#include <polhode/polhode.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "costs.h"

enum { ROUNDS = 3, STEPS = 20, NUM_SIZES = 4, NUM_CASES = 3 };
static const int sizes[NUM_SIZES] = {10, 100, 1000, 10000};

static const struct {
  const char *name;
  pol_formulation_kind formulation;
  pol_beam_strain strain;
} cases[NUM_CASES] = {{"se3, strains se3", POL_SE3_BODY, POL_BEAM_SE3},
                      {"so3xr3, strains se3", POL_SO3XR3, POL_BEAM_SE3},
                      {"so3xr3, strains so3xr3", POL_SO3XR3, POL_BEAM_SO3XR3}};

typedef struct costs {
  double create, step;               /* seconds */
  double iterations, factorizations; /* a step */
  double memory;                     /* bytes */
} costs;

/* A rubber rod of 2 cm diameter with elements of 5 cm. */
static pol_mechanism *make_rod(int elements, pol_beam_strain strain)
{
  static const double gravity[3] = {0.0, 0.0, -9.81}, origin[3] = {0.0, 0.0, 0.0};
  const double E = 5e7, area = 3.1416e-4, I = 7.854e-9,
               stiffness[6] = {E / 3.0 * 2.0 * I, E * I,          E * I,
                               E * area,          E / 3.0 * area, E / 3.0 * area};
  double *x = calloc((size_t)(7 * (elements + 1)), sizeof *x), *q = x + 3 * (elements + 1);
  pol_mechanism *mechanism;
  if (!x) check(POL_NO_MEMORY, "nodes");
  pol_beam rod = {.name = "rod",
                  .num_nodes = elements + 1,
                  .positions = x,
                  .rotations = q,
                  .mass = 1100.0 * area,
                  .strain = strain};
  for (int k = 0; k <= elements; k++) {
    x[3 * k] = 0.05 * k;
    q[4 * k] = 1.0;
  }
  for (int i = 0; i < 6; i++) rod.stiffness[7 * i] = stiffness[i];
  for (int i = 0; i < 3; i++) rod.inertia[4 * i] = 1100.0 * (i == 0 ? 2.0 : 1.0) * I;
  check(pol_mechanism_create(&mechanism), "mechanism");
  pol_mechanism_set_gravity(mechanism, gravity);
  check(pol_mechanism_add_beam(mechanism, &rod, NULL), "beam");
  pol_joint clamp = pol_joint_default();
  clamp.name = "clamp";
  check(pol_mechanism_add_joint_at(mechanism, &clamp, POL_GROUND, 0, origin, NULL, NULL), "joint");
  free(x);
  return mechanism;
}

static void measure(const pol_mechanism *mechanism, int c, costs *best)
{
  pol_settings settings = pol_settings_default();
  pol_simulation *simulation;
  settings.options.method = "geom1";
  settings.formulation = cases[c].formulation;
  settings.step = 1e-3;
  settings.end = STEPS * 1e-3;
  const double before = allocated(), start = now();
  check(pol_simulation_create(&simulation, mechanism, &settings, NULL), "simulation");
  const double ready = now();
  best->memory = allocated() - before;
  while (!pol_simulation_finished(simulation)) check(pol_simulation_step(simulation), "step");
  best->create = fmin(best->create, ready - start);
  best->step = fmin(best->step, (now() - ready) / STEPS);
  const pol_counts *counts = &pol_simulation_summary(simulation)->counts;
  best->iterations = (double)counts->newton_iterations / STEPS;
  best->factorizations = (double)counts->factorizations / STEPS;
  pol_simulation_free(&simulation);
}

int main(void)
{
  static costs best[NUM_SIZES][NUM_CASES];
  pol_mechanism *mechanism[NUM_SIZES][NUM_CASES];
  for (int k = 0; k < NUM_SIZES; k++)
    for (int c = 0; c < NUM_CASES; c++) {
      mechanism[k][c] = make_rod(sizes[k], cases[c].strain);
      best[k][c].create = best[k][c].step = HUGE_VAL;
    }
  for (int round = 0; round < ROUNDS; round++)
    for (int k = 0; k < NUM_SIZES; k++)
      for (int c = 0; c < NUM_CASES; c++) measure(mechanism[k][c], c, &best[k][c]);

  printf("\nbeams, geom1: processor time and memory per element\n\n");
  for (int c = 0; c < NUM_CASES; c++) {
    printf("| %s | step, us | iterations per step | factorizations per step | create, us | memory, "
           "kB |\n|---|---|---|---|---|---|\n",
           cases[c].name);
    for (int k = 0; k < NUM_SIZES; k++)
      printf("| %d elements | %.2f | %.2f | %.2f | %.1f | %.2f |\n", sizes[k],
             1e6 * best[k][c].step / sizes[k], best[k][c].iterations, best[k][c].factorizations,
             1e6 * best[k][c].create / sizes[k], 1e-3 * best[k][c].memory / sizes[k]);
    printf("\n");
  }
  for (int k = 0; k < NUM_SIZES; k++)
    for (int c = 0; c < NUM_CASES; c++) pol_mechanism_free(&mechanism[k][c]);
  return 0;
}
