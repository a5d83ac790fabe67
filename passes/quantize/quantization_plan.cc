// One walk from the result to the inputs counts for each value how many of its readers take bytes.
// A value whose readers all take bytes is bytes itself, and so its producer may read bytes, too.
// The place where a value is quantised is then moved before operators that only move elements,
// which take bytes as they take floats. The idea is that of the annotation rules of "A White Paper
// on Neural Network Quantization" (Nagel et al., 2021), section 2.3.
#include "tenon/passes/quantize/quantization_plan.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "tenon/ir/visit.h"
#include "tenon/ops/conv/conv2d_attrs.h"
#include "tenon/ops/conv/conv_rules.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/matmul/matmul_attrs.h"
#include "tenon/passes/quantize/quantized_form.h"

namespace tenon::passes {
namespace {

using ir::CallNode;
using ir::Expr;

const ir::TensorTypeNode* Float32Tensor(const Expr& e) {
  const auto* type = e.checked_type().As<ir::TensorTypeNode>();
  return type != nullptr && type->dtype == Float32 ? type : nullptr;
}

bool IsConstant(const Expr& e) { return e.kind() == ir::ExprKind::kConstant; }

bool IsProduct(const Expr& op) {
  const auto& known = ops::Known();
  return op == known.conv2d || op == known.dense || op == known.matmul || op == known.batch_matmul;
}

// Whether it is an operator of two values that has a form on bytes.
bool IsArithmetic(const Expr& op) {
  const auto& known = ops::Known();
  return op == known.add || op == known.subtract || op == known.multiply;
}

// Whether the operator gives bytes of the same scale as it gets, whatever the bytes are.
bool OnlyMoves(const Expr& op) {
  const auto& known = ops::Known();
  return MovingRule(op) != nullptr && !(op == known.relu) && !(op == known.clip) &&
         !(op == known.pad);
}

bool IsFinite(const NDArray& values) {
  const float* first = values.data<float>();
  return std::all_of(first, first + values.size(), [](float v) { return std::isfinite(v); });
}

// Why the product has no form on bytes. Empty if it has one.
std::string RefusalOf(const CallNode& call) {
  const auto& known = ops::Known();
  for (const Expr& arg : call.args) {
    const ir::TensorTypeNode* type = Float32Tensor(arg);
    if (type == nullptr) return "an operand is no tensor of float32";
    const auto* constant = arg.As<ir::ConstantNode>();
    if (constant != nullptr && !IsFinite(constant->data))
      return "a weight has elements that are infinite or NaN";
  }
  if (IsConstant(call.args[0])) return "the first operand is a constant";
  if (call.callee == known.conv2d && ops::HasBlocks(call.attrs.As<ops::Conv2DAttrs>()))
    return "its layout has blocks of channels";
  if (call.callee == known.matmul) {
    if (call.attrs.As<ops::MatmulAttrs>().transpose_a) return "its first operand is transposed";
    if (Float32Tensor(call.args[1])->shape.size() != 2) return "its second operand is no matrix";
  }
  return "";
}

// The axis of the weight along which each result has channels of its own.
std::optional<std::size_t> ChannelsOf(const CallNode& call) {
  const auto& known = ops::Known();
  if (call.callee == known.dense) return 0;
  if (call.callee == known.matmul) return call.attrs.As<ops::MatmulAttrs>().transpose_b ? 0 : 1;
  if (!(call.callee == known.conv2d)) return std::nullopt;
  const auto& attrs = call.attrs.As<ops::Conv2DAttrs>();
  const std::size_t axis = attrs.kernel_layout.find('O');
  const std::size_t out =
      (attrs.out_layout.empty() ? attrs.data_layout : attrs.out_layout).find('C');
  // A layout that counts the channels of a group has fewer than the result.
  const auto* result = call.checked_type.As<ir::TensorTypeNode>();
  const ir::Dim weights = Float32Tensor(call.args[1])->shape[axis];
  return result->shape[out] == weights ? std::optional(axis) : std::nullopt;
}

class Planner {
 public:
  Planner(const ir::FunctionNode& main, const std::function<bool(const Expr&)>& wanted)
      : body_(main.body), wanted_(wanted), readers_(ir::CountReaders(main.body)) {}

  QuantizationPlan Plan() {
    std::vector<Expr> order;
    ir::VisitPostOrder(
        body_, [&](const Expr& e) { order.push_back(e); },
        [](const Expr& e) {
          return e.kind() != ir::ExprKind::kFunction && e.kind() != ir::ExprKind::kIf;
        });
    for (auto e = order.rbegin(); e != order.rend(); ++e) Look(*e);
    for (const auto& [call, index] : found_) Place(call, index);
    for (const Expr& e : order) {
      if (const auto wanted = values_.find(e); wanted != values_.end()) {
        wanted->second = plan_.values.size();
        plan_.values.push_back(e);
      }
    }
    for (QuantizationPlan::Operand& operand : plan_.operands)
      operand.value = values_.at(ArgumentOf(operand.call, operand.index));
    std::reverse(plan_.products.begin(), plan_.products.end());
    std::reverse(plan_.refusals.begin(), plan_.refusals.end());
    return std::move(plan_);
  }

 private:
  static Expr ArgumentOf(const Expr& call, std::size_t index) {
    const CallNode& node = *call.As<CallNode>();
    const auto* fields = node.args[0].As<ir::TupleNode>();
    return fields == nullptr ? node.args[index] : fields->fields[index];
  }

  // Whether everything that reads it reads bytes.
  bool IsBytes(const Expr& e) const {
    const auto bytes = byte_readers_.find(e);
    return bytes != byte_readers_.end() && !(e == body_) && bytes->second == readers_.at(e);
  }

  void Look(const Expr& e) {
    const auto* call = e.As<CallNode>();
    if (call == nullptr || Float32Tensor(e) == nullptr) return;
    if (IsProduct(call->callee)) {
      LookAtProduct(e, *call);
    } else if (!IsBytes(e)) {
      return;
    } else if (IsArithmetic(call->callee)) {
      // With a constant, it belongs to the product before it.
      if (!IsConstant(call->args[0]) && !IsConstant(call->args[1])) Read(e, 2);
    } else if (call->callee == ops::Known().concatenate) {
      const auto* fields = call->args[0].As<ir::TupleNode>();
      if (fields != nullptr && readers_.at(call->args[0]) == 1 &&
          std::ranges::none_of(fields->fields, IsConstant))
        Read(e, fields->fields.size());
    } else if (MeanRule(call->callee) != nullptr) {
      Read(e, 1);
    } else if (MovingRule(call->callee) != nullptr) {
      ++byte_readers_[call->args[0]];
    }
  }

  void LookAtProduct(const Expr& e, const CallNode& call) {
    if (wanted_ != nullptr && !wanted_(e)) return;
    if (std::string reason = RefusalOf(call); !reason.empty()) {
      plan_.refusals.push_back({e, std::move(reason)});
      return;
    }
    plan_.products.push_back(e);
    const bool has_weight = IsConstant(call.args[1]);
    if (has_weight) plan_.weights.push_back({e, 1, ChannelsOf(call)});
    Read(e, has_weight ? 1 : 2);
  }

  // The first `count` operands of the call are read as bytes.
  void Read(const Expr& call, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      ++byte_readers_[ArgumentOf(call, i)];
      found_.emplace_back(call, i);
    }
  }

  // Records the operand, as early as it can be made bytes.
  void Place(const Expr& reader, std::size_t index) {
    Expr call = reader;
    Expr value = ArgumentOf(call, index);
    for (const auto* move = value.As<CallNode>();
         move != nullptr && OnlyMoves(move->callee) && IsBytes(value) && IsBytes(move->args[0]) &&
         !IsConstant(move->args[0]) && Float32Tensor(move->args[0]) != nullptr;
         move = value.As<CallNode>()) {
      call = value;
      index = 0;
      value = move->args[0];
    }
    values_.emplace(value, 0);
    plan_.operands.push_back({call, index, 0, reader});
  }

  const Expr body_;
  const std::function<bool(const Expr&)>& wanted_;
  const ir::ReaderCounts readers_;
  std::unordered_map<Expr, int, ir::ExprHash> byte_readers_;
  std::vector<std::pair<Expr, std::size_t>> found_;
  std::unordered_map<Expr, std::size_t, ir::ExprHash> values_;  // with their places in the plan
  QuantizationPlan plan_;
};

}  // namespace

QuantizationPlan PlanQuantization(const ir::Module& module,
                                  const std::function<bool(const Expr& product)>& wanted) {
  return Planner(module.Main(), wanted).Plan();
}

}  // namespace tenon::passes
