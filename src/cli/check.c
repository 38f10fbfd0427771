/* polhode check: what a model is, what is wrong with it, and how far its initial values have to
 * move; and its topology in DOT, which graphviz draws: a box per body, an oval per joint, a dashed
 * one per force, with lines to the bodies that it connects. */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <polhode/output.h>

#include "cli/check.h"
#include "cli/cli.h"
#include "cli/json_out.h"
#include "cli/terminal.h"

extern char **environ;

typedef enum drawing_result {
  DRAWN,
  DRAW_NO_PROGRAM, /* graphviz is not installed */
  DRAW_FAILED      /* errno has the reason */
} drawing_result;

enum { NONE = -2 }; /* no second body; the ground is POL_GROUND, -1 */

/* A string of DOT; control characters, which no picture shows, become blanks. */
static void put_text(FILE *file, const char *text)
{
  for (; *text != '\0'; text++) {
    if (*text == '"' || *text == '\\') putc('\\', file);
    putc((unsigned char)*text < ' ' || *text == 0x7f ? ' ' : *text, file);
  }
}

static void put_node(FILE *file, int body)
{
  if (body == POL_GROUND)
    fputs("ground", file);
  else
    fprintf(file, "body%d", body);
}

/* A label between two bodies, or at one of them, with the lines to them.  `kind` and `index` make
 * its name; `more` is further text of the label. */
static void put_connection(FILE *file, const char *kind, int index, const char *name,
                           const char *type, const char *more, const int body[2])
{
  const int is_joint = kind[0] == 'j';
  fprintf(file, "  %s%d [label=\"", kind, index);
  put_text(file, name);
  fprintf(file, "\\n%s", type);
  fputs(more, file);
  fprintf(file, "\"%s];\n", is_joint ? "" : ", style=\"filled,dashed\", fillcolor=\"#fff4e0\"");
  for (int end = 0; end < 2 && body[end] != NONE; end++) {
    fputs("  ", file);
    if (end == 0) put_node(file, body[0]);
    if (end == 1) fprintf(file, "%s%d", kind, index);
    fputs(" -- ", file);
    if (end == 0) fprintf(file, "%s%d", kind, index);
    if (end == 1) put_node(file, body[1]);
    fprintf(file, "%s;\n", is_joint ? "" : " [style=dashed]");
  }
}

static void put_joints(FILE *file, const pol_mechanism *mechanism)
{
  for (int i = 0; i < pol_mechanism_num_joints(mechanism); i++) {
    const pol_joint *joint = pol_mechanism_joint(mechanism, i);
    const int body[2] = {pol_mechanism_marker(mechanism, joint->marker[0])->body,
                         pol_mechanism_marker(mechanism, joint->marker[1])->body};
    char *more = NULL;
    size_t size;
    FILE *text = open_memstream(&more, &size);
    if (text == NULL) return;
    for (int k = 0; k < pol_mechanism_num_drives(mechanism); k++) {
      const pol_drive *drive = pol_mechanism_drive(mechanism, k);
      if (drive->joint != i) continue;
      fputs("\\ndrive ", text);
      put_text(text, drive->name);
      fprintf(text, ": %s, %s", pol_coordinate_name(drive->coordinate),
              pol_function_type_name(drive->function.type));
    }
    for (int k = 0; k < pol_mechanism_num_couplings(mechanism); k++) {
      const pol_coupling *coupling = pol_mechanism_coupling(mechanism, k);
      for (int end = 0; end < 2; end++) {
        if (coupling->joint[end] != i) continue;
        fputs("\\ncoupling ", text);
        put_text(text, coupling->name);
        fprintf(text, ": %s", pol_coordinate_name(coupling->coordinate[end]));
      }
    }
    if (fclose(text) == 0)
      put_connection(file, "joint", i, joint->name, pol_joint_type_name(joint->type), more, body);
    free(more);
  }
}

static void write_graph(FILE *file, const pol_model *model)
{
  fputs("graph \"", file);
  put_text(file, model->name);
  fputs("\" {\n  graph [labelloc=t, fontname=\"Helvetica\", ranksep=0.35, label=\"", file);
  put_text(file, model->name);
  fputs("\"];\n  edge [color=\"#506070\"];\n"
        "  node [fontname=\"Helvetica\", fontsize=11, color=\"#506070\", shape=ellipse, "
        "style=filled, fillcolor=\"#eef3f8\"];\n"
        "  ground [shape=box, fillcolor=\"#d8d8d8\"];\n",
        file);
  for (int i = 0; i < pol_mechanism_num_bodies(model->mechanism); i++) {
    fprintf(file, "  body%d [shape=box, fillcolor=\"#cfe3f7\", label=\"", i);
    put_text(file, pol_mechanism_body(model->mechanism, i)->name);
    fputs("\"];\n", file);
  }
  put_joints(file, model->mechanism);
  const pol_mechanism *mechanism = model->mechanism;
  for (int i = 0; i < pol_mechanism_num_forces(mechanism); i++) {
    const pol_force *force = pol_mechanism_force(mechanism, i);
    const int *marker = NULL;
    int body[2] = {force->body, force->type == POL_SUPPORT ? POL_GROUND : NONE};
    if (force->type == POL_SPRING_DAMPER || force->type == POL_BUSHING) marker = force->marker;
    if (force->type == POL_JOINT_SPRING || force->type == POL_JOINT_STOP ||
        force->type == POL_JOINT_FRICTION)
      marker = pol_mechanism_joint(mechanism, force->joint)->marker;
    for (int end = 0; end < 2; end++) {
      if (marker != NULL) body[end] = pol_mechanism_marker(mechanism, marker[end])->body;
      if (force->type == POL_CALLBACK_FORCE) body[end] = force->bodies[end];
    }
    put_connection(file, "force", i, force->name, pol_force_type_name(force->type), "", body);
  }
  for (int i = 0; i < pol_mechanism_num_drives(mechanism); i++) {
    const pol_drive *drive = pol_mechanism_drive(mechanism, i);
    if (drive->joint != POL_NO_JOINT) continue;
    const int body[2] = {pol_mechanism_marker(mechanism, drive->marker[0])->body,
                         pol_mechanism_marker(mechanism, drive->marker[1])->body};
    put_connection(file, "drive", i, drive->name, "drive", "", body);
  }
  fputs("}\n", file);
}

static drawing_result draw_graph(FILE *file, const pol_model *model)
{
  static char program[] = "dot", format[] = "-Tsvg";
  char *const arguments[] = {program, format, NULL};
  posix_spawn_file_actions_t actions;
  pid_t child;
  int ends[2], status = 0, failure;
  FILE *graph = tmpfile();
  if (graph == NULL) return DRAW_FAILED;
  setvbuf(graph, NULL, _IONBF, 0); /* errno is of the write that fails */
  write_graph(graph, model);
  if (ferror(graph) || pipe(ends) != 0) {
    fclose(graph);
    return DRAW_FAILED;
  }
  rewind(graph);
  /* dot reads the graph and writes the picture into the pipe */
  failure = posix_spawn_file_actions_init(&actions);
  if (failure == 0) {
    posix_spawn_file_actions_adddup2(&actions, fileno(graph), STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    failure = posix_spawnp(&child, arguments[0], &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
  }
  close(ends[1]);
  fclose(graph);
  if (failure == 0) {
    char block[4096];
    for (ssize_t size; (size = read(ends[0], block, sizeof block)) > 0;)
      fwrite(block, 1, (size_t)size, file);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  }
  close(ends[0]);
  if (failure == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0) return DRAWN;
  errno = failure != 0 ? failure : EIO;
  return failure == ENOENT ? DRAW_NO_PROGRAM : DRAW_FAILED;
}

static int check_model(const cli_args *args, const pol_model *model)
{
  cli_findings found = {.source = args->operand, .model = model};
  pol_simulation *simulation = NULL;
  const pol_mechanism *mechanism = model->mechanism;
  pol_joint_row rows[POL_MAX_JOINT_ROWS];
  int count = 0;
  for (int i = 0; i < pol_mechanism_num_joints(mechanism); i++)
    count += pol_joint_rows(pol_mechanism_joint(mechanism, i), rows);
  found.num_constraints =
      count + pol_mechanism_num_drives(mechanism) + pol_mechanism_num_couplings(mechanism);
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

/* Writes the topology, drawn or as a graph, into this file; without graphviz the graph instead of
 * the picture, beside it.  An unfinished file is removed, unless it is behind a link.  Returns the
 * exit status. */
static int write_topology(const cli_args *args, const pol_model *model, const char *option,
                          const char *path)
{
  const int drawn = strcmp(option, "--svg") == 0;
  drawing_result drawing = DRAWN;
  FILE *file = fopen(path, "w");
  if (file == NULL)
    return cli_refuse_one("polhode check", args->json, option, path, strerror(errno));
  if (drawn)
    drawing = draw_graph(file, model);
  else
    write_graph(file, model);
  const pol_status status = pol_output_close(file, path, drawing == DRAWN ? POL_OK : POL_IO);
  if (status == POL_OK) return CLI_DONE;
  if (drawing != DRAW_NO_PROGRAM) {
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
    if (paths[i] != NULL && !cli_ends_in(paths[i], i == 0 ? ".svg" : ".dot"))
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
  if (result == CLI_DONE) result = cli_check_controllers(args, model);
  if (result == CLI_DONE) result = check_model(args, model);
  pol_model_free(&model);
  return result;
}

static const cli_option options[] = {
    {"--param", "NAME=VALUE", "value of a parameter; may be repeated", CLI_OVERRIDE, 0,
     "parameters."},
    {"--set", "KEY=VALUE", "replace any value of the model file; may be repeated", CLI_OVERRIDE, 0,
     NULL},
    {"--svg", "FILE.svg", "draw bodies, joints, forces and drives (needs graphviz)", CLI_TEXT,
     offsetof(cli_args, svg), NULL},
    {"--dot", "FILE.dot", "write the same as a graph for graphviz", CLI_TEXT,
     offsetof(cli_args, dot), NULL},
    CLI_JSON_OPTION,
};

const cli_command cli_check = {
    .name = "check",
    .summary = "report what a model contains, and its errors",
    .operand = "MODEL.json",
    .text = "Reads the model and lists all its errors; or, if there are none, reports what it\n"
            "contains: bodies, joints, forces, drives, degrees of freedom, redundant\n"
            "constraints, symmetries, settings. Then it finds consistent initial values and\n"
            "reports how much the given ones had to change.\n\n"
            "Exit status: 0 valid, 1 the simulation failed, 2 invalid input or no\n"
            "consistent initial values, 130 stopped by Ctrl-C (143 by SIGTERM).",
    .examples = "  polhode check models/bruels-cardona-2010/heavy_top.json\n"
                "  polhode check models/examples/pendulum.json --set simulation.formulation=se3 "
                "--json\n"
                "  polhode check models/examples/four_bar_motor.json --svg four_bar.svg",
    .options = options,
    .num_options = sizeof options / sizeof options[0],
    .run = check,
};
