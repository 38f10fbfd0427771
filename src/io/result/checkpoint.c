/* The state of a simulation in a file (pol_simulation_save), which is replaced as a whole. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <polhode/output.h>
#include <polhode/result.h>

#include "base/errors.h"
#include "io/file/file.h"
#include "io/result/result.h"

/* Writes the bytes under a new name, which then replaces the old file. */
static pol_status replace_file(const char *path, const void *bytes, size_t size)
{
  struct stat info;
  char *target = poli_output_target(path);
  char *name = target ? poli_format("%s" POLI_OUTPUT_NEW, target) : NULL;
  pol_status status = name ? POL_OK : POL_NO_MEMORY;
  if (!status && stat(target, &info) == 0 && !S_ISREG(info.st_mode)) {
    errno = S_ISDIR(info.st_mode) ? EISDIR : EINVAL; /* a device cannot be replaced */
    status = POL_IO;
  }
  FILE *file = status ? NULL : fopen(name, "wb");
  if (!status && !file) status = POL_IO;
  if (file) {
    if (fwrite(bytes, 1, size, file) != size || fflush(file) != 0 || fsync(fileno(file)) != 0)
      status = POL_IO;
    status = pol_output_close(file, name, status);
  }
  if (!status && rename(name, target) != 0) {
    const int reason = errno;
    remove(name);
    errno = reason;
    status = POL_IO;
  }
  const int reason = errno;
  free(name);
  free(target);
  errno = reason;
  return status;
}

pol_status pol_checkpoint_write(const char *path, pol_simulation *simulation)
{
  size_t size = 0;
  pol_status status = pol_simulation_save(simulation, NULL, &size);
  if (status) return status;
  void *bytes = malloc(size);
  status = bytes ? pol_simulation_save(simulation, bytes, &size) : POL_NO_MEMORY;
  if (!status) status = replace_file(path, bytes, size);
  const int reason = errno;
  free(bytes);
  errno = reason;
  return status;
}

/* The bytes of the last state of a result at this time or before, to be freed. */
static pol_status read_result(const char *path, double at, char **bytes, size_t *size,
                              char *message, size_t message_size)
{
  const double round_off = 1e-12;
  pol_result *result;
  pol_status status = pol_result_open(&result, path, message, message_size);
  if (status) return status;
  long index = pol_result_num_states(result) - 1;
  while (index >= 0 && pol_result_state_time(result, index) > at * (1.0 + round_off)) index--;
  if (pol_result_num_states(result) == 0) {
    snprintf(message, message_size,
             "the result has no saved states: run the model again with --checkpoint-at TIMES, or "
             "with --checkpoint FILE");
    status = POL_BAD_ARGUMENT;
  } else if (index < 0) {
    snprintf(message, message_size,
             "the first saved state of the result is that of t = %.10g s: run the model from its "
             "start, or with --checkpoint-at TIMES",
             pol_result_state_time(result, 0));
    status = POL_BAD_ARGUMENT;
  }
  if (!status) status = pol_result_read_state(result, index, NULL, size);
  *bytes = NULL;
  if (!status) *bytes = malloc(*size);
  if (!status && !*bytes) status = POL_NO_MEMORY;
  if (!status) status = pol_result_read_state(result, index, *bytes, size);
  if (status == POL_IO) snprintf(message, message_size, "%s", POL_RESULT_DAMAGED);
  pol_result_close(&result);
  if (status) free(*bytes);
  return status;
}

pol_status pol_checkpoint_read(const char *path, double at, pol_simulation *simulation,
                               char *message, size_t message_size)
{
  char *bytes, unwanted[1];
  size_t size;
  if (message_size == 0) message = unwanted;
  if (message_size == 0) message_size = sizeof unwanted;
  const int is_result = poli_result_is_hdf5(path);
  pol_status status = is_result ? read_result(path, at, &bytes, &size, message, message_size)
                                : poli_read_file(path, &bytes, &size);
  if (status == POL_IO && !is_result) snprintf(message, message_size, "%s", strerror(errno));
  if (status) return status;
  status = pol_simulation_load(simulation, bytes, size, message, message_size);
  free(bytes);
  return status;
}
