// Each operand is cast once, however many operators read it; a cast of a constant is folded later.
// Where one such operator follows another through elementwise ones, fusion keeps the values between
// them in registers or in float32 memory. They are still rounded to their type.
#include "tenon/passes/precision/widen_half_floats.h"

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

using Operators = std::unordered_set<Expr, ir::ExprHash>;

Operators Find(std::initializer_list<const char*> names) {
  Operators found;
  for (const char* name : names) {
    if (const Expr op = ops::OpRegistry::Global().Find(name)) found.insert(op);
  }
  return found;
}

// Operators for which a CPU may have instructions that take bfloat16 and add in float32.
const Operators& Products() {
  static const Operators operators =
      Find({"nn.batch_matmul", "nn.conv2d", "nn.dense", "nn.matmul"});
  return operators;
}

// Also holds `prod`; leaves out operators whose computes already sum halves in float32.
const Operators& OtherSums() {
  static const Operators operators = Find({"collapse_sum_like",
                                           "collapse_sum_to",
                                           "cumsum",
                                           "einsum",
                                           "mean",
                                           "nn.adaptive_avg_pool1d",
                                           "nn.adaptive_avg_pool2d",
                                           "nn.adaptive_avg_pool3d",
                                           "nn.avg_pool1d",
                                           "nn.avg_pool2d",
                                           "nn.avg_pool3d",
                                           "nn.contrib_conv2d_NCHWc",
                                           "nn.contrib_depthwise_conv2d_NCHWc",
                                           "nn.conv1d",
                                           "nn.conv1d_transpose",
                                           "nn.conv2d_transpose",
                                           "nn.conv3d",
                                           "nn.conv3d_transpose",
                                           "nn.fast_softmax",
                                           "nn.global_avg_pool2d",
                                           "nn.group_norm",
                                           "nn.instance_norm",
                                           "nn.l2_normalize",
                                           "nn.layer_norm",
                                           "nn.log_softmax",
                                           "nn.lrn",
                                           "nn.softmax",
                                           "prod",
                                           "sum",
                                           "variance"});
  return operators;
}

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

bool IsHalf(DataType type) { return type == Float16 || type == BFloat16; }

// Makes sums float32 where the attributes name a half type, or none when `name_type` holds.
attrs::Attrs Widened(const attrs::Attrs& attrs, bool name_type) {
  attrs::Attrs widened = attrs;
  for (const char* field : {"dtype", "out_dtype"}) {
    const attrs::Value value = attrs.Get(field);
    const auto* named = value.As<DataType>();
    if (named != nullptr && (IsHalf(*named) || (named->is_void() && name_type)))
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
    const bool is_product = Products().contains(call->callee);
    if (!is_product && !OtherSums().contains(call->callee)) return rebuilt;
    // All operands have one type.
    const DataType type = TypeOf(original.As<CallNode>()->args[0]);
    if (!IsHalf(type)) return rebuilt;
    const bool keeps_operands = is_product && type == BFloat16;
    if (keeps_operands && TypeOf(original) == Float32) return rebuilt;
    std::vector<Expr> operands;
    for (const Expr& arg : call->args) operands.push_back(keeps_operands ? arg : Wide(arg));
    const Expr sum = InferCall(ir::Call::Make(
        call->callee, std::move(operands), Widened(call->attrs, keeps_operands), rebuilt.span()));
    return IsHalf(TypeOf(original)) ? InferCall(ops::Cast(sum, TypeOf(original))) : sum;
  }

 private:
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

}  // namespace tenon::passes
