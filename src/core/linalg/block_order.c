/* Orders of elimination with independent parts; see block_order.h. */
#include "linalg/block_order.h"

#include <stdlib.h>
#include <string.h>

static int parent_of(const poli_elimination *e, int k)
{
  return e->first[k] < e->first[k + 1] ? e->next[e->first[k]] : -1;
}

pol_status poli_order_subtrees(const poli_elimination *e, int *order)
{
  const int n = e->count;
  int *child = malloc((3 * (size_t)n + 1) * sizeof *child), *sibling = child + n;
  if (!child) return POL_NO_MEMORY;
  for (int k = 0; k < n; k++) child[k] = -1;
  int roots = -1; /* the list of roots, like that of the children of a node, ascending */
  for (int k = n - 1; k >= 0; k--) {
    const int parent = parent_of(e, k);
    int *list = parent < 0 ? &roots : &child[parent];
    sibling[k] = *list;
    *list = k;
  }
  /* down to the first leaf, then up: a node comes when it has no more children */
  int *path = sibling + n, length = 0, count = 0;
  while (roots >= 0 || length > 0) {
    if (length == 0) {
      path[length++] = roots;
      roots = sibling[roots];
    }
    const int k = path[length - 1], next = child[k];
    if (next >= 0) {
      child[k] = sibling[next];
      path[length++] = next;
    } else {
      order[count++] = k;
      length--;
    }
  }
  free(child);
  return POL_OK;
}

/* Work of subtrees, themselves included. */
static double *sum_subtrees(const poli_elimination *e)
{
  double *sum = malloc(((size_t)e->count + 1) * sizeof *sum);
  if (!sum) return NULL;
  memcpy(sum, e->work, (size_t)e->count * sizeof *sum);
  for (int k = 0; k < e->count; k++)
    if (parent_of(e, k) >= 0) sum[parent_of(e, k)] += sum[k];
  return sum;
}

/* The lowest node whose subtree has at least half of the work of its tree: of the heaviest tree. */
static int find_middle(const poli_elimination *e, const double *sum)
{
  double heaviest = 0.0;
  int middle = e->count - 1;
  for (int k = 0; k < e->count; k++)
    if (parent_of(e, k) < 0 && sum[k] > heaviest) heaviest = sum[k];
  for (int k = e->count - 1; k >= 0; k--)
    if (sum[k] >= 0.5 * heaviest && sum[k] <= sum[middle]) middle = k;
  return middle;
}

/* Neighbours of all nodes, earlier and later, in compressed rows: start, then the nodes. */
static int *list_neighbours(const poli_elimination *e)
{
  const int n = e->count;
  int *start = calloc((size_t)n + 2 + 2 * (size_t)e->first[n], sizeof *start), *to = start + n + 2;
  if (!start) return NULL;
  for (int k = 0; k < n; k++)
    for (int i = e->first[k]; i < e->first[k + 1]; i++) {
      start[k + 2]++;
      start[e->next[i] + 2]++;
    }
  for (int k = 0; k < n; k++) start[k + 2] += start[k + 1];
  for (int k = 0; k < n; k++)
    for (int i = e->first[k]; i < e->first[k + 1]; i++) {
      to[start[k + 1]++] = e->next[i];
      to[start[e->next[i] + 1]++] = k;
    }
  return start;
}

/* Visits the node with the most visited neighbours next.  Nodes with the same number of them are
 * lists with links both ways; the last that came in is first. */
static void search(const poli_elimination *e, int root, const int *start, int *head, int *order)
{
  const int n = e->count, *to = start + n + 2;
  int *after = head + n + 1, *before = after + n, *visited = before + n;
  for (int k = 0; k <= n; k++) head[k] = -1;
  for (int k = 0; k < n; k++) visited[k] = 0;
  for (int k = n; k >= 0; k--) { /* all nodes into the list of 0, the root in front */
    const int own = k == 0 ? root : k - 1;
    if (k > 0 && own == root) continue;
    before[own] = -1;
    after[own] = head[0];
    if (head[0] >= 0) before[head[0]] = own;
    head[0] = own;
  }
  for (int count = n - 1, most = 0; count >= 0; count--) {
    while (head[most] < 0) most--;
    const int k = head[most];
    head[most] = after[k];
    if (after[k] >= 0) before[after[k]] = -1;
    order[count] = k;
    visited[k] = -1;
    for (int i = start[k]; i < start[k + 1]; i++) {
      const int j = to[i], level = visited[j];
      if (level < 0) continue;
      if (before[j] >= 0) after[before[j]] = after[j];
      if (before[j] < 0) head[level] = after[j];
      if (after[j] >= 0) before[after[j]] = before[j];
      before[j] = -1;
      after[j] = head[level + 1];
      if (after[j] >= 0) before[after[j]] = j;
      head[level + 1] = j;
      visited[j] = level + 1;
    }
    if (most < n) most++;
  }
}

pol_status poli_order_from_middle(const poli_elimination *e, int *order)
{
  double *sum = sum_subtrees(e);
  int *start = list_neighbours(e), *head = malloc((4 * (size_t)e->count + 2) * sizeof *head);
  const pol_status status = sum && start && head ? POL_OK : POL_NO_MEMORY;
  if (!status && e->count > 0) search(e, find_middle(e, sum), start, head, order);
  free(sum);
  free(start);
  free(head);
  return status;
}

/* --- parts ------------------------------------------------------------------------------------ */

static int compare_parts(const void *a, const void *b)
{
  return ((const poli_part *)a)->root - ((const poli_part *)b)->root;
}

/* Whole trees, as many of them one after the other as make about a `most`-th of the work. */
static int group_trees(const poli_elimination *e, int most, double total, poli_part *parts)
{
  double done = 0.0;
  int count = 0, first = 0;
  for (int k = 0; k < e->count; k++) {
    done += e->work[k];
    if (parent_of(e, k) >= 0) continue;
    if (k < e->count - 1 && done < total * (count + 1) / most) continue;
    parts[count++] = (poli_part){first, k};
    first = k + 1;
  }
  return count;
}

/* One tree after the other, the heaviest split into those below its root, until there are enough
 * or what is above them would become too much. */
static int split_trees(const poli_elimination *e, int most, double total, const double *sum,
                       const int *size, poli_part *parts)
{
  const double most_top = 0.1 * total, small = total / (double)(2 * most);
  double top = 0.0;
  int count = 0;
  for (int k = 0; k < e->count; k++)
    if (parent_of(e, k) < 0) parts[count++] = (poli_part){k - size[k] + 1, k};
  for (;;) {
    int heaviest = -1, below = 0;
    for (int p = 0; p < count; p++)
      if (heaviest < 0 || sum[parts[p].root] > sum[parts[heaviest].root]) heaviest = p;
    if (heaviest < 0 || sum[parts[heaviest].root] <= small) break;
    const poli_part own = parts[heaviest];
    for (int k = own.root - 1; k >= own.first; k -= size[k]) below++;
    if (below == 0 || count - 1 + below > most || top + e->work[own.root] > most_top) break;
    top += e->work[own.root];
    parts[heaviest] = parts[--count];
    for (int k = own.root - 1; k >= own.first; k -= size[k])
      parts[count++] = (poli_part){k - size[k] + 1, k};
  }
  return count;
}

int poli_order_find_parts(const poli_elimination *e, int most, poli_part *parts)
{
  const int n = e->count;
  double *sum = sum_subtrees(e), total = 0.0, inside = 0.0, largest = 0.0;
  int *size = malloc(((size_t)n + 1) * sizeof *size), roots = 0;
  if (!sum || !size) {
    free(sum);
    free(size);
    return -1;
  }
  for (int k = 0; k < n; k++) size[k] = 1;
  for (int k = 0; k < n; k++) {
    total += e->work[k];
    if (parent_of(e, k) >= 0) size[parent_of(e, k)] += size[k];
    roots += parent_of(e, k) < 0;
  }
  const int count = roots > most ? group_trees(e, most, total, parts)
                                 : split_trees(e, most, total, sum, size, parts);
  for (int p = 0; p < count; p++) {
    double own = 0.0;
    for (int k = parts[p].first; k <= parts[p].root; k++) own += e->work[k];
    inside += own;
    if (own > largest) largest = own;
  }
  const double longest = total - inside + (largest > 0.5 * inside ? largest : 0.5 * inside);
  free(sum);
  free(size);
  if (longest > 0.75 * total) return 0;
  qsort(parts, (size_t)count, sizeof *parts, compare_parts);
  return count;
}
