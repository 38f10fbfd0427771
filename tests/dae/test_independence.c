/* Dependent constraints by the sparse method, against a rank-revealing QR decomposition of the full
 * matrix in the same metric, and against counts that are known. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/formulation.h>
#include <polhode/mechanism.h>

#include "check.h"
#include "dae/independence.h"
#include "linalg/rank.h"

typedef struct model {
  pol_mechanism *mechanism;
  pol_formulation *formulation;
  const pol_dae *dae;
  double *q, *v;
  unsigned char *keep;
  int m;
} model;

static int add_body(pol_mechanism *mechanism, double x, double y, double z, double inertia)
{
  char name[24];
  int index;
  pol_body body = pol_body_default();
  snprintf(name, sizeof name, "b%d", pol_mechanism_num_bodies(mechanism));
  body.name = name;
  body.position[0] = x;
  body.position[1] = y;
  body.position[2] = z;
  for (int i = 0; i < 3; i++) body.inertia[4 * i] = inertia * (1.0 + 0.2 * i);
  assert_int_equal(pol_mechanism_add_body(mechanism, &body, &index), POL_OK);
  return index;
}

static void add_joint(pol_mechanism *mechanism, pol_joint_type type, int a, int b, double x,
                      double y, double z, const double *axis)
{
  char name[24];
  const double point[3] = {x, y, z};
  pol_joint joint = pol_joint_default();
  snprintf(name, sizeof name, "j%d", pol_mechanism_num_joints(mechanism));
  joint.name = name;
  joint.type = type;
  assert_int_equal(pol_mechanism_add_joint_at(mechanism, &joint, a, b, point, axis, NULL), POL_OK);
}

static void finish(model *m, pol_mechanism *mechanism, pol_formulation_kind kind)
{
  m->mechanism = mechanism;
  assert_int_equal(pol_formulation_create(&m->formulation, mechanism, kind), POL_OK);
  m->dae = pol_formulation_dae(m->formulation);
  m->m = pol_dae_num_constraints(m->dae);
  m->q = calloc((size_t)m->dae->group.nq + 1, sizeof *m->q);
  m->v = calloc((size_t)m->dae->group.nv + 1, sizeof *m->v);
  m->keep = calloc((size_t)m->dae->group.nv + 1, 1);
  pol_formulation_initial(m->formulation, m->q, m->v, m->keep);
}

static void clear(model *m)
{
  free(m->q);
  free(m->v);
  free(m->keep);
  pol_formulation_free(&m->formulation);
  pol_mechanism_free(&m->mechanism);
}

/* So many coupled four-bars with hinges, rockers at an angle from the vertical. */
static pol_mechanism *four_bars(int count, double angle)
{
  static const double y[3] = {0.0, 1.0, 0.0};
  const double sx = sin(angle), cz = cos(angle);
  pol_mechanism *mechanism;
  assert_int_equal(pol_mechanism_create(&mechanism), POL_OK);
  for (int i = 0; i <= count; i++) add_body(mechanism, i + 0.5 * sx, 0.0, 0.5 * cz, 0.08);
  for (int i = 0; i < count; i++) add_body(mechanism, i + 0.5 + sx, 0.0, cz, 0.08);
  for (int i = 0; i <= count; i++)
    add_joint(mechanism, POL_REVOLUTE, POL_GROUND, i, i, 0.0, 0.0, y);
  for (int i = 0; i < count; i++) {
    add_joint(mechanism, POL_REVOLUTE, i, count + 1 + i, i + sx, 0.0, cz, y);
    add_joint(mechanism, POL_REVOLUTE, i + 1, count + 1 + i, i + 1 + sx, 0.0, cz, y);
  }
  return mechanism;
}

static pol_mechanism *chain(int count)
{
  pol_mechanism *mechanism;
  assert_int_equal(pol_mechanism_create(&mechanism), POL_OK);
  for (int i = 0; i < count; i++) {
    add_body(mechanism, i + 0.5, 0.0, 0.0, 0.1);
    add_joint(mechanism, POL_SPHERICAL, i - 1 < 0 ? POL_GROUND : i - 1, i, i, 0.0, 0.0, NULL);
  }
  return mechanism;
}

/* count x count plates, neighbours with ball joints. */
static pol_mechanism *net(int count)
{
  pol_mechanism *mechanism;
  assert_int_equal(pol_mechanism_create(&mechanism), POL_OK);
  for (int i = 0; i < count * count; i++) add_body(mechanism, i / count, i % count, 0.0, 0.1);
  for (int i = 0; i < count; i++)
    for (int k = 0; k < count; k++) {
      const int at = i * count + k;
      if (i + 1 < count) add_joint(mechanism, POL_SPHERICAL, at, at + count, i + 0.5, k, 0.0, NULL);
      if (k + 1 < count) add_joint(mechanism, POL_SPHERICAL, at, at + 1, i, k + 0.5, 0.0, NULL);
    }
  return mechanism;
}

/* Bodies at random places, a random tree of joints and some more that close loops; in a plane, with
 * parallel hinges, or in space. */
static pol_mechanism *random_loops(uint64_t *seed, int bodies, int more, int planar)
{
  static const pol_joint_type types[] = {POL_SPHERICAL, POL_REVOLUTE, POL_UNIVERSAL,
                                         POL_CYLINDRICAL, POL_PRISMATIC};
  static const double y[3] = {0.0, 1.0, 0.0};
  pol_mechanism *mechanism;
  assert_int_equal(pol_mechanism_create(&mechanism), POL_OK);
  for (int i = 0; i < bodies; i++)
    add_body(mechanism, 3.0 * random_number(seed), planar ? 0.0 : 3.0 * random_number(seed),
             3.0 * random_number(seed), 0.05 + 0.5 * fabs(random_number(seed)));
  for (int i = 0; i < bodies + more; i++) {
    const int b = i < bodies ? i : (int)(fabs(random_number(seed)) * (bodies - 1));
    int a = (int)(fabs(random_number(seed)) * (i < bodies ? i : bodies - 1)) - 1;
    if (a == b) a--;
    double axis[6] = {random_number(seed), random_number(seed), random_number(seed) + 2.0};
    const pol_joint_type type =
        planar ? POL_REVOLUTE : types[(int)(fabs(random_number(seed)) * 4.99)];
    axis[3] = axis[2];
    axis[5] = -axis[0];
    add_joint(mechanism, type, a, b, 3.0 * random_number(seed),
              planar ? 0.0 : 3.0 * random_number(seed), 3.0 * random_number(seed),
              planar                  ? y
              : type == POL_SPHERICAL ? NULL
                                      : axis);
  }
  return mechanism;
}

/* The full matrix L^-1 B^T of a model in so3xr3 with diagonal inertia, without some constraints;
 * returns the number of its columns. */
static int full_matrix(const model *m, const unsigned char *dropped, double **A)
{
  const int nv = m->dae->group.nv;
  const pol_pattern *B = m->dae->constraint, *W = m->dae->coupling;
  double *jacobian = calloc((size_t)pol_pattern_nonzeros(B) + 1, sizeof *jacobian);
  double *mass = calloc((size_t)pol_pattern_nonzeros(W) + 1, sizeof *mass);
  double *scratch = calloc(m->dae->scratch_size + 1, sizeof *scratch);
  int *column = calloc((size_t)m->m + 1, sizeof *column), cols = 0;
  const pol_point at = {.q = m->q, .v = m->v};
  const pol_terms out = {.mass = mass, .jacobian = jacobian};
  assert_int_equal(poli_dae_evaluate(m->dae, &at, POL_MASS | POL_JACOBIAN, &out, scratch), POL_OK);
  for (int i = 0; i < m->m; i++) column[i] = dropped && dropped[i] ? -1 : cols++;
  *A = calloc((size_t)nv * (size_t)cols + 1, sizeof **A);
  for (int j = 0; j < nv; j++)
    for (int k = B->start[j]; k < B->start[j + 1]; k++)
      if (column[B->row[k]] >= 0)
        (*A)[(size_t)column[B->row[k]] * (size_t)nv + (size_t)j] =
            jacobian[k] / sqrt(mass[pol_pattern_address(W, j, j)]);
  free(jacobian);
  free(mass);
  free(scratch);
  free(column);
  return cols;
}

static int count_of(const unsigned char *flags, int n)
{
  int count = 0;
  for (int i = 0; i < n; i++) count += flags[i];
  return count;
}

/* Finds what depends on others, with full matrices for components of at most so many rows. */
static unsigned char *find(const model *m, int most_dense)
{
  poli_independence *independence;
  unsigned char *dependent = calloc((size_t)m->m + 1, 1);
  const pol_point at = {.q = m->q, .v = m->v};
  assert_int_equal(poli_independence_create(&independence, m->dae), POL_OK);
  poli_independence_set_dense(independence, most_dense);
  assert_int_equal(poli_independence_find(independence, &at, NULL, -1, dependent), POL_OK);
  poli_independence_free(&independence);
  return dependent;
}

/* As many are dropped as the decomposition of the full matrix drops, and what is left is
 * independent, not less than `distance`. */
static void compare_with_full_matrix(const model *m, double distance)
{
  const int nv = m->dae->group.nv;
  double *A;
  poli_rank *rank;
  unsigned char *reference = calloc((size_t)m->m + 1, 1);
  int cols = full_matrix(m, NULL, &A), last;
  assert_int_equal(poli_rank_create(&rank, nv, cols), POL_OK);
  assert_int_equal(poli_rank_dependent(rank, A, NULL, -1, reference), POL_OK);
  poli_rank_free(&rank);
  free(A);
  for (int dense = 0; dense <= 200; dense += 200) {
    unsigned char *dependent = find(m, dense);
    assert_int_equal(count_of(dependent, m->m), count_of(reference, m->m));
    cols = full_matrix(m, dependent, &A);
    assert_int_equal(poli_rank_create(&rank, nv, cols), POL_OK);
    const double left = cols > 0 ? poli_rank_measure(rank, A, NULL, &last) : 1.0;
    if (left < distance) print_message("dense %d: %g of %d\n", dense, left, m->m);
    assert_true(left >= distance);
    poli_rank_free(&rank);
    free(A);
    free(dependent);
  }
  free(reference);
}

/* The distance of each kept constraint from the others, by decompositions of full matrices with
 * this one last; the smallest. */
static double smallest_distance(const model *m, const unsigned char *dropped)
{
  const int nv = m->dae->group.nv;
  double *A, least = 1.0;
  const int cols = full_matrix(m, dropped, &A);
  double *copy = malloc((size_t)nv * (size_t)cols * sizeof *copy);
  unsigned char *first = malloc((size_t)cols);
  poli_rank *rank;
  int last;
  assert_int_equal(poli_rank_create(&rank, nv, cols), POL_OK);
  for (int c = 0; c < cols; c++) {
    /* the others come first; at length one before their part is subtracted */
    double *a = A + (size_t)c * (size_t)nv, square = 0.0, left = 0.0;
    memcpy(copy, A, (size_t)nv * (size_t)cols * sizeof *copy);
    memset(first, 1, (size_t)cols);
    first[c] = 0;
    for (int i = 0; i < nv; i++) square += a[i] * a[i];
    poli_rank_measure(rank, copy, first, &last);
    /* what was left has been scaled: its product with the column itself is the distance */
    for (int i = 0; i < nv; i++) left += copy[(size_t)c * (size_t)nv + (size_t)i] * a[i];
    least = fmin(least, fabs(left) / sqrt(square));
  }
  poli_rank_free(&rank);
  free(A);
  free(copy);
  free(first);
  return least;
}

/* The smallest distance of a constraint from all others, against full matrices. */
static void distances_agree_with_full_matrices(void **state)
{
  uint64_t seed = 5;
  (void)state;
  for (int k = 0; k < 40; k++) {
    model m;
    poli_independence *independence;
    if (k < 30)
      finish(&m, random_loops(&seed, 3 + k % 6, 1 + k % 3, k % 2), POL_SO3XR3);
    else
      finish(&m, k % 2 ? four_bars(k - 28, 0.12 * k - 3.0) : net(2 + k % 3), POL_SO3XR3);
    unsigned char *dropped = find(&m, 200);
    const pol_point at = {.q = m.q, .v = m.v};
    assert_int_equal(poli_independence_create(&independence, m.dae), POL_OK);
    assert_int_equal(poli_independence_analyse(independence, &at), POL_OK);
    const int components = poli_independence_num_components(independence);
    double *distance = calloc((size_t)components + 1, sizeof *distance), least = 1.0;
    int *constraint = calloc((size_t)components + 1, sizeof *constraint), rows = 0;
    assert_int_equal(
        poli_independence_measure(independence, &at, dropped, NULL, distance, constraint, NULL),
        POL_OK);
    for (int c = 0; c < components; c++) least = fmin(least, distance[c]);
    /* rows that were set aside can have smaller distances; they cannot be dependent */
    for (int b = 0; b < pol_mechanism_num_bodies(m.mechanism); b++)
      rows += poli_independence_component(independence, b) < 0;
    const double expected = smallest_distance(&m, dropped);
    if (rows == 0) assert_near(&least, &expected, 1, 1e-6 * expected + 1e-9 / expected);
    assert_true(rows == 0 || least >= expected * (1.0 - 1e-6));
    free(distance);
    free(constraint);
    free(dropped);
    poli_independence_free(&independence);
    clear(&m);
  }
}

static void random_mechanisms_agree_with_full_matrices(void **state)
{
  uint64_t seed = 11;
  (void)state;
  for (int k = 0; k < 120; k++) {
    model m;
    const int bodies = 2 + k % 17, more = k % 5;
    finish(&m, random_loops(&seed, bodies, more, k % 2), POL_SO3XR3);
    compare_with_full_matrix(&m, 1e-7);
    clear(&m);
  }
}

static void four_bars_and_nets_have_the_known_rank(void **state)
{
  static const double angles[] = {0.0, 0.7, 1.4, 1.57};
  model m;
  (void)state;
  for (int k = 0; k < 4; k++)
    for (int count = 1; count <= 41; count += 20) {
      finish(&m, four_bars(count, angles[k]), POL_SO3XR3);
      unsigned char *dependent = find(&m, 0);
      assert_int_equal(count_of(dependent, m.m), 3 * count);
      free(dependent);
      if (count < 30) compare_with_full_matrix(&m, 1e-6);
      clear(&m);
    }
  for (int count = 2; count <= 6; count++) {
    finish(&m, net(count), POL_SO3XR3);
    compare_with_full_matrix(&m, 1e-4);
    clear(&m);
  }
}

/* The same constraints in all formulations. */
static void all_formulations_agree(void **state)
{
  static const pol_formulation_kind kinds[] = {
      POL_SO3XR3_SPATIAL, POL_SE3_BODY, POL_ROTATION_VECTOR, POL_EULER_PARAMETERS, POL_DIRECTORS};
  (void)state;
  for (int dense = 0; dense <= 200; dense += 200) {
    model m;
    finish(&m, four_bars(6, 0.4), POL_SO3XR3);
    unsigned char *expected = find(&m, dense);
    const size_t rows = (size_t)m.m;
    clear(&m);
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
      finish(&m, four_bars(6, 0.4), kinds[k]);
      unsigned char *found = find(&m, dense);
      assert_memory_equal(found, expected, rows);
      assert_int_equal(count_of(found, m.m), count_of(expected, (int)rows));
      free(found);
      clear(&m);
    }
    free(expected);
  }
}

/* Numbers in the factors and multiplications. */
static void cost_of(pol_mechanism *mechanism, double *size, double *operations)
{
  model m;
  poli_independence *independence;
  finish(&m, mechanism, POL_SO3XR3);
  const pol_point at = {.q = m.q, .v = m.v};
  assert_int_equal(poli_independence_create(&independence, m.dae), POL_OK);
  assert_int_equal(poli_independence_analyse(independence, &at), POL_OK);
  poli_independence_cost(independence, size, operations);
  poli_independence_free(&independence);
  clear(&m);
}

static void costs_are_linear_without_large_loops(void **state)
{
  double size[2], operations[2];
  (void)state;
  /* nothing to decide in a chain */
  cost_of(chain(500), size, operations);
  assert_true(size[0] == 0.0 && operations[0] == 0.0);
  /* four-bars side by side: twice as many cost twice as much, up to where the row ends */
  for (int i = 0; i < 2; i++) cost_of(four_bars(100 << i, 0.3), size + i, operations + i);
  print_message("four-bars: %g numbers, %g multiplications each\n", size[1] / 200,
                operations[1] / 200);
  assert_true(size[1] < 2.1 * size[0] && operations[1] < 2.1 * operations[0]);
  /* nets: as nested dissection, n log n and n^1.5 */
  for (int i = 0; i < 2; i++) cost_of(net(12 << i), size + i, operations + i);
  print_message("net: %g numbers, %g multiplications per plate\n", size[1] / 576,
                operations[1] / 576);
  assert_true(size[1] < 7.0 * size[0] && operations[1] < 12.0 * operations[0]);
}

/* How far distances fall between two measurements: at least as far as the smallest one does; not at
 * all where it does not move, and unknown at first. */
static void falling_distances_are_noticed(void **state)
{
  static const double angles[] = {0.2, 1.0, 1.3, 1.3, 0.7};
  poli_independence *independence;
  unsigned char *dropped = NULL;
  double distance, fall, last = 0.0;
  int constraint;
  model m, other;
  (void)state;
  finish(&m, four_bars(5, angles[0]), POL_SO3XR3);
  dropped = find(&m, 200);
  assert_int_equal(poli_independence_create(&independence, m.dae), POL_OK);
  for (size_t k = 0; k < sizeof angles / sizeof angles[0]; k++) {
    finish(&other, four_bars(5, angles[k]), POL_SO3XR3);
    const pol_point at = {.q = other.q, .v = other.v};
    /* what is not to be remembered changes nothing */
    assert_int_equal(poli_independence_measure(independence, &(pol_point){.q = m.q, .v = m.v},
                                               dropped, NULL, &distance, &constraint, NULL),
                     POL_OK);
    assert_int_equal(
        poli_independence_measure(independence, &at, dropped, NULL, &distance, &constraint, &fall),
        POL_OK);
    assert_int_equal(poli_independence_num_components(independence), 1);
    if (k == 0) assert_true(fall == HUGE_VAL);
    if (k > 0) assert_true(isfinite(fall) && fall >= (last - distance) / distance - 1e-9);
    if (k == 3) assert_true(fabs(fall) < 1e-9);
    last = distance;
    clear(&other);
  }
  free(dropped);
  poli_independence_free(&independence);
  clear(&m);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_mechanisms_agree_with_full_matrices),
      cmocka_unit_test(distances_agree_with_full_matrices),
      cmocka_unit_test(four_bars_and_nets_have_the_known_rank),
      cmocka_unit_test(falling_distances_are_noticed),
      cmocka_unit_test(all_formulations_agree),
      cmocka_unit_test(costs_are_linear_without_large_loops),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
