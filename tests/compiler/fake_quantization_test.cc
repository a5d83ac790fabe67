// Graphs between dequantize and quantize, compiled in integers, against the same graphs computed in
// floating point by the interpreter: no result is further away than one quantum.
#include <string>

#include "tenon/passes/quantize/canonicalize_qnn.h"
#include "tenon/passes/quantize/fake_quantization_to_integer.h"
#include "tenon/support/strings.h"
#include "tenon/tests/testing/graph_testing.h"
#include "tenon/verify/interpret.h"

namespace tenon {
namespace {

using testing_graphs::Outcome;
using testing_graphs::Parsed;
using testing_graphs::ValueAt;

NDArray Bytes(const Shape& shape, DataType type, int seed) {
  NDArray array = NDArray::Empty(shape, type);
  for (std::int64_t i = 0; i < array.size(); ++i) {
    const auto value = static_cast<std::uint8_t>((i * 97 + seed * 31 + (i % 7) * 251) % 256);
    static_cast<std::uint8_t*>(array.raw())[i] = value;
  }
  return array;
}

struct Case {
  const char* name;
  const char* text;
  bool changes = true;
  friend void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }
};
class FakeQuantizationNumbersTest : public ::testing::TestWithParam<Case> {};

TEST_P(FakeQuantizationNumbersTest, IsWithinAQuantumOfTheFloatingPointForm) {
  const ir::Module module = passes::InferType(Parsed(GetParam().text));
  runtime::Inputs inputs;
  std::vector<NDArray> values;
  for (const ir::Expr& param : module.Main().params) {
    const auto* type = param.checked_type().As<ir::TensorTypeNode>();
    values.push_back(Bytes(ir::StaticShape(param.checked_type(), "an input"), type->dtype,
                           static_cast<int>(values.size())));
    inputs[ir::Var(param).name()] = values.back();
  }
  EXPECT_FALSE(passes::FakeQuantizationToInteger(module) == module);
  const NDArray expected = verify::Interpret(passes::CanonicalizeQnn(module), values).at(0);
  for (const int level : {0, 3}) {
    SCOPED_TRACE(level);
    const NDArray got = Outcome(module, inputs, {.opt_level = level}).at(0);
    ASSERT_EQ(got.shape(), expected.shape());
    ASSERT_EQ(got.dtype().ToString(), expected.dtype().ToString());
    std::int64_t differing = 0;
    for (std::int64_t i = 0; i < got.size(); ++i) {
      const double difference = std::fabs(ValueAt(got, i) - ValueAt(expected, i));
      ASSERT_LE(difference, 1) << "element " << i;
      differing += difference > 0 ? 1 : 0;
    }
    // Only values on the edge between two quanta differ.
    EXPECT_LE(differing, 1 + got.size() / 20);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Graphs, FakeQuantizationNumbersTest,
    ::testing::Values(
        Case{"Convolution",
             "def @main(%x: Tensor[(1, 5, 9, 11), uint8], %w: Tensor[(17, 5, 3, 3), int8]) { "
             "%0 = nn.conv2d(qnn.dequantize(%x, 0.02f, 120), qnn.dequantize(%w, 0.01f, 0), "
             "padding=[1, 1, 1, 1]); qnn.quantize(nn.relu(%0), 0.05f, 3, out_dtype=\"uint8\") }"},
        Case{"ConvolutionClipPool",
             "def @main(%x: Tensor[(2, 4, 10, 10), uint8], %w: Tensor[(16, 4, 1, 1), int8]) { "
             "%0 = clip(nn.conv2d(qnn.dequantize(%x, 0.02f, 7), qnn.dequantize(%w, 0.01f, 0)), "
             "a_min=0f, a_max=6f); %1 = nn.max_pool2d(%0, pool_size=[2, 2], strides=[2, 2]); "
             "qnn.quantize(%1, 0.03f, 0, out_dtype=\"uint8\") }"},
        Case{"DenseThenReshape",
             "def @main(%x: Tensor[(7, 33), int8], %w: Tensor[(15, 33), int8]) { "
             "%0 = nn.dense(qnn.dequantize(%x, 0.02f, -5), qnn.dequantize(%w, 0.01f, 0)); "
             "qnn.quantize(reshape(%0, newshape=[105]), 0.05f, 3, out_dtype=\"int8\") }"},
        Case{"Matmul",
             "def @main(%x: Tensor[(7, 33), uint8], %w: Tensor[(33, 15), uint8]) { "
             "%0 = nn.matmul(qnn.dequantize(%x, 0.02f, 99), qnn.dequantize(%w, 0.01f, 128)); "
             "qnn.quantize(%0, 0.05f, 3, out_dtype=\"uint8\") }"},
        Case{"BatchMatmul",
             "def @main(%x: Tensor[(3, 7, 17), uint8], %w: Tensor[(3, 17, 15), uint8]) { "
             "%0 = nn.batch_matmul(qnn.dequantize(%x, 0.02f, 99), qnn.dequantize(%w, 0.01f, 101)); "
             "qnn.quantize(%0, 0.05f, 3, out_dtype=\"uint8\") }"},
        Case{"AveragePool",
             "def @main(%x: Tensor[(1, 3, 9, 9), uint8]) { %0 = nn.avg_pool2d(qnn.dequantize(%x, "
             "0.02f, 100), pool_size=[3, 3], strides=[2, 2], padding=[1, 1, 1, 1]); "
             "qnn.quantize(%0, 0.013f, 3, out_dtype=\"uint8\") }"},
        Case{"GlobalAveragePool",
             "def @main(%x: Tensor[(1, 7, 15, 15), int8]) { %0 = "
             "nn.global_avg_pool2d(qnn.dequantize(%x, 0.02f, -100)); "
             "qnn.quantize(%0, 0.013f, 3, out_dtype=\"int8\") }"},
        Case{"ResidualSum",
             "def @main(%x: Tensor[(65), uint8], %y: Tensor[(65), uint8]) { "
             "%0 = add(qnn.dequantize(%x, 0.02f, 3), qnn.dequantize(%y, 0.03f, 9)); "
             "qnn.quantize(nn.relu(%0), 0.05f, 1, out_dtype=\"uint8\") }"},
        Case{"Concatenation",
             "def @main(%x: Tensor[(3, 5), uint8], %y: Tensor[(3, 7), uint8]) { "
             "%0 = (qnn.dequantize(%x, 0.02f, 3), qnn.dequantize(%y, 0.03f, 9)); "
             "qnn.quantize(concatenate(%0, axis=1), 0.05f, 1, out_dtype=\"uint8\") }"}),
    [](const auto& info) { return info.param.name; });

// 140,000 products of 127 and 127 are more than int32 holds.
TEST(FakeQuantizationSumTest, DoesNotWrap) {
  const ir::Module module = Parsed(
      "def @main(%x: Tensor[(1, 140000), int8], %w: Tensor[(2, 140000), int8]) { "
      "nn.dense(qnn.dequantize(%x, 0.01f, 0), qnn.dequantize(%w, 0.01f, 0)) }");
  NDArray x = NDArray::Empty({1, 140000}, Int8), w = NDArray::Empty({2, 140000}, Int8);
  std::fill_n(x.data<std::int8_t>(), x.size(), 127);
  std::fill_n(w.data<std::int8_t>(), w.size(), 127);
  for (const int level : {0, 3}) {
    const NDArray got = Outcome(module, {{"x", x}, {"w", w}}, {.opt_level = level}).at(0);
    EXPECT_NEAR(ValueAt(got, 0), 225806, 50) << level;
    EXPECT_NEAR(ValueAt(got, 1), 225806, 50) << level;
  }
}

// Integer means drop up to half a quantum of the result each.
TEST(FakeQuantizationSumTest, OfFourMeansIsWithinAQuantum) {
  const ir::Module module = Parsed(
      "def @main(%x: Tensor[(1, 255, 4), int8], %y: Tensor[(255, 4), int8]) { "
      "%0 = mean(qnn.dequantize(%x, 1f, 0), axis=[1]); "
      "%1 = mean(qnn.dequantize(%y, 1f, 0), axis=[0]); "
      "qnn.quantize(add(add(add(%0, %1), %1), %1), 0.0078125f, 0, out_dtype=\"int16\") }");
  NDArray x = NDArray::Empty({1, 255, 4}, Int8), y = NDArray::Empty({255, 4}, Int8);
  for (NDArray* array : {&x, &y}) {
    std::fill_n(array->data<std::int8_t>(), array->size(), 1);
    std::fill_n(array->data<std::int8_t>(), 4, 0);
  }
  const runtime::Inputs inputs = {{"x", x}, {"y", y}};
  const NDArray reals = Outcome(module, inputs, {.opt_level = 2}).at(0);
  const NDArray integers = Outcome(module, inputs, {.opt_level = 3}).at(0);
  ASSERT_EQ(integers.size(), 4);
  for (std::int64_t i = 0; i < integers.size(); ++i)
    EXPECT_NEAR(ValueAt(integers, i), ValueAt(reals, i), 1) << i;
}

}  // namespace
}  // namespace tenon
