/* polhode fmu: a model as an FMU for co-simulation. */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/json_out.h"
#include "cli/terminal.h"

/* The folder of the shared object: where it is installed, seen from the command, or the build tree.
 * The caller frees it. */
static char *find_binaries(void)
{
  char self[4096];
  const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  self[length > 0 ? length : 0] = '\0';
  char *slash = strrchr(self, '/');
  if (slash != NULL) *slash = '\0';
  char *folder = cli_format("%s/%s", self, POLHODE_FMU_FROM_COMMAND);
  char *object = folder != NULL ? cli_format("%s/polhode_fmu.so", folder) : NULL;
  const int found = object != NULL && access(object, R_OK) == 0;
  free(object);
  if (found) return folder;
  free(folder);
  return cli_format("%s/fmu", self);
}

/* "model.fmu" for "folder/model.json"; the caller frees it. */
static char *default_path(const char *model)
{
  const char *slash = strrchr(model, '/'), *name = slash != NULL ? slash + 1 : model;
  const char *dot = strrchr(name, '.');
  return cli_format("%.*s.fmu",
                    (int)(dot != NULL && dot > name ? (size_t)(dot - name) : strlen(name)), name);
}

/* The errors of pol_fmu_write, those of options by the names of these. */
static int refuse(const cli_args *args, pol_errors *errors)
{
  for (int i = 0; i < errors->count; i++) {
    const pol_error *e = &errors->items[i];
    if (strcmp(e->path, "inputs") == 0 || strcmp(e->path, "outputs") == 0) {
      pol_errors named = {0};
      char *option = cli_format("--%s", e->path);
      if (option == NULL ||
          pol_errors_add(&named, option, e->value, e->rule, e->suggestion) != POL_OK) {
        free(option);
        pol_errors_clear(errors);
        cli_complain("polhode fmu", "%s", pol_status_text(POL_NO_MEMORY));
        return CLI_FAILED;
      }
      free(option);
      /* the strings change places */
      const pol_error other = errors->items[i];
      errors->items[i] = named.items[0];
      named.items[0] = other;
      pol_errors_clear(&named);
    }
  }
  return cli_refuse(args->operand, args->json, errors);
}

static int report(const cli_args *args, const char *path, const pol_fmu_counts *counts)
{
  if (args->json)
    return cli_json_print(json_pack("{s:s, s:o, s:i, s:i, s:i}", "status", "done", "file",
                                    cli_json_text(path), "inputs", counts->inputs, "parameters",
                                    counts->parameters, "outputs", counts->outputs)) == 0
               ? CLI_DONE
               : CLI_FAILED;
  if (args->quiet) return CLI_DONE;
  cli_print_row("fmu", "%s", path);
  cli_print_row("inputs", "%d", counts->inputs);
  cli_print_row("parameters", "%d", counts->parameters);
  cli_print_row("outputs", "%d", counts->outputs);
  return CLI_DONE;
}

static int write_fmu(const cli_args *args, const pol_model *model, const char *path,
                     const char *binaries)
{
  const pol_fmu_options options = {.version = args->fmi != NULL && args->fmi[0] == '3' ? 3 : 2,
                                   .binaries = binaries,
                                   .num_overrides = args->num_overrides,
                                   .overrides = (const char *const *)args->overrides,
                                   .inputs = args->inputs,
                                   .outputs = args->outputs};
  pol_errors errors = {0};
  pol_fmu_counts counts;
  int result = cli_check_model_output("polhode fmu", args, "--out", path, model);
  if (result != CLI_DONE) return result;
  const pol_status status = pol_fmu_write(model, &options, path, &counts, &errors);
  if (status == POL_OK) return report(args, path, &counts);
  if (errors.count > 0) return refuse(args, &errors);
  if (status == POL_IO) return cli_cannot_write("polhode fmu", args->json, "--out", path, errno);
  cli_complain("polhode fmu", "%s", pol_status_text(status));
  return CLI_FAILED;
}

static int run_fmu(const cli_args *args)
{
  pol_model *model;
  if (args->fmi != NULL && strcmp(args->fmi, "2") != 0 && strcmp(args->fmi, "3") != 0)
    return cli_refuse_one("polhode fmu", args->json, "--fmi", args->fmi, "must be 2 or 3");
  int result = cli_read_model(args, &model);
  if (result != CLI_DONE) return result;
  char *path = args->out != NULL ? cli_format("%s", args->out) : default_path(args->operand);
  char *binaries = find_binaries();
  if (path != NULL && binaries != NULL) {
    result = write_fmu(args, model, path, binaries);
  } else {
    cli_complain("polhode fmu", "%s", pol_status_text(POL_NO_MEMORY));
    result = CLI_FAILED;
  }
  free(path);
  free(binaries);
  pol_model_free(&model);
  return result;
}

static const cli_option fmu_options[] = {
    {"--out", "FILE.fmu", "write the FMU to this file (default: the name of the model)", CLI_TEXT,
     offsetof(cli_args, out), NULL},
    {"--fmi", "VERSION", "version of FMI: 2 (default) or 3", CLI_TEXT, offsetof(cli_args, fmi),
     NULL},
    {"--inputs", "NAME,...", "variables, components of forces and actuators (default: all inputs)",
     CLI_TEXT, offsetof(cli_args, inputs), NULL},
    {"--outputs", "NAME,...", "quantities of the result (default: all)", CLI_TEXT,
     offsetof(cli_args, outputs), NULL},
    CLI_RUN_OPTIONS,
    CLI_JSON_OPTION,
};

const cli_command cli_fmu = {
    .name = "fmu",
    .summary = "write a model as an FMU for co-simulation",
    .operand = "MODEL.json",
    .text = "The FMU contains the model with all files that it includes and a shared object\n"
            "that simulates it. Its inputs are the variables of the model with \"input\": true,\n"
            "its parameters those of the model file, its outputs the quantities of a result.\n"
            "At the communication points it has the values of polhode run.",
    .examples =
        "  polhode fmu models/holzinger-arnold-gerstmayr/slider_crank.json --out crank.fmu\n"
        "  polhode fmu models/holzinger-arnold-gerstmayr/slider_crank.json --fmi 3 --outputs "
        "slider.position",
    .options = fmu_options,
    .num_options = sizeof fmu_options / sizeof fmu_options[0],
    .run = run_fmu,
};
