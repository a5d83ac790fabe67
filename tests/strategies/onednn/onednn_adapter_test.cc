#include <algorithm>
#include <cmath>
#include <functional>
#include <new>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/strategies/onednn/adapter.h"
#include "tenon/strategies/onednn/facts.h"
#include "tenon/strategies/onednn/primitive.h"
#include "tenon/support/error.h"

namespace tenon::strategies::onednn {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

NDArray Random(Shape shape, int seed) {
  NDArray array = NDArray::Empty(std::move(shape), Float32);
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> values(-1, 1);
  for (std::int64_t i = 0; i < array.size(); ++i) array.data<float>()[i] = values(generator);
  return array;
}

// The definition, in NCHW, accumulated in double.
std::vector<float> NaiveConvolution(const Convolution& c, const NDArray& x, const NDArray& w,
                                    const NDArray& bias) {
  std::vector<float> y;
  const std::int64_t group_in = c.in_channels / c.groups, group_out = c.out_channels / c.groups;
  for (std::int64_t n = 0; n < c.batch; ++n)
    for (std::int64_t o = 0; o < c.out_channels; ++o)
      for (std::int64_t oh = 0; oh < c.out_size[0]; ++oh)
        for (std::int64_t ow = 0; ow < c.out_size[1]; ++ow) {
          double sum = bias.defined() ? bias.data<float>()[o] : 0;
          for (std::int64_t i = 0; i < group_in; ++i)
            for (std::int64_t kh = 0; kh < c.kernel[0]; ++kh)
              for (std::int64_t kw = 0; kw < c.kernel[1]; ++kw) {
                const std::int64_t ih = oh * c.strides[0] - c.pad_before[0] + kh * c.dilation[0];
                const std::int64_t iw = ow * c.strides[1] - c.pad_before[1] + kw * c.dilation[1];
                if (ih < 0 || iw < 0 || ih >= c.in_size[0] || iw >= c.in_size[1]) continue;
                const std::int64_t channel = o / group_out * group_in + i;
                sum += static_cast<double>(
                           x.data<float>()[((n * c.in_channels + channel) * c.in_size[0] + ih) *
                                               c.in_size[1] +
                                           iw]) *
                       w.data<float>()[((o * group_in + i) * c.kernel[0] + kh) * c.kernel[1] + kw];
              }
          y.push_back(static_cast<float>(sum));
        }
  return y;
}

// Swaps between NCHW and NHWC.
NDArray Transpose(const NDArray& a, std::int64_t n, std::int64_t from, std::int64_t to) {
  NDArray b = NDArray::Empty(a.shape(), Float32);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t f = 0; f < from; ++f)
      for (std::int64_t t = 0; t < to; ++t)
        b.data<float>()[(i * to + t) * from + f] = a.data<float>()[(i * from + f) * to + t];
  return b;
}

void Call(const jit::Callable& kernel, std::vector<void*> buffers) {
  const NDArray workspace =
      NDArray::Empty({static_cast<std::int64_t>(kernel.workspace_bytes())}, UInt8);
  kernel.Call(buffers.data(), workspace.raw());
}

KernelPointer KernelOf(const MadeKernel& made) {
  if (const auto* refused = std::get_if<Refused>(&made)) throw Unimplemented(refused->why);
  return std::get<KernelPointer>(made);
}

struct ConvCase {
  std::int64_t in, out, groups, size, kernel, stride, pad, dilation;
};

class ConvolutionTest : public ::testing::TestWithParam<ConvCase> {};

TEST_P(ConvolutionTest, EqualsTheDefinitionInBothLayoutsWithPackedAndGivenWeights) {
  const ConvCase& p = GetParam();
  Convolution conv{.batch = 2, .in_channels = p.in, .out_channels = p.out, .groups = p.groups};
  conv.in_size = {p.size, p.size + 1};
  conv.kernel = {p.kernel, p.kernel};
  conv.strides = {p.stride, p.stride};
  conv.dilation = {p.dilation, p.dilation};
  conv.pad_before = conv.pad_after = {p.pad, p.pad};
  for (int d : {0, 1}) {
    conv.out_size[d] =
        (conv.in_size[d] + 2 * p.pad - p.dilation * (p.kernel - 1) - 1) / p.stride + 1;
  }
  const NDArray x = Random({2, p.in, conv.in_size[0], conv.in_size[1]}, 1);
  const NDArray w = Random({p.out, p.in / p.groups, p.kernel, p.kernel}, 2);
  const NDArray bias = Random({p.out}, 3);
  const std::vector<float> expected = NaiveConvolution(conv, x, w, bias);
  const std::int64_t in_pixels = conv.in_size[0] * conv.in_size[1];
  const std::int64_t out_pixels = conv.out_size[0] * conv.out_size[1];
  for (const ActivationLayout layout : {ActivationLayout::kNCHW, ActivationLayout::kNHWC}) {
    conv.layout = layout;
    const bool nhwc = layout == ActivationLayout::kNHWC;
    const NDArray input = nhwc ? Transpose(x, 2, p.in, in_pixels) : x;
    for (const bool packed : {true, false}) {
      const KernelPointer kernel =
          KernelOf(packed ? MakeConvolution(conv, w, bias) : MakeConvolution(conv, {}, {}, true));
      EXPECT_THAT(kernel->implementation(), Not(HasSubstr("ref")));
      NDArray y = NDArray::Zeros({2, p.out, conv.out_size[0], conv.out_size[1]}, Float32);
      if (packed) {
        Call(*kernel, {input.raw(), y.raw()});
      } else {
        Call(*kernel, {input.raw(), w.raw(), bias.raw(), y.raw()});
      }
      if (nhwc) y = Transpose(y, 2, out_pixels, p.out);
      for (std::size_t i = 0; i < expected.size(); ++i) {
        ASSERT_NEAR(y.data<float>()[i], expected[i], 1e-4) << i << " " << kernel->implementation();
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, ConvolutionTest,
    ::testing::Values(ConvCase{3, 8, 1, 11, 3, 2, 1, 1}, ConvCase{16, 32, 1, 7, 1, 1, 0, 1},
                      ConvCase{17, 5, 1, 9, 3, 1, 2, 2}, ConvCase{1, 1, 1, 1, 1, 1, 0, 1},
                      ConvCase{24, 24, 24, 9, 5, 2, 2, 1}, ConvCase{32, 16, 4, 6, 3, 1, 1, 1}));

TEST(PostOpTest, EachEqualsItsFormula) {
  const auto sigmoid = [](float v) { return 1 / (1 + std::exp(-v)); };
  using Kind = PostOp::Kind;
  const std::vector<std::pair<PostOp, std::function<float(float)>>> cases = {
      {{Kind::kRelu}, [](float v) { return std::max(v, 0.0F); }},
      {{Kind::kRelu, 0.1F}, [](float v) { return v > 0 ? v : 0.1F * v; }},
      {{Kind::kClip, -0.5F, 0.25F}, [](float v) { return std::clamp(v, -0.5F, 0.25F); }},
      {{Kind::kSigmoid}, sigmoid},
      {{Kind::kTanh}, [](float v) { return std::tanh(v); }},
      {{Kind::kGelu}, [](float v) { return v * (1 + std::erf(v / std::sqrt(2.0F))) / 2; }},
      {{Kind::kSwish, 2.0F}, [&](float v) { return v * sigmoid(2 * v); }},
      {{Kind::kHardSwish}, [](float v) { return v * std::clamp(v + 3, 0.0F, 6.0F) / 6; }},
      {{Kind::kLinear, 2.0F, 1.0F}, [](float v) { return 2 * v + 1; }},
      {{Kind::kAddTensor}, [](float v) { return v + 0.5F; }},
      {{Kind::kMulTensor}, [](float v) { return v * 0.5F; }},
  };
  const NDArray x = Random({5, 7}, 4), w = Random({13, 7}, 5);
  std::vector<float> half(5 * 13, 0.5F);
  for (const auto& [op, formula] : cases) {
    const MatrixProduct product{
        .rows = 5, .columns = 13, .depth = 7, .rhs_transposed = true, .post_ops = {op}};
    const KernelPointer kernel = KernelOf(MakeMatrixProduct(product, w, {}));
    NDArray y = NDArray::Zeros({5, 13}, Float32);
    const bool tensor = op.kind == Kind::kAddTensor || op.kind == Kind::kMulTensor;
    if (tensor) {
      Call(*kernel, {x.raw(), half.data(), y.raw()});
    } else {
      Call(*kernel, {x.raw(), y.raw()});
    }
    for (int r = 0; r < 5; ++r)
      for (int c = 0; c < 13; ++c) {
        float sum = 0;
        for (int k = 0; k < 7; ++k) sum += x.data<float>()[r * 7 + k] * w.data<float>()[c * 7 + k];
        ASSERT_NEAR(y.data<float>()[r * 13 + c], formula(sum), 1e-5) << static_cast<int>(op.kind);
      }
  }
}

TEST(PostOpTest, OneFunctionTwiceHasTheParametersOfEachPlace) {
  if (!Facts().functions_keep_parameters) GTEST_SKIP() << "not with oneDNN " << LibraryVersion();
  using Kind = PostOp::Kind;
  const NDArray x = Random({5, 7}, 4), w = Random({13, 7}, 5);
  MatrixProduct product{.rows = 5, .columns = 13, .depth = 7, .rhs_transposed = true};
  product.post_ops = {{Kind::kClip, -0.5F, 0.5F},
                      {Kind::kLinear, 3, 1},
                      {Kind::kClip, 0, 2},
                      {Kind::kLinear, 2, 5}};
  NDArray y = NDArray::Zeros({5, 13}, Float32);
  Call(*KernelOf(MakeMatrixProduct(product, w, {})), {x.raw(), y.raw()});
  for (int r = 0; r < 5; ++r)
    for (int c = 0; c < 13; ++c) {
      float sum = 0;
      for (int k = 0; k < 7; ++k) sum += x.data<float>()[r * 7 + k] * w.data<float>()[c * 7 + k];
      const float first = std::clamp(sum, -0.5F, 0.5F) * 3 + 1;
      ASSERT_NEAR(y.data<float>()[r * 13 + c], std::clamp(first, 0.0F, 2.0F) * 2 + 5, 1e-5);
    }
}

TEST(AdapterErrorTest, WrongWeightIsRefusedInWords) {
  Convolution conv{.in_channels = 3, .out_channels = 4};
  conv.in_size = conv.out_size = {5, 5};
  conv.kernel = {1, 1};
  try {
    MakeConvolution(conv, Random({4, 2, 1, 1}, 1), {});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(error.what(), HasSubstr("weight is float32 (4, 2, 1, 1); it must have 12"));
  }
}

TEST(AdapterErrorTest, AWeightOfAnotherTypeIsRefusedInWords) {
  Convolution conv{.in_channels = 3, .out_channels = 4};
  conv.in_size = conv.out_size = {5, 5};
  conv.kernel = {1, 1};
  try {
    MakeNarrowConvolution(conv, {UInt8, Int8, Int32}, Random({4, 3, 1, 1}, 1));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(error.what(), HasSubstr("the weight of a convolution of int8 is float32 "
                                        "(4, 3, 1, 1); it must have 12 int8 elements"));
  }
}

TEST(AdapterErrorTest, WholeWeightsAreNoScaledBytes) {
  const MatrixProduct product{.rows = 5, .columns = 3, .depth = 4};
  try {
    MakeScaledMatrixProduct(product, {BFloat16, Int8, Float32}, Random({4, 3}, 1),
                            Random({1, 3}, 2));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(error.what(),
                HasSubstr("the right side of a product of bfloat16 by scaled bytes is float32 "
                          "(4, 3); it must have 12 int8 elements"));
  }
}

TEST(AdapterErrorTest, ACaseForWhichThereIsOnlyReferenceCodeIsRefusedInWords) {
  const MadeKernel made = MakeSoftmax({.shape = {2, 3, 4, 5, 6, 7, 2}, .axis = 3});
  const auto* refused = std::get_if<Refused>(&made);
  if (refused == nullptr) GTEST_SKIP() << "oneDNN " << LibraryVersion() << " has code for it";
  EXPECT_THAT(refused->why, HasSubstr("for this softmax"));
}

TEST(AdapterErrorTest, MemoryThatTheLibraryLacksIsNoInternalError) {
  const Maker make = [](const Knowns&) -> Made {
    throw dnnl::error(dnnl_out_of_memory, "could not create a memory object");
  };
  EXPECT_THROW(MakeKernel("product", make, {}), std::bad_alloc);
}

TEST(AdapterErrorTest, ShapesThatDoNotFitAreNotRun) {
  Convolution conv{.in_channels = 3, .out_channels = 4};
  conv.in_size = {5, 5};
  conv.out_size = {9, 9};  // cannot come out of 5x5
  conv.kernel = {1, 1};
  EXPECT_THROW(KernelOf(MakeConvolution(conv, Random({4, 3, 1, 1}, 1), {})), Error);
}

}  // namespace
}  // namespace tenon::strategies::onednn
