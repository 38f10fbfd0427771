/* Threads within a step: the same bits for 1, 2 and 3 of them, for chains, hinges, springs and a
 * net, with several methods, steps of fixed and of variable size. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <polhode/polhode.h>

enum { LINKS = 1010, KNOTS = 24 };

static void add_link(pol_mechanism *mechanism, int number, const double position[3])
{
  char name[24];
  pol_body body = pol_body_default();
  snprintf(name, sizeof name, "b%d", number);
  body.name = name;
  body.mass = 0.1;
  for (int k = 0; k < 9; k += 4) body.inertia[k] = 1e-5 * (10 + k);
  memcpy(body.position, position, sizeof body.position);
  assert_int_equal(pol_mechanism_add_body(mechanism, &body, NULL), POL_OK);
}

static void add_joint(pol_mechanism *mechanism, int *number, pol_joint_type type, int first,
                      int second, const double point[3], const double *axis)
{
  char name[24];
  pol_joint joint = {.name = name, .type = type};
  snprintf(name, sizeof name, "j%d", (*number)++);
  assert_int_equal(pol_mechanism_add_joint_at(mechanism, &joint, first, second, point, axis, NULL),
                   POL_OK);
}

typedef enum model { BALLS, HINGES, SPRINGS, NET, NUM_MODELS } model;

/* A chain from the ground, with balls, with hinges about x and y in turn, or with springs to the
 * ground. */
static pol_mechanism *create_chain(model kind)
{
  static const double axes[2][3] = {{0, 1, 0}, {0, 0, 1}};
  pol_mechanism *mechanism;
  int joints = 0;
  assert_int_equal(pol_mechanism_create(&mechanism), POL_OK);
  pol_mechanism_set_gravity(mechanism, (double[]){0, 0, -9.81});
  for (int i = 0; i < LINKS; i++) {
    add_link(mechanism, i, (double[]){0.1 * i + 0.05, 0, 0});
    add_joint(mechanism, &joints, kind == HINGES ? POL_REVOLUTE : POL_SPHERICAL, i - 1, i,
              (double[]){0.1 * i, 0, 0}, kind == HINGES ? axes[i % 2] : NULL);
    if (kind != SPRINGS || i % 7) continue;
    char name[24];
    pol_force spring = pol_force_default();
    snprintf(name, sizeof name, "s%d", i);
    spring.name = name;
    spring.type = POL_SPRING_DAMPER;
    spring.stiffness[0] = 20.0;
    spring.damping[0] = 0.1;
    spring.length = 0.5;
    pol_mechanism_add_marker_at(mechanism, "", POL_GROUND, (double[]){0.1 * i, 0, 0.6}, NULL,
                                &spring.marker[0]);
    pol_mechanism_add_marker_at(mechanism, "", i, (double[]){0.1 * i + 0.05, 0, 0}, NULL,
                                &spring.marker[1]);
    assert_int_equal(pol_mechanism_add_force(mechanism, &spring, NULL), POL_OK);
  }
  return mechanism;
}

/* Links between knots with balls; one side is held. */
static pol_mechanism *create_net(void)
{
  enum { N = KNOTS };
  pol_mechanism *mechanism;
  int joints = 0, links = 0, hub[N * N];
  assert_int_equal(pol_mechanism_create(&mechanism), POL_OK);
  pol_mechanism_set_gravity(mechanism, (double[]){0, 0, -9.81});
  for (int k = 0; k < N * N; k++) hub[k] = k < N ? POL_GROUND : POL_NOT_FOUND;
  for (int k = 0; k < 2 * N * N; k++) {
    const int across = k % 2, i = k / 2 / N, j = k / 2 % N;
    const int ends[2] = {N * i + j, across ? N * i + j + 1 : N * (i + 1) + j};
    if (across ? j == N - 1 || i == 0 : i == N - 1) continue;
    add_link(mechanism, links,
             (double[]){0.1 * j + (across ? 0.05 : 0.0), 0.1 * i + (across ? 0.0 : 0.05), 0});
    for (int e = 0; e < 2; e++) {
      const double point[3] = {0.1 * (ends[e] % N), 0.1 * (double)(ends[e] / N), 0};
      if (hub[ends[e]] != POL_NOT_FOUND)
        add_joint(mechanism, &joints, POL_SPHERICAL, hub[ends[e]], links, point, NULL);
      else
        hub[ends[e]] = links;
    }
    links++;
  }
  return mechanism;
}

/* Some steps with 1, 2 and 3 threads. */
static void expect_same_bits(const pol_formulation *formulation, const pol_options *given,
                             int variable)
{
  const pol_dae *dae = pol_formulation_dae(formulation);
  const size_t nq = (size_t)dae->group.nq, nv = (size_t)dae->group.nv;
  const size_t m = (size_t)pol_dae_num_constraints(dae), size = nq + 2 * nv + m;
  double *q = malloc((nq + nv) * sizeof *q), *ends = malloc(3 * size * sizeof *ends);
  unsigned char *keep = malloc(nv);
  assert_true(q && ends && keep);
  pol_formulation_initial(formulation, q, q + nq, keep);
  for (int k = 0; k < 3; k++) {
    pol_integrator *integrator;
    pol_options options = *given;
    options.threads = k + 1;
    assert_int_equal(pol_integrator_create(&integrator, dae, &options), POL_OK);
    assert_int_equal(pol_integrator_start(integrator, 0.0, q, q + nq, keep), POL_OK);
    pol_status status = POL_OK;
    for (int n = 0; n < 3 && !status; n++)
      status =
          variable ? pol_integrator_adapt(integrator, 1.0) : pol_integrator_step(integrator, 1e-3);
    if (status) print_error("%s\n", pol_integrator_diagnostics(integrator)->message);
    assert_int_equal(status, POL_OK);
    const pol_state *end = pol_integrator_state(integrator);
    double *to = ends + (size_t)k * size;
    memcpy(to, end->q, nq * sizeof *to);
    memcpy(to + nq, end->v, nv * sizeof *to);
    memcpy(to + nq + nv, end->vd, nv * sizeof *to);
    memcpy(to + nq + 2 * nv, end->lambda, m * sizeof *to);
    assert_memory_equal(to, ends, size * sizeof *to);
    assert_true(fabs(end->vd[2]) < HUGE_VAL);
    pol_integrator_free(&integrator);
  }
  free(q);
  free(ends);
  free(keep);
}

static void threads_change_no_bit(void **state)
{
  (void)state;
  for (int k = 0; k < NUM_MODELS; k++) {
    pol_mechanism *mechanism = k == NET ? create_net() : create_chain((model)k);
    pol_formulation *formulation;
    assert_int_equal(pol_formulation_create(&formulation, mechanism, POL_SO3XR3), POL_OK);
    for (int way = 0; way < 6; way++) {
      pol_options options = pol_options_default();
      options.method = way < 4 ? "geom1" : "rattle";
      options.order = way == 4 ? 2 : 4;
      if (way == 1 || way == 3) options.index = POL_INDEX_2_STABILIZED;
      if (way == 2) options.index = POL_INDEX_2;
      /* all ways with the first model, two with others */
      if (k > 0 && way != k - 1 && way != 4) continue;
      expect_same_bits(formulation, &options, way == 3 || way == 5);
    }
    pol_formulation_free(&formulation);
    pol_mechanism_free(&mechanism);
  }
}

/* The summary of a run, with energies and residuals, too. */
static void summaries_are_the_same(void **state)
{
  pol_mechanism *mechanism = create_chain(BALLS);
  pol_summary first = {0};
  (void)state;
  for (int threads = 0; threads <= 3; threads++) {
    pol_simulation *simulation;
    pol_settings settings = pol_settings_default();
    settings.end = 3e-3;
    settings.options.threads = threads;
    assert_int_equal(pol_simulation_create(&simulation, mechanism, &settings, NULL), POL_OK);
    while (!pol_simulation_finished(simulation))
      assert_int_equal(pol_simulation_step(simulation), POL_OK);
    const pol_summary *summary = pol_simulation_summary(simulation);
    if (threads == 0) first = *summary;
    assert_memory_equal(&summary->counts, &first.counts, sizeof first.counts);
    assert_memory_equal(&summary->energy, &first.energy, sizeof first.energy);
    assert_true(summary->max_velocity_residual == first.max_velocity_residual);
    pol_simulation_free(&simulation);
  }
  pol_mechanism_free(&mechanism);
}

/* A run of `steps` with so many threads. */
static pol_simulation *run(const pol_mechanism *mechanism, int threads, int steps)
{
  pol_simulation *simulation;
  pol_settings settings = pol_settings_default();
  settings.end = 4e-3;
  settings.options.threads = threads;
  assert_int_equal(pol_simulation_create(&simulation, mechanism, &settings, NULL), POL_OK);
  for (int n = 0; n < steps; n++) assert_int_equal(pol_simulation_step(simulation), POL_OK);
  return simulation;
}

/* A saved state is continued with any number of threads. */
static void states_fit_any_number(void **state)
{
  (void)state;
  pol_mechanism *mechanism = create_chain(BALLS);
  pol_simulation *whole = run(mechanism, 1, 4);
  const double *v = pol_simulation_state(whole)->v;
  for (int threads = 1; threads <= 2; threads++) {
    pol_simulation *first = run(mechanism, threads, 2), *second = run(mechanism, 3 - threads, 0);
    size_t size = 0;
    assert_int_equal(pol_simulation_save(first, NULL, &size), POL_OK);
    void *bytes = malloc(size);
    assert_non_null(bytes);
    assert_int_equal(pol_simulation_save(first, bytes, &size), POL_OK);
    assert_int_equal(pol_simulation_load(second, bytes, size, NULL, 0), POL_OK);
    for (int n = 0; n < 2; n++) assert_int_equal(pol_simulation_step(second), POL_OK);
    assert_memory_equal(pol_simulation_state(second)->v, v, 6 * LINKS * sizeof *v);
    free(bytes);
    pol_simulation_free(&first);
    pol_simulation_free(&second);
  }
  pol_simulation_free(&whole);
  pol_mechanism_free(&mechanism);
}

static void threads_have_a_rule(void **state)
{
  char message[128];
  pol_options options = pol_options_default();
  (void)state;
  assert_int_equal(pol_options_validate(&options, NULL, 0), POL_OK);
  for (int k = 0; k < 2; k++) {
    options.threads = k ? 257 : -1;
    assert_int_equal(pol_options_validate(&options, message, sizeof message), POL_BAD_ARGUMENT);
    assert_string_equal(message, "threads must be from 0 to 256");
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(threads_change_no_bit),
      cmocka_unit_test(summaries_are_the_same),
      cmocka_unit_test(states_fit_any_number),
      cmocka_unit_test(threads_have_a_rule),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
