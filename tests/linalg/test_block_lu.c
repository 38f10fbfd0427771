/* Block-sparse LU: against a dense elimination on random graphs, trees without fill, dependent
 * rows, and chains of many nodes. */
#include "linalg/block_lu.h"

#include "matrices.h"

typedef struct toy {
  int num_nodes, num_edges, num_rows;
  int size[64], row[64], edges[512][2];
  double *dense; /* num_rows x num_rows */
} toy;

/* A = B B^T + a small unsymmetric part, where each edge stands for a body that two nodes share:
 * node i has a random block of B for each of its edges and one of its own. */
static toy random_system(uint64_t *seed, int num_nodes, int extra_edges, double asymmetry)
{
  toy s = {.num_nodes = num_nodes};
  for (int i = 1; i < num_nodes; i++) {
    s.edges[s.num_edges][0] = random_index(seed, i);
    s.edges[s.num_edges++][1] = i;
  }
  for (int i = 0; i < extra_edges; i++) {
    const int a = random_index(seed, num_nodes), b = random_index(seed, num_nodes);
    if (a == b) continue;
    s.edges[s.num_edges][0] = a;
    s.edges[s.num_edges++][1] = b;
  }
  for (int i = 0; i < num_nodes; i++) {
    s.row[i] = s.num_rows;
    s.num_rows += s.size[i] = random_index(seed, 7); /* 0 to 6 */
  }
  s.dense = make_array((size_t)(s.num_rows * s.num_rows), sizeof *s.dense);
  for (int e = 0; e < s.num_edges + num_nodes; e++) {
    const int own = e >= s.num_edges;
    const int node[2] = {own ? e - s.num_edges : s.edges[e][0],
                         own ? e - s.num_edges : s.edges[e][1]};
    double B[12][6];
    int rows[12], count = 0;
    for (int end = 0; end < (own ? 1 : 2); end++)
      for (int i = 0; i < s.size[node[end]]; i++) rows[count++] = s.row[node[end]] + i;
    for (int i = 0; i < count; i++)
      for (int k = 0; k < 6; k++) B[i][k] = random_number(seed);
    for (int i = 0; i < count; i++)
      for (int j = 0; j < count; j++) {
        double *to = &s.dense[rows[i] * s.num_rows + rows[j]];
        for (int k = 0; k < 6; k++) *to += B[i][k] * B[j][k];
        *to += asymmetry * random_number(seed);
      }
  }
  return s;
}

static poli_block_lu *factorise(const toy *s, double threshold, int expected)
{
  poli_block_lu *lu;
  assert_int_equal(poli_block_lu_create(&lu, s->num_nodes, s->size, s->num_edges,
                                        (const int(*)[2])s->edges, NULL),
                   POL_OK);
  poli_block_lu_clear(lu);
  for (int i = 0; i < s->num_nodes; i++)
    for (int j = 0; j < s->num_nodes; j++) {
      const long at = poli_block_lu_address(lu, i, j);
      for (int a = 0; a < s->size[i] && at >= 0; a++)
        for (int b = 0; b < s->size[j]; b++)
          poli_block_lu_values(lu)[at + a * s->size[j] + b] =
              s->dense[(s->row[i] + a) * s->num_rows + s->row[j] + b];
      if (at < 0 && s->size[i] > 0 && s->size[j] > 0)
        assert_true(s->dense[s->row[i] * s->num_rows + s->row[j]] == 0.0);
    }
  assert_int_equal(poli_block_lu_factor(lu, threshold, NULL), expected);
  return lu;
}

static void random_graphs(void **state)
{
  uint64_t seed = 3;
  (void)state;
  for (int trial = 0; trial < 300; trial++) {
    toy s = random_system(&seed, 1 + random_index(&seed, 60), random_index(&seed, 20), 0.02);
    poli_block_lu *lu = factorise(&s, 1e-9, 0);
    double x[400], b[400];
    for (int i = 0; i < s.num_rows; i++) x[i] = random_number(&seed);
    for (int i = 0; i < s.num_rows; i++) {
      b[i] = 0.0;
      for (int j = 0; j < s.num_rows; j++) b[i] += s.dense[i * s.num_rows + j] * x[j];
    }
    poli_block_lu_solve(lu, b);
    for (int i = 0; i < s.num_rows; i++) assert_true(fabs(b[i] - x[i]) < 1e-6);
    /* the residual shows the accuracy whatever the condition */
    for (int i = 0; i < s.num_rows; i++) {
      double r = 0.0, size = 0.0;
      for (int j = 0; j < s.num_rows; j++) {
        r += s.dense[i * s.num_rows + j] * (b[j] - x[j]);
        size += fabs(s.dense[i * s.num_rows + j] * x[j]);
      }
      assert_true(fabs(r) < 1e-11 * (size + 1.0));
    }
    poli_block_lu_free(&lu);
    assert_null(lu);
    free(s.dense);
  }
}

/* A node is a copy of a part of another one: its rows are dropped, or in each second trial those
 * that the caller leaves out, and the others solved. */
static void dependent_rows_are_dropped(void **state)
{
  uint64_t seed = 11;
  (void)state;
  for (int trial = 0; trial < 50; trial++) {
    /* rows of three nodes on two bodies: 4 + 4 + 6 rows with rank 12, B B^T of size 14 */
    static const int edges[3][2] = {{0, 1}, {1, 2}, {0, 2}};
    const int size[3] = {4, 4, 6};
    double B[14][12], dense[14][14], x[14], b[14];
    for (int i = 0; i < 14; i++)
      for (int k = 0; k < 12; k++) B[i][k] = random_number(&seed);
    for (int i = 0; i < 14; i++)
      for (int j = 0; j < 14; j++) {
        dense[i][j] = 0.0;
        for (int k = 0; k < 12; k++) dense[i][j] += B[i][k] * B[j][k];
      }
    poli_block_lu *lu;
    assert_int_equal(poli_block_lu_create(&lu, 3, size, 3, edges, NULL), POL_OK);
    poli_block_lu_clear(lu);
    for (int i = 0, row = 0; i < 3; row += size[i++])
      for (int j = 0, col = 0; j < 3; col += size[j++])
        for (int a = 0; a < size[i]; a++)
          for (int k = 0; k < size[j]; k++)
            poli_block_lu_values(lu)[poli_block_lu_address(lu, i, j) + a * size[j] + k] =
                dense[row + a][col + k];
    unsigned char left_out[14] = {0};
    left_out[trial % 14] = left_out[(trial + 5) % 14] = 1;
    assert_int_equal(poli_block_lu_factor(lu, 1e-9, trial % 2 ? left_out : NULL), 2);
    if (trial % 2) assert_memory_equal(poli_block_lu_dropped(lu), left_out, 14);
    int count = 0;
    for (int i = 0; i < 14; i++) count += poli_block_lu_dropped(lu)[i];
    assert_int_equal(count, 2);
    assert_true(poli_block_lu_smallest_pivot(lu, NULL) > 1e-6);

    /* a right-hand side in the range is met by all rows, also those that were dropped */
    for (int i = 0; i < 14; i++) x[i] = random_number(&seed);
    for (int i = 0; i < 14; i++) {
      b[i] = 0.0;
      for (int j = 0; j < 14; j++) b[i] += dense[i][j] * x[j];
    }
    poli_block_lu_solve(lu, b);
    for (int i = 0; i < 14; i++) {
      double r = 0.0;
      for (int j = 0; j < 14; j++) r += dense[i][j] * (b[j] - x[j]);
      assert_true(fabs(r) < 1e-9);
      if (poli_block_lu_dropped(lu)[i]) assert_true(b[i] == 0.0);
    }
    poli_block_lu_free(&lu);
  }
}

/* Chains and trees have no fill: two blocks for each edge and one for each node, whatever their
 * number. */
static void trees_have_no_fill(void **state)
{
  enum { NODES = 20000 };
  uint64_t seed = 5;
  int(*edges)[2] = make_array(NODES, sizeof *edges), *size = make_array(NODES, sizeof *size);
  (void)state;
  for (int kind = 0; kind < 2; kind++) {
    poli_block_lu *lu;
    for (int i = 0; i < NODES; i++) {
      size[i] = 3;
      if (i > 0) edges[i - 1][0] = kind == 0 ? i - 1 : random_index(&seed, i);
      if (i > 0) edges[i - 1][1] = i;
    }
    assert_int_equal(
        poli_block_lu_create(&lu, NODES, size, NODES - 1, (const int(*)[2])edges, NULL), POL_OK);
    long last = 0;
    for (int i = 0; i < NODES; i++) {
      long at = poli_block_lu_address(lu, i, i);
      if (at > last) last = at;
    }
    for (int i = 0; i < NODES - 1; i++)
      for (int end = 0; end < 2; end++) {
        long at = poli_block_lu_address(lu, edges[i][end], edges[i][1 - end]);
        assert_true(at >= 0);
        if (at > last) last = at;
      }
    assert_int_equal(last, 9 * (NODES + 2 * (NODES - 1) - 1));
    poli_block_lu_free(&lu);
  }
  free(edges);
  free(size);
}

/* A large graph, in parts: A x = b for a known x, with the same bits for 1, 2 and 3 threads. */
static void solve_in_parts(int nodes, const int *size, int num_edges, const int (*edges)[2],
                           int least_parts)
{
  double *x[3], *expected, smallest[3];
  int rows = 0, row[3], dropped[3], *start = make_array((size_t)nodes, sizeof *start);
  for (int i = 0; i < nodes; i++) {
    start[i] = rows;
    rows += size[i];
  }
  expected = make_array((size_t)rows, sizeof *expected);
  for (int k = 0; k < 3; k++) {
    poli_block_lu *lu;
    uint64_t seed = 11;
    x[k] = make_array((size_t)rows, sizeof **x);
    for (int i = 0; i < rows; i++) expected[i] = random_number(&seed);
    assert_int_equal(poli_block_lu_create(&lu, nodes, size, num_edges, edges, NULL), POL_OK);
    assert_in_range(poli_block_lu_num_parts(lu), least_parts, 16);
    poli_block_lu_set_threads(lu, k + 1);
    poli_block_lu_clear(lu);
    double *values = poli_block_lu_values(lu);
    /* random blocks on edges; on the diagonal enough to make it positive definite */
    for (int e = 0; e < num_edges + nodes; e++) {
      const int own = e >= num_edges, i = own ? e - num_edges : edges[e][0],
                j = own ? i : edges[e][1];
      for (int a = 0; a < size[i]; a++)
        for (int b = 0; b < size[j]; b++) {
          const double entry =
              own ? (a == b ? 1.0 : 0.1 * random_number(&seed)) : random_number(&seed);
          values[poli_block_lu_address(lu, i, j) + a * size[j] + b] += entry;
          x[k][start[i] + a] += entry * expected[start[j] + b];
          if (own) continue;
          values[poli_block_lu_address(lu, j, i) + b * size[i] + a] += entry;
          x[k][start[j] + b] += entry * expected[start[i] + a];
          values[poli_block_lu_address(lu, i, i) + a * (size[i] + 1)] += fabs(entry);
          values[poli_block_lu_address(lu, j, j) + b * (size[j] + 1)] += fabs(entry);
          x[k][start[i] + a] += fabs(entry) * expected[start[i] + a];
          x[k][start[j] + b] += fabs(entry) * expected[start[j] + b];
        }
    }
    dropped[k] = poli_block_lu_factor(lu, 1e-12, NULL);
    poli_block_lu_solve(lu, x[k]);
    smallest[k] = poli_block_lu_smallest_pivot(lu, &row[k]);
    assert_int_equal(dropped[k], 0);
    for (int i = 0; i < rows; i++) assert_true(fabs(x[k][i] - expected[i]) < 1e-10);
    assert_memory_equal(x[k], x[0], (size_t)rows * sizeof **x);
    assert_true(smallest[k] == smallest[0] && row[k] == row[0]);
    /* a number that is not finite, in a part or above all parts */
    values[poli_block_lu_address(lu, nodes / 2, nodes / 2)] = NAN;
    assert_int_equal(poli_block_lu_factor(lu, 1e-12, NULL), -1);
    poli_block_lu_free(&lu);
  }
  for (int k = 0; k < 3; k++) free(x[k]);
  free(expected);
  free(start);
}

static void large_graphs_have_parts(void **state)
{
  enum { SIDE = 45, NODES = SIDE * SIDE };
  uint64_t seed = 3;
  int(*edges)[2] = make_array(2 * NODES, sizeof *edges), *size = make_array(NODES, sizeof *size);
  (void)state;
  for (int kind = 0; kind < 5; kind++) {
    int count = 0;
    for (int i = 0; i < NODES; i++) {
      size[i] = kind == 1 ? 1 + random_index(&seed, 6) : 3;
      const int chain = kind < 2 && i > 0, tree = kind == 2 && i > 0;
      const int many = kind == 4 && i % 5 > 0; /* chains of 5 nodes */
      if (chain || tree || many) {
        edges[count][0] = tree ? random_index(&seed, i) : i - 1;
        edges[count++][1] = i;
      }
      if (kind == 3 && i % SIDE > 0) edges[count][0] = i - 1, edges[count++][1] = i;
      if (kind == 3 && i >= SIDE) edges[count][0] = i - SIDE, edges[count++][1] = i;
    }
    solve_in_parts(NODES, size, count, (const int(*)[2])edges, 2);
  }
  free(edges);
  free(size);
}

static void not_finite(void **state)
{
  const int size = 2;
  poli_block_lu *lu;
  (void)state;
  assert_int_equal(poli_block_lu_create(&lu, 1, &size, 0, NULL, NULL), POL_OK);
  poli_block_lu_values(lu)[0] = NAN;
  assert_int_equal(poli_block_lu_factor(lu, 1e-9, NULL), -1);
  poli_block_lu_free(&lu);
  assert_int_equal(poli_block_lu_create(&lu, 0, NULL, 0, NULL, NULL), POL_OK);
  assert_int_equal(poli_block_lu_factor(lu, 1e-9, NULL), 0);
  poli_block_lu_free(&lu);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_graphs),      cmocka_unit_test(dependent_rows_are_dropped),
      cmocka_unit_test(trees_have_no_fill), cmocka_unit_test(large_graphs_have_parts),
      cmocka_unit_test(not_finite),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
