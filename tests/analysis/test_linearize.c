/* The linearised equations against differences of the equations of motion, of all kinds of
 * elements; names of states, inputs and outputs. */
#include "analysis/analyse.h"
#include "analysis/analysis.h"
#include "linalg/eigen.h"

/* --- against differences
 * --------------------------------------------------------------------------- */

static const double ground[3] = {0.0, 0.0, 0.0}; /* axes that do not rotate */

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

/* dv' = V A + V' + T V, since v' of the axes of observation is v' - T v, and V changes along the
 * motion if it is not steady.  Frees the analysis. */
static void compare_with_differences(pol_analysis *a, int is_steady, const double frame[3],
                                     double tolerance)
{
  poli_linear *lin;
  pol_diagnostics d = {.equation = -1};
  assert_int_equal(poli_linear_create(&lin, a, frame, 0, NULL, &d), POL_OK);
  assert_int_equal(lin->unsteady < 1e-9, is_steady);
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
    for (int i = 0; i < lin->nv; i++) {
      const double f[4] = {vd[0][i], vd[1][i], vd[2][i], vd[3][i]};
      double expected = turned[i] + lin->Vd[poli_at(i, j, lin->nv)];
      for (int k = 0; k < lin->nx; k++)
        expected += lin->V[poli_at(i, k, lin->nv)] * lin->A[poli_at(k, j, lin->nx)];
      assert_close(difference(f, e), expected, tolerance * largest);
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
    pol_analysis *analysis = analyse_at(model->mechanism, models[k].t);
    if (models[k].is_static) balance(analysis, 1);
    compare_with_differences(analysis, 1, ground, 1e-7);
    pol_model_free(&model);
  }
}

/* An analysis in the midst of a run, after a number of steps. */
static pol_analysis *analyse_after(const pol_model *model, int steps)
{
  pol_simulation *simulation = start(model);
  pol_analysis *analysis = analyse_at(model->mechanism, 0.0);
  const pol_formulation *f = pol_simulation_formulation(simulation);
  pol_body_state bodies[20];
  pol_diagnostics d;
  for (int k = 0; k < steps; k++) take_step(simulation);
  const pol_state *now = pol_simulation_state(simulation);
  const int num_states = pol_mechanism_num_states(model->mechanism);
  for (int k = 0; k < pol_mechanism_num_bodies(model->mechanism); k++)
    pol_formulation_body_state(f, now->q, now->v, k, &bodies[k]);
  const double *states = now->v + pol_formulation_dae(f)->group.nv - num_states;
  if (pol_analysis_set_bodies(analysis, now->t, bodies, states, &d) != POL_OK)
    fail_msg("%s: %s", d.where, d.message);
  pol_simulation_free(&simulation);
  return analysis;
}

/* In the axes of the ground, and in some others. */
static void motions_that_are_not_steady_change_the_constraints(void **state)
{
  (void)state;
  static const char *const files[] = {
      "examples/pendulum.json",  "examples/double_pendulum.json", "examples/governor.json",
      "examples/squeezer.json",  "examples/planetary_gear.json",  "examples/lag_actuator.json",
      "examples/gyroscope.json", "meijaard-2007/bicycle.json"};
  /* the bicycle gets a kick, and rolls on with changes of its lean and steer */
  static const char *const kick[] = {"bodies[1].angular_velocity=[2, 0, 0]"};
  static const int steps[] = {1, 60};
  for (size_t k = 0; k < sizeof files / sizeof files[0]; k++)
    for (int i = 0; i < 2; i++) {
      char path[400];
      snprintf(path, sizeof path, MODELS "%s", files[k]);
      print_message("%s, %d steps\n", files[k], steps[i]);
      pol_model *model = read_model_with(path, strstr(path, "bicycle") != NULL, kick);
      compare_with_differences(analyse_after(model, steps[i]), 0, ground, 1e-7);
      compare_with_differences(analyse_after(model, steps[i]), 0, (const double[]){0.3, 1.0, -2.0},
                               1e-7);
      pol_model_free(&model);
    }
}

/* J a'' = m g r sin a has no rate in it. */
static void pendulum_has_the_same_matrix_at_any_rate(void **state)
{
  (void)state;
  static const double rates[] = {0.0, 1.0, 5.0, 50.0};
  for (int k = 0; k < 8; k++) {
    const double angle = k < 4 ? 0.0 : 0.8, m = 2.0, r = 0.7, J = 0.3 + m * r * r;
    char text[800];
    snprintf(text, sizeof text,
             "{\"gravity\": [0, 0, -9.81], \"bodies\": [{\"name\": \"b\", \"mass\": %.17g, "
             "\"angular_velocity\": [0, %.17g, 0], \"inertia\": [0.1, 0.3, 0.2], "
             "\"position\": [%.17g, 0, %.17g]}], \"joints\": [{\"name\": \"h\", \"type\": "
             "\"revolute\", \"bodies\": [\"ground\", \"b\"], \"point\": [0, 0, 0], \"axis\": "
             "[0, 1, 0]}], \"simulation\": {\"step\": 0.001, \"end\": 1}}",
             m, rates[k % 4], r * sin(angle), r * cos(angle));
    pol_model *model = read_model_text(text);
    pol_analysis *analysis = analyse_at(model->mechanism, 0.0);
    pol_linear *l = linearise(analysis, NULL);
    const double square = m * 9.81 * r * cos(angle) / J;
    const double A[4] = {0.0, square, 1.0, 0.0};
    assert_int_equal(l->n, 2);
    assert_near(l->A, A, 4, 1e-9);
    pol_modes *modes = find_modes(analysis, NULL);
    assert_int_equal(pol_modes_count(modes), 2);
    for (int i = 0; i < 2; i++) assert_close(fabs(pol_modes_get(modes, i)->re), sqrt(square), 1e-9);
    pol_modes_free(&modes);
    pol_linear_free(&l);
    if (k < 4) { /* x = r sin a: x'' = r cos a a'' - x (a')^2 */
      static const char *const coordinates[] = {"b.position.x"};
      const pol_linear_options options = {.num_coordinates = 1, .coordinates = coordinates};
      l = linearise(analysis, &options);
      assert_close(l->A[0], 0.0, 1e-9);
      assert_close(l->A[1], square - rates[k] * rates[k], 1e-8);
      pol_linear_free(&l);
    }
    pol_analysis_free(&analysis);
    pol_model_free(&model);
  }
}

/* The second derivatives of the angles a and c of two equal rods, mass m and length l: a from the
 * vertical up towards x, c of the second rod from the first:
 *
 *     m l^2 [ 4/3       cos(c)/2 ] [ a'' ]   [ m g l 3/2 sin a + m l^2/2 (d')^2 sin c ]
 *           [ cos(c)/2  1/3      ] [ d'' ] = [ m g l/2 sin d - m l^2/2 (a')^2 sin c   ]
 *
 * with d = a + c. */
static void accelerate_rods(double l, const double x[4], double y[2])
{
  const double g = 9.81 / l, a = x[0], c = x[1], da = x[2], dd = x[2] + x[3], e = 0.5 * cos(c);
  const double f = 1.5 * g * sin(a) + 0.5 * dd * dd * sin(c);
  const double h = 0.5 * g * sin(a + c) - 0.5 * da * da * sin(c);
  const double determinant = 4.0 / 9.0 - e * e;
  y[0] = (f / 3.0 - e * h) / determinant;
  y[1] = (4.0 / 3.0 * h - e * f) / determinant - y[0];
}

static void double_pendulum_in_motion_has_its_own_matrix(void **state)
{
  (void)state;
  const double l = 0.8, a = 0.6, c = -1.1, rates[2] = {1.7, -3.2}; /* of j0 and j1, about y */
  pol_mechanism *mechanism = start_mechanism();
  double at[3] = {0.0, 0.0, 0.0};
  const double up = 2.0 * atan(1.0);
  add_rod(mechanism, POL_GROUND, 1.3, l, up - a, at);
  add_rod(mechanism, 0, 1.3, l, up - a - c, at);
  pol_analysis *analysis = analyse_at(mechanism, 0.0);
  pol_body_state bodies[2] = {body_at(analysis, 0), body_at(analysis, 1)};
  const double da = rates[0], dd = rates[0] + rates[1], d = a + c;
  const double v[2][2] = {
      {0.5 * l * da * cos(a), -0.5 * l * da * sin(a)},
      {l * da * cos(a) + 0.5 * l * dd * cos(d), -l * da * sin(a) - 0.5 * l * dd * sin(d)}};
  for (int k = 0; k < 2; k++) {
    bodies[k].angular_velocity[1] = k ? dd : da;
    bodies[k].velocity[0] = v[k][0];
    bodies[k].velocity[2] = v[k][1];
  }
  pol_diagnostics failure;
  assert_int_equal(pol_analysis_set_bodies(analysis, 0.0, bodies, NULL, &failure), POL_OK);
  for (int turns = 0; turns < 2; turns++) { /* angles are the same in any axes of observation */
    const pol_linear_options options = {.frame = {0.3 * turns, 1.0 * turns, -2.0 * turns}};
    pol_linear *linear = linearise(analysis, &options);
    assert_int_equal(linear->n, 4);
    for (int j = 0; j < 4; j++) {
      const double e = 1e-3;
      double f[4][2];
      for (int k = 0; k < 4; k++) {
        double x[4] = {a, c, rates[0], rates[1]};
        x[j] += (const double[]){2.0, 1.0, -1.0, -2.0}[k] * e;
        accelerate_rods(l, x, f[k]);
      }
      for (int i = 0; i < 2; i++) {
        assert_close(linear->A[i + 4 * j], j == i + 2 ? 1.0 : 0.0, 1e-9);
        assert_close(linear->A[2 + i + 4 * j],
                     difference((const double[]){f[0][i], f[1][i], f[2][i], f[3][i]}, e), 1e-8);
      }
    }
    pol_linear_free(&linear);
  }
  pol_analysis_free(&analysis);
  pol_mechanism_free(&mechanism);
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
    compare_with_differences(analyse_at(model->mechanism, 0.0), 1, (const double[]){0.0, 0.0, w},
                             1e-8);
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
      cmocka_unit_test(motions_that_are_not_steady_change_the_constraints),
      cmocka_unit_test(pendulum_has_the_same_matrix_at_any_rate),
      cmocka_unit_test(double_pendulum_in_motion_has_its_own_matrix),
      cmocka_unit_test(steady_rotation_is_exact_in_its_own_axes),
      cmocka_unit_test(cart_and_pole_have_the_textbook_matrices),
      cmocka_unit_test(drives_are_inputs),
      cmocka_unit_test(wrong_names_are_all_refused),
      cmocka_unit_test(states_can_be_set),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
