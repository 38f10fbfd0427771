/* Set-up of splitting.c: the graph of joints and bodies, memory; and its archive. */
#include <stdlib.h>

#include "base/arena.h"
#include "integrators/splitting_parts.h"
#include "linalg/solver.h"

pol_status poli_splitting_set_graph(splitting *s, int threads)
{
  pol_status status = poli_row_space_create(&s->space, s->bodies, 0, 1, threads);
  if (!status) status = poli_row_space_create_lu(s->space, &s->lu);
  for (int n = 0; n < s->bodies->num_nodes; n++) {
    const poli_row_node *node = &s->bodies->nodes[n];
    s->has_others |= node->row < s->held && node->num_rows > (node->joins ? 3 : 0);
  }
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
    POLI_TAKE(&arena, s->unit, m);
    POLI_TAKE(&arena, s->slip, m);
    POLI_TAKE(&arena, s->D, 9 * bodies);
    POLI_TAKE(&arena, s->d, bodies);
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
  s->memory_size = arena.used;
  for (int k = 1; k < NUM_INSTANTS && s->bodies->has_weight_only; k++)
    s->instants[k].force = s->instants[0].force; /* they do not change */
  return s->memory ? POL_OK : POL_NO_MEMORY;
}

static void archive_bounds(bounds *own, poli_archive *archive)
{
  if (own->made) poli_saddle_archive(own->made, archive);
  poli_archive_bytes(archive, own->memory, own->memory_size);
  POLI_ARCHIVE(archive, own->rate);
  POLI_ARCHIVE(archive, own->age);
  POLI_ARCHIVE(archive, own->kind);
  POLI_ARCHIVE(archive, own->most);
  POLI_ARCHIVE(archive, own->limited);
  POLI_ARCHIVE(archive, own->note);
}

void poli_splitting_archive(pol_integrator *integrator, poli_archive *archive)
{
  splitting *s = integrator->data;
  double **const exchanged[] = {&s->known[0],
                                &s->known[1],
                                &s->known[2],
                                &s->U,
                                &s->compliant.tension[0],
                                &s->compliant.tension[1],
                                &s->compliant.tension[2]};
  POLI_ARCHIVE(archive, s->at);
  POLI_ARCHIVE(archive, s->kept);
  POLI_ARCHIVE(archive, s->has_angular);
  POLI_ARCHIVE(archive, s->search);
  POLI_ARCHIVE(archive, s->turned);
  POLI_ARCHIVE(archive, s->shown);
  POLI_ARCHIVE(archive, s->unseen);
  POLI_ARCHIVE(archive, s->last_h);
  POLI_ARCHIVE(archive, s->num_known);
  POLI_ARCHIVE(archive, s->known_t);
  POLI_ARCHIVE(archive, s->known_weight);
  poli_archive_bytes(archive, s->memory, s->memory_size);
  for (size_t i = 0; i < sizeof exchanged / sizeof exchanged[0]; i++)
    *exchanged[i] = poli_archive_place(archive, *exchanged[i], s->memory, s->memory_size);
  poli_state_archive(&integrator->state, s->memory, s->memory_size, archive);
  poli_splitting_steps *steps = &s->steps;
  poli_archive_bytes(archive, steps->memory, steps->memory_size);
  steps->middle = poli_archive_place(archive, steps->middle, steps->memory, steps->memory_size);
  steps->within = poli_archive_place(archive, steps->within, steps->memory, steps->memory_size);
  POLI_ARCHIVE(archive, steps->has_middle);
  POLI_ARCHIVE(archive, steps->t);
  archive_bounds(&s->bounds, archive);
  poli_block_lu_archive(s->lu, archive);
  if (s->saddle) poli_saddle_archive(s->saddle, archive);
  if (!s->reactive.solver) return;
  poli_archive_bytes(archive, s->reactive.values,
                     (size_t)pol_pattern_nonzeros(s->reactive.pattern) * sizeof(double));
  poli_solver_archive(s->reactive.solver, archive);
}
