/* polhode linearize: the linearised equations of motion as matrices, in JSON and MAT. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/mat.h>
#include <polhode/output.h>

#include "cli/analysis.h"
#include "cli/json_out.h"
#include "cli/terminal.h"

/* --- lists of names
 * ---------------------------------------------------------------------------------- */

/* The names between commas, in one copy of the text. */
typedef struct names {
  char *text;
  int count;
  const char **items;
} names;

static pol_status split(const char *text, names *list)
{
  *list = (names){0};
  if (text == NULL || text[0] == '\0') return POL_OK;
  list->text = cli_format("%s", text);
  size_t count = 1;
  for (const char *c = text; *c != '\0'; c++) count += *c == ',';
  list->items = calloc(count, sizeof *list->items);
  if (list->text == NULL || list->items == NULL) return POL_NO_MEMORY;
  for (char *c = list->text; c != NULL;) {
    char *end = strchr(c, ',');
    if (end != NULL) *end++ = '\0';
    while (*c == ' ') c++;
    for (size_t length = strlen(c); length > 0 && c[length - 1] == ' ';) c[--length] = '\0';
    list->items[list->count++] = c;
    c = end;
  }
  return POL_OK;
}

static void free_names(names *list)
{
  free(list->text);
  free(list->items);
}

/* --- the report
 * ---------------------------------------------------------------------------------------- */

static json_t *matrix_json(const double *values, int rows, int cols)
{
  json_t *list = json_array();
  for (int i = 0; i < rows; i++) {
    json_t *row = json_array();
    for (int j = 0; j < cols; j++) cli_json_append(&row, cli_json_number(values[i + j * rows]));
    cli_json_append(&list, row);
  }
  return list;
}

static json_t *texts_json(const char *const *texts, int count)
{
  json_t *list = json_array();
  for (int i = 0; i < count; i++) cli_json_append(&list, cli_json_text(texts[i]));
  return list;
}

static json_t *linear_json(const cli_analysis *a, const pol_linear *l)
{
  json_t *object = cli_analysis_json(a);
  cli_json_set(&object, "coordinates", json_integer(l->num_coordinates));
  cli_json_set(&object, "velocities", json_integer(l->num_velocities));
  cli_json_set(&object, "states", texts_json(l->state_names, l->n));
  cli_json_set(&object, "state_units", texts_json(l->state_units, l->n));
  cli_json_set(&object, "inputs", texts_json(l->input_names, l->num_inputs));
  cli_json_set(&object, "input_units", texts_json(l->input_units, l->num_inputs));
  cli_json_set(&object, "outputs", texts_json(l->output_names, l->num_outputs));
  cli_json_set(&object, "unsteady", cli_json_number(l->unsteady));
  cli_json_set(&object, "A", matrix_json(l->A, l->n, l->n));
  cli_json_set(&object, "B", matrix_json(l->B, l->n, l->num_inputs));
  cli_json_set(&object, "C", matrix_json(l->C, l->num_outputs, l->n));
  cli_json_set(&object, "D", matrix_json(l->D, l->num_outputs, l->num_inputs));
  return object;
}

/* Entries that are round-off of the largest one are 0. */
static void print_matrix(const char *name, const double *values, int rows, int cols)
{
  const double round_off = 1e-14;
  double size = 0.0;
  if (rows == 0 || cols == 0) return;
  for (int i = 0; i < rows * cols; i++) size = fmax(size, fabs(values[i]));
  printf("\n%s =\n", name);
  for (int i = 0; i < rows; i++) {
    for (int j = 0; j < cols; j++) {
      const double value = values[i + j * rows];
      printf(" %13.6g", fabs(value) > round_off * size ? value : 0.0);
    }
    printf("\n");
  }
}

static void print_names(const char *label, const char *const *texts, int count)
{
  for (int i = 0; i < count; i++) cli_print_row(i == 0 ? label : "", "%s", texts[i]);
}

static void print_linear(const cli_analysis *a, const pol_linear *l)
{
  cli_analysis_print(a);
  cli_print_row("states", "%d: %d coordinate%s, %d velocit%s, %d first-order", l->n,
                l->num_coordinates, cli_plural(l->num_coordinates), l->num_velocities,
                l->num_velocities == 1 ? "y" : "ies", l->num_states);
  print_names("", l->state_names, l->n);
  print_names("inputs", l->input_names, l->num_inputs);
  print_names("outputs", l->output_names, l->num_outputs);
  if (a->args->out != NULL) {
    cli_print_row("result", "%s", a->args->out);
    return;
  }
  print_matrix("A", l->A, l->n, l->n);
  print_matrix("B", l->B, l->n, l->num_inputs);
  print_matrix("C", l->C, l->num_outputs, l->n);
  print_matrix("D", l->D, l->num_outputs, l->num_inputs);
}

/* --- files
 * -------------------------------------------------------------------------------------------- */

static pol_status write_mat(const cli_analysis *a, const pol_linear *l)
{
  pol_mat *mat;
  pol_status status = pol_mat_create(&mat, a->args->out);
  if (status != POL_OK) return status;
  pol_mat_add_matrix(mat, "A", l->n, l->n, l->A);
  pol_mat_add_matrix(mat, "B", l->n, l->num_inputs, l->B);
  pol_mat_add_matrix(mat, "C", l->num_outputs, l->n, l->C);
  pol_mat_add_matrix(mat, "D", l->num_outputs, l->num_inputs, l->D);
  pol_mat_add_texts(mat, "states", l->n, l->state_names);
  pol_mat_add_texts(mat, "inputs", l->num_inputs, l->input_names);
  status = pol_mat_add_texts(mat, "outputs", l->num_outputs, l->output_names);
  const pol_status closed = pol_mat_close(&mat);
  return status != POL_OK ? status : closed;
}

static pol_status write_json(const cli_analysis *a, const pol_linear *l)
{
  json_t *object = linear_json(a, l);
  if (object == NULL) return POL_NO_MEMORY;
  FILE *file = fopen(a->args->out, "w");
  pol_status status = file != NULL ? POL_OK : POL_IO;
  if (file != NULL) {
    if (json_dumpf(object, file, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) != 0 ||
        fputc('\n', file) == EOF)
      status = POL_IO;
    status = pol_output_close(file, a->args->out, status);
  }
  const int reason = errno;
  json_decref(object);
  errno = reason;
  return status;
}

/* --- the command
 * ---------------------------------------------------------------------------------------- */

static int report(const cli_analysis *a, const pol_linear *l)
{
  const cli_args *args = a->args;
  char text[480];
  if (cli_unsteady_text(l->unsteady, text, sizeof text))
    cli_note("%s: warning: %s", a->command, text);
  if (args->out != NULL) {
    errno = 0;
    const pol_status status = cli_ends_in(args->out, ".mat") ? write_mat(a, l) : write_json(a, l);
    if (status == POL_IO)
      return cli_cannot_write(a->command, args->json, "--out", args->out, errno);
    if (status != POL_OK) {
      cli_complain(a->command, "%s", pol_status_text(status));
      return CLI_FAILED;
    }
  }
  if (args->json) return cli_json_print(linear_json(a, l)) == 0 ? CLI_DONE : CLI_FAILED;
  if (!args->quiet) print_linear(a, l);
  return CLI_DONE;
}

/* Errors of the lists name the option instead of the list of the library. */
static int refuse_names(const cli_analysis *a, const pol_errors *errors)
{
  pol_errors own = {0};
  pol_status status = POL_OK;
  for (int i = 0; i < errors->count && status == POL_OK; i++) {
    const pol_error *error = &errors->items[i];
    char *path = cli_format("--%.*s", (int)strcspn(error->path, "["), error->path);
    status = path != NULL ? pol_errors_add(&own, path, error->value, error->rule, error->suggestion)
                          : POL_NO_MEMORY;
    free(path);
  }
  if (status == POL_OK) return cli_refuse(a->command, a->args->json, &own);
  pol_errors_clear(&own);
  cli_complain(a->command, "%s", pol_status_text(status));
  return CLI_FAILED;
}

static int solve(cli_analysis *a)
{
  const cli_args *args = a->args;
  names coordinates = {0}, inputs = {0}, outputs = {0};
  pol_linear_options options = pol_linear_options_default();
  pol_linear *linear = NULL;
  pol_errors errors = {0};
  pol_diagnostics failure = {.equation = -1};
  int result = CLI_DONE;
  memcpy(options.frame, a->frame, sizeof a->frame);
  if ((split(args->coordinates, &coordinates) != POL_OK || split(args->inputs, &inputs) != POL_OK ||
       split(args->outputs, &outputs) != POL_OK)) {
    cli_complain(a->command, "%s", pol_status_text(POL_NO_MEMORY));
    result = CLI_FAILED;
  }
  if (result == CLI_DONE) {
    options.num_coordinates = coordinates.count;
    options.coordinates = coordinates.items;
    options.num_inputs = inputs.count;
    options.inputs = inputs.items;
    options.num_outputs = outputs.count;
    options.outputs = outputs.items;
    const pol_status status = pol_linear_create(&linear, a->analysis, &options, &errors, &failure);
    if (status == POL_OK)
      result = report(a, linear);
    else
      result = errors.count > 0 ? refuse_names(a, &errors) : cli_analysis_fail(a, &failure);
  }
  pol_errors_clear(&errors);
  pol_linear_free(&linear);
  free_names(&coordinates);
  free_names(&inputs);
  free_names(&outputs);
  return result;
}

static int run(const cli_args *args)
{
  cli_analysis a;
  const char *out = args->out;
  if (out != NULL && !cli_ends_in(out, ".json") && !cli_ends_in(out, ".mat"))
    return cli_refuse_one("polhode linearize", args->json, "--out", out,
                          "must end in .json or .mat");
  int result = cli_analysis_open(&a, "polhode linearize", args, 0);
  if (result == CLI_DONE) result = cli_check_model_output(a.command, args, "--out", out, a.model);
  if (result == CLI_DONE) result = solve(&a);
  cli_analysis_close(&a);
  return result;
}

static const cli_option options[] = {
    CLI_ANALYSIS_OPTIONS,
    {"--coordinates", "NAME,...",
     "independent coordinates to use first: hinge.angle, cart.position.x, top.rotation.x", CLI_TEXT,
     offsetof(cli_args, coordinates), NULL},
    {"--inputs", "NAME,...",
     "inputs: push.x (a component of a force), motor (an actuator), crank (a drive's acceleration)",
     CLI_TEXT, offsetof(cli_args, inputs), NULL},
    {"--outputs", "NAME,...", "outputs: any names that expressions can use", CLI_TEXT,
     offsetof(cli_args, outputs), NULL},
    {"--out", "FILE.json|FILE.mat", "write the matrices and names to a file", CLI_TEXT,
     offsetof(cli_args, out), NULL},
    CLI_JSON_OPTION,
};

const cli_command cli_linearize = {
    .name = "linearize",
    .summary = "matrices A, B, C, D of the linearised equations",
    .operand = "MODEL.json|RESULT",
    .text = "Prints the matrices of x' = A x + B u, y = C x + D u about the initial state of\n"
            "a model, its static equilibrium, a point of its run, or a row of a result. The\n"
            "states x are independent coordinates, independent velocities (fewer if wheels\n"
            "roll), and first-order states.",
    .examples = "  polhode linearize models/examples/double_pendulum.json --static\n"
                "  polhode linearize models/examples/double_pendulum.json --static "
                "--outputs lower.position.x,elbow.force.z --out pendulum.mat\n"
                "  polhode linearize models/examples/four_bar_motor.json --inputs motor --json",
    .options = options,
    .num_options = sizeof options / sizeof options[0],
    .run = run,
};
