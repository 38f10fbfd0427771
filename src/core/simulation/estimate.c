/* Estimates the memory of a simulation before it is created, from the sizes of its equations.
 *
 * The bytes per number were measured on chains of 3000 to 20000 links (everything that is created,
 * including the factors of the sparse matrix) and hold within a factor of about two.  The full
 * matrix that is used to find redundant constraints, nv x m numbers, can be much larger.
 */
#include <stdlib.h>

#include "simulation/simulation_parts.h"

static const double bytes_per_nonzero = 130.0, bytes_at_least = 1e7, bytes_per_number = 8.0;

/* The first of all bodies that are connected with this one; 0 is the ground. */
static int root_of(int *parent, int body)
{
  while (parent[body] != body) body = parent[body] = parent[parent[body]];
  return body;
}

int poli_mechanism_has_loop(const pol_mechanism *mechanism, int *has_loop)
{
  const int num_bodies = pol_mechanism_num_bodies(mechanism);
  int *parent = malloc(((size_t)num_bodies + 1) * sizeof *parent);
  *has_loop = 0;
  if (parent == NULL) return 0;
  for (int i = 0; i <= num_bodies; i++) parent[i] = i;
  for (int k = 0; k < pol_mechanism_num_joints(mechanism); k++) {
    const pol_joint *joint = pol_mechanism_joint(mechanism, k);
    int ends[2];
    for (int i = 0; i < 2; i++)
      ends[i] = root_of(parent, pol_mechanism_marker(mechanism, joint->marker[i])->body + 1);
    *has_loop |= ends[0] == ends[1];
    parent[ends[0]] = ends[1];
  }
  free(parent);
  return 1;
}

pol_status pol_simulation_estimate(const pol_mechanism *mechanism, const pol_settings *settings,
                                   pol_estimate *estimate)
{
  pol_formulation *formulation = NULL;
  int has_loop;
  *estimate = (pol_estimate){0};
  if (!poli_mechanism_has_loop(mechanism, &has_loop)) return POL_NO_MEMORY;
  pol_status status = pol_formulation_supports(mechanism, settings->formulation, NULL, 0);
  if (status == POL_OK)
    status = pol_formulation_create(&formulation, mechanism, settings->formulation);
  if (status != POL_OK) return status;
  const pol_dae *dae = pol_formulation_dae(formulation);
  const double nv = dae->group.nv, m = pol_dae_num_constraints(dae);
  const double coupling = dae->coupling ? pol_pattern_nonzeros(dae->coupling) : nv * nv;
  const double constraint = dae->constraint ? pol_pattern_nonzeros(dae->constraint) : m * nv;
  estimate->velocities = dae->group.nv;
  estimate->constraints = (int)m;
  estimate->memory = bytes_at_least + bytes_per_nonzero * (coupling + constraint);
  estimate->rank = has_loop ? bytes_per_number * nv * m : 0.0;
  pol_formulation_free(&formulation);
  return POL_OK;
}
