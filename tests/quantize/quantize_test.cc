#include "tenon/quantize/quantize.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/ir/visit.h"
#include "tenon/onnx/export.h"
#include "tenon/onnx/import.h"
#include "tenon/tests/testing/c_library.h"
#include "tenon/tests/testing/graph_testing.h"

namespace tenon::quantize {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::Lt;
using ::testing::SizeIs;
using testing_graphs::Parsed;
using testing_graphs::Random;

// Two convolutions with normalisation and a residual branch, a mean and a layer of classes, over
// weights that are constants.
ir::Module Net() {
  const auto weight = [](const Shape& shape, int seed, double size) {
    return ir::Constant::Make(Random(shape, Float32, seed, -size, size));
  };
  const ir::Module with_weights = Parsed(
      "def @main(%x: Tensor[(1, 3, 17, 13), float32], %a: Tensor[(16, 3, 3, 3), float32],\n"
      "          %b: Tensor[(16, 16, 3, 3), float32], %g: Tensor[(16), float32],\n"
      "          %m: Tensor[(16), float32], %v: Tensor[(16), float32], %w: Tensor[(10, 16), "
      "float32]) {\n"
      "  %0 = nn.conv2d(%x, %a, padding=[1, 1]);\n"
      "  %1 = nn.batch_norm(%0, %g, %m, %m, %v);\n"
      "  %2 = nn.relu(%1.0);\n"
      "  %3 = nn.conv2d(%2, %b, padding=[1, 1]);\n"
      "  %4 = nn.relu(add(nn.bias_add(%3, %m), %2));\n"
      "  %5 = nn.batch_flatten(nn.global_avg_pool2d(%4));\n"
      "  nn.dense(%5, %w)\n}");
  return ir::Module::FromExpr(ir::Function::Make(
      {with_weights.Main().params[0]},
      ir::Substitute(with_weights.Main().body,
                     {{with_weights.Main().params[1], weight({16, 3, 3, 3}, 1, 0.4)},
                      {with_weights.Main().params[2], weight({16, 16, 3, 3}, 2, 0.15)},
                      {with_weights.Main().params[3], weight({16}, 3, 1)},
                      {with_weights.Main().params[4], weight({16}, 4, 0.2)},
                      {with_weights.Main().params[5], weight({16}, 5, 0)},
                      {with_weights.Main().params[6], weight({10, 16}, 6, 0.5)}})));
}

// Most kernels of these tests are those of another.
CompileOptions Cached() {
  static const jit::ScopedFolder folder;
  return {.cache_dir = folder.path()};
}

SampleSource RandomSamples(std::size_t count, int seed = 100, const Shape& shape = {1, 3, 17, 13}) {
  return [=](std::size_t i) -> std::optional<runtime::Inputs> {
    if (i >= count) return std::nullopt;
    return runtime::Inputs{{"x", Random(shape, seed + static_cast<int>(i))}};
  };
}

TEST(QuantizeTest, AConvolutionalNetLosesLittleOnInputsThatItHasNotSeen) {
  const Quantized q = Quantize(Net(), RandomSamples(8), {.compile = Cached()}).value();
  EXPECT_THAT(q.report.products, SizeIs(3));
  for (const ProductReport& product : q.report.products) EXPECT_EQ(product.floats, "");
  EXPECT_THAT(q.report.loss, Each(AllOf(Gt(0), Lt(0.03))));
  EXPECT_EQ(q.report.samples, 8U);

  const Executable bytes = Compile(q.module).value(), floats = Compile(Net()).value();
  for (int seed = 0; seed < 4; ++seed) {
    const runtime::Inputs inputs = {{"x", Random({1, 3, 17, 13}, seed)}};
    const NDArray got = bytes.Run(inputs).value()[0], expected = floats.Run(inputs).value()[0];
    double error = 0, size = 0;
    for (std::int64_t i = 0; i < expected.size(); ++i) {
      error += std::pow(got.data<float>()[i] - expected.data<float>()[i], 2);
      size += std::pow(expected.data<float>()[i], 2);
    }
    EXPECT_LT(std::sqrt(error / size), 0.05) << "input " << seed;
  }
}

TEST(QuantizeTest, ProductsAreComputedOnBytes) {
  const Quantized q = Quantize(Net(), RandomSamples(2), {.compile = Cached()}).value();
  const std::string text = ir::PrintModule(q.module, {.metadata = false});
  EXPECT_THAT(text, HasSubstr("qnn.quantize"));
  std::string fused = ir::PrintModule(Lower(q.module).value().module, {.metadata = false});
  EXPECT_THAT(fused, HasSubstr("int32"));
  // No product of floats is left.
  for (std::size_t at = 0; (at = fused.find("nn.conv2d", at)) != std::string::npos; ++at)
    EXPECT_THAT(fused.substr(at, fused.find('\n', at) - at), HasSubstr("int32"));
}

TEST(QuantizeTest, KeptProductsStayInFloatingPoint) {
  const Quantized all = Quantize(Net(), RandomSamples(2), {.compile = Cached()}).value();
  const std::string dense = all.report.products.back().name;
  const Quantized q =
      Quantize(Net(), RandomSamples(2), {.keep_float = {dense}, .compile = Cached()}).value();
  EXPECT_EQ(q.report.products.back().floats, "it is to be kept");
  EXPECT_LT(q.report.loss[0], all.report.loss[0]);
  const auto missing =
      Quantize(Net(), RandomSamples(2), {.keep_float = {"conv_9"}, .compile = Cached()});
  EXPECT_EQ(missing.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(missing.status().message(), AllOf(HasSubstr("conv_9"), HasSubstr(dense)));
}

TEST(QuantizeTest, ABoundOnTheLossIsKept) {
  const double all =
      Quantize(Net(), RandomSamples(4), {.compile = Cached()}).value().report.loss[0];
  for (const double bound : {all * 1.01, all * 0.7, all * 0.2, 0.0}) {
    const Quantized q =
        Quantize(Net(), RandomSamples(4), {.max_loss = bound, .compile = Cached()}).value();
    EXPECT_LE(q.report.loss[0], bound);
    EXPECT_EQ(q.report.loss_of_all[0], all);
    const auto floats = std::ranges::count_if(
        q.report.products, [](const ProductReport& p) { return !p.floats.empty(); });
    EXPECT_EQ(floats > 0, bound < all);
  }
}

// A product that stays in floating point reads %x as floats, so that the other one's operand is
// rounded after it has been transposed.
TEST(QuantizeTest, AValueThatIsMovedIsRoundedWhereverBytesBegin) {
  const ir::Module module = Parsed(
      "def @main(%x: Tensor[(4, 6), float32], %w: Tensor[(5, 6), float32],\n"
      "          %v: Tensor[(3, 4), float32]) {\n"
      "  %0 = transpose(%x, axes=[1, 0]);\n  (nn.dense(%x, %w), nn.dense(%0, %v))\n}");
  const SampleSource samples = [](std::size_t i) -> std::optional<runtime::Inputs> {
    if (i >= 2) return std::nullopt;
    return runtime::Inputs{
        {"x", Random({4, 6}, 1)}, {"w", Random({5, 6}, 2)}, {"v", Random({3, 4}, 3)}};
  };
  const std::vector<double> all =
      Quantize(module, samples, {.compile = Cached()}).value().report.loss_of_all;
  const double bound = std::ranges::max(all) * 0.999;
  const Quantized q = Quantize(module, samples, {.max_loss = bound, .compile = Cached()}).value();
  EXPECT_THAT(q.report.loss, Each(testing::Le(bound)));
}

TEST(QuantizeTest, SamplesAreAskedForOneByOneAndNotKept) {
  std::vector<std::weak_ptr<const void>> given;
  const SampleSource samples = [&](std::size_t i) -> std::optional<runtime::Inputs> {
    for (const auto& sample : given) EXPECT_TRUE(sample.expired());
    if (i >= 5) return std::nullopt;
    const auto owner =
        std::make_shared<std::vector<float>>(3 * 17 * 13, 0.1F * static_cast<float>(i));
    given.emplace_back(owner);
    return runtime::Inputs{{"x", NDArray::View({1, 3, 17, 13}, Float32, owner->data(), owner)}};
  };
  EXPECT_TRUE(Quantize(Net(), samples, {.compile = Cached()}).ok());
  EXPECT_GT(given.size(), 5U);
}

TEST(QuantizeTest, TheResultIsAnOnnxModelThatComputesTheSame) {
  const Quantized q = Quantize(Net(), RandomSamples(2), {.compile = Cached()}).value();
  const std::string onnx = onnx_export::ExportOnnx(q.module).value();
  const ir::Module back =
      onnx_import::ImportOnnx(onnx, {.evaluate = strategies::EvaluateCall}).value();
  const runtime::Inputs inputs = {{"x", Random({1, 3, 17, 13}, 3)}};
  testing_graphs::ExpectClose(Compile(back).value().Run(inputs).value(),
                              Compile(q.module).value().Run(inputs).value(), 1e-5);
}

TEST(QuantizeTest, BindingsAreValues) {
  const ir::Module module = Parsed(
      "def @main(%x: Tensor[(2, 3), float32], %w: Tensor[(4, 3), float32]) {\n"
      "  let %a = nn.dense(%x, %w);\n  let %b = tanh(%a);\n  add(%a, %b)\n}");
  const SampleSource samples = [](std::size_t i) -> std::optional<runtime::Inputs> {
    if (i >= 2) return std::nullopt;
    return runtime::Inputs{{"x", Random({2, 3}, static_cast<int>(i))}, {"w", Random({4, 3}, 9)}};
  };
  const Quantized q = Quantize(module, samples).value();
  EXPECT_THAT(q.report.products, SizeIs(1));
  EXPECT_THAT(q.report.loss, Each(AllOf(Gt(0), Lt(0.02))));
}

TEST(QuantizeTest, EveryRuleOfRangesGivesAModelThatRuns) {
  for (const std::string& name : RangeRuleNames()) {
    QuantizeOptions options{.compile = Cached()};
    options.range.rule = *ParseRangeRule(name);
    const Quantized q = Quantize(Net(), RandomSamples(3), options).value();
    EXPECT_THAT(q.report.loss, Each(Lt(0.2))) << name;
    EXPECT_THAT(ToText(q.report), HasSubstr("ranges by " + name + " over 3 samples"));
  }
}

TEST(QuantizeTest, WeightsOfExtremeSizesAreHeld) {
  for (const float size : {0.0F, 1e-44F, 1e-38F, 1e30F}) {
    NDArray weight = NDArray::Empty({4, 3}, Float32);
    std::fill_n(weight.data<float>(), 12, size);
    const ir::Module given = Parsed(
        "def @main(%x: Tensor[(2, 3), float32], %w: Tensor[(4, 3), float32]) { nn.dense(%x, %w) }");
    const ir::Module module = ir::Module::FromExpr(ir::Function::Make(
        {given.Main().params[0]},
        ir::Substitute(given.Main().body, {{given.Main().params[1], ir::Constant::Make(weight)}})));
    const Quantized q = Quantize(module, RandomSamples(2, 7, {2, 3})).value();
    const Executable exe = Compile(q.module).value();
    const std::vector<NDArray> results = exe.Run({{"x", Random({2, 3}, 1)}}).value();
    for (const float v : results[0].ToVector<float>()) EXPECT_TRUE(std::isfinite(v)) << size;
  }
}

TEST(QuantizeTest, RefusalsSayWhatIsWrong) {
  const auto message = [](const absl::StatusOr<Quantized>& q) {
    return std::string(q.status().message());
  };
  EXPECT_THAT(message(Quantize(Net(), RandomSamples(0), {.compile = Cached()})),
              HasSubstr("there is no sample"));
  EXPECT_THAT(message(Quantize(Net(), RandomSamples(2, 0, {1, 3, 17, 14}))), HasSubstr("'x'"));
  EXPECT_THAT(message(Quantize(Parsed("def @main(%x: Tensor[(2), float32]) { exp(%x) }"),
                               RandomSamples(2, 0, {2}))),
              HasSubstr("has no product of float32"));
  const SampleSource nan = [](std::size_t i) -> std::optional<runtime::Inputs> {
    if (i >= 2) return std::nullopt;
    NDArray x = Random({1, 3, 17, 13}, 1);
    if (i == 1) x.data<float>()[5] = std::numeric_limits<float>::quiet_NaN();
    return runtime::Inputs{{"x", x}};
  };
  EXPECT_THAT(message(Quantize(Net(), nan, {.compile = Cached()})),
              AllOf(HasSubstr("sample 1"), HasSubstr("infinite or NaN"), HasSubstr("the input x")));
  EXPECT_THAT(message(Quantize(Parsed("def @main(%x: Tensor[(n, 3), float32], "
                                      "%w: Tensor[(4, 3), float32]) { nn.dense(%x, %w) }"),
                               RandomSamples(2, 0, {2, 3}))),
              HasSubstr("has extents that are variables"));
  QuantizeOptions options{.compile = Cached()};
  options.range.percentile = 30;
  EXPECT_THAT(message(Quantize(Net(), RandomSamples(2), options)), HasSubstr("percentile is 30"));
  EXPECT_THAT(message(Quantize(Net(), RandomSamples(2), {.max_loss = -0.5, .compile = Cached()})),
              HasSubstr("max_loss is -0.5; it is at least 0"));
}

}  // namespace
}  // namespace tenon::quantize
