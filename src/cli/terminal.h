/* Text for people, on a terminal and elsewhere: colour, lines that fit its width, messages that
 * several commands print, a progress bar, and the signals that stop a command. */
#ifndef POLHODE_CLI_TERMINAL_H
#define POLHODE_CLI_TERMINAL_H

#include <stdarg.h>
#include <stdio.h>

#include <polhode/polhode.h>

typedef enum cli_style {
  CLI_PLAIN, /* ends the others */
  CLI_RED,   /* errors */
  CLI_YELLOW /* warnings */,
  CLI_BOLD /* names and headings */
} cli_style;

/* "auto", "always" or "never"; others are as "auto", which is also the choice before any call:
 * colour on a terminal, unless NO_COLOR is set (https://no-color.org) or TERM is "dumb". */
void cli_color_choose(const char *when);
/* What to print to the stream to start a style: an escape sequence, or "" without colour. */
const char *cli_style_start(FILE *to, cli_style style);

/* Prints a text that a file or a user may have written: control characters, which a terminal would
 * obey, and bytes that are no UTF-8 are printed as ?. */
void cli_put_text(FILE *to, const char *text);
/* The same of a printf-like text. */
void cli_put_values(FILE *to, const char *format, va_list values);

/* A line of its own on stderr, printf-like, printed as cli_put_text does. */
void cli_note(const char *format, ...);
/* Lines of a text on stderr, each after "note: "; NULL: none. */
void cli_print_notes(const char *lines);

/* Columns of a line: COLUMNS of the environment, else those of the terminal, 0 if the stream is
 * none: lines may have any length then. */
int cli_width(FILE *to);

/* Prints a line "LABEL  text" with the label in a style, padded to `column` characters with its
 * `indent` blanks.  What is too long for the width goes on below the text. */
void cli_print_entry(FILE *to, int indent, cli_style style, const char *label, int column,
                     const char *text);
/* A heading on a line of its own. */
void cli_print_heading(FILE *to, const char *text);

/* One line "SOURCE: ..." on stderr, printf-like, in red: what went wrong; printed as cli_put_text
 * does. */
void cli_complain(const char *source, const char *format, ...);

/* --- messages and tables -----------------------------------------------------------------------
 */

/* As in a model file: "3", "stabilized-2". */
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
/* The formulation, and the guess of a method that has one in some formulations only. */
void cli_print_formulation(const pol_settings *settings);

/* All errors of an input, one per line, then how many there are, on stderr. */
void cli_print_errors(const char *source, const pol_errors *errors);
/* What is allowed but doubtful about the settings, on stderr. */
void cli_print_warnings(const pol_settings *settings);
/* Prints on stderr how much memory a simulation and the buffers of its result need, if half a
 * gigabyte or more; a warning if it is more than is available. */
void cli_warn_memory(const pol_estimate *estimate, double result_bytes);
/* What a run has found in the mechanism, singular positions or unreliable turn counts, in words; 0
 * if not. */
enum { CLI_NUM_FINDINGS = 2 };
int cli_finding_text(const pol_summary *summary, int which, char *text, size_t size);
/* Prints the warnings of a run to stderr; findings too where no table is printed that has them. */
void cli_print_run_warnings(const pol_summary *summary, int without_table);
/* Whether the file has parameters that do nothing; if so, message names them. */
int cli_unused_warning(const pol_settings *settings, char *message, size_t size);
/* When and where the simulation failed and what to try, on stderr. */
void cli_print_failure(const char *source, const pol_diagnostics *diagnostics);

/* A vector in words, if it is one: "x", or "(0.6, 0, 0.8)". */
void cli_axis_text(const double axis[3], char *text, size_t size);

/* Like sprintf into new memory, which the caller frees; NULL if there is none. */
char *cli_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A file of this name in a new folder below TMPDIR or /tmp, to be written by its name and then sent
 * to standard output; NULL with the reason in errno. */
char *cli_spool_create(const char *name);
/* Copies the file to standard output if `send`, removes file and folder, and frees the name.
 * Returns 0, or -1 with the reason in errno. */
int cli_spool_end(char *path, int send);
/* Removes a folder with all that is in it; links are not followed. */
void cli_remove_folder(const char *path);

/* "s" where the count is not one. */
const char *cli_plural(long count);

/* The row of the model: its name, if it has one, and its file (may be NULL). */
void cli_print_model(const char *name, const char *source);
/* One line "LABEL   ..." of a table on stdout, printf-like; printed as cli_put_text does. */
void cli_print_row(const char *label, const char *format, ...);

/* --- progress: a bar on standard error, drawn only if that is a terminal -----------------------
 */

typedef struct cli_progress {
  int shown;      /* whether there is a bar, or a listener */
  int no_bar;     /* a listener alone */
  double start;   /* clock when it began */
  double next;    /* clock when it may be drawn again */
  char text[160]; /* on the line now */
  char note[80];  /* what is under way, shown after the bar where the line has room */
} cli_progress;

/* From now on progress goes to this function too, ten times per second at most: what is under way,
 * and the share done, 0 if it is not known. */
void cli_progress_listen(void (*listener)(const char *stage, double share));

/* Seconds of a clock that never goes back. */
double cli_seconds(void);

void cli_progress_begin(cli_progress *progress, int wanted);
/* Draws the bar if it is time, as wide as the terminal allows; share is 0 .. 1. */
void cli_progress_update(cli_progress *progress, double share);
/* pol_progress.report for a simulation that starts; user is a cli_progress.  Draws what is under
 * way, with a bar where the share done is known, and asks to stop after a signal. */
int cli_progress_report(const char *stage, double share, void *user);
/* Erases the bar; nothing is drawn any more. */
void cli_progress_end(cli_progress *progress);

/* --- signals, signals.c ------------------------------------------------------------------------
 */

/* Ctrl-C, SIGTERM, and SIGHUP unless it is ignored (nohup): the first asks a command to stop
 * cleanly, one that comes more than half a second later stops it at once. */
void cli_catch_signals(void);
/* The signal that asks to stop, 0 while there is none.  The exit status is then CLI_SIGNALLED +
 * this. */
int cli_stop_signal(void);

/* From now on a file that grows beyond the limit of the shell is a failed write, not a signal. */
void cli_ignore_file_limit(void);

#endif
