// Bullet: joint coordinates with recursive O(N) dynamics (btMultiBody); loops by impulses at
// points, errors of position reduced by a fraction per step.  Semi-implicit Euler, first order.
// Debian has its libraries in both precisions: this file is compiled for each.  A chain of
// 100 000 hinges crashes inside the library, so those end at 10 000.
#include "peers.h"

#include <BulletDynamics/Featherstone/btMultiBody.h>
#include <BulletDynamics/Featherstone/btMultiBodyConstraintSolver.h>
#include <BulletDynamics/Featherstone/btMultiBodyDynamicsWorld.h>
#include <BulletDynamics/Featherstone/btMultiBodyLinkCollider.h>
#include <BulletDynamics/Featherstone/btMultiBodyMLCPConstraintSolver.h>
#include <BulletDynamics/Featherstone/btMultiBodyPoint2Point.h>
#include <BulletDynamics/MLCPSolvers/btDantzigSolver.h>
#include <btBulletCollisionCommon.h>

#include <memory>
#include <vector>

namespace
{

const btQuaternion no_turn(0, 0, 0, 1);

btVector3 vector(const double x[3])
{
  return btVector3(btScalar(x[0]), btScalar(x[1]), btScalar(x[2]));
}

// A world without collisions; all impulses of loops are solved for at once.
struct World {
  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher{&configuration};
  btDbvtBroadphase broadphase;
  btDantzigSolver direct;
  btMultiBodyMLCPConstraintSolver solver{&direct};
  btMultiBodyDynamicsWorld world{&dispatcher, &broadphase, &solver, &configuration};
  std::vector<std::unique_ptr<btMultiBody>> trees;
  std::vector<std::unique_ptr<btMultiBodyConstraint>> loops;
  btSphereShape shape{btScalar(0.01)};
  std::vector<std::unique_ptr<btMultiBodyLinkCollider>> marks;

  World()
  {
    world.setGravity(btVector3(0, 0, btScalar(-peer_gravity)));
  }
  ~World()
  {
    for (auto &mark : marks) world.removeCollisionObject(mark.get());
    for (auto &loop : loops) world.removeMultiBodyConstraint(loop.get());
    for (auto &tree : trees) world.removeMultiBody(tree.get());
  }

  // A tree of so many links on the ground, without the damping and the limit of speed that there
  // are by default.
  btMultiBody *add(int links)
  {
    trees.push_back(
        std::make_unique<btMultiBody>(links, btScalar(0), btVector3(0, 0, 0), true, false));
    btMultiBody *tree = trees.back().get();
    tree->setLinearDamping(0);
    tree->setAngularDamping(0);
    tree->setMaxCoordinateVelocity(btScalar(1e30));
    return tree;
  }

  void finish(btMultiBody *tree)
  {
    tree->finalizeMultiDof();
    world.addMultiBody(tree);
  }

  // Bullet solves for the impulses of a loop only if its bodies have shapes; these meet no others.
  void mark(btMultiBody *tree, int link)
  {
    if (tree->getLink(link).m_collider) return;
    marks.push_back(std::make_unique<btMultiBodyLinkCollider>(tree, link));
    marks.back()->setCollisionShape(&shape);
    world.addCollisionObject(marks.back().get(), 0, 0);
    tree->getLink(link).m_collider = marks.back().get();
  }

  void close(btMultiBody *a, int link_a, const btVector3 &at_a, btMultiBody *b, int link_b,
             const btVector3 &at_b)
  {
    loops.push_back(std::make_unique<btMultiBodyPoint2Point>(a, link_a, b, link_b, at_a, at_b));
    loops.back()->setMaxAppliedImpulse(btScalar(1e30));
    world.addMultiBodyConstraint(loops.back().get());
    mark(a, link_a);
    mark(b, link_b);
  }

  void step(double h)
  {
    world.stepSimulation(btScalar(h), 0);
  }
};

int get_point(const btMultiBody *tree, int link, const btVector3 &local, double x[3])
{
  const btVector3 point = tree->localPosToWorld(link, local);
  for (int i = 0; i < 3; i++) x[i] = double(point[i]);
  return std::isfinite(x[0] + x[1] + x[2]) ? 0 : -1;
}

int run_top(double effort, double end, double x[3], double *seconds)
{
  World world;
  btMultiBody *top = world.add(1);
  const btVector3 spin = vector(peer_top_spin);
  top->setupSpherical(0, btScalar(peer_top_mass), vector(peer_top_inertia), -1, no_turn,
                      btVector3(0, 0, 0), btVector3(0, 1, 0));
  world.finish(top);
  top->setJointVelMultiDof(0, &spin[0]);
  const double begin = peer_now();
  for (double n = 0.0; n < effort; n++) world.step(end / effort);
  *seconds = peer_now() - begin;
  return get_point(top, 0, btVector3(0, 0, 0), x);
}

// The universal joint is two hinges, with a body of almost no mass between them.
int run_slider(double effort, double end, double x[3], double *seconds)
{
  World world;
  btMultiBody *crank = world.add(1), *slider = world.add(3);
  const btScalar moment = btScalar(peer_crank_inertia), arm = btScalar(0.04);
  const btVector3 small(moment, moment, moment), none(0, 0, 0);
  const btVector3 along_x(1, 0, 0), along_y(0, 1, 0), half(btScalar(-peer_rod_half), 0, 0);
  crank->setupRevolute(0, btScalar(peer_crank_mass), small, -1, no_turn, along_x,
                       vector(peer_crank_pivot), btVector3(0, 0, arm));
  slider->setupPrismatic(0, btScalar(peer_slider_mass), small, -1, no_turn, along_x,
                         btVector3(btScalar(peer_slider_at), 0, 0), none, true);
  slider->setupRevolute(1, btScalar(1e-9), btVector3(1, 1, 1) * btScalar(1e-12), 0, no_turn,
                        along_x, none, none);
  slider->setupRevolute(2, btScalar(peer_rod_mass), vector(peer_rod_inertia), 1, no_turn, along_y,
                        none, half);
  world.finish(crank);
  world.finish(slider);
  crank->setJointVel(0, btScalar(peer_crank_speed));
  slider->setJointVel(0, btScalar(peer_slider_speed));
  for (int i = 0; i < 2; i++) {
    slider->setJointPos(1 + i, btScalar(peer_rod_angle[i]));
    slider->setJointVel(1 + i, btScalar(peer_rod_speed[i]));
  }
  world.close(crank, 0, btVector3(0, 0, arm), slider, 2, half);
  world.world.forwardKinematics();
  const double begin = peer_now();
  for (double n = 0.0; n < effort; n++) world.step(end / effort);
  *seconds = peer_now() - begin;
  return get_point(slider, 2, none, x);
}

btMultiBody *add_chain(World &world, int model, int bodies)
{
  const btScalar half = btScalar(0.5 * peer_link_length), mass = btScalar(peer_link_mass);
  btMultiBody *chain = world.add(bodies);
  for (int i = 0; i < bodies; i++) {
    const btVector3 outer(i ? half : 0, 0, 0), inner(half, 0, 0);
    if (model == PEER_SPHERICAL)
      chain->setupSpherical(i, mass, vector(peer_link_inertia), i - 1, no_turn, outer, inner);
    else
      chain->setupRevolute(i, mass, vector(peer_link_inertia), i - 1, no_turn,
                           i % 2 ? btVector3(0, 0, 1) : btVector3(0, 1, 0), outer, inner);
  }
  world.finish(chain);
  return chain;
}

// A tree for each rocker with its coupler, whose end is connected to the next rocker.
void add_loops(World &world, int bodies)
{
  const btScalar across = btScalar(peer_bar_inertia), along = btScalar(peer_bar_spin), half(0.5);
  const btVector3 axis(0, 1, 0);
  for (int i = 0; i < bodies; i += 2) {
    const bool last = i + 1 == bodies;
    btMultiBody *tree = world.add(last ? 1 : 2);
    tree->setupRevolute(0, 1, btVector3(across, across, along), -1, no_turn, axis,
                        btVector3(half * btScalar(i), 0, 0), btVector3(0, 0, half));
    if (!last)
      tree->setupRevolute(1, 1, btVector3(along, across, across), 0, no_turn, axis,
                          btVector3(0, 0, half), btVector3(half, 0, 0));
    world.finish(tree);
    tree->setJointVel(0, 1);
    if (!last) tree->setJointVel(1, -1);
  }
  for (size_t k = 1; k < world.trees.size(); k++)
    world.close(world.trees[k - 1].get(), 1, btVector3(half, 0, 0), world.trees[k].get(), 0,
                btVector3(0, 0, half));
  world.world.forwardKinematics();
}

struct Motion {
  World world;
  int bodies;
  double h;
};

int advance(void *data, long n)
{
  Motion *motion = static_cast<Motion *>(data);
  for (; n > 0; n--) motion->world.step(motion->h);
  return 0;
}

double get_energy(void *data)
{
  const Motion *motion = static_cast<const Motion *>(data);
  std::vector<double> q, v;
  for (const auto &tree : motion->world.trees)
    for (int i = 0; i < tree->getNumLinks(); i++) {
      q.push_back(double(tree->getJointPos(i)));
      v.push_back(double(tree->getJointVel(i)));
    }
  return peer_loops_energy(q.data(), v.data(), motion->bodies);
}

int run_loops(int bodies, double effort, double end, double x[3], double *drift, double *seconds)
{
  Motion motion;
  motion.bodies = bodies;
  motion.h = end / effort;
  add_loops(motion.world, bodies);
  const peer_motion all = {advance, get_energy, &motion};
  const int status = peer_sample(&all, 0, effort, drift, seconds);
  if (status) return status;
  return get_point(motion.world.trees.back().get(), 0, btVector3(0, 0, btScalar(0.5)), x);
}

int run_chain(int model, int bodies, int steps, double h, double x[3], double *seconds)
{
  World world;
  if (model == PEER_LOOPS)
    add_loops(world, bodies);
  else
    add_chain(world, model, bodies);
  double begin = 0.0;
  for (int n = 0; n < steps; n++) {
    if (n == 2) begin = peer_now();
    world.step(h);
  }
  *seconds = peer_now() - begin;
  const btMultiBody *last = world.trees.back().get();
  const btScalar half = btScalar(0.5 * peer_link_length);
  return get_point(last, last->getNumLinks() - 1,
                   model == PEER_LOOPS ? btVector3(0, 0, btScalar(0.5)) : btVector3(half, 0, 0), x);
}

} // namespace

const peer_method *peer_methods(int *count)
{
  const bool large = sizeof(btScalar) == sizeof(double);
  static const peer_method methods[] = {
      {large ? "Bullet 3.24" : "Bullet 3.24, float",
       "multibody",
       large ? "order 1, joint coordinates, loops stabilized by fractions, double"
             : "order 1, joint coordinates, loops stabilized by fractions, float",
       0,
       250,
       large ? 0.0 : 1e-5,
       run_top,
       run_slider,
       run_loops,
       run_chain,
       {100000, 10000, 101}}};
  *count = static_cast<int>(sizeof methods / sizeof methods[0]);
  return methods;
}
