/* Modes over the values of a parameter, as curves: which mode continues which.
 *
 * A mode with the eigenvalue s and the shape x has a conjugate, which may continue a curve where
 * its frequency passes zero: the curves keep the sign of the imaginary part.
 */
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"

#ifndef CMPLX /* glibc defines it for gcc only */
#define CMPLX(x, y) __builtin_complex((double)(x), (double)(y))
#endif

typedef struct curve {
  int start;               /* value at which it begins */
  int num_points;          /* may have gaps at the end only: it ends where nothing continues it */
  pol_curve_point *points; /* from start on */
  double complex s[2];     /* of the last value and the one before it, im of any sign */
  double complex *shape;   /* of the last value */
} curve;

struct pol_curves {
  int num_values, count, nv;
  curve *curves;
};

/* A pair of a curve and a mode, or its conjugate. */
typedef struct pair {
  int curve, mode, is_conjugate;
  double similarity, score;
} pair;

pol_status pol_curves_create(pol_curves **curves)
{
  *curves = calloc(1, sizeof **curves);
  return *curves ? POL_OK : POL_NO_MEMORY;
}

void pol_curves_free(pol_curves **curves)
{
  if (!curves || !*curves) return;
  for (int i = 0; i < (*curves)->count; i++) {
    free((*curves)->curves[i].points);
    free((*curves)->curves[i].shape);
  }
  free((*curves)->curves);
  free(*curves);
  *curves = NULL;
}

/* x^* M y, or x^T M y of the conjugate of x, with the masses and inertias of the bodies and of the
 * modes of flexible ones. */
static double complex product(const pol_formulation *f, const double complex *x,
                              const double complex *y, int is_conjugate)
{
  double complex sum = 0.0;
  for (int i = 0; i < f->num_bodies; i++) {
    const poli_placed_body *body = &f->bodies[i];
    const int rotations = body->chart->num_rotations;
    const double complex *a = x + body->v, *b = y + body->v;
    for (int k = rotations; k < rotations + 3; k++)
      sum += body->body->mass * (is_conjugate ? a[k] : conj(a[k])) * b[k];
    for (int k = 0; k < 3 * rotations; k++)
      sum += body->body->inertia[k] * (is_conjugate ? a[k / 3] : conj(a[k / 3])) * b[k % 3];
    const int modes = body->reference == i ? body->chart->num_modes : 0;
    const double complex *c = a + body->chart->dim - modes, *d = b + body->chart->dim - modes;
    for (int k = 0; k < modes * modes; k++)
      sum += body->body->flexible->inertia[k] * (is_conjugate ? c[k / modes] : conj(c[k / modes])) *
             d[k % modes];
  }
  return sum;
}

static int is_zero(const pol_mode *mode)
{
  return mode->re == 0.0 && mode->im == 0.0;
}

/* Where the curve would be at the next value. */
static double complex continued(const curve *c)
{
  return c->num_points > 1 ? 2.0 * c->s[0] - c->s[1] : c->s[0];
}

static int by_score(const void *a, const void *b)
{
  const pair *x = a, *y = b;
  if (x->score != y->score) return x->score > y->score ? -1 : 1;
  return x->curve != y->curve ? x->curve - y->curve : x->mode - y->mode;
}

/* All pairs, the best first. */
static int find_matches(const pol_curves *curves, const pol_formulation *f, const pol_modes *modes,
                        const double complex *shapes, pair *matches)
{
  const int count = pol_modes_count(modes);
  int found = 0;
  for (int i = 0; i < curves->count; i++) {
    const curve *c = &curves->curves[i];
    if (c->start + c->num_points < curves->num_values) continue;
    const double own = creal(product(f, c->shape, c->shape, 0));
    for (int j = 0; j < count; j++) {
      const pol_mode *mode = pol_modes_get(modes, j);
      const double complex *x = shapes + (size_t)j * (size_t)curves->nv;
      const double size = creal(product(f, x, x, 0));
      if (is_zero(mode)) continue;
      pair best = {.curve = i, .mode = j, .score = -1.0};
      for (int k = 0; k < (mode->im > 0.0 ? 2 : 1); k++) {
        const double complex s = CMPLX(mode->re, k ? -mode->im : mode->im);
        const double complex overlap = product(f, c->shape, x, k);
        const double similarity = own * size > 0.0 ? pow(cabs(overlap), 2.0) / (own * size) : 0.0;
        const double distance = cabs(continued(c) - s), scale = fmax(cabs(c->s[0]), cabs(s)) / 3.0;
        const double score = similarity / (1.0 + pow(distance / scale, 2.0));
        if (score > best.score) {
          best.score = score;
          best.similarity = fmin(similarity, 1.0);
          best.is_conjugate = k;
        }
      }
      if (best.score > 0.01) matches[found++] = best;
    }
  }
  qsort(matches, (size_t)found, sizeof *matches, by_score);
  return found;
}

/* Appends the mode to the curve. */
static pol_status append(curve *c, int nv, const pol_mode *mode, int index, const pair *match,
                         const double complex *shape)
{
  pol_curve_point *more = realloc(c->points, (size_t)(c->num_points + 1) * sizeof *c->points);
  if (!more) return POL_NO_MEMORY;
  c->points = more;
  c->points[c->num_points++] = (pol_curve_point){.mode = index,
                                                 .re = mode->re,
                                                 .im = mode->im,
                                                 .frequency = mode->frequency,
                                                 .damping = mode->damping,
                                                 .similarity = match ? match->similarity : 1.0};
  const int is_conjugate = match && match->is_conjugate;
  c->s[1] = c->s[0];
  c->s[0] = CMPLX(mode->re, is_conjugate ? -mode->im : mode->im);
  for (int p = 0; p < nv; p++) c->shape[p] = is_conjugate ? conj(shape[p]) : shape[p];
  return POL_OK;
}

static pol_status begin(pol_curves *curves, const pol_mode *mode, int index,
                        const double complex *shape)
{
  curve *more = realloc(curves->curves, (size_t)(curves->count + 1) * sizeof *more);
  if (!more) return POL_NO_MEMORY;
  curves->curves = more;
  curve *c = &more[curves->count];
  *c = (curve){.start = curves->num_values,
               .shape = calloc((size_t)curves->nv + 1, sizeof *c->shape)};
  curves->count++; /* pol_curves_free frees it */
  return c->shape ? append(c, curves->nv, mode, index, NULL, shape) : POL_NO_MEMORY;
}

pol_status pol_curves_add(pol_curves *curves, const pol_modes *modes)
{
  const pol_formulation *f = pol_analysis_formulation(poli_modes_analysis(modes));
  const int nv = poli_modes_analysis(modes)->dae->group.nv, count = pol_modes_count(modes);
  if (curves->num_values > 0 && nv != curves->nv) return POL_BAD_ARGUMENT;
  curves->nv = nv;
  const int known = curves->count;
  double complex *shapes = calloc((size_t)count * (size_t)nv + 1, sizeof *shapes);
  pair *matches = calloc((size_t)count * (size_t)known + 1, sizeof *matches);
  unsigned char *used = calloc((size_t)(count + known) + 1, 1);
  pol_status status = shapes && matches && used ? POL_OK : POL_NO_MEMORY;
  for (int j = 0; j < count && !status; j++) {
    const pol_mode *mode = pol_modes_get(modes, j);
    for (int p = 0; p < nv; p++)
      shapes[(size_t)j * (size_t)nv + (size_t)p] = CMPLX(mode->shape_re[p], mode->shape_im[p]);
  }
  const int found = status ? 0 : find_matches(curves, f, modes, shapes, matches);
  for (int k = 0; k < found && !status; k++) {
    const pair *m = &matches[k];
    if (used[m->mode] || used[count + m->curve]) continue;
    used[m->mode] = used[count + m->curve] = 1;
    status = append(&curves->curves[m->curve], nv, pol_modes_get(modes, m->mode), m->mode, m,
                    shapes + (size_t)m->mode * (size_t)nv);
  }
  for (int j = 0; j < count && !status; j++)
    if (!used[j] && !is_zero(pol_modes_get(modes, j)))
      status = begin(curves, pol_modes_get(modes, j), j, shapes + (size_t)j * (size_t)nv);
  if (!status) curves->num_values++;
  free(shapes);
  free(matches);
  free(used);
  return status;
}

int pol_curves_count(const pol_curves *curves)
{
  return curves->count;
}

pol_curve_point pol_curves_get(const pol_curves *curves, int index, int value)
{
  const pol_curve_point none = {.mode = -1, .re = NAN, .im = NAN, .frequency = NAN, .damping = NAN};
  if (index < 0 || index >= curves->count) return none;
  const int at = value - curves->curves[index].start;
  return at >= 0 && at < curves->curves[index].num_points ? curves->curves[index].points[at] : none;
}
