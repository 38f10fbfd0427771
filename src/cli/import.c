/* polhode import: a robot in XML as a model file. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/output.h>
#include <polhode/robot.h>

#include "cli/cli.h"
#include "cli/json_out.h"
#include "cli/terminal.h"

/* Length of the folder of a path, with its slash. */
static size_t folder_length(const char *path)
{
  const char *slash = strrchr(path, '/');
  return slash != NULL ? (size_t)(slash - path) + 1 : 0;
}

static int write_model(const cli_args *args, const char *text)
{
  if (strcmp(args->out, "-") == 0) return puts(text) < 0 ? CLI_FAILED : CLI_DONE;
  FILE *file = fopen(args->out, "w");
  pol_status status = file != NULL ? POL_OK : POL_IO;
  if (file != NULL && fprintf(file, "%s\n", text) < 0) status = POL_IO;
  if (file != NULL) status = pol_output_close(file, args->out, status);
  return status == POL_OK
             ? CLI_DONE
             : cli_cannot_write("polhode import", args->json, "--out", args->out, errno);
}

static json_t *lines_json(const char *lines)
{
  json_t *list = json_array();
  for (const char *end; *lines != '\0'; lines = end + 1) {
    end = strchr(lines, '\n');
    cli_json_append(&list, json_stringn(lines, (size_t)(end - lines)));
  }
  return list;
}

static int run_import(const cli_args *args)
{
  if (args->out == NULL)
    return cli_refuse_one("polhode import", args->json, "--out", "",
                          "must be given: FILE.json, or -");
  if (args->json && strcmp(args->out, "-") == 0)
    return cli_refuse_one("polhode import", args->json, "--out", "-",
                          "cannot go to standard output beside --json");
  if (pol_output_overwrites(args->out, args->operand))
    return cli_refuse_one("polhode import", args->json, "--out", args->out,
                          "would overwrite the description of the robot");
  const size_t length = folder_length(args->operand);
  const int same =
      length == folder_length(args->out) && strncmp(args->operand, args->out, length) == 0;
  const pol_robot_options options = {
      .floating = args->floating, .keyframe = args->keyframe, .absolute = !same};
  char *model, *notes;
  pol_errors errors = {0};
  const pol_status status = pol_robot_read_file(args->operand, &options, &model, &notes, &errors);
  if (status == POL_BAD_ARGUMENT || status == POL_IO)
    return cli_refuse(args->operand, args->json, &errors);
  pol_errors_clear(&errors);
  if (status != POL_OK) {
    cli_complain("polhode import", "%s", pol_status_text(status));
    return CLI_FAILED;
  }
  int result = write_model(args, model);
  if (result == CLI_DONE && args->json)
    result = cli_json_print(json_pack("{s:s, s:o, s:o}", "status", "done", "file",
                                      cli_json_text(args->out), "notes", lines_json(notes)));
  else if (result == CLI_DONE && !args->quiet)
    cli_print_notes(notes);
  if (result == CLI_DONE && !args->json && !args->quiet && strcmp(args->out, "-") != 0)
    cli_print_row("model", "%s", args->out);
  free(model);
  free(notes);
  return result;
}

static const cli_option import_options[] = {
    {"--out", "FILE.json", "write the model to this file; -: to standard output", CLI_TEXT,
     offsetof(cli_args, out), NULL},
    {"--floating", NULL, "URDF: the first link is a free body, not the ground", CLI_FLAG,
     offsetof(cli_args, floating), NULL},
    {"--keyframe", "NAME", "MJCF: start at this keyframe, not at the zero position", CLI_TEXT,
     offsetof(cli_args, keyframe), NULL},
    CLI_JSON_OPTION,
};

const cli_command cli_import = {
    .name = "import",
    .summary = "write the model file of a robot (URDF, MJCF)",
    .operand = "ROBOT.xml",
    .text = "Links that are fixed to each other become one body, joints with limits, damping\n"
            "and friction those of the model, mimic joints and equalities couplings, and\n"
            "visual geometry shapes. What the model does not contain is listed on standard\n"
            "error.\n\n"
            "All commands that take a model also take the description itself.",
    .examples = "  polhode import models/robots/arm.urdf --out arm.json\n"
                "  polhode run models/robots/arm.urdf --end 0.5\n"
                "  polhode import models/robots/arm.urdf --floating --out -",
    .options = import_options,
    .num_options = sizeof import_options / sizeof import_options[0],
    .run = run_import,
};
