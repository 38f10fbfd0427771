/* IDA with the equations of the slider-crank, as one would derive them by hand: the angle of the
 * crank, the way of the slider and the two angles of the universal joint as coordinates q, three
 * rows g = 0 that hold the rod on the pin of the crank, stabilized after Gear/Gupta/Leimkuhler:
 *
 *     q' = v + G^T mu     M(q) v' = f(q, v) + G^T lambda     g(q) = 0     G v = 0
 *
 * 14 unknowns; the matrix by difference quotients. */
#include "sundials_crank.h"

#include "peers.h"

#include <ida/ida.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

enum { N = 4, ROWS = 3, ALL = 2 * N + 2 * ROWS, SMALL = N + ROWS };

/* M, f, g and G at q, v; q = (crank, slider, first and second angle). */
typedef struct terms {
  double M[N][N], f[N], g[ROWS], G[ROWS][N];
} terms;

static void evaluate(const double q[N], const double v[N], terms *t)
{
  const double m = peer_rod_mass, r = peer_rod_half, *J = peer_rod_inertia, g = peer_gravity;
  const double arm = peer_crank_centre[2] - peer_crank_pivot[2];
  const double radius = peer_crank_pin[2] - peer_crank_pivot[2];
  const double ca = cos(q[2]), sa = sin(q[2]), cb = cos(q[3]), sb = sin(q[3]);
  const double across = m * r * r + J[2], turn = 2.0 * sb * cb * (across - J[0]);
  *t = (terms){0};
  t->M[0][0] = peer_crank_inertia + peer_crank_mass * arm * arm;
  t->M[1][1] = peer_slider_mass + m;
  t->M[1][3] = t->M[3][1] = m * r * sb;
  t->M[2][2] = across * sb * sb + J[0] * cb * cb;
  t->M[3][3] = m * r * r + J[1];
  t->f[0] = peer_crank_mass * g * arm * sin(q[0]);
  t->f[1] = -m * r * cb * v[3] * v[3];
  t->f[2] = m * g * r * sa * sb - turn * v[2] * v[3];
  t->f[3] = 0.5 * turn * v[2] * v[2] - m * g * r * ca * cb;
  /* end of the rod minus pin; u points along the rod to the slider */
  const double u[3] = {cb, sa * sb, -ca * sb};
  const double ua[3] = {0.0, ca * sb, sa * sb}, ub[3] = {-sb, sa * cb, -ca * cb};
  const double pin[3] = {0.0, -radius * sin(q[0]), radius * cos(q[0])};
  const double speed[3] = {0.0, -radius * cos(q[0]), -radius * sin(q[0])};
  for (int i = 0; i < ROWS; i++) {
    t->g[i] = (i ? 0.0 : q[1]) - 2.0 * r * u[i] - peer_crank_pivot[i] - pin[i];
    t->G[i][0] = -speed[i];
    t->G[i][1] = i ? 0.0 : 1.0;
    t->G[i][2] = -2.0 * r * ua[i];
    t->G[i][3] = -2.0 * r * ub[i];
  }
}

static int residual(double time, N_Vector vector, N_Vector derivative, N_Vector result, void *user)
{
  (void)time, (void)user;
  const double *y = N_VGetArrayPointer(vector), *yp = N_VGetArrayPointer(derivative);
  const double *v = y + N, *lambda = y + 2 * N, *mu = lambda + ROWS;
  double *r = N_VGetArrayPointer(result);
  terms t;
  evaluate(y, v, &t);
  for (int i = 0; i < N; i++) {
    r[i] = yp[i] - v[i];
    r[N + i] = -t.f[i];
    for (int j = 0; j < N; j++) r[N + i] += t.M[i][j] * yp[N + j];
    for (int k = 0; k < ROWS; k++) {
      r[i] -= t.G[k][i] * mu[k];
      r[N + i] -= t.G[k][i] * lambda[k];
    }
  }
  for (int k = 0; k < ROWS; k++) {
    r[2 * N + k] = t.g[k];
    r[2 * N + ROWS + k] = 0.0;
    for (int i = 0; i < N; i++) r[2 * N + ROWS + k] += t.G[k][i] * v[i];
  }
  return 0;
}

/* Solves a x = b by elimination with pivoting; a and b are overwritten, x in b. */
static void solve(double a[SMALL][SMALL], double b[SMALL])
{
  for (int k = 0; k < SMALL; k++) {
    int pivot = k;
    for (int i = k + 1; i < SMALL; i++)
      if (fabs(a[i][k]) > fabs(a[pivot][k])) pivot = i;
    for (int j = 0; j < SMALL; j++) {
      const double swap = a[k][j];
      a[k][j] = a[pivot][j], a[pivot][j] = swap;
    }
    const double swap = b[k];
    b[k] = b[pivot], b[pivot] = swap;
    for (int i = 0; i < SMALL; i++) {
      const double factor = i == k ? 0.0 : a[i][k] / a[k][k];
      for (int j = k; j < SMALL; j++) a[i][j] -= factor * a[k][j];
      b[i] -= factor * b[k];
    }
  }
  for (int k = 0; k < SMALL; k++) b[k] /= a[k][k];
}

/* Initial values with the accelerations and multipliers that belong to them: M v' = f + G^T lambda
 * and G v' = -G' v. */
static void start(double *y, double *yp)
{
  const double q[N] = {0.0, peer_slider_at, peer_rod_angle[0], peer_rod_angle[1]};
  const double v[N] = {peer_crank_speed, peer_slider_speed, peer_rod_speed[0], peer_rod_speed[1]};
  const double small = 1e-5;
  double a[SMALL][SMALL] = {{0.0}}, b[SMALL] = {0.0}, before[N], after[N];
  terms t, less, more;
  for (int i = 0; i < N; i++) before[i] = q[i] - small * v[i], after[i] = q[i] + small * v[i];
  evaluate(q, v, &t);
  evaluate(before, v, &less);
  evaluate(after, v, &more);
  for (int i = 0; i < N; i++) {
    b[i] = t.f[i];
    for (int j = 0; j < N; j++) a[i][j] = t.M[i][j];
    for (int k = 0; k < ROWS; k++) {
      a[i][N + k] = -t.G[k][i], a[N + k][i] = t.G[k][i];
      b[N + k] -= (more.G[k][i] - less.G[k][i]) / (2.0 * small) * v[i];
    }
  }
  solve(a, b);
  for (int i = 0; i < ALL; i++) y[i] = yp[i] = 0.0;
  for (int i = 0; i < N; i++) y[i] = q[i], y[N + i] = yp[i] = v[i], yp[N + i] = b[i];
  for (int k = 0; k < ROWS; k++) y[2 * N + k] = b[N + k];
}

int sundials_slider(double effort, double end, double x[3], double *seconds)
{
  SUNContext context;
  if (SUNContext_Create(NULL, &context)) return -1;
  N_Vector y = N_VNew_Serial(ALL, context), yp = N_VClone(y), id = N_VClone(y), atol = N_VClone(y);
  SUNMatrix matrix = SUNDenseMatrix(ALL, ALL, context);
  SUNLinearSolver solver = SUNLinSol_Dense(y, matrix, context);
  void *ida = IDACreate(context);
  start(N_VGetArrayPointer(y), N_VGetArrayPointer(yp));
  for (int i = 0; i < ALL; i++) { /* Newton's iteration cannot have multipliers as accurate */
    N_VGetArrayPointer(id)[i] = i < 2 * N;
    N_VGetArrayPointer(atol)[i] = (i < 2 * N ? 1.0 : 1e6) / effort;
  }
  int status = IDAInit(ida, residual, 0.0, y, yp);
  if (!status) status = IDASVtolerances(ida, 1.0 / effort, atol);
  if (!status) status = IDASetInitStep(ida, 1e-6);
  if (!status) status = IDASetLinearSolver(ida, solver, matrix);
  if (!status) status = IDASetErrFile(ida, NULL);
  if (!status) status = IDASetId(ida, id);
  if (!status) status = IDASetSuppressAlg(ida, SUNTRUE);
  if (!status) status = IDASetMaxNumSteps(ida, 100000000);
  if (!status) status = IDASetStopTime(ida, end);
  double t = 0.0;
  const double begin = peer_now();
  if (!status) status = IDASolve(ida, end, &t, y, yp, IDA_NORMAL);
  *seconds = peer_now() - begin;
  const double *q = N_VGetArrayPointer(y), r = peer_rod_half;
  x[0] = q[1] - r * cos(q[3]);
  x[1] = -r * sin(q[2]) * sin(q[3]);
  x[2] = r * cos(q[2]) * sin(q[3]);
  IDAFree(&ida);
  SUNLinSolFree(solver);
  SUNMatDestroy(matrix);
  N_VDestroy(y);
  N_VDestroy(yp);
  N_VDestroy(id);
  N_VDestroy(atol);
  SUNContext_Free(&context);
  return status < 0 ? -1 : 0;
}
