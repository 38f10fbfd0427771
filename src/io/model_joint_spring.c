/* Which coordinate of its joint a joint-spring acts on: the one that "coordinate" names, or the
 * only one there is. */
#include <stdio.h>
#include <string.h>

#include "io/model_parts.h"

/* The joint of the file, as far as its coordinates need it; 0 if the file does not tell. */
static int find_joint(const pol_place *place, int index, pol_joint *joint)
{
  const json_t *joints = json_object_get(place->parent->parent->value, "joints");
  const json_t *item = json_array_get(joints, (size_t)index);
  const char *name = json_string_value(json_object_get(item, "type"));
  *joint = (pol_joint){.name = ""};
  return name && pol_joint_type_find(name, &joint->type) == POL_OK;
}

/* "must be one of: rotation, translation" */
static void write_rule(const pol_joint *joint, char *rule, size_t size)
{
  if (pol_joint_num_coordinates(joint) == 1) {
    snprintf(rule, size, "must be \"%s\": all that a %s joint leaves free",
             pol_joint_coordinate(joint, 0)->key, pol_joint_type_name(joint->type));
    return;
  }
  int used = snprintf(rule, size, "must be one of: ");
  for (int i = 0; i < pol_joint_num_coordinates(joint); i++)
    used += snprintf(rule + used, size - (size_t)used, "%s%s", i ? ", " : "",
                     pol_joint_coordinate(joint, i)->key);
}

void pol_check_joint_spring(pol_reader *reader, const pol_place *place, pol_model_force *force)
{
  const pol_place of = pol_place_key(place, "joint"), at = pol_place_key(place, "coordinate");
  pol_joint joint;
  char rule[128];
  force->coordinate = 0;
  if (!of.value || force->joint < 0 || !find_joint(place, force->joint, &joint)) return;
  const int count = pol_joint_num_coordinates(&joint);
  if (count == 0) {
    pol_report(reader, &of, "",
               "must be a joint with an angle or a displacement: a %s one has none",
               pol_joint_type_name(joint.type));
    return;
  }
  write_rule(&joint, rule, sizeof rule);
  if (!at.value && count > 1) pol_report(reader, &at, "", "is required: %s", rule);
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
  pol_report(reader, &at, near.best, "%s", rule);
}
