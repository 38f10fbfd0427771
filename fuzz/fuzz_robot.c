/* Robots: reads the text as URDF or MJCF, then builds and simulates the model of it for three
 * steps, and lets the command import it.
 *
 * What follows a zero byte is the file part.xml, which the text may include; meshes are in
 * corner.obj, corner.stl (the same one) and corner.dae. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/model.h>
#include <polhode/polhode.h>
#include <polhode/robot.h>

#include "io/model/expand.h"
#include "sandbox.h"

static const char obj[] =
    "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
static const char stl[] =
    "solid\nfacet\nvertex 0 0 0\nvertex 0 1 0\nvertex 1 0 0\nfacet\nvertex 0 0 0\nvertex 1 0 0\n"
    "vertex 0 0 1\nfacet\nvertex 0 0 0\nvertex 0 0 1\nvertex 0 1 0\nfacet\nvertex 1 0 0\n"
    "vertex 0 1 0\nvertex 0 0 1\n";
static const char dae[] =
    "<COLLADA><library_geometries><geometry id='g'><mesh><source id='s'><float_array id='a'>"
    "0 0 0 1 0 0 0 1 0 0 0 1</float_array><technique_common><accessor source='#a' count='4' "
    "stride='3'/></technique_common></source><vertices id='v'><input semantic='POSITION' "
    "source='#s'/></vertices><triangles><input semantic='VERTEX' source='#v' offset='0'/>"
    "<p>0 2 1 0 1 3 0 3 2 1 2 3</p></triangles></mesh></geometry></library_geometries>"
    "<library_visual_scenes><visual_scene id='w'><node><instance_geometry url='#g'/></node>"
    "</visual_scene></library_visual_scenes><scene><instance_visual_scene url='#w'/></scene>"
    "</COLLADA>";

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
  (void)argc, (void)argv;
  poli_expansion_limit = 5000;
  fuzz_begin();
  fuzz_enter();
  fuzz_write("corner.obj", obj, sizeof obj - 1);
  fuzz_write("corner.stl", stl, sizeof stl - 1);
  fuzz_write("corner.dae", dae, sizeof dae - 1);
  fuzz_keep("corner.obj");
  fuzz_keep("corner.stl");
  fuzz_keep("corner.dae");
  fuzz_leave();
  return 0;
}

/* Three steps; all coordinates and velocities of a state that the library calls good are numbers.
 */
static void simulate(const pol_model *model)
{
  pol_simulation *simulation = NULL;
  pol_diagnostics diagnostics;
  pol_settings settings = model->settings;
  settings.output = (pol_output){0};
  pol_status status = pol_simulation_create(&simulation, model->mechanism, &settings, &diagnostics);
  FUZZ_REQUIRE(status == POL_OK || (simulation == NULL && diagnostics.message[0] != '\0'));
  for (int i = 0; i < 3 && status == POL_OK && !pol_simulation_finished(simulation); i++) {
    status = pol_simulation_step(simulation);
    const pol_state *state = pol_simulation_state(simulation);
    const pol_dae *dae_of = pol_formulation_dae(pol_simulation_formulation(simulation));
    for (int k = 0; k < dae_of->group.nq && status == POL_OK; k++)
      FUZZ_REQUIRE(isfinite(state->q[k]));
    for (int k = 0; k < dae_of->group.nv && status == POL_OK; k++)
      FUZZ_REQUIRE(isfinite(state->v[k]));
  }
  pol_simulation_free(&simulation);
}

/* What the reader makes of a robot is a model file that is read without an error of its form: rules
 * of mechanisms may be violated, which is an error too. */
static void read_as(const pol_robot_options *options)
{
  char *text = NULL, *notes = NULL;
  pol_errors errors = {0};
  const pol_status status = pol_robot_read_file("robot.xml", options, &text, &notes, &errors);
  if (status == POL_OK) {
    FUZZ_REQUIRE(text != NULL && notes != NULL && errors.count == 0);
    pol_model *model = NULL;
    fuzz_write("robot.json", text, strlen(text));
    const pol_status read = pol_model_read_file(&model, "robot.json", 0, NULL, &errors);
    if (read == POL_OK)
      simulate(model);
    else
      FUZZ_REQUIRE(model == NULL && (read != POL_BAD_ARGUMENT || errors.count > 0));
    pol_model_free(&model);
  } else {
    FUZZ_REQUIRE(text == NULL && (status != POL_BAD_ARGUMENT || errors.count > 0));
    for (int i = 0; i < errors.count; i++) FUZZ_REQUIRE(errors.items[i].rule[0] != '\0');
  }
  pol_errors_clear(&errors);
  free(text);
  free(notes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static const char *const import[] = {"import", "robot.xml", "--out", "out.json", NULL};
  static const char *const check[] = {"check", "robot.xml", NULL};
  fuzz_start_clock();
  char *text = fuzz_text(data, size);
  const size_t length = strlen(text);
  fuzz_enter();
  fuzz_write("robot.xml", text, length);
  if (length < size) fuzz_write("part.xml", text + length + 1, size - length - 1);
  const pol_robot_options options = {.floating = size % 2 == 0,
                                     .keyframe = size % 3 == 0 ? "home" : NULL};
  read_as(&options);
  if (size % 16 == 0) fuzz_command(40, import);
  if (size % 16 == 8) fuzz_command(40, check);
  fuzz_leave();
  free(text);
  return 0;
}
