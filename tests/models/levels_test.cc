// What passes and fusion make of a model computes the same as the model without them.
#include <algorithm>
#include <cmath>

#include "tenon/tests/testing/graph_testing.h"
#include "tenon/tests/testing/small_models.h"

namespace tenon::models {
namespace {

using ir::Module;
using testing_graphs::ExpectClose;
using testing_graphs::Outcome;
using testing_graphs::RandomInputs;

class LevelsTest : public ::testing::TestWithParam<SmallModel> {};

TEST_P(LevelsTest, TheDefaultLevelComputesTheSameAsLevelZero) {
  const Module module = GetParam().build();
  const runtime::Inputs inputs = RandomInputs(module, 1);
  const std::vector<NDArray> expected = Outcome(module, inputs, {.opt_level = 0});
  // A network whose activations vanish would agree with anything.
  const float* values = expected[0].data<float>();
  float largest = 0;
  for (std::int64_t i = 0; i < expected[0].size(); ++i) {
    ASSERT_TRUE(std::isfinite(values[i]));
    largest = std::max(largest, std::abs(values[i]));
  }
  EXPECT_GT(largest, 0.1F);
  ExpectClose(Outcome(module, inputs), expected, 1e-4);
}

INSTANTIATE_TEST_SUITE_P(Models, LevelsTest, ::testing::ValuesIn(SmallModels()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tenon::models
