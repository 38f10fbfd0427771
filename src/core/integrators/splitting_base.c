/* The base step of splitting.c: momenta and forces, kick and drift, Newton's method for the
 * impulses. */
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/monitor.h"
#include "base/parallel.h"
#include "dae/extension.h"
#include "integrators/splitting_parts.h"
#include "lie/small.h"

/* --- momenta, velocities, forces -------------------------------------------------------------- */

void poli_splitting_velocities(const splitting *s, const double *R, const double *P, double *v)
{
  for (int b = 0; b < s->bodies->count; b++) {
    const poli_rigid_body *body = &s->bodies->items[b];
    const int first = body->v + (body->is_point ? 0 : 3);
    for (int i = first; i < first + body->num_axes; i++) v[i] = P[i] * body->inverse_mass;
    if (body->is_point) continue;
    double local[3], w[3];
    poli_m3_apply_transposed(R + 9 * b, P + body->v, local);
    poli_m3_apply(body->inverse, local, w);
    poli_m3_apply(R + 9 * b, w, v + body->v);
  }
}

void poli_splitting_turn(const splitting *s, const double *R, int back, const double *from,
                         double *to)
{
  for (int b = 0; b < s->bodies->count; b++) {
    const poli_rigid_body *body = &s->bodies->items[b];
    const int first = body->v + (body->is_point ? 0 : 3);
    for (int i = first; i < first + body->num_axes; i++) to[i] = from[i];
    if (body->is_point) continue;
    const double x[3] = {from[body->v], from[body->v + 1], from[body->v + 2]};
    if (back)
      poli_m3_apply(R + 9 * b, x, to + body->v);
    else
      poli_m3_apply_transposed(R + 9 * b, x, to + body->v);
  }
}

void poli_splitting_momenta(const splitting *s, const double *R, const double *v, double *P)
{
  for (int b = 0; b < s->bodies->count; b++) {
    const poli_rigid_body *body = &s->bodies->items[b];
    const int first = body->v + (body->is_point ? 0 : 3);
    for (int i = first; i < first + body->num_axes; i++) P[i] = v[i] * body->mass;
    if (body->is_point) continue;
    double local[3];
    poli_m3_apply(body->inertia, v + body->v, local);
    poli_m3_apply(R + 9 * b, local, P + body->v);
  }
}

void poli_splitting_rotations(const splitting *s, const double *q, double *R)
{
  for (int b = 0; b < s->bodies->count; b++) {
    const poli_rigid_body *body = &s->bodies->items[b];
    if (body->is_point)
      poli_m3_diagonal(1.0, R + 9 * b);
    else
      poli_quat_to_matrix(q + body->q, R + 9 * b);
  }
}

pol_status poli_splitting_evaluate(splitting *s, double t, const double *q, const double *v,
                                   unsigned want, const pol_terms *out)
{
  pol_point at = {.t = t,
                  .q = q,
                  .v = v,
                  .vd = s->plus,
                  .lambda = s->assembler ? s->lambda : s->U,
                  .history = s->history};
  s->counts->residuals++;
  return poli_dae_evaluate(s->dae, &at, want, out, s->scratch);
}

pol_status poli_splitting_find_forces(splitting *s, double t, const double *q, const double *R,
                                      const double *P, double *force)
{
  if (s->bodies->has_weight_only) return POL_OK; /* set by start */
  pol_terms out = {.balance = force};
  poli_splitting_velocities(s, R, P, s->v);
  poli_splitting_turn(s, R, 0, s->v, s->v);
  pol_status status = POL_OK;
  s->reason.message[0] = '\0';
  if (s->assembler)
    status = pol_assembler_acceleration(s->assembler, t, q, s->v, s->vd, s->lambda, &s->reason);
  if (!status)
    status = poli_splitting_evaluate(s, t, q, s->v, POL_FORCE | POLI_WITHOUT_COMPLIANT, &out);
  if (status) return status;
  for (int i = 0; i < s->nv; i++) force[i] = -force[i];
  poli_splitting_turn(s, R, 1, force, force);
  poli_splitting_velocities(s, R, P, s->v);
  for (int b = 0; b < s->bodies->count; b++) {
    const int v = s->bodies->items[b].v;
    if (!s->bodies->items[b].is_point) poli_v3_add_scaled_cross(1.0, s->v + v, P + v, force + v);
  }
  return POL_OK;
}

/* --- motion ----------------------------------------------------------------------------------- */

/* The instant that the next base step writes. */
static instant *next_instant(splitting *s)
{
  int next = (s->at + 1) % NUM_INSTANTS;
  if (next == s->kept) next = (next + 1) % NUM_INSTANTS;
  return &s->instants[next];
}

/* A motion of all bodies. */
typedef struct motion {
  splitting *s;
  double h;
  const instant *at;
  instant *next;
  double *D;
  _Atomic double largest;
} motion;

static void move_bodies(int first, int end, void *user)
{
  motion *m = user;
  splitting *s = m->s;
  const double h = m->h;
  const instant *at = m->at;
  instant *next = m->next;
  double *D = m->D, largest = 0.0;
  for (int b = first; b < end; b++) {
    const poli_rigid_body *body = &s->bodies->items[b];
    double *P = s->plus + body->v;
    const double L[3] = {P[0], P[1], P[2]};
    kick(s, b, h, at, P);
    const int is_held = s->space->first_side[b] < s->space->first_side[b + 1];
    drift(s, b, h, at, next, D && is_held ? D + 9 * b : NULL);
    if (D || body->is_point) continue;
    double dL[3], local[3], change[3];
    poli_v3_subtract(P, L, dL);
    const double size = fabs(dL[0]) + fabs(dL[1]) + fabs(dL[2]);
    if (fabs(h) * size * body->free.inverse_smallest < 0.5) continue;
    poli_m3_apply_transposed(at->R + 9 * b, dL, local);
    poli_m3_apply(body->inverse, local, change);
    largest = fmax(largest, fabs(h) * sqrt(poli_v3_dot(change, change)));
  }
  double found = m->largest;
  while (largest > found && !atomic_compare_exchange_weak(&m->largest, &found, largest)) continue;
}

/* Kicks and drifts all bodies with the impulses U; D is the derivative of their turns, or NULL.
 * Returns by how much the largest turn differs from that with the momenta before. */
static double move(splitting *s, double h, const instant *at, instant *next, double *D)
{
  motion m = {.s = s, .h = h, .at = at, .next = next, .D = D};
  poli_parallel_ranges(s->space->threads, s->bodies->count, move_bodies, &m);
  return m.largest;
}

/* --- impulses --------------------------------------------------------------------------------- */

/* `scale` times the multipliers at time t, by extrapolation of those of the last nodes. */
static void extrapolate(const splitting *s, double t, double scale, double *lambda)
{
  const int n = s->num_known < s->degree + 1 ? s->num_known : s->degree + 1;
  double weight[MAX_KNOWN] = {0.0};
  for (int k = 0; k < n; k++) {
    weight[k] = scale / s->known_weight[k];
    for (int l = 0; l < n; l++)
      if (l != k) weight[k] *= (t - s->known_t[l]) / (s->known_t[k] - s->known_t[l]);
  }
  const double *a = s->known[0], *b = s->known[n > 1], *c = s->known[n > 2 ? 2 : 0];
  for (int i = 0; i < s->m; i++) lambda[i] = weight[0] * a[i] + weight[1] * b[i] + weight[2] * c[i];
}

/* Adds the impulses of a node to those that are known; U is then anything. */
static void note_impulses(splitting *s, double t, double weight)
{
  double *oldest = s->known[MAX_KNOWN - 1];
  for (int k = 0; k < s->num_known; k++)
    if (s->known_t[k] == t) return;
  for (int k = MAX_KNOWN - 1; k > 0; k--) {
    s->known[k] = s->known[k - 1];
    s->known_t[k] = s->known_t[k - 1];
    s->known_weight[k] = s->known_weight[k - 1];
  }
  s->known[0] = s->U;
  s->U = oldest;
  s->known_t[0] = t;
  s->known_weight[0] = weight;
  if (s->num_known < MAX_KNOWN) s->num_known++;
}

/* --- residual, failure ------------------------------------------------------------------------ */

/* Four at a time: none waits for the one before. */
double poli_splitting_largest(int n, const double *x)
{
  double largest[4] = {0.0}, sum[4] = {0.0};
  for (int i = 0; i + 4 <= n; i += 4)
    for (int k = 0; k < 4; k++) {
      const double size = fabs(x[i + k]);
      largest[k] = size > largest[k] ? size : largest[k];
      sum[k] += size;
    }
  for (int i = n - n % 4; i < n; i++) {
    largest[0] = fabs(x[i]) > largest[0] ? fabs(x[i]) : largest[0];
    sum[0] += fabs(x[i]);
  }
  for (int k = 1; k < 4; k++) {
    largest[0] = largest[k] > largest[0] ? largest[k] : largest[0];
    sum[0] += sum[k];
  }
  return isfinite(sum[0]) ? largest[0] : sum[0];
}

void poli_splitting_set_units(splitting *s, const double *B)
{
  const double length = poli_dae_length(s->dae);
  s->has_angular = 0;
  for (int i = 0; i < s->held; i++) s->unit[i] = length;
  for (int e = 0; e < s->space->first_side[s->bodies->count]; e++) {
    const poli_row_side *own = &s->space->sides[e];
    const double *rows = B + own->block + own->joined;
    for (int i = 0; i < own->joined && own->row < s->held; i++) s->unit[own->row + i] = 1.0;
    for (int i = 0; i < own->others && own->row < s->held; i++, rows += AXES)
      if (rows[3] != 0.0 || rows[4] != 0.0 || rows[5] != 0.0)
        s->unit[own->row + own->joined + i] = 1.0;
  }
  for (int i = 0; i < s->held; i++) s->has_angular |= s->unit[i] != 1.0;
}

/* The largest residual of constraints, as a length. */
static double largest_residual(const splitting *s)
{
  double largest = 0.0, sum = 0.0;
  if (!s->has_angular) return poli_splitting_largest(s->held, s->residual);
  for (int i = 0; i < s->held; i++) {
    const double size = fabs(s->residual[i]) * s->unit[i];
    largest = size > largest ? size : largest;
    sum += size;
  }
  return isfinite(sum) ? largest : sum;
}

/* The row of the largest residual, or of one that is not finite. */
static int worst_of(const splitting *s, double largest)
{
  for (int i = 0; i < s->m && !isfinite(largest); i++)
    if (!isfinite(s->residual[i])) return i;
  for (int i = 0; i < s->held; i++)
    if (fabs(s->residual[i]) * s->unit[i] == largest) return i;
  for (int i = 0; i < s->compliant.count; i++)
    if (poli_compliant_size(&s->compliant, i, s->residual + s->held) == largest) return s->held + i;
  return -1;
}

/* Residuals of all rows at the end of a base step, and B there; their largest. */
static pol_status find_residual(splitting *s, double t1, double h, const instant *at,
                                const instant *next, double *largest)
{
  const int holonomic = s->dae->num_holonomic, held = s->held;
  if (poli_monitor_poll(-1.0)) return POL_CANCELLED;
  s->counts->residuals++;
  pol_status status =
      s->bodies->constraints(s->bodies->nodes, s->bodies->num_nodes, s->space->threads, t1, next->q,
                             next->R, s->history, s->residual, next->B, s->dae->user);
  if (status) return status;
  if (held > holonomic) {
    poli_splitting_velocities(s, at->R, s->plus, s->v);
    poli_splitting_apply_rows(s, at->B, s->v, s->dU);
    poli_splitting_velocities(s, next->R, s->plus, s->v);
    poli_splitting_apply_rows(s, next->B, s->v, s->slip);
    for (int i = holonomic; i < held; i++) s->residual[i] = 0.5 * h * (s->dU[i] + s->slip[i]);
  }
  double others = 0.0;
  if (s->compliant.count > 0) {
    memcpy(next->elongation, s->residual + held, (size_t)s->compliant.count * sizeof *s->residual);
    others =
        poli_compliant_residual(&s->compliant, at->elongation, s->U + held, s->residual + held);
  }
  *largest = largest_residual(s);
  if (!(others <= *largest)) *largest = others;
  return isfinite(*largest) ? POL_OK : POL_NOT_FINITE;
}

static pol_status fail(splitting *s, pol_diagnostics *d, pol_status status, int row, int iteration,
                       double residual, const char *message)
{
  d->iteration = iteration;
  d->residual = residual;
  if (row >= s->held) {
    snprintf(d->where, sizeof d->where, "force '%s'", s->compliant.rows[row - s->held].force);
  } else if (row != -1) {
    d->equation = s->nv + row;
    poli_dae_describe(s->dae, d->equation, d->where, sizeof d->where);
  }
  double turn = 0.0; /* of the fastest body in the whole step */
  for (int i = 0; i < 3 * s->bodies->count; i += 3) {
    const double *w = s->instants[s->at].w + i;
    turn = fmax(turn, fabs(d->h) * sqrt(poli_v3_dot(w, w)));
  }
  snprintf(d->message, sizeof d->message, "%s", message);
  snprintf(d->advice, sizeof d->advice, "take a smaller step%s",
           s->num_stages > 1 ? ", or a lower order" : "");
  if (turn > 0.5)
    snprintf(d->advice, sizeof d->advice,
             "take a smaller step: in this one a body turns by %.2g rad", turn);
  poli_splitting_advise(s, d);
  return status;
}

pol_status poli_splitting_fail_force(splitting *s, pol_diagnostics *d, pol_status status,
                                     int iteration)
{
  if (s->assembler && s->reason.message[0]) {
    memcpy(d->where, s->reason.where, sizeof d->where);
    memcpy(d->advice, s->reason.advice, sizeof d->advice);
    memcpy(d->message, s->reason.message, sizeof d->message);
    d->equation = s->reason.equation;
    d->iteration = iteration;
    return status;
  }
  poli_dae_blame(s->dae, s->scratch, d); /* first: the search for advice evaluates forces too */
  return fail(s, d, status, -1, iteration, 0.0, "a force could not be evaluated");
}

/* --- the step --------------------------------------------------------------------------------- */

/* The second kick of a base step whose impulses are known; the solution is then at its end. */
static pol_status complete(splitting *s, double t0, double t1, int iteration, instant *next,
                           pol_diagnostics *d)
{
  const instant *at = &s->instants[s->at];
  const double h = t1 - t0, weight = 0.5 * (s->last_h + h);
  /* with constraints several solutions exist: a body must not turn much faster than before */
  for (int b = 0; b < s->bodies->count; b++) {
    const poli_rigid_body *body = &s->bodies->items[b];
    double *w = next->w + 3 * b, local[3], own[3], change = 0.0;
    if (body->is_point) continue;
    poli_m3_apply_transposed(at->R + 9 * b, s->plus + body->v, local);
    poli_m3_apply(body->inverse, local, own);
    poli_m3_apply(at->R + 9 * b, own, w);
    for (int i = 0; i < 3; i++) {
      const double own_change = fabs(w[i] - at->w[3 * b + i]);
      change = own_change > change ? own_change : change;
    }
    if (fabs(h) * change > 1.0 && s->space->first_side[b] < s->space->first_side[b + 1]) {
      fail(s, d, POL_NOT_CONVERGED, body->v - s->nv, iteration, 0.0,
           "a body would turn by more than 1 rad further or less far than before");
      char *axis = strstr(d->where, "', torque");
      if (axis) axis[1] = '\0';
      return POL_NOT_CONVERGED;
    }
  }
  poli_compliant_end(&s->compliant, 0.5 * (t0 + t1), h, s->U + s->held);
  if (fabs(weight) >= 0.2 * fmax(fabs(h), fabs(s->last_h))) note_impulses(s, t0, weight);
  const pol_status status =
      poli_splitting_find_forces(s, t1, next->q, next->R, s->plus, next->force);
  if (status) return poli_splitting_fail_force(s, d, status, iteration);
  if (s->saddle) memcpy(s->carried, s->plus, (size_t)s->nv * sizeof *s->carried);
  for (int i = 0; i < s->nv; i++) next->P[i] = s->plus[i] + 0.5 * h * next->force[i];
  for (int c = 0; c < s->compliant.count; c++) {
    const poli_row_node *node = &s->bodies->nodes[s->compliant.rows[c].node];
    const double impulse = 0.5 * h * s->compliant.tension[0][c];
    const double *row = next->B + node->block + AXES * (s->held + c - node->row);
    for (int i = 0; i < node->num_sides; i++) {
      const poli_rigid_body *body = &s->bodies->items[node->body[i]];
      const int first = body->is_point ? 3 : 0;
      for (int k = first; k < AXES; k++)
        next->P[body->v + k - first] -= impulse * row[AXES * node->num_rows * i + k];
    }
  }
  s->at = (int)(next - s->instants);
  s->last_h = h;
  return POL_OK;
}

pol_status poli_splitting_substep(splitting *s, double t0, double t1, pol_diagnostics *d)
{
  enum { MAX_ITERATIONS = 30, RENEW = 4 };
  const double h = t1 - t0, length = poli_dae_length(s->dae);
  const int implicit = s->saddle != NULL, bodies = s->bodies->count;
  instant *at = &s->instants[s->at], *next = next_instant(s);
  double largest = 0.0, best = HUGE_VAL, open = 0.0;
  int since_factor = 0, iteration = 0, changed = 0;
  pol_status status = POL_OK;
  extrapolate(s, t0, 0.5 * (s->last_h + h), s->U);
  for (int i = 0; i < s->held; i++)
    if (s->known[0][i] == 0.0) s->U[i] = 0.0; /* redundant */
  poli_compliant_begin(&s->compliant, 0.5 * (t0 + t1), h, s->U + s->held);
  for (int b = 0; b < bodies && implicit; b++) kick(s, b, h, at, s->plus + s->bodies->items[b].v);
  if (implicit) poli_splitting_begin_implicit(s);
  for (;;) {
    int renew = iteration == 0 || since_factor == RENEW; /* the matrix, if another is needed */
    if (implicit) {
      status = poli_splitting_find_lack(s, t0, h, at, &open);
      if (status > 0 && poli_splitting_halve(s)) continue;
      if (status) return poli_splitting_fail_force(s, d, status, iteration);
      for (int b = 0; b < bodies; b++) drift(s, b, h, at, next, renew ? s->D + 9 * b : NULL);
    } else {
      const double change = move(s, h, at, next, renew ? s->D : NULL);
      if (change > 0.5) { /* no body may turn by more than half a radian */
        for (int i = 0; i < s->m; i++) s->U[i] -= (1.0 - 0.5 / change) * s->dU[i];
        move(s, h, at, next, NULL);
      }
    }
    status = find_residual(s, t1, h, at, next, &largest);
    if (status) {
      int row = status == POL_NOT_FINITE ? worst_of(s, largest) : -1;
      for (int i = s->m - 1; i >= s->held && status > 0; i--) /* the element that failed */
        if (isnan(s->residual[i])) row = i;
      return fail(s, d, status, row, iteration, largest, pol_status_text(status));
    }
    const double lacks = largest / length, error = open > lacks ? open : lacks;
    if (error <= 1e-14 || (iteration > 2 && error >= best && error <= 1e-9)) break;
    if (implicit) {
      const int slow = poli_splitting_search(s, iteration, open, lacks);
      if (slow < 0) continue;
      for (int b = 0; b < bodies && slow && !renew; b++) drift(s, b, h, at, next, s->D + 9 * b);
      renew |= slow;
    }
    if (iteration == MAX_ITERATIONS || (!implicit && iteration > 6 && error > 10.0 * best)) {
      const int kick_fails = open > lacks, feedback = kick_fails && s->assembler;
      const int row = feedback     ? poli_splitting_strongest_feedback(s)
                      : kick_fails ? -1
                                   : worst_of(s, largest);
      fail(s, d, POL_NOT_CONVERGED, row, iteration, kick_fails ? open : largest,
           feedback     ? "no forces balance the reactions that they depend on"
           : kick_fails ? "the forces that depend on velocities or states could not be determined"
           : row < s->held ? "the impulses of the joints could not be determined"
                           : "the tension of a spring or damper could not be determined");
      if (kick_fails && !feedback) {
        d->equation = s->search.worst;
        poli_dae_describe(s->dae, d->equation, d->where, sizeof d->where);
      }
      if (feedback && !strstr(d->advice, "too stiff"))
        snprintf(d->advice, sizeof d->advice,
                 "look for friction that locks; take a smaller step, less friction, or geom1");
      return POL_NOT_CONVERGED;
    }
    best = error < best ? error : best;
    if (renew) {
      if (implicit)
        status = poli_splitting_factor_implicit(s, t0, h, at, next);
      else
        status = poli_splitting_factor_step(s, h, at, next, &changed) < 0 ? POL_NOT_FINITE : POL_OK;
      if (status)
        return fail(s, d, status, worst_of(s, largest), iteration, largest,
                    "the matrix is singular or not finite");
      since_factor = 0;
    }
    since_factor++;
    iteration++;
    s->counts->newton_iterations++;
    if (changed) { /* impulses that others take over */
      changed = 0;
      best = HUGE_VAL;
      continue;
    }
    if (implicit) {
      poli_splitting_solve_implicit(s, at);
      continue;
    }
    memcpy(s->dU, s->residual, (size_t)s->m * sizeof *s->dU);
    poli_block_lu_solve(s->lu, s->dU);
    for (int i = 0; i < s->m; i++) s->U[i] += s->dU[i];
  }
  return complete(s, t0, t1, iteration, next, d);
}
