/* ODE: bodies with six coordinates each, joints by impulses, errors of position reduced by a
 * fraction per step; semi-implicit Euler, first order.  dWorldStep solves for all impulses at once,
 * with a full matrix: the cube of the number of joints.  dWorldQuickStep iterates, with a cost in
 * proportion to it; its joints are as tight as 20 sweeps make them. */
#include "peers.h"

#include <math.h>
#include <ode/ode.h>
#include <stdlib.h>

typedef int (*stepper)(dWorldID, dReal);

/* A world without the softness of joints that ODE has by default; errors of joints are reduced by
 * 0.8 per step. */
static dWorldID make_world(void)
{
  static int ready;
  if (!ready) ready = dInitODE2(0);
  dWorldID world = dWorldCreate();
  dWorldSetGravity(world, 0.0, 0.0, -peer_gravity);
  dWorldSetERP(world, 0.8);
  dWorldSetCFM(world, 1e-12);
  return world;
}

static dBodyID add_body(dWorldID world, double mass, const double inertia[3], const double x[3])
{
  dMass all;
  dBodyID body = dBodyCreate(world);
  dMassSetParameters(&all, mass, 0.0, 0.0, 0.0, inertia[0], inertia[1], inertia[2], 0.0, 0.0, 0.0);
  dBodySetMass(body, &all);
  dBodySetPosition(body, x[0], x[1], x[2]);
  dBodySetFiniteRotationMode(body, 1);
  dBodySetAutoDisableFlag(body, 0);
  return body;
}

static void add_ball(dWorldID world, dBodyID a, dBodyID b, const double x[3])
{
  dJointID joint = dJointCreateBall(world, 0);
  dJointAttach(joint, a, b);
  dJointSetBallAnchor(joint, x[0], x[1], x[2]);
}

static void add_hinge(dWorldID world, dBodyID a, dBodyID b, const double x[3], int axis)
{
  dJointID joint = dJointCreateHinge(world, 0);
  dJointAttach(joint, a, b);
  dJointSetHingeAnchor(joint, x[0], x[1], x[2]);
  dJointSetHingeAxis(joint, axis == 0, axis == 1, axis == 2);
}

/* 0 unless the numbers are no longer finite. */
static int get_point(dBodyID body, const double local[3], double x[3])
{
  dVector3 point;
  dBodyGetRelPointPos(body, local[0], local[1], local[2], point);
  for (int i = 0; i < 3; i++) x[i] = point[i];
  return isfinite(x[0] + x[1] + x[2]) ? 0 : -1;
}

static int run_top(double effort, double end, double x[3], double *seconds)
{
  static const double centre[3] = {0.0, 1.0, 0.0}, origin[3];
  dWorldID world = make_world();
  dBodyID top = add_body(world, peer_top_mass, peer_top_inertia, centre);
  add_ball(world, top, 0, origin);
  dBodySetAngularVel(top, peer_top_spin[0], peer_top_spin[1], peer_top_spin[2]);
  dBodySetLinearVel(top, -peer_top_spin[2], 0.0, peer_top_spin[0]);
  const double begin = peer_now();
  for (double n = 0.0; n < effort; n++) dWorldStep(world, end / effort);
  *seconds = peer_now() - begin;
  const int status = get_point(top, origin, x);
  dWorldDestroy(world);
  return status;
}

static int run_slider(double effort, double end, double x[3], double *seconds)
{
  static const double zero[3], small[3] = {1e-4, 1e-4, 1e-4};
  const double at[3] = {peer_slider_at, 0.0, 0.0};
  const double *angle = peer_rod_angle, *speed = peer_rod_speed;
  dMatrix3 first, second, rotation;
  dWorldID world = make_world();
  dBodyID crank = add_body(world, peer_crank_mass, small, peer_crank_centre);
  dBodyID rod = add_body(world, peer_rod_mass, peer_rod_inertia, peer_rod_centre);
  dBodyID slider = add_body(world, peer_slider_mass, small, at);
  dRFromAxisAndAngle(first, 1.0, 0.0, 0.0, angle[0]);
  dRFromAxisAndAngle(second, 0.0, 1.0, 0.0, angle[1]);
  dMultiply0(rotation, first, second, 3, 3, 3);
  dBodySetRotation(rod, rotation);
  add_hinge(world, crank, 0, peer_crank_pivot, 0);
  add_ball(world, crank, rod, peer_crank_pin);
  dJointID wrist = dJointCreateUniversal(world, 0), guide = dJointCreateSlider(world, 0);
  dJointAttach(wrist, slider, rod);
  dJointSetUniversalAnchor(wrist, at[0], at[1], at[2]);
  dJointSetUniversalAxis1(wrist, 1.0, 0.0, 0.0);
  dJointSetUniversalAxis2(wrist, 0.0, cos(angle[0]), sin(angle[0]));
  dJointAttach(guide, slider, 0);
  dJointSetSliderAxis(guide, 1.0, 0.0, 0.0);
  const double arm = peer_crank_centre[2] - peer_crank_pivot[2];
  dBodySetAngularVel(crank, peer_crank_speed, 0.0, 0.0);
  dBodySetLinearVel(crank, 0.0, -peer_crank_speed * arm, 0.0);
  dBodySetAngularVel(rod, speed[0], speed[1] * cos(angle[0]), speed[1] * sin(angle[0]));
  dBodySetLinearVel(rod, 0.5 * peer_slider_speed, -peer_crank_speed * arm, 0.0);
  dBodySetLinearVel(slider, peer_slider_speed, 0.0, 0.0);
  const double begin = peer_now();
  for (double n = 0.0; n < effort; n++) dWorldStep(world, end / effort);
  *seconds = peer_now() - begin;
  const int status = get_point(rod, zero, x);
  dWorldDestroy(world);
  return status;
}

static void add_chain(dWorldID world, dBodyID *body, int model, int bodies)
{
  for (int i = 0; i < bodies; i++) {
    const double centre[3] = {(i + 0.5) * peer_link_length, 0.0, 0.0};
    const double joint[3] = {i * peer_link_length, 0.0, 0.0};
    body[i] = add_body(world, peer_link_mass, peer_link_inertia, centre);
    if (model == PEER_SPHERICAL)
      add_ball(world, body[i], i ? body[i - 1] : 0, joint);
    else
      add_hinge(world, body[i], i ? body[i - 1] : 0, joint, i % 2 ? 2 : 1);
  }
}

/* Rockers are the even bodies; a ball joint and a cylindrical one on each coupler. */
static void add_loops(dWorldID world, dBodyID *body, int bodies)
{
  const double rocker[3] = {peer_bar_inertia, peer_bar_inertia, peer_bar_spin};
  const double coupler[3] = {peer_bar_spin, peer_bar_inertia, peer_bar_inertia};
  for (int i = 0; i < bodies; i++) {
    const double centre[3] = {0.5 * i, 0.0, i % 2 ? 1.0 : 0.5};
    body[i] = add_body(world, 1.0, i % 2 ? coupler : rocker, centre);
    dBodySetLinearVel(body[i], centre[2], 0.0, 0.0);
    if (i % 2 == 0) {
      dBodySetAngularVel(body[i], 0.0, 1.0, 0.0);
      add_hinge(world, body[i], 0, (double[3]){centre[0], 0.0, 0.0}, 1);
    }
  }
  for (int i = 1; i < bodies; i += 2) {
    add_ball(world, body[i - 1], body[i], (double[3]){0.5 * (i - 1), 0.0, 1.0});
    dJointID joint = dJointCreatePiston(world, 0);
    dJointAttach(joint, body[i + 1], body[i]);
    dJointSetPistonAnchor(joint, 0.5 * (i + 1), 0.0, 1.0);
    dJointSetPistonAxis(joint, 0.0, 1.0, 0.0);
  }
}

typedef struct loops {
  dWorldID world;
  dBodyID *body;
  int bodies;
  double h;
} loops;

static int advance(void *data, long n)
{
  const loops *l = data;
  for (; n > 0; n--)
    if (!dWorldStep(l->world, l->h)) return -1;
  return 0;
}

static double get_energy(void *data)
{
  const loops *l = data;
  double sum = 0.0;
  for (int i = 0; i < l->bodies; i++) {
    const dReal *v = dBodyGetLinearVel(l->body[i]), *w = dBodyGetAngularVel(l->body[i]);
    sum += 0.5 * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) + 0.5 * peer_bar_inertia * w[1] * w[1];
    sum += peer_gravity * dBodyGetPosition(l->body[i])[2];
  }
  return sum;
}

static int run_loops(int bodies, double effort, double end, double x[3], double *drift,
                     double *seconds)
{
  loops l = {make_world(), malloc((size_t)bodies * sizeof *l.body), bodies, end / effort};
  const peer_motion motion = {advance, get_energy, &l};
  add_loops(l.world, l.body, bodies);
  int status = peer_sample(&motion, 0, effort, drift, seconds);
  if (!status) status = get_point(l.body[bodies - 1], (double[3]){0.0, 0.0, 0.5}, x);
  dWorldDestroy(l.world);
  free(l.body);
  return status;
}

static int run_chain(int model, int bodies, int steps, double h, double x[3], double *seconds,
                     stepper step)
{
  dWorldID world = make_world();
  dBodyID *body = malloc((size_t)bodies * sizeof *body);
  double begin = 0.0;
  int done = 1;
  if (model == PEER_LOOPS)
    add_loops(world, body, bodies);
  else
    add_chain(world, body, model, bodies);
  for (int n = 0; n < steps && done; n++) {
    if (n == 2) begin = peer_now();
    done = step(world, h);
  }
  *seconds = peer_now() - begin;
  const double half = 0.5 * peer_link_length;
  const int status =
      get_point(body[bodies - 1],
                model == PEER_LOOPS ? (double[3]){0.0, 0.0, 0.5} : (double[3]){half, 0.0, 0.0}, x);
  dWorldDestroy(world);
  free(body);
  return done ? status : -1;
}

static int step_chain(int model, int bodies, int steps, double h, double x[3], double *seconds)
{
  return run_chain(model, bodies, steps, h, x, seconds, dWorldStep);
}

static int quick_chain(int model, int bodies, int steps, double h, double x[3], double *seconds)
{
  return run_chain(model, bodies, steps, h, x, seconds, dWorldQuickStep);
}

const peer_method *peer_methods(int *count)
{
  static const peer_method methods[] = {
      {.program = "ODE 0.16",
       .method = "step",
       .nature = "order 1, hard joints, stabilized by fractions, double",
       .first = 250,
       .top = run_top,
       .slider = run_slider,
       .loops = run_loops,
       .chain = step_chain,
       .largest = {100, 100, 101}},
      {.program = "ODE 0.16",
       .method = "quick step",
       .nature = "order 1, 20 sweeps over the joints, double",
       .first = 250,
       .chain = quick_chain,
       .largest = {100000, 100000, 100001}},
  };
  *count = (int)(sizeof methods / sizeof methods[0]);
  return methods;
}
