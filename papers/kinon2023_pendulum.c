/* Kinon/Betsch/Schneider 2023, section 6.1: the pendulum in space.
 *
 * Mass 1, length 1, gravity 9.81 against z, q(0) = (1, 0, 0), v(0) = (0, 1, 0); h = 0.05, T = 10.
 * The constraint is g = (q.q - 1)/2, on velocity level q.v.  The exact solution at t = 1, ..., 10
 * is from an independent high-precision integration (2026), to 1e-11.
 */
#include <math.h>
#include <string.h>

#include "papers/kinon2023.h"

enum { VI_S, VI_A, VI_B, EM };
static const double step_size = 0.05, end = 10.0, gravity = 9.81;

enum { NUM_EXACT = 10 };
static const double exact_q[NUM_EXACT][3] = {
    {-0.90612889042745, -0.3945814687970613, -0.1524332588862156},
    {0.5792511572016823, 0.588246716732551, -0.5642994746886496},
    {-0.2363096787656676, -0.2321577914386416, -0.9435361654944655},
    {0.3921173104107997, -0.3573074921736263, -0.8476882510173149},
    {-0.8102686267257693, 0.4266695947301496, -0.4017683530054915},
    {0.9943735486337437, -0.0835517268343266, -0.06511800611610186},
    {-0.9466523627372879, -0.321719077950366, -0.0186048113850864},
    {0.7133211695174475, 0.645273601087685, -0.2734865423701673},
    {-0.3272314902189352, -0.6050193930511143, -0.7258588608270565},
    {0.2186113380002079, 0.04672835013911467, -0.9746925382863205}};
static const double exact_p[NUM_EXACT][3] = {
    {0.1632380824929493, -1.03251235837428, 1.702354868285681},
    {0.4262503402333293, 2.159236710360009, 2.688412760250174},
    {-0.05500965322726001, -4.28577841115574, 1.068296267673255},
    {-1.081326590298866, 3.535590129259855, -1.990471986226541},
    {0.4770287039101494, -1.485351405786715, -2.539462522452534},
    {0.01068436506352768, 1.004760539157115, -1.126036137650045},
    {0.3111927934418895, -0.9505953577583893, 0.6037829995068223},
    {-0.231183861577833, 1.192763082724554, 2.211261226526188},
    {0.02760217757716846, -3.004906852386036, 2.492212626904725},
    {-1.255801030406225, 4.305899677285823, -0.07522860066616419}};

static void run_all(paper_report *r, paper_kinon_trace traces[PAPER_KINON_METHODS])
{
  paper_kinon_run_all(r, traces, "pendulum", step_size, end, 0);
}

static void run_one(paper_report *r, paper_kinon_trace *trace, int which)
{
  paper_kinon_run(r, trace,
                  &(paper_kinon_case){.model = "pendulum",
                                      .method = paper_kinon_methods[which],
                                      .label = paper_kinon_labels[which],
                                      .h = step_size,
                                      .end = end});
}

static double dot(const double a[3], const double b[3])
{
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* --- multipliers ------------------------------------------------------------------------------ */

typedef struct multipliers {
  double lambda, gamma;
} multipliers;

/* Those of the step that ends here, as the equations of the method have them, not as they are
 * accurate: gamma from (55a), (79a), (83a) or (84a), lambda from the balance of momenta below it.
 * In vi-s q_{n+1} = s (q_n + h s u) with s = 1 + h gamma, u = p_{n+1} and q_{n+1}.u = 0. */
static multipliers of_step(const paper_kinon_trace *trace, long step)
{
  const paper_kinon_step *a = &trace->steps[step - 1], *b = &trace->steps[step];
  const int vi_s = strcmp(trace->method, "vi-s") == 0, vi_b = strcmp(trace->method, "vi-b") == 0;
  const double weight = strcmp(trace->method, "em") == 0 ? 0.5 : 1.0, h = trace->h;
  double at[3], normal[3], w[3], slip[3], force[3];
  multipliers m;
  for (int i = 0; i < 3; i++) {
    const double middle = 0.5 * (a->q[i] + b->q[i]);
    at[i] = vi_b ? b->q[i] : middle;
    normal[i] = vi_s ? a->q[i] : middle;
    w[i] = (1.0 - weight) * a->v[i] + weight * b->v[i];
    slip[i] = (b->q[i] - a->q[i]) / h - w[i];
  }
  m.gamma = vi_s ? (1.0 / dot(a->q, b->q) - 1.0) / h : dot(at, slip) / dot(at, at);
  for (int i = 0; i < 3; i++)
    force[i] = (b->p[i] - a->p[i]) / h + (i == 2 ? gravity : 0.0) + m.gamma * w[i];
  m.lambda = -dot(normal, force) / dot(normal, normal);
  return m;
}

static double lambda(const paper_kinon_trace *trace, long step, int component)
{
  (void)component;
  return step > 0 ? of_step(trace, step).lambda : (double)NAN;
}

static double gamma_of(const paper_kinon_trace *trace, long step, int component)
{
  (void)component;
  return step > 0 ? of_step(trace, step).gamma : (double)NAN;
}

/* How much a quantity alternates from step to step: a sixteenth of its fourth difference, which is
 * of order h^4 where it is smooth, and the amplitude of what changes its sign in each step. */
static double alternation(const paper_kinon_trace *trace, paper_kinon_value value)
{
  double largest = 0.0;
  for (long i = 3; i + 2 < trace->count; i++)
    largest = fmax(largest, fabs(value(trace, i - 2, 0) - 4.0 * value(trace, i - 1, 0) +
                                 6.0 * value(trace, i, 0) - 4.0 * value(trace, i + 1, 0) +
                                 value(trace, i + 2, 0)) /
                                16.0);
  return largest;
}

/* Draws a multiplier and measures how it alternates. */
static void show_multiplier(paper_report *r, const paper_kinon_figure *figure,
                            paper_kinon_value value, double amount[PAPER_KINON_METHODS])
{
  paper_kinon_trace traces[PAPER_KINON_METHODS];
  run_all(r, traces);
  paper_kinon_draw_all(r, figure, traces, PAPER_KINON_METHODS, value, 0);
  paper_report_text(r,
                    "Multipliers of the equations of each step, at the end of the step. "
                    "Alternation: a sixteenth of the largest fourth difference, the amplitude of "
                    "what changes its sign from step to step.");
  paper_report_table(r, figure->caption, "scheme|largest value|alternation");
  for (int i = 0; i < PAPER_KINON_METHODS; i++) {
    amount[i] = alternation(&traces[i], value);
    paper_report_row(r, "%s|%.4g|%.3g", traces[i].label, paper_kinon_largest(&traces[i], value, 0),
                     amount[i]);
  }
  paper_kinon_free(traces, PAPER_KINON_METHODS);
}

void paper_kinon_fig04(paper_report *r)
{
  double amount[PAPER_KINON_METHODS] = {0.0};
  show_multiplier(
      r,
      &(paper_kinon_figure){.name = "lambda",
                            .caption = "Multiplier of the position constraint, h = 0.05",
                            .y_label = "lambda (N/m)"},
      lambda, amount);
  const double smooth = fmax(amount[VI_S], amount[EM]);
  paper_check_true(r, "VI-A oscillates in lambda (at least twice as much as VI-S and EM)",
                   amount[VI_A] > 2.0 * smooth, "alternation %.3g, of VI-S %.3g, of EM %.3g",
                   amount[VI_A], amount[VI_S], amount[EM]);
  paper_check_true(r, "VI-B oscillates in lambda (at least twice as much as VI-S and EM)",
                   amount[VI_B] > 2.0 * smooth, "alternation %.3g", amount[VI_B]);
  paper_report_text(r,
                    "The amplitude of VI-B is lambda(0) = 1 whatever the step size: its weights of "
                    "1/2 let lambda alternate about the true value. The mean of two neighbours is "
                    "smooth, and is what the library reports.");
}

/* How far gamma of VI-B by (83a) is from what positions at constant distance give. */
static double gamma_gap(paper_report *r)
{
  paper_kinon_trace traces[PAPER_KINON_METHODS];
  double gap = 0.0;
  run_all(r, traces);
  const paper_kinon_trace *trace = &traces[VI_B];
  for (long n = 1; n < trace->count; n++) {
    const double *a = trace->steps[n - 1].q, *b = trace->steps[n].q;
    gap = fmax(gap, fabs(of_step(trace, n).gamma - (1.0 - dot(a, b)) / trace->h));
  }
  paper_kinon_free(traces, PAPER_KINON_METHODS);
  return gap;
}

void paper_kinon_fig05(paper_report *r)
{
  const double gap = gamma_gap(r);
  double amount[PAPER_KINON_METHODS] = {0.0};
  show_multiplier(
      r,
      &(paper_kinon_figure){.name = "gamma",
                            .caption = "Multiplier of the velocity constraint, h = 0.05",
                            .y_label = "gamma (kg/s)"},
      gamma_of, amount);
  const double smooth = fmax(amount[VI_S], amount[EM]);
  paper_check_true(r, "VI-A oscillates in gamma (at least twice as much as VI-S and EM)",
                   amount[VI_A] > 2.0 * smooth, "alternation %.3g, of VI-S %.3g, of EM %.3g",
                   amount[VI_A], amount[VI_S], amount[EM]);
  paper_check_true(r, "VI-B oscillates in gamma (at least twice as much as VI-S and EM)",
                   amount[VI_B] > 2.0 * smooth, "alternation %.3g", amount[VI_B]);
  paper_check_because(
      r,
      "by the scheme's own equations it cannot: (83a), (83d) and (83e) give gamma = "
      "(1 - q_n.q_{n+1})/h, which positions on the circle fix without lambda and p, "
      "and they are smooth (Figs. 2 and 6). Tested: gamma from (83a) is that within "
      "%.1e. The paper says that VI-A and VI-B oscillate in lambda and gamma, "
      "respectively; VI-A does in both, VI-B in lambda",
      gap);
}

/* --- position and momentum -------------------------------------------------------------------- */

/* Draws a component and compares it with the exact solution. */
static void show_component(paper_report *r, const paper_kinon_figure *figure,
                           paper_kinon_value value, const double exact[NUM_EXACT][3])
{
  paper_kinon_trace traces[PAPER_KINON_METHODS];
  double largest[PAPER_KINON_METHODS] = {0.0};
  run_all(r, traces);
  paper_kinon_draw_all(r, figure, traces, PAPER_KINON_METHODS, value, 0);
  paper_report_table(r, figure->caption, "t|VI-S|VI-A|VI-B|EM|exact");
  for (int k = 0; k < NUM_EXACT; k++) {
    double ours[PAPER_KINON_METHODS] = {0.0};
    const long step = lround((k + 1) / step_size);
    for (int i = 0; i < PAPER_KINON_METHODS; i++) {
      if (step < traces[i].count) ours[i] = value(&traces[i], step, 0);
      largest[i] = fmax(largest[i], fabs(ours[i] - exact[k][0]));
    }
    paper_report_row(r, "%d|%.4f|%.4f|%.4f|%.4f|%.4f", k + 1, ours[VI_S], ours[VI_A], ours[VI_B],
                     ours[EM], exact[k][0]);
  }
  paper_report_row(r, "largest error|%.4f|%.4f|%.4f|%.4f|", largest[VI_S], largest[VI_A],
                   largest[VI_B], largest[EM]);
  const double range = paper_kinon_range(&traces[EM], value, 0);
  for (int i = 0; i < PAPER_KINON_METHODS; i++) {
    char what[96];
    snprintf(what, sizeof what, "%s: largest error at full seconds, of the curve's range",
             traces[i].label);
    paper_check_range(r, what, range > 0.0 ? largest[i] / range : 0.0, 0.005, 0.25,
                      "slight deviations between the schemes");
  }
  paper_kinon_free(traces, PAPER_KINON_METHODS);
}

void paper_kinon_fig02(paper_report *r)
{
  show_component(r,
                 &(paper_kinon_figure){.name = "q1",
                                       .caption = "First coordinate of the pendulum, h = 0.05",
                                       .y_label = "q_1 (m)"},
                 paper_kinon_position, exact_q);
}

void paper_kinon_fig03(paper_report *r)
{
  show_component(r,
                 &(paper_kinon_figure){.name = "p1",
                                       .caption = "First momentum of the pendulum, h = 0.05",
                                       .y_label = "p_1 (kg m/s)"},
                 paper_kinon_momentum, exact_p);
}

/* --- the trajectory --------------------------------------------------------------------------- */

/* A point of space on paper: seen from azimuth -60 degrees and elevation 25 degrees. */
static void project(const double x[3], double *right, double *up)
{
  static const double degree = 3.14159265358979323846 / 180.0;
  const double c = cos(-60.0 * degree), s = sin(-60.0 * degree);
  const double away = c * x[0] + s * x[1];
  *right = -s * x[0] + c * x[1];
  *up = cos(25.0 * degree) * x[2] - sin(25.0 * degree) * away;
}

/* The path, the rod at both ends of it, and the equator and outline of the sphere. */
static void draw_path(paper_report *r, const paper_kinon_trace *trace)
{
  enum { POINTS = 361, STEPS = 201 };
  static const double origin[3] = {0.0, 0.0, 0.0};
  double path[2][STEPS], rods[2][2][2], equator[2][POINTS], outline[2][POINTS];
  if (paper_report_failed(r)) return;
  if (trace->count != STEPS) {
    paper_report_fail(r, "the run has %ld steps", trace->count - 1);
    return;
  }
  for (int i = 0; i < STEPS; i++) project(trace->steps[i].q, &path[0][i], &path[1][i]);
  for (int k = 0; k < 2; k++) {
    project(origin, &rods[k][0][0], &rods[k][1][0]);
    project(trace->steps[k ? STEPS - 1 : 0].q, &rods[k][0][1], &rods[k][1][1]);
  }
  for (int i = 0; i < POINTS; i++) {
    const double angle = 6.283185307179586 * i / (POINTS - 1);
    outline[0][i] = cos(angle), outline[1][i] = sin(angle);
    project((const double[3]){cos(angle), sin(angle), 0.0}, &equator[0][i], &equator[1][i]);
  }
  const pol_series series[] = {
      {outline[0], outline[1], POINTS, NULL, 6, POL_LINE_DOTTED, POL_MARKER_NONE},
      {equator[0], equator[1], POINTS, "unit sphere, equator", 6, POL_LINE_DOTTED, POL_MARKER_NONE},
      {path[0], path[1], STEPS, "path", 0, POL_LINE_SOLID, POL_MARKER_NONE},
      {rods[0][0], rods[0][1], 2, "t = 0", 2, POL_LINE_SOLID, POL_MARKER_CIRCLE},
      {rods[1][0], rods[1][1], 2, "t = 10", 1, POL_LINE_SOLID, POL_MARKER_SQUARE}};
  paper_report_plane(r, "path", "Path of the pendulum by VI-S, seen from above at 25 degrees",
                     "across the view (m)", "up (m)", series, sizeof series / sizeof series[0],
                     640.0, 480.0);
}

void paper_kinon_fig06(paper_report *r)
{
  paper_kinon_trace trace;
  run_one(r, &trace, VI_S);
  draw_path(r, &trace);
  if (!paper_report_failed(r)) {
    const double *last = trace.steps[trace.count - 1].q, *exact = exact_q[NUM_EXACT - 1];
    double radius = 0.0, top = -1.0, bottom = 1.0;
    for (long i = 0; i < trace.count; i++) {
      radius = fmax(radius, fabs(sqrt(dot(trace.steps[i].q, trace.steps[i].q)) - 1.0));
      top = fmax(top, trace.steps[i].q[2]), bottom = fmin(bottom, trace.steps[i].q[2]);
    }
    paper_report_table(r, "The end of the path", "|q_1|q_2|q_3");
    paper_report_row(r, "VI-S|%.4f|%.4f|%.4f", last[0], last[1], last[2]);
    paper_report_row(r, "exact|%.4f|%.4f|%.4f", exact[0], exact[1], exact[2]);
    double apart = 0.0;
    for (int i = 0; i < 3; i++) apart += (last[i] - exact[i]) * (last[i] - exact[i]);
    paper_report_text(r,
                      "The ends are %.2f m apart: the pendulum moves there with %.1f m/s, and "
                      "VI-S is of first order.",
                      sqrt(apart), sqrt(dot(exact_p[NUM_EXACT - 1], exact_p[NUM_EXACT - 1])));
    paper_check_range(r, "largest | |q| - 1 |", radius, 0.0, 1e-9, "a path on the unit sphere");
    /* from the energy and J_3: (1/2 - 9.81 z) (1 - z^2) = 1/2 */
    const double lowest = (0.5 - sqrt(0.25 + 4.0 * gravity * gravity)) / (2.0 * gravity);
    paper_check_near(r, "highest point", top, 0.0, 0.02);
    paper_check_against(r, PAPER_AGAINST_OWN);
    paper_check_near(r, "lowest point, exact", bottom, lowest, 0.02);
    paper_check_against(r, PAPER_AGAINST_OWN);
  }
  paper_kinon_free(&trace, 1);
}

/* --- energy ----------------------------------------------------------------------------------- */

static double kinetic(const paper_kinon_trace *trace, long step, int component)
{
  (void)component;
  return trace->steps[step].kinetic;
}

static double potential(const paper_kinon_trace *trace, long step, int component)
{
  (void)component;
  return trace->steps[step].potential;
}

/* E(q, v, p) = p.v - L(q, v) with the velocity of the scheme; that of VI-S at t_n belongs to the
 * step from there: v = (1 + h gamma) p_{n+1}. */
static double energy_function(const paper_kinon_trace *trace, long step, int component)
{
  if (strcmp(trace->method, "vi-s") != 0) return paper_kinon_energy(trace, step, component);
  if (step + 1 >= trace->count) return (double)NAN;
  const paper_kinon_step *now = &trace->steps[step], *next = now + 1;
  const double scale = 1.0 / dot(now->q, next->q);
  return scale * dot(now->p, next->p) - 0.5 * scale * scale * dot(next->p, next->p) +
         now->potential;
}

/* Mean of the energy over the second half less that over the first. */
static double drift(const paper_kinon_trace *trace)
{
  const long half = trace->count / 2;
  double sum[2] = {0.0, 0.0};
  for (long i = 0; i < 2 * half - 1; i++)
    sum[i >= half] += energy_function(trace, i, 0) / (double)(i >= half ? half - 1 : half);
  return sum[1] - sum[0];
}

void paper_kinon_fig07(paper_report *r)
{
  paper_kinon_trace trace;
  run_one(r, &trace, VI_S);
  const paper_kinon_curve curves[] = {
      {&trace, kinetic, 0, "kinetic, T", 0, POL_LINE_SOLID},
      {&trace, potential, 0, "potential, V", 1, POL_LINE_SOLID},
      {&trace, paper_kinon_energy, 0, "H = T + V", 2, POL_LINE_SOLID}};
  paper_kinon_draw(r,
                   &(paper_kinon_figure){.name = "energies",
                                         .caption = "Energies of the pendulum by VI-S, h = 0.05",
                                         .y_label = "energy (J)"},
                   curves, 3);
  const double exchanged = paper_kinon_range(&trace, kinetic, 0);
  const double fluctuation = paper_kinon_range(&trace, paper_kinon_energy, 0);
  paper_check_range(r, "range of H, of that of T", exchanged > 0.0 ? fluctuation / exchanged : 1.0,
                    0.0, 0.2, "T and V are exchanged, H nearly constant; no numbers");
  paper_check_against(r, PAPER_AGAINST_OWN);
  paper_check_near(r, "H at the start",
                   paper_report_failed(r) ? 0.0 : paper_kinon_energy(&trace, 0, 0), 0.5, 1e-14);
  paper_check_against(r, PAPER_AGAINST_OWN);
  paper_check_near(r, "range of T, which is that of the height times 9.81", exchanged,
                   paper_kinon_range(&trace, potential, 0), 0.2);
  paper_check_against(r, PAPER_AGAINST_OWN);
  paper_kinon_free(&trace, 1);
}

void paper_kinon_fig08(paper_report *r)
{
  paper_kinon_trace traces[PAPER_KINON_METHODS];
  run_all(r, traces);
  paper_kinon_draw_all(
      r,
      &(paper_kinon_figure){.name = "energy",
                            .caption = "Energy function E of the pendulum, h = 0.05",
                            .y_label = "E (J)"},
      traces, PAPER_KINON_METHODS, energy_function, 0);
  paper_report_table(r, "Energy function E = p.v - L(q, v), exact 0.5",
                     "scheme|range|change of the mean from the first half to the second");
  for (int i = 0; i < PAPER_KINON_METHODS; i++) {
    const double range = paper_kinon_range(&traces[i], energy_function, 0);
    const double change = paper_report_failed(r) ? 0.0 : drift(&traces[i]);
    char what[96];
    paper_report_row(r, "%s|%.3g|%.2g", traces[i].label, range, change);
    if (i == EM) {
      paper_check_range(r, "EM: range of E", range, 0.0, 1e-13, "conserved up to round-off");
      continue;
    }
    snprintf(what, sizeof what, "%s: range of E", traces[i].label);
    paper_check_range(r, what, range, 1e-3, (double)INFINITY, "fluctuates");
    snprintf(what, sizeof what, "%s: |change of the mean| of the range", traces[i].label);
    paper_check_range(r, what, range > 0.0 ? fabs(change) / range : 1.0, 0.0, 0.2,
                      "typical of symplectic methods: no drift");
  }
  paper_kinon_free(traces, PAPER_KINON_METHODS);
}

void paper_kinon_fig09(paper_report *r)
{
  paper_kinon_trace trace;
  run_one(r, &trace, EM);
  paper_kinon_draw_all(r,
                       &(paper_kinon_figure){.name = "increments",
                                             .caption = "Changes of the energy per step by EM",
                                             .y_label = "change of E (J)"},
                       &trace, 1, paper_kinon_energy_increment, 0);
  paper_check_range(r, "largest |E_{n+1} - E_n|",
                    paper_kinon_largest(&trace, paper_kinon_energy_increment, 0), 0.0, 2e-14,
                    "round-off; V and T are as large as 10");
  paper_kinon_free(&trace, 1);
}

/* --- angular momentum ------------------------------------------------------------------------- */

void paper_kinon_fig10(paper_report *r)
{
  paper_kinon_trace traces[PAPER_KINON_METHODS];
  run_all(r, traces);
  const paper_kinon_curve curves[] = {
      {&traces[VI_S], paper_kinon_angular_momentum, 0, "J_1", 0, POL_LINE_SOLID},
      {&traces[VI_S], paper_kinon_angular_momentum, 1, "J_2", 1, POL_LINE_SOLID},
      {&traces[VI_S], paper_kinon_angular_momentum, 2, "J_3", 2, POL_LINE_SOLID}};
  paper_kinon_draw(r,
                   &(paper_kinon_figure){.name = "angular",
                                         .caption = "Angular momentum of the pendulum by VI-S",
                                         .y_label = "J (kg m^2/s)"},
                   curves, 3);
  paper_report_table(r, "Ranges of the components", "scheme|J_1|J_2|J_3|J_1(10)|J_2(10)|J_3(10)");
  for (int i = 0; i < PAPER_KINON_METHODS && !paper_report_failed(r); i++) {
    double range[3], last[3];
    for (int k = 0; k < 3; k++) {
      range[k] = paper_kinon_range(&traces[i], paper_kinon_angular_momentum, k);
      last[k] = paper_kinon_angular_momentum(&traces[i], traces[i].count - 1, k);
    }
    paper_report_row(r, "%s|%.4f|%.4f|%.2g|%.4f|%.4f|%.4f", traces[i].label, range[0], range[1],
                     range[2], last[0], last[1], last[2]);
  }
  paper_check_range(r, "VI-S: range of J_3",
                    paper_kinon_range(&traces[VI_S], paper_kinon_angular_momentum, 2), 0.0, 1e-13,
                    "constant");
  for (int i = VI_A; i <= EM; i++)
    for (int k = 0; k < 2; k++) {
      char what[80];
      snprintf(what, sizeof what, "%s: range of J_%d, that of VI-S being 1", traces[i].label,
               k + 1);
      const double own = paper_kinon_range(&traces[i], paper_kinon_angular_momentum, k);
      const double vi_s = paper_kinon_range(&traces[VI_S], paper_kinon_angular_momentum, k);
      paper_check_near(r, what, vi_s > 0.0 ? own / vi_s : 0.0, 1.0, 0.1);
      paper_check_against(r, PAPER_AGAINST_STATEMENT);
      paper_check_because(r, "the paper says that the other schemes deviate little");
    }
  paper_kinon_free(traces, PAPER_KINON_METHODS);
}

/* The largest |value| of all schemes in a table, each with a check. */
static void check_all(paper_report *r, const paper_kinon_trace *traces, int count,
                      paper_kinon_value value, int component, double limit, const char *quantity,
                      const char *published)
{
  paper_report_table(r, "Largest values", "scheme|over all steps");
  for (int i = 0; i < count; i++) {
    char what[96];
    const double largest = paper_kinon_largest(&traces[i], value, component);
    paper_report_row(r, "%s|%.3g", traces[i].label, largest);
    snprintf(what, sizeof what, "%s: largest |%s|", traces[i].label, quantity);
    paper_check_range(r, what, largest, 0.0, limit, published);
  }
}

void paper_kinon_fig11(paper_report *r)
{
  paper_kinon_trace traces[PAPER_KINON_METHODS];
  run_all(r, traces);
  paper_kinon_draw_all(r,
                       &(paper_kinon_figure){.name = "increments",
                                             .caption = "Changes of J_3 per step",
                                             .y_label = "change of J_3 (kg m^2/s)"},
                       traces, PAPER_KINON_METHODS, paper_kinon_angular_increment, 2);
  check_all(r, traces, PAPER_KINON_METHODS, paper_kinon_angular_increment, 2, 5e-15,
            "change of J_3 per step", "round-off; J_3 is 1");
  paper_kinon_free(traces, PAPER_KINON_METHODS);
}

/* --- constraints ------------------------------------------------------------------------------ */

static double position_constraint(const paper_kinon_trace *trace, long step, int component)
{
  const double *q = trace->steps[step].q;
  (void)component;
  return 0.5 * (dot(q, q) - 1.0);
}

/* On velocity level, with the velocity of the scheme, or with the momentum. */
static double velocity_constraint(const paper_kinon_trace *trace, long step, int with_momentum)
{
  const paper_kinon_step *s = &trace->steps[step];
  return dot(s->q, with_momentum ? s->p : s->v);
}

/* The schemes that satisfy a constraint. */
static void show_satisfied(paper_report *r, const paper_kinon_figure *figure,
                           paper_kinon_value value, int check_momentum)
{
  static const int which[] = {VI_S, VI_B, EM};
  paper_kinon_trace traces[3];
  for (int i = 0; i < 3; i++) run_one(r, &traces[i], which[i]);
  paper_kinon_draw_all(r, figure, traces, 3, value, 0);
  check_all(r, traces, 3, value, 0, 1e-9, "constraint", "satisfied; Newton's tolerance is 1e-9");
  if (check_momentum)
    paper_report_text(
        r,
        "With the momentum in place of the scheme's velocity, q.p/m, the largest values "
        "are %.2g (VI-S), %.2g (VI-B) and %.2g (EM): VI-B satisfies q.v = 0.",
        paper_kinon_largest(&traces[0], value, 1), paper_kinon_largest(&traces[1], value, 1),
        paper_kinon_largest(&traces[2], value, 1));
  paper_kinon_free(traces, 3);
}

/* VI-A, which does not. */
static void show_violated(paper_report *r, const paper_kinon_figure *figure,
                          paper_kinon_value value, int component, double least)
{
  paper_kinon_trace trace;
  run_one(r, &trace, VI_A);
  paper_kinon_draw_all(r, figure, &trace, 1, value, component);
  paper_check_range(r, "VI-A: largest |constraint|", paper_kinon_largest(&trace, value, component),
                    least, (double)INFINITY, "violated by design");
  paper_kinon_free(&trace, 1);
}

void paper_kinon_fig12(paper_report *r)
{
  show_satisfied(r,
                 &(paper_kinon_figure){.name = "position",
                                       .caption = "Constraint g(q) = (q.q - 1)/2 on position level",
                                       .y_label = "g"},
                 position_constraint, 0);
}

void paper_kinon_fig13(paper_report *r)
{
  show_violated(r,
                &(paper_kinon_figure){.name = "position",
                                      .caption = "Constraint g(q) on position level by VI-A",
                                      .y_label = "g"},
                position_constraint, 0, 1e-3);
}

void paper_kinon_fig14(paper_report *r)
{
  show_satisfied(r,
                 &(paper_kinon_figure){.name = "velocity",
                                       .caption = "Constraint q.v on velocity level",
                                       .y_label = "q.v (m^2/s)"},
                 velocity_constraint, 1);
}

void paper_kinon_fig15(paper_report *r)
{
  show_violated(r,
                &(paper_kinon_figure){.name = "velocity",
                                      .caption = "Constraint q.v on velocity level by VI-A",
                                      .y_label = "q.v (m^2/s)"},
                velocity_constraint, 0, 1e-3);
}
