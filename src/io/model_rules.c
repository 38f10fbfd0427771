/* Rules that several tables of the model format share. */
#include "io/model_rules.h"

#include <math.h>
#include <string.h>

const char pol_number_rule[] = "must be a number";
const char pol_positive_rule[] = "must be a positive number";
const char pol_not_negative_rule[] = "must be a number that is not negative";
const char pol_vector_rule[] = "must be a list of 3 numbers";
const char pol_name_rule[] =
    "must be a name of ASCII letters, digits, _, - and spaces between them";
const char pol_shapes_rule[] = "must be a list of shapes";

const pol_range pol_positive = {0.0, HUGE_VAL, 1};
const pol_range pol_not_negative = {0.0, HUGE_VAL, 0};

int pol_is_listed(const char *key, const char *const *list)
{
  for (; *list; list++)
    if (strcmp(key, *list) == 0) return 1;
  return 0;
}

void pol_forbid(pol_reader *reader, const pol_place *object, const char *const *keys,
                const char *rule)
{
  for (; *keys; keys++) {
    const pol_place place = pol_place_key(object, *keys);
    if (place.value) pol_report(reader, &place, "", "%s", rule);
  }
}

void pol_forbid_others(pol_reader *reader, const pol_place *object, const pol_field *fields,
                       const char *const *common, const pol_type_keys *type)
{
  for (const pol_field *field = fields; field->key; field++) {
    const pol_place place = pol_place_key(object, field->key);
    if (place.value && !pol_is_listed(field->key, common) &&
        !pol_is_listed(field->key, type->required) && !pol_is_listed(field->key, type->optional))
      pol_report(reader, &place, "", "must not be given for %s", type->article);
  }
}
