/* Invariants of a run; see invariants.h.  With linear momentum p and angular momentum L about the
 * origin, that about an axis a through the point P is a . (L - P x p). */
#include "simulation/invariants.h"

#include <math.h>
#include <string.h>

#include "lie/small.h"

/* Names of momenta along and about global axes, and of others by number. */
static const char *const linear_names[2][3] = {{"momentum.x", "momentum.y", "momentum.z"},
                                               {"momentum.1", "momentum.2", "momentum.3"}};
static const char *const angular_names[2][3] = {{"angular.x", "angular.y", "angular.z"},
                                                {"angular.1", "angular.2", "angular.3"}};

/* x, y, z if the vector is that axis, else its number. */
static const char *name_of(const char *const names[2][3], const double vector[3], int number)
{
  for (int k = 0; k < 3; k++)
    if (fabs(vector[k] - 1.0) < 1e-9) return names[0][k];
  return names[1][number];
}

int poli_invariants_find(const pol_mechanism *mechanism,
                         pol_invariant invariants[POL_MAX_INVARIANTS])
{
  pol_symmetries s;
  int count = 0;
  memset(invariants, 0, POL_MAX_INVARIANTS * sizeof *invariants);
  pol_mechanism_symmetries(mechanism, &s);
  if (s.energy)
    invariants[count++] =
        (pol_invariant){.kind = POL_CONSTANT_ENERGY, .name = "energy", .unit = "J"};
  for (int i = 0; i < s.num_translations; i++) {
    pol_invariant *own = &invariants[count++];
    own->kind = POL_CONSTANT_MOMENTUM;
    own->name = name_of(linear_names, s.translation[i], i);
    own->unit = "kg m/s";
    poli_v3_copy(s.translation[i], own->axis);
  }
  for (int i = 0; i < s.num_rotations; i++) {
    pol_invariant *own = &invariants[count++];
    own->kind = POL_CONSTANT_ANGULAR_MOMENTUM;
    own->name = name_of(angular_names, s.axis[i], i);
    own->unit = "kg m^2/s";
    poli_v3_copy(s.axis[i], own->axis);
    poli_v3_copy(s.point[i], own->point);
  }
  return count;
}

void poli_invariants_set(int count, pol_invariant *invariants, double energy,
                         const pol_momentum *momentum)
{
  for (int i = 0; i < count; i++) {
    pol_invariant *own = &invariants[i];
    double about[3];
    switch (own->kind) {
    case POL_CONSTANT_ENERGY:
      own->value = energy;
      break;
    case POL_CONSTANT_MOMENTUM:
      own->value = poli_v3_dot(own->axis, momentum->linear);
      break;
    case POL_CONSTANT_ANGULAR_MOMENTUM:
      poli_v3_copy(momentum->angular, about);
      poli_v3_add_scaled_cross(-1.0, own->point, momentum->linear, about);
      own->value = poli_v3_dot(own->axis, about);
      break;
    }
  }
}

void poli_invariants_measure(int count, pol_invariant *invariants, int first,
                             double last[POL_MAX_INVARIANTS])
{
  for (int i = 0; i < count; i++) {
    pol_invariant *own = &invariants[i];
    if (first) own->initial = last[i] = own->value;
    own->increment = own->value - last[i];
    own->max_increment = fmax(own->max_increment, fabs(own->increment));
    own->max_drift = fmax(own->max_drift, fabs(own->value - own->initial));
    last[i] = own->value;
  }
}
