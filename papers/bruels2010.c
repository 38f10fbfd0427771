/* Items of Bruels/Cardona 2010: the Lie group methods geom1 and geom2 against generalized-alpha on
 * incremental rotation vectors ("linear"), on fast rotating bodies.
 *
 * The error is (99), the mean distance of x = R X from the exact point at ten times.  The paper
 * compares its last two problems with fine runs of each method; here all are compared with
 * independent solutions.  Blanks are lost in its initial angular velocities of 7.2 and 7.3, which
 * are read as (0, 0.02, 36) and (0, 0.1, 10): a pure spin would leave x at rest.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "papers/heavy_top.h"

#define MODELS "models/bruels-cardona-2010/"
static const double pi = 3.14159265358979323846;

enum { NUM_METHODS = 3, NUM_STEPS = 5, NUM_TIMES = 10 };
static const char *const methods[NUM_METHODS] = {"geom1", "geom2", "linear"};
enum { GEOM1, GEOM2, LINEAR };
static const double steps[NUM_STEPS] = {4e-3, 2e-3, 1e-3, 5e-4, 2.5e-4};
enum { MIDDLE = 2 }; /* h = 1e-3 */

/* --- errors over step sizes ------------------------------------------------------------------- */

/* Ten points 0.02 s apart. */
typedef struct target {
  double first; /* time */
  double x[NUM_TIMES][3];
} target;

/* Mean distance from the target of the columns x, y, z of a run whose first is t; NAN if it stopped
 * before. */
static double mean_error(const paper_run *run, double h, const target *exact)
{
  double sum = 0.0;
  for (int k = 0; k < NUM_TIMES; k++) {
    const long row = lround((exact->first + 0.02 * k) / h);
    double square = 0.0;
    if (row >= run->rows) return (double)NAN;
    for (int i = 0; i < 3; i++) square += pow(run->values[1 + i][row] - exact->x[k][i], 2);
    sum += sqrt(square);
  }
  return sum / NUM_TIMES;
}

/* What to run. */
typedef struct problem {
  const char *model, *channels; /* t and the point first */
  const char *group;
  double end;
  double rho[2]; /* little or no damping, and much */
  target exact;
} problem;

static void run_problem(paper_report *r, paper_run *run, const problem *p, int method, double rho,
                        double h, double end)
{
  paper_run_model(r, run, p->model, p->channels,
                  "simulation.method=%s simulation.formulation=%s simulation.rho_inf=%.17g "
                  "simulation.step=%.17g simulation.end=%.17g "
                  "simulation.newton={\"tolerance\":1e-13}",
                  methods[method], p->group, rho, h, end);
  if (run->status != POL_OK)
    paper_report_text(r, "%s with rho_inf = %g and h = %g stopped at t = %g: %s.", methods[method],
                      rho, h, run->diagnostics.t, run->diagnostics.message);
}

/* errors[damped][method] */
typedef struct error_curves {
  paper_errors_of curves[2][NUM_METHODS];
} error_curves;

static void measure_errors(paper_report *r, const problem *p, error_curves *e)
{
  static const char *const labels[2][NUM_METHODS] = {
      {"geom1", "geom2", "linear"}, {"geom1, damped", "geom2, damped", "linear, damped"}};
  for (int d = 0; d < 2; d++)
    for (int m = 0; m < NUM_METHODS; m++) {
      e->curves[d][m].label = labels[d][m];
      for (int k = 0; k < NUM_STEPS; k++) {
        paper_run run;
        run_problem(r, &run, p, m, p->rho[d], steps[k], p->end);
        e->curves[d][m].error[k] = mean_error(&run, steps[k], &p->exact);
        paper_run_free(&run);
      }
    }
}

static void report_errors(paper_report *r, const problem *p, const char *caption,
                          const error_curves *e)
{
  char text[256];
  snprintf(text, sizeof text, "%s, rho_inf = %g, and %g where damped", caption, p->rho[0],
           p->rho[1]);
  paper_report_errors(r, "errors", text, "mean error of x (m)", steps, NUM_STEPS, e->curves[0],
                      2 * NUM_METHODS, (const double[]){2.0, 0.0});
  for (int d = 0; d < 2; d++)
    for (int m = 0; m < NUM_METHODS; m++) {
      const paper_errors_of *curve = &e->curves[d][m];
      snprintf(text, sizeof text, "order of %s", curve->label);
      paper_check_near(r, text, paper_fit_order(steps + MIDDLE, curve->error + MIDDLE, 3), 2.0,
                       0.1);
    }
}

/* Whether both geometric methods are less accurate than the linear one, or more, at h = 1e-3. */
static void check_ranking(paper_report *r, const error_curves *e, int linear_best)
{
  for (int d = 0; d < 2; d++) {
    const double linear = e->curves[d][LINEAR].error[MIDDLE];
    const double a = e->curves[d][GEOM1].error[MIDDLE] / linear;
    const double b = e->curves[d][GEOM2].error[MIDDLE] / linear;
    paper_check_true(r,
                     linear_best ? "the geometric methods are less accurate than the linear one"
                                 : "the geometric methods are more accurate than the linear one",
                     linear_best ? a > 1.0 && b > 1.0 : a < 1.0 && b < 1.0,
                     "errors %.2f and %.2f times that of linear at h = 1e-3%s", a, b,
                     d ? ", damped" : "");
  }
}

/* --- rotating bodies: figures 2 to 5 ---------------------------------------------------------- */

#define POINT                                                                                      \
  "t|marker.reference point.position.x|marker.reference point.position.y|"                         \
  "marker.reference point.position.z|energy.total"
enum { X = 1, Y = 2, ENERGY = 4 };

static const problem spherical = {.model = MODELS "romano_1.json",
                                  .channels = POINT,
                                  .group = "so3",
                                  .end = 0.6,
                                  .rho = {1.0, 0.6},
                                  .exact = {.first = 0.42}};
static const problem free_body = {.model = MODELS "romano_2.json",
                                  .channels = POINT,
                                  .group = "so3",
                                  .end = 1.0,
                                  .rho = {1.0, 0.6},
                                  .exact = {.first = 0.82}};
static const problem driven = {.model = MODELS "romano_3.json",
                               .channels = POINT,
                               .group = "so3",
                               .end = 0.3,
                               .rho = {1.0, 0.6},
                               .exact = {.first = 0.12}};

/* The ten points of a section, 7.1 and so on. */
static void read_target(paper_report *r, double section, target *exact)
{
  long rows;
  double *table = paper_read_table(r, "papers/data/romano.csv", 5, &rows);
  int found = 0;
  for (long n = 0; n < rows; n++) {
    const double *row = table + 5 * n;
    const long k = lround((row[1] - exact->first) / 0.02);
    if (fabs(row[0] - section) > 0.01 || k < 0 || k >= NUM_TIMES) continue;
    memcpy(exact->x[k], row + 2, sizeof exact->x[k]);
    found++;
  }
  if (found != NUM_TIMES)
    paper_report_fail(r, "papers/data/romano.csv has %d rows for %g", found, section);
  free(table);
}

static void body_errors(paper_report *r, const problem *body, double section, const char *caption,
                        int linear_best)
{
  problem p = *body;
  error_curves e;
  read_target(r, section, &p.exact);
  measure_errors(r, &p, &e);
  report_errors(r, &p, caption, &e);
  check_ranking(r, &e, linear_best);
}

static void run_fig02(paper_report *r)
{
  body_errors(r, &spherical, 7.1, "Spherical ellipsoid of inertia with follower torque", 0);
}

/* All methods with both dampings. */
typedef struct runs {
  paper_run of[2][NUM_METHODS];
} runs;

static void free_all(runs *all)
{
  for (int d = 0; d < 2; d++)
    for (int m = 0; m < NUM_METHODS; m++) paper_run_free(&all->of[d][m]);
}

/* 1 if all ran; then they are to be freed. */
static int run_all(paper_report *r, const problem *p, double h, double end, runs *all)
{
  for (int d = 0; d < 2; d++)
    for (int m = 0; m < NUM_METHODS; m++) run_problem(r, &all->of[d][m], p, m, p->rho[d], h, end);
  if (!paper_report_failed(r)) return 1;
  free_all(all);
  return 0;
}

static pol_series series_of(const paper_run *run, int x, int y, const char *label)
{
  return (pol_series){
      .x = run->values[x], .y = run->values[y], .count = (size_t)run->rows, .label = label};
}

/* Leaves the change of the energy since the start in its place. */
static void subtract_start(paper_run *run)
{
  const double start = run->rows > 0 ? run->values[ENERGY][0] : 0.0;
  for (long n = 0; n < run->rows; n++) run->values[ENERGY][n] -= start;
}

/* One panel a damping, one curve a method, and perhaps one more of their own. */
static void draw_methods(paper_report *r, const char *name, const char *caption, const runs *all,
                         int channel, const char *y_label, const char *const notes[2],
                         const pol_series *exact)
{
  pol_series series[2][NUM_METHODS + 1];
  paper_plot plots[2];
  for (int d = 0; d < 2; d++) {
    for (int m = 0; m < NUM_METHODS; m++)
      series[d][m] = series_of(&all->of[d][m], 0, channel, methods[m]);
    if (exact != NULL) series[d][NUM_METHODS] = *exact;
    plots[d] = (paper_plot){.y_label = y_label, .note = notes[d], .series = series[d]};
    plots[d].num_series = NUM_METHODS + (exact != NULL);
  }
  paper_report_panels(r, name, caption, "time (s)", plots, 2);
}

static const char *const damping_notes[2] = {"rho_inf 1", "rho_inf 0.6"};

/* The axis of a free symmetric body goes round its angular momentum L at the rate |L|/J_1, and so
 * does the point x = R X on it: with the tilt of the axis and the phase p,
 * x = -|X| sin(tilt) (sin p, cos(tilt) (1 - cos p)). */
typedef struct precession {
  double rate, amplitude, centre; /* rad/s; m in x; m in y */
} precession;

static precession exact_precession(void)
{
  const double L_y = 21.959 * 0.02, L_z = 6.671 * 36.0, length = 0.646;
  const double tilt = atan2(L_y, L_z);
  return (precession){hypot(L_y, L_z) / 21.959, length * sin(tilt),
                      -length * sin(tilt) * cos(tilt)};
}

enum { EXACT_ROWS = 2001 };
typedef struct path {
  double t[EXACT_ROWS], x[EXACT_ROWS], y[EXACT_ROWS];
} path;

static void exact_path(double end, path *p)
{
  const precession exact = exact_precession();
  for (int n = 0; n < EXACT_ROWS; n++) {
    p->t[n] = end * n / (EXACT_ROWS - 1);
    p->x[n] = -exact.amplitude * sin(exact.rate * p->t[n]);
    p->y[n] = exact.centre * (1.0 - cos(exact.rate * p->t[n]));
  }
}

/* Half the width of x from one time to another. */
static double half_width(const paper_run *run, double from, double to)
{
  double low = HUGE_VAL, high = -HUGE_VAL;
  for (long n = 0; n < run->rows; n++) {
    if (run->values[0][n] < from - 1e-9 || run->values[0][n] > to + 1e-9) continue;
    low = fmin(low, run->values[X][n]), high = fmax(high, run->values[X][n]);
  }
  return 0.5 * (high - low);
}

/* The mean rate of a swing about 0 from its first to its last rise. */
static double swing_rate(const paper_run *run)
{
  double first = 0.0, last = 0.0;
  int rises = 0;
  for (long n = 1; n < run->rows; n++) {
    const double a = run->values[X][n - 1], b = run->values[X][n];
    const double t = run->values[0][n - 1], h = run->values[0][n] - t;
    if (!(a < 0.0 && b >= 0.0)) continue;
    last = t + h * a / (a - b);
    if (rises++ == 0) first = last;
  }
  return rises > 1 ? 2.0 * pi * (rises - 1) / (last - first) : 0.0;
}

/* Period, amplitude and energy of the free body after a while. */
static void check_swings(paper_report *r, const runs *all, double end)
{
  const precession exact = exact_precession();
  double period[NUM_METHODS], growth[NUM_METHODS];
  paper_report_table(r, "The swing of x without damping, and the energy lost",
                     "method|period over the exact one|amplitude, first second|last second|"
                     "energy lost, rho_inf 1|rho_inf 0.6");
  for (int m = 0; m < NUM_METHODS; m++) {
    const double before = half_width(&all->of[0][m], 0.0, 1.0);
    const double after = half_width(&all->of[0][m], end - 1.0, end);
    double lost[2];
    period[m] = exact.rate / swing_rate(&all->of[0][m]);
    growth[m] = after / before;
    for (int d = 0; d < 2; d++) {
      const paper_run *run = &all->of[d][m];
      lost[d] = 1.0 - run->values[ENERGY][run->rows - 1] / run->values[ENERGY][0];
    }
    paper_report_row(r, "%s|%.5f|%.5f|%.5f|%.3e|%.3e", methods[m], period[m],
                     before / exact.amplitude, after / exact.amplitude, lost[0], lost[1]);
    paper_check_true(r, "damping increases the loss of energy", lost[1] > lost[0],
                     "%s: %.3e of it without, %.3e with damping", methods[m], lost[0], lost[1]);
  }
  for (int m = GEOM1; m <= GEOM2; m++) {
    paper_check_true(r, "the geometric methods underestimate the period", period[m] < 1.0,
                     "%s: %.5f of the exact one", methods[m], period[m]);
    paper_check_true(r, "they tend to preserve the amplitude", fabs(growth[m] - 1.0) < 0.005,
                     "%s: %.5f times after four seconds", methods[m], growth[m]);
  }
  paper_check_true(r, "the linear method increases period and amplitude",
                   period[LINEAR] > 1.0 && growth[LINEAR] > 1.005,
                   "period %.5f of the exact one, amplitude %.5f times after four seconds",
                   period[LINEAR], growth[LINEAR]);
}

static const double long_step = 0.01, long_end = 5.0;

static void run_fig03(paper_report *r)
{
  path *exact = malloc(sizeof *exact);
  runs all;
  paper_report_text(r,
                    "The paper does not state the step of its time histories: 0.01 s here, a third "
                    "of a radian of the spin. Omega(0) is printed without blanks and read as "
                    "(0, 0.02, 36).");
  if (exact == NULL)
    paper_report_fail(r, "out of memory");
  else if (run_all(r, &free_body, long_step, long_end, &all)) {
    exact_path(long_end, exact);
    const pol_series curve = {.x = exact->t, .y = exact->x, .count = EXACT_ROWS, .label = "exact"};
    draw_methods(r, "x", "x of the reference point, h = 0.01", &all, X, "x (m)", damping_notes,
                 &curve);
    check_swings(r, &all, long_end);
    for (int d = 0; d < 2; d++)
      for (int m = 0; m < NUM_METHODS; m++) subtract_start(&all.of[d][m]);
    draw_methods(r, "energy", "Change of the energy, h = 0.01", &all, ENERGY, "change (J)",
                 damping_notes, NULL);
    free_all(&all);
  }
  free(exact);
  body_errors(r, &free_body, 7.2, "Free body", 1);
}

/* The largest distance from the exact circle over its radius. */
static double circle_error(const paper_run *run)
{
  const precession exact = exact_precession();
  double worst = 0.0;
  for (long n = 0; n < run->rows; n++) {
    const double radius = hypot(run->values[X][n], run->values[Y][n] - exact.centre);
    worst = fmax(worst, fabs(radius / exact.amplitude - 1.0));
  }
  return worst;
}

static void draw_paths(paper_report *r, const runs *all, const path *circle)
{
  pol_series series[NUM_METHODS + 1];
  for (int m = 0; m < NUM_METHODS; m++) series[m] = series_of(&all->of[0][m], X, Y, methods[m]);
  series[NUM_METHODS] =
      (pol_series){.x = circle->x, .y = circle->y, .count = EXACT_ROWS, .label = "exact"};
  for (int m = 0; m <= NUM_METHODS; m++) pol_series_look(&series[m], m);
  paper_report_plane(r, "path", "Path of the reference point in 5 s without damping, h = 0.01",
                     "x (m)", "y (m)", series, NUM_METHODS + 1, pol_figure_default().width, 560.0);
}

static void run_fig04(paper_report *r)
{
  path *circle = malloc(sizeof *circle);
  runs all, fine;
  if (circle == NULL) {
    paper_report_fail(r, "out of memory");
    return;
  }
  paper_report_text(r, "The paper does not state the step; 0.01 s here.");
  const int done = run_all(r, &free_body, long_step, long_end, &all);
  if (run_all(r, &free_body, 0.5 * long_step, long_end, &fine)) {
    exact_path(1.0, circle);
    draw_paths(r, &all, circle);
    for (int m = 0; m < NUM_METHODS; m++) {
      const paper_run *run = &all.of[0][m];
      const double before = half_width(run, 0.0, 1.0);
      const double growth = half_width(run, long_end - 1.0, long_end) / before;
      const double ratio = circle_error(run) / circle_error(&fine.of[0][m]);
      char what[96];
      paper_check_true(r,
                       m == LINEAR ? "the linear method spirals outwards"
                                   : "the geometric methods keep to a circle",
                       m == LINEAR ? growth > 1.005 : fabs(growth - 1.0) < 0.005,
                       "%s: %.5f times as wide after four seconds", methods[m], growth);
      snprintf(what, sizeof what, "distance from the exact circle over that with half the step, %s",
               methods[m]);
      paper_check_range(r, what, ratio, 3.5, HUGE_VAL, "paths near the exact one: order 2 or more");
    }
    free_all(&fine);
  }
  if (done) free_all(&all);
  free(circle);
}

/* Whether the errors grow, and damping costs energy. */
static void check_departure(paper_report *r, const runs *all, const target *exact)
{
  for (int m = 0; m < NUM_METHODS; m++) {
    const paper_run *run = &all->of[0][m], *damped = &all->of[1][m];
    double d[2];
    for (int k = 0; k < 2; k++) {
      const int at = k ? NUM_TIMES - 1 : 0;
      const long row = lround((exact->first + 0.02 * at) / long_step);
      d[k] = hypot(run->values[X][row] - exact->x[at][0], run->values[Y][row] - exact->x[at][1]);
    }
    const double a = run->values[ENERGY][run->rows - 1];
    const double b = damped->values[ENERGY][damped->rows - 1];
    paper_check_true(r, "the solution departs from the exact one with time", d[1] > d[0],
                     "%s: %.2e m at t = 0.12, %.2e m at t = 0.3", methods[m], d[0], d[1]);
    paper_check_true(r, "damping increases the loss of energy", b < a,
                     "%s: %.4f J at the end without, %.4f J with", methods[m], a, b);
  }
}

static void run_fig05(paper_report *r)
{
  const double end = 3.0;
  problem p = driven;
  paper_run fine;
  runs all;
  paper_report_text(r, "Omega(0) is printed without blanks and read as (0, 0.1, 10). The paper "
                       "does not state the step of its time histories: 0.01 s here, for 3 s.");
  read_target(r, 7.3, &p.exact);
  run_problem(r, &fine, &p, GEOM1, 1.0, 2e-4, end);
  if (run_all(r, &p, long_step, end, &all)) {
    const pol_series curve = series_of(&fine, 0, X, "h = 2e-4");
    draw_methods(r, "x", "x of the reference point, h = 0.01", &all, X, "x (m)", damping_notes,
                 &curve);
    check_departure(r, &all, &p.exact);
    free_all(&all);
  }
  paper_run_free(&fine);
  body_errors(r, &driven, 7.3, "Symmetric body with follower torque", 1);
}

/* --- heavy top: figures 6 to 8 ---------------------------------------------------------------- */

#define TOP "t|top.position.x|top.position.y|top.position.z|energy.total"

static problem unconstrained_top(void)
{
  return (problem){.model = MODELS "heavy_top.json",
                   .channels = TOP,
                   .group = "so3",
                   .end = 0.5,
                   .rho = {1.0, 0.6},
                   .exact = {.first = 0.32}};
}

static problem constrained_top(void)
{
  problem p = unconstrained_top();
  p.group = "so3xr3";
  p.rho[0] = 0.9;
  return p;
}

/* The exact points of the top. */
static void top_target(paper_report *r, target *exact)
{
  paper_top top = {0};
  paper_top_read(r, &top);
  for (int k = 0; k < NUM_TIMES && !paper_report_failed(r); k++) {
    paper_top_state s;
    paper_top_exact_at(&top, exact->first + 0.02 * k, &s);
    memcpy(exact->x[k], s.position, sizeof s.position);
  }
  paper_top_free(&top);
}

/* How far the energy is from its start: at most, and at the end; J. */
typedef struct drift {
  double largest, last;
} drift;

static drift drift_of(const paper_run *run)
{
  drift d = {0.0, 0.0};
  const double *energy = run->values[ENERGY];
  for (long n = 0; n < run->rows; n++) {
    d.last = energy[n] - energy[0];
    d.largest = fmax(d.largest, fabs(d.last));
  }
  return d;
}

/* Energies over 5 s with h = 1e-3, drawn as changes. */
static int top_energies(paper_report *r, const problem *p, const char *const notes[2],
                        drift drifts[2][NUM_METHODS])
{
  runs all;
  if (!run_all(r, p, 1e-3, 5.0, &all)) return 0;
  paper_report_table(r, "Change of the energy in 5 s, h = 1e-3 (J)",
                     "method|rho_inf|largest|at the end");
  for (int d = 0; d < 2; d++)
    for (int m = 0; m < NUM_METHODS; m++) {
      paper_run *run = &all.of[d][m];
      drifts[d][m] = drift_of(run);
      paper_report_row(r, "%s|%g|%.4f|%.4f", methods[m], p->rho[d], drifts[d][m].largest,
                       drifts[d][m].last);
      subtract_start(run);
    }
  draw_methods(r, "energy", "Change of the energy, h = 1e-3", &all, ENERGY, "change (J)", notes,
               NULL);
  free_all(&all);
  return 1;
}

static void run_fig06(paper_report *r)
{
  problem p = unconstrained_top();
  drift drifts[2][NUM_METHODS];
  error_curves e;
  top_target(r, &p.exact);
  if (!top_energies(r, &p, damping_notes, drifts)) return;
  measure_errors(r, &p, &e);
  report_errors(r, &p, "Heavy top without constraints", &e);
  check_ranking(r, &e, 1);
  const drift *free_drift = drifts[0];
  paper_check_true(r, "the linear method has a small, steady loss of energy",
                   free_drift[LINEAR].last < -0.95 * free_drift[LINEAR].largest,
                   "%.4f J at the end, %.4f J at most", free_drift[LINEAR].last,
                   free_drift[LINEAR].largest);
  for (int m = GEOM1; m <= GEOM2; m++)
    paper_check_true(r, "the energy of the geometric methods oscillates",
                     free_drift[m].largest > 1.2 * fabs(free_drift[m].last),
                     "%s: %.4f J at the end, %.4f J at most", methods[m], free_drift[m].last,
                     free_drift[m].largest);
  paper_check_true(r, "geom2 has the larger drift",
                   free_drift[GEOM2].largest > free_drift[GEOM1].largest, "%.4f J against %.4f J",
                   free_drift[GEOM2].largest, free_drift[GEOM1].largest);
}

static void run_fig07(paper_report *r)
{
  static const char *const notes[2] = {"rho_inf 0.9", "rho_inf 0.6"};
  problem p = constrained_top(), without = unconstrained_top();
  drift drifts[2][NUM_METHODS];
  error_curves e, before;
  top_target(r, &p.exact);
  without.exact = p.exact;
  if (!top_energies(r, &p, notes, drifts)) return;
  measure_errors(r, &p, &e);
  measure_errors(r, &without, &before);
  report_errors(r, &p, "Heavy top with constraints", &e);
  for (int m = 0; m < NUM_METHODS; m++) {
    const double ratio = e.curves[0][m].error[MIDDLE] / before.curves[0][m].error[MIDDLE];
    paper_check_true(r, "more accurate than without constraints", ratio < 1.0,
                     "%s: %.3f times the error at h = 1e-3", methods[m], ratio);
  }
  paper_check_true(r, "geom1 seems to conserve the energy, the others drift",
                   drifts[0][GEOM1].largest < 0.2 * drifts[0][GEOM2].largest &&
                       drifts[0][GEOM1].largest < 0.2 * drifts[0][LINEAR].largest,
                   "largest changes %.4f, %.4f and %.4f J of geom1, geom2 and linear, rho_inf 0.9",
                   drifts[0][GEOM1].largest, drifts[0][GEOM2].largest, drifts[0][LINEAR].largest);
}

/* The rotation vector of a quaternion with w >= 0: its norm is at most pi. */
static void rotation_vector(const double q[4], double psi[3])
{
  const double sine = sqrt(q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  const double factor = sine > 1e-8 ? 2.0 * atan2(sine, q[0]) / sine : 2.0;
  for (int i = 0; i < 3; i++) psi[i] = factor * q[1 + i];
}

/* The part of a multiplier that changes its sign from step to step, rows first to last. */
static double ripple(const double *y, long first, long last)
{
  double largest = 0.0;
  for (long n = first + 1; n < last; n++)
    largest = fmax(largest, fabs(y[n - 1] - 2.0 * y[n] + y[n + 1]) / 4.0);
  return largest;
}

static void top_multipliers(paper_report *r, paper_run *run, double h, double end)
{
  paper_run_model(r, run, MODELS "heavy_top_inertial.json",
                  "t|top.quaternion.w|top.quaternion.x|top.quaternion.y|top.quaternion.z|"
                  "tip.multiplier.1|tip.multiplier.2|tip.multiplier.3",
                  "simulation.step=%.17g simulation.end=%.17g", h, end);
}

/* The second component of the rotation vector in place of w; the largest norm. */
static double put_rotation(paper_run *run)
{
  double largest = 0.0;
  for (long n = 0; n < run->rows; n++) {
    double q[4], psi[3];
    for (int i = 0; i < 4; i++) q[i] = run->values[1 + i][n];
    rotation_vector(q, psi);
    run->values[1][n] = psi[1];
    largest = fmax(largest, sqrt(psi[0] * psi[0] + psi[1] * psi[1] + psi[2] * psi[2]));
  }
  return largest;
}

static void run_fig08(paper_report *r)
{
  static const char *const labels[3] = {"lambda_1", "lambda_2", "lambda_3"};
  paper_run coarse, fine;
  top_multipliers(r, &coarse, 1e-3, 0.5);
  top_multipliers(r, &fine, 5e-4, 0.5);
  if (!paper_report_failed(r) && coarse.rows == 501 && fine.rows == 1001) {
    pol_series angle, series[3];
    const double norm = put_rotation(&coarse);
    double early[2] = {0.0, 0.0}, late = 0.0;
    angle = series_of(&coarse, 0, 1, NULL);
    for (int i = 0; i < 3; i++) {
      series[i] = series_of(&coarse, 0, 5 + i, labels[i]);
      series[i].count = 101;
      early[0] = fmax(early[0], ripple(coarse.values[5 + i], 1, 60));
      early[1] = fmax(early[1], ripple(fine.values[5 + i], 1, 60));
      late = fmax(late, ripple(coarse.values[5 + i], 200, 500));
    }
    paper_report_plot(r, "rotation", "Second component of the rotation vector, geom1, h = 1e-3",
                      "time (s)", "psi_2 (rad)", &angle, 1);
    paper_report_plot(r, "multipliers", "Multipliers at the beginning, geom1, h = 1e-3", "time (s)",
                      "lambda (N)", series, 3);
    paper_check_range(r, "largest norm of the rotation vector", norm, 3.0, pi * (1.0 + 1e-12),
                      "at most pi");
    paper_check_range(r, "largest |psi_2|", paper_largest_abs(coarse.values[1], coarse.rows), 3.0,
                      pi * (1.0 + 1e-12), "large angles, up to pi");
    paper_report_text(r,
                      "Oscillation of the multipliers in the first 60 steps: %.1f N, and %.1f N "
                      "with half the step.",
                      early[0], early[1]);
    paper_check_range(r, "oscillation of the first 60 steps over that after 200", early[0] / late,
                      20.0, HUGE_VAL, "only at the beginning");
  } else {
    paper_report_fail(r, "the runs have %ld and %ld rows", coarse.rows, fine.rows);
  }
  paper_run_free(&coarse);
  paper_run_free(&fine);
}

/* --- all -------------------------------------------------------------------------------------- */

static const paper_item items[] = {
    {"bruels2010-fig02", "Errors for a body with spherical inertia and follower torque",
     "Second order; the geometric methods are slightly more accurate than the linear one.", 1,
     run_fig02},
    {"bruels2010-fig03", "A free body: histories and errors",
     "Second order, the geometric methods slightly less accurate than the linear one; these "
     "preserve the amplitude and underestimate the period, the linear one increases both; damping "
     "dissipates energy.",
     1, run_fig03},
    {"bruels2010-fig04", "A free body: paths in the x-y plane",
     "Paths of all methods beside the exact circle, without numbers.", 1, run_fig04},
    {"bruels2010-fig05", "A symmetric body with follower torque: histories and errors",
     "Second order, the geometric methods slightly less accurate than the linear one; the "
     "solutions depart from the exact one with time; damping dissipates energy.",
     1, run_fig05},
    {"bruels2010-fig06", "The heavy top without constraints: energy and errors",
     "Second order, the geometric methods less accurate than the linear one, whose energy falls "
     "very little; theirs oscillates, with a larger drift of geom2.",
     1, run_fig06},
    {"bruels2010-fig07", "The heavy top with constraints: energy and errors",
     "Second order; more accurate than without constraints; small drifts of the energy, but for "
     "geom1, by coincidence.",
     1, run_fig07},
    {"bruels2010-fig08", "The heavy top with constraints: rotation vector and multipliers",
     "Component 2 of the rotation vector, whose norm is at most pi; oscillations of the "
     "multipliers at the beginning.",
     1, run_fig08},
};

const paper_publication paper_bruels2010 = {
    .id = "bruels2010",
    .citation = "O. Bruels, A. Cardona: On the use of Lie group time integrators in multibody "
                "dynamics. Journal of Computational and Nonlinear Dynamics, 2010",
    .catalogued = 7,
    .items = items,
    .num_items = sizeof items / sizeof items[0],
};
