/* polhode methods: the tables of integrators, of formulations, and of what can be chosen with them.
 */
#include <jansson.h>
#include <stdio.h>

#include "cli/cli.h"
#include "cli/json_out.h"
#include "cli/terminal.h"

/* A value of a setting and what it means. */
typedef struct choice {
  const char *value;
  const char *meaning;
} choice;

static const choice indices[] = {
    {"3", "constraints on positions"},
    {"2", "constraints on velocities; positions drift slowly"},
    {"stabilized-2", "both, with a second multiplier (Gear/Gupta/Leimkuhler)"},
};
static const choice sigmas[] = {
    {"0", "geom1 itself"},
    {"NUMBER", "weight of the velocity in the position update of geom1"},
    {"optimal",
     "gamma / (3 beta): no bracket term in the local error (Holzinger/Arnold/Gerstmayr)"},
};
static const choice thetas[] = {
    {"NUMBER", "vi-b, 0 to 1: where in the step forces are evaluated, 1 by default; vi-a: 1/2"},
};
static const choice varthetas[] = {
    {"NUMBER", "vi-b, 0 to below 1: weight of the reaction at the end, 1/2 by default"},
};
static const choice guesses[] = {
    {"advanced", "Newton's iteration starts from q + h v"},
    {"simple", "it starts from q"},
};
static const choice starts[] = {
    {"default", "the one with second order in every component"},
    {"classical", "a_0 = v'(0)"},
    {"shifted", "a_0 shifted in time (Arnold/Cardona/Bruels 2015, Table 1)"},
    {"perturbed", "and v_0 perturbed by O(h^2) (Table 2)"},
};

/* A setting with the values it can have. */
static const struct {
  const char *key;
  const choice *choices;
  int count;
} settings[] = {
    {"index", indices, sizeof indices / sizeof indices[0]},
    {"sigma", sigmas, sizeof sigmas / sizeof sigmas[0]},
    {"theta", thetas, sizeof thetas / sizeof thetas[0]},
    {"vartheta", varthetas, sizeof varthetas / sizeof varthetas[0]},
    {"guess", guesses, sizeof guesses / sizeof guesses[0]},
    {"start", starts, sizeof starts / sizeof starts[0]},
};
enum { NUM_SETTINGS = sizeof settings / sizeof settings[0] };

/* --- JSON ------------------------------------------------------------------------------------- */

static json_t *method_json(const pol_method *method)
{
  return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", //
                   "name", method->name,             //
                   "title", method->title,           //
                   "order", method->order,           //
                   "conserves", method->conserves,   //
                   "source", method->source,         //
                   "settings", method->settings);
}

static json_t *named_json(const char *name, const char *title)
{
  return json_pack("{s:s, s:s}", "name", name, "title", title);
}

/* {"methods": [{...}], "formulations": [{"name", "title"}, ...], "index": [...], ...} */
static json_t *all_json(void)
{
  json_t *methods = json_array(), *formulations = json_array();
  int failed = 0;
  for (int i = 0; i < pol_method_count(); i++)
    failed |= json_array_append_new(methods, method_json(pol_method_at(i)));
  for (int i = 0; i < pol_formulation_count(); i++) {
    pol_formulation_kind kind = (pol_formulation_kind)i;
    failed |= json_array_append_new(
        formulations, named_json(pol_formulation_name(kind), pol_formulation_title(kind)));
  }
  json_t *object = json_pack("{s:o, s:o}", "methods", methods, "formulations", formulations);
  for (int i = 0; i < NUM_SETTINGS; i++) {
    json_t *list = json_array();
    for (int k = 0; k < settings[i].count; k++)
      failed |= json_array_append_new(
          list, named_json(settings[i].choices[k].value, settings[i].choices[k].meaning));
    failed |= json_object_set_new(object, settings[i].key, list);
  }
  if (failed == 0) return object;
  json_decref(object);
  return NULL;
}

/* --- table ------------------------------------------------------------------------------------ */

static void print_method(const pol_method *method)
{
  const struct {
    const char *label, *text;
  } rows[] = {
      {"what", method->title},    {"order", method->order},       {"conserves", method->conserves},
      {"source", method->source}, {"settings", method->settings},
  };
  printf("  ");
  cli_print_heading(stdout, method->name);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    cli_print_entry(stdout, 4, CLI_PLAIN, rows[i].label, 15, rows[i].text);
}

static void print_all(void)
{
  enum { COLUMN = 20 };
  cli_print_heading(stdout, "methods");
  for (int i = 0; i < pol_method_count(); i++) print_method(pol_method_at(i));
  printf("\n");
  cli_print_heading(stdout, "formulations");
  for (int i = 0; i < pol_formulation_count(); i++) {
    pol_formulation_kind kind = (pol_formulation_kind)i;
    cli_print_entry(stdout, 2, CLI_BOLD, pol_formulation_name(kind), COLUMN,
                    pol_formulation_title(kind));
  }
  for (int i = 0; i < NUM_SETTINGS; i++) {
    printf("\n");
    cli_print_heading(stdout, settings[i].key);
    for (int k = 0; k < settings[i].count; k++)
      cli_print_entry(stdout, 2, CLI_BOLD, settings[i].choices[k].value, COLUMN,
                      settings[i].choices[k].meaning);
  }
}

static int run(const cli_args *args)
{
  if (args->json) return cli_json_print(all_json()) == 0 ? CLI_DONE : CLI_FAILED;
  if (!args->quiet) print_all();
  return CLI_DONE;
}

static const cli_option options[] = {
    {"--json", NULL, "print one JSON object instead of a table", CLI_FLAG, offsetof(cli_args, json),
     NULL},
};

const cli_command cli_methods = {
    .name = "methods",
    .summary = "list integrators, formulations and their settings",
    .operand = NULL,
    .text = "Lists the integrators: what each is, its order, what it conserves, where it\n"
            "comes from; the formulations, that is, choices of coordinates; and what settings\n"
            "of a model file such as \"index\", \"sigma\" and \"start\" can be.",
    .examples = "  polhode methods\n"
                "  polhode methods --json",
    .options = options,
    .num_options = sizeof options / sizeof options[0],
    .run = run,
};
