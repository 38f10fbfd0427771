/* Mutates models: changes numbers, words, keys and whole parts of the JSON tree, so
 * that most inputs are past the parser.  Every fourth change is one of bytes, for the parser's
 * sake. libFuzzer calls both functions; it alone decides by `seed` what is done. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/polhode.h>

#include "sandbox.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *first, size_t first_size, const uint8_t *second,
                                 size_t second_size, uint8_t *out, size_t most, unsigned seed);

static unsigned random_state;

/* A number from 0 to below - 1. */
static unsigned pick(unsigned below)
{
  random_state = random_state * 1664525u + 1013904223u;
  return below > 0 ? (random_state >> 8) % below : 0;
}

/* --- the parts of a tree ---------------------------------------------------------------------- */

typedef struct part {
  json_t *parent, *value;
  const char *key; /* in an object, */
  size_t index;    /* or in an array */
} part;

enum { MOST_PARTS = 2000 };
typedef struct parts {
  int count;
  part items[MOST_PARTS];
} parts;

static void collect(parts *all, json_t *tree)
{
  const char *key;
  size_t index;
  json_t *value;
  json_object_foreach(tree, key, value)
  {
    if (all->count < MOST_PARTS) all->items[all->count++] = (part){tree, value, key, 0};
    collect(all, value);
  }
  json_array_foreach(tree, index, value)
  {
    if (all->count < MOST_PARTS) all->items[all->count++] = (part){tree, value, NULL, index};
    collect(all, value);
  }
}

/* Puts a new value, whose reference is taken, in the place of a part. */
static void replace(const part *p, json_t *value)
{
  if (value == NULL) return;
  if (p->key != NULL)
    json_object_set_new(p->parent, p->key, value);
  else
    json_array_set_new(p->parent, p->index, value);
}

/* --- changes ---------------------------------------------------------------------------------- */

static json_t *new_number(const json_t *old)
{
  static const double numbers[] = {0,
                                   1,
                                   -1,
                                   0.5,
                                   2,
                                   3,
                                   1e-3,
                                   1e-8,
                                   1e-16,
                                   1e-160,
                                   1e-308,
                                   1e3,
                                   1e8,
                                   1e16,
                                   1e155,
                                   1e308,
                                   -1e308,
                                   100,
                                   1.5707963267948966,
                                   3.141592653589793};
  const double x = json_number_value(old);
  double y = numbers[pick(sizeof numbers / sizeof numbers[0])];
  switch (pick(6)) {
  case 0:
    y = -x;
    break;
  case 1:
    y = x * (1.0 + 1e-6 * pick(1000));
    break;
  case 2:
    y = x + y;
    break;
  case 3:
    return json_integer((json_int_t)pick(20) - 3);
  default:
    break;
  }
  return json_real(isfinite(y) ? y : 0.0);
}

static const char *new_word(const parts *all)
{
  static const char *const words[] = {"ground",
                                      "rigid",
                                      "point",
                                      "all",
                                      "stop",
                                      "reset",
                                      "record",
                                      "rising",
                                      "falling",
                                      "body",
                                      "global",
                                      "local",
                                      "fixed",
                                      "variable",
                                      "stabilized-2",
                                      "constrained",
                                      "classical",
                                      "dense",
                                      "sparse",
                                      "full",
                                      "t",
                                      "pi",
                                      "sin(t)",
                                      "1/0",
                                      "t^2",
                                      "sqrt(t - 1)",
                                      "x",
                                      "y",
                                      "z",
                                      "rotation",
                                      "translation",
                                      "support",
                                      "spring-damper",
                                      "joint-spring",
                                      "bushing",
                                      "drag",
                                      "torque",
                                      "force",
                                      "gear",
                                      "rack",
                                      "screw",
                                      "harmonic",
                                      "step",
                                      "polynomial",
                                      "table",
                                      "constant"};
  const int kind = (int)pick(8);
  if (kind == 0) return pol_joint_type_name((pol_joint_type)pick(16));
  if (kind == 1) return pol_force_type_name((pol_force_type)pick(8));
  if (kind == 2) {
    const pol_method *method = pol_method_at((int)pick(13));
    return method != NULL ? method->name : NULL;
  }
  if (kind == 3) return pol_formulation_name((pol_formulation_kind)pick(9));
  for (int tries = 0; kind < 7 && tries < 20; tries++) {
    const part *p = &all->items[pick((unsigned)all->count)];
    if (json_is_string(p->value)) return json_string_value(p->value);
  }
  return words[pick(sizeof words / sizeof words[0])];
}

/* A text, at times an expression made of two. */
static json_t *new_text(const parts *all, const json_t *old)
{
  static const char *const between[] = {" + ", "*", "/", " - ", "^", ".angle*", ".position.x + "};
  const char *a = new_word(all), *b = json_string_value(old);
  if (a == NULL) a = "";
  if (b == NULL || pick(3) != 0) return json_string(a);
  return json_sprintf("%s%s%s", a, between[pick(sizeof between / sizeof between[0])], b);
}

static void change(json_t *tree, parts *all)
{
  all->count = 0;
  collect(all, tree);
  if (all->count == 0) return;
  const part *p = &all->items[pick((unsigned)all->count)];
  const part *other = &all->items[pick((unsigned)all->count)];
  switch (pick(10)) {
  case 0: /* remove it */
    if (p->key != NULL)
      json_object_del(p->parent, p->key);
    else
      json_array_remove(p->parent, p->index);
    break;
  case 1: /* once more, with a name of its own */
    if (p->key == NULL) {
      json_t *copy = json_deep_copy(p->value);
      const char *name = json_string_value(json_object_get(copy, "name"));
      if (name != NULL) json_object_set_new(copy, "name", json_sprintf("%s%u", name, pick(10)));
      json_array_append_new(p->parent, copy);
    }
    break;
  case 2: /* another part in its place */
    replace(p, json_deep_copy(other->value));
    break;
  case 3: /* a key of another object */
    if (json_is_object(p->value) && other->key != NULL)
      json_object_set_new(p->value, other->key, json_deep_copy(other->value));
    break;
  case 4: /* the method and so on are few words in a large file */
    json_object_set_new(json_object_get(tree, "simulation"), pick(2) ? "method" : "formulation",
                        json_string(pick(2) ? pol_method_at((int)pick(13))->name
                                            : pol_formulation_name((pol_formulation_kind)pick(9))));
    break;
  default:
    if (json_is_number(p->value))
      replace(p, new_number(p->value));
    else if (json_is_string(p->value))
      replace(p, new_text(all, p->value));
    else if (json_is_boolean(p->value))
      replace(p, json_boolean(!json_is_true(p->value)));
  }
}

/* Writes the tree; 0 if it has no room. */
static size_t write_tree(const json_t *tree, uint8_t *out, size_t most)
{
  const size_t size = json_dumpb(tree, NULL, 0, JSON_COMPACT);
  return size > 0 && size <= most ? json_dumpb(tree, (char *)out, most, JSON_COMPACT) : 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
  static parts all;
  random_state = seed;
  json_t *tree = pick(4) != 0 ? json_loadb((const char *)data, size, 0, NULL) : NULL;
  if (!json_is_object(tree)) {
    json_decref(tree);
    return LLVMFuzzerMutate(data, size, most);
  }
  for (unsigned i = 1 + pick(4); i > 0; i--) change(tree, &all);
  const size_t written = write_tree(tree, data, most);
  json_decref(tree);
  return written > 0 ? written : LLVMFuzzerMutate(data, size, most);
}

/* Members of the second model in the first. */
size_t LLVMFuzzerCustomCrossOver(const uint8_t *first, size_t first_size, const uint8_t *second,
                                 size_t second_size, uint8_t *out, size_t most, unsigned seed)
{
  random_state = seed;
  json_t *tree = json_loadb((const char *)first, first_size, 0, NULL);
  json_t *from = json_loadb((const char *)second, second_size, 0, NULL), *value;
  const char *key;
  size_t written = 0;
  if (json_is_object(tree) && json_is_object(from)) {
    json_object_foreach(from, key, value)
    {
      json_t *own = json_object_get(tree, key);
      if (pick(3) != 0) continue;
      if (json_is_array(own) && json_is_array(value))
        json_array_extend(own, value);
      else if (json_is_object(own) && json_is_object(value))
        json_object_update(own, value);
      else
        json_object_set(tree, key, value);
    }
    written = write_tree(tree, out, most);
  }
  json_decref(from);
  json_decref(tree);
  return written;
}
