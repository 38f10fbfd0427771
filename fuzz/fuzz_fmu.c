/* FMUs that are named as controllers: the bytes as an archive or, unless they begin as one, as the
 * description inside.  Nothing is executed. */
#include <stdlib.h>
#include <string.h>

#include "io/fmi/import.h"
#include "sandbox.h"

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
  (void)argc, (void)argv;
  fuzz_begin();
  return 0;
}

static void read_archive(void)
{
  static pol_binding input = {"angle", 0, 0.0}, output = {"torque", 1, 0.0}, k = {"k", -2, 1.0};
  const pol_fmu_controller controller = {.name = (char *)"pd",
                                         .file = (char *)"input.fmu",
                                         .path = (char *)"input.fmu",
                                         .period = 1.0,
                                         .num_inputs = 1,
                                         .num_outputs = 1,
                                         .num_parameters = 1,
                                         .inputs = &input,
                                         .outputs = &output,
                                         .parameters = &k};
  poli_fmu_archive fmu = {.object = NULL};
  pol_errors errors = {0};
  const pol_status status = poli_fmu_open(&fmu, &controller, 0, &errors);
  if (status == POL_OK) FUZZ_REQUIRE(fmu.object != NULL && fmu.inputs[0] >= 0 && errors.count == 0);
  if (status == POL_BAD_ARGUMENT) FUZZ_REQUIRE(errors.count > 0);
  /* entries of a directory that was refused have not been checked */
  for (int i = 0; i < fmu.zip.count && fmu.description.version > 0; i++) {
    char *bytes = NULL;
    const poli_unzip_entry *entry = &fmu.zip.entries[i];
    if (entry->size < 1 << 24 && poli_unzip_read(&fmu.zip, entry, &bytes) == POL_OK)
      FUZZ_REQUIRE(bytes[entry->size] == '\0');
    free(bytes);
  }
  pol_errors_clear(&errors);
  poli_fmu_close(&fmu);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  fuzz_start_clock();
  if (size >= 2 && memcmp(data, "PK", 2) == 0) {
    fuzz_enter();
    fuzz_write("input.fmu", data, size);
    read_archive();
    fuzz_leave();
    return 0;
  }
  poli_fmu_description description = {0};
  const pol_status status = poli_fmu_read_description(&description, (const char *)data, size);
  if (status == POL_OK)
    FUZZ_REQUIRE(description.version >= 2 && description.identifier[0] != '\0');
  else if (status == POL_BAD_ARGUMENT)
    FUZZ_REQUIRE(description.reason[0] != '\0');
  poli_fmu_description_free(&description);
  return 0;
}
