/* Memory of large systems: bytes per link of a chain, steps without allocations, and every
 * allocation of what is made only when it is needed made to fail once. */
#include "failing_alloc.h"

#include <stdio.h>
#include <string.h>

#include "dae/assembler.h"
#include "integrators/alpha.h"
#include "integrators/family.h"
#include "simulation/chain.h"
#include "simulation/parts.h"

static pol_settings settings_of(const char *method, pol_index index)
{
  pol_settings settings = pol_settings_default();
  settings.options.method = method;
  settings.options.index = index;
  settings.step = 1e-3;
  settings.end = 0.02;
  return settings;
}

/* Bytes of mechanism and simulation after the first steps; the last of them must allocate nothing.
 */
static double bytes_of(int links, const pol_settings *settings)
{
  const long before = alloc_bytes();
  pol_simulation *simulation;
  pol_mechanism *mechanism = make_chain(links, 1e-4);
  assert_non_null(mechanism);
  assert_int_equal(pol_simulation_create(&simulation, mechanism, settings, NULL), POL_OK);
  alloc_fail_at(0);
  for (int n = 0; n < 4; n++) assert_int_equal(pol_simulation_step(simulation), POL_OK);
  assert_int_equal(alloc_count(), 0);
  const double bytes = (double)(alloc_bytes() - before);
  pol_simulation_free(&simulation);
  pol_mechanism_free(&mechanism);
  assert_int_equal(alloc_bytes(), before);
  return bytes;
}

/* What another link needs; lists of the mechanism grow by doubling, so the numbers of links are
 * powers of 2. */
static void a_link_needs_few_kilobytes(void **state)
{
  static const struct {
    const char *method;
    pol_index index;
    double most; /* bytes per link */
  } cases[] = {{"geom1", POL_INDEX_3, 11500.0},
               {"geom1", POL_INDEX_2, 12500.0},
               {"geom1", POL_INDEX_2_STABILIZED, 12800.0},
               {"rattle", POL_INDEX_3, 11500.0}};
  (void)state;
  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
    const pol_settings settings = settings_of(cases[c].method, cases[c].index);
    const double per_link = (bytes_of(2048, &settings) - bytes_of(1024, &settings)) / 1024.0;
    if (!(per_link <= cases[c].most))
      fail_msg("%s, index %d: %.0f bytes per link", cases[c].method, cases[c].index, per_link);
    pol_estimate estimate[2];
    for (int i = 0; i < 2; i++) {
      pol_mechanism *mechanism = make_chain(i ? 2048 : 1024, 0.0);
      assert_non_null(mechanism);
      assert_int_equal(pol_simulation_estimate(mechanism, &settings, &estimate[i]), POL_OK);
      pol_mechanism_free(&mechanism);
    }
    const double estimated = (estimate[1].memory - estimate[0].memory) / 1024.0;
    if (!(estimated >= 0.7 * per_link && estimated <= 1.5 * per_link))
      fail_msg("%s, index %d: %.0f bytes per link, but estimated %.0f", cases[c].method,
               cases[c].index, per_link, estimated);
  }
}

/* --- failures --------------------------------------------------------------------------------- */

/* An assembler by rows at inconsistent values, and one that has to make the matrix. */
static pol_status assemble(void *user)
{
  const pol_formulation *formulation = user;
  const pol_dae *dae = pol_formulation_dae(formulation);
  pol_assembler *assembler;
  double q[70], v[60], lambda[30], vd[60];
  unsigned char keep[60] = {0};
  pol_diagnostics d;
  pol_formulation_initial(formulation, q, v, keep);
  memset(keep, 0, sizeof keep);
  pol_status status =
      poli_assembler_create(&assembler, dae, POL_SOLVER_AUTO, POLI_ASSEMBLE_BY_ROWS);
  if (!status) status = pol_assembler_position(assembler, 0.0, q, &d);
  if (!status) status = pol_assembler_acceleration(assembler, 0.0, q, v, vd, lambda, &d);
  keep[10] = 1; /* a single component: by the matrix */
  v[4] = 1.0;
  if (!status) status = pol_assembler_velocity(assembler, 0.0, q, v, keep, NULL, &d);
  if (!status) assert_non_null(poli_assembler_saddle(assembler)->solver);
  pol_assembler_free(&assembler);
  return status;
}

static void assemblers_by_rows_survive_failures(void **state)
{
  pol_mechanism *mechanism = make_chain(10, 1e-4);
  pol_formulation *formulation;
  (void)state;
  assert_non_null(mechanism);
  assert_int_equal(pol_formulation_create(&formulation, mechanism, POL_SO3XR3), POL_OK);
  assert_true(alloc_exhaust(assemble, formulation) > 30);
  pol_formulation_free(&formulation);
  pol_mechanism_free(&mechanism);
}

/* A large simulation whose next step gets its general matrix. */
static pol_status make_matrix(void *user)
{
  pol_simulation *simulation;
  const pol_settings settings = settings_of("geom1", POL_INDEX_2_STABILIZED);
  pol_status status = pol_simulation_create(&simulation, user, &settings, NULL);
  if (!status) {
    poli_alpha *alpha = simulation->integrator->data;
    assert_null(alpha->newton);
    status = poli_alpha_make_matrix(alpha);
    assert_int_equal(alpha->newton == NULL, status != POL_OK);
  }
  pol_simulation_free(&simulation);
  return status;
}

static void general_matrices_survive_failures(void **state)
{
  pol_mechanism *mechanism = make_chain(600, 1e-4);
  (void)state;
  assert_non_null(mechanism);
  assert_true(alloc_exhaust(make_matrix, mechanism) > 60);
  pol_mechanism_free(&mechanism);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_link_needs_few_kilobytes),
      cmocka_unit_test(assemblers_by_rows_survive_failures),
      cmocka_unit_test(general_matrices_survive_failures),
  };
  return cmocka_run_group_tests(tests, alloc_install, NULL);
}
