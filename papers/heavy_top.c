/* The heavy top: its exact state from the reference grid, and the errors of runs.
 *
 * The reference has rotation and angular velocity.  The rest follows from a body with one fixed
 * point: x = R X, U = Omega x X, and with the inertia J0 about the tip
 *
 *     J0 Omega' = X x R^T m g - Omega x J0 Omega,    force = m (Omega' x X + Omega x U) - R^T m g
 */
#include "papers/heavy_top.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/lie.h>

static const double grid_step = 5e-4, mass = 15.0, gravity[3] = {0.0, 0.0, -9.81};
static const double inertia[3] = {15.234375, 0.46875, 15.234375}; /* about the tip */
enum { COLUMNS = 8 };

/* --- the reference ---------------------------------------------------------------------------- */

void paper_top_read(paper_report *report, paper_top *top)
{
  long rows;
  top->grid = paper_read_table(report, "papers/data/heavy_top_grid.csv", COLUMNS, &rows);
  if (top->grid != NULL && rows != PAPER_TOP_GRID)
    paper_report_fail(report, "papers/data/heavy_top_grid.csv has %ld rows instead of %d", rows,
                      PAPER_TOP_GRID);
}

void paper_top_free(paper_top *top)
{
  free(top->grid);
  top->grid = NULL;
}

static void cross(const double a[3], const double b[3], double c[3])
{
  for (int i = 0; i < 3; i++)
    c[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

/* y = R x */
static void rotate(const double R[9], const double x[3], double y[3])
{
  for (int i = 0; i < 3; i++) y[i] = R[3 * i] * x[0] + R[3 * i + 1] * x[1] + R[3 * i + 2] * x[2];
}

static double norm(const double *x, int n)
{
  double square = 0.0;
  for (int i = 0; i < n; i++) square += x[i] * x[i];
  return sqrt(square);
}

/* The rest from the rotation and the angular velocity. */
static void complete(paper_top_state *s)
{
  static const double X[3] = {0.0, 1.0, 0.0};
  double weight[3], torque[3], momentum[3], gyro[3], acceleration[3], spin[3], swing[3];
  pol_quat_to_matrix(s->quaternion, s->rotation);
  const double *R = s->rotation, *omega = s->angular_velocity;
  rotate(R, X, s->position);
  cross(omega, X, s->velocity_body);
  rotate(R, s->velocity_body, s->velocity);
  for (int i = 0; i < 3; i++) {
    weight[i] = mass * (R[i] * gravity[0] + R[3 + i] * gravity[1] + R[6 + i] * gravity[2]);
    momentum[i] = inertia[i] * omega[i];
  }
  cross(X, weight, torque);
  cross(omega, momentum, gyro);
  for (int i = 0; i < 3; i++) acceleration[i] = (torque[i] - gyro[i]) / inertia[i];
  cross(acceleration, X, spin);
  cross(omega, s->velocity_body, swing);
  for (int i = 0; i < 3; i++) s->force_body[i] = mass * (spin[i] + swing[i]) - weight[i];
  rotate(R, s->force_body, s->force);
}

void paper_top_exact(const paper_top *top, int n, paper_top_state *s)
{
  const double *row = top->grid + COLUMNS * n;
  memcpy(s->quaternion, row + 1, sizeof s->quaternion);
  memcpy(s->angular_velocity, row + 5, sizeof s->angular_velocity);
  complete(s);
}

/* Quaternion and angular velocity y, and their rates: q' = q (0, Omega)/2, and Euler's equations.
 */
static void rates(const double y[7], double f[7])
{
  paper_top_state s;
  double torque[3], momentum[3], gyro[3];
  const double *w = y + 4;
  f[0] = -0.5 * (y[1] * w[0] + y[2] * w[1] + y[3] * w[2]);
  cross(y + 1, w, f + 1);
  for (int i = 0; i < 3; i++) f[1 + i] = 0.5 * (y[0] * w[i] + f[1 + i]);
  pol_quat_to_matrix(y, s.rotation);
  for (int i = 0; i < 3; i++) momentum[i] = inertia[i] * w[i];
  /* X x R^T m g with X = (0, 1, 0) */
  torque[0] = mass * gravity[2] * s.rotation[8];
  torque[1] = 0.0;
  torque[2] = -mass * gravity[2] * s.rotation[6];
  cross(w, momentum, gyro);
  for (int i = 0; i < 3; i++) f[4 + i] = (torque[i] - gyro[i]) / inertia[i];
}

/* A step of the classical Runge-Kutta method. */
static void advance(double y[7], double h)
{
  static const double share[4] = {0.5, 0.5, 1.0, 0.0}, weight[4] = {1.0, 2.0, 2.0, 1.0};
  double start[7], at[7], f[7];
  memcpy(start, y, sizeof start);
  memcpy(at, y, sizeof at);
  for (int k = 0; k < 4; k++) {
    rates(at, f);
    for (int i = 0; i < 7; i++) {
      at[i] = start[i] + share[k] * h * f[i];
      y[i] += h / 6.0 * weight[k] * f[i];
    }
  }
}

void paper_top_exact_at(const paper_top *top, double t, paper_top_state *s)
{
  enum { PARTS = 4 }; /* at most 6e-5 s: 3e-13 an interval */
  const double nearest = fmin(fmax(round(t / grid_step), 0.0), PAPER_TOP_GRID - 1.0);
  const double rest = t - nearest * grid_step;
  double y[7];
  paper_top_exact(top, (int)nearest, s);
  if (fabs(rest) < 1e-12) return;
  memcpy(y, s->quaternion, sizeof s->quaternion);
  memcpy(y + 4, s->angular_velocity, sizeof s->angular_velocity);
  for (int k = 0; k < PARTS; k++) advance(y, rest / PARTS);
  memcpy(s->quaternion, y, sizeof s->quaternion);
  memcpy(s->angular_velocity, y + 4, sizeof s->angular_velocity);
  complete(s);
}

/* --- a run ------------------------------------------------------------------------------------ */

typedef struct comparison {
  const paper_top *top;
  double from;
  paper_top_errors *errors;
} comparison;

/* Joints may have the top first or second. */
void paper_top_tip_force(const pol_simulation *simulation, const double R[9], double force_body[3])
{
  const pol_formulation *formulation = pol_simulation_formulation(simulation);
  const pol_mechanism *mechanism = pol_formulation_mechanism(formulation);
  const pol_joint *joint = pol_mechanism_joint(mechanism, 0);
  const int top_second = pol_mechanism_marker(mechanism, joint->marker[1])->body != POL_GROUND;
  const pol_point at = pol_state_point(pol_simulation_state(simulation));
  double force[3], torque[3];
  pol_formulation_reaction(formulation, &at, 0, force, torque);
  for (int i = 0; i < 3; i++)
    force_body[i] =
        (top_second ? 1.0 : -1.0) * (R[i] * force[0] + R[3 + i] * force[1] + R[6 + i] * force[2]);
}

/* Norm of the difference in (p, x); p and -p are the same rotation. */
static double parameter_error(const double ours[7], const double theirs[7])
{
  double same[7], opposite[7];
  for (int i = 0; i < 7; i++) {
    same[i] = ours[i] - theirs[i];
    opposite[i] = i < 4 ? ours[i] + theirs[i] : same[i];
  }
  return fmin(norm(same, 7), norm(opposite, 7));
}

static void compare(const comparison *c, const pol_simulation *simulation)
{
  static const pol_factor factors[2] = {{POL_SO3, 3, 0, 0}, {POL_REAL, 3, 4, 3}};
  static const pol_group product = {2, factors, 7, 6};
  const pol_state *state = pol_simulation_state(simulation);
  paper_top_errors *e = c->errors;
  pol_body_state body;
  paper_top_state exact;
  double ours[7], theirs[7], w[6], v[6], v_exact[6], force[3];
  paper_top_exact_at(c->top, state->t, &exact);
  pol_formulation_body_state(pol_simulation_formulation(simulation), state->q, state->v, 0, &body);
  memcpy(ours, body.quaternion, sizeof body.quaternion);
  memcpy(ours + 4, body.position, sizeof body.position);
  memcpy(theirs, exact.quaternion, sizeof exact.quaternion);
  memcpy(theirs + 4, exact.position, sizeof exact.position);
  pol_group_difference(&product, ours, theirs, w);
  e->rotation = fmax(e->rotation, norm(w, 3));
  e->position = fmax(e->position, norm(w + 3, 3));
  e->configuration = fmax(e->configuration, norm(w, 6));
  e->parameters = fmax(e->parameters, parameter_error(ours, theirs));
  paper_top_tip_force(simulation, body.rotation, force);
  for (int i = 0; i < 3; i++) {
    v_exact[i] = exact.angular_velocity[i], v_exact[3 + i] = exact.velocity_body[i];
    v[i] = body.angular_velocity[i] - v_exact[i];
    v[3 + i] = body.velocity_body[i] - v_exact[3 + i];
    force[i] -= exact.force_body[i];
  }
  e->angular_velocity = fmax(e->angular_velocity, norm(v, 3));
  e->velocity = fmax(e->velocity, norm(v, 6));
  for (int i = 0; i < 3; i++) v[3 + i] = body.velocity[i] - exact.velocity[i];
  e->velocity_global = fmax(e->velocity_global, norm(v, 6));
  e->multiplier = fmax(e->multiplier, norm(force, 3));
  e->largest_velocity = fmax(e->largest_velocity, norm(v_exact, 6));
  e->largest_multiplier = fmax(e->largest_multiplier, norm(exact.force_body, 3));
}

/* Every step is compared: what changes its sign from step to step would not show on every second.
 */
static int watch(const pol_simulation *simulation, void *user)
{
  const comparison *c = user;
  const double t = pol_simulation_state(simulation)->t;
  const double end = grid_step * (PAPER_TOP_GRID - 1);
  if (t > 0.0 && t > c->from - 1e-9 && t < end + 1e-9) compare(c, simulation);
  return 1;
}

void paper_top_run(paper_report *report, const paper_top *top, double from,
                   paper_top_errors *errors, const char *model, const char *overrides, ...)
{
  comparison c = {top, from, errors};
  paper_run run;
  va_list arguments;
  *errors = (paper_top_errors){0};
  if (paper_report_failed(report)) return;
  va_start(arguments, overrides);
  char *text = poli_format_list(overrides, arguments);
  va_end(arguments);
  if (text == NULL) {
    paper_report_fail(report, "out of memory");
    return;
  }
  paper_run_watched(report, &run, watch, &c, model, "", "%s", text);
  free(text);
  const pol_counts *counts = &run.summary.counts;
  errors->position_residual = run.summary.max_position_residual;
  errors->velocity_residual = run.summary.max_velocity_residual;
  errors->steps = counts->steps, errors->jacobians = counts->jacobians;
  errors->iterations =
      counts->steps > 0 ? (double)counts->newton_iterations / (double)counts->steps : 0.0;
  errors->stopped = run.status != POL_OK;
  paper_run_free(&run);
}
