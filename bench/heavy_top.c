/* Microseconds a step for the heavy top, and where they go.
 *
 * Each row is one formulation and one kind of Newton matrix at h = 1e-3, 1000 steps, best of many
 * runs taken in turns (so that a noisy moment hits all rows alike).  The parts are unit times,
 * measured in the same way, times the counts of the run; "rest" is what remains: increments,
 * assembly, norms, time keeping.
 */
#define _POSIX_C_SOURCE 199309L
#include <polhode/model.h>
#include <polhode/polhode.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "dae/assembler.h"

enum { STEPS = 1000, ROUNDS = 40, UNIT_CALLS = 2000 };

typedef struct row {
  const char *name;
  pol_formulation_kind formulation;
  pol_newton_kind kind;
  double refresh;
  pol_formulation *model;
  pol_integrator *integrator;
  double best; /* seconds for all steps */
} row;

/* Seconds of one call. */
typedef struct units {
  double residual, matrix, factor, solve;
} units;

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void stop(const char *what)
{
  fprintf(stderr, "bench: %s failed\n", what);
  exit(1);
}

static void open_row(row *r, const pol_model *model)
{
  pol_options options = model->settings.options;
  options.newton.kind = r->kind;
  options.newton.refresh = r->refresh;
  r->best = HUGE_VAL;
  if (pol_formulation_create(&r->model, model->mechanism, r->formulation)) stop("formulation");
  if (pol_integrator_create(&r->integrator, pol_formulation_dae(r->model), &options))
    stop("integrator");
}

static void run_row(row *r)
{
  double q[7], v[6];
  unsigned char keep[6];
  pol_formulation_initial(r->model, q, v, keep);
  if (pol_integrator_start(r->integrator, 0.0, q, v, keep)) stop("start");
  double begin = now();
  for (int n = 0; n < STEPS; n++)
    if (pol_integrator_step(r->integrator, 1e-3)) stop("step");
  r->best = fmin(r->best, now() - begin);
}

/* Seconds a call of what `part` names, the best of ROUNDS loops. */
static double unit_time(row *r, int part)
{
  const pol_dae *dae = pol_formulation_dae(r->model);
  const pol_state *s = pol_integrator_state(r->integrator);
  double scratch[64], vector[16], matrices[5][64], rhs[16] = {0.0}, best = HUGE_VAL;
  pol_point at = pol_state_point(s);
  pol_terms out = {vector,      vector + 6,  vector + 9,  vector + 12, matrices[0],
                   matrices[1], matrices[2], matrices[3], matrices[4], NULL};
  pol_assembler *assembler;
  if (pol_assembler_create(&assembler, dae, POL_SOLVER_AUTO)) stop("assembler");
  poli_saddle *saddle = poli_assembler_saddle(assembler);
  unsigned matrix = POL_MASS | POL_JACOBIAN;
  if (r->kind != POL_NEWTON_SIMPLIFIED)
    matrix |= POL_DAMPING | POL_STIFFNESS | POL_GEOMETRIC_STIFFNESS;
  poli_dae_evaluate(dae, &at, POL_MASS | POL_JACOBIAN, &out, scratch);
  poli_saddle_set_kkt(saddle, out.mass, out.jacobian);
  if (pol_solver_factor(saddle->solver, saddle->values)) stop("factor");
  for (int round = 0; round < ROUNDS; round++) {
    double begin = now();
    for (int n = 0; n < UNIT_CALLS; n++) switch (part) {
      case 0:
        poli_dae_evaluate(dae, &at, POL_INERTIA | POL_FORCE | POL_REACTION | POL_POSITION, &out,
                          scratch);
        break;
      case 1:
        poli_dae_evaluate(dae, &at, matrix, &out, scratch);
        break;
      case 2:
        pol_solver_refactor(saddle->solver, saddle->values);
        break;
      default:
        rhs[0] = 1.0;
        pol_solver_solve(saddle->solver, rhs);
      }
    best = fmin(best, (now() - begin) / UNIT_CALLS);
  }
  pol_assembler_free(&assembler);
  return best;
}

static void print_row(row *r, double reference)
{
  const pol_counts *c = pol_integrator_counts(r->integrator);
  units u = {unit_time(r, 0), unit_time(r, 1), unit_time(r, 2), unit_time(r, 3)};
  double step = r->best / STEPS, scale = 1e6 / STEPS;
  double residual = scale * (double)c->residuals * u.residual;
  double matrix = scale * (double)c->jacobians * u.matrix;
  double factor = scale * (double)c->factorizations * u.factor;
  double solve = scale * (double)c->newton_iterations * u.solve;
  printf("%-7s %-15s %6.2f %6.2f %7.2f %7ld %9.2f %7.2f %7.2f %6.2f %6.2f\n",
         pol_formulation_name(r->formulation), r->name, 1e6 * step, step / reference,
         (double)c->newton_iterations / STEPS, c->jacobians, residual, matrix, factor, solve,
         1e6 * step - residual - matrix - factor - solve);
}

int main(void)
{
  pol_model *model;
  pol_errors errors = {0};
  const char *path = POLHODE_SOURCE_DIR "/models/bruels-cardona-2010/heavy_top.json";
  if (pol_model_read_file(&model, path, 0, NULL, &errors)) stop("model");
  row rows[] = {
      {.name = "full", .formulation = POL_SO3XR3, .kind = POL_NEWTON_FULL, .refresh = 0.5},
      {.name = "simplified",
       .formulation = POL_SO3XR3,
       .kind = POL_NEWTON_SIMPLIFIED,
       .refresh = 0.5},
      {.name = "modified", .formulation = POL_SO3XR3, .kind = POL_NEWTON_MODIFIED, .refresh = 0.5},
      {.name = "full", .formulation = POL_SE3_BODY, .kind = POL_NEWTON_FULL, .refresh = 0.5},
      {.name = "simplified",
       .formulation = POL_SE3_BODY,
       .kind = POL_NEWTON_SIMPLIFIED,
       .refresh = 0.5},
      {.name = "modified",
       .formulation = POL_SE3_BODY,
       .kind = POL_NEWTON_MODIFIED,
       .refresh = 0.5},
  };
  int num_rows = (int)(sizeof rows / sizeof rows[0]);
  for (int i = 0; i < num_rows; i++) open_row(&rows[i], model);
  for (int round = 0; round < ROUNDS; round++)
    for (int i = 0; i < num_rows; i++) run_row(&rows[i]);

  printf("heavy top, index 3, h = 1e-3; times in microseconds a step, ratio to the first row\n");
  printf("%-7s %-15s %6s %6s %7s %7s %9s %7s %7s %6s %6s\n", "", "Newton matrix", "step", "ratio",
         "newton", "jacob.", "residual", "matrix", "factor", "solve", "rest");
  for (int i = 0; i < num_rows; i++) print_row(&rows[i], rows[0].best / STEPS);
  for (int i = 0; i < num_rows; i++) {
    pol_integrator_free(&rows[i].integrator);
    pol_formulation_free(&rows[i].model);
  }
  pol_model_free(&model);
  return 0;
}
