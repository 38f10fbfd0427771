/* Triangles of a mesh file. */
#ifndef POLHODE_VIEWER_MESH_H
#define POLHODE_VIEWER_MESH_H

#include <stddef.h>

#include <polhode/status.h>

typedef struct poli_mesh {
  size_t num_points; /* three per triangle */
  float *points;     /* [num_points][3], times `scale` */
  size_t capacity;   /* of points, for reading */
} poli_mesh;

/* Reads an STL file, binary or text, or an OBJ file (v and f lines; faces of more than three
 * corners are cut into fans), distinguished by the end of the name.  In every case, free with
 * poli_mesh_free. POL_IO: cannot be read; POL_BAD_ARGUMENT: is no such file, or has no triangles;
 * message has the reason. */
pol_status poli_mesh_read(poli_mesh *mesh, const char *path, double scale, char *message,
                          size_t size);
void poli_mesh_free(poli_mesh *mesh);

#endif
