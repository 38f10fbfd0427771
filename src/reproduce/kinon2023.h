/* What the items of Kinon/Betsch/Schneider 2023 share: runs that keep the whole state of every
 * step, curves of quantities that follow from it, and the items themselves.
 *
 * All runs are as published: Newton's method with the exact matrix, tolerance 1e-9 for the largest
 * number of residual and correction, first guess as the item says.
 */
#ifndef POLHODE_REPRODUCE_KINON2023_H
#define POLHODE_REPRODUCE_KINON2023_H

#include "reproduce/reproduce.h"

/* --- runs ------------------------------------------------------------------------------------- */

enum { POL_KINON_SIZE = 12, POL_KINON_METHODS = 4 };

/* The four methods of the paper, vi-s, vi-a, vi-b, em, and how it writes them. */
extern const char *const pol_kinon_methods[POL_KINON_METHODS];
extern const char *const pol_kinon_labels[POL_KINON_METHODS];

/* A step.  v is the velocity that the method has, M^-1 p or its own. */
typedef struct pol_kinon_step {
  double t, q[POL_KINON_SIZE], v[POL_KINON_SIZE], p[POL_KINON_SIZE];
  double lambda[2];          /* as the library reports them; of the first two constraints */
  double kinetic, potential; /* v.M v/2 and V(q) */
} pol_kinon_step;

typedef struct pol_kinon_trace {
  pol_report *report;
  const char *label, *method;
  double h;
  int size;             /* of q: 3 or 12 */
  long count, capacity; /* steps and the start */
  pol_kinon_step *steps;
  double iterations;  /* Newton's, a step on average */
  double stopped;     /* the time at which a step failed; the end if none did */
  double growth_time; /* when the energy had grown ten times; INFINITY if it never did */
} pol_kinon_trace;

typedef struct pol_kinon_case {
  const char *model;  /* "pendulum" */
  const char *method; /* "vi-s" */
  const char *label;  /* "VI-S" */
  const char *guess;  /* "simple", "advanced"; NULL is "simple", as the paper has it */
  double h, end;
  const char *more; /* further overrides; NULL for none */
  int may_stop;     /* 1: a run that stops early is a valid result */
} pol_kinon_case;

/* A run ends where it fails or where its energy has grown ten times.  Unless may_stop is
 * set, the report then fails. */
void pol_kinon_run(pol_report *report, pol_kinon_trace *trace, const pol_kinon_case *how);
/* The four methods of the paper on one model. */
void pol_kinon_run_all(pol_report *report, pol_kinon_trace traces[POL_KINON_METHODS],
                       const char *model, double h, double end, int may_stop);
void pol_kinon_free(pol_kinon_trace *traces, int count);

/* --- quantities and curves -------------------------------------------------------------------- */

/* A quantity at a step, NAN where there is none; `component` is for the function to read. */
typedef double (*pol_kinon_value)(const pol_kinon_trace *trace, long step, int component);

double pol_kinon_position(const pol_kinon_trace *trace, long step, int component);
double pol_kinon_momentum(const pol_kinon_trace *trace, long step, int component);
/* H(q, p) of vi-s, em and em-g, and E(q, v, p) = p.v - L(q, v) of vi-a and vi-b: p.v - v.M v/2 + V,
 * which is the same if p = M v. */
double pol_kinon_energy(const pol_kinon_trace *trace, long step, int component);
/* The sum of all q_i x p_i, three coordinates each. */
double pol_kinon_angular_momentum(const pol_kinon_trace *trace, long step, int component);
/* Changes in a step. */
double pol_kinon_energy_increment(const pol_kinon_trace *trace, long step, int component);
double pol_kinon_angular_increment(const pol_kinon_trace *trace, long step, int component);

typedef struct pol_kinon_curve {
  const pol_kinon_trace *trace;
  pol_kinon_value value;
  int component;
  const char *label; /* NULL: the trace's, in the look that its scheme has in all figures */
  int color;
  pol_plot_line line;
} pol_kinon_curve;

/* Curves over time. */
typedef struct pol_kinon_figure {
  const char *name, *caption, *y_label;
  int log_x, log_y;
} pol_kinon_figure;
void pol_kinon_draw(pol_report *report, const pol_kinon_figure *figure,
                    const pol_kinon_curve *curves, int count);
/* One quantity of several runs. */
void pol_kinon_draw_all(pol_report *report, const pol_kinon_figure *figure,
                        const pol_kinon_trace *traces, int count, pol_kinon_value value,
                        int component);

/* Largest |value|, and the range, over all steps that have one. */
double pol_kinon_largest(const pol_kinon_trace *trace, pol_kinon_value value, int component);
double pol_kinon_range(const pol_kinon_trace *trace, pol_kinon_value value, int component);

/* --- items ------------------------------------------------------------------------------------ */

/* the pendulum */
void pol_kinon_fig02(pol_report *r);
void pol_kinon_fig03(pol_report *r);
void pol_kinon_fig04(pol_report *r);
void pol_kinon_fig05(pol_report *r);
void pol_kinon_fig06(pol_report *r);
void pol_kinon_fig07(pol_report *r);
void pol_kinon_fig08(pol_report *r);
void pol_kinon_fig09(pol_report *r);
void pol_kinon_fig10(pol_report *r);
void pol_kinon_fig11(pol_report *r);
void pol_kinon_fig12(pol_report *r);
void pol_kinon_fig13(pol_report *r);
void pol_kinon_fig14(pol_report *r);
void pol_kinon_fig15(pol_report *r);
/* the top */
void pol_kinon_fig17(pol_report *r);
void pol_kinon_fig18(pol_report *r);
void pol_kinon_fig19(pol_report *r);
void pol_kinon_fig20(pol_report *r);
/* the four particles */
void pol_kinon_fig22(pol_report *r);
void pol_kinon_fig23(pol_report *r);
void pol_kinon_fig24(pol_report *r);
void pol_kinon_fig25(pol_report *r);
void pol_kinon_fig26(pol_report *r);
void pol_kinon_fig27(pol_report *r);
void pol_kinon_table2(pol_report *r);
void pol_kinon_fig28(pol_report *r);
void pol_kinon_fig29(pol_report *r);
void pol_kinon_fig30(pol_report *r);
void pol_kinon_fig31(pol_report *r);
void pol_kinon_fig32(pol_report *r);
void pol_kinon_fig33(pol_report *r);

#endif
