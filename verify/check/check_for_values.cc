#include "tenon/verify/check/check_for_values.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "tenon/ir/flatten.h"
#include "tenon/ir/text_format.h"
#include "tenon/ir/visit.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/verify/check/compiled_run.h"
#include "tenon/verify/check/explained_by_rounding.h"
#include "tenon/verify/check/result_difference.h"
#include "tenon/verify/draw/module_measures.h"
#include "tenon/verify/draw/symbolic_module.h"
#include "tenon/verify/interpret.h"

namespace tenon::verify {
namespace {

using ir::Expr;
using ir::Module;
using Arrays = std::vector<NDArray>;
using Words = std::optional<std::string>;

// So that modules of a seed stay what they were.
constexpr std::uint64_t kSymbols = 0x5A;
// What is interpreted for other values.
constexpr std::int64_t kMaxElements = 1 << 14;

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

// One module with variables, compiled, and the module of numbers that it comes of.
class ValueCheck {
 public:
  ValueCheck(const RandomModule& given, Module symbolic, CompileOptions options, std::uint64_t seed,
             PassFuzzStatistics* statistics)
      : given_(given),
        symbolic_(std::move(symbolic)),
        options_(std::move(options)),
        seed_(seed),
        statistics_(statistics) {}

  Words Of(Random& random) const {
    const absl::StatusOr<Executable> executable = Compile(symbolic_, options_);
    if (!executable.ok()) {
      if (IsUserError(executable.status())) return std::nullopt;
      return StrCat("it is not compiled: ", executable.status().ToString());
    }
    ++statistics_->symbolic;
    std::vector<Shape> shapes;
    for (const NDArray& input : given_.inputs) shapes.push_back(input.shape());
    for (const Dim::Values& values : DrawValues(OwnValues(symbolic_, shapes), random)) {
      if (const Words words = At(values, *executable, random))
        return StrCat("for ", ToString(values), ": ", *words, "\n", ir::PrintModule(symbolic_));
    }
    return std::nullopt;
  }

 private:
  Words At(const Dim::Values& values, const Executable& executable, Random& random) const {
    const std::vector<Shape> shapes = ShapesAt(symbolic_, values);
    if (std::ranges::any_of(shapes,
                            [](const Shape& shape) { return NumElements(shape) > kMaxElements; }))
      return LeftOut();
    RandomModule fixed{{}, {}, given_.floats};
    runtime::Inputs named;
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      fixed.inputs.push_back(Resized(given_.inputs[i], shapes[i], random));
      named.emplace(ir::Var(symbolic_.Main().params[i]).name(), fixed.inputs.back());
    }
    const absl::Status typed = CatchErrors([&] { fixed.module = WithValues(symbolic_, values); });
    if (typed.ok() && MeasuresOf(fixed.module).elements > kMaxElements) return LeftOut();
    const absl::StatusOr<Arrays> actual = executable.Run(named);
    for (const absl::Status& status : {typed, actual.status()}) {
      if (!status.ok() && !IsUserError(status)) return status.ToString();
    }
    if (!typed.ok()) return Untyped(values, typed, named, actual.ok());
    const absl::StatusOr<Arrays> expected =
        CatchErrors([&] { return Interpret(fixed.module, fixed.inputs); });
    if (!expected.ok() ||
        (given_.floats != FloatValues::kAll && !std::ranges::all_of(*expected, IsFinite)))
      return LeftOut();
    if (!actual.ok()) return RefusedAlone(values, actual.status());
    return Compared(fixed, *actual, *expected);
  }

  Words LeftOut() const {
    ++statistics_->values_left_out;
    return std::nullopt;
  }

  // Of a module of these shapes that is refused.
  Words Untyped(const Dim::Values& values, const absl::Status& refusal,
                const runtime::Inputs& inputs, bool runs) const {
    // What a branch needs that does not run is no matter.
    const auto is_taken_refused = [&] {
      return !CatchErrors([&] {
                (void)WithValues(WithTakenBranches(symbolic_, inputs), values);
              }).ok();
    };
    if (runs && !ReadsShapes(symbolic_) && is_taken_refused())
      return StrCat("it runs, and the module of these shapes is refused: ", refusal.message());
    ++(runs ? statistics_->values_left_out : statistics_->values_refused);
    return std::nullopt;
  }

  // Of a run that is refused where the module of these shapes is not.
  Words RefusedAlone(const Dim::Values& values, const absl::Status& refusal) const {
    if (refusal.code() != absl::StatusCode::kUnimplemented &&
        !BrokenCondition(symbolic_, values, options_))
      return StrCat("the run is refused, and that of the module of these shapes is not: ",
                    refusal.message());
    ++statistics_->conditions;
    return std::nullopt;
  }

  Words Compared(const RandomModule& fixed, const Arrays& actual, const Arrays& expected) const {
    if (Words words = DifferentTypes(actual, expected)) return words;
    const Rounding& rounding = HasHalves(given_.module) ? kBFloat16Rounding : kFloat32Rounding;
    Words words = DifferentValues(actual, expected, {.relative = rounding.relative});
    if (!words) {
      ++statistics_->values;
      return std::nullopt;
    }
    if (!IsExplainedByRounding(fixed, actual, expected, rounding, seed_)) return words;
    ++statistics_->ill_conditioned;
    return LeftOut();
  }

  const RandomModule& given_;
  const Module symbolic_;
  const CompileOptions options_;
  const std::uint64_t seed_;
  PassFuzzStatistics* const statistics_;
};

}  // namespace

Words CheckForValues(const RandomModule& given, std::uint64_t seed, PassFuzzStatistics* statistics,
                     std::string* how) {
  Random random(seed ^ kSymbols);
  auto symbolic = WithSymbols(given.module, random.Next());
  if (!symbolic) return std::nullopt;
  CompiledRun run = RandomRun(random);
  if (given.floats == FloatValues::kAll) run.KeepAllFloats();
  *how = StrCat(" (", run.ToString(), ")");
  return ValueCheck(given, *std::move(symbolic), run.options, seed, statistics).Of(random);
}

}  // namespace tenon::verify
