/* Initial values: what the model keeps stays, in every formulation, and what cannot be assembled
 * names the joints that fight each other. */
#include <stdio.h>
#include <string.h>

#include "simulation/simulate.h"

/* Two links in space, off their joints by up to 0.2 m; `keep` are the keys of the lower link. */
static const char links[] =
    "{ \"bodies\": ["
    "{\"name\": \"upper\", \"mass\": 1, \"inertia\": [0.1, 0.1, 0.02], \"position\": [0.1, 0, "
    "-0.5]},"
    "{\"name\": \"lower\", \"mass\": 2, \"inertia\": [0.1, 0.2, 0.15], \"position\": [0.5, 0.2, "
    "-1.4],"
    " \"rotation\": {\"rotation_vector\": [0.1, 0.2, -0.3]}, \"velocity\": [0.3, -0.2, 0.1],"
    " \"angular_velocity\": [0.5, 1, -2], \"keep\": {%s}}],"
    "\"markers\": ["
    "{\"name\": \"top\", \"body\": \"ground\"},"
    "{\"name\": \"hook\", \"body\": \"upper\", \"position\": [0, 0, 0.5]},"
    "{\"name\": \"end\", \"body\": \"upper\", \"position\": [0, 0, -0.5]},"
    "{\"name\": \"eye\", \"body\": \"lower\", \"position\": [-0.2, 0, 0.5]}],"
    "\"joints\": ["
    "{\"name\": \"hip\", \"type\": \"spherical\", \"markers\": [\"top\", \"hook\"]},"
    "{\"name\": \"knee\", \"type\": \"spherical\", \"markers\": [\"end\", \"eye\"]}],"
    "\"simulation\": {\"step\": 0.001, \"end\": 0.1} }";

static pol_model *read_links(const char *keep)
{
  char text[2000];
  assert_true(snprintf(text, sizeof text, links, keep) < (int)sizeof text);
  return read_model_text(text);
}

/* Creates the simulation or gives the diagnostics of the failure. */
static pol_status assemble(const pol_model *model, pol_simulation **simulation, pol_diagnostics *d)
{
  return pol_simulation_create(simulation, model->mechanism, &model->settings, d);
}

static pol_body_state state_of(const pol_simulation *simulation, int body)
{
  const pol_state *state = pol_simulation_state(simulation);
  pol_body_state result;
  pol_formulation_body_state(pol_simulation_formulation(simulation), state->q, state->v, body,
                             &result);
  return result;
}

/* The rotation vector from the given rotation, in body axes. */
static void turned_away(const pol_body *given, const pol_body_state *found, double w[3])
{
  double inverse[4], relative[4];
  pol_quat_conjugate(given->rotation, inverse);
  pol_quat_multiply(inverse, found->quaternion, relative);
  pol_so3_log(relative, w);
}

/* Components with a bit of keep are as given, to round-off; at least one of the others is not. */
static void check_kept(unsigned keep, const double given[3], const double found[3], int may_stay)
{
  double moved = 0.0;
  for (int i = 0; i < 3; i++) {
    if (keep & 1u << i)
      assert_near(&found[i], &given[i], 1, 1e-13);
    else
      moved = fmax(moved, fabs(found[i] - given[i]));
  }
  if ((keep & 7u) != 7u && !may_stay) assert_true(moved > 1e-3);
}

static void kept_values_stay_in_every_formulation(void **state)
{
  (void)state;
  static const char *const keeps[] = {
      "\"position\": [\"x\"]",
      "\"position\": true",
      "\"rotation\": true",
      "\"rotation\": [\"x\", \"z\"], \"position\": [\"y\"]",
      "\"velocity\": [\"x\", \"y\"]",
      "\"position\": [\"x\", \"z\"], \"rotation\": [\"y\"], \"velocity\": [\"y\"], "
      "\"angular_velocity\": [\"z\"]",
      "\"angular_velocity\": true, \"velocity\": [\"y\"]",
  };
  static const double zero[3] = {0.0, 0.0, 0.0};
  for (size_t k = 0; k < sizeof keeps / sizeof *keeps; k++)
    for (int kind = 0; kind < pol_formulation_count(); kind++) {
      pol_model *model = read_links(keeps[k]);
      pol_simulation *simulation;
      pol_diagnostics d;
      model->settings.formulation = (pol_formulation_kind)kind;
      if (kind == POL_SO3_PIVOT) {
        pol_model_free(&model); /* the lower link has no fixed point */
        continue;
      }
      if (assemble(model, &simulation, &d)) fail_msg("%s: %s", keeps[k], d.message);
      const pol_body *given = pol_mechanism_body(model->mechanism, 1);
      pol_body_state found = state_of(simulation, 1);
      double away[3];
      turned_away(given, &found, away);
      check_kept(given->keep, given->position, found.position, 0);
      check_kept(given->keep >> 3, zero, away, 0);
      check_kept(given->keep >> 6, given->velocity, found.velocity, 0);
      check_kept(given->keep >> 9, given->angular_velocity, found.angular_velocity, 1);
      const pol_summary *summary = pol_simulation_summary(simulation);
      assert_true(summary->position_residual < 1e-13 && summary->velocity_residual < 1e-13);
      pol_simulation_free(&simulation);
      pol_model_free(&model);
    }
}

/* A body about a fixed point: its position follows from its rotation. */
static void kept_positions_bind_rotations_about_a_fixed_point(void **state)
{
  (void)state;
  static const pol_formulation_kind kinds[] = {POL_SO3_PIVOT, POL_SO3XR3, POL_SE3_BODY};
  for (int k = 0; k < 3; k++) {
    pol_simulation *simulation;
    pol_diagnostics d;
    pol_model *model = read_model_text(
        "{\"bodies\": [{\"name\": \"top\", \"mass\": 1, \"inertia\": [1, 1, 1],"
        " \"position\": [0.3, 0.4, 0.8], \"keep\": {\"position\": [\"x\", \"y\"]}}],"
        "\"markers\": [{\"name\": \"a\", \"body\": \"ground\"},"
        "{\"name\": \"b\", \"body\": \"top\", \"position\": [0, 0, -1]}],"
        "\"joints\": [{\"name\": \"tip\", \"type\": \"spherical\", \"markers\": [\"a\", \"b\"]}],"
        "\"simulation\": {\"step\": 0.001, \"end\": 0.1}}");
    model->settings.formulation = kinds[k];
    if (assemble(model, &simulation, &d)) fail_msg("%s", d.message);
    pol_body_state found = state_of(simulation, 0);
    const double expected[3] = {0.3, 0.4, sqrt(0.75)};
    assert_near(found.position, expected, 3, 1e-13);
    pol_simulation_free(&simulation);
    pol_model_free(&model);
  }
}

/* --- contradictions --------------------------------------------------------------------------- */

/* Fails as inconsistent in all formulations that take the model; each part is in the message. */
static void check_refused(const char *text, const char *const parts[], const char *absent)
{
  for (int kind = 0; kind < pol_formulation_count(); kind++) {
    pol_model *model = read_model_text(text);
    pol_simulation *simulation;
    pol_diagnostics d;
    model->settings.formulation = (pol_formulation_kind)kind;
    pol_status status = assemble(model, &simulation, &d);
    pol_model_free(&model);
    if (kind == POL_SO3_PIVOT && status == POL_BAD_ARGUMENT) continue;
    assert_int_equal(status, POL_INCONSISTENT);
    assert_int_equal(strncmp(d.message, "no ", 3), 0);
    if (kind == POL_DIRECTORS) continue; /* where bodies give way too, and are named */
    for (int i = 0; parts[i]; i++)
      if (!strstr(d.message, parts[i])) fail_msg("'%s' is not in: %s", parts[i], d.message);
    if (absent && strstr(d.message, absent)) fail_msg("'%s' is in: %s", absent, d.message);
    assert_true(d.equation >= 0 && d.where[0] && d.advice[0]);
  }
}

/* A bar of 1 m between pivots 1.2 m apart, with a pendulum on it that has no part in it. */
static void a_bar_too_short_names_both_pivots(void **state)
{
  (void)state;
  check_refused(
      "{\"bodies\": [{\"name\": \"bar\", \"mass\": 1, \"inertia\": [0.01, 0.1, 0.1],"
      " \"position\": [0.5, 0.1, 0]},"
      "{\"name\": \"bob\", \"mass\": 1, \"inertia\": [1, 1, 1], \"position\": [0.6, 0, -1]}],"
      "\"markers\": [{\"name\": \"l\", \"body\": \"ground\"},"
      "{\"name\": \"r\", \"body\": \"ground\", \"position\": [1.2, 0, 0]},"
      "{\"name\": \"bl\", \"body\": \"bar\", \"position\": [-0.5, 0, 0]},"
      "{\"name\": \"br\", \"body\": \"bar\", \"position\": [0.5, 0, 0]},"
      "{\"name\": \"bm\", \"body\": \"bar\"},"
      "{\"name\": \"pm\", \"body\": \"bob\", \"position\": [0, 0, 1]}],"
      "\"joints\": [{\"name\": \"left\", \"type\": \"spherical\", \"markers\": [\"l\", \"bl\"]},"
      "{\"name\": \"swing\", \"type\": \"spherical\", \"markers\": [\"bm\", \"pm\"]},"
      "{\"name\": \"right\", \"type\": \"spherical\", \"markers\": [\"r\", \"br\"]}],"
      "\"simulation\": {\"step\": 0.001, \"end\": 0.1}}",
      (const char *const[]){"no position satisfies joint 'left' and joint 'right' together: ",
                            "remains in joint 'left', translation x", "0.1 in joint 'right'", NULL},
      "swing");
}

/* Crank 0.2, coupler 0.3, rocker 0.3, pivots 1 m apart. */
static void a_four_bar_that_cannot_close_names_its_joints(void **state)
{
  (void)state;
  check_refused(
      "{\"bodies\": ["
      "{\"name\": \"crank\", \"mass\": 1, \"inertia\": [0.01, 0.01, 0.01], \"position\": [0.1, 0, "
      "0]},"
      "{\"name\": \"coupler\", \"mass\": 1, \"inertia\": [0.01, 0.01, 0.01], \"position\": [0.4, "
      "0.1, 0]},"
      "{\"name\": \"rocker\", \"mass\": 1, \"inertia\": [0.01, 0.01, 0.01], \"position\": [0.8, 0, "
      "0]}],"
      "\"markers\": [{\"name\": \"a0\", \"body\": \"ground\"},"
      "{\"name\": \"d0\", \"body\": \"ground\", \"position\": [1, 0, 0]},"
      "{\"name\": \"a1\", \"body\": \"crank\", \"position\": [-0.1, 0, 0]},"
      "{\"name\": \"b1\", \"body\": \"crank\", \"position\": [0.1, 0, 0]},"
      "{\"name\": \"b2\", \"body\": \"coupler\", \"position\": [-0.15, 0, 0]},"
      "{\"name\": \"c2\", \"body\": \"coupler\", \"position\": [0.15, 0, 0]},"
      "{\"name\": \"c3\", \"body\": \"rocker\", \"position\": [-0.15, 0, 0]},"
      "{\"name\": \"d3\", \"body\": \"rocker\", \"position\": [0.15, 0, 0]}],"
      "\"joints\": [{\"name\": \"A\", \"type\": \"revolute\", \"markers\": [\"a0\", \"a1\"]},"
      "{\"name\": \"B\", \"type\": \"revolute\", \"markers\": [\"b1\", \"b2\"]},"
      "{\"name\": \"C\", \"type\": \"revolute\", \"markers\": [\"c2\", \"c3\"]},"
      "{\"name\": \"D\", \"type\": \"revolute\", \"markers\": [\"d0\", \"d3\"]}],"
      "\"simulation\": {\"step\": 0.001, \"end\": 0.1}}",
      (const char *const[]){"no position satisfies joint 'A', joint 'B', joint 'C' and joint 'D' "
                            "together",
                            NULL},
      NULL);
}

/* Two wheels on one axle, with a drive for each and one between them: at different angles, then at
 * the same angle with different speeds. */
static void contradictory_drives_are_named(void **state)
{
  (void)state;
  static const char wheels[] =
      "{\"bodies\": [{\"name\": \"1\", \"mass\": 1, \"inertia\": [1, 1, 2]},"
      "{\"name\": \"2\", \"mass\": 1, \"inertia\": [1, 1, 2]}],"
      "\"joints\": ["
      "{\"name\": \"axle\", \"type\": \"revolute\", \"bodies\": [\"ground\", \"1\"], \"point\": "
      "[0, 0, 0],"
      " \"axis\": [0, 0, 1]},"
      "{\"name\": \"clutch\", \"type\": \"revolute\", \"bodies\": [\"1\", \"2\"], \"point\": [0, "
      "0, 0],"
      " \"axis\": [0, 0, 1]},"
      "{\"name\": \"brake\", \"type\": \"revolute\", \"bodies\": [\"ground\", \"2\"], \"point\": "
      "[0, 0, 0],"
      " \"axis\": [0, 0, 1]}],"
      "\"drives\": ["
      "{\"name\": \"first\", \"joint\": \"axle\", \"coordinate\": \"rotation\","
      " \"function\": {\"type\": \"polynomial\", \"coefficients\": [%s]}},"
      "{\"name\": \"between\", \"joint\": \"clutch\", \"coordinate\": \"rotation\","
      " \"function\": {\"type\": \"constant\", \"value\": 0}},"
      "{\"name\": \"second\", \"joint\": \"brake\", \"coordinate\": \"rotation\","
      " \"function\": {\"type\": \"constant\", \"value\": 0.1}}],"
      "\"simulation\": {\"step\": 0.001, \"end\": 0.1}}";
  char text[2000];
  snprintf(text, sizeof text, wheels, "0.2");
  check_refused(text,
                (const char *const[]){"no position satisfies drive 'first', drive 'between' and "
                                      "drive 'second' together: ",
                                      "remains in drive 'first'", NULL},
                "joint");
  snprintf(text, sizeof text, wheels, "0.1, 5");
  check_refused(text,
                (const char *const[]){"no velocity satisfies drive 'first', drive 'between' and "
                                      "drive 'second' together: ",
                                      NULL},
                "joint");
}

/* What is kept can contradict a joint; both are named. */
static void kept_values_that_joints_forbid_are_named(void **state)
{
  (void)state;
  char text[2000];
  snprintf(text, sizeof text, links, "\"position\": true, \"rotation\": true");
  check_refused(text,
                (const char *const[]){"no position satisfies joint 'hip', joint 'knee' and body "
                                      "'lower' together",
                                      "in body 'lower', kept position", NULL},
                NULL);
  check_refused(
      "{\"bodies\": [{\"name\": \"wheel\", \"mass\": 1, \"inertia\": [1, 1, 2],"
      " \"velocity\": [3, 0, 0], \"keep\": {\"velocity\": [\"x\"]}}],"
      "\"joints\": [{\"name\": \"axle\", \"type\": \"revolute\", \"bodies\": [\"ground\", "
      "\"wheel\"],"
      " \"point\": [0, 0, 0], \"axis\": [0, 0, 1]}],"
      "\"simulation\": {\"step\": 0.001, \"end\": 0.1}}",
      (const char *const[]){"no velocity satisfies joint 'axle' and body 'wheel' together: ",
                            "in body 'wheel', kept velocity x", NULL},
      NULL);
}

/* --- one start in all formulations ------------------------------------------------------------ */

/* A body given 1 rad off its hinge, with an angular velocity in the axes that stand for %s. */
static const char off_hinge[] =
    "{\"bodies\": [{\"name\": \"a\", \"mass\": 1, \"inertia\": [1, 1, 1],"
    " \"rotation\": {\"axis\": [0, 1, 0], \"angle\": 1.0}, \"%s\": [0, 0, 5]}],"
    "\"markers\": [{\"name\": \"g\", \"body\": \"ground\"}, {\"name\": \"m\", \"body\": \"a\"}],"
    "\"joints\": [{\"name\": \"h\", \"type\": \"revolute\", \"markers\": [\"g\", \"m\"]}],"
    "\"simulation\": {\"step\": 0.001, \"end\": 0.1}}";
/* A body on a pivot, off it, that is given a velocity only. */
static const char thrown[] =
    "{\"bodies\": [{\"name\": \"a\", \"mass\": 2, \"position\": [0.5, 0.1, -0.2],"
    " \"inertia\": [[0.1, 0.02, 0], [0.02, 0.2, 0.03], [0, 0.03, 0.25]],"
    " \"rotation\": {\"rotation_vector\": [0.3, -0.4, 0.7]}, \"velocity\": [1, 2, 3]}],"
    "\"markers\": [{\"name\": \"g\", \"body\": \"ground\"},"
    " {\"name\": \"m\", \"body\": \"a\", \"position\": [-0.3, 0.1, 0.2]}],"
    "\"joints\": [{\"name\": \"h\", \"type\": \"spherical\", \"markers\": [\"g\", \"m\"]}],"
    "\"simulation\": {\"step\": 0.001, \"end\": 0.1}}";

/* All bodies start alike in all formulations that accept the model; how many do. */
static int check_same_start(const char *text)
{
  int accepted = 0;
  pol_model *model = read_model_text(text);
  model->settings.formulation = POL_SO3XR3;
  pol_simulation *first = start(model), *other;
  for (int kind = 0; kind < pol_formulation_count(); kind++) {
    char message[256];
    if (pol_formulation_supports(model->mechanism, (pol_formulation_kind)kind, message, 256))
      continue;
    model->settings.formulation = (pol_formulation_kind)kind;
    other = start(model);
    for (int b = 0; b < pol_mechanism_num_bodies(model->mechanism); b++) {
      pol_body_state x = state_of(first, b), y = state_of(other, b);
      assert_near(x.position, y.position, 3, 1e-13);
      assert_near(x.rotation, y.rotation, 9, 1e-13);
      assert_near(x.velocity, y.velocity, 3, 1e-12);
      assert_near(x.angular_velocity, y.angular_velocity, 3, 1e-12);
    }
    pol_simulation_free(&other);
    accepted++;
  }
  pol_simulation_free(&first);
  pol_model_free(&model);
  return accepted;
}

static void initial_values_do_not_depend_on_the_formulation(void **state)
{
  (void)state;
  char text[2000];
  static const char *const keeps[] = {"", "\"angular_velocity\": true",
                                      "\"rotation\": [\"x\"], \"velocity\": [\"y\"]"};
  snprintf(text, sizeof text, off_hinge, "angular_velocity");
  assert_int_equal(check_same_start(text), pol_formulation_count() - 1); /* not so3 */
  snprintf(text, sizeof text, off_hinge, "angular_velocity_global");
  assert_int_equal(check_same_start(text), pol_formulation_count() - 1); /* not so3 */
  assert_int_equal(check_same_start(thrown), pol_formulation_count());
  for (size_t i = 0; i < sizeof keeps / sizeof *keeps; i++) {
    snprintf(text, sizeof text, links, keeps[i]);
    assert_int_equal(check_same_start(text), pol_formulation_count() - 1); /* not so3 */
  }
}

/* What is given is kept where the joint allows it: components in body axes, or the vector. */
static void given_angular_velocities_are_kept_in_their_axes(void **state)
{
  (void)state;
  static const double hinge[3] = {0.0, 0.0, 5.0};
  /* the body's third axis becomes the hinge's; so does the global one, wherever the body is */
  for (int global = 0; global < 2; global++) {
    char text[2000];
    snprintf(text, sizeof text, off_hinge, global ? "angular_velocity_global" : "angular_velocity");
    pol_model *model = read_model_text(text);
    pol_simulation *simulation = start(model);
    pol_body_state found = state_of(simulation, 0);
    assert_near(found.angular_velocity, hinge, 3, 1e-14);
    assert_near(&pol_simulation_summary(simulation)->moves.angular_velocity, &(double){0.0}, 1,
                1e-14);
    assert_near(&pol_simulation_summary(simulation)->moves.rotation, &(double){1.0}, 1, 1e-14);
    pol_simulation_free(&simulation);
    pol_model_free(&model);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(kept_values_stay_in_every_formulation),
      cmocka_unit_test(kept_positions_bind_rotations_about_a_fixed_point),
      cmocka_unit_test(a_bar_too_short_names_both_pivots),
      cmocka_unit_test(a_four_bar_that_cannot_close_names_its_joints),
      cmocka_unit_test(contradictory_drives_are_named),
      cmocka_unit_test(kept_values_that_joints_forbid_are_named),
      cmocka_unit_test(initial_values_do_not_depend_on_the_formulation),
      cmocka_unit_test(given_angular_velocities_are_kept_in_their_axes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
