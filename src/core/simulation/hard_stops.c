/* Hard stops of joint coordinates.
 *
 * A stop is free, or the joint rests on it (mechanism/joint_law.h).  This contact stands in the
 * history of the equations and changes only here, at events, so that forces are smooth within a
 * step.  With p the depth beyond a limit and u = p' its rate, the event is the rising zero of
 *
 *     f = p                                       while it is free,
 *     f = -(T0 + k p + d u) / k                   while the joint rests on it.
 *
 * After an impact or rest, until p < 0, the stop is free where p may be positive: then f = -p
 * unless u > u_creep.  The first is a contact.  An impulse along the coordinate, u = r v, that all
 * constraints respond to, M w + B^T mu = r^T, B w = 0, changes the rate to
 *
 *     u+ = -e u,  or 0 if e u < u_rest,     by     v+ = v + (u+ - u) w / (r w),
 *
 * so that impacts do not accumulate where a joint comes to rest.  The second is where the stop
 * would have to pull: it becomes free.
 *
 * Where a free stop is touched at the rate 0 and the loads lead into it with the acceleration a,
 * the joint comes to rest with the preload T0 = a / (r w), which makes a = 0; several stops at once
 * by the projected Gauss-Seidel method (Jourdan, Alart and Jean 1998).  T0 is not negative, so that
 * the joint never rests deeper than the spring alone would let it. */
#include "simulation/hard_stops.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/errors.h"
#include "dae/assembler.h"
#include "integrators/family.h"
#include "mechanism/joint_axis.h"

/* A coordinate is prescribed if an impulse changes its rate by less than this share of what it
 * would do to both bodies alone. */
static const double prescribed_share = 1e-10;
/* u_creep, as a share of the rest speed: rates below are round-off. */
static const double creep_share = 1e-6;
/* A coordinate is at the limit from this distance on, m or rad. */
static const double touching_distance = 1e-9;
/* Forces of several stops: iterations, and the change that ends them. */
enum { MAX_SWEEPS = 200 };
static const double settled_share = 1e-10;

typedef struct hard_stop {
  poli_hard_stops *owner;
  int joint, index, side; /* 1: at max, -1: at min */
  double limit, inertia;  /* of both bodies alone, along the coordinate */
  const pol_joint_limits *limits;
  const pol_force *force; /* its spring */
  double *contact;        /* in the history of the integrator, of both ends of the coordinate */
  char *name;
  int touches; /* while contacts settle: it may carry a load, */
  double push; /* this one */
} hard_stop;

struct poli_hard_stops {
  const pol_formulation *formulation;
  pol_integrator *integrator;
  int count;
  hard_stop *stops;
  void *memory; /* holds the arrays below */
  double *unit, *row, *response, *vd, *moved;
  pol_diagnostics failure; /* of the last impact */
};

/* Coordinates that joints have, with each limit in turn: whether there is a hard stop. */
static int is_hard(const pol_joint *joint, int index, int side)
{
  const pol_joint_limits *limits = &joint->axes[index].limits;
  return limits->restitution >= 0.0 && isfinite(side > 0 ? limits->max : limits->min);
}

int poli_hard_stops_count(const pol_mechanism *mechanism)
{
  int count = 0;
  for (int k = 0; k < pol_mechanism_num_joints(mechanism); k++) {
    const pol_joint *joint = pol_mechanism_joint(mechanism, k);
    for (int i = 0; joint->axes && i < pol_joint_num_coordinates(joint); i++)
      count += is_hard(joint, i, -1) + is_hard(joint, i, 1);
  }
  return count;
}

/* The depth beyond the limit, and its rate. */
static double depth_at(const hard_stop *stop, const pol_state *at, double *rate)
{
  const pol_point point = pol_state_point(at);
  double value;
  pol_formulation_joint_coordinate(stop->owner->formulation, &point, stop->joint, stop->index,
                                   &value, rate);
  *rate *= stop->side;
  return stop->side * (value - stop->limit);
}

static int rests_on(const hard_stop *stop)
{
  return stop->contact[0] == stop->side;
}

/* Free, and the joint has not left it yet: then the side stands in place of the preload. */
static int is_left(const hard_stop *stop)
{
  return stop->contact[0] == POLI_STOP_FREE && stop->contact[1] == stop->side;
}

/* The force of the spring where the joint rests on the stop. */
static double push_of(const hard_stop *stop, double depth, double rate)
{
  return stop->contact[1] + stop->force->stiffness[0] * depth + stop->force->damping[0] * rate;
}

static double creep_of(const hard_stop *stop)
{
  return creep_share * stop->limits->rest_speed;
}

/* pol_event */
static double event_value(const pol_state *at, void *user)
{
  const hard_stop *stop = user;
  double rate;
  const double depth = depth_at(stop, at, &rate);
  if (rests_on(stop)) return -push_of(stop, depth, rate) / stop->force->stiffness[0];
  if (!is_left(stop) || depth < 0.0 || rate > creep_of(stop)) return depth;
  return -fmax(depth, DBL_MIN);
}

int poli_is_hard_stop(const pol_simulation_event *event)
{
  return event->function == event_value;
}

int poli_hard_stop_leave(const pol_simulation_event *event, const pol_state *at)
{
  if (!poli_is_hard_stop(event)) return 0;
  const hard_stop *stop = event->user;
  double rate;
  if (!is_left(stop) || !(depth_at(stop, at, &rate) < 0.0)) return 0;
  stop->contact[1] = 0.0;
  return 1;
}

int poli_hard_stop_is_impact(const pol_simulation_event *event, const pol_state *at)
{
  const hard_stop *stop = event->user;
  double rate;
  depth_at(stop, at, &rate);
  return rate > stop->limits->rest_speed;
}

int poli_hard_stop_acts(const pol_simulation_event *event, const pol_state *at, int touched)
{
  const hard_stop *stop = event->user;
  double rate;
  const double depth = depth_at(stop, at, &rate);
  if (rests_on(stop)) return rate > stop->limits->rest_speed || push_of(stop, depth, rate) <= 0.0;
  return (touched || depth >= 0.0) && rate > creep_of(stop);
}

/* The impulse cannot change the rate: drives or other constraints prescribe it. */
static void fail_prescribed(poli_hard_stops *s, const hard_stop *stop)
{
  const pol_mechanism *mechanism = pol_formulation_mechanism(s->formulation);
  pol_diagnostics *d = &s->failure;
  char cause[100] = "drives or other constraints prescribe its motion";
  for (int i = 0; i < pol_mechanism_num_drives(mechanism); i++)
    if (pol_mechanism_drive(mechanism, i)->joint == stop->joint)
      snprintf(cause, sizeof cause, "drive '%.40s' prescribes its motion",
               pol_mechanism_drive(mechanism, i)->name);
  d->status = POL_INCONSISTENT;
  d->equation = -1;
  snprintf(d->message, sizeof d->message, "joint '%.40s' leads through its limit %.6g: %s",
           pol_mechanism_joint(mechanism, stop->joint)->name, stop->limit, cause);
  snprintf(d->advice, sizeof d->advice,
           "keep the prescribed motion inside the limit, widen the limit, or use a spring or an "
           "actuator force instead of the drive");
}

/* The row r of the coordinate, from the rates of unit velocities of both bodies, the response w of
 * all constraints to it, and *along = r w. */
static pol_status respond(const hard_stop *stop, const pol_state *at, double *along)
{
  poli_hard_stops *s = stop->owner;
  const pol_formulation *f = s->formulation;
  const int nv = pol_formulation_dae(f)->group.nv;
  const int *body = f->joints[stop->joint].kernel.body;
  double value;
  memset(s->unit, 0, (size_t)nv * sizeof *s->unit);
  memset(s->row, 0, (size_t)nv * sizeof *s->row);
  for (int b = 0; b < 2; b++)
    for (int j = 0; body[b] != POL_GROUND && j < f->bodies[body[b]].chart->dim; j++) {
      const int i = f->bodies[body[b]].v + j;
      pol_point point = pol_state_point(at);
      s->unit[i] = 1.0;
      point.v = s->unit;
      pol_formulation_joint_coordinate(f, &point, stop->joint, stop->index, &value, &s->row[i]);
      s->unit[i] = 0.0;
    }
  *along = 0.0;
  s->failure.status = poli_assembler_response(poli_integrator_assembler(s->integrator), at->t,
                                              at->q, s->row, s->response, &s->failure);
  for (int i = 0; i < nv && !s->failure.status; i++) *along += s->row[i] * s->response[i];
  return s->failure.status;
}

/* pol_simulation_event.reset */
static void meet(const pol_state *at, double *v, unsigned char *keep, void *user)
{
  const hard_stop *stop = user;
  poli_hard_stops *s = stop->owner;
  const int nv = pol_formulation_dae(s->formulation)->group.nv;
  const double rest_speed = stop->limits->rest_speed;
  double rate, along;
  (void)keep;
  depth_at(stop, at, &rate);
  const int rested = rests_on(stop);
  stop->contact[0] = POLI_STOP_FREE;
  stop->contact[1] = stop->side;
  if (!(rate > 0.0)) return; /* another impact at this time has reversed it */
  if ((rested && rate <= rest_speed) || respond(stop, at, &along)) return;
  if (!(along * stop->inertia > prescribed_share)) {
    fail_prescribed(s, stop);
    return;
  }
  const double rebound = stop->limits->restitution * rate;
  const double change = -rate - (rebound < rest_speed ? 0.0 : rebound);
  for (int i = 0; i < nv; i++) v[i] += stop->side * change / along * s->response[i];
}

/* The acceleration into a stop: r v' + r' v, of which the second is a difference along the motion.
 */
static double acceleration_into(const hard_stop *stop, const pol_state *at)
{
  poli_hard_stops *s = stop->owner;
  const pol_group *group = &pol_formulation_dae(s->formulation)->group;
  double value, linear, rate[2], fastest = 1.0;
  pol_point point = pol_state_point(at);
  point.v = s->vd;
  pol_formulation_joint_coordinate(s->formulation, &point, stop->joint, stop->index, &value,
                                   &linear);
  point.v = at->v;
  point.q = s->moved;
  for (int i = 0; i < group->nv; i++) fastest = fmax(fastest, fabs(at->v[i]));
  const double span = 1e-5 / fastest;
  for (int k = 0; k < 2; k++) {
    for (int i = 0; i < group->nv; i++) s->unit[i] = (k ? span : -span) * at->v[i];
    pol_group_move(group, at->q, s->unit, s->moved);
    pol_formulation_joint_coordinate(s->formulation, &point, stop->joint, stop->index, &value,
                                     &rate[k]);
  }
  return stop->side * (linear + (rate[1] - rate[0]) / (2.0 * span));
}

/* The forces that keep touched stops from being entered: with the acceleration a of each,
 * T <- max(T + a / (r w), k p), one after the other. */
static pol_status balance(poli_hard_stops *s, const pol_state *at)
{
  const int nv = pol_formulation_dae(s->formulation)->group.nv;
  double largest = 0.0, along, rate;
  for (int sweep = 0; sweep < MAX_SWEEPS; sweep++) {
    double change = 0.0;
    for (int k = 0; k < s->count; k++) {
      hard_stop *stop = &s->stops[k];
      if (!stop->touches) continue;
      const double a = acceleration_into(stop, at);
      const double spring = stop->force->stiffness[0] * fmax(depth_at(stop, at, &rate), 0.0);
      pol_status status = respond(stop, at, &along);
      if (status) return status;
      if (!(along * stop->inertia > prescribed_share)) continue;
      const double more = fmax(stop->push + a / along, spring) - stop->push;
      stop->push += more;
      for (int i = 0; i < nv; i++) s->vd[i] -= stop->side * more * s->response[i];
      largest = fmax(largest, fabs(a));
      change = fmax(change, fabs(more) * along);
    }
    if (!(change > settled_share * largest)) break;
  }
  return POL_OK;
}

pol_status poli_hard_stops_settle(poli_hard_stops *stops, pol_diagnostics *diagnostics)
{
  poli_hard_stops *s = stops;
  if (s == NULL) return POL_OK;
  const pol_state *at = pol_integrator_state(s->integrator);
  int touching = 0, resting = 0;
  double rate;
  for (int k = 0; k < s->count; k++) {
    hard_stop *stop = &s->stops[k];
    const double depth = depth_at(stop, at, &rate);
    if (stop->contact[0] == POLI_STOP_ALONE) stop->contact[0] = POLI_STOP_FREE;
    if (stop->contact[0] == POLI_STOP_FREE && depth >= -touching_distance)
      stop->contact[1] = stop->side;
    stop->touches = stop->contact[0] == POLI_STOP_FREE && depth >= -touching_distance &&
                    fabs(rate) <= creep_of(stop);
    stop->push = 0.0;
    touching += stop->touches;
  }
  if (touching == 0) return POL_OK;
  memcpy(s->vd, at->vd, (size_t)pol_formulation_dae(s->formulation)->group.nv * sizeof *s->vd);
  pol_status status = balance(s, at);
  if (status) return poli_hard_stops_failure(s, diagnostics);
  for (int k = 0; k < s->count; k++) {
    hard_stop *stop = &s->stops[k];
    const double stiffness = stop->force->stiffness[0];
    /* a load that would take longer than the spring's period to be noticed is round-off */
    const double least = creep_of(stop) * sqrt(stiffness * stop->inertia);
    if (!stop->touches || !(stop->push > least)) continue;
    const double depth = depth_at(stop, at, &rate);
    stop->contact[0] = stop->side;
    stop->contact[1] = stop->push - stiffness * depth;
    resting++;
  }
  if (resting == 0) return POL_OK;
  status = pol_integrator_restart(s->integrator, at->t, at->q, at->v, NULL);
  if (status) *diagnostics = *pol_integrator_diagnostics(s->integrator);
  return status;
}

pol_simulation_event poli_hard_stops_event(poli_hard_stops *stops, int i)
{
  return (pol_simulation_event){.function = event_value,
                                .user = &stops->stops[i],
                                .direction = 1,
                                .action = POL_EVENT_RESET,
                                .reset = meet,
                                .name = stops->stops[i].name};
}

pol_status poli_hard_stops_failure(poli_hard_stops *stops, pol_diagnostics *diagnostics)
{
  if (stops == NULL || stops->failure.status == POL_OK) return POL_OK;
  *diagnostics = stops->failure;
  stops->failure.status = POL_OK;
  return diagnostics->status;
}

/* The stop of a joint coordinate among the forces. */
static const poli_placed_force *find_spring(const pol_formulation *f, int joint, int index)
{
  for (int k = 0; k < f->num_forces; k++) {
    const pol_force *force = f->forces[k].kernel.force;
    if (f->forces[k].contact >= 0 && force->joint == joint && force->coordinate == index)
      return &f->forces[k];
  }
  return NULL;
}

pol_status poli_hard_stops_create(poli_hard_stops **stops, const pol_formulation *formulation,
                                  pol_integrator *integrator)
{
  const pol_mechanism *mechanism = pol_formulation_mechanism(formulation);
  const int count = poli_hard_stops_count(mechanism);
  *stops = NULL;
  if (count == 0) return POL_OK;
  poli_hard_stops *s = calloc(1, sizeof *s);
  if (s == NULL) return POL_NO_MEMORY;
  s->formulation = formulation;
  s->integrator = integrator;
  const size_t nv = (size_t)pol_formulation_dae(formulation)->group.nv;
  poli_arena arena = {0};
  do {
    POLI_TAKE(&arena, s->stops, count);
    POLI_TAKE_EACH(&arena, nv, &s->unit, &s->row, &s->response, &s->vd);
    POLI_TAKE(&arena, s->moved, pol_formulation_dae(formulation)->group.nq);
  } while (poli_arena_again(&arena));
  s->memory = arena.memory;
  pol_status status = s->memory != NULL ? POL_OK : POL_NO_MEMORY;
  for (int k = 0; k < pol_mechanism_num_joints(mechanism) && status == POL_OK; k++) {
    const pol_joint *joint = pol_mechanism_joint(mechanism, k);
    const int num = joint->axes ? pol_joint_num_coordinates(joint) : 0;
    for (int i = 0; i < 2 * num && status == POL_OK; i++) {
      const int side = i % 2 ? 1 : -1;
      const pol_joint_limits *limits = &joint->axes[i / 2].limits;
      if (!is_hard(joint, i / 2, side)) continue;
      hard_stop *stop = &s->stops[s->count++];
      const poli_placed_force *spring = find_spring(formulation, k, i / 2);
      *stop =
          (hard_stop){.owner = s,
                      .joint = k,
                      .index = i / 2,
                      .side = side,
                      .limit = side > 0 ? limits->max : limits->min,
                      .inertia = poli_joint_reduced_inertia(mechanism, k, i / 2),
                      .limits = limits,
                      .force = spring->kernel.force,
                      .contact = poli_placed_contact(spring, poli_integrator_history(integrator))};
      stop->name = poli_format("%s.stop.%s%s%s", joint->name,
                               num > 1 ? pol_joint_coordinate(joint, i / 2)->key : "",
                               num > 1 ? "." : "", side > 0 ? "max" : "min");
      if (stop->name == NULL) status = POL_NO_MEMORY;
    }
  }
  if (status != POL_OK) poli_hard_stops_free(&s);
  *stops = s;
  return status;
}

void poli_hard_stops_free(poli_hard_stops **stops)
{
  poli_hard_stops *s = *stops;
  if (s == NULL) return;
  for (int i = 0; i < s->count; i++) free(s->stops[i].name);
  free(s->memory);
  free(s);
  *stops = NULL;
}
