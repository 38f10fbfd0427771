/* One block of memory for all arrays of an object.  They are listed once, and the list runs twice:
 * to count, then to hand out.
 *
 *     poli_arena arena = {0};
 *     do {
 *       POLI_TAKE(&arena, s->q, nq);
 *       POLI_TAKE(&arena, s->v, nv);
 *     } while (poli_arena_again(&arena));
 *     s->memory = arena.memory;
 *
 * All bytes are zero.  Every array is aligned for double, int64_t and pointers; arrays of doubles
 * that are taken one after the other are contiguous.  Without memory, arena.memory and all arrays
 * are NULL.  The caller frees arena.memory, which frees all arrays. */
#ifndef POLHODE_BASE_ARENA_H
#define POLHODE_BASE_ARENA_H

#include <stddef.h>

typedef struct poli_arena {
  void *memory;
  size_t used; /* bytes: counted, then handed out */
} poli_arena;

/* Sets pointer to the next array, of `count` elements; to NULL as long as nothing is allocated. */
#define POLI_TAKE(arena, pointer, count)                                                           \
  ((pointer) = poli_arena_next((arena), (size_t)(count), sizeof *(pointer)))

/* The same for several arrays of `count` doubles: POLI_TAKE_EACH(&arena, nv, &s->v, &s->vd). */
#define POLI_TAKE_EACH(arena, count, ...)                                                          \
  poli_arena_take_each((arena), (size_t)(count), (double **const[]){__VA_ARGS__, NULL})

void poli_arena_take_each(poli_arena *arena, size_t count, double **const *arrays);
void *poli_arena_next(poli_arena *arena, size_t count, size_t size);

/* Allocates what was counted and returns 1; 0 after the second pass, and without memory. */
int poli_arena_again(poli_arena *arena);

#endif
