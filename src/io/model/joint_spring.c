/* Which coordinate of its joint a joint-spring acts on: the one that "coordinate" names, or the
 * only one there is. */
#include <stdio.h>
#include <string.h>

#include "io/model/parts.h"

void poli_write_coordinates(const pol_joint *joint, char *rule, size_t size)
{
  const int count = pol_joint_num_coordinates(joint);
  int used = snprintf(rule, size, "must be ");
  for (int i = 0; i < count; i++)
    used += snprintf(rule + used, size - (size_t)used, "%s\"%s\"",
                     i == 0           ? ""
                     : i == count - 1 ? " or "
                                      : ", ",
                     pol_joint_coordinate(joint, i)->key);
  snprintf(rule + used, size - (size_t)used, ": %s of %s %s joint",
           count == 1 ? "the only coordinate" : "the coordinates",
           joint->type == POL_GENERIC ? "this" : "a", pol_joint_type_name(joint->type));
}

void poli_check_joint_spring(poli_reader *reader, const poli_place *place, poli_model_force *force)
{
  const poli_place of = poli_place_key(place, "joint"), at = poli_place_key(place, "coordinate");
  pol_joint joint;
  char rule[POLI_COORDINATES_SIZE];
  force->coordinate = 0;
  if (!of.value || force->joint < 0 ||
      !poli_find_joint(place->parent->parent, force->joint, &joint))
    return;
  const int count = pol_joint_num_coordinates(&joint);
  if (count == 0) {
    poli_report(reader, &of, "",
                "must be a joint with an angle or a displacement: a %s one has none",
                pol_joint_type_name(joint.type));
    return;
  }
  poli_write_coordinates(&joint, rule, sizeof rule);
  if (!at.value && count > 1) poli_report(reader, &at, "", "is required: %s", rule);
  if (!json_is_string(at.value)) return;

  pol_near near = pol_near_start(force->coordinate_key);
  for (int i = 0; i < count; i++) {
    const char *key = pol_joint_coordinate(&joint, i)->key;
    if (strcmp(key, force->coordinate_key) == 0) {
      force->coordinate = i;
      return;
    }
    pol_near_try(&near, key);
  }
  poli_report(reader, &at, near.best, "%s", rule);
}
