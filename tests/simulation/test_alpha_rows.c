/* geom1 in the space of the constraints against the general Newton matrix: the same steps, for all
 * joints, drives, couplings, springs, redundant loops, constraint forms and updates; and the matrix
 * of the rows against its definition. */
#include <stdlib.h>
#include <string.h>

#include "dae/extension.h"
#include "dae/row_space.h"
#include "integrators/alpha.h"
#include "integrators/family.h"
#include "simulation/parts.h"
#include "simulation/simulate.h"

#define MODELS POLHODE_SOURCE_DIR "/models/"
#define DATA POLHODE_SOURCE_DIR "/tests/data/"

/* --- the same steps --------------------------------------------------------------------------- */

enum { MOST = 1000 };

/* q, v and the multipliers after `steps` steps of h; returns their number.  *by_rows: how many of
 * the steps were solved in the space of the constraints. */
static int run(const pol_model *model, const pol_settings *settings, int steps, double *end,
               int *by_rows)
{
  pol_simulation *simulation = start_with(model->mechanism, settings);
  *by_rows = 0;
  for (int n = 0; n < steps; n++) {
    take_step(simulation);
    *by_rows += ((poli_alpha *)simulation->integrator->data)->by_rows;
  }
  const pol_state *state = pol_simulation_state(simulation);
  const pol_dae *dae = simulation->dae;
  const int nq = dae->group.nq, nv = dae->group.nv, m = pol_dae_num_constraints(dae);
  assert_true(nq + nv + m <= MOST);
  memcpy(end, state->q, (size_t)nq * sizeof *end);
  memcpy(end + nq, state->v, (size_t)nv * sizeof *end);
  memcpy(end + nq + nv, state->lambda, (size_t)m * sizeof *end);
  pol_simulation_free(&simulation);
  return nq + nv + m;
}

static double largest_difference(int n, const double *a, const double *b)
{
  double most = 0.0, size = 1.0;
  for (int i = 0; i < n; i++) {
    size = fmax(size, fabs(b[i]));
    most = fmax(most, fabs(a[i] - b[i]));
  }
  return most / size;
}

static void steps_are_those_of_the_general_matrix(void **state)
{
  static const struct {
    const char *path;
    double h;
    enum { ALWAYS, INDEX_3, NEVER } rows; /* where steps are solved by rows */
  } cases[] = {{MODELS "bruels-cardona-2010/heavy_top.json", 1e-3, ALWAYS},
               {MODELS "holzinger-arnold-gerstmayr/slider_crank.json", 1e-3, ALWAYS},
               {MODELS "examples/chain_20.json", 1e-3, ALWAYS},
               {MODELS "examples/planetary_gear.json", 2e-3, NEVER},
               {MODELS "examples/four_bar_motor.json", 2e-3, INDEX_3},
               {MODELS "examples/stewart_platform.json", 2e-3, INDEX_3},
               {MODELS "examples/governor.json", 5e-4, ALWAYS},
               {DATA "loops/four_bar.json", 2e-3, ALWAYS},
               {DATA "rattle/joint_zoo.json", 2e-3, ALWAYS}};
  static const char *const methods[] = {"geom1", "geom3"};
  static const double sigmas[] = {0.0, 0.7};
  enum { STEPS = 40 };
  (void)state;
  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++)
    for (int index = POL_INDEX_3; index <= POL_INDEX_2_STABILIZED; index++)
      for (int k = 0; k < 4; k++) {
        const int spatial = k == 3;
        pol_model *model = read_model(cases[c].path);
        pol_settings settings = model->settings;
        settings.options.method = methods[k == 2];
        settings.options.sigma = sigmas[k == 1 || spatial];
        settings.options.index = (pol_index)index;
        settings.options.newton.tolerance = 1e-12;
        settings.options.newton.stop = POL_STOP_TIGHT;
        settings.formulation = spatial ? POL_SO3XR3_SPATIAL : POL_SO3XR3;
        settings.variable = 0;
        settings.step = cases[c].h;
        settings.output = (pol_output){0};
        double ours[MOST], general[MOST];
        int by_rows, none;
        const int n = run(model, &settings, STEPS, ours, &by_rows);
        settings.options.solver = POL_SOLVER_SPARSE;
        run(model, &settings, STEPS, general, &none);
        const int serves =
            cases[c].rows == ALWAYS || (cases[c].rows == INDEX_3 && index == POL_INDEX_3);
        const int expected = serves && (!spatial || index == POL_INDEX_3) ? STEPS : 0;
        /* in index 2 the fast spin of the top makes it slow: then steps use the general matrix */
        const int enough =
            index == POL_INDEX_2 ? (by_rows > 0) == (expected > 0) : by_rows == expected;
        if (!enough || none != 0)
          fail_msg("%s, index %d: %d of %d steps by rows, %d", cases[c].path, index, by_rows,
                   expected, none);
        const double off = largest_difference(n, ours, general);
        if (!(off <= 1e-8)) fail_msg("%s, index %d, %d: %g", cases[c].path, index, k, off);
        pol_model_free(&model);
      }
}

static void variable_steps_too(void **state)
{
  static const char *const paths[] = {MODELS "examples/chain_20.json",
                                      MODELS "holzinger-arnold-gerstmayr/slider_crank.json"};
  (void)state;
  for (int c = 0; c < 2; c++)
    for (int index = POL_INDEX_3; index <= POL_INDEX_2_STABILIZED; index++) {
      pol_model *model = read_model(paths[c]);
      pol_settings settings = model->settings;
      settings.options.method = "geom1";
      settings.options.index = (pol_index)index;
      settings.options.control.rtol = 1e-6;
      settings.options.control.atol_rotation = settings.options.control.atol_translation = 1e-6;
      settings.formulation = POL_SO3XR3;
      settings.variable = 1;
      settings.end = 0.2;
      settings.output = (pol_output){.step = 0.2};
      double ours[MOST], general[MOST];
      int unused;
      const int n = run(model, &settings, 1, ours, &unused);
      settings.options.solver = POL_SOLVER_SPARSE;
      run(model, &settings, 1, general, &unused);
      const int nq = n - pol_mechanism_num_bodies(model->mechanism) * 6; /* positions first */
      const double off = largest_difference(nq / 2, ours, general);
      if (!(off <= 1e-4)) fail_msg("%s, index %d: %g", paths[c], index, off);
      pol_model_free(&model);
    }
}

/* A stiff spring must not hide that the equations of other bodies are not yet solved. */
static void stiff_springs_hide_nothing(void **state)
{
  static const char text[] =
      "{\"gravity\": [0, 0, -9.81], \"bodies\": ["
      "{\"name\": \"a\", \"mass\": 0.5, \"inertia\": [0.01, 0.02, 0.03], \"velocity\": [0.1, 0, "
      "0]},"
      "{\"name\": \"b\", \"mass\": 1, \"inertia\": [0.1, 0.2, 0.3], \"position\": [2, 0, 0],"
      " \"angular_velocity\": [1, 2, 3]}], \"joints\": ["
      "{\"name\": \"j0\", \"type\": \"prismatic\", \"bodies\": [\"ground\", \"a\"],"
      " \"point\": [0, 0, 0], \"axis\": [1, 0, 0]},"
      "{\"name\": \"j1\", \"type\": \"universal\", \"bodies\": [\"ground\", \"b\"],"
      " \"point\": [1.5, 0.2, 0], \"axes\": [[1, 0, 0], [0, 1, 0]]}], \"forces\": ["
      "{\"name\": \"f\", \"type\": \"joint-spring\", \"joint\": \"j0\", \"stiffness\": 1e10}],"
      "\"simulation\": {\"method\": \"geom1\", \"step\": 0.01, \"end\": 0.5}}";
  enum { STEPS = 40 };
  (void)state;
  for (int index = POL_INDEX_3; index <= POL_INDEX_2_STABILIZED; index++) {
    pol_model *model = read_model_text(text);
    double ours[MOST], general[MOST];
    int by_rows, none;
    model->settings.options.index = (pol_index)index;
    const int n = run(model, &model->settings, STEPS, ours, &by_rows);
    model->settings.options.solver = POL_SOLVER_SPARSE;
    run(model, &model->settings, STEPS, general, &none);
    assert_true(by_rows > 0);
    const double off = largest_difference(n - 9, ours, general); /* without reactions */
    if (!(off <= 1e-9)) fail_msg("index %d: %g", index, off);
    pol_model_free(&model);
  }
}

/* --- the matrix of the rows ------------------------------------------------------------------- */

/* B with 6 columns per body, from blocks. */
static void expand(const poli_row_space *space, const double *blocks, double *B)
{
  const int columns = 6 * space->bodies->count;
  memset(B, 0, (size_t)(space->m * columns) * sizeof *B);
  for (int b = 0; b < space->bodies->count; b++)
    for (int e = space->first_side[b]; e < space->first_side[b + 1]; e++)
      for (int i = 0; i < 6; i++) {
        double unit[6] = {0.0}, rates[MOST] = {0.0};
        unit[i] = 1.0;
        poli_row_side_add_rates(&space->sides[e], blocks, unit, rates);
        for (int r = 0; r < space->m; r++) B[r * columns + 6 * b + i] += rates[r];
      }
}

/* Any numbers. */
static double number(int i)
{
  return sin(1.0 + 2.3 * i + 0.17 * i * i);
}

static void matrix_is_its_definition(void **state)
{
  static const char *const paths[] = {DATA "rattle/joint_zoo.json", MODELS "examples/chain_20.json",
                                      MODELS "examples/governor.json"};
  (void)state;
  for (int c = 0; c < 6; c++) {
    pol_model *model = read_model(paths[c / 2]);
    pol_formulation *formulation;
    assert_int_equal(pol_formulation_create(&formulation, model->mechanism, POL_SO3XR3), POL_OK);
    const pol_dae *dae = pol_formulation_dae(formulation);
    const poli_rigid_bodies *bodies = poli_dae_rigid_bodies(dae);
    poli_row_space *space;
    poli_block_lu *lu = NULL;
    assert_int_equal(poli_row_space_create(&space, bodies, c % 2, 1, 1), POL_OK);
    assert_int_equal(poli_row_space_create_lu(space, &lu), POL_OK);
    const int columns = 6 * bodies->count, m = space->m;
    double *B1 = malloc((size_t)(space->num_blocks + 1) * sizeof *B1),
           *B0 = malloc((size_t)(space->num_blocks + 1) * sizeof *B0);
    double *full1 = malloc((size_t)(m * columns) * sizeof *full1),
           *full0 = malloc((size_t)(m * columns) * sizeof *full0);
    double D[9 * 64], d[64], more[MOST];
    assert_true(bodies->count <= 64 && m <= MOST);
    for (int i = 0; i < space->num_blocks; i++) B1[i] = number(i), B0[i] = number(i + 7);
    for (int i = 0; i < 9 * bodies->count; i++) D[i] = number(3 * i);
    for (int i = 0; i < bodies->count; i++) d[i] = 2.0 + number(5 * i);
    for (int i = 0; i < m; i++) more[i] = number(11 * i);
    expand(space, B1, full1);
    expand(space, B0, full0);
    poli_row_space_assemble(space, B1, B0, D, d, more, lu);
    const double *values = poli_block_lu_values(lu);
    for (int n = 0; n < space->num_nodes; n++)
      for (int k = 0; k < space->num_nodes; k++) {
        const poli_row_node *row = &space->nodes[n], *col = &space->nodes[k];
        const long address = poli_block_lu_address(lu, n, k);
        for (int i = 0; i < row->num_rows; i++)
          for (int j = 0; j < col->num_rows; j++) {
            double sum = n == k && i == j ? more[row->row + i] : 0.0;
            for (int b = 0; b < bodies->count; b++)
              for (int p = 0; p < 6; p++)
                for (int q = 0; q < 6; q++) {
                  const double middle = p < 3 && q < 3 ? D[9 * b + 3 * p + q] : p == q ? d[b] : 0.0;
                  sum += full1[(row->row + i) * columns + 6 * b + p] * middle *
                         full0[(col->row + j) * columns + 6 * b + q];
                }
            const double ours = address < 0 ? 0.0 : values[address + i * col->num_rows + j];
            assert_near(&ours, &sum, 1, 1e-12);
          }
      }
    free(B1), free(B0), free(full1), free(full0);
    poli_block_lu_free(&lu);
    poli_row_space_free(&space);
    pol_formulation_free(&formulation);
    pol_model_free(&model);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(matrix_is_its_definition),
      cmocka_unit_test(steps_are_those_of_the_general_matrix),
      cmocka_unit_test(variable_steps_too),
      cmocka_unit_test(stiff_springs_hide_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
