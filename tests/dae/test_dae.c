/* The contract's helpers: rules of a pol_dae, evaluation into zeroed arrays, patterns, names. */
#include "toys.h"

#include "dae/dae.h"
#include "dae/extension.h"

static pol_status accept(const pol_point *at, unsigned want, const pol_terms *out, double *scratch,
                         void *user)
{
  (void)at, (void)want, (void)out, (void)scratch, (void)user;
  return POL_OK;
}

/* R^2 x SO(3) with two holonomic constraints and a non-holonomic one. */
typedef struct sample {
  pol_factor factors[2];
  pol_dae dae;
} sample;

static void sample_init(sample *s)
{
  *s = (sample){.factors = {{.kind = POL_REAL, .dim = 2}, {.kind = POL_SO3}},
                .dae = {.num_holonomic = 2, .num_nonholonomic = 1, .evaluate = accept}};
  assert_int_equal(pol_group_layout(&s->dae.group, s->factors, 2), POL_OK);
}

/* --- rules ------------------------------------------------------------------------------------ */

static void assert_rule(const pol_dae *dae, const char *rule)
{
  char message[128] = "";
  assert_int_equal(pol_dae_validate(dae, message, sizeof message), POL_BAD_ARGUMENT);
  assert_string_equal(message, rule);
  assert_int_equal(pol_dae_validate(dae, NULL, 0), POL_BAD_ARGUMENT);
}

static void test_valid(void **state)
{
  (void)state;
  char message[128] = "untouched";
  sample s;
  sample_init(&s);
  assert_int_equal(pol_dae_validate(&s.dae, message, sizeof message), POL_OK);
  assert_string_equal(message, "untouched");
  assert_int_equal(pol_dae_num_constraints(&s.dae), 3);
  s.dae.num_holonomic = s.dae.num_nonholonomic = 0;
  assert_int_equal(pol_dae_validate(&s.dae, NULL, 0), POL_OK);
}

static void test_sizes(void **state)
{
  (void)state;
  sample s;
  sample_init(&s);
  s.dae.group.num_factors = 0;
  assert_rule(&s.dae, "the group is empty");
  sample_init(&s);
  s.dae.group.nv = 0;
  assert_rule(&s.dae, "the group is empty");
  sample_init(&s);
  s.dae.num_holonomic = -1;
  assert_rule(&s.dae, "the number of constraints is negative");
  sample_init(&s);
  s.dae.num_nonholonomic = -1;
  assert_rule(&s.dae, "the number of constraints is negative");
  sample_init(&s);
  s.dae.num_internal = s.dae.num_holonomic + 1;
  assert_rule(&s.dae, "num_internal must be between 0 and num_holonomic");
  sample_init(&s);
  s.dae.evaluate = NULL;
  assert_rule(&s.dae, "evaluate is missing");
  sample_init(&s);
  s.dae.num_states = -1;
  assert_rule(&s.dae, "the states must have the last factor of the group, R^num_states");
  sample_init(&s);
  s.dae.num_states = s.dae.group.nv + 1;
  assert_rule(&s.dae, "the states must have the last factor of the group, R^num_states");
}

static pol_status step(const poli_step_data *at, unsigned want, const poli_step_terms *out,
                       double *scratch, void *user)
{
  (void)at, (void)want, (void)out, (void)scratch, (void)user;
  return POL_OK;
}

static void find_momenta(const double *q, const double *v, double *p, void *user)
{
  (void)q, (void)v, (void)p, (void)user;
}

/* A step for a mass matrix that varies needs both callbacks, and coordinates that can be added. */
static void test_step_equations(void **state)
{
  (void)state;
  static const char *where = "step equations need a mass matrix that depends on q, on R^n";
  sample s;
  sample_init(&s);
  struct pol_dae_extension extension = {.step_equations = {.evaluate = step}};
  poli_step_equations *equations = &extension.step_equations;
  s.dae.extension = &extension;
  assert_rule(&s.dae, "step equations need evaluate and momenta");
  equations->momenta = find_momenta;
  assert_rule(&s.dae, where);
  s.factors[1] = (pol_factor){.kind = POL_REAL, .dim = 3};
  assert_int_equal(pol_group_layout(&s.dae.group, s.factors, 2), POL_OK);
  assert_int_equal(pol_dae_validate(&s.dae, NULL, 0), POL_OK);
  s.dae.constant_mass = 1;
  assert_rule(&s.dae, where);
  equations->evaluate = NULL;
  assert_rule(&s.dae, "step equations need evaluate and momenta");
}

/* A group that was not laid out would make the library read and write out of bounds. */
static void test_layout(void **state)
{
  (void)state;
  static const char *rule = "the factors of the group do not fit its sizes: use pol_group_layout";
  sample s;
  sample_init(&s);
  s.dae.group.nv = 6;
  assert_rule(&s.dae, rule);
  sample_init(&s);
  s.dae.group.nq = 5;
  assert_rule(&s.dae, rule);
  sample_init(&s);
  s.factors[1].v = 3;
  assert_rule(&s.dae, rule);
  sample_init(&s);
  s.factors[1].q = 0;
  assert_rule(&s.dae, rule);
  sample_init(&s);
  s.factors[1].dim = 4;
  assert_rule(&s.dae, rule);
}

static void test_message_is_cut(void **state)
{
  (void)state;
  char message[6] = "";
  sample s;
  sample_init(&s);
  s.dae.evaluate = NULL;
  assert_int_equal(pol_dae_validate(&s.dae, message, sizeof message), POL_BAD_ARGUMENT);
  assert_string_equal(message, "evalu");
  assert_int_equal(pol_dae_validate(&s.dae, message, 0), POL_BAD_ARGUMENT);
  assert_string_equal(message, "evalu");
}

/* The rule that a pattern of the given blocks breaks as coupling or as constraint; NULL: none. */
static void check_pattern(int is_coupling, int rows, int cols, int num_blocks,
                          const pol_block *blocks, const char *rule)
{
  sample s;
  pol_pattern *pattern;
  sample_init(&s);
  assert_int_equal(pol_pattern_create(&pattern, rows, cols, num_blocks, blocks), POL_OK);
  if (is_coupling)
    s.dae.coupling = pattern;
  else
    s.dae.constraint = pattern;
  if (rule)
    assert_rule(&s.dae, rule);
  else
    assert_int_equal(pol_dae_validate(&s.dae, NULL, 0), POL_OK);
  pol_pattern_free(&pattern);
}

static void test_coupling(void **state)
{
  (void)state;
  static const char *size = "the pattern coupling must be nv x nv";
  static const char *same = "the columns of a rotation in coupling must have the same rows";
  static const char *diagonal = "the pattern coupling must contain the diagonal";
  pol_block diagonals[] = {{0, 0, 1, 1}, {1, 1, 1, 1}, {2, 2, 3, 3}};
  check_pattern(1, 5, 5, 3, diagonals, NULL);
  check_pattern(1, 6, 5, 3, diagonals, size);
  check_pattern(1, 5, 6, 3, diagonals, size);

  /* one rotation column taller, one shorter, one with as many but other rows */
  pol_block taller[] = {{0, 0, 2, 2}, {2, 2, 3, 3}, {1, 3, 1, 1}};
  pol_block shorter[] = {{0, 0, 2, 2}, {2, 2, 3, 2}, {3, 4, 2, 1}};
  pol_block other[] = {{0, 0, 2, 2}, {2, 2, 3, 3}, {0, 2, 1, 2}, {1, 4, 1, 1}};
  check_pattern(1, 5, 5, 3, taller, same);
  check_pattern(1, 5, 5, 3, shorter, same);
  check_pattern(1, 5, 5, 4, other, same);

  /* M is positive definite: its diagonal cannot be missing */
  pol_block hole[] = {{0, 0, 1, 1}, {0, 1, 1, 1}, {2, 2, 3, 3}};
  check_pattern(1, 5, 5, 3, hole, diagonal);
}

static void test_constraint(void **state)
{
  (void)state;
  static const char *size = "the pattern constraint must be m x nv";
  static const char *same = "the columns of a rotation in constraint must have the same rows";
  pol_block blocks[] = {{0, 0, 2, 1}, {1, 2, 2, 3}};
  check_pattern(0, 3, 5, 2, blocks, NULL);
  check_pattern(0, 2, 5, 1, blocks, size);
  check_pattern(0, 3, 6, 2, blocks, size);
  pol_block uneven[] = {{0, 0, 2, 1}, {1, 2, 2, 3}, {0, 4, 1, 1}};
  check_pattern(0, 3, 5, 3, uneven, same);
}

/* --- evaluation ------------------------------------------------------------------------------- */

enum { NV = 5, M = 3, NH = 2 };
static const double mark = 42.0;

typedef struct arrays {
  double balance[NV + 1], position[NH + 1], velocity[M + 1], acceleration[M + 1];
  double mass[NV * NV + 1], damping[NV * NV + 1], stiffness[NV * NV + 1];
  double jacobian[M * NV + 1], curvature[M * NV + 1];
} arrays;

/* What the model sees when it is called. */
typedef struct witness {
  unsigned want;
  const pol_point *at;
  const double *scratch;
  arrays seen;
  const arrays *given;
  pol_status answer;
} witness;

static pol_status observe(const pol_point *at, unsigned want, const pol_terms *out, double *scratch,
                          void *user)
{
  (void)out;
  witness *w = user;
  w->want = want;
  w->at = at;
  w->scratch = scratch;
  w->seen = *w->given;
  return w->answer;
}

/* The first n numbers are zero if asked for, else as they were; behind them nothing is touched. */
static void assert_zeroed(const double *x, int n, unsigned asked)
{
  for (int i = 0; i < n; i++) assert_true(x[i] == (asked ? 0.0 : mark));
  assert_true(x[n] == mark);
}

static void check_zeroing(const pol_dae *dae, unsigned want, int coupling, int constraint)
{
  arrays a;
  double *numbers = (double *)&a;
  for (size_t i = 0; i < sizeof a / sizeof *numbers; i++) numbers[i] = mark;
  double scratch[1] = {0.0};
  pol_terms out = {.balance = a.balance,
                   .position = a.position,
                   .velocity = a.velocity,
                   .acceleration = a.acceleration,
                   .mass = a.mass,
                   .damping = a.damping,
                   .stiffness = a.stiffness,
                   .jacobian = a.jacobian,
                   .curvature = a.curvature};
  pol_point at = {.t = 3.0};
  witness *w = dae->user;
  w->given = &a;
  assert_int_equal(poli_dae_evaluate(dae, &at, want, &out, scratch), w->answer);
  assert_int_equal(w->want, want);
  assert_ptr_equal(w->at, &at);
  assert_ptr_equal(w->scratch, scratch);
  assert_zeroed(w->seen.balance, NV, want & (POL_INERTIA | POL_FORCE | POL_REACTION));
  assert_zeroed(w->seen.position, NH, want & POL_POSITION);
  assert_zeroed(w->seen.velocity, M, want & POL_VELOCITY);
  assert_zeroed(w->seen.acceleration, M, want & POL_ACCELERATION);
  assert_zeroed(w->seen.mass, coupling, want & POL_MASS);
  assert_zeroed(w->seen.damping, coupling, want & POL_DAMPING);
  assert_zeroed(w->seen.stiffness, coupling, want & (POL_STIFFNESS | POL_GEOMETRIC_STIFFNESS));
  assert_zeroed(w->seen.jacobian, constraint, want & POL_JACOBIAN);
  assert_zeroed(w->seen.curvature, constraint, want & POL_CURVATURE);
}

static void test_zeroing(void **state)
{
  (void)state;
  sample s;
  witness w = {.answer = POL_OK};
  sample_init(&s);
  s.dae.evaluate = observe;
  s.dae.user = &w;
  for (int bit = 0; bit < 12; bit++) check_zeroing(&s.dae, 1u << bit, NV * NV, M * NV);
  check_zeroing(&s.dae, 0xfffu, NV * NV, M * NV);

  pol_block coupling[] = {{0, 0, 2, 2}, {2, 2, 3, 3}}, constraint = {1, 2, 1, 3};
  pol_pattern *W, *B;
  assert_int_equal(pol_pattern_create(&W, NV, NV, 2, coupling), POL_OK);
  assert_int_equal(pol_pattern_create(&B, M, NV, 1, &constraint), POL_OK);
  s.dae.coupling = W;
  s.dae.constraint = B;
  for (int bit = 0; bit < 12; bit++) check_zeroing(&s.dae, 1u << bit, 13, 3);
  pol_pattern_free(&W);
  pol_pattern_free(&B);
}

static void test_answer_is_passed_on(void **state)
{
  (void)state;
  sample s;
  witness w = {.answer = POL_RETRY};
  sample_init(&s);
  s.dae.evaluate = observe;
  s.dae.user = &w;
  check_zeroing(&s.dae, POL_FORCE, NV * NV, M * NV);
  w.answer = POL_CALLBACK;
  check_zeroing(&s.dae, POL_FORCE, NV * NV, M * NV);
}

/* --- patterns and names ----------------------------------------------------------------------- */

static void assert_full(const pol_pattern *pattern, int rows, int cols)
{
  assert_int_equal(pattern->rows, rows);
  assert_int_equal(pattern->cols, cols);
  assert_int_equal(pol_pattern_nonzeros(pattern), rows * cols);
  for (int j = 0; j < cols; j++)
    for (int i = 0; i < rows; i++)
      assert_int_equal(pol_pattern_address(pattern, i, j), i + j * rows);
}

static void test_full_patterns(void **state)
{
  (void)state;
  sample s;
  poli_dae_patterns patterns;
  sample_init(&s);
  assert_int_equal(poli_dae_patterns_create(&patterns, &s.dae), POL_OK);
  assert_full(patterns.coupling, NV, NV);
  assert_full(patterns.constraint, M, NV);
  poli_dae_patterns_free(&patterns);

  s.dae.num_holonomic = s.dae.num_nonholonomic = 0;
  assert_int_equal(poli_dae_patterns_create(&patterns, &s.dae), POL_OK);
  assert_full(patterns.constraint, 0, NV);
  poli_dae_patterns_free(&patterns);
}

static void test_own_patterns(void **state)
{
  (void)state;
  sample s;
  poli_dae_patterns patterns;
  pol_block block = {0, 0, NV, NV};
  pol_pattern *own;
  sample_init(&s);
  assert_int_equal(pol_pattern_create(&own, NV, NV, 1, &block), POL_OK);
  s.dae.coupling = own;
  assert_int_equal(poli_dae_patterns_create(&patterns, &s.dae), POL_OK);
  assert_ptr_equal(patterns.coupling, own);
  assert_null(patterns.owned[0]);
  assert_full(patterns.constraint, M, NV);
  poli_dae_patterns_free(&patterns);
  assert_int_equal(pol_pattern_nonzeros(own), NV * NV); /* still the caller's */
  pol_pattern_free(&own);
}

static void describe(int equation, char *text, size_t size, void *user)
{
  snprintf(text, size, "%s %d", (const char *)user, equation);
}

static void test_names(void **state)
{
  (void)state;
  char name[] = "row", text[32];
  sample s;
  sample_init(&s);
  poli_dae_describe(&s.dae, 0, text, sizeof text);
  assert_string_equal(text, "balance equation 1");
  poli_dae_describe(&s.dae, NV - 1, text, sizeof text);
  assert_string_equal(text, "balance equation 5");
  poli_dae_describe(&s.dae, NV, text, sizeof text);
  assert_string_equal(text, "constraint 1");
  poli_dae_describe(&s.dae, NV + M - 1, text, sizeof text);
  assert_string_equal(text, "constraint 3");
  s.dae.describe = describe;
  s.dae.user = name;
  poli_dae_describe(&s.dae, 7, text, sizeof text);
  assert_string_equal(text, "row 7");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_valid),
      cmocka_unit_test(test_sizes),
      cmocka_unit_test(test_layout),
      cmocka_unit_test(test_step_equations),
      cmocka_unit_test(test_message_is_cut),
      cmocka_unit_test(test_coupling),
      cmocka_unit_test(test_constraint),
      cmocka_unit_test(test_zeroing),
      cmocka_unit_test(test_answer_is_passed_on),
      cmocka_unit_test(test_full_patterns),
      cmocka_unit_test(test_own_patterns),
      cmocka_unit_test(test_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
