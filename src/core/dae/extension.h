/* What polhode's own models add to a pol_dae, beyond its contract. */
#ifndef POLHODE_DAE_EXTENSION_H
#define POLHODE_DAE_EXTENSION_H

#include "dae/rigid_bodies.h"
#include "dae/step_equations.h"

struct pol_dae_extension {
  poli_step_equations step_equations; /* all NULL: it has none */
  poli_rigid_bodies rigid_bodies;     /* items NULL: it has none */
  const char *not_rigid_bodies;       /* why it has none although its coordinates would fit */
  const char *not_conserved; /* why discrete forces do not conserve its energy where they should */
  /* The mass matrix has no entries outside these blocks, one for each body and one for all states:
   * velocities mass_blocks[b] .. mass_blocks[b + 1] - 1.  NULL: not known. */
  int num_mass_blocks;
  const int *mass_blocks;
  /* Inputs that a program sets: the last 2 num_inputs numbers of the history are 1 and the value of
   * each, or 0 where the model has the value.  update_history leaves them alone. */
  int num_inputs;
  /* Functions of time, positions and velocities at whose zeros forces change their formula, such as
   * the gap of a contact or the distance to a stop: their values at t, q, v and history of a point,
   * NaN where one has none.
   */
  int num_margins;
  void (*margins)(const pol_point *at, double *margins, const void *user);
};

/* Where the inputs start in the history, behind what the model remembers. */
static inline size_t poli_dae_remembered(const pol_dae *dae)
{
  return dae->history_size - (dae->extension ? 2 * (size_t)dae->extension->num_inputs : 0);
}

/* The step equations of a dae; NULL if it has none. */
static inline const poli_step_equations *poli_dae_step_equations(const pol_dae *dae)
{
  const struct pol_dae_extension *extension = dae->extension;
  return extension && extension->step_equations.evaluate ? &extension->step_equations : NULL;
}

/* Its rigid bodies; NULL if it has none. */
static inline const poli_rigid_bodies *poli_dae_rigid_bodies(const pol_dae *dae)
{
  const struct pol_dae_extension *extension = dae->extension;
  return extension && extension->rigid_bodies.items ? &extension->rigid_bodies : NULL;
}

#endif
