/* Joint coordinates; see coordinate.h for the definitions.  With theta a function of the rows
 * x = (c, s), f_i = dtheta/dx_i and f_ij = d^2 theta/dx_i dx_j,
 *
 *     theta' = sum f_i x_i',     grad theta = sum f_i grad x_i,
 *     H      = sum f_i H_i + sum f_ij grad x_i grad x_j^T,
 *
 * where sum f_i H_i is the stiffness of the rows with the multipliers f_i.  Of a spring on it, with
 * g = grad theta and y = (w1, u1, w2, u2),
 *
 *     d(T g)/dq = T H + g (dT/dtheta g + dT/dtheta' H^T y)^T,     d(T g)/dy = dT/dtheta' g g^T.
 */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include <polhode/lie.h>

#include "lie/small.h"
#include "mechanism/coordinate.h"

static const double pi = 3.14159265358979323846;

/* --- which coordinates a joint has ------------------------------------------------------------ */

/* Its rows d, or c and s: an axis of the first marker times an axis of the second or the vector
 * between the markers. */
enum { BETWEEN = -1 };
typedef struct definition {
  pol_coordinate_info info;
  int axis[2], other[2];
} definition;

enum {
  ABOUT_X,
  ABOUT_Y,
  ABOUT_Z,
  ABOUT_FIRST_X,
  ABOUT_SECOND_Y,
  ALONG_X,
  ALONG_Y,
  ALONG_Z,
  ALONG_AXIS /* z, where it is the only one */
};
static const definition definitions[] = {
    [ABOUT_X] = {{"rotation", "angle", "rate", 1}, {1, 2}, {1, 1}},
    [ABOUT_Y] = {{"rotation", "angle", "rate", 1}, {2, 0}, {2, 2}},
    [ABOUT_Z] = {{"rotation", "angle", "rate", 1}, {0, 1}, {0, 0}},
    [ABOUT_FIRST_X] = {{"rotation-1", "angle.1", "rate.1", 1}, {1, 2}, {1, 1}},
    [ABOUT_SECOND_Y] = {{"rotation-2", "angle.2", "rate.2", 1}, {0, 0}, {0, 2}},
    [ALONG_X] = {{"translation-x", "displacement.x", "speed.x", 0}, {0}, {BETWEEN}},
    [ALONG_Y] = {{"translation-y", "displacement.y", "speed.y", 0}, {1}, {BETWEEN}},
    [ALONG_Z] = {{"translation-z", "displacement.z", "speed.z", 0}, {2}, {BETWEEN}},
    [ALONG_AXIS] = {{"translation", "displacement", "speed", 0}, {2}, {BETWEEN}},
};

enum { MAX_COORDINATES = 4 };
static const struct table {
  int count;
  int coordinate[MAX_COORDINATES];
} tables[] = {
    [POL_REVOLUTE] = {1, {ABOUT_Z}},
    [POL_PRISMATIC] = {1, {ALONG_AXIS}},
    [POL_CYLINDRICAL] = {2, {ABOUT_Z, ALONG_AXIS}},
    [POL_UNIVERSAL] = {2, {ABOUT_FIRST_X, ABOUT_SECOND_Y}},
    [POL_PLANAR] = {3, {ALONG_X, ALONG_Y, ABOUT_Z}},
    [POL_POINT_ON_LINE] = {1, {ALONG_AXIS}},
    [POL_POINT_IN_PLANE] = {2, {ALONG_X, ALONG_Y}},
    [POL_PARALLEL] = {4, {ALONG_X, ALONG_Y, ALONG_Z, ABOUT_Z}},
};

/* A generic joint has what its lock mask leaves free: translations, and a rotation if it is the
 * only one. */
static struct table table_of(const pol_joint *joint)
{
  struct table table = {0};
  int free_rotations = 0, axis = 0;
  if (joint->type != POL_GENERIC)
    return (size_t)joint->type < sizeof tables / sizeof tables[0] ? tables[joint->type] : table;
  for (int k = 0; k < 3; k++) {
    if (!(joint->locked & ((unsigned)POL_LOCK_X << k)))
      table.coordinate[table.count++] = ALONG_X + k;
    if (joint->locked & ((unsigned)POL_LOCK_ROTATION_X << k)) continue;
    free_rotations++;
    axis = k;
  }
  if (free_rotations == 1) table.coordinate[table.count++] = ABOUT_X + axis;
  return table;
}

int pol_joint_num_coordinates(const pol_joint *joint)
{
  return table_of(joint).count;
}

const pol_coordinate_info *pol_joint_coordinate(const pol_joint *joint, int index)
{
  const struct table table = table_of(joint);
  if (index < 0 || index >= table.count) return NULL;
  return &definitions[table.coordinate[index]].info;
}

int pol_joint_has_coordinate(const pol_joint *joint, pol_coordinate coordinate)
{
  const char *key = pol_coordinate_name(coordinate);
  for (int i = 0; key && i < pol_joint_num_coordinates(joint); i++)
    if (strcmp(pol_joint_coordinate(joint, i)->key, key) == 0) return 1;
  return 0;
}

int poli_joint_turning_axis(const pol_joint *joint)
{
  const struct table table = table_of(joint);
  for (int i = 0; i < table.count; i++)
    if (table.coordinate[i] <= ABOUT_Z) return table.coordinate[i] - ABOUT_X;
  return 2;
}

/* --- set-up ----------------------------------------------------------------------------------- */

static void column(const double A[9], int axis, double a[3])
{
  for (int i = 0; i < 3; i++) a[i] = A[3 * i + axis];
}

void poli_coordinate_kernel_setup(poli_coordinate_kernel *kernel, const pol_mechanism *mechanism,
                                  int joint, int index)
{
  poli_coordinate_kernel_place(kernel, mechanism, pol_mechanism_joint(mechanism, joint), index);
}

void poli_coordinate_kernel_place(poli_coordinate_kernel *kernel, const pol_mechanism *mechanism,
                                  const pol_joint *joint, int index)
{
  const pol_marker *first = pol_mechanism_marker(mechanism, joint->marker[0]);
  const pol_marker *second = pol_mechanism_marker(mechanism, joint->marker[1]);
  const definition *d = &definitions[table_of(joint).coordinate[index]];
  poli_joint_kernel *rows = &kernel->rows;
  double A1[9], A2[9];
  memset(kernel, 0, sizeof *kernel);
  kernel->angular = d->info.angular;
  kernel->body[0] = rows->body[0] = first->body;
  kernel->body[1] = rows->body[1] = second->body;
  pol_quat_to_matrix(first->rotation, A1);
  pol_quat_to_matrix(second->rotation, A2);

  /* c and s are one view if both are seen from the same axis of the second marker */
  rows->num_rows = d->info.angular ? 2 : 1;
  rows->num_views = d->info.angular && d->other[0] != d->other[1] ? 2 : 1;
  for (int i = 0; i < rows->num_views; i++) {
    poli_view *view = &rows->view[i];
    view->num_rows = 1;
    column(A1, d->axis[i], view->axis[0]);
    if (d->other[i] != BETWEEN) {
      column(A2, d->other[i], view->s);
      continue;
    }
    view->tau = 1.0;
    poli_v3_copy(second->position, view->s);
    view->offset[0] = poli_v3_dot(view->axis[0], first->position);
  }
  if (rows->num_rows > rows->num_views)
    column(A1, d->axis[1], rows->view[0].axis[rows->view[0].num_rows++]);
}

/* --- values and derivatives ------------------------------------------------------------------- */

double poli_angle_of_rows(const double row[2])
{
  double angle = atan2(row[1], row[0]);
  return angle <= -pi ? pi : angle;
}

double poli_coordinate_of_rows(const poli_coordinate_kernel *kernel, const double row[2])
{
  return kernel->angular ? poli_angle_of_rows(row) : row[0];
}

double poli_coordinate_value(const poli_coordinate_kernel *kernel, const poli_frame *first,
                             const poli_frame *second)
{
  double row[2];
  poli_joint_position(&kernel->rows, first, second, row);
  return poli_coordinate_of_rows(kernel, row);
}

double poli_angle_unwrap(double angle, double remembered)
{
  const double difference = remembered - angle;
  return fabs(difference) < 3.0 ? angle : angle + 2.0 * pi * round(difference / (2.0 * pi));
}

pol_status poli_coordinate_chain(const poli_coordinate_kernel *kernel, const double row[2],
                                 double slope[2], double bend[2][2])
{
  memset(slope, 0, 2 * sizeof *slope);
  memset(bend, 0, 2 * sizeof *bend);
  if (!kernel->angular) {
    slope[0] = 1.0;
    return POL_OK;
  }
  double r = row[0] * row[0] + row[1] * row[1];
  if (r == 0.0) return POL_RETRY;
  double cosine = row[0] / r, sine = row[1] / r;
  slope[0] = -sine;
  slope[1] = cosine;
  bend[0][0] = 2.0 * sine * cosine;
  bend[1][1] = -bend[0][0];
  bend[0][1] = bend[1][0] = sine * sine - cosine * cosine;
  return POL_OK;
}

pol_status poli_coordinate_rate(const poli_coordinate_kernel *kernel, const poli_frame *first,
                                const poli_frame *second, double *rate)
{
  double value;
  return poli_coordinate_motion(kernel, first, second, &value, rate);
}

pol_status poli_coordinate_motion(const poli_coordinate_kernel *kernel, const poli_frame *first,
                                  const poli_frame *second, double *value, double *rate)
{
  double row[2], rate_of[2] = {0.0, 0.0}, slope[2], bend[2][2];
  poli_joint_position(&kernel->rows, first, second, row);
  *value = poli_coordinate_of_rows(kernel, row);
  poli_joint_velocity(&kernel->rows, first, second, rate_of);
  pol_status status = poli_coordinate_chain(kernel, row, slope, bend);
  *rate = slope[0] * rate_of[0] + slope[1] * rate_of[1];
  return status;
}

pol_status poli_coordinate_gradient(const poli_coordinate_kernel *kernel, const poli_frame *first,
                                    const poli_frame *second, double gradient[12])
{
  double row[2], slope[2], bend[2][2], B[2][12] = {{0.0}};
  poli_joint_position(&kernel->rows, first, second, row);
  poli_joint_jacobian(&kernel->rows, first, second, B);
  pol_status status = poli_coordinate_chain(kernel, row, slope, bend);
  for (int j = 0; j < 12; j++) gradient[j] = slope[0] * B[0][j] + slope[1] * B[1][j];
  return status;
}

pol_status poli_coordinate_second(const poli_coordinate_kernel *kernel, const poli_frame *first,
                                  const poli_frame *second, double (*H)[12])
{
  double row[2], slope[2], bend[2][2], B[2][12] = {{0.0}};
  poli_joint_position(&kernel->rows, first, second, row);
  poli_joint_jacobian(&kernel->rows, first, second, B);
  pol_status status = poli_coordinate_chain(kernel, row, slope, bend);
  poli_joint_stiffness(&kernel->rows, first, second, slope, H);
  for (int j = 0; j < 12; j++) {
    double along[2]; /* derivatives of the slopes */
    for (int i = 0; i < 2; i++) along[i] = bend[i][0] * B[0][j] + bend[i][1] * B[1][j];
    for (int i = 0; i < 12; i++) H[i][j] += B[0][i] * along[0] + B[1][i] * along[1];
  }
  return status;
}

void poli_stack_velocities(const poli_frame *first, const poli_frame *second, double y[12])
{
  poli_v3_copy(first->w, y);
  poli_v3_copy(first->u, y + 3);
  poli_v3_copy(second->w, y + 6);
  poli_v3_copy(second->u, y + 9);
}

/* --- couplings -------------------------------------------------------------------------------- */

/* Which of a joint's coordinates (coordinate.h) it is; the joint has it. */
static int coordinate_index(const pol_mechanism *mechanism, int joint, pol_coordinate coordinate)
{
  const pol_joint *j = pol_mechanism_joint(mechanism, joint);
  int index = 0;
  while (strcmp(pol_joint_coordinate(j, index)->key, pol_coordinate_name(coordinate)) != 0) index++;
  return index;
}

void poli_coupling_kernel_setup(poli_coupling_kernel *kernel, const pol_mechanism *mechanism,
                                int coupling)
{
  const pol_coupling *c = pol_mechanism_coupling(mechanism, coupling);
  kernel->coupling = c;
  for (int i = 0; i < 2; i++)
    poli_coordinate_kernel_setup(&kernel->end[i], mechanism, c->joint[i],
                                 coordinate_index(mechanism, c->joint[i], c->coordinate[i]));
}

double poli_coupling_deviation(const poli_coupling_kernel *kernel, int end, const poli_frame *first,
                               const poli_frame *second, double remembered)
{
  double deviation =
      poli_coordinate_value(&kernel->end[end], first, second) - kernel->coupling->reference[end];
  return kernel->end[end].angular ? poli_angle_unwrap(deviation, remembered) : deviation;
}

double pol_mechanism_coordinate(const pol_mechanism *mechanism, int joint,
                                pol_coordinate coordinate)
{
  poli_coordinate_kernel kernel;
  poli_frame first, second;
  poli_coordinate_kernel_setup(&kernel, mechanism, joint,
                               coordinate_index(mechanism, joint, coordinate));
  poli_initial_frame(mechanism, kernel.body[0], &first);
  poli_initial_frame(mechanism, kernel.body[1], &second);
  return poli_coordinate_value(&kernel, &first, &second);
}

/* --- springs, stops and friction ---------------------------------------------------------------
 */

void poli_joint_spring_setup(poli_joint_spring *spring, const pol_mechanism *mechanism, int force)
{
  spring->force = pol_mechanism_force(mechanism, force);
  poli_coordinate_kernel_setup(&spring->coordinate, mechanism, spring->force->joint,
                               spring->force->coordinate);
  poli_joint_load_setup(&spring->load, mechanism, spring->force);
}

pol_status poli_joint_spring_law(const poli_joint_spring *spring, const poli_frame *first,
                                 const poli_frame *second, poli_joint_memory memory,
                                 poli_joint_law *law)
{
  double value, rate;
  const pol_status status =
      poli_coordinate_motion(&spring->coordinate, first, second, &value, &rate);
  if (spring->coordinate.angular) value = poli_angle_unwrap(value, memory.angle);
  *law = status ? (poli_joint_law){0} : poli_joint_law_at(spring->force, value, rate, &memory);
  return status;
}

pol_status poli_joint_spring_wrenches(const poli_joint_spring *spring, const poli_frame *first,
                                      const poli_frame *second, poli_joint_memory memory,
                                      double wrench[2][6])
{
  double g[12];
  poli_joint_law law;
  pol_status status = poli_joint_spring_law(spring, first, second, memory, &law);
  if (!status) status = poli_coordinate_gradient(&spring->coordinate, first, second, g);
  for (int i = 0; i < 12; i++) wrench[i / 6][i % 6] = status ? 0.0 : law.T * g[i];
  return status;
}

pol_status poli_joint_spring_derivatives(const poli_joint_spring *spring, const poli_frame *first,
                                         const poli_frame *second, poli_joint_memory memory,
                                         poli_force_blocks *blocks)
{
  double g[12], H[12][12], y[12];
  poli_joint_law law;
  memset(blocks, 0, sizeof *blocks);
  pol_status status = poli_joint_spring_law(spring, first, second, memory, &law);
  if (!status) status = poli_coordinate_gradient(&spring->coordinate, first, second, g);
  if (!status) status = poli_coordinate_second(&spring->coordinate, first, second, H);
  if (status) return status;
  poli_stack_velocities(first, second, y);
  for (int j = 0; j < 12; j++) {
    double slope = law.by_value * g[j]; /* dT/dq */
    for (int i = 0; i < 12; i++) slope += law.by_rate * H[i][j] * y[i];
    for (int i = 0; i < 12; i++) {
      blocks->by_position[i][j] = law.T * H[i][j] + g[i] * slope;
      blocks->by_velocity[i][j] = law.by_rate * g[i] * g[j];
    }
  }
  return POL_OK;
}

pol_status poli_joint_spring_by_load(const poli_joint_spring *spring, const poli_frame *first,
                                     const poli_frame *second, poli_joint_memory memory,
                                     double by_load[12])
{
  poli_joint_law law;
  pol_status status = poli_joint_spring_law(spring, first, second, memory, &law);
  if (!status) status = poli_coordinate_gradient(&spring->coordinate, first, second, by_load);
  for (int i = 0; i < 12; i++) by_load[i] = status ? 0.0 : law.by_load * by_load[i];
  return status;
}

double poli_joint_spring_potential(const poli_joint_spring *spring, const poli_frame *first,
                                   const poli_frame *second, poli_joint_memory memory)
{
  double value = poli_coordinate_value(&spring->coordinate, first, second);
  if (spring->coordinate.angular) value = poli_angle_unwrap(value, memory.angle);
  return poli_joint_law_energy(spring->force, value, &memory);
}
