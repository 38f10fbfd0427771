/* Events of model files: times against closed solutions, what a reset sets in all formulations, and
 * rules that are wrong. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "simulation/simulate.h"

#define BALL POLHODE_SOURCE_DIR "/models/examples/bouncing_ball.json"

/* To the next event; 0 at the end. */
static int go_on(pol_simulation *simulation)
{
  while (!pol_simulation_finished(simulation)) {
    take_step(simulation);
    if (pol_simulation_event_index(simulation) >= 0) return 1;
  }
  return 0;
}

static pol_body_state body_of(const pol_simulation *simulation)
{
  const pol_state *state = pol_simulation_state(simulation);
  pol_body_state result;
  pol_formulation_body_state(pol_simulation_formulation(simulation), state->q, state->v, 0,
                             &result);
  return result;
}

/* Formulations of a body that spins fast: the angles of tait-bryan would lock. */
static const pol_formulation_kind kinds[] = {POL_SO3XR3,          POL_SO3XR3_SPATIAL,
                                             POL_SE3_BODY,        POL_SO3XR3_CAYLEY,
                                             POL_ROTATION_VECTOR, POL_EULER_PARAMETERS};
enum { NUM_KINDS = sizeof kinds / sizeof kinds[0] };

/* Impacts t_1 = sqrt(2 H/g), then 2 e^k v/g later each time; highest points in between; the run
 * ends where the ball has gone far enough.  Nothing but the vertical velocity and the count of
 * impacts changes at an impact.  In se3 the fall of a spinning body has an error of its own; there
 * the ball is turned, but does not spin. */
static void a_ball_bounces_in_all_formulations(void **state)
{
  static const char *const turned[] = {"bodies.ball.angular_velocity=[0, 0, 0]",
                                       "bodies.ball.rotation={\"axis\": [1, 2, 3], \"angle\": 1}"};
  (void)state;
  for (int k = 0; k < NUM_KINDS; k++) {
    const double g = 9.81;
    double impact = sqrt(2.0 / g), speed = sqrt(2.0 * g), top = 0.0;
    int impacts = 0, tops = 0;
    const int still = kinds[k] == POL_SE3_BODY;
    const double spin[3] = {0.0, still ? 0.0 : 12.0, 0.0};
    pol_model *model = read_model_with(BALL, still ? 2 : 0, turned);
    assert_int_equal(model->settings.num_events, 3);
    model->settings.formulation = kinds[k];
    pol_simulation *simulation = start(model);
    while (go_on(simulation)) {
      const double t = pol_simulation_state(simulation)->t;
      const int event = pol_simulation_event_index(simulation);
      const pol_body_state ball = body_of(simulation);
      const pol_point at = pol_state_point(pol_simulation_state(simulation));
      if (event == 0) {
        assert_near(&t, &impact, 1, 1e-10);
        speed *= 0.8;
        const double bounced[3] = {0.4, 0.0, speed};
        assert_near(ball.velocity, bounced, 3, 1e-8);
        /* Euler parameters spin with an error of the tolerance's size */
        assert_near(ball.angular_velocity, spin, 3, kinds[k] == POL_EULER_PARAMETERS ? 1e-4 : 1e-8);
        top = impact + speed / g;
        impact += 2.0 * speed / g;
        impacts++;
        double counted =
            pol_formulation_state_variable(pol_simulation_formulation(simulation), &at, 0);
        assert_near(&counted, &(double){(double)impacts}, 1, 1e-12);
      } else if (event == 1 && t > 1e-9) { /* at t = 0 round-off may have any sign */
        assert_near(&t, &top, 1, 1e-10);
        tops++;
      } else if (event == 2) {
        assert_near(&t, &(double){1.1 / 0.4}, 1, 1e-10);
        assert_true(pol_simulation_finished(simulation));
      }
    }
    assert_int_equal(impacts, 5);
    assert_int_equal(tops, 5);
    pol_simulation_free(&simulation);
    pol_model_free(&model);
  }
}

/* A rod on a hinge bounces off a stop at 30 degrees below the horizontal: its angular velocity is
 * what was set, and the velocities fit the hinge again.  From rest at the horizontal the rate there
 * is sqrt(3 g sin(30 deg)/L). */
static const char rod_text[] =
    "{\"gravity\": [0, 0, -9.81], \"bodies\": [{\"name\": \"rod\", \"mass\": 1, \"inertia\": "
    "[1e-4, 0.08333333333333333, 0.08333333333333333], \"position\": [0.5, 0, 0]}], \"joints\": "
    "[{\"name\": \"hinge\", \"type\": \"revolute\", \"bodies\": [\"ground\", \"rod\"], \"point\": "
    "[0, 0, 0], \"axis\": [0, 1, 0]}], \"variables\": [{\"name\": \"gap\", \"expression\": "
    "\"pi/6 - hinge.angle\"}], \"events\": [{\"name\": \"stop\", \"expression\": \"gap\", "
    "\"direction\": \"falling\", \"action\": \"reset\", \"set\": {\"rod.angular_velocity.y\": "
    "\"-0.5*rod.angular_velocity.y\"}}], \"simulation\": {\"rtol\": 1e-10, \"end\": 1}}";

static void a_reset_fits_the_constraints(void **state)
{
  (void)state;
  static const pol_formulation_kind all[] = {POL_SO3XR3,           POL_SO3XR3_SPATIAL,
                                             POL_SE3_BODY,         POL_SO3XR3_CAYLEY,
                                             POL_EULER_PARAMETERS, POL_TAIT_BRYAN};
  for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) {
    pol_model *model = read_model_text(rod_text);
    model->settings.formulation = all[k];
    pol_simulation *simulation = start(model);
    double rate = sqrt(3.0 * 9.81 * 0.5), lost = 0.0;
    for (int impacts = 1; impacts <= 2; impacts++) {
      assert_true(go_on(simulation));
      const pol_summary *summary = pol_simulation_summary(simulation);
      const pol_body_state rod = body_of(simulation);
      lost += 0.75 * 0.5 * (1.0 / 3.0) * rate * rate;
      rate *= 0.5;
      assert_near(&rod.angular_velocity[1], &(double){-rate}, 1, 2e-6);
      /* v = omega x r with r at 30 degrees */
      const double fits[3] = {0.25 * rate, 0.0, 0.25 * sqrt(3.0) * rate};
      assert_near(rod.velocity, fits, 3, 2e-6);
      if (!(summary->velocity_residual <= 1e-9))
        fail_msg("%s: |B v| %.3g", pol_formulation_name(all[k]), summary->velocity_residual);
      assert_near(&summary->work.dissipated, &lost, 1, 1e-5);
      assert_true(fabs(summary->energy_balance) <= 1e-5);
    }
    pol_simulation_free(&simulation);
    pol_model_free(&model);
  }
}

/* A body on a ball joint and a free one, both with products of inertia and turned: one component of
 * a velocity in global axes and one of an angular velocity in body axes are set at once. */
static const char tilted_text[] =
    "{\"gravity\": [0, 0, -9.81], \"bodies\": [{\"name\": \"top\", \"mass\": 2, \"inertia\": "
    "[[0.1, 0.02, 0.01], [0.02, 0.2, 0.03], [0.01, 0.03, 0.15]], \"position\": [0.3, 0.2, 0.4], "
    "\"rotation\": {\"axis\": [1, 2, -1], \"angle\": 0.8}, \"angular_velocity\": [1, -2, 3]}%s], "
    "\"joints\": [{\"name\": \"tip\", \"type\": \"spherical\", \"bodies\": [\"ground\", "
    "\"top\"], \"point\": [0, 0, 0]}], \"events\": [{\"name\": \"kick\", \"expression\": \"t - "
    "0.05\", \"direction\": \"rising\", \"action\": \"reset\", \"set\": {%s}}], \"simulation\": "
    "{\"index\": \"stabilized-2\", \"step\": 0.0002, \"end\": 0.06}}";

static void a_reset_does_not_depend_on_the_formulation(void **state)
{
  static const pol_formulation_kind all[] = {
      POL_SO3XR3,    POL_SE3_BODY,        POL_SO3XR3_SPATIAL,   POL_SO3XR3_CAYLEY,
      POL_SO3_PIVOT, POL_ROTATION_VECTOR, POL_EULER_PARAMETERS, POL_TAIT_BRYAN};
  static const char free_body[] =
      ", {\"name\": \"free\", \"mass\": 1, \"inertia\": [[0.1, 0.02, 0], [0.02, 0.2, 0], [0, 0, "
      "0.2]], \"rotation\": {\"axis\": [1, 2, -1], \"angle\": 0.8}, \"velocity\": [1, 2, 3]}";
  static const char kick_top[] =
      "\"top.velocity.x\": \"0.7\", \"top.angular_velocity.y\": \"-0.5\"";
  static const char kick_free[] =
      "\"free.velocity.x\": \"0.7\", \"free.angular_velocity.y\": \"-0.5\"";
  (void)state;
  for (int with_free = 0; with_free < 2; with_free++) {
    pol_body_state first;
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) {
      char text[1600];
      pol_body_state body;
      if (with_free && all[k] == POL_SO3_PIVOT) continue;
      snprintf(text, sizeof text, tilted_text, with_free ? free_body : "",
               with_free ? kick_free : kick_top);
      pol_model *model = read_model_text(text);
      model->settings.formulation = all[k];
      pol_simulation *simulation = start(model);
      assert_true(go_on(simulation));
      const pol_state *now = pol_simulation_state(simulation);
      pol_formulation_body_state(pol_simulation_formulation(simulation), now->q, now->v, with_free,
                                 &body);
      assert_near(body.velocity, &(double){0.7}, 1, 1e-12);
      assert_near(&body.angular_velocity[1], &(double){-0.5}, 1, 1e-12);
      if (with_free) { /* nothing else has changed */
        const double others[2] = {2.0, 3.0 - 0.05 * 9.81};
        assert_near(body.velocity + 1, others, 2, 1e-8);
        assert_near(&body.angular_velocity[0], &(double){0.0}, 1, 1e-12);
      }
      if (k == 0) first = body;
      assert_near(body.velocity, first.velocity, 3, 2e-5);
      assert_near(body.angular_velocity, first.angular_velocity, 3, 2e-5);
      pol_simulation_free(&simulation);
      pol_model_free(&model);
    }
  }
}

/* A reset to what is not a number ends the run with a reason. */
static void a_reset_to_nothing_is_told(void **state)
{
  (void)state;
  pol_model *model = read_model_text(rod_text);
  pol_change change = {"rod.angular_velocity.y", "sqrt(-1)"};
  model->events[0].changes = &change;
  pol_simulation *simulation = start(model);
  pol_status status = POL_OK;
  while (status == POL_OK && !pol_simulation_finished(simulation))
    status = pol_simulation_step(simulation);
  assert_int_equal(status, POL_NOT_FINITE);
  const pol_diagnostics *d = pol_simulation_diagnostics(simulation);
  assert_string_equal(d->message, "event 'stop' sets a value that is not finite");
  assert_near(&d->t, &pol_simulation_state(simulation)->t, 1, 1e-15);
  pol_simulation_free(&simulation);
  pol_model_free(&model);
}

/* Rules of a C program are checked when the simulation is created. */
static void wrong_rules_are_named(void **state)
{
  (void)state;
  static const pol_change good = {"rod.velocity.x", "0"}, place = {"rod.position.x", "0"},
                          nobody = {"bar.velocity.x", "0"}, wrong = {"rod.velocity.x", "2*"};
  const struct {
    pol_event_rule rule;
    pol_formulation_kind kind;
    const char *part;
  } cases[] = {
      {{"a", "rod.position", -1, POL_EVENT_STOP, 0, NULL}, POL_SO3XR3, "not a known name"},
      {{"a", NULL, -1, POL_EVENT_STOP, 0, NULL}, POL_SO3XR3, "event 'a'"},
      {{"a", "t - 1", 0, POL_EVENT_RESET, 1, &good}, POL_SO3XR3, "direction"},
      {{"a", "t - 1", 1, POL_EVENT_RESET, 0, NULL}, POL_SO3XR3, "something to set"},
      {{"a", "t - 1", 1, POL_EVENT_RESET, 1, &place}, POL_SO3XR3, "can set velocities"},
      {{"a", "t - 1", 1, POL_EVENT_RESET, 1, &nobody}, POL_SO3XR3, "can set velocities"},
      {{"a", "t - 1", 1, POL_EVENT_RESET, 1, &wrong}, POL_SO3XR3, "column"},
      {{"a", "t - 1", 1, POL_EVENT_RESET, 1, &good}, POL_DIRECTORS, "directors"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    pol_simulation *simulation;
    pol_diagnostics d;
    pol_model *model = read_model_text(rod_text);
    pol_mechanism *mechanism;
    /* without the variable, which directors refuse */
    pol_body rod = *pol_mechanism_body(model->mechanism, 0);
    assert_int_equal(pol_mechanism_create(&mechanism), POL_OK);
    assert_int_equal(pol_mechanism_add_body(mechanism, &rod, NULL), POL_OK);
    model->settings.num_events = 1;
    model->settings.events = &cases[i].rule;
    model->settings.formulation = cases[i].kind;
    assert_int_equal(pol_simulation_create(&simulation, mechanism, &model->settings, &d),
                     POL_BAD_ARGUMENT);
    assert_null(simulation);
    if (strstr(d.message, cases[i].part) == NULL) fail_msg("case %zu: %s", i, d.message);
    pol_mechanism_free(&mechanism);
    pol_model_free(&model);
  }
}

static double height(const pol_state *at, void *user)
{
  (void)user;
  return at->q[0];
}

/* Events of a C program that cannot work are refused. */
static void wrong_events_are_refused(void **state)
{
  (void)state;
  pol_model *model = read_model_text(rod_text);
  pol_simulation *simulation = start(model);
  const pol_simulation_event wrong[] = {{.function = NULL},
                                        {.function = height, .action = POL_EVENT_RESET},
                                        {.function = height, .action = (pol_event_action)77}};
  int number = -1;
  for (int i = 0; i < 3; i++)
    assert_int_equal(pol_simulation_add_event(simulation, &wrong[i], &number), POL_BAD_ARGUMENT);
  assert_string_equal(pol_event_action_name(POL_EVENT_STOP), "stop");
  assert_null(pol_event_action_name((pol_event_action)77));
  assert_int_equal(number, -1);
  pol_simulation_free(&simulation);
  pol_model_free(&model);
}

/* Runs a ball that falls from 1 m with these events to t = 1.2 s, or to a stop; numbers[k] is the
 * event of the k-th stop. Returns how many there were, at most 8. */
static int run_ball(const char *events, const char *output, int numbers[8], double times[8])
{
  char text[2048];
  int count = 0;
  snprintf(text, sizeof text,
           "{\"gravity\": [0, 0, -9.81], \"bodies\": [{\"name\": \"ball\", \"type\": \"point\", "
           "\"mass\": 1, \"position\": [0, 0, 1], \"velocity\": [1, 0, 0]}], \"states\": "
           "[{\"name\": \"n\", \"rate\": \"0\"}], \"events\": [%s], \"simulation\": {\"rtol\": "
           "1e-6, \"control\": {\"max_step\": 0.05}, %s\"end\": 1.2}}",
           events, output);
  pol_model *model = read_model_text(text);
  pol_simulation *simulation = start(model);
  while (count < 8 && go_on(simulation)) {
    numbers[count] = pol_simulation_event_index(simulation);
    times[count++] = pol_simulation_state(simulation)->t;
  }
  pol_simulation_free(&simulation);
  pol_model_free(&model);
  return count;
}

#define BOUNCE                                                                                     \
  "{\"name\": \"a\", \"expression\": \"ball.position.z\", \"direction\": \"falling\", "            \
  "\"action\": "                                                                                   \
  "\"reset\", \"set\": {\"ball.velocity.z\": \"-ball.velocity.z\", \"n\": \"n + 1\"}}, "

/* What else happens at the time of a reset is not lost: zeros at the same place, up to round-off,
 * and functions that the reset itself takes through zero; resets that undo each other end. */
static void nothing_is_lost_at_a_reset(void **state)
{
  (void)state;
  static const char *const second[] = {
      "{\"name\": \"b\", \"expression\": \"3*ball.position.z\", \"direction\": \"falling\"}",
      "{\"name\": \"b\", \"expression\": \"ball.position.z\", \"direction\": \"falling\", "
      "\"action\": \"stop\"}",
      "{\"name\": \"b\", \"expression\": \"n - 0.5\", \"direction\": \"rising\", \"action\": "
      "\"stop\"}",
      "{\"name\": \"b\", \"expression\": \"ball.velocity.z\", \"direction\": \"rising\"}",
      "{\"name\": \"b\", \"expression\": \"n - 0.5\", \"direction\": \"rising\", \"action\": "
      "\"reset\", \"set\": {\"n\": \"0\"}}"};
  const double impact = sqrt(2.0 / 9.81);
  for (size_t i = 0; i < sizeof second / sizeof second[0]; i++) {
    char events[1024];
    int numbers[8];
    double times[8];
    snprintf(events, sizeof events, BOUNCE "%s", second[i]);
    assert_int_equal(run_ball(events, "", numbers, times), 2);
    assert_int_equal(numbers[0], 0);
    assert_int_equal(numbers[1], 1);
    assert_near(&times[0], &impact, 1, 1e-10);
    assert_true(times[1] == times[0]);
  }
}

/* An event at an output time is told once. */
static void an_event_at_an_output_time_is_told_once(void **state)
{
  (void)state;
  int numbers[8];
  double times[8];
  assert_int_equal(run_ball("{\"name\": \"a\", \"expression\": \"t - 0.5\"}",
                            "\"output\": {\"times\": [0.5, 0.7]}, ", numbers, times),
                   1);
  assert_true(times[0] == 0.5);
}

/* All events at the end of the run are told, those included that a reset there causes. */
static void no_event_at_the_end_is_lost(void **state)
{
  (void)state;
  static const char *const events[] = {
      "{\"name\": \"a\", \"expression\": \"t - 1.2\"}, {\"name\": \"b\", \"expression\": "
      "\"1.2 - t\"}, {\"name\": \"c\", \"expression\": \"2*t - 2.4\"}",
      "{\"name\": \"a\", \"expression\": \"t - 1.2\", \"direction\": \"rising\", \"action\": "
      "\"reset\", \"set\": {\"n\": \"n + 1\"}}, {\"name\": \"b\", \"expression\": \"1.2 - t\"}, "
      "{\"name\": \"c\", \"expression\": \"n - 0.5\"}"};
  static const char *const outputs[] = {"", "\"output\": {\"times\": [0.5, 1.2]}, "};
  for (int i = 0; i < 4; i++) {
    int numbers[8];
    double times[8];
    assert_int_equal(run_ball(events[i / 2], outputs[i % 2], numbers, times), 3);
    for (int k = 0; k < 3; k++) {
      assert_int_equal(numbers[k], k);
      assert_true(times[k] == 1.2);
    }
  }
}

/* What is not a number has no sign that could change. */
static void what_is_not_a_number_is_no_event(void **state)
{
  (void)state;
  int numbers[8];
  double times[8];
  assert_int_equal(
      run_ball("{\"name\": \"a\", \"expression\": \"sqrt(0.5 - t)\"}", "", numbers, times), 0);
  assert_int_equal(
      run_ball("{\"name\": \"a\", \"expression\": \"sqrt(t - 0.5) + 1\"}", "", numbers, times), 0);
}

/* A rod that swings from the horizontal, at the tolerances and in the form of the constraints of
 * the caller, with an event where it passes the vertical. */
static pol_simulation *start_swing(pol_model **model, const char *joint, const char *set,
                                   pol_formulation_kind kind, pol_index index, double rtol)
{
  char text[2048];
  snprintf(
      text, sizeof text,
      "{\"gravity\": [0, 0, -9.81], \"bodies\": [{\"name\": \"rod\", \"mass\": 1, \"inertia\": "
      "[0.01, 0.083, 0.083], \"position\": [0.5, 0, 0]}], \"joints\": [{\"name\": \"hinge\", "
      "%s, \"bodies\": [\"ground\", \"rod\"], \"point\": [0, 0, 0]}], \"states\": "
      "[{\"name\": \"n\", \"rate\": \"0\"}], \"events\": [{\"name\": \"pass\", "
      "\"expression\": \"rod.position.x\", \"direction\": \"falling\", \"action\": \"reset\", "
      "\"set\": {%s}}], \"simulation\": {\"rtol\": 1e-5, \"end\": 4}}",
      joint, set);
  *model = read_model_text(text);
  (*model)->settings.formulation = kind;
  (*model)->settings.options.index = index;
  (*model)->settings.options.control.rtol = rtol;
  (*model)->settings.options.control.atol_translation = rtol;
  (*model)->settings.options.control.atol_rotation = rtol;
  return start(*model);
}

#define REVOLUTE "\"type\": \"revolute\", \"axis\": [0, 1, 0]"

/* A rate is set to what it should be also where the solution between steps is off the constraints
 * by more than round-off, and in coordinates of fewer freedoms than a body has: half the rate
 * sqrt(2 m g r/I) backwards. */
static void rates_are_set_at_any_tolerance(void **state)
{
  (void)state;
  static const pol_formulation_kind some[] = {POL_SO3XR3, POL_EULER_PARAMETERS, POL_SO3_PIVOT};
  static const pol_index forms[] = {POL_INDEX_3, POL_INDEX_2_STABILIZED};
  const double rate = -0.5 * sqrt(2.0 * 9.81 * 0.5 / (0.083 + 0.25));
  for (int k = 0; k < 6; k++) {
    const pol_formulation_kind kind = some[k / 2];
    pol_model *model;
    pol_simulation *simulation = start_swing(
        &model, kind == POL_SO3_PIVOT ? "\"type\": \"spherical\"" : REVOLUTE,
        "\"rod.angular_velocity.y\": \"-0.5*rod.angular_velocity.y\"", kind, forms[k % 2], 1e-5);
    assert_true(go_on(simulation));
    const pol_body_state rod = body_of(simulation);
    assert_near(&rod.angular_velocity[1], &rate, 1, 5e-3 * fabs(rate));
    pol_simulation_free(&simulation);
    pol_model_free(&model);
  }
}

/* A reset that lets the motion go on happens once a passage, twice in 4 s, although positions are
 * made to fit the hinge there. */
static void a_passage_is_counted_once(void **state)
{
  (void)state;
  static const pol_formulation_kind some[] = {POL_SO3XR3, POL_EULER_PARAMETERS, POL_SE3_BODY};
  static const pol_index forms[] = {POL_INDEX_3, POL_INDEX_2, POL_INDEX_2_STABILIZED};
  for (int k = 0; k < 18; k++) {
    pol_model *model;
    pol_simulation *simulation = start_swing(&model, REVOLUTE, "\"n\": \"n + 1\"", some[k / 6],
                                             forms[k / 2 % 3], k % 2 ? 1e-4 : 1e-6);
    int count = 0;
    while (go_on(simulation)) count++;
    assert_int_equal(count, 2);
    pol_simulation_free(&simulation);
    pol_model_free(&model);
  }
}

/* A ball falls from 1 m on a floor; %s: what its impact sets, a further part of the model, and the
 * settings. */
static const char drop_text[] =
    "{\"gravity\": [0, 0, -9.81], \"bodies\": [{\"name\": \"a\", \"mass\": 1, \"inertia\": [1, 1, "
    "1], \"position\": [0, 0, 1]}], \"events\": [{\"name\": \"bounce\", \"expression\": "
    "\"a.position.z\", \"direction\": \"falling\", \"action\": \"reset\", \"set\": {%s}}], %s "
    "\"simulation\": {%s}}";

/* Runs to the end or to a failure; counts the events. */
static pol_simulation *run_drop(const char *set, const char *more, const char *settings,
                                pol_model **model, pol_status *status, int *count)
{
  char text[2048];
  snprintf(text, sizeof text, drop_text, set, more, settings);
  *model = read_model_text(text);
  pol_simulation *simulation = start(*model);
  *status = POL_OK;
  *count = 0;
  while (*status == POL_OK && !pol_simulation_finished(simulation)) {
    *status = pol_simulation_step(simulation);
    *count += *status == POL_OK && pol_simulation_event_index(simulation) >= 0;
  }
  return simulation;
}

/* Bounces accumulate at T = t_1 (1 + e)/(1 - e), t_1 = sqrt(2 H/g).  The run fails there, whatever
 * the steps, and the ball is still on the floor; a run that ends before does not fail, and has all
 * bounces, those too that are shorter than a step. */
static void accumulating_bounces_fail(void **state)
{
  (void)state;
  static const double factors[] = {0.0, 0.001, 0.03, 0.3, 0.5, 0.9, 0.97};
  static const char *const settings[] = {
      "\"step\": 0.01, \"end\": 50", "\"step\": 0.2, \"end\": 50", "\"rtol\": 1e-6, \"end\": 50",
      "\"step\": 0.01, \"end\": 50, \"output\": {\"step\": 1}"};
  const double fall = sqrt(2.0 / 9.81);
  for (size_t k = 0; k < sizeof factors / sizeof factors[0]; k++)
    for (size_t s = 0; s < sizeof settings / sizeof settings[0]; s++) {
      const double e = factors[k], rest = fall * (1.0 + e) / (1.0 - e);
      char set[80];
      pol_model *model;
      pol_status status;
      int count;
      snprintf(set, sizeof set, "\"a.velocity.z\": \"%g*a.velocity.z\"", -e);
      pol_simulation *simulation = run_drop(set, "", settings[s], &model, &status, &count);
      const pol_diagnostics *d = pol_simulation_diagnostics(simulation);
      const double t = pol_simulation_state(simulation)->t, z = body_of(simulation).position[2];
      if (status != POL_ACCUMULATING || !(fabs(t - rest) <= 1e-4 * rest) || !(fabs(z) <= 1e-6) ||
          strstr(d->message, "'bounce'") == NULL || count < 1)
        fail_msg("e = %g, %s: status %d at t = %.9g (%.9g), z = %g, %d bounces: %s", e, settings[s],
                 (int)status, t, rest, z, count, d->message);
      pol_simulation_free(&simulation);
      pol_model_free(&model);
    }

  /* 0.005 s before the end of all bounces of e = 0.5: the first that is missing is number k + 1
   * with rest - t_k < 0.005, where rest - t_k = 4 t_1 2^-k */
  pol_model *model;
  pol_status status;
  int count;
  char settings_before[80];
  snprintf(settings_before, sizeof settings_before, "\"step\": 0.01, \"end\": %.15g",
           3.0 * fall - 0.005);
  pol_simulation *simulation = run_drop("\"a.velocity.z\": \"-0.5*a.velocity.z\"", "",
                                        settings_before, &model, &status, &count);
  assert_int_equal(status, POL_OK);
  assert_int_equal(count, (int)floor(log2(4.0 * fall / 0.005)));
  pol_simulation_free(&simulation);
  pol_model_free(&model);
}

/* What resets may do without being taken for accumulation: slow down what passes, stop what nothing
 * drives on, and switch on a force that holds. */
static void other_resets_go_on(void **state)
{
  (void)state;
  static const char *const cases[][2] = {
      {"\"a.velocity.z\": \"0.5*a.velocity.z\"", ""},
      {"\"a.velocity.z\": \"0\", \"on\": \"1\"",
       "\"states\": [{\"name\": \"on\", \"rate\": \"0\"}], \"forces\": [{\"name\": \"floor\", "
       "\"type\": \"force\", \"body\": \"a\", \"force\": [0, 0, \"-on*(1e4*a.position.z + "
       "100*a.velocity.z)\"]}],"},
      {"\"a.velocity.z\": \"0\"",
       "\"forces\": [{\"name\": \"lift\", \"type\": \"force\", \"body\": \"a\", \"force\": [0, 0, "
       "\"if(t < 0.4, 0, 9.81)\"]}],"}};
  static const char *const settings[] = {"\"step\": 0.01, \"end\": 2",
                                         "\"rtol\": 1e-6, \"end\": 2"};
  for (int k = 0; k < 6; k++) {
    pol_model *model;
    pol_status status;
    int count;
    pol_simulation *simulation =
        run_drop(cases[k / 2][0], cases[k / 2][1], settings[k % 2], &model, &status, &count);
    if (status != POL_OK || count < 1)
      fail_msg("case %d: status %d, %d events: %s", k, (int)status, count,
               pol_simulation_diagnostics(simulation)->message);
    pol_simulation_free(&simulation);
    pol_model_free(&model);
  }
}

/* Two balls get a common velocity where they meet at t = 1 s; at t = 2 s one of them is pushed,
 * either into the other, and the run fails where it would pass through it, or away from it and
 * back, and they meet again.  The same holds if other resets cut every step. */
static const char stick_text[] =
    "{\"bodies\": [{\"name\": \"a\", \"mass\": 1, \"inertia\": [1, 1, 1]}, {\"name\": \"b\", "
    "\"mass\": 1, \"inertia\": [1, 1, 1], \"position\": [0.7, 0, 0], \"velocity\": [-0.7, 0, 0]}, "
    "{\"name\": \"c\", \"mass\": 1, \"inertia\": [1, 1, 1]}], \"forces\": [{\"name\": \"push\", "
    "\"type\": \"force\", \"body\": \"b\", \"force\": [\"%s\", 0, 0]}], \"events\": [{\"name\": "
    "\"stick\", \"expression\": \"b.position.x - a.position.x\", \"direction\": \"falling\", "
    "\"action\": \"reset\", \"set\": {\"a.velocity.x\": \"0.5*(a.velocity.x + b.velocity.x)\", "
    "\"b.velocity.x\": \"0.5*(a.velocity.x + b.velocity.x)\"}}%s], \"simulation\": {%s, \"end\": "
    "4}}";

static void a_stopped_body_does_not_pass_later(void **state)
{
  static const char *const push[] = {"if(t > 2, if(t < 2.1, -1, 0), 0)",
                                     "if(t > 2, if(t < 2.1, 1, if(t < 2.3, -1, 0)), 0)"};
  static const char *const tick[] = {
      "", ", {\"name\": \"tick\", \"expression\": \"sin(2*pi*t/0.007)\", \"direction\": "
          "\"rising\", \"action\": \"reset\", \"set\": {\"c.velocity.x\": \"0\"}}"};
  static const char *const steps[] = {"\"step\": 0.01",
                                      "\"rtol\": 1e-6, \"control\": {\"max_step\": 0.05}"};
  (void)state;
  for (int k = 0; k < 8; k++) {
    char text[2048];
    pol_status status = POL_OK;
    double gap = 0.0;
    int met = 0;
    snprintf(text, sizeof text, stick_text, push[k / 4], tick[k / 2 % 2], steps[k % 2]);
    pol_model *model = read_model_text(text);
    pol_simulation *simulation = start(model);
    while (status == POL_OK && !pol_simulation_finished(simulation)) {
      pol_body_state a, b;
      status = pol_simulation_step(simulation);
      pol_simulation_body(simulation, 0, &a);
      pol_simulation_body(simulation, 1, &b);
      gap = fmin(gap, b.position[0] - a.position[0]);
      met += status == POL_OK && pol_simulation_event_index(simulation) == 0;
    }
    const pol_diagnostics *d = pol_simulation_diagnostics(simulation);
    const int away = k / 4;
    if ((status == POL_ACCUMULATING) != !away || met != 1 + away || !(gap > -1e-6) ||
        (!away && (strstr(d->message, "'stick' no longer") == NULL || fabs(d->t - 2.0) > 0.05)))
      fail_msg("case %d: status %d at t = %g, met %d times, gap %g: %s", k, (int)status, d->t, met,
               gap, d->message);
    pol_simulation_free(&simulation);
    pol_model_free(&model);
  }
}

/* Two balls that meet head-on at t = 1 s: the time in which the gap is negative is a small part of
 * a step. */
static void a_hit_within_a_step_is_found(void **state)
{
  (void)state;
  static const char *const settings[] = {"\"step\": 0.7, \"end\": 2.1", "\"step\": 2, \"end\": 2",
                                         "\"rtol\": 1e-3, \"end\": 2"};
  for (size_t k = 0; k < sizeof settings / sizeof settings[0]; k++) {
    char text[2048];
    snprintf(
        text, sizeof text,
        "{\"bodies\": [{\"name\": \"a\", \"type\": \"point\", \"mass\": 1, \"position\": [-10, "
        "0, 0], \"velocity\": [10, 0, 0]}, {\"name\": \"b\", \"type\": \"point\", \"mass\": 1, "
        "\"position\": [10, 0, 0.01], \"velocity\": [-10, 0, 0]}], \"events\": [{\"name\": "
        "\"hit\", \"expression\": \"sqrt((a.position.x - b.position.x)^2 + (a.position.z - "
        "b.position.z)^2) - 0.1\", \"direction\": \"falling\"}], \"simulation\": {%s}}",
        settings[k]);
    pol_model *model = read_model_text(text);
    pol_simulation *simulation = start(model);
    if (!go_on(simulation)) fail_msg("%s: no hit", settings[k]);
    const double hit = 1.0 - 0.5 * sqrt(0.1 * 0.1 - 0.01 * 0.01) / 10.0;
    assert_near(&pol_simulation_state(simulation)->t, &hit, 1, 1e-9);
    assert_false(go_on(simulation));
    pol_simulation_free(&simulation);
    pol_model_free(&model);
  }
}

/* A model that can no longer be evaluated once its event has happened. */
typedef struct broken {
  int happened;
} broken;

static double falls(const pol_state *state, void *user)
{
  const double left = 0.25 - state->t;
  ((broken *)user)->happened |= left < 0.0;
  return left;
}

static void set_nothing(const pol_state *at, double *v, unsigned char *keep, void *user)
{
  (void)at, (void)v, (void)keep, (void)user;
}

static pol_status give_up(double t, const pol_motion motion[2], double wrench[12], void *user)
{
  (void)t, (void)motion, (void)wrench;
  return ((const broken *)user)->happened ? POL_CALLBACK : POL_OK;
}

/* The restart at an event fails: so does the step, which says why. */
static void a_restart_that_fails_is_reported(void **state)
{
  (void)state;
  broken state_of = {0};
  pol_status status = POL_OK;
  pol_model *model =
      read_model_with(BALL, 2, (const char *const[]){"events=[]", "simulation.end=1"});
  pol_force force = {.name = "own",
                     .type = POL_CALLBACK_FORCE,
                     .bodies = {POL_GROUND, 0},
                     .callback = {.wrench = give_up, .user = &state_of}};
  assert_int_equal(pol_mechanism_add_force(model->mechanism, &force, NULL), POL_OK);
  pol_simulation *simulation = start(model);
  const pol_simulation_event event = {falls, &state_of, -1, POL_EVENT_RESET, set_nothing, NULL};
  assert_int_equal(pol_simulation_add_event(simulation, &event, NULL), POL_OK);
  while (status == POL_OK && !pol_simulation_finished(simulation))
    status = pol_simulation_step(simulation);
  assert_int_equal(status, POL_CALLBACK);
  assert_string_equal(pol_simulation_diagnostics(simulation)->where,
                      "force 'own': its callback failed");
  assert_near(&pol_simulation_diagnostics(simulation)->t, &(double){0.25}, 1, 1e-9);
  pol_simulation_free(&simulation);
  pol_model_free(&model);
}

/* What an event function costs: it counts its calls. */
typedef struct counted {
  double height;
  long *calls;
} counted;

static double counted_height(const pol_state *at, void *user)
{
  const counted *c = user;
  ++*c->calls;
  return at->q[2] - c->height;
}

/* Hundreds of events in one step: each function is evaluated a few times per step and for its own
 * zero, not for the zeros of the others. */
static void many_events_are_found_in_linear_time(void **state)
{
  (void)state;
  enum { COUNT = 300 };
  pol_model *model =
      read_model_text("{\"gravity\": [0, 0, -9.81], \"bodies\": [{\"name\": \"a\", \"type\": "
                      "\"point\", \"mass\": 1, "
                      "\"position\": [0, 0, 1]}], \"simulation\": {\"step\": 0.1, \"end\": 0.4}}");
  pol_simulation *simulation = start(model);
  counted events[COUNT];
  long calls = 0;
  int found = 0;
  for (int i = 0; i < COUNT; i++) {
    events[i] = (counted){0.99 - 0.5 * i / COUNT, &calls};
    const pol_simulation_event event = {.function = counted_height, .user = &events[i]};
    assert_int_equal(pol_simulation_add_event(simulation, &event, NULL), POL_OK);
  }
  while (go_on(simulation)) found++;
  assert_int_equal(found, COUNT);
  /* five points of four steps, and some twenty evaluations for a zero */
  if (calls > 60L * COUNT) fail_msg("%ld calls for %d events", calls, COUNT);
  pol_simulation_free(&simulation);
  pol_model_free(&model);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_ball_bounces_in_all_formulations),
      cmocka_unit_test(a_reset_fits_the_constraints),
      cmocka_unit_test(a_reset_does_not_depend_on_the_formulation),
      cmocka_unit_test(a_reset_to_nothing_is_told),
      cmocka_unit_test(wrong_rules_are_named),
      cmocka_unit_test(wrong_events_are_refused),
      cmocka_unit_test(nothing_is_lost_at_a_reset),
      cmocka_unit_test(an_event_at_an_output_time_is_told_once),
      cmocka_unit_test(no_event_at_the_end_is_lost),
      cmocka_unit_test(what_is_not_a_number_is_no_event),
      cmocka_unit_test(rates_are_set_at_any_tolerance),
      cmocka_unit_test(a_passage_is_counted_once),
      cmocka_unit_test(many_events_are_found_in_linear_time),
      cmocka_unit_test(a_restart_that_fails_is_reported),
      cmocka_unit_test(accumulating_bounces_fail),
      cmocka_unit_test(other_resets_go_on),
      cmocka_unit_test(a_stopped_body_does_not_pass_later),
      cmocka_unit_test(a_hit_within_a_step_is_found),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
