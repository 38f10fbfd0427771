/* The heavy top against its independent solution, for tests and studies: reading the reference, the
 * exact values, and the errors of a run.
 *
 * Errors are maxima over (0, 1]: of q in the norm of log(q_n^-1 o q(t_n)) in SO(3)xR3, of the body
 * velocities relative to the largest, of the multipliers lambda of Phi = X - R^T x relative to
 * |lambda_n|. */
#ifndef POLHODE_TESTS_HEAVY_TOP_REFERENCE_H
#define POLHODE_TESTS_HEAVY_TOP_REFERENCE_H

#include <polhode/polhode.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { GRID = 2001 }; /* every 5e-4 s */
static const double grid_step = 5e-4;
static double grid[GRID][8]; /* t, quaternion, body angular velocity */

static const double top_mass = 15.0, top_gravity[3] = {0.0, 0.0, -9.81};
static const double J_fixed[3] = {15.234375, 0.46875, 15.234375}; /* about the tip */

/* 0 if the file could be read. */
static inline int read_reference(const char *path)
{
  FILE *file = fopen(path, "r");
  char line[256];
  int n = 0;
  if (!file) return -1;
  while (fgets(line, sizeof line, file) && n < GRID) {
    double *g = grid[n];
    if (sscanf(line, "%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf", g, g + 1, g + 2, g + 3, g + 4, g + 5, g + 6,
               g + 7) == 8)
      n++;
  }
  fclose(file);
  return n == GRID ? 0 : -1;
}

static inline void cross(const double a[3], const double b[3], double c[3])
{
  for (int i = 0; i < 3; i++)
    c[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

/* The exact solution at grid point n: rotation and position, velocities in body axes, lambda. */
static inline void exact(int n, double q[7], double v[6], double lambda[3])
{
  static const double X[3] = {0.0, 1.0, 0.0};
  const double *omega = grid[n] + 5;
  double R[9], weight[3], torque[3], momentum[3], gyro[3], omega_dot[3], spin[3], swing[3];
  memcpy(q, grid[n] + 1, 4 * sizeof *q);
  pol_quat_to_matrix(q, R);
  cross(omega, X, v + 3);
  for (int i = 0; i < 3; i++) {
    q[4 + i] = R[3 * i + 1];
    v[i] = omega[i];
    weight[i] =
        top_mass * (R[i] * top_gravity[0] + R[3 + i] * top_gravity[1] + R[6 + i] * top_gravity[2]);
    momentum[i] = J_fixed[i] * omega[i];
  }
  cross(X, weight, torque);
  cross(omega, momentum, gyro);
  for (int i = 0; i < 3; i++) omega_dot[i] = (torque[i] - gyro[i]) / J_fixed[i];
  cross(omega_dot, X, spin);
  cross(omega, v + 3, swing);
  for (int i = 0; i < 3; i++) lambda[i] = top_mass * (spin[i] + swing[i]) - weight[i];
}

/* Errors and residuals so far. */
typedef struct top_errors {
  double q, x, v, lambda, late_lambda; /* x: position only; late: on [0.5, 1] */
  double position, velocity;           /* constraint residuals */
  double newton, jacobians;            /* iterations and matrices a step */
  double largest_v;
  double final_x; /* of the centre of mass at t = 1 */
  double ripple;  /* largest second difference of lambda in 60 steps */
  double eta;     /* largest, of the stabilized form */
} top_errors;

static inline double norm(const double *x, int n)
{
  double square = 0.0;
  for (int i = 0; i < n; i++) square += x[i] * x[i];
  return sqrt(square);
}

/* lambda of Phi = X - R^T x from the force on the top, with the numerical rotation. */
static inline void body_multipliers(const pol_formulation *formulation, const pol_state *state,
                                    int ground_first, const double R[9], double lambda[3])
{
  double force[3], torque[3], sign = ground_first ? 1.0 : -1.0;
  pol_point at = pol_state_point(state);
  pol_formulation_reaction(formulation, &at, 0, force, torque);
  for (int i = 0; i < 3; i++)
    lambda[i] = sign * (R[i] * force[0] + R[3 + i] * force[1] + R[6 + i] * force[2]);
}

/* Adds the errors of a state; its multipliers go to lambda. */
static inline void add_errors(const pol_formulation *formulation, int ground_first,
                              const pol_state *state, top_errors *e, double lambda[3])
{
  static const pol_factor factors[2] = {{POL_SO3, 3, 0, 0}, {POL_REAL, 3, 4, 3}};
  static const pol_group product = {2, factors, 7, 6};
  double q[7], v[6], true_lambda[3], w[6], found[7];
  pol_body_state body;
  exact((int)lround(state->t / grid_step), q, v, true_lambda);
  pol_formulation_body_state(formulation, state->q, state->v, 0, &body);
  memcpy(found, body.quaternion, sizeof body.quaternion);
  memcpy(found + 4, body.position, sizeof body.position);
  pol_group_difference(&product, found, q, w);
  e->q = fmax(e->q, norm(w, 6));
  e->final_x = norm(w + 3, 3);
  e->x = fmax(e->x, e->final_x);
  e->largest_v = fmax(e->largest_v, norm(v, 6));
  for (int i = 0; i < 3; i++) {
    v[i] -= body.angular_velocity[i];
    v[3 + i] -= body.velocity_body[i];
  }
  e->v = fmax(e->v, norm(v, 6));
  body_multipliers(formulation, state, ground_first, body.rotation, lambda);
  for (int i = 0; i < 3; i++) true_lambda[i] -= lambda[i];
  double relative = norm(true_lambda, 3) / norm(lambda, 3);
  e->lambda = fmax(e->lambda, relative);
  if (state->t > 0.5 - 1e-9) e->late_lambda = fmax(e->late_lambda, relative);
}

/* One body needs less than 512 numbers of scratch and has at most 4 constraints. */
static inline void add_residuals(const pol_dae *dae, const pol_state *state, top_errors *e)
{
  double scratch[512], position[4] = {0.0}, velocity[4] = {0.0};
  pol_point at = pol_state_point(state);
  pol_terms out = {.position = position, .velocity = velocity};
  dae->evaluate(&at, POL_POSITION | POL_VELOCITY, &out, scratch, dae->user);
  for (int i = 0; i < dae->num_holonomic; i++) {
    e->position = fmax(e->position, fabs(position[i]));
    e->velocity = fmax(e->velocity, fabs(velocity[i]));
  }
}

#endif
