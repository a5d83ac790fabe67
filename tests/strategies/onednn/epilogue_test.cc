// What oneDNN computes together with a convolution or product: read from the graph, applied in its
// order, and left to generated code where the library would compute something else.
#include "tenon/strategies/onednn/epilogue.h"

#include "tenon/ops/builders.h"
#include "tenon/strategies/onednn/facts.h"
#include "tenon/support/strings.h"
#include "tenon/tests/strategies/choice_testing.h"
#include "tenon/tests/testing/graph_testing.h"

namespace tenon::strategies {
namespace {

using onednn::Epilogue;
using onednn::PostOp;
using ::testing::HasSubstr;
using testing_choices::ConvThen;
using testing_choices::DenseThen;
using testing_graphs::ExpectClose;
using testing_graphs::Interpreted;
using testing_graphs::Outcome;
using testing_graphs::Parsed;
using testing_graphs::Random;
using testing_graphs::RandomInputs;
using Kind = PostOp::Kind;

struct EpilogueCase {
  const char* name;
  const char* rest;
  std::vector<PostOp> post_ops;
  bool has_bias;
  int operands;
};

void PrintTo(const EpilogueCase& c, std::ostream* out) { *out << c.name; }

class EpilogueTest : public ::testing::TestWithParam<EpilogueCase> {};

TEST_P(EpilogueTest, IsReadFromTheGraphAndComputedByTheLibrary) {
  const EpilogueCase& c = GetParam();
  for (const ir::Module& module : {ConvThen(c.rest), DenseThen(c.rest)}) {
    const bool is_conv = ir::PrintModule(module).find("conv2d") != std::string::npos;
    // There the vector would run along the width.
    if (is_conv && std::string(c.name) == "BiasByBroadcast") continue;
    const auto lowered = Lower(module, {.library = LibraryChoice::kLibrary});
    ASSERT_TRUE(lowered.ok()) << lowered.status();
    const LoweredKernel& kernel = lowered->kernels.back();
    if (is_conv && c.operands > 0 && !onednn::Facts().nchw_takes_tensors) {
      EXPECT_THAT(kernel.choice.Explanation(), HasSubstr("takes no tensor after it in NCHW"));
    } else {
      EXPECT_EQ(kernel.choice.implementation, "onednn") << kernel.choice.Explanation();
    }
    const auto& function = *kernel.function.As<ir::FunctionNode>();
    const Group group{.function = &function, .name = kernel.name, .constants = {}};
    ASSERT_NE(group.Anchor(), nullptr);
    const auto read = onednn::ReadEpilogue(function, *group.Anchor(), 1);
    ASSERT_TRUE(std::holds_alternative<Epilogue>(read)) << std::get<std::string>(read);
    const auto& epilogue = std::get<Epilogue>(read);
    EXPECT_EQ(static_cast<bool>(epilogue.bias), c.has_bias);
    EXPECT_EQ(epilogue.operands.size(), static_cast<std::size_t>(c.operands));
    EXPECT_EQ(epilogue.post_ops, c.post_ops);
    const runtime::Inputs inputs = RandomInputs(module, 7);
    const auto expected = Interpreted(module, inputs);
    for (const LibraryChoice library :
         {LibraryChoice::kAuto, LibraryChoice::kLibrary, LibraryChoice::kTe})
      ExpectClose(Outcome(module, inputs, {.library = library}), expected);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Spellings, EpilogueTest,
    ::testing::Values(
        EpilogueCase{"Nothing", "%0", {}, false, 0},
        EpilogueCase{"Relu", "nn.relu(%0)", {{Kind::kRelu}}, false, 0},
        EpilogueCase{"LeakyRelu", "nn.leaky_relu(%0, alpha=0.5f)", {{Kind::kRelu, 0.5F}}, false, 0},
        EpilogueCase{
            "Clip", "clip(%0, a_min=-0.5f, a_max=0.25f)", {{Kind::kClip, -0.5F, 0.25F}}, false, 0},
        EpilogueCase{"Sigmoid", "sigmoid(%0)", {{Kind::kSigmoid}}, false, 0},
        EpilogueCase{"Tanh", "tanh(%0)", {{Kind::kTanh}}, false, 0},
        EpilogueCase{"BiasAdd", "nn.bias_add(%0, %b)", {}, true, 0},
        EpilogueCase{"BiasByBroadcast", "add(%b, %0)", {}, true, 0},
        EpilogueCase{"BiasThenRelu", "nn.relu(nn.bias_add(%0, %b))", {{Kind::kRelu}}, true, 0},
        EpilogueCase{"ResidualAdd", "add(%0, %r)", {{Kind::kAddTensor}}, false, 1},
        EpilogueCase{"ResidualAddFromTheLeft", "add(%r, %0)", {{Kind::kAddTensor}}, false, 1},
        EpilogueCase{"BiasResidualRelu",
                     "nn.relu(add(nn.bias_add(%0, %b), %r))",
                     {{Kind::kAddTensor}, {Kind::kRelu}},
                     true,
                     1},
        EpilogueCase{"ResidualProduct", "multiply(%r, %0)", {{Kind::kMulTensor}}, false, 1},
        EpilogueCase{"Swish", "multiply(%0, sigmoid(%0))", {{Kind::kSwish, 1.0F}}, false, 0},
        EpilogueCase{
            "SwishFromTheLeft", "multiply(sigmoid(%0), %0)", {{Kind::kSwish, 1.0F}}, false, 0},
        EpilogueCase{"SwishOfBiased",
                     "%1 = nn.bias_add(%0, %b); multiply(%1, sigmoid(%1))",
                     {{Kind::kSwish, 1.0F}},
                     true,
                     0},
        EpilogueCase{"HardSwishProductOverSix",
                     "divide(multiply(%0, clip(add(%0, 3f), a_min=0f, a_max=6f)), 6f)",
                     {{Kind::kHardSwish}},
                     false,
                     0},
        EpilogueCase{"HardSwishProductOverSixFromTheLeft",
                     "divide(multiply(clip(add(3f, %0), a_min=0f, a_max=6f), %0), 6f)",
                     {{Kind::kHardSwish}},
                     false,
                     0},
        EpilogueCase{"HardSwishGateOverSix",
                     "multiply(%0, divide(clip(add(%0, 3f), a_min=0f, a_max=6f), 6f))",
                     {{Kind::kHardSwish}},
                     false,
                     0},
        EpilogueCase{"HardSwishGateTimesASixth",
                     "multiply(%0, multiply(clip(add(%0, 3f), a_min=0f, a_max=6f), 0.16666667f))",
                     {{Kind::kHardSwish}},
                     false,
                     0},
        EpilogueCase{"HardSwishHardSigmoid",
                     "multiply(clip(add(divide(%0, 6f), 0.5f), a_min=0f, a_max=1f), %0)",
                     {{Kind::kHardSwish}},
                     false,
                     0},
        EpilogueCase{"HardSwishHardSigmoidTimesASixth",
                     "multiply(%0, clip(add(multiply(%0, 0.16666667f), 0.5f), a_min=0f, a_max=1f))",
                     {{Kind::kHardSwish}},
                     false,
                     0},
        EpilogueCase{
            "ScalarSum", "subtract(add(%0, 2f), 0.5f)", {{Kind::kLinear, 1, 1.5F}}, false, 0},
        EpilogueCase{
            "ScalarProduct", "divide(multiply(%0, 3f), 2f)", {{Kind::kLinear, 1.5F}}, false, 0}),
    [](const auto& info) { return info.param.name; });

// Sizes that other primitives of the library take.
ir::Module WideConvThen(int in, int out, int groups, int kernel, const std::string& rest) {
  return Parsed(StrCat("def @main(%x: Tensor[(1, ", in, ", 14, 14), float32], %w: Tensor[(", out,
                       ", ", in / groups, ", ", kernel, ", ", kernel,
                       "), float32], %r: Tensor[(1, ", out, ", 14, 14), float32], %b: Tensor[(",
                       out, "), float32]) {\n  %0 = nn.conv2d(%x, %w, padding=[", kernel / 2,
                       "], groups=", groups, ");\n", rest, "\n}"));
}

struct Chain {
  const char* name;
  const char* rest;
};
void PrintTo(const Chain& c, std::ostream* out) { *out << c.name; }

class ChainTest : public ::testing::TestWithParam<Chain> {};

// Post-ops of one kind in a row, each with its own numbers.
TEST_P(ChainTest, CountsEachOfItsPostOps) {
  const std::string rest = GetParam().rest;
  for (const ir::Module& module :
       {ConvThen(rest), DenseThen(rest), WideConvThen(16, 16, 1, 3, rest),
        WideConvThen(64, 64, 1, 1, rest), WideConvThen(32, 32, 32, 3, rest)}) {
    const runtime::Inputs inputs = RandomInputs(module, 3);
    SCOPED_TRACE(ValueOrThrow(Compile(module, {.library = LibraryChoice::kLibrary}))
                     .kernels()[0]
                     ->implementation());
    ExpectClose(Outcome(module, inputs, {.library = LibraryChoice::kLibrary}),
                Interpreted(module, inputs), 1e-3);
  }
}

INSTANTIATE_TEST_SUITE_P(
    PostOps, ChainTest,
    ::testing::Values(
        Chain{"Sums", "subtract(add(%0, 2f), 0.5f)"},
        Chain{"Products", "add(multiply(multiply(nn.relu(%0), 6f), 0.5f), 3f)"},
        Chain{"HardSwishTimesASixth",
              "multiply(multiply(%0, clip(add(%0, 3f), a_min=0f, a_max=6f)), 0.16666667f)"},
        Chain{"Clips", "clip(clip(%0, a_min=-1f, a_max=1f), a_min=-0.25f, a_max=0.125f)"},
        Chain{"LeakyRelus", "nn.leaky_relu(nn.leaky_relu(%0, alpha=0.5f), alpha=0.25f)"},
        Chain{"ClipAndRelu", "nn.relu(clip(%0, a_min=-1f, a_max=1f))"},
        Chain{"Residuals", "add(add(%0, %r), %r)"},
        Chain{"BiasResidualProduct", "multiply(add(nn.bias_add(%0, %b), %r), %r)"},
        Chain{"Relus", "nn.relu(add(%r, nn.relu(%0)))"},
        Chain{"Swishes",
              "%1 = nn.bias_add(%0, %b); %2 = multiply(%1, sigmoid(%1)); "
              "multiply(%2, sigmoid(%2))"}),
    [](const auto& info) { return info.param.name; });

// Almost hard-swish, almost swish: each must come out as what it is.
TEST(EpilogueEdgeTest, GatesThatOnlyLookLikeHardSwishAreComputedAsWritten) {
  for (const char* rest :
       {"divide(multiply(%0, clip(add(%0, 3f), a_min=0f, a_max=5f)), 6f)",
        "divide(multiply(%0, clip(add(%0, 2f), a_min=0f, a_max=6f)), 6f)",
        "divide(multiply(%0, clip(add(%0, 3f), a_min=0f, a_max=6f)), 3f)",
        "divide(multiply(%0, clip(add(%0, 3f), a_min=-1f, a_max=6f)), 6f)",
        "multiply(%0, clip(add(divide(%0, 5f), 0.5f), a_min=0f, a_max=1f))",
        "multiply(%0, clip(add(divide(6f, %0), 0.5f), a_min=0f, a_max=1f))",
        "multiply(%0, sigmoid(multiply(%0, 2f)))", "multiply(%r, sigmoid(%0))",
        "multiply(nn.relu(%0), sigmoid(%0))", "subtract(2f, %0)", "subtract(%r, %0)",
        "divide(2f, %0)", "divide(%r, %0)", "add(%0, %0)", "multiply(%0, %0)",
        "%1 = nn.relu(%0); add(%1, %0)", "add(nn.relu(%0), %r)", "nn.bias_add(nn.relu(%0), %b)",
        "nn.relu(add(%r, multiply(%0, 2f)))"}) {
    SCOPED_TRACE(rest);
    for (const ir::Module& module : {ConvThen(rest), DenseThen(rest)}) {
      const runtime::Inputs inputs = RandomInputs(module, 3);
      ExpectClose(Outcome(module, inputs, {.library = LibraryChoice::kLibrary}),
                  Interpreted(module, inputs));
    }
  }
}

// One factor stands for several constants only where it gives what they give one after the other.
TEST(EpilogueEdgeTest, ConstantsWhoseProductFloat32DoesNotHoldStayApart) {
  struct Case {
    float value;  // of all elements of the operands
    const char* rest;
  };
  for (const auto& [value, rest] :
       {Case{0, "multiply(multiply(%0, 1e30f), 2e30f)"}, Case{1e18F, "divide(%0, 3e38f)"},
        Case{1e18F, "subtract(multiply(subtract(%0, 1e30f), 1e30f), 1f)"}}) {
    SCOPED_TRACE(rest);
    for (const ir::Module& module : {ConvThen(rest), DenseThen(rest)}) {
      runtime::Inputs inputs = RandomInputs(module, 3);
      for (const char* name : {"x", "w"})
        std::fill_n(inputs.at(name).data<float>(), inputs.at(name).size(), value);
      ExpectClose(Outcome(module, inputs, {.library = LibraryChoice::kLibrary}),
                  Interpreted(module, inputs));
    }
  }
}

// A large number that is added and taken off again rounds to its steps: a quantiser.
TEST(EpilogueEdgeTest, ConstantsThatCancelStayApart) {
  for (const char* rest : {"subtract(add(%0, 12582912f), 12582912f)",
                           "multiply(subtract(add(%0, 12582912f), 12582912f), 0.3f)",
                           "add(divide(subtract(add(%0, 12582912f), 12582912f), 7f), 2f)",
                           "subtract(add(add(%0, 0.375f), 12582912f), 12582912f)",
                           "subtract(add(multiply(%0, 3f), 12582912f), 12582912f)",
                           "subtract(multiply(add(%0, 12582912f), 0.25f), 3145728f)"}) {
    SCOPED_TRACE(rest);
    for (const ir::Module& module : {ConvThen(rest), DenseThen(rest)}) {
      runtime::Inputs inputs = RandomInputs(module, 3);
      // Quarters, whose products and sums are exact and whose halves no order of terms moves.
      for (const char* name : {"x", "w"}) {
        NDArray& operand = inputs.at(name);
        for (std::int64_t i = 0; i < operand.size(); ++i)
          operand.data<float>()[i] = static_cast<float>(i * 7 % 9 - 4) / 4;
      }
      ExpectClose(Outcome(module, inputs, {.library = LibraryChoice::kLibrary}),
                  Interpreted(module, inputs));
    }
  }
}

// Its values lie along another axis than the channels.
TEST(EpilogueEdgeTest, WhatGivesASumMoreAxesIsNoBias) {
  const char* const body =
      "(%x: Tensor[(8, 17), float32], %w: Tensor[(8, 17), float32], "
      "%b: Tensor[(1, 8, 1), float32]";
  const char* const sum = "{ add(nn.dense(%x, %w), %b) }";
  const ir::Module plain = Parsed(StrCat("def @main", body, ") ", sum));
  const ir::Module composite = Parsed(StrCat("def @sum", body, ", Composite=\"dnnl.dense_add\") ",
                                             sum, " def @main", body, ") { @sum(%x, %w, %b) }"));
  const runtime::Inputs inputs = RandomInputs(plain, 3);
  ExpectClose(Outcome(composite, inputs), Interpreted(plain, inputs));
}

TEST(EpilogueEdgeTest, MoreOperatorsThanAPrimitiveTakesAreGenerated) {
  std::string rest;
  for (int i = 0; i < 36; ++i)
    StrAppend(&rest, "%", i + 1, i % 2 == 0 ? " = sigmoid(%" : " = tanh(%", i, ");\n");
  for (const ir::Module& module :
       {ConvThen(StrCat(rest, "nn.relu(%36)")), DenseThen(StrCat(rest, "nn.relu(%36)"))}) {
    const runtime::Inputs inputs = RandomInputs(module, 3);
    ExpectClose(Outcome(module, inputs, {.library = LibraryChoice::kLibrary}),
                Interpreted(module, inputs));
  }
}

// Post-ops come from the graph, never from a name, so that no bias gets lost.
TEST(BiasTest, IsAppliedHoweverItIsSpelledAndWhereverItComesFrom) {
  using namespace ops;  // NOLINT: a graph reads best without qualifiers
  const NDArray weight = Random({8, 5, 3, 3}, 1);
  const NDArray bias = Random({8}, Float32, 2, 1, 2);
  const NDArray x_value = Random({2, 5, 9, 7}, 3);
  const ir::Expr x = ir::Var::Make("x", ir::TensorType({2, 5, 9, 7}, Float32));
  const ir::Expr b_var = ir::Var::Make("b", ir::TensorType({8}, Float32));
  const ir::Expr b_constant = ir::Constant::Make(bias);
  const ir::Expr conv = Conv2D(x, ir::Constant::Make(weight), {.padding = {1, 1}});
  for (const ir::Expr& b : {b_var, b_constant}) {
    for (const ir::Expr& y :
         {BiasAdd(conv, b), Add(conv, ExpandDims(b, 1, 2)), Add(Reshape(b, {1, 8, 1, 1}), conv),
          Add(conv, Reshape(b, {8, 1, 1}))}) {
      const ir::Module module = ir::Module::FromExpr(Relu(y));
      SCOPED_TRACE(ir::PrintModule(module, {.metadata = false}));
      runtime::Inputs inputs = {{"x", x_value}};
      if (b == b_var) inputs["b"] = bias;
      // The definition: the convolution alone, then the bias by hand.
      const std::vector<NDArray> plain =
          Outcome(ir::Module::FromExpr(conv), {{"x", x_value}}, {.library = LibraryChoice::kTe});
      const NDArray expected = plain.at(0).Clone();
      for (std::int64_t i = 0; i < expected.size(); ++i) {
        float& value = expected.data<float>()[i];
        value = std::max(value + bias.data<float>()[i / 63 % 8], 0.0F);
      }
      for (const LibraryChoice library :
           {LibraryChoice::kAuto, LibraryChoice::kTe, LibraryChoice::kLibrary})
        for (const int opt_level : {0, 1, 2, 3}) {
          const auto results =
              Outcome(module, inputs, {.opt_level = opt_level, .library = library});
          ASSERT_EQ(results.size(), 1U);
          ExpectClose(results[0], expected);
        }
    }
  }
}

TEST(BiasTest, OfTwoConvolutionsWithDifferentConstantsEachKeepsItsOwn) {
  using namespace ops;  // NOLINT
  const ir::Expr x = ir::Var::Make("x", ir::TensorType({1, 4, 5, 5}, Float32));
  ir::Expr y = x;
  for (int i = 0; i < 3; ++i)
    y = Relu(BiasAdd(Conv2D(y, ir::Constant::Make(Random({4, 4, 1, 1}, 10 + i))),
                     ir::Constant::Make(Random({4}, 20 + i))));
  const ir::Module module = ir::Module::FromExpr(y);
  const NDArray value = Random({1, 4, 5, 5}, 5);
  const auto by_te =
      Outcome(module, {{"x", value}}, {.opt_level = 0, .library = LibraryChoice::kTe});
  ExpectClose(Outcome(module, {{"x", value}}), by_te);
  // Not all rectified away, or nothing would be compared.
  double sum = 0;
  for (const float v : by_te.at(0).ToVector<float>()) sum += v;
  EXPECT_GT(sum, 0);
}

}  // namespace
}  // namespace tenon::strategies
