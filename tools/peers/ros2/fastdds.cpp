// A ROS 2 client on Fast DDS, as rmw_fastrtps speaks it, that uses a robot of poise serve --ros2:
// joint_states, FollowJointTrajectory to its end and cancelled, and stops. It prints what it
// sees, and exits with 1 at the first thing that is not as it should be. Types are Jazzy's.
// With "robot" or "client" it is one side of the matrix instead (README.md).
#include "fastdds.hpp"

int matrix(const std::string& role);  // fastdds_matrix.cpp

int main(int argc, char** argv) {
  if (argc > 1) return matrix(argv[1]);
  join();

  Inbox states("rt/joint_states", "sensor_msgs::msg::dds_::JointState_");
  states.until("a hundred joint_states", [&] { return states.all.size() >= 100; });
  std::vector<std::string> names;
  std::vector<double> start;
  {
    std::lock_guard<std::mutex> l(states.m);
    In in{states.all[0].data};
    in.get<int32_t>();
    in.get<uint32_t>();
    in.text();
    std::vector<std::string> all(in.get<uint32_t>());
    for (auto& n : all) n = in.text();
    uint32_t count = in.get<uint32_t>();
    check(count == all.size(), "joint_states has other positions than names");
    for (auto& n : all) {
      double x = in.get<double>();
      if (n.find("finger") == std::string::npos) { names.push_back(n); start.push_back(x); }
    }
  }
  printf("joint_states: %zu joints of the arm\n", names.size());

  Inbox description("rt/robot_description", "std_msgs::msg::dds_::String_", true);
  description.until("robot_description", [&] { return !description.all.empty(); });

  const std::string at = "/follow_joint_trajectory/_action/", type = "control_msgs::action::dds_::FollowJointTrajectory_";
  Service send(at + "send_goal", type + "SendGoal"), result(at + "get_result", type + "GetResult"), cancel(at + "cancel_goal", "action_msgs::srv::dds_::CancelGoal");
  Inbox feedback("rt" + at + "feedback", type + "FeedbackMessage_");
  Inbox status("rt" + at + "status", "action_msgs::msg::dds_::GoalStatusArray_", true);
  feedback.until("feedback to match", [&] { return feedback.matched > 0; });

  Bytes one = uuid();
  check(send.call(goal(one, names, start, 1, 0.05))[4] == 1, "a goal is not accepted");
  Out q;
  id(q, one);
  Bytes r = result.call(q.b);
  In in{r};
  int ended = in.get<int8_t>(), code = in.get<int32_t>();
  check(ended == 4 && code == 0, "a goal ends by " + std::to_string(ended) + ", " + std::to_string(code));
  status.until("the last state of the goal", [&] {
    for (auto& c : status.all)
      for (size_t i = 8; i + 24 < c.data.size(); i++)
        if (!memcmp(&c.data[i], one.data(), 16) && c.data[i + 24] == 4) return true;
    return false;
  });
  {
    std::lock_guard<std::mutex> l(feedback.m);
    check(!feedback.all.empty(), "no feedback");
    printf("goal: %d, %zu feedbacks\n", ended, feedback.all.size());
  }

  for (auto& x : start) x += 0.05;
  Bytes two = uuid();
  check(send.call(goal(two, names, start, 20, 0.2))[4] == 1, "a second goal is not accepted");
  Out q2;
  id(q2, two);
  auto asked = result.send(q2.b);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  Out q3;
  id(q3, two);
  q3.put(int32_t(0));
  q3.put(uint32_t(0));
  Bytes c = cancel.call(q3.b);
  check(c[4] == 0, "cancel answers " + std::to_string(c[4]));
  Bytes r2 = result.answer(asked);
  check(r2[4] == 5, "a cancelled goal ends by " + std::to_string(r2[4]));
  printf("cancelled: %d\n", r2[4]);

  check(send.call(goal(uuid(), {"no_such_joint"}, {0}, 1, 0.1))[4] == 0, "a goal for an unknown joint is accepted");
  printf("refused\n");

  Service stop("/stop", "poise_msgs::srv::dds_::Stop");
  std::vector<double> took;
  for (int i = 0; i < 20; i++) {
    auto began = Clock::now();
    Out o;
    o.put(uint8_t(2));
    check(stop.call(o.b)[4] == 1, "stop fails");
    took.push_back(std::chrono::duration<double, std::milli>(Clock::now() - began).count());
  }
  std::sort(took.begin(), took.end());
  printf("stop: 20 calls, p50 %.2f ms\n", took[10]);
  leave();
  return 0;
}
