/* Flexible bodies in motion: against the point masses and springs that they consist of, against a
 * rigid body, against a beam; conserved quantities, orders, all index forms. */
#include <math.h>
#include <stdio.h>
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
  printf("%g %g\n", large, small);
  assert_true(large < 0.02);
  assert_true(small < large / 60.0 && small > 1e-6);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(triangle_moves_as_its_masses),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
