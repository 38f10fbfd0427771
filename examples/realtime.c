/* A slider-crank in real time: every millisecond the program wakes up, reads the crank, sets the
 * torque of its motor and computes the next step, as hardware in the loop does.  At the end it
 * prints how long that took.
 *
 *     realtime [seconds]
 *
 * Deadlines are absolute, so that delays do not add up.  For the best figures run it as root with a
 * kernel for real time: chrt -f 80 ./realtime 60. */
#define _POSIX_C_SOURCE 200809L
#include <polhode/polhode.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

static const double period = 1e-3;

/* Crank of 0.1 m on a hinge about y, rod of 0.3 m with a ball and a universal joint at its ends,
 * slider along x: no constraint is redundant. */
static pol_mechanism *create_slider_crank(void)
{
  static const struct {
    const char *name;
    double mass, x;
  } bodies[] = {{"crank", 0.5, 0.05}, {"rod", 0.3, 0.25}, {"slider", 0.4, 0.4}};
  static const struct {
    pol_joint joint;
    int first, second;
    double x, axis[6];
  } joints[] = {
      {{.name = "hinge", .type = POL_REVOLUTE}, POL_GROUND, 0, 0.0, {0, 1, 0}},
      {{.name = "ball", .type = POL_SPHERICAL}, 0, 1, 0.1, {0}},
      {{.name = "cross", .type = POL_UNIVERSAL}, 1, 2, 0.4, {0, 1, 0, 0, 0, 1}},
      {{.name = "guide", .type = POL_PRISMATIC}, POL_GROUND, 2, 0.4, {1, 0, 0}},
  };
  const pol_variable variables[] = {{.name = "torque", .expression = "0", .input = 1},
                                    {.name = "speed", .expression = "hinge.rate"}};
  pol_mechanism *mechanism;
  if (pol_mechanism_create(&mechanism)) return NULL;
  pol_mechanism_set_gravity(mechanism, (double[]){0, 0, -9.81});
  for (int i = 0; i < 3; i++) {
    pol_body body = pol_body_default();
    body.name = bodies[i].name, body.mass = bodies[i].mass, body.position[0] = bodies[i].x;
    for (int k = 0; k < 9; k += 4) body.inertia[k] = 1e-3;
    pol_mechanism_add_body(mechanism, &body, NULL);
  }
  for (int i = 0; i < 4; i++)
    pol_mechanism_add_joint_at(mechanism, &joints[i].joint, joints[i].first, joints[i].second,
                               (double[]){joints[i].x, 0, 0}, i == 1 ? NULL : joints[i].axis, NULL);
  for (int i = 0; i < 2; i++) pol_mechanism_add_variable(mechanism, &variables[i], NULL);
  pol_force motor = pol_force_default();
  motor.name = "motor", motor.type = POL_JOINT_SPRING, motor.joint = 0;
  motor.expressions[0] = "torque";
  pol_mechanism_add_force(mechanism, &motor, NULL);
  return mechanism;
}

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void sleep_until(double t)
{
  struct timespec at = {.tv_sec = (time_t)t};
  at.tv_nsec = (long)(1e9 * (t - (double)at.tv_sec));
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) != 0) continue;
}

static int compare(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Times in seconds: mean, 99.9 %, worst, and how many lie between powers of two. */
static void print_times(const char *title, double *times, long count)
{
  double sum = 0.0;
  for (long i = 0; i < count; i++) sum += times[i];
  qsort(times, (size_t)count, sizeof *times, compare);
  printf("%s: mean %.1f, 99.9 %% %.1f, worst %.1f microseconds\n", title, 1e6 * sum / (double)count,
         1e6 * times[(long)(0.999 * (double)(count - 1))], 1e6 * times[count - 1]);
  for (double above = 0.0, below = 1e-6; above <= times[count - 1]; above = below, below *= 2.0) {
    long inside = 0;
    for (long i = 0; i < count; i++) inside += times[i] >= above && times[i] < below;
    if (inside > 0) printf("  %8.0f to %8.0f us  %8ld\n", 1e6 * above, 1e6 * below, inside);
  }
}

int main(int argc, char **argv)
{
  const double seconds = argc > 1 ? atof(argv[1]) : 2.0;
  const long count = (long)(seconds / period);
  pol_mechanism *mechanism = create_slider_crank();
  pol_settings settings = pol_settings_default();
  pol_simulation *simulation;
  pol_diagnostics wrong;
  if (count < 1 || !mechanism) return 2;
  settings.step = period;
  settings.end = (double)count * period;
  settings.options.newton.fixed_iterations = 2; /* the same work in every step */
  settings.options.newton.matrix_interval = 1;
  settings.options.newton.tolerance = 1e-6;
  pol_status status = pol_simulation_create(&simulation, mechanism, &settings, &wrong);
  double *work = malloc((size_t)count * sizeof *work), *late = malloc((size_t)count * sizeof *late);
  if (status || !work || !late) {
    fprintf(stderr, "%s\n", status ? wrong.message : "out of memory");
    return 1;
  }
  for (long n = 0; n < count; n++) work[n] = late[n] = 0.0; /* touch the pages */
  if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0)
    printf("memory is not locked: page faults may delay steps\n");

  const int torque = pol_mechanism_find_variable(mechanism, "torque");
  double speed = 0.0, integral = 0.0, begin = now() + period;
  long missed = 0;
  for (long n = 0; n < count && !status; n++) {
    const double deadline = begin + (double)n * period;
    sleep_until(deadline);
    const double start = now();
    /* the controller: 20 rad/s */
    const double error = 20.0 - speed;
    integral += period * error;
    double values[2];
    status = pol_simulation_set_input(simulation, torque, 0.05 * error + 0.2 * integral);
    if (!status) status = pol_simulation_step(simulation);
    const pol_point at = pol_state_point(pol_simulation_state(simulation));
    pol_formulation_variables(pol_simulation_formulation(simulation), &at, values);
    speed = values[1];
    const double end = now();
    late[n] = start - deadline;
    work[n] = end - start;
    missed += end > deadline + period;
  }
  if (status) fprintf(stderr, "%s\n", pol_simulation_diagnostics(simulation)->message);
  const pol_counts *counts = &pol_simulation_summary(simulation)->counts;
  print_times("step", work, count);
  print_times("wake-up", late, count);
  printf("speed %.2f rad/s; %ld of %ld deadlines missed\n", speed, missed, count);
  printf("residual above the tolerance in %ld steps, at most %.3g of it\n", counts->inexact,
         counts->worst_residual);
  free(work);
  free(late);
  pol_simulation_free(&simulation);
  pol_mechanism_free(&mechanism);
  return status != POL_OK;
}
