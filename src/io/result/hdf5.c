/* What writing and reading of HDF5 results share: small calls of the library, which channel of a
 * record goes to which dataset, and the packing of chunks.
 *
 * Vectors (components x, y, z or w, x, y, z) of objects are columns of /GROUP/QUANTITY [rows x
 * objects x components], whose objects are those of the group that have any vector.  Other numbers
 * of objects, and those with names of their own, are columns of /LIST/value [rows x n].  Quantities
 * of the whole are datasets of their own, /energy/kinetic.  So the layout depends on what kinds of
 * quantities there are, and not on which objects have them.
 *
 * Chunks are packed into the same bytes that any HDF5 library unpacks with its filters shuffle and
 * deflate, but faster.  Shuffle puts byte 0 of all numbers first, then byte 1, and so on (HDF5 file
 * format, filter 2).  Of simulated motion the bytes with sign and exponent repeat themselves; those
 * at the end of the mantissa look random, and trying to compress them takes most of the time and
 * gains little.  So a sample of each of the eight parts decides: where most bytes are those of the
 * row before (or, in a chunk of one row, of the object before), matches are long, found fast and
 * worth it, and the part is compressed; else it is copied as stored blocks of the same stream
 * (zlib, RFC 1950), which costs next to nothing.
 */
#include "io/result/hdf5.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/arena.h"

/* --- the library ------------------------------------------------------------------------------ */

static pthread_mutex_t library = PTHREAD_MUTEX_INITIALIZER;
static H5E_auto2_t print_errors; /* what the program that uses the library has set */
static void *print_target;
static int is_silenced;

void poli_h5_lock(void)
{
  pthread_mutex_lock(&library);
  is_silenced = H5Eget_auto2(H5E_DEFAULT, &print_errors, &print_target) >= 0;
  if (is_silenced) H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

void poli_h5_unlock(void)
{
  if (is_silenced) H5Eset_auto2(H5E_DEFAULT, print_errors, print_target);
  pthread_mutex_unlock(&library);
}

void poli_h5_close(size_t count, const hid_t *ids)
{
  for (size_t i = 0; i < count; i++) H5Idec_ref(ids[i]);
}

hid_t poli_h5_text_type(size_t size)
{
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, size);
  H5Tset_strpad(type, H5T_STR_NULLPAD);
  H5Tset_cset(type, H5T_CSET_UTF8);
  return type;
}

int poli_h5_write(hid_t set, hid_t type, const void *values)
{
  return H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0;
}

hid_t poli_h5_event_type(size_t name_size, hid_t number, hid_t integer)
{
  const hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(poli_h5_event) + name_size);
  const hid_t action = poli_h5_text_type(sizeof((poli_h5_event *)0)->action);
  const hid_t name = poli_h5_text_type(name_size);
  H5Tset_strpad(action, H5T_STR_NULLTERM);
  H5Tset_strpad(name, H5T_STR_NULLTERM);
  H5Tinsert(type, "t", offsetof(poli_h5_event, t), number);
  H5Tinsert(type, "row", offsetof(poli_h5_event, row), integer);
  H5Tinsert(type, "action", offsetof(poli_h5_event, action), action);
  H5Tinsert(type, "name", sizeof(poli_h5_event), name);
  POLI_H5_CLOSE(name, action);
  return type;
}

/* --- layout ----------------------------------------------------------------------------------- */

/* Numbers of a chunk, about: 128 KB. */
enum { CHUNK_SIZE = 1 << 14 };

/* Groups of channels, and where those of their numbers go that are not vectors. */
static const struct {
  const char *group, *list;
} groups[] = {
    {"bodies", "modes"},        {"markers", NULL},           {"joints", "coordinates"},
    {"joints", "multipliers"},  {"forces", "joint_springs"}, {"drives", "drives"},
    {"couplings", "couplings"}, {"states", "states"},        {"variables", "variables"},
    {"invariant", "invariant"}, {"increment", "increment"},  {"energy", NULL},
    {"momentum", NULL},         {"residual", NULL},
};
enum { NUM_GROUPS = sizeof groups / sizeof groups[0] };

const char *poli_h5_channel_group(const char *group, size_t length)
{
  for (int i = 0; i < NUM_GROUPS; i++) {
    const char *name = groups[i].list != NULL ? groups[i].list : groups[i].group;
    if ((strlen(name) == length && strncmp(name, group, length) == 0) ||
        (strlen(groups[i].group) == length && strncmp(groups[i].group, group, length) == 0))
      return groups[i].group;
  }
  return "";
}

static const char *list_of(const pol_channel *channel)
{
  if (strncmp(channel->quantity, "multiplier.", 11) == 0 && channel->owner[0] != '\0')
    return "multipliers";
  for (int i = 0; i < NUM_GROUPS; i++)
    if (groups[i].list != NULL && strcmp(groups[i].group, channel->group) == 0)
      return groups[i].list;
  return NULL;
}

/* How many components the vector has that begins with this channel; 1 if it is none.  Their names
 * differ in the last letter only. */
static size_t vector_size(const pol_record *record, int first)
{
  const char *name = pol_record_channel(record, first)->name;
  const size_t length = strlen(name);
  if (length < 3 || name[length - 2] != '.') return 1;
  const char *parts = name[length - 1] == 'w' ? "wxyz" : "xyz";
  int size = 0;
  for (; parts[size] != '\0'; size++) {
    if (first + size == pol_record_count(record)) return 1;
    const char *next = pol_record_channel(record, first + size)->name;
    if (strncmp(next, name, length - 1) != 0 || next[length - 1] != parts[size] ||
        next[length] != '\0')
      return 1;
  }
  return (size_t)size;
}

/* The dataset of a quantity, a new one at its first channel; NULL if there are too many. */
static poli_h5_set *find_set(poli_h5_layout *layout, const pol_record *record, int channel,
                             size_t components)
{
  const pol_channel *c = pol_record_channel(record, channel);
  const char *list = components > 1 ? NULL : list_of(c);
  poli_h5_set set = {.components = components, .channel = channel, .kind = POLI_H5_TOTAL};
  if (list != NULL)
    set.kind = POLI_H5_LIST;
  else if (components > 1 && c->owner[0] != '\0')
    set.kind = POLI_H5_VECTOR;
  if (list != NULL)
    snprintf(set.path, sizeof set.path, "/%s/value", list);
  else if (strcmp(c->name, "t") == 0)
    snprintf(set.path, sizeof set.path, "/time");
  else
    snprintf(set.path, sizeof set.path, "%s%s/%.*s", c->group[0] != '\0' ? "/" : "", c->group,
             (int)strcspn(c->quantity, "."), c->quantity);
  for (int s = 0; s < layout->count; s++)
    if (strcmp(layout->sets[s].path, set.path) == 0) return &layout->sets[s];
  if (layout->count == POLI_H5_MAX_SETS) return NULL;
  set.folder = (int)(strrchr(set.path, '/') - set.path);
  layout->sets[layout->count] = set;
  return &layout->sets[layout->count++];
}

/* Gives each channel its dataset, kept in channel_of until that is filled, and its column there, in
 * order. */
static pol_status assign(poli_h5_layout *layout, const pol_record *record)
{
  /* the group, and the object in it, that the last vector belongs to; objects of a group, and
   * channels of an object, follow each other */
  const char *group = "", *owner = "";
  size_t object = 0;
  for (int i = 0; i < pol_record_count(record);) {
    const pol_channel *channel = pol_record_channel(record, i);
    const int is_named = channel->owner[0] == '\0' && list_of(channel) != NULL;
    const size_t components = is_named ? 1 : vector_size(record, i);
    poli_h5_set *set = find_set(layout, record, i, components);
    if (set == NULL || set->components != components) return POL_BAD_ARGUMENT;
    size_t column = 0;
    if (set->kind == POLI_H5_TOTAL) {
      set->objects = 1;
    } else if (set->kind == POLI_H5_LIST) {
      column = set->objects++;
    } else {
      if (strcmp(group, channel->group) != 0)
        object = 0;
      else if (strcmp(owner, channel->owner) != 0)
        object++;
      group = channel->group;
      owner = channel->owner;
      set->objects = object + 1;
      column = object * components;
    }
    for (size_t k = 0; k < components; k++, i++) {
      layout->channel_of[i] = (int)(set - layout->sets);
      layout->order[i] = (int)(column + k);
    }
  }
  return POL_OK;
}

int poli_h5_same_folder(const poli_h5_set *a, const poli_h5_set *b)
{
  return a->folder == b->folder && strncmp(a->path, b->path, (size_t)a->folder) == 0;
}

pol_status poli_h5_layout_create(poli_h5_layout *layout, const pol_record *record, size_t rows)
{
  const size_t count = (size_t)pol_record_count(record);
  *layout = (poli_h5_layout){0};
  layout->order = calloc(count, sizeof *layout->order);
  layout->channel_of = calloc(count, sizeof *layout->channel_of);
  if (layout->order == NULL || layout->channel_of == NULL) return POL_NO_MEMORY;
  const pol_status status = assign(layout, record);
  if (status != POL_OK) return status;

  /* sizes of the datasets, those of a group alike, and of their chunks: as many as needed, all of
   * about the same size */
  for (poli_h5_set *set = layout->sets; set < layout->sets + layout->count; set++) {
    for (int k = 0; k < layout->count && set->kind == POLI_H5_VECTOR; k++) {
      const poli_h5_set *other = &layout->sets[k];
      if (poli_h5_same_folder(set, other) && other->objects > set->objects)
        set->objects = other->objects;
    }
    set->first = layout->columns;
    layout->columns += set->objects * set->components;
    const size_t most = CHUNK_SIZE / (rows * set->components) + 1;
    const size_t chunks = (set->objects + most - 1) / most;
    set->chunk = (set->objects + chunks - 1) / chunks;
  }

  for (size_t i = 0; i < count; i++)
    layout->order[i] += (int)layout->sets[layout->channel_of[i]].first;
  int *channel_of = realloc(layout->channel_of, layout->columns * sizeof *channel_of);
  if (channel_of == NULL) return POL_NO_MEMORY;
  layout->channel_of = channel_of;
  for (size_t k = 0; k < layout->columns; k++) channel_of[k] = -1;
  for (size_t i = 0; i < count; i++) channel_of[layout->order[i]] = (int)i;
  return POL_OK;
}

void poli_h5_layout_free(poli_h5_layout *layout)
{
  free(layout->order);
  free(layout->channel_of);
  *layout = (poli_h5_layout){0};
}

/* --- chunks ----------------------------------------------------------------------------------- */

enum { BYTES = 8, SAMPLE = 512, LEVEL = 1 };

struct poli_h5_packer {
  z_stream stream;
  unsigned char *parts; /* shuffled bytes */
  unsigned char *out;
  size_t capacity; /* of out */
  void *memory;    /* of both */
};

pol_status poli_h5_packer_create(poli_h5_packer **packer, size_t elements)
{
  poli_arena arena = {0};
  poli_h5_packer *p = *packer = calloc(1, sizeof *p);
  if (p == NULL) return POL_NO_MEMORY;
  if (deflateInit(&p->stream, LEVEL) == Z_OK) {
    /* room for the ends of blocks where the way of packing changes, beside what zlib asks for */
    p->capacity = deflateBound(&p->stream, (uLong)(elements * BYTES)) + 64 * BYTES;
    do {
      POLI_TAKE(&arena, p->parts, elements * BYTES);
      POLI_TAKE(&arena, p->out, p->capacity);
    } while (poli_arena_again(&arena));
    p->memory = arena.memory;
  }
  if (p->memory == NULL) poli_h5_packer_free(packer);
  return *packer != NULL ? POL_OK : POL_NO_MEMORY;
}

void poli_h5_packer_free(poli_h5_packer **packer)
{
  if (*packer == NULL) return;
  deflateEnd(&(*packer)->stream);
  free((*packer)->memory);
  free(*packer);
  *packer = NULL;
}

const void *poli_h5_pack(poli_h5_packer *packer, const double *numbers, size_t count, size_t stride,
                         size_t *size)
{
  z_stream *z = &packer->stream;
  const unsigned char *from = (const unsigned char *)numbers;
  for (size_t i = 0; i < count; i++, from += BYTES)
    for (size_t b = 0; b < BYTES; b++) packer->parts[b * count + i] = from[b];
  if (deflateReset(z) != Z_OK) return NULL;
  z->next_out = packer->out;
  z->avail_out = (uInt)packer->capacity;
  for (size_t b = 0; b < BYTES; b++) {
    unsigned char *part = packer->parts + b * count;
    /* worth it if nearly two of three bytes of a sample are those `stride` before them, as of a
     * vector with two components that do not change */
    const size_t step = count > SAMPLE ? count / SAMPLE : 1;
    size_t sample = 0, same = 0;
    for (size_t i = stride; i < count; i += step, sample++) same += part[i] == part[i - stride];
    z->next_in = part;
    z->avail_in = 0;
    if (deflateParams(z, 20 * same > 13 * sample ? LEVEL : 0, Z_DEFAULT_STRATEGY) != Z_OK)
      return NULL;
    z->avail_in = (uInt)count;
    const int result = deflate(z, b + 1 < BYTES ? Z_NO_FLUSH : Z_FINISH);
    if (result != (b + 1 < BYTES ? Z_OK : Z_STREAM_END)) return NULL;
  }
  *size = packer->capacity - z->avail_out;
  return packer->out;
}
