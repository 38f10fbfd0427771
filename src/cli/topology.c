/* The topology of a model in DOT: a box per body, an oval per joint, a dashed one per force; the
 * lines lead to the bodies that it connects.  dot ranks the bodies by their distance from the
 * ground. */
#define _POSIX_C_SOURCE 200809L
#include "cli/topology.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

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

static void put_forces(FILE *file, const pol_mechanism *mechanism)
{
  for (int i = 0; i < pol_mechanism_num_forces(mechanism); i++) {
    const pol_force *force = pol_mechanism_force(mechanism, i);
    const int *marker = NULL;
    int body[2] = {force->body, force->type == POL_SUPPORT ? POL_GROUND : NONE};
    if (force->type == POL_SPRING_DAMPER || force->type == POL_BUSHING) marker = force->marker;
    if (force->type == POL_JOINT_SPRING)
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
}

void cli_topology_write(FILE *file, const pol_model *model)
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
  put_forces(file, model->mechanism);
  fputs("}\n", file);
}

cli_drawing cli_topology_draw(FILE *file, const pol_model *model)
{
  static char program[] = "dot", format[] = "-Tsvg";
  char *const arguments[] = {program, format, NULL};
  posix_spawn_file_actions_t actions;
  pid_t child;
  int ends[2], status = 0, failure;
  FILE *graph = tmpfile();
  if (graph == NULL) return CLI_DRAW_FAILED;
  setvbuf(graph, NULL, _IONBF, 0); /* errno is of the write that fails */
  cli_topology_write(graph, model);
  if (ferror(graph) || pipe(ends) != 0) {
    fclose(graph);
    return CLI_DRAW_FAILED;
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
  if (failure == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0) return CLI_DRAWN;
  errno = failure != 0 ? failure : EIO;
  return failure == ENOENT ? CLI_DRAW_NO_PROGRAM : CLI_DRAW_FAILED;
}
