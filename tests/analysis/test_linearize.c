/* The linearised equations against differences of the equations of motion, of all kinds of
 * elements; names of states, inputs and outputs. */
#include "analysis/analyse.h"
#include "analysis/analysis.h"
#include "linalg/eigen.h"

/* --- against differences
 * --------------------------------------------------------------------------- */

/* Accelerations and multipliers of the state changed by e times column j of W and V, made
 * consistent again, which changes it by e^2 only. */
static void accelerate(pol_analysis *a, const poli_linear *lin, int j, double e, double *vd,
                       double *lambda)
{
  const pol_dae *dae = a->dae;
  double *q = calloc((size_t)dae->group.nq, sizeof *q), *w = calloc((size_t)lin->nv, sizeof *w);
  double *v = calloc((size_t)lin->nv, sizeof *v);
  for (int i = 0; i < lin->nv; i++) {
    w[i] = e * lin->W[poli_at(i, j, lin->nv)];
    v[i] = a->v[i] + e * lin->V[poli_at(i, j, lin->nv)];
  }
  pol_group_move(&dae->group, a->q, w, q);
  assert_int_equal(pol_assembler_position(a->assembler, a->state.t, q, NULL), POL_OK);
  assert_int_equal(pol_assembler_velocity(a->assembler, a->state.t, q, v, NULL, NULL, NULL),
                   POL_OK);
  memcpy(lambda, a->lambda, (size_t)lin->m * sizeof *lambda);
  assert_int_equal(pol_assembler_acceleration(a->assembler, a->state.t, q, v, vd, lambda, NULL),
                   POL_OK);
  free(q);
  free(w);
  free(v);
}

/* N_v^T dv' = A + N_v^T T V in the lower rows, since v' of the axes of observation is v' - T v. */
static void compare_with_differences(const pol_mechanism *mechanism, double t, int is_static,
                                     const double frame[3], double tolerance)
{
  pol_analysis *a = analyse_at(mechanism, t);
  poli_linear *lin;
  pol_diagnostics d = {.equation = -1};
  if (is_static) balance(a, 1);
  assert_int_equal(poli_linear_create(&lin, a, frame, 0, NULL, &d), POL_OK);
  assert_true(lin->unsteady < 1e-9);
  const size_t nv = (size_t)lin->nv, m = (size_t)lin->m;
  double *vd[4], *lambda[4], *turned = calloc(nv, sizeof *turned), largest = 1.0;
  poli_axes axes = {.T = calloc(nv, sizeof(double)), .G = calloc(nv, sizeof(double))};
  poli_axes_set(&axes, a, frame);
  for (int k = 0; k < 4; k++) {
    vd[k] = calloc(nv, sizeof(double));
    lambda[k] = calloc(m + 1, sizeof(double));
  }
  for (int j = 0; j < lin->nx * lin->nx; j++) largest = fmax(largest, fabs(lin->A[j]));
  double largest_lambda = 1.0;
  for (int j = 0; j < lin->m * lin->nx; j++)
    largest_lambda = fmax(largest_lambda, fabs(lin->lambda[j]));
  for (int j = 0; j < lin->nx; j++) {
    const double e = 1e-3;
    for (int k = 0; k < 4; k++)
      accelerate(a, lin, j, (const double[]){2.0, 1.0, -1.0, -2.0}[k] * e, vd[k], lambda[k]);
    memset(turned, 0, nv * sizeof *turned);
    poli_axes_add(&axes, axes.T, 1.0, lin->V + poli_at(0, j, lin->nv), turned);
    for (int s = 0; s < lin->ns; s++) {
      const double *basis = lin->V + poli_at(0, lin->np + s, lin->nv);
      double measured = 0.0, expected = lin->A[poli_at(lin->np + s, j, lin->nx)];
      for (int i = 0; i < lin->nv; i++) {
        const double f[4] = {vd[0][i], vd[1][i], vd[2][i], vd[3][i]};
        measured += basis[i] * difference(f, e);
        expected += basis[i] * turned[i];
      }
      assert_close(measured, expected, tolerance * largest);
    }
    for (int i = 0; i < lin->m; i++) {
      const double f[4] = {lambda[0][i], lambda[1][i], lambda[2][i], lambda[3][i]};
      assert_close(difference(f, e), lin->lambda[poli_at(i, j, lin->m)],
                   10.0 * tolerance * largest_lambda);
    }
  }
  for (int k = 0; k < 4; k++) {
    free(vd[k]);
    free(lambda[k]);
  }
  free(turned);
  free(axes.T);
  free(axes.G);
  poli_linear_free(&lin);
  pol_analysis_free(&a);
}

static void matrices_are_derivatives_of_the_equations(void **state)
{
  (void)state;
  static const struct {
    const char *file;
    double t;
    int is_static;
  } models[] = {{"examples/double_pendulum.json", 0.0, 1}, {"examples/suspension.json", 0.0, 1},
                {"examples/squeezer.json", 0.0, 1},        {"examples/lag_actuator.json", 0.0, 1},
                {"examples/pid_pendulum.json", 5.0, 1},    {"examples/governor.json", 0.0, 1},
                {"examples/chain_stop.json", 0.0, 1},      {"meijaard-2007/bicycle.json", 0.0, 0}};
  for (size_t k = 0; k < sizeof models / sizeof models[0]; k++) {
    char path[400];
    snprintf(path, sizeof path, MODELS "%s", models[k].file);
    print_message("%s\n", models[k].file);
    pol_model *model = read_model(path);
    compare_with_differences(model->mechanism, models[k].t, models[k].is_static,
                             (const double[]){0.0, 0.0, 0.0}, 1e-7);
    pol_model_free(&model);
  }
}

/* A body on a spherical joint that moves around a cone: (I - J) w^2 cos a = m g h for the moments
 * of inertia I about its pivot and J about its axis. */
static void steady_rotation_is_exact_in_its_own_axes(void **state)
{
  (void)state;
  const double angle = 0.7, h = 0.4, m = 1.5, pivot = 0.03 + m * h * h,
               w = sqrt(m * 9.81 * h / ((pivot - 0.01) * cos(angle)));
  for (int order = 0; order < 2; order++) {
    char text[1500];
    snprintf(text, sizeof text,
             "{\"gravity\": [0, 0, -9.81], \"bodies\": [{\"name\": \"top\", \"mass\": %.17g, "
             "\"inertia\": [0.03, 0.03, 0.01], \"position\": [%.17g, 0, %.17g], \"rotation\": "
             "{\"axis\": [0, 1, 0], \"angle\": %.17g}, \"velocity\": [0, %.17g, 0], "
             "\"angular_velocity\": [%.17g, 0, %.17g]}],"
             "\"joints\": [{\"name\": \"tip\", \"type\": \"spherical\", \"bodies\": %s, "
             "\"point\": [0, 0, 0]}], \"simulation\": {\"step\": 0.001, \"end\": 1}}",
             m, h * sin(angle), -h * cos(angle), -angle, w * h * sin(angle), w * sin(angle),
             w * cos(angle), order ? "[\"top\", \"ground\"]" : "[\"ground\", \"top\"]");
    pol_model *model = read_model_text(text);
    compare_with_differences(model->mechanism, 0.0, 0, (const double[]){0.0, 0.0, w}, 1e-8);
    pol_model_free(&model);
  }
}

/* --- inputs and outputs
 * ------------------------------------------------------------------------------ */

/* A cart of mass m with an inverted pendulum of mass n, length l to its point mass. */
static const char cart_pole[] =
    "{\"gravity\": [0, 0, -10], \"bodies\": ["
    "{\"name\": \"cart\", \"mass\": 2, \"inertia\": [1, 1, 1]},"
    "{\"name\": \"pole\", \"mass\": 0.5, \"inertia\": [1e-9, 1e-9, 1e-9], \"position\": [0, 0, "
    "0.8]}],"
    "\"joints\": [{\"name\": \"rail\", \"type\": \"prismatic\", \"bodies\": [\"ground\", "
    "\"cart\"], "
    "\"point\": [0, 0, 0], \"axis\": [1, 0, 0]},"
    "{\"name\": \"pin\", \"type\": \"revolute\", \"bodies\": [\"cart\", \"pole\"], \"point\": [0, "
    "0, "
    "0], \"axis\": [0, 1, 0]}],"
    "\"states\": [{\"name\": \"lag\", \"initial\": 0, \"rate\": \"-3*lag + 2*pin.angle\", "
    "\"unit\": \"V\"}],"
    "\"variables\": [{\"name\": \"twice\", \"expression\": \"2*rail.speed + sin(pin.angle) + "
    "lag\"}],"
    "%s"
    "\"forces\": [{\"name\": \"push\", \"type\": \"force\", \"body\": \"cart\", \"force\": [0, 0, "
    "0]},"
    "{\"name\": \"motor\", \"type\": \"joint-spring\", \"joint\": \"pin\", \"coordinate\": "
    "\"rotation\", \"stiffness\": 0, \"actuator\": 0}],"
    "\"simulation\": {\"step\": 0.001, \"end\": 1}}";

static pol_model *read_cart(const char *more)
{
  char text[2500];
  snprintf(text, sizeof text, cart_pole, more);
  return read_model_text(text);
}

static void cart_and_pole_have_the_textbook_matrices(void **state)
{
  (void)state;
  static const char *const inputs[] = {"push.x", "motor"};
  static const char *const outputs[] = {"pole.position.x", "twice",    "lag",
                                        "rail.force.x",    "pin.rate", "rail.force.z"};
  const pol_linear_options options = {
      .num_inputs = 2, .inputs = inputs, .num_outputs = 6, .outputs = outputs};
  pol_model *model = read_cart("");
  pol_analysis *analysis = analyse_at(model->mechanism, 0.0);
  pol_linear *l = linearise(analysis, &options);
  assert_int_equal(l->n, 5);
  static const char *const names[] = {"rail.displacement", "pin.angle", "rail.speed", "pin.rate",
                                      "lag"};
  static const char *const units[] = {"m", "rad", "m/s", "rad/s", "V"};
  for (int i = 0; i < 5; i++) {
    assert_string_equal(l->state_names[i], names[i]);
    assert_string_equal(l->state_units[i], units[i]);
  }
  assert_string_equal(l->input_units[0], "N");
  assert_string_equal(l->input_units[1], "N m");
  /* (m + n) x'' + n l a'' = u,  x'' + l a'' = g a + T/(n l), the angle from z to x */
  const double m = 2.0, n = 0.5, length = 0.8, g = 10.0;
  const double A[5][5] = {{0, 0, 1, 0, 0},
                          {0, 0, 0, 1, 0},
                          {0, -n * g / m, 0, 0, 0},
                          {0, (m + n) * g / (m * length), 0, 0, 0},
                          {0, 2, 0, 0, -3}};
  const double B[5][2] = {{0, 0},
                          {0, 0},
                          {1 / m, -1 / (m * length)},
                          {-1 / (m * length), (m + n) / (m * n * length * length)},
                          {0, 0}};
  const double C[6][5] = {{1, length, 0, 0, 0}, {0, 1, 2, 0, 1}, {0, 0, 0, 0, 1},
                          {0, 0, 0, 0, 0},      {0, 0, 0, 1, 0}, {0, 0, 0, 0, 0}};
  for (int i = 0; i < 5; i++)
    for (int j = 0; j < 5; j++) assert_close(l->A[i + 5 * j], A[i][j], 1e-7);
  for (int i = 0; i < 5; i++)
    for (int j = 0; j < 2; j++) assert_close(l->B[i + 5 * j], B[i][j], 1e-7);
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 5; j++) assert_close(l->C[i + 6 * j], C[i][j], 1e-12);
  for (int i = 0; i < 12; i++) assert_close(l->D[i], 0.0, 1e-9);
  pol_linear_free(&l);

  /* other coordinates */
  static const char *const coordinates[] = {"pole.position.x"};
  const pol_linear_options other = {.num_coordinates = 1, .coordinates = coordinates};
  l = linearise(analysis, &other);
  assert_string_equal(l->state_names[0], "pole.position.x");
  assert_string_equal(l->state_names[1], "rail.displacement");
  assert_string_equal(l->state_names[2], "pole.velocity.x");
  /* x_pole'' = g (x_pole - x)/l */
  assert_close(l->A[2 + 5 * 0], g / length, 1e-7);
  assert_close(l->A[2 + 5 * 1], -g / length, 1e-7);
  pol_linear_free(&l);
  pol_analysis_free(&analysis);
  pol_model_free(&model);
}

/* A drive as input: the acceleration of the cart is u, its coordinate a double integrator; the
 * reaction of the drive is an output with a part of the input. */
static void drives_are_inputs(void **state)
{
  (void)state;
  static const char *const inputs[] = {"shake"}, *const outputs[] = {"shake.force"};
  const pol_linear_options options = {
      .num_inputs = 1, .inputs = inputs, .num_outputs = 1, .outputs = outputs};
  pol_model *model = read_cart(
      "\"drives\": [{\"name\": \"shake\", \"joint\": \"rail\", \"coordinate\": \"translation\", "
      "\"function\": {\"type\": \"constant\", \"value\": 0}}],");
  pol_analysis *analysis = analyse_at(model->mechanism, 0.0);
  pol_linear *l = linearise(analysis, NULL);
  assert_int_equal(l->n, 3); /* the drive holds the cart */
  pol_linear_free(&l);
  l = linearise(analysis, &options);
  assert_int_equal(l->n, 5);
  assert_string_equal(l->input_units[0], "m/s^2");
  assert_close(l->A[3 + 5 * 1], 10.0 / 0.8, 1e-7);
  assert_close(l->A[2 + 5 * 1], 0.0, 1e-12);
  assert_close(l->B[2], 1.0, 1e-12);
  assert_close(l->B[3], -1.0 / 0.8, 1e-7);
  /* f = m u + n (u + l a'') with a'' of above */
  assert_close(l->C[1], 0.5 * 10.0, 1e-6);
  assert_close(l->D[0], 2.0, 1e-7);
  pol_linear_free(&l);
  pol_analysis_free(&analysis);
  pol_model_free(&model);
}

static void wrong_names_are_all_refused(void **state)
{
  (void)state;
  static const char *const coordinates[] = {"pin.angel", "rail.displacement", "cart.position.x"};
  static const char *const inputs[] = {"push.w", "motr"};
  static const char *const outputs[] = {"pole.positon.x", "t"};
  const pol_linear_options options = {.num_coordinates = 3,
                                      .coordinates = coordinates,
                                      .num_inputs = 2,
                                      .inputs = inputs,
                                      .num_outputs = 2,
                                      .outputs = outputs};
  pol_model *model = read_cart("");
  pol_analysis *analysis = analyse_at(model->mechanism, 0.0);
  pol_linear *l;
  pol_errors errors = {0, NULL};
  pol_diagnostics d;
  assert_int_equal(pol_linear_create(&l, analysis, &options, &errors, &d), POL_BAD_ARGUMENT);
  assert_null(l);
  assert_int_equal(errors.count, 6);
  static const char *const paths[] = {"inputs[0]",      "inputs[1]",  "coordinates[0]",
                                      "coordinates[2]", "outputs[0]", "outputs[1]"};
  static const char *const near[] = {"push.x", "motor", "pin.angle", "", "pole.position.x", ""};
  for (int i = 0; i < 6; i++) {
    assert_string_equal(errors.items[i].path, paths[i]);
    if (near[i][0]) assert_string_equal(errors.items[i].suggestion, near[i]);
  }
  assert_non_null(strstr(errors.items[3].rule, "independently"));
  pol_errors_clear(&errors);
  pol_analysis_free(&analysis);
  pol_model_free(&model);
}

/* Another state of the same mechanism; and values that cannot be. */
static void states_can_be_set(void **state)
{
  (void)state;
  pol_model *model = read_model(MODELS "examples/pendulum.json");
  pol_analysis *analysis = analyse_at(model->mechanism, 0.0);
  const pol_body_state before = body_at(analysis, 0);
  pol_body_state hanging = before;
  /* hanging down: rotated by a quarter turn about y, with a velocity that the joint corrects */
  const double half = sqrt(0.5);
  memcpy(hanging.quaternion, (double[]){half, 0.0, half, 0.0}, sizeof hanging.quaternion);
  memcpy(hanging.position, (double[]){0.0, 0.0, -0.5}, sizeof hanging.position);
  memcpy(hanging.angular_velocity, (double[]){0.0, 2.0, 0.0}, sizeof hanging.angular_velocity);
  pol_diagnostics d;
  assert_int_equal(pol_analysis_set_bodies(analysis, 3.0, &hanging, NULL, &d), POL_OK);
  assert_close(pol_analysis_state(analysis)->t, 3.0, 0.0);
  assert_close(body_at(analysis, 0).position[2], -0.5, 1e-12);
  const pol_body_state now = body_at(analysis, 0);
  assert_close(now.velocity[0], -0.5 * now.angular_velocity[1], 1e-12);
  assert_true(now.angular_velocity[1] > 0.1);
  memset(hanging.angular_velocity, 0, sizeof hanging.angular_velocity);
  assert_int_equal(pol_analysis_set_bodies(analysis, 3.0, &hanging, NULL, &d), POL_OK);
  pol_modes *modes = find_modes(analysis, NULL);
  assert_close(pol_modes_get(modes, 0)->im, sqrt(1.5 * 9.81), 1e-9);
  pol_modes_free(&modes);
  pol_analysis_free(&analysis);
  assert_int_equal(pol_analysis_create(&analysis, NULL, 0.0, &d), POL_BAD_ARGUMENT);
  assert_null(analysis);
  pol_model_free(&model);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(matrices_are_derivatives_of_the_equations),
      cmocka_unit_test(steady_rotation_is_exact_in_its_own_axes),
      cmocka_unit_test(cart_and_pole_have_the_textbook_matrices),
      cmocka_unit_test(drives_are_inputs),
      cmocka_unit_test(wrong_names_are_all_refused),
      cmocka_unit_test(states_can_be_set),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
