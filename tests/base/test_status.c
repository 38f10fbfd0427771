/* Words for every status, and the version. */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <polhode/status.h>

static const pol_status all[] = {
    POL_OK,           POL_NOT_CONVERGED, POL_SINGULAR,   POL_NOT_FINITE,
    POL_INCONSISTENT, POL_RETRY,         POL_SMALL_STEP, POL_NO_MEMORY,
    POL_BAD_ARGUMENT, POL_CALLBACK,      POL_IO,
};
enum { NUM_ALL = sizeof all / sizeof all[0] };

static const char unknown[] = "unknown status";

/* Each status has its own phrase: lower case, no final stop. */
static void each_status_has_its_phrase(void **state)
{
  (void)state;
  for (int i = 0; i < NUM_ALL; i++) {
    const char *text = pol_status_text(all[i]);
    assert_non_null(text);
    assert_string_not_equal(text, unknown);
    assert_true(islower((unsigned char)text[0]));
    assert_int_not_equal(text[strlen(text) - 1], '.');
    for (int j = 0; j < i; j++) assert_string_not_equal(text, pol_status_text(all[j]));
  }
}

/* A number that is no status is answered too. */
static void other_numbers_are_unknown(void **state)
{
  (void)state;
  assert_string_equal(pol_status_text((pol_status)1000), unknown);
  assert_string_equal(pol_status_text((pol_status)-1000), unknown);
}

static void version_is_the_projects(void **state)
{
  (void)state;
  assert_string_equal(pol_version(), POLHODE_VERSION);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_status_has_its_phrase),
      cmocka_unit_test(other_numbers_are_unknown),
      cmocka_unit_test(version_is_the_projects),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
