/* Steps of variable size of the splitting methods, and the solution within a step.
 *
 * The local error of a step of size h with order p is that of two composed steps of size h/2, which
 * are kept, estimated by comparison with a single one from the same state:
 *
 *     delta = log(q_two^-1 q_one)/(2^p - 1)       see error() for steps with a switch
 *
 * or, where that is larger, the error of the interpolation within the step.
 *
 * Within a step q is the polynomial of degree 8 through q, q' and q'' at both ends and in the
 * middle, which two steps of half the size have reached; v is its derivative.  With fixed steps the
 * middle is calculated when it is asked for, for order 6 and 8; order 2 and 4 do without it, with
 * degree 5.  In the place of a rotation q(t), with x the time from its reference node,
 *
 *     d(t) = exp(-x v_r) o q_r^-1 o q(t),     d' = (d v - v_r d)/2
 *     d'' = (d' v + d v' - v_r d')/2
 *
 * is interpolated, as four numbers: 1 for a uniform rotation.  Accelerations and multipliers follow
 * from q and v on the acceleration level, as at the ends.
 */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "dae/extension.h"
#include "integrators/splitting.h"
#include "lie/small.h"

enum { MAX_NODES = 3 };

pol_status poli_splitting_steps_create(pol_integrator *integrator)
{
  poli_splitting_state *s = integrator->data;
  poli_splitting_steps *steps = poli_splitting_get_steps(s);
  const pol_group *group = &integrator->dae->group;
  const int shown = group->nq + 2 * group->nv + pol_dae_num_constraints(integrator->dae);
  poli_arena arena = {0};
  do {
    POLI_TAKE(&arena, steps->start, poli_splitting_size(s));
    POLI_TAKE(&arena, steps->now, poli_splitting_size(s));
    POLI_TAKE(&arena, steps->whole, shown);
    POLI_TAKE(&arena, steps->middle, shown);
    POLI_TAKE(&arena, steps->within, shown);
    POLI_TAKE(&arena, steps->defects, 3 * group->nv);
    POLI_TAKE(&arena, steps->at, group->nq + group->nv);
  } while (poli_arena_again(&arena));
  steps->memory = arena.memory;
  steps->memory_size = arena.used;
  poli_step_control_set_order(integrator->control, pol_options_order(&integrator->options) + 1.0);
  return steps->memory ? POL_OK : POL_NO_MEMORY;
}

/* --- within a step ---------------------------------------------------------------------------- */

/* The solution at the nodes of the interpolation, at times x in units of the step. */
typedef struct nodes {
  int count;
  double h, x[MAX_NODES];
  const double *q[MAX_NODES], *v[MAX_NODES], *vd[MAX_NODES];
  /* at the time asked for: weights of f, h f', h^2 f'' at each node, for f and for h f' */
  double value[MAX_NODES][3], slope[MAX_NODES][3];
} nodes;

/* With the Lagrange polynomial L of a node and y = x - x_i, all three are L^3 times a polynomial in
 * y: with g1, g2 the derivatives of L^3 at the node
 *
 *     f: 1 - g1 y + (g1^2 - g2/2) y^2,      f': y - g1 y^2,      f'': y^2/2                     */
static void set_weights(nodes *n, double x)
{
  for (int i = 0; i < n->count; i++) {
    double L = 1.0, dL = 0.0, l1 = 0.0, l2 = 0.0;
    for (int j = 0; j < n->count; j++) {
      if (j == i) continue;
      const double distance = n->x[i] - n->x[j];
      dL = dL * (x - n->x[j]) / distance + L / distance;
      L *= (x - n->x[j]) / distance;
      l2 += 2.0 * l1 / distance;
      l1 += 1.0 / distance;
    }
    const double g1 = 3.0 * l1, g2 = 3.0 * l2 + 6.0 * l1 * l1, y = x - n->x[i];
    const double A[3] = {1.0 - g1 * y + (g1 * g1 - 0.5 * g2) * y * y, y - g1 * y * y, 0.5 * y * y};
    const double dA[3] = {-g1 + (2.0 * g1 * g1 - g2) * y, 1.0 - 2.0 * g1 * y, y};
    for (int k = 0; k < 3; k++) {
      n->value[i][k] = L * L * L * A[k];
      n->slope[i][k] = L * L * (3.0 * dL * A[k] + L * dA[k]);
    }
  }
}

/* f and f' at the time asked for. */
static void combine(const nodes *n, double f[MAX_NODES][3], double *value, double *rate)
{
  *value = *rate = 0.0;
  for (int i = 0; i < n->count; i++) {
    const double data[3] = {f[i][0], n->h * f[i][1], n->h * n->h * f[i][2]};
    for (int k = 0; k < 3; k++) {
      *value += n->value[i][k] * data[k];
      *rate += n->slope[i][k] * data[k] / n->h;
    }
  }
}

/* a (0, w), and (0, w) a */
static void multiply_by_rate(const double a[4], const double w[3], double product[4])
{
  const double rate[4] = {0.0, w[0], w[1], w[2]};
  pol_quat_multiply(a, rate, product);
}

static void rate_times(const double w[3], const double a[4], double product[4])
{
  const double rate[4] = {0.0, w[0], w[1], w[2]};
  pol_quat_multiply(rate, a, product);
}

/* The node that rotations are relative to: the middle, or the end. */
static int reference_of(const nodes *n)
{
  return n->count / 2;
}

/* d, d', d'' of a rotation at all nodes. */
static void set_relative(const nodes *n, const pol_factor *factor, double f[4][MAX_NODES][3])
{
  const int reference = reference_of(n);
  const double *base = n->q[reference] + factor->q, *w = n->v[reference] + factor->v;
  double back[4];
  pol_quat_conjugate(base, back);
  for (int i = 0; i < n->count; i++) {
    const double time = n->h * (n->x[i] - n->x[reference]);
    const double *v = n->v[i] + factor->v, *vd = n->vd[i] + factor->v;
    const double spin[3] = {-time * w[0], -time * w[1], -time * w[2]};
    double d[4], first[4], turn[4], left[4], right[4], last[4];
    pol_so3_exp(spin, turn);
    pol_quat_multiply(back, n->q[i] + factor->q, d);
    pol_quat_multiply(turn, d, d);
    const double sign = d[0] < 0.0 ? -1.0 : 1.0;
    multiply_by_rate(d, v, right);
    rate_times(w, d, left);
    for (int k = 0; k < 4; k++) first[k] = 0.5 * (right[k] - left[k]);
    multiply_by_rate(first, v, right);
    multiply_by_rate(d, vd, last);
    rate_times(w, first, left);
    for (int k = 0; k < 4; k++) {
      f[k][i][0] = sign * d[k];
      f[k][i][1] = sign * first[k];
      f[k][i][2] = sign * 0.5 * (right[k] + last[k] - left[k]);
    }
  }
}

/* The quaternion at the time x and its angular velocity, in body axes. */
static void turn_within(const nodes *n, const pol_factor *factor, double x, double *q, double *v)
{
  const int reference = reference_of(n);
  const double *base = n->q[reference] + factor->q, *w = n->v[reference] + factor->v;
  const double time = n->h * (x - n->x[reference]);
  const double spin[3] = {time * w[0], time * w[1], time * w[2]};
  double f[4][MAX_NODES][3], d[4], rate[4], turn[4], product[4], norm = 0.0;
  set_relative(n, factor, f);
  for (int k = 0; k < 4; k++) {
    combine(n, f[k], &d[k], &rate[k]);
    norm += d[k] * d[k];
  }
  pol_so3_exp(spin, turn);
  pol_quat_multiply(turn, d, product);
  pol_quat_multiply(base, product, q);
  for (int k = 0; k < 4; k++) q[k] /= sqrt(norm);
  /* v = 2 d^-1 (d' + v_r d/2) */
  rate_times(w, d, product);
  for (int k = 0; k < 4; k++) rate[k] += 0.5 * product[k];
  pol_quat_conjugate(d, d);
  pol_quat_multiply(d, rate, product);
  for (int k = 0; k < 3; k++) v[k] = 2.0 * product[k + 1] / norm;
}

/* Values of a coordinate of R^n at all nodes. */
static void set_values(const nodes *n, int q, int v, double f[MAX_NODES][3])
{
  for (int i = 0; i < n->count; i++) {
    f[i][0] = n->q[i][q];
    f[i][1] = n->v[i][v];
    f[i][2] = n->vd[i][v];
  }
}

/* What the interpolation with three nodes would be wrong by without f'' in the middle, without f'
 * there, and without the whole middle (at the middle), from what the other values predict; s = h/2:
 *
 *     f''_m ~ 3 (f_1 - 2 f_m + f_0)/s^2 - (9/8) (f'_1 - f'_0)/s + (f''_1 + f''_0)/8
 *     f'_m  ~ (15/16) (f_1 - f_0)/s - (7/16) (f'_1 + f'_0) + (s/16) (f''_1 - f''_0)
 *     f_m   ~ (f_1 + f_0)/2 - (5/16) s (f'_1 - f'_0) + (s^2/16) (f''_1 + f''_0)
 *
 * For a motion of frequency w and size A these are 1.02e-8 (w h)^8 A, 3.7e-7 (w h)^7 A and
 * 2.17e-5 (w h)^6 A, and the interpolation is wrong by 3e-10 (w h)^9 A. */
static void find_defects(const nodes *n, double f[MAX_NODES][3], double defect[3])
{
  const double s = 0.5 * n->h, *from = f[0], *middle = f[1], *to = f[2];
  const double second = 3.0 * (to[0] - 2.0 * middle[0] + from[0]) / (s * s) -
                        1.125 * (to[1] - from[1]) / s + 0.125 * (to[2] + from[2]);
  const double first =
      0.9375 * (to[0] - from[0]) / s - 0.4375 * (to[1] + from[1]) + 0.0625 * s * (to[2] - from[2]);
  const double value =
      0.5 * (to[0] + from[0]) - 0.3125 * s * (to[1] - from[1]) + 0.0625 * s * s * (to[2] + from[2]);
  /* times the largest value of the polynomials that belong to f'' and f' in the middle */
  defect[0] = 0.0132 * n->h * n->h * (middle[2] - second);
  defect[1] = 0.119 * n->h * (middle[1] - first);
  defect[2] = middle[0] - value;
}

static void add_node(nodes *n, double x, const pol_state *state)
{
  n->x[n->count] = x;
  n->q[n->count] = state->q;
  n->v[n->count] = state->v;
  n->vd[n->count++] = state->vd;
}

/* Makes sure that the middle of the last step is known. */
static void find_middle(const pol_integrator *integrator)
{
  poli_splitting_state *s = integrator->data;
  poli_splitting_steps *steps = poli_splitting_get_steps(s);
  const double start = integrator->before.t, middle = 0.5 * (start + integrator->state.t);
  pol_diagnostics unused = {.equation = -1};
  if (steps->has_middle) return;
  poli_splitting_save(s, steps->now);
  pol_status status = poli_splitting_place(s, start, integrator->before.q, integrator->before.v,
                                           integrator->before.lambda);
  if (!status) status = poli_splitting_advance(s, start, middle, &unused);
  if (!status) status = poli_splitting_show(s, middle, steps->middle);
  poli_splitting_restore(s, steps->now);
  steps->has_middle = status ? -1 : 1;
}

/* v' and lambda that belong to q and v. */
static pol_status accelerate(const pol_integrator *integrator, double t, const double *q,
                             const double *v, double *vd, double *lambda)
{
  poli_splitting_state *s = integrator->data;
  poli_splitting_steps *steps = poli_splitting_get_steps(s);
  const size_t nq = (size_t)integrator->dae->group.nq, nv = (size_t)integrator->dae->group.nv;
  const size_t m = (size_t)pol_dae_num_constraints(integrator->dae);
  double *shown = steps->within;
  poli_splitting_save(s, steps->now);
  pol_status status = poli_splitting_place(s, t, q, v, integrator->state.lambda);
  if (!status) status = poli_splitting_show(s, t, shown);
  poli_splitting_restore(s, steps->now);
  if (!status && integrator->shares) {
    pol_state at = poli_integrator_layout(integrator, t, shown);
    pol_point point = pol_state_point(&at);
    status = poli_least_norm_apply(integrator->least_norm, &point, shown + nq + 2 * nv);
  }
  if (status) return status;
  if (vd) memcpy(vd, shown + nq + nv, nv * sizeof *vd);
  if (lambda) memcpy(lambda, shown + nq + 2 * nv, m * sizeof *lambda);
  return POL_OK;
}

pol_status poli_splitting_interpolate(const pol_integrator *integrator, double t, double *q,
                                      double *v, double *vd, double *lambda)
{
  poli_splitting_state *s = integrator->data;
  poli_splitting_steps *steps = poli_splitting_get_steps(s);
  const pol_group *group = &integrator->dae->group;
  const pol_state *from = &integrator->before, *to = &integrator->state;
  const double h = to->t - from->t, x = (t - from->t) / h;
  if (pol_options_order(&integrator->options) > 4) find_middle(integrator);
  const pol_state middle = poli_integrator_layout(integrator, 0.0, steps->middle);
  nodes n = {.h = h};
  add_node(&n, 0.0, from);
  if (steps->has_middle == 1) add_node(&n, 0.5, &middle);
  add_node(&n, 1.0, to);
  set_weights(&n, x);

  double *at_q = steps->at, *at_v = at_q + group->nq;
  for (int f = 0; f < group->num_factors; f++) {
    const pol_factor *factor = &group->factors[f];
    if (factor->kind != POL_REAL) {
      turn_within(&n, factor, x, at_q + factor->q, at_v + factor->v);
      continue;
    }
    for (int k = 0; k < factor->dim; k++) {
      double data[MAX_NODES][3];
      set_values(&n, factor->q + k, factor->v + k, data);
      combine(&n, data, &at_q[factor->q + k], &at_v[factor->v + k]);
    }
  }
  if (q) memcpy(q, at_q, (size_t)group->nq * sizeof *q);
  if (v) memcpy(v, at_v, (size_t)group->nv * sizeof *v);
  return vd || lambda ? accelerate(integrator, t, at_q, at_v, vd, lambda) : POL_OK;
}

/* --- steps of variable size ------------------------------------------------------------------- */

static void reject(pol_integrator *integrator)
{
  poli_splitting_state *s = integrator->data;
  poli_splitting_restore(s, poli_splitting_get_steps(s)->start);
}

static void accept(pol_integrator *integrator)
{
  poli_splitting_state *s = integrator->data;
  poli_splitting_steps *steps = poli_splitting_get_steps(s);
  double *middle = steps->within;
  steps->within = steps->middle;
  steps->middle = middle;
  steps->has_middle = 1;
  poli_splitting_publish(integrator, steps->t);
}

/* Where expressions of the model can take another branch, or soft stops be touched. */
static int num_margins(const pol_integrator *integrator)
{
  const pol_dae *dae = integrator->dae;
  return dae->extension ? dae->extension->num_margins : 0;
}

static pol_status attempt(pol_integrator *integrator, double t, double h, const double **q,
                          const double **v)
{
  poli_splitting_state *s = integrator->data;
  poli_splitting_steps *steps = poli_splitting_get_steps(s);
  pol_diagnostics *d = &integrator->diagnostics;
  const double start = integrator->state.t, middle = start + 0.5 * h;
  const size_t nq = (size_t)integrator->dae->group.nq;
  double *end = poli_splitting_spare(s);
  steps->t = t;
  integrator->num_substeps = 3 * poli_splitting_num_stages(s);
  poli_splitting_save(s, steps->start);
  pol_status status = poli_splitting_advance(s, start, t, d);
  if (!status) {
    if (num_margins(integrator) > 0)
      status = poli_splitting_show(s, t, steps->whole);
    else
      memcpy(steps->whole, poli_splitting_position(s), nq * sizeof *steps->whole);
    reject(integrator);
  }
  if (!status) {
    status = poli_splitting_advance(s, start, middle, d);
  }
  if (!status) status = poli_splitting_show(s, middle, steps->within);
  if (!status) status = poli_splitting_advance(s, middle, t, d);
  if (!status) status = poli_splitting_show(s, t, end);
  if (status) reject(integrator);
  *q = end;
  *v = end + nq;
  return status;
}

/* The error of the interpolation at each velocity, if it is larger than what is there. */
static void add_interpolation(const pol_integrator *integrator, const nodes *n, double *out)
{
  const pol_group *group = &integrator->dae->group;
  const poli_step_control *control = integrator->control;
  double *all = poli_splitting_get_steps(integrator->data)->defects, size[3];
  for (int i = 0; i < group->num_factors; i++) {
    const pol_factor *factor = &group->factors[i];
    const int turns = factor->kind != POL_REAL;
    double f[4][MAX_NODES][3], defect[3];
    if (turns) set_relative(n, factor, f);
    for (int k = 0; k < factor->dim; k++) {
      if (!turns) set_values(n, factor->q + k, factor->v + k, f[0]);
      find_defects(n, turns ? f[k + 1] : f[0], defect);
      for (int l = 0; l < 3; l++) /* half angles */
        all[l * group->nv + factor->v + k] = turns ? 2.0 * defect[l] : defect[l];
    }
  }
  for (int l = 0; l < 3; l++) size[l] = poli_step_control_norm(control, all + l * group->nv, NULL);

  /* w h from their ratios; the largest, since one of them can be small by chance */
  double turn = 0.0;
  if (size[2] > 0.0) turn = fmax(sqrt(size[0] / size[2] / 4.7e-4), size[1] / size[2] / 0.017);
  if (size[1] > 0.0) turn = fmax(turn, size[0] / size[1] / 0.0276);
  turn = fmin(turn, 4.0);
  for (int i = 0; i < group->nv; i++) {
    const double error =
        fmax(0.03 * turn * fabs(all[i]), 8e-4 * turn * turn * fabs(all[group->nv + i]));
    if (error > fabs(out[i])) out[i] = error;
  }
}

/* Whether an expression of the model takes another branch at the middle or the end of a step than
 * at its start, as where bodies touch. */
static int switches(const pol_integrator *integrator, const pol_state *const at[3])
{
  const pol_dae *dae = integrator->dae;
  const int count = num_margins(integrator);
  double *margins = integrator->margins;
  for (int k = 0; k < 3 && count > 0; k++) {
    const pol_point point = {
        .t = at[k]->t, .q = at[k]->q, .v = at[k]->v, .history = integrator->history};
    dae->extension->margins(&point, margins + k * count, dae->user);
  }
  for (int i = 0; i < count; i++)
    for (int k = 1; k < 3; k++)
      if ((margins[i] > 0.0) != (margins[k * count + i] > 0.0)) return 1;
  return 0;
}

/* The larger one of the error at the end and of the interpolation.  Where a force begins or ends
 * within the step, no order is left: the two results differ by about the error of either.  A force
 * that begins just before the end has hardly moved anything yet, so velocities count too, over a
 * step. */
static void error(const pol_integrator *integrator, double *out)
{
  poli_splitting_state *s = integrator->data;
  poli_splitting_steps *steps = poli_splitting_get_steps(s);
  const pol_group *group = &integrator->dae->group;
  const double t = steps->t, h = t - integrator->state.t;
  const pol_state middle = poli_integrator_layout(integrator, t - 0.5 * h, steps->within);
  const pol_state end = poli_integrator_layout(integrator, t, poli_splitting_spare(s));
  const pol_state *const at[] = {&integrator->state, &middle, &end};
  nodes n = {.h = h};
  for (int k = 0; k < 3; k++) add_node(&n, 0.5 * k, at[k]);
  pol_group_difference(group, end.q, steps->whole, out);
  if (switches(integrator, at)) {
    const double *v = steps->whole + group->nq;
    for (int i = 0; i < group->nv; i++) out[i] = fmax(fabs(out[i]), h * fabs(v[i] - end.v[i]));
  } else {
    const double gain = exp2(pol_options_order(&integrator->options)) - 1.0;
    for (int i = 0; i < group->nv; i++) out[i] /= gain;
  }
  add_interpolation(integrator, &n, out);
}

/* v''/12, as of order 2: the first step is too small for a higher order, and those that follow
 * become larger quickly. */
static pol_status error_rate(pol_integrator *integrator, double tau, double *out)
{
  poli_splitting_state *s = integrator->data;
  poli_splitting_steps *steps = poli_splitting_get_steps(s);
  const pol_group *group = &integrator->dae->group;
  const double t = integrator->state.t;
  pol_diagnostics unused = {.equation = -1};
  poli_splitting_save(s, steps->now);
  pol_status status = poli_splitting_advance(s, t, t + tau, &unused);
  if (!status) status = poli_splitting_show(s, t + tau, steps->within);
  poli_splitting_restore(s, steps->now);
  const double *vd = steps->within + group->nq + group->nv;
  /* where not even this succeeds the step is to be much smaller */
  for (int i = 0; i < group->nv; i++)
    out[i] = (status ? integrator->state.v[i] / tau : vd[i] - integrator->state.vd[i]) / tau / 12.0;
  return POL_OK;
}

/* T = v.M v/2, T' = v.M v'; forces do a work of that size when bodies move by the length of the
 * model or turn by 1 rad. */
static pol_status energies(pol_integrator *integrator, double *kinetic, double *rate, double *size)
{
  poli_splitting_state *s = integrator->data;
  const pol_state *now = &integrator->state;
  const poli_rigid_bodies *bodies = poli_dae_rigid_bodies(integrator->dae);
  const double *force = poli_splitting_force(s), length = poli_dae_length(integrator->dae);
  *kinetic = *rate = *size = 0.0;
  for (int b = 0; b < bodies->count; b++) {
    const poli_rigid_body *body = &bodies->items[b];
    const int turn = body->is_point ? 0 : 3;
    double P[6];
    if (body->v >= integrator->dae->group.nv - integrator->dae->num_states) continue;
    if (turn) poli_m3_apply(body->inertia, now->v + body->v, P);
    for (int i = 0; i < turn + body->num_axes; i++) {
      const int k = body->v + i;
      if (i >= turn) P[i] = body->mass * now->v[k];
      *kinetic += 0.5 * P[i] * now->v[k];
      *rate += P[i] * now->vd[k];
      *size += fabs(force[k]) * (i < turn ? 1.0 : length);
    }
  }
  return POL_OK;
}

const poli_adaptive poli_splitting_adaptive = {.attempt = attempt,
                                               .error = error,
                                               .accept = accept,
                                               .reject = reject,
                                               .error_rate = error_rate,
                                               .energies = energies};
