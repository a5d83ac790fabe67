#include "tenon/tune/kernel.h"

#include <algorithm>
#include <utility>

#include "tenon/ir/flatten.h"
#include "tenon/ir/visit.h"
#include "tenon/passes/infer_type.h"
#include "tenon/strategies/content.h"
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
  ir::Expr Of(const ir::Expr& argument) {
    if (argument.kind() == ir::ExprKind::kConstant) {
      constants_.push_back(argument.As<ir::ConstantNode>()->data);
      return argument;
    }
    const auto* type = argument.checked_type().As<ir::TupleTypeNode>();
    if (type == nullptr) return Input(argument.checked_type());
    std::vector<ir::Expr> fields;
    const auto* tuple = argument.As<ir::TupleNode>();
    for (std::size_t i = 0; i < type->fields.size(); ++i)
      fields.push_back(tuple != nullptr ? Of(tuple->fields[i]) : Input(type->fields[i]));
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

ModelKernel KernelOf(const LoweredKernel& lowered, const ir::CallNode& call) {
  Arguments arguments;
  std::vector<ir::Expr> args;
  for (const ir::Expr& arg : call.args) args.push_back(arguments.Of(arg));
  const strategies::Group group{.function = call.callee.As<ir::FunctionNode>(),
                                .name = lowered.name,
                                .constants = arguments.constants()};
  ModelKernel kernel{.name = lowered.name,
                     .text = strategies::ContentText(group),
                     .content = {},
                     .module = passes::InferType(ir::Module::FromExpr(ir::Function::Make(
                         arguments.inputs(), ir::Call::Make(call.callee, std::move(args))))),
                     .nodes = {},
                     .chosen = lowered.choice};
  kernel.content = strategies::ContentKey(kernel.text);
  return kernel;
}

}  // namespace

std::vector<ModelKernel> KernelsOf(const Lowered& lowered) {
  std::vector<ModelKernel> kernels;
  std::vector<int> places;
  ir::VisitPostOrder(
      lowered.module.Main().body,
      [&](const ir::Expr& e) {
        const auto* call = e.As<ir::CallNode>();
        if (call == nullptr || call->callee.kind() != ir::ExprKind::kFunction) return;
        for (std::size_t i = 0; i < lowered.kernels.size(); ++i) {
          const int place = static_cast<int>(i);
          if (!(lowered.kernels[i].function == call->callee) ||
              std::ranges::find(places, place) != places.end())
            continue;
          kernels.push_back(KernelOf(lowered.kernels[i], *call));
          places.push_back(place);
        }
      },
      [](const ir::Expr& e) { return e.kind() != ir::ExprKind::kFunction; });
  for (const runtime::Node& node : lowered.plan.nodes) {
    const auto place = std::ranges::find(places, node.kernel);
    if (node.kind == runtime::NodeKind::kKernel && place != places.end())
      kernels[static_cast<std::size_t>(place - places.begin())].nodes.push_back(node.name);
  }
  return kernels;
}

Contender::Contender(strategies::Choice choice, const Executable& executable)
    : choice_(std::move(choice)),
      inputs_(InputsOf(executable)),
      session_(std::make_unique<Session>(executable)) {}

void Contender::Run() { (void)ValueOrThrow(session_->Run(inputs_)); }
std::vector<NDArray> Contender::Results() { return ValueOrThrow(session_->Run(inputs_)); }
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
    return Contender(std::move(choice), executable);
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
