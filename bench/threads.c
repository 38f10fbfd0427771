/* Time of a step with 1, 2, ... threads: chains of spherical joints and a net, with geom1 and
 * rattle.
 *
 *     bench/threads [threads [rounds [model [method]]]]
 *
 * Times are those of the clock on the wall: the best of several rounds, which take the numbers of
 * threads in turns.  The end of all runs must be the same to the last bit. */
#define _POSIX_C_SOURCE 200809L
#include <polhode/polhode.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_THREADS = 16 };

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void check(pol_status status, const char *what)
{
  if (status == POL_OK) return;
  fprintf(stderr, "threads: %s: %s\n", what, pol_status_text(status));
  exit(1);
}

static void add_link(pol_mechanism *mechanism, int number, const double position[3])
{
  char name[24];
  pol_body body = pol_body_default();
  snprintf(name, sizeof name, "b%d", number);
  body.name = name;
  body.mass = 0.1;
  for (int k = 0; k < 9; k += 4) body.inertia[k] = 1e-4;
  memcpy(body.position, position, sizeof body.position);
  check(pol_mechanism_add_body(mechanism, &body, NULL), "body");
}

static void add_ball(pol_mechanism *mechanism, int *number, int first, int second,
                     const double point[3])
{
  char name[24];
  pol_joint joint = {.name = name, .type = POL_SPHERICAL};
  snprintf(name, sizeof name, "j%d", (*number)++);
  check(pol_mechanism_add_joint_at(mechanism, &joint, first, second, point, NULL, NULL), "joint");
}

/* A chain of links of 0.1 m that hangs on the ground, from the horizontal. */
static pol_mechanism *create_chain(int links)
{
  pol_mechanism *mechanism;
  int joints = 0;
  check(pol_mechanism_create(&mechanism), "mechanism");
  pol_mechanism_set_gravity(mechanism, (double[]){0, 0, -9.81});
  for (int i = 0; i < links; i++) {
    add_link(mechanism, i, (double[]){0.1 * i + 0.05, 0, 0});
    add_ball(mechanism, &joints, i - 1, i, (double[]){0.1 * i, 0, 0});
  }
  return mechanism;
}

/* A net of n x n knots with links between them, ball joints at the knots, held at one side. */
static pol_mechanism *create_net(int n)
{
  pol_mechanism *mechanism;
  int joints = 0, links = 0;
  check(pol_mechanism_create(&mechanism), "mechanism");
  pol_mechanism_set_gravity(mechanism, (double[]){0, 0, -9.81});
  int *hub = malloc((size_t)(n * n) * sizeof *hub); /* the body that the others at a knot hang on */
  if (!hub) exit(1);
  for (int k = 0; k < n * n; k++) hub[k] = k < n ? POL_GROUND : POL_NOT_FOUND;
  for (int k = 0; k < 2 * n * n; k++) {
    const int across = k % 2, i = k / 2 / n, j = k / 2 % n;
    const int ends[2] = {n * i + j, across ? n * i + j + 1 : n * (i + 1) + j};
    if (across ? j == n - 1 || i == 0 : i == n - 1) continue;
    add_link(mechanism, links,
             (double[]){0.1 * j + (across ? 0.05 : 0.0), 0.1 * i + (across ? 0.0 : 0.05), 0});
    for (int e = 0; e < 2; e++) {
      const double point[3] = {0.1 * (ends[e] % n), 0.1 * (double)(ends[e] / n), 0};
      if (hub[ends[e]] != POL_NOT_FOUND)
        add_ball(mechanism, &joints, hub[ends[e]], links, point);
      else
        hub[ends[e]] = links;
    }
    links++;
  }
  free(hub);
  return mechanism;
}

typedef struct plan {
  const char *name;
  int size, is_net, steps;
  const char *method;
} plan;

static void measure(const plan *p, const pol_mechanism *mechanism, int threads, int rounds)
{
  pol_formulation *formulation;
  pol_integrator *integrators[MOST_THREADS];
  double best[MOST_THREADS];
  check(pol_formulation_create(&formulation, mechanism, POL_SO3XR3), "formulation");
  const pol_dae *dae = pol_formulation_dae(formulation);
  const size_t nq = (size_t)dae->group.nq, nv = (size_t)dae->group.nv;
  double *q = malloc((nq + nv + 1) * sizeof *q), *v = q + nq;
  unsigned char *keep = malloc(nv + 1);
  if (!q || !keep) exit(1);
  pol_formulation_initial(formulation, q, v, keep);
  for (int k = 0; k < threads; k++) {
    pol_options options = pol_options_default();
    options.method = p->method;
    options.order = 2;
    options.threads = k + 1;
    best[k] = HUGE_VAL;
    check(pol_integrator_create(&integrators[k], dae, &options), "integrator");
  }
  for (int round = 0; round < rounds; round++)
    for (int k = 0; k < threads; k++) {
      check(pol_integrator_start(integrators[k], 0.0, q, v, keep), "start");
      check(pol_integrator_steps(integrators[k], 1e-3, 3), "first steps");
      const double begin = now();
      check(pol_integrator_steps(integrators[k], 1e-3, p->steps), "step");
      best[k] = fmin(best[k], (now() - begin) / p->steps);
    }
  printf("%-14s %-7s", p->name, p->method);
  for (int k = 0; k < threads; k++) {
    const double *own = pol_integrator_state(integrators[k])->q;
    const int same = !memcmp(own, pol_integrator_state(integrators[0])->q, nq * sizeof *own);
    printf("  %8.3f ms %5.2fx%s", 1e3 * best[k], best[0] / best[k], same ? "" : " DIFFERS");
  }
  printf("\n");
  fflush(stdout);
  for (int k = 0; k < threads; k++) pol_integrator_free(&integrators[k]);
  pol_formulation_free(&formulation);
  free(q);
  free(keep);
}

int main(int argc, char **argv)
{
  static const plan plans[] = {
      {"chain 100", 100, 0, 400, NULL},     {"chain 1000", 1000, 0, 40, NULL},
      {"chain 3000", 3000, 0, 20, NULL},    {"chain 10000", 10000, 0, 8, NULL},
      {"chain 100000", 100000, 0, 2, NULL}, {"net 20 x 20", 20, 1, 8, NULL},
      {"net 50 x 50", 50, 1, 2, NULL},
  };
  const int threads = argc > 1 ? atoi(argv[1]) : 2, rounds = argc > 2 ? atoi(argv[2]) : 5;
  if (threads < 1 || threads > MOST_THREADS || rounds < 1) {
    fprintf(stderr, "usage: threads [threads (1 .. 16) [rounds [model [method]]]]\n");
    return 2;
  }
  for (size_t k = 0; k < sizeof plans / sizeof *plans; k++) {
    plan p = plans[k];
    if (argc > 3 && strcmp(p.name, argv[3]) != 0) continue;
    pol_mechanism *mechanism = p.is_net ? create_net(p.size) : create_chain(p.size);
    for (int way = 0; way < 2; way++) {
      p.method = way ? "rattle" : "geom1";
      if (argc <= 4 || !strcmp(p.method, argv[4])) measure(&p, mechanism, threads, rounds);
    }
    pol_mechanism_free(&mechanism);
  }
  return 0;
}
