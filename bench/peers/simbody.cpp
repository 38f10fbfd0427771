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
  auto integrator = make_integrator(world.system, method);
  integrator->setAccuracy(1.0 / effort);
  integrator->setAllowInterpolation(false);
  integrator->setInternalStepLimit(100000000);
  integrator->setFinalTime(end);
  integrator->initialize(state);
  const double begin = peer_now();
  for (int stuck = 0; integrator->getTime() < end;) {
    const double before = integrator->getTime();
    integrator->stepTo(end); // the first call only reports the start
    stuck = integrator->getTime() == before ? stuck + 1 : 0;
    if (stuck > 3) return -1;
  }
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
template <Method method> int top(double effort, double end, double x[3], double *seconds)
{
  try {
    return run_top(method, effort, end, x, seconds);
  } catch (const std::exception &) {
    return -1;
  }
}

template <Method method>
int chain(int model, int bodies, int steps, double h, double x[3], double *seconds)
{
  try {
    return run_chain(method, model, bodies, steps, h, x, seconds);
  } catch (const std::exception &error) {
    fprintf(stderr, "Simbody: %s\n", error.what());
    return -1;
  }
}

} // namespace

const peer_method *peer_methods(int *count)
{
  static const char program[] = "Simbody 3.7";
  static const peer_method methods[] = {
      {program, "Runge-Kutta-Merson", 1, top<Merson>, 1e3, nullptr, {0, 0, 0}},
      {program, "RK3", 1, top<Rk3>, 1e3, chain<Rk3>, {100000, 100000, 201}},
  };
  *count = static_cast<int>(sizeof methods / sizeof methods[0]);
  return methods;
}
