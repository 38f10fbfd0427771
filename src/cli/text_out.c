/* Messages for people that several commands print: errors of the input, failures of the numerics,
 * rows of a table.
 */
#include "cli/text_out.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/terminal.h"

char *cli_format(const char *format, ...)
{
  va_list values;
  va_start(values, format);
  const int length = vsnprintf(NULL, 0, format, values);
  va_end(values);
  char *text = length < 0 ? NULL : malloc((size_t)length + 1);
  va_start(values, format);
  if (text != NULL) vsnprintf(text, (size_t)length + 1, format, values);
  va_end(values);
  return text;
}

/* --- names ------------------------------------------------------------------------------------ */

const char *cli_index_name(pol_index index)
{
  switch (index) {
  case POL_INDEX_3:
    return "3";
  case POL_INDEX_2:
    return "2";
  case POL_INDEX_2_STABILIZED:
    break;
  }
  return "stabilized-2";
}

int cli_has_setting(const pol_options *options, const char *key)
{
  const pol_method *method = pol_method_find(options->method);
  return method != NULL && strstr(method->settings, key) != NULL;
}

void cli_print_method(const pol_options *options)
{
  if (!cli_has_setting(options, "index")) {
    cli_print_row("method", "%s", options->method);
    if (!isnan(options->theta)) cli_print_row("theta", "%.6g", options->theta);
    if (!isnan(options->vartheta)) cli_print_row("vartheta", "%.6g", options->vartheta);
    cli_print_row("guess", "%s", pol_guess_name(options->guess));
  } else {
    cli_print_row("method", "%s, index %s", options->method, cli_index_name(options->index));
    cli_print_row("sigma", "%.6g", options->sigma);
    cli_print_row("start", "%s", pol_start_name(options->start));
  }
  const pol_published *published = &options->published;
  if (!cli_is_published(published)) return;
  cli_print_row("as published", "newton %s, %d exact iterations, sigma update %s, estimate %s",
                pol_published_newton_name(published->newton), published->exact_iterations,
                pol_sigma_update_name(published->sigma_update),
                pol_published_estimate_name(published->estimate));
}

/* --- errors and failures ---------------------------------------------------------------------- */

/* One line: "SOURCE: PATH = VALUE: RULE; did you mean "SUGGESTION"?", without the empty parts. */
static void print_error(const char *source, const pol_error *error)
{
  const char *plain = cli_style_start(stderr, CLI_PLAIN);
  cli_put_text(stderr, source);
  fputs(": ", stderr);
  if (error->path[0] != '\0') {
    fputs(cli_style_start(stderr, CLI_BOLD), stderr);
    cli_put_text(stderr, error->path);
    fputs(plain, stderr);
  }
  if (error->path[0] != '\0' && error->value[0] != '\0') fputs(" = ", stderr);
  cli_put_text(stderr, error->value);
  if (error->path[0] != '\0' || error->value[0] != '\0') fputs(": ", stderr);
  fputs(cli_style_start(stderr, CLI_RED), stderr);
  cli_put_text(stderr, error->rule);
  fputs(plain, stderr);
  if (error->suggestion[0] != '\0') {
    fputs("; did you mean \"", stderr);
    cli_put_text(stderr, error->suggestion);
    fputs("\"?", stderr);
  }
  fputc('\n', stderr);
}

void cli_print_errors(const char *source, const pol_errors *errors)
{
  for (int i = 0; i < errors->count; i++) print_error(source, &errors->items[i]);
  fprintf(stderr, "%d error%s\n", errors->count, cli_plural(errors->count));
}

static void print_warning(const char *message)
{
  fprintf(stderr, "%swarning:%s ", cli_style_start(stderr, CLI_YELLOW),
          cli_style_start(stderr, CLI_PLAIN));
  cli_put_text(stderr, message);
  fputc('\n', stderr);
}

void cli_print_warnings(const pol_settings *settings)
{
  char message[512];
  if (pol_options_warning(&settings->options, message, sizeof message)) print_warning(message);
  if (settings->variable && pol_options_adapt_warning(&settings->options, message, sizeof message))
    print_warning(message);
  if (cli_unused_warning(settings, message, sizeof message)) print_warning(message);
}

/* Bytes of memory that are available, 0 if that is not known. */
static double available_memory(void)
{
  double bytes = 0.0;
  unsigned long long kilobytes;
  char line[128];
  FILE *file = fopen("/proc/meminfo", "r");
  while (file != NULL && bytes == 0.0 && fgets(line, sizeof line, file) != NULL)
    if (sscanf(line, "MemAvailable: %llu kB", &kilobytes) == 1) bytes = 1024.0 * (double)kilobytes;
  if (file != NULL) fclose(file);
  return bytes;
}

void cli_warn_memory(const pol_estimate *estimate, double result_bytes)
{
  const double giga = 1e9, need = estimate->memory + estimate->rank + result_bytes;
  const double have = available_memory();
  char message[300], rank[120] = "";
  if (need < 0.5 * giga) return;
  if (estimate->rank > estimate->memory)
    snprintf(rank, sizeof rank, ", %.1f GB of it only if constraints of closed loops are redundant",
             estimate->rank / giga);
  snprintf(message, sizeof message,
           "%d velocities and %d constraints need about %.1f GB of memory%s", estimate->velocities,
           estimate->constraints, need / giga, rank);
  if (have > 0.0 && need > have) {
    const size_t used = strlen(message);
    snprintf(message + used, sizeof message - used, "; %.1f GB are available", have / giga);
    print_warning(message);
  } else {
    fprintf(stderr, "note: %s\n", message);
  }
}

int cli_finding_text(const pol_summary *summary, int which, char *text, size_t size)
{
  const pol_singular *singular = &summary->singular;
  const pol_lost_turns *lost = &summary->lost_turns;
  if (which == 0 && singular->count > 0)
    snprintf(text, size, "singular position%s, first near t = %.6g s: others imply %s there",
             singular->count > 1 ? "s" : "", singular->t, singular->where);
  else if (which == 1 && lost->count > 0)
    snprintf(text, size, "half a turn or more in a step, first at t = %.6g s: %s has lost turns",
             lost->t, lost->where);
  else
    return 0;
  return 1;
}

void cli_print_run_warnings(const pol_summary *summary, int without_table)
{
  char message[sizeof summary->warnings[0].message + 32];
  for (int k = 0; k < CLI_NUM_FINDINGS && without_table; k++)
    if (cli_finding_text(summary, k, message, sizeof message)) print_warning(message);
  for (int i = 0; i < summary->num_warnings; i++) {
    snprintf(message, sizeof message, "t = %.6g s: %s", summary->warnings[i].t,
             summary->warnings[i].message);
    print_warning(message);
  }
}

int cli_unused_warning(const pol_settings *settings, char *message, size_t size)
{
  const int several = strchr(settings->unused, ',') != NULL;
  if (settings->unused[0] == '\0') return 0;
  snprintf(message, size, "%s %s no effect on %s", settings->unused, several ? "have" : "has",
           settings->options.method);
  return 1;
}

void cli_print_failure(const char *source, const pol_diagnostics *d)
{
  fflush(stdout);
  cli_complain(source, "%s", d->message);
  if (d->step > 0)
    fprintf(stderr, "  when:   t = %.10g s, step %ld, step size %.10g s\n", d->t, d->step, d->h);
  else
    fprintf(stderr, "  when:   t = %.10g s, while finding consistent initial values\n", d->t);
  if (d->iteration > 0)
    fprintf(stderr, "  Newton: %d iteration%s, residual %.3g, correction %.3g (1 is accepted)\n",
            d->iteration, cli_plural(d->iteration), d->residual, d->correction);
  if (d->where[0] != '\0') cli_note("  where:  %s", d->where);
  if (d->advice[0] != '\0') cli_note("  try:    %s", d->advice);
}

void cli_axis_text(const double axis[3], char *text, size_t size)
{
  for (int k = 0; k < 3; k++)
    if (fabs(axis[k] - 1.0) < 1e-9) {
      snprintf(text, size, "%c", "xyz"[k]);
      return;
    }
  snprintf(text, size, "(%.6g, %.6g, %.6g)", axis[0] + 0.0, axis[1] + 0.0, axis[2] + 0.0);
}

const char *cli_plural(long count)
{
  return count == 1 ? "" : "s";
}

void cli_print_model(const char *name, const char *source)
{
  const int both = source != NULL && name[0] != '\0';
  printf("%-16s", "model");
  cli_put_text(stdout, name);
  fputs(both ? " (" : "", stdout);
  if (source != NULL) cli_put_text(stdout, source);
  fputs(both ? ")\n" : "\n", stdout);
}

void cli_print_row(const char *label, const char *format, ...)
{
  va_list values;
  printf("%-16s", label);
  va_start(values, format);
  cli_put_values(stdout, format, values);
  va_end(values);
  putchar('\n');
}
