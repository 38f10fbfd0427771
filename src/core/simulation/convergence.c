/* Convergence studies: runs the cases of a study, in several threads, and compares each with the
 * reference while it runs, so that only the reference is kept in memory.
 *
 * Threads share the mechanism, which does not change, and the reference; each case has a simulation
 * of its own.  A thread takes the case with most steps among those that are left.
 *
 * The order of convergence from errors at several step sizes is the slope p of log(error) against
 * log(h), by least squares over the part of the points that is in one line.  Coarse steps are not
 * asymptotic yet, and fine ones reach a floor; both bend the line.  Between neighbours the order is
 * log(e_i-1/e_i)/log(h_i-1/h_i); a line is a run of points where these differ by at most 0.25.
 */
#define _POSIX_C_SOURCE 200809L

#include <polhode/convergence.h>

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "simulation/comparison.h"
#include "simulation/hard_stops.h"

static const double multiple_tolerance = 1e-9; /* end times this near to a multiple of h are one */
static const double slow_seconds = 2.0;        /* a run that takes longer is timed once */
/* Times in common that are enough; times of a reference run without fixed steps beside it; how
 * often, in steps, progress is reported; threads at most. */
enum { ENOUGH_TIMES = 10, EQUAL_TIMES = 200, REPORT_STEPS = 4, MAX_JOBS = 256 };

/* A study under way. */
typedef struct work {
  pol_study *study;
  const pol_trajectory *reference;
  double end;
  double tolerance;      /* of equal times */
  int num_stops;         /* times of the reference up to the end, where variable steps stop */
  const double *stops;   /* the first of them above 0 */
  double total, done;    /* steps of all runs, roughly */
  unsigned char *taken;  /* cases */
  pthread_mutex_t mutex; /* for done, taken, study->progress and study->stopped */
} work;

pol_study pol_study_default(void)
{
  return (pol_study){.jobs = 1, .max_times = 1000};
}

/* --- steps and times -------------------------------------------------------------------------- */

/* Number of steps of a run with fixed steps. */
static long count_steps(const pol_settings *settings)
{
  const double ratio = settings->end / settings->step;
  return (long)fmax(1.0, ceil(ratio * (1.0 - multiple_tolerance)));
}

/* The same, or a guess for variable steps of a method of second order. */
static double expected_steps(const pol_settings *settings)
{
  const pol_control *control = &settings->options.control;
  if (!settings->variable) return (double)count_steps(settings);
  return 50.0 * pow(fmax(fmax(control->rtol, control->atol_translation), 1e-15), -1.0 / 3.0);
}

/* The time after n steps. */
static double time_of(const pol_settings *settings, long n, long num_steps)
{
  return n >= num_steps ? settings->end : (double)n * settings->step;
}

/* Every how many steps a case is compared at its own times. */
static long stride_of(const pol_study *study, long num_steps)
{
  return (num_steps + study->max_times - 1) / study->max_times;
}

static int compare_times(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* All times at which the cases will be compared, ascending, above 0, up to the end; the caller
 * frees them. */
static pol_status collect_times(const work *w, double **times, int *count)
{
  const pol_study *study = w->study;
  size_t most = EQUAL_TIMES, n = 0;
  for (int i = 0; i < study->num_cases; i++) most += (size_t)study->max_times + 1;
  double *t = *times = malloc(most * sizeof *t);
  if (t == NULL) return POL_NO_MEMORY;
  for (int i = 0; i < study->num_cases; i++) {
    const pol_settings *settings = &study->cases[i].settings;
    int known = settings->variable; /* no times of its own, or those of a case before */
    for (int k = 0; k < i; k++)
      known |=
          !study->cases[k].settings.variable && study->cases[k].settings.step == settings->step;
    if (known) continue;
    const long num_steps = count_steps(settings), stride = stride_of(study, num_steps);
    for (long k = stride; k < num_steps; k += stride) t[n++] = time_of(settings, k, num_steps);
  }
  for (int k = 1; n == 0 && k < EQUAL_TIMES; k++) t[k - 1] = w->end * k / EQUAL_TIMES;
  if (n == 0) n = EQUAL_TIMES - 1;
  qsort(t, n, sizeof *t, compare_times);
  /* equal ones once, then the end */
  size_t kept = 0;
  for (size_t i = 0; i < n; i++)
    if (t[i] < w->end - w->tolerance && (kept == 0 || t[i] - t[kept - 1] > w->tolerance))
      t[kept++] = t[i];
  t[kept++] = w->end;
  *count = (int)kept;
  return POL_OK;
}

/* --- progress --------------------------------------------------------------------------------- */

/* Adds to what is done; whether to stop. */
static int report(work *w, double steps)
{
  pol_study *study = w->study;
  pthread_mutex_lock(&w->mutex);
  w->done += steps;
  if (study->progress != NULL && !study->stopped)
    study->stopped = study->progress(fmin(1.0, w->done / w->total), study->user) != 0;
  const int stopped = study->stopped;
  pthread_mutex_unlock(&w->mutex);
  return stopped;
}

/* A run under way, as progress sees it. */
typedef struct run_progress {
  work *work;
  double weight, reported;
  long calls;
} run_progress;

/* After a step; whether to stop. */
static int report_step(run_progress *p, const pol_simulation *simulation)
{
  if (++p->calls % REPORT_STEPS != 0 && !pol_simulation_finished(simulation)) return 0;
  const double now = p->weight * pol_simulation_progress(simulation);
  const double steps = now - p->reported;
  p->reported = now;
  return report(p->work, steps);
}

/* --- the reference ---------------------------------------------------------------------------- */

static pol_status refuse(pol_diagnostics *diagnostics, const char *message)
{
  *diagnostics = (pol_diagnostics){.status = POL_BAD_ARGUMENT, .equation = -1};
  snprintf(diagnostics->message, sizeof diagnostics->message, "%s", message);
  return POL_BAD_ARGUMENT;
}

static pol_status refuse_early_end(const work *w, double t, pol_diagnostics *diagnostics)
{
  char message[160];
  snprintf(message, sizeof message,
           "an event ends the run at t = %.10g s, before the end of the study at %.10g s: choose "
           "an end before it",
           t, w->end);
  return refuse(diagnostics, message);
}

/* Steps through the times of the reference and keeps the channels that are compared.  Stops at
 * events between them are skipped; an event that ends the run before the last time is an input
 * error. */
static pol_status fill_trajectory(work *w, pol_simulation *simulation, const pol_record *record,
                                  const pol_output *times, pol_trajectory **trajectory,
                                  pol_diagnostics *diagnostics)
{
  const long rows = times->count + 1L;
  run_progress progress = {.work = w, .weight = expected_steps(w->study->reference_run)};
  double *row;
  const char **names;
  int *columns, wanted = 0, stopped = 0; /* columns: places in a row */
  poli_arena arena = {0};
  do {
    POLI_TAKE(&arena, row, pol_record_count(record));
    POLI_TAKE(&arena, names, pol_record_count(record));
    POLI_TAKE(&arena, columns, pol_record_count(record));
  } while (poli_arena_again(&arena));
  if (arena.memory == NULL) return POL_NO_MEMORY;
  for (int i = 1; i < pol_record_count(record); i++) {
    const pol_channel *channel = pol_record_channel(record, i);
    if (!poli_study_compares(w->study, channel)) continue;
    names[wanted] = channel->name;
    columns[wanted++] = i;
  }
  pol_status status = pol_trajectory_create(trajectory, rows, wanted, names);
  for (long n = 0; status == POL_OK && !stopped;) {
    const double t = pol_simulation_state(simulation)->t;
    if (n == 0 || fabs(t - times->times[n - 1]) <= w->tolerance) {
      pol_record_row(record, row);
      (*trajectory)->t[n] = row[0];
      for (int i = 0; i < wanted; i++) pol_trajectory_series(*trajectory, i)[n] = row[columns[i]];
      if (++n == rows) break;
    }
    if (pol_simulation_finished(simulation))
      status = refuse_early_end(w, t, diagnostics);
    else if ((status = pol_simulation_step(simulation)) != POL_OK)
      *diagnostics = *pol_simulation_diagnostics(simulation);
    else
      stopped = report_step(&progress, simulation);
  }
  free(arena.memory);
  return status;
}

/* Runs the reference; *trajectory is NULL if that failed. */
static pol_status run_reference(work *w, pol_trajectory **trajectory, pol_diagnostics *diagnostics)
{
  pol_settings settings = *w->study->reference_run;
  pol_simulation *simulation = NULL;
  pol_record *record = NULL;
  double *times = NULL;
  int count = 0;
  settings.output = (pol_output){0};
  pol_status status = collect_times(w, &times, &count);
  settings.output.times = times;
  settings.output.count = count;
  if (status == POL_OK)
    status = pol_simulation_create(&simulation, w->study->mechanism, &settings, diagnostics);
  if (status == POL_OK) status = pol_record_create(&record, simulation);
  if (status == POL_OK) {
    status = fill_trajectory(w, simulation, record, &settings.output, trajectory, diagnostics);
    w->study->reference_counts = pol_simulation_summary(simulation)->counts;
  }
  if (status != POL_OK) pol_trajectory_free(trajectory);
  pol_record_free(&record);
  pol_simulation_free(&simulation);
  free(times);
  return status;
}

/* Times that rise, up to the end; notes where variable steps stop. */
static pol_status check_reference(work *w, pol_diagnostics *diagnostics)
{
  const pol_trajectory *trajectory = w->reference;
  const double *t = trajectory->t;
  char message[160];
  long last = 0;
  for (long i = 0; i < trajectory->rows; i++) {
    if (!isfinite(t[i]) || (i > 0 && !(t[i] > t[i - 1])))
      return refuse(diagnostics, "the times of the reference do not rise");
    if (t[i] <= w->end + w->tolerance) last = i;
  }
  if (t[0] > w->end || t[trajectory->rows - 1] < w->end - w->tolerance) {
    snprintf(message, sizeof message,
             "the reference ends at t = %.10g s, before the end of the runs at %.10g s",
             t[trajectory->rows - 1], w->end);
    return refuse(diagnostics, message);
  }
  long first = 0;
  while (first <= last && t[first] <= w->tolerance) first++;
  w->study->reference_rows = last + 1;
  /* the end is a stop anyway */
  while (last >= first && t[last] >= w->end) last--;
  w->stops = t + first;
  w->num_stops = (int)(last - first + 1);
  return POL_OK;
}

/* Finds out, with the first case that can start, whether there is anything to compare. */
static pol_status count_channels(work *w, pol_diagnostics *diagnostics)
{
  pol_study *study = w->study;
  pol_simulation *simulation = NULL;
  pol_record *record = NULL;
  poli_comparison *comparison = NULL;
  pol_status status = POL_OK;
  for (int i = 0; simulation == NULL && i < study->num_cases; i++) {
    pol_settings settings = study->cases[i].settings;
    settings.output = (pol_output){0};
    status = pol_simulation_create(&simulation, study->mechanism, &settings, NULL);
    if (status == POL_NO_MEMORY) return status;
  }
  if (simulation == NULL) return POL_OK; /* the cases say why */
  status = pol_record_create(&record, simulation);
  if (status == POL_OK)
    status = poli_comparison_create(&comparison, record, w->reference, study, w->end);
  if (status == POL_OK) {
    int any = 0;
    poli_comparison_count(comparison, study->num_channels);
    for (int k = 0; k < POL_NUM_ERROR_KINDS; k++) any |= study->num_channels[k] > 0;
    if (!any) status = refuse(diagnostics, "the reference has none of the quantities to compare");
  }
  poli_comparison_free(&comparison);
  pol_record_free(&record);
  pol_simulation_free(&simulation);
  return status;
}

/* --- one case --------------------------------------------------------------------------------- */

/* A case under way. */
typedef struct case_run {
  work *work;
  pol_case *it;
  pol_simulation *simulation;
  pol_record *record;
  poli_comparison *comparison;
  double *row;
  long stride; /* compared at its own times: every how many steps */
} case_run;

/* Steps to the end, and compares the state where it is time to. */
static pol_status step_case(case_run *r)
{
  const work *w = r->work;
  pol_case *it = r->it;
  run_progress progress = {.work = r->work, .weight = expected_steps(&it->settings)};
  double errors[POL_NUM_ERROR_KINDS];
  for (long n = 1; !pol_simulation_finished(r->simulation); n++) {
    const pol_status status = pol_simulation_step(r->simulation);
    if (status != POL_OK) {
      it->failure = *pol_simulation_diagnostics(r->simulation);
      return status;
    }
    const double t = pol_simulation_state(r->simulation)->t;
    const int finished = pol_simulation_finished(r->simulation);
    const long found = poli_trajectory_row_at(w->reference, t, w->tolerance);
    if (finished || (it->interpolated ? n % r->stride == 0 : found >= 0)) {
      pol_record_row(r->record, r->row);
      poli_comparison_errors(r->comparison, r->row, t, found, errors);
      it->num_times++;
      for (int k = 0; k < POL_NUM_ERROR_KINDS; k++) {
        it->max_error[k] = fmax(it->max_error[k], errors[k]);
        if (finished) it->end_error[k] = errors[k];
      }
    }
    if (report_step(&progress, r->simulation)) break;
  }
  const double t = pol_simulation_state(r->simulation)->t;
  it->done = pol_simulation_finished(r->simulation);
  if (it->done && t < w->end - w->tolerance) return refuse_early_end(w, t, &it->failure);
  it->counts = pol_simulation_summary(r->simulation)->counts;
  return POL_OK;
}

static void clear_case(pol_case *it)
{
  *it = (pol_case){
      .settings = it->settings, .wall_seconds = (double)NAN, .failure = {.equation = -1}};
  for (int k = 0; k < POL_NUM_ERROR_KINDS; k++) it->max_error[k] = it->end_error[k] = (double)NAN;
}

static void run_case(work *w, pol_case *it)
{
  case_run r = {.work = w, .it = it, .stride = 1};
  pol_settings settings = it->settings;
  /* steps that have no times of their own, as variable ones and those after an event, stop at the
   * times of the reference */
  const int stops = settings.variable || settings.num_events > 0 ||
                    poli_hard_stops_count(w->study->mechanism) > 0;
  settings.output = (pol_output){0};
  if (stops && w->num_stops > 0)
    settings.output = (pol_output){.count = w->num_stops, .times = w->stops};
  if (stops && w->num_stops == 0) settings.output.step = w->end;
  pol_status status =
      pol_simulation_create(&r.simulation, w->study->mechanism, &settings, &it->failure);
  if (status == POL_OK && !stops) {
    /* the reference is interpolated unless it has enough of the case's own times */
    const long num_steps = count_steps(&settings);
    long shared = 0, enough = ENOUGH_TIMES;
    if (num_steps < enough) enough = num_steps;
    if (w->num_stops + 1 < enough) enough = w->num_stops + 1;
    for (long n = 1; n <= num_steps && shared < enough; n++)
      shared +=
          poli_trajectory_row_at(w->reference, time_of(&settings, n, num_steps), w->tolerance) >= 0;
    it->interpolated = shared < enough;
    r.stride = stride_of(w->study, num_steps);
  }
  if (status == POL_OK) status = pol_record_create(&r.record, r.simulation);
  if (status == POL_OK)
    status = poli_comparison_create(&r.comparison, r.record, w->reference, w->study, w->end);
  if (status == POL_OK) {
    r.row = malloc((size_t)pol_record_count(r.record) * sizeof *r.row);
    status = r.row != NULL ? step_case(&r) : POL_NO_MEMORY;
  }
  free(r.row);
  poli_comparison_free(&r.comparison);
  pol_record_free(&r.record);
  pol_simulation_free(&r.simulation);
  if (status == POL_OK) return;
  /* errors up to a failure mean nothing */
  const pol_diagnostics failure = it->failure;
  clear_case(it);
  it->failure = failure;
  it->failure.status = it->status = status;
  it->done = 1;
}

/* --- all cases -------------------------------------------------------------------------------- */

/* Takes the cases that no thread has taken, one at a time, that with most steps first. */
static void *run_cases(void *data)
{
  work *w = data;
  const pol_study *study = w->study;
  for (;;) {
    int best = -1;
    pthread_mutex_lock(&w->mutex);
    for (int i = 0; i < study->num_cases && !study->stopped; i++)
      if (!w->taken[i] && (best < 0 || expected_steps(&study->cases[i].settings) >
                                           expected_steps(&study->cases[best].settings)))
        best = i;
    if (best >= 0) w->taken[best] = 1;
    pthread_mutex_unlock(&w->mutex);
    if (best < 0) return NULL;
    run_case(w, &study->cases[best]);
  }
}

/* --- time ------------------------------------------------------------------------------------- */

static double seconds_now(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Runs every case again for its time alone, `repeats` times; the shortest counts. */
static pol_status time_cases(work *w)
{
  pol_study *study = w->study;
  for (int i = 0; i < study->num_cases; i++) {
    pol_case *it = &study->cases[i];
    pol_settings settings = it->settings;
    settings.output = (pol_output){0};
    for (int n = 0; n < study->repeats && it->done && it->status == POL_OK && !study->stopped;
         n++) {
      run_progress progress = {.work = w, .weight = expected_steps(&settings)};
      pol_simulation *simulation;
      pol_status status = pol_simulation_create(&simulation, study->mechanism, &settings, NULL);
      if (status != POL_OK) return status;
      double seconds = (double)NAN; /* of a run that is stopped */
      const double start = seconds_now();
      while (status == POL_OK && !pol_simulation_finished(simulation)) {
        status = pol_simulation_step(simulation);
        if (report_step(&progress, simulation)) break;
      }
      if (pol_simulation_finished(simulation)) seconds = seconds_now() - start;
      pol_simulation_free(&simulation);
      if (status != POL_OK) return status;
      it->wall_seconds = fmin(it->wall_seconds, seconds); /* of NAN and a number, the number */
      if (seconds > slow_seconds) {
        report(w, (study->repeats - 1 - n) * expected_steps(&it->settings));
        break;
      }
    }
  }
  return POL_OK;
}

/* --- the study -------------------------------------------------------------------------------- */

/* Whether steps can be counted; all else about settings is checked by the simulation. */
static pol_status check_study(const pol_study *study, pol_diagnostics *diagnostics)
{
  if (study->num_cases < 1) return refuse(diagnostics, "a study needs a case");
  if (study->jobs < 1 || study->jobs > MAX_JOBS)
    return refuse(diagnostics, "jobs must be from 1 to 256");
  if (study->repeats < 0 || study->max_times < 1)
    return refuse(diagnostics, "repeats must not be negative, max_times must be positive");
  if ((study->reference == NULL) == (study->reference_run == NULL))
    return refuse(diagnostics, "a study needs either a reference or a reference run");
  for (int i = 0; i <= study->num_cases; i++) {
    const int last = i == study->num_cases;
    const pol_settings *settings = last ? study->reference_run : &study->cases[i].settings;
    if (settings == NULL) break;
    if (settings->end != study->cases[0].settings.end)
      return refuse(diagnostics, last ? "the reference run must have the end time of the cases"
                                      : "all cases must have the same end time");
    if (!isfinite(settings->end) || settings->end <= 0.0 ||
        (!settings->variable && !(isfinite(settings->step) && settings->step > 0.0)))
      return refuse(diagnostics, "step and end must be positive");
  }
  return POL_OK;
}

/* Runs the reference, then the cases in threads, of which the caller is one.  *trajectory is the
 * reference run's. */
static pol_status run_all(work *w, pol_trajectory **trajectory, pol_diagnostics *diagnostics)
{
  pol_study *study = w->study;
  pol_status status = POL_OK;
  if (study->reference_run != NULL) status = run_reference(w, trajectory, diagnostics);
  if (status != POL_OK || study->stopped) return status;
  w->reference = study->reference != NULL ? study->reference : *trajectory;
  status = check_reference(w, diagnostics);
  if (status == POL_OK) status = count_channels(w, diagnostics);
  if (status != POL_OK) return status;

  pthread_t threads[MAX_JOBS];
  int count = 0;
  const int wanted = study->jobs < study->num_cases ? study->jobs : study->num_cases;
  while (count < wanted - 1 && pthread_create(&threads[count], NULL, run_cases, w) == 0) count++;
  run_cases(w);
  for (int i = 0; i < count; i++) pthread_join(threads[i], NULL);
  for (int i = 0; i < study->num_cases; i++)
    if (study->cases[i].status == POL_NO_MEMORY) return POL_NO_MEMORY;
  return time_cases(w);
}

pol_status pol_study_run(pol_study *study, pol_diagnostics *diagnostics)
{
  pol_diagnostics unwanted;
  pol_trajectory *trajectory = NULL;
  work w = {.study = study};
  if (diagnostics == NULL) diagnostics = &unwanted;
  *diagnostics = (pol_diagnostics){.equation = -1};
  pol_status status = check_study(study, diagnostics);
  if (status != POL_OK) return status;

  /* The steps of all runs, and the tolerance of times. */
  w.end = study->cases[0].settings.end;
  w.tolerance = multiple_tolerance * w.end;
  if (study->reference_run != NULL) w.total = expected_steps(study->reference_run);
  for (int i = 0; i < study->num_cases; i++) {
    const pol_settings *settings = &study->cases[i].settings;
    clear_case(&study->cases[i]);
    w.total += (1 + study->repeats) * expected_steps(settings);
    if (!settings->variable) w.tolerance = fmin(w.tolerance, 1e-3 * settings->step);
  }
  study->stopped = 0;
  study->reference_counts = (pol_counts){0};
  study->reference_rows = 0;
  memset(study->num_channels, 0, sizeof study->num_channels);

  w.taken = calloc((size_t)study->num_cases, 1);
  if (w.taken == NULL || pthread_mutex_init(&w.mutex, NULL) != 0) {
    status = POL_NO_MEMORY;
  } else {
    status = run_all(&w, &trajectory, diagnostics);
    pthread_mutex_destroy(&w.mutex);
  }
  free(w.taken);
  pol_trajectory_free(&trajectory);
  diagnostics->status = status;
  if (status != POL_OK && diagnostics->message[0] == '\0')
    snprintf(diagnostics->message, sizeof diagnostics->message, "%s", pol_status_text(status));
  return status;
}

/* --- the order -------------------------------------------------------------------------------- */

static const double line_tolerance = 0.25; /* orders between neighbours of one line */
static const double least_order = 0.5;     /* a line that falls less is a floor */
static const double floor_drop = 0.5; /* at the floor the order falls short by more than this */

/* A point that can be drawn. */
static int counts(double h, double error)
{
  return isfinite(h) && h > 0.0 && isfinite(error) && error > 0.0;
}

/* The next point after i, or count. */
static int next_point(int i, int count, const double *h, const double *error)
{
  for (i++; i < count && !counts(h[i], error[i]); i++)
    ;
  return i;
}

static double slope(const double *h, const double *error, int a, int b)
{
  return log(error[a] / error[b]) / log(h[a] / h[b]);
}

/* The first point after `last` from which on no error falls as the order says, -1 if there is none.
 */
static int find_floor(double order, int last, int count, const double *h, const double *error)
{
  const int start = next_point(last, count, h, error);
  int before = last;
  for (int i = start; i < count; before = i, i = next_point(i, count, h, error))
    if (slope(h, error, before, i) >= order - floor_drop) return -1;
  return start < count ? start : -1;
}

pol_order pol_order_fit(int count, const double *h, const double *error, double *between)
{
  pol_order result = {POL_ORDER_UNKNOWN, (double)NAN, -1, -1, -1};
  int longest = 0, total = 0, before = -1;
  for (int i = 0; i < count; i++) {
    if (between != NULL) between[i] = (double)NAN;
    if (!counts(h[i], error[i])) continue;
    if (between != NULL && before >= 0) between[i] = slope(h, error, before, i);
    before = i;
    total++;
    /* the last point of the line that starts at i */
    double low = HUGE_VAL, high = -HUGE_VAL;
    int last = i, points = 1;
    for (int next; (next = next_point(last, count, h, error)) < count; last = next, points++) {
      low = fmin(low, slope(h, error, last, next));
      high = fmax(high, slope(h, error, last, next));
      if (high - low > line_tolerance || low <= least_order) break;
    }
    if (points < 2 || points < longest) continue;
    longest = points;
    result.first = i;
    result.last = last;
  }
  if (total < 2) {
    result.first = result.last = -1;
  } else if (longest >= 3) {
    result.verdict = POL_ORDER_FITTED;
    /* the slope of the least-squares line */
    double n = 0.0, x = 0.0, y = 0.0, xx = 0.0, xy = 0.0;
    for (int i = result.first; i <= result.last; i++) {
      if (!counts(h[i], error[i])) continue;
      const double u = log(h[i] / h[result.first]), v = log(error[i] / error[result.first]);
      n += 1.0;
      x += u;
      y += v;
      xx += u * u;
      xy += u * v;
    }
    result.order = (n * xy - x * y) / (n * xx - x * x);
    result.floor = find_floor(result.order, result.last, count, h, error);
  } else if (total == 2 && longest == 2) {
    result.verdict = POL_ORDER_TWO_POINTS;
    result.order = slope(h, error, result.first, result.last);
  } else { /* no line: the finest two neighbours between which the error falls */
    result.first = result.last = -1;
    before = next_point(-1, count, h, error);
    for (int i; before < count && (i = next_point(before, count, h, error)) < count; before = i) {
      if (slope(h, error, before, i) <= least_order) continue;
      result.first = before;
      result.last = i;
    }
    result.verdict = result.first < 0 ? POL_ORDER_FLOOR : POL_ORDER_NOT_ASYMPTOTIC;
    result.floor = next_point(-1, count, h, error);
    if (result.first < 0) return result;
    result.order = slope(h, error, result.first, result.last);
    result.floor = find_floor(result.order, result.last, count, h, error);
  }
  return result;
}
