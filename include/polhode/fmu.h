/* Models as FMUs for co-simulation (Functional Mock-up Interface 2.0 and 3.0), and FMUs as
 * controllers of models; docs/fmi.md. */
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

/* Opens the FMUs of the controllers of a model, reads their descriptions, and looks up the
 * variables that the model binds.  Nothing of them is unpacked or executed.  POL_BAD_ARGUMENT:
 * errors has what is wrong, with paths of the model file, behind what is there already. */
pol_status pol_model_check_controllers(const pol_model *model, pol_errors *errors);

/* As pol_simulation_create, for the mechanism of the model, with the controllers of the model: each
 * has an instance of its own of its FMU, unpacked to a private temporary folder, whose code is
 * loaded into this process and executed.  pol_simulation_free ends the instances and removes the
 * folders. settings are those of the model, perhaps with changes.  POL_BAD_ARGUMENT: also if an FMU
 * cannot be used; POL_CALLBACK: it fails at the start. */
pol_status pol_model_create_simulation(pol_simulation **simulation, const pol_model *model,
                                       const pol_settings *settings, pol_diagnostics *diagnostics);

#ifdef __cplusplus
}
#endif
#endif
