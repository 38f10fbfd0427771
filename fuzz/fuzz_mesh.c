/* Mesh files: the same bytes as STL, as OBJ and as Collada. */
#include <math.h>
#include <stdio.h>

#include "io/file/mesh.h"
#include "sandbox.h"

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
  (void)argc, (void)argv;
  fuzz_begin();
  return 0;
}

static void read_as(const char *name)
{
  char message[300] = "";
  poli_mesh mesh;
  const pol_status status = poli_mesh_read(&mesh, name, 0.001, message, sizeof message);
  if (status == POL_OK) {
    FUZZ_REQUIRE(mesh.num_points > 0 && mesh.num_points % 3 == 0);
    for (size_t i = 0; i < 3 * mesh.num_points; i++) FUZZ_REQUIRE(isfinite(mesh.points[i]));
  } else {
    FUZZ_REQUIRE(message[0] != '\0');
  }
  poli_mesh_free(&mesh);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  fuzz_start_clock();
  fuzz_enter();
  fuzz_write("mesh.stl", data, size);
  read_as("mesh.stl");
  FUZZ_REQUIRE(rename("mesh.stl", "mesh.obj") == 0);
  read_as("mesh.obj");
  FUZZ_REQUIRE(rename("mesh.obj", "mesh.dae") == 0);
  read_as("mesh.dae");
  fuzz_leave();
  return 0;
}
