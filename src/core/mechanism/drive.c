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

/* The axis of the first marker along which a translation goes. */
static int axis_of(pol_coordinate coordinate)
{
  if (coordinate == POL_DRIVE_TRANSLATION_X || coordinate == POL_DRIVE_X) return 0;
  return coordinate == POL_DRIVE_TRANSLATION_Y || coordinate == POL_DRIVE_Y ? 1 : 2;
}

/* The axes X, Y of the row's first marker and z of its second, and f = 0. */
static void setup_rotation(poli_drive_kernel *kernel, const pol_joint *joint, const double A[2][9])
{
  const int about = poli_joint_turning_axis(joint), next = (about + 1) % 3;
  const struct {
    int x, y, z;
  } axes[] = {[POL_DRIVE_ROTATION] = {next, (about + 2) % 3, next},
              [POL_DRIVE_ROTATION_1] = {1, 2, 1},
              [POL_DRIVE_ROTATION_2] = {0, 2, 0}};
  const pol_coordinate coordinate = kernel->drive->coordinate;
  poli_view *view = &kernel->row.view[0];
  column(A[0], axes[coordinate].x, kernel->x);
  column(A[0], axes[coordinate].y, kernel->y);
  column(A[1], axes[coordinate].z, view->s);
  poli_v3_copy(kernel->y, view->axis[0]);
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
  double A[2][9];
  memset(kernel, 0, sizeof *kernel);
  kernel->drive = d;
  kernel->row.body[0] = first->body;
  kernel->row.body[1] = second->body;
  kernel->row.num_rows = kernel->row.num_views = view->num_rows = 1;
  pol_quat_to_matrix(first->rotation, A[0]);
  pol_quat_to_matrix(second->rotation, A[1]);
  if (pol_coordinate_turns(d->coordinate)) {
    setup_rotation(kernel, pol_mechanism_joint(mechanism, d->joint), (const double(*)[9])A);
    return;
  }
  view->tau = 1.0;
  poli_v3_copy(second->position, view->s);
  column(A[0], axis_of(d->coordinate), view->axis[0]);
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
