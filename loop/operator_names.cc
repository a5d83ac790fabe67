// Names and kinds of operators and intrinsics.
#include <iterator>

#include "tenon/loop/expr.h"

namespace tenon::loop {

const char* ToString(BinaryOp op) {
  switch (op) {
    case BinaryOp::kAdd:
      return "+";
    case BinaryOp::kSub:
      return "-";
    case BinaryOp::kMul:
      return "*";
    case BinaryOp::kDiv:
      return "/";
    case BinaryOp::kMod:
      return "%";
    case BinaryOp::kFloorDiv:
      return "floordiv";
    case BinaryOp::kFloorMod:
      return "floormod";
    case BinaryOp::kMin:
      return "min";
    case BinaryOp::kMax:
      return "max";
    case BinaryOp::kEQ:
      return "==";
    case BinaryOp::kNE:
      return "!=";
    case BinaryOp::kLT:
      return "<";
    case BinaryOp::kLE:
      return "<=";
    case BinaryOp::kGT:
      return ">";
    case BinaryOp::kGE:
      return ">=";
    case BinaryOp::kAnd:
      return "&&";
    case BinaryOp::kOr:
      return "||";
    case BinaryOp::kBitAnd:
      return "&";
    case BinaryOp::kBitOr:
      return "|";
    case BinaryOp::kBitXor:
      return "^";
    case BinaryOp::kShl:
      return "<<";
    case BinaryOp::kShr:
      return ">>";
  }
  return "?";
}

const char* ToString(Intrinsic intrinsic) {
  static constexpr const char* kNames[] = {
      "exp",         "log",       "log2",     "log10",    "log1p",          "sqrt",
      "rsqrt",       "sin",       "cos",      "tan",      "asin",           "acos",
      "atan",        "sinh",      "cosh",     "tanh",     "asinh",          "acosh",
      "atanh",       "erf",       "sigmoid",  "abs",      "floor",          "ceil",
      "round",       "nearbyint", "trunc",    "pow",      "fmod",           "atan2",
      "popcount",    "isnan",     "isinf",    "isfinite", "sign",           "fma",
      "reinterpret", "dot_u8s8",  "dot_bf16", "prefetch", "prefetch_write", "prefetch_later",
      "opaque"};
  static_assert(std::size(kNames) == static_cast<std::size_t>(Intrinsic::kOpaque) + 1);
  return kNames[static_cast<int>(intrinsic)];
}

bool IsPrefetch(Intrinsic intrinsic) {
  return intrinsic == Intrinsic::kPrefetch || intrinsic == Intrinsic::kPrefetchWrite ||
         intrinsic == Intrinsic::kPrefetchLater;
}

bool IsComparison(BinaryOp op) { return op >= BinaryOp::kEQ && op <= BinaryOp::kGE; }

}  // namespace tenon::loop
