/* Tables of keys, and what follows from them.
 *
 * One table (an array of poli_field that ends with a NULL key) describes one kind of object of a
 * model file: for each key its value, where that goes, which types of the object have it and need
 * it, its default, unit and description.  fields.c has the tables.  They drive
 *
 *   reader.c   reading and checking an object: wrong values, unknown, missing and forbidden keys
 *   schema.c   the JSON Schema, and the tables of docs/model-format.md
 *
 * What a table cannot say (rules between values) is in the check of a kind, rules.c.
 *
 * Reading never stops at an error: each is reported with its place and the rest is still read.
 * Objects are visited in the order of the file, so errors come in that order; rules between the
 * keys of an object come after the errors of its single keys.
 */
#ifndef POLHODE_IO_MODEL_FIELDS_H
#define POLHODE_IO_MODEL_FIELDS_H

#include "base/errors.h"
#include "mechanism/rules.h"

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
typedef struct poli_kind poli_kind;

/* Checks the value at a place and stores it at target, or reports an error.  Texts are borrowed
 * from the JSON tree. */
typedef void poli_read(poli_reader *reader, const poli_place *place, const poli_field *field,
                       void *target);

/* What the detail of a field is. */
typedef enum poli_detail {
  POLI_NO_DETAIL,
  POLI_RANGE,   /* const poli_range, or NULL for any number */
  POLI_CHOICES, /* const poli_choices */
  POLI_LISTS,   /* const char *const *: the list where a reference is looked up */
  POLI_KIND     /* const poli_kind */
} poli_detail;

typedef struct poli_range {
  double low, high;  /* low <= number <= high */
  int open;          /* low < number instead */
  const char *rule;  /* "must be a positive number" */
  const char *words; /* in the reference: "above 0" */
} poli_range;

/* Stands for the range that the library has for this number of an element, by its place in the
 * struct (mechanism/rules.h), with which the struct of the object must start. */
extern const poli_range poli_library_range[POLI_NUM_ELEMENTS];

typedef struct poli_choices {
  const char *(*name)(int number); /* NULL from the first number that there is not */
} poli_choices;

/* A kind of value. */
typedef struct poli_value {
  poli_read *read;
  size_t size;                   /* bytes at the target */
  poli_detail detail;            /* of the fields */
  const char *rule;              /* for a wrong value, unless the field or its range has one */
  const char *words;             /* in the reference: "3 numbers" */
  const char *schema;            /* JSON Schema as text, without what the detail says */
  const struct poli_value *item; /* a list of count such values, one after the other at target */
  size_t count;
  const poli_kind *kind; /* an object of this kind, beside what the schema says */
} poli_value;

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
  const char *schema; /* the same as JSON Schema, as far as possible: text of an object; or NULL */
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

void poli_report(poli_reader *reader, const poli_place *place, const char *suggestion,
                 const char *rule, ...) POLI_PRINTF(4, 5);
/* Its path, "bodies[0].mass", "" for the top; the caller frees; NULL without memory. */
char *poli_path(const poli_place *place);
/* The range of a number, or of those of a list; NULL for any number. */
const poli_range *poli_range_of(const poli_field *field);
/* The rule of a wrong value. */
const char *poli_rule(const poli_field *field);
/* Reports that a key of the object is missing, unless a misspelt key of it was meant. */
void poli_report_missing(poli_reader *reader, const poli_place *object, const poli_field *fields,
                         const char *key, const char *rule);
/* Reports each of the keys (NULL at the end) that the object has. */
void poli_forbid(poli_reader *reader, const poli_place *object, const char *const *keys,
                 const char *rule);

/* --- values ----------------------------------------------------------------------------------- */

/* The target of each is in its comment. */
extern const poli_value poli_text;        /* const char * */
extern const poli_value poli_word;        /* const char *: a choice that is checked later */
extern const poli_value poli_number;      /* double */
extern const poli_value poli_integer;     /* int; 2.0 is a whole number too, as in JSON Schema */
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
extern const poli_value poli_references;  /* int[2] */
extern const poli_value poli_moving_body; /* int, likewise; a force refuses the ground */
extern const poli_value poli_object;      /* the kind's struct, which holds defaults */
extern const poli_value poli_objects;     /* poli_items */

/* The name of the inertial frame in place of a body's. */
extern const char *const poli_ground_name;

/* The number of a text among choices, or -1. */
int poli_choice_find(const poli_choices *choices, const char *text);

/* The field of a key, or NULL. */
const poli_field *poli_find_field(const poli_field *fields, const char *key);
/* The name of a type of a kind; NULL from the first number that there is not. */
const char *poli_type_name(const poli_kind *kind, int number);
/* The type of an object, or -1. */
int poli_type_of(const poli_place *object, const poli_kind *kind);
/* Reads an object. */
void poli_read_kind(poli_reader *reader, const poli_place *place, const poli_kind *kind,
                    void *object);

/* Fills reader->names from the lists of named objects of the top object. */
void poli_collect_names(poli_reader *reader, json_t *top, const poli_kind *kind);

#endif
