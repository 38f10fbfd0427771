/* The steps from a model file to a model, one file each:
 *
 *   model_load.c      text to JSON tree, syntax errors
 *   model_override.c  "key.path=value" changes of the tree
 *   model_data.c      tree to the structs below: the table of the whole file; its objects are in
 *     model_bodies.c        bodies and markers
 *     model_joints.c        joints
 *     model_forces.c        forces
 *     model_joint_spring.c  the coordinate of a spring on a joint
 *     model_drives.c        drives and functions of time, and their way to the mechanism
 *     model_couplings.c     couplings, and their way to the mechanism
 *     model_expressions.c   variables, states, and expressions in place of numbers
 *     model_events.c        events, and their way to the settings
 *     model_shapes.c        shapes, and their way to the model
 *     model_simulation.c    the settings of the simulation
 *     model_control.c       variable steps and output times
 *   and what these tables share in
 *     model_rules.h     rules that many keys have
 *     model_values.c    the readers of rotations, inertias and the like
 *     model_lookup.c    what the file says of an object that another one refers to
 *   model_build.c     structs to mechanism
 *   model.c           the public functions
 */
#ifndef POLHODE_IO_MODEL_PARTS_H
#define POLHODE_IO_MODEL_PARTS_H

#include <polhode/model.h>

#include "io/model/json_reader.h"

/* Parses size bytes of JSON of any type.  NULL: a syntax error, see error, or reader->status. */
json_t *poli_parse_json(poli_reader *reader, const char *text, size_t size, json_error_t *error);
/* Parses a model file; NULL after a syntax error, which is reported, or without memory. */
json_t *poli_load_json(poli_reader *reader, const char *text, size_t size);

/* Changes the tree by one "key.path=value"; what is wrong with that is reported. */
void poli_apply_override(poli_reader *reader, json_t *top, const char *override);

/* What a model file says, checked.  Texts belong to the JSON tree. */
typedef struct poli_model_body {
  const char *name;
  int point; /* the number of its type: 0 rigid, 1 point */
  double mass;
  double inertia[9];
  double position[3];
  double rotation[4];
  double velocity[3];
  double angular_velocity[3];        /* body axes */
  double angular_velocity_global[3]; /* used if given_global */
  int given_velocity, given_body, given_global;
  unsigned keep;    /* POL_KEEP_... bits */
  poli_list shapes; /* poli_model_shape */
} poli_model_body;

typedef struct poli_model_shape {
  int type; /* pol_shape_type */
  double size[3];
  double radius, length;
  double axis[3];
  const char *file;
  double scale;
  double position[3];
  double rotation[4];
  int color;
} poli_model_shape;

typedef struct poli_model_marker {
  const char *name;
  int body; /* index or POL_GROUND */
  double position[3];
  double rotation[4];
} poli_model_marker;

/* How the axes of a joint are given. */
typedef enum poli_model_axes {
  POLI_AXES_OF_BODY, /* the first body's */
  POLI_AXES_ONE,     /* axis */
  POLI_AXES_TWO,     /* axes */
  POLI_AXES_MARKERS  /* by markers */
} poli_model_axes;

typedef struct poli_model_joint {
  const char *name;
  int type; /* pol_joint_type */
  int markers[2];
  int bodies[2];
  double point[3];
  double axis[3];
  double axes[6];
  double length; /* of a distance; 0 for that of the initial position */
  int frame;     /* pol_force_frame, of the translation rows */
  double radius;
  unsigned locked; /* POL_LOCK_... bits */
  poli_model_axes given;
} poli_model_joint;

/* One number for all three axes, or one for each. */
typedef struct poli_model_rates {
  double value[3];
  int by_axis;
} poli_model_rates;

typedef struct poli_model_function {
  int type;                                    /* pol_function_type */
  pol_function plain;                          /* all numbers but the lists */
  double value;                                /* of a constant */
  const json_t *coefficients, *times, *values; /* lists of numbers */
} poli_model_function;

enum { POLI_MODEL_MARKER_AXES = POL_BODY_AXES + 1 }; /* a frame that only model files have */

/* A number, or an expression in its place. */
typedef struct poli_model_effort {
  double number;
  const char *expression; /* or NULL */
} poli_model_effort;

typedef struct poli_model_force {
  const char *name;
  int type;   /* pol_force_type */
  int body;   /* index */
  int marker; /* index; used if given_marker, instead of body and point */
  int frame;  /* pol_force_frame or POLI_MODEL_MARKER_AXES */
  int law;    /* pol_spring_law */
  poli_model_effort force[3], torque[3];
  double point[3];
  double anchor[3];
  int markers[2];
  int bodies[2]; /* used if given_bodies, instead of markers */
  double points[6], points_global[6];
  poli_model_rates stiffness, damping, rotational_stiffness, rotational_damping;
  double preload[3], preload_torque[3];
  double length, coefficient;
  poli_model_effort actuator;
  int joint; /* index */
  const char *coordinate_key;
  int coordinate; /* which of the joint's that is */
  double rest;
  poli_model_function scale;
  int given_marker, given_bodies, given_points, given_scale;
  int given_anchor, given_length; /* else those of the initial position */
} poli_model_force;

typedef struct poli_model_drive {
  const char *name;
  int joint;             /* index; or a marker */
  int marker, reference; /* indices; used if given_... */
  int coordinate;        /* pol_coordinate */
  int given_marker, given_reference;
  poli_model_function function;
} poli_model_drive;

typedef struct poli_model_coupling {
  const char *name;
  int joints[2];      /* indices */
  int coordinates[2]; /* pol_coordinate */
  double factors[2];
  double reference[2];
  int given_reference; /* else that of the initial position */
} poli_model_coupling;

/* A number, or the one that follows from the other parameters. */
typedef struct poli_model_sigma {
  double number;
  int optimal;
} poli_model_sigma;

typedef struct poli_model_event {
  const char *name, *expression;
  int direction;   /* number of the choice */
  int action;      /* pol_event_action */
  json_t *changes; /* object of texts, or NULL; borrowed */
} poli_model_event;

typedef struct poli_model_simulation {
  pol_settings settings;
  /* numbers of the choices */
  int method, formulation, start, guess, redundant, newton_kind, solver, steps;
  int published_newton, sigma_update;
  double rho_inf, alpha;
  double atol[2];             /* of translations and rotations */
  const json_t *output_times; /* list of numbers, or NULL */
  poli_model_sigma sigma;
} poli_model_simulation;

typedef struct poli_model_data {
  const char *schema;
  const char *name;
  double gravity[3];
  poli_list bodies;    /* poli_model_body */
  poli_list markers;   /* poli_model_marker */
  poli_list joints;    /* poli_model_joint */
  poli_list forces;    /* poli_model_force */
  poli_list drives;    /* poli_model_drive */
  poli_list couplings; /* poli_model_coupling */
  poli_list variables; /* pol_variable */
  poli_list states;    /* pol_state_variable */
  poli_list events;    /* poli_model_event */
  poli_list shapes;    /* poli_model_shape, of the ground */
  poli_model_simulation simulation;
} poli_model_data;

/* Reads the tree; every error is reported.  The caller frees the lists with poli_free_model_data.
 */
void poli_read_model_data(poli_reader *reader, const poli_place *top, poli_model_data *data);
void poli_free_model_data(poli_model_data *data);

/* double[4], a unit quaternion; no detail */
poli_read poli_read_rotation;
/* double[9]; no detail */
poli_read poli_read_inertia;
/* unsigned, POL_KEEP_... bits; no detail */
poli_read poli_read_keep;
/* poli_model_rates, none negative; no detail */
poli_read poli_read_rates;
/* unsigned, POL_LOCK_... bits, at least one; no detail */
poli_read poli_read_locks;

/* What the file says of an object that another one refers to by its index; `object` is the other
 * one, an item of a list of the file.  The body, if it is a point mass; else NULL. */
const json_t *poli_point_mass(const poli_place *object, int body);
/* The name of a marker's body; NULL if the file does not tell. */
const char *poli_body_of_marker(const poli_place *object, int marker);
/* The body of a marker, if it is a point mass; else NULL. */
const json_t *poli_point_mass_of_marker(const poli_reader *reader, const poli_place *object,
                                        int marker);
/* Reports "markers" of the object that are on the same body. */
void poli_check_different_bodies(poli_reader *reader, const poli_place *object,
                                 const int markers[2]);
/* The joint at an index of the file, as far as its coordinates need it; 0 if the file does not
 * tell. */
int poli_find_joint(const poli_place *top, int index, pol_joint *joint);

/* The rule that one of a joint's coordinates, of which it has some, must be given. */
enum { POLI_COORDINATES_SIZE = 160 };
void poli_write_coordinates(const pol_joint *joint, char *rule, size_t size);
/* Finds the coordinate of a joint-spring; what is wrong with it is reported. */
void poli_check_joint_spring(poli_reader *reader, const poli_place *place, poli_model_force *force);

/* The tables of bodies, markers, joints and forces, and that of the simulation. */
extern const poli_kind poli_body_kind, poli_marker_kind, poli_joint_kind, poli_force_kind;
extern const poli_kind poli_simulation_kind;
/* The tables of "control" and "output"; their struct is poli_model_simulation. */
extern const poli_kind poli_control_kind, poli_output_kind;
/* poli_model_simulation, of which it sets atol; no detail */
poli_read poli_read_atol;
/* Whether the steps are variable, and their tolerances, from what is given; checks the output times
 * against the end.  sound: no key of the simulation had an error. */
void poli_settle_control(poli_reader *reader, const poli_place *place,
                         poli_model_simulation *simulation, int sound);
/* Gives the model its own copy of the output times. */
pol_status poli_copy_output_times(const poli_model_simulation *simulation, pol_model *model);

/* The tables of a function of time and of a drive. */
extern const poli_kind poli_function_kind;
extern const poli_kind poli_drive_kind;
/* Those of a variable and of a state: pol_variable, pol_state_variable. */
extern const poli_kind poli_variable_kind, poli_state_kind;
/* poli_model_effort, and three of them; no detail */
poli_read poli_read_effort, poli_read_efforts;
/* const char *: a text whose syntax is right; no detail */
poli_read poli_read_expression;
/* Looks up the names in the text at a place, or in those of a list. */
void poli_check_names(poli_reader *reader, const poli_place *place, const pol_mechanism *mechanism);
/* Looks up all names in expressions of the file; the mechanism is complete. */
void poli_check_expressions(poli_reader *reader, const poli_place *top,
                            const pol_mechanism *mechanism);

/* A function of sound data; its lists are in *numbers, which the caller frees. */
pol_status poli_make_function(const poli_model_function *from, pol_function *function,
                              double **numbers);
/* Adds a drive of sound data; the markers and joints are there already. */
pol_status poli_add_model_drive(pol_mechanism *mechanism, const poli_model_drive *drive);

/* The same of a coupling. */
extern const poli_kind poli_coupling_kind;
pol_status poli_add_model_coupling(pol_mechanism *mechanism, const poli_model_coupling *coupling);

/* That of an event; what its reset sets, and the names there; its way to the settings. */
extern const poli_kind poli_event_kind;
void poli_check_event(poli_reader *reader, const poli_place *event, const pol_mechanism *mechanism);
pol_status poli_copy_events(const poli_model_data *data, pol_model *model);

/* The table of a shape. */
extern const poli_kind poli_shape_kind;
/* Copies the shapes of sound data to the model; poli_free_shapes also frees what a failure leaves.
 */
pol_status poli_build_shapes(const poli_model_data *data, pol_model *model);
void poli_free_shapes(pol_model *model);

/* The smallest rotation that turns the z axis into a unit vector, a unit quaternion. */
void poli_rotation_to_axis(const double axis[3], double q[4]);

/* Adds the gravity, bodies, markers, joints, forces, drives and couplings of sound data to an empty
 * mechanism. What it refuses is reported. */
void poli_build_mechanism(poli_reader *reader, const poli_place *top, const poli_model_data *data,
                          pol_mechanism *mechanism);

#endif
