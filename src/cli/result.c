/* Opening the result that a command line names. */
#include "cli/cli.h"

#include <stdio.h>

int cli_refuse_result(const char *path, int json, const char *rule)
{
  return cli_refuse_one(path, json, json ? path : "", "", rule);
}

int cli_open_result(const char *path, int json, pol_result **result)
{
  char message[300];
  pol_status status = pol_result_open(result, path, message, sizeof message);
  if (status == POL_OK) return CLI_DONE;
  if (status == POL_BAD_ARGUMENT || status == POL_IO) return cli_refuse_result(path, json, message);
  fprintf(stderr, "polhode: %s\n", message);
  return CLI_FAILED;
}
