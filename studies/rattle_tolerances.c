/* Tolerance, error and work of rattle with steps of variable size, for every order: the error of
 * the coordinates at the end and at times in between, in units of the tolerance, against a run of
 * order 8 with a much smaller one.  Work is counted in base steps, rejected ones and those of the
 * estimate included.
 *
 *     studies/rattle_tolerances [MODEL END]       the models below if none is given */
#define _POSIX_C_SOURCE 200809L

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <polhode/model.h>
#include <polhode/polhode.h>

enum { MAX = 1000, OUTPUTS = 37 };

/* Three links on hinges with dampers. */
static const char damped_chain[] =
    "{\"gravity\": [0, 0, -9.81], \"bodies\": ["
    "{\"name\": \"1\", \"mass\": 1, \"inertia\": [0.01, 0.1, 0.1], \"position\": [0.5, 0, 0]},"
    "{\"name\": \"2\", \"mass\": 1, \"inertia\": [0.01, 0.1, 0.1], \"position\": [1.5, 0, 0]},"
    "{\"name\": \"3\", \"mass\": 1, \"inertia\": [0.01, 0.1, 0.1], \"position\": [2.5, 0, 0]}],"
    "\"joints\": ["
    "{\"name\": \"a\", \"type\": \"revolute\", \"bodies\": [\"ground\", \"1\"], "
    "\"point\": [0, 0, 0], \"axis\": [0, 1, 0]},"
    "{\"name\": \"b\", \"type\": \"revolute\", \"bodies\": [\"1\", \"2\"], "
    "\"point\": [1, 0, 0], \"axis\": [0, 0.8, 0.6]},"
    "{\"name\": \"c\", \"type\": \"revolute\", \"bodies\": [\"2\", \"3\"], "
    "\"point\": [2, 0, 0], \"axis\": [0, 1, 0]}],"
    "\"forces\": ["
    "{\"name\": \"damper a\", \"type\": \"joint-spring\", \"joint\": \"a\", \"stiffness\": 0, "
    "\"damping\": 1},"
    "{\"name\": \"damper b\", \"type\": \"joint-spring\", \"joint\": \"b\", \"stiffness\": 0, "
    "\"damping\": 0.5},"
    "{\"name\": \"damper c\", \"type\": \"joint-spring\", \"joint\": \"c\", \"stiffness\": 0, "
    "\"damping\": 0.5}],"
    "\"simulation\": {\"step\": 0.01, \"end\": 1}}";

static const struct {
  const char *name, *file, *change;
  double end;
} models[] = {
    {"heavy top", "bruels-cardona-2010/heavy_top.json", NULL, 1.0},
    {"slider-crank", "holzinger-arnold-gerstmayr/slider_crank.json", NULL, 1.0},
    {"four-bar without motor", "examples/four_bar_motor.json", "gravity=[5, 0, -9.81]", 0.6},
    {"damped chain", NULL, NULL, 1.0},
    {"double pendulum", "examples/double_pendulum.json", NULL, 1.0},
    {"chain of 20", "examples/chain_20.json", NULL, 0.5},
    {"governor", "examples/governor.json", NULL, 0.5},
    {"actuator with lag", "examples/lag_actuator.json", NULL, 1.0},
};

typedef struct outcome {
  int status, nq;
  long base_steps, steps, rejected;
  double seconds, q[OUTPUTS][MAX];
} outcome;

static double seconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void run(const pol_model *model, double end, int order, double tolerance, outcome *out)
{
  static const int stages[] = {1, 5, 9, 17};
  static double q[MAX], v[MAX];
  static unsigned char keep[MAX];
  pol_formulation *formulation = NULL;
  pol_integrator *integrator = NULL;
  pol_options options = model->settings.options;
  options.method = "rattle";
  options.order = order;
  options.control =
      (pol_control){.rtol = tolerance, .atol_translation = tolerance, .atol_rotation = tolerance};
  out->status = pol_formulation_create(&formulation, model->mechanism, POL_SO3XR3);
  if (out->status) return;
  const pol_dae *dae = pol_formulation_dae(formulation);
  pol_formulation_initial(formulation, q, v, keep);
  out->nq = dae->group.nq;
  out->status = out->nq > MAX ? POL_NO_MEMORY : pol_integrator_create(&integrator, dae, &options);
  if (!out->status) out->status = pol_integrator_start(integrator, 0.0, q, v, keep);
  double begin = seconds();
  int next = 0;
  while (!out->status && pol_integrator_state(integrator)->t < end) {
    out->status = pol_integrator_adapt(integrator, end);
    for (; !out->status && next < OUTPUTS; next++) {
      const double t = next == OUTPUTS - 1 ? end : end * (next + 1) / OUTPUTS;
      if (t > pol_integrator_state(integrator)->t) break;
      pol_integrator_interpolate(integrator, t, out->q[next], NULL, NULL, NULL);
    }
  }
  out->seconds = seconds() - begin;
  if (integrator) {
    const pol_counts *counts = pol_integrator_counts(integrator);
    out->steps = counts->steps;
    out->rejected = counts->rejected;
    out->base_steps = 3 * stages[order / 2 - 1] * (counts->steps + counts->rejected);
    if (out->status) fprintf(stderr, "%s\n", pol_integrator_diagnostics(integrator)->message);
  }
  pol_integrator_free(&integrator);
  pol_formulation_free(&formulation);
}

static double distance(const double *a, const double *b, int n)
{
  double largest = 0.0;
  for (int i = 0; i < n; i++) largest = fmax(largest, fabs(fabs(a[i]) - fabs(b[i])));
  return largest;
}

static void measure(const char *name, const char *path, const char *change, double end)
{
  static outcome reference, one;
  pol_errors errors = {0};
  pol_model *model = NULL;
  const char *const changes[] = {"drives=[]", change};
  if (path ? pol_model_read_file(&model, path, change ? 2 : 0, changes, &errors)
           : pol_model_read_text(&model, damped_chain, 0, NULL, &errors)) {
    printf("%s: %s %s\n", name, errors.items[0].path, errors.items[0].rule);
    return;
  }
  if (!(end > 0.0)) end = model->settings.end;
  run(model, end, 8, 1e-13, &reference);
  printf("%s, %g s%s\n", name, end, reference.status ? ": refused or failed" : "");
  for (double tolerance = 1e-4; tolerance > 5e-12 && !reference.status; tolerance *= 0.1) {
    printf("  %.0e", tolerance);
    for (int order = 2; order <= 8; order += 2) {
      if (order == 2 && tolerance < 5e-8) continue;
      run(model, end, order, tolerance, &one);
      double within = 0.0;
      for (int k = 0; k < OUTPUTS - 1; k++)
        within = fmax(within, distance(one.q[k], reference.q[k], one.nq));
      const double last = distance(one.q[OUTPUTS - 1], reference.q[OUTPUTS - 1], one.nq);
      if (one.status)
        printf(" | %d: status %d", order, one.status);
      else
        printf(" | %d: %6ld %5ld+%-3ld %7.1e %7.1e %6.2f ms", order, one.base_steps, one.steps,
               one.rejected, last, within, 1e3 * one.seconds);
    }
    printf("\n");
  }
  pol_model_free(&model);
}

int main(int count, char **arguments)
{
  if (count > 2) {
    measure(arguments[1], arguments[1], NULL, atof(arguments[2]));
    return 0;
  }
  for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
    char path[600];
    snprintf(path, sizeof path, "%s/models/%s", POLHODE_SOURCE_DIR,
             models[i].file ? models[i].file : "");
    measure(models[i].name, models[i].file ? path : NULL, models[i].change, models[i].end);
  }
  return 0;
}
