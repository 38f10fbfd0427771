/* What the tables of the model format share: rules that many keys have, the ranges that belong to
 * them, and rules of the form "this type of object has these keys". */
#ifndef POLHODE_IO_MODEL_RULES_H
#define POLHODE_IO_MODEL_RULES_H

#include "io/model/json_reader.h"

extern const char poli_number_rule[], poli_positive_rule[], poli_not_negative_rule[];
extern const char poli_vector_rule[]; /* of three numbers */
extern const char poli_name_rule[], poli_shapes_rule[];

extern const poli_range poli_positive, poli_not_negative;

/* Lists of keys end with NULL. */
int poli_is_listed(const char *key, const char *const *list);

/* Reports each of the keys that the object has. */
void poli_forbid(poli_reader *reader, const poli_place *object, const char *const *keys,
                 const char *rule);

/* The keys that objects of one type must and may have, beside those of all types. */
typedef struct poli_type_keys {
  const char *article; /* "a spring-damper" */
  const char *required[4];
  const char *optional[9];
} poli_type_keys;

/* Reports each key of the table that the object has and its type does not; common has the keys of
 * all types. */
void poli_forbid_others(poli_reader *reader, const poli_place *object, const poli_field *fields,
                        const char *const *common, const poli_type_keys *type);

#endif
