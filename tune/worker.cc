#include "tenon/tune/worker.h"

#include <algorithm>
#include <random>
#include <set>

#include "tenon/compiler/symbolic/concrete_module.h"
#include "tenon/compiler/symbolic/named_extents.h"
#include "tenon/support/error.h"
#include "tenon/support/hash.h"
#include "tenon/support/strings.h"
#include "tenon/tune/best.h"
#include "tenon/tune/cores.h"
#include "tenon/tune/decide.h"
#include "tenon/tune/model_race.h"

namespace tenon::tune {
namespace {

// Kernels whose defaults are kept with their inputs. The time of a search goes to a few by turns.
constexpr std::size_t kContests = 16;

Failure FailureOf(const absl::Status& status) {
  return {static_cast<int>(status.code()), std::string(status.message())};
}

std::string NewRun() {
  std::random_device device;
  return HashText((std::uint64_t{device()} << 32) | device());
}

}  // namespace

Worker::Worker(std::function<Model()> load, const CompileOptions& options)
    : load_(std::move(load)), options_(options), run_(NewRun()) {
  options_.measured = nullptr;
}

void Worker::Load() {
  if (standard_) return;
  Model model = load_();
  shapes_ = std::move(model.shapes);
  if (model.module.Find("main") && compiler::HasSymbols(model.module)) {
    if (shapes_.empty())
      throw InvalidArgument(
          "the model has inputs of variable extents; say the shapes that it is to be measured for "
          "(--shapes x=1..8,3,224,224, TuneOptions::shapes)");
    options_.library = LibraryChoice::kTe;  // a library's kernels are made for each shape
  } else if (!shapes_.empty()) {
    throw InvalidArgument(
        "shapes to measure are for a model of variable extents; this one has "
        "numbers alone");
  } else {
    shapes_.emplace_back();
  }
  lowered_ = ValueOrThrow(Lower(model.module, options_));
  standard_.emplace(ValueOrThrow(Link(*lowered_, options_)));
  kernels_ = KernelsOf(*lowered_, shapes_);
  options_.cache_dir.clear();  // candidates are not kept
}

Answer Worker::Do(const Job& job, const Stopped& stopped) {
  struct Doing {
    Worker* worker;
    const Stopped* stopped;
    Answer operator()(const SettleJob& job) const {
      PinTo(job.cpus);
      return Settled();
    }
    Answer operator()(const BriefJob& /*job*/) const { return worker->Brief(); }
    Answer operator()(const TryJob& job) const {
      return worker->OutcomeOf(job, worker->Compile(job), *stopped);
    }
    Answer operator()(const DecideJob& job) const {
      worker->contests_.clear();  // and their memory
      return Decide(job, {*worker->lowered_, *worker->standard_, worker->kernels_, worker->shapes_},
                    worker->options_, worker->run_);
    }
  };
  const absl::StatusOr<Answer> answer = CatchErrors([&] {
    if (!std::holds_alternative<SettleJob>(job)) Load();
    return std::visit(Doing{this, &stopped}, job);
  });
  return answer.ok() ? *answer : FailureOf(answer.status());
}

Answer Worker::Race(const TryJob& job, absl::StatusOr<Contender> contender,
                    const Stopped& stopped) {
  const absl::StatusOr<Answer> answer =
      CatchErrors([&] { return Answer(OutcomeOf(job, std::move(contender), stopped)); });
  return answer.ok() ? *answer : FailureOf(answer.status());
}

// Of one call in each of `shapes`.
Floor Worker::FloorIn(const Shapes& shapes, const ModelKernel& kernel,
                      const MachineSpeed& machine) const {
  Floor sum, greatest;
  for (const Dim::Values& values : shapes) {
    const ir::Module module = compiler::WithExtents(kernel.module, values).module;
    const Floor floor =
        FloorOf(WorkOf(module.Main().body.As<ir::CallNode>()->callee, options_.target), machine);
    if (floor.seconds > greatest.seconds) greatest = floor;
    sum.seconds += floor.seconds;
  }
  sum.bound = greatest.bound;
  return sum;
}

// Of all calls in all shapes.
Floor Worker::FloorOfCalls(const ModelKernel& kernel, const MachineSpeed& machine) const {
  Floor sum = FloorIn(kernel.shapes, kernel, machine);
  // Equal functions have one kernel, and only one of them may be known by its call.
  sum.seconds *= static_cast<double>(kernel.nodes.size() * shapes_.size()) /
                 static_cast<double>(kernel.shapes.size());
  return sum;
}

ModelBrief Worker::Brief() {
  ModelRace race(*standard_, *standard_, shapes_);
  race.RunProfiled({.min_rounds = 3, .max_rounds = 10, .seconds = 1});
  const MachineSpeed machine = MeasureMachine(options_.target, options_.threads);
  ModelBrief brief{.target = TargetText(options_.target),
                   .versions = VersionsText(),
                   .threads = machine.threads,
                   .kernels = {}};
  for (const ModelKernel& kernel : kernels_) {
    const Floor floor = FloorOfCalls(kernel, machine);
    const auto calls = static_cast<int>(kernel.nodes.size());
    KernelBrief& one = brief.kernels.emplace_back(
        KernelBrief{.name = kernel.name,
                    .content = kernel.content,
                    .text = kernel.text,
                    .calls = calls,
                    .model_s = Median(race.StandardTimes(kernel.nodes)),
                    .floor_s = floor.seconds,
                    .race_floor_s = FloorIn(kernel.RacedShapes(), kernel, machine).seconds,
                    .bound = std::string(NameOf(floor.bound)),
                    .shapes = RangesText(kernel.RacedShapes()),
                    .over = ChoiceText(kernel.chosen.implementation, kernel.chosen.config.Values()),
                    .choices = kernel.chosen.config.choices(),
                    .rows = {}});
    for (const strategies::Candidate& row : kernel.chosen.candidates) {
      if (!row.refusal && row.name != kernel.chosen.implementation) one.rows.push_back(row.name);
    }
  }
  return brief;
}

Contest& Worker::ContestOf(const ModelKernel& kernel) {
  const auto known =
      std::ranges::find(contests_, kernel.content, [](const auto& entry) { return entry.first; });
  if (known != contests_.end()) {
    contests_.splice(contests_.begin(), contests_, known);
  } else {
    contests_.emplace_front(kernel.content, std::make_unique<Contest>(kernel, options_, run_));
    if (contests_.size() > kContests) contests_.pop_back();
  }
  return *contests_.front().second;
}

const ModelKernel& Worker::KernelOf(const std::string& content) const {
  const auto kernel = std::ranges::find(kernels_, content, &ModelKernel::content);
  if (kernel == kernels_.end())
    throw NotFound(StrCat("the model has no kernel ", content, " on this machine"));
  return *kernel;
}

absl::StatusOr<Contender> Worker::Compile(const TryJob& job) const {
  return CatchErrors([&] {
    const ModelKernel& kernel = KernelOf(job.content);
    std::set<std::string> known(job.known.begin(), job.known.end());
    known.insert(ChoiceText(kernel.chosen.implementation, kernel.chosen.config.Values()));
    return ValueOrThrow(
        MakeContender(kernel, Always(job.candidate.row, job.candidate.config), options_, known));
  });
}

Outcome Worker::OutcomeOf(const TryJob& job, absl::StatusOr<Contender> contender,
                          const Stopped& stopped) {
  const ModelKernel& kernel = KernelOf(job.content);
  Contest* contest = nullptr;
  try {
    contest = &ContestOf(kernel);
  } catch (const Error& error) {
    return {.unmeasured = error.message()};
  }
  try {
    return contest->Race(std::move(contender), stopped);
  } catch (const Error& error) {  // it cannot run where the default can
    return {.refused = error.message()};
  }
}

}  // namespace tenon::tune
