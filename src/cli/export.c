/* polhode export: a result in the format of other programs. */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/json_out.h"
#include "cli/text_out.h"

static int refuse(const cli_args *args, const char *option, const char *value, const char *rule)
{
  return cli_refuse_one("polhode export", args->json, option, value, rule);
}

/* A whole number above 0. */
static int to_count(const char *text, long *count)
{
  char *rest;
  errno = 0;
  *count = strtol(text, &rest, 10);
  return errno == 0 && rest != text && *rest == '\0' && *count > 0;
}

/* How many rows lie between frames, and how many frames there are at most; 0 for any number. */
static int read_choice(const cli_args *args, long *every, long *most)
{
  *every = 1;
  *most = 0;
  if (args->every != NULL && args->frames != NULL)
    return refuse(args, "--frames", args->frames, "cannot be given together with --every");
  if (args->every != NULL && !to_count(args->every, every))
    return refuse(args, "--every", args->every, "must be a whole number above 0");
  if (args->frames != NULL && !to_count(args->frames, most))
    return refuse(args, "--frames", args->frames, "must be a whole number above 0");
  return CLI_DONE;
}

static int report(const cli_args *args, long frames)
{
  if (args->json)
    return cli_json_print(json_pack("{s:s, s:o, s:I}", "status", "done", "folder",
                                    cli_json_text(args->vtk), "frames", (json_int_t)frames)) == 0
               ? CLI_DONE
               : CLI_FAILED;
  if (args->quiet) return CLI_DONE;
  cli_print_row("frames", "%ld", frames);
  cli_print_row("open", "%s/motion.pvd", args->vtk);
  return CLI_DONE;
}

/* The names of the files that are written, and removed if they are of an earlier export. */
static int is_frame(const char *name)
{
  const size_t length = strlen(name);
  return strcmp(name, "motion.pvd") == 0 ||
         (strncmp(name, "frame_", 6) == 0 && length > 4 && strcmp(name + length - 4, ".vtu") == 0);
}

static int export_result(const cli_args *args, pol_result *result)
{
  char message[600];
  long every, most, frames;
  int exit_status = read_choice(args, &every, &most);
  if (exit_status != CLI_DONE) return exit_status;
  if (pol_result_rows(result) == 0)
    return cli_refuse_result(args->operand, args->json, "has no rows: there is nothing to export");
  struct stat info;
  cli_list inputs = {0};
  if (cli_inputs_add(&inputs, args->operand) != POL_OK) {
    fprintf(stderr, "polhode export: %s\n", pol_status_text(POL_NO_MEMORY));
    return CLI_FAILED;
  }
  const int has_input = cli_find_input_in(&inputs, args->vtk, is_frame) != NULL;
  cli_inputs_free(&inputs);
  if (has_input)
    return refuse(args, "--vtk", args->vtk,
                  "would overwrite the result that is exported, which has the name of a frame");
  const int is_new = mkdir(args->vtk, 0777) == 0;
  if (!is_new && errno != EEXIST)
    return cli_cannot_write("polhode export", args->json, "--vtk", args->vtk, errno);
  if (stat(args->vtk, &info) == 0 && !S_ISDIR(info.st_mode))
    return refuse(args, "--vtk", args->vtk, "must be a folder, or a name that is free");
  pol_status status =
      pol_vtk_export(result, args->vtk, every, most, &frames, message, sizeof message);
  if (status == POL_OK) return report(args, frames);
  if (is_new) rmdir(args->vtk); /* unless there are files in it */
  if (status == POL_BAD_ARGUMENT) return cli_refuse_result(args->operand, args->json, message);
  fprintf(stderr, "polhode export: %s\n", message);
  return CLI_FAILED;
}

static int run(const cli_args *args)
{
  pol_result *result;
  if (args->vtk == NULL)
    return refuse(args, "--vtk", "", "must be given: the folder for the files");
  if (args->vtk[0] == '\0') return refuse(args, "--vtk", "", "the folder's name is empty");
  if (strcmp(args->vtk, "-") == 0)
    return refuse(args, "--vtk", "-", "must be a folder: frames cannot go to standard output");
  int exit_status = cli_open_result(args->operand, args->json, &result);
  if (exit_status != CLI_DONE) return exit_status;
  exit_status = export_result(args, result);
  pol_result_close(&result);
  return exit_status;
}

static const cli_option options[] = {
    {"--vtk", "DIR", "write a file for each frame, and motion.pvd, into this folder", CLI_TEXT,
     offsetof(cli_args, vtk), NULL},
    {"--every", "N", "only each N-th row", CLI_TEXT, offsetof(cli_args, every), NULL},
    {"--frames", "N", "N frames at most, evenly from the first row to the last", CLI_TEXT,
     offsetof(cli_args, frames), NULL},
    {"--json", NULL, "print one JSON object instead of a table", CLI_FLAG, offsetof(cli_args, json),
     NULL},
};

const cli_command cli_export = {
    .name = "export",
    .summary = "write a result for ParaView",
    .operand = "RESULT",
    .text = "Writes the motion as VTK files: motion.pvd opens in ParaView, with a point for\n"
            "each body, named marker and joint (the latter of .h5 results) in every frame.\n\n"
            "top.h5 in the examples is what polhode run MODEL.json --out top.h5 writes.",
    .examples = "  polhode export top.h5 --vtk top_vtk --every 10\n"
                "  polhode export top.h5 --vtk top_vtk --frames 50",
    .options = options,
    .num_options = sizeof options / sizeof options[0],
    .run = run,
};
