/* Steps of variable size: proportionality of error and tolerance, the estimate against the true
 * local error, what a change of the step size does to the multipliers, undoing of attempts, limits
 * and failures.  test_step_counts.c has the counts of the published algorithm. */
#include "integrators/gavrea.h"

#include <polhode/polhode.h>

#include "dae/assembler.h"
#include "integrators/family.h"
#include "simulation/heavy_top.h"

enum { MAX_NQ = 8 };

static void set_tolerance(pol_options *options, double eps)
{
  options->control.rtol = eps;
  options->control.atol_translation = options->control.atol_rotation = eps;
}

static pol_integrator *start(const pol_dae *dae, const pol_options *options, const double *q,
                             const double *v, const unsigned char *keep)
{
  pol_integrator *integrator;
  assert_int_equal(pol_integrator_create(&integrator, dae, options), POL_OK);
  assert_int_equal(pol_integrator_start(integrator, 0.0, q, v, keep), POL_OK);
  return integrator;
}

/* To the end, which is met exactly. */
static void run_to(pol_integrator *integrator, double end)
{
  const pol_state *state = pol_integrator_state(integrator);
  while (state->t < end) {
    double before = state->t;
    pol_status status = pol_integrator_adapt(integrator, end);
    if (status)
      fail_msg("t = %g: %s (%s)", state->t, pol_integrator_diagnostics(integrator)->message,
               pol_integrator_diagnostics(integrator)->where);
    assert_true(state->t > before);
  }
  assert_true(state->t == end);
}

typedef enum family { NEWMARK, HHT, GENERALIZED_ALPHA } family;

static pol_options options_of(family which)
{
  pol_options options = pol_options_default();
  if (which == NEWMARK) pol_options_set_newmark(&options, 0.75, 0.390625);
  if (which == HHT) pol_options_set_hht(&options, -0.3);
  if (which == GENERALIZED_ALPHA) pol_options_set_rho_inf(&options, 0.8);
  return options;
}

typedef struct problem {
  const pol_dae *dae;
  const double *q0, *v0, *q, *v;
  double end;
} problem;

typedef struct outcome {
  pol_counts counts;
  double q, v; /* errors at the end */
} outcome;

static outcome solve(const problem *p, const pol_options *options)
{
  pol_integrator *integrator = start(p->dae, options, p->q0, p->v0, NULL);
  run_to(integrator, p->end);
  const pol_state *state = pol_integrator_state(integrator);
  outcome o = {*pol_integrator_counts(integrator),
               gavrea_distance(state->q, p->q, p->dae->group.nv),
               gavrea_distance(state->v, p->v, p->dae->group.nv)};
  pol_integrator_free(&integrator);
  return o;
}

/* --- without damping -------------------------------------------------------------------------- */

/* Without numerical damping each change of the size excites the multipliers: 3463 steps instead of
 * 80; the warning says so.  With what is corrected at a change it takes fewer, but still far more.
 */
static void no_damping_wastes_steps(void **state)
{
  (void)state;
  char message[256];
  truss planar;
  planar_init(&planar);
  const problem p = {&planar.dae, planar_q0, planar_v0, planar_q4, planar_v4, 4.0};
  pol_options options = pol_options_default();
  pol_options_set_newmark(&options, 0.5, 0.25);
  set_tolerance(&options, 1e-3);
  assert_true(pol_options_adapt_warning(&options, message, sizeof message));
  assert_non_null(strstr(message, "damping"));
  options.start = POL_START_CLASSICAL;
  options.published.estimate = 1;
  assert_true(solve(&p, &options).counts.steps > 1000);
  for (int which = NEWMARK; which <= GENERALIZED_ALPHA; which++) {
    pol_options damped = options_of((family)which);
    assert_false(pol_options_adapt_warning(&damped, message, sizeof message));
  }
  pol_options_set_rho_inf(&options, 1.0);
  assert_true(pol_options_adapt_warning(&options, message, sizeof message));
}

/* Below 1e-12 the estimate of the error is round-off; one of the two tolerances above it is enough.
 */
static void tolerances_of_round_off_are_told(void **state)
{
  (void)state;
  char message[512];
  pol_options options = options_of(HHT);
  set_tolerance(&options, 1e-12);
  assert_false(pol_options_adapt_warning(&options, message, sizeof message));
  set_tolerance(&options, 1e-13);
  assert_true(pol_options_adapt_warning(&options, message, sizeof message));
  assert_non_null(strstr(message, "rtol and atol are below 1e-12"));
  options.control.atol_rotation = 1e-6;
  assert_false(pol_options_adapt_warning(&options, message, sizeof message));
  /* beside the other warning */
  pol_options_set_newmark(&options, 0.5, 0.25);
  set_tolerance(&options, 1e-13);
  assert_true(pol_options_adapt_warning(&options, message, sizeof message));
  assert_non_null(strstr(message, "damping"));
  assert_non_null(strstr(message, "; rtol and atol are below 1e-12"));
}

/* The first step is half of what would just be accepted, so that its error, of the third order, is
 * an eighth of the tolerance; where the estimate of it is good, on a mechanism that moves. */
static void the_first_step_is_half_of_what_is_allowed(void **state)
{
  (void)state;
  double_pendulum stiff;
  double_init(&stiff);
  for (int e = 5; e <= 9; e++) {
    pol_options options = options_of(GENERALIZED_ALPHA);
    set_tolerance(&options, pow(10.0, -e));
    pol_integrator *integrator = start(&stiff.dae, &options, double_q0, double_v0, NULL);
    assert_int_equal(pol_integrator_adapt(integrator, 2.0), POL_OK);
    if (!(integrator->control->last >= 0.08 && integrator->control->last <= 0.2) ||
        pol_integrator_counts(integrator)->rejected > 0)
      fail_msg("1e-%d: error %.3g, %ld rejected", e, integrator->control->last,
               pol_integrator_counts(integrator)->rejected);
    pol_integrator_free(&integrator);
  }
}

/* --- error and tolerance ---------------------------------------------------------------------- */

enum { FIRST = 3, LAST = 8 }; /* eps = 1e-FIRST .. 1e-LAST */

/* The error falls with each tolerance, and as eps^(2/3) once it is small. */
static void assert_proportional(const char *name, const double error[LAST + 1])
{
  for (int e = FIRST + 1; e <= LAST; e++)
    if (!(error[e] < error[e - 1]))
      fail_msg("%s: %.3e at 1e-%d, but %.3e at 1e-%d", name, error[e], e, error[e - 1], e - 1);
  double slope = log10(error[5] / error[LAST]) / (LAST - 5);
  if (!(fabs(slope - 2.0 / 3.0) <= 0.04)) fail_msg("%s: slope %.3f", name, slope);
}

static void the_error_follows_the_tolerance(void **state)
{
  (void)state;
  truss planar;
  double_pendulum stiff;
  planar_init(&planar);
  double_init(&stiff);
  const problem problems[] = {{&planar.dae, planar_q0, planar_v0, planar_q4, planar_v4, 4.0},
                              {&stiff.dae, double_q0, double_v0, double_q2, double_v2, 2.0}};
  for (int k = 0; k < 2; k++)
    for (int method = HHT; method <= GENERALIZED_ALPHA; method++)
      for (int index = POL_INDEX_3; index <= POL_INDEX_2_STABILIZED; index++) {
        double error[LAST + 1];
        char name[64];
        snprintf(name, sizeof name, "problem %d, method %d, index form %d", k, method, index);
        for (int e = FIRST; e <= LAST; e++) {
          pol_options options = options_of((family)method);
          options.index = (pol_index)index;
          set_tolerance(&options, pow(10.0, -e));
          error[e] = solve(&problems[k], &options).q;
        }
        assert_proportional(name, error);
      }
}

/* --- the heavy top ---------------------------------------------------------------------------- */

typedef struct top {
  pol_mechanism *mechanism;
  pol_formulation *formulation;
  const pol_dae *dae;
  double q[MAX_NQ], v[MAX_NQ];
  unsigned char keep[MAX_NQ];
} top;

/* With some angular velocity across, so that no component of the error vanishes by symmetry. */
static void top_init(top *t, pol_formulation_kind kind, double across)
{
  pol_body body = heavy_top_body();
  body.angular_velocity[0] = across;
  assert_int_equal(heavy_top_create(&t->mechanism, &body), POL_OK);
  assert_int_equal(pol_formulation_create(&t->formulation, t->mechanism, kind), POL_OK);
  t->dae = pol_formulation_dae(t->formulation);
  pol_formulation_initial(t->formulation, t->q, t->v, t->keep);
}

static void top_clear(top *t)
{
  pol_formulation_free(&t->formulation);
  pol_mechanism_free(&t->mechanism);
}

static void the_error_of_the_top_follows_the_tolerance(void **state)
{
  (void)state;
  /* position at t = 1: independent high-precision integration, 2026 */
  static const double x[3] = {0.17334396409838604, 0.6400885920705692, -0.748490791133581};
  for (int index = POL_INDEX_3; index <= POL_INDEX_2_STABILIZED; index++) {
    double error[LAST + 1];
    top t;
    top_init(&t, POL_SO3XR3, 0.0);
    for (int e = FIRST; e <= LAST; e++) {
      pol_body_state body;
      pol_options options = options_of(GENERALIZED_ALPHA);
      options.index = (pol_index)index;
      set_tolerance(&options, pow(10.0, -e));
      pol_integrator *integrator = start(t.dae, &options, t.q, t.v, t.keep);
      run_to(integrator, 1.0);
      const pol_state *now = pol_integrator_state(integrator);
      pol_formulation_body_state(t.formulation, now->q, now->v, 0, &body);
      error[e] = gavrea_distance(body.position, x, 3);
      pol_integrator_free(&integrator);
    }
    assert_proportional("heavy top", error);
    top_clear(&t);
  }
}

/* w without its part normal to the constraints in the metric of M. */
static void make_tangential(pol_integrator *integrator, double t, const double *q, int nv,
                            double *w)
{
  double normal[MAX_NQ];
  pol_diagnostics diagnostics;
  memcpy(normal, w, (size_t)nv * sizeof *w);
  assert_int_equal(poli_assembler_normal_part(integrator->assembler, t, q, normal, &diagnostics),
                   POL_OK);
  for (int i = 0; i < nv; i++) w[i] -= normal[i];
}

/* Ratio of the tangential parts of the estimate and of the true error after one step, and the size
 * of their difference. */
static void compare_estimate(const top *t, pol_options options, double h, double *ratio,
                             double *difference)
{
  enum { FINE = 64 };
  const pol_group *group = &t->dae->group;
  double estimate[MAX_NQ], error[MAX_NQ], zero[MAX_NQ] = {0.0};
  options.newton.tolerance = 1e-13;
  options.control.first_step = h;
  set_tolerance(&options, 1.0);
  pol_integrator *coarse = start(t->dae, &options, t->q, t->v, t->keep);
  pol_integrator *fine = start(t->dae, &options, t->q, t->v, t->keep);
  assert_int_equal(pol_integrator_adapt(coarse, 1.0), POL_OK);
  for (int k = 0; k < FINE; k++) assert_int_equal(pol_integrator_step(fine, h / FINE), POL_OK);
  const double *q = pol_integrator_state(coarse)->q;
  pol_group_difference(group, q, pol_integrator_state(fine)->q, error);
  memcpy(estimate, coarse->control->error, (size_t)group->nv * sizeof *estimate);
  make_tangential(coarse, h, q, group->nv, error);
  make_tangential(coarse, h, q, group->nv, estimate);
  double size = gavrea_distance(error, zero, group->nv);
  *ratio = gavrea_distance(estimate, zero, group->nv) / size;
  *difference = gavrea_distance(estimate, error, group->nv) / size;
  pol_integrator_free(&coarse);
  pol_integrator_free(&fine);
}

/* In all groups, updates and constraint forms the estimate becomes the error itself. */
static void the_estimate_is_the_local_error(void **state)
{
  (void)state;
  static const pol_formulation_kind kinds[] = {POL_SO3XR3,          POL_SO3XR3_SPATIAL,
                                               POL_SE3_BODY,        POL_SO3XR3_CAYLEY,
                                               POL_ROTATION_VECTOR, POL_EULER_PARAMETERS};
  int compared = 0;
  for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
    top t;
    top_init(&t, kinds[k], 3.0);
    for (int index = POL_INDEX_3; index <= POL_INDEX_2_STABILIZED; index++)
      for (int variant = 0; variant < 4; variant++) {
        pol_options options = options_of(variant == 1 ? HHT : GENERALIZED_ALPHA);
        double ratio[2], difference[2];
        options.index = (pol_index)index;
        if (variant == 2) options.sigma = 0.5;
        if (variant == 3) options.method = "geom2";
        if (pol_integrator_supports(t.dae, &options, NULL, 0)) continue;
        for (int i = 0; i < 2; i++)
          compare_estimate(&t, options, i ? 2.5e-4 : 2e-3, &ratio[i], &difference[i]);
        if (!(ratio[0] > 0.8 && ratio[0] < 1.3 && fabs(ratio[1] - 1.0) <= 2e-3 &&
              difference[1] <= 0.06 && difference[1] < 0.6 * difference[0]))
          fail_msg("%s, index form %d, variant %d: %.3f %.4f, %.3f %.4f",
                   pol_formulation_name(kinds[k]), index, variant, ratio[0], ratio[1],
                   difference[0], difference[1]);
        compared++;
      }
    top_clear(&t);
  }
  assert_int_equal(compared, 3 * (4 + 4 + 4 + 3 + 2 + 4));
}

/* --- changes of the step size ----------------------------------------------------------------- */

/* Largest second difference over 40 steps of size h, in the units of lambda. */
static double ripple(pol_integrator *integrator, double h)
{
  const pol_state *state = pol_integrator_state(integrator);
  double last[2][3] = {{0.0}}, largest = 0.0;
  for (int n = 0; n < 40; n++) {
    assert_int_equal(pol_integrator_step(integrator, h), POL_OK);
    for (int i = 0; i < 3; i++) {
      double second = state->lambda[i] - 2.0 * last[0][i] + last[1][i];
      if (n >= 2) largest = fmax(largest, fabs(second));
      last[1][i] = last[0][i];
      last[0][i] = state->lambda[i];
    }
  }
  return largest;
}

/* A jump of h by 2 or 1/2 leaves hardly more ripple in lambda than the new size has by itself, 29
 * and 1.7: in index 3 it is 334 and 296 if velocity and acceleration are not adapted to the new
 * size. */
static void a_change_of_size_excites_no_multiplier(void **state)
{
  (void)state;
  for (int index = POL_INDEX_3; index <= POL_INDEX_2_STABILIZED; index++)
    for (int k = 0; k < 2; k++) {
      double h = 1e-3, other = k ? 2.0 * h : 0.5 * h;
      pol_options options = options_of(GENERALIZED_ALPHA);
      top t;
      options.index = (pol_index)index;
      top_init(&t, POL_SO3XR3, 0.0);
      pol_integrator *changed = start(t.dae, &options, t.q, t.v, t.keep);
      pol_integrator *constant = start(t.dae, &options, t.q, t.v, t.keep);
      ripple(changed, h);
      for (int n = 0; n < (k ? 20 : 80); n++)
        assert_int_equal(pol_integrator_step(constant, other), POL_OK);
      double after = ripple(changed, other), smooth = ripple(constant, other);
      if (!(after <= smooth + 4.0))
        fail_msg("index form %d, h to %g: ripple %.4g instead of %.4g", index, other, after,
                 smooth);
      pol_integrator_free(&changed);
      pol_integrator_free(&constant);
      top_clear(&t);
    }
}

/* --- attempts --------------------------------------------------------------------------------- */

static int same_bits(const double *a, const double *b, int n)
{
  return memcmp(a, b, (size_t)n * sizeof *a) == 0;
}

/* An integrator that attempts and undoes three steps before each real one gets the same bits. */
static void undone_attempts_leave_no_trace(void **state)
{
  (void)state;
  for (int index = POL_INDEX_3; index <= POL_INDEX_2_STABILIZED; index++) {
    pol_options options = options_of(GENERALIZED_ALPHA);
    const double *trial, *trial_v;
    top t;
    options.index = (pol_index)index;
    options.newton.kind = POL_NEWTON_FULL; /* a kept matrix remembers where it was made */
    set_tolerance(&options, 1e-4);
    top_init(&t, POL_SO3XR3, 0.0);
    pol_integrator *plain = start(t.dae, &options, t.q, t.v, t.keep);
    pol_integrator *trying = start(t.dae, &options, t.q, t.v, t.keep);
    const poli_adaptive *adaptive = trying->method->family->adaptive;
    const pol_state *a = pol_integrator_state(plain), *b = pol_integrator_state(trying);
    for (int n = 0; n < 50; n++) {
      for (int k = 0; k < 3; k++) {
        double h = k == 0 ? 1e-3 : k == 1 ? 2.3e-4 : 6.1e-3;
        trying->adapting = 1;
        if (!adaptive->attempt(trying, b->t + h, h, &trial, &trial_v)) adaptive->reject(trying);
        assert_true(a->t == b->t);
      }
      assert_int_equal(pol_integrator_adapt(plain, 1.0), POL_OK);
      assert_int_equal(pol_integrator_adapt(trying, 1.0), POL_OK);
      assert_true(a->t == b->t);
      assert_true(same_bits(a->q, b->q, t.dae->group.nq) && same_bits(a->v, b->v, 6) &&
                  same_bits(a->vd, b->vd, 6) && same_bits(a->lambda, b->lambda, 3));
    }
    pol_integrator_free(&plain);
    pol_integrator_free(&trying);
    top_clear(&t);
  }
}

/* --- limits and failures ---------------------------------------------------------------------- */

static void step_sizes_keep_their_limits(void **state)
{
  (void)state;
  truss planar;
  planar_init(&planar);
  pol_options options = options_of(HHT);
  set_tolerance(&options, 1e-3);
  options.control.first_step = 1e-3;
  options.control.max_step = 0.02;
  pol_integrator *integrator = start(&planar.dae, &options, planar_q0, planar_v0, NULL);
  const pol_state *now = pol_integrator_state(integrator);
  assert_int_equal(pol_integrator_adapt(integrator, 4.0), POL_OK);
  assert_true(now->t == 1e-3);
  run_to(integrator, 4.0);
  const pol_counts *counts = pol_integrator_counts(integrator);
  assert_true(counts->largest_step == 0.02 && counts->smallest_step == 1e-3);
  assert_true(counts->steps >= 200);
  /* the end is no place to go to again */
  assert_int_equal(pol_integrator_adapt(integrator, 4.0), POL_BAD_ARGUMENT);
  assert_true(strlen(pol_integrator_diagnostics(integrator)->message) > 0);
  /* from here with steps of a given size, and on */
  assert_int_equal(pol_integrator_step(integrator, 1e-2), POL_OK);
  assert_true(now->t == 4.0 + 1e-2);
  run_to(integrator, 4.5);
  pol_integrator_free(&integrator);
}

/* A tolerance that asks for a first step below round-off of the time is named as such. */
static void a_tolerance_below_round_off_is_named(void **state)
{
  (void)state;
  double_pendulum stiff;
  double_init(&stiff);
  pol_options options = options_of(HHT);
  set_tolerance(&options, 1e-300);
  pol_integrator *integrator = start(&stiff.dae, &options, double_q0, double_v0, NULL);
  assert_int_equal(pol_integrator_adapt(integrator, 2.0), POL_SMALL_STEP);
  const pol_diagnostics *d = pol_integrator_diagnostics(integrator);
  assert_true(d->h > 0.0 && d->h < 1e-14);
  assert_non_null(strstr(d->message, "tolerances"));
  assert_true(pol_integrator_state(integrator)->t == 0.0);
  pol_integrator_free(&integrator);
}

/* Two thousand steps in a row that are tiny beside the time to be covered end a run. */
static void steps_that_do_not_get_on_end_the_run(void **state)
{
  (void)state;
  double_pendulum stiff;
  double_init(&stiff);
  pol_options options = options_of(HHT);
  set_tolerance(&options, 1e-3);
  options.control.max_step = options.control.first_step = 1e-11;
  pol_integrator *integrator = start(&stiff.dae, &options, double_q0, double_v0, NULL);
  for (int i = 1; i < 2000; i++) assert_int_equal(pol_integrator_adapt(integrator, 1.0), POL_OK);
  const double t = pol_integrator_state(integrator)->t;
  assert_int_equal(pol_integrator_adapt(integrator, 1.0), POL_SMALL_STEP);
  const pol_diagnostics *d = pol_integrator_diagnostics(integrator);
  assert_non_null(strstr(d->message, "2000 consecutive steps were below 1e-10 of the time span"));
  assert_non_null(strstr(d->advice, "grows without bound"));
  assert_true(d->t == t && d->h == 1e-11 && d->step == 2000);
  assert_int_equal(d->equation, -1);
  assert_string_equal(d->where, "");
  assert_true(pol_integrator_state(integrator)->t == t);
  pol_integrator_free(&integrator);

  /* the same steps to a nearer end */
  integrator = start(&stiff.dae, &options, double_q0, double_v0, NULL);
  for (int i = 1; i < 3000; i++) assert_int_equal(pol_integrator_adapt(integrator, 0.05), POL_OK);
  pol_integrator_free(&integrator);
}

/* The stiff start cannot be had with steps of 1e-4: the failure names who is to blame. */
static void a_step_that_is_too_small_is_named(void **state)
{
  (void)state;
  double_pendulum stiff;
  double_init(&stiff);
  pol_options options = options_of(HHT);
  set_tolerance(&options, 1e-6);
  options.control.min_step = 1e-4;
  pol_integrator *integrator = start(&stiff.dae, &options, double_q0, double_v0, NULL);
  assert_int_equal(pol_integrator_adapt(integrator, 2.0), POL_SMALL_STEP);
  const pol_diagnostics *d = pol_integrator_diagnostics(integrator);
  const pol_state *now = pol_integrator_state(integrator);
  assert_int_equal(d->status, POL_SMALL_STEP);
  assert_true(d->h == 1e-4 && d->t == 1e-4 && d->step == 1 && d->residual > 1.0);
  assert_true(d->equation >= 0 && d->equation < DOUBLE_NQ);
  assert_non_null(strstr(d->where, "balance equation"));
  assert_non_null(strstr(d->message, "0.0001"));
  assert_true(now->t == 0.0);
  assert_int_equal(pol_integrator_counts(integrator)->rejected, 1);
  assert_int_equal(pol_integrator_counts(integrator)->steps, 0);
  pol_integrator_free(&integrator);
}

/* A model that gives up for a while: the step is repeated until it is small enough, or fails with
 * the model's answer. */
static void a_model_that_refuses_is_named(void **state)
{
  (void)state;
  truss planar;
  planar_init(&planar);
  pol_options options = options_of(HHT);
  pol_integrator *integrator = start(&planar.dae, &options, planar_q0, planar_v0, NULL);
  assert_int_equal(pol_integrator_adapt(integrator, 4.0), POL_OK);
  double t = pol_integrator_state(integrator)->t;
  planar.answer = POL_CALLBACK;
  assert_int_equal(pol_integrator_adapt(integrator, 4.0), POL_CALLBACK);
  planar.answer = POL_RETRY;
  assert_int_equal(pol_integrator_adapt(integrator, 4.0), POL_RETRY);
  assert_true(pol_integrator_state(integrator)->t == t);
  assert_true(pol_integrator_counts(integrator)->rejected > 10);
  planar.answer = POL_OK;
  run_to(integrator, 4.0);
  pol_integrator_free(&integrator);
}

/* Methods without an error estimate say so. */
static void other_families_refuse(void **state)
{
  (void)state;
  truss planar;
  planar_init(&planar);
  planar.dae.constant_mass = 1;
  pol_options options = pol_options_default();
  assert_true(pol_method_adapts("geom2") && pol_method_adapts("hht"));
  assert_true(pol_method_adapts("rattle")); /* in so3xr3; not on this dae */
  assert_false(pol_method_adapts("em") || pol_method_adapts("nothing"));
  assert_int_equal(pol_options_set_method(&options, "rattle"), POL_OK);
  pol_integrator *integrator = start(&planar.dae, &options, planar_q0, planar_v0, NULL);
  assert_int_equal(pol_integrator_adapt(integrator, 1.0), POL_BAD_ARGUMENT);
  assert_non_null(strstr(pol_integrator_diagnostics(integrator)->message, "no error estimate"));
  /* the solution within a step they have */
  double q[2];
  assert_int_equal(pol_integrator_step(integrator, 1e-3), POL_OK);
  assert_int_equal(pol_integrator_interpolate(integrator, 5e-4, q, NULL, NULL, NULL), POL_OK);
  assert_true(fabs(q[1] - (planar_q0[1] - 0.5 * 9.81 * 0.75 * 5e-4 * 5e-4)) <= 1e-9);
  pol_integrator_free(&integrator);
}

/* With the proportional-integral controller fewer steps are rejected, and the error is not larger.
 */
static void the_pi_controller_is_smoother(void **state)
{
  (void)state;
  truss planar;
  planar_init(&planar);
  const problem p = {&planar.dae, planar_q0, planar_v0, planar_q4, planar_v4, 4.0};
  pol_options options = options_of(HHT);
  set_tolerance(&options, 1e-6);
  outcome plain = solve(&p, &options);
  options.control.controller = POL_CONTROLLER_PI;
  outcome smooth = solve(&p, &options);
  if (!(smooth.counts.rejected < plain.counts.rejected && smooth.q < plain.q))
    fail_msg("rejected %ld, plain %ld; error %.3e, plain %.3e", smooth.counts.rejected,
             plain.counts.rejected, smooth.q, plain.q);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_damping_wastes_steps),
      cmocka_unit_test(tolerances_of_round_off_are_told),
      cmocka_unit_test(the_first_step_is_half_of_what_is_allowed),
      cmocka_unit_test(the_error_follows_the_tolerance),
      cmocka_unit_test(the_error_of_the_top_follows_the_tolerance),
      cmocka_unit_test(the_estimate_is_the_local_error),
      cmocka_unit_test(a_change_of_size_excites_no_multiplier),
      cmocka_unit_test(undone_attempts_leave_no_trace),
      cmocka_unit_test(step_sizes_keep_their_limits),
      cmocka_unit_test(a_tolerance_below_round_off_is_named),
      cmocka_unit_test(steps_that_do_not_get_on_end_the_run),
      cmocka_unit_test(a_step_that_is_too_small_is_named),
      cmocka_unit_test(a_model_that_refuses_is_named),
      cmocka_unit_test(the_pi_controller_is_smoother),
      cmocka_unit_test(other_families_refuse),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
