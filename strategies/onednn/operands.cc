#include "tenon/strategies/onednn/operands.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "tenon/support/strings.h"

namespace tenon::strategies::onednn {

using ir::CallNode;
using ir::Expr;
using ir::TensorTypeNode;

namespace {

// Of the library's numbers of 32 bits.
constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();

}  // namespace

Implementation OnTarget(Implementation implementation) {
  implementation.refusal = [refusal = std::move(implementation.refusal)](const Group& group) {
    const auto feature = FeatureBeyond(group.lowering.target);
    if (!feature) return refusal(group);
    return std::optional(
        StrCat("its code uses ", *feature,
               ", which the target lacks; ONEDNN_MAX_CPU_ISA limits it for the whole process"));
  };
  return implementation;
}

bool HasNoElements(const ir::Type& type) {
  return std::ranges::any_of(type.As<TensorTypeNode>()->shape,
                             [](const ir::Dim& dim) { return dim == ir::Dim(0); });
}

std::optional<std::string> RefuseShape(const CallNode& anchor) {
  for (const Expr& arg : anchor.args) {
    if (arg.kind() != ir::ExprKind::kVar) return "an operand is computed inside the kernel";
  }
  if (HasNoElements(anchor.checked_type)) return "the result has no elements";
  for (const Expr& arg : anchor.args) {
    if (HasNoElements(arg.checked_type())) return "the sum has no terms";
  }
  return std::nullopt;
}

std::optional<std::string> RefuseOperands(const CallNode& anchor) {
  const auto* result = anchor.checked_type.As<TensorTypeNode>();
  for (const Expr& arg : anchor.args) {
    if (arg.checked_type().As<TensorTypeNode>()->dtype != Float32 || result->dtype != Float32)
      return "it takes float32 only";
  }
  return RefuseShape(anchor);
}

std::optional<std::string> RefuseSteps(const ops::Ints& steps) {
  for (const std::int64_t step : steps) {
    if (step > kMost) return StrCat("a step of ", step, " is no number of 32 bits");
  }
  return std::nullopt;
}

std::optional<std::string> RefusePadded(const Extents2D& size, const Extents2D& before,
                                        const Extents2D& after) {
  for (std::size_t d = 0; d < size.size(); ++d) {
    if (std::max({size[d], before[d], after[d]}) > kMost || size[d] + before[d] + after[d] > kMost)
      return "the padded image is longer than numbers of 32 bits count";
  }
  return std::nullopt;
}

std::optional<std::string> RefuseUnlessAsked(const Group& group) {
  if (group.library == LibraryChoice::kAuto)
    return "generated code shares its kernel with what is around it; a composite or the library "
           "choice onednn asks for it";
  return std::nullopt;
}

int ParameterIndex(const Group& group, const Expr& var) {
  const auto& params = group.function->params;
  return static_cast<int>(std::find(params.begin(), params.end(), var) - params.begin());
}

NDArray KnownValue(const Group& group, const Expr& var) {
  const auto i = static_cast<std::size_t>(ParameterIndex(group, var));
  return i < group.constants.size() ? group.constants[i] : NDArray();
}

std::vector<int> Arguments(const Group& group, const CallNode& anchor, const Epilogue& epilogue) {
  std::vector<int> arguments = {ParameterIndex(group, anchor.args[0])};
  for (std::size_t i = 1; i < anchor.args.size(); ++i) {
    if (!KnownValue(group, anchor.args[i]).defined())
      arguments.push_back(ParameterIndex(group, anchor.args[i]));
  }
  if (epilogue.bias && !KnownValue(group, epilogue.bias).defined())
    arguments.push_back(ParameterIndex(group, epilogue.bias));
  for (const Expr& operand : epilogue.operands) arguments.push_back(ParameterIndex(group, operand));
  return arguments;
}

BuildResult WithArguments(MadeKernel made, std::vector<int> arguments) {
  if (auto* refused = std::get_if<Refused>(&made)) return std::move(*refused);
  return Built{.kernel = std::get<KernelPointer>(std::move(made)),
               .arguments = std::move(arguments)};
}

}  // namespace tenon::strategies::onednn
