/* Text of unknown fonts.
 *
 * A picture is laid out before anyone knows in which font it will be read, so widths are bounds:
 * sums over classes of characters, as wide as they are in DejaVu Sans, which is wider than most.
 */
#include "draw/plot/text.h"

#include <string.h>

static int is_first_byte(char c)
{
  return ((unsigned char)c & 0xC0) != 0x80;
}

static int is_digit(char c)
{
  return c >= '0' && c <= '9';
}

static int count_characters(const char *text)
{
  int count = 0;
  for (; *text != '\0'; text++) count += is_first_byte(*text);
  return count;
}

void poli_text_shorten(const char *text, int max, char *result)
{
  const int length = count_characters(text);
  const int head = length > max ? 2 * max / 3 : length;
  const int tail = length > max ? length - (max - head - 1) : length;
  int at = 0;
  for (const char *c = text; *c != '\0'; c++) {
    at += is_first_byte(*c);
    if (at <= head || at > tail) {
      *result++ = *c;
    } else if (at == head + 1 && is_first_byte(*c)) {
      memcpy(result, "\xE2\x80\xA6", 3);
      result += 3;
    }
  }
  *result = '\0';
}

void poli_text_fit(const char *text, double width, double size, int max, char *result)
{
  int length = count_characters(text);
  if (length > max) length = max;
  poli_text_shorten(text, length, result);
  while (length > 3 && poli_text_rich_width(result, size) > width)
    poli_text_shorten(text, --length, result);
}

/* Of one character that starts with this byte, at size 1. */
static double character_width(char c)
{
  if ((unsigned char)c >= 0x80 || strchr("mwMW@%&", c) != NULL) return 1.0;
  if (c >= 'A' && c <= 'Z') return 0.78;
  return strchr("iljtf.,:;|!'() ", c) != NULL ? 0.4 : 0.63;
}

static double piece_width(const char *text, size_t length)
{
  double width = 0;
  for (size_t i = 0; i < length; i++)
    if (is_first_byte(text[i])) width += character_width(text[i]);
  return width;
}

double poli_text_width(const char *text, double size)
{
  return size * piece_width(text, strlen(text));
}

size_t poli_text_break(const char *text, double width, double size)
{
  const double whole = poli_text_rich_width(text, size);
  double best = whole; /* width of the longer line */
  size_t at = 0;
  if (whole <= width) return 0;
  for (size_t i = 1; text[i - 1] != '\0' && text[i] != '\0'; i++) {
    if (strchr(" ._", text[i - 1]) == NULL) continue;
    const double first = size * piece_width(text, i),
                 longer = first > whole - first ? first : whole - first;
    if (longer < best) best = longer, at = i;
  }
  return at;
}

/* The length of "^12" or "^-12" at the start of the text, else 0; the minus may be the true one. */
static size_t raised_length(const char *text)
{
  size_t length = 1;
  if (text[0] != '^') return 0;
  if (text[1] == '-') length++;
  if (strncmp(text + 1, POLI_MINUS, sizeof POLI_MINUS - 1) == 0) length += sizeof POLI_MINUS - 1;
  if (!is_digit(text[length])) return 0;
  while (is_digit(text[length])) length++;
  return length;
}

size_t poli_text_piece(const char *text, int *raised, size_t *skip)
{
  size_t length = raised_length(text);
  *raised = length > 0;
  *skip = length > 0;
  if (length > 0) return length - 1;
  while (text[length] != '\0' && raised_length(text + length) == 0) length++;
  return length;
}

double poli_text_rich_width(const char *text, double size)
{
  double width = 0;
  int raised;
  size_t skip, length;
  while ((length = poli_text_piece(text, &raised, &skip)) > 0) {
    width += piece_width(text + skip, length) * (raised ? POLI_RAISED_SIZE : 1);
    text += skip + length;
  }
  return size * width;
}

/* The bytes of the UTF-8 character at the start of the text, 0 if there is none (RFC 3629). */
static size_t character_length(const char *text)
{
  const unsigned char *c = (const unsigned char *)text;
  size_t length = c[0] < 0x80 ? 1 : c[0] < 0xC2 ? 0 : c[0] < 0xE0 ? 2 : c[0] < 0xF0 ? 3 : 4;
  if (length == 0 || c[0] > 0xF4) return 0;
  for (size_t i = 1; i < length; i++)
    if ((c[i] & 0xC0) != 0x80) return 0;
  /* overlong forms, surrogates, what is beyond Unicode, and two that XML has not */
  if (c[0] == 0xE0 && c[1] < 0xA0) return 0;
  if (c[0] == 0xED && c[1] > 0x9F) return 0;
  if (c[0] == 0xEF && c[1] == 0xBF && c[2] > 0xBD) return 0;
  if (c[0] == 0xF0 && c[1] < 0x90) return 0;
  if (c[0] == 0xF4 && c[1] > 0x8F) return 0;
  return length;
}

void poli_text_clean(const char *text, char *result, size_t size)
{
  size_t used = 0;
  for (const char *c = text; *c != '\0';) {
    const char *piece = c;
    size_t length = character_length(c);
    const size_t read = length > 0 ? length : 1;
    if (length == 0) piece = "?", length = 1;
    if ((unsigned char)*piece < 0x20 || *piece == 0x7F) piece = " ";
    if (*c == '-' && c > text && raised_length(c - 1) > 0)
      piece = POLI_MINUS, length = sizeof POLI_MINUS - 1;
    if (used + length >= size) break;
    memcpy(result + used, piece, length);
    used += length;
    c += read;
  }
  result[used] = '\0';
}

const char *poli_text_entity(char c)
{
  switch (c) {
  case '&':
    return "&amp;";
  case '<':
    return "&lt;";
  case '>':
    return "&gt;";
  default:
    return (unsigned char)c < 0x20 || c == 0x7F ? " " : NULL;
  }
}
