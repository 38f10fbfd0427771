/* The controller of the step size: Gavrea/Negrut/Potra 2005, section 4.
 *
 * With the estimate delta of the local error of the coordinates and the weights
 *
 *     w_i = max(atol, rtol Y_i),    Y_i = max over all steps |q_i|      (1 for rotations)
 *
 * the error is the root mean square of delta_i/w_i, the square root of the paper's Theta (36a); the
 * paper has atol = rtol = eps, so that w_i = eps max(1, Y_i).  A step is accepted up to 1.  The
 * local error is of the third order (of order p, p + 1 takes the place of 3), so that the next step
 * should be
 *
 *     h_new = 0.9 h error^(-1/3)                                            (26)
 *     h_new = 0.9 h error^(-0.7/3) last^(0.4/3)                             proportional-integral
 *
 * (Gustafsson 1991), but between 0.2 h and 5 h.
 *
 * Not in the paper: with more than 100 coordinates the error is at least half of the largest
 * delta_i/w_i.  Of many bodies few may move fast, and the mean would allow them an error of sqrt(n)
 * times the tolerance, with oscillations that the later steps have to follow.  Where large parts of
 * the estimate cancel, as in driven mechanisms, the error of typical steps falls with a higher
 * power of h, and with 3 every second attempt would be rejected. Two attempts of the same step give
 * the power p, which replaces 3 and returns to it over the following steps.  A step whose equations
 * cannot be solved is repeated with a quarter of its size, and later steps approach the failed size
 * only slowly.
 */
#include "integrators/step_control.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double least_factor = 0.2, most_factor = 5.0;

static const double second_order = 3.0, most_order = 8.0;
static const double keep_order = 0.9;                /* of what exceeds the usual one, per step */
static const double first_ceiling = 0.7, lift = 1.1; /* of the size that failed; per step */

pol_status poli_step_control_create(poli_step_control **control, const pol_group *group,
                                    const pol_control *options)
{
  poli_step_control *s = *control = calloc(1, sizeof *s);
  if (!s) return POL_NO_MEMORY;
  *s = (poli_step_control){.group = group, .options = *options};
  s->local_order = s->order = second_order;
  s->safety = 0.9;
  s->retreat = 0.25;
  size_t nv = (size_t)group->nv;
  s->memory = calloc(3 * nv, sizeof *s->memory);
  if (!s->memory) {
    poli_step_control_free(control);
    return POL_NO_MEMORY;
  }
  s->largest = s->memory;
  s->weight = s->largest + nv;
  s->error = s->weight + nv;
  return POL_OK;
}

void poli_step_control_free(poli_step_control **control)
{
  if (!*control) return;
  free((*control)->memory);
  free(*control);
  *control = NULL;
}

void poli_step_control_archive(poli_step_control *control, poli_archive *archive)
{
  poli_step_control *s = control;
  poli_archive_bytes(archive, s->memory, 3 * (size_t)s->group->nv * sizeof *s->memory);
  POLI_ARCHIVE(archive, s->h);
  POLI_ARCHIVE(archive, s->last);
  POLI_ARCHIVE(archive, s->span);
  POLI_ARCHIVE(archive, s->order);
  POLI_ARCHIVE(archive, s->tiny_steps);
  POLI_ARCHIVE(archive, s->tried_h);
  POLI_ARCHIVE(archive, s->tried);
  POLI_ARCHIVE(archive, s->pace);
  POLI_ARCHIVE(archive, s->floor);
  POLI_ARCHIVE(archive, s->reference);
  POLI_ARCHIVE(archive, s->ceiling);
}

void poli_step_control_set_order(poli_step_control *control, double local_order)
{
  control->local_order = control->order = local_order;
  control->safety = 0.8;
  control->retreat = 0.4;
}

void poli_step_control_reset(poli_step_control *control, int sizes)
{
  control->h = control->last = control->tried_h = control->ceiling = 0.0;
  control->order = control->local_order;
  control->pace = 0.0;
  control->tiny_steps = 0;
  if (!sizes) return;
  control->span = control->reference = 0.0;
  memset(control->largest, 0, (size_t)control->group->nv * sizeof *control->largest);
}

/* |q_i| of component i of a factor; 1 for rotations. */
static double size_of(const pol_factor *factor, int i, const double *q)
{
  if (factor->kind == POL_REAL) return fabs(q[factor->q + i]);
  return factor->kind == POL_SE3 && i >= 3 ? fabs(q[factor->q + 1 + i]) : 1.0;
}

void poli_step_control_weigh(poli_step_control *control, const double *q)
{
  const pol_control *o = &control->options;
  const pol_group *group = control->group;
  for (int f = 0; f < group->num_factors; f++) {
    const pol_factor *factor = &group->factors[f];
    for (int i = 0; i < factor->dim; i++) {
      int k = factor->v + i, rotation = factor->kind != POL_REAL && i < 3;
      double size = fmax(control->largest[k], size_of(factor, i, q));
      double atol = rotation ? o->atol_rotation : o->atol_translation;
      control->weight[k] = fmax(fmax(atol, o->rtol * size), DBL_MIN);
    }
  }
}

void poli_step_control_accept(poli_step_control *control, const double *q)
{
  const pol_group *group = control->group;
  for (int f = 0; f < group->num_factors; f++) {
    const pol_factor *factor = &group->factors[f];
    for (int i = 0; i < factor->dim; i++) {
      double *largest = &control->largest[factor->v + i];
      *largest = fmax(*largest, size_of(factor, i, q));
    }
  }
}

double poli_step_control_peak(const poli_step_control *control)
{
  enum { MOST_MEANT = 100 };
  return control->published || control->group->nv <= MOST_MEANT ? 0.0 : 0.5;
}

double poli_step_control_norm(const poli_step_control *control, const double *e, int *worst)
{
  double sum = 0.0, max = -1.0;
  int nv = control->group->nv;
  for (int i = 0; i < nv; i++) {
    double share = fabs(e[i]) / control->weight[i];
    sum += share * share;
    if (share <= max) continue;
    max = share;
    if (worst) *worst = i;
  }
  const double mean = sqrt(sum / nv), peak = poli_step_control_peak(control) * max;
  return peak > mean ? peak : mean; /* not finite if a component is not */
}

/* The power of h, from two attempts of this step or from those before. */
static void update_order(poli_step_control *s, double h, double error)
{
  const double usual = s->local_order;
  if (s->tried_h > h && s->tried > error && error > 0.0)
    s->order = log(s->tried / error) / log(s->tried_h / h);
  else if (error <= 1.0)
    s->order = usual + keep_order * (s->order - usual);
  s->order = s->published ? usual : fmin(fmax(s->order, usual), fmax(most_order, usual));
}

double poli_step_control_propose(poli_step_control *control, double h, double error)
{
  update_order(control, h, error);
  double power = 1.0 / control->order;
  double factor = error > 0.0 ? control->safety * pow(error, -power) : most_factor;
  if (control->options.controller == POL_CONTROLLER_PI && control->last > 0.0 && error > 0.0)
    factor = control->safety * pow(error, -0.7 * power) * pow(control->last, 0.4 * power);
  control->tried_h = 0.0;
  if (error <= 1.0) {
    control->last = error;
  } else {
    control->tried_h = h;
    control->tried = error;
    factor = fmin(factor, control->safety); /* a repeated step is smaller */
  }
  double next = h * fmin(fmax(factor, least_factor), most_factor);
  if (!(control->ceiling > 0.0) || error > 1.0) return next;
  next = fmin(next, control->ceiling);
  control->ceiling *= lift;
  return next;
}

double poli_step_control_retreat(poli_step_control *control, double h)
{
  control->tried_h = 0.0;
  if (!control->published) control->ceiling = first_ceiling * h;
  return control->retreat * h;
}
