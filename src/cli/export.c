/* polhode export: chosen quantities of a result as CSV or MAT, or its motion for ParaView. */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <polhode/mat.h>
#include <polhode/output.h>

#include "cli/cli.h"
#include "cli/json_out.h"
#include "cli/terminal.h"

static int refuse_export(const cli_args *args, const char *option, const char *value,
                         const char *rule)
{
  return cli_refuse_one("polhode export", args->json, option, value, rule);
}

/* --- motion ----------------------------------------------------------------------------------- */

/* The names of the files that are written, and removed if they are of an earlier export. */
static int is_frame(const char *name)
{
  const size_t length = strlen(name);
  return strcmp(name, "motion.pvd") == 0 ||
         (strncmp(name, "frame_", 6) == 0 && length > 4 && strcmp(name + length - 4, ".vtu") == 0);
}

/* every: rows between frames; most: frames at most, 0: any number. */
static int export_frames(const cli_args *args, pol_result *result, long every, long most)
{
  char message[600];
  long frames;
  struct stat info;
  cli_list inputs = {0};
  if (cli_inputs_add(&inputs, args->operand) != POL_OK) {
    fprintf(stderr, "polhode export: %s\n", pol_status_text(POL_NO_MEMORY));
    return CLI_FAILED;
  }
  const int has_input = cli_find_input_in(&inputs, args->vtk, is_frame) != NULL;
  cli_inputs_free(&inputs);
  if (has_input)
    return refuse_export(
        args, "--vtk", args->vtk,
        "would overwrite the result that is exported, which has the name of a frame");
  const int is_new = mkdir(args->vtk, 0777) == 0;
  if (!is_new && errno != EEXIST)
    return cli_cannot_write("polhode export", args->json, "--vtk", args->vtk, errno);
  if (stat(args->vtk, &info) == 0 && !S_ISDIR(info.st_mode))
    return refuse_export(args, "--vtk", args->vtk, "must be a folder, or a name that is free");
  pol_status status =
      pol_vtk_export(result, args->vtk, every, most, &frames, message, sizeof message);
  if (status == POL_OK) {
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
  if (is_new) rmdir(args->vtk); /* unless there are files in it */
  if (status == POL_BAD_ARGUMENT) return cli_refuse_result(args->operand, args->json, message);
  fprintf(stderr, "polhode export: %s\n", message);
  return CLI_FAILED;
}

/* --- signals ---------------------------------------------------------------------------------- */

/* Chosen channels of a result, the time first. */
typedef struct signals {
  pol_result *result;
  int count, *channels;
  long rows, every; /* of the result; rows between those that are written */
} signals;

/* All channels if no quantity is named; the time is always among them. */
static int choose_signals(const cli_args *args, signals *s)
{
  const int count = pol_result_count(s->result), time = pol_result_find_channel(s->result, "t");
  pol_errors errors = {0};
  pol_status status = POL_OK;
  s->channels = malloc(((size_t)count + 1) * sizeof *s->channels);
  if (s->channels == NULL) status = POL_NO_MEMORY;
  for (int w = 1; status == POL_OK && w < args->operands.count; w++) {
    const char *word = args->operands.items[w];
    if (!cli_quantity_exists(s->result, word))
      status = cli_quantity_refuse(&errors, word, "", word, &s->result, 1);
  }
  if (status == POL_OK && time >= 0) s->channels[s->count++] = time;
  for (int i = 0; status == POL_OK && i < count; i++) {
    int chosen = args->operands.count == 1;
    for (int w = 1; w < args->operands.count && !chosen; w++)
      chosen =
          cli_quantity_matches(args->operands.items[w], pol_result_channel(s->result, i)->name);
    if (chosen && i != time) s->channels[s->count++] = i;
  }
  if (status != POL_OK) {
    pol_errors_clear(&errors);
    cli_complain("polhode export", "%s", pol_status_text(status));
    return CLI_FAILED;
  }
  return errors.count > 0 ? cli_refuse("polhode export", args->json, &errors) : CLI_DONE;
}

/* The values of all signals, one after the other. */
static pol_status read_signals(const signals *s, long *written, double **values)
{
  *written = (s->rows + s->every - 1) / s->every;
  double *all = malloc((size_t)s->rows * sizeof *all);
  *values = malloc(((size_t)s->count * (size_t)*written + 1) * sizeof **values);
  pol_status status = all != NULL && *values != NULL ? POL_OK : POL_NO_MEMORY;
  for (int k = 0; status == POL_OK && k < s->count; k++) {
    status = pol_result_series(s->result, s->channels[k], all);
    for (long i = 0; status == POL_OK && i < *written; i++)
      (*values)[(size_t)k * (size_t)*written + (size_t)i] = all[i * s->every];
  }
  free(all);
  return status;
}

/* As results in CSV are, so that it can be read like one. */
static pol_status write_csv(const signals *s, const char *path, long rows, const double *values)
{
  const int to_output = strcmp(path, "-") == 0;
  FILE *file = to_output ? stdout : fopen(path, "w");
  if (file == NULL) return POL_IO;
  fprintf(file, "# polhode %s\n# units: ", pol_version());
  for (int k = 0; k < s->count; k++)
    fprintf(file, "%s%s", k > 0 ? "," : "", pol_result_channel(s->result, s->channels[k])->unit);
  for (int k = 0; k < s->count; k++)
    fprintf(file, "%s%s", k > 0 ? "," : "\n", pol_result_channel(s->result, s->channels[k])->name);
  for (long i = 0; i < rows; i++)
    for (int k = 0; k < s->count; k++)
      fprintf(file, "%s%.17g", k > 0 ? "," : "\n", values[(size_t)k * (size_t)rows + (size_t)i]);
  fputc('\n', file);
  return to_output ? POL_OK : pol_output_close(file, path, POL_OK);
}

/* t, the columns of data, and their names and units. */
static pol_status write_mat(const signals *s, const char *path, long rows, const double *values)
{
  const size_t count = (size_t)s->count;
  const char **texts = malloc((2 * count + 1) * sizeof *texts);
  pol_mat *mat = NULL;
  if (texts == NULL) return POL_NO_MEMORY;
  for (size_t k = 0; k < count; k++) {
    const pol_channel *channel = pol_result_channel(s->result, s->channels[k]);
    texts[k] = channel->name;
    texts[count + k] = channel->unit;
  }
  pol_status status = pol_mat_create(&mat, path);
  if (status == POL_OK) status = pol_mat_add_matrix(mat, "data", rows, s->count, values);
  if (status == POL_OK) status = pol_mat_add_texts(mat, "names", s->count, texts);
  if (status == POL_OK) status = pol_mat_add_texts(mat, "units", s->count, texts + count);
  const pol_status closed = mat != NULL ? pol_mat_close(&mat) : POL_OK;
  free(texts);
  return status != POL_OK ? status : closed;
}

static int export_signals(const cli_args *args, pol_result *result, long every)
{
  signals s = {.result = result, .rows = pol_result_rows(result), .every = every};
  const int is_mat = cli_ends_in(args->out, ".mat");
  cli_list inputs = {0};
  double *values = NULL;
  long rows = 0;
  int exit_status = choose_signals(args, &s);
  if (exit_status == CLI_DONE && cli_inputs_add(&inputs, args->operand) != POL_OK)
    exit_status = CLI_FAILED;
  if (exit_status == CLI_DONE)
    exit_status = cli_check_output("polhode export", args->json, "--out", args->out, &inputs);
  if (exit_status == CLI_DONE) {
    errno = 0;
    pol_status status = read_signals(&s, &rows, &values);
    const int was_read = status == POL_OK;
    if (was_read) status = (is_mat ? write_mat : write_csv)(&s, args->out, rows, values);
    if (status == POL_IO && !was_read)
      exit_status = cli_refuse_result(args->operand, args->json, POL_RESULT_DAMAGED);
    else if (status == POL_IO)
      exit_status = cli_cannot_write("polhode export", args->json, "--out", args->out, errno);
    else if (status == POL_BAD_ARGUMENT)
      exit_status = refuse_export(args, "--out", args->out, "a MAT file holds less than 2 GB");
    else if (status != POL_OK)
      exit_status = CLI_FAILED;
    if (exit_status == CLI_FAILED && status == POL_NO_MEMORY)
      cli_complain("polhode export", "%s", pol_status_text(status));
  }
  if (exit_status == CLI_DONE && args->json)
    exit_status = cli_json_print(json_pack("{s:s, s:o, s:I, s:i}", "status", "done", "file",
                                           cli_json_text(args->out), "rows", (json_int_t)rows,
                                           "columns", s.count)) == 0
                      ? CLI_DONE
                      : CLI_FAILED;
  else if (exit_status == CLI_DONE && !args->quiet && strcmp(args->out, "-") != 0)
    cli_print_row("result", "%s, %ld rows of %d columns", args->out, rows, s.count);
  cli_inputs_free(&inputs);
  free(s.channels);
  free(values);
  return exit_status;
}

/* --- the command ------------------------------------------------------------------------------ */

/* What is wrong with the options. */
static int check_options(const cli_args *args, long *every, long *most)
{
  if ((args->vtk == NULL) == (args->out == NULL))
    return refuse_export(args, args->vtk == NULL ? "--out" : "--vtk", "",
                         args->vtk == NULL ? "must be given, or --vtk"
                                           : "cannot be given together with --out");
  if (args->vtk != NULL && args->vtk[0] == '\0')
    return refuse_export(args, "--vtk", "", "the folder's name is empty");
  if (args->vtk != NULL && strcmp(args->vtk, "-") == 0)
    return refuse_export(args, "--vtk", "-",
                         "must be a folder: frames cannot go to standard output");
  if (args->vtk != NULL && args->operands.count > 1)
    return refuse_export(args, args->operands.items[1], "",
                         "is one argument too many: VTK files hold the whole motion");
  if (args->out != NULL && strcmp(args->out, "-") != 0 && !cli_ends_in(args->out, ".csv") &&
      !cli_ends_in(args->out, ".mat"))
    return refuse_export(args, "--out", args->out, "must end in .csv or .mat, or be -");
  if (args->out != NULL && args->frames != NULL)
    return refuse_export(args, "--frames", args->frames, "is for --vtk; use --every");
  if (args->out != NULL && args->json && strcmp(args->out, "-") == 0)
    return refuse_export(args, "--out", "-", "cannot go to standard output beside --json");
  if (args->every != NULL && args->frames != NULL)
    return refuse_export(args, "--frames", args->frames, "cannot be given together with --every");
  if (args->every != NULL && !cli_read_count(args->every, every))
    return refuse_export(args, "--every", args->every, "must be a whole number above 0");
  if (args->frames != NULL && !cli_read_count(args->frames, most))
    return refuse_export(args, "--frames", args->frames, "must be a whole number above 0");
  return CLI_DONE;
}

static int run_export(const cli_args *args)
{
  long every = 1, most = 0;
  pol_result *result;
  int exit_status = check_options(args, &every, &most);
  if (exit_status == CLI_DONE) exit_status = cli_open_result(args->operand, args->json, &result);
  if (exit_status != CLI_DONE) return exit_status;
  if (pol_result_rows(result) == 0)
    exit_status =
        cli_refuse_result(args->operand, args->json, "has no rows: there is nothing to export");
  else if (args->vtk != NULL)
    exit_status = export_frames(args, result, every, most);
  else
    exit_status = export_signals(args, result, every);
  pol_result_close(&result);
  return exit_status;
}

static const cli_option export_options[] = {
    {"--out", "FILE.csv|FILE.mat", "write the quantities to this file; -: CSV to standard output",
     CLI_TEXT, offsetof(cli_args, out), NULL},
    {"--vtk", "DIR", "write a file for each frame, and motion.pvd, into this folder", CLI_TEXT,
     offsetof(cli_args, vtk), NULL},
    {"--every", "N", "only every N-th row", CLI_TEXT, offsetof(cli_args, every), NULL},
    {"--frames", "N", "at most N frames, evenly spaced from the first row to the last", CLI_TEXT,
     offsetof(cli_args, frames), NULL},
    CLI_JSON_OPTION,
};

const cli_command cli_export = {
    .name = "export",
    .summary = "write a result for MATLAB, spreadsheets or ParaView",
    .operand = "RESULT [QUANTITY...]",
    .text = "With --out, writes the named quantities, or all, and the time: as CSV, or as a\n"
            "MAT file with the matrix data, a column for each of names and units. A quantity\n"
            "is the name of a column, its start up to a dot, or a pattern, as in polhode\n"
            "plot.\n\n"
            "With --vtk, writes the motion as VTK files: motion.pvd opens in ParaView, with\n"
            "a point for each body, named marker and joint (joints only from .h5 files) in\n"
            "every frame.\n\n"
            "The examples use top.h5, written by polhode run MODEL.json --out top.h5.",
    .examples = "  polhode export top.h5 top.position tip.force --out top.mat\n"
                "  polhode export top.h5 \"*.position.z\" --every 10 --out height.csv\n"
                "  polhode export top.h5 --vtk top_vtk --every 10\n"
                "  polhode export top.h5 --vtk top_vtk --frames 50",
    .options = export_options,
    .num_options = sizeof export_options / sizeof export_options[0],
    .run = run_export,
};
