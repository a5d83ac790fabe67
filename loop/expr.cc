#include "tenon/loop/expr.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "tenon/loop/check_given.h"
#include "tenon/loop/constants.h"
#include "tenon/loop/make_node.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::loop {
namespace {

// Gives constants the type of the other side and scalars its lanes; the types must agree then.
void Match(BinaryOp op, Expr& a, Expr& b) {
  if (!MatchConstants(a, b)) {
    RequireFit(a, b, StrCat("operand of ", ToString(op)));
    throw InvalidArgument(StrCat("the operands of ", ToString(op), " have the types ",
                                 a.dtype().ToString(), " and ", b.dtype().ToString(),
                                 "; cast one to the other"));
  }
  if (a.dtype().lanes() == b.dtype().lanes()) return;
  if (a.dtype().lanes() == 1) {
    a = Broadcast(a, b.dtype().lanes());
  } else if (b.dtype().lanes() == 1) {
    b = Broadcast(b, a.dtype().lanes());
  } else {
    throw InvalidArgument(StrCat("the operands of ", ToString(op), " have ", a.dtype().lanes(),
                                 " and ", b.dtype().lanes(), " lanes"));
  }
}

void RequireBool(const Expr& e, std::string_view where) {
  RequireDefined(e);
  if (!e.dtype().is_bool()) {
    throw InvalidArgument(StrCat(where, " must be bool; it is ", e.dtype().ToString()));
  }
}

Expr MakeSelect(const Expr& condition, Expr on_true, Expr on_false, bool lazy) {
  RequireBool(condition, "the condition of a selection");
  RequireDefined(on_true);
  RequireDefined(on_false);
  if (!MatchConstants(on_true, on_false)) RequireFit(on_true, on_false, "side of a selection");
  const int lanes =
      std::max({condition.dtype().lanes(), on_true.dtype().lanes(), on_false.dtype().lanes()});
  if (on_true.dtype().lanes() < lanes) on_true = Broadcast(on_true, lanes);
  if (on_false.dtype().lanes() < lanes) on_false = Broadcast(on_false, lanes);
  if (on_true.dtype() != on_false.dtype()) {
    throw InvalidArgument(StrCat("the sides of a selection have the types ",
                                 on_true.dtype().ToString(), " and ", on_false.dtype().ToString(),
                                 "; cast one to the other"));
  }
  if (const auto* constant = condition.As<IntImmNode>())
    return constant->value != 0 ? on_true : on_false;
  return MakeNode<SelectNode>(condition, on_true, on_false, lazy);
}

}  // namespace

Expr::Expr(int value) : Expr(static_cast<std::int64_t>(value)) {}
Expr::Expr(std::int64_t value) : node_(new IntImmNode(Int64, value)) {}
Expr::Expr(float value) : node_(new FloatImmNode(Float32, value)) {}
Expr::Expr(double value) : node_(new FloatImmNode(Float64, value)) {}

Var::Var(std::string name, DataType type)
    : Expr(Ref<const ExprNode>(new VarNode(type, std::move(name)))) {}
Var::Var(const Expr& expr) : Expr(expr) {
  if (!expr.defined() || expr.kind() != ExprKind::kVar)
    throw InvalidArgument("a Var is made from a variable alone");
}
const std::string& Var::name() const { return As<VarNode>()->name; }

Buffer Buffer::Make(std::string name, DataType dtype, std::vector<Expr> shape, Memory memory) {
  for (const Expr& extent : shape) {
    RequireDefined(extent);
    if (extent.dtype() != Int64) {
      throw InvalidArgument(StrCat("buffer ", name, ": an extent has the type ",
                                   extent.dtype().ToString(), "; extents are int64"));
    }
  }
  return Buffer(
      Ref<const BufferNode>(new BufferNode(std::move(name), dtype, std::move(shape), memory)));
}

Expr IntImm(DataType type, std::int64_t value) {
  return MakeNode<IntImmNode>(type, Wrap(type, value));
}
Expr FloatImm(DataType type, double value) {
  return MakeNode<FloatImmNode>(type, Nearest(type, value));
}
Expr Constant(DataType type, double value) {
  if (type.is_float()) return FloatImm(type, value);
  if (value != value) return IntImm(type, 0);
  const double whole = std::trunc(value);
  const double half = std::ldexp(1.0, type.bits() - 1);
  const double low = type.is_int() ? -half : 0, end = type.is_int() ? half : 2 * half;
  if (!type.is_bool() && (whole < low || whole >= end)) {
    throw InvalidArgument(StrCat("constant ", value, " does not fit ", type.ToString(),
                                 ", whose numbers are ", low, " to ", end - 1));
  }
  if (type.is_bool()) return IntImm(type, value != 0);
  return IntImm(type, type == UInt64 ? static_cast<std::int64_t>(static_cast<std::uint64_t>(whole))
                                     : static_cast<std::int64_t>(whole));
}
Expr True() { return IntImm(Bool, 1); }
Expr False() { return IntImm(Bool, 0); }

Expr Cast(DataType type, const Expr& value) {
  RequireDefined(value);
  if (!type.is_bool() && !type.is_integral() && !type.is_float())
    throw InvalidArgument(StrCat("a cast to ", type.ToString(), "; numbers and bools are allowed"));
  const DataType target = type.WithLanes(value.dtype().lanes());
  if (target == value.dtype()) return value;
  if (target.lanes() == 1) {
    const auto* integer = value.As<IntImmNode>();
    if (integer != nullptr && !target.is_float()) return IntImm(target, integer->value);
    // The conversion of a large integer to a 16-bit float has a rounding of its own; code does it
    // once.
    if (integer != nullptr && target.bits() >= 32)
      return FloatImm(target, ToFloating(value.dtype(), integer->value, target));
    if (const auto* imm = value.As<FloatImmNode>();
        imm != nullptr && target.is_float() && target.bits() >= 32) {
      return FloatImm(target, imm->value);
    }
  }
  return MakeNode<CastNode>(target, value);
}

Expr Binary(BinaryOp op, const Expr& left, const Expr& right) {
  RequireDefined(left);
  RequireDefined(right);
  Expr a = left, b = right;
  Match(op, a, b);
  const DataType type = a.dtype();
  if (op == BinaryOp::kAnd || op == BinaryOp::kOr) RequireBool(a, "an operand of and, or");
  const bool bitwise = op == BinaryOp::kBitAnd || op == BinaryOp::kBitOr || op == BinaryOp::kBitXor;
  const bool shift = op == BinaryOp::kShl || op == BinaryOp::kShr;
  if ((bitwise && type.is_float()) || (shift && !type.is_integral())) {
    throw InvalidArgument(
        StrCat("the operands of ", ToString(op), " must be integers; they are ", type.ToString()));
  }
  if (const auto folded = Fold(op, a, b)) return *folded;
  return MakeNode<BinaryNode>(IsComparison(op) ? Bool.WithLanes(type.lanes()) : type, op, a, b);
}

Expr Not(const Expr& a) {
  RequireBool(a, "the operand of not");
  if (const auto* imm = a.As<IntImmNode>()) return IntImm(Bool, imm->value == 0);
  return MakeNode<NotNode>(a);
}
Expr Select(const Expr& condition, const Expr& on_true, const Expr& on_false) {
  return MakeSelect(condition, on_true, on_false, false);
}
Expr IfThenElse(const Expr& condition, const Expr& on_true, const Expr& on_false) {
  return MakeSelect(condition, on_true, on_false, true);
}

Expr Load(const Buffer& buffer, std::vector<Expr> indices, Ref<const RefCounted> producer,
          const Expr& predicate) {
  int lanes = 1;
  for (const Expr& index : indices) {
    RequireDefined(index);
    if (index.dtype().element() != Int64) {
      throw InvalidArgument(StrCat(buffer->name, ": an index has the type ",
                                   index.dtype().ToString(), "; cast it to int64"));
    }
    lanes = std::max(lanes, index.dtype().lanes());
  }
  const Expr mask = IsAllTrue(predicate) ? Expr() : predicate;
  CheckInvariant(!mask.defined() || (lanes > 1 && mask.dtype() == Bool.WithLanes(lanes)),
                 "the predicate of a load of a vector has a bool for each lane");
  return MakeNode<LoadNode>(buffer->dtype.WithLanes(lanes), buffer, std::move(indices),
                            std::move(producer), mask);
}

Expr Address(const Buffer& buffer, std::vector<Expr> indices, std::vector<Expr> extents) {
  return MakeNode<AddressNode>(buffer, std::move(indices), std::move(extents));
}
Expr Address(const Buffer& buffer) {
  return Address(buffer, std::vector<Expr>(buffer->shape.size(), 0), buffer->shape);
}

Expr OffsetOf(const Buffer& buffer, const std::vector<Expr>& indices) {
  CheckInvariant(indices.size() == buffer->shape.size(),
                 "a buffer is indexed by as many indices as it has dimensions");
  Expr offset = 0;
  for (std::size_t d = 0; d < indices.size(); ++d) offset = offset * buffer->shape[d] + indices[d];
  return offset;
}
Expr Ramp(const Expr& base, const Expr& stride, int lanes) {
  if (base.dtype().is_vector())
    throw InvalidArgument(
        "the base of a ramp is a vector already; loops may not be vectorised twice");
  if (lanes == 1) return base;
  return MakeNode<RampNode>(base, stride, lanes);
}
Expr Broadcast(const Expr& value, int lanes) {
  if (value.dtype().lanes() == lanes) return value;
  CheckInvariant(lanes % value.dtype().lanes() == 0, "whole copies make a vector");
  return MakeNode<BroadcastNode>(value, lanes);
}
Expr Shuffle(const Expr& a, const Expr& b, std::vector<int> lanes) {
  CheckInvariant(a.dtype() == b.dtype() && lanes.size() > 1, "vectors of one type are shuffled");
  for (const int lane : lanes)
    CheckInvariant(lane >= 0 && lane < 2 * a.dtype().lanes(), "a shuffle picks lanes that exist");
  return MakeNode<ShuffleNode>(a, b, std::move(lanes));
}
Expr Let(const Var& var, const Expr& value, const Expr& body) {
  RequireDefined(value);
  RequireDefined(body);
  return MakeNode<LetNode>(var, value, body);
}

bool IsConstInt(const Expr& expr, std::int64_t value) {
  const auto* imm = expr.As<IntImmNode>();
  return imm != nullptr && imm->value == value;
}

bool IsAllTrue(const Expr& predicate) {
  if (!predicate.defined()) return true;
  const auto* splat = predicate.As<BroadcastNode>();
  return IsConstInt(splat != nullptr ? splat->value : predicate, 1);
}

Expr operator+(const Expr& a, const Expr& b) { return Binary(BinaryOp::kAdd, a, b); }
Expr operator-(const Expr& a, const Expr& b) { return Binary(BinaryOp::kSub, a, b); }
Expr operator*(const Expr& a, const Expr& b) { return Binary(BinaryOp::kMul, a, b); }
Expr operator/(const Expr& a, const Expr& b) { return Binary(BinaryOp::kDiv, a, b); }
Expr operator%(const Expr& a, const Expr& b) { return Binary(BinaryOp::kMod, a, b); }
Expr operator-(const Expr& a) {
  RequireDefined(a);
  return Binary(BinaryOp::kSub, Constant(a.dtype().element(), a.dtype().is_float() ? -0.0 : 0.0),
                a);
}
Expr operator<(const Expr& a, const Expr& b) { return Binary(BinaryOp::kLT, a, b); }
Expr operator<=(const Expr& a, const Expr& b) { return Binary(BinaryOp::kLE, a, b); }
Expr operator>(const Expr& a, const Expr& b) { return Binary(BinaryOp::kGT, a, b); }
Expr operator>=(const Expr& a, const Expr& b) { return Binary(BinaryOp::kGE, a, b); }
Expr operator==(const Expr& a, const Expr& b) { return Binary(BinaryOp::kEQ, a, b); }
Expr operator!=(const Expr& a, const Expr& b) { return Binary(BinaryOp::kNE, a, b); }
Expr operator&&(const Expr& a, const Expr& b) { return Binary(BinaryOp::kAnd, a, b); }
Expr operator||(const Expr& a, const Expr& b) { return Binary(BinaryOp::kOr, a, b); }
Expr operator!(const Expr& a) { return Not(a); }
Expr FloorDiv(const Expr& a, const Expr& b) { return Binary(BinaryOp::kFloorDiv, a, b); }
Expr FloorMod(const Expr& a, const Expr& b) { return Binary(BinaryOp::kFloorMod, a, b); }
Expr Min(const Expr& a, const Expr& b) { return Binary(BinaryOp::kMin, a, b); }
Expr Max(const Expr& a, const Expr& b) { return Binary(BinaryOp::kMax, a, b); }

}  // namespace tenon::loop
