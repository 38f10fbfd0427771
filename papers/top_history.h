/* What a run of the heavy top does step by step, and how far it is from the exact solution. */
#ifndef POLHODE_PAPERS_TOP_HISTORY_H
#define POLHODE_PAPERS_TOP_HISTORY_H

#include "papers/heavy_top.h"

/* How to run it: words of the model file. */
typedef struct paper_top_setup {
  const char *formulation; /* "so3xr3" or "se3" */
  const char *index;       /* "3" or "stabilized-2" */
  const char *start;       /* "classical", "shifted" or "perturbed" */
  double step, end;        /* at most 1 */
} paper_top_setup;

/* Columns of count numbers, from t = 0 on; vectors in body axes unless stated. */
typedef struct paper_top_history {
  long count;
  double *memory; /* of all columns; NULL: nothing is there, and count is 0 */
  double *t;
  double *position[3];      /* x, global axes */
  double *velocity[3];      /* u, global axes */
  double *velocity_body[3]; /* U */
  double *lambda[3];        /* of Phi = X - R^T x */
  double *lambda_error[3];  /* (lambda(t_n) - lambda_n)/|lambda_n| */
  double *gap[3];           /* Phi */
  double *gap_rate[3];      /* B v = Omega x X - U */
  double *eta[3];           /* of the stabilized form, else zero */
  /* |e_n| of log(q_n^-1 o q(t_n)) in the group; |e_n|/|v_n| of the group's velocities;
   * |lambda_error| */
  double *error[3];
  pol_summary summary;
} paper_top_history;

/* A run that stops early fails the report.  Free in any case. */
void paper_top_history_run(paper_report *report, const paper_top *top, const paper_top_setup *setup,
                           paper_top_history *history);
void paper_top_history_free(paper_top_history *history);

/* The rows with t at most this. */
long paper_top_history_rows(const paper_top_history *history, double t);
/* The largest Euclidean norm of a vector over rows first to last, without last. */
double paper_largest_norm(double *const vector[3], long first, long last);
/* The largest part of a sequence that changes its sign from step to step,
 * |y_n-2 - 4 y_n-1 + 6 y_n - 4 y_n+1 + y_n+2|/16, over rows first to last, without last: a sequence
 * of (-1)^n a gives a, a wave of w rad a step (w/2)^4 times its amplitude. */
double paper_largest_ripple(const double *y, long first, long last);

#endif
