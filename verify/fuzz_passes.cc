// A finding is reduced greedily: first results are left out, then values of calls become inputs,
// from the last call to the first, as long as a finding remains.
#include "tenon/verify/fuzz_passes.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "tenon/ir/flatten.h"
#include "tenon/ir/structural.h"
#include "tenon/ir/text_format.h"
#include "tenon/ir/verify.h"
#include "tenon/ir/visit.h"
#include "tenon/passes/infer_type.h"
#include "tenon/passes/layout/convert_layout.h"
#include "tenon/passes/partition/annotate_target.h"
#include "tenon/passes/partition/merge_compiler_regions.h"
#include "tenon/passes/partition/partition_graph.h"
#include "tenon/passes/pipeline.h"
#include "tenon/strategies/lower_function.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/verify/check/check_cached.h"
#include "tenon/verify/check/check_refusals.h"
#include "tenon/verify/check/check_run_time_rows.h"
#include "tenon/verify/check/check_sizes.h"
#include "tenon/verify/check/check_teams.h"
#include "tenon/verify/check/compiled_run.h"
#include "tenon/verify/check/nudge.h"
#include "tenon/verify/check/printed_module.h"
#include "tenon/verify/draw/add_control_flow.h"
#include "tenon/verify/draw/add_run_time_cuts.h"
#include "tenon/verify/draw/module_measures.h"
#include "tenon/verify/draw/random_layout.h"
#include "tenon/verify/draw/symbolic_module.h"
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
// `relative` is what reordered sums of small graphs differ by, relative to the largest element of a
// result. `nudge` is the change of every intermediate value that explains as much.
struct Rounding {
  double relative, nudge;
  int bits;  // to which passes round values; 0: none
};
constexpr Rounding kFloat32 = {2e-5, 1e-6, 0};
constexpr Rounding kBFloat16 = {8e-2, 4e-3, 8};
// A value at the edge of a jump crosses it in one of two nudges.
constexpr int kNudges = 24;
// So that modules of a seed stay what they were.
constexpr std::uint64_t kControlFlow = 0x1F, kRunTimeCuts = 0x2C, kRunTimeRows = 0x2D,
                        kSymbols = 0x5A, kRefusals = 0x4F, kSizes = 0x512E5, kTeams = 0x7EA35,
                        kCached = 0xCAC4ED;
constexpr int kCallsToRefuse = 20;
constexpr int kSizesToRefuse = 4;
// What is interpreted for other values.
constexpr std::int64_t kMaxElements = 1 << 14;

// "ConvertLayout nn.conv2d=NHWC" is the pass with this layout.
constexpr const char* kConvertTo = "ConvertLayout ";
// "PartitionGraph add,tanh" makes regions of these operators, by the three passes in order.
constexpr const char* kPartition = "PartitionGraph ";

passes::Pass Find(const std::string& pass) {
  if (pass.starts_with(kConvertTo)) {
    passes::DesiredLayouts desired;
    passes::AddDesiredLayout(pass.substr(std::string_view(kConvertTo).size()), &desired);
    return {pass, 0, [desired](const Module& m) {
              return passes::InferType(passes::ConvertLayout(passes::InferType(m), desired));
            }};
  }
  if (pass.starts_with(kPartition)) {
    const std::vector<std::string> names =
        StrSplit(pass.substr(std::string_view(kPartition).size()), ',');
    const auto takes = [names](const Expr& call) {
      const std::string& op = call.As<ir::CallNode>()->op()->name;
      return std::find(names.begin(), names.end(), op) != names.end();
    };
    return {pass, 0, [takes](const Module& m) {
              return passes::PartitionGraph(passes::MergeCompilerRegions(
                  passes::AnnotateTarget(passes::InferType(m), {{"fuzz", takes}})));
            }};
  }
  return passes::FindPass(pass, strategies::EvaluateCall);
}

Module Apply(const Module& module, const std::string& pass) {
  return passes::RunPasses({Find(pass)}, module, {.verify = true});
}
bool KeepsValues(const std::string& pass) { return IsCompile(pass) || Find(pass).keeps_values; }

// Some of the operators that a module calls.
std::string SomeOperators(const Module& module, Random& random) {
  std::set<std::string> names;
  ir::VisitPostOrder(module.Main().body, [&](const Expr& e) {
    const auto* call = e.As<ir::CallNode>();
    if (call != nullptr && call->op() != nullptr && random.Chance(50))
      names.insert(call->op()->name);
  });
  return StrJoin(names, ",");
}

std::string Shown(const NDArray& array) {
  return StrCat(array.dtype().ToString(), " ", ShapeToString(array.shape()));
}

// How two lists of results differ, as text.
std::optional<std::string> DifferentTypes(const std::vector<NDArray>& actual,
                                          const std::vector<NDArray>& expected) {
  if (actual.size() != expected.size())
    return StrCat("it has ", actual.size(), " results instead of ", expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (actual[i].shape() != expected[i].shape() || actual[i].dtype() != expected[i].dtype())
      return StrCat("result ", i, " is ", Shown(actual[i]), " instead of ", Shown(expected[i]));
  }
  return std::nullopt;
}
std::optional<std::string> DifferentValues(const std::vector<NDArray>& actual,
                                           const std::vector<NDArray>& expected, double relative) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double tolerance = relative * std::max(1.0, LargestMagnitude(expected[i]));
    if (const auto difference = FirstDifference(actual[i], expected[i], tolerance))
      return StrCat("result ", i, " at ", ShapeToString(difference->index), " is ",
                    difference->actual, " instead of ", difference->expected);
  }
  return std::nullopt;
}

// Without what loses NaN and infinities (docs/numerics.md), where there are any.
CompiledRun Kept(CompiledRun run, FloatValues floats) {
  if (floats != FloatValues::kAll) return run;
  run.options.winograd = false;
  run.options.keep_nan = true;
  // A library has ways of its own to lose them.
  if (run.options.threads % 2 == 1) run.options.library = LibraryChoice::kLibrary;
  return run;
}

// Whether a call reads only the shape of an argument, which then need not be computed: nothing
// compares what it would have been computed of.
bool ReadsShapes(const Module& module) {
  bool reads = false;
  ir::VisitPostOrder(module.Main().body, [&](const Expr& e) {
    const auto* call = e.As<ir::CallNode>();
    if (call == nullptr || call->op() == nullptr) return;
    const std::string& op = call->op()->name;
    reads |= op == "shape_of" || op == "ndarray_size" || op.ends_with("_like");
  });
  return reads;
}

// The module with the branches that a run takes in place of the ifs that these inputs decide.
Module WithTakenBranches(const Module& module, const runtime::Inputs& inputs) {
  Module taken = module;
  for (const auto& [name, function] : module.functions()) {
    const Expr changed =
        ir::RewritePostOrder(function, [&](const Expr& original, const Expr& e) -> Expr {
          const auto* branches = e.As<ir::IfNode>();
          if (branches == nullptr || branches->condition.kind() != ir::ExprKind::kVar)
            return ir::KeepType(original, e);
          const auto given = inputs.find(ir::Var(branches->condition).name());
          if (given == inputs.end()) return ir::KeepType(original, e);
          return *given->second.data<bool>() ? branches->then_branch : branches->else_branch;
        });
    taken = taken.With(name, changed);
  }
  return taken;
}

// Whether an input or a result is stored in 16 bits: kernels round sums of these once, and the
// interpreter at every step.
bool HasHalves(const Module& module) {
  std::vector<ir::Type> types = ir::Flatten(module.Main().body.checked_type());
  for (const Expr& param : module.Main().params) types.push_back(param.checked_type());
  return std::ranges::any_of(types, [](const ir::Type& type) {
    const auto* tensor = type.As<ir::TensorTypeNode>();
    return tensor != nullptr && tensor->dtype.is_half();
  });
}

// Adds a reduction without the parameters that nothing reads.
void AddReduction(const RandomModule& given, std::vector<Expr> params, const Expr& body,
                  std::vector<NDArray> inputs, std::vector<RandomModule>* smaller) {
  std::vector<Expr> read;
  std::vector<NDArray> values;
  const std::vector<ir::Var> free = ir::FreeVars(body);
  for (std::size_t i = 0; i < params.size(); ++i) {
    if (std::find(free.begin(), free.end(), params[i]) == free.end()) continue;
    read.push_back(params[i]);
    values.push_back(inputs[i]);
  }
  smaller->push_back(
      {passes::InferType(given.module.With("main", ir::Function::Make(std::move(read), body))),
       std::move(values), given.floats});
}

class Checker {
 public:
  Checker(std::uint64_t seed, PassFuzzStatistics* statistics)
      : seed_(seed), statistics_(statistics) {}

  std::optional<std::string> Check(const RandomModule& given,
                                   const std::vector<std::string>& passes) {
    ++statistics_->runs;
    if (passes == std::vector<std::string>{kValues}) {
      std::optional<std::string> words;
      const absl::Status status = CatchErrors([&] { words = CheckValues(given); });
      return status.ok() ? words : StrCat("it fails: ", FromStatus(status).message());
    }
    rounding_ = std::all_of(passes.begin(), passes.end(), KeepsValues) ? kFloat32 : kBFloat16;
    Module module = given.module;
    std::vector<std::vector<NDArray>> runs;
    std::optional<std::string> wrong_text;
    bool compiled = false;
    const absl::Status status = CatchErrors([&] {
      for (const std::string& pass : passes) {
        if (IsCompile(pass)) {
          Random random(seed_);
          const CompiledRun run =
              Kept(RandomRun(random, /*always_exported=*/pass == kExport), given.floats);
          how_ = StrCat(" (", run.ToString(), ")");
          runs = run.Of(module, given.inputs);
          compiled = true;
          continue;
        }
        module = Apply(module, pass);
        ir::VerifyModule(module);
      }
      if (!compiled) {
        module = passes::InferType(module);
        wrong_text = WrongText(module);
        if (!(module == given.module)) {
          if (!ir::StructuralEqual(module, given.module)) ++statistics_->changes;
          runs = {Interpret(module, given.inputs)};
        }
      }
    });
    if (!status.ok()) return StrCat("it fails: ", FromStatus(status).message());
    if (wrong_text || runs.empty()) return wrong_text;
    const std::vector<NDArray> expected = Interpret(given.module, given.inputs);
    for (const std::vector<NDArray>& actual : runs) {
      if (auto words = DifferentTypes(actual, expected)) return words;
      const auto words = DifferentValues(actual, expected, rounding_.relative);
      if (words && IsStable(given, actual, expected)) return words;
    }
    return std::nullopt;
  }

  std::string Finding(const RandomModule& given, const std::vector<std::string>& passes,
                      std::string words) {
    RandomModule smallest = given;
    for (bool smaller = true; smaller;) {
      smaller = false;
      for (const RandomModule& candidate : Reductions(smallest)) {
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
  // What is compiled once must give the interpreter's results for all values of its variables.
  std::optional<std::string> CheckValues(const RandomModule& given) {
    Random random(seed_ ^ kSymbols);
    rounding_ = HasHalves(given.module) ? kBFloat16 : kFloat32;
    const auto symbolic = WithSymbols(given.module, random.Next());
    if (!symbolic) return std::nullopt;
    const CompiledRun run = Kept(RandomRun(random), given.floats);
    how_ = StrCat(" (", run.ToString(), ")");
    const absl::StatusOr<Executable> executable = Compile(*symbolic, run.options);
    if (!executable.ok()) {
      if (IsUserError(executable.status())) return std::nullopt;
      return StrCat("it is not compiled: ", executable.status().ToString());
    }
    ++statistics_->symbolic;
    std::vector<Shape> shapes;
    for (const NDArray& input : given.inputs) shapes.push_back(input.shape());
    for (const Dim::Values& values : DrawValues(OwnValues(*symbolic, shapes), random)) {
      const auto words = CheckAt(values, *symbolic, *executable, run.options, given, random);
      if (words)
        return StrCat("for ", ToString(values), ": ", *words, "\n", ir::PrintModule(*symbolic));
    }
    return std::nullopt;
  }

  std::optional<std::string> CheckAt(const Dim::Values& values, const Module& symbolic,
                                     const Executable& executable, const CompileOptions& options,
                                     const RandomModule& given, Random& random) {
    const std::vector<Shape> shapes = ShapesAt(symbolic, values);
    if (std::ranges::any_of(shapes,
                            [](const Shape& shape) { return NumElements(shape) > kMaxElements; })) {
      ++statistics_->values_left_out;
      return std::nullopt;
    }
    RandomModule fixed{{}, {}, given.floats};
    runtime::Inputs named;
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      fixed.inputs.push_back(Resized(given.inputs[i], shapes[i], random));
      named.emplace(ir::Var(symbolic.Main().params[i]).name(), fixed.inputs.back());
    }
    const absl::Status typed = CatchErrors([&] { fixed.module = WithValues(symbolic, values); });
    if (typed.ok() && MeasuresOf(fixed.module).elements > kMaxElements) {
      ++statistics_->values_left_out;
      return std::nullopt;
    }
    const absl::StatusOr<std::vector<NDArray>> actual = executable.Run(named);
    for (const absl::Status& status : {typed, actual.status()}) {
      if (!status.ok() && !IsUserError(status)) return status.ToString();
    }
    if (!typed.ok()) {
      // What a branch needs that does not run is no matter.
      const auto is_taken_refused = [&] {
        return !CatchErrors([&] {
                  (void)WithValues(WithTakenBranches(symbolic, named), values);
                }).ok();
      };
      if (actual.ok() && !ReadsShapes(symbolic) && is_taken_refused())
        return StrCat("it runs, and the module of these shapes is refused: ", typed.message());
      ++(actual.ok() ? statistics_->values_left_out : statistics_->values_refused);
      return std::nullopt;
    }
    const absl::StatusOr<std::vector<NDArray>> expected =
        CatchErrors([&] { return Interpret(fixed.module, fixed.inputs); });
    if (!expected.ok() ||
        (given.floats != FloatValues::kAll && !std::ranges::all_of(*expected, IsFinite))) {
      ++statistics_->values_left_out;
      return std::nullopt;
    }
    if (!actual.ok()) {
      if (actual.status().code() != absl::StatusCode::kUnimplemented &&
          !BrokenCondition(symbolic, values, options))
        return StrCat("the run is refused, and that of the module of these shapes is not: ",
                      actual.status().message());
      ++statistics_->conditions;
      return std::nullopt;
    }
    if (auto words = DifferentTypes(*actual, *expected)) return words;
    auto words = DifferentValues(*actual, *expected, rounding_.relative);
    if (words && IsStable(fixed, *actual, *expected)) return words;
    ++(words ? statistics_->values_left_out : statistics_->values);
    return std::nullopt;
  }

  // Whether the module's own results differ by less than `actual` does, when every intermediate
  // value changes a little.
  bool IsStable(const RandomModule& given, const std::vector<NDArray>& actual,
                const std::vector<NDArray>& expected) {
    if (given.floats == FloatValues::kAll && MeasuresOf(given.module).normalises) {
      ++statistics_->ill_conditioned;
      return false;
    }
    Random random(seed_);
    // Rounding may make values equal; chance hardly does.
    bool rounds = rounding_.bits > 0;
    const Nudge nudge(rounding_.nudge, random, /*keeps_large=*/true);
    const auto change = [&](const NDArray& array, const auto&... of) {
      return rounds ? RoundedTo(array, rounding_.bits) : nudge(array, of...);
    };
    const ir::FunctionNode& main = given.module.Main();
    for (int i = 0; i < kNudges; ++i) {
      std::vector<NDArray> inputs = given.inputs;
      for (NDArray& input : inputs) input = change(input);
      const std::vector<NDArray> other =
          InterpretEach(given.module, main, inputs, change).at(main.body);
      rounds = false;
      // Twenty times the effect of a nudge counts as rounding, unless a value has jumped.
      if (DifferentValues(other, expected, rounding_.relative / 20) &&
          !FarBeyond(actual, other, expected)) {
        ++statistics_->ill_conditioned;
        return false;
      }
    }
    return true;
  }
  // Whether `actual` differs by far more than a nudge changes the results. A result that jumps does
  // not count.
  bool FarBeyond(const std::vector<NDArray>& actual, const std::vector<NDArray>& other,
                 const std::vector<NDArray>& expected) const {
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (!expected[i].dtype().is_float()) {
        if (FirstDifference(other[i], expected[i], 0)) return false;
        continue;
      }
      const double largest = std::max(1.0, LargestMagnitude(expected[i]));
      double by = rounding_.relative / 20 * largest;
      while (std::isfinite(by) && FirstDifference(other[i], expected[i], by)) by *= 2;
      // A value that a nudge turns into NaN or infinity has jumped.
      if (!std::isfinite(by)) return false;
      if (FirstDifference(actual[i], expected[i], 20 * by)) return true;
    }
    return false;
  }

  // Modules with one result or one call less.
  std::vector<RandomModule> Reductions(const RandomModule& given) {
    std::vector<RandomModule> smaller;
    const ir::FunctionNode& main = given.module.Main();
    if (const auto* tuple = main.body.As<ir::TupleNode>()) {
      for (const Expr& field : tuple->fields)
        AddReduction(given, main.params, field, given.inputs, &smaller);
    }
    const GraphValues values = InterpretEach(given.module, main, given.inputs);
    std::vector<Expr> calls;
    ir::VisitPostOrder(main.body, [&](const Expr& e) {
      if (e.kind() == ir::ExprKind::kCall && !(e == main.body)) calls.push_back(e);
    });
    for (const Expr& call : calls) {
      // What a branch that did not run computes has no value, and an input has no extent that a
      // value decides.
      if (!ir::IsStaticTensor(call.checked_type()) || !values.contains(call)) continue;
      const Expr var = ir::Var::MakeChecked(StrCat("r", reductions_++), call.checked_type(), {});
      std::vector<Expr> params = main.params;
      std::vector<NDArray> inputs = given.inputs;
      params.push_back(var);
      inputs.push_back(values.at(call).at(0));
      const Expr body =
          ir::RewritePostOrder(main.body, [&](const Expr& original, const Expr& rewritten) {
            return original == call ? var : ir::KeepType(original, rewritten);
          });
      AddReduction(given, std::move(params), body, std::move(inputs), &smaller);
    }
    return smaller;
  }

  const std::uint64_t seed_;
  Rounding rounding_ = kFloat32;
  int reductions_ = 0;  // for names
  std::string how_;     // a module was compiled and run
  PassFuzzStatistics* const statistics_;
};

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
  std::vector<std::string> names =
      options.passes.empty() ? passes::ExactPassNames() : options.passes;
  const auto has = [&](const char* name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (has("ConvertLayout")) names.push_back(kConvertTo + RandomWish(random));
  if (has("PartitionGraph")) names.push_back(kPartition + SomeOperators(module.module, random));
  std::vector<std::vector<std::string>> runs;
  for (const std::string& name : names) runs.push_back({name});
  for (int pair = 0; pair < options.pairs; ++pair)
    runs.push_back({random.Of(names), random.Of(names)});
  if (options.compile) {
    runs.push_back({options.exports ? kExport : kCompile});
    runs.push_back({kValues});
  }
  Random rows(seed ^ kRunTimeRows);
  if (options.compile && rows.Chance(15)) {
    if (auto finding = CheckRunTimeRows(straight, seed)) return finding;
  }
  if (Random calls(seed ^ kRefusals); options.compile) {
    if (auto finding = CheckRefusals(kCallsToRefuse, calls, options.before_call))
      return StrCat("finding of seed ", seed, ": ", *finding);
    Random sizes(seed ^ kSizes);
    for (int i = 0; i < kSizesToRefuse; ++i) {
      if (auto finding = CheckSize(sizes, options.before_call))
        return StrCat("finding of seed ", seed, ": ", *finding);
    }
    if (options.before_call != nullptr) options.before_call("");
    Random cached(seed ^ kCached);
    if (auto finding = CheckCached(cached)) return StrCat("finding of seed ", seed, ": ", *finding);
    if (cached.Chance(10)) {
      if (auto finding = CheckCachedRows(cached))
        return StrCat("finding of seed ", seed, ": ", *finding);
    }
    if (Random teams(seed ^ kTeams); teams.Chance(25)) {
      if (auto finding = CheckTeams(teams)) return StrCat("finding of seed ", seed, ": ", *finding);
    }
  }
  for (const std::vector<std::string>& run : runs) {
    if (auto finding = CheckPasses(module, run, seed, statistics)) return finding;
  }
  return std::nullopt;
}

}  // namespace tenon::verify
