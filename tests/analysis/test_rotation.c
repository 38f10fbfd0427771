/* Vibrations of beams and of what rotates, against closed forms: beams with all usual ends, a
 * rotating cantilever, a pendulum on a rotating shaft, an overhung disk; curves over a parameter.
 */
#include "analysis/analyse.h"

static const double pi = 3.14159265358979323846;

/* --- beams at rest -------------------------------------------------------------------------------
 */

static const double young = 2e11, density = 7800.0;

/* A slender square beam of 1 m along x, whose shear and rotary inertia change frequencies by less
 * than 2e-5; more keys of the beam, and of its model. */
static pol_model *slender_beam(int elements, const char *strains, const char *keys,
                               const char *joint)
{
  char text[4000], joints[1000] = "";
  if (joint[0] != '\0')
    snprintf(joints, sizeof joints,
             "\"joints\": [{\"name\": \"a\", \"type\": \"%s\", \"bodies\": [\"ground\", "
             "\"beam_0\"], \"point\": [0, 0, 0]}, {\"name\": \"b\", \"type\": \"%s\", \"bodies\": "
             "[\"ground\", \"beam_%d\"], \"point\": [1, 0, 0]}], ",
             joint, joint, elements);
  snprintf(text, sizeof text,
           "{\"beams\": [{\"name\": \"beam\", \"points\": [[0, 0, 0], [1, 0, 0]], \"elements\": "
           "%d, \"strains\": \"%s\", %s \"section\": {\"type\": \"rectangle\", \"width\": 0.0005, "
           "\"height\": 0.0005}, \"material\": {\"young\": 2e11, \"density\": 7800}}], %s"
           "\"simulation\": {\"step\": 0.001, \"end\": 1}}",
           elements, strains, keys, joints);
  return read_model_text(text);
}

/* The frequencies of beams with these ends, s^2 sqrt(EI/m), in both planes, with second order or
 * better.  Shear forces at clamped ends make beams of constant strain stiffer: with two of them the
 * fifth frequency of 20 equal elements is off by 1.4 %; with shorter ones there by 0.43 %. */
static void beams_have_the_frequencies_of_their_ends(void **state)
{
  (void)state;
  static const struct {
    const char *keys, *joint;
    int zeros;    /* eigenvalues: rigid motions */
    double limit; /* of the relative error with 20 elements */
    double gain;  /* by twice as many of them, at least */
    double roots[5];
  } ends[] = {
      {"",
       "",
       12,
       5e-4,
       3.5,
       {4.73004074486, 7.85320462410, 10.9956078380, 14.1371654913, 17.2787596574}},
      {"\"start\": \"ground\",",
       "",
       0,
       6e-3,
       3.5,
       {1.87510406871, 4.69409113297, 7.85475743824, 10.9955407349, 14.1371683910}},
      {"\"start\": \"ground\", \"end\": \"ground\",",
       "",
       0,
       1.5e-2,
       3.5,
       {4.73004074486, 7.85320462410, 10.9956078380, 14.1371654913, 17.2787596574}},
      {"\"start\": \"ground\", \"grading\": [0.4, 0],",
       "",
       0,
       2e-3,
       3.5,
       {1.87510406871, 4.69409113297, 7.85475743824, 10.9955407349, 14.1371683910}},
      {"\"start\": \"ground\", \"end\": \"ground\", \"grading\": [0.4, 0.4],",
       "",
       0,
       4.6e-3,
       3.4,
       {4.73004074486, 7.85320462410, 10.9956078380, 14.1371654913, 17.2787596574}},
      {"",
       "spherical",
       2,
       4e-4,
       3.5,
       {3.14159265359, 6.28318530718, 9.42477796077, 12.5663706144, 15.7079632679}},
  };
  const double scale = sqrt(young * 0.0005 * 0.0005 / 12.0 / density);
  for (int e = 0; e < 6; e++)
    for (int strain = 0; strain < 2; strain++) {
      double error[2][5];
      for (int k = 0; k < 2; k++) {
        pol_model *model =
            slender_beam(k ? 40 : 20, strain ? "so3xr3" : "se3", ends[e].keys, ends[e].joint);
        pol_analysis *analysis = analyse_at(model->mechanism, 0.0);
        const pol_modes_options options = {.count = 10};
        pol_modes *modes = find_modes(analysis, &options);
        assert_int_equal(pol_modes_zeros(modes), ends[e].zeros);
        for (int i = 0; i < 10; i++) {
          const double exact = pow(ends[e].roots[i / 2], 2.0) * scale;
          const double ratio = pol_modes_get(modes, ends[e].zeros + i)->im / exact - 1.0;
          if (i % 2 == 0) error[k][i / 2] = ratio;
          assert_close(ratio, error[k][i / 2], 1e-6); /* both planes */
        }
        pol_modes_free(&modes);
        pol_analysis_free(&analysis);
        pol_model_free(&model);
      }
      for (int i = 0; i < 5; i++) {
        assert_true(fabs(error[0][i]) < ends[e].limit);
        /* the first ones are within the error of the theory of slender beams */
        if (fabs(error[0][i]) > 2e-5)
          assert_true(fabs(error[1][i]) < fabs(error[0][i]) / ends[e].gain);
      }
    }
}

/* --- a rotating cantilever -----------------------------------------------------------------------
 */

/* Flapping frequencies by sqrt(EI/(m L^4)) of a uniform cantilever that rotates about its clamped
 * end at 0, 1, ..., 12 of this unit: table of Wright, Smith, Thresher and Wang (1982), "Vibration
 * modes of centrifugally stiffened beams", J. Appl. Mech. 49, 197-202. */
static const double wright[13][3] = {
    {3.5160, 22.0345, 61.6972},  {3.6817, 22.1810, 61.8418},  {4.1373, 22.6149, 62.2732},
    {4.7973, 23.3203, 62.9850},  {5.5850, 24.2734, 63.9668},  {6.4495, 25.4461, 65.2050},
    {7.3604, 26.8091, 66.6839},  {8.2996, 28.3341, 68.3860},  {9.2568, 29.9954, 70.2930},
    {10.2257, 31.7705, 72.3867}, {11.2023, 33.6404, 74.6493}, {12.1843, 35.5890, 77.0638},
    {13.1702, 37.6031, 79.6145}};

/* The determinant that is zero at these frequencies: w'''' - eta^2/2 ((1 - x^2) w')' = mu^2 w as a
 * power series, with w = w' = 0 at 0 and w'' = w''' = 0 at 1. */
static long double series_determinant(double eta, double mu)
{
  enum { TERMS = 160 };
  long double ends[2][2];
  for (int start = 0; start < 2; start++) {
    long double a[TERMS] = {0};
    a[start + 2] = 1.0L;
    for (int n = 0; n + 4 < TERMS; n++)
      a[n + 4] = (0.5L * eta * eta * ((n + 2) * (n + 1) * a[n + 2] - n * (n + 1) * a[n]) +
                  (long double)mu * mu * a[n]) /
                 ((long double)(n + 4) * (n + 3) * (n + 2) * (n + 1));
    ends[start][0] = ends[start][1] = 0.0L;
    for (int n = 2; n < TERMS; n++) {
      ends[start][0] += n * (n - 1) * a[n];
      ends[start][1] += (long double)n * (n - 1) * (n - 2) * a[n];
    }
  }
  return ends[0][0] * ends[1][1] - ends[0][1] * ends[1][0];
}

static void published_frequencies_satisfy_the_equation(void **state)
{
  (void)state;
  for (int eta = 0; eta <= 12; eta++)
    for (int i = 0; i < 3; i++) {
      const double mu = wright[eta][i]; /* printed with four decimals */
      assert_true(series_determinant(eta, mu - 1.2e-4) * series_determinant(eta, mu + 1.2e-4) < 0);
    }
}

static pol_model *rotating_cantilever(int elements, double speed, const char *more)
{
  char text[4000];
  snprintf(text, sizeof text,
           "{\"bodies\": [{\"name\": \"hub\", \"mass\": 1, \"inertia\": [1, 1, 1], "
           "\"angular_velocity\": [0, 0, %.17g]}],"
           "\"joints\": [{\"name\": \"axle\", \"type\": \"revolute\", \"bodies\": [\"ground\", "
           "\"hub\"], \"point\": [0, 0, 0], \"axis\": [0, 0, 1]}],"
           "\"drives\": [{\"name\": \"motor\", \"joint\": \"axle\", \"coordinate\": \"rotation\", "
           "\"function\": {\"type\": \"polynomial\", \"coefficients\": [0, %.17g]}}],"
           "\"beams\": [{\"name\": \"beam\", \"points\": [[0, 0, 0], [1, 0, 0]], \"elements\": %d, "
           "\"start\": \"hub\", \"section\": {\"type\": \"rectangle\", \"width\": 0.002, "
           "\"height\": 0.002}, \"material\": {\"young\": 2e11, \"density\": 7800}}]%s,"
           "\"simulation\": {\"step\": 0.001, \"end\": 1}}",
           speed, speed, elements, more);
  return read_model_text(text);
}

static pol_static_report rotate(pol_analysis *analysis, double x, double y, double z, int steps)
{
  const pol_static_options options = {.steps = steps, .max_iterations = 200, .rotation = {x, y, z}};
  pol_static_report report;
  pol_diagnostics d;
  if (pol_analysis_equilibrium(analysis, &options, &report, &d) != POL_OK)
    fail_msg("%s: %s", d.where, d.message);
  return report;
}

/* Within 1 % with 20 elements, with second order; lagging frequencies are sqrt(flapping^2 - eta^2).
 * Load steps of eta^2 lead to the same. */
static void rotating_cantilever_has_the_published_frequencies(void **state)
{
  (void)state;
  const double unit = sqrt(young * 0.002 * 0.002 / 12.0 / density);
  for (int eta = 0; eta <= 12; eta++) {
    double error[2][3];
    for (int k = 0; k < 2; k++) {
      pol_model *model = rotating_cantilever(k ? 20 : 10, eta * unit, "");
      pol_analysis *analysis = analyse_at(model->mechanism, 0.0);
      const pol_static_report report = rotate(analysis, 0.0, 0.0, eta * unit, eta % 3 + 1);
      assert_int_equal(report.unstable + report.neutral, 0);
      const pol_modes_options options = {.count = 6, .frame = {0.0, 0.0, eta * unit}};
      pol_modes *modes = find_modes(analysis, &options);
      assert_true(pol_modes_unsteady(modes) < 1e-9);
      for (int i = 0; i < 3; i++) {
        const double chord = pol_modes_get(modes, 2 * i)->im / unit;
        const double flap = pol_modes_get(modes, 2 * i + 1)->im / unit;
        char name[100];
        error[k][i] = flap / wright[eta][i] - 1.0;
        if (k == 1) assert_true(fabs(error[k][i]) < 0.01);
        if (k == 1) assert_close(chord, sqrt(flap * flap - eta * eta), 2e-3 * flap);
        pol_modes_name(modes, 2 * i + 1, name, sizeof name);
        if (eta > 0) assert_string_equal(name, "beam bending z");
      }
      pol_modes_free(&modes);
      pol_analysis_free(&analysis);
      pol_model_free(&model);
    }
    /* the first ones are nearly exact: their order drowns in the four decimals of the table */
    assert_close(log2(error[0][2] / error[1][2]), 2.0, 0.2);
  }
}

/* The first zero of the determinant behind mu. */
static double next_frequency(double eta, double mu)
{
  double high = mu + 0.5;
  while (series_determinant(eta, mu) * series_determinant(eta, high) > 0) {
    mu = high;
    high += 0.5;
  }
  for (int i = 0; i < 60; i++) {
    const double middle = 0.5 * (mu + high);
    *(series_determinant(eta, mu) * series_determinant(eta, middle) > 0 ? &mu : &high) = middle;
  }
  return mu;
}

/* The first five flapping frequencies, of which tables have three: within 1 % with 20 elements,
 * with second order. */
static void rotating_cantilever_has_five_frequencies(void **state)
{
  (void)state;
  const double unit = sqrt(young * 0.002 * 0.002 / 12.0 / density);
  for (int eta = 6; eta <= 12; eta += 6) {
    double error[2][5];
    for (int k = 0; k < 2; k++) {
      pol_model *model = rotating_cantilever(k ? 40 : 20, eta * unit, "");
      pol_analysis *analysis = analyse_at(model->mechanism, 0.0);
      const pol_modes_options options = {.count = 10, .frame = {0.0, 0.0, eta * unit}};
      double exact = 0.0;
      (void)rotate(analysis, 0.0, 0.0, eta * unit, 1);
      pol_modes *modes = find_modes(analysis, &options);
      for (int i = 0; i < 5; i++) {
        exact = next_frequency(eta, exact + 0.1);
        error[k][i] = pol_modes_get(modes, 2 * i + 1)->im / (unit * exact) - 1.0;
      }
      pol_modes_free(&modes);
      pol_analysis_free(&analysis);
      pol_model_free(&model);
    }
    for (int i = 0; i < 5; i++) {
      assert_true(fabs(error[0][i]) < 0.01);
      assert_true(fabs(error[1][i]) < fabs(error[0][i]) / 3.5);
    }
  }
}

/* What is no steady rotation, and why. */
static void rotation_that_is_not_steady_is_refused(void **state)
{
  (void)state;
  static const struct {
    const char *more;
    double speed;
    const char *message;
  } cases[] = {
      {", \"gravity\": [0, -9.81, 0]", 3.0, "forces on this body change"},
      {", \"gravity\": [0, 0, -9.81]", 3.1, "this constraint does not allow it"},
      {", \"forces\": [{\"name\": \"s\", \"type\": \"support\", \"body\": \"hub\", \"stiffness\": "
       "[5, 80, 0]}]",
       3.0, "forces on this body change"},
      {", \"forces\": [{\"name\": \"f\", \"type\": \"force\", \"body\": \"beam_10\", \"force\": "
       "[0, "
       "0, 1e-3], \"scale\": \"1 + sin(t)\"}]",
       3.0, "forces on this body change"},
  };
  for (int k = 0; k < 4; k++) {
    pol_model *model = rotating_cantilever(10, 3.0, cases[k].more);
    pol_analysis *analysis = analyse_at(model->mechanism, 0.0);
    const pol_static_options options = {
        .steps = 1, .max_iterations = 200, .rotation = {0.0, 0.0, cases[k].speed}};
    pol_diagnostics d;
    assert_int_equal(pol_analysis_equilibrium(analysis, &options, NULL, &d), POL_NOT_CONVERGED);
    assert_non_null(strstr(d.message, cases[k].message));
    assert_true(d.where[0] != '\0' && d.advice[0] != '\0');
    pol_analysis_free(&analysis);
    pol_model_free(&model);
  }
}

/* --- rigid bodies --------------------------------------------------------------------------------
 */

/* A rod on a hinge of a vertical shaft with the speed W, with a housing that rests on the ground.
 * With transverse and axial moments J and I about the hinge, J u'' = (J - I) W^2 sin u cos u -
 * m g c sin u: equilibrium at cos u = m g c/((J - I) W^2), frequency W sin u sqrt((J - I)/J). */
static void pendulum_on_a_rotating_shaft_has_the_closed_form(void **state)
{
  (void)state;
  const double m = 2.0, c = 0.4, I = 0.01, J = 0.12 + m * c * c, W = 7.0;
  char text[4000];
  snprintf(
      text, sizeof text,
      "{\"gravity\": [0, 0, -9.81], \"bodies\": [{\"name\": \"housing\", \"mass\": 3, \"inertia\": "
      "[1, 1, 1], \"position\": [0, 0, 1]},{\"name\": \"shaft\", \"mass\": 1, \"inertia\": [0.1, "
      "0.1, 0.1], \"position\": [0, 0, 0.2]},{\"name\": \"rod\", \"mass\": 2, \"inertia\": [0.12, "
      "0.12, 0.01], \"position\": [%.17g, 0, %.17g], \"rotation\": {\"axis\": [0, 1, 0], "
      "\"angle\": -0.6}}], \"joints\": [{\"name\": \"base\", \"type\": \"fixed\", \"bodies\": "
      "[\"ground\", \"housing\"], \"point\": [0, 0, 1]},{\"name\": \"axle\", \"type\": "
      "\"revolute\", \"bodies\": [\"housing\", \"shaft\"], \"point\": [0, 0, 0.5], \"axis\": [0, "
      "0, 1]},{\"name\": \"hinge\", \"type\": \"revolute\", \"bodies\": [\"shaft\", \"rod\"], "
      "\"point\": [0, 0, 0], \"axis\": [0, 1, 0]}],\"drives\": [{\"name\": \"motor\", \"joint\": "
      "\"axle\", \"coordinate\": \"rotation\", \"function\": {\"type\": \"polynomial\", "
      "\"coefficients\": [0, 7]}}],\"simulation\": {\"step\": 0.001, \"end\": 1}}",
      c * sin(0.6), -c * cos(0.6));
  pol_model *model = read_model_text(text);
  const double cosine = m * 9.81 * c / ((J - I) * W * W), sine = sqrt(1.0 - cosine * cosine);
  for (int steps = 1; steps <= 5; steps += 4) {
    pol_analysis *analysis = analyse_at(model->mechanism, 0.0);
    const pol_static_report report = rotate(analysis, 0.0, 0.0, W, steps);
    const pol_body_state rod = body_at(analysis, 2), housing = body_at(analysis, 0);
    assert_close(rod.position[2], -c * cosine, 1e-11);
    assert_close(hypot(rod.velocity[0], rod.velocity[1]), W * c * sine, 1e-10);
    assert_close(housing.angular_velocity[2], 0.0, 0.0);
    assert_int_equal(report.freedoms, 1);
    assert_close(report.least, W * W * sine * sine * (J - I) / J, 1e-9);
    const pol_modes_options options = {.frame = {0.0, 0.0, W}};
    pol_modes *modes = find_modes(analysis, &options);
    assert_int_equal(pol_modes_count(modes), 1);
    assert_true(pol_modes_unsteady(modes) < 1e-9);
    assert_close(pol_modes_get(modes, 0)->im, W * sine * sqrt((J - I) / J), 1e-9);
    pol_modes_free(&modes);
    pol_analysis_free(&analysis);
  }
  pol_model_free(&model);
}

/* --- whirling ------------------------------------------------------------------------------------
 */

/* A disk at the end of a light round shaft of 1 m, whose clamped end is driven at the speed W. */
static pol_model *overhung_disk(int elements, double speed)
{
  char text[4000];
  snprintf(text, sizeof text,
           "{\"bodies\": [{\"name\": \"hub\", \"mass\": 1, \"inertia\": [1, 1, 1], "
           "\"angular_velocity\": [%.17g, 0, 0]},"
           "{\"name\": \"disk\", \"mass\": 10, \"inertia\": [0.8, 0.4, 0.4], \"position\": [1, 0, "
           "0], \"angular_velocity\": [%.17g, 0, 0]}],"
           "\"joints\": [{\"name\": \"axle\", \"type\": \"revolute\", \"bodies\": [\"ground\", "
           "\"hub\"], \"point\": [0, 0, 0], \"axis\": [1, 0, 0]}],"
           "\"drives\": [{\"name\": \"motor\", \"joint\": \"axle\", \"coordinate\": \"rotation\", "
           "\"function\": {\"type\": \"polynomial\", \"coefficients\": [0, %.17g]}}],"
           "\"beams\": [{\"name\": \"shaft\", \"points\": [[0, 0, 0], [1, 0, 0]], \"elements\": "
           "%d, \"start\": \"hub\", \"end\": \"disk\", \"angular_velocity_global\": [%.17g, 0, 0], "
           "\"section\": {\"type\": \"circle\", \"radius\": 0.01}, "
           "\"material\": {\"young\": 2e11, \"density\": 0.8}}],"
           "\"simulation\": {\"step\": 0.001, \"end\": 1}}",
           speed, speed, speed, elements, speed);
  return read_model_text(text);
}

/* (k11 - m w^2)(k22 - I w^2 + C W w) - k12^2 with the stiffness of the end of the shaft; w > 0 is
 * forward whirl. */
static double whirl(double speed, double w)
{
  const double EI = 2e11 * pi * 1e-8 / 4.0, m = 10.0, I = 0.4, C = 0.8;
  return (12.0 * EI - m * w * w) * (4.0 * EI - I * w * w + C * speed * w) - 36.0 * EI * EI;
}

/* Its four roots, ascending. */
static void whirl_speeds(double speed, double roots[4])
{
  int found = 0;
  for (double w = -2000.0; w < 2000.0; w += 0.5) {
    double low = w, high = w + 0.5;
    if (whirl(speed, low) * whirl(speed, high) > 0.0) continue;
    for (int k = 0; k < 60; k++) {
      const double middle = 0.5 * (low + high);
      *(whirl(speed, low) * whirl(speed, middle) > 0.0 ? &low : &high) = middle;
    }
    assert_true(found < 4);
    roots[found++] = 0.5 * (low + high);
  }
  assert_int_equal(found, 4);
}

/* The distance of the nearest mode of the frequency w. */
static double nearest_mode(const pol_modes *modes, double w)
{
  double nearest = INFINITY;
  for (int k = 0; k < pol_modes_count(modes); k++)
    nearest = fmin(nearest, fabs(pol_modes_get(modes, k)->im - w));
  return nearest;
}

static void overhung_disk_whirls_forward_and_backward(void **state)
{
  (void)state;
  static const double speeds[] = {0.3, 40.0, 150.0, 400.0};
  for (int s = 0; s < 4; s++) {
    double roots[4], error[2][4];
    whirl_speeds(speeds[s], roots);
    for (int k = 0; k < 2; k++) {
      pol_model *model = overhung_disk(k ? 20 : 10, speeds[s]);
      pol_analysis *analysis = analyse_at(model->mechanism, 0.0);
      /* steady in the axes of the ground, and in those of the shaft, where whirl is slower by W */
      for (int rotating = 0; rotating < 2; rotating++) {
        const pol_modes_options options = {.count = 5,
                                           .frame = {rotating ? speeds[s] : 0.0, 0.0, 0.0}};
        pol_modes *modes = find_modes(analysis, &options);
        assert_true(pol_modes_unsteady(modes) < 1e-9);
        for (int i = 0; i < 4; i++) {
          const double w = fabs(roots[i] - (rotating ? speeds[s] : 0.0));
          error[k][i] = nearest_mode(modes, w) / fabs(roots[i]);
          assert_true(error[k][i] < (k ? 3e-3 : 1.2e-2));
        }
        pol_modes_free(&modes);
      }
      pol_analysis_free(&analysis);
      pol_model_free(&model);
    }
  }
}

/* Forward whirl is synchronous at the critical speed: its frequency in the axes of the shaft is
 * zero.  With C > I there is one, (k11 - m W^2)(k22 + (C - I) W^2) = k12^2. */
static void critical_speed_has_the_closed_form(void **state)
{
  (void)state;
  const double EI = 2e11 * pi * 1e-8 / 4.0, m = 10.0, d = 0.4;
  /* m d x^2 + (k22 m - k11 d) x - (k11 k22 - k12^2) = 0, x = W^2 */
  const double b = 4.0 * EI * m - 12.0 * EI * d, c = -12.0 * EI * EI;
  const double critical = sqrt((-b + sqrt(b * b - 4.0 * m * d * c)) / (2.0 * m * d));
  double at[2];
  for (int k = 0; k < 2; k++) {
    const double speed = critical * (k ? 1.05 : 0.95);
    pol_model *model = overhung_disk(20, speed);
    pol_analysis *analysis = analyse_at(model->mechanism, 0.0);
    const pol_modes_options options = {.count = 3, .frame = {speed, 0.0, 0.0}};
    pol_modes *modes = find_modes(analysis, &options);
    at[k] = pol_modes_get(modes, 0)->im; /* whirl less speed: above, then below zero */
    pol_modes_free(&modes);
    pol_analysis_free(&analysis);
    pol_model_free(&model);
  }
  assert_close(critical * (0.95 + 0.1 * at[0] / (at[0] + at[1])), critical, 3e-3 * critical);
}

/* --- curves --------------------------------------------------------------------------------------
 */

/* Curves are not swapped where they cross: two oscillators, one of which becomes stiffer. */
static void curves_cross(void **state)
{
  (void)state;
  pol_curves *curves;
  assert_int_equal(pol_curves_create(&curves), POL_OK);
  enum { VALUES = 12 };
  double stiffness[VALUES];
  for (int k = 0; k < VALUES; k++) {
    char text[2000];
    stiffness[k] = 10.0 + 8.0 * k;
    snprintf(
        text, sizeof text,
        "{\"bodies\": [{\"name\": \"a\", \"type\": \"point\", \"mass\": 1}, {\"name\": \"b\", "
        "\"type\": \"point\", \"mass\": 1, \"position\": [1, 0, 0]}], \"forces\": ["
        "{\"name\": \"s\", \"type\": \"support\", \"body\": \"a\", \"stiffness\": [%.17g, 900, "
        "900]}, {\"name\": \"t\", \"type\": \"support\", \"body\": \"b\", \"anchor\": [1, 0, "
        "0], \"stiffness\": [50, 800, 800]}], \"simulation\": {\"step\": 0.001, \"end\": 1}}",
        stiffness[k]);
    pol_model *model = read_model_text(text);
    pol_analysis *analysis = analyse_at(model->mechanism, 0.0);
    pol_modes *modes = find_modes(analysis, NULL);
    assert_int_equal(pol_curves_add(curves, modes), POL_OK);
    pol_modes_free(&modes);
    pol_analysis_free(&analysis);
    pol_model_free(&model);
  }
  assert_int_equal(pol_curves_count(curves), 6);
  for (int k = 0; k < VALUES; k++) {
    const pol_curve_point rising = pol_curves_get(curves, 0, k),
                          flat = pol_curves_get(curves, 1, k);
    assert_close(rising.im, sqrt(stiffness[k]), 1e-10);
    assert_close(flat.im, sqrt(50.0), 1e-10);
    if (stiffness[k] != 50.0) assert_int_equal(rising.mode, stiffness[k] < 50.0 ? 0 : 1);
    if (stiffness[k] != 50.0) assert_close(rising.similarity, 1.0, 1e-9);
  }
  assert_int_equal(pol_curves_get(curves, 6, 0).mode, -1);
  assert_int_equal(pol_curves_get(curves, 0, VALUES).mode, -1);
  pol_curves_free(&curves);
  pol_curves_free(&curves);
}

/* A whirling frequency that passes zero in the axes of the shaft is one curve: it falls as the
 * speed rises, and rises again. */
static void curve_goes_on_after_zero(void **state)
{
  (void)state;
  enum { VALUES = 25 };
  pol_curves *curves;
  assert_int_equal(pol_curves_create(&curves), POL_OK);
  for (int k = 0; k < VALUES; k++) {
    const double speed = 2.0 + 3.0 * k;
    pol_model *model = overhung_disk(8, speed);
    pol_analysis *analysis = analyse_at(model->mechanism, 0.0);
    const pol_modes_options options = {.count = 8, .frame = {speed, 0.0, 0.0}};
    pol_modes *modes = find_modes(analysis, &options);
    assert_int_equal(pol_curves_add(curves, modes), POL_OK);
    pol_modes_free(&modes);
    pol_analysis_free(&analysis);
    pol_model_free(&model);
  }
  int falling = 0, rising = 0;
  const double torsion = pol_curves_get(curves, 2, 0).im;
  for (int k = 0; k < VALUES; k++) {
    double roots[4];
    whirl_speeds(2.0 + 3.0 * k, roots);
    /* the second and third root are the slow backward and forward whirl */
    const double slow = fabs(roots[2] - 2.0 - 3.0 * k), other = roots[1] - 2.0 - 3.0 * k;
    falling += roots[2] > 2.0 + 3.0 * k;
    rising += roots[2] < 2.0 + 3.0 * k;
    assert_close(pol_curves_get(curves, 0, k).im, slow, 0.6);
    assert_close(pol_curves_get(curves, 1, k).im, fabs(other), 0.6);
    assert_close(pol_curves_get(curves, 2, k).im, torsion, 0.1); /* which both cross */
  }
  assert_true(falling > 3 && rising > 3);
  pol_curves_free(&curves);
}

/* --- the models ----------------------------------------------------------------------------------
 */

/* Both blades sag alike in the equilibrium of the rotor, and less than at rest. */
static void blades_of_the_rotor_sag_alike(void **state)
{
  (void)state;
  pol_model *model = read_model(MODELS "beams/two_blade_rotor.json");
  pol_analysis *analysis = analyse_at(model->mechanism, 0.0);
  rotate(analysis, 0.0, 0.0, 25.0, 1);
  const int right = pol_mechanism_find_body(model->mechanism, "right_14");
  const int left = pol_mechanism_find_body(model->mechanism, "left_14");
  const pol_body_state a = body_at(analysis, right), b = body_at(analysis, left);
  assert_close(a.position[0], -b.position[0], 1e-10);
  assert_close(a.position[2], b.position[2], 1e-10);
  assert_true(a.position[2] < -0.005 && a.position[2] > -0.1);
  /* without the rotation they sag more */
  balance(analysis, 1);
  assert_true(body_at(analysis, right).position[2] < 2.0 * a.position[2]);
  pol_analysis_free(&analysis);
  pol_model_free(&model);
}

/* Its first mode has 440 Hz, with tines that move against each other and a stem that does not. */
static void fork_is_tuned(void **state)
{
  (void)state;
  pol_model *model = read_model(MODELS "beams/tuning_fork.json");
  pol_analysis *analysis = analyse_at(model->mechanism, 0.0);
  const pol_modes_options options = {.count = 2};
  pol_modes *modes = find_modes(analysis, &options);
  const pol_mode *mode = pol_modes_get(modes, 12), *next = pol_modes_get(modes, 13);
  const int first = 6 * pol_mechanism_find_body(model->mechanism, "fork_0") + 3;
  const int last = 6 * pol_mechanism_find_body(model->mechanism, "fork_48") + 3;
  const int middle = 6 * pol_mechanism_find_body(model->mechanism, "fork_24") + 3;
  assert_int_equal(pol_modes_zeros(modes), 12);
  assert_true(pol_modes_unsteady(modes) < 1e-9);
  assert_close(mode->frequency, 440.0, 1.0);
  assert_true(next->frequency > 800.0);
  assert_close(mode->shape_re[first], -mode->shape_re[last], 1e-6);
  assert_true(fabs(mode->shape_re[first]) > 0.5 && fabs(mode->shape_re[middle]) < 1e-6);
  pol_modes_free(&modes);
  pol_analysis_free(&analysis);
  /* the run has this frequency: upward passages of a tine through its place after the pulses */
  pol_simulation *simulation = start(model);
  double before = 0.0, from = 0.0, to = 0.0, t = 0.0;
  int passages = 0;
  while (!pol_simulation_finished(simulation)) {
    assert_int_equal(pol_simulation_step(simulation), POL_OK);
    pol_body_state tine;
    pol_simulation_body(simulation, first / 6, &tine);
    const double x = tine.position[0] + 0.008, now = pol_simulation_state(simulation)->t;
    if (now > 0.0015 && before < 0.0 && x >= 0.0) {
      const double at = t + (now - t) * before / (before - x);
      if (passages++ == 0) from = at;
      to = at;
    }
    before = x;
    t = now;
  }
  assert_true(passages >= 7);
  assert_close((passages - 1) / (to - from), 440.0, 2.0);
  pol_simulation_free(&simulation);
  pol_model_free(&model);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(beams_have_the_frequencies_of_their_ends),
      cmocka_unit_test(published_frequencies_satisfy_the_equation),
      cmocka_unit_test(rotating_cantilever_has_the_published_frequencies),
      cmocka_unit_test(rotating_cantilever_has_five_frequencies),
      cmocka_unit_test(rotation_that_is_not_steady_is_refused),
      cmocka_unit_test(pendulum_on_a_rotating_shaft_has_the_closed_form),
      cmocka_unit_test(overhung_disk_whirls_forward_and_backward),
      cmocka_unit_test(critical_speed_has_the_closed_form),
      cmocka_unit_test(curves_cross),
      cmocka_unit_test(curve_goes_on_after_zero),
      cmocka_unit_test(blades_of_the_rotor_sag_alike),
      cmocka_unit_test(fork_is_tuned),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
