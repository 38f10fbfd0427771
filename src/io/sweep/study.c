/* The study file: a JSON object with the model, the values that vary, and what is kept of each run.
 *
 * Reading goes on after an error, so that all are reported; those of the model come with its file.
 * The model is read with its own values, which must be valid: its channels are the signals that a
 * study may name.  Then it is read with the first and the last value of each key: a key that gives
 * no valid model with either is refused, since it is most likely misspelt, while single values that
 * do are runs that are recorded as invalid. */
#include "io/sweep/parts.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/archive.h"
#include "base/errors.h"
#include "io/file/file.h"
#include "io/model/parts.h"

/* Keys of objects, with those that must be given first. */
static const char *const study_keys[] = {"model",     "vary",    "sample", "count",   "seed", "set",
                                         "responses", "signals", "every",  "$schema", "name", NULL};
static const char *const vary_keys[] = {"from", "to", "count", "scale", "values", NULL};
static const char *const response_keys[] = {"name", "signal", "reduce", NULL};

const char *pol_reduction_name(pol_reduction reduction)
{
  static const char *const names[] = {"final", "initial", "min", "max",         "max-abs",
                                      "range", "mean",    "rms", "time-of-min", "time-of-max"};
  const size_t index = (size_t)reduction;
  return index < sizeof names / sizeof names[0] ? names[index] : NULL;
}

static const char *scale_name(int index)
{
  return index == 0 ? "linear" : index == 1 ? "log" : NULL;
}

static const char *sample_name(int index)
{
  return pol_sweep_sample_name((pol_sweep_sample)index);
}

static const char *reduction_name(int index)
{
  return pol_reduction_name((pol_reduction)index);
}

/* Reports what is no object, and unknown keys; 1 if it is an object. */
static int check_keys(poli_reader *reader, const poli_place *place, const char *const *keys,
                      const char *rule)
{
  const char *key;
  json_t *value;
  if (!json_is_object(place->value)) {
    poli_report(reader, place, "", "%s", rule);
    return 0;
  }
  json_object_foreach(place->value, key, value)
  {
    const poli_place at = {place, key, 0, value};
    pol_near near = pol_near_start(key);
    int known = strcmp(key, "comment") == 0;
    for (int i = 0; keys[i]; i++) known |= strcmp(keys[i], key) == 0;
    for (int i = 0; keys[i] && !known; i++) pol_near_try(&near, keys[i]);
    if (!known) poli_report(reader, &at, near.best, "is not a known key");
  }
  return 1;
}

/* A word of several; -1 after an error. */
static int read_word(poli_reader *reader, const poli_place *object, const char *key,
                     const char *(*name)(int), int standard)
{
  const poli_place at = poli_place_key(object, key);
  const char *word = json_string_value(at.value);
  char words[160] = "";
  pol_near near = pol_near_start(word ? word : "");
  if (!at.value) return standard;
  const char *known;
  for (int i = 0; (known = name(i)) != NULL; i++) {
    const size_t used = strlen(words);
    if (word && strcmp(known, word) == 0) return i;
    pol_near_try(&near, known);
    snprintf(words + used, sizeof words - used, "%s\"%s\"", i > 0 ? ", " : "", known);
  }
  poli_report(reader, &at, near.best, "must be one of %s", words);
  return -1;
}

/* A whole number from 1 on, at most `most`; 0 if it is missing or wrong. */
static long read_count(poli_reader *reader, const poli_place *object, const char *key, long most)
{
  const poli_place at = poli_place_key(object, key);
  const double number = json_number_value(at.value);
  if (!at.value) return 0;
  if (json_is_number(at.value) && number >= 1.0 && number <= (double)most &&
      number == floor(number))
    return (long)number;
  poli_report(reader, &at, "", "must be a whole number from 1 to %ld", most);
  return 0;
}

static char *copy_text(poli_reader *reader, const char *text)
{
  char *copy = poli_format("%s", text);
  if (!copy) reader->status = POL_NO_MEMORY;
  return copy;
}

/* --- values ----------------------------------------------------------------------------------- */

/* What an override has after the "=": JSON, but a parameter takes its expression as it is. */
static char *value_text(poli_reader *reader, const json_t *value, int is_parameter)
{
  char *text = NULL;
  if (json_is_string(value) && is_parameter) return copy_text(reader, json_string_value(value));
  char *json = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(17));
  text = copy_text(reader, json ? json : "");
  if (!json) reader->status = POL_NO_MEMORY;
  free(json);
  return text;
}

static void read_values(poli_reader *reader, const poli_place *list, poli_sweep_key *k)
{
  const size_t count = json_array_size(list->value);
  int numbers = 1;
  if (count == 0) {
    poli_report(reader, list, "", "must be a list of at least one value");
    return;
  }
  for (size_t i = 0; i < count; i++) numbers &= json_is_number(json_array_get(list->value, i));
  if (numbers) k->numbers = calloc(count, sizeof *k->numbers);
  if (!numbers) k->texts = calloc(count, sizeof *k->texts);
  if (!k->numbers && !k->texts) reader->status = POL_NO_MEMORY;
  for (size_t i = 0; i < count && reader->status == POL_OK; i++) {
    const json_t *value = json_array_get(list->value, i);
    if (numbers)
      k->numbers[i] = json_number_value(value);
    else
      k->texts[i] = value_text(reader, value, k->is_parameter);
    k->count = (long)i + 1;
  }
  k->key.is_number = numbers;
}

/* "from", "to" and, where the values are listed, "count". */
static void read_range(poli_reader *reader, const poli_place *place, const pol_sweep *sweep,
                       poli_sweep_key *k)
{
  static const char *const ends[] = {"from", "to"};
  double *const targets[] = {&k->from, &k->to};
  const int before = reader->errors->count;
  const int is_sample = sweep->sample == POL_SWEEP_LATIN_HYPERCUBE;
  const int scale = read_word(reader, place, "scale", scale_name, 0);
  const poli_place count_at = poli_place_key(place, "count");
  k->key.is_log = scale == 1;
  k->key.is_number = 1;
  for (int i = 0; i < 2; i++) {
    const poli_place at = poli_place_key(place, ends[i]);
    *targets[i] = json_number_value(at.value);
    if (!at.value)
      poli_report(reader, &at, "", "is required: the range needs from and to, or give values");
    else if (!json_is_number(at.value))
      poli_report(reader, &at, "", "must be a number");
    else if (scale == 1 && !(*targets[i] > 0.0))
      poli_report(reader, &at, "", "must be a positive number for the scale \"log\"");
  }
  k->count = read_count(reader, place, "count", POLI_SWEEP_MOST_RUNS);
  if (is_sample && count_at.value)
    poli_report(reader, &count_at, "",
                "must not be given for a range of a latin-hypercube: \"count\" of the study is the "
                "number of runs");
  else if (!is_sample && !count_at.value)
    poli_report(reader, &count_at, "", "is required: the number of values from `from` to `to`");
  if (is_sample) k->count = 0;
  if (reader->errors->count != before || is_sample) return;
  k->numbers = calloc((size_t)k->count, sizeof *k->numbers);
  if (!k->numbers) reader->status = POL_NO_MEMORY;
  const double last = k->count > 1 ? (double)(k->count - 1) : 1.0;
  for (long i = 0; i < k->count && k->numbers; i++)
    k->numbers[i] = poli_sweep_range(k->from, k->to, k->key.is_log, (double)i / last);
}

static int is_parameter_of(const pol_model *model, const char *name)
{
  for (int i = 0; model && i < model->num_parameters; i++)
    if (strcmp(model->parameters[i].name, name) == 0) return i + 1;
  return 0;
}

static void read_key(poli_reader *reader, const poli_place *place, const pol_model *model,
                     const pol_sweep *sweep, poli_sweep_key *k)
{
  static const char prefix[] = "parameters.";
  const size_t length = sizeof prefix - 1;
  const int with_prefix = strncmp(place->key, prefix, length) == 0;
  const char *name = place->key + (with_prefix ? length : 0);
  const int parameter = is_parameter_of(model, name);
  const poli_place values = poli_place_key(place, "values");
  k->is_parameter = with_prefix || parameter > 0;
  k->key.name = copy_text(reader, name);
  k->key.path = poli_format("%s%s", k->is_parameter ? prefix : "", name);
  k->key.unit = copy_text(reader, parameter > 0 ? model->parameters[parameter - 1].unit : "");
  if (!k->key.path) reader->status = POL_NO_MEMORY;
  if (reader->status != POL_OK) return;
  if (name[0] == '\0' || strpbrk(name, "=/"))
    poli_report(reader, place, "",
                "must have a key that is a parameter or a path such as bodies.top.mass");
  else if (!check_keys(reader, place, vary_keys,
                       "must be an object with from, to and count, or with values"))
    return;
  else if (!values.value)
    read_range(reader, place, sweep, k);
  else if (poli_given(place, "from") || poli_given(place, "to") || poli_given(place, "count") ||
           poli_given(place, "scale"))
    poli_report(reader, &values, "", "must stand alone, without from, to, count and scale");
  else
    read_values(reader, &values, k);
}

/* All keys of "vary", and the number of runs. */
static void read_vary(poli_reader *reader, const poli_place *top, const pol_model *model,
                      pol_sweep *sweep)
{
  const poli_place vary = poli_place_key(top, "vary"), count = poli_place_key(top, "count");
  const int is_sample = sweep->sample == POL_SWEEP_LATIN_HYPERCUBE;
  const char *key;
  json_t *value;
  if (json_object_size(vary.value) == 0) {
    poli_report(reader, &vary, "",
                "%s an object with a key for each value of the model that varies",
                vary.value ? "must be" : "is required:");
    return;
  }
  sweep->keys = calloc(json_object_size(vary.value), sizeof *sweep->keys);
  if (!sweep->keys) reader->status = POL_NO_MEMORY;
  const int before = reader->errors->count;
  json_object_foreach(vary.value, key, value)
  {
    const poli_place at = {&vary, key, 0, value};
    if (reader->status != POL_OK) return;
    if (strcmp(key, "comment") == 0) continue;
    read_key(reader, &at, model, sweep, &sweep->keys[sweep->num_keys++]);
    for (int i = 0; i < sweep->num_keys - 1 && reader->status == POL_OK; i++)
      if (strcmp(sweep->keys[i].key.path, sweep->keys[sweep->num_keys - 1].key.path) == 0)
        poli_report(reader, &at, "", "must not vary twice");
  }
  const long given = read_count(reader, top, "count", POLI_SWEEP_MOST_RUNS);
  if (is_sample && !count.value)
    poli_report(reader, &count, "", "is required: the number of runs of the latin-hypercube");
  else if (!is_sample && count.value)
    poli_report(reader, &count, "", "must be given for a latin-hypercube only");
  if (reader->errors->count != before || sweep->num_keys == 0) return;
  sweep->count = is_sample ? given : sweep->sample == POL_SWEEP_LIST ? sweep->keys[0].count : 1;
  for (int i = 0; i < sweep->num_keys && !is_sample; i++) {
    const poli_place at = poli_place_key(&vary, sweep->keys[i].key.name);
    const long values = sweep->keys[i].count;
    if (sweep->sample == POL_SWEEP_LIST && values != sweep->count)
      poli_report(reader, at.value ? &at : &vary, "",
                  "must have as many values as %s for a list, %ld, but has %ld",
                  sweep->keys[0].key.name, sweep->count, values);
    if (sweep->sample == POL_SWEEP_GRID && sweep->count > POLI_SWEEP_MOST_RUNS / values) {
      poli_report(reader, &vary, "", "must not give more than %d runs", POLI_SWEEP_MOST_RUNS);
      return;
    }
    if (sweep->sample == POL_SWEEP_GRID) sweep->count *= values;
  }
}

/* --- the rest --------------------------------------------------------------------------------- */

/* "set": overrides of all runs. */
static void read_set(poli_reader *reader, const poli_place *top, pol_sweep *sweep)
{
  const poli_place set = poli_place_key(top, "set");
  const char *key;
  json_t *value;
  if (set.value && !json_is_object(set.value))
    poli_report(reader, &set, "", "must be an object of keys of the model and their values");
  if (json_object_size(set.value) == 0) return;
  sweep->set = calloc(json_object_size(set.value), sizeof *sweep->set);
  if (!sweep->set) reader->status = POL_NO_MEMORY;
  json_object_foreach(set.value, key, value)
  {
    if (reader->status != POL_OK) return;
    if (strcmp(key, "comment") == 0) continue;
    char *text = value_text(reader, value, strncmp(key, "parameters.", 11) == 0);
    char *override = text ? poli_format("%s=%s", key, text) : NULL;
    if (!override) reader->status = POL_NO_MEMORY;
    if (override) sweep->set[sweep->num_set++] = override;
    free(text);
  }
}

/* A channel of the model; with `start`, or of which the name is the start up to a dot. */
static int channel_matches(const pol_channel *channel, const char *name, int start)
{
  const size_t length = strlen(name);
  return strncmp(channel->name, name, length) == 0 &&
         (channel->name[length] == '\0' || (start && channel->name[length] == '.'));
}

static void report_no_channel(poli_reader *reader, const poli_place *at, const pol_record *record,
                              int start)
{
  const char *name = json_string_value(at->value);
  pol_near near = pol_near_start(name);
  for (int i = 0; i < pol_record_count(record); i++) {
    pol_near_try(&near, pol_record_channel(record, i)->name);
    if (!start && channel_matches(pol_record_channel(record, i), name, 1)) {
      poli_report(reader, at, pol_record_channel(record, i)->name,
                  "must be one number of a result");
      return;
    }
  }
  poli_report(reader, at, near.best, "must be a quantity of the model's results");
}

static void read_responses(poli_reader *reader, const poli_place *top, const pol_record *record,
                           pol_sweep *sweep)
{
  const poli_place list = poli_place_key(top, "responses");
  const size_t count = json_array_size(list.value);
  if (list.value && !json_is_array(list.value))
    poli_report(reader, &list, "", "must be a list of objects with name, signal and reduce");
  if (count == 0) return;
  sweep->responses = calloc(count, sizeof *sweep->responses);
  if (!sweep->responses) reader->status = POL_NO_MEMORY;
  for (size_t i = 0; i < count && reader->status == POL_OK; i++) {
    const poli_place item = poli_place_item(&list, i);
    if (!check_keys(reader, &item, response_keys, "must be an object with name, signal and reduce"))
      continue;
    const poli_place name = poli_place_key(&item, "name"), signal = poli_place_key(&item, "signal");
    const char *word = json_string_value(name.value), *of = json_string_value(signal.value);
    pol_sweep_response *r = &sweep->responses[sweep->num_responses];
    const pol_channel *channel = NULL;
    const int reduce = read_word(reader, &item, "reduce", reduction_name, POL_REDUCE_FINAL);
    if (!word || word[0] == '\0' || strlen(word) > 200 || strpbrk(word, "/,\"\n") ||
        strcmp(word, ".") == 0)
      poli_report(reader, &name, "", "%s a name without / , and quotes",
                  name.value ? "must be" : "is required:");
    if (!of)
      poli_report(reader, &signal, "", "%s a quantity of the model's results, such as energy.total",
                  signal.value ? "must be" : "is required:");
    for (int k = 0; record && of && k < pol_record_count(record); k++)
      if (channel_matches(pol_record_channel(record, k), of, 0))
        channel = pol_record_channel(record, k);
    if (record && of && !channel) report_no_channel(reader, &signal, record, 0);
    for (int k = 0; word && k < sweep->num_responses; k++)
      if (strcmp(sweep->responses[k].name, word) == 0)
        poli_report(reader, &name, "", "must be unique");
    for (int k = 0; word && k < sweep->num_keys; k++)
      if (strcmp(sweep->keys[k].key.name, word) == 0)
        poli_report(reader, &name, "", "must not be the name of a key that varies");
    if (!word || !channel || reduce < 0) continue;
    sweep->num_responses++;
    r->reduction = (pol_reduction)reduce;
    r->name = copy_text(reader, word);
    r->signal = copy_text(reader, of);
    r->unit = copy_text(reader, reduce >= POL_REDUCE_TIME_OF_MIN ? "s" : channel->unit);
  }
}

static void add_signal(poli_reader *reader, const pol_channel *channel, pol_sweep *sweep)
{
  for (int i = 0; i < sweep->num_signals; i++)
    if (strcmp(sweep->signals[i].name, channel->name) == 0) return;
  poli_sweep_signal *to = &sweep->signals[sweep->num_signals++];
  to->name = copy_text(reader, channel->name);
  to->unit = copy_text(reader, channel->unit);
}

static void read_signals(poli_reader *reader, const poli_place *top, const pol_record *record,
                         pol_sweep *sweep)
{
  const poli_place list = poli_place_key(top, "signals"), every = poli_place_key(top, "every");
  const size_t count = json_array_size(list.value);
  sweep->every = read_count(reader, top, "every", 1000000000);
  if (sweep->every == 0) sweep->every = 1;
  if (every.value && count == 0)
    poli_report(reader, &every, "", "must not be given without signals");
  if (list.value && count == 0)
    poli_report(reader, &list, "", "must be a list of quantities of the model's results");
  if (count == 0 || !record) return;
  const int channels = pol_record_count(record);
  sweep->signals = calloc((size_t)channels, sizeof *sweep->signals);
  if (!sweep->signals) reader->status = POL_NO_MEMORY;
  if (sweep->signals) add_signal(reader, pol_record_channel(record, 0), sweep); /* t */
  for (size_t i = 0; i < count && reader->status == POL_OK; i++) {
    const poli_place item = poli_place_item(&list, i);
    const char *name = json_string_value(item.value);
    int found = 0;
    if (!name) poli_report(reader, &item, "", "must be a quantity of the model's results");
    for (int k = 0; name && k < channels && reader->status == POL_OK; k++) {
      if (!channel_matches(pol_record_channel(record, k), name, 1)) continue;
      found = 1;
      add_signal(reader, pol_record_channel(record, k), sweep);
    }
    if (name && !found && reader->status == POL_OK) report_no_channel(reader, &item, record, 1);
  }
}

/* --- the model -------------------------------------------------------------------------------- */

pol_status poli_sweep_read_model(const pol_sweep *sweep, int count, char *const *more,
                                 pol_model **model, pol_errors *errors)
{
  const char **all = malloc(((size_t)sweep->num_set + (size_t)count + 1) * sizeof *all);
  *model = NULL;
  if (!all) return POL_NO_MEMORY;
  for (int i = 0; i < sweep->num_set; i++) all[i] = sweep->set[i];
  for (int i = 0; i < count; i++) all[sweep->num_set + i] = more[i];
  const pol_status status =
      sweep->by_path
          ? pol_model_read_file(model, sweep->path, sweep->num_set + count, all, errors)
          : pol_model_read_text(model, sweep->model, sweep->num_set + count, all, errors);
  free(all);
  return status;
}

/* An override that is refused has the option as its path; returns what follows it, or NULL. */
static const char *refused_override(const pol_error *error)
{
  if (strncmp(error->path, "--set ", 6) == 0) return error->path + 6;
  return strncmp(error->path, "--param ", 8) == 0 ? error->path + 8 : NULL;
}

/* Reports errors of the model with its file, those of "set" at their key. */
static void report_model(poli_reader *reader, const poli_place *top, const char *path,
                         pol_errors *found)
{
  const poli_place set = poli_place_key(top, "set");
  for (int i = 0; i < found->count && reader->status == POL_OK; i++) {
    const pol_error *e = &found->items[i];
    const char *override = refused_override(e);
    if (override) {
      char *key = poli_format("%.*s", (int)strcspn(override, "="), override);
      const poli_place at = {&set, key ? key : "", 0, NULL};
      poli_report(reader, &at, e->suggestion, "%s", e->rule);
      free(key);
      continue;
    }
    reader->status = pol_errors_add(reader->errors, e->path, e->value, e->rule, e->suggestion);
    if (reader->status != POL_OK) return;
    pol_error *added = &reader->errors->items[reader->errors->count - 1];
    char *file = poli_format("%s", e->file[0] ? e->file : path);
    char *element = poli_format("%s", e->element);
    added->line = e->line;
    if (file) free(added->file), added->file = file;
    if (element) free(added->element), added->element = element;
    if (!file || !element) reader->status = POL_NO_MEMORY;
  }
}

/* Reports a key that gives a valid model with neither its first nor its last value. */
static void check_key(poli_reader *reader, const poli_place *top, const pol_sweep *sweep, int key)
{
  const poli_sweep_key *k = &sweep->keys[key];
  const poli_place vary = poli_place_key(top, "vary");
  const long last = k->count > 0 ? k->count - 1 : 1;
  pol_errors errors[2] = {{0}, {0}};
  int wrong = 1;
  for (int i = 0; i < 2 && wrong && reader->status == POL_OK; i++) {
    pol_model *model = NULL;
    char *override = poli_sweep_override(sweep, 0, key, i == 0 ? 0 : last);
    const pol_status status =
        override ? poli_sweep_read_model(sweep, 1, &override, &model, &errors[i]) : POL_NO_MEMORY;
    if (status == POL_NO_MEMORY) reader->status = status;
    wrong = status != POL_OK;
    pol_model_free(&model);
    free(override);
  }
  if (wrong && reader->status == POL_OK && errors[0].count > 0) {
    char text[400];
    const poli_place at = {&vary, k->key.name, 0, NULL};
    const pol_error *e = &errors[0].items[0];
    pol_error_text(e, text, sizeof text);
    if (refused_override(e))
      poli_report(reader, &at, e->suggestion, "%s", e->rule);
    else
      poli_report(reader, &at, "", "gives no valid model: %s", text);
  }
  pol_errors_clear(&errors[0]);
  pol_errors_clear(&errors[1]);
}

/* Reads the model with its own values, and from its text alone if that is enough. */
static void load_model(poli_reader *reader, const poli_place *top, const char *folder,
                       const char *text, pol_sweep *sweep, pol_model **model)
{
  const poli_place at = poli_place_key(top, "model");
  const char *name = json_string_value(at.value);
  pol_errors errors = {0};
  if (!name || name[0] == '\0') {
    poli_report(reader, &at, "", "%s the path of a model file",
                at.value ? "must be" : "is required:");
    return;
  }
  sweep->path =
      text ? copy_text(reader, "") : poli_format("%s%s", name[0] == '/' ? "" : folder, name);
  if (!sweep->path) reader->status = POL_NO_MEMORY;
  if (text) sweep->model = copy_text(reader, text);
  if (reader->status != POL_OK) return;
  sweep->by_path = text == NULL;
  pol_status status = poli_sweep_read_model(sweep, 0, NULL, model, &errors);
  if (status == POL_IO)
    poli_report(reader, &at, "", "%s", errors.items[0].rule);
  else if (status == POL_BAD_ARGUMENT)
    report_model(reader, top, sweep->path[0] ? sweep->path : name, &errors);
  else if (status != POL_OK)
    reader->status = status;
  pol_errors_clear(&errors);
  if (!*model || reader->status != POL_OK || text) return;
  sweep->model = copy_text(reader, (*model)->text);
  if (!sweep->model) return;
  /* without its folder, if it needs no data files of its own */
  pol_model *alone = NULL;
  sweep->by_path = 0;
  status = poli_sweep_read_model(sweep, 0, NULL, &alone, &errors);
  if (status == POL_NO_MEMORY) reader->status = status;
  sweep->by_path = status != POL_OK || alone->num_controllers > 0; /* FMUs are beside it */
  pol_model_free(&alone);
  pol_errors_clear(&errors);
}

/* A simulation of the model with its own values, for its channels. */
static void start_model(poli_reader *reader, const poli_place *top, const pol_model *model,
                        pol_simulation **simulation, pol_record **record)
{
  const poli_place at = poli_place_key(top, "model");
  pol_diagnostics d;
  pol_status status = pol_simulation_create(simulation, model->mechanism, &model->settings, &d);
  if (status == POL_OK) status = pol_record_create(record, *simulation);
  if (status == POL_NO_MEMORY)
    reader->status = status;
  else if (status != POL_OK)
    poli_report(reader, &at, "", "must be able to start with its own values: %s%s%s", d.message,
                d.where[0] ? ", at " : "", d.where);
}

/* --- the study -------------------------------------------------------------------------------- */

static void read_study(poli_reader *reader, const poli_place *top, const char *folder,
                       const char *model_text, pol_sweep *sweep)
{
  const poli_place seed = poli_place_key(top, "seed"), name = poli_place_key(top, "name");
  pol_model *model = NULL;
  pol_simulation *simulation = NULL;
  pol_record *record = NULL;
  if (!check_keys(reader, top, study_keys, "must be an object that describes a study")) return;
  const int sample = read_word(reader, top, "sample", sample_name, POL_SWEEP_GRID);
  sweep->sample = sample < 0 ? POL_SWEEP_GRID : (pol_sweep_sample)sample;
  if (seed.value && !(json_is_integer(seed.value) && json_integer_value(seed.value) >= 0))
    poli_report(reader, &seed, "", "must be a whole number, not negative");
  sweep->seed = seed.value ? (uint64_t)json_integer_value(seed.value) : 1;
  if (seed.value && sample >= 0 && sample != POL_SWEEP_LATIN_HYPERCUBE)
    poli_report(reader, &seed, "", "must be given for a latin-hypercube only");
  if (name.value && !json_is_string(name.value)) poli_report(reader, &name, "", "must be a text");
  read_set(reader, top, sweep);
  if (reader->status == POL_OK) load_model(reader, top, folder, model_text, sweep, &model);
  if (reader->status == POL_OK && model) start_model(reader, top, model, &simulation, &record);
  if (reader->status == POL_OK && sample >= 0) read_vary(reader, top, model, sweep);
  const int before = reader->errors->count;
  for (int i = 0; model && before == 0 && reader->status == POL_OK && i < sweep->num_keys; i++)
    check_key(reader, top, sweep, i);
  if (reader->status == POL_OK) read_responses(reader, top, record, sweep);
  if (reader->status == POL_OK) read_signals(reader, top, record, sweep);
  if (reader->status == POL_OK && model)
    sweep->name =
        copy_text(reader, json_is_string(name.value) ? json_string_value(name.value) : model->name);
  pol_record_free(&record);
  pol_simulation_free(&simulation);
  pol_model_free(&model);
}

/* Study and model as they count, and the version: JSON without blanks, in the order of the file. */
static pol_status identify(const json_t *tree, pol_sweep *sweep)
{
  char *text = json_dumps(tree, JSON_COMPACT | JSON_REAL_PRECISION(17));
  if (!text) return POL_NO_MEMORY;
  uint64_t hash = poli_hash(0, POLI_SWEEP_FORMAT, sizeof POLI_SWEEP_FORMAT);
  hash = poli_hash(hash, pol_version(), strlen(pol_version()) + 1);
  hash = poli_hash(hash, text, strlen(text) + 1);
  sweep->identity = poli_hash(hash, sweep->model, strlen(sweep->model) + 1);
  free(text);
  return POL_OK;
}

static pol_status read_bytes(pol_sweep **result, const char *text, size_t size, const char *folder,
                             const char *model, pol_errors *errors)
{
  poli_reader reader = {.errors = errors, .status = POL_OK};
  pol_sweep *sweep = calloc(1, sizeof *sweep);
  *result = NULL;
  if (!sweep) return POL_NO_MEMORY;
  sweep->study = copy_text(&reader, text);
  json_t *tree = NULL;
  if (strspn(text, " \t\r\n") == size)
    poli_report(&reader, &(poli_place){0}, "", "must be a study in JSON, but the input is empty");
  else if (reader.status == POL_OK)
    tree = poli_load_json(&reader, text, size);
  const poli_place top = {.value = tree};
  if (tree && reader.status == POL_OK) read_study(&reader, &top, folder, model, sweep);
  const int good = tree && reader.status == POL_OK && errors->count == 0;
  if (good && sweep->sample == POL_SWEEP_LATIN_HYPERCUBE)
    reader.status = poli_sweep_make_strata(sweep);
  if (good && reader.status == POL_OK) reader.status = identify(tree, sweep);
  json_decref(tree);
  if (good && reader.status == POL_OK) {
    *result = sweep;
    return POL_OK;
  }
  pol_sweep_free(&sweep);
  if (reader.status == POL_OK) return POL_BAD_ARGUMENT;
  pol_errors_clear(errors);
  return reader.status;
}

pol_status pol_sweep_read_text(pol_sweep **sweep, const char *study, const char *model,
                               pol_errors *errors)
{
  return read_bytes(sweep, study, strlen(study), "", model, errors);
}

pol_status pol_sweep_read_file(pol_sweep **sweep, const char *path, pol_errors *errors)
{
  static const size_t largest_study = (size_t)1 << 26;
  const char *slash = strrchr(path, '/');
  char *folder = poli_format("%.*s", slash ? (int)(slash - path) + 1 : 0, path);
  char *bytes = NULL;
  size_t size;
  *sweep = NULL;
  pol_status status =
      folder ? poli_read_small_file(path, largest_study, &bytes, &size) : POL_NO_MEMORY;
  if (status == POL_OK) {
    status = read_bytes(sweep, bytes, size, folder, NULL, errors);
  } else if (status == POL_IO) {
    char *rule = poli_format("cannot be read: %s", strerror(errno));
    if (!rule || pol_errors_add(errors, "", "", rule, "") != POL_OK) status = POL_NO_MEMORY;
    free(rule);
  }
  free(folder);
  free(bytes);
  return status;
}

/* Texts that the public structs hold as constant. */
static void free_text(const char *text)
{
  free((char *)(uintptr_t)text);
}

void pol_sweep_free(pol_sweep **pointer)
{
  pol_sweep *sweep = *pointer;
  if (!sweep) return;
  for (int i = 0; i < sweep->num_keys; i++) {
    poli_sweep_key *k = &sweep->keys[i];
    for (long v = 0; k->texts && v < k->count; v++) free(k->texts[v]);
    free(k->texts);
    free(k->numbers);
    free(k->strata);
    free_text(k->key.path);
    free_text(k->key.name);
    free_text(k->key.unit);
  }
  for (int i = 0; i < sweep->num_set; i++) free(sweep->set[i]);
  for (int i = 0; i < sweep->num_responses; i++) {
    free_text(sweep->responses[i].name);
    free_text(sweep->responses[i].signal);
    free_text(sweep->responses[i].unit);
  }
  for (int i = 0; i < sweep->num_signals; i++) {
    free(sweep->signals[i].name);
    free(sweep->signals[i].unit);
  }
  free(sweep->keys);
  free(sweep->set);
  free(sweep->responses);
  free(sweep->signals);
  free(sweep->name);
  free(sweep->study);
  free(sweep->model);
  free(sweep->path);
  free(sweep);
  *pointer = NULL;
}

const char *pol_sweep_study(const pol_sweep *sweep)
{
  return sweep->study;
}

const char *pol_sweep_model(const pol_sweep *sweep)
{
  return sweep->model;
}

const char *pol_sweep_name(const pol_sweep *sweep)
{
  return sweep->name;
}

const char *pol_sweep_model_path(const pol_sweep *sweep)
{
  return sweep->path;
}

int pol_sweep_needs_files(const pol_sweep *sweep)
{
  return sweep->by_path;
}

uint64_t pol_sweep_identity(const pol_sweep *sweep)
{
  return sweep->identity;
}

long pol_sweep_count(const pol_sweep *sweep)
{
  return sweep->count;
}

pol_sweep_sample pol_sweep_sampling(const pol_sweep *sweep)
{
  return sweep->sample;
}

int pol_sweep_num_keys(const pol_sweep *sweep)
{
  return sweep->num_keys;
}

const pol_sweep_key *pol_sweep_get_key(const pol_sweep *sweep, int index)
{
  return index >= 0 && index < sweep->num_keys ? &sweep->keys[index].key : NULL;
}

int pol_sweep_num_responses(const pol_sweep *sweep)
{
  return sweep->num_responses;
}

const pol_sweep_response *pol_sweep_get_response(const pol_sweep *sweep, int index)
{
  return index >= 0 && index < sweep->num_responses ? &sweep->responses[index] : NULL;
}

int pol_sweep_num_signals(const pol_sweep *sweep)
{
  return sweep->num_signals;
}

const char *pol_sweep_get_signal(const pol_sweep *sweep, int index)
{
  return index >= 0 && index < sweep->num_signals ? sweep->signals[index].name : NULL;
}
