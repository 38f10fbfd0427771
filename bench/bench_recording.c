/* What recording every step costs: the slider-crank without recording, with its rows only
 * evaluated, and with results in HDF5 and CSV.
 *
 * The ways are run in turns and the best of many rounds counts, so that a noisy moment hits all
 * alike.  Times are those of all steps with everything that is written, closing the file included;
 * creating it is a cost that does not grow with the run, and is told apart.  The HDF5 writer works
 * in a thread of its own, which takes a second core; where there is none to spare, the time of the
 * simulation's own thread (CPU) says what it would pay.
 */
#define _POSIX_C_SOURCE 199309L
#include <polhode/model.h>
#include <polhode/polhode.h>
#include <polhode/result.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 15, NUM_WAYS = 5 };
static const char model_path[] =
    POLHODE_SOURCE_DIR "/models/holzinger-arnold-gerstmayr/slider_crank.json";
static const char hdf5_path[] = "bench_recording.h5", csv_path[] = "bench_recording.csv";
/* Ten times as long as the model says, so that there are many blocks. */
static const char *const overrides[] = {"simulation.end=20"};

typedef enum way { PLAIN, ROWS_ONLY, HDF5, HDF5_ALONE, CSV } way;

typedef struct timing {
  const char *name;
  double steps, cpu, create; /* best seconds: wall, of this thread, wall */
  long size;                 /* of the file */
} timing;

static double read_clock(clockid_t clock)
{
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double now(void)
{
  return read_clock(CLOCK_MONOTONIC);
}

static void check(pol_status status, const char *what)
{
  if (status == POL_OK) return;
  fprintf(stderr, "bench: %s: %s\n", what, pol_status_text(status));
  exit(1);
}

static long file_size(const char *path)
{
  FILE *file = fopen(path, "rb");
  if (file == NULL || fseek(file, 0, SEEK_END) != 0) check(POL_IO, path);
  const long size = ftell(file);
  fclose(file);
  return size;
}

/* One run; returns the number of steps. */
static long run(const pol_model *model, way how, timing *t)
{
  pol_simulation *simulation;
  pol_record *record;
  pol_writer *writer = NULL;
  long steps = 0;
  check(pol_simulation_create(&simulation, model->mechanism, &model->settings, NULL), "simulation");
  check(pol_record_create(&record, simulation), "record");
  double *row = malloc((size_t)pol_record_count(record) * sizeof *row);
  if (row == NULL) check(POL_NO_MEMORY, "row");

  double start = now();
  if (how == HDF5 || how == HDF5_ALONE)
    check(pol_writer_create(&writer, hdf5_path, POL_HDF5, record, NULL, how == HDF5), hdf5_path);
  if (how == CSV) check(pol_writer_create(&writer, csv_path, POL_CSV, record, NULL, 0), csv_path);
  t->create = fmin(t->create, now() - start);

  const double cpu = read_clock(CLOCK_THREAD_CPUTIME_ID);
  start = now();
  for (; !pol_simulation_finished(simulation); steps++) {
    check(pol_simulation_step(simulation), "step");
    if (how == ROWS_ONLY) pol_record_row(record, row);
    if (writer != NULL) check(pol_writer_write(writer), "row");
  }
  check(pol_writer_close(&writer, "done", NULL), "close");
  t->steps = fmin(t->steps, now() - start);
  t->cpu = fmin(t->cpu, read_clock(CLOCK_THREAD_CPUTIME_ID) - cpu);

  free(row);
  pol_record_free(&record);
  pol_simulation_free(&simulation);
  return steps;
}

int main(void)
{
  timing timings[NUM_WAYS] = {
      {"no recording", HUGE_VAL, HUGE_VAL, HUGE_VAL, 0},
      {"rows evaluated", HUGE_VAL, HUGE_VAL, HUGE_VAL, 0},
      {"HDF5", HUGE_VAL, HUGE_VAL, HUGE_VAL, 0},
      {"HDF5, no thread", HUGE_VAL, HUGE_VAL, HUGE_VAL, 0},
      {"CSV", HUGE_VAL, HUGE_VAL, HUGE_VAL, 0},
  };
  pol_errors errors = {0};
  pol_model *model;
  long steps = 0;
  check(pol_model_read_file(&model, model_path, 1, overrides, &errors), model_path);
  for (int round = 0; round < ROUNDS; round++)
    for (int i = 0; i < NUM_WAYS; i++) steps = run(model, (way)i, &timings[i]);
  timings[HDF5].size = timings[HDF5_ALONE].size = file_size(hdf5_path);
  timings[CSV].size = file_size(csv_path);
  pol_model_free(&model);

  printf("slider-crank, %ld steps, best of %d runs\n", steps, ROUNDS);
  printf("%-16s %10s %8s %10s %8s %12s %12s\n", "recording", "us/step", "extra", "CPU us", "extra",
         "create, ms", "bytes/step");
  for (int i = 0; i < NUM_WAYS; i++) {
    const timing *t = &timings[i];
    printf("%-16s %10.2f %7.1f%% %10.2f %7.1f%% %12.2f %12.0f\n", t->name,
           1e6 * t->steps / (double)steps, 100.0 * (t->steps / timings[PLAIN].steps - 1.0),
           1e6 * t->cpu / (double)steps, 100.0 * (t->cpu / timings[PLAIN].cpu - 1.0),
           1e3 * t->create, (double)t->size / (double)steps);
  }
  remove(hdf5_path);
  remove(csv_path);
  return 0;
}
