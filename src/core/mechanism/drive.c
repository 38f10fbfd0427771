/* The drive kernel; see drive.h for the equations.  With b = da/df = -cos f x - sin f y,
 *
 *     a' = f' b,      a'' = f'' b - f'^2 a.
 */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include <polhode/lie.h>

#include "lie/small.h"
#include "mechanism/coordinate.h"
#include "mechanism/drive.h"
#include "mechanism/function.h"

const char *pol_coordinate_name(pol_coordinate coordinate)
{
  static const char *const names[] = {[POL_DRIVE_ROTATION] = "rotation",
                                      [POL_DRIVE_TRANSLATION] = "translation",
                                      [POL_DRIVE_TRANSLATION_X] = "translation-x",
                                      [POL_DRIVE_TRANSLATION_Y] = "translation-y",
                                      [POL_DRIVE_TRANSLATION_Z] = "translation-z",
                                      [POL_DRIVE_ROTATION_1] = "rotation-1",
                                      [POL_DRIVE_ROTATION_2] = "rotation-2",
                                      [POL_DRIVE_X] = "x",
                                      [POL_DRIVE_Y] = "y",
                                      [POL_DRIVE_Z] = "z"};
  return (int)coordinate >= 0 && coordinate <= POL_DRIVE_Z ? names[coordinate] : NULL;
}

int pol_coordinate_turns(pol_coordinate coordinate)
{
  return coordinate == POL_DRIVE_ROTATION || coordinate == POL_DRIVE_ROTATION_1 ||
         coordinate == POL_DRIVE_ROTATION_2;
}

static void column(const double A[9], int axis, double a[3])
{
  for (int i = 0; i < 3; i++) a[i] = A[3 * i + axis];
}

void poli_drive_kernel_setup(poli_drive_kernel *kernel, const pol_mechanism *mechanism, int drive)
{
  const pol_drive *d = pol_mechanism_drive(mechanism, drive);
  const int *ends =
      d->joint == POL_NO_JOINT ? d->marker : pol_mechanism_joint(mechanism, d->joint)->marker;
  int swapped = d->coordinate == POL_DRIVE_ROTATION_2;
  const pol_marker *first = pol_mechanism_marker(mechanism, ends[swapped]);
  const pol_marker *second = pol_mechanism_marker(mechanism, ends[1 - swapped]);
  poli_view *view = &kernel->row.view[0];
  double A1[9], A2[9];
  memset(kernel, 0, sizeof *kernel);
  kernel->drive = d;
  kernel->row.body[0] = first->body;
  kernel->row.body[1] = second->body;
  kernel->row.num_rows = kernel->row.num_views = view->num_rows = 1;
  pol_quat_to_matrix(first->rotation, A1);
  pol_quat_to_matrix(second->rotation, A2);
  if (pol_coordinate_turns(d->coordinate)) {
    /* the axes X, Y of the row's first marker and z of its second, and f = 0 */
    int x = swapped ? 0 : 1, y = 2;
    if (d->coordinate == POL_DRIVE_ROTATION) {
      const int about = poli_joint_turning_axis(pol_mechanism_joint(mechanism, d->joint));
      x = (about + 1) % 3;
      y = (about + 2) % 3;
    }
    column(A1, x, kernel->x);
    column(A1, y, kernel->y);
    column(A2, x, view->s);
    poli_v3_copy(kernel->y, view->axis[0]);
    return;
  }
  const int along_x = d->coordinate == POL_DRIVE_TRANSLATION_X || d->coordinate == POL_DRIVE_X;
  const int along_y = d->coordinate == POL_DRIVE_TRANSLATION_Y || d->coordinate == POL_DRIVE_Y;
  view->tau = 1.0;
  poli_v3_copy(second->position, view->s);
  column(A1, along_x ? 0 : along_y ? 1 : 2, view->axis[0]);
  view->offset[0] = poli_v3_dot(view->axis[0], first->position);
}

/* The k-th derivative of a rotation's axis; f = (f, f', f''). */
static void turned_axis(const poli_drive_kernel *kernel, const double f[3], int k, double axis[3])
{
  double sine = sin(f[0]), cosine = cos(f[0]);
  for (int i = 0; i < 3; i++) {
    double a = -sine * kernel->x[i] + cosine * kernel->y[i];
    double b = -cosine * kernel->x[i] - sine * kernel->y[i];
    axis[i] = k == 0 ? a : k == 1 ? f[1] * b : f[2] * b - f[1] * f[1] * a;
  }
}

void poli_drive_kernels_at(const poli_drive_kernel *kernel, double t, int count,
                           poli_joint_kernel *kernels)
{
  double f[3];
  poli_function_value(&kernel->drive->function, t, f);
  for (int k = 0; k < count; k++) {
    poli_view *view = &kernels[k].view[0];
    kernels[k] = kernel->row;
    if (pol_coordinate_turns(kernel->drive->coordinate)) {
      turned_axis(kernel, f, k, view->axis[0]);
    } else if (k == 0) {
      view->offset[0] += f[0];
    } else {
      memset(view->axis[0], 0, sizeof view->axis[0]);
      view->offset[0] = f[k];
    }
  }
}

double poli_drive_branch(const poli_drive_kernel *kernel, double t, const poli_frame *first,
                         const poli_frame *second)
{
  double f[3], b[3], cosine;
  poli_joint_kernel along = kernel->row;
  if (!pol_coordinate_turns(kernel->drive->coordinate)) return 1.0;
  poli_function_value(&kernel->drive->function, t, f);
  f[1] = -1.0; /* -b . z = cos(theta - f) */
  turned_axis(kernel, f, 1, b);
  poli_v3_copy(b, along.view[0].axis[0]);
  poli_joint_position(&along, first, second, &cosine);
  return cosine;
}
