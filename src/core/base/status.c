/* What every room shares: the words for a status, the version of the library, broken rules. */
#include <stdio.h>

#include <polhode/status.h>

#include "base/rule.h"

const char *pol_status_text(pol_status status)
{
  static const struct {
    pol_status status;
    const char *text;
  } texts[] = {{POL_OK, "success"},
               {POL_NOT_CONVERGED, "the Newton iteration did not converge"},
               {POL_SINGULAR, "the matrix is singular"},
               {POL_NOT_FINITE, "a quantity became infinite or not a number"},
               {POL_INCONSISTENT, "no values satisfy the constraints"},
               {POL_RETRY, "the model requested a smaller step"},
               {POL_SMALL_STEP, "the tolerances require a step that is too small"},
               {POL_ACCUMULATING, "the resets of an event accumulate"},
               {POL_NO_MEMORY, "out of memory"},
               {POL_BAD_ARGUMENT, "invalid argument"},
               {POL_CALLBACK, "a model callback failed"},
               {POL_IO, "a file could not be read or written"},
               {POL_CANCELLED, "stopped by the caller"}};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
    if (texts[i].status == status) return texts[i].text;
  return "unknown status";
}

const char *pol_version(void)
{
  return POLHODE_VERSION;
}

pol_status poli_broken_rule(const char *rule, char *message, size_t size)
{
  if (message && size) snprintf(message, size, "%s", rule);
  return POL_BAD_ARGUMENT;
}
