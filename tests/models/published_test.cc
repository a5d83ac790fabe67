// Every model is the published one: parameters, layers and shapes. The numbers of parameters are
// those of torchvision's table of weights, without auxiliary classifiers.
#include <map>
#include <ostream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/ir/visit.h"
#include "tenon/models/lstm.h"
#include "tenon/models/mlp.h"
#include "tenon/models/registry.h"
#include "tenon/models/shufflenet.h"
#include "tenon/models/transformer.h"
#include "tenon/passes/infer_type.h"
#include "tenon/tests/testing/relay_text.h"

namespace tenon::models {
namespace {

using ir::Module;
using ::testing::HasSubstr;

using Counts = std::map<std::string, int>;

Counts Histogram(const Module& module) {
  Counts counts;
  ir::VisitPostOrder(module.Main().body, [&](const ir::Expr& e) {
    const auto* call = e.As<ir::CallNode>();
    if (call != nullptr && call->op() != nullptr) ++counts[call->op()->name];
  });
  return counts;
}

// Elements of constants that training would learn: no running means and variances, no scalars, no
// states that a sequence starts with.
std::int64_t Parameters(const Module& module) {
  std::int64_t count = 0;
  ir::VisitPostOrder(module.Main().body, [&](const ir::Expr& e) {
    const auto size = [](const ir::Expr& value) {
      return value.As<ir::ConstantNode>()->data.size();
    };
    if (e.kind() == ir::ExprKind::kConstant && !e.As<ir::ConstantNode>()->data.shape().empty())
      count += size(e);
    const auto* call = e.As<ir::CallNode>();
    if (call != nullptr && call->op() != nullptr && call->op()->name == "nn.batch_norm")
      count -= size(call->args[3]) + size(call->args[4]);
  });
  return count;
}

struct Published {
  std::string name;
  std::int64_t parameters;
  std::string result;
  Counts layers;  // the operators that a change of architecture would change
};
void PrintTo(const Published& p, std::ostream* out) { *out << p.name; }

class PublishedTest : public ::testing::TestWithParam<Published> {};

TEST_P(PublishedTest, ParametersLayersAndResult) {
  const Module module = Build(GetParam().name);
  EXPECT_EQ(Parameters(module), GetParam().parameters);
  const Counts counts = Histogram(module);
  for (const auto& [op, count] : GetParam().layers) {
    const auto found = counts.find(op);
    EXPECT_EQ(found == counts.end() ? 0 : found->second, count) << op;
  }
  EXPECT_EQ(ir::ToString(passes::InferType(module).Main().body.checked_type()), GetParam().result);
}

constexpr char kConv[] = "nn.conv2d", kNorm[] = "nn.batch_norm", kDense[] = "nn.dense",
               kJoin[] = "concatenate", kAdd[] = "add", kSplit[] = "split";

const Published kPublished[] = {
    {"vgg16_bn", 138365992, "Tensor[(1, 1000), float32]", {{kConv, 13}, {kNorm, 13}, {kDense, 3}}},
    {"resnet18",
     11689512,
     "Tensor[(1, 1000), float32]",
     {{kConv, 20}, {kNorm, 20}, {kDense, 1}, {kAdd, 8}}},
    {"resnet34", 21797672, "Tensor[(1, 1000), float32]", {{kConv, 36}, {kAdd, 16}}},
    {"resnet50",
     25557032,
     "Tensor[(1, 1000), float32]",
     {{kConv, 53}, {kNorm, 53}, {kDense, 1}, {kAdd, 16}}},
    {"mobilenet_v2",
     3504872,
     "Tensor[(1, 1000), float32]",
     {{kConv, 52}, {kNorm, 52}, {"clip", 35}, {kAdd, 10}}},
    {"mobilenet_v3_large",
     5483032,
     "Tensor[(1, 1000), float32]",
     {{kConv, 62}, {kNorm, 46}, {kDense, 2}, {"nn.global_avg_pool2d", 9}}},
    {"squeezenet1_1",
     1235496,
     "Tensor[(1, 1000), float32]",
     {{kConv, 26}, {kNorm, 0}, {kJoin, 8}, {"nn.max_pool2d", 3}, {kDense, 0}}},
    {"densenet121",
     7978856,
     "Tensor[(1, 1000), float32]",
     {{kConv, 120}, {kNorm, 121}, {kJoin, 58}, {"nn.avg_pool2d", 3}}},
    {"googlenet",
     6624904,
     "Tensor[(1, 1000), float32]",
     {{kConv, 57}, {kNorm, 57}, {kJoin, 9}, {"nn.max_pool2d", 13}}},
    {"inception_v3",
     23834568,
     "Tensor[(1, 1000), float32]",
     {{kConv, 94}, {kNorm, 94}, {kJoin, 15}, {"nn.avg_pool2d", 9}}},
    {"efficientnet_b0",
     5288548,
     "Tensor[(1, 1000), float32]",
     {{kConv, 81}, {kNorm, 49}, {kAdd, 9}, {"sigmoid", 65}}},
    {"shufflenet_v2",
     2278604,
     "Tensor[(1, 1000), float32]",
     {{kConv, 56}, {kNorm, 56}, {kSplit, 13}, {"transpose", 16}}},
    {"mlp", 784 * 128 + 128 + 128 * 64 + 64 + 640 + 10, "Tensor[(1, 10), float32]", {{kDense, 3}}},
    {"lenet", 61706, "Tensor[(1, 10), float32]", {{kConv, 2}, {kDense, 3}}},
    // torch.nn.TransformerEncoderLayer(256, 8, 1024) has 789760.
    {"transformer",
     4 * 789760,
     "Tensor[(128, 256), float32]",
     {{kDense, 24}, {"nn.batch_matmul", 8}, {"nn.softmax", 4}, {"nn.layer_norm", 8}}},
    // torch.nn.LSTM(128, 256) has 395264; the first state has 256 elements.
    {"lstm", 395264 + 256, "Tensor[(1, 256), float32]", {{kDense, 32}, {"tanh", 32}}},
};
INSTANTIATE_TEST_SUITE_P(Models, PublishedTest, ::testing::ValuesIn(kPublished),
                         [](const auto& info) { return info.param.name; });

TEST(ModelsTest, ImpossibleOptionsAreRefused) {
  const auto refused = [](const auto& build) {
    const Error error = ErrorOf(build);
    EXPECT_EQ(error.code(), absl::StatusCode::kInvalidArgument);
    return std::string(error.message());
  };
  EXPECT_THAT(refused([] { ShuffleNetV2({.image_size = 48}); }),
              HasSubstr("image_size is 48; it must be a multiple of 32"));
  EXPECT_THAT(refused([] { ShuffleNetV2({.image_size = 16}); }),
              HasSubstr("image_size is 16; it must be at least 32"));
  EXPECT_THAT(refused([] { ShuffleNetV2({.width_divisor = 65}); }),
              HasSubstr("width_divisor is 65; it must be from 1 to 64"));
  EXPECT_THAT(refused([] { ShuffleNetV2({.classes = 0}); }), HasSubstr("classes 0"));
  EXPECT_THAT(refused([] { LeNet({.batch = 0}); }), HasSubstr("batch is 0"));
  EXPECT_THAT(refused([] { Lstm({.steps = 0}); }), HasSubstr("are 0, 1, 128 and 256"));
  EXPECT_THAT(refused([] { TransformerEncoder({.heads = 3}); }),
              HasSubstr("features is 256; it must be a multiple of the 3 heads"));
}

}  // namespace
}  // namespace tenon::models
