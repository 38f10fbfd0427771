/* Every model in docs/model-format.md is good; tests/docs/test_reference.py compares its tables of
 * keys and the schema with those of the reader. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <polhode/model.h>

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

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(examples_are_good_models),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
