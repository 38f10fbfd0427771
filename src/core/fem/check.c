/* Checks of finite element data: they come from other programs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errors.h"
#include "fem/fem.h"

void poli_fe_rigid(const pol_finite_elements *elements, int node, const double center[3],
                   int direction, double *u)
{
  const double *x = elements->positions + 3 * (size_t)node;
  const int axis = direction % 3, next = (axis + 1) % 3, last = (axis + 2) % 3;
  for (int i = 0; i < elements->freedoms; i++) u[i] = 0.0;
  if (direction < 3) {
    u[axis] = 1.0;
  } else { /* e_axis x (x - center) */
    u[last] = x[next] - center[next];
    u[next] = center[last] - x[last];
    if (elements->freedoms == 6) u[3 + axis] = 1.0;
  }
}

typedef struct inspection {
  const pol_finite_elements *elements;
  pol_errors *errors;
  pol_status status; /* POL_NO_MEMORY */
} inspection;

static void report(inspection *in, const char *path, const char *rule)
{
  const pol_status status = pol_errors_add(in->errors, path, "", rule, "");
  if (status) in->status = status;
}

/* Where a freedom is: "node 3, uy". */
static void name_freedom(const inspection *in, int freedom, char text[40])
{
  static const char *const names[] = {"ux", "uy", "uz", "rx", "ry", "rz"};
  snprintf(text, 40, "node %d, %s", freedom / in->elements->freedoms + 1,
           names[freedom % in->elements->freedoms]);
}

/* Size, finite numbers and symmetry of one matrix; 0 if it cannot be used further. */
static int check_matrix(inspection *in, const char *path, const pol_pattern *pattern,
                        const double *values)
{
  const int n = poli_fe_size(in->elements), nonzeros = pol_pattern_nonzeros(pattern);
  char rule[300];
  double largest = 0.0, worst = 0.0;
  int row = 0, column = 0;
  if (pattern->rows != n || pattern->cols != n) {
    snprintf(rule, sizeof rule,
             "must have %d rows and columns, %d for each of %d nodes, not %d x %d", n,
             in->elements->freedoms, in->elements->num_nodes, pattern->rows, pattern->cols);
    report(in, path, rule);
    return 0;
  }
  for (int e = 0; e < nonzeros; e++) {
    if (!isfinite(values[e])) {
      report(in, path, "must have finite numbers");
      return 0;
    }
    largest = fmax(largest, fabs(values[e]));
  }
  for (int j = 0; j < n; j++)
    for (int e = pattern->start[j]; e < pattern->start[j + 1]; e++) {
      if (pattern->row[e] >= j && values[e] == 0.0) continue;
      const int other = pol_pattern_address(pattern, j, pattern->row[e]);
      const double apart = fabs(values[e] - (other < 0 ? 0.0 : values[other]));
      if (apart <= worst) continue;
      worst = apart;
      row = pattern->row[e];
      column = j;
    }
  if (worst <= 1e-8 * largest && largest > 0.0) return 1;
  snprintf(rule, sizeof rule,
           "must be symmetric: entries (%d, %d) and (%d, %d) differ by %.3g, the largest entry is "
           "%.3g",
           row + 1, column + 1, column + 1, row + 1, worst, largest);
  report(in, path, largest > 0.0 ? rule : "must have entries other than zero");
  return 0;
}

/* No negative diagonal, no entry larger than the geometric mean of its diagonals, and the same mass
 * in all directions. */
static void check_mass(inspection *in)
{
  const pol_finite_elements *e = in->elements;
  const pol_pattern *pattern = e->mass_pattern;
  const int n = poli_fe_size(e);
  char rule[300], name[40], other[40];
  double total[3] = {0.0}, *diagonal = calloc((size_t)n, sizeof *diagonal);
  if (!diagonal) in->status = POL_NO_MEMORY;
  for (int j = 0; j < n && diagonal; j++) {
    const int at = pol_pattern_address(pattern, j, j);
    diagonal[j] = at < 0 ? 0.0 : e->mass[at];
    if (diagonal[j] >= 0.0) continue;
    name_freedom(in, j, name);
    snprintf(rule, sizeof rule, "must be positive, but the mass of %s is %.3g", name, diagonal[j]);
    report(in, "mass_matrix", rule);
    free(diagonal);
    return;
  }
  for (int j = 0; j < n && diagonal; j++)
    for (int k = pattern->start[j]; k < pattern->start[j + 1]; k++) {
      const int i = pattern->row[k], r = i % e->freedoms, c = j % e->freedoms;
      if (r == c && r < 3) total[r] += e->mass[k];
      if (i >= j || e->mass[k] * e->mass[k] <= diagonal[i] * diagonal[j] * (1.0 + 1e-8)) continue;
      name_freedom(in, i, name);
      name_freedom(in, j, other);
      snprintf(rule, sizeof rule,
               "must be positive definite, but the entry of %s and %s, %.3g, is larger than those "
               "of the diagonal, %.3g and %.3g, allow",
               name, other, e->mass[k], diagonal[i], diagonal[j]);
      report(in, "mass_matrix", rule);
      free(diagonal);
      return;
    }
  free(diagonal);
  if (in->status) return;
  for (int i = 0; i < 3; i++)
    if (!(total[i] > 0.0) || fabs(total[i] - total[0]) > 1e-6 * fabs(total[0])) {
      snprintf(rule, sizeof rule,
               "must weigh the same in x, y and z, but has %.6g, %.6g and %.6g kg: the order of "
               "freedoms must be ux, uy, uz%s, node by node, without supports",
               total[0], total[1], total[2], e->freedoms == 6 ? ", rx, ry, rz" : "");
      report(in, "mass_matrix", rule);
      return;
    }
}

/* K r = 0 for the six rigid motions r, relative to the sum of the absolute terms. */
static void check_rigid(inspection *in)
{
  static const char *const motions[] = {"translation along x", "translation along y",
                                        "translation along z", "rotation about x",
                                        "rotation about y",    "rotation about z"};
  const pol_finite_elements *e = in->elements;
  const pol_pattern *pattern = e->stiffness_pattern;
  const int n = poli_fe_size(e);
  double center[3] = {0.0}, u[6], *sum = malloc(2 * (size_t)n * sizeof *sum), *terms = sum + n;
  if (!sum) {
    in->status = POL_NO_MEMORY;
    return;
  }
  for (int i = 0; i < 3 * e->num_nodes; i++) center[i % 3] += e->positions[i] / e->num_nodes;
  for (int d = 0; d < 6; d++) {
    double largest = 0.0, worst = 0.0;
    int where = 0;
    memset(sum, 0, 2 * (size_t)n * sizeof *sum);
    for (int j = 0; j < n; j++) {
      if (j % e->freedoms == 0) poli_fe_rigid(e, j / e->freedoms, center, d, u);
      for (int k = pattern->start[j]; k < pattern->start[j + 1]; k++) {
        const double term = e->stiffness[k] * u[j % e->freedoms];
        sum[pattern->row[k]] += term;
        terms[pattern->row[k]] += fabs(term);
      }
    }
    for (int i = 0; i < n; i++) {
      largest = fmax(largest, terms[i]);
      if (fabs(sum[i]) <= worst) continue;
      worst = fabs(sum[i]);
      where = i;
    }
    if (worst <= 1e-6 * largest) continue;
    char rule[400], name[40];
    name_freedom(in, where, name);
    snprintf(rule, sizeof rule,
             "must let the body move freely, but resists a %s at %s with %.3g of the terms that "
             "should cancel: %s",
             motions[d], name, worst / largest,
             d < 3 ? "the mesh has supports, or its freedoms are in another order"
                   : "the mesh has supports, the nodes are in another unit than the matrices, or "
                     "they are in another order");
    report(in, "stiffness_matrix", rule);
    break;
  }
  free(sum);
}

pol_status pol_finite_elements_check(const pol_finite_elements *elements, pol_errors *errors)
{
  inspection in = {elements, errors, POL_OK};
  const int before = errors->count;
  int finite = 1;
  if (elements->num_nodes < 1 || (elements->freedoms != 3 && elements->freedoms != 6))
    report(&in, "nodes", "must be one or more, with 3 or 6 freedoms each");
  for (int i = 0; i < 3 * elements->num_nodes; i++) finite &= isfinite(elements->positions[i]) != 0;
  if (!finite) report(&in, "nodes", "must have finite coordinates");
  if (errors->count > before || in.status) return in.status ? in.status : POL_BAD_ARGUMENT;
  if (check_matrix(&in, "mass_matrix", elements->mass_pattern, elements->mass)) check_mass(&in);
  if (check_matrix(&in, "stiffness_matrix", elements->stiffness_pattern, elements->stiffness))
    check_rigid(&in);
  if (in.status) return in.status;
  return errors->count > before ? POL_BAD_ARGUMENT : POL_OK;
}
