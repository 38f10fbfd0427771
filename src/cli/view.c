/* polhode view: writes a page that shows a result move. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/view.h>

#include "cli/cli.h"
#include "cli/json_out.h"
#include "cli/text_out.h"

static int fail(pol_status status)
{
  fprintf(stderr, "polhode view: %s\n", pol_status_text(status));
  return CLI_FAILED;
}

/* A file name with another ending; NULL without memory. */
static char *page_name(const char *result)
{
  const char *name = strrchr(result, '/');
  const char *dot = strrchr(name != NULL ? name + 1 : result, '.');
  const size_t length = dot != NULL ? (size_t)(dot - result) : strlen(result);
  return cli_format("%.*s.html", (int)length, result);
}

/* The folder of a file: "" for the one where we are; NULL without memory. */
static char *folder_of(const char *path)
{
  const char *slash = strrchr(path, '/');
  if (slash == path) return cli_format("/");
  return cli_format("%.*s", slash != NULL ? (int)(slash - path) : 0, path);
}

/* Reads --frames into *frames.  Gives the exit status. */
static int read_frames(const cli_args *args, int *frames)
{
  char *rest;
  *frames = 0;
  if (args->frames == NULL) return CLI_DONE;
  const long number = strtol(args->frames, &rest, 10);
  if (rest == args->frames || *rest != '\0' || number < 2 || number > 1000000)
    return cli_refuse_one("polhode view", args->json, "--frames", args->frames,
                          "must be a whole number from 2 to 1000000");
  *frames = (int)number;
  return CLI_DONE;
}

/* The model of the result: that of --model, else the one inside the result.  Gives the exit status.
 */
static int find_model(const cli_args *args, const pol_result *result, pol_model **model)
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
  if (status == POL_OK) return CLI_DONE;
  if (status == POL_BAD_ARGUMENT || status == POL_IO)
    return cli_refuse(source, args->json, &errors);
  pol_errors_clear(&errors);
  return fail(status);
}

static int report(const cli_args *args, const char *page, const pol_result *result,
                  const pol_view_summary *summary)
{
  if (args->json)
    return cli_json_print(json_pack("{s:s, s:o, s:i, s:i, s:I, s:i, s:i, s:I}",  //
                                    "status", "done",                            //
                                    "page", cli_json_text(page),                 //
                                    "bodies", summary->bodies,                   //
                                    "frames", summary->frames,                   //
                                    "rows", (json_int_t)pol_result_rows(result), //
                                    "channels", summary->channels,               //
                                    "left_out", summary->left_out,               //
                                    "bytes", (json_int_t)summary->bytes)) == 0
               ? CLI_DONE
               : CLI_FAILED;
  if (args->quiet) return CLI_DONE;
  cli_print_row("page", "%s, %.1f MB: open it in a browser", page, (double)summary->bytes / 1e6);
  cli_print_row("frames", "%d of %ld rows", summary->frames, pol_result_rows(result));
  cli_print_row("bodies", "%d", summary->bodies);
  cli_print_row("quantities", "%d", summary->channels);
  if (summary->left_out > 0)
    fprintf(stderr, "note: %d quantities found no room; fewer --frames make room for more\n",
            summary->left_out);
  return CLI_DONE;
}

/* Refuses a page that would overwrite the result, the model or a mesh.  Gives the exit status. */
static int check_page(const cli_args *args, const char *page, const pol_model *model)
{
  cli_list inputs = {0};
  pol_status status = cli_inputs_add(&inputs, args->operand);
  if (status == POL_OK)
    status =
        cli_inputs_add_model(&inputs, args->model != NULL ? args->model : args->operand, model);
  const int code = status == POL_OK
                       ? cli_check_output("polhode view", args->json, "--out", page, &inputs)
                       : fail(status);
  cli_inputs_free(&inputs);
  return code;
}

/* Writes the page of a result and a model that have been read. */
static int write_page(const cli_args *args, const char *page, int frames, pol_result *result,
                      const pol_model *model)
{
  char message[512];
  char *folder = folder_of(args->model != NULL ? args->model : args->operand);
  if (folder == NULL) return fail(POL_NO_MEMORY);
  const pol_view_options options = {.max_frames = frames, .folder = folder};
  pol_view_summary summary;
  pol_status status =
      pol_view_write(page, model, result, &options, &summary, message, sizeof message);
  const int reason = errno;
  free(folder);
  if (status == POL_OK) return report(args, page, result, &summary);
  if (status == POL_BAD_ARGUMENT) return cli_refuse_result(args->operand, args->json, message);
  if (status == POL_IO) return cli_cannot_write("polhode view", args->json, "--out", page, reason);
  return fail(status);
}

static int view_result(const cli_args *args, const char *page, int frames)
{
  char message[512] = "";
  pol_result *result = NULL;
  pol_model *model = NULL;
  pol_status status = pol_result_open(&result, args->operand, message, sizeof message);
  if (status == POL_NO_MEMORY) return fail(status);
  if (status != POL_OK) return cli_refuse_result(args->operand, args->json, message);
  int code = find_model(args, result, &model);
  if (code == CLI_DONE) code = check_page(args, page, model);
  if (code == CLI_DONE) code = write_page(args, page, frames, result, model);
  pol_model_free(&model);
  pol_result_close(&result);
  return code;
}

static int ends_in_html(const char *path)
{
  const size_t length = strlen(path);
  return length > 5 && strcmp(path + length - 5, ".html") == 0;
}

static int view(const cli_args *args)
{
  int frames;
  if (args->out != NULL && !ends_in_html(args->out))
    return cli_refuse_one("polhode view", args->json, "--out", args->out,
                          "must be a file name that ends in .html");
  int code = read_frames(args, &frames);
  if (code != CLI_DONE) return code;
  char *page = args->out != NULL ? cli_format("%s", args->out) : page_name(args->operand);
  if (page == NULL) return fail(POL_NO_MEMORY);
  code = view_result(args, page, frames);
  free(page);
  return code;
}

static const cli_option options[] = {
    {"--out", "PAGE.html", "write this page; else RESULT with the ending .html", CLI_TEXT,
     offsetof(cli_args, out), NULL},
    {"--model", "MODEL.json", "the model, if the result does not hold it (CSV)", CLI_TEXT,
     offsetof(cli_args, model), NULL},
    {"--frames", "N", "frames at most; else 2000, fewer for very many bodies", CLI_TEXT,
     offsetof(cli_args, frames), NULL},
    {"--json", NULL, "print one JSON object instead of a table", CLI_FLAG, offsetof(cli_args, json),
     NULL},
    {"--quiet", NULL, "no table; notes and errors stay", CLI_FLAG, offsetof(cli_args, quiet), NULL},
};

const cli_command cli_view = {
    .name = "view",
    .summary = "make a page that shows a result move",
    .operand = "RESULT",
    .text = "Writes one HTML page with the motion in 3D and plots beside it. It needs a\n"
            "browser and nothing else: no network, no other file.\n\n"
            "top.h5 in the examples is what polhode run MODEL.json --out top.h5 writes.\n\n"
            "Exit status: 0 done, 1 out of memory or disk space, 2 the input is wrong.",
    .examples = "  polhode view top.h5\n"
                "  polhode view top.csv --model models/bruels-cardona-2010/heavy_top.json\n"
                "  polhode view top.h5 --frames 500 --out top_500.html",
    .options = options,
    .num_options = sizeof options / sizeof options[0],
    .run = view,
};
