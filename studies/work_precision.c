/* Fixed against variable steps: evaluations of the equations for the error at the end.
 *
 * Three motions: a pendulum that swings against a hard stop (fast for milliseconds, slow for the
 * rest), the spatial slider-crank and the heavy top.  Each line is a step size or a tolerance; the
 * last column is what fixed steps need for the same error, interpolated, over what was needed.  The
 * slider-crank runs in index 3: with fixed steps the error of the slider in the stabilized form
 * passes through zero and tells nothing.
 * References: the pendulum by the finest tolerance of another method and index, the models by an
 * independent high-precision integration (2026).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/polhode.h>

enum { ROWS = 6 };

typedef struct result {
  long evaluations, steps, rejected;
  double error;
} result;

/* --- the pendulum with a stop ----------------------------------------------------------------- */

/* Mass 1 on a rod of length 1 in the plane; the stop at x = -0.3 pushes with k depth^2. */
static const double stop_at = -0.3, stop_stiffness = 1e8;

static pol_status stop_evaluate(const pol_point *at, unsigned want, const pol_terms *out,
                                double *scratch, void *user)
{
  const double *q = at->q, *v = at->v;
  double depth = fmax(0.0, stop_at - q[0]);
  (void)scratch;
  (void)user;
  for (int j = 0; j < 2; j++) {
    if (want & POL_INERTIA) out->balance[j] += at->vd[j];
    if (want & POL_MASS) out->mass[3 * j] += 1.0;
    if (want & POL_REACTION) out->balance[j] += q[j] * at->lambda[0];
    if (want & POL_JACOBIAN) out->jacobian[j] += q[j];
    if (want & POL_CURVATURE) out->curvature[j] += v[j];
    if (want & POL_GEOMETRIC_STIFFNESS) out->stiffness[3 * j] += at->lambda[0];
  }
  if (want & POL_FORCE) out->balance[1] += 9.81;
  if (want & POL_FORCE) out->balance[0] -= stop_stiffness * depth * depth;
  if (want & POL_STIFFNESS) out->stiffness[0] += 2.0 * stop_stiffness * depth;
  if (want & POL_POSITION) out->position[0] = 0.5 * (q[0] * q[0] + q[1] * q[1] - 1.0);
  if (want & POL_VELOCITY) out->velocity[0] = q[0] * v[0] + q[1] * v[1];
  if (want & POL_ACCELERATION) out->acceleration[0] = v[0] * v[0] + v[1] * v[1];
  return POL_OK;
}

/* Runs 3 s, with fixed steps if step is not 0; the position at the end goes to x. */
static result run_stop(const pol_options *options, double step, double x[2])
{
  static const double end = 3.0;
  pol_factor factor = {.kind = POL_REAL, .dim = 2};
  pol_dae dae = {.num_holonomic = 1, .evaluate = stop_evaluate};
  double q[2] = {sin(1.2), -cos(1.2)}, v[2] = {0.0, 0.0};
  pol_integrator *integrator;
  if (pol_group_layout(&dae.group, &factor, 1)) exit(1);
  if (pol_integrator_create(&integrator, &dae, options)) exit(1);
  if (pol_integrator_start(integrator, 0.0, q, v, NULL)) exit(1);
  const pol_state *now = pol_integrator_state(integrator);
  long steps = step > 0.0 ? lround(end / step) : 0;
  for (long n = 0; n < steps; n++)
    if (pol_integrator_step(integrator, step)) exit(1);
  while (!steps && now->t < end)
    if (pol_integrator_adapt(integrator, end)) exit(1);
  const pol_counts *counts = pol_integrator_counts(integrator);
  result r = {counts->residuals, counts->steps, counts->rejected, 0.0};
  memcpy(x, now->q, 2 * sizeof *x);
  pol_integrator_free(&integrator);
  return r;
}

/* --- the models ------------------------------------------------------------------------------- */

static result run_model(const char *path, const char *body, double end, const double *exact,
                        int count, const pol_options *options, double step)
{
  pol_errors errors = {0, NULL};
  pol_model *model;
  pol_simulation *simulation;
  pol_body_state state;
  if (pol_model_read_file(&model, path, 0, NULL, &errors)) exit(1);
  model->settings.options = *options;
  model->settings.end = end;
  model->settings.variable = step == 0.0;
  model->settings.step = step;
  if (pol_simulation_create(&simulation, model->mechanism, &model->settings, NULL)) exit(1);
  while (!pol_simulation_finished(simulation))
    if (pol_simulation_step(simulation)) exit(1);
  const pol_counts *counts = &pol_simulation_summary(simulation)->counts;
  const pol_state *now = pol_simulation_state(simulation);
  pol_formulation_body_state(pol_simulation_formulation(simulation), now->q, now->v,
                             pol_mechanism_find_body(model->mechanism, body), &state);
  result r = {counts->residuals, counts->steps, counts->rejected, 0.0};
  for (int i = 0; i < count; i++) r.error += pow(state.position[i] - exact[i], 2.0);
  r.error = sqrt(r.error);
  pol_simulation_free(&simulation);
  pol_model_free(&model);
  return r;
}

/* --- the tables ------------------------------------------------------------------------------- */

enum { STOP, SLIDER, TOP, MOTIONS };

static result run(int motion, const pol_options *options, double step)
{
  static const double slider[] = {0.2890851970671418};
  static const double top[] = {0.17334396409838604, 0.6400885920705692, -0.748490791133581};
  static double exact[2];
  double x[2];
  if (motion == SLIDER)
    return run_model(POLHODE_SOURCE_DIR "/models/holzinger-arnold-gerstmayr/slider_crank.json",
                     "slider", 2.0, slider, 1, options, step);
  if (motion == TOP)
    return run_model(POLHODE_SOURCE_DIR "/models/bruels-cardona-2010/heavy_top.json", "top", 1.0,
                     top, 3, options, step);
  if (exact[1] == 0.0) {
    pol_options fine = *options;
    pol_options_set_hht(&fine, -0.05);
    fine.index = POL_INDEX_2;
    fine.control.rtol = 0.0;
    fine.control.atol_translation = 1e-13;
    run_stop(&fine, 0.0, exact);
  }
  result r = run_stop(options, step, x);
  r.error = hypot(x[0] - exact[0], x[1] - exact[1]);
  return r;
}

/* Evaluations that fixed steps need for this error, on lines between the points of the log-log
 * plot. */
static double fixed_evaluations(const result fixed[ROWS], double error)
{
  int k = 0;
  while (k < ROWS - 2 && error < fixed[k + 1].error) k++;
  double slope = log((double)fixed[k + 1].evaluations / (double)fixed[k].evaluations) /
                 log(fixed[k + 1].error / fixed[k].error);
  return (double)fixed[k].evaluations * pow(error / fixed[k].error, slope);
}

int main(void)
{
  static const char *const names[] = {"Pendulum with a hard stop", "Spatial slider-crank",
                                      "Heavy top"};
  static const double first_step[] = {1e-3, 8e-3, 2e-3};
  for (int m = 0; m < MOTIONS; m++) {
    pol_options options = pol_options_default();
    result fixed[ROWS];
    pol_options_set_rho_inf(&options, 0.8);
    options.index = m == SLIDER ? POL_INDEX_3 : POL_INDEX_2_STABILIZED;
    printf("%s%s\n\n| steps | number | rejected | evaluations | error | fixed/variable |\n"
           "|---|---|---|---|---|---|\n",
           m ? "\n" : "", names[m]);
    for (int k = 0; k < ROWS; k++) {
      double step = first_step[m] / (1 << k);
      fixed[k] = run(m, &options, step);
      printf("| h = %.3g | %ld | | %ld | %.2e | |\n", step, fixed[k].steps, fixed[k].evaluations,
             fixed[k].error);
    }
    for (int k = 0; k < ROWS; k++) {
      double eps = pow(10.0, -3 - k);
      options.control.rtol = options.control.atol_translation = options.control.atol_rotation = eps;
      result r = run(m, &options, 0.0);
      printf("| eps = %.0e | %ld | %ld | %ld | %.2e | %.2g |\n", eps, r.steps, r.rejected,
             r.evaluations, r.error, fixed_evaluations(fixed, r.error) / (double)r.evaluations);
    }
  }
  return 0;
}
