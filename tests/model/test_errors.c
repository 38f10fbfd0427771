/* Every file of tests/data/bad-models gives exactly the errors in its .expected file, one a line:
 * path | value | rule | suggestion. */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <polhode/model.h>

static const char folder[] = POLHODE_SOURCE_DIR "/tests/data/bad-models";

/* All of a file as text; NULL if it cannot be read. */
static char *read_text(const char *path)
{
  FILE *file = fopen(path, "rb");
  if (!file) return NULL;
  assert_int_equal(fseek(file, 0, SEEK_END), 0);
  const long size = ftell(file);
  assert_true(size >= 0);
  rewind(file);
  char *text = calloc((size_t)size + 1, 1);
  assert_non_null(text);
  assert_int_equal(fread(text, 1, (size_t)size, file), size);
  fclose(file);
  return text;
}

/* The list as lines; the caller frees. */
static char *list_errors(const pol_errors *errors)
{
  size_t size = 1;
  for (int i = 0; i < errors->count; i++) {
    const pol_error *e = &errors->items[i];
    size += strlen(e->path) + strlen(e->value) + strlen(e->rule) + strlen(e->suggestion) + 10;
  }
  char *text = calloc(size, 1);
  assert_non_null(text);
  size_t used = 0;
  for (int i = 0; i < errors->count; i++) {
    const pol_error *e = &errors->items[i];
    used += (size_t)snprintf(text + used, size - used, "%s | %s | %s | %s\n", e->path, e->value,
                             e->rule, e->suggestion);
  }
  return text;
}

/* Reads one bad model; 1 if its errors are not the expected ones. */
static int differs(const char *name, size_t length)
{
  char path[1024];
  snprintf(path, sizeof path, "%s/%.*s.expected", folder, (int)length, name);
  char *expected = read_text(path);
  snprintf(path, sizeof path, "%s/%.*s.json", folder, (int)length, name);
  pol_errors errors = {0, NULL};
  pol_model *model = NULL;
  const pol_status status = pol_model_read_file(&model, path, 0, NULL, &errors);
  char *found = list_errors(&errors);

  const int bad = status != POL_BAD_ARGUMENT || model || errors.count == 0 || !expected ||
                  strcmp(expected, found) != 0;
  if (bad)
    print_error("%.*s: status %d\n--- expected\n%s--- found\n%s", (int)length, name, status,
                expected ? expected : "(no .expected file)\n", found);
  free(found);
  free(expected);
  pol_errors_clear(&errors);
  assert_int_equal(errors.count, 0);
  assert_null(errors.items);
  pol_model_free(&model);
  return bad;
}

static void bad_models_give_the_expected_errors(void **state)
{
  (void)state;
  DIR *directory = opendir(folder);
  assert_non_null(directory);
  int count = 0;
  int bad = 0;
  for (struct dirent *entry = readdir(directory); entry; entry = readdir(directory)) {
    const char *ending = strrchr(entry->d_name, '.');
    if (!ending || strcmp(ending, ".json") != 0) continue;
    count++;
    bad += differs(entry->d_name, (size_t)(ending - entry->d_name));
  }
  closedir(directory);
  assert_int_equal(bad, 0);
  assert_true(count >= 35);
}

/* Errors of the file itself. */
static void unreadable_files_are_reported(void **state)
{
  (void)state;
  static const char *const paths[] = {POLHODE_SOURCE_DIR "/no such file.json", POLHODE_SOURCE_DIR};
  for (int i = 0; i < 2; i++) {
    pol_errors errors = {0, NULL};
    pol_model *model = NULL;
    assert_int_equal(pol_model_read_file(&model, paths[i], 0, NULL, &errors), POL_IO);
    assert_null(model);
    assert_int_equal(errors.count, 1);
    assert_string_equal(errors.items[0].path, "");
    assert_string_equal(errors.items[0].value, "");
    assert_ptr_equal(strstr(errors.items[0].rule, "cannot be read: "), errors.items[0].rule);
    pol_errors_clear(&errors);
  }
}

/* Whatever the pointer was before: no model is NULL. */
static void a_model_that_cannot_be_read_is_null(void **state)
{
  (void)state;
  static int anything;
  pol_errors errors = {0, NULL};
  pol_model *model = (pol_model *)(void *)&anything;
  assert_int_not_equal(pol_model_read_text(&model, "{\"bodies\": 1}", 0, NULL, &errors), POL_OK);
  assert_null(model);
  pol_errors_clear(&errors);
  model = (pol_model *)(void *)&anything;
  assert_int_equal(pol_model_read_file(&model, "no such file.json", 0, NULL, &errors), POL_IO);
  assert_null(model);
  pol_errors_clear(&errors);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bad_models_give_the_expected_errors),
      cmocka_unit_test(unreadable_files_are_reported),
      cmocka_unit_test(a_model_that_cannot_be_read_is_null),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
