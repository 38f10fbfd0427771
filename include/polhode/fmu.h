/* Models as FMUs for co-simulation (Functional Mock-up Interface 2.0 and 3.0); docs/fmi.md. */
#ifndef POLHODE_FMU_H
#define POLHODE_FMU_H

#include <polhode/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What an FMU contains beside its model.  Lists are separated by commas. */
typedef struct pol_fmu_options {
  int version;          /* of FMI: 2 or 3 */
  const char *binaries; /* folder of polhode_fmu.so and the libraries that go with it */
  int num_overrides;    /* as for pol_model_read_text */
  const char *const *overrides;
  /* Variables of the model that are inputs, components of applied forces and torques ("push.x") and
   * springs with an actuator, to whose forces the input is added.  NULL: all variables that are
   * inputs. */
  const char *inputs;
  /* Channels of a record, or what they start with up to a dot.  NULL: all. */
  const char *outputs;
} pol_fmu_options;

/* The number of variables of an FMU. */
typedef struct pol_fmu_counts {
  int inputs, parameters, outputs;
} pol_fmu_counts;

/* Writes the FMU of a model to a file.  The model is read again from its text, with the overrides,
 * and a simulation of it is created.  counts may be NULL; errors must be an empty list.
 * POL_BAD_ARGUMENT: errors has what is wrong with the model, its start, or the options, with the
 * path "inputs", "outputs" or "fmi"; POL_IO: the file at path could not be written, for a reason in
 * errno, or, with an error of the path "binaries", a file there not be read. */
pol_status pol_fmu_write(const pol_model *model, const pol_fmu_options *options, const char *path,
                         pol_fmu_counts *counts, pol_errors *errors);

#ifdef __cplusplus
}
#endif
#endif
