/* Messages for people that several commands print. */
#ifndef POLHODE_CLI_TEXT_OUT_H
#define POLHODE_CLI_TEXT_OUT_H

#include <polhode/polhode.h>

/* What a model file says: "3", "stabilized-2". */
const char *cli_index_name(pol_index index);
/* Whether a method has a setting of its own. */
int cli_has_setting(const pol_options *options, const char *key);
/* Whether a published run is repeated. */
static inline int cli_is_published(const pol_published *published)
{
  return published->newton || published->exact_iterations || published->sigma_update ||
         published->estimate;
}
/* The method's own settings, in rows: what it does not have is left out. */
void cli_print_method(const pol_options *options);

/* All errors of an input, one a line, then how many there are, on stderr. */
void cli_print_errors(const char *source, const pol_errors *errors);
/* What is allowed but doubtful about the settings, on stderr. */
void cli_print_warnings(const pol_settings *settings);
/* Prints on stderr how much memory a simulation and the buffers of its result need, if half a
 * gigabyte or more; a warning if it is more than is available. */
void cli_warn_memory(const pol_estimate *estimate, double result_bytes);
/* What a run has found in the mechanism, singular positions or lost turns, in words; 0 if not. */
enum { CLI_NUM_FINDINGS = 2 };
int cli_finding_text(const pol_summary *summary, int which, char *text, size_t size);
/* Prints the warnings of a run to stderr; findings too where no table is printed that has them. */
void cli_print_run_warnings(const pol_summary *summary, int without_table);
/* Whether the file has parameters that do nothing; if so, says which in message. */
int cli_unused_warning(const pol_settings *settings, char *message, size_t size);
/* When and where the numerics failed and what to try, on stderr. */
void cli_print_failure(const char *source, const pol_diagnostics *diagnostics);

/* A vector in words, if it is one: "x", or "(0.6, 0, 0.8)". */
void cli_axis_text(const double axis[3], char *text, size_t size);

/* Like sprintf into new memory, which the caller frees; NULL if there is none. */
char *cli_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "s" where the count is not one. */
const char *cli_plural(long count);

/* The row of the model: its name, if it has one, and its file (may be NULL). */
void cli_print_model(const char *name, const char *source);
/* One line "LABEL   ..." of a table on stdout, printf-like; printed as cli_put_text does. */
void cli_print_row(const char *label, const char *format, ...);

#endif
