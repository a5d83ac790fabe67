// What compiled graphs keep of numbers that libraries and kernels may lose: NaN, and attributes at
// the ends of their types.
#include <limits>
#include <vector>

#include "tenon/compiler/compile.h"
#include "tenon/ops/builders.h"
#include "tenon/support/strings.h"
#include "tenon/tests/testing/graph_testing.h"

namespace tenon {
namespace {

using testing_graphs::ExpectClose;
using testing_graphs::Interpreted;
using testing_graphs::Outcome;
using testing_graphs::Parsed;
using testing_graphs::RandomInputs;

TEST(CompileTest, NaNStaysNaNThroughProductsAndTheOperatorsAfterThem) {
  for (const char* after : {"nn.relu", "sigmoid", "tanh"}) {
    const ir::Module module =
        Parsed(StrCat("def @main(%x: Tensor[(16, 64), float32], %w: Tensor[(32, 64), float32]) { ",
                      after, "(nn.dense(%x, %w)) }"));
    runtime::Inputs inputs = RandomInputs(module, 9);
    inputs.at("x").data<float>()[3 * 64] = std::numeric_limits<float>::quiet_NaN();
    ExpectClose(Outcome(module, inputs), Interpreted(module, inputs));
    ExpectClose(Outcome(module, inputs, {.library = LibraryChoice::kLibrary, .keep_nan = true}),
                Interpreted(module, inputs));
  }
}

TEST(CompileTest, NaNStaysNaNThroughConvolutionsWhereThatIsAskedFor) {
  for (const char* body :
       {"nn.relu(nn.conv2d(%x, %w))", "clip(nn.conv2d(%x, %w), a_min=0f64, a_max=6f64)"}) {
    const ir::Module module =
        Parsed(StrCat("def @main(%x: Tensor[(1, 32, 9, 9), float32], %w: Tensor[(32, 32, 1, 1), "
                      "float32]) { ",
                      body, " }"));
    runtime::Inputs inputs = RandomInputs(module, 10);
    inputs.at("x").data<float>()[5] = std::numeric_limits<float>::quiet_NaN();
    for (const LibraryChoice library : {LibraryChoice::kAuto, LibraryChoice::kLibrary})
      ExpectClose(Outcome(module, inputs, {.library = library, .keep_nan = true}),
                  Interpreted(module, inputs));
  }
}

TEST(CompileTest, NaNStaysNaNThroughMaximaAndSoftmaxWhereThatIsAskedFor) {
  for (const char* body : {"nn.max_pool2d(%x, pool_size=[3, 3], strides=[2, 2])",
                           "nn.global_max_pool2d(%x)", "nn.softmax(%x)", "nn.log_softmax(%x)"}) {
    const ir::Module module =
        Parsed(StrCat("def @main(%x: Tensor[(1, 16, 9, 9), float32]) { ", body, " }"));
    runtime::Inputs inputs = RandomInputs(module, 10);
    inputs.at("x").data<float>()[5] = std::numeric_limits<float>::quiet_NaN();
    ExpectClose(Outcome(module, inputs, {.library = LibraryChoice::kLibrary, .keep_nan = true}),
                Interpreted(module, inputs));
  }
}

TEST(CompileTest, FunctionsThatAreValuesAreInlined) {
  const NDArray x = NDArray::FromVector<float>({3}, {1, 2, 3});
  for (const char* body :
       {"(fn (%y) { multiply(%y, %y) })(%x)", "let %f = fn (%y) { multiply(%y, %x) }; %f(%x)",
        "let %f = fn (%g, %y) { %g(%y) }; %f(fn (%z) { multiply(%z, %z) }, %x)"}) {
    for (const int level : {0, 3}) {
      const ir::Module module =
          Parsed(StrCat("def @main(%x: Tensor[(3), float32]) { ", body, " }"));
      EXPECT_EQ(Outcome(module, {{"x", x}}, {.opt_level = level})[0].ToVector<float>(),
                (std::vector<float>{1, 4, 9}))
          << body << level;
    }
  }
}

TEST(CompileTest, AWindowOfAllChannelsMayBeOfAnySize) {
  const auto with = [](const char* attributes) {
    return Parsed(StrCat("def @main(%x: Tensor[(1, 3, 4, 4), float32]) { nn.lrn(%x, ", attributes,
                         ", bias=1f64, beta=0.5f64) }"));
  };
  const ir::Module wide = with("size=1000000001, alpha=1000000001f64");
  const runtime::Inputs inputs = RandomInputs(wide, 10);
  ExpectClose(Outcome(wide, inputs), Outcome(with("size=5, alpha=5f64"), inputs));
}

TEST(CompileTest, StepsThatTheLibraryDoesNotHoldAreNoError) {
  const ir::Module module = Parsed(
      "def @main(%x: Tensor[(1, 32, 9, 9), float32], %w: Tensor[(32, 32, 1, 1), float32]) {"
      "  nn.conv2d(%x, %w, strides=[4294967296, 1], dilation=[1, 4294967296]) }");
  const runtime::Inputs inputs = RandomInputs(module, 10);
  ExpectClose(Outcome(module, inputs), Interpreted(module, inputs));
}

// Its last window lies past the padding, at any distance.
TEST(CompileTest, AWindowPastThePaddingMayBeAnywhere) {
  for (const char* op : {"nn.avg_pool1d", "nn.max_pool1d"}) {
    const auto by = [&](const char* stride) {
      return Parsed(StrCat("def @main(%x: Tensor[(1, 16, 8), float32]) { ", op,
                           "(%x, pool_size=[3], strides=[", stride,
                           "], padding=[1, 1], ceil_mode=True) }"));
    };
    const runtime::Inputs inputs = RandomInputs(by("10"), 10);
    for (const char* stride : {"1099511627776", "9223372036854775807"})
      EXPECT_EQ(Outcome(by(stride), inputs)[0].ToVector<float>(),
                Outcome(by("10"), inputs)[0].ToVector<float>());
  }
}

TEST(CompileTest, StepsOfPoolingThatTheLibraryDoesNotHoldAreNoError) {
  for (const char* op : {"nn.avg_pool2d", "nn.max_pool2d"}) {
    const ir::Module module =
        Parsed(StrCat("def @main(%x: Tensor[(1, 2, 4, 4), float32]) { ", op,
                      "(%x, pool_size=[2, 2], strides=[1099511627776, 1]) }"));
    const runtime::Inputs inputs = RandomInputs(module, 10);
    ExpectClose(Outcome(module, inputs, {.library = LibraryChoice::kLibrary}),
                Interpreted(module, inputs));
  }
}

TEST(CompileTest, AnElementAloneHasNoStrides) {
  const auto by = [](const char* strides) {
    return Parsed(
        StrCat("def @main(%x: Tensor[(1, 4, 1, 5), float32], %w: Tensor[(4, 4, 3, 3), "
               "float32]) { nn.conv2d_transpose(%x, %w, strides=[",
               strides, "], padding=[1, 0], output_padding=[1, 0]) }"));
  };
  const runtime::Inputs inputs = RandomInputs(by("3, 2"), 10);
  ExpectClose(Outcome(by("1099511627776, 2"), inputs), Outcome(by("3, 2"), inputs));
}

// All of the second element's results are kept, and nearly none of those before it.
TEST(CompileTest, APaddingMayDropNearlyAllPhases) {
  const auto along_one = [](const char* stride, const char* left) {
    return Parsed(
        StrCat("def @main(%x: Tensor[(1, 3, 2), float32], %w: Tensor[(3, 2, 3), float32]) {"
               "  nn.conv1d_transpose(%x, %w, strides=[",
               stride, "], padding=[", left, ", 0]) }"));
  };
  const auto along_two = [](const char* stride, const char* before) {
    return Parsed(
        StrCat("def @main(%x: Tensor[(2, 4, 2, 2), float32], %w: Tensor[(4, 3, 3, 3), float32]) {"
               "  nn.conv2d_transpose(%x, %w, groups=2, dilation=[2, 1], strides=[",
               stride, ", ", stride, "], padding=[", before, ", ", before, ", 0, 0]) }"));
  };
  const CompileOptions options{.library = LibraryChoice::kTe};
  const runtime::Inputs one = RandomInputs(along_one("8", "7"), 10);
  ExpectClose(Outcome(along_one("1099511627776", "1099511627775"), one, options),
              Outcome(along_one("8", "7"), one, options));
  const runtime::Inputs two = RandomInputs(along_two("16", "15"), 10);
  ExpectClose(Outcome(along_two("4294967296", "4294967295"), two, options),
              Outcome(along_two("16", "15"), two, options));
}

// 1 + 3 * 2^-11 less 2^-28: float32 holds the former alone, which lies between two halves.
TEST(CompileTest, ADeterminantOfHalvesIsRoundedOnce) {
  const ir::Module module = Parsed(
      "def @main(%x: Tensor[(2, 2), float32]) { cast(matrix_determinant(cast(%x, "
      "dtype=\"float16\")), dtype=\"float32\") }");
  const NDArray x = NDArray::FromVector<float>({2, 2}, {293.0F / 2048, 0x1p-14F, 0x1p-14F, 7});
  EXPECT_EQ(Outcome(module, {{"x", x}}).at(0).data<float>()[0], 1 + 0x1p-10F);
}

// Both quotients are 10 as halves, and lie on either side of it in float32.
TEST(CompileTest, AQuotientOfHalvesIsRoundedOnce) {
  const NDArray x = NDArray::FromVector<float>({2}, {-1, 2047.0F / 2048});
  const NDArray y = NDArray::FromVector<float>({2}, {819.0F / 8192, 819.0F / 8192});
  const auto of_halves = [&](const char* op) {
    const ir::Module module = Parsed(
        StrCat("def @main(%x: Tensor[(2), float32], %y: Tensor[(2), float32]) { cast(", op,
               "(cast(%x, dtype=\"float16\"), cast(%y, dtype=\"float16\")), dtype=\"float32\") }"));
    const NDArray result = Outcome(module, {{"x", x}, {"y", y}}).at(0);
    return std::vector<float>(result.data<float>(), result.data<float>() + 2);
  };
  EXPECT_EQ(of_halves("floor_divide"), (std::vector<float>{-11, 9}));
  EXPECT_EQ(of_halves("trunc_divide"), (std::vector<float>{-10, 9}));
  for (const float rest : of_halves("floor_mod")) EXPECT_NEAR(rest, 0.09973F, 1e-4F);
}

// float16 has no 3e-8, and 7e4 is infinite there.
TEST(CompileTest, TheSlopeOfHalvesIsNotRounded) {
  const auto of = [](const char* slope, float x) {
    const ir::Module module =
        Parsed(StrCat("def @main(%x: Tensor[(1), float32]) { cast(nn.leaky_relu(cast(%x, "
                      "dtype=\"float16\"), alpha=",
                      slope, "), dtype=\"float32\") }"));
    return Outcome(module, {{"x", NDArray::FromVector<float>({1}, {x})}}).at(0).data<float>()[0];
  };
  EXPECT_NEAR(of("3e-8f64", -10000), -3e-4F, 1e-6F);
  EXPECT_EQ(of("70000f64", -0.5F), -35008);
}

// Areas of boxes that are counted in pixels are beyond float16.
TEST(CompileTest, BoxesOfHalvesOverlapAsThoseOfFloatsDo) {
  const ir::Module module = Parsed(
      "def @main(%x: Tensor[(1, 2, 6), float32], %c: Tensor[(1), int32], %i: Tensor[(1, 2), "
      "int32]) { vision.non_max_suppression(cast(%x, dtype=\"float16\"), %c, %i, -1, 0.5f, "
      "return_indices=True) }");
  const NDArray x =
      NDArray::FromVector<float>({1, 2, 6}, {0, 0.9F, 0, 0, 300, 300, 0, 0.8F, 10, 0, 300, 300});
  const std::vector<NDArray> results =
      Outcome(module, {{"x", x},
                       {"c", NDArray::FromVector<std::int32_t>({1}, {2})},
                       {"i", NDArray::FromVector<std::int32_t>({1, 2}, {0, 1})}});
  EXPECT_EQ(results.at(0).data<std::int32_t>()[1], -1);
  EXPECT_EQ(results.at(1).data<std::int32_t>()[0], 1);
}

// Each corner is exp(offset) and a product or two away from its anchor.
TEST(CompileTest, CornersOfHalvesAreRoundedOnce) {
  const auto module = [](const char* type) {
    const auto half = [&](const char* x) { return StrCat("cast(", x, ", dtype=\"", type, "\")"); };
    return Parsed(StrCat(
        "def @main(%p: Tensor[(1, 2, 1), float32], %l: Tensor[(1, 4), float32], %a: Tensor[(1, 1, "
        "4), float32]) { %0 = vision.multibox_transform_loc(",
        half("%p"), ", ", half("%l"), ", ", half("%a"),
        ", clip=False); cast(cast(%0.0, dtype=\"float16\"), dtype=\"float32\") }"));
  };
  const runtime::Inputs inputs = {
      {"p", NDArray::FromVector<float>({1, 2, 1}, {0.125F, 0.875F})},
      {"l", NDArray::FromVector<float>({1, 4}, {0.25F, -0.75F, 1.875F, 2.125F})},
      {"a", NDArray::FromVector<float>({1, 1, 4}, {0.125F, 0.1875F, 0.4375F, 0.625F})}};
  const NDArray halves = Outcome(module("float16"), inputs).at(0);
  const NDArray floats = Outcome(module("float32"), inputs).at(0);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(halves.data<float>()[i], floats.data<float>()[i]) << i;
}

TEST(CompileTest, AnArangeOfHalvesHasAnyNumberOfPlaces) {
  const ir::Module module = Parsed(
      "def @main() { cast(arange(start=0f64, stop=1f64, step=0.00001f64, dtype=\"float16\"), "
      "dtype=\"float32\") }");
  const NDArray places = Outcome(module, {}).at(0);
  for (const std::int64_t i : {100, 65600, 99999})
    EXPECT_NEAR(places.data<float>()[i], 1e-5 * static_cast<double>(i), 0.002) << i;
}

TEST(CompileTest, AResizeThatMovesIntegersKeepsThem) {
  const ir::Module module =
      Parsed("def @main(%x: Tensor[(1, 1, 3), int32]) { image.resize1d(%x, size=[3]) }");
  const NDArray x = NDArray::FromVector<std::int32_t>({1, 1, 3}, {16777217, -16777217, 5});
  const NDArray y = Outcome(module, {{"x", x}}).at(0);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(y.data<std::int32_t>()[i], x.data<std::int32_t>()[i]);
}

// What would run out of memory must not take for ever to compile.
TEST(CompileTest, ImagesOfAnySizeAreCompiledInShortTime) {
  for (const char* text :
       {"def @main(%x: Tensor[(1, 48, 8), float32], %w: Tensor[(16, 48, 3), float32]) {"
        "  nn.conv1d(%x, %w, padding=[1000000000000]) }",
        "def @main(%x: Tensor[(1, 48, 8, 8), float32], %w: Tensor[(16, 48, 3, 3), float32]) {"
        "  nn.conv2d(%x, %w, padding=[100000, 100000]) }",
        "def @main(%x: Tensor[(1, 1, 4), float32]) {"
        "  image.resize1d(%x, size=[1099511627776], method=\"nearest_neighbor\") }",
        "def @main(%x: Tensor[(1, 1, 2, 1099511627776), float32]) {"
        "  image.resize2d(%x, size=[4, 1099511627776],"
        "                 coordinate_transformation_mode=\"asymmetric\") }"})
    EXPECT_TRUE(Compile(Parsed(text), {.library = LibraryChoice::kTe}).ok());
}

// Each step reads two elements of the last one, under conditions of their own. If all were written
// out, there would be 2^30.
TEST(CompileTest, AChainOfPaddedSumsIsNotWrittenOutAgainAndAgain) {
  std::string text = "def @main(%x: Tensor[(7), float32]) { ", last = "%x";
  for (int i = 0; i < 30; ++i) {
    StrAppend(&text, "%", 2 * i, " = add(nn.pad(", last, ", 0f, pad_width=[[1, 0]]), nn.pad(", last,
              ", 0f, pad_width=[[0, 1]])); %", 2 * i + 1, " = multiply(%", 2 * i, ", 0.5f); ");
    last = StrCat("%", 2 * i + 1);
  }
  const ir::Module module = Parsed(text + last + " }");
  const runtime::Inputs inputs = RandomInputs(module, 11);
  ExpectClose(Outcome(module, inputs, {.library = LibraryChoice::kTe}),
              Interpreted(module, inputs));
}

// A text or a program may write them there, whatever their types and shapes.
TEST(CompileTest, AKernelMayHoldConstantsThatAreNoNumbersOfItsCode) {
  const ir::Type type = ir::TensorType({4}, Float32), small = ir::TensorType({4}, Int16);
  const ir::Var p = ir::Var::Make("p", type), q = ir::Var::Make("q", small);
  const auto kernel = [](const ir::Var& param, const NDArray& constant) {
    return ir::Function::Make({param}, ops::Add(param, ir::Constant::Make(constant)), {},
                              {{"Primitive", attrs::Value(std::int64_t{1})}});
  };
  const ir::Var x = ir::Var::Make("x", type), y = ir::Var::Make("y", small);
  const ir::Expr sum =
      ir::Call::Make(kernel(p, NDArray::FromVector<float>({4}, {1, 2, 3, 4})), {ir::Expr(x)});
  const ir::Expr small_sum =
      ir::Call::Make(kernel(q, NDArray::Scalar<std::int16_t>(3)), {ir::Expr(y)});
  const ir::Module module =
      ir::Module::FromExpr(ir::Function::Make({x, y}, ir::Tuple::Make({sum, small_sum})));
  for (const int level : {0, 3}) {
    const auto made = Outcome(module,
                              {{"x", NDArray::FromVector<float>({4}, {10, 20, 30, 40})},
                               {"y", NDArray::FromVector<std::int16_t>({4}, {1, 2, 3, 4})}},
                              {.opt_level = level});
    EXPECT_EQ(made[0].ToVector<float>(), (std::vector<float>{11, 22, 33, 44}));
    EXPECT_EQ(made[1].ToVector<std::int16_t>(), (std::vector<std::int16_t>{4, 5, 6, 7}));
  }
}

TEST(CompileTest, AWideWindowOfChannelsTakesThoseThatAreThere) {
  const auto of = [](const char* channels) {
    return Parsed(StrCat("def @main(%x: Tensor[(1, ", channels,
                         ", 3, 5), float32]) { nn.lrn(%x, size=1000000001) }"));
  };
  const runtime::Inputs inputs = RandomInputs(of("7"), 10);
  ExpectClose(Outcome(of("c"), inputs), Interpreted(of("7"), inputs));
}

}  // namespace
}  // namespace tenon
