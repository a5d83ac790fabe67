// Every published model, written as ONNX and imported again, computes the same.
#include "tenon/tests/onnx/round_trip.h"
#include "tenon/tests/testing/small_models.h"

namespace tenon::onnx_export {
namespace {

class ExportModelsTest : public ::testing::TestWithParam<models::SmallModel> {};

TEST_P(ExportModelsTest, TheImportedModelComputesTheSame) {
  const ir::Module module = GetParam().build();
  const runtime::Inputs inputs = testing_graphs::RandomInputs(module, 1);
  testing_graphs::ExpectClose(testing_graphs::Outcome(RoundTrip(module), inputs),
                              testing_graphs::Outcome(module, inputs), 1e-4);
}

INSTANTIATE_TEST_SUITE_P(Models, ExportModelsTest, ::testing::ValuesIn(models::SmallModels()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tenon::onnx_export
