/* The implicit first kick of splitting.c: forces that depend on velocities.
 *
 * Forces that depend on velocities make the first kick implicit: Newton's method for P+ and U
 * together, in velocities V = M^-1 P+ in body axes,
 *
 *     [ M + h/2 (C - G)   B0^T ] [ dV ]      [ P+ - P - h/2 f + B0^T U ]
 *     [ B1 D M            0    ] [ dU ]  = - [ residual                ]
 *
 * with C = dg/dv, of which G = d(w x J w)/dw belongs to the drift.  Compliant rows with the
 * residual r, W1 D M dV - g dU = -r, are eliminated: they add W0^T W1 D M / g to M, and -W0^T r / g
 * to the right-hand side.
 *
 * Where forces depend on reactions lambda(q0, V) of the equations of motion at the node, with
 * F = dg/dlambda, these change by way of the accelerations a,
 *
 *     M da + C dV + (B^T + F) dlambda = 0,       B da + Z dV = 0,       Z = d(a of B a + Z v)/dV,
 *
 * and h/2 F dlambda joins the first row.  All four are solved together: the matrix above, S, and
 * that of the equations of motion, K = [ M  B^T + F; B  0 ], in
 *
 *     [ S   h/2 F ] [ dV, dU      ]
 *     [ C   K     ] [ da, dlambda ]
 *       Z
 *
 * so that friction which depends on itself by way of the reactions converges like other forces.  Z
 * is taken as twice the derivative of B v by positions; the rest of it turns with the bodies. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "integrators/splitting_parts.h"
#include "lie/small.h"

/* The blocks B1 D M and B0^T of all sides in the pattern of the dae, with columns in body axes;
 * those of compliant rows apart. */
static void set_rows(splitting *s, double h, const instant *at, const instant *next)
{
  const pol_pattern *B = s->patterns.constraint;
  const size_t size = (size_t)pol_pattern_nonzeros(B) * sizeof *s->lower;
  memset(s->lower, 0, size);
  memset(s->upper, 0, size);
  for (int b = 0; b < s->bodies->count; b++) {
    const poli_rigid_body *body = &s->bodies->items[b];
    const int first = body->is_point ? 3 : 0;
    double X[9], DM[9];
    poli_m3_multiply(s->D + 9 * b, at->R + 9 * b, X);
    poli_m3_multiply(X, body->inertia, DM);
    for (int e = s->space->first_side[b]; e < s->space->first_side[b + 1]; e++)
      for (int r = 0; r < s->space->sides[e].others; r++) { /* joined rows there are none */
        const int from = s->space->sides[e].block + AXES * r;
        double lower[AXES], upper[AXES];
        poli_m3_apply_transposed(DM, next->B + from, lower);
        poli_m3_apply_transposed(at->R + 9 * b, at->B + from, upper);
        poli_v3_scale(h, next->B + from + 3, lower + 3);
        poli_v3_copy(at->B + from + 3, upper + 3);
        if (s->space->sides[e].row >= s->held) {
          const int own = s->space->sides[e].row - s->held + r;
          const int second = s->bodies->nodes[s->space->sides[e].node].body[0] != b;
          memcpy(s->compliant.lower[own] + AXES * second, lower, sizeof lower);
          memcpy(s->compliant.upper[own] + AXES * second, upper, sizeof upper);
          continue;
        }
        for (int i = first; i < AXES; i++) {
          const int to = pol_pattern_address(B, s->space->sides[e].row + r, body->v + i - first);
          if (to < 0) continue;
          s->lower[to] += lower[i];
          s->upper[to] += upper[i];
        }
      }
  }
}

/* The velocities of a compliant row: where those of its two bodies start in v, less what a point
 * lacks, and their number in lower and upper. */
typedef struct span {
  int v[2], first[2];
} span;

static span span_of(const splitting *s, int compliant)
{
  const poli_row_node *node = &s->bodies->nodes[s->compliant.rows[compliant].node];
  span own = {{0, 0}, {AXES, AXES}};
  for (int i = 0; i < node->num_sides; i++) {
    const poli_rigid_body *body = &s->bodies->items[node->body[i]];
    own.first[i] = body->is_point ? 3 : 0;
    own.v[i] = body->v - own.first[i];
  }
  return own;
}

/* mass += W0^T W1 D M / g */
static void add_compliant(splitting *s, const pol_pattern *W)
{
  for (int c = 0; c < s->compliant.count; c++) {
    const span own = span_of(s, c);
    for (int i = 0; i < 2 * AXES; i++)
      for (int j = 0; j < 2 * AXES; j++) {
        if (i % AXES < own.first[i / AXES] || j % AXES < own.first[j / AXES]) continue;
        s->mass[pol_pattern_address(W, own.v[i / AXES] + i % AXES, own.v[j / AXES] + j % AXES)] +=
            s->compliant.upper[c][i] * s->compliant.lower[c][j] / s->compliant.g[c];
      }
  }
}

/* dV and dU of compliant rows: before the solution rhs -= W0^T r / g, after it U += (r + W1 D M dV)
 * / g. */
static void eliminate_compliant(splitting *s, int after)
{
  for (int c = 0; c < s->compliant.count; c++) {
    const span own = span_of(s, c);
    double r = s->residual[s->held + c];
    for (int i = 0; i < 2 * AXES; i++) {
      if (i % AXES < own.first[i / AXES]) continue;
      double *at = s->rhs + own.v[i / AXES] + i % AXES;
      if (after)
        r += s->compliant.lower[c][i] * *at;
      else
        *at -= s->compliant.upper[c][i] * r / s->compliant.g[c];
    }
    if (after) s->U[s->held + c] += r / s->compliant.g[c];
  }
}

/* --- reactions -------------------------------------------------------------------------------- */

pol_status poli_splitting_create_reactive(splitting *s, pol_solver_kind solver)
{
  const pol_pattern *S = s->saddle->pattern, *F = s->dae->feedback;
  const pol_pattern *W = s->patterns.coupling, *B = s->patterns.constraint;
  const int nv = s->nv, n = s->saddle->n;
  const int count = 2 * pol_pattern_nonzeros(S) + pol_pattern_nonzeros(W) +
                    pol_pattern_nonzeros(B) + pol_pattern_nonzeros(F);
  pol_pattern *p = s->reactive.pattern = calloc(1, sizeof *p);
  if (!p) return POL_NO_MEMORY;
  p->rows = p->cols = 2 * n;
  p->start = calloc(2 * (size_t)n + 1, sizeof *p->start);
  p->row = calloc((size_t)count + 1, sizeof *p->row);
  s->reactive.values = calloc((size_t)count + 1, sizeof *s->reactive.values);
  if (!p->start || !p->row || !s->reactive.values) return POL_NO_MEMORY;
  int *row = p->row;
  for (int j = 0; j < 2 * n; j++) {
    const int own = j % n, below = j < n ? 0 : n;
    if (j >= n + nv)
      for (int k = F->start[own - nv]; k < F->start[own - nv + 1]; k++) *row++ = F->row[k];
    for (int k = S->start[own]; k < S->start[own + 1]; k++) *row++ = below + S->row[k];
    if (j < nv) {
      for (int k = W->start[j]; k < W->start[j + 1]; k++) *row++ = n + W->row[k];
      for (int k = B->start[j]; k < B->start[j + 1]; k++) *row++ = n + nv + B->row[k];
    }
    p->start[j + 1] = (int)(row - p->row);
  }
  return pol_solver_create(&s->reactive.solver, p, solver);
}

void poli_splitting_free_reactive(splitting *s)
{
  pol_solver_free(&s->reactive.solver);
  pol_pattern_free(&s->reactive.pattern);
  free(s->reactive.values);
}

int poli_splitting_strongest_feedback(const splitting *s)
{
  const pol_pattern *F = s->dae->feedback;
  double most = 0.0;
  int strongest = -1;
  for (int i = 0; i < F->cols; i++)
    for (int k = F->start[i]; k < F->start[i + 1]; k++) {
      const double size = fabs(s->feedback[k] * s->lambda[i]);
      if (!(size > most)) continue;
      most = size;
      strongest = i;
    }
  return strongest;
}

/* All blocks but S, with v = V in body axes. */
static pol_status set_reactions(splitting *s, double t, double h, const instant *at)
{
  const pol_pattern *S = s->saddle->pattern, *F = s->dae->feedback;
  const pol_pattern *W = s->patterns.coupling, *B = s->patterns.constraint;
  const int nv = s->nv, n = s->saddle->n, *start = s->reactive.pattern->start;
  double *values = s->reactive.values;
  pol_terms out = {.mass = s->mass,
                   .damping = s->damping,
                   .jacobian = s->jacobian,
                   .curvature = s->curvature,
                   .feedback = s->feedback};
  const pol_status status = poli_splitting_evaluate(
      s, t, at->q, s->v, POL_MASS | POL_DAMPING | POL_JACOBIAN | POL_CURVATURE | POL_FEEDBACK,
      &out);
  if (status) return status;
  poli_saddle_set_kkt(s->saddle, s->mass, s->jacobian);
  poli_saddle_add_feedback(s->saddle, s->feedback);
  poli_saddle_drop(s->saddle, s->dropped);
  for (int j = 0; j < nv; j++) {
    double *to = values + start[j] + (S->start[j + 1] - S->start[j]);
    for (int k = W->start[j]; k < W->start[j + 1]; k++) *to++ = s->damping[k];
    for (int k = B->start[j]; k < B->start[j + 1]; k++)
      *to++ = s->dropped[B->row[k]] ? 0.0 : 2.0 * s->curvature[k];
  }
  for (int j = 0; j < n; j++) {
    double *to = values + start[n + j];
    if (j >= nv)
      for (int k = F->start[j - nv]; k < F->start[j - nv + 1]; k++)
        *to++ = 0.5 * h * s->feedback[k];
    for (int k = S->start[j]; k < S->start[j + 1]; k++) *to++ = s->saddle->values[k];
  }
  return POL_OK;
}

void poli_splitting_add_gyroscopic(const splitting *s, const pol_pattern *W, const double *v,
                                   double scale, double *values)
{
  for (int b = 0; b < s->bodies->count; b++) {
    const poli_rigid_body *body = &s->bodies->items[b];
    double J_w[3], gyro[9], skew[9];
    if (body->is_point) continue;
    poli_m3_apply(body->inertia, v + body->v, J_w);
    poli_m3_skew(v + body->v, skew);
    poli_m3_multiply(skew, body->inertia, gyro);
    poli_m3_add_skew(-1.0, J_w, gyro);
    for (int i = 0; i < 9; i++)
      values[pol_pattern_address(W, body->v + i / 3, body->v + i % 3)] += scale * gyro[i];
  }
}

/* --- the iteration ---------------------------------------------------------------------------- */

pol_status poli_splitting_factor_implicit(splitting *s, double t0, double h, const instant *at,
                                          const instant *next)
{
  const pol_pattern *W = s->patterns.coupling, *B = s->patterns.constraint;
  pol_terms out = {.mass = s->mass, .damping = s->damping};
  poli_splitting_velocities(s, at->R, s->plus, s->v);
  poli_splitting_turn(s, at->R, 0, s->v, s->v);
  pol_status status = s->assembler ? set_reactions(s, t0, h, at) : POL_OK;
  if (!status)
    status = poli_splitting_evaluate(s, t0, at->q, s->v,
                                     POL_MASS | POL_DAMPING | POLI_WITHOUT_COMPLIANT, &out);
  if (status) return status;
  for (int k = 0; k < pol_pattern_nonzeros(W); k++) s->mass[k] += 0.5 * h * s->damping[k];
  poli_splitting_add_gyroscopic(s, W, s->v, -0.5 * h, s->mass);
  set_rows(s, h, at, next);
  add_compliant(s, W);
  double *to = s->saddle->values;
  for (int j = 0; j < s->nv; j++) {
    for (int k = W->start[j]; k < W->start[j + 1]; k++) *to++ = s->mass[k];
    for (int k = B->start[j]; k < B->start[j + 1]; k++) *to++ = s->lower[k];
  }
  poli_saddle_set_transposed(s->saddle, s->upper);
  poli_saddle_drop(s->saddle, s->dropped);
  s->counts->jacobians++;
  s->counts->factorizations++;
  if (!s->assembler) return pol_solver_refactor(s->saddle->solver, s->saddle->values);
  const int *start = s->saddle->pattern->start;
  for (int j = 0; j < s->saddle->n; j++)
    memcpy(s->reactive.values + s->reactive.pattern->start[j], s->saddle->values + start[j],
           (size_t)(start[j + 1] - start[j]) * sizeof *to);
  return pol_solver_refactor(s->reactive.solver, s->reactive.values);
}

pol_status poli_splitting_find_lack(splitting *s, double t0, double h, instant *at, double *open)
{
  /* at rest all momenta are round-off; these move bodies by 1e-8 of the length of the model */
  double size = 0.0, largest = 0.0;
  for (int b = 0; b < s->bodies->count; b++) size = fmax(size, s->bodies->items[b].mass);
  size *= 1e-8 * poli_dae_length(s->dae) / fabs(h);
  const pol_status status = poli_splitting_find_forces(s, t0, at->q, at->R, s->plus, at->force);
  if (status) return status;
  for (int b = 0; b < s->bodies->count; b++) kick(s, b, h, at, s->rhs + s->bodies->items[b].v);
  for (int i = 0; i < s->nv; i++) {
    s->rhs[i] -= s->plus[i];
    if (fabs(s->rhs[i]) > largest) s->search.worst = i;
    largest = fmax(largest, fabs(s->rhs[i]));
    size = fmax(size, fmax(fabs(s->plus[i]), fabs(0.5 * h * at->force[i])));
  }
  poli_splitting_turn(s, at->R, 0, s->rhs, s->rhs);
  s->search.lack = largest;
  *open = size > 0.0 ? largest / size : 0.0;
  return POL_OK;
}

void poli_splitting_solve_implicit(splitting *s, const instant *at)
{
  const int n = s->nv + s->held;
  memcpy(s->before, s->plus, (size_t)s->nv * sizeof *s->before);
  memcpy(s->before + s->nv, s->U, (size_t)s->m * sizeof *s->before);
  for (int i = 0; i < s->held; i++) s->rhs[s->nv + i] = s->dropped[i] ? 0.0 : -s->residual[i];
  eliminate_compliant(s, 0);
  for (int i = 0; i < n && s->assembler; i++) s->rhs[n + i] = 0.0;
  pol_solver_solve(s->assembler ? s->reactive.solver : s->saddle->solver, s->rhs);
  eliminate_compliant(s, 1);
  poli_splitting_momenta(s, at->R, s->rhs, s->v);
  for (int i = 0; i < s->nv; i++) s->plus[i] += s->v[i];
  for (int i = 0; i < s->held; i++) s->U[i] += s->rhs[s->nv + i];
}

void poli_splitting_begin_implicit(splitting *s)
{
  memcpy(s->before, s->carried, (size_t)s->nv * sizeof *s->before);
  memcpy(s->before + s->nv, s->U, (size_t)s->m * sizeof *s->before);
  s->search.halved = 0;
}

int poli_splitting_halve(splitting *s)
{
  enum { MAX_HALVED = 16 };
  if (s->search.halved == MAX_HALVED) return 0;
  s->search.halved++;
  for (int i = 0; i < s->nv; i++) s->plus[i] = 0.5 * (s->plus[i] + s->before[i]);
  for (int i = 0; i < s->m; i++) s->U[i] = 0.5 * (s->U[i] + s->before[s->nv + i]);
  return 1;
}

int poli_splitting_search(splitting *s, int iteration, double open, double missed)
{
  const double enough = 0.2, fast = 0.1, round_off = 1e-9;
  line_search *own = &s->search;
  if (iteration == 0)
    *own = (line_search){
        .lack = own->lack, .scale = open > 0.0 ? own->lack / open : 1.0, .last = HUGE_VAL};
  const double size = own->lack / own->scale + missed;
  const int resolved = fmax(open, missed) <= round_off;
  /* a law with steep parts, such as friction near rest, turns a full step into a cycle */
  if (!resolved && size > (1.0 - ldexp(enough, -own->halved)) * own->last &&
      poli_splitting_halve(s))
    return -1;
  const int slow = !resolved && size > fast * own->last;
  own->last = size;
  own->halved = 0;
  return slow;
}
