/* Model files (JSON).  docs/model-format.md describes the model format. */
#ifndef POLHODE_MODEL_H
#define POLHODE_MODEL_H

#include <stdint.h>

#include <polhode/errors.h>
#include <polhode/mechanism.h>
#include <polhode/simulation.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Type of a shape that represents a body or the ground in the viewer.  In the axes of the shape,
 * cylinders and cones extend along z, and the tip of a cone is at +z.  The origin is the centre of
 * the shape, except for a mesh. */
typedef enum pol_shape_type {
  POL_BOX,
  POL_CYLINDER,
  POL_SPHERE,
  POL_CONE,
  POL_MESH
} pol_shape_type;

/* The colour of a shape without a given colour. */
enum { POL_NO_COLOR = -1 };

/* A shape: for the viewer, and for mass and inertia where the model takes them from shapes. */
typedef struct pol_shape {
  pol_shape_type type;
  int body;              /* index or POL_GROUND */
  double size[3];        /* box: edges along x, y and z, m */
  double radius, length; /* cylinder, cone; sphere: radius; m */
  char *file;            /* mesh: name of a mesh file as given in the model; else NULL */
  double scale;          /* mesh: metres per unit of the file */
  double position[3];    /* of its origin, from the centre of mass in body axes; ground: global */
  double rotation[4];    /* shape axes to body axes */
  int color;             /* 0xrrggbb or POL_NO_COLOR */
} pol_shape;

/* Name of a shape type ("box", ...); NULL for an invalid type. */
const char *pol_shape_type_name(pol_shape_type type);

/* A parameter of a model file, with the value that was used. */
typedef struct pol_parameter {
  char *name;
  double value;
  char *unit;        /* as declared; "" if it is not */
  char *description; /* "" if there is none */
  double min, max;   /* smallest and largest allowed value; infinite if not given */
} pol_parameter;

/* A body whose mass or inertia is that of its shapes.  The origin that the file uses for it need
 * not be the centre of mass: the mechanism, the shapes and all results use the centre of mass. */
typedef struct pol_shape_mass {
  int body;         /* index */
  double volume;    /* of the shapes that have mass, m^3 */
  double center[3]; /* centre of mass from the file's origin of the body, body axes, m */
} pol_shape_mass;

/* What is drawn of a flexible body: points in the axes of its reference frame, from its origin, and
 * their displacements by each mode.  Meshes of polhode have a surface; of files, which say nothing
 * about elements, there are nodes alone, and of many nodes one of each two, three, ... . */
typedef struct pol_surface {
  int num_points, num_modes, num_triangles;
  int num_nodes;  /* of the finite elements */
  float *points;  /* 3 numbers each, m */
  double unit;    /* what 1 in `modes` stands for, m by unit of a mode */
  int16_t *modes; /* 3 numbers for each point, by mode */
  int *triangles; /* 3 points each, counter-clockwise from outside; edges have points twice */
} pol_surface;

/* A flexible body that was reduced from finite elements. */
typedef struct pol_reduced_note {
  int body;          /* index of its reference frame */
  int num_freedoms;  /* of the finite elements */
  double center[3];  /* centre of mass from the origin of the mesh, axes of the mesh, m */
  double anisotropy; /* pol_reduced_body */
  pol_surface surface;
} pol_reduced_note;

/* A variable of an FMU, and what it is bound to. */
typedef struct pol_binding {
  char *name;   /* of the variable of the FMU */
  int variable; /* inputs, outputs: index of the variable of the mechanism; else POL_NOT_FOUND */
  double value; /* parameters */
} pol_binding;

/* A controller of a model file: an FMU for co-simulation, which is called at the multiples of its
 * period (polhode/fmu.h). */
typedef struct pol_fmu_controller {
  char *name;
  char *file; /* the FMU, as the file names it */
  char *path; /* from the current directory; NULL: it is relative, and the model was not
                 read from a file */
  double period;
  int inputs_at_start; /* 1: in a step of the FMU, its inputs are those of the start of the step */
  int num_inputs, num_outputs, num_parameters;
  pol_binding *inputs, *outputs, *parameters;
} pol_fmu_controller;

/* Contents of a model file. */
typedef struct pol_model {
  char *name;
  char *text; /* text of the file as read, without overrides; included files are in its "files" */
  pol_mechanism *mechanism;
  pol_settings settings;
  double *output_times;   /* storage of settings.output.times; NULL if there are none */
  pol_event_rule *events; /* storage of settings.events */
  int num_controllers;
  pol_fmu_controller *controllers; /* in the order of the file */
  int num_shapes;
  pol_shape *shapes; /* shapes of the ground first, then those of each body */
  int num_shape_masses;
  pol_shape_mass *shape_masses; /* in the order of the bodies */
  int num_reduced_bodies;
  pol_reduced_note *reduced_bodies; /* in the order of the file */
  int num_parameters;
  pol_parameter *parameters; /* those of the file itself, in its order */
  int num_included;
  char **included; /* paths of the files that it includes, from the current directory */
  char *notes;     /* one line each, or NULL; of a robot in XML: what the model does not contain; of
                      files: joints and forces on the reference frame of a flexible body */
} pol_model;

/* Reads a model, or a robot in XML (polhode/robot.h).  Each of the num_overrides strings
 * "key.path=value" replaces one value of the file before the model is checked
 * ("simulation.step=1e-4", "bodies[0].mass=3", "bodies.top.mass=3"); value is JSON, or a plain word
 * for a string; keys of the path may be new, and missing objects along the path are created.
 * "parameters.L=0.3" sets a parameter, which must exist; its value may be an expression of others.
 * The path "-" is standard input.  Files to include and meshes are relative to the folder of the
 * file; a text can include only what is in its "files", and take no inertia from meshes that are
 * not described there.  errors must be an empty list. POL_BAD_ARGUMENT: *model is NULL and errors
 * holds all errors found: those of the overrides, then those of the file in its order; a syntax
 * error is reported alone.  POL_IO: the file cannot be read or exceeds 256 MB; errors holds one
 * item with the reason.  Otherwise errors stays empty. */
pol_status pol_model_read_file(pol_model **model, const char *path, int num_overrides,
                               const char *const *overrides, pol_errors *errors);
pol_status pol_model_read_text(pol_model **model, const char *text, int num_overrides,
                               const char *const *overrides, pol_errors *errors);
void pol_model_free(pol_model **model);

/* The JSON Schema (draft 7) of model files, which editors use to complete keys and mark errors, and
 * the tables of their keys in Markdown, each after a comment "<!-- keys: KIND -->".  Both are
 * generated from the tables that the reader uses.  The caller frees the text.  POL_NO_MEMORY: the
 * text is NULL.
 */
pol_status pol_model_schema(char **schema);
pol_status pol_model_reference(char **reference);

#ifdef __cplusplus
}
#endif
#endif
