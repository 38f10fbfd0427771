/* What a free beam keeps of its linear and angular momentum and of its energy, by method and
 * formulation: the flying beam after its loads have ended, from 5.05 s to 15 s, with two steps.
 *
 *     studies/flying_beam models/beams/flying_beam.json
 *
 * Prints the table of docs/beams.md. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <polhode/model.h>
#include <polhode/polhode.h>

static const struct {
  const char *label, *method, *formulation, *key, *strains;
} runs[] = {
    {"geom1, rho_inf = 0.9", "geom1", "se3", "simulation.rho_inf=0.9", "se3"},
    {"", "geom1", "so3xr3", "simulation.rho_inf=0.9", "se3"},
    {"", "geom1", "so3xr3-spatial", "simulation.rho_inf=0.9", "se3"},
    {"geom1, rho_inf = 1", "geom1", "se3", "simulation.rho_inf=1", "se3"},
    {"", "geom1", "so3xr3", "simulation.rho_inf=1", "se3"},
    {"", "geom1", "so3xr3-spatial", "simulation.rho_inf=1", "se3"},
    {"rattle, order 2", "rattle", "so3xr3", "simulation.order=2", "se3"},
    {"rattle, order 4", "rattle", "so3xr3", "simulation.order=4", "se3"},
    {"em", "em", "directors", "", "directors"},
    {"", "em", "euler-parameters", "", "directors"},
};
enum { RUNS = (int)(sizeof runs / sizeof *runs), QUANTITIES = 3 };
static const double steps[2] = {0.05, 0.025};
static const double loads_end = 5.049;

typedef struct kept {
  double energy;
  pol_momentum momentum;
} kept;

static double distance(const double a[3], const double b[3])
{
  return hypot(hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]);
}

static kept measure(const pol_simulation *simulation)
{
  const pol_state *at = pol_simulation_state(simulation);
  const pol_point point = pol_state_point(at);
  const pol_formulation *formulation = pol_simulation_formulation(simulation);
  pol_energy energy;
  kept now;
  pol_formulation_energy(formulation, &point, &energy);
  pol_formulation_momentum(formulation, at->q, at->v, &now.momentum);
  now.energy = energy.kinetic + energy.potential;
  return now;
}

/* Largest changes of both momenta and of the energy in free flight, relative to the first values.
 */
static pol_status fly(const pol_model *model, double changes[QUANTITIES])
{
  static const double zero[3] = {0.0};
  pol_simulation *simulation = NULL;
  kept first = {0};
  int is_free = 0;
  pol_status status = pol_simulation_create(&simulation, model->mechanism, &model->settings, NULL);
  memset(changes, 0, QUANTITIES * sizeof *changes);
  while (!status && !pol_simulation_finished(simulation)) {
    status = pol_simulation_step(simulation);
    if (status || pol_simulation_state(simulation)->t < loads_end) continue;
    const kept now = measure(simulation);
    if (!is_free) first = now;
    is_free = 1;
    changes[0] = fmax(changes[0], distance(now.momentum.linear, first.momentum.linear) /
                                      distance(first.momentum.linear, zero));
    changes[1] = fmax(changes[1], distance(now.momentum.angular, first.momentum.angular) /
                                      distance(first.momentum.angular, zero));
    changes[2] = fmax(changes[2], fabs(now.energy / first.energy - 1.0));
  }
  pol_simulation_free(&simulation);
  return status;
}

static int run(const char *path, int k, double step, double changes[QUANTITIES])
{
  char texts[4][60];
  const char *overrides[6] = {
      texts[0], texts[1], texts[2], texts[3], "simulation.newton.stop=tight", runs[k].key};
  const int count = runs[k].key[0] ? 6 : 5;
  pol_errors errors = {0, NULL};
  pol_model *model = NULL;
  snprintf(texts[0], sizeof texts[0], "simulation.method=%s", runs[k].method);
  snprintf(texts[1], sizeof texts[1], "simulation.formulation=%s", runs[k].formulation);
  snprintf(texts[2], sizeof texts[2], "simulation.step=%g", step);
  snprintf(texts[3], sizeof texts[3], "beams[0].strains=%s", runs[k].strains);
  pol_status status = pol_model_read_file(&model, path, count, overrides, &errors);
  for (int i = 0; i < errors.count; i++)
    fprintf(stderr, "%s: %s\n", errors.items[i].path, errors.items[i].rule);
  pol_errors_clear(&errors);
  if (!status) status = fly(model, changes);
  if (status)
    fprintf(stderr, "%s, %s, h = %g: %s\n", runs[k].method, runs[k].formulation, step,
            pol_status_text(status));
  pol_model_free(&model);
  return status != POL_OK;
}

int main(int argc, char **argv)
{
  int failures = 0;
  if (argc != 2) {
    fprintf(stderr, "usage: flying_beam MODEL\n");
    return 2;
  }
  printf("| method | formulation | strains | h, s | momentum | angular momentum | energy |\n"
         "|---|---|---|---|---|---|---|\n");
  for (int k = 0; k < RUNS; k++)
    for (int i = 0; i < 2; i++) {
      double changes[QUANTITIES];
      if (run(argv[1], k, steps[i], changes)) {
        failures++;
        continue;
      }
      printf("| %s | %s | %s | %g | %.1e | %.1e | %.1e |\n", i ? "" : runs[k].label,
             i ? "" : runs[k].formulation, i ? "" : runs[k].strains, steps[i], changes[0],
             changes[1], changes[2]);
      fflush(stdout);
    }
  return failures > 0;
}
