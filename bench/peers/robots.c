/* Robots that polhode imports against MuJoCo, which reads the same files: mass, centre of mass,
 * joint axes, and the motion of the first second without contacts, limits, friction and actuators.
 * Robots without equalities start with a velocity in every joint.
 *
 *     robots FILE...              a table in Markdown
 *     robots --control FILE...    with the actuators, tendons, springs and dampers: their controls
 *                                 are 0.3, -0.3, 0.3, ... or those of the keyframe, and without
 *                                 one all joints start at rest
 *     robots --keyframe NAME FILE...    from this keyframe
 *     robots --step H FILE...     with this step of polhode, which is 2e-4 else
 */
#include <jansson.h>
#include <math.h>
#include <mujoco/mujoco.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/model.h>
#include <polhode/robot.h>

static int with_control;
static const char *keyframe, *own_step = "2e-4";

static void stop(const char *path, const char *reason)
{
  fprintf(stderr, "%s: %s\n", path, reason);
  exit(1);
}

static double distance(const double *a, const double *b)
{
  return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
              (a[2] - b[2]) * (a[2] - b[2]));
}

static void get_vector(const json_t *object, const char *key, double x[3])
{
  for (size_t i = 0; i < 3; i++)
    x[i] = json_number_value(json_array_get(json_object_get(object, key), i));
}

/* The same controls as those of MuJoCo, by the names of the actuators. */
static void set_controls(json_t *model, const mjModel *m, const char *path)
{
  size_t i;
  json_t *variable;
  int count = 0;
  json_array_foreach(json_object_get(model, "variables"), i, variable)
  {
    if (!json_is_true(json_object_get(variable, "input"))) continue;
    const int id =
        mj_name2id(m, mjOBJ_ACTUATOR, json_string_value(json_object_get(variable, "name")));
    if (id < 0) stop(path, "MuJoCo has no actuator of this name");
    if (!keyframe)
      json_object_set_new(variable, "expression", json_string(id % 2 ? "-0.3" : "0.3"));
    count++;
  }
  if (count != m->nu) stop(path, "polhode does not have all actuators");
}

/* What both programs are compared without. */
static void remove_extras(json_t *model)
{
  size_t i;
  json_t *joint, *laws;
  const char *name;
  if (!with_control) {
    json_object_del(model, "forces");
    json_object_del(model, "variables");
  }
  json_array_foreach(json_object_get(model, "joints"), i, joint)
  {
    json_object_del(joint, "limits");
    json_object_del(joint, "friction");
    json_object_foreach(json_object_get(joint, "coordinates"), name, laws)
    {
      json_object_del(laws, "limits");
      json_object_del(laws, "friction");
    }
  }
}

/* Greatest distance of axes and points of joints that both have. */
static double compare_axes(const json_t *model, const mjModel *m, const mjData *d, int *count)
{
  double worst = 0.0;
  size_t i;
  const json_t *joint;
  json_array_foreach(json_object_get(model, "joints"), i, joint)
  {
    const int id = mj_name2id(m, mjOBJ_JOINT, json_string_value(json_object_get(joint, "name")));
    if (id < 0 || !json_object_get(joint, "axis")) continue;
    double axis[3], point[3];
    get_vector(joint, "axis", axis);
    get_vector(joint, "point", point);
    worst = fmax(worst, distance(axis, d->xaxis + 3 * id));
    if (m->jnt_type[id] == mjJNT_HINGE) worst = fmax(worst, distance(point, d->xanchor + 3 * id));
    ++*count;
  }
  return worst;
}

/* The point of the body in MuJoCo that is its centre of mass in the model. */
static void center_of(const mjData *d, int id, const double local[3], double x[3])
{
  mju_rotVecMat(x, local, d->xmat + 9 * id);
  mju_addTo3(x, d->xpos + 3 * id);
}

static mjData *start_mujoco(mjModel *m, double step, int is_moving)
{
  mjData *d = mj_makeData(m);
  m->opt.disableflags |= mjDSBL_CONTACT | mjDSBL_LIMIT | mjDSBL_FRICTIONLOSS;
  if (!with_control) m->opt.disableflags |= mjDSBL_ACTUATION;
  for (int i = 0; i < m->ntendon && !with_control; i++)
    m->tendon_stiffness[i] = m->tendon_damping[i] = 0.0;
  for (int i = 0; i < m->nu; i++) d->ctrl[i] = i % 2 ? -0.3 : 0.3;
  if (keyframe) mj_resetDataKeyframe(m, d, mj_name2id(m, mjOBJ_KEY, keyframe));
  m->opt.integrator = mjINT_RK4;
  m->opt.timestep = step;
  for (int i = 0; i < m->neq; i++) { /* as hard as MuJoCo allows: a time constant of two steps */
    m->eq_solref[mjNREF * i] = 2.0 * step;
    m->eq_solref[mjNREF * i + 1] = 1.0;
    m->eq_solimp[mjNIMP * i] = m->eq_solimp[mjNIMP * i + 1] = 0.9999;
  }
  for (int i = 0; i < m->nv && is_moving; i++) d->qvel[i] = 0.5 * sin(i + 1.0);
  mj_forward(m, d);
  return d;
}

static void compare(const char *path)
{
  char error[500] = "", *text;
  pol_errors errors = {0};
  const pol_robot_options options = {.keyframe = keyframe};
  if (pol_robot_read_file(path, &options, &text, NULL, &errors))
    stop(path, "polhode cannot read it");
  json_t *model = json_loads(text, 0, NULL), *bodies = json_object_get(model, "bodies"), *body;
  mjModel *m = mj_loadXML(path, NULL, error, sizeof error);
  if (!m) stop(path, error);
  const int is_loop = m->neq > 0;
  const int is_moving = !is_loop && !with_control && !keyframe;
  mjData *d = start_mujoco(m, 1e-3, is_moving);
  remove_extras(model);
  if (with_control) set_controls(model, m, path);

  /* mass and centre; the velocities of MuJoCo for the bodies of the model */
  double mass = 0.0, sum[3] = {0.0, 0.0, 0.0}, x[3], turn[6], arm[3], across[3];
  double mj_mass = 0.0, mj_sum[3] = {0.0, 0.0, 0.0};
  const size_t count = json_array_size(bodies);
  double(*local)[3] = calloc(count, sizeof *local);
  int *ids = calloc(count, sizeof *ids);
  size_t i;
  json_array_foreach(bodies, i, body)
  {
    const double part = json_number_value(json_object_get(body, "mass"));
    get_vector(body, "position", x);
    mass += part;
    mju_addToScl3(sum, x, part);
    ids[i] = mj_name2id(m, mjOBJ_BODY, json_string_value(json_object_get(body, "name")));
    if (ids[i] < 0) stop(path, "MuJoCo has no body of this name");
    mju_sub3(arm, x, d->xpos + 3 * ids[i]);
    mju_rotVecMatT(local[i], arm, d->xmat + 9 * ids[i]);
    mj_objectVelocity(m, d, mjOBJ_XBODY, ids[i], turn, 0);
    mju_cross(across, turn, arm);
    mju_addTo3(across, turn + 3);
    if (!is_moving) continue;
    json_object_set_new(body, "velocity", json_pack("[f, f, f]", across[0], across[1], across[2]));
    json_object_set_new(body, "angular_velocity_global",
                        json_pack("[f, f, f]", turn[0], turn[1], turn[2]));
  }
  for (int k = 1; k < m->nbody; k++) {
    if (m->body_weldid[k] == 0) continue; /* the ground */
    mj_mass += m->body_mass[k];
    mju_addToScl3(mj_sum, d->xipos + 3 * k, m->body_mass[k]);
  }
  mju_scl3(sum, sum, 1.0 / mass);
  mju_scl3(mj_sum, mj_sum, 1.0 / mj_mass);
  int num_axes = 0;
  const double axes = compare_axes(model, m, d, &num_axes);

  /* the first second */
  free(text);
  text = json_dumps(model, JSON_REAL_PRECISION(17));
  pol_model *read = NULL;
  char step_setting[60];
  snprintf(step_setting, sizeof step_setting, "simulation.step=%s", own_step);
  const char *const settings[] = {step_setting, "simulation.end=1"};
  if (pol_model_read_text(&read, text, 2, settings, &errors)) {
    if (errors.count > 0) pol_error_text(&errors.items[0], error, sizeof error);
    stop(path, error);
  }
  pol_simulation *simulation;
  pol_diagnostics wrong;
  pol_status status = pol_simulation_create(&simulation, read->mechanism, &read->settings, &wrong);
  if (status) stop(path, wrong.message);
  while (!status && !pol_simulation_finished(simulation)) status = pol_simulation_step(simulation);
  if (status) stop(path, "the simulation failed");
  double worst[2] = {0.0, 0.0}, path_length = 0.0;
  for (int k = 0; k < 2; k++) { /* steps of 1 ms and of 0.2 ms */
    const double step = k == 0 ? 1e-3 : 2e-4;
    mj_deleteData(d);
    d = start_mujoco(m, step, is_moving);
    for (int n = 0; n < lround(1.0 / step); n++) mj_step(m, d);
    mj_kinematics(m, d);
    for (i = 0; i < count; i++) {
      pol_body_state state;
      pol_simulation_body(simulation, (int)i, &state);
      center_of(d, ids[i], local[i], x);
      worst[k] = fmax(worst[k], distance(x, state.position));
      get_vector(json_array_get(bodies, i), "position", arm);
      path_length = fmax(path_length, distance(arm, state.position));
    }
  }
  const char *slash = strrchr(path, '/');
  printf("| `%s` | %zu | %.6g | %.1e | %.1e | %.1e (%d) | %.2f | %.1e | %.1e |%s\n",
         slash ? slash + 1 : path, count, mass, fabs(mass - mj_mass), distance(sum, mj_sum), axes,
         num_axes, path_length, worst[0], worst[1], is_loop ? " *" : "");
  pol_simulation_free(&simulation);
  pol_model_free(&read);
  mj_deleteData(d);
  mj_deleteModel(m);
  json_decref(model);
  free(text);
  free(local);
  free(ids);
}

int main(int count, char **files)
{
  printf("| robot | bodies | mass, kg | mass | centre, m | axes | moved, m | 1 ms | 0.2 ms |\n");
  printf("|---|---|---|---|---|---|---|---|---|\n");
  for (int i = 1; i < count; i++) {
    if (strcmp(files[i], "--control") == 0) {
      with_control = 1;
      continue;
    }
    if (i + 1 < count && strcmp(files[i], "--keyframe") == 0) {
      keyframe = files[++i];
      continue;
    }
    if (i + 1 < count && strcmp(files[i], "--step") == 0) {
      own_step = files[++i];
      continue;
    }
    compare(files[i]);
    fflush(stdout);
  }
  return 0;
}
