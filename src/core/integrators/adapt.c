/* One step whose size follows from the tolerances: plan, attempt, test, accept or repeat
 * (Gavrea/Negrut/Potra 2005, section 4; the controller is in step_control.c).
 *
 * What the paper leaves open: the growth of a step is limited, a step whose equations cannot be
 * solved is repeated with a fraction of its size, one in which a body turns too far with less, and
 * the first one is
 *
 *     min( T/100,  rms(rate/weight)^(-1/3)/2 ),    rate: local error over h^3
 *
 * Or one step of a reversible sequence, which keeps the energy error of symmetric methods bounded
 * over long times (Hairer/Soederlind 2005): with the kinetic energy T and eps = first_step,
 *
 *     h = eps/rho,    rho_{n+1/2} = rho_{n-1/2} + eps G(y_n),    G = d ln Q^-1/dt = T'/(2 (T +
 * T_f)) 1/Q = sqrt((T + T_f)/(T_0 + T_f)),     rho_{1/2} = 1/Q(y_0) + eps G(y_0)/2
 *
 * so that fast motion has small steps.  T_f is a tenth of the first T and of the work that the
 * forces at the start do over the length of the model or 1 rad.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "dae/dae.h"
#include "dae/extension.h"
#include "integrators/family.h"

/* Half of what would just be accepted, found from the accelerations near the present state. */
static pol_status find_first_step(pol_integrator *s, double span, double *h)
{
  const double most_share = 0.01, difference = 1e-5;
  const int most_trials = 5;
  double tau = difference * span;
  *h = most_share * span;
  for (int k = 0; k < most_trials; k++) {
    pol_status status = s->family->adaptive->error_rate(s, tau, s->control->error);
    if (status) return status;
    double rate = poli_step_control_norm(s->control, s->control->error, NULL);
    *h = rate > 0.0 ? fmin(*h, 0.5 / cbrt(rate)) : *h;
    /* the difference must be fine against the step that it gives */
    if (tau <= *h) break;
    tau = *h;
  }
  return POL_OK;
}

/* How far a rotation may turn in a step, in rad: beyond half a turn its direction cannot be
 * determined from both ends.  A family with an interpolant of its own also knows the middle; where
 * the model counts turns, it does so at the ends only. */
static double most_turn(const pol_integrator *s)
{
  return s->family->interpolate && poli_dae_remembered(s->dae) == 0 ? 6.0 : 3.0;
}

/* Largest angular velocity of a rotation with the velocities v + h v'; where the model counts
 * turns, of one against another. */
static double fastest_turn(const pol_integrator *s, const double *v, double h, const double *vd)
{
  const pol_group *group = &s->dae->group;
  double fastest = 0.0, second = 0.0;
  for (int f = 0; f < group->num_factors; f++) {
    int k = group->factors[f].v;
    if (group->factors[f].kind == POL_REAL) continue;
    double w[3] = {v[k] + h * vd[k], v[k + 1] + h * vd[k + 1], v[k + 2] + h * vd[k + 2]};
    double rate = w[0] * w[0] + w[1] * w[1] + w[2] * w[2];
    second = fmax(second, fmin(rate, fastest));
    fastest = fmax(fastest, rate);
  }
  return sqrt(fastest) + (poli_dae_remembered(s->dae) > 0 ? sqrt(second) : 0.0);
}

double poli_integrator_turn_step(const pol_integrator *integrator)
{
  const pol_state *now = &integrator->state;
  const double rate = fastest_turn(integrator, now->v, 0.0, now->vd);
  return rate > 0.0 ? most_turn(integrator) / rate : HUGE_VAL;
}

double poli_integrator_planned_step(const pol_integrator *integrator)
{
  const poli_step_control *control = integrator->control;
  const pol_control *o = &control->options;
  double h = control->h > 0.0 ? control->h : o->first_step;
  if (o->controller == POL_CONTROLLER_REVERSIBLE && control->pace > 0.0)
    h = o->first_step / control->pace;
  return fmax(h, o->min_step);
}

void poli_integrator_keep_span(pol_integrator *integrator, double span)
{
  poli_step_control *control = integrator->control;
  if (control->options.span > 0.0) return;
  control->options.span = control->span > 0.0 ? control->span : span;
}

void poli_integrator_expect_span(pol_integrator *integrator, double span)
{
  integrator->control->span = fmax(integrator->control->span, span);
}

/* The step that the controller plans, before it is shortened to meet t_end. */
static pol_status plan(pol_integrator *s, double *h)
{
  poli_step_control *control = s->control;
  const pol_control *o = &control->options;
  pol_status status = POL_OK;
  *h = control->h > 0.0 ? control->h : o->first_step;
  if (!(*h > 0.0)) status = find_first_step(s, control->span, h);
  if (o->max_step > 0.0) *h = fmin(*h, o->max_step);
  if (s->family->largest_step) *h = fmin(*h, s->family->largest_step(s, *h, 0));
  /* at both ends; a shorter step ends with another velocity */
  for (int k = 0; k < 2; k++) {
    const double *v = s->state.v, *vd = s->state.vd;
    double turn = *h * fmax(fastest_turn(s, v, 0.0, vd), fastest_turn(s, v, *h, vd));
    if (turn > most_turn(s)) *h *= most_turn(s) / turn;
  }
  *h = fmax(*h, o->min_step);
  return status;
}

static pol_status too_small(pol_integrator *s, int worst, double error, double least)
{
  pol_diagnostics *d = &s->diagnostics;
  d->residual = error;
  d->equation = worst;
  poli_dae_describe(s->dae, worst, d->where, sizeof d->where);
  snprintf(d->message, sizeof d->message, "the tolerances require a step below %.3g s", least);
  snprintf(d->advice, sizeof d->advice,
           "use larger tolerances or a smaller min_step, or check what changes rapidly here");
  return POL_SMALL_STEP;
}

/* Attempts a step of size h to t; *next is the size that should follow, be it accepted or not. */
static pol_status try_step(pol_integrator *s, double t, double h, double least, double *next)
{
  const poli_adaptive *adaptive = s->family->adaptive;
  poli_step_control *control = s->control;
  const double *q, *v;
  const double worthwhile = 1.2;
  int worst = 0;
  poli_integrator_begin_step(s, t, h);
  poli_step_control_weigh(control, s->state.q);
  pol_status status = adaptive->attempt(s, t, h, &q, &v);
  s->diagnostics.t = t;
  s->diagnostics.h = h;
  s->diagnostics.step = s->counts.steps + 1;
  if (status) {
    *next = poli_step_control_retreat(control, h);
    return status;
  }
  adaptive->error(s, control->error);
  poli_step_control_weigh(control, q);
  double error = poli_step_control_norm(control, control->error, &worst);
  /* a little more than planned, as the rotation may have become faster */
  double turn = h * fastest_turn(s, v, 0.0, v), most = 1.04 * most_turn(s);
  /* forces may have become stiff within the step, such as friction that comes to rest */
  const double stable =
      error <= 1.0 && s->family->largest_step ? s->family->largest_step(s, h, 1) : HUGE_VAL;
  const int small = h <= fmax(control->options.min_step, least * (1.0 + 1e-9));
  if (error <= 1.0 && h > stable && !small) {
    adaptive->reject(s);
    *next = fmax(0.25 * h, stable);
    snprintf(s->diagnostics.message, sizeof s->diagnostics.message,
             "the step is too large for a force or state that has become stiff");
    return POL_RETRY;
  }
  if (error <= 1.0 && !small && poli_integrator_leaps(s, t, q, v, next)) {
    adaptive->reject(s);
    snprintf(s->diagnostics.message, sizeof s->diagnostics.message,
             "the step would pass over a contact or another switch of an expression");
    return POL_RETRY;
  }
  if (error <= 1.0 && (turn <= most || h <= control->options.min_step)) {
    *next = poli_step_control_propose(control, h, error);
    /* in large systems a little more is not worth a new matrix */
    if (adaptive->keeps_size && poli_step_control_peak(control) > 0.0 && *next > h &&
        *next < worthwhile * h)
      *next = h;
    poli_step_control_accept(control, q);
    return POL_OK;
  }
  adaptive->reject(s);
  if (error <= 1.0) {
    *next = 0.9 * h * most / turn;
    snprintf(s->diagnostics.message, sizeof s->diagnostics.message,
             "a body rotates too far in one step to count its full turns");
    return POL_RETRY;
  }
  *next = isfinite(error) ? poli_step_control_propose(control, h, error)
                          : poli_step_control_retreat(control, h);
  return too_small(s, worst, error, least);
}

/* POL_SMALL_STEP after many steps in a row that are too small to reach the end, as before a
 * singularity of the solution that the error estimate of the positions does not detect. */
static pol_status check_progress(pol_integrator *s, double t, double h)
{
  const double tiny = 1e-10; /* of the whole span */
  const int most = 2000;
  poli_step_control *control = s->control;
  control->tiny_steps = h < tiny * control->span ? control->tiny_steps + 1 : 0;
  if (control->tiny_steps < most) return POL_OK;
  pol_diagnostics *d = &s->diagnostics;
  snprintf(d->message, sizeof d->message,
           "%d consecutive steps were below %.0e of the time span: the run makes no progress", most,
           tiny);
  snprintf(d->advice, sizeof d->advice,
           "look for a force or state that grows without bound here, or set min_step");
  d->t = t;
  d->h = h;
  d->step = s->counts.steps + 1;
  d->equation = -1;
  d->where[0] = '\0';
  return POL_SMALL_STEP;
}

/* Steps of decreasing size until one is accepted. */
static pol_status step_to(pol_integrator *s, double t_end)
{
  const pol_control *o = &s->control->options;
  pol_counts *counts = &s->counts;
  double start = s->state.t, rest = t_end - start, planned, next;
  double least = fmax(o->min_step, 16.0 * DBL_EPSILON * fmax(fabs(start), fabs(t_end)));
  pol_status status = plan(s, &planned);
  planned = fmax(planned, least);
  if (!status) status = check_progress(s, start, planned);
  poli_integrator_keep_state(s); /* an attempt may adapt it to its size */
  while (!status) {
    /* planned, or less so that the rest up to t_end is one or two steps */
    double h = rest <= planned * (1.0 + 1e-9) ? rest : rest < 2.0 * planned ? 0.5 * rest : planned;
    double t = h == rest ? t_end : start + h;
    status = try_step(s, t, h, least, &next);
    if (!status) {
      s->family->adaptive->accept(s);
      if (h == planned) {
        counts->largest_step = fmax(counts->largest_step, h);
        counts->smallest_step = counts->smallest_step > 0.0 ? fmin(counts->smallest_step, h) : h;
      }
      s->control->h = h < planned ? fmax(next, planned) : next;
      return poli_integrator_end_step(s, t);
    }
    counts->rejected++;
    if (status < 0 || h <= least * (1.0 + 1e-9)) break;
    status = POL_OK;
    planned = fmax(next, least);
  }
  return status;
}

/* One step of a reversible sequence; a failed one cannot be repeated with another size. */
static pol_status step_reversibly(pol_integrator *s, double t_end)
{
  const double floor_share = 0.1;
  poli_step_control *control = s->control;
  const pol_control *o = &control->options;
  pol_counts *counts = &s->counts;
  const double start = s->state.t, rest = t_end - start, eps = o->first_step;
  double T, rate, size;
  pol_status status = s->family->adaptive->energies(s, &T, &rate, &size);
  if (status) return status;
  if (!(control->reference > 0.0)) {
    control->floor = T + size > 0.0 ? floor_share * (T + size) : 1.0;
    control->reference = T + control->floor;
  }
  const double G = 0.5 * rate / (T + control->floor);
  const double pace = control->pace > 0.0
                          ? control->pace + eps * G
                          : sqrt((T + control->floor) / control->reference) + 0.5 * eps * G;
  double h = pace > 0.0 ? eps / pace : (double)INFINITY;
  if (o->max_step > 0.0) h = fmin(h, o->max_step);
  h = fmax(h, o->min_step);
  if (!isfinite(h)) {
    snprintf(s->diagnostics.message, sizeof s->diagnostics.message,
             "the step is too large for the speed of this motion to follow");
    snprintf(s->diagnostics.advice, sizeof s->diagnostics.advice, "take a smaller step");
    return POL_NOT_CONVERGED;
  }
  const int last = rest <= h * (1.0 + 1e-9);
  const double t = last ? t_end : start + h;
  h = last ? rest : h;
  poli_integrator_begin_step(s, t, h);
  poli_integrator_keep_state(s);
  status = s->family->step(s, t, h);
  if (status) {
    counts->rejected++;
    return status;
  }
  control->pace = pace;
  counts->largest_step = fmax(counts->largest_step, h);
  if (!last)
    counts->smallest_step = counts->smallest_step > 0.0 ? fmin(counts->smallest_step, h) : h;
  return poli_integrator_end_step(s, t);
}

pol_status pol_integrator_adapt(pol_integrator *integrator, double t_end)
{
  pol_integrator *s = integrator;
  pol_diagnostics *d = &s->diagnostics;
  const char *rule = NULL;
  poli_integrator_begin_step(s, s->state.t, 0.0);
  if (!s->family->adaptive)
    rule = "this method has no error estimate: use fixed steps";
  else if (s->options.control.controller == POL_CONTROLLER_REVERSIBLE &&
           !s->family->adaptive->energies)
    rule = "reversible steps need the method rattle with rigid bodies in so3xr3";
  else if (!s->state.q || !(t_end > s->state.t) || !isfinite(t_end))
    rule = "the end of a step must be after the current time, and the integrator must be started";
  if (rule) {
    *d = (pol_diagnostics){.equation = -1};
    snprintf(d->message, sizeof d->message, "%s", rule);
    return d->status = POL_BAD_ARGUMENT;
  }
  if (s->before.q == NULL) poli_step_control_accept(s->control, s->state.q);
  poli_step_control_weigh(s->control, s->state.q);
  const double span = s->control->options.span;
  s->control->span = span > 0.0 ? span : fmax(s->control->span, t_end - s->state.t);
  s->adapting = 1;
  s->h = 0.0; /* a step of a given size counts time anew */
  if (s->options.control.controller == POL_CONTROLLER_REVERSIBLE)
    return d->status = step_reversibly(s, t_end);
  return d->status = step_to(s, t_end);
}
