/* The file modelDescription.xml of an FMU, by the schemas fmi2ModelDescription.xsd and
 * fmi3ModelDescription.xsd of the standard. */
#define _POSIX_C_SOURCE 200809L

#include "io/fmi/describe.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

/* --- text ------------------------------------------------------------------------------------- */

/* ' name="value"' with the value escaped. */
static void put_attribute(FILE *to, const char *name, const char *value)
{
  fprintf(to, " %s=\"", name);
  for (const char *c = value; *c != '\0'; c++) {
    if (strchr("<>&\"", *c) != NULL || (unsigned char)*c < ' ')
      fprintf(to, "&#%d;", *c);
    else
      fputc(*c, to);
  }
  fputc('"', to);
}

static void put_number(FILE *to, const char *name, double value)
{
  char text[32];
  poli_number_text(value, text);
  put_attribute(to, name, text);
}

/* --- units ------------------------------------------------------------------------------------ */

/* Powers of kg, m, s, A, K and rad. */
enum { NUM_BASES = 6 };
static const char *const bases[NUM_BASES] = {"kg", "m", "s", "A", "K", "rad"};
static const struct {
  const char *name;
  int powers[NUM_BASES];
} symbols[] = {
    {"kg", {1}},
    {"m", {0, 1}},
    {"s", {0, 0, 1}},
    {"A", {0, 0, 0, 1}},
    {"K", {0, 0, 0, 0, 1}},
    {"rad", {0, 0, 0, 0, 0, 1}},
    {"N", {1, 1, -2}},
    {"J", {1, 2, -2}},
    {"W", {1, 2, -3}},
    {"Pa", {1, -1, -2}},
    {"Hz", {0, 0, -1}},
    {"V", {1, 2, -3, -1}},
    {"ohm", {1, 2, -3, -2}},
    {"1", {0}},
};
enum { NUM_SYMBOLS = sizeof symbols / sizeof symbols[0] };

/* Whether the unit is a product of powers of the symbols, as "N s/m", with its powers. */
static int read_unit(const char *unit, int powers[NUM_BASES])
{
  int sign = 1;
  memset(powers, 0, NUM_BASES * sizeof powers[0]);
  for (const char *c = unit; *c != '\0';) {
    const size_t length = strcspn(c, " /^");
    int k = 0;
    while (k < NUM_SYMBOLS &&
           (strlen(symbols[k].name) != length || strncmp(c, symbols[k].name, length) != 0))
      k++;
    if (k == NUM_SYMBOLS) return 0;
    c += length;
    long power = 1;
    if (*c == '^') {
      char *end;
      power = strtol(c + 1, &end, 10);
      if (end == c + 1) return 0;
      c = end;
    }
    for (int i = 0; i < NUM_BASES; i++) powers[i] += sign * (int)power * symbols[k].powers[i];
    sign = *c == '/' ? -1 : 1;
    if (*c != '\0' && strchr(" /", *c++) == NULL) return 0;
  }
  return unit[0] != '\0';
}

/* The unit of a variable that a description has: "" if it has none. */
static const char *known_unit(const char *unit)
{
  const int none =
      strcmp(unit, "1") == 0 || strcmp(unit, "mixed") == 0 || strcmp(unit, "user") == 0;
  return none ? "" : unit;
}

/* --- variables -------------------------------------------------------------------------------- */

typedef struct variable {
  const char *name, *prefix, *unit, *description;
  const char *causality, *variability, *initial; /* initial NULL: not given */
  int has_start;
  double start;
} variable;

static variable variable_at(const poli_fmu_subject *s, int reference)
{
  const poli_fmu_plan *plan = s->plan;
  int k = reference - 1;
  if (reference == 0)
    return (variable){"time", "", "s", "", "independent", "continuous", NULL, 0, 0.0};
  if (k < plan->inputs.count) {
    const pol_simulation *sim = pol_record_simulation(s->record);
    return (variable){plan->inputs.items[k],
                      "",
                      poli_fmu_input_unit(s->model, s->variables[k]),
                      "",
                      "input",
                      "continuous",
                      NULL,
                      1,
                      pol_simulation_input(sim, s->variables[k])};
  }
  k -= plan->inputs.count;
  if (k < plan->parameters.count) {
    const pol_parameter *p = &s->model->parameters[k];
    return (variable){p->name, "parameters.", p->unit, p->description, "parameter",
                      "fixed", "exact",       1,       p->value};
  }
  k -= plan->parameters.count;
  const pol_channel *channel = pol_record_channel(s->record, s->channels[k]);
  return (variable){
      channel->name, "", channel->unit, "", "output", "continuous", "calculated", 0, 0.0};
}

static int count_variables(const poli_fmu_subject *s)
{
  return 1 + s->plan->inputs.count + s->plan->parameters.count + s->plan->outputs.count;
}

static void put_variable(FILE *to, const poli_fmu_subject *s, int reference, int version)
{
  const variable v = variable_at(s, reference);
  const char *unit = known_unit(v.unit);
  char name[600];
  snprintf(name, sizeof name, "%s%s", v.prefix, v.name);
  fprintf(to, version == 2 ? "    <ScalarVariable" : "    <Float64");
  put_attribute(to, "name", name);
  fprintf(to, " valueReference=\"%d\"", reference);
  if (v.description[0] != '\0') put_attribute(to, "description", v.description);
  put_attribute(to, "causality", v.causality);
  put_attribute(to, "variability", v.variability);
  if (v.initial != NULL) put_attribute(to, "initial", v.initial);
  if (version == 2) fprintf(to, "><Real");
  if (unit[0] != '\0') put_attribute(to, "unit", unit);
  if (v.has_start) put_number(to, "start", v.start);
  fprintf(to, version == 2 ? "/></ScalarVariable>\n" : "/>\n");
}

/* Each unit once. */
static void put_units(FILE *to, const poli_fmu_subject *s)
{
  const int count = count_variables(s);
  fprintf(to, "  <UnitDefinitions>\n");
  for (int i = 0; i < count; i++) {
    const char *unit = known_unit(variable_at(s, i).unit);
    int is_new = unit[0] != '\0', powers[NUM_BASES];
    for (int k = 0; k < i && is_new; k++) is_new = strcmp(unit, variable_at(s, k).unit) != 0;
    if (!is_new) continue;
    fprintf(to, "    <Unit");
    put_attribute(to, "name", unit);
    if (read_unit(unit, powers)) {
      fprintf(to, "><BaseUnit");
      for (int b = 0; b < NUM_BASES; b++)
        if (powers[b] != 0) fprintf(to, " %s=\"%d\"", bases[b], powers[b]);
      fprintf(to, "/></Unit>\n");
    } else {
      fprintf(to, "/>\n");
    }
  }
  fprintf(to, "  </UnitDefinitions>\n");
}

/* --- the description -------------------------------------------------------------------------- */

static void put_head(FILE *to, const poli_fmu_subject *s, int version)
{
  fprintf(to, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<fmiModelDescription fmiVersion=\"%s\"",
          version == 2 ? "2.0" : "3.0");
  put_attribute(to, "modelName", s->model->name);
  put_attribute(to, version == 2 ? "guid" : "instantiationToken", s->plan->token);
  fprintf(to, " generationTool=\"polhode %s\" variableNamingConvention=\"flat\">\n", pol_version());
  fprintf(to,
          "  <CoSimulation modelIdentifier=\"" POLI_FMU_IDENTIFIER
          "\" canHandleVariableCommunicationStepSize=\"true\" %s/>\n",
          version == 2
              ? "canNotUseMemoryManagementFunctions=\"true\" canGetAndSetFMUstate=\"true\" "
                "canSerializeFMUstate=\"true\""
              : "canGetAndSetFMUState=\"true\" canSerializeFMUState=\"true\"");
}

static void put_experiment(FILE *to, const pol_settings *settings)
{
  const double step = settings->output.step > 0.0 ? settings->output.step : settings->step;
  fprintf(to, "  <DefaultExperiment startTime=\"0\"");
  put_number(to, "stopTime", settings->end);
  if (!settings->variable || settings->output.step > 0.0) put_number(to, "stepSize", step);
  fprintf(to, "/>\n");
}

/* Outputs depend on all inputs and states: no dependencies are given. */
static void put_structure(FILE *to, const poli_fmu_subject *s, int version)
{
  const int count = count_variables(s), first = count - s->plan->outputs.count;
  static const char *const lists[] = {"Outputs", "InitialUnknowns"};
  static const char *const elements[] = {"Output", "InitialUnknown"};
  fprintf(to, "  <ModelStructure>\n");
  for (int k = 0; k < 2; k++) {
    if (version == 2 && first < count) fprintf(to, "    <%s>\n", lists[k]);
    for (int i = first; i < count; i++)
      if (version == 2)
        fprintf(to, "      <Unknown index=\"%d\"/>\n", i + 1);
      else
        fprintf(to, "    <%s valueReference=\"%d\"/>\n", elements[k], i);
    if (version == 2 && first < count) fprintf(to, "    </%s>\n", lists[k]);
  }
  fprintf(to, "  </ModelStructure>\n");
}

char *poli_fmu_describe(const poli_fmu_subject *subject, int version)
{
  char *text = NULL;
  size_t size;
  FILE *to = open_memstream(&text, &size);
  if (to == NULL) return NULL;
  put_head(to, subject, version);
  put_units(to, subject);
  fprintf(to, "  <LogCategories>\n    <Category name=\"logStatusError\"/>\n"
              "    <Category name=\"logStatusDiscard\"/>\n  </LogCategories>\n");
  put_experiment(to, &subject->model->settings);
  fprintf(to, "  <ModelVariables>\n");
  for (int i = 0; i < count_variables(subject); i++) put_variable(to, subject, i, version);
  fprintf(to, "  </ModelVariables>\n");
  put_structure(to, subject, version);
  fprintf(to, "</fmiModelDescription>\n");
  const int failed = ferror(to) != 0;
  if (fclose(to) == 0 && !failed) return text;
  free(text);
  return NULL;
}
