/* Simulations with variables, states and expressions in forces: against channels, built-in forces
 * and solutions in closed form. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lie/small.h"
#include "mechanism/signal.h"
#include "simulation/simulate.h"

#define check_near(a, b, tolerance) assert_near(&(double){a}, &(double){b}, 1, tolerance)

static pol_model *read_example(const char *name)
{
  char path[512];
  snprintf(path, sizeof path, "%s/models/examples/%s.json", POLHODE_SOURCE_DIR, name);
  return read_model(path);
}

static void run_until(pol_simulation *simulation, double t)
{
  while (pol_simulation_state(simulation)->t < t - 1e-9)
    if (pol_simulation_step(simulation)) {
      const pol_diagnostics *d = pol_simulation_diagnostics(simulation);
      fail_msg("t = %g: %s %s", d->t, d->where, d->message);
    }
}

/* The number of a channel in the row of now. */
static double channel(const pol_simulation *simulation, const char *name)
{
  pol_record *record;
  assert_int_equal(pol_record_create(&record, simulation), POL_OK);
  double *row = malloc((size_t)pol_record_count(record) * sizeof *row), value = (double)NAN;
  pol_record_row(record, row);
  for (int i = 0; i < pol_record_count(record); i++)
    if (strcmp(pol_record_channel(record, i)->name, name) == 0) value = row[i];
  free(row);
  pol_record_free(&record);
  return value;
}

/* --- signals ---------------------------------------------------------------------------------- */

/* Adds a variable that reads the signal. */
static int add_reader(const char *name, const poli_signal *signal, void *user)
{
  char own[16], text[256], *out = text;
  int count = pol_mechanism_num_variables(user);
  if (signal->kind == POLI_SIGNAL_VARIABLE) return 0;
  for (int first = 1; *name || first; first = 0) { /* every part in quotes */
    size_t length = strcspn(name, ".");
    out += sprintf(out, "%s'%.*s'", first ? "" : ".", (int)length, name);
    name += length + (name[length] == '.');
    if (!*name) break;
  }
  snprintf(own, sizeof own, "v%d", count);
  pol_variable variable = {.name = own, .expression = text};
  assert_int_equal(pol_mechanism_add_variable(user, &variable, NULL), POL_OK);
  return 0;
}

/* Compares the variable with the channel of the signal that it reads. */
typedef struct comparison {
  const pol_simulation *simulation;
  int count;
} comparison;

static int compare(const char *name, const poli_signal *signal, void *user)
{
  comparison *c = user;
  char own[16];
  if (signal->kind == POLI_SIGNAL_VARIABLE) return 0;
  snprintf(own, sizeof own, "v%d", c->count++);
  double value = channel(c->simulation, own), recorded = channel(c->simulation, name);
  if (!(fabs(value - recorded) <= 1e-12 * fmax(1.0, fabs(recorded))))
    fail_msg("%s: %.17g, recorded %.17g", name, value, recorded);
  return 0;
}

static const char mixed_model[] =
    "{\"gravity\": [0, 0, -9.81], \"bodies\": ["
    "{\"name\": \"left arm\", \"mass\": 1, \"inertia\": [1, 2, 2.5], \"position\": [0.5, 0.1, 0],"
    " \"angular_velocity\": [2, 0, 20]},"
    "{\"name\": \"slider\", \"mass\": 2, \"inertia\": [1, 1, 1], \"position\": [1, 0, 0]},"
    "{\"name\": \"ball\", \"type\": \"point\", \"mass\": 1, \"position\": [1, 0, -1]},"
    "{\"name\": \"crank\", \"mass\": 1, \"inertia\": [1, 1, 1], \"position\": [0, 3, 0]}],"
    "\"markers\": [{\"name\": \"tip-1\", \"body\": \"slider\", \"position\": [0.1, 0.2, 0.3]},"
    "{\"name\": \"eye\", \"body\": \"ground\", \"position\": [1, 2, 3]},"
    "{\"name\": \"load\", \"body\": \"ball\"}],"
    "\"joints\": [{\"name\": \"hinge\", \"type\": \"revolute\", \"bodies\": [\"ground\","
    " \"left arm\"], \"point\": [0, 0, 0], \"axis\": [0.1, 0, 1]},"
    "{\"name\": \"sleeve\", \"type\": \"cylindrical\", \"bodies\": [\"left arm\", \"slider\"],"
    " \"point\": [1, 0, 0], \"axis\": [1, 0, 0.2]},"
    "{\"name\": \"rope\", \"type\": \"distance\", \"markers\": [\"tip-1\", \"load\"]},"
    "{\"name\": \"shaft\", \"type\": \"revolute\", \"bodies\": [\"ground\", \"crank\"],"
    " \"point\": [0, 3, 0.5], \"axis\": [0, 1, 0]}],"
    "\"drives\": [{\"name\": \"motor\", \"joint\": \"shaft\", \"coordinate\": \"rotation\","
    " \"function\": {\"expression\": \"9*t^2\"}}],"
    "\"states\": [{\"name\": \"lag\", \"initial\": 2, \"rate\": \"hinge.rate - lag\"}],"
    "\"simulation\": {\"step\": 0.001, \"end\": 1}}";

static void signals_are_the_recorded_channels(void **state)
{
  (void)state;
  pol_model *model = read_model_text(mixed_model);
  poli_signal_each(model->mechanism, add_reader, model->mechanism);
  pol_simulation *simulation = start(model);
  comparison c = {simulation, 0};
  run_until(simulation, 0.9); /* more than a turn of the shaft */
  assert_true(channel(simulation, "shaft.angle") > 7.0);
  poli_signal_each(model->mechanism, compare, &c);
  assert_int_equal(c.count, pol_mechanism_num_variables(model->mechanism));
  assert_int_equal(c.count, 1 + 3 * 12 + 6 + 3 * 6 + (2 + 12 + 5) + (4 + 12 + 4) + (12 + 1) +
                                (2 + 12 + 5) + 1 + 1);
  pol_simulation_free(&simulation);
  pol_model_free(&model);
}

/* --- built-in forces -------------------------------------------------------------------------- */

/* A spring and damper on a hinge and one on a line, once built in and once as expressions. */
static const char spring_model[] =
    "{\"gravity\": [0, 0, -9.81], \"bodies\": [{\"name\": \"rod\", \"mass\": 1.5,"
    " \"inertia\": [1, 2, 2.5], \"position\": [1, 0, 0]}],"
    "\"markers\": [{\"name\": \"tip\", \"body\": \"rod\", \"position\": [1, 0, 0]},"
    "{\"name\": \"wall\", \"body\": \"ground\", \"position\": [0, 0, 3]}],"
    "\"joints\": [{\"name\": \"hinge\", \"type\": \"revolute\", \"bodies\": [\"ground\", \"rod\"],"
    " \"point\": [0, 0, 0], \"axis\": [0, 1, 0]}],"
    "\"variables\": [{\"name\": \"length\", \"expression\": \"hypot(marker.tip.position.x,"
    " marker.tip.position.y, marker.tip.position.z - 3)\"},"
    "{\"name\": \"speed\", \"expression\": \"(marker.tip.position.x*marker.tip.velocity.x +"
    " (marker.tip.position.z - 3)*marker.tip.velocity.z)/length\"}],"
    "\"forces\": [{\"name\": \"twist\", \"type\": \"joint-spring\", \"joint\": \"hinge\","
    " \"stiffness\": %s, \"damping\": %s, \"rest\": 0.3, \"actuator\": %s},"
    "{\"name\": \"line\", \"type\": \"spring-damper\", \"markers\": [\"wall\", \"tip\"],"
    " \"length\": 2, \"stiffness\": %s, \"damping\": %s, \"actuator\": %s}],"
    "\"simulation\": {\"step\": 0.01, \"end\": 2}}";

static void expression_springs_are_springs(void **state)
{
  (void)state;
  char text[2][4096];
  pol_model *model[2];
  pol_simulation *simulation[2];
  snprintf(text[0], sizeof text[0], spring_model, "9", "0.4", "2", "30", "0.7", "1");
  snprintf(text[1], sizeof text[1], spring_model, "0", "0",
           "\"2 - 9*(hinge.angle - 0.3) - 0.4*hinge.rate\"", "0", "0",
           "\"1 - 30*(length - 2) - 0.7*speed\"");
  for (int i = 0; i < 2; i++) {
    model[i] = read_model_text(text[i]);
    simulation[i] = start(model[i]);
    run_until(simulation[i], 2.0);
  }
  const pol_state *a = pol_simulation_state(simulation[0]),
                  *b = pol_simulation_state(simulation[1]);
  assert_near(a->q, b->q, 7, 1e-11);
  assert_near(a->v, b->v, 6, 1e-10);
  check_near(channel(simulation[0], "twist.torque"), channel(simulation[1], "twist.torque"), 1e-10);
  check_near(channel(simulation[0], "line.force.z"), channel(simulation[1], "line.force.z"), 1e-10);
  /* all that expressions do is work of actuators */
  check_near(pol_simulation_summary(simulation[1])->work.dissipated, 0.0, 0.0);
  for (int i = 0; i < 2; i++) {
    pol_simulation_free(&simulation[i]);
    pol_model_free(&model[i]);
  }
}

/* The work of expressions closes the balance of energy, to the order of the method. */
static void work_of_expressions_is_counted(void **state)
{
  (void)state;
  char text[4096];
  double balance[2];
  snprintf(text, sizeof text, spring_model, "0", "0",
           "\"2 - 9*(hinge.angle - 0.3) - 0.4*hinge.rate\"", "0", "0",
           "\"1 - 30*(length - 2) - 0.7*speed\"");
  pol_model *model = read_model_text(text);
  for (int i = 0; i < 2; i++) {
    pol_settings settings = model->settings;
    settings.step = i ? 0.0025 : 0.005;
    pol_simulation *simulation = start_with(model->mechanism, &settings);
    run_until(simulation, 2.0);
    balance[i] = fabs(pol_simulation_summary(simulation)->energy_balance);
    assert_true(fabs(pol_simulation_summary(simulation)->work.applied) > 1.0);
    pol_simulation_free(&simulation);
  }
  double order = log2(balance[0] / balance[1]);
  if (!(order > 1.8 && order < 2.2)) fail_msg("order %g (%g, %g)", order, balance[0], balance[1]);
  pol_model_free(&model);
}

/* --- a linear system -------------------------------------------------------------------------- */

enum { LINEAR = 5 }; /* x, x', integral, lag, 1 */

/* A cart with a PID controller whose force comes with a lag:
 * m x'' = f - c x', i' = r - x, f' = (kp (r - x) + ki i - kd x' - f)/T. */
static const double mass = 2.0, drag = 0.5, kp = 30.0, ki = 20.0, kd = 6.0, lag = 0.1, goal = 0.7;

/* exp(A t) y by the Taylor series in small steps. */
static void solve_linear(double t, double y[LINEAR])
{
  const double A[LINEAR][LINEAR] = {
      {0.0, 1.0, 0.0, 0.0, 0.0},   {0.0, -drag / mass, 0.0, 1.0 / mass, 0.0},
      {-1.0, 0.0, 0.0, 0.0, goal}, {-kp / lag, -kd / lag, ki / lag, -1.0 / lag, kp * goal / lag},
      {0.0, 0.0, 0.0, 0.0, 0.0},
  };
  enum { STEPS = 1000, TERMS = 12 };
  for (int n = 0; n < STEPS; n++) {
    double term[LINEAR], next[LINEAR];
    memcpy(term, y, sizeof term);
    for (int k = 1; k <= TERMS; k++) {
      for (int i = 0; i < LINEAR; i++) {
        next[i] = 0.0;
        for (int j = 0; j < LINEAR; j++) next[i] += A[i][j] * term[j] * t / STEPS / k;
      }
      memcpy(term, next, sizeof term);
      for (int i = 0; i < LINEAR; i++) y[i] += term[i];
    }
  }
}

static const char linear_model[] =
    "{\"bodies\": [{\"name\": \"cart\", \"mass\": 2, \"inertia\": [1, 1, 1],"
    " \"velocity\": [-0.4, 0, 0]}],"
    "\"joints\": [{\"name\": \"rail\", \"type\": \"prismatic\", \"bodies\": [\"ground\", \"cart\"],"
    " \"point\": [0, 0, 0], \"axis\": [1, 0, 0]}],"
    "\"variables\": [{\"name\": \"error\", \"expression\": \"0.7 - rail.displacement\"}],"
    "\"states\": [{\"name\": \"integral\", \"initial\": 0.1, \"rate\": \"error\"},"
    "{\"name\": \"push\", \"initial\": 1,"
    " \"rate\": \"(30*error + 20*integral - 6*rail.speed - push)/0.1\"}],"
    "\"forces\": [{\"name\": \"actuator\", \"type\": \"joint-spring\", \"joint\": \"rail\","
    " \"stiffness\": 0, \"damping\": 0.5, \"actuator\": \"push\"}],"
    "\"simulation\": {\"step\": 0.01, \"end\": 1}}";

/* Errors of position, velocity, integral and lag at t = 1. */
static void linear_errors(const pol_model *model, pol_settings settings, double h, double error[4])
{
  double exact[LINEAR] = {0.0, -0.4, 0.1, 1.0, 1.0};
  settings.step = h;
  pol_simulation *simulation = start_with(model->mechanism, &settings);
  solve_linear(1.0, exact);
  run_until(simulation, 1.0);
  error[0] = fabs(channel(simulation, "cart.position.x") - exact[0]);
  error[1] = fabs(channel(simulation, "cart.velocity.x") - exact[1]);
  error[2] = fabs(channel(simulation, "integral") - exact[2]);
  error[3] = fabs(channel(simulation, "push") - exact[3]);
  pol_simulation_free(&simulation);
}

static void states_are_of_second_order(void **state)
{
  (void)state;
  static const pol_formulation_kind kinds[] = {POL_SO3XR3, POL_SE3_BODY, POL_EULER_PARAMETERS,
                                               POL_DIRECTORS};
  pol_model *model = read_model_text(linear_model);
  for (int k = 0; k < 4; k++)
    for (int index = 0; index < 3; index++) {
      pol_settings settings = model->settings;
      double coarse[4], fine[4];
      settings.formulation = kinds[k];
      settings.options.index =
          (pol_index[]){POL_INDEX_3, POL_INDEX_2, POL_INDEX_2_STABILIZED}[index];
      linear_errors(model, settings, 1.0 / 400, coarse);
      linear_errors(model, settings, 1.0 / 800, fine);
      for (int i = 0; i < 4; i++) {
        double order = log2(coarse[i] / fine[i]);
        if (!(order > 1.9 && order < 2.1))
          fail_msg("kind %d, index %d, quantity %d: order %g (%g, %g)", k, index, i, order,
                   coarse[i], fine[i]);
        assert_true(fine[i] < 1e-3);
      }
    }
  pol_model_free(&model);
}

/* A state is judged by its own size: in units a million times smaller nothing changes. */
static void units_of_states_do_not_matter(void **state)
{
  (void)state;
  static const char *const factors[] = {"1", "1e6", "1e-6"};
  double result[3];
  for (int i = 0; i < 3; i++) {
    char text[2048];
    snprintf(text, sizeof text,
             "{\"bodies\": [{\"name\": \"p\", \"type\": \"point\", \"mass\": 1}],"
             "\"states\": [{\"name\": \"c\", \"rate\": \"%s*cos(3*t) - c\"}],"
             "\"forces\": [{\"name\": \"f\", \"type\": \"force\", \"body\": \"p\","
             " \"force\": [\"c/%s\", 0, 0]}], \"simulation\": {\"step\": 0.01, \"end\": 2}}",
             factors[i], factors[i]);
    pol_model *model = read_model_text(text);
    pol_simulation *simulation = start(model);
    run_until(simulation, 2.0);
    result[i] = channel(simulation, "p.position.x");
    pol_simulation_free(&simulation);
    pol_model_free(&model);
  }
  check_near(result[1], result[0], 1e-10);
  check_near(result[2], result[0], 1e-10);
}

/* --- friction --------------------------------------------------------------------------------- */

/* The guide's reaction is N = m g + 5 sin(10 t), friction slows the block down by mu N / m. */
static void friction_follows_the_reaction(void **state)
{
  (void)state;
  static const double mu = 0.3, g = 9.81, block = 2.0;
  pol_model *model = read_example("friction_block");
  for (int formulation = 0; formulation < pol_formulation_count(); formulation++) {
    pol_settings settings = model->settings;
    settings.formulation = (pol_formulation_kind)formulation;
    if (formulation == POL_SO3_PIVOT) continue;
    pol_simulation *simulation = start_with(model->mechanism, &settings);
    run_until(simulation, 0.8);
    double t = 0.8, speed = 3.0 - mu * (g * t + 5.0 / (10.0 * block) * (1.0 - cos(10.0 * t)));
    check_near(channel(simulation, "block.velocity.x"), speed, 1e-6);
    check_near(channel(simulation, "normal"), block * g + 5.0 * sin(10.0 * t), 1e-8);
    run_until(simulation, 1.5);
    check_near(channel(simulation, "block.velocity.x"), 0.0, 1e-8);
    check_near(pol_simulation_summary(simulation)->work.applied, -9.0, 1e-4);
    pol_simulation_free(&simulation);
  }
  pol_model_free(&model);
}

/* --- the examples ----------------------------------------------------------------------------- */

static void a_pid_controller_holds_the_pendulum(void **state)
{
  (void)state;
  pol_model *model = read_example("pid_pendulum");
  pol_simulation *simulation = start(model);
  run_until(simulation, 4.0);
  check_near(channel(simulation, "error"), 0.0, 1e-4);
  /* at rest the motor carries the weight */
  check_near(channel(simulation, "motor.torque"), 1.2 * 9.81 * 0.5 * sin(1.0), 1e-2);
  check_near(channel(simulation, "torque"), channel(simulation, "motor.torque"), 1e-12);
  pol_simulation_free(&simulation);
  pol_model_free(&model);
}

static void a_lag_is_an_exponential(void **state)
{
  (void)state;
  pol_model *model = read_example("lag_actuator");
  pol_simulation *simulation = start(model);
  run_until(simulation, 0.5);
  check_near(channel(simulation, "push"), 10.0 * (1.0 - exp(-0.5 / 0.2)), 1e-3);
  pol_simulation_free(&simulation);
  pol_model_free(&model);
}

/* --- failures --------------------------------------------------------------------------------- */

static pol_model *falling(const char *force, const char *rate)
{
  char text[1024];
  snprintf(text, sizeof text,
           "{\"bodies\": [{\"name\": \"p\", \"type\": \"point\", \"mass\": 1}],"
           "\"states\": [{\"name\": \"c\", \"rate\": \"%s\"}],"
           "\"forces\": [{\"name\": \"pull\", \"type\": \"force\", \"body\": \"p\","
           " \"force\": [0, \"%s\", 0]}], \"simulation\": {\"step\": 0.01, \"end\": 1}}",
           rate, force);
  return read_model_text(text);
}

/* An expression that has no value any more stops the run, and is named. */
static void expressions_without_value_are_named(void **state)
{
  static const struct {
    const char *force, *rate, *where;
  } cases[] = {
      {"sqrt(0.505 - t)", "1", "force 'pull': its expression has no finite value"},
      {"1", "log(0.505 - t)", "state 'c': its rate has no finite value"},
  };
  (void)state;
  for (int i = 0; i < 2; i++) {
    pol_model *model = falling(cases[i].force, cases[i].rate);
    pol_simulation *simulation = start(model);
    pol_status status = POL_OK;
    while (!status) status = pol_simulation_step(simulation);
    assert_int_equal(status, POL_RETRY);
    const pol_diagnostics *d = pol_simulation_diagnostics(simulation);
    assert_string_equal(d->where, cases[i].where);
    check_near(d->t, 0.51, 1e-12);
    check_near(pol_simulation_state(simulation)->t, 0.5, 1e-12);
    pol_simulation_free(&simulation);
    pol_model_free(&model);
  }
}

static void expressions_without_value_at_the_start_are_named(void **state)
{
  static const struct {
    const char *force, *rate, *where;
  } cases[] = {
      {"1/t", "1", "force 'pull': its expression has no finite value"},
      {"c", "1/t", "state 'c': its rate has no finite value"},
  };
  (void)state;
  for (int i = 0; i < 2; i++) {
    pol_model *model = falling(cases[i].force, cases[i].rate);
    pol_simulation *simulation;
    pol_diagnostics d;
    assert_int_not_equal(pol_simulation_create(&simulation, model->mechanism, &model->settings, &d),
                         POL_OK);
    assert_string_equal(d.where, cases[i].where);
    pol_model_free(&model);
  }
}

/* Variational and energy-momentum methods take expressions, in directors and for point masses,
 * where they evaluate forces; with second order, as everywhere. */
static void methods_for_constant_masses_take_them(void **state)
{
  (void)state;
  static const char *const methods[] = {"em", "em-g", "midpoint", "rattle", "vi-a"};
  pol_model *model = read_model_text(
      "{\"gravity\": [0, 0, -9.81],"
      "\"bodies\": [{\"name\": \"arm\", \"mass\": 1, \"inertia\": [0.1, 0.12, 0.06],"
      " \"position\": [0.5, 0, 0]},"
      " {\"name\": \"bob\", \"type\": \"point\", \"mass\": 0.3, \"position\": [1, 0.2, 0]}],"
      "\"markers\": [{\"name\": \"end\", \"body\": \"arm\", \"position\": [0.5, 0, 0]},"
      " {\"name\": \"eye\", \"body\": \"bob\"}],"
      "\"joints\": [{\"name\": \"hinge\", \"type\": \"revolute\", \"bodies\": [\"ground\", "
      "\"arm\"],"
      " \"point\": [0, 0, 0], \"axis\": [0, 1, 0]}],"
      "\"forces\": [{\"name\": \"motor\", \"type\": \"joint-spring\", \"joint\": \"hinge\","
      " \"stiffness\": 1, \"damping\": 0, \"rest\": 0,"
      " \"actuator\": \"-3*hinge.angle - 0.2*hinge.rate + bob.position.y\"},"
      " {\"name\": \"pull\", \"type\": \"spring-damper\", \"markers\": [\"end\", \"eye\"],"
      " \"stiffness\": 20, \"damping\": 0.1, \"length\": 0.1,"
      " \"actuator\": \"sin(2*t)*arm.velocity.x\"}], \"simulation\": {\"step\": 0.01, \"end\": "
      "1}}");
  pol_settings settings = model->settings;
  double exact[2];
  settings.step = 1e-4;
  pol_simulation *simulation = start_with(model->mechanism, &settings);
  run_until(simulation, 1.0);
  exact[0] = channel(simulation, "hinge.angle");
  exact[1] = channel(simulation, "bob.position.z");
  pol_simulation_free(&simulation);
  settings.formulation = POL_DIRECTORS;
  for (int m = 0; m < 5; m++) {
    double error[2][2];
    settings.options.method = methods[m];
    for (int r = 0; r < 2; r++) {
      settings.step = 0.01 / (r + 1);
      simulation = start_with(model->mechanism, &settings);
      run_until(simulation, 1.0);
      error[r][0] = fabs(channel(simulation, "hinge.angle") - exact[0]);
      error[r][1] = fabs(channel(simulation, "bob.position.z") - exact[1]);
      pol_simulation_free(&simulation);
    }
    for (int i = 0; i < 2; i++) {
      double order = log2(error[0][i] / error[1][i]);
      if (!(order > 1.8 && order < 2.2))
        fail_msg("%s, quantity %d: order %g (%g, %g)", methods[m], i, order, error[0][i],
                 error[1][i]);
    }
  }
  pol_model_free(&model);
}

/* They do not take states, and report that; rattle does in so3xr3. */
static void methods_for_constant_masses_refuse_states(void **state)
{
  (void)state;
  pol_model *model = falling("1", "1");
  pol_formulation *formulation;
  int refused = 0;
  assert_int_equal(pol_formulation_create(&formulation, model->mechanism, POL_SO3XR3), POL_OK);
  for (int m = 0; m < pol_method_count(); m++) {
    pol_options options = pol_options_default();
    char message[256] = "";
    options.method = pol_method_at(m)->name;
    pol_integrator_supports(pol_formulation_dae(formulation), &options, message, sizeof message);
    refused += strcmp(message, "the method does not support first-order states") == 0;
  }
  assert_int_equal(refused, 6);
  pol_formulation_free(&formulation);
  pol_model_free(&model);
}

/* --- contacts --------------------------------------------------------------------------------- */

/* Two spheres of radius 0.1 m, of which one flies at the other with 40 m/s: a contact of 2.6 ms
 * after 0.25 s of free flight, whose force is zero before and after it.  ahead: by how much they
 * are further apart; side: by which they are apart across; tolerances or steps. */
static double speed_after(const char *method, double ahead, double side, double rtol, double step,
                          pol_counts *counts)
{
  char text[2000], sizes[60];
  snprintf(sizes, sizeof sizes, rtol > 0.0 ? "\"rtol\": %g" : "\"step\": %g",
           rtol > 0.0 ? rtol : step);
  snprintf(text, sizeof text,
           "{\"bodies\": [{\"name\": \"a\", \"mass\": 1, \"inertia\": [1, 1, 1], \"position\": "
           "[-5, 0, 0], \"velocity\": [40, 0, 0]}, {\"name\": \"b\", \"mass\": 2, \"inertia\": "
           "[1, 1, 1], \"position\": [%g, %g, 0]}], \"variables\": [{\"name\": \"x\", "
           "\"expression\": \"b.position.x - a.position.x\"}, {\"name\": \"y\", \"expression\": "
           "\"b.position.y - a.position.y\"}, {\"name\": \"push\", \"expression\": \"1e6*max(0, "
           "0.2 - hypot(x, y))/hypot(x, y)\"}], \"forces\": [{\"name\": \"on_b\", \"type\": "
           "\"force\", \"body\": \"b\", \"force\": [\"push*x\", \"push*y\", 0]}, {\"name\": "
           "\"on_a\", \"type\": \"force\", \"body\": \"a\", \"force\": [\"-push*x\", \"-push*y\", "
           "0]}], \"simulation\": {\"method\": \"%s\", %s, \"end\": 1}}",
           5.0 + ahead, side, method, sizes);
  pol_model *model = read_model_text(text);
  pol_simulation *simulation = start(model);
  pol_body_state a;
  run_until(simulation, 1.0);
  assert_int_equal(pol_simulation_body(simulation, 0, &a), POL_OK);
  *counts = pol_simulation_summary(simulation)->counts;
  pol_simulation_free(&simulation);
  pol_model_free(&model);
  return a.velocity[0];
}

/* Large steps do not pass over the contact, and wherever in a step it begins, the momentum that is
 * exchanged, 52 N s, is that of small steps: to 2 % and 0.5 %, as far as tolerances of the
 * positions determine it with the few steps within the contact.  Spheres that just miss each other
 * cost nothing. */
static void large_steps_see_short_contacts(void **state)
{
  (void)state;
  static const char *const methods[] = {"geom1", "hht", "rattle", "auto"}; /* rattle of order 4 */
  static const double share[] = {0.02, 0.05, 0.02, 0.02};
  pol_counts counts;
  const double exact = speed_after("geom1", 0.0, 0.02, 0.0, 1e-5, &counts);
  check_near(exact, -12.405, 1e-3);
  for (int m = 0; m < 4; m++) {
    for (int k = 0; k < 8; k++) {
      const double ahead = 0.04 * k;
      check_near(speed_after(methods[m], ahead, 0.02, 1e-4, 0.0, &counts), exact,
                 share[m] * (40.0 - exact));
      assert_true(counts.steps < 60);
      check_near(speed_after(methods[m], ahead, 0.02, 1e-6, 0.0, &counts), exact,
                 0.005 * (40.0 - exact));
    }
    check_near(speed_after(methods[m], 0.0, 0.202, 1e-4, 0.0, &counts), 40.0, 1e-12);
    assert_true(counts.steps < 25 && counts.rejected == 0);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(signals_are_the_recorded_channels),
      cmocka_unit_test(expression_springs_are_springs),
      cmocka_unit_test(work_of_expressions_is_counted),
      cmocka_unit_test(states_are_of_second_order),
      cmocka_unit_test(units_of_states_do_not_matter),
      cmocka_unit_test(friction_follows_the_reaction),
      cmocka_unit_test(a_pid_controller_holds_the_pendulum),
      cmocka_unit_test(a_lag_is_an_exponential),
      cmocka_unit_test(expressions_without_value_are_named),
      cmocka_unit_test(expressions_without_value_at_the_start_are_named),
      cmocka_unit_test(methods_for_constant_masses_take_them),
      cmocka_unit_test(methods_for_constant_masses_refuse_states),
      cmocka_unit_test(large_steps_see_short_contacts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
