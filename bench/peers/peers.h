/* Other programs that the benchmarks compare with, through small drivers of our own; which of them
 * there are depends on how polhode was configured (POLHODE_BENCH_PEERS) and on what is installed.
 * Every driver measures the processor time of its steps alone, without setting up.  It is a module
 * that is loaded on demand, since SUNDIALS and Simbody have functions of the same names. */
#ifndef POLHODE_BENCH_PEERS_H
#define POLHODE_BENCH_PEERS_H

#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The heavy top: mass 15 kg, centre of mass at (0, 1, 0) in body axes from the tip, which is fixed
 * at the origin; body and global axes agree at first. */
static const double peer_top_mass = 15.0;
static const double peer_top_inertia[3] = {0.234375, 0.46875, 0.234375}; /* centre of mass */
static const double peer_top_spin[3] = {0.0, 150.0, -4.61538};
static const double peer_gravity = 9.81; /* along -z */

/* Links of the chains: rods of 0.1 m and 0.05 kg along x, at rest; hinges have the axes y and z in
 * turn, as the links of a chain have.  The loops are coupled
 * parallelograms of rods of 1 m and 1 kg: rockers upright on the ground at x = 0, 1, ..., turning
 * at 1 rad/s about y, couplers between their ends. */
static const double peer_link_length = 0.1, peer_link_mass = 0.05;
static const double peer_link_inertia[3] = {1e-6, 4.2e-5, 4.2e-5};
static const double peer_bar_inertia = 0.08, peer_bar_spin = 0.001; /* across, along the rod */

enum { PEER_SPHERICAL, PEER_REVOLUTE, PEER_LOOPS, PEER_MODELS };

typedef struct peer_method {
  const char *program, *method;
  int variable; /* 1: top() has a tolerance, 0: a number of steps */
  /* Centre of mass x of the heavy top at the end; effort is the number of steps, or 1/tolerance.
   * 0 if done.  NULL: does not take part. */
  int (*top)(double effort, double end, double x[3], double *seconds);
  double first; /* effort to begin with */
  /* The models above with so many bodies, with equal steps: x is the end of the last link, or of
   * the last rocker; seconds are those of all steps but the first two.  0 if done. */
  int (*chain)(int model, int bodies, int steps, double h, double x[3], double *seconds);
  int largest[PEER_MODELS]; /* number of bodies that it takes in reasonable time */
} peer_method;

/* The methods of a driver, *count of them: what each module exports. */
const peer_method *peer_methods(int *count);

/* Loads the driver "sundials", "simbody" or "mujoco"; NULL and 0 if it is not there. */
const peer_method *peer_load(const char *name, int *count);

/* Processor time, s. */
static inline double peer_now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#ifdef __cplusplus
}
#endif
#endif
