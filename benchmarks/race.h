// A race: one row of docs/performance/. Tenon's kernel, the floor it is measured against (the
// least work that any program must do) and a peer library run in turn, so that all of them meet the
// same machine; the least and the median time of each go to the JSON as counters.
//
// Everybody runs in batches of at least two milliseconds, after a call that warms the caches when
// calls are short. One-thread races count the CPU time of the thread, which others on the machine
// disturb least; those of two threads the time on the wall. `prepare` makes the contestants, and
// checks their results, before any clock runs.
//
//   races.push_back({.table = "elementwise", .name = "add", .threads = 2, .bytes = 12.0 * n,
//                    .aim = {.of_floor = 0.9}, .prepare = [] { return Contestants{...}; }});
//   return RunRaces(races, argc, argv);
#ifndef TENON_BENCHMARKS_RACE_H_
#define TENON_BENCHMARKS_RACE_H_

#include <functional>
#include <string>
#include <vector>

#include "tenon/support/ndarray.h"

namespace tenon::benchmarks {

enum class Role { kTenon, kFloor, kPeer };

struct Contestant {
  Role role;
  std::string what;  // for people: "copy", "onednn brgconv:avx512_core"
  std::function<void()> call;
};

using Contestants = std::vector<Contestant>;

// What Tenon's time should come to; 0: nothing is asked for.
struct Aim {
  double of_floor = 0;  // floor's time / Tenon's time, at least
  double of_peer = 0;   // peer's time / Tenon's time, at least
  double seconds = 0;   // Tenon's time, at most
};

struct Race {
  std::string table;
  std::string name;
  int threads = 1;
  double bytes = 0;  // moved in a call, for GB/s; 0: does not matter
  double flops = 0;  // done in a call, for GFLOP/s; 0: does not matter
  Aim aim;
  // At most one contestant a role. What it throws becomes the row's error.
  std::function<Contestants()> prepare;
};

// The race on one thread and on two.
void AddOnOneAndTwoThreads(std::vector<Race>& races, Race race);

// Threads for a floor that moves `bytes`: one for what fits a second-level cache, where starting
// another would cost more than it saves.
int FloorThreads(double bytes, int threads);

// Throws with the first element where |ours - expected| > tolerance * (1 + |expected|). Float32,
// both of one size.
void RequireClose(const NDArray& ours, const NDArray& expected, double tolerance);
// Throws `message` unless `condition` holds.
void Require(bool condition, const std::string& message);

// Values in [-1, 1) that depend on the position and the seed only.
NDArray RandomArray(const Shape& shape, int seed = 1);

// The main program: registers every race as "table/name/threads:N" and runs what the arguments ask
// for: Google Benchmark's flags and --rounds=N (how often everybody runs, 20).
int RunRaces(const std::vector<Race>& races, int argc, char** argv);

}  // namespace tenon::benchmarks

#endif  // TENON_BENCHMARKS_RACE_H_
