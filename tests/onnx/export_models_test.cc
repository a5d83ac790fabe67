// Every published model, written as ONNX and imported again, computes the same.
#include "tenon/models/densenet.h"
#include "tenon/tests/models/small_models.h"
#include "tenon/tests/onnx/round_trip.h"

namespace tenon::onnx_export {
namespace {

using models::SmallModel;

class ExportModelsTest : public ::testing::TestWithParam<SmallModel> {};

TEST_P(ExportModelsTest, TheImportedModelComputesTheSame) {
  const ir::Module module = GetParam().build();
  const runtime::Inputs inputs = testing_graphs::RandomInputs(module, 1);
  testing_graphs::ExpectClose(testing_graphs::Outcome(RoundTrip(module), inputs),
                              testing_graphs::Outcome(module, inputs), 1e-4);
}

std::vector<SmallModel> AllModels() {
  std::vector<SmallModel> all = models::SmallModels();
  all.push_back({"densenet121", [] { return models::DenseNet121(models::kSmall); }});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Models, ExportModelsTest, ::testing::ValuesIn(AllModels()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tenon::onnx_export
