/* Finite element models from files and to files. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/mesh_files.h>
#include <polhode/output.h>

#include "base/errors.h"
#include "io/file/matrix_market.h"

/* Reads one matrix; what is wrong is reported. */
static pol_status read_matrix(const char *file, const char *path, pol_pattern **pattern,
                              double **values, pol_errors *errors)
{
  char message[400] = "";
  poli_entries m;
  pol_status status = poli_matrix_market_read(&m, file, message, sizeof message);
  if (!status && m.rows != m.cols) {
    snprintf(message, sizeof message, "%.200s: must be square, not %d x %d", file, m.rows, m.cols);
    status = POL_BAD_ARGUMENT;
  }
  if (!status)
    status =
        pol_matrix_from_entries(pattern, values, m.rows, m.cols, m.count, m.row, m.col, m.value);
  poli_entries_free(&m);
  if (*message && pol_errors_add(errors, path, "", message, "")) status = POL_NO_MEMORY;
  return status == POL_IO ? POL_BAD_ARGUMENT : status;
}

/* From a unit of length to m: forces and times stay, so that masses and stiffnesses are by that
 * unit; each freedom of rotation has the unit more. */
static void change_unit(pol_finite_elements *e, double unit)
{
  for (int i = 0; i < 3 * e->num_nodes; i++) e->positions[i] *= unit;
  for (int m = 0; m < 2; m++) {
    const pol_pattern *pattern = m ? e->stiffness_pattern : e->mass_pattern;
    double *values = m ? e->stiffness : e->mass;
    for (int j = 0; j < pattern->cols; j++)
      for (int k = pattern->start[j]; k < pattern->start[j + 1]; k++) {
        const int turns = (j % e->freedoms >= 3) + (pattern->row[k] % e->freedoms >= 3);
        values[k] *= turns == 0 ? 1.0 / unit : turns == 1 ? 1.0 : unit;
      }
  }
}

pol_status pol_finite_elements_read(pol_finite_elements **elements, long **ids,
                                    const char *mass_file, const char *stiffness_file,
                                    const char *nodes_file, double unit, pol_errors *errors)
{
  pol_finite_elements *e = calloc(1, sizeof *e);
  const int before = errors->count;
  char message[400] = "";
  poli_nodes nodes = {0};
  *elements = NULL;
  if (ids) *ids = NULL;
  if (!e) return POL_NO_MEMORY;
  pol_status status = read_matrix(mass_file, "mass_matrix", &e->mass_pattern, &e->mass, errors);
  if (status != POL_NO_MEMORY)
    status = read_matrix(stiffness_file, "stiffness_matrix", &e->stiffness_pattern, &e->stiffness,
                         errors);
  if (status != POL_NO_MEMORY) {
    status = poli_nodes_read(&nodes, nodes_file, message, sizeof message);
    e->positions = nodes.positions;
    nodes.positions = NULL;
    e->num_nodes = (int)nodes.count;
  }
  if (status != POL_NO_MEMORY && !*message && e->stiffness_pattern && e->mass_pattern) {
    const int n = e->stiffness_pattern->rows;
    e->freedoms = n == 3 * e->num_nodes ? 3 : n == 6 * e->num_nodes ? 6 : 0;
    if (e->mass_pattern->rows != n)
      snprintf(message, sizeof message,
               "%.150s: must have 3 or 6 freedoms for each node: the mass matrix has %d rows, the "
               "stiffness matrix %d",
               nodes_file, e->mass_pattern->rows, n);
    else if (!e->freedoms)
      snprintf(
          message, sizeof message,
          "%.150s: must have a third or a sixth of the rows of the matrices, %d, not %d nodes: "
          "each has the freedoms ux, uy, uz or ux, uy, uz, rx, ry, rz",
          nodes_file, n, e->num_nodes);
  }
  if (*message && pol_errors_add(errors, "nodes", "", message, "")) status = POL_NO_MEMORY;
  if (status != POL_NO_MEMORY && errors->count == before) {
    if (unit != 1.0) change_unit(e, unit);
    status = pol_finite_elements_check(e, errors);
  }
  if (status != POL_NO_MEMORY) status = errors->count > before ? POL_BAD_ARGUMENT : POL_OK;
  if (!status) {
    *elements = e;
    if (ids) {
      *ids = nodes.ids;
      nodes.ids = NULL;
    }
  } else {
    pol_finite_elements_free(&e);
  }
  poli_nodes_free(&nodes);
  return status;
}

pol_status pol_finite_elements_write(const pol_finite_elements *e, const char *mass_file,
                                     const char *stiffness_file, const char *nodes_file,
                                     const char **failed)
{
  const char *const files[] = {mass_file, stiffness_file, nodes_file};
  for (int i = 0; i < 3; i++) {
    FILE *file = fopen(files[i], "w");
    *failed = files[i];
    if (!file) return POL_IO;
    const pol_pattern *pattern = i ? e->stiffness_pattern : e->mass_pattern;
    if (i < 2)
      poli_matrix_market_write(file, pattern->cols, pattern->start, pattern->row,
                               i ? e->stiffness : e->mass);
    else
      fprintf(file, "node,x,y,z\n");
    for (int n = 0; n < e->num_nodes && i == 2; n++)
      fprintf(file, "%d,%.17g,%.17g,%.17g\n", n + 1, e->positions[3 * n], e->positions[3 * n + 1],
              e->positions[3 * n + 2]);
    const pol_status status = pol_output_close(file, files[i], POL_OK);
    if (status) return status;
  }
  *failed = NULL;
  return POL_OK;
}
