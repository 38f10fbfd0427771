/* What a model file says about an object that another one refers to.  The rules between objects
 * need it while the file is read, before there is a mechanism to ask. */
#include <string.h>

#include "io/model/parts.h"

/* --- bodies and markers ----------------------------------------------------------------------- */

const json_t *poli_point_mass(const poli_place *object, int body)
{
  const json_t *bodies = json_object_get(object->parent->parent->value, "bodies");
  const json_t *item = body >= 0 ? json_array_get(bodies, (size_t)body) : NULL;
  const char *type = json_string_value(json_object_get(item, "type"));
  return type && strcmp(type, "point") == 0 ? item : NULL;
}

const char *poli_body_of_marker(const poli_place *object, int marker)
{
  const json_t *markers = json_object_get(object->parent->parent->value, "markers");
  const json_t *item = marker >= 0 ? json_array_get(markers, (size_t)marker) : NULL;
  return json_string_value(json_object_get(item, "body"));
}

const json_t *poli_point_mass_of_marker(const poli_reader *reader, const poli_place *object,
                                        int marker)
{
  const char *name = poli_body_of_marker(object, marker);
  const json_t *bodies = json_object_get(reader->names, "bodies");
  const json_t *index = name ? json_object_get(bodies, name) : NULL;
  return index ? poli_point_mass(object, (int)json_integer_value(index)) : NULL;
}

void poli_check_different_bodies(poli_reader *reader, const poli_place *object,
                                 const int markers[2])
{
  const char *first = poli_body_of_marker(object, markers[0]);
  const char *second = poli_body_of_marker(object, markers[1]);
  const poli_place at = poli_place_key(object, "markers");
  if (first && second && strcmp(first, second) == 0)
    poli_report(reader, &at, "", "must be on two different bodies");
}

/* --- joints ----------------------------------------------------------------------------------- */

/* The POL_LOCK_... bits that a list of the file names; 0 where something is wrong with it. */
static unsigned locks_of(const json_t *list)
{
  unsigned locked = 0;
  for (size_t i = 0; i < json_array_size(list); i++) {
    const char *text = json_string_value(json_array_get(list, i));
    int number = 0;
    while (text && pol_lock_name(number) && strcmp(pol_lock_name(number), text) != 0) number++;
    if (!text || !pol_lock_name(number)) return 0;
    locked |= 1u << number;
  }
  return locked;
}

int poli_find_joint(const poli_place *top, int index, pol_joint *joint)
{
  const json_t *item = json_array_get(json_object_get(top->value, "joints"), (size_t)index);
  const char *name = json_string_value(json_object_get(item, "type"));
  *joint = (pol_joint){.name = ""};
  if (!name || pol_joint_type_find(name, &joint->type)) return 0;
  joint->locked = locks_of(json_object_get(item, "locked"));
  return joint->type != POL_GENERIC || joint->locked != 0;
}
