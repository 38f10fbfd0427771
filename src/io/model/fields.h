/* Words in which the tables of keys are written. */
#ifndef POLHODE_IO_MODEL_FIELDS_H
#define POLHODE_IO_MODEL_FIELDS_H

#include "io/model/parts.h"

#define T(type) POLI_TYPE(type)
/* Of keys that these types must have and no others may have. */
#define ONLY(these) .required = (these), .types = (these)
/* A kind of object: its name, rule, fields and size, its struct before reading, and what else. */
#define KIND(n, r, f, ...)                                                                         \
  {                                                                                                \
    .name = (n), .rule = (r), .fields = (f), .size = __VA_ARGS__                                   \
  }

/* Choices by a list of words, and by the name of each `number`. */
#define WORDS(choices, ...)                                                                        \
  static const char *choices##_name(int number)                                                    \
  {                                                                                                \
    static const char *const words[] = {__VA_ARGS__};                                              \
    return number < (int)(sizeof words / sizeof *words) ? words[number] : NULL;                    \
  }                                                                                                \
  static const poli_choices choices = {choices##_name}
#define NAMES(choices, name)                                                                       \
  static const char *choices##_name(int number)                                                    \
  {                                                                                                \
    return name;                                                                                   \
  }                                                                                                \
  static const poli_choices choices = {choices##_name}

extern const poli_kind poli_function_kind;
/* The lists in which names are looked up. */
extern const char *const poli_list_of_bodies[], *const poli_list_of_markers[];

#endif
