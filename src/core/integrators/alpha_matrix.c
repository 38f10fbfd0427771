/* The Newton matrix of a generalized-alpha step: the derivative of poli_alpha_residual by the
 * scaled unknowns (theta/h, h lambda, eta), as in Arnold/Cardona/Bruels 2015 (60), (62),
 *
 *     [ Ms V + h^2 K T   B^T + F   Ms V_eta ]
 *     [ B T or           0         B V_eta  ]
 *     [ B V + h Z T                         ]
 *
 * with Ms = (1-alpha_m)/(gamma (1-alpha_f)) M + h D, V = h dv/dtheta, V_eta = dv/deta, F =
 * dg/dlambda. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "dae/dae.h"
#include "integrators/alpha.h"

/* --- small dense blocks ----------------------------------------------------------------------- */

/* A <- A^-1 by Gauss-Jordan with row pivoting, n <= DIM, row-major; 0 if singular. */
static int invert(double *A, int n)
{
  double B[POLI_DIM * POLI_DIM] = {0.0};
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
int pol_alpha_invert_P(double sigma, const double *T, int n, double *P)
{
  for (int i = 0; i < n * n; i++) P[i] = (1.0 - sigma) * T[i];
  for (int i = 0; i < n; i++) P[i * n + i] += sigma;
  return invert(P, n);
}

/* y = A x */
void poli_alpha_apply(const double *A, const double *x, int n, double *y)
{
  for (int i = 0; i < n; i++) {
    y[i] = 0.0;
    for (int j = 0; j < n; j++) y[i] += A[i * n + j] * x[j];
  }
}

/* --- the matrix ------------------------------------------------------------------------------- */

static void set_scaled_identity(double scale, int n, double *A)
{
  memset(A, 0, (size_t)(n * n) * sizeof *A);
  for (int i = 0; i < n; i++) A[i * n + i] = scale;
}

/* V = (gamma/beta) P^-1 (I - d(T z)/dtheta),  z = c + (1-sigma) (h beta/gamma) v */
static pol_status sigma_velocity(const poli_alpha *s, int f, poli_alpha_derivatives *d)
{
  const pol_options *o = s->options;
  const pol_factor *factor = &s->dae->group.factors[f];
  int n = factor->dim, k = factor->v;
  double ratio = o->gamma / o->beta;
  double z[POLI_DIM] = {0.0}, D[POLI_DIM * POLI_DIM], column[POLI_DIM], product[POLI_DIM];
  for (int i = 0; i < n; i++)
    z[i] = poli_alpha_c(s, k + i) + (1.0 - o->sigma) * s->h / ratio * s->next.v[k + i];
  pol_factor_tangent_derivative(factor, s->theta + k, z, D);
  if (!pol_alpha_invert_P(o->sigma, d->T, n, s->P_inverse[f])) return POL_SINGULAR;
  for (int j = 0; j < n; j++) {
    for (int i = 0; i < n; i++) column[i] = (i == j) - D[i * n + j];
    poli_alpha_apply(s->P_inverse[f], column, n, product);
    for (int i = 0; i < n; i++) d->V[i * n + j] = ratio * product[i];
  }
  return POL_OK;
}

/* With D(c) = d(T c)/dpsi: V = (gamma/beta) T + h D(psi'), and with Td x = D(x) psi'
 * h^2 dv'/dpsi = factor (gamma/beta) T + h (gamma/beta) (D(psi') + Td) + h^2 D(psi''), where the
 * second derivative of T, of the size (h psi')^2, is left out. */
static void vector_velocity(const poli_alpha *s, int f, double inertia_factor,
                            poli_alpha_derivatives *d)
{
  const pol_factor *factor = &s->dae->group.factors[f];
  int n = factor->dim, k = factor->v;
  double ratio = s->options->gamma / s->options->beta, h = s->h;
  double D1[POLI_DIM * POLI_DIM], D2[POLI_DIM * POLI_DIM], Dj[POLI_DIM * POLI_DIM], Td[POLI_DIM];
  pol_factor_tangent_derivative(factor, s->theta + k, s->next.v + k, D1);
  pol_factor_tangent_derivative(factor, s->theta + k, s->next.vd + k, D2);
  memcpy(s->P_inverse[f], d->T, sizeof d->T);
  for (int j = 0; j < n; j++) {
    double unit[POLI_DIM] = {0.0};
    unit[j] = 1.0;
    pol_factor_tangent_derivative(factor, s->theta + k, unit, Dj);
    poli_alpha_apply(Dj, s->next.v + k, n, Td);
    for (int i = 0; i < n; i++) {
      int e = i * n + j;
      d->V[e] = ratio * d->T[e] + h * D1[e];
      d->E[e] = inertia_factor * (ratio * d->T[e] - d->V[e]) + h * ratio * (D1[e] + Td[i]) +
                h * h * D2[e];
    }
  }
}

pol_status poli_alpha_differentiate(const poli_alpha *s, int f, double inertia_factor,
                                    poli_alpha_derivatives *d)
{
  const pol_options *o = s->options;
  const pol_factor *factor = &s->dae->group.factors[f];
  set_scaled_identity(o->gamma / o->beta, factor->dim, d->V);
  if (o->newton.kind == POL_NEWTON_SIMPLIFIED) {
    set_scaled_identity(1.0, factor->dim, d->T);
    set_scaled_identity(1.0, factor->dim, s->P_inverse[f]);
    set_scaled_identity(0.0, factor->dim, d->E);
    return POL_OK;
  }
  pol_factor_tangent(factor, s->theta + factor->v, d->T);
  if (o->published.sigma_update != POL_SIGMA_EXACT) {
    /* the incremental form's unknown is T theta: V = (gamma/beta) P^-1, and I in place of T */
    const int n = factor->dim;
    if (!pol_alpha_invert_P(o->sigma, d->T, n, s->P_inverse[f])) return POL_SINGULAR;
    for (int i = 0; i < n * n; i++) d->V[i] = o->gamma / o->beta * s->P_inverse[f][i];
    set_scaled_identity(1.0, n, d->T);
    return POL_OK;
  }
  if (poli_alpha_is_vector(s, factor))
    vector_velocity(s, f, inertia_factor, d);
  else if (o->sigma != 0.0)
    return sigma_velocity(s, f, d);
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
static void fill_columns(poli_alpha *s, const pol_factor *factor, const poli_alpha_derivatives *d)
{
  const double *T = d->T, *V = d->V;
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
    if (poli_alpha_is_vector(s, factor))
      add_columns(s->mass + top, rows, rows, d->E, n, j, 1.0, out);
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
static void fill_eta_column(poli_alpha *s, int i)
{
  const poli_saddle *saddle = s->saddle;
  const pol_pattern *W = saddle->patterns.coupling, *B = saddle->patterns.constraint;
  const pol_pattern *S = saddle->pattern;
  int nv = saddle->nv, col = nv + saddle->m + i;
  double ratio = s->options->gamma / s->options->beta;
  for (int e = S->start[col]; e < S->start[col + 1]; e++) s->column[S->row[e]] = 0.0;
  for (int k = saddle->row_start[i]; k < saddle->row_start[i + 1];) {
    int first = saddle->row_col[k], f = s->factor_of[first];
    const pol_factor *factor = &s->dae->group.factors[f];
    int mapped =
        poli_alpha_is_vector(s, factor) || (factor->kind != POL_REAL && s->options->sigma != 0.0);
    int n = mapped ? factor->dim : 1;
    double b[POLI_DIM], y[POLI_DIM];
    for (int c = 0; c < n; c++) b[c] = s->old_jacobian[saddle->row_address[k + c]];
    if (mapped)
      poli_alpha_apply(s->P_inverse[f], b, n, y);
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

pol_status poli_alpha_matrix(void *alpha)
{
  poli_alpha *s = alpha;
  const pol_options *o = s->options;
  const pol_group *group = &s->dae->group;
  unsigned want = POL_MASS | POL_JACOBIAN;
  int exact = o->newton.kind != POL_NEWTON_SIMPLIFIED;
  if (exact) want |= POL_DAMPING | POL_STIFFNESS | POL_GEOMETRIC_STIFFNESS;
  if (exact && (o->index != POL_INDEX_3 || s->dae->num_nonholonomic)) want |= POL_CURVATURE;
  if (s->dae->feedback) want |= POL_FEEDBACK;
  pol_point at = {s->t, s->next.q, s->model_v, s->model_vd, s->next.lambda, s->history};
  pol_terms out = {.mass = s->mass,
                   .damping = s->damping,
                   .stiffness = s->stiffness,
                   .jacobian = s->jacobian,
                   .curvature = s->curvature,
                   .feedback = s->feedback};
  pol_status status = poli_dae_evaluate(s->dae, &at, want, &out, s->scratch);
  if (status) return status;
  s->matrix_h = s->h;

  /* inertia = (1-alpha_m)/(gamma (1-alpha_f)) M + h D */
  double factor = (1.0 - o->alpha_m) / (o->gamma * (1.0 - o->alpha_f));
  int coupling = pol_pattern_nonzeros(s->saddle->patterns.coupling);
  for (int k = 0; k < coupling; k++)
    s->inertia[k] = factor * s->mass[k] + (exact ? s->h * s->damping[k] : 0.0);

  for (int f = 0; f < group->num_factors; f++) {
    const pol_factor *g = &group->factors[f];
    poli_alpha_derivatives d;
    if (g->kind == POL_REAL) {
      d.T[0] = 1.0;
      d.V[0] = o->gamma / o->beta;
      for (int i = 0; i < g->dim; i++)
        fill_columns(s, &(pol_factor){.kind = POL_REAL, .dim = 1, .v = g->v + i}, &d);
      continue;
    }
    status = poli_alpha_differentiate(s, f, factor, &d);
    if (status) return status;
    fill_columns(s, g, &d);
  }
  poli_saddle_set_transposed(s->saddle, s->jacobian);
  if (s->dae->feedback) poli_saddle_add_feedback(s->saddle, s->feedback);
  for (int i = 0; i < s->saddle->num_extra; i++) fill_eta_column(s, i);
  if (s->dropped) poli_saddle_drop(s->saddle, s->dropped);
  return POL_OK;
}

const char *poli_alpha_advice(const poli_alpha *s)
{
  if (s->options->index != POL_INDEX_3 || s->dae->num_holonomic == 0 ||
      s->options->newton.kind != POL_NEWTON_MODIFIED)
    return NULL;
  return "take a smaller step, or index stabilized-2, in which reactions oscillate less";
}

pol_status poli_alpha_make_matrix(poli_alpha *s)
{
  if (s->newton) return POL_OK;
  pol_status status = poli_saddle_build(s->saddle);
  if (status) return status;
  pol_newton_options newton = s->options->newton;
  if (s->options->published.sigma_update != POL_SIGMA_EXACT) {
    /* each correction changes the state for good: no second trial, the matrix always anew */
    newton.kind = POL_NEWTON_FULL;
    newton.line_search = 0;
  }
  if (!s->matrix_memory) {
    poli_arena arena = {0};
    do {
      POLI_TAKE_EACH(&arena, pol_pattern_nonzeros(s->saddle->patterns.coupling), &s->mass,
                     &s->damping, &s->stiffness, &s->inertia);
      POLI_TAKE_EACH(&arena, pol_pattern_nonzeros(s->saddle->patterns.constraint), &s->jacobian,
                     &s->curvature, &s->old_jacobian);
      POLI_TAKE(&arena, s->feedback, s->dae->feedback ? pol_pattern_nonzeros(s->dae->feedback) : 0);
    } while (poli_arena_again(&arena));
    s->matrix_memory = arena.memory;
    s->matrix_size = arena.used;
    if (!s->matrix_memory) return POL_NO_MEMORY;
  }
  status = poli_newton_create(&s->newton, s->dae, s->saddle, &newton, s->counts);
  if (status) return status;
  s->newton->goal = s->goal;
  s->newton->advice = poli_alpha_advice(s);
  return POL_OK;
}
