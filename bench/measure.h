/* What benchmarks of accuracy against time share: the clock, the search for the setting that
 * reaches an accuracy, and repeated runs in turns.
 *
 * A contender is one way to compute a motion, with one number to set: the number of equal steps, or
 * a tolerance.  A ladder of runs with more and more effort shows its errors; between
 * them the effort for each accuracy in question is interpolated, and confirmed by a run.  Then all
 * are run in turns, several rounds, so that a noisy moment of the machine hits all alike; the
 * median counts.  Times are those of the processor. */
#ifndef POLHODE_BENCH_MEASURE_H
#define POLHODE_BENCH_MEASURE_H

#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MAX_POINTS = 40, MAX_ROUNDS = 25 };

/* Of the command line. */
typedef struct bench_options {
  FILE *csv;       /* NULL: none */
  const char *svg; /* file of the figure; NULL: none */
  int rounds;      /* of runs in turns */
  double budget;   /* longest single run, s */
} bench_options;

/* What one run costs and how good it is. */
typedef struct bench_point {
  double effort; /* number of steps, or 1/tolerance */
  double error, seconds;
  double drift; /* of the energy, J, where that is watched; else 0 */
} bench_point;

typedef struct bench_contender {
  const char *program, *method;
  const char *nature; /* order, kind of joints and of numbers; NULL: not said */
  int variable;       /* 1: the effort is 1/tolerance, 0: the number of steps */
  double first;       /* effort to begin with */
  double floor;       /* error below which its numbers have too few digits */
  /* 0 if done; sets error and seconds for the given effort. */
  int (*run)(void *data, bench_point *point);
  void *data;
  const char *note; /* why it does not take part; NULL if it does */
  int num_points;   /* of the search, ascending in time of execution */
  bench_point points[MAX_POINTS];
} bench_contender;

typedef enum bench_status {
  BENCH_MEASURED,
  BENCH_EXTRAPOLATED, /* would take longer than the budget */
  BENCH_MISSED        /* cannot: refused, or does not become more accurate */
} bench_status;

/* A contender at one accuracy. */
typedef struct bench_entry {
  bench_contender *who;
  double target;
  bench_point at; /* where it is reached; if missed, the least error */
  bench_status status;
  int num_times;
  double times[MAX_ROUNDS];
  double median, least, largest;
} bench_entry;

static const char bench_not_built[] = "not installed, or not built (make bench-peers)";

static inline double bench_now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Options: --csv FILE --svg FILE --rounds N --budget SECONDS.  Starts the program anew with one
 * thread for BLAS, whose library reads the variable before main. */
static inline bench_options bench_start(int argc, char **argv, int rounds, double budget)
{
  bench_options options = {NULL, NULL, rounds, budget};
  if (!getenv("OPENBLAS_NUM_THREADS")) {
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    execv("/proc/self/exe", argv);
  }
  for (int i = 1; i < argc; i += 2) {
    if (i + 1 < argc && !strcmp(argv[i], "--csv")) {
      options.csv = fopen(argv[i + 1], "w");
      if (!options.csv) perror(argv[i + 1]), exit(1);
    } else if (i + 1 < argc && !strcmp(argv[i], "--svg")) {
      options.svg = argv[i + 1];
    } else if (i + 1 < argc && !strcmp(argv[i], "--rounds") && atoi(argv[i + 1]) > 0) {
      options.rounds = atoi(argv[i + 1]);
    } else if (i + 1 < argc && !strcmp(argv[i], "--budget") && atof(argv[i + 1]) > 0.0) {
      options.budget = atof(argv[i + 1]);
    } else {
      fprintf(stderr, "usage: %s [--csv FILE] [--svg FILE] [--rounds N] [--budget SECONDS]\n",
              argv[0]);
      exit(2);
    }
  }
  if (options.rounds > MAX_ROUNDS) options.rounds = MAX_ROUNDS;
  return options;
}

/* One run, which is kept in the list; 0 if done. */
static inline int bench_try(bench_contender *who, double effort, bench_point *point)
{
  *point = (bench_point){.effort = effort};
  if (who->run(who->data, point) || !isfinite(point->error)) return -1;
  if (who->num_points < MAX_POINTS) who->points[who->num_points++] = *point;
  return 0;
}

/* Runs with doubled numbers of steps, or tolerances each a tenth of the last, until the error is
 * below the target, falls no more, or the next run would exceed the budget; but at least two. */
static inline void bench_ladder(bench_contender *who, double target, double budget)
{
  const double factor = who->variable ? 10.0 : 2.0;
  double last[2] = {HUGE_VAL, HUGE_VAL}; /* errors; older ones may be luck */
  double largest = 0.0, seconds = 0.0;
  int failed = 0, stalled = 0;
  for (double effort = who->first; failed < 8 && stalled < 3; effort *= factor) {
    bench_point now;
    if (bench_try(who, effort, &now)) { /* too large a step, usually */
      failed++;
      if (now.seconds > budget) break;
      continue;
    }
    largest = fmax(largest, now.error);
    const int falling = now.error < 0.1 * largest; /* before that, steps may be too large */
    stalled = falling && now.error > 0.7 * fmin(last[0], last[1]) ? stalled + 1 : 0;
    last[0] = last[1];
    last[1] = now.error;
    const double growth = seconds > 0.0 && who->variable ? now.seconds / seconds : 2.0;
    seconds = now.seconds;
    if (now.error <= target || (growth * seconds > budget && who->num_points > 1)) break;
    if (who->variable && effort > 1e14) break;
  }
}

/* Where the ladder reaches the target: interpolated between two of its points, then run and
 * corrected until it is reached indeed.  Points are ascending in effort. */
static inline void bench_reach(bench_contender *who, double target, bench_entry *entry)
{
  const bench_point *p = who->points;
  int n = who->num_points, k = n;
  *entry = (bench_entry){.who = who, .target = target, .status = BENCH_MISSED};
  if (who->note || n == 0) return;
  entry->at = p[0];
  double largest = 0.0;
  for (int i = 0; i < n; i++) {
    if (p[i].error < entry->at.error) entry->at = p[i];
    largest = fmax(largest, p[i].error);
  }
  while (k > 0 && p[k - 1].error <= target) k--; /* an error that grows again was luck */
  if (k == n && (n < 2 || p[n - 1].error > 0.7 * p[n - 2].error || target < who->floor)) return;
  if (k == n && p[n - 1].error > 0.1 * largest) return; /* no order to be seen yet */
  if (k == 0) {                                         /* the largest step that runs will do */
    entry->at = p[0];
    entry->status = BENCH_MEASURED;
    return;
  }
  const bench_point *a = k == n ? &p[n - 2] : &p[k - 1], *b = a + 1;
  const double slope = log(a->error / b->error) / log(b->effort / a->effort);
  const double ratio = pow(a->error / target, 1.0 / slope);
  if (k == n) {
    const double growth = log(b->seconds / a->seconds) / log(b->effort / a->effort);
    if (a->effort * ratio > (who->variable ? 1e14 : 1e7)) return; /* round-off */
    entry->at = (bench_point){.effort = a->effort * ratio,
                              .error = target,
                              .seconds = a->seconds * pow(ratio, who->variable ? growth : 1.0)};
    entry->status = BENCH_EXTRAPOLATED;
    return;
  }
  entry->at = *b;
  entry->status = BENCH_MEASURED;
  double effort = a->effort * ratio;
  for (int i = 0; i < 6; i++) {
    bench_point now = {.effort = who->variable ? effort : ceil(effort)};
    if (now.effort >= b->effort) break;
    if (who->run(who->data, &now) == 0 && now.error <= target) {
      entry->at = now;
      break;
    }
    effort = 1.01 * now.effort * pow(fmax(1.0, fmin(10.0, now.error / target)), 1.0 / slope);
  }
}

static inline int bench_compare(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static inline void bench_median(bench_entry *entry)
{
  const int n = entry->num_times;
  if (n == 0) return;
  qsort(entry->times, (size_t)n, sizeof entry->times[0], bench_compare);
  entry->least = entry->times[0];
  entry->largest = entry->times[n - 1];
  entry->median = 0.5 * (entry->times[(n - 1) / 2] + entry->times[n / 2]);
}

/* Runs all entries in turns, short ones several times within a round. */
static inline void bench_rounds(bench_entry *entries, int count, int rounds)
{
  for (int round = 0; round < rounds; round++)
    for (int k = 0; k < count; k++) {
      bench_entry *entry = &entries[k];
      if (entry->status != BENCH_MEASURED) continue;
      if (round >= 3 && entry->at.seconds > 0.3) continue;
      const int repetitions = (int)fmin(40.0, 1.0 + 2e-3 / fmax(1e-6, entry->at.seconds));
      double sum = 0.0;
      for (int r = 0; r < repetitions; r++) {
        bench_point point = {.effort = entry->at.effort};
        if (entry->who->run(entry->who->data, &point)) {
          fprintf(stderr, "bench: %s %s failed when repeated\n", entry->who->program,
                  entry->who->method);
          exit(1);
        }
        sum += point.seconds;
      }
      entry->times[entry->num_times++] = sum / repetitions;
    }
  for (int k = 0; k < count; k++) bench_median(&entries[k]);
}

/* "1.23 ms", "~12.3 s" if extrapolated, "-" if missed. */
static inline const char *bench_time_text(const bench_entry *entry, char text[24])
{
  const double t = entry->status == BENCH_MEASURED ? entry->median : entry->at.seconds;
  const char *mark = entry->status == BENCH_EXTRAPOLATED ? "~" : "";
  if (entry->status == BENCH_MISSED)
    snprintf(text, 24, "-");
  else if (t < 1.0)
    snprintf(text, 24, "%s%.3g ms", mark, 1e3 * t);
  else
    snprintf(text, 24, "%s%.3g s", mark, t);
  return text;
}

static inline void bench_csv_header(FILE *csv)
{
  if (csv)
    fputs("case,program,method,kind,target,status,setting,error,seconds,least,largest,rounds,drift,"
          "class\n",
          csv);
}

/* A field in quotes; quotes inside become apostrophes. */
static inline void bench_csv_text(FILE *csv, const char *text)
{
  fputc('"', csv);
  for (; *text; text++) fputc(*text == '"' ? '\'' : *text, csv);
  fputc('"', csv);
}

/* The entries, and the points of the search as rows without a target. */
static inline void bench_csv(FILE *csv, const char *name, const bench_entry *entries, int count)
{
  static const char *const words[] = {"measured", "extrapolated", "missed"};
  if (!csv) return;
  for (int k = 0; k < count; k++) {
    const bench_entry *e = &entries[k];
    const bench_contender *w = e->who;
    const int measured = e->status == BENCH_MEASURED;
    fprintf(csv, "%s,\"%s\",\"%s\",%s,%g,", name, w->program, w->method,
            w->variable ? "tolerance" : "steps", e->target);
    bench_csv_text(csv, w->note ? w->note : words[e->status]);
    fprintf(csv, ",%.9g,%.3g,%.6g,%.6g,%.6g,%d,%.3g,\"%s\"\n",
            w->variable && e->at.effort > 0.0 ? 1.0 / e->at.effort : e->at.effort,
            isfinite(e->at.error) ? e->at.error : -1.0, measured ? e->median : e->at.seconds,
            e->least, e->largest, e->num_times, e->at.drift, w->nature ? w->nature : "");
  }
  for (int k = 0; k < count; k++) {
    const bench_contender *w = entries[k].who;
    if (k > 0 && entries[k - 1].who == w) continue;
    for (int n = 0; n < w->num_points; n++)
      fprintf(csv, "%s,\"%s\",\"%s\",%s,,point,%.9g,%.3g,%.6g,,,1,%.3g,\n", name, w->program,
              w->method, w->variable ? "tolerance" : "steps",
              w->variable ? 1.0 / w->points[n].effort : w->points[n].effort, w->points[n].error,
              w->points[n].seconds, w->points[n].drift);
  }
  fflush(csv);
}

#endif
