/* Generalized-alpha methods on Lie groups: all updates, all constraint forms, one algorithm.
 *
 * Bruels/Cardona 2010 (geom1, geom2, geom3), Arnold/Cardona/Bruels 2015 (index 3 and stabilized
 * index 2, scaling (57)-(62)), Holzinger/Arnold/Gerstmayr (sigma).  A step solves for theta, lambda
 * and, in the stabilized form, eta:
 *
 *     q_{n+1}  = q* o exp(theta)
 *     v_{n+1}  = gamma/(h beta) P(theta)^-1 ( theta - T(theta) c + h B(q_n)^T eta )
 *     a_{n+1}  = ( v_{n+1} - v_n - h (1-gamma) a_n )/(h gamma)
 *     v'_{n+1} = ( (1-alpha_m) a_{n+1} + alpha_m a_n - alpha_f v'_n )/(1-alpha_f)
 *     0 = M v'_{n+1} + g + B^T lambda,    0 = Phi and/or B v_{n+1}
 *
 * with P = sigma I + (1-sigma) T(theta) and the known parts
 *
 *     c = h v_n + h^2 (1/2-beta) a_n - (h beta/gamma) (v_n + h (1-gamma) a_n),   q* = q_n (geom1)
 *
 * where geom2 moves the term h v_n from c into q*, and geom3 the term h^2 (1/2-beta) a_n as well.
 * For sigma = 0, P^-1 T = I and the equation reads v = gamma/(h beta) (theta - c + h B(q_n)^T eta),
 * as in Arnold et al. (56b).  The unknowns of Newton's method are scaled: (theta/h, h lambda, eta).
 */
#include "integrators/generalized_alpha.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dae/assembler.h"
#include "dae/newton.h"
#include "integrators/family.h"

const pol_update pol_geom1 = {.base_velocity = 0, .base_acceleration = 0};
const pol_update pol_geom2 = {.base_velocity = 1, .base_acceleration = 0};
const pol_update pol_geom3 = {.base_velocity = 1, .base_acceleration = 1};

enum { DIM = POL_MAX_FACTOR_DIM };

/* What a step carries to the next. */
typedef struct values {
  double *q, *v, *vd, *a, *lambda;
} values;

typedef struct stepper {
  const pol_dae *dae;
  const pol_options *options;
  const pol_update *update;
  pol_saddle *saddle;
  pol_saddle *owned_saddle; /* stabilized form only; else the assembler's is shared */
  pol_newton *newton;
  double *memory;
  values now, next;
  double *base;                                 /* q* */
  double *theta, *c;                            /* nv */
  double *x;                                    /* Newton's unknowns */
  double *eta;                                  /* num_extra */
  double *stabilizing;                          /* nv: h B(q_n)^T eta */
  double *column;                               /* n: a column of the eta block */
  double *mass, *damping, *stiffness, *inertia; /* pattern coupling; inertia = factor M + h D */
  double *jacobian, *curvature, *old_jacobian;  /* pattern constraint; old: at q_n */
  double *position, *velocity;                  /* residuals of the constraints */
  double *scratch;
  double (*P_inverse)[DIM * DIM]; /* a factor, sigma and stabilized only */
  int *factor_of;                 /* factor of each velocity component */
  double t, h;                    /* of the step under way; h = 0 after a start or a failure */
  int same_step;                  /* the step before succeeded with the same h */
  double length;                  /* largest translation coordinate, or 1 */
  double acceleration[POL_KINDS]; /* largest acceleration of each kind at the last residual */
} stepper;

/* --- life cycle ---------------------------------------------------------------------------------
 */

static pol_status broken_rule(const char *rule, char *message, size_t size)
{
  if (message && size) snprintf(message, size, "%s", rule);
  return POL_BAD_ARGUMENT;
}

static pol_status validate(const pol_options *options, const void *variant, char *message,
                           size_t size)
{
  const pol_update *update = variant;
  if (!isfinite(options->alpha_m) || !isfinite(options->alpha_f) || options->alpha_m >= 1.0 ||
      options->alpha_f >= 1.0)
    return broken_rule("alpha_m and alpha_f must be below 1", message, size);
  if (!(options->beta > 0.0) || !isfinite(options->beta) || !(options->gamma > 0.0) ||
      !isfinite(options->gamma))
    return broken_rule("beta and gamma must be positive", message, size);
  if (options->index < POL_INDEX_3 || options->index > POL_INDEX_2_STABILIZED)
    return broken_rule("index must be 3, 2 or stabilized-2", message, size);
  if (!isfinite(options->sigma)) return broken_rule("sigma must be finite", message, size);
  if (options->sigma != 0.0 && update->base_velocity)
    return broken_rule("sigma belongs to geom1: geom2 and geom3 put the velocity into the base",
                       message, size);
  return POL_OK;
}

static void destroy(void *data)
{
  stepper *s = data;
  pol_newton_free(&s->newton);
  pol_saddle_free(&s->owned_saddle);
  free(s->memory);
  free(s->P_inverse);
  free(s->factor_of);
  free(s);
}

/* Lays all arrays out in one piece of memory; with memory NULL only counts. */
static size_t lay_out(stepper *s)
{
  size_t nq = (size_t)s->dae->group.nq, nv = (size_t)s->dae->group.nv, m = (size_t)s->saddle->m;
  size_t n = (size_t)s->saddle->n, extra = (size_t)s->saddle->num_extra;
  size_t coupling = (size_t)pol_pattern_nonzeros(s->saddle->patterns.coupling);
  size_t constraint = (size_t)pol_pattern_nonzeros(s->saddle->patterns.constraint);
  const struct {
    double **array;
    size_t size;
  } arrays[] = {{&s->now.q, nq},
                {&s->next.q, nq},
                {&s->now.v, nv},
                {&s->next.v, nv},
                {&s->now.vd, nv},
                {&s->next.vd, nv},
                {&s->now.a, nv},
                {&s->next.a, nv},
                {&s->now.lambda, m},
                {&s->next.lambda, m},
                {&s->base, nq},
                {&s->theta, nv},
                {&s->c, nv},
                {&s->x, n},
                {&s->eta, extra},
                {&s->stabilizing, nv},
                {&s->column, n},
                {&s->mass, coupling},
                {&s->damping, coupling},
                {&s->stiffness, coupling},
                {&s->inertia, coupling},
                {&s->jacobian, constraint},
                {&s->curvature, constraint},
                {&s->old_jacobian, constraint},
                {&s->position, m},
                {&s->velocity, m},
                {&s->scratch, s->dae->scratch_size}};
  size_t total = 0;
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
    if (s->memory) *arrays[i].array = s->memory + total;
    total += arrays[i].size;
  }
  return total;
}

static pol_status allocate(stepper *s, pol_integrator *integrator)
{
  const pol_group *group = &s->dae->group;
  pol_status status = POL_OK;
  if (s->options->index == POL_INDEX_2_STABILIZED)
    status = pol_saddle_create(&s->owned_saddle, s->dae, 1, s->options->solver);
  if (status) return status;
  s->saddle = s->owned_saddle ? s->owned_saddle : pol_assembler_saddle(integrator->assembler);
  status =
      pol_newton_create(&s->newton, s->dae, s->saddle, &s->options->newton, &integrator->counts);
  if (status) return status;
  s->memory = calloc(lay_out(s) + 1, sizeof *s->memory);
  s->P_inverse = calloc((size_t)group->num_factors, sizeof *s->P_inverse);
  s->factor_of = calloc((size_t)group->nv, sizeof *s->factor_of);
  if (!s->memory || !s->P_inverse || !s->factor_of) return POL_NO_MEMORY;
  lay_out(s);
  for (int f = 0; f < group->num_factors; f++)
    for (int i = 0; i < group->factors[f].dim; i++) s->factor_of[group->factors[f].v + i] = f;
  return POL_OK;
}

static pol_status create(pol_integrator *integrator)
{
  stepper *s = calloc(1, sizeof *s);
  if (!s) return POL_NO_MEMORY;
  integrator->data = s;
  s->dae = integrator->dae;
  s->options = &integrator->options;
  s->update = integrator->method->variant;
  return allocate(s, integrator);
}

static void copy(double *to, const double *from, int n)
{
  memcpy(to, from, (size_t)n * sizeof *to);
}

static void publish(pol_integrator *integrator)
{
  const stepper *s = integrator->data;
  integrator->state.q = s->now.q;
  integrator->state.v = s->now.v;
  integrator->state.vd = s->now.vd;
  integrator->state.lambda = s->now.lambda;
}

/* --- small dense blocks -------------------------------------------------------------------------
 */

/* A <- A^-1 by Gauss-Jordan with row pivoting, n <= DIM, row-major; 0 if singular. */
static int invert(double *A, int n)
{
  double B[DIM * DIM] = {0.0};
  for (int i = 0; i < n; i++) B[i * n + i] = 1.0;
  for (int k = 0; k < n; k++) {
    int pivot = k;
    for (int i = k + 1; i < n; i++)
      if (fabs(A[i * n + k]) > fabs(A[pivot * n + k])) pivot = i;
    if (!(fabs(A[pivot * n + k]) > 0.0)) return 0;
    for (int j = 0; j < n; j++) {
      double a = A[k * n + j], b = B[k * n + j];
      A[k * n + j] = A[pivot * n + j];
      A[pivot * n + j] = a;
      B[k * n + j] = B[pivot * n + j];
      B[pivot * n + j] = b;
    }
    double scale = 1.0 / A[k * n + k];
    for (int j = 0; j < n; j++) {
      A[k * n + j] *= scale;
      B[k * n + j] *= scale;
    }
    for (int i = 0; i < n; i++) {
      double factor = A[i * n + k];
      if (i == k || factor == 0.0) continue;
      for (int j = 0; j < n; j++) {
        A[i * n + j] -= factor * A[k * n + j];
        B[i * n + j] -= factor * B[k * n + j];
      }
    }
  }
  memcpy(A, B, (size_t)(n * n) * sizeof *A);
  return 1;
}

/* P = sigma I + (1-sigma) T, inverted. */
static int invert_P(double sigma, const double *T, int n, double *P)
{
  for (int i = 0; i < n * n; i++) P[i] = (1.0 - sigma) * T[i];
  for (int i = 0; i < n; i++) P[i * n + i] += sigma;
  return invert(P, n);
}

/* y = A x */
static void apply(const double *A, const double *x, int n, double *y)
{
  for (int i = 0; i < n; i++) {
    y[i] = 0.0;
    for (int j = 0; j < n; j++) y[i] += A[i * n + j] * x[j];
  }
}

/* --- the equations ------------------------------------------------------------------------------
 */

/* q*, c and the constraint matrix at the old configuration. */
static pol_status prepare(stepper *s)
{
  const pol_options *o = s->options;
  const pol_group *group = &s->dae->group;
  double h = s->h, *w = s->theta;
  double in_velocity = s->update->base_velocity ? 0.0 : 1.0;
  double in_acceleration = s->update->base_acceleration ? 0.0 : 1.0;
  for (int i = 0; i < group->nv; i++)
    s->c[i] = in_velocity * h * s->now.v[i] +
              in_acceleration * h * h * (0.5 - o->beta) * s->now.a[i] -
              h * o->beta / o->gamma * (s->now.v[i] + h * (1.0 - o->gamma) * s->now.a[i]);

  copy(s->base, s->now.q, group->nq);
  if (s->update->base_velocity) {
    for (int i = 0; i < group->nv; i++) w[i] = h * s->now.v[i];
    pol_group_move(group, s->base, w, s->base);
  }
  if (s->update->base_acceleration) {
    for (int i = 0; i < group->nv; i++) w[i] = h * h * (0.5 - o->beta) * s->now.a[i];
    pol_group_move(group, s->base, w, s->base);
  }

  s->length = 1.0;
  for (int f = 0; f < group->num_factors; f++) {
    const pol_factor *factor = &group->factors[f];
    const double *q = s->now.q + factor->q;
    int first = factor->kind == POL_REAL ? 0 : 4,
        count = factor->kind == POL_REAL ? factor->dim : 3;
    if (factor->kind == POL_SO3) continue;
    for (int i = 0; i < count; i++) s->length = fmax(s->length, fabs(q[first + i]));
  }
  if (!s->saddle->num_extra) return POL_OK;
  pol_point at = {.t = s->t - h, .q = s->now.q, .v = s->now.v, .vd = s->now.vd};
  pol_terms out = {.jacobian = s->old_jacobian};
  return pol_dae_evaluate(s->dae, &at, POL_JACOBIAN, &out, s->scratch);
}

/* First guess: accelerations and multipliers go on along a line where the step before had the same
 * size (s->next still holds the values of its start), or stay as they are. */
static void predict(stepper *s)
{
  const pol_options *o = s->options;
  int nv = s->saddle->nv, m = s->saddle->m;
  double slope = s->same_step ? 1.0 : 0.0;
  for (int i = 0; i < nv; i++) {
    double a = s->now.a[i] + o->gamma * slope * (s->now.a[i] - s->next.a[i]);
    s->x[i] = s->c[i] / s->h + o->beta / o->gamma * (s->now.v[i] + s->h * a);
  }
  for (int i = 0; i < m; i++)
    s->x[nv + i] = s->h * (s->now.lambda[i] + slope * (s->now.lambda[i] - s->next.lambda[i]));
  for (int i = 0; i < s->saddle->num_extra; i++) s->x[nv + m + i] = 0.0;
}

/* v_{n+1} of theta and eta. */
static pol_status new_velocity(stepper *s)
{
  const pol_options *o = s->options;
  const pol_group *group = &s->dae->group;
  double scale = o->gamma / (s->h * o->beta), *v = s->next.v;
  if (o->sigma == 0.0) {
    for (int i = 0; i < group->nv; i++) v[i] = scale * (s->theta[i] - s->c[i] + s->stabilizing[i]);
    return POL_OK;
  }
  pol_group_tangent(group, s->theta, s->c, v);
  for (int i = 0; i < group->nv; i++) v[i] = scale * (s->theta[i] - v[i] + s->stabilizing[i]);
  for (int f = 0; f < group->num_factors; f++) {
    const pol_factor *factor = &group->factors[f];
    double T[DIM * DIM], y[DIM];
    if (factor->kind == POL_REAL || o->sigma == 1.0) continue;
    pol_factor_tangent(factor, s->theta + factor->v, T);
    if (!invert_P(o->sigma, T, factor->dim, s->P_inverse[f])) return POL_SINGULAR;
    copy(y, v + factor->v, factor->dim);
    apply(s->P_inverse[f], y, factor->dim, v + factor->v);
  }
  return POL_OK;
}

/* Everything at t_{n+1} that follows from the unknowns x. */
static pol_status unpack(stepper *s, const double *x)
{
  const pol_options *o = s->options;
  int nv = s->saddle->nv, m = s->saddle->m;
  double h = s->h;
  for (int i = 0; i < nv; i++) s->theta[i] = h * x[i];
  for (int i = 0; i < m; i++) s->next.lambda[i] = x[nv + i] / h;
  if (s->saddle->num_extra) {
    memset(s->stabilizing, 0, (size_t)nv * sizeof *s->stabilizing);
    memset(s->velocity, 0, (size_t)m * sizeof *s->velocity);
    copy(s->eta, x + nv + m, s->saddle->num_extra);
    copy(s->velocity, s->eta, s->saddle->num_extra);
    pol_matrix_multiply_transposed(s->saddle->patterns.constraint, s->old_jacobian, h, s->velocity,
                                   s->stabilizing);
  }
  pol_status status = new_velocity(s);
  if (status) return status;
  for (int k = 0; k < POL_KINDS; k++) s->acceleration[k] = 0.0;
  for (int i = 0; i < nv; i++) {
    double a_old = s->now.a[i];
    double a = (s->next.v[i] - s->now.v[i] - h * (1.0 - o->gamma) * a_old) / (h * o->gamma);
    double vd = ((1.0 - o->alpha_m) * a + o->alpha_m * a_old - o->alpha_f * s->now.vd[i]) /
                (1.0 - o->alpha_f);
    double *largest = &s->acceleration[s->newton->kind[i]];
    s->next.a[i] = a;
    s->next.vd[i] = vd;
    *largest = fmax(*largest, fmax(fabs(vd), fabs(s->now.vd[i])));
  }
  pol_group_move(&s->dae->group, s->base, s->theta, s->next.q);
  return POL_OK;
}

static pol_status residual(const double *x, double *r, void *user)
{
  stepper *s = user;
  int nv = s->saddle->nv, m = s->saddle->m, nh = s->dae->num_holonomic;
  int index3 = s->options->index == POL_INDEX_3, stabilized = s->saddle->num_extra > 0;
  pol_status status = unpack(s, x);
  if (status) return status;

  unsigned want = POL_INERTIA | POL_FORCE | POL_REACTION;
  if (index3 || stabilized) want |= POL_POSITION;
  if (!index3 || nh < m) want |= POL_VELOCITY;
  pol_point at = {s->t, s->next.q, s->next.v, s->next.vd, s->next.lambda};
  pol_terms out = {.balance = r, .position = s->position, .velocity = s->velocity};
  status = pol_dae_evaluate(s->dae, &at, want, &out, s->scratch);
  if (status) return status;

  for (int i = 0; i < nv; i++) r[i] *= s->h;
  for (int i = 0; i < m; i++) r[nv + i] = index3 && i < nh ? s->position[i] / s->h : s->velocity[i];
  if (stabilized)
    for (int i = 0; i < nh; i++) r[nv + m + i] = s->position[i] / s->h;
  return POL_OK;
}

/* What a correction of theta/h may be: a share of the increment that accelerations make, not below
 * round-off of the coordinates. */
static void tolerances(double tolerance[POL_KINDS], void *user)
{
  const stepper *s = user;
  const double size[POL_KINDS] = {[POL_ROTATIONS] = 1.0, [POL_TRANSLATIONS] = s->length};
  for (int k = 0; k < POL_KINDS; k++)
    tolerance[k] = s->options->newton.tolerance * s->h * s->acceleration[k] +
                   64.0 * DBL_EPSILON * size[k] / s->h;
}

/* --- the Newton matrix --------------------------------------------------------------------------
 */

/* T = T(theta) and V = h dv/dtheta of a factor that is not R^n. */
static pol_status factor_derivatives(stepper *s, int f, double *T, double *V)
{
  const pol_options *o = s->options;
  const pol_factor *factor = &s->dae->group.factors[f];
  int n = factor->dim;
  double ratio = o->gamma / o->beta;
  int simplified = o->newton.kind == POL_NEWTON_SIMPLIFIED;
  memset(V, 0, (size_t)(n * n) * sizeof *V);
  for (int i = 0; i < n; i++) V[i * n + i] = ratio;
  if (simplified) {
    memset(T, 0, (size_t)(n * n) * sizeof *T);
    for (int i = 0; i < n; i++) T[i * n + i] = 1.0;
    memcpy(s->P_inverse[f], T, (size_t)(n * n) * sizeof *T);
    return POL_OK;
  }
  pol_factor_tangent(factor, s->theta + factor->v, T);
  if (o->sigma == 0.0) return POL_OK;

  /* V = (gamma/beta) P^-1 (I - d(T z)/dtheta),  z = c + (1-sigma) (h beta/gamma) v */
  double z[DIM], D[DIM * DIM], column[DIM], product[DIM];
  for (int i = 0; i < n; i++)
    z[i] = s->c[factor->v + i] + (1.0 - o->sigma) * s->h / ratio * s->next.v[factor->v + i];
  pol_factor_tangent_derivative(factor, s->theta + factor->v, z, D);
  if (!invert_P(o->sigma, T, n, s->P_inverse[f])) return POL_SINGULAR;
  for (int j = 0; j < n; j++) {
    for (int i = 0; i < n; i++) column[i] = (i == j) - D[i * n + j];
    apply(s->P_inverse[f], column, n, product);
    for (int i = 0; i < n; i++) V[i * n + j] = ratio * product[i];
  }
  return POL_OK;
}

/* out[i] (+)= scale * sum_k source[k * stride + i] X[k][j], i < rows: a column of a product. */
static void add_columns(const double *source, int stride, int rows, const double *X, int n, int j,
                        double scale, double *out)
{
  for (int k = 0; k < n; k++) {
    double x = scale * X[k * n + j];
    if (x == 0.0) continue;
    for (int i = 0; i < rows; i++) out[i] += x * source[k * stride + i];
  }
}

/* Columns of one factor: inertia V + h^2 K T over B T (position) or B V + h Z T (velocity). */
static void fill_columns(stepper *s, const pol_factor *factor, const double *T, const double *V)
{
  const pol_pattern *W = s->saddle->patterns.coupling, *B = s->saddle->patterns.constraint;
  int index3 = s->options->index == POL_INDEX_3, nh = s->dae->num_holonomic;
  int exact = s->options->newton.kind != POL_NEWTON_SIMPLIFIED;
  int n = factor->dim;
  for (int j = 0; j < n; j++) {
    int col = factor->v + j, top = W->start[factor->v], low = B->start[factor->v];
    int rows = W->start[col + 1] - W->start[col], below = B->start[col + 1] - B->start[col];
    double *out = s->saddle->values + s->saddle->pattern->start[col];
    memset(out, 0, (size_t)(rows + below) * sizeof *out);
    add_columns(s->inertia + top, rows, rows, V, n, j, 1.0, out);
    if (exact) add_columns(s->stiffness + top, rows, rows, T, n, j, s->h * s->h, out);
    out += rows;

    /* constraint rows: positions first where they are asked for */
    int positions = 0;
    while (positions < below && B->row[low + positions] < nh) positions++;
    int on_position = index3 ? positions : 0, on_velocity = below - on_position;
    add_columns(s->jacobian + low, below, on_position, T, n, j, 1.0, out);
    add_columns(s->jacobian + low + on_position, below, on_velocity, V, n, j, 1.0,
                out + on_position);
    if (exact)
      add_columns(s->curvature + low + on_position, below, on_velocity, T, n, j, s->h,
                  out + on_position);
    out += below;
    if (!s->saddle->num_extra) continue;
    memset(out, 0, (size_t)positions * sizeof *out);
    add_columns(s->jacobian + low, below, positions, T, n, j, 1.0, out);
  }
}

/* Column of eta_i: (gamma/beta) (inertia, B) P^-1 B(q_n)^T e_i */
static void fill_eta_column(stepper *s, int i)
{
  const pol_saddle *saddle = s->saddle;
  const pol_pattern *W = saddle->patterns.coupling, *B = saddle->patterns.constraint;
  const pol_pattern *S = saddle->pattern;
  int nv = saddle->nv, col = nv + saddle->m + i;
  double ratio = s->options->gamma / s->options->beta;
  memset(s->column, 0, (size_t)saddle->n * sizeof *s->column);
  for (int k = saddle->row_start[i]; k < saddle->row_start[i + 1];) {
    int first = saddle->row_col[k], f = s->factor_of[first];
    const pol_factor *factor = &s->dae->group.factors[f];
    int mapped = factor->kind != POL_REAL && s->options->sigma != 0.0;
    int n = mapped ? factor->dim : 1;
    double b[DIM], y[DIM];
    for (int c = 0; c < n; c++) b[c] = s->old_jacobian[saddle->row_address[k + c]];
    if (mapped)
      apply(s->P_inverse[f], b, n, y);
    else
      y[0] = b[0];
    for (int c = 0; c < n; c++) {
      for (int e = W->start[first + c]; e < W->start[first + c + 1]; e++)
        s->column[W->row[e]] += ratio * y[c] * s->inertia[e];
      for (int e = B->start[first + c]; e < B->start[first + c + 1]; e++)
        s->column[nv + B->row[e]] += ratio * y[c] * s->jacobian[e];
    }
    k += n;
  }
  for (int e = S->start[col]; e < S->start[col + 1]; e++) saddle->values[e] = s->column[S->row[e]];
}

static pol_status matrix(void *user)
{
  stepper *s = user;
  const pol_options *o = s->options;
  const pol_group *group = &s->dae->group;
  unsigned want = POL_MASS | POL_JACOBIAN;
  int exact = o->newton.kind != POL_NEWTON_SIMPLIFIED;
  if (exact) want |= POL_DAMPING | POL_STIFFNESS | POL_GEOMETRIC_STIFFNESS;
  if (exact && (o->index != POL_INDEX_3 || s->dae->num_nonholonomic)) want |= POL_CURVATURE;
  pol_point at = {s->t, s->next.q, s->next.v, s->next.vd, s->next.lambda};
  pol_terms out = {.mass = s->mass,
                   .damping = s->damping,
                   .stiffness = s->stiffness,
                   .jacobian = s->jacobian,
                   .curvature = s->curvature};
  pol_status status = pol_dae_evaluate(s->dae, &at, want, &out, s->scratch);
  if (status) return status;

  /* inertia = (1-alpha_m)/(gamma (1-alpha_f)) M + h D */
  double factor = (1.0 - o->alpha_m) / (o->gamma * (1.0 - o->alpha_f));
  int coupling = pol_pattern_nonzeros(s->saddle->patterns.coupling);
  for (int k = 0; k < coupling; k++)
    s->inertia[k] = factor * s->mass[k] + (exact ? s->h * s->damping[k] : 0.0);

  const double one = 1.0, ratio = o->gamma / o->beta;
  for (int f = 0; f < group->num_factors; f++) {
    const pol_factor *g = &group->factors[f];
    double T[DIM * DIM], V[DIM * DIM];
    if (g->kind == POL_REAL) {
      for (int i = 0; i < g->dim; i++) {
        pol_factor line = {.kind = POL_REAL, .dim = 1, .v = g->v + i};
        fill_columns(s, &line, &one, &ratio);
      }
      continue;
    }
    status = factor_derivatives(s, f, T, V);
    if (status) return status;
    fill_columns(s, g, T, V);
  }
  pol_saddle_set_transposed(s->saddle, s->jacobian);
  for (int i = 0; i < s->saddle->num_extra; i++) fill_eta_column(s, i);
  return POL_OK;
}

/* --- start and step -----------------------------------------------------------------------------
 */

/* Factors the stabilized form's own matrix once, in its limit h -> 0, so that no step has to
 * allocate for it. */
static pol_status factor_limit(stepper *s)
{
  int nv = s->saddle->nv;
  copy(s->next.q, s->now.q, s->dae->group.nq);
  copy(s->next.v, s->now.v, nv);
  copy(s->next.vd, s->now.vd, nv);
  copy(s->next.lambda, s->now.lambda, s->saddle->m);
  pol_status status = prepare(s);
  memset(s->theta, 0, (size_t)nv * sizeof *s->theta);
  if (!status) status = matrix(s);
  return status ? status : pol_solver_factor(s->saddle->solver, s->saddle->values);
}

static pol_status start(pol_integrator *integrator, const double *q, const double *v,
                        const double *vd, const double *lambda)
{
  stepper *s = integrator->data;
  copy(s->now.q, q, s->dae->group.nq);
  copy(s->now.v, v, s->dae->group.nv);
  copy(s->now.vd, vd, s->dae->group.nv);
  copy(s->now.a, vd, s->dae->group.nv);
  copy(s->now.lambda, lambda, s->saddle->m);
  s->t = integrator->state.t;
  s->h = 0.0;
  pol_newton_reset(s->newton);
  pol_status status = s->owned_saddle ? factor_limit(s) : POL_OK;
  if (status) {
    snprintf(integrator->diagnostics.message, sizeof integrator->diagnostics.message,
             "the matrix of the first step could not be factorised");
    return status;
  }
  publish(integrator);
  return POL_OK;
}

/* Solves the step's equations into s->next. */
static pol_status solve(stepper *s, pol_diagnostics *diagnostics)
{
  const pol_newton_system system = {residual, matrix, tolerances, s};
  pol_status status = prepare(s);
  if (status) {
    snprintf(diagnostics->message, sizeof diagnostics->message, "the model could not be evaluated");
    return status;
  }
  predict(s);
  return pol_newton_solve(s->newton, &system, s->x, diagnostics);
}

static pol_status step(pol_integrator *integrator, double t, double h)
{
  stepper *s = integrator->data;
  s->same_step = h == s->h;
  if (!s->same_step) pol_newton_reset(s->newton);
  s->t = t;
  s->h = h;
  pol_status status = solve(s, &integrator->diagnostics);
  if (status) {
    s->h = 0.0;
    return status;
  }
  values accepted = s->next;
  s->next = s->now;
  s->now = accepted;
  publish(integrator);
  return POL_OK;
}

const pol_family pol_generalized_alpha = {
    .validate = validate, .create = create, .destroy = destroy, .start = start, .step = step};
