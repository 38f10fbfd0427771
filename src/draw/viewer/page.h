/* The page as text: the fixed parts, and what is written between them. */
#ifndef POLHODE_VIEWER_PAGE_H
#define POLHODE_VIEWER_PAGE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The page with its style, programs and licences up to the data, and what follows the data; made
 * from viewer/ and three.js when polhode is built (cmake/PolhodeViewer.cmake). */
extern const unsigned char poli_page_head[], poli_page_tail[];
extern const size_t poli_page_head_size, poli_page_tail_size;

/* A piece of data in base64 (RFC 4648, 4), <script type="text/plain" id="ID">...</script>.  Errors
 * stay in the file: check ferror(). */
void poli_page_write_bytes(FILE *file, const char *id, const unsigned char *bytes, size_t count);
/* JSON text, with < written as \u003c so that no text can end the element. */
void poli_page_write_json(FILE *file, const char *id, const char *json);

/* Numbers as bytes, the least significant first. */
void poli_put_uint16(unsigned char *to, unsigned value);
void poli_put_uint32(unsigned char *to, uint32_t value);
void poli_put_float(unsigned char *to, float value);

#endif
