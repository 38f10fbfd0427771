/* Reading JSON objects by tables.
 *
 * One table (an array of poli_field that ends with a NULL key) describes one kind of object: its
 * keys, how each value is read, where it goes, its rule, whether it is required.  The table drives
 * the reading, the detection of unknown keys and the suggestions.  A poli_kind joins the table with
 * the rules between keys.
 *
 * Reading never stops at an error: each is reported with its place and the rest is still read.
 * Objects are visited in the order of the file, so errors come in that order.
 */
#ifndef POLHODE_IO_JSON_READER_H
#define POLHODE_IO_JSON_READER_H

#include "base/errors.h"

#include <jansson.h>
#include <stddef.h>

/* A value and where it stands: a key of an object, an item of a list, or the top. */
typedef struct poli_place {
  const struct poli_place *parent; /* NULL at the top */
  const char *key;                 /* in the parent object; NULL in a list and at the top */
  size_t index;                    /* in the parent list */
  json_t *value;                   /* borrowed; NULL where something is missing */
} poli_place;

typedef struct poli_reader {
  pol_errors *errors;
  pol_status status; /* POL_NO_MEMORY as soon as an allocation has failed */
  json_t *names;     /* {"bodies": {name: index, ...}, ...}: what can be referred to by name */
} poli_reader;

typedef struct poli_field poli_field;

/* Checks the value at a place and stores it at target, or reports an error.  Texts are borrowed
 * from the JSON tree. */
typedef void poli_read(poli_reader *reader, const poli_place *place, const poli_field *field,
                       void *target);

enum { POLI_OPTIONAL, POLI_REQUIRED };

struct poli_field {
  const char *key;
  poli_read *read;
  size_t offset; /* of the target in the object's struct */
  int required;
  const char *rule;   /* "must be a positive number" */
  const void *detail; /* what the reader needs to know; see each */
};

typedef struct poli_kind {
  const char *rule; /* "must be an object that describes a body" */
  const poli_field *fields;
  size_t size;  /* of the struct of one object */
  int at_least; /* objects in a list of them */
  /* Rules between keys; may be NULL.  sound: no key of the object had an error. */
  void (*check)(poli_reader *reader, const poli_place *place, void *object, int sound);
} poli_kind;

/* A list of objects of one kind; free(items) when done. */
typedef struct poli_list {
  size_t count;
  void *items;
} poli_list;

/* --- places and errors ------------------------------------------------------------------------ */

poli_place poli_place_key(const poli_place *object, const char *key); /* value NULL if missing */
poli_place poli_place_item(const poli_place *list, size_t index);
int poli_given(const poli_place *object, const char *key);

void poli_report(poli_reader *reader, const poli_place *place, const char *suggestion,
                 const char *rule, ...) POLI_PRINTF(4, 5);
/* Reports that a key of the object is missing, unless a misspelt key of it was meant. */
void poli_report_missing(poli_reader *reader, const poli_place *object, const poli_field *fields,
                         const char *key, const char *rule);

/* --- readers: target type, detail ------------------------------------------------------------- */

/* const char *; no detail */
poli_read poli_read_text;
/* double; const poli_range, or NULL for any number */
poli_read poli_read_number;
/* int; const poli_range, within the range of int.  2.0 is a whole number too, as in JSON Schema. */
poli_read poli_read_integer;
/* double[3]; no detail */
poli_read poli_read_vector;
/* double[4]; no detail */
poli_read poli_read_vector4;
/* double[9], row by row; no detail */
poli_read poli_read_matrix;
/* double[6], two lists of 3; no detail */
poli_read poli_read_vector_pair;
/* double[3], of length 1; no detail.  Any length but zero may be given. */
poli_read poli_read_direction;
/* double[6], two of them; no detail */
poli_read poli_read_direction_pair;
/* int, the choice's number, -1 if it is none; const poli_choices, from which the rule for a wrong
 * value is made */
poli_read poli_read_choice;
/* const char *, the name of an object; const char *const[], NULL at the end: the lists of objects
 * that must not have the name, the object's own list first */
poli_read poli_read_name;
/* int, index in a list, POL_GROUND, or POLI_NOWHERE if there is none; const char, the list's key */
poli_read poli_read_reference;
/* the same without POL_GROUND */
poli_read poli_read_moving_body;
/* int[2]; poli_read_reference twice */
poli_read poli_read_reference_pair;
/* double[2]; no detail */
poli_read poli_read_number_pair;
/* the kind's struct, which may hold defaults; const poli_kind */
poli_read poli_read_object;
/* poli_list of zeroed and then read structs; const poli_kind */
poli_read poli_read_list;

typedef struct poli_range {
  double low, high; /* low <= number <= high */
  int open;         /* low < number instead */
} poli_range;

typedef struct poli_choices {
  const char *(*name)(int number); /* NULL from the first number that there is not */
} poli_choices;

enum { POLI_NOWHERE = -2 };

/* The name of the inertial frame in place of a body's. */
extern const char *const poli_ground_name;

/* Fills reader->names from the lists of these keys (NULL at the end) of the top object. */
void poli_collect_names(poli_reader *reader, json_t *top, const char *const *lists);

#endif
