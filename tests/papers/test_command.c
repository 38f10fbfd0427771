/* polhode reproduce: the list, wrong words, a run of one item with its report. */
#define _XOPEN_SOURCE 700

#include <time.h>

#include "cli/cli_test.h"

static void items_are_listed(void **state)
{
  (void)state;
  expect("polhode reproduce", 0);
  expect_text(out, "gavrea2005-table1");
  expect_text(out, "74 items");
  expect("polhode reproduce --list --json", 0);
  json_t *object = parse_output();
  assert_true(number_at(object, "catalogued") == 74);
  assert_true(json_string_length(at(json_array_get(at(object, "items"), 0), "published")) > 0);
  json_decref(object);
}

static void wrong_words_are_refused(void **state)
{
  (void)state;
  expect("polhode reproduce gavrea2005-tabel1", 2);
  expect_text(err, "unknown item");
  expect_text(err, "did you mean \"gavrea2005-table1\"?");
  expect("polhode reproduce all --jobs 0", 2);
  expect_text(err, "--jobs = 0: must be a whole number from 1 to 256");
  expect("polhode reproduce gavrea2005 --data nowhere", 2);
  expect_text(err, "--data = nowhere: must be a folder");
  expect("polhode reproduce gavrea2005 --out top.json", 2);
  expect_text(err, "--out = top.json");
}

static void an_item_gets_its_report(void **state)
{
  (void)state;
  static char page[1 << 18];
  expect("polhode reproduce gavrea2005-fig02 gavrea2005-fig02 --out report --color always", 0);
  expect_text(out, "gavrea2005-fig02");
  expect_text(out, "1 of 74 items in");
  expect_text(
      out, "0 reproduced, 0 statements hold, 1 shown only, 0 differ, 0 not comparable, 0 failed");
  FILE *file = fopen("report/index.html", "r");
  assert_non_null(file);
  page[fread(page, 1, sizeof page - 1, file)] = '\0';
  fclose(file);
  expect_text(page, "<h3 id=\"gavrea2005-fig02\">");
  expect_text(page, "<span class=\"verdict shown\">shown only</span>");
  expect_text(page, "<svg ");
  expect_text(page, "url(#gavrea2005-fig02-curve-c1)");
  expect_text(page, "id=\"gavrea2005-fig02-curve-c1\"");
  expect_text(page, "svg [stroke=\"#0072b2\"]{stroke:#7ccbff}");
  assert_int_equal(access("report/gavrea2005-fig02-curve.svg", R_OK), 0);
  expect("polhode reproduce gavrea2005-fig02 --out report --json", 0);
  json_t *object = parse_output();
  expect_word(object, "status", "done");
  assert_true(number_at(object, "summary.shown_only") == 1);
  const json_t *item = json_array_get(at(object, "items"), 0);
  expect_word((json_t *)item, "verdict", "shown only");
  const json_t *figure = json_array_get(json_object_get(item, "blocks"), 0);
  expect_word((json_t *)figure, "file", "gavrea2005-fig02-curve.svg");
  assert_null(json_object_get(figure, "svg"));
  json_decref(object);
  read_text("report/verdicts.md", page);
  expect_text(page,
              "| `gavrea2005-fig02` | Angle of the first bar over time | shown only | nothing "
              "published | no published number or statement to test");
  json_t *stored = json_load_file("report/report.json", 0, NULL);
  assert_non_null(stored);
  json_decref(stored);
}

/* Models that cannot be read: the item fails, and so does the command, but the report is there. */
static void an_item_that_cannot_run_is_told(void **state)
{
  (void)state;
  assert_int_equal(mkdir("empty", 0700), 0);
  assert_int_equal(mkdir("empty/models", 0700), 0);
  assert_int_equal(mkdir("empty/papers", 0700), 0);
  assert_int_equal(mkdir("empty/papers/data", 0700), 0);
  expect("polhode reproduce gavrea2005-fig02 --data empty --out failed", 1);
  expect_text(out, "1 failed");
  expect_text(out, "double_pendulum.json");
  assert_int_equal(access("failed/index.html", R_OK), 0);
}

/* Ctrl-C on a terminal reaches the command and the processes of its items: what was cut off has not
 * failed.  The test, in a group of its own, stands for the terminal. */
static void ctrl_c_keeps_what_is_done(void **state)
{
  (void)state;
  char *arguments[] = {"polhode", "reproduce", "arnold2015", "--out", "cut",
                       "--jobs",  "8",         "--json",     NULL};
  assert_int_equal(setpgid(0, 0), 0);
  for (int i = 0; i < 3; i++) {
    const pid_t child = start(-1, arguments);
    while (access("cut/arnold2015-sec32.json", R_OK) != 0)
      nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    signal(SIGINT, SIG_IGN);
    assert_int_equal(kill(0, SIGINT), 0);
    assert_int_equal(finish(child), 130);
    signal(SIGINT, SIG_DFL);
    json_t *object = parse_output();
    expect_word(object, "status", "interrupted");
    assert_true(number_at(object, "summary.failed") == 0);
    assert_in_range(json_array_size(at(object, "items")), 1, 19);
    json_decref(object);
    assert_int_equal(unlink("cut/arnold2015-sec32.json"), 0);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(items_are_listed),
      cmocka_unit_test(wrong_words_are_refused),
      cmocka_unit_test(an_item_gets_its_report),
      cmocka_unit_test(an_item_that_cannot_run_is_told),
      cmocka_unit_test(ctrl_c_keeps_what_is_done),
  };
  return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
