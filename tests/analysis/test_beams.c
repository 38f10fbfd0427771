/* Beams: a cantilever rolled into a circle, the bend of 45 degrees of Bathe and Bolourchi (1979),
 * frequencies of a cantilever. */
#include "analysis/analyse.h"

static const double pi = 3.14159265358979323846;

/* A square section: sides a, Young's modulus E, shear modulus E/2/(1 + nu). */
static void set_square(pol_beam *beam, double a, double E, double nu, double torsion, double shear,
                       double density)
{
  const double A = a * a, I = A * A / 12.0, G = 0.5 * E / (1.0 + nu);
  const double diagonal[] = {G * torsion * 2.0 * I, E * I, E * I, E * A, shear * G * A, shear * G * A};
  for (int i = 0; i < 6; i++) beam->stiffness[7 * i] = diagonal[i];
  beam->mass = density * A;
  beam->inertia[0] = 2.0 * density * I;
  beam->inertia[4] = beam->inertia[8] = density * I;
}

/* An arc of the given angle in the xy plane from the origin along x, towards y; clamped there. */
static pol_mechanism *clamped_arc(pol_beam beam, double length, double angle, int elements)
{
  pol_mechanism *mechanism;
  double *x = calloc((size_t)(7 * (elements + 1)), sizeof *x), *q = x + 3 * (elements + 1);
  assert_int_equal(pol_mechanism_create(&mechanism), POL_OK);
  for (int k = 0; k <= elements; k++) {
    const double s = (double)k / elements, turn = s * angle;
    x[3 * k] = angle == 0.0 ? s * length : length / angle * sin(turn);
    x[3 * k + 1] = angle == 0.0 ? 0.0 : 2.0 * length / angle * pow(sin(turn / 2.0), 2.0);
    q[4 * k] = cos(turn / 2.0);
    q[4 * k + 3] = sin(turn / 2.0);
  }
  beam.name = "beam";
  beam.num_nodes = elements + 1;
  beam.positions = x;
  beam.rotations = q;
  assert_int_equal(pol_mechanism_add_beam(mechanism, &beam, NULL), POL_OK);
  pol_joint clamp = pol_joint_default();
  clamp.name = "clamp";
  clamp.type = POL_FIXED;
  assert_int_equal(
      pol_mechanism_add_joint_at(mechanism, &clamp, POL_GROUND, 0, (double[3]){0}, NULL, NULL),
      POL_OK);
  free(x);
  return mechanism;
}

static void load_tip(pol_mechanism *mechanism, pol_force_type type, const double vector[3],
                     int elements)
{
  pol_force load = pol_force_default();
  load.name = "load";
  load.type = type;
  load.body = elements;
  memcpy(load.vector, vector, sizeof load.vector);
  assert_int_equal(pol_mechanism_add_force(mechanism, &load, NULL), POL_OK);
}

static void moment_closes_the_circle(void **state)
{
  (void)state;
  for (int kind = 0; kind < 2; kind++)
    for (int elements = 3; elements <= 24; elements *= 2) {
      const double length = 1.0, a = 0.02;
      pol_beam beam = {.strain = kind ? POL_BEAM_SO3XR3 : POL_BEAM_SE3};
      set_square(&beam, a, 2e11, 0.3, 1.0, 5.0 / 6.0, 7800.0);
      pol_mechanism *mechanism = clamped_arc(beam, length, 0.0, elements);
      load_tip(mechanism, POL_APPLIED_TORQUE,
               (double[3]){0.0, 0.0, 2.0 * pi * beam.stiffness[14] / length}, elements);
      pol_analysis *analysis = analyse_at(mechanism, 0.0);
      pol_static_report report = balance(analysis, 10);
      pol_body_state tip = body_at(analysis, elements);
      print_message("%s %d elements: tip %.3e %.3e, %d iterations, %d steps\n", kind ? "so3xr3" : "se3",
                    elements, tip.position[0], tip.position[1], report.iterations,
                    report.load_steps);
      pol_analysis_free(&analysis);
      pol_mechanism_free(&mechanism);
    }
}

static void bend_of_45_degrees(void **state)
{
  (void)state;
  for (int kind = 0; kind < 2; kind++)
    for (int elements = 8; elements <= 64; elements *= 2)
      for (int load = 300; load <= 600; load += 300) {
        pol_beam beam = {.strain = kind ? POL_BEAM_SO3XR3 : POL_BEAM_SE3};
        set_square(&beam, 1.0, 1e7, 0.0, 1.0, 5.0 / 6.0, 1.0);
        pol_mechanism *mechanism = clamped_arc(beam, 100.0 * pi / 4.0, pi / 4.0, elements);
        load_tip(mechanism, POL_APPLIED_FORCE, (double[3]){0.0, 0.0, load}, elements);
        pol_analysis *analysis = analyse_at(mechanism, 0.0);
        pol_static_report report = balance(analysis, 1);
        pol_body_state tip = body_at(analysis, elements);
        print_message("%s %d elements, load %d: (%.3f, %.3f, %.3f), %d iterations %d\n",
                      kind ? "so3xr3" : "se3", elements, load, tip.position[1], tip.position[0],
                      tip.position[2], report.iterations, report.load_steps);
        pol_analysis_free(&analysis);
        pol_mechanism_free(&mechanism);
      }
}

static void cantilever_frequencies(void **state)
{
  (void)state;
  const double roots[] = {1.8751040687, 4.6940911330, 7.8547574382, 10.9955407349, 14.1371683910};
  for (int elements = 5; elements <= 40; elements *= 2) {
    const double a = 0.01;
    pol_beam beam = {.strain = POL_BEAM_SE3};
    set_square(&beam, a, 2e11, 0.3, 0.8436, 5.0 / 6.0, 7800.0);
    pol_mechanism *mechanism = clamped_arc(beam, 1.0, 0.0, elements);
    pol_analysis *analysis = analyse_at(mechanism, 0.0);
    pol_modes *modes = find_modes(analysis, NULL);
    print_message("%d elements:", elements);
    for (int i = 0; i < 5; i++) {
      const double exact = roots[i] * roots[i] * sqrt(beam.stiffness[14] / beam.mass) / (2.0 * pi);
      print_message(" %.3f%%", 100.0 * (pol_modes_get(modes, 2 * i)->frequency / exact - 1.0));
    }
    print_message("\n");
    pol_modes_free(&modes);
    pol_analysis_free(&analysis);
    pol_mechanism_free(&mechanism);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(moment_closes_the_circle),
      cmocka_unit_test(bend_of_45_degrees),
      cmocka_unit_test(cantilever_frequencies),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
