/* Parts of the JSON objects that commands print, and what happens if an object cannot be printed:
 * the file of the command itself, with stand-ins for what it calls. */
#define _POSIX_C_SOURCE 200809L

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cli/json_out.c"

static int complaints;

void cli_complain(const char *source, const char *format, ...)
{
  (void)source, (void)format;
  complaints++;
}

const char *cli_index_name(pol_index index)
{
  return index == POL_INDEX_2_STABILIZED ? "stabilized-2" : "another";
}

int cli_finding_text(const pol_summary *summary, int which, char *text, size_t size)
{
  (void)summary, (void)which, (void)text, (void)size;
  return 0;
}

int cli_unused_warning(const pol_settings *settings, char *message, size_t size)
{
  (void)settings;
  snprintf(message, size, "unused");
  return 1;
}

static void what_json_lacks_is_replaced(void **state)
{
  (void)state;
  json_t *number = cli_json_number(-0.0), *none = cli_json_number((double)NAN);
  json_t *text = cli_json_text("\xff"), *list = cli_json_numbers((const double[]){1.0, 2.0}, 2);
  assert_true(json_is_real(number) && !signbit(json_real_value(number)));
  assert_true(json_is_null(none));
  assert_string_equal(json_string_value(text), "(not UTF-8)");
  assert_int_equal(json_array_size(list), 2);
  assert_true(json_real_value(json_array_get(list, 1)) == 2.0);
  cli_json_append(&list, NULL); /* memory was out: so is the list */
  assert_null(list);
  json_decref(number);
  json_decref(none);
  json_decref(text);
}

static void an_index_is_a_number_or_a_word(void **state)
{
  (void)state;
  json_t *three = cli_json_index(POL_INDEX_3), *two = cli_json_index(POL_INDEX_2);
  json_t *word = cli_json_index(POL_INDEX_2_STABILIZED);
  assert_int_equal(json_integer_value(three), 3);
  assert_int_equal(json_integer_value(two), 2);
  assert_string_equal(json_string_value(word), "stabilized-2");
  json_decref(three);
  json_decref(two);
  json_decref(word);
}

/* No memory for the object, and a disk that is full: both are failures of the command. */
static void what_cannot_be_printed_is_a_failure(void **state)
{
  (void)state;
  static char buffer[BUFSIZ];
  complaints = 0;
  assert_int_equal(cli_json_print(NULL), -1);
  assert_int_equal(complaints, 1);
  fflush(stdout);
  FILE *full = fopen("/dev/full", "w"), *standard = stdout;
  assert_non_null(full);
  setvbuf(full, NULL, _IONBF, 0);
  stdout = full;
  const int failed = cli_json_print(json_pack("{s:s}", "status", "done"));
  stdout = standard;
  fclose(full);
  assert_int_equal(failed, -1);
  FILE *page = fmemopen(buffer, sizeof buffer, "w");
  assert_non_null(page);
  stdout = page;
  const int good = cli_json_print(json_pack("{s:f}", "x", 0.1));
  stdout = standard;
  fclose(page);
  assert_int_equal(good, 0);
  assert_string_equal(buffer, "{\n  \"x\": 0.10000000000000001,\n  \"schema_version\": 1\n}\n");
  assert_int_equal(complaints, 1);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_json_lacks_is_replaced),
      cmocka_unit_test(an_index_is_a_number_or_a_word),
      cmocka_unit_test(what_cannot_be_printed_is_a_failure),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
