// What the programs on Fast DDS here share: raw CDR as a type, readers, and the calls of services as
// rmw_fastrtps makes and answers them.
#pragma once
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/DataWriterListener.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/DataReaderListener.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/dds/topic/TopicDataType.hpp>
#include <fastdds/dds/topic/TypeSupport.hpp>
#include <fastdds/rtps/transport/UDPv4TransportDescriptor.h>

using namespace eprosima::fastdds::dds;
using eprosima::fastrtps::rtps::GUID_t;
using eprosima::fastrtps::rtps::SampleIdentity;
using eprosima::fastrtps::rtps::SerializedPayload_t;
using eprosima::fastrtps::rtps::WriteParams;
using Bytes = std::vector<uint8_t>;
using Clock = std::chrono::steady_clock;

inline void check(bool ok, const std::string& what) {
  if (ok) return;
  printf("failed: %s\n", what.c_str());
  fflush(stdout);
  _Exit(1);
}

inline uint32_t longest = 1 << 20;  // sample, in bytes; room is made for it

// Raw carries CDR as it is, of a type by its name.
class Raw : public TopicDataType {
 public:
  explicit Raw(const std::string& name) {
    setName(name.c_str());
    m_typeSize = longest;
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

inline DomainParticipant* participant;
inline Publisher* publisher;
inline Subscriber* subscriber;

// join enters domain 0, by UDP alone if that is asked for. A participant that says nothing for so many
// seconds is taken for gone.
inline void join(int lease = 20) {
  DomainParticipantQos q = PARTICIPANT_QOS_DEFAULT;
  q.wire_protocol().builtin.discovery_config.leaseDuration = eprosima::fastrtps::Duration_t(lease, 0);
  q.wire_protocol().builtin.discovery_config.leaseDuration_announcementperiod = eprosima::fastrtps::Duration_t(lease < 9 ? 1 : 3, 0);
  if (getenv("UDP")) {
    q.transport().use_builtin_transports = false;
    q.transport().user_transports.push_back(std::make_shared<eprosima::fastdds::rtps::UDPv4TransportDescriptor>());
  }
  participant = DomainParticipantFactory::get_instance()->create_participant(0, q);
  check(participant != nullptr, "no participant");
  publisher = participant->create_publisher(PUBLISHER_QOS_DEFAULT);
  subscriber = participant->create_subscriber(SUBSCRIBER_QOS_DEFAULT);
}

// leave tells the others.
inline void leave() {
  fflush(stdout);
  participant->delete_contained_entities();
  DomainParticipantFactory::get_instance()->delete_participant(participant);
}

inline Topic* topic(const std::string& name, const std::string& type) {
  if (auto* known = dynamic_cast<Topic*>(participant->lookup_topicdescription(name))) return known;
  TypeSupport support(new Raw(type));
  participant->register_type(support);
  auto* t = participant->create_topic(name, type, TOPIC_QOS_DEFAULT);
  check(t != nullptr, "no topic " + name);
  return t;
}

// with gives an endpoint its quality of service: reliable, and latched or not.
template <class Q> Q with(Q q, bool latched, int depth) {
  q.reliability().kind = RELIABLE_RELIABILITY_QOS;
  q.durability().kind = latched ? TRANSIENT_LOCAL_DURABILITY_QOS : VOLATILE_DURABILITY_QOS;
  q.history().depth = depth;
  q.resource_limits().max_samples = q.resource_limits().max_samples_per_instance = std::max(5000, depth);
  return q;
}

inline DataWriter* writer(const std::string& name, const std::string& type, bool latched = false, int depth = 100, DataWriterListener* listener = nullptr) {
  auto* w = publisher->create_datawriter(topic(name, type), with(DATAWRITER_QOS_DEFAULT, latched, depth), listener);
  check(w != nullptr, "no writer of " + name);
  return w;
}

inline DataReader* reader(const std::string& name, const std::string& type, bool latched, int depth, DataReaderListener* listener) {
  auto* r = subscriber->create_datareader(topic(name, type), with(DATAREADER_QOS_DEFAULT, latched, depth), listener);
  check(r != nullptr, "no reader of " + name);
  return r;
}

// matched waits for a reader of what is written.
inline void matched(DataWriter* w, const std::string& what, const std::function<bool()>& more) {
  for (int i = 0; i < 60000; i++) {
    PublicationMatchedStatus s;
    w->get_publication_matched_status(s);
    if (s.current_count > 0 && more()) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  check(false, "not there: " + what);
}

struct Came {
  Bytes data;
  SampleIdentity from, related;
};

// Inbox collects the samples of a reader.
struct Inbox : DataReaderListener {
  std::mutex m;
  std::condition_variable changed;
  std::vector<Came> all;
  DataReader* reader;
  int matched = 0;
  Inbox(const std::string& name, const std::string& type, bool latched = false, int depth = 100) {
    reader = ::reader(name, type, latched, depth, this);  // last: it calls back at once
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
        all.push_back({b, info.sample_identity, info.related_sample_identity});
        changed.notify_all();
      }
  }
  template <class F> bool within(int seconds, F f) {
    std::unique_lock<std::mutex> l(m);
    return changed.wait_for(l, std::chrono::seconds(seconds), f);
  }
  template <class F> void until(const std::string& what, F f) { check(within(60, f), "not within 60 s: " + what); }
  std::vector<Came> take() {
    std::lock_guard<std::mutex> l(m);
    std::vector<Came> out;
    out.swap(all);
    return out;
  }
};

// Service calls as rmw_fastrtps does: a request names the reader of its answer.
struct Service {
  Inbox in;
  DataWriter* writer;
  Service(const std::string& name, const std::string& type) : in("rr" + name + "Reply", type + "_Response_"), writer(::writer("rq" + name + "Request", type + "_Request_")) {
    matched(writer, name, [this] { std::lock_guard<std::mutex> l(in.m); return in.matched > 0; });
  }
  SampleIdentity send(Bytes b) {
    WriteParams p;
    p.related_sample_identity().writer_guid(in.reader->guid());
    check(writer->write(&b, p), "a request is not sent");
    return p.sample_identity();
  }
  bool answered(const SampleIdentity& id, int seconds, Bytes& got) {
    return in.within(seconds, [&] {
      for (auto& c : in.all)
        if (c.related.sequence_number() == id.sequence_number() && (c.related.writer_guid() == in.reader->guid() || c.related.writer_guid() == id.writer_guid())) {
          got = c.data;
          return true;
        }
      return false;
    });
  }
  Bytes answer(const SampleIdentity& id) {
    Bytes got;
    check(answered(id, 60, got), "not within 60 s: an answer");
    return got;
  }
  Bytes call(Bytes b) { return answer(send(std::move(b))); }
  // again calls until there is an answer: a server that has just come may not know the caller.
  Bytes again(const std::function<Bytes()>& make) {
    Bytes got;
    for (int i = 0; i < 30; i++)
      if (answered(send(make()), 2, got)) return got;
    check(false, "not within 60 s: an answer of a server that came again");
    return got;
  }
};

inline void id(Out& o, const Bytes& uuid) { o.b.insert(o.b.end(), uuid.begin(), uuid.end()); }

inline Bytes goal(const Bytes& uuid, const std::vector<std::string>& names, const std::vector<double>& start, int seconds, double step) {
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

inline Bytes uuid() {
  static std::random_device r;
  Bytes b(16);
  for (auto& x : b) x = r();
  return b;
}

