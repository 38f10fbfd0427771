/* A batch: many copies of one simulation with states, inputs and parameters of their own, stepped
 * together over threads; for learning, sampling, optimization and studies of tolerances.
 *
 *     pol_batch_create(&batch, mechanism, &settings, &diagnostics);
 *     for (...) {
 *       // write the controls of all copies to pol_batch_inputs(batch)
 *       pol_batch_step(batch, 10);
 *       // read pol_batch_outputs(batch), pol_batch_q(batch), ...; pol_batch_reset() some
 *     }
 *
 * The copies share the mechanism and its equations, which do not change; each has an integrator of
 * its own.  What a copy computes depends on nothing but the copy, so results are the same to the
 * last bit for any number of threads, and the same as those of a pol_simulation.  A copy that fails
 * stays where it is until it is reset; the others go on.  Stepping and resetting allocate nothing
 * (see linalg.h for the one exception).  One thread at a time may call functions of a batch.
 */
#ifndef POLHODE_BATCH_H
#define POLHODE_BATCH_H

#include <polhode/simulation.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Settings of a batch. */
typedef struct pol_batch_settings {
  /* Of each copy.  step is the step of the batch; with variable steps it is the interval that they
   * divide.  end, output and progress are not used; there must be no events. */
  pol_settings simulation;
  int count;   /* number of copies, at least 1 */
  int threads; /* 0: one for each processor; at most 256 */
  /* count mechanisms that differ in numbers only, such as masses and lengths; equal pointers one
   * after the other share their equations.  NULL: all copies have the mechanism of
   * pol_batch_create. */
  const pol_mechanism *const *mechanisms;
  int num_inputs;             /* variables that are inputs (pol_variable.input), by name: */
  const char *const *inputs;  /* the columns of pol_batch_inputs */
  int num_outputs;            /* variables, by name: */
  const char *const *outputs; /* the columns of pol_batch_outputs */
} pol_batch_settings;

/* One copy with pol_settings_default(), no inputs and outputs, a thread for each processor. */
pol_batch_settings pol_batch_settings_default(void);

/* A batch.  Owns everything except its mechanisms. */
typedef struct pol_batch pol_batch;

/* Creates all copies at consistent initial values, t = 0.  On failure *batch is NULL and
 * diagnostics (may be NULL) has the reason, with the number of the copy: POL_BAD_ARGUMENT for
 * settings that are wrong or do not fit the mechanism, a name that is no variable or no input, or
 * mechanisms whose equations differ in size.  The mechanisms must outlive the batch. */
pol_status pol_batch_create(pol_batch **batch, const pol_mechanism *mechanism,
                            const pol_batch_settings *settings, pol_diagnostics *diagnostics);
void pol_batch_free(pol_batch **batch);

/* Number of copies, and of threads in use. */
int pol_batch_count(const pol_batch *batch);
int pol_batch_threads(const pol_batch *batch);

/* Inputs: count rows of num_inputs numbers, at first the values of the variables.  Write them
 * before a step; they then hold for all of it (pol_simulation_set_input). */
double *pol_batch_inputs(pol_batch *batch);

/* Advances all copies that have not failed by `count` steps.  Returns POL_OK, or the status of the
 * first copy that has failed now or earlier; all others have advanced.  POL_BAD_ARGUMENT: count is
 * below 1. */
pol_status pol_batch_step(pol_batch *batch, long count);

/* Starts copies again at t = 0: those with which[i] != 0, or all if which is NULL.  q (count rows
 * of nq) and v (count rows of nv) are the states to start from, which are made consistent with the
 * constraints; NULL: those of the mechanism.  Rows of other copies are not read.  Inputs hold as
 * they are in pol_batch_inputs.  Returns POL_OK, or the status of the first copy that could not be
 * started, and has failed. */
pol_status pol_batch_reset(pol_batch *batch, const unsigned char *which, const double *q,
                           const double *v);

/* Results after the last step or reset, one row per copy; the batch owns them.  A copy that has
 * failed has those of its last accepted step. */
const pol_status *pol_batch_status(const pol_batch *batch); /* count */
const double *pol_batch_t(const pol_batch *batch);          /* count */
const double *pol_batch_q(const pol_batch *batch);          /* count x nq */
const double *pol_batch_v(const pol_batch *batch);          /* count x nv */
const double *pol_batch_vd(const pol_batch *batch);         /* count x nv */
const double *pol_batch_lambda(const pol_batch *batch);     /* count x m */
const double *pol_batch_outputs(const pol_batch *batch);    /* count x num_outputs */

/* A copy as a simulation, for pol_simulation_body(), pol_simulation_diagnostics(),
 * pol_record_create(), ...; NULL if there is no such copy.  Do not step it.  Where the joints and
 * forces allow it, a call of pol_batch_step() measures the energy, the residuals and the power only
 * at its end, so that the work in the summary is that of the trapezoidal rule over the call. */
const pol_simulation *pol_batch_simulation(const pol_batch *batch, int copy);

#ifdef __cplusplus
}
#endif
#endif
