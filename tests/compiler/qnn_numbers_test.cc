// Quantised operators, compiled and interpreted, give the numbers of their definitions, written
// here as plain loops, once they are lowered to ordinary operators. Everything is compared bit by
// bit.
#include <cmath>
#include <limits>

#include "tenon/ops/builders.h"
#include "tenon/ops/quantize/qnn_builders.h"
#include "tenon/passes/quantize/canonicalize_qnn.h"
#include "tenon/support/strings.h"
#include "tenon/tests/testing/graph_testing.h"
#include "tenon/verify/interpret.h"

namespace tenon {
namespace {

using ir::Constant;
using ir::Expr;
using ops::Scalar;
using testing_graphs::ExpectClose;
using testing_graphs::Outcome;
using testing_graphs::ValueAt;
using Ints = std::vector<std::int64_t>;

NDArray Array(const Shape& shape, DataType type, const std::vector<double>& values) {
  NDArray array = NDArray::Empty(shape, type);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (type == Int8) array.data<std::int8_t>()[i] = static_cast<std::int8_t>(values[i]);
    if (type == UInt8) array.data<std::uint8_t>()[i] = static_cast<std::uint8_t>(values[i]);
    if (type == Int32) array.data<std::int32_t>()[i] = static_cast<std::int32_t>(values[i]);
    if (type == Float32) array.data<float>()[i] = static_cast<float>(values[i]);
  }
  return array;
}

// All values of an 8-bit type in a fixed disorder, its ends early.
NDArray Bytes(const Shape& shape, DataType type, int seed) {
  const double low = type == Int8 ? -128 : 0;
  std::vector<double> values;
  for (std::int64_t i = 0; i < NumElements(shape); ++i)
    values.push_back(low + static_cast<double>((i * 97 + seed * 31 + (i % 7) * 255) % 256));
  return Array(shape, type, values);
}
std::int64_t At(const NDArray& array, std::int64_t i) {
  return static_cast<std::int64_t>(ValueAt(array, i));
}
double Saturated(double value, DataType type) {
  const double low = type == Int8 ? -128 : type == UInt8 ? 0 : -2147483648.0;
  const double high = type == Int8 ? 127 : type == UInt8 ? 255 : 2147483647.0;
  return std::min(std::max(value, low), high);
}

// Of the results of `e` at all ways of computing it: interpreted, without and with optimisation.
void ExpectResult(const Expr& e, const std::vector<std::pair<ir::Var, NDArray>>& given,
                  const NDArray& expected) {
  strategies::RegisterStrategies(ops::OpRegistry::Global());
  std::vector<Expr> params;
  std::vector<NDArray> values;
  runtime::Inputs inputs;
  for (const auto& [var, value] : given) {
    params.push_back(var);
    values.push_back(value);
    inputs[var.name()] = value;
  }
  const ir::Module module =
      passes::InferType(ir::Module().With("main", ir::Function::Make(std::move(params), e)));
  ExpectClose(verify::Interpret(passes::CanonicalizeQnn(module), values), {expected}, 0);
  for (const int level : {0, 3}) {
    SCOPED_TRACE(level);
    ExpectClose(Outcome(module, inputs, {.opt_level = level}), {expected}, 0);
  }
}
ir::Var VarOf(const char* name, const NDArray& value) {
  return ir::Var::Make(name, ir::TensorTypeOf(value.shape(), value.dtype()));
}

// --- conversions

TEST(QnnNumbersTest, QuantizeRoundsHalfToEvenThenAddsTheZeroPointAndSaturates) {
  const std::vector<double> x = {-2.5, -1.5,  -0.5,  0.5, 1.5,     2.5,    0,
                                 1e30, -1e30, 63.75, 127, -128.25, 0.4999, 3};
  for (const DataType type : {Int8, UInt8, Int32}) {
    for (const int zero_point : {0, 3, 100}) {
      SCOPED_TRACE(StrCat(type.ToString(), " ", zero_point));
      const NDArray given = Array({static_cast<std::int64_t>(x.size())}, Float32, x);
      std::vector<double> expected;
      for (const double v : x) {
        const float scaled = static_cast<float>(v) / 0.5F;
        expected.push_back(Saturated(std::nearbyint(scaled) + zero_point, type));
      }
      const ir::Var var = VarOf("x", given);
      ExpectResult(
          ops::QnnQuantize(var, Scalar(0.5), Scalar(zero_point, Int32), {.out_dtype = type}),
          {{var, given}}, Array(given.shape(), type, expected));
    }
  }
}

// Of which these sums are none.
TEST(QnnNumbersTest, ZeroPointsAreAddedInMoreThan16Bits) {
  const NDArray x = Array({2}, Float32, {3, -5});
  const ir::Var var = VarOf("x", x);
  for (const DataType type : {BFloat16, Float16}) {
    ExpectResult(ops::QnnQuantize(ops::Cast(var, type), Scalar(1), Scalar(4097, Int32),
                                  {.out_dtype = Int32}),
                 {{var, x}}, Array({2}, Int32, {4100, 4092}));
    ExpectResult(ops::Cast(ops::QnnQuantize(ops::Cast(var, type), Scalar(1), Scalar(4097, Int32),
                                            {.out_dtype = Int16}),
                           Int32),
                 {{var, x}}, Array({2}, Int32, {4100, 4092}));
  }
}

TEST(QnnNumbersTest, InfinitiesAndDenormalsSaturate) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const NDArray given = Array({4}, Float32, {kInf, -kInf, 1e-42, -0.0});
  const ir::Var var = VarOf("x", given);
  ExpectResult(ops::QnnQuantize(var, Scalar(0.25), Scalar(5, Int32), {.out_dtype = UInt8}),
               {{var, given}}, Array({4}, UInt8, {255, 0, 5, 5}));
}

TEST(QnnNumbersTest, ConversionsHaveAScaleAndAZeroPointForEachChannel) {
  for (const int axis : {0, 1, -1}) {
    SCOPED_TRACE(axis);
    const Shape shape = {3, 5, 7};
    const std::int64_t channels = shape[axis < 0 ? 2U : static_cast<std::size_t>(axis)];
    const std::int64_t inner = axis == 0 ? 35 : axis == 1 ? 7 : 1;
    std::vector<double> scales;
    std::vector<double> zero_points;
    for (std::int64_t c = 0; c < channels; ++c) {
      scales.push_back(static_cast<float>(0.1 * static_cast<double>(c + 1)));
      zero_points.push_back(static_cast<double>(2 * c - 3));
    }
    const NDArray q = Bytes(shape, Int8, 1);
    std::vector<double> real;
    for (std::int64_t i = 0; i < q.size(); ++i) {
      const auto c = static_cast<std::size_t>(i / inner % channels);
      real.push_back(static_cast<float>(At(q, i) - static_cast<std::int64_t>(zero_points[c])) *
                     static_cast<float>(scales[c]));
    }
    const Expr scale = Constant::Make(Array({channels}, Float32, scales));
    const Expr zero_point = Constant::Make(Array({channels}, Int8, zero_points));
    const ir::Var var = VarOf("q", q);
    const Expr dequantized = ops::QnnDequantize(var, scale, zero_point, {.axis = axis});
    ExpectResult(dequantized, {{var, q}}, Array(shape, Float32, real));
    // What comes from 8 bits goes back to them.
    ExpectResult(
        ops::QnnQuantize(dequantized, scale, zero_point, {.out_dtype = Int8, .axis = axis}),
        {{var, q}}, q);
  }
}

// Half-way values occur at powers of two; the zero point is odd.
TEST(QnnNumbersTest, RequantizeRoundsTheSumWithTheZeroPointHalfToEven) {
  std::vector<double> sums;
  for (int i = -40; i <= 40; ++i) sums.push_back(i);
  sums.insert(sums.end(), {2147483647, -2147483648.0, 16777217});
  const NDArray given = Array({static_cast<std::int64_t>(sums.size())}, Int32, sums);
  const ir::Var var = VarOf("x", given);
  struct Case {
    double input_scale, output_scale;
    int zero_point;
  };
  for (const Case& c : {Case{0.5, 1, 0},
                        {0.5, 1, 1},
                        {0.25, 0.5, -3},
                        {0.3, 0.7, 11},
                        {1e-3, 2.5e-4, 0},
                        {1, 1, 7}}) {
    SCOPED_TRACE(StrCat(c.input_scale, " ", c.output_scale, " ", c.zero_point));
    const float factor = static_cast<float>(c.input_scale) / static_cast<float>(c.output_scale);
    std::vector<double> expected;
    for (const double v : sums)
      expected.push_back(
          Saturated(std::nearbyint(v * static_cast<double>(factor) + c.zero_point), Int8));
    ExpectResult(ops::QnnRequantize(var, Scalar(c.input_scale), Scalar(0, Int32),
                                    Scalar(c.output_scale), Scalar(c.zero_point, Int32)),
                 {{var, given}}, Array(given.shape(), Int8, expected));
  }
}

TEST(QnnNumbersTest, TheOtherRoundingsGoUpAndAwayFromZero) {
  const NDArray given = Array({7}, Int32, {-5, -3, -1, 1, 3, 5, 6});
  const ir::Var var = VarOf("x", given);
  const auto rounded = [&](const char* rounding) {
    return ops::QnnRequantize(var, Scalar(0.5), Scalar(0, Int32), Scalar(1), Scalar(1, Int32),
                              {.rounding = rounding, .out_dtype = Int32});
  };
  ExpectResult(rounded("UPWARD"), {{var, given}}, Array({7}, Int32, {-1, 0, 1, 2, 3, 4, 4}));
  ExpectResult(rounded("TONEAREST"), {{var, given}}, Array({7}, Int32, {-2, -1, 0, 2, 3, 4, 4}));
}

// --- convolutions and products

struct ConvCase {
  const char* name;
  Shape data, weight;
  DataType data_type, weight_type;
  int data_zero_point;
  Ints weight_zero_points;  // one, or one a filter
  std::int64_t stride, pad, dilation, groups;
  bool in_a_vector = false;  // the one zero point of the weight
  friend void PrintTo(const ConvCase& c, std::ostream* out) { *out << c.name; }
};
class QnnConvTest : public ::testing::TestWithParam<ConvCase> {};

TEST_P(QnnConvTest, SumsProductsOfDifferencesFromTheZeroPoints) {
  const ConvCase& c = GetParam();
  const NDArray x = Bytes(c.data, c.data_type, 2);
  const NDArray w = Bytes(c.weight, c.weight_type, 3);
  const auto out = [&](std::size_t i) {
    return (c.data[i] + 2 * c.pad - c.dilation * (c.weight[i] - 1) - 1) / c.stride + 1;
  };
  const Shape shape = {c.data[0], c.weight[0], out(2), out(3)};
  std::vector<double> expected;
  for (std::int64_t n = 0; n < shape[0]; ++n) {
    for (std::int64_t o = 0; o < shape[1]; ++o) {
      const std::int64_t wz =
          c.weight_zero_points[c.weight_zero_points.size() == 1 ? 0 : static_cast<std::size_t>(o)];
      const std::int64_t first = o / (shape[1] / c.groups) * c.weight[1];
      for (std::int64_t y = 0; y < shape[2]; ++y) {
        for (std::int64_t z = 0; z < shape[3]; ++z) {
          std::int64_t sum = 0;
          for (std::int64_t i = 0; i < c.weight[1]; ++i) {
            for (std::int64_t ky = 0; ky < c.weight[2]; ++ky) {
              for (std::int64_t kx = 0; kx < c.weight[3]; ++kx) {
                const std::int64_t iy = y * c.stride + ky * c.dilation - c.pad;
                const std::int64_t ix = z * c.stride + kx * c.dilation - c.pad;
                if (iy < 0 || ix < 0 || iy >= c.data[2] || ix >= c.data[3]) continue;
                const std::int64_t at =
                    ((n * c.data[1] + first + i) * c.data[2] + iy) * c.data[3] + ix;
                const std::int64_t w_at =
                    ((o * c.weight[1] + i) * c.weight[2] + ky) * c.weight[3] + kx;
                sum += (At(x, at) - c.data_zero_point) * (At(w, w_at) - wz);
              }
            }
          }
          expected.push_back(static_cast<double>(sum));
        }
      }
    }
  }
  const std::vector<double> zero_points(c.weight_zero_points.begin(), c.weight_zero_points.end());
  const Expr weight_zero_point =
      zero_points.size() == 1 && !c.in_a_vector
          ? Scalar(zero_points[0], Int32)
          : Constant::Make(
                Array({static_cast<std::int64_t>(zero_points.size())}, Int32, zero_points));
  const ops::Conv2DAttrs attrs{.strides = {c.stride, c.stride},
                               .padding = {c.pad, c.pad},
                               .dilation = {c.dilation, c.dilation},
                               .groups = c.groups};
  const ir::Var xv = VarOf("x", x);
  const ir::Var wv = VarOf("w", w);
  const auto conv = [&](const Expr& weight) {
    return ops::QnnConv2D(xv, weight, Scalar(c.data_zero_point, Int32), weight_zero_point,
                          Scalar(0.5), Scalar(0.25), attrs);
  };
  const NDArray result = Array(shape, Int32, expected);
  ExpectResult(conv(wv), {{xv, x}, {wv, w}}, result);
  ExpectResult(conv(Constant::Make(w)), {{xv, x}}, result);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, QnnConvTest,
    ::testing::Values(
        ConvCase{"OneByOne", {1, 3, 5, 7}, {4, 3, 1, 1}, UInt8, Int8, 128, {0}, 1, 0, 1, 1},
        ConvCase{"Padded", {2, 3, 7, 5}, {5, 3, 3, 3}, UInt8, Int8, 7, {0}, 1, 1, 1, 1},
        ConvCase{"NoZeroPoints", {1, 16, 9, 9}, {16, 16, 3, 3}, Int8, Int8, 0, {0}, 1, 1, 1, 1},
        ConvCase{"BothZeroPoints", {1, 4, 8, 8}, {3, 4, 3, 3}, UInt8, UInt8, 3, {200}, 2, 1, 1, 1},
        ConvCase{"PerFilter", {1, 2, 6, 6}, {3, 2, 3, 3}, Int8, Int8, -5, {1, -2, 3}, 1, 1, 1, 1},
        ConvCase{"Dilated", {1, 2, 9, 9}, {2, 2, 3, 3}, UInt8, Int8, 9, {2}, 1, 2, 2, 1},
        ConvCase{"Grouped", {1, 6, 5, 5}, {4, 3, 3, 3}, UInt8, Int8, 100, {0}, 1, 1, 1, 2},
        ConvCase{"Depthwise", {1, 17, 7, 7}, {17, 1, 3, 3}, UInt8, Int8, 30, {0}, 1, 1, 1, 17},
        ConvCase{"Wide", {1, 17, 16, 16}, {33, 17, 3, 3}, UInt8, Int8, 5, {0}, 1, 1, 1, 1},
        ConvCase{"WideGroups", {1, 10, 9, 9}, {32, 5, 3, 3}, UInt8, Int8, 9, {0}, 1, 1, 1, 2},
        ConvCase{"Strided", {2, 7, 15, 17}, {80, 7, 3, 3}, UInt8, Int8, 200, {0}, 2, 1, 1, 1},
        ConvCase{"SignedImage", {1, 5, 17, 15}, {64, 5, 1, 1}, Int8, Int8, -128, {0}, 1, 0, 1, 1},
        ConvCase{"UnsignedWeight", {1, 9, 7, 9}, {48, 9, 3, 3}, Int8, UInt8, 3, {128}, 1, 1, 1, 1},
        // int8 does not hold the weight less its zero point.
        ConvCase{"WideWeight", {2, 5, 9, 7}, {7, 5, 3, 3}, UInt8, UInt8, 131, {137}, 1, 1, 1, 1},
        ConvCase{
            "WideFilters", {1, 4, 9, 8}, {3, 4, 3, 2}, UInt8, UInt8, 9, {0, 255, 90}, 1, 1, 1, 1},
        ConvCase{"WideSigned", {1, 3, 8, 9}, {4, 3, 3, 3}, Int8, Int8, -128, {-100}, 1, 1, 1, 1},
        ConvCase{"WideStrided", {1, 3, 11, 9}, {4, 3, 3, 3}, UInt8, UInt8, 77, {3}, 2, 2, 2, 1},
        ConvCase{"WideUnpadded", {1, 17, 9, 9}, {33, 17, 3, 3}, UInt8, UInt8, 77, {3}, 1, 0, 1, 1},
        ConvCase{"WideOfZero", {1, 17, 9, 9}, {33, 17, 3, 3}, UInt8, UInt8, 0, {3}, 1, 1, 1, 1},
        ConvCase{"WideGrouped", {1, 6, 9, 9}, {4, 3, 3, 3}, UInt8, UInt8, 77, {3}, 1, 1, 1, 2},
        ConvCase{
            "WideOneFilter", {1, 3, 9, 9}, {1, 3, 3, 3}, UInt8, UInt8, 77, {3}, 1, 1, 1, 1, true},
        // Beyond int16 when the zero point is taken away.
        ConvCase{"FarZeroPoint", {1, 1, 3, 3}, {1, 1, 2, 2}, UInt8, Int8, 40000, {0}, 1, 1, 1, 1}),
    [](const auto& info) { return info.param.name; });

// A zero point that is an input, as of dynamic quantisation, and channels last.
TEST(QnnConvOfWideWeightsTest, SumsProductsOfBytes) {
  const NDArray x = Bytes({1, 7, 9, 6}, UInt8, 2), w = Bytes({5, 6, 3, 3}, UInt8, 3);
  const NDArray zero = Array({}, UInt8, {130});
  const ir::Var xv = VarOf("x", x), zv = VarOf("z", zero);
  const ops::Conv2DAttrs attrs{.padding = {1, 1}, .data_layout = "NHWC"};
  const auto conv = [&](const Expr& weight) {
    return ops::QnnConv2D(xv, weight, zv, Scalar(141, UInt8), Scalar(0.5), Scalar(0.25), attrs);
  };
  const ir::Module module = passes::InferType(
      ir::Module().With("main", ir::Function::Make({xv, zv}, conv(Constant::Make(w)))));
  const std::string fused =
      ir::PrintModule(ValueOrThrow(Lower(module)).module, {.metadata = false});
  EXPECT_THAT(fused, ::testing::HasSubstr("Tensor[(1, 9, 11, 6), uint8]"));
  EXPECT_THAT(fused, ::testing::HasSubstr("Tensor[(5, 6, 3, 3), int8]"));
  EXPECT_THAT(fused, ::testing::Not(::testing::HasSubstr("int16")));
  const ir::Var wv = VarOf("w", w);  // not known: in int16
  const ir::Module by_differences =
      ir::Module().With("main", ir::Function::Make({xv, zv, wv}, conv(wv)));
  const std::vector<NDArray> expected =
      Outcome(by_differences, {{"x", x}, {"z", zero}, {"w", w}}, {});
  ExpectClose(Outcome(module, {{"x", x}, {"z", zero}}, {}), expected, 0);
}

struct ProductCase {
  std::int64_t rows, depth, columns;
};
class QnnProductTest : public ::testing::TestWithParam<ProductCase> {};

std::vector<double> Products(const NDArray& a, const NDArray& b, const ProductCase& c,
                             std::int64_t batch, std::int64_t a_zero, const Ints& b_zeros) {
  std::vector<double> sums;
  for (std::int64_t n = 0; n < batch; ++n) {
    for (std::int64_t i = 0; i < c.rows; ++i) {
      for (std::int64_t j = 0; j < c.columns; ++j) {
        std::int64_t sum = 0;
        const std::int64_t zero = b_zeros[b_zeros.size() == 1 ? 0 : static_cast<std::size_t>(j)];
        for (std::int64_t k = 0; k < c.depth; ++k)
          sum += (At(a, (n * c.rows + i) * c.depth + k) - a_zero) *
                 (At(b, (n * c.columns + j) * c.depth + k) - zero);
        sums.push_back(static_cast<double>(sum));
      }
    }
  }
  return sums;
}

TEST_P(QnnProductTest, DenseSumsProductsOfDifferencesFromTheZeroPoints) {
  const ProductCase& c = GetParam();
  for (const bool per_unit : {false, true}) {
    for (const DataType weight_type : {Int8, UInt8}) {
      SCOPED_TRACE(StrCat(per_unit, " ", weight_type.ToString()));
      const NDArray a = Bytes({c.rows, c.depth}, UInt8, 4);
      const NDArray b = Bytes({c.columns, c.depth}, weight_type, 5);
      Ints zeros = {0};
      Expr zero_point = Scalar(0, Int32);
      if (per_unit) {
        zeros.clear();
        for (std::int64_t j = 0; j < c.columns; ++j) zeros.push_back(j % 100);
        zero_point = Constant::Make(
            Array({c.columns}, Int32, std::vector<double>(zeros.begin(), zeros.end())));
      }
      const NDArray expected = Array({c.rows, c.columns}, Int32, Products(a, b, c, 1, 131, zeros));
      const ir::Var av = VarOf("a", a);
      const ir::Var bv = VarOf("b", b);
      const auto dense = [&](const Expr& weight) {
        return ops::QnnDense(av, weight, Scalar(131, Int32), zero_point, Scalar(1), Scalar(1));
      };
      ExpectResult(dense(bv), {{av, a}, {bv, b}}, expected);
      ExpectResult(dense(Constant::Make(b)), {{av, a}}, expected);
    }
  }
}

TEST_P(QnnProductTest, BatchMatmulSumsProductsOfDifferencesFromTheZeroPoints) {
  const ProductCase& c = GetParam();
  const NDArray a = Bytes({3, c.rows, c.depth}, Int8, 6);
  const NDArray b = Bytes({3, c.columns, c.depth}, UInt8, 7);
  const ir::Var av = VarOf("a", a);
  const ir::Var bv = VarOf("b", b);
  ExpectResult(ops::QnnBatchMatmul(av, bv, Scalar(-7, Int8), Scalar(99, UInt8), Scalar(1),
                                   Scalar(1), {.transpose_b = true}),
               {{av, a}, {bv, b}},
               Array({3, c.rows, c.columns}, Int32, Products(a, b, c, 3, -7, {99})));
}

INSTANTIATE_TEST_SUITE_P(Sizes, QnnProductTest,
                         ::testing::Values(ProductCase{1, 1, 1}, ProductCase{1, 65, 17},
                                           ProductCase{15, 16, 17}, ProductCase{7, 3, 64},
                                           ProductCase{33, 63, 65}, ProductCase{33, 64, 65}),
                         [](const auto& info) {
                           const ProductCase& c = info.param;
                           return StrCat(c.rows, "x", c.depth, "x", c.columns);
                         });

// --- arithmetic: on the numbers that are stood for, rounded once

TEST(QnnNumbersTest, ArithmeticRoundsOnce) {
  const NDArray a = Bytes({17, 15}, UInt8, 8);
  const NDArray b = Bytes({1, 15}, UInt8, 9);
  const ir::Var av = VarOf("a", a);
  const ir::Var bv = VarOf("b", b);
  const ops::QnnParameters pa{Scalar(0.5), Scalar(3, Int32)};
  const ops::QnnParameters pb{Scalar(0.25), Scalar(130, Int32)};
  const ops::QnnParameters result{Scalar(0.75), Scalar(17, Int32)};
  const auto expected = [&](auto op) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < a.size(); ++i) {
      const float x = static_cast<float>(At(a, i) - 3) * 0.5F;
      const float y = static_cast<float>(At(b, i % 15) - 130) * 0.25F;
      values.push_back(Saturated(std::nearbyint(op(x, y) / 0.75F) + 17, UInt8));
    }
    return Array(a.shape(), UInt8, values);
  };
  const std::vector<std::pair<ir::Var, NDArray>> given = {{av, a}, {bv, b}};
  ExpectResult(ops::QnnAdd(av, bv, pa, pb, result), given,
               expected([](float x, float y) { return x + y; }));
  ExpectResult(ops::QnnSubtract(av, bv, pa, pb, result), given,
               expected([](float x, float y) { return x - y; }));
  ExpectResult(ops::QnnMul(av, bv, pa, pb, result), given,
               expected([](float x, float y) { return x * y; }));
}

TEST(QnnNumbersTest, ConcatenationBringsFieldsToTheParametersOfTheResult) {
  const NDArray a = Bytes({3, 5}, Int8, 10);
  const NDArray b = Bytes({3, 2}, Int8, 11);
  const ir::Var av = VarOf("a", a);
  const ir::Var bv = VarOf("b", b);
  const ops::QnnParameters pa{Scalar(0.5), Scalar(1, Int32)};
  const ops::QnnParameters pb{Scalar(0.3), Scalar(-9, Int32)};
  std::vector<double> expected;
  for (std::int64_t row = 0; row < 3; ++row) {
    for (std::int64_t i = 0; i < 5; ++i)
      expected.push_back(static_cast<double>(At(a, row * 5 + i)));
    for (std::int64_t i = 0; i < 2; ++i) {
      const double factor = static_cast<double>(0.3F / 0.5F);
      expected.push_back(Saturated(
          std::nearbyint(static_cast<double>(At(b, row * 2 + i) + 9) * factor + 1), Int8));
    }
  }
  ExpectResult(ops::QnnConcatenate({av, bv}, {pa, pb}, pa, 1), {{av, a}, {bv, b}},
               Array({3, 7}, Int8, expected));
}

TEST(QnnNumbersTest, FunctionsAreOfTheNumbersThatAreStoodFor) {
  const NDArray q = Bytes({256}, Int8, 12);
  const ir::Var var = VarOf("q", q);
  const auto call = [&](const char* name, attrs::Attrs attrs = {}) {
    return ops::CallOp(name,
                       {var, Scalar(0.0625), Scalar(4, Int32), Scalar(0.125), Scalar(-6, Int32)},
                       std::move(attrs));
  };
  const auto expected = [&](auto function) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < q.size(); ++i)
      values.push_back(Saturated(
          std::nearbyint(function(static_cast<float>(At(q, i) - 4) * 0.0625F) / 0.125F) - 6, Int8));
    return Array({256}, Int8, values);
  };
  ExpectResult(call("qnn.abs"), {{var, q}}, expected([](float x) { return std::fabs(x); }));
  ExpectResult(call("qnn.hardswish"), {{var, q}},
               expected([](float x) { return x * std::min(std::max(x + 3, 0.0F), 6.0F) / 6; }));
  ExpectResult(call("qnn.leaky_relu", attrs::Attrs::Make(ops::LeakyReluAttrs{0.5})), {{var, q}},
               expected([](float x) { return x > 0 ? x : x * 0.5F; }));
}

// Every difference from the zero point is spread by the kernel, step by step.
TEST(QnnNumbersTest, TransposedConvolutionsSpreadDifferencesFromTheZeroPoints) {
  const NDArray x = Bytes({1, 3, 5, 4}, UInt8, 13);
  const NDArray w = Bytes({3, 2, 3, 3}, Int8, 14);
  const ir::Var xv = VarOf("x", x), wv = VarOf("w", w);
  // strides 2, padding 1: (5 - 1) * 2 - 2 + 3 rows.
  std::vector<double> expected(2 * 9 * 7, 0);
  for (std::int64_t c = 0; c < 3; ++c) {
    for (std::int64_t o = 0; o < 2; ++o) {
      for (std::int64_t at = 0; at < 5 * 4 * 9; ++at) {
        const std::int64_t tap = at % 9, y = at / 36, column = at / 9 % 4;
        const std::int64_t to_y = y * 2 - 1 + tap / 3, to_x = column * 2 - 1 + tap % 3;
        if (to_y < 0 || to_y >= 9 || to_x < 0 || to_x >= 7) continue;
        expected[static_cast<std::size_t>((o * 9 + to_y) * 7 + to_x)] += static_cast<double>(
            (At(x, (c * 5 + y) * 4 + column) - 120) * (At(w, (c * 2 + o) * 9 + tap) - 3));
      }
    }
  }
  const Expr conv = ops::CallOp(
      "qnn.conv2d_transpose",
      {xv, wv, Scalar(120, Int32), Scalar(3, Int32), Scalar(0.5), Scalar(1)},
      attrs::Attrs::Make(ops::Conv2DTransposeAttrs{.strides = {2, 2}, .padding = {1, 1, 1, 1}}));
  ExpectResult(conv, {{xv, x}, {wv, w}}, Array({1, 2, 9, 7}, Int32, expected));
}

// 251 * 0.5078125 is 127.46, and 127.5 in bfloat16; a million is no float16, and its part is one.
TEST(QnnNumbersTest, AScaleOf16BitsRoundsNoNumberAndNoProduct) {
  const NDArray q = Array({2}, UInt8, {251, 243});
  const ir::Var var = VarOf("q", q);
  ExpectResult(ops::CallOp("qnn.abs", {var, ops::Cast(Scalar(0.5078125), BFloat16),
                                       Scalar(0, Int32), Scalar(1), Scalar(0, Int32)}),
               {{var, q}}, Array({2}, UInt8, {127, 123}));
  const NDArray wide = Array({2}, Int32, {1000000, -64});
  const ir::Var x = VarOf("x", wide);
  const Expr real =
      ops::CallOp("qnn.dequantize", {x, ops::Cast(Scalar(0.015625), Float16), Scalar(0, Int32)},
                  attrs::Attrs::Make(ops::DequantizeAttrs{.out_dtype = Float16}));
  ExpectResult(ops::Cast(real, Float32), {{x, wide}}, Array({2}, Float32, {15624, -1}));
}

TEST(QnnNumbersTest, MeansAreOfStoredIntegersAndThenScaled) {
  const NDArray q = Bytes({1, 2, 5, 7}, Int8, 15);
  const ir::Var var = VarOf("q", q);
  const auto pool = [&](double output_scale, double output_zero_point) {
    return ops::CallOp(
        "qnn.avg_pool2d",
        {var, Scalar(0.5), Scalar(4, Int32), Scalar(output_scale),
         Scalar(output_zero_point, Int32)},
        attrs::Attrs::Make(ops::AvgPool2DAttrs{.pool_size = {2, 3}, .strides = {1, 2}}));
  };
  std::vector<double> means, scaled;
  for (std::int64_t at = 0; at < 2 * 4 * 3; ++at) {
    const std::int64_t first = at / 12 * 35 + at / 3 % 4 * 7 + at % 3 * 2;
    std::int64_t sum = 0;
    for (const std::int64_t tap : {0, 1, 2, 7, 8, 9}) sum += At(q, first + tap);
    // Divisions of integers truncate.
    const std::int64_t mean = sum / 6;
    means.push_back(static_cast<double>(mean));
    scaled.push_back(Saturated(std::nearbyint(static_cast<double>(mean - 4) * 2 + -6), Int8));
  }
  ExpectResult(pool(0.5, 4), {{var, q}}, Array({1, 2, 4, 3}, Int8, means));
  ExpectResult(pool(0.25, -6), {{var, q}}, Array({1, 2, 4, 3}, Int8, scaled));
}

}  // namespace
}  // namespace tenon
