/* A result as a binary glTF file. */
#ifndef POLHODE_VIEWER_GLTF_H
#define POLHODE_VIEWER_GLTF_H

#include <stdio.h>

#include "draw/viewer/frames.h"
#include "io/file/mesh.h"

/* Writes bodies and motion into an open file; errors of writing stay in the file: check ferror().
 * meshes: those of all shapes, empty where a shape is none.  POL_NO_MEMORY: also if the file would
 * be larger than the format can describe, 4 GB; nothing is written then. */
pol_status poli_gltf_write(FILE *file, const pol_model *model, const poli_frames *frames,
                           const poli_mesh *meshes);

#endif
