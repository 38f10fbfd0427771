/* What every room shares: the words for a status, the version of the library, broken rules. */
#include <stdio.h>

#include <polhode/status.h>

#include "base/rule.h"

const char *pol_status_text(pol_status status)
{
  switch (status) {
  case POL_OK:
    return "success";
  case POL_NOT_CONVERGED:
    return "the Newton iteration did not converge";
  case POL_SINGULAR:
    return "the matrix is singular";
  case POL_NOT_FINITE:
    return "a quantity became infinite or not a number";
  case POL_INCONSISTENT:
    return "no values satisfy the constraints";
  case POL_RETRY:
    return "the model requested a smaller step";
  case POL_SMALL_STEP:
    return "the tolerances require a step that is too small";
  case POL_ACCUMULATING:
    return "the resets of an event accumulate";
  case POL_NO_MEMORY:
    return "out of memory";
  case POL_BAD_ARGUMENT:
    return "invalid argument";
  case POL_CALLBACK:
    return "a model callback failed";
  case POL_IO:
    return "a file could not be read or written";
  case POL_CANCELLED:
    return "stopped by the caller";
  }
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
