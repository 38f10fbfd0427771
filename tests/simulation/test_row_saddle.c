/* Consistent initial values by rows against the saddle-point matrix: the same positions,
 * velocities, accelerations and responses, with what is kept and what is dropped; and large
 * systems, which are assembled by rows. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "dae/assembler.h"
#include "dae/extension.h"
#include "dae/row_saddle.h"
#include "integrators/alpha.h"
#include "integrators/family.h"
#include "simulation/chain.h"
#include "simulation/parts.h"
#include "simulation/simulate.h"

#define MODELS POLHODE_SOURCE_DIR "/models/"
#define DATA POLHODE_SOURCE_DIR "/tests/data/"

enum { MOST = 400 };

static const char *const paths[] = {MODELS "bruels-cardona-2010/heavy_top.json",
                                    MODELS "holzinger-arnold-gerstmayr/slider_crank.json",
                                    MODELS "examples/chain_20.json",
                                    MODELS "examples/four_bar_motor.json",
                                    MODELS "examples/governor.json",
                                    DATA "loops/four_bar.json",
                                    DATA "rattle/joint_zoo.json"};
enum { NUM_PATHS = sizeof paths / sizeof paths[0] };

/* A model in one formulation with two assemblers, at initial values near those of the model. */
typedef struct pair {
  const char *path;
  pol_model *model;
  pol_formulation *formulation;
  const pol_dae *dae;
  pol_assembler *by[2]; /* rows, matrix */
  int nq, nv, m;
  double q[MOST], v[MOST], history[MOST];
  unsigned char keep[MOST];
} pair;

static void set_up(pair *p, const char *path, pol_formulation_kind kind, double moved)
{
  uint64_t seed = 7;
  double step[MOST], q[MOST];
  *p = (pair){.path = path, .model = read_model(path)};
  assert_int_equal(pol_formulation_create(&p->formulation, p->model->mechanism, kind), POL_OK);
  p->dae = pol_formulation_dae(p->formulation);
  p->nq = p->dae->group.nq;
  p->nv = p->dae->group.nv;
  p->m = pol_dae_num_constraints(p->dae);
  assert_true(p->nq <= MOST && p->m <= MOST && p->dae->history_size <= MOST);
  assert_true(poli_row_saddle_applies(p->dae));
  for (int i = 0; i < 2; i++) {
    assert_int_equal(poli_assembler_create(&p->by[i], p->dae, POL_SOLVER_AUTO,
                                           i ? POLI_ASSEMBLE_BY_MATRIX : POLI_ASSEMBLE_BY_ROWS),
                     POL_OK);
    assert_int_equal(poli_assembler_has_rows(p->by[i]), !i);
  }
  pol_formulation_initial(p->formulation, q, p->v, p->keep);
  random_numbers(&seed, step, p->nv);
  for (int i = 0; i < p->nv; i++) step[i] *= moved;
  pol_group_move(&p->dae->group, q, step, p->q);
  if (p->dae->update_history) {
    p->dae->update_history(0.0, p->q, p->history, p->dae->user);
    for (int i = 0; i < 2; i++) poli_assembler_set_history(p->by[i], p->history);
  }
}

static void tear_down(pair *p)
{
  for (int i = 0; i < 2; i++) pol_assembler_free(&p->by[i]);
  pol_formulation_free(&p->formulation);
  pol_model_free(&p->model);
}

static void expect_equal(const pair *p, const char *what, const double *rows, const double *matrix,
                         int n, double tolerance)
{
  double size = 1.0, off = 0.0;
  for (int i = 0; i < n; i++) {
    size = fmax(size, fabs(matrix[i]));
    off = fmax(off, fabs(rows[i] - matrix[i]));
  }
  if (!(off <= tolerance * size)) fail_msg("%s, %s: %g of %g", p->path, what, off, size);
}

/* Whether the matrix of an assembler has been made. */
static int has_matrix(pol_assembler *assembler)
{
  return poli_assembler_saddle(assembler)->solver != NULL;
}

/* --- the same values -------------------------------------------------------------------------- */

static void positions_and_velocities_are_the_same(void **state)
{
  (void)state;
  for (int c = 0; c < 2 * NUM_PATHS; c++)
    for (int keeps = 0; keeps < 3; keeps++) {
      pair p;
      double q[2][MOST], v[2][MOST];
      uint64_t seed = 3;
      int kept[2];
      set_up(&p, paths[c / 2], c % 2 ? POL_SO3XR3_SPATIAL : POL_SO3XR3, 1e-3);
      random_numbers(&seed, p.v, p.nv);
      /* nothing, angular velocities of every second body, all of every third */
      for (int i = 0; i < p.nv; i++)
        p.keep[i] = keeps == 1 ? i / 6 % 2 == 0 && i % 6 < 3 : i / 6 % 3 == 0;
      for (int i = 0; i < 2; i++) {
        pol_diagnostics d;
        memcpy(q[i], p.q, sizeof p.q);
        memcpy(v[i], p.v, sizeof p.v);
        assert_int_equal(pol_assembler_position(p.by[i], 0.1, q[i], &d), POL_OK);
        assert_int_equal(
            pol_assembler_velocity(p.by[i], 0.1, q[0], v[i], keeps ? p.keep : NULL, &kept[i], &d),
            POL_OK);
      }
      assert_int_equal(kept[0], kept[1]);
      /* of loops, whose constraints may be redundant, the matrix has the condition 1/eps */
      const double eps = 1e-9;
      const double tolerance = poli_assembler_is_tree(p.by[0]) ? 1e-12 : 2e-16 / eps;
      expect_equal(&p, "positions", q[0], q[1], p.nq, tolerance);
      expect_equal(&p, "velocities", v[0], v[1], p.nv, 1e-8);
      assert_false(has_matrix(p.by[0]));
      tear_down(&p);
    }
}

/* With the constraints of the choice for redundant loops, at consistent positions. */
static void accelerations_and_responses_are_the_same(void **state)
{
  (void)state;
  for (int c = 0; c < 2 * NUM_PATHS; c++) {
    pair p;
    double x[2][4][MOST], lambda[2][MOST], f[MOST];
    uint64_t seed = 5;
    int dropped = 0;
    pol_diagnostics d;
    set_up(&p, paths[c / 2], c % 2 ? POL_SO3XR3_SPATIAL : POL_SO3XR3, 0.0);
    assert_int_equal(pol_assembler_position(p.by[1], 0.0, p.q, &d), POL_OK);
    assert_int_equal(pol_assembler_velocity(p.by[1], 0.0, p.q, p.v, p.keep, NULL, &d), POL_OK);
    assert_int_equal(pol_assembler_drop_redundant(p.by[1], 0.0, p.q, &dropped, &d), POL_OK);
    poli_assembler_set_dropped(p.by[0], pol_assembler_dropped(p.by[1]));
    random_numbers(&seed, f, p.nv);
    const poli_rigid_bodies *bodies = poli_dae_rigid_bodies(p.dae);
    for (int b = 0; b < bodies->count; b++) /* impulses of velocities of the size 1 */
      for (int k = 0; k < 6; k++)
        f[bodies->items[b].v + k] *=
            k < 3 ? bodies->items[b].inertia[4 * k] : bodies->items[b].mass;
    for (int i = 0; i < 2; i++) {
      pol_assembler *a = p.by[i];
      assert_int_equal(pol_assembler_acceleration(a, 0.0, p.q, p.v, x[i][0], lambda[i], &d),
                       POL_OK);
      memcpy(x[i][1], p.v, sizeof p.v);
      x[i][1][4] += 1.0;
      memcpy(x[i][2], x[i][1], sizeof p.v);
      assert_int_equal(poli_assembler_normal_part(a, 0.0, p.q, x[i][1], &d), POL_OK);
      assert_int_equal(poli_assembler_velocity_defect(a, 0.0, p.q, x[i][2], x[i][2], &d), POL_OK);
      assert_int_equal(poli_assembler_factor(a, 0.0, p.q, &d), POL_OK);
      poli_assembler_solve(a, f, x[i][3]);
    }
    static const char *const names[] = {"accelerations", "normal part", "defect", "response"};
    for (int k = 0; k < 4; k++) expect_equal(&p, names[k], x[0][k], x[1][k], p.nv, 1e-9);
    expect_equal(&p, "multipliers", lambda[0], lambda[1], p.m, 1e-9);
    assert_false(has_matrix(p.by[0]));
    tear_down(&p);
  }
}

/* Of spherical joints the reactions add to K for the rotation of their own bodies alone, but for
 * what multiplies B x. */
static void implicit_steps_of_chains_are_the_same(void **state)
{
  pair p;
  double y[2][MOST], vd[MOST], lambda[MOST], x[MOST];
  uint64_t seed = 11;
  pol_diagnostics d;
  (void)state;
  set_up(&p, MODELS "examples/chain_20.json", POL_SO3XR3, 0.05);
  assert_int_equal(pol_assembler_position(p.by[1], 0.0, p.q, &d), POL_OK);
  random_numbers(&seed, p.v, p.nv);
  for (int i = 0; i < p.nv; i++) p.v[i] *= 20.0;
  assert_int_equal(pol_assembler_velocity(p.by[1], 0.0, p.q, p.v, NULL, NULL, &d), POL_OK);
  assert_int_equal(pol_assembler_acceleration(p.by[1], 0.0, p.q, p.v, vd, lambda, &d), POL_OK);
  const pol_point at = {.q = p.q, .v = p.v, .vd = vd, .lambda = lambda};
  random_numbers(&seed, x, p.nv);
  memcpy(y[0], x, sizeof x);
  assert_int_equal(poli_assembler_normal_part(p.by[1], 0.0, p.q, y[0], &d), POL_OK);
  for (int i = 0; i < p.nv; i++) x[i] -= y[0][i];
  for (int i = 0; i < 2; i++) {
    assert_int_equal(poli_assembler_factor_implicit(p.by[i], &at, 2e-3, 4e-6, &d), POL_OK);
    poli_assembler_solve_implicit(p.by[i], x, y[i]);
  }
  expect_equal(&p, "smoothed", y[0], y[1], p.nv, 1e-9);
  assert_false(has_matrix(p.by[0]));
  double change = 0.0; /* the step is long enough to matter */
  for (int i = 0; i < p.nv; i++) change = fmax(change, fabs(y[0][i] - x[i]));
  assert_true(change > 0.01);
  tear_down(&p);
}

/* Redundant constraints: accelerations need the matrix, which names one of them. */
static void dependent_rows_are_left_to_the_matrix(void **state)
{
  pair p;
  double vd[MOST], lambda[MOST];
  pol_diagnostics d[2];
  (void)state;
  set_up(&p, DATA "loops/four_bar.json", POL_SO3XR3, 0.0);
  for (int i = 0; i < 2; i++)
    assert_int_equal(pol_assembler_acceleration(p.by[i], 0.0, p.q, p.v, vd, lambda, &d[i]),
                     POL_SINGULAR);
  assert_true(has_matrix(p.by[0]));
  assert_string_equal(d[0].where, d[1].where);
  assert_string_equal(d[0].message, d[1].message);
  tear_down(&p);
}

/* Components of a velocity that are kept alone: not by rows. */
static void single_components_are_left_to_the_matrix(void **state)
{
  pair p;
  double v[2][MOST];
  uint64_t seed = 13;
  (void)state;
  set_up(&p, MODELS "examples/chain_20.json", POL_SO3XR3, 0.0);
  random_numbers(&seed, p.v, p.nv);
  memset(p.keep, 0, sizeof p.keep);
  p.keep[9] = 1;
  for (int i = 0; i < 2; i++) {
    pol_diagnostics d;
    memcpy(v[i], p.v, sizeof p.v);
    assert_int_equal(pol_assembler_velocity(p.by[i], 0.0, p.q, v[i], p.keep, NULL, &d), POL_OK);
  }
  assert_true(has_matrix(p.by[0]));
  expect_equal(&p, "velocities", v[0], v[1], p.nv, 1e-12);
  tear_down(&p);
}

/* --- loops ------------------------------------------------------------------------------------ */

static void loops_are_found(void **state)
{
  static const struct {
    const char *path;
    int is_tree;
  } cases[] = {{MODELS "examples/chain_20.json", 1},
               {MODELS "bruels-cardona-2010/heavy_top.json", 1},
               {DATA "loops/four_bar.json", 0},
               {MODELS "holzinger-arnold-gerstmayr/slider_crank.json", 0}};
  (void)state;
  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
    pair p;
    set_up(&p, cases[c].path, POL_SO3XR3, 0.0);
    assert_int_equal(poli_assembler_is_tree(p.by[0]), cases[c].is_tree);
    assert_false(poli_assembler_is_tree(p.by[1]));
    tear_down(&p);
  }
}

/* --- large systems ---------------------------------------------------------------------------- */

/* 800 links start and step without the matrix, and move as they do with it. */
static void large_chains_start_without_the_matrix(void **state)
{
  enum { LINKS = 800, STEPS = 3 };
  pol_mechanism *mechanism = make_chain(LINKS, 1e-4);
  assert_non_null(mechanism);
  (void)state;
  for (int index = POL_INDEX_3; index <= POL_INDEX_2_STABILIZED; index++) {
    pol_settings settings = pol_settings_default();
    pol_simulation *by[2];
    settings.options.method = "geom1";
    settings.options.index = (pol_index)index;
    settings.options.newton.tolerance = 1e-12;
    settings.step = 1e-3;
    settings.end = STEPS * 1e-3;
    for (int i = 0; i < 2; i++) {
      settings.options.solver = i ? POL_SOLVER_SPARSE : POL_SOLVER_AUTO;
      by[i] = start_with(mechanism, &settings);
      step_to_end(by[i]);
      const poli_alpha *alpha = by[i]->integrator->data;
      assert_int_equal(has_matrix(by[i]->integrator->assembler), i);
      assert_int_equal(alpha->saddle->solver != NULL, i);
      assert_int_equal(alpha->newton != NULL, i);
    }
    double off = 0.0;
    for (int k = 0; k < by[0]->dae->group.nq; k++)
      off = fmax(off, fabs(by[0]->state.q[k] - by[1]->state.q[k]));
    if (!(off <= 1e-9)) fail_msg("index %d: positions differ by %g", index, off);
    for (int i = 0; i < 2; i++) pol_simulation_free(&by[i]);
  }
  pol_mechanism_free(&mechanism);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(positions_and_velocities_are_the_same),
      cmocka_unit_test(accelerations_and_responses_are_the_same),
      cmocka_unit_test(implicit_steps_of_chains_are_the_same),
      cmocka_unit_test(dependent_rows_are_left_to_the_matrix),
      cmocka_unit_test(single_components_are_left_to_the_matrix),
      cmocka_unit_test(loops_are_found),
      cmocka_unit_test(large_chains_start_without_the_matrix),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
