/* Static equilibrium: a four-bar under gravity, a hanging chain, a column that buckles; states,
 * drives, friction, rolling, follower forces; what has no equilibrium. */
#include "analysis/analyse.h"

/* --- four-bar ------------------------------------------------------------------------------------
 */

/* The planar four-bar of the example without its motor, with gravity (3, 0, -9.81): potential
 * energy by the crank angle from the vertical. */
static double four_bar_potential(double crank)
{
  const double r = 0.1, rocker = 0.2, base = 0.2, coupler = hypot(0.2, 0.1);
  const double bx = r * sin(crank), bz = r * cos(crank);
  /* where the circles about the crank's pin and the rocker's pivot meet, above the line */
  const double dx = base - bx, dz = -bz, d = hypot(dx, dz);
  const double along = (d * d + coupler * coupler - rocker * rocker) / (2.0 * d);
  const double across = sqrt(coupler * coupler - along * along);
  const double cx = bx + (along * dx - across * dz) / d, cz = bz + (along * dz + across * dx) / d;
  const double x = 0.1 * 0.5 * bx + 0.3 * 0.5 * (bx + cx) + 0.2 * 0.5 * (base + cx);
  return 9.81 * (0.1 * 0.5 * bz + 0.3 * 0.5 * (bz + cz) + 0.2 * 0.5 * cz) - 3.0 * x;
}

static void four_bar_hangs_at_the_minimum_of_its_potential(void **state)
{
  (void)state;
  const char *const without[] = {"drives=[]", "gravity=[3,0,-9.81]"};
  pol_model *model = read_model_with(MODELS "examples/four_bar_motor.json", 2, without);
  pol_analysis *analysis = analyse_at(model->mechanism, 0.0);
  int dropped;
  pol_analysis_dropped(analysis, &dropped);
  assert_int_equal(dropped, 3);
  pol_static_report report = balance(analysis, 1);
  assert_int_equal(report.freedoms, 1);
  assert_int_equal(report.unstable + report.neutral, 0);
  assert_true(report.residual < 1e-12);
  const double found = joint_at(analysis, "A");
  /* the derivative of the potential is zero there, the second positive */
  const double h = 1e-4;
  const double slope = (four_bar_potential(found + h) - four_bar_potential(found - h)) / (2.0 * h);
  const double bend = (four_bar_potential(found + h) - 2.0 * four_bar_potential(found) +
                       four_bar_potential(found - h)) /
                      (h * h);
  assert_true(bend > 0.1);
  assert_true(fabs(slope / bend) < 1e-7); /* distance to the minimum, with the error of h */
  /* the reactions of both pivots carry the weight */
  const pol_point at = pol_state_point(pol_analysis_state(analysis));
  double left[3], right[3], torque[3];
  pol_formulation_reaction(pol_analysis_formulation(analysis), &at, 0, left, torque);
  pol_formulation_reaction(pol_analysis_formulation(analysis), &at, 3, right, torque);
  assert_close(left[2] + right[2], 9.81 * 0.6, 1e-11);
  assert_close(left[0] + right[0], -3.0 * 0.6, 1e-11);
  pol_analysis_free(&analysis);
  pol_model_free(&model);
}

/* A parallelogram that lies flat on one line, where one more constraint depends on the others than
 * anywhere else, falls. */
static void flat_parallelogram_leaves_its_singular_position(void **state)
{
  (void)state;
  pol_mechanism *mechanism = start_mechanism();
  double at[3] = {0.0, 0.0, 0.0}, other[3] = {1.0, 0.0, 0.0};
  const int crank = add_rod(mechanism, POL_GROUND, 1.0, 0.5, 0.0, at);
  const int coupler = add_rod(mechanism, crank, 2.0, 1.0, 0.0, at);
  const int rocker = add_rod(mechanism, POL_GROUND, 1.0, 0.5, 0.0, other);
  const pol_joint last = {.name = "last", .type = POL_REVOLUTE};
  assert_int_equal(pol_mechanism_add_joint_at(mechanism, &last, coupler, rocker, other,
                                              (double[]){0.0, 1.0, 0.0}, NULL),
                   POL_OK);
  pol_analysis *analysis = analyse_at(mechanism, 0.0);
  int before, after;
  pol_analysis_dropped(analysis, &before);
  const pol_static_report report = balance(analysis, 1);
  pol_analysis_dropped(analysis, &after);
  assert_int_equal(before, 4);
  assert_int_equal(after, 3);
  assert_int_equal(report.freedoms, 1);
  assert_int_equal(report.unstable + report.neutral, 0);
  /* both rods hang, or the coupler crosses: in both the last joint is closed */
  const pol_body_state rod = body_at(analysis, rocker), link = body_at(analysis, coupler);
  const double ends[2][3] = {
      {rod.position[0] + 0.25 * rod.rotation[0], 0.0, rod.position[2] + 0.25 * rod.rotation[6]},
      {link.position[0] + 0.5 * link.rotation[0], 0.0, link.position[2] + 0.5 * link.rotation[6]}};
  assert_near(ends[0], ends[1], 3, 1e-10);
  assert_true(link.position[2] < -0.2);
  pol_analysis_free(&analysis);
  pol_mechanism_free(&mechanism);
}

/* --- chain ---------------------------------------------------------------------------------------
 */

/* A chain of thin rods between two points of the same height: with the horizontal force H and the
 * weight G of a link, the link i has the slope (i - (n + 1)/2) G/H. */
static double span_of(int links, double length, double ratio)
{
  double sum = 0.0;
  for (int i = 1; i <= links; i++)
    sum += length / sqrt(1.0 + pow((i - 0.5 * (links + 1)) * ratio, 2.0));
  return sum;
}

static void hanging_chain_of_200_links_has_the_closed_form(void **state)
{
  (void)state;
  enum { LINKS = 200 };
  const double length = 0.05, mass = 0.3, slope = 1.0; /* the start: a V */
  pol_mechanism *mechanism = start_mechanism();
  double at[3] = {0.0, 0.0, 0.0}, low = 1e-6, high = 10.0;
  int before = POL_GROUND;
  for (int k = 0; k < LINKS; k++)
    before = add_rod(mechanism, before, mass, length, k < LINKS / 2 ? -slope : slope, at);
  const pol_joint last = {.name = "last", .type = POL_REVOLUTE};
  assert_int_equal(pol_mechanism_add_joint_at(mechanism, &last, POL_GROUND, before, at,
                                              (double[]){0.0, 1.0, 0.0}, NULL),
                   POL_OK);
  pol_analysis *analysis = analyse_at(mechanism, 0.0);
  pol_static_report report = balance(analysis, 1);
  assert_int_equal(report.freedoms, LINKS - 2);
  assert_int_equal(report.unstable + report.neutral, 0);
  assert_true(report.residual < 1e-10);

  for (int k = 0; k < 200; k++) {
    const double middle = 0.5 * (low + high);
    *(span_of(LINKS, length, middle) > at[0] ? &low : &high) = middle;
  }
  double x = 0.0, z = 0.0;
  for (int i = 1; i <= LINKS; i++) {
    const double tangent = (i - 0.5 * (LINKS + 1)) * low, c = 1.0 / sqrt(1.0 + tangent * tangent);
    const pol_body_state link = body_at(analysis, i - 1);
    const double middle[3] = {x + 0.5 * length * c, 0.0, z + 0.5 * length * c * tangent};
    assert_near(link.position, middle, 3, 1e-9 * LINKS * length);
    x += length * c;
    z += length * c * tangent;
  }
  /* the force at the first joint */
  const pol_point point = pol_state_point(pol_analysis_state(analysis));
  double force[3], torque[3];
  pol_formulation_reaction(pol_analysis_formulation(analysis), &point, 0, force, torque);
  assert_close(force[0], -mass * 9.81 / low, 1e-8 * mass * 9.81 / low);
  assert_close(force[2], 0.5 * LINKS * mass * 9.81, 1e-8 * LINKS * mass * 9.81);
  pol_analysis_free(&analysis);
  pol_mechanism_free(&mechanism);
}

/* --- buckling ------------------------------------------------------------------------------------
 */

enum { COLUMN = 8 };

/* A column of rods with springs c in the hinges between them; its upper end, with the load P, stays
 * on the vertical; imperfection: the first rod leans by this angle, the next back. */
static pol_mechanism *column(double spring, double load, double lean)
{
  pol_mechanism *mechanism = start_mechanism();
  const double upright = 2.0 * atan(1.0);
  double at[3] = {0.0, 0.0, 0.0};
  int before = POL_GROUND, marker[2];
  pol_mechanism_set_gravity(mechanism, (double[]){0.0, 0.0, 0.0});
  for (int k = 0; k < COLUMN; k++) {
    const double own = k < COLUMN / 2 ? lean : -lean;
    before = add_rod(mechanism, before, 1.0, 0.25, upright - own, at);
    char name[20];
    snprintf(name, sizeof name, "s%d", k);
    const pol_force force = {
        .name = name, .type = POL_JOINT_SPRING, .joint = k, .stiffness = {spring}, .rest = 0.0};
    if (k > 0) assert_int_equal(pol_mechanism_add_force(mechanism, &force, NULL), POL_OK);
  }
  const double turned[4] = {1.0, 0.0, 0.0, 0.0};
  pol_mechanism_add_marker_at(mechanism, "line", POL_GROUND, (double[]){0.0, 0.0, 0.0}, turned,
                              &marker[0]);
  pol_mechanism_add_marker_at(mechanism, "top", before, at, turned, &marker[1]);
  const pol_joint guide = {
      .name = "guide", .type = POL_POINT_ON_LINE, .marker = {marker[0], marker[1]}};
  assert_int_equal(pol_mechanism_add_joint(mechanism, &guide, NULL), POL_OK);
  const pol_force weight = {.name = "load",
                            .type = POL_APPLIED_FORCE,
                            .body = before,
                            .vector = {0.0, 0.0, -load},
                            .point = {0.125, 0.0, 0.0}};
  assert_int_equal(pol_mechanism_add_force(mechanism, &weight, NULL), POL_OK);
  return mechanism;
}

/* Links of length l with springs c: the deflection sin(pi i/n) buckles at (4 c/l) sin^2(pi/2n). */
static void column_buckles_at_the_closed_form(void **state)
{
  (void)state;
  const double spring = 50.0,
               expected = 4.0 * spring / 0.25 * pow(sin(2.0 * atan(1.0) / COLUMN), 2.0);
  double low = 0.5 * expected, high = 1.5 * expected;
  for (int k = 0; k < 40; k++) {
    const double load = 0.5 * (low + high);
    pol_mechanism *mechanism = column(spring, load, 0.0);
    pol_analysis *analysis = analyse_at(mechanism, 0.0);
    const pol_static_report report = balance(analysis, 1);
    assert_int_equal(report.freedoms, COLUMN - 1);
    assert_int_equal(report.unstable, report.least < 0.0 ? 1 : 0);
    *(report.least < 0.0 ? &high : &low) = load;
    pol_analysis_free(&analysis);
    pol_mechanism_free(&mechanism);
    if (high - low < 1e-9 * expected) break;
  }
  assert_close(low, expected, 1e-7 * expected);
  /* the same along the path of its loads, which move nothing before */
  pol_path_options options = pol_path_options_default();
  options.buckling = 1;
  options.end = 100.0;
  for (int k = 0; k < 3; k++) {
    static const double shares[] = {0.02, 0.4, 1.7};
    pol_mechanism *mechanism = column(spring, shares[k] * expected, 0.0);
    pol_analysis *analysis = analyse_at(mechanism, 0.0);
    pol_path_report report;
    pol_diagnostics d;
    assert_int_equal(pol_analysis_path(analysis, &options, &report, &d), POL_OK);
    assert_true(report.is_critical && !report.is_limit);
    assert_close(report.load, 1.0 / shares[k], 2e-7 / shares[k]);
    pol_analysis_free(&analysis);
    pol_mechanism_free(&mechanism);
  }
  /* the second and third load, when two and three directions are unstable */
  for (int mode = 1; mode <= 3; mode++) {
    const double critical = 4.0 * spring / 0.25 * pow(sin(mode * 2.0 * atan(1.0) / COLUMN), 2.0);
    for (int above = 0; above < 2; above++) {
      pol_mechanism *mechanism = column(spring, critical * (above ? 1.0001 : 0.9999), 0.0);
      pol_analysis *analysis = analyse_at(mechanism, 0.0);
      assert_int_equal(balance(analysis, 1).unstable, mode - 1 + above);
      pol_analysis_free(&analysis);
      pol_mechanism_free(&mechanism);
    }
  }
  /* beyond it, a column that leans a little bends far and is stable again */
  pol_mechanism *mechanism = column(spring, 1.2 * expected, 1e-3);
  pol_analysis *analysis = analyse_at(mechanism, 0.0);
  const pol_static_report report = balance(analysis, 6);
  assert_int_equal(report.unstable + report.neutral, 0);
  assert_true(report.load_steps >= 6);
  assert_true(fabs(joint_at(analysis, "j0") + 2.0 * atan(1.0)) > 0.5);
  pol_analysis_free(&analysis);
  pol_mechanism_free(&mechanism);
}

/* --- others --------------------------------------------------------------------------------------
 */

/* The end of a long run with damping is the equilibrium. */
static void suspension_rests_where_a_run_ends(void **state)
{
  (void)state;
  pol_model *model = read_model(MODELS "examples/lag_actuator.json");
  pol_analysis *analysis = analyse_at(model->mechanism, 0.0);
  balance(analysis, 1);
  const pol_point at = pol_state_point(pol_analysis_state(analysis));
  assert_close(pol_formulation_state_variable(pol_analysis_formulation(analysis), &at, 0), 10.0,
               1e-11);
  assert_close(joint_at(analysis, "rail"), 0.1, 1e-12);
  pol_settings settings = model->settings;
  settings.end = 40.0;
  pol_simulation *simulation = start_with(model->mechanism, &settings);
  while (!pol_simulation_finished(simulation)) take_step(simulation);
  pol_body_state cart;
  pol_simulation_body(simulation, 0, &cart);
  assert_near(cart.position, body_at(analysis, 0).position, 3, 1e-9);
  pol_simulation_free(&simulation);
  pol_analysis_free(&analysis);
  pol_model_free(&model);
}

/* The integral of a controller has the value that holds the weight. */
static void controllers_settle(void **state)
{
  (void)state;
  pol_model *model = read_model(MODELS "examples/pid_pendulum.json");
  pol_analysis *analysis = analyse_at(model->mechanism, 5.0);
  balance(analysis, 1);
  assert_close(joint_at(analysis, "hinge"), 1.0, 1e-10);
  pol_analysis_free(&analysis);
  pol_model_free(&model);
}

/* Drives hold their coordinate at the time that is given. */
static void drives_hold_at_a_time(void **state)
{
  (void)state;
  pol_model *model = read_model_text(
      "{\"gravity\": [0, 0, -9.81], \"bodies\": ["
      "{\"name\": \"a\", \"mass\": 1, \"inertia\": [0.1, 0.1, 0.1], \"position\": [1, 0, 0]},"
      "{\"name\": \"b\", \"mass\": 1, \"inertia\": [0.1, 0.1, 0.1], \"position\": [2, 0, -1]}],"
      "\"joints\": [{\"name\": \"A\", \"type\": \"revolute\", \"bodies\": [\"ground\", \"a\"], "
      "\"point\": [0, 0, 0], \"axis\": [0, -1, 0]},"
      "{\"name\": \"B\", \"type\": \"revolute\", \"bodies\": [\"a\", \"b\"], \"point\": [2, 0, 0], "
      "\"axis\": [0, -1, 0]}],"
      "\"drives\": [{\"name\": \"d\", \"joint\": \"A\", \"coordinate\": \"rotation\", "
      "\"function\": "
      "{\"type\": \"polynomial\", \"coefficients\": [0, 0.3, 0.1]}}],"
      "\"simulation\": {\"step\": 0.001, \"end\": 1}}");
  pol_analysis *analysis = analyse_at(model->mechanism, 1.0);
  const pol_static_report report = balance(analysis, 1);
  assert_int_equal(report.freedoms, 1);
  assert_close(joint_at(analysis, "A"), 0.4, 1e-12);
  const pol_body_state b = body_at(analysis, 1);
  assert_close(b.position[0], 2.0 * cos(0.4), 1e-10); /* it hangs straight down */
  const pol_point at = pol_state_point(pol_analysis_state(analysis));
  assert_close(pol_formulation_drive_effort(pol_analysis_formulation(analysis), &at, 0),
               9.81 * (cos(0.4) + 2.0 * cos(0.4)), 1e-9);
  for (int i = 0; i < 12; i++) assert_true(pol_analysis_state(analysis)->v[i] == 0.0);
  pol_analysis_free(&analysis);
  pol_model_free(&model);
}

/* A disk with an excentric mass rolls until the mass hangs below the centre. */
static void rolling_disk_comes_to_rest(void **state)
{
  (void)state;
  pol_model *model = read_model_text(
      "{\"gravity\": [0, 0, -9.81], \"bodies\": ["
      "{\"name\": \"disk\", \"mass\": 1, \"inertia\": [0.1, 0.2, 0.1], \"position\": [0.2, 0, 1]}],"
      "\"markers\": [{\"name\": \"plane\", \"body\": \"ground\"}, {\"name\": \"centre\", \"body\": "
      "\"disk\", \"position\": [-0.2, 0, 0]}],"
      "\"joints\": [{\"name\": \"r\", \"type\": \"rolling-sphere\", \"markers\": [\"plane\", "
      "\"centre\"], \"radius\": 1}], \"simulation\": {\"step\": 0.001, \"end\": 1}}");
  pol_analysis *analysis = analyse_at(model->mechanism, 0.0);
  const pol_static_report report = balance(analysis, 1);
  const pol_body_state disk = body_at(analysis, 0);
  assert_close(disk.position[2], 0.8, 1e-9);
  assert_close(disk.position[0], 0.5 * 3.14159265358979324,
               1e-2); /* it has rolled a quarter turn */
  assert_int_equal(report.freedoms, 3);
  assert_int_equal(report.neutral, 1); /* it may spin about the vertical */
  pol_analysis_free(&analysis);
  pol_model_free(&model);
}

/* Beck's column: a follower force makes a rod chain flutter, which no real eigenvalue tells. */
static void follower_force_flutters(void **state)
{
  (void)state;
  static const char text[] =
      "{\"bodies\": ["
      "{\"name\": \"a\", \"mass\": 1, \"inertia\": [0.01, 0.0833, 0.0833], \"position\": [0.5, 0, "
      "0]},"
      "{\"name\": \"b\", \"mass\": 1, \"inertia\": [0.01, 0.0833, 0.0833], \"position\": [1.5, 0, "
      "0]}],"
      "\"joints\": [{\"name\": \"A\", \"type\": \"revolute\", \"bodies\": [\"ground\", \"a\"], "
      "\"point\": [0, 0, 0], \"axis\": [0, 1, 0]},"
      "{\"name\": \"B\", \"type\": \"revolute\", \"bodies\": [\"a\", \"b\"], \"point\": [1, 0, 0], "
      "\"axis\": [0, 1, 0]}],"
      "\"forces\": [{\"name\": \"sa\", \"type\": \"joint-spring\", \"joint\": \"A\", "
      "\"coordinate\": "
      "\"rotation\", \"stiffness\": 10}, {\"name\": \"sb\", \"type\": \"joint-spring\", \"joint\": "
      "\"B\", \"coordinate\": \"rotation\", \"stiffness\": 10},"
      "{\"name\": \"jet\", \"type\": \"force\", \"body\": \"b\", \"frame\": \"body\", \"force\": "
      "[%s, "
      "0, 0], \"point\": [0.5, 0, 0]}],"
      "\"simulation\": {\"step\": 0.001, \"end\": 1}}";
  char own[2000];
  for (int strong = 0; strong < 2; strong++) {
    snprintf(own, sizeof own, text, strong ? "-40" : "-5");
    pol_model *model = read_model_text(own);
    pol_analysis *analysis = analyse_at(model->mechanism, 0.0);
    const pol_static_report report = balance(analysis, 1);
    assert_int_equal(report.unstable, strong ? 2 : 0);
    assert_true((report.flutter > 0.0) == strong);
    pol_analysis_free(&analysis);
    pol_model_free(&model);
  }
}

static int count_steps(const pol_analysis *analysis, double load, void *user)
{
  double *last = user;
  assert_non_null(pol_analysis_state(analysis));
  assert_true(load > *last);
  *last = load;
  return load > 0.55;
}

static void load_steps_are_reported_and_can_stop(void **state)
{
  (void)state;
  pol_model *model = read_model(MODELS "examples/pendulum.json");
  pol_analysis *analysis = analyse_at(model->mechanism, 0.0);
  double last = 0.0;
  pol_static_options options = pol_static_options_default();
  pol_static_report report;
  options.steps = 10;
  options.on_step = count_steps;
  options.user = &last;
  assert_int_equal(pol_analysis_equilibrium(analysis, &options, &report, NULL), POL_CANCELLED);
  assert_close(last, 0.6, 1e-12);
  assert_int_equal(report.load_steps, 6);
  options.steps = 0;
  pol_diagnostics d;
  assert_int_equal(pol_analysis_equilibrium(analysis, &options, &report, &d), POL_BAD_ARGUMENT);
  assert_non_null(strstr(d.message, "steps"));
  pol_analysis_free(&analysis);
  pol_model_free(&model);
}

/* An inverted pendulum that starts upright stays there and is unstable; one that does not falls. */
static void unstable_equilibria_are_told(void **state)
{
  (void)state;
  for (int leans = 0; leans < 2; leans++) {
    pol_mechanism *mechanism = start_mechanism();
    double at[3] = {0.0, 0.0, 0.0};
    add_rod(mechanism, POL_GROUND, 1.0, 1.0, 2.0 * atan(1.0) - 0.01 * leans, at);
    pol_analysis *analysis = analyse_at(mechanism, 0.0);
    const pol_static_report report = balance(analysis, 1);
    assert_int_equal(report.unstable, !leans);
    assert_close(report.least, leans ? 1.5 * 9.81 : -1.5 * 9.81, 1e-9);
    assert_close(body_at(analysis, 0).position[2], leans ? -0.5 : 0.5, 1e-10);
    assert_string_equal(report.softest, "body 'b0', rotation y");
    pol_analysis_free(&analysis);
    pol_mechanism_free(&mechanism);
  }
}

static void motions_that_nothing_resists_are_named(void **state)
{
  (void)state;
  pol_model *model = read_model(MODELS "examples/bouncing_ball.json");
  pol_analysis *analysis = analyse_at(model->mechanism, 0.0);
  pol_diagnostics d;
  assert_int_equal(pol_analysis_equilibrium(analysis, NULL, NULL, &d), POL_NOT_CONVERGED);
  assert_non_null(strstr(d.message, "nothing resists"));
  assert_string_equal(d.where, "body 'ball', translation z");
  assert_null(strstr(d.advice, "friction"));
  pol_analysis_free(&analysis);
  pol_model_free(&model);

  model = read_model_text(
      "{\"gravity\": [0, 0, -10], \"bodies\": [{\"name\": \"b\", \"mass\": 3, \"inertia\": "
      "[1, 1, 1]}], \"joints\": [{\"name\": \"s\", \"type\": \"prismatic\", \"bodies\": "
      "[\"ground\", \"b\"], \"point\": [0, 0, 0], \"axis\": [0, 0, 1], \"friction\": "
      "{\"level\": 50}}], \"simulation\": {\"step\": 0.001, \"end\": 1}}");
  analysis = analyse_at(model->mechanism, 0.0);
  assert_int_equal(pol_analysis_equilibrium(analysis, NULL, NULL, &d), POL_NOT_CONVERGED);
  assert_non_null(strstr(d.advice, "friction does not hold in statics"));
  pol_analysis_free(&analysis);
  pol_model_free(&model);
}

/* A mass on a spring so soft that it hangs far below the size of the model. */
/* A mass on a slider with a stiff joint-spring, and a fixed body far away: the deflection is far
 * below the round-off of the model's length.  A spring carries the weight all the same, and what
 * round-off of the position leaves is reported. */
static pol_static_report hang_on_spring(double stiffness, double height, double *effort,
                                        double *deflection)
{
  pol_mechanism *mechanism = start_mechanism();
  const double z[3] = {0.0, 0.0, 1.0}, place[3] = {5000.0, 0.0, 0.0};
  pol_body mass = {.name = "m", .mass = 2.0, .position = {0.0, 0.0, height}};
  mass.rotation[0] = 1.0;
  pol_body far = {.name = "far", .mass = 1.0, .position = {5000.0, 0.0, 0.0}};
  far.rotation[0] = 1.0;
  int body, other, joint;
  for (int i = 0; i < 9; i += 4) mass.inertia[i] = far.inertia[i] = 1.0;
  assert_int_equal(pol_mechanism_add_body(mechanism, &mass, &body), POL_OK);
  assert_int_equal(pol_mechanism_add_body(mechanism, &far, &other), POL_OK);
  const pol_joint slider = {.name = "s", .type = POL_PRISMATIC};
  const pol_joint fixed = {.name = "f", .type = POL_FIXED};
  assert_int_equal(pol_mechanism_add_joint_at(mechanism, &slider, POL_GROUND, body,
                                              (double[]){0.0, 0.0, 0.0}, z, &joint),
                   POL_OK);
  assert_int_equal(pol_mechanism_add_joint_at(mechanism, &fixed, POL_GROUND, other, place, z, NULL),
                   POL_OK);
  const pol_force spring = {
      .name = "k", .type = POL_JOINT_SPRING, .joint = joint, .stiffness = {stiffness}};
  assert_int_equal(pol_mechanism_add_force(mechanism, &spring, NULL), POL_OK);
  pol_analysis *analysis = analyse_at(mechanism, 0.0);
  const pol_static_report report = balance(analysis, 1);
  const pol_point at = pol_state_point(pol_analysis_state(analysis));
  *effort = pol_formulation_joint_spring_effort(pol_analysis_formulation(analysis), &at, 0);
  *deflection = body_at(analysis, body).position[2] - height;
  pol_analysis_free(&analysis);
  pol_mechanism_free(&mechanism);
  return report;
}

static void stiff_springs_carry_their_load(void **state)
{
  (void)state;
  const double weight = 2.0 * 9.81;
  double effort, deflection;
  for (double stiffness = 1e6; stiffness < 1e15; stiffness *= 100.0) {
    const pol_static_report report = hang_on_spring(stiffness, 0.0, &effort, &deflection);
    assert_close(effort, weight, 1e-11 * weight);
    assert_close(deflection, -weight / stiffness, 1e-11 * weight / stiffness);
    assert_true(report.iterations > 0);
    assert_true(report.residual < 1e-11);
  }
  /* at a height of 1 m a last digit of the position is 0.02 N */
  const pol_static_report rough = hang_on_spring(1e14, 1.0, &effort, &deflection);
  assert_close(effort, weight, 0.03);
  assert_close(rough.residual, fabs(effort - weight) / weight, 1e-12);
  assert_true(rough.residual > 1e-6);
}

static void soft_springs_are_followed_far(void **state)
{
  (void)state;
  pol_model *model = read_model_text(
      "{\"gravity\": [0, 0, -9.81], \"bodies\": [{\"name\": \"m\", \"type\": \"point\", \"mass\": "
      "1, "
      "\"position\": [0, 0, -1]}], \"markers\": [{\"name\": \"p\", \"body\": \"m\"}, {\"name\": "
      "\"o\", \"body\": \"ground\"}],"
      "\"forces\": [{\"name\": \"s\", \"type\": \"spring-damper\", \"markers\": [\"o\", \"p\"], "
      "\"stiffness\": 0.01, \"damping\": 0, \"length\": 1}],"
      "\"simulation\": {\"step\": 0.001, \"end\": 1}}");
  pol_analysis *analysis = analyse_at(model->mechanism, 0.0);
  const pol_static_report report = balance(analysis, 1);
  assert_close(body_at(analysis, 0).position[2], -982.0, 1e-8);
  assert_int_equal(report.unstable + report.neutral, 0);
  pol_analysis_free(&analysis);
  pol_model_free(&model);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(four_bar_hangs_at_the_minimum_of_its_potential),
      cmocka_unit_test(flat_parallelogram_leaves_its_singular_position),
      cmocka_unit_test(hanging_chain_of_200_links_has_the_closed_form),
      cmocka_unit_test(column_buckles_at_the_closed_form),
      cmocka_unit_test(suspension_rests_where_a_run_ends),
      cmocka_unit_test(controllers_settle),
      cmocka_unit_test(drives_hold_at_a_time),
      cmocka_unit_test(rolling_disk_comes_to_rest),
      cmocka_unit_test(follower_force_flutters),
      cmocka_unit_test(load_steps_are_reported_and_can_stop),
      cmocka_unit_test(unstable_equilibria_are_told),
      cmocka_unit_test(motions_that_nothing_resists_are_named),
      cmocka_unit_test(stiff_springs_carry_their_load),
      cmocka_unit_test(soft_springs_are_followed_far),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
