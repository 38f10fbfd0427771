/* Text for people: colour by the escape sequences of ECMA-48 (SGR), lines wrapped at blanks,
 * messages that several commands print, and a progress bar on standard error, redrawn at most ten
 * times per second and erased at the end.  The bar uses only carriage returns and blanks, which
 * every terminal understands; each line is one write, so that nothing flickers. */
#define _XOPEN_SOURCE 700

#include <errno.h>
#include <ftw.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "cli/terminal.h"

static enum { AUTO, ALWAYS, NEVER } color = AUTO;

/* --- colour ----------------------------------------------------------------------------------- */

void cli_color_choose(const char *when)
{
  color = strcmp(when, "always") == 0 ? ALWAYS : strcmp(when, "never") == 0 ? NEVER : AUTO;
}

const char *cli_style_start(FILE *to, cli_style style)
{
  static const char *const sequences[] = {"\033[0m", "\033[31m", "\033[33m", "\033[1m"};
  const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
  const int wanted = (no_color == NULL || no_color[0] == '\0') && term != NULL &&
                     strcmp(term, "dumb") != 0 && isatty(fileno(to));
  return color == ALWAYS || (color == AUTO && wanted) ? sequences[style] : "";
}

/* --- text from files and users ---------------------------------------------------------------- */

/* Bytes of the character of UTF-8 text; 0 if it is none, or a control character: C0, DEL or C1. */
static size_t printable_length(const unsigned char *text)
{
  const unsigned char c = text[0];
  const size_t length = c < 0x80 ? 1 : c >= 0xc2 && c < 0xe0 ? 2 : (c & 0xf0) == 0xe0 ? 3 : 4;
  if (c < 0x80) return c >= 0x20 && c != 0x7f;
  if (c < 0xc2 || c > 0xf4) return 0;
  for (size_t i = 1; i < length; i++)
    if ((text[i] & 0xc0) != 0x80) return 0;
  return c == 0xc2 && text[1] < 0xa0 ? 0 : length;
}

void cli_put_text(FILE *to, const char *text)
{
  for (const unsigned char *c = (const unsigned char *)text; *c != '\0';) {
    const size_t length = printable_length(c);
    if (length > 0)
      fwrite(c, 1, length, to);
    else
      fputc('?', to);
    /* a control character of two bytes is one */
    c += length > 0 ? length : c[0] == 0xc2 && (c[1] & 0xc0) == 0x80 ? 2 : 1;
  }
}

void cli_put_values(FILE *to, const char *format, va_list values)
{
  va_list again;
  va_copy(again, values);
  const int length = vsnprintf(NULL, 0, format, again);
  va_end(again);
  char *text = length >= 0 ? malloc((size_t)length + 1) : NULL;
  if (text == NULL) return;
  vsnprintf(text, (size_t)length + 1, format, values);
  cli_put_text(to, text);
  free(text);
}

/* --- width ------------------------------------------------------------------------------------ */

int cli_width(FILE *to)
{
  const char *columns = getenv("COLUMNS");
  long given = columns != NULL ? strtol(columns, NULL, 10) : 0;
  if (given > 0 && given < 10000) return (int)given;
  struct winsize size;
  if (!isatty(fileno(to))) return 0;
  return ioctl(fileno(to), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/* How many characters of the text go on a line of `room` characters: up to a blank if possible. */
static size_t line_length(const char *text, size_t room)
{
  size_t length = strlen(text);
  if (length <= room) return length;
  for (size_t i = room; i > 0; i--)
    if (text[i] == ' ') return i;
  return strcspn(text, " ");
}

/* Below this there is no sense in wrapping. */
enum { MIN_ROOM = 20 };

void cli_print_entry(FILE *to, int indent, cli_style style, const char *label, int column,
                     const char *text)
{
  int width = cli_width(to), used = indent + (int)strlen(label);
  int room = width - column;
  const int plain = style == CLI_PLAIN;
  fprintf(to, "%*s%s%s%s", indent, "", plain ? "" : cli_style_start(to, style), label,
          plain ? "" : cli_style_start(to, CLI_PLAIN));
  /* a label that is too long for its column has a line of its own */
  if (used >= column) {
    fprintf(to, "\n");
    used = 0;
  }
  fprintf(to, "%*s", column - used, "");
  while (width > 0 && room >= MIN_ROOM && strlen(text) > (size_t)room) {
    size_t length = line_length(text, (size_t)room);
    fprintf(to, "%.*s\n%*s", (int)length, text, column, "");
    text += length;
    text += strspn(text, " ");
  }
  fprintf(to, "%s\n", text);
}

void cli_print_heading(FILE *to, const char *text)
{
  fprintf(to, "%s%s%s\n", cli_style_start(to, CLI_BOLD), text, cli_style_start(to, CLI_PLAIN));
}

void cli_complain(const char *source, const char *format, ...)
{
  va_list values;
  cli_put_text(stderr, source);
  fprintf(stderr, ": %s", cli_style_start(stderr, CLI_RED));
  va_start(values, format);
  cli_put_values(stderr, format, values);
  va_end(values);
  fprintf(stderr, "%s\n", cli_style_start(stderr, CLI_PLAIN));
}

void cli_note(const char *format, ...)
{
  va_list values;
  va_start(values, format);
  cli_put_values(stderr, format, values);
  va_end(values);
  fputc('\n', stderr);
}

void cli_print_notes(const char *lines)
{
  while (lines && *lines != '\0') {
    const size_t length = strcspn(lines, "\n");
    cli_note("note: %.*s", (int)length, lines);
    lines += length + (lines[length] == '\n');
  }
}

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

/* --- files on their way to standard output ------------------------------------------------------
 */

char *cli_spool_create(const char *name)
{
  const char *below = getenv("TMPDIR");
  char *folder = cli_format("%s/polhode-XXXXXX", below && below[0] != '\0' ? below : "/tmp");
  char *path = NULL;
  int reason = ENOMEM;
  if (folder && !mkdtemp(folder))
    reason = errno;
  else if (folder && !(path = cli_format("%s/%s", folder, name)))
    rmdir(folder);
  free(folder);
  errno = reason;
  return path;
}

int cli_spool_end(char *path, int send)
{
  char part[1 << 16];
  size_t count;
  int reason = 0;
  FILE *file = send ? fopen(path, "rb") : NULL;
  if (send && !file) reason = errno;
  errno = 0;
  while (file && !reason && (count = fread(part, 1, sizeof part, file)) > 0)
    if (fwrite(part, 1, count, stdout) != count) reason = errno ? errno : EIO;
  if (file && !reason && ferror(file)) reason = errno ? errno : EIO;
  if (file) fclose(file);
  if (send && !reason && fflush(stdout) != 0) reason = errno;
  remove(path);
  *strrchr(path, '/') = '\0';
  rmdir(path);
  free(path);
  errno = reason;
  return reason ? -1 : 0;
}

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
  (void)info, (void)kind, (void)walk;
  remove(path);
  return 0;
}

void cli_remove_folder(const char *path)
{
  nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
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
    if (cli_has_setting(options, "order"))
      cli_print_row("order", "%d%s", pol_options_order(options),
                    options->order == 0 ? ", chosen from the tolerances" : "");
    if (!isnan(options->theta)) cli_print_row("theta", "%.6g", options->theta);
    if (!isnan(options->vartheta)) cli_print_row("vartheta", "%.6g", options->vartheta);
    if (!cli_has_setting(options, "order")) /* else see cli_print_formulation */
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

void cli_print_formulation(const pol_settings *settings)
{
  const pol_formulation_kind kind = pol_settings_formulation(settings);
  cli_print_row("formulation", "%s%s", pol_formulation_name(settings->formulation),
                kind == settings->formulation ? "" : "; the steps of rattle are those of so3xr3");
  if (cli_has_setting(&settings->options, "order") && kind != POL_SO3XR3)
    cli_print_row("guess", "%s", pol_guess_name(settings->options.guess));
}

/* --- errors and failures ---------------------------------------------------------------------- */

/* Whether two errors are one mistake of the file, in two copies that a `repeat` made of it. */
static int is_copy(const pol_error *a, const pol_error *b)
{
  return a->line == b->line && a->element[0] != '\0' && strcmp(a->path, b->path) == 0 &&
         strcmp(a->rule, b->rule) == 0 && strcmp(a->value, b->value) == 0 &&
         strcmp(a->suggestion, b->suggestion) == 0 && strcmp(a->file, b->file) == 0;
}

/* How many of the errors after error i are copies of it; -1 if it is one of an earlier error. */
static int count_copies(const pol_errors *errors, int i, int most)
{
  int copies = 0;
  for (int k = 0; k < i; k++)
    if (is_copy(&errors->items[k], &errors->items[i])) return -1;
  for (int k = i + 1; k < most; k++) copies += is_copy(&errors->items[i], &errors->items[k]);
  return copies;
}

void cli_print_errors(const char *source, const pol_errors *errors)
{
  enum { MOST = 200 }; /* so many have their lines in the file */
  const int most = errors->count < MOST ? errors->count : MOST, rest = errors->count - most;
  int count = 0;
  for (int i = 0; i < most; i++) {
    const int copies = count_copies(errors, i, most);
    if (copies < 0) continue;
    count++;
    /* One line: "SOURCE:LINE: PATH (ELEMENT) = VALUE: RULE; did you mean "SUGGESTION"?", without
     * the empty parts; an included file is named like its path from the source. */
    const pol_error *error = &errors->items[i];
    const char *plain = cli_style_start(stderr, CLI_PLAIN);
    const char *slash =
        error->file[0] != '\0' && error->file[0] != '/' ? strrchr(source, '/') : NULL;
    if (slash != NULL) fprintf(stderr, "%.*s", (int)(slash - source) + 1, source);
    cli_put_text(stderr, error->file[0] != '\0' ? error->file : source);
    if (error->line > 0) fprintf(stderr, ":%d", error->line);
    fputs(": ", stderr);
    if (error->path[0] != '\0') {
      fputs(cli_style_start(stderr, CLI_BOLD), stderr);
      cli_put_text(stderr, error->path);
      fputs(plain, stderr);
    }
    if (error->element[0] != '\0') {
      fputs(" (", stderr);
      cli_put_text(stderr, error->element);
      fputs(")", stderr);
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
    if (copies > 0) fprintf(stderr, " (also in %d other cop%s)", copies, copies == 1 ? "y" : "ies");
    fputc('\n', stderr);
  }
  if (rest > 0) fprintf(stderr, "... and %d more, of which --json has all\n", rest);
  count = rest > 0 ? errors->count : count;
  fprintf(stderr, "%d error%s\n", count, cli_plural(count));
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

void cli_warn_memory(const pol_estimate *estimate, double result_bytes)
{
  const double giga = 1e9, need = estimate->memory + estimate->rank + result_bytes;
  /* Bytes of memory that are available, 0 if that is not known. */
  double have = 0.0;
  unsigned long long kilobytes;
  char line[128];
  FILE *file = fopen("/proc/meminfo", "r");
  while (file != NULL && have == 0.0 && fgets(line, sizeof line, file) != NULL)
    if (sscanf(line, "MemAvailable: %llu kB", &kilobytes) == 1) have = 1024.0 * (double)kilobytes;
  if (file != NULL) fclose(file);
  char message[300];
  if (need < 0.5 * giga) return;
  snprintf(message, sizeof message, "%d velocities and %d constraints need about %.1f GB of memory",
           estimate->velocities, estimate->constraints, need / giga);
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
    snprintf(text, size, "singular position%s, first near t = %.6g s: %s is redundant there",
             singular->count > 1 ? "s" : "", singular->t, singular->where);
  else if (which == 1 && lost->count > 0)
    snprintf(text, size,
             "half a turn or more in a step, first at t = %.6g s: the turns of %s are miscounted",
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
  if (d->step > 0 && d->h == 0.0 && d->iteration == 0) /* between two steps: a controller */
    fprintf(stderr, "  when:   t = %.10g s, after step %ld\n", d->t, d->step);
  else if (d->step > 0 && d->h == 0.0) /* of a static equilibrium */
    fprintf(stderr, "  when:   load step %ld, t = %.10g s\n", d->step, d->t);
  else if (d->step > 0)
    fprintf(stderr, "  when:   t = %.10g s, step %ld, step size %.10g s\n", d->t, d->step, d->h);
  else
    fprintf(stderr, "  when:   t = %.10g s, while finding consistent initial values\n", d->t);
  if (d->iteration > 0 && !(d->step > 0 && d->h == 0.0))
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

static const double redraw_seconds = 0.1;
/* Cells of the bar at most, what stands beside it at most, and the "^C" a terminal may add. */
enum { CELLS = 30, BESIDE = 24, ECHO = 2 };

double cli_seconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void (*listener)(const char *stage, double share);

void cli_progress_listen(void (*to)(const char *stage, double share))
{
  listener = to;
}

void cli_progress_begin(cli_progress *progress, int wanted)
{
  *progress = (cli_progress){0};
  progress->no_bar = !isatty(STDERR_FILENO);
  progress->shown = wanted && (listener != NULL || !progress->no_bar);
  if (!progress->shown) return;
  progress->start = cli_seconds();
  progress->next = progress->start + redraw_seconds;
}

/* Draws over the line, blanking what was longer before. */
static void draw(cli_progress *progress, const char *text)
{
  char line[sizeof progress->text + 8];
  int length = (int)strlen(text), before = (int)strlen(progress->text);
  if (strcmp(text, progress->text) == 0) return;
  int size =
      snprintf(line, sizeof line, "\r%s%*s", text, before > length ? before - length : 0, "");
  fwrite(line, 1, (size_t)size, stderr);
  snprintf(progress->text, sizeof progress->text, "%s", text);
}

void cli_progress_update(cli_progress *progress, double share)
{
  if (!progress->shown) return;
  double now = cli_seconds();
  if (now < progress->next || share <= 0.0) return;
  progress->next = now + redraw_seconds;
  if (listener != NULL) listener(progress->note + strspn(progress->note, " "), share);
  if (progress->no_bar) return;

  /* The bar takes what the line leaves; a very narrow line has none. */
  int room = cli_width(stderr) - BESIDE - ECHO - 1;
  int cells = room < CELLS ? room : CELLS;
  char bar[CELLS + 4] = "", left[32], text[sizeof progress->text];
  if (cells >= 4) {
    memset(bar, '-', (size_t)cells + 2);
    memset(bar + 1, '#', (size_t)(share * cells));
    bar[0] = '[';
    memcpy(bar + cells + 1, "] ", 3);
  }
  /* the time left: "1:02:03", "2:03" or "3 s" */
  const double seconds = (now - progress->start) * (1.0 - share) / share;
  static const double forever = 1e8;
  long s = (long)(seconds < forever ? seconds + 0.5 : forever);
  if (s >= 3600)
    snprintf(left, sizeof left, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
  else if (s >= 60)
    snprintf(left, sizeof left, "%ld:%02ld", s / 60, s % 60);
  else
    snprintf(left, sizeof left, "%ld s", s);
  snprintf(text, sizeof text, "%s%3d %%  %s left", bar, (int)(100.0 * share), left);
  /* the note, where the line has room for some of it */
  const int length = (int)strlen(text), left_room = cli_width(stderr) - length - ECHO - 1;
  if (left_room > 4 && (size_t)(length + left_room) < sizeof text)
    snprintf(text + length, sizeof text - (size_t)length, "%.*s", left_room, progress->note);
  draw(progress, text);
}

int cli_progress_report(const char *stage, double share, void *user)
{
  cli_progress *progress = user;
  if (progress->shown) {
    snprintf(progress->note, sizeof progress->note, "  %s", stage);
    cli_progress_update(progress, share);
    const double now = cli_seconds();
    if (share <= 0.0 && now >= progress->next) {
      char text[sizeof progress->text];
      progress->next = now + redraw_seconds;
      if (listener != NULL) listener(stage, 0.0);
      if (progress->no_bar) return cli_stop_signal() != 0;
      snprintf(text, sizeof text, "starting: %.*s", cli_width(stderr) - 10 - ECHO - 1, stage);
      draw(progress, text);
    }
  }
  return cli_stop_signal() != 0;
}

void cli_progress_end(cli_progress *progress)
{
  if (progress->shown && progress->text[0] != '\0')
    fprintf(stderr, "\r%*s\r", (int)strlen(progress->text) + ECHO, "");
  progress->shown = 0;
}
