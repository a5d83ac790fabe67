// Proofs by Z3 that passes keep what graphs compute, for all values of the inputs.
//
// What a pass makes of a graph is proved equal to it: with the same bits where a rule is exact, and
// as real numbers where it rounds in another place (docs/passes.md says which). Constants are
// drawn; the identities behind the rules are also proved for all constants (IdentityTest). Every
// pass is proved here, or kUnproved says why it is not.
#include <map>
#include <set>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/ir/structural.h"
#include "tenon/passes/bind_params.h"
#include "tenon/passes/infer_type.h"
#include "tenon/passes/pipeline.h"
#include "tenon/strategies/lower_function.h"
#include "tenon/support/strings.h"
#include "tenon/tests/passes/proofs/graph_terms.h"
#include "tenon/tests/testing/relay_text.h"
#include "tenon/tests/testing/z3_outcome.h"

namespace tenon::passes {
namespace {

using Term = z3::expr;

// "proved" where both compute the same.
std::string Proof(Numbers numbers, const ir::Module& before, const ir::Module& after) {
  z3::context context;
  GraphTerms of_before(context, numbers), of_after(context, numbers);
  z3::solver solver = Solver(context);
  Term fails = Differ(of_before.Of(before), of_after.Of(after));
  for (const GraphTerms* terms : {&of_before, &of_after}) {
    for (const Term& fact : terms->facts()) solver.add(fact);
    for (const Term& obligation : terms->obligations()) fails = fails || !obligation;
  }
  solver.add(fails);
  return Outcome(solver);
}

// Constants with few digits, so that their products are exact; powers of two where the name starts
// with kp.
NDArray DrawConstant(const std::string& name, const Shape& shape, DataType dtype, int draw) {
  constexpr double kAny[] = {-2, -1.5, -1, -0.5, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 5};
  constexpr double kPowers[] = {0.25, 0.5, 2, 4};
  NDArray array = NDArray::Empty(shape, dtype);
  std::size_t at = static_cast<std::size_t>(draw) * 5 + name.size() * 3 + name.back();
  for (std::int64_t i = 0; i < array.size(); ++i, at += 7) {
    const double value =
        name.starts_with("kp") ? kPowers[at % std::size(kPowers)] : kAny[at % std::size(kAny)];
    const auto whole = static_cast<std::int64_t>(at * 37 % 256);
    if (dtype == Float32) array.data<float>()[i] = static_cast<float>(value);
    if (dtype == Float64) array.data<double>()[i] = value;
    if (dtype == Int8) array.data<std::int8_t>()[i] = static_cast<std::int8_t>(whole);
    if (dtype == UInt8) array.data<std::uint8_t>()[i] = static_cast<std::uint8_t>(whole);
    if (dtype == Int16) array.data<std::int16_t>()[i] = static_cast<std::int16_t>(whole * 129);
    if (dtype == Int32) array.data<std::int32_t>()[i] = static_cast<std::int32_t>(whole - 128);
    if (dtype == Int64) array.data<std::int64_t>()[i] = whole * 0x0101010101010101;
  }
  return array;
}

// @main with checked types; parameters whose names start with k are constants.
ir::Module Drawn(const std::string& text, int draw) {
  const ir::Module module = InferType(Parse(text));
  ParamValues constants;
  for (const ir::Expr& param : module.Main().params) {
    const ir::Var var(param);
    if (!var.name().starts_with("k")) continue;
    const ir::Type& type = param.checked_type();
    constants.emplace_back(var, DrawConstant(var.name(), ir::StaticShape(type, "a constant"),
                                             type.As<ir::TensorTypeNode>()->dtype, draw));
  }
  return InferType(BindParams(module, "main", constants));
}

struct Kept {
  const char* pass;
  const char* rule;
  Numbers numbers;
  const char* text;  // a function after "def @main"
  int draws = 4;
  bool folds = true;  // whether the pass changes the graph for all draws
  friend void PrintTo(const Kept& k, std::ostream* out) { *out << k.pass << k.rule; }
};

class PassProofTest : public ::testing::TestWithParam<Kept> {};

TEST_P(PassProofTest, KeepsWhatIsComputedForAllInputs) {
  const Kept& rule = GetParam();
  const Pass pass = FindPass(rule.pass, strategies::EvaluateCall);
  for (int draw = 0; draw < rule.draws; ++draw) {
    const ir::Module before = Drawn(StrCat("def @main", rule.text), draw);
    const ir::Module after = InferType(RunPasses({pass}, before, {}));
    if (rule.folds) {
      EXPECT_FALSE(ir::StructuralEqual(before, after)) << Print(before);
    }
    EXPECT_EQ(Proof(rule.numbers, before, after), "proved") << Print(before) << Print(after);
  }
}

constexpr Numbers kBits = Numbers::kBits, kReals = Numbers::kReals;
constexpr char kSimplify[] = "SimplifyExpr";

INSTANTIATE_TEST_SUITE_P(
    NeutralElements, PassProofTest,
    ::testing::Values(
        Kept{kSimplify, "MinusZero", kBits, "(%x: float32) { subtract(%x, 0f) }", 1},
        Kept{kSimplify, "PlusNegativeZero", kBits, "(%x: float32) { add(-0f, %x) }", 1},
        Kept{kSimplify, "PlusZeroOfExp", kBits, "(%x: float32) { add(exp(%x), 0f) }", 1},
        Kept{kSimplify, "PlusZeroOfASum", kBits,
             "(%x: float32, %k: float32) { add(add(%x, %k), 0f) }"},
        Kept{kSimplify, "PlusZeroThatStays", kBits, "(%x: float32) { add(%x, 0f) }", 1, false},
        Kept{kSimplify, "TimesOne", kBits, "(%x: float32) { multiply(1f, %x) }", 1},
        Kept{kSimplify, "OverOne", kBits, "(%x: float64) { divide(%x, 1f64) }", 1},
        Kept{kSimplify, "IntegerPlusZero", kBits, "(%x: int32) { add(0, %x) }", 1},
        Kept{kSimplify, "IntegerTimesOne", kBits, "(%x: int64) { multiply(%x, 1i64) }", 1},
        Kept{kSimplify, "FillToScalar", kBits,
             "(%x: Tensor[(2), float32]) { multiply(%x, full(3f, shape=[2], dtype=\"float32\")) }",
             1},
        Kept{kSimplify, "Square", kBits, "(%x: float32) { power(%x, 2f) }", 1},
        Kept{kSimplify, "IntegerSquare", kBits, "(%x: int64) { power(%x, 2i64) }", 1},
        Kept{kSimplify, "IntegerCube", kBits, "(%x: int32) { power(%x, 3) }", 1},
        Kept{kSimplify, "Cube", kReals, "(%x: float32) { power(%x, 3f) }", 1}),
    [](const auto& info) { return info.param.rule; });

// Either order, each pair of operations, in each width.
std::vector<Kept> Joined() {
  std::vector<Kept> rules;
  for (const char* type : {"int8", "uint8", "int16", "int32", "int64", "float32", "float64"}) {
    for (const char* inner :
         {"add(%x, %k)", "add(%k, %x)", "subtract(%x, %k)", "multiply(%x, %k)"}) {
      for (const char* outer : {"add", "subtract", "multiply"}) {
        const std::string body = StrCat(outer, "(", inner, ", %kk)");
        static std::vector<std::string>& texts = *new std::vector<std::string>;
        static std::vector<std::string>& names = *new std::vector<std::string>;
        texts.reserve(200);
        names.reserve(200);
        texts.push_back(StrCat("(%x: ", type, ", %k: ", type, ", %kk: ", type, ") { ", body, " }"));
        std::string name = StrCat(type, inner, outer);
        std::erase_if(name, [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); });
        names.push_back(std::move(name));
        const bool is_float = std::string_view(type).starts_with("float");
        rules.push_back({kSimplify, names.back().c_str(), is_float ? kReals : kBits,
                         texts.back().c_str(), 3, false});
      }
    }
  }
  return rules;
}
INSTANTIATE_TEST_SUITE_P(JoinedConstants, PassProofTest, ::testing::ValuesIn(Joined()),
                         [](const auto& info) { return info.param.rule; });

INSTANTIATE_TEST_SUITE_P(
    Rounding, PassProofTest,
    ::testing::Values(
        Kept{kSimplify, "OverRoot", kReals,
             "(%x: float32, %y: float32) { divide(%x, sqrt(add(exp(%y), 1f))) }", 1},
        Kept{"DivToMul", "ByPowers", kBits, "(%x: float32, %kp: float32) { divide(%x, %kp) }"},
        Kept{"DivToMul", "ByPowersOf64Bits", kReals,
             "(%x: float64, %kp: float64) { divide(%x, %kp) }"},
        Kept{"CanonicalizeOps", "Bias", kBits,
             "(%x: Tensor[(1, 2, 2), float32], %b: Tensor[(2), float32]) { "
             "nn.bias_add(%x, %b, axis=1) }",
             1},
        // 3.75 + 0.25 has a root that is exact.
        Kept{"SimplifyInference", "BatchNorm", kReals,
             "(%x: Tensor[(1, 2, 2), float32], %g: Tensor[(2), float32], %b: Tensor[(2), float32], "
             "%m: Tensor[(2), float32]) { nn.batch_norm(%x, %g, %b, %m, "
             "full(3.75f, shape=[2], dtype=\"float32\"), epsilon=0.25).0 }",
             1}),
    [](const auto& info) { return info.param.rule; });

constexpr char kFold[] = "FoldAffine";
INSTANTIATE_TEST_SUITE_P(
    Affine, PassProofTest,
    ::testing::Values(
        Kept{
            kFold, "ScaleAfter", kReals,
            "(%x: Tensor[(1, 3), float32], %kw: Tensor[(2, 3), float32], %k: Tensor[(2), float32]) "
            "{ multiply(nn.dense(%x, %kw), %k) }"},
        Kept{
            kFold, "ScaleAndShiftAfter", kReals,
            "(%x: Tensor[(1, 3), float32], %kw: Tensor[(2, 3), float32], %k: Tensor[(2), float32], "
            "%kb: Tensor[(2), float32], %kc: Tensor[(2), float32]) "
            "{ subtract(multiply(add(nn.dense(%x, %kw), %kb), %k), %kc) }"},
        Kept{kFold, "ScaleThroughRelu", kReals,
             "(%x: Tensor[(1, 3), float32], %kw: Tensor[(2, 3), float32], %kp: Tensor[(2), "
             "float32], "
             "%kb: Tensor[(2), float32]) "
             "{ multiply(nn.relu(add(nn.dense(%x, %kw), %kb)), %kp) }"},
        Kept{kFold, "ScaleThroughLeakyRelu", kReals,
             "(%x: Tensor[(1, 3), float32], %kw: Tensor[(2, 3), float32], %kp: Tensor[(2), "
             "float32], "
             "%k: Tensor[(2), float32]) "
             "{ add(multiply(nn.leaky_relu(nn.dense(%x, %kw), alpha=0.25), %kp), %k) }"},
        Kept{
            kFold, "AnyScaleAfterRelu", kReals,
            "(%x: Tensor[(1, 3), float32], %kw: Tensor[(2, 3), float32], %k: Tensor[(2), float32]) "
            "{ multiply(nn.relu(nn.dense(%x, %kw)), %k) }",
            4, false},
        Kept{kFold, "NegatedAndDivided", kReals,
             "(%x: Tensor[(1, 3), float32], %kw: Tensor[(2, 3), float32], %kp: Tensor[(2), "
             "float32]) "
             "{ divide(negative(nn.dense(%x, %kw)), %kp) }"},
        Kept{
            kFold, "ScaleBefore", kReals,
            "(%x: Tensor[(1, 3), float32], %kw: Tensor[(2, 3), float32], %k: Tensor[(3), float32]) "
            "{ nn.dense(multiply(%x, %k), %kw) }"},
        Kept{
            kFold, "ScaleAndShiftBefore", kReals,
            "(%x: Tensor[(1, 3), float32], %kw: Tensor[(2, 3), float32], %k: Tensor[(3), float32], "
            "%kb: Tensor[(3), float32]) { nn.dense(add(multiply(%x, %k), %kb), %kw) }"},
        Kept{kFold, "ReluBefore", kReals,
             "(%x: Tensor[(1, 3), float32], %kw: Tensor[(2, 3), float32], %kp: Tensor[(3), "
             "float32], "
             "%kb: Tensor[(3), float32]) "
             "{ nn.dense(nn.relu(add(multiply(%x, %kp), %kb)), %kw) }"},
        // Padding is zero after the shift.
        Kept{kFold, "PaddedConvolution", kReals,
             "(%x: Tensor[(1, 2, 1, 3), float32], %kw: Tensor[(2, 2, 1, 3), float32], "
             "%kp: Tensor[(2, 1, 1), float32], %kb: Tensor[(2, 1, 1), float32]) "
             "{ nn.conv2d(add(multiply(%x, %kp), %kb), %kw, padding=[0, 1], kernel_size=[1, 3], "
             "channels=2) }"},
        Kept{kFold, "ConvolutionOfGroups", kReals,
             "(%x: Tensor[(1, 2, 1, 3), float32], %kw: Tensor[(4, 1, 1, 2), float32], "
             "%k: Tensor[(2, 1, 1), float32], %kb: Tensor[(4, 1, 1), float32]) "
             "{ multiply(nn.conv2d(multiply(%x, %k), %kw, groups=2, kernel_size=[1, 2], "
             "channels=4), %kb) }"},
        Kept{"BackwardFoldScaleAxis", "ThroughRelu", kReals,
             "(%x: Tensor[(1, 3), float32], %kw: Tensor[(2, 3), float32], %kp: Tensor[(2), "
             "float32], "
             "%kb: Tensor[(2), float32]) "
             "{ multiply(nn.relu(add(nn.dense(%x, %kw), %kb)), %kp) }"},
        Kept{"ForwardFoldScaleAxis", "ThroughRelu", kReals,
             "(%x: Tensor[(1, 3), float32], %kw: Tensor[(2, 3), float32], %kp: Tensor[(3), "
             "float32]) "
             "{ nn.dense(nn.relu(multiply(%x, %kp)), %kw) }"},
        Kept{"FoldScaleAxis", "Both", kReals,
             "(%x: Tensor[(1, 3), float32], %kw: Tensor[(2, 3), float32], %kp: Tensor[(3), "
             "float32], "
             "%k: Tensor[(2), float32]) "
             "{ multiply(nn.dense(multiply(%x, %kp), %kw), %k) }"}),
    [](const auto& info) { return StrCat(info.param.pass, info.param.rule); });

// Sums of quantised products wrap around in int32: the four terms of (a - za) (b - zb), bytes that
// are moved to the other sign, and padding by the zero point.
INSTANTIATE_TEST_SUITE_P(
    Quantised, PassProofTest,
    ::testing::Values(
        // Products of unknown bytes and unknown zero points are an identity below.
        Kept{"CanonicalizeQnn", "SignedDense", kBits,
             "(%x: Tensor[(1, 2), int8], %kw: Tensor[(2, 2), int8], %a: int8, %kz: int32) "
             "{ qnn.dense(%x, %kw, %a, %kz, 0.5f, 0.25f, units=2) }",
             1},
        Kept{"CanonicalizeQnn", "UnsignedDense", kBits,
             "(%x: Tensor[(1, 2), uint8], %kw: Tensor[(2, 2), uint8], %a: uint8, %kz: int32) "
             "{ qnn.dense(%x, %kw, %a, %kz, 0.5f, 0.25f, units=2) }"},
        Kept{"CanonicalizeQnn", "DenseByColumn", kReals,
             "(%x: Tensor[(1, 3), uint8], %kw: Tensor[(2, 3), int8], %a: int32, %kz: Tensor[(2), "
             "int32]) { qnn.dense(%x, %kw, %a, %kz, 0.5f, 0.25f, units=2) }"},
        Kept{"CanonicalizeQnn", "PaddedConvolution", kReals,
             "(%x: Tensor[(1, 1, 1, 2), uint8], %kw: Tensor[(2, 1, 1, 3), int8], %a: uint8) "
             "{ qnn.conv2d(%x, %kw, %a, 0, 0.5f, 0.25f, padding=[0, 1], kernel_size=[1, 3], "
             "channels=2) }"},
        Kept{"CanonicalizeQnn", "ConvolutionByFilter", kReals,
             "(%x: Tensor[(1, 2, 1, 2), int8], %kw: Tensor[(2, 2, 1, 2), uint8], %a: int8, "
             "%kz: Tensor[(2), int32]) "
             "{ qnn.conv2d(%x, %kw, %a, %kz, 0.5f, 0.25f, kernel_size=[1, 2], channels=2) }"}),
    [](const auto& info) { return info.param.rule; });

// Casts of casts and of clips, for all pairs of types that they join.
TEST(CastProofTest, JoinedCastsKeepAllValues) {
  const char* types[] = {"bool",   "int8",  "uint8",   "int16",   "uint16", "int32",
                         "uint32", "int64", "float16", "float32", "float64"};
  const Pass pass = FindPass(kSimplify, strategies::EvaluateCall);
  int joined = 0;
  for (const std::string from : types) {
    for (const std::string wide : types) {
      for (const std::string to : types) {
        const ir::Module before =
            InferType(Parse(StrCat("def @main(%x: ", from, ") { cast(cast(%x, dtype=\"", wide,
                                   "\"), dtype=\"", to, "\") }")));
        const ir::Module after = RunPasses({pass}, before, {});
        // Casts to the type that is there already are dropped by themselves.
        if (from == wide || wide == to || ir::StructuralEqual(before, after)) continue;
        ++joined;
        EXPECT_EQ(Proof(Numbers::kBits, before, after), "proved") << from << wide << to;
      }
    }
  }
  EXPECT_GT(joined, 100);
}

TEST(CastProofTest, ClipsKeepAllValues) {
  const Pass pass = FindPass(kSimplify, strategies::EvaluateCall);
  const char* texts[] = {
      R"((%x: int32) { cast(cast(clip(%x, a_min=-128, a_max=127), dtype="int8"), dtype="int32") })",
      "(%x: int32) { cast(cast(clip(%x, a_min=0, a_max=200), dtype=\"uint8\"), dtype=\"int64\") }",
      "(%x: uint8) { clip(%x, a_min=-1, a_max=255) }",
      "(%x: int16) { clip(%x, a_min=-32768, a_max=1e9) }",
      "(%x: float32) { clip(clip(%x, a_min=-1, a_max=4), a_min=0, a_max=6) }",
      "(%x: float16) { clip(clip(%x, a_min=0, a_max=6), a_min=-1, a_max=2) }",
      "(%x: int32) { clip(clip(%x, a_min=-5, a_max=9), a_min=2, a_max=100) }",
  };
  for (const std::string text : texts) {
    const ir::Module before = InferType(Parse("def @main" + text));
    const ir::Module after = RunPasses({pass}, before, {});
    EXPECT_FALSE(ir::StructuralEqual(before, after)) << text;
    EXPECT_EQ(Proof(Numbers::kBits, before, after), "proved") << text;
  }
}

// --- the identities behind the rules, for all constants

struct Identity {
  const char* name;
  std::function<Term(z3::context& c)> claim;
};

Term Real(z3::context& c, const char* name) { return c.real_const(name); }
Term Relu(const Term& x) { return z3::ite(x > 0, x, x.ctx().real_val(0)); }
Term Bits(z3::context& c, const char* name, unsigned bits) { return c.bv_const(name, bits); }
Term Wide(const Term& x, bool is_signed) {
  return is_signed ? z3::sext(x, 32 - x.get_sort().bv_size())
                   : z3::zext(x, 32 - x.get_sort().bv_size());
}

const std::vector<Identity>& Identities() {
  static const std::vector<Identity>& all = *new std::vector<Identity>{
      {"ASumIsScaledTermByTerm",  // SimplifyExpr: (x + c) * d
       [](z3::context& c) {
         const Term x = Bits(c, "x", 32), a = Bits(c, "c", 32), d = Bits(c, "d", 32);
         return (x + a) * d == x * d + a * d && (x - a) * d == x * d - a * d;
       }},
      {"ConstantsAreJoined",
       [](z3::context& c) {
         const Term x = Bits(c, "x", 64), a = Bits(c, "c", 64), d = Bits(c, "d", 64);
         return (x + a) + d == x + (a + d) && (x - a) - d == x - (a + d) &&
                (x + a) - d == x + (a - d) && (x - a) + d == x + (d - a);
       }},
      {"AFactorPassesAProduct",  // FoldAffine: sum w x * s + b
       [](z3::context& c) {
         const Term x = Real(c, "x"), y = Real(c, "y"), w = Real(c, "w"), v = Real(c, "v"),
                    s = Real(c, "s"), b = Real(c, "b"), t = Real(c, "t");
         return ((w * x + v * y + b) * s) + t == ((w * s) * x + (v * s) * y) + (b * s + t);
       }},
      {"AShiftPassesAProduct",
       [](z3::context& c) {
         const Term x = Real(c, "x"), y = Real(c, "y"), w = Real(c, "w"), v = Real(c, "v"),
                    s = Real(c, "s"), t = Real(c, "t"), b = Real(c, "b"), d = Real(c, "d");
         return w * (x * s + b) + v * (y * t + d) == ((w * s) * x + (v * t) * y) + (w * b + v * d);
       }},
      {"AShiftBeforePaddingKeepsItsScale",  // x * s + b = (x + b / s) * s
       [](z3::context& c) {
         const Term x = Real(c, "x"), s = Real(c, "s"), b = Real(c, "b");
         return z3::implies(s != 0, x * s + b == (x + b / s) * s);
       }},
      {"APositiveFactorPassesRelu",
       [](z3::context& c) {
         const Term x = Real(c, "x"), s = Real(c, "s"), a = Real(c, "a");
         const Term leaky = z3::ite(x > 0, x, a * x),
                    scaled = z3::ite(x * s > 0, x * s, a * (x * s));
         return z3::implies(s > 0, Relu(x) * s == Relu(x * s) && leaky * s == scaled);
       }},
      {"ANormalisationIsOneProductAndOneSum",
       [](z3::context& c) {
         const Term x = Real(c, "x"), m = Real(c, "m"), r = Real(c, "r"), g = Real(c, "g"),
                    b = Real(c, "b");
         return z3::implies(r > 0,
                            (x - m) / r * g + b == x * (1 / r * g) + ((-m) * (1 / r * g) + b));
       }},
      {"ReluOfQuantisedIsAMaximum",  // FakeQuantizationToInteger
       [](z3::context& c) {
         const Term q = c.int_const("q"), z = c.int_const("z"), s = Real(c, "s");
         const Term greater = z3::ite(q > z, q, z);
         return z3::implies(s > 0, Relu(z3::to_real(q - z) * s) == z3::to_real(greater - z) * s);
       }},
      {"ProductsOfQuantisedHaveTheProductOfScales",
       [](z3::context& c) {
         const Term a = Real(c, "a"), b = Real(c, "b"), s = Real(c, "s"), t = Real(c, "t");
         return (a * s) * (b * t) == (a * b) * (s * t);
       }},
      {"ZeroPointsLeaveFourTerms",  // CanonicalizeQnn, modulo 2^32
       [](z3::context& c) {
         const Term a = Bits(c, "a", 32), b = Bits(c, "b", 32), d = Bits(c, "d", 32),
                    e = Bits(c, "e", 32), y = Bits(c, "y", 32), z = Bits(c, "z", 32);
         return (a - y) * (d - z) + (b - y) * (e - z) ==
                (a * d + b * e) - y * (d + e) - z * ((a + b) - y * c.bv_val(2, 32));
       }},
      {"BytesMoveToTheOtherSign",
       [](z3::context& c) {
         const Term x = Bits(c, "x", 8), z = Bits(c, "z", 32);
         const Term by = c.bv_val(128, 16);
         const Term up = (z3::sext(x, 8) + by).extract(7, 0);
         const Term down = (z3::zext(x, 8) - by).extract(7, 0);
         return Wide(up, false) - (z + c.bv_val(128, 32)) == Wide(x, true) - z &&
                Wide(down, true) - (z - c.bv_val(128, 32)) == Wide(x, false) - z;
       }},
      {"DifferencesOfBytesFit16Bits",
       [](z3::context& c) {
         Term fits = c.bool_val(true);
         for (const bool is_signed : {false, true}) {
           const Term x = Bits(c, "x", 8), z = Bits(c, "z", 32);
           const Term narrow = Wide(Wide(x, is_signed).extract(15, 0) - z.extract(15, 0), true);
           fits = fits && z3::implies(c.bv_val(-128, 32) <= z && z <= c.bv_val(255, 32),
                                      narrow == Wide(x, is_signed) - z);
         }
         return fits;
       }},
      {"TheSameParametersLeaveTheData",  // Requantized: round((x - z) * 1 + z), saturated
       [](z3::context& c) {
         const Term x = Bits(c, "x", 8), z = Bits(c, "z", 8);
         const Term even(c, Z3_mk_fpa_rne(c));
         const auto half = [&](const Term& i) {
           return Term(c, Z3_mk_fpa_to_fp_signed(c, even, i, c.fpa_sort(5, 11)));
         };
         const Term sum = half(Wide(x, true) - Wide(z, true)) + half(Wide(z, true));
         return Term(c, Z3_mk_fpa_eq(c, sum, half(Wide(x, true))));
       }},
      {"AFixedPointProductRoundsOnce",  // fixed_point_multiply: within half a unit, half up
       [](z3::context& c) {
         const Term product = Bits(c, "x times the multiplier", 64);
         Term rounds = c.bool_val(true);
         for (const int shift : {31, 40, 62}) {
           const Term half = z3::shl(c.bv_val(1, 64), shift - 1);
           const Term error =
               product - z3::shl(z3::ashr(product + half, c.bv_val(shift, 64)), shift);
           rounds = rounds && error < half && error >= -half;
         }
         const std::int64_t most = std::int64_t{1} << 62;
         return z3::implies(product >= c.bv_val(-most, 64) && product <= c.bv_val(most, 64),
                            rounds);
       }},
  };
  return all;
}

TEST(IdentityTest, HoldsForAllConstants) {
  for (const Identity& identity : Identities()) {
    z3::context context;
    context.set_rounding_mode(z3::RNE);
    z3::solver solver = Solver(context);
    solver.add(!identity.claim(context));
    EXPECT_EQ(Outcome(solver), "proved") << identity.name;
  }
}

TEST(ProverTest, FindsInputsForWhichAWrongRewriteFails) {
  const std::pair<const char*, const char*> wrong[] = {
      {"(%x: float32) { add(%x, 0f) }", "(%x: float32) { multiply(%x, 1f) }"},  // of -0
      {"(%x: int8) { cast(cast(%x, dtype=\"uint8\"), dtype=\"int32\") }",
       "(%x: int8) { cast(%x, dtype=\"int32\") }"},
      {"(%x: int32) { divide(multiply(%x, 4), 4) }", "(%x: int32) { multiply(%x, 1) }"},
      {"(%x: float32) { subtract(add(%x, 12582912f), 12582912f) }",
       "(%x: float32) { multiply(%x, 1f) }"},
      {"(%x: int32) { clip(%x, a_min=5, a_max=2) }", "(%x: int32) { minimum(maximum(%x, 2), 5) }"},
  };
  for (const auto& [before, after] : wrong) {
    EXPECT_THAT(Proof(Numbers::kBits, InferType(Parse(std::string("def @main") + before)),
                      InferType(Parse(std::string("def @main") + after))),
                ::testing::StartsWith("wrong"))
        << before;
  }
}

// --- all passes

const std::map<std::string, const char*>& Unproved() {
  static const char* kMoves = "moves, names or groups calls and computes nothing else";
  static const char* kLayout = "changes the order of elements alone; the interpreter compares it";
  static const char* kMath = "approximates functions that Z3 does not know; ranges are tested";
  static const auto& reasons = *new std::map<std::string, const char*>{
      {"InferType", kMoves},
      {"FoldConstant", "computes no input; the interpreter is its oracle"},
      {"EliminateCommonSubexpr", kMoves},
      {"FoldExplicitPadding", "moves widths of zeros from one operator to another"},
      {"FlattenAtrousConv", kLayout},
      {"DropPaddedTaps", "leaves out products with zeros of the padding"},
      {"CombineParallelConv2D", kLayout},
      {"CombineParallelDense", kLayout},
      {"CombineParallelBatchMatmul", kLayout},
      {"CombineParallelOpBatch", kLayout},
      {"FastMath", kMath},
      {"SimplifyFCTranspose", kLayout},
      {"AlterOpLayout", kLayout},
      {"ConvertLayout", kLayout},
      {"CanonicalizeCast", "moves casts beside other readers; each value keeps its cast"},
      {"DefuseOps", kMoves},
      {"Legalize",
       "rules of targets and plug-ins; CanonicalizeQnn runs the ones that are built in"},
      {"FakeQuantizationToInteger",
       "rounds where the model does not, within one quantum; its identities are proved"},
      {"DeadCodeElimination", kMoves},
      {"EmbedComposites", kMoves},
      {"Inline", kMoves},
      {"NameRunTimeExtents", kMoves},
      {"MergeCompilerRegions", kMoves},
      {"MergeCompositeFunctions", kMoves},
      {"PartitionGraph", kMoves},
      {"RemoveUnusedFunctions", kMoves},
      {"ReferencesToValues", "control flow; the interpreter compares it"},
      {"OutlineBranches", kMoves},
      {"RestoreBranches", kMoves},
      {"FuseOps", kMoves},
      {"PlanDevices", kMoves},
      {"RewriteAnnotatedOps", kMoves},
      {"ToMixedPrecision", "rounds to 16 bits, as it is asked to"},
      {"WidenHalfFloats", "rounds less often, which no single operator shows"},
  };
  return reasons;
}

TEST(PassesTest, EachIsProvedOrHasAReason) {
  std::set<std::string> proved = {kSimplify,
                                  "DivToMul",
                                  "CanonicalizeOps",
                                  "SimplifyInference",
                                  kFold,
                                  "BackwardFoldScaleAxis",
                                  "ForwardFoldScaleAxis",
                                  "FoldScaleAxis",
                                  "CanonicalizeQnn"};
  for (const std::string& name : PassNames())
    EXPECT_NE(proved.contains(name), Unproved().contains(name)) << name;
}

}  // namespace
}  // namespace tenon::passes
