/* What the items of Kinon/Betsch/Schneider 2023 share: runs that keep the whole state of every
 * step, curves of quantities that follow from it, and the items themselves.
 *
 * All runs are as published: Newton's method with the exact matrix, tolerance 1e-9 for the largest
 * number of residual and correction, first guess as the item says.
 */
#ifndef POLHODE_PAPERS_KINON2023_H
#define POLHODE_PAPERS_KINON2023_H

#include "papers/reproduce.h"

/* --- runs ------------------------------------------------------------------------------------- */

enum { PAPER_KINON_SIZE = 12, PAPER_KINON_METHODS = 4 };

/* The four methods of the paper, vi-s, vi-a, vi-b, em, and how it writes them. */
extern const char *const paper_kinon_methods[PAPER_KINON_METHODS];
extern const char *const paper_kinon_labels[PAPER_KINON_METHODS];

/* A step.  v is the velocity that the method has, M^-1 p or its own. */
typedef struct paper_kinon_step {
  double t, q[PAPER_KINON_SIZE], v[PAPER_KINON_SIZE], p[PAPER_KINON_SIZE];
  double lambda[2];          /* as the library reports them; of the first two constraints */
  double kinetic, potential; /* v.M v/2 and V(q) */
} paper_kinon_step;

typedef struct paper_kinon_trace {
  paper_report *report;
  const char *label, *method;
  double h;
  int size;             /* of q: 3 or 12 */
  long count, capacity; /* steps and the start */
  paper_kinon_step *steps;
  double iterations;  /* Newton's, a step on average */
  double stopped;     /* the time at which a step failed; the end if none did */
  double growth_time; /* when the energy had grown ten times; INFINITY if it never did */
} paper_kinon_trace;

typedef struct paper_kinon_case {
  const char *model;  /* "pendulum" */
  const char *method; /* "vi-s" */
  const char *label;  /* "VI-S" */
  const char *guess;  /* "simple", "advanced"; NULL is "simple", as the paper has it */
  double h, end;
  const char *more; /* further overrides; NULL for none */
  int may_stop;     /* 1: a run that stops early is a valid result */
} paper_kinon_case;

/* A run ends where it fails or where its energy has grown ten times.  Unless may_stop is
 * set, the report then fails. */
void paper_kinon_run(paper_report *report, paper_kinon_trace *trace, const paper_kinon_case *how);
/* The four methods of the paper on one model. */
void paper_kinon_run_all(paper_report *report, paper_kinon_trace traces[PAPER_KINON_METHODS],
                         const char *model, double h, double end, int may_stop);
void paper_kinon_free(paper_kinon_trace *traces, int count);

/* --- quantities and curves -------------------------------------------------------------------- */

/* A quantity at a step, NAN where there is none; `component` is for the function to read. */
typedef double (*paper_kinon_value)(const paper_kinon_trace *trace, long step, int component);

double paper_kinon_position(const paper_kinon_trace *trace, long step, int component);
double paper_kinon_momentum(const paper_kinon_trace *trace, long step, int component);
/* H(q, p) of vi-s, em and em-g, and E(q, v, p) = p.v - L(q, v) of vi-a and vi-b: p.v - v.M v/2 + V,
 * which is the same if p = M v. */
double paper_kinon_energy(const paper_kinon_trace *trace, long step, int component);
/* The sum of all q_i x p_i, three coordinates each. */
double paper_kinon_angular_momentum(const paper_kinon_trace *trace, long step, int component);
/* Changes in a step. */
double paper_kinon_energy_increment(const paper_kinon_trace *trace, long step, int component);
double paper_kinon_angular_increment(const paper_kinon_trace *trace, long step, int component);

typedef struct paper_kinon_curve {
  const paper_kinon_trace *trace;
  paper_kinon_value value;
  int component;
  const char *label; /* NULL: the trace's, in the look that its scheme has in all figures */
  int color;
  pol_plot_line line;
} paper_kinon_curve;

/* Curves over time. */
typedef struct paper_kinon_figure {
  const char *name, *caption, *y_label;
  int log_x, log_y;
} paper_kinon_figure;
void paper_kinon_draw(paper_report *report, const paper_kinon_figure *figure,
                      const paper_kinon_curve *curves, int count);
/* One quantity of several runs. */
void paper_kinon_draw_all(paper_report *report, const paper_kinon_figure *figure,
                          const paper_kinon_trace *traces, int count, paper_kinon_value value,
                          int component);

/* Largest |value|, and the range, over all steps that have one. */
double paper_kinon_largest(const paper_kinon_trace *trace, paper_kinon_value value, int component);
double paper_kinon_range(const paper_kinon_trace *trace, paper_kinon_value value, int component);

/* --- items ------------------------------------------------------------------------------------ */

/* the pendulum */
void paper_kinon_fig02(paper_report *r);
void paper_kinon_fig03(paper_report *r);
void paper_kinon_fig04(paper_report *r);
void paper_kinon_fig05(paper_report *r);
void paper_kinon_fig06(paper_report *r);
void paper_kinon_fig07(paper_report *r);
void paper_kinon_fig08(paper_report *r);
void paper_kinon_fig09(paper_report *r);
void paper_kinon_fig10(paper_report *r);
void paper_kinon_fig11(paper_report *r);
void paper_kinon_fig12(paper_report *r);
void paper_kinon_fig13(paper_report *r);
void paper_kinon_fig14(paper_report *r);
void paper_kinon_fig15(paper_report *r);
/* the top */
void paper_kinon_fig17(paper_report *r);
void paper_kinon_fig18(paper_report *r);
void paper_kinon_fig19(paper_report *r);
void paper_kinon_fig20(paper_report *r);
/* the four particles */
void paper_kinon_fig22(paper_report *r);
void paper_kinon_fig23(paper_report *r);
void paper_kinon_fig24(paper_report *r);
void paper_kinon_fig25(paper_report *r);
void paper_kinon_fig26(paper_report *r);
void paper_kinon_fig27(paper_report *r);
void paper_kinon_table2(paper_report *r);
void paper_kinon_fig28(paper_report *r);
void paper_kinon_fig29(paper_report *r);
void paper_kinon_fig30(paper_report *r);
void paper_kinon_fig31(paper_report *r);
void paper_kinon_fig32(paper_report *r);
void paper_kinon_fig33(paper_report *r);

#endif
