/* Attributes that a description has and that the model does not depend on: those that would change
 * the motion one by one, those of contacts and solvers and those of the display in one note each.
 */
#include <stdlib.h>
#include <string.h>

#include "base/errors.h"
#include "io/robot/robot.h"

/* Whether a list of words, separated by blanks, has this one. */
static int has_word(const char *list, const char *word)
{
  const size_t length = strlen(word);
  for (const char *at = list; at && *at; at += strspn(at, " ")) {
    const size_t own = strcspn(at, " ");
    if (own == length && strncmp(at, word, length) == 0) return 1;
    at += own;
  }
  return 0;
}

/* The line of an element, and the included file that it is from. */
static char *place_of(const xmlNode *at)
{
  const long line = xmlGetLineNo((xmlNode *)(uintptr_t)at);
  while (at && !at->_private) at = at->parent;
  return at ? poli_format("line %ld of %s", line, (const char *)at->_private)
            : poli_format("line %ld", line);
}

/* Counts an attribute; keeps where the first one is. */
static void count_attribute(poli_robot *robot, json_t *found, const xmlNode *at, const char *name)
{
  char *key = poli_format("%s: %s", (const char *)at->name, name);
  json_t *entry = key ? json_object_get(found, key) : NULL;
  if (entry) {
    json_integer_set(json_object_get(entry, "count"),
                     json_integer_value(json_object_get(entry, "count")) + 1);
  } else {
    char *place = place_of(at);
    if (!key || !place ||
        json_object_set_new(found, key, json_pack("{s:i, s:s}", "count", 1, "place", place)))
      robot->status = POL_NO_MEMORY;
    free(place);
  }
  free(key);
}

/* What one element has, by the row of the table that stands for it. */
static void sort_attributes(poli_robot *robot, const xmlNode *at, const poli_attributes *known,
                            json_t *const found[3])
{
  const int all = strcmp(known->contact, "*") == 0 ? 1 : strcmp(known->display, "*") == 0 ? 2 : 0;
  if (all) count_attribute(robot, found[all], at->parent, (const char *)at->name);
  for (const xmlAttr *a = at->properties; a && !all && !robot->status; a = a->next) {
    const char *name = (const char *)a->name;
    if (has_word(known->used, name)) continue;
    const int kind = has_word(known->contact, name) ? 1 : has_word(known->display, name) ? 2 : 0;
    count_attribute(robot, found[kind], at, name);
  }
}

static void walk(poli_robot *robot, const xmlNode *parent, const char *section, int count,
                 const poli_attributes *table, json_t *const found[3])
{
  for (const xmlNode *at = parent->children; at && !robot->status; at = at->next) {
    if (at->type != XML_ELEMENT_NODE) continue;
    const char *inside = section ? section : (const char *)at->name;
    for (int i = 0; i < count; i++)
      if (has_word(table[i].elements, (const char *)at->name) &&
          has_word(table[i].sections, inside)) {
        sort_attributes(robot, at, &table[i], found);
        break;
      }
    walk(robot, at, inside, count, table, found);
  }
}

/* One note with the names of all attributes of a kind. */
static void note_together(poli_robot *robot, const json_t *found, const char *title)
{
  char *list = NULL;
  const char *key;
  const json_t *entry;
  json_object_foreach((json_t *)(uintptr_t)found, key, entry)
  {
    char *longer = poli_format("%s%s%.*s %s", list ? list : "", list ? ", " : "",
                               (int)strcspn(key, ":"), key, strchr(key, ':') + 2);
    free(list);
    list = longer;
    if (!list) robot->status = POL_NO_MEMORY;
    if (!list) return;
  }
  if (list) poli_robot_note(robot, "%s have no effect: %s", title, list);
  free(list);
}

void poli_robot_note_attributes(poli_robot *robot, const xmlNode *top, int count,
                                const poli_attributes *table)
{
  json_t *found[3] = {json_object(), json_object(), json_object()};
  if (!found[0] || !found[1] || !found[2])
    robot->status = POL_NO_MEMORY;
  else
    walk(robot, top, NULL, count, table, found);
  const char *key;
  const json_t *entry;
  json_object_foreach(found[0], key, entry)
  {
    const int times = (int)json_integer_value(json_object_get(entry, "count"));
    const char *place = json_string_value(json_object_get(entry, "place"));
    if (robot->status) break;
    if (times == 1)
      poli_robot_note(robot, "%s is not used (%s)", key, place);
    else
      poli_robot_note(robot, "%s of %d elements is not used (the first in %s)", key, times, place);
  }
  if (!robot->status) note_together(robot, found[1], "settings of contacts and of the solver");
  if (!robot->status) note_together(robot, found[2], "settings of the display");
  for (int i = 0; i < 3; i++) json_decref(found[i]);
}
