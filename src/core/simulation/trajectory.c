/* Trajectories: recorded channels over time in memory, and interpolation between the times.
 *
 * Between two rows a and b, s = (t - t_a)/(t_b - t_a), d = t_b - t_a, a quantity x with rate x' is
 * the cubic Hermite polynomial
 *
 *     (1 + 2s)(1 - s)^2 x_a + s (1 - s)^2 d x'_a + s^2 (3 - 2s) x_b - s^2 (1 - s) d x'_b,
 *
 * whose error is d^4 |x''''|/384.  A rotation q with angular velocity w (body axes) is
 * q_a exp(r(t)), r(t_a) = 0, r(t_b) = log(q_a^-1 q_b), and r' = T(r)^-1 w at both ends.  Where the
 * rate is not known, it is the polynomial through the four nearest rows (Lagrange).
 */
#include "simulation/trajectory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/lie.h>

/* --- life ------------------------------------------------------------------------------------- */

/* The names in one block: pointers, then characters. */
static char **copy_names(int count, const char *const *names)
{
  size_t size = 1;
  for (int i = 0; i < count; i++) size += strlen(names[i]) + 1;
  char **copies = malloc(((size_t)count + 1) * sizeof *copies + size);
  if (copies == NULL) return NULL;
  char *text = (char *)(copies + count + 1);
  for (int i = 0; i < count; i++) {
    copies[i] = strcpy(text, names[i]);
    text += strlen(names[i]) + 1;
  }
  return copies;
}

pol_status pol_trajectory_create(pol_trajectory **trajectory, long rows, int count,
                                 const char *const *names)
{
  *trajectory = NULL;
  if (rows < 1 || count < 0) return POL_BAD_ARGUMENT;
  pol_trajectory *m = calloc(1, sizeof *m);
  if (m == NULL) return POL_NO_MEMORY;
  m->rows = rows;
  m->count = count;
  m->t = calloc((size_t)rows, sizeof *m->t);
  m->values = calloc((size_t)rows * (size_t)count + 1, sizeof *m->values);
  m->names = copy_names(count, names);
  if (m->t == NULL || m->values == NULL || m->names == NULL) {
    pol_trajectory_free(&m);
    return POL_NO_MEMORY;
  }
  *trajectory = m;
  return POL_OK;
}

void pol_trajectory_free(pol_trajectory **trajectory)
{
  if (trajectory == NULL || *trajectory == NULL) return;
  free((*trajectory)->t);
  free((*trajectory)->values);
  free((*trajectory)->names);
  free(*trajectory);
  *trajectory = NULL;
}

long pol_trajectory_rows(const pol_trajectory *trajectory)
{
  return trajectory->rows;
}

int pol_trajectory_count(const pol_trajectory *trajectory)
{
  return trajectory->count;
}

const char *pol_trajectory_name(const pol_trajectory *trajectory, int channel)
{
  return trajectory->names[channel];
}

int pol_trajectory_find(const pol_trajectory *trajectory, const char *name)
{
  for (int i = 0; i < trajectory->count; i++)
    if (strcmp(trajectory->names[i], name) == 0) return i;
  return -1;
}

double *pol_trajectory_times(pol_trajectory *trajectory)
{
  return trajectory->t;
}

double *pol_trajectory_series(pol_trajectory *trajectory, int channel)
{
  return trajectory->values + (size_t)channel * (size_t)trajectory->rows;
}

/* --- times ------------------------------------------------------------------------------------ */

/* The last row whose time is not above t; 0 if all are above. */
static long row_before(const pol_trajectory *trajectory, double t)
{
  long low = 0, high = trajectory->rows;
  while (high - low > 1) {
    const long middle = low + (high - low) / 2;
    if (trajectory->t[middle] <= t)
      low = middle;
    else
      high = middle;
  }
  return low;
}

long poli_trajectory_row_at(const pol_trajectory *trajectory, double t, double tolerance)
{
  const long row = row_before(trajectory, t);
  if (fabs(trajectory->t[row] - t) <= tolerance) return row;
  if (row + 1 < trajectory->rows && fabs(trajectory->t[row + 1] - t) <= tolerance) return row + 1;
  return -1;
}

static double value_at(const pol_trajectory *trajectory, int channel, long row)
{
  return trajectory->values[(size_t)channel * (size_t)trajectory->rows + (size_t)row];
}

void poli_trajectory_read(const pol_trajectory *trajectory, const poli_trajectory_vector *vector,
                          long row, double *out)
{
  for (int i = 0; i < vector->count; i++) out[i] = value_at(trajectory, vector->channel[i], row);
}

/* --- between the times ------------------------------------------------------------------------ */

/* The Hermite polynomial of the comment above; the rates are times d already. */
static double hermite(double s, double a, double a_rate, double b, double b_rate)
{
  const double u = 1.0 - s;
  return (1.0 + 2.0 * s) * u * u * a + s * u * u * a_rate + s * s * (3.0 - 2.0 * s) * b -
         s * s * u * b_rate;
}

/* The rotation between rows a and a + 1. */
static void turn(const pol_trajectory *m, const poli_trajectory_vector *vector, long a, double s,
                 double out[4])
{
  const pol_factor body = {.kind = POL_SO3, .dim = 3};
  const pol_group group = {.num_factors = 1, .factors = &body, .nq = 4, .nv = 3};
  const double d = m->t[a + 1] - m->t[a];
  double from[4], to[4], r[3], w[2][3], between[3];
  poli_trajectory_read(m, vector, a, from);
  poli_trajectory_read(m, vector, a + 1, to);
  pol_group_difference(&group, from, to, r);
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < 3; i++) w[k][i] = d * value_at(m, vector->slope[i], a + k);
  pol_group_tangent_inverse(&group, r, w[1], w[1]);
  for (int i = 0; i < 3; i++) between[i] = hermite(s, 0.0, w[0][i], r[i], w[1][i]);
  pol_group_move(&group, from, between, out);
}

/* The polynomial through the nearest four rows, or all if there are fewer.  Quaternions take the
 * sign of the first of these rows, and are normalised. */
static void pass_through(const pol_trajectory *m, const poli_trajectory_vector *vector, long a,
                         double t, double *out)
{
  const long count = m->rows < 4 ? m->rows : 4;
  long first = a - 1;
  double x[4], before[4] = {0.0}, length = 0.0;
  if (first < 0) first = 0;
  if (first + count > m->rows) first = m->rows - count;
  for (int i = 0; i < vector->count; i++) out[i] = 0.0;
  for (long k = first; k < first + count; k++) {
    double weight = 1.0, along = 0.0;
    for (long j = first; j < first + count; j++)
      if (j != k) weight *= (t - m->t[j]) / (m->t[k] - m->t[j]);
    poli_trajectory_read(m, vector, k, x);
    for (int i = 0; i < vector->count; i++) along += x[i] * before[i];
    const double sign = vector->is_quaternion && along < 0.0 ? -1.0 : 1.0;
    for (int i = 0; i < vector->count; i++) out[i] += weight * (before[i] = sign * x[i]);
  }
  if (!vector->is_quaternion) return;
  for (int i = 0; i < 4; i++) length += out[i] * out[i];
  for (int i = 0; i < 4; i++) out[i] /= sqrt(length);
}

static int has_slope(const poli_trajectory_vector *vector)
{
  const int count = vector->count < 3 ? vector->count : 3;
  for (int i = 0; i < count; i++)
    if (vector->slope[i] < 0) return 0;
  return 1;
}

void poli_trajectory_interpolate(const pol_trajectory *m, const poli_trajectory_vector *vector,
                                 double t, double *out)
{
  long a = row_before(m, t);
  if (a == m->rows - 1) a--;
  if (a < 0) {
    poli_trajectory_read(m, vector, 0, out);
    return;
  }
  const double d = m->t[a + 1] - m->t[a], s = (t - m->t[a]) / d;
  if (!has_slope(vector)) {
    pass_through(m, vector, a, t, out);
  } else if (vector->is_quaternion) {
    turn(m, vector, a, s, out);
  } else {
    for (int i = 0; i < vector->count; i++)
      out[i] =
          hermite(s, value_at(m, vector->channel[i], a), d * value_at(m, vector->slope[i], a),
                  value_at(m, vector->channel[i], a + 1), d * value_at(m, vector->slope[i], a + 1));
  }
}
