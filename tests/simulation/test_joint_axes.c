/* Springs, stops, friction and reflected inertias of joints against closed forms: blocks on
 * inclines, journals that run down, the Stribeck curve, bounces on soft and hard stops, pendulums
 * and sliders with rotors; and the same motion by all methods and formulations that support it. */
#include <stdio.h>
#include <string.h>

#include "simulation/simulate.h"

static const double gravity = 9.81, pi = 3.14159265358979323846;

/* The joint coordinate and its rate now. */
static double coordinate(const pol_simulation *simulation, int joint, double *rate)
{
  const pol_point at = pol_state_point(pol_simulation_state(simulation));
  double value;
  pol_formulation_joint_coordinate(pol_simulation_formulation(simulation), &at, joint, 0, &value,
                                   rate);
  return value;
}

/* Runs a text with its %s replaced, to the end; the caller frees both. */
static pol_simulation *run_text(const char *format, const char *inside, pol_model **model)
{
  char text[4000];
  snprintf(text, sizeof text, format, inside);
  *model = read_model_text(text);
  pol_simulation *simulation = start(*model);
  step_to_end(simulation);
  return simulation;
}

static void release(pol_simulation *simulation, pol_model *model)
{
  pol_simulation_free(&simulation);
  pol_model_free(&model);
}

static void assert_balance(const pol_simulation *simulation, double dissipated, double tolerance)
{
  const pol_summary *summary = pol_simulation_summary(simulation);
  assert_near(&summary->work.dissipated, &dissipated, 1, tolerance);
  const double lost = summary->initial_energy.kinetic + summary->initial_energy.potential -
                      summary->energy.kinetic - summary->energy.potential;
  assert_near(&summary->work.dissipated, &lost, 1, tolerance);
}

/* --- friction --------------------------------------------------------------------------------- */

/* On an incline of 30 degrees: axis (cos, 0, sin). */
static const char incline[] =
    "{\"name\": \"incline\", \"gravity\": [0, 0, -9.81], \"bodies\": [{\"name\": \"block\", "
    "\"mass\": 2, \"inertia\": [1, 1, 1], \"velocity\": [0.8660254037844387, 0, 0.5]}], "
    "\"joints\": [{\"name\": \"slide\", \"type\": \"prismatic\", \"bodies\": [\"ground\", "
    "\"block\"], \"point\": [0, 0, 0], \"axis\": [0.8660254037844387, 0, 0.5], \"friction\": "
    "{%s}}], "
    "\"simulation\": {\"step\": 2e-4, \"end\": 1}}";

/* Up with g (sin + mu cos), then down with g (sin - mu cos). */
static void a_block_slides_down_a_steep_incline(void **state)
{
  (void)state;
  pol_model *model;
  pol_simulation *s = run_text(incline, "\"coefficient\": 0.3, \"creep_speed\": 1e-4", &model);
  const double sine = 0.5, cosine = sqrt(0.75);
  const double up = gravity * (sine + 0.3 * cosine), down = gravity * (sine - 0.3 * cosine);
  const double t = 1.0 - 1.0 / up, end = 0.5 / up - 0.5 * down * t * t;
  double rate;
  const double value = coordinate(s, 0, &rate);
  assert_near(&value, &end, 1, 3e-4);
  assert_near(&rate, &(double){-down * t}, 1, 3e-4);
  /* mu N times the way both ways */
  const double way = 0.5 / up + 0.5 * down * t * t;
  assert_balance(s, 0.3 * 2.0 * gravity * cosine * way, 5e-3);
  release(s, model);
}

/* tan 30 < mu: it stops and creeps with creep_speed atanh(tan / mu). */
static void a_block_sticks_on_a_flat_incline(void **state)
{
  (void)state;
  pol_model *model;
  pol_simulation *s = run_text(incline, "\"coefficient\": 0.7, \"creep_speed\": 1e-3", &model);
  const double up = gravity * (0.5 + 0.7 * sqrt(0.75));
  double rate;
  const double value = coordinate(s, 0, &rate);
  const double creep = -1e-3 * atanh(0.5 / (0.7 * sqrt(0.75)));
  assert_near(&rate, &creep, 1, 1e-9);
  assert_near(&value, &(double){0.5 / up + creep * (1.0 - 1.0 / up)}, 1, 1e-4);
  release(s, model);
}

/* A wheel on a journal: horizontal, with its centre of mass off the bearing along the axis. */
static const char journal[] =
    "{\"name\": \"journal\", \"gravity\": [0, 0, -9.81], \"bodies\": [{\"name\": \"wheel\", "
    "\"mass\": 2, \"inertia\": [0.3, 0.5, 0.3], \"position\": [0, 0.2, 0], \"angular_velocity\": "
    "[0, 10, 0]}], \"joints\": [{\"name\": \"hinge\", \"type\": \"revolute\", \"bodies\": "
    "[\"ground\", \"wheel\"], \"point\": [0, 0, 0], \"axis\": [0, 1, 0], \"friction\": {%s}}], "
    "\"simulation\": {\"step\": 1e-3, \"end\": 2}}";

static void journals_run_down_linearly(void **state)
{
  (void)state;
  static const struct {
    const char *keys;
    double torque;
  } cases[] = {
      {"\"coefficient\": 0.2, \"radius\": 0.05", 0.2 * 0.05 * 2 * 9.81},
      {"\"coefficient\": 0.2, \"radius\": 0.05, \"length\": 0.1",
       0.2 * 0.05 * 2 * 9.81 * (1.0 + 2.0 * 0.2 / 0.1)},
      {"\"level\": 0.7", 0.7},
      {"\"coefficient\": 0.2, \"radius\": 0.05, \"level\": 0.1", 0.2 * 0.05 * 2 * 9.81 + 0.1},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    pol_model *model;
    pol_simulation *s = run_text(journal, cases[i].keys, &model);
    const double w = 10.0 - cases[i].torque / 0.5 * 2.0;
    double rate;
    coordinate(s, 0, &rate);
    assert_near(&rate, &w, 1, 1e-9);
    assert_balance(s, 0.25 * (100.0 - w * w), 1e-5);
    release(s, model);
  }
}

/* A vertical axis: the collar carries the weight. */
static void collars_carry_thrust(void **state)
{
  (void)state;
  static const char text[] =
      "{\"name\": \"collar\", \"gravity\": [0, 0, -9.81], \"bodies\": [{\"name\": \"table\", "
      "\"mass\": 3, \"inertia\": [0.3, 0.3, 0.5], \"angular_velocity\": [0, 0, 10]}], \"joints\": "
      "[{\"name\": \"hinge\", \"type\": \"revolute\", \"bodies\": [\"ground\", \"table\"], "
      "\"point\": [0, 0, 0], \"axis\": [0, 0, 1], \"friction\": {%s}}], \"simulation\": {\"step\": "
      "1e-3, \"end\": 1}}";
  pol_model *model;
  pol_simulation *s =
      run_text(text, "\"coefficient\": 0.1, \"radius\": 0.03, \"thrust_radius\": 0.08", &model);
  double rate;
  coordinate(s, 0, &rate);
  assert_near(&rate, &(double){10.0 - 0.1 * 0.08 * 3 * 9.81 / 0.5}, 1, 1e-9);
  release(s, model);
}

/* exp(-b t / J) with viscous friction and with a damper. */
static void viscous_friction_decays_exponentially(void **state)
{
  (void)state;
  pol_model *model;
  double rate;
  pol_simulation *s = run_text(journal, "\"viscous\": 0.4", &model);
  coordinate(s, 0, &rate);
  assert_near(&rate, &(double){10.0 * exp(-0.4 / 0.5 * 2.0)}, 1, 1e-5);
  release(s, model);
}

/* A slider that is driven slowly faster: the drive overcomes the Stribeck curve. */
static void driven_slider_shows_the_stribeck_curve(void **state)
{
  (void)state;
  pol_model *model = read_model_text(
      "{\"name\": \"curve\", \"gravity\": [0, 0, -9.81], \"bodies\": [{\"name\": \"block\", "
      "\"mass\": 2, \"inertia\": [1, 1, 1]}], \"joints\": [{\"name\": \"slide\", \"type\": "
      "\"prismatic\", \"bodies\": [\"ground\", \"block\"], \"point\": [0, 0, 0], \"axis\": [1, 0, "
      "0], \"friction\": {\"coefficient\": 0.2, \"static_coefficient\": 0.5, \"viscous\": 3, "
      "\"level\": 1, \"static_level\": 2, \"stribeck_speed\": 0.05, \"creep_speed\": 0.005}}], "
      "\"drives\": [{\"name\": \"motor\", \"joint\": \"slide\", \"coordinate\": \"translation\", "
      "\"function\": \"0.1*t^2\"}], \"simulation\": {\"step\": 0.01, \"end\": 1}}");
  pol_simulation *s = start(model);
  while (!pol_simulation_finished(s)) {
    take_step(s);
    const pol_state *now = pol_simulation_state(s);
    const pol_point at = pol_state_point(now);
    const double u = 0.2 * now->t, bell = exp(-u * u / 0.0025);
    const double friction =
        ((0.2 + 0.3 * bell) * 2 * gravity + 1 + bell) * tanh(u / 0.005) + 3.0 * u;
    const double effort = pol_formulation_drive_effort(pol_simulation_formulation(s), &at, 0);
    const double told = pol_formulation_joint_spring_effort(pol_simulation_formulation(s), &at, 0);
    assert_near(&effort, &(double){friction + 2 * 0.2}, 1, 1e-3);
    assert_near(&told, &(double){-friction}, 1, 1e-3);
  }
  release(s, model);
}

/* --- stops ------------------------------------------------------------------------------------ */

static const char slider[] =
    "{\"name\": \"stop\", \"bodies\": [{\"name\": \"block\", \"mass\": 2, \"inertia\": [1, 1, 1], "
    "\"velocity\": [1, 0, 0]}], \"joints\": [{\"name\": \"slide\", \"type\": \"prismatic\", "
    "\"bodies\": [\"ground\", \"block\"], \"point\": [0, 0, 0], \"axis\": [1, 0, 0], \"limits\": "
    "{%s}}], \"simulation\": {\"step\": 1e-4, \"end\": 0.6}}";

/* 0.3 m, half a period in the stop, and back. */
static void soft_stops_without_damping_give_the_speed_back(void **state)
{
  (void)state;
  pol_model *model;
  pol_simulation *s = run_text(slider, "\"max\": 0.3, \"stiffness\": 5000, \"damping\": 0", &model);
  double rate;
  const double value = coordinate(s, 0, &rate), contact = pi * sqrt(2.0 / 5000.0);
  assert_near(&rate, &(double){-1.0}, 1, 2e-5);
  assert_near(&value, &(double){0.3 - (0.6 - 0.3 - contact)}, 1, 2e-5);
  assert_true(pol_simulation_summary(s)->max_energy_drift < 1e-4);
  release(s, model);
}

/* One contact of m x'' = -k x (1 + tanh(d x' / (k x))) by Runge-Kutta: the speed after it. */
static double damped_rebound(double m, double k, double d, double *time)
{
  double x = 0.0, u = 1.0, t = 0.0;
  const double h = 1e-6;
  do {
    double dx[4], du[4], cx = x, cu = u;
    for (int i = 0; i < 4; i++) {
      dx[i] = cu;
      du[i] = cx > 0.0 ? -k * cx * (1.0 + tanh(d * cu / (k * cx))) / m : 0.0;
      const double step = i < 2 ? 0.5 * h : h;
      cx = x + step * dx[i];
      cu = u + step * du[i];
    }
    x += h / 6.0 * (dx[0] + 2 * dx[1] + 2 * dx[2] + dx[3]);
    u += h / 6.0 * (du[0] + 2 * du[1] + 2 * du[2] + du[3]);
    t += h;
  } while (x > 0.0);
  *time = t;
  return u;
}

static void damped_stops_never_pull(void **state)
{
  (void)state;
  static const double damping[] = {10.0, 60.0, 400.0};
  for (int i = 0; i < 3; i++) {
    pol_model *model;
    char keys[120], text[2000];
    snprintf(keys, sizeof keys, "\"max\": 0.3, \"stiffness\": 5000, \"damping\": %g", damping[i]);
    snprintf(text, sizeof text, slider, keys);
    model = read_model_text(text);
    pol_simulation *s = start(model);
    double rate, time;
    while (!pol_simulation_finished(s)) {
      take_step(s);
      const pol_point at = pol_state_point(pol_simulation_state(s));
      const double push =
          pol_formulation_joint_spring_effort(pol_simulation_formulation(s), &at, 0);
      assert_true(push <= 0.0);
      if (coordinate(s, 0, &rate) <= 0.3) assert_true(push == 0.0);
    }
    const double value = coordinate(s, 0, &rate);
    const double after = damped_rebound(2.0, 5000.0, damping[i], &time);
    assert_near(&rate, &after, 1, 1e-4);
    assert_near(&value, &(double){0.3 + (0.3 - time) * after}, 1, 1e-4);
    assert_balance(s, 1.0 - after * after, 2e-3);
    release(s, model);
  }
}

/* Impacts at times that are exact; then it rests at the limit. */
static void hard_stops_reverse_the_rate(void **state)
{
  (void)state;
  static const struct {
    const char *method;
    pol_formulation_kind kind;
    int variable;
  } cases[] = {{"geom1", POL_SO3XR3, 0},         {"geom1", POL_SE3_BODY, 0},
               {"hht", POL_EULER_PARAMETERS, 0}, {"rattle", POL_SO3XR3, 0},
               {"em", POL_DIRECTORS, 0},         {"geom1", POL_SO3XR3, 1}};
  for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
    pol_model *model = read_model_text(
        "{\"name\": \"drop\", \"gravity\": [0, 0, -9.81], \"bodies\": [{\"name\": \"ball\", "
        "\"mass\": 2, \"inertia\": [1, 1, 1]}], \"joints\": [{\"name\": \"slide\", \"type\": "
        "\"prismatic\", \"bodies\": [\"ground\", \"ball\"], \"point\": [0, 0, 0], \"axis\": [0, 0, "
        "1], \"limits\": {\"min\": -1, \"restitution\": 0.6}}], \"simulation\": {\"step\": 1e-3, "
        "\"end\": 3}}");
    const double most = cases[n].variable ? 1e-5 : 1e-7; /* of an error, with tolerances of 1e-7 */
    pol_settings settings = model->settings;
    settings.options.method = cases[n].method;
    settings.formulation = cases[n].kind;
    settings.variable = cases[n].variable;
    settings.options.control.rtol = 1e-7;
    settings.options.control.atol_translation = settings.options.control.atol_rotation = 1e-7;
    if (strcmp(cases[n].method, "hht") == 0) pol_options_set_hht(&settings.options, -0.05);
    pol_simulation *s = start_with(model->mechanism, &settings);
    double expected = sqrt(2.0 / gravity), speed = gravity * expected, rate;
    int impacts = 0;
    while (!pol_simulation_finished(s)) {
      take_step(s);
      if (pol_simulation_event_index(s) < 0) continue;
      assert_string_equal(pol_simulation_get_event(s, 0)->name, "slide.stop.min");
      const double t = pol_simulation_state(s)->t;
      impacts++;
      if (impacts > 6) continue;
      const double value = coordinate(s, 0, &rate);
      speed *= 0.6;
      assert_near(&t, &expected, 1, most);
      assert_near(&rate, &speed, 1, most);
      assert_near(&value, &(double){-1.0}, 1, 1e-9);
      expected += 2.0 * speed / gravity;
    }
    assert_true(impacts >= 8 && impacts <= 12);
    const double value = coordinate(s, 0, &rate);
    assert_near(&value, &(double){-1.0}, 1, 1e-9);
    assert_near(&rate, &(double){0.0}, 1, 1e-8);
    assert_balance(s, 2 * gravity, 1e-5);
    release(s, model);
  }
}

/* Two carts on one track with a joint between them: the impulse is internal, so the momentum stays,
 * and the relative velocity is reversed. */
static void impacts_keep_momentum(void **state)
{
  (void)state;
  pol_model *model = read_model_text(
      "{\"name\": \"carts\", \"bodies\": [{\"name\": \"a\", \"mass\": 2, \"inertia\": [1, 1, 1], "
      "\"velocity\": [1, 0, 0]}, {\"name\": \"b\", \"mass\": 3, \"inertia\": [1, 1, 1], "
      "\"velocity\": [4, 0, 0]}], \"joints\": [{\"name\": \"track\", \"type\": \"prismatic\", "
      "\"bodies\": [\"ground\", \"a\"], \"point\": [0, 0, 0], \"axis\": [1, 0, 0]}, {\"name\": "
      "\"slot\", \"type\": \"prismatic\", \"bodies\": [\"a\", \"b\"], \"point\": [0, 0, 0], "
      "\"axis\": [1, 0, 0], \"limits\": {\"max\": 0.3, \"restitution\": 0.5}}], \"simulation\": "
      "{\"step\": 1e-3, \"end\": 0.2}}");
  pol_simulation *s = start(model);
  step_to_end(s);
  pol_body_state a, b;
  pol_simulation_body(s, 0, &a);
  pol_simulation_body(s, 1, &b);
  /* momentum 14; b - a = -1.5 */
  assert_near(&a.velocity[0], &(double){(14.0 + 4.5) / 5.0}, 1, 1e-9);
  assert_near(&b.velocity[0], &(double){(14.0 + 4.5) / 5.0 - 1.5}, 1, 1e-9);
  assert_balance(s, 0.5 * 6.0 / 5.0 * 9.0 * 0.75, 1e-9);
  release(s, model);
}

/* --- reflected inertia ------------------------------------------------------------------------ */

/* Small swings of a pendulum: w^2 = m g l / (J + m l^2 + armature). */
static void rotors_slow_a_pendulum(void **state)
{
  (void)state;
  pol_model *model = read_model_text(
      "{\"name\": \"pendulum\", \"gravity\": [0, 0, -9.81], \"bodies\": [{\"name\": \"rod\", "
      "\"mass\": 2, \"inertia\": [0.1, 0.2, 0.1], \"position\": [0, 0, -0.5], "
      "\"angular_velocity\": [0, 1e-4, 0]}], \"joints\": [{\"name\": \"hinge\", \"type\": "
      "\"revolute\", \"bodies\": [\"ground\", \"rod\"], \"point\": [0, 0, 0], \"axis\": [0, 1, 0], "
      "\"armature\": 0.9}], \"simulation\": {\"step\": 1e-3, \"end\": 2}}");
  const double w = sqrt(2 * gravity * 0.5 / (0.2 + 2 * 0.25 + 0.9));
  static const pol_formulation_kind kinds[] = {POL_SO3XR3, POL_SE3_BODY, POL_EULER_PARAMETERS};
  for (int k = 0; k < 3; k++) {
    pol_settings settings = model->settings;
    settings.formulation = kinds[k];
    pol_simulation *s = start_with(model->mechanism, &settings);
    step_to_end(s);
    double rate;
    const double value = coordinate(s, 0, &rate);
    assert_near(&value, &(double){1e-4 / w * sin(2.0 * w)}, 1, 1e-9);
    assert_near(&rate, &(double){1e-4 * cos(2.0 * w)}, 1, 1e-9);
    assert_true(pol_simulation_summary(s)->max_energy_drift < 1e-12);
    pol_simulation_free(&s);
  }
  pol_model_free(&model);
}

/* A slider on a rod that turns with W, its rotor geared to the slide: (m + J) s'' = m W^2 s. */
static void rotors_slow_a_slider_on_a_turning_rod(void **state)
{
  (void)state;
  pol_model *model = read_model_text(
      "{\"name\": \"slider\", \"bodies\": [{\"name\": \"rod\", \"mass\": 1, \"inertia\": [1, 1, "
      "1]}, {\"name\": \"bead\", \"mass\": 2, \"inertia\": [0.1, 0.1, 0.1], \"position\": [0.2, 0, "
      "0]}], \"markers\": [{\"name\": \"p\", \"body\": \"rod\", \"rotation\": {\"axis\": [0, 1, "
      "0], \"angle\": \"pi/2\"}}, {\"name\": \"q\", \"body\": \"bead\", \"rotation\": {\"axis\": "
      "[0, 1, 0], \"angle\": \"pi/2\"}}], \"joints\": [{\"name\": \"hub\", \"type\": \"revolute\", "
      "\"bodies\": [\"ground\", \"rod\"], \"point\": [0, 0, 0], \"axis\": [0, 0, 1]}, {\"name\": "
      "\"slide\", \"type\": \"prismatic\", \"markers\": [\"p\", \"q\"], \"armature\": 1.5}], "
      "\"drives\": [{\"name\": \"motor\", \"joint\": \"hub\", \"coordinate\": \"rotation\", "
      "\"function\": \"3*t\"}], \"simulation\": {\"step\": 5e-4, \"end\": 1}}");
  const double rate_of = 3.0 * sqrt(2.0 / 3.5);
  static const pol_formulation_kind kinds[] = {POL_SO3XR3, POL_SE3_BODY, POL_EULER_PARAMETERS};
  for (int k = 0; k < 3; k++) {
    pol_settings settings = model->settings;
    settings.formulation = kinds[k];
    pol_simulation *s = start_with(model->mechanism, &settings);
    step_to_end(s);
    double rate;
    const double value = coordinate(s, 1, &rate);
    assert_near(&value, &(double){0.2 * cosh(rate_of)}, 1, 1e-5);
    assert_near(&rate, &(double){0.2 * rate_of * sinh(rate_of)}, 1, 1e-5);
    pol_simulation_free(&s);
  }
  pol_model_free(&model);
}

/* --- the same motion by all methods ------------------------------------------------------------
 */

/* A double pendulum whose elbow hits a soft stop, with friction, dampers and a cylindrical joint.
 */
static const char arm[] =
    "{\"name\": \"arm\", \"gravity\": [0, 0, -9.81], \"bodies\": [{\"name\": \"upper\", \"mass\": "
    "2, \"inertia\": [0.1, 0.2, 0.15], \"position\": [0.5, 0, 0]}, {\"name\": \"lower\", \"mass\": "
    "1, \"inertia\": [0.05, 0.1, 0.08], \"position\": [1.3, 0, 0]}], \"joints\": [{\"name\": "
    "\"shoulder\", \"type\": \"cylindrical\", \"bodies\": [\"ground\", \"upper\"], \"point\": [0, "
    "0, 0], \"axis\": [0, 1, 0.2], \"coordinates\": {\"rotation\": {\"damping\": 0.3, "
    "\"friction\": {\"level\": 0.5, \"creep_speed\": 0.1}}, \"translation\": {\"stiffness\": 300, "
    "\"damping\": 8, \"rest\": 0.02}}}, {\"name\": \"elbow\", \"type\": \"revolute\", \"bodies\": "
    "[\"upper\", \"lower\"], \"point\": [1, 0, 0], \"axis\": [0, 1, 0], \"damping\": 0.1, "
    "\"friction\": {%s\"static_level\": 0.3, \"level\": 0.2, \"stribeck_speed\": 0.5, "
    "\"creep_speed\": 0.1}, \"limits\": {\"min\": -0.3, \"max\": 0.4, \"stiffness\": 80, "
    "\"damping\": 2}%s}], \"simulation\": {\"step\": 1e-3, \"end\": 0.8}}";

static void compare_methods(const char *friction, const char *more, int with_reaction,
                            int with_armature)
{
  static const struct {
    const char *method;
    pol_index index;
    pol_formulation_kind kind;
    int variable;
  } cases[] = {
      {"geom1", POL_INDEX_3, POL_SO3XR3, 0},
      {"geom1", POL_INDEX_2, POL_SE3_BODY, 0},
      {"geom2", POL_INDEX_2_STABILIZED, POL_SO3XR3_SPATIAL, 0},
      {"geom3", POL_INDEX_3, POL_SO3XR3, 0},
      {"linear", POL_INDEX_2_STABILIZED, POL_EULER_PARAMETERS, 0},
      {"hht", POL_INDEX_3, POL_SO3XR3, 0},
      {"newmark", POL_INDEX_3, POL_SO3XR3, 0},
      {"geom1", POL_INDEX_3, POL_SO3XR3, 1},
      {"geom1", POL_INDEX_3, POL_DIRECTORS, 0},
      {"rattle", POL_INDEX_3, POL_SO3XR3, 0},
      {"rattle", POL_INDEX_3, POL_SO3XR3, 1},
      {"em", POL_INDEX_3, POL_DIRECTORS, 0},
      {"em", POL_INDEX_3, POL_EULER_PARAMETERS, 0},
  };
  char text[3000];
  snprintf(text, sizeof text, arm, friction, more);
  pol_model *model = read_model_text(text);
  double reference[3] = {0.0};
  for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
    const int conserves = strcmp(cases[n].method, "em") == 0;
    const int splits = strcmp(cases[n].method, "rattle") == 0;
    pol_settings settings = model->settings;
    settings.options = pol_options_default();
    assert_int_equal(pol_options_set_method(&settings.options, cases[n].method), POL_OK);
    settings.options.index = cases[n].index;
    settings.formulation = cases[n].kind;
    settings.variable = cases[n].variable;
    settings.options.control.rtol = 1e-6;
    settings.options.control.atol_translation = settings.options.control.atol_rotation = 1e-6;
    if (splits) settings.options.order = 2;
    if (strcmp(cases[n].method, "hht") == 0) pol_options_set_hht(&settings.options, -0.05);
    if (n == 0) settings.step = 1e-4;
    pol_simulation *s;
    pol_diagnostics d;
    const pol_status status = pol_simulation_create(&s, model->mechanism, &settings, &d);
    if ((with_reaction && conserves) ||
        (with_armature && (conserves || splits || cases[n].kind == POL_DIRECTORS))) {
      assert_int_equal(status, POL_BAD_ARGUMENT);
      assert_true(strlen(d.message) > 20);
      continue;
    }
    if (status) fail_msg("%s: %s", cases[n].method, d.message);
    step_to_end(s);
    double rate, now[3];
    now[0] = coordinate(s, 0, &rate);
    now[1] = coordinate(s, 1, &rate);
    now[2] = rate;
    if (n == 0) memcpy(reference, now, sizeof now);
    for (int i = 0; i < 3; i++)
      if (!(fabs(now[i] - reference[i]) < 2e-3))
        fail_msg("%s in %s: %.9g instead of %.9g (%d)", cases[n].method,
                 pol_formulation_name(cases[n].kind), now[i], reference[i], i);
    /* the work of friction and dampers is what the energy loses */
    const pol_summary *sum = pol_simulation_summary(s);
    const double lost = sum->initial_energy.kinetic + sum->initial_energy.potential -
                        sum->energy.kinetic - sum->energy.potential;
    assert_true(sum->work.dissipated > 0.5);
    assert_near(&sum->work.dissipated, &lost, 1, 5e-3);
    pol_simulation_free(&s);
  }
  pol_model_free(&model);
}

static void all_methods_agree(void **state)
{
  (void)state;
  compare_methods("", "", 0, 0);
  compare_methods(
      "\"coefficient\": 0.2, \"radius\": 0.1, \"length\": 0.3, \"thrust_radius\": 0.05, ", "", 1,
      0);
  compare_methods("", ", \"armature\": 0.2", 0, 1);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_block_slides_down_a_steep_incline),
      cmocka_unit_test(a_block_sticks_on_a_flat_incline),
      cmocka_unit_test(journals_run_down_linearly),
      cmocka_unit_test(collars_carry_thrust),
      cmocka_unit_test(viscous_friction_decays_exponentially),
      cmocka_unit_test(driven_slider_shows_the_stribeck_curve),
      cmocka_unit_test(soft_stops_without_damping_give_the_speed_back),
      cmocka_unit_test(damped_stops_never_pull),
      cmocka_unit_test(hard_stops_reverse_the_rate),
      cmocka_unit_test(impacts_keep_momentum),
      cmocka_unit_test(rotors_slow_a_pendulum),
      cmocka_unit_test(rotors_slow_a_slider_on_a_turning_rod),
      cmocka_unit_test(all_methods_agree),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
