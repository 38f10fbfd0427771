/* What a page shows, besides the numbers that change with time. */
#ifndef POLHODE_VIEWER_SCENE_H
#define POLHODE_VIEWER_SCENE_H

#include <jansson.h>

#include "draw/viewer/frames.h"

/* The scene: everything but what changes with time.  A new reference, or NULL when memory is out.
 * `title` stands for the name of a model without one; not NULL.  Keys:
 *
 * - version, name, title, gravity, rows, left_out
 * - bodies [{name, point, interface, color, mass, moments, size, axes}]; interface: its number,
 * from 1, if it is one of a flexible body; moments: the principal ones; size: the half axes of its
 * inertia ellipsoid; axes: principal to body axes, a quaternion
 * - shapes [{type, body, size, position, rotation, color, mesh}]; body -1 is the ground; size is
 * what a shape of unit size is stretched by; mesh counts from 0
 * - flexible [{body, triangles, points, nodes, modes, unit, low, high}]: numbers of triangles, of
 * points, of nodes of the finite elements and of modes; the box around the points
 * - markers [{name, body, position, rotation}]
 * - joints [{name, type, markers, radius}]
 * - forces [{name, type, body, markers, joint, angular, stiffness, damping, point, anchor, vector,
 *   frame}]; angular: of the coordinate of a joint-spring
 * - couplings [{name, joints, angular, factors}]
 * - channels [{name, unit, low, high}]
 * - ranges [low, high, ...] of the positions, x, y and z of each body
 */
json_t *poli_scene_json(const pol_model *model, const poli_frames *frames, const pol_result *result,
                        const char *title);

/* Adds the key `other` to a scene: {title, channels, ranges} of another run.  0, or -1 when memory
 * is out. */
int poli_scene_add_other(json_t *scene, const poli_frames *other, const pol_result *result,
                         const char *title);

/* The colour 0xrrggbb of a body of so many whose shapes have none of their own; body -1 is the
 * ground. */
int poli_body_color(int body, int num_bodies);

/* The half axes of the inertia ellipsoid of a rigid body, thick enough to be seen, and the rotation
 * from its axes to those of the body. */
void poli_body_ellipsoid(const pol_body *body, double half_axes[3], double q[4]);
/* What turns the shape of unit size (edges, or diameter and length, 1) into this one. */
void poli_shape_size(const pol_shape *shape, double size[3]);

#endif
