/* A mechanism with one formulation and method of polhode, opened once and run many times: what
 * benchmarks time is pol_integrator_step or pol_integrator_adapt alone. */
#ifndef POLHODE_BENCH_PLAN_H
#define POLHODE_BENCH_PLAN_H

#include "measure.h"

#include <polhode/polhode.h>

typedef struct bench_plan {
  pol_formulation_kind kind;
  pol_options options;
  int variable; /* 1: steps of variable size */
  pol_formulation *formulation;
  pol_integrator *integrator;
  double *q, *v;    /* consistent initial values */
  char reason[400]; /* why it was refused or has failed; "" if not */
} bench_plan;

/* geom1 and the others with their defaults, rattle with an order; rho_inf 0.9, or 0.8 with variable
 * steps. */
static inline bench_plan bench_plan_make(const char *method, pol_formulation_kind kind,
                                         pol_index index, int order, int variable)
{
  bench_plan plan = {.kind = kind, .options = pol_options_default(), .variable = variable};
  pol_options_set_method(&plan.options, method);
  if (!strcmp(method, "geom1")) pol_options_set_rho_inf(&plan.options, variable ? 0.8 : 0.9);
  plan.options.index = index;
  plan.options.order = order;
  return plan;
}

/* 0 if it can run; otherwise the reason says why not. */
static inline int bench_plan_open(bench_plan *plan, const pol_mechanism *mechanism)
{
  const size_t size = sizeof plan->reason;
  pol_diagnostics diagnostics;
  if (pol_formulation_supports(mechanism, plan->kind, plan->reason, size)) return -1;
  pol_status status = pol_formulation_create(&plan->formulation, mechanism, plan->kind);
  if (!status) {
    const pol_dae *dae = pol_formulation_dae(plan->formulation);
    if (pol_integrator_supports(dae, &plan->options, plan->reason, size)) return -1;
    plan->q = calloc((size_t)dae->group.nq + 1, sizeof *plan->q);
    plan->v = calloc((size_t)dae->group.nv + 1, sizeof *plan->v);
    unsigned char *keep = calloc((size_t)dae->group.nv + 1, 1);
    if (!plan->q || !plan->v || !keep) exit(1);
    pol_formulation_initial(plan->formulation, plan->q, plan->v, keep);
    free(keep);
    status = pol_formulation_assemble(plan->formulation, plan->options.solver, 0.0, plan->q,
                                      plan->v, &diagnostics);
    if (!status) status = pol_integrator_create(&plan->integrator, dae, &plan->options);
  }
  if (status) snprintf(plan->reason, size, "%s", pol_status_text(status));
  return status ? -1 : 0;
}

static inline void bench_plan_close(bench_plan *plan)
{
  pol_integrator_free(&plan->integrator);
  pol_formulation_free(&plan->formulation);
  free(plan->q);
  free(plan->v);
  plan->q = plan->v = NULL;
}

/* From 0 to the end with so many equal steps, or with a tolerance of 1/effort; 0 if done. */
static inline int bench_plan_run(bench_plan *plan, double end, double effort, double *seconds)
{
  pol_integrator *integrator = plan->integrator;
  const pol_state *state = pol_integrator_state(integrator);
  if (plan->variable) { /* tolerances belong to the integrator */
    pol_control *control = &plan->options.control;
    control->rtol = control->atol_translation = control->atol_rotation = 1.0 / effort;
    pol_integrator_free(&plan->integrator);
    if (pol_integrator_create(&plan->integrator, pol_formulation_dae(plan->formulation),
                              &plan->options))
      return -1;
    integrator = plan->integrator;
    state = pol_integrator_state(integrator);
  }
  pol_status status = pol_integrator_start(integrator, 0.0, plan->q, plan->v, NULL);
  const double begin = bench_now();
  if (plan->variable)
    while (!status && state->t < end) status = pol_integrator_adapt(integrator, end);
  else
    for (double n = 0.0; !status && n < effort; n++)
      status = pol_integrator_step(integrator, end / effort);
  *seconds = bench_now() - begin;
  if (status)
    snprintf(plan->reason, sizeof plan->reason, "%s",
             pol_integrator_diagnostics(integrator)->message);
  return status ? -1 : 0;
}

#endif
