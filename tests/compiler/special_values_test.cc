// NaN, infinities, zeros and numbers near the ends of float32 go through every level and every pass
// of algebra as they go through the operators one by one (docs/numerics.md). Denormal numbers go
// through all levels alike.
#include <cmath>
#include <limits>

#include "tenon/compiler/compile.h"
#include "tenon/ir/structural.h"
#include "tenon/passes/pass_registry.h"
#include "tenon/strategies/lower_function.h"
#include "tenon/support/strings.h"
#include "tenon/tests/testing/graph_testing.h"

namespace tenon {
namespace {

using testing_graphs::Outcome;
using testing_graphs::ValueAt;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr double kMinNormal = std::numeric_limits<float>::min();
constexpr std::size_t kCount = 16;
constexpr float kSpecial[kCount] = {kNaN, kInf, -kInf, 0,      -0.0F,  1, -1,  0.5F,
                                    -2,   2.5F, 3e38F, -3e38F, 1e-30F, 7, 300, -100};
constexpr float kSmall[kCount] = {3e-39F, -3e-39F, 1e-45F, -1e-45F, 1.1e-38F, -1.1e-38F,
                                  0,      -0.0F,   2e-38F, -2e-38F, 1e-40F,   5e-39F,
                                  1,      -1,      kInf,   kNaN};

// Each value is an element of each row of y, and a row of x: each meets each.
runtime::Inputs InputsOf(const float (&values)[kCount]) {
  const NDArray x = NDArray::Zeros({kCount, kCount}, Float32);
  const NDArray y = NDArray::Zeros({kCount, kCount}, Float32);
  for (std::size_t i = 0; i < kCount * kCount; ++i) {
    x.data<float>()[i] = values[i / kCount];
    y.data<float>()[i] = values[i % kCount];
  }
  return {{"x", x}, {"y", y}};
}

// Whatever rounds to a denormal number may be zero.
bool IsSame(double got, double expected) {
  if (std::isnan(got) || std::isnan(expected)) return std::isnan(got) && std::isnan(expected);
  if (std::isinf(got) || std::isinf(expected)) return got == expected;
  return std::abs(got - expected) <= 1e-5 * std::abs(expected) + kMinNormal;
}

void ExpectSame(const std::vector<NDArray>& got, const std::vector<NDArray>& expected,
                const std::string& what) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  for (std::size_t r = 0; r < got.size(); ++r) {
    ASSERT_EQ(got[r].shape(), expected[r].shape()) << what;
    for (std::int64_t i = 0; i < got[r].size(); ++i) {
      const double a = ValueAt(got[r], i), b = ValueAt(expected[r], i);
      ASSERT_TRUE(IsSame(a, b)) << what << ": element " << i << " of result " << r << " is " << a
                                << " instead of " << b;
    }
  }
}

class SpecialValuesTest : public testing::TestWithParam<const char*> {
 protected:
  const ir::Module module_ = passes::InferType(testing_graphs::Parsed(
      StrCat("def @main(%x: Tensor[(16, 16), float32], %y: Tensor[(16, 16), float32]) {\n",
             GetParam(), "\n}")));
};

TEST_P(SpecialValuesTest, GoThroughLevelsAndPassesAsThroughOperators) {
  const runtime::Inputs inputs = InputsOf(kSpecial);
  // Quantised operators have no compute of their own.
  const std::vector<NDArray> expected = StrCat(GetParam()).starts_with("qnn.")
                                            ? Outcome(module_, inputs, {.opt_level = 0})
                                            : testing_graphs::Interpreted(module_, inputs);
  for (const int level : {0, 4})
    ExpectSame(Outcome(module_, inputs, {.opt_level = level}), expected, StrCat("level ", level));
  ExpectSame(Outcome(module_, inputs, {.library = LibraryChoice::kTe}), expected, "no library");
  for (const char* pass : {"FastMath", "DivToMul", "FoldScaleAxis", "SimplifyExpr", "FoldAffine",
                           "CombineParallelDense", "ConvertLayout", "AlterOpLayout", "Legalize",
                           "FoldExplicitPadding", "DropPaddedTaps"}) {
    const passes::Pipeline pipeline = passes::ParsePipeline(
        StrCat("InferType,SimplifyInference,InferType,FoldConstant,", pass, ",InferType"),
        {.evaluate = strategies::EvaluateCall});
    const ir::Module after = passes::RunPasses(pipeline, module_, {.opt_level = 3});
    if (!ir::StructuralEqual(after, module_))
      ExpectSame(Outcome(after, inputs, {.opt_level = 0}), expected, pass);
  }
}

TEST_P(SpecialValuesTest, DenormalNumbersGoThroughAllLevelsAlike) {
  const runtime::Inputs inputs = InputsOf(kSmall);
  const std::vector<NDArray> expected = Outcome(module_, inputs, {.opt_level = 0});
  ExpectSame(Outcome(module_, inputs, {.opt_level = 4}), expected, "level 4");
}

constexpr const char* kBodies[] = {
    "add(%x, %y)",
    "subtract(%x, %x)",
    "multiply(%x, 0f)",
    "divide(%x, %x)",
    "divide(%x, %y)",
    "power(%x, %y)",
    "power(%x, 2f)",
    "power(%x, 3f)",
    "power(%x, 0.5f)",
    "power(%x, 0f)",
    "equal(%x, %x)",
    "logical_not(less(%x, %y))",
    "logical_not(less_equal(%x, %y))",
    "where(less(%x, %y), %x, %y)",
    "where(greater(%x, %y), %x, %y)",
    "where(less_equal(%x, %y), %y, %x)",
    "where(isnan(%x), %y, %x)",
    "isfinite(%x)",
    "maximum(minimum(%x, %y), %x)",
    "minimum(maximum(%x, 0f), 6f)",
    "clip(clip(%x, a_min=0f64, a_max=6f64), a_min=-1f64, a_max=3f64)",
    "clip(clip(%x, a_min=0f64, a_max=1f64), a_min=2f64, a_max=3f64)",
    "clip(%x, a_min=3f64, a_max=-3f64)",
    "nn.relu(negative(nn.relu(%x)))",
    "nn.leaky_relu(%x, alpha=0.1f64)",
    "sigmoid(%x)",
    "tanh(%x)",
    "erf(%x)",
    "exp(%x)",
    "log(%x)",
    "rsqrt(%x)",
    "divide(%y, sqrt(%x))",
    "add(subtract(%x, 1f), 3f)",
    "multiply(subtract(exp(%x), 1f), divide(1f, 0f))",
    "multiply(add(%x, divide(1f, 0f)), -2f)",
    "add(multiply(nn.dense(%x, full(0.5f, shape=[3, 16], dtype=\"float32\")), divide(1f, 0f)), 1f)",
    "multiply(add(%x, 1f), 0.5f)",
    "abs(%x)",
    "sign(%x)",
    "floor(%x)",
    "round(%x)",
    "mod(%x, %y)",
    "atan(%x)",
    "asin(%x)",
    "cosh(%x)",
    "asinh(%x)",
    "log2(%x)",
    "nn.softmax(%y)",
    "nn.log_softmax(%y)",
    "nn.fast_softmax(%y)",
    "fast_exp(%x)",
    "fast_tanh(%x)",
    "fast_erf(%x)",
    "sum(%y, axis=[1])",
    "mean(%y, axis=[0])",
    "max(%y, axis=[1])",
    "min(%x, axis=[0])",
    "prod(%y, axis=[1])",
    "argmax(%y, axis=[1])",
    "argmin(negative(%y), axis=[1])",
    R"(any(cast(%y, dtype="bool"), axis=[1]))",
    "cumsum(%y, axis=1)",
    "topk(%y, k=5)",
    "sort(%y)",
    R"(cast(%x, dtype="uint8"))",
    R"(cast(%x, dtype="int64"))",
    R"(cast(cast(%x, dtype="float64"), dtype="int32"))",
    R"(cast(cast(%x, dtype="float64"), dtype="bool"))",
    R"(cast(cast(clip(%x, a_min=0f64, a_max=200f64), dtype="int32"), dtype="uint8"))",
    R"(cast(cast(%x, dtype="int32"), dtype="uint8"))",
    R"(cast(cast(%x, dtype="bfloat16"), dtype="int8"))",
    R"(cast(cast(%x, dtype="float16"), dtype="float32"))",
    "divide(%x, 3f)",
    "divide(%x, 0f)",
    "divide(%x, 1e38f)",
    R"(nn.prelu(%x, full(0.25f, shape=[16], dtype="float32")))",
    "nn.dense(%x, %y)",
    R"(nn.relu(nn.dense(%y, full(0.5f, shape=[3, 16], dtype="float32"))))",
    R"(nn.dense(nn.relu(multiply(add(%y, 1f), 0.5f)),
                full(0.5f, shape=[3, 16], dtype="float32")))",
    R"(nn.relu(add(multiply(nn.dense(%x, full(0.5f, shape=[3, 16], dtype="float32")),
        full(2f, shape=[3], dtype="float32")), full(-1f, shape=[3], dtype="float32"))))",
    R"(%w = full(0.5f, shape=[3, 16], dtype="float32"); (nn.dense(%x, %w),
        nn.relu(nn.dense(%x, negative(%w))), nn.dense(%x, add(%w, %w))))",
    R"(nn.max_pool2d(nn.pad(reshape(%y, newshape=[1, 1, 16, 16]), -1f, pad_width=[[0, 0],
        [0, 0], [1, 1], [1, 1]]), pool_size=[3, 3]))",
    R"(nn.avg_pool2d(nn.pad(reshape(%x, newshape=[1, 1, 16, 16]), 0f, pad_width=[[0, 0], [0,
        0], [1, 1], [1, 1]]), pool_size=[3, 3], count_include_pad=True))",
    "nn.avg_pool2d(reshape(%x, newshape=[1, 1, 16, 16]), pool_size=[3, 3], padding=[1, 1])",
    R"(nn.conv2d(reshape(%x, newshape=[1, 1, 16, 16]), full(0.5f, shape=[2, 1, 3, 3],
        dtype="float32"), padding=[1, 1]))",
    R"(multiply(add(nn.conv2d(nn.relu(multiply(reshape(%x, newshape=[1, 1, 16, 16]), 2f)),
        full(0.5f, shape=[2, 1, 1, 1], dtype="float32")), 1f), -3f))",
    R"(nn.conv2d(nn.pad(reshape(%x, newshape=[1, 1, 16, 16]), 0f, pad_width=[[0, 0], [0, 0],
        [1, 1], [1, 1]]), full(0.5f, shape=[2, 1, 3, 3], dtype="float32")))",
    R"(nn.batch_norm(reshape(%x, newshape=[16, 16, 1, 1]), ones(shape=[16],
        dtype="float32"), zeros(shape=[16], dtype="float32"), zeros(shape=[16],
        dtype="float32"), ones(shape=[16], dtype="float32")).0)",
    R"(nn.layer_norm(%x, ones(shape=[16], dtype="float32"), zeros(shape=[16], dtype="float32")))",
    R"(nn.instance_norm(reshape(%x, newshape=[1, 4, 64]), ones(shape=[4], dtype="float32"),
        zeros(shape=[4], dtype="float32")))",
    R"(qnn.quantize(%x, 0.5f, 3, out_dtype="int8"))",
    R"(qnn.dequantize(qnn.quantize(%x, 0.5f, 3, out_dtype="uint8"), 0.5f, 3))",
    R"(qnn.quantize(nn.relu(qnn.dequantize(qnn.quantize(%x, 0.5f, 3, out_dtype="int8"),
        0.5f, 3)), 0.5f, 3, out_dtype="int8"))",
};
INSTANTIATE_TEST_SUITE_P(Bodies, SpecialValuesTest, testing::ValuesIn(kBodies));

}  // namespace
}  // namespace tenon
