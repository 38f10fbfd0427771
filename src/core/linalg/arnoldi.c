/* Large eigenvalue problems by ARPACK; see arnoldi.h. */
#include "linalg/arnoldi.h"

#include <arpack.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

/* ARPACK keeps its state between calls in variables of its own. */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

typedef struct arnoldi {
  const char *which;
  int n, count, basis, room; /* basis: number of Arnoldi vectors; room: numbers of work */
  void *memory;
  double *v, *ends, *work, *split, *re, *im, *vectors;
  int *select;
  int iparam[11], ipntr[14];
} arnoldi;

static pol_status iterate(arnoldi *a, const poli_operator *operator, double * start)
{
  int ido = 0, info = 1; /* 1: start is given */
  pol_status status = POL_OK;
  a->iparam[0] = 1; /* exact shifts */
  a->iparam[2] = operator->restarts> 0 ? operator->restarts : 1000;
  a->iparam[3] = 1;
  a->iparam[6] = 1; /* a standard problem */
  for (;;) {
    dnaupd_c(&ido, "I", a->n, a->which, a->count, operator->tolerance, start, a->basis, a->v, a->n,
             a->iparam, a->ipntr, a->ends, a->work, a->room, &info);
    if (ido != -1 && ido != 1) break;
    status = operator->apply(a->ends + a->ipntr[0] - 1, a->ends + a->ipntr[1] - 1, operator->user);
    if (status) return status;
  }
  if (info < 0 || (info > 0 && (operator->restarts == 0 || a->iparam[4] == 0)))
    return operator->restarts> 0 && info> 0 ? POL_OK : POL_NOT_CONVERGED;
  dneupd_c(1, "A", a->select, a->re, a->im, a->vectors, a->n, 0.0, 0.0, a->split, "I", a->n,
           a->which, a->count, operator->tolerance, start, a->basis, a->v, a->n, a->iparam,
           a->ipntr, a->ends, a->work, a->room, &info);
  return info == 0 ? POL_OK : POL_NOT_CONVERGED;
}

pol_status poli_arnoldi(const poli_operator *operator, const char * which, int count, double *start,
                        double *re, double *im, double *vectors, int *found)
{
  arnoldi a = {.n = operator->n, .count = count, .which = which};
  a.basis = 2 * count + 20 < a.n ? 2 * count + 20 : a.n;
  a.room = 3 * a.basis * a.basis + 6 * a.basis;
  *found = 0;
  const size_t n = (size_t)a.n;
  poli_arena arena = {0};
  do {
    POLI_TAKE(&arena, a.v, n * (size_t)a.basis);
    POLI_TAKE(&arena, a.ends, 3 * n);
    POLI_TAKE(&arena, a.work, a.room);
    POLI_TAKE(&arena, a.split, 3 * a.basis);
    POLI_TAKE(&arena, a.re, count + 1);
    POLI_TAKE(&arena, a.im, count + 1);
    POLI_TAKE(&arena, a.vectors, n * (size_t)(count + 1));
    POLI_TAKE(&arena, a.select, a.basis);
  } while (poli_arena_again(&arena));
  a.memory = arena.memory;
  if (!a.memory) return POL_NO_MEMORY;
  pthread_mutex_lock(&turn);
  const pol_status status = iterate(&a, operator, start);
  pthread_mutex_unlock(&turn);

  /* those that have converged, and the second of a pair at the end */
  int have = a.iparam[4] < count ? a.iparam[4] : count;
  if (!status && have == count && a.im[count - 1] > 0.0 && a.im[count] < 0.0) have = count + 1;
  for (int k = 0; k < have && !status; k++) {
    re[k] = a.re[k];
    im[k] = a.im[k];
    memcpy(vectors + (size_t)k * n, a.vectors + (size_t)k * n, n * sizeof *vectors);
  }
  if (!status) *found = have;
  free(a.memory);
  return status;
}

pol_status poli_lanczos(const poli_operator *operator, int count, double *start, double *values,
                        double *vectors)
{
  const int n = operator->n, basis = 2 * count + 20 < n ? 2 * count + 20 : n;
  const int room = basis * (basis + 8);
  int ido = 0, info = 1, iparam[11] = {0}, ipntr[14] = {0}, *select;
  double *v, *ends, *work;
  pol_status status = POL_OK;
  poli_arena arena = {0};
  do {
    POLI_TAKE(&arena, v, (size_t)n * (size_t)basis);
    POLI_TAKE(&arena, ends, 3 * (size_t)n);
    POLI_TAKE(&arena, work, room);
    POLI_TAKE(&arena, select, basis);
  } while (poli_arena_again(&arena));
  if (!arena.memory) return POL_NO_MEMORY;
  iparam[0] = 1; /* exact shifts */
  iparam[2] = operator->restarts> 0 ? operator->restarts : 1000;
  iparam[3] = 1;
  iparam[6] = 1; /* a standard problem */
  pthread_mutex_lock(&turn);
  for (;;) {
    dsaupd_c(&ido, "I", n, "LM", count, operator->tolerance, start, basis, v, n, iparam, ipntr,
             ends, work, room, &info);
    if (ido != -1 && ido != 1) break;
    status = operator->apply(ends + ipntr[0] - 1, ends + ipntr[1] - 1, operator->user);
    if (status) break;
  }
  if (!status && info == 0)
    dseupd_c(1, "A", select, values, vectors, n, 0.0, "I", n, "LM", count, operator->tolerance,
             start, basis, v, n, iparam, ipntr, ends, work, room, &info);
  pthread_mutex_unlock(&turn);
  free(arena.memory);
  if (status) return status;
  return info == 0 && iparam[4] >= count ? POL_OK : POL_NOT_CONVERGED;
}
