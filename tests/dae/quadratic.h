/* Models on R^n with a constant mass matrix and constraints that are at most quadratic, written by
 * hand as a pol_dae:
 *
 *     M v' + f + DV(q) + drag v + G^T lambda = 0,   V = sum of springs,   f constant
 *     Phi_k = q.A_k q/2 + b_k.q + c_k + rate_k t
 *
 * The three examples of Kinon/Betsch/Schneider 2023: a pendulum in space (6.1), a top in directors
 * (6.2, with omega_s computed from (112)), four particles with two rods and two springs (6.3).
 *
 * A spring joins two points and depends on pi = |x_b - x_a|^2: V~ = k (pi - 1)^2/2 as in the paper,
 * whose quotient (V~(pi_1) - V~(pi_0))/(pi_1 - pi_0) simplifies, or V~ = k (sqrt(pi) - 1)^2/2,
 * where the quotient is computed; if the difference is small, by the mean of V~' over the interval
 * with three Gauss points, which does not cancel.  The discrete gradient of V is the quotient times
 * Dpi at the midpoint (Greenspan; pi is quadratic).
 */
#ifndef POLHODE_TESTS_QUADRATIC_H
#define POLHODE_TESTS_QUADRATIC_H

#include "dae/toys.h"

enum { MAX_QUADRATIC = 12, MAX_FORMS = 10 };

typedef struct quadratic {
  int nv, m;
  double mass[MAX_QUADRATIC], constant[MAX_QUADRATIC], drag;
  double A[MAX_FORMS][MAX_QUADRATIC][MAX_QUADRATIC], b[MAX_FORMS][MAX_QUADRATIC], c[MAX_FORMS];
  double rate[MAX_FORMS];
  struct {
    int from, to; /* points: three coordinates each */
    double k;
  } springs[2];
  int num_springs, by_length; /* by_length: the second kind of V~ */
  double q0[MAX_QUADRATIC], v0[MAX_QUADRATIC];
  /* set by quadratic_finish: which entries of A and which coordinates a form has */
  struct {
    int i, j;
  } entries[MAX_FORMS][MAX_QUADRATIC * MAX_QUADRATIC];
  int num_entries[MAX_FORMS];
  unsigned char used[MAX_FORMS][MAX_QUADRATIC];
  pol_status answer; /* what the model answers instead: 0 for the truth */
  pol_factor factor;
  pol_pattern *coupling, *constraint; /* NULL: full */
  pol_dae dae;
} quadratic;

/* --- springs ---------------------------------------------------------------------------------- */

/* V~ and its first and second derivative */
static inline double spring_law(const quadratic *s, int i, double pi, int derivative)
{
  double k = s->springs[i].k, length = sqrt(pi);
  if (!s->by_length)
    return derivative == 0   ? 0.5 * k * (pi - 1.0) * (pi - 1.0)
           : derivative == 1 ? k * (pi - 1.0)
                             : k;
  if (derivative == 0) return 0.5 * k * (length - 1.0) * (length - 1.0);
  return derivative == 1 ? 0.5 * k * (1.0 - 1.0 / length) : 0.25 * k / (pi * length);
}

/* x_to - x_from, and pi */
static inline double spring_vector(const quadratic *s, int i, const double *q, double d[3])
{
  for (int k = 0; k < 3; k++) d[k] = q[3 * s->springs[i].to + k] - q[3 * s->springs[i].from + k];
  return d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
}

static inline double quadratic_potential(const quadratic *s, const double *q)
{
  double V = 0.0, d[3];
  for (int j = 0; j < s->nv; j++) V += s->constant[j] * q[j];
  for (int i = 0; i < s->num_springs; i++) V += spring_law(s, i, spring_vector(s, i, q, d), 0);
  return V;
}

/* The quotient of V~ between pi0 and pi1, and its derivative by pi1. */
static inline void spring_quotient(const quadratic *s, int i, double pi0, double pi1,
                                   double *quotient, double *derivative)
{
  static const double node[3] = {-0.7745966692414834, 0.0, 0.7745966692414834};
  static const double weight[3] = {5.0 / 18.0, 8.0 / 18.0, 5.0 / 18.0};
  double step = pi1 - pi0;
  *quotient = *derivative = 0.0;
  if (!s->by_length) {
    *quotient = s->springs[i].k * (0.5 * (pi0 + pi1) - 1.0);
    *derivative = 0.5 * s->springs[i].k;
  } else if (fabs(step) > 0.01 * (pi0 + pi1)) {
    *quotient = (spring_law(s, i, pi1, 0) - spring_law(s, i, pi0, 0)) / step;
    *derivative = (spring_law(s, i, pi1, 1) - *quotient) / step;
  } else {
    for (int g = 0; g < 3; g++) {
      double share = 0.5 + 0.5 * node[g], pi = pi0 + share * step;
      *quotient += weight[g] * spring_law(s, i, pi, 1);
      *derivative += weight[g] * share * spring_law(s, i, pi, 2);
    }
  }
}

/* Adds f d to the ends of a spring. */
static inline void spring_force(const quadratic *s, int i, double f, const double d[3],
                                double *balance)
{
  for (int k = 0; k < 3; k++) {
    balance[3 * s->springs[i].to + k] += f * d[k];
    balance[3 * s->springs[i].from + k] -= f * d[k];
  }
}

/* Adds (diagonal I + scale d e^T), with signs of the ends, to the stiffness. */
static inline void spring_stiffness(const quadratic *s, int i, double diagonal, double scale,
                                    const double d[3], const double e[3], double *stiffness)
{
  const int end[2] = {3 * s->springs[i].from, 3 * s->springs[i].to};
  for (int a = 0; a < 2; a++)
    for (int b = 0; b < 2; b++)
      for (int k = 0; k < 3; k++)
        for (int l = 0; l < 3; l++) {
          double x = (k == l ? diagonal : 0.0) + scale * d[k] * e[l];
          toy_add(s->dae.coupling, stiffness, s->nv, end[a] + k, end[b] + l, a == b ? x : -x);
        }
}

/* --- the model -------------------------------------------------------------------------------- */

/* Phi_k, its rates and its derivatives; only entries that are not zero are visited. */
static inline void quadratic_form(const quadratic *s, int k, const pol_point *at, unsigned want,
                                  const pol_terms *out)
{
  double Aq[MAX_QUADRATIC] = {0.0}, Av[MAX_QUADRATIC] = {0.0}, half = 0.0, linear = 0.0;
  int rates = (want & (POL_CURVATURE | POL_ACCELERATION)) != 0;
  for (int e = 0; e < s->num_entries[k]; e++) {
    int i = s->entries[k][e].i, j = s->entries[k][e].j;
    double a = s->A[k][i][j];
    Aq[i] += a * at->q[j];
    if (rates) Av[i] += a * at->v[j];
    if (want & POL_GEOMETRIC_STIFFNESS)
      toy_add(s->dae.coupling, out->stiffness, s->nv, i, j, at->lambda[k] * a);
  }
  for (int i = 0; i < s->nv; i++) {
    double G = Aq[i] + s->b[k][i];
    if (!s->used[k][i]) continue;
    half += 0.5 * Aq[i] * at->q[i];
    linear += s->b[k][i] * at->q[i];
    if (want & POL_VELOCITY) out->velocity[k] += G * at->v[i];
    if (want & POL_ACCELERATION) out->acceleration[k] += Av[i] * at->v[i];
    if (want & POL_REACTION) out->balance[i] += G * at->lambda[k];
    if (want & POL_JACOBIAN) toy_add(s->dae.constraint, out->jacobian, s->m, k, i, G);
    if (want & POL_CURVATURE) toy_add(s->dae.constraint, out->curvature, s->m, k, i, Av[i]);
  }
  if (want & POL_POSITION) out->position[k] += half + linear + s->c[k] + s->rate[k] * at->t;
  if (want & POL_VELOCITY) out->velocity[k] += s->rate[k];
}

static inline void quadratic_forms(const quadratic *s, const pol_point *at, unsigned want,
                                   const pol_terms *out)
{
  for (int k = 0; k < s->m; k++) quadratic_form(s, k, at, want, out);
}

static inline pol_status quadratic_evaluate(const pol_point *at, unsigned want,
                                            const pol_terms *out, double *scratch, void *user)
{
  const quadratic *s = user;
  (void)scratch;
  if (s->answer) return s->answer;
  for (int j = 0; j < s->nv; j++) {
    if (want & POL_INERTIA) out->balance[j] += s->mass[j] * at->vd[j];
    if (want & POL_FORCE) out->balance[j] += s->constant[j] + s->drag * at->v[j];
    if (want & POL_MASS) toy_add(s->dae.coupling, out->mass, s->nv, j, j, s->mass[j]);
    if (want & POL_DAMPING) toy_add(s->dae.coupling, out->damping, s->nv, j, j, s->drag);
  }
  for (int i = 0; i < s->num_springs; i++) {
    double d[3], pi = spring_vector(s, i, at->q, d), f = 2.0 * spring_law(s, i, pi, 1);
    if (want & POL_FORCE) spring_force(s, i, f, d, out->balance);
    if (want & POL_STIFFNESS)
      spring_stiffness(s, i, f, 4.0 * spring_law(s, i, pi, 2), d, d, out->stiffness);
  }
  quadratic_forms(s, at, want, out);
  return POL_OK;
}

static inline pol_status quadratic_discrete_force(const double *q0, const pol_point *at,
                                                  unsigned want, const pol_terms *out,
                                                  double *scratch, void *user)
{
  const quadratic *s = user;
  (void)scratch;
  for (int j = 0; j < s->nv; j++) {
    if (want & POL_FORCE) out->balance[j] += s->constant[j] + s->drag * at->v[j];
    if (want & POL_DAMPING) toy_add(s->dae.coupling, out->damping, s->nv, j, j, s->drag);
  }
  for (int i = 0; i < s->num_springs; i++) {
    double d0[3], d1[3], middle[3], quotient, derivative;
    double pi0 = spring_vector(s, i, q0, d0), pi1 = spring_vector(s, i, at->q, d1);
    spring_quotient(s, i, pi0, pi1, &quotient, &derivative);
    for (int k = 0; k < 3; k++) middle[k] = 0.5 * (d0[k] + d1[k]);
    if (want & POL_FORCE) spring_force(s, i, 2.0 * quotient, middle, out->balance);
    if (want & POL_STIFFNESS)
      spring_stiffness(s, i, quotient, 4.0 * derivative, middle, d1, out->stiffness);
  }
  return POL_OK;
}

/* Completes s->dae from the numbers above it. */
static inline void quadratic_finish(quadratic *s)
{
  memset(s->num_entries, 0, sizeof s->num_entries);
  for (int k = 0; k < s->m; k++)
    for (int i = 0; i < s->nv; i++) {
      s->used[k][i] = s->b[k][i] != 0.0;
      for (int j = 0; j < s->nv; j++) {
        if (s->A[k][i][j] == 0.0) continue;
        int e = s->num_entries[k]++;
        s->entries[k][e].i = i;
        s->entries[k][e].j = j;
        s->used[k][i] = 1;
      }
    }
  s->factor = (pol_factor){.kind = POL_REAL, .dim = s->nv};
  s->dae = (pol_dae){.num_holonomic = s->m,
                     .constant_mass = 1,
                     .evaluate = quadratic_evaluate,
                     .discrete_force = quadratic_discrete_force,
                     .user = s};
  assert_int_equal(pol_group_layout(&s->dae.group, &s->factor, 1), POL_OK);
}

/* Gives the model the patterns of its points, three coordinates each; free with quadratic_clear. */
static inline void quadratic_make_sparse(quadratic *s)
{
  pol_block coupling[MAX_QUADRATIC * MAX_QUADRATIC], constraint[MAX_FORMS * MAX_QUADRATIC];
  int num_coupling = 0, num_constraint = 0;
  for (int i = 0; i < s->nv; i++)
    for (int j = 0; j < s->nv; j++) {
      int used = i / 3 == j / 3;
      for (int k = 0; k < s->m; k++) used = used || s->A[k][i][j] != 0.0;
      for (int k = 0; k < s->num_springs; k++)
        used = used || ((i / 3 == s->springs[k].from || i / 3 == s->springs[k].to) &&
                        (j / 3 == s->springs[k].from || j / 3 == s->springs[k].to));
      if (used) coupling[num_coupling++] = (pol_block){.row = i, .col = j, .rows = 1, .cols = 1};
    }
  for (int k = 0; k < s->m; k++)
    for (int i = 0; i < s->nv; i++) {
      if (s->used[k][i])
        constraint[num_constraint++] = (pol_block){.row = k, .col = i, .rows = 1, .cols = 1};
    }
  assert_int_equal(pol_pattern_create(&s->coupling, s->nv, s->nv, num_coupling, coupling), POL_OK);
  assert_int_equal(pol_pattern_create(&s->constraint, s->m, s->nv, num_constraint, constraint),
                   POL_OK);
  s->dae.coupling = s->coupling;
  s->dae.constraint = s->constraint;
}

static inline void quadratic_clear(quadratic *s)
{
  pol_pattern_free(&s->coupling);
  pol_pattern_free(&s->constraint);
  s->dae.coupling = s->dae.constraint = NULL;
}

/* --- the examples ----------------------------------------------------------------------------- */

/* A_k += factor (the form x_a.x_b + x_b.x_a)/2 of points a, b, so that q.A q/2 gains factor
 * x_a.x_b/2 (a = b: factor |x_a|^2/2). */
static inline void add_product(quadratic *s, int k, int a, int b, double factor)
{
  for (int i = 0; i < 3; i++) {
    s->A[k][3 * a + i][3 * b + i] += a == b ? factor : 0.5 * factor;
    if (a != b) s->A[k][3 * b + i][3 * a + i] += 0.5 * factor;
  }
}

static inline void pendulum3d_init(quadratic *s)
{
  *s = (quadratic){.nv = 3,
                   .m = 1,
                   .mass = {1.0, 1.0, 1.0},
                   .constant = {0.0, 0.0, 9.81},
                   .c = {-0.5},
                   .q0 = {1.0, 0.0, 0.0},
                   .v0 = {0.0, 1.0, 0.0}};
  add_product(s, 0, 0, 0, 1.0);
  quadratic_finish(s);
}

static inline void cross_product(const double a[3], const double b[3], double c[3])
{
  for (int i = 0; i < 3; i++)
    c[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

static const double top_mass = 0.7069, top_inertia = 5.3014e-4, top_length = 0.075,
                    top_precession = 10.0;

static inline double top_spin(void)
{
  const double tilt = acos(-1.0) / 3.0;
  return top_mass * 9.81 * top_length / (top_inertia * top_precession) +
         top_mass * top_length * top_length / top_inertia * top_precession * cos(tilt);
}

/* Directors of the steady precession at time t, and the centre of mass: Rz(omega_p t) R0
 * Rz(omega_s t). */
static inline void top_solution(double t, double q[12], double v[12])
{
  const double tilt = acos(-1.0) / 3.0, c = cos(tilt), w = sin(tilt);
  double turn = fmod(top_precession * t, 2.0 * acos(-1.0)),
         spin = fmod(top_spin() * t, 2.0 * acos(-1.0));
  for (int i = 0; i < 3; i++) {
    double x = i == 0 ? cos(spin) : i == 1 ? -sin(spin) : 0.0;
    double y = i == 0 ? sin(spin) : i == 1 ? cos(spin) : 0.0, z = i == 2;
    double tilted[3] = {x, c * y - w * z, w * y + c * z}, *d = q + 3 * (i + 1);
    d[0] = cos(turn) * tilted[0] - sin(turn) * tilted[1];
    d[1] = sin(turn) * tilted[0] + cos(turn) * tilted[1];
    d[2] = tilted[2];
  }
  double omega[3] = {0.0, 0.0, top_precession};
  for (int i = 0; i < 3; i++) q[i] = top_length * q[9 + i];
  for (int i = 0; i < 3; i++) omega[i] += top_spin() * q[9 + i];
  for (int i = 0; i < 4; i++) cross_product(omega, q + 3 * i, v + 3 * i);
}

static inline void top_init(quadratic *s)
{
  static const int pair[3][2] = {{1, 2}, {1, 3}, {2, 3}};
  *s = (quadratic){.nv = 12, .m = 9};
  for (int j = 0; j < 12; j++) s->mass[j] = j < 3 ? top_mass : 0.5 * top_inertia;
  s->constant[2] = top_mass * 9.81;
  for (int i = 0; i < 3; i++) {
    add_product(s, i, i + 1, i + 1, 1.0);
    s->c[i] = -0.5;
    add_product(s, 3 + i, pair[i][0], pair[i][1], 2.0);
    s->b[6 + i][i] = 1.0 / top_length;
    s->b[6 + i][9 + i] = -1.0;
  }
  top_solution(0.0, s->q0, s->v0);
  quadratic_finish(s);
}

static inline void four_particles_init(quadratic *s)
{
  static const double masses[4] = {1.0, 3.0, 2.3, 1.7};
  *s = (quadratic){.nv = 12,
                   .m = 2,
                   .c = {-0.5, -0.5},
                   .springs = {{.from = 0, .to = 2, .k = 50.0}, {.from = 1, .to = 3, .k = 500.0}},
                   .num_springs = 2,
                   .q0 = {0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0},
                   .v0 = {[11] = 2.0 / 1.7}};
  for (int j = 0; j < 12; j++) s->mass[j] = masses[j / 3];
  for (int k = 0; k < 2; k++) {
    add_product(s, k, 2 * k, 2 * k, 1.0);
    add_product(s, k, 2 * k + 1, 2 * k + 1, 1.0);
    add_product(s, k, 2 * k, 2 * k + 1, -2.0);
  }
  quadratic_finish(s);
}

/* --- invariants ------------------------------------------------------------------------------- */

/* sum of x_i x p_i over the points */
static inline void quadratic_angular_momentum(const quadratic *s, const double *q, const double *p,
                                              double J[3])
{
  J[0] = J[1] = J[2] = 0.0;
  for (int i = 0; i < s->nv / 3; i++) {
    double part[3];
    cross_product(q + 3 * i, p + 3 * i, part);
    for (int k = 0; k < 3; k++) J[k] += part[k];
  }
}

/* H(q, p) */
static inline double quadratic_energy(const quadratic *s, const double *q, const double *p)
{
  double H = quadratic_potential(s, q);
  for (int i = 0; i < s->nv; i++) H += 0.5 * p[i] * p[i] / s->mass[i];
  return H;
}

/* Largest |Phi_k| and |(G v)_k|. */
static inline void quadratic_residuals(const quadratic *s, const double *q, const double *v,
                                       double *position, double *velocity)
{
  double phi[MAX_FORMS] = {0.0}, rate[MAX_FORMS] = {0.0};
  const pol_point at = {.q = q, .v = v};
  const pol_terms out = {.position = phi, .velocity = rate};
  quadratic_forms(s, &at, POL_POSITION | POL_VELOCITY, &out);
  *position = toy_largest(phi, s->m);
  *velocity = toy_largest(rate, s->m);
}

#endif
