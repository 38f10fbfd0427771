/* Rules that several tables of the model format share. */
#include "io/model/rules.h"

#include <math.h>
#include <string.h>

const char poli_number_rule[] = "must be a number";
const char poli_positive_rule[] = "must be a positive number";
const char poli_not_negative_rule[] = "must be a number that is not negative";
const char poli_vector_rule[] = "must be a list of 3 numbers";
const char poli_name_rule[] =
    "must be a name of ASCII letters, digits, _, - and spaces between them";
const char poli_shapes_rule[] = "must be a list of shapes";

const poli_range poli_positive = {0.0, HUGE_VAL, 1};
const poli_range poli_not_negative = {0.0, HUGE_VAL, 0};

int poli_is_listed(const char *key, const char *const *list)
{
  for (; *list; list++)
    if (strcmp(key, *list) == 0) return 1;
  return 0;
}

void poli_forbid(poli_reader *reader, const poli_place *object, const char *const *keys,
                 const char *rule)
{
  for (; *keys; keys++) {
    const poli_place place = poli_place_key(object, *keys);
    if (place.value) poli_report(reader, &place, "", "%s", rule);
  }
}

void poli_forbid_others(poli_reader *reader, const poli_place *object, const poli_field *fields,
                        const char *const *common, const poli_type_keys *type)
{
  for (const poli_field *field = fields; field->key; field++) {
    const poli_place place = poli_place_key(object, field->key);
    if (place.value && !poli_is_listed(field->key, common) &&
        !poli_is_listed(field->key, type->required) && !poli_is_listed(field->key, type->optional))
      poli_report(reader, &place, "", "must not be given for %s", type->article);
  }
}
