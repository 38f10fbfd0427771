/* The steps from a model file to a model, one file each:
 *
 *   load.c      text to JSON tree, syntax errors, and "key.path=value" changes of the tree
 *   fields.c    the tables of all keys; fields.h explains them
 *   reader.c    tree to the structs below, by these tables
 *   values.c    values of several forms: rotations, inertias, expressions and the like
 *   rules.c     rules between the keys of an object, and between objects
 *   settings.c  what follows from the settings of the simulation
 *   build.c     structs to mechanism
 *   model.c     the public functions
 *   schema.c    the JSON Schema and the reference, from the tables
 */
#ifndef POLHODE_IO_MODEL_PARTS_H
#define POLHODE_IO_MODEL_PARTS_H

#include <polhode/model.h>

#include "io/model/fields.h"

/* Parses a model file; NULL after a syntax error, which is reported, or without memory. */
json_t *poli_load_json(poli_reader *reader, const char *text, size_t size);

/* Changes the tree by one "key.path=value"; what is wrong with that is reported. */
void poli_apply_override(poli_reader *reader, json_t *top, const char *override);

/* What a model file says.  Texts belong to the JSON tree.  Where a struct of the library
 * stands inside, keys are read straight into it; NAN stands for numbers that are not given, and
 * POL_NOT_FOUND for references. */
typedef struct poli_model_body {
  pol_body body;
  double angular_velocity_global[3];
  poli_items shapes; /* poli_model_shape */
} poli_model_body;

typedef struct poli_model_shape {
  pol_shape shape; /* without file */
  const char *file;
  double axis[3];
} poli_model_shape;

typedef struct poli_model_joint {
  pol_joint joint;
  int bodies[2];
  double point[3];
  double axis[3];
  double axes[6];
  int frame; /* pol_force_frame, of the translation rows */
} poli_model_joint;

typedef struct poli_model_function {
  pol_function plain;                          /* all but the lists */
  const json_t *coefficients, *times, *values; /* lists of numbers */
  int given;
} poli_model_function;

enum { POLI_MODEL_MARKER_AXES = POL_BODY_AXES + 1 }; /* a frame that only model files have */

typedef struct poli_model_force {
  pol_force force;
  int marker;    /* instead of body and point */
  int bodies[2]; /* instead of markers */
  double points[6], points_global[6];
  const char *coordinate;
  poli_model_function scale;
} poli_model_force;

typedef struct poli_model_drive {
  pol_drive drive;
  int marker, reference; /* instead of the joint */
  poli_model_function function;
} poli_model_drive;

typedef struct poli_model_event {
  const char *name, *expression;
  int direction;   /* POLI_RISING, ... */
  int action;      /* pol_event_action */
  json_t *changes; /* object of texts, or NULL; borrowed */
} poli_model_event;

enum { POLI_RISING, POLI_FALLING, POLI_BOTH };

typedef struct poli_model_simulation {
  pol_settings settings;
  int method, steps;                /* numbers of the choices; -1 if not given */
  int automatic, keeps_formulation; /* the method is to be chosen; the formulation is given */
  double rho_inf, alpha;
  double atol[2];             /* of translations and rotations */
  const json_t *output_times; /* list of numbers, or NULL */
  double sigma;               /* NAN: the optimal one */
} poli_model_simulation;

typedef struct poli_model_data {
  const char *schema;
  const char *name;
  double gravity[3];
  poli_items bodies;    /* poli_model_body */
  poli_items markers;   /* pol_marker */
  poli_items joints;    /* poli_model_joint */
  poli_items forces;    /* poli_model_force */
  poli_items drives;    /* poli_model_drive */
  poli_items couplings; /* pol_coupling */
  poli_items variables; /* pol_variable */
  poli_items states;    /* pol_state_variable */
  poli_items events;    /* poli_model_event */
  poli_items shapes;    /* poli_model_shape, of the ground */
  poli_model_simulation simulation;
} poli_model_data;

/* The tables: that of the whole file, which leads to all others, and some that readers need. */
extern const poli_kind poli_model_kind;
extern const poli_kind poli_rotation_kind, poli_keep_kind, poli_tolerances_kind;

extern const poli_range poli_positive, poli_not_negative;

/* The keys of an object that has one of several ways to say a rotation. */
typedef struct poli_rotation_keys {
  double axis[3], angle;
  double quaternion[4];
  double matrix[9];
  double rotation_vector[3];
  double result[4];
} poli_rotation_keys;

/* For each key of "keep" the three bits of x, y and z. */
typedef struct poli_keep_keys {
  unsigned position, rotation, velocity, angular_velocity;
} poli_keep_keys;

/* Values of several forms; the target of each is in its comment. */
extern const poli_value poli_rotation; /* double[4], a unit quaternion */
extern const poli_value poli_inertia;  /* double[9] */
extern const poli_value poli_keep;     /* unsigned, POL_KEEP_... bits */
extern const poli_value poli_axes;     /* unsigned, a key of "keep" */
extern const poli_value poli_rates;    /* double[3], none negative */
extern const poli_value poli_locks;    /* unsigned, POL_LOCK_... bits, at least one */
extern const poli_value poli_mesh;     /* const char *, the name of a mesh file */
extern const poli_value poli_color;    /* int, 0xrrggbb */
extern const poli_value poli_index;    /* pol_index */
extern const poli_value poli_order;    /* int, 0: auto */
extern const poli_value poli_sigma;    /* double, NAN for "optimal" */
extern const poli_value poli_atol;     /* double[2], in poli_model_simulation */
/* const json_t *: lists of at least one, and two numbers; times that ascend from above 0 */
extern const poli_value poli_numbers, poli_two_numbers, poli_times;
extern const poli_value poli_expression;      /* const char *: a text whose syntax is right */
extern const poli_value poli_time_expression; /* const char *: an expression of t */
extern const poli_value poli_effort;  /* pol_force: its actuator, a number or expressions[0] */
extern const poli_value poli_efforts; /* pol_force: its vector, numbers or expressions */
extern const poli_value poli_changes; /* json_t *: an object of expressions, borrowed */

/* Rules between keys, the checks of the kinds. */
typedef void poli_check(poli_reader *reader, const poli_place *place, void *object, int sound);
poli_check poli_check_body, poli_check_shape, poli_check_force, poli_check_function,
    poli_check_quantity, poli_check_event, poli_check_rotation, poli_check_control,
    poli_check_simulation;

/* Looks up all names in expressions of the file; the mechanism is complete. */
void poli_check_expressions(poli_reader *reader, const poli_place *top,
                            const pol_mechanism *mechanism);

/* Adds the gravity and the elements of the data to an empty mechanism.  What it refuses is
 * reported, at places that have no error yet; the errors are then in the order of the file. */
void poli_build_mechanism(poli_reader *reader, const poli_place *top, const poli_model_data *data,
                          pol_mechanism *mechanism);
/* Gives the model its own copies of shapes, events and output times; poli_free_shapes also frees
 * what a failure leaves. */
pol_status poli_build_shapes(const poli_model_data *data, pol_model *model);
pol_status poli_build_events(const poli_model_data *data, pol_model *model);
pol_status poli_build_output_times(const poli_model_data *data, pol_model *model);
void poli_free_shapes(pol_model *model);

#endif
