/* One block of memory for many arrays; see arena.h. */
#include "base/arena.h"

#include <stdint.h>
#include <stdlib.h>

static const size_t alignment = sizeof(double); /* a power of 2, enough for all element types */
static const size_t too_large = SIZE_MAX / 2;   /* no allocation has this size */

void *poli_arena_next(poli_arena *arena, size_t count, size_t size)
{
  unsigned char *next = arena->memory ? (unsigned char *)arena->memory + arena->used : NULL;
  if (arena->used >= too_large || count >= (too_large - arena->used) / size)
    arena->used = too_large;
  else
    arena->used += (count * size + alignment - 1) / alignment * alignment;
  return next;
}

void poli_arena_take_each(poli_arena *arena, size_t count, double **const *arrays)
{
  for (; *arrays; arrays++) POLI_TAKE(arena, **arrays, count);
}

int poli_arena_again(poli_arena *arena)
{
  if (arena->memory) return 0;
  arena->memory = calloc(arena->used + 1, 1);
  arena->used = 0;
  return arena->memory != NULL;
}
