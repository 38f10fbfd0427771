/* What the default stop of Newton's method costs in accuracy: the error of a run that stops by the
 * estimated error of the step over that of a run that stops tightly, for generalized-alpha methods.
 *
 * Errors are differences from a tight run with steps of a quarter the size, at OUTPUTS times; q, v
 * and the multipliers by themselves, the largest number each.  A ratio of 1 is the aim.
 *
 *     studies/newton_stop MODEL...        steps and end of the model, at most MOST_STEPS steps */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/model.h>
#include <polhode/polhode.h>

enum { MOST = 4000, OUTPUTS = 10, MOST_STEPS = 1000 };

static const struct {
  const char *name, *method;
  pol_index index;
} cases[] = {{"geom1 index 3", "geom1", POL_INDEX_3},
             {"geom1 index 2", "geom1", POL_INDEX_2},
             {"geom1 stabilized", "geom1", POL_INDEX_2_STABILIZED},
             {"geom2 index 3", "geom2", POL_INDEX_3},
             {"geom3 index 3", "geom3", POL_INDEX_3},
             {"linear index 3", "linear", POL_INDEX_3}};
enum { NUM_CASES = (int)(sizeof cases / sizeof *cases) };

/* q, v and lambda at the output times. */
typedef struct outcome {
  int size[3];
  double values[3][OUTPUTS][MOST];
  double residuals; /* evaluated per step */
} outcome;

/* 0 if it is done. */
static int run(const pol_model *model, const pol_settings *settings, double end, outcome *out)
{
  pol_settings own = *settings;
  pol_simulation *simulation;
  own.end = end;
  own.variable = 0;
  own.num_events = 0;
  own.output = (pol_output){.step = end / OUTPUTS};
  if (pol_simulation_create(&simulation, model->mechanism, &own, NULL)) return 1;
  const pol_dae *dae = pol_formulation_dae(pol_simulation_formulation(simulation));
  out->size[0] = dae->group.nq;
  out->size[1] = dae->group.nv;
  out->size[2] = pol_dae_num_constraints(dae);
  int status = out->size[0] > MOST || out->size[2] > MOST;
  for (int k = 0; k < OUTPUTS && !status; k++) {
    status = pol_simulation_step(simulation) != POL_OK;
    const pol_state *now = pol_simulation_state(simulation);
    const double *from[3] = {now->q, now->v, now->lambda};
    for (int i = 0; i < 3; i++)
      memcpy(out->values[i][k], from[i], (size_t)out->size[i] * sizeof(double));
  }
  const pol_counts *counts = &pol_simulation_summary(simulation)->counts;
  out->residuals = (double)counts->residuals / (double)counts->steps;
  pol_simulation_free(&simulation);
  return status;
}

static double difference(const outcome *a, const outcome *b, int part)
{
  double most = 0.0;
  for (int k = 0; k < OUTPUTS; k++)
    for (int i = 0; i < a->size[part]; i++)
      most = fmax(most, fabs(a->values[part][k][i] - b->values[part][k][i]));
  return most;
}

/* A line of the table. */
static void compare(const pol_model *model, const char *name, int c, outcome *three)
{
  pol_settings settings = model->settings;
  settings.options.method = cases[c].method;
  settings.options.index = cases[c].index;
  settings.options.sigma = 0.0;
  settings.options.published = pol_options_default().published;
  const double end = fmin(settings.end, MOST_STEPS * settings.step);
  int status = run(model, &settings, end, &three[0]);
  settings.options.newton.stop = POL_STOP_TIGHT;
  if (!status) status = run(model, &settings, end, &three[1]);
  settings.step /= 4.0;
  if (!status) status = run(model, &settings, end, &three[2]);
  if (status) return;
  printf("| %s | %s |", name, cases[c].name);
  for (int i = 0; i < 3; i++) {
    const double own = difference(&three[0], &three[2], i),
                 tight = difference(&three[1], &three[2], i);
    printf(" %.2e | %.4f |", tight, tight > 0.0 ? own / tight : 1.0);
  }
  printf(" %.2f | %.2f |\n", three[1].residuals, three[0].residuals);
  fflush(stdout);
}

int main(int argc, char **argv)
{
  outcome *three = malloc(3 * sizeof *three);
  if (!three) return 1;
  printf("| model | method | error of q | ratio | error of v | ratio | error of lambda | ratio | "
         "residuals per step, tight | default |\n|---|---|---|---|---|---|---|---|---|---|\n");
  for (int k = 1; k < argc; k++) {
    pol_model *model;
    pol_errors errors = {0};
    if (pol_model_read_file(&model, argv[k], 0, NULL, &errors)) {
      fprintf(stderr, "%s cannot be read\n", argv[k]);
      pol_errors_clear(&errors);
      continue;
    }
    const char *name = strrchr(argv[k], '/') ? strrchr(argv[k], '/') + 1 : argv[k];
    for (int c = 0; c < NUM_CASES; c++) compare(model, name, c, three);
    pol_model_free(&model);
  }
  free(three);
  return 0;
}
