/* Manners on a terminal: colour where a person looks, lines that fit its width. */
#ifndef POLHODE_CLI_TERMINAL_H
#define POLHODE_CLI_TERMINAL_H

#include <stdarg.h>
#include <stdio.h>

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

#endif
