// MatMulInteger with zero points of rows and columns, against sums of integers.
#include "tenon/tests/onnx/written_model.h"

namespace tenon::onnx_import {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kRows = 3, kDepth = 5, kColumns = 4;

// Numbers at both ends of a byte, and between.
std::vector<std::uint8_t> Bytes(std::int64_t count, int seed) {
  std::vector<std::uint8_t> bytes;
  for (std::int64_t i = 0; i < count; ++i)
    bytes.push_back(i % 7 == 0 ? 255 : static_cast<std::uint8_t>(i * 37 + seed));
  return bytes;
}

Model Product(const Shape& a, const Shape& b, const Shape& a_zero, const Shape& b_zero) {
  Model model;
  model.Input("a", a, TensorProto::UINT8).Input("b", b, TensorProto::UINT8);
  model.Input("za", a_zero, TensorProto::UINT8).Input("zb", b_zero, TensorProto::UINT8);
  model.Output("y").Node("MatMulInteger", {"a", "b", "za", "zb"}, {"y"}, "product");
  return model;
}

struct ZeroPoints {
  const char* name;
  Shape batch, a, b;
};
class MatMulIntegerTest : public ::testing::TestWithParam<ZeroPoints> {};

TEST_P(MatMulIntegerTest, SubtractsTheZeroPointsOfRowsAndColumns) {
  const ZeroPoints& c = GetParam();
  Shape a = c.batch, b = c.batch;
  a.insert(a.end(), {kRows, kDepth});
  b.insert(b.end(), {kDepth, kColumns});
  const std::int64_t batches = NumElements(c.batch);
  const auto av = Bytes(batches * kRows * kDepth, 3), bv = Bytes(batches * kDepth * kColumns, 91);
  const auto za = Bytes(NumElements(c.a), 11), zb = Bytes(NumElements(c.b), 200);
  std::vector<std::int32_t> expected;
  for (std::int64_t n = 0; n < batches; ++n) {
    for (std::int64_t i = 0; i < kRows; ++i) {
      for (std::int64_t j = 0; j < kColumns; ++j) {
        const auto row = static_cast<std::size_t>(n * kRows + i);
        const int zero_a = za[za.size() == 1 ? 0 : row % za.size()];
        const int zero_b = zb[zb.size() == 1 ? 0 : static_cast<std::size_t>(j)];
        std::int32_t sum = 0;
        for (std::int64_t k = 0; k < kDepth; ++k)
          sum += (av[row * kDepth + static_cast<std::size_t>(k)] - zero_a) *
                 (bv[static_cast<std::size_t>((n * kDepth + k) * kColumns + j)] - zero_b);
        expected.push_back(sum);
      }
    }
  }
  const auto given = [](const Shape& shape, const std::vector<std::uint8_t>& values) {
    return NDArray::FromVector(shape, values);
  };
  const NDArray y = Computed(Product(a, b, c.a, c.b), {{"a", given(a, av)},
                                                       {"b", given(b, bv)},
                                                       {"za", given(c.a, za)},
                                                       {"zb", given(c.b, zb)}})[0];
  EXPECT_EQ(y.ToVector<std::int32_t>(), expected);
}
INSTANTIATE_TEST_SUITE_P(Places, MatMulIntegerTest,
                         ::testing::Values(ZeroPoints{"OfAll", {}, {}, {}},
                                           ZeroPoints{"OfRows", {}, {kRows}, {}},
                                           ZeroPoints{"OfRowsAndColumns", {}, {kRows}, {kColumns}},
                                           ZeroPoints{"OfRowsAsAColumn", {}, {kRows, 1}, {1}},
                                           ZeroPoints{"OfRowsOfABatch", {2}, {2, kRows, 1}, {}}),
                         [](const auto& info) { return info.param.name; });

TEST(MatMulIntegerRefusalTest, ZeroPointsOfRowsAreForMatrices) {
  EXPECT_THAT(MessageOf(Imported(Product({kDepth}, {kDepth, kColumns}, {kRows}, {})),
                        absl::StatusCode::kUnimplemented),
              HasSubstr("a zero point for each row is supported where both operands are matrices"));
}

// --- convolutions along one axis

// With the extents and attributes of one spatial axis, or of two of which the first has one
// element.
Model ConvOfBytes(bool is_line, const char* type) {
  const auto extents = [&](Shape shape) {
    if (!is_line) shape.insert(shape.end() - 1, 1);
    return shape;
  };
  const auto along = [&](std::int64_t first, std::int64_t value) {
    return is_line ? Ints{value} : Ints{first, value};
  };
  Model model;
  const Shape x = extents({2, 4, 9}), w = extents({6, 2, 3});
  model.Input("x", x, TensorProto::UINT8).Output("y");
  model.Constant("w", NDArray::FromVector(w, Bytes(NumElements(w), 5)));
  model.Constant("xz", NDArray::Scalar<std::uint8_t>(7));
  model.Constant("wz", NDArray::FromVector({6}, Bytes(6, 40)));
  model.Constant("s", NDArray::Scalar(0.01F));
  Names inputs = {"x", "w", "xz", "wz"};
  if (std::string(type) == "QLinearConv") {
    inputs = {"x", "s", "xz", "w", "s", "wz", "s", "xz", "bias"};
    model.Initializer("bias", NDArray::FromVector<std::int32_t>({6}, {100, -3000, 5, 0, 70000, 1}));
  }
  NodeProto& node = model.Node(type, inputs, {"y"}, "conv");
  SetInt(node, "group", 2);
  SetInts(node, "strides", along(1, 2));
  SetInts(node, "dilations", along(1, 2));
  SetInts(node, "pads", is_line ? Ints{3, 1} : Ints{0, 3, 0, 1});
  return model;
}

TEST(IntegerConvTest, AConvolutionOfALineIsThatOfAnImageOfOneRow) {
  const std::vector<std::uint8_t> x = Bytes(2 * 4 * 9, 17);
  for (const char* type : {"ConvInteger", "QLinearConv"}) {
    const NDArray line =
        Computed(ConvOfBytes(true, type), {{"x", NDArray::FromVector({2, 4, 9}, x)}})[0];
    const NDArray row =
        Computed(ConvOfBytes(false, type), {{"x", NDArray::FromVector({2, 4, 1, 9}, x)}})[0];
    EXPECT_EQ(line.shape(), (Shape{2, 6, 5})) << type;
    EXPECT_TRUE(line.SameBytes(row.Reshape({2, 6, 5}))) << type;
  }
}

}  // namespace
}  // namespace tenon::onnx_import
