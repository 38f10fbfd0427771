/* polhode info: what a result file holds. */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "cli/json_out.h"
#include "cli/terminal.h"
#include "cli/text_out.h"

/* Lines of the tables of channels and of events at most. */
enum { MAX_LINES = 60, MAX_EVENTS = 20 };

/* What is said about a file. */
typedef struct about {
  const char *path;
  const pol_result_info *info;
  const pol_result *result;
  double size;        /* bytes; -1 if not known */
  double first, last; /* times */
  int has_times;
} about;

/* The size and the time span.  Gives the exit status. */
static int look(about *a, pol_result *result, int json)
{
  struct stat file;
  const long rows = pol_result_rows(result);
  const int t = pol_result_find_channel(result, "t");
  a->info = pol_result_about(result);
  a->result = result;
  a->size = stat(a->path, &file) == 0 ? (double)file.st_size : -1.0;
  if (t < 0 || rows == 0) return CLI_DONE;
  a->has_times = 1;
  if (pol_result_series_part(result, t, 0, 1, &a->first) == POL_OK &&
      pol_result_series_part(result, t, rows - 1, 1, &a->last) == POL_OK)
    return CLI_DONE;
  return cli_refuse_result(a->path, json, POL_RESULT_DAMAGED);
}

/* --- table ------------------------------------------------------------------------------------ */

static void print_settings(const pol_result_info *info)
{
  json_t *settings = info->settings != NULL ? json_loads(info->settings, 0, NULL) : NULL;
  const char *method = json_string_value(json_object_get(settings, "method"));
  const char *formulation = json_string_value(json_object_get(settings, "formulation"));
  const json_t *step = json_object_get(settings, "step"); /* null: variable */
  const double end = json_number_value(json_object_get(settings, "end"));
  char step_text[40] = "variable";
  if (json_is_number(step))
    snprintf(step_text, sizeof step_text, "%.10g s", json_number_value(step));
  if (method != NULL && formulation != NULL)
    cli_print_row("settings", "%s, %s, step %s, end %.10g s", method, formulation, step_text, end);
  json_decref(settings);
  for (int i = 0; i < info->num_overrides; i++) cli_print_row("set", "%s", info->overrides[i]);
}

/* The length of the name without its component: "top.position" of "top.position.x". */
static size_t base_length(const char *name)
{
  const char *dot = strrchr(name, '.');
  return dot != NULL ? (size_t)(dot - name) : strlen(name);
}

/* The first channel from `first` on that is not a component of the same quantity. */
static int end_of_quantity(const pol_result *result, int first)
{
  const pol_channel *channel = pol_result_channel(result, first);
  const size_t length = base_length(channel->name);
  int i = first + 1;
  for (; i < pol_result_count(result); i++) {
    const pol_channel *next = pol_result_channel(result, i);
    if (base_length(next->name) != length || strncmp(next->name, channel->name, length) != 0 ||
        strcmp(next->unit, channel->unit) != 0)
      break;
  }
  return i;
}

/* One line for each quantity: its name, its components, its unit. */
static void print_channels(const pol_result *result)
{
  int lines = 0;
  printf("\nchannels\n");
  for (int i = 0; i < pol_result_count(result); lines++) {
    const pol_channel *channel = pol_result_channel(result, i);
    const int end = end_of_quantity(result, i);
    char text[128];
    int used = snprintf(text, sizeof text, "%s", channel->name);
    for (int k = i + 1; k < end && used < (int)sizeof text; k++) {
      const char *name = pol_result_channel(result, k)->name;
      used += snprintf(text + used, sizeof text - (size_t)used, " %s", name + base_length(name));
    }
    if (lines == MAX_LINES) {
      printf("  ... and %d more; --json lists all\n", pol_result_count(result) - i);
      return;
    }
    const int blanks = used < 46 ? 46 - used : 0;
    fputs("  ", stdout);
    cli_put_text(stdout, text);
    printf("%*s ", blanks, "");
    cli_put_text(stdout, channel->unit);
    fputc('\n', stdout);
    i = end;
  }
}

/* One line for each event: when, what happened, its name. */
static void print_events(const pol_result *result)
{
  const long count = pol_result_num_events(result);
  if (count > 0) printf("\n%-24s  %17s  %-6s  %8s\n", "event", "time s", "action", "row");
  for (long i = 0; i < count && i < MAX_EVENTS; i++) {
    const pol_result_event *event = pol_result_get_event(result, i);
    const size_t length = strlen(event->name);
    cli_put_text(stdout, event->name);
    printf("%*s  %17.10f  ", length < 24 ? 24 - (int)length : 0, "", event->t);
    cli_put_text(stdout, event->action);
    printf("%*s  %8ld\n", 6 - (int)strnlen(event->action, 6), "", event->row);
  }
  if (count > MAX_EVENTS) printf("... and %ld more; --json lists all\n", count - MAX_EVENTS);
}

static void print_about(const about *a)
{
  const pol_result_info *info = a->info;
  const char *format = strcmp(info->format, "hdf5") == 0 ? "HDF5" : "CSV";
  cli_print_row("result", "%s, %s, %.0f bytes", a->path, format, a->size);
  if (info->version != NULL) cli_print_row("written by", "polhode %s", info->version);
  if (info->name != NULL && info->name[0] != '\0') cli_print_model(info->name, NULL);
  print_settings(info);
  if (info->status != NULL)
    cli_print_row("status", "%s%s", info->status,
                  strcmp(info->status, "unfinished") == 0 ? ": still running, or killed" : "");
  if (info->failure != NULL) cli_print_row("failure", "%s", info->failure);
  cli_print_row("rows", "%ld", pol_result_rows(a->result));
  if (a->has_times) cli_print_row("time", "%.10g s to %.10g s", a->first, a->last);
  if (pol_result_num_events(a->result) > 0)
    cli_print_row("events", "%ld", pol_result_num_events(a->result));
  cli_print_row("columns", "%d", pol_result_count(a->result));
  print_events(a->result);
  print_channels(a->result);
}

/* --- JSON ------------------------------------------------------------------------------------- */

/* A text, or null. */
static json_t *text_or_null(const char *text)
{
  return text != NULL ? cli_json_text(text) : json_null();
}

/* The settings as the object they are; null if there are none. */
static json_t *settings_json(const char *text)
{
  json_t *settings = text != NULL ? json_loads(text, 0, NULL) : NULL;
  return settings != NULL ? settings : json_null();
}

static json_t *channels_json(const pol_result *result)
{
  json_t *list = json_array();
  for (int i = 0; i < pol_result_count(result); i++) {
    const pol_channel *channel = pol_result_channel(result, i);
    cli_json_append(&list,
                    json_pack("{s:o, s:o, s:o, s:o, s:o}", "name", cli_json_text(channel->name),
                              "unit", cli_json_text(channel->unit), "group",
                              cli_json_text(channel->group), "owner", cli_json_text(channel->owner),
                              "quantity", cli_json_text(channel->quantity)));
  }
  return list;
}

/* null for a CSV, which does not tell. */
static json_t *events_json(const about *a)
{
  if (strcmp(a->info->format, "csv") == 0) return json_null();
  json_t *list = json_array();
  for (long i = 0; i < pol_result_num_events(a->result); i++) {
    const pol_result_event *event = pol_result_get_event(a->result, i);
    cli_json_append(&list, json_pack("{s:o, s:o, s:o, s:I}", "t", cli_json_number(event->t), "name",
                                     cli_json_text(event->name), "action",
                                     cli_json_text(event->action), "row", (json_int_t)event->row));
  }
  return list;
}

static json_t *overrides_json(const pol_result_info *info)
{
  json_t *list = json_array();
  for (int i = 0; i < info->num_overrides; i++)
    cli_json_append(&list, cli_json_text(info->overrides[i]));
  return list;
}

static json_t *about_json(const about *a)
{
  const pol_result_info *info = a->info;
  json_t *span = a->has_times ? json_pack("{s:o, s:o}", "first", cli_json_number(a->first), "last",
                                          cli_json_number(a->last))
                              : json_null();
  return json_pack("{s:o, s:s, s:I, s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:I, s:i, s:o, s:o, s:o}", //
                   "file", cli_json_text(a->path),                                                //
                   "format", info->format,                                                        //
                   "bytes", (json_int_t)a->size,                                                  //
                   "version", text_or_null(info->version),                                        //
                   "status", text_or_null(info->status),                                          //
                   "failure", text_or_null(info->failure),                                        //
                   "has_model", info->model != NULL,                                              //
                   "model", text_or_null(info->name),                                             //
                   "settings", settings_json(info->settings),                                     //
                   "overrides", overrides_json(info),                                             //
                   "rows", (json_int_t)pol_result_rows(a->result),                                //
                   "columns", pol_result_count(a->result),                                        //
                   "time", span,                                                                  //
                   "events", events_json(a),                                                      //
                   "channels", channels_json(a->result));
}

/* --- the command ------------------------------------------------------------------------------ */

static int run(const cli_args *args)
{
  pol_result *result;
  int exit_status = cli_open_result(args->operand, args->json, &result);
  if (exit_status != CLI_DONE) return exit_status;
  about a = {.path = args->operand};
  exit_status = look(&a, result, args->json);
  if (exit_status == CLI_DONE && args->json)
    exit_status = cli_json_print(about_json(&a)) == 0 ? CLI_DONE : CLI_FAILED;
  else if (exit_status == CLI_DONE && !args->quiet)
    print_about(&a);
  pol_result_close(&result);
  return exit_status;
}

static const cli_option options[] = {
    {"--json", NULL, "print one JSON object instead of a table", CLI_FLAG, offsetof(cli_args, json),
     NULL},
};

const cli_command cli_info = {
    .name = "info",
    .summary = "say what a result file holds",
    .operand = "RESULT",
    .text = "Says what a result (.h5 or .csv) is: the model and the settings of the run, how\n"
            "it ended, how many rows there are, its events and what was recorded.\n\n"
            "top.h5 in the examples is what polhode run MODEL.json --out top.h5 writes.",
    .examples = "  polhode info top.h5\n"
                "  polhode info top.csv --json",
    .options = options,
    .num_options = sizeof options / sizeof options[0],
    .run = run,
};
