/* MAT files, level 5, as MATLAB, Octave and SciPy read them: matrices of numbers and lists of
 * texts.
 *
 *     pol_mat_create(&mat, "linear.mat");
 *     pol_mat_add_matrix(mat, "A", n, n, A);
 *     pol_mat_close(&mat);
 */
#ifndef POLHODE_MAT_H
#define POLHODE_MAT_H

#include <polhode/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A MAT file that is being written. */
typedef struct pol_mat pol_mat;

/* Creates or replaces a file.  On failure *mat is NULL; POL_IO: errno has the reason. */
pol_status pol_mat_create(pol_mat **mat, const char *path);
/* Adds a matrix, stored by columns, under a name that is a variable of MATLAB: a letter, then
 * letters, digits and underscores, at most 63.  POL_BAD_ARGUMENT: another name, or a matrix of 2 GB
 * or more. */
pol_status pol_mat_add_matrix(pol_mat *mat, const char *name, long rows, long cols,
                              const double *values);
/* Adds a column of texts (UTF-8), a cell array. */
pol_status pol_mat_add_texts(pol_mat *mat, const char *name, int count, const char *const *texts);
/* Writes what is left and closes the file; *mat becomes NULL.  POL_IO: something could not be
 * written, now or before; the file is removed then, and errno has the reason. */
pol_status pol_mat_close(pol_mat **mat);

#ifdef __cplusplus
}
#endif
#endif
