/* Which channel of a record goes to which dataset of an HDF5 result.
 *
 * Vectors (components x, y, z or w, x, y, z) of objects are columns of /GROUP/QUANTITY [rows x
 * objects x components], whose objects are those of the group that have any vector.  Other numbers
 * of objects, and those with names of their own, are columns of /LIST/value [rows x n].  Quantities
 * of the whole are datasets of their own, /energy/kinetic.  So the layout depends on what kinds of
 * quantities there are, and not on which objects have them.
 */
#include "io/result/hdf5.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Numbers of a chunk, about: 128 KB. */
enum { CHUNK_SIZE = 1 << 14 };

/* Groups of channels, and where those of their numbers go that are not vectors. */
static const struct {
  const char *group, *list;
} groups[] = {
    {"bodies", NULL},           {"markers", NULL},           {"joints", "coordinates"},
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

/* Whether channel `index` is BASE.NAME of the same object as another one, BASE being the first
 * `length` characters of their quantities. */
static int is_component(const pol_record *record, int index, const pol_channel *other,
                        size_t length, const char *name)
{
  if (index >= pol_record_count(record)) return 0;
  const pol_channel *channel = pol_record_channel(record, index);
  return strncmp(channel->quantity, other->quantity, length) == 0 &&
         channel->quantity[length] == '.' && strcmp(channel->quantity + length + 1, name) == 0 &&
         strcmp(channel->owner, other->owner) == 0 && strcmp(channel->group, other->group) == 0;
}

/* How many components the vector has that begins with this channel; 1 if it is none. */
static size_t vector_size(const pol_record *record, int first)
{
  static const char *const parts[] = {"w", "x", "y", "z"};
  const pol_channel *channel = pol_record_channel(record, first);
  const size_t length = strcspn(channel->quantity, ".");
  for (int skip = 0; skip < 2; skip++) {
    int size = 0;
    while (size < 4 - skip &&
           is_component(record, first + size, channel, length, parts[skip + size]))
      size++;
    if (size == 4 - skip) return (size_t)size;
  }
  return 1;
}

/* The dataset of a quantity, a new one at its first channel; NULL if there are too many. */
static poli_h5_set *find_set(poli_h5_layout *layout, const pol_record *record, int channel,
                             size_t components)
{
  const pol_channel *c = pol_record_channel(record, channel);
  const int is_vector = components > 1 && c->owner[0] != '\0';
  const char *list = components > 1 ? NULL : list_of(c);
  poli_h5_set set = {.kind = list        ? POLI_H5_LIST
                             : is_vector ? POLI_H5_VECTOR
                                         : POLI_H5_TOTAL,
                     .components = components,
                     .channel = channel};
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
  layout->sets[layout->count] = set;
  return &layout->sets[layout->count++];
}

/* The group of a channel, a new one at its first object; NULL if there are too many. */
static poli_h5_group *find_group(poli_h5_layout *layout, const char *name)
{
  for (int g = 0; g < layout->num_groups; g++)
    if (strcmp(layout->groups[g].name, name) == 0) return &layout->groups[g];
  if (layout->num_groups == POLI_H5_MAX_GROUPS) return NULL;
  layout->groups[layout->num_groups] = (poli_h5_group){name, 0};
  return &layout->groups[layout->num_groups++];
}

/* Gives each channel its dataset (in channel_of for now) and its column there (in order). */
static pol_status assign(poli_h5_layout *layout, const pol_record *record)
{
  const char *owner = NULL; /* the last object with a vector; its channels follow each other */
  poli_h5_group *group = NULL;
  for (int i = 0; i < pol_record_count(record);) {
    const size_t components = vector_size(record, i);
    const pol_channel *channel = pol_record_channel(record, i);
    poli_h5_set *set = find_set(layout, record, i, components);
    if (set == NULL || set->components != components) return POL_BAD_ARGUMENT;
    size_t column = 0;
    if (set->kind == POLI_H5_LIST) {
      column = set->objects++;
    } else if (set->kind == POLI_H5_VECTOR) {
      if (group == NULL || strcmp(group->name, channel->group) != 0) owner = NULL;
      if (owner == NULL && (group = find_group(layout, channel->group)) == NULL)
        return POL_BAD_ARGUMENT;
      if (owner == NULL || strcmp(owner, channel->owner) != 0) group->count++;
      owner = channel->owner;
      column = (group->count - 1) * components;
    }
    for (size_t k = 0; k < components; k++, i++) {
      layout->channel_of[i] = (int)(set - layout->sets);
      layout->order[i] = (int)(column + k);
    }
  }
  return POL_OK;
}

/* Sizes of the datasets and of their chunks. */
static void measure(poli_h5_layout *layout, size_t rows)
{
  for (int s = 0; s < layout->count; s++) {
    poli_h5_set *set = &layout->sets[s];
    if (set->kind == POLI_H5_TOTAL) set->objects = 1;
    for (int g = 0; g < layout->num_groups && set->kind == POLI_H5_VECTOR; g++) {
      const size_t length = strlen(layout->groups[g].name);
      if (strncmp(set->path + 1, layout->groups[g].name, length) == 0 &&
          set->path[length + 1] == '/')
        set->objects = layout->groups[g].count;
    }
    set->first = layout->columns;
    layout->columns += set->objects * set->components;
    /* as many chunks as needed, all of about the same size */
    const size_t most = CHUNK_SIZE / (rows * set->components) + 1;
    const size_t chunks = (set->objects + most - 1) / most;
    set->chunk = (set->objects + chunks - 1) / chunks;
  }
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
  measure(layout, rows);

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
