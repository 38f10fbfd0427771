/* Items whose runs stop long before their end, by an event or by a failure that is added to all
 * models: no item may take what is there for a result. */
#define _XOPEN_SOURCE 700

#include <glob.h>
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

#include "papers/reproduce.h"

#define MODELS POLHODE_SOURCE_DIR "/models/"

/* These run no model, or the model alone is published. */
static const char *const without_runs[] = {"arnold2015-sec32", "arnold2015-fig05",
                                           "holzinger-sigma-table1"};

/* These compare errors over steps: that of a run which fails is not a number, and differs. */
static const char *const with_errors[] = {
    "holzinger-sigma-fig02", "bruels2010-fig02",  "bruels2010-fig03",
    "bruels2010-fig04",      "bruels2010-fig05",  "bruels2010-fig06",
    "bruels2010-fig07",      "gavrea2005-table1", "gavrea2005-table2"};

static int is_among(const char *id, const char *const *list, size_t count)
{
  for (size_t i = 0; i < count; i++)
    if (strcmp(list[i], id) == 0) return 1;
  return 0;
}

/* What makes a model stop, added to it. */
static void add_event(json_t *model)
{
  json_t *event = json_pack("{s:s, s:s, s:s}", "name", "too early", "expression", "t - 0.00031",
                            "action", "stop");
  assert_int_equal(json_object_set_new(model, "events", json_pack("[o]", event)), 0);
}

/* A force that is not a number after that time. */
static void add_fault(json_t *model)
{
  const json_t *body = json_array_get(json_object_get(model, "bodies"), 0);
  json_t *force =
      json_pack("{s:s, s:s, s:s, s:[s, f, f]}", "name", "too late", "type", "force", "body",
                paper_json_text(body, "name"), "force", "1e-300*sqrt(0.00031 - t)", 0.0, 0.0);
  if (json_object_get(model, "forces") == NULL)
    assert_int_equal(json_object_set_new(model, "forces", json_array()), 0);
  assert_int_equal(json_array_append_new(json_object_get(model, "forces"), force), 0);
}

/* A copy of all models, in a folder that has the data too. */
static void write_models(const char *folder, void (*change)(json_t *model))
{
  char path[512];
  glob_t found;
  mkdir(folder, 0700);
  snprintf(path, sizeof path, "%s/papers", folder);
  if (access(path, R_OK) != 0) assert_int_equal(symlink(POLHODE_SOURCE_DIR "/papers", path), 0);
  snprintf(path, sizeof path, "%s/models", folder);
  mkdir(path, 0700);
  assert_int_equal(glob(MODELS "*/*.json", 0, NULL, &found), 0);
  for (size_t i = 0; i < found.gl_pathc; i++) {
    json_t *model = json_load_file(found.gl_pathv[i], 0, NULL);
    assert_non_null(model);
    change(model);
    snprintf(path, sizeof path, "%s/models/%s", folder, found.gl_pathv[i] + strlen(MODELS));
    char *name = strrchr(path, '/');
    *name = '\0';
    mkdir(path, 0700);
    *name = '/';
    assert_int_equal(json_dump_file(model, path, 0), 0);
    json_decref(model);
  }
  globfree(&found);
}

/* All items with these models fail; where errors may count, they differ. */
static void expect_no_result(const char *folder, int errors_count)
{
  const paper_item *item;
  const paper_publication *paper;
  int wrong = 0;
  for (int i = 0; (item = paper_item_at(i, &paper)) != NULL; i++) {
    paper_report *report;
    if (!item->fast || is_among(item->id, without_runs, 3)) continue;
    const int differs = errors_count && is_among(item->id, with_errors, 9);
    assert_int_equal(paper_report_create(&report, paper, item, folder, NULL), POL_OK);
    paper_report_run(report);
    const char *verdict = paper_json_text(paper_report_json(report), "verdict");
    if (strcmp(verdict, differs ? "differs" : "failed") != 0) {
      print_message("%s: %s\n", item->id, verdict);
      wrong++;
    }
    paper_report_free(&report);
  }
  assert_int_equal(wrong, 0);
}

static void runs_that_stop_early_are_no_result(void **state)
{
  (void)state;
  write_models("stopped", add_event);
  expect_no_result("stopped", 0);
}

static void runs_that_fail_are_no_result(void **state)
{
  (void)state;
  write_models("faulty", add_fault);
  expect_no_result("faulty", 1);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(runs_that_stop_early_are_no_result),
      cmocka_unit_test(runs_that_fail_are_no_result),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
