/* What the variational and energy-momentum methods conserve, on the examples of Kinon/Betsch/
 * Schneider 2023: energy, momentum maps, constraints on position and velocity level, the symplectic
 * form; Newton iterations with the published stopping rule; how long the four particles stay
 * stable. */
#include <polhode/polhode.h>

#include <float.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "dae/quadratic.h"
#include "integrators/family.h"
#include "integrators/ggl.h"

static const char *const all_methods[] = {"vi-s", "vi-a",     "vi-b",  "em",
                                          "em-g", "midpoint", "rattle"};
enum { NUM_METHODS = sizeof all_methods / sizeof all_methods[0] };

enum { PENDULUM, TOP, PARTICLES, NUM_MODELS };
static const double published_step[NUM_MODELS] = {0.05, 0.002, 0.01};

/* Without optimisation the long runs would take minutes. */
#ifdef NDEBUG
static const double length_of_runs = 1.0;
#else
static const double length_of_runs = 0.1;
#endif

static void model_init(quadratic *model, int which)
{
  if (which == PENDULUM) pendulum3d_init(model);
  if (which == TOP) top_init(model);
  if (which == PARTICLES) four_particles_init(model);
}

/* The iteration of the paper, whose result is one correction better than its tolerance. */
static pol_options published_options(const char *method)
{
  pol_options options = pol_options_default();
  options.method = method;
  options.published.newton = POL_PUBLISHED_NEWTON_PLAIN;
  options.newton.tolerance = 1e-9;
  return options;
}

static pol_integrator *begin(const quadratic *model, const pol_options *options)
{
  pol_integrator *integrator;
  assert_int_equal(pol_integrator_create(&integrator, &model->dae, options), POL_OK);
  assert_int_equal(pol_integrator_start(integrator, 0.0, model->q0, model->v0, NULL), POL_OK);
  return integrator;
}

/* --- a run and what stays constant in it ------------------------------------------------------ */

typedef struct findings {
  double energy, increment;  /* E(0), largest change of the energy in a step over it */
  double momentum;           /* largest change of a conserved momentum */
  double position, velocity; /* constraints with the reported velocity */
  double row[MAX_FORMS];     /* G v, each row */
  double momentum_level;     /* constraints on velocity level with M^-1 p */
  double energy_range;       /* largest energy less smallest */
} findings;

/* Momenta that the symmetry of the model conserves: about the vertical; of the particles all. */
static int momenta(const quadratic *model, int which, const double *q, const double *p,
                   double out[6])
{
  double J[3];
  quadratic_angular_momentum(model, q, p, J);
  if (which != PARTICLES) {
    out[0] = J[2];
    return 1;
  }
  memcpy(out, J, sizeof J);
  for (int k = 0; k < 3; k++) out[3 + k] = p[k] + p[3 + k] + p[6 + k] + p[9 + k];
  return 6;
}

static void look(const quadratic *model, int which, const pol_state *state, const double first[6],
                 findings *f)
{
  double now[6], position, velocity, v[MAX_QUADRATIC], row[MAX_FORMS] = {0.0};
  int count = momenta(model, which, state->q, state->p, now);
  for (int i = 0; i < count; i++) f->momentum = fmax(f->momentum, fabs(now[i] - first[i]));
  quadratic_residuals(model, state->q, state->v, &position, &velocity);
  f->position = fmax(f->position, position);
  f->velocity = fmax(f->velocity, velocity);
  for (int i = 0; i < model->nv; i++) v[i] = state->p[i] / model->mass[i];
  quadratic_residuals(model, state->q, v, &position, &velocity);
  f->momentum_level = fmax(f->momentum_level, velocity);
  quadratic_forms(model, &(pol_point){.q = state->q, .v = state->v}, POL_VELOCITY,
                  &(pol_terms){.velocity = row});
  for (int i = 0; i < model->m; i++) f->row[i] = fmax(f->row[i], fabs(row[i]));
}

static findings run(const quadratic *model, int which, const pol_options *options, double h,
                    double end)
{
  pol_integrator *integrator = begin(model, options);
  const pol_state *state = pol_integrator_state(integrator);
  findings f = {.energy = quadratic_energy(model, state->q, state->p)};
  double first[6], before = f.energy, low = before, high = before;
  momenta(model, which, state->q, state->p, first);
  for (long n = 0, steps = lround(end / h); n < steps; n++) {
    assert_int_equal(pol_integrator_step(integrator, h), POL_OK);
    double now = quadratic_energy(model, state->q, state->p);
    f.increment = fmax(f.increment, fabs(now - before) / fabs(f.energy));
    before = now;
    low = fmin(low, now);
    high = fmax(high, now);
    look(model, which, state, first, &f);
  }
  f.energy_range = high - low;
  pol_integrator_free(&integrator);
  return f;
}

/* --- tests ------------------------------------------------------------------------------------ */

static void energy_is_conserved(void **state)
{
  (void)state;
  static const char *const methods[] = {"em", "em-g"};
  static quadratic model;
  for (int which = 0; which < NUM_MODELS; which++)
    for (int k = 0; k < 2; k++) {
      pol_options options = published_options(methods[k]);
      model_init(&model, which);
      findings f = run(&model, which, &options, published_step[which], 10.0 * length_of_runs);
      if (!(f.increment < 1e-13)) fail_msg("%s, model %d: %.2e", methods[k], which, f.increment);
    }

  /* a potential whose quotient is not a polynomial, with and without the switch */
  four_particles_init(&model);
  model.by_length = 1;
  pol_options options = published_options("em");
  for (int k = 0; k < 2; k++) {
    findings f = run(&model, PARTICLES, &options, k ? 0.1 : 0.01, 10.0);
    if (!(f.increment < 1e-13)) fail_msg("springs by length, step %d: %.2e", k, f.increment);
  }

  /* the default iteration, over the whole run; the midpoint rule has no discrete force */
  options = pol_options_default();
  options.method = "em";
  for (int which = 0; which < NUM_MODELS; which++) {
    model_init(&model, which);
    findings f = run(&model, which, &options, published_step[which], 10.0 * length_of_runs);
    if (!(f.increment < 1e-13) || !(f.energy_range < 1e-13 * fabs(f.energy)))
      fail_msg("model %d: a step %.2e, in all %.2e", which, f.increment, f.energy_range);
  }
  options.method = "midpoint";
  findings f = run(&model, PARTICLES, &options, 0.01, 10.0);
  assert_true(f.increment > 1e-6);
}

static void momenta_are_conserved(void **state)
{
  (void)state;
  static quadratic model;
  for (int which = 0; which < NUM_MODELS; which++)
    for (int k = 0; k < NUM_METHODS; k++) {
      pol_options options = published_options(all_methods[k]);
      model_init(&model, which);
      findings f = run(&model, which, &options, published_step[which], which == TOP ? 1.0 : 10.0);
      if (!(f.momentum < 1e-13)) fail_msg("%s, model %d: %.2e", all_methods[k], which, f.momentum);
    }
}

/* On which levels each method satisfies the constraints at grid points. */
static void constraints_hold_where_promised(void **state)
{
  (void)state;
  static const int position[NUM_METHODS] = {1, 0, 1, 1, 1, 1, 1};
  static const int velocity[NUM_METHODS] = {0, 0, 1, 1, 0, 0, 1};
  static quadratic model;
  for (int k = 0; k < NUM_METHODS; k++) {
    pol_options options = published_options(all_methods[k]);
    top_init(&model);
    findings f = run(&model, TOP, &options, 0.002, 0.4);
    if (position[k] ? !(f.position < 1e-14) : !(f.position > 1e-3))
      fail_msg("%s: position %.2e", all_methods[k], f.position);
    /* velocities are as large as 141 */
    if (velocity[k] ? !(f.velocity < 2e-13) : !(f.velocity > 1e-2))
      fail_msg("%s: velocity %.2e", all_methods[k], f.velocity);
  }

  /* vi-s, as in Fig. 20: 0.37 in g5 and g6, the products of d3 with another director, up to 0.025
   * in those of the others, none where the rows are linear */
  pol_options options = published_options("vi-s");
  findings f = run(&model, TOP, &options, 0.002, 0.4);
  for (int i = 6; i < 9; i++) assert_true(f.row[i] < 2e-13);
  for (int i = 0; i < 4; i++) assert_true(f.row[i] > 0.01 && f.row[i] < 0.03);
  for (int i = 4; i < 6; i++) assert_near(&f.row[i], &(double){0.37}, 1, 0.01);
  /* its pendulum satisfies them, since q_n + h v is parallel to q_{n+1} */
  pendulum3d_init(&model);
  f = run(&model, PENDULUM, &options, 0.05, 10.0);
  assert_true(f.velocity < 1e-14);
  /* vi-b satisfies them with v, not with M^-1 p */
  options = published_options("vi-b");
  f = run(&model, PENDULUM, &options, 0.05, 10.0);
  assert_true(f.velocity < 1e-14);
  assert_near(&f.momentum_level, &(double){0.32}, 1, 0.01);
}

/* Table 2: 4 with the simple guess, 3 with the advanced one, for em too. */
static void newton_iterations_are_as_published(void **state)
{
  (void)state;
  static quadratic model;
  const long steps = 1000;
  four_particles_init(&model);
  for (int k = 0; k < 4; k++)
    for (int guess = POL_GUESS_ADVANCED; guess <= POL_GUESS_SIMPLE; guess++) {
      pol_options options = published_options(all_methods[k]);
      options.guess = (pol_guess)guess;
      pol_integrator *integrator = begin(&model, &options);
      for (long n = 0; n < steps; n++)
        assert_int_equal(pol_integrator_step(integrator, 0.01), POL_OK);
      assert_int_equal(pol_integrator_counts(integrator)->newton_iterations,
                       (guess == POL_GUESS_SIMPLE ? 4 : 3) * steps);
      pol_integrator_free(&integrator);
    }
}

/* Time at which the energy of the four particles has grown ten times or a step fails, or `end`; the
 * largest energy over that of the start goes to *growth. */
static double time_of_blow_up(const char *method, double h, double end, double *growth)
{
  static quadratic model;
  pol_options options = published_options(method);
  if (h <= 0.04) options.newton = pol_options_default().newton; /* faster */
  four_particles_init(&model);
  quadratic_make_sparse(&model);
  pol_integrator *integrator = begin(&model, &options);
  const pol_state *state = pol_integrator_state(integrator);
  double first = quadratic_energy(&model, state->q, state->p);
  *growth = 1.0;
  for (long n = 0, steps = lround(end / h); n < steps && *growth < 10.0; n++) {
    if (pol_integrator_step(integrator, h)) break;
    *growth = fmax(*growth, quadratic_energy(&model, state->q, state->p) / first);
  }
  double t = state->t;
  pol_integrator_free(&integrator);
  quadratic_clear(&model);
  return t;
}

static void stability_is_as_published(void **state)
{
  (void)state;
  const double end = 1000.0 * length_of_runs;
  double growth, t;
  for (int k = 0; k < 4; k++) {
    t = time_of_blow_up(all_methods[k], 0.04, end, &growth);
    if (!(t > end - 0.1 && growth < 1.3))
      fail_msg("%s: t %g, growth %g", all_methods[k], t, growth);
  }
  t = time_of_blow_up("vi-s", 0.05, 10.0, &growth);
  assert_true(t < 1.0 && growth > 10.0);
  t = time_of_blow_up("vi-b", 0.05, 10.0, &growth);
  assert_true(t < 1.0 && growth > 10.0);
  t = time_of_blow_up("vi-a", 0.25, 100.0, &growth);
  if (!(t > 50.0 && t < 60.0 && growth > 10.0)) fail_msg("vi-a: t %g, growth %g", t, growth);
  t = time_of_blow_up("em", 0.5, 1000.0, &growth);
  if (!(t > 999.9 && growth < 1.0 + 1e-10)) fail_msg("em: t %g, growth - 1 %g", t, growth - 1.0);
}

/* --- symplectic form -------------------------------------------------------------------------- */

/* One step from z = (q, p). */
static void one_step(const quadratic *model, const pol_options *options, const double *z, double h,
                     double *out)
{
  pol_integrator *integrator = begin(model, options);
  poli_ggl *s = integrator->data;
  int nv = model->nv;
  /* the start would project: put the values in its place */
  memcpy(s->now.q, z, (size_t)nv * sizeof *z);
  memcpy(s->now.p, z + nv, (size_t)nv * sizeof *z);
  for (int i = 0; i < nv; i++) s->now.v[i] = z[nv + i] / model->mass[i];
  assert_int_equal(pol_integrator_step(integrator, h), POL_OK);
  memcpy(out, s->now.q, (size_t)nv * sizeof *out);
  memcpy(out + nv, s->now.p, (size_t)nv * sizeof *out);
  pol_integrator_free(&integrator);
}

/* Tangent vectors (u, w) at (q, p) of the pendulum: G u = 0 and d(G M^-1 p) (u, w) = 0.  The flow
 * maps the manifold of the constraints to that of the method; two variations of the initial values
 * along curves in it have the same symplectic product before and after the step. */
static double symplectic_defect(const char *method, double theta)
{
  static quadratic model;
  pol_options options = published_options(method);
  const double h = 0.05, difference_step = 1e-3;
  static const double turn[4][2] = {{1, 0}, {0, 1}, {0, 0}, {0, 0}};
  double tangent[4][6], image[4][6], worst = 0.0;
  options.newton.tolerance = 1e-12;
  options.theta = theta;
  pendulum3d_init(&model);
  for (int k = 0; k < 4; k++) {
    double z[4][6], out[4][6];
    static const double offset[4] = {2.0, 1.0, -1.0, -2.0};
    for (int j = 0; j < 4; j++) {
      /* polar angle, azimuth and their rates */
      double s = offset[j] * difference_step;
      double a = 1.1 + s * turn[k][0], b = 0.4 + s * turn[k][1];
      double da = 0.7 + s * (k == 2), db = -0.9 + s * (k == 3);
      double *q = z[j], *p = z[j] + 3;
      q[0] = sin(a) * cos(b);
      q[1] = sin(a) * sin(b);
      q[2] = cos(a);
      p[0] = da * cos(a) * cos(b) - db * sin(a) * sin(b);
      p[1] = da * cos(a) * sin(b) + db * sin(a) * cos(b);
      p[2] = -da * sin(a);
      one_step(&model, &options, z[j], h, out[j]);
    }
    for (int i = 0; i < 6; i++) {
      tangent[k][i] = difference((double[4]){z[0][i], z[1][i], z[2][i], z[3][i]}, difference_step);
      image[k][i] =
          difference((double[4]){out[0][i], out[1][i], out[2][i], out[3][i]}, difference_step);
    }
  }
  for (int k = 0; k < 4; k++)
    for (int l = 0; l < k; l++) {
      double before = 0.0, after = 0.0;
      for (int i = 0; i < 3; i++) {
        before += tangent[k][i] * tangent[l][3 + i] - tangent[l][i] * tangent[k][3 + i];
        after += image[k][i] * image[l][3 + i] - image[l][i] * image[k][3 + i];
      }
      worst = fmax(worst, fabs(after - before));
    }
  return worst;
}

/* The same for any of the models: variations of random initial values that the start makes
 * consistent, so that they stay on the manifold of the constraints.  Relative to the largest
 * product. */
static double symplectic_defect_of(int which, const char *method, double h)
{
  enum { NUM_VARIATIONS = 4 };
  static quadratic model;
  static const double offset[4] = {2.0, 1.0, -1.0, -2.0};
  const double difference_step = 3e-4;
  double tangent[NUM_VARIATIONS][2 * MAX_QUADRATIC], image[NUM_VARIATIONS][2 * MAX_QUADRATIC];
  double worst = 0.0, largest = 0.0;
  pol_options options = pol_options_default();
  uint64_t seed = 1;
  options.method = method;
  model_init(&model, which);
  const int nv = model.nv;
  for (int k = 0; k < NUM_VARIATIONS; k++) {
    double z[4][2 * MAX_QUADRATIC], out[4][2 * MAX_QUADRATIC], direction[2 * MAX_QUADRATIC];
    random_numbers(&seed, direction, 2 * nv);
    for (int j = 0; j < 4; j++) {
      quadratic moved = model;
      for (int i = 0; i < nv; i++) {
        moved.q0[i] += offset[j] * difference_step * direction[i];
        moved.v0[i] += offset[j] * difference_step * direction[nv + i];
      }
      pol_integrator *integrator = begin(&moved, &options);
      const pol_state *state = pol_integrator_state(integrator);
      memcpy(z[j], state->q, (size_t)nv * sizeof(double));
      memcpy(z[j] + nv, state->p, (size_t)nv * sizeof(double));
      assert_int_equal(pol_integrator_step(integrator, h), POL_OK);
      memcpy(out[j], state->q, (size_t)nv * sizeof(double));
      memcpy(out[j] + nv, state->p, (size_t)nv * sizeof(double));
      pol_integrator_free(&integrator);
    }
    for (int i = 0; i < 2 * nv; i++) {
      tangent[k][i] = difference((double[4]){z[0][i], z[1][i], z[2][i], z[3][i]}, difference_step);
      image[k][i] =
          difference((double[4]){out[0][i], out[1][i], out[2][i], out[3][i]}, difference_step);
    }
  }
  for (int k = 0; k < NUM_VARIATIONS; k++)
    for (int l = 0; l < k; l++) {
      double before = 0.0, after = 0.0;
      for (int i = 0; i < nv; i++) {
        before += tangent[k][i] * tangent[l][nv + i] - tangent[l][i] * tangent[k][nv + i];
        after += image[k][i] * image[l][nv + i] - image[l][i] * image[k][nv + i];
      }
      worst = fmax(worst, fabs(after - before));
      largest = fmax(largest, fabs(before));
    }
  return worst / largest;
}

static void top_and_particles_are_symplectic_too(void **state)
{
  (void)state;
  static const char *const methods[] = {"vi-s", "vi-a", "vi-b", "rattle", "em"};
  for (int which = TOP; which <= PARTICLES; which++)
    for (int k = 0; k < 5; k++) {
      double defect = symplectic_defect_of(which, methods[k], published_step[which]);
      if (k < 4 ? !(defect < 1e-8) : !(defect > 1e-6))
        fail_msg("%s, model %d: %.2e", methods[k], which, defect);
    }
}

static void variational_methods_are_symplectic(void **state)
{
  (void)state;
  static const struct {
    const char *method;
    double theta;
    int symplectic;
  } cases[] = {{"vi-s", (double)NAN, 1}, {"vi-a", (double)NAN, 1},   {"vi-b", (double)NAN, 1},
               {"vi-b", 0.5, 1},         {"rattle", (double)NAN, 1}, {"em", (double)NAN, 0}};
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    double defect = symplectic_defect(cases[k].method, cases[k].theta);
    if (cases[k].symplectic ? !(defect < 1e-7) : !(defect > 1e-5))
      fail_msg("%s, theta %g: %.2e", cases[k].method, cases[k].theta, defect);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(energy_is_conserved),
      cmocka_unit_test(momenta_are_conserved),
      cmocka_unit_test(constraints_hold_where_promised),
      cmocka_unit_test(newton_iterations_are_as_published),
      cmocka_unit_test(stability_is_as_published),
      cmocka_unit_test(variational_methods_are_symplectic),
      cmocka_unit_test(top_and_particles_are_symplectic_too),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
