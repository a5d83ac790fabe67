#include "tenon/te/evaluate.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "tenon/support/bfloat16.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/te/host_function.h"
#include "tenon/te/scalar_arithmetic.h"

namespace tenon::te {
namespace {

using loop::Expr;
using loop::ExprKind;
using loop::Intrinsic;

// The NaN of float64 with the fraction of a narrower one, of `digits` bits, and back.
double WideNan(bool is_negative, std::uint64_t fraction, int digits) {
  const std::uint64_t sign = is_negative ? std::uint64_t{1} << 63 : 0;
  return std::bit_cast<double>(sign | std::uint64_t{0x7FF} << 52 | fraction << (52 - digits));
}
std::uint32_t NarrowFraction(double nan, int digits) {
  const std::uint64_t fraction = std::bit_cast<std::uint64_t>(nan) & ((std::uint64_t{1} << 52) - 1);
  const auto narrow = static_cast<std::uint32_t>(fraction >> (52 - digits));
  return narrow != 0 ? narrow : std::uint32_t{1} << (digits - 1);
}

// Conversions that keep denormals, whatever this thread's arithmetic does to them, and NaNs that
// signal: values that are only moved keep their bits.
double Widened(float v) {
  const auto bits = std::bit_cast<std::uint32_t>(v);
  const std::uint32_t magnitude = bits & 0x7FFFFFFF;
  if (magnitude > 0x7F800000) return WideNan(bits != magnitude, magnitude & 0x7FFFFF, 23);
  if (magnitude == 0 || magnitude > 0x7FFFFF) return static_cast<double>(v);
  return std::copysign(static_cast<double>(magnitude) * 0x1p-149, bits == magnitude ? 1.0 : -1.0);
}
double Widened(_Float16 v) {
  const auto bits = std::bit_cast<std::uint16_t>(v);
  const bool is_nan = (bits & 0x7FFF) > 0x7C00;
  return is_nan ? WideNan(bits > 0x7FFF, bits & 0x3FF, 10) : static_cast<double>(v);
}
_Float16 NarrowedToHalf(double v) {
  if (!std::isnan(v)) return static_cast<_Float16>(v);
  return std::bit_cast<_Float16>(
      static_cast<std::uint16_t>((std::signbit(v) ? 0xFC00U : 0x7C00U) | NarrowFraction(v, 10)));
}
float Narrowed(double v) {
  if (std::isnan(v))
    return std::bit_cast<float>((std::signbit(v) ? 0xFF800000U : 0x7F800000U) |
                                NarrowFraction(v, 23));
  const double magnitude = std::fabs(v);
  if (!(magnitude >= 0x1p-149 && magnitude < 0x1p-126)) return static_cast<float>(v);
  const auto bits = static_cast<std::uint32_t>(magnitude * 0x1p149);
  return std::bit_cast<float>(std::signbit(v) ? bits | 0x80000000U : bits);
}

// The upper half of a float32; values are rounded before they are stored.
struct BFloat {
  std::uint16_t bits;
};

template <typename T>
double ToDouble(T v) {
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, _Float16>) {
    return Widened(v);
  } else if constexpr (std::is_same_v<T, BFloat>) {
    return Widened(FromBFloat16(v.bits));
  } else {
    return static_cast<double>(v);
  }
}
template <typename T>
T FromDouble(double v) {
  if constexpr (std::is_same_v<T, float>) {
    return Narrowed(v);
  } else if constexpr (std::is_same_v<T, _Float16>) {
    return NarrowedToHalf(v);
  } else if constexpr (std::is_same_v<T, BFloat>) {
    return {static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(Narrowed(v)) >> 16)};
  } else {
    return static_cast<T>(v);
  }
}
template <typename T>
std::int64_t ToInteger(T v) {
  if constexpr (std::is_same_v<T, BFloat>) {
    return static_cast<std::int64_t>(ToDouble(v));
  } else {
    return static_cast<std::int64_t>(v);
  }
}
template <typename T>
T FromInteger(std::int64_t v) {
  if constexpr (std::is_same_v<T, BFloat>) {
    return FromDouble<BFloat>(static_cast<double>(v));
  } else {
    return static_cast<T>(v);
  }
}

// Whether this thread's arithmetic takes denormals for zero, as it does in kernels.
bool FlushesDenormals() {
  const volatile double smallest = std::numeric_limits<double>::denorm_min();
  return smallest + smallest == 0;
}

// The least normal number of a type whose denormals arithmetic flushes; 0 for others. Halves are
// computed in float32, which holds theirs.
double LeastNormal(DataType t) {
  if (t == Float64) return std::numeric_limits<double>::min();
  return t == Float32 || t == BFloat16 ? 0x1p-126 : 0;
}

// Calls `visit` with a pointer to the element type of `t`.
template <typename Visit>
void WithElementType(DataType t, Visit visit) {
  if (t == Float32) return visit(static_cast<float*>(nullptr));
  if (t == Float64) return visit(static_cast<double*>(nullptr));
  if (t.is_bool() || t == UInt8) return visit(static_cast<std::uint8_t*>(nullptr));
  if (t == Int8) return visit(static_cast<std::int8_t*>(nullptr));
  if (t == Int16) return visit(static_cast<std::int16_t*>(nullptr));
  if (t == UInt16) return visit(static_cast<std::uint16_t*>(nullptr));
  if (t == Int32) return visit(static_cast<std::int32_t*>(nullptr));
  if (t == UInt32) return visit(static_cast<std::uint32_t*>(nullptr));
  if (t == Int64 || t == UInt64) return visit(static_cast<std::int64_t*>(nullptr));
  if (t == Float16) return visit(static_cast<_Float16*>(nullptr));
  if (t == BFloat16) return visit(static_cast<BFloat*>(nullptr));
  throw Unimplemented(StrCat("the interpreter has no values of type ", t.ToString()));
}

}  // namespace

Column MakeColumn(DataType t, std::size_t size) {
  Column c;
  c.is_float = t.is_float();
  if (c.is_float) {
    c.f.resize(size);
  } else {
    c.i.resize(size);
  }
  return c;
}

void WriteColumn(const NDArray& array, std::int64_t first, const Column& values) {
  WithElementType(array.dtype(), [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    auto* data = static_cast<T*>(array.raw()) + first;
    for (std::size_t k = 0; k < values.size(); ++k)
      data[k] = values.is_float ? FromDouble<T>(values.f[k]) : FromInteger<T>(values.i[k]);
  });
}

void Evaluator::Start(std::size_t size) {
  size_ = size;
  scopes_.assign(1, {});
}

// Forgets what depends on rebound variables.
void Evaluator::Restart(Columns bound) {
  scopes_.clear();
  scopes_.push_back(std::move(bound));
}

const Column& Evaluator::Evaluate(const Expr& e) {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    const auto found = scope->find(e.get());
    if (found != scope->end()) return found->second;
  }
  Column value = Compute(e);
  return scopes_.back().insert_or_assign(e.get(), std::move(value)).first->second;
}

Evaluator::Evaluator(const Arrays& arrays, const Extents& extents)
    : arrays_(arrays), extents_(extents), flushes_denormals_(FlushesDenormals()) {}

// The value as arithmetic reads it.
const Column& Evaluator::Operand(const Expr& e, Column* flushed) {
  const Column& value = Evaluate(e);
  const double least = flushes_denormals_ ? LeastNormal(e.dtype()) : 0;
  const auto is_tiny = [&](double v) { return std::fabs(v) < least; };  // zeros, too
  if (least == 0 || std::none_of(value.f.begin(), value.f.end(), is_tiny)) return value;
  *flushed = value;
  for (double& v : flushed->f) {
    if (is_tiny(v)) v = std::copysign(0.0, v);
  }
  return *flushed;
}

Column Evaluator::Constant(DataType t, double f, std::int64_t i) const {
  Column c = MakeColumn(t, size_);
  std::fill(c.f.begin(), c.f.end(), f);
  std::fill(c.i.begin(), c.i.end(), i);
  return c;
}

Column Evaluator::Compute(const Expr& e) {
  const DataType t = e.dtype();
  switch (e.kind()) {
    case ExprKind::kIntImm:
      return Constant(t, 0, e.As<loop::IntImmNode>()->value);
    case ExprKind::kFloatImm:
      return Constant(t, RoundTo(t, e.As<loop::FloatImmNode>()->value), 0);
    case ExprKind::kVar: {
      const auto found = extents_.find(e);
      if (found == extents_.end())
        throw InvalidArgument(
            StrCat("the variable ", e.As<loop::VarNode>()->name, " has no value"));
      return Constant(t, 0, found->second);
    }
    case ExprKind::kCast: {
      const Expr& value = e.As<loop::CastNode>()->value;
      Column flushed;
      return ComputeCast(t, Operand(value, &flushed), value.dtype());
    }
    case ExprKind::kBinary:
      return ComputeBinary(*e.As<loop::BinaryNode>());
    case ExprKind::kNot: {
      Column c = Evaluate(e.As<loop::NotNode>()->a);
      for (std::int64_t& v : c.i) v = v == 0 ? 1 : 0;
      return c;
    }
    case ExprKind::kSelect:
      return ComputeSelect(*e.As<loop::SelectNode>());
    case ExprKind::kLoad:
      return ComputeLoad(*e.As<loop::LoadNode>());
    case ExprKind::kCall:
      return ComputeCall(*e.As<loop::CallNode>());
    case ExprKind::kLet: {
      const auto& let = *e.As<loop::LetNode>();
      Column value = Evaluate(let.value);
      scopes_.back().insert_or_assign(let.var.get(), std::move(value));
      return Evaluate(let.body);
    }
    case ExprKind::kExternCall:
      return ComputeExternCall(*e.As<loop::ExternCallNode>());
    case ExprKind::kAddress:
    case ExprKind::kRamp:
    case ExprKind::kBroadcast:
    case ExprKind::kShuffle:
      break;
  }
  Unreachable("tensor expressions are scalar");
}

Column Evaluator::ComputeCast(DataType to, const Column& value, DataType from) const {
  Column c = MakeColumn(to, size_);
  for (std::size_t k = 0; k < size_; ++k) {
    if (to.is_float()) {
      c.f[k] = value.is_float ? RoundTo(to, value.f[k])
                              : RoundTo(to, value.i[k], from.is_uint() && from.bits() == 64);
    } else if (value.is_float) {
      c.i[k] = SaturateTo(to, value.f[k]);
    } else {
      c.i[k] = WrapTo(to, value.i[k]);
    }
  }
  return c;
}

Column Evaluator::ComputeBinary(const loop::BinaryNode& n) {
  // Copies: evaluating the second operand may move the first.
  Column flushed;
  const Column a = Operand(n.a, &flushed);
  const Column& b = Operand(n.b, &flushed);
  Column c = MakeColumn(n.type, size_);
  const DataType operand = n.a.dtype();
  const bool unsigned64 = operand.is_uint() && operand.bits() == 64;
  for (std::size_t k = 0; k < size_; ++k) {
    if (loop::IsComparison(n.op)) {
      c.i[k] = a.is_float   ? Compare(n.op, a.f[k], b.f[k])
               : unsigned64 ? Compare(n.op, static_cast<std::uint64_t>(a.i[k]),
                                      static_cast<std::uint64_t>(b.i[k]))
                            : Compare(n.op, a.i[k], b.i[k]);
    } else if (a.is_float && n.op == loop::BinaryOp::kFloorDiv) {
      // The quotient is rounded before it is a whole number, where 16-bit floats are float32.
      const DataType computed = operand.is_half() ? Float32 : operand;
      c.f[k] = RoundTo(n.type, std::floor(RoundTo(computed, a.f[k] / b.f[k])));
    } else if (a.is_float) {
      c.f[k] = RoundTo(n.type, ApplyFloat(n.op, a.f[k], b.f[k]));
    } else {
      c.i[k] = WrapTo(n.type, ApplyInt(n.op, n.type, a.i[k], b.i[k]));
    }
  }
  return c;
}

Column Evaluator::ComputeSelect(const loop::SelectNode& n) {
  const Column condition = Evaluate(n.condition);
  const Column on_true = Guarded(n.on_true, condition, true);
  const Column on_false = Guarded(n.on_false, condition, false);
  Column c = MakeColumn(n.type, size_);
  for (std::size_t k = 0; k < size_; ++k) {
    const Column& side = condition.i[k] != 0 ? on_true : on_false;
    if (c.is_float) {
      c.f[k] = side.f[k];
    } else {
      c.i[k] = side.i[k];
    }
  }
  return c;
}

// Evaluates where the condition is `wanted`; elsewhere loads give 0.
Column Evaluator::Guarded(const Expr& e, const Column& condition, bool wanted) {
  std::vector<bool> outer = active_;
  if (active_.empty()) active_.assign(size_, true);
  for (std::size_t k = 0; k < size_; ++k)
    active_[k] = active_[k] && (condition.i[k] != 0) == wanted;
  scopes_.emplace_back();
  Column value = Evaluate(e);
  scopes_.pop_back();
  active_ = std::move(outer);
  return value;
}

Column Evaluator::ComputeLoad(const loop::LoadNode& n) {
  const auto found = arrays_.find(n.buffer.get());
  if (found == arrays_.end())
    throw InvalidArgument(StrCat("the tensor ", n.buffer->name, " has no value"));
  const NDArray& array = found->second;
  std::vector<std::int64_t> offsets(size_, 0);
  for (std::size_t d = 0; d < n.indices.size(); ++d) {
    const Column& index = Evaluate(n.indices[d]);
    const std::int64_t extent = array.shape()[d];
    for (std::size_t k = 0; k < size_; ++k) {
      if (!active_.empty() && !active_[k]) continue;
      if (index.i[k] < 0 || index.i[k] >= extent)
        throw OutOfRange(StrCat("index ", index.i[k], " of dimension ", d, " of ", n.buffer->name,
                                ", whose extent is ", extent));
      offsets[k] = offsets[k] * extent + index.i[k];
    }
  }
  Column c = MakeColumn(n.type, size_);
  const auto read = [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    const auto* data = static_cast<const T*>(array.raw());
    for (std::size_t k = 0; k < size_; ++k) {
      if (!active_.empty() && !active_[k]) continue;
      if (c.is_float) {
        c.f[k] = ToDouble(data[offsets[k]]);
      } else if (n.type.is_bool()) {
        c.i[k] = ToInteger(data[offsets[k]]) != 0 ? 1 : 0;  // any other byte is true
      } else {
        c.i[k] = ToInteger(data[offsets[k]]);
      }
    }
  };
  WithElementType(n.type, read);
  return c;
}

Column Evaluator::ComputeReinterpret(DataType to, const Column& value, DataType from) const {
  Column c = MakeColumn(to, size_);
  WithElementType(from, [&](auto* from_type) {
    WithElementType(to, [&](auto* to_type) {
      using From = std::remove_pointer_t<decltype(from_type)>;
      using To = std::remove_pointer_t<decltype(to_type)>;
      if constexpr (sizeof(From) == sizeof(To)) {
        for (std::size_t k = 0; k < size_; ++k) {
          const From bits =
              value.is_float ? FromDouble<From>(value.f[k]) : FromInteger<From>(value.i[k]);
          const auto result = std::bit_cast<To>(bits);
          if (c.is_float) {
            c.f[k] = ToDouble(result);
          } else {
            c.i[k] = ToInteger(result);
          }
        }
      }
    });
  });
  return c;
}

Column Evaluator::ComputeCall(const loop::CallNode& n) {
  if (n.intrinsic == Intrinsic::kReinterpret)
    return ComputeReinterpret(n.type, Evaluate(n.args[0]), n.args[0].dtype());
  std::vector<Column> args;
  Column flushed;
  for (const Expr& arg : n.args) args.push_back(Operand(arg, &flushed));
  Column c = MakeColumn(n.type, size_);
  for (std::size_t k = 0; k < size_; ++k) {
    switch (n.intrinsic) {
      case Intrinsic::kPow:
        c.f[k] = RoundTo(n.type, std::pow(args[0].f[k], args[1].f[k]));
        break;
      case Intrinsic::kFmod:
        c.f[k] = RoundTo(n.type, std::fmod(args[0].f[k], args[1].f[k]));
        break;
      case Intrinsic::kAtan2:
        c.f[k] = RoundTo(n.type, std::atan2(args[0].f[k], args[1].f[k]));
        break;
      case Intrinsic::kFma:
        c.f[k] = RoundTo(n.type, std::fma(args[0].f[k], args[1].f[k], args[2].f[k]));
        break;
      case Intrinsic::kIsNan:
        c.i[k] = std::isnan(args[0].f[k]);
        break;
      case Intrinsic::kIsInf:
        c.i[k] = std::isinf(args[0].f[k]);
        break;
      case Intrinsic::kIsFinite:
        c.i[k] = std::isfinite(args[0].f[k]);
        break;
      case Intrinsic::kPopcount: {
        const std::uint64_t mask = n.type.bits() == 64 ? ~0ULL : (1ULL << n.type.bits()) - 1;
        c.i[k] = __builtin_popcountll(static_cast<std::uint64_t>(args[0].i[k]) & mask);
        break;
      }
      default:
        if (c.is_float) {
          c.f[k] = RoundTo(n.type, ApplyUnary(n.intrinsic, args[0].f[k]));
        } else if (n.intrinsic == Intrinsic::kAbs) {
          // The lowest number is its own opposite.
          const std::int64_t x = args[0].i[k];
          c.i[k] = WrapTo(
              n.type, x < 0 && n.type.is_int() ? ApplyInt(loop::BinaryOp::kSub, n.type, 0, x) : x);
        } else if (n.intrinsic == Intrinsic::kSign) {
          c.i[k] = n.type.is_uint() ? args[0].i[k] != 0 : (args[0].i[k] > 0) - (args[0].i[k] < 0);
        } else {
          c.i[k] = args[0].i[k];  // rounding an integer, or hiding it
        }
    }
  }
  return c;
}

Column Evaluator::ComputeExternCall(const loop::ExternCallNode& n) {
  std::vector<Column> args;
  for (const Expr& arg : n.args) args.push_back(Evaluate(arg));
  Column c = MakeColumn(n.type, size_);
  std::vector<HostValue> values(args.size());
  const HostFunction function(n.callee);
  for (std::size_t k = 0; k < size_; ++k) {
    if (!active_.empty() && !active_[k]) continue;
    for (std::size_t i = 0; i < args.size(); ++i) {
      const DataType type = n.args[i].dtype();
      values[i] = type.is_float() ? ToHost(type, args[i].f[k]) : ToHost(type, args[i].i[k]);
    }
    const HostValue result = function(values);
    if (c.is_float) {
      c.f[k] = FloatFromHost(n.type, result);
    } else {
      c.i[k] = IntFromHost(n.type, result);
    }
  }
  return c;
}

}  // namespace tenon::te
