/* What the default stop of Newton's method costs in accuracy: the error of a run that stops by the
 * estimated error of the step over that of a run that stops tightly, for all generalized-alpha
 * methods and index forms that a model admits.
 *
 * Errors are differences from a tight run with steps of a quarter the size, at OUTPUTS times; q, v
 * and the multipliers by themselves, the largest number each.  A ratio of 1 is the aim.  Two tight
 * runs whose matrices differ (modified and full) show how much the motion magnifies the last
 * digits.
 *
 *     studies/newton_stop [--all] MODEL...
 *
 * Steps and end are those of the model, at most MOST_STEPS steps; models with variable steps have
 * the same number.  Prints the lines whose errors differ by more than 1 %, with --all each line,
 * and how many there are. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/model.h>
#include <polhode/polhode.h>

enum { MOST = 4000, OUTPUTS = 10, MOST_STEPS = 600, PARTS = 3 };

/* sigma NAN: the optimal one. */
static const struct {
  const char *name, *method;
  double sigma;
} methods[] = {{"geom1", "geom1", 0.0},       {"geom1 sigma 1", "geom1", 1.0},
               {"geom1 sigma", "geom1", NAN}, {"geom2", "geom2", 0.0},
               {"geom3", "geom3", 0.0},       {"linear", "linear", 0.0},
               {"newmark", "newmark", 0.0},   {"hht", "hht", 0.0}};
static const char *const forms[] = {"3", "2", "stabilized"};
enum { NUM_METHODS = (int)(sizeof methods / sizeof *methods) };

/* q, v and lambda at the output times. */
typedef struct outcome {
  int size[PARTS];
  double values[PARTS][OUTPUTS][MOST];
  double residuals; /* evaluated per step */
} outcome;

/* Runs of one line: default, tight, tight with the full matrix, and the reference. */
typedef struct line {
  outcome own, tight, full, reference;
} line;

/* How the errors of both runs compare. */
typedef enum verdict { SAME, NO_ERROR, UNSTABLE, APART, KINDS } verdict;
static const char *const verdicts[KINDS] = {"", "no error", "unstable", "apart"};

/* Errors below this part of the largest value are those of the iteration: the method has none, as
 * where drives prescribe the motion. */
static const double no_error = 1e-10;
/* Part of its error by which two tight runs differ if the motion magnifies the last digits: then
 * 1000 times their tolerance may be more than 1 %. */
static const double unstable = 1e-4;

/* Of all lines: how many of each kind, and by how much the errors differ at most. */
typedef struct tally {
  int lines[KINDS];
  double worst[KINDS];
} tally;

/* 0 if it is done. */
static int run(const pol_model *model, const pol_settings *settings, double end, outcome *out)
{
  pol_settings own = *settings;
  pol_simulation *simulation;
  own.end = end;
  own.variable = 0;
  own.num_events = 0;
  own.output = (pol_output){.step = end / OUTPUTS};
  if (pol_simulation_create(&simulation, model->mechanism, &own, NULL)) return 1;
  const pol_dae *dae = pol_formulation_dae(pol_simulation_formulation(simulation));
  out->size[0] = dae->group.nq;
  out->size[1] = dae->group.nv;
  out->size[2] = pol_dae_num_constraints(dae);
  int status = out->size[0] > MOST || out->size[2] > MOST;
  for (int k = 0; k < OUTPUTS && !status; k++) {
    status = pol_simulation_step(simulation) != POL_OK;
    const pol_state *now = pol_simulation_state(simulation);
    const double *from[PARTS] = {now->q, now->v, now->lambda};
    for (int i = 0; i < PARTS; i++)
      memcpy(out->values[i][k], from[i], (size_t)out->size[i] * sizeof(double));
  }
  const pol_counts *counts = &pol_simulation_summary(simulation)->counts;
  out->residuals = (double)counts->residuals / (double)counts->steps;
  pol_simulation_free(&simulation);
  return status;
}

static double difference(const outcome *a, const outcome *b, int part)
{
  double most = 0.0;
  for (int k = 0; k < OUTPUTS; k++)
    for (int i = 0; i < a->size[part]; i++)
      most = fmax(most, fabs(a->values[part][k][i] - b->values[part][k][i]));
  return most;
}

static double largest(const outcome *a, int part)
{
  double most = 0.0;
  for (int k = 0; k < OUTPUTS; k++)
    for (int i = 0; i < a->size[part]; i++) most = fmax(most, fabs(a->values[part][k][i]));
  return most;
}

/* The settings of a model for a method and a form, and the end of the run; 0 if it has none. */
static int choose(const pol_model *model, int method, int form, pol_settings *settings, double *end)
{
  pol_settings *s = settings;
  *s = model->settings;
  if (strcmp(s->options.method, "geom1") != 0) s->options = pol_options_default();
  pol_options *o = &s->options;
  o->index = (pol_index)form;
  o->published = pol_options_default().published;
  if (pol_options_set_method(o, methods[method].method)) return 0;
  /* without damping the multipliers of index 3 are unreliable */
  if (strcmp(o->method, "newmark") == 0 && o->index == POL_INDEX_3)
    pol_options_set_newmark(o, 0.6, 0.3025);
  o->sigma = isnan(methods[method].sigma) ? o->gamma / (3.0 * o->beta) : methods[method].sigma;
  if (s->variable) s->step = s->end / MOST_STEPS;
  *end = fmin(s->end, MOST_STEPS * s->step);
  return 1;
}

/* One line of the table. */
static void compare(const pol_model *model, const char *name, int method, int form, int all,
                    line *l, tally *t)
{
  pol_settings settings;
  double end, ratio[PARTS], error[PARTS], noise[PARTS];
  if (!choose(model, method, form, &settings, &end)) return;
  const pol_newton_kind own_kind = settings.options.newton.kind;
  if (run(model, &settings, end, &l->own)) return;
  settings.options.newton.stop = POL_STOP_TIGHT;
  if (run(model, &settings, end, &l->tight)) return;
  settings.options.newton.kind = POL_NEWTON_FULL;
  if (run(model, &settings, end, &l->full)) return;
  settings.options.newton.kind = own_kind;
  settings.step /= 4.0;
  if (run(model, &settings, end, &l->reference)) return;
  verdict worst = SAME;
  for (int i = 0; i < PARTS; i++) {
    const double own = difference(&l->own, &l->reference, i);
    error[i] = difference(&l->tight, &l->reference, i);
    noise[i] = difference(&l->tight, &l->full, i);
    ratio[i] = error[i] > 0.0 ? own / error[i] : 1.0;
    const verdict now = fabs(ratio[i] - 1.0) <= 0.01                  ? SAME
                        : own <= no_error * largest(&l->reference, i) ? NO_ERROR
                        : noise[i] >= unstable * error[i]             ? UNSTABLE
                                                                      : APART;
    worst = now > worst ? now : worst;
    t->worst[now] = fmax(t->worst[now], fabs(ratio[i] - 1.0));
  }
  t->lines[worst]++;
  if (!all && worst == SAME) return;
  printf("| %s | %s, index %s |", name, methods[method].name, forms[form]);
  for (int i = 0; i < PARTS; i++) printf(" %.1e | %.1e | %.4f |", error[i], noise[i], ratio[i]);
  printf(" %.2f | %.2f | %s |\n", l->tight.residuals, l->own.residuals, verdicts[worst]);
  fflush(stdout);
}

int main(int argc, char **argv)
{
  line *l = malloc(sizeof *l);
  const int all = argc > 1 && strcmp(argv[1], "--all") == 0;
  tally sum = {0};
  if (!l) return 1;
  printf("| model | method | error of q | round-off | ratio | of v | round-off | ratio | of lambda "
         "| round-off | ratio | residuals per step, tight | default | |\n"
         "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  for (int k = all ? 2 : 1; k < argc; k++) {
    pol_model *model;
    pol_errors errors = {0};
    if (pol_model_read_file(&model, argv[k], 0, NULL, &errors)) {
      fprintf(stderr, "%s cannot be read\n", argv[k]);
      pol_errors_clear(&errors);
      continue;
    }
    const char *name = strrchr(argv[k], '/') ? strrchr(argv[k], '/') + 1 : argv[k];
    for (int method = 0; method < NUM_METHODS; method++)
      for (int form = 0; form < 3; form++) compare(model, name, method, form, all, l, &sum);
    pol_model_free(&model);
  }
  printf("\n%d runs differ by up to %.2g %%\n", sum.lines[SAME], 100.0 * sum.worst[SAME]);
  for (int i = NO_ERROR; i < KINDS; i++)
    printf("%d %s, by up to %.2g %%\n", sum.lines[i], verdicts[i], 100.0 * sum.worst[i]);
  free(l);
  return 0;
}
