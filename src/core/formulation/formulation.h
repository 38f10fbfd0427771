/* The formulation object, shared by the files of this room. */
#ifndef POLHODE_FORMULATION_FORMULATION_H
#define POLHODE_FORMULATION_FORMULATION_H

#include <polhode/formulation.h>

#include "dae/extension.h"
#include "formulation/chart.h"
#include "formulation/network.h"
#include "mechanism/armature.h"
#include "mechanism/drive.h"

/* A dense block inside a sparse matrix: address of its first entry, distance between its columns.
 */
typedef struct poli_slot {
  int address, stride;
} poli_slot;

/* A body, where its coordinates start and where its block is.  An interface of a flexible body has
 * the coordinates of its reference frame. */
typedef struct poli_placed_body {
  const pol_body *body;
  const poli_chart *chart; /* its coordinates */
  int q, v;                /* of its first configuration number and velocity */
  int internal_row;        /* of its first constraint of its own, or -1 */
  int reference;           /* the body whose coordinates it has: itself, unless an interface */
  poli_slot diagonal;      /* in coupling */
  poli_slot internal;      /* in constraint: its own rows and columns */
  poli_chart_place place;
  size_t maps; /* of a flexible body: where its maps are, see poli_frame_maps */
} poli_placed_body;

/* Where the maps of all bodies are whose charts are not direct: those of the charts of rigid bodies
 * (of reference frames, too), and those of the frames of flexible bodies. */
typedef struct poli_frame_maps {
  const poli_chart_maps *rigid; /* one a body; NULL if the formulation's chart is direct */
  const double *attached;
} poli_frame_maps;

/* One of the maps of a body: 6 rows with `width` numbers each. */
typedef struct poli_map_view {
  const double *entries;
  int width;
} poli_map_view;

static inline poli_map_view poli_map_of(const poli_placed_body *bodies, int body,
                                        const poli_frame_maps *maps, poli_map_name name)
{
  const poli_placed_body *placed = &bodies[body];
  if (placed->chart->num_modes > 0)
    return (poli_map_view){maps->attached + placed->maps +
                               6 * (size_t)name * (size_t)placed->chart->dim,
                           placed->chart->dim};
  return (poli_map_view){(&maps->rigid[body].L)[name][0], POLI_CHART_MAX_DIM};
}

/* A joint, its rows and where its blocks are.  Bodies that are the ground have no blocks. */
typedef struct poli_placed_joint {
  int row;      /* of its first constraint; -1 if the coordinates satisfy it by themselves */
  int slip_row; /* of its first non-holonomic constraint, if it has any */
  poli_joint_kernel kernel;
  poli_slot coupling[2][2]; /* in coupling: rows of body i, columns of body j */
  poli_slot jacobian[2];    /* in constraint: its rows, columns of body i */
  poli_slot slip[2];        /* the same of its non-holonomic rows */
  int coordinate;           /* the first of its coordinates */
} poli_placed_joint;

/* The multipliers of a joint's rows in the order of its kernel; returns how many. */
int poli_placed_multipliers(const poli_placed_joint *joint, const double *lambda,
                            double own[POL_MAX_JOINT_ROWS]);

/* A coordinate that a joint leaves free. */
typedef struct poli_placed_coordinate {
  poli_coordinate_kernel kernel;
  int history; /* number of its angle in the history; -1 for a displacement */
} poli_placed_coordinate;

/* What an angle needs to count its turns, in little memory: it is atan2(s, c) of the numbers (R1
 * axis) . (R2 other). */
typedef struct poli_turn {
  int body[2];
  int q[2]; /* where the quaternions of the bodies start; -1: they have none */
  int history;
  double axis[2][3], other[2][3]; /* of c, then of s */
} poli_turn;

/* A force and where its blocks are. */
typedef struct poli_placed_force {
  poli_force_kernel kernel;
  poli_joint_spring spring; /* of an element on a joint */
  int history;              /* of an element on a joint: as of its coordinate */
  int contact;              /* of a hard stop: where its contact and preload are in the history */
  int load_row;             /* of friction that depends on reactions: of its first multiplier */
  poli_slot coupling[2][2]; /* as of a joint */
  poli_slot feedback[2];    /* of friction: rows of body i, columns of the joint's multipliers */
  int effort[3];            /* the node of each of its expressions */
  int is_compliant;         /* its spring and damper are rows of splitting methods, see rows.c */
} poli_placed_force;

/* Velocities that an equation belongs to: dim of them from v on; none if dim is 0. */
typedef struct poli_target {
  int v, dim;
} poli_target;

/* An expression that stands in the equations: the rate of a state, or an effort of a force. */
typedef struct poli_consumer {
  int node;              /* of the network */
  int force, component;  /* -1: a rate */
  poli_target target[2]; /* what it acts on */
} poli_consumer;

/* A consumer and a signal that it depends on: where the derivatives go, by target and by the
 * bodies, multipliers, state or mode that the signal reads. */
typedef struct poli_link {
  int consumer, weight;
  poli_slot coupling[2][2], feedback[2], column[2];
} poli_link;

/* A drive; `placed` holds its row and blocks, and its kernel as if f were 0. */
typedef struct poli_placed_drive {
  poli_drive_kernel kernel;
  poli_placed_joint placed;
} poli_placed_drive;

/* A coupling: its row, and for each end the blocks of the two bodies of its joint. */
typedef struct poli_placed_coupling {
  poli_coupling_kernel kernel;
  int row;
  int history; /* where the deviations of its two ends are remembered */
  struct {
    poli_slot coupling[2][2], jacobian[2]; /* as of a joint */
  } end[2];
} poli_placed_coupling;

/* A reflected inertia; its blocks are those of its joint. */
typedef struct poli_placed_armature {
  poli_armature kernel;
  const poli_placed_joint *joint;
} poli_placed_armature;

struct pol_formulation {
  const pol_mechanism *mechanism;
  pol_formulation_kind kind;
  const poli_chart *chart;     /* of the rigid bodies */
  int mapped;                  /* a body has a chart that is not direct */
  int widest;                  /* the largest dim of a chart, at least 6 */
  int num_flexible, num_modes; /* flexible bodies, modes of all of them */
  poli_chart *charts;          /* of the flexible bodies */
  size_t num_attached;         /* numbers of scratch for their maps and forces on their modes */
  double gravity[3];
  int num_bodies, num_joints, num_forces, num_drives, num_couplings;
  void *memory;        /* holds the arrays of elements */
  pol_factor *factors; /* of the bodies' charts, one body after the other */
  unsigned char *pure; /* of the dae */
  int *mass_blocks;    /* of the extension */
  poli_placed_body *bodies;
  poli_placed_joint *joints;
  int has_disks; /* some joints roll with a disk */
  int num_coordinates;
  poli_placed_coordinate *coordinates; /* of one joint after the other */
  int num_turns;
  poli_turn *turns; /* of the angles among them */
  int num_armatures;
  poli_placed_armature *armatures;
  poli_placed_force *forces;
  int num_soft_stops;
  int *soft_stops; /* the forces that are stops of joint coordinates, without hard ones */
  poli_placed_drive *drives;
  poli_placed_coupling *couplings;
  poli_network network; /* of all expressions */
  int held;             /* where the values of inputs start in the history */
  int state_q, state_v; /* where the states' coordinates and velocities start, after all bodies */
  int num_consumers, num_links;
  void *links_memory; /* holds the three arrays below */
  poli_consumer *consumers;
  poli_link *links; /* by inputs of the network: */
  int *link_start;  /* those of input i are link_start[i] .. link_start[i+1]-1 */
  pol_pattern *coupling, *constraint;
  pol_pattern *feedback; /* or NULL */
  struct pol_dae_extension extension;
  /* Euler parameters that the variational and energy-momentum methods can step: the director model
   * (the same mechanism in directors), and the blocks of the pattern coupling in both;
   * step_equations.c */
  pol_formulation *directors;
  char no_directors[192]; /* why there is none */
  char not_rigid_bodies[192], not_conserved[256];
  int num_pairs;
  struct poli_body_pair *pairs;
  pol_dae dae;
};

/* Where the block with this upper left entry is; its columns all have the same rows. */
poli_slot poli_slot_at(const pol_pattern *pattern, int row, int col);

/* Beside POL_POSITION, POL_VELOCITY and POL_ACCELERATION: the last one with B v', at the v' of the
 * point.  Not for directors. */
enum { POLI_TOTAL_ACCELERATION = 1 << 30 };

/* pol_dae.evaluate; evaluate.c */
pol_status poli_formulation_evaluate(const pol_point *at, unsigned want, const pol_terms *out,
                                     double *scratch, void *user);
/* The same of the directors; directors.c */
pol_status poli_directors_evaluate(const pol_point *at, unsigned want, const pol_terms *out,
                                   double *scratch, void *user);

/* rows.c: bodies and constraints for splitting methods, of so3xr3; memory is that of f. */
pol_status poli_formulation_set_rigid_bodies(pol_formulation *f);

/* Gives a frame of directors that are not quite orthonormal the nearest rotation. */
void poli_directors_make_rigid(poli_frame *frame);
/* pol_dae.discrete_force of directors and point masses */
pol_status poli_directors_discrete_force(const double *q0, const pol_point *at, unsigned want,
                                         const pol_terms *out, double *scratch, void *user);

/* Numbers of scratch that it needs. */
size_t poli_formulation_scratch(const pol_formulation *formulation);
/* What of it serves expressions; the first number says what failed. */
typedef struct poli_scratch {
  poli_frame *frames;  /* one a body */
  double *inputs;      /* of the network */
  double *derivatives; /* for the derivatives of expressions */
  double *end;         /* behind all of it */
} poli_scratch;
void poli_formulation_share_scratch(const pol_formulation *formulation, double *scratch,
                                    poli_scratch *parts);
/* pol_dae.blame: the force or state that could not be evaluated */
void poli_formulation_blame(const double *scratch, char *text, size_t size, void *user);

/* The ground's frame, and the frame of one body at q, v and vd (may be NULL). */
const poli_frame *poli_ground_frame(void);
/* One of the frames of all bodies, or the ground's. */
static inline const poli_frame *poli_frame_of(const poli_frame *frames, int body)
{
  return body == POL_GROUND ? poli_ground_frame() : &frames[body];
}
poli_chart_point poli_formulation_point(const pol_formulation *formulation, const double *q,
                                        const double *v, const double *vd, int body);
void poli_formulation_frame(const pol_formulation *formulation, const double *q, const double *v,
                            int body, poli_frame *frame);
/* The frames of two bodies, each of which may be the ground; v may be NULL. */
void poli_formulation_frames(const pol_formulation *formulation, const double *q, const double *v,
                             const int body[2], poli_frame frames[2]);

/* Sets the coordinates of a body: those of its frame from the values of `body`, those of its modes
 * from amplitudes and rates.  Does nothing for an interface. */
void poli_placed_set(const poli_placed_body *placed, const pol_body *body, const double *amplitudes,
                     const double *rates, double *q, double *v);

/* out (nv) += L^T wrench of a body at q.  Not for directors. */
void poli_formulation_pull_back(const pol_formulation *formulation, const double *q, int body,
                                const double wrench[6], double *out);
/* A quantity with these derivatives by the variations and by the velocities of the frame of a body:
 * adds its derivatives by q and v, times weight, to by_q and by_v (nv).  For formulations whose
 * chart is direct.  Allocates: POL_NO_MEMORY. */
pol_status poli_formulation_add_rows(const pol_formulation *formulation, const pol_point *at,
                                     int body, double weight, const double position[6],
                                     const double velocity[6], double *by_q, double *by_v);

/* One component of a body's velocity (0 .. 2 angular in body axes, 3 .. 5 of the centre of mass in
 * global axes) as a function of v: it is row . v.  impulse (nv, as row) is the
 * generalized momentum of that body at unit velocity in this component, 0 of an interface.  Returns
 * the mass or moment of inertia of the component.  Not for directors. */
double poli_formulation_velocity_row(const pol_formulation *formulation, const double *q, int body,
                                     int component, double *row, double *impulse);

/* elements.c: joint coordinates with the turns that they have made, and force elements with what
 * they need of them. */

/* Sets up the coordinates of all joints and the joint-springs, whose angles are numbered in the
 * history of the dae. */
void poli_formulation_place_coordinates(pol_formulation *formulation);
/* A part of pol_dae.update_history: brings the angles of all joint coordinates up to date. */
void poli_formulation_update_joint_history(double t, const double *q, double *history, void *user);
/* Whether the motion depends on the turns that an angle of a joint has made: by a spring, by a
 * coupling, or by an expression of a force or state. */
int poli_formulation_needs_turns(const pol_formulation *formulation, int joint, int index);

/* The contact of a hard stop in a history, which only a simulation changes: POLI_STOP_FREE etc. and
 * the preload; NULL for other forces. */
double *poli_placed_contact(const poli_placed_force *force, double *history);

/* soft_stops.c: finds them, and sets the margins of the extension: those of expressions, then the
 * distances of joints to both limits of each soft stop, negative where it is touched. */
void poli_formulation_find_soft_stops(pol_formulation *formulation);
void poli_formulation_margins(const pol_point *at, double *margins, const void *formulation);
/* Of poli_rigid_bodies. */
pol_status poli_formulation_soft_stop(int index, const pol_point *at, poli_soft_stop *stop,
                                      double *gradient, void *user);

/* What an element on a joint reads of the history and the multipliers of a point. */
poli_joint_memory poli_placed_memory(const poli_placed_force *force, const pol_point *at);
/* minus the derivatives of the wrenches of friction by the multipliers of its joint, 12 x rows */
pol_status poli_placed_feedback(const poli_placed_force *force, const pol_point *at,
                                const poli_frame *first, const poli_frame *second,
                                double by_lambda[12][POL_MAX_JOINT_ROWS]);

/* What a force element exerts on the frames of its two bodies, its derivatives and its energy, as
 * in mechanism/force.h.  Of the point they read t and history; without a history no turn
 * has been made yet. */
pol_status poli_placed_wrenches(const poli_placed_force *force, const pol_point *at,
                                const poli_frame *first, const poli_frame *second,
                                double wrench[2][6]);
pol_status poli_placed_derivatives(const poli_placed_force *force, const pol_point *at,
                                   const poli_frame *first, const poli_frame *second,
                                   poli_force_blocks *blocks);
double poli_placed_potential(const poli_placed_force *force, const pol_point *at,
                             const poli_frame *first, const poli_frame *second);

/* Replaces gravity, applied forces and torques, and actuators, as far as they are no expressions,
 * by their values times a factor.  scaled has room for all forces and must live as long as the
 * formulation, which nothing else may use. */
void poli_formulation_scale_loads(pol_formulation *formulation, double factor, pol_force *scaled);

/* POL_NOT_FINITE if the function of a drive, or a derivative of it that these terms need, or the
 * scale of a force has no finite value at t; then *failed is a number for poli_functions_blame,
 * above that of all forces. */
pol_status poli_functions_check(const pol_formulation *formulation, double t, unsigned want,
                                double *failed);
void poli_functions_blame(const pol_formulation *formulation, int number, char *text, size_t size);

/* The power that its dampers take out and that its constant part puts in; what is left belongs to
 * its springs.  Zero where it has no direction. */
void poli_placed_power(const poli_placed_force *force, const pol_point *at, const poli_frame *first,
                       const poli_frame *second, double *dissipated, double *applied);

#endif
