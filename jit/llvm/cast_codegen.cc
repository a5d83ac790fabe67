// Casts of ExprCodegen. Those of floats to integers saturate, and NaN becomes 0.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

#include "llvm/IR/Intrinsics.h"
#include "tenon/jit/llvm/bfloat16.h"
#include "tenon/jit/llvm/expr_codegen.h"

namespace tenon::jit {
namespace {

using llvm::Value;
using loop::BinaryOp;
using loop::Expr;

// Operations that are looked at below a cast.
constexpr int kDepth = 3;

bool IsWholeNumber(const Expr& e) {
  if (const auto* n = e.As<loop::BroadcastNode>()) return IsWholeNumber(n->value);
  const auto* n = e.As<loop::FloatImmNode>();
  return n != nullptr && std::trunc(n->value) == n->value;
}

// Whether the bounds of `to` are numbers of the type `from`.
bool HoldsBounds(DataType from, DataType to) {
  return from.bits() >= 32 && (to.bits() <= 16 || (to.element() == Int32 && from.bits() == 64));
}

// The value that `e` rounds half to even, which the conversion to integers may round itself. Bounds
// that are whole numbers give the same before the rounding and after it.
std::optional<Expr> BeforeRounding(const Expr& e, int depth) {
  if (const auto* call = e.As<loop::CallNode>()) {
    if (call->intrinsic != loop::Intrinsic::kNearbyint) return std::nullopt;
    return call->args[0];
  }
  const auto* n = e.As<loop::BinaryNode>();
  if (n == nullptr || depth == 0 || (n->op != BinaryOp::kMin && n->op != BinaryOp::kMax))
    return std::nullopt;
  if (!IsWholeNumber(n->b)) return std::nullopt;
  const std::optional<Expr> bounded = BeforeRounding(n->a, depth - 1);
  if (!bounded) return std::nullopt;
  return loop::Binary(n->op, *bounded, n->b);
}

// Integers of 64 bits as integers that float64 holds. Those beyond 53 bits are rounded to odd, so
// that a second rounding to fewer bits gives what a single one would.
Value* RoundToOdd53Bits(llvm::IRBuilder<>& builder, Value* value, bool is_signed) {
  const auto number = [&](std::uint64_t n) { return llvm::ConstantInt::get(value->getType(), n); };
  constexpr std::uint64_t kDropped = 2047, kExact = std::uint64_t{1} << 53;
  Value* mark = builder.CreateAdd(builder.CreateAnd(value, number(kDropped)), number(kDropped));
  Value* odd = builder.CreateAnd(builder.CreateOr(mark, value), number(~kDropped));
  Value* beyond = is_signed ? builder.CreateAdd(value, number(kExact)) : value;
  Value* is_large = builder.CreateICmpUGT(beyond, number(is_signed ? 2 * kExact : kExact));
  return builder.CreateSelect(is_large, odd, value);
}

}  // namespace

// LLVM converts a lane at a time where it saturates. float32 has no 2^31 - 1: lanes from 2^31 on
// are picked after the conversion.
Value* ExprCodegen::SaturateToInt32(Value* value, DataType type) {
  const auto splat = [&](double x) { return llvm::ConstantFP::get(value->getType(), x); };
  const double limit = std::ldexp(1.0, 31);
  Value* const above = builder_.CreateFCmpOGE(value, splat(limit));
  Value* bounded =
      builder_.CreateSelect(builder_.CreateFCmpOGT(value, splat(-limit)), value, splat(-limit));
  bounded = builder_.CreateSelect(builder_.CreateOr(above, builder_.CreateFCmpUNO(value, value)),
                                  splat(0), bounded);
  llvm::Type* const target = RegisterType(type);
  return builder_.CreateSelect(
      above, llvm::ConstantInt::get(target, std::numeric_limits<std::int32_t>::max()),
      builder_.CreateFPToSI(bounded, target));
}

ExprCodegen::FloatRange ExprCodegen::RangeOf(const Expr& e, int depth) {
  if (const auto* n = e.As<loop::FloatImmNode>()) return {n->value, n->value};
  if (const auto* n = e.As<loop::BroadcastNode>()) return RangeOf(n->value, depth);
  const auto* n = e.As<loop::BinaryNode>();
  if (n == nullptr || depth == 0) return {};
  if (n->op != loop::BinaryOp::kMin && n->op != loop::BinaryOp::kMax) return {};
  const FloatRange a = RangeOf(n->a, depth - 1), b = RangeOf(n->b, depth - 1);
  if (n->op == loop::BinaryOp::kMin) return {std::min(a.low, b.low), std::min(a.high, b.high)};
  return {std::max(a.low, b.low), std::max(a.high, b.high)};
}

// LLVM makes one call per lane of its saturating conversion to narrow types.
Value* ExprCodegen::SaturateToInt(Value* value, DataType type, const FloatRange& range,
                                  bool round) {
  const int bits = type.bits();
  const double low = type.is_int() ? -std::ldexp(1.0, bits - 1) : 0;
  const double high = std::ldexp(1.0, type.is_int() ? bits - 1 : bits) - 1;
  Value* const lowest = llvm::ConstantFP::get(value->getType(), low);
  Value* const highest = llvm::ConstantFP::get(value->getType(), high);
  Value* const zero = llvm::ConstantFP::get(value->getType(), 0);
  Value* const number = builder_.CreateFCmpORD(value, value);
  Value* bounded = value;
  if (range.high > high)
    bounded = builder_.CreateSelect(builder_.CreateFCmpOLT(bounded, highest), bounded, highest);
  if (range.low < low)
    bounded = builder_.CreateSelect(builder_.CreateFCmpOGT(bounded, lowest), bounded, lowest);
  bounded = builder_.CreateSelect(number, bounded, zero);
  llvm::Type* const words = RegisterType(Int32.WithLanes(type.lanes()));
  Value* const wide =
      round ? builder_.CreateIntrinsic(llvm::Intrinsic::lrint, {words, value->getType()}, {bounded})
            : builder_.CreateFPToSI(bounded, words);
  return bits == 32 ? wide : builder_.CreateTrunc(wide, RegisterType(type));
}

// Null where the value is not rounded, or where LLVM would convert a lane at a time.
Value* ExprCodegen::EmitRoundingCast(const loop::CastNode& node) {
  const DataType from = node.value.dtype(), to = node.type;
  const bool is_one_instruction = from.element() == Float32 || options_.vector_bits >= 256;
  if (!from.is_float() || to.is_float() || to.is_bool() || to.lanes() == 1 ||
      !HoldsBounds(from, to) || !is_one_instruction)
    return nullptr;
  const std::optional<Expr> real = BeforeRounding(node.value, kDepth);
  if (!real) return nullptr;
  return SaturateToInt(EmitShared(*real), to, RangeOf(*real, kDepth), true);
}

Value* ExprCodegen::EmitCast(const loop::CastNode& node) {
  if (Value* const rounded = EmitRoundingCast(node)) return rounded;
  const bool from_half = node.value.dtype().is_half();
  const DataType from = from_half ? Float32.WithLanes(node.type.lanes()) : node.value.dtype();
  const DataType to = node.type;
  Value* value = EmitShared(node.value);
  if (from_half) value = Widen(value, node.value.dtype());
  llvm::Type* target = RegisterType(to);
  if (to.is_bool()) {
    Value* zero = llvm::Constant::getNullValue(value->getType());
    return from.is_float() ? builder_.CreateFCmpUNE(value, zero)
                           : builder_.CreateICmpNE(value, zero);
  }
  if (from.is_float() && to.is_float()) {
    if (to.bits() < from.bits()) return Narrow(value, to);
    return builder_.CreateFPCast(value, target);
  }
  if (from.is_float()) {
    // Saturates, and NaN becomes 0: plain conversion leaves both undefined. LLVM vectorises no loop
    // around its own saturating conversion.
    if (HoldsBounds(from, to)) {
      // A bound may be rounded to a half beyond what the type holds.
      return SaturateToInt(value, to, from_half ? FloatRange{} : RangeOf(node.value, kDepth),
                           false);
    }
    if (to.element() == Int32 && from.element() == Float32) return SaturateToInt32(value, to);
    return builder_.CreateIntrinsic(
        to.is_int() ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat,
        {target, value->getType()}, {value});
  }
  if (to.is_float()) {
    const auto converted = [&](DataType type) {
      llvm::Type* real = RegisterType(type.WithLanes(to.lanes()));
      return from.is_int() ? builder_.CreateSIToFP(value, real)
                           : builder_.CreateUIToFP(value, real);
    };
    if (to.element() == BFloat16) {
      if (from.bits() == 64) value = RoundToOdd53Bits(builder_, value, from.is_int());
      return Narrow(converted(Float64), to);
    }
    // LLVM 19 makes NaN of vectors of uint32 where the CPU has F16C and no AVX2. float32 holds all
    // integers that float16 has room for, so only one of the conversions rounds.
    if (to.element() == Float16) return Narrow(converted(Float32), to);
    return converted(to);
  }
  return builder_.CreateIntCast(value, target, from.is_int());
}

}  // namespace tenon::jit
