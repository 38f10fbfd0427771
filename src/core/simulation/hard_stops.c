/* Hard stops of joint coordinates.
 *
 * With p the depth beyond a limit and u = p' its rate, the event is the rising zero of
 *
 *     f = p if p < 0 or u > u_rest, else -p,
 *
 * which is at least 0 where an impact is due, and negative elsewhere: at p = 0 too, where it is
 * less than any depth.  A contact slower than u_rest only touches zero: it is left to the spring
 * and damper of the stop (mechanism/joint_law.h), so that impacts do not accumulate where a joint
 * comes to rest.  The impact is an impulse along the coordinate, u = r v, that all constraints
 * respond to, M w + B^T mu = r^T, B w = 0:
 *
 *     v+ = v - (1 + e) u w / (r w)       so that       u+ = -e u. */
#include "simulation/hard_stops.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/errors.h"
#include "mechanism/joint_axis.h"

/* A coordinate is prescribed if an impulse changes its rate by less than this share of what it
 * would do to both bodies alone. */
static const double prescribed_share = 1e-10;

typedef struct hard_stop {
  poli_hard_stops *owner;
  int joint, index, side; /* 1: at max, -1: at min */
  double limit, inertia;  /* of both bodies alone, along the coordinate */
  const pol_joint_limits *limits;
  char *name;
} hard_stop;

struct poli_hard_stops {
  const pol_formulation *formulation;
  pol_assembler *assembler;
  int count;
  hard_stop *stops;
  void *memory; /* holds the arrays below */
  double *unit, *row, *response;
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

/* pol_event */
static double event_value(const pol_state *at, void *user)
{
  const hard_stop *stop = user;
  double rate;
  const double depth = depth_at(stop, at, &rate);
  return depth < 0.0 || rate > stop->limits->rest_speed ? depth : -fmax(depth, DBL_MIN);
}

int poli_is_hard_stop(const pol_simulation_event *event)
{
  return event->function == event_value;
}

int poli_hard_stop_acts(const pol_simulation_event *event, const pol_state *at, int touched)
{
  const hard_stop *stop = event->user;
  double rate;
  const double depth = depth_at(stop, at, &rate);
  return (touched || depth >= 0.0) && rate > stop->limits->rest_speed;
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

/* pol_simulation_event.reset */
static void bounce(const pol_state *at, double *v, unsigned char *keep, void *user)
{
  const hard_stop *stop = user;
  poli_hard_stops *s = stop->owner;
  const pol_formulation *f = s->formulation;
  const int nv = pol_formulation_dae(f)->group.nv;
  const int *body = f->joints[stop->joint].kernel.body;
  double rate = 0.0, along = 0.0, value;
  (void)keep;
  /* the row, from the rates of unit velocities of both bodies */
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
  s->failure.status =
      poli_assembler_response(s->assembler, at->t, at->q, s->row, s->response, &s->failure);
  if (s->failure.status) return;
  for (int i = 0; i < nv; i++) {
    rate += s->row[i] * v[i];
    along += s->row[i] * s->response[i];
  }
  if (!(stop->side * rate > 0.0)) return; /* another impact at this time has reversed it */
  if (!(along * stop->inertia > prescribed_share)) {
    fail_prescribed(s, stop);
    return;
  }
  const double change = -(1.0 + stop->limits->restitution) * rate / along;
  for (int i = 0; i < nv; i++) v[i] += change * s->response[i];
}

pol_simulation_event poli_hard_stops_event(poli_hard_stops *stops, int i)
{
  return (pol_simulation_event){.function = event_value,
                                .user = &stops->stops[i],
                                .direction = 1,
                                .action = POL_EVENT_RESET,
                                .reset = bounce,
                                .name = stops->stops[i].name};
}

pol_status poli_hard_stops_failure(poli_hard_stops *stops, pol_diagnostics *diagnostics)
{
  if (stops == NULL || stops->failure.status == POL_OK) return POL_OK;
  *diagnostics = stops->failure;
  stops->failure.status = POL_OK;
  return diagnostics->status;
}

pol_status poli_hard_stops_create(poli_hard_stops **stops, const pol_formulation *formulation,
                                  pol_assembler *assembler)
{
  const pol_mechanism *mechanism = pol_formulation_mechanism(formulation);
  const int count = poli_hard_stops_count(mechanism);
  *stops = NULL;
  if (count == 0) return POL_OK;
  poli_hard_stops *s = calloc(1, sizeof *s);
  if (s == NULL) return POL_NO_MEMORY;
  s->formulation = formulation;
  s->assembler = assembler;
  const size_t nv = (size_t)pol_formulation_dae(formulation)->group.nv;
  poli_arena arena = {0};
  do {
    POLI_TAKE(&arena, s->stops, count);
    POLI_TAKE_EACH(&arena, nv, &s->unit, &s->row, &s->response);
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
      *stop = (hard_stop){.owner = s,
                          .joint = k,
                          .index = i / 2,
                          .side = side,
                          .limit = side > 0 ? limits->max : limits->min,
                          .inertia = poli_joint_reduced_inertia(mechanism, k, i / 2),
                          .limits = limits};
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
