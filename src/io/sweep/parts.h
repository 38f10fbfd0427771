/* What the files of a study share.
 *
 *   study.c    the study file, its errors, and the model that it refers to
 *   sample.c   from the number of a run to its values
 *   run.c      one run, and its outcome as bytes
 *   store.c    the journal
 *   hdf5.c     the file of all runs: writing
 *   table.c    the same: reading
 */
#ifndef POLHODE_IO_SWEEP_PARTS_H
#define POLHODE_IO_SWEEP_PARTS_H

#include <polhode/fmu.h>
#include <polhode/model.h>
#include <polhode/sweep.h>

/* A key and its values. */
typedef struct poli_sweep_key {
  pol_sweep_key key; /* its texts are owned */
  int is_parameter;
  long count;      /* of values; 0: a range */
  double *numbers; /* NULL: a range, or texts */
  char **texts;    /* NULL: numbers */
  double from, to; /* a range */
  long *strata;    /* of each run of a Latin hypercube; NULL for others */
} poli_sweep_key;

typedef struct poli_sweep_signal {
  char *name, *unit;
} poli_sweep_signal;

struct pol_sweep {
  char *name, *study, *model; /* texts */
  char *path;                 /* of the model; "" if there is none */
  int by_path;                /* the text alone is not enough */
  pol_sweep_sample sample;
  long count;
  uint64_t seed, identity;
  int num_keys;
  poli_sweep_key *keys;
  int num_set;
  char **set; /* overrides of all runs */
  int num_responses;
  pol_sweep_response *responses; /* texts are owned */
  int num_signals;
  poli_sweep_signal *signals;
  long every; /* rows between those that are recorded */
};

/* Of runs at most. */
enum { POLI_SWEEP_MOST_RUNS = 10000000 };

/* --- sample.c --------------------------------------------------------------------------------- */

/* The value number i of `count` in a range, from 0; and the one at a share 0 .. 1 of it. */
double poli_sweep_range(double from, double to, int is_log, double share);
/* Fills the strata of a Latin hypercube, for each key a permutation that depends on the seed, the
 * number of the key and the count alone. */
pol_status poli_sweep_make_strata(pol_sweep *sweep);
/* The override "path=value" of a key in a run; value -1: of the run, else this one of a list, or
 * the start (0) or end (1) of a range.  The caller frees it; NULL without memory. */
char *poli_sweep_override(const pol_sweep *sweep, long run, int key, long value);

/* --- run.c ------------------------------------------------------------------------------------ */

/* An outcome: this, num_responses numbers, the texts `where` and `message`, then rows of
 * num_signals numbers. */
typedef struct poli_outcome {
  int32_t end;    /* pol_sweep_end */
  int32_t status; /* pol_status */
  double t;
  int64_t steps, rejected, newton_iterations;
  double max_energy_drift, max_position_residual;
  uint32_t where, message; /* bytes of the texts */
  int64_t rows;
} poli_outcome;

/* Takes an outcome apart; 0 if the bytes are none of this study.  Texts are not terminated. */
typedef struct poli_outcome_view {
  poli_outcome head;
  const unsigned char *responses, *where, *message, *rows;
} poli_outcome_view;
int poli_outcome_open(const pol_sweep *sweep, const void *bytes, size_t size,
                      poli_outcome_view *view);

/* Reads the model with the overrides of all runs and `count` more. */
pol_status poli_sweep_read_model(const pol_sweep *sweep, int count, char *const *more,
                                 pol_model **model, pol_errors *errors);

/* --- hdf5.c ----------------------------------------------------------------------------------- */

#define POLI_SWEEP_FORMAT "polhode study 1"

/* The bytes of an outcome; *bytes belong to the reader and stay until the next call.  POL_OK with
 * *size 0: there is none. */
typedef struct poli_outcomes {
  pol_status (*read)(void *user, long run, const void **bytes, size_t *size);
  void *user;
} poli_outcomes;
/* Writes the file. */
pol_status poli_sweep_write_hdf5(const pol_sweep *sweep, const char *path,
                                 const poli_outcomes *outcomes);
/* The identity of a study in a file and its unfinished runs.  POL_BAD_ARGUMENT: it is none. */
pol_status poli_sweep_file_identity(const char *path, uint64_t *identity, long *pending,
                                    long *failed);

#endif
