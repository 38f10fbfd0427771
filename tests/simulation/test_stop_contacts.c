/* Contacts with hard stops from the first impact to rest and beyond, against closed forms: a sweep
 * over methods, steps, restitutions and both ends of a slide and a hinge; rest under a load that
 * grows, changes sign, or passes through several stops; and restarts from a saved state. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulation/simulate.h"

static const double rest_speed = 0.05;

static double coordinate(const pol_simulation *simulation, int joint, double *rate)
{
  const pol_point at = pol_state_point(pol_simulation_state(simulation));
  double value;
  pol_formulation_joint_coordinate(pol_simulation_formulation(simulation), &at, joint, 0, &value,
                                   rate);
  return value;
}

static void release(pol_simulation *simulation, pol_model *model)
{
  pol_simulation_free(&simulation);
  pol_model_free(&model);
}

/* --- sweep ------------------------------------------------------------------------------------ */

/* A body that a constant load accelerates towards one end of its joint, and behind it the other. */
typedef struct fall {
  const char *method, *steps;
  int hinge, side, ends, bodies; /* side: 1 towards max; ends: 1 or 2 of them are limited */
  double height, behind, speed, acceleration, restitution, end;
} fall;

static pol_model *fall_model(const fall *f)
{
  char text[4000], body[300], limits[200], *to = text;
  char far[80] = "";
  if (f->ends > 1)
    snprintf(far, sizeof far, "\"%s\": %.17g, ", f->side > 0 ? "min" : "max", -f->side * f->behind);
  snprintf(limits, sizeof limits, "%s\"%s\": %.17g, \"restitution\": %.17g", far,
           f->side > 0 ? "max" : "min", f->side * f->height, f->restitution);
  to += sprintf(to, "{\"bodies\": [");
  for (int i = 0; i < f->bodies; i++) {
    snprintf(body, sizeof body,
             "%s{\"name\": \"b%d\", \"mass\": %d, \"inertia\": [3, 3, %d], \"position\": [%d, 0, "
             "0], \"%s\": [0, 0, %.17g]}",
             i ? ", " : "", i, 2 + i, 2 + i, i, f->hinge ? "angular_velocity" : "velocity",
             f->side * f->speed);
    to += sprintf(to, "%s", body);
  }
  to += sprintf(to, "], \"joints\": [");
  for (int i = 0; i < f->bodies; i++)
    to += sprintf(to,
                  "%s{\"name\": \"j%d\", \"type\": \"%s\", \"bodies\": [\"ground\", \"b%d\"], "
                  "\"point\": [%d, 0, 0], \"axis\": [0, 0, 1], \"limits\": {%s}}",
                  i ? ", " : "", i, f->hinge ? "revolute" : "prismatic", i, i, limits);
  to += sprintf(to, "], \"forces\": [");
  for (int i = 0; i < f->bodies; i++)
    to += sprintf(
        to, "%s{\"name\": \"load%d\", \"type\": \"%s\", \"body\": \"b%d\", \"%s\": [0, 0, %.17g]}",
        i ? ", " : "", i, f->hinge ? "torque" : "force", i, f->hinge ? "torque" : "force",
        (2 + i) * f->side * f->acceleration);
  sprintf(to, "], \"simulation\": {\"method\": \"%s\", %s, \"end\": %.17g}}", f->method, f->steps,
          f->end);
  return read_model_text(text);
}

/* The next contact of the exact motion: the distance s to the near end obeys s' = -u, u' = a, and
 * the far end is at s = width.  Returns which end it is, with the time and the rate into it. */
static int next_contact(const fall *f, double s, double u, double width, double *time, double *rate)
{
  const double a = f->acceleration, back = u * u - 2.0 * a * (width - s);
  if (f->ends > 1 && u < 0.0 && back > 0.0) {
    *rate = sqrt(back);
    *time = (-u - *rate) / a;
    return 1;
  }
  *rate = sqrt(u * u + 2.0 * a * s);
  *time = (*rate - u) / a;
  return 0;
}

/* Returns what is wrong with a run, NULL if nothing: each impact of the exact motion is reported,
 * at its time and with its rate, and no other; then the body rests at the limit. */
static const char *run_fall(const fall *f, double allowed, int *impacts)
{
  static char wrong[200];
  pol_model *model = fall_model(f);
  pol_simulation *s = start(model);
  const double width = f->height + f->behind;
  double distance = f->height, speed = f->speed, t = 0.0, time = 0.0, into = 0.0, rate = 0.0;
  int rests = f->height == 0.0 && f->speed == 0.0, seen[2] = {0, 0};
  *impacts = 0;
  wrong[0] = '\0';
  while (!pol_simulation_finished(s) && !wrong[0]) {
    int far = -1;
    if (!rests) far = next_contact(f, distance, speed, width, &time, &into);
    const pol_status status = pol_simulation_step(s);
    const double now = pol_simulation_state(s)->t;
    if (status != POL_OK) {
      snprintf(wrong, sizeof wrong, "t = %.9g: %.150s", now,
               pol_simulation_diagnostics(s)->message);
      break;
    }
    const int event = pol_simulation_event_index(s);
    if (event < 0) {
      while (!rests && into <= rest_speed && now > t + time) { /* too slow for an event */
        t += time;
        distance = far ? width : 0.0;
        speed = 0.0;
        rests = !far;
        far = next_contact(f, distance, speed, width, &time, &into);
      }
      if (!rests && now > t + time + allowed)
        snprintf(wrong, sizeof wrong, "no impact at %.9g until %.9g", t + time, now);
      for (int i = 0; i < f->bodies && rests; i++)
        if (fabs(coordinate(s, i, &rate) - f->side * f->height) > 1e-9 || fabs(rate) > 1e-7)
          snprintf(wrong, sizeof wrong, "t = %.9g: it does not rest: %.3g beyond, rate %.3g", now,
                   f->side * coordinate(s, i, &rate) - f->height, rate);
      continue;
    }
    const int joint = event / f->ends;
    if (rests || fabs(now - t - time) > allowed) {
      snprintf(wrong, sizeof wrong, "impact at %.9g instead of %.9g", now, rests ? -1.0 : t + time);
      break;
    }
    const double sign = far ? -f->side : f->side, value = coordinate(s, joint, &rate);
    const double limit = far ? -f->behind : f->height;
    double rebound = f->restitution * into;
    if (rebound < rest_speed) rebound = 0.0;
    if (fabs(f->side * value - limit) > 1e-9 || fabs(sign * rate + rebound) > 20.0 * allowed)
      snprintf(wrong, sizeof wrong, "t = %.9g: %.3g beyond, rate %.9g instead of %.9g", now,
               f->side * value - limit, sign * rate, -rebound);
    seen[joint]++;
    if (f->bodies > 1 && seen[0] != seen[1]) continue; /* both at the same time */
    ++*impacts;
    t += time;
    distance = far ? width : 0.0;
    speed = far ? rebound : -rebound;
    rests = !far && rebound == 0.0;
  }
  release(s, model);
  return wrong[0] ? wrong : NULL;
}

static void falls_end_in_rest(void **state)
{
  (void)state;
  static const char *const methods[] = {"geom1", "rattle", "auto", "newmark", "rattle", "geom1"};
  enum { RUNS = 300 };
  uint64_t seed = 5;
  int bad = 0, all = 0;
  for (int i = 0; i < RUNS; i++) {
    double x[8];
    char steps[80];
    random_numbers(&seed, x, 8);
    for (int k = 0; k < 8; k++) x[k] = fabs(x[k]);
    const int variable = i % 6 == 5 || i % 12 == 4;
    const double step = 1e-4 * pow(60.0, x[0]);
    snprintf(steps, sizeof steps, variable ? "\"rtol\": 1e-9, \"atol\": 1e-9" : "\"step\": %.17g",
             step);
    fall f = {.method = methods[i % 6],
              .steps = steps,
              .hinge = i / 6 % 2,
              .side = i / 12 % 2 ? 1 : -1,
              .ends = 1 + i / 24 % 2,
              .bodies = 1 + (i % 5 == 4)};
    f.height = 0.01 + x[1];
    f.behind = 0.05 + 0.3 * x[2];
    f.acceleration = 1.0 + 19.0 * x[3];
    f.restitution = i % 9 == 0 ? 0.0 : i % 9 == 1 ? 1.0 : x[4];
    f.speed = i % 3 ? 0.0 : 4.0 * (x[5] - 0.5);
    if (i % 7 == 3) f.height = 0.0, f.speed = i % 2 ? 0.0 : -2.0 * x[5]; /* starts in contact */
    f.end = fmax(0.3, 200.0 * step) + 2.0 * x[6];
    int impacts;
    const char *wrong = run_fall(&f, variable ? 1e-6 : 1e-7, &impacts);
    all += impacts;
    if (!wrong) continue;
    bad++;
    print_message(
        "run %d: %s, %s, %s %s, ends %d, bodies %d, height %g, speed %g, a %g, e %g: %s\n", i,
        f.method, f.steps, f.hinge ? "hinge" : "slide", f.side > 0 ? "max" : "min", f.ends,
        f.bodies, f.height, f.speed, f.acceleration, f.restitution, wrong);
  }
  print_message("%d runs, %d impacts\n", RUNS, all);
  assert_true(all > 3 * RUNS);
  assert_int_equal(bad, 0);
}

/* --- loads ------------------------------------------------------------------------------------ */

static const char *const methods[] = {"geom1", "rattle", "newmark", "auto"};
static const double steps[] = {0.0005, 0.002, 0.006};
enum { METHODS = 4, STEPS = 3 };
static const double mass = 2.0;

/* The stiffness of a stop by default: 100 Hz. */
static double usual_stiffness(void)
{
  const double w = 200.0 * acos(-1.0);
  return mass * w * w;
}

/* The force or torque of the stop of a joint. */
static double push(const pol_simulation *simulation, int joint)
{
  const pol_formulation *formulation = pol_simulation_formulation(simulation);
  const pol_mechanism *mechanism = pol_formulation_mechanism(formulation);
  const pol_point at = pol_state_point(pol_simulation_state(simulation));
  int k = 0;
  while (pol_mechanism_force(mechanism, k)->type != POL_JOINT_STOP ||
         pol_mechanism_force(mechanism, k)->joint != joint)
    k++;
  return pol_formulation_joint_spring_effort(formulation, &at, k);
}

/* A body on a slide, with more keys of its limits, and a force along it. */
static pol_model *slide_model(const char *method, double step, double end, const char *limits,
                              const char *force)
{
  char text[1500];
  snprintf(text, sizeof text,
           "{\"bodies\": [{\"name\": \"b\", \"mass\": %g, \"inertia\": [1, 1, 1]}], \"joints\": "
           "[{\"name\": \"s\", \"type\": \"prismatic\", \"bodies\": [\"ground\", \"b\"], "
           "\"point\": [0, 0, 0], \"axis\": [1, 0, 0], \"limits\": {\"restitution\": 0.4, %s}}], "
           "\"forces\": [%s], \"simulation\": {\"method\": \"%s\", \"step\": %g, \"end\": %g}}",
           mass, limits, force, method, step, end);
  return read_model_text(text);
}

/* From 10 N at the beginning of the contact to 30 N: the spring of the stop yields to the rest. */
static void rest_follows_the_load(void **state)
{
  (void)state;
  for (int i = 0; i < METHODS * STEPS; i++) {
    pol_model *model =
        slide_model(methods[i / STEPS], steps[i % STEPS], 1.0, "\"max\": 0",
                    "{\"name\": \"f\", \"type\": \"force\", \"body\": \"b\", \"force\": "
                    "[\"10 + 20*sin(pi*min(t, 0.5))^2\", 0, 0]}");
    pol_simulation *s = start(model);
    double rate;
    assert_near(&(double){push(s, 0)}, &(double){-10.0}, 1, 1e-6);
    while (!pol_simulation_finished(s)) {
      take_step(s);
      assert_int_equal(pol_simulation_event_index(s), -1);
    }
    const double depth = 20.0 / usual_stiffness(), value = coordinate(s, 0, &rate);
    assert_near(&value, &depth, 1, 1e-8);
    assert_near(&rate, &(double){0.0}, 1, 1e-5);
    assert_near(&(double){push(s, 0)}, &(double){-30.0}, 1, 1e-2);
    release(s, model);
  }
}

/* F = 8 cos 2t presses until t0 = pi/4 and pulls then: x = pi/2 - cos 2t - 2t.  The preload moves
 * the body by F(0)/k before: the error decreases with the stiffness. */
static void loads_that_pull_release(void **state)
{
  (void)state;
  for (int i = 0; i < 2 * METHODS; i++) {
    const double factor = i % 2 ? 100.0 : 1.0, stiffness = factor * usual_stiffness();
    char limits[100];
    snprintf(limits, sizeof limits, "\"max\": 0, \"stiffness\": %.17g", stiffness);
    pol_model *model = slide_model(methods[i / 2], 0.0005, 1.5, limits,
                                   "{\"name\": \"f\", \"type\": \"force\", \"body\": \"b\", "
                                   "\"force\": [\"8*cos(2*t)\", 0, 0]}");
    pol_simulation *s = start(model);
    double rate, worst = 0.0;
    while (!pol_simulation_finished(s)) {
      take_step(s);
      assert_int_equal(pol_simulation_event_index(s), -1);
      const double t = pol_simulation_state(s)->t, pi = acos(-1.0);
      const double x = t < 0.25 * pi ? 0.0 : 0.5 * pi - cos(2.0 * t) - 2.0 * t;
      worst = fmax(worst, fabs(coordinate(s, 0, &rate) - x));
      assert_true(push(s, 0) <= 1e-9);
    }
    assert_true(worst < 4.0 * 8.0 / stiffness + 4e-7);
    release(s, model);
  }
}

/* A servo that wants to go on: after the bounces it holds the body at the stop. */
static void motors_push_against_a_stop(void **state)
{
  (void)state;
  for (int i = 0; i < METHODS * STEPS; i++) {
    pol_model *model =
        slide_model(methods[i / STEPS], steps[i % STEPS], 2.0, "\"max\": 0.1, \"min\": -0.1",
                    "{\"name\": \"motor\", \"type\": \"joint-spring\", \"joint\": \"s\", "
                    "\"stiffness\": 50, \"damping\": 2, \"rest\": 0.3}");
    pol_simulation *s = start(model);
    double rate;
    int impacts = 0;
    while (!pol_simulation_finished(s)) {
      take_step(s);
      impacts += pol_simulation_event_index(s) >= 0;
      assert_true(coordinate(s, 0, &rate) < 0.1 + 1e-9);
    }
    const double value = coordinate(s, 0, &rate);
    assert_true(impacts >= 3);
    assert_near(&value, &(double){0.1}, 1, 1e-9);
    assert_near(&rate, &(double){0.0}, 1, 1e-9);
    assert_near(&(double){push(s, 0)}, &(double){-10.0}, 1, 1e-4);
    release(s, model);
  }
}

/* Two carts that a force presses onto each other and onto a wall, which both stops carry from the
 * start on; then a third stop that carries nothing. */
static void stops_in_a_row_share_the_load(void **state)
{
  (void)state;
  for (int i = 0; i < METHODS * STEPS; i++) {
    char text[2000];
    snprintf(text, sizeof text,
             "{\"bodies\": [{\"name\": \"a\", \"mass\": 2, \"inertia\": [1, 1, 1]}, {\"name\": "
             "\"b\", \"mass\": 3, \"inertia\": [1, 1, 1], \"position\": [-1, 0, 0]}], \"joints\": "
             "[{\"name\": \"wall\", \"type\": \"prismatic\", \"bodies\": [\"ground\", \"a\"], "
             "\"point\": [0, 0, 0], \"axis\": [1, 0, 0], \"limits\": {\"max\": 0, \"restitution\": "
             "0.5}}, {\"name\": \"buffer\", \"type\": \"prismatic\", \"bodies\": [\"a\", \"b\"], "
             "\"point\": [0, 0, 0], \"axis\": [1, 0, 0], \"limits\": {\"min\": -0.5, \"max\": 0, "
             "\"restitution\": 0.5}}], \"forces\": [{\"name\": \"f\", \"type\": \"force\", "
             "\"body\": \"b\", \"force\": [40, 0, 0]}, {\"name\": \"g\", \"type\": \"force\", "
             "\"body\": \"a\", \"force\": [-15, 0, 0]}], \"simulation\": {\"method\": \"%s\", "
             "\"step\": %g, \"end\": 0.5}}",
             methods[i / STEPS], steps[i % STEPS]);
    pol_model *model = read_model_text(text);
    pol_simulation *s = start(model);
    while (!pol_simulation_finished(s)) {
      const double zeros[2] = {0.0, 0.0};
      double rate, values[2];
      assert_near(&(double){push(s, 0)}, &(double){-25.0}, 1, 1e-4);
      assert_near(&(double){push(s, 1)}, &(double){-40.0}, 1, 1e-4);
      take_step(s);
      assert_int_equal(pol_simulation_event_index(s), -1);
      for (int k = 0; k < 2; k++) values[k] = coordinate(s, k, &rate);
      assert_near(values, zeros, 2, 1e-9);
    }
    release(s, model);
  }
}

/* On a turntable a slider rests on its outer stop by the centrifugal force m w^2 r alone. */
static void stops_carry_centrifugal_forces(void **state)
{
  (void)state;
  for (int i = 0; i < METHODS; i++) {
    char text[1500];
    snprintf(text, sizeof text,
             "{\"bodies\": [{\"name\": \"table\", \"mass\": 5, \"inertia\": [300, 300, 400], "
             "\"angular_velocity\": [0, 0, 3]}, {\"name\": \"b\", \"mass\": 2, \"inertia\": [1, 1, "
             "1], \"position\": [0.5, 0, 0], \"velocity\": [0, 1.5, 0], \"angular_velocity\": [0, "
             "0, 3]}], \"joints\": [{\"name\": \"pin\", \"type\": \"revolute\", \"bodies\": "
             "[\"ground\", \"table\"], \"point\": [0, 0, 0], \"axis\": [0, 0, 1]}, {\"name\": "
             "\"slot\", \"type\": \"prismatic\", \"bodies\": [\"table\", \"b\"], \"point\": [0, 0, "
             "0], \"axis\": [1, 0, 0], \"limits\": {\"max\": 0, \"restitution\": 0.5}}], "
             "\"simulation\": {\"method\": \"%s\", \"step\": 0.002, \"end\": 1}}",
             methods[i]);
    pol_model *model = read_model_text(text);
    pol_simulation *s = start(model);
    double rate;
    assert_near(&(double){push(s, 1)}, &(double){-2.0 * 9.0 * 0.5}, 1, 1e-6);
    while (!pol_simulation_finished(s)) take_step(s);
    assert_near(&(double){coordinate(s, 1, &rate)}, &(double){0.0}, 1, 1e-9);
    release(s, model);
  }
}

/* Slower than the rest speed too. */
static void slow_drives_must_not_lead_through(void **state)
{
  (void)state;
  pol_model *model = read_model_text(
      "{\"bodies\": [{\"name\": \"b\", \"mass\": 2, \"inertia\": [1, 1, 1]}], \"joints\": "
      "[{\"name\": \"s\", \"type\": \"prismatic\", \"bodies\": [\"ground\", \"b\"], \"point\": "
      "[0, 0, 0], \"axis\": [0, 0, 1], \"limits\": {\"max\": 0.01, \"restitution\": 0.5}}], "
      "\"drives\": [{\"name\": \"motor\", \"joint\": \"s\", \"coordinate\": \"translation\", "
      "\"function\": \"0.02*t\"}], \"simulation\": {\"step\": 0.001, \"end\": 1}}");
  pol_simulation *s = start(model);
  pol_status status = POL_OK;
  while (status == POL_OK && !pol_simulation_finished(s)) status = pol_simulation_step(s);
  assert_int_equal(status, POL_INCONSISTENT);
  assert_non_null(strstr(pol_simulation_diagnostics(s)->message, "drive 'motor'"));
  release(s, model);
}

/* --- saved states ----------------------------------------------------------------------------- */

/* The contact is a part of the state: runs continued in flight and at rest end in the same bits. */
static void contacts_are_saved(void **state)
{
  (void)state;
  const char *const each[] = {"\"step\": 0.003", "\"rtol\": 1e-7"};
  for (int i = 0; i < 4; i++) {
    const fall f = {.method = i / 2 ? "rattle" : "geom1",
                    .steps = each[i % 2],
                    .side = -1,
                    .ends = 1,
                    .bodies = 1,
                    .height = 0.1,
                    .acceleration = 9.81,
                    .restitution = 0.5,
                    .end = 1.0};
    pol_model *model = fall_model(&f);
    pol_simulation *s = start(model);
    enum { SAVED = 10 };
    void *bytes[SAVED];
    size_t sizes[SAVED];
    int saved = 0;
    for (int n = 0; !pol_simulation_finished(s); n++) {
      take_step(s);
      if (n % (i % 2 ? 3 : 33) != 2 || saved == SAVED || pol_simulation_finished(s)) continue;
      assert_int_equal(pol_simulation_save(s, NULL, &sizes[saved]), POL_OK);
      bytes[saved] = malloc(sizes[saved]);
      assert_int_equal(pol_simulation_save(s, bytes[saved], &sizes[saved]), POL_OK);
      saved++;
    }
    assert_true(saved > 2);
    for (int k = 0; k < saved; k++) {
      char message[200];
      pol_simulation *again = start(model);
      assert_int_equal(pol_simulation_load(again, bytes[k], sizes[k], message, sizeof message),
                       POL_OK);
      while (!pol_simulation_finished(again)) take_step(again);
      assert_memory_equal(pol_simulation_state(s)->q, pol_simulation_state(again)->q,
                          7 * sizeof(double));
      assert_memory_equal(pol_simulation_state(s)->v, pol_simulation_state(again)->v,
                          6 * sizeof(double));
      assert_true(push(s, 0) == push(again, 0) && push(s, 0) > 1.0);
      pol_simulation_free(&again);
      free(bytes[k]);
    }
    release(s, model);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(falls_end_in_rest),
      cmocka_unit_test(rest_follows_the_load),
      cmocka_unit_test(loads_that_pull_release),
      cmocka_unit_test(motors_push_against_a_stop),
      cmocka_unit_test(stops_in_a_row_share_the_load),
      cmocka_unit_test(stops_carry_centrifugal_forces),
      cmocka_unit_test(slow_drives_must_not_lead_through),
      cmocka_unit_test(contacts_are_saved),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
