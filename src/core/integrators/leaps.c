/* Steps that would pass over a contact.
 *
 * A force such as max(0, k*gap) is zero at both ends of a step in which two bodies meet and leave
 * each other; then neither the equations nor the error estimate know of it.  Where expressions
 * compare two numbers, their difference m(t) (a margin, dae/extension.h) shows it, at a soft stop
 * of a joint the distance to its limit.  With the cubic interpolant of the positions, and
 * velocities linear in time,
 *
 *     m m' < 0 at the start,   m m' > 0 at the end,   same sign of m
 *
 * mean that |m| has a minimum within the step; a golden-section search finds it, and if m has the
 * other sign there, the step is to end between the zero before the minimum and the minimum itself.
 * Then the error estimate sees the force.  What lasts so short that the bodies move by less than
 * the tolerances counts as nothing.
 */
#include <math.h>

#include "dae/extension.h"
#include "integrators/family.h"

/* The step under examination. */
typedef struct path {
  pol_integrator *s;
  pol_state from, to;
  double *q, *v; /* within it */
} path;

/* The margins at the fraction x of the step. */
static void margins_at(const path *p, double x, double *margins)
{
  const pol_dae *dae = p->s->dae;
  const double h = p->to.t - p->from.t;
  const pol_point at = {.t = p->from.t + x * h, .q = p->q, .v = p->v, .history = p->s->history};
  poli_integrator_position_within(&dae->group, x, h, &p->from, &p->to, p->q);
  for (int i = 0; i < dae->group.nv; i++) p->v[i] = p->from.v[i] + x * (p->to.v[i] - p->from.v[i]);
  dae->extension->margins(&at, margins, dae->user);
}

/* Margin i, positive at both ends, at the fraction x. */
static double margin_at(const path *p, int i, double sign, double x)
{
  double *margins = p->s->margins + 4 * p->s->dae->extension->num_margins;
  margins_at(p, x, margins);
  return sign * margins[i];
}

/* Where a margin is smallest; both ends have slopes that lead there. */
static double find_least(const path *p, int i, double sign)
{
  const double golden = 0.6180339887498949;
  double low = 0.0, high = 1.0, a = 1.0 - golden, b = golden;
  double at_a = margin_at(p, i, sign, a), at_b = margin_at(p, i, sign, b);
  for (int k = 0; k < 40; k++) {
    if (at_a <= at_b) {
      high = b, b = a, at_b = at_a;
      a = high - golden * (high - low);
      at_a = margin_at(p, i, sign, a);
    } else {
      low = a, a = b, at_a = at_b;
      b = low + golden * (high - low);
      at_b = margin_at(p, i, sign, b);
    }
  }
  return 0.5 * (low + high);
}

/* Whether the bodies move by more than the tolerances between two fractions of the step. */
static int is_far(const path *p, double x0, double x1)
{
  poli_step_control *control = p->s->control;
  for (int i = 0; i < p->s->dae->group.nv; i++)
    p->v[i] = (x1 - x0) * (p->to.t - p->from.t) * p->from.v[i];
  return poli_step_control_norm(control, p->v, NULL) > 1.0;
}

int poli_integrator_leaps(pol_integrator *integrator, double t, const double *q, const double *v,
                          double *next)
{
  const double difference = 1e-4; /* for the slopes */
  const pol_dae *dae = integrator->dae;
  const int count = dae->extension ? dae->extension->num_margins : 0;
  if (count == 0) return 0;
  const path p = {.s = integrator,
                  .from = integrator->state,
                  .to = {.t = t, .q = q, .v = v},
                  .q = integrator->interpolated,
                  .v = integrator->interpolated + dae->group.nq};
  const double fractions[4] = {0.0, difference, 1.0 - difference, 1.0};
  double *m = integrator->margins;
  for (int k = 0; k < 4; k++) margins_at(&p, fractions[k], m + k * count);
  for (int i = 0; i < count; i++) {
    const double first = m[i], last = m[3 * count + i], sign = first > 0.0 ? 1.0 : -1.0;
    if (!(first * last > 0.0 && sign * (m[count + i] - first) < 0.0 &&
          sign * (last - m[2 * count + i]) > 0.0))
      continue;
    const double least = find_least(&p, i, sign);
    if (!(margin_at(&p, i, sign, least) < 0.0)) continue;
    double before = 0.0, after = least; /* the zero between them */
    for (int k = 0; k < 30; k++) {
      const double middle = 0.5 * (before + after);
      if (margin_at(&p, i, sign, middle) < 0.0)
        after = middle;
      else
        before = middle;
    }
    if (!is_far(&p, before, least)) continue;
    *next = 0.5 * (before + least) * (t - p.from.t);
    return 1;
  }
  return 0;
}
