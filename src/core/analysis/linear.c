/* The linearised equations of motion on independent coordinates, in full matrices.
 *
 * With N_h an orthonormal basis of the increments that the holonomic constraints allow, N_v one of
 * the velocities that all constraints allow, and P = -B^+ C N_h,
 *
 *     w = N_h p,     v = P p + N_v s,     p' = N_h^T (v - G w),     s' = N_v^T v',
 *
 * where v' follows from the balance with all constraints,
 *
 *     [ M  B^T + F ] [ v'     ]   [ -(M T + D) v - K w + f u           ]
 *     [ B  0       ] [ lambda ] = [ -C (v - G w) - B' v - C' w + e u   ],
 *
 * F = dg/dlambda, B' and C' the rates of change of B and C along the motion in the axes of
 * observation.  If it is not steady, the bases change too, N' = -B^+ B' N, which turns each of them
 * no more than it must; then
 *
 *     s' = N_v^T v' + N_v'^T P p.
 *
 * B', C' and N' are zero in a steady motion.  An input that is the acceleration of a drive adds its
 * row of B to these equations only: its coordinate and rate are free.  The coordinates of
 * first-order states are not part of w.  The motion is steady if B_h w = 0 stays true, C N_h = -B G
 * N_h in the holonomic rows, and v' = T v.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "base/arena.h"
#include "linalg/eigen.h"

/* Workspace while the equations are put together. */
typedef struct work {
  const pol_analysis *a;
  poli_linear *lin;
  poli_terms *terms;
  poli_axes axes;
  int nv, nh;      /* velocities, holonomic constraints */
  int num_tangent; /* constraints on increments and velocities: not dropped, no inputs, */
  int num_held;    /* holonomic ones among them, */
  int num_rows;    /* all that are not dropped */
  void *memory;
  int *tangent, *row; /* place of each constraint, or -1 */
  int is_steady;
  double *jacobian_rate, *curvature_rate; /* B', C' in the axes of observation: not if steady */
  double *Q, *Bt, *R;                     /* nv x nv, nv x num_tangent, num_tangent^2 */
  double *saddle, *rhs;                   /* n x n, n x (nx + nu) with n = nv + num_rows */
  double *x, *y, *z;                      /* nv + m each */
} work;

/* y = A x for sparse A of `rows` rows */
static void product(const pol_pattern *pattern, const double *values, const double *x, double *y)
{
  memset(y, 0, (size_t)pattern->rows * sizeof *y);
  pol_matrix_multiply(pattern, values, 1.0, x, y);
}

/* The first `count` of the tangent rows of B, transposed: `height` x count. */
static void transpose_rows(const work *k, int count, int height, double *Bt)
{
  const pol_pattern *pattern = k->terms->patterns.constraint;
  memset(Bt, 0, (size_t)height * (size_t)(count + 1) * sizeof *Bt);
  for (int j = 0; j < height; j++)
    for (int e = pattern->start[j]; e < pattern->start[j + 1]; e++) {
      const int row = k->tangent[pattern->row[e]];
      if (row >= 0 && row < count) Bt[poli_at(j, row, height)] = k->terms->jacobian[e];
    }
}

/* The bases of increments and velocities: columns of W and V. */
static pol_status find_bases(work *k)
{
  poli_linear *lin = k->lin;
  const size_t nv = (size_t)k->nv;
  /* without the coordinates of states, which stand last and are in no row of B */
  const int moving = poli_analysis_first_state(k->a);
  transpose_rows(k, k->num_held, moving, k->Bt);
  pol_status status = poli_full_basis(moving, k->num_held, k->Bt, k->Q, NULL);
  if (status) return status;
  for (int j = 0; j < lin->np; j++)
    memcpy(lin->W + (size_t)j * nv, k->Q + poli_at(0, k->num_held + j, moving),
           (size_t)moving * sizeof *k->Q);
  transpose_rows(k, k->num_tangent, k->nv, k->Bt);
  status = poli_full_basis(k->nv, k->num_tangent, k->Bt, k->Q, k->R);
  memcpy(lin->V + (size_t)lin->np * nv, k->Q + (size_t)k->num_tangent * nv,
         (size_t)lin->ns * nv * sizeof *k->Q);
  return status;
}

/* V = P in the columns of p; measures whether holonomic constraints stay satisfied. */
static void find_dependent_velocities(work *k)
{
  poli_linear *lin = k->lin;
  const pol_pattern *pattern = k->terms->patterns.constraint;
  const size_t nv = (size_t)k->nv;
  for (int j = 0; j < lin->np; j++) {
    const double *w = lin->W + (size_t)j * nv;
    double *curved = k->x, *rows = k->z;
    product(pattern, k->terms->curvature, w, curved);
    for (int i = 0; i < lin->m; i++)
      if (k->tangent[i] >= 0) rows[k->tangent[i]] = -curved[i];
    poli_full_solve_triangle(k->num_tangent, 1, k->R, rows);
    poli_full_multiply(k->nv, 1, k->num_tangent, 0, k->Q, rows, lin->V + (size_t)j * nv);

    /* C w + B G w in the holonomic rows, compared with the rates there are */
    double *turned = k->y, *rates = k->z, scale = 0.0;
    memset(turned, 0, nv * sizeof *turned);
    poli_axes_add(&k->axes, k->axes.G, 1.0, w, turned);
    product(pattern, k->terms->jacobian, turned, rates);
    for (int i = 0; i < k->nv; i++) scale = fmax(scale, fabs(k->a->v[i]));
    for (int i = 0; i < k->nh && scale > 0.0; i++)
      if (k->tangent[i] >= 0)
        lin->unsteady = fmax(lin->unsteady, fabs(rates[i] + curved[i]) / scale);
  }
}

/* B' and C' if the motion is not steady. */
static pol_status find_constraint_rates(work *k)
{
  const poli_terms *t = k->terms;
  k->lin->fastest = poli_terms_fastest(t, k->a);
  k->lin->unsteady =
      fmax(k->lin->unsteady, poli_axes_unsteady(&k->axes, k->a, k->lin->fastest, k->y));
  k->is_steady = !(k->lin->unsteady > POLI_STEADY);
  if (k->is_steady) return POL_OK;
  const pol_status status = poli_terms_rates(k->terms, k->a, k->jacobian_rate, k->curvature_rate);
  poli_axes_add_columns(&k->axes, k->axes.T, t->patterns.constraint, t->jacobian, k->jacobian_rate);
  poli_axes_add_columns(&k->axes, k->axes.T, t->patterns.constraint, t->curvature,
                        k->curvature_rate);
  return status;
}

/* Matrix and right-hand sides of the accelerations; p' goes to A and B. */
static void set_equations(work *k, int num_inputs, const poli_input *inputs)
{
  poli_linear *lin = k->lin;
  const poli_terms *t = k->terms;
  const size_t n = (size_t)(k->nv + k->num_rows), nv = (size_t)k->nv;
  const pol_pattern *coupling = t->patterns.coupling, *constraint = t->patterns.constraint;
  memset(k->saddle, 0, n * n * sizeof *k->saddle);
  for (int j = 0; j < k->nv; j++) {
    for (int e = coupling->start[j]; e < coupling->start[j + 1]; e++)
      k->saddle[(size_t)coupling->row[e] + (size_t)j * n] = t->mass[e];
    for (int e = constraint->start[j]; e < constraint->start[j + 1]; e++) {
      const int row = k->row[constraint->row[e]];
      if (row < 0) continue;
      k->saddle[nv + (size_t)row + (size_t)j * n] = t->jacobian[e];
      k->saddle[(size_t)j + (nv + (size_t)row) * n] += t->jacobian[e];
    }
  }
  for (int j = 0; j < lin->m && t->feedback; j++)
    for (int e = t->patterns.feedback->start[j]; e < t->patterns.feedback->start[j + 1]; e++)
      if (k->row[j] >= 0)
        k->saddle[(size_t)t->patterns.feedback->row[e] + (nv + (size_t)k->row[j]) * n] +=
            t->feedback[e];

  for (int j = 0; j < lin->nx; j++) {
    const double *w = lin->W + (size_t)j * nv, *v = lin->V + (size_t)j * nv;
    double *rhs = k->rhs + (size_t)j * n, *moved = k->x, *rate = k->y, *curved = k->z;
    memset(moved, 0, nv * sizeof *moved);
    poli_axes_add(&k->axes, k->axes.T, 1.0, v, moved);
    memset(rhs, 0, n * sizeof *rhs);
    pol_matrix_multiply(coupling, t->mass, -1.0, moved, rhs);
    pol_matrix_multiply(coupling, t->damping, -1.0, v, rhs);
    pol_matrix_multiply(coupling, t->stiffness, -1.0, w, rhs);
    memcpy(rate, v, nv * sizeof *rate);
    poli_axes_add(&k->axes, k->axes.G, -1.0, w, rate);
    for (int i = poli_analysis_first_state(k->a); i < k->nv; i++) rate[i] = 0.0;
    poli_full_multiply(lin->np, 1, k->nv, 1, lin->W, rate, lin->A + poli_at(0, j, lin->nx));
    product(constraint, t->curvature, rate, curved);
    if (!k->is_steady) {
      pol_matrix_multiply(constraint, k->jacobian_rate, 1.0, v, curved);
      pol_matrix_multiply(constraint, k->curvature_rate, 1.0, w, curved);
      memcpy(lin->Wd + (size_t)j * nv, rate, nv * sizeof *rate);
    }
    for (int i = 0; i < lin->m; i++)
      if (k->row[i] >= 0) rhs[nv + (size_t)k->row[i]] = -curved[i];
  }
  for (int j = 0; j < num_inputs; j++) {
    double *rhs = k->rhs + (size_t)(lin->nx + j) * n;
    memset(rhs, 0, n * sizeof *rhs);
    if (inputs[j].force)
      memcpy(rhs, inputs[j].force, nv * sizeof *rhs);
    else
      rhs[nv + (size_t)k->row[k->a->formulation->drives[inputs[j].drive].placed.row]] = 1.0;
  }
}

/* A and B from the solution of these equations. */
static pol_status solve_equations(work *k, pol_diagnostics *diagnostics)
{
  poli_linear *lin = k->lin;
  const size_t n = (size_t)(k->nv + k->num_rows), nv = (size_t)k->nv;
  int column;
  const pol_status status = poli_full_solve((int)n, k->saddle, lin->nx + lin->nu, k->rhs, &column);
  if (status == POL_SINGULAR && diagnostics) {
    if (column < k->nv)
      poli_analysis_name_motion(k->a, column, diagnostics->where, sizeof diagnostics->where);
    return poli_analysis_fail(k->a, status, "the mass matrix is singular on the free motions",
                              "give every body a mass and an inertia", diagnostics);
  }
  for (int j = 0; j < lin->nx + lin->nu && !status; j++) {
    const double *rhs = k->rhs + (size_t)j * n;
    double *to = j < lin->nx ? lin->A + (size_t)j * (size_t)lin->nx
                             : lin->B + (size_t)(j - lin->nx) * (size_t)lin->nx;
    poli_full_multiply(lin->ns, 1, k->nv, 1, lin->V + (size_t)lin->np * nv, rhs, to + lin->np);
    for (int i = 0; i < lin->m; i++)
      lin->lambda[poli_at(i, j, lin->m)] = k->row[i] >= 0 ? rhs[nv + (size_t)k->row[i]] : 0.0;
  }
  return status;
}

/* The part of A from the change of the bases, and this change: with w' and v' of column j of W and
 * V, those of the bases are w' - W A_j and v' - V A_j. */
static void add_change_of_bases(work *k)
{
  poli_linear *lin = k->lin;
  const size_t nv = (size_t)k->nv, n = (size_t)(k->nv + k->num_rows);
  for (int s = 0; s < lin->ns; s++) {
    double *changed = k->x, *rows = k->y, *turned = k->z;
    product(k->terms->patterns.constraint, k->jacobian_rate, lin->V + (size_t)(lin->np + s) * nv,
            changed);
    for (int i = 0; i < lin->m; i++)
      if (k->tangent[i] >= 0) rows[k->tangent[i]] = -changed[i];
    poli_full_solve_triangle(k->num_tangent, 1, k->R, rows);
    poli_full_multiply(k->nv, 1, k->num_tangent, 0, k->Q, rows, turned);
    for (int j = 0; j < lin->np; j++)
      for (size_t i = 0; i < nv; i++)
        lin->A[poli_at(lin->np + s, j, lin->nx)] += turned[i] * lin->V[i + (size_t)j * nv];
  }
  for (int j = 0; j < lin->nx; j++) {
    const double *A = lin->A + poli_at(0, j, lin->nx);
    poli_full_multiply(k->nv, 1, lin->nx, 0, lin->W, A, k->x);
    poli_full_multiply(k->nv, 1, lin->nx, 0, lin->V, A, k->y);
    for (size_t i = 0; i < nv; i++) {
      lin->Wd[i + (size_t)j * nv] -= k->x[i];
      lin->Vd[i + (size_t)j * nv] = k->rhs[i + (size_t)j * n] - k->y[i];
    }
  }
}

/* Numbers the constraints: holonomic ones first, those of inputs only among all rows. */
static void number_rows(work *k, int num_inputs, const poli_input *inputs)
{
  const unsigned char *dropped = pol_assembler_dropped(k->a->assembler);
  k->num_tangent = k->num_held = k->num_rows = 0;
  for (int i = 0; i < k->lin->m; i++) {
    int is_input = 0;
    for (int j = 0; j < num_inputs; j++)
      if (inputs[j].drive >= 0 && k->a->formulation->drives[inputs[j].drive].placed.row == i)
        is_input = 1;
    k->row[i] = dropped[i] ? -1 : k->num_rows++;
    k->tangent[i] = dropped[i] || is_input ? -1 : k->num_tangent++;
    if (k->tangent[i] >= 0 && i < k->nh) k->num_held = k->num_tangent;
  }
}

static pol_status allocate(work *k, int num_inputs, const poli_input *inputs)
{
  poli_linear *lin = k->lin;
  const pol_dae *dae = k->a->dae;
  lin->nv = k->nv = dae->group.nv;
  lin->m = pol_dae_num_constraints(dae);
  lin->nu = num_inputs;
  k->nh = dae->num_holonomic;
  const size_t nv = (size_t)k->nv, m = (size_t)lin->m;
  poli_arena arena = {0};
  do {
    POLI_TAKE(&arena, k->tangent, m);
    POLI_TAKE(&arena, k->row, m);
    POLI_TAKE_EACH(&arena, nv, &k->axes.T, &k->axes.G);
    POLI_TAKE_EACH(&arena, nv + m, &k->x, &k->y, &k->z);
    POLI_TAKE_EACH(&arena, pol_pattern_nonzeros(k->terms->patterns.constraint), &k->jacobian_rate,
                   &k->curvature_rate);
    POLI_TAKE(&arena, k->Q, nv * nv);
    POLI_TAKE(&arena, k->Bt, nv * (m + 1));
    POLI_TAKE(&arena, k->R, m * m);
    POLI_TAKE(&arena, k->saddle, (nv + m) * (nv + m));
    POLI_TAKE(&arena, k->rhs, (nv + m) * (2 * nv + (size_t)num_inputs));
  } while (poli_arena_again(&arena));
  k->memory = arena.memory;
  if (!k->memory) return POL_NO_MEMORY;
  number_rows(k, num_inputs, inputs);
  lin->np = poli_analysis_first_state(k->a) - k->num_held;
  lin->ns = k->nv - k->num_tangent;
  lin->nx = lin->np + lin->ns;
  const size_t nx = (size_t)lin->nx;
  arena = (poli_arena){0};
  do {
    POLI_TAKE_EACH(&arena, nv * nx, &lin->W, &lin->V, &lin->Wd, &lin->Vd);
    POLI_TAKE(&arena, lin->A, nx * nx);
    POLI_TAKE(&arena, lin->B, nx * (size_t)num_inputs);
    POLI_TAKE(&arena, lin->lambda, m * (nx + (size_t)num_inputs));
  } while (poli_arena_again(&arena));
  lin->memory = arena.memory;
  return lin->memory ? POL_OK : POL_NO_MEMORY;
}

pol_status poli_linear_create(poli_linear **linear, const pol_analysis *analysis,
                              const double frame[3], int num_inputs, const poli_input *inputs,
                              pol_diagnostics *diagnostics)
{
  const pol_point at = pol_state_point(&analysis->state);
  work k = {.a = analysis, .lin = calloc(1, sizeof *k.lin)};
  *linear = NULL;
  pol_status status = k.lin ? POL_OK : POL_NO_MEMORY;
  if (!status) status = poli_terms_create(&k.terms, analysis->dae);
  if (!status) status = allocate(&k, num_inputs, inputs);
  if (!status) status = poli_terms_evaluate(k.terms, &at, diagnostics);
  if (!status) {
    poli_axes_set(&k.axes, analysis, frame);
    status = find_bases(&k);
  }
  if (!status) {
    find_dependent_velocities(&k);
    status = find_constraint_rates(&k);
  }
  if (!status) {
    set_equations(&k, num_inputs, inputs);
    status = solve_equations(&k, diagnostics);
  }
  if (!status && !k.is_steady) add_change_of_bases(&k);
  poli_terms_free(&k.terms);
  free(k.memory);
  if (status)
    poli_linear_free(&k.lin);
  else
    *linear = k.lin;
  return status ? poli_analysis_fail(analysis, status, NULL, NULL, diagnostics) : POL_OK;
}

void poli_linear_free(poli_linear **linear)
{
  if (!linear || !*linear) return;
  free((*linear)->memory);
  free(*linear);
  *linear = NULL;
}
