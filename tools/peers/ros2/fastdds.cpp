// A ROS 2 client on Fast DDS, as rmw_fastrtps speaks it, that uses a robot of poise serve --ros2:
// joint_states, FollowJointTrajectory to its end and cancelled, and stops. It prints what it
// sees, and exits with 1 at the first thing that is not as it should be. Types are Jazzy's.
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <algorithm>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/DataReaderListener.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/dds/topic/TopicDataType.hpp>
#include <fastdds/dds/topic/TypeSupport.hpp>

using namespace eprosima::fastdds::dds;
using eprosima::fastrtps::rtps::GUID_t;
using eprosima::fastrtps::rtps::SampleIdentity;
using eprosima::fastrtps::rtps::SerializedPayload_t;
using eprosima::fastrtps::rtps::WriteParams;
using Bytes = std::vector<uint8_t>;
using Clock = std::chrono::steady_clock;

static void check(bool ok, const std::string& what) {
  if (ok) return;
  printf("failed: %s\n", what.c_str());
  fflush(stdout);
  _Exit(1);
}

// Raw carries CDR as it is, of a type by its name.
class Raw : public TopicDataType {
 public:
  explicit Raw(const std::string& name) {
    setName(name.c_str());
    m_typeSize = 1 << 20;
    m_isGetKeyDefined = false;
  }
  bool serialize(void* data, SerializedPayload_t* p) override {
    auto& b = *static_cast<Bytes*>(data);
    memcpy(p->data, b.data(), b.size());
    p->length = b.size();
    p->encapsulation = CDR_LE;
    return true;
  }
  bool deserialize(SerializedPayload_t* p, void* data) override {
    static_cast<Bytes*>(data)->assign(p->data, p->data + p->length);
    return true;
  }
  std::function<uint32_t()> getSerializedSizeProvider(void* data) override {
    return [data] { return uint32_t(static_cast<Bytes*>(data)->size()); };
  }
  void* createData() override { return new Bytes; }
  void deleteData(void* data) override { delete static_cast<Bytes*>(data); }
  bool getKey(void*, eprosima::fastrtps::rtps::InstanceHandle_t*, bool) override { return false; }
};

// Out writes CDR, In reads it.
struct Out {
  Bytes b{0, 1, 0, 0};
  template <class T> void put(T x) {
    while ((b.size() - 4) % sizeof x) b.push_back(0);
    auto* p = reinterpret_cast<uint8_t*>(&x);
    b.insert(b.end(), p, p + sizeof x);
  }
  void text(const std::string& s) {
    put(uint32_t(s.size() + 1));
    b.insert(b.end(), s.c_str(), s.c_str() + s.size() + 1);
  }
  void header() { put(int32_t(0)); put(uint32_t(0)); text(""); }
};

struct In {
  const Bytes& b;
  size_t at = 4;
  template <class T> T get() {
    while ((at - 4) % sizeof(T)) at++;
    check(at + sizeof(T) <= b.size(), "an answer is too short");
    T x;
    memcpy(&x, &b[at], sizeof x);
    at += sizeof x;
    return x;
  }
  std::string text() {
    uint32_t n = get<uint32_t>();
    check(n > 0 && at + n <= b.size(), "a text is too long");
    std::string s(reinterpret_cast<const char*>(&b[at]), n - 1);
    at += n;
    return s;
  }
};

static DomainParticipant* participant;
static Publisher* publisher;
static Subscriber* subscriber;

static Topic* topic(const std::string& name, const std::string& type) {
  TypeSupport support(new Raw(type));
  participant->register_type(support);
  auto* t = participant->create_topic(name, type, TOPIC_QOS_DEFAULT);
  check(t != nullptr, "no topic " + name);
  return t;
}

struct Came {
  Bytes data;
  SampleIdentity related;
};

// Inbox collects the samples of a reader.
struct Inbox : DataReaderListener {
  std::mutex m;
  std::condition_variable changed;
  std::vector<Came> all;
  DataReader* reader;
  int matched = 0;
  Inbox(const std::string& name, const std::string& type, bool latched = false) {
    DataReaderQos q = DATAREADER_QOS_DEFAULT;
    q.reliability().kind = RELIABLE_RELIABILITY_QOS;
    q.history().depth = 100;
    if (latched) q.durability().kind = TRANSIENT_LOCAL_DURABILITY_QOS;
    reader = subscriber->create_datareader(topic(name, type), q, this);
    check(reader != nullptr, "no reader of " + name);
  }
  void on_subscription_matched(DataReader*, const SubscriptionMatchedStatus& s) override {
    std::lock_guard<std::mutex> l(m);
    matched = s.current_count;
    changed.notify_all();
  }
  void on_data_available(DataReader* r) override {
    Bytes b;
    SampleInfo info;
    while (r->take_next_sample(&b, &info) == ReturnCode_t::RETCODE_OK)
      if (info.valid_data) {
        std::lock_guard<std::mutex> l(m);
        all.push_back({b, info.related_sample_identity});
        changed.notify_all();
      }
  }
  template <class F> void until(const std::string& what, F f) {
    std::unique_lock<std::mutex> l(m);
    check(changed.wait_for(l, std::chrono::seconds(60), f), "not within 60 s: " + what);
  }
};

// Service calls as rmw_fastrtps does: a request names the reader of its answer.
struct Service {
  Inbox in;
  DataWriter* writer;
  Service(const std::string& name, const std::string& type) : in("rr" + name + "Reply", type + "_Response_") {
    DataWriterQos q = DATAWRITER_QOS_DEFAULT;
    q.reliability().kind = RELIABLE_RELIABILITY_QOS;
    q.durability().kind = VOLATILE_DURABILITY_QOS;
    writer = publisher->create_datawriter(topic("rq" + name + "Request", type + "_Request_"), q);
    check(writer != nullptr, "no writer of " + name);
    for (int i = 0; i < 60000; i++) {
      PublicationMatchedStatus s;
      writer->get_publication_matched_status(s);
      if (s.current_count > 0 && in.matched > 0) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    check(false, "not there: " + name);
  }
  SampleIdentity send(Bytes b) {
    WriteParams p;
    p.related_sample_identity().writer_guid(in.reader->guid());
    check(writer->write(&b, p), "a request is not sent");
    return p.sample_identity();
  }
  Bytes answer(const SampleIdentity& id) {
    Bytes got;
    in.until("an answer", [&] {
      for (auto& c : in.all)
        if (c.related.sequence_number() == id.sequence_number() && (c.related.writer_guid() == in.reader->guid() || c.related.writer_guid() == id.writer_guid())) {
          got = c.data;
          return true;
        }
      return false;
    });
    return got;
  }
  Bytes call(Bytes b) { return answer(send(std::move(b))); }
};

static void id(Out& o, const Bytes& uuid) { o.b.insert(o.b.end(), uuid.begin(), uuid.end()); }

static Bytes goal(const Bytes& uuid, const std::vector<std::string>& names, const std::vector<double>& start, int seconds, double step) {
  Out o;
  id(o, uuid);
  o.header();
  o.put(uint32_t(names.size()));
  for (auto& n : names) o.text(n);
  o.put(uint32_t(1));
  o.put(uint32_t(start.size()));
  for (double x : start) o.put(x + step);
  for (int i = 0; i < 3; i++) o.put(uint32_t(0));
  o.put(int32_t(seconds));
  o.put(uint32_t(0));
  o.header();
  for (int i = 0; i < 6; i++) o.put(uint32_t(0));
  o.put(int32_t(0));
  o.put(uint32_t(0));
  return o.b;
}

static Bytes uuid() {
  static std::random_device r;
  Bytes b(16);
  for (auto& x : b) x = r();
  return b;
}

int main() {
  participant = DomainParticipantFactory::get_instance()->create_participant(0, PARTICIPANT_QOS_DEFAULT);
  check(participant != nullptr, "no participant");
  publisher = participant->create_publisher(PUBLISHER_QOS_DEFAULT);
  subscriber = participant->create_subscriber(SUBSCRIBER_QOS_DEFAULT);

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
  fflush(stdout);
  participant->delete_contained_entities();
  DomainParticipantFactory::get_instance()->delete_participant(participant);
  return 0;
}
