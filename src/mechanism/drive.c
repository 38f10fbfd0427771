/* The drive kernel; see drive.h for the equations.  With b = da/df = -cos f x - sin f y,
 *
 *     a' = f' b,      a'' = f'' b - f'^2 a.
 */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include <polhode/lie.h>

#include "lie/small.h"
#include "mechanism/drive.h"
#include "mechanism/function.h"

const char *pol_coordinate_name(pol_coordinate coordinate)
{
  static const char *const names[] = {
      [POL_DRIVE_ROTATION] = "rotation", [POL_DRIVE_TRANSLATION] = "translation"};
  return coordinate == POL_DRIVE_ROTATION || coordinate == POL_DRIVE_TRANSLATION ? names[coordinate]
                                                                                 : NULL;
}

int pol_joint_has_coordinate(pol_joint_type type, pol_coordinate coordinate)
{
  if (type == POL_CYLINDRICAL) return 1;
  return type == (coordinate == POL_DRIVE_ROTATION ? POL_REVOLUTE : POL_PRISMATIC);
}

void pol_drive_kernel_setup(pol_drive_kernel *kernel, const pol_mechanism *mechanism, int drive)
{
  const pol_drive *d = pol_mechanism_drive(mechanism, drive);
  const pol_joint *joint = pol_mechanism_joint(mechanism, d->joint);
  const pol_marker *first = pol_mechanism_marker(mechanism, joint->marker[0]);
  const pol_marker *second = pol_mechanism_marker(mechanism, joint->marker[1]);
  pol_view *view = &kernel->row.view[0];
  double A[9], A2[9];
  memset(kernel, 0, sizeof *kernel);
  kernel->drive = d;
  kernel->row.body[0] = first->body;
  kernel->row.body[1] = second->body;
  kernel->row.num_rows = kernel->row.num_views = view->num_rows = 1;
  pol_quat_to_matrix(first->rotation, A);
  pol_quat_to_matrix(second->rotation, A2);
  for (int i = 0; i < 3; i++) {
    kernel->x[i] = A[3 * i];
    kernel->y[i] = A[3 * i + 1];
  }
  if (d->coordinate == POL_DRIVE_ROTATION) {
    pol_v3_copy(kernel->y, view->axis[0]);
    for (int i = 0; i < 3; i++) view->s[i] = A2[3 * i];
    return;
  }
  view->tau = 1.0;
  pol_v3_copy(second->position, view->s);
  for (int i = 0; i < 3; i++) view->axis[0][i] = A[3 * i + 2];
  view->offset[0] = pol_v3_dot(view->axis[0], first->position);
}

/* The k-th derivative of a rotation's axis; f = (f, f', f''). */
static void turned_axis(const pol_drive_kernel *kernel, const double f[3], int k, double axis[3])
{
  double sine = sin(f[0]), cosine = cos(f[0]);
  for (int i = 0; i < 3; i++) {
    double a = -sine * kernel->x[i] + cosine * kernel->y[i];
    double b = -cosine * kernel->x[i] - sine * kernel->y[i];
    axis[i] = k == 0 ? a : k == 1 ? f[1] * b : f[2] * b - f[1] * f[1] * a;
  }
}

void pol_drive_kernels_at(const pol_drive_kernel *kernel, double t, int count,
                          pol_joint_kernel *kernels)
{
  double f[3];
  pol_function_value(&kernel->drive->function, t, f);
  for (int k = 0; k < count; k++) {
    pol_view *view = &kernels[k].view[0];
    kernels[k] = kernel->row;
    if (kernel->drive->coordinate == POL_DRIVE_ROTATION) {
      turned_axis(kernel, f, k, view->axis[0]);
    } else if (k == 0) {
      view->offset[0] += f[0];
    } else {
      memset(view->axis[0], 0, sizeof view->axis[0]);
      view->offset[0] = f[k];
    }
  }
}

double pol_drive_branch(const pol_drive_kernel *kernel, double t, const pol_frame *first,
                        const pol_frame *second)
{
  double f[3], b[3], cosine;
  pol_joint_kernel along = kernel->row;
  if (kernel->drive->coordinate == POL_DRIVE_TRANSLATION) return 1.0;
  pol_function_value(&kernel->drive->function, t, f);
  f[1] = -1.0; /* -b . z = cos(theta - f) */
  turned_axis(kernel, f, 1, b);
  pol_v3_copy(b, along.view[0].axis[0]);
  pol_joint_position(&along, first, second, &cosine);
  return cosine;
}
