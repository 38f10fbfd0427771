/* Reduction of a finite element body: the Craig-Bampton method (Craig and Bampton 1968), then free
 * modes in the space that it spans, without the rigid motions.
 *
 * The nodes of an attachment move as a rigid body, with six freedoms b; the others are inner, i.
 * The basis has
 *
 *     constraint modes  -K_ii^-1 K_ib   of unit motions of one interface, the others fixed,
 *     normal modes      K_ii x = w^2 M_ii x, all interfaces fixed.
 *
 * The constraint modes of all interfaces together contain the rigid motions R, on which no energy
 * depends: those of the first interface are left out, and the others are made orthogonal to R by
 * mass.  The eigenvectors of the reduced matrices are the modes.
 *
 * Normal modes are found by Lanczos' method for L^-1 M L^-T, which is symmetric, with K + s M = L
 * L^T; s = 0 unless the body is free.  Vectors have the motions of the interfaces behind the
 * freedoms of the nodes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/errors.h"
#include "fem/fem.h"
#include "linalg/arnoldi.h"
#include "linalg/cholesky.h"
#include "linalg/eigen.h"

typedef struct reduction {
  const pol_finite_elements *fe;
  const pol_attachment *attachments;
  const pol_reduction_options *options;
  pol_errors *errors;
  int count, n, rows; /* attachments, freedoms, freedoms and interface motions */
  int *interface_of;  /* of each node, or -1 */
  int *inner;         /* number of each freedom among the inner ones, or -1 */
  int num_inner;
  double *places;          /* 3 numbers for each interface */
  void *memory;            /* of these three */
  pol_pattern patterns[2]; /* inner stiffness and mass */
  double *values[2];
  poli_cholesky *cholesky;
  double shift;
  double *work, *product; /* num_inner */
  double center[3], mass, J[9], inverse[9];
  double *rigid; /* rows x 6 */
  int num_basis, room;
  double *basis; /* rows x num_basis */
} reduction;

static pol_status refuse(reduction *r, const char *path, const char *rule)
{
  const pol_status status = pol_errors_add(r->errors, path, "", rule, "");
  return status ? status : POL_BAD_ARGUMENT;
}

/* --- interfaces ------------------------------------------------------------------------------- */

/* Whether points that move with a rigid body determine its rotation: they are not on one line. */
static int spans_rotation(const pol_finite_elements *fe, const pol_attachment *a)
{
  const double *first = fe->positions + 3 * (size_t)a->nodes[0];
  double along[3] = {0.0}, longest = 0.0, off = 0.0;
  for (int i = 1; i < a->num_nodes; i++) {
    double d[3], square = 0.0;
    for (int k = 0; k < 3; k++)
      d[k] = fe->positions[3 * (size_t)a->nodes[i] + (size_t)k] - first[k];
    for (int k = 0; k < 3; k++) square += d[k] * d[k];
    if (square <= longest) continue;
    longest = square;
    memcpy(along, d, sizeof d);
  }
  for (int i = 1; i < a->num_nodes; i++) {
    double d[3];
    for (int k = 0; k < 3; k++)
      d[k] = fe->positions[3 * (size_t)a->nodes[i] + (size_t)k] - first[k];
    for (int k = 0; k < 3; k++) {
      const int p = (k + 1) % 3, q = (k + 2) % 3;
      off = fmax(off, fabs(along[p] * d[q] - along[q] * d[p]));
    }
  }
  return off > 1e-6 * longest;
}

/* Nodes and places of the interfaces; all errors are reported. */
static pol_status place_interfaces(reduction *r)
{
  const int before = r->errors->count;
  pol_status status = POL_OK;
  for (int i = 0; i < r->fe->num_nodes; i++) r->interface_of[i] = -1;
  for (int k = 0; k < r->count && status != POL_NO_MEMORY; k++) {
    const pol_attachment *a = &r->attachments[k];
    char path[48], rule[200] = "";
    double mean[3] = {0.0};
    snprintf(path, sizeof path, "interfaces[%d].nodes", k);
    if (a->num_nodes < 1) snprintf(rule, sizeof rule, "must have at least one node");
    for (int i = 0; i < a->num_nodes && !*rule; i++) {
      const int node = a->nodes[i];
      if (node < 0 || node >= r->fe->num_nodes)
        snprintf(rule, sizeof rule, "must be nodes of the mesh");
      else if (r->interface_of[node] >= 0)
        snprintf(rule, sizeof rule,
                 r->interface_of[node] == k ? "must not have a node twice"
                                            : "must not have nodes of another interface");
      if (*rule) break;
      r->interface_of[node] = k;
      for (int c = 0; c < 3; c++) mean[c] += r->fe->positions[3 * node + c] / a->num_nodes;
    }
    if (!*rule && r->fe->freedoms == 3 && !spans_rotation(r->fe, a))
      snprintf(rule, sizeof rule,
               "must be at least 3 nodes that are not on one line: nodes of this mesh have no "
               "rotations");
    memcpy(r->places + 3 * k, a->position ? a->position : mean, sizeof mean);
    if (*rule) status = refuse(r, path, rule);
  }
  if (status == POL_NO_MEMORY) return status;
  for (int i = 0; i < r->n; i++)
    r->inner[i] = r->interface_of[i / r->fe->freedoms] < 0 ? r->num_inner++ : -1;
  return r->errors->count > before ? POL_BAD_ARGUMENT : POL_OK;
}

/* The displacements of all nodes if interface k moves alone, and the motion itself behind them. */
static void move_interface(const reduction *r, int k, int direction, double *u)
{
  const pol_attachment *a = &r->attachments[k];
  memset(u, 0, (size_t)r->rows * sizeof *u);
  for (int i = 0; i < a->num_nodes; i++)
    poli_fe_rigid(r->fe, a->nodes[i], r->places + 3 * k, direction,
                  u + (size_t)r->fe->freedoms * (size_t)a->nodes[i]);
  u[r->n + 6 * k + direction] = 1.0;
}

/* --- rigid motions ---------------------------------------------------------------------------- */

static void multiply(const pol_pattern *pattern, const double *values, const double *x, double *y)
{
  memset(y, 0, (size_t)pattern->rows * sizeof *y);
  pol_matrix_multiply(pattern, values, 1.0, x, y);
}

static double dot(int n, const double *x, const double *y)
{
  double sum = 0.0;
  for (int i = 0; i < n; i++) sum += x[i] * y[i];
  return sum;
}

static void set_rigid(reduction *r)
{
  for (int d = 0; d < 6; d++) {
    double *u = r->rigid + (size_t)d * (size_t)r->rows;
    for (int i = 0; i < r->fe->num_nodes; i++)
      poli_fe_rigid(r->fe, i, r->center, d, u + (size_t)r->fe->freedoms * (size_t)i);
    for (int k = 0; k < r->count; k++) {
      const pol_finite_elements point = {
          .num_nodes = 1, .freedoms = 6, .positions = r->places + 3 * k};
      poli_fe_rigid(&point, 0, r->center, d, u + r->n + 6 * k);
    }
  }
}

/* Mass, centre and inertia of the undeformed body; the rigid motions about its centre. */
static pol_status weigh(reduction *r)
{
  double *product = malloc((size_t)r->n * sizeof *product), G[36];
  if (!product) return POL_NO_MEMORY;
  for (int again = 0; again < 2; again++) {
    set_rigid(r);
    for (int d = 0; d < 6; d++) {
      multiply(r->fe->mass_pattern, r->fe->mass, r->rigid + (size_t)d * (size_t)r->rows, product);
      for (int e = 0; e < 6; e++)
        G[6 * d + e] = dot(r->n, r->rigid + (size_t)e * (size_t)r->rows, product);
    }
    r->mass = (G[0] + G[7] + G[14]) / 3.0;
    /* momentum of e_axis x (X - center): its first moments */
    for (int c = 0; c < 3 && !again; c++) {
      const int next = (c + 1) % 3, last = (c + 2) % 3;
      r->center[c] += 0.5 * (G[6 * (3 + last) + next] - G[6 * (3 + next) + last]) / r->mass;
    }
  }
  for (int i = 0; i < 9; i++)
    r->J[i] = 0.5 * (G[6 * (3 + i / 3) + 3 + i % 3] + G[6 * (3 + i % 3) + 3 + i / 3]);
  free(product);
  /* J^-1 by its cofactors; that of masses on a line is singular */
  const double *J = r->J;
  double det = 0.0;
  for (int i = 0; i < 9; i++) {
    const int a = (i % 3 + 1) % 3, b = (i % 3 + 2) % 3, c = (i / 3 + 1) % 3, d = (i / 3 + 2) % 3;
    r->inverse[i] = J[3 * a + c] * J[3 * b + d] - J[3 * a + d] * J[3 * b + c];
    if (i < 3) det += J[3 * i] * r->inverse[i];
  }
  if (!(det > 1e-24 * pow(J[0] + J[4] + J[8], 3.0)))
    return refuse(r, "mass_matrix",
                  "must have a moment of inertia about every axis: give the nodes of a line "
                  "rotational inertia");
  for (int i = 0; i < 9; i++) r->inverse[i] /= det;
  return POL_OK;
}

/* Removes the rigid motions from a vector, so that it is orthogonal to them by mass. */
static void remove_rigid(const reduction *r, double *u, double *product)
{
  double momentum[6], amount[6] = {0.0};
  multiply(r->fe->mass_pattern, r->fe->mass, u, product);
  for (int d = 0; d < 6; d++)
    momentum[d] = dot(r->n, r->rigid + (size_t)d * (size_t)r->rows, product);
  for (int i = 0; i < 3; i++) amount[i] = momentum[i] / r->mass;
  for (int i = 0; i < 9; i++) amount[3 + i / 3] += r->inverse[i] * momentum[3 + i % 3];
  for (int d = 0; d < 6; d++)
    for (int i = 0; i < r->rows; i++)
      u[i] -= amount[d] * r->rigid[(size_t)d * (size_t)r->rows + (size_t)i];
}

/* --- the inner freedoms ----------------------------------------------------------------------- */

/* The inner rows and columns of a matrix; values are shared rows of the pattern. */
static pol_status take_inner(const reduction *r, const pol_pattern *from, const double *values,
                             pol_pattern *to, double **taken)
{
  int count = 0;
  to->rows = to->cols = r->num_inner;
  to->start = calloc((size_t)r->num_inner + 1, sizeof *to->start);
  to->row = malloc((size_t)pol_pattern_nonzeros(from) * sizeof *to->row + 1);
  *taken = malloc((size_t)pol_pattern_nonzeros(from) * sizeof **taken + 1);
  if (!to->start || !to->row || !*taken) return POL_NO_MEMORY;
  for (int j = 0; j < r->n; j++) {
    if (r->inner[j] < 0) continue;
    for (int k = from->start[j]; k < from->start[j + 1]; k++) {
      if (r->inner[from->row[k]] < 0) continue;
      to->row[count] = r->inner[from->row[k]];
      (*taken)[count++] = values[k];
    }
    to->start[r->inner[j] + 1] = count;
  }
  return POL_OK;
}

/* Factors K + shift M of the inner freedoms. */
static pol_status factor(reduction *r)
{
  const pol_pattern *K = &r->patterns[0], *M = &r->patterns[1];
  const double *values = r->values[0];
  double *sum = NULL;
  int column;
  pol_status status = POL_OK;
  if (r->shift > 0.0) { /* the mass matrix has no entries that the stiffness matrix has not, or few
                           that are left out: the shift is small */
    sum = malloc((size_t)pol_pattern_nonzeros(K) * sizeof *sum);
    if (!sum) return POL_NO_MEMORY;
    memcpy(sum, values, (size_t)pol_pattern_nonzeros(K) * sizeof *sum);
    for (int j = 0; j < K->cols; j++)
      for (int k = M->start[j]; k < M->start[j + 1]; k++) {
        const int at = pol_pattern_address(K, M->row[k], j);
        if (at >= 0) sum[at] += r->shift * r->values[1][k];
      }
    values = sum;
  }
  if (!r->cholesky) status = poli_cholesky_create(&r->cholesky, K);
  if (!status) status = poli_cholesky_factor(r->cholesky, values, &column);
  free(sum);
  if (status != POL_SINGULAR) return status;
  int freedom = 0;
  while (r->inner[freedom] != column) freedom++;
  char rule[200];
  snprintf(rule, sizeof rule,
           "must resist all motions but the rigid ones, but node %d moves freely%s: the mesh is in "
           "several parts, or a node has no stiffness",
           freedom / r->fe->freedoms + 1, r->count ? " while the interfaces are held" : "");
  return refuse(r, "stiffness_matrix", rule);
}

static pol_status apply(const double *x, double *y, void *user)
{
  reduction *r = user;
  memcpy(r->work, x, (size_t)r->num_inner * sizeof *x);
  poli_cholesky_backward(r->cholesky, r->work);
  multiply(&r->patterns[1], r->values[1], r->work, y);
  poli_cholesky_forward(r->cholesky, y);
  return POL_OK;
}

/* `count` eigenvectors of the inner freedoms with the smallest frequencies; values[k] = 1/(w^2 +
 * shift), ascending, and vectors (num_inner rows), from the last of the smallest frequency on. */
static pol_status find_normal_modes(reduction *r, int count, double *values, double *vectors)
{
  const int n = r->num_inner;
  if (n > 300 && count < n / 3) {
    double *start = malloc((size_t)n * sizeof *start);
    /* residuals of 1e-9: eigenvalues to round-off */
    const poli_operator operator= {.n = n, .apply = apply, .user = r, .tolerance = 1e-9};
    if (!start) return POL_NO_MEMORY;
    for (int i = 0; i < n; i++) start[i] = 1.0 + 0.5 * sin(1.0 + 7.0 * i);
    const pol_status status = poli_lanczos(&operator, count, start, values, vectors);
    for (int k = 0; k < count && !status; k++)
      poli_cholesky_backward(r->cholesky, vectors + (size_t)k * (size_t)n);
    free(start);
    return status;
  }
  double *A, *B, *all;
  poli_arena arena = {0};
  do {
    POLI_TAKE_EACH(&arena, (size_t)n * (size_t)n, &A, &B);
    POLI_TAKE(&arena, all, n);
  } while (poli_arena_again(&arena));
  if (!arena.memory) return POL_NO_MEMORY;
  for (int m = 0; m < 2; m++)
    for (int j = 0; j < n; j++)
      for (int k = r->patterns[m].start[j]; k < r->patterns[m].start[j + 1]; k++) {
        const size_t at = poli_at(r->patterns[m].row[k], j, n);
        B[at] += (m ? r->shift : 1.0) * r->values[m][k];
        if (m) A[at] = r->values[m][k];
      }
  const pol_status status = poli_full_symmetric_eigen(n, A, B, all);
  if (!status) {
    memcpy(values, all + n - count, (size_t)count * sizeof *values);
    memcpy(vectors, A + (size_t)(n - count) * (size_t)n, (size_t)count * (size_t)n * sizeof *A);
  }
  free(arena.memory);
  return status;
}

/* --- the basis -------------------------------------------------------------------------------- */

static double *next_vector(reduction *r)
{
  if (r->num_basis == r->room) {
    const int room = 2 * r->room + 16;
    double *longer = realloc(r->basis, (size_t)room * (size_t)r->rows * sizeof *longer);
    if (!longer) return NULL;
    r->basis = longer;
    r->room = room;
  }
  double *u = r->basis + (size_t)r->num_basis++ * (size_t)r->rows;
  memset(u, 0, (size_t)r->rows * sizeof *u);
  return u;
}

static pol_status add_constraint_modes(reduction *r)
{
  double *force = malloc((size_t)r->n * sizeof *force);
  if (!force) return POL_NO_MEMORY;
  for (int b = 6; b < 6 * r->count; b++) {
    double *u = next_vector(r);
    if (!u) {
      free(force);
      return POL_NO_MEMORY;
    }
    move_interface(r, b / 6, b % 6, u);
    multiply(r->fe->stiffness_pattern, r->fe->stiffness, u, force);
    for (int i = 0; i < r->n; i++)
      if (r->inner[i] >= 0) r->work[r->inner[i]] = -force[i];
    if (r->num_inner > 0) {
      memcpy(r->product, r->work, (size_t)r->num_inner * sizeof *r->work);
      poli_cholesky_solve(r->cholesky, r->product);
    }
    for (int i = 0; i < r->n; i++)
      if (r->inner[i] >= 0) u[i] = r->product[r->inner[i]];
  }
  free(force);
  return POL_OK;
}

/* Adds the normal modes that the options ask for; of a free body without the six rigid ones. */
static pol_status add_normal_modes(reduction *r)
{
  static const double two_pi = 6.28318530717958647692;
  const int n = r->num_inner, rigid = r->count ? 0 : 6;
  const double limit = two_pi * r->options->frequency;
  const int by_frequency = limit > 0.0;
  int wanted = rigid + (by_frequency ? 16 : r->options->modes), done = 0;
  while (!done) {
    const int count = wanted < n ? wanted : n;
    double *values = malloc(((size_t)count + 1) * sizeof *values);
    double *vectors = malloc(((size_t)count * (size_t)n + 1) * sizeof *vectors);
    pol_status status = values && vectors ? POL_OK : POL_NO_MEMORY;
    if (!status && count > 0) status = find_normal_modes(r, count, values, vectors);
    done = status || !by_frequency || count == n || !(values[0] > 0.0) ||
           1.0 / values[0] - r->shift > limit * limit;
    for (int k = count - 1 - rigid; k >= 0 && done && !status; k--) {
      /* massless motions come last */
      if (!(values[k] > 1e-14 * values[count - 1])) break;
      if (by_frequency && 1.0 / values[k] - r->shift > limit * limit) break;
      double *u = next_vector(r);
      if (!u) status = POL_NO_MEMORY;
      for (int i = 0; i < r->n && u; i++)
        if (r->inner[i] >= 0) u[i] = vectors[(size_t)k * (size_t)n + (size_t)r->inner[i]];
    }
    free(values);
    free(vectors);
    if (status) return status;
    wanted *= 2;
  }
  return POL_OK;
}

/* The largest ratio of stiffness and mass of a freedom: the scale of the squares of frequencies. */
static double fastest_square(const reduction *r)
{
  double fastest = 0.0;
  for (int i = 0; i < r->n; i++) {
    const int k = pol_pattern_address(r->fe->stiffness_pattern, i, i);
    const int m = pol_pattern_address(r->fe->mass_pattern, i, i);
    if (k >= 0 && m >= 0 && r->fe->mass[m] > 0.0)
      fastest = fmax(fastest, r->fe->stiffness[k] / r->fe->mass[m]);
  }
  return fastest;
}

static pol_status refuse_rigid(reduction *r)
{
  if (r->num_inner == 0)
    return refuse(
        r, "interfaces",
        "must leave nodes that belong to none of them: with all in one the body is rigid");
  if (r->options->frequency > 0.0)
    return refuse(r, "frequency", "must be above that of a mode: without modes the body is rigid");
  return refuse(r, "modes", "must be at least 1: without modes the body is rigid");
}

static pol_status make_basis(reduction *r)
{
  pol_status status =
      take_inner(r, r->fe->stiffness_pattern, r->fe->stiffness, &r->patterns[0], &r->values[0]);
  if (!status)
    status = take_inner(r, r->fe->mass_pattern, r->fe->mass, &r->patterns[1], &r->values[1]);
  if (status) return status;
  /* a free body is held by a small part of its mass */
  r->shift = r->count ? 0.0 : 1e-10 * fastest_square(r);
  if (r->num_inner > 0) status = factor(r);
  if (!status) status = add_constraint_modes(r);
  if (!status && r->num_inner > 0) status = add_normal_modes(r);
  /* many modes of about the same frequency, or far from the shift */
  for (int i = 0; i < 3 && status == POL_NOT_CONVERGED && !r->count; i++) {
    r->shift *= 100.0;
    status = factor(r);
    if (!status) status = add_normal_modes(r);
  }
  if (!status && r->num_basis == 0) status = refuse_rigid(r);
  return status;
}

/* --- the reduced body ------------------------------------------------------------------------- */

/* Largest displacement of a mode; rotations count at the distance of a radius of gyration, so that
 * the torsion of a line of nodes has one too. */
static double largest_part(const reduction *r, const double *u)
{
  const double radius = sqrt(fmin(r->J[0], fmin(r->J[4], r->J[8])) / r->mass);
  double largest = 0.0;
  for (int i = 0; i < r->n; i++)
    largest = fmax(largest, fabs(u[i]) * (i % r->fe->freedoms < 3 ? 1.0 : radius));
  return largest;
}

/* Replaces the basis by its eigenvectors, of ascending frequency, with a largest displacement of 1;
 * squares of their angular frequencies, and their masses. */
static pol_status solve_reduced(reduction *r, double *squares, double *masses)
{
  const int m = r->num_basis, n = r->n;
  const size_t all = (size_t)m * (size_t)m;
  double *K, *M, *product, *values, *row;
  poli_arena arena = {0};
  do {
    POLI_TAKE_EACH(&arena, all, &K, &M);
    POLI_TAKE_EACH(&arena, m, &values, &row);
    POLI_TAKE(&arena, product, n);
  } while (poli_arena_again(&arena));
  if (!arena.memory) return POL_NO_MEMORY;
  for (int j = 0; j < m; j++) {
    double *u = r->basis + (size_t)j * (size_t)r->rows;
    remove_rigid(r, u, product);
    multiply(r->fe->stiffness_pattern, r->fe->stiffness, u, product);
    const double energy = dot(n, u, product), scale = energy > 0.0 ? 1.0 / sqrt(energy) : 1.0;
    for (int i = 0; i < r->rows; i++) u[i] *= scale;
  }
  for (int j = 0; j < m; j++)
    for (int which = 0; which < 2; which++) {
      const double *u = r->basis + (size_t)j * (size_t)r->rows;
      if (which)
        multiply(r->fe->mass_pattern, r->fe->mass, u, product);
      else
        multiply(r->fe->stiffness_pattern, r->fe->stiffness, u, product);
      for (int i = 0; i < m; i++)
        (which ? M : K)[poli_at(i, j, m)] = dot(n, r->basis + (size_t)i * (size_t)r->rows, product);
    }
  static const char in_parts[] =
      "must resist all motions but the rigid ones: the mesh is in several parts";
  /* M y = K y/w^2: the lowest frequencies come last, most accurately */
  pol_status status = poli_full_symmetric_eigen(m, M, K, values);
  if (status == POL_SINGULAR) status = refuse(r, "stiffness_matrix", in_parts);
  if (!status && !(1.0 / values[m - 1] > 1e-14 * fastest_square(r)) && values[m - 1] > 0.0)
    status = refuse(r, "stiffness_matrix", in_parts);
  for (int k = 0; k < m && !status; k++)
    if (!(values[k] > 0.0))
      status = refuse(r, "mass_matrix", "must be positive definite, but a mode has no mass");
  for (int i = 0; i < r->rows && !status; i++) {
    for (int k = 0; k < m; k++) {
      const double *y = M + poli_at(0, m - 1 - k, m);
      row[k] = 0.0;
      for (int j = 0; j < m; j++)
        row[k] += r->basis[(size_t)j * (size_t)r->rows + (size_t)i] * y[j];
      row[k] /= sqrt(values[m - 1 - k]);
    }
    for (int k = 0; k < m; k++) r->basis[(size_t)k * (size_t)r->rows + (size_t)i] = row[k];
  }
  for (int k = 0; k < m && !status; k++) {
    double *u = r->basis + (size_t)k * (size_t)r->rows;
    squares[k] = 1.0 / values[m - 1 - k];
    remove_rigid(r, u, product);
    /* the first of the large displacements is positive */
    const double largest = largest_part(r, u);
    int first = 0;
    while (first < n - 1 && fabs(u[first]) < 0.5 * largest) first++;
    const double scale = u[first] < 0.0 ? -1.0 / largest : 1.0 / largest;
    for (int i = 0; i < r->rows; i++) u[i] *= scale;
    masses[k] = scale * scale;
  }
  free(arena.memory);
  return status;
}

/* Copies the results into one block of memory, which starts with the reduced body. */
static pol_status make_body(reduction *r, const double *squares, const double *masses,
                            pol_reduced_body **reduced)
{
  static const double two_pi = 6.28318530717958647692;
  const int m = r->num_basis, fields = m + 1;
  double *first, *second, *stiffness, *damping, *inertia, *frequencies, *motions;
  pol_interface *interfaces;
  pol_reduced_body *body;
  char *names;
  size_t letters = 0;
  for (int k = 0; k < r->count; k++) letters += strlen(r->attachments[k].name) + 1;
  poli_arena arena = {0};
  do {
    POLI_TAKE(&arena, body, 1);
    POLI_TAKE(&arena, first, 3 * fields);
    POLI_TAKE(&arena, second, 9 * fields * fields);
    POLI_TAKE(&arena, stiffness, m * m);
    POLI_TAKE(&arena, damping, m * m);
    POLI_TAKE(&arena, inertia, m * m);
    POLI_TAKE(&arena, frequencies, m);
    POLI_TAKE(&arena, motions, 6 * m * r->count);
    POLI_TAKE(&arena, interfaces, r->count);
    POLI_TAKE(&arena, names, letters);
  } while (poli_arena_again(&arena));
  if (!arena.memory) return POL_NO_MEMORY;
  const pol_reduction_options *o = r->options;
  const int damped = o->damping > 0.0 || o->rayleigh[0] > 0.0 || o->rayleigh[1] > 0.0;
  body->anisotropy = poli_fe_integrals(r->fe, r->center, r->J, m, r->basis, r->rows, first, second);
  if (body->anisotropy < 0.0) {
    free(arena.memory);
    return POL_NO_MEMORY;
  }
  for (int k = 0; k < m; k++) {
    const double speed = sqrt(squares[k]);
    frequencies[k] = speed / two_pi;
    stiffness[k * m + k] = masses[k] * squares[k];
    inertia[k * m + k] = masses[k];
    damping[k * m + k] =
        masses[k] * (2.0 * o->damping * speed + o->rayleigh[0] + o->rayleigh[1] * squares[k]);
  }
  for (int i = 0; i < r->count; i++) {
    double *translation = motions + 6 * m * i, *rotation = translation + 3 * m;
    strcpy(names, r->attachments[i].name);
    interfaces[i] =
        (pol_interface){.name = names, .translation = translation, .rotation = rotation};
    names += strlen(names) + 1;
    for (int c = 0; c < 3; c++) {
      interfaces[i].position[c] = r->places[3 * i + c] - r->center[c];
      for (int k = 0; k < m; k++) {
        const double *motion = r->basis + (size_t)k * (size_t)r->rows + (size_t)(r->n + 6 * i);
        translation[3 * k + c] = motion[c];
        rotation[3 * k + c] = motion[3 + c];
      }
    }
  }
  body->body = (pol_flexible_body){.name = "",
                                   .rotation = {1.0, 0.0, 0.0, 0.0},
                                   .num_modes = m,
                                   .mass = r->mass,
                                   .first = first,
                                   .second = second,
                                   .stiffness = stiffness,
                                   .damping = damped ? damping : NULL,
                                   .inertia = inertia,
                                   .num_interfaces = r->count,
                                   .interfaces = interfaces};
  memcpy(body->center, r->center, sizeof r->center);
  body->frequencies = frequencies;
  body->num_freedoms = r->n;
  *reduced = body;
  return POL_OK;
}

pol_reduction_options pol_reduction_options_default(void)
{
  return (pol_reduction_options){.modes = 10};
}

static int is_not_negative(double number)
{
  return number >= 0.0 && isfinite(number);
}

pol_status pol_reduce(pol_reduced_body **reduced, const pol_finite_elements *elements,
                      int num_attachments, const pol_attachment *attachments,
                      const pol_reduction_options *options, pol_errors *errors)
{
  const pol_reduction_options standard = pol_reduction_options_default();
  reduction r = {.fe = elements,
                 .attachments = attachments,
                 .options = options ? options : &standard,
                 .errors = errors,
                 .count = num_attachments,
                 .n = poli_fe_size(elements)};
  const pol_reduction_options *o = r.options;
  *reduced = NULL;
  if (o->modes < 0 || !is_not_negative(o->frequency) || !is_not_negative(o->damping) ||
      !is_not_negative(o->rayleigh[0]) || !is_not_negative(o->rayleigh[1]))
    return refuse(&r, "modes", "must not be negative, and neither frequency and damping");
  r.rows = r.n + 6 * r.count;
  poli_arena arena = {0};
  do {
    POLI_TAKE(&arena, r.rigid, 6 * (size_t)r.rows);
    POLI_TAKE_EACH(&arena, r.n, &r.work, &r.product);
    POLI_TAKE(&arena, r.places, 3 * r.count);
    POLI_TAKE(&arena, r.interface_of, elements->num_nodes);
    POLI_TAKE(&arena, r.inner, r.n);
  } while (poli_arena_again(&arena));
  r.memory = arena.memory;
  pol_status status = r.memory ? place_interfaces(&r) : POL_NO_MEMORY;
  if (!status) status = weigh(&r);
  if (!status) status = make_basis(&r);
  double *squares = status ? NULL : malloc(2 * (size_t)r.num_basis * sizeof *squares);
  if (!status && !squares) status = POL_NO_MEMORY;
  if (!status) status = solve_reduced(&r, squares, squares + r.num_basis);
  if (!status) status = make_body(&r, squares, squares + r.num_basis, reduced);
  if (!status) { /* the modes become the body's, without the motions of the interfaces */
    for (size_t k = 1; k < (size_t)r.num_basis; k++)
      memmove(r.basis + k * (size_t)r.n, r.basis + k * (size_t)r.rows,
              (size_t)r.n * sizeof *r.basis);
    (*reduced)->modes = r.basis;
    r.basis = NULL;
  }
  free(squares);
  for (int k = 0; k < 2; k++) {
    free(r.patterns[k].start);
    free(r.patterns[k].row);
    free(r.values[k]);
  }
  poli_cholesky_free(&r.cholesky);
  free(r.basis);
  free(r.memory);
  return status;
}

void pol_reduced_body_free(pol_reduced_body **reduced)
{
  if (*reduced) free((*reduced)->modes);
  free(*reduced); /* its other arrays are in the same block */
  *reduced = NULL;
}
