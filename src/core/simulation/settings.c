/* The settings of a simulation: their defaults and rules, the time span in steps, the output times,
 * and the estimate of memory.
 *
 * Fixed steps h are N = T / h if that is a whole number, up to round-off; else as many whole ones
 * as fit, then a shorter one.  After a reset the same is done with what is left of the span.
 *
 * The bytes per number of the estimate were measured on chains of 1000 to 1 000 000 links
 * (everything that is created, including the factors of the sparse matrix) and hold within a factor
 * of about two.  Large systems that start and step by rows (dae/row_saddle.h) need no matrix and,
 * as long as they have no loops, no rank of the constraints; if a step needs the matrix all the
 * same, they need as much as the others.  The full matrix that is used to find redundant
 * constraints, nv x m numbers, can be much larger.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rule.h"
#include "dae/assembler.h"
#include "dae/extension.h"
#include "integrators/family.h"
#include "simulation/parts.h"

/* --- settings --------------------------------------------------------------------------------- */

/* More steps than this cannot be counted exactly in a double. */
static const double max_steps = 9e15;

pol_settings pol_settings_default(void)
{
  pol_settings settings = {
      .formulation = POL_SO3XR3, .options = pol_options_default(), .step = 1e-3, .end = 1.0};
  return settings;
}

pol_formulation_kind pol_settings_formulation(const pol_settings *settings)
{
  switch (settings->formulation) {
  case POL_SE3_BODY:
  case POL_SO3XR3_SPATIAL:
  case POL_SO3XR3_CAYLEY:
  case POL_SO3_PIVOT:
    return strcmp(settings->options.method, "rattle") == 0 ? POL_SO3XR3 : settings->formulation;
  default:
    return settings->formulation;
  }
}

pol_status pol_settings_validate(const pol_settings *settings, char *message, size_t size)
{
  const pol_output *output = &settings->output;
  const char *rule = NULL;
  double last = 0.0;
  if ((int)settings->formulation < 0 || (int)settings->formulation >= pol_formulation_count())
    rule = "formulation must be one of the formulations";
  else if (!settings->variable && !(isfinite(settings->step) && settings->step > 0.0))
    rule = "step must be a positive number";
  else if (!(isfinite(settings->end) && settings->end > 0.0))
    rule = "end must be a positive number";
  else if (!settings->variable && settings->step > (1.0 + 1e-9) * settings->end)
    rule = "step must not be longer than end";
  else if (!settings->variable && settings->end / settings->step > max_steps)
    rule = "step must not be so small that the steps cannot be counted";
  else if (!(isfinite(output->step) && output->step >= 0.0))
    rule = "output.step must not be negative";
  else if (output->step > 0.0 && settings->end / output->step > max_steps)
    rule = "output.step must not be so small that the rows cannot be counted";
  else if (output->count < 0 || (output->count > 0 && output->step > 0.0))
    rule = "output must have a step or a list of times";
  else if (output->count > 0 && output->times == NULL)
    rule = "output.times must not be NULL where output.count is positive";
  else if (settings->num_events < 0 || (settings->num_events > 0 && settings->events == NULL))
    rule = "events must not be NULL where num_events is positive";
  for (int i = 0; rule == NULL && i < output->count; last = output->times[i++])
    if (!(output->times[i] > last && output->times[i] <= settings->end))
      rule = "output.times must ascend from above 0 to end at most";
  if (rule != NULL) return poli_broken_rule(rule, message, size);
  pol_status status = pol_options_validate(&settings->options, message, size);
  const pol_options *options = &settings->options;
  const int reversible = options->control.controller == POL_CONTROLLER_REVERSIBLE;
  if (status == POL_OK && options->order == 0 && (!settings->variable || reversible))
    return poli_broken_rule("order must be 2, 4, 6 or 8 without rtol and atol, from which auto "
                            "chooses it",
                            message, size);
  if (status == POL_OK && settings->variable && options->newton.fixed_iterations > 0)
    return poli_broken_rule("newton.fixed_iterations must be 0 with steps of variable size",
                            message, size);
  if (status == POL_OK && settings->variable && !pol_method_adapts(options->method))
    return poli_broken_rule("steps must be fixed: this method has no error estimate", message,
                            size);
  return status;
}

/* End times this near to a multiple of the step are one. */
static const double multiple_tolerance = 1e-9;

/* --- steps ------------------------------------------------------------------------------------ */

void poli_simulation_plan_steps(pol_simulation *sim, const pol_settings *settings)
{
  sim->end = settings->end;
  sim->variable = settings->variable;
  if (sim->variable) return;
  double ratio = settings->end / settings->step;
  double nearest = floor(ratio + 0.5);
  if (nearest >= 1.0 && fabs(ratio - nearest) <= multiple_tolerance * ratio) {
    /* but for round-off, the step itself: it must not depend on the end */
    const int exact = fabs(nearest * settings->step - sim->end) <= 4.0 * DBL_EPSILON * sim->end;
    sim->num_steps = (long)nearest;
    sim->step = exact ? settings->step : sim->end / nearest;
    sim->last_step = sim->step;
  } else {
    double whole = floor(ratio);
    sim->num_steps = (long)whole + 1;
    sim->step = settings->step;
    sim->last_step = sim->end - whole * sim->step;
  }
}

void poli_simulation_plan_rest(pol_simulation *sim, double t)
{
  double whole = ceil((sim->end - t) / sim->step * (1.0 - multiple_tolerance));
  if (whole < 1.0) whole = 1.0;
  sim->plan_t = t;
  sim->plan_done = sim->done;
  sim->num_steps = sim->done + (long)whole;
  sim->last_step = sim->end - t - (whole - 1.0) * sim->step;
}

double poli_simulation_step_size(const pol_simulation *sim, long n)
{
  return n == sim->num_steps ? sim->last_step : sim->step;
}

/* --- output ----------------------------------------------------------------------------------- */

pol_status poli_simulation_plan_output(pol_simulation *sim, const pol_output *output)
{
  size_t count = (size_t)output->count;
  sim->output = *output;
  sim->next_output = 1;
  if (count == 0) return POL_OK;
  sim->output.times = sim->times = malloc(count * sizeof *sim->times);
  if (sim->times == NULL) return POL_NO_MEMORY;
  memcpy(sim->times, output->times, count * sizeof *sim->times);
  return POL_OK;
}

double poli_simulation_next_output_time(const pol_simulation *sim)
{
  const pol_output *output = &sim->output;
  if (output->count > 0)
    return sim->next_output <= output->count ? output->times[sim->next_output - 1] : sim->end;
  double t = (double)sim->next_output * output->step;
  return t < sim->end * (1.0 - multiple_tolerance) ? t : sim->end;
}

/* --- estimate --------------------------------------------------------------------------------- */

static const double bytes_per_nonzero = 130.0, bytes_at_least = 1e7;
/* By rows, per velocity and per constraint. */
static const double bytes_of_velocity = 1000.0, bytes_of_row = 1600.0;
/* For the rank of the constraints, per entry of their matrix. */
static const double bytes_of_rank = 40.0, bytes_of_loops = 200.0;

int poli_mechanism_has_loop(const pol_mechanism *mechanism, int *has_loop)
{
  const int num_bodies = pol_mechanism_num_bodies(mechanism);
  int *parent = malloc(((size_t)num_bodies + 1) * sizeof *parent);
  *has_loop = 0;
  if (parent == NULL) return 0;
  for (int i = 0; i <= num_bodies; i++) parent[i] = i;
  for (int i = 0; i < num_bodies; i++) /* the frames of a flexible body are one body */
    parent[i + 1] -= pol_mechanism_body(mechanism, i)->interface;
  for (int k = 0; k < pol_mechanism_num_joints(mechanism); k++) {
    const pol_joint *joint = pol_mechanism_joint(mechanism, k);
    int ends[2];
    for (int i = 0; i < 2; i++) {
      /* the first of all bodies that are connected with this one; 0 is the ground */
      int body = pol_mechanism_marker(mechanism, joint->marker[i])->body + 1;
      while (parent[body] != body) body = parent[body] = parent[parent[body]];
      ends[i] = body;
    }
    *has_loop |= ends[0] == ends[1];
    parent[ends[0]] = ends[1];
  }
  free(parent);
  return 1;
}

/* Whether a simulation starts and steps by rows. */
static int is_by_rows(const pol_dae *dae, const pol_options *options)
{
  const poli_rigid_bodies *bodies = poli_dae_rigid_bodies(dae);
  const poli_method_entry *method = poli_method_entry_find(options->method);
  const poli_family *family = method ? poli_method_family(method, dae) : NULL;
  return poli_assembler_chooses_rows(dae, options->solver) && bodies->has_weight_only &&
         (family == &poli_generalized_alpha || family == &poli_splitting);
}

pol_status pol_simulation_estimate(const pol_mechanism *mechanism, const pol_settings *settings,
                                   pol_estimate *estimate)
{
  pol_formulation *formulation = NULL;
  int has_loop;
  *estimate = (pol_estimate){0};
  if (!poli_mechanism_has_loop(mechanism, &has_loop)) return POL_NO_MEMORY;
  const pol_formulation_kind kind = pol_settings_formulation(settings);
  pol_status status = pol_formulation_supports(mechanism, kind, NULL, 0);
  if (status == POL_OK) status = pol_formulation_create(&formulation, mechanism, kind);
  if (status != POL_OK) return status;
  const pol_dae *dae = pol_formulation_dae(formulation);
  const double nv = dae->group.nv, m = pol_dae_num_constraints(dae);
  const double coupling = dae->coupling ? pol_pattern_nonzeros(dae->coupling) : nv * nv;
  const double constraint = dae->constraint ? pol_pattern_nonzeros(dae->constraint) : m * nv;
  estimate->velocities = dae->group.nv;
  estimate->constraints = (int)m;
  const int by_rows = is_by_rows(dae, &settings->options);
  estimate->memory = bytes_at_least + (by_rows ? bytes_of_velocity * nv + bytes_of_row * m
                                               : bytes_per_nonzero * (coupling + constraint));
  estimate->rank = (has_loop ? bytes_of_loops : by_rows ? 0.0 : bytes_of_rank) * constraint;
  pol_formulation_free(&formulation);
  return POL_OK;
}
