/* The FMU of a controller: its archive is opened, its description read, and the variables that the
 * model binds are looked up.  Nothing of it is unpacked or executed. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/errors.h"
#include "io/fmi/import.h"

const char *poli_fmu_platform(int version)
{
#if defined(__aarch64__)
  (void)version;
  return "aarch64-linux";
#else
  return version == 2 ? "linux64" : "x86_64-linux";
#endif
}

/* Where errors go. */
typedef struct reporter {
  const pol_fmu_controller *controller;
  int index;
  pol_errors *errors;
} reporter;

/* Reports an error at a key of the controller, or at a name inside it (NULL: none); takes over and
 * frees the rule. */
static pol_status report(const reporter *r, const char *key, const char *name, const char *value,
                         char *rule, const char *suggestion)
{
  char *path =
      poli_format("controllers[%d].%s%s%s", r->index, key, name ? "." : "", name ? name : "");
  char *element = poli_format("controller '%s'", r->controller->name);
  pol_status status = path && element && rule
                          ? pol_errors_add(r->errors, path, value, rule, suggestion)
                          : POL_NO_MEMORY;
  if (!status) {
    pol_error *error = &r->errors->items[r->errors->count - 1];
    free(error->element);
    error->element = element;
    element = NULL;
  }
  free(path);
  free(rule);
  free(element);
  return status ? status : POL_BAD_ARGUMENT;
}

/* Reports why the file cannot be used. */
static pol_status report_file(const reporter *r, const char *reason)
{
  const char *file = r->controller->file;
  return report(
      r, "fmu", NULL, "",
      poli_format("must be a usable FMU for co-simulation, which '%s' is not: %s", file, reason),
      "");
}

/* Finds the shared object, or reports which there are. */
static pol_status find_object(poli_fmu_archive *fmu, const reporter *r)
{
  const poli_fmu_description *d = &fmu->description;
  const char *platform = poli_fmu_platform(d->version), *others = "";
  char *name = poli_format("binaries/%s/%s.so", platform, d->identifier), *list = NULL;
  int has_sources = 0;
  if (!name) return POL_NO_MEMORY;
  fmu->object = poli_unzip_find(&fmu->zip, name);
  pol_status status = POL_OK;
  for (int i = 0; i < fmu->zip.count && !fmu->object && !status; i++) {
    const char *entry = fmu->zip.entries[i].name, *before = list ? list : "";
    has_sources |= strncmp(entry, "sources/", 8) == 0;
    const size_t length = strncmp(entry, "binaries/", 9) == 0 ? strcspn(entry + 9, "/") : 0;
    if (length == 0 || (others[0] && strncmp(others, entry, 10 + length) == 0)) continue;
    others = entry; /* entries are sorted: those of a folder follow each other */
    char *longer = poli_format("%s%s%.*s", before, list ? ", " : "", (int)length, entry + 9);
    free(list);
    list = longer;
    if (!list) status = POL_NO_MEMORY;
  }
  if (!status && !fmu->object)
    status = report(r, "fmu", NULL, "",
                    list          ? poli_format("must have the shared object %s for this machine, "
                                                         "but has binaries for %s",
                                                name, list)
                    : has_sources ? poli_format("must have the shared object %s, but has source "
                                                "code only: compile it first",
                                                name)
                                  : poli_format("must have the shared object %s", name),
                    "");
  free(name);
  free(list);
  return status;
}

/* --- variables -------------------------------------------------------------------------------- */

/* Which variables a key binds. */
typedef struct binding_role {
  const char *key, *causality; /* causality NULL: those with a start value that may be set */
  const char *rule;
} binding_role;

/* Looks up the variables of one key; errors are reported. */
static pol_status bind(const poli_fmu_description *d, const reporter *r, const binding_role *role,
                       const pol_binding *bindings, int count, int **indices)
{
  pol_status status = POL_OK;
  *indices = calloc((size_t)count + 1, sizeof **indices);
  if (!*indices) return POL_NO_MEMORY;
  for (int i = 0; i < count && status != POL_NO_MEMORY; i++) {
    const char *name = bindings[i].name;
    const int found = poli_fmu_find(d, name);
    const poli_fmu_variable *v = found >= 0 ? &d->variables[found] : NULL;
    const int fits = v && (role->causality ? strcmp(v->causality, role->causality) == 0
                                           : v->can_start && v->type != POLI_FMU_NO_NUMBER);
    pol_near near = pol_near_start(name);
    for (int k = 0; k < d->count && !v; k++) {
      const poli_fmu_variable *other = &d->variables[k];
      if (role->causality ? strcmp(other->causality, role->causality) == 0 : other->can_start)
        pol_near_try(&near, other->name);
    }
    (*indices)[i] = found;
    char *rule = NULL;
    if (!v)
      rule = poli_format("must be %s of the FMU, which has no such variable", role->rule);
    else if (!fits)
      rule = poli_format("must be %s of the FMU, but is a variable of type %s and causality %s",
                         role->rule, v->type_name, v->causality);
    else if (v->type == POLI_FMU_NO_NUMBER || v->is_array)
      rule = poli_format("must be a number of the FMU, but is %s of type %s",
                         v->is_array ? "an array" : "a variable", v->type_name);
    else
      continue;
    status = report(r, role->key, name, "", rule, near.best);
  }
  return status;
}

static pol_status bind_all(poli_fmu_archive *fmu, const reporter *r)
{
  static const binding_role roles[3] = {
      {"inputs", "input", "an input"},
      {"outputs", "output", "an output"},
      {"parameters", NULL, "a parameter, or a start value that can be set,"}};
  const pol_fmu_controller *c = r->controller;
  const pol_binding *bindings[3] = {c->inputs, c->outputs, c->parameters};
  const int counts[3] = {c->num_inputs, c->num_outputs, c->num_parameters};
  int **indices[3] = {&fmu->inputs, &fmu->outputs, &fmu->parameters};
  pol_status all = POL_OK;
  for (int k = 0; k < 3 && all != POL_NO_MEMORY; k++) {
    const pol_status status =
        bind(&fmu->description, r, &roles[k], bindings[k], counts[k], indices[k]);
    if (status) all = status;
  }
  for (int i = 0; i < c->num_parameters && !all; i++)
    for (int k = 0; k < c->num_inputs && !all; k++)
      if (fmu->parameters[i] == fmu->inputs[k])
        all = report(r, "parameters", c->parameters[i].name, "",
                     poli_format("must not be given beside the input of the same name"), "");
  return all;
}

pol_status poli_fmu_open(poli_fmu_archive *fmu, const pol_fmu_controller *controller, int index,
                         pol_errors *errors)
{
  const reporter r = {controller, index, errors};
  poli_fmu_description *d = &fmu->description;
  if (!controller->path)
    return report(&r, "fmu", NULL, controller->file,
                  poli_format("must be an absolute path: the model was not read from a file"), "");
  pol_status status = poli_unzip_open(&fmu->zip, controller->path);
  const poli_unzip_entry *entry = poli_unzip_find(&fmu->zip, "modelDescription.xml");
  const size_t largest = (size_t)1 << 28;
  char *text = NULL;
  if (!status && (!entry || entry->size > largest))
    return report_file(&r, entry ? "the description has more than 256 MB"
                                 : "the archive has no modelDescription.xml");
  if (!status) status = poli_unzip_read(&fmu->zip, entry, &text);
  if (status && status != POL_NO_MEMORY) return report_file(&r, fmu->zip.reason);
  if (!status) status = poli_fmu_read_description(d, text, entry->size);
  free(text);
  if (status == POL_BAD_ARGUMENT) return report_file(&r, d->reason);
  if (status) return status;
  if (d->needs_tool) return report_file(&r, "another tool is needed (needsExecutionTool)");
  status = find_object(fmu, &r);
  const pol_status bound = status == POL_NO_MEMORY ? status : bind_all(fmu, &r);
  return bound ? bound : status;
}

void poli_fmu_close(poli_fmu_archive *fmu)
{
  free(fmu->inputs);
  free(fmu->outputs);
  free(fmu->parameters);
  poli_fmu_description_free(&fmu->description);
  poli_unzip_close(&fmu->zip);
  *fmu = (poli_fmu_archive){.object = NULL};
}
