/* Published tables and figures, repeated by our own runs.
 *
 * An item is one published table, figure or stated count.  Its function runs what it needs, adds
 * paragraphs, tables, figures and checks to a report, and nothing else: the verdict follows from
 * the checks.  Each paper has one file with a table of its items; catalogue.c collects them.
 *
 *     static void run_fig06(paper_report *r)
 *     {
 *       paper_run run;
 *       paper_run_model(r, &run, "models/examples/pendulum.json", "t|bob.position.x",
 *                     "simulation.step=%g simulation.index=3", 1e-3);
 *       paper_report_plot(r, "x", "position", "time (s)", "x (m)", &series, 1);
 *       paper_check_near(r, "amplitude", paper_run_max_abs(&run, 1), 0.25, 0.01);
 *       paper_check_because(r, "the paper's reference is less accurate");
 *       paper_run_free(&run);
 *     }
 *
 * Every function that takes a report does nothing once the report has failed (no memory, a model
 * that cannot be read, a run that stopped), so that an item needs no error handling of its own,
 * except that it must not loop for ever on numbers that are not there: all results are then zero.
 */
#ifndef POLHODE_PAPERS_REPRODUCE_H
#define POLHODE_PAPERS_REPRODUCE_H

#include <jansson.h>

#include <polhode/model.h>
#include <polhode/plot.h>

#include "base/errors.h"

/* --- items ------------------------------------------------------------------------------------ */

typedef struct paper_report paper_report;

typedef struct paper_item {
  const char *id;        /* "arnold2015-fig06": the paper's id, a dash, the part */
  const char *title;     /* a few words: "Errors of the index-3 method" */
  const char *published; /* what the paper shows or states, in our words, with its numbers */
  int fast;              /* takes about a second at most: part of the tests */
  void (*run)(paper_report *report);
} paper_item;

typedef struct paper_publication {
  const char *id;       /* "arnold2015" */
  const char *citation; /* authors, title, where, year */
  int catalogued;       /* items that the paper has in the catalogue, written or not */
  const paper_item *items;
  int num_items;
} paper_publication;

extern const paper_publication paper_arnold2015;
extern const paper_publication paper_holzinger;
extern const paper_publication paper_bruels2010;
extern const paper_publication paper_kinon2023;
extern const paper_publication paper_gavrea2005;

/* The papers in their order; NULL after the last. */
const paper_publication *paper_at(int index);
/* Item `index` over all papers, and its paper (may be NULL); NULL after the last. */
const paper_item *paper_item_at(int index, const paper_publication **paper);
/* How many items there are, and how many the catalogue has. */
int paper_item_count(void);
int paper_item_catalogued(void);

/* --- a report --------------------------------------------------------------------------------- */

/* data: the folder that has models/ and papers/data/; out: where figures go, NULL for nowhere (the
 * report then holds them all the same). */
pol_status paper_report_create(paper_report **report, const paper_publication *paper,
                               const paper_item *item, const char *data, const char *out);
void paper_report_free(paper_report **report);
/* Runs the item and decides its verdict. */
void paper_report_run(paper_report *report);

/* The whole report:
 *
 *     {"id", "paper", "title", "published", "seconds",
 *      "verdict": "reproduced", "statements hold", "shown only", "differs", "not comparable", or
 *                 "failed" if it could not run,
 *      "reason": why, "" if it is reproduced,
 *      "tested": the published numbers and statements that were tested,
 *      "checks": [{"what", "ours", "published", "against", "passed", "why"}],
 *      "blocks": [{"kind": "text", "text"}, {"kind": "table", "title", "columns", "rows"},
 *                 {"kind": "figure", "name", "caption", "svg"}]}
 *
 * Borrowed; NULL if memory is out. */
json_t *paper_report_json(const paper_report *report);
/* The text of a key of such an object; "" without one. */
const char *paper_json_text(const json_t *object, const char *key);

/* A paragraph. */
void paper_report_text(paper_report *report, const char *format, ...) POLI_PRINTF(2, 3);
/* A table; columns are separated by '|'.  Rows that follow have as many cells. */
void paper_report_table(paper_report *report, const char *title, const char *columns);
void paper_report_row(paper_report *report, const char *format, ...) POLI_PRINTF(2, 3);
/* A figure, written to OUT/ID-NAME.svg. */
void paper_report_figure(paper_report *report, const char *name, const char *caption,
                         const pol_figure *figure);

/* The item cannot run. */
void paper_report_fail(paper_report *report, const char *format, ...) POLI_PRINTF(2, 3);
int paper_report_failed(const paper_report *report);
/* The file in the data folder, "models/..." or "papers/data/...", which the caller frees; NULL if
 * the report has failed. */
char *paper_report_path(paper_report *report, const char *name);

/* --- checks: the verdict ---------------------------------------------------------------------- */

/* What a check compares with.  paper_check_near, paper_check_digits and paper_check_among take it
 * for a published number, paper_check_range and paper_check_true for a statement, unless
 * paper_check_against corrects that. */
typedef enum paper_against {
  PAPER_AGAINST_NUMBER,    /* a number that the paper prints: a value, a bound, an order, a count */
  PAPER_AGAINST_STATEMENT, /* what the paper says or shows without a number of its own */
  PAPER_AGAINST_OWN        /* nothing published: an exact or more accurate solution of ours */
} paper_against;

/* One check did not pass: it differs.  All passed: reproduced if a published number is among them;
 * if not, the statements hold; without these either, it is shown only.  No check at all, or
 * paper_report_not_comparable: not comparable. */

/* |ours - published| <= tolerance |published|, or |ours| <= tolerance where published is 0. */
int paper_check_near(paper_report *report, const char *what, double ours, double published,
                     double tolerance);
/* low <= ours <= high; published says in words what the paper has. */
int paper_check_range(paper_report *report, const char *what, double ours, double low, double high,
                      const char *published);
/* ours rounds to the published number, which has this many digits. */
int paper_check_digits(paper_report *report, const char *what, double ours, double published,
                       int digits);
/* least - near <= published <= most + near: the published number is among ours, which depend on
 * what the paper does not state. */
int paper_check_among(paper_report *report, const char *what, double least, double most,
                      double published, double near);
/* A statement: whether our numbers say so too; ours are these numbers, in words. */
int paper_check_true(paper_report *report, const char *statement, int holds, const char *ours, ...)
    POLI_PRINTF(4, 5);
/* What the check before this one compares with. */
void paper_check_against(paper_report *report, paper_against against);
/* Why the check before this one did not pass; nothing if it did. */
void paper_check_because(paper_report *report, const char *format, ...) POLI_PRINTF(2, 3);
/* Nothing to compare with: the paper leaves out what is needed. */
void paper_report_not_comparable(paper_report *report, const char *format, ...) POLI_PRINTF(2, 3);

/* --- runs ------------------------------------------------------------------------------------- */

/* A run of a model file: chosen channels at all recorded times. */
typedef struct paper_run {
  int num_channels;
  long rows, capacity;
  double **values; /* values[channel][row] */
  pol_summary summary;
  pol_status status;           /* of the last step: POL_OK if the run got to its end */
  pol_diagnostics diagnostics; /* if it did not */
} paper_run;

/* Reads the model (a path in the data folder), replaces what the overrides say ("key=value" with
 * blanks between), runs it, and keeps the channels (names of pol_record with '|' between, "" for
 * none) from the start on.  A run that stops early is a result, to be read in run->status; a model
 * that cannot be read or started fails the report.  Free with paper_run_free in any case. */
void paper_run_model(paper_report *report, paper_run *run, const char *model, const char *channels,
                     const char *overrides, ...) POLI_PRINTF(5, 6);
/* The same, but every step goes to a function too, which sees the simulation, the start included.
 * It answers 0 to stop. */
typedef int (*paper_watch)(const pol_simulation *simulation, void *user);
void paper_run_watched(paper_report *report, paper_run *run, paper_watch watch, void *user,
                       const char *model, const char *channels, const char *overrides, ...)
    POLI_PRINTF(7, 8);
void paper_run_free(paper_run *run);
/* The largest |value| of a channel; 0 without rows. */
double paper_run_max_abs(const paper_run *run, int channel);

/* A table of numbers from a CSV file of the data folder; lines that start with '#' and the line of
 * names are left out.  values[row * columns + column]; NULL if the report has failed. */
double *paper_read_table(paper_report *report, const char *name, int columns, long *rows);

/* --- figures and numbers that many items share ------------------------------------------------ */

/* Looks are given to the series by their order; those with POL_LINE_NONE get circles in the colour
 * of the series with as many others of their kind before them. */
void paper_report_plot(paper_report *report, const char *name, const char *caption,
                       const char *x_label, const char *y_label, pol_series *series,
                       int num_series);

/* The same with several panels one above the other, whose series get their looks. */
typedef struct paper_plot {
  const char *y_label;
  const char *note; /* before the label, what the panel is of; may be NULL */
  pol_series *series;
  int num_series;
  int log; /* the y axis */
} paper_plot;
enum { PAPER_MAX_PLOTS = 4 };
void paper_report_panels(paper_report *report, const char *name, const char *caption,
                         const char *x_label, const paper_plot *plots, int num_plots);

/* Curves in a plane, with the same scale along both axes.  The series have their looks; width and
 * height are those of the figure in pixels. */
void paper_report_plane(paper_report *report, const char *name, const char *caption,
                        const char *x_label, const char *y_label, const pol_series *series,
                        int num_series, double width, double height);

/* Errors against step sizes: a doubly logarithmic figure with triangles of at most two orders (0
 * ends the list), the first below all curves, the second below the uppermost; and a table with the
 * orders between the last two steps.  Errors that are not positive and finite are left out. */
enum { PAPER_MAX_STEPS = 16 };
typedef struct paper_errors_of {
  const char *label;
  double error[PAPER_MAX_STEPS]; /* one for each step size */
} paper_errors_of;
void paper_report_errors(paper_report *report, const char *name, const char *caption,
                         const char *y_label, const double *h, int num_steps,
                         const paper_errors_of *curves, int num_curves, const double *orders);

/* The order by least squares over log h, log error. */
double paper_fit_order(const double *h, const double *error, int count);
double paper_largest_abs(const double *x, long count);

#endif
