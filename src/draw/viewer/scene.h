/* The scene of a page, in JSON: everything but what changes with time. */
#ifndef POLHODE_VIEWER_SCENE_H
#define POLHODE_VIEWER_SCENE_H

#include <jansson.h>

#include "draw/viewer/frames.h"

/* A new reference, or NULL when memory is out.  Keys:
 *
 *     version, name, gravity, rows, left_out
 *     bodies    [{name, point, size}]  size: the half axes of its inertia ellipsoid
 *     shapes    [{type, body, size, position, rotation, color, mesh}]  body -1 is the ground;
 *               size is what a shape of unit size is stretched by; mesh counts from 0
 *     markers   [{name, body, position, rotation}]
 *     joints    [{name, type, markers, radius}]
 *     forces    [{name, type, body, markers, joint, point, anchor, vector, frame}]
 *     channels  [{name, unit, low, high}]
 *     ranges    [low, high, ...] of the positions, x, y and z of each body
 */
json_t *poli_scene_json(const pol_model *model, const poli_frames *frames,
                        const pol_result *result);

#endif
