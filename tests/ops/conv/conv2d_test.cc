// nn.conv2d: attributes, the checks of its type relation and the shape that it gives.
#include <ostream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/ops/builders.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/tests/ops/result_type.h"

namespace tenon::ops {
namespace {

using ::testing::HasSubstr;

// --- attributes

struct FieldCase {
  const char* row;
  const char* name;
  const char* default_text;
  friend void PrintTo(const FieldCase& t, std::ostream* out) { *out << t.name; }
};
class Conv2DFieldTest : public ::testing::TestWithParam<FieldCase> {};

TEST_P(Conv2DFieldTest, HasItsDefaultAndWords) {
  const attrs::FieldInfo* field = attrs::SchemaOf<Conv2DAttrs>().Find(GetParam().name);
  ASSERT_NE(field, nullptr);
  EXPECT_EQ(attrs::ToText(field->default_value), GetParam().default_text);
  EXPECT_FALSE(field->help.empty());
  EXPECT_FALSE(field->is_required);
}

INSTANTIATE_TEST_SUITE_P(Fields, Conv2DFieldTest,
                         ::testing::Values(FieldCase{"S004_02", "strides", "[1, 1]"},
                                           FieldCase{"S004_03", "padding", "[0, 0]"},
                                           FieldCase{"S004_04", "dilation", "[1, 1]"},
                                           FieldCase{"S004_05", "groups", "1"},
                                           FieldCase{"S004_06", "channels", "None"},
                                           FieldCase{"S004_07", "kernel_size", "None"},
                                           FieldCase{"S004_08", "data_layout", "\"NCHW\""},
                                           FieldCase{"S004_09", "kernel_layout", "\"OIHW\""},
                                           FieldCase{"S004_10", "out_layout", "\"\""},
                                           FieldCase{"S004_12", "out_dtype", "\"\""}),
                         [](const auto& info) {
                           return std::string(info.param.row) + "_" + info.param.name;
                         });

const Conv2DAttrs kUnusual = {.strides = {2, 3},
                              .padding = {1, 2, 3, 4},
                              .dilation = {2, 1},
                              .groups = 2,
                              .channels = 8,
                              .kernel_size = Ints{3, 5},
                              .data_layout = "NHWC",
                              .kernel_layout = "HWIO",
                              .out_layout = "NCHW",
                              .out_dtype = Int32};

TEST(Conv2DAttrsTest, S004_13_ReadBackFromJsonFieldByField) {
  const attrs::Attrs attrs = attrs::Attrs::Make(kUnusual);
  const auto& schema = attrs::SchemaOf<Conv2DAttrs>();
  const attrs::Attrs again = attrs::Attrs::FromJson(schema, attrs.ToJson());
  EXPECT_EQ(again, attrs);
  EXPECT_EQ(again.Hash(), attrs.Hash());
  EXPECT_EQ(again.As<Conv2DAttrs>().padding, (Ints{1, 2, 3, 4}));
}

TEST(Conv2DAttrsTest, S004_13_EveryFieldCountsInEqualityAndHash) {
  const attrs::Attrs standard = attrs::Attrs::Make(Conv2DAttrs{});
  const attrs::Attrs unusual = attrs::Attrs::Make(kUnusual);
  for (const attrs::FieldInfo& field : attrs::SchemaOf<Conv2DAttrs>().fields) {
    const attrs::Attrs one = attrs::Attrs::FromFields(attrs::SchemaOf<Conv2DAttrs>(),
                                                      {{field.name, unusual.Get(field.name)}});
    EXPECT_FALSE(one == standard) << field.name;
    EXPECT_NE(one.Hash(), standard.Hash()) << field.name;
  }
}

// Members that are no fields: copies of the struct and With keep them; text, JSON, equality and
// callers do not see them.
TEST(Conv2DAttrsTest, S004_11_HiddenLayoutsAreNoFields) {
  Conv2DAttrs noted;
  noted.auto_scheduler_rewritten_layout = "OIHW8i16o";
  noted.meta_schedule_original_shape = {64, 64, 3, 3};
  const attrs::Attrs attrs = attrs::Attrs::Make(noted);
  EXPECT_EQ(attrs, attrs::Attrs::Make(Conv2DAttrs{}));
  EXPECT_EQ(attrs.ToText(), "");
  EXPECT_EQ(attrs.ToJson().find("rewritten"), std::string::npos);
  const attrs::Attrs changed = attrs.With("groups", std::int64_t{2});
  const auto& kept = changed.As<Conv2DAttrs>();
  EXPECT_EQ(kept.groups, 2);
  EXPECT_EQ(kept.auto_scheduler_rewritten_layout, "OIHW8i16o");
  EXPECT_EQ(kept.meta_schedule_original_shape, (Ints{64, 64, 3, 3}));
  EXPECT_THAT(ErrorOf([&] { attrs.With("auto_scheduler_rewritten_layout", "x"); }).message(),
              HasSubstr("there is no field auto_scheduler_rewritten_layout"));
}

// Unknown fields and values out of bounds are errors.
TEST(Conv2DAttrsTest, S004_13_WrongFieldsAndValuesAreRefused) {
  const auto& schema = attrs::SchemaOf<Conv2DAttrs>();
  const auto message = [&](const char* json) {
    return ErrorOf([&] { attrs::Attrs::FromJson(schema, json); }).message();
  };
  EXPECT_THAT(message(R"({"stride":[1,1]})"), HasSubstr("there is no field stride"));
  EXPECT_THAT(message(R"({"strides":[0,1]})"),
              HasSubstr("field strides is 0; allowed is at least 1"));
  EXPECT_THAT(message(R"({"padding":[-1]})"),
              HasSubstr("field padding is -1; allowed is at least 0"));
  EXPECT_THAT(message(R"({"dilation":[0]})"), HasSubstr("field dilation is 0"));
  EXPECT_THAT(message(R"({"groups":0})"), HasSubstr("field groups is 0"));
  EXPECT_THAT(message(R"({"groups":[1]})"), HasSubstr("it takes an integer"));
  EXPECT_THAT(message(R"({"channels":0})"), HasSubstr("field channels is 0"));
  EXPECT_THAT(message(R"({"kernel_size":[0,3]})"), HasSubstr("field kernel_size is 0"));
  EXPECT_THAT(message(R"({"data_layout":1})"), HasSubstr("it takes a string"));
}

// One value is all sides, two are top and bottom, left and right.
TEST(Conv2DPaddingTest, S004_33_OneTwoAndFourValuesAreFourSides) {
  using Four = std::array<std::int64_t, 4>;
  EXPECT_EQ(FourPaddings({3}), (Four{3, 3, 3, 3}));
  EXPECT_EQ(FourPaddings({1, 2}), (Four{1, 2, 1, 2}));
  EXPECT_EQ(FourPaddings({1, 2, 3, 4}), (Four{1, 2, 3, 4}));
}

TEST(Conv2DPaddingTest, S004_33_AnyOtherNumberOfValuesIsRefused) {
  for (const Ints& padding : {Ints{}, Ints{1, 2, 3}, Ints{1, 2, 3, 4, 5}})
    EXPECT_THAT(ErrorOf([&] { FourPaddings(padding); }).message(),
                HasSubstr(StrCat("padding has ", padding.size(), " values; it takes one")));
}

// The builder stores two values for pairs and four for padding.
TEST(Conv2DBuilderTest, S004_32_WidensPairsAndPadding) {
  const ir::Var x = ir::Var::Make("x"), w = ir::Var::Make("w");
  const auto text = [](const ir::Expr& e) {
    std::string all = ir::PrintExpr(e);
    return all.substr(all.find("nn.conv2d"));
  };
  EXPECT_EQ(text(Conv2D(x, w)), "nn.conv2d(%x, %w, padding=[0, 0, 0, 0])\n");
  EXPECT_EQ(text(Conv2D(x, w, {.strides = {2}, .padding = {1}, .dilation = {3}})),
            "nn.conv2d(%x, %w, strides=[2, 2], padding=[1, 1, 1, 1], dilation=[3, 3])\n");
  EXPECT_EQ(text(Conv2D(x, w, {.padding = {1, 2}})), "nn.conv2d(%x, %w, padding=[1, 2, 1, 2])\n");
  EXPECT_EQ(text(Conv2D(x, w, {.padding = {1, 2, 3, 4}, .kernel_size = Ints{3}})),
            "nn.conv2d(%x, %w, padding=[1, 2, 3, 4], kernel_size=[3, 3])\n");
}

// The operator of the registry, the two arguments, the attributes, and no type arguments.
TEST(Conv2DBuilderTest, S004_28_MakesACallOfTheRegisteredOperator) {
  const ir::Var x = ir::Var::Make("x"), w = ir::Var::Make("w");
  const ir::Expr expr = Conv2D(x, w, {.groups = 2});
  const auto& call = *expr.As<ir::CallNode>();
  EXPECT_EQ(call.callee, OpRegistry::Global().Get("nn.conv2d"));
  EXPECT_THAT(call.args, ::testing::ElementsAre(x, w));
  EXPECT_EQ(call.attrs.As<Conv2DAttrs>().groups, 2);
  EXPECT_EQ(call.attrs.schema(), OpOf(call)->attrs_schema());
}

// One template serves convolutions and transposed ones of one to three axes: all widen their
// attributes in the same way.
TEST(Conv2DBuilderTest, S004_29_OneTemplateMakesTheCallsOfAllConvolutions) {
  const ir::Var x = ir::Var::Make("x"), w = ir::Var::Make("w");
  const auto check = [&](const char* name, std::size_t axes, auto build, auto attrs) {
    attrs.strides = {2};
    attrs.padding = {1};
    attrs.dilation = {3};
    attrs.kernel_size = Ints{5};
    const ir::Expr expr = build(x, w, attrs);
    const auto& call = *expr.template As<ir::CallNode>();
    EXPECT_EQ(call.op()->name, name);
    EXPECT_THAT(call.args, ::testing::ElementsAre(x, w));
    const auto& made = call.attrs.template As<decltype(attrs)>();
    EXPECT_EQ(made.strides, Ints(axes, 2)) << name;
    EXPECT_EQ(made.padding, Ints(2 * axes, 1)) << name;
    EXPECT_EQ(made.dilation, Ints(axes, 3)) << name;
    EXPECT_EQ(made.kernel_size, Ints(axes, 5)) << name;
  };
  check("nn.conv1d", 1, Conv1D, Conv1DAttrs{});
  check("nn.conv2d", 2, Conv2D, Conv2DAttrs{});
  check("nn.conv3d", 3, Conv3D, Conv3DAttrs{});
  check("nn.conv1d_transpose", 1, Conv1DTranspose, Conv1DTransposeAttrs{});
  check("nn.conv2d_transpose", 2, Conv2DTranspose, Conv2DTransposeAttrs{});
  check("nn.conv3d_transpose", 3, Conv3DTranspose, Conv3DTransposeAttrs{});
}

// --- the type relation

struct Case {
  const char* name;
  const char* data;
  const char* weight;
  const char* attrs;
  const char* result;  // type or words
  friend void PrintTo(const Case& t, std::ostream* out) { *out << t.name; }
};
class Conv2DTypeTest : public ::testing::TestWithParam<Case> {};

TEST_P(Conv2DTypeTest, GivesTheTypeOrRefuses) {
  const Case& c = GetParam();
  EXPECT_EQ(ResultType(StrCat("%x: ", c.data, ", %w", *c.weight == '\0' ? "" : ": ", c.weight),
                       StrCat("nn.conv2d(%x, %w", *c.attrs == '\0' ? "" : ", ", c.attrs, ")")),
            c.result);
}

constexpr char kImage[] = "Tensor[(1, 4, 9, 11), float32]";
constexpr char kWeight[] = "Tensor[(6, 4, 3, 5), float32]";

// (in + padding - dilation * (kernel - 1) - 1) / stride + 1, rounded down.
INSTANTIATE_TEST_SUITE_P(
    Shape, Conv2DTypeTest,
    ::testing::Values(
        Case{"S004_06_S004_07_TakenFromTheWeight", kImage, kWeight, "",
             "Tensor[(1, 6, 7, 7), float32]"},
        Case{"S004_02_Strides", kImage, kWeight, "strides=[2, 3]", "Tensor[(1, 6, 4, 3), float32]"},
        Case{"S004_03_OnePadding", kImage, kWeight, "padding=[1]", "Tensor[(1, 6, 9, 9), float32]"},
        Case{"S004_03_TwoPaddings", kImage, kWeight, "padding=[1, 2]",
             "Tensor[(1, 6, 9, 11), float32]"},
        Case{"S004_03_FourPaddings", kImage, kWeight, "padding=[1, 2, 3, 4]",
             "Tensor[(1, 6, 11, 13), float32]"},
        Case{"S004_04_Dilation", kImage, kWeight, "dilation=[3, 2]",
             "Tensor[(1, 6, 3, 3), float32]"},
        Case{"S004_16_StrideRoundsDown", kImage, kWeight, "strides=[3, 3], padding=[1, 1]",
             "Tensor[(1, 6, 3, 3), float32]"},
        Case{"S004_16_All", kImage, kWeight,
             "strides=[2, 2], padding=[2, 1, 1, 0], dilation=[2, 1]",
             "Tensor[(1, 6, 4, 4), float32]"},
        Case{"KernelAsLargeAsTheImage", kImage, "Tensor[(6, 4, 9, 11), float32]", "",
             "Tensor[(1, 6, 1, 1), float32]"},
        Case{"EmptyBatch", "Tensor[(0, 4, 9, 11), float32]", kWeight, "",
             "Tensor[(0, 6, 7, 7), float32]"},
        Case{"UnknownBatch", "Tensor[(?, 4, 9, 11), float32]", kWeight, "",
             "Tensor[(?, 6, 7, 7), float32]"},
        Case{"SymbolicHeight", "Tensor[(1, 4, h, 11), float32]", kWeight, "",
             "Tensor[(1, 6, h - 2, 7), float32]"}),
    [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Attributes, Conv2DTypeTest,
    ::testing::Values(Case{"S004_05_Groups", kImage, "Tensor[(6, 2, 3, 5), float32]", "groups=2",
                           "Tensor[(1, 6, 7, 7), float32]"},
                      Case{"S004_05_Depthwise", kImage, "Tensor[(4, 1, 3, 5), float32]", "groups=4",
                           "Tensor[(1, 4, 7, 7), float32]"},
                      Case{"S004_06_S004_07_GivenAndEqual", kImage, kWeight,
                           "channels=6, kernel_size=[3, 5]", "Tensor[(1, 6, 7, 7), float32]"},
                      Case{"S004_08_S004_10_NHWC", "Tensor[(1, 9, 11, 4), float32]", kWeight,
                           "data_layout=\"NHWC\"", "Tensor[(1, 7, 7, 6), float32]"},
                      Case{"S004_08_HWCN", "Tensor[(9, 11, 4, 1), float32]", kWeight,
                           "data_layout=\"HWCN\"", "Tensor[(7, 7, 6, 1), float32]"},
                      Case{"S004_09_HWIO", kImage, "Tensor[(3, 5, 4, 6), float32]",
                           "kernel_layout=\"HWIO\"", "Tensor[(1, 6, 7, 7), float32]"},
                      Case{"S004_09_BlockedWeight", kImage, "Tensor[(3, 2, 3, 5, 2, 2), float32]",
                           "kernel_layout=\"OIHW2i2o\"", "Tensor[(1, 6, 7, 7), float32]"},
                      Case{"S004_09_BlockedDataAndWeight", "Tensor[(?, 2, 9, 11, 2), float32]",
                           "Tensor[(3, 2, 3, 5, 2, 2), float32]",
                           "data_layout=\"NCHW2c\", kernel_layout=\"OIHW2o2i\"",
                           "Tensor[(?, 3, 7, 7, 2), float32]"},
                      Case{"S004_09_BlockedWeightIsLearned", kImage, "",
                           "channels=6, kernel_size=[3, 5], kernel_layout=\"OIHW4i3o\", "
                           "out_layout=\"NHWC3c\"",
                           "Tensor[(1, 7, 7, 2, 3), float32]"},
                      Case{"S004_10_OutLayout", kImage, kWeight, "out_layout=\"NHWC\"",
                           "Tensor[(1, 7, 7, 6), float32]"},
                      Case{"S004_12_VoidIsTheTypeOfTheData", "Tensor[(1, 4, 9, 11), int8]",
                           "Tensor[(6, 4, 3, 5), int8]", "", "Tensor[(1, 6, 7, 7), int8]"},
                      Case{"S004_12_Int8IntoInt32", "Tensor[(1, 4, 9, 11), int8]",
                           "Tensor[(6, 4, 3, 5), int8]", "out_dtype=\"int32\"",
                           "Tensor[(1, 6, 7, 7), int32]"},
                      // The weight's type follows.
                      Case{"S004_14_WeightIsLearned", kImage, "", "channels=6, kernel_size=[3, 5]",
                           "Tensor[(1, 6, 7, 7), float32]"},
                      Case{"S004_14_WeightIsLearnedInItsLayout", kImage, "",
                           "groups=2, channels=6, kernel_size=[3, 5], kernel_layout=\"HWIO\"",
                           "Tensor[(1, 6, 7, 7), float32]"},
                      Case{"S004_14_NotWithoutChannels", kImage, "", "kernel_size=[3, 5]",
                           "the type of the variable %w cannot be inferred; annotate it"},
                      Case{"S004_14_UnknownPartsOfTheWeightAreFilled", kImage,
                           "Tensor[(?, 4, ?, 5), float32]", "channels=6, kernel_size=[3, 5]",
                           "Tensor[(1, 6, 7, 7), float32]"}),
    [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Checks, Conv2DTypeTest,
    ::testing::Values(
        Case{"S004_15_DataLayout", kImage, kWeight, "data_layout=\"NCHX\"",
             "nn.conv2d: data_layout is \"NCHX\"; it must be an order of NCHW"},
        Case{"S004_15_KernelLayout", kImage, kWeight, "kernel_layout=\"OIHX\"",
             "nn.conv2d: kernel_layout is \"OIHX\"; it must be an order of OIHW"},
        Case{"BlocksOfAnotherAxis", kImage, kWeight, "kernel_layout=\"OIHX16x\"",
             "nn.conv2d: kernel_layout is \"OIHX\"; it must be an order of OIHW"},
        Case{"RankOfABlockedWeight", kImage, kWeight, "kernel_layout=\"OIHW16o\"",
             "nn.conv2d: the weight must have rank 5, as kernel_layout is OIHW16o"},
        Case{"BlockSizeOfTheWeight", kImage, "Tensor[(2, 4, 3, 5, 3), float32]",
             "kernel_layout=\"OIHW16o\"",
             "nn.conv2d: dimension 4 of the weight is 3, and kernel_layout OIHW16o says blocks of "
             "16"},
        Case{"BlockedExtentBeyond64Bits", "Tensor[(1, 4611686018427387904, 1, 1, 8), float32]",
             kWeight, "data_layout=\"NCHW8c\"", "nn.conv2d: the extent of C does not fit 64 bits"},
        Case{"BlocksOfTheResult", kImage, kWeight, "out_layout=\"NCHW4c\"",
             "nn.conv2d: out_layout is NCHW4c, and the extents of Tensor[(1, 6, 7, 7), float32] "
             "(NCHW) are no whole blocks"},
        Case{"BlockedInputChannels", "Tensor[(1, 2, 9, 11, 3), float32]", kWeight,
             "data_layout=\"NCHW3c\"",
             "nn.conv2d: the data has 6 channels, which in 1 group makes 6 each; the weight takes "
             "4"},
        Case{"S004_15_OutLayout", kImage, kWeight, "out_layout=\"NC\"",
             "nn.conv2d: out_layout is \"NC\"; it must be an order of NCHW"},
        Case{"S004_15_Channels", kImage, kWeight, "channels=5",
             "nn.conv2d: channels is 5 and the weight has 6 output channels"},
        Case{"S004_15_KernelSize", kImage, kWeight, "kernel_size=[5, 3]",
             "nn.conv2d: kernel_size is [5, 3] and the weight has 3 x 5 taps"},
        Case{"S004_15_InputChannelsByGroups", kImage, kWeight, "groups=3",
             "nn.conv2d: the 4 input channels cannot be divided into 3 groups"},
        Case{"S004_15_OutputChannelsByGroups", kImage, "Tensor[(6, 1, 3, 5), float32]", "groups=4",
             "nn.conv2d: the 6 output channels cannot be divided into 4 groups"},
        Case{"S004_15_InputChannels", "Tensor[(1, 3, 9, 11), float32]", kWeight, "",
             "nn.conv2d: the data has 3 channels, which in 1 group makes 3 each; the weight takes "
             "4"},
        Case{"S004_15_InputChannelsOfAGroup", kImage, kWeight, "groups=2",
             "nn.conv2d: the data has 4 channels, which in 2 groups makes 2 each; the weight takes "
             "4"},
        Case{"ElementTypes", kImage, "Tensor[(6, 4, 3, 5), float64]", "",
             "nn.conv2d: the data is float32 and the weight float64"},
        Case{"RankOfTheData", "Tensor[(4, 9, 11), float32]", kWeight, "",
             "nn.conv2d: the data must have rank 4"},
        Case{"RankOfTheWeight", kImage, "Tensor[(6, 4, 3), float32]", "",
             "nn.conv2d: the weight must have rank 4"},
        Case{"KernelBeyondThePaddedImage", kImage, "Tensor[(6, 4, 12, 5), float32]",
             "padding=[1, 0]",
             "nn.conv2d: the kernel spans 12 elements of height and the padded data has 11"},
        Case{"DilatedKernelBeyondTheImage", kImage, kWeight, "dilation=[1, 3]",
             "nn.conv2d: the kernel spans 13 elements of width and the padded data has 11"},
        Case{"S004_33_ThreePaddings", kImage, kWeight, "padding=[1, 2, 3]",
             "nn.conv2d: padding has 3 values; it takes one (all sides), two (top and bottom, left "
             "and right) or four (top, left, bottom, right)"},
        Case{"ThreeStrides", kImage, kWeight, "strides=[1, 1, 1]",
             "nn.conv2d: strides has 3 values; it takes two, height and width"},
        Case{"ThreeDilations", kImage, kWeight, "dilation=[1, 1, 1]",
             "nn.conv2d: dilation has 3 values; it takes two, height and width"},
        Case{"ThreeKernelSizes", kImage, kWeight, "kernel_size=[3, 5, 1]",
             "nn.conv2d: kernel_size has 3 values; it takes two, height and width"}),
    [](const auto& info) { return info.param.name; });

TEST(Conv2DTypeTest, S004_14_TheLearnedWeightHasTheKernelLayout) {
  const ir::Module module = passes::InferType(
      Parse(StrCat("def @main(%x: ", kImage,
                   ", %w) { nn.conv2d(%x, %w, groups=2, channels=6, kernel_size=[3, 5], "
                   "kernel_layout=\"HWIO\") }")));
  EXPECT_EQ(ir::ToString(module.Main().params[1].checked_type()), "Tensor[(3, 5, 2, 6), float32]");
}

// The data's type is known only after the relation has been asked for the first time.
TEST(Conv2DTypeTest, S004_14_IsAskedAgainWhenTheDataIsKnown) {
  const ir::Module module = passes::InferType(Parse(
      "def @main(%x, %w) -> (Tensor[(1, 6, 7, 7), float32], Tensor[(1, 4, 9, 11), float32]) {\n"
      "  (nn.conv2d(%x, %w, channels=6, kernel_size=[3, 5]), nn.relu(%x)) }"));
  EXPECT_EQ(ir::ToString(module.Main().params[0].checked_type()), kImage);
  EXPECT_EQ(ir::ToString(module.Main().params[1].checked_type()), kWeight);
}

TEST(Conv2DTypeTest, PaddingBeyond64BitsIsRefused) {
  EXPECT_THAT(ResultType(StrCat("%x: ", kImage, ", %w: ", kWeight),
                         "nn.conv2d(%x, %w, padding=[9223372036854775807, 0])"),
              HasSubstr("nn.conv2d: "));
}

TEST(Conv2DTypeTest, S004_19_OtherThanTwoArgumentsAreRefused) {
  const ir::Var x = ir::Var::Make("x", ir::TensorType({1, 4, 9, 11}, Float32));
  for (const std::size_t count : {1U, 3U}) {
    const ir::Expr call = CallOp("nn.conv2d", std::vector<ir::Expr>(count, x));
    EXPECT_EQ(ErrorOf([&] { passes::InferType(ir::Module::FromExpr(call)); }).message(),
              StrCat("nn.conv2d takes 2 arguments, not ", count));
  }
}

}  // namespace
}  // namespace tenon::ops
