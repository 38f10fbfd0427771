/* Every combination of formulation, method, sigma, constraint form and start on the heavy top: its
 * errors at h = 1e-3 and its orders from there to h = 5e-4, as a page in Markdown on standard
 * output
 * (`make table` writes docs/heavy-top-table.md).  What cannot be combined is listed with the
 * reason. */
#include <polhode/model.h>
#include <polhode/polhode.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heavy_top_reference.h"

static const char *const methods[] = {"geom1", "geom2", "geom3", "linear"};
static const char *const index_names[] = {"3", "2", "stabilized-2"};
static const char *const start_names[] = {"default", "classical", "shifted", "perturbed"};

typedef struct sigma_choice {
  const char *name;
  double value; /* negative: optimal */
  pol_sigma_update update;
} sigma_choice;

static const sigma_choice sigmas[] = {
    {"0", 0.0, POL_SIGMA_EXACT},
    {"optimal", -1.0, POL_SIGMA_EXACT},
    {"1", 1.0, POL_SIGMA_EXACT},
    {"optimal, incremental", -1.0, POL_SIGMA_INCREMENTAL},
    {"1, incremental", 1.0, POL_SIGMA_INCREMENTAL},
};
enum {
  NUM_METHODS = (int)(sizeof methods / sizeof methods[0]),
  NUM_SIGMAS = (int)(sizeof sigmas / sizeof sigmas[0])
};

static void stop(const char *what)
{
  fprintf(stderr, "heavy_top_table: %s\n", what);
  exit(1);
}

/* Runs to t = 1; 0 if it got there, else the time of the failure. */
static double run(const pol_formulation *formulation, const pol_options *options, double h,
                  top_errors *e)
{
  const pol_dae *dae = pol_formulation_dae(formulation);
  pol_integrator *integrator;
  double q[7], v[7], lambda[3], failed = 0.0;
  unsigned char keep[7];
  *e = (top_errors){0};
  pol_formulation_initial(formulation, q, v, keep);
  if (pol_integrator_create(&integrator, dae, options)) stop("no integrator");
  if (pol_integrator_start(integrator, 0.0, q, v, keep)) stop("no start");
  long steps = lround(1.0 / h);
  for (long n = 0; n < steps && failed == 0.0; n++) {
    if (pol_integrator_step(integrator, h))
      failed = pol_integrator_diagnostics(integrator)->t;
    else
      add_errors(formulation, 0, pol_integrator_state(integrator), e, lambda);
  }
  pol_integrator_free(&integrator);
  return failed;
}

static void print_row(const pol_formulation *formulation, const pol_options *options,
                      const sigma_choice *sigma)
{
  top_errors coarse, fine;
  double failed = run(formulation, options, 1e-3, &coarse);
  printf("| %s | %s | %s | %s |", options->method, sigma->name, index_names[options->index],
         start_names[options->start]);
  if (failed == 0.0) failed = run(formulation, options, 5e-4, &fine);
  if (failed > 0.0) {
    printf(" failed at t = %.3g | | | | |\n", failed);
    return;
  }
  printf(" %.2e | %.2f | %.2f | %.2e | %.2f |\n", coarse.q, log2(coarse.q / fine.q),
         log2(coarse.v / fine.v), coarse.lambda, log2(coarse.lambda / fine.lambda));
}

/* The reasons met so far: each is printed once, below the table. */
typedef struct reasons {
  int count;
  char text[16][160];
} reasons;

static void add_reason(reasons *r, const char *text)
{
  for (int i = 0; i < r->count; i++)
    if (strcmp(r->text[i], text) == 0) return;
  if (r->count < 16) snprintf(r->text[r->count++], sizeof r->text[0], "%s", text);
}

/* All indices and starts of one method and sigma. */
static void print_rows(const pol_formulation *formulation, const char *method,
                       const sigma_choice *sigma, reasons *refused)
{
  for (int index = POL_INDEX_3; index <= POL_INDEX_2_STABILIZED; index++)
    for (int start = POL_START_CLASSICAL; start <= POL_START_PERTURBED; start++) {
      pol_options options = pol_options_default();
      char message[160];
      options.method = method;
      options.index = (pol_index)index;
      options.start = (pol_start)start;
      options.published.sigma_update = sigma->update;
      options.sigma = sigma->value < 0.0 ? options.gamma / (3.0 * options.beta) : sigma->value;
      if (pol_integrator_supports(pol_formulation_dae(formulation), &options, message,
                                  sizeof message))
        add_reason(refused, message);
      else
        print_row(formulation, &options, sigma);
    }
}

int main(void)
{
  pol_model *model;
  pol_errors problems = {0};
  if (read_reference(POLHODE_SOURCE_DIR "/papers/data/heavy_top_grid.csv")) stop("no reference");
  if (pol_model_read_file(&model, POLHODE_SOURCE_DIR "/models/bruels-cardona-2010/heavy_top.json",
                          0, NULL, &problems))
    stop("no model");
  printf("# Every combination on the heavy top\n\n"
         "Written by `make table`. rho_inf 0.9, t from 0 to 1, h = 1e-3; orders from there to\n"
         "h = 5e-4. Errors are maxima over time: of q in the norm of log(q_n^-1 o q(t_n)) in\n"
         "SO(3)xR3, of v relative to the largest velocity, of lambda (in body axes) relative to\n"
         "|lambda_n|. [methods.md](methods.md) explains the choices.\n");
  for (int kind = 0; kind < pol_formulation_count(); kind++) {
    if (kind == POL_DIRECTORS) continue; /* unstable at these steps: 0.15 rad of spin per step */
    pol_formulation *formulation;
    reasons refused = {0};
    if (pol_formulation_create(&formulation, model->mechanism, (pol_formulation_kind)kind))
      stop("no formulation");
    printf("\n## %s\n\n", pol_formulation_name((pol_formulation_kind)kind));
    printf("| method | sigma | index | start | q | order q | order v | lambda | order lambda |\n"
           "|---|---|---|---|---|---|---|---|---|\n");
    for (int m = 0; m < NUM_METHODS; m++)
      for (int k = 0; k < NUM_SIGMAS; k++)
        print_rows(formulation, methods[m], &sigmas[k], &refused);
    printf("\nNot possible:\n\n");
    for (int i = 0; i < refused.count; i++) printf("- %s\n", refused.text[i]);
    pol_formulation_free(&formulation);
  }
  pol_model_free(&model);
  return 0;
}
