/* Runs of the heavy top with all that the figures of Arnold/Cardona/Bruels 2015 show. */
#include "papers/top_history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <polhode/lie.h>

/* --- columns ---------------------------------------------------------------------------------- */

enum { NUM_VECTORS = 9 };

/* The columns share one block of memory. */
static int allocate(paper_top_history *h, long capacity)
{
  double **const vectors[NUM_VECTORS] = {h->position,     h->velocity, h->velocity_body,
                                         h->lambda,       h->gap,      h->gap_rate,
                                         h->lambda_error, h->eta,      h->error};
  double *column = calloc((size_t)(capacity * (3 * NUM_VECTORS + 1)), sizeof *column);
  h->memory = column;
  if (column == NULL) return 0;
  h->t = column;
  for (int k = 0; k < NUM_VECTORS; k++)
    for (int i = 0; i < 3; i++) vectors[k][i] = column += capacity;
  return 1;
}

void paper_top_history_free(paper_top_history *history)
{
  free(history->memory);
  *history = (paper_top_history){0};
}

/* --- a run ------------------------------------------------------------------------------------ */

typedef struct writing {
  const paper_top *top;
  paper_top_history *history;
  long capacity;
  int se3;
} writing;

static double norm(const double *x, int n)
{
  double square = 0.0;
  for (int i = 0; i < n; i++) square += x[i] * x[i];
  return sqrt(square);
}

static void put(double *const columns[3], long n, const double x[3])
{
  for (int i = 0; i < 3; i++) columns[i][n] = x[i];
}

/* Configuration and velocity of the group: rotation and position, Omega and u or U. */
static void errors_of(const writing *w, const pol_body_state *body, const paper_top_state *exact,
                      long n)
{
  static const pol_factor factors[2] = {{POL_SO3, 3, 0, 0}, {POL_REAL, 3, 4, 3}};
  static const pol_factor rigid[1] = {{POL_SE3, 6, 0, 0}};
  static const pol_group product = {2, factors, 7, 6}, semidirect = {1, rigid, 7, 6};
  const double *u = w->se3 ? body->velocity_body : body->velocity;
  const double *u_exact = w->se3 ? exact->velocity_body : exact->velocity;
  double ours[7], theirs[7], e[6], v[6];
  memcpy(ours, body->quaternion, sizeof body->quaternion);
  memcpy(ours + 4, body->position, sizeof body->position);
  memcpy(theirs, exact->quaternion, sizeof exact->quaternion);
  memcpy(theirs + 4, exact->position, sizeof exact->position);
  pol_group_difference(w->se3 ? &semidirect : &product, ours, theirs, e);
  w->history->error[0][n] = norm(e, 6);
  for (int i = 0; i < 3; i++) {
    v[i] = body->angular_velocity[i], e[i] = exact->angular_velocity[i] - v[i];
    v[3 + i] = u[i], e[3 + i] = u_exact[i] - u[i];
  }
  w->history->error[1][n] = norm(e, 6) / norm(v, 6);
}

/* Phi = X - R^T x, and B v = Omega x X - U with X = (0, 1, 0). */
static void gaps_of(paper_top_history *h, const pol_body_state *body, long n)
{
  const double *R = body->rotation, *x = body->position, *omega = body->angular_velocity;
  const double swing[3] = {-omega[2], 0.0, omega[0]};
  double gap[3], rate[3];
  for (int i = 0; i < 3; i++) {
    gap[i] = (i == 1) - (R[i] * x[0] + R[3 + i] * x[1] + R[6 + i] * x[2]);
    rate[i] = swing[i] - body->velocity_body[i];
  }
  put(h->gap, n, gap);
  put(h->gap_rate, n, rate);
}

static int write_state(const pol_simulation *simulation, void *user)
{
  const writing *w = user;
  paper_top_history *h = w->history;
  const pol_state *state = pol_simulation_state(simulation);
  const long n = h->count;
  pol_body_state body;
  paper_top_state exact;
  double lambda[3];
  if (n == w->capacity) return 0;
  pol_formulation_body_state(pol_simulation_formulation(simulation), state->q, state->v, 0, &body);
  paper_top_exact_at(w->top, state->t, &exact);
  paper_top_tip_force(simulation, body.rotation, lambda);
  h->t[n] = state->t;
  put(h->position, n, body.position);
  put(h->velocity, n, body.velocity);
  put(h->velocity_body, n, body.velocity_body);
  put(h->lambda, n, lambda);
  for (int i = 0; i < 3; i++)
    h->lambda_error[i][n] = (exact.force_body[i] - lambda[i]) / norm(lambda, 3);
  h->error[2][n] = sqrt(pow(h->lambda_error[0][n], 2) + pow(h->lambda_error[1][n], 2) +
                        pow(h->lambda_error[2][n], 2));
  errors_of(w, &body, &exact, n);
  gaps_of(h, &body, n);
  if (state->eta != NULL) put(h->eta, n, state->eta);
  h->count++;
  return 1;
}

void paper_top_history_run(paper_report *report, const paper_top *top, const paper_top_setup *setup,
                           paper_top_history *history)
{
  writing w = {.top = top, .history = history, .capacity = lround(setup->end / setup->step) + 1};
  paper_run run;
  *history = (paper_top_history){0};
  w.se3 = strcmp(setup->formulation, "se3") == 0;
  if (paper_report_failed(report)) return;
  if (!allocate(history, w.capacity)) {
    paper_report_fail(report, "out of memory");
    return;
  }
  paper_run_watched(report, &run, write_state, &w, "models/bruels-cardona-2010/heavy_top.json", "",
                    "simulation.method=geom1 simulation.rho_inf=0.9 simulation.formulation=%s "
                    "simulation.index=%s simulation.start=%s simulation.step=%.17g "
                    "simulation.end=%.17g",
                    setup->formulation, setup->index, setup->start, setup->step, setup->end);
  history->summary = run.summary;
  if (run.status != POL_OK)
    paper_report_fail(report, "the run with h = %g stopped at t = %g: %s", setup->step,
                      run.diagnostics.t, run.diagnostics.message);
  paper_run_free(&run);
  if (paper_report_failed(report)) paper_top_history_free(history);
}

/* --- measures --------------------------------------------------------------------------------- */

long paper_top_history_rows(const paper_top_history *history, double t)
{
  long n = 0;
  while (n < history->count && history->t[n] <= t * (1.0 + 1e-9)) n++;
  return n;
}

double paper_largest_norm(double *const vector[3], long first, long last)
{
  double largest = 0.0;
  for (long n = first; n < last; n++) {
    const double x[3] = {vector[0][n], vector[1][n], vector[2][n]};
    largest = fmax(largest, norm(x, 3));
  }
  return largest;
}

double paper_largest_ripple(const double *y, long first, long last)
{
  double largest = 0.0;
  for (long n = first + 2; n + 2 < last; n++)
    largest = fmax(largest,
                   fabs(y[n - 2] - 4.0 * y[n - 1] + 6.0 * y[n] - 4.0 * y[n + 1] + y[n + 2]) / 16.0);
  return largest;
}
