/* Which columns of a matrix depend on the others. */
#ifndef POLHODE_LINALG_RANK_H
#define POLHODE_LINALG_RANK_H

#include <polhode/status.h>

/* A (rows x cols, by columns) is overwritten.  dependent (cols) gets 1 for each column that the
 * others span to round-off, 0 for the rest; of a set of dependent columns the smaller ones are
 * named.  Allocates its workspace. */
pol_status pol_dependent_columns(int rows, int cols, double *A, unsigned char *dependent);

#endif
