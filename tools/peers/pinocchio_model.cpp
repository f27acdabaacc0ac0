// Reads a URDF with Pinocchio's own parser and prints the model as plain
// numbers. The library of the wheel is built for a plain processor, and its
// matrices lie in memory otherwise than those of a program built with
// -march=native: so the program that is timed gets the model as text and links
// nothing.
#include <iomanip>
#include <iostream>

#include <pinocchio/multibody/joint.hpp>
#include <pinocchio/parsers/urdf.hpp>

namespace pin = pinocchio;

static void print(const pin::SE3& X) {
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) std::cout << ' ' << X.rotation()(i, j);
  for (int i = 0; i < 3; ++i) std::cout << ' ' << X.translation()[i];
}

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: pinocchio_model fixed|floating FRAME FILE\n";
    return 2;
  }
  pin::Model model;
  if (std::string(argv[1]) == "floating")
    pin::urdf::buildModel(argv[3], pin::JointModelFreeFlyer(), model);
  else
    pin::urdf::buildModel(argv[3], model);
  std::cout << std::setprecision(17) << model.njoints - 1 << '\n';
  for (pin::JointIndex j = 1; j < (pin::JointIndex)model.njoints; ++j) {
    const auto& joint = model.joints[j];
    Eigen::Vector3d axis = Eigen::Vector3d::Zero();
    if (const auto* r = boost::get<pin::JointModelRevoluteUnaligned>(&joint)) axis = r->axis;
    if (const auto* r = boost::get<pin::JointModelRevoluteUnboundedUnaligned>(&joint)) axis = r->axis;
    if (const auto* p = boost::get<pin::JointModelPrismaticUnaligned>(&joint)) axis = p->axis;
    std::cout << joint.shortname() << ' ' << model.parents[j] << ' ' << axis.transpose();
    print(model.jointPlacements[j]);
    std::cout << ' ' << model.inertias[j].toDynamicParameters().transpose() << '\n';
  }
  const auto id = model.getFrameId(argv[2]);
  if (id >= (pin::FrameIndex)model.nframes) {
    std::cerr << "no frame " << argv[2] << '\n';
    return 1;
  }
  std::cout << model.frames[id].parentJoint;
  print(model.frames[id].placement);
  std::cout << '\n';
}
