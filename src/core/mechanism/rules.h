/* The rules that the elements of a mechanism keep, in words.  Each stands here once: the functions
 * pol_mechanism_add_...() and the reader of model files report the same errors. */
#ifndef POLHODE_MECHANISM_RULES_H
#define POLHODE_MECHANISM_RULES_H

#include <polhode/mechanism.h>

#include "base/errors.h"

/* The kinds of elements, in the order in which a model file is built. */
typedef enum poli_element {
  POLI_BODIES,
  POLI_MARKERS,
  POLI_JOINTS,
  POLI_FORCES,
  POLI_DRIVES,
  POLI_COUPLINGS,
  POLI_VARIABLES,
  POLI_STATES,
  POLI_NUM_ELEMENTS
} poli_element;

/* The index of the element of this kind with a name, or POL_NOT_FOUND; POL_GROUND of "ground". */
int poli_mechanism_find(const pol_mechanism *mechanism, poli_element element, const char *name);

/* "bodies", ... */
const char *poli_element_list(poli_element element);

/* What a number must be. */
typedef enum poli_number_kind {
  POLI_ANY_NUMBER, /* finite, as all are */
  POLI_POSITIVE_NUMBER,
  POLI_NOT_NEGATIVE_NUMBER,
  POLI_NOT_ZERO_NUMBER
} poli_number_kind;

/* "must be a positive number" */
const char *poli_number_words(poli_number_kind rule);
/* The rule of the number of an element at an offset in its struct. */
poli_number_kind poli_number_kind_of(poli_element element, size_t offset);

/* Whether the length is 1 within 1e-6. */
int poli_is_unit_quaternion(const double q[4]);

/* One element under examination. */
typedef struct poli_rules {
  const pol_mechanism *mechanism;
  poli_element element;
  const char *name;   /* of the element; may be NULL */
  const char *inside; /* what the path starts with: "", "function." or "scale." */
  pol_errors *errors; /* what is wrong is appended here */
  int relative;       /* 1: the paths do not say which element it is */
  int broken;         /* number of rules that it breaks */
  pol_status status;  /* POL_NO_MEMORY as soon as an allocation has failed */
} poli_rules;

/* Reports a broken rule of the element: the field, its value as text, the rule, a near name or "".
 */
void poli_refuse(poli_rules *check, const char *field, const char *value, const char *suggestion,
                 const char *rule, ...) POLI_PRINTF(5, 6);

/* Check all rules of an element, its name included.  Of a drive and of a force with a scale a copy
 * of the function is made, which the caller releases; without errors only it is of use. */
void poli_body_rules(poli_rules *check, const pol_body *body);
void poli_marker_rules(poli_rules *check, const pol_marker *marker);
void poli_joint_rules(poli_rules *check, const pol_joint *joint);
void poli_force_rules(poli_rules *check, const pol_force *force, pol_function *scale);
void poli_drive_rules(poli_rules *check, const pol_drive *drive, pol_function *function);
void poli_coupling_rules(poli_rules *check, const pol_coupling *coupling);
void poli_variable_rules(poli_rules *check, const pol_variable *variable);
void poli_state_rules(poli_rules *check, const pol_state_variable *state);

/* A name that is required (not of markers) and unique, and a unit quaternion. */
void poli_name_rules(poli_rules *check, const char *name);
void poli_rotation_rules(poli_rules *check, const double q[4]);
/* Checks `count` numbers of a field, whose items are named field[i] if there are several. */
void poli_number_rules(poli_rules *check, const char *field, const double *x, int count,
                       poli_number_kind rule);
/* Checks a vector: all numbers finite. */
void poli_vector_rules(poli_rules *check, const char *field, const double *x, int count);
/* The bodies, point and axis of a joint; the arguments of pol_mechanism_add_joint_at().  The rules
 * of the joint itself but for its markers are checked too. */
void poli_joint_at_rules(poli_rules *check, const pol_joint *joint, const int bodies[2],
                         const double point[3], const double *axis);

#endif
