/* polhode reproduce: repeats published tables and figures and writes a report.
 *
 * Each item runs in a process of its own, so many at a time as there are cores; it leaves its
 * report in a file, from which the page is made.  So an item that crashes takes no other with it.
 */
#define _POSIX_C_SOURCE 200809L

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/errors.h"
#include "cli/cli.h"
#include "cli/json_out.h"
#include "cli/terminal.h"
#include "papers/page.h"
#include "papers/reproduce.h"

static const char command_name[] = "polhode reproduce";
static const char default_out[] = "reproduced";
enum { MAX_JOBS = 256 };

typedef struct item_job {
  const paper_publication *paper;
  const paper_item *item;
  pid_t process; /* 0: not under way */
  json_t *report;
} item_job;

typedef struct reproduction {
  const cli_args *args;
  const char *out;
  char *data;
  item_job *jobs;
  int num_jobs, num_done, limit;
  pol_errors errors;
} reproduction;

/* --- the command line ------------------------------------------------------------------------- */

/* Whether a word chooses the item: its id, its paper's, or "all". */
static int chooses(const char *word, const paper_publication *paper, const paper_item *item)
{
  return strcmp(word, item->id) == 0 || strcmp(word, paper->id) == 0 || strcmp(word, "all") == 0;
}

static pol_status refuse_item(reproduction *w, const char *word)
{
  pol_near near = pol_near_start(word);
  const paper_item *item;
  const paper_publication *paper;
  for (int i = 0; (item = paper_item_at(i, NULL)) != NULL; i++) pol_near_try(&near, item->id);
  for (int i = 0; (paper = paper_at(i)) != NULL; i++) pol_near_try(&near, paper->id);
  return pol_errors_add(&w->errors, word, "", "unknown item (see --list)", near.best);
}

/* The items that the words choose, each once, in the order of the catalogue. */
static pol_status choose_items(reproduction *w)
{
  const cli_list *words = &w->args->operands;
  const paper_publication *paper;
  const paper_item *item;
  int *used = calloc((size_t)words->count + 1, sizeof *used);
  pol_status status = POL_OK;
  w->jobs = calloc((size_t)paper_item_count() + 1, sizeof *w->jobs);
  if (used == NULL || w->jobs == NULL) status = POL_NO_MEMORY;
  for (int i = 0; status == POL_OK && (item = paper_item_at(i, &paper)) != NULL; i++) {
    int chosen = 0;
    for (int k = 0; k < words->count; k++)
      if (chooses(words->items[k], paper, item)) chosen = used[k] = 1;
    if (chosen) w->jobs[w->num_jobs++] = (item_job){.paper = paper, .item = item};
  }
  for (int k = 0; status == POL_OK && k < words->count; k++)
    if (!used[k]) status = refuse_item(w, words->items[k]);
  free(used);
  return status;
}

/* As many as there are cores, unless the options say how many. */
static pol_status choose_limit(reproduction *w)
{
  const char *text = w->args->jobs;
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  w->limit = cores > 0 && cores < MAX_JOBS ? (int)cores : 1;
  if (text == NULL) return POL_OK;
  char *rest;
  const long given = strtol(text, &rest, 10);
  w->limit = (int)given;
  if (rest != text && *rest == '\0' && given >= 1 && given <= MAX_JOBS) return POL_OK;
  return pol_errors_add(&w->errors, "--jobs", text, "must be a whole number from 1 to 256", "");
}

static int is_folder(const char *path)
{
  struct stat info;
  return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* A folder with models/ and papers/data/ in it. */
static int has_data(const char *folder)
{
  char *models = poli_format("%s/models", folder), *data = poli_format("%s/papers/data", folder);
  const int found = models != NULL && data != NULL && is_folder(models) && is_folder(data);
  free(models);
  free(data);
  return found;
}

/* Where the models and reference data are: as the options say, where they are installed beside the
 * command, or in the tree it was built from. */
static pol_status choose_data(reproduction *w)
{
  char self[4096];
  const char *given = w->args->data;
  const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  self[length > 0 ? length : 0] = '\0';
  char *slash = strrchr(self, '/');
  if (slash != NULL) *slash = '\0';
  if (given == NULL) {
    w->data = poli_format("%s/%s", self, POLHODE_DATA_FROM_COMMAND);
    if (w->data == NULL || has_data(w->data)) return w->data != NULL ? POL_OK : POL_NO_MEMORY;
    free(w->data);
  }
  w->data = poli_format("%s", given != NULL ? given : POLHODE_SOURCE_DIR);
  if (w->data == NULL) return POL_NO_MEMORY;
  if (has_data(w->data)) return POL_OK;
  return pol_errors_add(&w->errors, "--data", given != NULL ? given : "",
                        "must be a folder with models and papers/data of polhode", "");
}

/* Adds all files in a folder and below it. */
static pol_status add_files(cli_list *inputs, const char *folder)
{
  pol_status status = POL_OK;
  DIR *entries = opendir(folder);
  for (const struct dirent *entry; entries != NULL && status == POL_OK;) {
    if ((entry = readdir(entries)) == NULL) break;
    if (entry->d_name[0] == '.') continue;
    char *path = poli_format("%s/%s", folder, entry->d_name);
    status = path == NULL      ? POL_NO_MEMORY
             : is_folder(path) ? add_files(inputs, path)
                               : cli_inputs_add(inputs, path);
    free(path);
  }
  if (entries != NULL) closedir(entries);
  return status;
}

/* Whether a file of models/ or papers/data/, or a link to one, is in the folder of the report. */
static pol_status find_inputs(const reproduction *w, int *clashes)
{
  cli_list inputs = {0};
  char *models = poli_format("%s/models", w->data), *data = poli_format("%s/papers/data", w->data);
  pol_status status = models != NULL && data != NULL ? POL_OK : POL_NO_MEMORY;
  if (status == POL_OK) status = add_files(&inputs, models);
  if (status == POL_OK) status = add_files(&inputs, data);
  if (status == POL_OK) *clashes = cli_find_input_in(&inputs, w->out, NULL) != NULL;
  cli_inputs_free(&inputs);
  free(models);
  free(data);
  return status;
}

static pol_status choose_out(reproduction *w)
{
  w->out = w->args->out != NULL ? w->args->out : default_out;
  if (w->errors.count > 0) return POL_OK;
  if (strcmp(w->out, "-") == 0)
    return pol_errors_add(&w->errors, "--out", w->out,
                          "must be a folder: a report cannot go to standard output", "");
  int clashes = 0;
  const pol_status status = find_inputs(w, &clashes);
  if (status != POL_OK) return status;
  if (clashes)
    return pol_errors_add(&w->errors, "--out", w->out,
                          "must not be a folder that contains input models or data", "");
  if (mkdir(w->out, 0777) == 0 || (errno == EEXIST && is_folder(w->out))) return POL_OK;
  return pol_errors_add(&w->errors, "--out", w->out, strerror(errno), "");
}

static pol_status read_options(reproduction *w)
{
  pol_status status = choose_items(w);
  if (status == POL_OK) status = choose_limit(w);
  if (status == POL_OK) status = choose_data(w);
  if (status == POL_OK) status = choose_out(w);
  return status;
}

/* --- one item --------------------------------------------------------------------------------- */

static char *report_path(const reproduction *w, const item_job *j)
{
  return poli_format("%s/%s.json", w->out, j->item->id);
}

/* Runs the item and writes its report; the exit status of its process. */
static int run_item(const reproduction *w, const item_job *j)
{
  paper_report *report;
  char *path = report_path(w, j);
  if (path == NULL || paper_report_create(&report, j->paper, j->item, w->data, w->out) != POL_OK)
    return 1;
  paper_report_run(report);
  json_t *json = paper_report_json(report);
  const int bad =
      json == NULL || json_dump_file(json, path, JSON_INDENT(1) | JSON_REAL_PRECISION(17)) != 0;
  paper_report_free(&report);
  free(path);
  return bad;
}

static pol_status start_item(const reproduction *w, item_job *j)
{
  char *path = report_path(w, j);
  if (path == NULL) return POL_NO_MEMORY;
  remove(path);
  free(path);
  j->process = fork();
  if (j->process < 0) {
    j->process = 0;
    return POL_NO_MEMORY;
  }
  if (j->process == 0) {
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    _exit(run_item(w, j));
  }
  return POL_OK;
}

/* Reads the report that the process has left, or says that there is none. */
static pol_status end_item(reproduction *w, item_job *j, int status)
{
  char *path = report_path(w, j);
  if (path == NULL) return POL_NO_MEMORY;
  j->process = 0;
  w->num_done++;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) j->report = json_load_file(path, 0, NULL);
  free(path);
  if (j->report != NULL) return POL_OK;
  char reason[80];
  if (WIFSIGNALED(status))
    snprintf(reason, sizeof reason, "its process was terminated by signal %d", WTERMSIG(status));
  else
    snprintf(reason, sizeof reason, "its report could not be written");
  j->report =
      json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:f, s:[], s:[]}", "id", j->item->id, "paper",
                j->paper->id, "title", j->item->title, "published", j->item->published, "verdict",
                "failed", "reason", reason, "seconds", 0.0, "checks", "blocks");
  return j->report != NULL ? POL_OK : POL_NO_MEMORY;
}

/* --- all items -------------------------------------------------------------------------------- */

static void stop_all(reproduction *w)
{
  for (int i = 0; i < w->num_jobs; i++)
    if (w->jobs[i].process > 0) kill(w->jobs[i].process, SIGTERM);
  for (int i = 0; i < w->num_jobs; i++)
    if (w->jobs[i].process > 0) waitpid(w->jobs[i].process, NULL, 0);
}

static void show_progress(const reproduction *w, cli_progress *progress)
{
  progress->note[0] = '\0';
  for (int i = 0; i < w->num_jobs; i++) {
    const size_t length = strlen(progress->note);
    if (w->jobs[i].process > 0)
      snprintf(progress->note + length, sizeof progress->note - length, "  %s",
               w->jobs[i].item->id);
  }
  cli_progress_update(progress, ((double)w->num_done + 0.1) / ((double)w->num_jobs + 0.1));
}

/* Ends the items whose process has ended. */
static pol_status collect(reproduction *w, int *running)
{
  pol_status result = POL_OK;
  for (int i = 0; result == POL_OK && i < w->num_jobs; i++) {
    int status;
    if (w->jobs[i].process <= 0 || waitpid(w->jobs[i].process, &status, WNOHANG) <= 0) continue;
    --*running;
    /* Ctrl-C ends all processes of a terminal: such an item has not failed, it has not run */
    if (WIFSIGNALED(status) && cli_stop_signal() != 0)
      w->jobs[i].process = 0;
    else
      result = end_item(w, &w->jobs[i], status);
  }
  return result;
}

/* Keeps as many processes under way as are allowed until all items are done. */
static pol_status run_items(reproduction *w)
{
  const struct timespec pause = {0, 20000000};
  cli_progress progress;
  int next = 0, running = 0;
  pol_status status = POL_OK;
  cli_progress_begin(&progress, !w->args->quiet && !w->args->json);
  while (status == POL_OK && w->num_done < w->num_jobs && cli_stop_signal() == 0) {
    while (status == POL_OK && running < w->limit && next < w->num_jobs) {
      status = start_item(w, &w->jobs[next++]);
      running += status == POL_OK;
    }
    show_progress(w, &progress);
    nanosleep(&pause, NULL);
    if (status == POL_OK) status = collect(w, &running);
  }
  stop_all(w);
  cli_progress_end(&progress);
  return status;
}

/* --- results ---------------------------------------------------------------------------------- */

/* A copy of the reports in which figures are named by their files. */
static json_t *without_pictures(const json_t *reports)
{
  json_t *copy = json_deep_copy(reports), *report, *block;
  size_t i, k;
  json_array_foreach(copy, i, report)
      json_array_foreach(json_object_get(report, "blocks"), k, block)
  {
    if (json_object_get(block, "svg") == NULL) continue;
    json_object_del(block, "svg");
    json_object_set_new(block, "file",
                        json_sprintf("%s-%s.svg", json_string_value(json_object_get(report, "id")),
                                     json_string_value(json_object_get(block, "name"))));
  }
  return copy;
}

static const char *status_word(const paper_tally *tally)
{
  if (cli_stop_signal() != 0) return "interrupted";
  return tally->failed > 0 ? "failed" : "done";
}

/* {"status", "version", "seconds", "catalogued", "summary": {...}, "items": [...]} */
static json_t *whole_report(const json_t *reports, double seconds)
{
  const paper_tally tally = paper_tally_reports(reports);
  return json_pack("{s:s, s:s, s:f, s:i, s:{s:i, s:i, s:i, s:i, s:i, s:i}, s:o}", "status",
                   status_word(&tally), "version", pol_version(), "seconds", seconds, "catalogued",
                   paper_item_catalogued(), "summary", "reproduced", tally.reproduced,
                   "statements_hold", tally.statements, "shown_only", tally.shown, "differs",
                   tally.differs, "not_comparable", tally.not_comparable, "failed", tally.failed,
                   "items", without_pictures(reports));
}

static void print_table(const reproduction *w, const json_t *reports, double seconds)
{
  const paper_tally tally = paper_tally_reports(reports);
  size_t i;
  json_t *report;
  json_array_foreach(reports, i, report)
  {
    const char *verdict = paper_json_text(report, "verdict"),
               *reason = paper_json_text(report, "reason");
    printf("%-24s %s%-15s%s %6.1f s  %s\n", paper_json_text(report, "id"),
           cli_style_start(stdout, verdict[0] == 'r'   ? CLI_BOLD
                                   : verdict[0] == 's' ? CLI_PLAIN
                                   : verdict[0] == 'f' ? CLI_RED
                                                       : CLI_YELLOW),
           verdict, cli_style_start(stdout, CLI_PLAIN),
           json_number_value(json_object_get(report, "seconds")), paper_json_text(report, "title"));
    if (reason[0] != '\0') cli_print_entry(stdout, 0, CLI_PLAIN, "   ", 4, reason);
  }
  printf(
      "\n%zu of %d items in %.0f s: %d reproduced, %d statements hold, %d shown only, %d differ, "
      "%d not comparable, %d failed\n",
      json_array_size(reports), paper_item_catalogued(), seconds, tally.reproduced,
      tally.statements, tally.shown, tally.differs, tally.not_comparable, tally.failed);
  printf("report                   %s/index.html\n", w->out);
}

/* Writes the pages and report.json. */
static int write_results(const reproduction *w, const json_t *reports, double seconds)
{
  char *page = poli_format("%s/index.html", w->out), *data = poli_format("%s/report.json", w->out);
  char *verdicts = poli_format("%s/verdicts.md", w->out);
  json_t *whole = whole_report(reports, seconds);
  int bad = page == NULL || data == NULL || verdicts == NULL || whole == NULL ||
            paper_page_write(reports, seconds, page) != POL_OK ||
            paper_verdicts_write(reports, verdicts) != POL_OK ||
            json_dump_file(whole, data, JSON_INDENT(1) | JSON_REAL_PRECISION(17)) != 0;
  if (bad) cli_complain(command_name, "the report in %s cannot be written", w->out);
  if (!bad && w->args->json) {
    bad = cli_json_print(whole) != 0;
    whole = NULL;
  }
  json_decref(whole);
  free(page);
  free(data);
  free(verdicts);
  return bad;
}

/* Reports what was done, in part if a signal has stopped it; the exit status. */
static int tell(reproduction *w, double seconds)
{
  json_t *reports = json_array();
  int bad = reports == NULL;
  for (int i = 0; i < w->num_jobs && !bad; i++)
    if (w->jobs[i].report != NULL) bad = json_array_append(reports, w->jobs[i].report) != 0;
  bad = bad || write_results(w, reports, seconds);
  if (!bad && !w->args->json && !w->args->quiet) print_table(w, reports, seconds);
  bad = bad || paper_tally_reports(reports).failed > 0;
  json_decref(reports);
  if (cli_stop_signal() != 0) return CLI_SIGNALLED + cli_stop_signal();
  return bad ? CLI_FAILED : CLI_DONE;
}

/* --- the list --------------------------------------------------------------------------------- */

static int list_items(int json)
{
  const paper_item *item;
  const paper_publication *paper, *last = NULL;
  json_t *items = json ? json_array() : NULL;
  for (int i = 0; (item = paper_item_at(i, &paper)) != NULL; i++) {
    if (json) {
      json_array_append_new(items, json_pack("{s:s, s:s, s:s, s:s, s:b}", "id", item->id, "paper",
                                             paper->id, "title", item->title, "published",
                                             item->published, "fast", item->fast));
      continue;
    }
    if (paper != last) {
      printf("%s", last != NULL ? "\n" : "");
      cli_print_heading(stdout, paper->citation);
    }
    last = paper;
    cli_print_entry(stdout, 2, CLI_BOLD, item->id, 26, item->title);
  }
  if (json)
    return cli_json_print(
               json_pack("{s:i, s:o}", "catalogued", paper_item_catalogued(), "items", items)) == 0
               ? CLI_DONE
               : CLI_FAILED;
  printf("\n%d items\n", paper_item_count());
  return CLI_DONE;
}

/* --- the command ------------------------------------------------------------------------------ */

static int run(const cli_args *args)
{
  reproduction w = {.args = args};
  int result = CLI_FAILED;
  if (args->list || args->operands.count == 0) return list_items(args->json);
  pol_status status = read_options(&w);
  const double start = cli_seconds();
  if (status == POL_OK && w.errors.count > 0) {
    result = cli_refuse(command_name, args->json, &w.errors);
  } else if (status == POL_OK) {
    fflush(stdout); /* or each process would print it again */
    cli_catch_signals();
    status = run_items(&w);
    if (status == POL_OK) result = tell(&w, cli_seconds() - start);
  }
  if (status != POL_OK) cli_complain(command_name, "%s", pol_status_text(status));
  for (int i = 0; i < w.num_jobs; i++) json_decref(w.jobs[i].report);
  pol_errors_clear(&w.errors);
  free(w.jobs);
  free(w.data);
  return result;
}

static const cli_option options[] = {
    {"--list", NULL, "only list the items", CLI_FLAG, offsetof(cli_args, list), NULL},
    {"--out", "FOLDER", "folder of the report, created if necessary; default: reproduced", CLI_TEXT,
     offsetof(cli_args, out), NULL},
    {"--jobs", "N", "number of items run in parallel; default: number of cores", CLI_TEXT,
     offsetof(cli_args, jobs), NULL},
    {"--data", "FOLDER", "folder with models/ and papers/data/ of polhode, if not found", CLI_TEXT,
     offsetof(cli_args, data), NULL},
    {"--json", NULL, "print the report as one JSON object", CLI_FLAG, offsetof(cli_args, json),
     NULL},
};

const cli_command cli_reproduce = {
    .name = "reproduce",
    .summary = "repeat published tables and figures",
    .operand = "[all|ITEM...]",
    .text = "Repeats tables, figures and stated counts of five papers, compares them with the\n"
            "published values, and gives each a verdict: reproduced (at least one published\n"
            "number agrees), statements hold (no number is published), shown only (nothing is\n"
            "published to compare with), differs (and why), or not comparable (and why). A\n"
            "verdict follows from measured numbers; \"differs\" is a result, not a failure.\n\n"
            "An ITEM is an id such as gavrea2005-table1, or a paper such as gavrea2005;\n"
            "without ITEM, the items are listed; \"all\" runs all of them. The report is\n"
            "FOLDER/index.html, one page with all figures; next to it are the figures as\n"
            "SVG, report.json and verdicts.md.\n\n"
            "The exit status is 0 if all items ran, whatever their verdicts, and 1 if one\n"
            "could not run.",
    .examples = "  polhode reproduce --list\n"
                "  polhode reproduce gavrea2005-table1\n"
                "  polhode reproduce gavrea2005-fig02 gavrea2005-fig03 --out report --jobs 2",
    .options = options,
    .num_options = sizeof options / sizeof options[0],
    .run = run,
};
