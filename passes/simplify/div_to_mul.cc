#include "tenon/passes/simplify/div_to_mul.h"

#include <cmath>
#include <optional>

#include "tenon/ir/visit.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"

namespace tenon::passes {
namespace {

using ir::CallNode;
using ir::Expr;

template <typename T>
std::optional<NDArray> Inverted(const NDArray& array) {
  NDArray result = NDArray::Empty(array.shape(), array.dtype());
  for (std::int64_t i = 0; i < array.size(); ++i) {
    const T value = array.data<T>()[i];
    const T inverse = static_cast<T>(1.0 / static_cast<double>(value));
    if (!std::isnormal(value) || !std::isnormal(inverse)) return std::nullopt;
    result.data<T>()[i] = inverse;
  }
  return result;
}

Expr Multiplied(const Expr& e) {
  const auto* call = e.As<CallNode>();
  if (call == nullptr || !(call->callee == ops::Known().divide)) return e;
  const auto* divisor = call->args[1].As<ir::ConstantNode>();
  if (divisor == nullptr) return e;
  const DataType type = divisor->data.dtype();
  const auto inverse = type == Float32   ? Inverted<float>(divisor->data)
                       : type == Float64 ? Inverted<double>(divisor->data)
                                         : std::nullopt;
  return inverse ? ops::Multiply(call->args[0], ir::Constant::Make(*inverse, e.span())) : e;
}

}  // namespace

ir::Module DivToMul(const ir::Module& module) {
  return module.Map([&](const Expr& function) {
    return ir::RewritePostOrder(function, [](const Expr& original, const Expr& rebuilt) {
      return ir::KeepType(original, Multiplied(rebuilt));
    });
  });
}

}  // namespace tenon::passes
