// VGG is what its paper says, and affine folding leaves one addition a convolution.
#include "tenon/models/vgg.h"

#include <map>

#include "tenon/ir/visit.h"
#include "tenon/models/registry.h"
#include "tenon/passes/pipeline.h"
#include "tenon/tests/testing/graph_testing.h"
#include "tenon/tests/testing/relay_text.h"

namespace tenon::models {
namespace {

using ir::Module;
using ::testing::HasSubstr;
using testing_graphs::ExpectClose;
using testing_graphs::Outcome;
using testing_graphs::RandomInputs;

std::map<std::string, int> Histogram(const Module& module) {
  std::map<std::string, int> counts;
  ir::VisitPostOrder(module.Main().body, [&](const ir::Expr& e) {
    const auto* call = e.As<ir::CallNode>();
    if (call != nullptr && call->op() != nullptr) ++counts[call->op()->name];
  });
  return counts;
}

// Everything before fusion, at the default level.
Module Optimized(const Module& module) {
  passes::Pipeline pipeline = passes::DefaultPipeline(strategies::EvaluateCall, 3);
  EXPECT_EQ(pipeline.back().name, "FuseOps");
  pipeline.pop_back();
  return passes::RunPasses(pipeline, module, {.opt_level = 3});
}

using Counts = std::map<std::string, int>;

TEST(VggTest, S003_10_BatchNormLeavesOneAdditionAConvolution) {
  const Module module = Build("vgg16_bn");
  EXPECT_EQ(Histogram(module), (Counts{{"nn.conv2d", 13},
                                       {"nn.bias_add", 16},
                                       {"nn.batch_norm", 13},
                                       {"nn.relu", 15},
                                       {"nn.max_pool2d", 5},
                                       {"nn.batch_flatten", 1},
                                       {"nn.dense", 3},
                                       {"nn.dropout", 2}}));
  const Module after = Optimized(module);
  EXPECT_EQ(Histogram(after), (Counts{{"nn.conv2d", 13},
                                      {"add", 16},
                                      {"nn.relu", 15},
                                      {"nn.max_pool2d", 5},
                                      {"nn.batch_flatten", 1},
                                      {"nn.dense", 3}}));
  EXPECT_EQ(ir::ToString(after.Main().body.checked_type()), "Tensor[(1, 1000), float32]");
}

// The lines of the first block, and the input they read.
TEST(VggTest, S003_01_TheFirstBlockPrintsItsAttributesAndTypes) {
  const std::string text = Print(passes::InferType(Build("vgg16_bn")));
  EXPECT_THAT(text, HasSubstr("%data: Tensor[(1, 3, 224, 224), float32]"));
  EXPECT_THAT(
      text,
      HasSubstr("  %0 = nn.conv2d(%data, meta[relay.Constant][0] /* ty=Tensor[(64, 3, 3, 3), "
                "float32] */, "
                "padding=[1, 1, 1, 1], channels=64, kernel_size=[3, 3]) "
                "/* ty=Tensor[(1, 64, 224, 224), float32] */;\n"
                "  %1 = nn.bias_add(%0, meta[relay.Constant][1] /* ty=Tensor[(64), float32] */) "
                "/* ty=Tensor[(1, 64, 224, 224), float32] */;\n"
                "  %2 = nn.batch_norm(%1, meta[relay.Constant][2] /* ty=Tensor[(64), float32] */, "
                "meta[relay.Constant][3] /* ty=Tensor[(64), float32] */, "
                "meta[relay.Constant][4] /* ty=Tensor[(64), float32] */, "
                "meta[relay.Constant][5] /* ty=Tensor[(64), float32] */) "
                "/* ty=(Tensor[(1, 64, 224, 224), float32], Tensor[(64), float32], "
                "Tensor[(64), float32]) */;\n"
                "  %3 = %2.0;\n"
                "  %4 = nn.relu(%3) /* ty=Tensor[(1, 64, 224, 224), float32] */;\n"));
}

TEST(VggTest, S003_10_TheNarrowNetworkComputesTheSame) {
  for (const int depth : {11, 16}) {
    const Module module = Vgg({.depth = depth,
                               .batch_norm = true,
                               .batch = 2,
                               .image_size = 32,
                               .width_divisor = 8,
                               .classes = 10});
    const runtime::Inputs inputs = RandomInputs(module, depth);
    ExpectClose(Outcome(module, inputs), Outcome(module, inputs, {.opt_level = 0}), 1e-4);
  }
}

TEST(VggTest, DepthIsTheNumberOfLayersWithWeights) {
  for (const int depth : {11, 13, 16, 19}) {
    const Counts counts = Histogram(Vgg({.depth = depth, .image_size = 32, .width_divisor = 64}));
    EXPECT_EQ(counts.at("nn.conv2d") + counts.at("nn.dense"), depth);
    EXPECT_FALSE(counts.contains("nn.batch_norm"));
  }
}

TEST(VggTest, WeightsAreTheSameEveryTimeAndFollowTheSeed) {
  const VggOptions small{.depth = 11, .image_size = 32, .width_divisor = 64};
  VggOptions other = small;
  other.seed = 2;
  const auto text = [](const VggOptions& o) { return ir::PrintModule(Vgg(o)); };
  EXPECT_EQ(text(small), text(small));
  EXPECT_NE(text(small), text(other));
}

TEST(VggTest, ImpossibleOptionsAreRefused) {
  const auto refused = [](const VggOptions& o) {
    const Error error = ErrorOf([&] { Vgg(o); });
    EXPECT_EQ(error.code(), absl::StatusCode::kInvalidArgument);
    return std::string(error.message());
  };
  EXPECT_THAT(refused({.depth = 12}), HasSubstr("no VGG of depth 12; depths are 11, 13, 16, 19"));
  EXPECT_THAT(refused({.image_size = 48}), HasSubstr("image_size is 48"));
  EXPECT_THAT(refused({.width_divisor = 0}), HasSubstr("width_divisor is 0"));
  EXPECT_THAT(refused({.batch = 0}), HasSubstr("batch is 0"));
}

TEST(ModelsTest, AnUnknownNameIsRefusedWithASuggestion) {
  const Error error = ErrorOf([] { Build("vgg16bn"); });
  EXPECT_EQ(error.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(error.message(),
              HasSubstr("there is no model named vgg16bn; models are densenet121, "));
  EXPECT_THAT(error.message(), HasSubstr("did you mean vgg16_bn?"));
}

}  // namespace
}  // namespace tenon::models
