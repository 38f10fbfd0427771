/* Lists of errors in a model file or in the calls that build a mechanism: where, what stands there,
 * which rule it breaks. */
#ifndef POLHODE_ERRORS_H
#define POLHODE_ERRORS_H

#include <stddef.h>

#include <polhode/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One thing that is wrong with an input.  All strings are owned by the list; never NULL. */
typedef struct pol_error {
  char *path;  /* where: "bodies[0].mass"; "line 3, column 7" for a syntax error; "--set x=1" for
                  a wrong override; "" for the file itself; "body 'crank': mass" in a program */
  char *value; /* what stands there, as JSON of at most 60 bytes, or the piece of text for a syntax
                  error or override; "" if nothing does */
  char *rule;  /* what is expected: "must be a positive number" */
  char *suggestion; /* a near name: "mass"; "" if there is none */
} pol_error;

/* A list of them in the order of the file; start with an all-zero one. */
typedef struct pol_errors {
  int count;
  pol_error *items;
} pol_errors;

/* One line with the parts of an error, shortened to size: "body 'crank': mass must be a positive
 * number, not -1". */
void pol_error_text(const pol_error *error, char *text, size_t size);

/* Frees the items and empties the list; an all-zero list is empty. */
void pol_errors_clear(pol_errors *errors);

/* Appends an error with copies of the four texts.  POL_NO_MEMORY leaves the list as it was. */
pol_status pol_errors_add(pol_errors *errors, const char *path, const char *value, const char *rule,
                          const char *suggestion);

/* A search for the known name that is nearest to an unknown one, for the suggestion of an error:
 * start, try each known name, read best. */
typedef struct pol_near {
  const char *wrong;
  const char *best; /* "" while nothing is near */
  int distance;     /* of best: letters inserted, deleted, replaced or swapped */
} pol_near;

/* wrong must live until best is read. */
pol_near pol_near_start(const char *wrong);
/* Keeps the pointer as best if the name is nearer than those before. */
void pol_near_try(pol_near *near, const char *candidate);

#ifdef __cplusplus
}
#endif

#endif
