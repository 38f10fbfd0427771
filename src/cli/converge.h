/* Inside of polhode converge: the study, and what is made of it. */
#ifndef POLHODE_CLI_CONVERGE_H
#define POLHODE_CLI_CONVERGE_H

#include <jansson.h>

#include "cli/cli.h"

/* Cases that differ in their step size or tolerance alone, by falling size. */
typedef struct cli_case_series {
  char *label; /* "geom1, so3xr3, index 3"; "..., variable steps" */
  pol_settings settings;
  int variable;
  int first, count; /* cases; none if it is refused */
  char *refusal;    /* why the model does not allow the combination; NULL if it does */
} cli_case_series;

typedef struct cli_study {
  const cli_args *args;
  pol_model *model;
  cli_list methods, formulations, indices, words; /* items are owned */
  int num_steps, num_rtols;
  double *steps, *rtols; /* falling */
  int num_series;
  cli_case_series *series;
  pol_case *cases;
  pol_result *result; /* --reference */
  pol_trajectory *trajectory;
  pol_settings reference_run;
  int has_index; /* whether the method of the reference run has an index */
  pol_study study;
  int num_plots;
  char *plots[3]; /* files that were written */
  pol_errors errors;
} cli_study;

/* Why no case of the series could start, NULL if one could. */
const char *cli_series_refusal(const cli_study *s, const cli_case_series *series);

/* --- converge_report.c ------------------------------------------------------------------------ */

/* All on stdout; POL_NO_MEMORY. */
pol_status cli_study_print(const cli_study *s);
/* A new reference; NULL when memory is out. */
json_t *cli_study_json(const cli_study *s);

/* Writes the pictures of --plot.  POL_IO: errno has the reason; s->plots ends with the file
 * that could not be written. */
pol_status cli_study_plot(cli_study *s);

#endif
