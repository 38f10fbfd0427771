/* Reading JSON objects by tables.
 *
 * One table (an array of pol_field that ends with a NULL key) describes one kind of object: its
 * keys, how each value is read, where it goes, its rule, whether it is required.  The table drives
 * the reading, the detection of unknown keys and the suggestions.  A pol_kind joins the table with
 * the rules between keys.
 *
 * Reading never stops at an error: each is reported with its place and the rest is still read.
 * Objects are visited in the order of the file, so errors come in that order.
 */
#ifndef POLHODE_IO_JSON_READER_H
#define POLHODE_IO_JSON_READER_H

#include "io/errors.h"

#include <jansson.h>
#include <stddef.h>

/* A value and where it stands: a key of an object, an item of a list, or the top. */
typedef struct pol_place {
  const struct pol_place *parent; /* NULL at the top */
  const char *key;                /* in the parent object; NULL in a list and at the top */
  size_t index;                   /* in the parent list */
  json_t *value;                  /* borrowed; NULL where something is missing */
} pol_place;

typedef struct pol_reader {
  pol_errors *errors;
  pol_status status; /* POL_NO_MEMORY as soon as an allocation has failed */
  json_t *names;     /* {"bodies": {name: index, ...}, ...}: what can be referred to by name */
} pol_reader;

typedef struct pol_field pol_field;

/* Checks the value at a place and stores it at target, or reports an error.  Texts are borrowed
 * from the JSON tree. */
typedef void pol_read(pol_reader *reader, const pol_place *place, const pol_field *field,
                      void *target);

enum { POL_OPTIONAL, POL_REQUIRED };

struct pol_field {
  const char *key;
  pol_read *read;
  size_t offset; /* of the target in the object's struct */
  int required;
  const char *rule;   /* "must be a positive number" */
  const void *detail; /* what the reader needs to know; see each */
};

typedef struct pol_kind {
  const char *rule; /* "must be an object that describes a body" */
  const pol_field *fields;
  size_t size;  /* of the struct of one object */
  int at_least; /* objects in a list of them */
  /* Rules between keys; may be NULL.  sound: no key of the object had an error. */
  void (*check)(pol_reader *reader, const pol_place *place, void *object, int sound);
} pol_kind;

/* A list of objects of one kind; free(items) when done. */
typedef struct pol_list {
  size_t count;
  void *items;
} pol_list;

/* --- places and errors ------------------------------------------------------------------------ */

pol_place pol_place_key(const pol_place *object, const char *key); /* value NULL if missing */
pol_place pol_place_item(const pol_place *list, size_t index);
int pol_given(const pol_place *object, const char *key);

void pol_report(pol_reader *reader, const pol_place *place, const char *suggestion,
                const char *rule, ...) POL_PRINTF(4, 5);
/* Reports that a key of the object is missing, unless a misspelt key of it was meant. */
void pol_report_missing(pol_reader *reader, const pol_place *object, const pol_field *fields,
                        const char *key, const char *rule);

/* --- readers: target type, detail ------------------------------------------------------------- */

/* const char *; no detail */
pol_read pol_read_text;
/* double; const pol_range, or NULL for any number */
pol_read pol_read_number;
/* int; const pol_range, within the range of int.  2.0 is a whole number too, as in JSON Schema. */
pol_read pol_read_integer;
/* double[3]; no detail */
pol_read pol_read_vector;
/* double[4]; no detail */
pol_read pol_read_vector4;
/* double[9], row by row; no detail */
pol_read pol_read_matrix;
/* double[6], two lists of 3; no detail */
pol_read pol_read_vector_pair;
/* double[3], of length 1; no detail.  Any length but zero may be given. */
pol_read pol_read_direction;
/* double[6], two of them; no detail */
pol_read pol_read_direction_pair;
/* int, the choice's number, -1 if it is none; const pol_choices, from which the rule for a wrong
 * value is made */
pol_read pol_read_choice;
/* const char *, the name of an object; const char *const[], NULL at the end: the lists of objects
 * that must not have the name, the object's own list first */
pol_read pol_read_name;
/* int, index in a list, POL_GROUND, or POL_NOWHERE if there is none; const char, the list's key */
pol_read pol_read_reference;
/* the same without POL_GROUND */
pol_read pol_read_moving_body;
/* int[2]; pol_read_reference twice */
pol_read pol_read_reference_pair;
/* double[2]; no detail */
pol_read pol_read_number_pair;
/* the kind's struct, which may hold defaults; const pol_kind */
pol_read pol_read_object;
/* pol_list of zeroed and then read structs; const pol_kind */
pol_read pol_read_list;

typedef struct pol_range {
  double low, high; /* low <= number <= high */
  int open;         /* low < number instead */
} pol_range;

typedef struct pol_choices {
  const char *(*name)(int number); /* NULL from the first number that there is not */
} pol_choices;

enum { POL_NOWHERE = -2 };

/* The name of the inertial frame in place of a body's. */
extern const char *const pol_ground_name;

/* Fills reader->names from the lists of these keys (NULL at the end) of the top object. */
void pol_collect_names(pol_reader *reader, json_t *top, const char *const *lists);

#endif
