/* Model files, and robots in XML as the models that describe them.  Apart from load.c, so that a
 * program that reads texts only links neither robots nor libxml2. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "io/file/file.h"
#include "io/model/expand.h"
#include "io/robot/robot.h"

/* Bytes of a model file, enough for a million bodies and joints; what has more is something else,
 * perhaps without an end. */
static const size_t largest_model = (size_t)1 << 29;

/* A note if one of two bodies is the reference frame of a body of finite elements. */
static pol_status note_frame(pol_model *model, const char *what, const char *name,
                             const int bodies[2])
{
  for (int i = 0; i < 2 * model->num_reduced_bodies; i++) {
    const int body = model->reduced_bodies[i / 2].body;
    if (bodies[i % 2] != body) continue;
    const pol_flexible_body *flexible = pol_mechanism_body(model->mechanism, body)->flexible;
    const char *first = flexible->num_interfaces > 0 ? flexible->interfaces[0].name : "INTERFACE";
    char *notes = poli_format(
        "%s%s '%s' acts on the reference frame of '%s', and on none of its modes: use an "
        "interface, such as '%s.%s'\n",
        model->notes ? model->notes : "", what, name, flexible->name, flexible->name, first);
    if (!notes) return POL_NO_MEMORY;
    free(model->notes);
    model->notes = notes;
  }
  return POL_OK;
}

static int body_of_marker(const pol_mechanism *mechanism, int index)
{
  const pol_marker *marker = index >= 0 ? pol_mechanism_marker(mechanism, index) : NULL;
  return marker ? marker->body : POL_NOT_FOUND;
}

/* Notes of joints and forces on reference frames of bodies of finite elements. */
static pol_status note_frames(pol_model *model)
{
  const pol_mechanism *m = model->mechanism;
  pol_status status = POL_OK;
  if (model->num_reduced_bodies == 0) return POL_OK;
  for (int i = 0; i < pol_mechanism_num_joints(m) && !status; i++) {
    const pol_joint *joint = pol_mechanism_joint(m, i);
    const int bodies[2] = {body_of_marker(m, joint->marker[0]),
                           body_of_marker(m, joint->marker[1])};
    status = note_frame(model, "joint", joint->name, bodies);
  }
  for (int i = 0; i < pol_mechanism_num_forces(m) && !status; i++) {
    const pol_force *force = pol_mechanism_force(m, i);
    const int on_body = force->type == POL_APPLIED_FORCE || force->type == POL_APPLIED_TORQUE ||
                        force->type == POL_SUPPORT;
    const int on_markers = force->type == POL_SPRING_DAMPER || force->type == POL_BUSHING;
    const int bodies[2] = {on_body      ? force->body
                           : on_markers ? body_of_marker(m, force->marker[0])
                                        : POL_NOT_FOUND,
                           on_markers ? body_of_marker(m, force->marker[1]) : POL_NOT_FOUND};
    status = note_frame(model, "force", force->name, bodies);
  }
  return status;
}

pol_status pol_model_read_file(pol_model **model, const char *path, int num_overrides,
                               const char *const *overrides, pol_errors *errors)
{
  const int is_input = strcmp(path, "-") == 0;
  const char *slash = is_input ? NULL : strrchr(path, '/');
  char *folder = poli_format("%.*s", slash ? (int)(slash - path) + 1 : 0, path);
  char *bytes = NULL, *notes = NULL;
  size_t size;
  *model = NULL;
  pol_status status =
      folder ? poli_read_small_file(is_input ? "/dev/stdin" : path, largest_model, &bytes, &size)
             : POL_NO_MEMORY;
  /* a robot in XML is read as the model that describes it */
  const int is_robot = status == POL_OK && poli_is_robot(bytes, size);
  if (is_robot) {
    char *text = NULL;
    status = poli_robot_text(bytes, size, folder, NULL, &text, &notes, errors);
    free(bytes);
    bytes = text;
    size = text ? strlen(text) : 0;
  }
  if (status == POL_OK) {
    const poli_expansion from = {.folder = folder, .base = is_input ? "" : path + strlen(folder)};
    status = poli_model_read_bytes(model, bytes, size, from, num_overrides, overrides, errors);
    for (int i = 0; is_robot && i < errors->count; i++) errors->items[i].line = 0;
    if (status == POL_OK && notes && notes[0]) {
      (*model)->notes = notes;
      notes = NULL;
    }
    if (status == POL_OK) status = note_frames(*model);
    if (status == POL_NO_MEMORY) pol_model_free(model);
  } else if (status == POL_IO && errors->count == 0) {
    char *rule = poli_format("cannot be read: %s", strerror(errno));
    if (!rule || pol_errors_add(errors, "", "", rule, "") != POL_OK) status = POL_NO_MEMORY;
    free(rule);
  }
  free(folder);
  free(bytes);
  free(notes);
  return status;
}
