// The side of Fast DDS in tools/peers/ros2/bench. Between two of its own it takes shared memory,
// as it does by itself; with UDP=1 in its environment UDP alone.
//
//	fastdds ping WRITE READ | echo READ WRITE | hold COUNT
#include <fstream>

#include "fastdds.hpp"

static const std::string text = "std_msgs::msg::dds_::String_";
static const int trips = 2000, burst = 5000, under_way = 100;

static double seconds(Clock::duration d) { return std::chrono::duration<double>(d).count(); }

struct Echo : DataReaderListener {
  DataWriter* out = nullptr;
  void on_data_available(DataReader* r) override {
    Bytes b;
    SampleInfo info;
    while (r->take_next_sample(&b, &info) == ReturnCode_t::RETCODE_OK)
      if (info.valid_data) out->write(&b);
  }
};

// Count counts what comes back.
struct Count : DataReaderListener {
  std::mutex m;
  std::condition_variable changed;
  int came = 0, used = 0;
  void on_data_available(DataReader* r) override {
    Bytes b;
    SampleInfo info;
    while (r->take_next_sample(&b, &info) == ReturnCode_t::RETCODE_OK)
      if (info.valid_data) {
        std::lock_guard<std::mutex> l(m);
        came++;
        changed.notify_one();
      }
  }
  bool within(int milliseconds) {
    std::unique_lock<std::mutex> l(m);
    if (!changed.wait_for(l, std::chrono::milliseconds(milliseconds), [this] { return came > used; })) return false;
    used++;
    return true;
  }
  void next() { check(within(60000), "a sample does not come back"); }
};

static void put(DataWriter* w, int i) {
  char number[9];
  snprintf(number, sizeof number, "%08d", i);
  Out o;
  o.text(number + std::string(187, 'x'));
  check(w->write(&o.b), "a sample is not sent");
}

static void ping(const char* out, const char* in) {
  auto began = Clock::now();
  join();
  Count count;
  auto* w = writer(out, text, false, 10000);
  reader(in, text, false, 1000, &count);
  do {
    check(seconds(Clock::now() - began) < 60, "no echo within a minute");
    put(w, 0);
  } while (!count.within(1));
  double found = seconds(Clock::now() - began);
  while (count.within(300)) {
  }
  std::vector<double> took;
  for (int i = 0; i < trips; i++) {
    auto sent = Clock::now();
    put(w, i);
    count.next();
    took.push_back(seconds(Clock::now() - sent));
  }
  std::sort(took.begin(), took.end());
  began = Clock::now();
  for (int i = 0; i < burst; i++) {
    put(w, i);
    if (i >= under_way) count.next();
  }
  for (int i = 0; i < under_way; i++) count.next();
  printf("%g %g %g %g\n", found, took[trips / 2], took[trips * 99 / 100], burst / seconds(Clock::now() - began));
  leave();
}

static void hold(int count) {
  join();
  for (int i = 0; i < count / 2; i++) {
    writer("rt/out_" + std::to_string(i), text);
    reader("rt/in_" + std::to_string(i), text, false, 100, nullptr);
  }
  std::this_thread::sleep_for(std::chrono::seconds(2));
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (word == "VmRSS:") {
      status >> word;
      std::cout << word << std::endl;
    }
  _Exit(0);
}

int main(int argc, char** argv) {
  check(argc > 2, "ping WRITE READ | echo READ WRITE | hold COUNT");
  longest = 1 << 10;
  std::string role = argv[1];
  if (role == "hold") hold(atoi(argv[2]));
  if (role == "ping") {
    ping(argv[2], argv[3]);
    return 0;
  }
  join();
  Echo echo;
  echo.out = writer(argv[3], text, false, 10000);
  reader(argv[2], text, false, 1000, &echo);
  std::cout << "ready" << std::endl;
  for (char c; std::cin.get(c);) {
  }
  leave();
  return 0;
}
