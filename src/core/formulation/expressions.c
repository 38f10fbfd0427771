/* Expressions in the equations; see expressions.h.  Every derivative is a column of a consumer, an
 * effort or a rate, times the row of a signal: a link. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dae/least_norm.h"
#include "formulation/directors.h"
#include "formulation/elements.h"
#include "formulation/expressions.h"
#include "formulation/output.h"
#include "formulation/signals.h"

/* A vector of the velocities of one body. */
typedef double body_vector[POLI_MAX_COORDINATES];

/* The unit wrenches of a consumer, and the derivatives of a signal, in coordinates. */
typedef struct shape {
  body_vector part[2];
} shape;

/* --- set-up ----------------------------------------------------------------------------------- */

static poli_target target_of(const pol_formulation *f, int body)
{
  poli_target none = {0, 0};
  if (body == POL_GROUND) return none;
  return (poli_target){f->bodies[body].v, f->bodies[body].chart->dim};
}

static void number_consumers(pol_formulation *f)
{
  int node = f->network.num_variables, count = 0;
  for (int i = 0; i < f->network.num_states; i++)
    f->consumers[count++] =
        (poli_consumer){.node = node++, .force = -1, .target = {{f->state_v + i, 1}}};
  for (int k = 0; k < f->num_forces; k++) {
    poli_placed_force *force = &f->forces[k];
    for (int i = 0; i < 3; i++) {
      if (!force->kernel.force->expressions[i]) continue;
      force->effort[i] = node;
      f->consumers[count++] = (poli_consumer){
          .node = node++,
          .force = k,
          .component = i,
          .target = {target_of(f, force->kernel.body[0]), target_of(f, force->kernel.body[1])}};
    }
  }
  f->num_consumers = count;
}

pol_status poli_formulation_link_expressions(pol_formulation *formulation)
{
  pol_formulation *f = formulation;
  const poli_network *n = &f->network;
  size_t consumers = (size_t)(n->num_states + n->num_efforts), links = 0;
  for (int k = n->num_variables; k < n->num_nodes; k++) links += (size_t)n->nodes[k].num_sources;
  f->consumers = calloc(consumers + 1, sizeof *f->consumers);
  f->links = calloc(links + 1, sizeof *f->links);
  f->link_start = calloc((size_t)n->num_inputs + 1, sizeof *f->link_start);
  if (!f->consumers || !f->links || !f->link_start) return POL_NO_MEMORY;
  number_consumers(f);

  /* by signals, so that each is differentiated once */
  for (int input = 0; input < n->num_inputs; input++) {
    f->link_start[input] = f->num_links;
    for (int c = 0; c < f->num_consumers; c++) {
      const poli_node *node = &n->nodes[f->consumers[c].node];
      for (int k = 0; k < node->num_sources; k++)
        if (node->sources[k] == input)
          f->links[f->num_links++] = (poli_link){.consumer = c, .weight = node->weight + k};
    }
  }
  f->link_start[n->num_inputs] = f->num_links;
  return POL_OK;
}

size_t poli_expressions_max_blocks(const pol_formulation *formulation)
{
  return 6 * (size_t)formulation->num_links + (size_t)formulation->network.num_states;
}

/* Calls for every part of the matrices that a link may fill, its rows those of a target. */
typedef void visit_block(const pol_formulation *f, int link, int target,
                         const poli_signal_reads *reads, void *user);
static void each_block(const pol_formulation *f, visit_block *visit, void *user)
{
  for (int input = 0; input < f->network.num_inputs; input++) {
    if (f->link_start[input] == f->link_start[input + 1]) continue;
    poli_signal_reads reads = poli_signal_dependence(f, &f->network.inputs[input]);
    for (int l = f->link_start[input]; l < f->link_start[input + 1]; l++)
      for (int a = 0; a < 2; a++)
        if (f->consumers[f->links[l].consumer].target[a].dim) visit(f, l, a, &reads, user);
  }
}

/* A list of blocks under way. */
typedef struct block_list {
  pol_block *blocks;
  int count;
} block_list;

static void list_coupling(const pol_formulation *f, int link, int target,
                          const poli_signal_reads *reads, void *user)
{
  block_list *list = user;
  const poli_target *row = &f->consumers[f->links[link].consumer].target[target];
  for (int b = 0; b < 2; b++) {
    poli_target col = target_of(f, reads->body[b]);
    if (col.dim) list->blocks[list->count++] = (pol_block){row->v, col.v, row->dim, col.dim};
  }
  if (reads->state >= 0)
    list->blocks[list->count++] = (pol_block){row->v, f->state_v + reads->state, row->dim, 1};
}

int poli_expressions_coupling(const pol_formulation *formulation, int count, pol_block *blocks)
{
  block_list list = {blocks, count};
  for (int i = 0; i < formulation->network.num_states; i++)
    blocks[list.count++] = (pol_block){formulation->state_v + i, formulation->state_v + i, 1, 1};
  each_block(formulation, list_coupling, &list);
  return list.count;
}

static void list_feedback(const pol_formulation *f, int link, int target,
                          const poli_signal_reads *reads, void *user)
{
  block_list *list = user;
  const poli_target *row = &f->consumers[f->links[link].consumer].target[target];
  if (reads->num_rows)
    list->blocks[list->count++] = (pol_block){row->v, reads->row, row->dim, reads->num_rows};
}

pol_status poli_expressions_feedback(pol_formulation *formulation)
{
  pol_formulation *f = formulation;
  block_list list = {calloc(2 * (size_t)f->num_links + 1, sizeof(pol_block)), 0};
  if (!list.blocks) return POL_NO_MEMORY;
  each_block(f, list_feedback, &list);
  pol_status status = POL_OK;
  if (list.count)
    status = pol_pattern_create(&f->feedback, f->dae.group.nv, pol_dae_num_constraints(&f->dae),
                                list.count, list.blocks);
  free(list.blocks);
  return status;
}

static void place_link(const pol_formulation *f, int link, int target,
                       const poli_signal_reads *reads, void *user)
{
  poli_link *l = (poli_link *)user + link;
  int row = f->consumers[l->consumer].target[target].v;
  for (int b = 0; b < 2; b++)
    if (reads->body[b] != POL_GROUND)
      l->coupling[target][b] = poli_slot_at(f->coupling, row, f->bodies[reads->body[b]].v);
  if (reads->state >= 0)
    l->state[target] = poli_slot_at(f->coupling, row, f->state_v + reads->state);
  if (reads->num_rows) l->feedback[target] = poli_slot_at(f->feedback, row, reads->row);
}

void poli_formulation_place_expressions(pol_formulation *formulation)
{
  each_block(formulation, place_link, formulation->links);
}

/* --- undetermined reactions ------------------------------------------------------------------- */

/* A signal whose gradient by the multipliers is s does not depend on multipliers without a
 * reaction, B^T lambda = 0, if and only if s is in the range of B: then its projection to it is s
 * itself. */
static int is_open(poli_least_norm *least, const pol_point *at, const poli_signal_gradient *g,
                   int m, double *projected)
{
  double size = 0.0, away = 0.0;
  memset(projected, 0, (size_t)m * sizeof *projected);
  for (int i = 0; i < g->reads.num_rows; i++) {
    projected[g->reads.row + i] = g->lambda[i];
    size = fmax(size, fabs(g->lambda[i]));
  }
  if (poli_least_norm_apply(least, at, projected)) return 0;
  for (int i = 0; i < g->reads.num_rows; i++)
    away = fmax(away, fabs(projected[g->reads.row + i] - g->lambda[i]));
  return away > fmax(1e-6 * size, 1e-12); /* a hinge has no torque about its axis, to round-off */
}

pol_status poli_expressions_find_open(const pol_formulation *formulation, pol_solver_kind solver,
                                      const pol_point *at, int count, const poli_signal *signals,
                                      char *name, size_t size)
{
  const pol_formulation *f = formulation;
  int m = pol_dae_num_constraints(&f->dae), open = 0;
  poli_least_norm *least = NULL;
  double *projected = calloc((size_t)m + 1, sizeof *projected);
  pol_status status = projected ? poli_least_norm_create(&least, &f->dae, solver) : POL_NO_MEMORY;
  name[0] = '\0';
  for (int i = 0; i < count && !open && !status; i++) {
    poli_signal_gradient g;
    if (poli_signal_derivatives(f, &signals[i], at, NULL, &g) || !g.reads.num_rows) continue;
    open = is_open(least, at, &g, m, projected);
    if (open && signals[i].kind == POLI_SIGNAL_DRIVE)
      snprintf(name, size, "drive '%s'",
               pol_mechanism_drive(f->mechanism, signals[i].object)->name);
    else if (open)
      snprintf(name, size, "joint '%s'",
               pol_mechanism_joint(f->mechanism, signals[i].object)->name);
  }
  poli_least_norm_free(&least);
  free(projected);
  return status;
}

int poli_expressions_read(const pol_formulation *formulation, poli_signal *signals)
{
  const poli_network *n = &formulation->network;
  int count = 0;
  for (int input = n->num_variables; input < n->num_inputs; input++)
    if (n->active[input]) signals[count++] = n->inputs[input];
  return count;
}

/* --- values ----------------------------------------------------------------------------------- */

size_t poli_expressions_scratch(const pol_formulation *formulation)
{
  const poli_network *n = &formulation->network;
  return (size_t)n->num_weights + n->workspace +
         (size_t)formulation->num_consumers * (sizeof(shape) / sizeof(double));
}

pol_status poli_expressions_inputs(const pol_formulation *formulation, const pol_point *at,
                                   const poli_frame *frames, int all, double *x)
{
  const poli_network *n = &formulation->network;
  for (int i = n->num_variables; i < n->num_inputs; i++) {
    if (!all && !n->active[i]) continue;
    pol_status status = poli_signal_value(formulation, &n->inputs[i], at, frames, &x[i]);
    if (status) return status;
  }
  poli_network_set_variables(n, all, x);
  return POL_OK;
}

/* Puts a number where an expression of the force stands. */
static void set_effort(pol_force *force, int component, double value)
{
  if (pol_force_num_expressions(force->type) == 1)
    force->actuator = value;
  else
    force->vector[component] = value;
}

/* A copy of a force whose numbers can be changed. */
static void start_change(const poli_placed_force *force, poli_changed_force *changed)
{
  changed->numbers = *force->kernel.force;
  changed->placed = *force;
  changed->placed.kernel.force = changed->placed.spring.force = &changed->numbers;
}

const poli_placed_force *poli_expressions_force(const pol_formulation *formulation, int index,
                                                const double *x, poli_changed_force *changed,
                                                pol_status *status)
{
  const poli_placed_force *force = &formulation->forces[index];
  const char *const *expressions = force->kernel.force->expressions;
  if (!expressions[0] && !expressions[1] && !expressions[2]) return force;
  start_change(force, changed);
  for (int i = 0; i < 3; i++) {
    if (!expressions[i]) continue;
    double value = poli_network_value(&formulation->network, force->effort[i], x);
    if (!isfinite(value)) *status = POL_RETRY;
    set_effort(&changed->numbers, i, value);
  }
  return &changed->placed;
}

const poli_placed_force *poli_expressions_actuator(const poli_placed_force *force,
                                                   poli_changed_force *changed)
{
  start_change(force, changed);
  for (int i = 0; i < 3; i++) changed->numbers.stiffness[i] = changed->numbers.damping[i] = 0.0;
  return &changed->placed;
}

pol_status poli_expressions_balance(const pol_formulation *formulation, const pol_point *at,
                                    unsigned parts, const double *x, double *balance,
                                    double *failed)
{
  const poli_network *n = &formulation->network;
  for (int i = 0; i < n->num_states; i++) {
    int row = formulation->state_v + i;
    if (parts & POL_INERTIA) balance[row] += at->vd[row];
    if (!(parts & POL_FORCE)) continue;
    double rate = poli_network_value(n, n->num_variables + i, x);
    if (!isfinite(rate)) {
      *failed = -(formulation->num_forces + 2 + i);
      return POL_RETRY;
    }
    balance[row] -= rate;
  }
  return POL_OK;
}

/* --- derivatives ------------------------------------------------------------------------------ */

/* out += (row of a frame's six) map, the map of a body: L or N1; N1 = 0 where the chart is direct
 */
static void add_row(const pol_formulation *f, const pol_point *at, const poli_chart_maps *maps,
                    int body, const double row[6], int turned, double *out)
{
  const poli_chart *chart = f->bodies[body].chart;
  if (chart->polynomial) {
    poli_directors_add_row(f, at, body, row, turned, out);
    return;
  }
  for (int j = 0; j < chart->dim; j++) {
    if (chart->direct) {
      out[j] += turned ? 0.0 : row[6 - chart->dim + j];
      continue;
    }
    const double(*map)[POLI_CHART_MAX_DIM] = turned ? maps[body].N1 : maps[body].L;
    for (int i = 0; i < 6; i++) out[j] += row[i] * map[i][j];
  }
}

/* The force with a unit effort and nothing else. */
static void make_unit(const poli_placed_force *force, int component, poli_changed_force *unit)
{
  pol_force *numbers = &unit->numbers;
  start_change(force, unit);
  for (int i = 0; i < 3; i++)
    numbers->vector[i] = numbers->stiffness[i] = numbers->damping[i] = 0.0;
  numbers->actuator = 0.0;
  set_effort(numbers, component, 1.0);
}

static const poli_frame *frame_of(const poli_frame *frames, int body)
{
  return body == POL_GROUND ? poli_ground_frame() : &frames[body];
}

/* G of a consumer in coordinates: L^T of its wrenches, or 1. */
static pol_status set_shape(const pol_formulation *f, const poli_consumer *consumer,
                            const pol_point *at, const poli_frame *frames,
                            const poli_chart_maps *maps, shape *G)
{
  memset(G, 0, sizeof *G);
  if (consumer->force < 0) {
    G->part[0][0] = 1.0;
    return POL_OK;
  }
  poli_changed_force unit;
  double wrench[2][6];
  make_unit(&f->forces[consumer->force], consumer->component, &unit);
  const int *body = unit.placed.kernel.body;
  pol_status status = poli_placed_wrenches(&unit.placed, at, frame_of(frames, body[0]),
                                           frame_of(frames, body[1]), wrench);
  for (int a = 0; a < 2 && !status; a++)
    if (body[a] != POL_GROUND) add_row(f, at, maps, body[a], wrench[a], 0, G->part[a]);
  return status;
}

/* The same in directors and between two configurations: what the unit effort adds to the balance.
 */
static pol_status set_directors_shape(const pol_formulation *f, const poli_consumer *consumer,
                                      const pol_point *at, const poli_expression_way *way,
                                      double *balance, shape *G)
{
  memset(G, 0, sizeof *G);
  if (consumer->force < 0) {
    G->part[0][0] = 1.0;
    return POL_OK;
  }
  poli_changed_force unit;
  const pol_terms out = {.balance = balance};
  memset(balance, 0, (size_t)f->dae.group.nv * sizeof *balance);
  make_unit(&f->forces[consumer->force], consumer->component, &unit);
  pol_status status =
      way->q0 ? poli_directors_force_between(f, &unit.placed, way->q0, way->q1, at, POL_FORCE, &out)
              : poli_directors_force(f, &unit.placed, at, 1.0, POL_FORCE, &out);
  for (int a = 0; a < 2; a++)
    for (int j = 0; j < consumer->target[a].dim; j++)
      G->part[a][j] = -balance[consumer->target[a].v + j];
  return status;
}

/* values[slot] -= scale column row^T */
static void subtract_outer(double *values, poli_slot slot, double scale, const double *column,
                           int rows, const double *row, int cols)
{
  for (int j = 0; j < cols; j++)
    for (int i = 0; i < rows; i++)
      values[slot.address + j * slot.stride + i] -= scale * column[i] * row[j];
}

/* What a signal adds by way of one link; share: of the stiffness. */
static void add_link(const pol_formulation *f, const poli_link *link, unsigned want,
                     const pol_terms *out, const poli_signal_gradient *g, const shape *by_q,
                     const shape *by_v, double weight, double share, const shape *G)
{
  static const double one = 1.0;
  for (int a = 0; a < 2; a++) {
    int rows = f->consumers[link->consumer].target[a].dim;
    const double *column = G->part[a];
    for (int b = 0; b < 2 && rows; b++) {
      int cols = target_of(f, g->reads.body[b]).dim;
      if (cols && want & POL_STIFFNESS)
        subtract_outer(out->stiffness, link->coupling[a][b], share * weight, column, rows,
                       by_q->part[b], cols);
      if (cols && want & POL_DAMPING)
        subtract_outer(out->damping, link->coupling[a][b], weight, column, rows, by_v->part[b],
                       cols);
    }
    if (g->reads.state >= 0 && want & POL_DAMPING)
      subtract_outer(out->damping, link->state[a], weight, column, rows, &one, 1);
    if (g->reads.num_rows && want & POL_FEEDBACK)
      subtract_outer(out->feedback, link->feedback[a], weight, column, rows, g->lambda,
                     g->reads.num_rows);
  }
}

/* The derivatives of a signal by the coordinates and velocities of its bodies. */
static void map_gradient(const pol_formulation *f, const pol_point *at, const poli_chart_maps *maps,
                         const poli_signal_gradient *g, shape *by_q, shape *by_v)
{
  memset(by_q, 0, sizeof *by_q);
  memset(by_v, 0, sizeof *by_v);
  for (int b = 0; b < 2; b++) {
    if (g->reads.body[b] == POL_GROUND) continue;
    add_row(f, at, maps, g->reads.body[b], g->position + 6 * b, 0, by_q->part[b]);
    add_row(f, at, maps, g->reads.body[b], g->velocity + 6 * b, 1, by_q->part[b]);
    add_row(f, at, maps, g->reads.body[b], g->velocity + 6 * b, 0, by_v->part[b]);
  }
}

/* The weights of all signals in all consumers, then what each signal adds. */
static pol_status add_links(const pol_formulation *f, const pol_point *at, unsigned want,
                            const pol_terms *out, const poli_frame *frames,
                            const poli_chart_maps *maps, const double *x, double share,
                            const shape *G, double *weights)
{
  const poli_network *n = &f->network;
  shape by_q, by_v;
  poli_network_weights(n, x, weights, weights + n->num_weights);
  for (int input = 0; input < n->num_inputs; input++) {
    poli_signal_gradient g;
    if (f->link_start[input] == f->link_start[input + 1]) continue;
    pol_status status = poli_signal_derivatives(f, &n->inputs[input], at, frames, &g);
    if (status) return status;
    map_gradient(f, at, maps, &g, &by_q, &by_v);
    for (int l = f->link_start[input]; l < f->link_start[input + 1]; l++)
      add_link(f, &f->links[l], want, out, &g, &by_q, &by_v, weights[f->links[l].weight], share,
               &G[f->links[l].consumer]);
  }
  return POL_OK;
}

static void add_mass_of_states(const pol_formulation *f, unsigned want, const pol_terms *out)
{
  for (int i = 0; i < f->network.num_states && want & POL_MASS; i++)
    out->mass[pol_pattern_address(f->coupling, f->state_v + i, f->state_v + i)] += 1.0;
}

pol_status poli_expressions_add(const pol_formulation *formulation, const pol_point *at,
                                unsigned want, const pol_terms *out, const poli_frame *frames,
                                const poli_chart_maps *maps, const double *x, double *scratch)
{
  const pol_formulation *f = formulation;
  double *weights = scratch + (size_t)f->num_consumers * (sizeof(shape) / sizeof(double));
  shape *G = (shape *)scratch;
  add_mass_of_states(f, want, out);
  if (!(want & (POL_DAMPING | POL_STIFFNESS | POL_FEEDBACK))) return POL_OK;
  for (int c = 0; c < f->num_consumers; c++) {
    pol_status status = set_shape(f, &f->consumers[c], at, frames, maps, &G[c]);
    if (status) return status;
  }
  return add_links(f, at, want, out, frames, maps, x, 1.0, G, weights);
}

pol_status poli_expressions_add_directors(const pol_formulation *formulation, const pol_point *at,
                                          const poli_expression_way *way, unsigned want,
                                          const pol_terms *out, const poli_frame *frames,
                                          const double *x, double *scratch)
{
  const pol_formulation *f = formulation;
  double *weights = scratch + (size_t)f->num_consumers * (sizeof(shape) / sizeof(double));
  shape *G = (shape *)scratch;
  add_mass_of_states(f, want, out);
  if (!(want & (POL_DAMPING | POL_STIFFNESS | POL_FEEDBACK))) return POL_OK;
  for (int c = 0; c < f->num_consumers; c++) {
    pol_status status = set_directors_shape(f, &f->consumers[c], at, way, way->balance, &G[c]);
    if (status) return status;
  }
  return add_links(f, at, want, out, frames, NULL, x, way->q0 ? 0.5 : 1.0, G, weights);
}

/* --- faults ----------------------------------------------------------------------------------- */

void poli_expressions_blame(const pol_formulation *formulation, int number, char *text, size_t size)
{
  const pol_formulation *f = formulation;
  int state = number - f->num_forces - 2;
  if (number <= f->num_forces)
    snprintf(text, size, "force '%s': its expression has no finite value",
             f->forces[number - 1].kernel.force->name);
  else if (state < 0)
    snprintf(text, size, "an expression reads an angle that is not defined");
  else
    snprintf(text, size, "state '%s': its rate has no finite value",
             pol_mechanism_state(f->mechanism, state)->name);
}

/* --- outputs ---------------------------------------------------------------------------------- */

void poli_instant_variables(const poli_instant *now, double *values)
{
  const poli_network *n = &now->formulation->network;
  double x[POLI_MAX_INPUTS];
  if (n->num_variables == 0) return;
  memset(x, 0, (size_t)n->num_inputs * sizeof *x);
  pol_status status = poli_expressions_inputs(now->formulation, &now->at, now->frames, 1, x);
  for (int i = 0; i < n->num_variables; i++) values[i] = status ? (double)NAN : x[i];
}

void pol_formulation_variables(const pol_formulation *formulation, const pol_point *at,
                               double *values)
{
  poli_instant_variables(&(poli_instant){formulation, *at, NULL}, values);
}

double pol_formulation_state_variable(const pol_formulation *formulation, const pol_point *at,
                                      int state)
{
  return at->v[formulation->state_v + state];
}
