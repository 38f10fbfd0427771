/* Components of a body's velocity in the coordinates of its formulation.
 *
 * A frame has the velocities y = L(q) v, chart.h, and a rigid body the kinetic energy y . N y/2
 * with N = diag(J, m I).  Component i of y is row i of L times v; a change of it by one, the others
 * staying, is the impulse N e_i on the frame, L^T N e_i in the coordinates.
 */
#include <string.h>

#include "formulation/formulation.h"

/* L of a body with maps or without. */
static void frame_map(const pol_formulation *f, const double *q, int body, poli_map L)
{
  const poli_placed_body *placed = &f->bodies[body];
  poli_chart_point point = poli_formulation_point(f, q, NULL, NULL, body);
  poli_chart_maps maps;
  poli_frame frame;
  memset(&maps, 0, sizeof maps);
  placed->chart->frame(&point, &frame);
  if (!placed->chart->direct) placed->chart->maps(&point, &frame, &maps);
  for (int i = 0; i < placed->chart->dim && placed->chart->direct; i++)
    maps.L[6 - placed->chart->dim + i][i] = 1.0;
  memcpy(L, maps.L, sizeof maps.L);
}

double poli_formulation_velocity_row(const pol_formulation *formulation, const double *q, int body,
                                     int component, double *row, double *impulse)
{
  const poli_placed_body *placed = &formulation->bodies[body];
  const size_t nv = (size_t)formulation->dae.group.nv;
  double N[6] = {0.0};
  poli_map L;
  frame_map(formulation, q, body, L);
  for (int i = 0; i < 3 && component < 3; i++) N[i] = placed->body->inertia[3 * component + i];
  if (component >= 3) N[component] = placed->body->mass;
  memset(row, 0, nv * sizeof *row);
  memset(impulse, 0, nv * sizeof *impulse);
  for (int j = 0; j < placed->chart->dim; j++) {
    row[placed->v + j] = L[component][j];
    for (int i = 0; i < 6; i++) impulse[placed->v + j] += L[i][j] * N[i];
  }
  return N[component];
}
