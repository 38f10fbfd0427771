/* Forces and drives from model text to motion: exact solutions, energy, a program's own force, and
 * what a run says where a force cannot be evaluated. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulation/simulate.h"

static const double pi = 3.14159265358979323846;

/* Runs to the end. */
static pol_simulation *run(const pol_model *model)
{
  pol_simulation *simulation = start(model);
  step_to_end(simulation);
  return simulation;
}

static pol_body_state body_at(const pol_simulation *simulation, int body)
{
  const pol_state *state = pol_simulation_state(simulation);
  pol_body_state values;
  pol_formulation_body_state(pol_simulation_formulation(simulation), state->q, state->v, body,
                             &values);
  return values;
}

/* The value of a channel now. */
static double channel(const pol_simulation *simulation, const char *name)
{
  pol_record *record;
  double row[300], value = 0.0;
  int found = 0;
  assert_int_equal(pol_record_create(&record, simulation), POL_OK);
  assert_true(pol_record_count(record) <= 300);
  pol_record_row(record, row);
  for (int i = 0; i < pol_record_count(record); i++)
    if (strcmp(pol_record_channel(record, i)->name, name) == 0) {
      value = row[i];
      found = 1;
    }
  if (!found) fail_msg("no channel %s", name);
  pol_record_free(&record);
  return value;
}

#define BODY(name, more)                                                                           \
  "{\"name\": \"" name "\", \"mass\": 2, \"inertia\": [0.5, 0.6, 0.7]" more "}"
#define SIMULATION "\"simulation\": {\"index\": \"stabilized-2\", \"step\": 0.01, \"end\": 1}"

/* --- forces of time --------------------------------------------------------------------------- */

/* A force sin(3 t) along x and a torque t^2 about z, on a marker that is turned by a quarter: u' =
 * 4 sin(3 t) / 2, w' = 2.1 t^2 / 0.7. */
static void scaled_forces_follow_their_function(void **state)
{
  (void)state;
  static const char text[] = "{\"bodies\": [" BODY(
      "stone",
      "") "],"
          "\"markers\": [{\"name\": \"eye\", \"body\": \"stone\","
          "  \"rotation\": {\"axis\": [0, 0, 1], \"angle\": 1.5707963267948966}}],"
          "\"forces\": [{\"name\": \"push\", \"type\": \"force\", \"body\": \"stone\","
          "  \"force\": [4, 0, 0], \"scale\": {\"type\": \"harmonic\", \"amplitude\": 1,"
          "  \"frequency\": 0.477464829275686}},"
          "{\"name\": \"twist\", \"type\": \"torque\", \"marker\": \"eye\", \"torque\": [0, 0, "
          "2.1],"
          "  \"frame\": \"marker\", \"scale\": {\"type\": \"polynomial\", \"coefficients\": [0, 0, "
          "1]}},"
          "{\"name\": \"side\", \"type\": \"force\", \"marker\": \"eye\", \"force\": [0, 1, 0],"
          "  \"scale\": {\"type\": \"constant\", \"value\": 0}}],"
          "\"simulation\": {\"step\": 0.01, \"end\": 1}}";
  pol_model *model = read_model_text(text);
  double errors[2][2];
  for (int fine = 0; fine < 2; fine++) {
    model->settings.step = fine ? 0.005 : 0.01;
    pol_simulation *simulation = run(model);
    pol_body_state stone = body_at(simulation, 0);
    errors[0][fine] = fabs(stone.position[0] - 2.0 * (1.0 / 3.0 - sin(3.0) / 9.0));
    errors[1][fine] = fabs(stone.angular_velocity[2] - 1.0);
    assert_near(&(double){channel(simulation, "push.force.x")}, &(double){4.0 * sin(3.0)}, 1,
                1e-12);
    assert_near(&(double){channel(simulation, "twist.torque.z")}, &(double){2.1}, 1, 1e-12);
    pol_simulation_free(&simulation);
  }
  for (int k = 0; k < 2; k++) {
    assert_true(errors[k][0] < 1e-3);
    assert_near(&(double){log2(errors[k][0] / errors[k][1])}, &(double){2.0}, 1, 0.1);
  }
  pol_model_free(&model);
}

/* In axes of a marker that is turned by a quarter about z, a force along x pushes along y of the
 * body, at the marker's point. */
static void a_force_follows_its_marker(void **state)
{
  (void)state;
  static const char text[] = "{\"bodies\": [" BODY(
      "stone",
      "") "],"
          "\"markers\": [{\"name\": \"eye\", \"body\": \"stone\", \"position\": [0.5, 0, 0],"
          "  \"rotation\": {\"axis\": [0, 0, 1], \"angle\": 1.5707963267948966}}],"
          "\"forces\": [{\"name\": \"push\", \"type\": \"force\", \"marker\": \"eye\","
          "  \"force\": [3, 0, 0], \"frame\": \"marker\"}], \"simulation\": {\"step\": 0.01, "
          "\"end\": 1}}";
  pol_model *model = read_model_text(text);
  const pol_force *force = pol_mechanism_force(model->mechanism, 0);
  const double vector[3] = {0.0, 3.0, 0.0}, point[3] = {0.5, 0.0, 0.0};
  assert_int_equal(force->frame, POL_BODY_AXES);
  assert_near(force->vector, vector, 3, 1e-15);
  assert_near(force->point, point, 3, 0.0);
  pol_model_free(&model);
}

/* --- springs and bushings --------------------------------------------------------------------- */

/* The same spring given by markers, by points of the bodies and by global points. */
static void a_spring_can_be_given_by_points(void **state)
{
  (void)state;
  static const char *const ends[3] = {
      "\"markers\": [\"hook\", \"eye\"]",
      "\"bodies\": [\"ground\", \"stone\"], \"points\": [[0, 0, 1], [0.2, 0, 0.1]]",
      "\"bodies\": [\"ground\", \"stone\"], \"points_global\": [[0, 0, 1], [0.3, 0.2, 0.1]]"};
  pol_body_state last[3];
  for (int k = 0; k < 3; k++) {
    char text[1024];
    snprintf(text, sizeof text,
             "{\"gravity\": [0, 0, -9.81], \"bodies\": [" BODY(
                 "stone",
                 ", \"position\": [0.3, 0, 0], \"rotation\": {\"axis\": [0, 0, 1],"
                 " \"angle\": 1.5707963267948966}") "],"
                                                    "\"markers\": [{\"name\": \"hook\", \"body\": "
                                                    "\"ground\", \"position\": [0, 0, 1]},"
                                                    "{\"name\": \"eye\", \"body\": \"stone\", "
                                                    "\"position\": [0.2, 0, 0.1]}],"
                                                    "\"forces\": [{\"name\": \"rope\", \"type\": "
                                                    "\"spring-damper\", \"stiffness\": 50,"
                                                    "\"damping\": 2, %s}], \"simulation\": "
                                                    "{\"step\": 0.01, \"end\": 1}}",
             ends[k]);
    pol_model *model = read_model_text(text);
    pol_simulation *simulation = run(model);
    last[k] = body_at(simulation, 0);
    assert_near(last[k].position, last[0].position, 3, 1e-11);
    assert_near(last[k].rotation, last[0].rotation, 9, 1e-11);
    pol_simulation_free(&simulation);
    pol_model_free(&model);
  }
}

/* About one axis the bushing is a damped oscillator, whatever the angle: from 1.2 rad with
 * J = 0.7, k = 30, c = 1.4 about z. */
static void a_bushing_swings_like_an_oscillator(void **state)
{
  (void)state;
  static const char text[] = "{\"bodies\": [" BODY(
      "block",
      ", \"rotation\": {\"axis\": [0, 0, 1], \"angle\": 1.2}") "],"
                                                               "\"markers\": [{\"name\": "
                                                               "\"floor\", \"body\": \"ground\"},"
                                                               "{\"name\": \"foot\", \"body\": "
                                                               "\"block\"}],"
                                                               "\"forces\": [{\"name\": \"mount\", "
                                                               "\"type\": \"bushing\", "
                                                               "\"markers\": [\"floor\", \"foot\"],"
                                                               "\"stiffness\": 100, "
                                                               "\"rotational_stiffness\": [10, 20, "
                                                               "30], \"rotational_damping\": 1.4}],"
                                                               "\"simulation\": {\"step\": 0.01, "
                                                               "\"end\": 1}}";
  pol_model *model = read_model_text(text);
  const double a = 1.0, b = sqrt(30.0 / 0.7 - 1.0);
  const double angle = 1.2 * exp(-a) * (cos(b) + a / b * sin(b));
  double errors[2];
  for (int fine = 0; fine < 2; fine++) {
    model->settings.step = fine ? 0.0025 : 0.005;
    pol_simulation *simulation = run(model);
    pol_body_state block = body_at(simulation, 0);
    errors[fine] = fabs(atan2(block.rotation[3], block.rotation[0]) - angle);
    double torque =
        -30.0 * atan2(block.rotation[3], block.rotation[0]) - 1.4 * block.angular_velocity[2];
    assert_near(&(double){channel(simulation, "mount.torque.z")}, &torque, 1, 1e-11);
    pol_simulation_free(&simulation);
  }
  assert_true(errors[0] < 1e-3);
  assert_near(&(double){log2(errors[0] / errors[1])}, &(double){2.0}, 1, 0.1);
  pol_model_free(&model);
}

/* Two free bodies on a bushing that is stretched, sheared and twisted: without damping the energy
 * stays to second order, and the momentum to round-off; with damping the energy falls. */
static void a_bushing_keeps_energy_and_momentum(void **state)
{
  (void)state;
  static const char text[] =
      "{\"bodies\": [" BODY("a", ", \"velocity\": [0.3, 0.1, -0.2]") "," BODY(
          "b",
          ", \"position\": [0.4, 0.1, 0.2], \"angular_velocity\": [1, -2, 0.5],"
          " \"rotation\": {\"rotation_vector\": [0.5, -0.4, 0.7]}") "],"
                                                                    "\"markers\": [{\"name\": "
                                                                    "\"m\", \"body\": \"a\", "
                                                                    "\"position\": [0.1, 0, 0.1]},"
                                                                    "{\"name\": \"n\", \"body\": "
                                                                    "\"b\", \"position\": [-0.2, "
                                                                    "0.1, 0]}],"
                                                                    "\"forces\": [{\"name\": "
                                                                    "\"mount\", \"type\": "
                                                                    "\"bushing\", \"markers\": "
                                                                    "[\"m\", \"n\"],"
                                                                    "\"stiffness\": [80, 120, 60], "
                                                                    "\"rotational_stiffness\": [8, "
                                                                    "12, 5],"
                                                                    "\"preload\": [3, -2, 1], "
                                                                    "\"preload_torque\": [0.5, "
                                                                    "0.2, -0.3], \"damping\": [%s, "
                                                                    "%s, %s],"
                                                                    "\"rotational_damping\": %s}], "
                                                                    "\"simulation\": {\"step\": "
                                                                    "0.01, \"end\": 1, "
                                                                    "\"rho_inf\": 1}}";
  for (int damped = 0; damped < 2; damped++) {
    char filled[2048];
    const char *c = damped ? "2" : "0";
    double change[2], balance[2];
    snprintf(filled, sizeof filled, text, c, c, c, damped ? "[0.2, 0.1, 0.3]" : "0");
    pol_model *model = read_model_text(filled);
    for (int fine = 0; fine < 2; fine++) {
      model->settings.step = fine ? 0.0025 : 0.005;
      pol_simulation *simulation = start(model);
      double first = channel(simulation, "energy.total"), before = first, worst = 0.0;
      while (!pol_simulation_finished(simulation)) {
        assert_int_equal(pol_simulation_step(simulation), POL_OK);
        double energy = channel(simulation, "energy.total");
        if (damped) assert_true(energy < before);
        before = energy;
        worst = fmax(worst, fabs(energy - first));
      }
      change[fine] = worst;
      balance[fine] = fabs(channel(simulation, "energy.balance"));
      if (!damped)
        assert_near(&(double){channel(simulation, "energy.dissipated")}, &(double){0.0}, 1, 1e-12);
      pol_body_state a = body_at(simulation, 0), b = body_at(simulation, 1);
      const double momentum[3] = {0.3, 0.1, -0.2};
      double sum[3];
      for (int i = 0; i < 3; i++) sum[i] = a.velocity[i] + b.velocity[i];
      assert_near(sum, momentum, 3, 1e-10);
      pol_simulation_free(&simulation);
    }
    print_message("bushing, %s: energy changes by %.3g and %.3g J\n", damped ? "damped" : "free",
                  change[0], change[1]);
    assert_near(&(double){log2(balance[0] / balance[1])}, &(double){2.0}, 1, 0.1);
    if (damped)
      assert_true(change[1] > 1.0);
    else
      assert_near(&(double){log2(change[0] / change[1])}, &(double){2.0}, 1, 0.1);
    pol_model_free(&model);
  }
}

/* --- a program's own force -------------------------------------------------------------------- */

/* A spring with a damper between the centres of mass: 40 N/m, 0.5 m, 3 N s/m. */
static pol_status own_spring(double t, const pol_motion motion[2], double wrench[12], void *user)
{
  double d[3], rate[3], square = 0.0, along = 0.0;
  (void)t;
  (void)user;
  for (int i = 0; i < 3; i++) {
    d[i] = motion[1].position[i] - motion[0].position[i];
    rate[i] = motion[1].velocity[i] - motion[0].velocity[i];
    square += d[i] * d[i];
    along += d[i] * rate[i];
  }
  double length = sqrt(square);
  double tension = 40.0 * (length - 0.5) + 3.0 * along / length;
  for (int i = 0; i < 3; i++) {
    wrench[3 + i] = tension * d[i] / length;
    wrench[9 + i] = -wrench[3 + i];
  }
  return POL_OK;
}

static double own_energy(const pol_motion motion[2], void *user)
{
  double square = 0.0;
  (void)user;
  for (int i = 0; i < 3; i++) square += pow(motion[1].position[i] - motion[0].position[i], 2.0);
  return 20.0 * pow(sqrt(square) - 0.5, 2.0);
}

static void an_own_spring_moves_like_the_built_in_one(void **state)
{
  (void)state;
  static const char text[] = "{\"bodies\": [" BODY("a", "") ", " BODY(
      "b",
      ", \"position\": [0.8, 0, 0.1], \"velocity\": [0, 1, 0]") "],"
                                                                "\"forces\": [%s], \"simulation\": "
                                                                "{\"step\": 0.01, \"end\": 1}}";
  pol_body_state last[2];
  double energy[2], dissipated[2];
  for (int own = 0; own < 2; own++) {
    char filled[1024];
    snprintf(filled, sizeof filled, text,
             own ? ""
                 : "{\"name\": \"s\", \"type\": \"spring-damper\", \"bodies\": [\"a\", \"b\"],"
                   "\"points\": [[0, 0, 0], [0, 0, 0]], \"stiffness\": 40, \"damping\": 3,"
                   "\"length\": 0.5}");
    pol_model *model = read_model_text(filled);
    pol_force spring = {.name = "s",
                        .type = POL_CALLBACK_FORCE,
                        .bodies = {0, 1},
                        .callback = {.wrench = own_spring, .potential = own_energy}};
    if (own) assert_int_equal(pol_mechanism_add_force(model->mechanism, &spring, NULL), POL_OK);
    pol_simulation *simulation = run(model);
    last[own] = body_at(simulation, 1);
    energy[own] = channel(simulation, "energy.total");
    dissipated[own] = channel(simulation, "energy.dissipated");
    pol_simulation_free(&simulation);
    pol_model_free(&model);
  }
  assert_near(last[1].position, last[0].position, 3, 1e-9);
  assert_near(last[1].velocity, last[0].velocity, 3, 1e-9);
  assert_near(&energy[1], &energy[0], 1, 1e-9);
  assert_true(dissipated[0] > 0.1);
  assert_near(&dissipated[1], &dissipated[0], 1, 1e-9);
}

/* --- failures --------------------------------------------------------------------------------- */

static pol_status stop_at_half(double t, const pol_motion motion[2], double wrench[12], void *user)
{
  (void)motion;
  (void)wrench;
  (void)user;
  return t > 0.5 ? POL_CALLBACK : POL_OK;
}

/* A torque turns a soft bushing beyond 3 rad; a callback gives up. */
static void failures_name_the_force(void **state)
{
  (void)state;
  static const char text[] = "{\"bodies\": [" BODY(
      "block",
      "") "],"
          "\"markers\": [{\"name\": \"floor\", \"body\": \"ground\"},"
          "{\"name\": \"foot\", \"body\": \"block\"}],"
          "\"forces\": [{\"name\": \"twist\", \"type\": \"torque\", \"body\": \"block\","
          " \"torque\": [0, 0, %s]}, {\"name\": \"mount\", \"type\": \"bushing\","
          " \"markers\": [\"floor\", \"foot\"], \"stiffness\": 100, \"rotational_stiffness\": 1}],"
          "\"simulation\": {\"step\": 0.01, \"end\": 2}}";
  static const char *const wheres[2] = {"force 'mount': its markers are rotated by more than 3 rad",
                                        "force 'own': its callback failed"};
  for (int k = 0; k < 2; k++) {
    char filled[1024];
    pol_status status = POL_OK;
    snprintf(filled, sizeof filled, text, k == 0 ? "20" : "0.1");
    pol_model *model = read_model_text(filled);
    pol_force own = {.name = "own",
                     .type = POL_CALLBACK_FORCE,
                     .bodies = {POL_GROUND, 0},
                     .callback = {.wrench = stop_at_half}};
    assert_int_equal(pol_mechanism_add_force(model->mechanism, &own, NULL), POL_OK);
    own.name = "idle"; /* the first is to blame */
    if (k == 1) assert_int_equal(pol_mechanism_add_force(model->mechanism, &own, NULL), POL_OK);
    pol_simulation *simulation = start(model);
    while (!status && !pol_simulation_finished(simulation))
      status = pol_simulation_step(simulation);
    const pol_diagnostics *d = pol_simulation_diagnostics(simulation);
    assert_int_equal(status, k == 0 ? POL_RETRY : POL_CALLBACK);
    assert_string_equal(d->where, wheres[k]);
    assert_string_equal(d->message, "the model could not be evaluated");
    pol_simulation_free(&simulation);
    pol_model_free(&model);
  }
}

/* Before the first step too. */
static void failures_at_the_start_name_the_force(void **state)
{
  (void)state;
  pol_model *model = read_model_text(
      "{\"bodies\": [" BODY("block", ", \"rotation\": {\"axis\": [1, 0, 0], \"angle\": "
                                     "3.1}") "],"
                                             "\"markers\": [{\"name\": \"floor\", "
                                             "\"body\": \"ground\"},"
                                             "{\"name\": \"foot\", \"body\": \"block\"}],"
                                             "\"forces\": [{\"name\": \"mount\", "
                                             "\"type\": \"bushing\", \"markers\": "
                                             "[\"floor\", \"foot\"],"
                                             "\"stiffness\": 100, "
                                             "\"rotational_stiffness\": 1}], " SIMULATION "}");
  pol_simulation *simulation;
  pol_diagnostics d;
  assert_int_equal(pol_simulation_create(&simulation, model->mechanism, &model->settings, &d),
                   POL_RETRY);
  assert_string_equal(d.where, "force 'mount': its markers are rotated by more than 3 rad");
  pol_model_free(&model);
}

/* --- drives ----------------------------------------------------------------------------------- */

#define SWING(value) "{\"type\": \"harmonic\", \"amplitude\": " value ", \"frequency\": 1.25}"

/* amplitude sin(2.5 pi t), its rate and acceleration at t = 1 */
static void swing(double amplitude, double f[3])
{
  const double rate = 2.5 * pi;
  f[0] = amplitude * sin(rate);
  f[1] = amplitude * rate * cos(rate);
  f[2] = -rate * rate * f[0];
}

/* A free body whose centre follows x, y and z: the forces are those of Newton's law, with a weight
 * of 2 * 9.81 N. */
static void a_marker_follows_its_functions(void **state)
{
  (void)state;
  pol_model *model = read_model_text("{\"gravity\": [0, 0, -9.81], \"bodies\": [" BODY(
      "stone",
      ", \"angular_velocity\": [1, 2, 3]") "],"
                                           "\"markers\": [{\"name\": \"centre\", \"body\": "
                                           "\"stone\"}],"
                                           "\"drives\": [{\"name\": \"x\", \"marker\": \"centre\", "
                                           "\"coordinate\": \"x\","
                                           " \"function\": " SWING(
                                               "0.3") "},"
                                                      "{\"name\": \"y\", \"marker\": \"centre\", "
                                                      "\"coordinate\": \"y\","
                                                      " \"function\": {\"type\": \"polynomial\", "
                                                      "\"coefficients\": [0.1, 0.2, 0.3]}},"
                                                      "{\"name\": \"z\", \"marker\": \"centre\", "
                                                      "\"coordinate\": \"z\","
                                                      " \"function\": {\"type\": \"constant\", "
                                                      "\"value\": 0.5}}], " SIMULATION "}");
  double x[3];
  swing(0.3, x);
  const double position[3] = {x[0], 0.6, 0.5}, velocity[3] = {x[1], 0.8, 0.0};
  double errors[2];
  for (int fine = 0; fine < 2; fine++) {
    model->settings.step = fine ? 0.0025 : 0.005;
    pol_simulation *simulation = run(model);
    pol_body_state stone = body_at(simulation, 0);
    assert_near(stone.position, position, 3, 1e-12);
    assert_near(stone.velocity, velocity, 3, 1e-11);
    errors[fine] = fabs(channel(simulation, "x.force") - 2.0 * x[2]);
    assert_near(&(double){channel(simulation, "y.force")}, &(double){2.0 * 0.6}, 1, 1e-6);
    assert_near(&(double){channel(simulation, "z.force")}, &(double){2.0 * 9.81}, 1, 1e-6);
    pol_simulation_free(&simulation);
  }
  print_message("force of a marker's drive: error %.3g and %.3g N\n", errors[0], errors[1]);
  assert_near(&(double){log2(errors[0] / errors[1])}, &(double){2.0}, 1, 0.15);
  pol_model_free(&model);
}

/* A bead in the axes of a table that turns at 2 rad/s: r along x by a function, 0 along y and z.
 * Along x acts m (r'' - w^2 r), along y the Coriolis force 2 m w r'; the table's motor needs the
 * torque of the latter, r times it. */
static void a_bead_on_a_turntable_feels_coriolis(void **state)
{
  (void)state;
  pol_model *model = read_model_text("{\"bodies\": [" BODY("table", "") ", " BODY(
      "bead",
      ", \"position\": [0.1, 0, 0]") "],"
                                     "\"markers\": [{\"name\": \"slot\", \"body\": \"table\"}, "
                                     "{\"name\": \"hole\", \"body\": \"bead\"}],"
                                     "\"joints\": [{\"name\": \"axle\", \"type\": \"revolute\", "
                                     "\"bodies\": [\"ground\", \"table\"],"
                                     " \"point\": [0, 0, 0], \"axis\": [0, 0, 1]}],"
                                     "\"drives\": [{\"name\": \"motor\", \"joint\": \"axle\", "
                                     "\"coordinate\": \"rotation\","
                                     " \"function\": {\"type\": \"polynomial\", \"coefficients\": "
                                     "[0, 2]}},"
                                     "{\"name\": \"r\", \"marker\": \"hole\", \"reference\": "
                                     "\"slot\", \"coordinate\": \"x\","
                                     " \"function\": {\"type\": \"harmonic\", \"offset\": 0.1, "
                                     "\"amplitude\": 0.05, \"frequency\": 1.25,"
                                     "  \"phase\": 0.7}},"
                                     "{\"name\": \"side\", \"marker\": \"hole\", \"reference\": "
                                     "\"slot\", \"coordinate\": \"y\","
                                     " \"function\": {\"type\": \"constant\", \"value\": 0}},"
                                     "{\"name\": \"lift\", \"marker\": \"hole\", \"reference\": "
                                     "\"slot\", \"coordinate\": \"z\","
                                     " \"function\": {\"type\": \"constant\", \"value\": "
                                     "0}}], " SIMULATION "}");
  const double rate = 2.5 * pi, angle = rate + 0.7, w = 2.0, m = 2.0;
  const double r = 0.1 + 0.05 * sin(angle), r1 = 0.05 * rate * cos(angle);
  const double r2 = -0.05 * rate * rate * sin(angle);
  const double position[3] = {r * cos(w), r * sin(w), 0.0};
  model->settings.step = 1e-3;
  pol_simulation *simulation = run(model);
  pol_body_state bead = body_at(simulation, 1);
  assert_near(bead.position, position, 3, 1e-11);
  assert_near(&(double){channel(simulation, "r.force")}, &(double){m * (r2 - w * w * r)}, 1, 1e-4);
  assert_near(&(double){channel(simulation, "side.force")}, &(double){2.0 * m * w * r1}, 1, 1e-4);
  assert_near(&(double){channel(simulation, "lift.force")}, &(double){0.0}, 1, 1e-9);
  assert_near(&(double){channel(simulation, "motor.torque")}, &(double){2.0 * m * w * r1 * r}, 1,
              1e-4);
  pol_simulation_free(&simulation);
  pol_model_free(&model);
}

/* All three coordinates of a planar joint. */
static void a_planar_joint_is_driven(void **state)
{
  (void)state;
  pol_model *model = read_model_text("{\"bodies\": [" BODY(
      "plate",
      "") "],"
          "\"joints\": [{\"name\": \"table\", \"type\": \"planar\", \"bodies\": [\"ground\", "
          "\"plate\"],"
          " \"point\": [0, 0, 0], \"axis\": [0, 0, 1]}],"
          "\"drives\": [{\"name\": \"x\", \"joint\": \"table\", \"coordinate\": \"translation-x\", "
          "\"function\": " SWING(
              "0.2") "},"
                     "{\"name\": \"y\", \"joint\": \"table\", \"coordinate\": \"translation-y\", "
                     "\"function\": " SWING(
                         "-0.4") "},"
                                 "{\"name\": \"a\", \"joint\": \"table\", \"coordinate\": "
                                 "\"rotation\", \"function\": " SWING("0.6") "}], " SIMULATION "}");
  double x[3], y[3], a[3];
  swing(0.2, x);
  swing(-0.4, y);
  swing(0.6, a);
  model->settings.step = 1e-3;
  pol_simulation *simulation = run(model);
  pol_body_state plate = body_at(simulation, 0);
  const double position[3] = {x[0], y[0], 0.0};
  assert_near(plate.position, position, 3, 1e-11);
  assert_near(&plate.rotation[3], &(double){sin(a[0])}, 1, 1e-11);
  assert_near(&(double){channel(simulation, "x.force")}, &(double){2.0 * x[2]}, 1, 1e-3);
  assert_near(&(double){channel(simulation, "y.force")}, &(double){2.0 * y[2]}, 1, 1e-3);
  assert_near(&(double){channel(simulation, "a.torque")}, &(double){0.7 * a[2]}, 1, 1e-3);
  pol_simulation_free(&simulation);
  pol_model_free(&model);
}

/* Both angles of a universal joint: the body is turned by R = Rx(a) Ry(b).  With b = 0 the torque
 * about x is J a''. */
static void a_universal_joint_is_driven(void **state)
{
  (void)state;
  static const char text[] = "{\"bodies\": [" BODY(
      "cross", "") "],"
                   "\"joints\": [{\"name\": \"u\", \"type\": \"universal\", \"bodies\": "
                   "[\"ground\", \"cross\"],"
                   " \"point\": [0, 0, 0], \"axes\": [[1, 0, 0], [0, 1, 0]]}],"
                   "\"drives\": [{\"name\": \"a\", \"joint\": \"u\", \"coordinate\": "
                   "\"rotation-1\", \"function\": " SWING(
                       "%s") "},"
                             "{\"name\": \"b\", \"joint\": \"u\", \"coordinate\": \"rotation-2\", "
                             "\"function\": " SWING("%s") "}], " SIMULATION "}";
  static const char *const amplitudes[3][2] = {{"2.5", "-1.9"}, {"0.6", "0"}, {"0", "0.6"}};
  for (int k = 0; k < 3; k++) {
    char filled[1024];
    double a[3], b[3];
    snprintf(filled, sizeof filled, text, amplitudes[k][0], amplitudes[k][1]);
    pol_model *model = read_model_text(filled);
    swing(strtod(amplitudes[k][0], NULL), a);
    swing(strtod(amplitudes[k][1], NULL), b);
    model->settings.step = 1e-3;
    pol_simulation *simulation = run(model);
    pol_body_state cross = body_at(simulation, 0);
    const double ca = cos(a[0]), sa = sin(a[0]), cb = cos(b[0]), sb = sin(b[0]);
    const double R[9] = {cb, 0, sb, sa * sb, ca, -sa * cb, -ca * sb, sa, ca * cb};
    assert_near(cross.rotation, R, 9, 1e-10);
    if (k == 1)
      assert_near(&(double){channel(simulation, "a.torque")}, &(double){0.5 * a[2]}, 1, 1e-3);
    if (k == 2)
      assert_near(&(double){channel(simulation, "b.torque")}, &(double){0.6 * b[2]}, 1, 1e-3);
    pol_simulation_free(&simulation);
    pol_model_free(&model);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(scaled_forces_follow_their_function),
      cmocka_unit_test(a_force_follows_its_marker),
      cmocka_unit_test(a_spring_can_be_given_by_points),
      cmocka_unit_test(a_bushing_swings_like_an_oscillator),
      cmocka_unit_test(a_bushing_keeps_energy_and_momentum),
      cmocka_unit_test(an_own_spring_moves_like_the_built_in_one),
      cmocka_unit_test(failures_name_the_force),
      cmocka_unit_test(failures_at_the_start_name_the_force),
      cmocka_unit_test(a_marker_follows_its_functions),
      cmocka_unit_test(a_bead_on_a_turntable_feels_coriolis),
      cmocka_unit_test(a_planar_joint_is_driven),
      cmocka_unit_test(a_universal_joint_is_driven),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
