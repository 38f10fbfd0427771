/* rattle on rigid bodies with forces that depend on reactions, springs and dampers: orders, states
 * of an independent program, stiff elements, warnings and failures. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/lie.h>

#include "lie/small.h"
#include "simulation/simulate.h"

#define MODELS POLHODE_SOURCE_DIR "/models/"

/* q at the end; returns nq. */
static int run_to_end(const pol_model *model, int order, double h, double end, double *q)
{
  pol_simulation *simulation = start_rattle(model, order, h, end);
  step_to_end(simulation);
  const int nq = pol_formulation_dae(pol_simulation_formulation(simulation))->group.nq;
  memcpy(q, pol_simulation_state(simulation)->q, (size_t)nq * sizeof *q);
  pol_simulation_free(&simulation);
  return nq;
}

/* The order observed with h and h/2, against the exact positions. */
static double observe(const pol_model *model, int order, double h, double end, const double *exact,
                      double error[2])
{
  for (int k = 0; k < 2; k++) {
    double q[100];
    const int nq = run_to_end(model, order, h / (k + 1), end, q);
    error[k] = 0.0;
    for (int i = 0; i < nq; i++) error[k] = fmax(error[k], fabs(q[i] - exact[i]));
  }
  return log2(error[0] / error[1]);
}

/* --- forces that depend on reactions ---------------------------------------------------------- */

/* Two links with friction in both hinges, which grows with the force that they carry, and a torque
 * of the first that depends on a reaction of the second. */
static const char hinges[] =
    "{\"name\": \"friction in hinges\", \"gravity\": [0, 0, -40], \"bodies\": ["
    "{\"name\": \"a\", \"mass\": 1, \"inertia\": [0.01, 0.03, 0.02], \"position\": [0.3, 0, 0]},"
    "{\"name\": \"b\", \"mass\": 0.5, \"inertia\": [0.01, 0.02, 0.03], \"position\": [0.8, 0, 0]}],"
    "\"joints\": ["
    "{\"name\": \"j\", \"type\": \"revolute\", \"bodies\": [\"ground\", \"a\"], "
    "\"point\": [0, 0, 0], \"axis\": [0, 1, 0.2]},"
    "{\"name\": \"k\", \"type\": \"revolute\", \"bodies\": [\"a\", \"b\"], "
    "\"point\": [0.6, 0, 0], \"axis\": [0.1, 1, 0]}],"
    "\"variables\": [{\"name\": \"load\", \"expression\": "
    "\"sqrt(j.force.x^2 + j.force.y^2 + j.force.z^2)\"}, {\"name\": \"load2\", \"expression\": "
    "\"sqrt(k.force.x^2 + k.force.y^2 + k.force.z^2)\"}],"
    "\"forces\": ["
    "{\"name\": \"f\", \"type\": \"joint-spring\", \"joint\": \"j\", \"stiffness\": 0, "
    "\"actuator\": \"-0.1*load*tanh(j.rate) + 0.05*k.force.x\"},"
    "{\"name\": \"g\", \"type\": \"joint-spring\", \"joint\": \"k\", \"stiffness\": 0, "
    "\"actuator\": \"-0.05*load2*tanh(k.rate)\"}],"
    "\"simulation\": {\"step\": 0.001, \"end\": 0.4}}";

static void friction_has_the_order(void **state)
{
  static const struct {
    int order;
    double h;
  } cases[] = {{2, 5e-3}, {4, 5e-3}, {6, 6e-3}, {8, 4e-2}};
  (void)state;
  pol_model *model = read_model_text(hinges);
  double exact[14];
  run_to_end(model, 8, 5e-3, 0.6, exact);
  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
    double error[2];
    const double order = observe(model, cases[c].order, cases[c].h, 0.6, exact, error);
    if (!(order > cases[c].order - 0.35 && order < cases[c].order + 0.5))
      fail_msg("order %g instead of %d (errors %g, %g)", order, cases[c].order, error[0], error[1]);
  }
  pol_model_free(&model);
}

/* The block of the example with friction that is smooth, against geom1 with a fine step. */
static void friction_slows_down(void **state)
{
  static const char *const overrides[] = {
      "variables[1].expression=\"-0.3*normal*tanh(block.velocity.x/0.5)\""};
  (void)state;
  pol_model *model = read_model_with(MODELS "examples/friction_block.json", 1, overrides);
  double q[7];
  run_to_end(model, 6, 1e-2, 1.0, q);
  pol_settings settings = model->settings;
  settings.options.method = "geom1";
  settings.step = 1e-4;
  settings.end = 1.0;
  pol_simulation *simulation = start_with(model->mechanism, &settings);
  step_to_end(simulation);
  assert_near(q + 4, pol_simulation_state(simulation)->q + 4, 3, 1e-8);
  pol_simulation_free(&simulation);
  pol_model_free(&model);
}

/* q at the end by geom1 with a fine step. */
static void run_geom1(const pol_model *model, double h, double end, double *q)
{
  pol_settings settings = model->settings;
  settings.options.method = "geom1";
  settings.step = h;
  settings.end = end;
  pol_simulation *simulation = start_with(model->mechanism, &settings);
  step_to_end(simulation);
  const int nq = pol_formulation_dae(pol_simulation_formulation(simulation))->group.nq;
  memcpy(q, pol_simulation_state(simulation)->q, (size_t)nq * sizeof *q);
  pol_simulation_free(&simulation);
}

/* A drawer that is pushed off its middle: the guide holds it against turning, and its friction,
 * which acts on the other side, turns it further.  The friction is 1/(1 - mu c/b) times what the
 * push alone would cause, up to 20 times, more than the push: the drawer locks. */
static const char drawer[] =
    "{\"name\": \"drawer\", \"bodies\": ["
    "{\"name\": \"d\", \"mass\": 1, \"inertia\": [0.01, 0.01, 0.01], \"velocity\": [0.5, 0, 0]}],"
    "\"joints\": [{\"name\": \"guide\", \"type\": \"prismatic\", \"bodies\": [\"ground\", \"d\"], "
    "\"point\": [0, 0, 0], \"axis\": [1, 0, 0]}],"
    "\"variables\": [{\"name\": \"load\", \"expression\": \"sqrt(guide.torque.z^2 + 1e-6)/0.1\"}],"
    "\"forces\": ["
    "{\"name\": \"push\", \"type\": \"force\", \"body\": \"d\", \"point\": [0, 0.05, 0], "
    "\"force\": [\"10*(1 + 0.3*sin(5*t))\", 0, 0]},"
    "{\"name\": \"rub\", \"type\": \"force\", \"body\": \"d\", \"point\": [0, -0.1, 0], "
    "\"force\": [\"-%g*load*tanh(d.velocity.x/%g)\", 0, 0]}],"
    "\"simulation\": {\"step\": 0.001, \"end\": 0.3}}";

static pol_model *read_drawer(double mu, double slow)
{
  char text[1400];
  snprintf(text, sizeof text, drawer, mu, slow);
  return read_model_text(text);
}

/* Friction that locks a joint by way of its own reaction: as geom1 with a fine step, in few
 * iterations. */
static void friction_locks(void **state)
{
  static const struct {
    double mu, slow;
    int order;
    double h, tolerance, iterations; /* per base step */
  } cases[] = {{0.8, 1e-2, 2, 1e-3, 2e-7, 1.5},  {0.8, 1e-2, 4, 1e-3, 3e-8, 1.5},
               {0.8, 1e-3, 2, 1e-3, 2e-7, 2.0},  {0.8, 1e-3, 8, 1e-4, 3e-8, 1.5},
               {0.95, 1e-3, 2, 1e-3, 2e-5, 3.0}, {0.95, 1e-3, 2, 1e-4, 5e-7, 1.5},
               {0.95, 1e-3, 4, 1e-4, 5e-7, 1.5}};
  double expected[7];
  (void)state;
  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
    pol_model *model = read_drawer(cases[c].mu, cases[c].slow);
    if (c == 0 || cases[c].mu != cases[c - 1].mu || cases[c].slow != cases[c - 1].slow)
      run_geom1(model, 5e-5, 0.3, expected);
    pol_simulation *simulation = start_rattle(model, cases[c].order, cases[c].h, 0.3);
    step_to_end(simulation);
    const pol_summary *summary = pol_simulation_summary(simulation);
    assert_near(pol_simulation_state(simulation)->q + 4, expected + 4, 3, cases[c].tolerance);
    const int stages[] = {1, 5, 9, 17};
    const double most = cases[c].iterations * 0.3 / cases[c].h * stages[cases[c].order / 2 - 1];
    if (summary->counts.newton_iterations > most)
      fail_msg("%ld iterations, at most %g expected", summary->counts.newton_iterations, most);
    pol_simulation_free(&simulation);
    pol_model_free(&model);
  }
}

/* The same in hinges, with a torque that locks the first; steps that are too large for it fail with
 * that reason, and friction without a solution does so at the start. */
static void friction_locks_hinges(void **state)
{
  (void)state;
  pol_model *model = read_model_text(hinges);
  pol_force lock = {
      .name = "lock", .type = POL_JOINT_SPRING, .expressions = {"-0.5*load*tanh(j.rate/0.1)"}};
  assert_int_equal(pol_mechanism_add_force(model->mechanism, &lock, NULL), POL_OK);
  double expected[14], q[14];
  run_geom1(model, 1e-4, 0.4, expected);
  run_to_end(model, 2, 1e-3, 0.4, q);
  assert_near(q, expected, 14, 5e-6);
  run_to_end(model, 4, 1e-3, 0.4, q);
  assert_near(q, expected, 14, 1e-6);
  lock.name = "more";
  lock.expressions[0] = "-1.0*load*tanh(j.rate/0.1)";
  assert_int_equal(pol_mechanism_add_force(model->mechanism, &lock, NULL), POL_OK);
  pol_simulation *simulation = start_rattle(model, 2, 5e-3, 0.4);
  assert_int_equal(pol_simulation_step(simulation), POL_NOT_CONVERGED);
  const pol_diagnostics *d = pol_simulation_diagnostics(simulation);
  assert_non_null(strstr(d->message, "no reactions balance the forces that depend on them"));
  assert_non_null(strstr(d->where, "joint 'j'"));
  assert_non_null(strstr(d->advice, "friction that locks"));
  pol_simulation_free(&simulation);
  pol_model_free(&model);

  pol_diagnostics no_start;
  model = read_drawer(1.3, 0.1);
  pol_settings settings = model->settings;
  settings.options.method = "rattle";
  assert_int_equal(pol_simulation_create(&simulation, model->mechanism, &settings, &no_start),
                   POL_NOT_CONVERGED);
  assert_non_null(strstr(no_start.message, "no reactions balance the forces that depend on them"));
  pol_model_free(&model);
}

/* Reactions that redundant constraints leave open are reported as with other methods. */
static void open_reactions_are_reported(void **state)
{
  static const char *const reads[] = {"forces[1].force=[\"0.0155*j2.torque.z\",0,0]",
                                      "forces[1].force=[\"0.0155*j2.force_local.x\",0,0]"};
  (void)state;
  for (int k = 0; k < 2; k++) {
    pol_model *model = read_model_with(
        POLHODE_SOURCE_DIR "/tests/data/redundant/friction_on_open_reaction.json", 1, &reads[k]);
    pol_simulation *simulation = start_rattle(model, 4, 1e-3, 0.1);
    step_to_end(simulation);
    const pol_summary *summary = pol_simulation_summary(simulation);
    assert_int_equal(summary->num_warnings, k == 0);
    if (k == 0) assert_non_null(strstr(summary->warnings[0].message, "joint 'j2'"));
    pol_simulation_free(&simulation);
    pol_model_free(&model);
  }
}

/* --- compliant rows --------------------------------------------------------------------------- */

/* The largest differences of positions, quaternions, velocities and angular velocities. */
static void compare_body(const pol_state *end, int body, const double x[13], double difference[4])
{
  const double *q = end->q + 7 * body, *v = end->v + 6 * body;
  double R[9], w[3], plus = 0.0, minus = 0.0;
  pol_quat_to_matrix(q, R);
  poli_m3_apply(R, v, w);
  difference[0] = difference[2] = difference[3] = 0.0;
  for (int i = 0; i < 3; i++) {
    difference[0] = fmax(difference[0], fabs(q[4 + i] - x[i]));
    difference[2] = fmax(difference[2], fabs(v[3 + i] - x[7 + i]));
    difference[3] = fmax(difference[3], fabs(w[i] - x[10 + i]));
  }
  for (int i = 0; i < 4; i++) {
    plus = fmax(plus, fabs(q[i] - x[3 + i]));
    minus = fmax(minus, fabs(q[i] + x[3 + i]));
  }
  difference[1] = fmin(plus, minus);
}

/* States of an independent program after one step and at the end of runs: a stiff double pendulum,
 * joints of all kinds with a spring-damper and a closed loop, a hoop that rolls. */
static void states_of_another_program(void **state)
{
  static const char *const models[][2] = {
      {"double_pendulum", MODELS "gavrea-negrut-potra-2005/double_pendulum.json"},
      {"joint_zoo", POLHODE_SOURCE_DIR "/tests/data/rattle/joint_zoo.json"},
      {"rolling_hoop", POLHODE_SOURCE_DIR "/tests/data/rattle/rolling_hoop.json"},
      {"slider_crank", MODELS "holzinger-arnold-gerstmayr/slider_crank.json"}};
  FILE *file = fopen(POLHODE_SOURCE_DIR "/tests/data/rattle/states.csv", "r");
  char line[2000], name[40];
  int order, steps, body, used, count = 0;
  double h;
  (void)state;
  assert_non_null(file);
  while (fgets(line, sizeof line, file)) {
    double x[13], difference[4];
    const char *path = NULL;
    if (line[0] == '#') continue;
    assert_int_equal(sscanf(line, "%39[^,],%d,%d,%lf,%d%n", name, &order, &steps, &h, &body, &used),
                     5);
    const char *next = line + used;
    for (int i = 0; i < 13; i++) x[i] = strtod(next + 1, (char **)&next);
    for (size_t k = 0; k < sizeof models / sizeof models[0]; k++)
      if (strcmp(models[k][0], name) == 0) path = models[k][1];
    assert_non_null(path);
    pol_model *model = read_model(path);
    pol_simulation *simulation = start_rattle(model, order, h, steps * h);
    step_to_end(simulation);
    compare_body(pol_simulation_state(simulation), body, x, difference);
    for (int i = 0; i < 4; i++)
      if (!(difference[i] < 1e-11))
        fail_msg("%s, order %d, body %d after %d steps: difference %g of quantity %d", name, order,
                 body, steps, difference[i], i);
    pol_simulation_free(&simulation);
    pol_model_free(&model);
    count++;
  }
  fclose(file);
  assert_int_equal(count, 56);
}

/* A drag that is nothing makes forces depend on velocities, and takes the iteration that includes
 * momenta: it has the same solution. */
static void iterations_agree(void **state)
{
  static const char *const paths[] = {POLHODE_SOURCE_DIR "/tests/data/rattle/joint_zoo.json",
                                      MODELS "examples/governor.json",
                                      MODELS "examples/suspension.json"};
  (void)state;
  for (size_t k = 0; k < sizeof paths / sizeof paths[0]; k++)
    for (int order = 2; order <= 8; order += 2) {
      pol_model *model = read_model(paths[k]);
      double q[2][100];
      const double end = 20e-3;
      run_to_end(model, order, 2e-3, end, q[0]);
      const pol_force drag = {.name = "drag", .type = POL_DRAG, .coefficient = 1e-200};
      assert_int_equal(pol_mechanism_add_force(model->mechanism, &drag, NULL), POL_OK);
      const int nq = run_to_end(model, order, 2e-3, end, q[1]);
      assert_near(q[0], q[1], nq, 1e-12);
      pol_model_free(&model);
    }
}

/* The table of the stiff double pendulum: damper with the rate -1e5/s, h times that 50, 25, 12. */
static void stiff_double_pendulum(void **state)
{
  static const double expected[3][2] = {{2.68e-7, 1.75e-6}, {6.70e-8, 4.37e-7}, {1.67e-8, 1.09e-7}};
  (void)state;
  pol_model *model = read_model(MODELS "gavrea-negrut-potra-2005/double_pendulum.json");
  double angle[4][2], rate[4][2];
  for (int k = 0; k < 4; k++) {
    pol_simulation *simulation = start_rattle(model, 2, k < 3 ? 5e-4 / (1 << k) : 2e-5, 0.5);
    step_to_end(simulation);
    const pol_state *end = pol_simulation_state(simulation);
    for (int b = 0; b < 2; b++) {
      angle[k][b] = 2.0 * atan2(end->q[7 * b + 3], end->q[7 * b]);
      rate[k][b] = end->v[6 * b + 2];
    }
    pol_simulation_free(&simulation);
  }
  for (int k = 0; k < 3; k++) {
    double error[2] = {0.0, 0.0};
    for (int b = 0; b < 2; b++) {
      error[0] = fmax(error[0], fabs(remainder(angle[k][b] - angle[3][b], 2.0 * acos(-1.0))));
      error[1] = fmax(error[1], fabs(rate[k][b] - rate[3][b]));
    }
    for (int i = 0; i < 2; i++) assert_true(fabs(error[i] / expected[k][i] - 1.0) < 0.03);
  }
  pol_model_free(&model);
}

/* A body and a point mass on springs of 1e9 N/m, not damped: h times the frequency is up to 600. */
static const char stiff_springs[] =
    "{\"name\": \"stiff springs\", \"gravity\": [0, 0, -9.81], \"bodies\": ["
    "{\"name\": \"a\", \"mass\": 2, \"inertia\": [0.1, 0.2, 0.3], \"position\": [1, 0, 0], "
    "\"velocity\": [0, 1, 0.5], \"angular_velocity\": [1, 2, 3]},"
    "{\"name\": \"p\", \"type\": \"point\", \"mass\": 1, \"position\": [1.5, 0.5, 0]}],"
    "\"markers\": [{\"name\": \"o\", \"body\": \"ground\"}, "
    "{\"name\": \"e\", \"body\": \"a\", \"position\": [-0.2, 0, 0]}, "
    "{\"name\": \"f\", \"body\": \"a\", \"position\": [0.2, 0.1, 0]}, "
    "{\"name\": \"q\", \"body\": \"p\"}],"
    "\"forces\": [{\"name\": \"s\", \"type\": \"spring-damper\", \"markers\": [\"o\", \"e\"], "
    "\"stiffness\": 1e9}, {\"name\": \"r\", \"type\": \"spring-damper\", "
    "\"markers\": [\"f\", \"q\"], \"stiffness\": 1e9}],"
    "\"simulation\": {\"step\": 0.01, \"end\": 5}}";

static void stiff_springs_do_not_limit_the_step(void **state)
{
  static const double steps[] = {2e-3, 5e-3, 1e-2};
  (void)state;
  pol_model *model = read_model_text(stiff_springs);
  for (int order = 2; order <= 8; order += 2)
    for (int k = 0; k < 3; k++) {
      pol_simulation *simulation = start_rattle(model, order, steps[k], 5.0);
      step_to_end(simulation);
      const pol_summary *summary = pol_simulation_summary(simulation);
      const double initial = summary->initial_energy.kinetic + summary->initial_energy.potential;
      const double final = summary->energy.kinetic + summary->energy.potential;
      assert_true(fabs(final - initial) < 0.15 * initial);
      assert_int_equal(summary->num_warnings, 0);
      pol_simulation_free(&simulation);
    }

  /* a step that is far too large names a spring and the remedy, and keeps the solution */
  pol_simulation *simulation = start_rattle(model, 2, 1.0, 5.0);
  const pol_diagnostics *d = pol_simulation_diagnostics(simulation);
  assert_int_equal(pol_simulation_step(simulation), POL_NOT_CONVERGED);
  assert_non_null(strstr(d->where, "force '"));
  assert_non_null(strstr(d->message, "tension"));
  assert_non_null(strstr(d->advice, "take a smaller step: in this one a body turns by"));
  assert_true(pol_simulation_state(simulation)->t == 0.0);
  pol_simulation_free(&simulation);
  pol_model_free(&model);
}

/* Springs and dampers along axes (support), of length zero, on angles and displacements, with an
 * actuator, and with drag: the motion has the order, whatever is a row. */
static const char springs[] =
    "{\"name\": \"springs\", \"gravity\": [0, 0, -9.81], \"bodies\": ["
    "{\"name\": \"a\", \"mass\": 1, \"inertia\": [0.01, 0.03, 0.02], "
    "\"position\": [0.3, 0, 0], \"angular_velocity\": [0, 1, 0]},"
    "{\"name\": \"b\", \"mass\": 0.5, \"inertia\": [0.01, 0.02, 0.03], "
    "\"position\": [0.8, 0, 0]},"
    "{\"name\": \"c\", \"mass\": 0.5, \"inertia\": [0.02, 0.01, 0.03], "
    "\"position\": [0.8, 0.5, 0], \"angular_velocity\": [1, -2, 3]}],"
    "\"markers\": [{\"name\": \"p\", \"body\": \"b\", \"position\": [0, 0, 0.1]}, "
    "{\"name\": \"q\", \"body\": \"c\", \"position\": [0.1, 0, 0]}, "
    "{\"name\": \"u\", \"body\": \"b\", \"position\": [0.1, 0, 0]}, "
    "{\"name\": \"v\", \"body\": \"c\", \"position\": [0, 0.1, 0]}],"
    "\"joints\": ["
    "{\"name\": \"j\", \"type\": \"revolute\", \"bodies\": [\"ground\", \"a\"], "
    "\"point\": [0, 0, 0], \"axis\": [0, 1, 0.2]},"
    "{\"name\": \"k\", \"type\": \"prismatic\", \"bodies\": [\"a\", \"b\"], "
    "\"point\": [0.6, 0, 0], \"axis\": [1, 1, 0]}],"
    "\"forces\": ["
    "{\"name\": \"t\", \"type\": \"joint-spring\", \"joint\": \"j\", \"stiffness\": 20, "
    "\"damping\": 0.4, \"actuator\": \"sin(5*t)\"},"
    "{\"name\": \"d\", \"type\": \"joint-spring\", \"joint\": \"k\", \"stiffness\": 100, "
    "\"damping\": 3},"
    "{\"name\": \"z\", \"type\": \"spring-damper\", \"markers\": [\"p\", \"q\"], "
    "\"stiffness\": 60, \"length\": 0},"
    "{\"name\": \"l\", \"type\": \"spring-damper\", \"markers\": [\"u\", \"v\"], "
    "\"stiffness\": 50, \"damping\": 1, \"length\": 0.4, \"actuator\": 2},"
    "{\"name\": \"s\", \"type\": \"support\", \"body\": \"c\", \"stiffness\": [50, 0, 80], "
    "\"damping\": [0.5, 2, 0], \"point\": [0, 0.1, 0], \"anchor\": [0.8, 0.6, 0]}%s],"
    "\"simulation\": {\"step\": 0.001, \"end\": 0.4}}";

static void springs_have_the_order(void **state)
{
  static const char *const others[] = {
      "", ", {\"name\": \"air\", \"type\": \"drag\", \"body\": \"c\", \"coefficient\": 0.5}"};
  static const double steps[] = {2e-3, 1e-2, 1.25e-2, 4e-2};
  (void)state;
  for (int k = 0; k < 2; k++) {
    char text[4096];
    snprintf(text, sizeof text, springs, others[k]);
    pol_model *model = read_model_text(text);
    double exact[21];
    run_to_end(model, 8, 4e-3, 0.4, exact);
    for (int order = 2; order <= 8; order += 2) {
      double error[2];
      const double observed = observe(model, order, steps[order / 2 - 1], 0.4, exact, error);
      if (!(fabs(observed - order) < 0.4))
        fail_msg("order %g instead of %d (errors %g, %g)", observed, order, error[0], error[1]);
    }
    pol_settings settings = model->settings;
    settings.options.method = "geom1";
    settings.step = 1e-4;
    pol_simulation *simulation = start_with(model->mechanism, &settings);
    step_to_end(simulation);
    for (int b = 0; b < 3; b++)
      assert_near(exact + 7 * b + 4, pol_simulation_state(simulation)->q + 7 * b + 4, 3, 2e-7);
    pol_simulation_free(&simulation);
    pol_model_free(&model);
  }
}

/* Base steps backward in time amplify what a damper damps: h c/m is bounded, above it the damper is
 * named.  m is the mass that it moves with the joints: here that of two sliders. */
static void stiff_dampers_are_reported(void **state)
{
  static const char text[] =
      "{\"name\": \"dashpot\", \"bodies\": ["
      "{\"name\": \"a\", \"mass\": 2, \"inertia\": [1, 1, 1], \"velocity\": [1, 0, 0]},"
      "{\"name\": \"b\", \"mass\": 3, \"inertia\": [1, 1, 1], \"velocity\": [1, 0, 0]}],"
      "\"joints\": [{\"name\": \"g\", \"type\": \"prismatic\", \"bodies\": [\"ground\", \"a\"], "
      "\"point\": [0, 0, 0], \"axis\": [1, 0, 0]}, {\"name\": \"w\", \"type\": \"fixed\", "
      "\"bodies\": [\"a\", \"b\"], \"point\": [0, 0, 0]}],"
      "\"forces\": [{\"name\": \"oil\", \"type\": \"joint-spring\", \"joint\": \"g\", "
      "\"stiffness\": 0, \"damping\": %g}], \"simulation\": {\"step\": 0.01, \"end\": 0.02}}";
  static const double limits[] = {3.02, 2.73, 3.30};
  (void)state;
  for (int k = 0; k < 7; k++) {
    char model_text[1024];
    const int order = k == 6 ? 2 : 4 + 2 * (k / 2);
    const double ratio = k == 6 ? 100.0 : limits[k / 2] * (k % 2 ? 1.01 : 0.99);
    snprintf(model_text, sizeof model_text, text, ratio * 5.0 / 0.01);
    pol_model *model = read_model_text(model_text);
    pol_simulation *simulation = start_rattle(model, order, 0.01, 0.02);
    const pol_summary *summary = pol_simulation_summary(simulation);
    assert_int_equal(summary->num_warnings, k < 6 && k % 2);
    if (summary->num_warnings) {
      assert_non_null(strstr(summary->warnings[0].message, "force 'oil'"));
      assert_non_null(strstr(summary->warnings[0].message, "use order 2, a step below 0.0099"));
    }
    pol_simulation_free(&simulation);
    pol_model_free(&model);
  }
}

/* On all Lie groups the motion is that of so3xr3, to the last bit. */
static void all_groups_have_the_same_motion(void **state)
{
  static const pol_formulation_kind kinds[] = {POL_SE3_BODY, POL_SO3XR3_SPATIAL, POL_SO3XR3_CAYLEY,
                                               POL_SO3_PIVOT};
  static const char *const models[] = {
      "bruels-cardona-2010/heavy_top.json", "examples/four_bar_motor.json",
      "examples/stewart_platform.json",     "examples/planetary_gear.json",
      "examples/suspension.json",           "examples/friction_block.json"};
  (void)state;
  for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
    char path[200];
    snprintf(path, sizeof path, MODELS "%s", models[i]);
    pol_model *model = read_model(path);
    pol_settings settings = model->settings;
    settings.options = pol_options_default();
    settings.options.method = "rattle";
    settings.options.order = 4;
    settings.formulation = POL_SO3XR3;
    settings.variable = 0;
    settings.step = 1e-3;
    settings.end = 0.02;
    settings.output = (pol_output){0};
    pol_simulation *expected = start_with(model->mechanism, &settings);
    step_to_end(expected);
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
      settings.formulation = kinds[k];
      assert_int_equal(pol_settings_formulation(&settings), POL_SO3XR3);
      pol_simulation *simulation = start_with(model->mechanism, &settings);
      step_to_end(simulation);
      for (int b = 0; b < pol_mechanism_num_bodies(model->mechanism); b++) {
        pol_body_state one, other;
        assert_int_equal(pol_simulation_body(expected, b, &one), POL_OK);
        assert_int_equal(pol_simulation_body(simulation, b, &other), POL_OK);
        assert_memory_equal(&one, &other, sizeof one);
      }
      pol_simulation_free(&simulation);
    }
    settings.options.method = "geom1";
    settings.formulation = POL_SE3_BODY;
    assert_int_equal(pol_settings_formulation(&settings), POL_SE3_BODY);
    pol_simulation_free(&expected);
    pol_model_free(&model);
  }
}

/* The equations of another group alone do not have what the steps need. */
static void other_groups_are_refused(void **state)
{
  (void)state;
  pol_model *model = read_model(MODELS "bruels-cardona-2010/heavy_top.json");
  pol_options options = pol_options_default();
  pol_formulation *formulation;
  char message[320];
  options.method = "rattle";
  assert_int_equal(pol_formulation_create(&formulation, model->mechanism, POL_SE3_BODY), POL_OK);
  assert_int_not_equal(
      pol_integrator_supports(pol_formulation_dae(formulation), &options, message, sizeof message),
      POL_OK);
  assert_non_null(strstr(message, "does not depend on the formulation: use so3xr3"));
  pol_formulation_free(&formulation);
  pol_model_free(&model);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(friction_has_the_order),
      cmocka_unit_test(friction_slows_down),
      cmocka_unit_test(friction_locks),
      cmocka_unit_test(friction_locks_hinges),
      cmocka_unit_test(open_reactions_are_reported),
      cmocka_unit_test(states_of_another_program),
      cmocka_unit_test(iterations_agree),
      cmocka_unit_test(stiff_double_pendulum),
      cmocka_unit_test(stiff_springs_do_not_limit_the_step),
      cmocka_unit_test(springs_have_the_order),
      cmocka_unit_test(stiff_dampers_are_reported),
      cmocka_unit_test(all_groups_have_the_same_motion),
      cmocka_unit_test(other_groups_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
