/* Reactions and motor torque of a driven four-bar against Newton and Euler by hand.
 *
 * The four-bar of models/examples/four_bar_motor.json moves in the x-z plane, its angles are about
 * y. A link of length l at the angle w has the direction e(w) = (sin w, cos w), e' = w' t(w) with
 * t(w) = (cos w, -sin w).  The loop
 *
 *     a e(w1) + b e(w2) = d x + c e(w3)
 *
 * gives w3 by Freudenstein's equation (w2 eliminated), then w2, and by differentiation the rates
 * and accelerations.  Nine equations, two of forces and one of moments about the centre of mass of
 * each link, then give eight joint forces and the torque of the motor.  None of it uses the
 * library.
 */
#include <string.h>

#include "simulation/simulate.h"

static const double pi = 3.14159265358979323846, g = 9.81;
enum { CRANK, COUPLER, ROCKER, LINKS };

static const double ground = 0.2; /* between the pivots */
static const struct {
  double length, mass, inertia; /* about y */
  double axis;                  /* the angle of the link at rotation zero: along z, x or z */
} links[LINKS] = {
    {0.1, 0.1, 8.4e-5, 0.0},
    {0.22360679774997896, 0.3, 1.25e-3, 1.5707963267948966},
    {0.2, 0.2, 6.7e-4, 0.0},
};

/* Angles, rates and accelerations of the links; [i][0] x, [i][1] z of their centres of mass. */
typedef struct motion {
  double w[LINKS], rate[LINKS], bend[LINKS];
  double position[LINKS][2], velocity[LINKS][2], acceleration[LINKS][2];
} motion;

/* --- kinematics ------------------------------------------------------------------------------- */

/* The motor: its speed goes to 2 pi in half a second, by the quintic step. */
static void motor(double time, double *w, double *rate, double *bend)
{
  double s = fmin(time / 0.5, 1.0), full = 2.0 * pi;
  *w = 0.5 * full * s * s * s * s * (2.5 - 3.0 * s + s * s) + full * fmax(time - 0.5, 0.0);
  *rate = full * s * s * s * (10.0 - 15.0 * s + 6.0 * s * s);
  *bend = full / 0.5 * 30.0 * s * s * (1.0 - s) * (1.0 - s);
}

static void direction(double w, double e[2], double t[2])
{
  e[0] = t[1] = sin(w);
  e[1] = t[0] = cos(w);
  t[1] = -t[1];
}

/* x t2 + y t3 = right */
static void solve_two(const double t2[2], const double t3[2], const double right[2], double *x,
                      double *y)
{
  double det = t2[0] * t3[1] - t2[1] * t3[0];
  *x = (right[0] * t3[1] - right[1] * t3[0]) / det;
  *y = (t2[0] * right[1] - t2[1] * right[0]) / det;
}

/* Freudenstein: A sin w3 + B cos w3 = C, on the branch where the coupler is above the pivots' line
 * at the start. */
static void close_loop(motion *m)
{
  double e1[2], t1[2], a = links[CRANK].length, b = links[COUPLER].length, c = links[ROCKER].length;
  direction(m->w[CRANK], e1, t1);
  double p = ground - a * e1[0], r = -a * e1[1];
  double A = 2.0 * c * p, B = 2.0 * c * r, C = b * b - c * c - p * p - r * r;
  m->w[ROCKER] = atan2(A, B) - acos(C / hypot(A, B));
  m->w[COUPLER] = atan2(p + c * sin(m->w[ROCKER]), r + c * cos(m->w[ROCKER]));
}

static motion motion_at(double time)
{
  motion m;
  double e[LINKS][2], t[LINKS][2], right[2];
  motor(time, &m.w[CRANK], &m.rate[CRANK], &m.bend[CRANK]);
  close_loop(&m);
  for (int i = 0; i < LINKS; i++) direction(m.w[i], e[i], t[i]);

  /* b w2' t2 - c w3' t3 = -a w1' t1, and once more */
  double a = links[CRANK].length, b = links[COUPLER].length, c = links[ROCKER].length;
  for (int k = 0; k < 2; k++) right[k] = -a * m.rate[CRANK] * t[CRANK][k];
  solve_two(t[COUPLER], t[ROCKER], right, &m.rate[COUPLER], &m.rate[ROCKER]);
  m.rate[COUPLER] /= b;
  m.rate[ROCKER] /= -c;
  for (int k = 0; k < 2; k++)
    right[k] = -a * (m.bend[CRANK] * t[CRANK][k] - m.rate[CRANK] * m.rate[CRANK] * e[CRANK][k]) +
               b * m.rate[COUPLER] * m.rate[COUPLER] * e[COUPLER][k] -
               c * m.rate[ROCKER] * m.rate[ROCKER] * e[ROCKER][k];
  solve_two(t[COUPLER], t[ROCKER], right, &m.bend[COUPLER], &m.bend[ROCKER]);
  m.bend[COUPLER] /= b;
  m.bend[ROCKER] /= -c;

  /* the middles of the links; the coupler starts at the end of the crank */
  for (int i = 0; i < LINKS; i++)
    for (int k = 0; k < 2; k++) {
      double half = 0.5 * links[i].length, full = i == COUPLER ? a : 0.0;
      m.position[i][k] =
          half * e[i][k] + full * e[CRANK][k] + (i == ROCKER && k == 0 ? ground : 0.0);
      m.velocity[i][k] = half * m.rate[i] * t[i][k] + full * m.rate[CRANK] * t[CRANK][k];
      m.acceleration[i][k] =
          half * (m.bend[i] * t[i][k] - m.rate[i] * m.rate[i] * e[i][k]) +
          full * (m.bend[CRANK] * t[CRANK][k] - m.rate[CRANK] * m.rate[CRANK] * e[CRANK][k]);
    }
  return m;
}

/* --- kinetics --------------------------------------------------------------------------------- */

enum { UNKNOWNS = 9, TORQUE = 8 }; /* forces A, B, C, D (x and z) on the second body; the motor */

/* Gauss with row exchange. */
static void solve(double matrix[UNKNOWNS][UNKNOWNS], double x[UNKNOWNS])
{
  for (int k = 0; k < UNKNOWNS; k++) {
    int pivot = k;
    for (int i = k + 1; i < UNKNOWNS; i++)
      if (fabs(matrix[i][k]) > fabs(matrix[pivot][k])) pivot = i;
    for (int j = 0; j < UNKNOWNS; j++) {
      double entry = matrix[k][j];
      matrix[k][j] = matrix[pivot][j];
      matrix[pivot][j] = entry;
    }
    double right = x[k];
    x[k] = x[pivot];
    x[pivot] = right;
    for (int i = k + 1; i < UNKNOWNS; i++) {
      double factor = matrix[i][k] / matrix[k][k];
      for (int j = k; j < UNKNOWNS; j++) matrix[i][j] -= factor * matrix[k][j];
      x[i] -= factor * x[k];
    }
  }
  for (int k = UNKNOWNS - 1; k >= 0; k--) {
    for (int j = k + 1; j < UNKNOWNS; j++) x[k] -= matrix[k][j] * x[j];
    x[k] /= matrix[k][k];
  }
}

/* m a = sum F + m g and J w'' = sum (r_z F_x - r_x F_z) + torque, for each link with a joint at
 * -l/2 and one at l/2; `sign` tells whether the link is the joint's second body. */
static void newton_euler(const motion *m, double x[UNKNOWNS])
{
  static const struct {
    int joint[2];
    double sign[2];
  } ends[LINKS] = {[CRANK] = {{0, 1}, {1.0, -1.0}},
                   [COUPLER] = {{1, 2}, {1.0, -1.0}},
                   [ROCKER] = {{3, 2}, {1.0, 1.0}}};
  double matrix[UNKNOWNS][UNKNOWNS] = {{0.0}};
  for (int i = 0; i < LINKS; i++) {
    double e[2], t[2];
    direction(m->w[i], e, t);
    for (int k = 0; k < 2; k++) {
      int column = 2 * ends[i].joint[k];
      double arm = (k == 0 ? -0.5 : 0.5) * links[i].length, sign = ends[i].sign[k];
      matrix[3 * i][column] += sign;
      matrix[3 * i + 1][column + 1] += sign;
      matrix[3 * i + 2][column] += sign * arm * e[1];
      matrix[3 * i + 2][column + 1] -= sign * arm * e[0];
    }
    x[3 * i] = links[i].mass * m->acceleration[i][0];
    x[3 * i + 1] = links[i].mass * (m->acceleration[i][1] + g);
    x[3 * i + 2] = links[i].inertia * m->bend[i];
  }
  matrix[3 * CRANK + 2][TORQUE] = 1.0;
  solve(matrix, x);
}

/* --- the library ------------------------------------------------------------------------------ */

/* The mechanism with the bodies where and as fast as they are at a time. */
static pol_mechanism *mechanism_at(const pol_mechanism *from, const motion *m)
{
  pol_mechanism *to;
  double gravity[3];
  assert_int_equal(pol_mechanism_create(&to), POL_OK);
  pol_mechanism_gravity(from, gravity);
  pol_mechanism_set_gravity(to, gravity);
  for (int i = 0; i < LINKS; i++) {
    pol_body body = *pol_mechanism_body(from, i);
    const double turn[3] = {0.0, m->w[i] - links[i].axis, 0.0};
    pol_so3_exp(turn, body.rotation);
    for (int k = 0; k < 2; k++) {
      body.position[2 * k] = m->position[i][k];
      body.velocity[2 * k] = m->velocity[i][k];
    }
    body.angular_velocity[1] = m->rate[i];
    assert_int_equal(pol_mechanism_add_body(to, &body, NULL), POL_OK);
  }
  for (int i = 0; i < pol_mechanism_num_markers(from); i++)
    assert_int_equal(pol_mechanism_add_marker(to, pol_mechanism_marker(from, i), NULL), POL_OK);
  for (int i = 0; i < pol_mechanism_num_joints(from); i++)
    assert_int_equal(pol_mechanism_add_joint(to, pol_mechanism_joint(from, i), NULL), POL_OK);
  assert_int_equal(pol_mechanism_add_drive(to, pol_mechanism_drive(from, 0), NULL), POL_OK);
  return to;
}

/* The same nine numbers from a point; forces across the plane and torques in it must vanish. */
static void read_reactions(const pol_formulation *formulation, const pol_point *at,
                           double x[UNKNOWNS], double *across)
{
  *across = 0.0;
  for (int joint = 0; joint < 4; joint++) {
    double force[3], torque[3];
    pol_formulation_reaction(formulation, at, joint, force, torque);
    x[2 * joint] = force[0];
    x[2 * joint + 1] = force[2];
    *across = fmax(*across, fabs(force[1]));
    for (int k = 0; k < 3; k++) *across = fmax(*across, fabs(torque[k]));
  }
  x[TORQUE] = pol_formulation_drive_effort(formulation, at, 0);
}

/* At exact positions and velocities, in every formulation that is not in gimbal lock there. */
static void reactions_are_those_of_newton_and_euler(void **state)
{
  (void)state;
  pol_model *model = read_model(POLHODE_SOURCE_DIR "/models/examples/four_bar_motor.json");
  for (int kind = 0; kind < pol_formulation_count(); kind++)
    for (int n = 0; n < 17; n++) {
      double time = 0.1 * n, expected[UNKNOWNS], found[UNKNOWNS], across, residual = 0.0;
      double q[36], v[36], vd[36], lambda[39], given[36];
      unsigned char keep[36];
      motion m = motion_at(time);
      pol_mechanism *mechanism = mechanism_at(model->mechanism, &m);
      pol_formulation *formulation;
      pol_assembler *assembler;
      char why[128];
      newton_euler(&m, expected);
      if (pol_formulation_supports(mechanism, (pol_formulation_kind)kind, why, sizeof why)) {
        assert_true(kind == POL_SO3_PIVOT || kind == POL_TAIT_BRYAN);
        pol_mechanism_free(&mechanism);
        continue;
      }
      assert_int_equal(pol_formulation_create(&formulation, mechanism, (pol_formulation_kind)kind),
                       POL_OK);
      const pol_dae *dae = pol_formulation_dae(formulation);
      assert_true(pol_dae_num_constraints(dae) <= 39 && dae->group.nv <= 36 && dae->group.nq <= 36);
      pol_formulation_initial(formulation, q, v, keep);
      memcpy(given, q, sizeof given);
      assert_int_equal(pol_assembler_create(&assembler, dae, POL_SOLVER_AUTO), POL_OK);
      /* the closed-form motion satisfies the constraints: nothing moves */
      assert_int_equal(pol_assembler_position(assembler, time, q, NULL), POL_OK);
      for (int i = 0; i < dae->group.nq; i++) residual = fmax(residual, fabs(q[i] - given[i]));
      memcpy(given, v, sizeof given);
      assert_int_equal(pol_assembler_velocity(assembler, time, q, v, NULL, NULL, NULL), POL_OK);
      for (int i = 0; i < dae->group.nv; i++) residual = fmax(residual, fabs(v[i] - given[i]));
      assert_true(residual < 1e-12);

      assert_int_equal(pol_assembler_drop_redundant(assembler, time, q, NULL, NULL), POL_OK);
      assert_int_equal(pol_assembler_acceleration(assembler, time, q, v, vd, lambda, NULL), POL_OK);
      pol_point at = {.t = time, .q = q, .v = v, .vd = vd, .lambda = lambda};
      read_reactions(formulation, &at, found, &across);
      assert_near(found, expected, UNKNOWNS, 1e-9);
      assert_true(across < 1e-9);
      pol_assembler_free(&assembler);
      pol_formulation_free(&formulation);
      pol_mechanism_free(&mechanism);
    }
  pol_model_free(&model);
}

/* Along a run: the largest difference, over all steps. */
static double error_of_run(pol_model *model, double step)
{
  pol_simulation *simulation;
  pol_diagnostics d;
  double largest = 0.0;
  model->settings.step = step;
  if (pol_simulation_create(&simulation, model->mechanism, &model->settings, &d))
    fail_msg("%s", d.message);
  while (!pol_simulation_finished(simulation)) {
    double expected[UNKNOWNS], found[UNKNOWNS], across;
    assert_int_equal(pol_simulation_step(simulation), POL_OK);
    pol_point at = pol_state_point(pol_simulation_state(simulation));
    motion m = motion_at(at.t);
    newton_euler(&m, expected);
    read_reactions(pol_simulation_formulation(simulation), &at, found, &across);
    for (int i = 0; i < UNKNOWNS; i++) largest = fmax(largest, fabs(found[i] - expected[i]));
    assert_true(across < 1e-9);
  }
  pol_simulation_free(&simulation);
  return largest;
}

static void reactions_of_runs_converge(void **state)
{
  (void)state;
  for (int shared = 0; shared < 2; shared++) {
    pol_model *model = read_model(POLHODE_SOURCE_DIR "/models/examples/four_bar_motor.json");
    if (shared) model->settings.options.redundant = POL_REDUNDANT_MINIMUM_NORM;
    double coarse = error_of_run(model, 2e-3), fine = error_of_run(model, 1e-3);
    assert_true(fine < 1e-3);
    assert_near(&(double){log2(coarse / fine)}, &(double){2.0}, 1, 0.1);
    pol_model_free(&model);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reactions_are_those_of_newton_and_euler),
      cmocka_unit_test(reactions_of_runs_converge),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
