/* The matrices of the linearised equations at a state, and the axes that they refer to. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "base/arena.h"
#include "lie/small.h"

pol_status poli_terms_create(poli_terms **terms, const pol_dae *dae)
{
  *terms = NULL;
  poli_terms *t = calloc(1, sizeof *t);
  if (!t) return POL_NO_MEMORY;
  t->dae = dae;
  pol_status status = poli_dae_patterns_create(&t->patterns, dae);
  if (!status) {
    const int coupling = pol_pattern_nonzeros(t->patterns.coupling);
    const int constraint = pol_pattern_nonzeros(t->patterns.constraint);
    poli_arena arena = {0};
    do {
      POLI_TAKE_EACH(&arena, coupling, &t->mass, &t->damping, &t->stiffness);
      POLI_TAKE_EACH(&arena, constraint, &t->jacobian, &t->curvature);
      if (t->patterns.feedback)
        POLI_TAKE(&arena, t->feedback, pol_pattern_nonzeros(t->patterns.feedback));
      POLI_TAKE(&arena, t->scratch, dae->scratch_size);
    } while (poli_arena_again(&arena));
    t->memory = arena.memory;
    if (!t->memory) status = POL_NO_MEMORY;
  }
  if (status)
    poli_terms_free(&t);
  else
    *terms = t;
  return status;
}

void poli_terms_free(poli_terms **terms)
{
  if (!terms || !*terms) return;
  poli_dae_patterns_free(&(*terms)->patterns);
  free((*terms)->memory);
  free(*terms);
  *terms = NULL;
}

pol_status poli_terms_evaluate(poli_terms *terms, const pol_point *at, pol_diagnostics *diagnostics)
{
  const unsigned want = POL_MASS | POL_DAMPING | POL_STIFFNESS | POL_GEOMETRIC_STIFFNESS |
                        POL_JACOBIAN | POL_CURVATURE |
                        (terms->feedback ? (unsigned)POL_FEEDBACK : 0u);
  const pol_terms out = {.mass = terms->mass,
                         .damping = terms->damping,
                         .stiffness = terms->stiffness,
                         .jacobian = terms->jacobian,
                         .curvature = terms->curvature,
                         .feedback = terms->feedback};
  const pol_status status = poli_dae_evaluate(terms->dae, at, want, &out, terms->scratch);
  if (status && diagnostics) poli_dae_blame(terms->dae, terms->scratch, diagnostics);
  return status;
}

/* A rotation of a body in body axes R^T f: its components in axes that rotate with f change by
 * (R^T f - Omega)~, and w' = v - Omega~ w gives G = R^T f~.  Displacements are in global axes. */
void poli_axes_set(poli_axes *axes, const pol_analysis *analysis, const double frame[3])
{
  const pol_formulation *f = analysis->formulation;
  axes->group = &analysis->dae->group;
  memset(axes->T, 0, (size_t)axes->group->nv * sizeof *axes->T);
  memset(axes->G, 0, (size_t)axes->group->nv * sizeof *axes->G);
  for (int i = 0; i < f->num_bodies; i++) {
    const poli_placed_body *body = &f->bodies[i];
    const int rotations = body->chart->num_rotations;
    double *T = axes->T + body->v, *G = axes->G + body->v, R[9];
    if (rotations) {
      pol_quat_to_matrix(analysis->q + body->q, R);
      poli_m3_apply_transposed(R, frame, G);
      poli_v3_subtract(G, analysis->v + body->v, T);
    }
    poli_v3_copy(frame, G + rotations);
    poli_v3_copy(frame, T + rotations);
  }
}

void poli_axes_add(const poli_axes *axes, const double *rates, double scale, const double *x,
                   double *y)
{
  const pol_group *group = axes->group;
  for (int i = 0; i < group->num_factors; i++) {
    const pol_factor *factor = &group->factors[i];
    for (int v = factor->v; v + 3 <= factor->v + factor->dim; v += 3)
      poli_v3_add_scaled_cross(scale, rates + v, x + v, y + v);
  }
}

double poli_axes_unsteady(const poli_axes *axes, const pol_analysis *analysis, double *turned)
{
  const double *v = analysis->v, *vd = analysis->vd, *g = analysis->formulation->gravity;
  const int nv = axes->group->nv, moving = poli_analysis_first_state(analysis);
  double scale = sqrt(poli_v3_dot(g, g)), largest = 0.0;
  memset(turned, 0, (size_t)nv * sizeof *turned);
  poli_axes_add(axes, axes->T, 1.0, v, turned);
  for (int i = 0; i < nv; i++) {
    const double expected = i < moving ? turned[i] : 0.0;
    largest = fmax(largest, fabs(vd[i] - expected));
    scale = fmax(scale, fmax(fabs(v[i]), fmax(fabs(vd[i]), fabs(expected))));
  }
  return scale > 0.0 ? largest / scale : 0.0;
}
