/* Files of finite element programs: matrices in Matrix Market form, lists of nodes. */
#ifndef POLHODE_IO_FILE_MATRIX_MARKET_H
#define POLHODE_IO_FILE_MATRIX_MARKET_H

#include <stddef.h>
#include <stdio.h>

#include <polhode/status.h>

/* The entries of a matrix, rows and columns from 0; those of a symmetric file are mirrored. */
typedef struct poli_entries {
  int rows, cols;
  size_t count;
  int *row, *col;
  double *value;
} poli_entries;

/* Reads "%%MatrixMarket matrix coordinate|array real|integer general|symmetric" (Boisvert, Pozo and
 * Remington 1996).  Free with poli_entries_free in every case.  POL_IO: cannot be read;
 * POL_BAD_ARGUMENT: message has the file, the line and the reason. */
pol_status poli_matrix_market_read(poli_entries *entries, const char *path, char *message,
                                   size_t size);
void poli_entries_free(poli_entries *entries);

/* A symmetric matrix in compressed columns, rows ascending: its lower triangle. */
void poli_matrix_market_write(FILE *file, int n, const int *start, const int *row,
                              const double *value);

typedef struct poli_nodes {
  size_t count;
  long *ids;         /* all different */
  double *positions; /* 3 numbers each */
} poli_nodes;

/* Lines of "id, x, y, z", separated by commas, semicolons or blanks; a first line without numbers
 * and lines that start with # or % are ignored.  As poli_matrix_market_read. */
pol_status poli_nodes_read(poli_nodes *nodes, const char *path, char *message, size_t size);
void poli_nodes_free(poli_nodes *nodes);

#endif
