/* The benchmark bicycle of Meijaard, Papadopoulos, Ruina and Schwab (2007): the eigenvalues of
 * their table 2 to all digits, and the speeds between which it rides by itself. */
#include "analysis/analyse.h"

/* Per speed 0 .. 10 m/s: castering, capsize, and the real and imaginary part of weave; at rest
 * weave is two real numbers. */
static const double table[11][4] = {
    {-5.53094371765393, -3.13164324790656, 3.13164324790656, 5.53094371765393},
    {-7.11008014637442, -3.13423125066578, 3.52696170990070, 0.80774027519930},
    {-8.67387984831735, -3.07158645641514, 2.68234517512745, 1.68066296590675},
    {-10.35101467245920, -2.63366137253667, 1.70675605663975, 2.31582447384325},
    {-12.15861426576447, -1.42944427361326, 0.41325331521125, 3.07910818603206},
    {-14.07838969279822, -0.32286642900409, -0.77534188219585, 4.46486771378823},
    {-16.08537123098026, -0.00406690076970, -1.52644486584142, 5.87673060598709},
    {-18.15788466125262, 0.10268170574766, -2.13875644258362, 7.19525913329805},
    {-20.27940894394569, 0.14327879765713, -2.69348683581097, 8.46037971396931},
    {-22.43788559040858, 0.15790184030917, -3.21675402252485, 9.69377351531791},
    {-24.62459635017404, 0.16105338653172, -3.72016840437287, 10.90681139476287}};

static pol_model *bicycle_at(double speed)
{
  char wheel[6][80];
  const char *overrides[6];
  static const char *const bodies[] = {"rear wheel", "frame", "fork", "front wheel"};
  for (int i = 0; i < 4; i++)
    snprintf(wheel[i], sizeof wheel[i], "bodies.%s.velocity=[%.17g,0,0]", bodies[i], speed);
  snprintf(wheel[4], sizeof wheel[4], "bodies.rear wheel.angular_velocity=[0,%.17g,0]",
           speed / 0.3);
  snprintf(wheel[5], sizeof wheel[5], "bodies.front wheel.angular_velocity=[0,%.17g,0]",
           speed / 0.35);
  for (int i = 0; i < 6; i++) overrides[i] = wheel[i];
  return read_model_with(MODELS "meijaard-2007/bicycle.json", 6, overrides);
}

/* Four values in the order of the table, of the modes that are not zero. */
static void eigenvalues_at(double speed, double found[4])
{
  pol_model *model = bicycle_at(speed);
  pol_analysis *analysis = analyse_at(model->mechanism, 0.0);
  pol_modes *modes = find_modes(analysis, NULL);
  double real[4];
  int count = 0;
  /* place, heading, wheel angles, and the speed: seven coordinates and three velocities */
  const int zeros = pol_modes_zeros(modes);
  assert_true(zeros == 6 || zeros == 7); /* and capsize, where that changes its sign */
  assert_true(pol_modes_unsteady(modes) < 1e-10);
  for (int k = zeros; k < pol_modes_count(modes); k++) {
    const pol_mode *mode = pol_modes_get(modes, k);
    if (mode->im > 0.0) {
      found[2] = mode->re;
      found[3] = mode->im;
      continue;
    }
    int i = count++;
    for (; i > 0 && real[i - 1] > mode->re; i--) real[i] = real[i - 1];
    real[i] = mode->re;
  }
  for (int i = 0; i < count; i++) found[i] = real[i];
  if (zeros == 7) found[count++] = 0.0;
  assert_true(count == 2 || count == 4);
  pol_modes_free(&modes);
  pol_analysis_free(&analysis);
  pol_model_free(&model);
}

/* The paper prints 14 decimals.  Entries of A are of the size of a thousand at 10 m/s, and
 * round-off is 2e-13 of that. */
static void eigenvalues_are_those_of_the_paper(void **state)
{
  (void)state;
  double largest = 0.0;
  for (int speed = 0; speed <= 10; speed++) {
    double found[4];
    eigenvalues_at(speed, found);
    for (int i = 0; i < 4; i++) largest = fmax(largest, fabs(found[i] - table[speed][i]));
    assert_near(found, table[speed], 4, 1e-12);
    if (speed <= 5) assert_near(found, table[speed], 4, 1e-13);
  }
  print_message("largest difference from the table: %.1e\n", largest);
}

/* Where the real part of weave, or capsize, is zero: the secant through two speeds so close to it
 * that it is a straight line to round-off, but where it is not yet taken for zero. */
static double speed_where_zero(int which, double a, double b)
{
  double found[4], before, value;
  eigenvalues_at(a, found);
  before = found[which];
  eigenvalues_at(b, found);
  value = found[which];
  for (int k = 0; k < 20; k++) {
    const double next = b - value * (b - a) / (value - before);
    if (fabs(value) < 1e-6) return next;
    a = b;
    before = value;
    b = next;
    eigenvalues_at(b, found);
    value = found[which];
  }
  return NAN;
}

static void weave_and_capsize_speeds_are_those_of_the_paper(void **state)
{
  (void)state;
  assert_close(speed_where_zero(2, 4.2, 4.4), 4.29238253634111, 1e-11);
  assert_close(speed_where_zero(1, 5.9, 6.1), 6.02426201538837, 1e-9);
}

/* The nonlinear motion after a small push of the steering follows the linear one: a run of the
 * model at 5 m/s decays as its slowest mode. */
static void runs_follow_the_slowest_mode(void **state)
{
  (void)state;
  const char *const leaning[] = {"bodies.frame.angular_velocity=[0.01,0,0]"};
  pol_model *model = read_model_with(MODELS "meijaard-2007/bicycle.json", 1, leaning);
  pol_settings settings = model->settings;
  settings.step = 0.002;
  settings.end = 12.0;
  pol_simulation *simulation = start_with(model->mechanism, &settings);
  double lean[2] = {0.0, 0.0};
  const double times[2] = {8.0, 12.0};
  while (!pol_simulation_finished(simulation)) {
    take_step(simulation);
    const double t = pol_simulation_state(simulation)->t;
    pol_body_state frame;
    pol_simulation_body(simulation, 1, &frame);
    for (int i = 0; i < 2; i++) /* the y axis of the frame out of the plane */
      if (fabs(t - times[i]) < 1e-6) lean[i] = asin(frame.rotation[7]);
  }
  assert_close(log(lean[1] / lean[0]) / 4.0, -0.32286642900409, 5e-3);
  pol_simulation_free(&simulation);
  pol_model_free(&model);
}

/* The equations on lean and steer, the coordinates of the paper: x' of the steer rate by its torque
 * is an entry of the inverse of its mass matrix M = [80.81722, 2.31941332208709; .,
 * 0.29784188199686].
 */
static void matrices_are_those_of_the_paper(void **state)
{
  (void)state;
  static const double M[2][2] = {{80.81722, 2.31941332208709},
                                 {2.31941332208709, 0.29784188199686}};
  static const double K0[2][2] = {{-80.95, -2.59951685249872},
                                  {-2.59951685249872, -0.80329488458618}};
  static const double K2[2][2] = {{0.0, 76.59734589573222}, {0.0, 2.65431523794604}};
  static const double C1[2][2] = {{0.0, 33.86641391492494}, {-0.85035641456978, 1.68540397397560}};
  const double det = M[0][0] * M[1][1] - M[0][1] * M[1][0], g = 9.81, v = 5.0;
  static const char *const coordinates[] = {"frame.rotation.x", "steering.angle"};
  static const char *const inputs[] = {"gust.x", "hands"};
  const pol_linear_options options = {
      .num_coordinates = 2, .coordinates = coordinates, .num_inputs = 2, .inputs = inputs};
  pol_model *model = bicycle_at(v);
  pol_analysis *analysis = analyse_at(model->mechanism, 0.0);
  pol_linear *linear = linearise(analysis, &options);
  assert_int_equal(linear->n, 10);
  assert_int_equal(linear->num_coordinates, 7);
  assert_int_equal(linear->num_velocities, 3);
  assert_string_equal(linear->state_names[0], "frame.rotation.x");
  assert_string_equal(linear->state_names[7], "frame.angular_velocity.x");
  assert_string_equal(linear->state_names[8], "steering.rate");
  assert_string_equal(linear->input_units[1], "N m");
  /* the signs of the paper: z down, steer to the right positive, so that both angles keep theirs
   * about x, and steer changes it about the upward axis */
  const double sign[2] = {1.0, -1.0};
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++) {
      const double inverse[2] = {M[1][1] / det, M[0][0] / det};
      const double other = -M[0][1] / det;
      const double row[2] = {i == 0 ? inverse[0] : other, i == 0 ? other : inverse[1]};
      double stiffness = 0.0, damping = 0.0;
      for (int k = 0; k < 2; k++) {
        stiffness -= row[k] * (g * K0[k][j] + v * v * K2[k][j]);
        damping -= row[k] * v * C1[k][j];
      }
      const double s = sign[i] * sign[j];
      assert_close(linear->A[7 + i + 10 * j], s * stiffness, 1e-9);
      assert_close(linear->A[7 + i + 10 * (7 + j)], s * damping, 1e-9);
      assert_close(linear->B[7 + i + 10 * j], s * row[j], 1e-10);
    }
  pol_linear_free(&linear);
  pol_analysis_free(&analysis);
  pol_model_free(&model);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(eigenvalues_are_those_of_the_paper),
      cmocka_unit_test(weave_and_capsize_speeds_are_those_of_the_paper),
      cmocka_unit_test(runs_follow_the_slowest_mode),
      cmocka_unit_test(matrices_are_those_of_the_paper),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
