/* Items of Gavrea/Negrut/Potra 2005: Newmark's method in index 3 on a planar pendulum and on a
 * stiff double pendulum, with fixed steps h = 2^-k.
 *
 * Errors are the Euclidean norms of the differences in q = (x, y), or (x1, y1, theta1, x2, y2,
 * theta2), and in v, at the end.  The paper does not say how many Newton iterations per step has;
 * its figures come from exactly one (Tables 1 and 2) or three (Table 3), from the accelerations and
 * multipliers of the step before.  The exact solutions are from an independent high-precision
 * integration (2026), to 1e-12.
 */
#include <math.h>

#include "papers/reproduce.h"

#define MODELS "models/gavrea-negrut-potra-2005/"
static const double pi = 3.14159265358979323846;

/* A row of a table: h = 2^-exponent, and the printed errors. */
typedef struct row {
  int exponent;
  double q, v;
} row;

enum { MAX_ROWS = 8 };
typedef struct error_table {
  const char *label;
  double gamma, beta, order;
  int iterations; /* a step */
  int count;
  row rows[MAX_ROWS];
} error_table;

typedef struct end_errors {
  double q, v;
} end_errors;

static double distance(const double *a, const double *b, int count)
{
  double sum = 0.0;
  for (int i = 0; i < count; i++) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sqrt(sum);
}

/* The errors at the end with this many iterations per step. */
typedef end_errors (*measure)(paper_report *r, const error_table *t, double h, int iterations);

/* --- the planar pendulum ---------------------------------------------------------------------- */

static end_errors measure_planar(paper_report *r, const error_table *t, double h, int iterations)
{
  static const double q_end[2] = {0.6185801137750828, -0.7857217337212993};
  static const double v_end[2] = {1.860329642333284, 1.464593471741569};
  end_errors e = {0.0, 0.0};
  paper_run run;
  paper_run_model(r, &run, MODELS "planar_pendulum.json",
                  "bob.position.x|bob.position.y|bob.velocity.x|bob.velocity.y",
                  "simulation={\"method\":\"newmark\",\"gamma\":%.17g,\"beta\":%.17g,\"index\":3,"
                  "\"start\":\"classical\",\"step\":%.17g,\"end\":4,"
                  "\"published\":{\"exact_iterations\":%d}}",
                  t->gamma, t->beta, h, iterations);
  if (run.rows > 0) {
    double x[4];
    for (int i = 0; i < 4; i++) x[i] = run.values[i][run.rows - 1];
    e = (end_errors){distance(x, q_end, 2), distance(x + 2, v_end, 2)};
  }
  paper_run_free(&run);
  return e;
}

/* --- the double pendulum ---------------------------------------------------------------------- */

/* Joints in global axes, as the constraints (52g) are; it matters where Newton has not converged.
 */
static void run_double(paper_report *r, paper_run *run, const char *channels, double h,
                       int iterations)
{
  paper_run_model(r, run, MODELS "double_pendulum.json", channels,
                  "joints[0].frame=global joints[1].frame=global "
                  "simulation={\"method\":\"newmark\",\"gamma\":0.75,\"beta\":0.390625,\"index\":3,"
                  "\"start\":\"classical\",\"step\":%.17g,\"end\":2,"
                  "\"published\":{\"exact_iterations\":%d}}",
                  h, iterations);
}

static end_errors measure_double(paper_report *r, const error_table *t, double h, int iterations)
{
  static const double q_end[6] = {-0.07184883611347663, -0.9974155326387988, 4.64047818322133,
                                  -0.2514432204684518,  -3.490956359774732,  4.64049670168853};
  static const double v_end[6] = {-1.625680050233913, 0.1171058758160564, -1.629892454083761,
                                  -5.690422424370847, 0.4098642242229488, -1.630252715380243};
  end_errors e = {0.0, 0.0};
  paper_run run;
  (void)t;
  run_double(r, &run,
             "first.position.x|first.position.y|shoulder.angle|second.position.x|second.position.y|"
             "hinge.angle|first.velocity.x|first.velocity.y|shoulder.rate|second.velocity.x|"
             "second.velocity.y|hinge.rate",
             h, iterations);
  if (run.rows > 0) {
    double x[12];
    for (int i = 0; i < 12; i++) x[i] = run.values[i][run.rows - 1];
    /* the paper counts the full turn before the start, and the second angle from the ground */
    x[2] += 2.0 * pi;
    x[5] += x[2];
    x[11] += x[8];
    e = (end_errors){distance(x, q_end, 6), distance(x + 6, v_end, 6)};
  }
  paper_run_free(&run);
  return e;
}

/* --- the tables ------------------------------------------------------------------------------- */

/* Ours beside theirs, and what the method does with Newton's iterations converged. */
static void compare_table(paper_report *r, const error_table *t, measure measure_errors,
                          const char *why)
{
  enum { CONVERGED = 8 };
  double h[MAX_ROWS];
  paper_errors_of curves[2] = {{.label = "position"}, {.label = "velocity"}};
  end_errors ours[MAX_ROWS], converged[MAX_ROWS];
  for (int i = 0; i < t->count; i++) {
    h[i] = ldexp(1.0, -t->rows[i].exponent);
    ours[i] = measure_errors(r, t, h[i], t->iterations);
    converged[i] = measure_errors(r, t, h[i], CONVERGED);
    curves[0].error[i] = ours[i].q, curves[1].error[i] = ours[i].v;
  }
  paper_report_table(r, t->label,
                     "h|position, published|ours|converged|velocity, published|ours|converged");
  for (int i = 0; i < t->count; i++)
    paper_report_row(r, "2^-%d|%.2e|%.4e|%.4e|%.2e|%.4e|%.4e", t->rows[i].exponent, t->rows[i].q,
                     ours[i].q, converged[i].q, t->rows[i].v, ours[i].v, converged[i].v);
  paper_report_errors(r, "errors", t->label, "error at the end", h, t->count, curves, 2,
                      (const double[]){t->order, 0.0});
  for (int i = 0; i < t->count; i++) {
    char what[64];
    snprintf(what, sizeof what, "position, h = 2^-%d", t->rows[i].exponent);
    paper_check_digits(r, what, ours[i].q, t->rows[i].q, 3);
    paper_check_because(r, "%s", why);
    snprintf(what, sizeof what, "velocity, h = 2^-%d", t->rows[i].exponent);
    paper_check_digits(r, what, ours[i].v, t->rows[i].v, 3);
    paper_check_because(r, "%s", why);
  }
  const int last = t->count - 2;
  paper_check_near(r, "order in position", paper_fit_order(h + last, curves[0].error + last, 2),
                   t->order, 0.1);
  paper_check_near(r, "order in velocity", paper_fit_order(h + last, curves[1].error + last, 2),
                   t->order, 0.1);
}

static void run_table1(paper_report *r)
{
  static const error_table t = {"Planar pendulum, gamma = 1/2, beta = 1/4, errors at t = 4",
                                0.5,
                                0.25,
                                2.0,
                                1,
                                8,
                                {{4, 7.72e-2, 7.46e-1},
                                 {5, 1.49e-2, 2.94e-2},
                                 {6, 4.48e-3, 1.10e-2},
                                 {7, 1.13e-3, 3.42e-3},
                                 {8, 2.82e-4, 9.02e-4},
                                 {9, 7.05e-5, 2.29e-4},
                                 {10, 1.76e-5, 5.73e-5},
                                 {11, 4.41e-6, 1.44e-5}}};
  paper_report_text(r,
                    "With exactly one Newton iteration per step and gravity 9.81, neither of which "
                    "the paper states.");
  compare_table(r, &t, measure_planar,
                "with gamma = 1/2 the velocity normal to the constraint keeps every round-off "
                "error, so that digits below 1e-7 are random");
}

static void run_table2(paper_report *r)
{
  static const error_table t = {"Planar pendulum, gamma = 3/4, beta = 25/64, errors at t = 4",
                                0.75,
                                0.390625,
                                1.0,
                                1,
                                8,
                                {{4, 1.56e-1, 1.13e+0},
                                 {5, 6.21e-2, 7.38e-1},
                                 {6, 2.26e-2, 4.27e-1},
                                 {7, 8.19e-3, 2.31e-1},
                                 {8, 3.15e-3, 1.20e-1},
                                 {9, 1.31e-3, 6.12e-2},
                                 {10, 5.88e-4, 3.09e-2},
                                 {11, 2.77e-4, 1.55e-2}}};
  paper_report_text(r,
                    "With exactly one Newton iteration per step and gravity 9.81, neither of which "
                    "the paper states.");
  compare_table(r, &t, measure_planar, "");
}

static void run_table3(paper_report *r)
{
  static const error_table t = {"Stiff double pendulum, gamma = 3/4, beta = 25/64, errors at t = 2",
                                0.75,
                                0.390625,
                                1.0,
                                3,
                                6,
                                {{9, 7.76e-2, 1.59e-1},
                                 {10, 1.26e-2, 9.39e-2},
                                 {11, 5.85e-3, 4.82e-2},
                                 {12, 2.82e-3, 2.44e-2},
                                 {13, 1.39e-3, 1.23e-2},
                                 {14, 6.85e-4, 6.16e-3}}};
  paper_report_text(r,
                    "With exactly three Newton iterations per step and theta1(0) = 2 pi; the paper "
                    "states neither, and its spring is then 3 pi/2 from its relaxed position.");
  compare_table(r, &t, measure_double,
                "the paper compares with a solution of its own (ode23s, relative tolerance 1e-8), "
                "whose error shows in the third digit. Tested: one error of that solution, 1.7e-6 "
                "to 2.1e-6 in the position and 5.7e-6 to 1.6e-5 in the velocity, explains all "
                "numbers of the table");
}

/* --- the figures ------------------------------------------------------------------------------ */

/* One curve over time with the exact values as points, and how far it is from them. */
static void draw_angle(paper_report *r, const char *channel, double offset, const char *label,
                       const double exact[3])
{
  static const double times[3] = {0.5, 1.0, 2.0};
  const double h = 1e-3;
  double differences[3] = {0.0, 0.0, 0.0}, low = HUGE_VAL, high = -HUGE_VAL;
  char channels[64];
  paper_run run;
  snprintf(channels, sizeof channels, "t|%s", channel);
  run_double(r, &run, channels, h, 3);
  if (paper_report_failed(r) || run.rows != 2001) {
    paper_report_fail(r, "the run has %ld rows", run.rows);
    paper_run_free(&run);
    return;
  }
  for (long i = 0; i < run.rows; i++) {
    run.values[1][i] += offset;
    low = fmin(low, run.values[1][i]), high = fmax(high, run.values[1][i]);
  }
  pol_series series[2] = {
      {.x = run.values[0], .y = run.values[1], .count = (size_t)run.rows, .label = "h = 0.001"},
      {.x = times, .y = exact, .count = 3, .label = "exact", .line = POL_LINE_NONE}};
  paper_report_plot(r, "curve", "First bar of the double pendulum, gamma = 3/4, h = 0.001",
                    "time (s)", label, series, 2);
  paper_report_table(r, "The curve and the exact solution", "t|ours|exact|difference");
  for (int i = 0; i < 3; i++) {
    const double ours = run.values[1][lround(times[i] / h)];
    differences[i] = ours - exact[i];
    paper_report_row(r, "%g|%.6f|%.6f|%.2e", times[i], ours, exact[i], differences[i]);
  }
  paper_check_range(r, "largest difference from the exact solution, of the curve's range",
                    paper_largest_abs(differences, 3) / (high - low), 1e-6, 0.02,
                    "a curve without numbers; 2 % is visible");
  paper_check_against(r, PAPER_AGAINST_OWN);
  paper_run_free(&run);
}

static void run_fig02(paper_report *r)
{
  static const double exact[3] = {3.736375478389394, 5.161439799330277, 4.64047818322133};
  draw_angle(r, "shoulder.angle", 2.0 * pi, "theta_1 (rad)", exact);
}

static void run_fig03(paper_report *r)
{
  static const double exact[3] = {2.52577555287114, -3.606803134747943, -1.629892454083761};
  draw_angle(r, "shoulder.rate", 0.0, "rate of theta_1 (rad/s)", exact);
}

/* --- all -------------------------------------------------------------------------------------- */

static const paper_item items[] = {
    {"gavrea2005-table1", "Errors of the trapezoidal rule on a planar pendulum",
     "Errors in position and velocity at t = 4 for h = 2^-4 to 2^-11, gamma = 1/2, beta = 1/4, "
     "with "
     "three digits; the last ratios are 4.00 and 3.99: order 2.",
     1, run_table1},
    {"gavrea2005-table2", "Errors of damped Newmark on a planar pendulum",
     "The same with gamma = 3/4, beta = 25/64; the last ratios are 2.13 and 1.99: order 1.", 1,
     run_table2},
    {"gavrea2005-table3", "Errors of damped Newmark on a stiff double pendulum",
     "Errors at t = 2 for h = 2^-9 to 2^-14, gamma = 3/4, with three digits; the last ratios are "
     "2.02 and 1.99: order 1.",
     0, run_table3},
    {"gavrea2005-fig02", "Angle of the first bar over time",
     "theta_1 on [0, 2] with gamma = 3/4, h = 0.001, as a curve without numbers.", 1, run_fig02},
    {"gavrea2005-fig03", "Angular velocity of the first bar over time",
     "Its rate, the same run, as a curve without numbers.", 1, run_fig03},
};

const paper_publication paper_gavrea2005 = {
    .id = "gavrea2005",
    .citation =
        "B. Gavrea, D. Negrut, F. A. Potra: The Newmark integration method for simulation of "
        "multibody systems: analytical considerations. IMECE2005-81770, 2005",
    .catalogued = 5,
    .items = items,
    .num_items = sizeof items / sizeof items[0],
};
