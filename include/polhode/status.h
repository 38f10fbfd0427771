/* What a call into polhode answers, and what it can say about a failure.
 *
 * 0 is success; a positive status is recoverable (a smaller step, other options or another start
 * may help); a negative one is fatal for the object or the call.  The library never prints and
 * never exits.
 */
#ifndef POLHODE_STATUS_H
#define POLHODE_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

/* Return codes: 0 success, positive recoverable, negative fatal for the call. */
typedef enum pol_status {
  POL_OK = 0,

  POL_NOT_CONVERGED = 1, /* the Newton iteration did not reach its tolerance */
  POL_SINGULAR = 2,      /* the matrix has no stable pivot in some column */
  POL_NOT_FINITE = 3,    /* a quantity became infinite or not a number */
  POL_INCONSISTENT = 4,  /* no configuration or velocity satisfies the constraints */
  POL_RETRY = 5,         /* a model callback asks for a smaller step */
  POL_SMALL_STEP = 6,    /* the tolerances ask for a step below the smallest one allowed */
  POL_ACCUMULATING = 7,  /* the resets of an event accumulate at a time that cannot be passed */

  POL_NO_MEMORY = -1,    /* an allocation failed */
  POL_BAD_ARGUMENT = -2, /* an argument, option or model breaks its rule */
  POL_CALLBACK = -3,     /* a model callback gave up */
  POL_IO = -4,           /* a file could not be read or written */
  POL_CANCELLED = -5     /* the caller's pol_progress asked to stop */
} pol_status;

/* One lower-case phrase for a status; never NULL, static storage. */
const char *pol_status_text(pol_status status);

/* Where and why a calculation stopped.  Filled on every failure; the strings are always terminated.
 */
typedef struct pol_diagnostics {
  pol_status status;
  double t;          /* time at the end of the failed step, or of the failed calculation */
  double h;          /* its step size; 0 where there is none */
  long step;         /* its number, counted from 1; 0 for the initial values */
  int iteration;     /* Newton iterations done */
  double residual;   /* weighted norm; at most 1 would have been accepted */
  double correction; /* the same for the last Newton correction */
  int equation;      /* index of the worst equation, -1 if none is known */
  char where[128];   /* the worst equation in words: "joint 'tip', translation x" */
  char message[256]; /* what happened, one sentence without a final stop */
  char advice[256];  /* what to try; may be empty */
} pol_diagnostics;

/* Progress and cancellation of long calculations: report is called repeatedly, by the thread that
 * called polhode, with the name of the current stage and the fraction of it that is done, 0 .. 1,
 * or a negative number if that is not known.  If it returns a value other than 0, the call ends
 * with POL_CANCELLED, normally within a second.  It must not call polhode with the same objects.
 * NULL: not called. */
typedef struct pol_progress {
  int (*report)(const char *stage, double share, void *user);
  void *user;
} pol_progress;

/* Library version, "major.minor.patch". */
const char *pol_version(void);

#ifdef __cplusplus
}
#endif
#endif
