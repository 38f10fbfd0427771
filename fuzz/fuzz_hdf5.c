/* Results in HDF5: the commands that read results, on files that the HDF5 library has written but
 * that hold anything.
 *
 * Changed bytes of a file test the HDF5 library, which finds most of them by its checksums.  So the
 * input is a text that describes a file, a line for each part, and the target writes it:
 *
 *     attribute [PATH@]NAME TYPE SHAPE VALUES
 *     dataset PATH TYPE SHAPE VALUES
 *     group PATH
 *     link PATH TARGET
 *
 * TYPE is i8 .. i64, u8 .. u64, f32, f64, sN (text of N bytes), aN (the same in ASCII), text (of
 * any length), or {name:TYPE;name:TYPE...}; SHAPE is - (no element), . (one, without dimensions) or
 * 3x2, with + at the end if it is in chunks and may grow; VALUES are separated by | and used again
 * and again; there are none if the line ends before.  An input that is itself a file in HDF5 is
 * taken as it is. */
#define _XOPEN_SOURCE 700

#include <hdf5.h>
#include <stdlib.h>
#include <string.h>

#include "example_model.h"
#include "sandbox.h"

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
  (void)argc, (void)argv;
  fuzz_begin();
  fuzz_enter();
  fuzz_write("model.json", example_model, strlen(example_model));
  fuzz_keep("model.json");
  fuzz_leave();
  return 0;
}

/* --- types, shapes and values ----------------------------------------------------------------- */

enum {
  MOST_MEMBERS = 8,     /* of a compound type */
  MOST_BYTES = 1 << 16, /* that are written at once; more remain unwritten */
};

static hid_t simple_type(const char *word)
{
  static const struct {
    const char *word;
    const hid_t *type;
  } types[] = {{"i8", &H5T_STD_I8LE_g},   {"i16", &H5T_STD_I16LE_g}, {"i32", &H5T_STD_I32LE_g},
               {"i64", &H5T_STD_I64LE_g}, {"u8", &H5T_STD_U8LE_g},   {"u16", &H5T_STD_U16LE_g},
               {"u32", &H5T_STD_U32LE_g}, {"u64", &H5T_STD_U64LE_g}, {"f32", &H5T_IEEE_F32LE_g},
               {"f64", &H5T_IEEE_F64LE_g}};
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
    if (strcmp(word, types[i].word) == 0) return H5Tcopy(*types[i].type);
  const hid_t text = H5Tcopy(H5T_C_S1);
  const long length = word[0] == 's' || word[0] == 'a' ? strtol(word + 1, NULL, 10) : 0;
  if (word[0] != 'a') H5Tset_cset(text, H5T_CSET_UTF8);
  H5Tset_size(text, length >= 1 && length <= 4096 ? (size_t)length : H5T_VARIABLE);
  return text;
}

/* A type; its word is cut into pieces. */
static hid_t make_type(char *word)
{
  hid_t members[MOST_MEMBERS];
  const char *names[MOST_MEMBERS];
  size_t size = 0;
  int count = 0;
  if (word[0] != '{') return simple_type(word);
  word[strcspn(word, "}")] = '\0';
  for (char *at = word + 1; *at != '\0' && count < MOST_MEMBERS; count++) {
    char *name = at;
    at += strcspn(at, ";");
    if (*at != '\0') *at++ = '\0';
    char *colon = name + strcspn(name, ":");
    if (*colon != '\0') *colon++ = '\0';
    names[count] = name;
    members[count] = simple_type(colon);
    size += H5Tget_size(members[count]);
  }
  const hid_t type = H5Tcreate(H5T_COMPOUND, size > 0 ? size : 1);
  size = 0;
  for (int i = 0; i < count; i++) {
    H5Tinsert(type, names[i], size, members[i]);
    size += H5Tget_size(members[i]);
    H5Tclose(members[i]);
  }
  return type;
}

/* A shape; *count is the number of its elements, 0 if there are too many to be written. */
static hid_t make_space(const char *word, hid_t plist, size_t *count)
{
  enum { MOST = 4, MOST_ELEMENTS = 4096 };
  hsize_t sizes[MOST], chunks[MOST], limits[MOST];
  int rank = 0;
  *count = word[0] == '.';
  if (word[0] == '.') return H5Screate(H5S_SCALAR);
  for (const char *at = word; rank < MOST && *at >= '0' && *at <= '9'; rank++) {
    char *end;
    sizes[rank] = strtoull(at, &end, 10);
    if (sizes[rank] > (hsize_t)1 << 60) sizes[rank] = (hsize_t)1 << 60;
    chunks[rank] = sizes[rank] > 0 && sizes[rank] < 4 ? sizes[rank] : 4;
    limits[rank] = H5S_UNLIMITED;
    at = *end == 'x' ? end + 1 : end;
  }
  if (rank == 0) return H5Screate(H5S_NULL);
  const int grows = strchr(word, '+') != NULL;
  if (grows) H5Pset_chunk(plist, rank, chunks);
  *count = 1;
  for (int i = 0; i < rank; i++)
    *count = *count * sizes[i] > MOST_ELEMENTS || sizes[i] > MOST_ELEMENTS ? 0 : *count * sizes[i];
  return H5Screate_simple(rank, sizes, grows ? limits : NULL);
}

/* The values of a line, one after the other, from the start again after the last. */
typedef struct values {
  char *text, *at, *end;
} values;

static const char *next_value(values *v)
{
  if (v->at >= v->end) v->at = v->text;
  const char *value = v->at;
  v->at += strlen(v->at) + 1;
  return value;
}

/* The numbers and texts that an element of a type consists of. */
typedef struct parts {
  int count;
  struct {
    int is_text, is_float;
    size_t offset, size; /* a text of any length has no size */
  } items[MOST_MEMBERS];
} parts;

static void add_part(parts *p, hid_t type, size_t offset)
{
  const H5T_class_t class = H5Tget_class(type);
  const int is_text = class == H5T_STRING, is_pointer = is_text && H5Tis_variable_str(type) > 0;
  p->items[p->count].is_text = is_text;
  p->items[p->count].is_float = class == H5T_FLOAT;
  p->items[p->count].offset = offset;
  p->items[p->count++].size = is_pointer ? 0 : H5Tget_size(type);
}

static void find_parts(parts *p, hid_t type)
{
  p->count = 0;
  if (H5Tget_class(type) != H5T_COMPOUND) {
    add_part(p, type, 0);
    return;
  }
  for (int i = 0; i < H5Tget_nmembers(type); i++) {
    const hid_t member = H5Tget_member_type(type, (unsigned)i);
    add_part(p, member, H5Tget_member_offset(type, (unsigned)i));
    H5Tclose(member);
  }
}

static void put_element(const parts *p, char *place, values *v)
{
  for (int i = 0; i < p->count; i++) {
    char *to = place + p->items[i].offset;
    const size_t size = p->items[i].size;
    const char *value = next_value(v);
    if (p->items[i].is_text) {
      if (size == 0)
        memcpy(to, &value, sizeof value);
      else
        memcpy(to, value, strnlen(value, size));
    } else if (p->items[i].is_float) {
      const double number = strtod(value, NULL);
      const float single = (float)number;
      memcpy(to, size == 4 ? (const void *)&single : (const void *)&number, size);
    } else {
      const long long integer = strtoll(value, NULL, 10);
      memcpy(to, &integer, size);
    }
  }
}

/* --- the file --------------------------------------------------------------------------------- */

/* Cuts the next word, up to a blank, out of a line. */
static char *next_word(char **line)
{
  char *word = *line;
  *line += strcspn(*line, " ");
  if (**line != '\0') *(*line)++ = '\0';
  return word;
}

static void put_data(hid_t file, hid_t links, int is_attribute, char *line)
{
  char *name = next_word(&line), *type_word = next_word(&line), *shape = next_word(&line);
  char *at = is_attribute ? strrchr(name, '@') : NULL;
  if (at != NULL) *at = '\0';
  const hid_t object = at != NULL ? H5Oopen(file, name, H5P_DEFAULT) : -1;
  if (at != NULL) name = at + 1;
  const hid_t plist = H5Pcreate(H5P_DATASET_CREATE);
  size_t count;
  const hid_t type = make_type(type_word), space = make_space(shape, plist, &count);
  const size_t size = H5Tget_size(type);
  const int is_small = count * size <= MOST_BYTES;
  hid_t place = -1;
  if (!is_attribute)
    place = H5Dcreate2(file, name, type, space, links, plist, H5P_DEFAULT);
  else if (is_small && (count > 0 || H5Sget_simple_extent_npoints(space) == 0)) /* in memory */
    place = H5Acreate2(at != NULL ? object : file, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  if (place >= 0 && is_small && count > 0 && line[0] != '\0') {
    values v = {line, line, line + strlen(line)};
    for (char *c = line; *c != '\0'; c++)
      if (*c == '|') *c = '\0';
    char *bytes = calloc(count, size);
    FUZZ_REQUIRE(bytes != NULL);
    parts p;
    find_parts(&p, type);
    for (size_t i = 0; i < count; i++) put_element(&p, bytes + i * size, &v);
    if (is_attribute)
      H5Awrite(place, type, bytes);
    else
      H5Dwrite(place, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes);
    free(bytes);
  }
  if (place >= 0 && is_attribute) H5Aclose(place);
  if (place >= 0 && !is_attribute) H5Dclose(place);
  if (object >= 0) H5Oclose(object);
  H5Sclose(space);
  H5Tclose(type);
  H5Pclose(plist);
}

static void put_line(hid_t file, hid_t links, char *line)
{
  const char *kind = next_word(&line);
  if (strcmp(kind, "attribute") == 0) put_data(file, links, 1, line);
  if (strcmp(kind, "dataset") == 0) put_data(file, links, 0, line);
  if (strcmp(kind, "group") == 0) {
    const hid_t group = H5Gcreate2(file, line, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (group >= 0) H5Gclose(group);
  }
  if (strcmp(kind, "link") == 0) {
    const char *path = next_word(&line);
    H5Lcreate_soft(line, file, path, H5P_DEFAULT, H5P_DEFAULT);
  }
}

static void write_file(const char *name, char *text)
{
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS), links = H5Pcreate(H5P_LINK_CREATE);
  H5Pset_create_intermediate_group(links, 1);
  H5Pset_fapl_core(access, 1 << 16, 1);
  H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
  const hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, access);
  FUZZ_REQUIRE(file >= 0);
  while (*text != '\0') {
    char *line = text;
    text += strcspn(text, "\n");
    if (*text != '\0') *text++ = '\0';
    put_line(file, links, line);
  }
  H5Fclose(file);
  H5Pclose(links);
  H5Pclose(access);
}

/* An id of each kind of object that is not counted with its file: the next ones are larger. */
enum { NUM_KINDS = 3 };
static void mark(hid_t *ids)
{
  ids[0] = H5Screate(H5S_SCALAR);
  ids[1] = H5Tcopy(H5T_C_S1);
  ids[2] = H5Pcreate(H5P_FILE_ACCESS);
  H5Sclose(ids[0]);
  H5Tclose(ids[1]);
  H5Pclose(ids[2]);
}

/* Whether all objects that were opened since the mark are closed. */
static int all_closed(const hid_t *ids)
{
  hid_t now[NUM_KINDS];
  mark(now);
  for (int k = 0; k < NUM_KINDS; k++)
    for (hid_t id = ids[k]; id < now[k]; id++)
      if (H5Iis_valid(id) > 0) return 0;
  return H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL) == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  fuzz_start_clock();
  static const char signature[] = "\x89HDF\r\n\x1a\n", name[] = "a.h5";
  char *text = fuzz_text(data, size);
  fuzz_enter();
  if (size >= 8 && memcmp(data, signature, 8) == 0) {
    fuzz_write(name, data, size);
  } else {
    H5E_BEGIN_TRY
    {
      write_file(name, text);
    }
    H5E_END_TRY
  }
  hid_t before[NUM_KINDS];
  mark(before);
  fuzz_result(name, size);
  FUZZ_REQUIRE(all_closed(before));
  fuzz_leave();
  free(text);
  return 0;
}
