/* The force or torque T of an element on a joint coordinate as a function of the coordinate theta,
 * its rate u and a load N that the reactions of the joint exert on its bearing:
 *
 *     spring    T = a - c u - k (theta - rest)
 *     stop      T = -k p (1 + tanh(d u / (k p))),  p = theta - max > 0;  likewise below min
 *     friction  T = -(mu(u) N + s(u)) tanh(u / u_c) - b u,
 *               mu = mu_k + (mu_s - mu_k) exp(-(u / u_s)^2), likewise s of the levels
 *
 * A hard stop, with impacts by events, has this force for slow contacts alone: it is multiplied by
 * the smooth step 1 - 3 x^2 + 2 x^3, x = u / u_rest - 1 from 0 to 1, so that the end of a step
 * beyond the limit does not disturb the impact that is found within the step.
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

/* The law of an element on a joint coordinate: joint-spring, joint-stop or joint-friction. */
poli_joint_law poli_joint_law_at(const pol_force *force, double value, double rate, double load);

/* Its energy, with T = -dE/dtheta at rest; a hard stop has none at rates that it lets go. */
double poli_joint_law_energy(const pol_force *force, double value, double rate);

/* The law between two values with the mean rate: its spring does the work -(E(after) - E(before)),
 * all else is that of the mean.  by_value is the derivative by `after`. */
poli_joint_law poli_joint_law_between(const pol_force *force, double before, double after,
                                      double rate);

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
