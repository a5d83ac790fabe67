#include "tenon/loop/constants.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "tenon/loop/simplify/intervals.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::loop {
namespace {

bool IsConstant(const Expr& e) {
  return e.kind() == ExprKind::kIntImm || e.kind() == ExprKind::kFloatImm;
}

// `v` as a float32, rounded to odd, so that a second rounding to fewer bits gives what a single one
// would.
float RoundToOdd(double v) {
  const auto near = static_cast<float>(v);
  const double back = near;
  const auto bits = std::bit_cast<std::uint32_t>(near);
  if (std::isnan(v) || back == v || bits % 2 == 1) return near;
  return std::bit_cast<float>(std::fabs(back) > std::fabs(v) ? bits - 1 : bits + 1);
}

bool IsBeyondInt64(const Expr& e) {
  return e.dtype().element() == UInt64 && e.As<IntImmNode>()->value < 0;
}

// Whether an integer type holds the integer constant.
bool HoldsConstant(DataType type, const Expr& e) {
  const std::int64_t value = e.As<IntImmNode>()->value;
  if (type.element() == UInt64) return value >= 0 || IsBeyondInt64(e);
  return !IsBeyondInt64(e) && Wrap(type, value) == value;
}

// Refuses an integer constant that the type of the other side does not hold.
void RequireFits(const Expr& constant, const Expr& other, std::string_view where) {
  const DataType type = other.dtype().element();
  const auto* imm = constant.As<IntImmNode>();
  if (imm == nullptr || type.is_float() || type.is_bool() || IsConstant(other)) return;
  const std::string value =
      IsBeyondInt64(constant) ? StrCat(static_cast<std::uint64_t>(imm->value)) : StrCat(imm->value);
  throw InvalidArgument(StrCat("constant ", value, " does not fit ", type.ToString(),
                               ", the type of the other ", where,
                               "; cast that side to a wider type"));
}

std::optional<std::int64_t> FoldInt(BinaryOp op, std::int64_t a, std::int64_t b) {
  std::int64_t r = 0;
  switch (op) {
    case BinaryOp::kAdd:
      if (__builtin_add_overflow(a, b, &r)) return std::nullopt;
      return r;
    case BinaryOp::kSub:
      if (__builtin_sub_overflow(a, b, &r)) return std::nullopt;
      return r;
    case BinaryOp::kMul:
      if (__builtin_mul_overflow(a, b, &r)) return std::nullopt;
      return r;
    case BinaryOp::kDiv:
      if (b == 0 || b == -1) return std::nullopt;
      return a / b;
    case BinaryOp::kMod:
      if (b == 0 || b == -1) return std::nullopt;
      return a % b;
    case BinaryOp::kFloorDiv:
      if (b == 0 || b == -1) return std::nullopt;
      return FloorDivide(a, b);
    case BinaryOp::kFloorMod:
      if (b == 0 || b == -1) return std::nullopt;
      return a - FloorDivide(a, b) * b;
    case BinaryOp::kMin:
      return std::min(a, b);
    case BinaryOp::kMax:
      return std::max(a, b);
    case BinaryOp::kEQ:
      return a == b;
    case BinaryOp::kNE:
      return a != b;
    case BinaryOp::kLT:
      return a < b;
    case BinaryOp::kLE:
      return a <= b;
    case BinaryOp::kGT:
      return a > b;
    case BinaryOp::kGE:
      return a >= b;
    case BinaryOp::kAnd:
    case BinaryOp::kBitAnd:
      return a & b;
    case BinaryOp::kOr:
    case BinaryOp::kBitOr:
      return a | b;
    case BinaryOp::kBitXor:
      return a ^ b;
    case BinaryOp::kShl:
    case BinaryOp::kShr:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::int64_t Wrap(DataType type, std::int64_t value) {
  if (type.is_bool()) return value != 0 ? 1 : 0;
  if (type.bits() == 64) return value;
  const int shift = 64 - type.bits();
  const auto moved = static_cast<std::uint64_t>(value) << shift;
  return type.is_int() ? static_cast<std::int64_t>(moved) >> shift
                       : static_cast<std::int64_t>(moved >> shift);
}

double Nearest(DataType given, double value) {
  const DataType type = given.element();
  if (type == Float32) return static_cast<float>(value);
  if (type == Float64) return value;
  if (type.code() == TypeCode::kFloat && type.bits() == 16)
    return static_cast<double>(static_cast<_Float16>(value));
  // bfloat16: the upper half of a float32, rounded to even.
  const float single = RoundToOdd(value);
  if (std::isnan(single)) return single;
  auto bits = std::bit_cast<std::uint32_t>(single);
  bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000U;
  return std::bit_cast<float>(bits);
}

double ToFloating(DataType from, std::int64_t value, DataType to) {
  const bool is_large = from == UInt64 && value < 0;
  const auto bits = static_cast<std::uint64_t>(value);
  if (to.element() == Float32)
    return static_cast<double>(is_large ? static_cast<float>(bits) : static_cast<float>(value));
  return is_large ? static_cast<double>(bits) : static_cast<double>(value);
}

std::optional<Expr> ConstantAs(DataType type, const Expr& e) {
  if (const auto* imm = e.As<IntImmNode>()) {
    if (type.is_float()) return FloatImm(type, ToFloating(e.dtype(), imm->value, type));
    if (!HoldsConstant(type, e)) return std::nullopt;
    return IntImm(type, imm->value);
  }
  const auto* imm = e.As<FloatImmNode>();
  if (imm == nullptr || !type.is_float()) return std::nullopt;
  return FloatImm(type, imm->value);
}

bool MatchConstants(Expr& a, Expr& b) {
  const DataType type_a = a.dtype().element(), type_b = b.dtype().element();
  if (type_a == type_b) return true;
  if (IsConstant(b) && !type_a.is_bool()) {
    if (const auto same = ConstantAs(type_a, b)) {
      b = *same;
      return true;
    }
  }
  if (IsConstant(a) && !type_b.is_bool()) {
    if (const auto same = ConstantAs(type_b, a)) {
      a = *same;
      return true;
    }
  }
  return false;
}

void RequireFit(const Expr& a, const Expr& b, std::string_view where) {
  if (IsConstant(a)) RequireFits(a, b, where);
  if (IsConstant(b)) RequireFits(b, a, where);
}

std::optional<Expr> Fold(BinaryOp op, const Expr& a, const Expr& b) {
  const auto* x = a.As<IntImmNode>();
  const auto* y = b.As<IntImmNode>();
  const DataType type = a.dtype();
  if (x != nullptr && y != nullptr && (type.is_int() || type.is_bool())) {
    if (const auto folded = FoldInt(op, x->value, y->value)) {
      return IntImm(IsComparison(op) ? Bool : type, *folded);
    }
  }
  if (type.is_int() && type.lanes() == 1) {
    if (op == BinaryOp::kAdd && IsConstInt(a, 0)) return b;
    if ((op == BinaryOp::kAdd || op == BinaryOp::kSub) && IsConstInt(b, 0)) return a;
    if (op == BinaryOp::kMul && (IsConstInt(a, 0) || IsConstInt(b, 1))) return a;
    if (op == BinaryOp::kMul && (IsConstInt(b, 0) || IsConstInt(a, 1))) return b;
    if ((op == BinaryOp::kFloorDiv || op == BinaryOp::kDiv) && IsConstInt(b, 1)) return a;
    if ((op == BinaryOp::kFloorMod || op == BinaryOp::kMod) && IsConstInt(b, 1))
      return IntImm(type, 0);
  }
  if (op == BinaryOp::kAnd) {
    if (x != nullptr) return x->value != 0 ? b : a;
    if (y != nullptr) return y->value != 0 ? a : b;
  }
  if (op == BinaryOp::kOr) {
    if (x != nullptr) return x->value != 0 ? a : b;
    if (y != nullptr) return y->value != 0 ? b : a;
  }
  return std::nullopt;
}

}  // namespace tenon::loop
