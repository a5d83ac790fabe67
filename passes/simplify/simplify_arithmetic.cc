// Rules of arithmetic with constants.
//
// Exactness: integers wrap around, so every rule here is exact for them. For floats, dropping a
// neutral element is exact, even for NaN and -0.0. Joining constants rounds once where the graph
// rounded twice; it is refused where the joined constant is not finite or not a normal number.
#include <algorithm>
#include <cmath>
#include <optional>

#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/passes/infer_type.h"
#include "tenon/passes/simplify/constant_arithmetic.h"
#include "tenon/passes/simplify/simplify_rules.h"

namespace tenon::passes {
namespace {

using ir::CallNode;
using ir::Expr;
using ir::TensorTypeNode;

const NDArray* DataOf(const Expr& e) {
  const auto* constant = e.As<ir::ConstantNode>();
  return constant == nullptr ? nullptr : &constant->data;
}
bool HasType(const Expr& e, const ir::Type& type) { return ir::Equal(e.checked_type(), type); }
bool IsFloat(const Expr& e) { return e.checked_type().As<TensorTypeNode>()->dtype.is_float(); }

// Whether `e` is a constant that contains no -0.0.
bool IsConstantWithoutNegativeZero(const Expr& e) {
  const NDArray* data = DataOf(e);
  if (data == nullptr) return false;
  const auto none = [&](const auto* first) {
    return std::none_of(first, first + data->size(),
                        [](auto v) { return v == 0 && std::signbit(v); });
  };
  if (data->dtype() == Float32) return none(data->data<float>());
  return data->dtype() == Float64 && none(data->data<double>());
}

// Whether the value is known never to be -0.0, so that adding 0.0 changes nothing.
bool IsNeverNegativeZero(const Expr& e) {
  const auto& known = ops::Known();
  const auto* call = e.As<CallNode>();
  if (!IsFloat(e)) return true;
  if (call == nullptr) return false;
  if (call->callee == known.exp || call->callee == known.abs || call->callee == known.sigmoid ||
      call->callee == known.softmax)
    return true;
  // A sum is -0.0 only when both operands are.
  if (call->callee == known.add)
    return IsConstantWithoutNegativeZero(call->args[0]) ||
           IsConstantWithoutNegativeZero(call->args[1]);
  return false;
}

// Rewrites x + 0, 0 + x, x - 0, x * 1, 1 * x and x / 1 to x, when x has the type of the result.
Expr DropNeutral(const CallNode& call) {
  const auto& known = ops::Known();
  const bool is_add = call.callee == known.add;
  const bool is_multiply = call.callee == known.multiply;
  const bool is_subtract = call.callee == known.subtract;
  if (!is_add && !is_multiply && !is_subtract && !(call.callee == known.divide)) return Expr();
  for (std::size_t i = 0; i < (is_add || is_multiply ? 2U : 1U); ++i) {
    const Expr& x = call.args[i];
    const NDArray* c = DataOf(call.args[1 - i]);
    if (c == nullptr || !HasType(x, call.checked_type)) continue;
    if (!is_add && !is_subtract) {
      if (IsFilledWith(*c, 1)) return x;
    } else if (IsFilledWith(*c, is_add && IsFloat(x) ? -0.0 : 0.0) ||
               (is_add && IsFilledWith(*c, 0.0) && IsNeverNegativeZero(x))) {
      return x;
    }
  }
  return Expr();
}

// The scalar with which an operator fills a whole tensor; null for any other expression.
Expr FillOf(const Expr& e) {
  const auto& known = ops::Known();
  const auto* call = e.As<CallNode>();
  const auto* type = e.checked_type().As<TensorTypeNode>();
  if (call == nullptr || type == nullptr || type->shape.empty()) return Expr();
  const bool is_zero = call->callee == known.zeros || call->callee == known.zeros_like;
  const bool is_one = call->callee == known.ones || call->callee == known.ones_like;
  if (is_zero || is_one) {
    const auto scalar = ScalarOf(is_one ? 1 : 0, type->dtype);
    return scalar ? ir::Constant::Make(*scalar) : Expr();
  }
  if (!(call->callee == known.full) && !(call->callee == known.broadcast_to)) return Expr();
  const Expr& value = call->args[0];
  const NDArray* data = DataOf(value);
  const bool fits = data != nullptr && data->shape().empty() && data->dtype() == type->dtype;
  return fits ? value : Expr();
}

bool IsBroadcastBinary(const CallNode& call) {
  const auto& k = ops::Known();
  const auto& op = call.callee;
  return op == k.add || op == k.subtract || op == k.multiply || op == k.divide || op == k.maximum ||
         op == k.minimum || op == k.power || op == k.equal || op == k.not_equal || op == k.less ||
         op == k.less_equal || op == k.greater || op == k.greater_equal;
}

// Rewrites x op full(c) to x op c, when x has the shape of the result.
Expr FillToScalar(const CallNode& call) {
  if (!IsBroadcastBinary(call)) return Expr();
  for (std::size_t i = 0; i < 2; ++i) {
    const auto* x = call.args[i].checked_type().As<TensorTypeNode>();
    const auto* result = call.checked_type.As<TensorTypeNode>();
    const Expr fill = FillOf(call.args[1 - i]);
    if (!fill || x == nullptr || x->shape != result->shape) continue;
    std::vector<Expr> args = call.args;
    args[1 - i] = fill;
    return InferCall(ir::Call::Make(call.callee, std::move(args), call.attrs, call.span));
  }
  return Expr();
}

// A call as value op constant.
struct WithConstant {
  Expr value;
  const NDArray* constant = nullptr;
  Arithmetic op = Arithmetic::kAdd;
};
std::optional<WithConstant> SplitConstant(const CallNode* call) {
  const auto& known = ops::Known();
  if (call == nullptr) return std::nullopt;
  const bool is_subtract = call->callee == known.subtract;
  if (!is_subtract && !(call->callee == known.add) && !(call->callee == known.multiply))
    return std::nullopt;
  const Arithmetic op = is_subtract                 ? Arithmetic::kSubtract
                        : call->callee == known.add ? Arithmetic::kAdd
                                                    : Arithmetic::kMultiply;
  for (const std::size_t i : {1U, 0U}) {
    const NDArray* c = DataOf(call->args[i]);
    if (c != nullptr && DataOf(call->args[1 - i]) == nullptr && (i == 1 || !is_subtract))
      return WithConstant{call->args[1 - i], c, op};
  }
  return std::nullopt;
}

Expr Make(Arithmetic op, const Expr& x, const NDArray& c) {
  const Expr constant = ir::Constant::Make(c);
  return InferCall(op == Arithmetic::kAdd        ? ops::Add(x, constant)
                   : op == Arithmetic::kSubtract ? ops::Subtract(x, constant)
                                                 : ops::Multiply(x, constant));
}

// The constant of one sum or difference instead of two, one after the other. Nothing where they
// cancel, among others.
std::optional<NDArray> JoinedConstant(const WithConstant& inner, const WithConstant& outer) {
  if (inner.op == outer.op) return Calculate(Arithmetic::kAdd, *inner.constant, *outer.constant);
  return inner.op == Arithmetic::kSubtract
             ? Calculate(Arithmetic::kSubtract, *outer.constant, *inner.constant)
             : Calculate(Arithmetic::kSubtract, *inner.constant, *outer.constant);
}

// Whether the sum takes off again what was added to its value before. That rounds the value, which
// is near to the large constant in between: what comes after it must not be done there.
bool TakesOffAgain(const WithConstant& sum) {
  const auto before = IsFloat(sum.value) ? SplitConstant(sum.value.As<CallNode>()) : std::nullopt;
  return sum.op != Arithmetic::kMultiply && before && before->op != Arithmetic::kMultiply &&
         !JoinedConstant(*before, sum);
}

// Rewrites (x + c) + d, (x - c) - d, (x + c) - d, (x - c) + d and (x * c) * d to one operation with
// a constant. Rewrites (x + c) * d to x * d + c * d, so that constants can meet similar ones.
Expr JoinConstants(const CallNode& call, const SimplifyContext& context) {
  const auto outer = SplitConstant(&call);
  if (!outer) return Expr();
  const auto inner = SplitConstant(outer->value.As<CallNode>());
  // A value with other readers stays; a second way to it would only be more work.
  if (!inner || !context.has_one_reader(outer->value) || TakesOffAgain(*inner)) return Expr();
  const bool inner_scales = inner->op == Arithmetic::kMultiply;
  const bool outer_scales = outer->op == Arithmetic::kMultiply;
  if (inner_scales && !outer_scales) return Expr();
  if (outer_scales) {
    const auto product = Calculate(Arithmetic::kMultiply, *inner->constant, *outer->constant);
    if (!product) return Expr();
    if (inner_scales) return Make(Arithmetic::kMultiply, inner->value, *product);
    if (RoundsSums(*inner->constant)) return Expr();
    // The scale must not change the shape: the product must have that of the sum.
    Expr scaled = Make(Arithmetic::kMultiply, inner->value, *outer->constant);
    if (Expr joined = JoinConstants(*scaled.As<CallNode>(), context)) scaled = joined;
    return HasType(scaled, call.checked_type) ? Make(inner->op, scaled, *product) : Expr();
  }
  const auto joined = JoinedConstant(*inner, *outer);
  if (!joined) return Expr();
  return Make(inner->op == outer->op ? inner->op : Arithmetic::kAdd, inner->value, *joined);
}

// Rewrites a / sqrt(b) to a * rsqrt(b).
Expr DivideBySqrt(const CallNode& call, const SimplifyContext& context) {
  const auto& known = ops::Known();
  const auto* root = call.callee == known.divide ? call.args[1].As<CallNode>() : nullptr;
  if (root == nullptr || !(root->callee == known.sqrt) || !IsFloat(call.args[1]) ||
      !context.has_one_reader(call.args[1]))
    return Expr();
  const Expr inverse = InferCall(ir::Call::Make(known.rsqrt, root->args, {}, root->span));
  return InferCall(ops::Multiply(call.args[0], inverse));
}

// Rewrites power(x, 2) to x * x, and power(x, 3) to x * x * x.
Expr MultiplyOut(const CallNode& call) {
  if (!(call.callee == ops::Known().power)) return Expr();
  const Expr& x = call.args[0];
  const NDArray* exponent = DataOf(call.args[1]);
  if (exponent == nullptr || !HasType(x, call.checked_type)) return Expr();
  const bool is_cube = IsFilledWith(*exponent, 3);
  if (!is_cube && !IsFilledWith(*exponent, 2)) return Expr();
  const Expr square = InferCall(ops::Multiply(x, x));
  return is_cube ? InferCall(ops::Multiply(square, x)) : square;
}

}  // namespace

Expr SimplifyArithmetic(const CallNode& call, const SimplifyContext& context) {
  if (call.checked_type.As<TensorTypeNode>() == nullptr) return Expr();
  if (Expr e = DropNeutral(call)) return e;
  if (Expr e = FillToScalar(call)) return e;
  if (Expr e = DivideBySqrt(call, context)) return e;
  if (Expr e = MultiplyOut(call)) return e;
  return JoinConstants(call, context);
}

}  // namespace tenon::passes
