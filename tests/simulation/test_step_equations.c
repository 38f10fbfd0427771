/* The midpoint and energy-momentum methods in Euler parameters, whose mass matrix depends on the
 * configuration: Newton matrices against finite differences, states against an independent program,
 * orders, and what is conserved. */
#include <polhode/model.h>
#include <polhode/polhode.h>

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "heavy_top_reference.h"
#include "integrators/family.h"
#include "integrators/ggl.h"
#include "simulation/heavy_top.h"

#define MODELS POLHODE_SOURCE_DIR "/models/"
#define DATA POLHODE_SOURCE_DIR "/tests/data/step-equations/"

static const char *const all_methods[] = {"em", "em-g", "midpoint", "vi-a"};
enum { EM, EM_G, MIDPOINT, VI_A, NUM_METHODS };

/* --- runs --------------------------------------------------------------------------------------
 */

static pol_model *read_model(const char *path)
{
  pol_errors errors = {0};
  pol_model *model;
  pol_status status = pol_model_read_file(&model, path, 0, NULL, &errors);
  if (status) fail_msg("%s: %s", path, errors.count ? errors.items[0].rule : "cannot be read");
  return model;
}

static pol_simulation *begin(pol_model *model, const char *method, double step, double end)
{
  pol_settings settings = model->settings;
  pol_simulation *simulation;
  settings.formulation = POL_EULER_PARAMETERS;
  settings.options = pol_options_default();
  settings.options.method = method;
  settings.step = step;
  settings.end = end;
  assert_int_equal(pol_simulation_create(&simulation, model->mechanism, &settings, NULL), POL_OK);
  return simulation;
}

static void finish(pol_simulation *simulation)
{
  while (!pol_simulation_finished(simulation))
    assert_int_equal(pol_simulation_step(simulation), POL_OK);
}

/* --- matrices --------------------------------------------------------------------------------- */

enum { MAX_N = 128 };

/* Largest deviation of a column from its finite difference, relative to the column. */
static double worst_column(poli_ggl *s, double x[MAX_N])
{
  static double dense[MAX_N][MAX_N], r[4][MAX_N];
  const pol_pattern *S = s->blocks->pattern;
  int n = s->blocks->n;
  double worst = 0.0;
  assert_true(n <= MAX_N);
  memset(dense, 0, sizeof dense);
  assert_int_equal(poli_ggl_residual(x, r[0], s), POL_OK);
  assert_int_equal(poli_ggl_matrix(s), POL_OK);
  for (int j = 0; j < n; j++)
    for (int k = S->start[j]; k < S->start[j + 1]; k++) dense[j][S->row[k]] = s->blocks->values[k];
  for (int j = 0; j < n; j++) {
    static const double offset[4] = {2.0, 1.0, -1.0, -2.0};
    double step = 1e-3 * fmax(1.0, fabs(x[j])), at = x[j], size = 1e-3;
    for (int k = 0; k < 4; k++) {
      x[j] = at + offset[k] * step;
      assert_int_equal(poli_ggl_residual(x, r[k], s), POL_OK);
    }
    x[j] = at;
    for (int i = 0; i < n; i++) size = fmax(size, fabs(dense[j][i]));
    for (int i = 0; i < n; i++) {
      double f[4] = {r[0][i], r[1][i], r[2][i], r[3][i]};
      worst = fmax(worst, fabs(difference(f, step) - dense[j][i]) / size);
    }
  }
  return worst;
}

/* A few steps, then the matrix away from the solution of the next one. */
static double matrix_deviation(const char *path, const char *method, double h)
{
  pol_model *model = read_model(path);
  pol_formulation *formulation;
  pol_integrator *integrator;
  double q[MAX_N], v[MAX_N], x[MAX_N];
  unsigned char keep[MAX_N];
  pol_options options = pol_options_default();
  options.method = method;
  assert_int_equal(pol_formulation_create(&formulation, model->mechanism, POL_EULER_PARAMETERS),
                   POL_OK);
  pol_formulation_initial(formulation, q, v, keep);
  assert_int_equal(pol_integrator_create(&integrator, pol_formulation_dae(formulation), &options),
                   POL_OK);
  assert_int_equal(pol_integrator_start(integrator, 0.0, q, v, keep), POL_OK);
  for (int n = 0; n < 5; n++) assert_int_equal(pol_integrator_step(integrator, h), POL_OK);
  poli_ggl *s = integrator->data;
  s->t = integrator->state.t;
  s->h = h;
  for (int i = 0; i < s->blocks->n; i++) x[i] = s->now.x[i] + 0.3 * (i % 3 - 1);
  double worst = worst_column(s, x);
  pol_integrator_free(&integrator);
  pol_formulation_free(&formulation);
  pol_model_free(&model);
  return worst;
}

static void check_matrix(const char *path, const char *method, double h)
{
  double worst = matrix_deviation(path, method, h);
  if (!(worst <= 1e-8)) fail_msg("%s, %s: %.2e", method, path, worst);
}

static void every_matrix_is_exact(void **state)
{
  (void)state;
  for (int k = 0; k < NUM_METHODS; k++) {
    check_matrix(MODELS "bruels-cardona-2010/heavy_top.json", all_methods[k], 1e-3);
    check_matrix(MODELS "holzinger-arnold-gerstmayr/slider_crank.json", all_methods[k], 0.02);
    check_matrix(DATA "two_bodies.json", all_methods[k], 0.05);
    check_matrix(DATA "laws.json", all_methods[k], 0.05);
  }
}

static void check_second_order(const char *path, const char *method)
{
  double error[3];
  for (int r = 0; r < 3; r++) error[r] = matrix_deviation(path, method, 0.02 / (1 << r));
  if (!(error[0] < 1e-3 && error[0] > 3.5 * error[1] && error[1] > 3.5 * error[2]))
    fail_msg("%s, %s: %.2e, %.2e, %.2e", method, path, error[0], error[1], error[2]);
}

/* Forces that see rigid frames have exact derivatives where directors are orthonormal: midway.
 * Their means over a step are not, by the square of the angle that it turns.  What moving
 * constraints add beside gamma, which is of second order itself, is left out. */
static void what_matrices_leave_out_is_of_second_order(void **state)
{
  (void)state;
  check_second_order(DATA "frames.json", "em");
  check_second_order(DATA "driven.json", "em");
  check_second_order(DATA "driven.json", "vi-a");
  check_matrix(DATA "frames.json", "vi-a", 0.05);
  check_matrix(DATA "driven.json", "em-g", 0.05);
}

/* --- an independent program --------------------------------------------------------------------
 */

/* The two bodies after ten steps of 0.02: q and v of both.  Origin: the equations of
 * step_equations.c in Python, solved with difference quotients in place of derivatives, 2026; error
 * below 1e-11. */
typedef struct recorded {
  const char *method;
  double q[14], v[14];
} recorded;

static const recorded after_ten[] = {
    {"em",
     {0.889852772244058, 0.316199669143466, 0.14149257886969, 0.296916929608151, 0.831405383965565,
      -0.169766960616422, 0.72797271006277, 0.816171435410283, 0.221904795290919, 0.38173589583107,
      0.372693111931606, 1.43860312115522, 0.52807579689877, 0.467090636070251},
     {-0.995370830877121, 1.5916058926106, 0.940118805822535, 0.840128593091991, 2.10296924228941,
      -0.43258569157616, -2.50264698557361, -1.86342500459245, 0.665888551239653, 2.01228286409411,
      1.6231848053279, -1.40818802720027, 1.87296848109226, -2.7828206193176}},
    {"em-g",
     {0.889852817084359, 0.316199706207804, 0.141492601003869, 0.296916745203581, 0.831405444681743,
      -0.169767232512679, 0.727972577312181, 0.816171665980508, 0.221905070840478,
      0.381735515589542, 0.372692832401526, 1.43860378377473, 0.528075265063619, 0.467090692966999},
     {-0.995310957227285, 1.59161971104638, 0.940534645513324, 0.839736676479145, 2.10473592520966,
      -0.43293727814098, -2.5013983607195, -1.86358751745212, 0.665911571259616, 2.01298108667816,
      1.62281575831009, -1.40769226682048, 1.87318832223145, -2.78130174660567}},
    {"vi-a",
     {0.889873759998573, 0.315921071096504, 0.141509324568401, 0.296775757335657, 0.831657748606547,
      -0.169827540521252, 0.728465008129445, 0.81658638326232, 0.221912961842514, 0.381358466343439,
      0.372296823650524, 1.43900661214959, 0.52825616174917, 0.467404584265976},
     {-0.959811536368865, 1.59780837185271, 0.914035100277022, 0.914072594435198, 2.09127195554884,
      -0.499247237813091, -2.36245571489588, -1.76790995532985, 0.710945281229564, 2.0282004395964,
      1.65677901238292, -1.32218283124714, 1.97878871965891, -2.76806387684214}},
};

static void states_are_those_of_an_independent_program(void **state)
{
  (void)state;
  for (size_t k = 0; k < sizeof after_ten / sizeof after_ten[0]; k++) {
    pol_model *model = read_model(DATA "two_bodies.json");
    pol_simulation *simulation = begin(model, after_ten[k].method, 0.02, 0.2);
    finish(simulation);
    const pol_state *now = pol_simulation_state(simulation);
    assert_near(now->q, after_ten[k].q, 14, 1e-11);
    assert_near(now->v, after_ten[k].v, 14, 1e-11);
    pol_simulation_free(&simulation);
    pol_model_free(&model);
  }
}

/* --- invariants --------------------------------------------------------------------------------
 */

/* Without optimisation the long runs would take minutes. */
#ifdef NDEBUG
static const double length_of_runs = 1.0;
#else
static const double length_of_runs = 0.1;
#endif

typedef struct run_case {
  const char *path;
  double step, end;
  double scale;        /* of the energy, J */
  int angular, linear; /* how many momenta its symmetry keeps */
} run_case;

static const run_case cases[] = {
    {MODELS "bruels-cardona-2010/heavy_top.json", 1e-3, 1.0, 5435.0, 1, 0},
    {MODELS "holzinger-arnold-gerstmayr/slider_crank.json", 2e-3, 2.0, 0.766, 0, 0},
    {MODELS "examples/chain_20.json", 5e-3, 0.5, 1.0, 1, 0},
    {DATA "free_body.json", 0.02, 20.0, 26.0, 3, 3},
    {DATA "two_bodies.json", 0.02, 10.0, 70.0, 1, 0},
    {DATA "springs.json", 0.01, 5.0, 10.0, 0, 0},
};

/* Round-off of a momentum relative to the largest of them. */
static void check_momenta(const char *method, const run_case *c, const pol_summary *summary)
{
  int linear = 0, angular = 0;
  double size = 1.0, drift = 0.0;
  for (int i = 0; i < summary->num_invariants; i++) {
    const pol_invariant *own = &summary->invariants[i];
    if (own->kind == POL_CONSTANT_ENERGY) continue;
    linear += own->kind == POL_CONSTANT_MOMENTUM;
    angular += own->kind == POL_CONSTANT_ANGULAR_MOMENTUM;
    size = fmax(size, fabs(own->initial));
    drift = fmax(drift, own->max_drift);
  }
  assert_int_equal(linear, c->linear);
  assert_int_equal(angular, c->angular);
  if (!(drift < 1e-12 * size)) fail_msg("%s, %s: momentum drifts by %.2e", method, c->path, drift);
}

static void invariants_are_conserved(void **state)
{
  (void)state;
  for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++)
    for (int k = 0; k < NUM_METHODS; k++) {
      const run_case *c = &cases[n];
      pol_model *model = read_model(c->path);
      pol_simulation *simulation = begin(model, all_methods[k], c->step, c->end * length_of_runs);
      finish(simulation);
      const pol_summary *summary = pol_simulation_summary(simulation);
      check_momenta(all_methods[k], c, summary);
      double drift = summary->max_energy_drift / c->scale;
      if ((k == EM || k == EM_G) && !(drift < 1e-13))
        fail_msg("%s, %s: energy drifts by %.2e", all_methods[k], c->path, drift);
      if (k != VI_A && !(summary->max_position_residual < 1e-13))
        fail_msg("%s, %s: Phi %.2e", all_methods[k], c->path, summary->max_position_residual);
      if (k == EM && !(summary->max_velocity_residual < 1e-11))
        fail_msg("em, %s: Phi' %.2e", c->path, summary->max_velocity_residual);
      pol_simulation_free(&simulation);
      pol_model_free(&model);
    }
}

/* Without differences of potentials springs change the energy, without gamma the constraints on
 * velocity level do not hold, and vi-a holds them between grid points: so the test above can fail.
 */
static void what_is_not_promised_is_not_kept(void **state)
{
  (void)state;
  pol_model *model = read_model(DATA "springs.json");
  pol_simulation *simulation = begin(model, "midpoint", 0.01, 1.0);
  finish(simulation);
  assert_true(pol_simulation_summary(simulation)->max_energy_drift > 1e-6);
  assert_true(pol_simulation_summary(simulation)->max_velocity_residual > 1e-6);
  pol_simulation_free(&simulation);
  simulation = begin(model, "vi-a", 0.01, 1.0);
  finish(simulation);
  assert_true(pol_simulation_summary(simulation)->max_position_residual > 1e-6);
  pol_simulation_free(&simulation);
  pol_model_free(&model);
}

/* Dampers take energy out in every step of em, also of large ones. */
static void dampers_only_take_energy_out(void **state)
{
  (void)state;
  static const double steps[] = {0.01, 0.05, 0.1};
  for (int k = 0; k < 3; k++) {
    pol_model *model = read_model(DATA "dampers.json");
    pol_simulation *simulation = begin(model, "em", steps[k], 5.0);
    double before = HUGE_VAL;
    while (!pol_simulation_finished(simulation)) {
      pol_energy energy;
      assert_int_equal(pol_simulation_step(simulation), POL_OK);
      pol_point at = pol_state_point(pol_simulation_state(simulation));
      pol_formulation_energy(pol_simulation_formulation(simulation), &at, &energy);
      assert_true(energy.kinetic + energy.potential < before + 1e-12);
      before = energy.kinetic + energy.potential;
    }
    pol_simulation_free(&simulation);
    pol_model_free(&model);
  }
}

/* --- all models --------------------------------------------------------------------------------
 */

/* The bodies' positions after some steps of em. */
static int positions(const char *path, pol_formulation_kind kind, double *x, int max)
{
  pol_model *model = read_model(path);
  pol_settings settings = model->settings;
  pol_simulation *simulation;
  int bodies = pol_mechanism_num_bodies(model->mechanism);
  assert_true(3 * bodies <= max);
  settings.formulation = kind;
  settings.options.method = "em";
  assert_int_equal(pol_simulation_create(&simulation, model->mechanism, &settings, NULL), POL_OK);
  for (int n = 0; n < 50 && !pol_simulation_finished(simulation); n++)
    assert_int_equal(pol_simulation_step(simulation), POL_OK);
  const pol_state *now = pol_simulation_state(simulation);
  for (int b = 0; b < bodies; b++) {
    pol_body_state body;
    pol_formulation_body_state(pol_simulation_formulation(simulation), now->q, now->v, b, &body);
    memcpy(x + 3 * b, body.position, sizeof body.position);
  }
  pol_simulation_free(&simulation);
  pol_model_free(&model);
  return bodies;
}

/* Joints of many kinds, drives, redundant constraints, springs, dampers, bushings: what directors
 * can do, and much the same numbers. */
static void models_move_as_in_directors(void **state)
{
  (void)state;
  enum { MAX = 3 * 20 };
  static const char *const paths[] = {MODELS "bruels-cardona-2010/romano_1.json",
                                      MODELS "examples/chain_stop.json",
                                      MODELS "examples/double_pendulum.json",
                                      MODELS "examples/four_bar_motor.json",
                                      MODELS "examples/gyroscope.json",
                                      MODELS "examples/stewart_platform.json",
                                      MODELS "examples/suspension.json",
                                      MODELS "holzinger-arnold-gerstmayr/rotor.json",
                                      MODELS "holzinger-arnold-gerstmayr/slider_crank_global.json",
                                      MODELS "kinon-betsch-schneider-2023/four_particles.json",
                                      DATA "driven.json",
                                      DATA "frames.json",
                                      DATA "laws.json"};
  for (size_t k = 0; k < sizeof paths / sizeof paths[0]; k++) {
    double own[MAX], directors[MAX], difference_of = 0.0;
    int bodies = positions(paths[k], POL_EULER_PARAMETERS, own, MAX);
    positions(paths[k], POL_DIRECTORS, directors, MAX);
    for (int i = 0; i < 3 * bodies; i++)
      difference_of = fmax(difference_of, fabs(own[i] - directors[i]));
    if (!(difference_of < 2e-5)) fail_msg("%s: %.2e", paths[k], difference_of);
  }
}

/* --- the symplectic form -----------------------------------------------------------------------
 */

enum { NUM_VARIATIONS = 4, MAX_NV = 27 };

/* One step from initial values moved along a direction, made consistent: z before, out after. */
static void moved_step(const pol_dae *dae, const pol_options *options, const double *q,
                       const double *v, const double *direction, double s, double h, double *z,
                       double *out)
{
  double q0[MAX_NV], v0[MAX_NV];
  int nv = dae->group.nv;
  pol_integrator *integrator;
  for (int i = 0; i < nv; i++) {
    q0[i] = q[i] + s * direction[i];
    v0[i] = v[i] + s * direction[nv + i];
  }
  assert_int_equal(pol_integrator_create(&integrator, dae, options), POL_OK);
  assert_int_equal(pol_integrator_start(integrator, 0.0, q0, v0, NULL), POL_OK);
  const pol_state *state = pol_integrator_state(integrator);
  memcpy(z, state->q, (size_t)nv * sizeof *z);
  memcpy(z + nv, state->p, (size_t)nv * sizeof *z);
  assert_int_equal(pol_integrator_step(integrator, h), POL_OK);
  memcpy(out, state->q, (size_t)nv * sizeof *out);
  memcpy(out + nv, state->p, (size_t)nv * sizeof *out);
  pol_integrator_free(&integrator);
}

static double product(const double *a, const double *b, int nv)
{
  double sum = 0.0;
  for (int i = 0; i < nv; i++) sum += a[i] * b[nv + i] - b[i] * a[nv + i];
  return sum;
}

/* How much one step changes the symplectic form, relative to its largest value. */
static double symplectic_defect(const char *path, const char *method, double h)
{
  static const double offset[4] = {2.0, 1.0, -1.0, -2.0};
  const double s = 3e-4;
  double tangent[NUM_VARIATIONS][2 * MAX_NV], image[NUM_VARIATIONS][2 * MAX_NV];
  double q[MAX_NV], v[MAX_NV], worst = 0.0, largest = 0.0;
  unsigned char keep[MAX_NV];
  uint64_t seed = 1;
  pol_model *model = read_model(path);
  pol_formulation *formulation;
  pol_options options = pol_options_default();
  options.method = method;
  assert_int_equal(pol_formulation_create(&formulation, model->mechanism, POL_EULER_PARAMETERS),
                   POL_OK);
  pol_formulation_initial(formulation, q, v, keep);
  const pol_dae *dae = pol_formulation_dae(formulation);
  const int nv = dae->group.nv;
  for (int k = 0; k < NUM_VARIATIONS; k++) {
    double z[4][2 * MAX_NV], out[4][2 * MAX_NV], direction[2 * MAX_NV];
    random_numbers(&seed, direction, 2 * nv);
    for (int j = 0; j < 4; j++)
      moved_step(dae, &options, q, v, direction, offset[j] * s, h, z[j], out[j]);
    for (int i = 0; i < 2 * nv; i++) {
      tangent[k][i] = difference((double[4]){z[0][i], z[1][i], z[2][i], z[3][i]}, s);
      image[k][i] = difference((double[4]){out[0][i], out[1][i], out[2][i], out[3][i]}, s);
    }
    for (int l = 0; l < k; l++) {
      double before = product(tangent[k], tangent[l], nv);
      worst = fmax(worst, fabs(product(image[k], image[l], nv) - before));
      largest = fmax(largest, fabs(before));
    }
  }
  pol_formulation_free(&formulation);
  pol_model_free(&model);
  return worst / largest;
}

static void vi_a_is_symplectic(void **state)
{
  (void)state;
  static const struct {
    const char *path;
    double step;
  } models[] = {{MODELS "bruels-cardona-2010/heavy_top.json", 1e-3},
                {DATA "two_bodies.json", 0.02},
                {DATA "springs.json", 0.05}};
  for (int k = 0; k < 3; k++) {
    double defect = symplectic_defect(models[k].path, "vi-a", models[k].step);
    if (!(defect < 1e-7)) fail_msg("%s: %.2e", models[k].path, defect);
  }
  /* em is not, so that the measure can tell */
  assert_true(symplectic_defect(DATA "two_bodies.json", "em", 0.02) > 1e-5);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_matrix_is_exact),
      cmocka_unit_test(what_matrices_leave_out_is_of_second_order),
      cmocka_unit_test(states_are_those_of_an_independent_program),
      cmocka_unit_test(invariants_are_conserved),
      cmocka_unit_test(what_is_not_promised_is_not_kept),
      cmocka_unit_test(dampers_only_take_energy_out),
      cmocka_unit_test(models_move_as_in_directors),
      cmocka_unit_test(vi_a_is_symplectic),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
