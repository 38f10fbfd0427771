/* The algorithm of Gavrea/Negrut/Potra 2005 as published: accepted steps and final errors of an
 * independent implementation (2026) on four problems with four members of the family. */
#include "integrators/gavrea.h"

#include "dae/quadratic.h"

typedef enum model { PLANAR, SPATIAL, PARTICLES, DOUBLE } model;
typedef enum family { UNDAMPED, NEWMARK, HHT, GENERALIZED_ALPHA } family;

typedef struct reference {
  model model;
  family method;
  double eps;
  long accepted;
  double q, v; /* errors at the end */
} reference;

/* clang-format off */
static const reference references[] = {
    {PLANAR, UNDAMPED, 1e-3, 3463, 5.065e-3, 5.025e-2},
    {PLANAR, NEWMARK, 1e-3, 79, 1.169e-1, 9.515e-1},
    {PLANAR, NEWMARK, 1e-4, 172, 3.825e-2, 5.390e-1},
    {PLANAR, NEWMARK, 1e-5, 376, 1.194e-2, 2.744e-1},
    {PLANAR, NEWMARK, 1e-6, 812, 3.957e-3, 1.330e-1},
    {PLANAR, NEWMARK, 1e-7, 1754, 1.456e-3, 6.296e-2},
    {PLANAR, HHT, 1e-3, 80, 6.693e-2, 2.073e-1},
    {PLANAR, HHT, 1e-4, 168, 1.483e-2, 4.837e-2},
    {PLANAR, HHT, 1e-5, 359, 3.289e-3, 1.099e-2},
    {PLANAR, HHT, 1e-6, 768, 7.104e-4, 2.419e-3},
    {PLANAR, HHT, 1e-7, 1652, 1.541e-4, 5.169e-4},
    {PLANAR, GENERALIZED_ALPHA, 1e-3, 90, 4.954e-2, 1.545e-1},
    {PLANAR, GENERALIZED_ALPHA, 1e-4, 147, 1.421e-2, 4.913e-2},
    {PLANAR, GENERALIZED_ALPHA, 1e-5, 313, 3.164e-3, 1.099e-2},
    {PLANAR, GENERALIZED_ALPHA, 1e-6, 670, 6.869e-4, 2.385e-3},
    {PLANAR, GENERALIZED_ALPHA, 1e-7, 1408, 1.524e-4, 5.252e-4},
    {SPATIAL, NEWMARK, 1e-4, 237, 6.853e-1, 1.927e+0},
    {SPATIAL, NEWMARK, 1e-5, 518, 3.914e-1, 1.026e+0},
    {SPATIAL, NEWMARK, 1e-6, 1126, 1.982e-1, 4.940e-1},
    {SPATIAL, HHT, 1e-4, 233, 2.194e-2, 9.597e-2},
    {SPATIAL, HHT, 1e-5, 497, 5.135e-3, 2.273e-2},
    {SPATIAL, HHT, 1e-6, 1066, 1.147e-3, 5.085e-3},
    {SPATIAL, GENERALIZED_ALPHA, 1e-4, 210, 2.203e-2, 9.373e-2},
    {SPATIAL, GENERALIZED_ALPHA, 1e-5, 432, 5.091e-3, 2.171e-2},
    {SPATIAL, GENERALIZED_ALPHA, 1e-6, 915, 1.133e-3, 4.809e-3},
    {PARTICLES, NEWMARK, 1e-5, 59, 2.139e-2, 3.330e-2},
    {PARTICLES, NEWMARK, 1e-6, 154, 8.021e-3, 1.897e-2},
    {PARTICLES, HHT, 1e-5, 107, 2.507e-4, 1.807e-2},
    {PARTICLES, HHT, 1e-6, 239, 6.062e-4, 5.637e-3},
    {PARTICLES, GENERALIZED_ALPHA, 1e-5, 97, 2.680e-4, 3.005e-2},
    {PARTICLES, GENERALIZED_ALPHA, 1e-6, 203, 6.061e-4, 6.522e-3},
    {DOUBLE, NEWMARK, 1e-4, 171, 1.318e-1, 9.505e-1},
    {DOUBLE, NEWMARK, 1e-5, 364, 6.166e-2, 4.767e-1},
    {DOUBLE, NEWMARK, 1e-6, 784, 2.850e-2, 2.308e-1},
    {DOUBLE, HHT, 1e-4, 168, 2.300e-2, 1.555e-1},
    {DOUBLE, HHT, 1e-5, 350, 5.022e-3, 3.555e-2},
    {DOUBLE, HHT, 1e-6, 743, 1.085e-3, 7.753e-3},
    {DOUBLE, GENERALIZED_ALPHA, 1e-4, 151, 2.224e-2, 1.525e-1},
    {DOUBLE, GENERALIZED_ALPHA, 1e-5, 299, 5.040e-3, 3.556e-2},
    {DOUBLE, GENERALIZED_ALPHA, 1e-6, 627, 1.107e-3, 7.920e-3},
};
/* clang-format on */
enum { NUM_REFERENCES = sizeof references / sizeof references[0] };

/* Solutions at t = 5 and t = 2: independent high-precision integration, 2026. */
static const double spatial_q5[3] = {-0.8102686267257693, 0.4266695947301496, -0.4017683530054915};
static const double spatial_v5[3] = {0.4770287039101494, -1.485351405786715, -2.539462522452534};
static const double particles_q2[12] = {0.070417069184858,  0.1211855840840097, 0.01827764155526247,
                                        0.8782879972686303, 0.5768205514617367, 0.3920975715479822,
                                        0.6630109517861805, 0.8177900362986898, 0.4278126709029417,
                                        0.2763492646476681, 0.1573151047316428, 1.071447353367074};
static const double particles_v2[12] = {
    0.09689583066964162, 0.1905687422096146,  0.0449508141648601,  -0.1724879309258801,
    0.3524241773225161,  0.4298428492045626,  0.3896766490344825,  -0.2538944776464355,
    0.3968986313587312,  -0.2798166651007711, -0.3905199856413891, -0.1454977728844881};

typedef struct problem {
  const pol_dae *dae;
  const double *q0, *v0, *q, *v;
  double end;
} problem;

static pol_options options_of(family which)
{
  pol_options options = pol_options_default();
  if (which == UNDAMPED) pol_options_set_newmark(&options, 0.5, 0.25);
  if (which == NEWMARK) pol_options_set_newmark(&options, 0.75, 0.390625);
  if (which == HHT) pol_options_set_hht(&options, -0.3);
  if (which == GENERALIZED_ALPHA) pol_options_set_rho_inf(&options, 0.8);
  options.start = POL_START_CLASSICAL;
  options.published.estimate = 1;
  return options;
}

/* Errors at the end as found; returns the steps. */
static long solve(const problem *p, const pol_options *options, double *q, double *v)
{
  pol_integrator *integrator;
  assert_int_equal(pol_integrator_create(&integrator, p->dae, options), POL_OK);
  assert_int_equal(pol_integrator_start(integrator, 0.0, p->q0, p->v0, NULL), POL_OK);
  const pol_state *now = pol_integrator_state(integrator);
  while (now->t < p->end) assert_int_equal(pol_integrator_adapt(integrator, p->end), POL_OK);
  *q = gavrea_distance(now->q, p->q, p->dae->group.nv);
  *v = gavrea_distance(now->v, p->v, p->dae->group.nv);
  long steps = pol_integrator_counts(integrator)->steps;
  pol_integrator_free(&integrator);
  return steps;
}

static int within_factor(double found, double value, double factor)
{
  return found <= factor * value && value <= factor * found;
}

/* Nearly every count is met exactly, so that two in a hundred are asked.  Without damping an
 * oscillation sets the size of the steps: there ten in a hundred. */
static void the_published_algorithm_needs_as_many_steps(void **state)
{
  (void)state;
  truss planar;
  double_pendulum stiff;
  quadratic spatial, particles;
  planar_init(&planar);
  double_init(&stiff);
  pendulum3d_init(&spatial);
  four_particles_init(&particles);
  const problem problems[] = {
      [PLANAR] = {&planar.dae, planar_q0, planar_v0, planar_q4, planar_v4, 4.0},
      [SPATIAL] = {&spatial.dae, spatial.q0, spatial.v0, spatial_q5, spatial_v5, 5.0},
      [PARTICLES] = {&particles.dae, particles.q0, particles.v0, particles_q2, particles_v2, 2.0},
      [DOUBLE] = {&stiff.dae, double_q0, double_v0, double_q2, double_v2, 2.0}};
  for (int k = 0; k < NUM_REFERENCES; k++) {
    const reference *r = &references[k];
    pol_options options = options_of(r->method);
    double q, v, steps_off = r->method == UNDAMPED ? 0.1 : 0.02;
    double factor = r->method == UNDAMPED ? 2.0 : 1.1;
    options.control.rtol = options.control.atol_translation = r->eps;
    options.control.atol_rotation = r->eps;
    long steps = solve(&problems[r->model], &options, &q, &v);
    if ((double)labs(steps - r->accepted) > steps_off * (double)r->accepted ||
        !within_factor(q, r->q, factor) || !within_factor(v, r->v, factor))
      fail_msg("row %d: %ld steps, errors %.3e, %.3e", k, steps, q, v);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_published_algorithm_needs_as_many_steps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
