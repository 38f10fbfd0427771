/* Distances come from an up-looking L D L^T of S: row k of L solves L(0..k-1) y = S(0..k-1, k),
 * l = y/D, and the pivot is D_k = 1 - y . l, the squared distance of vector k from those before it.
 * Its pattern, by rows and by columns, follows from the elimination tree (Liu 1990; Davis 2006,
 * chapter 4).  A vector that is left out has zeros in L and D = 0.
 *
 * Choices need more digits than S has.  They come from the QR decomposition of the vectors
 * themselves, by Givens rotations that add one coordinate after the other (George, Heath 1980); R
 * has the pattern of L^T, and R_kk is the distance.  Where R_kk is only round-off, vector k depends
 * on those before: its column is deleted, and its row of R is added again to those behind it (Heath
 * 1982).  The same is done with vectors that are close to the others; their parts perpendicular to
 * all that are kept go along with the rotations as further columns, and of these the farthest are
 * taken at last, as linalg/rank.c does.
 */
#include "linalg/gram.h"

#include <amd.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/monitor.h"

/* A distance far above round-off, and below what data with ten digits leave. */
static const double independent_from = 1e-10;
/* Distances that differ by less, relatively, are equal. */
static const double as_far = 1e-3;
/* Entries of a row that add nothing to those behind. */
static const double nothing_left = 1e-15;
/* Squared distance that is round-off in S. */
static const double round_off = 1e-15;
/* Numbers for vectors that are close to others; when there is no more room, these are taken. */
enum { MAX_CLOSE = 8000000 };

struct poli_gram {
  int n, num_components;
  int *order, *place; /* the row in each place of the elimination, and back */
  int *first;         /* a component: its first place */
  int *start, *col;   /* a place: its entries of S in earlier places */
  double *values;
  int *row_start, *row_col, *row_at; /* a place: its columns of L, ascending; where they are */
  int *col_start, *col_row;          /* a place: the rows of its column of L, ascending */
  double *L, *D;
  double *Z, *Z_diagonal; /* of S^-1, in the pattern of L */
  double *R, *R_diagonal; /* the rows of R are the columns of L */
  int *at;                /* a place: where a column has it */
  double *diagonal;       /* a row: 1, or 0 for a vector of zeros */
  double *pivot;          /* a place: squared distance from those before */
  double *x;              /* a row; zeros between calls */
  unsigned char *deleted; /* a place */
};

/* --- analysis --------------------------------------------------------------------------------- */

void poli_gram_free(poli_gram **gram)
{
  poli_gram *g = *gram;
  if (!g) return;
  void *const parts[] = {g->order,   g->place,     g->first,      g->start,  g->col,
                         g->values,  g->row_start, g->row_col,    g->row_at, g->col_start,
                         g->col_row, g->L,         g->D,          g->pivot,  g->diagonal,
                         g->x,       g->R,         g->R_diagonal, g->Z,      g->Z_diagonal,
                         g->at,      g->deleted};
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) free(parts[i]);
  free(g);
  *gram = NULL;
}

/* The order of elimination: component after component, within it those that come early and then
 * the others as AMD orders them without these, for which the rows are numbered backwards, since of
 * rows that are alike it takes the last one first. */
static pol_status find_order(poli_gram *g, const int *start, const int *neighbour,
                             const unsigned char *early)
{
  const int n = g->n;
  int *back_start = malloc(((size_t)n + 1) * sizeof *back_start);
  int *back = malloc(((size_t)start[n] + 1) * sizeof *back), *by_amd = malloc((size_t)n * sizeof n);
  int *component = malloc((size_t)n * sizeof *component),
      *stack = malloc((size_t)n * sizeof *stack);
  pol_status status = back_start && back && by_amd && component && stack ? POL_OK : POL_NO_MEMORY;
  if (!status) {
    back_start[0] = 0;
    for (int i = 0; i < n; i++) {
      const int from = n - 1 - i;
      int *to = back + back_start[i];
      for (int k = start[from]; k < start[from + 1] && !early[from]; k++)
        if (!early[neighbour[k]]) *to++ = n - 1 - neighbour[k];
      back_start[i + 1] = (int)(to - back);
    }
    if (amd_order(n, back_start, back, by_amd, NULL, NULL) < 0) status = POL_NO_MEMORY;
  }
  if (!status) {
    /* components, by a walk over the neighbours */
    for (int i = 0; i < n; i++) component[i] = -1;
    for (int i = 0; i < n; i++) {
      int depth = 0;
      if (component[i] >= 0) continue;
      component[i] = g->num_components;
      stack[depth++] = i;
      while (depth > 0) {
        const int at = stack[--depth];
        for (int k = start[at]; k < start[at + 1]; k++) {
          if (component[neighbour[k]] >= 0) continue;
          component[neighbour[k]] = g->num_components;
          stack[depth++] = neighbour[k];
        }
      }
      g->num_components++;
    }
    g->first = calloc((size_t)g->num_components + 2, sizeof *g->first);
    if (!g->first) status = POL_NO_MEMORY;
  }
  if (!status) {
    for (int i = 0; i < n; i++) g->first[component[i] + 2]++;
    for (int c = 0; c < g->num_components; c++) g->first[c + 2] += g->first[c + 1];
    for (int k = 0; k < 2 * n; k++) {
      const int row = k < n ? k : n - 1 - by_amd[k - n];
      if (early[row] != (k < n)) continue;
      const int at = g->first[component[row] + 1]++;
      g->order[at] = row;
      g->place[row] = at;
    }
  }
  free(back_start);
  free(back);
  free(by_amd);
  free(component);
  free(stack);
  return status;
}

/* Visits the pattern of row k of L: from each entry of S up the elimination tree, to what this row
 * has seen.  parent is extended on the way; seen[j] = k marks.  Counts the
 * rows of each column, or fills them in. */
static void walk_row(const poli_gram *g, int k, int *parent, int *seen, int *count, int *fill)
{
  seen[k] = k;
  for (int e = g->start[k]; e < g->start[k + 1]; e++)
    for (int j = g->col[e]; seen[j] != k; j = parent[j]) {
      seen[j] = k;
      if (parent[j] < 0) parent[j] = k;
      if (fill)
        g->col_row[fill[j]++] = k;
      else
        count[j]++;
    }
}

/* The entries of S by places, and the pattern of L. */
static pol_status find_pattern(poli_gram *g, const int *start, const int *neighbour)
{
  const size_t n = (size_t)g->n;
  int entries = 0;
  g->col = malloc(((size_t)start[g->n] / 2 + 1) * sizeof *g->col);
  g->values = calloc((size_t)start[g->n] / 2 + 1, sizeof *g->values);
  int *parent = malloc(3 * (n + 1) * sizeof *parent);
  int *seen = parent + n + 1, *count = seen + n + 1;
  pol_status status = g->col && g->values && parent ? POL_OK : POL_NO_MEMORY;
  for (int k = 0; k < g->n && !status; k++) {
    const int row = g->order[k];
    g->start[k] = entries;
    for (int e = start[row]; e < start[row + 1]; e++)
      if (g->place[neighbour[e]] < k) g->col[entries++] = g->place[neighbour[e]];
    g->start[k + 1] = entries;
    parent[k] = seen[k] = -1;
    count[k] = 0;
  }
  for (int k = 0; k < g->n && !status; k++) walk_row(g, k, parent, seen, count, NULL);
  size_t total = 0;
  for (int k = 0; k < g->n && !status; k++) {
    if (total > INT_MAX / 2) status = POL_NO_MEMORY;
    g->col_start[k] = (int)total;
    total += (size_t)count[k];
    g->col_start[k + 1] = (int)total;
  }
  if (!status) {
    g->col_row = malloc((total + 1) * sizeof *g->col_row);
    g->row_col = malloc((total + 1) * sizeof *g->row_col);
    g->row_at = malloc((total + 1) * sizeof *g->row_at);
    g->L = malloc((total + 1) * sizeof *g->L);
    g->R = malloc((total + 1) * sizeof *g->R);
    g->Z = malloc((total + 1) * sizeof *g->Z);
    if (!g->col_row || !g->row_col || !g->row_at || !g->L || !g->R || !g->Z) status = POL_NO_MEMORY;
  }
  if (!status) {
    for (int k = 0; k < g->n; k++) {
      seen[k] = parent[k] = -1;
      count[k] = g->col_start[k];
    }
    for (int k = 0; k < g->n; k++) walk_row(g, k, parent, seen, NULL, count);

    /* by rows: the columns come in ascending order */
    memset(g->row_start, 0, (n + 1) * sizeof *g->row_start);
    for (size_t e = 0; e < total; e++) g->row_start[g->col_row[e] + 1]++;
    for (int k = 0; k < g->n; k++) {
      g->row_start[k + 1] += g->row_start[k];
      count[k] = g->row_start[k];
    }
    for (int j = 0; j < g->n; j++)
      for (int e = g->col_start[j]; e < g->col_start[j + 1]; e++) {
        const int at = count[g->col_row[e]]++;
        g->row_col[at] = j;
        g->row_at[at] = e;
      }
  }
  free(parent);
  return status;
}

pol_status poli_gram_create(poli_gram **gram, int n, const int *start, const int *neighbour,
                            const unsigned char *early)
{
  const size_t room = (size_t)n + 1;
  poli_gram *g = *gram = calloc(1, sizeof *g);
  if (!g) return POL_NO_MEMORY;
  g->n = n;
  g->order = malloc(room * sizeof *g->order);
  g->place = malloc(room * sizeof *g->place);
  g->start = calloc(room, sizeof *g->start);
  g->row_start = calloc(room, sizeof *g->row_start);
  g->col_start = calloc(room, sizeof *g->col_start);
  g->D = malloc(room * sizeof *g->D);
  g->pivot = malloc(room * sizeof *g->pivot);
  g->diagonal = malloc(room * sizeof *g->diagonal);
  g->x = calloc(room, sizeof *g->x);
  g->R_diagonal = calloc(room, sizeof *g->R_diagonal);
  g->Z_diagonal = calloc(room, sizeof *g->Z_diagonal);
  g->at = malloc(room * sizeof *g->at);
  g->deleted = calloc(room, 1);
  const int complete = g->order && g->place && g->start && g->row_start && g->col_start && g->D &&
                       g->pivot && g->diagonal && g->x && g->R_diagonal && g->Z_diagonal && g->at &&
                       g->deleted;
  pol_status status = complete ? POL_OK : POL_NO_MEMORY;
  for (int i = 0; i < n && !status; i++) g->diagonal[i] = 1.0;
  if (!status && n > 0) status = find_order(g, start, neighbour, early);
  if (!status && n > 0) status = find_pattern(g, start, neighbour);
  if (status) poli_gram_free(gram);
  return status;
}

int poli_gram_num_components(const poli_gram *gram)
{
  return gram->num_components;
}

const int *poli_gram_members(const poli_gram *gram, int component, int *count)
{
  *count = gram->first[component + 1] - gram->first[component];
  return gram->order + gram->first[component];
}

int poli_gram_num_entries(const poli_gram *gram)
{
  return gram->start[gram->n];
}

void poli_gram_entry(const poli_gram *gram, int entry, int *i, int *j)
{
  int low = 0, high = gram->n; /* start[low] <= entry < start[high] */
  while (high - low > 1) {
    const int middle = low + (high - low) / 2;
    *(gram->start[middle] <= entry ? &low : &high) = middle;
  }
  *i = gram->order[low];
  *j = gram->order[gram->col[entry]];
}

void poli_gram_entries_of(const poli_gram *gram, int component, int *first, int *end)
{
  *first = gram->start[gram->first[component]];
  *end = gram->start[gram->first[component + 1]];
}

double *poli_gram_values(poli_gram *gram)
{
  return gram->values;
}

double *poli_gram_diagonal(poli_gram *gram)
{
  return gram->diagonal;
}

size_t poli_gram_size(const poli_gram *gram)
{
  return (size_t)gram->col_start[gram->n];
}

double poli_gram_operations(const poli_gram *gram)
{
  double sum = 0.0;
  for (int k = 0; k < gram->n; k++) {
    const double length = gram->col_start[k + 1] - gram->col_start[k];
    sum += 0.5 * length * (length + 3.0);
  }
  return sum;
}

/* --- factorisation ---------------------------------------------------------------------------- */

/* Solves with the rows before k for what x has there, into row k of L; returns the pivot. */
static double solve_row(poli_gram *g, int k)
{
  double *restrict x = g->x, *restrict L = g->L, pivot = g->diagonal[g->order[k]];
  for (int e = g->start[k]; e < g->start[k + 1]; e++) x[g->col[e]] = g->values[e];
  for (int t = g->row_start[k]; t < g->row_start[k + 1]; t++) {
    const int j = g->row_col[t], at = g->row_at[t];
    const double y = x[j];
    x[j] = 0.0;
    L[at] = 0.0;
    if (y == 0.0 || g->D[j] == 0.0) continue;
    L[at] = y / g->D[j];
    pivot -= y * L[at];
    for (int e = g->col_start[j]; e < at; e++) x[g->col_row[e]] -= L[e] * y;
  }
  return pivot;
}

static void leave_out(poli_gram *g, int k)
{
  g->D[k] = 0.0;
  for (int t = g->row_start[k]; t < g->row_start[k + 1]; t++) g->L[g->row_at[t]] = 0.0;
}

/* Factors a component; rows that are dropped (NULL: none) or left with a pivot of at most a
 * threshold are left out, with D = 0. */
static void factor(poli_gram *g, int component, const unsigned char *dropped, double threshold)
{
  for (int k = g->first[component]; k < g->first[component + 1]; k++) {
    if (k % 1024 == 1023) poli_monitor_poll(-1.0); /* the next poll ends what is cancelled */
    g->pivot[k] = 0.0;
    if (dropped && dropped[g->order[k]]) {
      leave_out(g, k);
      continue;
    }
    g->D[k] = g->pivot[k] = solve_row(g, k);
    if (!(g->pivot[k] > threshold)) leave_out(g, k);
  }
}

/* Column j of Z = S^-1 from those behind it: Z_ij = -sum of Z_ik L_kj over the rows k of column j
 * of L, and Z_jj = 1/D_j - sum of L_kj Z_kj (Takahashi, Fagan, Chen 1973).  Only the entries in the
 * pattern of L are needed.  x is L_kj before, zero after. */
static void invert_column(poli_gram *g, int j)
{
  const int begin = g->col_start[j], end = g->col_start[j + 1];
  const int *restrict row = g->col_row;
  double *restrict l = g->x, *restrict z = g->Z;
  for (int e = begin; e < end; e++) {
    l[row[e]] = g->L[e];
    z[e] = 0.0;
    g->at[row[e]] = e;
  }
  for (int e = begin; e < end; e++) {
    const int k = row[e];
    double sum = g->Z_diagonal[k] * l[k];
    for (int f = g->col_start[k]; f < g->col_start[k + 1]; f++) {
      const int i = row[f];
      if (g->at[i] < begin || g->at[i] >= end) continue; /* not in column j */
      sum += z[f] * l[i];
      z[g->at[i]] -= z[f] * l[k];
    }
    z[e] -= sum;
  }
  double own = 1.0 / g->D[j];
  for (int e = begin; e < end; e++) {
    own -= g->L[e] * z[e];
    l[row[e]] = 0.0;
  }
  g->Z_diagonal[j] = own;
}

/* The squared distance of vector k from all others is 1/(S^-1)_kk. */
double poli_gram_measure(poli_gram *gram, int component, const unsigned char *dropped, int *which)
{
  poli_gram *g = gram;
  const int first = g->first[component], end = g->first[component + 1];
  double largest = 0.0;
  *which = -1;
  factor(g, component, dropped, round_off);
  for (int k = first; k < end; k++) {
    g->at[k] = -1;
    if (dropped[g->order[k]] || g->pivot[k] > round_off) continue;
    *which = g->order[k];
    return 0.0;
  }
  for (int k = end - 1; k >= first; k--) {
    if (g->D[k] == 0.0) {
      g->Z_diagonal[k] = 0.0;
      for (int e = g->col_start[k]; e < g->col_start[k + 1]; e++) g->Z[e] = 0.0;
      continue;
    }
    invert_column(g, k);
    if (!(g->Z_diagonal[k] > largest)) continue;
    largest = g->Z_diagonal[k];
    *which = g->order[k];
  }
  return largest > 1.0 ? 1.0 / sqrt(largest) : 1.0;
}

double poli_gram_distance(const poli_gram *gram, int vector)
{
  const double own = gram->Z_diagonal[gram->place[vector]];
  return own > 1.0 ? 1.0 / sqrt(own) : 1.0;
}

/* --- choice ----------------------------------------------------------------------------------- */

/* Vectors that are close to others: what is left of them, along each row of R and along the row
 * that is being added; and what no row of R contains. */
typedef struct close_ones {
  int num, room;
  int *place;     /* of each */
  double **along; /* of each: places of the component */
  double *moving; /* of the row being added */
  int num_left;
  double **left; /* rows of what is left, each with num numbers at that time, */
  int *left_size;
} close_ones;

void poli_gram_begin(poli_gram *gram, int component)
{
  const int first = gram->first[component], end = gram->first[component + 1];
  memset(gram->deleted + first, 0, (size_t)(end - first));
  for (int k = first; k < end; k++) {
    gram->R_diagonal[k] = 0.0;
    for (int e = gram->col_start[k]; e < gram->col_start[k + 1]; e++) gram->R[e] = 0.0;
  }
}

/* Adds the row in x, whose first entry is in place k, to R; what is left of the close ones stays in
 * moving. */
static void add_row(poli_gram *g, int k, int first, const close_ones *close)
{
  double *restrict x = g->x, *restrict R = g->R;
  for (int next; k >= 0; k = next) {
    const int begin = g->col_start[k], end = g->col_start[k + 1];
    const double a = g->R_diagonal[k], b = x[k];
    next = begin < end ? g->col_row[begin] : -1;
    x[k] = 0.0;
    if (b == 0.0 || g->deleted[k]) continue;
    const double r = sqrt(a * a + b * b), c = a / r, s = b / r;
    double most = 0.0;
    g->R_diagonal[k] = r;
    for (int e = begin; e < end; e++) {
      const double up = R[e], low = x[g->col_row[e]], rest = c * low - s * up;
      R[e] = c * up + s * low;
      x[g->col_row[e]] = rest;
      most = fabs(rest) > most ? fabs(rest) : most;
    }
    for (int i = 0; close && i < close->num; i++) {
      double *up = &close->along[i][k - first], low = close->moving[i], old = *up;
      *up = c * old + s * low;
      close->moving[i] = c * low - s * old;
    }
    if (most > nothing_left) continue;
    for (int e = begin; e < end; e++) x[g->col_row[e]] = 0.0;
    return;
  }
}

void poli_gram_add(poli_gram *gram, int count, const int *vector, const double *value)
{
  int first = gram->n;
  for (int i = 0; i < count; i++) {
    const int k = gram->place[vector[i]];
    gram->x[k] = value[i];
    if (k < first) first = k;
  }
  if (count > 0) add_row(gram, first, 0, NULL);
}

static void free_close(close_ones *close)
{
  for (int i = 0; i < close->num; i++) free(close->along[i]);
  for (int i = 0; i < close->num_left; i++) free(close->left[i]);
  free(close->along);
  free(close->place);
  free(close->moving);
  free(close->left);
  free(close->left_size);
}

/* Room for one more close vector and one more row of what is left. */
static pol_status make_room(close_ones *close)
{
  if (close->num < close->room && close->num_left < close->room) return POL_OK;
  const size_t room = 2 * (size_t)close->room + 16;
  int *place = realloc(close->place, room * sizeof *place);
  if (place) close->place = place;
  double **along = realloc(close->along, room * sizeof *along);
  if (along) close->along = along;
  double *moving = realloc(close->moving, room * sizeof *moving);
  if (moving) close->moving = moving;
  double **left = realloc(close->left, room * sizeof *left);
  if (left) close->left = left;
  int *left_size = realloc(close->left_size, room * sizeof *left_size);
  if (left_size) close->left_size = left_size;
  if (!place || !along || !moving || !left || !left_size) return POL_NO_MEMORY;
  close->room = (int)room;
  return POL_OK;
}

/* Deletes the column of place k and adds its row again to those behind it.  If is_close, the
 * vector is compared with others later. */
static pol_status delete_column(poli_gram *g, int component, int k, int is_close, close_ones *close)
{
  const int first = g->first[component], begin = g->col_start[k], end = g->col_start[k + 1];
  pol_status status = is_close || close->num > 0 ? make_room(close) : POL_OK;
  if (status) return status;
  if (is_close) {
    const size_t size = (size_t)(g->first[component + 1] - first);
    double *along = calloc(size, sizeof *along);
    if (!along) return POL_NO_MEMORY;
    along[k - first] = g->R_diagonal[k];
    close->place[close->num] = k;
    close->along[close->num++] = along;
  }
  g->deleted[k] = 1;
  for (int e = begin; e < end; e++) {
    g->x[g->col_row[e]] = g->R[e];
    g->R[e] = 0.0;
  }
  for (int i = 0; i < close->num; i++) {
    close->moving[i] = close->along[i][k - first];
    close->along[i][k - first] = 0.0;
  }
  if (begin < end) add_row(g, g->col_row[begin], first, close);
  if (close->num == 0) return POL_OK;
  double *left = malloc((size_t)close->num * sizeof *left);
  if (!left) return POL_NO_MEMORY;
  memcpy(left, close->moving, (size_t)close->num * sizeof *left);
  close->left_size[close->num_left] = close->num;
  close->left[close->num_left++] = left;
  return POL_OK;
}

/* Goes through R: vectors up to `limit` away from those before are dropped, those up to `enough`
 * are compared later; pivot[k] is the distance. */
static pol_status sweep(poli_gram *g, int component, double limit, double enough, close_ones *close,
                        unsigned char *dropped)
{
  const int first = g->first[component], end = g->first[component + 1];
  pol_status status = POL_OK;
  for (int k = first; k < end && !status; k++) {
    if (k % 1024 == 1023 && poli_monitor_poll(-1.0)) return POL_CANCELLED;
    const double distance = g->pivot[k] = g->R_diagonal[k];
    const int has_room = (close->num + 1.0) * (end - first) <= MAX_CLOSE;
    const int is_close = distance > limit && distance <= enough && has_room;
    dropped[g->order[k]] = !(distance > limit) || is_close;
    if (dropped[g->order[k]]) status = delete_column(g, component, k, is_close, close);
  }
  return status;
}

/* What is left of the close ones: a column each, of which only the rows from begin to end are not
 * zero.  In a row of loops each has numbers near its own place only. */
typedef struct remains {
  int rows, cols;
  double *A, *size;
  int *begin, *end;
} remains;

static void measure_remains(remains *r, int c)
{
  const double *a = r->A + (size_t)c * (size_t)r->rows;
  double square = 0.0;
  for (int i = r->begin[c]; i < r->end[c]; i++) square += a[i] * a[i];
  r->size[c] = sqrt(square);
}

static pol_status collect_remains(const close_ones *close, remains *r)
{
  const size_t rows = (size_t)close->num_left, cols = (size_t)close->num;
  *r = (remains){.rows = close->num_left, .cols = close->num};
  r->A = calloc(rows * cols + cols + 1, sizeof *r->A);
  r->begin = malloc((2 * cols + 1) * sizeof *r->begin);
  if (!r->A || !r->begin) {
    free(r->A);
    free(r->begin);
    return POL_NO_MEMORY;
  }
  r->size = r->A + rows * cols;
  r->end = r->begin + cols;
  for (size_t i = 0; i < rows; i++)
    for (int c = 0; c < close->left_size[i]; c++)
      if (fabs(close->left[i][c]) > nothing_left) r->A[(size_t)c * rows + i] = close->left[i][c];
  for (int c = 0; c < r->cols; c++) {
    const double *a = r->A + (size_t)c * rows;
    r->begin[c] = 0;
    r->end[c] = r->rows;
    while (r->begin[c] < r->rows && a[r->begin[c]] == 0.0) r->begin[c]++;
    while (r->end[c] > r->begin[c] && a[r->end[c] - 1] == 0.0) r->end[c]--;
    measure_remains(r, c);
  }
  return POL_OK;
}

/* a_c -= q (q . a_c)/(q . q), with q = a_next */
static void subtract_remains(remains *r, int next, int c)
{
  const double *q = r->A + (size_t)next * (size_t)r->rows;
  double *a = r->A + (size_t)c * (size_t)r->rows, share = 0.0;
  const int begin = r->begin[next] > r->begin[c] ? r->begin[next] : r->begin[c];
  const int end = r->end[next] < r->end[c] ? r->end[next] : r->end[c];
  for (int i = begin; i < end; i++) share += q[i] * a[i];
  share /= r->size[next] * r->size[next];
  if (fabs(share) * r->size[next] <= nothing_left) return;
  for (int i = r->begin[next]; i < r->end[next]; i++) a[i] -= share * q[i];
  if (r->begin[next] < r->begin[c]) r->begin[c] = r->begin[next];
  if (r->end[next] > r->end[c]) r->end[c] = r->end[next];
  measure_remains(r, c);
}

/* Of the close ones those that are farthest away are kept, as many as `most`, as long as they are
 * more than `least` away; of equal ones the first (modified Gram-Schmidt). */
static pol_status take_farthest(const poli_gram *g, const close_ones *close, int most, double least,
                                unsigned char *dropped)
{
  remains r;
  const pol_status status = collect_remains(close, &r);
  if (status) return status;
  for (int taken = 0; taken < most; taken++) {
    double largest = -1.0;
    int next = -1;
    for (int c = 0; c < r.cols; c++)
      if (dropped[g->order[close->place[c]]] && r.size[c] > largest) largest = r.size[c];
    for (int c = 0; c < r.cols; c++) {
      const int row = g->order[close->place[c]];
      if (dropped[row] && r.size[c] >= (1.0 - as_far) * largest &&
          (next < 0 || row < g->order[close->place[next]]))
        next = c;
    }
    if (next < 0 || largest <= least) break;
    dropped[g->order[close->place[next]]] = 0;
    for (int c = 0; c < r.cols && r.size[next] > 0.0; c++)
      if (dropped[g->order[close->place[c]]]) subtract_remains(&r, next, c);
  }
  free(r.A);
  free(r.begin);
  return POL_OK;
}

/* Keeps or drops the vector that is farthest from or nearest to those before it, of those that are
 * dropped or kept; of equal ones keeps the first and drops the last. */
static void change_one(const poli_gram *g, int component, int keep, unsigned char *dropped)
{
  int best = -1;
  for (int k = g->first[component]; k < g->first[component + 1]; k++) {
    if ((dropped[g->order[k]] != 0) != keep) continue;
    double gain = 1.0;
    if (best >= 0) gain = keep ? g->pivot[k] - g->pivot[best] : g->pivot[best] - g->pivot[k];
    if (gain > 0.0 || (gain == 0.0 && (g->order[k] < g->order[best]) == keep)) best = k;
  }
  if (best >= 0) dropped[g->order[best]] = !keep;
}

pol_status poli_gram_choose(poli_gram *gram, int component, int count, double enough,
                            unsigned char *dropped)
{
  poli_gram *g = gram;
  const int first = g->first[component], end = g->first[component + 1];
  const int wanted = end - first - count; /* to be kept, if that is given */
  int kept = 0;
  close_ones close = {0};
  pol_status status = sweep(g, component, independent_from, enough, &close, dropped);
  for (int k = first; k < end && !status; k++) kept += !dropped[g->order[k]];
  if (!status && count >= 0 && kept + close.num <= wanted) { /* all of them are needed */
    for (int i = 0; i < close.num; i++) dropped[g->order[close.place[i]]] = 0;
    kept += close.num;
  } else if (!status && close.num > 0 && (count < 0 || kept < wanted)) {
    const int most = count < 0 ? close.num : wanted - kept;
    status = take_farthest(g, &close, most, count < 0 ? independent_from : -1.0, dropped);
    kept = 0;
    for (int k = first; k < end; k++) kept += !dropped[g->order[k]];
  }
  for (; !status && count >= 0 && kept > wanted; kept--) change_one(g, component, 0, dropped);
  for (; !status && count >= 0 && kept < wanted; kept++) change_one(g, component, 1, dropped);
  free_close(&close);
  return status;
}

pol_status poli_gram_choose_near(poli_gram *gram, int component, double distance,
                                 unsigned char *dropped)
{
  close_ones close = {0};
  pol_status status =
      sweep(gram, component, independent_from, fmax(0.1, distance), &close, dropped);
  if (!status && close.num > 0) status = take_farthest(gram, &close, close.num, distance, dropped);
  free_close(&close);
  return status;
}
