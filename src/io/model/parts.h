/* The steps from a model file to a model, one file each:
 *
 *   expand.h       parameters, repeated objects and included files: to a plain tree
 *   load.c         text to JSON tree, syntax errors, "key.path=value" changes; the public functions
 *   fields.c       the tables of all keys, with fields_joints.c, fields_beams.c, fields_flexible.c
 *                  and fields_simulation.c
 *   reader.c       tree to the structs below, by these tables: wrong values, unknown, missing and
 *                  forbidden keys
 *   words.c        words of other programs, for suggestions
 *   values.c       values of several forms: rotations, inertias, settings and the like
 *   expressions.c  expressions and the names in them
 *   beams.c        beams to nodes and elements, beam_lines.c their lines
 *   flexible.c     flexible bodies: their files, meshes and reduction
 *   surface.c      what is drawn of them
 *   controllers.c  controllers, and the variables that they read
 *   masses.c       mass and inertia of bodies from their shapes
 *   rules.c        rules between the keys of an object, and what follows from the settings
 *   build.c        structs to mechanism
 *   schema.c       the JSON Schema and the tables of docs/model-format.md, from the tables
 *
 * One table (an array of poli_field that ends with a NULL key) describes one kind of object of a
 * model file: for each key its value, where that goes, which types of the object have it and need
 * it, its default, unit and description.  What a table cannot say (rules between values) is in the
 * check of a kind.
 *
 * Reading never stops at an error: each is reported with its place and the rest is still read.
 * Objects are visited in the order of the file, so errors come in that order; rules between the
 * keys of an object come after the errors of its single keys.
 */
#ifndef POLHODE_IO_MODEL_PARTS_H
#define POLHODE_IO_MODEL_PARTS_H

#include <jansson.h>
#include <stddef.h>

#include <polhode/model.h>

#include "base/errors.h"
#include "mechanism/rules.h"

/* A value and where it stands: a key of an object, an item of a list, or the top. */
typedef struct poli_place {
  const struct poli_place *parent; /* NULL at the top */
  const char *key;                 /* in the parent object; NULL in a list and at the top */
  size_t index;                    /* in the parent list */
  json_t *value;                   /* borrowed; NULL where something is missing */
} poli_place;

typedef struct poli_reader {
  pol_errors *errors;
  pol_status status;      /* POL_NO_MEMORY as soon as an allocation has failed */
  json_t *names;          /* {"bodies": {name: index, ...}, ...}: what can be referred to by name */
  const char *file;       /* included file that places are in; NULL for the model itself */
  const pol_model *model; /* that is read: its parameters are known */
  int first;              /* errors before this one have paths in the files, the others in the tree
                             that was made of them */
} poli_reader;

typedef struct poli_field poli_field;
typedef struct poli_kind poli_kind;

/* Checks the value at a place and stores it at target, or reports an error.  Texts are borrowed
 * from the JSON tree. */
typedef void poli_read(poli_reader *reader, const poli_place *place, const poli_field *field,
                       void *target);

/* What the detail of a field is. */
typedef enum poli_detail {
  POLI_NO_DETAIL,
  POLI_RANGE,   /* const poli_number_range, or NULL for any number */
  POLI_CHOICES, /* const poli_choices */
  POLI_LISTS,   /* const char *const *: the list where a reference is looked up */
  POLI_KIND     /* const poli_kind */
} poli_detail;

typedef struct poli_number_range {
  double low, high;  /* low <= number <= high */
  int open;          /* low < number instead */
  const char *rule;  /* "must be a positive number" */
  const char *words; /* in the reference: "above 0" */
} poli_number_range;

/* Stands for the range that the library has for this number of an element, by its place in the
 * struct (mechanism/rules.h), with which the struct of the object must start. */
extern const poli_number_range poli_library_range[POLI_NUM_ELEMENTS];

typedef struct poli_choices {
  const char *(*name)(int number); /* NULL from the first number that there is not */
} poli_choices;

/* What the texts in a value are, where parameters are concerned. */
typedef enum poli_texts {
  POLI_WORDS,       /* texts with {...} in them */
  POLI_NUMBERS,     /* expressions of parameters, which stand for a number */
  POLI_EXPRESSIONS, /* expressions of other names too */
  POLI_EFFORTS,     /* the same, or a number if they have no other names */
  POLI_NAMES,       /* the name of the object */
  POLI_REFERENCES,  /* the name of another object */
  POLI_NO_TEXTS     /* nothing is replaced in it */
} poli_texts;

/* A kind of value. */
typedef struct poli_value {
  poli_read *read;
  size_t size;                   /* bytes at the target */
  poli_detail detail;            /* of the fields */
  const char *rule;              /* for a wrong value, unless the field or its range has one */
  const char *words;             /* in the reference: "3 numbers" */
  const char *schema;            /* JSON Schema, with ' for ", without what the detail says */
  const struct poli_value *item; /* a list of count such values, one after the other at target */
  size_t count;
  const poli_kind *kind; /* an object of this kind, beside what the schema says */
  poli_texts texts;
  const char *word; /* which may stand in place of a number, or NULL */
} poli_value;

/* Its first members, up to the schema and what else there is. */
#define POLI_VALUE(r, s, d, u, w, ...)                                                             \
  {                                                                                                \
    .read = (r), .size = (s), .detail = (d), .rule = (u), .words = (w), .schema = __VA_ARGS__      \
  }

/* The types of an object as bits; an object without type, or with a wrong one, has POLI_NO_TYPE. */
#define POLI_TYPE(number) (1u << (number))
#define POLI_NO_TYPE (1u << 31)
#define POLI_ALWAYS (~0u)
enum { POLI_MAX_TYPES = 31 };

struct poli_field {
  const char *key;
  const poli_value *value;
  size_t offset; /* of the target in the object's struct */
  const void *detail;
  const char *rule; /* "must be ..."; NULL for that of the range or value */

  /* Which objects have the key. */
  unsigned required;      /* types that must have it */
  unsigned types;         /* types that may have it; 0 for all */
  const char *instead;    /* another key that makes it dispensable */
  const char *needed_by;  /* it is required only beside this key; required 0: by all types */
  const char *not_beside; /* another key that excludes it */
  const char *only_with;  /* another key without which it must not be given */
  const char *missing;    /* why it is required; NULL for the rule */
  const char *forbidden;  /* the rule where the type does not have it; NULL for that of the kind */

  /* For people: Markdown. */
  const char *unit;
  const char *standard; /* default: JSON, or words; NULL for none */
  const char *help;
};

struct poli_kind {
  const char *name; /* "body" */
  const char *rule; /* "must be an object that describes a body" */
  const poli_field *fields;
  size_t size;         /* of the struct of one object */
  const void *initial; /* that struct before reading; NULL for zeros */
  size_t at_least;     /* objects in a list of them */
  const char *link;    /* heading in docs/model-format.md: "bodies" */

  /* Types. */
  const char *type_key; /* "type"; NULL: all objects are the same */
  int standard_type;    /* without that key, if the `instead` of its field is given; -1 for none */
  const char *const *articles; /* POLI_MAX_TYPES of them, "drag" for a drag; NULL for that */
  const char *noun;            /* " function": the rule for forbidden keys names the type, so
                                  called, and the key; NULL: the type only */
  const char *(*reason)(const poli_field *field, int type); /* why a type needs or has not a key,
                                        where the field does not say it; may be NULL */

  /* Rules between keys; may be NULL.  sound: nothing of the object was wrong so far. */
  void (*check)(poli_reader *reader, const poli_place *place, void *object, int sound);
  const char *schema; /* the same as JSON Schema, with ' for ", as far as possible; or NULL */
};

/* A list of objects of one kind; free(items) when done. */
typedef struct poli_items {
  size_t count;
  void *items;
} poli_items;

/* --- places and errors ------------------------------------------------------------------------ */

poli_place poli_place_key(const poli_place *object, const char *key); /* value NULL if missing */
poli_place poli_place_item(const poli_place *list, size_t index);
int poli_given(const poli_place *object, const char *key);

/* What a usual word of other programs means among names, which are given one by one until NULL; ""
 * if it is none. */
const char *poli_near_word(const char *word, const char *(*name)(const void *of, int i),
                           const void *of);
/* Reports a key that the kind does not have, with a near one. */
void poli_report_unknown(poli_reader *reader, const poli_place *place, const poli_kind *kind);
void poli_report(poli_reader *reader, const poli_place *place, const char *suggestion,
                 const char *rule, ...) POLI_PRINTF(4, 5);
/* Adds an error in the file that is read. */
pol_status poli_add_error(poli_reader *reader, const char *path, const char *value,
                          const char *rule, const char *suggestion);
/* Its path, "bodies[0].mass", "" for the top; the caller frees; NULL without memory. */
char *poli_path(const poli_place *place);
/* The range of a number, or of those of a list; NULL for any number. */
const poli_number_range *poli_range_of(const poli_field *field);
/* The rule of a wrong value. */
const char *poli_rule(const poli_field *field);
/* Reports that a key of the object is missing, unless a misspelt key of it was meant. */
void poli_report_missing(poli_reader *reader, const poli_place *object, const poli_field *fields,
                         const char *key, const char *rule);
/* Reports that the value at a place is wrong, by the rule of its field. */
void poli_report_wrong(poli_reader *reader, const poli_place *place, const poli_field *field);

/* --- values ----------------------------------------------------------------------------------- */

/* The target of each is in its comment. */
extern const poli_value poli_text;        /* const char * */
extern const poli_value poli_word;        /* const char *: a choice that is checked later */
extern const poli_value poli_number;      /* double */
extern const poli_value poli_integer;     /* int; 2.0 is a whole number too, as in JSON Schema */
extern const poli_value poli_flag;        /* int, 0 or 1 */
extern const poli_value poli_pair;        /* double[2] */
extern const poli_value poli_vector;      /* double[3] */
extern const poli_value poli_quaternion;  /* double[4] */
extern const poli_value poli_matrix;      /* double[9], row by row */
extern const poli_value poli_points;      /* double[6], two vectors */
extern const poli_value poli_direction;   /* double[3], not all 0 */
extern const poli_value poli_directions;  /* double[6], two of them */
extern const poli_value poli_choice;      /* int or an enumeration; -1 if it is wrong */
extern const poli_value poli_choice_pair; /* int[2] */
extern const poli_value poli_name;        /* const char * */
/* int, index in a list, POL_GROUND where that is a list of bodies, or POL_NOT_FOUND */
extern const poli_value poli_reference;
extern const poli_value poli_references;  /* int[2], POL_NOT_FOUND before */
extern const poli_value poli_moving_body; /* int, likewise; a force refuses the ground */
extern const poli_value poli_object;      /* the kind's struct, which holds defaults */
extern const poli_value poli_objects;     /* poli_items */

/* The field of a key, or NULL. */
const poli_field *poli_find_field(const poli_field *fields, const char *key);
/* The name of a type of a kind; NULL from the first number that there is not. */
const char *poli_type_name(const poli_kind *kind, int number);
/* Reads an object. */
void poli_read_kind(poli_reader *reader, const poli_place *place, const poli_kind *kind,
                    void *object);

/* Fills reader->names from the lists of named objects of the top object. */
void poli_collect_names(poli_reader *reader, json_t *top, const poli_kind *kind);

/* --- the data of a model file ----------------------------------------------------------------- */

/* What a model file says.  Texts belong to the JSON tree.  Where a struct of the library
 * stands inside, keys are read straight into it; NAN stands for numbers that are not given, and
 * POL_NOT_FOUND for references. */
typedef struct poli_model_body {
  pol_body body;
  double angular_velocity_global[3];
  poli_items shapes; /* poli_model_shape */
  double density;    /* of the shapes; NAN if it is not given */
  int auto_inertia;  /* the inertia is that of the shapes */
  int is_sound;      /* its keys and shapes are free of errors */
} poli_model_body;

typedef struct poli_model_shape {
  pol_shape shape; /* without file */
  const char *file;
  double axis[3];
  double density; /* NAN: that of the body */
} poli_model_shape;

enum { POLI_JOINT_COORDINATES = POL_DRIVE_ROTATION_2 + 1 };

typedef struct poli_model_joint {
  pol_joint joint;
  int bodies[2];
  double point[3];
  double axis[3];
  double axes[6];
  int frame; /* pol_force_frame, of the translation rows */
  /* what acts on its only coordinate, and on each by its pol_coordinate */
  pol_joint_axis single, coordinates[POLI_JOINT_COORDINATES];
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

/* The section of a beam: the keys of its type, or the numbers themselves. */
typedef struct poli_model_section {
  int type;                                /* POLI_RECTANGLE, ... */
  double width, height, radius, thickness; /* thickness NAN: it is solid */
  double area, moments[2], torsion, shear[2];
  double stiffness[36], mass, inertia[3], center[2];
} poli_model_section;

enum { POLI_RECTANGLE, POLI_CIRCLE, POLI_GENERAL, POLI_STIFFNESS };

/* A place on the line of a beam: one of both, the other is NAN. */
typedef struct poli_beam_marker {
  const char *name;
  double at, fraction; /* m, and of the length */
} poli_beam_marker;

/* Loads by length, from one place to another. */
typedef struct poli_beam_load {
  const char *name;
  double force[3], moment[3];
  int axes;        /* POLI_LOAD_GLOBAL, ... */
  double from, to; /* m; NAN: the end */
  poli_model_function scale;
} poli_beam_load;

enum { POLI_LOAD_GLOBAL, POLI_LOAD_SECTION };

typedef struct poli_model_beam {
  const char *name;
  int type;             /* POLI_LINE, ... */
  const json_t *points; /* lists of 3 numbers */
  int elements;
  double grading[2]; /* by which fraction elements at start and end are shorter than the mean */
  double up[3], twist;
  poli_items markers, loads; /* poli_beam_marker, poli_beam_load */
  poli_model_section section;
  double young, shear, poisson, density; /* NAN if they are not given */
  double damping, bending, twisting;
  int strain;
  int ends[2]; /* bodies that it is clamped to */
  double velocity[3], angular_velocity[3];
  unsigned given;
  int color;
  double position[3], rotation[4]; /* of the origin of the points: where an include puts it */
  int is_sound;
} poli_model_beam;

enum { POLI_LINE, POLI_ARC, POLI_SPLINE };

/* A mesh of polhode's own; the material of all of them is that of the beam. */
typedef struct poli_model_mesh {
  int type; /* POLI_BEAM_MESH, ... */
  poli_model_beam beam;
  double size[3];
  int divisions[3];
} poli_model_mesh;

enum { POLI_BEAM_MESH, POLI_PLATE, POLI_BLOCK };

typedef struct poli_model_interface {
  const char *name;
  const json_t *nodes;
  double near[3], box[6], position[3]; /* NAN: not given */
} poli_model_interface;

typedef struct poli_model_flexible {
  const char *name;
  const char *files[3]; /* mass matrix, stiffness matrix, nodes; NULL: the mesh */
  int units;            /* POLI_UNITS_M, ... */
  poli_model_mesh mesh;
  poli_items interfaces; /* poli_model_interface */
  int modes;
  double frequency, damping, rayleigh[2];
  double position[3], rotation[4], velocity[3], angular_velocity[3], angular_velocity_global[3];
  unsigned given;
  int is_sound;
  struct pol_reduced_body *reduced; /* NULL before poli_fill_flexible and after an error */
  pol_surface surface;              /* empty as long */
} poli_model_flexible;

enum { POLI_UNITS_M, POLI_UNITS_MM };

typedef struct poli_model_event {
  const char *name, *expression;
  int direction;   /* POLI_RISING, ... */
  int action;      /* pol_event_action */
  json_t *changes; /* object of texts, or NULL; borrowed */
} poli_model_event;

enum { POLI_RISING, POLI_FALLING, POLI_BOTH };

typedef struct poli_model_controller {
  const char *name, *fmu;
  double period;
  int inputs_at;                               /* POLI_INPUTS_AT_END, ... */
  const json_t *inputs, *outputs, *parameters; /* objects, or NULL */
} poli_model_controller;

enum { POLI_INPUTS_AT_END, POLI_INPUTS_AT_START };

typedef struct poli_model_simulation {
  pol_settings settings;
  int method, steps;   /* numbers of the choices; -1 if wrong, or steps not given */
  int automatic, keep; /* the method is to be chosen; POL_KEEP_... of what is given */
  char not_rattle[80]; /* given keys that have no effect on rattle, separated by commas */
  double rho_inf, alpha;
  double atol[2];             /* of translations and rotations */
  const json_t *output_times; /* list of numbers, or NULL */
  double sigma;               /* NAN: the optimal one */
} poli_model_simulation;

typedef struct poli_model_data {
  const char *schema;
  const char *name;
  double gravity[3];
  poli_items bodies;      /* poli_model_body */
  poli_items markers;     /* pol_marker */
  poli_items joints;      /* poli_model_joint */
  poli_items beams;       /* poli_model_beam */
  poli_items flexible;    /* poli_model_flexible */
  poli_items forces;      /* poli_model_force */
  poli_items drives;      /* poli_model_drive */
  poli_items couplings;   /* pol_coupling */
  poli_items variables;   /* pol_variable */
  poli_items states;      /* pol_state_variable */
  poli_items events;      /* poli_model_event */
  poli_items controllers; /* poli_model_controller */
  poli_items shapes;      /* poli_model_shape, of the ground */
  poli_model_simulation simulation;
} poli_model_data;

/* An object of "include". */
typedef struct poli_include_keys {
  const char *file, *prefix;
  double position[3], rotation[4];
  const json_t *parameters, *connect; /* objects, or NULL */
} poli_include_keys;

/* A parameter that is written as an object. */
typedef struct poli_parameter_keys {
  const char *unit, *description;
} poli_parameter_keys;

/* --- the steps -------------------------------------------------------------------------------- */

/* The tables: that of the whole file, which leads to all others, and some that readers need. */
extern const poli_kind poli_model_kind;
extern const poli_kind poli_rotation_kind, poli_keep_kind, poli_tolerances_kind;
extern const poli_kind poli_include_kind, poli_parameter_kind;
extern const poli_kind poli_joint_kind, poli_beam_kind, poli_simulation_kind;
extern const poli_kind poli_section_kind, poli_material_kind, poli_flexible_kind, poli_mesh_kind;
extern const poli_model_flexible poli_new_flexible;

extern const poli_number_range poli_positive, poli_not_negative;

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
extern const poli_value poli_rotation;  /* double[4], a unit quaternion */
extern const poli_value poli_inertia;   /* poli_model_body: its inertia, or auto_inertia */
extern const poli_value poli_keep;      /* unsigned, POL_KEEP_... bits */
extern const poli_value poli_axes;      /* unsigned, a key of "keep" */
extern const poli_value poli_rates;     /* double[3], none negative */
extern const poli_value poli_locks;     /* unsigned, POL_LOCK_... bits, at least one */
extern const poli_value poli_mesh_file; /* const char *, the name of a mesh file */
extern const poli_value poli_data_file; /* const char *, the name of another file */
extern const poli_value poli_color;     /* int, 0xrrggbb */
extern const poli_value poli_index;     /* pol_index */
extern const poli_value poli_order;     /* int, 0: auto */
extern const poli_value poli_sigma;     /* double, NAN for "optimal" */
extern const poli_value poli_atol;      /* double[2], in poli_model_simulation */
/* const json_t *: lists of at least one, and two numbers; times that ascend from above 0 */
extern const poli_value poli_numbers, poli_two_numbers, poli_times;
extern const poli_value poli_section_matrix;  /* double[36], row by row */
extern const poli_value poli_line;            /* const json_t *: two points or more */
extern const poli_value poli_expression;      /* const char *: a text whose syntax is right */
extern const poli_value poli_time_expression; /* const char *: an expression of t */
extern const poli_value poli_effort;   /* pol_force: its actuator, a number or expressions[0] */
extern const poli_value poli_efforts;  /* pol_force: its vector, numbers or expressions */
extern const poli_value poli_changes;  /* json_t *: an object of expressions, borrowed */
extern const poli_value poli_function; /* poli_model_function: an object, an expression, a number */
extern const poli_value poli_parameter_value, poli_parameter_list,
    poli_includes;                     /* nothing, likewise */
extern const poli_value poli_expanded; /* nothing: what expand.h has evaluated already */
/* const json_t *: objects, borrowed; of numbers, of names, of expressions, of names of variables */
extern const poli_value poli_number_map, poli_name_map, poli_expression_map, poli_variable_map;

/* Rules between keys, the checks of the kinds. */
typedef void poli_check(poli_reader *reader, const poli_place *place, void *object, int sound);
poli_check poli_check_limits, poli_check_friction;
poli_check poli_check_model, poli_check_beam;
poli_check poli_check_flexible, poli_check_mesh, poli_check_interface;
poli_check poli_check_body, poli_check_shape, poli_check_force, poli_check_function,
    poli_check_event, poli_check_controller, poli_check_rotation, poli_check_control,
    poli_check_simulation;

/* Parses a model file, which a zero byte follows; NULL after a syntax error, which is reported, or
 * without memory. */
json_t *poli_load_json(poli_reader *reader, const char *text, size_t size);

/* Looks up all names in expressions of the file; the mechanism is complete. */
void poli_check_expressions(poli_reader *reader, const poli_place *top,
                            const pol_mechanism *mechanism);

/* Adds the gravity and the elements of the data to an empty mechanism.  What it refuses is
 * reported, at places that have no error yet; the errors are then in the order of the file. */
void poli_build_mechanism(poli_reader *reader, const poli_place *top, const poli_model_data *data,
                          pol_mechanism *mechanism);
/* Adds the variables that controllers read (controllers.c), and checks those that they set. */
void poli_add_controllers(poli_reader *reader, const poli_place *top, const poli_model_data *data,
                          pol_mechanism *mechanism);
/* The nodes of a beam, from its keys (beams.c); the lists belong to *memory, which the caller
 * frees. The beam is sound. */
pol_status poli_beam_layout(const poli_model_beam *from, pol_beam *beam, void **memory);
/* Adds one of the markers of a beam, and one of its loads as forces on its nodes; first is the
 * index of the first node, scale may be NULL. */
pol_status poli_beam_add_marker(pol_mechanism *mechanism, const poli_model_beam *from,
                                const pol_beam *beam, int first, size_t index);
pol_status poli_beam_add_load(pol_mechanism *mechanism, const poli_beam_load *load,
                              const pol_beam *beam, int first, const pol_function *scale);

/* The line of a beam (beam_lines.c). */
typedef struct poli_beam_line poli_beam_line;
pol_status poli_beam_line_create(poli_beam_line **line, const poli_model_beam *from);
void poli_beam_line_free(poli_beam_line **line);
double poli_beam_line_length(const poli_beam_line *line);
/* The angle by which the tangent turns between two lengths, not at corners; INFINITY at a cusp. */
double poli_beam_line_turning(const poli_beam_line *line, double from, double to);
double poli_beam_marker_at(const poli_beam_line *line, const poli_beam_marker *marker);
/* Where pieces between corners and markers end; ends has room for all points and markers.  Returns
 * their number. */
int poli_beam_line_spans(const poli_beam_line *line, double *ends);

/* Nodes: lengths up to them, points, and tangents of the elements before and behind them, which
 * differ at a corner. */
typedef struct poli_beam_nodes {
  double *s, *x, *before, *back;
  double *lengths; /* of the elements */
} poli_beam_nodes;
void poli_beam_line_nodes(const poli_beam_line *line, int num_spans, const double *ends,
                          const poli_beam_nodes *nodes);

/* Adds a flexible body and its interfaces (flexible.c); bodies in their place after an error. */
pol_status poli_flexible_add(const poli_model_flexible *from, pol_mechanism *mechanism);

/* Gives the model its own copies of shapes, events and output times; pol_model_free frees what a
 * failure leaves. */
pol_status poli_build_shapes(const poli_model_data *data, pol_model *model);
pol_status poli_build_events(const poli_model_data *data, pol_model *model);
pol_status poli_build_output_times(const poli_model_data *data, pol_model *model);

#endif
