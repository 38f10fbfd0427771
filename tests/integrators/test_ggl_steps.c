/* The variational and energy-momentum methods step by step: states after 1, 10 and 100 steps
 * against tests/data/ggl_steps.csv, within 1e-12 of the largest number of a quantity, or ten times
 * the spread by round-off where that is larger. */
#include <polhode/polhode.h>

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "dae/quadratic.h"
#include "integrators/family.h"
#include "integrators/ggl.h"

enum { MAX_VALUES = 12 };

typedef struct line {
  char model[32], method[16], quantity[8];
  double theta, vartheta, h, spread, value[MAX_VALUES];
  int n, count;
} line;

/* The fields of one line; 0 for a comment. */
static int read_line(char *text, line *out)
{
  char *next[8 + MAX_VALUES];
  int count = 0;
  if (text[0] == '#' || text[0] == '\n' || text[0] == '\0') return 0;
  for (char *field = strtok(text, ",\n"); field; field = strtok(NULL, ",\n")) {
    assert_true(count < 8 + MAX_VALUES);
    next[count++] = field;
  }
  assert_true(count > 8);
  snprintf(out->model, sizeof out->model, "%s", next[0]);
  snprintf(out->method, sizeof out->method, "%s", next[1]);
  out->theta = strtod(next[2], NULL);
  out->vartheta = strtod(next[3], NULL);
  out->h = strtod(next[4], NULL);
  out->n = atoi(next[5]);
  snprintf(out->quantity, sizeof out->quantity, "%s", next[6]);
  out->spread = strtod(next[7], NULL);
  out->count = count - 8;
  for (int i = 0; i < out->count; i++) out->value[i] = strtod(next[8 + i], NULL);
  return 1;
}

static void model_init(quadratic *model, const char *name)
{
  if (strcmp(name, "pendulum3d") == 0)
    pendulum3d_init(model);
  else if (strcmp(name, "top") == 0)
    top_init(model);
  else
    four_particles_init(model);
}

/* What the integrator has under the name of the table. */
static void take(const pol_integrator *integrator, const line *l, double *value)
{
  const poli_ggl *s = integrator->data;
  const double *x = s->now.x + s->blocks->start[s->scheme->num_vectors];
  double scale = 1.0;
  const double *from = s->now.q;
  if (strcmp(l->quantity, "p") == 0) from = s->now.p;
  if (strcmp(l->quantity, "v") == 0) /* vi-s: of the step, not the reported one */
    from = s->scheme->num_vectors == 3 ? s->now.x + 2 * s->nv : s->now.v;
  if (strcmp(l->quantity, "gam") == 0) from = x + s->m;
  if (strcmp(l->quantity, "lam") == 0) {
    from = x;
    scale = 1.0 / s->h;
  }
  for (int i = 0; i < l->count; i++) value[i] = scale * from[i];
}

/* Multipliers are quotients by h, so that round-off of the largest momentum (lambda) or mass times
 * coordinate (gamma) is magnified by 1/h. */
static double tolerance_of(const line *l, const poli_ggl *s, const quadratic *model)
{
  double size = toy_largest(l->value, l->count), round_off = 0.0;
  for (int i = 0; i < s->nv; i++) {
    double moment = model->mass[i] * fabs(s->now.q[i]), p = fabs(s->now.p[i]);
    if (strcmp(l->quantity, "gam") == 0) round_off = fmax(round_off, DBL_EPSILON * moment / l->h);
    if (strcmp(l->quantity, "lam") == 0) round_off = fmax(round_off, DBL_EPSILON * p / l->h);
  }
  return fmax(1e-12 * size, 10.0 * fmax(l->spread, round_off));
}

/* One series of lines: the same integrator goes from 1 to 10 to 100 steps. */
typedef struct run {
  char name[96];
  quadratic model;
  pol_integrator *integrator;
  long steps;
} run;

static void run_open(run *r, const line *l, const char *name, pol_solver_kind solver, int sparse)
{
  pol_options options = pol_options_default();
  options.method = l->method;
  options.theta = l->theta;
  options.vartheta = l->vartheta;
  options.published.newton = POL_PUBLISHED_NEWTON_PLAIN;
  options.newton.tolerance = 1e-9;
  options.solver = solver;
  pol_integrator_free(&r->integrator);
  quadratic_clear(&r->model);
  snprintf(r->name, sizeof r->name, "%s", name);
  model_init(&r->model, l->model);
  if (sparse) quadratic_make_sparse(&r->model);
  assert_int_equal(pol_integrator_create(&r->integrator, &r->model.dae, &options), POL_OK);
  assert_int_equal(pol_integrator_start(r->integrator, 0.0, r->model.q0, r->model.v0, NULL),
                   POL_OK);
  r->steps = 0;
}

/* All lines of the table. */
static void follow_table(pol_solver_kind solver, int sparse)
{
  static run r;
  FILE *file = fopen(POLHODE_SOURCE_DIR "/tests/data/ggl_steps.csv", "r");
  char text[2048];
  int lines = 0, failures = 0;
  line l;
  assert_non_null(file);
  memset(&r, 0, sizeof r);
  while (fgets(text, sizeof text, file)) {
    char name[96];
    double value[MAX_VALUES];
    if (!read_line(text, &l) || strcmp(l.method, "bs99") == 0) continue;
    snprintf(name, sizeof name, "%s %s %g %g", l.model, l.method, l.theta, l.vartheta);
    if (strcmp(name, r.name) != 0) run_open(&r, &l, name, solver, sparse);
    for (; r.steps < l.n; r.steps++)
      assert_int_equal(pol_integrator_step(r.integrator, l.h), POL_OK);
    take(r.integrator, &l, value);
    const double tolerance = tolerance_of(&l, r.integrator->data, &r.model);
    lines++;
    for (int i = 0; i < l.count; i++)
      if (!(fabs(value[i] - l.value[i]) <= tolerance)) {
        print_error("%s, step %d, %s[%d]: %.17g, not %.17g: off by %.2e, more than %.2e\n", name,
                    l.n, l.quantity, i, value[i], l.value[i], fabs(value[i] - l.value[i]),
                    tolerance);
        failures++;
      }
  }
  fclose(file);
  pol_integrator_free(&r.integrator);
  quadratic_clear(&r.model);
  assert_int_equal(lines, 3 * (15 * 5 + 3 * 4 + 3 * 3));
  assert_int_equal(failures, 0);
}

static void dense_steps(void **state)
{
  (void)state;
  follow_table(POL_SOLVER_DENSE, 0);
}

static void sparse_steps(void **state)
{
  (void)state;
  follow_table(POL_SOLVER_SPARSE, 1);
}

static pol_status evaluate_nothing(const pol_point *at, unsigned want, const pol_terms *out,
                                   double *scratch, void *user)
{
  (void)at;
  (void)want;
  (void)out;
  (void)scratch;
  (void)user;
  return POL_NOT_FINITE;
}

static pol_status (*model_evaluate)(const pol_point *at, unsigned want, const pol_terms *out,
                                    double *scratch, void *user);
static int num_failures;

static pol_status fail_at_first(const pol_point *at, unsigned want, const pol_terms *out,
                                double *scratch, void *user)
{
  if (num_failures-- > 0) return POL_RETRY;
  return model_evaluate(at, want, out, scratch, user);
}

/* Where the model cannot be evaluated at the start of a step, the step fails, although Newton's
 * method would converge: its equations hold forces and reactions of that place. */
static void a_start_that_fails_fails_the_step(void **state)
{
  (void)state;
  quadratic model;
  pol_integrator *integrator;
  pol_options options = pol_options_default();
  options.method = "rattle";
  pendulum3d_init(&model);
  model_evaluate = model.dae.evaluate;
  model.dae.evaluate = fail_at_first;
  num_failures = 0;
  assert_int_equal(pol_integrator_create(&integrator, &model.dae, &options), POL_OK);
  assert_int_equal(pol_integrator_start(integrator, 0.0, model.q0, model.v0, NULL), POL_OK);
  assert_int_equal(pol_integrator_step(integrator, 0.01), POL_OK);
  num_failures = 1;
  assert_int_equal(pol_integrator_step(integrator, 0.01), POL_RETRY);
  assert_true(pol_integrator_state(integrator)->t == 0.01);
  assert_int_equal(pol_integrator_step(integrator, 0.01), POL_OK);
  pol_integrator_free(&integrator);
  quadratic_clear(&model);
}

/* Newton's first guess of the multipliers is the force, not the impulse, of the step before: seen
 * where the model then stops the iteration. */
static void multipliers_are_guessed_as_forces(void **state)
{
  (void)state;
  static const char *const methods[] = {"vi-s", "vi-a", "vi-b", "em", "em-g", "midpoint"};
  for (int k = 0; k < 6; k++) {
    quadratic model;
    pol_integrator *integrator;
    pol_options options = pol_options_default();
    options.method = methods[k];
    pendulum3d_init(&model);
    assert_int_equal(pol_integrator_create(&integrator, &model.dae, &options), POL_OK);
    assert_int_equal(pol_integrator_start(integrator, 0.0, model.q0, model.v0, NULL), POL_OK);
    assert_int_equal(pol_integrator_step(integrator, 0.01), POL_OK);
    model.dae.evaluate = evaluate_nothing;
    assert_int_not_equal(pol_integrator_step(integrator, 0.0025), POL_OK);
    const poli_ggl *s = integrator->data;
    const int lambda = s->blocks->start[s->scheme->num_vectors];
    for (int i = 0; i < s->m; i++) {
      assert_true(fabs(s->now.x[lambda + i]) > 1e-6);
      assert_true(s->next.x[lambda + i] == 0.25 * s->now.x[lambda + i]);
    }
    pol_integrator_free(&integrator);
    quadratic_clear(&model);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(dense_steps),
      cmocka_unit_test(sparse_steps),
      cmocka_unit_test(a_start_that_fails_fails_the_step),
      cmocka_unit_test(multipliers_are_guessed_as_forces),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
