/* Model files (JSON) and result files (CSV).  docs/model-format.md describes the model format. */
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

typedef struct pol_model {
  char *name;
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

/* The JSON Schema (draft 7) of model files, with which editors complete keys and underline mistakes,
 * and the tables of their keys in Markdown, a comment "<!-- keys: KIND -->" before each.  Both are
 * made from the tables by which models are read; the caller frees the text.  POL_NO_MEMORY: NULL.
 */
pol_status pol_model_schema(char **schema);
pol_status pol_model_reference(char **reference);

/* A CSV result: the comment lines "# polhode VERSION" and "# units: s,m,...", a line of channel
 * names, then one line a recorded time with numbers of 17 digits, so that reading gives back the
 * same numbers.  Names with a comma, quote or line break are quoted (RFC 4180).  Lines are buffered
 * and written in pieces that end with a whole line; only where the system kills the process in the
 * middle of a write can the last line be cut. */
typedef struct pol_csv pol_csv;

/* Creates or replaces the file and writes its head.  The record must outlive the csv.  POL_IO: the
 * path cannot be written; errno says why, and no file is left. */
pol_status pol_csv_create(pol_csv **csv, const char *path, const pol_record *record);
/* Adds the record's values now; allocates nothing.  POL_IO: the disk is full or gone; every later
 * call then answers the same. */
pol_status pol_csv_write(pol_csv *csv);
/* Writes what is left, closes and frees.  POL_IO if anything, now or before, could not be written.
 */
pol_status pol_csv_close(pol_csv **csv);

#ifdef __cplusplus
}
#endif
#endif
