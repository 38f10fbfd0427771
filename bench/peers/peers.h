/* Other programs that the benchmarks compare with, through small drivers of our own; which of them
 * there are depends on how polhode was configured (POLHODE_BENCH_PEERS) and on what is installed.
 * Every driver measures the processor time of its steps alone, without setting up.  It is a module
 * that is loaded on demand, since SUNDIALS and Simbody have functions of the same names. */
#ifndef POLHODE_BENCH_PEERS_H
#define POLHODE_BENCH_PEERS_H

#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include <math.h>
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

/* The spatial slider-crank of models/holzinger-arnold-gerstmayr: the crank turns about x, a ball
 * joint at its pin holds the rod, a universal joint the rod on the slider, which moves along x.
 * The rod has the rotation Rx(first) Ry(second), the angles of the universal joint. */
static const double peer_crank_mass = 0.12, peer_rod_mass = 0.5, peer_slider_mass = 2.0;
static const double peer_crank_inertia = 1e-4; /* about all axes, of the slider too */
static const double peer_rod_inertia[3] = {4e-4, 4e-3, 4e-3};
static const double peer_crank_pivot[3] = {0.0, 0.1, 0.12}, peer_crank_centre[3] = {0.0, 0.1, 0.16};
static const double peer_crank_pin[3] = {0.0, 0.1, 0.2}, peer_rod_centre[3] = {0.1, 0.05, 0.1};
static const double peer_slider_at = 0.2, peer_rod_half = 0.15;
static const double peer_rod_angle[2] = {-0.46364760900080611621, 0.84106867056793025578};
/* Speeds at the start: of the crank, the slider and both angles of the universal joint. */
static const double peer_crank_speed = 6.0, peer_slider_speed = 0.24;
static const double peer_rod_speed[2] = {1.92, -1.07331262919989905};

enum { PEER_SPHERICAL, PEER_REVOLUTE, PEER_LOOPS, PEER_MODELS };

typedef struct peer_method {
  const char *program, *method;
  const char *nature; /* order, kind of joints and of numbers, for readers of the tables */
  int variable; /* 1: effort is 1/tolerance, 0: a number of steps; chains have equal steps anyway */
  double first; /* effort to begin with */
  double floor; /* error, m, below which its numbers have too few digits */
  /* Centre of mass x of the heavy top at the end.  0 if done.  NULL, as for the next ones: does not
   * take part. */
  int (*top)(double effort, double end, double x[3], double *seconds);
  /* Centre of mass x of the rod of the slider-crank at the end. */
  int (*slider)(double effort, double end, double x[3], double *seconds);
  /* The loops with so many bodies: x is the end of the last rocker; and the largest change of
   * energy (peer_sample). */
  int (*loops)(int bodies, double effort, double end, double x[3], double *drift, double *seconds);
  /* The models above with so many bodies, with equal steps: x is the end of the last link, or of
   * the last rocker; seconds are those of all steps but the first two.  0 if done. */
  int (*chain)(int model, int bodies, int steps, double h, double x[3], double *seconds);
  int largest[PEER_MODELS]; /* number of bodies that it takes in reasonable time */
} peer_method;

/* The methods of a driver, *count of them: what each module exports. */
const peer_method *peer_methods(int *count);

/* All drivers: "sundials", "simbody", ... */
enum { PEER_DRIVERS = 7 };
extern const char *const peer_drivers[PEER_DRIVERS];

/* Loads a driver; NULL and 0 if it is not there. */
const peer_method *peer_load(const char *name, int *count);

/* Processor time, s. */
static inline double peer_now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Energy of the loops from the angles of rockers and couplers, in turns, each about y relative to
 * the body before, and their rates. */
static inline double peer_loops_energy(const double *q, const double *v, int bodies)
{
  double sum = 0.0;
  for (int i = 0; i < bodies; i += 2) {
    const double turn = v[i], moment = peer_bar_inertia;
    sum += 0.5 * (0.25 + moment) * turn * turn + 0.5 * peer_gravity * cos(q[i]);
    if (i + 1 == bodies) break;
    const double angle = q[i] + q[i + 1], rate = v[i] + v[i + 1];
    const double x = cos(q[i]) * turn - 0.5 * sin(angle) * rate;
    const double z = -sin(q[i]) * turn - 0.5 * cos(angle) * rate;
    sum += 0.5 * (x * x + z * z + moment * rate * rate);
    sum += peer_gravity * (cos(q[i]) - 0.5 * sin(angle));
  }
  return sum;
}

/* A model being stepped: advance(data, n) returns 0 if it took n steps, or went on to the fraction
 * n/PEER_SAMPLES of the time where the program chooses its steps; energy(data) is its energy. */
enum { PEER_SAMPLES = 1000 };
typedef struct peer_motion {
  int (*advance)(void *data, long n);
  double (*energy)(void *data);
  void *data;
} peer_motion;

/* All steps, with the energy seen PEER_SAMPLES times in between, outside of the measured time. */
static inline int peer_sample(const peer_motion *motion, int variable, double steps, double *drift,
                              double *seconds)
{
  const double start = motion->energy(motion->data);
  long done = 0;
  *drift = *seconds = 0.0;
  for (int k = 1; k <= PEER_SAMPLES; k++) {
    const long until = variable ? k : (long)(steps * k / PEER_SAMPLES + 1e-6);
    const double begin = peer_now();
    const int status = motion->advance(motion->data, variable ? until : until - done);
    *seconds += peer_now() - begin;
    if (status) return status;
    done = until;
    const double change = motion->energy(motion->data) - start;
    if (!(change <= *drift)) *drift = change; /* a NaN stays */
    if (-change > *drift) *drift = -change;
  }
  return *drift == *drift ? 0 : -1;
}

#ifdef __cplusplus
}
#endif
#endif
