/* A text as a list of lines, for mutators of inputs with several lines. */
#ifndef POLHODE_FUZZ_MUTATE_LINES_H
#define POLHODE_FUZZ_MUTATE_LINES_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);

enum { MOST_LINES = 64 };
typedef struct lines {
  int count;
  char *items[MOST_LINES];
} lines;

static unsigned lines_random;

/* A number from 0 to below - 1. */
static inline unsigned lines_pick(unsigned below)
{
  lines_random = lines_random * 1664525u + 1013904223u;
  return below > 0 ? (lines_random >> 8) % below : 0;
}

/* The lines of a text; 0 if it is one for changes of bytes. */
static inline int lines_begin(lines *all, const uint8_t *data, size_t size, unsigned seed)
{
  all->count = 0;
  lines_random = seed;
  if (lines_pick(4) == 0) return 0;
  for (size_t at = 0; at < size && all->count < MOST_LINES; at++) {
    const size_t start = at;
    while (at < size && data[at] != '\n') at++;
    char *line = malloc(at - start + 1);
    memcpy(line, data + start, at - start);
    line[at - start] = '\0';
    all->items[all->count++] = line;
  }
  return 1;
}

/* Writes as many lines as there is room for. */
static inline size_t lines_end(lines *all, uint8_t *data, size_t most)
{
  size_t size = 0;
  for (int i = 0; i < all->count; i++) {
    const size_t length = strlen(all->items[i]);
    if (size + length + 1 <= most) {
      memcpy(data + size, all->items[i], length);
      size += length;
      data[size++] = '\n';
    }
    free(all->items[i]);
  }
  return size;
}

static inline void lines_set(lines *all, int index, const char *line)
{
  char *copy = strdup(line);
  free(all->items[index]);
  all->items[index] = copy;
}

/* Puts a new line somewhere, behind another or in its place; or removes one, repeats one, or lets
 * two change places. */
static inline void lines_change(lines *all, const char *line)
{
  const int at = (int)lines_pick((unsigned)all->count);
  const int other = (int)lines_pick((unsigned)all->count);
  const unsigned what = all->count > 0 ? lines_pick(8) : 0;
  if (what < 3 || what == 7) {
    if (all->count == MOST_LINES) return;
    const int place = all->count > 0 ? at + 1 : 0;
    char *copy = strdup(what == 7 ? all->items[other] : line);
    memmove(all->items + place + 1, all->items + place,
            (size_t)(all->count - place) * sizeof all->items[0]);
    all->items[place] = copy;
    all->count++;
  } else if (what < 5) {
    lines_set(all, at, line);
  } else if (what == 5) {
    free(all->items[at]);
    all->count--;
    memmove(all->items + at, all->items + at + 1, (size_t)(all->count - at) * sizeof all->items[0]);
  } else {
    char *line_at = all->items[at];
    all->items[at] = all->items[other];
    all->items[other] = line_at;
  }
}

#endif
