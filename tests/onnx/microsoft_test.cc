// Operators of the domain com.microsoft: each does what standard ones in its place do, which is how
// ONNX Runtime's document defines them.
#include <cmath>

#include "tenon/tests/onnx/written_model.h"

namespace tenon::onnx_import {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing_graphs::ExpectClose;
using testing_graphs::Random;

constexpr char kDomain[] = "com.microsoft";

// Every byte comes up, in no order that matters.
template <typename T>
NDArray AllBytes(const Shape& shape, int seed) {
  std::vector<T> values;
  for (std::int64_t i = 0; i < NumElements(shape); ++i)
    values.push_back(static_cast<T>(37 * i + 11 * seed));
  return NDArray::FromVector<T>(shape, values);
}

// The same inputs and constants for a node of the domain and for standard ones.
class MicrosoftTest : public ::testing::Test {
 protected:
  NodeProto& Fused(const std::string& type, const Names& inputs) {
    return fused_.Node(type, inputs, {"y"}, "fused", kDomain);
  }
  NodeProto& Plain(const std::string& type, const Names& inputs, const Names& outputs) {
    return plain_.Node(type, inputs, outputs);
  }
  NodeProto& Plain(const std::string& type, const Names& inputs, const char* output = "y") {
    return Plain(type, inputs, Names{output});
  }
  void Floats(const std::string& name, const Shape& shape) {
    Declare(name, Random(shape, Float32, ++seed_), TensorProto::FLOAT);
  }
  void Bytes(const std::string& name, const Shape& shape) {
    Declare(name, AllBytes<std::uint8_t>(shape, ++seed_), TensorProto::UINT8);
  }
  void Constant(const std::string& name, const NDArray& values) {
    fused_.Constant(name, values);
    plain_.Constant(name, values);
  }
  void FloatConstant(const std::string& name, const Shape& shape, double low = -1) {
    Constant(name, Random(shape, Float32, ++seed_, low, 1));
  }
  // NAMEs and NAMEz.
  void Quantization(const std::string& name, float scale, std::uint8_t zero_point) {
    Constant(name + "s", NDArray::Scalar(scale));
    Constant(name + "z", NDArray::Scalar(zero_point));
  }
  void ExpectSame() {
    const NDArray expected = Computed(plain_.Output("y"), inputs_).at(0);
    ExpectClose(Computed(fused_.Output("y"), inputs_).at(0), expected);
  }
  std::string Refusal() {
    return MessageOf(Imported(fused_.Output("y")), absl::StatusCode::kUnimplemented);
  }

 private:
  void Declare(const std::string& name, const NDArray& values, int type) {
    fused_.Input(name, values.shape(), type);
    plain_.Input(name, values.shape(), type);
    inputs_[name] = values;
  }

  Model fused_{17}, plain_{17};
  runtime::Inputs inputs_;
  int seed_ = 0;
};

// --- fused operators

TEST_F(MicrosoftTest, AFusedConvolutionAddsItsFourthInputBeforeTheActivation) {
  Floats("x", {1, 3, 5, 7});
  Floats("z", {1, 4, 5, 7});
  FloatConstant("w", {4, 3, 3, 3});
  FloatConstant("b", {4});
  NodeProto& fused = Fused("FusedConv", {"x", "w", "b", "z"});
  SetInts(fused, "pads", {1, 1, 1, 1});
  SetString(fused, "activation", "LeakyRelu");
  SetFloats(fused, "activation_params", {0.25F});
  SetInts(Plain("Conv", {"x", "w", "b"}, "c"), "pads", {1, 1, 1, 1});
  Plain("Add", {"c", "z"}, "s");
  SetFloat(Plain("LeakyRelu", {"s"}), "alpha", 0.25F);
  ExpectSame();
}

TEST_F(MicrosoftTest, AFusedConvolutionClips) {
  Floats("x", {1, 3, 5});
  FloatConstant("w", {4, 3, 2});
  Constant("low", NDArray::Scalar(-0.25F));
  Constant("high", NDArray::Scalar(0.5F));
  NodeProto& fused = Fused("FusedConv", {"x", "w"});
  SetString(fused, "activation", "Clip");
  SetFloats(fused, "activation_params", {-0.25F, 0.5F});
  Plain("Conv", {"x", "w"}, "c");
  Plain("Clip", {"c", "low", "high"});
  ExpectSame();
}

TEST_F(MicrosoftTest, AnActivationThatIsNotKnownIsRefused) {
  Floats("x", {1, 3, 5});
  FloatConstant("w", {4, 3, 2});
  SetString(Fused("FusedConv", {"x", "w"}), "activation", "Wobble");
  EXPECT_THAT(Refusal(), AllOf(HasSubstr("in the node fused (FusedConv)"),
                               HasSubstr("the activation Wobble is not supported")));
}

TEST_F(MicrosoftTest, AFusedGemmScalesBeforeTheActivation) {
  Floats("x", {3, 6});
  FloatConstant("w", {8, 6});
  FloatConstant("c", {8});
  NodeProto& fused = Fused("FusedGemm", {"x", "w", "c"});
  SetString(fused, "activation", "HardSigmoid");
  SetFloat(fused, "activation_alpha", 0.3F);
  SetFloat(fused, "activation_beta", 0.4F);
  NodeProto& plain = Plain("Gemm", {"x", "w", "c"}, "g");
  for (NodeProto* node : {&fused, &plain}) {
    SetInt(*node, "transB", 1);
    SetFloat(*node, "alpha", 0.5F);
    SetFloat(*node, "beta", 2);
  }
  NodeProto& after = Plain("HardSigmoid", {"g"});
  SetFloat(after, "alpha", 0.3F);
  SetFloat(after, "beta", 0.4F);
  ExpectSame();
}

TEST_F(MicrosoftTest, AnActivationMayHaveItsSecondParameterAlone) {
  Floats("x", {3, 6});
  FloatConstant("w", {6, 8});
  NodeProto& fused = Fused("FusedGemm", {"x", "w"});
  SetString(fused, "activation", "HardSigmoid");
  SetFloat(fused, "activation_beta", 0.25F);
  Plain("Gemm", {"x", "w"}, "g");
  SetFloat(Plain("HardSigmoid", {"g"}), "beta", 0.25F);
  ExpectSame();
}

TEST_F(MicrosoftTest, AFusedProductTransposesAndScales) {
  Floats("a", {2, 5, 4});
  Floats("b", {2, 6, 5});
  NodeProto& fused = Fused("FusedMatMul", {"a", "b"});
  SetInt(fused, "transA", 1);
  SetInt(fused, "transB", 1);
  SetFloat(fused, "alpha", 0.25F);
  SetInts(Plain("Transpose", {"a"}, "at"), "perm", {0, 2, 1});
  SetInts(Plain("Transpose", {"b"}, "bt"), "perm", {0, 2, 1});
  Plain("MatMul", {"at", "bt"}, "p");
  Constant("quarter", NDArray::Scalar(0.25F));
  Plain("Mul", {"p", "quarter"});
  ExpectSame();
}

TEST_F(MicrosoftTest, ATransposedBatchIsRefused) {
  Floats("a", {2, 5, 4});
  Floats("b", {2, 5, 4});
  SetInt(Fused("FusedMatMul", {"a", "b"}), "transBatchA", 1);
  EXPECT_THAT(Refusal(), HasSubstr("transBatchA is not supported"));
}

// --- activations: x * P(X <= x) of a normal distribution, exact and by approximations

TEST_F(MicrosoftTest, ABiasedGeluAddsFirst) {
  Floats("x", {3, 7});
  FloatConstant("b", {7});
  Fused("BiasGelu", {"x", "b"});
  Plain("Add", {"x", "b"}, "s");
  Constant("root", NDArray::Scalar(std::sqrt(0.5F)));
  Constant("half", NDArray::Scalar(0.5F));
  Constant("one", NDArray::Scalar(1.0F));
  Plain("Mul", {"s", "root"}, "t");
  Plain("Erf", {"t"}, "e");
  Plain("Add", {"e", "one"}, "f");
  Plain("Mul", {"s", "f"}, "g");
  Plain("Mul", {"g", "half"});
  ExpectSame();
}

TEST_F(MicrosoftTest, AFastGeluTakesTheHyperbolicTangent) {
  Floats("x", {3, 7});
  Fused("FastGelu", {"x"});
  Constant("outer", NDArray::Scalar(0.797884560802865F));
  Constant("inner", NDArray::Scalar(0.044715F));
  Constant("half", NDArray::Scalar(0.5F));
  Plain("Mul", {"x", "x"}, "x2");
  Plain("Mul", {"x2", "x"}, "x3");
  Plain("Mul", {"x3", "inner"}, "i");
  Plain("Add", {"x", "i"}, "s");
  Plain("Mul", {"s", "outer"}, "o");
  Plain("Tanh", {"o"}, "t");
  Plain("Mul", {"x", "half"}, "h");
  Plain("Mul", {"h", "t"}, "ht");
  Plain("Add", {"h", "ht"});
  ExpectSame();
}

TEST_F(MicrosoftTest, AQuickGeluTakesTheSigmoid) {
  Floats("x", {3, 7});
  Fused("QuickGelu", {"x"});
  Constant("alpha", NDArray::Scalar(1.702F));
  Plain("Mul", {"x", "alpha"}, "s");
  Plain("Sigmoid", {"s"}, "p");
  Plain("Mul", {"x", "p"});
  ExpectSame();
}

// --- normalisation

TEST_F(MicrosoftTest, ASkippingNormalizationAddsBothAndTheBias) {
  Floats("x", {2, 3, 7});
  Floats("k", {2, 3, 7});
  for (const char* name : {"g", "b", "c"}) FloatConstant(name, {7});
  SetFloat(Fused("SkipLayerNormalization", {"x", "k", "g", "b", "c"}), "epsilon", 1e-3F);
  Plain("Add", {"x", "k"}, "s");
  Plain("Add", {"s", "c"}, "t");
  SetFloat(Plain("LayerNormalization", {"t", "g", "b"}), "epsilon", 1e-3F);
  ExpectSame();
}

TEST(MicrosoftOutputsTest, ASkippingNormalizationGivesTheSum) {
  Model model(17);
  model.Input("x", {2}).Input("k", {2}).Constant("g", NDArray::FromVector<float>({2}, {1, 1}));
  model.Output("sum").Node("SkipLayerNormalization", {"x", "k", "g"}, {"y", "", "", "sum"}, "",
                           kDomain);
  const auto two = [](float a, float b) { return NDArray::FromVector<float>({2}, {a, b}); };
  ExpectClose(Computed(model, {{"x", two(1, 2)}, {"k", two(10, 30)}}).at(0), two(11, 32));
}

// --- quantised operators

struct Elements {
  const char *fused, *plain;
  std::size_t operands;
  friend void PrintTo(const Elements& e, std::ostream* out) { *out << e.fused; }
};

class QuantizedElements : public MicrosoftTest, public ::testing::WithParamInterface<Elements> {};

TEST_P(QuantizedElements, AreComputedAsFloatsAndRoundedOnce) {
  const bool is_pool = std::string(GetParam().plain) == "AveragePool";
  Names fused, plain;
  for (std::size_t i = 0; i < GetParam().operands; ++i) {
    const std::string name(1, static_cast<char>('a' + i));
    Bytes(name, {2, 3, 5, 7});
    Quantization(name, 0.02F + 0.01F * static_cast<float>(i), static_cast<std::uint8_t>(120 + i));
    fused.insert(fused.end(), {name, name + "s", name + "z"});
    Plain("DequantizeLinear", {name, name + "s", name + "z"}, Names{name + "f"});
    plain.push_back(name + "f");
  }
  Quantization("y", 0.017F, 130);
  fused.insert(fused.end(), {"ys", "yz"});
  NodeProto& node = Fused(GetParam().fused, fused);
  NodeProto& standard = Plain(GetParam().plain, plain, "f");
  if (is_pool) {
    for (NodeProto* pool : {&node, &standard}) {
      SetInts(*pool, "kernel_shape", {2, 3});
      SetInts(*pool, "pads", {1, 1, 0, 1});
      SetInts(*pool, "strides", {2, 1});
    }
  }
  Plain("QuantizeLinear", {"f", "ys", "yz"});
  ExpectSame();
}

INSTANTIATE_TEST_SUITE_P(
    All, QuantizedElements,
    ::testing::Values(Elements{"QLinearAdd", "Add", 2}, Elements{"QLinearMul", "Mul", 2},
                      Elements{"QLinearSigmoid", "Sigmoid", 1},
                      Elements{"QLinearLeakyRelu", "LeakyRelu", 1},
                      Elements{"QLinearAveragePool", "AveragePool", 1},
                      Elements{"QLinearGlobalAveragePool", "GlobalAveragePool", 1}),
    [](const auto& info) { return info.param.fused; });

// (10 - 10) / 2 + (3 - 1) = 2 and (20 - 10) / 2 + 2 = 7, in halves above 4.
TEST_F(MicrosoftTest, AQuantizedSumByHand) {
  Model model(17);
  const auto scale = [](float value) { return NDArray::Scalar(value); };
  const auto zero = [](int value) { return NDArray::Scalar(static_cast<std::uint8_t>(value)); };
  model.Input("a", {2}, TensorProto::UINT8).Constant("as", scale(0.5F)).Constant("az", zero(10));
  model.Input("b", {1}, TensorProto::UINT8).Constant("bs", scale(1)).Constant("bz", zero(1));
  model.Constant("ys", scale(0.5F)).Constant("yz", zero(4)).Output("y");
  model.Node("QLinearAdd", {"a", "as", "az", "b", "bs", "bz", "ys", "yz"}, {"y"}, "", kDomain);
  const auto y = Computed(model, {{"a", NDArray::FromVector<std::uint8_t>({2}, {10, 20})},
                                  {"b", NDArray::FromVector<std::uint8_t>({1}, {3})}})
                     .at(0);
  EXPECT_THAT(y.ToVector<std::uint8_t>(), ::testing::ElementsAre(8, 18));
}

TEST_F(MicrosoftTest, ChannelsLastAreRefused) {
  Bytes("a", {2, 5, 7, 3});
  Quantization("a", 0.02F, 120);
  Quantization("y", 0.017F, 130);
  SetInt(Fused("QLinearGlobalAveragePool", {"a", "as", "az", "ys", "yz"}), "channels_last", 1);
  EXPECT_THAT(Refusal(), HasSubstr("channels_last is not supported"));
}

TEST_F(MicrosoftTest, AQuantizedConcatenationTakesTheResultsScaleFirst) {
  Bytes("a", {2, 3});
  Bytes("b", {2, 5});
  Quantization("a", 0.02F, 120);
  Quantization("b", 0.03F, 7);
  Quantization("y", 0.017F, 130);
  SetInt(Fused("QLinearConcat", {"ys", "yz", "a", "as", "az", "b", "bs", "bz"}), "axis", 1);
  Plain("DequantizeLinear", {"a", "as", "az"}, "af");
  Plain("DequantizeLinear", {"b", "bs", "bz"}, "bf");
  SetInt(Plain("Concat", {"af", "bf"}, "f"), "axis", 1);
  Plain("QuantizeLinear", {"f", "ys", "yz"});
  ExpectSame();
}

TEST_F(MicrosoftTest, ADynamicProductQuantizesItsLeftOperand) {
  Floats("a", {2, 5, 8});
  Constant("b", AllBytes<std::int8_t>({8, 9}, 77));
  FloatConstant("s", {9}, 0.1);
  FloatConstant("c", {9});
  Fused("DynamicQuantizeMatMul", {"a", "b", "s", "", "c"});
  Plain("DynamicQuantizeLinear", {"a"}, Names{"q", "qs", "qz"});
  Plain("MatMulInteger", {"q", "b", "qz"}, "p");
  SetInt(Plain("Cast", {"p"}, "f"), "to", TensorProto::FLOAT);
  Plain("Mul", {"qs", "s"}, "t");
  Plain("Mul", {"f", "t"}, "g");
  Plain("Add", {"g", "c"});
  ExpectSame();
}

TEST_F(MicrosoftTest, AnIntegerProductBecomesFloats) {
  Bytes("a", {2, 5, 8});
  Quantization("a", 0.03F, 100);
  Constant("b", AllBytes<std::uint8_t>({8, 9}, 78));
  Quantization("b", 0.02F, 90);
  FloatConstant("c", {9});
  Fused("MatMulIntegerToFloat", {"a", "b", "as", "bs", "az", "bz", "c"});
  Plain("MatMulInteger", {"a", "b", "az", "bz"}, "p");
  SetInt(Plain("Cast", {"p"}, "f"), "to", TensorProto::FLOAT);
  Plain("Mul", {"as", "bs"}, "t");
  Plain("Mul", {"f", "t"}, "g");
  Plain("Add", {"g", "c"});
  ExpectSame();
}

TEST_F(MicrosoftTest, SeveralScalesOfTheLeftOperandAreRefused) {
  Bytes("a", {2, 2});
  Bytes("b", {2, 2});
  Constant("as", NDArray::FromVector<float>({2}, {1, 100}));
  Constant("bs", NDArray::Scalar(1.0F));
  Fused("MatMulIntegerToFloat", {"a", "b", "as", "bs"});
  EXPECT_THAT(Refusal(), HasSubstr("input 2 has several scales; one is supported"));
}

}  // namespace
}  // namespace tenon::onnx_import
