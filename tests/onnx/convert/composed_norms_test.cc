// Normalisations, Lp norms and small elementwise operators of the standard against their
// definitions.
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

#include "tenon/tests/onnx/written_model.h"

namespace tenon::onnx_import {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing_graphs::ExpectClose;
using testing_graphs::Random;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

NDArray Floats(const Shape& shape, const std::vector<double>& values) {
  return NDArray::FromVector<float>(shape, std::vector<float>(values.begin(), values.end()));
}

TEST(ComposedNormTest, GroupsOfChannelsAreNormalisedAndScaledPerGroupOrPerChannel) {
  for (const int opset : {18, 21}) {
    for (const std::int64_t groups : {1, 3, 6}) {
      SCOPED_TRACE(groups);
      const std::int64_t scales = opset < 21 ? groups : 6, each = 6 / groups;
      const NDArray x = Random({2, 6, 5, 3}, 1), scale = Random({scales}, 2),
                    bias = Random({scales}, 3);
      Model model(opset);
      model.InputLike("x", x).InputLike("scale", scale).InputLike("bias", bias).Output("y");
      NodeProto& node = model.Node("GroupNormalization", {"x", "scale", "bias"}, {"y"});
      SetInt(node, "num_groups", groups);
      SetFloat(node, "epsilon", 0.01F);
      std::vector<double> expected;
      for (std::int64_t i = 0; i < 2 * groups; ++i) {
        const float* group = x.data<float>() + i * each * 15;
        double mean = 0, variance = 0;
        for (std::int64_t k = 0; k < each * 15; ++k) mean += group[k];
        mean /= static_cast<double>(each * 15);
        for (std::int64_t k = 0; k < each * 15; ++k) variance += std::pow(group[k] - mean, 2);
        variance /= static_cast<double>(each * 15);
        for (std::int64_t k = 0; k < each * 15; ++k) {
          const std::int64_t channel = i % groups * each + k / 15;
          const std::int64_t at = opset < 21 ? channel / each : channel;
          expected.push_back((group[k] - mean) / std::sqrt(variance + 0.01) *
                                 scale.data<float>()[at] +
                             bias.data<float>()[at]);
        }
      }
      ExpectClose(Computed(model, {{"x", x}, {"scale", scale}, {"bias", bias}})[0],
                  Floats({2, 6, 5, 3}, expected));
    }
  }
}

// float16 ends at 65504: squares of 300 and sums of 3000 elements of 50 are beyond it.
TEST(ComposedNormTest, NodesOfHalvesRoundOnce) {
  struct Case {
    const char* op;
    std::function<void(NodeProto&)> set;
    double first;  // of the results for 300 and 400
  };
  const auto lp = [](NodeProto& node) { SetInts(node, "kernel_shape", {2}); };
  const Case cases[] = {
      {"ReduceL2", nullptr, 500},
      {"LpNormalization", nullptr, 0.6},
      {"GlobalLpPool", nullptr, 500},
      {"LpPool", lp, 500},
      {"ReduceLogSum", nullptr, std::log(700)},
      {"MeanVarianceNormalization", [](NodeProto& node) { SetInts(node, "axes", {2}); }, -1},
      {"InstanceNormalization", nullptr, -1},
      {"HardSwish", nullptr, 300}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.op);
    Model model(17);
    model.Input("x", {1, 1, 2}).Output("y");
    model.Constant("one", NDArray::FromVector<float>({1}, {1}));
    model.Constant("zero", NDArray::FromVector<float>({1}, {0}));
    SetInt(model.Node("Cast", {"x"}, {"half"}), "to", TensorProto::FLOAT16);
    SetInt(model.Node("Cast", {"one"}, {"scale"}), "to", TensorProto::FLOAT16);
    SetInt(model.Node("Cast", {"zero"}, {"shift"}), "to", TensorProto::FLOAT16);
    const bool has_scale = std::string(c.op) == "InstanceNormalization";
    NodeProto& node = has_scale ? model.Node(c.op, {"half", "scale", "shift"}, {"z"})
                                : model.Node(c.op, {"half"}, {"z"});
    if (c.set) c.set(node);
    SetInt(model.Node("Cast", {"z"}, {"y"}), "to", TensorProto::FLOAT);
    const NDArray y =
        Computed(model, {{"x", NDArray::FromVector<float>({1, 1, 2}, {300, 400})}})[0];
    EXPECT_NEAR(y.data<float>()[0], c.first, 1e-3 * std::abs(c.first));
  }
}

TEST(ComposedNormTest, AProductOfHalvesIsScaledBeforeItIsRounded) {
  Model model(17);
  model.Input("x", {1, 2}).Output("y");
  SetInt(model.Node("Cast", {"x"}, {"half"}), "to", TensorProto::FLOAT16);
  NodeProto& node = model.Node("Gemm", {"half", "half", "half"}, {"z"});
  SetInt(node, "transB", 1);
  SetFloat(node, "alpha", 0.001F);
  SetFloat(node, "beta", 0.5F);
  SetInt(model.Node("Cast", {"z"}, {"y"}), "to", TensorProto::FLOAT);
  const NDArray y = Computed(model, {{"x", NDArray::FromVector<float>({1, 2}, {300, 400})}})[0];
  EXPECT_NEAR(y.data<float>()[0], 400, 0.25);
}

TEST(ComposedNormTest, HardSwishOfLargeNumbersIsThem) {
  Model model(17);
  model.Input("x", {3}).Output("y");
  model.Node("HardSwish", {"x"}, {"y"});
  const NDArray x = NDArray::FromVector<float>({3}, {1e38F, -1e38F, 3e38F});
  EXPECT_EQ(Computed(model, {{"x", x}})[0].ToVector<float>(),
            (std::vector<float>{1e38F, -0.0F, 3e38F}));
}

TEST(ComposedNormTest, ScalesOfAnotherNumberAreNamedWithTheOpset) {
  Model model(18);
  model.Input("x", {2, 6, 5}).Input("scale", {6}).Input("bias", {6}).Output("y");
  SetInt(model.Node("GroupNormalization", {"x", "scale", "bias"}, {"y"}, "groups"), "num_groups",
         3);
  EXPECT_THAT(MessageOf(Imported(model), kInvalid),
              AllOf(HasSubstr("groups (GroupNormalization)"), HasSubstr("opset 18 takes (3)")));
}

TEST(ComposedNormTest, RowsAreDividedByTheRootOfTheirMeanSquare) {
  for (const std::int64_t axis : {-1, 1, 0}) {
    SCOPED_TRACE(axis);
    const NDArray x = Random({2, 3, 7}, 1);
    const Shape shape = axis == -1 ? Shape{7} : axis == 1 ? Shape{3, 7} : Shape{2, 3, 7};
    const NDArray scale = Random(shape, 2);
    Model model(23);
    model.InputLike("x", x).InputLike("scale", scale).Output("y");
    NodeProto& node = model.Node("RMSNormalization", {"x", "scale"}, {"y"});
    SetInt(node, "axis", axis);
    SetFloat(node, "epsilon", 0.01F);
    const std::int64_t row = scale.size();
    std::vector<double> expected;
    for (std::int64_t i = 0; i < 42; ++i) {
      double sum = 0;
      for (std::int64_t k = 0; k < row; ++k) sum += std::pow(x.data<float>()[i / row * row + k], 2);
      expected.push_back(x.data<float>()[i] / std::sqrt(sum / static_cast<double>(row) + 0.01) *
                         scale.data<float>()[i % row]);
    }
    ExpectClose(Computed(model, {{"x", x}, {"scale", scale}})[0], Floats({2, 3, 7}, expected));
  }
}

TEST(ComposedNormTest, RowsAreDividedByTheirLpNormUnlessItIsZero) {
  for (const std::int64_t p : {1, 2}) {
    NDArray x = Random({3, 5, 2}, 1);
    for (std::int64_t k = 0; k < 5; ++k) x.data<float>()[k * 2 + 1] = 0;
    Model model(22);
    model.InputLike("x", x).Output("y");
    NodeProto& node = model.Node("LpNormalization", {"x"}, {"y"});
    SetInt(node, "p", p);
    SetInt(node, "axis", 1);
    std::vector<double> expected;
    for (std::int64_t i = 0; i < 30; ++i) {
      double norm = 0;
      for (std::int64_t k = 0; k < 5; ++k)
        norm += std::pow(std::fabs(x.data<float>()[i / 10 * 10 + k * 2 + i % 2]),
                         static_cast<double>(p));
      norm = std::pow(norm, 1.0 / static_cast<double>(p));
      expected.push_back(norm == 0 ? 0 : x.data<float>()[i] / norm);
    }
    ExpectClose(Computed(model, {{"x", x}})[0], Floats({3, 5, 2}, expected));
  }
}

TEST(ComposedNormTest, WindowsAndImagesArePooledByTheirLpNorm) {
  for (const std::int64_t p : {1, 2, 3}) {
    for (const bool ceil : {false, true}) {
      SCOPED_TRACE(p);
      const NDArray x = Random({2, 2, 7, 6}, 1);
      Model model(22);
      model.InputLike("x", x).Output("y").Output("whole");
      NodeProto& node = model.Node("LpPool", {"x"}, {"y"});
      SetInt(node, "p", p);
      SetInts(node, "kernel_shape", {3, 2});
      SetInts(node, "strides", {3, 3});
      SetInts(node, "pads", {1, 0, 0, 1});
      SetInts(node, "dilations", {1, 2});
      SetInt(node, "ceil_mode", ceil ? 1 : 0);
      SetInt(model.Node("GlobalLpPool", {"x"}, {"whole"}), "p", p);
      const std::vector<NDArray> results = Computed(model, {{"x", x}});
      // The second axis has room for a third window only in part; it would start at 6, in the
      // padding.
      const std::int64_t rows = ceil ? 3 : 2, columns = 2;
      ASSERT_EQ(results[0].shape(), (Shape{2, 2, rows, columns}));
      std::vector<double> expected, whole;
      for (std::int64_t plane = 0; plane < 4; ++plane) {
        const float* image = x.data<float>() + plane * 42;
        double all = 0;
        for (std::int64_t i = 0; i < 42; ++i)
          all += std::pow(std::fabs(image[i]), static_cast<double>(p));
        whole.push_back(std::pow(all, 1.0 / static_cast<double>(p)));
        for (std::int64_t i = 0; i < rows; ++i)
          for (std::int64_t j = 0; j < columns; ++j) {
            double sum = 0;
            for (std::int64_t r = 3 * i - 1; r < 3 * i + 2; ++r)
              for (std::int64_t c = 3 * j; c < 3 * j + 4; c += 2)
                if (r >= 0 && r < 7 && c < 6)
                  sum += std::pow(std::fabs(image[r * 6 + c]), static_cast<double>(p));
            expected.push_back(std::pow(sum, 1.0 / static_cast<double>(p)));
          }
      }
      ExpectClose(results[0], Floats({2, 2, rows, columns}, expected));
      ExpectClose(results[1], Floats({2, 2, 1, 1}, whole));
    }
  }
}

// torch.nn.MaxPool1d and AvgPool1d: a window must start in the data or in the padding before it.
TEST(PoolingTest, AWindowThatWouldStartInThePaddingIsDropped) {
  struct Case {
    std::int64_t extent, kernel, stride, before, after, windows;
  };
  for (const Case& c : {Case{4, 1, 4, 0, 0, 1}, Case{5, 2, 3, 1, 1, 2}, Case{6, 3, 2, 1, 1, 4},
                        Case{9, 2, 4, 0, 1, 3}, Case{7, 3, 5, 1, 1, 2}, Case{8, 3, 3, 1, 1, 3},
                        Case{5, 1, 2, 0, 0, 3}, Case{6, 2, 5, 0, 1, 2}}) {
    for (const int opset : {11, 13, 22}) {
      SCOPED_TRACE(c.extent * 100 + c.kernel * 10 + c.stride);
      const NDArray x = Random({1, 2, c.extent}, 1);
      Model model(opset);
      model.InputLike("x", x).Output("most").Output("mean").Output("full");
      for (const char* output : {"most", "mean", "full"}) {
        const std::string type = std::string(output) == "most" ? "MaxPool" : "AveragePool";
        NodeProto& node = model.Node(type, {"x"}, {output});
        SetInts(node, "kernel_shape", {c.kernel});
        SetInts(node, "strides", {c.stride});
        SetInts(node, "pads", {c.before, c.after});
        SetInt(node, "ceil_mode", 1);
        if (std::string(output) == "full") SetInt(node, "count_include_pad", 1);
      }
      std::vector<double> most, mean, full;
      for (std::int64_t plane = 0; plane < 2; ++plane) {
        for (std::int64_t w = 0; w < c.windows; ++w) {
          double greatest = -std::numeric_limits<double>::infinity(), sum = 0, count = 0, with = 0;
          for (std::int64_t k = 0; k < c.kernel; ++k) {
            const std::int64_t at = w * c.stride - c.before + k;
            with += at < c.extent + c.after ? 1 : 0;
            if (at < 0 || at >= c.extent) continue;
            const double value = x.data<float>()[plane * c.extent + at];
            greatest = std::max(greatest, value);
            sum += value;
            ++count;
          }
          most.push_back(greatest);
          mean.push_back(sum / count);
          full.push_back(sum / with);
        }
      }
      const std::vector<NDArray> results = Computed(model, {{"x", x}});
      ExpectClose(results.at(0), Floats({1, 2, c.windows}, most));
      ExpectClose(results.at(1), Floats({1, 2, c.windows}, mean));
      ExpectClose(results.at(2), Floats({1, 2, c.windows}, full));
    }
  }
}

TEST(ElementwiseOpTest, SwishIsTheInputTimesItsSigmoid) {
  for (const float alpha : {1.0F, 0.5F}) {
    const NDArray x = Random({37}, Float32, 1, -9, 9);
    Model model(24);
    model.InputLike("x", x).Output("y");
    SetFloat(model.Node("Swish", {"x"}, {"y"}), "alpha", alpha);
    std::vector<double> expected;
    for (const double v : x.ToVector<float>()) expected.push_back(v / (1 + std::exp(-alpha * v)));
    ExpectClose(Computed(model, {{"x", x}})[0], Floats({37}, expected));
  }
}

TEST(ElementwiseOpTest, SwiGluGatesAValueOfItsShape) {
  for (const float alpha : {1.0F, 0.5F}) {
    const NDArray gate = Random({3, 7}, Float32, 1, -9, 9), value = Random({3, 7}, Float32, 2);
    Model model(27);
    model.InputLike("a", gate).InputLike("b", value).Output("y");
    SetFloat(model.Node("SwiGLU", {"a", "b"}, {"y"}), "alpha", alpha);
    std::vector<double> expected;
    for (std::int64_t i = 0; i < gate.size(); ++i) {
      const double g = gate.data<float>()[i];
      expected.push_back(g / (1 + std::exp(-alpha * g)) * value.data<float>()[i]);
    }
    ExpectClose(Computed(model, {{"a", gate}, {"b", value}})[0], Floats({3, 7}, expected));
  }
  Model broadcast(27);
  broadcast.Input("a", {3, 7}).Input("b", {1, 7}).Output("y");
  broadcast.Node("SwiGLU", {"a", "b"}, {"y"}, "gated");
  EXPECT_THAT(MessageOf(Imported(broadcast), kInvalid),
              AllOf(HasSubstr("gated (SwiGLU)"), HasSubstr("(3, 7)"), HasSubstr("(1, 7)")));
}

TEST(ElementwiseOpTest, MishIsTheInputTimesTheTangentOfItsSoftplus) {
  const NDArray x =
      NDArray::FromVector<float>({11}, {-100, -20.5F, -3, -1, -0.25F, 0, 0.125F, 1, 7.5F, 30, 100});
  Model model(18);
  model.InputLike("x", x).Output("y").Node("Mish", {"x"}, {"y"});
  std::vector<double> expected;
  for (const double v : x.ToVector<float>())
    expected.push_back(v * std::tanh(std::log1p(std::exp(v))));
  ExpectClose(Computed(model, {{"x", x}})[0], Floats({11}, expected));
}

TEST(ElementwiseOpTest, GeluIsExactOrByTheTangent) {
  const NDArray x = Random({37}, Float32, 1, -6, 6);
  for (const char* how : {"none", "tanh"}) {
    Model model(20);
    model.InputLike("x", x).Output("y");
    SetString(model.Node("Gelu", {"x"}, {"y"}), "approximate", how);
    std::vector<double> expected;
    for (const double v : x.ToVector<float>()) {
      const double cubed = std::sqrt(2 / std::numbers::pi) * (v + 0.044715 * v * v * v);
      expected.push_back(std::string(how) == "none"
                             ? v / 2 * (1 + std::erf(v / std::numbers::sqrt2))
                             : v / 2 * (1 + std::tanh(cubed)));
    }
    ExpectClose(Computed(model, {{"x", x}})[0], Floats({37}, expected));
  }
}

template <typename T>
void ExpectBitwise(int type) {
  std::vector<T> a, b, inverted, different, common, either;
  for (int i = 0; i < 37; ++i) {
    a.push_back(static_cast<T>(i * 7919 - 90001));
    b.push_back(static_cast<T>(i * 104729 + 11));
    inverted.push_back(static_cast<T>(~a.back()));
    different.push_back(static_cast<T>(a.back() ^ b.back()));
    common.push_back(static_cast<T>(a.back() & b.back()));
    either.push_back(static_cast<T>(a.back() | b.back()));
  }
  Model model(18);
  model.Input("a", {37}, type).Input("b", {37}, type);
  model.Output("not").Output("xor").Output("and").Output("or");
  model.Node("BitwiseNot", {"a"}, {"not"});
  model.Node("BitwiseXor", {"a", "b"}, {"xor"});
  model.Node("BitwiseAnd", {"a", "b"}, {"and"});
  model.Node("BitwiseOr", {"a", "b"}, {"or"});
  const std::vector<NDArray> results =
      Computed(model, {{"a", NDArray::FromVector({37}, a)}, {"b", NDArray::FromVector({37}, b)}});
  EXPECT_EQ(results[0].ToVector<T>(), inverted);
  EXPECT_EQ(results[1].ToVector<T>(), different);
  EXPECT_EQ(results[2].ToVector<T>(), common);
  EXPECT_EQ(results[3].ToVector<T>(), either);
}

TEST(ElementwiseOpTest, BitsOfIntegersAreInvertedAndJoined) {
  ExpectBitwise<std::int8_t>(TensorProto::INT8);
  ExpectBitwise<std::uint8_t>(TensorProto::UINT8);
  ExpectBitwise<std::int32_t>(TensorProto::INT32);
  ExpectBitwise<std::uint64_t>(TensorProto::UINT64);
}

TEST(ElementwiseOpTest, BitsKeepTheirValueUnderAnotherType) {
  const NDArray x =
      NDArray::FromVector<float>({4}, {0, -1.5F, 1e-42F, std::numeric_limits<float>::infinity()});
  Model model(26);
  model.InputLike("x", x).Output("y");
  SetInt(model.Node("BitCast", {"x"}, {"y"}, "bits"), "to", TensorProto::INT32);
  const std::vector<std::int32_t> y = Computed(model, {{"x", x}})[0].ToVector<std::int32_t>();
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_EQ(y[i], std::bit_cast<std::int32_t>(x.data<float>()[i]));
  model.proto.mutable_graph()->mutable_node(0)->mutable_attribute(0)->set_i(TensorProto::INT64);
  EXPECT_THAT(MessageOf(Imported(model), kInvalid),
              AllOf(HasSubstr("bits (BitCast)"), HasSubstr("float32 cannot be int64")));
}

TEST(ElementwiseOpTest, ProductsRunUpAnAxisInBothDirections) {
  for (const bool reverse : {false, true}) {
    for (const bool exclusive : {false, true}) {
      const NDArray x = Random({3, 5}, Float32, 1, 0.5, 2);
      Model model(26);
      model.InputLike("x", x).Initializer("axis", NDArray::Scalar<std::int64_t>(-1)).Output("y");
      NodeProto& node = model.Node("CumProd", {"x", "axis"}, {"y"});
      SetInt(node, "reverse", reverse ? 1 : 0);
      SetInt(node, "exclusive", exclusive ? 1 : 0);
      std::vector<double> expected(15);
      for (std::size_t row = 0; row < 3; ++row) {
        double product = 1;
        for (std::size_t k = 0; k < 5; ++k) {
          const std::size_t at = row * 5 + (reverse ? 4 - k : k);
          if (exclusive) expected[at] = product;
          product *= x.data<float>()[at];
          if (!exclusive) expected[at] = product;
        }
      }
      ExpectClose(Computed(model, {{"x", x}})[0], Floats({3, 5}, expected));
    }
  }
}

TEST(ElementwiseOpTest, RangesOfHalvesAreRoundedOnce) {
  for (const int type : {TensorProto::FLOAT16, TensorProto::BFLOAT16}) {
    Model model(18);
    const char* names[] = {"start", "limit", "step"};
    const float values[] = {0.25F, 2.5F, 0.5F};
    for (int i = 0; i < 3; ++i) {
      model.Initializer(std::string(names[i]) + "_f", NDArray::Scalar<float>(values[i]));
      SetInt(model.Node("Cast", {std::string(names[i]) + "_f"}, {names[i]}), "to", type);
    }
    model.Node("Range", {"start", "limit", "step"}, {"h"});
    SetInt(model.Node("Cast", {"h"}, {"y"}), "to", TensorProto::FLOAT);
    model.Output("y");
    EXPECT_THAT(Computed(model, {})[0].ToVector<float>(),
                ::testing::ElementsAre(0.25F, 0.75F, 1.25F, 1.75F, 2.25F));
  }
}

}  // namespace
}  // namespace tenon::onnx_import
