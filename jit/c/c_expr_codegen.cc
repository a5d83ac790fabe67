// Every value has one C text. A node with several readers, and a text that has grown long, becomes
// a constant of its own in the block, so that a text is never longer than the graph that it is made
// from. The sides of a lazy selection have blocks of their own, since what they read may not exist
// when they are not taken. Signed sums of data are computed unsigned, where C lets them wrap
// around; index arithmetic stays as it is, which lets the compiler widen and reorder it. C has the
// type int for literals that fit it, and so for a choice between two of them: arithmetic of int64
// on nothing else is given the type.
#include "tenon/jit/c/c_expr_codegen.h"

#include <utility>

#include "tenon/jit/library_functions.h"
#include "tenon/jit/llvm/vector_math.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::jit {
namespace {

using loop::BinaryOp;
using loop::Expr;
using loop::ExprKind;
using loop::Intrinsic;

constexpr std::size_t kLongText = 200;

// Whether it is passed on as it is, since a name for it would say nothing.
bool IsTrivial(const Expr& e) {
  return e.kind() == ExprKind::kIntImm || e.kind() == ExprKind::kFloatImm ||
         e.kind() == ExprKind::kVar || e.kind() == ExprKind::kBroadcast;
}

std::string MathName(std::string_view name, DataType type) {
  return StrCat(name, type.bits() == 64 ? "" : "f");
}

const char* Operator(BinaryOp op) {
  switch (op) {
    case BinaryOp::kAnd:
      return "&&";
    case BinaryOp::kOr:
      return "||";
    default:
      return loop::ToString(op);
  }
}

std::string Infix(const std::string& a, const char* op, const std::string& b) {
  return StrCat("(", a, " ", op, " ", b, ")");
}

}  // namespace

void CExprCodegen::Begin(const Expr& expr, CBlock& block, const std::string& lane) {
  CheckInvariant(!expr.dtype().is_vector() || !lane.empty(),
                 "a vector is written inside a loop over its lanes");
  block_ = &block;
  lane_ = lane;
  uses_.clear();
  loop::VisitExpr(expr, [&](const Expr& e) {
    for (const Expr& child : loop::Children(e)) ++uses_[child];
  });
  emitted_.assign(1, {});
}

std::string CExprCodegen::Value(const Expr& expr, CBlock& block, const std::string& lane) {
  Begin(expr, block, lane);
  return Shared(expr);
}

std::string CExprCodegen::Element(const Expr& expr, CBlock& block, const std::string& lane) {
  Begin(expr, block, lane);
  const DataType type = expr.dtype();
  // The conversion to bits rounds.
  if (type.is_half())
    return StrCat(helpers_.Use(CHelper::kToMemory, type), "(",
                  WithoutOuterParentheses(Unrounded(expr)), ")");
  return Shared(expr);
}

std::string CExprCodegen::Name(const Expr& var) {
  std::string& name = known_names_[var.get()];
  if (name.empty()) name = names_.Unique(var.As<loop::VarNode>()->name);
  return name;
}

std::string CExprCodegen::Name(const loop::Buffer& buffer) {
  std::string& name = known_names_[buffer.get()];
  if (name.empty()) name = names_.Unique(buffer->name);
  return name;
}

std::string CExprCodegen::Shared(const Expr& expr) {
  for (const Emitted& scope : emitted_) {
    if (const auto found = scope.find(expr); found != scope.end()) return found->second;
  }
  std::string text = Rounded(expr, Unrounded(expr));
  if (!IsTrivial(expr) && !expr.dtype().is_void() && (uses_[expr] > 1 || text.size() > kLongText)) {
    const std::string name = names_.Unique("t");
    block_->Line(StrCat("const ", CRegisterType(expr.dtype()), " ", name, " = ",
                        WithoutOuterParentheses(text), ";"));
    text = name;
  }
  emitted_.back().emplace(expr, text);
  return text;
}

bool CExprCodegen::MayBeInt(const Expr& expr) const {
  // What several read has a name of its own type.
  if (const auto uses = uses_.find(expr);
      uses != uses_.end() && uses->second > 1 && !IsTrivial(expr))
    return false;
  switch (expr.kind()) {
    case ExprKind::kIntImm:
      return true;
    case ExprKind::kBroadcast:
      return MayBeInt(expr.As<loop::BroadcastNode>()->value);
    case ExprKind::kSelect:
      return MayBeInt(expr.As<loop::SelectNode>()->on_true) &&
             MayBeInt(expr.As<loop::SelectNode>()->on_false);
    case ExprKind::kLet:
      return MayBeInt(expr.As<loop::LetNode>()->body);
    case ExprKind::kCall:  // some leave integers as they are
      return MayBeInt(expr.As<loop::CallNode>()->args[0]);
    default:
      return false;
  }
}

// Whether it must be rounded. Loads and constants are exact, and so is a choice among exact values.
bool CExprCodegen::NeedsRounding(const Expr& expr) const {
  if (!expr.dtype().is_half()) return false;
  if (const auto* binary = expr.As<loop::BinaryNode>())
    return binary->op != BinaryOp::kMin && binary->op != BinaryOp::kMax;
  if (const auto* call = expr.As<loop::CallNode>())
    return call->intrinsic != Intrinsic::kAbs && call->intrinsic != Intrinsic::kSign &&
           call->intrinsic != Intrinsic::kReinterpret;
  return expr.kind() == ExprKind::kCast || expr.kind() == ExprKind::kExternCall;
}

std::string CExprCodegen::Rounded(const Expr& expr, const std::string& text) {
  if (!NeedsRounding(expr)) return text;
  return StrCat(helpers_.Use(CHelper::kRoundTo, expr.dtype()), "(", WithoutOuterParentheses(text),
                ")");
}

std::string CExprCodegen::Unrounded(const Expr& expr) {
  const DataType type = expr.dtype().element();
  switch (expr.kind()) {
    case ExprKind::kIntImm:
      return CIntLiteral(type, expr.As<loop::IntImmNode>()->value);
    case ExprKind::kFloatImm:
      return CFloatLiteral(type, expr.As<loop::FloatImmNode>()->value);
    case ExprKind::kVar: {
      const auto found = known_names_.find(expr.get());
      CheckInvariant(found != known_names_.end(), "every variable of lowered loops is defined");
      return expr.dtype().is_vector() ? StrCat(found->second, "[", lane_, "]") : found->second;
    }
    case ExprKind::kCast:
      return Cast(*expr.As<loop::CastNode>());
    case ExprKind::kBinary:
      return Binary(*expr.As<loop::BinaryNode>());
    case ExprKind::kNot:
      return StrCat("(!", Shared(expr.As<loop::NotNode>()->a), ")");
    case ExprKind::kSelect:
      return Select(*expr.As<loop::SelectNode>());
    case ExprKind::kLoad:
      return Load(*expr.As<loop::LoadNode>());
    case ExprKind::kCall:
      return Call(*expr.As<loop::CallNode>());
    case ExprKind::kExternCall:
      return ExternCall(*expr.As<loop::ExternCallNode>());
    case ExprKind::kRamp:
      return Ramp(expr);
    case ExprKind::kAddress: {
      const auto& node = *expr.As<loop::AddressNode>();
      return StrCat("((void*)(", Name(node.buffer), " + ", Shared(node.indices[0]), "))");
    }
    case ExprKind::kBroadcast: {
      const Expr& value = expr.As<loop::BroadcastNode>()->value;
      if (!value.dtype().is_vector()) return Shared(value);
      return AtLane(value, Infix(lane_, "%", StrCat(value.dtype().lanes())));
    }
    case ExprKind::kShuffle:
      return Shuffle(*expr.As<loop::ShuffleNode>());
    case ExprKind::kLet:
      return Let(*expr.As<loop::LetNode>());
  }
  Unreachable("the switch over expression kinds is exhaustive");
}

std::string CExprCodegen::Ramp(const Expr& ramp) {
  const auto& node = *ramp.As<loop::RampNode>();
  const bool is_of_ones = loop::IsConstInt(node.stride, 1);
  if (ramp.dtype().element() == Int64 && !index_.Proves(ramp)) {  // data, which wraps around
    const std::string stride = is_of_ones ? "" : StrCat(" * (uint64_t)", Shared(node.stride));
    return StrCat("((int64_t)((uint64_t)", Shared(node.base), " + (uint64_t)", lane_, stride, "))");
  }
  const std::string step = is_of_ones ? lane_ : Infix(lane_, "*", Shared(node.stride));
  if (loop::IsConstInt(node.base, 0)) return step;
  return Infix(Shared(node.base), "+", step);
}

std::string CExprCodegen::Let(const loop::LetNode& node) {
  const std::string value = Shared(node.value);
  // Another let may give the variable another value: each has a name of its own.
  const std::string name = names_.Unique(node.var.name());
  block_->Line(StrCat("const ", CRegisterType(node.var.dtype()), " ", name, " = ",
                      WithoutOuterParentheses(value), ";"));
  StandsFor(node.var, node.value);
  std::string outer = std::exchange(known_names_[node.var.get()], name);
  // Inside a let of the same variable, what was written with its other value does not count.
  std::vector<Emitted> hidden;
  if (!outer.empty()) std::swap(hidden, emitted_);
  emitted_.emplace_back();
  std::string text = Shared(node.body);
  emitted_.pop_back();
  if (!outer.empty()) std::swap(hidden, emitted_);
  if (outer.empty()) {
    known_names_.erase(node.var.get());
  } else {
    known_names_[node.var.get()] = std::move(outer);
  }
  return text;
}

std::string CExprCodegen::Select(const loop::SelectNode& node) {
  const std::string condition = Shared(node.condition);
  if (!node.lazy) {
    const std::string on_true = Shared(node.on_true);
    return StrCat("(", condition, " ? ", on_true, " : ", Shared(node.on_false), ")");
  }
  CBlock* outer = block_;
  const auto side = [&](const Expr& value, CBlock* inner) {
    block_ = inner;
    emitted_.emplace_back();
    std::string text = Shared(value);
    emitted_.pop_back();
    block_ = outer;
    return text;
  };
  CBlock true_block, false_block;
  const std::string on_true = side(node.on_true, &true_block);
  const std::string on_false = side(node.on_false, &false_block);
  if (true_block.empty() && false_block.empty())
    return StrCat("(", condition, " ? ", on_true, " : ", on_false, ")");
  const std::string name = names_.Unique("t");
  block_->Line(StrCat(CRegisterType(node.type), " ", name, ";"));
  block_->Open(StrCat("if (", WithoutOuterParentheses(condition), ") {"));
  block_->Append(true_block);
  block_->Line(StrCat(name, " = ", WithoutOuterParentheses(on_true), ";"));
  block_->Else("} else {");
  block_->Append(false_block);
  block_->Line(StrCat(name, " = ", WithoutOuterParentheses(on_false), ";"));
  block_->Close();
  return name;
}

std::string CExprCodegen::Load(const loop::LoadNode& node) {
  const DataType type = node.buffer->dtype;
  const auto found = known_names_.find(node.buffer.get());
  CheckInvariant(found != known_names_.end(),
                 "every buffer of lowered loops is a parameter or allocated");
  const std::string element =
      StrCat(found->second, "[", WithoutOuterParentheses(Shared(node.indices[0])), "]");
  std::string value = element;
  if (type.is_bool()) {
    value = StrCat("(", element, " != 0)");
  } else if (type.is_half()) {
    value = StrCat(helpers_.Use(CHelper::kFromMemory, type), "(", element, ")");
  }
  if (!node.predicate.defined()) return value;
  return StrCat("(", Shared(node.predicate), " ? ", value, " : 0)");
}

std::string CExprCodegen::Shuffle(const loop::ShuffleNode& node) {
  const std::string a = LaneArray(node.a), b = LaneArray(node.b);
  const std::string picks = names_.Unique("picks");
  block_->Line(StrCat("static const uint8_t ", picks, "[", node.lanes.size(), "] = {",
                      StrJoin(node.lanes, ", "), "};"));
  const std::string pick = StrCat(picks, "[", lane_, "]");
  const std::string count = StrCat(node.a.dtype().lanes());
  return StrCat("(", pick, " < ", count, " ? ", a, "[", pick, "] : ", b, "[", pick, " - ", count,
                "])");
}

std::string CExprCodegen::LaneArray(const Expr& vector) {
  if (vector.kind() == ExprKind::kVar) return Name(vector);
  const std::string name = names_.Unique("lanes");
  const std::string lane = names_.Unique("lane");
  const int lanes = vector.dtype().lanes();
  block_->Line(StrCat(CRegisterType(vector.dtype().element()), " ", name, "[", lanes, "];"));
  block_->Open(StrCat("for (int64_t ", lane, " = 0; ", lane, " < ", lanes, "; ++", lane, ") {"));
  // What was written for the lane outside does not count inside.
  const std::string outer_lane = std::exchange(lane_, lane);
  std::vector<Emitted> hidden(1);
  std::swap(hidden, emitted_);
  const std::string text = Shared(vector);
  block_->Line(StrCat(name, "[", lane, "] = ", WithoutOuterParentheses(text), ";"));
  std::swap(hidden, emitted_);
  lane_ = outer_lane;
  block_->Close();
  return name;
}

std::string CExprCodegen::Binary(const loop::BinaryNode& node) {
  const std::string a = Shared(node.a), b = Shared(node.b);
  if (node.a.dtype().is_bool()) return BoolBinary(node.op, a, b);
  if (loop::IsComparison(node.op)) return Infix(a, Operator(node.op), b);
  return node.a.dtype().is_float() ? FloatBinary(node, a, b) : IntBinary(node, a, b);
}

std::string CExprCodegen::FloatBinary(const loop::BinaryNode& node, const std::string& a,
                                      const std::string& b) {
  const DataType type = node.type.element();
  const auto call = [&](const std::string& name) { return StrCat(name, "(", a, ", ", b, ")"); };
  switch (node.op) {
    case BinaryOp::kAdd:
    case BinaryOp::kSub:
    case BinaryOp::kMul:
    case BinaryOp::kDiv:
      return Infix(a, Operator(node.op), b);
    case BinaryOp::kMod:
      return call(MathName("fmod", type));
    case BinaryOp::kFloorDiv:
      return StrCat(MathName("floor", type), Infix(a, "/", b));
    case BinaryOp::kFloorMod:
      return call(helpers_.Use(CHelper::kFloorMod, type));
    case BinaryOp::kMin:
      return call(helpers_.Use(CHelper::kMin, type));
    case BinaryOp::kMax:
      return call(helpers_.Use(CHelper::kMax, type));
    default:
      Unreachable("comparisons are written before, and bit operations have integer operands");
  }
}

std::string CExprCodegen::IntBinary(const loop::BinaryNode& node, const std::string& a,
                                    const std::string& b) {
  const DataType type = node.type.element();
  const std::string own = CRegisterType(type);
  const std::string wide = type.bits() == 64 ? "uint64_t" : "uint32_t";
  const auto call = [&](CHelper helper) {
    return StrCat(helpers_.Use(helper, type), "(", a, ", ", b, ")");
  };
  const std::string left = type == Int64 && MayBeInt(node.a) ? StrCat("(", own, ")", a) : a;
  switch (node.op) {
    case BinaryOp::kAdd:
    case BinaryOp::kSub:
    case BinaryOp::kMul: {
      const bool is_index =
          type == Int64 && index_.Proves(loop::Expr(Ref<const loop::ExprNode>(&node)));
      if (is_index || type == UInt64 || type == UInt32)
        return Infix(MayBeInt(node.b) ? left : a, Operator(node.op), b);
      return StrCat("((", own, ")((", wide, ")", a, " ", Operator(node.op), " (", wide, ")", b,
                    "))");
    }
    case BinaryOp::kDiv:
      return call(CHelper::kDiv);
    case BinaryOp::kMod:
      return call(CHelper::kMod);
    case BinaryOp::kFloorDiv:
      return call(CHelper::kFloorDiv);
    case BinaryOp::kFloorMod:
      return call(CHelper::kFloorMod);
    case BinaryOp::kMin:
      return call(CHelper::kMin);
    case BinaryOp::kMax:
      return call(CHelper::kMax);
    case BinaryOp::kBitAnd:
    case BinaryOp::kBitOr:
    case BinaryOp::kBitXor:
      return StrCat("((", own, ")", Infix(a, Operator(node.op), b), ")");
    case BinaryOp::kShl:
    case BinaryOp::kShr: {
      // Only the low bits of the distance count, as on the CPU. A signed number shifts its sign in.
      const std::string distance = Infix(b, "&", StrCat(type.bits() - 1));
      const std::string from = node.op == BinaryOp::kShl ? StrCat("(", wide, ")", a) : left;
      return StrCat("((", own, ")", Infix(from, Operator(node.op), distance), ")");
    }
    default:
      Unreachable("comparisons and logic are written before");
  }
}

// Arithmetic on one bit: a sum is true when a term is, a difference when they differ, and a
// division by false gives false.
std::string CExprCodegen::BoolBinary(BinaryOp op, const std::string& a, const std::string& b) {
  switch (op) {
    case BinaryOp::kEQ:
      return Infix(a, "==", b);
    case BinaryOp::kSub:
    case BinaryOp::kBitXor:
    case BinaryOp::kNE:
      return Infix(a, "!=", b);
    // C compilers warn of "a > true" and the like.
    case BinaryOp::kLT:
      return Infix(StrCat("!", a), "&&", b);
    case BinaryOp::kLE:
      return Infix(StrCat("!", a), "||", b);
    case BinaryOp::kGT:
      return Infix(a, "&&", StrCat("!", b));
    case BinaryOp::kGE:
      return Infix(a, "||", StrCat("!", b));
    case BinaryOp::kMul:
    case BinaryOp::kDiv:
    case BinaryOp::kFloorDiv:
    case BinaryOp::kMin:
    case BinaryOp::kAnd:
    case BinaryOp::kBitAnd:
      return Infix(a, "&&", b);
    case BinaryOp::kAdd:
    case BinaryOp::kMax:
    case BinaryOp::kOr:
    case BinaryOp::kBitOr:
      return Infix(a, "||", b);
    case BinaryOp::kMod:
    case BinaryOp::kFloorMod:
      return Infix(Infix(a, "&&", b), "&&", "false");
    default:
      Unreachable("bools do not shift");
  }
}

std::string CExprCodegen::Cast(const loop::CastNode& node) {
  const DataType from = node.value.dtype().element(), to = node.type.element();
  const std::string value = Shared(node.value);
  if (to.is_bool()) return Infix(value, "!=", "0");
  if (from == Float64 && to.is_half())
    return StrCat(helpers_.Use(CHelper::kRoundToOdd, Float64), "(", value, ")");
  // float32 holds those that float16 has, and narrower ones. Others would be rounded twice.
  if (from.is_integral() && from.bits() >= 32 && to == BFloat16)
    return StrCat(helpers_.Use(CHelper::kRoundToOdd, from), "(", value, ")");
  if (from.is_float() && to.is_float() && CRegisterType(from) == CRegisterType(to)) return value;
  if (from.is_float() && to.is_integral())
    return StrCat(helpers_.Use(CHelper::kToInt, from, to), "(", value, ")");
  return StrCat("((", CRegisterType(to), ")", value, ")");
}

std::string CExprCodegen::AtLane(const Expr& expr, const std::string& lane) {
  const std::string outer = std::exchange(lane_, lane);
  // What other lanes have must not be taken for what this one has.
  std::vector<Emitted> others = std::exchange(emitted_, std::vector<Emitted>(1));
  std::string text = Shared(expr);
  emitted_ = std::move(others);
  lane_ = outer;
  return text;
}

std::string CExprCodegen::Dot(const loop::CallNode& node) {
  const bool bytes = node.intrinsic == Intrinsic::kDotU8S8;
  const int group = bytes ? 4 : 2;
  std::string sum = Shared(node.args[0]);
  for (int j = group; j-- > 0;) {
    const std::string first = lane_.empty() ? "0" : Infix(lane_, "*", StrCat(group));
    const std::string lane = Infix(first, "+", StrCat(j));
    std::string left;
    if (node.args[1].dtype().element() == Int32) {
      const std::string type = bytes ? "uint8_t" : "uint16_t";
      left = StrCat("(", type, ")((uint32_t)", Shared(node.args[1]), " >> ", 32 / group * j, ")");
      if (!bytes) left = StrCat(helpers_.Use(CHelper::kFromMemory, BFloat16), "(", left, ")");
    } else {
      left = AtLane(node.args[1], lane);
    }
    const std::string product = Infix(left, "*", AtLane(node.args[2], lane));
    // Sums of bytes wrap around.
    sum = bytes ? StrCat("((int32_t)((uint32_t)", sum, " + (uint32_t)", product, "))")
                : Infix(sum, "+", product);
  }
  return sum;
}

std::string CExprCodegen::Reinterpret(DataType from, DataType to, const std::string& value) {
  std::string bits = value;
  if (from.is_half()) {
    bits = StrCat(helpers_.Use(CHelper::kToMemory, from), "(", value, ")");
  } else if (from.is_float()) {
    bits = StrCat(helpers_.Use(CHelper::kToBits, from), "(", value, ")");
  }
  if (to.is_half()) return StrCat(helpers_.Use(CHelper::kFromMemory, to), "((uint16_t)", bits, ")");
  if (to.is_float()) {
    const char* unsigned_type = to.bits() == 64 ? "((uint64_t)" : "((uint32_t)";
    return StrCat(helpers_.Use(CHelper::kFromBits, to), unsigned_type, bits, ")");
  }
  return StrCat("((", CRegisterType(to), ")", bits, ")");
}

std::string CExprCodegen::Call(const loop::CallNode& node) {
  if (node.intrinsic == Intrinsic::kDotU8S8 || node.intrinsic == Intrinsic::kDotBF16)
    return Dot(node);
  if (IsPrefetch(node.intrinsic)) {
    const auto& load = *node.args[0].As<loop::LoadNode>();
    const char* how = node.intrinsic == Intrinsic::kPrefetchWrite   ? ", 1"
                      : node.intrinsic == Intrinsic::kPrefetchLater ? ", 0, 2"
                                                                    : "";
    return StrCat("(__builtin_prefetch(", Name(load.buffer), " + ", Shared(load.indices[0]), how,
                  "), 0)");
  }
  const DataType type = node.args[0].dtype().element();
  std::vector<std::string> args;
  for (const Expr& arg : node.args) args.push_back(Shared(arg));
  const std::string& x = args[0];
  const auto call = [&](const std::string& name) {
    return StrCat(name, "(", StrJoin(args, ", "), ")");
  };
  if (node.intrinsic == Intrinsic::kOpaque) return x;
  if (node.intrinsic == Intrinsic::kReinterpret) return Reinterpret(type, node.type.element(), x);
  const std::string one = CFloatLiteral(type, 1);
  switch (node.intrinsic) {
    case Intrinsic::kFloor:
    case Intrinsic::kCeil:
    case Intrinsic::kTrunc:
    case Intrinsic::kRound:
    case Intrinsic::kNearbyint:
      return type.is_float() ? call(MathName(loop::ToString(node.intrinsic), type)) : x;
    case Intrinsic::kSqrt:
    case Intrinsic::kFmod:
    case Intrinsic::kFma:
      return call(MathName(loop::ToString(node.intrinsic), type));
    case Intrinsic::kRsqrt:
      return Infix(one, "/", call(MathName("sqrt", type)));
    case Intrinsic::kSigmoid:
      return Infix(one, "/", Infix(one, "+", StrCat(MathName("exp", type), "(-", x, ")")));
    case Intrinsic::kAbs:
      if (type.is_float()) return call(MathName("fabs", type));
      return type.is_int() ? call(helpers_.Use(CHelper::kAbs, type)) : x;
    case Intrinsic::kSign:
      if (type.is_float() || type.is_int()) return call(helpers_.Use(CHelper::kSign, type));
      return StrCat("((", CRegisterType(type), ")", Infix(x, "!=", "0"), ")");
    case Intrinsic::kIsNan:
      return StrCat("(isnan(", x, ") != 0)");
    case Intrinsic::kIsInf:
      return StrCat("(isinf(", x, ") != 0)");
    case Intrinsic::kIsFinite:
      return StrCat("(isfinite(", x, ") != 0)");
    case Intrinsic::kPopcount:
      return call(helpers_.Use(CHelper::kPopcount, type));
    default: {
      const std::optional<std::string_view> name = LibmName(node.intrinsic);
      CheckInvariant(name.has_value(), "every intrinsic has code");
      return call(MathName(*name, type));
    }
  }
}

std::string CExprCodegen::ExternCall(const loop::ExternCallNode& node) {
  const loop::ExternFunctionNode& callee = *node.callee.operator->();
  if (callee.address != nullptr && !IsLibraryFunction(node.callee)) {
    throw Unimplemented(StrCat("C source: the external function ", callee.symbol,
                               " is given by its address, which another program does not have; ",
                               "export it as a symbol and name that"));
  }
  std::vector<std::string> args, types;
  const auto type_of = [&](DataType type) -> std::string {
    if (type.is_void()) return "void";
    if (type == loop::Handle) return "void*";
    if (type.is_half()) {
      throw Unimplemented(StrCat(
          "C source: the external function ", callee.symbol, " takes or gives ", type.ToString(),
          " by value, for which C99 has no type; ", "cast to float32 around the call"));
    }
    return CRegisterType(type);
  };
  for (const Expr& arg : node.args) {
    args.push_back(WithoutOuterParentheses(Shared(arg)));
    types.push_back(type_of(arg.dtype().element()));
  }
  externs_[callee.symbol] = StrCat(type_of(callee.result), " ", callee.symbol, "(",
                                   types.empty() ? "void" : StrJoin(types, ", "), ");");
  return StrCat(callee.symbol, "(", StrJoin(args, ", "), ")");
}

}  // namespace tenon::jit
