// Timing shared by the peers' programs: the smallest mean over batches of calls
// on a pool of inputs, printed as a line of Go's benchmark format so that both
// sides are read by one reader.
#pragma once
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

constexpr int pool = 256;

// seconds of measuring for each figure; POISE_PEERS_SECONDS changes it.
inline double seconds() {
  const char* s = std::getenv("POISE_PEERS_SECONDS");
  return s ? std::atof(s) : 0.4;
}

// report times call(i), i in [0, pool), and prints ns per call.
template <typename F>
void report(const std::string& peer, const std::string& what, const std::string& robot, F call) {
  using clock = std::chrono::steady_clock;
  for (int i = 0; i < pool; ++i) call(i);
  double best = 1e300;
  long calls = 0;
  const auto end = clock::now() + std::chrono::duration<double>(seconds());
  do {
    const auto t0 = clock::now();
    for (int i = 0; i < pool; ++i) call(i);
    const double ns = std::chrono::duration<double, std::nano>(clock::now() - t0).count() / pool;
    calls += pool;
    if (ns < best) best = ns;
  } while (clock::now() < end);
  std::printf("BenchmarkPeer/%s/%s/%s %ld %.1f ns/op\n", peer.c_str(), what.c_str(), robot.c_str(), calls, best);
  std::fflush(stdout);
}

// reportLeast times each of `count` problems alone, again and again, and prints the mean over
// the problems of the smallest time of each: what short interruptions disturb least.
template <typename F>
void reportLeast(const std::string& peer, const std::string& what, const std::string& problems, int count, F call) {
  using clock = std::chrono::steady_clock;
  double sum = 0;
  const double each = seconds() / count;
  for (int i = 0; i < count; ++i) {
    double best = 1e300;
    const auto end = clock::now() + std::chrono::duration<double>(each);
    for (int k = 0; k < 20 || clock::now() < end; ++k) {
      const auto t0 = clock::now();
      call(i);
      const double ns = std::chrono::duration<double, std::nano>(clock::now() - t0).count();
      if (ns < best) best = ns;
    }
    sum += best;
  }
  std::printf("BenchmarkPeer/%s/%s/%s %d %.1f ns/op\n", peer.c_str(), what.c_str(), problems.c_str(), count, sum / count);
  std::fflush(stdout);
}
