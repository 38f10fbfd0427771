/* Norms of Newton's method: what is accepted of a residual and of a correction (newton.h), and the
 * largest of each in these units. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/wide.h"
#include "dae/newton_parts.h"

/* How many times its round-off a correction may always be. */
static const double correction_grains = 1.0;

/* Sums of |matrix| over the increments of each kind, per row. */
static void set_row_sizes(poli_newton *s)
{
  const poli_newton_matrix *matrix = &s->matrix;
  const pol_pattern *S = matrix->pattern;
  const size_t n = (size_t)matrix->n;
  memset(s->row_size, 0, (size_t)s->num_kinds * n * sizeof *s->row_size);
  if (matrix->operations) {
    matrix->operations->add_row_sizes(s->row_size, matrix->operations->user);
    return;
  }
  for (int j = 0; j < matrix->num_increments; j++) {
    double *size = s->row_size + (size_t)s->kind[j] * n;
    for (int k = S->start[j]; k < S->start[j + 1]; k++) size[S->row[k]] += fabs(matrix->values[k]);
  }
}

/* |matrix| times the multipliers in x, per row. */
static void set_multiplier_sizes(poli_newton *s, const double *x)
{
  const poli_newton_matrix *matrix = &s->matrix;
  const pol_pattern *S = matrix->pattern;
  memset(s->round_off, 0, (size_t)matrix->n * sizeof *s->round_off);
  if (matrix->operations) {
    matrix->operations->add_multipliers(x, s->round_off, matrix->operations->user);
    return;
  }
  for (int j = matrix->num_increments; j < matrix->n; j++)
    for (int k = S->start[j]; k < S->start[j + 1]; k++)
      s->round_off[S->row[k]] += fabs(x[j]) * fabs(matrix->values[k]);
}

/* Whether what is accepted still holds: the tolerances are nearly the same, in the same step and
 * with the same matrix; matrices without a pattern are that of a few steps, whose rows hardly
 * change their size. */
static int is_measured(const poli_newton *s)
{
  const double most = 1.2;
  for (int k = 0; k < s->num_kinds && s->has_accepted; k++) {
    const double now = s->tolerance[k] + s->grain[k], then = s->measured[k];
    if (!(now <= most * then && then <= most * now)) return 0;
  }
  return s->has_accepted;
}

/* What is accepted as the residual of each row, with x as the solution. */
int poli_newton_measure(poli_newton *s, const double *x)
{
  const int n = s->matrix.n;
  if (is_measured(s)) return 0;
  set_row_sizes(s);
  for (int i = 0; i < n; i++) s->accepted[i] = DBL_MIN;
  for (int k = 0; k < s->num_kinds; k++) {
    const double *size = s->row_size + (size_t)k * (size_t)n;
    const double tolerance = s->tolerance[k] + poli_newton_residual_grains * s->grain[k];
    for (int i = 0; i < n; i++) s->accepted[i] += size[i] * tolerance;
    s->measured[k] = s->tolerance[k] + s->grain[k];
  }
  /* A few eps of |matrix| times the multipliers: where large reactions balance, a residual cannot
   * be smaller. */
  set_multiplier_sizes(s, x);
  for (int i = 0; i < n; i++) {
    const double round_off = 256.0 * DBL_EPSILON * s->round_off[i];
    if (round_off > s->accepted[i]) s->accepted[i] = round_off;
  }
  s->has_accepted = 1;
  s->accepted_steps = 0;
  if (s->matrix.least_share > 0.0) {
    /* of a balance at least a fraction of the largest one of its kind */
    memset(s->least, 0, (size_t)s->num_kinds * sizeof *s->least);
    for (int i = 0; i < s->matrix.num_increments; i++) {
      double *least = &s->least[s->kind[i]];
      *least = fmax(*least, s->matrix.least_share * s->accepted[i]);
    }
    for (int i = 0; i < s->matrix.num_increments; i++)
      s->accepted[i] = fmax(s->accepted[i], s->least[s->kind[i]]);
  }
  for (int i = 0; i < n; i++) s->weight[i] = 1.0 / s->accepted[i];
  return 1;
}

/* Largest residual over what is accepted; not finite if one is not. */
static POLI_WIDE double norm_of_many(int n, const double *r, const double *weight)
{
  const int even = n - n % 8;
  double largest[8] = {0.0}, sum[8] = {0.0}; /* eight at a time: none waits for the one before */
  for (int i = 0; i < even; i += 8)
    for (int k = 0; k < 8; k++) {
      const double size = fabs(r[i + k]) * weight[i + k];
      largest[k] = size > largest[k] ? size : largest[k];
      sum[k] += size;
    }
  for (int i = even; i < n; i++) {
    const double size = fabs(r[i]) * weight[i];
    largest[0] = size > largest[0] ? size : largest[0];
    sum[0] += size;
  }
  for (int k = 1; k < 8; k++) {
    largest[0] = largest[k] > largest[0] ? largest[k] : largest[0];
    sum[0] += sum[k];
  }
  return isfinite(sum[0]) ? largest[0] : sum[0];
}

double poli_newton_residual_norm(const poli_newton *s, const double *r)
{
  const int few = 32;
  double largest = 0.0, sum = 0.0;
  if (s->matrix.n > few) return norm_of_many(s->matrix.n, r, s->weight);
  for (int i = 0; i < s->matrix.n; i++) {
    const double size = fabs(r[i]) * s->weight[i];
    largest = size > largest ? size : largest;
    sum += size;
  }
  return isfinite(sum) ? largest : sum;
}

/* The first row whose residual is not finite, or -1.  Constraints are checked first: theirs spoil
 * the balance too, by way of the reactions. */
int poli_newton_first_not_finite(const poli_newton *s)
{
  const int n = s->matrix.n;
  double sum = 0.0;
  for (int i = 0; i < n; i++) sum += 0.0 * s->r[i];
  for (int i = 0, first = s->matrix.num_increments; i < n && !(sum == 0.0); i++)
    if (!isfinite(s->r[(first + i) % n])) return (first + i) % n;
  return -1;
}

/* The row of the largest residual, or of the first that is not finite. */
int poli_newton_worst_residual(const poli_newton *s, const double *r)
{
  int worst = 0;
  double max = 0.0;
  for (int i = 0; i < s->matrix.n && isfinite(max); i++) {
    const double size = fabs(r[i]) * s->weight[i];
    if (size <= max) continue;
    max = size;
    worst = i;
  }
  return worst;
}

/* A correction over what is accepted. */
static inline double correction_size(const poli_newton *s, int i)
{
  const int k = s->kind[i];
  return fabs(s->dx[i]) / (s->tolerance[k] + correction_grains * s->grain[k] + DBL_MIN);
}

/* The largest of all corrections; not finite if one is not. */
double poli_newton_correction_norm(const poli_newton *s)
{
  double max = 0.0, sum = 0.0;
  for (int k = 0; k < s->num_kinds; k++)
    s->inverse[k] = 1.0 / (s->tolerance[k] + correction_grains * s->grain[k] + DBL_MIN);
  for (int i = 0; i < s->matrix.num_increments; i++) {
    const double size = fabs(s->dx[i]) * s->inverse[s->kind[i]];
    max = size > max ? size : max;
    sum += size;
  }
  return isfinite(sum) ? max : sum;
}

/* The increment of the largest correction, or of the first that is not finite. */
int poli_newton_worst_correction(const poli_newton *s)
{
  int worst = 0;
  double max = 0.0;
  for (int i = 0; i < s->matrix.num_increments && isfinite(max); i++) {
    const double size = correction_size(s, i);
    if (size <= max) continue;
    max = size;
    worst = i;
  }
  return worst;
}

/* The size of a correction in terms of the goal. */
double poli_newton_goal_size(const poli_newton *s)
{
  double sum = 0.0, largest = 0.0;
  int nv = s->dae->group.nv;
  for (int i = 0; i < nv; i++) {
    const double x = s->dx[i] / s->goal.weight[i], square = x * x;
    sum += square;
    largest = square > largest ? square : largest;
  }
  const double mean = sqrt(sum / nv), peak = s->goal.peak * sqrt(largest);
  return s->goal.scale * (peak > mean ? peak : mean); /* not finite if a correction is not */
}
