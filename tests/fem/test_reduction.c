/* Meshes against closed forms, checks of finite element data, and the reduction of bodies:
 * interfaces, static and dynamic stiffness, integrals. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include <polhode/lie.h>
#include <polhode/reduction.h>

#include "fem/fem.h"
#include "linalg/eigen.h"

static const double pi = 3.14159265358979323846;

/* A straight beam along x, turned by q; bending stiffness as given, stiff in shear if it is
 * slender.
 */
typedef struct bar {
  pol_beam beam;
  double positions[3 * 201], rotations[4 * 201];
} bar;

static bar *make_bar(int elements, double length, double EI, double shear, double inertia,
                     const double q[4])
{
  bar *b = calloc(1, sizeof *b);
  double R[9];
  assert_non_null(b);
  pol_quat_to_matrix(q, R);
  b->beam = (pol_beam){.name = "bar",
                       .num_nodes = elements + 1,
                       .positions = b->positions,
                       .rotations = b->rotations,
                       .mass = 1.0};
  const double K[6] = {0.8 * EI, EI, 2.0 * EI, 1e4 * EI, shear, shear};
  for (int i = 0; i < 6; i++) b->beam.stiffness[7 * i] = K[i];
  for (int i = 0; i < 3; i++) b->beam.inertia[4 * i] = i == 0 ? 2.0 * inertia : inertia;
  for (int k = 0; k <= elements; k++) {
    memcpy(b->rotations + 4 * k, q, 4 * sizeof *q);
    for (int i = 0; i < 3; i++) b->positions[3 * k + i] = R[3 * i] * length * k / elements;
  }
  return b;
}

static pol_reduced_body *reduce(const pol_finite_elements *e, int count, const pol_attachment *a,
                                int modes)
{
  pol_reduction_options options = pol_reduction_options_default();
  pol_errors errors = {0};
  pol_reduced_body *r;
  options.modes = modes;
  const pol_status status = pol_reduce(&r, e, count, a, &options, &errors);
  for (int i = 0; i < errors.count; i++) print_error("%s\n", errors.items[i].rule);
  assert_int_equal(status, POL_OK);
  assert_int_equal(errors.count, 0);
  return r;
}

static void assert_sound(const pol_finite_elements *e)
{
  pol_errors errors = {0};
  const pol_status status = pol_finite_elements_check(e, &errors);
  for (int i = 0; i < errors.count; i++) print_error("%s\n", errors.items[i].rule);
  assert_int_equal(status, POL_OK);
}

/* How far a computed number is from the one that it should be, relative. */
static double off(double is, double should)
{
  return fabs(is / should - 1.0);
}

/* --- meshes ----------------------------------------------------------------------------------- */

/* Free bending frequencies of a slender beam in a direction askew: (b L)^2 = 22.3733, 61.6728,
 * 120.9034 (cos cosh = 1), in both planes. */
static void test_free_beam(void **state)
{
  (void)state;
  static const double roots[] = {4.730040744862704, 7.853204624095838, 10.995607838001671};
  double q[4] = {0.3, -0.7, 0.2, 0.5}, previous[3];
  pol_quat_normalize(q);
  for (int n = 10; n <= 20; n *= 2) {
    bar *b = make_bar(n, 2.0, 3.0, 1e9, 1e-9, q);
    pol_finite_elements *e;
    assert_int_equal(pol_finite_elements_beam(&e, &b->beam), POL_OK);
    assert_sound(e);
    pol_reduced_body *r = reduce(e, 0, NULL, 6);
    assert_int_equal(r->body.num_modes, 6);
    assert_true(off(r->body.mass, 2.0) < 1e-12);
    for (int k = 0; k < 3; k++) {
      const double w = roots[k] * roots[k] / 4.0 * sqrt(3.0);
      double nearest = 1.0;
      for (int i = 0; i < 6; i++) nearest = fmin(nearest, off(2.0 * pi * r->frequencies[i], w));
      assert_true(nearest < (n == 10 ? 2e-3 : 1.5e-4));
      if (n == 20 && k > 0) assert_true(log2(previous[k] / nearest) > 3.8); /* fourth order */
      previous[k] = nearest;
    }
    pol_reduced_body_free(&r);
    pol_finite_elements_free(&e);
    free(b);
  }
}

/* Interior forces of linear displacements vanish, their energy is exact; so is that of bending. */
static void test_patch(void **state)
{
  (void)state;
  const double size[3] = {1.3, 0.7, 0.05};
  const int counts[3] = {4, 3, 1};
  const pol_material steel = {2.1e11, 0.3, 7800.0};
  pol_finite_elements *e;
  uint64_t seed = 3;
  assert_int_equal(pol_finite_elements_block(&e, size, counts, &steel), POL_OK);
  assert_sound(e);
  const int n = poli_fe_size(e);
  double *u = calloc((size_t)n, sizeof *u), *f = calloc((size_t)n, sizeof *f), G[9];
  random_numbers(&seed, G, 9);
  G[2] = G[5] = G[6] = G[7] = 0.0; /* the faces above and below have no load along x and y */
  for (int i = 0; i < n; i++)
    for (int k = 0; k < 3; k++) u[i] += G[3 * (i % 3) + k] * e->positions[i / 3 * 3 + k];
  pol_matrix_multiply(e->stiffness_pattern, e->stiffness, 1.0, u, f);
  double energy = 0.0, exact = 0.0, trace = G[0] + G[4] + G[8];
  const double shear = steel.young / 2.6, lame = steel.young * 0.3 / (1.3 * 0.4);
  for (int i = 0; i < 9; i++) exact += 0.25 * shear * pow(G[i] + G[3 * (i % 3) + i / 3], 2.0);
  exact = (exact + 0.5 * lame * trace * trace) * size[0] * size[1] * size[2];
  for (int i = 0; i < n; i++) energy += 0.5 * u[i] * f[i];
  assert_true(off(energy, exact) < 1e-12);
  for (int i = 0; i < n; i++) { /* the nodes inside in x and y have no load along x and y */
    const double *p = e->positions + i / 3 * 3;
    if (p[0] < 0.1 || p[0] > 1.2 || fabs(p[1]) > 0.3 || i % 3 == 2) continue;
    assert_true(fabs(f[i]) < 1e-9 * energy);
  }
  /* bending to curvature 1 about y with free width: u = -x z, w = (x^2 + nu (z^2 - y^2))/2, v = nu
   * y z; one element over the thickness */
  memset(f, 0, (size_t)n * sizeof *f);
  for (int i = 0; i < n; i += 3) {
    const double *p = e->positions + i;
    u[i] = -p[0] * p[2];
    u[i + 1] = 0.3 * p[1] * p[2];
    u[i + 2] = 0.5 * (p[0] * p[0] - 0.3 * p[1] * p[1]);
  }
  pol_matrix_multiply(e->stiffness_pattern, e->stiffness, 1.0, u, f);
  energy = 0.0;
  for (int i = 0; i < n; i++) energy += 0.5 * u[i] * f[i];
  assert_true(off(energy, 0.5 * steel.young * size[0] * size[1] * pow(size[2], 3.0) / 12.0) <
              1e-10);
  free(u);
  free(f);
  pol_finite_elements_free(&e);
}

/* A free square plate, thickness 1/100, nu = 0.3: w a^2 sqrt(rho h/D) = 13.468, 19.596, 24.270,
 * 34.801, 34.801 by Ritz' method with products of Legendre polynomials: with 8, 12 and 16 of them
 * for each side 13.46824, 13.46820, 13.46820; 34.80135, 34.80090, 34.80089. */
static void test_free_plate(void **state)
{
  (void)state;
  static const double numbers[] = {13.468, 19.596, 24.270, 34.801, 34.801};
  const pol_material steel = {2.1e11, 0.3, 7800.0};
  const double size[3] = {1.0, 1.0, 0.01};
  const double D = 2.1e11 * 1e-6 / (12.0 * 0.91), scale = 2.0 * pi * sqrt(78.0 / D);
  double coarse[5];
  for (int n = 12; n <= 24; n *= 2) {
    const int counts[3] = {n, n, 1};
    pol_finite_elements *e;
    assert_int_equal(pol_finite_elements_block(&e, size, counts, &steel), POL_OK);
    pol_reduced_body *r = reduce(e, 0, NULL, 5);
    for (int k = 0; k < 5; k++) {
      const double error = off(scale * r->frequencies[k], numbers[k]);
      if (n == 12) coarse[k] = error;
      if (n == 24) assert_true(error < 0.01 && error < 0.5 * coarse[k]);
    }
    pol_reduced_body_free(&r);
    pol_finite_elements_free(&e);
  }
}

static void test_bad_meshes(void **state)
{
  (void)state;
  const pol_material steel = {2.1e11, 0.3, 7800.0}, rubber = {1e6, 0.5, 1000.0};
  pol_finite_elements *e;
  const double size[3] = {1.0, 1.0, 1.0}, flat[3] = {1.0, 0.0, 1.0};
  assert_int_equal(pol_finite_elements_block(&e, flat, (const int[]){1, 1, 1}, &steel),
                   POL_BAD_ARGUMENT);
  assert_int_equal(pol_finite_elements_block(&e, size, (const int[]){1, 0, 1}, &steel),
                   POL_BAD_ARGUMENT);
  assert_int_equal(pol_finite_elements_block(&e, size, (const int[]){1, 1, 1}, &rubber),
                   POL_BAD_ARGUMENT);
  assert_int_equal(pol_finite_elements_block(&e, size, (const int[]){1000, 1000, 1000}, &steel),
                   POL_BAD_ARGUMENT);
  assert_null(e);
}

/* --- checks ----------------------------------------------------------------------------------- */

static pol_finite_elements *small_block(void)
{
  const pol_material steel = {2.1e11, 0.3, 7800.0};
  const double size[3] = {1.0, 0.2, 0.1};
  pol_finite_elements *e;
  assert_int_equal(pol_finite_elements_block(&e, size, (const int[]){3, 1, 1}, &steel), POL_OK);
  return e;
}

/* Expects one error with these words. */
static void assert_refused(pol_finite_elements *e, const char *path, const char *words)
{
  pol_errors errors = {0};
  assert_int_equal(pol_finite_elements_check(e, &errors), POL_BAD_ARGUMENT);
  assert_int_equal(errors.count, 1);
  assert_string_equal(errors.items[0].path, path);
  if (!strstr(errors.items[0].rule, words)) fail_msg("%s", errors.items[0].rule);
  pol_errors_clear(&errors);
  pol_finite_elements_free(&e);
}

/* Elements have no couplings of a section, no mass beside the line, and finite entries. */
static void test_beams_without_couplings(void **state)
{
  (void)state;
  const double q[4] = {1.0};
  bar *b = make_bar(2, 1.0, 3.0, 1e9, 1e-9, q);
  double *const refused[] = {&b->beam.stiffness[1], &b->beam.stiffness[3], &b->beam.stiffness[34],
                             &b->beam.inertia[5],   &b->beam.center[0],    &b->beam.center[1]};
  pol_finite_elements *e;
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    *refused[i] = 1e-3;
    assert_int_equal(pol_finite_elements_beam(&e, &b->beam), POL_BAD_ARGUMENT);
    assert_null(e);
    *refused[i] = 0.0;
  }
  assert_int_equal(pol_finite_elements_beam(&e, &b->beam), POL_OK);
  pol_finite_elements_free(&e);
  for (int i = 0; i < 9; i++) b->positions[i] *= 1e-300;
  assert_int_equal(pol_finite_elements_beam(&e, &b->beam), POL_BAD_ARGUMENT);
  assert_null(e);
  free(b);
  const pol_material steel = {2.1e11, 0.3, 7800.0};
  assert_int_equal(pol_finite_elements_block(&e, (const double[]){1e-300, 1e300, 1.0},
                                             (const int[]){1, 1, 1}, &steel),
                   POL_BAD_ARGUMENT);
  assert_null(e);
}

static void test_checks(void **state)
{
  (void)state;
  pol_finite_elements *e = small_block();
  e->positions[4] = NAN;
  assert_refused(e, "nodes", "finite");

  e = small_block();
  e->stiffness[7] = INFINITY;
  assert_refused(e, "stiffness_matrix", "finite");

  e = small_block();
  e->num_nodes--;
  pol_errors errors = {0};
  assert_int_equal(pol_finite_elements_check(e, &errors), POL_BAD_ARGUMENT);
  assert_int_equal(errors.count, 2); /* both matrices */
  assert_non_null(strstr(errors.items[0].rule, "must have 45 rows and columns"));
  pol_errors_clear(&errors);
  pol_finite_elements_free(&e);

  e = small_block();
  e->mass[pol_pattern_address(e->mass_pattern, 3, 0)] *= 1.01;
  assert_refused(e, "mass_matrix", "entries (4, 1) and (1, 4) differ");

  e = small_block();
  e->mass[pol_pattern_address(e->mass_pattern, 4, 4)] *= -1.0;
  assert_refused(e, "mass_matrix", "the mass of node 2, uy is -");

  e = small_block();
  e->mass[pol_pattern_address(e->mass_pattern, 3, 0)] *= 10.0;
  e->mass[pol_pattern_address(e->mass_pattern, 0, 3)] *= 10.0;
  assert_refused(e, "mass_matrix", "the entry of node 1, ux and node 2, ux");

  e = small_block();
  e->mass[pol_pattern_address(e->mass_pattern, 4, 4)] *= 1.5;
  assert_refused(e, "mass_matrix", "the same in x, y and z");

  e = small_block(); /* a support */
  e->stiffness[pol_pattern_address(e->stiffness_pattern, 5, 5)] *= 2.0;
  assert_refused(e, "stiffness_matrix", "resists a translation along z at node 2, uz");

  e = small_block(); /* nodes in another unit do not matter to 3 freedoms, an order of theirs does
                      */
  const double other = e->positions[0];
  e->positions[0] = e->positions[3];
  e->positions[3] = other;
  assert_refused(e, "stiffness_matrix", "resists a rotation about y");

  /* rotations have another unit than displacements */
  bar *b = make_bar(4, 1.0, 1.0, 1e3, 1e-3, (const double[]){1.0, 0.0, 0.0, 0.0});
  assert_int_equal(pol_finite_elements_beam(&e, &b->beam), POL_OK);
  assert_sound(e);
  for (int i = 0; i < 3 * e->num_nodes; i++) e->positions[i] *= 1000.0;
  assert_refused(e, "stiffness_matrix", "in another unit");
  free(b);
}

/* --- interfaces ------------------------------------------------------------------------------- */

/* Angular frequencies of a reduced body whose interface 0 is held, ascending: its rigid motion is
 * -C q. */
static void held_frequencies(const pol_reduced_body *r, double *w)
{
  const pol_flexible_body *b = &r->body;
  const int m = b->num_modes;
  const double *S = b->second, *p = b->interfaces[0].position;
  const double trace = S[0] + S[4] + S[8];
  double *K = calloc((size_t)(m * m), sizeof *K), *M = calloc((size_t)(m * m), sizeof *M);
  double(*C)[6] = calloc((size_t)m, sizeof *C);
  for (int k = 0; k < m; k++) {
    const double *u = b->interfaces[0].translation + 3 * k,
                 *turn = b->interfaces[0].rotation + 3 * k;
    for (int i = 0; i < 3; i++) { /* v = u - turn x p, omega = turn */
      const int j = (i + 1) % 3, l = (i + 2) % 3;
      C[k][i] = u[i] - (turn[j] * p[l] - turn[l] * p[j]);
      C[k][3 + i] = turn[i];
    }
  }
  for (int k = 0; k < m; k++)
    for (int l = 0; l < m; l++) {
      K[k + m * l] = b->stiffness[k * m + l];
      M[k + m * l] = b->inertia[k * m + l];
      for (int i = 0; i < 3; i++) {
        M[k + m * l] += b->mass * C[k][i] * C[l][i];
        for (int j = 0; j < 3; j++)
          M[k + m * l] += C[k][3 + i] * ((i == j ? trace : 0.0) - S[3 * i + j]) * C[l][3 + j];
      }
    }
  assert_int_equal(poli_full_symmetric_eigen(m, M, K, w), POL_OK); /* 1/w^2, the largest last */
  for (int k = 0; k < m / 2; k++) {
    const double swap = w[k];
    w[k] = w[m - 1 - k];
    w[m - 1 - k] = swap;
  }
  for (int k = 0; k < m; k++) w[k] = 1.0 / sqrt(w[k]);
  free(K);
  free(M);
  free(C);
}

/* A cantilever as a body with two interfaces: (b L)^2 = 3.51602, 22.03449 in both planes, and the
 * deflection under a force at the tip, F L^3/(3 E I) + F L/(k G A), which needs no normal mode. */
static void test_cantilever(void **state)
{
  (void)state;
  double q[4] = {0.3, -0.7, 0.2, 0.5}, w[60];
  pol_quat_normalize(q);
  bar *b = make_bar(20, 2.0, 3.0, 1e9, 1e-9, q);
  pol_finite_elements *e;
  assert_int_equal(pol_finite_elements_beam(&e, &b->beam), POL_OK);
  const int first = 0, last = 20;
  const pol_attachment ends[] = {{"root", 1, &first, NULL}, {"tip", 1, &last, NULL}};
  pol_reduced_body *r = reduce(e, 2, ends, 40);
  assert_int_equal(r->body.num_modes, 46);
  held_frequencies(r, w);
  const double unit = sqrt(3.0) / 4.0;
  assert_true(off(w[0], 3.5160152685 * unit) < 1e-6);
  assert_true(off(w[1], 3.5160152685 * unit * sqrt(2.0)) < 1e-6);
  assert_true(off(w[2], 22.0344915647 * unit) < 1e-4);
  assert_true(off(w[3], 22.0344915647 * unit * sqrt(2.0)) < 1e-4);
  pol_reduced_body_free(&r);
  pol_finite_elements_free(&e);
  free(b);

  b = make_bar(5, 2.0, 3.0, 40.0, 1e-3, q);
  assert_int_equal(pol_finite_elements_beam(&e, &b->beam), POL_OK);
  const int end = 5;
  const pol_attachment both[] = {{"root", 1, &first, NULL}, {"tip", 1, &end, NULL}};
  r = reduce(e, 2, both, 0);
  const pol_flexible_body *body = &r->body;
  const int m = body->num_modes;
  assert_int_equal(m, 6);
  double R[9], deflection = 0.0;
  pol_quat_to_matrix(q, R);
  for (int k = 0; k < m; k++) { /* displacement of the tip along z of the section, root held */
    const pol_interface *root = &body->interfaces[0], *tip = &body->interfaces[1];
    double arm[3], moved[3], along = 0.0;
    for (int i = 0; i < 3; i++) arm[i] = tip->position[i] - root->position[i];
    for (int i = 0; i < 3; i++) {
      const int j = (i + 1) % 3, l = (i + 2) % 3;
      const double *turn = root->rotation + 3 * k;
      moved[i] = tip->translation[3 * k + i] - root->translation[3 * k + i] -
                 (turn[j] * arm[l] - turn[l] * arm[j]);
      along += moved[i] * R[3 * i + 2];
    }
    deflection += along * along / body->stiffness[k * m + k];
  }
  assert_true(off(deflection, 8.0 / 9.0 + 2.0 / 40.0) < 1e-9);
  pol_reduced_body_free(&r);
  pol_finite_elements_free(&e);
  free(b);
}

/* Faces of a block as interfaces, by Lanczos' method: the frequencies of the held block are those
 * of a cantilever beam with shear, within the difference of the theories; more modes come near to
 * the full matrices, from above. */
static void test_faces(void **state)
{
  (void)state;
  const pol_material steel = {2.1e11, 0.3, 7800.0};
  const double size[3] = {1.0, 0.06, 0.05};
  const int counts[3] = {24, 2, 2};
  pol_finite_elements *e;
  int faces[2][9], found[2] = {0};
  double few[64], many[64];
  assert_int_equal(pol_finite_elements_block(&e, size, counts, &steel), POL_OK);
  for (int i = 0; i < e->num_nodes; i++)
    for (int k = 0; k < 2; k++)
      if (fabs(e->positions[3 * i] - k) < 1e-9) faces[k][found[k]++] = i;
  assert_int_equal(found[0], 9);
  const pol_attachment ends[] = {{"left", 9, faces[0], NULL}, {"right", 9, faces[1], NULL}};
  pol_reduced_body *r = reduce(e, 2, ends, 10);
  assert_int_equal(r->body.num_modes, 16);
  assert_true(r->anisotropy == 0.0);
  held_frequencies(r, few);
  const double wave = 3.5160152685 * sqrt(2.1e11 / (7800.0 * 12.0));
  assert_true(off(few[0], 0.05 * wave) < 0.01);
  assert_true(off(few[1], 0.06 * wave) < 0.01);
  pol_reduced_body_free(&r);
  r = reduce(e, 2, ends, 40);
  held_frequencies(r, many);
  for (int k = 0; k < 8; k++) {
    assert_true(many[k] <= few[k] * (1.0 + 1e-9));
    assert_true(off(many[k], few[k]) < (k < 2 ? 1e-4 : 5e-3));
  }
  pol_reduced_body_free(&r);

  /* all normal modes up to a frequency are those of a count */
  pol_reduction_options options = {.frequency = 3000.0, .damping = 0.02, .rayleigh = {0.3, 1e-5}};
  pol_errors errors = {0};
  assert_int_equal(pol_reduce(&r, e, 2, ends, &options, &errors), POL_OK);
  pol_reduced_body *same = reduce(e, 2, ends, r->body.num_modes - 6);
  pol_reduced_body *more = reduce(e, 2, ends, r->body.num_modes - 5);
  assert_true(r->body.num_modes > 6);
  for (int k = 0; k < r->body.num_modes; k++) {
    const double speed = 2.0 * pi * r->frequencies[k];
    assert_true(off(r->frequencies[k], same->frequencies[k]) < 1e-8);
    assert_true(off(r->body.damping[k * (r->body.num_modes + 1)],
                    r->body.inertia[k * (r->body.num_modes + 1)] *
                        (0.04 * speed + 0.3 + 1e-5 * speed * speed)) < 1e-12);
  }
  assert_int_equal(more->body.num_modes, r->body.num_modes + 1);
  pol_reduced_body_free(&same);
  pol_reduced_body_free(&more);
  pol_reduced_body_free(&r);
  pol_finite_elements_free(&e);
}

/* The same body twice, 5 m apart. */
static pol_finite_elements *two_of(const pol_finite_elements *e)
{
  pol_finite_elements *both = calloc(1, sizeof *both);
  const int n = poli_fe_size(e);
  assert_non_null(both);
  both->num_nodes = 2 * e->num_nodes;
  both->freedoms = e->freedoms;
  both->positions = malloc(6 * (size_t)e->num_nodes * sizeof(double));
  for (int i = 0; i < 6 * e->num_nodes; i++)
    both->positions[i] = e->positions[i % (3 * e->num_nodes)] + (i < 3 * e->num_nodes ? 0.0 : 5.0);
  for (int m = 0; m < 2; m++) {
    const pol_pattern *pattern = m ? e->stiffness_pattern : e->mass_pattern;
    const double *values = m ? e->stiffness : e->mass;
    const size_t count = (size_t)pol_pattern_nonzeros(pattern);
    int *row = malloc(2 * count * sizeof *row), *col = malloc(2 * count * sizeof *col);
    double *value = malloc(2 * count * sizeof *value);
    size_t next = 0;
    for (int part = 1; part >= 0; part--)
      for (int j = 0; j < n; j++)
        for (int k = pattern->start[j]; k < pattern->start[j + 1]; k++, next++) {
          row[next] = pattern->row[k] + part * n;
          col[next] = j + part * n;
          value[next] = values[k];
        }
    assert_int_equal(pol_matrix_from_entries(m ? &both->stiffness_pattern : &both->mass_pattern,
                                             m ? &both->stiffness : &both->mass, 2 * n, 2 * n, next,
                                             row, col, value),
                     POL_OK);
    free(row);
    free(col);
    free(value);
  }
  return both;
}

static void test_bad_interfaces(void **state)
{
  (void)state;
  pol_finite_elements *e = small_block();
  const int line[] = {0, 1, 2}, face[] = {0, 4, 8, 12}, shared[] = {2, 13, 9}, twice[] = {1, 1, 5};
  const pol_attachment bad[] = {{"line", 3, line, NULL},     {"face", 4, face, NULL},
                                {"shared", 3, shared, NULL}, {"none", 0, NULL, NULL},
                                {"twice", 3, twice, NULL},   {"out", 1, (const int[]){99}, NULL}};
  static const char *const words[] = {"not on one line",      "of another interface",
                                      "of another interface", "at least one node",
                                      "of another interface", "nodes of the mesh"};
  pol_errors errors = {0};
  pol_reduced_body *r;
  assert_int_equal(pol_reduce(&r, e, 6, bad, NULL, &errors), POL_BAD_ARGUMENT);
  assert_null(r);
  assert_int_equal(errors.count, 6);
  for (int i = 0; i < 6; i++)
    if (!strstr(errors.items[i].rule, words[i])) fail_msg("%d: %s", i, errors.items[i].rule);
  assert_string_equal(errors.items[3].path, "interfaces[3].nodes");
  pol_errors_clear(&errors);

  /* no modes at all, too low a frequency, no nodes for them; two parts that nothing connects */
  const pol_reduction_options none = {.modes = 0};
  assert_int_equal(pol_reduce(&r, e, 1, &bad[1], &none, &errors), POL_BAD_ARGUMENT);
  assert_string_equal(errors.items[0].path, "modes");
  pol_errors_clear(&errors);
  const pol_reduction_options low = {.modes = 10, .frequency = 1e-6};
  assert_int_equal(pol_reduce(&r, e, 1, &bad[1], &low, &errors), POL_BAD_ARGUMENT);
  assert_string_equal(errors.items[0].path, "frequency");
  pol_errors_clear(&errors);
  int *every = malloc((size_t)e->num_nodes * sizeof *every);
  for (int i = 0; i < e->num_nodes; i++) every[i] = i;
  const pol_attachment all = {.name = "all", .num_nodes = e->num_nodes, .nodes = every};
  assert_int_equal(pol_reduce(&r, e, 1, &all, NULL, &errors), POL_BAD_ARGUMENT);
  assert_string_equal(errors.items[0].path, "interfaces");
  pol_errors_clear(&errors);
  free(every);
  pol_finite_elements *pair = two_of(e);
  for (int held = 0; held < 2; held++) {
    assert_int_equal(pol_reduce(&r, pair, held, &bad[1], NULL, &errors), POL_BAD_ARGUMENT);
    assert_string_equal(errors.items[0].path, "stiffness_matrix");
    assert_non_null(strstr(errors.items[0].rule, "several parts"));
    pol_errors_clear(&errors);
  }
  pol_finite_elements_free(&pair);
  pol_finite_elements_free(&e);
}

/* --- integrals -------------------------------------------------------------------------------- */

/* Moments of a box, no momentum of the modes, their mass as the trace; the centre of the box. */
static void test_integrals(void **state)
{
  (void)state;
  const pol_material steel = {2.1e11, 0.3, 7800.0};
  const double size[3] = {0.4, 0.1, 0.2}, mass = 7800.0 * 0.4 * 0.1 * 0.2;
  pol_finite_elements *e;
  assert_int_equal(pol_finite_elements_block(&e, size, (const int[]){4, 2, 3}, &steel), POL_OK);
  pol_reduced_body *r = reduce(e, 0, NULL, 8);
  const pol_flexible_body *b = &r->body;
  const int fields = b->num_modes + 1;
  assert_true(off(b->mass, mass) < 1e-12);
  assert_near(r->center, ((const double[]){0.2, 0.0, 0.0}), 3, 1e-14);
  for (int i = 0; i < 9; i++)
    assert_true(fabs(b->second[i] - (i % 4 == 0 ? mass * size[i / 4] * size[i / 4] / 12.0 : 0.0)) <
                1e-12 * mass);
  for (int a = 1; a < fields; a++)
    for (int c = 1; c < fields; c++) {
      const double *S = b->second + 9 * (a * fields + c);
      const double m = a == c ? b->inertia[(a - 1) * fields] : 0.0;
      assert_true(fabs(S[0] + S[4] + S[8] - m) < 1e-11 * mass);
    }
  pol_reduced_body_free(&r);
  pol_finite_elements_free(&e);
}

/* Of a beam the integrals of products are approximate, of second order: those of bending and
 * stretching against the closed form of the free modes, and moments of inertia are exact. */
static void test_integrals_of_beams(void **state)
{
  (void)state;
  double errors[2];
  for (int n = 0; n < 2; n++) {
    bar *b = make_bar(n ? 40 : 20, 2.0, 3.0, 1e9, 1e-4, (const double[]){1.0, 0.0, 0.0, 0.0});
    pol_finite_elements *e;
    assert_int_equal(pol_finite_elements_beam(&e, &b->beam), POL_OK);
    pol_reduced_body *r = reduce(e, 0, NULL, 4);
    const int fields = r->body.num_modes + 1;
    const double *S = r->body.second;
    assert_true(r->anisotropy > 0.1);
    /* J = diag(2 i L, m L^2/12 + i L, same): S = tr(J)/2 - J */
    const double J[3] = {4e-4, 2.0 / 3.0 + 2e-4, 2.0 / 3.0 + 2e-4};
    for (int i = 0; i < 3; i++)
      assert_true(fabs(S[4 * i] - (0.5 * (J[0] + J[1] + J[2]) - J[i])) < 1e-9);
    /* the first mode bends along z: its mass, less that of the rotations, is all in zz */
    const double *T = S + 9 * (fields + 1);
    assert_true(fabs(T[0]) + fabs(T[4]) < 1e-9);
    errors[n] = fabs(T[8] / r->body.inertia[0] - 1.0);
    pol_reduced_body_free(&r);
    pol_finite_elements_free(&e);
    free(b);
  }
  print_message("bending modes, mass of mode 1: error %.2e with 20 elements, %.2e with 40\n",
                errors[0], errors[1]);
  assert_true(errors[1] < 2e-3);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_free_beam),
                                     cmocka_unit_test(test_patch),
                                     cmocka_unit_test(test_free_plate),
                                     cmocka_unit_test(test_bad_meshes),
                                     cmocka_unit_test(test_checks),
                                     cmocka_unit_test(test_beams_without_couplings),
                                     cmocka_unit_test(test_cantilever),
                                     cmocka_unit_test(test_faces),
                                     cmocka_unit_test(test_bad_interfaces),
                                     cmocka_unit_test(test_integrals),
                                     cmocka_unit_test(test_integrals_of_beams)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
