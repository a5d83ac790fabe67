#include "tenon/tune/kernel.h"

#include <algorithm>
#include <map>
#include <utility>

#include "tenon/compiler/symbolic/local_extents.h"
#include "tenon/ir/flatten.h"
#include "tenon/ir/structural.h"
#include "tenon/ir/visit.h"
#include "tenon/passes/infer_type.h"
#include "tenon/strategies/choice/content.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/tune/best.h"
#include "tenon/tune/inputs.h"
#include "tenon/verify/array_values.h"

namespace tenon::tune {
namespace {

// What --verify allows, of a result's largest element (docs/numerics.md).
constexpr double kTolerance = 1e-4;

// The arguments of a call, with inputs in the place of whatever is computed.
class Arguments {
 public:
  ir::Expr Of(const ir::Expr& argument, const ir::Type& type) {
    if (argument.kind() == ir::ExprKind::kConstant) {
      constants_.push_back(argument.As<ir::ConstantNode>()->data);
      return argument;
    }
    const auto* parts = type.As<ir::TupleTypeNode>();
    if (parts == nullptr) return Input(type);
    std::vector<ir::Expr> fields;
    const auto* tuple = argument.As<ir::TupleNode>();
    for (std::size_t i = 0; i < parts->fields.size(); ++i) {
      const ir::Type& part = parts->fields[i];
      fields.push_back(tuple != nullptr ? Of(tuple->fields[i], part) : Input(part));
    }
    return ir::Tuple::Make(std::move(fields));
  }
  const std::vector<ir::Expr>& inputs() const { return inputs_; }
  const std::vector<NDArray>& constants() const { return constants_; }

 private:
  ir::Expr Input(const ir::Type& type) {
    constants_.emplace_back();
    inputs_.push_back(ir::Var::Make(StrCat("x", inputs_.size()), type));
    return inputs_.back();
  }
  std::vector<ir::Expr> inputs_;
  std::vector<NDArray> constants_;
};

// `function` is what the call's kernel was made of.
ModelKernel KernelOf(const LoweredKernel& lowered, const ir::Expr& function,
                     const ir::CallNode& call) {
  const auto& node = *function.As<ir::FunctionNode>();
  Arguments arguments;
  std::vector<ir::Expr> args;
  for (std::size_t i = 0; i < call.args.size(); ++i)
    args.push_back(arguments.Of(call.args[i], node.params[i].checked_type()));
  const strategies::Group group{
      .function = &node, .name = lowered.name, .constants = arguments.constants()};
  ModelKernel kernel{.name = lowered.name,
                     .text = strategies::ContentText(group),
                     .content = {},
                     .module = passes::InferType(ir::Module::FromExpr(ir::Function::Make(
                         arguments.inputs(), ir::Call::Make(function, std::move(args))))),
                     .nodes = {},
                     .chosen = lowered.choice,
                     .shapes = {}};
  kernel.content = strategies::ContentKey(kernel.text);
  return kernel;
}

// What the variables of a kernel are in the model's shapes.
Shapes ShapesOf(const compiler::LocalFunction& local, const Shapes& shapes) {
  Shapes own;
  for (const Dim::Values& values : shapes) {
    Dim::Values& of_kernel = own.emplace_back();
    for (const auto& [variable, extent] : local.extents) {
      const std::optional<std::int64_t> value = extent.Evaluate(values);
      if (!value)
        throw InvalidArgument(
            StrCat("the shapes to measure do not give the extent ", extent.ToString()));
      of_kernel.emplace(variable, *value);
    }
  }
  return own;
}

class Kernels {
 public:
  Kernels(const Lowered& lowered, const Shapes& shapes) : lowered_(lowered), shapes_(shapes) {}

  void Add(const ir::CallNode& call) {
    const bool has_variables = !lowered_.plan.symbols.empty();
    const compiler::LocalFunction local =
        has_variables ? compiler::WithLocalExtents(call.callee)
                      : compiler::LocalFunction{.function = call.callee, .extents = {}};
    const Shapes shapes = ShapesOf(local, shapes_);
    for (std::size_t i = 0; i < lowered_.kernels.size(); ++i) {
      const ir::Expr& known = lowered_.kernels[i].function;
      if (!(known == call.callee) && !(has_variables && ir::StructuralEqual(known, local.function)))
        continue;
      const auto [kernel, is_new] = kernels_.try_emplace(static_cast<int>(i));
      if (is_new) {
        kernel->second = KernelOf(lowered_.kernels[i], local.function, call);
        order_.push_back(kernel->first);
      }
      Shapes& all = kernel->second.shapes;
      all.insert(all.end(), shapes.begin(), shapes.end());
    }
  }

  std::vector<ModelKernel> Take() {
    for (const runtime::Node& node : lowered_.plan.nodes) {
      const auto kernel = kernels_.find(node.kernel);
      if (node.kind == runtime::NodeKind::kKernel && kernel != kernels_.end())
        kernel->second.nodes.push_back(node.name);
    }
    std::vector<ModelKernel> kernels;
    for (const int place : order_) kernels.push_back(std::move(kernels_.at(place)));
    return kernels;
  }

 private:
  const Lowered& lowered_;
  const Shapes& shapes_;
  std::map<int, ModelKernel> kernels_;  // by place in the list of those that were lowered
  std::vector<int> order_;
};

}  // namespace

Shapes ModelKernel::RacedShapes() const {
  const std::set<Dim::Values> sorted(shapes.begin(), shapes.end());
  const Shapes all(sorted.begin(), sorted.end());
  if (all.size() <= kMaxShapes) return all;
  Shapes some;
  for (std::size_t i = 0; i < kMaxShapes; ++i)
    some.push_back(all[i * (all.size() - 1) / (kMaxShapes - 1)]);
  return some;
}

std::vector<ModelKernel> KernelsOf(const Lowered& lowered, const Shapes& shapes) {
  Kernels kernels(lowered, shapes);
  ir::VisitPostOrder(
      lowered.module.Main().body,
      [&](const ir::Expr& e) {
        const auto* call = e.As<ir::CallNode>();
        if (call != nullptr && call->callee.kind() == ir::ExprKind::kFunction) kernels.Add(*call);
      },
      [](const ir::Expr& e) { return e.kind() != ir::ExprKind::kFunction; });
  return kernels.Take();
}

Contender::Contender(strategies::Choice choice, const Executable& executable, const Shapes& shapes)
    : choice_(std::move(choice)),
      inputs_(InputsOf(executable, shapes)),
      session_(std::make_unique<Session>(executable)) {}

void Contender::Run() {
  for (const runtime::Inputs& inputs : inputs_) (void)ValueOrThrow(session_->Run(inputs));
}
std::vector<std::vector<NDArray>> Contender::Results() {
  std::vector<std::vector<NDArray>> results;
  for (const runtime::Inputs& inputs : inputs_)
    results.push_back(ValueOrThrow(session_->Run(inputs)));
  return results;
}
std::string Contender::ChoiceText() const {
  return tune::ChoiceText(choice_.implementation, choice_.config.Values());
}

absl::StatusOr<Contender> MakeContender(const ModelKernel& kernel,
                                        const strategies::MeasuredChoices& choices,
                                        const CompileOptions& options,
                                        const std::set<std::string>& known) {
  return CatchErrors([&] {
    CompileOptions of_choice = options;
    of_choice.measured = choices;
    Lowered lowered = ValueOrThrow(LowerFused(kernel.module, of_choice));
    if (lowered.kernels.size() != 1)
      throw FailedPrecondition(
          StrCat("the kernel alone has ", lowered.kernels.size(), " kernels, not 1"));
    strategies::Choice choice = lowered.kernels[0].choice;
    if (choices != nullptr && !choice.candidates[choice.chosen].measured)
      throw FailedPrecondition(choice.remark);
    const std::string text = tune::ChoiceText(choice.implementation, choice.config.Values());
    if (known.contains(text)) throw AlreadyExists(StrCat(text, " was raced already"));
    const Executable executable = ValueOrThrow(Link(lowered, options));
    return Contender(std::move(choice), executable, kernel.RacedShapes());
  });
}

strategies::MeasuredChoices Always(std::string row, strategies::ConfigValues config) {
  const strategies::MeasuredChoice choice{.row = std::move(row), .config = std::move(config)};
  return [choice](const std::string&) { return std::optional(choice); };
}

std::optional<std::string> DifferenceOf(const std::vector<NDArray>& results,
                                        const std::vector<NDArray>& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double allowed = std::max(kTolerance, 2 * verify::RoundingError(expected[i].dtype())) *
                           verify::LargestMagnitude(expected[i]);
    if (const auto difference = verify::FirstDifference(results[i], expected[i], allowed))
      return StrCat("result ", i, " at ", ShapeToString(difference->index), " is ",
                    difference->actual, ", by the default ", difference->expected);
  }
  return std::nullopt;
}

}  // namespace tenon::tune
