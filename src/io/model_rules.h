/* What the tables of the model format share: rules that many keys have, the ranges that belong to
 * them, and rules of the form "this type of object has these keys". */
#ifndef POLHODE_IO_MODEL_RULES_H
#define POLHODE_IO_MODEL_RULES_H

#include "io/json_reader.h"

extern const char pol_number_rule[], pol_positive_rule[], pol_not_negative_rule[];
extern const char pol_vector_rule[]; /* of three numbers */
extern const char pol_name_rule[], pol_shapes_rule[];

extern const pol_range pol_positive, pol_not_negative;

/* Lists of keys end with NULL. */
int pol_is_listed(const char *key, const char *const *list);

/* Reports each of the keys that the object has. */
void pol_forbid(pol_reader *reader, const pol_place *object, const char *const *keys,
                const char *rule);

/* The keys that objects of one type must and may have, beside those of all types. */
typedef struct pol_type_keys {
  const char *article; /* "a spring-damper" */
  const char *required[4];
  const char *optional[9];
} pol_type_keys;

/* Reports each key of the table that the object has and its type does not; common has the keys of
 * all types. */
void pol_forbid_others(pol_reader *reader, const pol_place *object, const pol_field *fields,
                       const char *const *common, const pol_type_keys *type);

#endif
