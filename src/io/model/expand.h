/* Parameters, repeated objects and included files: from the tree of a model file as it is written
 * to a plain tree, which the tables of fields.c can read.
 *
 *   scope.c       names with values: evaluation of texts, and their places in other texts
 *   parameters.c  the values of "parameters", in any order, with their units
 *   expand.c      the walk over a tree: numbers for texts, copies for "repeat", files for "include"
 *   include.c     files and their instances, prefixes of names
 *   transform.c   what an include moves and turns
 *   locate.c      from a path in the plain tree back to file, path, line and element
 *
 * The tree is changed in place; where nothing is to be replaced it stays as it is.  Lists that have
 * got other items remember where each comes from. */
#ifndef POLHODE_IO_MODEL_EXPAND_H
#define POLHODE_IO_MODEL_EXPAND_H

#include <polhode/reduction.h>

#include "expression/expression_units.h"
#include "io/model/parts.h"

/* --- scopes ----------------------------------------------------------------------------------- */

typedef struct poli_named {
  const char *name; /* borrowed from a tree */
  double value;
  poli_unit unit;
} poli_named;

/* The names that texts may use; the last of two equal ones counts. */
typedef struct poli_scope {
  int count, room;
  poli_named *items;
} poli_scope;

/* 0: out of memory. */
int poli_scope_add(poli_scope *scope, const char *name, double value, const poli_unit *unit);
/* The index of a name, or -1. */
int poli_scope_find(const poli_scope *scope, const char *name);

/* The value of a text, and its unit (may be NULL).  POL_BAD_ARGUMENT: what is wrong was reported at
 * the place, with `rule` before it. */
pol_status poli_scope_value(poli_reader *reader, const poli_scope *scope, const poli_place *place,
                            const char *text, double *value, poli_unit *unit);
/* The same without reports: 1 if the text has a value in this scope. */
int poli_scope_try(poli_reader *reader, const poli_scope *scope, const char *text, double *value,
                   poli_unit *unit);

/* A text with the values of {...} in it, and of the names of the scope if it is an expression, in
 * new memory; NULL after an error, which was reported. */
char *poli_scope_fill(poli_reader *reader, const poli_scope *scope, const poli_place *place,
                      const char *text, int is_expression);

/* The next name of an expression from `at` on, "hinge" or "'left arm'" in "hinge.angle": its start,
 * and the length of its first part; *whole: that is all of it, and no function.  NULL: there is
 * none. */
const char *poli_next_name(const char *at, size_t *length, size_t *first, int *whole);

/* Whether an expression can use a name: letters, digits and _, and no word of the language. */
int poli_name_usable(poli_reader *reader, const char *name);

/* --- parameters ------------------------------------------------------------------------------- */

/* Numbers that an include gives to the parameters of its file. */
typedef struct poli_given_values {
  poli_place place;        /* its value may be NULL */
  const char *file;        /* that the place is in */
  const poli_scope *units; /* those of the values that are expressions */
} poli_given_values;

/* Evaluates the parameters at a place (NULL value: none) into an empty scope; given (may be NULL)
 * has values that count before those of the file. */
void poli_parameters_read(poli_reader *reader, const poli_place *place,
                          const poli_given_values *given, poli_scope *scope);
/* Gives the model the parameters of the scope. */
pol_status poli_parameters_keep(poli_reader *reader, const json_t *parameters,
                                const poli_scope *scope, pol_model *model);

/* --- instances of files ----------------------------------------------------------------------- */

/* A file that was read. */
typedef struct poli_source {
  char *path; /* from the folder of the model, as errors name it; "" for the model itself */
  char *text; /* NULL for the model itself, and for what stands in "files" */
  size_t size;
  json_t *tree;
  struct poli_source *next;
} poli_source;

/* One use of a file; the first is the model itself. */
typedef struct poli_instance {
  poli_source *source;
  int parent; /* which includes it; -1 for the first */
  double position[3], rotation[4];
  int is_moved, is_turned;
  json_t *tree; /* kept, or NULL: the origins of its lists are known by their addresses */
} poli_instance;

/* Where the items of a list come from. */
typedef struct poli_origin {
  int instance;
  size_t index;
} poli_origin;

typedef struct poli_origins {
  const json_t *list; /* of the plain tree */
  size_t count, room;
  poli_origin *items;
  struct poli_origins *next;
} poli_origins;

/* All that is known about an expansion. */
typedef struct poli_expansion {
  poli_reader *reader;
  const char *folder; /* of the model file, with its slash; "" for the current one; NULL: there is
                         none, and files cannot be read */
  const char *base;   /* name of the model file in its folder; "" if it is not known */
  json_t *files;      /* "files" of the model, or NULL */
  poli_source *sources;
  poli_instance *instances;
  int num_instances;
  poli_origins *origins;
  size_t num_values; /* made by copies so far */
  json_t *meshes;    /* {file: integrals} of the meshes that give bodies their inertia, and reduced
                        bodies by their keys, or NULL */
  int has_includes;
  int is_partial; /* copies or files are missing after an error: names may be, too */
} poli_expansion;

enum { POLI_INCLUDE_DEPTH = 16 };
/* Values that copies may have in all. */
extern size_t poli_expansion_limit;

/* Expands the tree of a model; the parameters are kept in the model. */
void poli_expand(poli_expansion *x, const poli_place *top, pol_model *model);
void poli_expansion_free(poli_expansion *x);

/* Expands one tree, which is an instance of a file, and what it includes. */
void poli_expand_tree(poli_expansion *x, int instance, const poli_place *top,
                      const poli_scope *scope);
/* Expands the value of an object's field or a list's item in place. */
void poli_expand_object(poli_expansion *x, int instance, const poli_place *place,
                        const poli_kind *kind, const poli_scope *scope);
/* The number of values in a value; 1 for a number. */
size_t poli_count_values(const json_t *value);
/* How many objects the key "repeat" of an object asks for, each with its scope: visit is called
 * for each.  Without that key once, with the scope as it is. */
typedef int poli_visit_copy(poli_expansion *x, const poli_scope *scope, void *user);
void poli_repeat(poli_expansion *x, const poli_place *object, const poli_scope *scope,
                 poli_visit_copy *visit, void *user);
/* Records where the next item of a list, which is in the tree of the instance `owner`, comes from.
 * 0: out of memory. */
int poli_origin_add(poli_expansion *x, const json_t *list, int owner, poli_origin origin);
const poli_origins *poli_origins_of(const poli_expansion *x, const json_t *list);

/* Reads the file of each include of a tree, and appends its objects to the lists of that tree. */
void poli_include_all(poli_expansion *x, int instance, const poli_place *top,
                      const poli_scope *scope);
/* Moves what was read to where its include puts it (transform.c). */
void poli_transform_all(poli_expansion *x, const poli_place *top, poli_model_data *data);
/* The text of a model with the files that it includes in its key "files"; the caller frees it; NULL
 * without memory. */
char *poli_text_with_files(const poli_expansion *x, const char *text, size_t size);

/* Gives bodies the mass and inertia of their shapes, where the file asks for that (masses.c); the
 * model gets a list of them. */
void poli_fill_masses(poli_expansion *x, const poli_place *top, poli_model_data *data,
                      pol_model *model);

/* Reads the files and meshes of flexible bodies and reduces them (flexible.c); the model gets a
 * list of them. */
void poli_fill_flexible(poli_expansion *x, const poli_place *top, poli_model_data *data,
                        pol_model *model);

/* What is drawn of a reduced body (surface.c), with at most so many numbers in `modes`.
 * POL_NO_MEMORY: it is empty. */
pol_status poli_surface_create(pol_surface *surface, const poli_model_flexible *body,
                               const pol_finite_elements *elements, size_t most);
void poli_surface_free(pol_surface *surface);
/* As JSON, without triangles, and back: it stays empty if the JSON is none, or has other modes. */
json_t *poli_surface_json(const pol_surface *surface);
pol_status poli_surface_read(pol_surface *surface, const json_t *object, size_t num_modes);

/* Gives the model its own copies of the controllers (controllers.c). */
pol_status poli_build_controllers(const poli_expansion *x, const poli_model_data *data,
                                  pol_model *model);
void poli_free_controllers(pol_model *model);

/* Gives errors from `first` on, whose paths are those of the plain tree, the place in their file;
 * and all errors lines and elements. */
void poli_locate_errors(poli_expansion *x, json_t *tree, const char *text, size_t size, int first);

/* Reads a model from bytes.  from: where they are from; its reader is not used.  Otherwise as
 * pol_model_read_text (load.c). */
pol_status poli_model_read_bytes(pol_model **model, const char *text, size_t size,
                                 poli_expansion from, int num_overrides,
                                 const char *const *overrides, pol_errors *errors);

#endif
