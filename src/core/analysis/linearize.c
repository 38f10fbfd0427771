/* The linearised equations with names: states that users can choose, inputs and outputs.
 *
 * linear.c gives z' = A z + B u.  The states x = Z z have a row of Z each: the gradient of a joint
 * coordinate, a position, a rotation or one of their rates.  Candidates are taken in turn as long
 * as each has a part that those before it do not have (Gram-Schmidt).  Then
 *
 *     x' = (Z A + Z') Z^-1 x + Z B u,     y = c Z^-1 x + d u.
 *
 * With g the gradient of a state by the increments of the configuration and velocities, its row of
 * Z is g (W; V), and that of the rate of change along the motion Z' is g' (W; V) + g (W'; V').  g'
 * is that of joint coordinates: positions, rotations and their rates are components along the axes
 * of observation.  Z' is zero in a steady motion.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "base/arena.h"
#include "formulation/expressions.h"
#include "linalg/eigen.h"

enum { NAME_SIZE = 512, MOST_VELOCITIES = 3000 };

/* A quantity with its gradient by the changes of the state. */
typedef struct gradient {
  double *q, *v, *lambda; /* nv, nv, m */
} gradient;

typedef struct naming {
  pol_analysis *a;
  const pol_formulation *f;
  const pol_linear_options *options;
  pol_errors *errors;
  poli_linear *lin;
  pol_point at;
  void *memory;
  poli_input *inputs;
  double *forces; /* nv numbers for each input */
  gradient g;     /* of the quantity at hand */
  double *row;    /* nx: the same by z */
  double *part;   /* nx: what others do not have of it */
  double *basis;  /* nx x nx: orthonormal rows of those that were chosen */
  double *Z;      /* nx x nx, by rows */
  char (*names)[NAME_SIZE];
  const char **units;
  int num_chosen;
  double *inverse, *product, *bound; /* nx x nx */
} naming;

/* --- gradients ---------------------------------------------------------------------------------
 */

/* g += weight times the gradient of a signal. */
static pol_status add_signal(naming *n, const poli_signal *signal, double weight)
{
  poli_signal_gradient own;
  const pol_status status = poli_signal_derivatives(n->f, signal, &n->at, NULL, &own);
  if (status) return status;
  for (int k = 0; k < 2; k++) {
    if (own.reads.body[k] == POL_GROUND) continue;
    const pol_status added =
        poli_formulation_add_rows(n->f, &n->at, own.reads.body[k], weight, own.position + 6 * k,
                                  own.velocity + 6 * k, n->g.q, n->g.v);
    if (added) return added;
  }
  for (int i = 0; i < own.reads.num_rows; i++)
    n->g.lambda[own.reads.row + i] += weight * own.lambda[i];
  if (own.reads.column >= 0) (own.reads.of_position ? n->g.q : n->g.v)[own.reads.column] += weight;
  return POL_OK;
}

/* The same of a variable, by way of the signals that it reads. */
static pol_status add_variable(naming *n, int variable)
{
  const poli_network *network = &n->f->network;
  double *x = calloc(
      (size_t)network->num_inputs + (size_t)network->num_weights + network->workspace, sizeof *x);
  if (!x) return POL_NO_MEMORY;
  double *weights = x + network->num_inputs;
  pol_status status = poli_expressions_inputs(n->f, &n->at, NULL, 1, x);
  if (!status) poli_network_weights(network, 1, x, weights, weights + network->num_weights);
  const poli_node *node = &network->nodes[variable];
  for (int k = 0; k < node->num_sources && !status; k++)
    status = add_signal(n, &network->inputs[node->sources[k]], weights[node->weight + k]);
  free(x);
  return status;
}

static void clear(naming *n)
{
  memset(n->g.q, 0, (size_t)n->lin->nv * sizeof *n->g.q);
  memset(n->g.v, 0, (size_t)n->lin->nv * sizeof *n->g.v);
  memset(n->g.lambda, 0, (size_t)n->lin->m * sizeof *n->g.lambda);
}

/* row = g by z; with multipliers the columns of inputs follow, nx + nu numbers. */
static void set_row(const naming *n, int with_inputs, double *row)
{
  const poli_linear *lin = n->lin;
  for (int j = 0; j < lin->nx + (with_inputs ? lin->nu : 0); j++) {
    const double *lambda = lin->lambda + poli_at(0, j, lin->m);
    row[j] = 0.0;
    for (int i = 0; i < lin->nv && j < lin->nx; i++)
      row[j] +=
          n->g.q[i] * lin->W[poli_at(i, j, lin->nv)] + n->g.v[i] * lin->V[poli_at(i, j, lin->nv)];
    for (int i = 0; i < lin->m; i++) row[j] += n->g.lambda[i] * lambda[i];
  }
}

/* The same for the choice of states: round-off, compared with the gradient and with the whole
 * motion, is zero.  A coordinate with zeros only does not change. */
static int set_state_row(const naming *n, double *row)
{
  const poli_linear *lin = n->lin;
  double g = 0.0;
  int changes = 0;
  set_row(n, 0, row);
  for (int i = 0; i < lin->nv; i++) g = fmax(g, fmax(fabs(n->g.q[i]), fabs(n->g.v[i])));
  for (int j = 0; j < lin->nx; j++) {
    double motion = 0.0;
    for (int i = 0; i < lin->nv; i++)
      motion = fmax(
          motion, fmax(fabs(lin->W[poli_at(i, j, lin->nv)]), fabs(lin->V[poli_at(i, j, lin->nv)])));
    if (fabs(row[j]) <= 1e-12 * g * motion) row[j] = 0.0;
    changes = changes || row[j] != 0.0;
  }
  return changes;
}

/* --- the choice of states ----------------------------------------------------------------------
 */

/* A coordinate, and the quantity that is its rate. */
typedef struct coordinate {
  int is_rotation; /* of a body, about its axis: no signal */
  int velocity;    /* then: the index */
  poli_signal value, rate;
  char name[NAME_SIZE], rate_name[NAME_SIZE];
  const char *unit, *rate_unit;
} coordinate;

static pol_status set_gradient(naming *n, const coordinate *c, int is_rate)
{
  clear(n);
  if (!c->is_rotation) return add_signal(n, is_rate ? &c->rate : &c->value, 1.0);
  (is_rate ? n->g.v : n->g.q)[c->velocity] = 1.0;
  return POL_OK;
}

/* Adds the row at hand to the states if it has a part of at least this share that the chosen ones
 * from `first` on do not have in the columns from .. to-1.  Returns whether it has. */
static int choose(naming *n, int first, int from, int to, double share, const char *name,
                  const char *unit)
{
  const int nx = n->lin->nx;
  double size = 0.0, left = 0.0;
  for (int j = 0; j < nx; j++) n->part[j] = j >= from && j < to ? n->row[j] : 0.0;
  for (int j = from; j < to; j++) size += n->part[j] * n->part[j];
  for (int pass = 0; pass < 2; pass++)
    for (int k = first; k < n->num_chosen; k++) {
      const double *unit_row = n->basis + poli_at(0, k, nx);
      double along = 0.0;
      for (int j = from; j < to; j++) along += unit_row[j] * n->part[j];
      for (int j = from; j < to; j++) n->part[j] -= along * unit_row[j];
    }
  for (int j = from; j < to; j++) left += n->part[j] * n->part[j];
  if (n->num_chosen >= nx || !(sqrt(left) > share * sqrt(size)) || !(size > 0.0)) return 0;
  for (int j = 0; j < nx; j++) {
    n->basis[poli_at(j, n->num_chosen, nx)] = n->part[j] / sqrt(left);
    n->Z[poli_at(j, n->num_chosen, nx)] = n->row[j];
  }
  snprintf(n->names[n->num_chosen], NAME_SIZE, "%s", name);
  n->units[n->num_chosen++] = unit;
  return 1;
}

/* Calls visit with all coordinates that states may be, joints first, until it returns not 0. */
static int each_coordinate(const naming *n, int (*visit)(const coordinate *, void *), void *user)
{
  const pol_mechanism *mechanism = n->f->mechanism;
  int answer = 0;
  coordinate c;
  for (int k = 0; k < n->f->num_joints && !answer; k++) {
    const pol_joint *joint = pol_mechanism_joint(mechanism, k);
    for (int i = 0; i < pol_joint_num_coordinates(joint) && !answer; i++) {
      const pol_coordinate_info *info = pol_joint_coordinate(joint, i);
      c = (coordinate){.value = {POLI_SIGNAL_COORDINATE, k, i},
                       .rate = {POLI_SIGNAL_RATE, k, i},
                       .unit = info->angular ? "rad" : "m",
                       .rate_unit = info->angular ? "rad/s" : "m/s"};
      snprintf(c.name, sizeof c.name, "%s.%s", joint->name, info->name);
      snprintf(c.rate_name, sizeof c.rate_name, "%s.%s", joint->name, info->rate_name);
      answer = visit(&c, user);
    }
  }
  for (int k = 0; k < 6 * n->f->num_bodies && !answer; k++) {
    /* positions of all bodies, then rotations */
    const int turns = k >= 3 * n->f->num_bodies, i = k % 3,
              b = k / 3 - (turns ? n->f->num_bodies : 0);
    const poli_placed_body *body = &n->f->bodies[b];
    if ((turns && !body->chart->num_rotations) || body->reference != b) continue;
    c = (coordinate){.is_rotation = turns,
                     .velocity = body->v + i,
                     .value = {POLI_SIGNAL_POSITION, b, i},
                     .rate = {POLI_SIGNAL_VELOCITY, b, i},
                     .unit = turns ? "rad" : "m",
                     .rate_unit = turns ? "rad/s" : "m/s"};
    snprintf(c.name, sizeof c.name, "%s.%s.%c", body->body->name, turns ? "rotation" : "position",
             "xyz"[i]);
    snprintf(c.rate_name, sizeof c.rate_name, "%s.%s.%c", body->body->name,
             turns ? "angular_velocity" : "velocity", "xyz"[i]);
    answer = visit(&c, user);
  }
  for (int b = 0; b < n->f->num_bodies && !answer; b++) {
    const poli_placed_body *body = &n->f->bodies[b];
    for (int k = 0; k < body->chart->num_modes && body->reference == b && !answer; k++) {
      c = (coordinate){.value = {POLI_SIGNAL_MODE, b, k},
                       .rate = {POLI_SIGNAL_MODE_RATE, b, k},
                       .unit = "1",
                       .rate_unit = "1/s"};
      snprintf(c.name, sizeof c.name, "%s.mode.%d", body->body->name, k + 1);
      snprintf(c.rate_name, sizeof c.rate_name, "%s.mode_rate.%d", body->body->name, k + 1);
      answer = visit(&c, user);
    }
  }
  return answer;
}

/* A pass over the coordinates, for positions or rates. */
typedef struct selection {
  naming *n;
  int is_rate, first, count; /* of the states chosen so far, the first of this kind; wanted */
  double share;
  const char *name; /* the only one of interest, or NULL */
  pol_near near;
  char best[NAME_SIZE];
  coordinate found;
} selection;

static int take(const coordinate *c, void *user)
{
  selection *s = user;
  naming *n = s->n;
  const int np = n->lin->np, nx = n->lin->nx;
  if (n->num_chosen - s->first >= s->count) return 1;
  if (set_gradient(n, c, s->is_rate)) return 0; /* not defined here */
  set_state_row(n, n->row);
  choose(n, s->first, s->is_rate ? np : 0, s->is_rate ? nx : np, s->share,
         s->is_rate ? c->rate_name : c->name, s->is_rate ? c->rate_unit : c->unit);
  return 0;
}

static int find(const coordinate *c, void *user)
{
  selection *s = user;
  pol_near_try(&s->near, c->name);
  if (s->near.best == c->name) {
    snprintf(s->best, sizeof s->best, "%s", c->name);
    s->near.best = s->best;
  }
  if (strcmp(c->name, s->name) != 0) return 0;
  s->found = *c;
  return 1;
}

static pol_status refuse(naming *n, const char *list, int index, const char *value,
                         const char *rule, const char *suggestion)
{
  char path[40];
  snprintf(path, sizeof path, "%s[%d]", list, index);
  return pol_errors_add(n->errors, path, value, rule, suggestion);
}

/* The coordinates that users want first, and their rates if is_rate. */
static pol_status take_wanted(naming *n, int is_rate, int first, int count)
{
  const int np = n->lin->np, nx = n->lin->nx;
  pol_status status = POL_OK;
  for (int k = 0; k < n->options->num_coordinates && !status; k++) {
    selection s = {.n = n, .name = n->options->coordinates[k]};
    s.near = pol_near_start(s.name);
    if (!each_coordinate(n, find, &s)) {
      if (!is_rate)
        status = refuse(n, "coordinates", k, s.name,
                        "must be a joint coordinate such as hinge.angle, or a position or rotation "
                        "of a body such as top.position.x",
                        s.near.best);
      continue;
    }
    if (set_gradient(n, &s.found, is_rate) && !is_rate) {
      status = refuse(n, "coordinates", k, s.name, "is not defined at this configuration", "");
      continue;
    }
    const int changes = set_state_row(n, n->row);
    if (n->num_chosen - first < count && choose(n, first, is_rate ? np : 0, is_rate ? nx : np, 1e-7,
                                                is_rate ? s.found.rate_name : s.found.name,
                                                is_rate ? s.found.rate_unit : s.found.unit))
      continue;
    if (!is_rate)
      status =
          refuse(n, "coordinates", k, s.name,
                 changes ? "does not change independently of the coordinates before it"
                         : "does not change here to first order: constraints lock it, or it is at "
                           "an extreme",
                 "");
  }
  return status;
}

/* Chooses all states: coordinates, velocities, first-order states. */
static pol_status choose_states(naming *n, pol_diagnostics *diagnostics)
{
  const poli_linear *lin = n->lin;
  const int num_states = n->a->dae->num_states;
  pol_status status = take_wanted(n, 0, 0, lin->np);
  if (status || n->errors->count > 0) return status ? status : POL_BAD_ARGUMENT;
  for (double share = 0.1; share > 1e-8 && n->num_chosen < lin->np; share *= 1e-2) {
    selection s = {.n = n, .count = lin->np, .share = share};
    each_coordinate(n, take, &s);
  }
  if (n->num_chosen < lin->np)
    return poli_analysis_fail(n->a, POL_SINGULAR,
                              "no independent coordinates were found: the position is singular",
                              "another configuration", diagnostics);
  /* states first, so that nothing takes their place; they change places with the rates below */
  for (int i = 0; i < num_states; i++) {
    clear(n);
    n->g.v[n->f->state_v + i] = 1.0;
    set_state_row(n, n->row);
    const pol_state_variable *own = pol_mechanism_state(n->f->mechanism, i);
    choose(n, lin->np, lin->np, lin->nx, 0.0, own->name, own->unit ? own->unit : "user");
  }
  status = take_wanted(n, 1, lin->np, lin->ns);
  /* rates of the coordinates that were chosen, then any others */
  for (int k = 0; k < lin->np && !status && n->num_chosen < lin->nx; k++) {
    selection s = {.n = n, .name = n->names[k]};
    s.near = pol_near_start(s.name);
    if (!each_coordinate(n, find, &s) || set_gradient(n, &s.found, 1)) continue;
    set_state_row(n, n->row);
    choose(n, lin->np, lin->np, lin->nx, 1e-3, s.found.rate_name, s.found.rate_unit);
  }
  for (double share = 0.1; share > 1e-8 && n->num_chosen < lin->nx && !status; share *= 1e-2) {
    selection s = {.n = n, .is_rate = 1, .first = lin->np, .count = lin->ns, .share = share};
    each_coordinate(n, take, &s);
  }
  if (status || n->num_chosen < lin->nx)
    return poli_analysis_fail(n->a, status ? status : POL_SINGULAR,
                              "no independent velocities were found: the position is singular",
                              "another configuration", diagnostics);
  return POL_OK;
}

/* --- inputs ------------------------------------------------------------------------------------
 */

/* Tries the input at an index against one name; returns 1 if that is it. */
static int is_input(const char *wanted, const char *name, int component, pol_near *near,
                    char best[NAME_SIZE])
{
  char full[NAME_SIZE];
  if (component < 0)
    snprintf(full, sizeof full, "%s", name);
  else
    snprintf(full, sizeof full, "%s.%c", name, "xyz"[component]);
  pol_near_try(near, full);
  if (near->best == full) near->best = strcpy(best, full);
  return strcmp(full, wanted) == 0;
}

static pol_status find_input(naming *n, int index)
{
  const char *wanted = n->options->inputs[index];
  const pol_mechanism *mechanism = n->f->mechanism;
  poli_input *input = &n->inputs[index];
  double *force = n->forces + poli_at(0, index, n->a->dae->group.nv);
  pol_near near = pol_near_start(wanted);
  char best[NAME_SIZE];
  *input = (poli_input){.drive = -1};
  for (int k = 0; k < n->f->num_forces; k++) {
    const pol_force *f = pol_mechanism_force(mechanism, k);
    const int count = pol_force_num_expressions(f->type);
    for (int i = 0; i < count; i++) {
      if (!is_input(wanted, f->name, count == 1 ? -1 : i, &near, best)) continue;
      input->force = force;
      return poli_expressions_unit_force(n->f, &n->at, k, i, force);
    }
  }
  for (int k = 0; k < n->f->num_drives; k++)
    if (is_input(wanted, pol_mechanism_drive(mechanism, k)->name, -1, &near, best)) {
      input->drive = k;
      return POL_OK;
    }
  return refuse(
      n, "inputs", index, wanted,
      "must be a component of an applied force or torque such as push.x, a spring with an "
      "actuator, or a drive",
      near.best);
}

static const char *input_unit(const naming *n, int index)
{
  const pol_mechanism *mechanism = n->f->mechanism;
  const poli_input *input = &n->inputs[index];
  const char *wanted = n->options->inputs[index];
  if (input->drive >= 0)
    return pol_coordinate_turns(pol_mechanism_drive(mechanism, input->drive)->coordinate)
               ? "rad/s^2"
               : "m/s^2";
  for (int k = 0; k < n->f->num_forces; k++) {
    const pol_force *f = pol_mechanism_force(mechanism, k);
    const size_t length = strlen(f->name);
    if (strncmp(f->name, wanted, length) != 0 || (wanted[length] && wanted[length] != '.'))
      continue;
    if (f->type == POL_APPLIED_TORQUE) return "N m";
    if (poli_force_is_on_joint(f->type))
      return pol_joint_coordinate(pol_mechanism_joint(mechanism, f->joint), f->coordinate)->angular
                 ? "N m"
                 : "N";
  }
  return "N";
}

/* --- outputs -----------------------------------------------------------------------------------
 */

typedef struct suggestion {
  pol_near near;
  char best[NAME_SIZE];
} suggestion;

static int try_name(const char *name, const poli_signal *signal, void *user)
{
  suggestion *s = user;
  if (signal->kind == POLI_SIGNAL_TIME) return 0;
  pol_near_try(&s->near, name);
  if (s->near.best == name) {
    snprintf(s->best, sizeof s->best, "%s", name);
    s->near.best = s->best;
  }
  return 0;
}

/* A row of C and D, nx + nu numbers by z and u; names that do not exist are refused. */
static pol_status find_output(naming *n, int index, double *row)
{
  const char *wanted = n->options->outputs[index];
  poli_signal signal;
  if (!poli_signal_find(n->f->mechanism, wanted, &signal) || signal.kind == POLI_SIGNAL_TIME) {
    suggestion s = {.near = pol_near_start(wanted)};
    poli_signal_each(n->f->mechanism, try_name, &s);
    return refuse(n, "outputs", index, wanted,
                  "must be a quantity that expressions can use, such as hinge.angle, "
                  "cart.velocity.x, hinge.force.z or a variable",
                  s.near.best);
  }
  clear(n);
  const pol_status status = signal.kind == POLI_SIGNAL_VARIABLE ? add_variable(n, signal.object)
                                                                : add_signal(n, &signal, 1.0);
  if (status == POL_RETRY)
    return refuse(n, "outputs", index, wanted, "is not defined at this configuration", "");
  if (!status) set_row(n, 1, row);
  return status;
}

/* --- all together ------------------------------------------------------------------------------
 */

static pol_status allocate(naming *n)
{
  const poli_linear *lin = n->lin;
  const size_t square = (size_t)lin->nx * (size_t)lin->nx;
  poli_arena arena = {0};
  do {
    POLI_TAKE_EACH(&arena, lin->nv, &n->g.q, &n->g.v);
    POLI_TAKE(&arena, n->g.lambda, lin->m);
    POLI_TAKE_EACH(&arena, lin->nx, &n->row, &n->part);
    POLI_TAKE_EACH(&arena, square, &n->basis, &n->Z, &n->inverse, &n->product, &n->bound);
    POLI_TAKE(&arena, n->names, lin->nx);
    POLI_TAKE(&arena, n->units, lin->nx);
  } while (poli_arena_again(&arena));
  n->memory = arena.memory;
  return n->memory ? POL_OK : POL_NO_MEMORY;
}

/* Room for the result, with the names of all states, inputs and outputs. */
static pol_status create_result(naming *n, pol_linear **linear)
{
  const poli_linear *lin = n->lin;
  const pol_linear_options *o = n->options;
  const size_t nx = (size_t)lin->nx, nu = (size_t)o->num_inputs, ny = (size_t)o->num_outputs;
  pol_linear *r = calloc(1, sizeof *r);
  if (!r) return POL_NO_MEMORY;
  const int num_states = n->a->dae->num_states;
  *r = (pol_linear){.num_coordinates = lin->np,
                    .num_velocities = lin->ns - num_states,
                    .num_states = num_states,
                    .n = lin->nx,
                    .num_inputs = o->num_inputs,
                    .num_outputs = o->num_outputs,
                    .unsteady = lin->unsteady};
  size_t characters = 0;
  for (int i = 0; i < lin->nx; i++) characters += strlen(n->names[i]) + 1 + strlen(n->units[i]) + 1;
  for (size_t i = 0; i < nu; i++) characters += strlen(o->inputs[i]) + 1;
  for (size_t i = 0; i < ny; i++) characters += strlen(o->outputs[i]) + 1;
  char *text;
  poli_arena arena = {0};
  do {
    POLI_TAKE(&arena, r->A, nx * nx);
    POLI_TAKE(&arena, r->B, nx * nu);
    POLI_TAKE(&arena, r->C, ny * nx);
    POLI_TAKE(&arena, r->D, ny * nu);
    POLI_TAKE(&arena, r->state_names, nx);
    POLI_TAKE(&arena, r->state_units, nx);
    POLI_TAKE(&arena, r->input_names, nu);
    POLI_TAKE(&arena, r->input_units, nu);
    POLI_TAKE(&arena, r->output_names, ny);
    POLI_TAKE(&arena, text, characters);
  } while (poli_arena_again(&arena));
  r->memory = arena.memory;
  if (!r->memory) {
    free(r);
    return POL_NO_MEMORY;
  }
  for (size_t i = 0; i < nx + nu + ny; i++) {
    const char *from = i < nx        ? n->names[i]
                       : i < nx + nu ? o->inputs[i - nx]
                                     : o->outputs[i - nx - nu];
    const char **to = i < nx        ? &r->state_names[i]
                      : i < nx + nu ? &r->input_names[i - nx]
                                    : &r->output_names[i - nx - nu];
    *to = strcpy(text, from);
    text += strlen(from) + 1;
    if (i < nx) {
      r->state_units[i] = strcpy(text, n->units[i]);
      text += strlen(n->units[i]) + 1;
    }
    if (i >= nx && i < nx + nu) r->input_units[i - nx] = input_unit(n, (int)(i - nx));
  }
  *linear = r;
  return POL_OK;
}

/* Puts the first-order states behind the velocities; Z by columns in product, its inverse. */
static pol_status order_states(naming *n)
{
  const int nx = n->lin->nx, np = n->lin->np, num_states = n->a->dae->num_states;
  char(*names)[NAME_SIZE] = calloc((size_t)nx + 1, sizeof *names);
  if (!names) return POL_NO_MEMORY;
  for (int i = 0; i < nx; i++) {
    const int to = i < np ? i : i < np + num_states ? nx - num_states + i - np : i - num_states;
    memcpy(names[to], n->names[i], NAME_SIZE);
    n->part[to] = 0.0;
    for (int j = 0; j < nx; j++) n->product[poli_at(to, j, nx)] = n->Z[poli_at(j, i, nx)];
  }
  /* units likewise: states have the last ones */
  for (int i = np; i < nx - num_states; i++) n->units[i] = n->units[i + num_states];
  for (int i = 0; i < num_states; i++) {
    const char *unit = pol_mechanism_state(n->f->mechanism, i)->unit;
    n->units[nx - num_states + i] = unit ? unit : "user";
  }
  memcpy(n->names, names, (size_t)nx * sizeof *names);
  free(names);
  memcpy(n->Z, n->product, (size_t)nx * (size_t)nx * sizeof *n->Z);
  memset(n->inverse, 0, (size_t)nx * (size_t)nx * sizeof *n->inverse);
  for (int i = 0; i < nx; i++) n->inverse[poli_at(i, i, nx)] = 1.0;
  int column;
  return poli_full_solve(nx, n->product, nx, n->inverse, &column);
}

/* --- the change of the states along the motion -------------------------------------------------
 */

typedef struct state_search {
  const char *name;
  int is_rate;
  coordinate found;
} state_search;

static int find_state(const coordinate *c, void *user)
{
  state_search *s = user;
  if (strcmp(s->is_rate ? c->rate_name : c->name, s->name) != 0) return 0;
  s->found = *c;
  return 1;
}

/* g = g' of a joint coordinate or its rate, in the axes of observation. */
static pol_status set_gradient_rate(naming *n, const coordinate *c, int is_rate,
                                    const poli_nearby *nearby, const poli_axes *axes)
{
  const pol_point here = n->at;
  const size_t nv = (size_t)n->lin->nv;
  double *g = calloc(2 * nv + 1, sizeof *g);
  pol_status status = g ? set_gradient(n, c, is_rate) : POL_NO_MEMORY;
  if (!status) {
    memcpy(g, n->g.q, nv * sizeof *g);
    memcpy(g + nv, n->g.v, nv * sizeof *g);
  }
  clear(n);
  for (int k = 0; k < 4 && !status; k++) {
    n->at = nearby->point[k];
    status = add_signal(n, is_rate ? &c->rate : &c->value, nearby->weight[k]);
  }
  n->at = here;
  if (!status) { /* g (T x y) = (g x T) y */
    poli_axes_add(axes, axes->T, -1.0, g, n->g.q);
    poli_axes_add(axes, axes->T, -1.0, g + nv, n->g.v);
  }
  free(g);
  return status;
}

/* Adds a row of Z' to that of `to` (nx x nx). */
static pol_status add_state_rate(naming *n, int row, const poli_nearby *nearby,
                                 const poli_axes *axes, double *to)
{
  const poli_linear *lin = n->lin;
  state_search s = {.name = n->names[row], .is_rate = row >= lin->np};
  /* first-order states are no coordinates: the constraints do not touch them */
  if (row >= lin->nx - n->a->dae->num_states || !each_coordinate(n, find_state, &s)) return POL_OK;
  pol_status status = set_gradient(n, &s.found, s.is_rate);
  for (int j = 0; j < lin->nx && !status; j++)
    for (int i = 0; i < lin->nv; i++)
      to[poli_at(row, j, lin->nx)] +=
          n->g.q[i] * lin->Wd[poli_at(i, j, lin->nv)] + n->g.v[i] * lin->Vd[poli_at(i, j, lin->nv)];
  if (status || s.found.value.kind != POLI_SIGNAL_COORDINATE) return status;
  status = set_gradient_rate(n, &s.found, s.is_rate, nearby, axes);
  if (!status) set_row(n, 0, n->row);
  for (int j = 0; j < lin->nx && !status; j++) to[poli_at(row, j, lin->nx)] += n->row[j];
  return status;
}

/* to += Z'; *noise: round-off of a rate of change of numbers of size 1, 1/s. */
static pol_status add_state_rates(naming *n, double *to, double *noise)
{
  poli_nearby nearby = {0};
  double *rates = calloc(2 * (size_t)n->lin->nv + 1, sizeof *rates);
  poli_axes axes = {.T = rates, .G = rates + n->lin->nv};
  pol_status status = rates ? poli_nearby_create(&nearby, n->a) : POL_NO_MEMORY;
  if (!status) poli_axes_set(&axes, n->a, n->options->frame);
  for (int i = 0; i < n->lin->nx && !status; i++) status = add_state_rate(n, i, &nearby, &axes, to);
  for (int k = 0; k < 4 && !status; k++) *noise += DBL_EPSILON * fabs(nearby.weight[k]);
  poli_nearby_free(&nearby);
  free(rates);
  return status;
}

/* out = left (rows x nx) Z^-1, with zeros where only round-off is left. */
static void multiply_inverse(const naming *n, int rows, const double *left, double *out)
{
  const int nx = n->lin->nx;
  for (int j = 0; j < nx; j++)
    for (int i = 0; i < rows; i++) {
      double sum = 0.0, size = 0.0;
      for (int k = 0; k < nx; k++) {
        const double term = left[poli_at(i, k, rows)] * n->inverse[poli_at(k, j, nx)];
        sum += term;
        size += fabs(term);
      }
      out[poli_at(i, j, rows)] = fabs(sum) > 1e-13 * size ? sum : 0.0;
    }
}

/* Differences by time leave round-off where terms cancel: below 1e-12 of its row a number is zero,
 * and so is a rate of velocities by velocities of the same unit within a few times the noise. */
static void clear_round_off(const naming *n, double noise, double *A)
{
  const int nx = n->lin->nx;
  for (int i = 0; i < nx; i++) {
    double largest = 0.0;
    for (int j = 0; j < nx; j++) largest = fmax(largest, fabs(A[poli_at(i, j, nx)]));
    for (int j = 0; j < nx; j++) {
      const int is_rate =
          i >= n->lin->np && j >= n->lin->np && strcmp(n->units[i], n->units[j]) == 0;
      const double least = fmax(1e-12 * largest, is_rate ? 4.0 * noise : 0.0);
      if (fabs(A[poli_at(i, j, nx)]) <= least) A[poli_at(i, j, nx)] = 0.0;
    }
  }
}

static pol_status transform(naming *n, pol_linear **linear)
{
  const poli_linear *lin = n->lin;
  const int nx = lin->nx, nu = lin->nu, ny = n->options->num_outputs;
  double *rows = calloc((size_t)(nx + nu + 1) * (size_t)(ny + 1), sizeof *rows);
  double *by_z = calloc((size_t)(nx + 1) * (size_t)(ny + 1), sizeof *by_z);
  pol_status status = rows && by_z ? POL_OK : POL_NO_MEMORY;
  for (int k = 0; k < ny && !status; k++) status = find_output(n, k, rows + poli_at(0, k, nx + nu));
  if (!status && n->errors->count > 0) status = POL_BAD_ARGUMENT;
  if (!status) status = order_states(n);
  if (!status) status = create_result(n, linear);
  if (!status) {
    pol_linear *r = *linear;
    poli_full_multiply(nx, nx, nx, 0, n->Z, lin->A, n->product);
    const int is_steady = !(lin->unsteady > POLI_STEADY);
    double noise = 0.0;
    if (!is_steady) status = add_state_rates(n, n->product, &noise);
    multiply_inverse(n, nx, n->product, r->A);
    if (!is_steady) clear_round_off(n, noise, r->A);
    poli_full_multiply(nx, nu, nx, 0, n->Z, lin->B, r->B);
    for (int k = 0; k < ny; k++) {
      for (int j = 0; j < nx; j++) by_z[poli_at(k, j, ny)] = rows[poli_at(j, k, nx + nu)];
      for (int j = 0; j < nu; j++) r->D[poli_at(k, j, ny)] = rows[poli_at(nx + j, k, nx + nu)];
    }
    multiply_inverse(n, ny, by_z, r->C);
  }
  free(rows);
  free(by_z);
  return status;
}

pol_linear_options pol_linear_options_default(void)
{
  return (pol_linear_options){0};
}

pol_status pol_linear_create(pol_linear **linear, pol_analysis *analysis,
                             const pol_linear_options *options, pol_errors *errors,
                             pol_diagnostics *diagnostics)
{
  const pol_linear_options usual = pol_linear_options_default();
  pol_diagnostics own = {.equation = -1, .t = analysis->state.t};
  *linear = NULL;
  if (!options) options = &usual;
  naming n = {.a = analysis,
              .f = analysis->formulation,
              .options = options,
              .errors = errors,
              .at = pol_state_point(&analysis->state)};
  void *inputs = NULL;
  poli_arena arena = {0};
  do {
    POLI_TAKE(&arena, n.inputs, options->num_inputs + 1);
    POLI_TAKE(&arena, n.forces, poli_at(0, options->num_inputs + 1, analysis->dae->group.nv));
  } while (poli_arena_again(&arena));
  inputs = arena.memory;
  pol_status status = inputs ? POL_OK : POL_NO_MEMORY;
  if (analysis->dae->group.nv > MOST_VELOCITIES)
    status = poli_analysis_fail(
        analysis, POL_BAD_ARGUMENT,
        "the model has more than 3000 velocities: too many for full matrices", NULL, &own);
  for (int k = 0; k < options->num_inputs && !status; k++) status = find_input(&n, k);
  const int num_known = errors->count > 0 ? 0 : options->num_inputs;
  if (!status)
    status = poli_linear_create(&n.lin, analysis, options->frame, num_known, n.inputs, &own);
  if (!status) status = allocate(&n);
  if (!status) {
    status = choose_states(&n, &own);
    /* outputs too, so that all errors are found in one pass */
    for (int k = 0; k < options->num_outputs && errors->count > 0 && status == POL_BAD_ARGUMENT;
         k++) {
      double *row = calloc((size_t)(n.lin->nx + n.lin->nu) + 1, sizeof *row);
      if (row) find_output(&n, k, row);
      free(row);
    }
  }
  if (!status) status = transform(&n, linear);
  if (!status && errors->count > 0) status = POL_BAD_ARGUMENT;
  if (status) pol_linear_free(linear);
  poli_linear_free(&n.lin);
  free(n.memory);
  free(inputs);
  if (status) poli_analysis_fail(analysis, status, NULL, NULL, &own);
  if (status && diagnostics) *diagnostics = own;
  return status;
}

void pol_linear_free(pol_linear **linear)
{
  if (!linear || !*linear) return;
  free((*linear)->memory);
  free(*linear);
  *linear = NULL;
}
