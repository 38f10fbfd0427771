/* Finite element models: meshes of beams and blocks, and the reduction to a flexible body.
 *
 *     pol_finite_elements_block(&elements, size, counts, &material);
 *     pol_reduce(&reduced, elements, num_attachments, attachments, &options, &errors);
 *     pol_mechanism_add_flexible_body(mechanism, &reduced->body, NULL);
 *     pol_reduced_body_free(&reduced);
 *     pol_finite_elements_free(&elements);
 *
 * The equations are in docs/flexible.md. */
#ifndef POLHODE_REDUCTION_H
#define POLHODE_REDUCTION_H

#include <polhode/errors.h>
#include <polhode/linalg.h>
#include <polhode/mechanism.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A free linear elastic body: M u'' + K u = f.  The freedoms are those of the first node, then
 * those of the second, and so on: displacements ux, uy, uz and, if there are six, small rotations
 * rx, ry, rz.  Both matrices are symmetric and have all entries of both triangles. */
typedef struct pol_finite_elements {
  int num_nodes;
  int freedoms;      /* of each node: 3 or 6 */
  double *positions; /* 3 numbers for each node */
  pol_pattern *mass_pattern, *stiffness_pattern;
  double *mass, *stiffness;
} pol_finite_elements;

/* Frees the matrices and sets *elements to NULL; it may be NULL already. */
void pol_finite_elements_free(pol_finite_elements **elements);

/* Reports what is wrong with the data: numbers that are not finite, a matrix of another size or not
 * symmetric (beyond 1e-8 of its largest entry), a mass matrix that cannot be positive or weighs
 * differently in x, y and z, a stiffness matrix that resists a rigid motion (beyond 1e-6 of the
 * terms that should cancel), as that of a mesh with supports or with positions in another unit.
 * Paths are "mass_matrix", "stiffness_matrix" and "nodes".  POL_BAD_ARGUMENT if anything is. */
pol_status pol_finite_elements_check(const pol_finite_elements *elements, pol_errors *errors);

/* --- meshes ----------------------------------------------------------------------------------- */

/* An isotropic linear elastic material. */
typedef struct pol_material {
  double young, poisson, density; /* Pa; above -1 and below 0.5; kg/m^3 */
} pol_material;

/* A block, or a plate: x from 0 to size[0], y and z from -size/2 to size/2, of elements[] hexahedra
 * along each axis, 3 freedoms per node: eight nodes with incompatible modes (Wilson et al. 1973,
 * Taylor et al. 1976), consistent mass.  Nodes are in the order of x, then y, then z: node (i, j,
 * k) is number i + (nx + 1) (j + (ny + 1) k).  POL_BAD_ARGUMENT, POL_NO_MEMORY. */
pol_status pol_finite_elements_block(pol_finite_elements **elements, const double size[3],
                                     const int counts[3], const pol_material *material);

/* A beam: straight Timoshenko elements between its nodes, 6 freedoms per node, with the section
 * stiffness and the mass of the beam; its velocities and damping are not used.  POL_BAD_ARGUMENT if
 * the stiffness or the inertia of the section is not diagonal, or its mass centre not on the line:
 * these elements have no such couplings. */
pol_status pol_finite_elements_beam(pol_finite_elements **elements, const pol_beam *beam);

/* --- reduction -------------------------------------------------------------------------------- */

/* Nodes that move together as a rigid body, where joints and forces can act: a node with rotations,
 * or at least three nodes that are not on one line. */
typedef struct pol_attachment {
  const char *name;
  int num_nodes;
  const int *nodes;       /* numbers from 0; no node may be in two attachments */
  const double *position; /* of the interface, NULL: the mean of the nodes */
} pol_attachment;

/* Which modes are kept, and their damping. */
typedef struct pol_reduction_options {
  int modes;        /* normal modes: of the body with all interfaces fixed, or, without any, free */
  double frequency; /* Hz, all of them up to here instead, if it is above 0 */
  double damping;   /* ratio of each mode */
  double rayleigh[2]; /* and damping by mass, 1/s, and stiffness, s, of the modes */
} pol_reduction_options;

/* 10 modes, no damping. */
pol_reduction_options pol_reduction_options_default(void);

/* A reduced body.  Its modes are the free modes of the body, orthogonal by mass, with a
 * largest displacement of 1, within the
 * displacements that the normal modes and the constraint modes (those of moving one interface
 * alone) span: the Craig-Bampton method.  The rigid motions are left out, so that the reference
 * frame is the mean (Tisserand) frame: its origin is the centre of mass, and deformations have no
 * momentum in it. */
typedef struct pol_reduced_body {
  pol_flexible_body body; /* at the origin; its arrays belong to the reduced body */
  double center[3];       /* centre of mass in the axes of the mesh: where X = 0 of the body is */
  double *frequencies;    /* of the modes, Hz, ascending; num_modes numbers */
  int num_freedoms;       /* before */
  double *modes;          /* displacements of all freedoms, num_freedoms numbers for each mode */
  double anisotropy; /* 0: the integrals of the body are exact.  Largest entry by which the mass
                        matrix differs from m_ij times the unit matrix of 3 rows, as a fraction of
                        the largest m_ij: see docs/flexible.md */
} pol_reduced_body;

/* Errors have the paths "interfaces[i].nodes", "modes" or "stiffness_matrix".  The elements must be
 * free of errors.  POL_BAD_ARGUMENT, POL_NOT_CONVERGED, POL_NO_MEMORY. */
pol_status pol_reduce(pol_reduced_body **reduced, const pol_finite_elements *elements,
                      int num_attachments, const pol_attachment *attachments,
                      const pol_reduction_options *options, pol_errors *errors);
/* Frees the body with its arrays and sets *reduced to NULL; it may be NULL already. */
void pol_reduced_body_free(pol_reduced_body **reduced);

#ifdef __cplusplus
}
#endif

#endif
