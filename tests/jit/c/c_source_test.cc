// Generated C, compiled by gcc alone with all warnings as errors, against the JIT. Operations that
// are exact or rounded once must agree in every bit; functions of libm, where the JIT calls libmvec
// (within 4 ULP), are within 5 ULP.
#include "tenon/jit/c/c_source.h"

#include "tenon/jit/llvm/vector_math.h"
#include "tenon/loop/print.h"
#include "tenon/support/error.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"
#include "tenon/tests/jit/c_comparison.h"

namespace tenon::jit {
namespace {

using loop::BinaryOp;
using loop::Expr;
using loop::Intrinsic;
using schedule::Schedule;
using te::Placeholder;
using te::Tensor;
using te::Var;

constexpr std::int64_t kCount = 217;

// `body` of the elements of vectors of `types`, 16 at a time and a rest.
template <typename Body>
loop::Function Elementwise(const std::string& name, const std::vector<DataType>& types,
                           const Body& body, std::int64_t count = kCount) {
  std::vector<Tensor> args;
  for (std::size_t i = 0; i < types.size(); ++i)
    args.push_back(Placeholder({Expr(count)}, types[i], StrCat("x", i)));
  const Tensor out = te::Compute(
      {Expr(count)},
      [&](Var i) {
        std::vector<Expr> elements;
        for (const Tensor& arg : args) elements.push_back(arg(i));
        return body(elements);
      },
      "out");
  Schedule s(out);
  s[out].Vectorize(s[out].Split(out.axis(0), 16).second);
  args.push_back(out);
  return schedule::Lower(s, args, name);
}

std::string Named(const std::string& what, DataType type) {
  return StrCat(what, "_", type.ToString());
}

class EachType : public ::testing::TestWithParam<DataType> {};
INSTANTIATE_TEST_SUITE_P(Types, EachType, ::testing::ValuesIn(kEveryType),
                         [](const auto& info) { return info.param.ToString(); });

TEST_P(EachType, BinaryOperationsAgree) {
  const DataType type = GetParam();
  constexpr const char* kNames[] = {
      "add", "sub", "mul", "div", "mod", "floordiv", "floormod", "min", "max",  "eq",  "ne",
      "lt",  "le",  "gt",  "ge",  "and", "or",       "band",     "bor", "bxor", "shl", "shr"};
  CComparison comparison;
  const NDArray x = Numbers(type, kCount, 1), y = Rotated(Numbers(type, kCount, 2), 3);
  for (int op = 0; op <= static_cast<int>(BinaryOp::kShr); ++op) {
    const auto binary = static_cast<BinaryOp>(op);
    const bool logic = binary == BinaryOp::kAnd || binary == BinaryOp::kOr;
    if (logic ? !type.is_bool() : type.is_float() && op > static_cast<int>(BinaryOp::kOr)) continue;
    if (op >= static_cast<int>(BinaryOp::kShl) && !type.is_integral()) continue;
    comparison.Add(Elementwise(StrCat("k_", kNames[op]), {type, type},
                               [&](const auto& e) { return loop::Binary(binary, e[0], e[1]); }),
                   {x, y, NDArray::Zeros({kCount}, loop::IsComparison(binary) ? Bool : type)});
  }
  // C compilers warn where a comparison with a constant says nothing.
  if (type.is_bool()) {
    for (const BinaryOp order : {BinaryOp::kLT, BinaryOp::kLE, BinaryOp::kGT, BinaryOp::kGE}) {
      for (const int constant : {0, 1}) {
        comparison.Add(
            Elementwise(StrCat("than", constant, "_", kNames[static_cast<int>(order)]), {type},
                        [&](const auto& e) {
                          return loop::Binary(order, e[0], loop::Constant(type, constant));
                        }),
            {x, NDArray::Zeros({kCount}, Bool)});
      }
    }
  }
  // A constant divisor has another form.
  if (!type.is_bool()) {
    for (const int divisor : {3, 8}) {
      comparison.Add(Elementwise(StrCat("floordiv", divisor), {type},
                                 [&](const auto& e) {
                                   return loop::FloorDiv(e[0], loop::Constant(type, divisor)) +
                                          loop::FloorMod(e[0], loop::Constant(type, divisor));
                                 }),
                     {x, NDArray::Zeros({kCount}, type)});
    }
  }
  comparison.Check();
}

TEST_P(EachType, CastsAgree) {
  const DataType from = GetParam();
  CComparison comparison;
  for (const DataType to : kEveryType) {
    comparison.Add(
        Elementwise(Named("to", to), {from}, [&](const auto& e) { return loop::Cast(to, e[0]); }),
        {Numbers(from, kCount, 3), NDArray::Zeros({kCount}, to)});
  }
  comparison.Check();
}

TEST_P(EachType, BitsAgree) {
  const DataType from = GetParam();
  const NDArray x = Numbers(from, kCount, 7);
  CComparison comparison;
  for (const DataType to : kEveryType) {
    if (to == from) continue;
    if (to.is_bool() || from.is_bool() || to.bits() != from.bits()) {
      EXPECT_THROW(loop::Reinterpret(to, te::Var("v", from)), Error) << to.ToString();
      continue;
    }
    comparison.Add(Elementwise(Named("bits", to), {from},
                               [&](const auto& e) { return loop::Reinterpret(to, e[0]); }),
                   {x, NDArray::Zeros({kCount}, to)});
  }
  comparison.Check();
}

TEST_P(EachType, SelectionsConstantsAndIntegerIntrinsicsAgree) {
  const DataType type = GetParam();
  CComparison comparison;
  const NDArray x = Numbers(type, kCount, 4), y = Rotated(x, 1);
  const auto add = [&](const std::string& name, const auto& body) {
    comparison.Add(Elementwise(name, {type, type}, body), {x, y, NDArray::Zeros({kCount}, type)});
  };
  add("k_select", [&](const auto& e) { return loop::Select(e[0] < e[1], e[0], e[1]); });
  add("k_lazy", [&](const auto& e) { return loop::IfThenElse(e[0] == e[1], e[0], e[1]); });
  add("k_constant", [&](const auto& e) {
    return loop::Select(e[0] != e[1], loop::Constant(type, 0.1),
                        loop::Constant(type, type.is_uint() ? 100 : -100));
  });
  for (const Intrinsic i : {Intrinsic::kAbs, Intrinsic::kSign, Intrinsic::kFloor, Intrinsic::kCeil,
                            Intrinsic::kRound, Intrinsic::kTrunc, Intrinsic::kNearbyint})
    add(StrCat("k_", loop::ToString(i)), [&](const auto& e) { return loop::Call(i, {e[0]}); });
  if (type.is_integral())
    add("k_popcount", [&](const auto& e) { return loop::Call(Intrinsic::kPopcount, {e[0]}); });
  comparison.Check();
}

// All bits that a half can have, NaNs with what they carry among them.
TEST(CSourceTest, BitsOfHalvesStayWhateverTheyMean) {
  constexpr std::int64_t kAll = 1 << 16;
  NDArray bits = NDArray::Empty({kAll}, Int16);
  for (std::int64_t i = 0; i < kAll; ++i)
    bits.data<std::int16_t>()[i] = static_cast<std::int16_t>(i);
  CComparison comparison;
  for (const DataType half : {Float16, BFloat16}) {
    NDArray halves = NDArray::Empty({kAll}, half);
    std::memcpy(halves.raw(), bits.raw(), bits.bytes());
    const auto bits_of = [](const auto& e) { return loop::Reinterpret(Int16, e[0]); };
    const loop::Function f = Elementwise(Named("bits_of", half), {half}, bits_of, kAll);
    comparison.Add(f, {halves, NDArray::Zeros({kAll}, Int16)});
    NDArray result = NDArray::Zeros({kAll}, Int16);
    const absl::Status status = (*Compile(f))(halves, result);
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_TRUE(result.SameBytes(bits)) << half.ToString();
  }
  comparison.Check();
}

// Literals that an int of C holds, and choices among them, are int64 all the same.
TEST(CSourceTest, NumbersOf64BitsKeepThemAmongLiterals) {
  CComparison comparison;
  NDArray x = NDArray::Empty({kCount}, Int64);
  for (std::int64_t i = 0; i < kCount; ++i) x.data<std::int64_t>()[i] = i - 70;
  const auto add = [&](const std::string& name, const auto& body) {
    comparison.Add(Elementwise(name, {Int64}, body), {x, NDArray::Zeros({kCount}, Int64)});
  };
  for (const int number : {5, -5})
    add(StrCat("shr", number > 0 ? "" : "_minus", 5), [&](const auto& e) {
      return loop::Binary(BinaryOp::kShr, loop::IntImm(Int64, number), e[0]);
    });
  const auto either = [](const Expr& e, int high, int low) {
    return loop::Select(e > 0, loop::IntImm(Int64, high), loop::IntImm(Int64, low));
  };
  add("shr_either",
      [&](const auto& e) { return loop::Binary(BinaryOp::kShr, either(e[0], 100000, 7), e[0]); });
  add("product", [&](const auto& e) { return either(e[0], 100000, 7) * 100000; });
  add("product_of_choices",
      [&](const auto& e) { return either(e[0], 100000, 7) * either(e[0] - 20, 100000, 3); });
  add("sum", [&](const auto& e) {
    return either(e[0], 2000000000, 7) + either(e[0] - 20, 2000000000, 3);
  });
  add("difference", [&](const auto& e) { return either(e[0], -2000000000, 7) - 2000000000; });
  comparison.Check();
}

// gcc takes no turn of a loop that a signed sum would overflow in.
TEST(CSourceTest, IndicesOfAVectorThatAreDataWrapAround) {
  const Tensor out = te::Compute(
      {Expr(4), Expr(16)}, [](Var i, Var j) { return i * 8 + j * (std::int64_t{1} << 62) < i * 8; },
      "out");
  Schedule s(out);
  s[out].Vectorize(out.axis(1));
  CComparison comparison;
  comparison.Add(schedule::Lower(s, {out}, "wraps"), {NDArray::Zeros({4, 16}, Bool)});
  comparison.Check();
}

// Half a place of bfloat16 and a little, which float32 and float64 would round away first.
TEST(CSourceTest, IntegersAreRoundedOnceToBfloat16) {
  CComparison comparison;
  const auto add = [&](DataType from, const auto& values) {
    const auto count = static_cast<std::int64_t>(values.size());
    NDArray x = NDArray::Empty({count}, from);
    std::memcpy(x.raw(), values.data(), x.bytes());
    const auto cast = [](const auto& e) { return loop::Cast(BFloat16, e[0]); };
    comparison.Add(Elementwise(Named("round", from), {from}, cast, count),
                   {x, NDArray::Zeros({count}, BFloat16)});
  };
  const std::vector<std::int32_t> words = {
      16842753, 16842752, 16842751, 16973823, -16842753, std::numeric_limits<std::int32_t>::min()};
  add(Int32, words);
  add(UInt32, words);
  constexpr std::int64_t kTie = (std::int64_t{1} << 62) + (std::int64_t{1} << 54);
  const std::vector<std::int64_t> longs = {
      kTie,     kTie + 1, kTie - 1, -kTie - 1,
      16842753, 0,        -1,       std::numeric_limits<std::int64_t>::min()};
  add(Int64, longs);
  add(UInt64, longs);
  comparison.Check();
}

class EachFloat : public ::testing::TestWithParam<DataType> {};
INSTANTIATE_TEST_SUITE_P(Types, EachFloat, ::testing::Values(Float16, BFloat16, Float32, Float64),
                         [](const auto& info) { return info.param.ToString(); });

TEST_P(EachFloat, IntrinsicsAgree) {
  const DataType type = GetParam();
  CComparison comparison;
  const NDArray x = Numbers(type, kCount, 5), y = Rotated(Numbers(type, kCount, 6), 2);
  for (int n = 0; n <= static_cast<int>(Intrinsic::kFma); ++n) {
    const auto intrinsic = static_cast<Intrinsic>(n);
    if (intrinsic == Intrinsic::kPopcount || intrinsic == Intrinsic::kReinterpret) continue;
    const int arguments = intrinsic == Intrinsic::kFma ? 3
                          : intrinsic == Intrinsic::kPow || intrinsic == Intrinsic::kFmod ||
                                  intrinsic == Intrinsic::kAtan2
                              ? 2
                              : 1;
    const bool predicate = intrinsic == Intrinsic::kIsNan || intrinsic == Intrinsic::kIsInf ||
                           intrinsic == Intrinsic::kIsFinite;
    const bool inexact = LibmName(intrinsic).has_value() || intrinsic == Intrinsic::kSigmoid;
    std::vector<NDArray> arrays = {x, y, x};
    arrays.resize(static_cast<std::size_t>(arguments));
    arrays.push_back(NDArray::Zeros({kCount}, predicate ? Bool : type));
    const auto tiny = type == Float64 ? std::numeric_limits<double>::min()
                                      : static_cast<double>(std::numeric_limits<float>::min());
    comparison.Add(Elementwise(StrCat("k_", loop::ToString(intrinsic)),
                               std::vector<DataType>(static_cast<std::size_t>(arguments), type),
                               [&](const auto& e) { return loop::Call(intrinsic, e); }),
                   arrays, inexact ? (type.bits() == 16 ? 1 : 5) : 0, inexact ? tiny : 0);
  }
  comparison.Check();
}

}  // namespace
}  // namespace tenon::jit
