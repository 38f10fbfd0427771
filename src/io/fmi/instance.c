/* Instances of imported FMUs: the archive is unpacked to a private folder, its shared object loaded
 * from there, and an instance made.  Each instance has a copy of its own, so that two of them share
 * no data, whatever the shared object does. */
#define _XOPEN_SOURCE 700

#include <dlfcn.h>
#include <errno.h>
#include <ftw.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/errors.h"
#include "io/fmi/calls.h"

/* --- the unpacked folder ---------------------------------------------------------------------- */

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
  (void)info;
  (void)kind;
  (void)walk;
  remove(path);
  return 0;
}

/* What the shared object may need. */
static int is_wanted(const char *name, int version)
{
  const char *platform = poli_fmu_platform(version);
  const size_t length = strlen(platform);
  if (strncmp(name, "binaries/", 9) == 0)
    return strncmp(name + 9, platform, length) == 0 && name[9 + length] == '/';
  return strcmp(name, "modelDescription.xml") == 0 || strncmp(name, "resources/", 10) == 0 ||
         strncmp(name, "extra/", 6) == 0;
}

static pol_status unpack(poli_fmu_import *fmu, poli_fmu_archive *archive, poli_fmu_reason reason)
{
  const char *base = getenv("TMPDIR");
  char *folder = poli_format("%s/polhode-fmu-XXXXXX", base && base[0] == '/' ? base : "/tmp");
  pol_status status = folder ? POL_OK : POL_NO_MEMORY;
  if (!status && !mkdtemp(folder)) {
    snprintf(reason.message, reason.size, "FMU '%.60s' cannot be unpacked to '%.60s': %s",
             fmu->file, folder, strerror(errno));
    free(folder);
    return POL_IO;
  }
  fmu->folder = folder;
  for (int i = 0; i < archive->zip.count && !status; i++) {
    const poli_unzip_entry *entry = &archive->zip.entries[i];
    if (is_wanted(entry->name, fmu->version))
      status = poli_unzip_extract(&archive->zip, entry, folder);
  }
  if (status && status != POL_NO_MEMORY)
    snprintf(reason.message, reason.size, "FMU '%.60s' cannot be unpacked: %s", fmu->file,
             archive->zip.reason);
  return status;
}

/* --- FMUs that may exist once ----------------------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static poli_fmu_import *alone[64];

/* Enters an FMU into the list, or removes it; 0 if it is there, or no place is left. */
static int enter_alone(poli_fmu_import *fmu, int enters)
{
  int free_place = -1, found = 0;
  pthread_mutex_lock(&lock);
  for (int i = 0; i < 64; i++) {
    if (!alone[i]) free_place = i;
    if (alone[i] && enters && strcmp(alone[i]->token, fmu->token) == 0) found = 1;
    if (alone[i] == fmu && !enters) alone[i] = NULL;
  }
  const int can = enters && !found && free_place >= 0;
  if (can) alone[free_place] = fmu;
  pthread_mutex_unlock(&lock);
  return can || !enters;
}

/* --- loading ---------------------------------------------------------------------------------- */

/* Which functions the controller needs. */
static void mark_needed(const poli_fmu_archive *archive, const pol_fmu_controller *c,
                        unsigned char *needed)
{
  const poli_fmu_description *d = &archive->description;
  const int saves = d->get_state && d->serialize_state;
  const int *lists[3] = {archive->outputs, archive->inputs, archive->parameters};
  const int counts[3] = {c->num_outputs, c->num_inputs, c->num_parameters};
  for (int i = 0; i < POLI_CALL_TYPES; i++)
    needed[i] = i < POLI_CALL_BOOLEAN_STATUS || (i > POLI_CALL_BOOLEAN_STATUS && saves);
  for (int k = 0; k < 3; k++)
    for (int i = 0; i < counts[k]; i++)
      needed[POLI_CALL_TYPES + 2 * (int)d->variables[lists[k][i]].type + (k > 0)] = 1;
}

static pol_status load_object(poli_fmu_import *fmu, const poli_fmu_archive *archive,
                              const pol_fmu_controller *controller, poli_fmu_reason reason)
{
  unsigned char needed[POLI_NUM_CALLS] = {0};
  char name[64], *path = poli_format("%s/%s", fmu->folder, archive->object->name);
  if (!path) return POL_NO_MEMORY;
  fmu->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!fmu->library) {
    const char *why = dlerror();
    const size_t length = strlen(path);
    /* without the folder, which has a random name */
    if (why && strncmp(why, path, length) == 0) why += length + (why[length] == ':');
    snprintf(reason.message, reason.size, "FMU '%.60s' cannot be loaded: %s:%s", fmu->file,
             archive->object->name, why ? why : "");
  }
  free(path);
  if (!fmu->library) return POL_BAD_ARGUMENT;
  mark_needed(archive, controller, needed);
  for (int i = 0; i < POLI_NUM_CALLS; i++) {
    poli_fmu_function_name(fmu->version, i, name);
    if (!name[0] || !(needed[i] || i == POLI_CALL_BOOLEAN_STATUS)) continue;
    void *found = dlsym(fmu->library, name);
    memcpy(&fmu->functions[i], &found, sizeof found);
    if (found || !needed[i]) continue;
    snprintf(reason.message, reason.size, "FMU '%.100s' has no function %s", fmu->file, name);
    return POL_BAD_ARGUMENT;
  }
  return POL_OK;
}

static pol_status instantiate(poli_fmu_import *fmu, poli_fmu_reason reason)
{
  char *resources = poli_format("%s/resources", fmu->folder);
  if (!resources) return POL_NO_MEMORY;
  mkdir(resources, 0700); /* it may be there */
  const pol_status status = poli_fmu_instantiate(fmu, resources);
  free(resources);
  if (status != POL_BAD_ARGUMENT) return status;
  snprintf(reason.message, reason.size,
           "FMU '%.60s' refuses to be instantiated with its %s %.60s%s%s", fmu->file,
           fmu->version == 2 ? "guid" : "instantiationToken", fmu->token, fmu->log[0] ? ": " : "",
           fmu->log);
  return POL_BAD_ARGUMENT;
}

pol_status poli_fmu_load(poli_fmu_import **fmu, poli_fmu_archive *archive,
                         const pol_fmu_controller *controller, poli_fmu_reason reason)
{
  poli_fmu_import *f = *fmu = calloc(1, sizeof *f);
  if (!f) return POL_NO_MEMORY;
  f->version = archive->description.version;
  f->file = poli_format("%s", controller->file);
  f->name = poli_format("%s", controller->name);
  f->token = poli_format("%s", archive->description.token);
  pol_status status = f->file && f->name && f->token ? POL_OK : POL_NO_MEMORY;
  if (!status && archive->description.once) {
    f->once = enter_alone(f, 1);
    if (!f->once) {
      snprintf(reason.message, reason.size,
               "FMU '%.60s' can be instantiated only once per process "
               "(canBeInstantiatedOnlyOncePerProcess), and another simulation uses it",
               f->file);
      status = POL_BAD_ARGUMENT;
    }
  }
  if (!status) status = unpack(f, archive, reason);
  if (!status) status = load_object(f, archive, controller, reason);
  if (!status) status = instantiate(f, reason);
  if (status) poli_fmu_unload(fmu);
  return status;
}

void poli_fmu_unload(poli_fmu_import **fmu)
{
  poli_fmu_import *f = *fmu;
  if (!f) return;
  poli_fmu_finish(f);
  if (f->library) dlclose(f->library);
  if (f->folder) nftw(f->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
  if (f->once) enter_alone(f, 0);
  free(f->folder);
  free(f->file);
  free(f->name);
  free(f->token);
  free(f);
  *fmu = NULL;
}
