// Times Orocos KDL on a chain of a robot, given as name:tip:file.urdf: forward
// kinematics, Jacobian, inverse dynamics, mass matrix, and its inverse kinematics
// along a line of one metre in steps of one millimetre, each solve starting from
// the one before.
#include <algorithm>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <vector>

#include <kdl/chain.hpp>
#include <kdl/chaindynparam.hpp>
#include <kdl/chainfksolverpos_recursive.hpp>
#include <kdl/chainidsolver_recursive_newton_euler.hpp>
#include <kdl/chainiksolverpos_lma.hpp>
#include <kdl/chainiksolverpos_nr_jl.hpp>
#include <kdl/chainiksolvervel_pinv.hpp>
#include <kdl/chainiksolvervel_wdls.hpp>
#include <kdl/chainjnttojacsolver.hpp>
#include <urdf_parser/urdf_parser.h>

#include "bench.hpp"

using KDL::JntArray;

static KDL::Vector vec(const urdf::Vector3& v) { return {v.x, v.y, v.z}; }
static KDL::Frame frame(const urdf::Pose& p) {
  return {KDL::Rotation::Quaternion(p.rotation.x, p.rotation.y, p.rotation.z, p.rotation.w), vec(p.position)};
}

// An arm is the chain from the root to a tip, with its limits.
struct Arm {
  KDL::Chain chain;
  JntArray lower, upper;
};

static Arm read(const std::string& file, const std::string& tip) {
  std::ifstream in(file);
  std::stringstream text;
  text << in.rdbuf();
  const auto model = urdf::parseURDF(text.str());
  if (!model) throw std::runtime_error("cannot read " + file);
  std::vector<urdf::JointSharedPtr> joints;
  for (auto link = std::const_pointer_cast<urdf::Link>(model->getLink(tip)); link && link->parent_joint; link = link->getParent())
    joints.insert(joints.begin(), link->parent_joint);
  if (joints.empty()) throw std::runtime_error("nothing leads to " + tip);

  Arm arm;
  std::vector<double> lower, upper;
  for (const auto& j : joints) {
    const KDL::Frame X = frame(j->parent_to_joint_origin_transform);
    const KDL::Vector axis = X.M * vec(j->axis);
    KDL::Joint joint(j->name, KDL::Joint::None);
    if (j->type == urdf::Joint::REVOLUTE || j->type == urdf::Joint::CONTINUOUS)
      joint = KDL::Joint(j->name, X.p, axis, KDL::Joint::RotAxis);
    else if (j->type == urdf::Joint::PRISMATIC)
      joint = KDL::Joint(j->name, X.p, axis, KDL::Joint::TransAxis);
    else if (j->type != urdf::Joint::FIXED)
      throw std::runtime_error("joint of unknown kind " + j->name);
    KDL::RigidBodyInertia mass;
    if (const auto& i = model->getLink(j->child_link_name)->inertial) {
      const KDL::Frame C = frame(i->origin);
      mass = C * KDL::RigidBodyInertia(i->mass, KDL::Vector::Zero(), KDL::RotationalInertia(i->ixx, i->iyy, i->izz, i->ixy, i->ixz, i->iyz));
    }
    arm.chain.addSegment(KDL::Segment(j->child_link_name, joint, X, mass));
    if (j->type != urdf::Joint::FIXED) {
      const bool bounded = j->limits && j->type != urdf::Joint::CONTINUOUS;
      lower.push_back(bounded ? j->limits->lower : -1e3);
      upper.push_back(bounded ? j->limits->upper : 1e3);
    }
  }
  const unsigned n = arm.chain.getNrOfJoints();
  arm.lower.resize(n);
  arm.upper.resize(n);
  for (unsigned i = 0; i < n; ++i) arm.lower(i) = lower[i], arm.upper(i) = upper[i];
  return arm;
}

static double uniform(double lo, double hi) { return lo + (hi - lo) * std::rand() / RAND_MAX; }

static void kinematics(const Arm& arm, const std::string& name) {
  const unsigned n = arm.chain.getNrOfJoints();
  std::srand(1);
  std::vector<JntArray> q(pool, JntArray(n)), v = q, a = q;
  for (int i = 0; i < pool; ++i)
    for (unsigned k = 0; k < n; ++k) q[i](k) = uniform(-1.5, 1.5), v[i](k) = uniform(-1, 1), a[i](k) = uniform(-1, 1);
  KDL::ChainFkSolverPos_recursive fk(arm.chain);
  KDL::ChainJntToJacSolver jac(arm.chain);
  KDL::ChainIdSolver_RNE rne(arm.chain, KDL::Vector(0, 0, -9.81));
  KDL::ChainDynParam dyn(arm.chain, KDL::Vector(0, 0, -9.81));
  KDL::Frame X;
  KDL::Jacobian J(n);
  JntArray tau(n);
  KDL::JntSpaceInertiaMatrix M(n);
  KDL::Wrenches f(arm.chain.getNrOfSegments());
  report("kdl", "position", name, [&](int i) { fk.JntToCart(q[i], X); });
  report("kdl", "jacobian", name, [&](int i) { jac.JntToJac(q[i], J); });
  report("kdl", "inverse", name, [&](int i) { rne.CartToJnt(q[i], v[i], a[i], f, tau); });
  report("kdl", "mass", name, [&](int i) { dyn.JntToMass(q[i], M); });
}

// step is the pose of sample i of the line: y from −0.5 to 0.5 at x 0.4, z 0.35,
// the tool down.
constexpr int samples = 1001;
static KDL::Frame step(int i) { return {KDL::Rotation::RPY(M_PI, 0, 0), KDL::Vector(0.4, -0.5 + 0.001 * i, 0.35)}; }

// follow solves the whole line, keeps the smallest time of each sample and returns
// how many failed.
template <typename Solver>
static int follow(Solver& solver, const JntArray& start, std::vector<double>& least) {
  using clock = std::chrono::steady_clock;
  JntArray q = start, next = start;
  int failed = 0;
  for (int i = 0; i < samples; ++i) {
    const KDL::Frame X = step(i);
    const auto t0 = clock::now();
    if (solver.CartToJnt(q, X, next) < 0) ++failed;
    least[i] = std::min(least[i], std::chrono::duration<double, std::nano>(clock::now() - t0).count());
    q = next;
  }
  return failed;
}

// line prints the mean of the smallest times, ns per solve, and the failures.
template <typename Solver>
static void line(const std::string& name, const std::string& what, Solver& solver, const JntArray& start) {
  std::vector<double> least(samples, 1e300);
  int failed = 0;
  for (int run = 0; run < 12; ++run) failed = follow(solver, start, least);
  double sum = 0;
  for (const double ns : least) sum += ns;
  std::printf("BenchmarkPeer/kdl/line-%s/%s %d %.1f ns/op %d failed\n", what.c_str(), name.c_str(), samples, sum / samples, failed);
  std::fflush(stdout);
}

static void inverse(const Arm& arm, const std::string& name) {
  const unsigned n = arm.chain.getNrOfJoints();
  Eigen::Matrix<double, 6, 1> weight = Eigen::Matrix<double, 6, 1>::Ones();
  KDL::ChainIkSolverPos_LMA lma(arm.chain, weight, 1e-5, 500);
  KDL::ChainFkSolverPos_recursive fk(arm.chain);
  KDL::ChainIkSolverVel_pinv pinv(arm.chain);
  KDL::ChainIkSolverVel_wdls wdls(arm.chain);
  wdls.setLambda(0.01);
  KDL::ChainIkSolverPos_NR_JL byPinv(arm.chain, arm.lower, arm.upper, fk, pinv, 100, 1e-6);
  KDL::ChainIkSolverPos_NR_JL byWdls(arm.chain, arm.lower, arm.upper, fk, wdls, 100, 1e-6);

  // a start within the limits from which the whole line can be followed
  std::srand(1);
  JntArray seed(n), start(n);
  std::vector<double> unused(samples, 1e300);
  bool found = false;
  for (int i = 0; i < 20000 && !found; ++i) {
    for (unsigned k = 0; k < n; ++k) seed(k) = uniform(std::max(-M_PI, arm.lower(k)), std::min(M_PI, arm.upper(k)));
    found = byWdls.CartToJnt(seed, step(0), start) >= 0 && follow(byWdls, start, unused) == 0;
  }
  if (!found) {
    std::fprintf(stderr, "kdl: %s cannot follow the line\n", name.c_str());
    return;
  }
  line(name, "lma", lma, start);
  line(name, "pinv", byPinv, start);
  line(name, "wdls", byWdls, start);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    std::stringstream in(argv[i]);
    std::string name, tip, file;
    std::getline(in, name, ':');
    std::getline(in, tip, ':');
    std::getline(in, file);
    const Arm arm = read(file, tip);
    kinematics(arm, name);
    inverse(arm, name);
  }
}
