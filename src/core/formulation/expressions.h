/* What expressions do in the equations: efforts of forces and rates of states, with all
 * derivatives.
 *
 * A force is linear in its efforts e_k: the balance holds -e_k G_k(q), G_k the wrenches of a unit
 * effort on its bodies, next to what the force is without them.  A state c is the velocity of a
 * coordinate of its own with unit mass, so that the balance says c' - h = 0.  With w the weights of
 * the network (network.h) and s its signals, each effort and each rate adds
 *
 *     -G_k w . ds/dq to the stiffness,   -G_k w . ds/dv to the damping,   -G_k w . ds/dlambda
 *
 * to the feedback, where G_k of a rate is 1.
 */
#ifndef POLHODE_FORMULATION_EXPRESSIONS_H
#define POLHODE_FORMULATION_EXPRESSIONS_H

#include "formulation/formulation.h"

/* Finds what each effort and rate acts on and what it reads.  Everything is numbered already, and
 * the network is there. */
pol_status poli_formulation_link_expressions(pol_formulation *formulation);

/* At most this many blocks: those of the coupling from count on; returns the new count. */
size_t poli_expressions_max_blocks(const pol_formulation *formulation);
int poli_expressions_coupling(const pol_formulation *formulation, int count, pol_block *blocks);
/* The pattern feedback; stays NULL if nothing depends on multipliers. */
pol_status poli_expressions_feedback(pol_formulation *formulation);
/* Looks up the places of the derivatives in the patterns. */
void poli_formulation_place_expressions(pol_formulation *formulation);

/* The signals that forces and states depend on, also by way of variables; returns how many, at most
 * POLI_MAX_INPUTS. */
int poli_expressions_read(const pol_formulation *formulation, poli_signal *signals);

/* Names a joint or drive whose reaction is among these signals and which redundant constraints
 * leave open at a point, so that it depends on how these share it; an empty name if there is none.
 * Allocates its workspace: POL_NO_MEMORY. */
pol_status poli_expressions_find_open(const pol_formulation *formulation, pol_solver_kind solver,
                                      const pol_point *at, int count, const poli_signal *signals,
                                      char *name, size_t size);

/* Numbers of scratch for poli_expressions_add(); x takes num_inputs numbers more. */
size_t poli_expressions_scratch(const pol_formulation *formulation);

/* Inputs of the network at a point: all of them, or those that the equations need.  frames: of all
 * bodies, or NULL.  POL_RETRY where a signal is not defined. */
pol_status poli_expressions_inputs(const pol_formulation *formulation, const pol_point *at,
                                   const poli_frame *frames, int all, double *x);

/* The margins (dae/extension.h) of efforts and rates, and of the variables that they use: none if
 * the equations read reactions, which have no values within a step. */
int poli_expressions_num_margins(const pol_formulation *formulation);
void poli_expressions_margins(const pol_point *at, double *margins, const void *formulation);

/* A force with other numbers. */
typedef struct poli_changed_force {
  pol_force numbers;
  poli_placed_force placed; /* its numbers are those */
} poli_changed_force;

/* Force `index` with the numbers that its expressions have at x, which go to *changed, or as it is
 * if it has none.  POL_RETRY in *status if one is not finite; else *status stays. */
const poli_placed_force *poli_expressions_force(const pol_formulation *formulation, int index,
                                                const double *x, poli_changed_force *changed,
                                                pol_status *status);

/* The actuator of a force, without its spring and damper, with numbers in *changed; the force may
 * be that of *changed itself. */
const poli_placed_force *poli_expressions_actuator(const poli_placed_force *force,
                                                   poli_changed_force *changed);

/* out (nv) += the generalized force of a unit effort of a force, without its function of time.  The
 * components are those of its expressions, whether it has these or not. */
pol_status poli_expressions_unit_force(const pol_formulation *formulation, const pol_point *at,
                                       int force, int component, double *out);

/* balance += vd of the states for INERTIA, -h for FORCE.  POL_RETRY if a rate is not finite; then
 * -*failed is a number for poli_expressions_blame(). */
pol_status poli_expressions_balance(const pol_formulation *formulation, const pol_point *at,
                                    unsigned parts, const double *x, double *balance,
                                    double *failed);

/* Where directors are: at the point, or, with its position in the middle, between two
 * configurations, by the second of which the stiffness is; and nv numbers of workspace. */
typedef struct poli_expression_way {
  const double *q0, *q1; /* NULL: at the point */
  double *balance;
} poli_expression_way;

/* Mass of the states, and what efforts and rates add to damping, stiffness and feedback.  In
 * directors, and for discrete forces, with a way, rigid frames and no maps; else way is NULL. */
pol_status poli_expressions_add(const pol_formulation *formulation, const pol_point *at,
                                const poli_expression_way *way, unsigned want, const pol_terms *out,
                                const poli_frame *frames, const poli_frame_maps *maps,
                                const double *x, double *scratch);

/* Says what is wrong with expressions: from 1 on the forces whose expression is not finite, then a
 * signal that is not defined, then the states whose rate is not finite. */
#define POLI_NO_VALUE "has no finite value"
void poli_expressions_blame(const pol_formulation *formulation, int number, char *text,
                            size_t size);

/* --- signals.c: values of signals (mechanism/signal.h) and their derivatives by what they depend
 * on: frames of at most two bodies, multipliers of one joint or drive, or one state or mode -----
 */

/* What a signal depends on, wherever it is evaluated. */
typedef struct poli_signal_reads {
  int body[2];       /* POL_GROUND for none */
  int row;           /* of the first multiplier */
  int num_rows;      /* 0 for none */
  int column;        /* a velocity, of a state or a mode; -1 for none */
  poli_target owner; /* the velocities of the state, or of the body of the mode */
  int of_position;   /* not that velocity, but its coordinate, the amplitude of the mode */
} poli_signal_reads;

/* Variations and velocities are those of mechanism/joint.h: (dphi1, dx1, dphi2, dx2). */
typedef struct poli_signal_gradient {
  poli_signal_reads reads;
  double position[12], velocity[12]; /* by the frames of both bodies */
  double lambda[POL_MAX_JOINT_ROWS]; /* by the multipliers; by the velocity or coordinate it is 1 */
} poli_signal_gradient;

/* The joints are numbered already; the signal is no variable, and no reaction of a joint without
 * rows. */
poli_signal_reads poli_signal_dependence(const pol_formulation *formulation,
                                         const poli_signal *signal);

/* The value and the gradient at a point.  frames: those of all bodies there, or NULL.  POL_RETRY
 * where an angle is not defined. */
pol_status poli_signal_value(const pol_formulation *formulation, const poli_signal *signal,
                             const pol_point *at, const poli_frame *frames, double *value);
pol_status poli_signal_derivatives(const pol_formulation *formulation, const poli_signal *signal,
                                   const pol_point *at, const poli_frame *frames,
                                   poli_signal_gradient *gradient);

#endif
