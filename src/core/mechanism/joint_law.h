/* The force or torque T of an element on a joint coordinate as a function of the coordinate theta,
 * its rate u and a load N that the reactions of the joint exert on its bearing:
 *
 *     spring    T = a - c u - k (theta - rest)
 *     stop      T = -k p (1 + tanh(d u / (k p))),  p = theta - max > 0;  likewise below min
 *     friction  T = -(mu(u) N + s(u)) tanh(u / u_c) - b u,
 *               mu = mu_k + (mu_s - mu_k) exp(-(u / u_s)^2), likewise s of the levels
 *
 * A hard stop in a simulation has a state of contact that changes only at events, so that its law
 * is linear within a step: no force while it is free, and while the joint rests on it
 *
 *     T = -s (T0 + k p + d u),   s = 1 at max, -1 at min,
 *
 * until this would pull.  The preload T0 is the load at the beginning of the contact, so that the
 * joint rests at the limit itself.  Without a simulation the law is that of other stops.
 *
 * A stop is Lipschitz continuous: dT/dtheta and dT/du are bounded by about 2.1 k and by d.  Its
 * damper never pulls, and takes out energy at any rate.  Friction with a Stribeck curve follows
 * Armstrong-Helouvry, Dupont and Canudas de Wit 1994, section 2.
 *
 * The load is a sum of norms of multipliers: those of locked translations across and along the
 * axis, and of locked rotations about axes across and along it, each sum with a weight. */
#ifndef POLHODE_MECHANISM_JOINT_LAW_H
#define POLHODE_MECHANISM_JOINT_LAW_H

#include <polhode/mechanism.h>

/* T and its derivatives. */
typedef struct poli_joint_law {
  double T, by_value, by_rate, by_load;
} poli_joint_law;

/* The state of a hard stop: 0 without a simulation, else free, or at which end the joint rests. */
enum { POLI_STOP_ALONE = 0, POLI_STOP_MAX = 1, POLI_STOP_MIN = -1, POLI_STOP_FREE = 2 };

/* What an element on a joint needs to know beside the frames of its bodies: an angle less than half
 * a turn from the present one, which is not read for a displacement; the load of friction; the
 * contact of a hard stop, with its preload. */
typedef struct poli_joint_memory {
  double angle, load;
  int contact;
  double preload;
} poli_joint_memory;

/* Whether a joint rests on the hard stop: -1 or 1, the end; else 0. */
int poli_joint_law_rests(const pol_force *force, const poli_joint_memory *memory);

/* The law of an element on a joint coordinate: joint-spring, joint-stop or joint-friction. */
poli_joint_law poli_joint_law_at(const pol_force *force, double value, double rate,
                                 const poli_joint_memory *memory);

/* Its energy, with T = -dE/dtheta at rest. */
double poli_joint_law_energy(const pol_force *force, double value, const poli_joint_memory *memory);

/* The law between two values with the mean rate: its spring does the work -(E(after) - E(before)),
 * all else is that of the mean.  by_value is the derivative by `after`. */
poli_joint_law poli_joint_law_between(const pol_force *force, double before, double after,
                                      double rate, const poli_joint_memory *memory);

/* Parts of a reaction: force and torque, across and along the axis. */
enum { POLI_LOAD_PARTS = 4 };

/* How the multipliers of a joint load its bearing. */
typedef struct poli_joint_load {
  int num_rows;
  int part[POL_MAX_JOINT_ROWS]; /* of each row */
  double weight[POLI_LOAD_PARTS];
} poli_joint_load;

/* Whether friction depends on reactions. */
int poli_friction_reads_reactions(const pol_force *force);

/* The load of a friction element; no rows if it does not depend on reactions. */
void poli_joint_load_setup(poli_joint_load *load, const pol_mechanism *mechanism,
                           const pol_force *force);

/* N, and its derivatives by the multipliers (may be NULL); 0 for those of a part that is zero. */
double poli_joint_load_value(const poli_joint_load *load, const double *lambda,
                             double by_lambda[POL_MAX_JOINT_ROWS]);

#endif
