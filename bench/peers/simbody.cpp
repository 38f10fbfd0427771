// Simbody: joint coordinates with recursive O(N) dynamics; loops by hard constraints on top.  Its
// CPodes integrator, Adams or BDF, does not get through the fast spin of the top.
#include "peers.h"

#include <Simbody.h>

#include <exception>
#include <memory>

using namespace SimTK;

namespace
{

enum Method { Merson, Rk3 };

std::unique_ptr<Integrator> make_integrator(const System &system, Method method)
{
  if (method == Merson) return std::make_unique<RungeKuttaMersonIntegrator>(system);
  return std::make_unique<RungeKutta3Integrator>(system);
}

std::unique_ptr<Integrator> make_integrator(const System &system, Method method, double effort,
                                            double end)
{
  auto integrator = make_integrator(system, method);
  integrator->setAccuracy(1.0 / effort);
  integrator->setAllowInterpolation(false);
  integrator->setInternalStepLimit(100000000);
  integrator->setFinalTime(end);
  return integrator;
}

// 0 if it gets there.
int go_to(Integrator &integrator, double t)
{
  for (int stuck = 0; integrator.getTime() < t;) {
    const double before = integrator.getTime();
    integrator.stepTo(t); // the first call only reports the start
    stuck = integrator.getTime() == before ? stuck + 1 : 0;
    if (stuck > 3) return -1;
  }
  return 0;
}

// A system with gravity along -z.
struct World {
  MultibodySystem system;
  SimbodyMatterSubsystem matter{system};
  GeneralForceSubsystem forces{system};
  Force::UniformGravity gravity{forces, matter, Vec3(0, 0, -peer_gravity)};
};

Body::Rigid rod(double mass, const Vec3 &inertia)
{
  return Body::Rigid(MassProperties(mass, Vec3(0), Inertia(inertia)));
}

int run_top(Method method, double effort, double end, double x[3], double *seconds)
{
  World world;
  const Vec3 centre(0, 1, 0);
  const Inertia central(peer_top_inertia[0], peer_top_inertia[1], peer_top_inertia[2]);
  const Body::Rigid body(
      MassProperties(peer_top_mass, centre, central.shiftFromMassCenter(centre, peer_top_mass)));
  MobilizedBody::Ball top(world.matter.Ground(), Transform(), body, Transform());
  State state = world.system.realizeTopology();
  top.setUToFitAngularVelocity(state, Vec3(peer_top_spin[0], peer_top_spin[1], peer_top_spin[2]));
  auto integrator = make_integrator(world.system, method, effort, end);
  integrator->initialize(state);
  const double begin = peer_now();
  if (go_to(*integrator, end)) return -1;
  *seconds = peer_now() - begin;
  const State &last = integrator->getState();
  world.system.realize(last, Stage::Position);
  const Vec3 position = top.findStationLocationInGround(last, centre);
  for (int i = 0; i < 3; i++) x[i] = position[i];
  return 0;
}

// The axis of a pin is z of its frames.
const Rotation about_y(-Pi / 2, XAxis), about_z;

MobilizedBody add_chain(World &world, int model, int bodies)
{
  const double half = 0.5 * peer_link_length;
  const Body::Rigid link =
      rod(peer_link_mass, Vec3(peer_link_inertia[0], peer_link_inertia[1], peer_link_inertia[2]));
  MobilizedBody last = world.matter.Ground();
  for (int i = 0; i < bodies; i++) {
    const Vec3 outer(i ? half : 0.0, 0, 0), inner(-half, 0, 0);
    const Rotation &axis = i % 2 ? about_z : about_y;
    if (model == PEER_SPHERICAL)
      last = MobilizedBody::Ball(last, Transform(outer), link, Transform(inner));
    else
      last = MobilizedBody::Pin(last, Transform(axis, outer), link, Transform(axis, inner));
  }
  return last;
}

// Rocker i carries coupler i, whose end stays on rocker i+1 by two rows in the plane.
MobilizedBody add_loops(World &world, int count)
{
  const double across = peer_bar_inertia, along = peer_bar_spin;
  const Body::Rigid rocker = rod(1.0, Vec3(across, across, along));
  const Body::Rigid coupler = rod(1.0, Vec3(along, across, across));
  MobilizedBody last, before;
  for (int i = 0; i <= count; i++) {
    last = MobilizedBody::Pin(world.matter.Ground(), Transform(about_y, Vec3(i, 0, 0)), rocker,
                              Transform(about_y, Vec3(0, 0, -0.5)));
    if (i > 0) {
      Constraint::PointInPlane(before, UnitVec3(1, 0, 0), 0.5, last, Vec3(0, 0, 0.5));
      Constraint::PointInPlane(before, UnitVec3(0, 0, 1), 0.0, last, Vec3(0, 0, 0.5));
    }
    if (i < count)
      before = MobilizedBody::Pin(last, Transform(about_y, Vec3(0, 0, 0.5)), coupler,
                                  Transform(about_y, Vec3(-0.5, 0, 0)));
  }
  return last;
}

// The angles of Universal are about x of the outer frame, then y of the inner one, as ours are.
int run_slider(Method method, double effort, double end, double x[3], double *seconds)
{
  World world;
  const Vec3 small(peer_crank_inertia), arm(0, 0, 0.04);
  const Rotation about_x(Pi / 2, YAxis);
  const Vec3 rod_inertia(peer_rod_inertia[0], peer_rod_inertia[1], peer_rod_inertia[2]);
  const Vec3 pivot(peer_crank_pivot[0], peer_crank_pivot[1], peer_crank_pivot[2]);
  MobilizedBody::Pin crank(world.matter.Ground(), Transform(about_x, pivot),
                           rod(peer_crank_mass, small), Transform(about_x, -arm));
  MobilizedBody::Slider slider(world.matter.Ground(), Vec3(peer_slider_at, 0, 0),
                               rod(peer_slider_mass, small), Vec3(0));
  MobilizedBody::Universal bar(slider, Vec3(0), rod(peer_rod_mass, rod_inertia),
                               Vec3(peer_rod_half, 0, 0));
  Constraint::Ball(crank, arm, bar, Vec3(-peer_rod_half, 0, 0));
  State state = world.system.realizeTopology();
  crank.setOneU(state, 0, peer_crank_speed);
  slider.setOneU(state, 0, peer_slider_speed);
  for (int i = 0; i < 2; i++) {
    bar.setOneQ(state, i, peer_rod_angle[i]);
    bar.setOneU(state, i, peer_rod_speed[i]);
  }
  auto integrator = make_integrator(world.system, method, effort, end);
  integrator->initialize(state);
  const double begin = peer_now();
  if (go_to(*integrator, end)) return -1;
  *seconds = peer_now() - begin;
  const State &last = integrator->getState();
  world.system.realize(last, Stage::Position);
  const Vec3 position = bar.getBodyOriginLocation(last);
  for (int i = 0; i < 3; i++) x[i] = position[i];
  return 0;
}

struct Motion {
  World world;
  std::unique_ptr<Integrator> integrator;
  double end;
};

int advance(void *data, long n)
{
  Motion *motion = static_cast<Motion *>(data);
  return go_to(*motion->integrator, motion->end * double(n) / PEER_SAMPLES);
}

double get_energy(void *data)
{
  const Motion *motion = static_cast<const Motion *>(data);
  const State &state = motion->integrator->getState();
  motion->world.system.realize(state, Stage::Dynamics);
  return motion->world.system.calcEnergy(state);
}

// The ends of the coupler stay on the rocker by two rows, as in the chain of loops.
int run_loops(Method method, int bodies, double effort, double end, double x[3], double *drift,
              double *seconds)
{
  Motion motion;
  const MobilizedBody last = add_loops(motion.world, bodies / 2);
  State state = motion.world.system.realizeTopology();
  for (int i = 0; i < state.getNU(); i++) state.updU()[i] = i % 2 ? -1.0 : 1.0;
  motion.end = end;
  motion.integrator = make_integrator(motion.world.system, method, effort, end);
  motion.integrator->initialize(state);
  const peer_motion all = {advance, get_energy, &motion};
  if (peer_sample(&all, 1, effort, drift, seconds)) return -1;
  const State &now = motion.integrator->getState();
  motion.world.system.realize(now, Stage::Position);
  const Vec3 position = last.findStationLocationInGround(now, Vec3(0, 0, 0.5));
  for (int i = 0; i < 3; i++) x[i] = position[i];
  return 0;
}

int run_chain(Method method, int model, int bodies, int steps, double h, double x[3],
              double *seconds)
{
  World world;
  const MobilizedBody last =
      model == PEER_LOOPS ? add_loops(world, bodies / 2) : add_chain(world, model, bodies);
  State state = world.system.realizeTopology();
  if (model == PEER_LOOPS)
    for (int i = 0; i < state.getNU(); i++) state.updU()[i] = i % 2 ? -1.0 : 1.0;
  auto integrator = make_integrator(world.system, method);
  integrator->setFixedStepSize(h);
  integrator->setAllowInterpolation(false);
  integrator->setFinalTime(2.0 * steps * h);
  integrator->initialize(state);
  double begin = 0.0;
  for (int n = 0; n < steps; n++) {
    if (n == 2) begin = peer_now();
    integrator->stepTo((n + 1) * h);
  }
  *seconds = peer_now() - begin;
  const State &now = integrator->getState();
  world.system.realize(now, Stage::Position);
  const Vec3 end = model == PEER_LOOPS ? Vec3(0, 0, 0.5) : Vec3(0.5 * peer_link_length, 0, 0);
  const Vec3 position = last.findStationLocationInGround(now, end);
  for (int i = 0; i < 3; i++) x[i] = position[i];
  return 0;
}

// Exceptions must not leave C++.
template <class Function> int guard(Function run)
{
  try {
    return run();
  } catch (const std::exception &) {
    return -1;
  }
}

template <Method method> int top(double effort, double end, double x[3], double *seconds)
{
  return guard([&] { return run_top(method, effort, end, x, seconds); });
}

template <Method method> int slider(double effort, double end, double x[3], double *seconds)
{
  return guard([&] { return run_slider(method, effort, end, x, seconds); });
}

template <Method method>
int loops(int bodies, double effort, double end, double x[3], double *drift, double *seconds)
{
  return guard([&] { return run_loops(method, bodies, effort, end, x, drift, seconds); });
}

template <Method method>
int chain(int model, int bodies, int steps, double h, double x[3], double *seconds)
{
  return guard([&] { return run_chain(method, model, bodies, steps, h, x, seconds); });
}

} // namespace

const peer_method *peer_methods(int *count)
{
  static const char program[] = "Simbody 3.7";
  static const peer_method methods[] = {
      {program,
       "Runge-Kutta-Merson",
       "order 4, joint coordinates, hard loops, double",
       1,
       1e3,
       0.0,
       top<Merson>,
       slider<Merson>,
       loops<Merson>,
       chain<Merson>,
       {100000, 100000, 201}},
      {program,
       "RK3",
       "order 3, joint coordinates, hard loops, double",
       1,
       1e3,
       0.0,
       top<Rk3>,
       slider<Rk3>,
       loops<Rk3>,
       chain<Rk3>,
       {100000, 100000, 201}},
  };
  *count = static_cast<int>(sizeof methods / sizeof methods[0]);
  return methods;
}
