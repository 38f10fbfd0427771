/* Model files (JSON).  docs/model-format.md describes the model format. */
#ifndef POLHODE_MODEL_H
#define POLHODE_MODEL_H

#include <polhode/errors.h>
#include <polhode/mechanism.h>
#include <polhode/simulation.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a body, or the ground, looks like in pictures.  Its own axes: a cylinder lies along z, so
 * does a cone, whose tip is at +z; the origin is the middle of all but a mesh. */
typedef enum pol_shape_type {
  POL_BOX,
  POL_CYLINDER,
  POL_SPHERE,
  POL_CONE,
  POL_MESH
} pol_shape_type;

/* The colour of a shape that has none of its own. */
enum { POL_NO_COLOR = -1 };

/* A shape, for pictures only. */
typedef struct pol_shape {
  pol_shape_type type;
  int body;              /* index or POL_GROUND */
  double size[3];        /* box: edges along x, y and z, m */
  double radius, length; /* cylinder, cone; sphere: radius; m */
  char *file;            /* mesh: name of an STL or OBJ file as the model has it; else NULL */
  double scale;          /* mesh: metres a unit of the file */
  double position[3];    /* of its origin in body axes from the centre of mass; ground: global */
  double rotation[4];    /* its axes to body axes */
  int color;             /* 0xrrggbb or POL_NO_COLOR */
} pol_shape;

/* "box" and so on; NULL if there is no such type. */
const char *pol_shape_type_name(pol_shape_type type);

/* What a model file contains. */
typedef struct pol_model {
  char *name;
  char *text; /* of the file as it was read, without overrides */
  pol_mechanism *mechanism;
  pol_settings settings;
  double *output_times;   /* what settings.output.times points to; NULL if there are none */
  pol_event_rule *events; /* the same of settings.events */
  int num_shapes;
  pol_shape *shapes; /* those of the ground first, then body by body */
} pol_model;

/* Reads a model.  Each of num_overrides strings "key.path=value" replaces one value of the file
 * before it is checked ("simulation.step=1e-4", "bodies[0].mass=3", "bodies.top.mass=3"); value is
 * JSON, or a plain word for a string; keys of the path may be new, and objects on the way are made.
 * errors is an empty list. POL_BAD_ARGUMENT: *model is NULL and errors holds every error found:
 * those of the overrides, then those of the file in its order; a syntax error comes alone.  POL_IO:
 * the file cannot be read, or has more than 256 MB; errors holds one item that says why.  Otherwise
 * errors stays empty. */
pol_status pol_model_read_file(pol_model **model, const char *path, int num_overrides,
                               const char *const *overrides, pol_errors *errors);
pol_status pol_model_read_text(pol_model **model, const char *text, int num_overrides,
                               const char *const *overrides, pol_errors *errors);
void pol_model_free(pol_model **model);

/* The JSON Schema (draft 7) of model files, with which editors complete keys and underline
 * mistakes, and the tables of their keys in Markdown, a comment "<!-- keys: KIND -->" before each.
 * Both are made from the tables by which models are read; the caller frees the text. POL_NO_MEMORY:
 * NULL.
 */
pol_status pol_model_schema(char **schema);
pol_status pol_model_reference(char **reference);

#ifdef __cplusplus
}
#endif
#endif
