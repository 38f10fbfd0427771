/* FMUs for co-simulation that are imported: archives with their variables bound, and instances. */
#ifndef POLHODE_IO_FMI_IMPORT_H
#define POLHODE_IO_FMI_IMPORT_H

#include <polhode/model.h>

#include "io/fmi/description.h"
#include "io/fmi/unzip.h"

/* --- archives (archive.c) --------------------------------------------------------------------- */

/* The FMU of a controller; nothing of it has been executed.  Initialise it with zeros. */
typedef struct poli_fmu_archive {
  poli_unzip zip;
  poli_fmu_description description;
  const poli_unzip_entry *object; /* the shared object for this machine */
  /* what the controller binds, in its order: indices of description.variables */
  int *inputs, *outputs, *parameters;
} poli_fmu_archive;

/* The folder of shared objects for this machine, by the version of FMI. */
const char *poli_fmu_platform(int version);

/* Opens the FMU of the controller with this index in its model.  POL_BAD_ARGUMENT: errors has what
 * is wrong, with paths of the model file. */
pol_status poli_fmu_open(poli_fmu_archive *fmu, const pol_fmu_controller *controller, int index,
                         pol_errors *errors);
void poli_fmu_close(poli_fmu_archive *fmu);

/* --- instances (instance.c) ------------------------------------------------------------------- */

/* An instance, with its own unpacked archive and shared object.  Calls that fail leave the reason
 * in `message`, a phrase of at most `size` bytes; status POL_CALLBACK unless it is said here. */
typedef struct poli_fmu_import poli_fmu_import;

/* What the reasons of failures go to. */
typedef struct poli_fmu_reason {
  char *message;
  size_t size;
} poli_fmu_reason;

/* Unpacks the archive to a private folder, loads the shared object, and instantiates it.
 * POL_BAD_ARGUMENT: it cannot be loaded, lacks a function, or does not let itself be instantiated;
 * POL_IO: it cannot be unpacked. */
pol_status poli_fmu_load(poli_fmu_import **fmu, poli_fmu_archive *archive,
                         const pol_fmu_controller *controller, poli_fmu_reason reason);
/* Ends the instance and removes its folder. */
void poli_fmu_unload(poli_fmu_import **fmu);

/* Begins and ends the initialization, at t = 0. */
pol_status poli_fmu_begin(poli_fmu_import *fmu, poli_fmu_reason reason);
pol_status poli_fmu_end_start(poli_fmu_import *fmu, poli_fmu_reason reason);
pol_status poli_fmu_step(poli_fmu_import *fmu, double t, double h, poli_fmu_reason reason);

/* A variable of an instance. */
typedef struct poli_fmu_value {
  char *name;
  unsigned int reference;
  poli_fmu_type type;
} poli_fmu_value;

/* POL_NOT_FINITE is not checked; numbers that the type does not have are refused. */
pol_status poli_fmu_set(poli_fmu_import *fmu, const poli_fmu_value *to, double value,
                        poli_fmu_reason reason);
pol_status poli_fmu_get(poli_fmu_import *fmu, const poli_fmu_value *from, double *value,
                        poli_fmu_reason reason);

/* The state as bytes, as pol_sampled_controller.save and load. */
pol_status poli_fmu_save(poli_fmu_import *fmu, void *bytes, size_t *size);
pol_status poli_fmu_restore(poli_fmu_import *fmu, const void *bytes, size_t size);

#endif
