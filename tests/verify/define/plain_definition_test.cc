// The plain definitions agree with results that are known by hand, and tell wrong ones from them.
#include "tenon/verify/define/plain_definition.h"

#include <cstdint>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/ops/registry.h"
#include "tenon/passes/infer_type.h"
#include "tenon/passes/precision/widen_half_floats.h"
#include "tenon/strategies/strategy.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/tests/testing/relay_text.h"
#include "tenon/verify/check/check_cached.h"
#include "tenon/verify/check/check_constants.h"
#include "tenon/verify/check/check_refusals.h"
#include "tenon/verify/check/check_sizes.h"
#include "tenon/verify/check/check_teams.h"
#include "tenon/verify/define/definition.h"
#include "tenon/verify/draw/random_operator.h"
#include "tenon/verify/interpret.h"

namespace tenon::verify {
namespace {

using ::testing::Eq;
using ::testing::HasSubstr;
using ::testing::Optional;

// Sums of halves are rounded once, as compiled code rounds them.
std::vector<NDArray> Interpreted(const ir::Module& module, const std::vector<NDArray>& args) {
  return Interpret(passes::WidenHalfFloats(module), args);
}

// What is said of `result` for a module that is one call over its parameters.
std::optional<std::string> SaidOf(const std::string& text, const std::vector<NDArray>& args,
                                  const NDArray& result) {
  const ir::Module module = passes::InferType(Parse(text));
  return DifferenceFromDefinition(*module.Main().body.As<ir::CallNode>(), args, {result});
}

TEST(PlainDefinitionTest, AMeanCountsBeyondItsType) {
  const char* text = "def @main(%x: Tensor[(256), uint8]) { mean(%x) }";
  const NDArray ones = NDArray::FromVector<std::uint8_t>({256}, std::vector<std::uint8_t>(256, 1));
  EXPECT_EQ(SaidOf(text, {ones}, NDArray::Scalar<std::uint8_t>(1)), std::nullopt);
  EXPECT_THAT(SaidOf(text, {ones}, NDArray::Scalar<std::uint8_t>(0)),
              Optional(HasSubstr("is 0; by the definition of mean it is 1")));
}

// Two sums of 0, 1 and 0, 0; a mean of bools is one of them.
TEST(PlainDefinitionTest, TheMeanOfBoolsIsWhetherOneIsTrue) {
  const char* text = "def @main(%x: Tensor[(1, 2, 1, 2), bool]) { nn.global_avg_pool2d(%x) }";
  const NDArray x = NDArray::Zeros({1, 2, 1, 2}, Bool);
  x.data<bool>()[1] = true;
  const NDArray right = NDArray::Zeros({1, 2, 1, 1}, Bool), wrong = right.Clone();
  right.data<bool>()[0] = true;
  EXPECT_EQ(SaidOf(text, {x}, right), std::nullopt);
  EXPECT_NE(SaidOf(text, {x}, wrong), std::nullopt);
}

// Shapes of other numbers of elements, extents of 0 and a -1 that has nothing left.
TEST(PlainDefinitionTest, TheInterpreterAgreesForShapesThatDoNotFit) {
  const ir::Module module = passes::InferType(
      Parse("def @main(%i: Tensor[(2, 2), int64], %b: Tensor[(2), int64], %a: Tensor[(2), int64]) "
            "{ sparse_reshape(%i, %b, %a) }"));
  const auto two = [](std::int64_t a, std::int64_t b) {
    return NDArray::FromVector<std::int64_t>({2}, {a, b});
  };
  const NDArray indices = NDArray::FromVector<std::int64_t>({2, 2}, {3, -5, 7, 2});
  for (const NDArray& before : {two(3, 4), two(0, 5), two(-2, 3)}) {
    for (const NDArray& after : {two(4, 3), two(0, 0), two(-1, 5), two(2, -1), two(-3, -2)}) {
      const std::vector<NDArray> args = {indices, before, after};
      EXPECT_EQ(DifferenceFromDefinition(*module.Main().body.As<ir::CallNode>(), args,
                                         Interpreted(module, args)),
                std::nullopt);
    }
  }
}

TEST(PlainDefinitionTest, AClipTakesTheUpperOfCrossedBounds) {
  const char* text = "def @main(%x: float32) { clip(%x, a_min=2f64, a_max=-1f64) }";
  const NDArray x = NDArray::Scalar<float>(0);
  EXPECT_EQ(SaidOf(text, {x}, NDArray::Scalar<float>(-1)), std::nullopt);
  EXPECT_THAT(SaidOf(text, {x}, NDArray::Scalar<float>(2)), Optional(HasSubstr("it is -1")));
}

TEST(PlainDefinitionTest, AClipOfUInt64EndsWhereItsTypeDoes) {
  const char* text =
      "def @main(%x: uint64) { clip(%x, a_min=0f64, a_max=1.8446744073709552e19f64) }";
  constexpr std::uint64_t kLarge = (std::uint64_t{1} << 63) + 5;
  const NDArray x = NDArray::Scalar(kLarge);
  EXPECT_EQ(SaidOf(text, {x}, x), std::nullopt);
  EXPECT_NE(SaidOf(text, {x}, NDArray::Scalar<std::uint64_t>(kLarge / 2)), std::nullopt);
}

// 1 + 2^-8 + 2^-30 lies above the middle of two neighbours; in float32 it is the middle.
TEST(PlainDefinitionTest, AConversionRoundsOnce) {
  const char* text = "def @main(%x: float64) { cast(%x, dtype=\"bfloat16\") }";
  const NDArray x = NDArray::Scalar(1 + 0x1p-8 + 0x1p-30);
  const NDArray right = NDArray::Empty({}, BFloat16), wrong = right.Clone();
  *static_cast<std::uint16_t*>(right.raw()) = 0x3F81;
  *static_cast<std::uint16_t*>(wrong.raw()) = 0x3F80;
  EXPECT_EQ(SaidOf(text, {x}, right), std::nullopt);
  EXPECT_THAT(SaidOf(text, {x}, wrong), Optional(HasSubstr("it is 1.00781")));
}

TEST(PlainDefinitionTest, IntegersWrapAroundAndDivideDown) {
  const char* product = "def @main(%x: int64) { multiply(%x, %x) }";
  const NDArray x = NDArray::Scalar<std::int64_t>((std::int64_t{1} << 62) + 3);
  EXPECT_EQ(SaidOf(product, {x, x},
                   NDArray::Scalar(static_cast<std::int64_t>((std::uint64_t{6} << 62) + 9))),
            std::nullopt);
  const char* quotient = "def @main(%x: int32, %y: int32) { floor_divide(%x, %y) }";
  const NDArray seven = NDArray::Scalar<std::int32_t>(-7), two = NDArray::Scalar<std::int32_t>(2);
  EXPECT_EQ(SaidOf(quotient, {seven, two}, NDArray::Scalar<std::int32_t>(-4)), std::nullopt);
  EXPECT_NE(SaidOf(quotient, {seven, two}, NDArray::Scalar<std::int32_t>(-3)), std::nullopt);
}

TEST(PlainDefinitionTest, ReducesWhereTheAttributesSay) {
  const char* text = "def @main(%x: Tensor[(2, 3), int32]) { sum(%x, axis=[0], exclude=True) }";
  const NDArray x = NDArray::FromVector<std::int32_t>({2, 3}, {1, 2, 3, 10, 20, 30});
  EXPECT_EQ(SaidOf(text, {x}, NDArray::FromVector<std::int32_t>({2}, {6, 60})), std::nullopt);
  EXPECT_THAT(SaidOf(text, {x}, NDArray::FromVector<std::int32_t>({2}, {6, 61})),
              Optional(HasSubstr("element (1,)")));
}

// Half to even after the zero point is added, or by the attribute.
TEST(PlainDefinitionTest, ARequantisedNumberIsKnownToTheLastBit) {
  const auto text = [](const char* rounding) {
    return StrCat("def @main(%q: Tensor[(2), int8], %s: float32, %z: int8, %t: float32, %y: int8) ",
                  "{ qnn.requantize(%q, %s, %z, %t, %y, rounding=\"", rounding,
                  "\", out_dtype=\"int8\") }");
  };
  const std::vector<NDArray> args = {NDArray::FromVector<std::int8_t>({2}, {5, -3}),
                                     NDArray::Scalar(0.5F), NDArray::Scalar<std::int8_t>(0),
                                     NDArray::Scalar(1.0F), NDArray::Scalar<std::int8_t>(1)};
  const auto made = [](std::int8_t a, std::int8_t b) {
    return NDArray::FromVector<std::int8_t>({2}, {a, b});
  };
  EXPECT_EQ(SaidOf(text("None"), args, made(4, 0)), std::nullopt);
  EXPECT_EQ(SaidOf(text("UPWARD"), args, made(4, 0)), std::nullopt);
  EXPECT_EQ(SaidOf(text("TONEAREST"), args, made(4, -1)), std::nullopt);
  EXPECT_THAT(
      SaidOf(text("None"), args, made(3, 0)),
      Optional(HasSubstr("element (0,) is 3; by the definition of qnn.requantize it is 4")));
}

TEST(PlainDefinitionTest, PaddingOfAQuantisedConvolutionStandsForZero) {
  const char* text =
      "def @main(%x: Tensor[(1, 1, 1, 1), uint8], %w: Tensor[(1, 1, 1, 3), int8], %a: uint8, "
      "%b: int8, %s: float32, %t: float32) {"
      "  qnn.conv2d(%x, %w, %a, %b, %s, %t, padding=[0, 1]) }";
  const std::vector<NDArray> args = {NDArray::FromVector<std::uint8_t>({1, 1, 1, 1}, {7}),
                                     NDArray::FromVector<std::int8_t>({1, 1, 1, 3}, {1, 2, 3}),
                                     NDArray::Scalar<std::uint8_t>(3),
                                     NDArray::Scalar<std::int8_t>(1),
                                     NDArray::Scalar(1.0F),
                                     NDArray::Scalar(1.0F)};
  const auto made = [](std::int32_t a) {
    return NDArray::FromVector<std::int32_t>({1, 1, 1, 1}, {a});
  };
  EXPECT_EQ(SaidOf(text, args, made(4)), std::nullopt);
  EXPECT_THAT(SaidOf(text, args, made(-2)), Optional(HasSubstr("it is 4")));
}

// The second sequence has one step, and keeps its state after it.
TEST(PlainDefinitionTest, ALayerEndsWhereItsSequencesDo) {
  const ir::Module module = passes::InferType(
      Parse("def @main(%g: Tensor[(2, 2, 1), float32], %r: Tensor[(1, 1), float32], "
            "%b: Tensor[(1), float32], %l: Tensor[(2), int64], %h: Tensor[(2, 1), float32]) {"
            "  nn.rnn(%g, %r, %b, %l, %h, activation=\"relu\", reverse=True) }"));
  const auto floats = [](const Shape& shape, const std::vector<float>& values) {
    return NDArray::FromVector<float>(shape, values);
  };
  const std::vector<NDArray> args = {
      floats({2, 2, 1}, {1, 2, 3, 4}), floats({1, 1}, {10}), floats({1}, {1}),
      NDArray::FromVector<std::int64_t>({2}, {9, 1}), floats({2, 1}, {1, 1})};
  const auto said = [&](const std::vector<NDArray>& results) {
    return DifferenceFromDefinition(*module.Main().body.As<ir::CallNode>(), args, results);
  };
  const NDArray last = floats({2, 1}, {142, 13});
  EXPECT_EQ(said({floats({2, 2, 1}, {142, 13, 14, 0}), last}), std::nullopt);
  EXPECT_THAT(said({floats({2, 2, 1}, {142, 13, 14, 17}), last}),
              Optional(HasSubstr("result 0: element (1, 1, 0) is 17")));
}

// Of the entries, one has a column that is not there, and the last is in no row.
TEST(PlainDefinitionTest, EntriesOfNoPlaceInASparseMatrixCountForNothing) {
  const char* text =
      "def @main(%x: Tensor[(1, 2), int32], %v: Tensor[(4), int32], %c: Tensor[(4), int32], "
      "%s: Tensor[(3), int32]) { nn.sparse_dense(%x, %v, %c, %s) }";
  const auto ints = [](const Shape& shape, const std::vector<std::int32_t>& values) {
    return NDArray::FromVector<std::int32_t>(shape, values);
  };
  const std::vector<NDArray> args = {ints({1, 2}, {3, 5}), ints({4}, {1, 10, 100, 1000}),
                                     ints({4}, {0, 2, 1, 1}), ints({3}, {0, 1, 3})};
  EXPECT_EQ(SaidOf(text, args, ints({1, 2}, {3, 500})), std::nullopt);
  EXPECT_NE(SaidOf(text, args, ints({1, 2}, {3, 5500})), std::nullopt);
}

// The second box is the first one with its corners exchanged; the third meets them by a half of its
// union, which is the threshold.
TEST(PlainDefinitionTest, OfEqualBoxesTheFirstIsKept) {
  const char* text =
      "def @main(%x: Tensor[(1, 3, 5), float32], %n: Tensor[(1), int32], %i: Tensor[(1, 3), int32],"
      " %m: int32, %t: float32) {"
      "  vision.non_max_suppression(%x, %n, %i, %m, %t, score_index=0, id_index=-1, coord_start=1,"
      " return_indices=False) }";
  const auto boxes = [](const std::vector<float>& values) {
    return NDArray::FromVector<float>({1, 3, 5}, values);
  };
  const std::vector<float> first = {0.5F, 0, 0, 2, 2}, none(5, -1);
  const auto rows = [&](const std::vector<std::vector<float>>& of) {
    std::vector<float> values;
    for (const auto& row : of) values.insert(values.end(), row.begin(), row.end());
    return boxes(values);
  };
  const std::vector<NDArray> args = {rows({first, {0.5F, 2, 2, 0, 0}, {0.75F, 0, 0, 1, 2}}),
                                     NDArray::FromVector<std::int32_t>({1}, {2}),
                                     NDArray::FromVector<std::int32_t>({1, 3}, {0, 1, 2}),
                                     NDArray::Scalar<std::int32_t>(-1), NDArray::Scalar(0.5F)};
  EXPECT_EQ(SaidOf(text, args, rows({first, none, none})), std::nullopt);
  EXPECT_NE(SaidOf(text, args, rows({{0.5F, 2, 2, 0, 0}, none, none})), std::nullopt);
  std::vector<NDArray> all = args;
  all[1] = NDArray::FromVector<std::int32_t>({1}, {3});
  EXPECT_EQ(SaidOf(text, all, rows({{0.75F, 0, 0, 1, 2}, none, none})), std::nullopt);
}

// Two bins of one row and a half each: both have row 2.
TEST(PlainDefinitionTest, BinsOfARegionShareTheRowsThatTheyCut) {
  const char* text =
      "def @main(%x: Tensor[(1, 1, 4, 1), float32], %r: Tensor[(1, 5), float32]) {"
      "  vision.roi_pool(%x, %r, pooled_size=[2, 1], spatial_scale=1f) }";
  const auto made = [](const Shape& shape, const std::vector<float>& values) {
    return NDArray::FromVector<float>(shape, values);
  };
  const std::vector<NDArray> args = {made({1, 1, 4, 1}, {9, 1, 5, 2}),
                                     made({1, 5}, {7, 0, 1, 0, 3})};
  EXPECT_EQ(SaidOf(text, args, made({1, 1, 2, 1}, {5, 5})), std::nullopt);
  EXPECT_NE(SaidOf(text, args, made({1, 1, 2, 1}, {5, 2})), std::nullopt);
}

TEST(PlainDefinitionTest, AllElementsThatValuesAskForAreThere) {
  const char* text = "def @main(%x: Tensor[(2, 2), int32]) { argwhere(%x) }";
  const auto ints = [](const Shape& shape, const std::vector<std::int32_t>& values) {
    return NDArray::FromVector<std::int32_t>(shape, values);
  };
  const NDArray x = ints({2, 2}, {0, 3, -1, 0});
  EXPECT_EQ(SaidOf(text, {x}, ints({2, 2}, {0, 1, 1, 0})), std::nullopt);
  EXPECT_THAT(SaidOf(text, {x}, ints({1, 2}, {0, 1})), Optional(HasSubstr("there are 4")));
}

// 2.25 and 4.75 between 1 and 6.
TEST(PlainDefinitionTest, AResampledIntegerLosesItsFraction) {
  const char* text = "def @main(%x: Tensor[(1, 1, 2), int32]) { image.resize1d(%x, size=[4]) }";
  const auto ints = [](const Shape& shape, const std::vector<std::int32_t>& values) {
    return NDArray::FromVector<std::int32_t>(shape, values);
  };
  const NDArray x = ints({1, 1, 2}, {1, 6});
  EXPECT_EQ(SaidOf(text, {x}, ints({1, 1, 4}, {1, 2, 4, 6})), std::nullopt);
  EXPECT_NE(SaidOf(text, {x}, ints({1, 1, 4}, {1, 2, 5, 6})), std::nullopt);
}

// The array with its last element replaced by another number.
NDArray WithOtherLast(const NDArray& array) {
  const std::int64_t last = array.size() - 1;
  return ArrayOf(array.shape(), array.dtype(), [&](std::int64_t i) {
    const Number at = ElementAt(array, i);
    const double value =
        static_cast<double>(array.dtype().is_float() ? at.real : static_cast<Real>(at.whole));
    if (i != last) return value;
    return array.dtype().is_bool() ? 1 - value : value > 50 ? value / 2 : value * 2 + 3;
  });
}

// Where rounding may decide, no number is wrong; that must be the exception.
TEST(PlainDefinitionTest, OfMostCallsAWrongElementIsFound) {
  strategies::RegisterStrategies(ops::OpRegistry::Global());
  for (const char* op : {"adv_index",
                         "broadcast_to_extents",
                         "concatenate",
                         "fixed_point_multiply_per_axis",
                         "gather",
                         "gather_nd",
                         "image.crop_and_resize",
                         "image.dilation2d",
                         "image.resize_to_extents",
                         "layout_transform",
                         "matrix_determinant",
                         "matrix_set_diag",
                         "nn.contrib_conv2d_NCHWc",
                         "nn.nll_loss",
                         "nn.pad",
                         "nn.space_to_batch_nd",
                         "reshape",
                         "reshape_to_extents",
                         "scatter_elements",
                         "scatter_nd",
                         "searchsorted",
                         "strided_set",
                         "strided_slice",
                         "take",
                         "vision.all_class_non_max_suppression",
                         "vision.get_valid_counts",
                         "vision.multibox_transform_loc",
                         "vision.non_max_suppression",
                         "vision.proposal",
                         "vision.regular_non_max_suppression",
                         "vision.roi_align",
                         "vision.roi_pool"}) {
    int checked = 0, found = 0;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      Random random(seed);
      std::string refusal;
      const auto call = MakeRandomCall(op, random, &refusal);
      ASSERT_TRUE(call.has_value()) << op << ": " << refusal;
      const std::vector<NDArray>& args = call->graph.values;
      std::vector<NDArray> results = Interpreted(call->module, args);
      if (results[0].size() == 0 || !IsFinite(results[0])) continue;
      const auto& node = *call->module.Main().body.As<ir::CallNode>();
      EXPECT_EQ(DifferenceFromDefinition(node, args, results), std::nullopt);
      results[0] = WithOtherLast(results[0]);
      ++checked;
      found += DifferenceFromDefinition(node, args, results) ? 1 : 0;
    }
    EXPECT_GT(10 * found, 8 * checked) << op << ": " << found << " of " << checked;
  }
}

// Kernels are compared with definitions by `tenon fuzz --op`, which runs for an operator at a time.
TEST(PlainDefinitionTest, TheInterpreterAgreesForEveryOperatorThatHasOne) {
  strategies::RegisterStrategies(ops::OpRegistry::Global());
  int checked = 0;
  for (const std::string& op : ops::OpRegistry::Global().Names()) {
    if (!TakesAnyValues(op)) continue;
    int calls = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      Random random(seed);
      std::string refusal;
      const auto call = MakeRandomCall(op, random, &refusal);
      if (!call) continue;
      const ir::FunctionNode& main = call->module.Main();
      std::vector<NDArray> args = call->graph.values;
      args.resize(main.params.size());
      for (std::size_t i = 0; i < args.size(); ++i) {
        const ir::Type& type = main.params[i].checked_type();
        if (!args[i].defined())
          args[i] = RandomArray(ir::StaticShape(type, "an argument"),
                                type.As<ir::TensorTypeNode>()->dtype, random);
      }
      const auto& node = *main.body.As<ir::CallNode>();
      EXPECT_EQ(DifferenceFromDefinition(node, args, Interpreted(call->module, args)), std::nullopt)
          << call->text;
      ++calls;
    }
    checked += calls > 0 ? 1 : 0;
  }
  EXPECT_GT(checked, 140);
}

// The call's arguments; negative indices name the element before theirs.
std::vector<NDArray> WithNegativeIndicesOffByOne(const std::vector<NDArray>& args) {
  std::vector<NDArray> changed = args;
  changed[1] = ArrayOf(args[1].shape(), args[1].dtype(), [&](std::int64_t i) {
    const auto index = static_cast<double>(ElementAt(args[1], i).whole);
    return index < 0 && index > -100 ? index - 1 : index;
  });
  return changed;
}

// A kernel that makes this error is found by its definition within 50 calls; the interpreter, whose
// expression it shares, says nothing.
TEST(PlainDefinitionTest, AnOffByOneInANegativeIndexIsFoundWithin50Calls) {
  strategies::RegisterStrategies(ops::OpRegistry::Global());
  for (const char* op : {"adv_index", "gather", "gather_nd", "scatter_elements", "scatter_nd"}) {
    int found = 0;
    for (std::uint64_t seed = 1860000000; seed < 1860000050; ++seed) {
      Random random(seed);
      std::string refusal;
      const auto call = MakeRandomCall(op, random, &refusal);
      ASSERT_TRUE(call.has_value()) << op << ": " << refusal;
      const std::vector<NDArray>& args = call->graph.values;
      const std::vector<NDArray> wrong =
          Interpreted(call->module, WithNegativeIndicesOffByOne(args));
      const auto& node = *call->module.Main().body.As<ir::CallNode>();
      found += DifferenceFromDefinition(node, args, wrong) ? 1 : 0;
    }
    EXPECT_GT(found, 5) << op;
  }
}

TEST(PlainDefinitionTest, AnotherShapeIsWrongWhateverItsElements) {
  const char* text = "def @main(%x: Tensor[(2, 3), int32]) { transpose(%x) }";
  const std::vector<std::int32_t> values = {1, 1, 1, 1, 1, 1};
  const NDArray x = NDArray::FromVector<std::int32_t>({2, 3}, values);
  EXPECT_EQ(SaidOf(text, {x}, NDArray::FromVector<std::int32_t>({3, 2}, values)), std::nullopt);
  EXPECT_THAT(SaidOf(text, {x}, x), Optional(HasSubstr("the shape is (2, 3); by the definition of "
                                                       "transpose it is (3, 2)")));
}

TEST(CheckRefusalsTest, WhatTypesRefuseTheCompilerRefuses) {
  Random random(1790000000);
  int compiled = 0;
  EXPECT_THAT(CheckRefusals(400, random, [&](const std::string&) { ++compiled; }),
              Eq(std::nullopt));
  EXPECT_GT(compiled, 100);
}

TEST(CheckConstantTest, ConstantsOfExpressionsCountAsWhatTheyAre) {
  Random random(1844000000);
  for (int i = 0; i < 2000; ++i) EXPECT_EQ(CheckConstant(random), std::nullopt);
}

TEST(CheckSizeTest, ResultsThatNoMemoryHoldsAreRefused) {
  Random random(1844000000);
  int compiled = 0;
  for (int i = 0; i < 60; ++i)
    EXPECT_EQ(CheckSize(random, [&](const std::string&) { ++compiled; }), std::nullopt);
  EXPECT_GT(compiled, 20);
}

TEST(CheckCachedTest, KernelsOfOtherConstantsAreOthers) {
  Random random(1860000000);
  for (int i = 0; i < 60; ++i) EXPECT_EQ(CheckCached(random), std::nullopt);
}

TEST(CheckTeamsTest, LibrariesComputeAllWhateverTheirThreads) {
  Random random(1860000000);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(CheckTeams(random), std::nullopt);
}

}  // namespace
}  // namespace tenon::verify
