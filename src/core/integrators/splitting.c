/* Explicit-cost methods of order 2 to 8 for rigid bodies with hard constraints.
 *
 * The base step from node t0 to t1 = t0 + h, with momenta P in inertial axes,
 *
 *     P+ = P + h/2 f(q0, V(q0, P+), t0) - B(q0)^T U        kick
 *     q1 = free motion of each body for the time h         drift, exact
 *     Phi(q1, t1) = 0                                      determines the impulses U
 *     P1 = P+ + h/2 f(q1, V(q1, P+), t1)                   kick without constraints
 *
 * is symmetric, of order 2 and, without dissipation, symplectic: U holds the impulses of both kicks
 * at a node, so that momenta need no projection between steps.  Symmetric compositions of it have
 * order 4 (Suzuki 1990), 6 and 8 (Kahan/Li 1997).  Non-holonomic rows demand
 * B(q0) V(q0, P+) + B(q1) V(q1, P+) = 0 instead.
 *
 * Newton's method has U as its only unknowns; its matrix B(q1) D B(q0)^T, with the derivative D of
 * the free motion, couples joints that share a body and is factored by blocks.  Velocities shown
 * are projected onto the constraints, accelerations and reactions follow from them.
 *
 * Linear springs and dampers are rows too, with a compliance (splitting_compliant.h): then stiff
 * ones do not limit h.
 *
 * Forces that depend on reactions, such as friction, get those of the equations of motion at a
 * node, lambda(q, V, t); they depend on positions and velocities like others then, and so does the
 * matrix of the iteration.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rule.h"
#include "dae/extension.h"
#include "integrators/splitting_parts.h"
#include "lie/small.h"

/* --- steps ------------------------------------------------------------------------------------ */

static void set_state(pol_integrator *integrator, splitting *s, int which, double t)
{
  const double *x = s->out[which];
  s->shown = which;
  s->unseen = 0;
  integrator->state.q = x;
  integrator->state.v = x + s->nq;
  integrator->state.vd = x + s->nq + s->nv;
  integrator->state.lambda = x + s->nq + 2 * s->nv;
  integrator->state.lambda_t = t;
}

pol_status poli_splitting_advance(splitting *s, double t0, double t1, pol_diagnostics *d)
{
  const double h = t1 - t0;
  pol_status status = POL_OK;
  double t = t0;
  for (int i = 0; i < s->num_stages && !status; i++) {
    const double end = i + 1 < s->num_stages ? t + s->stage[i] * h : t1;
    status = poli_splitting_substep(s, t, end, d);
    t = end;
  }
  return status;
}

/* The arrays of the running state. */
enum { NUM_SAVED = 14 + MAX_KNOWN };

static void list_saved(const splitting *s, double *array[NUM_SAVED], size_t size[NUM_SAVED])
{
  const size_t nv = (size_t)s->nv, m = (size_t)s->m, bodies = (size_t)s->bodies->count;
  const size_t compliant = (size_t)s->compliant.count;
  const instant *at = &s->instants[s->at];
  double *const arrays[NUM_SAVED] = {at->q,
                                     at->P,
                                     at->force,
                                     at->R,
                                     at->B,
                                     at->w,
                                     s->known[0],
                                     s->known[1],
                                     s->known[2],
                                     at->elongation,
                                     s->compliant.tension[0],
                                     s->compliant.tension[1],
                                     s->compliant.tension[2],
                                     s->compliant.miss[0],
                                     s->compliant.miss[1],
                                     s->compliant.clock,
                                     s->carried};
  const size_t sizes[NUM_SAVED] = {(size_t)s->nq,
                                   nv,
                                   nv,
                                   9 * bodies,
                                   (size_t)s->bodies->num_blocks,
                                   3 * bodies,
                                   m,
                                   m,
                                   m,
                                   compliant,
                                   compliant,
                                   compliant,
                                   compliant,
                                   compliant,
                                   compliant,
                                   POLI_TENSIONS + 1,
                                   s->saddle ? nv : 0};
  memcpy(array, arrays, sizeof arrays);
  memcpy(size, sizes, sizeof sizes);
}

size_t poli_splitting_size(const splitting *s)
{
  double *array[NUM_SAVED];
  size_t size[NUM_SAVED], total = 2 + 2 * MAX_KNOWN;
  list_saved(s, array, size);
  for (int i = 0; i < NUM_SAVED; i++) total += size[i];
  return total;
}

void poli_splitting_save(const splitting *s, double *to)
{
  double *array[NUM_SAVED];
  size_t size[NUM_SAVED];
  list_saved(s, array, size);
  *to++ = s->last_h;
  *to++ = s->num_known;
  memcpy(to, s->known_t, sizeof s->known_t);
  memcpy(to + MAX_KNOWN, s->known_weight, sizeof s->known_weight);
  to += 2 * MAX_KNOWN;
  for (int i = 0; i < NUM_SAVED; to += size[i++]) memcpy(to, array[i], size[i] * sizeof *to);
}

void poli_splitting_restore(splitting *s, const double *from)
{
  double *array[NUM_SAVED];
  size_t size[NUM_SAVED];
  list_saved(s, array, size);
  s->last_h = *from++;
  s->num_known = (int)*from++;
  memcpy(s->known_t, from, sizeof s->known_t);
  memcpy(s->known_weight, from + MAX_KNOWN, sizeof s->known_weight);
  from += 2 * MAX_KNOWN;
  for (int i = 0; i < NUM_SAVED; from += size[i++]) memcpy(array[i], from, size[i] * sizeof *from);
}

const double *poli_splitting_position(const splitting *s)
{
  return s->instants[s->at].q;
}

double *poli_splitting_spare(splitting *s)
{
  return s->out[1 - s->shown];
}

void poli_splitting_publish(pol_integrator *integrator, double t)
{
  splitting *s = integrator->data;
  set_state(integrator, s, 1 - s->shown, t);
}

poli_splitting_steps *poli_splitting_get_steps(splitting *s)
{
  return &s->steps;
}

const double *poli_splitting_force(const splitting *s)
{
  return s->instants[s->at].force;
}

int poli_splitting_num_stages(const splitting *s)
{
  return s->num_stages;
}

pol_status poli_splitting_place(splitting *s, double t, const double *q, const double *v,
                                const double *lambda)
{
  instant *at = &s->instants[s->at];
  memcpy(at->q, q, (size_t)s->nq * sizeof *q);
  poli_splitting_rotations(s, q, at->R);
  poli_splitting_momenta(s, at->R, v, at->P);
  for (int b = 0; b < s->bodies->count; b++)
    if (!s->bodies->items[b].is_point)
      poli_m3_apply(at->R + 9 * b, v + s->bodies->items[b].v, at->w + 3 * b);
  memcpy(s->known[0], lambda, (size_t)s->held * sizeof *lambda);
  poli_row_space_turn(s->space, at->R, 0, s->known[0]);
  s->known_t[0] = t;
  s->known_weight[0] = 1.0;
  s->num_known = 1;
  s->last_h = 0.0;
  const pol_status status =
      s->bodies->constraints(s->bodies->nodes, s->bodies->num_nodes, s->space->threads, t, at->q,
                             at->R, s->history, s->residual, at->B, s->dae->user);
  poli_splitting_set_units(s, at->B);
  memcpy(at->elongation, s->residual + s->held, (size_t)s->compliant.count * sizeof *q);
  poli_compliant_start(&s->compliant);
  if (s->saddle) memcpy(s->carried, at->P, (size_t)s->nv * sizeof *s->carried);
  return status ? status : poli_splitting_find_forces(s, t, at->q, at->R, at->P, at->force);
}

static pol_status step(pol_integrator *integrator, double t, double h)
{
  splitting *s = integrator->data;
  const double last_h = s->last_h;
  s->history = integrator->history;
  s->steps.has_middle = 0;
  integrator->num_substeps = s->num_stages;
  s->kept = s->at; /* the start of the step stays as it is */
  pol_status status =
      poli_splitting_meet_stops(s, integrator->state.t, h, &integrator->diagnostics);
  if (!status) status = poli_splitting_advance(s, integrator->state.t, t, &integrator->diagnostics);
  if (!status && integrator->hidden) {
    integrator->state.q = s->instants[s->at].q;
    s->unseen = 1;
    return POL_OK;
  }
  if (!status) {
    status = poli_splitting_show(s, t, s->out[1 - s->shown]);
    if (status) poli_splitting_fail_force(s, &integrator->diagnostics, status, 0);
  }
  if (!status) {
    set_state(integrator, s, 1 - s->shown, t);
    return POL_OK;
  }
  s->at = s->kept;
  s->last_h = last_h;
  s->num_known = s->num_known > 0; /* the newest may be of times that are gone: keep one */
  poli_compliant_start(&s->compliant);
  if (s->unseen && poli_splitting_show(s, integrator->state.t, s->out[1 - s->shown]) == POL_OK)
    set_state(integrator, s, 1 - s->shown, integrator->state.t);
  else if (s->unseen)
    integrator->state.q = NULL; /* it cannot be shown: a new start is needed */
  return status;
}

static pol_status start(pol_integrator *integrator, const double *q, const double *v,
                        const double *vd, const double *lambda)
{
  splitting *s = integrator->data;
  const double t = integrator->state.t;
  double *x = s->out[0];
  s->history = integrator->history;
  s->steps.has_middle = 0;
  s->kept = -1;
  for (int k = 0; k < NUM_INSTANTS; k++) {
    memcpy(s->instants[k].q, q, (size_t)s->nq * sizeof *q);
    poli_splitting_rotations(s, q, s->instants[k].R);
    for (int b = 0; b < s->bodies->count && s->bodies->has_weight_only; b++) {
      const poli_rigid_body *body = &s->bodies->items[b];
      double *force = s->instants[k].force + body->v + (body->is_point ? 0 : 3);
      poli_v3_scale(body->mass, s->bodies->gravity, force);
    }
  }
  s->at = 0;
  s->bounds.age = 0;
  s->bounds.limited = 0;
  s->bounds.note[0] = '\0';
  const pol_status status = poli_splitting_place(s, t, q, v, lambda);
  if (status) return status;
  memcpy(x, q, (size_t)s->nq * sizeof *x);
  memcpy(x + s->nq, v, (size_t)s->nv * sizeof *x);
  memcpy(x + s->nq + s->nv, vd, (size_t)s->nv * sizeof *x);
  memcpy(x + s->nq + 2 * s->nv, lambda, (size_t)s->held * sizeof *x);
  set_state(integrator, s, 0, t);
  return POL_OK;
}

static pol_status change_forces(pol_integrator *integrator)
{
  splitting *s = integrator->data;
  instant *at = &s->instants[s->at];
  const double *P = s->saddle ? s->carried : at->P;
  return poli_splitting_find_forces(s, integrator->state.t, at->q, at->R, P, at->force);
}

/* --- life cycle ------------------------------------------------------------------------------- */

/* Stages of the compositions up to the middle one; the rest is symmetric. */
static const struct composition {
  int order, num_stages, degree;
  double damped, vibrates; /* largest h c/m of a damper, and h w of a vibration, that are stable */
  double first[(MAX_STAGES + 1) / 2];
} compositions[] = {{2, 1, 2, HUGE_VAL, 2.0, {1.0}},
                    {4,
                     5,
                     2,
                     3.02,
                     2.72,
                     {0.41449077179437573714, 0.41449077179437573714, -0.65796308717750294857}},
                    {6,
                     9,
                     1,
                     2.73,
                     2.53,
                     {0.39216144400731413928, 0.33259913678935943860, -0.70624617255763935981,
                      0.08221359629355080023, 0.79854399093482996340}},
                    {8,
                     17,
                     1,
                     3.30,
                     3.09,
                     {0.13020248308889008088, 0.56116298177510838456, -0.38947496264484728641,
                      0.15884190655515560090, -0.39590389413323757734, 0.18453964097831570709,
                      0.25837438768632204729, 0.29501172360931029887, -0.60550853383003451170}}};

static const struct composition *find_composition(int order)
{
  for (size_t i = 0; i < sizeof compositions / sizeof compositions[0]; i++)
    if (compositions[i].order == order) return &compositions[i];
  return NULL;
}

static pol_status supports(const pol_dae *dae, const pol_options *options, const void *variant,
                           char *message, size_t size)
{
  (void)variant, (void)options;
  if (!poli_dae_rigid_bodies(dae) || poli_dae_rigid_bodies(dae)->spatial)
    return poli_broken_rule("the method needs rigid bodies in so3xr3", message, size);
  return POL_OK;
}

static void destroy(void *data)
{
  splitting *s = data;
  poli_block_lu_free(&s->lu);
  poli_splitting_free_reactive(s);
  poli_splitting_free_bounds(s);
  poli_saddle_free(&s->saddle);
  poli_dae_patterns_free(&s->patterns);
  free(s->steps.memory);
  poli_row_space_free(&s->space);
  free(s->memory);
  free(s);
}

static pol_status create(pol_integrator *integrator)
{
  splitting *s = integrator->data = calloc(1, sizeof *s);
  const struct composition *composition = find_composition(pol_options_order(&integrator->options));
  if (!s) return POL_NO_MEMORY;
  s->dae = integrator->dae;
  s->bodies = poli_dae_rigid_bodies(s->dae);
  s->counts = &integrator->counts;
  s->num_stages = integrator->num_substeps = composition->num_stages;
  s->degree = composition->degree;
  s->bounds.limit[DAMPERS] = composition->damped;
  s->bounds.limit[SPRINGS] = composition->vibrates;
  for (int i = 0; i < s->num_stages; i++) {
    const int mirrored = i < s->num_stages / 2 + 1 ? i : s->num_stages - 1 - i;
    s->stage[i] = composition->first[mirrored];
  }
  s->nq = s->dae->group.nq;
  s->nv = s->dae->group.nv;
  s->held = pol_dae_num_constraints(s->dae);
  s->compliant.count = s->bodies->num_compliant;
  s->compliant.rows = s->bodies->compliant;
  s->m = s->held + s->compliant.count;
  s->dropped = pol_assembler_dropped(integrator->assembler);
  if (s->dae->feedback) s->assembler = integrator->assembler;
  pol_status status = poli_splitting_set_graph(s, integrator->options.threads);
  if (!status && s->bodies->forces_read_velocities) {
    status = poli_dae_patterns_create(&s->patterns, s->dae);
    if (!status) status = poli_saddle_create(&s->saddle, s->dae, 0, integrator->options.solver);
    if (!status && s->assembler)
      status = poli_splitting_create_reactive(s, integrator->options.solver);
  }
  if (!status) status = poli_splitting_allocate(s);
  if (!status) status = poli_splitting_create_bounds(s, integrator->options.solver);
  return status ? status : poli_splitting_steps_create(integrator);
}

const poli_family poli_splitting = {.supports = supports,
                                    .create = create,
                                    .destroy = destroy,
                                    .start = start,
                                    .archive = poli_splitting_archive,
                                    .change_forces = change_forces,
                                    .step = step,
                                    .adaptive = &poli_splitting_adaptive,
                                    .interpolate = poli_splitting_interpolate,
                                    .doubt_step = poli_splitting_doubt_step,
                                    .largest_step = poli_splitting_largest_step,
                                    .hides = 1};
