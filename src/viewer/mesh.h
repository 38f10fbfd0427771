/* Triangles of a mesh file. */
#ifndef POLHODE_VIEWER_MESH_H
#define POLHODE_VIEWER_MESH_H

#include <stddef.h>

#include <polhode/status.h>

typedef struct pol_mesh {
  size_t num_points; /* three a triangle */
  float *points;     /* [num_points][3], times `scale` */
  size_t capacity;   /* of points, for reading */
} pol_mesh;

/* Reads an STL file, binary or text, or an OBJ file (v and f lines; faces of more than three
 * corners are cut into fans), told apart by the end of the name.  In every case, free with
 * pol_mesh_free. POL_IO: cannot be read; POL_BAD_ARGUMENT: is no such file, or has no triangles;
 * message says why. */
pol_status pol_mesh_read(pol_mesh *mesh, const char *path, double scale, char *message,
                         size_t size);
void pol_mesh_free(pol_mesh *mesh);

#endif
