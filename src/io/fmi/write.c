/* An FMU: which variables it has, and its archive. */
#define _POSIX_C_SOURCE 200809L

#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/fmu.h>
#include <polhode/output.h>

#include "base/errors.h"
#include "io/file/file.h"
#include "io/fmi/describe.h"
#include "io/fmi/import.h"
#include "io/fmi/zip.h"

/* An FMU under way; subject has pointers to the rest. */
typedef struct fmu {
  const pol_fmu_options *options;
  pol_errors *errors;
  poli_fmu_plan plan;
  pol_model *model;
  pol_simulation *simulation;
  pol_record *record;
  int *variables, *channels;
} fmu;

/* --- variables -------------------------------------------------------------------------------- */

/* Adds the words of a list with commas. */
static pol_status split(const char *list, poli_fmu_names *names)
{
  pol_status status = POL_OK;
  while (*list != '\0' && status == POL_OK) {
    const size_t length = strcspn(list, ",");
    char *word = poli_format("%.*s", (int)length, list);
    if (word == NULL) return POL_NO_MEMORY;
    if (length > 0 && poli_fmu_names_find(names, word) < 0)
      status = poli_fmu_names_add(names, word);
    free(word);
    list += length + (list[length] == ',');
  }
  return status;
}

static pol_status plan_inputs(fmu *f, const pol_model *model)
{
  pol_status status = POL_OK;
  if (f->options->inputs != NULL) return split(f->options->inputs, &f->plan.inputs);
  for (int i = 0; i < pol_mechanism_num_variables(model->mechanism) && status == POL_OK; i++) {
    const pol_variable *variable = pol_mechanism_variable(model->mechanism, i);
    if (variable->input) status = poli_fmu_names_add(&f->plan.inputs, variable->name);
  }
  return status;
}

static int names_channel(const char *word, const char *channel)
{
  const size_t length = strlen(word);
  return strncmp(word, channel, length) == 0 && (channel[length] == '\0' || channel[length] == '.');
}

/* Channels that belong to the words, or all; the time and inputs are variables already. */
static pol_status plan_outputs(fmu *f)
{
  poli_fmu_names words = {0};
  const char *list = f->options->outputs;
  const int count = pol_record_count(f->record);
  pol_status status = list != NULL ? split(list, &words) : POL_OK;
  for (int w = 0; w < words.count && status == POL_OK; w++) {
    pol_near near = pol_near_start(words.items[w]);
    int found = 0;
    for (int i = 0; i < count; i++) {
      const char *name = pol_record_channel(f->record, i)->name;
      pol_near_try(&near, name);
      found += names_channel(words.items[w], name);
    }
    if (found == 0)
      status = pol_errors_add(f->errors, "outputs", words.items[w],
                              "must be a quantity of the model", near.best);
  }
  for (int i = 0; i < count && status == POL_OK; i++) {
    const char *name = pol_record_channel(f->record, i)->name;
    int chosen = list == NULL;
    for (int w = 0; w < words.count && !chosen; w++) chosen = names_channel(words.items[w], name);
    if (!chosen || strcmp(name, "t") == 0 || strcmp(name, "time") == 0 ||
        poli_fmu_names_find(&f->plan.inputs, name) >= 0)
      continue;
    f->channels[f->plan.outputs.count] = i;
    status = poli_fmu_names_add(&f->plan.outputs, name);
  }
  poli_fmu_names_clear(&words);
  return status;
}

/* Two hashes (Fowler, Noll, Vo; 64 bits) of the text and the plan, in the form of a GUID. */
static pol_status make_token(fmu *f)
{
  uint64_t hash[2] = {14695981039346656037U, 590684067820433389U};
  char *plan = poli_fmu_plan_text(&f->plan);
  if (plan == NULL) return POL_NO_MEMORY;
  const char *texts[] = {f->model->text, plan};
  for (int k = 0; k < 4; k++)
    for (const char *c = texts[k % 2]; *c != '\0'; c++)
      hash[k / 2] = (hash[k / 2] ^ (unsigned char)*c) * 1099511628211U;
  free(plan);
  f->plan.token =
      poli_format("{%08lx-%04lx-%04lx-%04lx-%012lx}", (unsigned long)(hash[0] >> 32),
                  (unsigned long)(hash[0] >> 16 & 0xffff), (unsigned long)(hash[0] & 0xffff),
                  (unsigned long)(hash[1] >> 48), (unsigned long)(hash[1] & 0xffffffffffffU));
  return f->plan.token != NULL ? POL_OK : POL_NO_MEMORY;
}

/* Reads the model as an instance will, and starts it. */
static pol_status start_model(fmu *f, const pol_model *model)
{
  pol_diagnostics why = {0};
  f->variables = malloc(((size_t)f->plan.inputs.count + 1) * sizeof *f->variables);
  if (f->variables == NULL) return POL_NO_MEMORY;
  pol_status status =
      poli_fmu_read_model(&f->plan, model->text, NULL, &f->model, f->variables, f->errors);
  if (status != POL_OK) return status;
  status = pol_simulation_create(&f->simulation, f->model->mechanism, &f->model->settings, &why);
  if (status == POL_NO_MEMORY) return status;
  if (status != POL_OK) {
    status = pol_errors_add(f->errors, "", "", why.message, "");
    return status == POL_OK ? POL_BAD_ARGUMENT : status;
  }
  status = pol_record_create(&f->record, f->simulation);
  if (status != POL_OK) return status;
  f->channels = malloc((size_t)pol_record_count(f->record) * sizeof *f->channels);
  return f->channels != NULL ? POL_OK : POL_NO_MEMORY;
}

static pol_status plan_variables(fmu *f, const pol_model *model)
{
  pol_status status = POL_OK;
  for (int i = 0; i < f->options->num_overrides && status == POL_OK; i++)
    status = poli_fmu_names_add(&f->plan.overrides, f->options->overrides[i]);
  if (status == POL_OK) status = plan_inputs(f, model);
  for (int i = 0; i < model->num_parameters && status == POL_OK; i++)
    status = poli_fmu_names_add(&f->plan.parameters, model->parameters[i].name);
  if (status == POL_OK) status = start_model(f, model);
  if (status == POL_OK) status = plan_outputs(f);
  if (status == POL_OK && poli_fmu_names_find(&f->plan.inputs, "time") >= 0)
    status = pol_errors_add(f->errors, "inputs", "time", "is the name of the time in an FMU", "");
  if (status == POL_OK && f->errors->count > 0) status = POL_BAD_ARGUMENT;
  if (status == POL_OK) status = make_token(f);
  return status;
}

/* --- the archive ------------------------------------------------------------------------------ */

/* Adds a text that the caller has allocated, and frees it. */
static pol_status add_text(poli_zip *zip, const char *name, char *text)
{
  const pol_status status =
      text != NULL ? poli_zip_add(zip, name, text, strlen(text)) : POL_NO_MEMORY;
  free(text);
  return status;
}

static int is_object(const struct dirent *entry)
{
  return strstr(entry->d_name, ".so") != NULL;
}

/* The bytes of one shared object. */
static pol_status add_object(const fmu *f, poli_zip *zip, const char *name)
{
  char *bytes = NULL, *path = poli_format("%s/%s", f->options->binaries, name);
  char *entry = poli_format("binaries/%s/%s", poli_fmu_platform(f->options->version), name);
  size_t size;
  pol_status status =
      path != NULL && entry != NULL ? poli_read_file(path, &bytes, &size) : POL_NO_MEMORY;
  if (status == POL_IO) {
    char *rule = poli_format("cannot be read: %s", strerror(errno));
    if (rule == NULL || pol_errors_add(f->errors, "binaries", path, rule, "") != POL_OK)
      status = POL_NO_MEMORY;
    free(rule);
  }
  if (status == POL_OK) status = poli_zip_add(zip, entry, bytes, size);
  free(bytes);
  free(path);
  free(entry);
  return status;
}

/* The shared object, and beside it the libraries that it takes along, in the order of their names.
 */
static pol_status add_objects(const fmu *f, poli_zip *zip)
{
  static const char own[] = POLI_FMU_IDENTIFIER ".so";
  struct dirent **entries = NULL;
  pol_status status = add_object(f, zip, own);
  const int count =
      status == POL_OK ? scandir(f->options->binaries, &entries, is_object, alphasort) : 0;
  if (count < 0) return POL_NO_MEMORY;
  for (int i = 0; i < count; i++) {
    if (status == POL_OK && strcmp(entries[i]->d_name, own) != 0)
      status = add_object(f, zip, entries[i]->d_name);
    free(entries[i]);
  }
  free(entries);
  return status;
}

static pol_status write_archive(const fmu *f, const char *path)
{
  const poli_fmu_subject subject = {&f->plan, f->model, f->record, f->variables, f->channels};
  poli_zip zip = {.file = fopen(path, "wb")};
  if (zip.file == NULL) return POL_IO;
  pol_status status =
      add_text(&zip, "modelDescription.xml", poli_fmu_describe(&subject, f->options->version));
  if (status == POL_OK) status = add_text(&zip, "resources/fmu.json", poli_fmu_plan_text(&f->plan));
  if (status == POL_OK)
    status = poli_zip_add(&zip, "resources/model.json", f->model->text, strlen(f->model->text));
  if (status == POL_OK) status = add_objects(f, &zip);
  status = poli_zip_end(&zip, status);
  return pol_output_close(zip.file, path, status);
}

pol_status pol_fmu_write(const pol_model *model, const pol_fmu_options *options, const char *path,
                         pol_fmu_counts *counts, pol_errors *errors)
{
  fmu f = {.options = options, .errors = errors};
  pol_status status;
  if (options->version != 2 && options->version != 3) {
    status = pol_errors_add(errors, "fmi", "", "must be 2 or 3", "");
    return status == POL_OK ? POL_BAD_ARGUMENT : status;
  }
  if (model->num_controllers > 0) {
    status = pol_errors_add(errors, "controllers", "",
                            "must not be given in a model that becomes an FMU: it cannot contain "
                            "other FMUs; bind them to it in the importer",
                            "");
    return status == POL_OK ? POL_BAD_ARGUMENT : status;
  }
  status = plan_variables(&f, model);
  if (status == POL_OK) status = write_archive(&f, path);
  if (counts != NULL)
    *counts = (pol_fmu_counts){f.plan.inputs.count, f.plan.parameters.count, f.plan.outputs.count};
  if (status == POL_NO_MEMORY) pol_errors_clear(errors);
  pol_record_free(&f.record);
  pol_simulation_free(&f.simulation);
  pol_model_free(&f.model);
  poli_fmu_plan_clear(&f.plan);
  free(f.variables);
  free(f.channels);
  return status;
}
