#include "tenon/loop/expr.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::loop {
namespace {

template <typename Node, typename... Args>
Expr Make(Args&&... args) {
  return Expr(Ref<const ExprNode>(new Node(std::forward<Args>(args)...)));
}

// Keeps a constant inside its type, as a register would.
std::int64_t Wrap(DataType type, std::int64_t value) {
  if (type.is_bool()) return value != 0 ? 1 : 0;
  if (type.bits() == 64) return value;
  const int shift = 64 - type.bits();
  const auto moved = static_cast<std::uint64_t>(value) << shift;
  return type.is_int() ? static_cast<std::int64_t>(moved) >> shift
                       : static_cast<std::int64_t>(moved >> shift);
}

bool IsConstant(const Expr& e) {
  return e.kind() == ExprKind::kIntImm || e.kind() == ExprKind::kFloatImm;
}

// `value`, which `from` holds, as the nearest number of a floating type: rounded once where that
// type has registers.
double ToFloating(DataType from, std::int64_t value, DataType to) {
  const bool is_large = from == UInt64 && value < 0;
  const auto bits = static_cast<std::uint64_t>(value);
  if (to.element() == Float32)
    return static_cast<double>(is_large ? static_cast<float>(bits) : static_cast<float>(value));
  return is_large ? static_cast<double>(bits) : static_cast<double>(value);
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

// A constant in another type; nothing where its value could get lost: a floating constant becomes
// no integer, and an integer no type that does not hold it.
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

// Gives the constant among two values of different types the type of the other; false when neither
// can take it.
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
void RequireFit(const Expr& a, const Expr& b, std::string_view where) {
  if (IsConstant(a)) RequireFits(a, b, where);
  if (IsConstant(b)) RequireFits(b, a, where);
}

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

std::int64_t FloorDivide(std::int64_t a, std::int64_t b) {
  return a / b - ((a % b != 0 && (a % b < 0) != (b < 0)) ? 1 : 0);
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

// Folds what cannot change a result: constants of signed integers and bools, and the neutral
// elements of index arithmetic.
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

void RequireBool(const Expr& e, std::string_view where) {
  if (!e.dtype().is_bool()) {
    throw InvalidArgument(StrCat(where, " must be bool; it is ", e.dtype().ToString()));
  }
}

Expr MakeSelect(const Expr& condition, Expr on_true, Expr on_false, bool lazy) {
  RequireBool(condition, "the condition of a selection");
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
  return Make<SelectNode>(condition, on_true, on_false, lazy);
}

bool IsDot(Intrinsic i) { return i == Intrinsic::kDotU8S8 || i == Intrinsic::kDotBF16; }

std::size_t ArgumentCount(Intrinsic i) {
  if (i == Intrinsic::kFma || IsDot(i)) return 3;
  return i == Intrinsic::kPow || i == Intrinsic::kFmod || i == Intrinsic::kAtan2 ? 2 : 1;
}

bool IsPredicate(Intrinsic i) {
  return i == Intrinsic::kIsNan || i == Intrinsic::kIsInf || i == Intrinsic::kIsFinite ||
         IsPrefetch(i);
}

}  // namespace

Expr::Expr(int value) : Expr(static_cast<std::int64_t>(value)) {}
Expr::Expr(std::int64_t value) : node_(new IntImmNode(Int64, value)) {}
Expr::Expr(float value) : node_(new FloatImmNode(Float32, value)) {}
Expr::Expr(double value) : node_(new FloatImmNode(Float64, value)) {}

Var::Var(std::string name, DataType type)
    : Expr(Ref<const ExprNode>(new VarNode(type, std::move(name)))) {}
Var::Var(const Expr& expr) : Expr(expr) {
  CheckInvariant(expr.defined() && expr.kind() == ExprKind::kVar, "a Var is made from a variable");
}
const std::string& Var::name() const { return As<VarNode>()->name; }

Buffer Buffer::Make(std::string name, DataType dtype, std::vector<Expr> shape, Memory memory) {
  for (const Expr& extent : shape) {
    if (extent.dtype() != Int64) {
      throw InvalidArgument(StrCat("buffer ", name, ": an extent has the type ",
                                   extent.dtype().ToString(), "; extents are int64"));
    }
  }
  return Buffer(
      Ref<const BufferNode>(new BufferNode(std::move(name), dtype, std::move(shape), memory)));
}

Expr IntImm(DataType type, std::int64_t value) { return Make<IntImmNode>(type, Wrap(type, value)); }
Expr FloatImm(DataType type, double value) {
  return Make<FloatImmNode>(
      type, type == Float32 ? static_cast<double>(static_cast<float>(value)) : value);
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
  const DataType target = type.WithLanes(value.dtype().lanes());
  if (target == value.dtype()) return value;
  if (target.lanes() == 1) {
    const auto* integer = value.As<IntImmNode>();
    if (integer != nullptr && !target.is_float()) return IntImm(target, integer->value);
    // Between a large integer and a 16-bit float lies a rounding of its own; code does it once.
    if (integer != nullptr && target.bits() >= 32)
      return FloatImm(target, ToFloating(value.dtype(), integer->value, target));
    if (const auto* imm = value.As<FloatImmNode>();
        imm != nullptr && target.is_float() && target.bits() >= 32) {
      return FloatImm(target, imm->value);
    }
  }
  return Make<CastNode>(target, value);
}

Expr Binary(BinaryOp op, const Expr& left, const Expr& right) {
  Expr a = left, b = right;
  CheckInvariant(a.defined() && b.defined(), "operands are defined");
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
  return Make<BinaryNode>(IsComparison(op) ? Bool.WithLanes(type.lanes()) : type, op, a, b);
}

Expr Not(const Expr& a) {
  RequireBool(a, "the operand of not");
  if (const auto* imm = a.As<IntImmNode>()) return IntImm(Bool, imm->value == 0);
  return Make<NotNode>(a);
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
    if (index.dtype().element() != Int64) {
      throw InvalidArgument(StrCat(buffer->name, ": an index has the type ",
                                   index.dtype().ToString(), "; cast it to int64"));
    }
    lanes = std::max(lanes, index.dtype().lanes());
  }
  const Expr mask = IsAllTrue(predicate) ? Expr() : predicate;
  CheckInvariant(!mask.defined() || (lanes > 1 && mask.dtype() == Bool.WithLanes(lanes)),
                 "the predicate of a load of a vector has a bool for each lane");
  return Make<LoadNode>(buffer->dtype.WithLanes(lanes), buffer, std::move(indices),
                        std::move(producer), mask);
}

namespace {

// A dot product within lanes.
Expr DotCall(Intrinsic intrinsic, std::vector<Expr> args) {
  const bool bytes = intrinsic == Intrinsic::kDotU8S8;
  const int lanes = args[0].dtype().lanes(), wide = (bytes ? 4 : 2) * lanes;
  const DataType wanted[] = {(bytes ? Int32 : Float32).WithLanes(lanes),
                             (bytes ? UInt8 : BFloat16).WithLanes(wide),
                             (bytes ? Int8 : BFloat16).WithLanes(wide)};
  for (std::size_t i = 0; i < 3; ++i) {
    if (args[i].dtype() == wanted[i]) continue;
    if (i == 1 && args[i].dtype() == Int32.WithLanes(lanes)) continue;
    throw InvalidArgument(StrCat("argument ", i, " of ", ToString(intrinsic), " is ",
                                 args[i].dtype().ToString(), "; it must be ",
                                 wanted[i].ToString()));
  }
  return Make<CallNode>(wanted[0], intrinsic, std::move(args));
}

}  // namespace

Expr Call(Intrinsic intrinsic, std::vector<Expr> args) {
  if (intrinsic == Intrinsic::kReinterpret)
    throw InvalidArgument("reinterpret needs the type of its result; call Reinterpret instead");
  if (const std::size_t wanted = ArgumentCount(intrinsic); args.size() != wanted) {
    throw InvalidArgument(StrCat(ToString(intrinsic), " takes ", wanted,
                                 wanted == 1 ? " argument; " : " arguments; ", args.size(),
                                 args.size() == 1 ? " is given" : " are given"));
  }
  if (IsDot(intrinsic)) return DotCall(intrinsic, std::move(args));
  const DataType type = args[0].dtype();
  if (IsPrefetch(intrinsic) && args[0].kind() != ExprKind::kLoad)
    throw InvalidArgument(
        StrCat(ToString(intrinsic), " takes an element of a buffer, that is a load"));
  const bool any_type = IsPrefetch(intrinsic) || intrinsic == Intrinsic::kAbs ||
                        intrinsic == Intrinsic::kSign || intrinsic == Intrinsic::kFloor ||
                        intrinsic == Intrinsic::kCeil || intrinsic == Intrinsic::kRound ||
                        intrinsic == Intrinsic::kTrunc || intrinsic == Intrinsic::kNearbyint;
  if (intrinsic == Intrinsic::kOpaque && type.lanes() > 1)
    throw InvalidArgument(StrCat("opaque does not take ", type.ToString(), "; it needs one lane"));
  const bool integers = intrinsic == Intrinsic::kPopcount || intrinsic == Intrinsic::kOpaque;
  if (integers ? !type.is_integral() : (!type.is_float() && !any_type)) {
    throw InvalidArgument(StrCat(ToString(intrinsic), " does not take ", type.ToString(),
                                 "; it needs ", integers ? "an integer" : "a floating type"));
  }
  for (const Expr& arg : args) {
    if (arg.dtype() != type) {
      throw InvalidArgument(StrCat("the arguments of ", ToString(intrinsic), " have the types ",
                                   type.ToString(), " and ", arg.dtype().ToString()));
    }
  }
  return Make<CallNode>(IsPredicate(intrinsic) ? Bool.WithLanes(type.lanes()) : type, intrinsic,
                        std::move(args));
}
Expr Reinterpret(DataType type, const Expr& value) {
  const DataType from = value.dtype();
  const DataType to = type.WithLanes(from.lanes());
  if (to == from) return value;
  if (to.bits() != from.bits() || to.is_bool() || from.is_bool()) {
    throw InvalidArgument(StrCat("the bits of ", from.ToString(), " are not those of ",
                                 to.ToString(), "; both must have one width and not be bool"));
  }
  return Make<CallNode>(to, Intrinsic::kReinterpret, std::vector<Expr>{value});
}
Expr WithArguments(const CallNode& call, std::vector<Expr> args) {
  if (call.intrinsic == Intrinsic::kReinterpret) return Reinterpret(call.type.element(), args[0]);
  return Call(call.intrinsic, std::move(args));
}
Expr ExternCall(const ExternFunction& callee, std::vector<Expr> args) {
  if (callee->has_signature && args.size() != callee->parameters.size()) {
    throw InvalidArgument(StrCat("the external function ", callee->symbol, " takes ",
                                 callee->parameters.size(), " arguments; ", args.size(),
                                 args.size() == 1 ? " is given" : " are given"));
  }
  int lanes = 1;
  for (std::size_t i = 0; i < args.size(); ++i) {
    lanes = std::max(lanes, args[i].dtype().lanes());
    if (!callee->has_signature) continue;
    const ExternFunctionNode::Parameter& parameter = callee->parameters[i];
    // A constant takes the parameter's type, as in arithmetic.
    if (parameter.type != Handle && !parameter.type.is_bool()) {
      if (const auto constant = ConstantAs(parameter.type, args[i])) args[i] = *constant;
    }
    if (args[i].dtype().element() != parameter.type) {
      throw InvalidArgument(StrCat("argument ", i, " of the external function ", callee->symbol,
                                   " is ", args[i].dtype().ToString(), "; it must be ",
                                   parameter.type.ToString()));
    }
    const auto* address = args[i].As<AddressNode>();
    if (address != nullptr && !parameter.pointee.is_void() &&
        address->buffer->dtype != parameter.pointee) {
      throw InvalidArgument(StrCat("argument ", i, " of the external function ", callee->symbol,
                                   " points to ", address->buffer->dtype.ToString(), " (",
                                   address->buffer->name, "); it must point to ",
                                   parameter.pointee.ToString()));
    }
  }
  for (Expr& arg : args) arg = Broadcast(arg, lanes);
  return Make<ExternCallNode>(callee, lanes, std::move(args));
}
Expr ExternCall(DataType type, std::string symbol, std::vector<Expr> args) {
  return ExternCall(ExternFunction::Untyped(std::move(symbol), type), std::move(args));
}
Expr Address(const Buffer& buffer, std::vector<Expr> indices, std::vector<Expr> extents) {
  return Make<AddressNode>(buffer, std::move(indices), std::move(extents));
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
  return Make<RampNode>(base, stride, lanes);
}
Expr Broadcast(const Expr& value, int lanes) {
  if (value.dtype().lanes() == lanes) return value;
  CheckInvariant(lanes % value.dtype().lanes() == 0, "whole copies make a vector");
  return Make<BroadcastNode>(value, lanes);
}
Expr Shuffle(const Expr& a, const Expr& b, std::vector<int> lanes) {
  CheckInvariant(a.dtype() == b.dtype() && lanes.size() > 1, "vectors of one type are shuffled");
  for (const int lane : lanes)
    CheckInvariant(lane >= 0 && lane < 2 * a.dtype().lanes(), "a shuffle picks lanes that exist");
  return Make<ShuffleNode>(a, b, std::move(lanes));
}
Expr Let(const Var& var, const Expr& value, const Expr& body) {
  return Make<LetNode>(var, value, body);
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

Expr operator+(const Expr& a, const Expr& b) { return Binary(BinaryOp::kAdd, a, b); }
Expr operator-(const Expr& a, const Expr& b) { return Binary(BinaryOp::kSub, a, b); }
Expr operator*(const Expr& a, const Expr& b) { return Binary(BinaryOp::kMul, a, b); }
Expr operator/(const Expr& a, const Expr& b) { return Binary(BinaryOp::kDiv, a, b); }
Expr operator%(const Expr& a, const Expr& b) { return Binary(BinaryOp::kMod, a, b); }
Expr operator-(const Expr& a) {
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
