/* A result as a trajectory: all of its channels in memory, for pol_study. */
#include <stdio.h>
#include <stdlib.h>

#include "io/result/result.h"

static pol_status fill(pol_trajectory *trajectory, pol_result *result, int time)
{
  pol_status status = pol_result_series(result, time, pol_trajectory_times(trajectory));
  for (int i = 0, k = 0; status == POL_OK && i < pol_result_count(result); i++)
    if (i != time) status = pol_result_series(result, i, pol_trajectory_series(trajectory, k++));
  return status;
}

pol_status pol_result_trajectory(pol_result *result, pol_trajectory **trajectory, char *message,
                                 size_t size)
{
  const int time = pol_result_find_channel(result, "t"), count = pol_result_count(result);
  *trajectory = NULL;
  if (time < 0 || pol_result_rows(result) < 1) {
    if (message != NULL) snprintf(message, size, time < 0 ? "it has no time t" : "it has no rows");
    return POL_BAD_ARGUMENT;
  }
  const char **names = malloc((size_t)count * sizeof *names);
  pol_status status = names != NULL ? POL_OK : POL_NO_MEMORY;
  int n = 0;
  for (int i = 0; status == POL_OK && i < count; i++)
    if (i != time) names[n++] = pol_result_channel(result, i)->name;
  if (status == POL_OK)
    status = pol_trajectory_create(trajectory, pol_result_rows(result), n, names);
  free(names);
  if (status == POL_OK) status = fill(*trajectory, result, time);
  if (status == POL_OK) return POL_OK;
  if (message != NULL)
    snprintf(message, size, "%s", status == POL_IO ? POLI_RESULT_DAMAGED : pol_status_text(status));
  pol_trajectory_free(trajectory);
  return status;
}
