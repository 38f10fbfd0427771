/* Reading the model that a command line names, and reporting what is wrong with an input. */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/json_out.h"
#include "cli/terminal.h"
#include "cli/text_out.h"

static int out_of_memory(void)
{
  cli_complain("polhode", "%s", pol_status_text(POL_NO_MEMORY));
  return CLI_FAILED;
}

int cli_refuse(const char *source, int json, pol_errors *errors)
{
  if (json)
    cli_json_print(cli_json_errors("invalid", errors));
  else
    cli_print_errors(source, errors);
  pol_errors_clear(errors);
  return CLI_INVALID;
}

int cli_refuse_one(const char *source, int json, const char *path, const char *value,
                   const char *rule)
{
  pol_errors errors = {0};
  if (pol_errors_add(&errors, path, value, rule, "") != POL_OK) {
    pol_errors_clear(&errors);
    return out_of_memory();
  }
  return cli_refuse(source, json, &errors);
}

int cli_cannot_write(const char *source, int json, const char *option, const char *path, int reason)
{
  pol_errors errors = {0};
  const int is_full = reason == ENOSPC || reason == EDQUOT || reason == EFBIG || reason == EIO;
  const char *why = reason == ETXTBSY ? "another run is writing this file"
                    : reason != 0     ? strerror(reason)
                                      : "cannot be written";
  char *rule = cli_format("%s%s", why, is_full ? "; nothing was written" : "");
  pol_status status = POL_NO_MEMORY;
  if (rule != NULL) status = pol_errors_add(&errors, option, path, rule, "");
  free(rule);
  if (status != POL_OK) {
    pol_errors_clear(&errors);
    return out_of_memory();
  }
  if (!is_full) return cli_refuse(source, json, &errors);
  if (json)
    cli_json_print(cli_json_errors("failed", &errors));
  else
    cli_print_errors(source, &errors);
  pol_errors_clear(&errors);
  return CLI_FAILED;
}

int cli_start_status(pol_status status)
{
  switch (status) {
  case POL_OK:
    return CLI_DONE;
  case POL_BAD_ARGUMENT:
  case POL_INCONSISTENT: /* joints that contradict each other */
  case POL_NOT_FINITE:   /* values of absurd size, functions without a value */
  case POL_SINGULAR:     /* what the equations leave open */
  case POL_RETRY:        /* forces that are not defined there */
    return CLI_INVALID;
  default:
    return CLI_FAILED;
  }
}

int cli_read_model(const cli_args *args, pol_model **model)
{
  pol_errors errors = {0};
  pol_status status = pol_model_read_file(model, args->operand, args->num_overrides,
                                          (const char *const *)args->overrides, &errors);
  if (status == POL_OK) return CLI_DONE;
  if (status == POL_BAD_ARGUMENT || status == POL_IO)
    return cli_refuse(args->operand, args->json, &errors);
  pol_errors_clear(&errors);
  return out_of_memory();
}
