/* Small models written by hand as a pol_dae, for the tests of the dae and the integrators.
 *
 * truss: particles in the plane, joined to each other or to the ground by rods,
 *
 *     m_i x_i'' + gravity + B^T lambda = 0,
 *     Phi = scale (|x_a - x_b|^2 - L^2)/2,   L(t) = length + rate t.
 *
 * A truss of one particle and one rod is the mathematical pendulum; of two particles and three rods
 * a four-bar.  Its coordinates may have different masses, so that the metric of the mass matrix
 * differs from that of the coordinates.
 *
 * skate: a body on an inclined plane with a blade at the distance `arm` behind its centre of mass,
 * where it may not move across (Neimark/Fufaev 1972); coordinates (x downhill, y, heading phi),
 * x' sin(phi) - y' cos(phi) + arm phi' = 0.  Two solutions are known.
 *
 * The knife edge, arm = 0, started from rest with phi' = omega:
 *
 *     x = s/(2 omega^2) sin^2(omega t),  y = s/(2 omega^2) (omega t - sin(2 omega t)/2),
 *     lambda = 2 m s sin(omega t),  s the acceleration of gravity along the plane.
 *
 * Chaplygin's sleigh, s = 0, started with phi' = omega and no speed u along the blade: with
 * k^2 = inertia/m + arm^2 and tau = arm omega t/k,
 *
 *     u = k omega tanh(tau),  phi' = omega/cosh(tau),  phi = 2 k/arm atan(tanh(tau/2)),
 *     lambda = m (u phi' + arm phi'').
 *
 * With `driven` the heading is prescribed by a holonomic row phi - omega t = 0 above the
 * non-holonomic one; the knife edge then moves as without.
 */
#ifndef POLHODE_TESTS_TOYS_H
#define POLHODE_TESTS_TOYS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <polhode/dae.h>

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PARTICLES = 3, MAX_RODS = 5, MAX_TRUSS = 2 * MAX_PARTICLES };

/* Adds x to entry (i, j) of a matrix in a pattern, or of a full one. */
static inline void toy_add(const pol_pattern *pattern, double *values, int rows, int i, int j,
                           double x)
{
  values[pattern ? pol_pattern_address(pattern, i, j) : i + j * rows] += x;
}

static inline double toy_largest(const double *x, int n)
{
  double max = 0.0;
  for (int i = 0; i < n; i++) max = fmax(max, fabs(x[i]));
  return max;
}

/* --- truss ------------------------------------------------------------------------------------ */

typedef struct rod {
  int a, b;         /* particles; b = -1: the anchor in the ground */
  double anchor[2]; /* of the ground */
  double length, rate;
  double scale; /* of the constraint's unit */
} rod;

typedef struct truss {
  int num_particles, num_rods;
  double mass[MAX_TRUSS]; /* of each coordinate */
  double gravity;         /* along -y */
  rod rods[MAX_RODS];

  /* what the model answers instead: 0 for the truth */
  pol_status answer;

  pol_factor factor;
  pol_pattern *coupling, *constraint; /* NULL: full */
  pol_dae dae;
} truss;

/* x_a - x_b of a pair of positions or velocities; still: the other end does not move. */
static inline void rod_difference(const rod *r, const double *x, int still, double d[2])
{
  for (int k = 0; k < 2; k++)
    d[k] = x[2 * r->a + k] - (r->b >= 0 ? x[2 * r->b + k] : still ? 0.0 : r->anchor[k]);
}

/* The terms of one rod that depend on the velocity, and those of its row of B. */
static inline void rod_constraint(const truss *s, int i, const pol_point *at, unsigned want,
                                  const pol_terms *out)
{
  const rod *r = &s->rods[i];
  int m = s->num_rods;
  double d[2], w[2] = {0.0, 0.0}, length = r->length + r->rate * at->t;
  rod_difference(r, at->q, 0, d);
  if (want & (POL_VELOCITY | POL_ACCELERATION | POL_CURVATURE)) rod_difference(r, at->v, 1, w);
  if (want & POL_POSITION)
    out->position[i] = 0.5 * r->scale * (d[0] * d[0] + d[1] * d[1] - length * length);
  if (want & POL_VELOCITY)
    out->velocity[i] = r->scale * (d[0] * w[0] + d[1] * w[1] - length * r->rate);
  if (want & POL_ACCELERATION)
    out->acceleration[i] = r->scale * (w[0] * w[0] + w[1] * w[1] - r->rate * r->rate);
  for (int end = 0; end < 2; end++) {
    int particle = end ? r->b : r->a;
    double sign = end ? -r->scale : r->scale;
    if (particle < 0) continue;
    for (int k = 0; k < 2; k++) {
      int j = 2 * particle + k;
      if (want & POL_REACTION) out->balance[j] += sign * d[k] * at->lambda[i];
      if (want & POL_JACOBIAN) toy_add(s->dae.constraint, out->jacobian, m, i, j, sign * d[k]);
      if (want & POL_CURVATURE) toy_add(s->dae.constraint, out->curvature, m, i, j, sign * w[k]);
    }
  }
}

/* d(B^T lambda)/dq of one rod */
static inline void rod_stiffness(const truss *s, int i, const pol_point *at, const pol_terms *out)
{
  const rod *r = &s->rods[i];
  int nv = s->dae.group.nv;
  double x = r->scale * at->lambda[i];
  for (int k = 0; k < 2; k++) {
    int a = 2 * r->a + k, b = 2 * r->b + k;
    toy_add(s->dae.coupling, out->stiffness, nv, a, a, x);
    if (r->b < 0) continue;
    toy_add(s->dae.coupling, out->stiffness, nv, b, b, x);
    toy_add(s->dae.coupling, out->stiffness, nv, a, b, -x);
    toy_add(s->dae.coupling, out->stiffness, nv, b, a, -x);
  }
}

static inline pol_status truss_evaluate(const pol_point *at, unsigned want, const pol_terms *out,
                                        double *scratch, void *user)
{
  const truss *s = user;
  (void)scratch;
  if (s->answer) return s->answer;
  for (int j = 0; j < s->dae.group.nv; j++) {
    if (want & POL_INERTIA) out->balance[j] += s->mass[j] * at->vd[j];
    if ((want & POL_FORCE) && j % 2) out->balance[j] += s->mass[j] * s->gravity;
    if (want & POL_MASS) toy_add(s->dae.coupling, out->mass, s->dae.group.nv, j, j, s->mass[j]);
  }
  for (int i = 0; i < s->num_rods; i++) {
    rod_constraint(s, i, at, want, out);
    if (want & POL_GEOMETRIC_STIFFNESS) rod_stiffness(s, i, at, out);
  }
  return POL_OK;
}

/* Completes s->dae from the numbers above it. */
static inline void truss_finish(truss *s)
{
  s->factor = (pol_factor){.kind = POL_REAL, .dim = 2 * s->num_particles};
  s->dae.num_holonomic = s->num_rods;
  s->dae.evaluate = truss_evaluate;
  s->dae.user = s;
  assert_int_equal(pol_group_layout(&s->dae.group, &s->factor, 1), POL_OK);
}

/* The pendulum of Arnold/Cardona/Bruels 2015, example 3.2: mass 1, length 1. */
static inline void pendulum_init(truss *s)
{
  *s = (truss){.num_particles = 1,
               .num_rods = 1,
               .mass = {1.0, 1.0},
               .gravity = 9.81,
               .rods = {{.a = 0, .b = -1, .length = 1.0, .scale = 1.0}}};
  truss_finish(s);
}

/* Crank 1, coupler 3, rocker 3.5 between the anchors (0, 0) and (4.5, 0), with a mass for each
 * coordinate. */
static inline void four_bar_init(truss *s)
{
  *s = (truss){.num_particles = 2,
               .num_rods = 3,
               .mass = {1.0, 2.0, 0.5, 4.0},
               .gravity = 9.81,
               .rods = {{.a = 0, .b = -1, .length = 1.0, .scale = 1.0},
                        {.a = 0, .b = 1, .length = 3.0, .scale = 1.0},
                        {.a = 1, .b = -1, .anchor = {4.5, 0.0}, .length = 3.5, .scale = 1.0}}};
  truss_finish(s);
}

/* Gives the truss the patterns of its rods; free with truss_clear. */
static inline void truss_make_sparse(truss *s)
{
  pol_block coupling[MAX_PARTICLES + 2 * MAX_RODS], constraint[2 * MAX_RODS];
  int num_coupling = 0, num_constraint = 0, nv = s->dae.group.nv;
  for (int p = 0; p < s->num_particles; p++)
    coupling[num_coupling++] = (pol_block){.row = 2 * p, .col = 2 * p, .rows = 2, .cols = 2};
  for (int i = 0; i < s->num_rods; i++) {
    int a = s->rods[i].a, b = s->rods[i].b;
    constraint[num_constraint++] = (pol_block){.row = i, .col = 2 * a, .rows = 1, .cols = 2};
    if (b < 0) continue;
    constraint[num_constraint++] = (pol_block){.row = i, .col = 2 * b, .rows = 1, .cols = 2};
    coupling[num_coupling++] = (pol_block){.row = 2 * a, .col = 2 * b, .rows = 2, .cols = 2};
    coupling[num_coupling++] = (pol_block){.row = 2 * b, .col = 2 * a, .rows = 2, .cols = 2};
  }
  assert_int_equal(pol_pattern_create(&s->coupling, nv, nv, num_coupling, coupling), POL_OK);
  assert_int_equal(pol_pattern_create(&s->constraint, s->num_rods, nv, num_constraint, constraint),
                   POL_OK);
  s->dae.coupling = s->coupling;
  s->dae.constraint = s->constraint;
}

static inline void truss_clear(truss *s)
{
  pol_pattern_free(&s->coupling);
  pol_pattern_free(&s->constraint);
  s->dae.coupling = s->dae.constraint = NULL;
}

/* --- skate ------------------------------------------------------------------------------------ */

typedef struct skate {
  double mass, inertia, slope, omega, arm; /* slope: gravity along the plane */
  int driven;
  pol_factor factor;
  pol_dae dae;
} skate;

static inline pol_status skate_evaluate(const pol_point *at, unsigned want, const pol_terms *out,
                                        double *scratch, void *user)
{
  const skate *s = user;
  const double mass[3] = {s->mass, s->mass, s->inertia};
  double c = cos(at->q[2]), d = sin(at->q[2]);
  int m = pol_dae_num_constraints(&s->dae), edge = s->driven;
  (void)scratch;
  for (int j = 0; j < 3; j++) {
    if (want & POL_INERTIA) out->balance[j] += mass[j] * at->vd[j];
    if (want & POL_MASS) out->mass[j + 3 * j] += mass[j];
  }
  if (want & POL_FORCE) out->balance[0] -= s->mass * s->slope;
  if (want & POL_REACTION) {
    out->balance[0] += d * at->lambda[edge];
    out->balance[1] -= c * at->lambda[edge];
    out->balance[2] += s->arm * at->lambda[edge];
  }
  if (want & POL_VELOCITY) out->velocity[edge] = d * at->v[0] - c * at->v[1] + s->arm * at->v[2];
  if (want & POL_ACCELERATION) out->acceleration[edge] = at->v[2] * (c * at->v[0] + d * at->v[1]);
  if (want & POL_JACOBIAN) {
    out->jacobian[edge] += d;
    out->jacobian[edge + m] -= c;
    out->jacobian[edge + 2 * m] += s->arm;
  }
  if (want & POL_CURVATURE) out->curvature[edge + 2 * m] += c * at->v[0] + d * at->v[1];
  if (want & POL_GEOMETRIC_STIFFNESS) {
    out->stiffness[0 + 3 * 2] += c * at->lambda[edge];
    out->stiffness[1 + 3 * 2] += d * at->lambda[edge];
  }
  if (!s->driven) return POL_OK;
  if (want & POL_REACTION) out->balance[2] += at->lambda[0];
  if (want & POL_POSITION) out->position[0] = at->q[2] - s->omega * at->t;
  if (want & POL_VELOCITY) out->velocity[0] = at->v[2] - s->omega;
  if (want & POL_JACOBIAN) out->jacobian[0 + 2 * m] += 1.0;
  return POL_OK;
}

static inline void skate_init(skate *s, int driven)
{
  *s = (skate){.mass = 2.0, .inertia = 0.7, .slope = 3.0, .omega = 1.5, .driven = driven};
  s->factor = (pol_factor){.kind = POL_REAL, .dim = 3};
  s->dae = (pol_dae){
      .num_holonomic = driven, .num_nonholonomic = 1, .evaluate = skate_evaluate, .user = s};
  assert_int_equal(pol_group_layout(&s->dae.group, &s->factor, 1), POL_OK);
}

/* Position, velocity and the blade's multiplier of the knife edge at time t. */
static inline void knife_edge_solution(const skate *s, double t, double q[3], double v[3],
                                       double *lambda)
{
  double w = s->omega, size = s->slope / (2.0 * w * w), phi = w * t;
  q[0] = size * sin(phi) * sin(phi);
  q[1] = size * (phi - 0.5 * sin(2.0 * phi));
  q[2] = phi;
  v[0] = size * w * sin(2.0 * phi);
  v[1] = size * w * (1.0 - cos(2.0 * phi));
  v[2] = w;
  *lambda = 2.0 * s->mass * s->slope * sin(phi);
}

/* Heading, its rate, the speed along the blade and the multiplier of the sleigh at time t. */
static inline void sleigh_solution(const skate *s, double t, double *phi, double *rate,
                                   double *speed, double *lambda)
{
  double k = sqrt(s->inertia / s->mass + s->arm * s->arm), tau = s->arm * s->omega * t / k;
  *phi = 2.0 * k / s->arm * atan(tanh(0.5 * tau));
  *rate = s->omega / cosh(tau);
  *speed = k * s->omega * tanh(tau);
  *lambda = s->mass * (*speed * *rate - s->arm * s->arm / (k * k) * *speed * *rate);
}

#endif
