/* Colour by the escape sequences of ECMA-48 (SGR), which all terminals of today understand, and
 * wrapping of lines at blanks.
 */
#define _POSIX_C_SOURCE 200809L

#include "cli/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static enum { AUTO, ALWAYS, NEVER } color = AUTO;

/* --- colour ----------------------------------------------------------------------------------- */

void cli_color_choose(const char *when)
{
  color = strcmp(when, "always") == 0 ? ALWAYS : strcmp(when, "never") == 0 ? NEVER : AUTO;
}

static int is_colored(FILE *to)
{
  if (color != AUTO) return color == ALWAYS;
  const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
  if (no_color != NULL && no_color[0] != '\0') return 0;
  if (term == NULL || strcmp(term, "dumb") == 0) return 0;
  return isatty(fileno(to));
}

const char *cli_style_start(FILE *to, cli_style style)
{
  static const char *const sequences[] = {"\033[0m", "\033[31m", "\033[33m", "\033[1m"};
  return is_colored(to) ? sequences[style] : "";
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
