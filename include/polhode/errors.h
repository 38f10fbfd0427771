/* Lists of input errors: where, what stands there, which rule it breaks. */
#ifndef POLHODE_ERRORS_H
#define POLHODE_ERRORS_H

#ifdef __cplusplus
extern "C" {
#endif

/* One thing that is wrong with an input.  All strings are owned by the list; never NULL. */
typedef struct pol_error {
  char *path;  /* where: "bodies[0].mass"; "line 3, column 7" for a syntax error; "--set x=1" for
                  a wrong override; "" for the file itself */
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

/* Frees the items and empties the list; an all-zero list is empty. */
void pol_errors_clear(pol_errors *errors);

#ifdef __cplusplus
}
#endif

#endif
