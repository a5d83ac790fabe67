#include "tenon/benchmarks/race.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <optional>
#include <random>
#include <stdexcept>
#include <string_view>
#include <thread>

#include <benchmark/benchmark.h>

#include "tenon/jit/runtime/parallel_runtime.h"
#include "tenon/support/strings.h"

namespace tenon::benchmarks {
namespace {

// OpenMP's threads look for work this long before they sleep; a peer with threads of its own should
// not have to share the cores with them.
constexpr auto kRest = std::chrono::milliseconds(3);
constexpr double kSmallBytes = 1 << 20;
constexpr double kBatchSeconds = 2e-3;
// Calls shorter than this find their data in cache only when one goes before.
constexpr double kShortCall = 5e-4;
// A race that has taken this long ends after a few rounds.
constexpr double kEnoughSeconds = 5;
constexpr std::size_t kMinRounds = 5;
constexpr std::string_view kRoundsFlag = "--rounds=";

double SecondsBy(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// CPU time of this thread for races on one thread, else wall time.
double Now(int threads) {
  return SecondsBy(threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC);
}

double SecondsOf(const Contestant& contestant, std::int64_t calls, int threads) {
  const double start = Now(threads);
  for (std::int64_t i = 0; i < calls; ++i) contestant.call();
  return Now(threads) - start;
}

std::int64_t CallsOfABatch(const Contestant& contestant, int threads) {
  contestant.call();
  std::int64_t calls = 1;
  while (SecondsOf(contestant, calls, threads) < kBatchSeconds) calls *= 2;
  return calls;
}

std::string NameOf(Role role) {
  switch (role) {
    case Role::kTenon:
      return "tenon";
    case Role::kFloor:
      return "floor";
    case Role::kPeer:
      return "peer";
  }
  return "";
}

struct Times {
  std::int64_t calls = 0;
  std::vector<double> seconds;  // of a call, by round
};

void Report(const Race& race, const Contestants& contestants, std::vector<Times> times,
            benchmark::State& state) {
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < contestants.size(); ++i) {
    std::vector<double>& seconds = times[i].seconds;
    std::sort(seconds.begin(), seconds.end());
    const std::string name = NameOf(contestants[i].role);
    state.counters[name + "_min_s"] = seconds.front();
    state.counters[name + "_median_s"] = seconds[seconds.size() / 2];
    labels.push_back(StrCat(name, "=", contestants[i].what));
  }
  state.SetLabel(StrJoin(labels, "|"));
  const auto add_if = [&](const char* name, double value) {
    if (value != 0) state.counters[name] = value;
  };
  add_if("bytes", race.bytes);
  add_if("flops", race.flops);
  add_if("aim_of_floor", race.aim.of_floor);
  add_if("aim_of_peer", race.aim.of_peer);
  add_if("aim_s", race.aim.seconds);
}

void Measure(const Race& race, benchmark::State& state) {
  const jit::ScopedThreads threads(race.threads);
  const Contestants contestants = race.prepare();
  std::vector<Times> times(contestants.size());
  for (std::size_t i = 0; i < contestants.size(); ++i)
    times[i].calls = CallsOfABatch(contestants[i], race.threads);
  const double start = SecondsBy(CLOCK_MONOTONIC);
  std::size_t round = 0;
  for (auto _ : state) {
    if (round >= kMinRounds && SecondsBy(CLOCK_MONOTONIC) - start > kEnoughSeconds) {
      state.SetIterationTime(0);
      continue;
    }
    for (std::size_t step = 0; step < contestants.size(); ++step) {
      const std::size_t i = (round + step) % contestants.size();
      const auto calls = static_cast<double>(times[i].calls);
      if (race.threads > 1) std::this_thread::sleep_for(kRest);
      if (kBatchSeconds / calls < kShortCall) contestants[i].call();
      times[i].seconds.push_back(SecondsOf(contestants[i], times[i].calls, race.threads) / calls);
      if (contestants[i].role == Role::kTenon) state.SetIterationTime(times[i].seconds.back());
    }
    ++round;
  }
  Report(race, contestants, std::move(times), state);
}

// Why a run was ended early, or nothing: of Google Benchmark before 1.8 and of later ones.
template <typename Run>
std::optional<std::string> ErrorOf(const Run& run) {
  if constexpr (requires { run.error_occurred; }) {
    if (run.error_occurred) return run.error_message;
  } else {
    if (run.skipped != decltype(run.skipped){}) return run.skip_message;
  }
  return std::nullopt;
}

// One short line per race, as it ends.
class ProgressReporter : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      const std::string name = run.run_name.function_name;
      if (const auto error = ErrorOf(run)) {
        std::printf("%-66s %s\n", name.c_str(), error->c_str());
        continue;
      }
      std::printf("%-66s %12.2f us", name.c_str(), 1e6 * run.counters.at("tenon_min_s"));
      for (const char* other : {"floor", "peer"}) {
        const auto time = run.counters.find(StrCat(other, "_min_s"));
        if (time == run.counters.end()) continue;
        std::printf("  %.0f %% of the %s", 100 * time->second / run.counters.at("tenon_min_s"),
                    other);
      }
      std::printf("\n");
    }
    std::fflush(stdout);
  }
};

// Takes --rounds=N off the arguments; 0 if N is not a positive number.
int TakeRounds(int* argc, char** argv) {
  int rounds = 20;
  int kept = 1;
  for (int i = 1; i < *argc; ++i) {
    const std::string_view argument = argv[i];
    if (!argument.starts_with(kRoundsFlag)) {
      argv[kept++] = argv[i];
      continue;
    }
    const std::string_view number = argument.substr(kRoundsFlag.size());
    const auto [end, error] = std::from_chars(number.begin(), number.end(), rounds);
    if (error != std::errc() || end != number.end() || rounds < 1) return 0;
  }
  *argc = kept;
  return rounds;
}

}  // namespace

void AddOnOneAndTwoThreads(std::vector<Race>& races, Race race) {
  race.threads = 1;
  races.push_back(race);
  race.threads = 2;
  races.push_back(std::move(race));
}

int FloorThreads(double bytes, int threads) { return bytes <= kSmallBytes ? 1 : threads; }

void Require(bool condition, const std::string& message) {
  if (!condition) throw std::runtime_error(message);
}

void RequireClose(const NDArray& ours, const NDArray& expected, double tolerance) {
  Require(ours.size() == expected.size(),
          StrCat("the result has ", ours.size(), " elements, not ", expected.size()));
  const float* a = ours.data<float>();
  const float* b = expected.data<float>();
  for (std::int64_t i = 0; i < ours.size(); ++i) {
    if (!(std::fabs(a[i] - b[i]) <= tolerance * (1 + std::fabs(b[i]))))
      Require(false, StrCat("wrong result: element ", i, " is ", a[i], ", not ", b[i]));
  }
}

NDArray RandomArray(const Shape& shape, int seed) {
  NDArray array = NDArray::Empty(shape, Float32);
  std::minstd_rand generator(static_cast<unsigned>(seed));
  float* data = array.data<float>();
  for (std::int64_t i = 0; i < array.size(); ++i)
    data[i] = static_cast<float>(generator() % 4096) / 2048.0F - 1.0F;
  return array;
}

int RunRaces(const std::vector<Race>& races, int argc, char** argv) {
  const int rounds = TakeRounds(&argc, argv);
  if (rounds == 0) {
    std::fputs("--rounds takes a number of at least 1\n", stderr);
    return 1;
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  for (const Race& race : races) {
    benchmark::RegisterBenchmark(
        StrCat(race.table, "/", race.name, "/threads:", race.threads).c_str(),
        [&race](benchmark::State& state) {
          try {
            Measure(race, state);
          } catch (const std::exception& error) {
            state.SkipWithError(error.what());
          }
        })
        ->Iterations(rounds)
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond);
  }
  ProgressReporter progress;
  benchmark::RunSpecifiedBenchmarks(&progress);
  benchmark::Shutdown();
  return 0;
}

}  // namespace tenon::benchmarks
