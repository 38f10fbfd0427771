/* A family of methods: how integrator.c drives the file that implements it. */
#ifndef POLHODE_INTEGRATORS_FAMILY_H
#define POLHODE_INTEGRATORS_FAMILY_H

#include <polhode/integrator.h>

#include "dae/independence.h"
#include "dae/least_norm.h"
#include "integrators/step_control.h"

typedef struct poli_family poli_family;

/* One row of the method table: what a user reads, who implements it, and the data that sets it
 * apart. */
typedef struct poli_method_entry {
  pol_method method;
  const poli_family *family;
  const poli_family *rigid_family; /* for rigid bodies in so3xr3, if it is another one */
  const void *variant;
} poli_method_entry;

/* The family that treats this dae. */
const poli_family *poli_method_family(const poli_method_entry *entry, const pol_dae *dae);

struct pol_integrator {
  const pol_dae *dae;
  pol_options options;
  const poli_method_entry *method;
  const poli_family *family;
  int num_substeps; /* per step, each with a Newton iteration of its own */
  pol_assembler *assembler;
  void *data;    /* of the family */
  int redundant; /* some constraints are redundant and have been dropped, */
  int shares;    /* and share their reactions */
  /* Workspace for that: of a small dae there from the beginning, else NULL until it is needed. */
  unsigned char *chosen;       /* m: which constraints may be dropped instead, */
  unsigned char *usual;        /* m: and which are, but in a step across a singular position */
  int crosses;                 /* such a step is under way */
  poli_least_norm *least_norm; /* finds reactions to share */
  double *shared;              /* m: the multipliers then */
  pol_state state;
  double *history; /* what state.history points to; NULL if the dae keeps none */
  pol_counts counts;
  pol_diagnostics diagnostics;
  /* time is counted from the last change of step size, so that equal steps do not add up round-off
   */
  double t_reference, h;
  long steps_since;
  poli_step_control *control;
  int hidden;       /* the state is not seen at the end of the step under way: q is enough */
  int adapting;     /* the step under way is one of pol_integrator_adapt */
  pol_state before; /* the solution at the start of the last accepted step; q NULL: there is none */
  size_t memory_size; /* bytes of memory */
  void *memory;       /* holds the arrays below, nq + 2 nv + m numbers each: q, v, v', lambda */
  double *old;        /* that before points into */
  double *work, *interpolated;
  double *margins; /* of the model (dae/extension.h) at five times of a step: leaps.c */
};

/* Whether a function at whose zeros forces change goes through zero and back within the step from
 * the present state to q and v at time t: such a contact leaves no trace at both ends.  *next: a
 * step size that ends within it.  Control: weights are set. */
int poli_integrator_leaps(pol_integrator *integrator, double t, const double *q, const double *v,
                          double *next);

/* q at the fraction x of a step of size h between two states, of which q and v are used; dense.c.
 */
void poli_integrator_position_within(const pol_group *group, double x, double h,
                                     const pol_state *from, const pol_state *to, double *q);

/* Sets an input of the model (dae/extension.h) from the present time on.  Not POL_OK if the forces
 * with it cannot be evaluated. */
pol_status poli_integrator_set_input(pol_integrator *integrator, int input, double value);

/* Whether its multipliers lag behind the state. */
int poli_integrator_lags(const pol_integrator *integrator);

/* Whether its interpolant is of a high order, for steps that are large. */
int poli_integrator_is_dense(const pol_integrator *integrator);

/* Whether there are doubts about steps of size h from the present solution, or with h = 0 about
 * what has limited steps of variable size; they go to message. */
int poli_integrator_doubt_step(pol_integrator *integrator, double h, char *message, size_t size);

/* The largest variable step from the present solution in which bodies do not rotate too far;
 * HUGE_VAL if none rotates. */
double poli_integrator_turn_step(const pol_integrator *integrator);

/* The size that a step of variable size has at most, as far as it is known; 0: it is to be found
 * from the accelerations. */
double poli_integrator_planned_step(const pol_integrator *integrator);
/* Variable steps stay those of the time span so far, `span` before the first one, although the end
 * is a later one now. */
void poli_integrator_keep_span(pol_integrator *integrator, double span);
/* The time to be covered from now on, where the t_end of the next steps is only part of the way. */
void poli_integrator_expect_span(pol_integrator *integrator, double span);

/* Newton iterations are solved so many times per step. */
int poli_integrator_num_substeps(const pol_integrator *integrator);

/* Its assembler, without the dropped constraints; others may use it between steps. */
pol_assembler *poli_integrator_assembler(pol_integrator *integrator);

/* The history of its dae (pol_dae); between a change and the next step there must be a restart. */
double *poli_integrator_history(pol_integrator *integrator);

/* What a family with an error estimate has, so that an attempt can be undone. */
typedef struct poli_adaptive {
  /* One step to time t, not yet taken over: integrator->state stays, the trial configuration is in
   * *q, its velocity in *v.  After a failure everything is as before. */
  pol_status (*attempt)(pol_integrator *integrator, double t, double h, const double **q,
                        const double **v);
  /* The local error of the attempt's increments (nv). */
  void (*error)(const pol_integrator *integrator, double *error);
  /* Takes the attempt over, or undoes it to the last bit. */
  void (*accept)(pol_integrator *integrator);
  void (*reject)(pol_integrator *integrator);
  /* An estimate of the local error over h^3 at the present state (nv), for the first step; tau is a
   * time that is small against the motion's. */
  pol_status (*error_rate)(pol_integrator *integrator, double tau, double *error);
  /* Optional, for reversible steps: kinetic energy, its rate, and the size of energies that the
   * applied forces can cause, at the present state. */
  pol_status (*energies)(pol_integrator *integrator, double *kinetic, double *rate, double *size);
  int keeps_size; /* a step of the size of the one before is cheaper */
} poli_adaptive;

struct poli_family {
  /* Options that only this family can judge; the rule goes to message. */
  pol_status (*validate)(const pol_options *options, const void *variant, char *message,
                         size_t size);
  /* Writes to message, which is empty, why options are unwise though allowed. */
  void (*warn)(const pol_options *options, const void *variant, char *message, size_t size);
  /* Whether the options fit the group of the dae; the reason goes to message. */
  pol_status (*supports)(const pol_dae *dae, const pol_options *options, const void *variant,
                         char *message, size_t size);
  /* Optional: as warn, for this dae. */
  void (*doubt)(const pol_dae *dae, const pol_options *options, char *message, size_t size);
  /* Optional: as warn, for steps of size h from the present solution; h = 0: about what has limited
   * steps of variable size so far. */
  void (*doubt_step)(pol_integrator *integrator, double h, char *message, size_t size);
  /* Optional: the largest step for which the method is stable at the present solution, where one of
   * size h is planned; or, with attempted, at the end of an attempt of that size. */
  double (*largest_step)(pol_integrator *integrator, double h, int attempted);
  pol_status (*create)(pol_integrator *integrator);
  void (*destroy)(void *data);
  /* Takes over consistent values at integrator->state.t; sets the rest of integrator->state only on
   * success. */
  pol_status (*start)(pol_integrator *integrator, const double *q, const double *v,
                      const double *vd, const double *lambda);
  /* Lists what it keeps from step to step, the state of the integrator included
   * (poli_state_archive); the rest of the integrator is loaded. */
  void (*archive)(pol_integrator *integrator, poli_archive *archive);
  /* Optional: other constraints are dropped from now on; what was kept for them is of no use. */
  void (*forget)(void *data);
  /* Optional: an input has changed the forces at the present solution. */
  pol_status (*change_forces)(pol_integrator *integrator);
  /* One step to time t; sets integrator->state only on success. */
  pol_status (*step)(pol_integrator *integrator, double t, double h);
  int hides;                     /* whether it saves work where integrator->hidden is set */
  const poli_adaptive *adaptive; /* NULL: fixed steps only */
  /* Optional: as pol_integrator_interpolate, for a time inside the last step; else dense.c. */
  pol_status (*interpolate)(const pol_integrator *integrator, double t, double *q, double *v,
                            double *vd, double *lambda);
  /* Optional: by which share of a step multipliers lag behind (pol_method_lag). */
  double (*lag)(const void *variant);
  /* Optional: after which share of a step the constraints are satisfied; else at its end. */
  double (*share)(const void *variant);
};

/* m flags of the dropped constraints; NULL if there are none. */
const unsigned char *poli_integrator_flags(const pol_integrator *integrator);

/* As pol_integrator_choose_constraints, in one component of the constraints (dae/independence.h),
 * whose state the integrator uses; -1: in all. */
pol_status poli_integrator_choose_in(pol_integrator *integrator, int component);
/* NULL: no memory. */
poli_independence *poli_integrator_independence(pol_integrator *integrator);

/* For a step of size h that fails because the constraints are nearly dependent where it ends: drops
 * all that are within 1e-4 of others there, until poli_integrator_keep_constraints.  On the way
 * across the others imply them, up to their distance times what the freedom that opens can move in
 * one step.  *constraint is one of those that are dropped for this.  POL_BAD_ARGUMENT if there is
 * none, or forces depend on reactions, or no constraint may be dropped, or there are too many of a
 * model without known bodies to look for dependent ones. */
pol_status poli_integrator_drop_near(pol_integrator *integrator, double h, int *constraint);
/* Drops what was dropped before that; without it nothing changes. */
void poli_integrator_keep_constraints(pol_integrator *integrator);

/* Lists all that steps change.  It is loaded into an integrator of the same dae and options that
 * has been started in the same way and has made no step. */
void poli_integrator_archive(pol_integrator *integrator, poli_archive *archive);
/* Lists a state whose arrays are in a block of memory that is listed itself; not the history. */
void poli_state_archive(pol_state *state, void *memory, size_t size, poli_archive *archive);

/* integrator.c, for adapt.c: the diagnostics of the next step of size h to t; the state into work,
 * and from there, once the step is taken, into before. */
void poli_integrator_begin_step(pol_integrator *integrator, double t, double h);
void poli_integrator_keep_state(pol_integrator *integrator);
pol_status poli_integrator_end_step(pol_integrator *integrator, double t);
/* (q, v, v', lambda) one behind the other */
pol_state poli_integrator_layout(const pol_integrator *integrator, double t, const double *array);

/* Factors by which a step of the generalized-alpha methods multiplies deviations from the
 * constraints: of v', and of (v, a) with index 3 or of a otherwise. */
typedef struct poli_amplification {
  double of_vd, of_a;
} poli_amplification;

poli_amplification poli_constraint_amplification(const pol_options *options);

const poli_method_entry *poli_method_entry_find(const char *name);

extern const poli_family poli_generalized_alpha, poli_ggl_family, poli_splitting;

#endif
