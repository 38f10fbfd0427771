/* Set-up of splitting.c: the graph of joints and bodies, the order of elimination, memory. */
#include <stdlib.h>

#include "base/arena.h"
#include "integrators/splitting_parts.h"

/* The nodes from the ground outwards.  Elimination in this order takes nothing away from the
 * mobility of the bodies still to come; the other way, that of a long chain of hinges, which weighs
 * all of it, would be lost in round-off. */
static void order_nodes(const splitting *s, int *order, int *reached)
{
  const int count = s->bodies->num_nodes;
  const poli_row_node *nodes = s->bodies->nodes;
  int last = 0;
  for (int n = 0; n < count; n++)
    if (nodes[n].num_sides < 2 && nodes[n].row < s->held) reached[order[last++] = n] = 1;
  for (int k = 0, root = 0; k < count; k++) {
    while (k == last && reached[root]) root++;
    if (k == last) reached[order[last++] = root] = 1; /* of what is not tied to the ground */
    for (int i = 0; i < nodes[order[k]].num_sides; i++) {
      const int b = nodes[order[k]].body[i];
      for (int e = s->first_side[b]; e < s->first_side[b + 1]; e++)
        if (!reached[s->sides[e].node]) reached[order[last++] = s->sides[e].node] = 1;
    }
  }
}

pol_status poli_splitting_set_graph(splitting *s)
{
  const poli_rigid_bodies *bodies = s->bodies;
  const int count = bodies->count;
  size_t num_sides = 0, num_pairs = 0;
  int num_edges = 0, *size = malloc(((size_t)bodies->num_nodes + 1) * sizeof *size);
  int *order = calloc(2 * (size_t)bodies->num_nodes + 1, sizeof *order);
  int(*edges)[2] = NULL;
  pol_status status = POL_NO_MEMORY;
  s->first_side = calloc((size_t)count + 2, sizeof *s->first_side);
  if (!size || !s->first_side || !order) goto done;
  for (int n = 0; n < bodies->num_nodes; n++) {
    const poli_row_node *node = &bodies->nodes[n];
    size[n] = node->num_rows;
    num_sides += (size_t)node->num_sides;
    s->has_others |= node->row < s->held && node->num_rows > (node->joins ? 3 : 0);
    for (int i = 0; i < node->num_sides; i++) s->first_side[node->body[i] + 2]++;
  }
  for (int b = 0; b < count; b++) {
    num_pairs += (size_t)s->first_side[b + 2] * (size_t)s->first_side[b + 2];
    s->first_side[b + 2] += s->first_side[b + 1];
  }
  s->sides = calloc(num_sides + 1, sizeof *s->sides);
  s->pairs = calloc(num_pairs + 1, sizeof *s->pairs);
  edges = malloc((num_pairs + 1) * sizeof *edges);
  if (!s->sides || !s->pairs || !edges) goto done;
  for (int n = 0; n < bodies->num_nodes; n++) {
    const poli_row_node *node = &bodies->nodes[n];
    for (int i = 0; i < node->num_sides; i++)
      s->sides[s->first_side[node->body[i] + 1]++] =
          (side){.node = n,
                 .row = node->row,
                 .block = node->block + i * poli_row_block_size(node),
                 .joined = node->joins ? 3 : 0,
                 .others = node->num_rows - (node->joins ? 3 : 0),
                 .sign = node->joins ? node->sign[i] : 0.0};
  }
  for (int b = 0; b < count; b++)
    for (int i = s->first_side[b]; i < s->first_side[b + 1]; i++)
      for (int j = s->first_side[b]; j < s->first_side[b + 1]; j++) {
        if (s->sides[i].node >= s->sides[j].node) continue;
        edges[num_edges][0] = s->sides[i].node;
        edges[num_edges++][1] = s->sides[j].node;
      }
  order_nodes(s, order, order + bodies->num_nodes);
  status = poli_block_lu_create(&s->lu, bodies->num_nodes, size, num_edges, (const int(*)[2])edges,
                                order);
  long *pair = s->pairs;
  for (int b = 0; b < count && !status; b++)
    for (int i = s->first_side[b]; i < s->first_side[b + 1]; i++)
      for (int j = s->first_side[b]; j < s->first_side[b + 1]; j++)
        *pair++ = poli_block_lu_address(s->lu, s->sides[i].node, s->sides[j].node);
done:
  free(size);
  free(edges);
  free(order);
  return status;
}

pol_status poli_splitting_allocate(splitting *s)
{
  const size_t nq = (size_t)s->nq, nv = (size_t)s->nv, m = (size_t)s->m;
  const size_t bodies = (size_t)s->bodies->count, blocks = (size_t)s->bodies->num_blocks;
  const size_t entries = s->saddle ? (size_t)pol_pattern_nonzeros(s->patterns.constraint) : 0;
  const size_t coupling = s->saddle ? (size_t)pol_pattern_nonzeros(s->patterns.coupling) : 0;
  const size_t compliant = (size_t)s->compliant.count, eliminated = s->saddle ? compliant : 0;
  poli_arena arena = {0};
  do {
    for (int k = 0; k < NUM_INSTANTS; k++) {
      instant *own = &s->instants[k];
      POLI_TAKE(&arena, own->q, nq);
      POLI_TAKE(&arena, own->P, nv);
      POLI_TAKE(&arena, own->force, nv);
      POLI_TAKE(&arena, own->R, 9 * bodies);
      POLI_TAKE(&arena, own->B, blocks);
      POLI_TAKE(&arena, own->w, 3 * bodies);
      POLI_TAKE(&arena, own->elongation, compliant);
    }
    for (int k = 0; k < MAX_KNOWN; k++) POLI_TAKE(&arena, s->known[k], m);
    for (int k = 0; k < 2; k++) POLI_TAKE(&arena, s->out[k], nq + 2 * nv + m);
    POLI_TAKE(&arena, s->plus, nv);
    POLI_TAKE(&arena, s->v, nv);
    POLI_TAKE(&arena, s->force, nv);
    POLI_TAKE(&arena, s->U, m);
    POLI_TAKE(&arena, s->dU, m);
    POLI_TAKE(&arena, s->residual, m);
    POLI_TAKE(&arena, s->slip, m);
    POLI_TAKE(&arena, s->D, 9 * bodies);
    POLI_TAKE(&arena, s->rhs, s->assembler ? 2 * (nv + m) : nv + m);
    POLI_TAKE(&arena, s->before, s->saddle ? nv + m : 0);
    POLI_TAKE(&arena, s->mass, coupling);
    POLI_TAKE(&arena, s->damping, coupling);
    POLI_TAKE(&arena, s->upper, entries);
    POLI_TAKE(&arena, s->lower, entries);
    POLI_TAKE(&arena, s->left_out, m);
    POLI_TAKE(&arena, s->compliant.g, compliant);
    POLI_TAKE(&arena, s->compliant.b, compliant);
    for (int k = 0; k < POLI_TENSIONS; k++) POLI_TAKE(&arena, s->compliant.tension[k], compliant);
    for (int k = 0; k < 2; k++) {
      POLI_TAKE(&arena, s->compliant.guess[k], compliant);
      POLI_TAKE(&arena, s->compliant.miss[k], compliant);
    }
    POLI_TAKE(&arena, s->compliant.clock, POLI_TENSIONS + 1);
    POLI_TAKE(&arena, s->compliant.lower, eliminated);
    POLI_TAKE(&arena, s->compliant.upper, eliminated);
    POLI_TAKE(&arena, s->lambda, s->assembler ? m : 0);
    POLI_TAKE(&arena, s->vd, s->assembler ? nv : 0);
    POLI_TAKE(&arena, s->carried, s->saddle ? nv : 0);
    POLI_TAKE(&arena, s->jacobian, s->assembler ? entries : 0);
    POLI_TAKE(&arena, s->curvature, s->assembler ? entries : 0);
    POLI_TAKE(&arena, s->feedback, s->assembler ? pol_pattern_nonzeros(s->dae->feedback) : 0);
    POLI_TAKE(&arena, s->scratch, s->dae->scratch_size);
  } while (poli_arena_again(&arena));
  s->memory = arena.memory;
  for (int k = 1; k < NUM_INSTANTS && s->bodies->has_weight_only; k++)
    s->instants[k].force = s->instants[0].force; /* they do not change */
  return s->memory ? POL_OK : POL_NO_MEMORY;
}
