/* What the tests of robots share: a folder of their own, descriptions as texts, the model as JSON.
 * A test file defines _XOPEN_SOURCE 700 first. */
#ifndef POLHODE_TESTS_ROBOT_TEST_H
#define POLHODE_TESTS_ROBOT_TEST_H

#include <ftw.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include <polhode/model.h>
#include <polhode/robot.h>

static char folder[] = "test_robot_XXXXXX", *notes;
static pol_errors errors;

static inline void write_text(const char *path, const char *text)
{
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
}

/* The model of a file; it must be one that polhode reads.  The notes are kept. */
static inline json_t *import_file(const char *path, const pol_robot_options *options)
{
  char *text = NULL, line[500];
  free(notes);
  notes = NULL;
  if (pol_robot_read_file(path, options, &text, &notes, &errors)) {
    if (errors.count > 0) pol_error_text(&errors.items[0], line, sizeof line);
    fail_msg("%s: %s", path, errors.count > 0 ? line : "failed");
  }
  json_t *model = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
  assert_non_null(model);
  pol_model *read = NULL;
  if (pol_model_read_text(&read, text, 0, NULL, &errors)) {
    if (errors.count > 0) pol_error_text(&errors.items[0], line, sizeof line);
    fail_msg("%s: %s in: %s", path, errors.count > 0 ? line : "failed", text);
  }
  pol_model_free(&read);
  free(text);
  return model;
}

static inline json_t *import_text(const char *text)
{
  write_text("robot.xml", text);
  return import_file("robot.xml", NULL);
}

/* The object of that name in a list of the model. */
static inline json_t *named(const json_t *model, const char *list, const char *name)
{
  size_t i;
  json_t *item;
  json_array_foreach(json_object_get(model, list), i, item)
  {
    if (strcmp(json_string_value(json_object_get(item, "name")), name) == 0) return item;
  }
  fail_msg("there is no '%s' in %s", name, list);
  return NULL;
}

static inline void expect_word(const json_t *object, const char *key, const char *word)
{
  const char *found = json_string_value(json_object_get(object, key));
  if (!found || strcmp(found, word) != 0)
    fail_msg("%s is \"%s\", not \"%s\"", key, found ? found : "", word);
}

static inline void expect_number(const json_t *value, double expected)
{
  if (!json_is_number(value) || !(fabs(json_number_value(value) - expected) < 1e-12))
    fail_msg("%.17g, not %.17g", json_number_value(value), expected);
}

static inline void expect_numbers(const json_t *object, const char *key, int count,
                                  const double *expected)
{
  const json_t *list = json_object_get(object, key);
  assert_int_equal(json_array_size(list), count);
  for (int i = 0; i < count; i++) {
    const double x = json_number_value(json_array_get(list, (size_t)i));
    if (!(fabs(x - expected[i]) < 1e-12))
      fail_msg("%s[%d]: %.17g, not %.17g", key, i, x, expected[i]);
  }
}
#define EXPECT_VECTOR(object, key, ...)                                                            \
  expect_numbers(object, key, 3, (const double[3]){__VA_ARGS__})

/* Rows of a 3x3 matrix: an inertia, or with "rotation" the matrix in it. */
static inline void expect_matrix(const json_t *object, const char *key, const double expected[9])
{
  const json_t *rows = json_object_get(object, key);
  if (json_is_object(rows)) rows = json_object_get(rows, "matrix");
  assert_int_equal(json_array_size(rows), 3);
  for (size_t i = 0; i < 9; i++)
    expect_number(json_array_get(json_array_get(rows, i / 3), i % 3), expected[i]);
}
#define EXPECT_MATRIX(object, key, ...) expect_matrix(object, key, (const double[9]){__VA_ARGS__})

static inline void expect_note(const char *part)
{
  if (!notes || !strstr(notes, part)) fail_msg("there is no \"%s\" in: %s", part, notes);
}

/* Refuses the text with errors of these lines that contain these texts, as many as there are. */
typedef struct expected_error {
  int line;
  const char *part;
} expected_error;

static inline void expect_errors(const char *text, int count, const expected_error *expected)
{
  char *model = NULL, all[8000] = "", line[500];
  write_text("robot.xml", text);
  assert_int_equal(pol_robot_read_file("robot.xml", NULL, &model, NULL, &errors), POL_BAD_ARGUMENT);
  assert_null(model);
  for (int i = 0; i < errors.count; i++) {
    pol_error_text(&errors.items[i], line, sizeof line);
    snprintf(all + strlen(all), sizeof all - strlen(all), "%d: %s\n", errors.items[i].line, line);
  }
  for (int k = 0; k < count; k++) {
    int found = 0;
    for (int i = 0; i < errors.count; i++) {
      pol_error_text(&errors.items[i], line, sizeof line);
      found |= errors.items[i].line == expected[k].line && strstr(line, expected[k].part) != NULL;
    }
    if (!found)
      fail_msg("there is no \"%s\" in line %d of:\n%s", expected[k].part, expected[k].line, all);
  }
  if (errors.count != count) fail_msg("%d errors, not %d:\n%s", errors.count, count, all);
  pol_errors_clear(&errors);
}
#define EXPECT_ERRORS(text, ...)                                                                   \
  expect_errors(text,                                                                              \
                (int)(sizeof((const expected_error[]){__VA_ARGS__}) / sizeof(expected_error)),     \
                (const expected_error[]){__VA_ARGS__})

static inline int remove_item(const char *path, const struct stat *info, int type, struct FTW *at)
{
  (void)info, (void)type, (void)at;
  return remove(path);
}

static inline int enter_folder(void **state)
{
  (void)state;
  return mkdtemp(folder) == NULL || chdir(folder) != 0;
}

static inline int leave_folder(void **state)
{
  (void)state;
  free(notes);
  return chdir("..") != 0 || nftw(folder, remove_item, 8, FTW_DEPTH | FTW_PHYS) != 0;
}

#endif
