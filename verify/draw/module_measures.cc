#include "tenon/verify/draw/module_measures.h"

#include <algorithm>
#include <string>

#include "tenon/ir/visit.h"
#include "tenon/verify/array_values.h"

namespace tenon::verify {
namespace {

using ir::Expr;

// Larger values are not computed.
constexpr std::int64_t kMaxElements = 1 << 17;
constexpr std::int64_t kMaxExpressions = 3000;

std::int64_t Elements(const ir::Type& type) {
  if (const auto* tuple = type.As<ir::TupleTypeNode>()) {
    std::int64_t max_elements = 0;
    for (const ir::Type& field : tuple->fields)
      max_elements = std::max(max_elements, Elements(field));
    return max_elements;
  }
  if (!ir::IsStaticTensor(type)) return 0;
  const double elements = ElementsCounted(ir::StaticShape(type, "a value"));
  return elements > 1e18 ? std::int64_t{1} << 60 : static_cast<std::int64_t>(elements);
}

bool RoundsToIntegers(const std::string& op) {
  return op.starts_with("image.") || op.starts_with("nn.upsampling") || op == "qnn.quantize" ||
         op == "qnn.requantize";
}

}  // namespace

double ElementsCounted(const Shape& shape) {
  double elements = 1;
  for (const std::int64_t extent : shape)
    elements *= static_cast<double>(std::max<std::int64_t>(extent, 1));
  return elements;
}

bool ModuleMeasures::IsLarge() const {
  return elements > kMaxElements || expressions > kMaxExpressions;
}

ModuleMeasures MeasuresOf(const ir::Module& module) {
  ModuleMeasures measures;
  const auto measure = [&](const Expr& e) {
    ++measures.expressions;
    if (const auto* call = e.As<ir::CallNode>(); call != nullptr && call->op() != nullptr) {
      measures.rounds_to_integers |= RoundsToIntegers(call->op()->name);
      measures.normalises |= call->op()->name == "nn.batch_norm";
    }
    if (const auto* constant = e.As<ir::ConstantNode>())
      measures.has_infinities |= !IsFinite(constant->data);
    if (!e.checked_type()) return;
    measures.elements = std::max(measures.elements, Elements(e.checked_type()));
    if (const auto* tensor = e.checked_type().As<ir::TensorTypeNode>();
        tensor != nullptr && tensor->dtype.is_float())
      measures.rounding = std::max(measures.rounding, RoundingError(tensor->dtype));
  };
  for (const auto& [name, function] : module.functions()) {
    if (const auto* node = function.As<ir::FunctionNode>()) ir::VisitPostOrder(node->body, measure);
  }
  for (const Expr& param : module.Main().params)
    measures.elements = std::max(measures.elements, Elements(param.checked_type()));
  return measures;
}

bool ReadsNoElements(const absl::Status& status) {
  return absl::IsOutOfRange(status) &&
         std::string(status.message()).ends_with(", whose extent is 0");
}

bool IsUserError(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kInternal:
    case absl::StatusCode::kUnknown:
    case absl::StatusCode::kResourceExhausted:
      return false;
    default:
      return !status.message().empty();
  }
}

}  // namespace tenon::verify
