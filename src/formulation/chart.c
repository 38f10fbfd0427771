/* The charts: SO(3)xR3 with v = (Omega, x') and SE(3) with v = (Omega, U), x' = R U.
 *
 * Arnold/Cardona/Bruels 2015, section 2.  For SE(3)
 *
 *     L = diag(I, R),  bias = (0, R (Omega x U)),  N1 = -u~ R,  N2 = -(u')~ R  in the lower left
 * block, N3 = (0, 0; -u~ R, R Omega~),  G = ((R^T force)~ in the lower left block).
 */
#include <stddef.h>
#include <string.h>

#include "formulation/chart.h"
#include "lie/small.h"

static void copy_or_zero(const double *source, double out[3])
{
  for (int i = 0; i < 3; i++) out[i] = source ? source[i] : 0.0;
}

/* --- SO(3)xR3 -----------------------------------------------------------------------------------
 */

static void product_coordinates(const pol_body *body, double *q, double *v)
{
  memcpy(q, body->rotation, 4 * sizeof *q);
  pol_v3_copy(body->position, q + 4);
  pol_v3_copy(body->angular_velocity, v);
  pol_v3_copy(body->velocity, v + 3);
}

static void product_frame(const double *q, const double *v, const double *vd, pol_frame *frame)
{
  pol_quat_to_matrix(q, frame->R);
  pol_v3_copy(q + 4, frame->x);
  copy_or_zero(v, frame->w);
  copy_or_zero(v ? v + 3 : NULL, frame->u);
  copy_or_zero(vd, frame->wd);
  copy_or_zero(vd ? vd + 3 : NULL, frame->ud);
  copy_or_zero(NULL, frame->wb);
  copy_or_zero(NULL, frame->ub);
}

/* --- SE(3) --------------------------------------------------------------------------------------
 */

static void se3_coordinates(const pol_body *body, double *q, double *v)
{
  double R[9];
  product_coordinates(body, q, v);
  pol_quat_to_matrix(body->rotation, R);
  pol_m3_apply_transposed(R, body->velocity, v + 3);
}

static void se3_frame(const double *q, const double *v, const double *vd, pol_frame *frame)
{
  product_frame(q, v, vd, frame);
  if (v) {
    double convected[3];
    pol_m3_apply(frame->R, v + 3, frame->u);
    pol_v3_cross(v, v + 3, convected);
    pol_m3_apply(frame->R, convected, frame->ub);
  }
  if (vd) pol_m3_apply(frame->R, vd + 3, frame->ud);
}

/* out[3+i][j] = block */
static void set_lower_left(const double block[9], pol_m6 out)
{
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) out[3 + i][j] = block[3 * i + j];
}

static void se3_maps(const pol_frame *frame, pol_chart_maps *maps)
{
  double skew[9], block[9], back[3];
  memset(maps, 0, sizeof *maps);
  for (int i = 0; i < 3; i++) {
    maps->L[i][i] = 1.0;
    for (int j = 0; j < 3; j++) maps->L[3 + i][3 + j] = frame->R[3 * i + j];
  }
  /* -u~ R, and -(u')~ R */
  pol_v3_scale(-1.0, frame->u, back);
  pol_m3_skew(back, skew);
  pol_m3_multiply(skew, frame->R, block);
  set_lower_left(block, maps->N1);
  set_lower_left(block, maps->N3);
  pol_v3_add(frame->ud, frame->ub, back);
  pol_v3_scale(-1.0, back, back);
  pol_m3_skew(back, skew);
  pol_m3_multiply(skew, frame->R, block);
  set_lower_left(block, maps->N2);
  /* R Omega~ */
  pol_m3_skew(frame->w, skew);
  pol_m3_multiply(frame->R, skew, block);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) maps->N3[3 + i][3 + j] = block[3 * i + j];
}

static void se3_add_wrench_gradient(const pol_frame *frame, const double r[6], pol_m6 K)
{
  double local[3], skew[9];
  pol_m3_apply_transposed(frame->R, r + 3, local);
  pol_m3_skew(local, skew);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) K[3 + i][j] += skew[3 * i + j];
}

/* --- table --------------------------------------------------------------------------------------
 */

static const pol_chart charts[] = {
    [POL_SO3XR3] = {.name = "so3xr3",
                    .nq = 7,
                    .num_factors = 2,
                    .factors = {{.kind = POL_SO3, .dim = 3}, {.kind = POL_REAL, .dim = 3}},
                    .identity = 1,
                    .coordinates = product_coordinates,
                    .frame = product_frame},
    [POL_SE3_BODY] = {.name = "se3",
                      .nq = 7,
                      .num_factors = 1,
                      .factors = {{.kind = POL_SE3, .dim = 6}},
                      .coordinates = se3_coordinates,
                      .frame = se3_frame,
                      .maps = se3_maps,
                      .add_wrench_gradient = se3_add_wrench_gradient},
};

enum { NUM_CHARTS = (int)(sizeof charts / sizeof charts[0]) };

const pol_chart *pol_chart_of(pol_formulation_kind kind)
{
  return (int)kind >= 0 && (int)kind < NUM_CHARTS ? &charts[kind] : NULL;
}

int pol_formulation_count(void)
{
  return NUM_CHARTS;
}

const char *pol_formulation_name(pol_formulation_kind kind)
{
  const pol_chart *chart = pol_chart_of(kind);
  return chart ? chart->name : NULL;
}

pol_status pol_formulation_find(const char *name, pol_formulation_kind *kind)
{
  for (int i = 0; i < NUM_CHARTS; i++)
    if (strcmp(charts[i].name, name) == 0) {
      *kind = (pol_formulation_kind)i;
      return POL_OK;
    }
  return POL_BAD_ARGUMENT;
}
