/* Modes against closed forms: double pendulum, coupled pendulums, a damped oscillator, a spinning
 * rotor, free bodies, a rotating ring of masses; the large solver against the full one. */
#include "analysis/analyse.h"

static void double_pendulum_has_the_closed_form(void **state)
{
  (void)state;
  /* equal thin rods: w^2 = 3 (1 -+ 2/sqrt 7) g/l, once the small inertia about their axis is no
   * part of it */
  pol_model *model = read_model(MODELS "examples/double_pendulum.json");
  pol_analysis *analysis = analyse_at(model->mechanism, 0.0);
  pol_static_report report = balance(analysis, 1);
  assert_int_equal(report.unstable + report.neutral, 0);
  assert_int_equal(report.freedoms, 2);
  pol_modes *modes = find_modes(analysis, NULL);
  assert_int_equal(pol_modes_count(modes), 2);
  assert_int_equal(pol_modes_zeros(modes), 0);
  for (int k = 0; k < 2; k++) {
    const double w = sqrt(3.0 * (1.0 + (k ? 2.0 : -2.0) / sqrt(7.0)) * 9.81);
    const pol_mode *mode = pol_modes_get(modes, k);
    assert_close(mode->im, w, 1e-10 * w);
    assert_close(mode->re, 0.0, 1e-12);
    assert_close(mode->frequency, w / (8.0 * atan(1.0)), 1e-11 * w);
    assert_true(fabs(mode->damping) < 1e-12);
  }
  assert_close(report.least, pow(pol_modes_get(modes, 0)->im, 2.0), 1e-9);
  assert_null(pol_modes_get(modes, 2));
  assert_true(pol_modes_unsteady(modes) < 1e-12);
  pol_modes_free(&modes);
  pol_analysis_free(&analysis);
  pol_model_free(&model);
}

/* Let go with both rods level, gravity has no stiffness: zeros, not frequencies of round-off. */
static void double_pendulum_has_no_stiffness_at_its_start(void **state)
{
  (void)state;
  pol_model *model = read_model(MODELS "examples/double_pendulum.json");
  pol_analysis *analysis = analyse_at(model->mechanism, 0.0);
  pol_modes *modes = find_modes(analysis, NULL);
  assert_int_equal(pol_modes_zeros(modes), 4);
  assert_int_equal(pol_modes_count(modes), 4);
  for (int k = 0; k < 4; k++)
    assert_true(pol_modes_get(modes, k)->re == 0.0 && pol_modes_get(modes, k)->im == 0.0);
  assert_true(pol_modes_unsteady(modes) > 0.1);
  pol_modes_free(&modes);
  pol_analysis_free(&analysis);
  pol_model_free(&model);
}

/* Two point-like pendulums of length l, a spring between their masses. */
static const char coupled[] =
    "{ \"gravity\": [0, 0, -9.81], \"bodies\": ["
    "{\"name\": \"a\", \"mass\": 2, \"inertia\": [0.1, 0.1, 0.1], \"position\": [0, 0, -0.5]},"
    "{\"name\": \"b\", \"mass\": 2, \"inertia\": [0.1, 0.1, 0.1], \"position\": [0.7, 0, -0.5]}],"
    "\"joints\": ["
    "{\"name\": \"A\", \"type\": \"revolute\", \"bodies\": [\"ground\", \"a\"], \"point\": [0, 0, "
    "0], \"axis\": [0, 1, 0]},"
    "{\"name\": \"B\", \"type\": \"revolute\", \"bodies\": [\"ground\", \"b\"], \"point\": [0.7, "
    "0, "
    "0], \"axis\": [0, 1, 0]}],"
    "\"markers\": [{\"name\": \"p\", \"body\": \"a\"}, {\"name\": \"q\", \"body\": \"b\"}],"
    "\"forces\": [{\"name\": \"s\", \"type\": \"spring-damper\", \"markers\": [\"p\", \"q\"], "
    "\"stiffness\": 30, \"damping\": %s, \"length\": 0.7}],"
    "\"simulation\": {\"step\": 0.001, \"end\": 1} }";

static void coupled_pendulums_have_the_closed_form(void **state)
{
  (void)state;
  const double inertia = 0.1 + 2.0 * 0.25, pull = 2.0 * 9.81 * 0.5, arm = 0.25;
  for (int damped = 0; damped < 2; damped++) {
    char text[2000];
    const double c = damped ? 3.0 : 0.0;
    snprintf(text, sizeof text, coupled, damped ? "3" : "0");
    pol_model *model = read_model_text(text);
    pol_analysis *analysis = analyse_at(model->mechanism, 0.0);
    pol_modes *modes = find_modes(analysis, NULL);
    assert_int_equal(pol_modes_count(modes), 2);
    /* in phase, and against each other with the spring: I w'' + 2 c a^2 w' + (m g l + 2 k a^2) w */
    const double slow = sqrt(pull / inertia);
    const double re = -c * arm / inertia;
    const double size = sqrt((pull + 2.0 * 30.0 * arm) / inertia);
    assert_close(pol_modes_get(modes, 0)->im, slow, 1e-12 * slow);
    assert_close(pol_modes_get(modes, 0)->damping, 0.0, 1e-12);
    assert_close(pol_modes_get(modes, 1)->re, re, 1e-11);
    assert_close(pol_modes_get(modes, 1)->im, sqrt(size * size - re * re), 1e-11 * size);
    assert_close(pol_modes_get(modes, 1)->damping, -re / size, 1e-11);
    /* shapes: the same, and opposite */
    const pol_mode *in_phase = pol_modes_get(modes, 0), *against = pol_modes_get(modes, 1);
    assert_close(in_phase->shape_re[3], in_phase->shape_re[9], 1e-9);
    assert_close(against->shape_re[3], -against->shape_re[9], 1e-9);
    pol_modes_free(&modes);
    pol_analysis_free(&analysis);
    pol_model_free(&model);
  }
}

/* A free body without gravity: six motions, each with two zero eigenvalues; with a spring to each
 * side three are left. */
static void rigid_motions_are_exact_zeros(void **state)
{
  (void)state;
  pol_model *model = read_model_text(
      "{\"bodies\": [{\"name\": \"a\", \"mass\": 2, \"inertia\": [1, 2, 2.5]}],"
      "\"forces\": [{\"name\": \"s\", \"type\": \"support\", \"body\": \"a\", \"stiffness\": [50, "
      "80, 0]}], \"simulation\": {\"step\": 0.001, \"end\": 1}}");
  pol_analysis *analysis = analyse_at(model->mechanism, 0.0);
  pol_static_report report = balance(analysis, 1);
  assert_int_equal(report.neutral, 4);
  assert_int_equal(report.unstable, 0);
  pol_modes *modes = find_modes(analysis, NULL);
  assert_int_equal(pol_modes_zeros(modes), 8);
  assert_int_equal(pol_modes_count(modes), 10);
  for (int k = 0; k < 8; k++) {
    assert_true(pol_modes_get(modes, k)->re == 0.0 && pol_modes_get(modes, k)->im == 0.0);
    assert_true(pol_modes_get(modes, k)->damping == 0.0);
  }
  assert_close(pol_modes_get(modes, 8)->im, 5.0, 1e-12);
  assert_close(pol_modes_get(modes, 9)->im, sqrt(40.0), 1e-12);
  pol_modes_free(&modes);
  pol_analysis_free(&analysis);
  pol_model_free(&model);
}

/* A symmetric rotor with spin W on soft supports has the tilting frequencies of
 * I w^2 - C W w - k = 0: gyroscopic terms, seen in the axes of the ground. */
static void gyroscopic_splitting_has_the_closed_form(void **state)
{
  (void)state;
  pol_model *model = read_model_text(
      "{\"bodies\": [{\"name\": \"r\", \"mass\": 1, \"inertia\": [0.3, 0.3, 0.5], "
      "\"angular_velocity\": [0, 0, 40]}],"
      "\"joints\": [{\"name\": \"c\", \"type\": \"spherical\", \"bodies\": [\"ground\", \"r\"], "
      "\"point\": [0, 0, 0]}],"
      "\"forces\": [{\"name\": \"s\", \"type\": \"support\", \"body\": \"r\", \"point\": [0, 0, "
      "1], "
      "\"stiffness\": [70, 70, 0]}], \"simulation\": {\"step\": 0.001, \"end\": 1}}");
  pol_analysis *analysis = analyse_at(model->mechanism, 0.0);
  pol_modes *modes = find_modes(analysis, NULL);
  const double half = 0.5 * 0.5 * 40.0 / 0.3, root = sqrt(half * half + 70.0 / 0.3);
  assert_int_equal(pol_modes_zeros(modes), 2); /* the spin */
  assert_true(pol_modes_unsteady(modes) < 1e-12);
  assert_close(pol_modes_get(modes, 2)->im, root - half, 1e-11);
  assert_close(pol_modes_get(modes, 3)->im, root + half, 1e-11);
  /* whirling: a quarter of a period between the two directions */
  const pol_mode *mode = pol_modes_get(modes, 3);
  assert_close(hypot(mode->shape_re[0], mode->shape_im[0]),
               hypot(mode->shape_re[1], mode->shape_im[1]), 1e-9);
  assert_close(mode->shape_re[0] * mode->shape_re[1] + mode->shape_im[0] * mode->shape_im[1], 0.0,
               1e-9);
  pol_modes_free(&modes);
  pol_analysis_free(&analysis);
  pol_model_free(&model);
}

/* --- a rotating ring -----------------------------------------------------------------------------
 */

enum { MASSES = 10 };
static const double ring_mass = 0.4, ring_radius = 1.3, ring_speed = 2.5, ring_stiffness = 60.0,
                    spoke = 0.8;

/* Ten masses on a circle with springs between neighbours and soft ones to the centre, so that it
 * does not drift, in rotating equilibrium. */
static pol_model *ring_model(void)
{
  static char text[8000];
  const double step = 8.0 * atan(1.0) / MASSES, chord = 2.0 * ring_radius * sin(0.5 * step);
  const double pull = (ring_mass * ring_speed * ring_speed - spoke) * ring_radius;
  const double tension = pull / (2.0 * sin(0.5 * step));
  char *end = text;
  end += sprintf(end, "{\"bodies\": [");
  for (int k = 0; k < MASSES; k++) {
    const double c = cos(k * step), s = sin(k * step);
    end += sprintf(end,
                   "%s{\"name\": \"m%d\", \"type\": \"point\", \"mass\": %.17g, \"position\": "
                   "[%.17g, %.17g, 0], \"velocity\": [%.17g, %.17g, 0]}",
                   k ? ", " : "", k, ring_mass, ring_radius * c, ring_radius * s,
                   -ring_speed * ring_radius * s, ring_speed * ring_radius * c);
  }
  end += sprintf(end, "], \"markers\": [");
  for (int k = 0; k < MASSES; k++)
    end += sprintf(end, "%s{\"name\": \"p%d\", \"body\": \"m%d\"}", k ? ", " : "", k, k);
  end += sprintf(end, "], \"forces\": [");
  for (int k = 0; k < MASSES; k++)
    end += sprintf(end,
                   "%s{\"name\": \"c%d\", \"type\": \"support\", \"body\": \"m%d\", \"anchor\": "
                   "[0, 0, 0], \"stiffness\": [%.17g, %.17g, %.17g]}",
                   k ? ", " : "", k, k, spoke, spoke, spoke);
  for (int k = 0; k < MASSES; k++)
    end += sprintf(end,
                   ", {\"name\": \"s%d\", \"type\": \"spring-damper\", \"markers\": [\"p%d\", "
                   "\"p%d\"], \"stiffness\": %.17g, \"damping\": 0, \"length\": %.17g}",
                   k, k, (k + 1) % MASSES, ring_stiffness, chord - tension / ring_stiffness);
  sprintf(end, "], \"simulation\": {\"step\": 0.001, \"end\": 1}}");
  return read_model_text(text);
}

/* With radial and tangential displacements of the harmonic p in rotating axes, springs k along and
 * tension/length t across the chords, a = pi/n and h = pi p/n, w satisfies f(w) = 0 with
 *
 *     f = (Kr - m (w^2 + W^2)) (Kt - m (w^2 + W^2)) - (c - 2 m W w)^2
 *     Kr = 4 (k sin^2 a cos^2 h + t cos^2 a sin^2 h) + spoke
 *     Kt = 4 (k cos^2 a sin^2 h + t sin^2 a cos^2 h) + spoke
 *     c = 2 sin 2h sin a cos a (k + t).
 *
 * Gives f, and its derivative; out of the plane m w^2 = 4 t sin^2 h + spoke. */
static double ring_equation(int p, double w, double *slope, double *out_of_plane)
{
  const double a = 4.0 * atan(1.0) / MASSES, h = a * p, m = ring_mass, W = ring_speed;
  const double t = (m * W * W - spoke) / (4.0 * pow(sin(a), 2.0)), k = ring_stiffness;
  const double Kr = 4.0 * (k * pow(sin(a) * cos(h), 2.0) + t * pow(cos(a) * sin(h), 2.0)) + spoke;
  const double Kt = 4.0 * (k * pow(cos(a) * sin(h), 2.0) + t * pow(sin(a) * cos(h), 2.0)) + spoke;
  const double c = 2.0 * sin(2.0 * h) * sin(a) * cos(a) * (k + t);
  const double X = Kr - m * (w * w + W * W), Y = Kt - m * (w * w + W * W), Z = c - 2.0 * m * W * w;
  *slope = -2.0 * m * w * (X + Y) + 4.0 * m * W * Z;
  *out_of_plane = sqrt((4.0 * t * pow(sin(h), 2.0) + spoke) / m);
  return X * Y - Z * Z;
}

static void rotating_ring_has_the_closed_form(void **state)
{
  (void)state;
  pol_model *model = ring_model();
  pol_analysis *analysis = analyse_at(model->mechanism, 0.0);
  const pol_modes_options rotating = {.frame = {0.0, 0.0, ring_speed}};
  pol_modes *modes = find_modes(analysis, &rotating);
  assert_true(pol_modes_unsteady(modes) < 1e-12);
  /* each is a root of one of the harmonics, and all squares together are those of all roots */
  double sum = 0.0, expected = 0.0;
  for (int k = 0; k < pol_modes_count(modes); k++) {
    const pol_mode *mode = pol_modes_get(modes, k);
    double nearest = INFINITY;
    assert_true(mode->re == 0.0 && mode->damping == 0.0); /* round-off is not shown */
    sum += mode->im * mode->im;
    for (int p = 0; p < MASSES; p++)
      for (int sign = -1; sign <= 1; sign += 2) {
        double slope, out;
        const double f = ring_equation(p, sign * mode->im, &slope, &out);
        if (mode->im > 0.0) nearest = fmin(nearest, fabs(f / slope));
        nearest = fmin(nearest, fabs(out - mode->im));
      }
    assert_true(nearest < 1e-8 * ring_speed || mode->im == 0.0);
  }
  for (int p = 0; p < MASSES; p++) {
    double out;
    const double a = 4.0 * atan(1.0) / MASSES, h = a * p, m = ring_mass, W = ring_speed, none = 0.0;
    const double t = (m * W * W - spoke) / (4.0 * pow(sin(a), 2.0));
    double slope;
    ring_equation(p, none, &slope, &out);
    /* the four roots of f have no sum; half of each pair of +w and -w is listed */
    const double traces =
        4.0 * (ring_stiffness + t) * (pow(sin(a) * cos(h), 2.0) + pow(cos(a) * sin(h), 2.0));
    expected += (traces + 2.0 * spoke) / m + 2.0 * W * W + out * out;
  }
  assert_close(sum, expected, 1e-8 * expected);
  assert_int_equal(pol_modes_zeros(modes), 2); /* the rotation about the axis */
  pol_modes_free(&modes);

  /* in the axes of the ground nothing is steady */
  modes = find_modes(analysis, NULL);
  assert_true(pol_modes_unsteady(modes) > 0.1);
  pol_modes_free(&modes);
  pol_analysis_free(&analysis);
  pol_model_free(&model);
}

/* --- large models --------------------------------------------------------------------------------
 */

static void compare_with_full(pol_analysis *analysis, int count, const double frame[3],
                              double tolerance)
{
  pol_modes_options options = pol_modes_options_default();
  options.large = -1;
  if (frame) memcpy(options.frame, frame, sizeof options.frame);
  pol_modes *full = find_modes(analysis, &options);
  options.large = 1;
  options.count = count;
  options.shift = 0.5;
  pol_modes *large = find_modes(analysis, &options);
  /* zeros are the same at steady states; beside them are `count` others, or all there are */
  const int wanted = pol_modes_zeros(large) + count;
  if (pol_modes_unsteady(full) < 1e-9)
    assert_int_equal(pol_modes_zeros(large), pol_modes_zeros(full));
  assert_int_equal(pol_modes_count(large),
                   wanted < pol_modes_count(full) ? wanted : pol_modes_count(full));
  for (int k = 0; k < pol_modes_count(large); k++) {
    /* each is among the full ones: eigenvalues of equal size may be in another order */
    const pol_mode *found = pol_modes_get(large, k);
    double nearest = INFINITY;
    for (int i = 0; i < pol_modes_count(full); i++) {
      const pol_mode *mode = pol_modes_get(full, i);
      nearest = fmin(nearest, hypot(mode->re - found->re, mode->im - found->im));
    }
    assert_true(nearest < tolerance);
  }
  pol_modes_free(&full);
  pol_modes_free(&large);
}

static void large_solver_agrees_with_the_full_one(void **state)
{
  (void)state;
  pol_model *model = read_model(MODELS "examples/chain_stop.json");
  pol_analysis *analysis = analyse_at(model->mechanism, 0.0);
  balance(analysis, 1);
  compare_with_full(analysis, 3, NULL, 1e-8);
  pol_analysis_free(&analysis);
  pol_model_free(&model);
  /* axes that rotate */
  model = ring_model();
  analysis = analyse_at(model->mechanism, 0.0);
  compare_with_full(analysis, 8, (double[]){0.0, 0.0, ring_speed}, 1e-6);
  pol_analysis_free(&analysis);
  pol_model_free(&model);
  /* first-order states */
  model = read_model(MODELS "examples/lag_actuator.json");
  analysis = analyse_at(model->mechanism, 0.0);
  compare_with_full(analysis, 2, NULL, 1e-8);
  pol_analysis_free(&analysis);
  pol_model_free(&model);
  /* wheels that roll */
  model = read_model(MODELS "meijaard-2007/bicycle.json");
  analysis = analyse_at(model->mechanism, 0.0);
  compare_with_full(analysis, 4, NULL, 1e-3);
  pol_analysis_free(&analysis);
  pol_model_free(&model);
}

/* In the midst of a motion, whose constraints change along it; also seen in rotating axes. */
static void large_solver_agrees_with_the_full_one_in_motion(void **state)
{
  (void)state;
  static const char *const models[] = {"examples/chain_stop.json", "examples/suspension.json",
                                       "examples/lag_actuator.json", "meijaard-2007/bicycle.json"};
  for (int k = 0; k < 4; k++) {
    char path[400];
    snprintf(path, sizeof path, MODELS "%s", models[k]);
    pol_model *model = read_model(path);
    pol_analysis *analysis = analyse_at(model->mechanism, 0.0);
    const int bodies = pol_mechanism_num_bodies(model->mechanism);
    double states[20] = {0.3, -0.2};
    pol_body_state *moving = calloc((size_t)bodies, sizeof *moving);
    for (int b = 0; b < bodies; b++) {
      moving[b] = body_at(analysis, b);
      for (int i = 0; i < 3; i++) {
        moving[b].angular_velocity[i] += 1.0 + sin(3.0 * b + i);
        moving[b].velocity[i] += 0.3 * cos(2.0 * b + i);
      }
    }
    assert_int_equal(pol_analysis_set_bodies(analysis, 0.0, moving, states, NULL), POL_OK);
    pol_modes *modes = find_modes(analysis, NULL);
    assert_true(pol_modes_unsteady(modes) > 0.01);
    pol_modes_free(&modes);
    const int count = k == 2 ? 2 : 3;
    compare_with_full(analysis, count, NULL, 1e-5);
    compare_with_full(analysis, count, (double[]){0.4, -0.7, 1.1}, 1e-5);
    free(moving);
    pol_analysis_free(&analysis);
    pol_model_free(&model);
  }
}

/* A hanging chain of 300 links, 1800 velocities: its slow modes are those of a hanging rope,
 * w = j/2 sqrt(g/l) with the zeros j of the Bessel function J0, up to the length of a link. */
static void hanging_chain_of_300_links_vibrates_as_a_rope(void **state)
{
  (void)state;
  enum { LINKS = 300 };
  const double link = 1.0 / LINKS;
  pol_mechanism *mechanism = start_mechanism();
  int before = POL_GROUND;
  double at[3] = {0.0, 0.0, 0.0};
  for (int k = 0; k < LINKS; k++)
    before = add_rod(mechanism, before, link, link, -2.0 * atan(1.0), at);
  pol_analysis *analysis = analyse_at(mechanism, 0.0);
  pol_static_report report = balance(analysis, 1);
  assert_int_equal(report.freedoms, LINKS);
  assert_int_equal(report.unstable + report.neutral, 0);
  pol_modes_options options = pol_modes_options_default();
  options.count = 5;
  pol_modes *modes = find_modes(analysis, &options);
  static const double zeros[] = {2.404825557695773, 5.520078110286311, 8.653727912911013,
                                 11.79153443901428, 14.93091770848779};
  for (int k = 0; k < 5; k++) {
    const double w = 0.5 * zeros[k] * sqrt(9.81);
    assert_close(pol_modes_get(modes, k)->im, w, 5e-4 * w);
    assert_close(pol_modes_get(modes, k)->re, 0.0, 1e-6);
  }
  assert_close(report.least, pow(pol_modes_get(modes, 0)->im, 2.0), 1e-6);
  pol_modes_free(&modes);
  pol_analysis_free(&analysis);
  pol_mechanism_free(&mechanism);
}

/* --- poses
 * ---------------------------------------------------------------------------------------- */

static void poses_move_along_the_shape_and_keep_the_joints(void **state)
{
  (void)state;
  pol_model *model = read_model(MODELS "examples/double_pendulum.json");
  pol_analysis *analysis = analyse_at(model->mechanism, 0.0);
  balance(analysis, 1);
  pol_modes *modes = find_modes(analysis, NULL);
  const pol_formulation *f = pol_analysis_formulation(analysis);
  const pol_dae *dae = pol_formulation_dae(f);
  double q[14], v[12], phi[10], scratch[4000];
  assert_int_equal(dae->group.nq, 14);
  assert_true(dae->scratch_size <= 4000);
  for (int k = 0; k < 2; k++) {
    const double amplitude = pol_modes_amplitude(modes, k);
    double largest = 0.0;
    assert_true(amplitude > 0.01 && amplitude < 1.0);
    for (int i = 0; i < 12; i++) {
      pol_body_state body;
      assert_int_equal(pol_modes_pose(modes, k, i * 0.5, amplitude, q, v), POL_OK);
      memset(phi, 0, sizeof phi);
      dae->evaluate(&(pol_point){.q = q, .v = v}, POL_POSITION, &(pol_terms){.position = phi},
                    scratch, dae->user);
      for (int c = 0; c < 10; c++) assert_close(phi[c], 0.0, 1e-12);
      for (int b = 0; b < 2; b++) {
        pol_formulation_body_state(f, q, v, b, &body);
        largest = fmax(largest, fabs(body.position[0]));
      }
    }
    assert_true(largest > 0.02 && largest < 0.5);
  }
  assert_int_equal(pol_modes_pose(modes, 7, 0.0, 1.0, q, v), POL_BAD_ARGUMENT);
  pol_modes_free(&modes);
  pol_analysis_free(&analysis);
  pol_model_free(&model);
}

/* Shapes are shown at a size that is seen: a tenth of the model, or 0.3 rad. */
static void shapes_are_shown_large_enough(void **state)
{
  (void)state;
  pol_model *model = read_model_with(MODELS "examples/chain_stop.json", 0, NULL);
  pol_analysis *analysis = analyse_at(model->mechanism, 0.0);
  balance(analysis, 1);
  pol_modes *modes = find_modes(analysis, NULL);
  for (int k = 0; k < pol_modes_count(modes); k++) {
    const pol_mode *mode = pol_modes_get(modes, k);
    double rotation = 0.0;
    for (int b = 0; b < pol_mechanism_num_bodies(model->mechanism); b++)
      for (int i = 0; i < 3; i++)
        rotation = fmax(rotation, hypot(mode->shape_re[6 * b + i], mode->shape_im[6 * b + i]));
    rotation *= pol_modes_amplitude(modes, k);
    assert_true(rotation <= 0.3 + 1e-12);
    assert_true(k == 0 || rotation >= 0.3 - 1e-12);
  }
  pol_modes_free(&modes);
  pol_analysis_free(&analysis);
  pol_model_free(&model);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shapes_are_shown_large_enough),
      cmocka_unit_test(double_pendulum_has_the_closed_form),
      cmocka_unit_test(double_pendulum_has_no_stiffness_at_its_start),
      cmocka_unit_test(coupled_pendulums_have_the_closed_form),
      cmocka_unit_test(rigid_motions_are_exact_zeros),
      cmocka_unit_test(gyroscopic_splitting_has_the_closed_form),
      cmocka_unit_test(rotating_ring_has_the_closed_form),
      cmocka_unit_test(large_solver_agrees_with_the_full_one),
      cmocka_unit_test(large_solver_agrees_with_the_full_one_in_motion),
      cmocka_unit_test(hanging_chain_of_300_links_vibrates_as_a_rope),
      cmocka_unit_test(poses_move_along_the_shape_and_keep_the_joints),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
