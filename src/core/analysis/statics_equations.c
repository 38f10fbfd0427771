/* The equations of statics: forces left without balance, increments, and moves along them; see
 * statics.c. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statics.h"
#include "base/arena.h"
#include "formulation/output.h"

void poli_statics_largest(const poli_statics *s, const double *x, double *rotation,
                          double *translation)
{
  const pol_formulation *f = s->a->formulation;
  *rotation = *translation = 0.0;
  for (int i = 0; i < f->num_bodies; i++) {
    const poli_placed_body *body = &f->bodies[i];
    for (int k = 0; k < body->chart->dim; k++) {
      double *part = k < body->chart->num_rotations ? rotation : translation;
      *part = fmax(*part, fabs(x[body->v + k]));
    }
  }
}

double poli_statics_product(const poli_statics *s, const double *x, const double *y)
{
  const pol_formulation *f = s->a->formulation;
  double rotations = 0.0, translations = 0.0;
  for (int i = 0; i < f->num_bodies; i++) {
    const poli_placed_body *body = &f->bodies[i];
    for (int k = 0; k < body->chart->dim; k++)
      *(k < body->chart->num_rotations ? &rotations : &translations) +=
          x[body->v + k] * y[body->v + k];
  }
  return rotations + translations / (s->a->length * s->a->length);
}

static pol_point point_of(const poli_statics *s)
{
  return pol_state_point(&s->a->state);
}

pol_status poli_statics_choose_rows(const poli_statics *s)
{
  pol_analysis *a = s->a;
  if (!s->has_redundant) return POL_OK;
  pol_assembler_keep_all(a->assembler);
  return pol_assembler_drop_redundant(a->assembler, a->state.t, a->q, NULL, NULL);
}

/* Forces may depend on multipliers: then they are found by iteration. */
pol_status poli_statics_release(poli_statics *s)
{
  pol_analysis *a = s->a;
  if (s->rotation) poli_rotation_apply(s->rotation);
  const pol_point at = point_of(s);
  pol_terms out = {.balance = s->force,
                   .mass = s->terms->mass,
                   .jacobian = s->terms->jacobian,
                   .feedback = s->terms->feedback};
  const unsigned want = POL_FORCE | POL_MASS | POL_JACOBIAN |
                        (s->rotation ? (unsigned)POL_INERTIA : 0u) |
                        (s->terms->feedback ? (unsigned)POL_FEEDBACK : 0u);
  for (int k = 0; k < (s->terms->feedback ? 50 : 1); k++) {
    pol_status status = poli_dae_evaluate(s->dae, &at, want, &out, s->terms->scratch);
    if (status && s->diagnostics) poli_dae_blame(s->dae, s->terms->scratch, s->diagnostics);
    if (status) return status;
    poli_saddle_set_kkt(s->rest, s->terms->mass, s->terms->jacobian);
    if (s->terms->feedback) poli_saddle_add_feedback(s->rest, s->terms->feedback);
    poli_saddle_drop(s->rest, pol_assembler_dropped(a->assembler));
    status = pol_solver_refactor(s->rest->solver, s->rest->values);
    if (status) return status;
    memset(s->x, 0, (size_t)(s->nv + s->m) * sizeof *s->x);
    for (int i = 0; i < s->nv; i++) s->x[i] = -s->force[i];
    if (s->terms->feedback)
      pol_matrix_multiply(s->terms->patterns.feedback, s->terms->feedback, 1.0, a->lambda, s->x);
    pol_solver_solve(s->rest->solver, s->x);
    double change = 0.0, size = 0.0;
    for (int i = 0; i < s->m; i++) {
      change = fmax(change, fabs(s->x[s->nv + i] - a->lambda[i]));
      size = fmax(size, fabs(s->x[s->nv + i]));
      a->lambda[i] = s->x[s->nv + i];
    }
    if (change <= 1e-13 * size) break;
  }
  memcpy(s->accelerations, s->x, (size_t)s->nv * sizeof *s->x);
  memset(s->balance, 0, (size_t)s->nv * sizeof *s->balance);
  pol_matrix_multiply(s->terms->patterns.coupling, s->terms->mass, 1.0, s->accelerations,
                      s->balance);

  /* compared with the largest force, and with its moment at the length of the model */
  double torque, force, left_torque, left_force;
  poli_statics_largest(s, s->force, &torque, &force);
  poli_statics_largest(s, s->balance, &left_torque, &left_force);
  for (int i = 0; i < s->moving; i++)
    if (!isfinite(s->balance[i])) return POL_NOT_FINITE;
  /* reactions on a body are of the size of its forces; those inside a loop may be larger */
  memset(s->x, 0, (size_t)s->nv * sizeof *s->x);
  pol_matrix_multiply_transposed(s->terms->patterns.constraint, s->terms->jacobian, 1.0, a->lambda,
                                 s->x);
  double reaction_torque, reaction;
  poli_statics_largest(s, s->x, &reaction_torque, &reaction);
  force = fmax(force, reaction);
  /* a weight that a spring carries is not in either */
  double gravity[3];
  pol_mechanism_gravity(a->mechanism, gravity);
  const double g =
      sqrt(gravity[0] * gravity[0] + gravity[1] * gravity[1] + gravity[2] * gravity[2]);
  for (int i = 0; i < a->formulation->num_bodies; i++)
    force = fmax(force, a->formulation->bodies[i].body->mass * g);
  torque = fmax(fmax(torque, reaction_torque), a->length * force);
  force = fmax(force, torque / a->length);
  s->largest = force;
  s->residual = torque > 0.0 ? fmax(left_torque / torque, left_force / force) : 0.0;
  return POL_OK;
}

pol_status poli_statics_increment(poli_statics *s, double mu)
{
  const pol_point at = point_of(s);
  pol_status status = poli_terms_evaluate(s->terms, &at, s->diagnostics);
  if (status) return status;
  if (s->rotation) poli_rotation_add_stiffness(s->rotation, s->terms);
  const pol_pattern *coupling = s->terms->patterns.coupling;
  for (int j = 0; j < s->nv; j++)
    for (int e = coupling->start[j]; e < coupling->start[j + 1]; e++)
      s->matrix[e] =
          (j < s->moving ? s->terms->stiffness[e] : s->terms->damping[e]) + mu * s->terms->mass[e];
  poli_saddle_set_kkt(s->tangent, s->matrix, s->terms->jacobian);
  if (s->terms->feedback) poli_saddle_add_feedback(s->tangent, s->terms->feedback);
  poli_saddle_drop(s->tangent, pol_assembler_dropped(s->a->assembler));
  status = pol_solver_refactor(s->tangent->solver, s->tangent->values);
  if (status) return status;
  poli_statics_respond(s, s->balance, 1.0, s->w);
  for (int i = 0; i < s->nv; i++)
    if (!isfinite(s->w[i])) return POL_SINGULAR;
  return POL_OK;
}

void poli_statics_respond(poli_statics *s, const double *forces, double sign, double *x)
{
  memset(s->x, 0, (size_t)(s->nv + s->m) * sizeof *s->x);
  for (int i = 0; i < s->nv; i++) s->x[i] = sign * forces[i];
  pol_solver_solve(s->tangent->solver, s->x);
  memcpy(x, s->x, (size_t)s->nv * sizeof *x);
}

void poli_statics_copy(const poli_statics *s, double *kept, int back)
{
  const pol_analysis *a = s->a;
  double *const its[] = {a->q, a->v, a->lambda, a->history};
  const size_t sizes[] = {(size_t)s->dae->group.nq, (size_t)s->nv, (size_t)s->m,
                          s->dae->history_size};
  for (int i = 0; i < 4; kept += sizes[i++])
    if (sizes[i] > 0) memcpy(back ? its[i] : kept, back ? kept : its[i], sizes[i] * sizeof *kept);
}

pol_status poli_statics_move(poli_statics *s, double part)
{
  pol_analysis *a = s->a;
  poli_statics_copy(s, s->kept, 1);
  for (int i = 0; i < s->nv; i++) s->x[i] = i < s->moving ? part * s->w[i] : 0.0;
  /* rolling: the increment that the constraints of the middle allow, so that the path is right to
   * second order */
  if (s->dae->num_nonholonomic > 0) {
    double *middle = s->path, *f = middle + s->dae->group.nq;
    for (int i = 0; i < s->nv; i++) f[i] = 0.5 * s->x[i];
    pol_group_move(&s->dae->group, a->q, f, middle);
    memset(f, 0, (size_t)s->nv * sizeof *f);
    pol_matrix_multiply(s->terms->patterns.coupling, s->terms->mass, 1.0, s->x, f);
    const pol_status rolled =
        poli_assembler_response(a->assembler, a->state.t, middle, f, s->x, NULL);
    if (rolled) return rolled;
  }
  pol_group_move(&s->dae->group, a->q, s->x, a->q);
  for (int i = s->moving; i < s->nv; i++) a->v[i] += part * s->w[i];
  pol_status status = pol_assembler_position(a->assembler, a->state.t, a->q, NULL);
  if (status) return status;
  if (s->dae->update_history) s->dae->update_history(a->state.t, a->q, a->history, s->dae->user);
  status = poli_statics_choose_rows(s);
  return status ? status : poli_statics_release(s);
}

/* --- beams ------------------------------------------------------------------------------------ */

/* f of all beam elements, to first order behind the increment w; NULL: at the state. */
static void set_resultants(poli_statics *s, const double *w, double part)
{
  static const double none[6];
  const pol_formulation *f = s->a->formulation;
  const poli_instant now = {f, point_of(s), NULL};
  for (int k = 0; k < f->num_forces && s->num_beams > 0; k++) {
    const poli_force_kernel *kernel = &f->forces[k].kernel;
    if (kernel->force->type != POL_BEAM) continue;
    const poli_frame *frames[2];
    const double *increments[2];
    poli_frame own[2];
    double found[6];
    for (int i = 0; i < 2; i++) {
      const int body = kernel->body[i];
      frames[i] = poli_instant_frame(&now, body, &own[i]);
      increments[i] = w && body != POL_GROUND ? w + f->bodies[body].v : none;
    }
    poli_beam_extrapolate(&kernel->beam, frames[0], frames[1], increments[0], increments[1], found);
    for (int i = 0; i < 6; i++) {
      double *value = s->resultants + 6 * k + i;
      *value += part * (found[i] - *value);
    }
  }
}

static void use_resultants(poli_statics *s, int own)
{
  const pol_formulation *f = s->a->formulation;
  for (int k = 0; k < f->num_forces && s->num_beams > 0; k++)
    if (f->forces[k].kernel.force->type == POL_BEAM)
      f->forces[k].kernel.beam.resultant = own ? s->resultants + 6 * k : NULL;
}

pol_status poli_statics_check_beams(poli_statics *s)
{
  const pol_formulation *f = s->a->formulation;
  const poli_instant now = {f, point_of(s), NULL};
  const int found = s->num_beams > 0 ? poli_instant_inverted(&now) : -1;
  if (found < 0) return POL_OK;
  snprintf(s->diagnostics->where, sizeof s->diagnostics->where, "force '%s'",
           pol_mechanism_force(f->mechanism, found)->name);
  return poli_analysis_fail(
      s->a, POL_NOT_CONVERGED,
      "no equilibrium was found: the loads compress a beam to nothing and turn an element inside "
      "out",
      "smaller loads; with --arc-length the path shows how far the beam carries them",
      s->diagnostics);
}

int poli_statics_blames_beams(poli_statics *s)
{
  const pol_formulation *f = s->a->formulation;
  const poli_instant now = {f, point_of(s), NULL};
  const int found = s->num_beams > 0 ? poli_instant_turned(&now) : -1;
  if (found < 0) return 0;
  if (s->diagnostics)
    snprintf(s->diagnostics->where, sizeof s->diagnostics->where, "force '%s'",
             pol_mechanism_force(f->mechanism, found)->name);
  poli_analysis_fail(s->a, POL_NOT_CONVERGED,
                     "no equilibrium was found: the loads turn the ends of a beam element against "
                     "each other by as much as it allows",
                     "more elements, or smaller loads", s->diagnostics);
  return 1;
}

void poli_statics_mix(poli_statics *s)
{
  set_resultants(s, NULL, 1.0);
  use_resultants(s, 1);
}

void poli_statics_extrapolate(poli_statics *s, double part)
{
  set_resultants(s, s->w, part);
}

void poli_statics_unmix(poli_statics *s)
{
  use_resultants(s, 0);
}

/* --- life cycle ------------------------------------------------------------------------------- */

pol_status poli_statics_create(poli_statics *s, pol_analysis *a)
{
  s->a = a;
  s->dae = a->dae;
  s->nv = a->dae->group.nv;
  s->m = pol_dae_num_constraints(a->dae);
  s->moving = poli_analysis_first_state(a);
  pol_analysis_dropped(a, &s->has_redundant);
  for (int k = 0; k < pol_mechanism_num_forces(a->mechanism); k++)
    s->num_beams += pol_mechanism_force(a->mechanism, k)->type == POL_BEAM;
  pol_status status = poli_terms_create(&s->terms, s->dae);
  if (!status) status = poli_saddle_create(&s->rest, s->dae, 0, POL_SOLVER_AUTO);
  if (!status) status = poli_saddle_create(&s->tangent, s->dae, 0, POL_SOLVER_AUTO);
  if (status) return status;
  poli_arena arena = {0};
  do {
    POLI_TAKE(&arena, s->matrix, pol_pattern_nonzeros(s->terms->patterns.coupling));
    POLI_TAKE_EACH(&arena, s->nv, &s->force, &s->w, &s->accelerations, &s->balance);
    POLI_TAKE(&arena, s->x, s->nv + s->m);
    POLI_TAKE(&arena, s->resultants, s->num_beams > 0 ? 6 * a->formulation->num_forces : 0);
    POLI_TAKE(&arena, s->path, s->dae->group.nq + s->nv);
    POLI_TAKE_EACH(&arena, s->dae->group.nq + s->nv + s->m + (int)s->dae->history_size, &s->kept,
                   &s->start);
  } while (poli_arena_again(&arena));
  s->memory = arena.memory;
  if (!s->memory) return POL_NO_MEMORY;
  memset(a->v, 0, (size_t)s->moving * sizeof *a->v);
  memset(a->vd, 0, (size_t)s->nv * sizeof *a->vd);
  return POL_OK;
}

void poli_statics_free(poli_statics *s)
{
  poli_terms_free(&s->terms);
  poli_saddle_free(&s->rest);
  poli_saddle_free(&s->tangent);
  poli_rotation_free(&s->rotation);
  free(s->memory);
}
