/* What the start of a motion says about its steps, for the choice of a method.
 *
 * The fastest elements follow from the equations of motion linearized about the start at rest,
 *
 *     [ M  B^T ] [ a      ]     [ K x ]                  [ D x ]
 *     [ B   0  ] [ lambda ] = - [  0  ]    or, with D,  -[  0  ]
 *
 *     w^2 = largest eigenvalue of x -> a with K,      c = largest eigenvalue with D
 *
 * by power iteration with one factorization; at rest, since the velocities of fast rotations are no
 * reason for small steps: free rotations are exact.  Linear springs and dampers, which rattle
 * treats by implicit rows, are counted apart from the other forces.  For fixed steps, soft stops
 * count as if they were touched: with the mobility m of the joint coordinate
 * (formulation/soft_stops.c),
 *
 *     w^2 = k m,      c = d m
 *
 * for each of them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "dae/assembler.h"
#include "dae/dae.h"
#include "dae/extension.h"
#include "integrators/family.h"
#include "simulation/parts.h"

typedef struct probe {
  const pol_dae *dae;
  pol_integrator *integrator;
  const pol_state *start; /* consistent */
  double *rest, *at_rest; /* velocities of the drives alone, and the accelerations there */
  double *lambda, *scratch;
  double *stiffness, *damping;
  double *x, *product; /* nv */
  void *memory;
} probe;

static double norm(const double *x, int n)
{
  double sum = 0.0;
  for (int i = 0; i < n; i++) sum += x[i] * x[i];
  return sqrt(sum);
}

/* --- rates ------------------------------------------------------------------------------------ */

/* The largest eigenvalue of x -> a with this matrix; 0 if it cannot be found. */
static double largest_rate(probe *p, const double *matrix)
{
  enum { ROUNDS = 12 };
  const int nv = p->dae->group.nv;
  double rate = 0.0;
  for (int i = 0; i < nv; i++) p->product[i] = sin(1.0 + 2.0 * i + 0.37 * i * i);
  for (int k = 0; k <= ROUNDS; k++) {
    /* the first round puts x on the constraints */
    for (int i = 0; i < nv; i++) p->x[i] = -p->product[i];
    poli_assembler_solve(poli_integrator_assembler(p->integrator), p->x, p->x);
    const double length = norm(p->x, nv);
    if (k > 0) rate = length;
    if (!(length > 0.0) || !isfinite(length)) return 0.0;
    for (int i = 0; i < nv; i++) {
      p->x[i] /= length;
      p->product[i] = 0.0;
    }
    pol_matrix_multiply(p->dae->coupling, matrix, 1.0, p->x, p->product);
  }
  return rate;
}

/* w and c of all forces, or without those of linear springs and dampers. */
static pol_status find_rates(probe *p, unsigned forces, double *spring, double *damper)
{
  const pol_point at = {.q = p->start->q,
                        .v = p->rest,
                        .vd = p->at_rest,
                        .lambda = p->lambda,
                        .history = p->start->history};
  const pol_terms out = {.stiffness = p->stiffness, .damping = p->damping};
  const unsigned want = POL_STIFFNESS | POL_GEOMETRIC_STIFFNESS | POL_DAMPING | forces;
  const pol_status status = poli_dae_evaluate(p->dae, &at, want, &out, p->scratch);
  *spring = *damper = 0.0;
  if (status) return status;
  *spring = sqrt(largest_rate(p, p->stiffness));
  *damper = largest_rate(p, p->damping);
  return POL_OK;
}

/* Counts the rates of soft stops as if they were touched; needs the factors of the matrix. */
static pol_status count_stops(probe *p, poli_pilot *found)
{
  const poli_rigid_bodies *bodies = poli_dae_rigid_bodies(p->dae);
  const pol_point at = {.q = p->start->q, .v = p->rest, .history = p->start->history};
  for (int i = 0; i < bodies->num_soft_stops; i++) {
    poli_soft_stop stop;
    double mobility = 0.0;
    const pol_status status = bodies->soft_stop(i, &at, &stop, p->product, p->dae->user);
    if (status) return status;
    poli_assembler_solve(poli_integrator_assembler(p->integrator), p->product, p->x);
    for (int k = 0; k < p->dae->group.nv; k++) mobility += p->product[k] * p->x[k];
    if (!(mobility > 0.0) || !isfinite(mobility)) continue; /* drives hold it */
    const double spring = sqrt(stop.stiffness * mobility), damper = stop.damping * mobility;
    const double fastest = fmax(found->spring, found->damper);
    if (fmax(spring, damper) > fastest) found->stop = stop.force;
    found->spring = fmax(found->spring, spring);
    found->damper = fmax(found->damper, damper);
    found->other_spring = fmax(found->other_spring, spring);
    found->other_damper = fmax(found->other_damper, damper);
  }
  return POL_OK;
}

/* Accelerations and multipliers at rest, and the factors of the matrix. */
static pol_status linearize(probe *p)
{
  pol_assembler *assembler = poli_integrator_assembler(p->integrator);
  pol_diagnostics unused;
  pol_status status =
      pol_assembler_velocity(assembler, 0.0, p->start->q, p->rest, NULL, NULL, &unused);
  if (!status)
    status = pol_assembler_acceleration(assembler, 0.0, p->start->q, p->rest, p->at_rest, p->lambda,
                                        &unused);
  return status ? status : poli_assembler_factor(assembler, 0.0, p->start->q, &unused);
}

/* --- speeds ----------------------------------------------------------------------------------- */

/* u, from u^2 = max( w_b^2, |w_b'|, |x_b''|/L, |x_b'|^2/L^2 ) over all bodies. */
static double find_speed(const probe *p)
{
  const poli_rigid_bodies *bodies = poli_dae_rigid_bodies(p->dae);
  const double length = poli_dae_length(p->dae);
  double square = 0.0;
  for (int b = 0; b < bodies->count; b++) {
    const poli_rigid_body *body = &bodies->items[b];
    const double *v = p->start->v + body->v, *vd = p->start->vd + body->v;
    const int turn = body->is_point ? 0 : 3;
    if (body->v >= p->dae->group.nv - p->dae->num_states) continue;
    if (turn) {
      square = fmax(square, pow(norm(v, 3), 2.0));
      square = fmax(square, norm(vd, 3));
    }
    square = fmax(square, norm(vd + turn, body->num_axes) / length);
    square = fmax(square, pow(norm(v + turn, body->num_axes) / length, 2.0));
  }
  return sqrt(square);
}

/* The size of a step of order 2 with an error as the tolerances allow, from one of size h; 0 if
 * that fails. */
static double step_within_tolerances(probe *p, double h)
{
  pol_integrator *s = p->integrator;
  const poli_adaptive *adaptive = s->family->adaptive;
  const double *q, *v;
  poli_integrator_begin_step(s, h, h);
  poli_step_control_weigh(s->control, s->state.q);
  if (adaptive->attempt(s, h, h, &q, &v)) return 0.0;
  adaptive->error(s, s->control->error);
  poli_step_control_weigh(s->control, q);
  const double error = poli_step_control_norm(s->control, s->control->error, NULL);
  adaptive->reject(s);
  return isfinite(error) ? h / cbrt(fmax(error, 1e-6)) : 0.0;
}

/* --- all -------------------------------------------------------------------------------------- */

static pol_status allocate(probe *p)
{
  const int nv = p->dae->group.nv, m = pol_dae_num_constraints(p->dae);
  const int coupling = pol_pattern_nonzeros(p->dae->coupling);
  poli_arena arena = {0};
  do {
    POLI_TAKE(&arena, p->rest, nv);
    POLI_TAKE(&arena, p->at_rest, nv);
    POLI_TAKE(&arena, p->lambda, m);
    POLI_TAKE(&arena, p->x, nv);
    POLI_TAKE(&arena, p->product, nv);
    POLI_TAKE(&arena, p->stiffness, coupling);
    POLI_TAKE(&arena, p->damping, coupling);
    POLI_TAKE(&arena, p->scratch, p->dae->scratch_size);
  } while (poli_arena_again(&arena));
  p->memory = arena.memory;
  return p->memory ? POL_OK : POL_NO_MEMORY;
}

/* Creates the integrator and starts it. */
static pol_status start(probe *p, const pol_formulation *formulation, const pol_options *options)
{
  const size_t nq = (size_t)p->dae->group.nq, nv = (size_t)p->dae->group.nv;
  pol_diagnostics unused;
  double *q = malloc((nq + nv) * sizeof *q);
  unsigned char *keep = malloc(nv);
  pol_status status = q && keep ? POL_OK : POL_NO_MEMORY;
  if (!status) status = pol_integrator_create(&p->integrator, p->dae, options);
  if (!status) {
    pol_formulation_initial(formulation, q, q + nq, keep);
    status = pol_formulation_assemble(formulation, options->solver, 0.0, q, q + nq, &unused);
  }
  if (!status) status = pol_integrator_start(p->integrator, 0.0, q, q + nq, keep);
  if (!status) p->start = pol_integrator_state(p->integrator);
  free(q);
  free(keep);
  return status;
}

pol_status poli_pilot_run(const pol_formulation *formulation, const pol_options *options,
                          const pol_settings *settings, poli_pilot *found)
{
  probe p = {.dae = pol_formulation_dae(formulation)};
  const poli_rigid_bodies *bodies = poli_dae_rigid_bodies(p.dae);
  const int weight_only = bodies->has_weight_only && bodies->num_compliant == 0;
  *found = (poli_pilot){.freedoms = p.dae->group.nv - pol_dae_num_constraints(p.dae)};
  pol_status status = start(&p, formulation, options);
  if (!status) {
    const unsigned char *dropped = pol_assembler_dropped(poli_integrator_assembler(p.integrator));
    for (int i = 0; dropped && i < pol_dae_num_constraints(p.dae); i++)
      found->freedoms += dropped[i];
    found->speed = find_speed(&p);
  }
  /* weights alone are no reason for small steps where these are variable */
  if (!status && !(weight_only && settings->variable) && found->freedoms > 0) {
    status = allocate(&p);
    if (!status) status = linearize(&p);
    if (!status) status = find_rates(&p, 0, &found->spring, &found->damper);
    found->other_spring = found->spring;
    found->other_damper = found->damper;
    if (!status && bodies->num_compliant > 0)
      status = find_rates(&p, POLI_WITHOUT_COMPLIANT, &found->other_spring, &found->other_damper);
    /* variable steps become small at a stop, see integrators/leaps.c */
    if (!status && !settings->variable) status = count_stops(&p, found);
  }
  if (!status && settings->variable && found->freedoms > 0) {
    /* where neither the end nor a spring or damper asks for steps that are smaller anyway */
    const double fastest = fmax(found->spring, found->damper);
    found->most = poli_integrator_turn_step(p.integrator);
    if (options->order == 2 && found->most < fmin(0.05 * settings->end, 2.0 / fastest))
      found->second_order = step_within_tolerances(&p, 0.5 * found->most);
  } else if (!status && !settings->variable) {
    found->first_step = pol_integrator_step(p.integrator, settings->step);
  }
  pol_integrator_free(&p.integrator);
  free(p.memory);
  return status;
}
