/* Simulated seconds per second of batches: the heavy top at h = 1e-3 with geom1 and rattle, and a
 * double pendulum with motors, for 1 and 2 threads and for calls of 1 and 20 steps.
 *
 *     bench/batch [copies [seconds]]
 *
 * Each figure is the best of ROUNDS rounds, which take all cases in turns.  "per core" divides by
 * the threads.  Times are those of the clock on the wall, so the machine must be quiet for more
 * than one thread; the time of the processors is shown beside them. */
#define _POSIX_C_SOURCE 200809L
#include <polhode/polhode.h>

#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "simulation/heavy_top.h"

enum { ROUNDS = 7, MOST_CASES = 32 };

static double now(clockid_t clock)
{
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void stop(const char *what)
{
  fprintf(stderr, "batch: %s\n", what);
  exit(1);
}

/* Two rods on hinges with a torque at each as an input. */
static pol_mechanism *create_arm(void)
{
  pol_mechanism *mechanism;
  if (pol_mechanism_create(&mechanism)) stop("mechanism");
  pol_mechanism_set_gravity(mechanism, (double[]){0, 0, -9.81});
  for (int i = 0; i < 2; i++) {
    pol_body rod = pol_body_default();
    pol_joint hinge = {.name = i == 0 ? "shoulder" : "elbow", .type = POL_REVOLUTE};
    pol_variable input = {.name = i == 0 ? "u1" : "u2", .expression = "0", .input = 1};
    pol_force motor = pol_force_default();
    rod.name = i == 0 ? "upper" : "lower";
    rod.position[0] = i + 0.5;
    rod.inertia[0] = 1e-4;
    rod.inertia[4] = rod.inertia[8] = 1.0 / 12;
    motor.name = i == 0 ? "motor1" : "motor2";
    motor.type = POL_JOINT_SPRING;
    motor.joint = i;
    motor.expressions[0] = input.name;
    pol_mechanism_add_body(mechanism, &rod, NULL);
    pol_mechanism_add_joint_at(mechanism, &hinge, i == 0 ? POL_GROUND : 0, i, (double[]){i, 0, 0},
                               (double[]){0, 1, 0}, NULL);
    pol_mechanism_add_variable(mechanism, &input, NULL);
    pol_mechanism_add_force(mechanism, &motor, NULL);
  }
  return mechanism;
}

typedef struct bench_case {
  const char *model, *method;
  const pol_mechanism *mechanism;
  pol_batch *batch;
  int threads;
  long steps;       /* per call */
  double wall, cpu; /* best */
  double bytes;     /* per copy */
} bench_case;

static void open_case(bench_case *c, int copies, int num_inputs)
{
  static const char *const inputs[] = {"u1", "u2"};
  pol_batch_settings s = pol_batch_settings_default();
  pol_diagnostics d;
  s.count = copies;
  s.threads = c->threads;
  s.num_inputs = num_inputs;
  s.inputs = inputs;
  s.simulation.options.method = c->method;
  s.simulation.options.order = 2;
  const size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
  if (pol_batch_create(&c->batch, c->mechanism, &s, &d)) stop(d.message);
  c->bytes = (double)(mallinfo2().uordblks + mallinfo2().hblkhd - before) / copies;
  c->wall = c->cpu = HUGE_VAL;
}

static void run_case(bench_case *c, int num_inputs, long total)
{
  const int copies = pol_batch_count(c->batch);
  if (pol_batch_reset(c->batch, NULL, NULL, NULL)) stop("reset");
  const double wall = now(CLOCK_MONOTONIC), cpu = now(CLOCK_PROCESS_CPUTIME_ID);
  for (long done = 0; done < total; done += c->steps) {
    double *u = pol_batch_inputs(c->batch);
    for (int i = 0; i < copies * num_inputs; i++) u[i] = (double)((i * 37 + done) % 11) * 0.1 - 0.5;
    if (pol_batch_step(c->batch, c->steps)) stop("step");
  }
  c->wall = fmin(c->wall, now(CLOCK_MONOTONIC) - wall);
  c->cpu = fmin(c->cpu, now(CLOCK_PROCESS_CPUTIME_ID) - cpu);
}

int main(int argc, char **argv)
{
  const int copies = argc > 1 ? atoi(argv[1]) : 64;
  const double seconds = argc > 2 ? atof(argv[2]) : 1.0;
  const long total = 20 * (long)ceil(50.0 * seconds);
  const pol_body body = heavy_top_body();
  pol_mechanism *top, *arm = create_arm();
  bench_case cases[MOST_CASES];
  int count = 0;
  if (copies < 1 || !(seconds > 0.0)) stop("usage: batch [copies [seconds]]");
  if (heavy_top_create(&top, &body)) stop("heavy top");
  for (int threads = 1; threads <= 2; threads++)
    for (int k = 0; k < 8; k++) {
      bench_case *c = &cases[count++];
      *c = (bench_case){.model = k / 4 ? "double pendulum" : "heavy top",
                        .mechanism = k / 4 ? arm : top,
                        .method = k % 4 / 2 ? "rattle" : "geom1",
                        .steps = k % 2 ? 20 : 1,
                        .threads = threads};
      open_case(c, copies, c->mechanism == arm ? 2 : 0);
    }
  for (int round = 0; round < ROUNDS; round++)
    for (int k = 0; k < count; k++) run_case(&cases[k], cases[k].mechanism == arm ? 2 : 0, total);

  printf("%d copies, %ld steps of 1 ms each\n\n", copies, total);
  printf("%-16s %-7s %9s %8s %14s %14s %14s %10s\n", "model", "method", "per call", "threads",
         "sim s/s", "per core", "per CPU s", "kB/copy");
  for (int k = 0; k < count; k++) {
    const bench_case *c = &cases[k];
    const double simulated = 1e-3 * (double)total * copies;
    printf("%-16s %-7s %9ld %8d %14.0f %14.0f %14.0f %10.1f\n", c->model, c->method, c->steps,
           pol_batch_threads(c->batch), simulated / c->wall,
           simulated / c->wall / pol_batch_threads(c->batch), simulated / c->cpu, c->bytes / 1e3);
  }
  for (int k = 0; k < count; k++) pol_batch_free(&cases[k].batch);
  pol_mechanism_free(&top);
  pol_mechanism_free(&arm);
  return 0;
}
