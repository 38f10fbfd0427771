/* The discrete step equations of Euler parameters (dae/step_equations.h): what their files share,
 * one body in a step.  The equations are in step_equations.c, the rotation in step_rotation.c. */
#ifndef POLHODE_FORMULATION_STEP_EQUATIONS_H
#define POLHODE_FORMULATION_STEP_EQUATIONS_H

#include "formulation/formulation.h"

enum { POLI_TURN = 9, POLI_QUATERNION = 4 };

/* A linear map from the coordinates of a body (Euler parameters, centre of mass) to its vectors
 * (directors, centre of mass); a point mass has the last only. */
typedef struct poli_body_map {
  double turn[POLI_TURN][POLI_QUATERNION];
  double move; /* times the identity */
} poli_body_map;

/* A body in a step: its coordinates and what they give. */
typedef struct poli_body_step {
  const pol_body *body;
  int midway;
  double h;
  double q0[4], middle[4], q1[4]; /* Euler parameters at the start, halfway, at the end */
  double a[4], b[4];
  double mu;               /* q0 . q1, or midway the square of the middle */
  double zeta[4];          /* conj(middle) o a / mu */
  double y_mean[4];        /* half the angular velocity in body axes, and what is radial */
  double end[4], y_end[4]; /* where the constraints hold: the last or the middle */
  double R_end[9], spin_end[3];
  double d_end[9], rate_end[9]; /* directors there, and their rates */
  double d[9], rate[9];         /* their means over the step, or midway */
  double Q[9];                  /* columns of the inverse transposed of (d1 d2 d3), one by one */
  double step_spin[3];          /* turns the mean directors as far as the step, over h */
  double p1[4];                 /* midway: momenta at the end of the step */
  double momentum[4];           /* its change, (p o conj(q))/2: radial, and about its centre */
} poli_body_step;

/* Sets a rigid body up; q, v, p, a and b are its own. */
void poli_body_step_set(poli_body_step *step, const pol_body *body, const poli_step_data *at,
                        const double *q, const double *v, const double *p, const double *a,
                        const double *b);

/* The velocities of the directors with which the step moves them. */
void poli_body_step_pace(const poli_body_step *step, double pace[POLI_TURN]);

/* Adds the four equations of rotation; phi and psi are what acts on directors and on their rates
 * (POLI_TURN numbers each). */
void poli_body_step_residual(const poli_body_step *step, const double *phi, const double *psi,
                             double *kinematic, double *balance);

/* The maps of a body: by q1, by a and by b. */
typedef struct poli_body_maps {
  poli_body_map mean_q, rate_q, rate_b;        /* of the mean vectors and their rates */
  poli_body_map end_q, end_rate_q, end_rate_b; /* where the constraints hold */
  poli_body_map pace_a; /* of the velocities that forces see; by b, midway, it is rate_b */
  poli_body_map torque, drag, spin; /* transposed: phi to balance, psi to balance and kinematic */
} poli_body_maps;

/* The derivatives of the four equations of rotation by a and b of the same body. */
typedef struct poli_body_blocks {
  double kinematic_a[4][4], kinematic_b[4][4], balance_a[4][4], balance_b[4][4];
} poli_body_blocks;

/* Sets the rotational parts of the maps. */
void poli_body_step_maps(const poli_body_step *step, poli_body_maps *maps);
/* Sets the blocks at constant phi and psi. */
void poli_body_step_blocks(const poli_body_step *step, const poli_body_maps *maps,
                           const double *phi, const double *psi, poli_body_blocks *blocks);

/* p = M v of the Euler parameters of a rigid body, with an M that is regular. */
void poli_body_momenta(const pol_body *body, const double *q, const double *v, double *p);

/* Gives a formulation in Euler parameters its step equations, where directors can express the
 * mechanism; step_equations.c */
pol_status poli_formulation_add_step_equations(pol_formulation *formulation);

#endif
