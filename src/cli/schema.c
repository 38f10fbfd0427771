/* polhode schema: the JSON Schema of model files, or the tables of their keys. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"

static int run(const cli_args *args)
{
  char *text = NULL;
  const pol_status status = args->keys ? pol_model_reference(&text) : pol_model_schema(&text);
  if (status) fprintf(stderr, "polhode schema: out of memory\n");
  if (text && !args->quiet) printf("%s", text);
  free(text);
  return status ? CLI_FAILED : CLI_DONE;
}

static const cli_option options[] = {
    {"--keys", NULL, "print tables of all keys in Markdown instead", CLI_FLAG,
     offsetof(cli_args, keys), NULL},
};

const cli_command cli_schema = {
    .name = "schema",
    .summary = "print the JSON Schema of model files, for editors",
    .operand = NULL,
    .text = "Prints the JSON Schema of model files: all keys with their types, units and\n"
            "defaults. An editor that knows it completes keys, shows what they mean and\n"
            "underlines mistakes. Save it next to a model that starts with\n"
            "\"$schema\": \"polhode-model.schema.json\".",
    .examples = "  polhode schema > polhode-model.schema.json\n"
                "  polhode schema --keys",
    .options = options,
    .num_options = sizeof options / sizeof options[0],
    .run = run,
};
