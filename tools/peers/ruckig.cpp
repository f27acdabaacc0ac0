// Times Ruckig on the tasks of ruckig/main.go, which makes the same numbers.
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <ruckig/ruckig.hpp>

using clock_type = std::chrono::steady_clock;

constexpr size_t axes = 7;
constexpr int pool = 256;

// uniform numbers in [0, 1): the same generator as in ruckig/main.go
struct Random {
  uint64_t state = 1;
  double next() {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return double(state >> 11) / double(1ull << 53);
  }
  double between(double lo, double hi) { return lo + (hi - lo) * next(); }
};

std::vector<ruckig::InputParameter<axes>> tasks(bool moving) {
  Random r;
  std::vector<ruckig::InputParameter<axes>> all(pool);
  for (auto& t : all)
    for (size_t i = 0; i < axes; ++i) {
      t.max_velocity[i] = r.between(0.5, 4);
      t.max_acceleration[i] = r.between(0.5, 8);
      t.max_jerk[i] = r.between(1, 40);
      t.current_position[i] = r.between(-3, 3);
      t.target_position[i] = r.between(-3, 3);
      const double v = r.between(-0.5, 0.5), a = r.between(-0.5, 0.5);
      t.current_velocity[i] = moving ? v : 0;
      t.current_acceleration[i] = moving ? a : 0;
      t.target_velocity[i] = t.target_acceleration[i] = 0;
    }
  return all;
}

int main() {
  const char* s = std::getenv("POISE_PEERS_SECONDS");
  const double seconds = s ? std::atof(s) : 0.4;
  for (const bool moving : {false, true}) {
    const auto all = tasks(moving);
    ruckig::Ruckig<axes> solver;
    ruckig::Trajectory<axes> motion;
    double best = 1e300, sum = 0;
    long calls = 0;
    const auto end = clock_type::now() + std::chrono::duration<double>(seconds);
    do {
      sum = 0;
      const auto begin = clock_type::now();
      for (const auto& t : all) {
        solver.calculate(t, motion);
        sum += motion.get_duration();
      }
      const double ns = std::chrono::duration<double, std::nano>(clock_type::now() - begin).count() / pool;
      calls += pool;
      if (ns < best) best = ns;
    } while (clock_type::now() < end);
    std::printf("BenchmarkPeer/ruckig/%s/%zu-axes %ld %.1f ns/op %.9f s-in-all\n", moving ? "moving-to-rest" : "rest-to-rest", axes, calls, best, sum);

    // one sample of all axes
    std::array<double, axes> p, v, a;
    const double T = motion.get_duration();
    double sink = 0;
    best = 1e300;
    for (int k = 0; k < 200; ++k) {
      const auto begin = clock_type::now();
      for (int i = 0; i < pool; ++i) {
        motion.at_time(T * i / pool, p, v, a);
        sink += p[0] + v[axes - 1];
      }
      const double ns = std::chrono::duration<double, std::nano>(clock_type::now() - begin).count() / pool;
      if (ns < best) best = ns;
    }
    if (sink == 0.123) std::puts("");
    std::printf("BenchmarkPeer/ruckig/sample-%s/%zu-axes %d %.1f ns/op\n", moving ? "moving" : "rest", axes, 200 * pool, best);
  }
}
