/* Flexible bodies in motion: against the point masses and springs that they consist of, against a
 * rigid body, against a beam; conserved quantities, orders, all index forms. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "point_masses.h"
#include "simulation/simulate.h"

static const double down[3] = {0.0, 0.0, -9.81};

static pol_mechanism *create_mechanism(const double gravity[3])
{
  pol_mechanism *mechanism;
  assert_int_equal(pol_mechanism_create(&mechanism), POL_OK);
  if (gravity) pol_mechanism_set_gravity(mechanism, gravity);
  return mechanism;
}

static int add_flexible(pol_mechanism *mechanism, const pol_flexible_body *body)
{
  int index;
  if (pol_mechanism_add_flexible_body(mechanism, body, &index) != POL_OK) {
    const pol_errors *errors = pol_mechanism_errors(mechanism);
    fail_msg("%s: %s", errors->items[0].path, errors->items[0].rule);
  }
  return index;
}

static pol_settings settings_of(const char *method, double rho_inf, double step, double end)
{
  pol_settings settings = pol_settings_default();
  pol_options_set_method(&settings.options, method);
  pol_options_set_rho_inf(&settings.options, rho_inf);
  settings.options.newton.tolerance = 1e-10;
  settings.step = step;
  settings.end = end;
  return settings;
}

/* --- a triangle of masses and springs --------------------------------------------------------- */

/* Three masses at the corners of a triangle with springs between them.  Its three shapes, a growth
 * and two shears, and the six motions of a rigid body are all motions that the masses have. */
enum { CORNERS = 3 };
static const double corner_mass[CORNERS] = {1.0, 1.5, 2.0};

static void corner(int i, double x[3])
{
  static const double angle[CORNERS] = {0.3, 2.2, 4.5};
  x[0] = cos(angle[i]);
  x[1] = sin(angle[i]);
  x[2] = 0.0;
}

static void corners_from_centre(double x[CORNERS][3])
{
  double centre[3] = {0.0}, mass = 0.0;
  for (int i = 0; i < CORNERS; i++) {
    corner(i, x[i]);
    mass += corner_mass[i];
    for (int k = 0; k < 3; k++) centre[k] += corner_mass[i] * x[i][k];
  }
  for (int i = 0; i < CORNERS; i++)
    for (int k = 0; k < 3; k++) x[i][k] -= centre[k] / mass;
}

static pol_flexible_body triangle(point_masses *p, double k)
{
  static const char *const names[CORNERS] = {"one", "two", "three"};
  pol_flexible_body body = pol_flexible_body_default();
  double x[CORNERS][3];
  memset(p, 0, sizeof *p);
  corners_from_centre(x);
  p->count = p->num_modes = CORNERS;
  for (int i = 0; i < CORNERS; i++) {
    const double shapes[4][3] = {{x[i][0], x[i][1], 0.0},
                                 {x[i][0], x[i][1], 0.0},
                                 {x[i][0], -x[i][1], 0.0},
                                 {x[i][1], x[i][0], 0.0}};
    p->mass[i] = corner_mass[i];
    for (int a = 0; a < 4; a++) memcpy(p->shape[i][a], shapes[a], sizeof shapes[a]);
    p->interfaces[i] = (pol_interface){
        .name = names[i], .translation = p->translation[i], .rotation = p->rotation[i]};
    memcpy(p->interfaces[i].position, x[i], sizeof x[i]);
    for (int a = 0; a < 3; a++) memcpy(p->translation[i] + 3 * a, shapes[a + 1], sizeof shapes[a]);
  }
  for (int s = 0; s < CORNERS; s++) {
    const int i = s, j = (s + 1) % CORNERS;
    double n[3], length = 0.0, stretch[3] = {0.0};
    for (int c = 0; c < 3; c++) n[c] = x[j][c] - x[i][c];
    for (int c = 0; c < 3; c++) length = hypot(length, n[c]);
    for (int a = 0; a < 3; a++)
      for (int c = 0; c < 3; c++)
        stretch[a] += n[c] / length * (p->shape[j][a + 1][c] - p->shape[i][a + 1][c]);
    for (int a = 0; a < 9; a++) p->stiffness[a] += k * stretch[a / 3] * stretch[a % 3];
  }
  body.name = "plate";
  body.num_interfaces = CORNERS;
  integrate(p, &body);
  return body;
}

/* The same as point masses, at the places and with the velocities of the interfaces. */
static pol_mechanism *point_triangle(const pol_mechanism *flexible, double k)
{
  pol_mechanism *mechanism = create_mechanism(down);
  double x[CORNERS][3];
  int marker[CORNERS];
  corners_from_centre(x);
  for (int i = 0; i < CORNERS; i++) {
    static const char *const names[CORNERS] = {"one", "two", "three"};
    const pol_body *at = pol_mechanism_body(flexible, i + 1);
    pol_body body = pol_body_default();
    pol_marker own = pol_marker_default();
    body.name = names[i];
    body.point = 1;
    body.mass = corner_mass[i];
    memcpy(body.position, at->position, sizeof body.position);
    memcpy(body.velocity, at->velocity, sizeof body.velocity);
    body.given = POL_GIVEN_VELOCITY;
    assert_int_equal(pol_mechanism_add_body(mechanism, &body, &own.body), POL_OK);
    assert_int_equal(pol_mechanism_add_marker(mechanism, &own, &marker[i]), POL_OK);
  }
  for (int i = 0; i < CORNERS; i++) {
    static const char *const names[CORNERS] = {"a", "b", "c"};
    pol_force spring = pol_force_default();
    const int j = (i + 1) % CORNERS;
    spring.name = names[i];
    spring.type = POL_SPRING_DAMPER;
    spring.stiffness[0] = k;
    for (int c = 0; c < 3; c++) spring.length = hypot(spring.length, x[j][c] - x[i][c]);
    spring.marker[0] = marker[i];
    spring.marker[1] = marker[j];
    assert_int_equal(pol_mechanism_add_force(mechanism, &spring, NULL), POL_OK);
  }
  return mechanism;
}

/* Flies and spins with a vibration; the largest distance of a corner from its point mass. */
static double compare_triangles(double size, const char *method, pol_formulation_kind kind)
{
  const double k = 400.0;
  point_masses p;
  pol_flexible_body body = triangle(&p, k);
  pol_mechanism *flexible = create_mechanism(down);
  const double rates[3] = {0.5 * size, -size, 0.7 * size}, spin[3] = {0.2, -0.3, 0.25};
  p.amplitudes[0] = 0.03 * size;
  p.amplitudes[2] = -0.05 * size;
  memcpy(p.rates, rates, sizeof rates);
  memcpy(body.angular_velocity, spin, sizeof spin);
  for (int i = 0; i < 3; i++) body.angular_velocity[i] *= 4.0 * sqrt(size);
  body.velocity[0] = 1.0;
  add_flexible(flexible, &body);
  pol_mechanism *points = point_triangle(flexible, k);
  pol_settings settings = settings_of(method, 1.0, 5e-4, 1.0);
  settings.formulation = kind;
  pol_simulation *a = start_with(flexible, &settings);
  settings.formulation = POL_SO3XR3;
  pol_options_set_method(&settings.options, "geom1");
  pol_simulation *b = start_with(points, &settings);
  double largest = 0.0;
  while (!pol_simulation_finished(a)) {
    take_step(a);
    take_step(b);
    for (int i = 0; i < CORNERS; i++) {
      pol_body_state one, other;
      pol_simulation_body(a, i + 1, &one);
      pol_simulation_body(b, i, &other);
      for (int c = 0; c < 3; c++)
        largest = fmax(largest, fabs(one.position[c] - other.position[c]));
    }
  }
  pol_simulation_free(&a);
  pol_simulation_free(&b);
  pol_mechanism_free(&flexible);
  pol_mechanism_free(&points);
  return largest;
}

/* The shapes are linear, the springs are not: the difference is of second order in the size of the
 * deflections. */
static void triangle_moves_as_its_masses(void **state)
{
  (void)state;
  const double large = compare_triangles(1.0, "geom1", POL_SO3XR3),
               small = compare_triangles(0.1, "geom1", POL_SO3XR3);
  assert_true(large < 0.02);
  assert_true(small < large / 60.0 && small > 1e-6);
}

/* --- a rigid limit ---------------------------------------------------------------------------- */

/* The rigid body with the mass and the inertia of an undeformed flexible one. */
static pol_body rigid_of(const pol_flexible_body *flexible)
{
  pol_body body = pol_body_default();
  const double *S = flexible->second, m = flexible->mass;
  double R[9], centre[3];
  body.name = "rigid";
  body.mass = m;
  for (int i = 0; i < 3; i++) centre[i] = flexible->first[i] / m;
  const double square = centre[0] * centre[0] + centre[1] * centre[1] + centre[2] * centre[2];
  for (int i = 0; i < 9; i++)
    body.inertia[i] =
        (i % 4 ? 0.0 : S[0] + S[4] + S[8] - m * square) - S[i] + m * centre[i / 3] * centre[i % 3];
  memcpy(body.rotation, flexible->rotation, sizeof body.rotation);
  pol_quat_to_matrix(body.rotation, R);
  for (int i = 0; i < 3; i++) {
    body.position[i] = flexible->position[i];
    for (int j = 0; j < 3; j++) body.position[i] += R[3 * i + j] * centre[j];
  }
  return body;
}

static void add_joint_at(pol_mechanism *mechanism, pol_joint_type type, const char *name, int a,
                         int b, const double point[3], const double *axis)
{
  pol_joint joint = pol_joint_default();
  joint.name = name;
  joint.type = type;
  assert_int_equal(pol_mechanism_add_joint_at(mechanism, &joint, a, b, point, axis, NULL), POL_OK);
}

/* A top on a spherical joint at an interface; a hundred times stiffer, a hundred times nearer to
 * the rigid one. */
static void stiff_body_is_rigid(void **state)
{
  (void)state;
  double apart[2] = {0.0, 0.0};
  for (int k = 0; k < 2; k++) {
    uint64_t seed = 5;
    point_masses p;
    pol_flexible_body body = random_flexible(&p, "top", 3, 2, &seed);
    pol_mechanism *one = create_mechanism(down), *other = create_mechanism(down);
    for (int i = 0; i < 9; i++) p.stiffness[i] *= k == 0 ? 1e5 : 1e7;
    memset(p.damping, 0, sizeof p.damping);
    memset(p.amplitudes, 0, sizeof p.amplitudes);
    memset(p.rates, 0, sizeof p.rates);
    memset(body.velocity, 0, sizeof body.velocity);
    memset(body.angular_velocity, 0, sizeof body.angular_velocity);
    add_flexible(one, &body);
    const double *pivot = pol_mechanism_body(one, 1)->position;
    add_joint_at(one, POL_SPHERICAL, "pivot", POL_GROUND, 1, pivot, NULL);
    pol_body rigid = rigid_of(&body);
    assert_int_equal(pol_mechanism_add_body(other, &rigid, NULL), POL_OK);
    add_joint_at(other, POL_SPHERICAL, "pivot", POL_GROUND, 0, pivot, NULL);
    pol_settings settings = settings_of("geom1", 0.6, 1e-3, 0.5);
    pol_simulation *a = start_with(one, &settings), *b = start_with(other, &settings);
    while (!pol_simulation_finished(a)) {
      pol_body_state first, second;
      take_step(a);
      take_step(b);
      pol_simulation_body(a, 0, &first);
      pol_simulation_body(b, 0, &second);
      for (int i = 0; i < 9; i++)
        apart[k] = fmax(apart[k], fabs(first.rotation[i] - second.rotation[i]));
    }
    pol_simulation_free(&a);
    pol_simulation_free(&b);
    pol_mechanism_free(&one);
    pol_mechanism_free(&other);
  }
  assert_true(apart[0] < 1e-2 && apart[1] < apart[0] / 50.0);
}

/* --- conservation, orders, index forms -------------------------------------------------------- */

/* A free body; the largest drift of energy and angular momentum, relative to their size. */
static void drift_of(const char *method, int kind, double h, double drift[3])
{
  uint64_t seed = 21;
  point_masses p;
  pol_flexible_body body = random_flexible(&p, "body", 3, 0, &seed);
  pol_mechanism *mechanism = create_mechanism(NULL);
  pol_momentum start_momentum, momentum;
  pol_energy start_energy, energy;
  for (int i = 0; i < 9; i++) p.stiffness[i] *= 20.0;
  memset(p.damping, 0, sizeof p.damping);
  add_flexible(mechanism, &body);
  pol_settings settings = settings_of(method, 1.0, h, 2.0);
  settings.formulation = (pol_formulation_kind)kind;
  pol_simulation *simulation = start_with(mechanism, &settings);
  const pol_formulation *f = pol_simulation_formulation(simulation);
  memset(drift, 0, 3 * sizeof *drift);
  for (int k = 0;; k++) {
    const pol_state *at = pol_simulation_state(simulation);
    const pol_point point = pol_state_point(at);
    pol_formulation_momentum(f, at->q, at->v, &momentum);
    pol_formulation_energy(f, &point, &energy);
    if (k == 0) start_momentum = momentum;
    if (k == 0) start_energy = energy;
    const double total = start_energy.kinetic + start_energy.potential;
    drift[0] = fmax(drift[0], fabs(energy.kinetic + energy.potential - total) / total);
    for (int i = 0; i < 3; i++) {
      drift[1] = fmax(drift[1], fabs(momentum.linear[i] - start_momentum.linear[i]));
      drift[2] = fmax(drift[2], fabs(momentum.angular[i] - start_momentum.angular[i]));
    }
    if (pol_simulation_finished(simulation)) break;
    take_step(simulation);
  }
  pol_simulation_free(&simulation);
  pol_mechanism_free(&mechanism);
}

/* Without damping the drift is that of the method, of second order. */
static void free_body_conserves(void **state)
{
  (void)state;
  static const int kinds[] = {POL_SO3XR3, POL_SO3XR3_SPATIAL, POL_SO3XR3_CAYLEY, POL_SE3_BODY};
  for (int k = 0; k < 4; k++) {
    double coarse[3], fine[3];
    drift_of("geom1", kinds[k], 2e-3, coarse);
    drift_of("geom1", kinds[k], 1e-3, fine);
    for (int i = 0; i < 3; i++) {
      assert_true(fine[i] < 1e-4);
      assert_true(fine[i] < coarse[i] / 3.5 || fine[i] < 1e-8);
    }
  }
}

/* A swing: a flexible body on a hinge at one interface, a rigid body on a spherical joint at
 * another.  The numbers at the end: places and rotations of all frames, modes. */
enum { NUMBERS = 4 * 12 + 3 };

static pol_mechanism *create_swing(void)
{
  static const double axis[3] = {0.1, 1.0, 0.3};
  uint64_t seed = 33;
  point_masses p;
  pol_flexible_body body = random_flexible(&p, "arm", 3, 2, &seed);
  pol_mechanism *mechanism = create_mechanism(down);
  for (int i = 0; i < 9; i++) p.stiffness[i] *= 40.0;
  for (int i = 0; i < 18; i++) p.rotation[i / 9][i % 9] *= 0.3;
  memset(p.amplitudes, 0, sizeof p.amplitudes);
  memset(p.rates, 0, sizeof p.rates);
  memset(body.velocity, 0, sizeof body.velocity);
  memset(body.angular_velocity, 0, sizeof body.angular_velocity);
  add_flexible(mechanism, &body);
  pol_body rigid = pol_body_default();
  const double *end = pol_mechanism_body(mechanism, 2)->position;
  rigid.name = "weight";
  for (int i = 0; i < 3; i++) rigid.position[i] = end[i] + 0.2 * (i + 1);
  for (int i = 0; i < 3; i++) rigid.inertia[4 * i] = 0.1;
  assert_int_equal(pol_mechanism_add_body(mechanism, &rigid, NULL), POL_OK);
  end = pol_mechanism_body(mechanism, 2)->position;
  add_joint_at(mechanism, POL_REVOLUTE, "hinge", POL_GROUND, 1,
               pol_mechanism_body(mechanism, 1)->position, axis);
  add_joint_at(mechanism, POL_SPHERICAL, "link", 2, 3, end, NULL);
  return mechanism;
}

static void numbers_of(const pol_simulation *simulation, double *x)
{
  for (int b = 0; b < 4; b++) {
    pol_body_state state;
    pol_simulation_body(simulation, b, &state);
    memcpy(x + 12 * b, state.position, sizeof state.position);
    memcpy(x + 12 * b + 3, state.rotation, sizeof state.rotation);
  }
  assert_int_equal(pol_simulation_modes(simulation, 0, x + 48, NULL), 3);
}

static void run_swing(const pol_settings *settings, double *x)
{
  pol_mechanism *mechanism = create_swing();
  pol_simulation *simulation = start_with(mechanism, settings);
  step_to_end(simulation);
  numbers_of(simulation, x);
  pol_simulation_free(&simulation);
  pol_mechanism_free(&mechanism);
}

static double largest_difference(const double *a, const double *b, int count)
{
  double largest = 0.0;
  for (int i = 0; i < count; i++) largest = fmax(largest, fabs(a[i] - b[i]));
  return largest;
}

/* All index forms, methods and formulations converge to the same motion with second order. */
static void all_methods_have_order_two(void **state)
{
  (void)state;
  static const struct {
    const char *method;
    pol_index index;
    int sigma;
    pol_formulation_kind kind;
  } cases[] = {{"geom1", POL_INDEX_3, 0, POL_SO3XR3},
               {"geom1", POL_INDEX_2, 0, POL_SO3XR3},
               {"geom1", POL_INDEX_2_STABILIZED, 0, POL_SO3XR3},
               {"geom1", POL_INDEX_3, 1, POL_SO3XR3_SPATIAL},
               {"geom1", POL_INDEX_2_STABILIZED, 1, POL_SO3XR3_SPATIAL},
               {"geom1", POL_INDEX_3, 1, POL_SO3XR3},
               {"geom2", POL_INDEX_3, 0, POL_SO3XR3},
               {"geom3", POL_INDEX_3, 0, POL_SO3XR3},
               {"geom1", POL_INDEX_3, 0, POL_SO3XR3_CAYLEY},
               {"geom1", POL_INDEX_2, 0, POL_SE3_BODY},
               {"geom1", POL_INDEX_3, 0, POL_ROTATION_VECTOR},
               {"geom1", POL_INDEX_3, 0, POL_EULER_PARAMETERS},
               {"geom1", POL_INDEX_3, 0, POL_TAIT_BRYAN},
               {"hht", POL_INDEX_3, 0, POL_SO3XR3}};
  const double h = 4e-3;
  double reference[NUMBERS], x[2][NUMBERS];
  pol_settings settings = settings_of("geom1", 0.9, h / 32.0, 0.4);
  settings.options.index = POL_INDEX_2_STABILIZED;
  run_swing(&settings, reference);
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    double error[2];
    for (int i = 0; i < 2; i++) {
      settings = settings_of(cases[k].method, 0.9, i ? h / 2.0 : h, 0.4);
      if (strcmp(cases[k].method, "hht") == 0) pol_options_set_hht(&settings.options, -0.1);
      settings.options.index = cases[k].index;
      settings.formulation = cases[k].kind;
      if (cases[k].sigma)
        settings.options.sigma = settings.options.gamma / (3.0 * settings.options.beta);
      run_swing(&settings, x[i]);
      error[i] = largest_difference(x[i], reference, NUMBERS);
    }
    const double order = log2(error[0] / error[1]);
    assert_true(order > 1.8 && order < 2.3);
    assert_true(error[1] < 5e-3);
  }
}

/* --- variable steps, events, restart, choice of the method ------------------------------------ */

static void variable_steps_follow(void **state)
{
  (void)state;
  double reference[NUMBERS], x[NUMBERS];
  pol_settings settings = settings_of("geom1", 0.9, 1e-4, 0.4);
  settings.options.index = POL_INDEX_2_STABILIZED;
  run_swing(&settings, reference);
  settings = settings_of("geom1", 0.9, 1e-3, 0.4);
  settings.variable = 1;
  settings.options.control.rtol = 1e-7;
  settings.options.control.atol_translation = settings.options.control.atol_rotation = 1e-7;
  run_swing(&settings, x);
  assert_true(largest_difference(x, reference, NUMBERS) < 3e-5);
}

/* An event at an interface stops its frame; states before and after have the same position, and
 * expressions read modes. */
static void events_reset_interfaces(void **state)
{
  (void)state;
  static const pol_change changes[] = {{"arm.two.velocity.x", "0"},
                                       {"arm.two.velocity.y", "0.1*cos(arm.mode.1)"}};
  const pol_event_rule rules[] = {
      {"fall", "arm.mode.2 + arm.mode_rate.1*0 - 0.5e-3", 0, POL_EVENT_RECORD, 0, NULL},
      {"stop", "t - 0.1", 1, POL_EVENT_RESET, 2, changes}};
  pol_mechanism *mechanism = create_swing();
  pol_settings settings = settings_of("geom1", 0.9, 1e-3, 0.2);
  settings.num_events = 2;
  settings.events = rules;
  pol_simulation *simulation = start_with(mechanism, &settings);
  int fallen = 0, stopped = 0;
  while (!pol_simulation_finished(simulation)) {
    take_step(simulation);
    const int event = pol_simulation_event_index(simulation);
    double modes[3];
    pol_simulation_modes(simulation, 0, modes, NULL);
    if (event == 0) {
      assert_true(fabs(modes[1] - 0.5e-3) < 1e-8);
      fallen++;
    } else if (event == 1) {
      pol_body_state two;
      pol_simulation_body(simulation, 2, &two);
      assert_true(fabs(two.velocity[0]) < 1e-10);
      assert_true(fabs(two.velocity[1] - 0.1 * cos(modes[0])) < 1e-10);
      assert_true(pol_simulation_summary(simulation)->velocity_residual < 1e-10);
      stopped++;
    }
  }
  assert_true(fallen > 0);
  assert_int_equal(stopped, 1);
  pol_simulation_free(&simulation);
  pol_mechanism_free(&mechanism);
}

/* A saved state continues with the same bits, and belongs to this body only. */
static void restart_repeats_the_run(void **state)
{
  (void)state;
  pol_mechanism *mechanism = create_swing();
  const pol_settings settings = settings_of("geom1", 0.9, 2e-3, 0.2);
  pol_simulation *a = start_with(mechanism, &settings), *b = start_with(mechanism, &settings);
  double x[2][NUMBERS];
  size_t size;
  for (int k = 0; k < 37; k++) take_step(a);
  assert_int_equal(pol_simulation_save(a, NULL, &size), POL_OK);
  void *bytes = malloc(size);
  assert_int_equal(pol_simulation_save(a, bytes, &size), POL_OK);
  char message[200];
  assert_int_equal(pol_simulation_load(b, bytes, size, message, sizeof message), POL_OK);
  step_to_end(a);
  step_to_end(b);
  numbers_of(a, x[0]);
  numbers_of(b, x[1]);
  assert_memory_equal(x[0], x[1], sizeof x[0]);
  pol_simulation_free(&b);
  /* another stiffness: another mechanism */
  uint64_t seed = 33;
  point_masses p;
  pol_flexible_body body = random_flexible(&p, "arm", 3, 2, &seed);
  pol_mechanism *other = create_mechanism(down);
  add_flexible(other, &body);
  b = start_with(other, &settings);
  assert_int_equal(pol_simulation_load(b, bytes, size, message, sizeof message), POL_BAD_ARGUMENT);
  free(bytes);
  pol_simulation_free(&a);
  pol_simulation_free(&b);
  pol_mechanism_free(&mechanism);
  pol_mechanism_free(&other);
}

static void unsupported_choices_are_refused(void **state)
{
  (void)state;
  pol_mechanism *mechanism = create_swing();
  char message[256];
  for (int kind = POL_SO3_PIVOT; kind <= POL_DIRECTORS; kind += POL_DIRECTORS - POL_SO3_PIVOT) {
    assert_int_equal(
        pol_formulation_supports(mechanism, (pol_formulation_kind)kind, message, sizeof message),
        POL_BAD_ARGUMENT);
    assert_non_null(strstr(message, "does not support flexible bodies, such as 'arm'"));
  }
  pol_settings settings = settings_of("rattle", 1.0, 1e-3, 0.1);
  pol_simulation *simulation;
  pol_diagnostics d;
  assert_int_equal(pol_simulation_create(&simulation, mechanism, &settings, &d), POL_BAD_ARGUMENT);
  assert_non_null(strstr(d.message, "body 'arm' is flexible"));
  settings = pol_settings_default();
  settings.options.method = "auto";
  settings.end = 0.05;
  settings.step = 1e-3;
  assert_int_equal(pol_settings_choose(mechanism, 0, &settings), POL_OK);
  assert_string_equal(settings.options.method, "geom1");
  assert_non_null(strstr(settings.choice, "flexible"));
  simulation = start_with(mechanism, &settings);
  step_to_end(simulation);
  pol_simulation_free(&simulation);
  pol_mechanism_free(&mechanism);
}

/* --- a rod ------------------------------------------------------------------------------------ */

/* A slender rod along x, which bends in the xy plane: the four lowest modes of a rod that is
 * clamped at the reference frame, phi = cosh bx - cos bx - s (sinh bx - sin bx), with
 *
 *     int phi^2 = L,   int phi = 2 s/b,   int x phi = 2/b^2,   phi(L) = +-2,   phi'(L) = +-2 b s.
 */
enum { ROD_MODES = 4 };
static const double rod_length = 1.0, rod_mass = 2.0, rod_bending = 200.0, rod_twist = 1e-4;
static const double rod_roots[ROD_MODES] = {1.875104068711961, 4.694091132974175, 7.854757438237613,
                                            10.995540734875467};

typedef struct rod {
  double first[3 * (ROD_MODES + 1)], second[9 * (ROD_MODES + 1) * (ROD_MODES + 1)];
  double stiffness[ROD_MODES * ROD_MODES], zero[3 * ROD_MODES];
  double translation[2][3 * ROD_MODES], rotation[2][3 * ROD_MODES]; /* of the tip, of the middle */
  pol_interface interfaces[3];
} rod;

static pol_flexible_body make_rod(rod *r)
{
  const int n = ROD_MODES + 1;
  const double L = rod_length, m = rod_mass;
  pol_flexible_body body = pol_flexible_body_default();
  memset(r, 0, sizeof *r);
  r->first[0] = 0.5 * m * L * L;
  r->second[0] = m * L * L * L / 3.0;
  r->second[4] = r->second[8] = rod_twist * L;
  for (int k = 1; k < n; k++) {
    const double root = rod_roots[k - 1], b = root / L, sign = k % 2 ? 1.0 : -1.0;
    const double s = (cosh(root) + cos(root)) / (sinh(root) + sin(root));
    r->first[3 * k + 1] = m * 2.0 * s / b;
    r->second[9 * k + 1] = r->second[9 * n * k + 3] = m * 2.0 / (b * b);
    r->second[9 * (n * k + k) + 4] = m * L;
    r->stiffness[(k - 1) * n] = rod_bending * b * b * b * b * L;
    r->translation[0][3 * (k - 1) + 1] = 2.0 * sign;
    r->rotation[0][3 * (k - 1) + 2] = 2.0 * b * s * sign;
    const double x = 0.5 * root;
    r->translation[1][3 * (k - 1) + 1] = cosh(x) - cos(x) - s * (sinh(x) - sin(x));
    r->rotation[1][3 * (k - 1) + 2] = b * (sinh(x) + sin(x) - s * (cosh(x) - cos(x)));
  }
  r->interfaces[0] = (pol_interface){.name = "root", .translation = r->zero, .rotation = r->zero};
  r->interfaces[1] = (pol_interface){.name = "tip",
                                     .position = {L, 0.0, 0.0},
                                     .translation = r->translation[0],
                                     .rotation = r->rotation[0]};
  r->interfaces[2] = (pol_interface){.name = "middle",
                                     .position = {0.5 * L, 0.0, 0.0},
                                     .translation = r->translation[1],
                                     .rotation = r->rotation[1]};
  body.name = "rod";
  body.mass = m * L;
  body.num_modes = ROD_MODES;
  body.first = r->first;
  body.second = r->second;
  body.stiffness = r->stiffness;
  body.num_interfaces = 3;
  body.interfaces = r->interfaces;
  return body;
}

/* The rod in its modes or as a beam of elements, with a joint of its root to the ground. */
static pol_mechanism *create_rod(int is_beam, pol_joint_type type, const double gravity[3])
{
  enum { NODES = 41 };
  static const double origin[3] = {0.0, 0.0, 0.0}, axis[3] = {0.0, 0.0, 1.0};
  pol_mechanism *mechanism = create_mechanism(gravity);
  if (!is_beam) {
    rod data;
    const pol_flexible_body body = make_rod(&data);
    add_flexible(mechanism, &body);
    add_joint_at(mechanism, type, "root", POL_GROUND, 1, origin, type == POL_FIXED ? NULL : axis);
    return mechanism;
  }
  double positions[3 * NODES] = {0.0}, rotations[4 * NODES] = {0.0};
  pol_beam beam = {.name = "rod",
                   .num_nodes = NODES,
                   .positions = positions,
                   .rotations = rotations,
                   .mass = rod_mass,
                   .strain = POL_BEAM_SE3};
  const double stiffness[6] = {1e4, 1e6, rod_bending, 1e7, 1e7, 1e7};
  for (int i = 0; i < 6; i++) beam.stiffness[7 * i] = stiffness[i];
  for (int i = 0; i < 3; i++) beam.inertia[4 * i] = i == 0 ? 2.0 * rod_twist : rod_twist;
  for (int k = 0; k < NODES; k++) {
    positions[3 * k] = rod_length * k / (NODES - 1.0);
    rotations[4 * k] = 1.0;
  }
  assert_int_equal(pol_mechanism_add_beam(mechanism, &beam, NULL), POL_OK);
  add_joint_at(mechanism, type, "root", POL_GROUND, 0, origin, type == POL_FIXED ? NULL : axis);
  return mechanism;
}

/* Frequencies, Hz, of motions in the plane, lowest first, without zeros. */
static int frequencies_of(const pol_mechanism *mechanism, double *frequencies, int most)
{
  pol_analysis *analysis;
  pol_modes *modes;
  pol_diagnostics d;
  int count = 0;
  assert_int_equal(pol_analysis_create(&analysis, mechanism, 0.0, &d), POL_OK);
  assert_int_equal(pol_modes_create(&modes, analysis, NULL, &d), POL_OK);
  for (int k = 0; k < pol_modes_count(modes) && count < most; k++)
    if (pol_modes_get(modes, k)->frequency > 1e-2)
      frequencies[count++] = pol_modes_get(modes, k)->frequency;
  pol_modes_free(&modes);
  pol_analysis_free(&analysis);
  return count;
}

/* Clamped: b^2 sqrt(EI/m); on a hinge: those of the beam, 3.9266^2 and so on. */
static void rod_has_its_frequencies(void **state)
{
  (void)state;
  double found[ROD_MODES], beam[ROD_MODES];
  pol_mechanism *rods[2] = {create_rod(0, POL_FIXED, NULL), create_rod(0, POL_REVOLUTE, NULL)};
  pol_mechanism *other = create_rod(1, POL_REVOLUTE, NULL);
  assert_int_equal(frequencies_of(rods[0], found, ROD_MODES), ROD_MODES);
  for (int k = 0; k < ROD_MODES; k++) {
    const double exact =
        rod_roots[k] * rod_roots[k] * sqrt(rod_bending / rod_mass) / (2.0 * acos(-1.0));
    assert_near(&found[k], &exact, 1, 1e-8 * exact);
  }
  frequencies_of(rods[1], found, 2);
  frequencies_of(other, beam, 2);
  for (int k = 0; k < 2; k++) {
    assert_near(&found[k], &beam[k], 1, 0.01 * beam[k]);
  }
  pol_mechanism_free(&rods[0]);
  pol_mechanism_free(&rods[1]);
  pol_mechanism_free(&other);
}

/* F L^3/(3 EI) at the tip, but for what higher modes add. */
static void rod_bends_under_a_load(void **state)
{
  (void)state;
  pol_mechanism *mechanism = create_rod(0, POL_FIXED, NULL);
  pol_force force = pol_force_default();
  pol_analysis *analysis;
  pol_diagnostics d;
  pol_body_state tip;
  force.name = "load";
  force.body = pol_mechanism_find_body(mechanism, "rod.tip");
  force.vector[1] = 3.0;
  assert_int_equal(pol_mechanism_add_force(mechanism, &force, NULL), POL_OK);
  assert_int_equal(pol_analysis_create(&analysis, mechanism, 0.0, &d), POL_OK);
  if (pol_analysis_equilibrium(analysis, NULL, NULL, &d) != POL_OK) fail_msg("%s", d.message);
  const pol_state *at = pol_analysis_state(analysis);
  pol_formulation_body_state(pol_analysis_formulation(analysis), at->q, at->v, force.body, &tip);
  double sum = 0.0;
  for (int k = 0; k < ROD_MODES; k++) sum += 4.0 / pow(rod_roots[k], 4.0);
  const double of_modes = 3.0 * sum / rod_bending, exact = 3.0 / (3.0 * rod_bending);
  assert_near(&tip.position[1], &of_modes, 1, 1e-9);
  assert_near(&tip.position[1], &exact, 1, 1e-3 * exact);

  /* the linearised equations have the modes as states: x'' = -w^2 x + b u, y = c x */
  static const char *const input = "load.y", *const output = "rod.tip.position.y";
  pol_linear_options options = pol_linear_options_default();
  pol_linear *linear;
  pol_errors errors = {0};
  double gain = 0.0;
  options.num_inputs = options.num_outputs = 1;
  options.inputs = &input;
  options.outputs = &output;
  if (pol_linear_create(&linear, analysis, &options, &errors, &d) != POL_OK)
    fail_msg("%s", d.message);
  const int n = linear->n, half = n / 2;
  assert_int_equal(half, ROD_MODES);
  assert_string_equal(linear->state_names[0], "rod.mode.1");
  assert_string_equal(linear->state_names[half], "rod.mode_rate.1");
  for (int k = 0; k < half; k++)
    gain -= linear->C[k] * linear->B[half + k] / linear->A[half + k + n * k];
  /* about the bent rod, whose root and tip are not parallel */
  assert_near(&gain, &(double){of_modes / 3.0}, 1, 1e-6);
  pol_linear_free(&linear);
  pol_analysis_free(&analysis);
  pol_mechanism_free(&mechanism);
}

/* The distance of the middle from the line between the ends, in the plane; `inside`: of the body at
 * the tip from the tip. */
static double bow(const pol_simulation *simulation, int middle, int tip, double inside,
                  double end[2])
{
  pol_body_state a, b;
  pol_simulation_body(simulation, middle, &a);
  pol_simulation_body(simulation, tip, &b);
  for (int i = 0; i < 2; i++) end[i] = b.position[i] + inside * b.rotation[3 * i];
  return (end[0] * a.position[1] - end[1] * a.position[0]) / hypot(end[0], end[1]);
}

/* A rod falls from the horizontal on a hinge and bends, mostly with 24.5 Hz: the place of its tip,
 * and how far it bends.  Not for long: the tension of the fast rod makes the beam stiffer, which
 * small displacements do not. */
static void rod_swings_as_a_beam(void **state)
{
  (void)state;
  static const double gravity[3] = {0.0, -9.81, 0.0};
  pol_mechanism *one = create_rod(0, POL_REVOLUTE, gravity),
                *other = create_rod(1, POL_REVOLUTE, gravity);
  const int last = pol_mechanism_num_bodies(other) - 1;
  pol_settings settings = settings_of("geom1", 0.8, 2e-4, 0.12);
  pol_simulation *a = start_with(one, &settings), *b = start_with(other, &settings);
  double largest = 0.0, apart = 0.0, places = 0.0;
  while (!pol_simulation_finished(a)) {
    double tip[2], end[2];
    take_step(a);
    take_step(b);
    const double mine = bow(a, 3, 2, 0.0, tip);
    const double theirs = bow(b, last / 2, last, rod_length / 160.0, end);
    largest = fmax(largest, fabs(theirs));
    apart = fmax(apart, fabs(mine - theirs));
    for (int i = 0; i < 2; i++) places = fmax(places, fabs(tip[i] - end[i]));
  }
  assert_true(apart < 0.01 * largest);
  assert_true(places < 0.001 * rod_length);
  pol_simulation_free(&a);
  pol_simulation_free(&b);
  pol_mechanism_free(&one);
  pol_mechanism_free(&other);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(triangle_moves_as_its_masses),
      cmocka_unit_test(stiff_body_is_rigid),
      cmocka_unit_test(free_body_conserves),
      cmocka_unit_test(all_methods_have_order_two),
      cmocka_unit_test(variable_steps_follow),
      cmocka_unit_test(events_reset_interfaces),
      cmocka_unit_test(restart_repeats_the_run),
      cmocka_unit_test(unsupported_choices_are_refused),
      cmocka_unit_test(rod_has_its_frequencies),
      cmocka_unit_test(rod_bends_under_a_load),
      cmocka_unit_test(rod_swings_as_a_beam),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
