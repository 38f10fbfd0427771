/* The times of a simulation: how its span [0, T] is split into steps, and where output is due.
 *
 * Fixed steps h are N = T / h if that is a whole number, up to round-off; else as many whole ones
 * as fit, then a shorter one.  After a reset the same is done with what is left of the span.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "simulation/simulation_parts.h"

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
    sim->num_steps = (long)nearest;
    sim->step = sim->end / nearest;
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
