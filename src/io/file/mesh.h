/* Triangles of a mesh file, and the integrals over the solid inside. */
#ifndef POLHODE_IO_FILE_MESH_H
#define POLHODE_IO_FILE_MESH_H

#include <stddef.h>

#include <polhode/status.h>

typedef struct poli_mesh {
  size_t num_points; /* three per triangle */
  double *points;    /* [num_points][3], times `scale` */
  size_t capacity;   /* of points, for reading */
} poli_mesh;

/* Reads an STL file, binary or text, an OBJ file (v and f lines; faces of more than three corners
 * are cut into fans), or a Collada file (.dae), distinguished by the end of the name.  In every
 * case, free with
 * poli_mesh_free. POL_IO: cannot be read; POL_BAD_ARGUMENT: is no such file, or has no triangles;
 * message has the reason. */
pol_status poli_mesh_read(poli_mesh *mesh, const char *path, double scale, char *message,
                          size_t size);
void poli_mesh_free(poli_mesh *mesh);
/* Appends a point. */
pol_status poli_mesh_add_point(poli_mesh *mesh, const double point[3]);

/* Integrals over a solid. */
typedef struct poli_moments {
  double volume;
  double center[3]; /* centre of mass at equal density */
  double second[9]; /* integral of x x^T, x from the centre */
} poli_moments;

/* Those of the solid that the triangles enclose; the direction in which they turn does not matter,
 * but it must be the same for all.  POL_BAD_ARGUMENT: the surface is not closed, or its triangles
 * do not turn the same way, or there is nothing inside; message has the reason. */
pol_status poli_mesh_moments(const poli_mesh *mesh, poli_moments *moments, char *message,
                             size_t size);

#endif
