/* Extreme models, and how a method handles them: right, refused, failed with a message, ended with
 * a warning, or wrong.  The reference is a closed form, or a run with a step that resolves the
 * motion.  studies/robustness.c makes the table of docs/robustness.md from
 * this, tests/simulation/test_robustness.c runs a part of it. */
#ifndef POLHODE_TESTS_ROBUSTNESS_H
#define POLHODE_TESTS_ROBUSTNESS_H

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/model.h>
#include <polhode/polhode.h>

/* --- methods ---------------------------------------------------------------------------------- */

typedef struct robust_method {
  const char *title;
  const char *name;
  pol_formulation_kind formulation;
  pol_index index;
  double rho_inf; /* negative: the default */
  int variable;   /* steps from rtol = atol = 1e-6 */
} robust_method;

static const robust_method robust_methods[] = {
    {"auto", "auto", POL_SO3XR3, POL_INDEX_3, -1.0, 0},
    {"auto, variable steps", "auto", POL_SO3XR3, POL_INDEX_2_STABILIZED, 0.8, 1},
    {"geom1, index 3, so3xr3", "geom1", POL_SO3XR3, POL_INDEX_3, -1.0, 0},
    {"geom1, index 3, rho_inf 0, so3xr3", "geom1", POL_SO3XR3, POL_INDEX_3, 0.0, 0},
    {"geom1, index 3, rho_inf 1, Euler parameters", "geom1", POL_EULER_PARAMETERS, POL_INDEX_3, 1.0,
     0},
    {"geom1, index 2, se3", "geom1", POL_SE3_BODY, POL_INDEX_2, -1.0, 0},
    {"geom1, stabilized-2, so3xr3", "geom1", POL_SO3XR3, POL_INDEX_2_STABILIZED, -1.0, 0},
    {"geom1, stabilized-2, variable steps", "geom1", POL_SO3XR3, POL_INDEX_2_STABILIZED, 0.8, 1},
    {"geom2, index 3, Euler parameters", "geom2", POL_EULER_PARAMETERS, POL_INDEX_3, -1.0, 0},
    {"linear, stabilized-2, so3xr3", "linear", POL_SO3XR3, POL_INDEX_2_STABILIZED, -1.0, 0},
    {"hht, index 3, so3xr3", "hht", POL_SO3XR3, POL_INDEX_3, -1.0, 0},
    {"newmark, index 2, so3xr3", "newmark", POL_SO3XR3, POL_INDEX_2, -1.0, 0},
    {"vi-a, directors", "vi-a", POL_DIRECTORS, POL_INDEX_3, -1.0, 0},
    {"em, directors", "em", POL_DIRECTORS, POL_INDEX_3, -1.0, 0},
    {"midpoint, Euler parameters", "midpoint", POL_EULER_PARAMETERS, POL_INDEX_3, -1.0, 0}};
enum { ROBUST_METHODS = sizeof robust_methods / sizeof robust_methods[0], ROBUST_TEXT = 16000 };

/* --- models ----------------------------------------------------------------------------------- */

/* Appends to a text. */
__attribute__((format(printf, 2, 3))) static inline void robust_add(char *text, const char *format,
                                                                    ...)
{
  size_t used = strlen(text);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text + used, ROBUST_TEXT - used, format, arguments);
  va_end(arguments);
}

/* A body of 1 kg, 1 m below a fixed point, on a guide and a spring-damper. */
static inline void robust_hanging(char *text, double stiffness, double damping, double rest)
{
  robust_add(text,
             "{\"gravity\":[0,0,-9.81],\"bodies\":[{\"name\":\"a\",\"mass\":1,\"inertia\":[0.1,0.1,"
             "0.1],\"position\":[0,0,-1]}],\"markers\":[{\"name\":\"g\",\"body\":\"ground\"},"
             "{\"name\":\"p\",\"body\":\"a\"}],\"joints\":[{\"name\":\"guide\",\"type\":"
             "\"prismatic\",\"bodies\":[\"ground\",\"a\"],\"point\":[0,0,0],\"axis\":[0,0,1]}],"
             "\"forces\":[{\"name\":\"s\",\"type\":\"spring-damper\",\"markers\":[\"g\",\"p\"],"
             "\"stiffness\":%.17g,\"damping\":%.17g,\"length\":%.17g}],",
             stiffness, damping, rest);
}

static inline int robust_damper(char *text, double d, double *truth)
{
  robust_hanging(text, 0.0, d, 1.0);
  truth[2] = -1.0 - 9.81 / d * (1.0 - (1.0 - exp(-d)) / d);
  return 1;
}

/* Critical damping. */
static inline int robust_spring(char *text, double k, double *truth)
{
  double w = sqrt(k);
  robust_hanging(text, k, 2.0 * w, 1.0);
  truth[2] = -1.0 - 9.81 / k * (1.0 - (1.0 + w) * exp(-w));
  return 1;
}

/* No damping, at rest in equilibrium. */
static inline int robust_rest(char *text, double k, double *truth)
{
  robust_hanging(text, k, 0.0, 1.0 - 9.81 / k);
  truth[2] = -1.0;
  return 1;
}

/* A block on a slope creeps: friction -0.5 N tanh(v/eps), with eps = 1/p. */
static inline int robust_friction(char *text, double p, double *truth)
{
  robust_add(text,
             "{\"gravity\":[2.9,0,-9.37],\"bodies\":[{\"name\":\"a\",\"mass\":2,\"inertia\":[0.01,"
             "0.01,0.01]}],\"joints\":[{\"name\":\"guide\",\"type\":\"prismatic\",\"bodies\":"
             "[\"ground\",\"a\"],\"point\":[0,0,0],\"axis\":[1,0,0]}],\"variables\":[{\"name\":"
             "\"normal\",\"expression\":\"hypot(guide.force.y, guide.force.z)\"}],\"forces\":"
             "[{\"name\":\"rub\",\"type\":\"force\",\"body\":\"a\",\"force\":"
             "[\"-0.5*normal*tanh(a.velocity.x*%.17g)\",0,0]}],",
             p);
  truth[0] = atanh(2.9 / (0.5 * 9.37)) / p;
  return 1;
}

/* A pendulum of length l and mass m in gravity 9.81 l: always the same angle. */
static inline void robust_pendulum(char *text, double l, double m)
{
  robust_add(text,
             "{\"gravity\":[0,0,%.17g],\"bodies\":[{\"name\":\"a\",\"mass\":%.17g,\"inertia\":"
             "[%.17g,%.17g,%.17g],\"position\":[%.17g,0,0]}],\"joints\":[{\"name\":\"j\",\"type\":"
             "\"revolute\",\"bodies\":[\"ground\",\"a\"],\"point\":[0,0,0],\"axis\":[0,1,0]}],",
             -9.81 * l, m, 0.1 * m * l * l, 0.2 * m * l * l, 0.2 * m * l * l, l);
}

static inline int robust_mass(char *text, double m, double *truth)
{
  (void)truth;
  robust_pendulum(text, 1.0, m);
  return 0;
}

static inline int robust_length(char *text, double l, double *truth)
{
  (void)truth;
  robust_pendulum(text, l, 1.0);
  return 0;
}

/* A double pendulum whose second mass is m. */
static inline int robust_ratio(char *text, double m, double *truth)
{
  (void)truth;
  robust_add(text,
             "{\"gravity\":[0,0,-9.81],\"bodies\":[{\"name\":\"a\",\"mass\":1,\"inertia\":[0.1,0.1,"
             "0.1],\"position\":[0.5,0,0]},{\"name\":\"b\",\"mass\":%.17g,\"inertia\":[%.17g,%.17g,"
             "%.17g],\"position\":[1.5,0,0]}],\"joints\":[{\"name\":\"j\",\"type\":\"revolute\","
             "\"bodies\":[\"ground\",\"a\"],\"point\":[0,0,0],\"axis\":[0,1,0]},{\"name\":\"k\","
             "\"type\":\"spherical\",\"bodies\":[\"a\",\"b\"],\"point\":[1,0,0]}],",
             m, 0.1 * m, 0.1 * m, 0.1 * m);
  return 0;
}

/* A four-bar of links of 1 m with a coupler longer by e, which passes a nearly flat position; e =
 * 0: a flat one, from where it may go on in two ways. */
static inline int robust_four_bar(char *text, double e, double *truth)
{
  double c = 1.0, s = 0.0;
  (void)truth;
  /* crank a up from (0, 0, 0) to (0, 0, 1); crank c from (1, 0, 0) to (1 + s, 0, c) so that the
   * coupler fits: (1 + s)^2 + (1 - c)^2 = 3 + 2 s - 2 c = (1 + e)^2 */
  for (int i = 0; i < 100; i++, c = sqrt(1.0 - s * s))
    s = 0.5 * ((1.0 + e) * (1.0 + e) - 3.0 + 2.0 * c);
  double coupler_x = 0.5 * (1.0 + s), coupler_z = 0.5 * (1.0 + c);
  robust_add(
      text,
      "{\"gravity\":[0,0,-9.81],\"bodies\":["
      "{\"name\":\"a\",\"mass\":1,\"inertia\":[0.08,0.08,0.08],\"position\":[0,0,0.5],"
      "\"angular_velocity\":[0,1,0]},"
      "{\"name\":\"b\",\"mass\":1,\"inertia\":[0.08,0.08,0.08],\"position\":[%.17g,0,%.17g]},"
      "{\"name\":\"c\",\"mass\":1,\"inertia\":[0.08,0.08,0.08],\"position\":[%.17g,0,%.17g]}"
      "],\"joints\":["
      "{\"name\":\"A\",\"type\":\"revolute\",\"bodies\":[\"ground\",\"a\"],\"point\":[0,0,0],"
      "\"axis\":[0,1,0]},"
      "{\"name\":\"B\",\"type\":\"revolute\",\"bodies\":[\"a\",\"b\"],\"point\":[0,0,1],"
      "\"axis\":[0,1,0]},"
      "{\"name\":\"C\",\"type\":\"revolute\",\"bodies\":[\"b\",\"c\"],\"point\":[%.17g,0,"
      "%.17g],\"axis\":[0,1,0]},"
      "{\"name\":\"D\",\"type\":\"revolute\",\"bodies\":[\"c\",\"ground\"],\"point\":[1,0,0],"
      "\"axis\":[0,1,0]}],",
      coupler_x, coupler_z, 1.0 + 0.5 * s, 0.5 * c, 1.0 + s, c);
  return 0;
}

/* A door on n hinges, all but the first redundant. */
static inline int robust_door(char *text, double n, double *truth)
{
  (void)truth;
  robust_add(text, "{\"gravity\":[0,-3,-9.81],\"bodies\":[{\"name\":\"a\",\"mass\":20,\"inertia\":"
                   "[6,8,2],\"position\":[0.5,0,1]}],\"joints\":[");
  for (int i = 0; i < (int)n; i++)
    robust_add(text,
               "%s{\"name\":\"h%d\",\"type\":\"revolute\",\"bodies\":[\"ground\",\"a\"],\"point\":"
               "[0,0,%.17g],\"axis\":[0,0,1]}",
               i ? "," : "", i, 0.2 + 0.4 * i);
  robust_add(text, "],");
  return 0;
}

/* A parallelogram of n + 1 cranks, in space: redundant rows, and flat positions where more become
 * redundant and are not afterwards. */
static inline int robust_parallelogram(char *text, double n, double *truth)
{
  int cranks = (int)n + 1;
  (void)truth;
  robust_add(text, "{\"gravity\":[0,0,-9.81],\"bodies\":[");
  for (int i = 0; i < cranks; i++)
    robust_add(text,
               "{\"name\":\"r%d\",\"mass\":1,\"inertia\":[0.08,0.08,0.001],\"position\":[%d,0,0.5],"
               "\"angular_velocity\":[0,1,0]},",
               i, i);
  robust_add(text,
             "{\"name\":\"bar\",\"mass\":1,\"inertia\":[0.001,0.08,0.08],\"position\":[%.17g,"
             "0,1]}],\"joints\":[",
             0.5 * (cranks - 1));
  for (int i = 0; i < cranks; i++)
    robust_add(text,
               "%s{\"name\":\"g%d\",\"type\":\"revolute\",\"bodies\":[\"ground\",\"r%d\"],"
               "\"point\":[%d,0,0],\"axis\":[0,1,0]},{\"name\":\"b%d\",\"type\":\"revolute\","
               "\"bodies\":[\"r%d\",\"bar\"],\"point\":[%d,0,1],\"axis\":[0,1,0]}",
               i ? "," : "", i, i, i, i, i, i);
  robust_add(text, "],");
  return 0;
}

/* n four-bars in a row, each coupled to the next, shortly before the flat position. */
static inline int robust_row(char *text, double n, double *truth)
{
  const double angle = 1.4, turn = 4.0, x = sin(angle), z = cos(angle);
  const int count = (int)n;
  (void)truth;
  robust_add(text, "{\"gravity\":[0,0,-9.81],\"bodies\":[");
  for (int i = 0; i <= count; i++)
    robust_add(text,
               "{\"name\":\"r%d\",\"mass\":1,\"inertia\":[0.08,0.08,0.001],\"position\":[%.17g,0,"
               "%.17g],\"rotation\":{\"axis\":[0,1,0],\"angle\":%g},\"velocity\":[%.17g,0,%.17g],"
               "\"angular_velocity\":[0,%g,0]},",
               i, i + 0.5 * x, 0.5 * z, angle, 0.5 * turn * z, -0.5 * turn * x, turn);
  for (int i = 0; i < count; i++)
    robust_add(text,
               "%s{\"name\":\"c%d\",\"mass\":1,\"inertia\":[0.001,0.08,0.08],\"position\":[%.17g,0,"
               "%.17g],\"velocity\":[%.17g,0,%.17g]}",
               i ? "," : "", i, i + 0.5 + x, z, turn * z, -turn * x);
  robust_add(text, "],\"joints\":[");
  for (int i = 0; i <= count; i++)
    robust_add(text,
               "%s{\"name\":\"g%d\",\"type\":\"revolute\",\"bodies\":[\"ground\",\"r%d\"],"
               "\"point\":[%d,0,0],\"axis\":[0,1,0]}",
               i ? "," : "", i, i, i);
  for (int i = 0; i < 2 * count; i++) {
    const int k = i / 2, end = i % 2; /* of the coupler */
    robust_add(text,
               ",{\"name\":\"%c%d\",\"type\":\"revolute\",\"bodies\":[\"r%d\",\"c%d\"],"
               "\"point\":[%.17g,0,%.17g],\"axis\":[0,1,0]}",
               end ? 'b' : 'a', k, k + end, k, k + end + x, z);
  }
  robust_add(text, "],");
  return 0;
}

typedef struct robust_scene {
  const char *title, *parameter;
  /* Writes the model but for its simulation; returns 1 if truth, the place of the last body at the
   * end, is known. */
  int (*model)(char *text, double parameter, double *truth);
  int count;
  double parameters[12];
  double end, step;
  double tolerance; /* of that place in m, or lengths of the model */
  double reference; /* step of the run that is the truth; 0: a closed form */
} robust_scene;

static const robust_scene robust_scenes[] = {
    {"mass on a stiff damper, from rest",
     "N s/m",
     robust_damper,
     12,
     {1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14},
     1.0,
     0.01,
     1e-3,
     0.0},
    {"mass on a stiff spring, critically damped, from rest",
     "N/m",
     robust_spring,
     12,
     {1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14},
     1.0,
     0.01,
     1e-3,
     0.0},
    {"mass on a stiff spring, undamped, at rest",
     "N/m",
     robust_rest,
     12,
     {1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14},
     1.0,
     0.01,
     1e-3,
     0.0},
    {"block that creeps against friction tanh(p v)",
     "p in s/m",
     robust_friction,
     4,
     {1e2, 1e3, 1e4, 1e6},
     1.0,
     0.01,
     1e-3,
     0.0},
    {"pendulum, mass",
     "kg",
     robust_mass,
     7,
     {1e-6, 1e-4, 1e-2, 1.0, 1e2, 1e4, 1e6},
     1.0,
     0.01,
     0.02,
     1e-3},
    {"pendulum, length (gravity in proportion)",
     "m",
     robust_length,
     7,
     {1e-6, 1e-4, 1e-2, 1.0, 1e2, 1e4, 1e6},
     1.0,
     0.01,
     0.02,
     1e-3},
    {"double pendulum, ratio of the masses",
     "",
     robust_ratio,
     7,
     {1e-6, 1e-4, 1e-2, 1.0, 1e2, 1e4, 1e6},
     0.8,
     0.005,
     0.02,
     2e-4},
    {"four-bar that misses the flat position",
     "coupler longer by, m",
     robust_four_bar,
     6,
     {0.1, 1e-2, 1e-3, 1e-4, 1e-6, 1e-8},
     1.0,
     0.005,
     0.02,
     1e-4},
    {"door, redundant hinges", "hinges", robust_door, 4, {1, 2, 3, 5}, 1.0, 0.01, 0.02, 1e-3},
    {"parallelogram through a flat position",
     "couplers",
     robust_parallelogram,
     2,
     {1, 2},
     1.0,
     0.01,
     0.05,
     1e-3},
    {"coupled four-bars through a flat position, small steps",
     "four-bars",
     robust_row,
     4,
     {1, 3, 6, 10},
     0.08,
     1e-3,
     1e-3,
     2.5e-4}};
enum { ROBUST_SCENES = sizeof robust_scenes / sizeof robust_scenes[0] };

/* --- verdicts --------------------------------------------------------------------------------- */

typedef enum robust_verdict {
  ROBUST_RIGHT,
  ROBUST_REFUSED,
  ROBUST_FAILED,
  ROBUST_WARNED,
  ROBUST_WRONG
} robust_verdict;

typedef struct robust_result {
  robust_verdict verdict;
  double error;
  char message[400];
} robust_result;

/* Runs a model to its end; the place of the last body goes to position. */
static inline robust_verdict robust_run(const char *text, const robust_method *m, double step,
                                        double end, double *position, char *message, size_t size)
{
  pol_errors errors = {0, NULL};
  pol_model *model = NULL;
  pol_simulation *simulation = NULL;
  pol_diagnostics d;
  robust_verdict verdict = ROBUST_REFUSED;
  if (pol_model_read_text(&model, text, 0, NULL, &errors) != POL_OK) {
    snprintf(message, size, "%s: %s", errors.items[0].path, errors.items[0].rule);
    pol_errors_clear(&errors);
    return verdict;
  }
  pol_settings *settings = &model->settings;
  settings->options = pol_options_default();
  settings->options.method = m->name;
  if (strcmp(m->name, "auto") != 0) pol_options_set_method(&settings->options, m->name);
  if (m->rho_inf >= 0.0) pol_options_set_rho_inf(&settings->options, m->rho_inf);
  settings->options.index = m->index;
  settings->formulation = m->formulation;
  settings->variable = m->variable;
  settings->step = step;
  settings->end = end;
  pol_settings_choose(model->mechanism, 0, settings);
  pol_status status = pol_simulation_create(&simulation, model->mechanism, settings, &d);
  if (status != POL_OK) {
    snprintf(message, size, "%s", d.message);
    verdict = status == POL_BAD_ARGUMENT ? ROBUST_REFUSED : ROBUST_FAILED;
  } else {
    while (status == POL_OK && !pol_simulation_finished(simulation))
      status = pol_simulation_step(simulation);
    const pol_summary *summary = pol_simulation_summary(simulation);
    const pol_state *now = pol_simulation_state(simulation);
    pol_body_state body;
    int last = pol_mechanism_num_bodies(model->mechanism) - 1;
    pol_formulation_body_state(pol_simulation_formulation(simulation), now->q, now->v, last, &body);
    memcpy(position, body.position, sizeof body.position);
    verdict = status != POL_OK ? ROBUST_FAILED : ROBUST_RIGHT;
    if (status != POL_OK)
      snprintf(message, size, "%s", pol_simulation_diagnostics(simulation)->message);
    else if (summary->num_warnings > 0)
      snprintf(message, size, "%s", summary->warnings[0].message);
    else if (summary->singular.count > 0)
      snprintf(message, size, "singular position near t = %.3g s", summary->singular.t);
    if (status == POL_OK && message[0] != '\0') verdict = ROBUST_WARNED;
  }
  pol_simulation_free(&simulation);
  pol_model_free(&model);
  return verdict;
}

/* One cell of the table.  A run that ends where it should is right, with or without a warning. */
static inline robust_result robust_try(const robust_scene *scene, double parameter,
                                       const robust_method *m)
{
  static const robust_method reference = {"", "geom1", POL_SO3XR3, POL_INDEX_2_STABILIZED, -1.0, 0};
  static char text[ROBUST_TEXT];
  robust_result result = {0};
  double truth[3] = {0.0}, position[3] = {0.0}, unit = 1.0;
  /* the run that is the truth of the last model, which many methods are compared with */
  static const robust_scene *last_scene;
  static double last_parameter, last_truth[3];
  static robust_verdict last_verdict;
  text[0] = '\0';
  int known = scene->model(text, parameter, truth);
  robust_add(text, "\"simulation\":{\"step\":%g,\"end\":%g}}", scene->step, scene->end);
  if (!known && (scene != last_scene || parameter != last_parameter)) {
    last_verdict = robust_run(text, &reference, scene->reference, scene->end, last_truth,
                              result.message, sizeof result.message);
    last_scene = scene;
    last_parameter = parameter;
  }
  if (!known && (last_verdict == ROBUST_FAILED || last_verdict == ROBUST_REFUSED)) {
    snprintf(result.message, sizeof result.message, "the reference run has failed");
    result.verdict = ROBUST_WRONG;
    return result;
  }
  if (!known) memcpy(truth, last_truth, sizeof truth);
  if (scene->model == robust_length) unit = parameter;
  result.message[0] = '\0';
  result.verdict =
      robust_run(text, m, scene->step, scene->end, position, result.message, sizeof result.message);
  if (result.verdict == ROBUST_FAILED && result.message[0] == '\0') result.verdict = ROBUST_WRONG;
  if (result.verdict == ROBUST_FAILED || result.verdict == ROBUST_REFUSED) return result;
  for (int i = 0; i < 3; i++)
    result.error = fmax(result.error, fabs(position[i] - truth[i]) / unit);
  if (result.error <= scene->tolerance)
    result.verdict = ROBUST_RIGHT;
  else if (result.verdict == ROBUST_RIGHT)
    result.verdict = ROBUST_WRONG;
  return result;
}

#endif
