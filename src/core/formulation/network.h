/* The expressions of a model as one network: signals and variables are its inputs, the expressions
 * of variables, states and forces its nodes.
 *
 *     x = (variables, signals),     x_variable = f_variable(x),     e = f_effort(x),   h =
 * f_rate(x)
 *
 * Variables are evaluated in an order in which each finds those that it reads.  Derivatives follow
 * by the chain rule: the weights of a node are its derivatives by the signals alone,
 *
 *     w_node = df/dsignals + sum over variables df/dvariable w_variable.
 */
#ifndef POLHODE_FORMULATION_NETWORK_H
#define POLHODE_FORMULATION_NETWORK_H

#include <stddef.h>

#include "expression/expression.h"
#include "mechanism/signal.h"

/* Different signals and variables that the expressions of one model may read. */
enum { POLI_MAX_INPUTS = 2048 };

typedef struct poli_node {
  pol_expression *program;
  int *sources; /* the signals that it depends on, also by way of variables: inputs, ascending */
  int num_sources;
  int weight; /* number of its first weight, one for each source */
} poli_node;

/* Nodes are the variables, the rates of states and the efforts of forces, in this order; the
 * inputs start with the variables. */
typedef struct poli_network {
  int num_variables, num_states, num_efforts;
  int num_nodes, num_inputs, num_weights;
  void *memory; /* holds the arrays below */
  poli_node *nodes;
  poli_signal *inputs;
  int *order;            /* of the variables */
  int num_held;          /* variables that are inputs of the model (pol_variable.input), */
  int *held;             /* and which */
  unsigned char *active; /* of the inputs: rates or efforts depend on it */
  size_t workspace;      /* numbers that poli_network_weights() needs */
} poli_network;

/* Compiles all expressions of a mechanism.  Efforts are numbered by force, then by component.
 * POL_BAD_ARGUMENT, with the place and the rule in message (NULL only if size is 0), for an
 * expression that is wrong or variables that depend on themselves. */
pol_status poli_network_create(poli_network *network, const pol_mechanism *mechanism, char *message,
                               size_t size);
void poli_network_free(poli_network *network);

/* The value of a node; x holds the inputs that it depends on. */
double poli_network_value(const poli_network *network, int node, const double *x);

/* Sets the variables in x, all of them or the active ones, from the signals in x.  held has two
 * numbers for each input of the model: 1 and its value, or 0 if it has that of its expression;
 * NULL: all have. */
void poli_network_set_variables(const poli_network *network, int all, const double *held,
                                double *x);

/* The weights of the active variables, or of all, of rates and of efforts at x: num_weights
 * numbers. */
void poli_network_weights(const poli_network *network, int all, const double *x, double *weights,
                          double *workspace);

#endif
