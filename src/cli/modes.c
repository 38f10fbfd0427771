/* polhode modes: frequencies, damping and shapes of small vibrations. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/analysis.h"
#include "cli/json_out.h"
#include "cli/modes_sweep.h"
#include "cli/terminal.h"

enum { PHASES = 60 }; /* rows of the result of a mode, and one more for the full period */

/* --- results of modes
 * ----------------------------------------------------------------------------- */

/* One period of a mode, or one second of a motion without a period, as a result. */
static int write_mode(const cli_analysis *a, const pol_modes *modes, int index, const char *path)
{
  const pol_mode *mode = pol_modes_get(modes, index);
  const pol_state *state = pol_analysis_state(a->analysis);
  const pol_group *group = &pol_formulation_dae(pol_analysis_formulation(a->analysis))->group;
  const double turn = 8.0 * atan(1.0), amplitude = pol_modes_amplitude(modes, index);
  const double period = mode->im > 0.0 ? turn / mode->im : 1.0;
  double *q = calloc((size_t)group->nq + 1, sizeof *q),
         *v = calloc((size_t)group->nv + 1, sizeof *v);
  cli_rows rows = {0};
  cli_rows_open(&rows, a, path, "mode", index + 1, mode->frequency);
  if (q == NULL || v == NULL) rows.status = POL_NO_MEMORY;
  for (int k = 0; k <= PHASES && rows.status == POL_OK; k++) {
    pol_state shown = *state;
    shown.q = q;
    shown.v = v;
    pol_modes_pose(modes, index, turn * k / PHASES, amplitude, q, v);
    cli_rows_write(&rows, &shown, period * k / PHASES);
  }
  free(q);
  free(v);
  return cli_rows_close(&rows, a, path, "done");
}

/* "modes.h5" to "modes_3.h5"; the caller frees it. */
static char *numbered(const char *path, int number)
{
  const char *dot = strrchr(path, '.');
  return cli_format("%.*s_%d%s", (int)(dot - path), path, number, dot);
}

/* Writes the mode of --mode, or each of those that are listed. */
static int write_modes(const cli_analysis *a, const pol_modes *modes, int only)
{
  const char *out = a->args->out;
  int result = CLI_DONE;
  if (only > 0) return write_mode(a, modes, only - 1, out);
  for (int k = 0; k < pol_modes_count(modes) && result == CLI_DONE && !cli_stop_signal(); k++) {
    char *path = numbered(out, k + 1);
    result = path != NULL ? write_mode(a, modes, k, path) : CLI_FAILED;
    free(path);
  }
  return result;
}

/* --- the report
 * ------------------------------------------------------------------------------------ */

/* Coordinates of a body behind rotation and translation. */
static int num_modes(const pol_body *body)
{
  return body->flexible != NULL && body->interface == 0 ? body->flexible->num_modes : 0;
}

static void print_modes(const cli_analysis *a, const pol_modes *modes)
{
  cli_analysis_print(a);
  if (pol_modes_count(modes) == 0) {
    cli_print_row("modes", "none: nothing can move");
    return;
  }
  if (pol_modes_zeros(modes) > 0)
    cli_print_row("zero", "%d eigenvalue%s: motions that nothing resists", pol_modes_zeros(modes),
                  cli_plural(pol_modes_zeros(modes)));
  printf("\n  mode   frequency, Hz   damping ratio      eigenvalue, 1/s              what moves\n");
  for (int k = 0; k < pol_modes_count(modes); k++) {
    const pol_mode *mode = pol_modes_get(modes, k);
    char part[200] = "";
    /* any mixture of motions that nothing resists is one, too */
    if (mode->frequency > 0.0 || mode->re != 0.0) pol_modes_name(modes, k, part, sizeof part);
    printf("  %4d   %13.8g   %13.6g   %13.6g %s%13.6g%s%s", k + 1, mode->frequency, mode->damping,
           mode->re, mode->im > 0.0 ? "+-" : "  ", mode->im, mode->im > 0.0 ? "i" : "",
           part[0] == '\0'  ? ""
           : mode->im > 0.0 ? "   "
                            : "    ");
    cli_put_text(stdout, part);
    putchar('\n');
  }
  const int count = pol_modes_count(modes);
  if (a->args->out == NULL || count == 0) return;
  char *first = numbered(a->args->out, 1), *last = numbered(a->args->out, count);
  if (a->args->mode != NULL)
    cli_print_row("result", "%s", a->args->out);
  else if (first != NULL && last != NULL)
    cli_print_row("result", count > 1 ? "%s to %s" : "%s", first, last);
  free(first);
  free(last);
}

static json_t *modes_json(const cli_analysis *a, const pol_modes *modes)
{
  const pol_mechanism *mechanism = a->model->mechanism;
  json_t *object = cli_analysis_json(a), *list = json_array();
  for (int k = 0; k < pol_modes_count(modes); k++) {
    const pol_mode *mode = pol_modes_get(modes, k);
    json_t *shape = json_object();
    for (int b = 0, at = 0; b < pol_mechanism_num_bodies(mechanism); b++) {
      const pol_body *body = pol_mechanism_body(mechanism, b);
      if (body->interface > 0) continue;
      json_t *parts = json_object();
      for (int i = body->point; i < 2; i++, at += 3)
        cli_json_set(&parts, i == 0 ? "rotation" : "translation",
                     json_pack("{s:o, s:o}", "re", cli_json_numbers(mode->shape_re + at, 3), "im",
                               cli_json_numbers(mode->shape_im + at, 3)));
      const int own = num_modes(body);
      if (own > 0)
        cli_json_set(&parts, "modes",
                     json_pack("{s:o, s:o}", "re", cli_json_numbers(mode->shape_re + at, own), "im",
                               cli_json_numbers(mode->shape_im + at, own)));
      at += own;
      cli_json_set(&shape, body->name, parts);
    }
    char name[200] = "";
    if (mode->frequency > 0.0 || mode->re != 0.0) pol_modes_name(modes, k, name, sizeof name);
    cli_json_append(&list,
                    json_pack("{s:o, s:o, s:o, s:o, s:o}", //
                              "name", cli_json_text(name), "frequency",
                              cli_json_number(mode->frequency), "damping_ratio",
                              cli_json_number(mode->damping), "eigenvalue",
                              cli_json_numbers((double[]){mode->re, mode->im}, 2), "shape", shape));
  }
  cli_json_set(&object, "frame_angular_velocity", cli_json_numbers(a->frame, 3));
  cli_json_set(&object, "unsteady", cli_json_number(pol_modes_unsteady(modes)));
  cli_json_set(&object, "zero_eigenvalues", json_integer(pol_modes_zeros(modes)));
  cli_json_set(&object, "modes", list);
  return object;
}

/* --- the command
 * ----------------------------------------------------------------------------------- */

static int solve(cli_analysis *a)
{
  const cli_args *args = a->args;
  pol_modes *modes = NULL;
  pol_diagnostics failure = {.equation = -1};
  pol_modes_options options = pol_modes_options_default();
  int only = 0;
  int result = cli_analysis_count(a, "--count", args->count, &options.count);
  if (result == CLI_DONE) result = cli_analysis_count(a, "--mode", args->mode, &only);
  if (result == CLI_DONE && args->out != NULL) result = cli_rows_check(a, args->out);
  if (result == CLI_DONE && only > 0 && args->out == NULL)
    result = cli_refuse_one(a->command, args->json, "--mode", args->mode, "needs --out");
  memcpy(options.frame, a->frame, sizeof a->frame);
  if (result != CLI_DONE) return result;
  cli_catch_signals();
  if (pol_modes_create(&modes, a->analysis, &options, &failure) != POL_OK)
    return cli_analysis_fail(a, &failure);
  char text[480];
  if (only > pol_modes_count(modes)) {
    snprintf(text, sizeof text, "there %s %d mode%s", pol_modes_count(modes) == 1 ? "is" : "are",
             pol_modes_count(modes), cli_plural(pol_modes_count(modes)));
    result = cli_refuse_one(a->command, args->json, "--mode", args->mode, text);
  }
  if (result == CLI_DONE && cli_unsteady_text(pol_modes_unsteady(modes), text, sizeof text))
    cli_note("%s: warning: %s", a->command, text);
  if (result == CLI_DONE && args->out != NULL) result = write_modes(a, modes, only);
  if (result == CLI_DONE && args->json)
    result = cli_json_print(modes_json(a, modes)) == 0 ? CLI_DONE : CLI_FAILED;
  else if (result == CLI_DONE && !args->quiet)
    print_modes(a, modes);
  pol_modes_free(&modes);
  return result == CLI_DONE && cli_stop_signal() ? CLI_SIGNALLED + cli_stop_signal() : result;
}

static int run(const cli_args *args)
{
  cli_analysis a;
  if (args->sweep != NULL) return cli_modes_sweep(args);
  const char *const names[] = {"--plot", "--orders"}, *const values[] = {args->plot, args->orders};
  for (int i = 0; i < 2; i++)
    if (values[i] != NULL)
      return cli_refuse_one("polhode modes", args->json, names[i], values[i], "needs --sweep");
  int result = cli_analysis_open(&a, "polhode modes", args, 0);
  if (result == CLI_DONE) result = solve(&a);
  cli_analysis_close(&a);
  return result;
}

static const cli_option options[] = {
    CLI_ANALYSIS_OPTIONS,
    {"--count", "N",
     "only the N modes of lowest frequency, beside zeros (default: all; 20 of a large model)",
     CLI_TEXT, offsetof(cli_args, count), NULL},
    {"--out", "FILE.h5|FILE.csv",
     "write one period of each mode as a result: FILE_1.h5, FILE_2.h5, ...", CLI_TEXT,
     offsetof(cli_args, out), NULL},
    {"--mode", "N", "write only this mode, to the file of --out itself", CLI_TEXT,
     offsetof(cli_args, mode), NULL},
    {"--sweep", "KEY=FROM:TO:N",
     "modes at N values of a parameter, or of any key as of --set, followed as curves; --out "
     "writes them as CSV",
     CLI_TEXT, offsetof(cli_args, sweep), NULL},
    {"--plot", "FILE.svg|FILE.png|FILE.pdf", "plot the curves of --sweep: Campbell's diagram",
     CLI_TEXT, offsetof(cli_args, plot), NULL},
    {"--orders", "N|BODY:N",
     "plot lines of 1 to N times the speed of rotation of a body, or of the axes of --frame",
     CLI_TEXT, offsetof(cli_args, orders), NULL},
    CLI_JSON_OPTION,
};

const cli_command cli_modes = {
    .name = "modes",
    .summary = "eigenfrequencies, damping and mode shapes",
    .operand = "MODEL.json|RESULT",
    .text = "Linearises the equations of motion about the initial state of a model, its\n"
            "static equilibrium, a point of its run, or a row of a result, and prints the\n"
            "frequencies and damping ratios of its modes, gyroscopic terms included.\n\n"
            "polhode view shows the result of a mode as an animation.\n\n"
            "With --static and --frame the state is the equilibrium in rotating axes: that of\n"
            "a rotor with flexible blades. With --sweep there is a curve for each mode over a\n"
            "parameter, such as the speed, also where curves cross.",
    .examples =
        "  polhode modes models/examples/double_pendulum.json --static\n"
        "  polhode modes models/examples/suspension.json --static --count 4 --json\n"
        "  polhode modes models/examples/double_pendulum.json --static --out mode.h5\n"
        "  polhode modes models/examples/double_pendulum.json --static --mode 2 --out m2.h5\n"
        "  polhode modes models/beams/two_blade_rotor.json --static --frame hub --count 4\n"
        "  polhode modes models/beams/rotating_cantilever.json --static --frame hub --sweep "
        "speed=0:60:7 --plot campbell.svg",
    .options = options,
    .num_options = sizeof options / sizeof options[0],
    .run = run,
};
