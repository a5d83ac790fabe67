// Each operand is cast once, however many operators read it; a cast of a constant is folded later.
// Where one such operator follows another through elementwise ones, fusion keeps the values between
// them in registers or in float32 memory. They are still rounded to their type.
#include "tenon/passes/precision/widen_half_floats.h"

#include <algorithm>
#include <unordered_map>

#include "tenon/ir/visit.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/pass_rules.h"
#include "tenon/ops/registry.h"
#include "tenon/passes/infer_type.h"

namespace tenon::passes {
namespace {

using ir::CallNode;
using ir::Expr;

// The element type of a tensor, or of all fields of a tuple.
DataType TypeOf(const Expr& e) {
  const auto* tensor = e.checked_type().As<ir::TensorTypeNode>();
  if (tensor != nullptr) return tensor->dtype;
  const auto* tuple = e.As<ir::TupleNode>();
  if (tuple == nullptr || tuple->fields.empty()) return DataType();
  const DataType first = TypeOf(tuple->fields[0]);
  return std::all_of(tuple->fields.begin(), tuple->fields.end(),
                     [&](const Expr& field) { return TypeOf(field) == first; })
             ? first
             : DataType();
}

// Makes sums float32 where the attributes name a half type, or none when `name_type` holds.
attrs::Attrs Widened(const attrs::Attrs& attrs, bool name_type) {
  attrs::Attrs widened = attrs;
  for (const char* field : {"dtype", "out_dtype"}) {
    const attrs::Value value = attrs.Get(field);
    const auto* named = value.As<DataType>();
    if (named != nullptr && (named->is_half() || (named->is_void() && name_type)))
      widened = widened.With(field, attrs::Value(Float32));
  }
  return widened;
}

bool IsEntered(const Expr& e) {
  const auto* function = e.As<ir::FunctionNode>();
  return function == nullptr || !(function->is_primitive() || function->attrs.contains("Compiler"));
}

class Widener {
 public:
  Expr Apply(const Expr& original, const Expr& rebuilt) {
    const auto* call = rebuilt.As<CallNode>();
    if (call == nullptr) return rebuilt;
    const auto* sums = call->op() == nullptr ? nullptr : ops::OpOf(*call)->Column<ops::HalfSums>();
    if (sums == nullptr) return rebuilt;
    // All operands have one type.
    const DataType type = TypeOf(original.As<CallNode>()->args[0]);
    if (!type.is_half()) return WithWideResult(original, rebuilt);
    const bool keeps_operands = *sums == ops::HalfSums::kOfProducts && type == BFloat16;
    if (keeps_operands && !TypeOf(original).is_half()) return rebuilt;
    std::vector<Expr> operands;
    for (const Expr& arg : call->args) operands.push_back(keeps_operands ? arg : Wide(arg));
    const Expr sum = InferCall(ir::Call::Make(
        call->callee, std::move(operands), Widened(call->attrs, keeps_operands), rebuilt.span()));
    return TypeOf(original).is_half() ? InferCall(ops::Cast(sum, TypeOf(original))) : sum;
  }

 private:
  // Of other operands, where the attributes alone name a half type.
  static Expr WithWideResult(const Expr& original, const Expr& rebuilt) {
    if (!TypeOf(original).is_half()) return rebuilt;
    const auto& call = *rebuilt.As<CallNode>();
    const attrs::Attrs widened = Widened(call.attrs, false);
    if (widened == call.attrs) return rebuilt;
    const Expr sum = InferCall(ir::Call::Make(call.callee, call.args, widened, call.span));
    return InferCall(ops::Cast(sum, TypeOf(original)));
  }

  Expr Wide(const Expr& e) {
    const auto [found, is_new] = wide_.try_emplace(e);
    if (!is_new) return found->second;
    Expr wide;
    if (const auto* tuple = e.As<ir::TupleNode>()) {
      std::vector<Expr> fields;
      std::vector<ir::Type> types;
      for (const Expr& field : tuple->fields) {
        fields.push_back(Wide(field));
        types.push_back(fields.back().checked_type());
      }
      wide = ir::Tuple::Make(std::move(fields), e.span(), ir::TupleType(std::move(types)));
    } else {
      wide = InferCall(ops::Cast(e, Float32));
    }
    return wide_[e] = wide;
  }

  std::unordered_map<Expr, Expr, ir::ExprHash> wide_;
};

}  // namespace

ir::Module WidenHalfFloats(const ir::Module& module) {
  return module.Map([](const Expr& function) {
    Widener widener;
    return ir::RewritePostOrder(
        function,
        [&](const Expr& original, const Expr& rebuilt) {
          return ir::KeepType(original, widener.Apply(original, rebuilt));
        },
        IsEntered);
  });
}

ir::Expr WidenedCall(const ir::Expr& call) { return Widener().Apply(call, call); }

}  // namespace tenon::passes
