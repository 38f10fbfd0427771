/* polhode methods: the tables of integrators and of formulations. */
#include <jansson.h>
#include <stdio.h>

#include "cli/cli.h"
#include "cli/json_out.h"

static json_t *method_json(const pol_method *method)
{
  return json_pack("{s:s, s:s, s:s, s:s, s:s}",    //
                   "name", method->name,           //
                   "title", method->title,         //
                   "order", method->order,         //
                   "conserves", method->conserves, //
                   "source", method->source);
}

/* {"methods": [{...}], "formulations": ["so3xr3", ...]} */
static json_t *all_json(void)
{
  json_t *methods = json_array(), *formulations = json_array();
  int failed = 0;
  for (int i = 0; i < pol_method_count(); i++)
    failed |= json_array_append_new(methods, method_json(pol_method_at(i)));
  for (int i = 0; i < pol_formulation_count(); i++)
    failed |= json_array_append_new(formulations,
                                    json_string(pol_formulation_name((pol_formulation_kind)i)));
  json_t *object = json_pack("{s:o, s:o}", "methods", methods, "formulations", formulations);
  if (failed == 0) return object;
  json_decref(object);
  return NULL;
}

static void print_all(void)
{
  printf("methods\n");
  for (int i = 0; i < pol_method_count(); i++) {
    const pol_method *method = pol_method_at(i);
    printf("  %s\n", method->name);
    printf("    %-10s %s\n", "what", method->title);
    printf("    %-10s %s\n", "order", method->order);
    printf("    %-10s %s\n", "conserves", method->conserves);
    printf("    %-10s %s\n", "source", method->source);
  }
  printf("\nformulations\n");
  for (int i = 0; i < pol_formulation_count(); i++)
    printf("  %s\n", pol_formulation_name((pol_formulation_kind)i));
}

static int run(const cli_args *args)
{
  if (args->json) return cli_json_print(all_json()) == 0 ? CLI_DONE : CLI_FAILED;
  print_all();
  return CLI_DONE;
}

static const cli_option options[] = {
    {"--json", NULL, "print one JSON object instead of a table", CLI_FLAG, offsetof(cli_args, json),
     NULL},
};

const cli_command cli_methods = {
    .name = "methods",
    .summary = "list integrators and formulations",
    .operand = NULL,
    .text = "Lists the integrators: what each is, its order, what it conserves, where it comes\n"
            "from; and the formulations, that is, choices of coordinates.",
    .examples = "  polhode methods\n"
                "  polhode methods --json",
    .options = options,
    .num_options = sizeof options / sizeof options[0],
    .run = run,
};
