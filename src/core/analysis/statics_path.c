/* Paths of equilibria by arc length: limit points and critical loads.
 *
 * The load factor p is an unknown.  With P = dg/dp, the loads, an increment is w = w_r + dp w_p,
 *
 *     K w_r + B^T .. = M a,     K w_p + B^T .. = -P,     B w_r = B w_p = 0,
 *
 * and the point is on a sphere about the one before, |d|^2 + e^2 (p - p0)^2 = s^2 with
 * d = log(q0^-1 q) (Crisfield's cylindrical constraint, on the group, but for a small e, by which
 * paths go on where joints carry all loads and w_p is 0).  Rotations and displacements are taken
 * apart, and d is an eigenvector of the tangent operator of SO(3): so d/dw of |d|^2/2 is d itself,
 * exactly, and
 *
 *     dp = (s^2/2 - |d|^2/2 - e^2 (p - p0)^2/2 - d.w_r)/(d.w_p + e^2 (p - p0)).
 *
 * The first increment of a step is along w_p, to the side of the last step.  The load turns back
 * where the rate dp/ds = +-1/sqrt(|w_p|^2 + e^2) changes its sign, a path buckles where the
 * smallest eigenvalue of K does; both are found within a step by false position.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statics.h"
#include "base/arena.h"

enum { MAX_ITERATIONS = 20, MAX_STEP_HALVINGS = 20, MAX_SEARCH = 40 };

/* Steps turn bodies by no more (rad), and move them by no more than a fifth of it of the length. */
static const double most_rotation = 0.3;
/* e^2: a load that joints carry is a motion of 0.001 rad. */
static const double load_square = 1e-6;

/* What a point has beside its configuration. */
typedef struct point {
  double load, rate; /* p, dp/ds */
  double test;       /* smallest eigenvalue of K, below zero if it is unstable; buckling only */
  double flutter;    /* Hz, 0: none; buckling only */
  double *state;     /* of poli_statics_copy */
} point;

typedef struct path {
  poli_statics s;
  const pol_path_options *options;
  pol_path_report *report;
  void *memory;
  double *loads;        /* P: nv */
  double *tangent;      /* nv: w_p of the last point, times |rate|, along the path */
  double *back;         /* nv: the same of the point before */
  double *d, *response; /* nv */
  point from, to;       /* ends of the step */
  double load;          /* p of the state */
} path;

static void set_load(path *p, double load)
{
  pol_analysis *a = p->s.a;
  p->load = load;
  poli_formulation_scale_loads(a->formulation, load, a->forces);
}

/* P, of loads that are proportional to p. */
static pol_status find_loads(path *p)
{
  poli_statics *s = &p->s;
  const pol_point at = pol_state_point(&s->a->state);
  const double load = p->load;
  pol_status status = POL_OK;
  for (int k = 0; k < 2 && !status; k++) {
    double *balance = k == 0 ? p->loads : s->force;
    const pol_terms out = {.balance = balance};
    memset(balance, 0, (size_t)s->nv * sizeof *balance);
    set_load(p, k);
    status = poli_dae_evaluate(s->dae, &at, POL_FORCE, &out, s->terms->scratch);
  }
  set_load(p, load);
  for (int i = 0; i < s->nv; i++) p->loads[i] = s->force[i] - p->loads[i];
  return status;
}

/* w_r in s.w and w_p in `response`, at the state. */
static pol_status find_responses(path *p)
{
  pol_status status = find_loads(p);
  if (!status) status = poli_statics_increment(&p->s, 0.0);
  if (status) return status;
  poli_statics_respond(&p->s, p->loads, -1.0, p->response);
  for (int i = 0; i < p->s.nv; i++)
    if (!isfinite(p->response[i])) return POL_SINGULAR;
  return POL_OK;
}

/* Moves the state by the increment in s.w, with another load. */
static pol_status advance(path *p, double load)
{
  poli_statics_copy(&p->s, p->s.kept, 0);
  poli_statics_extrapolate(&p->s, 1.0);
  set_load(p, load);
  p->report->iterations++;
  return poli_statics_move(&p->s, 1.0);
}

/* From the start of the step to the point at the distance `size`. */
static pol_status correct(path *p, double size, int *iterations)
{
  poli_statics *s = &p->s;
  poli_statics_copy(s, p->from.state, 1);
  set_load(p, p->from.load);
  pol_status status = poli_statics_choose_rows(s);
  poli_statics_mix(s);
  for (int i = 0; i < s->nv; i++) s->w[i] = size * p->back[i];
  if (!status) status = advance(p, p->from.load + size * p->from.rate);
  int is_done = 0;
  for (*iterations = 0; *iterations < MAX_ITERATIONS && !status && !is_done; ++*iterations) {
    status = find_responses(p);
    if (status) break;
    pol_group_difference(&s->dae->group, p->from.state, s->a->q, p->d);
    const double raised = p->load - p->from.load;
    const double off =
        0.5 * (size * size - poli_statics_product(s, p->d, p->d) - load_square * raised * raised);
    const double along = poli_statics_product(s, p->d, p->response) + load_square * raised;
    const double change = (off - poli_statics_product(s, p->d, s->w)) / along;
    for (int i = 0; i < s->nv; i++) s->w[i] += change * p->response[i];
    const double moved = sqrt(poli_statics_product(s, s->w, s->w));
    if (!isfinite(moved) || moved > 4.0 * size) status = POL_NOT_CONVERGED;
    if (!status) status = advance(p, p->load + change);
    /* quadratic convergence: the next increment would be round-off */
    is_done = moved <= fmin(1e-8, 1e-4 * size);
  }
  poli_statics_unmix(s);
  if (!status && is_done) return poli_statics_check_beams(s);
  return status ? status : POL_NOT_CONVERGED;
}

/* The direction of the path at the state, to the side of `last`, and its stability. */
static pol_status look_ahead(path *p, const double *last, point *at, double *tangent)
{
  poli_statics *s = &p->s;
  pol_status status = find_responses(p);
  if (status) return status;
  const double size = sqrt(poli_statics_product(s, p->response, p->response) + load_square);
  const double along =
      last ? poli_statics_product(s, last, p->response) + load_square * (p->load - p->from.load)
           : 1.0;
  const double side = along < 0.0 ? -1.0 : 1.0;
  for (int i = 0; i < s->nv; i++) tangent[i] = side * p->response[i] / size;
  at->load = p->load;
  at->rate = side / size;
  at->test = 1.0;
  at->flutter = 0.0;
  if (p->options->buckling) {
    pol_static_report *report = &p->report->last;
    *report = (pol_static_report){0};
    status = poli_stability(s->a, NULL, report, &at->test, s->diagnostics);
    at->flutter = report->flutter;
  }
  return status;
}

/* --- points within a step --------------------------------------------------------------------- */

typedef double test_of(const path *p, const point *at);

static double rate_of(const path *p, const point *at)
{
  (void)p;
  return at->rate;
}

static double stability_of(const path *p, const point *at)
{
  (void)p;
  return at->test;
}

static double distance_to_end(const path *p, const point *at)
{
  return p->options->end - fabs(at->load);
}

/* Goes to the point of the step of this size where a test changes its sign, which it does (false
 * position, Illinois).  *size becomes that of the point found: if flutter starts there, a point at
 * which it has. */
static pol_status search(path *p, test_of *test, double *size, point *found)
{
  double a = 0.0, b = *size, fa = test(p, &p->from), fb = test(p, &p->to);
  const double enough = 1e-7 * fmax(fabs(fa), fabs(fb));
  int flutters = p->to.flutter > 0.0; /* at b */
  pol_status status = POL_OK;
  int iterations;
  for (int k = 0; k < MAX_SEARCH; k++) {
    double x = (a * fb - b * fa) / (fb - fa);
    /* never stuck at one end */
    if (!(x > a + 1e-3 * (b - a) && x < b - 1e-3 * (b - a)) || k % 4 == 3) x = 0.5 * (a + b);
    status = correct(p, x, &iterations);
    if (!status) status = look_ahead(p, p->d, found, p->tangent);
    if (status && status != POL_SINGULAR && status != POL_NOT_CONVERGED) return status;
    /* where a matrix is singular to round-off the zero is near: it is approached from the start */
    const double f = status ? copysign(enough, fb) : test(p, found);
    const int is_beyond = (f < 0.0) == (fb < 0.0);
    *size = x;
    if (!status && (b - a <= 1e-9 * x || fabs(f) <= enough)) {
      if (is_beyond || !flutters) return POL_OK;
      break;
    }
    if (status && b - a <= 1e-6 * b) break;
    if (is_beyond) {
      b = x, fb = f;
      flutters = !status && found->flutter > 0.0;
      fa *= 0.5;
    } else {
      a = x, fa = f;
      fb *= 0.5;
    }
  }
  *size = flutters ? b : a;
  status = correct(p, *size, &iterations);
  if (!status) status = look_ahead(p, p->d, found, p->tangent);
  return status || flutters || fabs(test(p, found)) <= 1e3 * enough ? status : POL_NOT_CONVERGED;
}

/* From a point next to it to the equilibrium of a given load, stable or not. */
static pol_status settle(path *p, double load)
{
  poli_statics *s = &p->s;
  set_load(p, load);
  pol_status status = poli_statics_release(s);
  for (int k = 0; k < 5 && !status; k++) {
    status = poli_statics_increment(s, 0.0);
    if (status || poli_statics_product(s, s->w, s->w) < 1e-24) break;
    status = advance(p, load);
  }
  return status;
}

static int changes(const path *p, test_of *test)
{
  return (test(p, &p->from) < 0.0) != (test(p, &p->to) < 0.0);
}

/* --- the path --------------------------------------------------------------------------------- */

static int report_point(const path *p, double load, double length)
{
  const pol_path_options *o = p->options;
  memset(p->s.a->vd, 0, (size_t)p->s.nv * sizeof *p->s.a->vd);
  return o->on_point && o->on_point(p->s.a, load, length, o->user);
}

static pol_status fail(path *p, pol_status status, const char *message, const char *advice)
{
  return poli_analysis_fail(p->s.a, status, message, advice, p->s.diagnostics);
}

/* The largest size of a step along `tangent` from a point. */
static double largest_step(const path *p, const point *at)
{
  double rotation, translation;
  poli_statics_largest(&p->s, p->tangent, &rotation, &translation);
  const double turn = fmax(rotation, 5.0 * translation / p->s.a->length);
  const double raise = fmax(1.0, fabs(at->load)) / p->options->steps;
  return fmin(most_rotation / turn, raise / fabs(at->rate));
}

/* The equilibrium without loads, the direction from there. */
static pol_status begin(path *p)
{
  poli_statics *s = &p->s;
  set_load(p, 0.0);
  pol_status status = poli_statics_equilibrate(s, 200);
  if (status > 0) {
    s->diagnostics->message[0] = s->diagnostics->advice[0] = '\0';
    return fail(p, status, "there is no equilibrium without loads, where the path starts",
                "add springs, joints or beams that hold the mechanism without loads");
  }
  if (!status) status = look_ahead(p, NULL, &p->to, p->tangent);
  if (status == POL_SINGULAR)
    return fail(p, status, "nothing resists a motion of the mechanism without loads",
                "add springs, joints or beams that hold the mechanism without loads");
  if (status) return status;
  double loads = 0.0;
  for (int i = 0; i < s->nv; i++) loads = fmax(loads, fabs(p->loads[i]));
  if (loads == 0.0)
    return fail(p, POL_BAD_ARGUMENT,
                "there are no loads: gravity, applied forces and actuators are loads",
                "add a load, or look at its scale at the time --at");
  if (p->to.test < 0.0)
    return fail(p, POL_NOT_CONVERGED, "the equilibrium without loads is unstable", NULL);
  poli_statics_copy(s, p->to.state, 0);
  return report_point(p, 0.0, 0.0) ? POL_CANCELLED : POL_OK;
}

/* One step from p->to, smaller where it fails or turns by more than 60 degrees. */
static pol_status step(path *p, double *size, int *iterations)
{
  poli_statics *s = &p->s;
  double *const state = p->from.state;
  p->from = p->to;
  p->to.state = state;
  memcpy(p->back, p->tangent, (size_t)s->nv * sizeof *p->back);
  pol_status status = POL_NOT_CONVERGED;
  for (int k = 0; k < MAX_STEP_HALVINGS && status > 0; k++, *size *= 0.5) {
    status = correct(p, *size, iterations);
    if (status) continue;
    pol_group_difference(&s->dae->group, p->from.state, s->a->q, p->d);
    status = look_ahead(p, p->d, &p->to, p->tangent);
    const double turned =
        poli_statics_product(s, p->back, p->tangent) + load_square * p->from.rate * p->to.rate;
    if (!status && turned < 0.5) status = POL_NOT_CONVERGED;
    if (!status) break;
  }
  if (status > 0) {
    s->diagnostics->message[0] = '\0';
    return fail(p, POL_NOT_CONVERGED, "the path of equilibria was lost",
                "more --steps; elements may be too long for the deformation");
  }
  if (!status) poli_statics_copy(s, p->to.state, 0);
  return status;
}

/* Limit points, the critical load and the end within the step that is done. */
static pol_status look_back(path *p, double size, int *is_done)
{
  pol_path_report *report = p->report;
  const double near = 1e-6 * p->options->end;
  double at = size;
  point found;
  pol_status status = POL_OK;
  if (changes(p, rate_of)) {
    status = search(p, rate_of, &at, &found);
    if (status) return status;
    if (report->num_limits < POL_MAX_LIMITS) report->limits[report->num_limits] = found.load;
    report->num_limits++;
  }
  if (p->options->buckling && changes(p, stability_of)) {
    at = size;
    status = search(p, stability_of, &at, &found);
    report->is_critical = 1;
    report->is_limit = report->num_limits > 0;
    *is_done = 1;
  } else if (distance_to_end(p, &p->to) <= near) {
    at = size;
    if (distance_to_end(p, &p->to) < -near) status = search(p, distance_to_end, &at, &found);
    if (!status) status = settle(p, copysign(p->options->end, p->to.load));
    *is_done = 1;
  }
  if (status || *is_done) {
    report->length += at;
    return status;
  }
  /* back to the end of the step */
  if (at != size) {
    poli_statics_copy(&p->s, p->to.state, 1);
    set_load(p, p->to.load);
    status = poli_statics_choose_rows(&p->s);
    if (!status) status = poli_statics_release(&p->s);
    if (!status) status = look_ahead(p, p->d, &p->to, p->tangent);
  }
  report->length += size;
  return status;
}

static pol_status follow(path *p)
{
  pol_path_report *report = p->report;
  int is_done = 0, iterations = 0;
  pol_status status = begin(p);
  double size = status ? 0.0 : largest_step(p, &p->to);
  while (!status && !is_done) {
    if (report->points >= p->options->max_points)
      return fail(p, POL_NOT_CONVERGED, "the path did not reach the end in the points allowed",
                  "fewer --steps, or other loads");
    status = step(p, &size, &iterations);
    p->s.diagnostics->step = ++report->points;
    if (!status) status = look_back(p, size, &is_done);
    report->load = p->load;
    if (!status && report_point(p, p->load, report->length)) status = POL_CANCELLED;
    size *= fmax(0.5, fmin(2.0, sqrt(5.0 / iterations)));
    size = fmin(size, largest_step(p, &p->to));
  }
  return status;
}

static pol_status create(path *p, pol_analysis *a)
{
  pol_status status = poli_statics_create(&p->s, a);
  if (status) return status;
  const int nv = p->s.nv;
  const int size = a->dae->group.nq + nv + p->s.m + (int)a->dae->history_size;
  poli_arena arena = {0};
  do {
    POLI_TAKE_EACH(&arena, nv, &p->loads, &p->tangent, &p->back, &p->d, &p->response);
    POLI_TAKE_EACH(&arena, size, &p->from.state, &p->to.state);
  } while (poli_arena_again(&arena));
  p->memory = arena.memory;
  return p->memory ? POL_OK : POL_NO_MEMORY;
}

pol_path_options pol_path_options_default(void)
{
  return (pol_path_options){.steps = 20, .end = 1.0, .max_points = 1000};
}

pol_status pol_analysis_path(pol_analysis *analysis, const pol_path_options *options,
                             pol_path_report *report, pol_diagnostics *diagnostics)
{
  const pol_path_options usual = pol_path_options_default();
  pol_path_report unused;
  pol_diagnostics own = {.equation = -1, .t = analysis->state.t};
  path p = {.options = options ? options : &usual, .report = report ? report : &unused};
  *p.report = (pol_path_report){0};
  p.s.diagnostics = &own;
  pol_status status = POL_OK;
  if (p.options->steps < 1 || p.options->max_points < 1 || !(p.options->end > 0.0))
    status = poli_analysis_fail(analysis, POL_BAD_ARGUMENT,
                                "steps and max_points must be at least 1, end above 0", NULL, &own);
  else if (analysis->dae->num_states > 0)
    status = poli_analysis_fail(analysis, POL_BAD_ARGUMENT,
                                "paths of equilibria have no first-order states", NULL, &own);
  if (!status) status = create(&p, analysis);
  if (!status) {
    status = follow(&p);
    p.report->last = (pol_static_report){.residual = p.s.residual};
    if (!status) status = poli_stability(analysis, NULL, &p.report->last, NULL, &own);
    poli_formulation_scale_loads(analysis->formulation, 1.0, analysis->forces);
  }
  free(p.memory);
  poli_statics_free(&p.s);
  if (status) poli_analysis_fail(analysis, status, NULL, NULL, &own);
  if (status && diagnostics) *diagnostics = own;
  return status;
}
