/* Large mechanisms with closed loops: steps per second, memory and what a step consists of.
 *
 *     large [--csv FILE] [--rounds N] [MODEL SIZE METHOD [STEP]]
 *
 * four-bars SIZE: coupled four-bars of hinges, as in the IFToMM benchmark, 10 s with steps of 1 ms
 *                 through all flat positions.
 * net SIZE:       SIZE x SIZE meshes of rods with ball joints, hung up at a corner.
 * vehicles SIZE:  so many tracked vehicles: a hull on springs, 16 wheels, two tracks of 64 links
 * that hinges close to loops, and a spring from each link to a wheel. METHOD is geom1 or rattle;
 * steps of 1 ms, or STEP in seconds, with all that a simulation measures of them.  Without a model
 * all rows of the table are run, each in a process of its own, so that memory is its own. */
#include "measure.h"

#include <sys/resource.h>
#include <sys/wait.h>

#include <polhode/polhode.h>

typedef enum kind { FOUR_BARS, NET, VEHICLES, KINDS } kind;
static const char *const names[KINDS] = {"four-bars", "net", "vehicles"};
static const double pi = 3.14159265358979323846;

static void check(pol_status status, const char *what)
{
  if (status == POL_OK) return;
  fprintf(stderr, "bench: %s: %s\n", what, pol_status_text(status));
  exit(1);
}

/* --- models ----------------------------------------------------------------------------------- */

/* A body at a place, with its own axes turned about y; returns its index. */
static int add_body(pol_mechanism *m, double mass, const double inertia[3], const double at[3],
                    double angle)
{
  char name[24];
  int index = pol_mechanism_num_bodies(m);
  snprintf(name, sizeof name, "b%d", index);
  const pol_body body = {.name = name,
                         .mass = mass,
                         .inertia = {inertia[0], 0, 0, 0, inertia[1], 0, 0, 0, inertia[2]},
                         .position = {at[0], at[1], at[2]},
                         .rotation = {cos(0.5 * angle), 0.0, sin(0.5 * angle), 0.0}};
  check(pol_mechanism_add_body(m, &body, &index), "body");
  return index;
}

/* A hinge about y, or a ball joint, at a place. */
static void add_joint(pol_mechanism *m, pol_joint_type type, int a, int b, const double at[3])
{
  static const double y[3] = {0.0, 1.0, 0.0};
  char name[24];
  snprintf(name, sizeof name, "j%d", pol_mechanism_num_joints(m));
  pol_joint joint = {.name = name, .type = type};
  check(pol_mechanism_add_joint_at(m, &joint, a, b, at, type == POL_REVOLUTE ? y : NULL, NULL),
        "joint");
}

/* A spring and damper between points of two bodies that are at rest there; places are global. */
static void add_spring(pol_mechanism *m, double stiffness, double damping, int a, int b,
                       const double from[3], const double to[3])
{
  char name[24];
  double length = 0.0;
  snprintf(name, sizeof name, "f%d", pol_mechanism_num_forces(m));
  pol_force force = {
      .name = name, .type = POL_SPRING_DAMPER, .stiffness = {stiffness}, .damping = {damping}};
  for (int k = 0; k < 2; k++) {
    const int body = k ? b : a;
    const double *at = k ? to : from;
    pol_marker marker = {.name = "", .body = body, .rotation = {1.0, 0.0, 0.0, 0.0}};
    double d[3] = {at[0], at[1], at[2]};
    if (body != POL_GROUND) {
      const pol_body *own = pol_mechanism_body(m, body);
      const double angle = 2.0 * atan2(own->rotation[2], own->rotation[0]);
      for (int i = 0; i < 3; i++) d[i] = at[i] - own->position[i];
      const double x = cos(angle) * d[0] - sin(angle) * d[2];
      d[2] = sin(angle) * d[0] + cos(angle) * d[2];
      d[0] = x;
    }
    memcpy(marker.position, d, sizeof d);
    check(pol_mechanism_add_marker(m, &marker, &force.marker[k]), "marker");
    length += (to[k] - from[k]) * (to[k] - from[k]);
  }
  force.length = sqrt(length + (to[2] - from[2]) * (to[2] - from[2]));
  check(pol_mechanism_add_force(m, &force, NULL), "force");
}

/* Rockers upright, couplers level; links of 1 m and 1 kg, tops at 1 m/s. */
static void make_four_bars(pol_mechanism *m, int count)
{
  static const double rocker[3] = {0.08, 0.08, 0.001}, coupler[3] = {0.001, 0.08, 0.08};
  for (int i = 0; i < 2 * count + 1; i++) {
    const int is_rocker = i % 2 == 0;
    char name[24];
    snprintf(name, sizeof name, "b%d", i);
    const double *J = is_rocker ? rocker : coupler;
    const pol_body body = {.name = name,
                           .mass = 1.0,
                           .inertia = {J[0], 0, 0, 0, J[1], 0, 0, 0, J[2]},
                           .position = {0.5 * i, 0.0, is_rocker ? 0.5 : 1.0},
                           .rotation = {1.0, 0.0, 0.0, 0.0},
                           .velocity = {is_rocker ? 0.5 : 1.0, 0.0, 0.0},
                           .angular_velocity = {0.0, is_rocker ? 1.0 : 0.0, 0.0}};
    check(pol_mechanism_add_body(m, &body, NULL), "body");
  }
  for (int i = 0; i <= count; i++) {
    add_joint(m, POL_REVOLUTE, POL_GROUND, 2 * i, (const double[3]){i, 0.0, 0.0});
    if (i == count) break;
    add_joint(m, POL_REVOLUTE, 2 * i, 2 * i + 1, (const double[3]){i, 0.0, 1.0});
    add_joint(m, POL_REVOLUTE, 2 * i + 2, 2 * i + 1, (const double[3]){i + 1, 0.0, 1.0});
  }
}

/* Rods of 0.1 m along the sides of count x count meshes in the x-z plane. */
static void make_net(pol_mechanism *m, int count)
{
  static const double along_x[3] = {1e-6, 8e-5, 8e-5}, along_z[3] = {8e-5, 8e-5, 1e-6};
  const double length = 0.1;
  const int side = count + 1;
  int *first = malloc((size_t)(side * side) * sizeof *first); /* rod at a knot, -1: none yet */
  if (!first) exit(1);
  for (int k = 0; k < side * side; k++) first[k] = -1;
  for (int i = 0; i < side; i++)
    for (int k = 0; k < side; k++)
      for (int up = 0; up < 2; up++) {
        if ((up ? k : i) == count) continue;
        const double at[3] = {length * (i + 0.5 * !up), 0.0, length * (k + 0.5 * up)};
        const int rod = add_body(m, 0.1, up ? along_z : along_x, at, 0.0);
        for (int end = 0; end < 2; end++) {
          const int x = i + (end && !up), z = k + (end && up), knot = x * side + z;
          const double place[3] = {length * x, 0.0, length * z};
          if (first[knot] >= 0) add_joint(m, POL_SPHERICAL, first[knot], rod, place);
          if (first[knot] < 0) first[knot] = rod;
        }
      }
  add_joint(m, POL_SPHERICAL, POL_GROUND, first[count],
            (const double[3]){0.0, 0.0, length * count});
  free(first);
}

/* The place at arc length s on a stadium of two half circles about (-half, 0) and (half, 0) in the
 * x-z plane, and the direction there: an angle about y. */
static double follow_stadium(double s, double radius, double half, double at[3])
{
  const double turn = pi * radius;
  double angle;
  if (s < 2.0 * half) {
    at[0] = -half + s, at[2] = radius;
    return 0.0;
  }
  if ((s -= 2.0 * half) < turn) {
    angle = s / radius;
    at[0] = half + radius * sin(angle), at[2] = radius * cos(angle);
    return angle;
  }
  if ((s -= turn) < 2.0 * half) {
    at[0] = half - s, at[2] = -radius;
    return pi;
  }
  angle = pi + (s - 2.0 * half) / radius;
  at[0] = -half + radius * sin(angle), at[2] = radius * cos(angle);
  return angle;
}

/* A track of so many links around the wheels of a hull, with a spring from each link to the axle of
 * the nearest wheel. */
static void add_track(pol_mechanism *m, int hull, double x0, double y, int links)
{
  enum { WHEELS = 8 };
  static const double link[3] = {0.01, 0.01, 0.01}, disc[3] = {0.5, 1.0, 0.5};
  const double radius = 0.4, half = 1.4, around = 2.0 * pi * radius + 4.0 * half;
  double axle[WHEELS][3];
  int wheel[WHEELS], first = -1, last = -1;
  for (int k = 0; k < WHEELS; k++) {
    axle[k][0] = x0 - half + 2.0 * half * k / (WHEELS - 1);
    axle[k][1] = y;
    axle[k][2] = 0.0;
    wheel[k] = add_body(m, 40.0, disc, axle[k], 0.0);
    add_joint(m, POL_REVOLUTE, hull, wheel[k], axle[k]);
  }
  for (int i = 0; i < links; i++) {
    double joint[3] = {0.0, y, 0.0}, centre[3] = {0.0, y, 0.0};
    follow_stadium(around * i / links, radius, half, joint);
    const double angle = follow_stadium(around * (i + 0.5) / links, radius, half, centre);
    joint[0] += x0;
    centre[0] += x0;
    const int next = add_body(m, 5.0, link, centre, angle);
    if (i > 0) add_joint(m, POL_REVOLUTE, last, next, joint);
    if (i == 0) first = next;
    last = next;
    int nearest = 0;
    for (int k = 1; k < WHEELS; k++)
      if (fabs(axle[k][0] - centre[0]) < fabs(axle[nearest][0] - centre[0])) nearest = k;
    add_spring(m, 1e5, 1e3, next, wheel[nearest], centre, axle[nearest]);
  }
  add_joint(m, POL_REVOLUTE, last, first, (const double[3]){x0 - half, y, radius});
}

static void make_vehicles(pol_mechanism *m, int count)
{
  static const double box[3] = {500.0, 2000.0, 2000.0};
  for (int i = 0; i < count; i++) {
    const double x0 = 5.0 * i;
    const int hull = add_body(m, 5000.0, box, (const double[3]){x0, 0.0, 0.2}, 0.0);
    for (int side = -1; side <= 1; side += 2) {
      add_track(m, hull, x0, 1.0 * side, 64);
      for (int end = -1; end <= 1; end += 2) {
        const double top[3] = {x0 + 1.0 * end, 0.5 * side, 0.3};
        const double ground[3] = {top[0], top[1], -0.7};
        add_spring(m, 2e5, 1e4, POL_GROUND, hull, ground, top);
        const double aside[3] = {top[0] + end, top[1] + side, top[2]};
        add_spring(m, 2e5, 1e4, POL_GROUND, hull, aside, top);
      }
    }
  }
}

static pol_mechanism *make(kind which, int size)
{
  static const double gravity[3] = {0.0, 0.0, -9.81};
  pol_mechanism *mechanism;
  check(pol_mechanism_create(&mechanism), "mechanism");
  pol_mechanism_set_gravity(mechanism, gravity);
  if (which == FOUR_BARS) make_four_bars(mechanism, size);
  if (which == NET) make_net(mechanism, size);
  if (which == VEHICLES) make_vehicles(mechanism, size);
  return mechanism;
}

/* --- runs ------------------------------------------------------------------------------------- */

static double memory_in_mb(void)
{
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (double)usage.ru_maxrss / 1024.0;
}

/* Starts the model and takes steps: 10 s of four-bars, of others 0.3 s or what the budget of time
 * allows. */
static int run(const bench_options *options, kind which, int size, const char *method, double step)
{
  pol_mechanism *mechanism = make(which, size);
  pol_settings settings = pol_settings_default();
  pol_simulation *simulation;
  pol_diagnostics why;
  pol_options_set_method(&settings.options, method);
  if (!strcmp(method, "geom1")) pol_options_set_rho_inf(&settings.options, 0.9);
  settings.step = step;
  settings.end = which == FOUR_BARS ? 10.0 : 0.3;
  double begin = bench_now();
  if (pol_simulation_create(&simulation, mechanism, &settings, &why)) {
    fprintf(stderr, "bench: %s %d, %s: %s\n", names[which], size, method, why.message);
    return 1;
  }
  const double setup = bench_now() - begin;
  const pol_dae *dae = pol_formulation_dae(pol_simulation_formulation(simulation));
  const int equations = dae->group.nv + pol_dae_num_constraints(dae);
  int dropped;
  pol_simulation_dropped(simulation, &dropped);
  check(pol_simulation_step(simulation), "first step");
  const pol_summary *summary = pol_simulation_summary(simulation);
  const pol_counts first = summary->counts;
  pol_status status = POL_OK;
  begin = bench_now();
  while (!status && !pol_simulation_finished(simulation) &&
         (which == FOUR_BARS || bench_now() - begin < options->budget))
    status = pol_simulation_step(simulation);
  const double seconds = bench_now() - begin;
  const double steps = (double)(summary->counts.steps - first.steps);
  if (status)
    fprintf(stderr, "bench: %s %d, %s: %s\n", names[which], size, method,
            pol_simulation_diagnostics(simulation)->message);
  const double numbers[] = {setup,
                            memory_in_mb(),
                            steps / seconds,
                            1e6 * seconds / steps / pol_mechanism_num_bodies(mechanism),
                            (double)(summary->counts.newton_iterations - first.newton_iterations) /
                                steps,
                            (double)(summary->counts.factorizations - first.factorizations) / steps,
                            summary->t,
                            summary->max_energy_drift};
  printf("| %s %d | %d | %d | %d | %s | %.2f s | %.0f MB | %.3g | %.2f | %.2f | %.2f |\n",
         names[which], size, pol_mechanism_num_bodies(mechanism), equations, dropped, method,
         numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5]);
  if (which == FOUR_BARS)
    printf("  %g s simulated in %.3f s, drift %.2g J, %ld rejected\n", numbers[6], seconds,
           numbers[7], summary->counts.rejected);
  fflush(stdout);
  if (options->csv) {
    fprintf(options->csv, "%s,%d,%d,%d,%d,%s", names[which], size,
            pol_mechanism_num_bodies(mechanism), equations, dropped, method);
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
      fprintf(options->csv, ",%.6g", numbers[k]);
    fputc('\n', options->csv);
    fflush(options->csv);
  }
  pol_simulation_free(&simulation);
  pol_mechanism_free(&mechanism);
  return status != POL_OK;
}

static int run_alone(const bench_options *options, kind which, int size, const char *method)
{
  const pid_t child = fork();
  int status = 1;
  if (child == 0) _exit(run(options, which, size, method, 1e-3));
  if (child > 0) waitpid(child, &status, 0);
  return status != 0;
}

int main(int argc, char **argv)
{
  static const struct {
    kind which;
    int size;
  } rows[] = {{FOUR_BARS, 1}, {FOUR_BARS, 10}, {FOUR_BARS, 40}, {FOUR_BARS, 200},
              {VEHICLES, 1},  {VEHICLES, 10},  {NET, 50},       {VEHICLES, 63}};
  int failed = 0, first = 1; /* of the model's arguments, behind the options */
  while (first < argc && argv[first][0] == '-') first += 2;
  const int own = argc > first ? argc - first : 0;
  char **const model = argv + first;
  bench_options options = bench_start(argc - own, argv, 1, 2.0);
  if (options.csv)
    fputs("model,size,bodies,equations,dropped,method,setup,memory,steps_per_second,"
          "microseconds_per_body,iterations,factorizations,end,drift\n",
          options.csv);
  printf("| model | bodies | equations | dropped | method | start | memory | steps per second | us "
         "per body and step | iterations | matrices "
         "|\n|---|---|---|---|---|---|---|---|---|---|---|\n");
  fflush(stdout);
  if (own) {
    int which = 0;
    while (which < KINDS && strcmp(model[0], names[which]) != 0) which++;
    const double step = own == 4 ? atof(model[3]) : 1e-3;
    if (which == KINDS || own < 3 || own > 4 || atoi(model[1]) < 1 || !(step > 0.0)) {
      fprintf(stderr, "bench: MODEL SIZE METHOD [STEP]: four-bars, net or vehicles, a size from 1"
                      " on, geom1 or rattle, seconds\n");
      return 2;
    }
    return run(&options, (kind)which, atoi(model[1]), model[2], step);
  }
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
    for (int rattle = 0; rattle < 2; rattle++)
      failed |= run_alone(&options, rows[k].which, rows[k].size, rattle ? "rattle" : "geom1");
  if (options.csv) fclose(options.csv);
  return failed;
}
