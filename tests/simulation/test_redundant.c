/* Redundant constraints: found, named, left out or shared, and the motion right; positions where
 * others become redundant. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulation/simulate.h"

/* A planar four-bar about the y axis: crank, coupler and rocker; `loop` are the types of its
 * joints. */
static const char four_bar[] =
    "{ \"gravity\": [0, 0, -9.81], \"bodies\": ["
    "{\"name\": \"crank\", \"mass\": 1, \"inertia\": [0.01, 0.02, 0.02], \"position\": [0, 0, 0.5],"
    " \"angular_velocity\": [0, 3, 0]},"
    "{\"name\": \"coupler\", \"mass\": 3, \"inertia\": [0.01, 0.7, 0.7], \"position\": [1, 0, "
    "1.5]},"
    "{\"name\": \"rocker\", \"mass\": 2, \"inertia\": [0.01, 0.3, 0.3], \"position\": [2, 0, 1]}],"
    "\"joints\": ["
    "{\"name\": \"A\", \"type\": \"revolute\", \"bodies\": [\"ground\", \"crank\"], \"point\": [0, "
    "0, 0],"
    " \"axis\": [0, 1, 0]},"
    "{\"name\": \"B\", \"type\": %s, \"bodies\": [\"crank\", \"coupler\"], \"point\": [0, 0, 1]%s},"
    "{\"name\": \"C\", \"type\": %s, \"bodies\": [\"coupler\", \"rocker\"], \"point\": [2, 0, "
    "2]%s},"
    "{\"name\": \"D\", \"type\": \"revolute\", \"bodies\": [\"ground\", \"rocker\"], \"point\": "
    "[2, 0, 0],"
    " \"axis\": [0, 1, 0]}],"
    "\"simulation\": {\"step\": 0.001, \"end\": 0.5} }";

static pol_model *read_four_bar(int redundant)
{
  char text[3000];
  if (redundant)
    snprintf(text, sizeof text, four_bar, "\"revolute\"", ", \"axis\": [0, 1, 0]", "\"revolute\"",
             ", \"axis\": [0, 1, 0]");
  else
    snprintf(text, sizeof text, four_bar, "\"universal\"", ", \"axes\": [[1, 0, 0], [0, 1, 0]]",
             "\"spherical\"", "");
  return read_model_text(text);
}

/* Runs and gives the rocker's state at the end. */
static pol_body_state run(const pol_model *model, const pol_settings *settings, int expected)
{
  pol_simulation *simulation;
  pol_diagnostics diagnostics;
  pol_body_state rocker;
  int count;
  if (pol_simulation_create(&simulation, model->mechanism, settings, &diagnostics))
    fail_msg("%s", diagnostics.message);
  pol_simulation_dropped(simulation, &count);
  assert_int_equal(count, expected);
  while (!pol_simulation_finished(simulation))
    assert_int_equal(pol_simulation_step(simulation), POL_OK);
  const pol_state *state = pol_simulation_state(simulation);
  pol_formulation_body_state(pol_simulation_formulation(simulation), state->q, state->v, 2,
                             &rocker);
  assert_true(pol_simulation_summary(simulation)->max_position_residual < 1e-10 ||
              settings->options.index == POL_INDEX_2);
  pol_simulation_free(&simulation);
  return rocker;
}

static void planar_loops_move_as_if_nothing_were_redundant(void **state)
{
  (void)state;
  pol_model *loop = read_four_bar(1), *free_loop = read_four_bar(0);
  for (int kind = 0; kind < POL_TAIT_BRYAN; kind++)
    for (int index = POL_INDEX_3; index <= POL_INDEX_2_STABILIZED; index++)
      for (int solver = POL_SOLVER_DENSE; solver <= POL_SOLVER_SPARSE; solver++) {
        pol_settings settings = loop->settings;
        if (kind == POL_SO3_PIVOT) continue;
        settings.formulation = (pol_formulation_kind)kind;
        settings.options.index = (pol_index)index;
        settings.options.solver = (pol_solver_kind)solver;
        pol_body_state a = run(loop, &settings, 3), b = run(free_loop, &settings, 0);
        double tolerance = index == POL_INDEX_2 ? 1e-5 : 1e-7; /* index 2 drifts along other rows */
        assert_near(a.position, b.position, 3, tolerance);
        assert_near(a.angular_velocity, b.angular_velocity, 3, 100.0 * tolerance);
      }
  pol_model_free(&loop);
  pol_model_free(&free_loop);
}

/* Refused, with all three named; and nothing is dropped where nothing is redundant. */
static void redundant_rows_are_named(void **state)
{
  (void)state;
  pol_model *loop = read_four_bar(1);
  pol_simulation *simulation;
  pol_diagnostics diagnostics;
  loop->settings.options.redundant = POL_REDUNDANT_REFUSE;
  assert_int_equal(
      pol_simulation_create(&simulation, loop->mechanism, &loop->settings, &diagnostics),
      POL_SINGULAR);
  assert_non_null(strstr(diagnostics.message, "3 constraints follow from the others: joint '"));
  pol_model_free(&loop);
}

/* --- shared reactions ------------------------------------------------------------------------- */

/* B^T lambda, and the square of lambda but for the internal rows of the coordinates. */
static double reaction(const pol_simulation *simulation, double *balance)
{
  const pol_dae *dae = pol_formulation_dae(pol_simulation_formulation(simulation));
  const pol_state *state = pol_simulation_state(simulation);
  pol_point at = pol_state_point(state);
  pol_terms out = {.balance = balance};
  double *scratch = calloc(dae->scratch_size + 1, sizeof *scratch), square = 0.0;
  memset(balance, 0, (size_t)dae->group.nv * sizeof *balance);
  assert_int_equal(dae->evaluate(&at, POL_REACTION, &out, scratch, dae->user), POL_OK);
  free(scratch);
  for (int i = 0; i < pol_dae_num_constraints(dae); i++)
    if (i < dae->num_holonomic - dae->num_internal || i >= dae->num_holonomic)
      square += state->lambda[i] * state->lambda[i];
  return square;
}

/* The same motion to the last bit, the same reaction on the coordinates, shorter multipliers. */
static void sharing_changes_multipliers_only(void **state)
{
  (void)state;
  enum { MAX_NV = 21 };
  for (int kind = 0; kind < POL_TAIT_BRYAN; kind++)
    for (int index = POL_INDEX_3; index <= POL_INDEX_2_STABILIZED; index++) {
      pol_model *model = read_four_bar(1);
      if (kind == POL_SO3_PIVOT) {
        pol_model_free(&model);
        continue;
      }
      /* a load across the plane, which redundant rows carry */
      pol_mechanism_set_gravity(model->mechanism, (const double[3]){0.0, -5.0, -9.81});
      model->settings.formulation = (pol_formulation_kind)kind;
      model->settings.options.index = (pol_index)index;
      pol_simulation *drop = start(model);
      model->settings.options.redundant = POL_REDUNDANT_MINIMUM_NORM;
      pol_simulation *share = start(model);
      const pol_dae *dae = pol_formulation_dae(pol_simulation_formulation(share));
      for (int n = 0; n <= 40; n++) {
        double from_drop[MAX_NV], from_share[MAX_NV];
        const pol_state *a = pol_simulation_state(drop), *b = pol_simulation_state(share);
        assert_memory_equal(a->q, b->q, (size_t)dae->group.nq * sizeof *a->q);
        assert_memory_equal(a->v, b->v, (size_t)dae->group.nv * sizeof *a->v);
        double longer = reaction(drop, from_drop), shorter = reaction(share, from_share);
        assert_near(from_share, from_drop, dae->group.nv, 1e-9);
        assert_true(shorter < 0.999 * longer);
        assert_int_equal(pol_simulation_step(drop), POL_OK);
        assert_int_equal(pol_simulation_step(share), POL_OK);
      }
      pol_simulation_free(&drop);
      pol_simulation_free(&share);
      pol_model_free(&model);
    }
}

/* Shared reactions are those of the mechanism, whatever its coordinates, and what is dropped are
 * rows of joints, never what the coordinates need for themselves. */
static void coordinates_do_not_matter(void **state)
{
  (void)state;
  enum { JOINTS = 4 };
  double first[JOINTS][6];
  for (int solver = POL_SOLVER_DENSE; solver <= POL_SOLVER_SPARSE; solver++)
    for (int kind = 0; kind < pol_formulation_count(); kind++) {
      if (kind == POL_SO3_PIVOT) continue;
      pol_model *model = read_four_bar(1);
      pol_mechanism_set_gravity(model->mechanism, (const double[3]){0.0, -5.0, -9.81});
      model->settings.formulation = (pol_formulation_kind)kind;
      model->settings.options.solver = (pol_solver_kind)solver;
      model->settings.options.redundant = POL_REDUNDANT_MINIMUM_NORM;
      pol_simulation *simulation = start(model);
      const pol_formulation *formulation = pol_simulation_formulation(simulation);
      const pol_dae *dae = pol_formulation_dae(formulation);
      int count;
      const unsigned char *dropped = pol_simulation_dropped(simulation, &count);
      assert_int_equal(count, 3);
      for (int i = 0; i < pol_dae_num_constraints(dae); i++) {
        char text[128];
        if (!dropped[i]) continue;
        dae->describe(dae->group.nv + i, text, sizeof text, dae->user);
        assert_memory_equal(text, "joint '", 7);
      }
      pol_point at = pol_state_point(pol_simulation_state(simulation));
      for (int joint = 0; joint < JOINTS; joint++) {
        double wrench[6];
        pol_formulation_reaction(formulation, &at, joint, wrench, wrench + 3);
        if (kind == 0 && solver == POL_SOLVER_DENSE) memcpy(first[joint], wrench, sizeof wrench);
        assert_near(wrench, first[joint], 6, 1e-9);
      }
      pol_simulation_free(&simulation);
      pol_model_free(&model);
    }
  assert_true(fabs(first[0][1]) > 1.0); /* the redundant rows do carry the load across */
}

/* A door of 10 kg on two hinges 1.2 m apart, its centre of mass 0.4 m from them: each carries half
 * the weight, and of all pairs of forces f and torques c with 2 c + 1.2 f = 39.24 N m against the
 * tilt the one with the least sum of squares 2 f^2 + 2 c^2. */
static void hinges_of_a_door_share_its_weight(void **state)
{
  (void)state;
  pol_model *model = read_model_text(
      "{ \"gravity\": [0, 0, -9.81], \"bodies\": [{\"name\": \"door\", \"mass\": 10,"
      " \"inertia\": [1, 1, 0.5], \"position\": [0.4, 0, 1]}],"
      "\"joints\": [{\"name\": \"upper\", \"type\": \"revolute\", \"bodies\": [\"ground\", "
      "\"door\"], \"point\": [0, 0, 1.6], \"axis\": [0, 0, 1]},"
      "{\"name\": \"lower\", \"type\": \"revolute\", \"bodies\": [\"ground\", \"door\"],"
      " \"point\": [0, 0, 0.4], \"axis\": [0, 0, 1]}],"
      "\"simulation\": {\"step\": 0.01, \"end\": 0.1, \"redundant\": \"minimum-norm\"}}");
  pol_simulation *simulation = start(model);
  const double moment = 10.0 * 9.81 * 0.4, f = 1.2 * moment / (1.2 * 1.2 + 4.0);
  const double c = (moment - 1.2 * f) / 2.0;
  for (int n = 0; n < 5; n++) {
    pol_point at = pol_state_point(pol_simulation_state(simulation));
    for (int joint = 0; joint < 2; joint++) {
      double force[3], torque[3];
      const double expected[3] = {joint == 0 ? -f : f, 0.0, 49.05}, against[3] = {0.0, -c, 0.0};
      pol_formulation_reaction(pol_simulation_formulation(simulation), &at, joint, force, torque);
      assert_near(force, expected, 3, 1e-9);
      assert_near(torque, against, 3, 1e-9);
    }
    assert_int_equal(pol_simulation_step(simulation), POL_OK);
  }
  pol_simulation_free(&simulation);
  pol_model_free(&model);
}

/* A force that depends on a reaction needs that to be one, which no rule for sharing makes it. */
static void what_reads_reactions_does_not_share_them(void **state)
{
  (void)state;
  pol_model *model = read_model_text(
      "{ \"bodies\": [{\"name\": \"door\", \"mass\": 10, \"inertia\": [1, 1, 0.5],"
      " \"position\": [0.4, 0, 1]}],"
      "\"joints\": [{\"name\": \"upper\", \"type\": \"revolute\", \"bodies\": [\"ground\", "
      "\"door\"], \"point\": [0, 0, 1.6], \"axis\": [0, 0, 1]},"
      "{\"name\": \"lower\", \"type\": \"revolute\", \"bodies\": [\"ground\", \"door\"],"
      " \"point\": [0, 0, 0.4], \"axis\": [0, 0, 1]}],"
      "\"forces\": [{\"name\": \"push\", \"type\": \"force\", \"body\": \"door\","
      " \"force\": [\"0.1*upper.force.z\", 0, 0]}],"
      "\"simulation\": {\"step\": 0.01, \"end\": 0.1, \"redundant\": \"minimum-norm\"}}");
  pol_simulation *simulation;
  pol_diagnostics d;
  assert_int_equal(pol_simulation_create(&simulation, model->mechanism, &model->settings, &d),
                   POL_SINGULAR);
  assert_string_equal(
      d.message, "forces depend on reactions that are not unique because of redundant constraints");
  assert_string_equal(d.advice,
                      "use joints with fewer constraints, or let redundant constraints be dropped");
  pol_model_free(&model);
}

/* --- what depends on the position ------------------------------------------------------------- */

/* Two cranks of 0.1 m on pivots 0.3 m apart with a coupler between them: a parallelogram that
 * starts at an angle (rad) with 6 rad/s and passes its flat positions. */
static pol_model *read_parallelogram(double angle)
{
  static const char text[] =
      "{ \"bodies\": ["
      "{\"name\": \"crank\", \"mass\": 0.1, \"inertia\": [1e-5, 1e-4, 1e-4], \"position\": [%.17g, "
      "%.17g, 0],"
      " \"rotation\": {\"axis\": [0, 0, 1], \"angle\": %.17g}, \"angular_velocity\": [0, 0, 6]},"
      "{\"name\": \"coupler\", \"mass\": 0.3, \"inertia\": [1e-5, 2e-3, 2e-3], \"position\": "
      "[%.17g, %.17g, 0]},"
      "{\"name\": \"rocker\", \"mass\": 0.1, \"inertia\": [1e-5, 1e-4, 1e-4], \"position\": "
      "[%.17g, %.17g, 0],"
      " \"rotation\": {\"axis\": [0, 0, 1], \"angle\": %.17g}}],"
      "\"joints\": ["
      "{\"name\": \"A\", \"type\": \"revolute\", \"bodies\": [\"ground\", \"crank\"], \"point\": "
      "[0, 0, 0], \"axis\": [0, 0, 1]},"
      "{\"name\": \"B\", \"type\": \"revolute\", \"bodies\": [\"crank\", \"coupler\"], \"point\": "
      "[%.17g, %.17g, 0], \"axis\": [0, 0, 1]},"
      "{\"name\": \"C\", \"type\": \"revolute\", \"bodies\": [\"coupler\", \"rocker\"], \"point\": "
      "[%.17g, %.17g, 0], \"axis\": [0, 0, 1]},"
      "{\"name\": \"D\", \"type\": \"revolute\", \"bodies\": [\"ground\", \"rocker\"], \"point\": "
      "[0.3, 0, 0], \"axis\": [0, 0, 1]}],"
      "\"simulation\": {\"step\": 0.001, \"end\": 1} }";
  char filled[4000];
  double x = 0.1 * cos(angle), y = 0.1 * sin(angle);
  snprintf(filled, sizeof filled, text, 0.5 * x, 0.5 * y, angle, x + 0.15, y, 0.3 + 0.5 * x,
           0.5 * y, angle, x, y, 0.3 + x, y);
  return read_model_text(filled);
}

/* From 1 rad at 6 rad/s the links are in one line at (pi - 1)/6 and (2 pi - 1)/6 s.  Newton's
 * method steps across, but for Euler parameters, whose run stops there and says why. */
static void flat_positions_on_the_way_are_told(void **state)
{
  (void)state;
  static const double pi = 3.14159265358979323846, steps[] = {1e-3, 3e-3, 1e-2};
  const double flat = (pi - 1.0) / 6.0, second = (2.0 * pi - 1.0) / 6.0;
  for (int kind = 0; kind < POL_TAIT_BRYAN; kind++)
    for (int k = 0; k < 3; k++) {
      pol_model *model = read_parallelogram(1.0);
      pol_status status = POL_OK;
      if (kind == POL_SO3_PIVOT) {
        pol_model_free(&model);
        continue;
      }
      model->settings.formulation = (pol_formulation_kind)kind;
      model->settings.step = steps[k];
      pol_simulation *simulation = start(model);
      while (!pol_simulation_finished(simulation) && !status)
        status = pol_simulation_step(simulation);
      const pol_singular *singular = &pol_simulation_summary(simulation)->singular;
      const pol_diagnostics *d = pol_simulation_diagnostics(simulation);
      if (status) {
        assert_int_equal(kind, POL_EULER_PARAMETERS);
        assert_true(fmin(fabs(d->t - flat), fabs(d->t - second)) <= 2.0 * steps[k]);
        assert_non_null(strstr(d->message, "near a singular position, where others imply joint '"));
      } else {
        assert_int_equal(singular->count, 2);
        assert_true(fabs(singular->t - flat) <= steps[k]);
        assert_non_null(strstr(singular->where, "joint '"));
      }
      pol_simulation_free(&simulation);
      pol_model_free(&model);
    }
}

/* Where more rows depend on each other at the start than later, one of those left out was needed.
 */
static void a_flat_start_is_refused_at_the_first_step(void **state)
{
  (void)state;
  for (int index = POL_INDEX_3; index <= POL_INDEX_2_STABILIZED; index++) {
    pol_model *model = read_parallelogram(0.0);
    model->settings.options.index = (pol_index)index;
    pol_simulation *simulation = start(model);
    int count;
    pol_simulation_dropped(simulation, &count);
    assert_int_equal(count, 4);
    assert_int_equal(pol_simulation_step(simulation), POL_INCONSISTENT);
    const pol_diagnostics *d = pol_simulation_diagnostics(simulation);
    assert_non_null(strstr(d->message, "was redundant at the start no longer follows"));
    assert_non_null(strstr(d->where, "joint '"));
    assert_true(d->t == 1e-3 && d->step == 1 && d->advice[0]);
    assert_true(pol_simulation_state(simulation)->t == 0.0);
    pol_simulation_free(&simulation);
    pol_model_free(&model);
  }
}

/* --- slider-crank ----------------------------------------------------------------------------- */

/* A crank of 0.1 m at 1 rad, a rod of 0.3 m and a slider along x, in the x-y plane: redundant by
 * one row.  Both bearings of the crank are written in its axes.  `crank` are more keys of the
 * crank, `drives` of the model. */
static pol_model *read_slider_crank(const char *crank, const char *drives)
{
  static const char text[] =
      "{ \"bodies\": ["
      "{\"name\": \"crank\", \"mass\": 0.1, \"inertia\": [1e-5, 1e-4, 1e-4], \"position\": "
      "[%.17g, %.17g, 0], \"rotation\": {\"axis\": [0, 0, 1], \"angle\": 1}%s},"
      "{\"name\": \"rod\", \"mass\": 0.1, \"inertia\": [1e-5, 1e-3, 1e-3], \"position\": "
      "[%.17g, %.17g, 0], \"rotation\": {\"axis\": [0, 0, 1], \"angle\": %.17g}},"
      "{\"name\": \"slider\", \"mass\": 0.1, \"inertia\": [1e-4, 1e-4, 1e-4], \"position\": "
      "[%.17g, 0, 0]}],"
      "\"joints\": ["
      "{\"name\": \"A\", \"type\": \"revolute\", \"bodies\": [\"crank\", \"ground\"], "
      "\"point\": [0, 0, 0], \"axis\": [0, 0, 1]},"
      "{\"name\": \"B\", \"type\": \"revolute\", \"bodies\": [\"crank\", \"rod\"], \"point\": "
      "[%.17g, %.17g, 0], \"axis\": [0, 0, 1]},"
      "{\"name\": \"C\", \"type\": \"spherical\", \"bodies\": [\"rod\", \"slider\"], "
      "\"point\": [%.17g, 0, 0]},"
      "{\"name\": \"G\", \"type\": \"prismatic\", \"bodies\": [\"ground\", \"slider\"], "
      "\"point\": [0, 0, 0], \"axis\": [1, 0, 0]}],"
      "%s \"simulation\": {\"step\": 0.001, \"end\": 1} }";
  const double x = 0.1 * cos(1.0), y = 0.1 * sin(1.0), end = x + sqrt(0.09 - y * y);
  char filled[3000];
  snprintf(filled, sizeof filled, text, 0.5 * x, 0.5 * y, crank, 0.5 * (x + end), 0.5 * y,
           atan2(-y, end - x), end, x, y, end, drives);
  return read_model_text(filled);
}

/* Which row is best dropped changes as the links turn.  Without a new choice the rows that are kept
 * would become dependent twice a turn, and their multipliers grow without bound under a load across
 * the plane. */
static void the_choice_follows_the_motion(void **state)
{
  (void)state;
  enum { MAX_M = 20 };
  for (int share = 0; share < 2; share++) {
    pol_model *model = read_slider_crank(", \"angular_velocity\": [0, 0, 6]", "");
    double before[MAX_M], largest = 0.0, jump = 0.0;
    unsigned char first[MAX_M];
    int chosen_anew = 0, count;
    pol_mechanism_set_gravity(model->mechanism, (const double[3]){0.0, 0.0, -9.81});
    model->settings.options.redundant = share ? POL_REDUNDANT_MINIMUM_NORM : POL_REDUNDANT_DROP;
    pol_simulation *simulation = start(model);
    const pol_state *now = pol_simulation_state(simulation);
    int m = pol_dae_num_constraints(pol_formulation_dae(pol_simulation_formulation(simulation)));
    assert_true(m <= MAX_M);
    memcpy(first, pol_simulation_dropped(simulation, &count), (size_t)m);
    while (!pol_simulation_finished(simulation)) {
      memcpy(before, now->lambda, (size_t)m * sizeof *before);
      assert_int_equal(pol_simulation_step(simulation), POL_OK);
      chosen_anew |= memcmp(first, pol_simulation_dropped(simulation, &count), (size_t)m) != 0;
      assert_int_equal(count, 1);
      for (int i = 0; i < m; i++) {
        largest = fmax(largest, fabs(now->lambda[i]));
        jump = fmax(jump, fabs(now->lambda[i] - before[i]));
      }
    }
    assert_true(chosen_anew);
    assert_int_equal(pol_simulation_summary(simulation)->singular.count, 0);
    assert_true(largest < 10.0); /* N and N m; the weight is 3 N */
    /* shared reactions do not depend on the choice: they change with the motion only */
    if (share)
      assert_true(jump < 0.1);
    else
      assert_true(jump > 1.0);
    pol_simulation_free(&simulation);
    pol_model_free(&model);
  }
}

/* A slider that pulls the crank: at 0.4 m both are in one line, and it cannot go on. */
static void a_dead_centre_is_named(void **state)
{
  (void)state;
  const double first = 0.1 * cos(1.0) + sqrt(0.09 - 0.01 * sin(1.0) * sin(1.0));
  for (int index = POL_INDEX_3; index <= POL_INDEX_2_STABILIZED; index++) {
    pol_model *model = read_slider_crank(
        "", "\"drives\": [{\"name\": \"pull\", \"joint\": \"G\", \"coordinate\": \"translation\","
            " \"function\": {\"type\": \"polynomial\", \"coefficients\": [0, 0.3]}}],");
    model->settings.options.index = (pol_index)index;
    pol_simulation *simulation = start(model);
    pol_status status = POL_OK;
    while (!pol_simulation_finished(simulation) && !status)
      status = pol_simulation_step(simulation);
    const pol_diagnostics *d = pol_simulation_diagnostics(simulation);
    assert_true(status > 0);
    assert_true(fabs(d->t - (0.4 - first) / 0.3) <= 2e-3);
    /* index 2 stops a step earlier, before the position shows */
    if (index != POL_INDEX_2)
      assert_non_null(strstr(d->message, "near a singular position, where others imply joint '"));
    pol_simulation_free(&simulation);
    pol_model_free(&model);
  }
}

/* --- one choice ------------------------------------------------------------------------------- */

/* A door on `hinges` hinges along a skew axis, whose axes of inertia are skew, too. */
static pol_model *read_skew_door(int hinges)
{
  char text[4000];
  int used =
      snprintf(text, sizeof text,
               "{\"gravity\": [0.1, 0.2, -9.81], \"bodies\": [{\"name\": \"door\", \"mass\": 3,"
               "\"inertia\": [[0.3, 0.02, 0.01], [0.02, 0.4, 0.03], [0.01, 0.03, 0.35]],"
               "\"position\": [0.5, 0.2, 0.3],"
               "\"rotation\": {\"rotation_vector\": [0.3, 1.1, -0.4]}}], \"joints\": [");
  for (int k = 0; k < hinges; k++)
    used += snprintf(text + used, sizeof text - (size_t)used,
                     "%s{\"name\": \"h%d\", \"type\": \"revolute\", \"bodies\": [\"ground\", "
                     "\"door\"], \"point\": [%.3f, %.3f, %.3f], \"axis\": [0.3, -0.5, 0.8]}",
                     k > 0 ? "," : "", k, 0.15 * k, -0.25 * k, 0.4 * k);
  snprintf(text + used, sizeof text - (size_t)used,
           "], \"simulation\": {\"step\": 0.001, \"end\": 0.1}}");
  return read_model_text(text);
}

/* The same rows are left out in all formulations. */
static void check_one_choice(pol_model *model, int expected)
{
  unsigned char first[64];
  for (int kind = 0; kind < pol_formulation_count(); kind++) {
    if (kind == POL_SO3_PIVOT) continue; /* has no rows for pivots */
    model->settings.formulation = (pol_formulation_kind)kind;
    pol_simulation *simulation = start(model);
    const pol_dae *dae = pol_formulation_dae(pol_simulation_formulation(simulation));
    int count, rows = dae->num_holonomic - dae->num_internal;
    const unsigned char *dropped = pol_simulation_dropped(simulation, &count);
    assert_int_equal(count, expected);
    assert_true(rows <= 64);
    if (kind == 0) memcpy(first, dropped, (size_t)rows);
    assert_memory_equal(first, dropped, (size_t)rows);
    pol_simulation_free(&simulation);
  }
}

static void the_choice_does_not_depend_on_the_formulation(void **state)
{
  (void)state;
  for (int hinges = 2; hinges <= 4; hinges++) {
    pol_model *model = read_skew_door(hinges);
    check_one_choice(model, 5 * (hinges - 1));
    pol_model_free(&model);
  }
  pol_model *loop = read_four_bar(1);
  check_one_choice(loop, 3);
  pol_model_free(&loop);
  pol_model *skew =
      read_model(POLHODE_SOURCE_DIR "/tests/data/redundant/friction_on_open_reaction.json");
  check_one_choice(skew, 3);
  pol_model_free(&skew);
}

/* Also in the reactions: rattle in so3xr3 has an elimination of its own, but what is listed as left
 * out has no reaction, and the others have those of geom1, which differ by the error of both. */
static void rattle_leaves_out_what_is_listed(void **state)
{
  (void)state;
  for (int loop = 0; loop < 2; loop++) {
    pol_model *model = loop ? read_four_bar(1) : read_skew_door(3);
    double last[64];
    for (int rattle = 0; rattle < 2; rattle++) {
      pol_options_set_method(&model->settings.options, rattle ? "rattle" : "geom1");
      model->settings.step = 0.0005;
      model->settings.end = 0.05;
      pol_simulation *simulation = start(model);
      step_to_end(simulation);
      int count,
          m = pol_dae_num_constraints(pol_formulation_dae(pol_simulation_formulation(simulation)));
      const unsigned char *dropped = pol_simulation_dropped(simulation, &count);
      const double *lambda = pol_simulation_state(simulation)->lambda;
      assert_true(count > 0 && m <= 64);
      for (int i = 0; i < m; i++)
        if (dropped[i]) assert_true(lambda[i] == 0.0);
      if (rattle) assert_near(lambda, last, m, 2e-3);
      memcpy(last, lambda, (size_t)m * sizeof *last);
      pol_simulation_free(&simulation);
    }
    pol_model_free(&model);
  }
}

/* The body in the middle at the end of a run, and how many warnings there were. */
static pol_body_state run_friction(const char *expression, pol_formulation_kind kind, int *warnings)
{
  const char *const overrides[] = {expression};
  pol_model *model = read_model_with(
      POLHODE_SOURCE_DIR "/tests/data/redundant/friction_on_open_reaction.json", 1, overrides);
  pol_body_state result;
  model->settings.formulation = kind;
  pol_simulation *simulation = start(model);
  step_to_end(simulation);
  const pol_state *end = pol_simulation_state(simulation);
  pol_formulation_body_state(pol_simulation_formulation(simulation), end->q, end->v, 1, &result);
  *warnings = pol_simulation_summary(simulation)->num_warnings;
  pol_simulation_free(&simulation);
  pol_model_free(&model);
  return result;
}

/* Forces that read an open reaction have the same motion in all formulations, with a warning;
 * without one where the reaction is determined, as is the force in the plane of the loop. */
static void open_reactions_are_doubted(void **state)
{
  (void)state;
  static const char open[] = "forces[1].force=[\"0.0155*j2.torque.z\",0,0]";
  static const char determined[] = "forces[1].force=[\"0.0155*j2.force_local.x\",0,0]";
  static const pol_formulation_kind kinds[] = {POL_SE3_BODY, POL_SO3XR3_SPATIAL,
                                               POL_EULER_PARAMETERS, POL_DIRECTORS};
  int warnings;
  pol_body_state first = run_friction(open, POL_SO3XR3, &warnings);
  assert_int_equal(warnings, 1);
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    pol_body_state other = run_friction(open, kinds[k], &warnings);
    assert_int_equal(warnings, 1);
    assert_near(first.position, other.position, 3, 1e-9); /* was 1e-6 to 5e-6 */
  }
  run_friction(determined, POL_SO3XR3, &warnings);
  assert_int_equal(warnings, 0);
}

/* So do events, directly and by way of a variable. */
static void events_on_open_reactions_are_reported(void **state)
{
  (void)state;
  static const struct {
    const char *reads;
    int warnings;
  } cases[] = {{"j2.torque.z", 1}, {"load", 1}, {"j2.force_local.x", 0}, {"t", 0}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    char events[200];
    snprintf(events, sizeof events,
             "events=[{\"name\": \"e\", \"expression\": \"%s - 1e9\", \"action\": \"stop\"}]",
             cases[k].reads);
    const char *const overrides[] = {"forces[1].force=[0,0,0]", events,
                                     "variables=[{\"name\": \"load\", \"expression\": "
                                     "\"2*j2.torque.z\"}]"};
    pol_model *model = read_model_with(
        POLHODE_SOURCE_DIR "/tests/data/redundant/friction_on_open_reaction.json", 3, overrides);
    pol_simulation *simulation = start(model);
    const pol_summary *summary = pol_simulation_summary(simulation);
    if (summary->num_warnings != cases[k].warnings)
      fail_msg("%s: %d warnings, %s", cases[k].reads, summary->num_warnings,
               summary->warnings[0].message);
    if (summary->num_warnings > 0) assert_non_null(strstr(summary->warnings[0].message, "events"));
    pol_simulation_free(&simulation);
    pol_model_free(&model);
  }
}

/* A loop that turns far from its start has no singular position, in whatever way it is run: methods
 * whose positions are off the constraints by their error choose rows anew as others do. */
static void a_loop_of_hinges_is_not_singular(void **state)
{
  (void)state;
  static const struct {
    const char *method;
    pol_formulation_kind formulation;
  } ways[] = {{"geom1", POL_SO3XR3},
              {"geom1", POL_EULER_PARAMETERS},
              {"vi-a", POL_EULER_PARAMETERS},
              {"vi-a", POL_DIRECTORS},
              {"em", POL_EULER_PARAMETERS}};
  double position[3];
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
    pol_model *model = read_model(POLHODE_SOURCE_DIR "/tests/data/bricard.json");
    pol_body_state body;
    model->settings.formulation = ways[i].formulation;
    model->settings.options.method = ways[i].method;
    model->settings.step = 0.005;
    model->settings.end = 2.0;
    pol_simulation *simulation = start(model);
    step_to_end(simulation);
    assert_int_equal(pol_simulation_summary(simulation)->singular.count, 0);
    const pol_state *end = pol_simulation_state(simulation);
    pol_formulation_body_state(pol_simulation_formulation(simulation), end->q, end->v, 2, &body);
    if (i == 0) memcpy(position, body.position, sizeof position);
    assert_near(body.position, position, 3, 1e-3);
    pol_simulation_free(&simulation);
    pol_model_free(&model);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(planar_loops_move_as_if_nothing_were_redundant),
      cmocka_unit_test(redundant_rows_are_named),
      cmocka_unit_test(sharing_changes_multipliers_only),
      cmocka_unit_test(coordinates_do_not_matter),
      cmocka_unit_test(hinges_of_a_door_share_its_weight),
      cmocka_unit_test(what_reads_reactions_does_not_share_them),
      cmocka_unit_test(flat_positions_on_the_way_are_told),
      cmocka_unit_test(the_choice_follows_the_motion),
      cmocka_unit_test(a_flat_start_is_refused_at_the_first_step),
      cmocka_unit_test(a_dead_centre_is_named),
      cmocka_unit_test(the_choice_does_not_depend_on_the_formulation),
      cmocka_unit_test(rattle_leaves_out_what_is_listed),
      cmocka_unit_test(open_reactions_are_doubted),
      cmocka_unit_test(events_on_open_reactions_are_reported),
      cmocka_unit_test(a_loop_of_hinges_is_not_singular),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
