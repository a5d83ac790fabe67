#include "tenon/tune/model_race.h"

#include <algorithm>
#include <utility>

#include "tenon/support/error.h"

namespace tenon::tune {
namespace {

std::vector<double> Sums(const std::vector<std::map<std::string, double>>& rounds,
                         const std::vector<std::string>& nodes) {
  std::vector<double> sums;
  for (const std::map<std::string, double>& round : rounds) {
    double sum = 0;
    for (const std::string& node : nodes) {
      if (const auto time = round.find(node); time != round.end()) sum += time->second;
    }
    sums.push_back(sum);
  }
  return sums;
}

// The least of each node in the samples of a round, without those before the first round, which
// warm up.
void KeepLeast(std::int64_t rounds, std::vector<std::map<std::string, double>>* samples) {
  std::vector<std::map<std::string, double>> least;
  std::size_t at = samples->size() - static_cast<std::size_t>(rounds * kSamples);
  for (std::int64_t round = 0; round < rounds; ++round) {
    std::map<std::string, double>& nodes = least.emplace_back((*samples)[at++]);
    for (int i = 1; i < kSamples; ++i) {
      for (const auto& [node, time] : (*samples)[at++]) nodes[node] = std::min(nodes[node], time);
    }
  }
  *samples = std::move(least);
}

void RunAll(Session& session, const std::vector<runtime::Inputs>& inputs) {
  for (const runtime::Inputs& one : inputs) (void)ValueOrThrow(session.Run(one));
}

}  // namespace

ModelRace::ModelRace(const Executable& candidate, const Executable& standard, const Shapes& shapes)
    : inputs_(InputsOf(standard, shapes)),
      candidate_(candidate),
      standard_(standard),
      whole_([this] { RunAll(candidate_, inputs_); }, [this] { RunAll(standard_, inputs_); }) {}

void ModelRace::RunProfiled(const RaceLimits& limits) {
  const auto run = [&](Session& session, std::vector<NodeTimes>* rounds) {
    NodeTimes& round = rounds->emplace_back();
    for (const runtime::Inputs& inputs : inputs_) {
      std::vector<runtime::NodeTime> times;
      (void)ValueOrThrow(session.RunProfiled(inputs, &times));
      for (const runtime::NodeTime& time : times)
        round[time.node] += static_cast<double>(time.nanoseconds) * 1e-9;
    }
  };
  RaceLimits single = limits;
  single.sample_s = 0;
  single.hopeless = 1e9;  // it is of all kernels, and goes on for each
  Race race([&] { run(candidate_, &candidate_times_); }, [&] { run(standard_, &standard_times_); });
  race.Run(single);
  KeepLeast(race.rounds(), &candidate_times_);
  KeepLeast(race.rounds(), &standard_times_);
}

std::vector<double> ModelRace::CandidateTimes(const std::vector<std::string>& nodes) const {
  return Sums(candidate_times_, nodes);
}
std::vector<double> ModelRace::StandardTimes(const std::vector<std::string>& nodes) const {
  return Sums(standard_times_, nodes);
}

}  // namespace tenon::tune
