/* What people and editors read about the model format agrees with the reader: every model in
 * docs/model-format.md is good, and the schema has the names and keys that the reader knows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <jansson.h>
#include <polhode/model.h>

/* --- the examples ----------------------------------------------------------------------------- */

static void examples_are_good_models(void **state)
{
  (void)state;
  FILE *file = fopen(POLHODE_SOURCE_DIR "/docs/model-format.md", "rb");
  assert_non_null(file);
  char *text = calloc(1 << 20, 1);
  assert_non_null(text);
  assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
  fclose(file);

  int count = 0;
  static const char fence[] = "```json\n";
  for (char *start = strstr(text, fence); start; start = strstr(start, fence)) {
    start += sizeof fence - 1;
    char *end = strstr(start, "```");
    assert_non_null(end);
    *end = '\0';
    pol_errors errors = {0, NULL};
    pol_model *model = NULL;
    const pol_status status = pol_model_read_text(&model, start, 0, NULL, &errors);
    if (status != POL_OK)
      fail_msg("example %d: %s: %s", count, errors.items[0].path, errors.items[0].rule);
    pol_model_free(&model);
    count++;
    start = end + 1;
  }
  assert_true(count >= 20);
  free(text);
}

/* --- the schema ------------------------------------------------------------------------------- */

static int load_schema(void **state)
{
  char *text = NULL;
  assert_int_equal(pol_model_schema(&text), POL_OK);
  *state = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
  free(text);
  return *state ? 0 : -1;
}

static int drop_schema(void **state)
{
  json_decref(*state);
  return 0;
}

/* The value at a path of keys. */
static json_t *find(json_t *value, const char *path)
{
  char key[64];
  while (value && *path) {
    const size_t length = strcspn(path, "/");
    assert_true(length < sizeof key);
    memcpy(key, path, length);
    key[length] = '\0';
    value = json_object_get(value, key);
    path += length + (path[length] == '/');
  }
  assert_non_null(value);
  return value;
}

static void assert_item(json_t *list, int index, const char *name)
{
  const char *text = json_string_value(json_array_get(list, (size_t)index));
  assert_non_null(text);
  assert_string_equal(text, name);
}

static void schema_lists_every_name(void **state)
{
  json_t *types = find(*state, "definitions/joint/properties/type/enum");
  json_t *forces = find(*state, "definitions/force/properties/type/enum");
  json_t *methods = find(*state, "definitions/simulation/properties/method/enum");
  json_t *formulations = find(*state, "definitions/simulation/properties/formulation/enum");
  assert_int_equal(json_array_size(types), POL_ROLLING_DISK + 1);
  for (int i = 0; i <= POL_ROLLING_DISK; i++)
    assert_item(types, i, pol_joint_type_name((pol_joint_type)i));
  assert_int_equal(json_array_size(forces), POL_CALLBACK_FORCE);
  for (int i = 0; i < POL_CALLBACK_FORCE; i++)
    assert_item(forces, i, pol_force_type_name((pol_force_type)i));
  json_t *coordinates = find(*state, "definitions/drive/properties/coordinate/enum");
  assert_int_equal(json_array_size(coordinates), POL_DRIVE_Z + 1);
  for (int i = 0; i <= POL_DRIVE_Z; i++)
    assert_item(coordinates, i, pol_coordinate_name((pol_coordinate)i));
  json_t *shapes = find(*state, "definitions/shape/properties/type/enum");
  assert_int_equal(json_array_size(shapes), POL_MESH + 1);
  for (int i = 0; i <= POL_MESH; i++)
    assert_item(shapes, i, pol_shape_type_name((pol_shape_type)i));
  json_t *laws = find(*state, "definitions/force/properties/law/enum");
  assert_int_equal(json_array_size(laws), POL_SQUARED_SPRING + 1);
  for (int i = 0; i <= POL_SQUARED_SPRING; i++)
    assert_item(laws, i, pol_spring_law_name((pol_spring_law)i));
  json_t *functions = find(*state, "definitions/function/properties/type/enum");
  assert_int_equal(json_array_size(functions), POL_EXPRESSION + 1);
  for (int i = 0; i <= POL_EXPRESSION; i++)
    assert_item(functions, i, pol_function_type_name((pol_function_type)i));
  assert_int_equal(json_array_size(methods), pol_method_count());
  for (int i = 0; i < pol_method_count(); i++) assert_item(methods, i, pol_method_at(i)->name);
  assert_int_equal(json_array_size(formulations), pol_formulation_count());
  for (int i = 0; i < pol_formulation_count(); i++)
    assert_item(formulations, i, pol_formulation_name((pol_formulation_kind)i));
}

/* An object with all keys of a definition and one that none has, wrapped by format into a model:
 * the reader must know each but that one. */
static void assert_known_keys(json_t *schema, const char *definition, const char *format)
{
  json_t *object = json_object();
  const char *key;
  json_t *value;
  json_object_foreach(find(schema, definition), key, value)
  {
    assert_int_equal(json_object_set_new(object, key, json_null()), 0);
  }
  assert_int_equal(json_object_set_new(object, "qqqqq", json_null()), 0);
  char *text = json_dumps(object, 0);
  assert_non_null(text);
  json_decref(object);
  const size_t size = strlen(format) + strlen(text) + 1;
  char *model_text = malloc(size);
  assert_non_null(model_text);
  snprintf(model_text, size, "%.*s%s%s", (int)strcspn(format, "@"), format, text,
           strchr(format, '@') + 1);
  free(text);

  pol_errors errors = {0, NULL};
  pol_model *model = NULL;
  int unknown = 0;
  assert_int_equal(pol_model_read_text(&model, model_text, 0, NULL, &errors), POL_BAD_ARGUMENT);
  for (int i = 0; i < errors.count; i++) {
    if (strcmp(errors.items[i].rule, "is not a known key") != 0) continue;
    if (!strstr(errors.items[i].path, "qqqqq")) fail_msg("%s is unknown", errors.items[i].path);
    unknown++;
  }
  assert_int_equal(unknown, 1);
  pol_errors_clear(&errors);
  free(model_text);
}

static void schema_has_no_unknown_keys(void **state)
{
  json_t *schema = *state;
  assert_known_keys(schema, "properties", "@");
  assert_known_keys(schema, "definitions/body/properties", "{\"bodies\": [@]}");
  assert_known_keys(schema, "definitions/rotation/properties", "{\"bodies\": [{\"rotation\": @}]}");
  assert_known_keys(schema, "definitions/shape/properties", "{\"bodies\": [{\"shapes\": [@]}]}");
  assert_known_keys(schema, "definitions/marker/properties", "{\"markers\": [@]}");
  assert_known_keys(schema, "definitions/joint/properties", "{\"joints\": [@]}");
  assert_known_keys(schema, "definitions/force/properties", "{\"forces\": [@]}");
  assert_known_keys(schema, "definitions/drive/properties", "{\"drives\": [@]}");
  assert_known_keys(schema, "definitions/variable/properties", "{\"variables\": [@]}");
  assert_known_keys(schema, "definitions/state/properties", "{\"states\": [@]}");
  assert_known_keys(schema, "definitions/coupling/properties", "{\"couplings\": [@]}");
  assert_known_keys(schema, "definitions/function/properties", "{\"drives\": [{\"function\": @}]}");
  assert_known_keys(schema, "definitions/simulation/properties", "{\"simulation\": @}");
  assert_known_keys(schema, "definitions/newton/properties", "{\"simulation\": {\"newton\": @}}");
  assert_known_keys(schema, "definitions/control/properties", "{\"simulation\": {\"control\": @}}");
  assert_known_keys(schema, "definitions/output/properties", "{\"simulation\": {\"output\": @}}");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(examples_are_good_models),
      cmocka_unit_test(schema_lists_every_name),
      cmocka_unit_test(schema_has_no_unknown_keys),
  };
  return cmocka_run_group_tests(tests, load_schema, drop_schema);
}
