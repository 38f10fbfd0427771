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

/* Steps of a thousandth of the time in which the motion turns or moves by the size of the model. */
static double step_of_time(const pol_analysis *a)
{
  const pol_formulation *f = a->formulation;
  double rate = 1e-3; /* 1/s */
  for (int i = 0; i < f->num_bodies; i++) {
    const poli_placed_body *body = &f->bodies[i];
    for (int k = 0; k < body->chart->dim; k++) {
      const double length = k < body->chart->num_rotations ? 1.0 : a->length;
      rate = fmax(rate, fabs(a->v[body->v + k]) / length);
      rate = fmax(rate, sqrt(fabs(a->vd[body->v + k]) / length));
    }
  }
  return 1e-3 / rate;
}

pol_status poli_nearby_create(poli_nearby *nearby, const pol_analysis *analysis)
{
  static const double steps[4] = {-2.0, -1.0, 1.0, 2.0}, weights[4] = {1.0, -8.0, 8.0, -1.0};
  const pol_group *group = &analysis->dae->group;
  const double h = step_of_time(analysis);
  double *q, *v, *w;
  poli_arena arena = {0};
  do {
    POLI_TAKE(&arena, q, 4 * group->nq);
    POLI_TAKE(&arena, v, 4 * group->nv);
    POLI_TAKE(&arena, w, group->nv);
  } while (poli_arena_again(&arena));
  *nearby = (poli_nearby){.memory = arena.memory};
  if (!nearby->memory) return POL_NO_MEMORY;
  for (int k = 0; k < 4; k++, q += group->nq, v += group->nv) {
    const double e = steps[k] * h;
    for (int i = 0; i < group->nv; i++) {
      w[i] = e * analysis->v[i];
      v[i] = analysis->v[i] + e * analysis->vd[i];
    }
    pol_group_move(group, analysis->q, w, q);
    nearby->weight[k] = weights[k] / (12.0 * h);
    nearby->point[k] = pol_state_point(&analysis->state);
    nearby->point[k].t += e;
    nearby->point[k].q = q;
    nearby->point[k].v = v;
  }
  return POL_OK;
}

void poli_nearby_free(poli_nearby *nearby)
{
  free(nearby->memory);
  *nearby = (poli_nearby){0};
}

pol_status poli_terms_rates(poli_terms *terms, const pol_analysis *analysis, double *jacobian_rate,
                            double *curvature_rate)
{
  const size_t entries = (size_t)pol_pattern_nonzeros(terms->patterns.constraint);
  double *values = calloc(2 * entries + 1, sizeof *values);
  const pol_terms out = {.jacobian = values, .curvature = values + entries};
  poli_nearby nearby = {0};
  pol_status status = values ? poli_nearby_create(&nearby, analysis) : POL_NO_MEMORY;
  memset(jacobian_rate, 0, entries * sizeof *jacobian_rate);
  memset(curvature_rate, 0, entries * sizeof *curvature_rate);
  for (int k = 0; k < 4 && !status; k++) {
    status = poli_dae_evaluate(terms->dae, &nearby.point[k], POL_JACOBIAN | POL_CURVATURE, &out,
                               terms->scratch);
    for (size_t e = 0; e < entries && !status; e++) {
      jacobian_rate[e] += nearby.weight[k] * values[e];
      curvature_rate[e] += nearby.weight[k] * values[entries + e];
    }
  }
  poli_nearby_free(&nearby);
  free(values);
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

void poli_axes_add_columns(const poli_axes *axes, const double *rates, const pol_pattern *pattern,
                           const double *in, double *out)
{
  const pol_group *group = axes->group;
  for (int i = 0; i < group->num_factors; i++)
    for (int v = group->factors[i].v; v + 3 <= group->factors[i].v + group->factors[i].dim;
         v += 3) {
      /* column j of r~ is r x e_j; the three columns have the same rows */
      const double *r = rates + v;
      const int a = pattern->start[v], b = pattern->start[v + 1], c = pattern->start[v + 2];
      for (int k = 0; k < b - a; k++) {
        out[a + k] += in[b + k] * r[2] - in[c + k] * r[1];
        out[b + k] += in[c + k] * r[0] - in[a + k] * r[2];
        out[c + k] += in[a + k] * r[1] - in[b + k] * r[0];
      }
    }
}

double poli_terms_fastest(const poli_terms *terms, const pol_analysis *analysis)
{
  double fastest = 0.0;
  for (int j = 0; j < poli_analysis_first_state(analysis); j++) {
    const int e = pol_pattern_address(terms->patterns.coupling, j, j);
    if (e >= 0 && terms->mass[e] > 0.0)
      fastest = fmax(fastest, fabs(terms->stiffness[e]) / terms->mass[e]);
  }
  return sqrt(fastest);
}

double poli_axes_unsteady(const poli_axes *axes, const pol_analysis *analysis, double fastest,
                          double *turned)
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
  /* round-off of the forces of stiff elements */
  if (largest <= 1e-14 * fastest * fastest * analysis->length) return 0.0;
  return scale > 0.0 ? largest / scale : 0.0;
}
