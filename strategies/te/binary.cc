// Operators of two broadcast inputs, and where.
#include "tenon/strategies/te_compute.h"
#include "tenon/te/integer_power.h"
#include "tenon/te/math.h"

namespace tenon::strategies {
namespace {

using loop::BinaryOp;
using te::Expr;
using te::Tensor;
using te::Var;

using PairFunction = Expr (*)(const Expr& a, const Expr& b);

template <BinaryOp kOp>
Expr Apply(const Expr& a, const Expr& b) {
  return loop::Binary(kOp, a, b);
}

// `of` of floats. Halves are computed in float32: a quotient that is rounded to a half may be the
// next whole number.
Expr OfFloats(PairFunction of, const Expr& a, const Expr& b) {
  const DataType wide = SumType(a.dtype());
  return te::Cast(a.dtype(), of(te::Cast(wide, a), te::Cast(wide, b)));
}

Expr FloorOfQuotient(const Expr& a, const Expr& b) { return te::Floor(a / b); }
Expr TruncOfQuotient(const Expr& a, const Expr& b) {
  return loop::Call(loop::Intrinsic::kTrunc, {a / b});
}
Expr RestOfFloor(const Expr& a, const Expr& b) { return a - FloorOfQuotient(a, b) * b; }

// Remainders of floats follow the sign rule of the quotient's rounding.
Expr TruncMod(const Expr& a, const Expr& b) {
  return a.dtype().is_float() ? loop::Call(loop::Intrinsic::kFmod, {a, b}) : a % b;
}
Expr FloorDivide(const Expr& a, const Expr& b) {
  return a.dtype().is_float() ? OfFloats(FloorOfQuotient, a, b) : te::FloorDiv(a, b);
}
Expr FloorModulo(const Expr& a, const Expr& b) {
  return a.dtype().is_float() ? OfFloats(RestOfFloor, a, b) : te::FloorMod(a, b);
}
Expr TruncDivide(const Expr& a, const Expr& b) {
  return a.dtype().is_float() ? OfFloats(TruncOfQuotient, a, b) : a / b;
}
// For bools, only 0 to the power of 1 is 0.
Expr Power(const Expr& a, const Expr& b) {
  if (a.dtype().is_float()) return te::Pow(a, b);
  return a.dtype().is_bool() ? a || !b : te::IntegerPower(a, b);
}
Expr Bits(BinaryOp of_integers, BinaryOp of_bools, const Expr& a, const Expr& b) {
  return loop::Binary(a.dtype().is_bool() ? of_bools : of_integers, a, b);
}

}  // namespace

void AttachBinaryComputes(ops::OpRegistry& registry) {
  struct Row {
    const char* name;
    PairFunction function;
  };
  for (const Row& row : {
           Row{"add", Apply<BinaryOp::kAdd>},
           Row{"subtract", Apply<BinaryOp::kSub>},
           Row{"multiply", Apply<BinaryOp::kMul>},
           Row{"divide", Apply<BinaryOp::kDiv>},
           Row{"trunc_divide", TruncDivide},
           Row{"floor_divide", FloorDivide},
           Row{"mod", TruncMod},
           Row{"trunc_mod", TruncMod},
           Row{"floor_mod", FloorModulo},
           Row{"power", Power},
           Row{"maximum", Apply<BinaryOp::kMax>},
           Row{"minimum", Apply<BinaryOp::kMin>},
           Row{"left_shift", Apply<BinaryOp::kShl>},
           Row{"right_shift", Apply<BinaryOp::kShr>},
           Row{"bitwise_and",
               [](const Expr&a, const Expr&b) {
                 return Bits(BinaryOp::kBitAnd, BinaryOp::kAnd, a, b);
               }},
           Row{"bitwise_or",
               [](const Expr&a, const Expr&b) {
                 return Bits(BinaryOp::kBitOr, BinaryOp::kOr, a, b);
               }},
           Row{"bitwise_xor",
               [](const Expr&a, const Expr&b) {
                 return Bits(BinaryOp::kBitXor, BinaryOp::kNE, a, b);
               }},
           Row{"logical_and", Apply<BinaryOp::kAnd>},
           Row{"logical_or", Apply<BinaryOp::kOr>},
           Row{"logical_xor", Apply<BinaryOp::kNE>},
           Row{"equal", Apply<BinaryOp::kEQ>},
           Row{"not_equal", Apply<BinaryOp::kNE>},
           Row{"less", Apply<BinaryOp::kLT>},
           Row{"less_equal", Apply<BinaryOp::kLE>},
           Row{"greater", Apply<BinaryOp::kGT>},
           Row{"greater_equal", Apply<BinaryOp::kGE>},
       }) {
    registry.Definition(row.name).SetColumn(TeCompute{[row](const TeCall& call) {
      return std::vector<Tensor>{te::Compute(
          call.te_shape(),
          [&](const std::vector<Var>& i) {
            return row.function(BroadcastRead(call.input(0), i), BroadcastRead(call.input(1), i));
          },
          row.name)};
    }});
  }
  registry.Definition("where").SetColumn(TeCompute{[](const TeCall& call) {
    return std::vector<Tensor>{te::Compute(
        call.te_shape(),
        [&](const std::vector<Var>& i) {
          const Expr condition = BroadcastRead(call.input(0), i);
          const Expr holds =
              condition.dtype().is_bool() ? condition : condition != te::Cast(condition.dtype(), 0);
          return te::Select(holds, BroadcastRead(call.input(1), i),
                            BroadcastRead(call.input(2), i));
        },
        "where")};
  }});
}

}  // namespace tenon::strategies
