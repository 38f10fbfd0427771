/* Archives in the ZIP format (PKWARE, APPNOTE 6.3, sections 4.3.7, 4.3.12 and 4.3.16), without the
 * extension for 4 GB and more.
 *
 * An archive may come from anywhere.  What the directory says is checked before anything is made
 * of it: places inside the file, names that stay inside a folder, no links, sizes.  The packed
 * sizes of all files together must not exceed the archive, so that files cannot share their bytes,
 * and contents are taken only if they have the announced size and checksum.
 */
#define _POSIX_C_SOURCE 200809L

#include "io/fmi/unzip.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/errors.h"
#include "io/file/file.h"

/* Bytes of an archive, and of all its files together. */
static const size_t most = (size_t)1 << 30;
enum { HEADER = 30, ENTRY = 46, END = 22 };

static pol_status refuse(poli_unzip *zip, const char *format, ...) POLI_PRINTF(2, 3);
static pol_status refuse(poli_unzip *zip, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(zip->reason, sizeof zip->reason, format, arguments);
  va_end(arguments);
  return POL_BAD_ARGUMENT;
}

/* A little-endian number. */
static size_t number(const char *from, int bytes)
{
  size_t value = 0;
  for (int i = bytes; i-- > 0;) value = value << 8 | (unsigned char)from[i];
  return value;
}

/* --- the directory ---------------------------------------------------------------------------- */

/* Where the record at the end of the directory is; the comment behind it may be long. */
static const char *find_end(const poli_unzip *zip)
{
  for (size_t back = END; back <= zip->size && back <= END + 0xffff; back++) {
    const char *at = zip->bytes + zip->size - back;
    if (number(at, 4) == 0x06054b50 && number(at + 20, 2) <= back - END) return at;
  }
  return NULL;
}

/* Whether a name stays inside the folder that it is unpacked to. */
static int is_safe(const char *name)
{
  if (name[0] == '\0' || name[0] == '/' || strpbrk(name, "\\:")) return 0;
  for (const char *part = name; *part;) {
    const size_t length = strcspn(part, "/");
    const int dots = (length == 1 && part[0] == '.') || (length == 2 && !strncmp(part, "..", 2));
    if (length == 0 || dots) return 0;
    part += length + (part[length] == '/');
  }
  return 1;
}

/* Checks one entry of the directory and takes it over; *at moves behind it. */
static pol_status read_entry(poli_unzip *zip, const char **at, const char *end)
{
  const char *from = *at;
  if (end - from < ENTRY || number(from, 4) != 0x02014b50)
    return refuse(zip, "its directory is damaged");
  const size_t length = number(from + 28, 2), flags = number(from + 8, 2);
  const size_t behind = length + number(from + 30, 2) + number(from + 32, 2);
  const size_t made_by = number(from + 5, 1), mode = number(from + 40, 2);
  if ((size_t)(end - from) - ENTRY < behind) return refuse(zip, "its directory is damaged");
  poli_unzip_entry *entry = &zip->entries[zip->count];
  *entry = (poli_unzip_entry){.name = poli_format("%.*s", (int)length, from + ENTRY),
                              .offset = number(from + 42, 4),
                              .packed = number(from + 20, 4),
                              .size = number(from + 24, 4),
                              .crc = number(from + 16, 4),
                              .method = (int)number(from + 10, 2)};
  if (!entry->name) return POL_NO_MEMORY;
  zip->count++;
  const char *name = entry->name;
  if (strlen(name) != length || !is_safe(name))
    return refuse(zip, "the name '%.80s' in it is invalid or leads out of its folder", name);
  if (made_by == 3 && S_ISLNK(mode)) return refuse(zip, "'%.80s' in it is a link", name);
  if (flags & 1) return refuse(zip, "'%.80s' in it is encrypted", name);
  if (entry->method != 0 && entry->method != 8)
    return refuse(zip, "'%.80s' in it is compressed by method %d, not deflated", name,
                  entry->method);
  if (entry->packed == 0xffffffffU || entry->size == 0xffffffffU || entry->size > most)
    return refuse(zip, "'%.80s' in it is too large", name);
  if (entry->offset > zip->size || zip->size - entry->offset < HEADER + entry->packed ||
      (entry->method == 0 && entry->size != entry->packed))
    return refuse(zip, "it is incomplete at '%.80s'", name);
  *at = from + ENTRY + behind;
  return POL_OK;
}

static int compare_names(const void *a, const void *b)
{
  return strcmp(((const poli_unzip_entry *)a)->name, ((const poli_unzip_entry *)b)->name);
}

static pol_status read_directory(poli_unzip *zip)
{
  const char *end = find_end(zip);
  if (!end) return refuse(zip, "it is no ZIP archive, or incomplete");
  const size_t count = number(end + 10, 2), size = number(end + 12, 4), start = number(end + 16, 4);
  const size_t before = (size_t)(end - zip->bytes);
  if (count == 0xffff || start == 0xffffffffU) return refuse(zip, "it is too large");
  if (start > before || size > before - start) return refuse(zip, "its directory is damaged");
  zip->entries = calloc(count + 1, sizeof *zip->entries);
  if (!zip->entries) return POL_NO_MEMORY;
  const char *at = zip->bytes + start;
  pol_status status = POL_OK;
  size_t packed = 0, all = 0;
  for (size_t i = 0; i < count && status == POL_OK; i++) {
    status = read_entry(zip, &at, zip->bytes + start + size);
    if (status) break;
    packed += zip->entries[i].packed;
    all += zip->entries[i].size;
    if (packed > zip->size) status = refuse(zip, "files in it share their bytes");
    if (all > most) status = refuse(zip, "it has more than 1 GB");
  }
  if (status) return status;
  qsort(zip->entries, count, sizeof *zip->entries, compare_names);
  for (size_t i = 1; i < count; i++)
    if (compare_names(&zip->entries[i - 1], &zip->entries[i]) == 0)
      return refuse(zip, "'%.80s' is twice in it", zip->entries[i].name);
  return POL_OK;
}

pol_status poli_unzip_open(poli_unzip *zip, const char *path)
{
  pol_status status = poli_read_small_file(path, most, &zip->bytes, &zip->size);
  if (status == POL_IO) {
    refuse(zip, "it cannot be read: %s", strerror(errno));
    return POL_IO;
  }
  return status ? status : read_directory(zip);
}

void poli_unzip_close(poli_unzip *zip)
{
  for (int i = 0; i < zip->count; i++) free(zip->entries[i].name);
  free(zip->entries);
  free(zip->bytes);
  *zip = (poli_unzip){0};
}

const poli_unzip_entry *poli_unzip_find(const poli_unzip *zip, const char *name)
{
  for (int i = 0; i < zip->count; i++)
    if (strcmp(zip->entries[i].name, name) == 0) return &zip->entries[i];
  return NULL;
}

/* --- contents --------------------------------------------------------------------------------- */

/* Inflates exactly so many bytes; 0 if the data are damaged, -1 without memory. */
static int inflate_bytes(const char *from, size_t packed, char *to, size_t size)
{
  z_stream stream = {.next_in = (unsigned char *)from, .avail_in = (unsigned int)packed};
  stream.next_out = (unsigned char *)to;
  stream.avail_out = (unsigned int)size;
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return -1;
  const int code = inflate(&stream, Z_FINISH);
  const int good = code == Z_STREAM_END && stream.total_out == size;
  inflateEnd(&stream);
  return code == Z_MEM_ERROR ? -1 : good;
}

pol_status poli_unzip_read(poli_unzip *zip, const poli_unzip_entry *entry, char **bytes)
{
  const char *header = zip->bytes + entry->offset;
  *bytes = NULL;
  /* the header says again how long its name is */
  const size_t skip = HEADER + number(header + 26, 2) + number(header + 28, 2);
  if (number(header, 4) != 0x04034b50 || zip->size - entry->offset < skip + entry->packed)
    return refuse(zip, "'%.80s' in it is damaged", entry->name);
  char *to = malloc(entry->size + 1);
  if (!to) return POL_NO_MEMORY;
  int good = 1;
  if (entry->method == 0)
    memcpy(to, header + skip, entry->size);
  else
    good = inflate_bytes(header + skip, entry->packed, to, entry->size);
  if (good == 1 && crc32(0, (unsigned char *)to, (unsigned int)entry->size) != entry->crc) good = 0;
  if (good != 1) {
    free(to);
    return good < 0 ? POL_NO_MEMORY : refuse(zip, "'%.80s' in it is damaged", entry->name);
  }
  to[entry->size] = '\0';
  *bytes = to;
  return POL_OK;
}

/* Makes the folders that lead to a path below the first `from` bytes. */
static int make_folders(char *path, size_t from)
{
  for (char *c = path + from + 1; *c; c++) {
    if (*c != '/') continue;
    *c = '\0';
    const int failed = mkdir(path, 0700) != 0 && errno != EEXIST;
    *c = '/';
    if (failed) return 0;
  }
  return 1;
}

static int write_all(int file, const char *bytes, size_t size)
{
  while (size > 0) {
    const ssize_t done = write(file, bytes, size);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return 0;
    bytes += done;
    size -= (size_t)done;
  }
  return 1;
}

pol_status poli_unzip_extract(poli_unzip *zip, const poli_unzip_entry *entry, const char *folder)
{
  char *bytes = NULL, *path = poli_format("%s/%s", folder, entry->name);
  const size_t length = strlen(entry->name);
  const int is_folder = length > 0 && entry->name[length - 1] == '/';
  pol_status status = path ? POL_OK : POL_NO_MEMORY;
  if (!status && !is_folder) status = poli_unzip_read(zip, entry, &bytes);
  int good = status || make_folders(path, strlen(folder));
  if (!status && good && !is_folder) {
    const int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    good = file >= 0 && write_all(file, bytes, entry->size);
    if (file >= 0 && close(file) != 0) good = 0;
  }
  if (!status && !good) {
    refuse(zip, "'%.60s' in it cannot be unpacked to '%.60s': %s", entry->name, folder,
           strerror(errno));
    status = POL_IO;
  }
  free(path);
  free(bytes);
  return status;
}
