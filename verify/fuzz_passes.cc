// A finding is reduced greedily: first results are left out, then values of calls become inputs,
// from the last call to the first, as long as a finding remains.
#include "tenon/verify/fuzz_passes.h"

#include <algorithm>
#include <utility>

#include "tenon/ir/structural.h"
#include "tenon/ir/text_format.h"
#include "tenon/ir/verify.h"
#include "tenon/ir/visit.h"
#include "tenon/passes/infer_type.h"
#include "tenon/passes/pipeline.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/verify/check/check_cached.h"
#include "tenon/verify/check/check_for_values.h"
#include "tenon/verify/check/check_refusals.h"
#include "tenon/verify/check/check_run_time_rows.h"
#include "tenon/verify/check/check_sizes.h"
#include "tenon/verify/check/check_teams.h"
#include "tenon/verify/check/compiled_run.h"
#include "tenon/verify/check/explained_by_rounding.h"
#include "tenon/verify/check/named_pass.h"
#include "tenon/verify/check/printed_module.h"
#include "tenon/verify/check/result_difference.h"
#include "tenon/verify/check/smaller_modules.h"
#include "tenon/verify/draw/add_control_flow.h"
#include "tenon/verify/draw/add_run_time_cuts.h"
#include "tenon/verify/interpret.h"

namespace tenon::verify {
namespace {

using ir::Expr;
using ir::Module;

// Used beside the names of passes.
constexpr const char* kCompile = "compile";
constexpr const char* kExport = "export";  // compiles, too
// Compiles with variables for extents, and runs for several values of them.
constexpr const char* kValues = "compile for all values";
bool IsCompile(const std::string& pass) {
  return pass == kCompile || pass == kExport || pass == kValues;
}
// So that modules of a seed stay what they were.
constexpr std::uint64_t kControlFlow = 0x1F, kRunTimeCuts = 0x2C, kRunTimeRows = 0x2D,
                        kRefusals = 0x4F, kSizes = 0x512E5, kTeams = 0x7EA35, kCached = 0xCAC4ED;
constexpr int kCallsToRefuse = 20;
constexpr int kSizesToRefuse = 4;

bool KeepsValues(const std::string& pass) {
  return IsCompile(pass) || NamedPass(pass).keeps_values;
}

class Checker {
 public:
  Checker(std::uint64_t seed, PassFuzzStatistics* statistics)
      : seed_(seed), statistics_(statistics) {}

  std::optional<std::string> Check(const RandomModule& given,
                                   const std::vector<std::string>& passes) {
    ++statistics_->runs;
    const Rounding& rounding =
        std::ranges::all_of(passes, KeepsValues) ? kFloat32Rounding : kBFloat16Rounding;
    std::optional<std::string> words;
    std::vector<std::vector<NDArray>> runs;
    const absl::Status status = CatchErrors([&] {
      if (passes == std::vector<std::string>{kValues}) {
        words = CheckForValues(given, seed_, statistics_, &how_);
      } else {
        runs = ResultsAfter(given, passes, &words);
      }
    });
    if (!status.ok()) return StrCat("it fails: ", FromStatus(status).message());
    if (words || runs.empty()) return words;
    const std::vector<NDArray> expected = Interpret(given.module, given.inputs);
    for (const std::vector<NDArray>& actual : runs) {
      words = DifferentTypes(actual, expected);
      if (words) return words;
      words = DifferentValues(actual, expected, {.relative = rounding.relative});
      if (!words) continue;
      if (!IsExplainedByRounding(given, actual, expected, rounding, seed_)) return words;
      ++statistics_->ill_conditioned;
    }
    return std::nullopt;
  }

  std::string Finding(const RandomModule& given, const std::vector<std::string>& passes,
                      std::string words) {
    RandomModule smallest = given;
    int inputs_made = 0;
    for (bool smaller = true; smaller;) {
      smaller = false;
      for (const RandomModule& candidate : SmallerModules(smallest, &inputs_made)) {
        if (auto found = Check(candidate, passes)) {
          smallest = candidate;
          words = std::move(*found);
          smaller = true;
          break;
        }
      }
    }
    return StrCat("finding of seed ", seed_, " by ", StrJoin(passes, ", "), how_, ": ", words, "\n",
                  ir::PrintModule(smallest.module));
  }

 private:
  // The results of the module after the passes, of each way to run it; none where it is the module
  // as it was. `*words` becomes what is wrong with its text.
  std::vector<std::vector<NDArray>> ResultsAfter(const RandomModule& given,
                                                 const std::vector<std::string>& passes,
                                                 std::optional<std::string>* words) {
    Module module = given.module;
    std::vector<std::vector<NDArray>> runs;
    for (const std::string& pass : passes) {
      if (IsCompile(pass)) {
        Random random(seed_);
        CompiledRun run = RandomRun(random, /*always_exported=*/pass == kExport);
        if (given.floats == FloatValues::kAll) run.KeepAllFloats();
        how_ = StrCat(" (", run.ToString(), ")");
        runs = run.Of(module, given.inputs);
        continue;
      }
      module = passes::RunPasses({NamedPass(pass)}, module, {.verify = true});
      ir::VerifyModule(module);
    }
    if (std::ranges::any_of(passes, IsCompile)) return runs;
    module = passes::InferType(module);
    *words = WrongText(module);
    if (module == given.module) return {};
    if (!ir::StructuralEqual(module, given.module)) ++statistics_->changes;
    return {Interpret(module, given.inputs)};
  }

  const std::uint64_t seed_;
  std::string how_;  // a module was compiled and run
  PassFuzzStatistics* const statistics_;
};

// What a case checks beside its own module. The finding, without the seed.
std::optional<std::string> CheckOtherCases(std::uint64_t seed,
                                           const std::function<void(const std::string&)>& before) {
  Random calls(seed ^ kRefusals);
  if (auto finding = CheckRefusals(kCallsToRefuse, calls, before)) return finding;
  Random sizes(seed ^ kSizes);
  for (int i = 0; i < kSizesToRefuse; ++i) {
    if (auto finding = CheckSize(sizes, before)) return finding;
  }
  if (before != nullptr) before("");
  Random cached(seed ^ kCached);
  if (auto finding = CheckCached(cached)) return finding;
  if (cached.Chance(10)) {
    if (auto finding = CheckCachedRows(cached)) return finding;
  }
  Random teams(seed ^ kTeams);
  return teams.Chance(25) ? CheckTeams(teams) : std::nullopt;
}

// The passes that a case runs one after the other, each time on the module.
std::vector<std::vector<std::string>> RunsOf(const Module& module, const PassFuzzOptions& options,
                                             Random& random) {
  std::vector<std::string> names =
      options.passes.empty() ? passes::ExactPassNames() : options.passes;
  const auto has = [&](const char* name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (has("ConvertLayout")) names.push_back(RandomConvertLayout(random));
  if (has("PartitionGraph")) names.push_back(RandomPartition(module, random));
  std::vector<std::vector<std::string>> runs;
  for (const std::string& name : names) runs.push_back({name});
  for (int pair = 0; pair < options.pairs; ++pair)
    runs.push_back({random.Of(names), random.Of(names)});
  if (options.compile) {
    runs.push_back({options.exports ? kExport : kCompile});
    runs.push_back({kValues});
  }
  return runs;
}

}  // namespace

void PassFuzzStatistics::Add(const PassFuzzStatistics& other) {
  modules += other.modules;
  calls += other.calls;
  runs += other.runs;
  changes += other.changes;
  ill_conditioned += other.ill_conditioned;
  symbolic += other.symbolic;
  values += other.values;
  values_refused += other.values_refused;
  conditions += other.conditions;
  values_left_out += other.values_left_out;
}

std::string PassFuzzStatistics::ToString() const {
  return StrCat(modules, " modules of ", calls, " calls; ", runs, " runs of passes, of which ",
                changes, " changed the module; ", ill_conditioned,
                " differences that rounding explains; ", symbolic,
                " compiled with variables, run for ", values, " sets of values, ", values_refused,
                " sets refused by the module of their shapes, too, ", conditions,
                " by conditions and limits, ", values_left_out, " left out");
}

std::optional<std::string> CheckPasses(const RandomModule& module,
                                       const std::vector<std::string>& passes, std::uint64_t seed,
                                       PassFuzzStatistics* statistics) {
  Checker checker(seed, statistics);
  if (auto words = checker.Check(module, passes))
    return checker.Finding(module, passes, std::move(*words));
  return std::nullopt;
}

std::optional<std::string> CheckForAllValues(const RandomModule& module, std::uint64_t seed,
                                             PassFuzzStatistics* statistics) {
  return CheckPasses(module, {kValues}, seed, statistics);
}

std::optional<std::string> FuzzPasses(std::uint64_t seed, const PassFuzzOptions& options,
                                      PassFuzzStatistics* statistics) {
  Random shape(seed ^ kControlFlow);
  const RandomModule straight = MakeRandomModule(seed);
  Random cuts(seed ^ kRunTimeCuts);
  const RandomModule module = shape.Chance(20)  ? AddControlFlow(straight, shape)
                              : cuts.Chance(15) ? AddRunTimeCuts(straight, cuts)
                                                : straight;
  ++statistics->modules;
  ir::VisitPostOrder(module.module.Main().body, [&](const Expr& e) {
    if (e.kind() == ir::ExprKind::kCall) ++statistics->calls;
  });
  Random random(seed);
  const std::vector<std::vector<std::string>> runs = RunsOf(module.module, options, random);
  if (options.compile) {
    if (Random rows(seed ^ kRunTimeRows); rows.Chance(15)) {
      if (auto finding = CheckRunTimeRows(straight, seed)) return finding;
    }
    if (auto finding = CheckOtherCases(seed, options.before_call))
      return StrCat("finding of seed ", seed, ": ", *finding);
  }
  for (const std::vector<std::string>& run : runs) {
    if (auto finding = CheckPasses(module, run, seed, statistics)) return finding;
  }
  return std::nullopt;
}

}  // namespace tenon::verify
