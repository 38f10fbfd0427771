/* Changes of a body's velocity in the coordinates of its formulation.
 *
 * A frame has the velocities y = L(q) v, chart.h.  A change of one component of y, the others
 * staying, is the least change of v with L dv = dy: dv = L^T (L L^T)^-1 dy where the coordinates
 * have six freedoms or more.  Where they have fewer, not all of the others can stay: it is the
 * least change of v that gives this component its value, dv = l dy/|l|^2 with l its row of L.
 */
#include <math.h>
#include <string.h>

#include "formulation/formulation.h"

/* Solves A x = b of size n, A symmetric and positive definite, by elimination; both are
 * overwritten. */
static void solve_small(int n, pol_map A, double b[POL_CHART_MAX_DIM])
{
  for (int k = 0; k < n; k++)
    for (int i = k + 1; i < n; i++) {
      double factor = A[i][k] / A[k][k];
      for (int j = k; j < n; j++) A[i][j] -= factor * A[k][j];
      b[i] -= factor * b[k];
    }
  for (int k = n - 1; k >= 0; k--) {
    for (int j = k + 1; j < n; j++) b[k] -= A[k][j] * b[j];
    b[k] /= A[k][k];
  }
}

/* L of a body with maps or without. */
static void frame_map(const pol_formulation *f, const double *q, int body, pol_map L)
{
  const pol_placed_body *placed = &f->bodies[body];
  pol_chart_point point = pol_formulation_point(f, q, NULL, NULL, body);
  pol_chart_maps maps;
  pol_frame frame;
  memset(&maps, 0, sizeof maps);
  placed->chart->frame(&point, &frame);
  if (!placed->chart->direct) placed->chart->maps(&point, &frame, &maps);
  for (int i = 0; i < placed->chart->dim && placed->chart->direct; i++)
    maps.L[6 - placed->chart->dim + i][i] = 1.0;
  memcpy(L, maps.L, sizeof maps.L);
}

/* The columns of v that hold component i of y by themselves, or all of the rotation, are kept. */
static void keep_component(const pol_chart *chart, pol_map L, int i, unsigned char *keep)
{
  int only = -1, count = 0;
  for (int j = 0; j < chart->dim; j++) {
    if (L[i][j] == 0.0) continue;
    count++;
    only = L[i][j] == 1.0 ? j : -1;
  }
  if (count == 1 && only >= 0)
    keep[only] = 1;
  else if (i < 3)
    memset(keep, 1, (size_t)chart->num_rotations);
}

void pol_formulation_set_velocity(const pol_formulation *formulation, const double *q, double *v,
                                  int body, int component, double value, unsigned char *keep)
{
  const pol_placed_body *placed = &formulation->bodies[body];
  const int dim = placed->chart->dim;
  pol_map L, square = {{0.0}};
  double y = 0.0, length = 0.0, b[POL_CHART_MAX_DIM] = {0.0};
  frame_map(formulation, q, body, L);
  for (int j = 0; j < dim; j++) {
    y += L[component][j] * v[placed->v + j];
    length += L[component][j] * L[component][j];
  }
  if (dim >= 6) {
    for (int i = 0; i < 6; i++)
      for (int j = 0; j < 6; j++)
        for (int k = 0; k < dim; k++) square[i][j] += L[i][k] * L[j][k];
    b[component] = value - y;
    solve_small(6, square, b);
  } else if (length > 0.0) { /* else the component cannot change */
    b[component] = (value - y) / length;
  }
  for (int j = 0; j < dim; j++)
    for (int i = 0; i < 6; i++) v[placed->v + j] += L[i][j] * b[i];
  keep_component(placed->chart, L, component, keep + placed->v);
}
