/* What large results cost: free bodies in HDF5, 100 rows of each.
 *
 *     result_size [BODIES ...]      default: 1000 10000 100000
 *
 * The time is that of the record's rows and of the writer, without a thread; it must be in
 * proportion to the numbers, and the memory of the writer must not grow with the rows.
 */
#define _POSIX_C_SOURCE 200809L
#include <polhode/polhode.h>
#include <polhode/result.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

enum { ROWS = 100 };
static const char path[] = "result_size.h5";

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void check(pol_status status, const char *what)
{
  if (status == POL_OK) return;
  fprintf(stderr, "bench: %s: %s\n", what, pol_status_text(status));
  exit(1);
}

/* Bytes of memory that this process has had at most. */
static double peak_memory(void)
{
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return 1024.0 * (double)usage.ru_maxrss;
}

static void measure(int bodies)
{
  pol_mechanism *mechanism;
  pol_simulation *simulation;
  pol_record *record;
  pol_writer *writer;
  pol_settings settings = pol_settings_default();
  check(pol_mechanism_create(&mechanism), "mechanism");
  for (int i = 0; i < bodies; i++) {
    char name[20];
    snprintf(name, sizeof name, "b%d", i);
    const pol_body body = {.name = name,
                           .mass = 1.0,
                           .inertia = {1, 0, 0, 0, 2, 0, 0, 0, 3},
                           .position = {i, 0, 0},
                           .rotation = {1, 0, 0, 0},
                           .velocity = {0, 1e-3 * i, 1},
                           .angular_velocity = {1, 0.1 * (i % 7), 0}};
    check(pol_mechanism_add_body(mechanism, &body, NULL), "body");
  }
  check(pol_simulation_create(&simulation, mechanism, &settings, NULL), "simulation");
  check(pol_record_create(&record, simulation), "record");
  check(pol_simulation_step(simulation), "step");

  const double memory = peak_memory();
  double start = now();
  check(pol_writer_create(&writer, path, POL_HDF5, record, NULL, 0), path);
  const double create = now() - start;
  double stepping = 0.0;
  for (int n = 0; n < ROWS; n++) {
    check(pol_writer_write(writer), path);
    const double before = now();
    check(pol_simulation_step(simulation), "step");
    stepping += now() - before;
  }
  check(pol_writer_close(&writer, "done", NULL), path);
  const double time = now() - start - stepping;
  struct stat file;
  if (stat(path, &file) != 0) check(POL_IO, path);
  const double numbers = 8.0 * ROWS * pol_record_count(record);
  printf("%8d %12.1f %12.1f %10.3f %10.3f %10.1f %14.0f\n", bodies, numbers / 1e6,
         (double)file.st_size / 1e6, create, time, 1e9 * time / numbers,
         (peak_memory() - memory) / 1e6);
  pol_record_free(&record);
  pol_simulation_free(&simulation);
  pol_mechanism_free(&mechanism);
  remove(path);
}

int main(int argc, char **argv)
{
  static const int bodies[] = {1000, 10000, 100000};
  printf("%d rows, processor time\n%8s %12s %12s %10s %10s %10s %14s\n", (int)ROWS, "bodies",
         "numbers, MB", "file, MB", "create, s", "all, s", "s/GB", "memory, MB");
  for (int i = 0; argc < 2 && i < 3; i++) measure(bodies[i]);
  for (int i = 1; i < argc; i++) measure(atoi(argv[i]));
  return 0;
}
