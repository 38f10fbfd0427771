/* Commands that read a result: info prints what it holds, view writes a page that shows it move. */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <polhode/view.h>

#include "cli/cli.h"
#include "cli/json_out.h"
#include "cli/sweep.h"
#include "cli/terminal.h"

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

/* --- table ------------------------------------------------------------------------------------ */

/* The length of the name without its component: "top.position" of "top.position.x". */
static size_t base_length(const char *name)
{
  const char *dot = strrchr(name, '.');
  return dot != NULL ? (size_t)(dot - name) : strlen(name);
}

/* One line for each quantity: its name, its components, its unit. */
static void print_channels(const pol_result *result)
{
  int lines = 0;
  printf("\nchannels\n");
  for (int i = 0; i < pol_result_count(result); lines++) {
    const pol_channel *channel = pol_result_channel(result, i);
    const size_t base = base_length(channel->name);
    char text[128];
    /* the first channel that is not a component of the same quantity */
    int end = i + 1;
    for (; end < pol_result_count(result); end++) {
      const pol_channel *next = pol_result_channel(result, end);
      if (base_length(next->name) != base || strncmp(next->name, channel->name, base) != 0 ||
          strcmp(next->unit, channel->unit) != 0)
        break;
    }
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

static void print_about(const about *a)
{
  const pol_result_info *info = a->info;
  const char *format = strcmp(info->format, "hdf5") == 0 ? "HDF5" : "CSV";
  cli_print_row("result", "%s, %s, %.0f bytes", a->path, format, a->size);
  if (info->version != NULL) cli_print_row("written by", "polhode %s", info->version);
  if (info->name != NULL && info->name[0] != '\0') cli_print_model(info->name, NULL);
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
  json_t *parameters = info->parameters != NULL ? json_loads(info->parameters, 0, NULL) : NULL;
  /* their units stand in the model */
  json_t *model =
      info->model != NULL ? json_loads(info->model, JSON_REJECT_DUPLICATES, NULL) : NULL;
  const char *name;
  json_t *value;
  json_object_foreach(parameters, name, value)
  {
    const json_t *declared = json_object_get(json_object_get(model, "parameters"), name);
    const char *unit = json_string_value(json_object_get(declared, "unit"));
    cli_print_row("parameter", "%s = %.10g%s%s", name, json_number_value(value),
                  unit != NULL ? " " : "", unit != NULL ? unit : "");
  }
  json_decref(model);
  json_decref(parameters);
  if (info->status != NULL)
    cli_print_row("status", "%s%s", info->status,
                  strcmp(info->status, "unfinished") == 0 ? ": still running, or killed" : "");
  if (info->failure != NULL) cli_print_row("failure", "%s", info->failure);
  cli_print_row("rows", "%ld", pol_result_rows(a->result));
  if (a->has_times) cli_print_row("time", "%.10g s to %.10g s", a->first, a->last);
  if (pol_result_num_events(a->result) > 0)
    cli_print_row("events", "%ld", pol_result_num_events(a->result));
  cli_print_row("columns", "%d", pol_result_count(a->result));
  /* One line for each event: when, what happened, its name. */
  const long count = pol_result_num_events(a->result);
  if (count > 0) printf("\n%-24s  %17s  %-6s  %8s\n", "event", "time s", "action", "row");
  for (long i = 0; i < count && i < MAX_EVENTS; i++) {
    const pol_result_event *event = pol_result_get_event(a->result, i);
    const size_t length = strlen(event->name);
    cli_put_text(stdout, event->name);
    printf("%*s  %17.10f  ", length < 24 ? 24 - (int)length : 0, "", event->t);
    cli_put_text(stdout, event->action);
    printf("%*s  %8ld\n", 6 - (int)strnlen(event->action, 6), "", event->row);
  }
  if (count > MAX_EVENTS) printf("... and %ld more; --json lists all\n", count - MAX_EVENTS);
  print_channels(a->result);
}

/* --- JSON ------------------------------------------------------------------------------------- */

/* A text, or null. */
static json_t *text_or_null(const char *text)
{
  return text != NULL ? cli_json_text(text) : json_null();
}

static json_t *about_json(const about *a)
{
  const pol_result_info *info = a->info;
  json_t *span = a->has_times ? json_pack("{s:o, s:o}", "first", cli_json_number(a->first), "last",
                                          cli_json_number(a->last))
                              : json_null();
  json_t *overrides = json_array();
  for (int i = 0; i < info->num_overrides; i++)
    cli_json_append(&overrides, cli_json_text(info->overrides[i]));
  json_t *channels = json_array();
  for (int k = 0; k < pol_result_count(a->result); k++) {
    const pol_channel *channel = pol_result_channel(a->result, k);
    cli_json_append(&channels,
                    json_pack("{s:o, s:o, s:o, s:o, s:o}", "name", cli_json_text(channel->name),
                              "unit", cli_json_text(channel->unit), "group",
                              cli_json_text(channel->group), "owner", cli_json_text(channel->owner),
                              "quantity", cli_json_text(channel->quantity)));
  }
  json_t *settings = info->settings != NULL ? json_loads(info->settings, 0, NULL) : NULL;
  /* null for a CSV, which has no events */
  json_t *events = strcmp(info->format, "csv") == 0 ? json_null() : json_array();
  for (long k = 0; k < pol_result_num_events(a->result); k++) {
    const pol_result_event *event = pol_result_get_event(a->result, k);
    cli_json_append(&events,
                    json_pack("{s:o, s:o, s:o, s:I}", "t", cli_json_number(event->t), "name",
                              cli_json_text(event->name), "action", cli_json_text(event->action),
                              "row", (json_int_t)event->row));
  }
  json_t *parameters = info->parameters != NULL ? json_loads(info->parameters, 0, NULL) : NULL;
  return json_pack("{s:o, s:s, s:I, s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:o, s:I, s:i, s:o, s:o, "
                   "s:o}",                                                      //
                   "file", cli_json_text(a->path),                              //
                   "format", info->format,                                      //
                   "bytes", (json_int_t)a->size,                                //
                   "version", text_or_null(info->version),                      //
                   "status", text_or_null(info->status),                        //
                   "failure", text_or_null(info->failure),                      //
                   "has_model", info->model != NULL,                            //
                   "model", text_or_null(info->name),                           //
                   "settings", settings != NULL ? settings : json_null(),       //
                   "parameters", parameters != NULL ? parameters : json_null(), //
                   "overrides", overrides,                                      //
                   "rows", (json_int_t)pol_result_rows(a->result),              //
                   "columns", pol_result_count(a->result),                      //
                   "time", span,                                                //
                   "events", events,                                            //
                   "channels", channels);
}

/* --- the command ------------------------------------------------------------------------------ */

static int run_info(const cli_args *args)
{
  if (pol_sweep_is_file(args->operand)) return cli_sweep_info(args);
  pol_result *result;
  int exit_status = cli_open_result(args->operand, args->json, &result);
  if (exit_status != CLI_DONE) return exit_status;
  struct stat file;
  const long rows = pol_result_rows(result);
  const int t = pol_result_find_channel(result, "t");
  about a = {.path = args->operand, .info = pol_result_about(result), .result = result};
  a.size = stat(a.path, &file) == 0 ? (double)file.st_size : -1.0;
  a.has_times = t >= 0 && rows > 0;
  if (a.has_times && (pol_result_series_part(result, t, 0, 1, &a.first) != POL_OK ||
                      pol_result_series_part(result, t, rows - 1, 1, &a.last) != POL_OK))
    exit_status = cli_refuse_result(a.path, args->json, POL_RESULT_DAMAGED);
  if (exit_status == CLI_DONE && args->json)
    exit_status = cli_json_print(about_json(&a)) == 0 ? CLI_DONE : CLI_FAILED;
  else if (exit_status == CLI_DONE && !args->quiet)
    print_about(&a);
  pol_result_close(&result);
  return exit_status;
}

static const cli_option info_options[] = {
    CLI_JSON_OPTION,
};

const cli_command cli_info = {
    .name = "info",
    .summary = "report what a result file contains",
    .operand = "RESULT",
    .text = "Reports what a result (.h5 or .csv) contains: the model and the settings of the\n"
            "run, how it ended, how many rows there are, its events and what was recorded.\n\n"
            "The examples use top.h5, written by polhode run MODEL.json --out top.h5.",
    .examples = "  polhode info top.h5\n"
                "  polhode info top.csv --json",
    .options = info_options,
    .num_options = sizeof info_options / sizeof info_options[0],
    .run = run_info,
};

static int fail(pol_status status)
{
  fprintf(stderr, "polhode view: %s\n", pol_status_text(status));
  return CLI_FAILED;
}

/* Reads the model of the result: that of --model, else the one inside the result.  Refuses a page
 * that would overwrite the result, the model or a mesh.  Gives the exit status. */
static int read_view_model(const cli_args *args, const char *page, const pol_result *result,
                           pol_model **model)
{
  const pol_result_info *info = pol_result_about(result);
  const char *source = args->model != NULL ? args->model : args->operand;
  pol_errors errors = {0};
  pol_status status;
  if (args->model != NULL)
    status = pol_model_read_file(model, args->model, 0, NULL, &errors);
  else if (info->model != NULL)
    status = pol_model_read_text(model, info->model, info->num_overrides,
                                 (const char *const *)info->overrides, &errors);
  else
    return cli_refuse_one("polhode view", args->json, "--model", "",
                          "must be given: this result does not hold its model");
  if (status == POL_BAD_ARGUMENT || status == POL_IO)
    return cli_refuse(source, args->json, &errors);
  pol_errors_clear(&errors);
  cli_list inputs = {0};
  if (status == POL_OK) status = cli_inputs_add(&inputs, args->operand);
  if (status == POL_OK && args->compare != NULL) status = cli_inputs_add(&inputs, args->compare);
  if (status == POL_OK) status = cli_inputs_add_model(&inputs, source, *model);
  const int code = status == POL_OK
                       ? cli_check_output("polhode view", args->json, "--out", page, &inputs)
                       : fail(status);
  cli_inputs_free(&inputs);
  return code;
}

/* The name of a file without folder and ending; the caller frees it. */
static char *stem_of(const char *path)
{
  const char *slash = strrchr(path, '/'), *file = slash != NULL ? slash + 1 : path;
  return cli_format("%.*s", (int)strcspn(file, "."), file);
}

/* Writes the page or the glTF file; gives the exit status. */
static int write_page(const cli_args *args, const char *page, int frames, const pol_model *model,
                      pol_result *result, pol_view_summary *summary)
{
  char message[512] = "";
  const char *source = args->model != NULL ? args->model : args->operand;
  const char *slash = strrchr(source, '/'), *compare = args->compare;
  pol_result *other = NULL;
  pol_status status =
      compare != NULL ? pol_result_open(&other, compare, message, sizeof message) : POL_OK;
  if (status == POL_NO_MEMORY) return fail(status);
  if (status != POL_OK) return cli_refuse_result(compare, args->json, message);
  /* the folder of the model, "" for the current one */
  char *folder = slash == source
                     ? cli_format("/")
                     : cli_format("%.*s", slash != NULL ? (int)(slash - source) : 0, source);
  char *title = stem_of(args->operand), *other_title = stem_of(compare != NULL ? compare : "");
  const pol_view_options how = {.max_frames = frames,
                                .folder = folder,
                                .title = title,
                                .compare = other,
                                .compare_title = other_title};
  status = folder != NULL && title != NULL && other_title != NULL
               ? pol_view_write(page, model, result, &how, summary, message, sizeof message)
               : POL_NO_MEMORY;
  const int reason = errno;
  free(folder);
  free(title);
  free(other_title);
  pol_result_close(&other);
  if (status == POL_OK) return CLI_DONE;
  static const char of_other[] = "the compared result: ";
  if (status == POL_BAD_ARGUMENT && compare != NULL &&
      strncmp(message, of_other, strlen(of_other)) == 0)
    return cli_refuse_result(compare, args->json, message + strlen(of_other));
  if (status == POL_BAD_ARGUMENT) return cli_refuse_result(args->operand, args->json, message);
  if (status == POL_IO) return cli_cannot_write("polhode view", args->json, "--out", page, reason);
  return fail(status);
}

/* Writes the page of a result and reports it. */
static int write_view(const cli_args *args, const char *page, int frames)
{
  char message[512] = "";
  pol_result *result = NULL;
  pol_model *model = NULL;
  pol_view_summary summary;
  pol_status status = pol_result_open(&result, args->operand, message, sizeof message);
  if (status == POL_NO_MEMORY) return fail(status);
  if (status != POL_OK) return cli_refuse_result(args->operand, args->json, message);
  int code = read_view_model(args, page, result, &model);
  if (code == CLI_DONE) code = write_page(args, page, frames, model, result, &summary);
  if (code == CLI_DONE && args->json) {
    json_t *object = json_pack("{s:s, s:o, s:i, s:i, s:I, s:i, s:i, s:I}",  //
                               "status", "done",                            //
                               "page", cli_json_text(page),                 //
                               "bodies", summary.bodies,                    //
                               "frames", summary.frames,                    //
                               "rows", (json_int_t)pol_result_rows(result), //
                               "channels", summary.channels,                //
                               "left_out", summary.left_out,                //
                               "bytes", (json_int_t)summary.bytes);
    code = cli_json_print(object) == 0 ? CLI_DONE : CLI_FAILED;
  } else if (code == CLI_DONE && !args->quiet) {
    const int gltf = cli_ends_in(page, ".glb");
    cli_print_row(gltf ? "glTF" : "page", "%s, %.1f MB: open it in %s", page,
                  (double)summary.bytes / 1e6, gltf ? "a 3D program" : "a browser");
    cli_print_row("frames", "%d of %ld rows", summary.frames, pol_result_rows(result));
    cli_print_row("bodies", "%d", summary.bodies);
    if (!gltf) cli_print_row("quantities", "%d", summary.channels);
  }
  if (code == CLI_DONE && !args->json && !cli_ends_in(page, ".glb") && summary.left_out > 0)
    fprintf(stderr, "note: %d quantities omitted by the size limit; fewer --frames allow more\n",
            summary.left_out);
  pol_model_free(&model);
  pol_result_close(&result);
  return code;
}

static int view(const cli_args *args)
{
  long frames = 0;
  const int to_output = args->out != NULL && strcmp(args->out, "-") == 0;
  if (to_output && args->json)
    return cli_refuse_one("polhode view", args->json, "--out", "-",
                          "cannot go to standard output beside --json");
  if (args->out != NULL && !to_output && !cli_ends_in(args->out, ".html") &&
      !cli_ends_in(args->out, ".glb"))
    return cli_refuse_one("polhode view", args->json, "--out", args->out,
                          "must be a file name that ends in .html or .glb, or -: the page on "
                          "standard output");
  if (args->compare != NULL && args->out != NULL && cli_ends_in(args->out, ".glb"))
    return cli_refuse_one("polhode view", args->json, "--compare", args->compare,
                          "is for pages, not for glTF");
  if (args->frames != NULL &&
      (!cli_read_count(args->frames, &frames) || frames < 2 || frames > 1000000))
    return cli_refuse_one("polhode view", args->json, "--frames", args->frames,
                          "must be a whole number from 2 to 1000000");
  /* the page beside the result, with another ending */
  const char *result = args->operand, *slash = strrchr(result, '/');
  const char *dot = strrchr(slash != NULL ? slash + 1 : result, '.');
  char *page = to_output ? cli_spool_create("page.html")
               : args->out != NULL
                   ? cli_format("%s", args->out)
                   : cli_format("%.*s.html",
                                (int)(dot != NULL ? dot - result : (long)strlen(result)), result);
  if (page == NULL && to_output)
    return cli_cannot_write("polhode view", args->json, "--out", "-", errno);
  if (page == NULL) return fail(POL_NO_MEMORY);
  cli_args own = *args;
  if (to_output) own.quiet = 1;
  int code = write_view(&own, page, (int)frames);
  if (!to_output)
    free(page);
  else if (cli_spool_end(page, code == CLI_DONE) != 0)
    code = cli_cannot_write("polhode view", args->json, "--out", "-", errno);
  return code;
}

static const cli_option view_options[] = {
    {"--out", "PAGE.html",
     "name of the page (default: RESULT with the extension .html), or FILE.glb: glTF; - for the "
     "page on standard output",
     CLI_TEXT, offsetof(cli_args, out), NULL},
    {"--model", "MODEL.json", "the model, if the result does not contain it (CSV)", CLI_TEXT,
     offsetof(cli_args, model), NULL},
    {"--frames", "N", "maximum number of frames (default: 2000, fewer for very many bodies)",
     CLI_TEXT, offsetof(cli_args, frames), NULL},
    {"--compare", "RESULT", "another run of the same model, shown as pale bodies", CLI_TEXT,
     offsetof(cli_args, compare), NULL},
    CLI_JSON_OPTION,
    {"--quiet", NULL, "no table; notes and errors are still printed", CLI_FLAG,
     offsetof(cli_args, quiet), NULL},
};

const cli_command cli_view = {
    .name = "view",
    .summary = "write an HTML page that animates a result",
    .operand = "RESULT",
    .text = "Writes one HTML page with the motion in 3D and plots beside it. It opens\n"
            "in any browser and needs no network and no other file. A name that ends in\n"
            ".glb gets bodies and motion as binary glTF, which 3D programs read.\n\n"
            "The examples use top.csv and top.h5, written by polhode run MODEL.json --out.\n\n"
            "Exit status: 0 done, 1 out of memory or disk space, 2 invalid input.",
    .examples = "  polhode view top.h5\n"
                "  polhode view top.csv --model models/bruels-cardona-2010/heavy_top.json\n"
                "  polhode view top.h5 --frames 500 --out top_500.html\n"
                "  polhode view top.h5 --compare top.csv --out both.html\n"
                "  polhode view top.h5 --out top.glb",
    .options = view_options,
    .num_options = sizeof view_options / sizeof view_options[0],
    .run = view,
};
