/* SUNDIALS: the heavy top as a user would write it for a general solver.
 *
 *   IDA, stabilized index 2     position, quaternion, velocities and multipliers of the tip,
 *                               Gear/Gupta/Leimkuhler: 19 unknowns, hard constraints
 *   IDA, minimal coordinates    quaternion and angular velocity about the tip, derived by hand: 7
 *   ARKODE, minimal coordinates the same as an explicit ordinary differential equation, order 8
 *
 * Dense matrices, exact for the first, by difference quotients for the second; rtol = atol. */
#include "peers.h"
#include "sundials_crank.h"

#include <arkode/arkode_erkstep.h>
#include <ida/ida.h>
#include <math.h>
#include <nvector/nvector_serial.h>
#include <sundials/sundials_config.h>
#include <sundials/sundials_types.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

enum { MINIMAL = 7, FULL = 19 };
static const double mass_factor = 1e-2; /* see full_residual */

static void cross(const double a[3], const double b[3], double c[3])
{
  for (int i = 0; i < 3; i++)
    c[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

/* Rotation matrix by rows; the length of the quaternion cancels. */
static void rotation(const double p[4], double R[3][3])
{
  const double w = p[0], x = p[1], y = p[2], z = p[3];
  const double s = 2.0 / (w * w + x * x + y * y + z * z);
  R[0][0] = 1.0 - s * (y * y + z * z), R[0][1] = s * (x * y - w * z), R[0][2] = s * (x * z + w * y);
  R[1][0] = s * (x * y + w * z), R[1][1] = 1.0 - s * (x * x + z * z), R[1][2] = s * (y * z - w * x);
  R[2][0] = s * (x * z - w * y), R[2][1] = s * (y * z + w * x), R[2][2] = 1.0 - s * (x * x + y * y);
}

/* p' = p o (0, w)/2 */
static void quaternion_rate(const double p[4], const double w[3], double rate[4])
{
  rate[0] = 0.5 * (-p[1] * w[0] - p[2] * w[1] - p[3] * w[2]);
  rate[1] = 0.5 * (p[0] * w[0] + p[2] * w[2] - p[3] * w[1]);
  rate[2] = 0.5 * (p[0] * w[1] + p[3] * w[0] - p[1] * w[2]);
  rate[3] = 0.5 * (p[0] * w[2] + p[1] * w[1] - p[2] * w[0]);
}

/* y = (quaternion, angular velocity in body axes): Euler's equations about the tip. */
static void minimal_rate(const double *y, double *rate)
{
  static const double arm[3] = {0.0, 1.0, 0.0};
  const double *w = y + 4;
  double R[3][3], J[3], weight[3], momentum[3], gyro[3], torque[3];
  rotation(y, R);
  quaternion_rate(y, w, rate);
  for (int i = 0; i < 3; i++) {
    J[i] = peer_top_inertia[i] + (i == 1 ? 0.0 : peer_top_mass);
    weight[i] = -peer_top_mass * peer_gravity * R[2][i];
    momentum[i] = J[i] * w[i];
  }
  cross(arm, weight, torque);
  cross(w, momentum, gyro);
  for (int i = 0; i < 3; i++) rate[4 + i] = (torque[i] - gyro[i]) / J[i];
}

static int minimal_function(double t, N_Vector y, N_Vector rate, void *user)
{
  (void)t, (void)user;
  minimal_rate(N_VGetArrayPointer(y), N_VGetArrayPointer(rate));
  return 0;
}

static int minimal_residual(double t, N_Vector y, N_Vector yp, N_Vector r, void *user)
{
  (void)t, (void)user;
  double rate[MINIMAL];
  minimal_rate(N_VGetArrayPointer(y), rate);
  for (int i = 0; i < MINIMAL; i++) N_VGetArrayPointer(r)[i] = N_VGetArrayPointer(yp)[i] - rate[i];
  return 0;
}

/* y = (x, p, v, w, force of the tip, multiplier mu):
 *
 *     x' = v + mu     p' = p o w/2     m v' = m g + lambda     J w' = J w x w - X x (R^T lambda)
 *     x - R X = 0     v - R (w x X) = 0
 *
 * lambda is scaled so that its numbers are of the size of the others. */
static int full_residual(double t, N_Vector vector, N_Vector derivative, N_Vector residual,
                         void *user)
{
  (void)t, (void)user;
  static const double arm[3] = {0.0, 1.0, 0.0};
  const double *y = N_VGetArrayPointer(vector), *yp = N_VGetArrayPointer(derivative);
  const double *x = y, *p = y + 3, *v = y + 7, *w = y + 10, *mu = y + 16;
  double *r = N_VGetArrayPointer(residual);
  double R[3][3], rate[4], force[3], local[3], momentum[3], gyro[3], torque[3], swing[3];
  rotation(p, R);
  quaternion_rate(p, w, rate);
  for (int i = 0; i < 3; i++) force[i] = y[13 + i] / mass_factor;
  for (int i = 0; i < 3; i++) {
    local[i] = R[0][i] * force[0] + R[1][i] * force[1] + R[2][i] * force[2];
    momentum[i] = peer_top_inertia[i] * w[i];
  }
  cross(arm, local, torque);
  cross(w, momentum, gyro);
  cross(w, arm, swing);
  for (int i = 0; i < 4; i++) r[3 + i] = yp[3 + i] - rate[i];
  for (int i = 0; i < 3; i++) {
    const double weight = i == 2 ? -peer_gravity : 0.0;
    r[i] = yp[i] - v[i] - mu[i];
    r[7 + i] = yp[7 + i] - weight - force[i] / peer_top_mass;
    r[10 + i] = yp[10 + i] + (gyro[i] + torque[i]) / peer_top_inertia[i];
    r[13 + i] = x[i] - R[i][1];
    r[16 + i] = v[i] - R[i][0] * swing[0] - R[i][1] * swing[1] - R[i][2] * swing[2];
  }
  return 0;
}

/* p p^T of a rotation matrix: |p|^2 R. */
static void quadratic(const double p[4], double Q[3][3])
{
  const double w = p[0], x = p[1], y = p[2], z = p[3];
  Q[0][0] = w * w + x * x - y * y - z * z, Q[0][1] = 2.0 * (x * y - w * z);
  Q[1][1] = w * w - x * x + y * y - z * z, Q[1][2] = 2.0 * (y * z - w * x);
  Q[2][2] = w * w - x * x - y * y + z * z, Q[2][0] = 2.0 * (x * z - w * y);
  Q[0][2] = 2.0 * (x * z + w * y), Q[1][0] = 2.0 * (x * y + w * z), Q[2][1] = 2.0 * (y * z + w * x);
}

/* dR/dp_k, from Q(p + e_k) = Q(p) + Q(e_k) + 2 p.dQ */
static void rotation_derivative(const double p[4], int k, double D[3][3])
{
  const double n = p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3];
  double e[4] = {0.0}, sum[4], R[3][3], Q[3][3], E[3][3], S[3][3];
  e[k] = 1.0;
  for (int i = 0; i < 4; i++) sum[i] = p[i] + e[i];
  rotation(p, R);
  quadratic(p, Q);
  quadratic(e, E);
  quadratic(sum, S);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) D[i][j] = (S[i][j] - Q[i][j] - E[i][j] - 2.0 * p[k] * R[i][j]) / n;
}

/* dF/dy + c dF/dy' of full_residual. */
static int full_matrix(double t, double c, N_Vector vector, N_Vector derivative, N_Vector residual,
                       SUNMatrix matrix, void *user, N_Vector a, N_Vector b, N_Vector d)
{
  (void)t, (void)derivative, (void)residual, (void)user, (void)a, (void)b, (void)d;
  static const double arm[3] = {0.0, 1.0, 0.0};
  const double *y = N_VGetArrayPointer(vector), *p = y + 3, *w = y + 10, *J = peer_top_inertia;
  double *column[FULL], R[3][3], D[3][3], force[3], local[3], torque[3], swing[3], rate[4];
  SUNMatZero(matrix);
  for (int j = 0; j < FULL; j++) column[j] = SUNDenseMatrix_Column(matrix, j);
  for (int j = 0; j < 13; j++) column[j][j] = c;
  rotation(p, R);
  cross(w, arm, swing);
  for (int i = 0; i < 3; i++) force[i] = y[13 + i] / mass_factor;
  for (int k = 0; k < 4; k++) { /* quaternion */
    double e[4] = {0.0};
    e[k] = 1.0;
    quaternion_rate(e, w, rate);
    rotation_derivative(p, k, D);
    for (int i = 0; i < 4; i++) column[3 + k][3 + i] -= rate[i];
    for (int i = 0; i < 3; i++)
      local[i] = D[0][i] * force[0] + D[1][i] * force[1] + D[2][i] * force[2];
    cross(arm, local, torque);
    for (int i = 0; i < 3; i++) {
      column[3 + k][10 + i] = torque[i] / J[i];
      column[3 + k][13 + i] = -D[i][1];
      column[3 + k][16 + i] = -(D[i][0] * swing[0] + D[i][1] * swing[1] + D[i][2] * swing[2]);
    }
  }
  for (int k = 0; k < 3; k++) {
    double e[3] = {0.0}, Je[3] = {0.0}, Jw[3], gyro[2][3], turn[3];
    e[k] = 1.0;
    Je[k] = J[k];
    for (int i = 0; i < 3; i++) Jw[i] = J[i] * w[i];
    quaternion_rate(p, e, rate);
    cross(e, Jw, gyro[0]);
    cross(w, Je, gyro[1]);
    cross(e, arm, turn);
    cross(arm, R[k], torque);
    column[7 + k][k] = column[16 + k][k] = -1.0;
    column[13 + k][7 + k] = -1.0 / (peer_top_mass * mass_factor);
    column[k][13 + k] = column[7 + k][16 + k] = 1.0;
    for (int i = 0; i < 4; i++) column[10 + k][3 + i] = -rate[i];
    for (int i = 0; i < 3; i++) {
      column[10 + k][10 + i] += (gyro[0][i] + gyro[1][i]) / J[i];
      column[10 + k][16 + i] = -(R[i][0] * turn[0] + R[i][1] * turn[1] + R[i][2] * turn[2]);
      column[13 + k][10 + i] = torque[i] / (J[i] * mass_factor);
    }
  }
  return 0;
}

/* Initial values and their derivatives. */
static void minimal_start(double *y, double *yp)
{
  y[0] = 1.0, y[1] = y[2] = y[3] = 0.0;
  for (int i = 0; i < 3; i++) y[4 + i] = peer_top_spin[i];
  minimal_rate(y, yp);
}

static void full_start(double *y, double *yp)
{
  static const double arm[3] = {0.0, 1.0, 0.0};
  double small[MINIMAL], rate[MINIMAL], swing[3], inward[3], angular[3];
  minimal_start(small, rate);
  cross(peer_top_spin, arm, swing); /* all axes agree */
  cross(peer_top_spin, swing, inward);
  cross(rate + 4, arm, angular);
  for (int i = 0; i < FULL; i++) y[i] = yp[i] = 0.0;
  for (int i = 0; i < 4; i++) y[3 + i] = small[i], yp[3 + i] = rate[i];
  for (int i = 0; i < 3; i++) {
    const double weight = i == 2 ? -peer_gravity : 0.0;
    y[i] = arm[i], yp[i] = swing[i];
    y[7 + i] = swing[i], yp[7 + i] = angular[i] + inward[i];
    y[10 + i] = peer_top_spin[i], yp[10 + i] = rate[4 + i];
    y[13 + i] = mass_factor * peer_top_mass * (yp[7 + i] - weight);
  }
}

static int run_ida(int size, IDAResFn residual, double effort, double end, double x[3],
                   double *seconds)
{
  SUNContext context;
  if (SUNContext_Create(NULL, &context)) return -1;
  N_Vector y = N_VNew_Serial(size, context), yp = N_VClone(y), id = N_VClone(y), atol = N_VClone(y);
  SUNMatrix matrix = SUNDenseMatrix(size, size, context);
  SUNLinearSolver solver = SUNLinSol_Dense(y, matrix, context);
  void *ida = IDACreate(context);
  (size == FULL ? full_start : minimal_start)(N_VGetArrayPointer(y), N_VGetArrayPointer(yp));
  for (int i = 0; i < size; i++) { /* Newton's iteration cannot have multipliers as accurate */
    N_VGetArrayPointer(id)[i] = i < 13;
    N_VGetArrayPointer(atol)[i] = (i < 13 ? 1.0 : 1e6) / effort;
  }
  int status = IDAInit(ida, residual, 0.0, y, yp);
  if (!status) status = IDASVtolerances(ida, 1.0 / effort, atol);
  if (!status) status = IDASetInitStep(ida, 1e-6);
  if (!status) status = IDASetLinearSolver(ida, solver, matrix);
  if (!status && size == FULL) status = IDASetJacFn(ida, full_matrix);
  if (!status) status = IDASetErrFile(ida, NULL);
  if (!status) status = IDASetId(ida, id);
  if (!status && size == FULL) status = IDASetSuppressAlg(ida, SUNTRUE);
  if (!status) status = IDASetMaxNumSteps(ida, 100000000);
  if (!status) status = IDASetStopTime(ida, end);
  double t = 0.0;
  const double begin = peer_now();
  if (!status) status = IDASolve(ida, end, &t, y, yp, IDA_NORMAL);
  *seconds = peer_now() - begin;
  double R[3][3];
  const double *values = N_VGetArrayPointer(y);
  rotation(values + (size == FULL ? 3 : 0), R);
  for (int i = 0; i < 3; i++) x[i] = size == FULL ? values[i] : R[i][1];
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

static int ida_full(double effort, double end, double x[3], double *seconds)
{
  return run_ida(FULL, full_residual, effort, end, x, seconds);
}

static int ida_minimal(double effort, double end, double x[3], double *seconds)
{
  return run_ida(MINIMAL, minimal_residual, effort, end, x, seconds);
}

static int arkode_minimal(double effort, double end, double x[3], double *seconds)
{
  SUNContext context;
  double derivative[MINIMAL], R[3][3], t = 0.0;
  if (SUNContext_Create(NULL, &context)) return -1;
  N_Vector y = N_VNew_Serial(MINIMAL, context);
  minimal_start(N_VGetArrayPointer(y), derivative);
  void *arkode = ERKStepCreate(minimal_function, 0.0, y, context);
  int status = ERKStepSStolerances(arkode, 1.0 / effort, 1.0 / effort);
  if (!status) status = ERKStepSetTableNum(arkode, ARKODE_FEHLBERG_13_7_8);
  if (!status) status = ERKStepSetMaxNumSteps(arkode, 100000000);
  if (!status) status = ERKStepSetStopTime(arkode, end);
  const double begin = peer_now();
  if (!status) status = ERKStepEvolve(arkode, end, y, &t, ARK_NORMAL);
  *seconds = peer_now() - begin;
  rotation(N_VGetArrayPointer(y), R);
  for (int i = 0; i < 3; i++) x[i] = R[i][1];
  ERKStepFree(&arkode);
  N_VDestroy(y);
  SUNContext_Free(&context);
  return status < 0 ? -1 : 0;
}

const peer_method *peer_methods(int *count)
{
  static const peer_method methods[] = {
      {.program = "SUNDIALS " SUNDIALS_VERSION,
       .method = "IDA, stabilized index 2, joint angles",
       .nature = "orders 1 to 5, hard loop, equations by hand, double",
       .variable = 1,
       .slider = sundials_slider,
       .first = 1e3},
      {.program = "SUNDIALS " SUNDIALS_VERSION,
       .method = "IDA, stabilized index 2, quaternion",
       .nature = "orders 1 to 5, hard joint, equations by hand, double",
       .variable = 1,
       .top = ida_full,
       .first = 1e4},
      {.program = "SUNDIALS " SUNDIALS_VERSION,
       .method = "IDA, minimal coordinates by hand",
       .nature = "orders 1 to 5, no joint, equations by hand, double",
       .variable = 1,
       .top = ida_minimal,
       .first = 1e4},
      {.program = "SUNDIALS " SUNDIALS_VERSION,
       .method = "ARKODE ERK 8(7), minimal coordinates by hand",
       .nature = "order 8, no joint, equations by hand, double",
       .variable = 1,
       .top = arkode_minimal,
       .first = 1e4},
  };
  *count = (int)(sizeof methods / sizeof methods[0]);
  return methods;
}
