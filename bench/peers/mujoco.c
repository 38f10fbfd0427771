/* MuJoCo: joint coordinates, fixed steps; loops by its constraint solver, which keeps joints
 * softly. A chain costs the third power of its length, since its mass matrix is full; models are
 * read from XML, which may be nested a hundredfold only, so chains end at 95 links. */
#include "peers.h"

#include <mujoco/mujoco.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct text {
  char *data;
  size_t used, size;
} text;

static void append(text *t, const char *format, ...)
{
  va_list arguments;
  if (t->size - t->used < 1000) {
    t->size = 2 * t->size + 4000;
    t->data = realloc(t->data, t->size);
    if (!t->data) abort();
  }
  va_start(arguments, format);
  t->used += (size_t)vsnprintf(t->data + t->used, t->size - t->used, format, arguments);
  va_end(arguments);
}

/* A body with its joint at (x, 0, z) of the body around it. */
static void begin_body(text *t, char kind, int i, double x, double z, const char *joint,
                       const double centre[3], double mass, const double inertia[3])
{
  append(t,
         "<body name='%c%d' pos='%.17g 0 %.17g'>%s<inertial pos='%.17g %.17g %.17g' mass='%.17g' ",
         kind, i, x, z, joint, centre[0], centre[1], centre[2], mass);
  append(t, "diaginertia='%.17g %.17g %.17g'/>", inertia[0], inertia[1], inertia[2]);
}

/* The model with this text as its tree and this one at its end, and room for so many rows of
 * constraints; the text is freed. */
static mjModel *load(text *tree, const char *rest, int rows)
{
  static mjVFS files;
  char error[500] = "";
  text all = {0};
  append(&all, "<mujoco><option gravity='0 0 %.17g'/><size njmax='%d'/><worldbody>", -peer_gravity,
         rows);
  all.size += tree->used + strlen(rest) + 1000;
  all.data = realloc(all.data, all.size);
  if (!all.data) abort();
  all.used += (size_t)sprintf(all.data + all.used, "%s</worldbody>%s</mujoco>", tree->data, rest);
  mj_defaultVFS(&files);
  mj_makeEmptyFileVFS(&files, "model.xml", (int)all.used);
  memcpy(files.filedata[0], all.data, all.used);
  mjModel *model = mj_loadXML("model.xml", &files, error, sizeof error);
  if (!model) fprintf(stderr, "MuJoCo: %s\n", error);
  mj_deleteVFS(&files);
  free(all.data);
  free(tree->data);
  return model;
}

/* MuJoCo warns of numbers that are not finite on standard error and in a file; errors show them. */
static void be_quiet(const char *message)
{
  (void)message;
}

static int run_top(double effort, double end, double x[3], double *seconds, int integrator)
{
  static const double centre[3] = {0.0, 1.0, 0.0};
  text tree = {0};
  begin_body(&tree, 't', 0, 0.0, 0.0, "<joint type='ball'/>", centre, peer_top_mass,
             peer_top_inertia);
  append(&tree, "</body>");
  mjModel *model = load(&tree, "", 10);
  if (!model) return -1;
  mjData *data = mj_makeData(model);
  model->opt.integrator = integrator;
  model->opt.timestep = end / effort;
  memcpy(data->qvel, peer_top_spin, sizeof peer_top_spin); /* body axes */
  const double begin = peer_now();
  for (double n = 0.0; n < effort; n++) mj_step(model, data);
  *seconds = peer_now() - begin;
  mj_forward(model, data);
  memcpy(x, data->xipos + 3, 3 * sizeof *x);
  mj_deleteData(data);
  mj_deleteModel(model);
  return 0;
}

static mjModel *load_chain(int model, int bodies)
{
  const double half = 0.5 * peer_link_length;
  text tree = {0};
  for (int i = 0; i < bodies; i++) {
    const char *joint = model == PEER_SPHERICAL ? "<joint type='ball'/>"
                        : i % 2                 ? "<joint type='hinge' axis='0 0 1'/>"
                                                : "<joint type='hinge' axis='0 1 0'/>";
    begin_body(&tree, 'l', i, i ? peer_link_length : 0.0, 0.0, joint, (double[3]){half, 0.0, 0.0},
               peer_link_mass, peer_link_inertia);
  }
  for (int i = 0; i < bodies; i++) append(&tree, "</body>");
  return load(&tree, "", 10);
}

/* Rocker i carries coupler i, whose end is connected to rocker i+1. */
static mjModel *load_loops(int bodies)
{
  const double rocker[3] = {peer_bar_inertia, peer_bar_inertia, peer_bar_spin};
  const double coupler[3] = {peer_bar_spin, peer_bar_inertia, peer_bar_inertia};
  const char *hinge = "<joint type='hinge' axis='0 1 0'/>";
  const int count = bodies / 2;
  text tree = {0}, loops = {0};
  append(&loops, "<equality>");
  for (int i = 0; i <= count; i++) {
    begin_body(&tree, 'r', i, i, 0.0, hinge, (double[3]){0.0, 0.0, 0.5}, 1.0, rocker);
    if (i < count) {
      begin_body(&tree, 'c', i, 0.0, 1.0, hinge, (double[3]){0.5, 0.0, 0.0}, 1.0, coupler);
      append(&tree, "</body>");
      append(&loops, "<connect body1='c%d' body2='r%d' anchor='1 0 0'/>", i, i + 1);
    }
    append(&tree, "</body>");
  }
  append(&loops, "</equality>");
  mjModel *model = load(&tree, loops.data, 3 * count + 10);
  free(loops.data);
  return model;
}

static int run_chain(int kind, int bodies, int steps, double h, double x[3], double *seconds,
                     int integrator)
{
  mjModel *model = kind == PEER_LOOPS ? load_loops(bodies) : load_chain(kind, bodies);
  if (!model) return -1;
  mjData *data = mj_makeData(model);
  double begin = 0.0, end[3], point[3] = {peer_link_length, 0.0, 0.0};
  model->opt.integrator = integrator;
  model->opt.timestep = h;
  if (kind == PEER_LOOPS) {
    for (int i = 0; i < bodies; i++) data->qvel[i] = i % 2 ? -1.0 : 1.0; /* couplers stay level */
    point[0] = 0.0, point[2] = 1.0;
  }
  for (int n = 0; n < steps; n++) {
    if (n == 2) begin = peer_now();
    mj_step(model, data);
  }
  *seconds = peer_now() - begin;
  mj_forward(model, data);
  mju_rotVecMat(end, point, data->xmat + 9 * bodies);
  for (int i = 0; i < 3; i++) x[i] = data->xpos[3 * bodies + i] + end[i];
  mj_deleteData(data);
  mj_deleteModel(model);
  return 0;
}

/* Makes the connections as hard as the solver allows: their time constant is two steps. */
static void harden(mjModel *model)
{
  for (int i = 0; i < model->neq; i++) {
    model->eq_solref[mjNREF * i] = 2.0 * model->opt.timestep;
    model->eq_solimp[mjNIMP * i] = model->eq_solimp[mjNIMP * i + 1] = 0.9999;
  }
}

static int run_slider(double effort, double end, double x[3], double *seconds, int integrator)
{
  static const double small[3] = {1e-4, 1e-4, 1e-4}, zero[3];
  const double *angle = peer_rod_angle, *speed = peer_rod_speed;
  text tree = {0};
  append(&tree, "<body pos='0 %.17g 0'>", peer_crank_pivot[1]);
  begin_body(&tree, 'c', 0, 0.0, peer_crank_pivot[2], "<joint type='hinge' axis='1 0 0'/>",
             (double[3]){0.0, 0.0, 0.04}, peer_crank_mass, small);
  append(&tree, "</body></body>");
  begin_body(&tree, 's', 0, peer_slider_at, 0.0, "<joint type='slide' axis='1 0 0'/>", zero,
             peer_slider_mass, small);
  begin_body(&tree, 'r', 0, 0.0, 0.0,
             "<joint type='hinge' axis='1 0 0'/><joint type='hinge' axis='0 1 0'/>",
             (double[3]){-peer_rod_half, 0.0, 0.0}, peer_rod_mass, peer_rod_inertia);
  append(&tree, "</body></body>");
  mjModel *model =
      load(&tree, "<equality><connect body1='r0' body2='c0' anchor='-0.3 0 0'/></equality>", 20);
  if (!model) return -1;
  mjData *data = mj_makeData(model);
  /* The anchor on the crank is taken from the pose of the XML, where the rod has another angle. */
  memcpy(model->eq_data + 3, (double[3]){0.0, 0.0, 0.08}, 3 * sizeof(double));
  model->opt.integrator = integrator;
  model->opt.timestep = end / effort;
  harden(model);
  const double q[4] = {0.0, 0.0, angle[0], angle[1]};
  const double v[4] = {peer_crank_speed, peer_slider_speed, speed[0], speed[1]};
  memcpy(data->qpos, q, sizeof q);
  memcpy(data->qvel, v, sizeof v);
  const double begin = peer_now();
  for (double n = 0.0; n < effort; n++) mj_step(model, data);
  *seconds = peer_now() - begin;
  mj_forward(model, data);
  memcpy(x, data->xipos + 3 * (model->nbody - 1), 3 * sizeof *x);
  mj_deleteData(data);
  mj_deleteModel(model);
  return 0;
}

typedef struct motion {
  mjModel *model;
  mjData *data;
} motion;

static int advance(void *data, long n)
{
  const motion *m = data;
  for (; n > 0; n--) mj_step(m->model, m->data);
  return 0;
}

static double get_energy(void *data)
{
  const motion *m = data;
  return peer_loops_energy(m->data->qpos, m->data->qvel, m->model->nv);
}

static int run_loops(int bodies, double effort, double end, double x[3], double *drift,
                     double *seconds, int integrator)
{
  motion m = {.model = load_loops(bodies)};
  if (!m.model) return -1;
  m.data = mj_makeData(m.model);
  m.model->opt.integrator = integrator;
  m.model->opt.timestep = end / effort;
  harden(m.model);
  for (int i = 0; i < bodies; i++) m.data->qvel[i] = i % 2 ? -1.0 : 1.0;
  const peer_motion all = {advance, get_energy, &m};
  const int status = peer_sample(&all, 0, effort, drift, seconds);
  const double angle = m.data->qpos[bodies - 1];
  x[0] = bodies / 2 + sin(angle), x[1] = 0.0, x[2] = cos(angle);
  mj_deleteData(m.data);
  mj_deleteModel(m.model);
  return status;
}

/* The functions of a driver for one integrator. */
#define METHODS(name, integrator)                                                                  \
  static int name##_top(double effort, double end, double x[3], double *seconds)                   \
  {                                                                                                \
    return run_top(effort, end, x, seconds, integrator);                                           \
  }                                                                                                \
  static int name##_slider(double effort, double end, double x[3], double *seconds)                \
  {                                                                                                \
    return run_slider(effort, end, x, seconds, integrator);                                        \
  }                                                                                                \
  static int name##_loops(int bodies, double effort, double end, double x[3], double *drift,       \
                          double *seconds)                                                         \
  {                                                                                                \
    return run_loops(bodies, effort, end, x, drift, seconds, integrator);                          \
  }                                                                                                \
  static int name##_chain(int kind, int bodies, int steps, double h, double x[3], double *seconds) \
  {                                                                                                \
    return run_chain(kind, bodies, steps, h, x, seconds, integrator);                              \
  }
METHODS(euler, mjINT_EULER)
METHODS(rk4, mjINT_RK4)

const peer_method *peer_methods(int *count)
{
  static char program[40];
  static peer_method methods[] = {
      {.program = program,
       .method = "RK4",
       .nature = "order 4, joint coordinates, soft loops, double",
       .first = 250,
       .top = rk4_top,
       .slider = rk4_slider,
       .loops = rk4_loops,
       .chain = rk4_chain,
       .largest = {95, 95, 1001}},
      {.program = program,
       .method = "Euler",
       .nature = "order 1, joint coordinates, soft loops, double",
       .first = 250,
       .top = euler_top,
       .slider = euler_slider,
       .loops = euler_loops,
       .chain = euler_chain,
       .largest = {95, 95, 1001}},
  };
  mju_user_warning = be_quiet;
  snprintf(program, sizeof program, "MuJoCo %s", mj_versionString());
  *count = (int)(sizeof methods / sizeof methods[0]);
  return methods;
}
