/* Text of unknown fonts: how wide it is at most, shorter forms of it, raised digits, XML. */
#ifndef POLHODE_PLOT_TEXT_H
#define POLHODE_PLOT_TEXT_H

#include <stddef.h>

/* UTF-8 of the minus, the times sign. */
#define POLI_MINUS "\xE2\x88\x92"
#define POLI_TIMES "\xC3\x97"

/* Room for a text of so many characters that poli_text_shorten has made. */
#define POLI_TEXT_SIZE(characters) (4 * (characters) + 8)

/* Copies UTF-8 text; of more than max characters the middle becomes an ellipsis.  result has
 * POLI_TEXT_SIZE(max) bytes. */
void poli_text_shorten(const char *text, int max, char *result);
/* The same for what is wider than this at a font size; at least three characters stay, at most max.
 */
void poli_text_fit(const char *text, double width, double size, int max, char *result);

/* Where to break a text that is wider than this into two lines, after a blank, a dot or an
 * underscore: the index of the first byte of the second line, 0 if it fits or there is no place. */
size_t poli_text_break(const char *text, double width, double size);

/* A bound of the width of the text in usual fonts without serifs; '^' is a character as others. */
double poli_text_width(const char *text, double size);

/* How raised digits are drawn: size by size, and by how much of the size above the line. */
#define POLI_RAISED_SIZE 0.72
#define POLI_RAISED_BY 0.38
/* The bytes of the next piece of text in which all is raised, or nothing is; 0 at its end.  *raised
 * is which; *skip: bytes before it that are not drawn. */
size_t poli_text_piece(const char *text, int *raised, size_t *skip);
/* Like poli_text_width, with raised digits. */
double poli_text_rich_width(const char *text, double size);

/* Copies text as far as it fits, in valid UTF-8 and without control characters: bytes that are no
 * UTF-8 become '?', control characters blanks; the minus of a raised number becomes a true one. */
void poli_text_clean(const char *text, char *result, size_t size);

/* What stands for the character in the text of an XML element; NULL: itself.  Control characters
 * become blanks, since XML has none. */
const char *poli_text_entity(char c);

#endif
