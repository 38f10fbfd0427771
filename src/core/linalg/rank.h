/* Which columns of a matrix depend on others: the constraints of a mechanism that are redundant,
 * or about to be. */
#ifndef POLHODE_LINALG_RANK_H
#define POLHODE_LINALG_RANK_H

#include <polhode/status.h>

/* Workspace for matrices of one size. */
typedef struct poli_rank poli_rank;

/* A matrix of rows x cols. */
pol_status poli_rank_create(poli_rank **rank, int rows, int cols);
void poli_rank_free(poli_rank **rank);
/* For smaller matrices from now on. */
void poli_rank_resize(poli_rank *rank, int rows, int cols);

/* In all of these, columns with first[j] != 0 (may be NULL for none), which must be independent,
 * come before all others: what depends on them is found among the others. */

/* Orders the columns of A (by columns, overwritten) so that each is, of those still to come, the
 * one that is farthest from what the columns before it span; columns count with length one.
 * Returns the distance of the last one: 0 if it depends on the others, 1 if all are perpendicular;
 * *last is its index.  0 and -1 for a matrix with more columns than rows, or without any. */
double poli_rank_measure(poli_rank *rank, double *A, const unsigned char *first, int *last);

/* Sets dependent[j] = 1 for columns of A (by columns, overwritten) that are less than 1e-10 away
 * from what the others span; the columns with 0 are independent.  With count >= 0 for that many,
 * the least independent ones, however far away they are.  POL_CANCELLED: base/monitor.h. */
pol_status poli_rank_dependent(poli_rank *rank, double *A, const unsigned char *first, int count,
                               unsigned char *dependent);
/* The same for columns less than a distance away. */
pol_status poli_rank_near(poli_rank *rank, double *A, const unsigned char *first, double distance,
                          unsigned char *dependent);

#endif
