// DART: joint coordinates with recursive O(N) dynamics; loops by impulses at points, errors of
// position reduced by a fraction per step.  Semi-implicit Euler, first order.  Creating a chain
// takes time with the third power of its length, 100 s for 1000 links, so ours end at 100.
#include "peers.h"

#include <dart/constraint/BallJointConstraint.hpp>
#include <dart/constraint/ConstraintSolver.hpp>
#include <dart/dynamics/BallJoint.hpp>
#include <dart/dynamics/BodyNode.hpp>
#include <dart/dynamics/PrismaticJoint.hpp>
#include <dart/dynamics/RevoluteJoint.hpp>
#include <dart/dynamics/Skeleton.hpp>
#include <dart/dynamics/UniversalJoint.hpp>
#include <dart/simulation/World.hpp>

#include <cmath>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

using namespace dart;
using Eigen::Vector3d;

namespace
{

// A body with its centre of mass at the origin of its frame and a joint at a point of the body
// before, and of its own.
template <class Joint>
dynamics::BodyNode *add_body(const dynamics::SkeletonPtr &tree, dynamics::BodyNode *parent,
                             const Vector3d &outer, const Vector3d &inner, double mass,
                             const Vector3d &inertia,
                             const std::function<void(typename Joint::Properties &)> &shape)
{
  typename Joint::Properties joint;
  const std::string number = std::to_string(tree->getNumBodyNodes());
  joint.mName = "j" + number;
  joint.mT_ParentBodyToJoint.translation() = outer;
  joint.mT_ChildBodyToJoint.translation() = inner;
  shape(joint);
  const dynamics::Inertia all(mass, Vector3d::Zero(), inertia.asDiagonal());
  const dynamics::BodyNode::Properties body(
      dynamics::BodyNode::AspectProperties("b" + number, all));
  return tree->createJointAndBodyNodePair<Joint>(parent, joint, body).second;
}

dynamics::BodyNode *add_hinge(const dynamics::SkeletonPtr &tree, dynamics::BodyNode *parent,
                              const Vector3d &axis, const Vector3d &outer, const Vector3d &inner,
                              double mass, const Vector3d &inertia)
{
  return add_body<dynamics::RevoluteJoint>(
      tree, parent, outer, inner, mass, inertia,
      [&](dynamics::RevoluteJoint::Properties &joint) { joint.mAxis = axis; });
}

dynamics::BodyNode *add_ball(const dynamics::SkeletonPtr &tree, dynamics::BodyNode *parent,
                             const Vector3d &outer, const Vector3d &inner, double mass,
                             const Vector3d &inertia)
{
  return add_body<dynamics::BallJoint>(tree, parent, outer, inner, mass, inertia,
                                       [](dynamics::BallJoint::Properties &) {});
}

struct World {
  simulation::WorldPtr world = simulation::World::create();
  std::vector<dynamics::SkeletonPtr> trees;

  explicit World(double h)
  {
    world->setGravity(Vector3d(0, 0, -peer_gravity));
    world->setTimeStep(h);
  }

  dynamics::SkeletonPtr add()
  {
    trees.push_back(dynamics::Skeleton::create("t" + std::to_string(trees.size())));
    return trees.back();
  }

  void close(dynamics::BodyNode *a, dynamics::BodyNode *b, const Vector3d &at)
  {
    world->getConstraintSolver()->addConstraint(
        std::make_shared<constraint::BallJointConstraint>(a, b, at));
  }

  void finish()
  {
    for (const auto &tree : trees) world->addSkeleton(tree);
  }

  // DART ends the program if it is given a position that is no number.
  void step(double count)
  {
    for (double n = 0.0; n < count; n++) {
      world->step();
      for (const auto &tree : trees)
        if (!std::isfinite(tree->getPosition(0))) throw std::runtime_error("not finite");
    }
  }
};

int get_point(const dynamics::BodyNode *body, const Vector3d &local, double x[3])
{
  const Vector3d point = body->getWorldTransform() * local;
  for (int i = 0; i < 3; i++) x[i] = point[i];
  return point.allFinite() ? 0 : -1;
}

const Vector3d origin = Vector3d::Zero(), along_x = Vector3d::UnitX(), along_y = Vector3d::UnitY(),
               along_z = Vector3d::UnitZ();

int run_top(double effort, double end, double x[3], double *seconds)
{
  World world(end / effort);
  const auto tree = world.add();
  auto top = add_ball(tree, nullptr, origin, -along_y, peer_top_mass, Vector3d(peer_top_inertia));
  tree->setVelocities(Vector3d(peer_top_spin));
  world.finish();
  const double begin = peer_now();
  world.step(effort);
  *seconds = peer_now() - begin;
  return get_point(top, origin, x);
}

int run_slider(double effort, double end, double x[3], double *seconds)
{
  World world(end / effort);
  const Vector3d small = Vector3d::Constant(peer_crank_inertia), arm = 0.04 * along_z;
  const auto first = world.add(), second = world.add();
  auto crank =
      add_hinge(first, nullptr, along_x, Vector3d(peer_crank_pivot), -arm, peer_crank_mass, small);
  auto slider = add_body<dynamics::PrismaticJoint>(
      second, nullptr, peer_slider_at * along_x, origin, peer_slider_mass, small,
      [](dynamics::PrismaticJoint::Properties &joint) { joint.mAxis = along_x; });
  auto rod = add_body<dynamics::UniversalJoint>(second, slider, origin, peer_rod_half * along_x,
                                                peer_rod_mass, Vector3d(peer_rod_inertia),
                                                [](dynamics::UniversalJoint::Properties &joint) {
                                                  joint.mAxis[0] = along_x;
                                                  joint.mAxis[1] = along_y;
                                                });
  first->setVelocity(0, peer_crank_speed);
  second->setPositions(Vector3d(0, peer_rod_angle[0], peer_rod_angle[1]));
  second->setVelocities(Vector3d(peer_slider_speed, peer_rod_speed[0], peer_rod_speed[1]));
  world.finish();
  world.close(crank, rod, Vector3d(peer_crank_pin));
  const double begin = peer_now();
  world.step(effort);
  *seconds = peer_now() - begin;
  return get_point(rod, origin, x);
}

void add_chain(World &world, int model, int bodies)
{
  const Vector3d half = 0.5 * peer_link_length * along_x, inertia(peer_link_inertia);
  const auto tree = world.add();
  dynamics::BodyNode *last = nullptr;
  for (int i = 0; i < bodies; i++) {
    const Vector3d outer = i ? half : origin;
    last = model == PEER_SPHERICAL ? add_ball(tree, last, outer, -half, peer_link_mass, inertia)
                                   : add_hinge(tree, last, i % 2 ? along_z : along_y, outer, -half,
                                               peer_link_mass, inertia);
  }
  world.finish();
}

// A tree for each rocker with its coupler, whose end is connected to the next rocker.
void add_loops(World &world, int bodies)
{
  const double across = peer_bar_inertia, along = peer_bar_spin;
  const Vector3d half = 0.5 * along_z;
  std::vector<dynamics::BodyNode *> body;
  for (int i = 0; i < bodies; i += 2) {
    const auto tree = world.add();
    body.push_back(add_hinge(tree, nullptr, along_y, 0.5 * i * along_x, -half, 1.0,
                             Vector3d(across, across, along)));
    if (i + 1 < bodies)
      body.push_back(add_hinge(tree, body.back(), along_y, half, -0.5 * along_x, 1.0,
                               Vector3d(along, across, across)));
    tree->setVelocity(0, 1.0);
    if (i + 1 < bodies) tree->setVelocity(1, -1.0);
  }
  world.finish();
  for (int i = 1; i < bodies; i += 2)
    world.close(body[size_t(i)], body[size_t(i) + 1], Vector3d(0.5 * (i + 1), 0, 1));
}

int advance(void *data, long n)
{
  static_cast<World *>(data)->step(double(n));
  return 0;
}

double get_energy(void *data)
{
  double sum = 0.0;
  for (const auto &tree : static_cast<World *>(data)->trees)
    sum += tree->computeKineticEnergy() + tree->computePotentialEnergy();
  return sum;
}

int run_loops(int bodies, double effort, double end, double x[3], double *drift, double *seconds)
{
  World world(end / effort);
  add_loops(world, bodies);
  const peer_motion motion = {advance, get_energy, &world};
  const int status = peer_sample(&motion, 0, effort, drift, seconds);
  return status ? status : get_point(world.trees.back()->getBodyNode(0), 0.5 * along_z, x);
}

int run_chain(int model, int bodies, int steps, double h, double x[3], double *seconds)
{
  World world(h);
  if (model == PEER_LOOPS)
    add_loops(world, bodies);
  else
    add_chain(world, model, bodies);
  world.step(2);
  const double begin = peer_now();
  world.step(steps - 2);
  *seconds = peer_now() - begin;
  const auto &tree = world.trees.back();
  const Vector3d end = model == PEER_LOOPS ? 0.5 * along_z : 0.5 * peer_link_length * along_x;
  return get_point(tree->getBodyNode(tree->getNumBodyNodes() - 1), end, x);
}

// Exceptions must not leave C++.
template <auto run, class... Arguments> int guard(Arguments... arguments)
{
  try {
    return run(arguments...);
  } catch (const std::exception &) {
    return -1;
  }
}

} // namespace

const peer_method *peer_methods(int *count)
{
  static const peer_method methods[] = {
      {"DART 6.12",
       "semi-implicit Euler",
       "order 1, joint coordinates, loops stabilized by fractions, double",
       0,
       250,
       0.0,
       guard<run_top>,
       guard<run_slider>,
       guard<run_loops>,
       guard<run_chain>,
       {100, 100, 101}}};
  *count = static_cast<int>(sizeof methods / sizeof methods[0]);
  return methods;
}
