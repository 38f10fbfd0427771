/* The heavy top of Bruels/Cardona 2010 against an independent solution, which three papers need.
 *
 * Mass 15, centre of mass at a distance of 1 from the fixed tip along the body's y axis, inertia
 * diag(0.234375, 0.46875, 0.234375), gravity -9.81 along z; it starts with the body angular
 * velocity (0, 150, -4.61538) from R = I.  The solution is known every 5e-4 s on [0, 1], to 1e-12.
 */
#ifndef POLHODE_PAPERS_HEAVY_TOP_H
#define POLHODE_PAPERS_HEAVY_TOP_H

#include "papers/reproduce.h"

/* The exact solution at one time. */
typedef struct paper_top_state {
  double quaternion[4], rotation[9], position[3];
  double angular_velocity[3]; /* body axes */
  double velocity[3];         /* global axes */
  double velocity_body[3];
  double force_body[3]; /* of the tip on the top, body axes: lambda of Phi = X - R^T x */
  double force[3];      /* the same in global axes: lambda of Phi = x - R X, but for the sign */
} paper_top_state;

enum { PAPER_TOP_GRID = 2001 }; /* every 5e-4 s */
typedef struct paper_top {
  double *grid; /* t, quaternion, body angular velocity; NULL: not there */
} paper_top;

void paper_top_read(paper_report *report, paper_top *top);
void paper_top_free(paper_top *top);
/* The solution at grid point n, t = 5e-4 n. */
void paper_top_exact(const paper_top *top, int n, paper_top_state *state);
/* The solution at any time from 0 to 1, by small Runge-Kutta steps from the nearest grid point. */
void paper_top_exact_at(const paper_top *top, double t, paper_top_state *state);
/* The force of the tip on the top of a run, in the axes of the top, whose rotation is R. */
void paper_top_tip_force(const pol_simulation *simulation, const double R[9], double force_body[3]);

/* Errors of a run over all its steps, but for t = 0. */
typedef struct paper_top_errors {
  double position;         /* largest |x_n - x(t_n)|, m */
  double rotation;         /* largest |log(R_n^T R(t_n))|, rad */
  double configuration;    /* largest norm of both together */
  double parameters;       /* the same with Euler parameters for the rotation, (p, x) */
  double velocity;         /* largest |(Omega, U)_n - (Omega, U)(t_n)|, body axes */
  double velocity_global;  /* the same with the velocity in global axes, (Omega, u) */
  double angular_velocity; /* of Omega alone */
  double multiplier;       /* largest |lambda_n - lambda(t_n)|, body axes, N */
  double largest_velocity, largest_multiplier; /* exact: |(Omega, U)|, |lambda|, to divide by */
  double position_residual, velocity_residual; /* largest |Phi_i|, |(B v)_i|, all times */
  double iterations;                           /* Newton's, a step on average */
  long steps, jacobians;
  int stopped; /* before the end */
} paper_top_errors;

/* Runs a model of the heavy top, whose one body is the top and whose one joint the tip (none in
 * so3), and compares it from a time on. */
void paper_top_run(paper_report *report, const paper_top *top, double from,
                   paper_top_errors *errors, const char *model, const char *overrides, ...)
    POLI_PRINTF(6, 7);

#endif
