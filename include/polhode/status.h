/* Return codes and diagnostics.
 *
 * 0 is success; a positive status is recoverable (a smaller step, other options or another start
 * may help); a negative status is fatal for the object or the call.  The library never prints and
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
  POL_SMALL_STEP = 6,    /* the tolerances require a step below the smallest one allowed */
  POL_ACCUMULATING = 7,  /* the resets of an event accumulate at a time that cannot be passed */

  POL_NO_MEMORY = -1,    /* an allocation failed */
  POL_BAD_ARGUMENT = -2, /* invalid argument, option or model */
  POL_CALLBACK = -3,     /* a model callback reported a fatal error */
  POL_IO = -4,           /* a file could not be read or written */
  POL_CANCELLED = -5     /* the pol_progress callback of the caller requested a stop */
} pol_status;

/* A lower-case phrase for a status; never NULL, static storage. */
const char *pol_status_text(pol_status status);

/* Where and why a calculation stopped.  Filled on every failure; the strings are always terminated.
 */
typedef struct pol_diagnostics {
  pol_status status;
  double t;          /* time at the end of the failed step, or of the failed calculation */
  double h;          /* its step size; 0 where there is none */
  long step;         /* its number, starting at 1; 0 for the initial values */
  int iteration;     /* Newton iterations done */
  double residual;   /* weighted norm of the residual; accepted if at most 1 */
  double correction; /* weighted norm of the last Newton correction */
  int equation;      /* index of the equation with the largest residual or error; -1: unknown */
  char where[128];   /* the same equation in words: "joint 'tip', translation x" */
  char message[256]; /* what happened: one sentence without a final period */
  char advice[256];  /* what to try; may be empty */
} pol_diagnostics;

/* Progress and cancellation of long calculations: report is called repeatedly, by the thread that
 * called polhode, with the name of the current stage and the completed fraction of it, 0 .. 1, or a
 * negative number if the fraction is unknown.  If it returns a value other than 0, the call ends
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
