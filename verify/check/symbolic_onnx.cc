#include "tenon/verify/check/symbolic_onnx.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "tenon/compiler/compile.h"
#include "tenon/ir/text_format.h"
#include "tenon/ir/verify.h"
#include "tenon/ir/visit.h"
#include "tenon/onnx/import.h"
#include "tenon/passes/infer_type.h"
#include "tenon/strategies/lower_function.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/verify/array_values.h"
#include "tenon/verify/check/onnx_results.h"
#include "tenon/verify/check/printed_module.h"
#include "tenon/verify/draw/name_extents.h"
#include "tenon/verify/draw/symbolic_module.h"
#include "tenon/verify/interpret.h"

namespace tenon::verify {
namespace {

using Arrays = std::vector<NDArray>;
using Words = std::optional<std::string>;

// The share of the distinct extents that become variables, in one attempt after the other.
constexpr int kPercents[] = {70, 40, 25, 15};
// Larger inputs are not drawn.
constexpr std::int64_t kMaxElements = 1 << 15;

absl::StatusOr<ir::Module> Imported(const onnx::ModelProto& model,
                                    onnx_import::ImportOptions options) {
  options.evaluate = strategies::EvaluateCall;
  const absl::StatusOr<ir::Module> module =
      onnx_import::ImportOnnx(model.SerializeAsString(), options);
  if (!module.ok()) return module.status();
  return CatchErrors([&] {
    ir::VerifyModule(*module);
    return passes::InferType(*module);
  });
}

bool IsLarge(const Shape& shape) { return ElementsCounted(shape) > kMaxElements; }

// One module with variables, compiled, and the model that it comes of.
class SymbolicCheck {
 public:
  SymbolicCheck(onnx::ModelProto named, ir::Module module, Random& random, std::uint64_t seed,
                OnnxFuzzStatistics* statistics)
      : named_(std::move(named)),
        module_(std::move(module)),
        random_(random),
        seed_(seed),
        statistics_(statistics) {
    options_.library = random.Chance(60) ? LibraryChoice::kAuto : LibraryChoice::kTe;
    options_.keep_nan = true;
    options_.winograd = !MeasuresOf(module_).has_infinities;
    options_.check_bounds = random.Chance(60);
    if (random.Chance(10)) options_.opt_level = static_cast<int>(random.Below(5));
  }

  // `original` has the shapes that were drawn.
  Words Of(const onnx::ModelProto& original) {
    if (random_.Chance(15)) {
      if (Words words = WrongText(module_)) return words;
    }
    const absl::StatusOr<Executable> executable = Compiled();
    if (!executable.ok()) {
      if (!IsUserError(executable.status()))
        return StrCat("with variables, it is not compiled: ", executable.status().ToString());
      ++statistics_->symbolic_refused;
      return std::nullopt;
    }
    ++statistics_->symbolic;
    for (const Dim::Values& values : DrawValues(Own(original), random_)) {
      if (Words words = At(values, *executable))
        return StrCat("for ", ToString(values), ": ", *words, "\n",
                      ir::PrintModule(module_, {.metadata = false}));
    }
    return std::nullopt;
  }

 private:
  absl::StatusOr<Executable> Compiled() {
    if (random_.Chance(40)) {
      const absl::StatusOr<Lowered> lowered = Lower(module_, options_);
      if (lowered.ok()) {
        plan_needs_ = lowered->plan.conditions;
        return Link(*lowered, options_);
      }
      // Not all models have one plan for all values.
      if (!IsUserError(lowered.status())) return lowered.status();
    }
    return Compile(module_, options_);
  }

  // The values that the model was drawn with; small ones of variables that it had before.
  Dim::Values Own(const onnx::ModelProto& original) {
    std::map<std::string, Shape> drawn;
    for (const onnx::ValueInfoProto& input : original.graph().input()) {
      for (const auto& dim : input.type().tensor_type().shape().dim())
        drawn[input.name()].push_back(dim.has_dim_value() ? dim.dim_value() : 2 + random_.Below(4));
    }
    std::vector<Shape> shapes;
    for (const ir::Expr& param : module_.Main().params)
      shapes.push_back(drawn[ir::Var(param).name()]);
    Dim::Values own = OwnValues(module_, shapes);
    for (const std::string& name : VariablesOf(module_)) own.try_emplace(name, 3);
    return own;
  }

  Words At(const Dim::Values& values, const Executable& executable) {
    const std::vector<Shape> shapes = ShapesAt(module_, values);
    if (std::ranges::any_of(shapes, IsLarge)) {
      ++statistics_->values_left_out;
      return std::nullopt;
    }
    std::map<std::string, Shape> by_name;
    Arrays inputs;
    runtime::Inputs given;
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      const ir::Expr& param = module_.Main().params[i];
      const DataType type = param.checked_type().As<ir::TensorTypeNode>()->dtype;
      inputs.push_back(random_.Chance(40) ? RandomArray(shapes[i], type, random_)
                                          : TypicalArray(shapes[i], type, random_));
      given.emplace(ir::Var(param).name(), inputs.back());
      by_name.emplace(ir::Var(param).name(), shapes[i]);
    }
    // The shapes, too, since the standard's 0 stands for any extent.
    const absl::StatusOr<ir::Module> fixed =
        Imported(WithShapes(named_, by_name), {.shapes = by_name});
    if (!fixed.ok() && !IsUserError(fixed.status()))
      return StrCat("the model of these shapes is not imported: ", fixed.status().ToString());
    if (fixed.ok() && MeasuresOf(*fixed).IsLarge()) {
      ++statistics_->values_left_out;
      return std::nullopt;
    }
    const absl::StatusOr<Arrays> actual = executable.Run(given);
    if (!actual.ok() && !IsUserError(actual.status()))
      return StrCat("the run fails: ", actual.status().ToString());
    if (!fixed.ok()) {
      // The import of numbers may have limits of its own.
      const bool is_limit = absl::IsUnimplemented(fixed.status());
      if (actual.ok() && !is_limit && !IsNotComputed(fixed.status()) &&
          !IsPlaceOutside(fixed.status()) && !IsOfNoTurn(fixed.status(), inputs, *actual)) {
        return StrCat("it runs, and the model of these shapes is refused: ",
                      fixed.status().message());
      }
      ++(actual.ok() ? statistics_->values_left_out : statistics_->values_refused);
      return std::nullopt;
    }
    const absl::StatusOr<Arrays> expected = CatchErrors([&] { return Interpret(*fixed, inputs); });
    if (!expected.ok()) {
      if (!IsUserError(expected.status()))
        return StrCat("it is not interpreted: ", expected.status().ToString());
      // For instance, an index is outside its axis.
      ++statistics_->values_left_out;
      return std::nullopt;
    }
    if (!actual.ok()) return RefusedAlone(values, actual.status());
    return Compared(values, *fixed, inputs, *actual, *expected);
  }

  // Whether the node that is refused is in a body that does not run: then the results are those of
  // the module with variables.
  bool IsOfNoTurn(const absl::Status& refusal, const Arrays& inputs, const Arrays& actual) const {
    const onnx::NodeProto* node = Refused(refusal);
    const bool has_body =
        node != nullptr && std::ranges::any_of(node->attribute(), [](const auto& attribute) {
          return attribute.has_g();
        });
    if (!has_body) return false;
    const absl::StatusOr<Arrays> expected = CatchErrors([&] { return Interpret(module_, inputs); });
    OnnxFuzzStatistics counts;
    return expected.ok() && !ResultComparison(module_, inputs, seed_, /*has_infinities=*/false)
                                 .Differing(actual, *expected, &counts);
  }

  // The node of the graph that a refusal names; null if there is none.
  const onnx::NodeProto* Refused(const absl::Status& refusal) const {
    const std::string message(refusal.message());
    const auto& nodes = named_.graph().node();
    const auto found = std::ranges::find_if(nodes, [&](const onnx::NodeProto& node) {
      return message.find(StrCat("in the node ", node.name(), " (")) != std::string::npos;
    });
    return found == nodes.end() ? nullptr : &*found;
  }

  // Whether the node that is refused makes nothing in the module with variables, or not all of its
  // outputs: only the extents of its result are read, or nothing is.
  bool IsNotComputed(const absl::Status& refusal) const {
    const onnx::NodeProto* node = Refused(refusal);
    if (node == nullptr) return false;
    if (HasUnreadOutput(named_, *node)) return true;
    bool is_computed = false;
    ir::VisitPostOrder(module_.Main().body, [&](const ir::Expr& e) {
      is_computed |= e.span().source.starts_with(StrCat(node->name(), " ("));
    });
    return !is_computed;
  }

  // Whether it is that of a place outside a sequence which extents decide. Of one that only a run
  // knows, the nearest element is read.
  bool IsPlaceOutside(const absl::Status& refusal) const {
    const onnx::NodeProto* node = Refused(refusal);
    return node != nullptr && node->op_type() == "SequenceAt" &&
           std::ranges::none_of(named_.graph().initializer(), [&](const auto& initializer) {
             return initializer.name() == node->input(1);
           });
  }

  // Of a run that is refused where the model of these shapes is not.
  Words RefusedAlone(const Dim::Values& values, const absl::Status& refusal) {
    const bool is_limit = refusal.code() == absl::StatusCode::kUnimplemented;
    if (is_limit || BrokenCondition(module_, values, options_, plan_needs_)) {
      ++statistics_->conditions;
      return std::nullopt;
    }
    return StrCat("the run is refused, and the model of these shapes is not: ", refusal.message());
  }

  Words Compared(const Dim::Values& values, const ir::Module& fixed, const Arrays& inputs,
                 const Arrays& actual, const Arrays& expected) {
    if (Words words = WrongTypes(values, actual)) return words;
    OnnxFuzzStatistics counts;
    const ResultComparison comparison(fixed, inputs, seed_, /*has_infinities=*/false);
    const Words words = comparison.Differing(actual, expected, &counts);
    statistics_->values += counts.equal;
    statistics_->values_left_out += counts.ill_conditioned;
    if (!words) return std::nullopt;
    const absl::StatusOr<Arrays> symbolic = CatchErrors([&] { return Interpret(module_, inputs); });
    const bool is_import =
        !symbolic.ok() || comparison.Differing(*symbolic, expected, &counts).has_value();
    return StrCat("wrong result (", is_import ? "the import with variables" : "the compile",
                  "): ", *words, "\nThe module of these shapes:\n",
                  ir::PrintModule(fixed, {.metadata = false}), "With variables:");
  }

  // What the types of the results say of their extents must hold.
  Words WrongTypes(const Dim::Values& values, const Arrays& actual) const {
    const ir::Type type = module_.Main().body.checked_type();
    const auto* tuple = type.As<ir::TupleTypeNode>();
    const std::vector<ir::Type> types =
        tuple == nullptr ? std::vector<ir::Type>{type} : tuple->fields;
    if (types.size() != actual.size()) return std::nullopt;  // nested
    for (std::size_t i = 0; i < types.size(); ++i) {
      const auto* tensor = types[i].As<ir::TensorTypeNode>();
      if (tensor == nullptr) return std::nullopt;
      for (std::size_t d = 0; d < tensor->shape.size(); ++d) {
        const auto extent = tensor->shape[d].Evaluate(values);
        if (extent && *extent != actual[i].shape().at(d))
          return StrCat("result ", i, " is ", ShapeToString(actual[i].shape()),
                        ", and its type is ", ir::ToString(types[i]));
      }
    }
    return std::nullopt;
  }

  const onnx::ModelProto named_;
  const ir::Module module_;
  Random& random_;
  const std::uint64_t seed_;
  OnnxFuzzStatistics* const statistics_;
  CompileOptions options_;
  // Of the one plan for all values, where there is one: it takes what is broadcast together as
  // equal.
  std::vector<ExtentCondition> plan_needs_;
};

}  // namespace

Words CheckSymbolicOnnx(const onnx::ModelProto& model, std::uint64_t seed,
                        const OnnxFuzzOptions& options, OnnxFuzzStatistics* statistics) {
  Random random(seed);
  for (const int percent : kPercents) {
    onnx::ModelProto named = WithoutDeadNodes(model);
    if (!NameExtents(&named, percent, random)) continue;
    if (options.before_import) options.before_import(named.SerializeAsString());
    const absl::StatusOr<ir::Module> module = Imported(named, {.symbolic = true});
    if (!module.ok()) {
      if (!IsUserError(module.status()))
        return StrCat("with variables, it is not imported: ", module.status().ToString());
      continue;
    }
    if (VariablesOf(*module).empty()) continue;
    return SymbolicCheck(std::move(named), *module, random, seed, statistics).Of(model);
  }
  ++statistics->symbolic_refused;
  return std::nullopt;
}

}  // namespace tenon::verify
