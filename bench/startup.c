/* How long a large model takes to start, and what it needs: every phase from the model file to the
 * first row of the result, for chains of links with spherical joints.
 *
 *     startup [--method METHOD] [--file CHAIN.json] [N ...]
 *
 * With numbers of links the chains are built through the C interface; with a file, the mechanism is
 * read from it.  Each size runs in a process of its own, so that no phase finds memory that another
 * size has left.  Times are those of the processor; memory is what is allocated when a phase ends,
 * and the most that the process has had so far.  A figure per link that grows down a column is a
 * cost that does not grow like the number of links.
 */
#define _POSIX_C_SOURCE 200809L
#include <polhode/model.h>
#include <polhode/polhode.h>
#include <polhode/result.h>

#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char result_path[] = "bench_startup.h5";

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Large pieces have a mapping of their own. */
static double allocated(void)
{
  struct mallinfo2 info = mallinfo2();
  return (double)info.uordblks + (double)info.hblkhd;
}

static void check(pol_status status, const char *what, const pol_diagnostics *d)
{
  if (status == POL_OK) return;
  fprintf(stderr, "startup: %s: %s %s\n", what, pol_status_text(status), d ? d->message : "");
  exit(1);
}

/* --- phases ----------------------------------------------------------------------------------- */

typedef struct phases {
  double start, links;
} phases;

/* Ends a phase, prints its line and begins the next one. */
static void end_phase(phases *p, const char *name)
{
  const double seconds = now() - p->start;
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  printf("%12.0f  %-34s %9.3f %9.3f %10.2f %10.2f\n", p->links, name, seconds,
         1e6 * seconds / p->links, 1e-3 * allocated() / p->links,
         1.024 * (double)usage.ru_maxrss / p->links);
  fflush(stdout);
  p->start = now();
}

/* Rods of 0.1 m and 0.05 kg along x, as scripts/chain.py has them. */
static pol_mechanism *make_chain(int links)
{
  static const double gravity[3] = {0.0, 0.0, -9.81};
  const double length = 0.1;
  pol_mechanism *mechanism;
  check(pol_mechanism_create(&mechanism), "mechanism", NULL);
  pol_mechanism_set_gravity(mechanism, gravity);
  for (int i = 0; i < links; i++) {
    char name[32], joint_name[32];
    snprintf(name, sizeof name, "link %d", i + 1);
    snprintf(joint_name, sizeof joint_name, "joint %d", i + 1);
    const pol_body body = {
        .name = name,
        .mass = 0.05,
        .inertia = {6.25e-7, 0.0, 0.0, 0.0, 4.19791666667e-5, 0.0, 0.0, 0.0, 4.19791666667e-5},
        .position = {(i + 0.5) * length, 0.0, 0.0},
        .rotation = {1.0, 0.0, 0.0, 0.0}};
    const double half = 0.5 * length;
    const pol_marker first = {.name = "",
                              .body = i ? i - 1 : POL_GROUND,
                              .position = {i ? half : 0.0, 0.0, 0.0},
                              .rotation = {1.0, 0.0, 0.0, 0.0}};
    const pol_marker second = {
        .name = "", .body = i, .position = {-half, 0.0, 0.0}, .rotation = {1.0, 0.0, 0.0, 0.0}};
    pol_joint joint = {.name = joint_name, .type = POL_SPHERICAL};
    check(pol_mechanism_add_body(mechanism, &body, NULL), "body", NULL);
    check(pol_mechanism_add_marker(mechanism, &first, &joint.marker[0]), "marker", NULL);
    check(pol_mechanism_add_marker(mechanism, &second, &joint.marker[1]), "marker", NULL);
    check(pol_mechanism_add_joint(mechanism, &joint, NULL), "joint", NULL);
  }
  return mechanism;
}

/* The phases that pol_simulation_create has inside, one by one. */
static void run_parts(phases *p, const pol_mechanism *mechanism, const pol_settings *settings)
{
  pol_formulation *formulation;
  pol_integrator *integrator;
  pol_diagnostics d = {0};
  check(pol_formulation_create(&formulation, mechanism, settings->formulation), "formulation",
        NULL);
  end_phase(p, "formulation");
  const pol_dae *dae = pol_formulation_dae(formulation);
  double *q = malloc((size_t)(dae->group.nq + dae->group.nv) * sizeof *q);
  unsigned char *keep = malloc((size_t)dae->group.nv);
  if (!q || !keep) check(POL_NO_MEMORY, "values", NULL);
  double *v = q + dae->group.nq;
  pol_formulation_initial(formulation, q, v, keep);
  check(pol_formulation_assemble(formulation, POL_SOLVER_AUTO, 0.0, q, v, &d), "assembly", &d);
  end_phase(p, "assembly in so3xr3");
  check(pol_integrator_create(&integrator, dae, &settings->options), "integrator", NULL);
  end_phase(p, "integrator");
  check(pol_integrator_start(integrator, 0.0, q, v, keep), "start",
        pol_integrator_diagnostics(integrator));
  end_phase(p, "consistent initial values");
  check(pol_integrator_step(integrator, settings->step), "step",
        pol_integrator_diagnostics(integrator));
  end_phase(p, "first step");
  check(pol_integrator_step(integrator, settings->step), "step",
        pol_integrator_diagnostics(integrator));
  end_phase(p, "second step");
  free(q);
  free(keep);
  pol_integrator_free(&integrator);
  pol_formulation_free(&formulation);
  p->start = now();
}

/* The whole simulation, with a result file. */
static void run_simulation(phases *p, const pol_mechanism *mechanism, const pol_settings *settings)
{
  pol_simulation *simulation;
  pol_record *record;
  pol_writer *writer;
  pol_diagnostics d = {0};
  check(pol_simulation_create(&simulation, mechanism, settings, &d), "simulation", &d);
  end_phase(p, "pol_simulation_create");
  check(pol_record_create(&record, simulation), "record", NULL);
  check(pol_writer_create(&writer, result_path, POL_HDF5, record, NULL, 0), result_path, NULL);
  end_phase(p, "HDF5 file");
  check(pol_writer_write(writer), "row", NULL);
  end_phase(p, "row at t = 0");
  check(pol_simulation_step(simulation), "step", pol_simulation_diagnostics(simulation));
  end_phase(p, "pol_simulation_step");
  check(pol_writer_write(writer), "row", NULL);
  end_phase(p, "row");
  check(pol_writer_close(&writer, "done", NULL), "close", NULL);
  end_phase(p, "closing the file");
  pol_record_free(&record);
  pol_simulation_free(&simulation);
  remove(result_path);
}

/* --- a size ----------------------------------------------------------------------------------- */

static void run(const char *path, int links, const char *method, pol_index index)
{
  phases p = {now(), links};
  pol_settings settings = pol_settings_default();
  pol_model *model = NULL;
  pol_mechanism *made = NULL;
  const pol_mechanism *mechanism;
  if (path) {
    pol_errors errors = {0};
    check(pol_model_read_file(&model, path, 0, NULL, &errors), path, NULL);
    mechanism = model->mechanism;
    p.links = pol_mechanism_num_bodies(mechanism);
    end_phase(&p, "reading the file");
  } else {
    mechanism = made = make_chain(links);
    end_phase(&p, "mechanism");
  }
  settings.options.method = method;
  settings.options.index = index;
  settings.step = 1e-3;
  settings.end = 10e-3;
  pol_estimate estimate;
  check(pol_simulation_estimate(mechanism, &settings, &estimate), "estimate", NULL);
  printf("%12.0f  %-34s %9s %9s %10.2f\n", p.links, "estimate of pol_simulation_estimate", "", "",
         1e-3 * estimate.memory / p.links);
  p.start = now();
  run_parts(&p, mechanism, &settings);
  run_simulation(&p, mechanism, &settings);
  pol_mechanism_free(&made);
  pol_model_free(&model);
}

/* In a process of its own; 0 if it has failed. */
static int run_apart(const char *path, int links, const char *method, pol_index index)
{
  int status = 0;
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    run(path, links, method, index);
    exit(0);
  }
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

int main(int argc, char **argv)
{
  static const int sizes[] = {1000, 10000, 100000};
  const char *method = "geom1";
  pol_index index = POL_INDEX_3;
  int given = 0, done = 1;
  printf("start-up of chains: processor time and memory\n\n%12s  %-34s %9s %9s %10s %10s\n",
         "links", "phase", "s", "us/link", "kB/link", "peak");
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--method") == 0 && i + 1 < argc) {
      method = argv[++i];
    } else if (strcmp(argv[i], "--stabilized") == 0) {
      index = POL_INDEX_2_STABILIZED;
    } else if (strcmp(argv[i], "--file") == 0 && i + 1 < argc) {
      given = 1;
      done &= run_apart(argv[++i], 0, method, index);
    } else {
      given = 1;
      done &= run_apart(NULL, atoi(argv[i]), method, index);
    }
  }
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes && !given; k++)
    done &= run_apart(NULL, sizes[k], method, index);
  return !done;
}
