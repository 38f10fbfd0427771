/* The network of expressions: compiling, sorting, evaluating; see network.h.  The order of the
 * variables comes from a depth-first search (Tarjan 1972), which finds circles on its way. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "formulation/network.h"

/* What the lookup of names needs while compiling. */
typedef struct network_compiler {
  poli_network *network;
  const pol_mechanism *mechanism;
  int too_many;
} network_compiler;

/* --- compiling -------------------------------------------------------------------------------- */

/* The input of a name, a new one if the signal is read for the first time. */
static int lookup(const char *name, void *user)
{
  network_compiler *c = user;
  poli_network *n = c->network;
  poli_signal signal;
  if (!poli_signal_find(c->mechanism, name, &signal)) return -1;
  if (signal.kind == POLI_SIGNAL_VARIABLE) return signal.object;
  for (int i = n->num_variables; i < n->num_inputs; i++) {
    const poli_signal *known = &n->inputs[i];
    if (known->kind == signal.kind && known->object == signal.object &&
        known->component == signal.component)
      return i;
  }
  if (n->num_inputs == POLI_MAX_INPUTS) {
    c->too_many = 1;
    return -1;
  }
  n->inputs[n->num_inputs] = signal;
  return n->num_inputs++;
}

/* Compiles a text into the next node; owner says whose it is. */
static pol_status add_node(network_compiler *c, const char *text, const char *owner,
                           const char *name, char *message, size_t size)
{
  const poli_expression_names names = {lookup, NULL, c};
  poli_expression_error error;
  pol_status status = poli_expression_compile(&c->network->nodes[c->network->num_nodes++].program,
                                              text, &names, &error);
  if (status == POL_BAD_ARGUMENT && c->too_many)
    snprintf(message, size, "all expressions together must not read more than %d quantities",
             POLI_MAX_INPUTS);
  else if (status == POL_BAD_ARGUMENT)
    snprintf(message, size, "%s '%s', column %d of the expression: %s", owner, name, error.column,
             error.message);
  return status;
}

static pol_status compile_all(network_compiler *c, char *message, size_t size)
{
  const pol_mechanism *m = c->mechanism;
  poli_network *n = c->network;
  pol_status status = POL_OK;
  for (int i = 0; i < n->num_variables; i++) {
    n->inputs[i] = (poli_signal){POLI_SIGNAL_VARIABLE, i, 0};
    n->num_inputs++;
  }
  for (int i = 0; i < n->num_variables && !status; i++) {
    const pol_variable *variable = pol_mechanism_variable(m, i);
    status = add_node(c, variable->expression, "variable", variable->name, message, size);
    if (status || !variable->input) continue;
    n->held[n->num_held++] = i;
    if (poli_expression_num_inputs(n->nodes[i].program) == 0) continue;
    snprintf(message, size, "variable '%s': the expression of an input must be constant",
             variable->name);
    status = POL_BAD_ARGUMENT;
  }
  for (int i = 0; i < n->num_states && !status; i++) {
    const pol_state_variable *state = pol_mechanism_state(m, i);
    status = add_node(c, state->rate, "state", state->name, message, size);
  }
  for (int k = 0; k < pol_mechanism_num_forces(m); k++)
    for (int i = 0; i < 3 && !status; i++) {
      const pol_force *force = pol_mechanism_force(m, k);
      if (force->expressions[i])
        status = add_node(c, force->expressions[i], "force", force->name, message, size);
    }
  return status;
}

/* --- order ------------------------------------------------------------------------------------ */

enum { UNSEEN, OPEN, DONE };

/* Writes the circle that closes at a variable: "a -> b -> a". */
static void describe_circle(const pol_mechanism *mechanism, const int *path, int length, int last,
                            char *message, size_t size)
{
  int used = snprintf(message, size, "variables must not depend on themselves: ");
  int inside = 0;
  for (int i = 0; i < length; i++) {
    inside |= path[i] == last;
    if (inside && used >= 0 && (size_t)used < size)
      used += snprintf(message + used, size - (size_t)used, "%s -> ",
                       pol_mechanism_variable(mechanism, path[i])->name);
  }
  if (used >= 0 && (size_t)used < size)
    snprintf(message + used, size - (size_t)used, "%s",
             pol_mechanism_variable(mechanism, last)->name);
}

/* Puts inputs first, then each variable behind those that it reads; path and mark are workspace. */
static pol_status sort_variables(poli_network *n, const pol_mechanism *mechanism, int *path,
                                 unsigned char *mark, char *message, size_t size)
{
  int sorted = 0;
  for (int k = 0; k < n->num_held; k++) {
    mark[n->held[k]] = DONE;
    n->order[sorted++] = n->held[k];
  }
  for (int first = 0; first < n->num_variables; first++) {
    int length = 0;
    if (mark[first] != UNSEEN) continue;
    path[length++] = first;
    mark[first] = OPEN;
    while (length > 0) {
      /* the first variable that the last one reads and that is not done yet */
      const int now = path[length - 1], *inputs = poli_expression_inputs(n->nodes[now].program);
      int next = -1;
      for (int i = poli_expression_num_inputs(n->nodes[now].program) - 1; i >= 0; i--)
        if (inputs[i] < n->num_variables && mark[inputs[i]] != DONE) next = inputs[i];
      if (next < 0) {
        mark[now] = DONE;
        n->order[sorted++] = now;
        length--;
      } else if (mark[next] == OPEN) {
        describe_circle(mechanism, path, length, next, message, size);
        return POL_BAD_ARGUMENT;
      } else {
        mark[next] = OPEN;
        path[length++] = next;
      }
    }
  }
  return POL_OK;
}

/* --- what depends on what --------------------------------------------------------------------- */

/* Lists the signals that a node depends on; those of the variables that it reads are listed. */
static pol_status list_sources(poli_network *n, int index, unsigned char *mark)
{
  poli_node *node = &n->nodes[index];
  const int *inputs = poli_expression_inputs(node->program);
  memset(mark, 0, (size_t)n->num_inputs);
  for (int i = 0; i < poli_expression_num_inputs(node->program); i++) {
    if (inputs[i] >= n->num_variables) mark[inputs[i]] = 1;
    const poli_node *variable = inputs[i] < n->num_variables ? &n->nodes[inputs[i]] : NULL;
    for (int k = 0; variable && k < variable->num_sources; k++) mark[variable->sources[k]] = 1;
  }
  for (int i = 0; i < n->num_inputs; i++) node->num_sources += mark[i];
  node->sources = malloc(((size_t)node->num_sources + 1) * sizeof *node->sources);
  if (!node->sources) return POL_NO_MEMORY;
  for (int i = 0, k = 0; i < n->num_inputs; i++)
    if (mark[i]) node->sources[k++] = i;
  node->weight = n->num_weights;
  n->num_weights += node->num_sources;
  return POL_OK;
}

static pol_status analyse(poli_network *n, const pol_mechanism *mechanism, char *message,
                          size_t size)
{
  size_t count = (size_t)n->num_inputs + 1;
  int *path = malloc(count * sizeof *path);
  unsigned char *mark = calloc(count, 1);
  pol_status status = path && mark ? POL_OK : POL_NO_MEMORY;
  if (!status) status = sort_variables(n, mechanism, path, mark, message, size);
  for (int k = 0; k < n->num_nodes && !status; k++)
    status = list_sources(n, k < n->num_variables ? n->order[k] : k, mark);
  free(path);
  free(mark);
  if (status) return status;

  /* what rates and efforts read, then what active variables read, those that others read last */
  for (int k = n->num_nodes - 1; k >= 0; k--) {
    const int node = k < n->num_variables ? n->order[k] : k;
    const pol_expression *program = n->nodes[node].program;
    const int reads = poli_expression_num_inputs(program);
    const size_t own = poli_expression_workspace(program) + (size_t)reads;
    if (own > n->workspace) n->workspace = own;
    for (int i = 0; i < reads && (k >= n->num_variables || n->active[node]); i++)
      n->active[poli_expression_inputs(program)[i]] = 1;
  }
  return POL_OK;
}

pol_status poli_network_create(poli_network *network, const pol_mechanism *mechanism, char *message,
                               size_t size)
{
  poli_network *n = network;
  network_compiler c = {.network = n, .mechanism = mechanism};
  memset(n, 0, sizeof *n);
  n->num_variables = pol_mechanism_num_variables(mechanism);
  n->num_states = pol_mechanism_num_states(mechanism);
  for (int k = 0; k < 3 * pol_mechanism_num_forces(mechanism); k++)
    n->num_efforts += pol_mechanism_force(mechanism, k / 3)->expressions[k % 3] != NULL;
  if (n->num_variables > POLI_MAX_INPUTS) {
    snprintf(message, size, "there must not be more than %d variables", POLI_MAX_INPUTS);
    return POL_BAD_ARGUMENT;
  }
  size_t nodes = (size_t)(n->num_variables + n->num_states + n->num_efforts);
  if (nodes == 0) return POL_OK;
  poli_arena arena = {0};
  do {
    POLI_TAKE(&arena, n->nodes, nodes);
    POLI_TAKE(&arena, n->inputs, POLI_MAX_INPUTS);
    POLI_TAKE(&arena, n->order, n->num_variables);
    POLI_TAKE(&arena, n->held, n->num_variables);
    POLI_TAKE(&arena, n->active, POLI_MAX_INPUTS);
  } while (poli_arena_again(&arena));
  n->memory = arena.memory;
  pol_status status = n->memory ? POL_OK : POL_NO_MEMORY;
  if (!status) status = compile_all(&c, message, size);
  if (!status) status = analyse(n, mechanism, message, size);
  if (status) poli_network_free(n);
  return status;
}

void poli_network_free(poli_network *network)
{
  for (int i = 0; i < network->num_nodes; i++) {
    poli_expression_free(&network->nodes[i].program);
    free(network->nodes[i].sources);
  }
  free(network->memory);
  memset(network, 0, sizeof *network);
}

/* --- evaluating ------------------------------------------------------------------------------- */

double poli_network_value(const poli_network *network, int node, const double *x)
{
  double stack[POLI_EXPRESSION_DEPTH];
  return poli_expression_value(network->nodes[node].program, x, stack);
}

void poli_network_set_variables(const poli_network *network, int all, const double *held, double *x)
{
  /* inputs first: they read nothing */
  for (int k = 0; k < network->num_held; k++) {
    const int variable = network->held[k];
    const int is_set = held && held[2 * k] > 0.0;
    x[variable] = is_set ? held[2 * k + 1] : poli_network_value(network, variable, x);
  }
  for (int k = network->num_held; k < network->num_variables; k++) {
    int variable = network->order[k];
    if (all || network->active[variable]) x[variable] = poli_network_value(network, variable, x);
  }
}

/* The place of an input among the sources of a node. */
static int source_place(const poli_node *node, int input)
{
  int low = 0, high = node->num_sources - 1;
  while (low < high) {
    int middle = (low + high) / 2;
    if (node->sources[middle] < input)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static void set_weights(const poli_network *n, const poli_node *node, const double *x,
                        double *weights, double *workspace)
{
  const int *inputs = poli_expression_inputs(node->program);
  int count = poli_expression_num_inputs(node->program);
  double *gradient = workspace, *own = weights + node->weight;
  memset(own, 0, (size_t)node->num_sources * sizeof *own);
  poli_expression_gradient(node->program, x, gradient, workspace + count);
  for (int i = 0; i < count; i++) {
    if (inputs[i] >= n->num_variables) {
      own[source_place(node, inputs[i])] += gradient[i];
      continue;
    }
    const poli_node *variable = &n->nodes[inputs[i]];
    for (int k = 0; k < variable->num_sources; k++)
      own[source_place(node, variable->sources[k])] += gradient[i] * weights[variable->weight + k];
  }
}

void poli_network_weights(const poli_network *network, int all, const double *x, double *weights,
                          double *workspace)
{
  for (int k = 0; k < network->num_variables; k++) {
    int variable = network->order[k];
    if (all || network->active[variable])
      set_weights(network, &network->nodes[variable], x, weights, workspace);
  }
  for (int k = network->num_variables; k < network->num_nodes; k++)
    set_weights(network, &network->nodes[k], x, weights, workspace);
}
