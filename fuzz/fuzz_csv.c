/* Results as text: the commands that read results, on a table. */
#include <string.h>

#include "example_model.h"
#include "sandbox.h"

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
  (void)argc, (void)argv;
  fuzz_begin();
  fuzz_enter();
  fuzz_write("model.json", example_model, strlen(example_model));
  fuzz_keep("model.json");
  fuzz_leave();
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  fuzz_start_clock();
  fuzz_enter();
  fuzz_write("a.csv", data, size);
  fuzz_result("a.csv", size);
  fuzz_leave();
  return 0;
}
