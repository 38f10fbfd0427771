/* Files of finite element programs: the same bytes as a matrix and as a list of nodes. */
#include <math.h>

#include "io/file/matrix_market.h"
#include "sandbox.h"

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
  (void)argc, (void)argv;
  fuzz_begin();
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  char message[300] = "";
  poli_entries m;
  poli_nodes nodes;
  fuzz_start_clock();
  fuzz_enter();
  fuzz_write("matrix.mtx", data, size);
  if (poli_matrix_market_read(&m, "matrix.mtx", message, sizeof message) == POL_OK)
    for (size_t e = 0; e < m.count; e++)
      FUZZ_REQUIRE(m.row[e] >= 0 && m.row[e] < m.rows && m.col[e] >= 0 && m.col[e] < m.cols &&
                   isfinite(m.value[e]));
  else
    FUZZ_REQUIRE(message[0] != '\0');
  poli_entries_free(&m);
  message[0] = '\0';
  if (poli_nodes_read(&nodes, "matrix.mtx", message, sizeof message) == POL_OK) {
    FUZZ_REQUIRE(nodes.count > 0);
    for (size_t i = 0; i < 3 * nodes.count; i++) FUZZ_REQUIRE(isfinite(nodes.positions[i]));
  } else {
    FUZZ_REQUIRE(message[0] != '\0');
  }
  poli_nodes_free(&nodes);
  fuzz_leave();
  return 0;
}
