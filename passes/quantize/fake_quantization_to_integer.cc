// One walk, children first. A rewritten floating-point value may also have a form in integers,
// which readers take where they can. Forms that no reader takes are dropped with their references.
// The idea is that of "A White Paper on Neural Network Quantization" (Nagel et al., 2021), section
// 2.2, and of the reference system's pass of this name.
#include "tenon/passes/quantize/fake_quantization_to_integer.h"

#include <algorithm>
#include <unordered_map>

#include "tenon/ir/visit.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/norm/nn_attrs.h"
#include "tenon/ops/quantize/qnn_builders.h"
#include "tenon/ops/shape/transform_attrs.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/passes/infer_type.h"
#include "tenon/passes/quantize/quantized_bias.h"
#include "tenon/passes/quantize/quantized_form.h"
#include "tenon/passes/quantize/quantized_products.h"

namespace tenon::passes {
namespace {

using ir::CallNode;
using ir::Expr;
using ops::Ints;

std::optional<Shape> StaticShapeOf(const ir::Type& type) {
  const auto* tensor = type.As<ir::TensorTypeNode>();
  if (tensor == nullptr) return std::nullopt;
  Shape shape;
  for (const ir::Dim& dim : tensor->shape) {
    if (!dim.is_static()) return std::nullopt;
    shape.push_back(dim.value());
  }
  return shape;
}

// A value that is made of several ones may be moved before it is read. So many moves are repeated
// for a reader at most, since each place in a chain may have one.
constexpr std::size_t kMaxMoves = 64;

class Rewriter {
 public:
  Rewriter() {
    const auto op = [](const char* name) { return ops::OpRegistry::Global().Get(name); };
    dequantize_ = op("qnn.dequantize");
    quantize_ = op("qnn.quantize");
  }

  Expr Rewrite(const Expr& original, const Expr& rebuilt) {
    const auto* call = rebuilt.As<CallNode>();
    if (const auto* get = rebuilt.As<ir::TupleGetItemNode>()) AddPart(original, rebuilt, *get);
    if (call == nullptr) return rebuilt;
    const auto shape = StaticShapeOf(original.checked_type());
    if (!shape) return rebuilt;
    shapes_.emplace(rebuilt, *shape);
    if (call->callee == quantize_) {
      const auto target = QuantizeTarget(*original.As<CallNode>(), *shape);
      const auto integers = target ? Quantized(call->args[0], *target) : std::nullopt;
      return integers ? *integers : rebuilt;
    }
    const auto form = FormOf(original, *call, *shape);
    if (!form) return rebuilt;
    if (!IsProduct(call->callee)) {
      forms_.emplace(rebuilt, *form);
      return rebuilt;
    }
    const Expr real = Dequantize(*form);
    forms_.emplace(real, *form);
    shapes_.emplace(real, *shape);
    return real;
  }

 private:
  const QuantizedForm* Form(const Expr& e) const {
    const auto found = forms_.find(e);
    return found == forms_.end() ? nullptr : &found->second;
  }

  std::optional<QuantizedForm> FormOf(const Expr& original, const CallNode& call,
                                      const Shape& shape) const {
    const auto& known = ops::Known();
    if (call.callee == dequantize_) {
      auto form = DequantizedForm(*original.As<CallNode>(), shape);
      if (form) form->data = call.args[0];
      return form;
    }
    if (call.args.empty()) return std::nullopt;
    const QuantizedForm* first = Form(call.args[0]);
    if (IsProduct(call.callee)) {
      const QuantizedForm* second = Form(call.args[1]);
      // qnn.dequantize gives float32; out_dtype may name another type.
      if (first == nullptr || second == nullptr || !first->is_byte() || !second->is_byte() ||
          original.checked_type().As<ir::TensorTypeNode>()->dtype != Float32)
        return std::nullopt;
      return ProductForm(call, *first, *second, shape);
    }
    if (call.callee == known.bias_add)
      return first == nullptr
                 ? std::nullopt
                 : WithBias(*first, call.args[1], shape,
                            ops::NormalAxis(call.attrs.As<ops::BiasAddAttrs>().axis, shape.size()));
    if (call.callee == known.add) return Sum(call, shape);
    if (call.callee == known.concatenate) return Joined(call, shape);
    if (first == nullptr) return std::nullopt;
    const FormRule* rule = MovingRule(call.callee);
    if (rule == nullptr) rule = MeanRule(call.callee);
    return rule == nullptr ? std::nullopt : (*rule)(call, *first, shape);
  }

  // A part of a split.
  void AddPart(const Expr& original, const Expr& rebuilt, const ir::TupleGetItemNode& get) {
    const auto* split = get.tuple.As<CallNode>();
    const auto shape = StaticShapeOf(original.checked_type());
    if (split == nullptr || !(split->callee == ops::Known().split) || !shape) return;
    const QuantizedForm* form = Form(split->args[0]);
    if (form == nullptr || !form->is_single()) return;
    const Expr parts = ir::Call::Make(split->callee, {form->data}, split->attrs);
    forms_.emplace(rebuilt, form->With(ir::TupleGetItem::Make(parts, get.index), *shape));
  }

  // --- sums

  std::optional<QuantizedForm> Sum(const CallNode& call, const Shape& shape) const {
    for (const std::size_t i : {0U, 1U}) {
      const QuantizedForm* form = Form(call.args[i]);
      const Expr& bias = call.args[1 - i];
      if (form == nullptr || form->dtype != Int32 || form->shape != shape) continue;
      const QuantizedForm* other = Form(bias);
      const auto* constant = bias.As<ir::ConstantNode>();
      if (other == nullptr && constant == nullptr) continue;
      const auto axis =
          AxisOf(other != nullptr ? other->shape : constant->data.shape(), shape.size());
      if (!axis) continue;
      if (auto sum = WithBias(*form, bias, shape, static_cast<std::int64_t>(*axis))) return sum;
    }
    return std::nullopt;
  }

  // The sums of a product plus a bias along `axis`. The bias is a constant or integers of the same
  // scale.
  std::optional<QuantizedForm> WithBias(const QuantizedForm& form, const Expr& bias,
                                        const Shape& shape, std::int64_t axis) const {
    const auto along = static_cast<std::size_t>(axis);
    if (form.dtype != Int32 || !form.is_centered() || (!form.is_single() && form.axis != along))
      return std::nullopt;
    Expr integers;
    double most = form.most, error = form.error;
    if (const auto* constant = bias.As<ir::ConstantNode>()) {
      const auto rounded = RoundedBias(form, constant->data);
      if (!rounded) return std::nullopt;
      integers = rounded->integers;
      most += MostOf(integers);
      error += rounded->error;
    } else {
      const QuantizedForm* other = Form(bias);
      if (other == nullptr || other->dtype != Int32 || !other->is_centered()) return std::nullopt;
      const auto distance = DistanceOfScales(form, *other);
      if (!distance) return std::nullopt;
      integers = ops::Reshape(other->data, {-1});
      most += other->most;
      error += other->error + other->most * *distance;
    }
    if (most >= QuantizedForm::kInt32End) return std::nullopt;
    const auto trailing = static_cast<std::int64_t>(shape.size()) - 1 - axis;
    if (trailing > 0) integers = ops::ExpandDims(integers, 1, trailing);
    QuantizedForm sum = form.With(ops::Add(form.data, integers), shape);
    sum.most = most;
    sum.error = error;
    return sum;
  }

  // --- concatenations

  std::optional<std::vector<const QuantizedForm*>> FieldForms(const CallNode& call) const {
    const auto* tuple = call.args[0].As<ir::TupleNode>();
    if (tuple == nullptr || tuple->fields.empty()) return std::nullopt;
    std::vector<const QuantizedForm*> forms;
    for (const Expr& field : tuple->fields) {
      forms.push_back(Form(field));
      if (forms.back() == nullptr || !forms.back()->is_single()) return std::nullopt;
    }
    return forms;
  }

  // The form of a concatenation whose fields share their parameters.
  std::optional<QuantizedForm> Joined(const CallNode& call, const Shape& shape) const {
    const auto forms = FieldForms(call);
    if (!forms) return std::nullopt;
    std::vector<Expr> fields;
    QuantizedForm joined = *forms->front();
    for (const QuantizedForm* form : *forms) {
      if (!form->SameParameters(joined)) return std::nullopt;
      fields.push_back(form->data);
      joined.error = std::max(joined.error, form->error);
      joined.most = std::max(joined.most, form->most);
    }
    return joined.With(
        ops::Concatenate(std::move(fields), call.attrs.As<ops::ConcatenateAttrs>().axis), shape);
  }

  // --- what qnn.quantize asks for

  static bool MayBecome(const QuantizedForm& form, const QuantizedForm& target) {
    return form.IsWithinHalfQuantumOf(target) && form.HasFactorTo(target);
  }

  // The integers of `e` with the parameters of `target`, where they can be computed without
  // floating point. Moves and clips of a value that is made of several ones are done after it.
  std::optional<Expr> Quantized(const Expr& e, const QuantizedForm& target) const {
    const QuantizedForm* known = Form(e);
    if (known != nullptr && known->SameParameters(target) && known->error <= 1) return known->data;
    // qnn.requantize gives one scale.
    if (!target.is_single() || (known != nullptr && !MayBecome(*known, target)))
      return std::nullopt;
    if (known != nullptr) return Requantize(*known, target);
    std::vector<Expr> moves;
    Expr at = e;
    const auto* call = at.As<CallNode>();
    while (call != nullptr && !call->args.empty() && MovingRule(call->callee) != nullptr &&
           moves.size() < kMaxMoves) {
      moves.push_back(at);
      at = call->args[0];
      call = at.As<CallNode>();
    }
    const auto shape = shapes_.find(at);
    if (call == nullptr || shape == shapes_.end()) return std::nullopt;
    const auto joined = OfSeveral(*call, target);
    if (!joined) return std::nullopt;
    QuantizedForm form = target.With(*joined, shape->second);
    for (auto move = moves.rbegin(); move != moves.rend(); ++move) {
      const CallNode& moving = *move->As<CallNode>();
      const auto moved_shape = shapes_.find(*move);
      if (moved_shape == shapes_.end()) return std::nullopt;
      const auto moved = (*MovingRule(moving.callee))(moving, form, moved_shape->second);
      if (!moved) return std::nullopt;
      form = *moved;
    }
    return form.data;
  }

  std::optional<Expr> OfSeveral(const CallNode& call, const QuantizedForm& target) const {
    constexpr double kOfRounding = 0.5;  // means are further off
    const auto& known = ops::Known();
    if (call.callee == known.concatenate) {
      const auto forms = FieldForms(call);
      if (!forms) return std::nullopt;
      std::vector<Expr> fields;
      std::vector<ops::QnnParameters> parameters;
      for (const QuantizedForm* form : *forms) {
        if (form->dtype != target.dtype || !MayBecome(*form, target)) return std::nullopt;
        fields.push_back(form->data);
        parameters.push_back(form->Parameters());
      }
      return ops::QnnConcatenate(std::move(fields), parameters, target.Parameters(),
                                 call.attrs.As<ops::ConcatenateAttrs>().axis);
    }
    const bool adds = call.callee == known.add;
    const bool subtracts = call.callee == known.subtract;
    if (!adds && !subtracts && !(call.callee == known.multiply)) return std::nullopt;
    const QuantizedForm* a = Form(call.args[0]);
    const QuantizedForm* b = Form(call.args[1]);
    if (a == nullptr || b == nullptr || !a->is_single() || !b->is_single() ||
        a->dtype != target.dtype || b->dtype != target.dtype || a->error > kOfRounding ||
        b->error > kOfRounding)
      return std::nullopt;
    // What was rounded off of the operands, as numbers.
    double off_a = a->error * a->scale[0], off_b = b->error * b->scale[0];
    if (!adds && !subtracts) {
      off_a *= b->LargestNumber() + off_b;
      off_b *= a->LargestNumber();
    }
    if (off_a + off_b > target.scale[0] / 2) return std::nullopt;
    const auto make = adds ? ops::QnnAdd : subtracts ? ops::QnnSubtract : ops::QnnMul;
    return make(a->data, b->data, a->Parameters(), b->Parameters(), target.Parameters(), {});
  }

  Expr dequantize_, quantize_;
  // For each rewritten value, its form in integers; for each call, its static shape.
  std::unordered_map<Expr, QuantizedForm, ir::ExprHash> forms_;
  std::unordered_map<Expr, Shape, ir::ExprHash> shapes_;
};

}  // namespace

ir::Module FakeQuantizationToInteger(const ir::Module& module) {
  const ir::Module result = module.Map([](const Expr& function) {
    Rewriter rewriter;
    return ir::RewritePostOrder(function, [&](const Expr& original, const Expr& rebuilt) {
      return rewriter.Rewrite(original, rebuilt);
    });
  });
  return result == module ? result : InferType(result);
}

}  // namespace tenon::passes
