// Reads backwards from the function's result: each operator is taken off as the last post-op of
// what it was applied to, until the anchor is reached.
#include "tenon/strategies/onednn/epilogue.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tenon/ops/elementwise/elementwise_attrs.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/norm/nn_attrs.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/strategies/onednn/facts.h"
#include "tenon/support/strings.h"

namespace tenon::strategies::onednn {
namespace {

using ir::CallNode;
using ir::Expr;
using Kind = PostOp::Kind;

std::optional<float> ScalarOf(const Expr& e) {
  const auto* constant = e.As<ir::ConstantNode>();
  if (constant == nullptr || !constant->data.shape().empty() || constant->data.dtype() != Float32)
    return std::nullopt;
  return *constant->data.data<float>();
}

const CallNode* CallOf(const Expr& e, const Expr& op) {
  const auto* call = e.As<CallNode>();
  return call != nullptr && call->callee == op ? call : nullptr;
}

// The scalar and the other operand of a commutative call.
struct WithScalar {
  float scalar;
  Expr other;
};
std::optional<WithScalar> SplitScalar(const CallNode& call) {
  for (std::size_t i = 0; i < 2; ++i) {
    if (const auto scalar = ScalarOf(call.args[i])) return WithScalar{*scalar, call.args[1 - i]};
  }
  return std::nullopt;
}

bool Near(double a, double b) { return std::fabs(a - b) <= 1e-6 * std::fabs(b); }

// Whether a number that is made of constants may stand for them. Beyond what float32 holds, where
// kernels take denormals for zero, it would give other results: 0 * 1e30 * 1e30 is 0.
bool IsHeld(double joined) {
  using Limits = std::numeric_limits<float>;
  return std::fabs(joined) >= Limits::min() && std::fabs(joined) <= Limits::max();
}

// `second` after `first`, both of them linear, as one. Nothing if float32 does not hold that.
std::optional<PostOp> Joined(const PostOp& first, const PostOp& second) {
  const double factor = second.alpha, shift = first.beta;
  const double alpha = factor * first.alpha, moved = factor * shift;
  if (!IsHeld(alpha) || (shift != 0 && !IsHeld(moved)) ||
      !(std::fabs(moved + second.beta) <= std::numeric_limits<float>::max()))
    return std::nullopt;
  return PostOp{Kind::kLinear, static_cast<float>(alpha), static_cast<float>(moved + second.beta)};
}

// Whether a + b loses what x + a + b has. A large number that is taken off again rounds x to that
// number's steps, and with a small number before it their sum:
// passes/simplify/constant_arithmetic.h.
bool Cancel(double a, double b) {
  const double larger = std::max(std::fabs(a), std::fabs(b));
  const double smaller = std::min(std::fabs(a), std::fabs(b));
  constexpr double kLeast = 0x1p-12;
  return smaller > 0 && (smaller < larger * kLeast || std::fabs(a + b) < larger * kLeast);
}

// What `e` only gives other extents to. Its elements are those of `e`, in order.
Expr WithoutReshapes(Expr e) {
  const auto& known = ops::Known();
  for (const auto* call = e.As<CallNode>();
       call != nullptr && (call->callee == known.reshape || call->callee == known.expand_dims ||
                           call->callee == known.squeeze);
       call = e.As<CallNode>())
    e = call->args[0];
  return e;
}

// `e` as factor * inner, scalars taken off.
struct Scaled {
  Expr inner;
  double factor = 1.0;
};
Scaled TakeScalars(Expr e) {
  const auto& known = ops::Known();
  Scaled scaled{std::move(e)};
  while (true) {
    if (const CallNode* product = CallOf(scaled.inner, known.multiply)) {
      const auto split = SplitScalar(*product);
      if (!split) return scaled;
      scaled = {split->other, scaled.factor * split->scalar};
    } else if (const CallNode* quotient = CallOf(scaled.inner, known.divide)) {
      const auto divisor = ScalarOf(quotient->args[1]);
      if (!divisor) return scaled;
      scaled = {quotient->args[0], scaled.factor / *divisor};
    } else {
      return scaled;
    }
  }
}

// The factor f of y * gate == f * gelu(y), gelu(y) being y * (1 + erf(y / sqrt(2))) / 2.
std::optional<double> ReadGelu(const Expr& y, const Expr& gate) {
  const auto& known = ops::Known();
  const Scaled value = TakeScalars(y);
  const Scaled factor = TakeScalars(gate);
  const CallNode* sum = CallOf(factor.inner, known.add);
  const auto split = sum == nullptr ? std::nullopt : SplitScalar(*sum);
  if (!split) return std::nullopt;
  const Scaled erf = TakeScalars(split->other);
  const CallNode* call = CallOf(erf.inner, known.erf);
  if (call == nullptr || !Near(erf.factor, split->scalar)) return std::nullopt;
  const Scaled inside = TakeScalars(call->args[0]);
  constexpr double kHalfRoot = 0.70710678118654752;
  if (!(inside.inner == value.inner) || !Near(inside.factor, kHalfRoot)) return std::nullopt;
  return value.factor * factor.factor * split->scalar * 2;
}

// `e` as slope * (min(max(y + 3, 0), 6) / 6) for some y, which is the gate of hard-swish times a
// factor.
struct Gate {
  Expr y;
  double factor;
};
std::optional<Gate> ReadGate(const Expr& e) {
  const auto& known = ops::Known();
  if (const CallNode* call = CallOf(e, known.divide)) {
    const auto divisor = ScalarOf(call->args[1]);
    auto gate = divisor ? ReadGate(call->args[0]) : std::nullopt;
    if (gate) gate->factor /= *divisor;
    return gate;
  }
  if (const CallNode* call = CallOf(e, known.multiply)) {
    const auto split = SplitScalar(*call);
    auto gate = split ? ReadGate(split->other) : std::nullopt;
    if (gate) gate->factor *= split->scalar;
    return gate;
  }
  const CallNode* clip = CallOf(e, known.clip);
  if (clip == nullptr) return std::nullopt;
  const auto& bounds = clip->attrs.As<ops::ClipAttrs>();
  const CallNode* shifted = CallOf(clip->args[0], known.add);
  const auto shift = shifted == nullptr ? std::nullopt : SplitScalar(*shifted);
  if (!shift || bounds.a_min != 0) return std::nullopt;
  // clip(y + 3, 0, 6), or clip(y / 6 + 1 / 2, 0, 1), which is a sixth of it.
  if (shift->scalar == 3.0F && bounds.a_max == 6) return Gate{shift->other, 6.0};
  if (shift->scalar != 0.5F || bounds.a_max != 1) return std::nullopt;
  if (const CallNode* scaled = CallOf(shift->other, known.multiply)) {
    const auto split = SplitScalar(*scaled);
    if (split && Near(split->scalar, 1.0 / 6)) return Gate{split->other, 1.0};
  }
  if (const CallNode* scaled = CallOf(shift->other, known.divide)) {
    if (const auto divisor = ScalarOf(scaled->args[1]); divisor && *divisor == 6.0F)
      return Gate{scaled->args[0], 1.0};
  }
  return std::nullopt;
}

class Reader {
 public:
  Reader(const CallNode& anchor, int channel_axis) : anchor_(anchor), channel_axis_(channel_axis) {}

  // Whether `e` is the anchor with post-ops. If not, problem() says why.
  bool Read(const Expr& e) {
    if (e.get() == &anchor_) return true;
    const auto* call = e.As<CallNode>();
    if (call == nullptr || call->op() == nullptr) return Fail("a value that is no operator call");
    const auto& known = ops::Known();
    const Expr& op = call->callee;
    if (op == known.relu) return Unary(*call, {Kind::kRelu});
    if (op == known.leaky_relu)
      return Unary(*call,
                   {Kind::kRelu, static_cast<float>(call->attrs.As<ops::LeakyReluAttrs>().alpha)});
    if (op == known.sigmoid) return Unary(*call, {Kind::kSigmoid});
    if (op == known.tanh) return Unary(*call, {Kind::kTanh});
    if (op == known.clip) {
      const auto& bounds = call->attrs.As<ops::ClipAttrs>();
      if (!(bounds.a_min <= bounds.a_max)) return Fail("clip of which the bounds are crossed");
      return Unary(
          *call, {Kind::kClip, static_cast<float>(bounds.a_min), static_cast<float>(bounds.a_max)});
    }
    if (op == known.bias_add) return BiasAdd(*call);
    if (op == known.add) return Add(*call);
    if (op == known.subtract) return Subtract(*call);
    if (op == known.multiply) return Multiply(*call, 1.0);
    if (op == known.divide) return Divide(*call);
    return Fail(call->op()->name);
  }

  Epilogue Take() { return std::move(epilogue_); }
  const std::string& problem() const { return problem_; }

 private:
  bool Fail(const std::string& what) {
    if (problem_.empty()) problem_ = StrCat("oneDNN has no post-op for ", what, " here");
    return false;
  }
  bool Append(PostOp op) {
    constexpr std::size_t kMaxPostOps = 32;  // of a primitive, in oneDNN 2 and 3
    std::vector<PostOp>& chain = epilogue_.post_ops;
    const bool follows =
        op.kind == Kind::kLinear && !chain.empty() && chain.back().kind == Kind::kLinear;
    // The sum that is left is near to the large number: what comes after it must not be done there,
    // and what came before the number not beyond it.
    const bool cancels = follows && Cancel(double{op.alpha} * chain.back().beta, op.beta);
    if (cancels && is_moved_) return Fail("a number that is taken off again");
    const bool is_near = std::exchange(cancels_, cancels);
    is_moved_ = false;
    if (const auto joined =
            follows && !cancels && !is_near ? Joined(chain.back(), op) : std::nullopt) {
      is_moved_ = chain.back().beta != 0;
      chain.pop_back();
      op = *joined;
    }
    for (const PostOp& earlier : chain) {
      if (!Facts().functions_keep_parameters && earlier.kind == op.kind &&
          op.kind != Kind::kAddTensor && op.kind != Kind::kMulTensor && !(earlier == op))
        return Fail("the same function with other parameters");
    }
    if (chain.size() == kMaxPostOps) return Fail("more operators than 32");
    chain.push_back(op);
    return true;
  }
  bool Unary(const CallNode& call, PostOp op) { return Read(call.args[0]) && Append(op); }

  bool Add(const CallNode& call) {
    if (const auto split = SplitScalar(call))
      return Read(split->other) && Append({Kind::kLinear, 1.0F, split->scalar});
    for (std::size_t i = 0; i < 2; ++i) {
      const Expr& operand = call.args[i];
      const Expr source = WithoutReshapes(operand);
      if (source.kind() == ir::ExprKind::kVar && IsPerChannel(operand)) {
        if (!Read(call.args[1 - i])) return false;
        return Bias(source);
      }
      if (operand.kind() != ir::ExprKind::kVar) continue;
      if (HasResultType(operand)) return Tensor(call.args[1 - i], operand, Kind::kAddTensor);
    }
    return Fail("this addition");
  }

  bool Subtract(const CallNode& call) {
    const auto scalar = ScalarOf(call.args[1]);
    if (!scalar) return Fail("this subtraction");
    return Read(call.args[0]) && Append({Kind::kLinear, 1.0F, -*scalar});
  }

  bool BiasAdd(const CallNode& call) {
    const std::size_t rank = call.checked_type.As<ir::TensorTypeNode>()->shape.size();
    if (ops::NormalAxis(call.attrs.As<ops::BiasAddAttrs>().axis, rank) != channel_axis_ ||
        call.args[1].kind() != ir::ExprKind::kVar)
      return Fail("a bias along another axis");
    return Read(call.args[0]) && Bias(call.args[1]);
  }

  bool Bias(const Expr& operand) {
    if (epilogue_.bias || !epilogue_.post_ops.empty()) return Fail("a bias after other operators");
    epilogue_.bias = operand;
    return true;
  }

  bool Tensor(const Expr& rest, const Expr& operand, Kind kind) {
    if (!Read(rest)) return false;
    epilogue_.operands.push_back(operand);
    return Append({kind});
  }

  // factor * call.args[0] * call.args[1]
  bool Multiply(const CallNode& call, double factor) {
    const auto& known = ops::Known();
    if (const auto split = SplitScalar(call)) {
      if (const CallNode* product = CallOf(split->other, ops::Known().multiply))
        return Multiply(*product, factor * split->scalar);
      if (!Read(split->other)) return false;
      return factor == 1.0 ? Append({Kind::kLinear, split->scalar, 0})
                           : Scale(split->scalar * factor);
    }
    for (std::size_t i = 0; i < 2; ++i) {
      const Expr& y = call.args[i];
      const Expr& gate = call.args[1 - i];
      if (const CallNode* sigmoid = CallOf(gate, known.sigmoid);
          sigmoid != nullptr && sigmoid->args[0] == y)
        return Read(y) && Append({Kind::kSwish, 1.0F}) && Scale(factor);
      if (const auto read = ReadGate(gate); read && read->y == y)
        return Read(y) && Append({Kind::kHardSwish}) && Scale(read->factor * factor);
      if (const auto read = ReadGelu(y, gate)) {
        const Expr inner = TakeScalars(y).inner;
        return Read(inner) && Append({Kind::kGelu}) && Scale(*read * factor);
      }
      if (y.kind() == ir::ExprKind::kVar && HasResultType(y))
        return Tensor(gate, y, Kind::kMulTensor) && Scale(factor);
    }
    return Fail("this product");
  }

  bool Divide(const CallNode& call) {
    const auto divisor = ScalarOf(call.args[1]);
    if (!divisor) return Fail("this division");
    if (const CallNode* product = CallOf(call.args[0], ops::Known().multiply))
      return Multiply(*product, 1.0 / *divisor);
    return Read(call.args[0]) && Scale(1.0 / *divisor);
  }

  // The factor is made of constants.
  bool Scale(double factor) {
    if (Near(factor, 1.0)) return true;
    if (!IsHeld(factor)) return Fail("a factor that float32 does not hold");
    return Append({Kind::kLinear, static_cast<float>(factor), 0});
  }

  bool HasResultType(const Expr& e) const {
    return ir::Equal(e.checked_type(), anchor_.checked_type);
  }
  bool IsPerChannel(const Expr& e) const {
    const auto& shape = e.checked_type().As<ir::TensorTypeNode>()->shape;
    const auto& result = anchor_.checked_type.As<ir::TensorTypeNode>()->shape;
    if (shape.size() > result.size()) return false;  // the sum has more axes, too
    const std::size_t missing = result.size() - shape.size();
    const auto channel = static_cast<std::size_t>(channel_axis_);
    if (shape.size() + missing <= channel || channel < missing) return false;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      if (!(shape[i] == (i + missing == channel ? result[channel] : ir::Dim(1)))) return false;
    }
    return true;
  }

  const CallNode& anchor_;
  const int channel_axis_;
  Epilogue epilogue_;
  bool cancels_ = false;   // the last post-op takes off a large number that is added before it
  bool is_moved_ = false;  // its sum comes of one before a product, or of two
  std::string problem_;
};

}  // namespace

std::optional<std::string> LossOfNan(const Epilogue& epilogue) {
  for (const PostOp& op : epilogue.post_ops) {
    const bool loses = (op.kind == Kind::kRelu && op.alpha == 0) || op.kind == Kind::kClip ||
                       op.kind == Kind::kSigmoid || op.kind == Kind::kTanh;
    if (loses)
      return "an operator after it would give a number for NaN, which generated code keeps";
  }
  return std::nullopt;
}

std::optional<std::string> RefuseTensors(const Epilogue& epilogue, ActivationLayout layout) {
  if (epilogue.operands.empty() || layout != ActivationLayout::kNCHW || Facts().nchw_takes_tensors)
    return std::nullopt;
  return StrCat("oneDNN ", LibraryVersion(), " takes no tensor after it in NCHW");
}

std::variant<Epilogue, std::string> ReadEpilogue(const ir::FunctionNode& function,
                                                 const CallNode& anchor, int channel_axis) {
  Reader reader(anchor, channel_axis);
  if (!reader.Read(function.body)) return reader.problem();
  return reader.Take();
}

}  // namespace tenon::strategies::onednn
