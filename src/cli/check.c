/* polhode check: says what a model is, what is wrong with it, and what happens to its initial
 * values.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/output.h>

#include "cli/check.h"
#include "cli/cli.h"
#include "cli/json_out.h"
#include "cli/progress.h"
#include "cli/signals.h"
#include "cli/terminal.h"
#include "cli/text_out.h"
#include "cli/topology.h"

static int count_constraints(const pol_mechanism *mechanism)
{
  pol_joint_row rows[POL_MAX_JOINT_ROWS];
  int count = 0;
  for (int i = 0; i < pol_mechanism_num_joints(mechanism); i++)
    count += pol_joint_rows(pol_mechanism_joint(mechanism, i), rows);
  return count + pol_mechanism_num_drives(mechanism) + pol_mechanism_num_couplings(mechanism);
}

static int check_model(const cli_args *args, const pol_model *model)
{
  cli_findings found = {.source = args->operand, .model = model};
  pol_simulation *simulation = NULL;
  found.num_constraints = count_constraints(model->mechanism);
  cli_print_warnings(&model->settings);
  if (pol_simulation_estimate(model->mechanism, &model->settings, &found.estimate) == POL_OK)
    cli_warn_memory(&found.estimate, pol_writer_memory(model->mechanism));
  cli_progress progress;
  pol_settings settings = model->settings;
  settings.progress = (pol_progress){cli_progress_report, &progress};
  cli_catch_signals();
  cli_progress_begin(&progress, !args->quiet);
  pol_status status =
      pol_simulation_create(&simulation, model->mechanism, &settings, &found.failure);
  cli_progress_end(&progress);
  if (status == POL_CANCELLED) {
    cli_complain("polhode check", "interrupted");
    if (args->json) cli_json_print(json_pack("{s:s}", "status", "interrupted"));
    return CLI_SIGNALLED + cli_stop_signal();
  }
  if (status == POL_BAD_ARGUMENT)
    return cli_refuse_one(args->operand, args->json, "simulation", "", found.failure.message);
  found.started = status == POL_OK;
  if (found.started) {
    found.moves = pol_simulation_summary(simulation)->moves;
    found.simulation = simulation;
    pol_simulation_dropped(simulation, &found.num_redundant);
    cli_print_run_warnings(pol_simulation_summary(simulation), 1);
  }

  int printed = 1;
  if (args->json) {
    printed = cli_json_print(cli_findings_json(&found)) == 0;
  } else if (!args->quiet) {
    cli_findings_print(&found);
  }
  pol_simulation_free(&simulation);
  if (!found.started) cli_print_failure(args->operand, &found.failure);
  if (!found.started) return cli_start_status(status);
  return printed ? CLI_DONE : CLI_FAILED;
}

static int ends_in(const char *path, const char *suffix)
{
  const size_t length = strlen(path), tail = strlen(suffix);
  return length > tail && strcmp(path + length - tail, suffix) == 0;
}

/* Writes the topology, drawn or as a graph, into this file; without graphviz the graph instead of
 * the picture, beside it.  An unfinished file is removed, unless it is behind a link.  Returns the
 * exit status. */
static int write_topology(const cli_args *args, const pol_model *model, const char *option,
                          const char *path)
{
  const int drawn = strcmp(option, "--svg") == 0;
  cli_drawing drawing = CLI_DRAWN;
  FILE *file = fopen(path, "w");
  if (file == NULL)
    return cli_refuse_one("polhode check", args->json, option, path, strerror(errno));
  if (drawn)
    drawing = cli_topology_draw(file, model);
  else
    cli_topology_write(file, model);
  const pol_status status = pol_output_close(file, path, drawing == CLI_DRAWN ? POL_OK : POL_IO);
  if (status == POL_OK) return CLI_DONE;
  if (drawing != CLI_DRAW_NO_PROGRAM) {
    cli_complain("polhode check", "%s: %s", path, strerror(errno));
    return CLI_FAILED;
  }
  char *graph = malloc(strlen(path) + 1);
  if (graph == NULL) return CLI_FAILED;
  sprintf(graph, "%.*s.dot", (int)strlen(path) - 4, path);
  int result = cli_check_model_output("polhode check", args, "--svg", graph, model);
  if (result == CLI_DONE) result = write_topology(args, model, "--dot", graph);
  if (result == CLI_DONE) {
    cli_complain("polhode check",
                 "%s: the program dot of graphviz is not installed; wrote the graph to %s", path,
                 graph);
    result = CLI_FAILED;
  }
  free(graph);
  return result;
}

static int check(const cli_args *args)
{
  const char *const options[2] = {"--svg", "--dot"}, *const paths[2] = {args->svg, args->dot};
  pol_model *model;
  for (int i = 0; i < 2; i++)
    if (paths[i] != NULL && !ends_in(paths[i], i == 0 ? ".svg" : ".dot"))
      /* a mistyped command must not overwrite a model */
      return cli_refuse_one("polhode check", args->json, options[i], paths[i],
                            i == 0 ? "must be a file name that ends in .svg"
                                   : "must be a file name that ends in .dot");
  int result = cli_read_model(args, &model);
  if (result != CLI_DONE) return result;
  for (int i = 0; i < 2 && result == CLI_DONE; i++)
    result = cli_check_model_output("polhode check", args, options[i], paths[i], model);
  for (int i = 0; i < 2 && result == CLI_DONE; i++)
    if (paths[i] != NULL) result = write_topology(args, model, options[i], paths[i]);
  if (result == CLI_DONE) result = check_model(args, model);
  pol_model_free(&model);
  return result;
}

static const cli_option options[] = {
    {"--set", "KEY=VALUE", "replace any value of the model file; may be repeated", CLI_OVERRIDE, 0,
     NULL},
    {"--svg", "FILE.svg", "draw bodies, joints, forces and drives (needs graphviz)", CLI_TEXT,
     offsetof(cli_args, svg), NULL},
    {"--dot", "FILE.dot", "write the same as a graph for graphviz", CLI_TEXT,
     offsetof(cli_args, dot), NULL},
    {"--json", NULL, "print one JSON object instead of a table", CLI_FLAG, offsetof(cli_args, json),
     NULL},
};

const cli_command cli_check = {
    .name = "check",
    .summary = "say what a model is and what is wrong with it",
    .operand = "MODEL.json",
    .text = "Reads the model and lists all its errors; or, if there are none, says what it\n"
            "is: bodies, joints, forces, drives, degrees of freedom, redundant constraints,\n"
            "symmetries, settings. Then it finds consistent initial values and says how far\n"
            "the given ones had to move.\n\n"
            "Exit status: 0 valid, 1 the numerics failed, 2 the input is wrong or has no\n"
            "consistent initial values, 130 stopped by Ctrl-C (143 by SIGTERM).",
    .examples = "  polhode check models/bruels-cardona-2010/heavy_top.json\n"
                "  polhode check models/examples/pendulum.json --set simulation.formulation=se3 "
                "--json\n"
                "  polhode check models/examples/four_bar_motor.json --svg four_bar.svg",
    .options = options,
    .num_options = sizeof options / sizeof options[0],
    .run = check,
};
