// Branches of the same data are computed by one wide operator.
#include <functional>

#include "tenon/ops/builders.h"
#include "tenon/ops/pass_rules.h"
#include "tenon/ops/registry.h"
#include "tenon/passes/combine/combine_parallel_batch_matmul.h"
#include "tenon/passes/combine/combine_parallel_conv2d.h"
#include "tenon/passes/combine/combine_parallel_dense.h"
#include "tenon/passes/combine/combine_parallel_op_batch.h"
#include "tenon/support/strings.h"
#include "tenon/tests/passes/algebra_testing.h"

namespace tenon::passes {
namespace {

using ir::Module;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

int CountOf(const std::string& text, const std::string& word) {
  int count = 0;
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; ++at) ++count;
  return count;
}

enum class Combine { kConv2D, kDense, kFlatDense, kBatchMatmul };

Module Combined(Combine which, const Module& m, int least = 2) {
  switch (which) {
    case Combine::kConv2D:
      return CombineParallelConv2D(m, least);
    case Combine::kDense:
      return CombineParallelDense(m, least);
    case Combine::kFlatDense:
      return CombineParallelDense(m, least, DenseForm::kFlat);
    case Combine::kBatchMatmul:
      return CombineParallelBatchMatmul(m, least);
  }
  return m;
}

struct CombineCase {
  Combine which;
  PassCase graph;
  friend void PrintTo(const CombineCase& c, std::ostream* out) { *out << c.graph.name; }
};

class CombineParallelChangesTest : public ::testing::TestWithParam<CombineCase> {};

TEST_P(CombineParallelChangesTest, ToOneWideOperator) {
  const Module before = WithConstants(GetParam().graph);
  const Module after = Combined(GetParam().which, before);
  EXPECT_EQ(Body(after), GetParam().graph.expected);
  ExpectSameValues(before, after);
  EXPECT_EQ(InferType(after), after);
}

constexpr char kConv[] =
    "%x: Tensor[(1, 4, 6, 6), float32], %w1: Tensor[(4, 4, 1, 1), float32], "
    "%w2: Tensor[(3, 4, 1, 1), float32]";
constexpr char kDense[] =
    "%x: Tensor[(3, 4), float32], %w1: Tensor[(5, 4), float32], %w2: Tensor[(5, 4), float32]";

INSTANTIATE_TEST_SUITE_P(
    Change, CombineParallelChangesTest,
    ::testing::Values(
        CombineCase{Combine::kConv2D,
                    {"OtherNumbersOfChannels", kConv,
                     "(nn.conv2d(%x, %w1, channels=4), nn.conv2d(%x, %w2))",
                     "%0 = (%w1, %w2);\n%1 = concatenate(%0);\n"
                     "%2 = nn.conv2d(%x, %1, channels=7);\n"
                     "%3 = strided_slice(%2, begin=[0, 0], end=[-1, 4], strides=[1, 1], "
                     "slice_mode=\"size\", axes=None);\n"
                     "%4 = strided_slice(%2, begin=[0, 4], end=[-1, 3], strides=[1, 1], "
                     "slice_mode=\"size\", axes=None);\n(%3, %4)\n"}},
        CombineCase{Combine::kConv2D,
                    {"NHWC",
                     "%x: Tensor[(1, 6, 6, 4), float32], %w1: Tensor[(1, 1, 4, 2), float32], "
                     "%w2: Tensor[(1, 1, 4, 3), float32]",
                     "(nn.conv2d(%x, %w1, data_layout=\"NHWC\", kernel_layout=\"HWIO\"), "
                     "nn.conv2d(%x, %w2, data_layout=\"NHWC\", kernel_layout=\"HWIO\"))",
                     "%0 = (%w1, %w2);\n%1 = concatenate(%0, axis=3);\n"
                     "%2 = nn.conv2d(%x, %1, channels=5, data_layout=\"NHWC\", "
                     "kernel_layout=\"HWIO\");\n"
                     "%3 = strided_slice(%2, begin=[0, 0, 0, 0], end=[-1, -1, -1, 2], "
                     "strides=[1, 1, 1, 1], slice_mode=\"size\", axes=None);\n"
                     "%4 = strided_slice(%2, begin=[0, 0, 0, 2], end=[-1, -1, -1, 3], "
                     "strides=[1, 1, 1, 1], slice_mode=\"size\", axes=None);\n(%3, %4)\n"}},
        // The third has another width.
        CombineCase{Combine::kDense,
                    {"S001_56_AnotherWidthStays",
                     "%x: Tensor[(3, 4), float32], %w1: Tensor[(5, 4), float32], "
                     "%w2: Tensor[(5, 4), float32], %w3: Tensor[(6, 4), float32]",
                     "(nn.dense(%x, %w1, units=None), nn.dense(%x, %w3, units=None), "
                     "nn.dense(%x, %w2, units=None))",
                     "%0 = (%x, %x);\n%1 = (%w1, %w2);\n%2 = stack(%0);\n%3 = stack(%1);\n"
                     "%4 = nn.batch_matmul(%2, %3, transpose_b=True);\n"
                     "%5 = split(%4, indices_or_sections=2);\n%6 = %5.0;\n%7 = %5.1;\n"
                     "%8 = squeeze(%6, axis=[0]);\n%9 = nn.dense(%x, %w3, units=None);\n"
                     "%10 = squeeze(%7, axis=[0]);\n(%8, %9, %10)\n"}},
        // The batch has as many rows as the product has columns: the columns are cut.
        CombineCase{Combine::kFlatDense,
                    {"FlatOfEqualExtents",
                     "%x: Tensor[(5, 4), float32], %w1: Tensor[(2, 4), float32], "
                     "%w2: Tensor[(3, 4), float32]",
                     "(nn.dense(%x, %w1, units=2), nn.dense(%x, %w2, units=None))",
                     "%0 = (%w1, %w2);\n%1 = concatenate(%0);\n%2 = nn.dense(%x, %1, units=5);\n"
                     "%3 = strided_slice(%2, begin=[0, 0], end=[-1, 2], strides=[1, 1], "
                     "slice_mode=\"size\", axes=None);\n"
                     "%4 = strided_slice(%2, begin=[0, 2], end=[-1, 3], strides=[1, 1], "
                     "slice_mode=\"size\", axes=None);\n(%3, %4)\n"}},
        CombineCase{Combine::kBatchMatmul,
                    {"BatchMatmul",
                     "%x: Tensor[(2, 3, 4), float32], %a: Tensor[(2, 5, 4), float32], "
                     "%b: Tensor[(2, 1, 4), float32]",
                     "(nn.batch_matmul(%x, %a, transpose_b=True), "
                     "nn.batch_matmul(%x, %b, transpose_b=True))",
                     "%0 = (%a, %b);\n%1 = concatenate(%0, axis=1);\n"
                     "%2 = nn.batch_matmul(%x, %1, transpose_b=True);\n"
                     "%3 = strided_slice(%2, begin=[0, 0, 0], end=[-1, -1, 5], "
                     "strides=[1, 1, 1], slice_mode=\"size\", axes=None);\n"
                     "%4 = strided_slice(%2, begin=[0, 0, 5], end=[-1, -1, 1], "
                     "strides=[1, 1, 1], slice_mode=\"size\", axes=None);\n(%3, %4)\n"}}),
    [](const auto& info) { return info.param.graph.name; });

std::string Cut(const std::string& value, int begin, int size) {
  return StrCat("strided_slice(", value, ", begin=[0, ", begin, "], end=[-1, ", size,
                "], strides=[1, 1], slice_mode=\"size\", axes=None);\n");
}

constexpr char kConvChain[] =
    "%x: Tensor[(2, 4, 6, 5), float32], %w1: Tensor[(4, 4, 1, 1), float32], "
    "%w2: Tensor[(3, 4, 1, 1), float32], %b1: Tensor[(4, 1, 1), float32], "
    "%b2: Tensor[(3, 1, 1), float32], %v1: Tensor[(4), float32], %v2: Tensor[(3), float32], "
    "%r: Tensor[(6, 5), float32], %q: Tensor[(2, 4, 6, 5), float32], %v5: Tensor[(5), float32]";

// What follows all branches is joined as well.
TEST(CombineParallelChainTest, BiasesAndActivationsOfConvolutions) {
  const Module before = WithConstants(
      kConvChain,
      "(clip(multiply(nn.relu(add(nn.conv2d(%x, %w1), %b1)), 2f), a_min=0f, a_max=1f), "
      "clip(multiply(nn.relu(add(nn.conv2d(%x, %w2), %b2)), 2f), a_min=0f, a_max=1f))");
  const Module after = CombineParallelConv2D(before, 2);
  EXPECT_EQ(Body(after), StrCat("%0 = (%w1, %w2);\n%1 = concatenate(%0);\n%2 = (%b1, %b2);\n"
                                "%3 = nn.conv2d(%x, %1, channels=7);\n%4 = concatenate(%2);\n"
                                "%5 = add(%3, %4);\n%6 = nn.relu(%5);\n"
                                "%7 = multiply(%6, 2f);\n%8 = clip(%7, a_min=0f, a_max=1f);\n%9 = ",
                                Cut("%8", 0, 4), "%10 = ", Cut("%8", 4, 3), "(%9, %10)\n"));
  ExpectSameValues(before, after);
  EXPECT_EQ(InferType(after), after);
}

struct Chain {
  const char* name;
  Combine which;
  const char* params;
  const char* body;
  int calls;  // of the same operators after combining
  const char* op;
};

// Numbers, and how often an operator is left: once where it was joined.
TEST(CombineParallelChainTest, AreJoinedAsFarAsAllBranchesAgree) {
  constexpr char kDenses[] =
      "%x: Tensor[(3, 4), float32], %w1: Tensor[(5, 4), float32], %w2: Tensor[(5, 4), float32], "
      "%v1: Tensor[(5), float32], %v2: Tensor[(5), float32], %m1: Tensor[(3, 5), float32], "
      "%m2: Tensor[(3, 5), float32], %c: Tensor[(3, 1), float32]";
  constexpr char kProducts[] =
      "%x: Tensor[(2, 3, 4), float32], %a: Tensor[(2, 5, 4), float32], "
      "%b: Tensor[(2, 1, 4), float32], %v1: Tensor[(5), float32], %v2: Tensor[(1), float32]";
  const Chain rows[] = {
      {"bias_add", Combine::kConv2D, kConvChain,
       "(nn.bias_add(nn.conv2d(%x, %w1), %v1), nn.bias_add(nn.conv2d(%x, %w2), %v2))", 1,
       "nn.bias_add("},
      {"prelu", Combine::kConv2D, kConvChain,
       "(nn.prelu(nn.conv2d(%x, %w1), %v1), nn.prelu(nn.conv2d(%x, %w2), %v2))", 1, "nn.prelu("},
      {"prelu of another axis", Combine::kConv2D, kConvChain,
       "(nn.prelu(nn.conv2d(%x, %w1), %v5, axis=3), nn.prelu(nn.conv2d(%x, %w2), %v5, axis=3))", 2,
       "nn.prelu("},
      {"a triangle", Combine::kConv2D,
       "%x: Tensor[(1, 6, 5, 4), float32], %w1: Tensor[(1, 1, 4, 2), float32], "
       "%w2: Tensor[(1, 1, 4, 5), float32]",
       "(trilu(nn.conv2d(%x, %w1, data_layout=\"NHWC\", kernel_layout=\"HWIO\"), 0), "
       "trilu(nn.conv2d(%x, %w2, data_layout=\"NHWC\", kernel_layout=\"HWIO\"), 0))",
       2, "trilu("},
      {"a shape", Combine::kConv2D,
       "%x: Tensor[(1, 4, 2, 2), float32], %w1: Tensor[(3, 4, 1, 1), float32], "
       "%w2: Tensor[(3, 4, 1, 1), float32]",
       "(broadcast_to(nn.conv2d(%x, %w1), shape=[1, 3, 2, 2]), "
       "broadcast_to(nn.conv2d(%x, %w2), shape=[1, 3, 2, 2]))",
       2, "broadcast_to("},
      {"values that all channels share", Combine::kConv2D, kConvChain,
       "(add(nn.conv2d(%x, %w1), %r), add(nn.conv2d(%x, %w2), %r))", 1, "add("},
      {"other values that all channels share", Combine::kConv2D, kConvChain,
       "(add(nn.conv2d(%x, %w1), %r), add(nn.conv2d(%x, %w2), exp(%r)))", 2, "add("},
      {"other scalars", Combine::kConv2D, kConvChain,
       "(multiply(nn.conv2d(%x, %w1), 2f), multiply(nn.conv2d(%x, %w2), 3f))", 2, "multiply("},
      {"other attributes", Combine::kConv2D, kConvChain,
       "(clip(nn.conv2d(%x, %w1), a_min=0f, a_max=1f), clip(nn.conv2d(%x, %w2), a_min=0f, "
       "a_max=2f))",
       2, "clip("},
      {"another side", Combine::kConv2D, kConvChain,
       "(subtract(nn.conv2d(%x, %w1), %b1), subtract(%b2, nn.conv2d(%x, %w2)))", 2, "subtract("},
      {"another reader", Combine::kConv2D, kConvChain,
       "%0 = nn.conv2d(%x, %w1); (nn.relu(%0), nn.relu(nn.conv2d(%x, %w2)), %0)", 2, "nn.relu("},
      {"twice the same value", Combine::kConv2D, kConvChain,
       "%0 = nn.conv2d(%x, %w1); %1 = nn.conv2d(%x, %w2); (multiply(%0, %0), multiply(%1, %1))", 2,
       "multiply("},
      {"a branch that reads another one", Combine::kConv2D, kConvChain,
       "%0 = nn.conv2d(%x, %w2); %1 = sum(%0, axis=[1], keepdims=True); "
       "(add(nn.conv2d(%x, %w1), %1), add(nn.conv2d(%x, %w1), %b1))",
       2, " add("},
      {"a value that grows", Combine::kConv2D,
       "%x: Tensor[(1, 4, 1, 1), float32], %w1: Tensor[(2, 4, 1, 1), float32], "
       "%w2: Tensor[(2, 4, 1, 1), float32], %r: Tensor[(3, 5), float32]",
       "(add(nn.conv2d(%x, %w1), %r), add(nn.conv2d(%x, %w2), %r))", 2, " add("},
      {"NHWC", Combine::kConv2D,
       "%x: Tensor[(1, 3, 2, 4), float32], %w1: Tensor[(1, 1, 4, 2), float32], "
       "%w2: Tensor[(1, 1, 4, 5), float32], %v1: Tensor[(2), float32], %v2: Tensor[(5), float32]",
       "(nn.relu(add(nn.conv2d(%x, %w1, data_layout=\"NHWC\", kernel_layout=\"HWIO\"), %v1)), "
       "nn.relu(add(nn.conv2d(%x, %w2, data_layout=\"NHWC\", kernel_layout=\"HWIO\"), %v2)))",
       1, "nn.relu("},
      {"flat dense with biases", Combine::kFlatDense, kDenses,
       "(nn.relu(add(nn.dense(%x, %w1, units=None), %v1)), "
       "nn.relu(add(nn.dense(%x, %w2, units=None), %v2)))",
       1, "nn.relu("},
      {"flat dense with values a row", Combine::kFlatDense, kDenses,
       "(multiply(nn.dense(%x, %w1, units=None), %c), multiply(nn.dense(%x, %w2, units=None), %c))",
       1, "multiply("},
      {"stacked dense with biases", Combine::kDense, kDenses,
       "(nn.relu(add(nn.dense(%x, %w1, units=None), %v1)), "
       "nn.relu(add(nn.dense(%x, %w2, units=None), %v2)))",
       1, "nn.relu("},
      {"stacked dense with bias_add", Combine::kDense, kDenses,
       "(nn.relu(nn.bias_add(nn.dense(%x, %w1, units=None), %v1)), "
       "nn.relu(nn.bias_add(nn.dense(%x, %w2, units=None), %v2)))",
       1, "nn.relu("},
      {"flat dense with prelu", Combine::kFlatDense, kDenses,
       "(nn.prelu(nn.dense(%x, %w1, units=None), %v1), "
       "nn.prelu(nn.dense(%x, %w2, units=None), %v2))",
       1, "nn.prelu("},
      // With as many rows as columns, the axis of rows would fit, too.
      {"stacked dense with prelu", Combine::kDense,
       "%x: Tensor[(5, 4), float32], %w1: Tensor[(5, 4), float32], %w2: Tensor[(5, 4), float32], "
       "%v1: Tensor[(5), float32]",
       "(nn.prelu(nn.dense(%x, %w1, units=None), %v1), "
       "nn.prelu(nn.dense(%x, %w2, units=None), %v1))",
       2, "nn.prelu("},
      {"stacked dense with matrices", Combine::kDense, kDenses,
       "(multiply(%m1, nn.dense(%x, %w1, units=None)), multiply(%m2, nn.dense(%x, %w2, "
       "units=None)))",
       1, "multiply("},
      {"stacked dense with a shared matrix", Combine::kDense, kDenses,
       "(multiply(%m1, nn.dense(%x, %w1, units=None)), multiply(%m1, nn.dense(%x, %w2, "
       "units=None)))",
       1, "multiply("},
      {"products", Combine::kBatchMatmul, kProducts,
       "(sigmoid(multiply(nn.batch_matmul(%x, %a, transpose_b=True), %v1)), "
       "sigmoid(multiply(nn.batch_matmul(%x, %b, transpose_b=True), %v2)))",
       1, "sigmoid("},
  };
  for (const Chain& row : rows) {
    SCOPED_TRACE(row.name);
    const Module before = WithConstants(row.params, row.body);
    const Module after = Combined(row.which, before);
    EXPECT_NE(after, before);
    const std::string text = Body(after);
    int count = 0;
    for (std::size_t at = text.find(row.op); at != std::string::npos;
         at = text.find(row.op, at + 1))
      ++count;
    EXPECT_EQ(count, row.calls) << text;
    ExpectSameValues(before, after);
    EXPECT_EQ(InferType(after), after);
  }
}

// As a plug-in registers them.
TEST(CombineParallelChainTest, OperatorsOfUsersSayThatTheyIgnorePlaces) {
  const auto add = [](const char* name) {
    return ops::OpRegistry::Global()
        .Register(name)
        .Argument("data", "Tensor", "input")
        .Pattern(ops::OpPattern::kElemWise)
        .TypeRelation(ops::Identity, "Identity");
  };
  add("test.twice").Column(ops::IgnoresPlaces());
  add("test.times_place");
  const auto calls_of = [](const std::string& op) {
    const Module before = WithConstants(
        kConvChain, StrCat("(", op, "(nn.conv2d(%x, %w1)), ", op, "(nn.conv2d(%x, %w2)))"));
    return CountOf(Body(CombineParallelConv2D(before, 2)), op);
  };
  EXPECT_EQ(calls_of("test.twice"), 1);
  EXPECT_EQ(calls_of("test.times_place"), 2);
}

TEST(CombineParallelTest, S001_54_S001_55_DenseOfTheExample) {
  const Module before =
      WithConstants(kDense, "(nn.dense(%x, %w1, units=None), nn.dense(%x, %w2, units=None))");
  EXPECT_EQ(Body(before),
            "%0 = nn.dense(%x, %w1, units=None);\n%1 = nn.dense(%x, %w2, units=None);\n"
            "(%0, %1)\n");
  const Module after = CombineParallelDense(before, 2);
  EXPECT_EQ(Body(after),
            "%0 = (%x, %x);\n%1 = (%w1, %w2);\n%2 = stack(%0);\n%3 = stack(%1);\n"
            "%4 = nn.batch_matmul(%2, %3, transpose_b=True);\n"
            "%5 = split(%4, indices_or_sections=2);\n%6 = %5.0;\n%7 = %5.1;\n"
            "%8 = squeeze(%6, axis=[0]);\n%9 = squeeze(%7, axis=[0]);\n(%8, %9)\n");
  for (const char* typed :
       {"stack(%0) /* ty=Tensor[(2, 3, 4), float32] */",
        "stack(%1) /* ty=Tensor[(2, 5, 4), float32] */",
        "transpose_b=True) /* ty=Tensor[(2, 3, 5), float32] */",
        "indices_or_sections=2) /* ty=(Tensor[(1, 3, 5), float32], Tensor[(1, 3, 5), float32]) */",
        "squeeze(%6, axis=[0]) /* ty=Tensor[(3, 5), float32] */",
        "squeeze(%7, axis=[0]) /* ty=Tensor[(3, 5), float32] */",
        "-> (Tensor[(3, 5), float32], Tensor[(3, 5), float32])"})
    EXPECT_THAT(Print(after), HasSubstr(typed));
  ExpectSameValues(before, after);
  // Two branches are fewer than the default minimum of three.
  EXPECT_EQ(CombineParallelDense(before), before);
}

// The builder transposes unless it is told otherwise. The attribute's default is not to, so that
// the text says it. Text without the attribute does not transpose.
TEST(CombineParallelTest, S001_55_TheBuilderOfBatchMatmulTransposesAndTheTextSaysSo) {
  const ir::Var x = ir::Var::Make("x", ir::TensorType({2, 3, 4}, Float32));
  const ir::Var y = ir::Var::Make("y", ir::TensorType({2, 5, 4}, Float32));
  const Module built = InferType(Module::FromExpr(ops::BatchMatmul(x, y)));
  EXPECT_EQ(Body(built), "nn.batch_matmul(%x, %y, transpose_b=True)\n");
  EXPECT_EQ(ir::ToString(built.Main().ret_type), "Tensor[(2, 3, 5), float32]");
  EXPECT_FALSE(ops::BatchMatmulAttrs().transpose_b);
  EXPECT_FALSE(Parse("def @main(%x, %y) { nn.batch_matmul(%x, %y) }")
                   .Main()
                   .body.As<ir::CallNode>()
                   ->attrs.As<ops::BatchMatmulAttrs>()
                   .transpose_b);
}

// The builders' defaults are those of the reference: a pool of one element.
TEST(CombineParallelTest, S001_57_BuildersMakeTheExample) {
  const auto var = [](const char* name, const Shape& shape) {
    return ir::Var::Make(name, ir::TensorType({shape.begin(), shape.end()}, Float32));
  };
  const ir::Var x = var("x", {1, 4, 16, 16}), w1 = var("w1", {4, 4, 1, 1}),
                w2 = var("w2", {4, 4, 1, 1});
  const ir::Module built = InferType(ir::Module().With(
      "main", ir::Function::Make(
                  {x, w1, w2},
                  ir::Tuple::Make({ops::Conv2D(x, w1), ops::Conv2D(x, w2), ops::MaxPool2D(x)}))));
  EXPECT_EQ(Body(built),
            "%0 = nn.conv2d(%x, %w1, padding=[0, 0, 0, 0]);\n"
            "%1 = nn.conv2d(%x, %w2, padding=[0, 0, 0, 0]);\n"
            "%2 = nn.max_pool2d(%x, pool_size=[1, 1], padding=[0, 0, 0, 0]);\n(%0, %1, %2)\n");
}

// Siblings that share an input become one.
TEST(CombineParallelTest, S001_57_S001_58_ConvolutionsOfTheExample) {
  const Module before = WithConstants(
      "%x: Tensor[(1, 4, 16, 16), float32], %w1: Tensor[(4, 4, 1, 1), float32], "
      "%w2: Tensor[(4, 4, 1, 1), float32]",
      "(nn.conv2d(%x, %w1, padding=[0, 0, 0, 0]), nn.conv2d(%x, %w2, padding=[0, 0, 0, 0]), "
      "nn.max_pool2d(%x, pool_size=[1, 1], padding=[0, 0, 0, 0]))");
  EXPECT_EQ(Body(before),
            "%0 = nn.conv2d(%x, %w1, padding=[0, 0, 0, 0]);\n"
            "%1 = nn.conv2d(%x, %w2, padding=[0, 0, 0, 0]);\n"
            "%2 = nn.max_pool2d(%x, pool_size=[1, 1], padding=[0, 0, 0, 0]);\n(%0, %1, %2)\n");
  const Module after = CombineParallelConv2D(before, 2);
  for (const char* typed : {"concatenate(%0) /* ty=Tensor[(8, 4, 1, 1), float32] */",
                            "channels=8) /* ty=Tensor[(1, 8, 16, 16), float32] */",
                            "axes=None) /* ty=Tensor[(1, 4, 16, 16), float32] */"})
    EXPECT_THAT(Print(after), HasSubstr(typed));
  EXPECT_EQ(Body(after),
            "%0 = (%w1, %w2);\n%1 = concatenate(%0);\n"
            "%2 = nn.conv2d(%x, %1, padding=[0, 0, 0, 0], channels=8);\n"
            "%3 = strided_slice(%2, begin=[0, 0], end=[-1, 4], strides=[1, 1], "
            "slice_mode=\"size\", axes=None);\n"
            "%4 = strided_slice(%2, begin=[0, 4], end=[-1, 4], strides=[1, 1], "
            "slice_mode=\"size\", axes=None);\n"
            "%5 = nn.max_pool2d(%x, pool_size=[1, 1], padding=[0, 0, 0, 0]);\n(%3, %4, %5)\n");
  ExpectSameValues(before, after);
}

class CombineParallelLeavesTest : public ::testing::TestWithParam<CombineCase> {};

TEST_P(CombineParallelLeavesTest, TheSameNodes) {
  const Module before = WithConstants(GetParam().graph);
  EXPECT_EQ(Combined(GetParam().which, before), before);
}

INSTANTIATE_TEST_SUITE_P(
    NoChange, CombineParallelLeavesTest,
    ::testing::Values(
        CombineCase{
            Combine::kFlatDense,
            {"DenseWeightsOfOtherTypes",
             "%x: Tensor[(4, 8), uint8], %a: Tensor[(3, 8), int8], %b: Tensor[(3, 8), uint8]",
             "(nn.dense(%x, %a, out_dtype=\"int32\"), nn.dense(%x, %b, out_dtype=\"int32\"))"}},
        CombineCase{
            Combine::kConv2D,
            {"ConvolutionWeightsOfOtherTypes",
             "%x: Tensor[(1, 4, 6, 6), uint8], %a: Tensor[(3, 4, 1, 1), int8], "
             "%b: Tensor[(3, 4, 1, 1), uint8]",
             "(nn.conv2d(%x, %a, out_dtype=\"int32\"), nn.conv2d(%x, %b, out_dtype=\"int32\"))"}},
        CombineCase{
            Combine::kConv2D,
            {"OtherStrides", kConv, "(nn.conv2d(%x, %w1), nn.conv2d(%x, %w2, strides=[2, 2]))"}},
        CombineCase{Combine::kConv2D,
                    {"OtherKernels",
                     "%x: Tensor[(1, 4, 6, 6), float32], %w1: Tensor[(4, 4, 1, 1), float32], "
                     "%w2: Tensor[(4, 4, 2, 2), float32]",
                     "(nn.conv2d(%x, %w1), nn.conv2d(%x, %w2))"}},
        CombineCase{Combine::kConv2D,
                    {"Groups",
                     "%x: Tensor[(1, 4, 6, 6), float32], %w1: Tensor[(4, 1, 1, 1), float32], "
                     "%w2: Tensor[(4, 1, 1, 1), float32]",
                     "(nn.conv2d(%x, %w1, groups=4), nn.conv2d(%x, %w2, groups=4))"}},
        CombineCase{Combine::kConv2D,
                    {"OtherData", kConv, "(nn.conv2d(%x, %w1), nn.conv2d(exp(%x), %w2))"}},
        CombineCase{Combine::kConv2D, {"OneBranch", kConv, "nn.conv2d(%x, %w1)"}},
        CombineCase{Combine::kConv2D,
                    {"AWeightThatNeedsABranch",
                     "%x: Tensor[(4, 4, 1, 1), float32], %w: Tensor[(4, 4, 1, 1), float32]",
                     "%0 = nn.conv2d(%x, %w);\nnn.conv2d(%x, %0)"}},
        CombineCase{Combine::kDense,
                    {"OtherWidths",
                     "%x: Tensor[(3, 4), float32], %w1: Tensor[(5, 4), float32], "
                     "%w2: Tensor[(6, 4), float32]",
                     "(nn.dense(%x, %w1, units=None), nn.dense(%x, %w2, units=None))"}},
        CombineCase{Combine::kBatchMatmul,
                    {"NotTransposed",
                     "%x: Tensor[(2, 3, 4), float32], %a: Tensor[(2, 4, 5), float32], "
                     "%b: Tensor[(2, 4, 5), float32]",
                     "(nn.batch_matmul(%x, %a), nn.batch_matmul(%x, %b))"}},
        CombineCase{Combine::kDense,
                    {"ValuesThatLetsBind", kDense,
                     "let %a = nn.dense(%x, %w1, units=None);\n"
                     "let %b = nn.dense(%x, %w2, units=None);\nadd(%a, %b)"}}),
    [](const auto& info) { return info.param.graph.name; });

TEST(CombineParallelTest, CallsOfAnyOperatorOfTwoAreJoinedByTheOneOfABatch) {
  const Module before = WithConstants(
      "%x: Tensor[(3, 4), float32], %a: Tensor[(3, 4), float32], %b: Tensor[(3, 4), float32]",
      "(nn.relu(power(%x, %a)), nn.relu(power(%x, %b)))");
  const Module after = CombineParallelOpBatch(before, "power", "power", 2);
  EXPECT_THAT(Body(after), AllOf(HasSubstr("stack("), HasSubstr("split(")));
  EXPECT_EQ(CountOf(Body(after), "power("), 1);
  EXPECT_EQ(CountOf(Body(after), "nn.relu("), 1);
  ExpectSameValues(before, after);
  EXPECT_EQ(InferType(after), after);
}

TEST(CombineParallelTest, DenseLayersOfABatchMultiplyByTransposedWeights) {
  // Square weights would fit without a transposition, too.
  const Module before = WithConstants(
      "%x: Tensor[(3, 4), float32], %a: Tensor[(4, 4), float32], %b: Tensor[(4, 4), float32]",
      "(nn.dense(%x, %a), nn.dense(%x, %b))");
  const Module after = CombineParallelOpBatch(before, "nn.dense", "nn.batch_matmul", 2);
  EXPECT_THAT(Body(after), HasSubstr("transpose_b=True"));
  ExpectSameValues(before, after);
}

TEST(CombineParallelTest, TheJoinedCallTakesTheAttributesOfTheBranches) {
  // Square operands would fit without the transposition, too.
  const char* params =
      "%x: Tensor[(4, 4), float32], %a: Tensor[(4, 4), float32], %b: Tensor[(4, 4), float32]";
  const Module before = WithConstants(
      params, "(nn.matmul(%x, %a, transpose_b=True), nn.matmul(%x, %b, transpose_b=True))");
  const Module after = CombineParallelOpBatch(before, "nn.matmul", "nn.batch_matmul", 2);
  EXPECT_EQ(CountOf(Body(after), "nn.batch_matmul("), 1);
  ExpectSameValues(before, after);
  // The joined operator has no field for it.
  const Module lacking =
      WithConstants(params, "(nn.matmul(%x, %a, transpose_b=True), nn.matmul(%x, %b))");
  EXPECT_EQ(CombineParallelOpBatch(before, "nn.matmul", "nn.dense", 2), before);
  EXPECT_EQ(CombineParallelOpBatch(lacking, "nn.matmul", "nn.batch_matmul", 2), lacking);
}

TEST(CombineParallelTest, CallsThatDoNotFitABatchStay) {
  // Stacked vectors would be broadcast along the branches.
  const Module ranks = WithConstants(
      "%x: Tensor[(2, 2), float32], %a: Tensor[(2), float32], %b: Tensor[(2), float32]",
      "(add(%x, %a), add(%x, %b))");
  EXPECT_EQ(CombineParallelOpBatch(ranks, "add", "add", 2), ranks);
  const Module types = WithConstants(
      "%x: Tensor[(3, 4), float32], %a: Tensor[(5, 4), float32], %b: Tensor[(5, 4), float32]",
      "(nn.dense(%x, %a), nn.dense(%x, %b))");
  EXPECT_EQ(CombineParallelOpBatch(types, "nn.dense", "add", 2), types);
}

TEST(CombineParallelTest, OperatorsOfABatchMustTakeTwoTensors) {
  const Module module = WithConstants("%x: Tensor[(2), float32]", "exp(%x)");
  EXPECT_THAT([&] { CombineParallelOpBatch(module, "exp", "exp"); },
              ThrowsMessage<Error>(HasSubstr("exp takes 1 arguments")));
  EXPECT_THAT([&] { CombineParallelOpBatch(module, "nn.dens", "add"); },
              ThrowsMessage<Error>(HasSubstr("nn.dense")));
}

TEST(CombineParallelTest, FewerThanTwoBranchesAreRefused) {
  const Error error =
      ErrorOf([] { CombineParallelConv2D(WithConstants(kConv, "nn.conv2d(%x, %w1)"), 1); });
  EXPECT_EQ(error.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(error.message(), HasSubstr("min_num_branches is 1; it must be at least 2"));
}

}  // namespace
}  // namespace tenon::passes
