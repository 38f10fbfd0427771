/* Inputs of a simulation: variables whose values a program sets between steps.  They are kept at
 * the end of the history of the dae, two numbers each (dae/extension.h). */
#include <math.h>

#include "dae/extension.h"
#include "formulation/formulation.h"
#include "integrators/family.h"
#include "simulation/parts.h"

int poli_simulation_find_input(const pol_formulation *formulation, int variable)
{
  const poli_network *network = &formulation->network;
  for (int k = 0; k < network->num_held; k++)
    if (network->held[k] == variable) return k;
  return -1;
}

pol_status poli_simulation_set_input(pol_simulation *sim, int input, double value)
{
  const size_t place = poli_dae_remembered(sim->dae) + 2 * (size_t)input;
  /* the copy that is shown, and the one to return to after a failure */
  double *copies[2] = {sim->history + place, sim->good + (sim->history - sim->q) + place};
  for (int i = 0; i < 2; i++) {
    copies[i][0] = 1.0;
    copies[i][1] = value;
  }
  return poli_integrator_set_input(sim->integrator, input, value);
}

pol_status pol_simulation_set_input(pol_simulation *sim, int variable, double value)
{
  const int input = poli_simulation_find_input(sim->formulation, variable);
  if (input < 0 || !isfinite(value)) return POL_BAD_ARGUMENT;
  return poli_simulation_set_input(sim, input, value);
}

double pol_simulation_input(const pol_simulation *sim, int variable)
{
  const int input = poli_simulation_find_input(sim->formulation, variable);
  if (input < 0) return (double)NAN;
  const double *own = sim->history + poli_dae_remembered(sim->dae) + 2 * (size_t)input;
  const double unread = 0.0;
  return own[0] > 0.0 ? own[1] : poli_network_value(&sim->formulation->network, variable, &unread);
}
