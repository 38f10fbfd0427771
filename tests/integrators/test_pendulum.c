/* The generalized-alpha integrators in R^n: orders of convergence, constraint residuals, published
 * figures, Newton variants, failures and time keeping.
 *
 * The mathematical pendulum is example 3.2 of Arnold/Cardona/Bruels 2015, whose energy m/2 - m g l
 * fixes the initial speed.  Its solution here comes from the angle's equation by small Runge-Kutta
 * steps, and is checked against tests/data/pendulum.csv.
 */
#include "dae/toys.h"

#include <polhode/integrator.h>

enum { MAX_STEPS = 2000, NUM_INDICES = 3, NUM_RHOS = 3 };

static const pol_index indices[NUM_INDICES] = {POL_INDEX_3, POL_INDEX_2, POL_INDEX_2_STABILIZED};
static const double rhos[NUM_RHOS] = {0.0, 0.6, 0.9};
static const pol_newton_kind kinds[] = {POL_NEWTON_FULL, POL_NEWTON_SIMPLIFIED,
                                        POL_NEWTON_MODIFIED};

static pol_options make_options(pol_index index, double rho_inf, pol_newton_kind kind)
{
  pol_options options = pol_options_default();
  options.index = index;
  options.newton.kind = kind;
  options.newton.tolerance = 1e-10;
  options.start = POL_START_CLASSICAL;
  pol_options_set_rho_inf(&options, rho_inf);
  return options;
}

static pol_integrator *start(const pol_dae *dae, const pol_options *options, double t,
                             const double *q, const double *v)
{
  pol_integrator *integrator;
  assert_int_equal(pol_integrator_create(&integrator, dae, options), POL_OK);
  assert_int_equal(pol_integrator_start(integrator, t, q, v, NULL), POL_OK);
  return integrator;
}

/* --- the pendulum's solution ------------------------------------------------------------------ */

typedef struct pendulum_state {
  double q[2], v[2], lambda;
} pendulum_state;

static void pendulum_from_angle(double angle, double rate, pendulum_state *s)
{
  s->q[0] = sin(angle);
  s->q[1] = -cos(angle);
  s->v[0] = rate * cos(angle);
  s->v[1] = rate * sin(angle);
  s->lambda = rate * rate + 9.81 * cos(angle);
}

/* angle'' = -g sin(angle) by the classical Runge-Kutta method */
static void runge_kutta(double h, double *angle, double *rate)
{
  double a = *angle, w = *rate;
  double a1 = w, w1 = -9.81 * sin(a);
  double a2 = w + 0.5 * h * w1, w2 = -9.81 * sin(a + 0.5 * h * a1);
  double a3 = w + 0.5 * h * w2, w3 = -9.81 * sin(a + 0.5 * h * a2);
  double a4 = w + h * w3, w4 = -9.81 * sin(a + h * a3);
  *angle = a + h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4);
  *rate = w + h / 6.0 * (w1 + 2.0 * w2 + 2.0 * w3 + w4);
}

/* States at 0, h, 2 h, ..., steps h, from x = x0. */
static void pendulum_solution(double x0, double h, int steps, pendulum_state *states)
{
  double angle = asin(x0), rate = sqrt(1.0 - 2.0 * 9.81 * (1.0 - cos(angle)));
  int substeps = (int)ceil(h / 2e-4);
  pendulum_from_angle(angle, rate, &states[0]);
  for (int n = 1; n <= steps; n++) {
    for (int k = 0; k < substeps; k++) runge_kutta(h / substeps, &angle, &rate);
    pendulum_from_angle(angle, rate, &states[n]);
  }
}

static void test_solution(void **state)
{
  (void)state;
  static pendulum_state states[2][21];
  int lines = 0;
  char line[256];
  pendulum_solution(0.0, 0.1, 20, states[0]);
  pendulum_solution(0.2, 0.1, 20, states[1]);
  FILE *file = fopen(POLHODE_SOURCE_DIR "/tests/data/pendulum.csv", "r");
  assert_non_null(file);
  while (fgets(line, sizeof line, file)) {
    double row[7];
    if (line[0] == '#') continue;
    assert_int_equal(sscanf(line, "%lf,%lf,%lf,%lf,%lf,%lf,%lf", &row[0], &row[1], &row[2], &row[3],
                            &row[4], &row[5], &row[6]),
                     7);
    const pendulum_state *s = &states[row[0] > 0.0][lround(10.0 * row[1])];
    for (int j = 0; j < 2; j++) {
      assert_true(fabs(s->q[j] - row[2 + j]) <= 2e-12);
      assert_true(fabs(s->v[j] - row[4 + j]) <= 2e-12);
    }
    assert_true(fabs(s->lambda - row[6]) <= 2e-11);
    lines++;
  }
  fclose(file);
  assert_int_equal(lines, 40);
}

/* --- orders ----------------------------------------------------------------------------------- */

/* Largest errors and residuals of a run over 2 s. */
typedef struct errors {
  double q, v;
  double lambda, late_lambda; /* of all steps; after 1 s, when the start is forgotten */
  double position, velocity;  /* residuals */
  double iterations;          /* a step */
} errors;

static errors run_pendulum(double x0, const pol_options *options, double h)
{
  static pendulum_state exact[MAX_STEPS + 1];
  int steps = (int)lround(2.0 / h);
  errors e = {.q = 0.0};
  truss s;
  assert_true(steps <= MAX_STEPS);
  pendulum_init(&s);
  pendulum_solution(x0, h, steps, exact);
  pol_integrator *integrator = start(&s.dae, options, 0.0, exact[0].q, exact[0].v);
  const pol_state *now = pol_integrator_state(integrator);
  for (int n = 1; n <= steps; n++) {
    assert_int_equal(pol_integrator_step(integrator, h), POL_OK);
    const double *q = now->q, *v = now->v;
    for (int j = 0; j < 2; j++) {
      e.q = fmax(e.q, fabs(q[j] - exact[n].q[j]));
      e.v = fmax(e.v, fabs(v[j] - exact[n].v[j]));
    }
    double error = fabs(now->lambda[0] - exact[n].lambda);
    e.lambda = fmax(e.lambda, error);
    if (2 * n > steps) e.late_lambda = fmax(e.late_lambda, error);
    e.position = fmax(e.position, 0.5 * fabs(q[0] * q[0] + q[1] * q[1] - 1.0));
    e.velocity = fmax(e.velocity, fabs(q[0] * v[0] + q[1] * v[1]));
  }
  e.iterations = (double)pol_integrator_counts(integrator)->newton_iterations / steps;
  assert_int_equal(pol_integrator_counts(integrator)->steps, steps);
  pol_integrator_free(&integrator);
  return e;
}

static void assert_order(double coarse, double fine, double order)
{
  double measured = log2(coarse / fine);
  if (!(fabs(measured - order) <= 0.05))
    fail_msg("order %.3f instead of %g (%.3e, %.3e)", measured, order, coarse, fine);
}

static void test_orders(void **state)
{
  (void)state;
  for (int i = 0; i < NUM_INDICES; i++)
    for (int r = 0; r < NUM_RHOS; r++) {
      pol_options options = make_options(indices[i], rhos[r], POL_NEWTON_FULL);
      errors coarse = run_pendulum(0.2, &options, 0.01);
      errors fine = run_pendulum(0.2, &options, 0.005);
      assert_order(coarse.q, fine.q, 2.0);
      assert_order(coarse.v, fine.v, 2.0);
      assert_order(coarse.late_lambda, fine.late_lambda, 2.0);
      /* the classical start costs the multipliers an order, for a while */
      if (indices[i] == POL_INDEX_3) assert_order(coarse.lambda, fine.lambda, 1.0);
    }
}

/* The default start gives the multipliers their second order back. */
static void test_default_start(void **state)
{
  (void)state;
  for (int i = 0; i < NUM_INDICES; i++)
    for (int r = 0; r < NUM_RHOS; r++) {
      pol_options options = make_options(indices[i], rhos[r], POL_NEWTON_FULL);
      options.start = POL_START_DEFAULT;
      errors coarse = run_pendulum(0.2, &options, 0.01);
      errors fine = run_pendulum(0.2, &options, 0.005);
      assert_order(coarse.q, fine.q, 2.0);
      assert_order(coarse.v, fine.v, 2.0);
      assert_order(coarse.lambda, fine.lambda, 2.0);
    }
}

/* From the lowest point there is no order reduction. */
static void test_orders_from_below(void **state)
{
  (void)state;
  for (int i = 0; i < NUM_INDICES; i++)
    for (int r = 0; r < NUM_RHOS; r++) {
      pol_options options = make_options(indices[i], rhos[r], POL_NEWTON_FULL);
      errors coarse = run_pendulum(0.0, &options, 0.01);
      errors fine = run_pendulum(0.0, &options, 0.005);
      assert_order(coarse.q, fine.q, 2.0);
      assert_order(coarse.v, fine.v, 2.0);
      assert_order(coarse.lambda, fine.lambda, 2.0);
    }
}

/* Example 3.2 and figure 5 of Arnold/Cardona/Bruels 2015: the multiplier's oscillation reaches
 * 2.48e-1 and 1.23e-1 from shifted accelerations (2.476e-1 and 1.227e-1 from the classical ones),
 * and the perturbed velocity removes it. */
static void test_published_amplitude(void **state)
{
  (void)state;
  pol_options options = make_options(POL_INDEX_3, 0.9, POL_NEWTON_MODIFIED);
  assert_true(fabs(run_pendulum(0.2, &options, 0.02).lambda - 0.2476) <= 5e-5);
  assert_true(fabs(run_pendulum(0.2, &options, 0.01).lambda - 0.1227) <= 5e-5);
  options.start = POL_START_SHIFTED;
  assert_true(fabs(run_pendulum(0.2, &options, 0.02).lambda - 0.2483) <= 5e-5);
  assert_true(fabs(run_pendulum(0.2, &options, 0.01).lambda - 0.1231) <= 5e-5);
  options.start = POL_START_PERTURBED;
  double coarse = run_pendulum(0.2, &options, 0.02).lambda;
  assert_true(coarse < 7.2e-3);
  assert_order(coarse, run_pendulum(0.2, &options, 0.01).lambda, 2.0);
}

/* Each form keeps its own constraints to the tolerance, and the other by order 2. */
static void test_residuals(void **state)
{
  (void)state;
  for (int r = 0; r < NUM_RHOS; r++) {
    errors e[NUM_INDICES][2];
    for (int i = 0; i < NUM_INDICES; i++) {
      pol_options options = make_options(indices[i], rhos[r], POL_NEWTON_MODIFIED);
      options.newton.stop = POL_STOP_TIGHT;
      e[i][0] = run_pendulum(0.2, &options, 0.01);
      e[i][1] = run_pendulum(0.2, &options, 0.005);
      for (int k = 0; k < 2; k++) {
        if (indices[i] != POL_INDEX_2) assert_true(e[i][k].position <= 1e-12);
        if (indices[i] != POL_INDEX_3) assert_true(e[i][k].velocity <= 5e-11);
      }
    }
    assert_order(e[0][0].velocity, e[0][1].velocity, 2.0);
    assert_order(e[1][0].position, e[1][1].position, 2.0);
    assert_true(e[0][1].velocity > 1e-6 && e[1][1].position > 1e-7);
  }
}

/* --- Newton ----------------------------------------------------------------------------------- */

/* All matrices and both solvers lead to the same solution.  Round-off of the positions comes back
 * in the multipliers of index 3 magnified by h^-2. */
static void test_newton_kinds(void **state)
{
  (void)state;
  static const double q[4] = {0.0, 1.0, 2.4, 2.8}, v[4] = {0.0};
  for (int i = 0; i < NUM_INDICES; i++) {
    double reference[12] = {0.0};
    for (int k = 0; k < 6; k++) {
      truss s;
      four_bar_init(&s);
      if (k >= 3) truss_make_sparse(&s);
      pol_options options = make_options(indices[i], 0.8, kinds[k % 3]);
      options.newton.tolerance = 1e-12;
      options.solver = k < 3 ? POL_SOLVER_DENSE : POL_SOLVER_SPARSE;
      pol_integrator *integrator = start(&s.dae, &options, 0.0, q, v);
      for (int n = 0; n < 50; n++) assert_int_equal(pol_integrator_step(integrator, 0.01), POL_OK);
      const pol_state *now = pol_integrator_state(integrator);
      for (int j = 0; j < 4; j++) {
        if (k == 0) {
          reference[j] = now->q[j];
          reference[4 + j] = now->v[j];
          if (j < 3) reference[8 + j] = now->lambda[j];
          continue;
        }
        assert_true(fabs(now->q[j] - reference[j]) <= 1e-11);
        assert_true(fabs(now->v[j] - reference[4 + j]) <= 1e-10);
        if (j < 3) assert_true(fabs(now->lambda[j] - reference[8 + j]) <= 1e-7);
      }
      assert_true(fabs(now->v[0]) > 0.1); /* it moves */
      pol_integrator_free(&integrator);
      truss_clear(&s);
    }
  }
}

/* With the exact matrix two iterations go from the prediction to round-off; a missing term would
 * leave linear convergence.  The modified variant gets by with few matrices. */
static void test_newton_work(void **state)
{
  (void)state;
  static const double q[4] = {0.0, 1.0, 2.4, 2.8}, v[4] = {0.0};
  for (int i = 0; i < NUM_INDICES; i++) {
    truss s;
    four_bar_init(&s);
    pol_options options = make_options(indices[i], 0.8, POL_NEWTON_FULL);
    options.newton.tolerance = 1e-13;
    options.newton.max_iterations = 2;
    pol_integrator *integrator = start(&s.dae, &options, 0.0, q, v);
    for (int n = 0; n < 20; n++) assert_int_equal(pol_integrator_step(integrator, 0.02), POL_OK);
    pol_integrator_free(&integrator);

    options = make_options(indices[i], 0.8, POL_NEWTON_MODIFIED);
    integrator = start(&s.dae, &options, 0.0, q, v);
    for (int n = 0; n < 100; n++) assert_int_equal(pol_integrator_step(integrator, 0.005), POL_OK);
    const pol_counts *counts = pol_integrator_counts(integrator);
    assert_true(counts->jacobians <= 30);
    assert_int_equal(counts->factorizations, counts->jacobians);
    assert_true(counts->newton_iterations <= 500);
    pol_integrator_free(&integrator);
  }
}

/* A light particle that carries a heavy one, at rest: the large reactions balance to round-off
 * only, which is no reason to fail. */
static void test_heavy_load(void **state)
{
  (void)state;
  for (int i = 0; i < NUM_INDICES; i++)
    for (int k = 0; k < 3; k++) {
      double q[4] = {0.1, -0.7, 0.1, -1.63}, v[4] = {0.0};
      truss s = {.num_particles = 2,
                 .num_rods = 3,
                 .mass = {1e-3, 1e-3, 1e3, 1e3},
                 .gravity = 9.81,
                 .rods = {{.a = 0, .b = -1, .anchor = {-1.0, 0.0}, .scale = 1.0},
                          {.a = 0, .b = -1, .anchor = {1.7, 0.3}, .scale = 1.0},
                          {.a = 1, .b = 0, .length = 0.93, .scale = 1.0}}};
      s.rods[0].length = hypot(q[0] + 1.0, q[1]);
      s.rods[1].length = hypot(q[0] - 1.7, q[1] - 0.3);
      truss_finish(&s);
      pol_options options = make_options(indices[i], 0.9, kinds[k]);
      pol_integrator *integrator = start(&s.dae, &options, 0.0, q, v);
      for (int n = 0; n < 200; n++) assert_int_equal(pol_integrator_step(integrator, 0.02), POL_OK);
      const pol_state *now = pol_integrator_state(integrator);
      for (int j = 0; j < 4; j++) assert_true(fabs(now->q[j] - q[j]) <= 1e-12);
      assert_true(fabs(now->lambda[2] * 0.93 - 9810.0) <= 1e-6);
      pol_integrator_free(&integrator);
    }
}

/* --- other models ----------------------------------------------------------------------------- */

/* Largest errors of the knife edge over 2 s: q, v, and lambda after 1 s. */
static void run_knife_edge(int driven, const pol_options *options, double h, double error[3])
{
  skate s;
  double q[3], v[3], lambda;
  int steps = (int)lround(2.0 / h);
  skate_init(&s, driven);
  knife_edge_solution(&s, 0.0, q, v, &lambda);
  pol_integrator *integrator = start(&s.dae, options, 0.0, q, v);
  const pol_state *now = pol_integrator_state(integrator);
  error[0] = error[1] = error[2] = 0.0;
  for (int n = 1; n <= steps; n++) {
    assert_int_equal(pol_integrator_step(integrator, h), POL_OK);
    knife_edge_solution(&s, now->t, q, v, &lambda);
    for (int j = 0; j < 3; j++) {
      error[0] = fmax(error[0], fabs(now->q[j] - q[j]));
      error[1] = fmax(error[1], fabs(now->v[j] - v[j]));
    }
    if (now->t > 1.0) error[2] = fmax(error[2], fabs(now->lambda[driven] - lambda));
    /* the blade's row is a velocity row in every form */
    double across = now->v[0] * sin(now->q[2]) - now->v[1] * cos(now->q[2]);
    assert_true(fabs(across) <= 1e-10);
    if (driven && options->index != POL_INDEX_2)
      assert_true(fabs(now->q[2] - s.omega * now->t) <= 1e-12);
  }
  pol_integrator_free(&integrator);
}

/* Velocity rows alone and beside position rows, in all forms and with all matrices. */
static void test_knife_edge(void **state)
{
  (void)state;
  for (int driven = 0; driven < 2; driven++)
    for (int i = 0; i < NUM_INDICES; i++)
      for (int k = 0; k < 3; k++) {
        pol_options options = make_options(indices[i], 0.8, kinds[k]);
        double coarse[3], fine[3];
        run_knife_edge(driven, &options, 0.02, coarse);
        run_knife_edge(driven, &options, 0.01, fine);
        assert_order(coarse[0], fine[0], 2.0);
        assert_order(coarse[1], fine[1], 2.0);
        assert_true(fine[2] <= 0.25 * coarse[2]); /* uniform turning is better than order 2 */
      }
}

/* Largest errors of the sleigh over 3 s: heading, its rate and speed, and lambda after 1 s. */
static void run_sleigh(const pol_options *options, double h, double error[3])
{
  skate s;
  skate_init(&s, 0);
  s.slope = 0.0;
  s.arm = 0.6;
  double q[3] = {0.0, 0.0, 0.0}, v[3] = {0.0, s.arm * s.omega, s.omega};
  pol_integrator *integrator = start(&s.dae, options, 0.0, q, v);
  const pol_state *now = pol_integrator_state(integrator);
  error[0] = error[1] = error[2] = 0.0;
  for (int n = 1; n <= (int)lround(3.0 / h); n++) {
    double phi, rate, speed, lambda;
    assert_int_equal(pol_integrator_step(integrator, h), POL_OK);
    sleigh_solution(&s, now->t, &phi, &rate, &speed, &lambda);
    double along = now->v[0] * cos(now->q[2]) + now->v[1] * sin(now->q[2]);
    error[0] = fmax(error[0], fabs(now->q[2] - phi));
    error[1] = fmax(error[1], fmax(fabs(now->v[2] - rate), fabs(along - speed)));
    if (now->t > 1.0) error[2] = fmax(error[2], fabs(now->lambda[0] - lambda));
  }
  pol_integrator_free(&integrator);
}

static void test_sleigh(void **state)
{
  (void)state;
  for (int i = 0; i < NUM_INDICES; i++)
    for (int k = 0; k < 3; k++) {
      pol_options options = make_options(indices[i], 0.8, kinds[k]);
      double coarse[3], fine[3];
      run_sleigh(&options, 0.01, coarse);
      run_sleigh(&options, 0.005, fine);
      for (int j = 0; j < 3; j++) assert_order(coarse[j], fine[j], 2.0);
    }
}

/* x'' + 2 damping x' + stiffness x = 0, unconstrained */
typedef struct oscillator {
  double damping, stiffness;
} oscillator;

static pol_status oscillator_evaluate(const pol_point *at, unsigned want, const pol_terms *out,
                                      double *scratch, void *user)
{
  const oscillator *s = user;
  (void)scratch;
  if (want & POL_INERTIA) out->balance[0] += at->vd[0];
  if (want & POL_FORCE) out->balance[0] += 2.0 * s->damping * at->v[0] + s->stiffness * at->q[0];
  if (want & POL_MASS) out->mass[0] += 1.0;
  if (want & POL_DAMPING) out->damping[0] += 2.0 * s->damping;
  if (want & POL_STIFFNESS) out->stiffness[0] += s->stiffness;
  return POL_OK;
}

static pol_dae oscillator_dae(oscillator *s, pol_factor *factor)
{
  pol_dae dae = {.evaluate = oscillator_evaluate, .user = s};
  *factor = (pol_factor){.kind = POL_REAL, .dim = 1};
  assert_int_equal(pol_group_layout(&dae.group, factor, 1), POL_OK);
  return dae;
}

static void test_oscillator(void **state)
{
  (void)state;
  oscillator s = {.damping = 0.3, .stiffness = 40.0};
  pol_factor factor;
  pol_dae dae = oscillator_dae(&s, &factor);
  double w = sqrt(s.stiffness - s.damping * s.damping);
  for (int i = 0; i < NUM_INDICES; i++)
    for (int k = 0; k < 3; k++) {
      double error[2] = {0.0, 0.0}, q0 = 1.0, v0 = -s.damping;
      pol_options options = make_options(indices[i], 0.7, kinds[k]);
      for (int fine = 0; fine < 2; fine++) {
        double h = fine ? 0.005 : 0.01;
        pol_integrator *integrator = start(&dae, &options, 0.0, &q0, &v0);
        const pol_state *now = pol_integrator_state(integrator);
        for (int n = 0; n < (fine ? 400 : 200); n++) {
          assert_int_equal(pol_integrator_step(integrator, h), POL_OK);
          double exact = exp(-s.damping * now->t) * cos(w * now->t);
          error[fine] = fmax(error[fine], fabs(now->q[0] - exact));
        }
        /* a linear problem needs one iteration a step, and one exact matrix for each step size */
        for (int n = 0; n < 10; n++)
          assert_int_equal(pol_integrator_step(integrator, 0.7 * h), POL_OK);
        const pol_counts *counts = pol_integrator_counts(integrator);
        if (kinds[k] != POL_NEWTON_SIMPLIFIED)
          assert_int_equal(counts->newton_iterations, counts->steps);
        if (kinds[k] == POL_NEWTON_MODIFIED) assert_int_equal(counts->jacobians, 2);
        pol_integrator_free(&integrator);
      }
      assert_order(error[0], error[1], 2.0);
    }
}

/* --- steps that fail -------------------------------------------------------------------------- */

/* The numbers of a state, to compare them bit by bit. */
typedef struct snapshot {
  double t, q[2], v[2], vd[2], lambda[1];
} snapshot;

static snapshot take(const pol_state *state)
{
  return (snapshot){.t = state->t,
                    .q = {state->q[0], state->q[1]},
                    .v = {state->v[0], state->v[1]},
                    .vd = {state->vd[0], state->vd[1]},
                    .lambda = {state->lambda[0]}};
}

/* A step that fails leaves no trace: the run goes on as if it had not been tried. */
static void check_failure(pol_index index, pol_status expected)
{
  truss s;
  pendulum_state initial;
  pendulum_init(&s);
  pendulum_solution(0.2, 0.01, 0, &initial);
  pol_options options = make_options(index, 0.8, POL_NEWTON_FULL);
  options.newton.max_iterations = 3;
  options.newton.line_search = 0;
  pol_integrator *failing = start(&s.dae, &options, 0.0, initial.q, initial.v);
  pol_integrator *other = start(&s.dae, &options, 0.0, initial.q, initial.v);
  for (int n = 0; n < 10; n++) {
    assert_int_equal(pol_integrator_step(failing, 0.01), POL_OK);
    assert_int_equal(pol_integrator_step(other, 0.01), POL_OK);
  }
  const pol_state *state = pol_integrator_state(failing);
  snapshot before = take(state), after, reference;
  double h = expected == POL_NOT_CONVERGED ? 3.0 : 0.02;
  if (expected != POL_NOT_CONVERGED) s.answer = expected;
  assert_int_equal(pol_integrator_step(failing, h), expected);
  s.answer = POL_OK;
  after = take(state);
  assert_memory_equal(&before, &after, sizeof before);

  const pol_diagnostics *d = pol_integrator_diagnostics(failing);
  assert_int_equal(d->status, expected);
  assert_true(fabs(d->t - (0.1 + h)) <= 1e-15 && d->h == h);
  assert_int_equal(d->step, 11);
  assert_true(d->message[0] != '\0');
  assert_int_equal(pol_integrator_counts(failing)->steps, 10);
  assert_int_equal(pol_integrator_counts(failing)->rejected, 1);

  for (int n = 0; n < 10; n++) {
    assert_int_equal(pol_integrator_step(failing, 0.005), POL_OK);
    assert_int_equal(pol_integrator_step(other, 0.005), POL_OK);
  }
  after = take(state);
  reference = take(pol_integrator_state(other));
  assert_memory_equal(&after, &reference, sizeof after);
  assert_int_equal(pol_integrator_counts(failing)->rejected, 1);
  assert_int_equal(pol_integrator_counts(failing)->steps, 20);
  assert_int_equal(pol_integrator_diagnostics(failing)->status, POL_OK);
  pol_integrator_free(&failing);
  pol_integrator_free(&other);
}

static void test_failure(void **state)
{
  (void)state;
  for (int i = 0; i < NUM_INDICES; i++) {
    check_failure(indices[i], POL_NOT_CONVERGED);
    check_failure(indices[i], POL_RETRY);
    check_failure(indices[i], POL_CALLBACK);
  }
}

static void assert_refused(pol_integrator *integrator, double h)
{
  const pol_diagnostics *d = pol_integrator_diagnostics(integrator);
  assert_int_equal(pol_integrator_step(integrator, h), POL_BAD_ARGUMENT);
  assert_int_equal(d->status, POL_BAD_ARGUMENT);
  assert_string_equal(d->message,
                      "the step size must be positive, and the integrator must be started");
  assert_int_equal(pol_integrator_counts(integrator)->rejected, 0);
}

static void test_refused(void **state)
{
  (void)state;
  static const double bad[] = {0.0, -0.1, (double)NAN, (double)INFINITY};
  truss s;
  double q[2] = {0.6, -0.8}, v[2] = {0.0, 0.0};
  pol_options options = pol_options_default();
  pol_integrator *integrator;
  pendulum_init(&s);
  assert_int_equal(pol_integrator_create(&integrator, &s.dae, &options), POL_OK);
  assert_refused(integrator, 0.1);
  assert_int_equal(pol_integrator_start(integrator, 0.0, q, v, NULL), POL_OK);
  for (int k = 0; k < 4; k++) assert_refused(integrator, bad[k]);
  assert_int_equal(pol_integrator_step(integrator, 0.1), POL_OK);

  /* a start that fails ends the run before it */
  s.answer = POL_CALLBACK;
  assert_int_equal(pol_integrator_start(integrator, 0.0, q, v, NULL), POL_CALLBACK);
  assert_int_equal(pol_integrator_diagnostics(integrator)->status, POL_CALLBACK);
  s.answer = POL_OK;
  assert_refused(integrator, 0.1);
  pol_integrator_free(&integrator);
  assert_null(integrator);
  pol_integrator_free(&integrator);

  options.newton.tolerance = 0.0;
  assert_int_equal(pol_integrator_create(&integrator, &s.dae, &options), POL_BAD_ARGUMENT);
  assert_null(integrator);
  options = pol_options_default();
  s.dae.evaluate = NULL;
  assert_int_equal(pol_integrator_create(&integrator, &s.dae, &options), POL_BAD_ARGUMENT);
  assert_null(integrator);
}

/* Starting again forgets the first run. */
static void test_restart(void **state)
{
  (void)state;
  truss s;
  pendulum_state initial;
  pendulum_init(&s);
  pendulum_solution(0.2, 0.01, 0, &initial);
  for (int i = 0; i < NUM_INDICES; i++) {
    pol_options options = make_options(indices[i], 0.8, POL_NEWTON_MODIFIED);
    pol_integrator *integrator = start(&s.dae, &options, 0.0, initial.q, initial.v);
    snapshot first[2];
    pol_counts counts[2];
    for (int run = 0; run < 2; run++) {
      for (int n = 0; n < 30; n++) assert_int_equal(pol_integrator_step(integrator, 0.02), POL_OK);
      first[run] = take(pol_integrator_state(integrator));
      counts[run] = *pol_integrator_counts(integrator);
      if (!run)
        assert_int_equal(pol_integrator_start(integrator, 0.0, initial.q, initial.v, NULL), POL_OK);
    }
    assert_memory_equal(&first[0], &first[1], sizeof first[0]);
    assert_memory_equal(&counts[0], &counts[1], sizeof counts[0]);
    pol_integrator_free(&integrator);
  }
}

/* --- time ------------------------------------------------------------------------------------- */

/* Equal steps do not add up round-off, whatever came before them. */
static void test_time(void **state)
{
  (void)state;
  oscillator s = {0.0, 0.0};
  pol_factor factor;
  pol_dae dae = oscillator_dae(&s, &factor);
  double q = 0.0, v = 1.0, h = 0.1;
  pol_options options = pol_options_default();
  pol_integrator *integrator = start(&dae, &options, 0.0, &q, &v);
  const pol_state *now = pol_integrator_state(integrator);
  for (int n = 1; n <= 1000000; n++) {
    if (pol_integrator_step(integrator, h)) fail();
    if (now->t != n * h) fail_msg("t = %.17g after %d steps", now->t, n);
  }
  double t = now->t;
  for (int n = 1; n <= 1000; n++) {
    if (pol_integrator_step(integrator, 0.3)) fail();
    if (now->t != t + n * 0.3) fail_msg("t = %.17g after %d more steps", now->t, n);
  }
  assert_true(fabs(now->q[0] - now->t) <= 1e-10 * now->t);
  pol_integrator_free(&integrator);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_solution),
      cmocka_unit_test(test_orders),
      cmocka_unit_test(test_default_start),
      cmocka_unit_test(test_orders_from_below),
      cmocka_unit_test(test_published_amplitude),
      cmocka_unit_test(test_residuals),
      cmocka_unit_test(test_newton_kinds),
      cmocka_unit_test(test_newton_work),
      cmocka_unit_test(test_heavy_load),
      cmocka_unit_test(test_knife_edge),
      cmocka_unit_test(test_sleigh),
      cmocka_unit_test(test_oscillator),
      cmocka_unit_test(test_failure),
      cmocka_unit_test(test_refused),
      cmocka_unit_test(test_restart),
      cmocka_unit_test(test_time),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
