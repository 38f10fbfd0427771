/* Compares methods and formulations on random mechanisms (compare.h):
 *
 *     fuzz_models FIRST-LAST [--sample N] [--only TEXT] [--verbose]
 *     fuzz_models SEED --write FILE          the model of a seed as a file
 *
 * Exit status: 0 if all agree, 1 if not.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "differential/compare.h"

enum { MAX_CLASSES = 200 };

/* What a process that compares one model hands to that which started it: findings, then counts. */
typedef struct message {
  int last;
  compare_counts counts;
  int disagreement;
  char kind[48], text[1000];
} message;

/* How often each class of findings came, and its first example. */
typedef struct tally {
  int verbose, count;
  struct {
    char kind[48], first[400];
    int disagreement;
    long number;
  } classes[MAX_CLASSES];
} tally;

static void note(tally *t, const char *kind, int disagreement, const char *text)
{
  int i = 0;
  if (disagreement || t->verbose) printf("%-16s %s\n", kind, text);
  while (i < t->count && strcmp(t->classes[i].kind, kind)) i++;
  if (i == MAX_CLASSES) return;
  if (i == t->count) {
    snprintf(t->classes[i].kind, sizeof t->classes[i].kind, "%s", kind);
    snprintf(t->classes[i].first, sizeof t->classes[i].first, "%s", text);
    t->classes[t->count++].disagreement = disagreement;
  }
  t->classes[i].number++;
  fflush(stdout);
}

static void send(const message *what, int pipe)
{
  if (write(pipe, what, sizeof *what) != (ssize_t)sizeof *what) _exit(2);
}

static void send_finding(const char *kind, int disagreement, const char *text, void *user)
{
  message finding = {.disagreement = disagreement};
  snprintf(finding.kind, sizeof finding.kind, "%s", kind);
  snprintf(finding.text, sizeof finding.text, "%s", text);
  send(&finding, *(const int *)user);
}

/* In a process of its own: a crash is a finding, too. */
static void compare_seed(uint64_t seed, const compare_options *options, int pipe)
{
  compare_options own = *options;
  random_model model;
  char why[400], text[480];
  message end = {.last = 1};
  own.report = send_finding;
  own.user = &pipe;
  if (random_model_create(&model, seed, why, sizeof why)) {
    snprintf(text, sizeof text, "seed %llu: %s", (unsigned long long)seed, why);
    send_finding("invalid", 1, text, &pipe);
    end.counts.disagreements++;
  } else {
    compare_model(&model, &own, &end.counts);
    random_model_free(&model);
  }
  send(&end, pipe);
}

static void add_counts(compare_counts *sum, const compare_counts *counts)
{
  sum->models += counts->models;
  sum->runs += counts->runs;
  sum->comparisons += counts->comparisons;
  sum->refused += counts->refused;
  sum->skipped += counts->skipped;
  sum->undecided += counts->undecided;
  sum->disagreements += counts->disagreements;
}

static void run_seed(uint64_t seed, const compare_options *options, tally *found,
                     compare_counts *counts)
{
  int ends[2], status = 0;
  message what = {.last = 0};
  if (pipe(ends)) abort();
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    compare_seed(seed, options, ends[1]);
    _exit(0);
  }
  close(ends[1]);
  FILE *file = fdopen(ends[0], "r");
  while (file && !what.last && fread(&what, sizeof what, 1, file) == 1)
    if (!what.last) note(found, what.kind, what.disagreement, what.text);
  if (file) fclose(file);
  waitpid(child, &status, 0);
  if (what.last) {
    add_counts(counts, &what.counts);
    return;
  }
  snprintf(what.text, sizeof what.text, "seed %llu: signal %d", (unsigned long long)seed,
           WIFSIGNALED(status) ? WTERMSIG(status) : 0);
  note(found, "crash", 1, what.text);
  counts->models++;
  counts->disagreements++;
}

static int write_model(uint64_t seed, const char *path)
{
  random_model model;
  char why[400];
  FILE *file = fopen(path, "w");
  if (!file || random_model_create(&model, seed, why, sizeof why)) {
    fprintf(stderr, "%s: %s\n", path, file ? why : "cannot be written");
    if (file) fclose(file);
    return 2;
  }
  pol_settings settings = random_model_settings(&model);
  settings.options.index = POL_INDEX_2_STABILIZED;
  random_model_write(&model, &settings, file);
  random_model_free(&model);
  return fclose(file) ? 2 : 0;
}

int main(int argc, char **argv)
{
  tally found = {0};
  compare_options options = {.folder = "."};
  compare_counts counts = {0};
  unsigned long long first = 0, last = 0;
  const char *path = NULL;
  const int numbers = argc > 1 ? sscanf(argv[1], "%llu-%llu", &first, &last) : 0;
  for (int i = 2; i < argc; i++) {
    const int more = i + 1 < argc;
    if (!strcmp(argv[i], "--verbose")) {
      found.verbose = 1;
    } else if (!strcmp(argv[i], "--sample") && more) {
      options.sample = atoi(argv[++i]);
    } else if (!strcmp(argv[i], "--only") && more) {
      options.only = argv[++i];
    } else if (!strcmp(argv[i], "--write") && more) {
      path = argv[++i];
    }
  }
  if (numbers < 1) {
    fprintf(stderr, "usage: fuzz_models FIRST-LAST [--sample N] [--only TEXT] [--verbose]\n"
                    "       fuzz_models SEED --write FILE\n");
    return 2;
  }
  if (numbers == 1) last = first;
  if (path) return write_model(first, path);
  for (uint64_t seed = first; seed <= last; seed++) run_seed(seed, &options, &found, &counts);
  printf("\n");
  for (int i = 0; i < found.count; i++)
    printf("%6ld %s%-16s %s\n", found.classes[i].number,
           found.classes[i].disagreement ? "! " : "  ", found.classes[i].kind,
           found.classes[i].first);
  printf("%ld models, %ld runs, %ld comparisons, %ld refused, %ld skipped, %ld undecided, "
         "%ld disagreements\n",
         counts.models, counts.runs, counts.comparisons, counts.refused, counts.skipped,
         counts.undecided, counts.disagreements);
  return counts.disagreements ? 1 : 0;
}
