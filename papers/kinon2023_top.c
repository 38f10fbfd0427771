/* Kinon/Betsch/Schneider 2023, section 6.2: steady precession of a top.
 *
 * Mass m, equal moments of inertia I, centre of mass at the distance l from the fixed tip on the
 * third director; the axis leans by pi/3 and precesses with 10 rad/s.  With the spin that (112)
 * gives for the printed data (135.609; 135.6 belongs to unrounded data) the centre of mass circles
 * at the height l/2, which is exact: phi(t) = Rz(10 t) phi(0), p_1 = m 10 e_3 x phi.
 *
 * Beside the four schemes of the paper there is one of A. I. Bobenko, Yu. B. Suris (1999) for this
 * top alone, bs99, as printed in (166).
 *
 * Step sizes are such that the number of steps is even: VI-A and VI-B alternate.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "papers/kinon2023.h"
#include "papers/lagrange_top.h"

static const double mass = 0.7069, inertia = 5.3014e-4, length = 0.075, gravity = 9.81;
static const double precession = 10.0, height = 0.0375;

enum { VI_S, VI_A, VI_B, EM, BS99, NUM_SCHEMES };
static const char *const labels[NUM_SCHEMES] = {"VI-S", "VI-A", "VI-B", "EM", "BS99"};

enum { CENTRE = 9 }; /* in the coordinates: after the three directors */

/* --- the exact solution ----------------------------------------------------------------------- */

static void exact_centre(double t, double phi[3], double p[3])
{
  const double radius = length * sqrt(0.75), angle = precession * t;
  phi[0] = radius * sin(angle), phi[1] = -radius * cos(angle), phi[2] = height;
  p[0] = -mass * precession * phi[1], p[1] = mass * precession * phi[0], p[2] = 0.0;
}

/* --- bs99 ------------------------------------------------------------------------------------- */

/* omega = 10 e_3 + spin d_3, with the spin of (112). */
static void reduced_start(paper_lagrange_top *top)
{
  const double cosine = 0.5, axis[3] = {0.0, -sqrt(0.75), cosine};
  const double spin = mass * gravity * length / (inertia * precession) +
                      mass * length * length / inertia * precession * cosine;
  const double omega[3] = {0.0, spin * axis[1], precession + spin * axis[2]};
  *top = (paper_lagrange_top){.mass = mass,
                              .length = length,
                              .gravity = gravity,
                              .inertia = inertia + mass * length * length};
  paper_lagrange_top_start(top, axis, omega, inertia);
}

/* The centre of mass and its momentum, (167) and (168) with the factor m that is missing there, as
 * a step of the other schemes. */
static void reduced_centre(const paper_lagrange_top *top, double t, paper_kinon_step *step)
{
  *step = (paper_kinon_step){.t = t};
  for (int i = 0; i < 3; i++) step->q[CENTRE + i] = length * top->axis[i];
  paper_lagrange_top_linear_momentum(top, step->p + CENTRE);
}

static void run_reduced(paper_report *r, paper_kinon_trace *trace, double h, double end)
{
  const long steps = lround(end / h);
  paper_lagrange_top top;
  *trace = (paper_kinon_trace){.report = r, .label = labels[BS99], .method = "bs99", .h = h};
  trace->steps = malloc((size_t)(steps + 1) * sizeof *trace->steps);
  if (trace->steps == NULL) {
    paper_report_fail(r, "out of memory");
    return;
  }
  trace->count = steps + 1, trace->size = PAPER_KINON_SIZE;
  reduced_start(&top);
  for (long n = 0; n <= steps; n++) {
    reduced_centre(&top, end * (double)n / (double)steps, &trace->steps[n]);
    paper_lagrange_top_step(&top, end / (double)steps);
  }
}

static void run_schemes(paper_report *r, paper_kinon_trace traces[NUM_SCHEMES], double h,
                        double end)
{
  paper_kinon_run_all(r, traces, "top", h, end, 0);
  run_reduced(r, &traces[BS99], h, end);
}

/* --- height ----------------------------------------------------------------------------------- */

static double deviation(const paper_kinon_trace *trace, long step, int component)
{
  (void)component;
  return trace->steps[step].q[CENTRE + 2] - height;
}

void paper_kinon_fig17(paper_report *r)
{
  paper_kinon_trace traces[NUM_SCHEMES];
  run_schemes(r, traces, 0.002, 1.0);
  paper_kinon_draw_all(r,
                       &(paper_kinon_figure){.name = "height",
                                             .caption = "Height of the centre of mass, h = 0.002",
                                             .y_label = "phi_3 (m)"},
                       traces, NUM_SCHEMES, paper_kinon_position, CENTRE + 2);
  paper_report_table(r, "Height, energy and vertical angular momentum on [0, 1]",
                     "scheme|largest deviation of the height from 0.0375|range of E|range of J_3");
  for (int i = 0; i < NUM_SCHEMES; i++) {
    char what[80];
    const double off = paper_kinon_largest(&traces[i], deviation, 0);
    if (i == BS99)
      paper_report_row(r, "%s|%.3g||", labels[i], off);
    else
      paper_report_row(r, "%s|%.3g|%.2g|%.2g", labels[i], off,
                       paper_kinon_range(&traces[i], paper_kinon_energy, 0),
                       paper_kinon_range(&traces[i], paper_kinon_angular_momentum, 2));
    snprintf(what, sizeof what, "%s: largest deviation of the height, of it", labels[i]);
    paper_check_range(r, what, off / height, 1e-4, 1.0, "no scheme stays at 0.0375");
  }
  for (int i = 0; i < PAPER_KINON_METHODS; i++) {
    char what[80];
    snprintf(what, sizeof what, "%s: range of E, of 5.67 J", labels[i]);
    const double range = paper_kinon_range(&traces[i], paper_kinon_energy, 0) / 5.67;
    paper_check_range(r, what, range, i == EM ? 0.0 : 1e-6, i == EM ? 1e-13 : (double)INFINITY,
                      "only EM conserves the energy");
    snprintf(what, sizeof what, "%s: range of J_3", labels[i]);
    paper_check_range(r, what, paper_kinon_range(&traces[i], paper_kinon_angular_momentum, 2), 0.0,
                      1e-13, "all conserve it");
  }
  paper_kinon_free(traces, NUM_SCHEMES);
}

/* --- orders ----------------------------------------------------------------------------------- */

enum { NUM_STEPS = 8 };

/* Relative errors at t = 0.001: of the height, or of the momentum. */
static double error_at_end(const paper_kinon_trace *trace, int of_momentum)
{
  double phi[3], p[3], error = 0.0, size = 0.0;
  if (trace->count == 0) return 0.0;
  const paper_kinon_step *last = &trace->steps[trace->count - 1];
  exact_centre(last->t, phi, p);
  if (!of_momentum) return fabs(last->q[CENTRE + 2] - height) / height;
  for (int i = 0; i < 3; i++) {
    error += (last->p[CENTRE + i] - p[i]) * (last->p[CENTRE + i] - p[i]);
    size += p[i] * p[i];
  }
  return sqrt(error / size);
}

static void show_errors(paper_report *r, int of_momentum, const char *caption, const char *y_label)
{
  static const int schemes[NUM_SCHEMES] = {VI_S, VI_B, BS99, VI_A, EM}; /* by their order */
  static const double orders[NUM_SCHEMES] = {1.0, 1.0, 1.0, 2.0, 2.0};
  double h[NUM_STEPS];
  paper_errors_of curves[NUM_SCHEMES];
  for (int i = 0; i < NUM_SCHEMES; i++) curves[i].label = labels[schemes[i]];
  for (int k = 0; k < NUM_STEPS; k++) {
    paper_kinon_trace traces[NUM_SCHEMES];
    h[k] = ldexp(2.5e-4, -k);
    run_schemes(r, traces, h[k], 1e-3);
    for (int i = 0; i < NUM_SCHEMES; i++)
      curves[i].error[k] = error_at_end(&traces[schemes[i]], of_momentum);
    paper_kinon_free(traces, NUM_SCHEMES);
  }
  paper_report_errors(r, "errors", caption, y_label, h, NUM_STEPS, curves, NUM_SCHEMES,
                      (const double[]){1.0, 2.0, 0.0});
  for (int i = 0; i < NUM_SCHEMES; i++) {
    char what[64];
    snprintf(what, sizeof what, "%s: order over the last two steps", curves[i].label);
    paper_check_near(r, what,
                     paper_fit_order(h + NUM_STEPS - 2, curves[i].error + NUM_STEPS - 2, 2),
                     orders[i], 0.05);
  }
}

void paper_kinon_fig18(paper_report *r)
{
  show_errors(r, 0, "Relative error of the height of the centre of mass at t = 0.001",
              "relative error of phi_3");
}

void paper_kinon_fig19(paper_report *r)
{
  paper_report_text(r,
                    "Against the exact momentum, m 10 e_3 x phi(t), where the paper has a run of "
                    "EM with h = 5e-7. The momentum of BS99 is m l (m x d_3)/J; as printed, (168) "
                    "lacks the mass, and the error would be 1/0.7069 - 1 = 0.41 at every step "
                    "size.");
  show_errors(r, 1, "Relative error of the momentum of the centre of mass at t = 0.001",
              "relative error of p_1");
}

/* --- constraints ------------------------------------------------------------------------------ */

static double dot(const double *a, const double *b)
{
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Row k = 1, ..., 9 of the constraints (103) and (104) on velocity level; the velocity of VI-S is
 * M^-1 p. */
static double constraint_row(const paper_kinon_trace *trace, long step, int k)
{
  static const int pairs[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
  const paper_kinon_step *s = &trace->steps[step];
  if (k >= 7) return s->v[CENTRE + k - 7] / length - s->v[6 + k - 7];
  const int i = 3 * pairs[k - 1][0], j = 3 * pairs[k - 1][1];
  return i == j ? dot(s->q + i, s->v + i) : dot(s->q + i, s->v + j) + dot(s->q + j, s->v + i);
}

void paper_kinon_fig20(paper_report *r)
{
  enum { NUM_ROWS = 9, NUM_SHOWN = 3 };
  static const int shown[NUM_SHOWN] = {5, 6, 7};
  static const char *const names[NUM_SHOWN] = {"k = 5, d_1 and d_3", "k = 6, d_2 and d_3",
                                               "k = 7, tip"};
  paper_kinon_trace trace;
  paper_kinon_curve curves[NUM_SHOWN];
  double largest[NUM_ROWS + 1], internal = 0.0, tip = 0.0;
  paper_kinon_run(r, &trace,
                  &(paper_kinon_case){
                      .model = "top", .method = "vi-s", .label = "VI-S", .h = 0.002, .end = 1.0});
  for (int i = 0; i < NUM_SHOWN; i++)
    curves[i] = (paper_kinon_curve){&trace, constraint_row, shown[i], names[i], i, POL_LINE_SOLID};
  paper_kinon_draw(
      r,
      &(paper_kinon_figure){.name = "rows",
                            .caption = "Constraints on momentum level by VI-S, h = 0.002",
                            .y_label = "(G M^-1 p)_k (1/s)"},
      curves, NUM_SHOWN);
  paper_report_table(
      r, "Largest |(G M^-1 p)_k| on [0, 1]; the directors move with up to 141 per second",
      "1|2|3|4|5|6|7|8|9");
  for (int k = 1; k <= NUM_ROWS; k++) {
    largest[k] = paper_kinon_largest(&trace, constraint_row, k);
    if (k <= 6) internal = fmax(internal, largest[k]);
    if (k > 6) tip = fmax(tip, largest[k]);
  }
  paper_report_row(r, "%.2g|%.2g|%.2g|%.2g|%.2g|%.2g|%.2g|%.2g|%.2g", largest[1], largest[2],
                   largest[3], largest[4], largest[5], largest[6], largest[7], largest[8],
                   largest[9]);
  paper_check_range(r, "largest of k = 1 to 6", internal, 1e-3, (double)INFINITY,
                    "VI-S does not fulfil the velocity constraints");
  paper_check_range(r, "largest of k = 7 to 9", tip, 0.0, 1e-11,
                    "the linear ones are fulfilled to machine precision");
  paper_kinon_free(&trace, 1);
}
