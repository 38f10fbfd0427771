/* Collada (DAE) mesh files. */
#ifndef POLHODE_IO_FILE_COLLADA_H
#define POLHODE_IO_FILE_COLLADA_H

#include "io/file/mesh.h"

/* Appends the triangles of the scene of a Collada document, in metres; the up axis has no effect.
 * POL_BAD_ARGUMENT: it is invalid or uses what is not read; message has the reason, with the line.
 * Free the mesh in every case. */
pol_status poli_collada_read(poli_mesh *mesh, const char *text, size_t length, char *message,
                             size_t size);

#endif
