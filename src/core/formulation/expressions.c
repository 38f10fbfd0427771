/* Expressions in the equations; see expressions.h.  Every derivative is a column of a consumer, an
 * effort or a rate, times the row of a signal: a link. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "dae/least_norm.h"
#include "formulation/directors.h"
#include "formulation/expressions.h"
#include "formulation/output.h"

/* The unit wrenches of a consumer, or the derivatives of a signal, in the coordinates of two
 * bodies, f->widest numbers each. */
typedef struct shape {
  double *part[2];
} shape;

/* --- set-up ----------------------------------------------------------------------------------- */

static poli_target target_of(const pol_formulation *f, int body)
{
  poli_target none = {0, 0};
  if (body == POL_GROUND) return none;
  return (poli_target){f->bodies[body].v, f->bodies[body].chart->dim};
}

pol_status poli_formulation_link_expressions(pol_formulation *formulation)
{
  pol_formulation *f = formulation;
  const poli_network *n = &f->network;
  int node = n->num_variables, links = 0;
  for (int k = n->num_variables; k < n->num_nodes; k++) links += n->nodes[k].num_sources;
  poli_arena arena = {0};
  do {
    POLI_TAKE(&arena, f->consumers, n->num_states + n->num_efforts);
    POLI_TAKE(&arena, f->links, links);
    POLI_TAKE(&arena, f->link_start, n->num_inputs + 1);
  } while (poli_arena_again(&arena));
  f->links_memory = arena.memory;
  if (!f->links_memory) return POL_NO_MEMORY;

  /* the rates of states, then the efforts of forces */
  for (int i = 0; i < n->num_states; i++)
    f->consumers[f->num_consumers++] =
        (poli_consumer){.node = node++, .force = -1, .target = {{f->state_v + i, 1}}};
  for (int k = 0; k < f->num_forces; k++) {
    poli_placed_force *force = &f->forces[k];
    const int *body = force->kernel.body;
    for (int i = 0; i < 3; i++) {
      if (!force->kernel.force->expressions[i]) continue;
      force->effort[i] = node;
      f->consumers[f->num_consumers++] =
          (poli_consumer){.node = node++,
                          .force = k,
                          .component = i,
                          .target = {target_of(f, body[0]), target_of(f, body[1])}};
    }
  }

  /* by signals, so that each is differentiated once */
  for (int input = 0; input < n->num_inputs; input++) {
    f->link_start[input] = f->num_links;
    for (int c = 0; c < f->num_consumers; c++) {
      const poli_node *reader = &n->nodes[f->consumers[c].node];
      for (int k = 0; k < reader->num_sources; k++)
        if (reader->sources[k] == input)
          f->links[f->num_links++] = (poli_link){.consumer = c, .weight = reader->weight + k};
    }
  }
  f->link_start[n->num_inputs] = f->num_links;
  return POL_OK;
}

size_t poli_expressions_max_blocks(const pol_formulation *formulation)
{
  return 6 * (size_t)formulation->num_links + (size_t)formulation->network.num_states;
}

/* A walk over the parts of the matrices that links may fill: lists their blocks, or looks up where
 * they are. */
typedef struct link_walk {
  pol_block *coupling, *feedback; /* one of them is listed; both NULL: looks up */
  int count;
} link_walk;

/* These rows of a target, and columns of the coupling or the feedback. */
static void visit(const pol_formulation *f, link_walk *w, int is_feedback, const poli_target *row,
                  int col, int cols, poli_slot *slot)
{
  pol_block *list = is_feedback ? w->feedback : w->coupling;
  if (list)
    list[w->count++] = (pol_block){row->v, col, row->dim, cols};
  else if (!w->coupling && !w->feedback)
    *slot = poli_slot_at(is_feedback ? f->feedback : f->coupling, row->v, col);
}

static void visit_links(const pol_formulation *f, link_walk *w)
{
  for (int input = 0; input < f->network.num_inputs; input++) {
    if (f->link_start[input] == f->link_start[input + 1]) continue;
    const poli_signal_reads reads = poli_signal_dependence(f, &f->network.inputs[input]);
    for (int l = f->link_start[input]; l < f->link_start[input + 1]; l++) {
      poli_link *link = &f->links[l];
      for (int a = 0; a < 2; a++) {
        const poli_target *row = &f->consumers[link->consumer].target[a];
        if (!row->dim) continue;
        for (int b = 0; b < 2; b++) {
          const poli_target col = target_of(f, reads.body[b]);
          if (col.dim) visit(f, w, 0, row, col.v, col.dim, &link->coupling[a][b]);
        }
        /* all columns of a body have the same rows, so that blocks have one stride */
        if (reads.column >= 0)
          visit(f, w, 0, row, w->coupling ? reads.owner.v : reads.column, reads.owner.dim,
                &link->column[a]);
        if (reads.num_rows) visit(f, w, 1, row, reads.row, reads.num_rows, &link->feedback[a]);
      }
    }
  }
}

/* The same for friction, which depends on the multipliers of its joint. */
static void visit_friction(const pol_formulation *f, link_walk *w)
{
  for (int k = 0; k < f->num_forces; k++) {
    poli_placed_force *force = &f->forces[k];
    const int rows = force->spring.load.num_rows;
    for (int a = 0; a < 2 && rows > 0; a++) {
      const poli_target target = target_of(f, force->kernel.body[a]);
      if (target.dim) visit(f, w, 1, &target, force->load_row, rows, &force->feedback[a]);
    }
  }
}

int poli_expressions_coupling(const pol_formulation *formulation, int count, pol_block *blocks)
{
  link_walk list = {.coupling = blocks, .count = count};
  for (int i = 0; i < formulation->network.num_states; i++)
    blocks[list.count++] = (pol_block){formulation->state_v + i, formulation->state_v + i, 1, 1};
  visit_links(formulation, &list);
  return list.count;
}

pol_status poli_expressions_feedback(pol_formulation *formulation)
{
  pol_formulation *f = formulation;
  const size_t most = 2 * ((size_t)f->num_links + (size_t)f->num_forces);
  link_walk list = {.feedback = calloc(most + 1, sizeof(pol_block))};
  if (!list.feedback) return POL_NO_MEMORY;
  visit_links(f, &list);
  visit_friction(f, &list);
  pol_status status = POL_OK;
  if (list.count)
    status = pol_pattern_create(&f->feedback, f->dae.group.nv, pol_dae_num_constraints(&f->dae),
                                list.count, list.feedback);
  free(list.feedback);
  return status;
}

void poli_formulation_place_expressions(pol_formulation *formulation)
{
  link_walk places = {.count = 0};
  visit_links(formulation, &places);
  visit_friction(formulation, &places);
}

/* --- undetermined reactions ------------------------------------------------------------------- */

/* A signal whose gradient by the multipliers is s does not depend on multipliers without a
 * reaction, B^T lambda = 0, if and only if s is in the range of B: then its projection to it is s
 * itself. */
pol_status poli_expressions_find_open(const pol_formulation *formulation, pol_solver_kind solver,
                                      const pol_point *at, int count, const poli_signal *signals,
                                      char *name, size_t size)
{
  const pol_formulation *f = formulation;
  const size_t m = (size_t)pol_dae_num_constraints(&f->dae);
  poli_least_norm *least = NULL;
  double *projected = calloc(m + 1, sizeof *projected);
  pol_status status = projected ? poli_least_norm_create(&least, &f->dae, solver) : POL_NO_MEMORY;
  name[0] = '\0';
  for (int i = 0; i < count && !name[0] && !status; i++) {
    const int object = signals[i].object, is_drive = signals[i].kind == POLI_SIGNAL_DRIVE;
    poli_signal_gradient g;
    double largest = 0.0, away = 0.0;
    if (poli_signal_derivatives(f, &signals[i], at, NULL, &g) || !g.reads.num_rows) continue;
    memset(projected, 0, m * sizeof *projected);
    memcpy(projected + g.reads.row, g.lambda, (size_t)g.reads.num_rows * sizeof *projected);
    if (poli_least_norm_apply(least, at, projected)) continue;
    for (int k = 0; k < g.reads.num_rows; k++) {
      largest = fmax(largest, fabs(g.lambda[k]));
      away = fmax(away, fabs(projected[g.reads.row + k] - g.lambda[k]));
    }
    /* a hinge has no torque about its axis, to round-off */
    if (!(away > fmax(1e-6 * largest, 1e-12))) continue;
    snprintf(name, size, "%s '%s'", is_drive ? "drive" : "joint",
             is_drive ? pol_mechanism_drive(f->mechanism, object)->name
                      : pol_mechanism_joint(f->mechanism, object)->name);
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
  /* friction reads the multipliers of its joint */
  for (int k = 0; k < formulation->num_forces; k++) {
    const poli_placed_force *force = &formulation->forces[k];
    for (int i = 0; i < force->spring.load.num_rows && count < POLI_MAX_INPUTS; i++)
      if (force->spring.load.weight[force->spring.load.part[i]] != 0.0)
        signals[count++] = (poli_signal){
            .kind = POLI_SIGNAL_MULTIPLIER, .object = force->kernel.force->joint, .component = i};
  }
  return count;
}

/* --- values ----------------------------------------------------------------------------------- */

static size_t shape_size(const pol_formulation *f)
{
  return 2 * (size_t)f->widest;
}

/* Shape `index` among those in scratch, set to zero. */
static shape clear_shape(const pol_formulation *f, double *scratch, int index)
{
  double *first = scratch + (size_t)index * shape_size(f);
  memset(first, 0, shape_size(f) * sizeof *first);
  return (shape){{first, first + f->widest}};
}

size_t poli_expressions_scratch(const pol_formulation *formulation)
{
  const poli_network *n = &formulation->network;
  return (size_t)n->num_weights + n->workspace +
         ((size_t)formulation->num_consumers + 2) * shape_size(formulation);
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
  const double *held = at->history ? at->history + formulation->held : NULL;
  poli_network_set_variables(n, all, held, x);
  return POL_OK;
}

int poli_expressions_num_margins(const pol_formulation *formulation)
{
  const poli_network *n = &formulation->network;
  int count = 0;
  for (int i = n->num_variables; i < n->num_inputs; i++)
    if (n->active[i] && n->inputs[i].kind >= POLI_SIGNAL_FORCE) return 0;
  for (int i = 0; i < n->num_nodes; i++)
    if (i >= n->num_variables || n->active[i])
      count += poli_expression_num_margins(n->nodes[i].program);
  return count;
}

void poli_expressions_margins(const pol_point *at, double *margins, const void *formulation)
{
  const pol_formulation *f = formulation;
  const poli_network *n = &f->network;
  double x[POLI_MAX_INPUTS];
  const pol_status status = poli_expressions_inputs(f, at, NULL, 0, x);
  for (int i = 0; i < n->num_nodes; i++) {
    const int count = poli_expression_num_margins(n->nodes[i].program);
    if (i < n->num_variables && !n->active[i]) continue;
    if (status == POL_OK) poli_expression_margins(n->nodes[i].program, x, margins);
    for (int k = 0; k < count && status != POL_OK; k++) margins[k] = (double)NAN;
    margins += count;
  }
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
static void add_row(const pol_formulation *f, const pol_point *at, const poli_frame_maps *maps,
                    int body, const double row[6], int turned, double *out)
{
  const poli_chart *chart = f->bodies[body].chart;
  if (chart->polynomial) {
    poli_directors_add_row(f, at, body, row, turned, out);
    return;
  }
  if (chart->direct) {
    for (int j = 0; j < chart->dim && !turned; j++) out[j] += row[6 - chart->dim + j];
    return;
  }
  const poli_map_view map = poli_map_of(f->bodies, body, maps, turned ? POLI_N1 : POLI_L);
  for (int j = 0; j < chart->dim; j++)
    for (int i = 0; i < 6; i++) out[j] += row[i] * map.entries[i * map.width + j];
}

/* The force with a unit effort and nothing else. */
static void set_unit(const poli_placed_force *force, int component, poli_changed_force *unit)
{
  pol_force *numbers = &unit->numbers;
  start_change(force, unit);
  for (int i = 0; i < 3; i++)
    numbers->vector[i] = numbers->stiffness[i] = numbers->damping[i] = 0.0;
  numbers->actuator = 0.0;
  set_effort(numbers, component, 1.0);
}

/* G of a consumer in coordinates, 1 of a rate.  Of an effort L^T of the wrenches of the force with
 * a unit effort and nothing else; in directors what that adds to the balance, at the point or
 * between two configurations. */
static pol_status set_shape(const pol_formulation *f, const poli_consumer *consumer,
                            const pol_point *at, const poli_expression_way *way,
                            const poli_frame *frames, const poli_frame_maps *maps, const shape *G)
{
  if (consumer->force < 0) {
    G->part[0][0] = 1.0;
    return POL_OK;
  }
  poli_changed_force unit;
  set_unit(&f->forces[consumer->force], consumer->component, &unit);
  pol_status status;
  if (!way) {
    const int *body = unit.placed.kernel.body;
    double wrench[2][6];
    status = poli_placed_wrenches(&unit.placed, at, poli_frame_of(frames, body[0]),
                                  poli_frame_of(frames, body[1]), wrench);
    for (int a = 0; a < 2 && !status; a++)
      if (body[a] != POL_GROUND) add_row(f, at, maps, body[a], wrench[a], 0, G->part[a]);
    return status;
  }
  const pol_terms out = {.balance = way->balance};
  memset(way->balance, 0, (size_t)f->dae.group.nv * sizeof *way->balance);
  status =
      way->q0 ? poli_directors_force_between(f, &unit.placed, way->q0, way->q1, at, POL_FORCE, &out)
              : poli_directors_force(f, &unit.placed, at, 1.0, POL_FORCE, &out);
  for (int a = 0; a < 2; a++)
    for (int j = 0; j < consumer->target[a].dim; j++)
      G->part[a][j] = -way->balance[consumer->target[a].v + j];
  return status;
}

pol_status poli_expressions_unit_force(const pol_formulation *formulation, const pol_point *at,
                                       int force, int component, double *out)
{
  const pol_formulation *f = formulation;
  poli_changed_force unit;
  poli_frame frames[2];
  double wrench[2][6];
  set_unit(&f->forces[force], component, &unit);
  unit.numbers.scale = NULL;
  const int *body = unit.placed.kernel.body;
  poli_formulation_frames(f, at->q, at->v, body, frames);
  const pol_status status = poli_placed_wrenches(&unit.placed, at, &frames[0], &frames[1], wrench);
  for (int a = 0; a < 2 && !status; a++)
    if (body[a] != POL_GROUND) poli_formulation_pull_back(f, at->q, body[a], wrench[a], out);
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
    if (g->reads.column >= 0 && want & (g->reads.of_position ? POL_STIFFNESS : POL_DAMPING))
      subtract_outer(g->reads.of_position ? out->stiffness : out->damping, link->column[a], weight,
                     column, rows, &one, 1);
    if (g->reads.num_rows && want & POL_FEEDBACK)
      subtract_outer(out->feedback, link->feedback[a], weight, column, rows, g->lambda,
                     g->reads.num_rows);
  }
}

pol_status poli_expressions_add(const pol_formulation *formulation, const pol_point *at,
                                const poli_expression_way *way, unsigned want, const pol_terms *out,
                                const poli_frame *frames, const poli_frame_maps *maps,
                                const double *x, double *scratch)
{
  const pol_formulation *f = formulation;
  const poli_network *n = &f->network;
  /* shapes: those of the consumers, then the derivatives of a signal by q and by v */
  const int consumers = f->num_consumers;
  double *weights = scratch + ((size_t)consumers + 2) * shape_size(f);
  for (int i = 0; i < n->num_states && want & POL_MASS; i++)
    out->mass[pol_pattern_address(f->coupling, f->state_v + i, f->state_v + i)] += 1.0;
  if (!(want & (POL_DAMPING | POL_STIFFNESS | POL_FEEDBACK))) return POL_OK;
  for (int c = 0; c < consumers; c++) {
    const shape G = clear_shape(f, scratch, c);
    pol_status status = set_shape(f, &f->consumers[c], at, way, frames, maps, &G);
    if (status) return status;
  }

  /* the weights of all signals in all consumers, then what each signal adds */
  const double share = way && way->q0 ? 0.5 : 1.0;
  poli_network_weights(n, 0, x, weights, weights + n->num_weights);
  for (int input = 0; input < n->num_inputs; input++) {
    poli_signal_gradient g;
    if (f->link_start[input] == f->link_start[input + 1]) continue;
    const shape by_q = clear_shape(f, scratch, consumers);
    const shape by_v = clear_shape(f, scratch, consumers + 1);
    pol_status status = poli_signal_derivatives(f, &n->inputs[input], at, frames, &g);
    if (status) return status;
    for (int b = 0; b < 2; b++) {
      const int body = g.reads.body[b];
      if (body == POL_GROUND) continue;
      add_row(f, at, maps, body, g.position + 6 * b, 0, by_q.part[b]);
      add_row(f, at, maps, body, g.velocity + 6 * b, 1, by_q.part[b]);
      add_row(f, at, maps, body, g.velocity + 6 * b, 0, by_v.part[b]);
    }
    for (int l = f->link_start[input]; l < f->link_start[input + 1]; l++) {
      double *column = scratch + (size_t)f->links[l].consumer * shape_size(f);
      const shape G = {{column, column + f->widest}};
      add_link(f, &f->links[l], want, out, &g, &by_q, &by_v, weights[f->links[l].weight], share,
               &G);
    }
  }
  return POL_OK;
}

/* --- faults ----------------------------------------------------------------------------------- */

void poli_expressions_blame(const pol_formulation *formulation, int number, char *text, size_t size)
{
  const pol_formulation *f = formulation;
  int state = number - f->num_forces - 2;
  if (number <= f->num_forces)
    snprintf(text, size, "force '%s': its expression " POLI_NO_VALUE,
             f->forces[number - 1].kernel.force->name);
  else if (state < 0)
    snprintf(text, size, "an expression reads an angle that is not defined");
  else
    snprintf(text, size, "state '%s': its rate " POLI_NO_VALUE,
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
