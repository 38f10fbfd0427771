/* Loads the drivers of other programs, each with its libraries for itself. */
#define _DEFAULT_SOURCE
#include "peers.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

const char *const peer_drivers[PEER_DRIVERS] = {"sundials", "simbody",      "mujoco", "ode",
                                                "bullet",   "bullet_float", "dart"};

const peer_method *peer_load(const char *name, int *count)
{
  char path[4096];
  const peer_method *(*methods)(int *);
  snprintf(path, sizeof path, "%s/peer_%s.so", POLHODE_PEER_FOLDER, name);
  void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  void *symbol = module ? dlsym(module, "peer_methods") : NULL;
  *count = 0;
  if (!symbol) return NULL;
  memcpy(&methods, &symbol, sizeof methods); /* ISO C has no cast for it */
  return methods(count);
}
