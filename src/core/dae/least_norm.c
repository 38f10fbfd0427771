/* The vector of least norm with B^T x = B^T lambda is the projection of lambda to the range of B,
 * x = B w with the w that makes |B w - lambda| least.  Since B may lack rank in its columns too,
 * the normal equations carry a small eps, relative to the columns of B:
 *
 *     [ -eps  B^T ] [   w  ]   [   0    ]
 *     [  B     I  ] [ rest ] = [ lambda ]
 *
 * and are solved again for what is left, lambda - B w, which removes the effect of eps (iterated
 * Tikhonov regularisation).  It is the saddle-point matrix with other numbers.
 *
 * Internal constraints C of the coordinates have no weight in the norm: with B for the others,
 *
 *     [ -eps  B^T  C^T ] [   w  ]   [   0    ]
 *     [  B     I    0  ] [ rest ] = [ lambda ]
 *     [  C     0    0  ] [  nu  ]   [   0    ]
 *
 * gives x = B w, C w = 0, and C^T (mu - nu) in place of C^T mu keeps the sum B^T x + C^T mu.  That
 * x = B w, C w = 0 are the conditions for the least norm of x alone.
 */
#include "dae/least_norm.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "dae/saddle.h"

enum { CORRECTIONS = 4 };
static const double regularisation = 1e-10; /* eps, of the square of a column of B */

struct poli_least_norm {
  const pol_dae *dae;
  poli_saddle *saddle;
  void *memory; /* holds the arrays below */
  double *diagonal, *jacobian, *rhs, *sum, *scratch;
};

pol_status poli_least_norm_create(poli_least_norm **least, const pol_dae *dae,
                                  pol_solver_kind solver)
{
  poli_least_norm *s = *least = calloc(1, sizeof *s);
  if (!s) return POL_NO_MEMORY;
  s->dae = dae;
  pol_status status = poli_saddle_create(&s->saddle, dae, 0, solver);
  if (!status) {
    poli_arena arena = {0};
    do {
      POLI_TAKE(&arena, s->diagonal, pol_pattern_nonzeros(s->saddle->patterns.coupling));
      POLI_TAKE(&arena, s->jacobian, pol_pattern_nonzeros(s->saddle->patterns.constraint));
      POLI_TAKE(&arena, s->rhs, s->saddle->n);
      POLI_TAKE(&arena, s->sum, s->saddle->m);
      POLI_TAKE(&arena, s->scratch, dae->scratch_size);
    } while (poli_arena_again(&arena));
    s->memory = arena.memory;
    if (!s->memory) status = POL_NO_MEMORY;
  }
  if (status) poli_least_norm_free(least);
  return status;
}

void poli_least_norm_free(poli_least_norm **least)
{
  if (!*least) return;
  poli_saddle_free(&(*least)->saddle);
  free((*least)->memory);
  free(*least);
  *least = NULL;
}

pol_status poli_least_norm_apply(poli_least_norm *least, const pol_point *at, double *lambda)
{
  poli_least_norm *s = least;
  poli_saddle *saddle = s->saddle;
  const pol_pattern *W = saddle->patterns.coupling, *B = saddle->patterns.constraint;
  const int nv = saddle->nv, m = saddle->m;
  pol_terms out = {.jacobian = s->jacobian};
  pol_status status = poli_dae_evaluate(s->dae, at, POL_JACOBIAN, &out, s->scratch);
  if (status) return status;

  /* The matrix above, factorised. */
  for (int j = 0; j < nv; j++) {
    double square = 0.0;
    for (int k = B->start[j]; k < B->start[j + 1]; k++) square += s->jacobian[k] * s->jacobian[k];
    s->diagonal[pol_pattern_address(W, j, j)] = square > 0.0 ? -regularisation * square : -1.0;
  }
  poli_saddle_set_kkt(saddle, s->diagonal, s->jacobian);
  for (int i = 0; i < m; i++)
    saddle->values[poli_saddle_diagonal(saddle, i)] = poli_dae_is_internal(s->dae, i) ? 0.0 : 1.0;
  status = pol_solver_refactor(saddle->solver, saddle->values);
  if (status) return status;

  /* sum = B w, improved by what is left */
  memset(s->sum, 0, (size_t)m * sizeof *s->sum);
  for (int k = 0; k < CORRECTIONS; k++) {
    memset(s->rhs, 0, (size_t)nv * sizeof *s->rhs);
    for (int i = 0; i < m; i++)
      s->rhs[nv + i] = poli_dae_is_internal(s->dae, i) ? 0.0 : lambda[i] - s->sum[i];
    pol_solver_solve(saddle->solver, s->rhs);
    pol_matrix_multiply(B, s->jacobian, 1.0, s->rhs, s->sum);
  }
  for (int i = 0; i < m; i++)
    lambda[i] = poli_dae_is_internal(s->dae, i) ? lambda[i] - s->rhs[nv + i] : s->sum[i];
  return POL_OK;
}

void poli_least_norm_archive(poli_least_norm *least, poli_archive *archive)
{
  poli_saddle_archive(least->saddle, archive);
}
