/* Robots described in XML (URDF, MJCF), as model files.  docs/robots.md describes what becomes of
 * each element. */
#ifndef POLHODE_ROBOT_H
#define POLHODE_ROBOT_H

#include <polhode/errors.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How a description is read. */
typedef struct pol_robot_options {
  int floating;         /* 1: the first link is a free body; 0: it is the ground */
  const char *keyframe; /* MJCF: name of the keyframe at which it starts; NULL: the zero position */
  int absolute; /* 1: mesh files have absolute paths; 0: paths from the folder of the description */
} pol_robot_options;

/* The text of a model file (JSON) for the robot of a file; pol_model_read_file reads such files by
 * itself, with options of zero.  *notes (may be NULL) has what the model does not contain, one line
 * for each.  options may be NULL; the caller frees both texts.  POL_BAD_ARGUMENT, POL_IO: errors
 * (an empty list) has all reasons, the texts are NULL. */
pol_status pol_robot_read_file(const char *path, const pol_robot_options *options, char **model,
                               char **notes, pol_errors *errors);

#ifdef __cplusplus
}
#endif
#endif
