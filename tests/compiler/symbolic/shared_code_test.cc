// Kernels for all shapes that differ in numbers only share machine code (jit/machine_code.h). What
// they give beside others is what they give alone, to the bit.
#include <string>
#include <vector>

#include "tenon/compiler/symbolic/concrete_module.h"
#include "tenon/passes/bind_params.h"
#include "tenon/support/strings.h"
#include "tenon/tests/testing/graph_testing.h"

namespace tenon {
namespace {

using testing_graphs::Parsed;
using testing_graphs::RandomInputs;

struct Layer {
  const char* name;
  const char* call;   // with C for the channels, X for the image and K for the constant
  const char* image;  // its shape
  const char* constant = nullptr;  // its shape, if there is one
  std::vector<std::int64_t> channels = {32, 48, 96};
};
void PrintTo(const Layer& layer, std::ostream* out) { *out << layer.name; }

std::string Replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at))
    text.replace(at, what.size(), by);
  return text;
}

// The layer for each number of channels, with a constant for each that has one.
ir::Module Made(const Layer& layer, const std::vector<std::int64_t>& channels) {
  std::vector<std::string> parameters, calls;
  passes::ParamValues constants;
  for (const std::int64_t c : channels) {
    const auto with_channels = [&](const char* text) {
      return Replaced(Replaced(Replaced(text, "X", StrCat("%x", c)), "K", StrCat("%k", c)), "C",
                      StrCat(c));
    };
    parameters.push_back(StrCat("%x", c, ": Tensor[", with_channels(layer.image), ", float32]"));
    calls.push_back(with_channels(layer.call));
    if (layer.constant == nullptr) continue;
    parameters.push_back(StrCat("%k", c, ": Tensor[", with_channels(layer.constant), ", float32]"));
    const ir::Module alone = passes::InferType(Parsed(
        StrCat("def @main(%k: Tensor[", with_channels(layer.constant), ", float32]) { %k }")));
    constants.emplace_back(StrCat("k", c), RandomInputs(alone, static_cast<int>(c)).at("k"));
  }
  const ir::Module open = passes::InferType(Parsed(
      StrCat("def @main(", StrJoin(parameters, ", "), ") { (", StrJoin(calls, ", "), ",) }")));
  return passes::InferType(passes::BindParams(open, "main", constants));
}

class SharedCodeTest : public ::testing::TestWithParam<Layer> {};

TEST_P(SharedCodeTest, LayersGiveBesideOthersWhatTheyGiveAlone) {
  const Layer& layer = GetParam();
  const ir::Module all = Made(layer, layer.channels);
  const auto together = Compile(all);
  ASSERT_TRUE(together.ok()) << together.status();
  ASSERT_TRUE(together->is_symbolic());
  for (std::size_t i = 0; i < layer.channels.size(); ++i) {
    const auto alone = Compile(Made(layer, {layer.channels[i]}));
    ASSERT_TRUE(alone.ok()) << alone.status();
    int seed = 1;
    for (const auto& [n, h, w] : std::vector<std::array<std::int64_t, 3>>{
             {1, 1, 1}, {2, 3, 17}, {1, 7, 16}, {1, 16, 33}, {3, 12, 5}}) {
      SCOPED_TRACE(StrCat(layer.channels[i], " channels, n=", n, " h=", h, " w=", w));
      const ir::Module concrete =
          compiler::MakeConcrete(all, {{"n", n}, {"h", h}, {"w", w}}).module;
      const runtime::Inputs inputs = RandomInputs(concrete, seed++);
      const std::string image = StrCat("x", layer.channels[i]);
      const auto of_all = together->Run(inputs);
      ASSERT_TRUE(of_all.ok()) << of_all.status();
      const auto of_one = alone->Run({{image, inputs.at(image)}});
      ASSERT_TRUE(of_one.ok()) << of_one.status();
      EXPECT_TRUE((*of_all)[i].SameBytes((*of_one)[0]));
    }
  }
}

constexpr const char *kImage = "(n, C, h, w)", *kRow = "(n, h, w, C)";

INSTANTIATE_TEST_SUITE_P(
    Kinds, SharedCodeTest,
    ::testing::Values(
        Layer{"Pointwise", "nn.relu(nn.conv2d(X, K))", kImage, "(C, C, 1, 1)"},
        Layer{"PointwiseToFew", "nn.conv2d(X, K)", kImage, "(7, C, 1, 1)"},
        Layer{"PointwiseOfOdd", "nn.conv2d(X, K)", kImage, "(C, C, 1, 1)", {37, 53, 69}},
        Layer{"Conv3", "nn.conv2d(X, K, padding=[1, 1])", kImage, "(C, C, 3, 3)"},
        Layer{"Conv3Stride2", "nn.conv2d(X, K, strides=[2, 2], padding=[1, 1])", kImage,
              "(C, C, 3, 3)"},
        Layer{"Depthwise3", "nn.conv2d(X, K, padding=[1, 1], groups=C)", kImage, "(C, 1, 3, 3)"},
        Layer{"Depthwise5Stride2", "nn.conv2d(X, K, strides=[2, 1], padding=[2, 2], groups=C)",
              kImage, "(C, 1, 5, 5)"},
        Layer{"Transposed", "nn.conv2d_transpose(X, K, strides=[2, 2])", kImage, "(C, 16, 2, 2)"},
        Layer{"Dense", "nn.dense(X, K)", "(n, C)", "(64, C)"},
        Layer{"DenseToAsMany", "nn.dense(X, K)", "(n, C)", "(C, C)", {64, 80, 160}},
        Layer{"Softmax", "nn.softmax(X, axis=-1)", kRow, nullptr, {320, 480, 333}},
        Layer{"LayerNorm",
              "divide(X, sqrt(mean(multiply(X, X), axis=[-1], keepdims=True)))",
              kRow,
              nullptr,
              {320, 480, 333}},
        Layer{"MeanOfImages", "nn.global_avg_pool2d(X)", kImage},
        Layer{"SumOfChannels", "sum(X, axis=[1])", kImage, nullptr, {320, 480, 333}},
        Layer{"ArgmaxOfChannels", "argmax(X, axis=[1])", kImage},
        Layer{"MaxPool", "nn.max_pool2d(X, pool_size=[3, 3], padding=[1, 1])", kImage},
        Layer{"Transpose", "transpose(X, axes=[0, 2, 3, 1])", kImage},
        Layer{"ScaledByAConstant", "multiply(nn.relu(X), C00000000f)", kImage},
        Layer{"Concatenate", "concatenate((X, exp(X)), axis=1)", kImage}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tenon
