/* The example models against what mechanics says of them: the period of a pendulum (elliptic
 * integral), a double pendulum in minimal coordinates, the precession of a gyroscope, the height
 * and the forces of a Stewart platform, the equilibrium of a suspension, the momentum of a chain,
 * the published state of a squeezer, momentum and energy of a governor, a
 * door with closer, friction and stop, the period of stick and slip.  All keep their
 * constraints; the energy of those that lose none changes with the square of the step. */
#include <stdio.h>
#include <string.h>

#include "simulation/simulate.h"

#define EXAMPLES POLHODE_SOURCE_DIR "/models/examples/"

enum { MAX_CHANNELS = 1000 };

static const double pi = 3.14159265358979323846, gravity = 9.81;

typedef struct run {
  pol_model *model;
  pol_simulation *simulation;
  pol_record *record;
  double row[MAX_CHANNELS];
} run;

/* Ready at t = 0.  Step and end are those of the file where they are given as 0. */
static void begin(run *r, const char *path, double step, double end)
{
  r->model = read_model(path);
  if (step > 0.0) r->model->settings.step = step;
  if (end > 0.0) r->model->settings.end = end;
  r->simulation = start(r->model);
  assert_int_equal(pol_record_create(&r->record, r->simulation), POL_OK);
  assert_true(pol_record_count(r->record) <= MAX_CHANNELS);
  pol_record_row(r->record, r->row);
}

/* One step; 0 after the last one. */
static int advance(run *r)
{
  if (pol_simulation_finished(r->simulation)) return 0;
  if (pol_simulation_step(r->simulation))
    fail_msg("%s", pol_simulation_diagnostics(r->simulation)->message);
  pol_record_row(r->record, r->row);
  return 1;
}

/* Frees the run, after a look at what every run must keep. */
static void finish(run *r)
{
  const pol_summary *summary = pol_simulation_summary(r->simulation);
  const pol_settings *settings = &r->model->settings;
  /* steps of variable size solve their equations to a share of the tolerance */
  double most = settings->variable ? 0.01 * settings->options.control.rtol : 1e-10;
  assert_true(summary->max_position_residual < most);
  if (!settings->variable && settings->options.index == POL_INDEX_2_STABILIZED)
    assert_true(summary->max_velocity_residual < 1e-10);
  pol_record_free(&r->record);
  pol_simulation_free(&r->simulation);
  pol_model_free(&r->model);
}

/* The place of a channel, and the value there now. */
static int channel(const run *r, const char *name)
{
  for (int i = 0; i < pol_record_count(r->record); i++)
    if (strcmp(pol_record_channel(r->record, i)->name, name) == 0) return i;
  fail_msg("no channel %s", name);
  return -1;
}

static double value(const run *r, const char *name)
{
  return r->row[channel(r, name)];
}

static double total_mass(const pol_model *model)
{
  double mass = 0.0;
  for (int i = 0; i < pol_mechanism_num_bodies(model->mechanism); i++)
    mass += pol_mechanism_body(model->mechanism, i)->mass;
  return mass;
}

/* --- energy ----------------------------------------------------------------------------------- */

static double energy_drift(const char *path, double step, double end)
{
  run r;
  begin(&r, path, step, end);
  while (advance(&r)) continue;
  double drift = pol_simulation_summary(r.simulation)->max_energy_drift;
  finish(&r);
  return drift;
}

static void energy_drifts_with_the_square_of_the_step(void **state)
{
  (void)state;
  static const struct {
    const char *path;
    double step, end;
    double drift; /* allowed at this step, J */
  } cases[] = {
      {EXAMPLES "pendulum.json", 1e-3, 2.0, 5e-5},
      {EXAMPLES "double_pendulum.json", 5e-4, 2.0, 5e-4},
      {EXAMPLES "gyroscope.json", 2e-4, 0.2, 1e-7},
      {EXAMPLES "chain_20.json", 1e-3, 0.4, 5e-5},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    double coarse = energy_drift(cases[k].path, cases[k].step, cases[k].end);
    double fine = energy_drift(cases[k].path, 0.5 * cases[k].step, cases[k].end);
    print_message("%s: energy drift %.3g and %.3g J, order %.3f\n", strrchr(cases[k].path, '/') + 1,
                  coarse, fine, log2(coarse / fine));
    assert_true(coarse < cases[k].drift);
    assert_near(&(double){log2(coarse / fine)}, &(double){2.0}, 1, 0.1);
  }
}

/* --- pendulums -------------------------------------------------------------------------------- */

/* Let go from the horizontal, T = 4 sqrt(2 L / (3 g)) K(sin(pi/4)).  After a quarter of it the rod
 * hangs straight down, where an error of the period shows most. */
static void the_pendulum_has_its_period(void **state)
{
  (void)state;
  const double K = 1.8540746773013719, quarter = sqrt(2.0 / (3.0 * gravity)) * K;
  double error[2];
  for (int fine = 0; fine < 2; fine++) {
    run r;
    begin(&r, EXAMPLES "pendulum.json", quarter / (fine ? 800 : 400), quarter);
    while (advance(&r)) continue;
    error[fine] = fabs(value(&r, "rod.position.x"));
    finish(&r);
  }
  print_message("pendulum: %.3g and %.3g m from the lowest point\n", error[0], error[1]);
  assert_true(error[0] < 1e-5);
  assert_near(&(double){log2(error[0] / error[1])}, &(double){2.0}, 1, 0.05);
}

/* y = (a, b, a', b'): angles of two thin rods below the x axis, of unit mass and length.
 * Lagrange's equations: 4/3 a'' + 1/2 c b'' + 1/2 s b'^2 = 3/2 g cos a,
 * 1/2 c a'' + 1/3 b'' - 1/2 s a'^2 = 1/2 g cos b, with c, s of a - b. */
static void double_pendulum_rate(const double y[4], double rate[4])
{
  double c = 0.5 * cos(y[0] - y[1]), s = 0.5 * sin(y[0] - y[1]);
  double f = 1.5 * gravity * cos(y[0]) - s * y[3] * y[3];
  double g = 0.5 * gravity * cos(y[1]) + s * y[2] * y[2];
  double determinant = 4.0 / 9.0 - c * c;
  rate[0] = y[2];
  rate[1] = y[3];
  rate[2] = (f / 3.0 - c * g) / determinant;
  rate[3] = (4.0 / 3.0 * g - c * f) / determinant;
}

/* The classical Runge-Kutta method. */
static void double_pendulum_angles(double end, int steps, double y[4])
{
  static const double share[4] = {0.5, 0.5, 1.0, 0.0}, weight[4] = {1.0, 2.0, 2.0, 1.0};
  double h = end / steps;
  for (int n = 0; n < steps; n++) {
    double from[4], at[4], k[4];
    memcpy(from, y, sizeof from);
    memcpy(at, y, sizeof at);
    for (int stage = 0; stage < 4; stage++) {
      double_pendulum_rate(at, k);
      for (int i = 0; i < 4; i++) {
        y[i] += h / 6.0 * weight[stage] * k[i];
        at[i] = from[i] + share[stage] * h * k[i];
      }
    }
  }
}

static void the_double_pendulum_follows_its_equations(void **state)
{
  (void)state;
  double y[4] = {0}, error[2];
  double_pendulum_angles(1.0, 20000, y);
  for (int fine = 0; fine < 2; fine++) {
    run r;
    begin(&r, EXAMPLES "double_pendulum.json", fine ? 5e-4 : 1e-3, 1.0);
    while (advance(&r)) continue;
    double dx = value(&r, "lower.position.x") - (cos(y[0]) + 0.5 * cos(y[1]));
    double dz = value(&r, "lower.position.z") + (sin(y[0]) + 0.5 * sin(y[1]));
    error[fine] = hypot(dx, dz);
    finish(&r);
  }
  print_message("double pendulum: errors %.3g and %.3g m\n", error[0], error[1]);
  assert_true(error[0] < 1e-4);
  assert_near(&(double){log2(error[0] / error[1])}, &(double){2.0}, 1, 0.05);
}

/* --- gyroscope -------------------------------------------------------------------------------- */

/* Torque of the weight / spin angular momentum; the nutation stays small. */
static void the_gyroscope_precesses(void **state)
{
  (void)state;
  const double expected = 0.1 * gravity * 0.1 / (2e-3 * 300.0);
  double lowest = 0.0;
  run r;
  begin(&r, EXAMPLES "gyroscope.json", 0.0, 0.0);
  while (advance(&r)) lowest = fmin(lowest, value(&r, "weight.position.z"));
  /* the weight starts on the y axis */
  double angle = atan2(-value(&r, "weight.position.x"), value(&r, "weight.position.y"));
  double ratio = angle / value(&r, "t") / expected;
  print_message("gyroscope: precession %.5f of the expected, sinks %.3g m\n", ratio, -lowest);
  assert_near(&ratio, &(double){1.0}, 1, 0.005);
  assert_true(lowest > -1e-3);
  finish(&r);
}

/* --- Stewart platform ------------------------------------------------------------------------- */

/* With legs of the length L over the horizontal distance d, the platform is at z = sqrt(L^2 - d^2).
 * At rest the virtual work of the six forces F is that of the weights:
 * 6 F z / L = g (m_p + 6 m_c a d^2 / L^3 + 6 m_q (1 - a d^2 / L^3)), where the centres of mass of
 * cylinder (m_c) and piston (m_q) are at the way a from the leg's lower and upper end. */
static void the_stewart_platform_rises_upright(void **state)
{
  (void)state;
  const double apart = 40.0 * pi / 180.0, a = 0.3;
  const double d2 = 1.0 + 0.36 - 1.2 * cos(apart), first = sqrt(1.0 + d2);
  const pol_model *model;
  double z = 0.0, length = 0.0;
  run r;
  begin(&r, EXAMPLES "stewart_platform.json", 0.0, 0.0);
  model = r.model;
  int height = channel(&r, "platform.position.z");
  assert_near(&r.row[height], &(double){1.0}, 1, 1e-9);
  while (advance(&r)) {
    /* the drives' quintic step from 0 to 0.2 m between 0.1 and 1.1 s */
    double s = fmin(fmax(r.row[0] - 0.1, 0.0), 1.0);
    length = first + 0.2 * s * s * s * (10.0 + s * (6.0 * s - 15.0));
    z = sqrt(length * length - d2);
    assert_near(&r.row[height], &z, 1, 1e-9);
    assert_near(&(double){value(&r, "platform.quaternion.w")}, &(double){1.0}, 1, 1e-12);
  }
  double platform = pol_mechanism_body(model->mechanism, 0)->mass;
  double cylinder = pol_mechanism_body(model->mechanism, 1)->mass;
  double piston = pol_mechanism_body(model->mechanism, 2)->mass;
  double lever = a * d2 / (length * length * length);
  double weight = gravity * (platform + 6.0 * cylinder * lever + 6.0 * piston * (1.0 - lever));
  for (int k = 0; k < 6; k++) {
    char name[] = "actuator 1.force";
    name[9] = (char)('1' + k);
    assert_near(&(double){value(&r, name)}, &(double){weight * length / (6.0 * z)}, 1, 1e-5);
  }
  finish(&r);
}

/* --- suspension ------------------------------------------------------------------------------- */

/* At rest the tyre carries all, since the guide carries nothing along z; and the moments on the
 * lower arm about its hinge, which is along x, balance. */
static void the_suspension_settles(void **state)
{
  (void)state;
  run r;
  begin(&r, EXAMPLES "suspension.json", 0.0, 8.0);
  while (advance(&r)) continue;
  double weight = total_mass(r.model) * gravity;
  assert_near(&(double){fabs(value(&r, "chassis.velocity.z"))}, &(double){0.0}, 1, 1e-6);
  assert_near(&(double){value(&r, "tyre.force.z")}, &weight, 1, 1e-6 * weight);
  assert_near(&(double){value(&r, "wheel.angular_velocity.y")}, &(double){50.0}, 1, 1e-3);

  /* arm from the hinge (0, 0.3, 0.2 at first) to its centre, and the unit vector along the arm */
  double y = value(&r, "lower arm.position.y"), z = value(&r, "lower arm.position.z");
  double hinge[2] = {0.3, 0.2 + value(&r, "chassis.position.z") - 0.5};
  double along[2] = {(y - hinge[0]) / 0.18, (z - hinge[1]) / 0.18};
  assert_near(&(double){hypot(along[0], along[1])}, &(double){1.0}, 1, 1e-10);
  /* the strut's lower end: 0.28 along the arm, 0.02 above it; the ball: 0.4 along it */
  double strut[2] = {0.28 * along[0] - 0.02 * along[1], 0.28 * along[1] + 0.02 * along[0]};
  double ball[2] = {0.4 * along[0], 0.4 * along[1]};
  double moment = strut[0] * value(&r, "strut.force.z") - strut[1] * value(&r, "strut.force.y") -
                  ball[0] * value(&r, "lower ball.force.z") +
                  ball[1] * value(&r, "lower ball.force.y") - (y - hinge[0]) * 4.0 * gravity;
  print_message("suspension: tyre %.6f of %.6f N, moment %.3g N m\n", value(&r, "tyre.force.z"),
                weight, moment);
  assert_true(fabs(value(&r, "strut.force.z")) > 3000.0);
  assert_near(&moment, &(double){0.0}, 1, 1e-3);
  finish(&r);
}

/* --- chain ------------------------------------------------------------------------------------ */

/* Momentum of the chain minus the impulse (trapezoidal rule) of its weight and of its first joint,
 * along z, at the end. */
static double chain_imbalance(double step)
{
  double impulse = 0.0, momentum = 0.0;
  run r;
  begin(&r, EXAMPLES "chain_20.json", step, 0.4);
  int force = channel(&r, "joint 1.force.z");
  double weight = total_mass(r.model) * gravity, before = r.row[force];
  while (advance(&r)) {
    impulse += step * (0.5 * (before + r.row[force]) - weight);
    before = r.row[force];
  }
  for (int i = 0; i < 20; i++) {
    char name[40];
    snprintf(name, sizeof name, "link %d.velocity.z", i + 1);
    momentum += pol_mechanism_body(r.model->mechanism, i)->mass * value(&r, name);
  }
  assert_true(fabs(momentum) > 1.0);
  finish(&r);
  return fabs(momentum - impulse);
}

static void the_chain_keeps_its_momentum(void **state)
{
  (void)state;
  pol_model *model = read_model(EXAMPLES "chain_20.json");
  assert_int_equal(pol_mechanism_num_bodies(model->mechanism), 20);
  assert_int_equal(pol_mechanism_num_joints(model->mechanism), 20);
  for (int i = 0; i < 20; i++) {
    const pol_body *link = pol_mechanism_body(model->mechanism, i);
    const double middle[3] = {0.1 * (i + 0.5), 0.0, 0.0};
    assert_near(link->position, middle, 3, 1e-12);
    assert_near(&link->mass, &(double){0.05}, 1, 0.0);
  }
  pol_model_free(&model);
  double coarse = chain_imbalance(1e-3), fine = chain_imbalance(5e-4);
  print_message("chain: momentum off by %.3g and %.3g N s\n", coarse, fine);
  assert_true(coarse < 1e-4);
  assert_true(coarse / fine > 3.5);
}

/* --- variable steps --------------------------------------------------------------------------- */

/* Runs with these tolerances to the end. */
static void run_within(run *r, const char *path, double tolerance)
{
  pol_model *model = read_model(path);
  pol_control *control = &model->settings.options.control;
  control->rtol = control->atol_translation = control->atol_rotation = tolerance;
  r->model = model;
  r->simulation = start(model);
  assert_int_equal(pol_record_create(&r->record, r->simulation), POL_OK);
  assert_true(pol_record_count(r->record) <= MAX_CHANNELS);
  while (advance(r)) continue;
}

/* Angles of the seven bodies at t = 0.03, of Andrews' squeezer in minimal coordinates (Hairer and
 * Wanner, Solving ODEs II, VII.7; IVP test set): those of hinges on the ground with all turns, the
 * others by a body's axes. */
static void the_squeezer_reaches_its_published_state(void **state)
{
  (void)state;
  static const struct {
    const char *channel;
    double start, end;
  } angles[] = {{"O.angle", -0.0617138900142764, 15.81077119629904},
                {"B.angle", 0.455279819163070, 0.04082224013073101},
                {"A upper.angle", 0.487364979543842, 0.5244099658805304},
                {"A lower.angle", 1.230547444549821, 1.048080741042263}};
  double error[2];
  for (int fine = 0; fine < 2; fine++) {
    run r;
    run_within(&r, EXAMPLES "squeezer.json", fine ? 1e-9 : 1e-7);
    error[fine] = 0.0;
    for (size_t k = 0; k < sizeof angles / sizeof *angles; k++)
      error[fine] =
          fmax(error[fine], fabs(value(&r, angles[k].channel) + angles[k].start - angles[k].end));
    finish(&r);
  }
  print_message("squeezer: %.3g and %.3g rad off\n", error[0], error[1]);
  assert_true(error[0] < 2e-3 && error[1] < 1e-4);
}

/* The angular momentum of the governor about its spindle is constant, and the energy that it loses
 * is that of the damper; both to the tolerance. */
static void the_governor_keeps_its_balances(void **state)
{
  (void)state;
  double momentum[2], energy[2];
  for (int fine = 0; fine < 2; fine++) {
    run r;
    run_within(&r, EXAMPLES "governor.json", fine ? 1e-8 : 1e-6);
    const pol_summary *summary = pol_simulation_summary(r.simulation);
    assert_int_equal(summary->num_invariants, 1);
    assert_true(summary->work.dissipated > 0.3);
    momentum[fine] = summary->invariants[0].max_drift;
    energy[fine] = fabs(summary->energy_balance);
    finish(&r);
  }
  print_message("governor: momentum %.3g and %.3g, energy %.3g and %.3g\n", momentum[0],
                momentum[1], energy[0], energy[1]);
  assert_true(momentum[0] < 1e-4 && momentum[1] < 5e-6);
  assert_true(energy[0] < 1e-3 && energy[1] < 5e-5);
}

/* J x'' + c x' + k x = 0 from x, x' after the time t. */
static void swing(double J, double c, double k, double t, double *x, double *u)
{
  const double d = 0.5 * c / J, w = sqrt(k / J - d * d), a = *x, b = (*u + d * a) / w;
  *x = exp(-d * t) * (a * cos(w * t) + b * sin(w * t));
  *u = exp(-d * t) * ((b * w - d * a) * cos(w * t) - (a * w + d * b) * sin(w * t));
}

/* Friction shifts the relaxed angle of the closer by its level / k, one way while the door opens
 * and the other way while it closes; at last the stop balances the closer. */
static void the_door_falls_shut(void **state)
{
  (void)state;
  const double J = 20.0 * (0.81 + 0.0016) / 12.0 + 20.0 * 0.45 * 0.45, k = 8.0, c = 4.0;
  const double opening = 0.5 + 0.4 / k, closing = 0.5 - 0.4 / k;
  const double d = 0.5 * c / J, w = sqrt(k / J - d * d);
  double x = opening, u = 2.0, widest = 0.0, contact = 0.0;
  /* open to u = 0: tan(w t) = u w / (d u + k x / J) */
  swing(J, c, k, atan2(2.0 * w, d * 2.0 + k / J * opening) / w, &x, &u);
  assert_true(fabs(u) < 1e-12);
  const double peak = x - opening;
  /* closed at x = closing */
  double t = 0.0, at, speed = 0.0;
  do {
    t += 1e-4;
    at = peak + closing;
    speed = 0.0;
    swing(J, c, k, t, &at, &speed);
  } while (at > closing);
  t += atan2(2.0 * w, d * 2.0 + k / J * opening) / w;
  run r;
  begin(&r, EXAMPLES "door.json", 0.0, 0.0);
  while (advance(&r)) {
    widest = fmax(widest, value(&r, "hinge.angle"));
    if (contact == 0.0 && value(&r, "hinge.stop.torque") > 0.0) {
      contact = value(&r, "t");
      assert_near(&r.row[channel(&r, "hinge.rate")], &speed, 1, 5e-3);
    }
  }
  assert_near(&widest, &peak, 1, 1e-4);
  assert_near(&contact, &t, 1, 3e-3);
  assert_near(&r.row[channel(&r, "hinge.angle")], &(double){-4.0 / 20008.0}, 1, 1e-9);
  assert_near(&r.row[channel(&r, "hinge.rate")], &(double){0.0}, 1, 1e-9);
  finish(&r);
}

/* Coulomb friction with a static coefficient: stick for 2 D / v, slip for 2 (pi - atan(D w / v)) /
 * w with D = (mu_s - mu_k) g / w^2; the regularised law is within some parts of a thousand. */
static void the_block_sticks_and_slips(void **state)
{
  (void)state;
  const double w = 10.0, v = 0.1, D = 0.1 * gravity / (w * w);
  const double period = 2.0 * D / v + 2.0 * (pi - atan(D * w / v)) / w;
  double before = 0.0, first = 0.0, last = 0.0, highest = 0.0, lowest = 1.0;
  int slips = 0;
  run r;
  begin(&r, EXAMPLES "stick_slip.json", 0.0, 0.0);
  while (advance(&r)) {
    const double u = value(&r, "block.velocity.x"), t = value(&r, "t"),
                 x = value(&r, "block.position.x");
    if (before > 0.0 && u <= 0.0) {
      if (slips == 0) first = t;
      last = t;
      slips++;
    }
    before = u;
    highest = fmax(highest, x);
    if (slips > 0) lowest = fmin(lowest, x);
  }
  assert_int_equal(slips, 6);
  assert_near(&(double){(last - first) / (slips - 1)}, &period, 1, 2e-3);
  assert_near(&highest, &(double){0.3 * gravity / (w * w) + hypot(D, v / w)}, 1, 1e-4);
  assert_near(&lowest, &(double){0.3 * gravity / (w * w) - hypot(D, v / w)}, 1, 1e-4);
  finish(&r);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(energy_drifts_with_the_square_of_the_step),
      cmocka_unit_test(the_pendulum_has_its_period),
      cmocka_unit_test(the_double_pendulum_follows_its_equations),
      cmocka_unit_test(the_gyroscope_precesses),
      cmocka_unit_test(the_stewart_platform_rises_upright),
      cmocka_unit_test(the_suspension_settles),
      cmocka_unit_test(the_chain_keeps_its_momentum),
      cmocka_unit_test(the_squeezer_reaches_its_published_state),
      cmocka_unit_test(the_governor_keeps_its_balances),
      cmocka_unit_test(the_door_falls_shut),
      cmocka_unit_test(the_block_sticks_and_slips),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
