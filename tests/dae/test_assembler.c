/* Consistent positions, velocities, accelerations and multipliers of small models. */
#include "toys.h"

static const pol_solver_kind solvers[] = {POL_SOLVER_DENSE, POL_SOLVER_SPARSE};
enum { NUM_SOLVERS = 2 };

static pol_assembler *create(const pol_dae *dae, pol_solver_kind solver)
{
  pol_assembler *assembler;
  assert_int_equal(pol_assembler_create(&assembler, dae, solver), POL_OK);
  return assembler;
}

/* Position residuals of a truss, in units of length: Phi over scale and length of the rod. */
static double position_error(truss *s, double t, const double *q)
{
  double phi[MAX_RODS], worst = 0.0;
  pol_point at = {.t = t, .q = q};
  pol_terms out = {.position = phi};
  assert_int_equal(truss_evaluate(&at, POL_POSITION, &out, NULL, s), POL_OK);
  for (int i = 0; i < s->num_rods; i++)
    worst = fmax(worst, fabs(phi[i]) / (s->rods[i].scale * s->rods[i].length));
  return worst;
}

static double velocity_error(truss *s, double t, const double *q, const double *v)
{
  double rate[MAX_RODS], worst = 0.0;
  pol_point at = {.t = t, .q = q, .v = v};
  pol_terms out = {.velocity = rate};
  assert_int_equal(truss_evaluate(&at, POL_VELOCITY, &out, NULL, s), POL_OK);
  for (int i = 0; i < s->num_rods; i++)
    worst = fmax(worst, fabs(rate[i]) / (s->rods[i].scale * s->rods[i].length));
  return worst;
}

/* --- memory ----------------------------------------------------------------------------------- */

enum { SCRATCH = 16 };

typedef struct watched {
  truss s;
  double *scratch; /* of the last evaluation */
} watched;

static pol_status watched_evaluate(const pol_point *at, unsigned want, const pol_terms *out,
                                   double *scratch, void *user)
{
  watched *w = user;
  w->scratch = scratch;
  for (int i = 0; i < SCRATCH; i++) scratch[i] = i + 1234.5;
  return truss_evaluate(at, want, out, NULL, &w->s);
}

/* What the model leaves in its workspace is not touched by what is computed from it. */
static void test_workspace_is_of_the_model(void **state)
{
  (void)state;
  watched w = {.scratch = NULL};
  pendulum_init(&w.s);
  w.s.dae.evaluate = watched_evaluate;
  w.s.dae.user = &w;
  w.s.dae.scratch_size = SCRATCH;
  for (int k = 0; k < NUM_SOLVERS; k++) {
    pol_assembler *assembler = create(&w.s.dae, solvers[k]);
    double q[2] = {0.6, -0.9}, v[2] = {1.0, 2.0}, vd[2], lambda[1];
    int count = -1;
    for (int call = 0; call < 4; call++) {
      w.scratch = NULL;
      pol_status status =
          call == 0   ? pol_assembler_position(assembler, 0.0, q, NULL)
          : call == 1 ? pol_assembler_velocity(assembler, 0.0, q, v, NULL, NULL, NULL)
          : call == 2 ? pol_assembler_drop_redundant(assembler, 0.0, q, &count, NULL)
                      : pol_assembler_acceleration(assembler, 0.0, q, v, vd, lambda, NULL);
      assert_int_equal(status, POL_OK);
      assert_non_null(w.scratch);
      for (int i = 0; i < SCRATCH; i++) assert_true(w.scratch[i] == i + 1234.5);
    }
    assert_int_equal(count, 0);
    pol_assembler_free(&assembler);
  }
}

/* --- positions -------------------------------------------------------------------------------- */

/* With equal masses the nearest point of a circle is on the ray. */
static void test_pendulum_position(void **state)
{
  (void)state;
  static const double starts[][2] = {{0.6, -0.9}, {2.0, 1.0}, {-0.1, 0.05}, {30.0, -40.0}};
  truss s;
  pendulum_init(&s);
  for (int k = 0; k < NUM_SOLVERS; k++) {
    pol_assembler *assembler = create(&s.dae, solvers[k]);
    for (int i = 0; i < 4; i++) {
      double q[2] = {starts[i][0], starts[i][1]}, r = hypot(q[0], q[1]);
      assert_int_equal(pol_assembler_position(assembler, 0.0, q, NULL), POL_OK);
      assert_true(position_error(&s, 0.0, q) <= 8.0 * DBL_EPSILON);
      assert_true(fabs(q[0] - starts[i][0] / r) <= 1e-14);
      assert_true(fabs(q[1] - starts[i][1] / r) <= 1e-14);
    }
    pol_assembler_free(&assembler);
    assert_null(assembler);
    pol_assembler_free(&assembler);
  }
}

static const double four_bar_q[4] = {0.0, 1.0, 2.4, 2.8};

/* The null vector of the constraint matrix (full) of the four-bar at q: its three rows crossed. */
static void four_bar_motion(truss *s, const double *q, double n[4])
{
  double B[12] = {0.0};
  pol_point at = {.q = q};
  pol_terms out = {.jacobian = B};
  assert_int_equal(truss_evaluate(&at, POL_JACOBIAN, &out, NULL, s), POL_OK);
  for (int j = 0; j < 4; j++) {
    const double *c[3]; /* the other columns */
    for (int k = 0, col = 0; col < 4; col++)
      if (col != j) c[k++] = B + 3 * col;
    double det = c[0][0] * (c[1][1] * c[2][2] - c[2][1] * c[1][2]) -
                 c[1][0] * (c[0][1] * c[2][2] - c[2][1] * c[0][2]) +
                 c[2][0] * (c[0][1] * c[1][2] - c[1][1] * c[0][2]);
    n[j] = j % 2 ? -det : det;
  }
}

/* How far the way from `from` to `to` is from being perpendicular, in the metric of the masses, to
 * the motion that the constraints allow at its end: the cosine of the angle between them. */
static double sideways(truss *s, const double *from, const double *to)
{
  double n[4], dot = 0.0, nn = 0.0, dd = 0.0;
  four_bar_motion(s, to, n);
  for (int j = 0; j < 4; j++) {
    double d = to[j] - from[j];
    dot += n[j] * s->mass[j] * d;
    nn += n[j] * s->mass[j] * n[j];
    dd += d * s->mass[j] * d;
  }
  return fabs(dot) / sqrt(nn * dd);
}

/* The way is the shortest to first order: its deviation is proportional to its length. */
static void test_four_bar_position(void **state)
{
  (void)state;
  static const double shift[4] = {0.3, -0.2, 0.25, 0.4};
  truss s, full;
  four_bar_init(&s);
  four_bar_init(&full);
  for (int sparse = 0; sparse < 2; sparse++) {
    if (sparse) truss_make_sparse(&s);
    pol_assembler *assembler = create(&s.dae, solvers[sparse]);
    double before = 0.0;
    for (int k = 0; k < 8; k++) {
      double from[4], q[4];
      for (int j = 0; j < 4; j++) from[j] = q[j] = four_bar_q[j] + ldexp(shift[j], -k);
      assert_int_equal(pol_assembler_position(assembler, 0.0, q, NULL), POL_OK);
      assert_true(position_error(&s, 0.0, q) <= 16.0 * DBL_EPSILON);
      double deviation = sideways(&full, from, q);
      if (k > 3) assert_true(deviation < 0.6 * before);
      before = deviation;
    }
    assert_true(before < 1e-3);
    pol_assembler_free(&assembler);
  }
  truss_clear(&s);
}

static void test_consistent_position_stays(void **state)
{
  (void)state;
  truss s;
  double q[4], kept[4];
  four_bar_init(&s);
  pol_assembler *assembler = create(&s.dae, POL_SOLVER_AUTO);
  memcpy(q, four_bar_q, sizeof q);
  q[0] += 0.1;
  assert_int_equal(pol_assembler_position(assembler, 0.0, q, NULL), POL_OK);
  memcpy(kept, q, sizeof q);
  assert_int_equal(pol_assembler_position(assembler, 0.0, q, NULL), POL_OK);
  assert_memory_equal(q, kept, sizeof q);
  pol_assembler_free(&assembler);
}

/* The unit of a constraint, and the size of the mechanism, must not matter. */
static void test_position_units(void **state)
{
  (void)state;
  static const double scales[] = {1e-9, 1e-3, 1e3, 1e9}, lengths[] = {1e-3, 1e3, 1e7};
  for (int k = 0; k < 4; k++) {
    truss s;
    four_bar_init(&s);
    s.rods[1].scale = scales[k];
    pol_assembler *assembler = create(&s.dae, POL_SOLVER_AUTO);
    double q[4] = {0.1, 1.1, 2.3, 2.9};
    assert_int_equal(pol_assembler_position(assembler, 0.0, q, NULL), POL_OK);
    assert_true(position_error(&s, 0.0, q) <= 16.0 * DBL_EPSILON);
    pol_assembler_free(&assembler);
  }
  for (int k = 0; k < 3; k++) {
    truss s;
    pendulum_init(&s);
    s.rods[0].length = lengths[k];
    pol_assembler *assembler = create(&s.dae, POL_SOLVER_AUTO);
    double q[2] = {0.61 * lengths[k], -0.93 * lengths[k]};
    assert_int_equal(pol_assembler_position(assembler, 0.0, q, NULL), POL_OK);
    assert_true(position_error(&s, 0.0, q) <= 8.0 * DBL_EPSILON * fmax(1.0, lengths[k]));
    pol_assembler_free(&assembler);
  }
  /* far from the origin round-off is that of the coordinates */
  for (int k = 0; k < 3; k++) {
    truss s;
    pendulum_init(&s);
    s.rods[0].anchor[0] = s.rods[0].anchor[1] = 1e8 * (k + 1.1);
    pol_assembler *assembler = create(&s.dae, POL_SOLVER_AUTO);
    double q[2] = {s.rods[0].anchor[0] + 0.61, s.rods[0].anchor[1] - 0.93};
    assert_int_equal(pol_assembler_position(assembler, 0.0, q, NULL), POL_OK);
    assert_true(position_error(&s, 0.0, q) <= 8.0 * DBL_EPSILON * q[0]);
    pol_assembler_free(&assembler);
  }
}

/* --- velocities ------------------------------------------------------------------------------- */

/* v - v0 = -M^-1 B^T mu with one constraint, by hand. */
static void nearest_velocity(const truss *s, const double *q, double *v)
{
  double bb = q[0] * q[0] / s->mass[0] + q[1] * q[1] / s->mass[1];
  double mu = (q[0] * v[0] + q[1] * v[1]) / bb;
  for (int j = 0; j < 2; j++) v[j] -= q[j] / s->mass[j] * mu;
}

static void test_velocity(void **state)
{
  (void)state;
  static const double q[2] = {0.6, -0.8};
  truss s;
  pendulum_init(&s);
  s.mass[0] = 3.0;
  for (int k = 0; k < NUM_SOLVERS; k++) {
    double v[2] = {1.0, 5.0}, expected[2] = {1.0, 5.0};
    int kept = 0;
    pol_assembler *assembler = create(&s.dae, solvers[k]);
    nearest_velocity(&s, q, expected);
    assert_int_equal(pol_assembler_velocity(assembler, 0.0, q, v, NULL, &kept, NULL), POL_OK);
    assert_int_equal(kept, 1);
    assert_true(velocity_error(&s, 0.0, q, v) <= 4.0 * DBL_EPSILON);
    for (int j = 0; j < 2; j++) assert_true(fabs(v[j] - expected[j]) <= 1e-14);
    pol_assembler_free(&assembler);
  }
}

static void test_velocity_kept(void **state)
{
  (void)state;
  static const double q[2] = {0.6, -0.8};
  static const unsigned char first[2] = {1, 0}, second[2] = {0, 1}, none[2] = {0, 0};
  truss s;
  pendulum_init(&s);
  for (int k = 0; k < NUM_SOLVERS; k++) {
    pol_assembler *assembler = create(&s.dae, solvers[k]);
    double v[2] = {1.1, 5.0}, w[2] = {1.0, 5.1}, u[2] = {1.0, 5.0}, expected[2] = {1.0, 5.0};
    int kept = 0;
    assert_int_equal(pol_assembler_velocity(assembler, 0.0, q, v, first, &kept, NULL), POL_OK);
    assert_int_equal(kept, 1);
    assert_true(v[0] == 1.1);
    assert_true(fabs(v[1] - 0.75 * 1.1) <= 1e-15);

    kept = 0;
    assert_int_equal(pol_assembler_velocity(assembler, 0.0, q, w, second, &kept, NULL), POL_OK);
    assert_int_equal(kept, 1);
    assert_true(w[1] == 5.1);
    assert_true(fabs(w[0] - 5.1 / 0.75) <= 8.0 * DBL_EPSILON);

    kept = 0;
    nearest_velocity(&s, q, expected);
    assert_int_equal(pol_assembler_velocity(assembler, 0.0, q, u, none, &kept, NULL), POL_OK);
    assert_int_equal(kept, 1);
    for (int j = 0; j < 2; j++) assert_true(fabs(u[j] - expected[j]) <= 1e-14);
    pol_assembler_free(&assembler);
  }
}

/* A consistent velocity can be kept entirely. */
static void test_velocity_all_kept(void **state)
{
  (void)state;
  static const double q[2] = {0.6, -0.8};
  static const unsigned char both[2] = {1, 1};
  truss s;
  double v[2] = {0.8, 0.6};
  int kept = 0;
  pendulum_init(&s);
  pol_assembler *assembler = create(&s.dae, POL_SOLVER_AUTO);
  assert_int_equal(pol_assembler_velocity(assembler, 0.0, q, v, both, &kept, NULL), POL_OK);
  assert_int_equal(kept, 1);
  assert_true(v[0] == 0.8 && v[1] == 0.6);
  pol_assembler_free(&assembler);
}

/* What cannot be kept is given up, and the result is the nearest to what was given: the attempt to
 * keep has left no trace. */
static void test_velocity_not_kept(void **state)
{
  (void)state;
  static const unsigned char both[2] = {1, 1};
  static const double q[2] = {0.6, -0.8};
  truss s;
  double v[2] = {1.0, 5.0}, expected[2] = {1.0, 5.0};
  int kept = 1;
  pendulum_init(&s);
  pol_assembler *assembler = create(&s.dae, POL_SOLVER_AUTO);
  nearest_velocity(&s, q, expected);
  assert_int_equal(pol_assembler_velocity(assembler, 0.0, q, v, both, &kept, NULL), POL_OK);
  assert_int_equal(kept, 0);
  assert_true(velocity_error(&s, 0.0, q, v) <= 4.0 * DBL_EPSILON);
  for (int j = 0; j < 2; j++) assert_true(fabs(v[j] - expected[j]) <= 1e-14);
  pol_assembler_free(&assembler);

  /* the crank's velocity is impossible, the rocker's free components would have followed it */
  static const unsigned char crank[4] = {1, 1, 0, 0};
  double w[4] = {1.0, 2.0, -3.0, 4.0}, free_w[4] = {1.0, 2.0, -3.0, 4.0};
  truss bars;
  four_bar_init(&bars);
  assembler = create(&bars.dae, POL_SOLVER_AUTO);
  assert_int_equal(pol_assembler_velocity(assembler, 0.0, four_bar_q, w, crank, &kept, NULL),
                   POL_OK);
  assert_int_equal(kept, 0);
  assert_int_equal(pol_assembler_velocity(assembler, 0.0, four_bar_q, free_w, NULL, NULL, NULL),
                   POL_OK);
  assert_true(velocity_error(&bars, 0.0, four_bar_q, w) <= 1e-14);
  for (int j = 0; j < 4; j++) assert_true(fabs(w[j] - free_w[j]) <= 1e-13);
  pol_assembler_free(&assembler);
}

static void test_velocity_units(void **state)
{
  (void)state;
  static const double scales[] = {1e-9, 1e9};
  for (int k = 0; k < 2; k++) {
    truss s;
    double v[4] = {1.0, 2.0, -3.0, 4.0};
    four_bar_init(&s);
    s.rods[1].scale = scales[k];
    pol_assembler *assembler = create(&s.dae, POL_SOLVER_AUTO);
    assert_int_equal(pol_assembler_velocity(assembler, 0.0, four_bar_q, v, NULL, NULL, NULL),
                     POL_OK);
    assert_true(velocity_error(&s, 0.0, four_bar_q, v) <= 1e-14);
    pol_assembler_free(&assembler);
  }
}

/* --- redundant and impossible constraints ----------------------------------------------------- */

/* The four-bar with a rod twice, the second time in another unit. */
static void redundant_init(truss *s)
{
  four_bar_init(s);
  s->rods[3] = s->rods[1];
  s->rods[3].scale = 3.0;
  s->num_rods = 4;
  truss_finish(s);
}

static void test_redundant(void **state)
{
  (void)state;
  truss s, plain;
  redundant_init(&s);
  four_bar_init(&plain);
  for (int k = 0; k < NUM_SOLVERS; k++) {
    pol_diagnostics d = {.equation = -1};
    pol_assembler *assembler = create(&s.dae, solvers[k]), *other = create(&plain.dae, solvers[k]);
    double q[4] = {0.1, 1.1, 2.3, 2.9}, v[4] = {1.0, 2.0, -3.0, 4.0}, vd[4], lambda[4];
    double plain_q[4] = {0.1, 1.1, 2.3, 2.9}, plain_v[4] = {1.0, 2.0, -3.0, 4.0};
    assert_int_equal(pol_assembler_position(assembler, 0.0, q, &d), POL_OK);
    assert_int_equal(pol_assembler_position(other, 0.0, plain_q, &d), POL_OK);
    assert_true(position_error(&s, 0.0, q) <= 16.0 * DBL_EPSILON);
    assert_int_equal(pol_assembler_velocity(assembler, 0.0, q, v, NULL, NULL, &d), POL_OK);
    assert_int_equal(pol_assembler_velocity(other, 0.0, q, plain_v, NULL, NULL, &d), POL_OK);
    assert_true(velocity_error(&s, 0.0, q, v) <= 1e-14);
    /* the second rod changes nothing */
    for (int j = 0; j < 4; j++) {
      assert_true(fabs(q[j] - plain_q[j]) <= 1e-9);
      assert_true(fabs(v[j] - plain_v[j]) <= 1e-14);
    }

    assert_int_equal(pol_assembler_acceleration(assembler, 0.5, q, v, vd, lambda, &d),
                     POL_SINGULAR);
    assert_int_equal(d.status, POL_SINGULAR);
    assert_true(d.t == 0.5);
    assert_true(d.equation == 4 + 1 || d.equation == 4 + 3);
    assert_string_equal(d.where, d.equation == 5 ? "constraint 2" : "constraint 4");
    assert_true(d.message[0] != '\0' && d.advice[0] != '\0');
    pol_assembler_free(&assembler);
    pol_assembler_free(&other);
  }
}

/* A coordinate without mass and without constraint: named, not divided by. */
static void test_massless(void **state)
{
  (void)state;
  for (int k = 0; k < NUM_SOLVERS; k++) {
    truss s;
    pol_diagnostics d = {.equation = -1};
    double q[4] = {0.6, -0.9, 2.0, 2.0}, v[4] = {0.0}, vd[4], lambda[1];
    pendulum_init(&s);
    s.num_particles = 2;
    s.mass[2] = 1.0;
    s.mass[3] = 0.0;
    truss_finish(&s);
    pol_assembler *assembler = create(&s.dae, solvers[k]);
    assert_int_equal(pol_assembler_position(assembler, 0.0, q, &d), POL_SINGULAR);
    assert_string_equal(d.where, "balance equation 4");
    d.where[0] = '\0';
    assert_int_equal(pol_assembler_acceleration(assembler, 0.0, q, v, vd, lambda, &d),
                     POL_SINGULAR);
    assert_string_equal(d.where, "balance equation 4");
    pol_assembler_free(&assembler);
  }
}

/* A particle that should be 1 away from two points 3 apart. */
static void test_impossible_position(void **state)
{
  (void)state;
  truss s;
  pol_diagnostics d = {.equation = -1};
  double q[2] = {1.2, 0.4};
  pendulum_init(&s);
  s.rods[1] = s.rods[0];
  s.rods[1].anchor[0] = 3.0;
  s.num_rods = 2;
  truss_finish(&s);
  pol_assembler *assembler = create(&s.dae, POL_SOLVER_AUTO);
  assert_int_equal(pol_assembler_position(assembler, 0.25, q, &d), POL_INCONSISTENT);
  assert_int_equal(d.status, POL_INCONSISTENT);
  assert_true(d.t == 0.25);
  assert_in_range(d.equation, 2, 3);
  assert_string_equal(d.where, d.equation == 2 ? "constraint 1" : "constraint 2");
  /* the best that can be done is half way, 0.5 too far from both: (1.5^2 - 1)/2 */
  assert_string_equal(d.message, "no position satisfies constraint 1 and constraint 2 together: "
                                 "0.625 remains in constraint 1; 0.625 in constraint 2");
  assert_int_equal(pol_assembler_position(assembler, 0.25, q, NULL), POL_INCONSISTENT);
  pol_assembler_free(&assembler);
}

/* Two rods on the same points, one of which grows. */
static void test_impossible_velocity(void **state)
{
  (void)state;
  static const double q[2] = {0.6, -0.8};
  truss s;
  pol_diagnostics d = {.equation = -1};
  double v[2] = {0.0, 0.0};
  pendulum_init(&s);
  s.rods[1] = s.rods[0];
  s.rods[1].rate = 0.5;
  s.num_rods = 2;
  truss_finish(&s);
  pol_assembler *assembler = create(&s.dae, POL_SOLVER_AUTO);
  assert_int_equal(pol_assembler_velocity(assembler, 0.0, q, v, NULL, NULL, &d), POL_INCONSISTENT);
  assert_in_range(d.equation, 2, 3);
  assert_string_equal(d.where, d.equation == 2 ? "constraint 1" : "constraint 2");
  assert_string_equal(d.message, "no velocity satisfies constraint 1 and constraint 2 together: "
                                 "0.25 remains in constraint 1; -0.25 in constraint 2");
  pol_assembler_free(&assembler);
}

/* --- accelerations, time, failures of the model ----------------------------------------------- */

static void test_pendulum_acceleration(void **state)
{
  (void)state;
  static const double q[2] = {0.6, -0.8}, v[2] = {1.6, 1.2};
  truss s;
  pendulum_init(&s);
  for (int k = 0; k < NUM_SOLVERS; k++) {
    double vd[2], lambda[1];
    pol_assembler *assembler = create(&s.dae, solvers[k]);
    assert_int_equal(pol_assembler_acceleration(assembler, 0.0, q, v, vd, lambda, NULL), POL_OK);
    /* lambda l^2 = m (v^2 - g y), vd = (0, -g) - lambda q/m */
    assert_true(fabs(lambda[0] - (4.0 + 9.81 * 0.8)) <= 1e-14);
    assert_true(fabs(vd[0] + 0.6 * lambda[0]) <= 1e-14);
    assert_true(fabs(vd[1] + 9.81 - 0.8 * lambda[0]) <= 1e-14);
    pol_assembler_free(&assembler);
  }
}

/* A pendulum whose length grows: L = 1 + t/2 at t = 2. */
static void test_rheonomic(void **state)
{
  (void)state;
  truss s;
  double q[2] = {0.9, -1.2}, v[2] = {1.0, 0.0}, vd[2], lambda[1];
  pendulum_init(&s);
  s.rods[0].rate = 0.5;
  pol_assembler *assembler = create(&s.dae, POL_SOLVER_AUTO);
  assert_int_equal(pol_assembler_position(assembler, 2.0, q, NULL), POL_OK);
  assert_true(fabs(q[0] - 1.2) <= 1e-15 && fabs(q[1] + 1.6) <= 1e-15);

  /* what v has along the rod becomes L' = 1/2, what it has across, 0.8, stays */
  assert_int_equal(pol_assembler_velocity(assembler, 2.0, q, v, NULL, NULL, NULL), POL_OK);
  assert_true(fabs(0.6 * v[0] - 0.8 * v[1] - 0.5) <= 1e-15);
  assert_true(fabs(0.8 * v[0] + 0.6 * v[1] - 0.8) <= 1e-15);

  /* along the rod: r'' - r phi'^2 = -w^2/L, and the rod's force lambda L against gravity */
  assert_int_equal(pol_assembler_acceleration(assembler, 2.0, q, v, vd, lambda, NULL), POL_OK);
  double along = 0.6 * vd[0] - 0.8 * vd[1], across = 0.8 * vd[0] + 0.6 * vd[1];
  assert_true(fabs(along + 0.64 / 2.0) <= 1e-14);
  assert_true(fabs(across + 0.6 * 9.81) <= 1e-14);
  assert_true(fabs(2.0 * lambda[0] - (0.32 + 0.8 * 9.81)) <= 1e-14);
  pol_assembler_free(&assembler);
}

/* Non-holonomic rows bind velocities and accelerations, not positions. */
static void test_nonholonomic(void **state)
{
  (void)state;
  for (int driven = 0; driven < 2; driven++) {
    skate s;
    double q[3] = {0.3, -0.2, 0.7}, v[3] = {1.0, 2.0, 0.4}, vd[3], lambda[2];
    double speed = 1.0 * cos(0.7) + 2.0 * sin(0.7); /* along the blade */
    skate_init(&s, driven);
    double t = driven ? 0.5 : 0.0, heading = driven ? 0.75 : 0.7;
    pol_assembler *assembler = create(&s.dae, POL_SOLVER_AUTO);
    assert_int_equal(pol_assembler_position(assembler, t, q, NULL), POL_OK);
    assert_true(q[0] == 0.3 && q[1] == -0.2 && fabs(q[2] - heading) <= DBL_EPSILON);
    q[2] = 0.7;
    assert_int_equal(pol_assembler_velocity(assembler, t, q, v, NULL, NULL, NULL), POL_OK);
    double turn = driven ? 1.5 : 0.4;
    assert_true(fabs(v[0] - speed * cos(0.7)) <= 1e-14);
    assert_true(fabs(v[1] - speed * sin(0.7)) <= 1e-14);
    assert_true(fabs(v[2] - turn) <= 1e-15);

    /* along: slope cos(phi); across: speed times turn */
    assert_int_equal(pol_assembler_acceleration(assembler, t, q, v, vd, lambda, NULL), POL_OK);
    assert_true(fabs(vd[0] * cos(0.7) + vd[1] * sin(0.7) - 3.0 * cos(0.7)) <= 1e-14);
    assert_true(fabs(-vd[0] * sin(0.7) + vd[1] * cos(0.7) - speed * turn) <= 1e-14);
    assert_true(fabs(lambda[driven] - 2.0 * (speed * turn + 3.0 * sin(0.7))) <= 1e-14);
    pol_assembler_free(&assembler);
  }
}

static void test_unconstrained(void **state)
{
  (void)state;
  truss s;
  double q[2] = {3.0, 4.0}, v[2] = {1.0, 2.0}, vd[2];
  static const unsigned char keep[2] = {1, 0};
  int kept = 0;
  pendulum_init(&s);
  s.num_rods = 0;
  truss_finish(&s);
  for (int k = 0; k < NUM_SOLVERS; k++) {
    pol_assembler *assembler = create(&s.dae, solvers[k]);
    assert_int_equal(pol_assembler_position(assembler, 0.0, q, NULL), POL_OK);
    assert_int_equal(pol_assembler_velocity(assembler, 0.0, q, v, keep, &kept, NULL), POL_OK);
    assert_int_equal(pol_assembler_acceleration(assembler, 0.0, q, v, vd, NULL, NULL), POL_OK);
    assert_int_equal(kept, 1);
    assert_true(q[0] == 3.0 && q[1] == 4.0 && v[0] == 1.0 && v[1] == 2.0);
    assert_true(vd[0] == 0.0 && vd[1] == -9.81);
    pol_assembler_free(&assembler);
  }
}

static void test_model_fails(void **state)
{
  (void)state;
  static const pol_status answers[2] = {POL_RETRY, POL_CALLBACK};
  for (int k = 0; k < 2; k++) {
    truss s;
    pol_diagnostics d = {.equation = 0};
    double q[2] = {0.6, -0.9}, v[2] = {1.0, 2.0}, vd[2], lambda[1];
    pendulum_init(&s);
    s.answer = answers[k];
    pol_assembler *assembler = create(&s.dae, POL_SOLVER_AUTO);
    assert_int_equal(pol_assembler_position(assembler, 0.0, q, &d), answers[k]);
    assert_int_equal(d.status, answers[k]);
    assert_int_equal(d.equation, -1);
    assert_string_equal(d.message, "the model could not be evaluated");
    assert_int_equal(pol_assembler_velocity(assembler, 0.0, q, v, NULL, NULL, &d), answers[k]);
    assert_int_equal(pol_assembler_acceleration(assembler, 0.0, q, v, vd, lambda, &d), answers[k]);
    pol_assembler_free(&assembler);
  }
}

/* A residual that is not a number is never taken for a small one, whichever row it is in. */
static void test_not_finite(void **state)
{
  (void)state;
  for (int row = 0; row < 3; row++) {
    truss s;
    pol_diagnostics d = {.equation = -1};
    double q[4], v[4] = {0.0}, vd[4], lambda[3];
    char name[32];
    four_bar_init(&s);
    memcpy(q, four_bar_q, sizeof q);
    snprintf(name, sizeof name, "constraint %d", row + 1);
    s.rods[row].length = (double)NAN;
    pol_assembler *assembler = create(&s.dae, POL_SOLVER_AUTO);
    assert_int_equal(pol_assembler_position(assembler, 0.0, q, &d), POL_NOT_FINITE);
    assert_string_equal(d.where, name);
    s.rods[row].rate = 1.0;
    assert_int_equal(pol_assembler_velocity(assembler, 0.0, q, v, NULL, NULL, &d), POL_NOT_FINITE);
    assert_string_equal(d.where, name);
    four_bar_init(&s);
    s.gravity = (double)INFINITY;
    assert_int_equal(pol_assembler_acceleration(assembler, 0.0, q, v, vd, lambda, &d),
                     POL_NOT_FINITE);
    pol_assembler_free(&assembler);
  }
}

static void test_bad_dae(void **state)
{
  (void)state;
  truss s;
  pol_assembler *assembler;
  pendulum_init(&s);
  s.dae.evaluate = NULL;
  assert_int_equal(pol_assembler_create(&assembler, &s.dae, POL_SOLVER_AUTO), POL_BAD_ARGUMENT);
  assert_null(assembler);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_workspace_is_of_the_model),
      cmocka_unit_test(test_pendulum_position),
      cmocka_unit_test(test_four_bar_position),
      cmocka_unit_test(test_consistent_position_stays),
      cmocka_unit_test(test_position_units),
      cmocka_unit_test(test_velocity),
      cmocka_unit_test(test_velocity_kept),
      cmocka_unit_test(test_velocity_all_kept),
      cmocka_unit_test(test_velocity_not_kept),
      cmocka_unit_test(test_velocity_units),
      cmocka_unit_test(test_redundant),
      cmocka_unit_test(test_massless),
      cmocka_unit_test(test_impossible_position),
      cmocka_unit_test(test_impossible_velocity),
      cmocka_unit_test(test_pendulum_acceleration),
      cmocka_unit_test(test_rheonomic),
      cmocka_unit_test(test_nonholonomic),
      cmocka_unit_test(test_unconstrained),
      cmocka_unit_test(test_model_fails),
      cmocka_unit_test(test_not_finite),
      cmocka_unit_test(test_bad_dae),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
