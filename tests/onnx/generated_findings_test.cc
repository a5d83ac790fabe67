// The least of what random ONNX models (tenon fuzz --onnx) have found, each as the rule that it
// broke.
#include "tenon/support/strings.h"
#include "tenon/tests/onnx/written_model.h"

namespace tenon::onnx_import {
namespace {

using ::testing::ElementsAre;
using testing_graphs::Random;

TEST(GeneratedFindingsTest, AnEmptyListOfAxesReducesAllOfThem) {
  for (const int opset : {11, 13, 18}) {
    for (const char* type : {"ReduceMax", "ReduceSum", "ReduceL2", "ReduceLogSumExp"}) {
      SCOPED_TRACE(StrCat(type, " of opset ", opset));
      Model model(opset);
      model.Input("x", {3, 5}).Output("y").Integers("axes", {});
      const bool is_input = opset >= (std::string_view(type) == "ReduceSum" ? 13 : 18);
      auto& node = model.Node(type, is_input ? Names{"x", "axes"} : Names{"x"}, {"y"});
      if (!is_input) SetInts(node, "axes", {});
      EXPECT_EQ(Computed(model, {{"x", Random({3, 5}, 1)}})[0].shape(), (Shape{1, 1}));
    }
  }
}

TEST(GeneratedFindingsTest, MasksOfDropoutHaveTheTypeOfTheirOpset) {
  for (const int opset : {7, 9, 10, 13}) {
    Model model(opset);
    model.Input("x", {2}).Output("mask").Node("Dropout", {"x"}, {"y", "mask"});
    const NDArray mask = Computed(model, {{"x", Random({2}, 1)}})[0];
    if (opset < 10) {
      EXPECT_THAT(mask.ToVector<float>(), ElementsAre(1, 1)) << opset;
    } else {
      EXPECT_THAT(mask.ToVector<bool>(), ElementsAre(true, true)) << opset;
    }
  }
}

}  // namespace
}  // namespace tenon::onnx_import
