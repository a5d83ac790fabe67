// As in tune/decide.cc: the kernels are timed inside the model, where caches are not warm, and the
// whole without their clocks.
#include "tenon/tools/records_race.h"

#include <algorithm>
#include <map>

#include <nlohmann/json.hpp>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/tools/floors_report.h"
#include "tenon/tools/formatted.h"
#include "tenon/tools/random_inputs.h"
#include "tenon/tune/best.h"
#include "tenon/tune/kernel.h"
#include "tenon/tune/model_race.h"

namespace tenon::tools {
namespace {

std::string TextOf(const strategies::Choice& choice) {
  return tune::ChoiceText(choice.implementation, choice.config.Values());
}

// The floor of each node that the default calls.
std::map<std::string, double> FloorByNode(const Lowered& lowered, const Dim::Values& extents,
                                          const CompileOptions& options) {
  std::map<std::string, std::int64_t> all;
  for (const runtime::Node& node : lowered.plan.nodes) all[node.name] = 1;
  std::map<std::string, double> floors;
  const tune::MachineSpeed machine = tune::MeasureMachine(options.target, options.threads);
  for (const NodeFloor& node : FloorsOf(lowered, all, extents, options.target, machine))
    floors[node.node] = node.floor.seconds;
  return floors;
}

}  // namespace

RecordsRace RaceRecords(const ir::Module& module, const CompileOptions& options,
                        const Dim::Values& given, double seconds) {
  CompileOptions by_default = options;
  by_default.measured = nullptr;
  const Lowered standard = ValueOrThrow(Lower(module, by_default));
  const Lowered candidate = ValueOrThrow(LowerFused(standard.module, options));
  const Executable linked = ValueOrThrow(Link(standard, by_default));
  const Dim::Values extents = AllExtents(linked, given);
  const tune::Shapes shapes = {extents};
  tune::ModelRace race(ValueOrThrow(Link(candidate, options)), linked, shapes);
  tune::RaceLimits limits = tune::kModelRaceLimits;
  limits.max_rounds = 100000;  // the seconds end it
  limits.seconds = seconds / 2;
  race.RunProfiled(limits);
  race.whole().Run(limits);
  RecordsRace result = {
      .threads = tune::ThreadsOn(options.target, options.threads),
      .model = race.whole().Outcome(),
      .rounds = race.whole().rounds(),
      .default_s = tune::Median(race.whole().standard_s()),
      .by_records_s = tune::Median(race.whole().candidate_s()),
      .kernels = {},
  };
  const std::map<std::string, double> floors = FloorByNode(standard, extents, by_default);
  for (const tune::ModelKernel& kernel : tune::KernelsOf(standard, shapes)) {
    const std::vector<double> standard_s = race.StandardTimes(kernel.nodes);
    const std::vector<double> candidate_s = race.CandidateTimes(kernel.nodes);
    if (tune::Median(standard_s) <= 0 || tune::Median(candidate_s) <= 0)
      continue;  // no clock saw them
    const auto same = std::ranges::find(candidate.kernels, kernel.name, &LoweredKernel::name);
    KernelRace one = {
        .node = kernel.nodes.front(),
        .usual = TextOf(kernel.chosen),
        .chosen = TextOf(same == candidate.kernels.end() ? kernel.chosen : same->choice),
        .outcome = tune::RatioOf(candidate_s, standard_s),
        .default_s = tune::Median(standard_s),
        .by_records_s = tune::Median(candidate_s)};
    for (const std::string& node : kernel.nodes) one.floor_s += floors.at(node);
    result.kernels.push_back(std::move(one));
  }
  std::ranges::stable_sort(result.kernels, std::greater(), &KernelRace::default_s);
  return result;
}

std::string RecordsRaceText(const RecordsRace& race) {
  std::string text = Formatted(
      "by records / by default: %.3f, noise %.3f, %lld rounds, %d %s\n"
      "by default %.4f ms, by records %.4f ms\n",
      race.model.ratio, race.model.noise, static_cast<long long>(race.rounds), race.threads,
      race.threads == 1 ? "thread" : "threads", race.default_s * 1e3, race.by_records_s * 1e3);
  int changed = 0;
  for (const KernelRace& kernel : race.kernels) {
    if (kernel.usual == kernel.chosen) continue;
    if (changed++ == 0) text += "   ratio   noise  default ms  records ms  floor ms  choices\n";
    StrAppend(
        &text,
        Formatted("%8.3f%8.3f%12.4f%12.4f%10.4f  ", kernel.outcome.ratio, kernel.outcome.noise,
                  kernel.default_s * 1e3, kernel.by_records_s * 1e3, kernel.floor_s * 1e3),
        kernel.usual, " to ", kernel.chosen, ", ", kernel.node, "\n");
  }
  return StrCat(text, changed, " of ", race.kernels.size(), " kernels are chosen by records\n");
}

std::string RecordsRaceJson(const RecordsRace& race) {
  using Json = nlohmann::ordered_json;
  Json kernels = Json::array();
  for (const KernelRace& kernel : race.kernels)
    kernels.push_back({{"node", kernel.node},
                       {"default", kernel.usual},
                       {"chosen", kernel.chosen},
                       {"ratio", kernel.outcome.ratio},
                       {"noise", kernel.outcome.noise},
                       {"default_s", kernel.default_s},
                       {"by_records_s", kernel.by_records_s},
                       {"floor_s", kernel.floor_s}});
  const Json report = {{"threads", race.threads},      {"ratio", race.model.ratio},
                       {"noise", race.model.noise},    {"rounds", race.rounds},
                       {"default_s", race.default_s},  {"by_records_s", race.by_records_s},
                       {"kernels", std::move(kernels)}};
  return report.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tenon::tools
