/* The variants of the generalized-alpha family. */
#ifndef POLHODE_INTEGRATORS_GENERALIZED_ALPHA_H
#define POLHODE_INTEGRATORS_GENERALIZED_ALPHA_H

/* Which known parts of the increment already move the configuration from which the unknown
 * increment starts: none (geom1), the velocity (geom2), velocity and acceleration (geom3). */
typedef struct pol_update {
  int base_velocity, base_acceleration;
} pol_update;

extern const pol_update pol_geom1, pol_geom2, pol_geom3;

#endif
