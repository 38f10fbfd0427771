/* Triangles of the shapes of unit size: edges, or diameter and length, are 1. */
#ifndef POLHODE_VIEWER_SOLIDS_H
#define POLHODE_VIEWER_SOLIDS_H

#include <stddef.h>

#include <polhode/model.h>

typedef struct poli_solid {
  size_t count;            /* corners, three per triangle */
  float *points, *normals; /* [count][3]; normals point outwards */
} poli_solid;

/* A box, cylinder, sphere or cone about the origin, along z.  In every case, free with
 * poli_solid_free.  POL_NO_MEMORY. */
pol_status poli_solid_create(poli_solid *solid, pol_shape_type type);
/* The triangles of a mesh, each with one normal. */
pol_status poli_solid_of_mesh(poli_solid *solid, const double *points, size_t count);
void poli_solid_free(poli_solid *solid);

#endif
