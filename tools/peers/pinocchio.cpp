// Times Pinocchio on models printed by pinocchio_model, given as name:file.
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/frames.hpp>
#include <pinocchio/algorithm/jacobian.hpp>
#include <pinocchio/algorithm/joint-configuration.hpp>
#include <pinocchio/algorithm/kinematics.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <pinocchio/multibody/joint.hpp>

#include "bench.hpp"

namespace pin = pinocchio;
using Eigen::Vector3d;
using Eigen::VectorXd;

static pin::SE3 place(std::istream& in) {
  pin::SE3 X;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) in >> X.rotation()(i, j);
  for (int i = 0; i < 3; ++i) in >> X.translation()[i];
  return X;
}

static pin::JointModel joint(const std::string& kind, const Vector3d& axis) {
  if (kind == "JointModelFreeFlyer") return pin::JointModelFreeFlyer();
  if (kind == "JointModelRX") return pin::JointModelRX();
  if (kind == "JointModelRY") return pin::JointModelRY();
  if (kind == "JointModelRZ") return pin::JointModelRZ();
  if (kind == "JointModelRUBX") return pin::JointModelRUBX();
  if (kind == "JointModelRUBY") return pin::JointModelRUBY();
  if (kind == "JointModelRUBZ") return pin::JointModelRUBZ();
  if (kind == "JointModelPX") return pin::JointModelPX();
  if (kind == "JointModelPY") return pin::JointModelPY();
  if (kind == "JointModelPZ") return pin::JointModelPZ();
  if (kind == "JointModelRevoluteUnaligned") return pin::JointModelRevoluteUnaligned(axis);
  if (kind == "JointModelRevoluteUnboundedUnaligned") return pin::JointModelRevoluteUnboundedUnaligned(axis);
  if (kind == "JointModelPrismaticUnaligned") return pin::JointModelPrismaticUnaligned(axis);
  throw std::runtime_error("joint of unknown kind " + kind);
}

// read returns the model and adds the tip to it as its last frame.
static pin::Model read(const std::string& file) {
  std::ifstream in(file);
  in.exceptions(std::ios::failbit | std::ios::badbit);
  pin::Model model;
  int joints;
  in >> joints;
  for (int i = 0; i < joints; ++i) {
    std::string kind;
    pin::JointIndex parent;
    Vector3d axis;
    in >> kind >> parent >> axis[0] >> axis[1] >> axis[2];
    const pin::SE3 X = place(in);
    Eigen::Matrix<double, 10, 1> mass;
    for (int k = 0; k < 10; ++k) in >> mass[k];
    const auto id = model.addJoint(parent, joint(kind, axis), X, "joint" + std::to_string(i));
    model.appendBodyToJoint(id, pin::Inertia::FromDynamicParameters(mass), pin::SE3::Identity());
  }
  pin::JointIndex parent;
  in >> parent;
  model.addFrame(pin::Frame("tip", parent, 0, place(in), pin::OP_FRAME));
  return model;
}

static void measure(const std::string& peer, const std::string& name, const std::string& file) {
  const pin::Model model = read(file);
  const pin::FrameIndex tip = model.getFrameId("tip");
  pin::Data data(model);

  std::srand(1);
  std::vector<VectorXd> q, v, a;
  for (int i = 0; i < pool; ++i) {
    const VectorXd at = pin::neutral(model);
    q.push_back(pin::integrate(model, at, 1.5 * VectorXd::Random(model.nv)));
    v.push_back(VectorXd::Random(model.nv));
    a.push_back(VectorXd::Random(model.nv));
  }
  pin::Data::Matrix6x J = pin::Data::Matrix6x::Zero(6, model.nv);

  auto go = [&](const char* what, auto call) { report(peer, what, name, call); };
  go("inverse", [&](int i) { pin::rnea(model, data, q[i], v[i], a[i]); });
  go("mass/world", [&](int i) { pin::crba(model, data, q[i], pin::Convention::WORLD); });
  go("mass/local", [&](int i) { pin::crba(model, data, q[i], pin::Convention::LOCAL); });
  go("forward/world", [&](int i) { pin::aba(model, data, q[i], v[i], a[i], pin::Convention::WORLD); });
  go("forward/local", [&](int i) { pin::aba(model, data, q[i], v[i], a[i], pin::Convention::LOCAL); });
  go("position", [&](int i) { pin::forwardKinematics(model, data, q[i]); });
  go("velocity", [&](int i) { pin::forwardKinematics(model, data, q[i], v[i]); });
  go("acceleration", [&](int i) { pin::forwardKinematics(model, data, q[i], v[i], a[i]); });
  // placements and Jacobians of all joints, then that of one frame
  go("jacobian", [&](int i) {
    pin::computeJointJacobians(model, data, q[i]);
    J.setZero();
    pin::getFrameJacobian(model, data, tip, pin::LOCAL_WORLD_ALIGNED, J);
  });
  // only the joints that carry the frame
  go("jacobian-one", [&](int i) {
    J.setZero();
    pin::computeFrameJacobian(model, data, q[i], tip, pin::LOCAL_WORLD_ALIGNED, J);
  });
}

int main(int argc, char** argv) {
  const std::string peer = argv[1];
  for (int i = 2; i < argc; ++i) {
    const std::string arg = argv[i];
    const auto colon = arg.find(':');
    measure(peer, arg.substr(0, colon), arg.substr(colon + 1));
  }
}
