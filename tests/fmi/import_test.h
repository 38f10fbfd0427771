/* The FMU of fmu/controller.c as an archive, and a model with it as its controller, in a folder of
 * the test. */
#ifndef POLHODE_TESTS_FMI_IMPORT_TEST_H
#define POLHODE_TESTS_FMI_IMPORT_TEST_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/fmu.h>

#include "io/file/file.h"
#include "io/fmi/import.h"
#include "io/fmi/zip.h"

static const char test_description[] =
    "<?xml version=\"1.0\"?>\n"
    "<fmiModelDescription fmiVersion=\"%s\" modelName=\"test\" "
    "%s=\"{5f0c2c1e-test-controller}\">\n"
    "<CoSimulation modelIdentifier=\"controller\" canGetAndSetFMU%s=\"true\" "
    "canSerializeFMU%s=\"true\"/>\n<ModelVariables>\n";

/* One variable, by the version of FMI. */
static void put_variable(char *text, size_t size, int version, const char *name, int reference,
                         const char *causality)
{
  const size_t used = strlen(text);
  snprintf(text + used, size - used,
           version == 2 ? "<ScalarVariable name=\"%s\" valueReference=\"%d\" "
                          "causality=\"%s\"><Real/></ScalarVariable>\n"
                        : "<Float64 name=\"%s\" valueReference=\"%d\" causality=\"%s\"/>\n",
           name, reference, causality);
}

/* Writes the FMU; 1 if it is there. */
static int write_test_fmu(const char *path, int version)
{
  static const char *const names[] = {"angle", "rate", "torque", "k", "d", "ki"};
  static const char *const causality[] = {"input",     "input",     "output",
                                          "parameter", "parameter", "parameter"};
  char text[4096], entry[100], *object = NULL;
  const char *state = version == 2 ? "state" : "State";
  size_t size;
  snprintf(text, sizeof text, test_description, version == 2 ? "2.0" : "3.0",
           version == 2 ? "guid" : "instantiationToken", state, state);
  for (int i = 0; i < 6; i++) put_variable(text, sizeof text, version, names[i], i, causality[i]);
  strcat(text, "</ModelVariables></fmiModelDescription>\n");
  snprintf(entry, sizeof entry, "binaries/%s/controller.so", poli_fmu_platform(version));
  if (poli_read_file(POLHODE_TEST_FMU, &object, &size) != POL_OK) return 0;
  poli_zip zip = {.file = fopen(path, "wb")};
  pol_status status = zip.file ? POL_OK : POL_IO;
  if (!status) status = poli_zip_add(&zip, "modelDescription.xml", text, strlen(text));
  if (!status) status = poli_zip_add(&zip, entry, object, size);
  if (!status) status = poli_zip_add(&zip, "resources/gains/one.txt", "1", 1);
  status = poli_zip_end(&zip, status);
  free(object);
  return zip.file && fclose(zip.file) == 0 && status == POL_OK;
}

/* Writes a pendulum with a motor; with_fmu: the FMU drives it. */
static int write_test_model(const char *path, const char *fmu, const char *period,
                            const char *simulation)
{
  FILE *file = fopen(path, "w");
  if (!file) return 0;
  fputs("{\"gravity\": [0, 0, -9.81], \"bodies\": [{\"name\": \"rod\", \"mass\": 1, \"inertia\": "
        "[0.02, 0.02, 0.001], \"position\": [0.3, 0, -0.4]}],\n\"joints\": [{\"name\": \"hinge\", "
        "\"type\": \"revolute\", \"bodies\": [\"ground\", \"rod\"], \"point\": [0, 0, 0], "
        "\"axis\": [0, 1, 0]}],\n\"variables\": [{\"name\": \"motor\", \"expression\": \"0\", "
        "\"input\": true}, {\"name\": \"turned\", \"expression\": \"hinge.angle - 0.3\"}, "
        "{\"name\": \"doubled\", \"expression\": \"2*hinge.rate\"}],\n\"forces\": [{\"name\": "
        "\"drive\", \"type\": \"torque\", \"body\": \"rod\", \"torque\": [\"0\", \"motor\", "
        "\"0\"]}],\n",
        file);
  if (fmu)
    fprintf(file,
            "\"controllers\": [{\"name\": \"pd\", \"fmu\": \"%s\", \"period\": %s, \"inputs\": "
            "{\"angle\": \"turned\", \"rate\": \"doubled\"}, \"outputs\": {\"torque\": "
            "\"motor\"}, \"parameters\": {\"k\": \"4 + 1\", \"d\": 0.3, \"ki\": 2}}],\n",
            fmu, period);
  fprintf(file, "\"simulation\": {%s}}\n", simulation);
  return fclose(file) == 0;
}

#endif
