// Operators of Relax that are several of Tenon's, against definitions written here, on sizes 0, 1
// and primes.
#include <cmath>
#include <functional>
#include <numbers>

#include "tenon/support/strings.h"
#include "tenon/tests/relax/relax_text.h"
#include "tenon/verify/interpret.h"

namespace tenon::relax {
namespace {

using Floats = std::vector<float>;

std::int64_t SizeOf(const Shape& shape) { return NumElements(shape); }

// Deterministic, with both signs and zero.
NDArray Values(const Shape& shape, int seed) {
  Floats values(static_cast<std::size_t>(SizeOf(shape)));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(
                    static_cast<int>((i * 7 + static_cast<std::size_t>(seed) * 5) % 23) - 11) /
                4;
  return NDArray::FromVector<float>(shape, values);
}

std::string ParamsOf(const std::vector<NDArray>& inputs) {
  std::string params;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string shape = ShapeToString(inputs[i].shape());
    StrAppend(&params, params.empty() ? "" : ", ", std::string(1, static_cast<char>('a' + i)),
              ": R.Tensor(", shape, ", \"", inputs[i].dtype().ToString(), "\")");
  }
  return params;
}

// The value of `expr` of a, b, ..., which are the inputs.
NDArray ValueOf(const std::string& expr, const std::vector<NDArray>& inputs) {
  return verify::Interpret(Read(Main(ParamsOf(inputs), StrCat("    return ", expr, "\n"))),
                           inputs)[0];
}

void ExpectEach(const NDArray& got, const std::function<double(std::size_t)>& expected,
                double tolerance = 1e-5) {
  const Floats values = got.ToVector<float>();
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_NEAR(values[i], expected(i), tolerance) << i;
}

NDArray ConstantOf(const std::string& expr) {
  return ReadExpr("", expr).As<ir::ConstantNode>()->data;
}
std::uint16_t HalfBits(const NDArray& half) {
  return *static_cast<const std::uint16_t*>(half.raw());
}

// Both lie just above the middle of two numbers of 16 bits, which is the nearest float32.
TEST(ConstTest, NumbersOf16BitsAreRoundedOnce) {
  EXPECT_EQ(HalfBits(ConstantOf("R.const(1.0004882813, \"float16\")")), 0x3C01);
  EXPECT_EQ(HalfBits(ConstantOf("R.const(1.003906251, \"bfloat16\")")), 0x3F81);
  EXPECT_EQ(HalfBits(ConstantOf("R.const(-1.003906251, \"bfloat16\")")), 0xBF81);
  EXPECT_EQ(HalfBits(ConstantOf("R.const(1.00390625, \"bfloat16\")")), 0x3F80);
  EXPECT_EQ(HalfBits(ConstantOf("R.const(1.003906249, \"bfloat16\")")), 0x3F80);
}

TEST(ConstTest, InfinitiesAndNaNAreWords) {
  EXPECT_EQ(*ConstantOf("R.const(\"-inf\", \"float32\")").data<float>(), -HUGE_VALF);
  EXPECT_EQ(*ConstantOf("R.const(float(\"inf\"), \"float64\")").data<double>(), HUGE_VAL);
  EXPECT_EQ(HalfBits(ConstantOf("R.const(float(\"inf\"), \"float16\")")), 0x7C00);
  EXPECT_EQ(HalfBits(ConstantOf("R.const(\"-inf\", \"bfloat16\")")), 0xFF80);
  EXPECT_TRUE(std::isnan(*ConstantOf("R.const(\"nan\")").data<float>()));
  const auto refusal = [](const std::string& expr) {
    return RefusalOf(Main("", StrCat("    return ", expr, "\n")));
  };
  EXPECT_THAT(refusal("R.const(\"inf\", \"int32\")"),
              ::testing::HasSubstr("inf is not a value of int32"));
  EXPECT_THAT(refusal("R.const(\"one\", \"float32\")"),
              ::testing::HasSubstr("words of numbers are \"inf\", \"-inf\" and \"nan\""));
}

class ElementTest : public ::testing::TestWithParam<int> {
 protected:
  const NDArray x_ = Values({GetParam()}, 1);
  double X(std::size_t i) const { return x_.data<float>()[i]; }
};
INSTANTIATE_TEST_SUITE_P(Sizes, ElementTest, ::testing::Values(0, 1, 13, 17, 31));

TEST_P(ElementTest, GeluIsXTimesTheNormalDistribution) {
  ExpectEach(ValueOf("R.nn.gelu(a)", {x_}),
             [&](std::size_t i) { return X(i) * 0.5 * std::erfc(-X(i) / std::numbers::sqrt2); });
}
TEST_P(ElementTest, GeluTanhIsItsApproximation) {
  ExpectEach(ValueOf("R.nn.gelu_tanh(a)", {x_}), [&](std::size_t i) {
    const double inner = std::sqrt(2 / std::numbers::pi) * (X(i) + 0.044715 * std::pow(X(i), 3));
    return X(i) / 2 * (1 + std::tanh(inner));
  });
}
TEST_P(ElementTest, SiluIsXTimesItsSigmoid) {
  ExpectEach(ValueOf("R.nn.silu(a)", {x_}),
             [&](std::size_t i) { return X(i) / (1 + std::exp(-X(i))); });
}
TEST_P(ElementTest, SquareAndFma) {
  ExpectEach(ValueOf("R.square(a)", {x_}), [&](std::size_t i) { return X(i) * X(i); });
  ExpectEach(ValueOf("R.ewise_fma(a, a, b)", {x_, x_}),
             [&](std::size_t i) { return X(i) * X(i) + X(i); });
}

// y[..., i, j] = sum over k of a[..., i, k] * b[..., k, j], where batches broadcast.
void ExpectProduct(const Shape& left, const Shape& right, const Shape& result) {
  const NDArray a = Values(left, 2), b = Values(right, 3);
  const NDArray y = ValueOf("R.matmul(a, b)", {a, b});
  ASSERT_EQ(y.shape(), result);
  const auto dim = [](const Shape& shape, int back) {
    return static_cast<int>(shape.size()) >= back
               ? shape[shape.size() - static_cast<std::size_t>(back)]
               : 1;
  };
  const std::int64_t rows = left.size() == 1 ? 1 : dim(left, 2), depth = left.back();
  const std::int64_t columns = right.size() == 1 ? 1 : right.back();
  const std::size_t rank = std::max(left.size(), right.size());
  // The batch of an operand for a batch of the result.
  const auto batch_of = [&](const Shape& shape, std::int64_t batch) {
    std::int64_t index = 0, stride = 1;
    for (int back = 3; back <= static_cast<int>(rank); ++back) {
      const std::int64_t all = std::max(dim(left, back), dim(right, back));
      const std::int64_t own = dim(shape, back);
      if (own != 1) index += batch % all * stride;
      stride *= own;
      batch /= all;
    }
    return index;
  };
  ExpectEach(
      y,
      [&](std::size_t at) {
        const auto i = static_cast<std::int64_t>(at);
        const std::int64_t batch = i / (rows * columns), row = i / columns % rows,
                           column = i % columns;
        double sum = 0;
        for (std::int64_t k = 0; k < depth; ++k)
          sum += a.data<float>()[(batch_of(left, batch) * rows + row) * depth + k] *
                 b.data<float>()[(batch_of(right, batch) * depth + k) * columns + column];
        return sum;
      },
      1e-3);
}

TEST(MatmulTest, OperandsOfAllRanks) {
  ExpectProduct({3, 5}, {5, 7}, {3, 7});
  ExpectProduct({5}, {5}, {});
  ExpectProduct({5}, {5, 7}, {7});
  ExpectProduct({3, 5}, {5}, {3});
  ExpectProduct({2, 3, 5}, {5, 7}, {2, 3, 7});
  ExpectProduct({2, 3, 5}, {5}, {2, 3});
  ExpectProduct({2, 3, 5}, {2, 5, 7}, {2, 3, 7});
  ExpectProduct({5}, {2, 5, 7}, {2, 7});
  ExpectProduct({3, 5}, {2, 5, 7}, {2, 3, 7});
  ExpectProduct({2, 1, 3, 5}, {4, 5, 7}, {2, 4, 3, 7});
  ExpectProduct({1, 3, 1}, {2, 1, 1}, {2, 3, 1});
}

TEST(MatmulTest, OperandsWithoutElements) {
  ExpectProduct({2, 0, 3, 4}, {1, 4, 5}, {2, 0, 3, 5});
  ExpectProduct({2, 0, 3, 4}, {1, 2, 1, 4, 5}, {1, 2, 0, 3, 5});
  ExpectProduct({2, 3, 0}, {2, 2, 0, 4}, {2, 2, 3, 4});
}

TEST(MatmulTest, BatchesThatDoNotBroadcastAreRefused) {
  EXPECT_THAT(RefusalOf(Main("a: R.Tensor((2, 3, 5), \"float32\"), b: R.Tensor((4, 7, 5, 2), "
                             "\"float32\")",
                             "    return R.matmul(a, b)\n")),
              ::testing::HasSubstr("the batches of R.matmul do not broadcast"));
}

TEST(StatisticsTest, VarianceAndStandardDeviationOverAnAxis) {
  const NDArray x = Values({3, 5}, 4);
  const auto variance = [&](std::size_t row) {
    double mean = 0, sum = 0;
    for (int i = 0; i < 5; ++i) mean += x.data<float>()[row * 5 + static_cast<std::size_t>(i)] / 5;
    for (int i = 0; i < 5; ++i)
      sum += std::pow(x.data<float>()[row * 5 + static_cast<std::size_t>(i)] - mean, 2);
    return sum / 5;
  };
  ExpectEach(ValueOf("R.variance(a, axis=1)", {x}), variance);
  const NDArray kept = ValueOf("R.std(a, axis=[-1], keepdims=True)", {x});
  EXPECT_EQ(kept.shape(), (Shape{3, 1}));
  ExpectEach(kept, [&](std::size_t row) { return std::sqrt(variance(row)); });
}

TEST(StatisticsTest, ArgmaxCountsIn64Bits) {
  const NDArray x = NDArray::FromVector<float>({2, 3}, {1, 5, 2, 9, 0, 9});
  const NDArray y = ValueOf("R.argmax(a, axis=1)", {x});
  EXPECT_EQ(y.ToVector<std::int64_t>(), (std::vector<std::int64_t>{1, 0}));
  EXPECT_EQ(ValueOf("R.argmin(a, axis=0, keepdims=True)", {x}).ToVector<std::int64_t>(),
            (std::vector<std::int64_t>{0, 1, 0}));
}

TEST(NormTest, RmsNormDividesByTheRootOfTheMeanSquare) {
  const NDArray x = Values({3, 7}, 5), weight = Values({7}, 6);
  ExpectEach(ValueOf("R.nn.rms_norm(a, b, axes=[-1], epsilon=0.001)", {x, weight}),
             [&](std::size_t i) {
               double mean = 0;
               for (std::size_t k = 0; k < 7; ++k)
                 mean += std::pow(x.data<float>()[i / 7 * 7 + k], 2) / 7;
               return x.data<float>()[i] / std::sqrt(mean + 0.001) * weight.data<float>()[i % 7];
             });
}

// 300 * 300 is more than the greatest half.
TEST(NormTest, RmsNormOfHalvesTakesSquaresInFloats) {
  const NDArray x = NDArray::FromVector<float>({1, 4}, {300, 400, 500, -600});
  const NDArray weight = NDArray::FromVector<float>({4}, {1, 1, 1, 1});
  const double root = std::sqrt((9 + 16 + 25 + 36) * 1e4 / 4);
  for (const char* type : {"float16", "bfloat16"}) {
    const auto cast = [&](const char* name) {
      return StrCat("R.astype(", name, ", \"", type, "\")");
    };
    const NDArray y = ValueOf(
        StrCat("R.astype(R.nn.rms_norm(", cast("a"), ", ", cast("b"), ", axes=[-1]), \"float32\")"),
        {x, weight});
    ExpectEach(
        y, [&](std::size_t i) { return x.data<float>()[i] / root; }, 1e-2);
  }
}

TEST(IndexTest, RepeatWithoutAnAxisFlattens) {
  const NDArray x = Values({3, 5}, 1);
  const NDArray flat = ValueOf("R.repeat(a, 2)", {x});
  EXPECT_EQ(flat.shape(), (Shape{30}));
  ExpectEach(flat, [&](std::size_t i) { return x.data<float>()[i / 2]; });
  const NDArray rows = ValueOf("R.repeat(a, 2, axis=0)", {x});
  EXPECT_EQ(rows.shape(), (Shape{6, 5}));
  ExpectEach(rows, [&](std::size_t i) { return x.data<float>()[i / 10 * 5 + i % 5]; });
}

TEST(IndexTest, IndexTuplesAreOnTheLastAxis) {
  const NDArray x = Values({3, 5}, 7);
  const NDArray indices = NDArray::FromVector<std::int64_t>({4, 2}, {0, 0, 2, 4, 1, 3, 2, 0});
  const std::size_t places[] = {0, 14, 8, 10};
  ExpectEach(
      ValueOf("R.gather_nd(a, b)", {x, indices}),
      [&](std::size_t i) { return x.data<float>()[places[i]]; }, 0);
  const NDArray updates = Values({4}, 8);
  ExpectEach(ValueOf("R.scatter_nd(a, b, c, reduction=\"add\")", {x, indices, updates}),
             [&](std::size_t i) {
               double value = x.data<float>()[i];
               for (std::size_t k = 0; k < 4; ++k) {
                 if (places[k] == i) value += updates.data<float>()[k];
               }
               return value;
             });
}

TEST(IndexTest, GatherNdSharesLeadingAxes) {
  const NDArray x = Values({3, 5}, 7);
  const NDArray indices = NDArray::FromVector<std::int64_t>({3, 2, 1}, {4, 0, 2, 2, 1, 3});
  const NDArray picked = ValueOf("R.gather_nd(a, b, batch_dims=1)", {x, indices});
  EXPECT_EQ(picked.shape(), (Shape{3, 2}));
  ExpectEach(
      picked,
      [&](std::size_t i) {
        return x
            .data<float>()[i / 2 * 5 + static_cast<std::size_t>(indices.data<std::int64_t>()[i])];
      },
      0);
}

// The last part is what is left.
TEST(IndexTest, PartsMayBeOfUnequalExtents) {
  const NDArray x = Values({2, 7}, 3);
  const std::size_t begins[] = {0, 3, 6};
  for (std::size_t part = 0; part < 3; ++part) {
    const NDArray y = ValueOf(StrCat("R.split(a, 3, axis=1)[", part, "]"), {x});
    const std::size_t width = part == 2 ? 1 : 3;
    EXPECT_EQ(y.shape(), (Shape{2, static_cast<std::int64_t>(width)}));
    ExpectEach(
        y, [&](std::size_t i) { return x.data<float>()[i / width * 7 + begins[part] + i % width]; },
        0);
  }
}

TEST(IndexTest, TrianglesKeepWhatIsBelowOrAboveADiagonal) {
  const NDArray x = Values({3, 5}, 9);
  for (const int k : {-1, 0, 2}) {
    ExpectEach(
        ValueOf(StrCat("R.triu(a, ", k, ")"), {x}),
        [&](std::size_t i) {
          const auto row = static_cast<int>(i / 5), column = static_cast<int>(i % 5);
          return column - row >= k ? x.data<float>()[i] : 0;
        },
        0);
    ExpectEach(
        ValueOf(StrCat("R.tril(a, ", k, ")"), {x}),
        [&](std::size_t i) {
          const auto row = static_cast<int>(i / 5), column = static_cast<int>(i % 5);
          return column - row <= k ? x.data<float>()[i] : 0;
        },
        0);
  }
}

TEST(CreateTest, ArangeCountsFromItsStartToItsEnd) {
  EXPECT_EQ(ValueOf("R.arange(4)", {}).ToVector<std::int64_t>(),
            (std::vector<std::int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(ValueOf("R.arange(2, 7, 2, dtype=\"int32\")", {}).ToVector<std::int32_t>(),
            (std::vector<std::int32_t>{2, 4, 6}));
  EXPECT_EQ(ValueOf("R.arange(0.0, 1.0, 0.5)", {}).ToVector<float>(), (Floats{0, 0.5}));
}

TEST(PadTest, BeforeAndAfterOfEachAxisStandInOneRow) {
  const NDArray x = Values({2, 3}, 10);
  const NDArray y = ValueOf("R.nn.pad(a, (1, 0, 0, 2), pad_value=7.0)", {x});
  ASSERT_EQ(y.shape(), (Shape{3, 5}));
  ExpectEach(
      y,
      [&](std::size_t i) {
        const std::size_t row = i / 5, column = i % 5;
        return row >= 1 && column < 3 ? x.data<float>()[(row - 1) * 3 + column] : 7;
      },
      0);
}

TEST(LinearTest, AddsTheBiasToTheProductByTheTransposedWeight) {
  const NDArray x = Values({2, 3}, 11), weight = Values({5, 3}, 12), bias = Values({5}, 13);
  ExpectEach(ValueOf("R.linear(a, b, c)", {x, weight, bias}), [&](std::size_t i) {
    double sum = bias.data<float>()[i % 5];
    for (std::size_t k = 0; k < 3; ++k)
      sum += x.data<float>()[i / 5 * 3 + k] * weight.data<float>()[i % 5 * 3 + k];
    return sum;
  });
}

}  // namespace
}  // namespace tenon::relax
