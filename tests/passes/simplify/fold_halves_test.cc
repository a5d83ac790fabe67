// Sums of 16-bit constants have the values that kernels compute from inputs.
#include <set>

#include "tenon/ops/pass_rules.h"
#include "tenon/passes/simplify/fold_constant.h"
#include "tenon/tests/passes/algebra_testing.h"

namespace tenon::passes {
namespace {

// A call over parameters, whose operator adds or multiplies what it reads.
struct HalfSum {
  const char* op;
  std::vector<Shape> shapes;
  const char* body;
  friend void PrintTo(const HalfSum& sum, std::ostream* out) { *out << sum.op; }
};

const std::vector<HalfSum>& HalfSumCases() {
  static const std::vector<HalfSum> cases = {
      {"collapse_sum_like", {{2, 4099}, {2, 1}}, "collapse_sum_like(%k0, %k1)"},
      {"collapse_sum_to", {{2, 4099}}, "collapse_sum_to(%k0, shape=[2, 1])"},
      {"cumprod", {{31}}, "cumprod(%k0, axis=0)"},
      {"cumsum", {{4099}}, "cumsum(%k0, axis=0)"},
      {"einsum", {{2, 4099}, {3, 4099}}, "einsum((%k0, %k1), equation=\"ij,kj->ik\")"},
      {"image.affine_grid", {{1, 2, 3}}, "image.affine_grid(%k0, target_shape=[3, 37])"},
      {"mean", {{2, 4099}}, "mean(%k0, axis=[1])"},
      {"nn.adaptive_avg_pool1d", {{1, 2, 4099}}, "nn.adaptive_avg_pool1d(%k0, output_size=[1])"},
      {"nn.adaptive_avg_pool2d",
       {{1, 2, 67, 61}},
       "nn.adaptive_avg_pool2d(%k0, output_size=[1, 1])"},
      {"nn.adaptive_avg_pool3d",
       {{1, 2, 17, 17, 19}},
       "nn.adaptive_avg_pool3d(%k0, output_size=[1, 1, 1])"},
      {"nn.avg_pool1d", {{1, 2, 4099}}, "nn.avg_pool1d(%k0, pool_size=[4099])"},
      {"nn.avg_pool2d", {{1, 2, 67, 61}}, "nn.avg_pool2d(%k0, pool_size=[67, 61])"},
      {"nn.avg_pool3d", {{1, 2, 17, 17, 19}}, "nn.avg_pool3d(%k0, pool_size=[17, 17, 19])"},
      {"nn.batch_matmul",
       {{2, 3, 4099}, {2, 4099, 1}},
       "nn.batch_matmul(%k0, %k1, transpose_b=False)"},
      {"nn.contrib_conv2d_NCHWc",
       {{1, 1, 31, 31, 5}, {1, 1, 31, 31, 5, 2}},
       "nn.contrib_conv2d_NCHWc(%k0, %k1, channels=2, kernel_size=[31, 31], "
       "data_layout=\"NCHW5c\", kernel_layout=\"OIHW5i2o\")"},
      {"nn.contrib_dense_pack", {{1, 4099}, {1, 4099, 2}}, "nn.contrib_dense_pack(%k0, %k1)"},
      {"nn.contrib_depthwise_conv2d_NCHWc",
       {{1, 1, 67, 61, 2}, {1, 1, 67, 61, 1, 2}},
       "nn.contrib_depthwise_conv2d_NCHWc(%k0, %k1, channels=2, groups=2, kernel_size=[67, 61], "
       "data_layout=\"NCHW2c\", kernel_layout=\"OIHW1i2o\")"},
      {"nn.conv1d", {{1, 1, 4099}, {2, 1, 4099}}, "nn.conv1d(%k0, %k1)"},
      {"nn.conv1d_transpose", {{1, 4099, 1}, {4099, 1, 1}}, "nn.conv1d_transpose(%k0, %k1)"},
      {"nn.conv2d", {{1, 4099, 1, 1}, {2, 4099, 1, 1}}, "nn.conv2d(%k0, %k1)"},
      {"nn.conv2d_transpose", {{1, 4099, 1, 1}, {4099, 1, 1, 1}}, "nn.conv2d_transpose(%k0, %k1)"},
      {"nn.conv3d", {{1, 4099, 1, 1, 1}, {2, 4099, 1, 1, 1}}, "nn.conv3d(%k0, %k1)"},
      {"nn.conv3d_transpose",
       {{1, 4099, 1, 1, 1}, {4099, 1, 1, 1, 1}},
       "nn.conv3d_transpose(%k0, %k1)"},
      {"nn.dense", {{2, 4099}, {3, 4099}}, "nn.dense(%k0, %k1)"},
      {"nn.fast_softmax", {{1, 4099}}, "sum(nn.fast_softmax(%k0))"},
      {"nn.global_avg_pool2d", {{1, 2, 67, 61}}, "nn.global_avg_pool2d(%k0)"},
      {"nn.group_norm", {{1, 2, 4099}, {2}, {2}}, "nn.group_norm(%k0, %k1, %k2, num_groups=2)"},
      {"nn.instance_norm", {{1, 2, 4099}, {2}, {2}}, "nn.instance_norm(%k0, %k1, %k2)"},
      {"nn.l2_normalize", {{1, 4099}}, "nn.l2_normalize(%k0, eps=1e-10f64, axis=[1])"},
      {"nn.layer_norm", {{1, 4099}, {4099}, {4099}}, "nn.layer_norm(%k0, %k1, %k2)"},
      {"nn.log_softmax", {{1, 4099}}, "nn.log_softmax(%k0)"},
      {"nn.lrn", {{1, 4099}}, "nn.lrn(%k0, size=1001)"},
      {"nn.matmul", {{2, 4099}, {4099, 3}}, "nn.matmul(%k0, %k1)"},
      {"nn.softmax", {{1, 4099}}, "sum(nn.softmax(%k0))"},
      {"prod", {{2, 101}}, "prod(%k0, axis=[1])"},
      {"sum", {{2, 4099}}, "sum(%k0, axis=[1])"},
      {"variance", {{2, 4099}, {2, 1}}, "variance(%k0, %k1, axis=[1])"},
  };
  return cases;
}

class FoldHalvesTest : public ::testing::TestWithParam<HalfSum> {};

TEST_P(FoldHalvesTest, AConstantSumIsThatOfInputs) {
  const HalfSum& sum = GetParam();
  for (const DataType type : {Float16, BFloat16}) {
    std::string params;
    runtime::Inputs inputs;
    for (std::size_t i = 0; i < sum.shapes.size(); ++i) {
      const std::string name = StrCat("k", i);
      StrAppend(&params, i == 0 ? "" : ", ", "%", name, ": Tensor[(", StrJoin(sum.shapes[i], ", "),
                sum.shapes[i].size() == 1 ? "," : "", "), ", type.ToString(), "]");
      inputs[name] = testing_graphs::Random(sum.shapes[i], type, 101 + static_cast<int>(i), 0.5, 2);
    }
    const ir::Module folded =
        FoldConstant(WithConstants(params, sum.body), strategies::EvaluateCall);
    const auto* constant = folded.Main().body.As<ir::ConstantNode>();
    ASSERT_NE(constant, nullptr) << type.ToString();
    const ir::Module of_inputs =
        testing_graphs::Parsed(StrCat("def @main(", params, ") { ", sum.body, " }"));
    const NDArray expected = testing_graphs::Outcome(of_inputs, inputs).at(0);
    ASSERT_EQ(constant->data.dtype(), type);
    // One rounding to 16 bits, which sums in other orders may take to either side.
    testing_graphs::ExpectClose(constant->data, expected, type == Float16 ? 0x1p-10 : 0x1p-7);
  }
}

INSTANTIATE_TEST_SUITE_P(All, FoldHalvesTest, ::testing::ValuesIn(HalfSumCases()),
                         [](const auto& info) {
                           std::string name = info.param.op;
                           std::ranges::replace(name, '.', '_');
                           return name;
                         });

TEST(FoldHalvesTableTest, HasEachOperatorThatSumsHalves) {
  std::set<std::string> wanted, given;
  ops::OpRegistry& registry = ops::OpRegistry::Global();
  for (const std::string& name : registry.Names()) {
    if (registry.Definition(name).Column<ops::HalfSums>() != nullptr) wanted.insert(name);
  }
  for (const HalfSum& sum : HalfSumCases()) given.insert(sum.op);
  EXPECT_EQ(given, wanted);
}

// The cast and the sum of one call are paid for together, or it stays.
TEST(FoldHalvesTableTest, ASumThatTheBudgetRefusesStays) {
  const ir::Module module = WithConstants("%k: Tensor[(4,), float16]", "sum(%k)");
  for (int paid = 0; paid < 3; ++paid) {
    int calls = 0;
    const auto evaluate = [&](const ir::CallNode& call, ops::FoldingBudget* budget) {
      return calls++ < paid ? strategies::EvaluateCall(call, budget) : std::vector<NDArray>();
    };
    EXPECT_EQ(FoldConstant(module, evaluate), module) << paid;
  }
}

}  // namespace
}  // namespace tenon::passes
