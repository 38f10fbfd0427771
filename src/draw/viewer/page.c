/* Data inside a page: base64 and JSON in elements that no browser runs. */
#include "draw/viewer/page.h"

#include <string.h>

/* Three bytes are four characters of 6 bits; the last group is filled up with =. */
static size_t encode_group(const unsigned char *bytes, size_t count, char out[4])
{
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const unsigned b1 = count > 1 ? bytes[1] : 0u, b2 = count > 2 ? bytes[2] : 0u;
  const unsigned bits = (unsigned)bytes[0] << 16 | b1 << 8 | b2;
  out[0] = digits[bits >> 18];
  out[1] = digits[bits >> 12 & 63u];
  out[2] = count > 1 ? digits[bits >> 6 & 63u] : '=';
  out[3] = count > 2 ? digits[bits & 63u] : '=';
  return 4;
}

void poli_page_write_bytes(FILE *file, const char *id, const unsigned char *bytes, size_t count)
{
  char buffer[4096];
  size_t used = 0;
  fprintf(file, "<script type=\"text/plain\" id=\"%s\">", id);
  for (size_t i = 0; i < count; i += 3) {
    used += encode_group(bytes + i, count - i, buffer + used);
    if (used == sizeof buffer) {
      fwrite(buffer, 1, used, file);
      used = 0;
    }
  }
  fwrite(buffer, 1, used, file);
  fputs("</script>\n", file);
}

void poli_page_write_json(FILE *file, const char *id, const char *json)
{
  fprintf(file, "<script type=\"application/json\" id=\"%s\">", id);
  while (*json != '\0') {
    const size_t length = strcspn(json, "<");
    fwrite(json, 1, length, file);
    json += length;
    if (*json == '<') {
      fputs("\\u003c", file);
      json++;
    }
  }
  fputs("</script>\n", file);
}

void poli_put_uint16(unsigned char *to, unsigned value)
{
  to[0] = (unsigned char)(value & 255u);
  to[1] = (unsigned char)(value >> 8 & 255u);
}

void poli_put_float(unsigned char *to, float value)
{
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  for (int i = 0; i < 4; i++) to[i] = (unsigned char)(bits >> 8 * i & 255u);
}
