/* The state that analyses are made about: consistent values of a mechanism in so3xr3. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "base/arena.h"

pol_status poli_analysis_fail(const pol_analysis *analysis, pol_status status, const char *message,
                              const char *advice, pol_diagnostics *diagnostics)
{
  if (!diagnostics) return status;
  diagnostics->status = status;
  if (analysis) diagnostics->t = analysis->state.t;
  if (diagnostics->message[0]) return status;
  snprintf(diagnostics->message, sizeof diagnostics->message, "%s",
           message ? message : pol_status_text(status));
  snprintf(diagnostics->advice, sizeof diagnostics->advice, "%s", advice ? advice : "");
  return status;
}

void poli_analysis_name_motion(const pol_analysis *analysis, int velocity, char *text, size_t size)
{
  const pol_formulation *f = analysis->formulation;
  text[0] = '\0';
  if (velocity >= f->state_v) {
    snprintf(text, size, "state '%s'",
             pol_mechanism_state(f->mechanism, velocity - f->state_v)->name);
    return;
  }
  for (int i = 0; i < f->num_bodies; i++) {
    const poli_placed_body *body = &f->bodies[i];
    const int component = velocity - body->v, rotations = body->chart->num_rotations;
    const int mode = component - (body->chart->dim - body->chart->num_modes);
    if (component < 0 || component >= body->chart->dim || body->reference != i) continue;
    if (mode >= 0 && body->chart->num_modes > 0) {
      snprintf(text, size, "body '%s', mode %d", body->body->name, mode + 1);
      continue;
    }
    snprintf(text, size, "body '%s', %s %c", body->body->name,
             component < rotations ? "rotation" : "translation",
             "xyz"[component < rotations ? component : component - rotations]);
  }
}

int poli_analysis_largest(const pol_analysis *analysis, const double *w, double *size)
{
  const pol_formulation *f = analysis->formulation;
  double largest = 0.0, named = 0.0;
  int found = -1;
  for (int i = 0; i < f->num_bodies; i++) {
    const poli_placed_body *body = &f->bodies[i];
    for (int k = 0; k < body->chart->dim; k++) {
      const double part =
          fabs(w[body->v + k]) * (k < body->chart->num_rotations ? analysis->length : 1.0);
      if (part > 1.000001 * named) { /* of equal parts the first */
        named = part;
        found = body->v + k;
      }
      largest = fmax(largest, part);
    }
  }
  if (size) *size = largest;
  return found;
}

/* Velocities and multipliers for the configuration: consistent ones, with the redundant constraints
 * dropped. */
static pol_status settle(pol_analysis *a, double t, const unsigned char *keep,
                         pol_diagnostics *diagnostics)
{
  a->state.t = a->state.lambda_t = t;
  if (a->dae->history_size > 0) memset(a->history, 0, a->dae->history_size * sizeof *a->history);
  pol_assembler_keep_all(a->assembler);
  pol_status status = pol_assembler_position(a->assembler, t, a->q, diagnostics);
  if (!status) status = pol_formulation_check_branches(a->formulation, t, a->q, diagnostics);
  if (!status)
    status = pol_assembler_velocity(a->assembler, t, a->q, a->v, keep, NULL, diagnostics);
  if (!status) status = pol_assembler_drop_redundant(a->assembler, t, a->q, NULL, diagnostics);
  if (status) return status;
  if (a->dae->update_history) a->dae->update_history(t, a->q, a->history, a->dae->user);
  return pol_assembler_acceleration(a->assembler, t, a->q, a->v, a->vd, a->lambda, diagnostics);
}

static pol_status build(pol_analysis *a, double t, pol_diagnostics *d)
{
  pol_status status =
      pol_formulation_supports(a->mechanism, POL_SO3XR3, d->message, sizeof d->message);
  if (!status) status = pol_formulation_create(&a->formulation, a->mechanism, POL_SO3XR3);
  if (status) return status;
  a->dae = pol_formulation_dae(a->formulation);
  status = pol_assembler_create(&a->assembler, a->dae, POL_SOLVER_AUTO);
  if (status) return status;
  unsigned char *keep;
  poli_arena arena = {0};
  do {
    POLI_TAKE(&arena, a->q, a->dae->group.nq);
    POLI_TAKE(&arena, a->v, a->dae->group.nv);
    POLI_TAKE(&arena, a->vd, a->dae->group.nv);
    POLI_TAKE(&arena, a->lambda, pol_dae_num_constraints(a->dae));
    POLI_TAKE(&arena, a->history, a->dae->history_size);
    POLI_TAKE(&arena, a->forces, a->formulation->num_forces);
    POLI_TAKE(&arena, keep, a->dae->group.nv);
  } while (poli_arena_again(&arena));
  a->memory = arena.memory;
  if (!a->memory) return POL_NO_MEMORY;
  a->state = (pol_state){.q = a->q, .v = a->v, .vd = a->vd, .lambda = a->lambda};
  if (a->dae->history_size > 0) {
    a->state.history = a->history;
    poli_assembler_set_history(a->assembler, a->history);
  }
  pol_formulation_initial(a->formulation, a->q, a->v, keep);
  status = pol_formulation_assemble(a->formulation, POL_SOLVER_AUTO, t, a->q, a->v, d);
  if (status) return status;
  a->length = poli_dae_length(a->dae);
  return settle(a, t, keep, d);
}

pol_status pol_analysis_create(pol_analysis **analysis, const pol_mechanism *mechanism, double t,
                               pol_diagnostics *diagnostics)
{
  pol_diagnostics unknown = {.equation = -1, .t = t};
  pol_analysis *a = calloc(1, sizeof *a);
  pol_status status = POL_NO_MEMORY;
  *analysis = NULL;
  if (a && mechanism) {
    a->mechanism = mechanism;
    status = build(a, t, &unknown);
  } else if (a) {
    status = poli_analysis_fail(NULL, POL_BAD_ARGUMENT, "the mechanism must not be NULL", NULL,
                                &unknown);
  }
  if (!status) {
    *analysis = a;
    return POL_OK;
  }
  poli_analysis_fail(NULL, status, NULL, NULL, &unknown);
  if (diagnostics) *diagnostics = unknown;
  pol_analysis_free(&a);
  return status;
}

void pol_analysis_free(pol_analysis **analysis)
{
  if (!analysis || !*analysis) return;
  pol_assembler_free(&(*analysis)->assembler);
  pol_formulation_free(&(*analysis)->formulation);
  free((*analysis)->memory);
  free(*analysis);
  *analysis = NULL;
}

pol_status pol_analysis_set_bodies(pol_analysis *analysis, double t, const pol_body_state *bodies,
                                   const double *states, pol_diagnostics *diagnostics)
{
  const pol_formulation *f = analysis->formulation;
  pol_diagnostics unknown = {.equation = -1, .t = t};
  for (int i = 0; i < f->num_bodies; i++) {
    const poli_placed_body *body = &f->bodies[i];
    const int rotations =
        body->chart->num_rotations; /* 0 of a point mass, with a quaternion of 4 */
    double *q = analysis->q + body->q, *v = analysis->v + body->v;
    if (body->reference != i) continue;
    if (rotations) memcpy(q, bodies[i].quaternion, 4 * sizeof *q);
    memcpy(q + (rotations ? 4 : 0), bodies[i].position, 3 * sizeof *q);
    if (rotations) memcpy(v, bodies[i].angular_velocity, 3 * sizeof *v);
    memcpy(v + rotations, bodies[i].velocity, 3 * sizeof *v);
  }
  for (int i = 0; i < analysis->dae->num_states && states; i++)
    analysis->v[f->state_v + i] = states[i];
  const pol_status status = settle(analysis, t, NULL, &unknown);
  if (status) poli_analysis_fail(analysis, status, NULL, NULL, &unknown);
  if (status && diagnostics) *diagnostics = unknown;
  return status;
}

pol_status pol_analysis_set_modes(pol_analysis *analysis, int body, const double *amplitudes,
                                  const double *rates)
{
  const pol_formulation *f = analysis->formulation;
  if (body < 0 || body >= f->num_bodies || f->bodies[body].reference != body ||
      f->bodies[body].chart->num_modes == 0)
    return POL_BAD_ARGUMENT;
  const poli_placed_body *placed = &f->bodies[body];
  const size_t size = (size_t)placed->chart->num_modes * sizeof *amplitudes;
  memcpy(analysis->q + placed->q + placed->place.base->nq, amplitudes, size);
  memcpy(analysis->v + placed->v + placed->place.base->dim, rates, size);
  return POL_OK;
}

const pol_state *pol_analysis_state(const pol_analysis *analysis)
{
  return &analysis->state;
}

const pol_formulation *pol_analysis_formulation(const pol_analysis *analysis)
{
  return analysis->formulation;
}

const unsigned char *pol_analysis_dropped(const pol_analysis *analysis, int *count)
{
  const unsigned char *dropped = pol_assembler_dropped(analysis->assembler);
  for (int i = *(count ? count : &(int){0}) = 0; i < pol_dae_num_constraints(analysis->dae); i++)
    if (count && dropped[i]) ++*count;
  return dropped;
}
