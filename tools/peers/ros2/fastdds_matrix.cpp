// Both sides of the matrix on Fast DDS, as rmw_fastrtps speaks it (README.md says what they do): a
// robot for Poise as its client, and a client of a robot that Poise serves.
#include <atomic>

#include "fastdds.hpp"

static const std::string jointState = "sensor_msgs::msg::dds_::JointState_", string = "std_msgs::msg::dds_::String_";
static const std::string at = "/arm/follow_joint_trajectory/_action/", follow = "control_msgs::action::dds_::FollowJointTrajectory_";
static const std::string cancelGoal = "action_msgs::srv::dds_::CancelGoal", setBool = "std_srvs::srv::dds_::SetBool";
static const int many = 20000;  // samples that are kept: a busy machine may read late
static const int lease = 5;     // s, so that a test sees the end of one that was killed

// Served is a service as rmw_fastrtps has it: an answer names the reader that the request names, or
// its writer, and waits until there is that reader.
struct Served : DataWriterListener {
  std::mutex m;
  std::set<GUID_t> readers;
  Inbox in;
  DataWriter* writer;
  Served(const std::string& name, const std::string& type) : in("rq" + name + "Request", type + "_Request_") {
    writer = ::writer("rr" + name + "Reply", type + "_Response_", false, 100, this);
  }
  void on_publication_matched(DataWriter*, const PublicationMatchedStatus& s) override {
    std::lock_guard<std::mutex> l(m);
    GUID_t g = eprosima::fastrtps::rtps::iHandle2GUID(s.last_subscription_handle);
    if (s.current_count_change > 0) readers.insert(g);
    else readers.erase(g);
  }
  bool ready(const Came& q) {
    GUID_t g = q.related.writer_guid();
    std::lock_guard<std::mutex> l(m);
    return g == GUID_t::unknown() || readers.count(g);
  }
  void answer(const Came& q, Bytes b) {
    for (int i = 0; i < 1000 && !ready(q); i++) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    WriteParams p;
    p.related_sample_identity() = q.from;
    if (q.related.writer_guid() != GUID_t::unknown()) p.related_sample_identity().writer_guid(q.related.writer_guid());
    check(writer->write(&b, p), "an answer is not sent");
  }
};

static Bytes state(int number, double position) {
  Out o;
  o.put(int32_t(number));
  o.put(uint32_t(0));
  o.text("");
  o.put(uint32_t(1));
  o.text("knee");
  o.put(uint32_t(1));
  o.put(position);
  o.put(uint32_t(0));
  o.put(uint32_t(0));
  return o.b;
}

static Bytes text(const std::string& s) {
  Out o;
  o.text(s);
  return o.b;
}

struct Running {
  Bytes id;
  std::string joint;
  Clock::time_point end;
  int8_t status;
};

static Bytes feedbackOf(const Running& g) {
  Out o;
  id(o, g.id);
  o.header();
  o.put(uint32_t(1));
  o.text(g.joint);
  for (int point = 0; point < 3; point++)
    for (int i = 0; i < 6; i++) o.put(uint32_t(0));  // four lists, and a time
  o.put(uint32_t(0));
  for (int point = 0; point < 3; point++)
    for (int i = 0; i < 5; i++) o.put(uint32_t(0));
  return o.b;
}

// readGoal reads the first joint and the time of the last point.
static Running readGoal(const Bytes& b) {
  In in{b};
  in.at += 16;
  Running g{Bytes(b.begin() + 4, b.begin() + 20), "", Clock::now(), 2};
  in.get<int32_t>();
  in.get<uint32_t>();
  in.text();
  for (uint32_t i = 0, n = in.get<uint32_t>(); i < n; i++) {
    std::string name = in.text();
    if (i == 0) g.joint = name;
  }
  int32_t seconds = 0;
  for (uint32_t i = 0, n = in.get<uint32_t>(); i < n; i++) {
    for (int list = 0; list < 4; list++)
      for (uint32_t k = 0, m = in.get<uint32_t>(); k < m; k++) in.get<double>();
    seconds = in.get<int32_t>();
    in.get<uint32_t>();
  }
  g.end += std::chrono::seconds(seconds);
  return g;
}

// untilInputEnds calls f until the standard input ends.
template <class F> void untilInputEnds(F f) {
  std::atomic<bool> over{false};
  std::thread input([&] { while (std::cin.get() != EOF) {} over = true; });
  input.detach();
  while (!over) f();
}

static int robot() {
  join(lease);
  auto* states = writer("rt/joint_states", jointState, false, many);
  auto* description = writer("rt/robot_description", string, true, 1);
  Bytes urdf = text("<robot/>");
  description->write(&urdf);
  Inbox commands("rt/joint_commands", jointState, false, many);
  Served home("/home", setBool), send(at + "send_goal", follow + "SendGoal"), result(at + "get_result", follow + "GetResult"), cancel(at + "cancel_goal", cancelGoal);
  auto* feedback = writer("rt" + at + "feedback", follow + "FeedbackMessage_");
  auto* status = writer("rt" + at + "status", "action_msgs::msg::dds_::GoalStatusArray_", true, 1);
  std::vector<Running> goals;
  std::vector<Came> waiting;
  auto tell = [&] {
    Out o;
    o.put(uint32_t(goals.size()));
    for (auto& g : goals) {
      id(o, g.id);
      o.put(int32_t(0));
      o.put(uint32_t(0));
      o.put(g.status);
    }
    status->write(&o.b);
  };
  int number = 0, heard = 0, jumps = 0, last = -1;
  auto began = Clock::now(), told = began;
  printf("ready\n");
  fflush(stdout);
  untilInputEnds([&] {
    auto now = Clock::now();
    for (; number < std::chrono::duration<double>(now - began).count() * 1000; number++) {
      Bytes b = state(number, 0.5);
      states->write(&b);
    }
    for (auto& c : commands.take()) {
      In in{c.data};
      int n = in.get<int32_t>();
      heard++;
      jumps += n != last + 1;
      last = n;
    }
    for (auto& q : home.in.take()) {
      Out o;
      o.put(q.data[4]);
      o.text(std::to_string(heard) + " commands, " + std::to_string(jumps) + " jumps");
      home.answer(q, o.b);
    }
    for (auto& q : send.in.take()) {
      Running g = readGoal(q.data);
      if (g.joint != "refuse") {
        goals.push_back(g);
        tell();
      }
      Out o;
      o.put(uint8_t(g.joint != "refuse"));
      o.put(int32_t(0));
      o.put(uint32_t(0));
      send.answer(q, o.b);
    }
    for (auto& q : cancel.in.take()) {
      Bytes which(q.data.begin() + 4, q.data.begin() + 20), all(16);
      std::vector<Bytes> ends;
      for (auto& g : goals)
        if (g.status == 2 && (g.id == which || which == all)) {
          g.status = 5;
          ends.push_back(g.id);
        }
      tell();
      Out o;
      o.put(int8_t(ends.empty() && which != all ? 2 : 0));
      o.put(uint32_t(ends.size()));
      for (auto& e : ends) {
        id(o, e);
        o.put(int32_t(0));
        o.put(uint32_t(0));
      }
      cancel.answer(q, o.b);
    }
    for (auto& q : result.in.take()) waiting.push_back(q);
    if (now - told > std::chrono::milliseconds(20)) {
      told = now;
      for (auto& g : goals) {
        if (g.status != 2) continue;
        Bytes b = feedbackOf(g);
        feedback->write(&b);
        if (now > g.end) {
          g.status = 4;
          tell();
        }
      }
    }
    for (size_t i = 0; i < waiting.size();) {
      int8_t ended = 0;
      bool under = false;
      for (auto& g : goals)
        if (!memcmp(g.id.data(), &waiting[i].data[4], 16)) {
          ended = g.status;
          under = g.status < 4;
        }
      if (under) {
        i++;
        continue;
      }
      Out o;
      o.put(ended);
      o.put(int32_t(0));
      o.text("");
      result.answer(waiting[i], o.b);
      waiting.erase(waiting.begin() + i);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(500));
  });
  leave();
  return 0;
}

// stateOf returns the state of a goal in a list of all, 0 if it is not in it.
static int stateOf(const Bytes& list, const Bytes& which) {
  In in{list};
  for (uint32_t i = 0, n = in.get<uint32_t>(); i < n; i++) {
    bool same = !memcmp(&list[in.at], which.data(), 16);
    in.at += 16;
    in.get<int32_t>();
    in.get<uint32_t>();
    int8_t state = in.get<int8_t>();
    if (same) return state;
  }
  return 0;
}

// use sends a goal that ends, one that is refused and one that is cancelled.
static void useAction(Service& send, Service& result, Service& cancel, Inbox& feedback) {
  Bytes one;
  check(send.again([&] { one = uuid(); return goal(one, {"knee"}, {0.1}, 1, 0); })[4] == 1, "a goal is not accepted");
  Bytes r = result.again([&] { Out o; id(o, one); return o.b; });
  check(r[4] == 4, "a goal ends by " + std::to_string(r[4]));
  feedback.until("feedback of the goal", [&] {
    for (auto& c : feedback.all)
      if (!memcmp(&c.data[4], one.data(), 16)) return true;
    return false;
  });
  Inbox late("rt" + at + "status", "action_msgs::msg::dds_::GoalStatusArray_", true, 1);  // comes after the goal
  late.until("the state of a goal that is over, for one who comes late", [&] {
    for (auto& c : late.all)
      if (stateOf(c.data, one) == 4) return true;
    return false;
  });
  subscriber->delete_datareader(late.reader);
  check(send.call(goal(uuid(), {"refuse"}, {0}, 1, 0))[4] == 0, "a goal that is refused is accepted");
  Bytes two = uuid();
  check(send.call(goal(two, {"knee"}, {0.1}, 600, 0))[4] == 1, "a second goal is not accepted");
  Out q;
  id(q, two);
  auto asked = result.send(q.b);
  q.put(int32_t(0));
  q.put(uint32_t(0));
  int code = cancel.again([&] { return q.b; })[4];  // it may have ended by a request whose answer came late
  check(code == 0 || code == 3, "a goal is not cancelled: " + std::to_string(code));
  Bytes ended = result.answer(asked);
  check(ended[4] == 5, "a cancelled goal ends by " + std::to_string(ended[4]));
}

static int client() {
  join(lease);
  Inbox states("rt/joint_states", jointState, false, many);
  for (int count = 0, jumps = 0, last = -1; count < 3000;) {
    states.until("3000 states", [&] { return !states.all.empty(); });
    for (auto& c : states.take()) {
      In in{c.data};
      int now = in.get<int32_t>();
      if (last >= 0 && now != last + 1) {
        // until the server knows this reader it hears what goes to one at the same address that was killed
        check(++jumps == 1, "state " + std::to_string(now) + " comes after " + std::to_string(last));
        count = 0;
      }
      last = now;
      count++;
    }
  }
  subscriber->delete_datareader(states.reader);
  Inbox late("rt/robot_description", string, true, 1);
  late.until("what is latched", [&] { return !late.all.empty(); });
  In urdf{late.all[0].data};
  check(urdf.text() == "<robot/>", "another text is latched");

  Service home("/home", setBool), send(at + "send_goal", follow + "SendGoal"), result(at + "get_result", follow + "GetResult"), cancel(at + "cancel_goal", cancelGoal);
  Inbox feedback("rt" + at + "feedback", follow + "FeedbackMessage_", false, 1000), status("rt" + at + "status", "action_msgs::msg::dds_::GoalStatusArray_", true, 1);
  auto* commands = writer("rt/joint_commands", jointState, false, many);
  matched(commands, "a reader of commands", [] { return true; });
  auto began = Clock::now();
  for (int i = 0; i < 1000; i++) {
    std::this_thread::sleep_until(began + std::chrono::milliseconds(i));
    Bytes b = state(i, 0.25);
    commands->write(&b);
  }
  std::string heard;
  for (int i = 0; i < 600 && heard != "1000 commands, 0 jumps"; i++) {
    Bytes a = home.again([] { Out o; o.put(uint8_t(1)); return o.b; });
    In in{a};
    check(in.get<uint8_t>() == 1, "/home fails");
    heard = in.text();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  check(heard == "1000 commands, 0 jumps", "the server has heard " + heard);
  feedback.until("feedback to match", [&] { return feedback.matched > 0; });
  for (std::string line = "again"; line == "again"; std::getline(std::cin, line)) {
    home.again([] { Out o; o.put(uint8_t(1)); return o.b; });
    useAction(send, result, cancel, feedback);
    status.until("a status", [&] { return !status.all.empty(); });
    printf("done\n");
    fflush(stdout);
  }
  leave();
  return 0;
}

int matrix(const std::string& role) {
  if (role == "robot") return robot();
  check(role == "client", "no side of the matrix is called " + role);
  return client();
}
