// roscpp and actionlib's C++ libraries against a server, and beside it.
//
//   peer client            drives a server's arm by SimpleActionClient; prints "ok NAME" for every
//                          check that held and "all ok" at the end
//   peer measure-echo|joints|goals
//                          times an echo, joint_states, goals and a burst of any server
//   peer echo|joints|serve what is timed, by roscpp itself
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <vector>

#include <actionlib/client/simple_action_client.h>
#include <actionlib/server/simple_action_server.h>
#include <control_msgs/FollowJointTrajectoryAction.h>
#include <ros/ros.h>
#include <roscpp/GetLoggers.h>
#include <rosgraph_msgs/Log.h>
#include <sensor_msgs/JointState.h>
#include <trajectory_msgs/JointTrajectory.h>

using control_msgs::FollowJointTrajectoryAction;
using Client = actionlib::SimpleActionClient<FollowJointTrajectoryAction>;
using actionlib::SimpleClientGoalState;
using sensor_msgs::JointState;

namespace {

const double patience = 60;

void ok(const std::string& name, bool held, const std::string& why = "") {
  if (!held) {
    std::fprintf(stderr, "failed: %s: %s\n", name.c_str(), why.c_str());
    std::_Exit(1);
  }
  std::printf("ok %s\n", name.c_str());
  std::fflush(stdout);
}

template <class F> void wait(const std::string& what, F so) {
  const auto end = ros::WallTime::now() + ros::WallDuration(patience);
  while (!so()) {
    if (ros::WallTime::now() > end) ok(what, false, "never");
    ros::WallDuration(0.001).sleep();
  }
}

// arm waits for a message of joint_states and returns the joints of the arm.
JointState arm() {
  const auto m = ros::topic::waitForMessage<JointState>("/joint_states", ros::Duration(patience));
  if (!m) ok("joint_states", false, "never");
  JointState out;
  for (size_t i = 0; i < m->name.size(); i++)
    if (m->name[i].rfind("joint_", 0) == 0) {
      out.name.push_back(m->name[i]);
      out.position.push_back(m->position[i]);
    }
  return out;
}

control_msgs::FollowJointTrajectoryGoal goalOf(const JointState& from, double offset, double seconds) {
  control_msgs::FollowJointTrajectoryGoal g;
  g.trajectory.joint_names = from.name;
  trajectory_msgs::JointTrajectoryPoint p;
  for (double q : from.position) p.positions.push_back(q + offset);
  p.time_from_start = ros::Duration(seconds);
  g.trajectory.points.push_back(p);
  return g;
}

void client() {
  ros::NodeHandle n;
  const auto at = arm();
  ok("six joints", at.name.size() == 6);
  std::string urdf;
  ok("robot_description", n.getParam("/robot_description", urdf) && urdf.find("<robot") != std::string::npos);
  roscpp::GetLoggers loggers;
  ok("waitForService", ros::service::waitForService("/poise/get_loggers", ros::Duration(patience)));
  ok("a service", ros::service::call("/poise/get_loggers", loggers) && loggers.response.loggers[0].name == "ros.poise");
  roscpp::GetLoggers none;
  ok("a service that is not there", !ros::service::call("/poise/no_such_service", none));

  Client c("/follow_joint_trajectory", true);
  ok("wait_for_server", c.waitForServer(ros::Duration(patience)));
  std::atomic<int> active{0}, feedback{0};
  c.sendGoal(goalOf(at, 0.05, 1), Client::SimpleDoneCallback(), [&] { active++; },
             [&](const control_msgs::FollowJointTrajectoryFeedbackConstPtr&) { feedback++; });
  ok("a goal ends", c.waitForResult(ros::Duration(patience)));
  ok("a goal succeeds", c.getState() == SimpleClientGoalState::SUCCEEDED, c.getState().toString() + " " + c.getState().getText());
  ok("active, feedback, result", active == 1 && feedback > 3 && c.getResult()->error_code == 0, std::to_string(feedback));

  c.sendGoal(goalOf(at, 0.3, 20));
  wait("it runs", [&] { return c.getState() == SimpleClientGoalState::ACTIVE; });
  c.cancelGoal();
  ok("a cancelled goal ends", c.waitForResult(ros::Duration(patience)));
  ok("a cancelled goal is preempted", c.getState() == SimpleClientGoalState::PREEMPTED, c.getState().toString());

  auto bad = goalOf(at, 0, 1);
  bad.trajectory.joint_names[0] = "no_such_joint";
  c.sendGoal(bad);
  ok("a wrong goal ends", c.waitForResult(ros::Duration(patience)));
  ok("a wrong goal is rejected with its reason",
     c.getState() == SimpleClientGoalState::REJECTED && c.getState().getText().find("no_such_joint") != std::string::npos, c.getState().getText());

  // two clients of one action: each hears of its own goal, and the newer one replaces
  Client other("/follow_joint_trajectory", true);
  ok("a second client", other.waitForServer(ros::Duration(patience)));
  c.sendGoal(goalOf(at, 0.3, 20));
  wait("the first runs", [&] { return c.getState() == SimpleClientGoalState::ACTIVE; });
  other.sendGoal(goalOf(at, 0.02, 1));
  ok("both end", c.waitForResult(ros::Duration(patience)) && other.waitForResult(ros::Duration(patience)));
  ok("the newer goal replaces the older", c.getState() == SimpleClientGoalState::PREEMPTED && other.getState() == SimpleClientGoalState::SUCCEEDED,
     c.getState().toString() + " " + other.getState().toString());

  // cancelGoalsAtAndBeforeTime spares what was asked for later
  c.sendGoal(goalOf(at, 0.1, 1));
  wait("it runs", [&] { return c.getState() == SimpleClientGoalState::ACTIVE; });
  other.cancelGoalsAtAndBeforeTime(ros::Time::now() - ros::Duration(3600));
  ok("it ends", c.waitForResult(ros::Duration(patience)));
  ok("a cancel up to a time spares later goals", c.getState() == SimpleClientGoalState::SUCCEEDED, c.getState().toString());
  c.sendGoal(goalOf(at, 0.3, 20));
  wait("it runs", [&] { return c.getState() == SimpleClientGoalState::ACTIVE; });
  other.cancelAllGoals();
  ok("cancelAllGoals", c.waitForResult(ros::Duration(patience)) && c.getState() == SimpleClientGoalState::PREEMPTED, c.getState().toString());

  // a trajectory by topic
  auto command = n.advertise<trajectory_msgs::JointTrajectory>("/joint_trajectory", 1);
  wait("joint_trajectory is read", [&] { return command.getNumSubscribers() > 0; });
  command.publish(goalOf(at, 0.04, 1).trajectory);
  wait("joint_trajectory is played", [&] { return std::abs(arm().position[0] - at.position[0] - 0.04) < 1e-3; });

  // the log
  std::atomic<int> lines{0};
  auto log = n.subscribe<rosgraph_msgs::Log>("/rosout_agg", 100, [&](const rosgraph_msgs::LogConstPtr& m) {
    if (m->name == "/peer_cpp" && m->msg == "a line of roscpp") lines++;
  });
  wait("rosout_agg", [&] {
    ROS_INFO("a line of roscpp");
    ros::WallDuration(0.1).sleep();
    return lines > 0;
  });
  std::printf("all ok\n");
}

// stamped is a message of twelve joints with a number.
JointState stamped(uint32_t number) {
  JointState m;
  for (int i = 0; i < 12; i++) {
    m.name.push_back("joint_" + std::to_string(i));
    m.position.push_back(i);
    m.velocity.push_back(0);
    m.effort.push_back(number);
  }
  return m;
}

double at(std::vector<double>& all, double share) {
  std::sort(all.begin(), all.end());
  return all.empty() ? NAN : all[std::min(all.size() - 1, size_t(share * all.size()))];
}

void row(const char* what, std::vector<double>& ms) {
  std::printf("%s p50 %.3f ms, p99 %.3f ms, max %.3f ms, %zu of them\n", what, at(ms, 0.5), at(ms, 0.99), at(ms, 1), ms.size());
  std::fflush(stdout);
}

void measureEcho(ros::NodeHandle& n) {
  std::atomic<uint32_t> back{0};
  std::atomic<int> count{0};
  auto ping = n.advertise<JointState>("/ping", 20000);
  auto pong = n.subscribe<JointState>("/pong", 20000, [&](const sensor_msgs::JointStateConstPtr& m) {
    back = uint32_t(m->effort[0]);
    count++;
  }, ros::VoidConstPtr(), ros::TransportHints().tcpNoDelay());
  wait("the echo is connected", [&] { return ping.getNumSubscribers() > 0 && pong.getNumPublishers() > 0; });
  uint32_t number = 0;
  wait("the echo answers", [&] {
    ping.publish(stamped(++number));
    ros::WallDuration(0.05).sleep();
    return back > 0;
  });
  std::vector<double> ms;
  for (int i = 0; i < 2000; i++) {
    const auto m = stamped(++number);
    const auto begin = ros::WallTime::now();
    ping.publish(m);
    while (back != number && (ros::WallTime::now() - begin).toSec() < 2) {
    }
    if (back == number) ms.push_back((ros::WallTime::now() - begin).toSec() * 1e3);
  }
  row("echo", ms);
  count = 0;
  const auto begin = ros::WallTime::now();
  auto last = begin;
  for (int i = 0; i < 20000; i++) ping.publish(stamped(++number));
  for (int seen = -1; (ros::WallTime::now() - last).toSec() < 2 && count < 20000; ros::WallDuration(0.001).sleep())
    if (count != seen) {
      seen = count;
      last = ros::WallTime::now();
    }
  std::printf("burst %d of 20000 back in %.2f s\n", count.load(), (ros::WallTime::now() - begin).toSec());
  std::fflush(stdout);
}

void measureJoints(ros::NodeHandle& n) {
  std::mutex lock;
  std::vector<uint32_t> numbers;
  std::vector<ros::WallTime> times;
  auto s = n.subscribe<JointState>("/joint_states", 20000, [&](const sensor_msgs::JointStateConstPtr& m) {
    std::lock_guard<std::mutex> l(lock);
    numbers.push_back(m->header.seq);
    times.push_back(ros::WallTime::now());
  }, ros::VoidConstPtr(), ros::TransportHints().tcpNoDelay());
  wait("joint_states come", [&] { std::lock_guard<std::mutex> l(lock); return numbers.size() > 100; });
  {
    std::lock_guard<std::mutex> l(lock);
    numbers.clear();
    times.clear();
  }
  ros::WallDuration(5).sleep();
  std::lock_guard<std::mutex> l(lock);
  std::vector<double> gaps;
  for (size_t i = 1; i < times.size(); i++) gaps.push_back((times[i] - times[i - 1]).toSec() * 1e3);
  const double seconds = (times.back() - times.front()).toSec();
  const uint32_t sent = numbers.back() - numbers.front() + 1;
  std::printf("joint_states %.0f Hz, %zu of %u came\n", (numbers.size() - 1) / seconds, numbers.size(), sent);
  row("joint_states gap", gaps);
}

void measureGoals() {
  Client c("/follow_joint_trajectory", true);
  wait("the action is there", [&] { return c.waitForServer(ros::Duration(1)); });
  const auto from = arm();
  std::vector<double> ms;
  for (int i = 0; i < 50; i++) {
    const auto begin = ros::WallTime::now();
    std::atomic<bool> active{false};
    ros::WallTime when;
    c.sendGoal(goalOf(from, i % 2 ? 0.02 : 0.01, 0.5), Client::SimpleDoneCallback(), [&] {
      when = ros::WallTime::now();
      active = true;
    });
    wait("a goal is accepted", [&] { return active.load(); });
    ms.push_back((when - begin).toSec() * 1e3);
    c.waitForResult(ros::Duration(patience));
  }
  row("goal accepted", ms);
}

void echo(ros::NodeHandle& n) {
  auto pong = n.advertise<JointState>("/pong", 20000);
  auto ping = n.subscribe<JointState>("/ping", 20000, [&](const sensor_msgs::JointStateConstPtr& m) { pong.publish(m); },
                                      ros::VoidConstPtr(), ros::TransportHints().tcpNoDelay());
  ros::waitForShutdown();
}

void joints(ros::NodeHandle& n) {
  auto out = n.advertise<JointState>("/joint_states", 1000);
  for (ros::WallRate rate(1000); ros::ok(); rate.sleep()) out.publish(stamped(0));
}

void serve() {
  using Server = actionlib::SimpleActionServer<FollowJointTrajectoryAction>;
  Server* s = nullptr;
  Server server("/follow_joint_trajectory", [&](const control_msgs::FollowJointTrajectoryGoalConstPtr& g) {
    g->trajectory.points.back().time_from_start.sleep();
    s->setSucceeded();
  }, false);
  s = &server;
  server.start();
  ros::NodeHandle n;
  auto out = n.advertise<JointState>("/joint_states", 1000);
  for (ros::WallRate rate(100); ros::ok(); rate.sleep()) out.publish(stamped(0));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  std::string name = what == "client" ? "peer_cpp" : "peer_" + what;
  std::replace(name.begin(), name.end(), '-', '_');
  ros::init(argc, argv, name);
  ros::NodeHandle n;
  ros::AsyncSpinner spin(2);
  spin.start();
  if (what == "client") client();
  else if (what == "measure-echo") measureEcho(n);
  else if (what == "measure-joints") measureJoints(n);
  else if (what == "measure-goals") measureGoals();
  else if (what == "echo") echo(n);
  else if (what == "joints") joints(n);
  else if (what == "serve") serve();
  else return 2;
  std::fflush(stdout);
  std::_Exit(0);
}
