// Each operand is cast once, however many operators read it; a cast of a constant is folded later.
// Where one such operator follows another through elementwise ones, fusion keeps the values between
// them in registers or in float32 memory, rounded to float16 all the same.
#include "tenon/passes/widen_float16.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "tenon/ir/visit.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/registry.h"
#include "tenon/passes/infer_type.h"

namespace tenon::passes {
namespace {

using ir::CallNode;
using ir::Expr;

const std::unordered_set<Expr, ir::ExprHash>& Sums() {
  static const auto operators = [] {
    std::unordered_set<Expr, ir::ExprHash> found;
    for (const char* name : {"mean",
                             "nn.adaptive_avg_pool1d",
                             "nn.adaptive_avg_pool2d",
                             "nn.adaptive_avg_pool3d",
                             "nn.avg_pool1d",
                             "nn.avg_pool2d",
                             "nn.avg_pool3d",
                             "nn.batch_matmul",
                             "nn.conv1d",
                             "nn.conv1d_transpose",
                             "nn.conv2d",
                             "nn.conv2d_transpose",
                             "nn.conv3d",
                             "nn.conv3d_transpose",
                             "nn.dense",
                             "nn.global_avg_pool2d",
                             "nn.log_softmax",
                             "nn.matmul",
                             "nn.softmax",
                             "sum",
                             "variance"})
      if (const Expr op = ops::OpRegistry::Global().Find(name)) found.insert(op);
    return found;
  }();
  return operators;
}

bool IsFloat16(const Expr& e) {
  const auto* tensor = e.checked_type().As<ir::TensorTypeNode>();
  return tensor != nullptr && tensor->dtype == Float16;
}

// With sums in float32 where the attributes name float16.
attrs::Attrs Widened(const attrs::Attrs& attrs) {
  if (attrs.schema() == nullptr) return attrs;
  attrs::FieldValues values;
  for (const attrs::FieldInfo& field : attrs.schema()->fields)
    values[field.name] = attrs.Get(field.name);
  const auto type = values.find("out_dtype");
  if (type == values.end() || !(type->second == attrs::Value(Float16))) return attrs;
  type->second = attrs::Value(Float32);
  return attrs::Attrs::FromFields(*attrs.schema(), values);
}

bool IsEntered(const Expr& e) {
  const auto* function = e.As<ir::FunctionNode>();
  return function == nullptr || !(function->is_primitive() || function->attrs.contains("Compiler"));
}

class Widener {
 public:
  Expr Apply(const Expr& original, const Expr& rebuilt) {
    const auto* call = rebuilt.As<CallNode>();
    if (call == nullptr || !Sums().contains(call->callee)) return rebuilt;
    const auto& args = original.As<CallNode>()->args;
    if (!std::all_of(args.begin(), args.end(), IsFloat16)) return rebuilt;
    std::vector<Expr> wide;
    for (const Expr& arg : call->args) wide.push_back(Wide(arg));
    const Expr sum = InferCall(
        ir::Call::Make(call->callee, std::move(wide), Widened(call->attrs), rebuilt.span()));
    return IsFloat16(original) ? InferCall(ops::Cast(sum, Float16)) : sum;
  }

 private:
  const Expr& Wide(const Expr& e) {
    const auto [found, is_new] = wide_.try_emplace(e);
    if (is_new) found->second = InferCall(ops::Cast(e, Float32));
    return found->second;
  }

  std::unordered_map<Expr, Expr, ir::ExprHash> wide_;
};

}  // namespace

ir::Module WidenFloat16(const ir::Module& module) {
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

}  // namespace tenon::passes
