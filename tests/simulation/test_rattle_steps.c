/* rattle on rigid bodies with steps of variable size: estimate and true error, tolerance and error,
 * the order between the nodes, events and restarts, reversible steps, the order chosen from the
 * tolerances, and what is refused. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "integrators/family.h"
#include "simulation/simulate.h"

#define MODELS POLHODE_SOURCE_DIR "/models/"
#define HEAVY_TOP MODELS "bruels-cardona-2010/heavy_top.json"
#define SLIDER_CRANK MODELS "holzinger-arnold-gerstmayr/slider_crank.json"
#define DOUBLE_PENDULUM MODELS "examples/double_pendulum.json"
#define GYROSCOPE MODELS "examples/gyroscope.json"
#define LAG MODELS "examples/lag_actuator.json"

enum { MAX = 100 };

/* An integrator at the start of a model. */
typedef struct problem {
  pol_model *model;
  pol_formulation *formulation;
  const pol_dae *dae;
  pol_integrator *integrator;
  double q[MAX], v[MAX];
} problem;

static void begin(problem *p, const pol_options *options)
{
  unsigned char keep[MAX];
  pol_integrator_free(&p->integrator);
  pol_formulation_initial(p->formulation, p->q, p->v, keep);
  assert_int_equal(pol_integrator_create(&p->integrator, p->dae, options), POL_OK);
  assert_int_equal(pol_integrator_start(p->integrator, 0.0, p->q, p->v, keep), POL_OK);
}

static problem set_up(const char *path)
{
  problem p = {.model = read_model(path)};
  assert_int_equal(pol_formulation_create(&p.formulation, p.model->mechanism, POL_SO3XR3), POL_OK);
  p.dae = pol_formulation_dae(p.formulation);
  assert_true(p.dae->group.nq <= MAX && pol_dae_num_constraints(p.dae) <= MAX);
  return p;
}

static void clear(problem *p)
{
  pol_integrator_free(&p->integrator);
  pol_formulation_free(&p->formulation);
  pol_model_free(&p->model);
}

static pol_options rattle(int order, double tolerance)
{
  pol_options options = pol_options_default();
  options.method = "rattle";
  options.order = order;
  options.control =
      (pol_control){.rtol = tolerance, .atol_translation = tolerance, .atol_rotation = tolerance};
  return options;
}

static void adapt_to(pol_integrator *integrator, double end)
{
  while (pol_integrator_state(integrator)->t < end)
    if (pol_integrator_adapt(integrator, end) != POL_OK)
      fail_msg("t = %g: %s", pol_integrator_state(integrator)->t,
               pol_integrator_diagnostics(integrator)->message);
}

static double distance(const pol_dae *dae, const double *a, const double *b)
{
  double w[MAX], largest = 0.0;
  pol_group_difference(&dae->group, a, b, w);
  for (int i = 0; i < dae->group.nv; i++) largest = fmax(largest, fabs(w[i]));
  return largest;
}

static double largest_difference(const double *a, const double *b, int n)
{
  double largest = 0.0;
  for (int i = 0; i < n; i++) largest = fmax(largest, fabs(a[i] - b[i]));
  return largest;
}

/* --- the estimate ----------------------------------------------------------------------------- */

/* Of one step, against the same step in many small ones. */
static void the_estimate_is_the_local_error(void **state)
{
  static const struct {
    const char *model;
    int order;
    double h;
  } cases[] = {{HEAVY_TOP, 2, 1e-3},       {HEAVY_TOP, 4, 4e-3},    {HEAVY_TOP, 6, 8e-3},
               {DOUBLE_PENDULUM, 4, 5e-2}, {SLIDER_CRANK, 4, 1e-2}, {LAG, 4, 4e-2}};
  (void)state;
  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
    problem p = set_up(cases[c].model);
    double estimate[MAX], end[MAX], exact = 0.0, found = 0.0;
    pol_options options = rattle(cases[c].order, 1.0);
    options.control.first_step = cases[c].h;
    /* a step apart from the start, where much cancels */
    begin(&p, &options);
    for (int n = 0; n < 2; n++) {
      memcpy(p.q, pol_integrator_state(p.integrator)->q, sizeof(double) * (size_t)p.dae->group.nq);
      memcpy(p.v, pol_integrator_state(p.integrator)->v, sizeof(double) * (size_t)p.dae->group.nv);
      p.integrator->control->h = cases[c].h;
      assert_int_equal(pol_integrator_adapt(p.integrator, 9.0), POL_OK);
    }
    const double t = pol_integrator_state(p.integrator)->t;
    memcpy(estimate, p.integrator->control->error, sizeof(double) * (size_t)p.dae->group.nv);
    memcpy(end, pol_integrator_state(p.integrator)->q, sizeof(double) * (size_t)p.dae->group.nq);
    options = rattle(8, 1.0);
    pol_integrator *fine;
    assert_int_equal(pol_integrator_create(&fine, p.dae, &options), POL_OK);
    assert_int_equal(pol_integrator_start(fine, t - cases[c].h, p.q, p.v, NULL), POL_OK);
    for (int n = 0; n < 16; n++)
      assert_int_equal(pol_integrator_step(fine, cases[c].h / 16.0), POL_OK);
    exact = distance(p.dae, pol_integrator_state(fine)->q, end);
    for (int i = 0; i < p.dae->group.nv; i++) found = fmax(found, fabs(estimate[i]));
    if (!(found > 0.7 * exact && found < 1.6 * exact))
      fail_msg("%s, order %d: estimate %g, error %g", cases[c].model, cases[c].order, found, exact);
    pol_integrator_free(&fine);
    clear(&p);
  }
}

/* With order p the error at the end is about tolerance^(p/(p + 1)), over four decades. */
static void errors_follow_the_tolerance(void **state)
{
  static const struct {
    const char *model;
    int order;
    double end, least, most; /* error over tolerance^(p/(p + 1)) */
  } cases[] = {{HEAVY_TOP, 4, 1.0, 1.0, 10.0},        {HEAVY_TOP, 6, 1.0, 0.5, 10.0},
               {DOUBLE_PENDULUM, 4, 1.0, 0.05, 5.0},  {DOUBLE_PENDULUM, 6, 1.0, 0.01, 5.0},
               {DOUBLE_PENDULUM, 8, 1.0, 0.001, 2.0}, {SLIDER_CRANK, 4, 0.5, 0.05, 20.0},
               {SLIDER_CRANK, 8, 0.5, 0.001, 10.0},   {LAG, 6, 1.0, 0.001, 5.0}};
  (void)state;
  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
    problem p = set_up(cases[c].model);
    double exact[MAX];
    pol_options options = rattle(8, 1e-13);
    begin(&p, &options);
    adapt_to(p.integrator, cases[c].end);
    memcpy(exact, pol_integrator_state(p.integrator)->q, sizeof(double) * (size_t)p.dae->group.nq);
    for (double tolerance = 1e-6; tolerance > 5e-11; tolerance *= 1e-4) {
      options = rattle(cases[c].order, tolerance);
      begin(&p, &options);
      adapt_to(p.integrator, cases[c].end);
      const double error = distance(p.dae, pol_integrator_state(p.integrator)->q, exact);
      const pol_counts *counts = pol_integrator_counts(p.integrator);
      const double usual = pow(tolerance, cases[c].order / (cases[c].order + 1.0));
      if (!(error > cases[c].least * usual && error < cases[c].most * usual) ||
          counts->rejected > counts->steps / 2 + 2)
        fail_msg("%s, order %d, tolerance %g: error %g, %ld steps, %ld rejected", cases[c].model,
                 cases[c].order, tolerance, error, counts->steps, counts->rejected);
    }
    clear(&p);
  }
}

/* A drive determines the motion, so that the ends of all steps are exact: the tolerance still holds
 * between them. */
static void the_tolerance_holds_between_the_ends(void **state)
{
  (void)state;
  enum { TIMES = 60 };
  static double exact[TIMES][MAX];
  const double interval = 0.0075, tolerance = 1e-8;
  problem p = set_up(MODELS "examples/four_bar_motor.json");
  pol_options options = rattle(8, 1e-6);
  begin(&p, &options);
  for (int n = 0; n < TIMES; n++) {
    assert_int_equal(pol_integrator_step(p.integrator, interval), POL_OK);
    memcpy(exact[n], pol_integrator_state(p.integrator)->q,
           sizeof(double) * (size_t)p.dae->group.nq);
  }
  options = rattle(6, tolerance);
  begin(&p, &options);
  for (int n = 0; n < TIMES; n++) {
    const double t = (n + 1) * interval;
    double q[MAX];
    while (pol_integrator_state(p.integrator)->t < t)
      assert_int_equal(pol_integrator_adapt(p.integrator, 2.0), POL_OK);
    assert_int_equal(pol_integrator_interpolate(p.integrator, t, q, NULL, NULL, NULL), POL_OK);
    if (!(distance(p.dae, q, exact[n]) < 10.0 * tolerance))
      fail_msg("t = %g: %g", t, distance(p.dae, q, exact[n]));
  }
  clear(&p);
}

/* --- between the nodes ------------------------------------------------------------------------ */

/* Errors of q, v, v', lambda within the third of equal steps, or of variable ones of that size. */
static void errors_within(problem *p, int order, int variable, double h, double x, double error[4])
{
  const pol_group *group = &p->dae->group;
  double q[MAX], v[MAX], vd[MAX], lambda[MAX];
  pol_options options = rattle(order, variable ? 1.0 : 1e-6);
  begin(p, &options);
  for (int n = 0; n < 3; n++) {
    p->integrator->control->h = h;
    assert_int_equal(variable ? pol_integrator_adapt(p->integrator, 9.0)
                              : pol_integrator_step(p->integrator, h),
                     POL_OK);
  }
  assert_true(fabs(pol_integrator_state(p->integrator)->t - 3.0 * h) < 1e-12);
  assert_int_equal(pol_integrator_interpolate(p->integrator, (2.0 + x) * h, q, v, vd, lambda),
                   POL_OK);
  options = rattle(8, 1e-6);
  begin(p, &options);
  for (int n = 0; n < 40; n++)
    assert_int_equal(pol_integrator_step(p->integrator, (2.0 + x) * h / 40.0), POL_OK);
  const pol_state *exact = pol_integrator_state(p->integrator);
  error[0] = distance(p->dae, q, exact->q);
  error[1] = largest_difference(v, exact->v, group->nv);
  error[2] = largest_difference(vd, exact->vd, group->nv);
  error[3] = largest_difference(lambda, exact->lambda, pol_dae_num_constraints(p->dae));
}

static void the_order_holds_between_the_nodes(void **state)
{
  static const struct {
    const char *model;
    int order, variable;
    double h;
  } cases[] = {{DOUBLE_PENDULUM, 4, 0, 0.08}, {DOUBLE_PENDULUM, 6, 0, 0.12},
               {DOUBLE_PENDULUM, 8, 0, 0.16}, {DOUBLE_PENDULUM, 8, 1, 0.2},
               {GYROSCOPE, 6, 0, 0.004},      {LAG, 6, 1, 0.2},
               {HEAVY_TOP, 8, 0, 0.01}};
  (void)state;
  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
    problem p = set_up(cases[c].model);
    double most[2][4] = {{0.0}}, error[4];
    for (int k = 0; k < 2; k++)
      for (double x = 0.2; x < 1.0; x += 0.2) {
        errors_within(&p, cases[c].order, cases[c].variable, ldexp(cases[c].h, -2 * k), x, error);
        for (int i = 0; i < 4; i++) most[k][i] = fmax(most[k][i], error[i]);
      }
    for (int i = 0; i < 4; i++) {
      const double order = 0.5 * log2(most[0][i] / most[1][i]);
      if (most[0][i] < 1e-12) continue; /* multipliers that are zero */
      if (!(order > cases[c].order - 0.2))
        fail_msg("%s, order %d, component %d: %.2f (%g, %g)", cases[c].model, cases[c].order, i,
                 order, most[0][i], most[1][i]);
    }
    clear(&p);
  }
}

/* --- simulations ------------------------------------------------------------------------------ */

static const char *const variable_8[] = {"simulation.method=rattle", "simulation.order=8",
                                         "simulation.formulation=so3xr3", "simulation.rtol=1e-9",
                                         "simulation.steps=variable"};

/* Events are found on the interpolant, and a restart begins anew: the impacts of a ball that loses
 * a fixed share of its speed, whose times are known. */
static void events_and_restarts(void **state)
{
  static const char text[] =
      "{\"gravity\": [0, 0, -9.81], \"bodies\": [{\"name\": \"ball\", \"mass\": 1, \"inertia\": "
      "[0.01, 0.01, 0.01], \"position\": [0, 0, 1], \"angular_velocity\": [1, 2, 3]}], \"events\": "
      "[{\"name\": \"bounce\", \"expression\": \"ball.position.z\", \"direction\": \"falling\", "
      "\"action\": \"reset\", \"set\": {\"ball.velocity.z\": \"-0.8*ball.velocity.z\"}}], "
      "\"simulation\": {%s\"method\": \"rattle\", \"order\": %d, \"end\": 2}}";
  (void)state;
  for (int order = 2; order <= 8; order += 2)
    for (int variable = 0; variable < 2; variable++) {
      char full[1000];
      snprintf(full, sizeof full, text, variable ? "\"rtol\": 1e-9, " : "\"step\": 0.05, ", order);
      pol_model *model = read_model_text(full);
      pol_simulation *simulation = start(model);
      double expected = sqrt(2.0 / 9.81), speed = 9.81 * expected;
      int count = 0;
      while (!pol_simulation_finished(simulation)) {
        take_step(simulation);
        if (pol_simulation_event_index(simulation) < 0) continue;
        const double t = pol_simulation_summary(simulation)->t;
        if (!(fabs(t - expected) < 1e-11)) fail_msg("bounce %d at %.15g", count, t);
        speed *= 0.8;
        expected += 2.0 * speed / 9.81;
        count++;
      }
      assert_int_equal(count, 3);
      const double t = 2.0 - (expected - 2.0 * speed / 9.81);
      const double z = pol_simulation_state(simulation)->q[6];
      assert_true(fabs(z - (speed * t - 0.5 * 9.81 * t * t)) < 1e-10);
      pol_simulation_free(&simulation);
      pol_model_free(&model);
    }
}

/* Output times do not change the steps, and between them rows are as accurate as at the ends. */
static void output_times_do_not_change_the_run(void **state)
{
  (void)state;
  pol_model *model = read_model_with(DOUBLE_PENDULUM, 5, variable_8);
  pol_settings settings = model->settings;
  settings.end = 1.0;
  settings.output = (pol_output){0};
  pol_simulation *plain = start_with(model->mechanism, &settings);
  step_to_end(plain);
  settings.output.step = 0.01;
  pol_simulation *rows = start_with(model->mechanism, &settings);
  const double initial = pol_simulation_summary(rows)->initial_energy.kinetic +
                         pol_simulation_summary(rows)->initial_energy.potential;
  int count = 0;
  for (; !pol_simulation_finished(rows); count++) {
    take_step(rows);
    const pol_summary *now = pol_simulation_summary(rows);
    assert_true(now->position_residual < 1e-8 && now->velocity_residual < 1e-7);
    assert_true(fabs(now->energy.kinetic + now->energy.potential - initial) < 1e-6);
  }
  assert_int_equal(count, 100);
  assert_int_equal(pol_simulation_summary(rows)->counts.steps,
                   pol_simulation_summary(plain)->counts.steps);
  assert_true(pol_simulation_summary(plain)->counts.steps < 50);
  assert_memory_equal(pol_simulation_state(rows)->q, pol_simulation_state(plain)->q,
                      14 * sizeof(double));
  pol_simulation_free(&rows);
  pol_simulation_free(&plain);
  pol_model_free(&model);
}

/* Steps are large; the work of dampers and motors is still that of the energy. */
static void work_balances_the_energy(void **state)
{
  static const struct {
    const char *model;
    double most; /* of what is dissipated, 0.37 J and 0.13 J */
  } cases[] = {{MODELS "examples/governor.json", 2e-4},
               {MODELS "examples/lag_actuator.json", 1.5e-4}};
  (void)state;
  for (int c = 0; c < 2; c++) {
    const char *const overrides[] = {"simulation.method=rattle", "simulation.order=4",
                                     "simulation.rtol=1e-6", "simulation.steps=variable"};
    pol_model *model = read_model_with(cases[c].model, 4, overrides);
    pol_simulation *simulation = start(model);
    step_to_end(simulation);
    const pol_summary *end = pol_simulation_summary(simulation);
    if (!(fabs(end->energy_balance) < cases[c].most && end->work.dissipated > 0.1))
      fail_msg("%s: balance %g, dissipated %g", cases[c].model, end->energy_balance,
               end->work.dissipated);
    pol_simulation_free(&simulation);
    pol_model_free(&model);
  }
}

/* --- reversible steps ------------------------------------------------------------------------- */

static pol_model *read_reversible(const char *path, const char *step, const char *end)
{
  char text[2][80];
  snprintf(text[0], sizeof text[0], "simulation.step=%s", step);
  snprintf(text[1], sizeof text[1], "simulation.end=%s", end);
  const char *const overrides[] = {text[0], text[1], "simulation.method=rattle",
                                   "simulation.order=4",
                                   "simulation.control={\"controller\": \"reversible\"}"};
  return read_model_with(path, 5, overrides);
}

/* The energy error of the last tenth is that of the first, and smaller than with as many equal
 * steps. */
static void energy_does_not_drift(void **state)
{
  (void)state;
  pol_model *model =
      read_reversible(MODELS "kinon-betsch-schneider-2023/pendulum.json", "0.06", "200");
  double first = 0.0, last = 0.0, fixed = 0.0;
  pol_settings settings = model->settings;
  for (int k = 0; k < 2; k++) {
    pol_simulation *simulation = start_with(model->mechanism, &settings);
    const pol_summary *now = pol_simulation_summary(simulation);
    const double initial = now->initial_energy.kinetic + now->initial_energy.potential;
    while (!pol_simulation_finished(simulation)) {
      take_step(simulation);
      const double error = fabs(now->energy.kinetic + now->energy.potential - initial);
      if (k == 1) fixed = fmax(fixed, error);
      if (k == 0 && now->t < 20.0) first = fmax(first, error);
      if (k == 0 && now->t > 180.0) last = fmax(last, error);
    }
    if (k == 0 && !(now->counts.largest_step > 1.3 * now->counts.smallest_step))
      fail_msg("steps from %g to %g", now->counts.smallest_step, now->counts.largest_step);
    settings.step = settings.end / (double)now->counts.steps;
    settings.variable = 0;
    settings.options.control.controller = POL_CONTROLLER_ELEMENTARY;
    pol_simulation_free(&simulation);
  }
  if (!(last < 1.3 * first && last > 0.5 * first && fixed > first))
    fail_msg("first tenth %g, last %g, equal steps %g", first, last, fixed);
  pol_model_free(&model);
}

/* The same steps back lead to the start. */
static void steps_are_reversible(void **state)
{
  enum { STEPS = 300 };
  (void)state;
  problem p = set_up(MODELS "kinon-betsch-schneider-2023/pendulum.json");
  pol_options options = rattle(4, 1e-6);
  options.control.controller = POL_CONTROLLER_REVERSIBLE;
  options.control.first_step = 0.05;
  begin(&p, &options);
  pol_integrator *s = p.integrator;
  const pol_state *now = pol_integrator_state(s);
  double start[MAX], back[MAX], size[STEPS], least = HUGE_VAL, most = 0.0, kinetic, rate, forces;
  memcpy(start, now->q, sizeof(double) * (size_t)p.dae->group.nq);
  for (int n = 0; n < STEPS; n++) {
    const double before = now->t;
    assert_int_equal(pol_integrator_adapt(s, 1e9), POL_OK);
    size[n] = now->t - before;
    least = fmin(least, size[n]);
    most = fmax(most, size[n]);
  }
  assert_true(most > 1.3 * least);
  /* the pace of the step that would follow; backwards the energy changes by the opposite */
  assert_int_equal(s->family->adaptive->energies(s, &kinetic, &rate, &forces), POL_OK);
  const double floor = s->control->floor;
  const double pace = s->control->pace + 0.5 * 0.05 * rate / (kinetic + floor);
  for (int i = 0; i < p.dae->group.nv; i++) back[i] = -now->v[i];
  assert_int_equal(pol_integrator_restart(s, now->t, now->q, back, NULL), POL_OK);
  s->control->pace = pace;
  for (int n = STEPS - 1; n >= 0; n--) {
    const double before = now->t;
    assert_int_equal(pol_integrator_adapt(s, 1e9), POL_OK);
    assert_true(fabs(now->t - before - size[n]) < 1e-10);
  }
  if (!(distance(p.dae, now->q, start) < 1e-9)) fail_msg("%g", distance(p.dae, now->q, start));
  clear(&p);
}

/* --- settings --------------------------------------------------------------------------------- */

static void the_order_is_chosen(void **state)
{
  (void)state;
  pol_options options = rattle(0, 1e-4);
  assert_int_equal(pol_options_order(&options), 4);
  options = rattle(0, 1e-8);
  assert_int_equal(pol_options_order(&options), 6);
  options = rattle(0, 1e-11);
  assert_int_equal(pol_options_order(&options), 8);
  options.order = 2;
  assert_int_equal(pol_options_order(&options), 2);
  /* the same run as with that order */
  problem p = set_up(DOUBLE_PENDULUM);
  double q[MAX];
  for (int order = 6; order >= 0; order -= 6) {
    options = rattle(order, 1e-8);
    begin(&p, &options);
    adapt_to(p.integrator, 0.5);
    const double *end = pol_integrator_state(p.integrator)->q;
    if (order == 0) assert_memory_equal(q, end, sizeof(double) * (size_t)p.dae->group.nq);
    memcpy(q, end, sizeof(double) * (size_t)p.dae->group.nq);
  }
  clear(&p);
}

/* Reading a model with these changes, or starting it, is refused with these words. */
static void refuse(const char *path, int count, const char *const *overrides, const char *words)
{
  pol_errors errors = {0, NULL};
  pol_model *model = NULL;
  pol_diagnostics d = {.message = ""};
  if (pol_model_read_file(&model, path, count, overrides, &errors) == POL_OK) {
    pol_simulation *simulation;
    assert_int_not_equal(pol_simulation_create(&simulation, model->mechanism, &model->settings, &d),
                         POL_OK);
    if (!strstr(d.message, words)) fail_msg("%s", d.message);
  } else if (!strstr(errors.items[0].rule, words)) {
    fail_msg("%s: %s", errors.items[0].path, errors.items[0].rule);
  }
  pol_errors_clear(&errors);
  pol_model_free(&model);
}

static void refusals(void **state)
{
  (void)state;
  const char *const fixed_auto[] = {"simulation.method=rattle", "simulation.order=auto"};
  refuse(HEAVY_TOP, 2, fixed_auto, "without rtol and atol");
  const char *const order_3[] = {"simulation.method=rattle", "simulation.order=3"};
  refuse(HEAVY_TOP, 2, order_3, "must be 2, 4, 6, 8 or \"auto\"");
  const char *const directors[] = {"simulation.method=rattle", "simulation.rtol=1e-6",
                                   "simulation.formulation=directors"};
  refuse(HEAVY_TOP, 3, directors, "no error estimate in this formulation");
  const char *const reversible[] = {"simulation.method=rattle",
                                    "simulation.control={\"controller\": \"reversible\"}",
                                    "simulation.rtol=1e-6"};
  refuse(HEAVY_TOP, 3, reversible, "must not be reversible together with rtol or atol");
  refuse(MODELS "examples/four_bar_motor.json", 2, reversible, "change the energy");
  const char *const geom1[] = {"simulation.control={\"controller\": \"reversible\"}"};
  refuse(HEAVY_TOP, 1, geom1, "needs the method rattle in so3xr3");
  const char *const both[] = {"simulation.method=rattle",
                              "simulation.control={\"controller\": \"reversible\"}",
                              "simulation.order=auto"};
  refuse(HEAVY_TOP, 3, both, "without rtol and atol");
}

/* A step so small that it cannot be taken ends the run with the place and the reason. */
static void smallest_step(void **state)
{
  (void)state;
  const char *const overrides[] = {"simulation.method=rattle", "simulation.order=4",
                                   "simulation.rtol=1e-10",
                                   "simulation.control={\"min_step\": 0.01}"};
  pol_model *model = read_model_with(HEAVY_TOP, 4, overrides);
  pol_simulation *simulation = start(model);
  pol_status status = POL_OK;
  while (status == POL_OK && !pol_simulation_finished(simulation))
    status = pol_simulation_step(simulation);
  assert_int_equal(status, POL_SMALL_STEP);
  assert_non_null(strstr(pol_simulation_diagnostics(simulation)->message, "below 0.01 s"));
  assert_non_null(strstr(pol_simulation_diagnostics(simulation)->where, "top"));
  assert_true(pol_simulation_summary(simulation)->counts.rejected > 0);
  pol_simulation_free(&simulation);
  pol_model_free(&model);
}

/* An attempt whose iteration diverges to absurd momenta ends, and is repeated with a smaller step.
 */
static void diverging_attempts_end(void **state)
{
  (void)state;
  const char *const overrides[] = {"simulation.method=rattle", "simulation.order=4",
                                   "simulation.rtol=1e-4", "simulation.end=1"};
  pol_model *model = read_model_with(MODELS "examples/suspension.json", 4, overrides);
  pol_simulation *simulation = start(model);
  step_to_end(simulation);
  pol_simulation_free(&simulation);
  pol_model_free(&model);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_estimate_is_the_local_error),
      cmocka_unit_test(errors_follow_the_tolerance),
      cmocka_unit_test(the_tolerance_holds_between_the_ends),
      cmocka_unit_test(the_order_holds_between_the_nodes),
      cmocka_unit_test(events_and_restarts),
      cmocka_unit_test(output_times_do_not_change_the_run),
      cmocka_unit_test(work_balances_the_energy),
      cmocka_unit_test(energy_does_not_drift),
      cmocka_unit_test(steps_are_reversible),
      cmocka_unit_test(the_order_is_chosen),
      cmocka_unit_test(refusals),
      cmocka_unit_test(smallest_step),
      cmocka_unit_test(diverging_attempts_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
