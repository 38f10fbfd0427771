/* Lists of errors in a model file or in the calls that build a mechanism.  Each error gives the
 * location, the value found there and the rule that it violates. */
#ifndef POLHODE_ERRORS_H
#define POLHODE_ERRORS_H

#include <stddef.h>

#include <polhode/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One error of an input.  The list owns all strings; they are never NULL. */
typedef struct pol_error {
  char *path;  /* location: "bodies[0].mass"; "line 3, column 7" for a syntax error; "--set x=1" for
                  an invalid override; "" for the whole file; "body 'crank': mass" in a program */
  char *value; /* value found, as JSON of at most 60 bytes, then ', from "2*L"' if an expression
                  gives it; or the text of a syntax error or override; "" if there is none */
  char *rule;  /* requirement: "must be a positive number" */
  char *suggestion; /* a similar name: "mass"; "" if there is none */
  char *element; /* the element of the model that it is in: "body 'crank'"; "" if there is none */
  char *file;    /* the included file that the path is in; "" for the file itself */
  int line;      /* of the file, from 1; 0 if it is not known */
} pol_error;

/* A list of errors in the order of the file.  Initialise it with zeros. */
typedef struct pol_errors {
  int count;
  pol_error *items;
} pol_errors;

/* Writes an error as one line, truncated to size bytes: "body 'crank': mass must be a positive
 * number, not -1". */
void pol_error_text(const pol_error *error, char *text, size_t size);

/* Frees the items and empties the list.  An all-zero list is empty. */
void pol_errors_clear(pol_errors *errors);

/* Appends an error with copies of the four strings; element and file are "", line is 0.
 * POL_NO_MEMORY: the list is unchanged. */
pol_status pol_errors_add(pol_errors *errors, const char *path, const char *value, const char *rule,
                          const char *suggestion);

/* Search for the known name most similar to an unknown one, for the suggestion of an error: call
 * pol_near_start, call pol_near_try for each known name, then read best. */
typedef struct pol_near {
  const char *wrong;
  const char *best; /* "" while no similar name is found */
  int distance;     /* edit distance of best: letters inserted, deleted, replaced or swapped */
} pol_near;

/* wrong must stay valid until best is read. */
pol_near pol_near_start(const char *wrong);
/* Stores the pointer in best if the name is more similar than the names before. */
void pol_near_try(pol_near *near, const char *candidate);

#ifdef __cplusplus
}
#endif

#endif
