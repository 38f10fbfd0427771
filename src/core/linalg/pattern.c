/* Fixed sparsity patterns in compressed columns, and products with the matrices stored in them.
 *
 * A pattern is the union of rectangles.  The rectangles are put in the order of their first row by
 * a counting sort and then dealt out to the columns they cover, so that each column receives its
 * row intervals in ascending order and one sweep merges those that overlap or touch (two passes of
 * a radix sort, as in the transposition of compressed-column matrices: Davis, Direct Methods for
 * Sparse Linear Systems, 2006, section 2.5).  Time and memory are linear in the number of rows,
 * columns, intervals and entries.
 */
#include <polhode/linalg.h>

#include <limits.h>
#include <stdlib.h>

/* The row intervals that the rectangles cut out of each column: column j has the rectangles
 * block[start[j]] .. block[start[j+1]-1], in ascending order of their first rows. */
typedef struct intervals {
  size_t *start;
  int *block;
} intervals;

static int is_empty(const pol_block *block)
{
  return block->rows == 0 || block->cols == 0;
}

/* An array of count elements, never NULL for want of elements. */
static void *new_array(size_t count, size_t size)
{
  return calloc(count > 0 ? count : 1, size);
}

/* The rectangles that are not empty, sorted by first row: order (num_blocks) and how many of them,
 * or -1 without memory. */
static int sort_by_row(int rows, int num_blocks, const pol_block *blocks, int *order)
{
  int *next = new_array((size_t)rows + 1, sizeof *next);
  if (!next) return -1;

  /* next[row] = number of rectangles that start above row */
  for (int b = 0; b < num_blocks; b++)
    if (!is_empty(&blocks[b])) next[blocks[b].row + 1]++;
  for (int i = 0; i < rows; i++) next[i + 1] += next[i];
  int count = next[rows];

  for (int b = 0; b < num_blocks; b++)
    if (!is_empty(&blocks[b])) order[next[blocks[b].row]++] = b;
  free(next);
  return count;
}

/* Deals the sorted rectangles out to the columns. */
static pol_status deal(int cols, const pol_block *blocks, int count, const int *order,
                       intervals *cut)
{
  cut->start = new_array((size_t)cols + 2, sizeof *cut->start);
  if (!cut->start) return POL_NO_MEMORY;

  /* Count two places ahead: filling moves start[j+1] from the start of column j to its end. */
  for (int s = 0; s < count; s++) {
    const pol_block *block = &blocks[order[s]];
    for (int j = block->col; j < block->col + block->cols; j++) cut->start[j + 2]++;
  }
  for (int j = 0; j < cols; j++) cut->start[j + 2] += cut->start[j + 1];

  cut->block = new_array(cut->start[cols + 1], sizeof *cut->block);
  if (!cut->block) return POL_NO_MEMORY;
  for (int s = 0; s < count; s++) {
    const pol_block *block = &blocks[order[s]];
    for (int j = block->col; j < block->col + block->cols; j++)
      cut->block[cut->start[j + 1]++] = order[s];
  }
  return POL_OK;
}

/* The union of the intervals of one column: how many rows, and the rows themselves unless row is
 * NULL. */
static int merge(const pol_block *blocks, const intervals *cut, int col, int *row)
{
  int count = 0;
  int end = 0; /* first row below what has been taken */
  for (size_t s = cut->start[col]; s < cut->start[col + 1]; s++) {
    const pol_block *block = &blocks[cut->block[s]];
    for (int i = block->row > end ? block->row : end; i < block->row + block->rows; i++) {
      if (row) row[count] = i;
      count++;
    }
    if (block->row + block->rows > end) end = block->row + block->rows;
  }
  return count;
}

pol_status pol_pattern_create(pol_pattern **pattern, int rows, int cols, int num_blocks,
                              const pol_block *blocks)
{
  *pattern = NULL;
  if (rows < 0 || cols < 0 || num_blocks < 0) return POL_BAD_ARGUMENT;
  for (int i = 0; i < num_blocks; i++) {
    const pol_block *b = &blocks[i];
    if (b->row < 0 || b->col < 0 || b->rows < 0 || b->cols < 0 || b->row > rows - b->rows ||
        b->col > cols - b->cols)
      return POL_BAD_ARGUMENT;
  }

  intervals cut = {0};
  pol_status status = POL_NO_MEMORY;
  int *order = new_array((size_t)num_blocks, sizeof *order);
  pol_pattern *made = calloc(1, sizeof *made);
  if (!order || !made) goto done;
  made->rows = rows;
  made->cols = cols;
  const int count = sort_by_row(rows, num_blocks, blocks, order);
  if (count < 0 || deal(cols, blocks, count, order, &cut)) goto done;

  /* Count the entries of each column, then write their rows. */
  made->start = new_array((size_t)cols + 1, sizeof *made->start);
  if (!made->start) goto done;
  for (int j = 0; j < cols; j++) {
    const int entries = merge(blocks, &cut, j, NULL);
    if (entries > INT_MAX - made->start[j]) {
      status = POL_BAD_ARGUMENT;
      goto done;
    }
    made->start[j + 1] = made->start[j] + entries;
  }
  made->row = new_array((size_t)made->start[cols], sizeof *made->row);
  if (!made->row) goto done;
  for (int j = 0; j < cols; j++) merge(blocks, &cut, j, made->row + made->start[j]);
  status = POL_OK;
done:
  free(order);
  free(cut.start);
  free(cut.block);
  if (status) pol_pattern_free(&made);
  *pattern = made;
  return status;
}

/* The order of entries by one of their indices, stable: order (count) from `before`, NULL for as
 * they are.  start has limit + 1 numbers. */
static void sort_entries(size_t count, const int *index, int limit, const size_t *before,
                         size_t *start, size_t *order)
{
  for (int i = 0; i <= limit; i++) start[i] = 0;
  for (size_t e = 0; e < count; e++) start[index[e] + 1]++;
  for (int i = 0; i < limit; i++) start[i + 1] += start[i];
  for (size_t e = 0; e < count; e++) {
    const size_t entry = before ? before[e] : e;
    order[start[index[entry]]++] = entry;
  }
}

pol_status pol_matrix_from_entries(pol_pattern **pattern, double **values, int rows, int cols,
                                   size_t count, const int *row, const int *col,
                                   const double *value)
{
  *pattern = NULL;
  *values = NULL;
  if (rows < 0 || cols < 0 || count > INT_MAX) return POL_BAD_ARGUMENT;
  for (size_t e = 0; e < count; e++)
    if (row[e] < 0 || row[e] >= rows || col[e] < 0 || col[e] >= cols) return POL_BAD_ARGUMENT;
  const size_t limit = (size_t)(rows > cols ? rows : cols);
  size_t *start = new_array(limit + 1, sizeof *start);
  size_t *by_row = new_array(count, sizeof *by_row), *order = new_array(count, sizeof *order);
  pol_pattern *made = calloc(1, sizeof *made);
  double *numbers = new_array(count, sizeof *numbers);
  if (made) {
    made->rows = rows;
    made->cols = cols;
    made->start = new_array((size_t)cols + 1, sizeof *made->start);
    made->row = new_array(count, sizeof *made->row);
  }
  const int have = start && by_row && order && numbers && made && made->start && made->row;
  if (have) {
    sort_entries(count, row, rows, NULL, start, by_row);
    sort_entries(count, col, cols, by_row, start, order);
    int next = 0;
    for (size_t e = 0; e < count; e++) {
      const size_t entry = order[e];
      const int is_new =
          e == 0 || row[entry] != row[order[e - 1]] || col[entry] != col[order[e - 1]];
      next += is_new;
      made->row[next - 1] = row[entry];
      numbers[next - 1] += value[entry];
      made->start[col[entry] + 1] = next;
    }
    for (int j = 0; j < cols; j++)
      if (made->start[j + 1] == 0) made->start[j + 1] = made->start[j];
    *pattern = made;
    *values = numbers;
  } else {
    free(numbers);
    pol_pattern_free(&made);
  }
  free(start);
  free(by_row);
  free(order);
  return have ? POL_OK : POL_NO_MEMORY;
}

void pol_pattern_free(pol_pattern **pattern)
{
  if (!pattern || !*pattern) return;
  free((*pattern)->start);
  free((*pattern)->row);
  free(*pattern);
  *pattern = NULL;
}

int pol_pattern_nonzeros(const pol_pattern *pattern)
{
  return pattern->start[pattern->cols];
}

int pol_pattern_address(const pol_pattern *pattern, int row, int col)
{
  if (col < 0 || col >= pattern->cols) return -1;

  /* The first address in the column whose row is not above the one sought. */
  int low = pattern->start[col];
  int end = pattern->start[col + 1];
  int high = end;
  while (low < high) {
    int middle = low + (high - low) / 2;
    if (pattern->row[middle] < row)
      low = middle + 1;
    else
      high = middle;
  }
  return low < end && pattern->row[low] == row ? low : -1;
}

void pol_matrix_multiply(const pol_pattern *pattern, const double *values, double scale,
                         const double *x, double *y)
{
  for (int j = 0; j < pattern->cols; j++) {
    double scaled = scale * x[j];
    for (int a = pattern->start[j]; a < pattern->start[j + 1]; a++)
      y[pattern->row[a]] += values[a] * scaled;
  }
}

void pol_matrix_multiply_transposed(const pol_pattern *pattern, const double *values, double scale,
                                    const double *x, double *y)
{
  for (int j = 0; j < pattern->cols; j++) {
    double sum = 0.0;
    for (int a = pattern->start[j]; a < pattern->start[j + 1]; a++)
      sum += values[a] * x[pattern->row[a]];
    y[j] += scale * sum;
  }
}
