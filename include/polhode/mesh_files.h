/* Files of finite element models: matrices in Matrix Market form and lists of nodes.
 * docs/flexible.md describes them. */
#ifndef POLHODE_MESH_FILES_H
#define POLHODE_MESH_FILES_H

#include <polhode/reduction.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Reads the mass matrix, the stiffness matrix and the nodes, and finds the freedoms of a node, 3 or
 * 6, from their sizes.  ids (may be NULL) are the numbers of the nodes, which the caller frees.
 * unit: metres in the unit of length of the files, whose unit of force is N and of time s: 1 (m,
 * kg) or 1e-3 (mm, t).  All errors are reported, with the paths "mass_matrix", "stiffness_matrix"
 * and "nodes", those of pol_finite_elements_check too.  POL_BAD_ARGUMENT, POL_NO_MEMORY. */
pol_status pol_finite_elements_read(pol_finite_elements **elements, long **ids,
                                    const char *mass_file, const char *stiffness_file,
                                    const char *nodes_file, double unit, pol_errors *errors);

/* The mesh that an object "mesh" of a model file describes; paths of errors are its keys. */
pol_status pol_finite_elements_from_text(pol_finite_elements **elements, const char *text,
                                         pol_errors *errors);

/* Writes the three files; the numbers of the nodes are 1, 2, ...  POL_IO: errno has the reason, and
 * *failed the file. */
pol_status pol_finite_elements_write(const pol_finite_elements *elements, const char *mass_file,
                                     const char *stiffness_file, const char *nodes_file,
                                     const char **failed);

#ifdef __cplusplus
}
#endif

#endif
