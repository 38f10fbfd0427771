/* Comparing a run with a trajectory: channels are joined to vectors, each vector has a kind of
 * error and a size that it is divided by.
 *
 * The error of a vector is |x - y|, of a rotation |log(p^-1 q)|.  What kind it is follows from the
 * unit.  Forces and torques are divided by the largest of their unit in the reference, so that a
 * small reaction beside a large one does not dominate, and by a thousandth of the largest of any
 * unit at least.  Those that are nowhere above a millionth of it are zero but for round-off, which
 * small steps amplify (by 1/h^2 in index 3), and left out.
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
#include "simulation/comparison.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/lie.h>

#include "base/arena.h"

/* --- trajectories ----------------------------------------------------------------------------- */

pol_status pol_trajectory_create(pol_trajectory **trajectory, long rows, int count,
                                 const char *const *names)
{
  *trajectory = NULL;
  if (rows < 1 || count < 0) return POL_BAD_ARGUMENT;
  pol_trajectory *m = calloc(1, sizeof *m);
  if (m == NULL) return POL_NO_MEMORY;
  m->rows = rows;
  m->count = count;
  size_t characters = 0;
  for (int i = 0; i < count; i++) characters += strlen(names[i]) + 1;
  char *text;
  poli_arena arena = {0};
  do {
    POLI_TAKE(&arena, m->t, rows);
    POLI_TAKE(&arena, m->values, (size_t)rows * (size_t)count);
    POLI_TAKE(&arena, m->names, count);
    POLI_TAKE(&arena, text, characters);
  } while (poli_arena_again(&arena));
  m->memory = arena.memory;
  if (m->memory == NULL) {
    pol_trajectory_free(&m);
    return POL_NO_MEMORY;
  }
  for (int i = 0; i < count; i++) {
    m->names[i] = strcpy(text, names[i]);
    text += strlen(names[i]) + 1;
  }
  *trajectory = m;
  return POL_OK;
}

void pol_trajectory_free(pol_trajectory **trajectory)
{
  if (trajectory == NULL || *trajectory == NULL) return;
  free((*trajectory)->memory);
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

/* The Hermite polynomial of the comment above; the rates are times d already. */
static double hermite(double s, double a, double a_rate, double b, double b_rate)
{
  const double u = 1.0 - s;
  return (1.0 + 2.0 * s) * u * u * a + s * u * u * a_rate + s * s * (3.0 - 2.0 * s) * b -
         s * s * u * b_rate;
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
  int has_slope = 1;
  for (int i = 0; i < 3 && i < vector->count; i++) has_slope &= vector->slope[i] >= 0;
  if (!has_slope) {
    pass_through(m, vector, a, t, out);
  } else if (vector->is_quaternion) { /* the rotation between rows a and a + 1 */
    const pol_factor body = {.kind = POL_SO3, .dim = 3};
    const pol_group group = {.num_factors = 1, .factors = &body, .nq = 4, .nv = 3};
    double from[4], to[4], r[3], w[2][3], between[3];
    poli_trajectory_read(m, vector, a, from);
    poli_trajectory_read(m, vector, a + 1, to);
    pol_group_difference(&group, from, to, r);
    for (int k = 0; k < 2; k++)
      for (int i = 0; i < 3; i++) w[k][i] = d * value_at(m, vector->slope[i], a + k);
    pol_group_tangent_inverse(&group, r, w[1], w[1]);
    for (int i = 0; i < 3; i++) between[i] = hermite(s, 0.0, w[0][i], r[i], w[1][i]);
    pol_group_move(&group, from, between, out);
  } else {
    for (int i = 0; i < vector->count; i++)
      out[i] =
          hermite(s, value_at(m, vector->channel[i], a), d * value_at(m, vector->slope[i], a),
                  value_at(m, vector->channel[i], a + 1), d * value_at(m, vector->slope[i], a + 1));
  }
}

/* --- kinds of errors -------------------------------------------------------------------------- */

/* Of the largest reaction, in SI units: below this a reaction is zero, and what a relative error is
 * divided by at least. */
static const double zero_reaction = 1e-6, least_scale = 1e-3;

static const struct {
  const char *name, *unit;
} kinds[POL_NUM_ERROR_KINDS] = {
    [POL_ERROR_POSITION] = {"position", "m"},
    [POL_ERROR_ROTATION] = {"rotation", "rad"},
    [POL_ERROR_VELOCITY] = {"velocity", "m/s"},
    [POL_ERROR_ANGULAR_VELOCITY] = {"angular velocity", "rad/s"},
    [POL_ERROR_REACTION] = {"reaction", "1"},
    [POL_ERROR_OTHER] = {"other", "1"},
};

const char *pol_error_kind_name(pol_error_kind kind)
{
  return kinds[kind].name;
}

const char *pol_error_kind_unit(pol_error_kind kind)
{
  return kinds[kind].unit;
}

/* Units of reactions: each has a largest value of its own. */
static const char *const reaction_units[] = {"N", "N m", "N/m"};
enum { NUM_REACTION_UNITS = sizeof reaction_units / sizeof reaction_units[0] };

static int is_quaternion(const pol_channel *channel)
{
  return strncmp(channel->quantity, "quaternion.", 11) == 0;
}

/* Whether the quantity is the word, or one of its components. */
static int is_word(const char *quantity, const char *word)
{
  const size_t length = strlen(word);
  return strncmp(quantity, word, length) == 0 &&
         (quantity[length] == '\0' || quantity[length] == '.');
}

int poli_study_compares(const pol_study *study, const pol_channel *channel)
{
  return study->compares != NULL ? study->compares(channel, study->user)
                                 : pol_study_compares_by_default(channel, NULL);
}

int pol_study_compares_by_default(const pol_channel *channel, void *user)
{
  static const struct {
    const char *group, *quantity;
  } wanted[] = {
      {"bodies", "position"}, {"bodies", "quaternion"}, {"bodies", "velocity"},
      {"joints", "force"},    {"joints", "torque"},     {"bodies", "angular_velocity"},
  };
  (void)user;
  for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
    if (strcmp(channel->group, wanted[i].group) == 0 &&
        is_word(channel->quantity, wanted[i].quantity))
      return 1;
  return strcmp(channel->group, "drives") == 0 || strcmp(channel->group, "couplings") == 0 ||
         strcmp(channel->group, "states") == 0;
}

/* --- vectors ---------------------------------------------------------------------------------- */

typedef struct vector {
  pol_error_kind kind;
  int unit;                   /* of a reaction */
  int channel[4];             /* in the record */
  poli_trajectory_vector its; /* in the trajectory */
  double largest;             /* norm, in the trajectory */
  double scale;               /* what the error is divided by */
} vector;

struct poli_comparison {
  const pol_trajectory *trajectory;
  int num_vectors;
  vector *vectors;
};

/* The channel of the trajectory that is the rate of the given one, -1 if there is none.  Of a
 * quaternion: component `index` of the angular velocity.  name has room for longer names. */
static int find_rate(const pol_trajectory *trajectory, const pol_channel *channel, int index,
                     char *name)
{
  static const char *const rates[][2] = {{"quaternion", "angular_velocity"},
                                         {"position", "velocity"},
                                         {"angle", "rate"},
                                         {"displacement", "speed"}};
  static const char *const parts[] = {".x", ".y", ".z"};
  const size_t start = strlen(channel->name) - strlen(channel->quantity);
  for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
    if (!is_word(channel->quantity, rates[i][0])) continue;
    memcpy(name, channel->name, start);
    strcpy(name + start, rates[i][1]);
    strcat(name, i == 0 ? parts[index] : channel->quantity + strlen(rates[i][0]));
    return pol_trajectory_find(trajectory, name);
  }
  return -1;
}

/* Adds channels first .. end - 1 of the record, one vector, as far as they are wanted and there.
 * *hint is the last name that was found: both lists are mostly in one order. */
static void add_vector(poli_comparison *c, const pol_record *record, const pol_study *study,
                       int first, int end, int *hint, char *name)
{
  const pol_trajectory *trajectory = c->trajectory;
  const pol_channel *channel = pol_record_channel(record, first);
  vector v = {.kind = POL_ERROR_OTHER, .its.is_quaternion = is_quaternion(channel)};
  for (int i = 0; i < NUM_REACTION_UNITS; i++) {
    if (strcmp(channel->unit, reaction_units[i]) != 0) continue;
    v.kind = POL_ERROR_REACTION;
    v.unit = i;
  }
  for (int k = 0; k < POL_ERROR_REACTION; k++)
    if (strcmp(channel->unit, kinds[k].unit) == 0) v.kind = (pol_error_kind)k;
  if (v.its.is_quaternion) v.kind = POL_ERROR_ROTATION;
  for (int i = first; i < end; i++) {
    channel = pol_record_channel(record, i);
    if (!poli_study_compares(study, channel)) continue;
    int its = *hint + 1;
    if (its >= trajectory->count || strcmp(trajectory->names[its], channel->name) != 0)
      its = pol_trajectory_find(trajectory, channel->name);
    if (its < 0) continue;
    *hint = its;
    const int n = v.its.count++;
    v.channel[n] = i;
    v.its.channel[n] = its;
    if (n < 3) v.its.slope[n] = find_rate(trajectory, channel, n, name);
  }
  if (v.its.count == 0 || (v.its.is_quaternion && v.its.count < 4)) return;
  c->vectors[c->num_vectors++] = v;
}

/* --- sizes ------------------------------------------------------------------------------------ */

static double norm(const double *x, int count)
{
  double square = 0.0;
  for (int i = 0; i < count; i++) square += x[i] * x[i];
  return sqrt(square);
}

/* What relative errors are divided by; reactions that are zero are left out. */
static void choose_scales(poli_comparison *c, double end)
{
  double largest[NUM_REACTION_UNITS] = {0.0}, most = 0.0, x[4];
  for (int i = 0; i < c->num_vectors; i++) {
    vector *v = &c->vectors[i];
    v->largest = 0.0;
    v->scale = 1.0;
    if (v->kind < POL_ERROR_REACTION) continue;
    for (long row = 0; row < c->trajectory->rows && c->trajectory->t[row] <= end; row++) {
      poli_trajectory_read(c->trajectory, &v->its, row, x);
      v->largest = fmax(v->largest, norm(x, v->its.count));
    }
    if (v->kind == POL_ERROR_OTHER && v->largest > 0.0) v->scale = v->largest;
    if (v->kind != POL_ERROR_REACTION) continue;
    largest[v->unit] = fmax(largest[v->unit], v->largest);
    most = fmax(most, v->largest);
  }
  int kept = 0;
  for (int i = 0; i < c->num_vectors; i++) {
    vector *v = &c->vectors[i];
    if (v->kind == POL_ERROR_REACTION && v->largest <= zero_reaction * most) continue;
    if (v->kind == POL_ERROR_REACTION) v->scale = fmax(largest[v->unit], least_scale * most);
    c->vectors[kept++] = *v;
  }
  c->num_vectors = kept;
}

/* --- life ------------------------------------------------------------------------------------- */

pol_status poli_comparison_create(poli_comparison **comparison, const pol_record *record,
                                  const pol_trajectory *trajectory, const pol_study *study,
                                  double end)
{
  const int count = pol_record_count(record);
  size_t longest = 0;
  int hint = -1;
  for (int i = 0; i < count; i++) {
    const size_t length = strlen(pol_record_channel(record, i)->name);
    if (length > longest) longest = length;
  }
  poli_comparison *c = *comparison = calloc(1, sizeof *c);
  char *name = malloc(longest + 32); /* room for a longer last word */
  if (c != NULL) c->vectors = malloc((size_t)count * sizeof *c->vectors);
  if (name == NULL || c == NULL || c->vectors == NULL) {
    free(name);
    poli_comparison_free(comparison);
    return POL_NO_MEMORY;
  }
  c->trajectory = trajectory;
  for (int i = 1, next; i < count; i = next) { /* the first is t */
    /* components x, y, z (or w of a quaternion) belong to one vector */
    const pol_channel *a = pol_record_channel(record, i);
    const char *dot = strrchr(a->quantity, '.');
    const int is_part = dot != NULL && strchr("wxyz", dot[1]) != NULL && dot[2] == '\0';
    for (next = i + 1; is_part && next < count && next < i + 4; next++) {
      const pol_channel *b = pol_record_channel(record, next);
      if (strcmp(a->group, b->group) != 0 || strcmp(a->owner, b->owner) != 0 ||
          strncmp(a->quantity, b->quantity, (size_t)(dot - a->quantity) + 1) != 0 ||
          strcmp(a->unit, b->unit) != 0)
        break;
    }
    add_vector(c, record, study, i, next, &hint, name);
  }
  free(name);
  choose_scales(c, end);
  return POL_OK;
}

void poli_comparison_free(poli_comparison **comparison)
{
  if (*comparison == NULL) return;
  free((*comparison)->vectors);
  free(*comparison);
  *comparison = NULL;
}

void poli_comparison_count(const poli_comparison *c, int channels[POL_NUM_ERROR_KINDS])
{
  for (int i = 0; i < c->num_vectors; i++) channels[c->vectors[i].kind] += c->vectors[i].its.count;
}

/* --- errors ----------------------------------------------------------------------------------- */

void poli_comparison_errors(const poli_comparison *c, const double *row, double t, long known_row,
                            double errors[POL_NUM_ERROR_KINDS])
{
  for (int k = 0; k < POL_NUM_ERROR_KINDS; k++) errors[k] = (double)NAN;
  for (int i = 0; i < c->num_vectors; i++) {
    const vector *v = &c->vectors[i];
    double x[4], y[4];
    for (int k = 0; k < v->its.count; k++) x[k] = row[v->channel[k]];
    if (known_row >= 0)
      poli_trajectory_read(c->trajectory, &v->its, known_row, y);
    else
      poli_trajectory_interpolate(c->trajectory, &v->its, t, y);
    double error;
    if (v->its.is_quaternion) {
      /* angle of the rotation from y to x */
      double inverse[4], relative[4], w[3];
      pol_quat_conjugate(y, inverse);
      pol_quat_multiply(inverse, x, relative);
      pol_so3_log(relative, w);
      error = norm(w, 3);
    } else {
      for (int k = 0; k < v->its.count; k++) x[k] -= y[k];
      error = norm(x, v->its.count) / v->scale;
    }
    errors[v->kind] = fmax(errors[v->kind], error); /* of NAN and a number, the number */
  }
}
